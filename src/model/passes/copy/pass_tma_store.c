// Sums straight to C → sums through pieces in shared memory that the tensor memory accelerator
// sends.
//
// Requires: atomize, N a multiple of 16 bytes of C, an arch with TMA. Ensures: each warp (of an
// atom of four warps: each warpgroup) has EPI_BUFFERS slots of its own in C_s, for a piece of one
// row of atoms, EPI_N columns wide; it fills a slot, fences, meets, and its first lane sends the
// piece's boxes and closes their group. Preserves: which cells are written, and the conversion to
// C's type (on the way into C_s). Split-K's atomic adds become boxes that are added.
//
// A piece lies as the tensor map's swizzle wants it: in panels of at most 128 bytes a row,
// [slots][warps · panels][rows][panel]. Worked example, m16n8k16 with a tile of 32 × 64 for each of
// eight warps, EPI_N = 64, C in f16: one panel of 16 rows of 128 bytes, Swizzle<3,4,3>; two pieces
// of 2 KiB each, 16 KiB in all. With EPI_BUFFERS=1:
//   lane 0: bulk.read 0                the piece before is read out of the slot
//   barrier of 32 threads
//   16 · 64 values into the slot, rounded to f16
//   fence.async                        by everyone who wrote: generic accesses before those of TMA
//   barrier of 32 threads
//   lane 0: tma.store 16 x 64, bulk.commit
// and at the end, once: bulk.wait 0, for a block must not end before its boxes have been read (PTX
// ISA, cp.async.bulk.wait_group). No lane computes an address in C, and cells outside of it are
// left out by the accelerator. C_s is not in the ring: a producer may run on meanwhile.
//
// Sums in tensor memory come into registers a piece at a time: the same piece, EPI_N columns, a row
// in each lane. Worked example, ATOM_N = 256, EPI_N = 64: four times tcgen05.ld of 64 columns,
// wait::ld, eight stores of 16 bytes, and a box of 128 x 64.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/tensor/tensor_body.h"
#include "model/words/fragment.h"

static const KnobId knob = KNOB_TMA_STORE;

enum { PANEL_BYTES = 128, CHUNK_BYTES = 16, CHUNK_BITS = 4, LINE_SHIFT = 3, MATRIX_COLUMNS = 8 };
enum { FIRST_BARRIER = 2 };  // 0 is the block's, 1 the barrier of all threads that multiply

bool pass_tma_store_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_TMA_STORE] && schedule->value[KNOB_EPILOGUE] &&
         schedule->value[KNOB_ATOM_KIND] != 0;
}

bool pass_piece_fits(int64_t columns, int64_t of_warp, int64_t of_atom) {
  return columns % MATRIX_COLUMNS == 0 && of_warp % columns == 0 &&
         (columns % of_atom == 0 || of_atom % columns == 0);
}

// Columns of a piece that a warp sends to C at a time: EPI_N, or the widest panel of at most 128
// bytes that its columns are a multiple of. `of_atom`: columns of the atom.
static int64_t pass_piece_columns(const Schedule *schedule, int64_t of_atom, int element_bytes) {
  int64_t of_warp = schedule->value[KNOB_FN] * of_atom, columns = PANEL_BYTES / element_bytes;
  if (schedule->value[KNOB_EPI_N]) return schedule->value[KNOB_EPI_N];
  while (!pass_piece_fits(columns, of_warp, of_atom)) columns /= 2;
  return columns;
}

// How the sums of a warp become pieces.
typedef struct Pieces {
  Buffer *slab;
  int64_t columns, panel, panels;  // elements of a piece's row, and of a panel's; panels of a piece
  int64_t slots;
  int64_t at_once;   // tiles that the block's consumers are at: each has one tile in at_once
  Var *piece;        // of a row of atoms
  const Expr *warp;  // of those that multiply
} Pieces;

static int64_t panel_of(int64_t columns, int element_bytes) {
  int64_t bytes = PANEL_BYTES;
  while (columns * element_bytes % bytes) bytes /= 2;
  return bytes / element_bytes;
}

static Buffer *new_slab(Program *program, const Product *product, const Pieces *p, int64_t warps) {
  int64_t rows = product->atom->m;
  int64_t dim[RANK_MAX] = {p->slots, warps * p->panels, rows, p->panel};
  bool one = p->slots == 1;
  Buffer *slab = program_new_buffer(program, "C_s", SPACE_SHARED, product->operand[ATOM_C].slab,
                                    one ? 3 : 4, one ? dim + 1 : dim, knob);
  slab->panel = p->panel;
  slab->swizzle_bits = log2_up(p->panel * dtype_bytes(slab->type) / CHUNK_BYTES);
  if (slab->swizzle_bits == 0) return slab;
  slab->swizzle_base = CHUNK_BITS;
  slab->swizzle_shift = LINE_SHIFT;
  return slab;
}

// The number of a warp, or warpgroup, among those that multiply: by the digits of the tier WARP.
static const Expr *number_of_warp(Program *program, const Product *product, const Launch *launch) {
  Arena *arena = program->arena;
  const Expr *number = ex_const(arena, 0);
  for (int i = 0; i < launch->n_thread_digits; i++) {
    const HardwareDigit *digit = &launch->thread[i];
    if (digit->var->tier != TIER_WARP) continue;
    int64_t warps = digit->stride / product->lane->extent;
    number = ex_add(arena, number, ex_mul_const(arena, ex_var(arena, digit->var), warps));
  }
  return number;
}

static Pieces pieces_of(Program *program, const Product *product, const Schedule *schedule) {
  const Launch launch = kernel_launch(program_main_kernel(program));
  const Digit *n_w = axis_digit(product->axis[AXIS_N], TIER_WARP);
  int bytes = dtype_bytes(program->problem.out);
  int64_t of_atom = product->atom->n;
  const bool tensor = atom_is_of_thread(product->atom);
  Pieces p = {.columns = tensor ? tensor_piece(schedule, product->atom->n)
                                : pass_piece_columns(schedule, of_atom, bytes),
              .slots = schedule->value[KNOB_EPI_BUFFERS],
              .at_once = pass_tiles_at_once(schedule)};
  p.panel = panel_of(p.columns, bytes);
  p.panels = p.columns / p.panel;
  p.piece = program_var(program, "n_p", VAR_LOOP, TIER_REGISTER, n_w->weight / p.columns);
  p.warp = number_of_warp(program, product, &launch);
  p.slab = new_slab(program, product, &p, launch.n_threads / product->lane->extent);
  return p;
}

// The place of a row of the atom and a column of the piece at hand, in the slot of the piece.
static Access place(Program *program, const Product *product, const Pieces *p, const Expr *row,
                    const Expr *column) {
  Arena *arena = program->arena;
  const Var *m_r = axis_digit(product->axis[AXIS_M], TIER_REGISTER)->var;
  Access access = {.buffer = p->slab};
  const Expr **at = access.idx;
  const Expr *count = ex_add(arena, ex_mul_const(arena, ex_var(arena, m_r), p->piece->extent),
                             ex_var(arena, p->piece));
  const Stmt *tiles = kernel_writer_tiles(program_main_kernel(program));
  if (tiles) {  // the slots go on from tile to tile
    const Expr *tile = ex_div(arena, ex_var(arena, tile_turn(tiles)), p->at_once);
    count = ex_add(arena, count, ex_mul_const(arena, tile, m_r->extent * p->piece->extent));
  }
  if (p->slots > 1) *at++ = ring_slot(program, count, p->slots);
  *at++ = ex_add(arena, ex_mul_const(arena, p->warp, p->panels), ex_div(arena, column, p->panel));
  *at++ = row;
  *at = ex_mod(arena, column, p->panel);
  return access;
}

// One lane's values of the piece. Columns are counted by atoms. Where a piece is a part of an atom,
// they are counted by its values: eight columns more are the values of eight columns further on.
static Stmt *fill(Program *program, const Product *product, const Pieces *p, const Op *out) {
  Arena *arena = program->arena;
  const Var *value = product->operand[ATOM_C].value;
  int64_t of_atom = product->atom->n, parts = of_atom / p->columns;
  int64_t atoms = parts ? 1 : p->columns / of_atom, steps = value->extent / (parts ? parts : 1);
  Var *n_i = program_var(program, "n_i", VAR_LOOP, TIER_REGISTER, atoms);
  Var *v = program_var(program, "v_p", VAR_LOOP, TIER_REGISTER, steps);
  const Expr *piece = ex_var(arena, p->piece), *at_v = ex_var(arena, v);
  const Expr *row = expr_substitute(arena, fragment_part(program, product, ATOM_C, 0), value, at_v);
  const Expr *column =
      expr_substitute(arena, fragment_part(program, product, ATOM_C, 1), value, at_v);
  column = ex_add(arena, ex_mul_const(arena, ex_var(arena, n_i), of_atom), column);
  const Expr *atom = parts ? ex_div(arena, piece, parts)
                           : ex_add(arena, ex_mul_const(arena, piece, atoms), ex_var(arena, n_i));
  const Expr *step = at_v;
  if (parts) step = ex_add(arena, ex_mul_const(arena, ex_mod(arena, piece, parts), steps), at_v);
  Op op = {
      .kind = OP_STORE,
      .dst = place(program, product, p, row, column),
      .src = access3(out->src.buffer, out->src.idx[0], atom, ex_mul_const(arena, step, out->width)),
      .width = out->width};
  return stmt_wrap_register(program, knob, n_i,
                            stmt_wrap_register(program, knob, v, stmt_op(program, knob, op)));
}

// The same of a lane's row, of which the piece is there from its first column on.
static Stmt *fill_row(Program *program, const Product *product, const Pieces *p, const Op *out) {
  Arena *arena = program->arena;
  Var *v = program_var(program, "v_p", VAR_LOOP, TIER_REGISTER, p->columns / out->width);
  const Expr *column = ex_mul_const(arena, ex_var(arena, v), out->width);
  Op op = {.kind = OP_STORE,
           .dst = place(program, product, p, ex_var(arena, product->lane), column),
           .src = access1(out->src.buffer, column),
           .width = out->width};
  return stmt_wrap_register(program, knob, v, stmt_op(program, knob, op));
}

// The piece comes from tensor memory, and is scaled if it is at all, as it does in the loops over
// atoms and their parts that stood around the store; it counts the parts of all atoms of a row.
static Stmt *load_piece(Program *program, const Product *product, const Pieces *p, Stmt *stored) {
  Arena *arena = program->arena;
  const Var *atoms = axis_digit(product->axis[AXIS_N], TIER_REGISTER)->var;
  Stmt **link = &stored;
  const Stmt *around = NULL;
  while ((*link)->kind == STMT_LOOP) {
    around = *link;
    link = &(*link)->body;
  }
  Stmt *load = stmt_cut(link);
  load->next = stmt_cut(link);
  if (stmt_find_op(*link, OP_SCALE, ROLE_COUNT)) load->next->next = stmt_cut(link);
  stmt_substitute(program, load, atoms, ex_const(arena, 0));
  stmt_substitute(program, load, around->var, ex_const(arena, 0));
  const Expr *first = ex_mul_const(arena, ex_var(arena, p->piece), p->columns);
  load->op.src.idx[1] = ex_add(arena, load->op.src.idx[1], first);
  return load;
}

// Those that share an atom meet: a warp, or a warpgroup at a barrier with a number of its own.
static Stmt *meet(Program *program, const Product *product, const Pieces *p, const char *why) {
  Op op = {.kind = OP_BARRIER, .threads = product->lane->extent};
  if (op.threads > LANES) op.id = ex_add_const(program->arena, p->warp, FIRST_BARRIER);
  Stmt *stmt = stmt_op(program, knob, op);
  stmt->note = why;
  return stmt;
}

static Stmt *by_first_lane(Program *program, const Product *product, Stmt *list, const char *note) {
  Arena *arena = program->arena;
  const Expr *lane = ex_var(arena, product->lane);
  Stmt *stmt = stmt_if(program, knob, ex_binary(arena, EXPR_EQ, lane, ex_const(arena, 0)), list);
  stmt->note = note;
  return stmt;
}

static Stmt *wait(Program *program, const Product *product, OpKind kind, int64_t left,
                  const char *note) {
  return by_first_lane(program, product, stmt_op(program, knob, (Op){.kind = kind, .groups = left}),
                       note);
}

// A box for each panel.
static Stmt *send(Program *program, const Product *product, const Pieces *p, bool adds) {
  Arena *arena = program->arena;
  const Axis *m = product->axis[AXIS_M], *n = product->axis[AXIS_N];
  const Digit *n_w = axis_digit(n, TIER_WARP);
  Var *panel = program_var(program, "p_c", VAR_LOOP, TIER_REGISTER, p->panels);
  const Expr *column = ex_mul_const(arena, ex_var(arena, panel), p->panel);
  const Expr *in_warp =
      ex_add(arena, ex_mul_const(arena, ex_var(arena, p->piece), p->columns), column);
  const Expr *of_warp = ex_mul_const(arena, ex_var(arena, n_w->var), n_w->weight);
  const Expr *in_tile = ex_add(arena, of_warp, in_warp);
  Op op = {.kind = adds ? OP_TMA_ADD : OP_TMA_STORE,
           .dst = access2(program_buffer(program, product->operand[ATOM_C].global),
                          ex_add(arena, axis_outside(program, m), axis_inside(program, m)),
                          ex_add(arena, axis_outside(program, n), in_tile)),
           .src = place(program, product, p, ex_const(arena, 0), column),
           .box = {product->atom->m, p->panel}};
  Stmt *boxes = stmt_wrap_register(program, knob, panel, stmt_op(program, knob, op));
  Stmt *commit = stmt_op(program, knob, (Op){.kind = OP_BULK_COMMIT});
  return by_first_lane(program, product, stmt_list(boxes, commit, NULL),
                       "one lane sends the piece");
}

// One piece, from the sums to its boxes.
static Stmt *piece(Program *program, const Product *product, const Pieces *p, Stmt *stored,
                   const Op *out) {
  const bool tensor = atom_is_of_thread(product->atom), adds = out->kind == OP_ATOMIC_ADD;
  Stmt *fence = stmt_op(program, knob, (Op){.kind = OP_FENCE_ASYNC});
  fence->note = "what was written comes before what the copies read";
  Stmt *parts = stmt_list(
      wait(program, product, OP_BULK_READ, p->slots - 1, "the slot has been read out"),
      meet(program, product, p, "the slot may be written"),
      tensor ? fill_row(program, product, p, out) : fill(program, product, p, out), fence,
      meet(program, product, p, "the piece lies in C_s"), send(program, product, p, adds), NULL);
  return tensor ? stmt_list(load_piece(program, product, p, stored), parts, NULL) : parts;
}

void pass_tma_store(Program *program, Product *product, const Schedule *schedule) {
  Kernel *kernel = program_main_kernel(program);
  Stmt **body = &kernel_writer(kernel)->body;
  bool adds = !stmt_find_op(*body, OP_STORE, product->operand[ATOM_C].global);
  OpKind kind = adds ? OP_ATOMIC_ADD : OP_STORE;
  Stmt **link = stmt_find_link_inside(body, kind, product->operand[ATOM_C].global);
  Stmt *stored = stmt_cut(link);
  const Op out = stmt_find_op(stored, kind, product->operand[ATOM_C].global)->op;
  Pieces p = pieces_of(program, product, schedule);
  Stmt *parts = piece(program, product, &p, stored, &out);
  Stmt *rows =
      stmt_wrap_register(program, knob, axis_digit(product->axis[AXIS_M], TIER_REGISTER)->var,
                         stmt_wrap_register(program, knob, p.piece, parts));
  stmt_insert(link, rows);
  // For a persistent block once, behind all of its tiles: the boxes of one leave under the next.
  Stmt *tiles = kernel_writer_tiles(kernel);
  Stmt **end = tiles ? &tiles->next : &stmt_last(rows)->next;
  stmt_insert(end, wait(program, product, OP_BULK_WAIT, 0, "no box is left"));
}

// The cooperative copy: how the threads of a block carry one slab from global to shared memory.
//
// Thread tid takes pieces tid, tid + T, tid + 2T, … of `width` elements, counted along the rows of
// the global operand, so that neighbouring threads read neighbouring bytes. Worked example, a
// 128 × 16 slab of A, 256 threads, width 4: piece f = c·256 + tid holds row f / 4, columns
// (f % 4)·4 …; each thread takes 2 pieces. When the pieces do not come out even, the last round is
// guarded by an IF.
#include <assert.h>
#include <ctype.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

Access slab_access(Program *program, Buffer *slab, const Expr *row, const Expr *column) {
  Arena *arena = program->arena;
  const Expr *first = slab->transposed ? column : row, *second = slab->transposed ? row : column;
  Access access = {.buffer = slab};
  const Expr **at = access.idx;
  if (buffer_is_ring(slab))
    *at++ =
        ring_slot(program, slab_counter(program, program_slab_loop(program)->var), slab->dim[0]);
  if (slab->panel) *at++ = ex_div(arena, second, slab->panel);
  *at++ = first;
  *at = slab->panel ? ex_mod(arena, second, slab->panel) : second;
  return access;
}

Buffer *operand_slab(const Program *program, const Product *product, int operand) {
  return program_buffer(program, product->operand[operand].slab);
}

// An operand's slab and its size as the operand lies in memory: rows run along the fast dimension.
typedef struct Staged {
  const Product *product;
  int of;  // ATOM_A, ATOM_B
  const ProductOperand *operand;
  Buffer *slab;
  const char *counter, *box, *registers;  // names
  const Axis *row, *column;
  int64_t rows, columns;
  int slow;  // the operand's dimension that counts the rows
} Staged;

static Staged staged_of(const Program *program, const Product *product, int operand) {
  const char *matrix = program_buffer(program, product->operand[operand].global)->name;
  const int letter = tolower((unsigned char)matrix[0]);
  int slow = product_slow_dimension(product, operand);
  const Axis *row = product->axis[operand_axis(operand, slow)];
  const Axis *column = product->axis[operand_axis(operand, 1 - slow)];
  return (Staged){product,
                  operand,
                  &product->operand[operand],
                  operand_slab(program, product, operand),
                  arena_printf(program->arena, "c_%c", letter),
                  arena_printf(program->arena, "p_%c", letter),
                  arena_printf(program->arena, "r_%c", letter),
                  row,
                  column,
                  axis_tile(row),
                  axis_tile(column),
                  slow};
}

// Where the slab begins along one of its dimensions: of a split product, along K, in one of the
// parts.
static const Expr *slab_begin(Program *program, const Staged *s, const Axis *axis) {
  const Expr *begin = axis_outside(program, axis);
  return axis == s->product->axis[AXIS_K] ? part_place(program, s->of, begin) : begin;
}

// The operand's element at a row and column of the slab.
static Access global_access(Program *program, const Staged *s, const Expr *row,
                            const Expr *column) {
  const Expr *idx[2];
  idx[s->slow] = ex_add(program->arena, slab_begin(program, s, s->row), row);
  idx[1 - s->slow] = ex_add(program->arena, slab_begin(program, s, s->column), column);
  return operand_element(program, s->product, s->of, idx[0], idx[1]);
}

int copy_width(Program *program, const Product *product, int operand) {
  Staged s = staged_of(program, product, operand);
  const Expr *start = slab_begin(program, &s, s.column);
  const Buffer *matrix = program_buffer(program, s.operand->global);
  int64_t length = matrix->dim[matrix->rank - 1 - s.slow];
  int widest = 16 / dtype_bytes(problem_operand_type(&program->problem));
  for (int width = widest; width > 1; width /= 2)
    if (s.columns % width == 0 && length % width == 0 && expr_divisor(start) % width == 0)
      return width;
  return 1;
}

static Buffer *staging_registers(Program *program, const Staged *s, int64_t n, KnobId knob) {
  BufferRole role = s->operand->stage;
  Buffer *buffer = program_buffer(program, role);
  if (!buffer) return program_new_buffer(program, s->registers, SPACE_REGISTER, role, 1, &n, knob);
  buffer->dim[0] = n;
  return buffer;
}

// May the slab take the piece as one access? Its rows must run the same way and stay aligned, and
// so must the runs that they are cut into.
static int slab_width(const Buffer *slab, int width) {
  if (slab->transposed) return 1;
  int64_t row_stride = slab->stride[slab->rank - 2];
  while (row_stride % width || slab->run % width || slab->run_pad % width) width /= 2;
  return width;
}

// The pieces of one thread: a REGISTER loop around `op`, guarded where the last round is not full.
static Stmt *rounds(Program *program, KnobId knob, Var *round, const Expr *flat, int64_t elements,
                    Stmt *op) {
  const Expr *inside = ex_lt(program->arena, flat, ex_const(program->arena, elements));
  if (!expr_is_const(inside, 1)) op = stmt_if(program, knob, inside, op);
  return stmt_wrap_register(program, knob, round, op);
}

typedef struct Piece {
  Var *round;        // c_a
  const Expr *flat;  // first element of the piece, counted along the slab's rows
  const Expr *row, *column;
  int64_t elements;  // of the whole slab
} Piece;

static Piece piece_of(Program *program, const Staged *s, int width) {
  Arena *arena = program->arena;
  int64_t elements = s->rows * s->columns;
  int64_t threads = kernel_launch(program_main_kernel(program)).n_threads;
  int64_t per_round = threads * width, n_rounds = ceil_div(elements, per_round);
  Var *round = program_var(program, s->counter, VAR_LOOP, TIER_REGISTER, n_rounds);
  const Expr *flat = ex_add(arena, ex_mul_const(arena, ex_var(arena, round), threads),
                            ex_var(arena, program->thread));
  flat = ex_mul_const(arena, flat, width);
  return (Piece){round, flat, ex_div(arena, flat, s->columns), ex_mod(arena, flat, s->columns),
                 elements};
}

// Stores staging register (round·width + v) to the slab, `store_width` elements at a time.
static Stmt *store_piece(Program *program, KnobId knob, const Staged *s, Buffer *registers,
                         const Piece *piece, int width) {
  Arena *arena = program->arena;
  int store_width = slab_width(s->slab, width);
  Var *v = program_var(program, "v", VAR_LOOP, TIER_REGISTER, width / store_width);
  const Expr *step = ex_mul_const(arena, ex_var(arena, v), store_width);
  const Expr *from = ex_add(arena, ex_mul_const(arena, ex_var(arena, piece->round), width), step);
  Access to = slab_access(program, s->slab, piece->row, ex_add(arena, piece->column, step));
  Op op = {.kind = OP_STORE, .dst = to, .src = access1(registers, from), .width = store_width};
  return stmt_wrap_register(program, knob, v, stmt_op(program, knob, op));
}

// Straight into the slab: the width of a copy is limited by both sides.
static Copy async_copy(Program *program, const Staged *s, int width, KnobId knob) {
  width = slab_width(s->slab, width);
  Piece piece = piece_of(program, s, width);
  Access from = global_access(program, s, piece.row, piece.column);
  Access to = slab_access(program, s->slab, piece.row, piece.column);
  Stmt *op =
      stmt_op(program, knob, (Op){.kind = OP_CP_ASYNC, .dst = to, .src = from, .width = width});
  return (Copy){rounds(program, knob, piece.round, piece.flat, piece.elements, op), NULL};
}

Copy slab_build_copy(Program *program, const Product *product, int operand, int width, bool async,
                     KnobId knob) {
  Arena *arena = program->arena;
  Staged s = staged_of(program, product, operand);
  if (async) return async_copy(program, &s, width, knob);
  Piece piece = piece_of(program, &s, width);
  Buffer *registers = staging_registers(program, &s, piece.round->extent * width, knob);
  Access from = global_access(program, &s, piece.row, piece.column);
  Access at = access1(registers, ex_mul_const(arena, ex_var(arena, piece.round), width));
  Stmt *load =
      stmt_op(program, knob, (Op){.kind = OP_LOAD, .dst = at, .src = from, .width = width});
  Stmt *store = store_piece(program, knob, &s, registers, &piece, width);
  return (Copy){rounds(program, knob, piece.round, piece.flat, piece.elements, load),
                rounds(program, knob, piece.round, piece.flat, piece.elements, store)};
}

Stmt *slab_build_boxes(Program *program, const Product *product, int operand, Access full,
                       KnobId knob) {
  Arena *arena = program->arena;
  Staged s = staged_of(program, product, operand);
  int64_t columns = s.slab->panel ? s.slab->panel : s.columns;
  Var *box = program_var(program, s.box, VAR_LOOP, TIER_REGISTER, s.columns / columns);
  const Expr *row = ex_const(arena, 0), *column = ex_mul_const(arena, ex_var(arena, box), columns);
  Op op = {.kind = OP_TMA_LOAD,
           .dst = slab_access(program, s.slab, row, column),
           .src = global_access(program, &s, row, column),
           .src2 = full,
           .box = {s.rows, columns}};
  return stmt_wrap_register(program, knob, box, stmt_op(program, knob, op));
}

bool operand_chosen(const Schedule *schedule, KnobId knob, int operand) {
  static const int bits[] = {[ATOM_A] = STAGE_A, [ATOM_B] = STAGE_B};
  return (schedule->value[knob] & bits[operand]) != 0;
}

void slab_drop_buffers(Program *program, BufferRole first, BufferRole second) {
  int n = 0;
  for (int i = 0; i < program->n_buffers; i++) {
    BufferRole role = program->buffer[i]->role;
    if (role == first || role == second) continue;
    program->buffer[n] = program->buffer[i];
    program->buffer[n]->id = n;
    n++;
  }
  program->n_buffers = n;
}

void slab_drop_staging(Program *program, const Product *product) {
  slab_drop_buffers(program, product->operand[ATOM_A].stage, product->operand[ATOM_B].stage);
}

bool slabs_are_tiles(const Product *product) {
  return product->atom && atom_reads_tiles(product->atom);
}

Stmt *slab_fence(Program *program, const Product *product, KnobId knob) {
  if (!slabs_are_tiles(product)) return NULL;
  Stmt *fence = stmt_op(program, knob, (Op){.kind = OP_FENCE_ASYNC});
  fence->note = atom_is_of_thread(product->atom) ? "what was stored comes before what tcgen05 reads"
                                                 : "what was stored comes before what wgmma reads";
  return fence;
}

void slab_replace_copy(Program *program, const Product *product, int operand, int width,
                       KnobId knob) {
  const ProductOperand *at = &product->operand[operand];
  Stmt *k_o = program_slab_loop(program);
  Copy copy = slab_build_copy(program, product, operand, width, false, knob);
  Stmt **load = stmt_find_link(&k_o->body, OP_LOAD, at->stage);
  stmt_cut(load);
  stmt_insert(load, copy.load);
  Stmt **store = stmt_find_link(&k_o->body, OP_STORE, at->slab);
  stmt_cut(store);
  stmt_insert(store, copy.store);
}

// Sums straight to C → sums through a swizzled slab, so that C is written in whole lines.
//
// Requires: atomize, N a multiple of 16 bytes of C. Ensures: per row of atoms, each warp puts its
// values into C_s [WM · 16][tile N], a barrier, all threads carry C_s to C 16 bytes at a time, a
// barrier. Preserves: which cells are written, and the conversion to C's type (on the way into
// C_s).
//
// Worked example, m16n8k16 with a 128 × 256 tile, WM = 2: an accumulator pair is 4 bytes, and a
// warp's direct store touches 8 rows of 16 bytes each, half of every 32-byte sector. Through C_s a
// warp writes 512 bytes of one row. The slab's rows are 512 bytes, so it is swizzled
// (Swizzle<3,4,5>): without, the eight rows of a fragment would meet on the same banks.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

static const KnobId knob = KNOB_EPILOGUE;

enum { CHUNK_BITS = 4, LINE_BITS = 7, SWIZZLE_BITS = 3 };

bool pass_epilogue_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_EPILOGUE] && schedule->value[KNOB_ATOM_KIND] != 0 &&
         !pass_tma_store_wanted(schedule);
}

static Buffer *new_slab(Program *program, BufferRole role, int64_t rows, int64_t columns) {
  int64_t dim[2] = {rows, columns};
  Buffer *slab = program_new_buffer(program, "C_s", SPACE_SHARED, role, 2, dim, knob);
  int row_bits = log2_up(columns * dtype_bytes(slab->type));
  if ((int64_t)1 << row_bits != columns * dtype_bytes(slab->type) || row_bits < LINE_BITS)
    return slab;
  slab->swizzle_bits = SWIZZLE_BITS;
  slab->swizzle_base = CHUNK_BITS;
  slab->swizzle_shift = row_bits - CHUNK_BITS;
  return slab;
}

// The values of one row of atoms, from their registers to the slab.
static Stmt *fill_slab(Program *program, const Product *product, Buffer *slab, const Stmt *store) {
  Arena *arena = program->arena;
  const Axis *n = product->axis[AXIS_N];
  const Digit *m_w = axis_digit(product->axis[AXIS_M], TIER_WARP);
  const Expr *row = ex_mul_const(arena, ex_var(arena, m_w->var), product->atom->m);
  Op op = store->op;
  op.dst =
      access2(slab, ex_add(arena, row, fragment_part(program, product, ATOM_C, 0)),
              ex_add(arena, axis_inside(program, n), fragment_part(program, product, ATOM_C, 1)));
  Stmt *values =
      stmt_wrap_register(program, knob, product->operand[ATOM_C].value, stmt_op(program, knob, op));
  return stmt_wrap_register(program, knob, axis_digit(n, TIER_REGISTER)->var, values);
}

// Slab row r is row r % 16 of warp r / 16's atom: where it belongs in C.
static const Expr *row_in_c(Program *program, const Product *product, const Expr *row) {
  Arena *arena = program->arena;
  const Axis *m = product->axis[AXIS_M];
  int64_t atom_rows = product->atom->m;
  const Expr *in_tile =
      ex_mul_const(arena, ex_div(arena, row, atom_rows), axis_digit(m, TIER_WARP)->weight);
  in_tile =
      ex_add(arena, in_tile,
             ex_mul_const(arena, ex_var(arena, axis_digit(m, TIER_REGISTER)->var), atom_rows));
  in_tile = ex_add(arena, in_tile, ex_mod(arena, row, atom_rows));
  return ex_add(arena, axis_outside(program, m), in_tile);
}

// Thread tid takes pieces tid, tid + T, … of 16 bytes, counted along the slab's rows.
static Stmt *empty_slab(Program *program, const Product *product, Buffer *slab) {
  Arena *arena = program->arena;
  int64_t columns = slab->dim[1], elements = slab->dim[0] * columns;
  int width = 16 / dtype_bytes(slab->type);
  int64_t threads = program->thread->extent, round = threads * width;
  Var *c = program_var(program, "c_c", VAR_LOOP, TIER_REGISTER, ceil_div(elements, round));
  int64_t one = width;
  const ProductOperand *sums = &product->operand[ATOM_C];
  Buffer *registers =
      program_new_buffer(program, "r_c", SPACE_REGISTER, sums->stage, 1, &one, knob);
  const Expr *flat =
      ex_add(arena, ex_mul_const(arena, ex_var(arena, c), threads), ex_var(arena, program->thread));
  flat = ex_mul_const(arena, flat, width);
  const Expr *row = ex_div(arena, flat, columns), *column = ex_mod(arena, flat, columns);
  Access at = access1(registers, ex_const(arena, 0));
  Access to = access2(program_buffer(program, sums->global), row_in_c(program, product, row),
                      ex_add(arena, axis_outside(program, product->axis[AXIS_N]), column));
  Stmt *load =
      stmt_op(program, knob,
              (Op){.kind = OP_LOAD, .dst = at, .src = access2(slab, row, column), .width = width});
  Stmt *store =
      stmt_op(program, knob, (Op){.kind = OP_STORE, .dst = to, .src = at, .width = width});
  Stmt *piece = stmt_list(load, store, NULL);
  const Expr *inside = ex_lt(arena, flat, ex_const(arena, elements));
  if (!expr_is_const(inside, 1)) piece = stmt_if(program, knob, inside, piece);
  return stmt_wrap_register(program, knob, c, piece);
}

void pass_epilogue(Program *program, Product *product, const Schedule *schedule) {
  Stmt **body = &kernel_inner(program_main_kernel(program))->body;
  const ProductOperand *sums = &product->operand[ATOM_C];
  Stmt **link = stmt_find_link_inside(body, OP_STORE, sums->global);
  const Stmt *store = stmt_find_op(stmt_cut(link), OP_STORE, sums->global);
  int64_t rows = schedule->value[KNOB_WM] * product->atom->m;
  Buffer *slab = new_slab(program, sums->slab, rows, axis_tile(product->axis[AXIS_N]));
  Stmt *parts = stmt_list(fill_slab(program, product, slab, store),
                          stmt_barrier(program, knob, "a row of atoms lies in C_s"),
                          empty_slab(program, product, slab),
                          stmt_barrier(program, knob, "C_s is read to the end"), NULL);
  stmt_insert(
      link, stmt_wrap_register(program, knob, axis_digit(product->axis[AXIS_M], TIER_REGISTER)->var,
                               parts));
}

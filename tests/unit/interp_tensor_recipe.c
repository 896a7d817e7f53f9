// See interp_tensor_recipe.h. With slabs, for orientation (one slab):
//
//   for m_b, n_b BLOCK, m_w, n_w WARP, lane THREAD:  acc = 0
//     for k_o: fill A_s, B_s 16 bytes at a time; barrier
//       for k_i: a <- ldmatrix A_s; b <- ldmatrix B_s; acc += a · b
//       barrier
//     C = acc, value by value
#include "interp_tensor_recipe.h"

#include <check.h>

#include "interp_recipe.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/words/fragment.h"

typedef struct TensorBuild {
  Program *p;
  const TensorRecipe *r;
  Atom atom;
  Arena *arena;
  Var *m_b, *n_b, *m_w, *n_w, *lane, *k_o, *k_i;
  Buffer *a, *b, *c, *a_s, *b_s, *a_read, *acc, *fa, *fb, *piece;
  int64_t tile_m, tile_n, tile_k, n_slabs;
} TensorBuild;

static const Expr *bit(const TensorBuild *b, const Expr *x, int i) {
  return ex_mod(b->arena, ex_div(b->arena, x, (int64_t)1 << i), 2);
}
static const Expr *modulo(const TensorBuild *b, const Expr *x, int64_t by) {
  return ex_mod(b->arena, x, by);
}
static const Expr *divided(const TensorBuild *b, const Expr *x, int64_t by) {
  return ex_div(b->arena, x, by);
}

static Problem problem_of(const TensorRecipe *r, const Atom *atom) {
  Problem problem = {.m = r->m, .n = r->n, .k = r->k, .out = r->out};
  ck_assert(dtype_find(atom->type, &problem.dtype) && dtype_find(atom->acc, &problem.acc));
  return problem;
}

// ---- where things are ---------------------------------------------------------------------------

// PTX ISA, A and C of m16n8k*: the row is lane / 4, and 8 more for every second pair (A of 32-bit
// elements: every second value).
static const Expr *spread_row(const TensorBuild *b, const Expr *value, int pack) {
  const Expr *row = divided(b, var(b->lane), 4);
  if (b->atom.m == 8) return row;
  const Expr *lower = modulo(b, divided(b, value, pack), 2);
  if (b->r->fault == VALUES_SWAPPED) lower = ex_sub(b->arena, num(1), lower);
  return add(row, times(lower, 8));
}

// A: columns of one register side by side, the next half of K after both rows.
static const Expr *a_column(const TensorBuild *b, const Expr *value, int pack) {
  const Expr *column = add(times(modulo(b, var(b->lane), 4), pack), modulo(b, value, pack));
  int rows = b->atom.m == 8 ? 1 : 2;
  return add(column, times(divided(b, value, (int64_t)pack * rows), (int64_t)4 * pack));
}

static const Expr *b_row(const TensorBuild *b, const Expr *value, int pack) {
  const Expr *row = add(times(modulo(b, var(b->lane), 4), pack), modulo(b, value, pack));
  return add(row, times(divided(b, value, pack), (int64_t)4 * pack));
}

static int pack_of(const Atom *atom) { return atom->bits < 32 ? 32 / atom->bits : 1; }

static const Expr *slot_of(const TensorBuild *b, const Expr *slab) {
  return modulo(b, slab, b->r->slabs);
}

static Access of_a(const TensorBuild *b, const Expr *row, const Expr *column) {
  row = add(times(var(b->m_w), (int64_t)b->r->fm * b->atom.m), row);
  column = add(times(var(b->k_i), b->atom.k), column);
  if (b->a_s) return access3(b->a_read, slot_of(b, var(b->k_o)), row, column);
  return access2(b->a, add(times(var(b->m_b), b->tile_m), row), column);
}

static Access of_b(const TensorBuild *b, const Expr *row, const Expr *column) {
  column = add(times(var(b->n_w), (int64_t)b->r->fn * b->atom.n), column);
  row = add(times(var(b->k_i), b->atom.k), row);
  if (b->b_s) return access3(b->b_s, slot_of(b, var(b->k_o)), row, column);
  return access2(b->b, row, add(times(var(b->n_b), b->tile_n), column));
}

// ---- fragments ----------------------------------------------------------------------------------

static Stmt *load_values(const TensorBuild *b, bool is_a) {
  Program *p = b->p;
  int atoms = is_a ? b->r->fm : b->r->fn, pack = pack_of(&b->atom);
  int64_t n_values = (is_a ? b->fa : b->fb)->dim[1];
  Var *i = new_var(p, is_a ? "m_l" : "n_l", TIER_REGISTER, atoms);
  Var *v = new_var(p, is_a ? "v_a" : "v_b", TIER_REGISTER, n_values);
  const Expr *at = times(var(i), is_a ? b->atom.m : b->atom.n);
  Access from = is_a ? of_a(b, add(at, spread_row(b, var(v), pack)), a_column(b, var(v), pack))
                     : of_b(b, b_row(b, var(v), pack), add(at, divided(b, var(b->lane), 4)));
  Access to = access2(is_a ? b->fa : b->fb, var(i), var(v));
  return loop(p, i, loop(p, v, op1(p, OP_LOAD, to, from)));
}

static Stmt *when(const TensorBuild *b, int lanes, Stmt *stmt) {
  return stmt_if(b->p, KNOB_NONE, ex_lt(b->arena, var(b->lane), num(lanes)), stmt);
}

// Lanes 0-7 the rows 0-7 of the first half of K, 8-15 the rows 8-15, 16-31 the same of the second.
static Stmt *ldmatrix_a(const TensorBuild *b) {
  Program *p = b->p;
  Var *i = new_var(p, "m_l", TIER_REGISTER, b->r->fm);
  const Expr *from = var(b->lane);
  if (b->r->fault == ROW_OFF)
    from = add(modulo(b, add(from, num(1)), 8), times(divided(b, from, 8), 8));
  if (b->r->fault == MATRIX_OFF) from = modulo(b, add(from, num(8)), 32);
  int64_t matrices = b->fa->dim[1] / pack_of(&b->atom);
  const Expr *row = add(times(var(i), b->atom.m), modulo(b, from, 16));
  const Expr *column = times(bit(b, from, 4), 16 / dtype_bytes(b->a->type));
  if (matrices == 2) column = num(0);
  if (b->r->fault == ROW_SHIFTED) column = add(column, num(1));
  if (b->r->fault == ROW_BEYOND) row = add(row, num(1));
  Op op = {.kind = OP_LDMATRIX, .matrices = matrices, .src = of_a(b, row, column)};
  op.dst = access2(b->fa, var(i), num(b->r->fault == INSIDE_REGISTER));
  Stmt *stmt = stmt_op(p, KNOB_NONE, op);
  return loop(p, i, b->r->fault == HALF_LOADS ? when(b, 16, stmt) : stmt);
}

// .x2.trans: lane l addresses row l of K, the lanes from 16 on rows that may not even be there.
static Stmt *ldmatrix_b(const TensorBuild *b) {
  Program *p = b->p;
  Var *j = new_var(p, "n_l", TIER_REGISTER, b->r->fn);
  Op op = {.kind = OP_LDMATRIX,
           .matrices = b->atom.k / 8,
           .trans = b->r->fault != NO_TRANS,
           .dst = access2(b->fb, var(j), num(0)),
           .src = of_b(b, var(b->lane), times(var(j), b->atom.n))};
  return loop(p, j, stmt_op(p, KNOB_NONE, op));
}

static Stmt *multiply(const TensorBuild *b) {
  Program *p = b->p;
  Var *i = new_var(p, "m_r", TIER_REGISTER, b->r->fm),
      *j = new_var(p, "n_r", TIER_REGISTER, b->r->fn);
  const Expr *of = var(i);
  if (b->r->fault == FRAGMENTS_SWAPPED) of = modulo(b, add(of, num(1)), b->r->fm);
  Op op = {.kind = OP_MMA,
           .atom = p->product[0].atom,
           .dst = access3(b->acc, var(i), var(j), num(0)),
           .src = access2(b->fa, of, num(0)),
           .src2 = access2(b->fb, var(j), num(0))};
  Stmt *mma = stmt_op(p, KNOB_NONE, op);
  if (b->r->fault == HALF_MULTIPLIES) mma = when(b, 31, mma);
  Stmt *body = b->r->ldmatrix_a ? ldmatrix_a(b) : load_values(b, true);
  stmt_list(body, b->r->ldmatrix_b ? ldmatrix_b(b) : load_values(b, false),
            loop(p, i, loop(p, j, mma)), NULL);
  return loop(p, b->k_i, body);
}

// ---- slabs --------------------------------------------------------------------------------------

static Stmt *fill_one(const TensorBuild *b, const Expr *slab, bool is_a) {
  Program *p = b->p;
  bool narrow = b->r->fault == NARROW_COPY;
  int64_t width = narrow ? 1 : 16 / dtype_bytes(b->a->type);
  int64_t rows = is_a ? b->tile_m : b->tile_k, columns = (is_a ? b->tile_k : b->tile_n) / width;
  int64_t threads = (int64_t)b->r->wm * b->r->wn * 32,
          steps = (rows * columns + threads - 1) / threads;
  Var *i = new_var(p, is_a ? "c_a" : "c_b", TIER_SERIAL, steps);
  const Expr *warp = add(times(var(b->m_w), b->r->wn), var(b->n_w));
  const Expr *e = add(times(var(i), threads), add(times(warp, 32), var(b->lane)));
  const Expr *row = divided(b, e, columns), *column = times(modulo(b, e, columns), width);
  const Expr *k = times(slab, b->tile_k);
  Access from = is_a ? access2(b->a, add(times(var(b->m_b), b->tile_m), row), add(k, column))
                     : access2(b->b, add(k, row), add(times(var(b->n_b), b->tile_n), column));
  Access to = access3(is_a ? b->a_s : b->b_s, slot_of(b, slab), row, column);
  Access piece = access1(b->piece, num(0));
  Op load = {.kind = OP_LOAD, .width = (int)width, .dst = piece, .src = from};
  Op store = {.kind = OP_STORE, .width = (int)width, .dst = to, .src = piece};
  Op copy = {.kind = OP_CP_ASYNC, .width = (int)width, .dst = to, .src = from};
  Stmt *move = stmt_op(p, KNOB_NONE, b->r->async ? copy : load);
  if (!b->r->async) stmt_list(move, stmt_op(p, KNOB_NONE, store), NULL);
  const Expr *inside = ex_lt(b->arena, e, num(rows * columns));
  return loop(p, i, expr_is_const(inside, 1) ? move : stmt_if(p, KNOB_NONE, inside, move));
}

static Stmt *fill(const TensorBuild *b, const Expr *slab) {
  Stmt *list = stmt_list(fill_one(b, slab, true), fill_one(b, slab, false), NULL);
  if (b->r->async) stmt_list(list, plain(b->p, OP_CP_COMMIT, 0), NULL);
  return list;
}

static Stmt *link_lists(Stmt *first, Stmt *then) {
  return first ? stmt_list(first, then, NULL) : then;
}

static Stmt *arrive(const TensorBuild *b, Stmt *list, int in_flight) {
  if (b->r->async && b->r->fault != NO_COPY_WAIT)
    list = link_lists(list, plain(b->p, OP_CP_WAIT, in_flight));
  if (b->r->fault != NO_FILL_BARRIER) list = link_lists(list, plain(b->p, OP_BARRIER, 0));
  return list;
}

static Stmt *over_slabs(const TensorBuild *b) {
  Program *p = b->p;
  int ahead = b->r->slabs - 1;
  if (ahead == 0) {
    Stmt *body = arrive(b, fill(b, var(b->k_o)), 0);
    return loop(p, b->k_o, stmt_list(body, multiply(b), plain(p, OP_BARRIER, 0), NULL));
  }
  Stmt *list = NULL;
  for (int i = 0; i < ahead; i++) list = link_lists(list, fill(b, num(i)));
  const Expr *next = add(var(b->k_o), num(ahead));
  Stmt *more = stmt_list(fill_one(b, next, true), fill_one(b, next, false), NULL);
  if (b->r->fault != UNGUARDED_TAIL)
    more = stmt_if(p, KNOB_NONE, ex_lt(b->arena, next, num(b->n_slabs)), more);
  Stmt *body = arrive(b, NULL, ahead - 1);
  body = link_lists(body, stmt_list(more, plain(p, OP_CP_COMMIT, 0), multiply(b), NULL));
  return stmt_list(list, loop(p, b->k_o, body), NULL);
}

// ---- the whole ----------------------------------------------------------------------------------

static Stmt *finish(const TensorBuild *b) {
  Program *p = b->p;
  Var *i = new_var(p, "m_s", TIER_REGISTER, b->r->fm),
      *j = new_var(p, "n_s", TIER_REGISTER, b->r->fn);
  Var *v = new_var(p, "v_c", TIER_REGISTER, b->acc->dim[2]);
  const Expr *row = divided(b, var(b->lane), 4);
  if (b->atom.m == 16) row = add(row, times(divided(b, var(v), 2), 8));
  const Expr *column = add(times(modulo(b, var(b->lane), 4), 2), modulo(b, var(v), 2));
  const Expr *m =
      add(add(times(var(b->m_b), b->tile_m), times(var(b->m_w), (int64_t)b->r->fm * b->atom.m)),
          add(times(var(i), b->atom.m), row));
  const Expr *n =
      add(add(times(var(b->n_b), b->tile_n), times(var(b->n_w), (int64_t)b->r->fn * b->atom.n)),
          add(times(var(j), b->atom.n), column));
  Access from = access3(b->acc, var(i), var(j), var(v));
  return loop(p, i, loop(p, j, loop(p, v, op1(p, OP_STORE, access2(b->c, m, n), from))));
}

static Buffer *slab(TensorBuild *b, const char *name, BufferRole role, int64_t rows,
                    int64_t columns) {
  int64_t dim[] = {b->r->slabs, rows, columns};
  Buffer *buffer = program_new_buffer(b->p, name, SPACE_SHARED, role, 3, dim, KNOB_NONE);
  buffer->swizzle_bits = b->r->swizzle;
  buffer->swizzle_base = 4;
  buffer->swizzle_shift = 3;
  return buffer;
}

static void make_slabs(TensorBuild *b) {
  b->a_s = b->a_read = slab(b, "A_s", ROLE_SLAB_A, b->tile_m, b->tile_k);
  b->b_s = slab(b, "B_s", ROLE_SLAB_B, b->tile_k, b->tile_n);
  program_place_shared(b->p);
  if (b->r->fault == FOLDED_LAYOUT) b->a_s->xor_term[b->a_s->n_xor++] = (XorTerm){4, 4, 1};
  if (b->r->fault != READ_UNSWIZZLED) return;
  b->a_read = slab(b, "A_u", ROLE_SLAB_A, b->tile_m, b->tile_k);
  b->a_read->swizzle_bits = 0;
  b->a_read->offset_bytes = b->a_s->offset_bytes;  // the same memory under another name
}

static void make_buffers(TensorBuild *b) {
  Program *p = b->p;
  const TensorRecipe *r = b->r;
  b->a = program_buffer(p, ROLE_A);
  b->b = program_buffer(p, ROLE_B);
  b->c = program_buffer(p, ROLE_C);
  if (r->bk) make_slabs(b);
  int64_t values[] = {(int64_t)b->atom.m * b->atom.k / 32, (int64_t)b->atom.k * b->atom.n / 32,
                      (int64_t)b->atom.m * b->atom.n / 32};
  int64_t fa[] = {r->fm, values[0]}, fb[] = {r->fn, values[1]}, acc[] = {r->fm, r->fn, values[2]};
  int64_t piece[] = {16};
  b->fa = program_new_buffer(p, "a", SPACE_REGISTER, ROLE_FRAG_A, 2, fa, KNOB_NONE);
  b->fb = program_new_buffer(p, "b", SPACE_REGISTER, ROLE_FRAG_B, 2, fb, KNOB_NONE);
  b->acc = program_new_buffer(p, "acc", SPACE_REGISTER, ROLE_ACC, 3, acc, KNOB_NONE);
  b->piece = program_new_buffer(p, "r", SPACE_REGISTER, ROLE_STAGE_A, 1, piece, KNOB_NONE);
  if (r->fault == WRONG_ACC) b->acc->type = DTYPE_F64;
}

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

Program *tensor_build(const TensorRecipe *r) {
  TensorBuild b = {.r = r};
  Diags diags = diags_new(recipe_arena());
  ck_assert_msg(atom_parse(r->atom, &b.atom, &diags), "%s", r->atom);
  b.arena = recipe_arena();
  Program *p = b.p = program_new(b.arena, problem_of(r, &b.atom));
  Atom *atom = ARENA_NEW(b.arena, Atom);
  *atom = b.atom;
  p->product[0].atom = atom;
  b.tile_m = (int64_t)r->wm * r->fm * b.atom.m;
  b.tile_n = (int64_t)r->wn * r->fn * b.atom.n;
  b.tile_k = (int64_t)(r->bk ? r->bk : 1) * b.atom.k;
  b.n_slabs = up(r->k, b.tile_k);
  make_buffers(&b);
  b.m_b = new_var(p, "m_b", TIER_BLOCK, up(r->m, b.tile_m));
  b.n_b = new_var(p, "n_b", TIER_BLOCK, up(r->n, b.tile_n));
  b.m_w = new_var(p, "m_w", TIER_WARP, r->wm);
  b.n_w = new_var(p, "n_w", TIER_WARP, r->wn);
  b.lane = new_var(p, "lane", TIER_THREAD, 32);
  b.k_o = new_var(p, "k_o", TIER_SERIAL_OUTER, b.n_slabs);
  b.k_i = new_var(p, "k_i", TIER_STAGE_INNER, r->bk ? r->bk : up(r->k, b.atom.k));
  Var *i = new_var(p, "m_i", TIER_REGISTER, r->fm), *j = new_var(p, "n_i", TIER_REGISTER, r->fn);
  Op zero = {.kind = OP_INIT, .width = (int)b.acc->dim[2]};
  zero.dst = access3(b.acc, var(i), var(j), num(0));
  Stmt *body = loop(p, i, loop(p, j, stmt_op(p, KNOB_NONE, zero)));
  stmt_list(body, r->bk ? over_slabs(&b) : multiply(&b), finish(&b), NULL);
  body = loop(p, b.m_w, loop(p, b.n_w, loop(p, b.lane, body)));
  p->kernel[p->n_kernels++] =
      (Kernel){.name = "matmul", .body = loop(p, b.m_b, loop(p, b.n_b, body)), .knob = KNOB_NONE};
  return p;
}

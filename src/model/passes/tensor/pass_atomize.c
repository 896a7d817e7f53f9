// naive nest → BLOCK and WARP tiers, atoms in registers.
//
// Requires: the naive nest; every extent may be ragged. Ensures: loops m_b, n_b (BLOCK), m_w, n_w
// (WARP), lane (THREAD) outermost; a warp keeps FM × FN atoms of C; k counts atoms. Fragments are
// register buffers whose last dimension counts a lane's values in register order; which element a
// value is follows from the atom's fragment map (fragment.h), a sum over the bits of lane and
// value.
//
// A warpgroup's atom (wgmma) reads B, and A unless A_REGS, where they lie: there are no fragments
// of them, lane counts 128, WM and WN count warpgroups. It works in the background: fence,
// multiply, commit, wait.
//
// Worked example, m16n8k16.f16, WM = 2, FM = 4: m = m_b·128 + m_w·64 + m_r·16 + row, and for value
// v of A row = lane / 4 + v / 2 % 2 · 8, col = lane % 4 · 2 + v % 2 + v / 4 · 8. Values v and v + 1
// are neighbours along k, so they are loaded together, four times two 16-bit values per fragment.
#include <assert.h>

#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/passes/tensor/tensor_body.h"
#include "model/words/fragment.h"
#include "model/words/schedule_atom.h"

static const KnobId knob = KNOB_ATOM_KIND;

enum { ACCESS_BYTES = 16, REGISTER_BYTES = 4 };

bool pass_atomize_wanted(const Schedule *schedule) { return schedule->value[KNOB_ATOM_KIND] != 0; }

// axis = block · (warps·atoms·extent) + warp · (atoms·extent) + atom · extent
static void factor(Program *program, Axis *axis, int64_t warps, int64_t atoms, int64_t extent) {
  int64_t tile = warps * atoms * extent;
  const char *names[] = {axis_digit_name(program, axis, "_b"), axis_digit_name(program, axis, "_w"),
                         axis_digit_name(program, axis, "_r")};
  Var *b = program_var(program, names[0], VAR_LOOP, TIER_BLOCK, ceil_div(axis->extent, tile));
  Var *w = program_var(program, names[1], VAR_LOOP, TIER_WARP, warps);
  Var *r = program_var(program, names[2], VAR_LOOP, TIER_REGISTER, atoms);
  axis->n_digits = 3;
  axis->digit[0] = (Digit){b, tile};
  axis->digit[1] = (Digit){w, atoms * extent};
  axis->digit[2] = (Digit){r, extent};
}

// Whether lanes hold the operand in registers: all of a warp's atom; of a warpgroup's the sums, and
// A where a buffer for it is left.
static bool is_held(const Program *program, const Product *product, int operand) {
  return atom_in_lanes(product->atom, (AtomOperand)operand) &&
         program_buffer(program, product->operand[operand].registers);
}

// The number of a lane's values in a row that are neighbours in memory: the low value bits that
// step the fast dimension by 1, 2, 4, …
static int neighbours(const Program *program, const Product *product, const FragmentMap *map,
                      int operand) {
  int fast = 1 - product_slow_dimension(product, operand);
  const Buffer *global = program_buffer(program, product->operand[operand].global);
  int64_t length = global->dim[global->rank - 2 + fast];
  const int *of_bit = fast ? map->col_of_value_bit : map->row_of_value_bit;
  int width = 1;
  for (int bit = 0; bit < map->n_value_bits && of_bit[bit] == 1 << bit; bit++)
    if (length % (width * 2) == 0 && 2 * width * dtype_bytes(global->type) <= ACCESS_BYTES)
      width *= 2;
  return width;
}

static void name_values(Program *program, Product *product, int operand) {
  static const char *const names[][ATOM_OPERANDS] = {{"v_a", "v_b", "v_c"}, {"v_p", "v_v", "v_o"}};
  if (!is_held(program, product, operand)) return;
  FragmentMap map = fragment_map(product->atom, (AtomOperand)operand);
  ProductOperand *held = &product->operand[operand];
  held->value_width = neighbours(program, product, &map, operand);
  const char *name = names[product - program->product][operand];
  const bool counted = product->atom->place[operand] & ATOM_PLACE_TMEM;  // by piece and value
  held->value = program_var(program, name, counted ? VAR_LET : VAR_LOOP, TIER_REGISTER,
                            map.n_values / held->value_width);
}

// An operand's registers: `rows` and `columns` of fragments, 0 where it has no such side.
static Buffer *reshape(Program *program, const Product *product, int operand, int64_t rows,
                       int64_t columns) {
  Buffer *buffer = program_buffer(program, product->operand[operand].registers);
  int64_t values = fragment_map(product->atom, (AtomOperand)operand).n_values;
  int64_t dim[RANK_MAX] = {rows, columns, values};
  int at = 0;
  for (int d = 0; d < 3; d++)
    if (dim[d] > 0) buffer->dim[at++] = dim[d];
  buffer->rank = at;
  buffer->stride[at - 1] = 1;
  for (int d = at - 2; d >= 0; d--) buffer->stride[d] = buffer->stride[d + 1] * buffer->dim[d + 1];
  buffer->knob = knob;
  return buffer;
}

// Register indices of the value that the operand's value variable stands for.
static const Expr *value_index(Program *program, const ProductOperand *operand) {
  return ex_mul_const(program->arena, ex_var(program->arena, operand->value), operand->value_width);
}

// Tells the knob for the number of atoms of a warp along N.
static KnobId knob_along_n(const Program *program, const Product *product) {
  return product == &program->product[0] ? KNOB_FN : KNOB_K;
}

static Stmt *read_fragment(Program *program, const Product *product, int operand, Digit atoms) {
  const ProductOperand *at = &product->operand[operand];
  const Expr *zero = ex_const(program->arena, 0);
  Access from = operand_element(program, product, operand, zero, zero);
  Access to = access2(program_buffer(program, at->registers), ex_var(program->arena, atoms.var),
                      value_index(program, at));
  Op op = {.kind = OP_LOAD, .dst = to, .src = from, .width = at->value_width};
  Stmt *values = stmt_wrap_register(program, knob, at->value, stmt_op(program, knob, op));
  return stmt_wrap_register(program, operand == ATOM_A ? KNOB_FM : knob_along_n(program, product),
                            atoms.var, values);
}

// A lane's factors of one row of A, or column of B, for each of the warp's atoms: all of a step by
// one load, into the first bytes of a register.
static Stmt *read_factors(Program *program, const Product *product, int operand, Digit atoms) {
  const AtomOperand scale = operand == ATOM_A ? ATOM_SFA : ATOM_SFB;
  const ProductOperand *at = &product->operand[scale];
  const Expr *zero = ex_const(program->arena, 0);
  Buffer *registers = program_buffer(program, at->registers);
  const int64_t dim[] = {atoms.var->extent, REGISTER_BYTES};
  registers->rank = 2;
  for (int d = 0; d < 2; d++) registers->dim[d] = dim[d];
  registers->stride[0] = REGISTER_BYTES;
  registers->stride[1] = 1;
  registers->knob = knob;
  Op op = {.kind = OP_LOAD,
           .dst = access2(registers, ex_var(program->arena, atoms.var), zero),
           .src = access2(program_buffer(program, at->global), zero, zero),
           .width = atom_scales(product->atom)};
  return stmt_wrap_register(program, operand == ATOM_A ? KNOB_FM : KNOB_FN, atoms.var,
                            stmt_op(program, knob, op));
}

static Stmt *over_atoms(Program *program, const Product *product, Stmt *stmt) {
  Stmt *inner = stmt_wrap_register(program, knob_along_n(program, product),
                                   product->axis[AXIS_N]->digit[2].var, stmt);
  return stmt_wrap_register(program, KNOB_FM, product->axis[AXIS_M]->digit[2].var, inner);
}

// The operand as its atom takes it: a fragment that was read before, or a tile where it lies.
static Access operand_access(Program *program, const Product *product, int operand) {
  const Expr *zero = ex_const(program->arena, 0);
  const ProductOperand *at = &product->operand[operand];
  if (!is_held(program, product, operand))
    return operand_element(program, product, operand, zero, zero);
  const Var *atoms = product->axis[operand == ATOM_A ? AXIS_M : AXIS_N]->digit[2].var;
  return access2(program_buffer(program, at->registers), ex_var(program->arena, atoms), zero);
}

static Stmt *wg(Program *program, OpKind kind) {
  return stmt_op(program, knob, (Op){.kind = kind});
}

// Reads the fragments, then multiplies: a warpgroup in the background, so that it has to wait.
static Stmt *one_step(Program *program, const Product *product, Access sums) {
  Stmt *reads = NULL;
  Digit atoms[] = {product->axis[AXIS_M]->digit[2], product->axis[AXIS_N]->digit[2]};
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    if (!is_held(program, product, operand)) continue;
    Stmt *read = read_fragment(program, product, operand, atoms[operand]);
    stmt_insert(reads ? &stmt_last(reads)->next : &reads, read);
  }
  for (int operand = ATOM_A; operand <= ATOM_B && product_is_scaled(product); operand++)
    stmt_list(reads, read_factors(program, product, operand, atoms[operand]), NULL);
  bool group = atom_is_of_warpgroup(product->atom);
  Op multiply = {.kind = group ? OP_WGMMA : OP_MMA,
                 .atom = product->atom,
                 .dst = sums,
                 .src = operand_access(program, product, ATOM_A),
                 .src2 = operand_access(program, product, ATOM_B)};
  for (int i = ATOM_A; i <= ATOM_B && product_is_scaled(product); i++)
    multiply.scale[i] = access2(program_buffer(program, product->operand[ATOM_SFA + i].registers),
                                ex_var(program->arena, atoms[i].var), ex_const(program->arena, 0));
  Stmt *all = over_atoms(program, product, stmt_op(program, knob, multiply));
  if (group)
    all = stmt_list(wg(program, OP_WG_FENCE), all, wg(program, OP_WG_COMMIT),
                    wg(program, OP_WG_WAIT), NULL);
  return reads ? stmt_list(reads, all, NULL) : all;
}

static Stmt *warp_body(Program *program, const Product *product, const Schedule *schedule) {
  Arena *arena = program->arena;
  if (atom_is_of_thread(product->atom)) {
    Access operand[] = {operand_access(program, product, ATOM_A),
                        operand_access(program, product, ATOM_B)};
    return tensor_body(program, product, schedule, operand);
  }
  const Expr *zero = ex_const(arena, 0);
  const Expr *i = ex_var(arena, product->axis[AXIS_M]->digit[2].var);
  const Expr *j = ex_var(arena, product->axis[AXIS_N]->digit[2].var);
  const ProductOperand *c = &product->operand[ATOM_C];
  Buffer *acc = program_buffer(program, c->registers);
  Op init = {.kind = OP_INIT, .dst = access3(acc, i, j, zero), .width = (int)acc->dim[2]};
  Op store = {.kind = OP_STORE,
              .dst = operand_element(program, product, ATOM_C, zero, zero),
              .src = access3(acc, i, j, value_index(program, c)),
              .width = c->value_width};
  Stmt *values = stmt_wrap_register(program, knob, c->value, stmt_op(program, knob, store));
  Stmt *step = one_step(program, product, access3(acc, i, j, zero));
  Stmt *sum = stmt_list(over_atoms(program, product, stmt_op(program, knob, init)),
                        stmt_loop(program, knob, product->axis[AXIS_K]->digit[0].var, step), NULL);
  Stmt *behind = product->batch ? attention_behind_sum(program, product) : NULL;
  Stmt *stores = over_atoms(program, product, values);
  return behind ? stmt_list(sum, behind, stores, NULL) : stmt_list(sum, stores, NULL);
}

// Loops over the digits of a tier, m outside n.
static Stmt *bind_tier(Program *program, const Product *product, int digit, Stmt *body) {
  body = stmt_loop(program, KNOB_WN, product->axis[AXIS_N]->digit[digit].var, body);
  return stmt_loop(program, KNOB_WM, product->axis[AXIS_M]->digit[digit].var, body);
}

// wgmma reads B by descriptor, and A unless it shall come from registers.
// Operand A of a later product is made of the sums of the one before, which lie in registers.
static void drop_fragments(Program *program, const Product *product, bool a_regs) {
  const bool keep_a = a_regs || product != &program->product[0];
  BufferRole a = product->operand[ATOM_A].registers, b = product->operand[ATOM_B].registers;
  slab_drop_buffers(program, b, keep_a ? b : a);
}

// A later product has all of its columns in one atom of a warpgroup.
static const Atom *atom_of_later(Program *program, const Product *product, const Atom *first) {
  if (!first->n_step) return first;
  Atom *atom = ARENA_NEW(program->arena, Atom);
  *atom = *first;
  atom_set_n(atom, (int)product->axis[AXIS_N]->extent);
  return atom;
}

// Every product of a program is by the same instruction, in warps of the same lanes.
static void take_lanes(Program *program, Product *product, const Schedule *schedule) {
  const int64_t *v = schedule->value;
  const Product *first = &program->product[0];
  if (product != first) {
    product->atom = atom_of_later(program, product, first->atom);
    product->lane = first->lane;
    return;
  }
  product->atom = schedule_atom(program->arena, schedule);
  int lanes = atom_lanes(product->atom);
  product->lane = program_var(program, "lane", VAR_LOOP, TIER_THREAD, lanes);
  program->thread =
      program_var(program, "tid", VAR_THREAD, TIER_THREAD, v[KNOB_WM] * v[KNOB_WN] * lanes);
}

// Atoms of a warp along N: FN, or where the columns are the head dimension all of that.
static int64_t atoms_along_n(const Program *program, const Product *product,
                             const Schedule *schedule) {
  bool all = product != &program->product[0];
  return all ? ceil_div(product->axis[AXIS_N]->extent, product->atom->n) : schedule->value[KNOB_FN];
}

void pass_atomize(Program *program, Product *product, const Schedule *schedule) {
  const int64_t *v = schedule->value;
  Axis *m = product->axis[AXIS_M], *k = product->axis[AXIS_K];
  take_lanes(program, product, schedule);
  const Atom *atom = product->atom;
  const int64_t fn = atoms_along_n(program, product, schedule);
  if (m->digit[0].var->tier != TIER_BLOCK)  // another product may share its rows
    factor(program, m, v[KNOB_WM], v[KNOB_FM], atom->m);
  factor(program, product->axis[AXIS_N], v[KNOB_WN], fn, atom->n);
  k->digit[0] = (Digit){
      program_var(program, k->name, VAR_LOOP, TIER_SERIAL, ceil_div(k->extent, atom->k)), atom->k};
  if (atom_reads_tiles(atom)) drop_fragments(program, product, v[KNOB_A_REGS]);
  for (int operand = ATOM_A; operand <= ATOM_C; operand++) name_values(program, product, operand);
  if (atom_is_of_thread(atom))
    tensor_buffers(program, product, schedule);
  else
    reshape(program, product, ATOM_C, v[KNOB_FM], fn);
  if (is_held(program, product, ATOM_A)) reshape(program, product, ATOM_A, v[KNOB_FM], 0);
  if (is_held(program, product, ATOM_B)) reshape(program, product, ATOM_B, fn, 0);
  attention_bind_batch(program, product);
  Stmt *nest = stmt_loop(program, knob, product->lane, warp_body(program, product, schedule));
  nest = bind_tier(program, product, 1, nest);
  Kernel *kernel = product_kernel_of(program, product);
  *(product->batch ? &kernel->body->body : &kernel->body) = bind_tier(program, product, 0, nest);
  program_apply_axes(program, product);
}

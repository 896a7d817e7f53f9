// The moves the passes share. All of them work on a private clone of the program (program_clone),
// so statements may be relinked freely; variables and expressions are never altered, only replaced.
#include "model/ir/rewrite.h"

#include <assert.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/words/fragment.h"

Kernel *program_main_kernel(Program *program) { return &program->kernel[program->main_kernel]; }

Kernel *product_kernel_of(Program *program, const Product *product) {
  return program->n_products == 1 ? program_main_kernel(program)
                                  : &program->kernel[product->kernel];
}

// ---- finding ------------------------------------------------------------------------------------

Stmt *stmt_find_tier(Stmt *list, Tier tier) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (stmt->kind == STMT_LOOP && stmt->var->tier == tier) return stmt;
    Stmt *inner = stmt->body ? stmt_find_tier(stmt->body, tier) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

Stmt *stmt_find_loop(Stmt *list, const Var *var) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (stmt->kind == STMT_LOOP && stmt->var == var) return stmt;
    Stmt *inner = stmt->body ? stmt_find_loop(stmt->body, var) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

// The statements that the multiplying threads of a kernel run: the body below its hardware loops,
// or their role.
static Stmt *inner_body(const Kernel *kernel) {
  Stmt *inner = kernel_inner((Kernel *)(uintptr_t)kernel);
  return inner ? inner->body : kernel->body;
}

Stmt *program_slab_loop(const Program *program) {
  return stmt_find_tier(inner_body(program_main(program)), TIER_SERIAL_OUTER);
}

Stmt *program_outer_k_loop(const Program *program) {
  Stmt *k_o = program_slab_loop(program);
  const Axis *k = &program->axis[AXIS_K];
  return k_o ? k_o : stmt_find_loop(program_main(program)->body, k->digit[k->n_digits - 1].var);
}

static bool is_op(const Stmt *stmt, OpKind kind, BufferRole role) {
  if (stmt->kind != STMT_OP || stmt->op.kind != kind) return false;
  return role == ROLE_COUNT || (stmt->op.dst.buffer && stmt->op.dst.buffer->role == role);
}

Stmt *stmt_find_op(Stmt *list, OpKind kind, BufferRole role) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (is_op(stmt, kind, role)) return stmt;
    Stmt *inner = stmt->body ? stmt_find_op(stmt->body, kind, role) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

static bool does(const Stmt *stmt, OpAction action, BufferRole role) {
  if (stmt->kind != STMT_OP || op_facts(stmt->op.kind)->action != action) return false;
  return role == ROLE_COUNT || (stmt->op.dst.buffer && stmt->op.dst.buffer->role == role);
}

Stmt *stmt_find_action(Stmt *list, OpAction action, BufferRole role) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (does(stmt, action, role)) return stmt;
    Stmt *inner = stmt->body ? stmt_find_action(stmt->body, action, role) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

Stmt **stmt_find_link(Stmt **list, OpKind kind, BufferRole role) {
  for (Stmt **link = list; *link; link = &(*link)->next)
    if (is_op(*link, kind, role) || stmt_find_op((*link)->body, kind, role)) return link;
  return NULL;
}

Stmt **stmt_find_link_inside(Stmt **list, OpKind kind, BufferRole role) {
  Stmt **link = stmt_find_link(list, kind, role);
  while (link && (*link)->kind == STMT_IF) link = stmt_find_link(&(*link)->body, kind, role);
  return link;
}

Stmt **stmt_find_action_link(Stmt **list, OpAction action, BufferRole role) {
  for (Stmt **link = list; *link; link = &(*link)->next)
    if (does(*link, action, role) || stmt_find_action((*link)->body, action, role)) return link;
  return NULL;
}

Stmt **stmt_find_multiply(const Product *product, Stmt **list) {
  return stmt_find_action_link(list, ACTION_MULTIPLY, product->operand[ATOM_C].registers);
}

Stmt **stmt_find_read(const Product *product, AtomOperand operand, Stmt **list) {
  return stmt_find_action_link(list, ACTION_MOVE, product->operand[operand].registers);
}

Stmt *stmt_find_steps(const Product *product, Stmt *list) {
  const Axis *k = product->axis[AXIS_K];
  const Var *last = k->digit[k->n_digits - 1].var;
  return last->tier == TIER_STAGE_INNER ? stmt_find_loop(list, last) : NULL;
}

Stmt *stmt_cut(Stmt **link) {
  Stmt *stmt = *link;
  *link = stmt->next;
  stmt->next = NULL;
  return stmt;
}

Stmt *stmt_barrier(Program *program, KnobId knob, const char *why) {
  Op op = {.kind = OP_BARRIER};
  if (program->any_thread) {  // those that multiply meet apart from the rest of the block
    op.threads = program->thread->extent;
    op.id = ex_const(program->arena, 1);
  }
  Stmt *stmt = stmt_op(program, knob, op);
  stmt->note = why;
  return stmt;
}

void stmt_insert(Stmt **link, Stmt *list) {
  if (!list) return;
  stmt_last(list)->next = *link;
  *link = list;
}

// ---- rewriting ----------------------------------------------------------------------------------

void stmt_each_access(Stmt *list, AccessVisit *visit, void *context) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    Access *access[OP_ACCESSES];
    op_accesses(&stmt->op, access);
    for (int i = 0; i < OP_ACCESSES; i++)
      if (stmt->kind == STMT_OP && access[i]->buffer) visit(access[i], stmt, context);
    stmt_each_access(stmt->body, visit, context);
  }
}

typedef struct Substitution {
  Arena *arena;
  const Var *var;
  const Expr *by;
} Substitution;

static void substitute_expr(const Expr **expr, void *context) {
  const Substitution *s = context;
  *expr = expr_substitute(s->arena, *expr, s->var, s->by);
}

static void substitute_stmt(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (stmt->expr) substitute_expr(&stmt->expr, context);
  if (stmt->end) substitute_expr(&stmt->end, context);
  if (stmt->kind == STMT_OP) op_each_expr(&stmt->op, substitute_expr, context);
}

void stmt_substitute(Program *program, Stmt *list, const Var *var, const Expr *by) {
  Substitution s = {program->arena, var, by};
  stmt_walk(list, substitute_stmt, &s);
}

typedef struct Fetch {
  Substitution slab;
  const Product *product;
} Fetch;

static void substitute_fetch(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  Fetch *fetch = context;
  const ProductOperand *operand = fetch->product->operand;
  BufferRole role = access->buffer->role;
  const bool scale = role == ROLE_SFA || role == ROLE_SFB;
  if (role != operand[ATOM_A].global && role != operand[ATOM_B].global && !scale) return;
  for (int d = 0; d < access->buffer->rank; d++) substitute_expr(&access->idx[d], &fetch->slab);
}

void stmt_fetch_slab(Program *program, const Product *product, Stmt *k_o, const Expr *slab) {
  Fetch fetch = {{program->arena, k_o->var, slab}, product};
  stmt_each_access(k_o->body, substitute_fetch, &fetch);
}

Stmt *stmt_copy_list(Program *program, const Stmt *list) {
  Stmt *first = NULL, **link = &first;
  for (; list; list = list->next) {
    Stmt *copy = ARENA_NEW(program->arena, Stmt);
    *copy = *list;
    copy->id = program->n_stmt_ids++;
    copy->body = stmt_copy_list(program, list->body);
    copy->next = NULL;
    *link = copy;
    link = &copy->next;
  }
  return first;
}

Stmt *stmt_copy_for(Program *program, const Stmt *list, const Var *var, const Expr *by) {
  Stmt *copy = stmt_copy_list(program, list);
  stmt_substitute(program, copy, var, by);
  return copy;
}

Stmt *stmt_wrap_register(Program *program, KnobId knob, Var *var, Stmt *list) {
  return var->extent == 1 ? list : stmt_loop(program, knob, var, list);
}

// Replaces each loop over `var` in the list by the two loops of the split.
static void split_loops(Program *program, Stmt **list, const Var *var, Split split, KnobId knob) {
  for (Stmt **link = list; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    split_loops(program, &stmt->body, var, split, knob);
    if (stmt->kind != STMT_LOOP || stmt->var != var) continue;
    Stmt *inner = stmt_wrap_register(program, knob, split.inner, stmt->body);
    Stmt *outer = stmt_wrap_register(program, knob, split.outer, inner);
    Stmt **tail = &stmt_last(outer)->next, *rest = stmt->next;
    *link = outer;
    *tail = rest;
    split_loops(program, tail, var, split, knob);
    return;
  }
}

typedef struct Binding {
  const char *name;
  bool found;
} Binding;

static void find_binding(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Binding *binding = context;
  binding->found |= stmt->var && str_equal(stmt->var->name, binding->name);
}

// "n_w", or "n_w2" where a loop is called so already: a name means one variable wherever it is
// read.
static const char *free_name(Program *program, const char *name) {
  Binding binding = {name, false};
  for (int i = 2;; i++) {
    stmt_walk(program_main_kernel(program)->body, find_binding, &binding);
    if (!binding.found) return binding.name;
    binding = (Binding){arena_printf(program->arena, "%s%d", name, i), false};
  }
}

Split stmt_split_register(Program *program, const Var *var, int64_t width, const char *outer_name,
                          const char *inner_name, KnobId knob) {
  assert(var->extent % width == 0);
  const char *outer = free_name(program, outer_name), *inner = free_name(program, inner_name);
  Split split = {program_var(program, outer, VAR_LOOP, TIER_REGISTER, var->extent / width),
                 program_var(program, inner, VAR_LOOP, TIER_REGISTER, width)};
  Kernel *kernel = program_main_kernel(program);
  split_loops(program, &kernel->body, var, split, knob);
  Arena *arena = program->arena;
  const Expr *by = ex_add(arena, ex_mul_const(arena, ex_var(arena, split.outer), width),
                          ex_var(arena, split.inner));
  stmt_substitute(program, kernel->body, var, by);
  return split;
}

// ---- axes ---------------------------------------------------------------------------------------

int operand_axis(int operand, int dimension) {
  static const int axes[][2] = {
      [ATOM_A] = {AXIS_M, AXIS_K}, [ATOM_B] = {AXIS_K, AXIS_N}, [ATOM_C] = {AXIS_M, AXIS_N}};
  return axes[operand][dimension];
}

int product_slow_dimension(const Product *product, int operand) {
  return product->operand[operand].column_major;
}

bool slab_runs_along_k(const Product *product, int operand, const Buffer *slab) {
  int fast = 1 - product_slow_dimension(product, operand);
  return (operand_axis(operand, fast) == AXIS_K) != (slab && slab->transposed);
}

void tile_position(Program *program, const Product *product, int operand, PartOf *part,
                   const void *context, const Expr **slow, const Expr **fast) {
  int slow_dim = product_slow_dimension(product, operand);
  for (int dim = 0; dim < 2; dim++) {
    const Axis *axis = product->axis[operand_axis(operand, dim)];
    const Expr *own = part(program, product, operand, dim, context);
    *(dim == slow_dim ? slow : fast) = ex_add(program->arena, axis_inside(program, axis), own);
  }
}

const Expr *layout_bits_expr(Arena *arena, const Expr *x, const int *coefficient, int n_bits) {
  const Expr *sum = ex_const(arena, 0);
  for (int bit = 0; bit < n_bits;) {
    int run = 1;
    while (bit + run < n_bits && coefficient[bit] &&
           coefficient[bit + run] == coefficient[bit] << run)
      run++;
    if (coefficient[bit]) {
      const Expr *part = ex_mod(arena, ex_div(arena, x, (int64_t)1 << bit), (int64_t)1 << run);
      sum = ex_add(arena, sum, ex_mul_const(arena, part, coefficient[bit]));
    }
    bit += run;
  }
  return sum;
}

const Expr *fragment_part(Program *program, const Product *product, int operand, int dimension) {
  Arena *arena = program->arena;
  if (!product->atom) return ex_const(arena, 0);
  const ProductOperand *held = &product->operand[operand];
  const Expr *value = ex_mul_const(arena, ex_var(arena, held->value), held->value_width);
  return fragment_part_of(program, product, operand, dimension, value);
}

const Expr *fragment_part_of(Program *program, const Product *product, int operand, int dimension,
                             const Expr *value) {
  Arena *arena = program->arena;
  FragmentMap map = fragment_map(product->atom, (AtomOperand)operand);
  const int *of_lane = dimension ? map.col_of_lane_bit : map.row_of_lane_bit;
  const int *of_value = dimension ? map.col_of_value_bit : map.row_of_value_bit;
  return ex_add(arena,
                layout_bits_expr(arena, ex_var(arena, product->lane), of_lane, map.n_lane_bits),
                layout_bits_expr(arena, value, of_value, map.n_value_bits));
}

void layout_factor_index(Arena *arena, const Expr *row, const Expr *factor, const Expr *idx[3]) {
  enum { LANES_OF_ROW = FACTOR_COLUMNS / FACTOR_LANE_BYTES };
  const Expr *lane = ex_mod(arena, row, FACTOR_LANES);
  const Expr *quarter = ex_mod(arena, ex_div(arena, row, FACTOR_LANES), FACTORS_ALONG);
  idx[0] = ex_div(arena, row, FACTOR_ROWS);
  idx[1] =
      ex_add(arena, ex_mul_const(arena, ex_div(arena, factor, FACTORS_ALONG), FACTOR_TILE_ROWS),
             ex_div(arena, lane, LANES_OF_ROW));
  idx[2] = ex_add(arena, ex_mul_const(arena, ex_mod(arena, lane, LANES_OF_ROW), FACTOR_LANE_BYTES),
                  ex_add(arena, ex_mul_const(arena, quarter, FACTORS_ALONG),
                         ex_mod(arena, factor, FACTORS_ALONG)));
}

// Tells the number to add to the row or column of the axes: the part of a lane in the atom, or the
// number of the first one in a tile that is copied as a whole.
static const Expr *scale_part(Program *program, const Product *product, AtomOperand scale,
                              const Op *op) {
  Arena *arena = program->arena;
  if (op_moves_factors(op->kind)) return ex_const(arena, op->factor_tile * FACTOR_ROWS);
  if (!product->atom) return ex_const(arena, 0);
  return fragment_part_of(program, product, (int)scale, scale != ATOM_SFA, ex_const(arena, 0));
}

// SFA[m, k / S], SFB[n, k / S]: of an atom the first of its factors in the lane's row or column, of
// a tile its corner.
static void apply_scale(Program *program, const Product *product, AtomOperand scale, const Op *op,
                        const Expr *idx[]) {
  Arena *arena = program->arena;
  const Problem *problem = &program->problem;
  const int64_t units = problem_depth(problem) / problem_scales(problem);
  const Axis *axis = product->axis[scale == ATOM_SFA ? AXIS_M : AXIS_N];
  const Expr *row = ex_add(arena, axis_expr(arena, axis), scale_part(program, product, scale, op));
  const Expr *factor = ex_div(arena, axis_expr(arena, product->axis[AXIS_K]), units);
  if (op_moves_factors(op->kind))
    factor = ex_mul_const(arena, ex_div(arena, factor, FACTORS_ALONG), FACTORS_ALONG);
  if (problem->factor_tiles) {
    layout_factor_index(arena, row, factor, idx);
    return;
  }
  idx[0] = row;
  idx[1] = factor;
}

typedef struct Application {
  Program *program;
  const Product *product;
} Application;

const Expr *part_place(Program *program, int operand, const Expr *k) {
  Arena *arena = program->arena;
  const SplitKind split = program->problem.split;
  if (!split || operand == ATOM_C) return k;
  const int64_t depth = problem_depth(&program->problem);
  const Expr *part = ex_table(arena, split_part_table(split, operand), split_facts(split)->products,
                              ex_div(arena, k, depth));
  return ex_add(arena, ex_mul_const(arena, part, depth), ex_mod(arena, k, depth));
}

static void apply_axis(Access *access, Stmt *stmt, void *context) {
  const Application *to = context;
  // A tile is read as a whole: its corner belongs to no lane.
  bool tile = op_reads_tiles(stmt->op.kind);
  if (access->buffer->role == ROLE_SFA || access->buffer->role == ROLE_SFB) {
    const bool a = access->buffer->role == ROLE_SFA;
    apply_scale(to->program, to->product, a ? ATOM_SFA : ATOM_SFB, &stmt->op, access->idx);
    return;
  }
  int operand = product_operand(to->product, access->buffer->role);
  if (access->buffer->space != SPACE_GLOBAL || operand == ATOM_OPERANDS) return;
  Arena *arena = to->program->arena;
  const Expr **idx = access->idx;
  if (to->product->batch) *idx++ = axis_expr(arena, to->product->batch);
  for (int d = 0; d < 2; d++) {
    const Axis *axis = to->product->axis[operand_axis(operand, d)];
    const Expr *of_lane =
        tile ? ex_const(arena, 0) : fragment_part(to->program, to->product, operand, d);
    idx[d] = ex_add(arena, axis_expr(arena, axis), of_lane);
    if (operand_axis(operand, d) == AXIS_K) idx[d] = part_place(to->program, operand, idx[d]);
  }
}

void program_apply_axes(Program *program, const Product *product) {
  Application to = {program, product};
  stmt_each_access(product_kernel_of(program, product)->body, apply_axis, &to);
}

static bool is_outside(const Var *var) {
  return var->tier == TIER_BLOCK || var->tier == TIER_CLUSTER || var->tier == TIER_SERIAL_OUTER;
}

static const Expr *axis_side(Program *program, const Axis *axis, bool outside) {
  Axis side = {0};
  for (int i = 0; i < axis->n_digits; i++)
    if (is_outside(axis->digit[i].var) == outside) side.digit[side.n_digits++] = axis->digit[i];
  return axis_expr(program->arena, &side);
}

const Expr *axis_inside(Program *program, const Axis *axis) {
  return axis_side(program, axis, false);
}
const Expr *axis_outside(Program *program, const Axis *axis) {
  return axis_side(program, axis, true);
}

const Digit *axis_digit(const Axis *axis, Tier tier) {
  int i = 0;
  while (i < axis->n_digits && axis->digit[i].var->tier != tier) i++;
  assert(i < axis->n_digits);
  return &axis->digit[i];
}

int64_t axis_register_part(const Axis *axis) {
  const Digit *digit = axis_digit(axis, TIER_REGISTER);
  return digit->var->extent * digit->weight;
}

int64_t product_warps(const Product *product) {
  return axis_digit(product->axis[AXIS_M], TIER_WARP)->var->extent *
         axis_digit(product->axis[AXIS_N], TIER_WARP)->var->extent;
}

// The least weight is 1 or the extent of an atom; no digit counts the elements of an atom.
int64_t axis_tile(const Axis *axis) {
  int64_t elements = 1, least = INT64_MAX;
  for (int i = 0; i < axis->n_digits; i++) {
    const Digit *digit = &axis->digit[i];
    if (is_outside(digit->var)) continue;
    elements *= digit->var->extent;
    if (digit->weight < least) least = digit->weight;
  }
  return elements * (least == INT64_MAX ? 1 : least);
}

Stmt *kernel_block(Kernel *kernel) {
  Stmt *inner = NULL;
  for (Stmt *at = kernel->body; at; at = at->kind == STMT_LET ? at->next : at->body) {
    if (at->kind == STMT_LET) continue;
    if (at->kind != STMT_LOOP || !tier_is_hardware(at->var->tier)) break;
    inner = at;
  }
  return inner;
}

// Tells what the threads of a role run, or all of a block where none has it.
static Stmt *threads_that(Kernel *kernel, RoleWork work) {
  Stmt *inner = kernel_block(kernel);
  for (Stmt *role = inner ? inner->body : NULL; role; role = role->next)
    if (stmt_is_role(role, work)) inner = role;
  return inner;
}

static RoleWork work_of_writers(const Kernel *kernel) {
  return kernel_role(kernel, WORK_WRITES) ? WORK_WRITES : WORK_MULTIPLIES;
}

static Stmt *tiles_of(Kernel *kernel, RoleWork work) {
  Stmt *inner = threads_that(kernel, work);
  return inner ? tile_loop(inner->body) : NULL;
}

Stmt *kernel_tiles(Kernel *kernel) { return tiles_of(kernel, WORK_MULTIPLIES); }
Stmt *kernel_writer_tiles(Kernel *kernel) { return tiles_of(kernel, work_of_writers(kernel)); }

static bool is_of_warp(const Var *var) { return var->tier == TIER_WARP; }

// Where consumers take tiles by turns, a condition that names the consumer stands around all
// statements of a tile.
static bool is_turn(const Stmt *stmt) {
  return stmt->kind == STMT_IF && expr_any(stmt->expr, is_of_warp);
}

static Stmt *inner_of(Kernel *kernel, RoleWork work) {
  Stmt *tiles = tiles_of(kernel, work);
  if (!tiles) return threads_that(kernel, work);
  Stmt *last = stmt_last(tiles->body);
  return is_turn(last) ? last : tiles;
}

Stmt *kernel_inner(Kernel *kernel) { return inner_of(kernel, WORK_MULTIPLIES); }
Stmt *kernel_writer(Kernel *kernel) { return inner_of(kernel, work_of_writers(kernel)); }

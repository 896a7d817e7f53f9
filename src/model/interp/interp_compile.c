// From the statement tree of a kernel to a flat list of Code rows.
//
// The one idea: sort the parts of every index expression by how often they change. Expressions are
// sums of products almost everywhere, so an offset falls apart into terms that are equal in all
// lanes, terms that differ by lane but stay the same through a block, and (rarely) terms that do
// both. Worked example, a read of a padded slab, m_t a digit of the thread:
//
//   A_s[slot, k_i, m_t·8 + j]   strides 2112, 132, 1      slot = k_o % 2
//   = 2112·(k_o % 2) + 132·k_i + j   uniform: three scalar terms
//   + 8·m_t                          slot: a vector of 32 numbers made when the block starts
//
// So executing the access costs three multiplications and one vector addition. The numbers come
// from access_offset(), the program's one address truth: only the order of summation differs.
//
// Requires: hardware loops outermost (kernel_launch). An operation that cannot run (operands of a
// wrong kind, a register index that differs between lanes) sets the row's `fault`, which is
// reported when a warp gets there.
#include <assert.h>
#include <string.h>

#include "base/whole.h"
#include "model/ir/stmt.h"

#include "model/interp/interp_machine.h"
#include "model/ir/attribute.h"
#include "model/ir/matrix_tile.h"
#include "model/ir/op.h"
#include "model/ir/program.h"

typedef struct Compiler {
  Arena *arena;
  const Program *program;
  KernelCode *out;
  int slot_capacity;
  bool too_large;  // a lane value does not fit 31 bits
} Compiler;

// ---- dependences --------------------------------------------------------------------------------

// thread / 32, and what else is the same in all lanes of a warp.
static bool is_number_of_warp(const Expr *expr) {
  return expr->op == EXPR_DIV && expr->a->op == EXPR_VAR && expr->a->var->kind == VAR_THREAD &&
         expr->b->op == EXPR_CONST && expr->b->value % LANES == 0;
}

static unsigned expr_dep(const uint8_t *dep, const Expr *expr) {
  if (!expr) return 0;
  if (expr->op == EXPR_VAR) return dep[expr->var->id];
  if (is_number_of_warp(expr)) return 0;
  return expr_dep(dep, expr->a) | expr_dep(dep, expr->b) | expr_dep(dep, expr->c);
}

// One round over the body; true when something was learnt. A variable that two LETs bind changes
// as time goes by, like one of a loop.
static bool spread_deps(uint8_t *dep, uint8_t *let_seen, const Stmt *stmt) {
  bool changed = false;
  for (; stmt; stmt = stmt->next) {
    unsigned add = 0;
    if (stmt->kind == STMT_LOOP) add = DEP_LOOP;
    if (stmt->kind == STMT_LET) {
      add = expr_dep(dep, stmt->expr);
      if (let_seen[stmt->var->id]++) add |= DEP_LOOP;
    }
    if (stmt->var && (dep[stmt->var->id] | add) != dep[stmt->var->id]) {
      dep[stmt->var->id] = (uint8_t)(dep[stmt->var->id] | add);
      changed = true;
    }
    if (spread_deps(dep, let_seen, stmt->body)) changed = true;
  }
  return changed;
}

static void find_deps(Compiler *c) {
  const Launch *launch = &c->out->launch;
  uint8_t *dep = c->out->dep;
  size_t n = (size_t)c->program->n_vars;
  dep[c->program->thread->id] = DEP_LANE;
  if (c->program->any_thread) dep[c->program->any_thread->id] = DEP_LANE;
  dep[c->program->block->id] = DEP_BLOCK;
  dep[c->program->persistent.grid->id] = dep[c->program->persistent.epoch->id] = 0;
  dep[c->program->persistent.list->id] = DEP_LOOP;  // it changes once, at a barrier
  for (int i = 0; i < launch->n_block_digits; i++) dep[launch->block[i].var->id] = DEP_BLOCK;
  // A digit of whole warps is the same number in all of a warp's lanes.
  for (int i = 0; i < launch->n_thread_digits; i++)
    dep[launch->thread[i].var->id] = launch->thread[i].stride % LANES ? DEP_LANE : 0;
  for (int i = 0; i < launch->n_lets; i++)
    dep[launch->let[i]->var->id] = (uint8_t)expr_dep(dep, launch->let[i]->expr);
  uint8_t *let_seen = ARENA_ARRAY(c->arena, uint8_t, n);
  do memset(let_seen, 0, n);
  while (spread_deps(dep, let_seen, launch->body));
}

// ---- values -------------------------------------------------------------------------------------

typedef struct Terms {
  int n, capacity;
  Term *term;
} Terms;

static void terms_add(Arena *arena, Terms *terms, int64_t coef, const Expr *expr) {
  if (terms->n == terms->capacity) {
    terms->capacity = terms->capacity ? 2 * terms->capacity : 4;
    Term *more = ARENA_ARRAY(arena, Term, terms->capacity);
    if (terms->n) memcpy(more, terms->term, sizeof(Term) * (size_t)terms->n);
    terms->term = more;
  }
  terms->term[terms->n++] = (Term){coef, expr, expr->op == EXPR_VAR ? expr->var->id : -1};
}

static void mark_broadcast(Compiler *c, const Expr *expr) {
  if (!expr) return;
  if (expr->op == EXPR_VAR) c->out->broadcast[expr->var->id] = 1;
  mark_broadcast(c, expr->a);
  mark_broadcast(c, expr->b);
  mark_broadcast(c, expr->c);
}

typedef struct Parts {
  int64_t constant;
  Terms uniform, early, mixed;
} Parts;

static void split_term(Compiler *c, Parts *parts, const Expr *expr, int64_t coef) {
  unsigned dep = expr_dep(c->out->dep, expr);
  if (!(dep & DEP_LANE)) {
    terms_add(c->arena, &parts->uniform, coef, expr);
    return;
  }
  mark_broadcast(c, expr);
  terms_add(c->arena, dep & DEP_LOOP ? &parts->mixed : &parts->early, coef, expr);
}

static void split(Compiler *c, Parts *parts, const Expr *expr, int64_t coef) {
  switch (expr->op) {
    case EXPR_CONST:
      parts->constant += coef * expr->value;
      return;
    case EXPR_ADD:
      split(c, parts, expr->a, coef);
      split(c, parts, expr->b, coef);
      return;
    case EXPR_SUB:
      split(c, parts, expr->a, coef);
      split(c, parts, expr->b, -coef);
      return;
    case EXPR_MUL:
      if (expr->b->op == EXPR_CONST) {
        split(c, parts, expr->a, coef * expr->b->value);
        return;
      }
      break;
    default:
      break;
  }
  split_term(c, parts, expr, coef);
}

static int new_slot(Compiler *c, const Terms *terms) {
  KernelCode *out = c->out;
  if (out->n_slots == c->slot_capacity) {
    c->slot_capacity = c->slot_capacity ? 2 * c->slot_capacity : 64;
    Slot *more = ARENA_ARRAY(c->arena, Slot, c->slot_capacity);
    if (out->n_slots) memcpy(more, out->slot, sizeof(Slot) * (size_t)out->n_slots);
    out->slot = more;
  }
  bool per_block = false;
  for (int i = 0; i < terms->n; i++)
    per_block = per_block || (expr_dep(out->dep, terms->term[i].expr) & DEP_BLOCK);
  out->slot[out->n_slots] = (Slot){terms->n, terms->term, per_block};
  return out->n_slots++;
}

static Value value_of(Compiler *c, Parts *parts) {
  return (Value){.constant = parts->constant,
                 .n_uniform = parts->uniform.n,
                 .uniform = parts->uniform.term,
                 .n_mixed = parts->mixed.n,
                 .mixed = parts->mixed.term,
                 .slot = parts->early.n ? new_slot(c, &parts->early) : -1};
}

static Value compile_difference(Compiler *c, const Expr *a, const Expr *b) {
  const int64_t limit = (int64_t)1 << 30;
  Parts parts = {0};
  split(c, &parts, a, 1);
  if (b) split(c, &parts, b, -1);
  int64_t lo = b ? a->lo - b->hi : a->lo, hi = b ? a->hi - b->lo : a->hi;
  bool by_lane = parts.early.n || parts.mixed.n;
  if (by_lane && (lo < -limit || hi > limit)) c->too_large = true;
  return value_of(c, &parts);
}

static Value compile_value(Compiler *c, const Expr *expr) {
  return compile_difference(c, expr, NULL);
}

// ---- conditions ---------------------------------------------------------------------------------

static int count_conjuncts(const Expr *expr) {
  if (!expr) return 0;
  if (expr->op != EXPR_LAND) return 1;
  return count_conjuncts(expr->a) + count_conjuncts(expr->b);
}

static Condition *compile_conjuncts(Compiler *c, const Expr *expr, Condition *at) {
  if (expr->op == EXPR_LAND)
    return compile_conjuncts(c, expr->b, compile_conjuncts(c, expr->a, at));
  bool less = expr->op == EXPR_LT;
  at->negative = less;
  at->value = less ? compile_difference(c, expr->a, expr->b) : compile_value(c, expr);
  return at + 1;
}

static const Condition *compile_condition(Compiler *c, const Expr *expr, int *n) {
  *n = count_conjuncts(expr);
  Condition *list = ARENA_ARRAY(c->arena, Condition, *n);
  if (expr) compile_conjuncts(c, expr, list);
  return list;
}

// ---- operands -----------------------------------------------------------------------------------

// The dimension along which a wide access runs: the last one with neighbours as elements. In a slab
// of [256][1] without a pad it is the first.
static int run_dimension(const Buffer *buffer) {
  for (int d = buffer->rank - 1; d >= 0; d--)
    if (buffer->dim[d] > 1 && buffer->stride[d] == 1) return d;
  return buffer->rank - 1;
}

// The first index that would leave dimension `d`. A wide access to memory must stay inside its row;
// registers have no rows that a later access could mistake, only a size.
static int64_t index_limit(const Buffer *buffer, int d, int width) {
  bool is_row = d == run_dimension(buffer) && buffer->space != SPACE_REGISTER;
  return buffer->dim[d] - (is_row ? width - 1 : 0);
}

static void compile_checks(Compiler *c, const Access *access, int width, Operand *out) {
  DimCheck *check = ARENA_ARRAY(c->arena, DimCheck, RANK_MAX);
  for (int d = 0; d < access->buffer->rank; d++) {
    int64_t limit = index_limit(access->buffer, d, width);
    const Expr *index = access->idx[d];
    if (index->lo >= 0 && index->hi < limit) continue;
    check[out->n_checks++] = (DimCheck){limit, compile_value(c, index)};
  }
  out->check = check;
}

static void compile_tiles(Compiler *c, const Op *op, Code *code) {
  const Access *access[] = {&op->src, &op->src2};
  code->tile = ARENA_ARRAY(c->arena, TileCode, 2);
  for (int i = 0; i < 2; i++) {
    TileCode *tile = &code->tile[i];
    const Buffer *buffer = access[i]->buffer;
    tile->in_memory = buffer && buffer->space != SPACE_REGISTER;
    if (!tile->in_memory) continue;
    for (int d = 0; d < buffer->rank; d++) tile->index[d] = compile_value(c, access[i]->idx[d]);
    tile->corner = compile_value(c, matrix_tile_corner(c->arena, access[i]));
  }
}

static Operand compile_operand(Compiler *c, const Access *access, int width) {
  Operand out = {.buffer = access->buffer, .width = width};
  if (!access->buffer) return out;
  const Expr *offset = access_offset(c->arena, access);
  out.offset = compile_value(c, offset);
  out.has_rank = access->rank != NULL;
  if (access->rank) out.rank = compile_value(c, access->rank);
  out.guard = compile_condition(c, access_guard(c->arena, access), &out.n_guards);
  compile_checks(c, access, width, &out);
  out.offset_proven = offset->lo >= 0 && offset->hi + width <= buffer_elements(access->buffer);
  return out;
}

static const char *const space_names[SPACE_COUNT] = {"global memory", "shared memory", "registers",
                                                     "mbarriers", "tensor memory"};

static const char *operand_fault(Compiler *c, const Op *op, const Operand *operand,
                                 const OperandFacts *facts, const char *which) {
  if (!operand->buffer) {
    if (!facts->read && !facts->written) return NULL;
    return arena_printf(c->arena, "%s has no %s", op_name(op->kind), which);
  }
  const Buffer *buffer = operand->buffer;
  if (!(facts->spaces & 1u << buffer->space))
    return arena_printf(c->arena, "%s cannot take %s, in %s, as its %s", op_name(op->kind),
                        buffer->name, space_names[buffer->space], which);
  if (operand->has_rank && !op_is_plain_access(op->kind))
    return arena_printf(c->arena,
                        "%s cannot reach another block of the cluster: only loads and "
                        "stores can",
                        op_name(op->kind));
  if (operand->has_rank && !value_is_uniform(&operand->rank))
    return arena_printf(c->arena, "the rank of %s differs between the lanes of a warp",
                        buffer->name);
  if (buffer->space == SPACE_REGISTER && !value_is_uniform(&operand->offset))
    return arena_printf(c->arena, "the index of register %s differs between the lanes of a warp",
                        buffer->name);
  return NULL;
}

// Elements of memory that lanes move: 1, 2, 4, 8 or 16 bytes at once; cp.async has no fewer than 4.
static const char *move_fault(Compiler *c, const Op *op) {
  const Buffer *memory = op->dst.buffer->space == SPACE_REGISTER ? op->src.buffer : op->dst.buffer;
  int bytes = op->width * dtype_bytes(memory->type), least = op_is_async_copy(op->kind) ? 4 : 1;
  if (op->width >= 1 && bytes >= least && bytes <= 16 && is_power_of_two(bytes)) return NULL;
  return arena_printf(c->arena, "%s moves %d elements of %s, %d bytes: %s can move at once",
                      op_name(op->kind), op->width, dtype_name(memory->type), bytes,
                      least == 4 ? "4, 8 or 16" : "1, 2, 4, 8 or 16");
}

// An operation that only computes may take any number of registers.
static const char *width_fault(Compiler *c, const Op *op) {
  const OpFacts *facts = op_facts(op->kind);
  bool by_element = facts->dst.written && facts->dst.unit == UNIT_ELEMENT;
  bool moves = facts->engine == ENGINE_LSU && facts->action != ACTION_COMBINE;
  if (by_element && moves) return move_fault(c, op);
  bool counts = by_element && !op_multiplies(op->kind);
  if (op->width == 1 || (counts && op->width >= 1)) return NULL;
  return arena_printf(c->arena, "%s takes one element, not %d", op_name(op->kind), op->width);
}

static const char *type_fault(Compiler *c, const Op *op) {
  const Buffer *dst = op->dst.buffer, *src = op->src.buffer;
  if (op_facts(op->kind)->converts || !dst || !src || dst->type == src->type) return NULL;
  return arena_printf(c->arena, "%s takes %s, of %s, into %s, of %s: it does not convert",
                      op_name(op->kind), src->name, dtype_name(src->type), dst->name,
                      dtype_name(dst->type));
}

// Factors are of the type that goes with the operands', and of both operands.
static const char *scale_fault(Compiler *c, const Op *op, const Code *code) {
  const OperandFacts facts = {.read = true, .spaces = op_facts(op->kind)->dst.spaces};
  const Buffer *src = op->src.buffer, *scale[] = {op->scale[0].buffer, op->scale[1].buffer};
  const bool wanted = op_multiplies(op->kind) && src && dtype_is_scaled(src->type);
  const char *fault = NULL;
  if (!wanted && !scale[0] && !scale[1]) return NULL;
  if (!wanted) return arena_printf(c->arena, "%s takes no scale factors", op_name(op->kind));
  for (int i = 0; i < 2 && !fault; i++) {
    fault = operand_fault(c, op, &code->scale[i], &facts, i ? "factor of B" : "factor of A");
    if (!fault && scale[i]->type != dtype_scale(src->type).type)
      fault = arena_printf(c->arena, "factors of %s are %s, and %s holds %s", dtype_name(src->type),
                           dtype_name(dtype_scale(src->type).type), scale[i]->name,
                           dtype_name(scale[i]->type));
  }
  return fault;
}

static const char *op_fault(Compiler *c, const Op *op, const Code *code) {
  const OpFacts *facts = op_facts(op->kind);
  const OpMachine *machine = op_machine(op->kind);
  const char *fault = operand_fault(c, op, &code->dst, &facts->dst, "destination");
  if (!fault) fault = operand_fault(c, op, &code->src, &facts->src, "source");
  if (!fault) fault = operand_fault(c, op, &code->src2, &facts->src2, "second source");
  if (!fault) fault = scale_fault(c, op, code);
  if (!fault) fault = width_fault(c, op);
  if (!fault) fault = type_fault(c, op);
  if (!fault && machine->fault) fault = machine->fault(c->arena, c->program, code);
  const Buffer *dst = code->dst.buffer;
  bool is_input = dst && dst->space == SPACE_GLOBAL && buffer_is_input(dst);
  if (!fault && is_input) fault = arena_printf(c->arena, "the input %s is written", dst->name);
  return fault;
}

// ---- statements ---------------------------------------------------------------------------------

static int count_codes(const Stmt *stmt) {
  int n = 0;
  for (; stmt; stmt = stmt->next) n += stmt->body ? 2 + count_codes(stmt->body) : 2;
  return n;
}

static Code *emit(Compiler *c, CodeKind kind, const Stmt *stmt) {
  Code *code = &c->out->code[c->out->n_codes++];
  *code = (Code){.kind = kind, .stmt = stmt, .early = -1};
  code->value.slot = -1;
  return code;
}

static void emit_let(Compiler *c, const Stmt *stmt) {
  Code *code = emit(c, CODE_LET, stmt);
  if (c->out->dep[stmt->var->id] & DEP_LOOP) {
    code->value = compile_value(c, stmt->expr);
    return;
  }
  mark_broadcast(c, stmt->expr);
  code->early = c->out->n_early;
  c->out->early[c->out->n_early++] = (EarlyLet){stmt, false};
}

static int operand_width(const Op *op, AtomOperand which) {
  const OpMachine *machine = op_machine(op->kind);
  return machine->width ? machine->width(op, which) : op->width;
}

// Element (row, column) of a box lies `at[row · columns + column]` behind the element it begins
// with: a panel begins where the swizzle's pattern does.
static const int32_t *box_places(Arena *arena, const Op *op) {
  Var row = {.id = 0, .name = "row", .extent = op->box[0]};
  Var column = {.id = 1, .name = "column", .extent = op->box[1]};
  Access access = {.buffer = op_box_shared(op)->buffer};
  int last = access.buffer->rank - 1;
  for (int d = 0; d < last - 1; d++) access.idx[d] = ex_const(arena, 0);
  access.idx[last - 1] = ex_var(arena, &row);
  access.idx[last] = ex_var(arena, &column);
  const Expr *offset = access_offset(arena, &access);
  int32_t *at = ARENA_ARRAY(arena, int32_t, op->box[0] * op->box[1]);
  for (int64_t r = 0, i = 0; r < op->box[0]; r++)
    for (int64_t c = 0; c < op->box[1]; c++, i++)
      at[i] = (int32_t)expr_eval(offset, (int64_t[]){r, c});
  return at;
}

static void compile_box(Compiler *c, const Op *op, Code *code) {
  if (!op->dst.buffer || !op->src.buffer || op_box_shared(op)->buffer->rank < 2) return;
  const Access *global = op_box_global(op);
  for (int d = 0; d < global->buffer->rank && d < BOX_RANK_MAX; d++)
    code->corner[d] = compile_value(c, global->idx[d]);
  code->box_at = box_places(c->arena, op);
}

static void emit_op(Compiler *c, const Stmt *stmt) {
  Code *code = emit(c, CODE_OP, stmt);
  code->dst = compile_operand(c, &stmt->op.dst, operand_width(&stmt->op, ATOM_C));
  code->src = compile_operand(c, &stmt->op.src, operand_width(&stmt->op, ATOM_A));
  code->src2 = compile_operand(c, &stmt->op.src2, operand_width(&stmt->op, ATOM_B));
  for (int i = 0; i < 2; i++)
    if (stmt->op.scale[i].buffer)
      code->scale[i] =
          compile_operand(c, &stmt->op.scale[i], operand_width(&stmt->op, i ? ATOM_SFB : ATOM_SFA));
  for (int i = 0; i < ATTRIBUTE_COUNT; i++) {  // no operation has two of these
    const Expr *const *own = attribute_expr(&stmt->op, i);
    if (own && *own) code->value = compile_value(c, *own);
  }
  if (op_moves_box(stmt->op.kind)) compile_box(c, &stmt->op, code);
  if (op_reads_tiles(stmt->op.kind) || op_moves_factors(stmt->op.kind))
    compile_tiles(c, &stmt->op, code);
  code->fault = op_fault(c, &stmt->op, code);
  const OpMachine *machine = op_machine(stmt->op.kind);
  if (!code->fault && machine->prepare) machine->prepare(c->arena, c->program, code);
}

static void emit_list(Compiler *c, const Stmt *stmt, int depth);

static void emit_loop(Compiler *c, const Stmt *stmt, int depth) {
  int start = c->out->n_codes;
  Code *code = emit(c, CODE_LOOP, stmt);
  if (tier_is_hardware(stmt->var->tier)) {
    code->kind = CODE_OP;
    code->fault = "a loop over blocks or threads stands inside the body of the kernel";
    return;
  }
  if (stmt->expr) code->value = compile_value(c, stmt->expr);
  if (stmt->end) code->end = compile_value(c, stmt->end);
  if (stmt->end && !value_is_uniform(&code->end)) {
    code->kind = CODE_OP;
    code->fault = "a loop ends elsewhere in each lane";
    return;
  }
  const Value end = code->end;
  emit_list(c, stmt->body, depth);
  Code *next = emit(c, CODE_NEXT, stmt);
  next->jump = start + 1;
  next->end = end;
  c->out->code[start].jump = c->out->n_codes;
}

static void emit_if(Compiler *c, const Stmt *stmt, int depth) {
  if (depth + 1 >= IF_DEPTH_MAX) c->too_large = true;
  int start = c->out->n_codes;
  Code *code = emit(c, CODE_IF, stmt);
  code->condition = compile_condition(c, stmt->expr, &code->n_conditions);
  emit_list(c, stmt->body, depth + 1);
  c->out->code[start].jump = c->out->n_codes;
  emit(c, CODE_FI, stmt);
}

static void emit_list(Compiler *c, const Stmt *stmt, int depth) {
  for (; stmt; stmt = stmt->next) switch (stmt->kind) {
      case STMT_LOOP:
        emit_loop(c, stmt, depth);
        break;
      case STMT_IF:
        emit_if(c, stmt, depth);
        break;
      case STMT_LET:
        emit_let(c, stmt);
        break;
      case STMT_OP:
        emit_op(c, stmt);
        break;
    }
}

// LETs between hardware loops run at the start of a block. A statement behind such a loop is run by
// no thread: kernel_launch() does not see it, so it is a fault instead of being silently left out.
static void emit_outer(Compiler *c, const Kernel *kernel) {
  const Launch *launch = &c->out->launch;
  for (int i = 0; i < launch->n_lets; i++) {
    mark_broadcast(c, launch->let[i]->expr);
    c->out->early[c->out->n_early++] = (EarlyLet){launch->let[i], true};
  }
  for (const Stmt *at = kernel->body; at != launch->body; at = at->body ? at->body : at->next)
    if (at->body && at->next)
      emit(c, CODE_OP, at->next)->fault = "a statement stands behind a loop over blocks or threads";
}

const KernelCode *interp_compile(Arena *arena, const Program *program, int kernel) {
  KernelCode *out = ARENA_NEW(arena, KernelCode);
  const Kernel *source = &program->kernel[kernel];
  out->launch = kernel_launch(source);
  out->name = source->name;
  out->cluster = kernel_reaches_across(source) ? (int)out->launch.cluster : 1;
  out->dep = ARENA_ARRAY(arena, uint8_t, program->n_vars);
  out->broadcast = ARENA_ARRAY(arena, uint8_t, program->n_vars);
  int n = count_codes(source->body) + 1;
  if (n >= UINT16_MAX) return NULL;
  out->code = ARENA_ARRAY(arena, Code, n);
  out->early = ARENA_ARRAY(arena, EarlyLet, n);
  Compiler compiler = {.arena = arena, .program = program, .out = out};
  find_deps(&compiler);
  emit_outer(&compiler, source);
  emit_list(&compiler, out->launch.body, 0);
  emit(&compiler, CODE_EXIT, NULL);
  assert(out->n_codes <= n);
  return compiler.too_large ? NULL : out;
}

const char *interpret_fault(Arena *arena, const Program *program) {
  for (int k = 0; k < program->n_kernels; k++) {
    const KernelCode *kernel = interp_compile(arena, program, k);
    if (!kernel) return arena_printf(arena, "kernel %s is too large", program->kernel[k].name);
    for (int i = 0; i < kernel->n_codes; i++)
      if (kernel->code[i].fault)
        return arena_printf(arena, "%s (statement %d)", kernel->code[i].fault,
                            kernel->code[i].stmt->id);
  }
  return NULL;
}

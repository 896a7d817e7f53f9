// Reading and building programs.
//
// A pass works on a clone: statements and buffers are copied (buffers by identity map, so that
// every access points at the copy), expressions and variables are shared because they never change.
#include "model/ir/program.h"

#include "model/ir/attribute.h"

#include <assert.h>
#include <string.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"

// ---- reading ------------------------------------------------------------------------------------

static bool is_hardware_loop(const Stmt *stmt) {
  return stmt && stmt->kind == STMT_LOOP && tier_is_hardware(stmt->var->tier);
}

// The strides of the digits, the last one being the least significant; their product is returned.
static int64_t digits_stride(HardwareDigit *digit, int n) {
  int64_t stride = 1;
  for (int i = n - 1; i >= 0; i--) {
    digit[i].stride = stride;
    stride *= digit[i].var->extent;
  }
  return stride;
}

const char *role_work_name(RoleWork work) {
  static const char *const names[WORK_COUNT] = {"fetches", "multiplies", "writes"};
  return names[work];
}

const WarpRole *kernel_role(const Kernel *kernel, RoleWork work) {
  for (int i = 0; i < kernel->n_roles; i++)
    if (kernel->role[i]->work == work) return kernel->role[i];
  return NULL;
}

bool stmt_is_role(const Stmt *stmt, RoleWork work) {
  return stmt->role && stmt->role->work == work;
}

Stmt *tile_loop(Stmt *list) {
  for (; list; list = list->next) {
    if (list->kind == STMT_LOOP && list->var->tier == TIER_TILE) return list;
    Stmt *inner = list->kind == STMT_IF ? tile_loop(list->body) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

// The turns on a grid of one block, where all tiles are whole: one for each tile.
int64_t tile_count(const Stmt *tiles) {
  return tiles->end ? tiles->body->var->extent : tiles->var->extent;
}

const Expr *stmt_loop_end(Arena *arena, const Stmt *loop) {
  return loop->end ? loop->end : ex_const(arena, loop->var->extent);
}

Launch kernel_launch(const Kernel *kernel) {
  Launch launch = {0};
  const Stmt *at = kernel->body;
  for (;;) {
    const Stmt *ahead = at;
    while (ahead && ahead->kind == STMT_LET) ahead = ahead->next;
    if (!is_hardware_loop(ahead)) break;
    for (; at != ahead; at = at->next) launch.let[launch.n_lets++] = at;
    bool block = at->var->tier == TIER_BLOCK || at->var->tier == TIER_CLUSTER;
    if (block)
      launch.block[launch.n_block_digits++].var = at->var;
    else
      launch.thread[launch.n_thread_digits++].var = at->var;
    at = at->body;
  }
  launch.body = at;
  launch.tiles = tile_loop((Stmt *)(uintptr_t)at);
  launch.n_blocks = digits_stride(launch.block, launch.n_block_digits);
  launch.cluster = 1;
  for (int i = 0; i < launch.n_block_digits; i++)
    if (launch.block[i].var->tier == TIER_CLUSTER) launch.cluster *= launch.block[i].var->extent;
  if (launch.tiles) launch.n_blocks = tile_count(launch.tiles) * launch.cluster;
  launch.n_threads = digits_stride(launch.thread, launch.n_thread_digits);
  launch.block_threads = launch.n_threads;
  for (int i = 0; i < kernel->n_roles; i++) {
    int64_t end = kernel->role[i]->first_thread + kernel->role[i]->n_threads;
    if (end > launch.block_threads) launch.block_threads = end;
  }
  return launch;
}

const Expr *cluster_rank(Arena *arena, const Kernel *kernel) {
  Launch launch = kernel_launch(kernel);
  const Expr *rank = ex_const(arena, 0);
  for (int i = 0; i < launch.n_block_digits; i++) {
    const HardwareDigit *digit = &launch.block[i];
    if (digit->var->tier == TIER_CLUSTER)
      rank = ex_add(arena, rank, ex_mul_const(arena, ex_var(arena, digit->var), digit->stride));
  }
  return rank;
}

// The same on every GPU that has setmaxnreg.
enum { SM_QUARTERS = 4, QUARTER_REGISTERS = 16384, REGISTER_STEP = 8, THREAD_REGISTERS_MAX = 255 };

int64_t program_start_registers(int64_t threads, int min_blocks) {
  int64_t warps = ceil_div(ceil_div(threads, LANES), SM_QUARTERS);
  int64_t each = QUARTER_REGISTERS / (warps * LANES * (min_blocks ? min_blocks : 1));
  each -= each % REGISTER_STEP;
  return each < THREAD_REGISTERS_MAX ? each : THREAD_REGISTERS_MAX;
}

const Kernel *program_main(const Program *program) {
  return &program->kernel[program->main_kernel];
}

int launch_warps(const Launch *launch) { return (int)ceil_div(launch->n_threads, LANES); }
int launch_block_warps(const Launch *launch) { return (int)ceil_div(launch->block_threads, LANES); }

const Product *program_product(const Program *program) {
  return &program->product[program->n_products - 1];
}

const Product *program_product_of(const Program *program, BufferRole role) {
  const Product *product = program->product, *last = program_product(program);
  while (product < last && product_operand(product, role) == ATOM_OPERANDS) product++;
  return product;
}

int product_operand(const Product *product, BufferRole role) {
  int i = 0;
  for (; i < ATOM_OPERANDS; i++) {
    const ProductOperand *at = &product->operand[i];
    if (role == at->global || role == at->slab || role == at->stage || role == at->registers) break;
  }
  return i;
}

const Atom *program_atom(const Program *program) { return program->product[0].atom; }

static void look_for_copy(Stmt *stmt, int depth, void *context) {
  (void)depth;
  bool is_op = stmt->kind == STMT_OP;
  if (is_op && (op_is_async_copy(stmt->op.kind) || op_reads_tiles(stmt->op.kind)))
    *(bool *)context = true;
}

int stmt_id(const Stmt *stmt) { return stmt->id; }

bool program_works_in_background(const Program *program) {
  bool any = false;
  for (int i = 0; i < program->n_kernels; i++)
    stmt_walk(program->kernel[i].body, look_for_copy, &any);
  return any;
}

static bool is_global(const Access *access) { return access->buffer->space == SPACE_GLOBAL; }

const Access *op_box_global(const Op *op) { return is_global(&op->src) ? &op->src : &op->dst; }

const Access *op_box_shared(const Op *op) { return is_global(&op->src) ? &op->dst : &op->src; }

static const Op *find_box_copy(const Stmt *list, const Buffer *global) {
  for (; list; list = list->next) {
    const Op *op = &list->op;
    if (list->kind == STMT_OP && op_moves_box(op->kind) && op_box_global(op)->buffer == global)
      return op;
    const Op *inner = find_box_copy(list->body, global);
    if (inner) return inner;
  }
  return NULL;
}

const Op *kernel_box_copy(const Kernel *kernel, const Buffer *global) {
  return find_box_copy(kernel->body, global);
}

const Op *program_tma(const Program *program, BufferRole operand) {
  return kernel_box_copy(program_main(program), program_buffer(program, operand));
}

// Every mask has the same number of bits as the first block's. In a pair each CTA has the half of B
// that both multiply by.
int64_t program_sharers(Arena *scratch, const Program *program, BufferRole operand) {
  const Op *copy = program_tma(program, operand);
  const bool pair = copy && copy->cta_group > 1;
  if (pair && operand == program_product(program)->operand[ATOM_B].global) return copy->cta_group;
  if (!copy || !copy->ranks) return 1;
  const int64_t *first = ARENA_ARRAY(scratch, int64_t, program->n_vars);
  return __builtin_popcountll((unsigned long long)expr_eval(copy->ranks, first));
}

Buffer *program_buffer(const Program *program, BufferRole role) {
  for (int i = 0; i < program->n_buffers; i++)
    if (program->buffer[i]->role == role) return program->buffer[i];
  return NULL;
}

int program_registers(const Program *program, BufferRole role) {
  enum { REGISTER_BYTES = 4 };
  const Buffer *buffer = program_buffer(program, role);
  return buffer ? (int)ceil_div(buffer_bytes(buffer), REGISTER_BYTES) : 0;
}

// Swizzles reach up to bit 10 of the byte offset.
enum { SHARED_ALIGN = 128, SWIZZLE_ALIGN = 1024 };

int64_t program_smem_bytes(const Program *program) {
  int64_t end = 0;
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    if (!buffer_is_in_shared(buffer)) continue;
    int64_t its_end = buffer->offset_bytes + buffer_bytes(buffer);
    if (its_end > end) end = its_end;
  }
  return end;
}

int64_t program_smem_asked(const Program *program) {
  return program->smem_asked ? program->smem_asked : program_smem_bytes(program);
}

int buffer_align(const Buffer *buffer) {
  if (buffer->space == SPACE_BARRIER) return MBARRIER_BYTES;
  return buffer_is_permuted(buffer) ? SWIZZLE_ALIGN : SHARED_ALIGN;
}

int program_shared_align(const Program *program) {
  int align = SHARED_ALIGN;
  for (int i = 0; i < program->n_buffers; i++)
    if (program->buffer[i]->space == SPACE_SHARED)
      align = max_int(align, buffer_align(program->buffer[i]));
  return align;
}

static int64_t place(Program *program, Space space, int64_t at) {
  for (int i = 0; i < program->n_buffers; i++) {
    Buffer *buffer = program->buffer[i];
    if (buffer->space != space) continue;
    buffer->offset_bytes = round_up(at, buffer_align(buffer));
    at = buffer->offset_bytes + buffer_bytes(buffer);
  }
  return at;
}

void program_place_shared(Program *program) {
  place(program, SPACE_BARRIER, place(program, SPACE_SHARED, 0));
}

const Expr *axis_expr(Arena *arena, const Axis *axis) {
  const Expr *sum = ex_const(arena, 0);
  for (int i = 0; i < axis->n_digits; i++) {
    const Digit *digit = &axis->digit[i];
    sum = ex_add(arena, sum, ex_mul_const(arena, ex_var(arena, digit->var), digit->weight));
  }
  return sum;
}

static void visit_access(Access *access, ExprVisit *visit, void *context) {
  if (!access->buffer) return;
  for (int d = 0; d < access->buffer->rank; d++) visit(&access->idx[d], context);
  if (access->rank) visit(&access->rank, context);
}

void op_accesses(Op *op, Access *access[OP_ACCESSES]) {
  access[0] = &op->dst;
  access[1] = &op->src;
  access[2] = &op->src2;
  access[3] = &op->scale[ATOM_A];
  access[4] = &op->scale[ATOM_B];
}

void op_each_expr(Op *op, ExprVisit *visit, void *context) {
  Access *access[OP_ACCESSES];
  op_accesses(op, access);
  for (int i = 0; i < OP_ACCESSES; i++) visit_access(access[i], visit, context);
  for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
    const Expr **own = (const Expr **)(uintptr_t)attribute_expr(op, i);
    if (own && *own) visit(own, context);
  }
}

static void walk(Stmt *stmt, int depth, StmtVisit *visit, void *context) {
  while (stmt) {
    Stmt *next = stmt->next;  // the visitor may unlink the statement
    visit(stmt, depth, context);
    if (stmt->body) walk(stmt->body, depth + 1, visit, context);
    stmt = next;
  }
}

void stmt_walk(Stmt *body, StmtVisit *visit, void *context) { walk(body, 0, visit, context); }

// ---- building -----------------------------------------------------------------------------------

typedef struct CloneMap {
  Arena *arena;
  Program *to;
} CloneMap;

static void clone_access(const CloneMap *map, Access *access) {
  if (access->buffer) access->buffer = map->to->buffer[access->buffer->id];
}

static Stmt *clone_list(const CloneMap *map, const Stmt *stmt) {
  Stmt *first = NULL, **link = &first;
  for (; stmt; stmt = stmt->next) {
    Stmt *copy = ARENA_NEW(map->arena, Stmt);
    *copy = *stmt;
    Access *access[OP_ACCESSES];
    op_accesses(&copy->op, access);
    for (int i = 0; i < OP_ACCESSES; i++) clone_access(map, access[i]);
    copy->body = clone_list(map, stmt->body);
    copy->next = NULL;
    *link = copy;
    link = &copy->next;
  }
  return first;
}

void program_become(Program *program, const Program *other) {
  *program = *other;
  for (int i = 0; i < other->n_products; i++) {
    Product *product = &program->product[i];
    for (int a = 0; a < AXIS_COUNT; a++)
      product->axis[a] = program->axis + (other->product[i].axis[a] - other->axis);
    if (product->batch) product->batch = program->axis + (other->product[i].batch - other->axis);
  }
}

Program *program_clone(Arena *arena, const Program *program) {
  Program *copy = ARENA_NEW(arena, Program);
  program_become(copy, program);
  copy->arena = arena;
  for (int i = 0; i < program->n_buffers; i++) {
    copy->buffer[i] = ARENA_NEW(arena, Buffer);
    *copy->buffer[i] = *program->buffer[i];
  }
  CloneMap map = {arena, copy};
  for (int i = 0; i < program->n_kernels; i++)
    copy->kernel[i].body = clone_list(&map, program->kernel[i].body);
  return copy;
}

Var *program_var(Program *program, const char *name, VarKind kind, Tier tier, int64_t extent) {
  assert(extent >= 1);
  Var *var = ARENA_NEW(program->arena, Var);
  *var = (Var){program->n_vars++, name, kind, tier, extent};
  return var;
}

static DType type_of_buffer(const Problem *problem, const Buffer *buffer) {
  const BufferRole role = buffer->role;
  if (role == ROLE_C || role == ROLE_SLAB_C || role == ROLE_STAGE_C) return problem->out;
  if (role == ROLE_A || role == ROLE_B) return problem->dtype;
  static const bool sums[ROLE_COUNT] = {
      [ROLE_RUN] = true,      [ROLE_ACC] = true,     [ROLE_PARTIAL] = true,
      [ROLE_TEMP] = true,     [ROLE_SCORES] = true,  [ROLE_ROW_SUMS] = true,
      [ROLE_SCORE] = true,    [ROLE_ROW_MAX] = true, [ROLE_ROW_SUM] = true,
      [ROLE_ROW_BASE] = true, [ROLE_RESCALE] = true, [ROLE_ROW_DIVISOR] = true,
      [ROLE_SUMS] = true};
  if (buffer_is_factors(buffer)) return dtype_scale(problem->dtype).type;
  return sums[role] ? problem->acc : problem_operand_type(problem);
}

Buffer *program_new_buffer(Program *program, const char *name, Space space, BufferRole role,
                           int rank, const int64_t *dim, KnobId knob) {
  assert(program->n_buffers < BUFFERS_MAX && rank <= RANK_MAX);
  Buffer *buffer = ARENA_NEW(program->arena, Buffer);
  *buffer = (Buffer){.id = program->n_buffers,
                     .name = name,
                     .space = space,
                     .role = role,
                     .rank = rank,
                     .knob = knob};
  buffer->type = type_of_buffer(&program->problem, buffer);
  for (int d = 0; d < rank; d++) buffer->dim[d] = dim[d];
  buffer_plain_strides(buffer, 0, buffer->stride);
  program->buffer[program->n_buffers++] = buffer;
  return buffer;
}

Access access1(Buffer *buffer, const Expr *i) {
  assert(buffer->rank == 1);
  return (Access){buffer, {i}, NULL};
}

Access access2(Buffer *buffer, const Expr *i, const Expr *j) {
  assert(buffer->rank == 2);
  return (Access){buffer, {i, j}, NULL};
}

Access access3(Buffer *buffer, const Expr *i, const Expr *j, const Expr *k) {
  assert(buffer->rank == 3);
  return (Access){buffer, {i, j, k}, NULL};
}

static Stmt *stmt_new(Program *program, StmtKind kind, KnobId knob) {
  Stmt *stmt = ARENA_NEW(program->arena, Stmt);
  stmt->kind = kind;
  stmt->knob = knob;
  stmt->id = program->n_stmt_ids++;
  return stmt;
}

Stmt *stmt_loop(Program *program, KnobId knob, Var *var, Stmt *body) {
  Stmt *stmt = stmt_new(program, STMT_LOOP, knob);
  stmt->var = var;
  stmt->body = body;
  return stmt;
}

Stmt *stmt_if(Program *program, KnobId knob, const Expr *cond, Stmt *body) {
  Stmt *stmt = stmt_new(program, STMT_IF, knob);
  stmt->expr = cond;
  stmt->body = body;
  return stmt;
}

Stmt *stmt_let(Program *program, KnobId knob, Var *var, const Expr *value) {
  Stmt *stmt = stmt_new(program, STMT_LET, knob);
  stmt->var = var;
  stmt->expr = value;
  return stmt;
}

Stmt *stmt_op(Program *program, KnobId knob, Op op) {
  Stmt *stmt = stmt_new(program, STMT_OP, knob);
  stmt->op = op;
  if (stmt->op.width == 0) stmt->op.width = 1;
  return stmt;
}

Stmt **stmt_link_to(Stmt **list, const Stmt *stmt) {
  while (*list != stmt) list = &(*list)->next;
  return list;
}

Stmt *stmt_last(Stmt *list) {
  while (list->next) list = list->next;
  return list;
}

Stmt *stmt_list(Stmt *first, ...) {
  va_list rest;
  va_start(rest, first);
  for (Stmt *more; (more = va_arg(rest, Stmt *));) stmt_last(first)->next = more;
  va_end(rest);
  return first;
}

// Each breakage is one small rewrite of a clone, made where a slip of the pen would make it.
//
// Worked example, guarded_split on four splits: the two kernels
//   zero: C[…] = 0      matmul: C[…] += atomic_add acc
// become the one that looks as if it needed no zero kernel,
//   matmul: if k_s < 1: C[…] = acc     if 0 < k_s: C[…] += atomic_add acc
// The blocks k_s = 1, 2, 3 of this kernel may well run before block 0 stores over their sums.
#include "model/interp/breakage.h"

#include <stdio.h>

#include "base/str.h"
#include "model/interp/breakage_parts.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/words/fragment.h"

static const struct {
  const char *name, *help;
  unsigned seen;
  bool (*of)(Program *program);
} rows[BREAK_COUNT] = {
#define BREAKAGE(id, name, seen, help) {#name, help, seen, break_##name},
#include "model/interp/breakage.def"
};

static const struct {
  const char *name, *help;
} symptoms[SYMPTOM_COUNT] = {
#define X(id, name, help) {name, help},
    SYMPTOM_TABLE(X)
#undef X
};

const char *symptom_name(Symptom symptom) { return symptoms[symptom].name; }
const char *symptom_help(Symptom symptom) { return symptoms[symptom].help; }

Symptom symptom_find(const char *name) {
  int i = 0;
  while (i < SYMPTOM_COUNT && !str_equal(symptoms[i].name, name)) i++;
  return (Symptom)i;
}

const char *breakage_name(BreakageId id) { return rows[id].name; }
BreakageId breakage_find(const char *name) {
  int id = 0;
  while (id < BREAK_COUNT && !str_equal(rows[id].name, name)) id++;
  return (BreakageId)id;
}

const char *breakage_help(BreakageId id) { return rows[id].help; }
const char *breakage_spared(BreakageId id) {
  static const char *const why[BREAK_COUNT] = {
#define SPARED(id, text) [BREAK_##id] = (text),
#include "model/interp/breakage_spared.def"
  };
  return why[id];
}
unsigned breakage_seen(BreakageId id) { return rows[id].seen; }

const char *breakage_symptoms(char out[SYMPTOMS_BYTES], BreakageId id) {
  int n = 0;
  for (int i = 0; i < SYMPTOM_COUNT; i++)
    if (rows[id].seen >> i & 1)
      n += snprintf(out + n, (size_t)(SYMPTOMS_BYTES - n), "%s%s", n ? ", " : "", symptoms[i].name);
  return out;
}

bool stmt_is_op(const Stmt *stmt, OpKind kind) {
  return stmt->kind == STMT_OP && stmt->op.kind == kind;
}

bool stmt_is_turn(const Stmt *stmt) {
  return stmt_is_op(stmt, OP_BARRIER) && stmt->knob == KNOB_ROLE_SCHEDULE;
}

bool stmt_is_mbar_op(const Stmt *stmt, OpKind kind, BufferRole role) {
  return stmt_is_op(stmt, kind) && stmt->op.dst.buffer->role == role;
}

// Leaves out the nth operation of a kind (from 0), turns apart; false when there are fewer.
static bool drop_nth(Stmt **link, OpKind kind, int *n) {
  for (; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    if (stmt_is_op(stmt, kind) && !stmt_is_turn(stmt) && (*n)-- == 0) {
      *link = stmt->next;
      return true;
    }
    if (stmt->body && drop_nth(&stmt->body, kind, n)) return true;
  }
  return false;
}

bool breakage_drop_if(Stmt **link, BreakageDrops *drops, const void *context) {
  bool dropped = false;
  while (*link) {
    Stmt *stmt = *link;
    if (drops(stmt, context)) {
      *link = stmt->next;
      dropped = true;
      continue;
    }
    if (stmt->body) dropped |= breakage_drop_if(&stmt->body, drops, context);
    link = &stmt->next;
  }
  return dropped;
}

typedef struct OfKind {
  OpKind kind;
  BufferRole role;
} OfKind;

static bool is_of_kind(const Stmt *stmt, const void *context) {
  const OfKind *of = context;
  return of->role == ROLE_COUNT ? stmt_is_op(stmt, of->kind)
                                : stmt_is_mbar_op(stmt, of->kind, of->role);
}

bool breakage_drop_all(Stmt **link, OpKind kind, BufferRole role) {
  return breakage_drop_if(link, is_of_kind, &(OfKind){kind, role});
}

typedef struct Count {
  OpKind kind;
  int n;
} Count;

static void count_op(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Count *count = context;
  count->n += stmt_is_op(stmt, count->kind) && !stmt_is_turn(stmt);
}

bool breakage_drop_last(Program *program, OpKind kind) {
  Count count = {kind, 0};
  stmt_walk(program_main_kernel(program)->body, count_op, &count);
  int n = count.n - 1;
  return n >= 0 && drop_nth(&program_main_kernel(program)->body, kind, &n);
}

bool break_first_barrier(Program *program) {
  int n = 0;
  return drop_nth(&program_main_kernel(program)->body, OP_BARRIER, &n);
}

bool break_grid_wait(Program *program) {
  bool dropped = false;
  for (int i = 0; i < program->n_kernels; i++)
    dropped |= breakage_drop_all(&program->kernel[i].body, OP_GRID_WAIT, ROLE_COUNT);
  return dropped;
}

bool break_last_barrier(Program *program) { return breakage_drop_last(program, OP_BARRIER); }

bool break_wait(Program *program) {
  return breakage_drop_all(&program_main_kernel(program)->body, OP_CP_WAIT, ROLE_COUNT);
}

static void relax_wait(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (stmt->kind != STMT_OP || stmt->op.kind != OP_CP_WAIT) return;
  stmt->op.groups++;
  *(bool *)context = true;
}

bool break_lax_wait(Program *program) {
  bool found = false;
  stmt_walk(program_main_kernel(program)->body, relax_wait, &found);
  return found;
}

typedef struct Phase {
  const Expr *zero;
  bool found;
} Phase;

// Slabs of a ring have the slot as their first index.
static void drop_phase(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  Phase *phase = context;
  const Buffer *buffer = access->buffer;
  if (buffer->space != SPACE_SHARED || buffer->rank != 3 || access->idx[0]->op == EXPR_CONST)
    return;
  access->idx[0] = phase->zero;
  phase->found = true;
}

bool break_phase(Program *program) {
  Phase phase = {ex_const(program->arena, 0), false};
  stmt_each_access(program_main_kernel(program)->body, drop_phase, &phase);
  return phase.found;
}

// Rows of one element cannot come closer without being one row.
bool break_pad(Program *program) {
  for (int i = 0; i < program->n_buffers; i++) {
    Buffer *slab = program->buffer[i];
    int row = slab->rank - 2;
    if (slab->space != SPACE_SHARED || row < 0 || slab->dim[row] == 1) continue;
    if (slab->dim[row + 1] == 1) continue;
    slab->stride[row] = slab->dim[row + 1] - 1;
    slab->run_pad = 0;
    if (row > 0) slab->stride[0] = slab->dim[row] * slab->stride[row];
    program_place_shared(program);
    return true;
  }
  return false;
}

static bool has_zero_kernel(const Program *program) {
  return program->n_kernels == 2 && program->main_kernel == 1;
}

bool break_zero(Program *program) {
  if (!has_zero_kernel(program)) return false;
  program->kernel[0] = program->kernel[1];
  program->n_kernels = 1;
  program->main_kernel = 0;
  return true;
}

static Stmt *copy_op(Program *program, const Stmt *stmt, OpKind kind) {
  Stmt *copy = stmt_op(program, stmt->knob, stmt->op);
  copy->op.kind = kind;
  return copy;
}

static Stmt **find_atomic(Stmt **link) {
  for (; *link; link = &(*link)->next) {
    if ((*link)->kind == STMT_OP && (*link)->op.kind == OP_ATOMIC_ADD) return link;
    Stmt **inner = (*link)->body ? find_atomic(&(*link)->body) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

bool break_guarded_split(Program *program) {
  Arena *arena = program->arena;
  const Axis *k = &program->axis[AXIS_K];
  const Var *split = k->n_digits ? k->digit[0].var : NULL;
  Stmt **link = find_atomic(&program_main_kernel(program)->body);
  if (!link || !split || split->tier != TIER_BLOCK || !break_zero(program)) return false;
  link = find_atomic(&program_main_kernel(program)->body);
  Stmt *atomic = *link;
  const Expr *index = ex_var(arena, split);
  Stmt *store = stmt_if(program, KNOB_SPLITK, ex_lt(arena, index, ex_const(arena, 1)),
                        copy_op(program, atomic, OP_STORE));
  store->next = stmt_if(program, KNOB_SPLITK, ex_lt(arena, ex_const(arena, 0), index),
                        copy_op(program, atomic, OP_ATOMIC_ADD));
  store->next->next = atomic->next;
  *link = store;
  return true;
}

bool break_last_slab(Program *program) {
  Stmt *k_o = program_slab_loop(program);
  if (!k_o || k_o->var->extent < 2) return false;
  if (k_o->end) {
    k_o->end = ex_add_const(program->arena, k_o->end, -1);
    return true;
  }
  breakage_shorten(program, k_o);
  return true;
}

// ---- tensor cores -------------------------------------------------------------------------------

// A rewrite of one statement at a time; it says whether it found what it changes.
typedef struct Each {
  Program *program;
  bool (*change)(Program *program, Stmt *stmt);
  bool found;
} Each;

static void change_one(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Each *each = context;
  if (stmt->kind == STMT_OP && each->change(each->program, stmt)) each->found = true;
}

bool breakage_change_each(Program *program, bool (*change)(Program *, Stmt *)) {
  Each each = {program, change, false};
  stmt_walk(program_main_kernel(program)->body, change_one, &each);
  return each.found;
}

static bool drop_trans(Program *program, Stmt *stmt) {
  (void)program;
  bool had = stmt->op.kind == OP_LDMATRIX && stmt->op.trans;
  if (had) stmt->op.trans = false;
  return had;
}

bool break_trans(Program *program) { return breakage_change_each(program, drop_trans); }

// Lanes 0 to 7 now give the rows of matrix 1, and so on round.
static bool address_next_matrix(Program *program, Stmt *stmt) {
  Arena *arena = program->arena;
  Access *from = &stmt->op.src;
  if (stmt->op.kind != OP_LDMATRIX || stmt->op.matrices == 1) return false;
  const Var *lane = program->product[0].lane;
  const Expr *next = ex_add_const(arena, ex_var(arena, lane), LDMATRIX_ROWS);
  next = ex_mod(arena, next, stmt->op.matrices * LDMATRIX_ROWS);
  for (int d = 0; d < from->buffer->rank; d++)
    from->idx[d] = expr_substitute(arena, from->idx[d], lane, next);
  return true;
}

bool break_matrix(Program *program) { return breakage_change_each(program, address_next_matrix); }

typedef struct Alias {
  const Buffer *slab;
  Buffer *plain;
  int n;  // accesses of the other name
} Alias;

// A product of tiles goes by what its descriptor says of the layout, whatever the buffer's is.
static void read_plain(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Alias *alias = context;
  if (stmt->kind != STMT_OP || stmt->op.src.buffer != alias->slab) return;
  if (op_reads_tiles(stmt->op.kind)) return;
  stmt->op.src.buffer = alias->plain;
  alias->n++;
}

// Gives the same memory another name, without the permutation.
bool break_layout(Program *program) {
  for (int i = 0; i < program->n_buffers && program->n_buffers < BUFFERS_MAX; i++) {
    const Buffer *slab = program->buffer[i];
    if (slab->space != SPACE_SHARED || !buffer_is_permuted(slab)) continue;
    Buffer *plain = ARENA_NEW(program->arena, Buffer);
    *plain = *slab;
    plain->id = program->n_buffers;
    plain->name = arena_printf(program->arena, "%s_plain", slab->name);
    plain->swizzle_bits = plain->n_xor = 0;
    Alias alias = {slab, plain, 0};
    stmt_walk(program_main_kernel(program)->body, read_plain, &alias);
    if (!alias.n) continue;
    program->buffer[program->n_buffers++] = plain;
    return true;
  }
  return false;
}

static bool take_next_fragment(Program *program, Stmt *stmt) {
  Access *a = &stmt->op.src;
  if (stmt->op.kind != OP_MMA) return false;
  int atom = a->buffer->rank - 2;  // … [atoms][values]
  int64_t atoms = a->buffer->dim[atom];
  if (atoms == 1) return false;
  const Expr *next = ex_add_const(program->arena, a->idx[atom], 1);
  a->idx[atom] = ex_mod(program->arena, next, atoms);
  return true;
}

bool break_fragments(Program *program) { return breakage_change_each(program, take_next_fragment); }

Program *program_break(Arena *arena, const Program *program, BreakageId id) {
  Program *broken = program_clone(arena, program);
  return rows[id].of(broken) ? broken : NULL;
}

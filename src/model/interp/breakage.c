// Each breakage is one small rewrite of a clone, made where a slip of the pen would make it.
//
// Worked example, guarded_split on four splits: the two kernels
//   zero: C[…] = 0      matmul: C[…] += atomic_add acc
// become the one that looks as if it needed no zero kernel,
//   matmul: if k_s < 1: C[…] = acc     if 0 < k_s: C[…] += atomic_add acc
// whose blocks k_s = 1, 2, 3 may well run before block 0 stores over what they added.
#include "model/interp/breakage.h"

#include <stdio.h>

#include "base/str.h"
#include "model/interp/breakage_parts.h"
#include "model/ir/rewrite.h"
#include "model/words/fragment.h"

static const struct {
  const char *name, *help;
  unsigned seen;
} rows[BREAK_COUNT] = {
#define X(id, name, help, seen) {name, help, seen},
    BREAKAGE_TABLE(X)
#undef X
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
const char *breakage_help(BreakageId id) { return rows[id].help; }
unsigned breakage_seen(BreakageId id) { return rows[id].seen; }

const char *breakage_symptoms(char out[SYMPTOMS_BYTES], BreakageId id) {
  int n = 0;
  for (int i = 0; i < SYMPTOM_COUNT; i++)
    if (rows[id].seen >> i & 1)
      n += snprintf(out + n, (size_t)(SYMPTOMS_BYTES - n), "%s%s", n ? ", " : "", symptoms[i].name);
  return out;
}

bool is_op(const Stmt *stmt, OpKind kind) { return stmt->kind == STMT_OP && stmt->op.kind == kind; }

bool is_mbar_op(const Stmt *stmt, OpKind kind, BufferRole role) {
  return is_op(stmt, kind) && stmt->op.dst.buffer->role == role;
}

// Leaves out the nth operation of a kind (from 0); false when there are fewer.
static bool drop_nth(Stmt **link, OpKind kind, int *n) {
  for (; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    if (is_op(stmt, kind) && (*n)-- == 0) {
      *link = stmt->next;
      return true;
    }
    if (stmt->body && drop_nth(&stmt->body, kind, n)) return true;
  }
  return false;
}

bool drop_all(Stmt **link, OpKind kind, BufferRole role) {
  bool dropped = false;
  while (*link) {
    Stmt *stmt = *link;
    bool match = role == ROLE_COUNT ? is_op(stmt, kind) : is_mbar_op(stmt, kind, role);
    if (match) {
      *link = stmt->next;
      dropped = true;
      continue;
    }
    if (stmt->body) dropped |= drop_all(&stmt->body, kind, role);
    link = &stmt->next;
  }
  return dropped;
}

typedef struct Count {
  OpKind kind;
  int n;
} Count;

static void count_op(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Count *count = context;
  count->n += stmt->kind == STMT_OP && stmt->op.kind == count->kind;
}

bool drop_last(Program *program, OpKind kind) {
  Count count = {kind, 0};
  stmt_walk(main_kernel(program)->body, count_op, &count);
  int n = count.n - 1;
  return n >= 0 && drop_nth(&main_kernel(program)->body, kind, &n);
}

static bool break_first_barrier(Program *program) {
  int n = 0;
  return drop_nth(&main_kernel(program)->body, OP_BARRIER, &n);
}

static bool break_last_barrier(Program *program) { return drop_last(program, OP_BARRIER); }

static bool break_wait(Program *program) {
  return drop_all(&main_kernel(program)->body, OP_CP_WAIT, ROLE_COUNT);
}

static void relax_wait(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (stmt->kind != STMT_OP || stmt->op.kind != OP_CP_WAIT) return;
  stmt->op.groups++;
  *(bool *)context = true;
}

static bool break_lax_wait(Program *program) {
  bool found = false;
  stmt_walk(main_kernel(program)->body, relax_wait, &found);
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

static bool break_phase(Program *program) {
  Phase phase = {ex_const(program->arena, 0), false};
  each_access(main_kernel(program)->body, drop_phase, &phase);
  return phase.found;
}

// Rows of one element cannot come closer without being one row.
static bool break_pad(Program *program) {
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

static bool break_zero(Program *program) {
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

static bool break_guarded_split(Program *program) {
  Arena *arena = program->arena;
  const Axis *k = &program->axis[AXIS_K];
  const Var *split = k->n_digits ? k->digit[0].var : NULL;
  Stmt **link = find_atomic(&main_kernel(program)->body);
  if (!link || !split || split->tier != TIER_BLOCK || !break_zero(program)) return false;
  link = find_atomic(&main_kernel(program)->body);
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

static bool break_last_slab(Program *program) {
  Stmt *k_o = slab_loop(program);
  if (!k_o || k_o->var->extent < 2) return false;
  Var *shorter = ARENA_NEW(program->arena, Var);
  *shorter = *k_o->var;  // the same id: expressions read it as before
  shorter->extent--;
  k_o->var = shorter;
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

bool change_each(Program *program, bool (*change)(Program *, Stmt *)) {
  Each each = {program, change, false};
  stmt_walk(main_kernel(program)->body, change_one, &each);
  return each.found;
}

static bool drop_trans(Program *program, Stmt *stmt) {
  (void)program;
  bool had = stmt->op.kind == OP_LDMATRIX && stmt->op.trans;
  if (had) stmt->op.trans = false;
  return had;
}

static bool break_trans(Program *program) { return change_each(program, drop_trans); }

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

static bool break_matrix(Program *program) { return change_each(program, address_next_matrix); }

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
static bool break_layout(Program *program) {
  for (int i = 0; i < program->n_buffers && program->n_buffers < BUFFERS_MAX; i++) {
    const Buffer *slab = program->buffer[i];
    if (slab->space != SPACE_SHARED || !buffer_is_permuted(slab)) continue;
    Buffer *plain = ARENA_NEW(program->arena, Buffer);
    *plain = *slab;
    plain->id = program->n_buffers;
    plain->name = arena_printf(program->arena, "%s_plain", slab->name);
    plain->swizzle_bits = plain->n_xor = 0;
    Alias alias = {slab, plain, 0};
    stmt_walk(main_kernel(program)->body, read_plain, &alias);
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

static bool break_fragments(Program *program) { return change_each(program, take_next_fragment); }

static bool (*const breaks[BREAK_COUNT])(Program *) = {
    [BREAK_FIRST_BARRIER] = break_first_barrier,
    [BREAK_LAST_BARRIER] = break_last_barrier,
    [BREAK_WAIT] = break_wait,
    [BREAK_LAX_WAIT] = break_lax_wait,
    [BREAK_PHASE] = break_phase,
    [BREAK_PAD] = break_pad,
    [BREAK_GUARDED_SPLIT] = break_guarded_split,
    [BREAK_ZERO] = break_zero,
    [BREAK_LAST_SLAB] = break_last_slab,
    [BREAK_TRANS] = break_trans,
    [BREAK_MATRIX] = break_matrix,
    [BREAK_LAYOUT] = break_layout,
    [BREAK_FRAGMENTS] = break_fragments,
    [BREAK_FULL_WAIT] = break_full_wait,
    [BREAK_FULL_PHASE] = break_full_phase,
    [BREAK_SLOT_AFTER] = break_slot_after,
    [BREAK_SLOT_BEFORE] = break_slot_before,
    [BREAK_MORE_BYTES] = break_more_bytes,
    [BREAK_FEWER_BYTES] = break_fewer_bytes,
    [BREAK_ALL_ASK] = break_all_ask,
    [BREAK_ELECT_DIVERGED] = break_elect_diverged,
    [BREAK_EMPTY_WAIT] = break_empty_wait,
    [BREAK_EMPTY_PHASE] = break_empty_phase,
    [BREAK_ARRIVE] = break_arrive,
    [BREAK_MORE_ARRIVALS] = break_more_arrivals,
    [BREAK_FEWER_ARRIVALS] = break_fewer_arrivals,
    [BREAK_SILENT_WARP] = break_silent_warp,
    [BREAK_MIDDLE_WAIT] = break_middle_wait,
    [BREAK_WAIT_AGAIN] = break_wait_again,
    [BREAK_FEW_MEET] = break_few_meet,
    [BREAK_BLOCK_BARRIER] = break_block_barrier,
    [BREAK_TILE_KEPT] = break_tile_kept,
    [BREAK_FETCH_SHORT] = break_fetch_short,
    [BREAK_POOL_LATE] = break_pool_late,
    [BREAK_INIT_FENCE] = break_init_fence,
    [BREAK_FENCE] = break_fence,
    [BREAK_EARLY_FENCE] = break_early_fence,
    [BREAK_OTHER_FENCE] = break_other_fence,
    [BREAK_STORE_FENCE] = break_store_fence,
    [BREAK_STORE_WAIT_READ] = break_store_wait_read,
    [BREAK_STORE_WAIT] = break_store_wait,
    [BREAK_MORE_REGISTERS] = break_more_registers,
    [BREAK_LOCAL_ARRIVE_ONLY] = break_local_arrive_only,
    [BREAK_MASK_SHORT] = break_mask_short,
    [BREAK_NO_CLUSTER_START] = break_no_cluster_start,
    [BREAK_NO_CLUSTER_END] = break_no_cluster_end,
    [BREAK_RING_RESTARTS_PER_TILE] = break_ring_restarts,
    [BREAK_ORDER_WAIT] = break_order_wait,
    [BREAK_OWN_SLABS] = break_own_slabs,
    [BREAK_PARTS_FROM_0] = break_parts_from_0,
    [BREAK_CLAIM_NOT_ATOMIC] = break_claim_not_atomic,
    [BREAK_EPOCH_MISSING] = break_epoch_missing,
    [BREAK_WG_WAIT] = break_wg_wait,
    [BREAK_WG_WAIT_LAX] = break_wg_wait_lax,
    [BREAK_WG_FENCE] = break_wg_fence,
    [BREAK_WG_COMMIT] = break_wg_commit,
    [BREAK_LBO_SBO_SWAPPED] = break_lbo_sbo_swapped,
    [BREAK_MODE_OFF] = break_mode_off,
    [BREAK_TRANS_OFF] = break_trans_off,
    [BREAK_SUMS_EARLY] = break_sums_early,
    [BREAK_RELEASE_EARLY] = break_release_early,
    [BREAK_K_EARLY] = break_k_early,
    [BREAK_V_EARLY] = break_v_early,
    [BREAK_NO_RESCALE] = break_no_rescale,
    [BREAK_SUM_RESCALE] = break_sum_rescale,
    [BREAK_LANES_MAX] = break_lanes_max,
    [BREAK_UNCONVERTED] = break_unconverted,
    [BREAK_SUMS_KEPT] = break_sums_kept,
    [BREAK_TENSOR_COMMIT] = break_tensor_commit,
    [BREAK_TENSOR_RELEASE] = break_tensor_release,
    [BREAK_TENSOR_WAIT] = break_tensor_wait,
    [BREAK_TENSOR_AFTER] = break_tensor_after,
    [BREAK_TENSOR_LOADS] = break_tensor_loads,
    [BREAK_TENSOR_LANE] = break_tensor_lane,
    [BREAK_TENSOR_ALL_ASK] = break_tensor_all_ask,
    [BREAK_TENSOR_ALL_COMMIT] = break_tensor_all_commit,
    [BREAK_TENSOR_FREE_EARLY] = break_tensor_free_early,
    [BREAK_TENSOR_FREE_LANE] = break_tensor_free_lane,
    [BREAK_TENSOR_LEAK] = break_tensor_leak,
    [BREAK_TENSOR_BEFORE] = break_tensor_before,
    [BREAK_TENSOR_REUSE] = break_tensor_reuse,
    [BREAK_TENSOR_RELEASE_EARLY] = break_tensor_release_early,
    [BREAK_TENSOR_PHASE] = break_tensor_phase,
    [BREAK_TENSOR_INIT] = break_tensor_init,
    [BREAK_PAIR_MASK] = break_pair_mask,
    [BREAK_PAIR_BYTES] = break_pair_bytes,
    [BREAK_PAIR_END] = break_pair_end,
    [BREAK_PAIR_ALLOC] = break_pair_alloc,
    [BREAK_SCALE_BYTE] = break_scale_byte,
    [BREAK_SCALE_STALE] = break_scale_stale,
    [BREAK_FACTOR_COPY] = break_factor_copy,
    [BREAK_FACTOR_LATE] = break_factor_late,
    [BREAK_FACTOR_COLUMNS] = break_factor_columns,
    [BREAK_FACTOR_ALLOC] = break_factor_alloc,
    [BREAK_FACTOR_SLOT] = break_factor_slot,
};

Program *program_break(Arena *arena, const Program *program, BreakageId id) {
  Program *broken = program_clone(arena, program);
  return breaks[id](broken) ? broken : NULL;
}

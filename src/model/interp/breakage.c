// Each breakage is one small rewrite of a clone, made where a slip of the pen would make it.
//
// Worked example, guarded_split on four splits: the two kernels
//   zero: C[…] = 0      matmul: C[…] += atomic_add acc
// become the one that looks as if it needed no zero kernel,
//   matmul: if k_s < 1: C[…] = acc     if 0 < k_s: C[…] += atomic_add acc
// whose blocks k_s = 1, 2, 3 may well run before block 0 stores over what they added.
#include "model/interp/breakage.h"

#include "model/interp/breakage_parts.h"
#include "model/ir/rewrite.h"
#include "model/words/fragment.h"

static const struct {
  const char *name, *help;
} rows[BREAK_COUNT] = {
#define X(id, name, help) {name, help},
    BREAKAGE_TABLE(X)
#undef X
};

const char *breakage_name(BreakageId id) { return rows[id].name; }
const char *breakage_help(BreakageId id) { return rows[id].help; }

bool is_op(const Stmt *stmt, OpKind kind) { return stmt->kind == STMT_OP && stmt->op.kind == kind; }

// Whether the statement is an operation of this kind on the mbarriers of a role.
static bool is_mbar_op(const Stmt *stmt, OpKind kind, BufferRole role) {
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

static bool break_first_barrier(Program *program) {
  int n = 0;
  return drop_nth(&main_kernel(program)->body, OP_BARRIER, &n);
}

static bool break_last_barrier(Program *program) {
  Count count = {OP_BARRIER, 0};
  stmt_walk(main_kernel(program)->body, count_op, &count);
  int n = count.n - 1;
  return n >= 0 && drop_nth(&main_kernel(program)->body, OP_BARRIER, &n);
}

static bool break_wait(Program *program) {
  return drop_all(&main_kernel(program)->body, OP_CP_WAIT, ROLE_COUNT);
}

static void relax_wait(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (stmt->kind != STMT_OP || stmt->op.kind != OP_CP_WAIT) return;
  stmt->op.count++;
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
  if (stmt->op.kind != OP_LDMATRIX || stmt->op.count == 1) return false;
  const Var *lane = program_product(program)->lane;
  const Expr *next = ex_add_const(arena, ex_var(arena, lane), LDMATRIX_ROWS);
  next = ex_mod(arena, next, stmt->op.count * LDMATRIX_ROWS);
  for (int d = 0; d < from->buffer->rank; d++)
    from->idx[d] = expr_substitute(arena, from->idx[d], lane, next);
  return true;
}

static bool break_matrix(Program *program) { return change_each(program, address_next_matrix); }

typedef struct Alias {
  const Buffer *slab;
  Buffer *plain;
} Alias;

static void read_plain(Stmt *stmt, int depth, void *context) {
  (void)depth;
  const Alias *alias = context;
  if (stmt->kind == STMT_OP && stmt->op.src.buffer == alias->slab)
    stmt->op.src.buffer = alias->plain;
}

// Gives the same memory another name, without the permutation.
static bool break_layout(Program *program) {
  for (int i = 0; i < program->n_buffers && program->n_buffers < BUFFERS_MAX; i++) {
    const Buffer *slab = program->buffer[i];
    if (slab->space != SPACE_SHARED || !buffer_is_permuted(slab)) continue;
    Buffer *plain = program->buffer[program->n_buffers] = ARENA_NEW(program->arena, Buffer);
    *plain = *slab;
    plain->id = program->n_buffers++;
    plain->name = arena_printf(program->arena, "%s_plain", slab->name);
    plain->swizzle_bits = plain->n_xor = 0;
    stmt_walk(main_kernel(program)->body, read_plain, &(Alias){slab, plain});
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

// ---- mbarriers ----------------------------------------------------------------------------------

static bool break_full_wait(Program *program) {
  return drop_all(&main_kernel(program)->body, OP_MBAR_WAIT, ROLE_FULL);
}

static bool break_empty_wait(Program *program) {
  return drop_all(&main_kernel(program)->body, OP_MBAR_WAIT, ROLE_EMPTY);
}

static bool break_arrive(Program *program) {
  return drop_all(&main_kernel(program)->body, OP_MBAR_ARRIVE, ROLE_EMPTY);
}

// Changes nothing if the ring is never gone round.
static bool stay_in_phase_0(Program *program, Stmt *stmt) {
  if (!is_mbar_op(stmt, OP_MBAR_WAIT, ROLE_FULL) || stmt->op.phase->op == EXPR_CONST) return false;
  stmt->op.phase = ex_const(program->arena, 0);
  return true;
}

static bool break_full_phase(Program *program) { return change_each(program, stay_in_phase_0); }

static bool turn_phase(Program *program, Stmt *stmt) {
  if (!is_mbar_op(stmt, OP_MBAR_WAIT, ROLE_EMPTY)) return false;
  stmt->op.phase = ex_mod(program->arena, ex_add_const(program->arena, stmt->op.phase, 1), 2);
  return true;
}

static bool break_empty_phase(Program *program) { return change_each(program, turn_phase); }

// A wait for the bytes of the slot that is `by` further round the ring.
static bool turn_slot(Program *program, Stmt *stmt, int64_t by) {
  if (!is_mbar_op(stmt, OP_MBAR_WAIT, ROLE_FULL)) return false;
  Access *full = &stmt->op.dst;
  int64_t slots = full->buffer->dim[0];
  if (slots == 1) return false;
  const Expr *moved = ex_add_const(program->arena, full->idx[0], by + slots);
  full->idx[0] = ex_mod(program->arena, moved, slots);
  return true;
}

static bool take_slot_after(Program *program, Stmt *stmt) { return turn_slot(program, stmt, 1); }
static bool take_slot_before(Program *program, Stmt *stmt) { return turn_slot(program, stmt, -1); }
static bool break_slot_after(Program *program) { return change_each(program, take_slot_after); }
static bool break_slot_before(Program *program) { return change_each(program, take_slot_before); }

static int64_t box_bytes(const Program *program) {
  const Op *tma = program_tma(program, ROLE_B);
  if (!tma) tma = program_tma(program, ROLE_A);
  return tma->box[0] * tma->box[1] * dtype_bytes(tma->dst.buffer->type);
}

static bool expect_more(Program *program, Stmt *stmt) {
  if (!is_op(stmt, OP_MBAR_EXPECT)) return false;
  stmt->op.count += box_bytes(program);
  return true;
}

static bool expect_less(Program *program, Stmt *stmt) {
  if (!is_op(stmt, OP_MBAR_EXPECT)) return false;
  stmt->op.count -= box_bytes(program);
  return true;
}

static bool break_more_bytes(Program *program) { return change_each(program, expect_more); }
static bool break_fewer_bytes(Program *program) { return change_each(program, expect_less); }

static bool await_more(Program *program, Stmt *stmt) {
  (void)program;
  if (!is_mbar_op(stmt, OP_MBAR_INIT, ROLE_EMPTY)) return false;
  stmt->op.count++;
  return true;
}

static bool await_less(Program *program, Stmt *stmt) {
  (void)program;
  if (!is_mbar_op(stmt, OP_MBAR_INIT, ROLE_EMPTY) || stmt->op.count == 1) return false;
  stmt->op.count--;
  return true;
}

static bool break_more_arrivals(Program *program) { return change_each(program, await_more); }
static bool break_fewer_arrivals(Program *program) { return change_each(program, await_less); }

static const Expr *differs(Program *program, const Expr *x, int64_t from) {
  const Expr *same = ex_binary(program->arena, EXPR_EQ, x, ex_const(program->arena, from));
  return ex_binary(program->arena, EXPR_EQ, same, ex_const(program->arena, 0));
}

// Puts *link alone under a condition.
static void make_conditional(Program *program, Stmt **link, const Expr *condition) {
  Stmt *stmt = *link, *next = stmt->next;
  stmt->next = NULL;
  *link = stmt_if(program, stmt->knob, condition, stmt);
  (*link)->next = next;
}

// The mbarrier would miss the arrival if it awaited it.
static bool silence_warp(Program *program, Stmt **link) {
  bool found = false;
  for (; *link; link = &(*link)->next) {
    if (!is_mbar_op(*link, OP_MBAR_ARRIVE, ROLE_EMPTY)) {
      found |= silence_warp(program, &(*link)->body);
      continue;
    }
    const Expr *warp = ex_div(program->arena, ex_var(program->arena, program->any_thread), LANES);
    make_conditional(program, link, differs(program, warp, 0));
    found = true;
  }
  return found;
}

static bool break_silent_warp(Program *program) {
  return change_each(program, await_less) && silence_warp(program, &main_kernel(program)->body);
}

// Skips the wait in the middle iteration of the loop over slabs, whose variable is `k_o`; NULL: the
// loop is still to come. The last iteration would not do: it waits for nothing if the first k-step
// is read a slab ahead.
static bool skip_middle(Program *program, Stmt **link, const Var *k_o) {
  bool found = false;
  for (; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    if (k_o && is_mbar_op(stmt, OP_MBAR_WAIT, ROLE_FULL)) {
      make_conditional(program, link,
                       differs(program, ex_var(program->arena, k_o), (k_o->extent - 1) / 2));
      found = true;
      continue;
    }
    bool serial = stmt->kind == STMT_LOOP && stmt->var->tier == TIER_SERIAL_OUTER;
    found |= skip_middle(program, &stmt->body, serial && stmt->var->extent > 1 ? stmt->var : k_o);
  }
  return found;
}

static bool break_middle_wait(Program *program) {
  return skip_middle(program, &main_kernel(program)->body, NULL);
}

// "wait full, …, arrive empty" becomes "wait full, …, arrive empty, wait full".
static bool wait_again(Program *program, Stmt *list, const Stmt *wait) {
  bool found = false;
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (is_mbar_op(stmt, OP_MBAR_WAIT, ROLE_FULL)) wait = stmt;
    found |= wait_again(program, stmt->body, wait);
    if (!wait || !is_mbar_op(stmt, OP_MBAR_ARRIVE, ROLE_EMPTY)) continue;
    Stmt *again = stmt_op(program, wait->knob, wait->op);
    again->next = stmt->next;
    stmt = stmt->next = again;
    found = true;
  }
  return found;
}

static bool break_wait_again(Program *program) {
  return wait_again(program, main_kernel(program)->body, NULL);
}

static bool ask_for_one(Program *program, Stmt *stmt) {
  (void)program;
  if (!is_op(stmt, OP_BARRIER) || stmt->op.count <= LANES) return false;
  stmt->op.count = LANES;
  return true;
}

static bool break_few_meet(Program *program) { return change_each(program, ask_for_one); }

// The fence in front of boxes that are sent to C, or that in front of those that fill a slab.
static bool drop_fences(Stmt **link, bool of_stores) {
  bool dropped = false;
  while (*link) {
    Stmt *stmt = *link;
    bool sends =
        find_op(stmt->next, OP_TMA_STORE, ROLE_C) || find_op(stmt->next, OP_TMA_ADD, ROLE_C);
    if (is_op(stmt, OP_FENCE_ASYNC) && sends == of_stores) {
      *link = stmt->next;
      dropped = true;
      continue;
    }
    if (stmt->body) dropped |= drop_fences(&stmt->body, of_stores);
    link = &stmt->next;
  }
  return dropped;
}

static bool break_fence(Program *program) {
  return drop_fences(&main_kernel(program)->body, false);
}

static bool break_store_fence(Program *program) {
  return drop_fences(&main_kernel(program)->body, true);
}

static bool break_store_wait_read(Program *program) {
  return drop_all(&main_kernel(program)->body, OP_BULK_READ, ROLE_COUNT);
}

static bool break_store_wait(Program *program) {
  return drop_all(&main_kernel(program)->body, OP_BULK_WAIT, ROLE_COUNT);
}

// Puts the fence in front of the wait, so that it does not cover what the wait makes known.
static bool fence_before_wait(Stmt **link) {
  for (; *link; link = &(*link)->next) {
    Stmt *wait = *link, *fence = wait->next;
    if (is_op(wait, OP_MBAR_WAIT) && fence && is_op(fence, OP_FENCE_ASYNC)) {
      wait->next = fence->next;
      fence->next = wait;
      *link = fence;
      return true;
    }
    if (wait->body && fence_before_wait(&wait->body)) return true;
  }
  return false;
}

static bool break_early_fence(Program *program) {
  return fence_before_wait(&main_kernel(program)->body);
}

// "if tid == 0: fence; …" becomes "if tid == 1: fence" and "if tid == 0: …".
static bool fence_beside(Program *program, Stmt **link) {
  bool moved = false;
  for (; *link; link = &(*link)->next) {
    Stmt *stmt = *link, *fence = stmt->body;
    if (fence && stmt->kind == STMT_IF && is_op(fence, OP_FENCE_ASYNC)) {
      const Expr *beside = ex_add_const(program->arena, stmt->expr->b, 1);
      const Expr *other = ex_binary(program->arena, EXPR_EQ, stmt->expr->a, beside);
      stmt->body = fence->next;
      fence->next = NULL;
      *link = stmt_if(program, fence->knob, other, fence);
      (*link)->next = stmt;
      link = &(*link)->next;
      moved = true;
    } else if (fence && fence_beside(program, &stmt->body)) {
      moved = true;
    }
  }
  return moved;
}

static bool break_other_fence(Program *program) {
  return fence_beside(program, &main_kernel(program)->body);
}

static bool take_more(Program *program, Stmt *stmt) {
  (void)program;
  if (!is_op(stmt, OP_REGS_TAKE)) return false;
  stmt->op.count += 8;
  return true;
}

static bool break_more_registers(Program *program) { return change_each(program, take_more); }

// The innermost condition around what is expected is that for one thread.
static bool drop_condition(Stmt **link) {
  bool dropped = false;
  for (; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    bool inside = drop_condition(&stmt->body);
    dropped |= inside;
    if (inside || stmt->kind != STMT_IF || !find_op(stmt->body, OP_MBAR_EXPECT, ROLE_COUNT))
      continue;
    stmt_last(stmt->body)->next = stmt->next;
    *link = stmt->body;
    dropped = true;
  }
  return dropped;
}

static bool break_all_ask(Program *program) { return drop_condition(&main_kernel(program)->body); }

// ---- clusters -----------------------------------------------------------------------------------

// The ranks of a mask, as many as it has anywhere.
static int64_t count_ranks(const Program *program, const Expr *mask) {
  int64_t *at_rank_0 = ARENA_ARRAY(program->arena, int64_t, program->n_vars);
  return __builtin_popcountll((unsigned long long)expr_eval(mask, at_rank_0));
}

static bool arrives_across(const Stmt *stmt) {
  return is_op(stmt, OP_MBAR_ARRIVE) && stmt->op.mask;
}

static void find_readers(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (arrives_across(stmt)) *(const Expr **)context = stmt->op.mask;
}

static bool arrive_at_own(Program *program, Stmt *stmt) {
  (void)program;
  bool across = arrives_across(stmt);
  if (across) stmt->op.mask = NULL;
  return across;
}

static bool break_local_arrive_only(Program *program) {
  const Expr *mask = NULL;
  stmt_walk(main_kernel(program)->body, find_readers, (void *)&mask);
  Stmt *init = find_op(main_kernel(program)->body, OP_MBAR_INIT, ROLE_EMPTY);
  if (!mask || !init) return false;
  init->op.count /= count_ranks(program, mask);
  return change_each(program, arrive_at_own);
}

static bool send_to_own(Program *program, Stmt *stmt) {
  (void)program;
  bool across = is_op(stmt, OP_TMA_LOAD) && stmt->op.mask;
  if (across) stmt->op.mask = NULL;
  return across;
}

static bool break_mask_short(Program *program) { return change_each(program, send_to_own); }

static bool break_no_cluster_start(Program *program) {
  Stmt *first = find_op(main_kernel(program)->body, OP_CLUSTER_BARRIER, ROLE_COUNT);
  if (first) first->op.kind = OP_BARRIER;
  return first != NULL;
}

// Where nobody arrives across blocks there is no barrier at the end.
static bool break_no_cluster_end(Program *program) {
  const Expr *mask = NULL;
  Count count = {OP_CLUSTER_BARRIER, 0};
  stmt_walk(main_kernel(program)->body, find_readers, (void *)&mask);
  stmt_walk(main_kernel(program)->body, count_op, &count);
  int n = count.n - 1;
  return mask && drop_nth(&main_kernel(program)->body, OP_CLUSTER_BARRIER, &n);
}

// ---- work lists ---------------------------------------------------------------------------------

static bool claim_in_steps(Program *program, Stmt *stmt) {
  (void)program;
  bool claims = is_op(stmt, OP_CLAIM);
  if (claims) stmt->op.in_steps = true;
  return claims;
}

static bool break_claim_not_atomic(Program *program) {
  return change_each(program, claim_in_steps);
}

static bool claim_in_epoch_1(Program *program, Stmt *stmt) {
  bool claims = is_op(stmt, OP_CLAIM);
  if (claims) stmt->op.phase = ex_const(program->arena, 1);
  return claims;
}

static bool break_epoch_missing(Program *program) { return change_each(program, claim_in_epoch_1); }

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
    [BREAK_EMPTY_WAIT] = break_empty_wait,
    [BREAK_EMPTY_PHASE] = break_empty_phase,
    [BREAK_ARRIVE] = break_arrive,
    [BREAK_MORE_ARRIVALS] = break_more_arrivals,
    [BREAK_FEWER_ARRIVALS] = break_fewer_arrivals,
    [BREAK_SILENT_WARP] = break_silent_warp,
    [BREAK_MIDDLE_WAIT] = break_middle_wait,
    [BREAK_WAIT_AGAIN] = break_wait_again,
    [BREAK_FEW_MEET] = break_few_meet,
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
};

Program *program_break(Arena *arena, const Program *program, BreakageId id) {
  Program *broken = program_clone(arena, program);
  return breaks[id](broken) ? broken : NULL;
}

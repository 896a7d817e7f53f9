// Faults of mbarriers, of the fences and copies that go with them, and of roles: the thread that
// waits for a phase, the thread that arrives, the number of bytes that count.
//
// Worked example, full_phase, a ring of two slots:
//   wait full[k_o % 2] phase k_o / 2 % 2
// becomes
//   wait full[k_o % 2] phase 0
// This phase is over at once when the slot is filled again, so the slab before is read once more.
#include "model/interp/breakage_parts.h"
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

bool break_init_fence(Program *program) {
  return breakage_drop_all(&program_main_kernel(program)->body, OP_MBAR_FENCE, ROLE_COUNT);
}

bool break_full_wait(Program *program) {
  return breakage_drop_all(&program_main_kernel(program)->body, OP_MBAR_WAIT, ROLE_FULL);
}

bool break_empty_wait(Program *program) {
  return breakage_drop_all(&program_main_kernel(program)->body, OP_MBAR_WAIT, ROLE_EMPTY);
}

bool break_arrive(Program *program) {
  return breakage_drop_all(&program_main_kernel(program)->body, OP_MBAR_ARRIVE, ROLE_EMPTY);
}

// Changes nothing if the ring is never gone round.
static bool stay_in_phase_0(Program *program, Stmt *stmt) {
  if (!stmt_is_mbar_op(stmt, OP_MBAR_WAIT, ROLE_FULL) || stmt->op.phase->op == EXPR_CONST)
    return false;
  stmt->op.phase = ex_const(program->arena, 0);
  return true;
}

bool break_full_phase(Program *program) { return breakage_change_each(program, stay_in_phase_0); }

static bool turn_phase(Program *program, Stmt *stmt) {
  if (!stmt_is_mbar_op(stmt, OP_MBAR_WAIT, ROLE_EMPTY)) return false;
  stmt->op.phase = ex_mod(program->arena, ex_add_const(program->arena, stmt->op.phase, 1), 2);
  return true;
}

bool break_empty_phase(Program *program) { return breakage_change_each(program, turn_phase); }

// A wait for the bytes of the slot that is `by` further round the ring.
static bool turn_slot(Program *program, Stmt *stmt, int64_t by) {
  if (!stmt_is_mbar_op(stmt, OP_MBAR_WAIT, ROLE_FULL)) return false;
  Access *full = &stmt->op.dst;
  int64_t slots = full->buffer->dim[0];
  if (slots == 1) return false;
  const Expr *moved = ex_add_const(program->arena, full->idx[0], by + slots);
  full->idx[0] = ex_mod(program->arena, moved, slots);
  return true;
}

static bool take_slot_after(Program *program, Stmt *stmt) { return turn_slot(program, stmt, 1); }
static bool take_slot_before(Program *program, Stmt *stmt) { return turn_slot(program, stmt, -1); }
bool break_slot_after(Program *program) { return breakage_change_each(program, take_slot_after); }
bool break_slot_before(Program *program) { return breakage_change_each(program, take_slot_before); }

static int64_t box_bytes(const Program *program) {
  const ProductOperand *operand = program->product[0].operand;
  const Op *tma = program_tma(program, operand[ATOM_B].global);
  if (!tma) tma = program_tma(program, operand[ATOM_A].global);
  return tma->box[0] * tma->box[1] * dtype_bytes(tma->dst.buffer->type);
}

static bool expect_more(Program *program, Stmt *stmt) {
  if (!stmt_is_op(stmt, OP_MBAR_EXPECT)) return false;
  stmt->op.bytes += box_bytes(program);
  return true;
}

static bool expect_less(Program *program, Stmt *stmt) {
  if (!stmt_is_op(stmt, OP_MBAR_EXPECT)) return false;
  stmt->op.bytes -= box_bytes(program);
  return true;
}

bool break_more_bytes(Program *program) { return breakage_change_each(program, expect_more); }
bool break_fewer_bytes(Program *program) { return breakage_change_each(program, expect_less); }

static bool await_more(Program *program, Stmt *stmt) {
  (void)program;
  if (!stmt_is_mbar_op(stmt, OP_MBAR_INIT, ROLE_EMPTY)) return false;
  stmt->op.arrivals++;
  return true;
}

static bool await_less(Program *program, Stmt *stmt) {
  (void)program;
  if (!stmt_is_mbar_op(stmt, OP_MBAR_INIT, ROLE_EMPTY) || stmt->op.arrivals == 1) return false;
  stmt->op.arrivals--;
  return true;
}

bool break_more_arrivals(Program *program) { return breakage_change_each(program, await_more); }
bool break_fewer_arrivals(Program *program) { return breakage_change_each(program, await_less); }

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
    if (!stmt_is_mbar_op(*link, OP_MBAR_ARRIVE, ROLE_EMPTY)) {
      found |= silence_warp(program, &(*link)->body);
      continue;
    }
    const Expr *warp = ex_div(program->arena, ex_var(program->arena, program->any_thread), LANES);
    make_conditional(program, link, differs(program, warp, 0));
    found = true;
  }
  return found;
}

bool break_silent_warp(Program *program) {
  return breakage_change_each(program, await_less) &&
         silence_warp(program, &program_main_kernel(program)->body);
}

// Skips the wait in the middle iteration of the loop over slabs with variable `k_o`; NULL: the loop
// is still to come. The last iteration would not do: it waits for nothing if the first k-step is
// read a slab ahead.
static bool skip_middle(Program *program, Stmt **link, const Var *k_o) {
  bool found = false;
  for (; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    if (k_o && stmt_is_mbar_op(stmt, OP_MBAR_WAIT, ROLE_FULL)) {
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

bool break_middle_wait(Program *program) {
  return skip_middle(program, &program_main_kernel(program)->body, NULL);
}

// "wait full, …, arrive empty" becomes "wait full, …, arrive empty, wait full".
static bool wait_again(Program *program, Stmt *list, const Stmt *wait) {
  bool found = false;
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (stmt_is_mbar_op(stmt, OP_MBAR_WAIT, ROLE_FULL)) wait = stmt;
    found |= wait_again(program, stmt->body, wait);
    if (!wait || !stmt_is_mbar_op(stmt, OP_MBAR_ARRIVE, ROLE_EMPTY)) continue;
    Stmt *again = stmt_op(program, wait->knob, wait->op);
    again->next = stmt->next;
    stmt = stmt->next = again;
    found = true;
  }
  return found;
}

bool break_wait_again(Program *program) {
  return wait_again(program, program_main_kernel(program)->body, NULL);
}

static bool ask_for_one(Program *program, Stmt *stmt) {
  (void)program;
  if (!stmt_is_op(stmt, OP_BARRIER) || stmt->op.threads <= LANES || stmt_is_turn(stmt))
    return false;
  stmt->op.threads = LANES;
  return true;
}

bool break_few_meet(Program *program) { return breakage_change_each(program, ask_for_one); }

// The fence in front of boxes that are sent to C, or that in front of those that fill a slab.
static bool drop_fences(Stmt **link, bool of_stores) {
  bool dropped = false;
  while (*link) {
    Stmt *stmt = *link;
    bool sends = stmt_find_op(stmt->next, OP_TMA_STORE, ROLE_C) ||
                 stmt_find_op(stmt->next, OP_TMA_ADD, ROLE_C);
    if (stmt_is_op(stmt, OP_FENCE_ASYNC) && sends == of_stores) {
      *link = stmt->next;
      dropped = true;
      continue;
    }
    if (stmt->body) dropped |= drop_fences(&stmt->body, of_stores);
    link = &stmt->next;
  }
  return dropped;
}

bool break_fence(Program *program) {
  return drop_fences(&program_main_kernel(program)->body, false);
}

bool break_store_fence(Program *program) {
  return drop_fences(&program_main_kernel(program)->body, true);
}

bool break_store_wait_read(Program *program) {
  return breakage_drop_all(&program_main_kernel(program)->body, OP_BULK_READ, ROLE_COUNT);
}

bool break_store_wait(Program *program) {
  return breakage_drop_all(&program_main_kernel(program)->body, OP_BULK_WAIT, ROLE_COUNT);
}

// Puts the fence in front of the wait, so that it does not cover what the wait makes known.
static bool fence_before_wait(Stmt **link) {
  for (; *link; link = &(*link)->next) {
    Stmt *wait = *link, *fence = wait->next;
    if (stmt_is_op(wait, OP_MBAR_WAIT) && fence && stmt_is_op(fence, OP_FENCE_ASYNC)) {
      wait->next = fence->next;
      fence->next = wait;
      *link = fence;
      return true;
    }
    if (wait->body && fence_before_wait(&wait->body)) return true;
  }
  return false;
}

bool break_early_fence(Program *program) {
  return fence_before_wait(&program_main_kernel(program)->body);
}

// "if tid == 0: fence; …" becomes "if tid == 1: fence" and "if tid == 0: …".
static bool fence_beside(Program *program, Stmt **link) {
  bool moved = false;
  for (; *link; link = &(*link)->next) {
    Stmt *stmt = *link, *fence = stmt->body;
    if (fence && stmt->kind == STMT_IF && stmt_is_op(fence, OP_FENCE_ASYNC)) {
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

bool break_other_fence(Program *program) {
  return fence_beside(program, &program_main_kernel(program)->body);
}

static bool take_more(Program *program, Stmt *stmt) {
  (void)program;
  if (!stmt_is_op(stmt, OP_REGS_TAKE)) return false;
  stmt->op.registers += 8;
  return true;
}

bool break_more_registers(Program *program) { return breakage_change_each(program, take_more); }

// The innermost condition around an expect limits it to one thread.
static bool drop_condition(Stmt **link) {
  bool dropped = false;
  for (; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    bool inside = drop_condition(&stmt->body);
    dropped |= inside;
    if (inside || stmt->kind != STMT_IF || !stmt_find_op(stmt->body, OP_MBAR_EXPECT, ROLE_COUNT))
      continue;
    stmt_last(stmt->body)->next = stmt->next;
    *link = stmt->body;
    dropped = true;
  }
  return dropped;
}

bool break_all_ask(Program *program) { return drop_condition(&program_main_kernel(program)->body); }

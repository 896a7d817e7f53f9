// Branches, calls, ends. (PTX ISA, 9.7.12.)
#include "base/str.h"
#include "ptx/run/run_sync.h"

// A branch that follows from data: until its ways meet again, so does what its lanes do.
static void note_control(PtxWarp *w, const PtxInst *i, uint32_t data) {
  if (!(data & w->mask)) return;
  FOR_LANES(w->mask & ~w->control) w->control_end[l] = i->rejoin;
  w->control |= w->mask;
}

void run_bra(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (i->guard >= 0 && w->frame_pred_taint[i->guard])
    note_control(w, i, w->frame_pred_taint[i->guard]);
  if (mask == w->mask)
    w->next = i->target;
  else
    ptx_leave(m, w, mask, i->target);
}

void run_brx(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const uint64_t *A = ptx_lanes(m, w, &i->groups[0], 0);
  const PtxArg arg = m->module->args[i->groups[0].at];
  if (arg >= 0) note_control(w, i, w->frame_taint[arg]);
  ptx_only(m, w, mask);
  uint32_t left = mask;
  while (left) {
    const uint32_t first = (uint32_t)__builtin_ctz(left);
    const uint64_t index = A[first];
    if (index >= (uint64_t)i->n_targets) {
      ptx_stop(m, w, PTX_FINDING_OUT_OF_BOUNDS, 1u << first, "an index beyond the branch's list");
      return;
    }
    uint32_t same = 0;
    FOR_LANES(left) same |= (uint32_t)(A[l] == index) << l;
    left &= ~same;
    const int target = m->module->targets[i->target + (int)index];
    if (left)
      ptx_leave(m, w, same, target);
    else
      w->next = target;
  }
}

// ---- calls --------------------------------------------------------------------------------------

static unsigned char *slot(PtxMachine *m, const PtxWarp *w, uint32_t lane, int64_t offset) {
  return m->local.bytes + (int64_t)ptx_thread(w, (int)lane) * m->local_bytes + offset;
}
static unsigned char *slot_state(PtxMachine *m, const PtxWarp *w, uint32_t lane, int64_t offset) {
  return m->local.state + (int64_t)ptx_thread(w, (int)lane) * m->local_bytes + offset;
}

static uint64_t *row_at(PtxWarp *w, const PtxFrame *frame, PtxArg arg) {
  return arg >= 0 ? w->regs + ((size_t)frame->reg + (size_t)arg) * PTX_LANES
                  : w->fixed + (size_t)~arg * PTX_LANES;
}

static void give_unknown(uint32_t *to, uint32_t lanes, uint32_t mask) {
  *to = (*to & ~mask) | (lanes & mask);
}

// Copies one value between a caller's actual and a function's formal, either way.
static void hand_over(PtxMachine *m, PtxWarp *w, uint32_t mask, const PtxActual *actual,
                      const PtxFrame *caller, const PtxParam *formal, const PtxFrame *callee,
                      bool back) {
  if (actual->in_register && formal->in_register) {
    uint64_t *outer = row_at(w, caller, actual->reg), *inner = row_at(w, callee, formal->reg);
    FOR_LANES(mask) * (back ? &outer[l] : &inner[l]) = back ? inner[l] : outer[l];
    const PtxArg arg = actual->reg;
    if (back && arg >= 0)
      give_unknown(&w->unknown[caller->reg + arg], w->unknown[callee->reg + formal->reg], mask);
    if (!back)
      give_unknown(&w->unknown[callee->reg + formal->reg],
                   arg >= 0 ? w->unknown[caller->reg + arg] : 0, mask);
    if (actual->reg < 0) return;
    uint32_t *outer_data = &w->taint[caller->reg + actual->reg],
             *inner_data = &w->taint[callee->reg + formal->reg];
    *(back ? outer_data : inner_data) |= (back ? *inner_data : *outer_data) & mask;
    return;
  }
  if (actual->in_register || formal->in_register) return;
  FOR_LANES(mask) {
    const int64_t to = back ? actual->offset : formal->offset,
                  from = back ? formal->offset : actual->offset;
    memmove(slot(m, w, l, to), slot(m, w, l, from), (size_t)formal->bytes);
    memmove(slot_state(m, w, l, to), slot_state(m, w, l, from), (size_t)formal->bytes);
  }
}

// Functions that the runtime brings along: a kernel may print and assert.
static bool call_outside(PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxFunction *f,
                         uint32_t mask) {
  if (f->has_body) return false;
  const PtxCall *call = &m->module->calls[i->call];
  if (str_equal(f->name, "__assertfail")) {
    ptx_stop(m, w, PTX_FINDING_TRAP, mask, "an assertion failed");
  } else if (!str_equal(f->name, "vprintf")) {
    ptx_stop(m, w, PTX_FINDING_NOT_RUN, mask,
             arena_printf(m->arena, "the function %s is not in this text", f->name));
  } else if (call->n_results && !call->results[0].in_register) {
    FOR_LANES(mask) memset(slot(m, w, l, call->results[0].offset), 0, 4);
  }
  return true;
}

// The function of a call through a pointer: the first lane's; lanes with another one come again.
static int called(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t *mask) {
  if (i->target >= 0) return i->target;
  const uint64_t *A = ptx_lanes(m, w, &i->groups[0], 0);
  const uint64_t pointer = A[__builtin_ctz(*mask)];
  uint32_t same = 0;
  FOR_LANES(*mask) same |= (uint32_t)(A[l] == pointer) << l;
  if (*mask & ~same) ptx_leave(m, w, *mask & ~same, w->pc);
  *mask = same;
  const uint64_t index = pointer & ~PTX_TAGS;
  const bool is_function =
      (pointer & PTX_TAGS) == PTX_FUNCTION_TAG && index < (uint64_t)m->module->n_functions;
  return is_function ? (int)index : -1;
}

void run_call(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  ptx_only(m, w, mask);
  const int target = called(m, w, i, &mask);
  if (target < 0) {
    ptx_stop(m, w, PTX_FINDING_NOT_RUN, mask,
             "a call through a value that is not a pointer to a "
             "function");
    return;
  }
  const PtxFunction *f = &m->module->functions[target];
  if (call_outside(m, w, i, f, mask)) return;
  const PtxCall *call = &m->module->calls[i->call];
  PtxSplit *s = &w->splits[w->now];
  bool again = f->is_kernel || call->n_args != f->n_params || call->n_results > f->n_results;
  for (int d = 0; d <= s->depth; d++) again |= s->calls[d].function == target;
  if (again || s->depth + 1 == PTX_CALLS_MAX) {
    ptx_stop(m, w, PTX_FINDING_DEPTH, mask,
             "a function that calls itself, or calls nested too "
             "deep");
    return;
  }
  const PtxFrame *caller = &s->calls[s->depth];
  const PtxFunction *from = &m->module->functions[caller->function];
  PtxFrame *callee = &s->calls[s->depth + 1];
  *callee = (PtxFrame){w->pc + 1, target, caller->reg + from->n_regs, caller->pred + from->n_preds};
  for (int n = 0; n < call->n_args; n++)
    hand_over(m, w, mask, &call->args[n], caller, &f->params[n], callee, false);
  s->depth++;
  w->next = f->first;
  ptx_load_frame(w, callee);
}

void run_exit(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)i;
  w->exited |= mask;
  w->mask &= ~mask;
  w->splits[w->now].mask &= ~mask;
  ptx_end_threads(m, w, mask);
  ptx_recheck(m, w);
}

void run_ret(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  PtxSplit *s = &w->splits[w->now];
  if (s->depth == 0) {
    run_exit(m, w, i, mask);
    return;
  }
  ptx_only(m, w, mask);
  const PtxFrame *callee = &s->calls[s->depth], *caller = &s->calls[s->depth - 1];
  const PtxFunction *f = &m->module->functions[callee->function];
  const PtxCall *call = &m->module->calls[m->module->code[callee->pc - 1].call];
  for (int n = 0; n < call->n_results; n++)
    hand_over(m, w, mask, &call->results[n], caller, &f->results[n], callee, true);
  w->next = callee->pc;
  s->depth--;
  ptx_load_frame(w, caller);
}

void run_trap(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)i;
  ptx_stop(m, w, PTX_FINDING_TRAP, mask, "trap");
}

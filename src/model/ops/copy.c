// cp.async: copies that lanes ask for and wait for in groups.
//
//   cp_async4(slab, at, &from);
//   cp_async4_or_zero_if(slab, at, &from, guard, predicate);
//
// Early, a copy lands when it is asked for; late, when its group is waited for: both ends are legal
// for the hardware, and its elements are in flight between them.
#include <string.h>

#include "model/ir/stmt.h"
#include "model/ops/ops.h"

// ---- run ----------------------------------------------------------------------------------------

static Copy *new_copy(Machine *m, Warp *w) {
  if (w->n_copies == w->copy_capacity) {
    w->copy_capacity = w->copy_capacity ? 2 * w->copy_capacity : 16;
    Copy *more = ARENA_ARRAY(m->arena, Copy, w->copy_capacity);
    if (w->n_copies) memcpy(more, w->copy, sizeof(Copy) * (size_t)w->n_copies);
    w->copy = more;
  }
  return &w->copy[w->n_copies++];
}

// The moment when a lane's bytes move.
static void land(const Machine *m, const Copy *copy, uint32_t lane) {
  const Code *code = &m->code->code[copy->code];
  const Memory *src = &m->memory[code->src.buffer->id], *dst = &m->memory[code->dst.buffer->id];
  size_t bytes = (size_t)(code->dst.width * dst->bytes);
  if (copy->zeros >> lane & 1)
    memset(memory_at(dst, copy->dst[lane]), 0, bytes);
  else
    memcpy(memory_at(dst, copy->dst[lane]), memory_at(src, copy->src[lane]), bytes);
}

static void launch_lane(Machine *m, const Warp *w, const Code *code, uint32_t lane,
                        const Reach *from, const Reach *to) {
  Touch now = touch_of(m, w, code);
  now.thread = thread_of(w, lane);
  for (int j = 0; j < code->dst.width; j++) {
    shadow_launch(m, to->memory, to->at.lane[lane] + j, &now);
    if (from->inside >> lane & 1)
      shadow_may_read(m, w, code, &now, from->memory, from->at.lane[lane] + j);
  }
}

static void run_cp_async(Machine *m, Warp *w, const Code *code) {
  Reach from, to;
  reach_memory(m, w, code, &code->src, w->active, &from);
  reach_memory(m, w, code, &code->dst, w->active, &to);
  uint32_t lanes = to.inside & (from.inside | from.guarded);
  if (!lanes) return;
  Copy *copy = new_copy(m, w);
  copy->code = (int)(code - m->code->code);
  copy->lanes = lanes;
  copy->zeros = from.guarded;
  memcpy(copy->src, from.at.lane, sizeof copy->src);
  memcpy(copy->dst, to.at.lane, sizeof copy->dst);
  EACH_LANE(lane, lanes) copy->group[lane] = w->groups->copies[lane].closed;
  EACH_LANE(lane, lanes) {
    launch_lane(m, w, code, lane, &from, &to);
    if (m->async == INTERP_EARLY) land(m, copy, lane);
  }
}

static void run_cp_commit(Machine *m, Warp *w, const Code *code) {
  (void)m;
  (void)code;
  EACH_LANE(lane, w->active) w->groups->copies[lane].closed++;
}

static void arrive_lane(Machine *m, const Warp *w, Copy *copy, uint32_t lane) {
  const Code *code = &m->code->code[copy->code];
  const Memory *dst = &m->memory[code->dst.buffer->id];
  Touch now = touch_of(m, w, code);
  now.thread = thread_of(w, lane);
  if (m->async == INTERP_LATE) land(m, copy, lane);
  for (int j = 0; j < code->dst.width; j++) shadow_arrive(m, dst, copy->dst[lane] + j, &now);
  copy->lanes &= ~(1u << lane);
}

static void run_cp_wait(Machine *m, Warp *w, const Code *code) {
  int kept = 0;
  OrderGroups *groups = w->groups->copies;
  EACH_LANE(lane, w->active) order_groups_wait(&groups[lane], (uint32_t)code->stmt->op.groups);
  for (int i = 0; i < w->n_copies; i++) {
    Copy *copy = &w->copy[i];
    EACH_LANE(lane, copy->lanes & w->active)
    if (order_group_is_over(&groups[lane], copy->group[lane])) arrive_lane(m, w, copy, lane);
    if (!copy->lanes) continue;
    if (kept != i) w->copy[kept] = *copy;
    kept++;
  }
  w->n_copies = kept;
}

// ---- emit ---------------------------------------------------------------------------------------

// cp_async4(slab, at, &from); with a guard and a predicate, which comes last,
// cp_async4_or_zero_if(slab, at, &from, guard, predicate);
static void emit_cp_async(Emitter *emitter, const Op *op) {
  const char *guard = emit_guard_text(emitter, &op->src), *wanted = emitter->predicate;
  PreludeKind kind = wanted ? PRELUDE_CP_ASYNC_IF : PRELUDE_CP_ASYNC;
  if (guard) kind++;  // the kind "or zero" follows its plain one
  Prelude copy = emit_move_of(emitter, kind, op->src.buffer, NULL, op->width);
  copy.l2_bytes = (int)op->l2_bytes;
  const char *name = emit_helper(emitter, copy);
  emitter_line(emitter, "%s(%s, &%s%s%s%s%s);", name, emit_place(emitter, &op->dst),
               emit_element(emitter, &op->src), guard ? ", " : "", guard ? guard : "",
               wanted ? ", " : "", wanted ? wanted : "");
}

static const PreludeText commit = {
    "cp_async_commit",
    "// The copies this thread has issued since the last commit become one group.\n"
    "__device__ __forceinline__ void cp_async_commit() {\n"
    "  asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n"
    "}\n"};
static const PreludeText wait = {
    "cp_async_wait",
    "// Waits until at most `n` of this thread's groups are still in flight.\n"
    "template <int n>\n"
    "__device__ __forceinline__ void cp_async_wait() {\n"
    "  asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(n) : \"memory\");\n"
    "}\n"};

static void emit_cp_wait(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s<%lld>();", emit_given(emitter, &wait), (long long)op->groups);
}

static const char *const copies[ROLE_COUNT] = {[ROLE_SLAB_A] = "start the copy of the slab of %s",
                                               [ROLE_SLAB_B] = "start the copy of the slab of %s",
                                               [ROLE_SLAB_V] = "start the copy of the slab of %s"};

const OpRules rules_CP_ASYNC = {.text = {.write = emit_cp_async, .purposes = copies},
                                {.run = run_cp_async}};
const OpRules rules_CP_COMMIT = {.text = {.call = &commit}, {.run = run_cp_commit}};
const OpRules rules_CP_WAIT = {.text = {.write = emit_cp_wait}, {.run = run_cp_wait}};

// Boxes on their way from shared memory to C by the tensor memory accelerator, in bulk groups.
//
//   tma_store(&C_map, column, row, slab, at);    column and row as the matrix lies in memory
//   bulk_commit();
//   bulk_read<1>();                              the slab of the group before may be written again
//   bulk_wait<0>();                              C is written
//
// All that threads stored into the slab must be fenced (FENCE_ASYNC) and known to the thread that
// sends the box. How they run is interp_bulk.c.
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/ops/ops.h"

// ---- check --------------------------------------------------------------------------------------

static const char *box_fault(Arena *arena, const Program *program, const Code *code) {
  (void)program;
  const Op *op = &code->stmt->op;
  const Buffer *from = op->src.buffer, *to = op->dst.buffer;
  int last = from->rank - 1;
  if (to->rank < 2 || to->rank > BOX_RANK_MAX || last < 1 || op->box[0] < 1 || op->box[1] < 1 ||
      op->box[0] > from->dim[last - 1] || op->box[1] > from->dim[last])
    return arena_printf(arena, "a box of %lld x %lld does not lie in %s", (long long)op->box[0],
                        (long long)op->box[1], from->name);
  bool uniform = operand_is_uniform(&code->src);
  for (int d = 0; d < to->rank; d++) uniform &= value_is_uniform(&code->corner[d]);
  return uniform ? NULL : "all lanes must name the same box, but this differs by lane";
}

// ---- run ----------------------------------------------------------------------------------------

static bool is_inside(Machine *m, const Warp *w, const Code *code) {
  const Memory *src = &m->memory[code->src.buffer->id];
  int64_t first = interp_scalar(w, &code->src.offset);
  int64_t n = code->stmt->op.box[0] * code->stmt->op.box[1];
  bool inside = first >= 0 && first + n <= src->elements;
  for (int i = 0; i < code->src.n_checks && inside; i++) {
    const DimCheck *check = &code->src.check[i];
    int64_t at = interp_scalar(w, &check->value);
    inside = at >= 0 && at < check->limit;
  }
  if (!inside)
    interp_report(m, FINDING_OUT_OF_BOUNDS, w, lowest_lane(w->active), code->stmt, code->src.buffer,
                  first, "copies a box of %lld elements from offset %lld of %lld", (long long)n,
                  (long long)first, (long long)src->elements);
  return inside;
}

static void run_send(Machine *m, Warp *w, const Code *code) {
  if (w->active & (w->active - 1))
    interp_report(m, FINDING_DIVERGENCE, w, lowest_lane(w->active), code->stmt, NULL, 0,
                  "does this together with other threads; one thread must do it alone");
  if (is_inside(m, w, code)) bulk_send(m, w, code);
}

static void run_commit(Machine *m, Warp *w, const Code *code) {
  (void)code;
  bulk_commit(m, w);
}

static void run_read(Machine *m, Warp *w, const Code *code) { bulk_wait(m, w, code, true); }
static void run_wait(Machine *m, Warp *w, const Code *code) { bulk_wait(m, w, code, false); }

// ---- emit ---------------------------------------------------------------------------------------

static void emit_box(Emitter *emitter, const Op *op) {
  const Buffer *to = op->dst.buffer;
  bool adds = op_facts(op->kind)->action == ACTION_ADD;
  const char *name =
      emit_helper(emitter, (Prelude){.kind = adds ? PRELUDE_TMA_ADD : PRELUDE_TMA_STORE,
                                     .type = emit_stored_type(to->type),
                                     .width = to->rank});
  emit_type_name(emitter, to->type);
  emitter_line(emitter, "%s(&%s_map, %s, %s);", name, to->name, emit_corner(emitter, &op->dst),
               emit_place(emitter, &op->src));
}

static const PreludeText commit = {
    "bulk_commit",
    "// The boxes this thread has sent since the last commit become one group.\n"
    "__device__ __forceinline__ void bulk_commit() {\n"
    "  asm volatile(\"cp.async.bulk.commit_group;\" ::: \"memory\");\n"
    "}\n"};
static const PreludeText wait_read = {
    "bulk_read",
    "// Waits until at most `n` of this thread's groups have still to be read.\n"
    "template <int n>\n"
    "__device__ __forceinline__ void bulk_read() {\n"
    "  asm volatile(\"cp.async.bulk.wait_group.read %0;\" ::\"n\"(n) : \"memory\");\n"
    "}\n"};
static const PreludeText wait_written = {
    "bulk_wait",
    "// Waits until at most `n` of this thread's groups are still in flight.\n"
    "template <int n>\n"
    "__device__ __forceinline__ void bulk_wait() {\n"
    "  asm volatile(\"cp.async.bulk.wait_group %0;\" ::\"n\"(n) : \"memory\");\n"
    "}\n"};

static void emit_read(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s<%lld>();", emit_given(emitter, &wait_read), (long long)op->groups);
}

static void emit_wait(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s<%lld>();", emit_given(emitter, &wait_written), (long long)op->groups);
}

static const char *const stores[ROLE_COUNT] = {[ROLE_C] = "send the piece to %s"};
static const char *const adds[ROLE_COUNT] = {[ROLE_C] = "send the piece, which %s is added to"};

static const char *const help_of_store[ROLE_COUNT + 1] = {
    [ROLE_COUNT] =
        "one thread starts it; the tensor memory accelerator reads the slab, undoes its swizzle, "
        "skips cells outside of C, and writes whole lines while the threads go on"};
static const char *const help_of_add[ROLE_COUNT + 1] = {
    [ROLE_COUNT] = "the same for one split's partial sums: L2 adds each element to C"};
static const char *const help_of_commit[ROLE_COUNT + 1] = {
    [ROLE_COUNT] =
        "the boxes sent since the last commit become one group; only this thread can wait for it"};
static const char *const help_of_read[ROLE_COUNT + 1] = {
    [ROLE_COUNT] =
        "waits until the earlier boxes are read out of the slab, which can then be written again; "
        "they may not have reached C yet"};
static const char *const help_of_wait[ROLE_COUNT + 1] = {
    [ROLE_COUNT] = "waits until C is written; a block must not end before its boxes are read"};

const OpRules rules_TMA_STORE = {.text = {.write = emit_box, .purposes = stores},
                                 {.run = run_send, .fault = box_fault},
                                 help_of_store};
const OpRules rules_TMA_ADD = {.text = {.write = emit_box, .purposes = adds},
                               {.run = run_send, .fault = box_fault},
                               help_of_add};
const OpRules rules_BULK_COMMIT = {.text = {.call = &commit}, {.run = run_commit}, help_of_commit};
const OpRules rules_BULK_READ = {.text = {.write = emit_read}, {.run = run_read}, help_of_read};
const OpRules rules_BULK_WAIT = {.text = {.write = emit_wait}, {.run = run_wait}, help_of_wait};

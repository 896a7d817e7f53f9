// Barriers and mbarriers.
//
//   BARRIER         __syncthreads(), __syncwarp() where each warp meets alone, or bar.sync of some
//                   warps
//   BARRIER_ARRIVE  barrier_arrive<256>(14);
//   MBAR_WAIT       mbarrier_wait(full, slot, phase);
#include "model/ir/stmt.h"
#include "model/ops/ops.h"
#include "model/ops/tcgen05_text.h"

// ---- check --------------------------------------------------------------------------------------

static const char *barrier_fault(Arena *arena, const Program *program, const Code *code) {
  (void)program;
  const Op *op = &code->stmt->op;
  if (op->id && (op->id->lo < 0 || op->id->hi >= BLOCK_BARRIERS))
    return arena_printf(arena, "a block has barriers 0 to %d", BLOCK_BARRIERS - 1);
  if (op->threads % LANES == 0) return NULL;
  return arena_printf(arena, "a barrier of %lld threads: only whole warps can meet",
                      (long long)op->threads);
}

static const char *arrive_fault(Arena *arena, const Program *program, const Code *code) {
  if (code->stmt->op.threads <= 0) return "an arrival at a barrier says how many threads it awaits";
  return barrier_fault(arena, program, code);
}

static const char *init_fault(Arena *arena, const Program *program, const Code *code) {
  const char *fault = mbar_place_fault(arena, program, code);
  if (fault || code->stmt->op.arrivals >= 1) return fault;
  return "an mbarrier must expect at least one arrival";
}

static const char *wait_fault(Arena *arena, const Program *program, const Code *code) {
  const char *fault = mbar_place_fault(arena, program, code);
  if (fault || code->stmt->op.phase) return fault;
  return "wait for an mbarrier has no phase bit";
}

// ---- run ----------------------------------------------------------------------------------------

// The number is one for the whole warp, whatever it is computed from.
static int number_of_barrier(Machine *m, const Warp *w, const Code *code) {
  if (!code->stmt->op.id) return 0;
  Lanes number;
  interp_lanes(w, &code->value, &number);
  int first = number.lane[lowest_lane(w->active)];
  EACH_LANE(lane, w->active) {
    if (number.lane[lane] == first) continue;
    interp_report(m, FINDING_DIVERGENCE, w, (int)lane, code->stmt, NULL, 0,
                  "waits at barrier %d, but another lane of its warp waits at %d",
                  number.lane[lane], first);
    break;
  }
  return first;
}

static void run_barrier(Machine *m, Warp *w, const Code *code) {
  uint32_t missing = w->alive & ~w->active;
  if (missing)
    interp_report(m, FINDING_DIVERGENCE, w, lowest_lane(w->active), code->stmt, NULL, 0,
                  "reaches a barrier, but lane %d of its warp does not", lowest_lane(missing));
  w->barrier = number_of_barrier(m, w, code);
  w->state = WARP_AT_BARRIER;
  interp_meet_passed(m, w);
}

static void run_barrier_arrive(Machine *m, Warp *w, const Code *code) {
  uint32_t missing = w->alive & ~w->active;
  if (missing)
    interp_report(m, FINDING_DIVERGENCE, w, lowest_lane(w->active), code->stmt, NULL, 0,
                  "arrives at a barrier for its warp, but lane %d is not there",
                  lowest_lane(missing));
  interp_pass(m, w, number_of_barrier(m, w, code), code->stmt->op.threads);
}

static void run_grid_wait(Machine *m, Warp *w, const Code *code) {
  (void)code;
  if (w->active == w->alive) w->is_early = m->is_early = false;
}

static void run_cluster_barrier(Machine *m, Warp *w, const Code *code) {
  run_barrier(m, w, code);
  w->barrier = INTERP_CLUSTER_BARRIER;
}

static void run_mbar_init(Machine *m, Warp *w, const Code *code) {
  Mbar *bar = mbar_of(m, w, code, &code->dst);
  if (!bar) return;
  mbar_check_alone(m, w, code);
  if (bar->init.epoch >= m->block_first)
    mbar_report(m, w, code, FINDING_RACE, "initialises an mbarrier that is in use already");
  Touch init = touch_of(m, w, code);
  init.thread = thread_of(w, (uint32_t)lowest_lane(w->active));
  mbar_start(m, bar, code->stmt->op.arrivals, init);
}

static void run_mbar_fence(Machine *m, Warp *w, const Code *code) {
  mbar_check_alone(m, w, code);
  EACH_LANE(lane, w->active) mbar_release_inits(m, thread_of(w, lane));
}

// One thread arrives: of its own warp's other lanes it can say nothing.
static void run_mbar_expect(Machine *m, Warp *w, const Code *code) {
  Mbar *bar = mbar_ready(m, w, code, &code->dst);
  if (!bar) return;
  mbar_check_alone(m, w, code);
  uint16_t thread = thread_of(w, (uint32_t)lowest_lane(w->active));
  uint32_t *others = interp_copy_clock(m, interp_clock(m, thread));
  order_forget(m->order, others, w->index);
  order_fact(m->order, others, ORDER_PASSED)[w->index] = ++m->epoch;
  order_join(m->order, order_mbar_gathered(bar->order), others);
  bar->order->phases.bytes += code->stmt->op.bytes;
  mbar_arrive(m, w, code, bar);
}

// At the mbarrier of the block at hand.
static void arrive_here(Machine *m, const Warp *w, const Code *code, uint32_t *clock) {
  Mbar *bar = mbar_ready(m, w, code, &code->dst);
  if (!bar) return;
  order_tell(m->order, order_mbar_gathered(bar->order), clock, w->index, ++m->epoch);
  mbar_arrive(m, w, code, bar);
}

static void run_mbar_arrive(Machine *m, Warp *w, const Code *code) {
  uint32_t missing = w->alive & ~w->active;
  if (missing)
    mbar_report(m, w, code, FINDING_DIVERGENCE, "arrives for a warp while lanes are missing");
  uint32_t *clock = interp_clock_of_warp(m, w->index);
  EACH_RANK(rank, interp_ranks(m, w, code)) {
    interp_at_rank(m, (int)rank);
    interp_reach_rank(m, w, code, (int)rank);
    arrive_here(m, w, code, clock);
  }
  interp_at_rank(m, w->rank);
}

static bool phase_ended(const Warp *w, const Code *code, const Mbar *bar) {
  return order_phases_passes(&bar->order->phases, (uint32_t)interp_scalar(w, &code->value));
}

// A warp that has to wait stands before the statement and comes back to it.
static void run_mbar_wait(Machine *m, Warp *w, const Code *code) {
  Mbar *bar = mbar_ready(m, w, code, &code->dst);
  if (!bar) return;
  if (phase_ended(w, code, bar)) {
    const OrderWait wait = {m->epoch, (uint32_t)(code - m->code->code)};
    order_mbar_wait(m->order, bar->order, w->index, wait);
    interp_learn(m, w, order_mbar_ended(m->order, bar->order));
    return;
  }
  w->state = WARP_ASLEEP;
  w->pc--;
  m->lanes[OP_MBAR_WAIT] -= __builtin_popcount(w->active);
}

static const Mbar *awaited(const Machine *m, const Warp *w, const Code *code) {
  const Operand *dst = &code->dst;
  return &m->memory[dst->buffer->id].mbar[interp_scalar(w, &dst->offset)];
}

static bool wait_may_go_on(const Machine *m, const Warp *w, const Code *code) {
  return phase_ended(w, code, awaited(m, w, code));
}

// All that sleep at the same statement before the same mbarrier, for the same bit.
static const char *sleepers(const Machine *m, const Warp *w, const Code *code, bool *many) {
  bool named[INTERP_WARPS_MAX] = {false};
  int n = 0;
  for (int i = 0; i < m->n_warps; i++) {
    const Warp *other = &m->warp[i];
    named[i] = other->state == WARP_ASLEEP && other->pc == w->pc && other->rank == w->rank &&
               awaited(m, other, code) == awaited(m, w, code) &&
               interp_scalar(other, &code->value) == interp_scalar(w, &code->value);
    n += named[i];
  }
  *many = n > 1;
  return interp_name_warps(m, named);
}

static void report_wait(Machine *m, const Warp *w, const Code *code) {
  const OrderPhases *bar = &awaited(m, w, code)->order->phases;
  const Operand *dst = &code->dst;
  bool many;
  const char *who = sleepers(m, w, code, &many);
  interp_report(m, FINDING_DEADLOCK, w, -1, code->stmt, dst->buffer, interp_scalar(w, &dst->offset),
                "%s wait%s for a phase of bit %lld to end; %s", who, many ? "" : "s",
                (long long)interp_scalar(w, &code->value), order_phases_text(m->arena, bar));
}

// ---- emit ---------------------------------------------------------------------------------------

static const PreludeText barrier_of = {
    "barrier_of",
    "// Barrier `id` of the block, at which n threads meet.\n"
    "template <int n>\n"
    "__device__ __forceinline__ void barrier_of(int id) {\n"
    "  asm volatile(\"bar.sync %0, %1;\" ::\"r\"(id), \"n\"(n) : \"memory\");\n}\n"};

static void emit_barrier(Emitter *emitter, const Op *op) {
  bool by_warp = op->threads == LANES && !op->id;
  if (op->threads == 0 || by_warp)
    emitter_line(emitter, by_warp ? "__syncwarp();" : "__syncthreads();");
  else
    emitter_line(emitter, "%s<%lld>(%s);", emit_given(emitter, &barrier_of), (long long)op->threads,
                 op->id ? emit_condition(emitter, op->id) : "0");
  if (op->threads == 0) tcgen05_emit_met(emitter);
}

static const PreludeText arrive_at_barrier = {
    "barrier_arrive",
    "// Barrier `id` of the block awaits n threads: this warp is there, and goes on.\n"
    "template <int n>\n"
    "__device__ __forceinline__ void barrier_arrive(int id) {\n"
    "  asm volatile(\"bar.arrive %0, %1;\" ::\"r\"(id), \"n\"(n) : \"memory\");\n}\n"};

static void emit_barrier_arrive(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s<%lld>(%s);", emit_given(emitter, &arrive_at_barrier),
               (long long)op->threads, op->id ? emit_condition(emitter, op->id) : "0");
}

static const PreludeText cluster_barrier = {
    "cluster_barrier",
    "// Every thread of the cluster arrives before any goes on, and knows what the others have "
    "done.\n"
    "__device__ __forceinline__ void cluster_barrier() {\n"
    "  asm volatile(\"barrier.cluster.arrive.release;\\n\"\n"
    "               \"barrier.cluster.wait.acquire;\" ::: \"memory\");\n}\n"};

// The plain form, as CUTLASS and DeepGEMM write it. Its scope is .cta (PTX ISA 9.0,
// mbarrier.arrive: "the set of threads that directly observe the memory synchronizing effect"), and
// those that wait are of another block: by the letter it is .release.cluster here, .acquire.cluster
// at the wait. For sm_90a and sm_100a ptxas 13.0 makes MEMBAR.ALL.GPU of the first, which waits for
// all writes of the thread, and CCTL.IVALL behind the second. Nothing that was written is handed on
// here: reads are over, and the fence in front of the arrival, or the wait for products, says so.
static const PreludeText arrive_at = {
    "mbarrier_arrive_at",
    "// One arrival for the whole warp at the mbarrier of each block in the mask: lane r's at rank "
    "r.\n"
    "__device__ __forceinline__ void mbarrier_arrive_at(unsigned long long *bars, int i, int mask) "
    "{\n"
    "  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(bars)) + 8 * i;\n"
    "  const int rank = threadIdx.x % 32;\n"
    "  __syncwarp();\n"
    "  if (mask >> rank & 1)\n"
    "    asm volatile(\"{ .reg .b32 there;\\n\"\n"
    "                 \"mapa.shared::cluster.u32 there, %0, %1;\\n\"\n"
    "                 \"mbarrier.arrive.shared::cluster.b64 _, [there]; }\"\n"
    "                 :: \"r\"(bar), \"r\"(rank) : \"memory\");\n}\n"};

static void emit_cluster_barrier(Emitter *emitter, const Op *op) {
  (void)op;
  emitter_line(emitter, "%s();", emit_given(emitter, &cluster_barrier));
  tcgen05_emit_met(emitter);
}

// mbarrier_expect(full, slot, 49152);
static void emit_mbarrier(Emitter *emitter, const Op *op, PreludeKind kind, const char *last) {
  emitter_line(emitter, "%s(%s%s);", emit_helper(emitter, (Prelude){.kind = kind}),
               emit_place(emitter, &op->dst), last);
}

static const char *number_text(const Emitter *emitter, int64_t number) {
  return arena_printf(emitter->arena, ", %lld", (long long)number);
}

static void emit_mbar_init(Emitter *emitter, const Op *op) {
  emit_mbarrier(emitter, op, PRELUDE_MBARRIER_INIT, number_text(emitter, op->arrivals));
}

// A release of the initialisations alone, at cluster scope: "the synchronizing effect of the fence
// only applies to the prior mbarrier.init operations executed by the same thread" (PTX ISA 9.0,
// membar/fence, .op_restrict). A thread that meets this thread acquires it.
static const PreludeText fence_inits = {
    "fence_mbarrier_init",
    "// The mbarriers that this thread has initialised are so for all of the cluster, once it has "
    "met.\n"
    "__device__ __forceinline__ void fence_mbarrier_init() {\n"
    "  asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n}\n"};

// "griddepcontrol.wait causes the executing thread to wait until all prerequisite grids in flight
// have completed and all the memory operations from the prerequisite grids are performed and made
// visible to the current grid" (PTX ISA 9.0, griddepcontrol).
static const PreludeText grid_wait = {
    "wait_for_kernel_before",
    "// The kernel launched in front of this one has ended, and what it wrote can be read.\n"
    "__device__ __forceinline__ void wait_for_kernel_before() {\n"
    "  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n}\n"};

static void emit_mbar_expect(Emitter *emitter, const Op *op) {
  emit_mbarrier(emitter, op, PRELUDE_MBARRIER_EXPECT, number_text(emitter, op->bytes));
}

static void emit_mbar_arrive(Emitter *emitter, const Op *op) {
  if (op->ranks)
    emitter_line(emitter, "%s(%s, %s);", emit_given(emitter, &arrive_at),
                 emit_place(emitter, &op->dst), emit_condition(emitter, op->ranks));
  else
    emit_mbarrier(emitter, op, PRELUDE_MBARRIER_ARRIVE, "");
}

static void emit_mbar_wait(Emitter *emitter, const Op *op) {
  const char *phase = arena_printf(emitter->arena, ", %s", emit_condition(emitter, op->phase));
  emit_mbarrier(emitter, op, PRELUDE_MBARRIER_WAIT, phase);
}

static const char *const arrivals[ROLE_COUNT] = {
    [ROLE_EMPTY] = "the warp has read the slot to the end",
    [ROLE_ACC_EMPTY] = "the warp has read its part of the accumulators",
    [ROLE_ORDER] = "the tile's products are issued: the consumer of the next tile can begin"};
static const char *const waits[ROLE_COUNT] = {
    [ROLE_FULL] = "the slab's bytes have arrived",
    [ROLE_EMPTY] = "every consumer has left the slot",
    [ROLE_ACC_FULL] = "the accumulators are complete",
    [ROLE_ACC_EMPTY] = "the accumulators have been read",
    [ROLE_ORDER] = "the other consumer has multiplied the tile before"};

static const char *const help_of_init[ROLE_COUNT + 1] = {
    [ROLE_FULL] =
        "phase 0 begins; a phase ends after one arrival and all the bytes that it announced",
    [ROLE_EMPTY] = "phase 0 begins; a phase ends when every consumer warp has arrived",
    [ROLE_ORDER] =
        "phase 0 begins, for the consumer's first tile; a phase ends when all warps of that "
        "consumer have arrived"};
static const char *const help_of_expect[ROLE_COUNT + 1] = {
    [ROLE_FULL] =
        "one arrival; the phase does not end before these bytes have arrived, zeros at edges "
        "included"};
static const char *const help_of_arrive[ROLE_COUNT + 1] = {
    [ROLE_EMPTY] =
        "this warp has read the slot to the end; after the last warp's arrival the producer fills "
        "it again",
    [ROLE_ORDER] =
        "this warp has issued all products of its tile; after the last warp's arrival the other "
        "consumer begins the next tile"};
static const char *const help_of_wait[ROLE_COUNT + 1] = {
    [ROLE_FULL] =
        "wait until the slab's bytes have arrived; the first slab of a slot ends phase 0, the next "
        "phase 1, then 0 again",
    [ROLE_EMPTY] =
        "wait until every consumer warp has read the slot to the end; in the first turn of the "
        "ring slots are free",
    [ROLE_ORDER] =
        "wait until the other consumer has issued all products of the tile before; the first tile "
        "does not wait"};

const OpRules rules_GRID_WAIT = {.text = {.call = &grid_wait}, {.run = run_grid_wait}};
const OpRules rules_BARRIER = {.text = {.write = emit_barrier},
                               {.run = run_barrier, .fault = barrier_fault}};
const OpRules rules_BARRIER_ARRIVE = {.text = {.write = emit_barrier_arrive},
                                      {.run = run_barrier_arrive, .fault = arrive_fault}};
const OpRules rules_CLUSTER_BARRIER = {.text = {.write = emit_cluster_barrier},
                                       {.run = run_cluster_barrier}};
const OpRules rules_MBAR_INIT = {
    .text = {.write = emit_mbar_init}, {.run = run_mbar_init, .fault = init_fault}, help_of_init};
const OpRules rules_MBAR_FENCE = {.text = {.call = &fence_inits}, {.run = run_mbar_fence}};
const OpRules rules_MBAR_EXPECT = {.text = {.write = emit_mbar_expect},
                                   {.run = run_mbar_expect, .fault = mbar_place_fault},
                                   help_of_expect};
const OpRules rules_MBAR_ARRIVE = {.text = {.write = emit_mbar_arrive, .purposes = arrivals},
                                   {.run = run_mbar_arrive, .fault = mbar_place_fault},
                                   help_of_arrive};
const OpRules rules_MBAR_WAIT = {.text = {.write = emit_mbar_wait, .purposes = waits},
                                 {.run = run_mbar_wait,
                                  .fault = wait_fault,
                                  .may_go_on = wait_may_go_on,
                                  .report_stuck = report_wait},
                                 help_of_wait};

// The resources that one block needs, and the number of blocks that an SM holds.
//
// The registers of a thread are an estimate until the compiler has spoken: accumulators, both
// fragments, staging registers that live through the multiplies, and a fixed allowance for
// addresses and counters. Worked example, 8 × 8 cells with prefetch: 64 + 16 + 16 + 28 = 124.
//
// Fused attention holds the sums of both products and the fragments of a step of either. Worked
// example, 64 queries in four warps, 64 keys, dimension 128, m16n8k16: 64 of O, 32 of S, 4 of Q or
// P beside 32 of V, and the allowance are 160. NVRTC 13.0 for sm_90a takes 156 to 168 for the five
// rungs of that shape, and of the ladder's other shapes 128 where this has 144 (32 keys), 222 where
// it has 192 (128 keys), 249 where it has 228 (128 queries, 32 keys), and 255, the most there is,
// where it has 260.
//
// With warp roles every thread of the block starts with the same share of the file, and setmaxnreg
// moves registers inside the block's allocation: blocks per SM follow from the start, 384 threads
// of 168 each, whatever 40 and 232 it is turned into.
//
// Limits follow the CUDA occupancy calculation: registers are given out per warp in units, shared
// memory per block in units with the system's share added.
#include <stdio.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/ir/tensor_use.h"
#include "model/readings/cost/occupancy.h"
#include "model/readings/derive.h"

enum { REGISTERS_FOR_ADDRESSES = 28, REGISTER_BYTES = 4 };

static int64_t registers_of_elements(const Atom *atom, int64_t elements, int bits) {
  return elements * bits / (8 * REGISTER_BYTES * (int64_t)atom_lanes(atom));
}

int64_t attention_sums(const AttentionPart *part) {
  const Atom *atom = part->atom;
  return registers_of_elements(atom, part->rows * (part->dim + part->keys), atom->acc_bits);
}

int64_t attention_fragments(const AttentionPart *part) {
  const Atom *atom = part->atom;
  if (atom_reads_tiles(atom)) return 0;
  const int64_t widest = part->keys > part->dim ? part->keys : part->dim;
  const int64_t step = (part->rows + widest) * atom->k;
  const int64_t queries = part->keeps_queries ? part->rows * part->dim : 0;
  return registers_of_elements(atom, step + queries, atom->bits);
}

// False where the products do not share a kernel.
static bool find_part(const Program *program, AttentionPart *part) {
  const Product *scores = &program->product[0];
  Stmt *walk = program_slab_loop(program);
  if (program->n_products < 2 || !scores->atom || program->n_kernels > 1 || !walk) return false;
  *part = (AttentionPart){.atom = scores->atom,
                          .rows = axis_register_part(scores->axis[AXIS_M]),
                          .keys = axis_register_part(scores->axis[AXIS_N]),
                          .dim = program->problem.k,
                          .keeps_queries = !stmt_find_read(scores, ATOM_A, &walk->body)};
  return true;
}

static void add_attention(const Program *program, Resources *r) {
  AttentionPart part;
  if (!find_part(program, &part)) return;
  r->n_accumulators = (int)attention_sums(&part);
  r->n_fragments = (int)attention_fragments(&part);
}

static int estimate_registers(const Resources *r, bool prefetch) {
  int busy = prefetch                        ? r->n_fragments + r->n_staging
             : r->n_fragments > r->n_staging ? r->n_fragments
                                             : r->n_staging;
  return r->n_accumulators + busy + REGISTERS_FOR_ADDRESSES;
}

typedef struct Limit {
  const char *name;
  int64_t blocks;
} Limit;

// Several limits may allow the same number of blocks: each of them keeps one more off the SM.
static void take_smallest(Resources *r, const Limit limit[RESOURCE_LIMITS]) {
  int64_t least = limit[0].blocks;
  for (int i = 1; i < RESOURCE_LIMITS; i++) least = min64(least, limit[i].blocks);
  int n = 0;
  for (int i = 0; i < RESOURCE_LIMITS; i++)
    if (limit[i].blocks == least) r->limiters[n++] = limit[i].name;
  r->limiters[n] = NULL;
  r->limiter = r->limiters[0];
  r->blocks_per_sm = (int)least;
}

const char *resources_limiters(char out[LIMITERS_BYTES], const Resources *r) {
  int length = 0;
  for (int i = 0; r->limiters[i]; i++) {
    const char *joint = i == 0 ? "" : r->limiters[i + 1] ? ", " : " and ";
    length +=
        snprintf(out + length, (size_t)(LIMITERS_BYTES - length), "%s%s", joint, r->limiters[i]);
  }
  return out;
}

static void limit_blocks(Resources *r, int min_blocks, const Target *t) {
  int64_t warps = round_up(r->n_warps, t->warp_alloc_unit);
  int each = r->n_registers < t->max_regs_per_thread ? r->n_registers : t->max_regs_per_thread;
  // __launch_bounds__ makes the compiler fit that many blocks, by spilling if it must.
  int64_t fit = t->regs_per_sm / (warps * LANES * (min_blocks ? min_blocks : 1));
  if (each > fit) each = (int)fit;
  int64_t warp_registers = occupancy_warp_registers(t, each);
  if (warp_registers * warps > t->regs_per_sm) warp_registers = t->regs_per_sm / warps;
  // Whether a block fits at all is checked as if it had the same warps in every part of the SM. The
  // number of blocks goes by the warps it has, and each part gives its share of the registers to
  // whole warps.
  const int threads = (int)r->n_threads;
  const int64_t columns = r->tensor_columns;
  // Blocks of clusters are fewer on an SM than others where that is known.
  const bool of_clusters = r->n_cluster > 1 && target_knows(t->cluster_blocks_per_sm);
  const Limit limit[RESOURCE_LIMITS] = {
      {"registers", warp_registers ? occupancy_by_registers(t, warp_registers, threads) : 0},
      {"shared memory", occupancy_by_smem(t, r->smem_bytes)},
      {"tensor memory", columns ? TENSOR_COLUMNS / columns : INT32_MAX},
      {"threads", occupancy_by_warps(t, threads)},
      {of_clusters ? "clusters" : "blocks",
       of_clusters ? (int64_t)t->cluster_blocks_per_sm : t->max_blocks_per_sm},
      {"grid", ceil_div(r->n_blocks, t->sm_count)}};
  take_smallest(r, limit);
}

// Blocks per SM, their limiter, occupancy and waves, from everything else of `r`.
static void derive_fit(Resources *r, int min_blocks, const Target *target) {
  limit_blocks(r, min_blocks, target);
  const int blocks = r->blocks_per_sm;
  int64_t warps = r->n_warps * blocks;
  r->occupancy = (double)warps / target->max_warps_per_sm;
  r->waves = 0;
  if (blocks > 0) r->waves = (double)r->n_blocks / ((double)blocks * target->sm_count);
}

static int64_t registers_of(const Kernel *kernel, RoleWork work) {
  const WarpRole *role = kernel_role(kernel, work);
  return role ? role->registers : 0;
}

// Tells what a block leaves a thread, min_blocks of them being resident: whole
// warps in each part of the SM, in steps of 8. Worked example, 13 blocks of one warp: 16 warps'
// room, 128.
static int registers_left(const Resources *r, int min_blocks, const Target *t) {
  enum { STEP = 8 };
  const int64_t warps = round_up(r->n_warps * (min_blocks ? min_blocks : 1), t->warp_alloc_unit);
  const int64_t left = t->regs_per_sm / (warps * LANES);
  return (int)min64(t->max_regs_per_thread, left - left % STEP);
}

// Fragments of more than two k-steps are read where they are wanted, whatever order the text has.
static int fragments_kept(const Program *program) {
  static const BufferRole roles[] = {ROLE_FRAG_A, ROLE_FRAG_B};
  int kept = 0;
  for (int i = 0; i < 2; i++) {
    const Buffer *buffer = program_buffer(program, roles[i]);
    const int sets = buffer && buffer->rank > 2 ? (int)buffer->dim[0] : 1;
    kept += program_registers(program, roles[i]) / (sets > 2 ? sets : 1);
  }
  return kept;
}

// The compiler computes some addresses anew before it spills. Where no launch bounds give the
// number of blocks and the sums alone need nearly all that one block leaves a thread, ptxas 13.0
// gives it 32 registers and spills the rest: 320 threads that need 242 of 200 get 32 and spill 848,
// with a bound of one block they get 168 and spill 124.
static int spilled(const Program *program, const Resources *r, const Target *target) {
  enum { COMPUTED_ANEW = 20, BESIDE_SUMS = 12, GIVEN_UP = 32 };
  const int min_blocks = program_main(program)->min_blocks;
  const int left = registers_left(r, min_blocks, target);
  int kept = r->n_needed - COMPUTED_ANEW;
  if (program->n_products == 1) kept -= r->n_fragments - fragments_kept(program);
  if (r->consumer_registers || kept <= left) return 0;
  const bool bound = min_blocks || left == target->max_regs_per_thread;
  return kept - (!bound && r->n_accumulators + BESIDE_SUMS > left ? GIVEN_UP : left);
}

typedef struct Held {
  bool multiplied, held;
} Held;

static void look_for_store(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Held *held = context;
  if (stmt->kind != STMT_OP) return;
  const Buffer *from = stmt->op.src.buffer;
  held->multiplied |= op_multiplies(stmt->op.kind);
  held->held |= held->multiplied && from && buffer_is_staging(from);
}

// Whether a slab waits in registers while the one before it is multiplied: it is stored afterwards.
static bool holds_staging(const Program *program) {
  Held held = {false, false};
  Stmt *slabs = program_slab_loop(program);
  if (slabs) stmt_walk(slabs->body, look_for_store, &held);
  return held.held;
}

Resources derive_resources(const Program *program, const Target *target) {
  const Kernel *kernel = program_main(program);
  Launch launch = kernel_launch(kernel);
  Resources r = {
      .smem_bytes = program_smem_bytes(program),
      .tensor_columns = kernel_tensor_columns(kernel),
      .n_accumulators = program_registers(program, ROLE_ACC),
      .n_fragments =
          program_registers(program, ROLE_FRAG_A) + program_registers(program, ROLE_FRAG_B) +
          program_registers(program, ROLE_FRAG_SFA) + program_registers(program, ROLE_FRAG_SFB),
      .n_staging =
          program_registers(program, ROLE_STAGE_A) + program_registers(program, ROLE_STAGE_B),
      .n_blocks = launch.n_blocks,
      .n_cluster = launch.cluster,
      .n_threads = launch.block_threads,
      .n_warps = launch_block_warps(&launch),
      .n_consumers = launch_warps(&launch)};
  add_attention(program, &r);
  r.producer_registers = registers_of(kernel, WORK_FETCHES);
  r.consumer_registers = registers_of(kernel, WORK_MULTIPLIES);
  r.n_needed = estimate_registers(&r, holds_staging(program));
  r.n_registers = r.consumer_registers
                      ? (int)program_start_registers(r.n_threads, kernel->min_blocks)
                      : r.n_needed;
  r.n_spilled = spilled(program, &r, target);
  derive_fit(&r, kernel->min_blocks, target);
  return r;
}

// The compiler's count replaces the estimate: launch bounds have had their say in it already. Of
// roles whose registers setmaxnreg moves the report is one for all, so it is not said whose loop
// spills: mostly none.
Resources resources_with_registers(const Resources *estimate, const Target *target, int registers,
                                   int spill_bytes) {
  Resources r = *estimate;
  r.n_registers = registers;
  r.counted = true;
  if (spill_bytes >= 0 && !r.consumer_registers) {
    r.n_spilled = spill_bytes / REGISTER_BYTES;
    r.spills_counted = true;
  }
  derive_fit(&r, 0, target);
  return r;
}

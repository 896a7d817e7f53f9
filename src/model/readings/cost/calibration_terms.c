// A model → the terms of the calibrated roofline, by way of a basis that can still be told what the
// compiler said.
//
// A compiler's answer changes three things: the resident blocks, which share what a block
// waits for; what is spilled; and the loads under way together. Its machine code, where it
// is read, gives the latter two itself, and the number of instructions.
//
// Spills, worked example, ptxas 13.0: a kernel of attention that needs 114 registers gets 32 by its
// launch bounds; its code stores 325 words and loads 275 in each block of keys. 16 warps, 512
// blocks of keys, two blocks of queries for each SM: 9.8 million lines. What lies there is 1.2 MB
// of an SM, more than L1 has room for: 4 clocks a line that L2 has, 7 what only DRAM has.
//
// Loads of fragments straight from global memory: no more than stand together in as many k-steps as
// the compiler unrolls, and no more than the registers beside the sums hold. Worked example, a warp
// with 80 registers, 40 of them sums, that loads 20 values of B a step: 15 at a time, so 683 waits
// in 512 steps, where one wait in four steps would be 128.
#include <math.h>

#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/readings/cost/calibration.h"
#include "model/readings/derive.h"

static double positive(double value) { return value > 0 ? value : 0; }

static CalibrationFactor pipe_of(const Atom *atom) {
  if (!atom) return CALIBRATION_FMA;
  return atom_is_of_warp(atom) ? CALIBRATION_MMA : CALIBRATION_WGMMA;
}

// Families of one product stand first, in the order of the pipes.
static CalibrationFamily family_of(const Model *model, CalibrationFactor pipe) {
  const int at = (int)pipe - CALIBRATION_FMA;
  const bool one = model->program->n_products == 1;
  return (CalibrationFamily)(one ? at : CALIBRATION_FAMILY_ATTENTION_FMA + at);
}

// 32-bit registers of a lane that A of one atom takes: 4 of m16n8k16 of 16 bits, 2 of m16n8k8.
static double loads_of_atom(const Atom *atom) {
  return (double)(atom->m * atom->k * atom->bits) / (32.0 * atom_lanes(atom));
}

static void add_sites(const Model *model, CalibrationBasis *out) {
  for (int i = 0; i < model->n_sites; i++) {
    out->warp_accesses += model->site[i].executions;
    if (!model->site[i].op->counted) out->copied += model->site[i].profiled;
  }
}

// Fragments straight from global memory, of a tile of `rows` rows, where K runs along its lines:
// a step takes less than a sector of each, and the next step the rest, if L1 still has it.
static void add_along_k(const Model *model, double rows, double row_bytes, CalibrationBasis *out) {
  const Atom *atom = program_atom(model->program);
  const double step_bytes =
      (atom ? atom->k : 1) * dtype_bytes(problem_operand_type(&model->program->problem));
  out->step_lines += rows;
  out->again_bytes += rows * row_bytes * positive(SECTOR_BYTES / step_bytes - 1);
}

// Where it runs across them: rows of the tile that are not whole sectors wide bring a neighbour's
// along. Worked example, B of bf16 row by row, tiles of 8 columns: 16 bytes of each row are of use,
// 32 come.
static void add_across_k(double width_bytes, double depth, CalibrationBasis *out) {
  out->wasted_bytes += (ceil(width_bytes / SECTOR_BYTES) * SECTOR_BYTES - width_bytes) * depth;
}

static void add_direct(const Model *model, const GlobalSite *site, CalibrationBasis *out) {
  const Program *p = model->program;
  const ProductOperand *operand = p->product[0].operand;
  const bool is_a = site->matrix->role == operand[ATOM_A].global;
  const bool is_b = site->matrix->role == operand[ATOM_B].global;
  if (site->is_store || !site->by_l1 || p->n_products > 1 || !(is_a || is_b)) return;
  const double m = (double)axis_tile(&p->axis[AXIS_M]), n = (double)axis_tile(&p->axis[AXIS_N]);
  const double depth = model->traffic.slabs * model->traffic.slab_fma / (m * n);
  const double rows = is_a ? m : n, bytes = dtype_bytes(site->matrix->type);
  const bool along_k = p->product[0].operand[is_a ? ATOM_A : ATOM_B].column_major != is_a;
  if (along_k)
    add_along_k(model, rows, depth * bytes, out);
  else
    add_across_k(rows * bytes, depth, out);
}

static void add_global(const Model *model, CalibrationBasis *out) {
  for (int i = 0; i < model->global.n; i++) {
    const GlobalSite *site = &model->global.site[i];
    out->requests += site->requests;
    out->stored_sectors += site->is_store ? site->sectors : 0;
    const bool loads = site->count.wavefronts > 0;
    if (loads && site->by_l1) out->loaded_lines += site->lines;
    if (!(loads && site->in_loop)) out->other_clocks += site->clocks;
    add_direct(model, site, out);
  }
}

CalibrationBasis calibration_basis(const Model *model) {
  const Atom *atom = program_atom(model->program);
  const CalibrationFactor pipe = pipe_of(atom);
  CalibrationBasis out = {.target = model->target,
                          .resources = model->resources,
                          .traffic = model->traffic,
                          .waits = model->waits,
                          .family = family_of(model, pipe),
                          .pipe = pipe,
                          .atom_loads = atom ? loads_of_atom(atom) : 1,
                          .atom_warps = atom ? atom_warps(atom) : 1,
                          .multiply_fma = atom ? (double)(atom->m * atom->n * atom->k) : LANES,
                          .main_kernel = model->program->main_kernel,
                          .staged = program_slab_loop(model->program) != NULL,
                          .wasted_bytes = model->waits.box_waste};
  add_sites(model, &out);
  add_global(model, &out);
  return out;
}

void calibration_count(CalibrationBasis *basis, const CompiledKernel *said) {
  if (said->registers <= 0) return;
  basis->code = said->code;
  basis->resources = resources_with_registers(&basis->resources, basis->target, said->registers,
                                              said->spill_bytes);
}

// ---- the code -----------------------------------------------------------------------------------

// Holds what one warp that multiplies executes of a tile.
typedef struct Executed {
  double instructions, spills, near_clocks, far_clocks;
} Executed;

static Executed turns_of(const CompiledLoop *inner, double in, const CompiledLoop *outer,
                         double out) {
  return (Executed){in * inner->instructions + out * outer->instructions,
                    in * inner->spills + out * outer->spills,
                    in * inner->near_clocks + out * outer->near_clocks,
                    in * inner->far_clocks + out * outer->far_clocks};
}

// The loop around the one that multiplies is that of the slabs where a slab is several turns of the
// inner one; else it is one of tiles, and the inner one that of the slabs. Worked example, fp32, 16
// k-steps a slab, 64 FFMA each: an inner loop of 256 FFMA is 4 turns for each turn of the outer
// one; one of 1024 FFMA or more is the slabs' own, for a loop of one turn is none.
static Executed execute(const CalibrationBasis *b, double slabs) {
  static const double several = 1.5;
  const CompiledLoop *inner = &b->code.inner, *outer = &b->code.outer;
  const double of_slab =
      b->traffic.slab_fma / b->multiply_fma / fmax(1, (double)b->resources.n_consumers);
  const double turns = (of_slab - outer->multiplies) / inner->multiplies;
  if (turns < several) return turns_of(inner, slabs * of_slab / inner->multiplies, outer, 1);
  return turns_of(inner, slabs * turns, outer, outer->instructions > 0 ? slabs : 0);
}

// ---- the launch ---------------------------------------------------------------------------------

// The pipe of shared memory is L1's too; what a block takes of either, in clocks, has a factor of
// its own. Without slabs it is L1's alone.
typedef struct Pipe {
  double global, shared;
} Pipe;

static Pipe pipe_of_block(const CalibrationBasis *b, double slabs) {
  const Traffic *t = &b->traffic;
  const double shared = b->staged ? positive(t->shared_clocks - t->loaded_clocks) : 0;
  return (Pipe){b->other_clocks + t->loaded_clocks * slabs, shared * slabs};
}

// Tells what the slabs of the resident blocks leave of the SM's data cache.
static double l1_left(const CalibrationBasis *b, double resident) {
  const Target *gpu = b->target;
  const double slabs = (double)(b->resources.smem_bytes + gpu->smem_reserved_per_block) * resident;
  return gpu->unified_per_sm - fmin(slabs, gpu->smem_per_sm);
}

// Holds what several terms are made of.
typedef struct Launched {
  double ns;      // of a clock
  double rounds;  // blocks that one SM has, one after the other or together
  double turns;   // the same in those that are resident together
  double resident, l1_bytes;
  double slabs;  // of a block
  Pipe pipe;
  bool has_code;  // its loops are read, and one product by threads or mma.sync is all there is
  Executed code;
} Launched;

static Launched launched(const CalibrationBasis *b) {
  const double blocks = (double)b->resources.n_blocks, slabs = fmax(1, b->traffic.slabs);
  const double rounds = ceil(blocks / b->target->sm_count);
  const double resident = fmax(1, fmin(rounds, b->resources.blocks_per_sm));
  const bool one_product = b->family < CALIBRATION_FAMILY_ATTENTION_FMA;
  Launched out = {.ns = 1e3 / b->target->boost_mhz,
                  .rounds = rounds,
                  .turns = ceil(rounds / resident),
                  .resident = resident,
                  .l1_bytes = l1_left(b, resident),
                  .slabs = slabs,
                  .pipe = pipe_of_block(b, slabs)};
  out.has_code = b->code.inner.multiplies > 0 && one_product && b->pipe != CALIBRATION_WGMMA;
  if (out.has_code) out.code = execute(b, slabs);
  return out;
}

// ---- limits -------------------------------------------------------------------------------------

// Warp instructions of a block that move values, and those that multiply without an atom. An
// address of global memory is of 64 bits and takes two of its own.
static double instructions(const CalibrationBasis *b, const Launched *l) {
  enum { OF_REQUEST = 3 };
  if (l->has_code) return l->code.instructions * (double)b->resources.n_consumers;
  const double products = b->pipe == CALIBRATION_FMA ? b->traffic.slab_fma / LANES : 0;
  return l->slabs * (products + b->warp_accesses * (double)b->resources.n_warps) +
         OF_REQUEST * b->requests;
}

// Lines that a block spills and reads again. Of each step along K where registers are an estimate;
// the words of the code stand in the loop as it is unrolled.
static double spilled_lines(const CalibrationBasis *b, const Launched *l) {
  const Resources *r = &b->resources;
  if (l->has_code) return l->code.spills * (double)r->n_consumers;
  const double times = r->spills_counted ? b->waits.turns : b->waits.steps;
  return 2 * (double)(r->n_spilled * r->n_consumers) * fmax(1, times);
}

// The part of `bytes` of an SM beyond a cache that has room for some.
static double beyond(double bytes, double room) { return bytes > room ? 1 - room / bytes : 0; }

// Clocks for each of them, by how much of an SM's lies where: in L1, of which other reads have
// half; in the SM's part of L2; in DRAM.
static double spill_clocks(const CalibrationBasis *b, const Launched *l) {
  static const double l2_clocks_per_line = 4;
  const Resources *r = &b->resources;
  const Target *gpu = b->target;
  const double bytes = (double)(r->n_spilled * r->n_consumers) * BANK_LINE_BYTES * l->resident;
  const double rate = traffic_bytes_per_clock(gpu, gpu->dram_gbps);
  const double in_dram = beyond(bytes, (double)gpu->l2_bytes / gpu->sm_count),
               past_l1 = beyond(bytes, l->l1_bytes / 2);
  const double dram_clocks =
      rate > 0 ? fmax(BANK_LINE_BYTES / rate, l2_clocks_per_line) : l2_clocks_per_line;
  return 1 - past_l1 + (past_l1 - in_dram) * l2_clocks_per_line + in_dram * dram_clocks;
}

// L1 answers in order: what it has waits behind what it has not, and until that comes from L2 each
// keeps a line. Worked example, A of bf16 row by row, 8 lines a load: 28 KB beside full shared
// memory are 224 lines, 28 loads, so one load every 9 clocks and a third, where 150 KB allow one
// every 2. The pipe would take 8 for it.
static double waits_in_l1(const CalibrationBasis *b, const Launched *l) {
  enum { ON_ITS_WAY = COMPILED_FAR_CLOCKS - COMPILED_NEAR_CLOCKS };
  return b->loaded_lines * ON_ITS_WAY * BANK_LINE_BYTES / l->l1_bytes;
}

// All that L1 does not keep until the next step along K comes again.
static double l2_clocks(const CalibrationBasis *b, const Launched *l) {
  enum { BYTES_PER_CLOCK = 32 };
  const double step = b->step_lines * BANK_LINE_BYTES * l->resident;
  const double again = b->again_bytes * beyond(step, l->l1_bytes / 2);
  const double more = (b->wasted_bytes + again) * (double)b->resources.n_blocks;
  return (b->traffic.l2_bytes + more) / (b->target->sm_count * BYTES_PER_CLOCK);
}

static void limit_terms(const CalibrationBasis *b, const Launched *l,
                        double term[CALIBRATION_FACTORS]) {
  enum { ISSUED_PER_CLOCK = 4 };
  const Traffic *t = &b->traffic;
  const double block = l->rounds * l->ns, slab = l->slabs * block;
  term[b->pipe] = positive(t->fma_clocks) * slab;
  term[CALIBRATION_SOFTMAX] = (positive(t->fp32_clocks) + positive(t->sfu_clocks)) * slab;
  term[CALIBRATION_ISSUE] = instructions(b, l) / ISSUED_PER_CLOCK * block;
  term[CALIBRATION_COPY] = b->copied * slab;
  term[CALIBRATION_GLOBAL] = l->pipe.global * block;
  term[CALIBRATION_L2] = l2_clocks(b, l) * l->ns + waits_in_l1(b, l) * block;
  term[CALIBRATION_DRAM] = positive(t->dram_clocks) * slab;
  term[CALIBRATION_TMA] = b->waits.box_rows * block;
  term[CALIBRATION_POWER] = t->power_tflops > 0 ? t->flop / t->power_tflops * 1e-3 : 0;
  term[CALIBRATION_SHARED] = l->pipe.shared * block;
  term[CALIBRATION_SPILL] = spilled_lines(b, l) * spill_clocks(b, l) * block;
}

// ---- latency ------------------------------------------------------------------------------------

// Loads of fragments that a warp waits for together. Each has a register for its value and its part
// of an address; the sums, counters and pointers have the others. Where the sums alone do not fit,
// one atom's A is left, or one value of A and one of B.
static double loads_together(const CalibrationBasis *b) {
  enum { OTHERS = 10, OF_LOAD = 2, LEAST = 2, MOST = 32 };
  const Resources *r = &b->resources;
  const double has = r->consumer_registers ? (double)r->consumer_registers : r->n_registers;
  const double left = (has - r->n_accumulators - OTHERS) / OF_LOAD;
  return fmin(MOST, fmax(fmax(LEAST, b->atom_loads), left));
}

// How much longer a fetch takes that is not in L2. Few are counted as misses, but all who ask for
// what is on its way to L2 wait as long as the first.
static double farther(const Traffic *t) {
  static const double dram_more = 3;
  return 1 + dram_more * (1 - t->l2_hit);
}

// A sector that L1 has is soon there (gpus.json: 34 clocks, where L2 takes 265 and DRAM 650 if
// there is nothing else to do).
static double read_clocks(const CalibrationBasis *b, const Launched *l) {
  enum { READ = COMPILED_FAR_CLOCKS, NEAR = COMPILED_NEAR_CLOCKS };
  const BlockWaits *w = &b->waits;
  if (l->has_code) {
    const double loads = w->loads + w->near_loads;
    const double more = loads > 0 ? (w->loads * (READ * farther(&b->traffic) - NEAR)) / loads : 0;
    return (l->code.far_clocks - l->code.near_clocks) * more / (READ - NEAR);
  }
  const double together = loads_together(b);
  return fmax(w->reads, w->loads / together) * READ * farther(&b->traffic) +
         fmax(w->near_reads, w->near_loads / together) * NEAR;
}

// Products and softmax of what goes on in step: of the whole block where its barriers keep all of
// it in step, of each warp or warpgroup where roles let them drift apart, so that the softmax of
// one is beside the products of another.
static double clocks_in_step(const CalibrationBasis *b) {
  const Resources *r = &b->resources;
  const double softmax = positive(b->traffic.fp32_clocks) + positive(b->traffic.sfu_clocks);
  const bool drift = softmax > 0 && r->n_consumers < r->n_warps;
  const double parts = drift ? fmax(1, (double)r->n_consumers / b->atom_warps) : 1;
  return (positive(b->traffic.fma_clocks) + softmax) / parts;
}

// A warp alone: it issues what it has to, and its own wavefronts follow one another.
static double warp_clocks(const CalibrationBasis *b, const Launched *l) {
  const double issued = l->has_code ? l->code.near_clocks : b->waits.instructions;
  return issued + (l->pipe.global + l->pipe.shared) / fmax(1, (double)b->resources.n_consumers);
}

// For a block alone: what resident blocks hide of each other.
static void latency_terms(const CalibrationBasis *b, const Launched *l,
                          double term[CALIBRATION_FACTORS]) {
  enum { FETCH = 600, STEP = 20, PHASE = 30, BOX_ROW = 2, L2_BYTES_PER_CLOCK = 64 };
  const Traffic *t = &b->traffic;
  const BlockWaits *w = &b->waits;
  const double turn = l->turns * l->ns, slabs = b->staged ? l->slabs : 1;
  const double own = t->l2_bytes / (double)b->resources.n_blocks / L2_BYTES_PER_CLOCK;
  const double moved = w->fetches > 0 ? BOX_ROW * w->box_rows + own : 0;
  const double fetches = w->fetches + (w->depth > 0 ? 1 / w->depth : 0);
  const double fetched = slabs * fetches * FETCH * farther(t) + moved;
  term[CALIBRATION_ALONE] = l->slabs * clocks_in_step(b) * turn;
  term[CALIBRATION_WARP] = warp_clocks(b, l) * turn;
  term[CALIBRATION_FETCH] = (fetched + read_clocks(b, l)) * turn;
  term[CALIBRATION_STEP] = l->has_code ? 0 : w->steps * STEP * turn;
  term[CALIBRATION_PHASE] = slabs * w->phases * PHASE * turn;
}

CalibrationTerms calibration_terms_of(const CalibrationBasis *b) {
  enum { BLOCK_CLOCKS = 750 };
  const Launched l = launched(b);
  CalibrationTerms out = {.family = b->family};
  limit_terms(b, &l, out.term);
  latency_terms(b, &l, out.term);
  out.term[CALIBRATION_LAUNCH] = 1e3;
  out.term[CALIBRATION_BLOCK] = BLOCK_CLOCKS * l.turns * l.ns;
  out.term[CALIBRATION_STORE] = b->stored_sectors * l.rounds * l.ns;
  out.term[CALIBRATION_BETWEEN] = positive(b->traffic.between_us) * 1e3;
  return out;
}

CalibrationTerms calibration_terms(const Model *model) {
  const CalibrationBasis basis = calibration_basis(model);
  return calibration_terms_of(&basis);
}

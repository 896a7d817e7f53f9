// The clocks that one slab takes: of the FMA pipe, shared memory, L2 and DRAM.
//
// First-order reckoning for one resident block on one SM, per k_o iteration. Worked example, a
// 128 × 128 tile, BK = 16, 128 lanes: 128·128·16 / 128 = 2048 clocks of FMA; shared memory serves
// one wavefront per clock, so 8 warps × 16 k-steps × 12 wavefronts + the stores = 1536 and some.
//
// Global: L1 answers from banks and looks up four lines a clock, so what scatters is dear
// (banks/engine/sector.c); what is written takes a clock for each line of 128 bytes. L2:
// every block fetches its two panels once, with what its sectors bring beyond them, of a panel that
// blocks of a cluster fetch together by multicast its share alone; what it writes goes the other
// way beside that. DRAM: what L2 does not have when it is asked for (l2_replay.h), and C.
//
// Power: wgmma on random data keeps the board at its cap, so what is fetched slows what is
// multiplied: products and bytes have their energy, and the cap is what a second has of it. Worked
// example, an H200 at 8192³, 128 × 256 tiles in pairs that share B: 1.1e12 FLOP of 0.81 pJ, 8.6 GB
// from L2 at 14.7 pJ a byte and 1.3 GB from DRAM at 86 are 0.90 + 0.13 + 0.11 J: 680 TFLOP/s at 700
// W.
//
// Softmax: what stands between the products of attention runs on other units of the SM than those,
// one warp's beside another's products, so it is a limit like the others and not added to them.
// Worked example, 128 queries × 64 keys of dimension 128 by mma.sync on an H200: 8,192 exp2 at 16 a
// clock are 512 clocks beside 1,576 of products.
//
// Between tiles: where an SM has one block, and its threads write C themselves, nothing is
// multiplied meanwhile. Worked example, an H200: 128 × 256 cells of bf16 as 4,096 sectors, half of
// each asked for, are 131,072 bytes at 32 a clock, 4,096 clocks beside the 65,536 of 64 slabs.
#include <math.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/cost/l2_replay.h"
#include "model/readings/derive.h"
#include "model/words/fragment.h"

typedef struct Tile {
  double m, n, k, slabs, blocks, bytes;  // units; slabs per block; bytes per unit
  double unit;                           // elements in one along K
} Tile;

// The share that a unit along K has of the factor that it is scaled by, in bytes.
static double factor_bytes(const Problem *problem) {
  return (double)problem_scales(problem) / (double)problem_depth(problem);
}

static Tile tile_of(const Model *model) {
  const Program *p = model->program;
  const Stmt *k_o = program_slab_loop(p);
  const Axis *k = &p->axis[AXIS_K];
  const Digit *last = &k->digit[k->n_digits - 1];
  double step = (double)last->weight;  // 1, or the depth of an atom
  Tile tile = {(double)axis_tile(&p->axis[AXIS_M]),
               (double)axis_tile(&p->axis[AXIS_N]),
               step,
               (double)last->var->extent,
               (double)model->resources.n_blocks,
               dtype_bytes(problem_operand_type(&p->problem)),
               dtype_elements(problem_operand_type(&p->problem))};
  if (k_o) {
    tile.k = (double)axis_tile(k);
    tile.slabs = (double)k_o->var->extent;
  }
  return tile;
}

// The clocks of the pipe that all sites take per slab, and what passes through it beside them.
// Without shared memory the pipe is L1's alone, and what is loaded is traffic of global memory.
static double shared_clocks(const Model *model, double loaded) {
  double clocks = model->resources.smem_bytes > 0 ? model->lines + loaded : 0;
  for (int i = 0; i < model->n_sites; i++) clocks += model->site[i].clocks;
  return clocks;
}

static bool is_f64(const Atom *atom) { return str_equal(atom->type, "f64"); }

// The clock at which the peak is stated. That of f64 is stated at the highest one: only so are it
// 128 pairs a clock of an SM on Hopper and 64 on a B200.
static double mhz_of_peak(const Model *model) {
  const Target *t = model->target;
  const Atom *atom = program_atom(model->program);
  return atom && !is_f64(atom) && target_knows(t->tensor_mhz) ? t->tensor_mhz : t->boost_mhz;
}

double traffic_bytes_per_clock(const Target *t, double gbps) {
  return gbps * 1e9 / (t->sm_count * t->boost_mhz * 1e6);
}

// The peak of the tensor cores for the types that they multiply; NaN where no source states it.
static double tensor_tflops(const Target *t, const Atom *atom) {
  bool f16_sums = atom->acc_bits == 16;
  // tcgen05 multiplies 8-bit elements with factors as fast as without (CUTLASS, Blackwell SM100
  // GEMMs, throughput of tcgen05.mma); of mma.sync no source says it.
  const double scaled_fp8 = atom_is_of_thread(atom) ? t->fp8_tflops : NAN;
  const struct {
    const char *type;
    double tflops;
  } peaks[] = {{"f16", f16_sums ? t->f16_f16_tflops : t->f16_tflops},
               {"bf16", t->bf16_tflops},
               {"tf32", t->tf32_tflops},
               {"s8", t->int8_tops},
               {"e4m3", t->fp8_tflops},
               {"e5m2", t->fp8_tflops},
               {"f64", t->f64_tflops},
               {"mxf8", scaled_fp8},
               {"mxf8e5m2", scaled_fp8},
               {"mxf4", t->fp4_tflops},
               {"nvfp4", t->fp4_tflops}};
  for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
    if (str_equal(peaks[i].type, atom->type)) return peaks[i].tflops;
  return NAN;
}

// The share of that peak that the atom can have. f64 is multiplied by mma.sync alone, so it has all
// of it.
static double share_of_peak(const Target *t, const Atom *atom) {
  return atom_is_of_warp(atom) && !is_f64(atom) ? t->mma_sync_share : 1;
}

// Tells what a warpgroup's atom reaches on random data when nothing is fetched; NaN where no source
// measured.
static double capped_tflops(const Target *t, const Atom *atom) {
  bool half = str_equal(atom->type, "f16") || str_equal(atom->type, "bf16");
  if (!atom_is_of_warpgroup(atom)) return NAN;
  return half ? t->f16_wgmma_tflops : str_equal(atom->type, "tf32") ? t->tf32_wgmma_tflops : NAN;
}

static double power_tflops(const Model *model, const Traffic *traffic) {
  const Target *t = model->target;
  const Atom *atom = program_atom(model->program);
  if (!atom) return NAN;
  double joule = traffic->flop * t->cap_w / (capped_tflops(t, atom) * 1e12) +
                 traffic->l2_bytes * t->l2_pj_per_byte * 1e-12 +
                 traffic->dram_bytes * t->dram_pj_per_byte * 1e-12;
  return traffic->flop * t->cap_w / joule / 1e12;
}

// Multiply-adds per clock of one SM; NaN where no source says.
static double macs_per_clock(const Model *model) {
  const Target *t = model->target;
  const Atom *atom = program_atom(model->program);
  if (!atom) return t->fp32_lanes_per_sm;
  double hz = t->sm_count * mhz_of_peak(model) * 1e6;
  return share_of_peak(t, atom) * tensor_tflops(t, atom) * 1e12 / 2 / hz;
}

// Cells, or atoms, that a thread keeps along the axis.
static double own_cells(const Axis *axis) {
  double cells = 1;
  for (int i = 0; i < axis->n_digits; i++)
    if (axis->digit[i].var->tier == TIER_REGISTER) cells *= (double)axis->digit[i].var->extent;
  return cells;
}

static bool is_digit(const Axis *axis, const Var *var) {
  for (int i = 0; i < axis->n_digits; i++)
    if (axis->digit[i].var == var) return true;
  return false;
}

// Whether the read of a fragment of B stands inside a loop over the thread's own rows: row by row,
// it is read once for each of them.
static bool reads_below_rows(const Program *program, Stmt *list, bool below) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    const Buffer *to = stmt->kind == STMT_OP ? stmt->op.dst.buffer : NULL;
    if (below && to && to->role == ROLE_FRAG_B) return true;
    bool rows = stmt->kind == STMT_LOOP && stmt->var->tier == TIER_REGISTER &&
                is_digit(&program->axis[AXIS_M], stmt->var);
    if (stmt->body && reads_below_rows(program, stmt->body, below || rows)) return true;
  }
  return false;
}

static bool reads_b_by_row(const Program *program) {
  Stmt *slabs = program_slab_loop(program);
  return slabs && reads_below_rows(program, slabs->body, false);
}

// An atom takes fragments or tiles: steps.h counts those.
static double loads_per_fma(const Model *model) {
  const Program *program = model->program;
  if (program_atom(program)) return -1;
  const double rows = own_cells(&program->axis[AXIS_M]),
               columns = own_cells(&program->axis[AXIS_N]);
  return (rows + (reads_b_by_row(program) ? rows * columns : columns)) / (rows * columns);
}

int traffic_units(const Traffic *traffic, bool atom, TrafficUnit out[TRAFFIC_UNITS]) {
  int n = 0;
#define X(member, name, title) out[n++] = (TrafficUnit){name, title, traffic->member};
  TRAFFIC_UNIT_TABLE(X)
#undef X
  if (atom) out[0].title = "mma";
  return traffic->fp32_clocks == 0 ? n - TRAFFIC_UNITS_OF_SOFTMAX : n;
}

double traffic_per_kfma(const Traffic *traffic, double clocks) {
  return clocks < 0 ? clocks : clocks * 1024 / traffic->slab_fma;
}

static const char limit_power[] = "power";
bool traffic_power_limits(const Traffic *traffic) { return str_equal(traffic->limit, limit_power); }

static void find_limit(Traffic *t) {
  TrafficUnit unit[TRAFFIC_UNITS];
  const int n = traffic_units(t, false, unit);
  double worst = -1;
  for (int i = 0; i < n; i++) {
    if (!(unit[i].clocks > worst)) continue;
    worst = unit[i].clocks;
    t->limit = unit[i].name;
  }
}

static double known(double value) { return isnan(value) ? -1 : value; }

// The speed (TFLOP/s) of all blocks at the pace of the slowest unit, the last wave counted whole.
// The tensor cores have their stated peak at the clock it is stated at, everything else goes by the
// highest one.
static double speed_of_units(const Model *model, const Traffic *t, const Tile *tile,
                             double rounds) {
  double pipes = fmax(t->shared_clocks, t->global_clocks);
  double others = fmax(pipes, fmax(t->l2_clocks, t->dram_clocks));
  others = fmax(others, fmax(t->sfu_clocks, t->fp32_clocks));
  double us = fmax(t->fma_clocks / mhz_of_peak(model), others / model->target->boost_mhz);
  return t->flop / (us * tile->slabs * rounds * 1e-6) / 1e12;
}

// Sums that leave their kernel for memory and come back to the one that adds them up, in bytes.
static double partial_bytes(const Model *model, const Grid *grid) {
  double sums = (double)(grid->tile_m * grid->tile_n) * dtype_bytes(model->program->problem.acc);
  const Stmt *tiles = grid->launch.tiles;
  bool tail = tiles && tiles->end;  // whose last tiles alone are cut, if at all
  double all = (double)(tail ? grid->tail_ctas * grid->tail_parts : grid->n_ctas);
  return grid->partial && (!tail || grid->tail_parts > 1) ? sums * all : 0;
}

// Bytes that the threads of a tile's block write themselves, sector by sector. Of a tail that is
// cut, parts alone go to memory; a whole tile goes to C.
static double own_stores(const Model *model, const Grid *grid) {
  double sectors = 0;
  for (int i = 0; i < model->global.n; i++) {
    const GlobalSite *site = &model->global.site[i];
    bool whole = site->matrix->role == ROLE_C || !grid->launch.tiles;
    if (site->is_store && site->op->counted && whole) sectors += site->sectors;
  }
  return SECTOR_BYTES * sectors;
}

// Microseconds in which nothing is multiplied, as far as the bandwidths are known.
static double time_between(const Model *model, const Grid *grid, double rounds) {
  const Target *t = model->target;
  double bytes = model->resources.blocks_per_sm == 1 ? own_stores(model, grid) : 0;
  double parts = partial_bytes(model, grid);
  double gbps = parts > (double)t->l2_bytes ? t->dram_gbps : t->l2_gbps;
  double own = rounds * bytes / traffic_bytes_per_clock(t, t->l2_gbps) / t->boost_mhz;
  return fmax(own, 0) + (parts > 0 ? fmax(2 * parts / gbps * 1e-3, 0) : 0);
}

static double slower_by(const Traffic *t, double tflops, double us) {
  return t->flop / (t->flop / tflops + us * 1e6);
}

// This speed, or what power allows where it is less: then power is the limit.
static void find_roofline(const Model *model, const Tile *tile, const Grid *grid, Traffic *t) {
  double sms = model->target->sm_count, rounds = ceil(tile->blocks / sms);
  // Clusters may leave SMs idle in every wave, so that a tail is shorter than what is spared.
  if (grid->tail_parts > 1)
    rounds = fmax(rounds + grid_rounds(grid) - (double)grid->n_waves, tile->blocks / sms);
  t->rounds = rounds;
  t->between_us = time_between(model, grid, rounds);
  double paced = slower_by(t, speed_of_units(model, t, tile, rounds), t->between_us);
  t->roofline_tflops = t->fma_clocks < 0 ? -1 : known(paced);
  double allowed = slower_by(t, t->power_tflops * tile->blocks / (rounds * sms), t->between_us);
  if (t->power_tflops < 0 || t->roofline_tflops < allowed) return;
  t->roofline_tflops = allowed;
  t->limit = limit_power;
}

// Holds what a thread does with values of its own between the products of one turn of the loop:
// powers, and all operations, each power one more multiply-add.
typedef struct RowWork {
  double powers, all;
} RowWork;

static void add_row_work(const Stmt *list, double times, RowWork *work) {
  for (const Stmt *stmt = list; stmt; stmt = stmt->next) {
    const bool loop = stmt->kind == STMT_LOOP;
    if (stmt->body)
      add_row_work(stmt->body, loop ? times * (double)stmt->var->extent : times, work);
    if (stmt->kind != STMT_OP) continue;
    const OpFacts *facts = op_facts(stmt->op.kind);
    if (facts->engine != ENGINE_FMA || op_multiplies(stmt->op.kind)) continue;
    work->powers += facts->action == ACTION_POWER ? times : 0;
    work->all += times;
  }
}

// At the rate of multiply-adds, which maxima and conversions do not quite reach.
static void add_softmax(const Model *model, const Stmt *walk, Traffic *t) {
  RowWork work = {0, 0};
  if (walk) add_row_work(walk->body, (double)model->resources.n_threads, &work);
  const Target *gpu = model->target;
  t->fp32_clocks = work.all / gpu->fp32_lanes_per_sm;
  t->sfu_clocks = work.powers > 0 ? known(work.powers / gpu->sfu_per_clk) : 0;
}

// Per block of keys, in which both products have the same multiply-adds. Every block of queries
// fetches all K and V of its head from L2; DRAM has each matrix once.
static Traffic attention_traffic(const Model *model) {
  const Program *program = model->program;
  const Product *scores = &program->product[0];
  const Target *gpu = model->target;
  const Problem *p = &program->problem;
  const Stmt *walk = program_slab_loop(program);
  const double bytes = dtype_bytes(p->dtype), pairs = (double)(p->heads * p->m) * (double)p->n;
  const double rows = (double)axis_tile(scores->axis[AXIS_M]), depth = (double)p->k;
  const double keys = walk ? (double)axis_tile(scores->axis[AXIS_N]) : (double)p->n;
  const double turns = ceil((double)p->n / keys), blocks = (double)model->resources.n_blocks;
  const double seen = p->causal ? 1 - (double)(p->m - 1) / (2.0 * (double)p->n) : 1;
  Traffic t = {.flop = 4 * pairs * depth * seen, .slab_fma = 2 * rows * keys * depth};
  const Tile tile = {rows, keys, depth, turns * seen, blocks, bytes, 1};
  t.slabs = tile.slabs;
  t.fma_clocks = known(t.slab_fma / macs_per_clock(model));
  t.loaded_clocks = model->global.loaded_clocks / turns;
  t.shared_clocks = shared_clocks(model, t.loaded_clocks);
  t.global_clocks = model->global.clocks / turns;
  t.l2_bytes = blocks * (rows + 2 * keys * turns * seen) * depth * bytes;
  t.l2_working_set_bytes = 2 * (double)p->n * depth * bytes;
  t.dram_bytes = 2 * (double)(p->heads * (p->m + p->n)) * depth * bytes;
  t.l2_hit = 1 - fmin(1, t.dram_bytes / t.l2_bytes);
  t.l2_clocks = known(2 * keys * depth * bytes / traffic_bytes_per_clock(gpu, gpu->l2_gbps));
  t.dram_clocks =
      known(t.dram_bytes / (blocks * turns * seen) / traffic_bytes_per_clock(gpu, gpu->dram_gbps));
  add_softmax(model, walk, &t);
  t.flop_per_l2_byte = t.flop / t.l2_bytes;
  t.flop_per_dram_byte = t.flop / t.dram_bytes;
  t.shared_bytes_per_fma = t.shared_clocks * gpu->smem_bytes_per_clk / t.slab_fma;
  find_limit(&t);
  t.power_tflops = t.loads_per_fma = -1;
  t.rounds = ceil(blocks / (double)gpu->sm_count);
  t.roofline_tflops = known(speed_of_units(model, &t, &tile, t.rounds));
  return t;
}

Traffic derive_traffic(Arena *arena, const Model *model) {
  if (model->program->problem.kind == PROBLEM_ATTENTION) return attention_traffic(model);
  const Grid *grid = grid_outline(arena, model);
  const Target *gpu = model->target;
  const Problem *p = &model->program->problem;
  Tile tile = tile_of(model);
  double slabs = tile.blocks * tile.slabs;
  Traffic t = {.flop = 2.0 * (double)p->m * (double)p->n * (double)p->k};
  t.slab_fma = tile.m * tile.n * tile.k * tile.unit;
  t.slabs = tile.slabs;
  t.fma_clocks = known(t.slab_fma / macs_per_clock(model));
  t.loaded_clocks = model->global.loaded_clocks / tile.slabs;
  t.shared_clocks = shared_clocks(model, t.loaded_clocks);
  t.global_clocks = model->global.clocks / tile.slabs;
  double wasted = SECTOR_BYTES * model->global.wasted_sectors / tile.slabs;
  double stored = SECTOR_BYTES * model->global.store_sectors / tile.slabs;
  double own_rows = tile.m / (double)grid->sharers_a,
         own_columns = tile.n / (double)grid->sharers_b;
  // Blocks that share a slab still fetch all of its factors, each for itself.
  double factors = (tile.m + tile.n) * tile.k * factor_bytes(p);
  double fetched = (own_rows + own_columns) * tile.k * tile.bytes + factors + wasted;
  t.l2_bytes = fetched * slabs;
  t.l2_working_set_bytes = (double)grid_window(arena, grid, 0, grid->lap_ctas).bytes;
  L2Replay replay = l2_replay(arena, grid);
  t.l2_hit = replay.hit;
  t.dram_bytes = replay.missed_bytes + (double)(p->m * p->n) * dtype_bytes(p->out);
  t.l2_clocks = known(fmax(fetched, stored) / traffic_bytes_per_clock(gpu, gpu->l2_gbps));
  t.dram_clocks = known(t.dram_bytes / slabs / traffic_bytes_per_clock(gpu, gpu->dram_gbps));
  t.flop_per_l2_byte = t.flop / t.l2_bytes;
  t.flop_per_dram_byte = t.flop / t.dram_bytes;
  double smem_clock_bytes = gpu->smem_bytes_per_clk;
  t.shared_bytes_per_fma = t.shared_clocks * smem_clock_bytes / t.slab_fma;
  t.loads_per_fma = loads_per_fma(model);
  find_limit(&t);
  t.power_tflops = known(power_tflops(model, &t));
  find_roofline(model, &tile, grid, &t);
  return t;
}

// A statement → the clocks that one execution by one warp takes of each unit of the SM.
//
// Nothing is reckoned anew: wavefronts are the sites' (site.c), lines and requests those of global
// memory (global_site.c), the rates of L2, DRAM and the multipliers those of traffic.c. The
// latencies are the target's. Worked example on an H200, a warp of hgemm's roles: an m16n8k16 is
// 2,048 multiply-adds, of which a quarter of the SM makes 333 a clock by mma.sync: 6.2 clocks;
// ldmatrix.x4 four wavefronts: 4 clocks, and 34 until the values are there.
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/derive.h"
#include "model/readings/time/timeline_machine.h"
#include "model/words/fragment.h"

static double known(double number) { return isnan(number) || number < 0 ? 0 : number; }

// A program that was broken has other statements, with the same numbers.
static const Site *find_site(const Model *model, const Stmt *stmt, const Buffer *slab, bool store) {
  const Site *alike = NULL;
  for (int i = 0; i < model->n_sites; i++) {
    const Site *site = &model->site[i];
    if (site->stmt->id == stmt->id) return site;
    bool same = site->slab->id == slab->id && site->stmt->op.kind == stmt->op.kind;
    if (same && site->is_store == store) alike = site;
  }
  return alike;
}

static const GlobalSite *find_global(const Model *model, const Buffer *matrix, bool store) {
  for (int i = 0; i < model->global.n; i++)
    if (model->global.site[i].matrix->id == matrix->id && model->global.site[i].is_store == store)
      return &model->global.site[i];
  return NULL;
}

static double access_bytes(const Stmt *stmt, const Buffer *buffer) {
  return (double)LANES * stmt->op.width * dtype_bytes(buffer->type);
}

// The wavefronts of one execution: of those that merged accesses make, its share.
static double pipe_clocks(const Model *model, const Stmt *stmt, const Buffer *slab, bool store) {
  const Site *site = find_site(model, stmt, slab, store);
  const double plain = access_bytes(stmt, slab) / model->target->smem_bytes_per_clk;
  if (!site) return plain;
  bool fetches = op_is_async_copy(stmt->op.kind);
  double warps = (double)(fetches ? model->resources.n_warps : model->resources.n_consumers);
  double executions = site->written->executions * warps;
  if (executions > 0) return site->clocks / executions;
  return site->count.known ? site->count.wavefronts : plain;
}

// ---- global memory ------------------------------------------------------------------------------

static double fetch_clocks_per_byte(const Model *model) {
  const Target *gpu = model->target;
  double missed = 1 - model->traffic.l2_hit;
  return fmax(known(1 / traffic_bytes_per_clock(gpu, gpu->l2_gbps)),
              known(missed / traffic_bytes_per_clock(gpu, gpu->dram_gbps)));
}

static double memory_latency(const Model *model) {
  const Target *gpu = model->target;
  double near = known(gpu->l2_clk), far = target_knows(gpu->dram_clk) ? gpu->dram_clk : near;
  return model->traffic.l2_hit * near + (1 - model->traffic.l2_hit) * far;
}

// Bytes that a block fetches of the operand along all of K.
static double panel_bytes(const Program *program, const Buffer *matrix) {
  const Axis *k = &program->axis[AXIS_K];
  double depth = (double)k->extent;
  for (int i = 0; i < k->n_digits; i++)
    if (k->digit[i].var->tier == TIER_BLOCK) depth /= (double)k->digit[i].var->extent;
  int axis = matrix->role == program->product[0].operand[ATOM_A].global ? AXIS_M : AXIS_N;
  return depth * (double)axis_tile(&program->axis[axis]) * dtype_bytes(matrix->type);
}

// A box has no lanes that look lines up.
static TimelineCost box_cost(const Model *model, const Op *op) {
  double bytes = (double)(op->box[0] * op->box[1]) * dtype_bytes(op->src.buffer->type);
  return (TimelineCost){.fetch = bytes * fetch_clocks_per_byte(model),
                        .latency = memory_latency(model)};
}

// All that other lanes and warps have asked for already comes from L1.
static TimelineCost load_cost(const Model *model, const Program *program, const Stmt *stmt) {
  const Buffer *matrix = stmt->op.src.buffer;
  const GlobalSite *site = find_global(model, matrix, false);
  double bytes = access_bytes(stmt, matrix), lines = bytes / 128;
  double share = 1;
  if (site && site->requests > 0) {
    lines = site->clocks / site->requests;
    share = fmin(1, panel_bytes(program, matrix) / site->requests / bytes);
  }
  double latency = share * memory_latency(model) + (1 - share) * known(model->target->l1_clk);
  return (TimelineCost){
      .pipe = lines, .fetch = share * bytes * fetch_clocks_per_byte(model), .latency = latency};
}

static TimelineCost store_cost(const Model *model, const Stmt *stmt) {
  const Target *gpu = model->target;
  const Buffer *matrix = stmt->op.dst.buffer;
  const GlobalSite *site = find_global(model, matrix, true);
  double bytes = op_moves_box(stmt->op.kind)
                     ? (double)(stmt->op.box[0] * stmt->op.box[1]) * dtype_bytes(matrix->type)
                     : access_bytes(stmt, matrix);
  double lines = op_moves_box(stmt->op.kind) ? 0 : bytes / 128;
  if (site && site->requests > 0) {
    lines = site->clocks / site->requests;
    bytes = SECTOR_BYTES * site->sectors / site->requests;
  }
  return (TimelineCost){.pipe = lines,
                        .store = bytes * known(1 / traffic_bytes_per_clock(gpu, gpu->l2_gbps))};
}

// ---- statements ---------------------------------------------------------------------------------

static TimelineCost move_cost(const Model *model, const Program *program, const Stmt *stmt) {
  const Op *op = &stmt->op;
  const Buffer *to = op->dst.buffer, *from = op->src.buffer;
  if (to->space == SPACE_GLOBAL) return store_cost(model, stmt);
  if (from->space == SPACE_GLOBAL) {
    TimelineCost cost =
        op_moves_box(op->kind) ? box_cost(model, op) : load_cost(model, program, stmt);
    if (to->space == SPACE_SHARED && !op_moves_box(op->kind))
      cost.pipe = fmax(cost.pipe, pipe_clocks(model, stmt, to, true));
    return cost;
  }
  if (from->space == SPACE_SHARED)
    return (TimelineCost){.pipe = pipe_clocks(model, stmt, from, false),
                          .latency = known(model->target->l1_clk)};
  if (to->space == SPACE_SHARED) return (TimelineCost){.pipe = pipe_clocks(model, stmt, to, true)};
  return (TimelineCost){0};
}

// Multiply-adds of one execution by one warp; an atom of several warps is shared among them.
static double products_of(const Op *op) {
  const Atom *atom = op->atom;
  return atom ? (double)atom->m * atom->n * atom->k / atom_issuing_warps(atom) : LANES;
}

// The quarters of an SM, each with its own multipliers, which also give out its registers.
static TimelineCost multiply_cost(const Model *model, const Op *op) {
  const Traffic *traffic = &model->traffic;
  double clocks = known(traffic->fma_clocks) / traffic->slab_fma * products_of(op);
  if (atom_is_of_thread(op->atom)) return (TimelineCost){.multiply = clocks};  // by all quarters
  return (TimelineCost){.multiply = clocks * model->target->warp_alloc_unit};
}

// Beside tensor cores the fp32 lanes are a unit of their own, else they are the multipliers.
static TimelineCost add_cost(const Model *model, const Stmt *stmt) {
  const Target *gpu = model->target;
  if (stmt->op.dst.buffer->space == SPACE_GLOBAL) return store_cost(model, stmt);
  const double clocks = (double)LANES * gpu->warp_alloc_unit / gpu->fp32_lanes_per_sm;
  return program_atom(model->program) ? (TimelineCost){.lanes = clocks}
                                      : (TimelineCost){.multiply = clocks};
}

// A power is a multiply-add and one operation of the special function units.
static TimelineCost power_cost(const Model *model, const Stmt *stmt) {
  const Target *gpu = model->target;
  TimelineCost cost = add_cost(model, stmt);
  cost.powers = known((double)LANES * gpu->warp_alloc_unit / gpu->sfu_per_clk);
  return cost;
}

TimelineCost timeline_cost(const Model *model, const Program *program, const Stmt *stmt) {
  const Op *op = &stmt->op;
  switch (op_facts(op->kind)->action) {
    case ACTION_MOVE:
      return move_cost(model, program, stmt);
    case ACTION_MULTIPLY:
      return multiply_cost(model, op);
    case ACTION_ADD:
    case ACTION_SCALE:
    case ACTION_LARGER:
    case ACTION_FACTOR:
      return add_cost(model, stmt);
    case ACTION_POWER:
      return power_cost(model, stmt);
    case ACTION_WAIT:
      return (TimelineCost){.latency =
                                op_takes_mbarrier(op->kind) ? known(model->target->l1_clk) : 0};
    default:
      return (TimelineCost){0};
  }
}

// All that the model does not know counts as 0, and is named.
static void add_unknown_rates(Str *out, const Model *model) {
  TrafficUnit unit[TRAFFIC_UNITS];
  int n = 0;
  const int units = traffic_units(&model->traffic, program_atom(model->program) != NULL, unit);
  for (int i = 0; i < units; i++)
    if (unit[i].clocks < 0)
      str_printf(out, "%s%s", n++ ? ", " : " (not known, so 0: ", unit[i].title);
  if (n) str_add(out, ")");
}

const char *timeline_origin(Arena *arena, const Model *model) {
  const Target *gpu = model->target;
  Str out = str_new(arena);
  str_add(&out, "rates as in LIMIT");
  add_unknown_rates(&out, model);
  if (!target_knows(gpu->l2_clk)) {
    str_printf(&out, "; no source states latencies of %s: 0 is assumed", gpu->name);
    return out.text;
  }
  str_printf(&out, "; latencies L1 %g, L2 %g", gpu->l1_clk, gpu->l2_clk);
  if (target_knows(gpu->dram_clk)) str_printf(&out, ", DRAM %g", gpu->dram_clk);
  const char *source = gpu->source[TARGET_FIELD_l2_clk]->title;
  str_printf(&out, " clocks by %.*s", (int)strcspn(source, ","), source);
  return out.text;
}

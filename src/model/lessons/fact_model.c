// Facts that stand in the model already: sites, resources, traffic, the shape, the GPU.
//
// Nothing is derived here a second time; each function reads one field, and says so when the field
// has no value (a 16-byte cp.async has no counted wavefronts, a rung no claim).
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/lessons/fact_compute.h"
#include "model/readings/place/described.h"

static const char *const limiters[] = {"registers", "shared memory", "tensor memory", "threads",
                                       "blocks",    "clusters",      "grid",          NULL};
static const char *const limits[] = {
#define X(member, name, title) name,
    TRAFFIC_UNIT_TABLE(X)
#undef X
        NULL};

// ---- sites --------------------------------------------------------------------------------------

static char *without_blanks(Arena *arena, const char *text) {
  char *out = arena_strdup(arena, text), *to = out;
  for (const char *c = text; *c; c++)
    if (*c != ' ') *to++ = *c;
  *to = '\0';
  return out;
}

// The one of `n` accesses, numbered from `first`, that the text means: by number or by the
// beginning of its text. -1 after a finding with the nearest one.
static int find_access(const char *text, const char *const *texts, int first, int n, Diags *diags) {
  int64_t number;
  if (isdigit((unsigned char)*text))
    return fact_int(text, first, first + n - 1, "SITE", &number, diags) ? (int)number - first : -1;
  const char **names = ARENA_ARRAY(diags->arena, const char *, n);
  for (int i = 0; i < n; i++) {
    char *name = without_blanks(diags->arena, texts[i]);
    if (str_starts(name, text)) return i;
    const char *sass = strstr(texts[i], "  ");  // two blanks before the instruction
    names[i] = arena_strndup(diags->arena, name, strlen(name) - (sass ? strlen(sass + 2) : 0));
  }
  Diag *diag = diag_add(diags, "site", "no access of this kernel begins with \"%s\"",
                        str_sanitise(diags->arena, text));
  diag->nearest = nearest_name(text, names, n);
  if (!diag->nearest) diag->nearest = names[0];
  return -1;
}

const Site *fact_find_site(const FactScene *scene, const char *text, Diags *diags) {
  const Model *model = scene->model;
  if (model->n_sites == 0) {
    const DescribedSlabs slabs = described_slabs(model->program);
    diag_add(diags, "site", "%s",
             slabs.n ? described_sentence(diags->arena, &slabs)
                     : "this kernel does not touch shared memory");
    return NULL;
  }
  const char **texts = ARENA_ARRAY(diags->arena, const char *, model->n_sites);
  for (int i = 0; i < model->n_sites; i++) texts[i] = model->site[i].text;
  int at = find_access(text, texts, 1, model->n_sites, diags);
  return at < 0 ? NULL : &model->site[at];
}

// Every kernel reads and writes global memory.
static const GlobalSite *find_global(const FactScene *scene, const char *text, Diags *diags) {
  const Globals *global = &scene->model->global;
  const char **texts = ARENA_ARRAY(diags->arena, const char *, global->n);
  for (int i = 0; i < global->n; i++) texts[i] = global->site[i].text;
  int at = find_access(text, texts, scene->model->n_sites + 1, global->n, diags);
  return at < 0 ? NULL : &global->site[at];
}

const Site *fact_counted_site(const FactScene *scene, const FactArgs *args, Diags *diags) {
  const Site *site = fact_find_site(scene, args->word[0], diags);
  if (!site || site->count.known) return site;
  diag_add(diags, "fact", "%s has no counted wavefronts", site->text);
  return NULL;
}

#define SITE_FACT(name, field)                                                                     \
  bool fact_##name(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) { \
    const Site *site = fact_counted_site(scene, args, diags);                                      \
    if (!site) return false;                                                                       \
    value->number = site->field;                                                                   \
    return true;                                                                                   \
  }
SITE_FACT(wavefronts, count.wavefronts)
SITE_FACT(ideal, count.ideal)
SITE_FACT(conflicts, count.conflicts)
SITE_FACT(ways, count.ways)
SITE_FACT(phases, count.phases)
SITE_FACT(executions, executions)

// A copy by cp.async is run as often whether or not its wavefronts are known; what stands in
// several places, as reads of a slab ahead do, counts in all of them.
bool fact_block_executions(const FactScene *scene, const FactArgs *args, FactValue *value,
                           Diags *diags) {
  const Site *site = fact_find_site(scene, args->word[0], diags);
  if (!site) return false;
  double times = 0;
  for (int i = 0; i < scene->model->n_sites; i++)
    if (str_equal(scene->model->site[i].text, site->text))
      times += (double)scene->model->site[i].executions;
  value->number = times * (double)scene->model->resources.n_warps;
  return true;
}

#define GLOBAL_FACT(name, expression)                                                              \
  bool fact_##name(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) { \
    const GlobalSite *site = find_global(scene, args->word[0], diags);                             \
    if (!site) return false;                                                                       \
    value->number = (double)(expression);                                                          \
    if (site->count.known) return true;                                                            \
    diag_add(diags, "fact", "%s has no counted sectors", site->text);                              \
    return false;                                                                                  \
  }
GLOBAL_FACT(sectors, site->count.sectors)
GLOBAL_FACT(sectors_ideal, site->count.ideal)
GLOBAL_FACT(sectors_used, 100.0 * site->count.bytes / (SECTOR_BYTES * site->count.sectors))
GLOBAL_FACT(sector_lines, site->count.lines)
GLOBAL_FACT(sector_requests, site->requests)
GLOBAL_FACT(block_sectors, site->sectors)

// The access may be of either memory; a cp.async is taken by its side in shared memory.
bool fact_site(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const Model *model = scene->model;
  int n_shared = model->n_sites, n = n_shared + model->global.n;
  const char **texts = ARENA_ARRAY(diags->arena, const char *, n);
  for (int i = 0; i < n; i++)
    texts[i] = i < n_shared ? model->site[i].text : model->global.site[i - n_shared].text;
  int at = find_access(args->word[0], texts, 1, n, diags);
  if (at >= 0) value->word = texts[at];
  return at >= 0;
}

// ---- plain numbers ------------------------------------------------------------------------------

static double tile_of(const Model *model, int axis) {
  return (double)axis_tile(&model->program->axis[axis]);
}

static double workspace(const Model *model) {
  const Buffer *partial = program_buffer(model->program, ROLE_PARTIAL);
  return partial ? (double)buffer_bytes(partial) : 0;
}

static double kernel_wavefronts(const Model *model) {
  const Stmt *k_o = program_slab_loop(model->program);
  double slabs = k_o ? (double)k_o->var->extent : 0;
  return model->totals.wavefronts * slabs * (double)model->resources.n_blocks;
}

// Copies by cp.async count on neither side: no map tells the number of conflicts among their
// wavefronts.
static double kernel_conflicts(const Model *model) {
  double wavefronts = model->totals.wavefronts, conflicts = wavefronts - model->totals.ideal;
  return wavefronts > 0 ? kernel_wavefronts(model) * conflicts / wavefronts : 0;
}

static double conflict_share(const Model *model) {
  double wavefronts = model->totals.wavefronts;
  return wavefronts > 0 ? 100 * (wavefronts - model->totals.ideal) / wavefronts : 0;
}

static double idle_last(const Resources *r) {
  double whole = ceil(r->waves);
  return 100 * (whole - r->waves);
}

#define NUMBER_FACT(name, expression)                                                              \
  bool fact_##name(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) { \
    const Model *m = scene->model;                                                                 \
    (void)args, (void)diags;                                                                       \
    value->number = (double)(expression);                                                          \
    return true;                                                                                   \
  }
bool fact_loads_per_fma(const FactScene *scene, const FactArgs *args, FactValue *value,
                        Diags *diags) {
  (void)args;
  value->number = scene->model->traffic.loads_per_fma;
  if (value->number >= 0) return true;
  diag_add(diags, "fact", "this kernel multiplies by an atom: use tile_reuse");
  return false;
}

NUMBER_FACT(accesses, m->n_sites)
NUMBER_FACT(conflicting, m->totals.n_conflicting)
NUMBER_FACT(slab_wavefronts, m->totals.wavefronts)
NUMBER_FACT(kernel_wavefronts, kernel_wavefronts(m))
NUMBER_FACT(kernel_conflicts, kernel_conflicts(m))
NUMBER_FACT(conflict_share, conflict_share(m))
NUMBER_FACT(slab_ideal, m->totals.ideal)
NUMBER_FACT(threads, m->resources.n_threads)
NUMBER_FACT(warps, m->resources.n_warps)
NUMBER_FACT(blocks, m->resources.n_blocks)
NUMBER_FACT(accumulators, m->resources.n_accumulators)
NUMBER_FACT(registers, m->resources.n_registers)
NUMBER_FACT(smem_bytes, m->resources.smem_bytes)
NUMBER_FACT(smem_kib, (double)m->resources.smem_bytes / 1024)
NUMBER_FACT(blocks_per_sm, m->resources.blocks_per_sm)
NUMBER_FACT(occupancy, 100 * m->resources.occupancy)
NUMBER_FACT(waves, m->resources.waves)
NUMBER_FACT(whole_waves, ceil(m->resources.waves))
NUMBER_FACT(idle_last, idle_last(&m->resources))
NUMBER_FACT(fma_clocks, m->traffic.fma_clocks)
NUMBER_FACT(shared_clocks, m->traffic.shared_clocks)
NUMBER_FACT(flop_per_l2_byte, m->traffic.flop_per_l2_byte)
NUMBER_FACT(global_clocks, m->traffic.global_clocks)
NUMBER_FACT(l2_hit, 100 * m->traffic.l2_hit)
NUMBER_FACT(l2_gib, m->traffic.l2_bytes / (1 << 30))
NUMBER_FACT(dram_gib, m->traffic.dram_bytes / (1 << 30))
NUMBER_FACT(tile_m, tile_of(m, AXIS_M))
NUMBER_FACT(tile_n, tile_of(m, AXIS_N))
NUMBER_FACT(tile_k, program_slab_loop(m->program) ? tile_of(m, AXIS_K) : 1)
NUMBER_FACT(slabs, program_slab_loop(m->program) ? program_slab_loop(m->program)->var->extent : 0)
NUMBER_FACT(kernels, m->program->n_kernels)
NUMBER_FACT(l2_mib, (double)m->target->l2_bytes / (1 << 20))
NUMBER_FACT(sm_kib, (double)m->target->smem_per_sm / 1024)
NUMBER_FACT(workspace_mib, workspace(m) / (1 << 20))

// Unknown where the GPU's numbers are.
#define PEAK_FACT(fact, field)                                                                     \
  bool fact_##fact(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) { \
    (void)args;                                                                                    \
    value->number = scene->model->traffic.field;                                                   \
    if (value->number >= 0) return true;                                                           \
    diag_add(diags, "fact", #fact ": not known of %s", scene->model->target->name);                \
    return false;                                                                                  \
  }
PEAK_FACT(l2_clocks, l2_clocks)
PEAK_FACT(dram_clocks, dram_clocks)
PEAK_FACT(estimate, roofline_tflops)

// ---- words --------------------------------------------------------------------------------------

bool fact_limiter(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  (void)args, (void)diags;
  const Resources *r = &scene->model->resources;
  value->word = r->limiter;
  value->words = limiters;
  value->also = r->limiters;
  return true;
}

bool fact_limiters(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  char text[LIMITERS_BYTES];
  (void)args, (void)diags;
  value->word = arena_strdup(scene->arena, resources_limiters(text, &scene->model->resources));
  return true;
}

bool fact_limit(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  (void)args, (void)diags;
  value->word = scene->model->traffic.limit;
  value->words = limits;
  return true;
}

bool fact_knob(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const char *nearest = NULL;
  KnobId knob = knob_find(args->word[0], &nearest);
  if (knob == KNOB_NONE) {
    diag_add(diags, "unknown_knob", "%s: no such knob", str_sanitise(diags->arena, args->word[0]))
        ->nearest = nearest;
    return false;
  }
  value->word = knob_value_text(scene->arena, &scene->model->schedule, knob);
  return true;
}

bool fact_gpu(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const char *names[TARGET_FIELD_COUNT];
  for (int i = 0; i < TARGET_FIELD_COUNT; i++) {
    names[i] = target_fields[i].name;
    if (!str_equal(names[i], args->word[0])) continue;
    double number = target_number(scene->model->target, (TargetField)i);
    value->word = isnan(number) ? "?" : arena_printf(scene->arena, "%.10g", number);
    return true;
  }
  Diag *diag = diag_add(diags, "fact", "\"%s\" is not a number of a GPU",
                        str_sanitise(diags->arena, args->word[0]));
  diag->nearest = nearest_name(args->word[0], names, TARGET_FIELD_COUNT);
  return false;
}

bool fact_gpu_name(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  (void)args, (void)diags;
  value->word = scene->model->target->name;
  return true;
}

bool fact_claim(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const Rung *rung = fact_find_rung(scene->world, args->word[0], NULL, diags);
  if (!rung) return false;
  const Claim *claim = rung->claim;
  if (!claim || !claim->has_value) {
    diag_add(diags, "fact", "no article has a figure for %s", rung->name);
    return false;
  }
  value->word = arena_printf(scene->arena, "%g %s", claim->value, claim->unit ? claim->unit : "");
  return true;
}

static bool claimed_tflops(const FactScene *scene, const char *name, double *out, Diags *diags) {
  const Rung *rung = fact_find_rung(scene->world, name, NULL, diags);
  *out = rung && rung->claim ? claim_tflops(rung->claim) : (double)NAN;
  if (rung && !(*out > 0)) diag_add(diags, "fact", "no article has a time for %s", rung->name);
  return *out > 0;
}

bool fact_claim_ratio(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  double of, over;
  if (!claimed_tflops(scene, args->word[0], &of, diags) ||
      !claimed_tflops(scene, args->word[1], &over, diags))
    return false;
  value->number = of / over;
  return true;
}

static bool find_record(const FactScene *scene, const FactArgs *args, FactRecord *record,
                        Diags *diags) {
  const FactWorld *world = scene->world;
  const Rung *rung = fact_find_rung(world, args->word[0], NULL, diags);
  if (!rung) return false;
  if (world->recorded && world->recorded(world->records, &rung->schedule, record)) return true;
  diag_add(diags, "record", "%s has no record", rung->name);
  return false;
}

bool fact_recorded(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  FactRecord record;
  if (!find_record(scene, args, &record, diags)) return false;
  value->number = record.tflops;
  return true;
}

// Registers and spills are -1, a ratio 0, where a record does not have them.
#define RECORD_FACT(fact, field, least, factor)                                                    \
  bool fact_##fact(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) { \
    FactRecord record;                                                                             \
    if (!find_record(scene, args, &record, diags)) return false;                                   \
    value->number = (factor) * (double)record.field;                                               \
    if (value->number >= (least)) return true;                                                     \
    diag_add(diags, "record", "the record of %s does not have it", args->word[0]);                 \
    return false;                                                                                  \
  }
RECORD_FACT(recorded_share, ratio, 1e-9, 100)
RECORD_FACT(recorded_registers, registers, 0, 1)
RECORD_FACT(recorded_spills, spill_bytes, 0, 1)

bool fact_recorded_on(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  FactRecord record;
  if (!find_record(scene, args, &record, diags)) return false;
  value->word = arena_printf(scene->arena, "%s, %.10s", record.gpu, record.date);
  return true;
}

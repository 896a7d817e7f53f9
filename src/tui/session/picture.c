// schedule → model → nest, bank maps; twice, so that one of them can always be drawn.
//
// The generation before is still alive while the next one is built, in the other arena: that is
// when the difference of the two listings is taken. A build that fails uses up the arena that is
// not the picture's, so the difference is copied into the generation that owns it.
#include "tui/session/picture.h"

#include <string.h>

#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/machine/machine_code.h"
#include "model/ir/buffer.h"
#include "model/readings/derive.h"
#include "model/readings/place/grid.h"

void side_init(Side *side, const char *name) {
  *side = (Side){.arena = {arena_new(name), arena_new(name)}, .schedule = schedule_default()};
}

void side_free(Side *side) {
  arena_free(side->arena[0]);
  arena_free(side->arena[1]);
  *side = (Side){0};
}

// ---- building -----------------------------------------------------------------------------------

double side_site_price(const Site *site) {
  return site->count.known ? site->clocks - site->ideal : 0;
}

static int find_worst(const Model *model) {
  int worst = -1;
  double most = 0;
  for (int i = 0; i < model->n_sites; i++) {
    double paid = side_site_price(&model->site[i]);
    if (!(paid > most)) continue;
    most = paid;
    worst = i;
  }
  return worst;
}

static const BankMap *map_sites(Arena *arena, const Model *model) {
  BankMap *map = ARENA_ARRAY(arena, BankMap, model->n_sites);
  for (int i = 0; i < model->n_sites; i++)
    banks_map(&map[i], model->site[i].op, model->site[i].addr);
  return map;
}

static const TextDiff *diff_listings(Arena *arena, const Model *before, const Model *after) {
  TextDiff *diff = ARENA_NEW(arena, TextDiff);
  *diff = program_diff(arena, before->program, after->program);
  DiffLine *line = ARENA_ARRAY(arena, DiffLine, diff->n_lines);
  for (int i = 0; i < diff->n_lines; i++) {
    line[i] = diff->line[i];
    line[i].text = arena_strdup(arena, line[i].text);
  }
  diff->line = line;
  return diff;
}

int side_find_site(const Model *model, const char *text) {
  size_t length = strcspn(text, " ");
  for (int i = model->n_sites - 1; i >= 0; i--)
    if (strncmp(model->site[i].text, text, length + 1) == 0) return i;
  return -1;
}

int side_find_global(const Model *model, const char *matrix) {
  for (int i = 0; i < model->global.n; i++)
    if (strcmp(model->global.site[i].matrix->name, matrix) == 0) return i;
  return -1;
}

static int *wavefronts_before(Arena *arena, const Model *model, const Model *before) {
  int *wavefronts = ARENA_ARRAY(arena, int, model->n_sites);
  for (int i = 0; i < model->n_sites; i++) {
    int at = side_find_site(before, model->site[i].text);
    bool known = at >= 0 && before->site[at].count.known;
    wavefronts[i] = known ? before->site[at].count.wavefronts : -1;
  }
  return wavefronts;
}

PictureNumbers picture_numbers(const Model *model) {
  return (PictureNumbers){model->resources, model->traffic};
}

static void compare_with_before(Arena *arena, Picture *picture, const Picture *before) {
  picture->has_before = true;
  picture->before = picture_numbers(before->model);
  picture->before_estimate = picture_numbers(before->estimate);
  picture->before_wavefronts = wavefronts_before(arena, picture->model, before->estimate);
  picture->diff = diff_listings(arena, before->model, picture->model);
  nest_mark_changes(arena, &picture->nest, &before->nest);
  nest_mark_changes(arena, &picture->listing, &before->listing);
}

static Picture *draw_picture(Arena *arena, const Model *model, const Picture *before, bool ascii) {
  Picture *picture = ARENA_NEW(arena, Picture);
  picture->key = schedule_identity(&model->schedule);
  picture->model = picture->estimate = model;
  picture->nest = nest_build(arena, model, ascii);
  picture->listing = nest_listing(arena, model);
  picture->map = picture->map_estimate = map_sites(arena, model);
  picture->worst_site = find_worst(model);
  if (before) compare_with_before(arena, picture, before);
  return picture;
}

bool side_build(Side *side, const TargetTable *targets) {
  int next = side->picture ? 1 - side->at : side->at;
  arena_reset(side->arena[next]);
  const Model *model = model_build(side->arena[next], targets, &side->schedule);
  if (!model->ok) {
    side->reasons = &model->diags;
    return false;
  }
  side->picture = draw_picture(side->arena[next], model, side->picture, side->ascii);
  side->picture->serial = ++side->n_built;
  side->pictured = side->schedule;
  side->at = next;
  side->reasons = NULL;
  return true;
}

// An access that costs what it did before the last change has not changed because the compiler
// merges it.
static void keep_unchanged(Picture *picture) {
  int *before = picture->before_wavefronts;
  for (int i = 0; before && i < picture->estimate->n_sites; i++) {
    const BankCount *count = &picture->estimate->site[i].count;
    if (count->known && before[i] == count->wavefronts)
      before[i] = picture->counted->site[i].count.wavefronts;
  }
}

static void count_anew(Side *side, int registers, int spill_bytes, const SassResult *sass) {
  Picture *picture = side->picture;
  Arena *arena = side->arena[side->at];
  const MachineAccesses *machine =
      sass ? machine_accesses(arena, sass, side_emission(side), picture->estimate) : NULL;
  picture->counted = model_compiled(arena, picture->estimate, registers, spill_bytes, machine);
  picture->map_counted = machine ? map_sites(arena, picture->counted) : picture->map_estimate;
  picture->sass = sass;
  picture->grid_counted = NULL;
  if (machine) keep_unchanged(picture);
}

static bool has_counts(const Picture *picture, int registers, int spill_bytes) {
  const Resources *has = &picture->counted->resources;
  if (registers < 0) return true;
  const Resources wanted = resources_with_registers(
      &picture->estimate->resources, picture->estimate->target, registers, spill_bytes);
  return has->n_registers == registers && has->n_spilled == wanted.n_spilled;
}

// Views differ in whether they go by the compiler's counts, so the model with those counts is kept.
void side_set_compiled(Side *side, int registers, int spill_bytes, const SassResult *sass) {
  Picture *picture = side->picture;
  picture->model = picture->estimate;
  picture->map = picture->map_estimate;
  if (registers >= 0 || sass) {
    bool same =
        picture->counted && picture->sass == sass && has_counts(picture, registers, spill_bytes);
    if (!same) count_anew(side, registers, spill_bytes, sass);
    picture->model = picture->counted;
    picture->map = picture->map_counted;
  }
  picture->worst_site = find_worst(picture->model);
}

void side_show_written(Side *side) {
  Picture *picture = side->picture;
  Arena *arena = side->arena[side->at];
  if (!picture->written) {
    picture->written = model_as_written(arena, picture->estimate);
    picture->map_written = map_sites(arena, picture->written);
  }
  picture->model = picture->written;
  picture->map = picture->map_written;
}

const Emission *side_emission(Side *side) {
  Picture *picture = side->picture;
  const Model *model = picture->model;
  if (!picture->emission)
    picture->emission = emit_model(side->arena[side->at], model, model->program);
  return picture->emission;
}

const Grid *side_grid(Side *side) {
  Picture *picture = side->picture;
  const Grid **grid = picture->model == picture->estimate ? &picture->grid : &picture->grid_counted;
  if (!*grid) *grid = grid_build(side->arena[side->at], picture->model);
  return *grid;
}

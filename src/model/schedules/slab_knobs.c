// A layout of one slab → the knobs that make it, the other slab staying as it is.
//
// Three kinds of knob lay slabs out: SWIZZLE and PAD_SMEM for both at once, LAYOUT_A and LAYOUT_B
// one by one, and those exclude the first two. So SWIZZLE is tried first: its pass is run on the
// program that has just been staged, and both slabs must come out as wished. A pad can only be
// PAD_SMEM, or PAD_CELLS. Everything else is typed, and when the other slab was swizzled by
// SWIZZLE, its swizzle is typed too.
//
// Worked example, tf32 with SWIZZLE=2 on both slabs, and for B the solver's
//   xoroff:off ^ ((off >> 2) & 8) ^ ((off >> 4) & 28)
// becomes LAYOUT_B=xoroff:'off ^ …',LAYOUT_A=swizzle:2:4:3,SWIZZLE=0.
#include "model/schedules/slab_problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/passes/copy/slab_layout.h"
#include "model/passes/passes.h"
#include "model/readings/rules/rule.h"

typedef struct Wish {
  Arena *arena;
  const Model *model;
  const Buffer *slab, *other;  // other: NULL when one operand alone is staged
  const Layout *layout;        // of slab
} Wish;

static bool same_layout(const Layout *a, const Layout *b) {
  if (a->slab.rows != b->slab.rows || a->slab.row_bytes != b->slab.row_bytes) return false;
  size_t bytes = sizeof *a->offset_of * (size_t)(a->slab.rows * a->slab.row_bytes);
  return a->storage_bytes == b->storage_bytes && memcmp(a->offset_of, b->offset_of, bytes) == 0;
}

// The program after the pass that made the slabs, before any pass that lays them out.
static const Program *bare_program(const Model *model) {
  const Program *program = NULL;
  for (int i = 0; i < model->pipeline.n_stages; i++) {
    const Pass *pass = model->pipeline.stage[i].pass;
    if (pass && (str_equal(pass->name, "stage") || str_equal(pass->name, "transpose")))
      program = model->pipeline.stage[i].program;
  }
  return program;
}

// The slabs as SWIZZLE lays them out. TMA cuts them into panels as wide as the swizzle reaches, so
// for TMA they are made anew.
static const Program *swizzled_program(const Wish *wish, const Schedule *schedule) {
  if (pass_tma_wanted(schedule)) {
    Pipeline pipeline = pipeline_run(wish->arena, schedule);
    return pipeline.stage[pipeline.n_stages - 1].program;
  }
  Program *trial = program_clone(wish->arena, bare_program(wish->model));
  if (schedule->value[KNOB_SWIZZLE]) pass_each_product(pass_swizzle, trial, schedule);
  return trial;
}

static bool lies_as(const Wish *wish, const Program *trial, const Schedule *schedule,
                    const Buffer *slab, const Layout *layout) {
  Diags diags = diags_new(wish->arena);
  const Buffer *made = program_buffer(trial, slab->role);
  const Layout *now = slab_layout_now(wish->arena, schedule, made, &diags);
  return now && same_layout(now, layout);
}

// Whether both slabs may be swizzled so: the other one may have rows too short for it.
static bool is_legal(const Wish *wish, const Schedule *schedule) {
  return rules_allow(wish->arena, schedule, wish->model->target);
}

// The SWIZZLE that lays out both slabs as wished, 0 included; -1: none.
static int find_swizzle(const Wish *wish) {
  enum { SWIZZLE_MAX = 3 };
  Diags diags = diags_new(wish->arena);
  const Schedule *now = &wish->model->schedule;
  const Layout *other = wish->other ? slab_layout_now(wish->arena, now, wish->other, &diags) : NULL;
  for (int bits = 0; bits <= SWIZZLE_MAX; bits++) {
    Schedule schedule = *now;
    schedule.value[KNOB_SWIZZLE] = bits;
    schedule.value[KNOB_PAD_SMEM] = schedule.value[KNOB_PAD_CELLS] = 0;
    schedule.layout[0][0] = schedule.layout[1][0] = '\0';
    if (!is_legal(wish, &schedule)) continue;
    const Program *trial = swizzled_program(wish, &schedule);
    if (!lies_as(wish, trial, &schedule, wish->slab, wish->layout)) continue;
    if (!other || lies_as(wish, trial, &schedule, wish->other, other)) return bits;
  }
  return -1;
}

static const char *const KNOB_OF_ROLE[ROLE_COUNT] = {
    [ROLE_SLAB_A] = "LAYOUT_A", [ROLE_SLAB_B] = "LAYOUT_B"};

// The layout as a state line holds it: no comma outside quotes.
static const char *typed_text(Arena *arena, const char *layout) {
  char *text = arena_strdup(arena, layout);
  if (!strchr(layout, ',') && !strchr(layout, '\'') && str_starts(layout, "xor")) {
    size_t kind = strcspn(layout, ":") + 1;
    return arena_printf(arena, "%.*s'%s'", (int)kind, layout, layout + kind);
  }
  if (!strchr(layout, ',')) return text;
  if (!str_starts(layout, "swizzle:") || strchr(layout, ';'))
    return arena_printf(arena, "'%s'", layout);
  for (char *c = text; *c; c++)
    if (*c == ',') *c = ':';
  return text;
}

// Knobs of layouts that are set to something else, each preceded by a comma.
static void add_if_set(Str *out, const Schedule *now, KnobId knob, bool keep, const char *none) {
  Arena *arena = out->arena;
  const char *value = knob_value_text(arena, now, knob);
  if (!keep && !str_equal(value, none)) str_printf(out, ",%s=%s", knob_table[knob].name, none);
}

static const char *swizzle_knobs(const Wish *wish, int bits) {
  const Schedule *now = &wish->model->schedule;
  Str out = str_new(wish->arena);
  str_printf(&out, "SWIZZLE=%d", bits);
  add_if_set(&out, now, KNOB_PAD_SMEM, false, "0");
  add_if_set(&out, now, KNOB_PAD_CELLS, false, "0");
  add_if_set(&out, now, KNOB_LAYOUT_A, false, "none");
  add_if_set(&out, now, KNOB_LAYOUT_B, false, "none");
  return out.text;
}

// pad:4 is PAD_SMEM; pad:1,4 is PAD_CELLS where a thread's cells are runs of four in this slab.
static const char *pad_knobs(const Wish *wish, const char *layout, Diags *diags) {
  const Schedule *now = &wish->model->schedule;
  const char *pad = layout + strlen("pad:"), *run = strchr(pad, ',');
  const Program *bare = bare_program(wish->model);
  const Product *product = program_product(bare);
  int64_t cells = slab_cell_run(product, product_operand(product, wish->slab->role),
                                program_buffer(bare, wish->slab->role));
  if (run && atoi(run + 1) != cells) {
    diag_add(diags, "layout", "%s: a thread's cells lie in runs of %lld here", layout,
             (long long)cells)
        ->nearest = arena_printf(wish->arena, "pad:%d,%lld", atoi(pad), (long long)cells);
    return NULL;
  }
  Str out = str_new(wish->arena);
  str_printf(&out, "%s=%d", run ? "PAD_CELLS" : "PAD_SMEM", atoi(pad));
  add_if_set(&out, now, run ? KNOB_PAD_SMEM : KNOB_PAD_CELLS, false, "0");
  add_if_set(&out, now, KNOB_SWIZZLE, false, "0");
  add_if_set(&out, now, KNOB_LAYOUT_A, false, "none");
  add_if_set(&out, now, KNOB_LAYOUT_B, false, "none");
  return out.text;
}

static const char *typed_knobs(const Wish *wish, const char *layout, Diags *diags) {
  const Schedule *now = &wish->model->schedule;
  XorTerm terms[XOR_TERMS_MAX];
  int n;
  const char *text = typed_text(wish->arena, layout);
  if (!slab_layout_read(text, slab_shape(wish->slab), terms, &n, diags)) return NULL;
  if (strlen(text) >= LAYOUT_TEXT_MAX) {
    diag_add(diags, "layout", "%s: %zu characters, a knob holds %d", text, strlen(text),
             LAYOUT_TEXT_MAX - 1);
    return NULL;
  }
  Str out = str_new(wish->arena);
  str_printf(&out, "%s=%s", KNOB_OF_ROLE[wish->slab->role], text);
  const Buffer *other = wish->other;
  const char *kept = other ? slab_layout_text(wish->arena, now, other) : "none";
  bool swizzled = other && !other->n_xor && other->swizzle_bits;
  if (swizzled)
    str_printf(&out, ",%s=%s", KNOB_OF_ROLE[other->role], typed_text(wish->arena, kept));
  add_if_set(&out, now, KNOB_PAD_SMEM, false, "0");
  add_if_set(&out, now, KNOB_PAD_CELLS, false, "0");
  add_if_set(&out, now, KNOB_SWIZZLE, false, "0");
  return out.text;
}

const char *slab_layout_knobs(Arena *arena, const Model *model, const Buffer *slab,
                              const char *layout, Diags *diags) {
  Wish wish = {.arena = arena, .model = model, .slab = slab};
  BufferRole role = slab->role == ROLE_SLAB_A ? ROLE_SLAB_B : ROLE_SLAB_A;
  LayoutSlab shape = slab_shape(slab);
  wish.other = program_buffer(model->program, role);
  wish.layout = layout_parse(arena, &shape, layout, diags);
  if (!wish.layout) return NULL;
  if (!KNOB_OF_ROLE[slab->role]) {
    diag_add(diags, "layout", "%s: no knob sets its layout; its swizzle comes with %s", slab->name,
             slab->knob == KNOB_NONE ? "the program" : knob_table[slab->knob].name);
    return NULL;
  }
  int bits = find_swizzle(&wish);
  if (bits >= 0) return swizzle_knobs(&wish, bits);
  if (pass_tma_wanted(&model->schedule)) {
    diag_add(diags, "layout",
             "%s: TMA lays slabs out only by SWIZZLE, and no SWIZZLE gives this "
             "layout",
             layout);
    return NULL;
  }
  bool pad = str_starts(layout, "pad:") && !strchr(layout, ';');
  return pad ? pad_knobs(&wish, layout, diags) : typed_knobs(&wish, layout, diags);
}

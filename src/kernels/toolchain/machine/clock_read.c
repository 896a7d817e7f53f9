// JSON → ClockAnswer. Instructions are decoded from their bytes again, so that control words,
// opcodes and register banks are those of the code itself.
#include "kernels/toolchain/machine/clock_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "kernels/toolchain/machine/register_banks.h"

enum { CODE_MAX = 1 << 16, RESIDENT_MAX = 1 << 10, NUMBER_MAX = 1 << 30 };

typedef struct Reader {
  Arena *arena;
  Diags *diags;
  ClockAnswer *out;
} Reader;

static double number_of(const Reader *r, const JsonValue *object, const char *key) {
  const JsonValue *value = json_object_get(object, key);
  double number = 0;
  if (!json_is_null(value)) json_read_double(value, &number, r->diags);
  return number;
}

static const char *text_of(const Reader *r, const JsonValue *object, const char *key) {
  const char *text = NULL;
  json_optional_string(object, key, &text, r->diags);
  return text ? str_sanitise(r->arena, text) : "";
}

static ClockSpan span_of(const Reader *r, const JsonValue *span) {
  if (json_is_null(span)) return (ClockSpan){-1, -1, -1};
  return (ClockSpan){number_of(r, span, "value"), number_of(r, span, "low"),
                     number_of(r, span, "high")};
}

// The number of a cause by its name; what is not known is CLOCK_MISC.
static ClockCause cause_named(const char *name) {
  for (int i = 0; i < CLOCK_CAUSE_COUNT; i++)
    if (str_equal(name, clock_cause_name((ClockCause)i))) return (ClockCause)i;
  return CLOCK_MISC;
}

static void take_causes(const Reader *r, const JsonValue *object, double out[CLOCK_CAUSE_COUNT]) {
  for (int i = 0; i < CLOCK_CAUSE_COUNT; i++)
    out[i] = number_of(r, object, clock_cause_name((ClockCause)i));
}

static void take_ifs(const Reader *r, const JsonValue *object, ClockIf out[CLOCK_IFS]) {
#define ROW(id, key, title) out[CLOCK_IF_##id].clocks = number_of(r, object, key);
  CLOCK_IF_TABLE(ROW)
#undef ROW
}

// ---- instructions -------------------------------------------------------------------------------

// Two numbers of 64 bits, the higher first, as 32 hexadecimal digits.
static bool take_encoding(const Reader *r, const JsonValue *value, unsigned char out[SASS_BYTES]) {
  enum { DIGITS = 2 * SASS_BYTES, HALF = SASS_BYTES / 2 };
  const char *text = "";
  if (!json_read_string(value, &text, r->diags)) return false;
  if (strlen(text) != DIGITS || strspn(text, "0123456789abcdef") != DIGITS) {
    json_diag(r->diags, value, "expected 32 hexadecimal digits");
    return false;
  }
  for (int half = 0; half < 2; half++) {
    const uint64_t bits =
        strtoull(arena_strndup(r->arena, text + half * SASS_BYTES, SASS_BYTES), NULL, SASS_BYTES);
    memcpy(out + (half ? 0 : HALF), &bits, sizeof bits);
  }
  return true;
}

static bool take_code(const Reader *r, const JsonValue *root) {
  const JsonValue *list = json_require_array(root, "encodings", r->diags);
  const int n = json_count(list), before = r->diags->count;
  int sm = 0;
  if (n > CODE_MAX) json_diag(r->diags, list, "there are more than %d instructions", CODE_MAX);
  if (!json_require_int(root, "sm", 1, 999, &sm, r->diags) || !list || n > CODE_MAX) return false;
  unsigned char *bytes = arena_alloc(r->arena, (size_t)n * SASS_BYTES + 1);
  for (int i = 0; i < n; i++)
    if (!take_encoding(r, json_at(list, i), bytes + i * SASS_BYTES)) return false;
  r->out->code = sass_decode(r->arena, bytes, (size_t)n * SASS_BYTES, sm);
  return r->diags->count == before;
}

static int index_of(const Reader *r, const JsonValue *value) {
  int64_t at = -1;
  if (!json_is_null(value)) json_read_int64(value, -1, NUMBER_MAX, &at, r->diags);
  return at < r->out->code.n ? (int)at : -1;
}

static void take_instructions(const Reader *r, const JsonValue *root) {
  ClockAnswer *out = r->out;
  const int n = out->code.n;
  const JsonValue *list = json_object_get(root, "instructions"),
                  *lines = json_object_get(root, "source_lines");
  const char **text = ARENA_ARRAY(r->arena, const char *, n + 1);
  int *line = ARENA_ARRAY(r->arena, int, n + 1);
  out->executed = ARENA_ARRAY(r->arena, double, n + 1);
  out->lost = ARENA_ARRAY(r->arena, double, n + 1);
  out->cause = ARENA_ARRAY(r->arena, ClockCause, n + 1);
  out->blame = ARENA_ARRAY(r->arena, int, n + 1);
  for (int i = 0; i < n; i++) {
    const JsonValue *row = json_at(list, i);
    text[i] = text_of(r, row, "sass");
    out->executed[i] = number_of(r, row, "executed");
    out->lost[i] = number_of(r, row, "lost");
    out->cause[i] = cause_named(text_of(r, row, "cause"));
    int64_t by = -1;
    json_optional_int64(row, "blame_pc", 0, NUMBER_MAX, &by, r->diags);
    out->blame[i] = by >= 0 && by / SASS_BYTES < n ? (int)(by / SASS_BYTES) : -1;
    if (i < json_count(lines)) json_read_int(json_at(lines, i), 0, NUMBER_MAX, &line[i], r->diags);
  }
  out->text = text;
  out->line = json_is_null(lines) ? NULL : line;
}

// ---- loops --------------------------------------------------------------------------------------

// A place in the code, in bytes; -1 after a finding.
static int place_of(const Reader *r, const JsonValue *object, const char *key) {
  int at = 0;
  const int last = max_int(0, r->out->code.n - 1) * SASS_BYTES;
  return json_require_int(object, key, 0, last, &at, r->diags) ? at / SASS_BYTES : -1;
}

static void take_loop(const Reader *r, const JsonValue *value, ClockedLoop *loop) {
  *loop = (ClockedLoop){.loop = {place_of(r, value, "begin_pc"), place_of(r, value, "end_pc")},
                        .turns = number_of(r, value, "turns"),
                        .clocks = span_of(r, json_object_get(value, "clocks"))};
  if (loop->loop.first > loop->loop.last)
    json_diag(r->diags, value, "the loop ends before it begins");
  loop->turn.clocks = loop->clocks.value;
  loop->turn.issued = number_of(r, value, "issued");
  take_causes(r, json_object_get(value, "lost"), loop->turn.lost_to);
  take_ifs(r, json_object_get(value, "what_if"), loop->what_if);
}

static void take_turn(const Reader *r, const JsonValue *value, ClockedLoop *loop) {
  const int n = r->out->code.n, first = loop->loop.first;
  const JsonValue *lost = json_object_get(value, "lost"),
                  *causes = json_object_get(value, "causes"),
                  *blames = json_object_get(value, "blames");
  double *lost_by = ARENA_ARRAY(r->arena, double, n + 1);
  ClockCause *cause = ARENA_ARRAY(r->arena, ClockCause, n + 1);
  int *blame = ARENA_ARRAY(r->arena, int, n + 1);
  for (int i = 0; first + i <= loop->loop.last; i++) {
    int of = 0;
    if (i < json_count(lost)) json_read_double(json_at(lost, i), &lost_by[first + i], r->diags);
    if (i < json_count(causes))
      json_read_int(json_at(causes, i), 0, CLOCK_CAUSE_COUNT - 1, &of, r->diags);
    cause[first + i] = (ClockCause)of;
    blame[first + i] = index_of(r, json_at(blames, i));
  }
  loop->turn.lost = lost_by;
  loop->turn.cause = cause;
  loop->turn.blame = blame;
}

static bool take_loops(const Reader *r, const JsonValue *root) {
  ClockAnswer *out = r->out;
  const JsonValue *list = json_object_get(root, "loops"), *turns = json_object_get(root, "turns");
  const int before = r->diags->count;
  out->n_loops = min_int(json_count(list), CLOCK_LOOPS_MAX);
  out->loop = ARENA_ARRAY(r->arena, ClockedLoop, out->n_loops + 1);
  out->main = -1;
  for (int i = 0; i < out->n_loops && r->diags->count == before; i++) {
    take_loop(r, json_at(list, i), &out->loop[i]);
    if (r->diags->count == before) take_turn(r, json_at(turns, i), &out->loop[i]);
  }
  json_optional_int(root, "main_loop", -1, out->n_loops - 1, &out->main, r->diags);
  return r->diags->count == before;
}

// ---- the window ---------------------------------------------------------------------------------

static void take_lane(const Reader *r, const JsonValue *lane, int clocks, ClockCell *cell) {
  const JsonValue *runs = json_object_get(lane, "runs");
  for (int i = 0; i < clocks; i++) cell[i] = (ClockCell){CLOCK_WINDOW_NOWHERE, CLOCK_SELECTED};
  for (int i = 0; i < json_count(runs); i++) {
    const JsonValue *run = json_at(runs, i);
    int64_t pc = -1;
    int at = 0, n = 0;
    json_optional_int64(run, "pc", 0, NUMBER_MAX, &pc, r->diags);
    json_optional_int(run, "clock", 0, clocks, &at, r->diags);
    json_optional_int(run, "clocks", 0, clocks, &n, r->diags);
    const int inst =
        pc >= 0 && pc / SASS_BYTES < r->out->code.n ? (int)(pc / SASS_BYTES) : CLOCK_WINDOW_NOWHERE;
    const ClockCause cause = cause_named(text_of(r, run, "cause"));
    for (int k = at; k < at + n && k < clocks; k++) cell[k] = (ClockCell){inst, cause};
  }
}

static bool is_empty(const ClockWindow *window, const ClockCell *cell, int warp) {
  for (int i = 0; i < window->clocks; i++)
    if (cell[warp * window->clocks + i].pc != CLOCK_WINDOW_NOWHERE) return false;
  return true;
}

static void take_window(const Reader *r, const JsonValue *value) {
  ClockWindow *out = &r->out->window;
  const JsonValue *warps = json_object_get(value, "warps");
  int leader = 0;
  *out = (ClockWindow){.clocks = 0};
  if (json_is_null(value)) return;
  json_optional_int(value, "clocks", 0, CLOCK_WINDOW_MAX, &out->clocks, r->diags);
  json_optional_int64(value, "begin_clk", 0, INT64_MAX / 4, &out->begin, r->diags);
  json_optional_int(value, "scheduler", 0, NUMBER_MAX, &out->scheduler, r->diags);
  json_optional_int(value, "turn_of_warp", 0, NUMBER_MAX, &leader, r->diags);
  json_optional_bool(value, "cut", &out->is_cut, r->diags);
  out->n = min_int(json_count(warps), CLOCK_WINDOW_WARPS_MAX);
  if (out->n == 0) out->clocks = 0;
  ClockCell *cell = ARENA_ARRAY(r->arena, ClockCell, (size_t)out->n * (size_t)out->clocks + 1);
  for (int i = 0; i < out->n; i++) {
    json_optional_int(json_at(warps, i), "warp", 0, NUMBER_MAX, &out->warp[i], r->diags);
    take_lane(r, json_at(warps, i), out->clocks, cell + (size_t)i * (size_t)out->clocks);
    if (out->warp[i] == leader) out->leader = i;
  }
  // Places of an SM for which the launch has no warp.
  while (out->n > out->leader + 1 && is_empty(out, cell, out->n - 1)) out->n--;
  out->cell = cell;
}

// ---- the whole ----------------------------------------------------------------------------------

static const Target *target_named(const TargetTable *targets, const char *name) {
  for (int i = 0; i < targets->count; i++)
    if (str_equal(targets->targets[i].name, name)) return &targets->targets[i];
  return NULL;
}

static void take_kernel(const Reader *r, const JsonValue *root) {
  ClockAnswer *out = r->out;
  const JsonValue *kernel = json_object_get(root, "kernel");
  out->kernel = text_of(r, kernel, "name");
  out->clocks = span_of(r, json_object_get(kernel, "clocks"));
  take_ifs(r, json_object_get(kernel, "what_if"), out->what_if);
  out->mhz = number_of(r, root, "mhz");
  out->power_share = 1;
  out->issued = number_of(r, root, "issued");
  take_causes(r, json_object_get(root, "lost"), out->lost_to);
  take_causes(r, json_object_get(root, "stalls"), out->stalls);
  json_optional_bool(root, "unchecked", &out->unchecked, r->diags);
  json_optional_int(root, "warps", 0, CLOCK_WARPS_MAX, &out->warps, r->diags);
  json_optional_int(root, "resident_blocks", 0, RESIDENT_MAX, &out->blocks, r->diags);
}

const ClockAnswer *clock_read(Arena *arena, const JsonValue *root, const TargetTable *targets,
                              Diags *diags) {
  const int before = diags->count;
  const Reader r = {arena, diags, ARENA_NEW(arena, ClockAnswer)};
  const char *gpu = text_of(&r, root, "gpu");
  r.out->target = target_named(targets, gpu);
  if (!r.out->target) json_diag(diags, root, "no GPU is called \"%s\"", gpu);
  if (!r.out->target || !take_code(&r, root)) return NULL;
  take_kernel(&r, root);
  take_instructions(&r, root);
  if (!take_loops(&r, root)) return NULL;
  take_window(&r, json_object_get(root, "window"));
  const int clocks = register_bank_rule(r.out->target->cc)->clocks;
  r.out->marks = clock_marks(arena, &r.out->code, NULL, clocks);
  return diags->count == before ? r.out : NULL;
}

// JSON → tables. Every index is checked here, so that the code that draws need not.
#include "tui/views/own/opened.h"

#include <string.h>

#include "banks/engine/sector.h"
#include "base/str.h"
#include "base/whole.h"

enum { ADDRESS_MAX = 1 << 30 };

typedef struct Reader {
  Arena *arena;
  Diags *diags;
  Opened *out;
  const JsonValue *root;
} Reader;

static const char *text_of(const Reader *r, const JsonValue *object, const char *key) {
  const char *text = NULL;
  json_optional_string(object, key, &text, r->diags);
  return text ? str_sanitise(r->arena, text) : NULL;
}

static int64_t number_of(const Reader *r, const JsonValue *object, const char *key) {
  int64_t value = 0;
  json_optional_int64(object, key, INT64_MIN / 4, INT64_MAX / 4, &value, r->diags);
  return value;
}

static bool flag_of(const Reader *r, const JsonValue *object, const char *key) {
  bool flag = false;
  json_optional_bool(object, key, &flag, r->diags);
  return flag;
}

static OpenedChain chain_of(const Reader *r, const JsonValue *object) {
  OpenedChain chain = {.n = 0};
  const JsonValue *list = json_object_get(object, "chain");
  chain.n = min_int(json_count(list), OPENED_CHAIN);
  for (int i = 0; i < chain.n; i++) {
    const char *file = text_of(r, json_at(list, i), "file");
    chain.place[i] = (OpenedPlace){file ? file : "", (int)number_of(r, json_at(list, i), "line")};
  }
  return chain;
}

// ---- sites --------------------------------------------------------------------------------------

static void take_addresses(const Reader *r, const JsonValue *list, int first, bool global,
                           int64_t out[BANK_LANES]) {
  for (int lane = 0; lane < BANK_LANES; lane++) {
    out[lane] = -1;
    json_read_int64(json_at(list, first + lane), -1, global ? INT64_MAX / 4 : ADDRESS_MAX,
                    &out[lane], r->diags);
  }
}

static void take_patterns(const Reader *r, const JsonValue *list, RecordedSite *site) {
  const RecordedPattern **end = &site->patterns;
  site->n_patterns = json_count(list);
  for (int i = 0; i < site->n_patterns; i++) {
    const JsonValue *row = json_at(list, i);
    RecordedPattern *p = ARENA_NEW(r->arena, RecordedPattern);
    json_read_int64(json_at(row, 0), 1, INT64_MAX / 4, &p->times, r->diags);
    take_addresses(r, row, 1, false, p->addr);
    if (json_count(row) > 1 + BANK_LANES) take_addresses(r, row, 1 + BANK_LANES, true, p->global);
    *end = p;
    end = &p->next;
  }
}

static int width_of(const Reader *r, const JsonValue *value, const OpenedSite *site) {
  const int bytes = (int)number_of(r, value, "bytes");
  if (!site->shared || (is_power_of_two(bytes) && bytes <= 16)) return bytes;
  json_diag(r->diags, value, "%d bytes are the width of no access", bytes);
  return 4;
}

static void take_site(const Reader *r, const JsonValue *value, OpenedSite *s) {
  const char *op = text_of(r, value, "op"), *global_op = text_of(r, value, "global_op"),
             *ptx = text_of(r, value, "ptx");
  *s = (OpenedSite){.chain = chain_of(r, value),
                    .ptx_line = (int)number_of(r, value, "ptx_line"),
                    .ptx = ptx ? ptx : "",
                    .shared = flag_of(r, value, "shared"),
                    .countable = flag_of(r, value, "countable"),
                    .data = flag_of(r, value, "depends_on_data"),
                    .as_compiled = flag_of(r, value, "as_compiled"),
                    .formula_of_all = flag_of(r, value, "formula_of_all"),
                    .executions = number_of(r, value, "executions"),
                    .wavefronts = number_of(r, value, "wavefronts"),
                    .wavefronts_most = number_of(r, value, "wavefronts_at_most"),
                    .ideal = number_of(r, value, "ideal"),
                    .sectors = number_of(r, value, "sectors"),
                    .ideal_sectors = number_of(r, value, "ideal_sectors"),
                    .formula = text_of(r, value, "formula"),
                    .not_affine = text_of(r, value, "not_affine"),
                    .global_op = global_op ? sectors_op_find(global_op) : NULL,
                    .worst_wavefronts = (int)number_of(r, value, "worst_wavefronts"),
                    .array = -1};
  s->recorded.op = op ? banks_op_find(op) : NULL;
  s->recorded.atomic = (BankAtomic)clamp_index(number_of(r, value, "atomic"), BANK_ATOMIC_SWAP + 1);
  s->recorded.bytes = width_of(r, value, s);
  s->recorded.left_out = number_of(r, value, "left_out");
  json_optional_int(value, "array", -1, r->out->n_arrays - 1, &s->array, r->diags);
  if (s->shared) take_addresses(r, json_object_get(value, "worst"), 0, false, s->worst);
  if (s->global_op)
    take_addresses(r, json_object_get(value, "worst_global"), 0, true, s->worst_global);
  take_patterns(r, json_object_get(value, "patterns"), &s->recorded);
}

// ---- the rest -----------------------------------------------------------------------------------

static void take_array(const Reader *r, const JsonValue *value, OpenedArray *a) {
  const char *name = text_of(r, value, "name");
  const JsonValue *best = json_object_get(value, "best");
  *a = (OpenedArray){.name = name ? name : "?",
                     .pitch_from = text_of(r, value, "pitch_from"),
                     .wavefronts = number_of(r, value, "wavefronts")};
  json_optional_int64(value, "base", 0, ADDRESS_MAX, &a->at.base, r->diags);
  json_optional_int64(value, "bytes", 1, ADDRESS_MAX, &a->at.bytes, r->diags);
  json_require_int(value, "row_bytes", 1, ADDRESS_MAX, &a->at.row_bytes, r->diags);
  json_require_int(value, "elem_bytes", 1, 64, &a->at.elem_bytes, r->diags);
  a->at.has_rows = flag_of(r, value, "has_rows");
  if (json_is_null(best)) return;
  a->best = text_of(r, best, "layout");
  a->write = text_of(r, best, "write");
  a->proof = text_of(r, best, "proof");
  a->best_wavefronts = number_of(r, best, "wavefronts");
}

// Tabs go to the next multiple of TAB_COLS.
static const char *without_tabs(Arena *arena, const char *text) {
  enum { TAB_COLS = 4 };
  if (!strchr(text, '\t')) return text;
  Str out = str_new(arena);
  for (; *text; text++)
    if (*text == '\t')
      str_add_repeat(&out, ' ', TAB_COLS - (int)(out.length % TAB_COLS));
    else
      str_add_char(&out, *text);
  return out.text;
}

static void take_text(const Reader *r, const JsonValue *value, OpenedText *t) {
  const char *text = text_of(r, value, "text");
  *t = (OpenedText){.chain = chain_of(r, value),
                    .ptx_line = (int)number_of(r, value, "ptx_line"),
                    .text = text ? without_tabs(r->arena, text) : "",
                    .executed = number_of(r, value, "executed")};
  if (t->chain.n > 0 || json_is_null(json_object_get(value, "line"))) return;
  const char *file = text_of(r, value, "file");
  t->chain.place[t->chain.n++] = (OpenedPlace){file ? file : "", (int)number_of(r, value, "line")};
}

static void take_source(const Reader *r, const JsonValue *value, OpenedSource *s) {
  const JsonValue *lines = json_object_get(value, "lines");
  const char *file = text_of(r, value, "file");
  *s = (OpenedSource){.file = file ? file : "", .n = json_count(lines)};
  s->line = ARENA_ARRAY(r->arena, const char *, s->n + 1);
  for (int i = 0; i < s->n; i++) {
    const char *text = "";
    json_read_string(json_at(lines, i), &text, r->diags);
    s->line[i] = without_tabs(r->arena, str_sanitise(r->arena, text));
  }
}

static void take_findings(Reader *r, const char *key) {
  const JsonValue *list = json_object_get(r->root, key);
  for (int i = 0; i < json_count(list); i++) {
    const char *text = text_of(r, json_at(list, i), "text");
    if (text) r->out->finding[r->out->n_findings++] = text;
  }
}

static void take_files(Reader *r) {
  const JsonValue *list = json_object_get(r->root, "made_of");
  r->out->made_of = ARENA_ARRAY(r->arena, const char *, json_count(list) + 1);
  for (int i = 0; i < json_count(list); i++)
    if (json_read_string(json_at(list, i), &r->out->made_of[i], r->diags)) r->out->n_made_of++;
}

static void take_triple(const Reader *r, const JsonValue *object, const char *key, int out[3]) {
  for (int d = 0; d < 3; d++) {
    out[d] = 1;
    json_read_int(json_at(json_object_get(object, key), d), 0, INT32_MAX, &out[d], r->diags);
  }
}

static void take_launch(const Reader *r, const JsonValue *value, OpenedLaunch *l) {
  const char *kernel = text_of(r, value, "kernel"), *title = text_of(r, value, "title");
  *l = (OpenedLaunch){.kernel = kernel ? kernel : "",
                      .title = title ? title : "",
                      .note = text_of(r, value, "note"),
                      .smem = number_of(r, value, "smem_bytes"),
                      .times = number_of(r, value, "times"),
                      .first = number_of(r, value, "first"),
                      .held = flag_of(r, value, "held")};
  take_triple(r, value, "grid", l->grid);
  take_triple(r, value, "block", l->block);
  take_triple(r, value, "cluster", l->cluster);
}

#define TAKE_ALL(key, field, T, take)                                \
  do {                                                               \
    const JsonValue *list_ = json_object_get(r->root, key);          \
    r->out->n_##field = json_count(list_);                           \
    r->out->field = ARENA_ARRAY(r->arena, T, r->out->n_##field + 1); \
    for (int i_ = 0; i_ < r->out->n_##field; i_++)                   \
      take(r, json_at(list_, i_), &r->out->field[i_]);               \
  } while (0)

static void take_head(Reader *r) {
  const JsonValue *root = r->root;
  Opened *o = r->out;
  json_require_string(root, "file", &o->file, r->diags);
  json_require_string(root, "kernel", &o->kernel, r->diags);
  json_require_string(root, "signature", &o->signature, r->diags);
  o->target = text_of(r, root, "target");
  o->compiler = text_of(r, root, "compiler");
  o->outcome = text_of(r, root, "outcome");
  o->predicted_because = text_of(r, root, "predicted_because");
  o->warning = text_of(r, root, "warning");
  o->as_given = text_of(r, root, "as_given");
  o->as_compiled = flag_of(r, root, "as_compiled");
  o->as_last_time = flag_of(r, root, "as_last_time");
  o->blocks = number_of(r, root, "blocks");
  take_triple(r, root, "grid", o->grid);
  take_triple(r, root, "block", o->block);
  o->n_races = json_count(json_object_get(root, "races"));
  o->finding = ARENA_ARRAY(r->arena, const char *,
                           o->n_races + json_count(json_object_get(root, "findings")) + 1);
  take_findings(r, "races");
  take_findings(r, "findings");
  take_files(r);
  o->is_machine_code = flag_of(r, root, "machine_code");
  o->clock = json_object_get(root, "clock");
  o->no_clock = text_of(r, root, "no_clock");
  o->program = text_of(r, root, "program");
}

static void add_up(Opened *o) {
  o->countable = true;
  for (int i = 0; i < o->n_sites; i++) {
    if (!o->sites[i].shared) continue;
    o->countable &= o->sites[i].countable;
    if (!o->sites[i].countable) continue;
    o->wavefronts += o->sites[i].wavefronts;
    o->wavefronts_most += o->sites[i].wavefronts_most;
    o->ideal += o->sites[i].ideal;
  }
}

const Opened *opened_read(Arena *arena, const char *json, size_t n, Diags *diags) {
  const int before = diags->count;
  Reader reader = {.arena = arena, .diags = diags, .out = ARENA_NEW(arena, Opened)}, *r = &reader;
  r->root = json_parse(arena, json, n, diags, "open");
  if (!r->root) return NULL;
  take_head(r);
  TAKE_ALL("arrays", arrays, OpenedArray, take_array);
  TAKE_ALL("sites", sites, OpenedSite, take_site);
  TAKE_ALL("code", code, OpenedText, take_text);
  TAKE_ALL("sass", sass, OpenedText, take_text);
  TAKE_ALL("sources", sources, OpenedSource, take_source);
  TAKE_ALL("launches", launches, OpenedLaunch, take_launch);
  if (r->out->n_sources == 0) json_diag(diags, r->root, "there is no source");
  if (diags->count > before) return NULL;
  add_up(r->out);
  return r->out;
}

// ---- lines --------------------------------------------------------------------------------------

int opened_line_of(const OpenedSource *source, const OpenedChain *chain, int ptx_line, bool calls) {
  int line = 0;
  if (!*source->file) return ptx_line <= source->n ? ptx_line : 0;
  for (int i = 0; i < chain->n; i++) {
    const OpenedPlace *place = &chain->place[i];
    if (!str_equal(place->file, source->file) || place->line < 1 || place->line > source->n)
      continue;
    line = place->line;
    if (!calls) return line;
  }
  return line;
}

static void add_site(OpenedLine *line, const OpenedSite *site, int64_t then) {
  line->sectors += site->sectors;
  line->ideal_sectors += site->ideal_sectors;
  line->n_sites++;
  if (!site->shared) return;
  if (!line->shared) line->countable = line->as_compiled = true;
  line->shared = true;
  line->countable &= site->countable;
  line->as_compiled &= site->as_compiled;
  line->data |= site->data;
  line->wavefronts += site->countable ? site->wavefronts : 0;
  line->wavefronts_most += site->countable ? site->wavefronts_most : 0;
  line->ideal += site->countable ? site->ideal : 0;
  line->then += site->countable ? then : 0;
}

OpenedLine *opened_lines(Arena *arena, const Opened *opened, int source, bool calls,
                         const int64_t *then) {
  const OpenedSource *s = &opened->sources[source];
  OpenedLine *lines = ARENA_ARRAY(arena, OpenedLine, s->n + 1);
  for (int i = 0; i < opened->n_sites; i++) {
    const OpenedSite *site = &opened->sites[i];
    const int line = opened_line_of(s, &site->chain, site->ptx_line, calls);
    if (line > 0) add_site(&lines[line], site, then ? then[i] : site->wavefronts);
  }
  for (int i = 0; i < opened->n_code && opened->is_machine_code; i++) {
    const OpenedText *code = &opened->code[i];
    const int line = opened_line_of(s, &code->chain, code->ptx_line, calls);
    if (line > 0) lines[line].executed += code->executed;
  }
  return lines;
}

int64_t opened_badness(const OpenedLine *line) {
  return line->shared && line->countable ? line->wavefronts - line->ideal : 0;
}

// Record → JSON. Addresses of a site are rows [times, 32 addresses] and, of a copy, 32 more: where
// it reads from, counted from a line of global memory.
//
// Sources are read where the text's .file says, else beside the file that was opened; only files
// that are called like source files.
#include "cli/open/open_detail.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/open/open_input.h"
#include "ptx/module/ptx_module.h"

enum { SOURCES_MAX = 16, SOURCE_BYTES_MAX = 4 << 20, CHAIN_MAX = 16 };

// ---- arrays -------------------------------------------------------------------------------------

static void put_best(JsonWriter *w, const RecordedBest *best) {
  json_key(w, "best");
  if (!best->found) {
    json_put_null(w);
    return;
  }
  json_begin_object(w);
  json_member_string(w, "layout", best->layout);
  json_member_string(w, "write", best->write);
  json_member_int(w, "wavefronts", best->cost.wavefronts);
  json_member_int(w, "storage_bytes", best->cost.storage_bytes);
  json_member_string(w, "proof", best->proof);
  json_end_object(w);
}

static void put_arrays(JsonWriter *w, const OpenResult *r) {
  json_key(w, "arrays");
  json_begin_array(w);
  for (int i = 0; i < r->arrays.n; i++) {
    const PtxArray *array = &r->arrays.items[i];
    json_begin_object(w);
    json_member_string(w, "name", array->name);
    json_member_int(w, "base", array->at.base);
    json_member_int(w, "bytes", array->at.bytes);
    json_member_int(w, "row_bytes", array->at.row_bytes);
    json_member_bool(w, "has_rows", array->at.has_rows);
    json_member_int(w, "elem_bytes", array->at.elem_bytes);
    json_member_string(w, "pitch_from", array->pitch_from);
    json_member_int(w, "wavefronts", r->cures[i].now);
    put_best(w, &r->cures[i].best);
    json_end_object(w);
  }
  json_end_array(w);
}

// ---- sites --------------------------------------------------------------------------------------

static void put_addresses(JsonWriter *w, const int64_t addr[BANK_LANES]) {
  for (int lane = 0; lane < BANK_LANES; lane++) json_put_int(w, addr[lane]);
}

static void put_patterns(JsonWriter *w, const RecordedSite *site) {
  const bool copies = site->op && site->op->kind == BANK_CPASYNC;
  json_key(w, "patterns");
  json_begin_array(w);
  for (const RecordedPattern *p = site->patterns; p; p = p->next) {
    json_begin_array(w);
    json_put_int(w, p->times);
    put_addresses(w, p->addr);
    if (copies) put_addresses(w, p->global);
    json_end_array(w);
  }
  json_end_array(w);
}

static void put_chain(JsonWriter *w, const OpenResult *r, int loc) {
  json_key(w, "chain");
  json_begin_array(w);
  for (int depth = 0; loc >= 0 && depth < CHAIN_MAX; depth++) {
    const PtxLoc *l = &r->module->locs[loc];
    json_begin_object(w);
    json_member_string(w, "file", ptx_base_name(ptx_file_name(r->module, l->file)));
    json_member_int(w, "line", l->line);
    json_end_object(w);
    loc = l->inlined_at;
  }
  json_end_array(w);
}

static void put_formula(JsonWriter *w, const OpenResult *r, const PtxSite *site) {
  const int64_t base = site->array < 0 ? PTX_OWN_BASE : r->arrays.items[site->array].at.base;
  const char *why = NULL;
  const char *formula = ptx_record_formula(r->arena, r->record, site, base, &why);
  json_member_string(w, "formula", formula);
  json_member_string(w, "not_affine", why);
  json_member_bool(w, "formula_of_all", !site->steps_cut && r->n_blocks == 1);
}

static void put_site(JsonWriter *w, const OpenResult *r, const PtxSite *site) {
  const PtxSiteCount *count = ptx_tally_site(r->tally, site->pc);
  const bool shared = site->space == PTX_SPACE_SHARED;
  const int loc = ptx_tally_charged(r->tally, site->pc);
  json_begin_object(w);
  json_member_int(w, "ptx_line", r->module->code[site->pc].line);
  put_chain(w, r, loc);
  json_member_bool(w, "shared", shared);
  json_member_bool(w, "as_compiled", r->as_compiled && !ptx_tally_shares_line(r->tally, loc));
  json_member_string(w, "ptx", ptx_inst_text(r->arena, r->module, &r->module->code[site->pc]));
  json_member_string(w, "op", site->recorded.op ? site->recorded.op->name : NULL);
  json_member_int(w, "atomic", site->recorded.atomic);
  json_member_int(w, "bytes", shared ? site->recorded.bytes : site->bytes);
  json_member_int(w, "array", site->array);
  json_member_int(w, "executions", count->executions);
  json_member_int(w, "wavefronts", count->wavefronts);
  json_member_int(w, "wavefronts_at_most", count->wavefronts_most);
  json_member_int(w, "ideal", count->ideal);
  json_member_bool(w, "countable", count->countable);
  json_member_bool(w, "depends_on_data", count->data_addresses || count->data_mask);
  json_member_int(w, "sectors", count->sectors);
  json_member_int(w, "ideal_sectors", count->ideal_sectors);
  put_formula(w, r, site);
  json_member_int(w, "left_out", site->recorded.left_out);
  json_member_string(w, "global_op", site->global_op ? site->global_op->name : NULL);
  json_member_int(w, "worst_wavefronts", count->worst);
  json_key(w, "worst");
  json_begin_array(w);
  if (shared) put_addresses(w, count->worst_addr);
  json_end_array(w);
  json_key(w, "worst_global");
  json_begin_array(w);
  if (site->global_op) put_addresses(w, site->worst);
  json_end_array(w);
  put_patterns(w, &site->recorded);
  json_end_object(w);
}

// ---- texts --------------------------------------------------------------------------------------

// Line `number` of the PTX, without its blanks.
static const char *ptx_line(Arena *arena, const char *const *lines, int n, int number) {
  if (number < 1 || number > n) return "";
  const char *at = lines[number - 1] + strspn(lines[number - 1], " \t");
  return str_sanitise(arena, arena_strndup(arena, at, strcspn(at, "\r\n")));
}

static const char *const *lines_of(Arena *arena, const char *text, int *n) {
  *n = 1;
  for (const char *c = text; *c; c++) *n += *c == '\n';
  const char **lines = ARENA_ARRAY(arena, const char *, *n);
  lines[0] = text;
  for (int i = 1; i < *n; i++) lines[i] = strchr(lines[i - 1], '\n') + 1;
  return lines;
}

static void put_texts(JsonWriter *w, const OpenResult *r) {
  int n = 0;
  const char *const *lines = lines_of(r->arena, r->module->source, &n);
  json_key(w, "code");
  json_begin_array(w);
  for (int pc = r->kernel->first; pc < r->kernel->end; pc++) {
    const int loc = ptx_tally_charged(r->tally, pc), line = r->module->code[pc].line;
    json_begin_object(w);
    json_member_int(w, "ptx_line", line);
    put_chain(w, r, loc);
    json_member_string(w, "text", ptx_line(r->arena, lines, n, line));
    json_end_object(w);
  }
  json_end_array(w);
  json_key(w, "sass");
  json_begin_array(w);
  for (int i = 0; r->sass && i < r->sass->n_lines; i++) {
    const SassLine *line = &r->sass->lines[i];
    if (line->address < 0 || !str_equal(line->kernel, r->kernel->name)) continue;
    const LineRow *at = line_table_find(&r->sass_lines, (uint64_t)line->address);
    json_begin_object(w);
    json_member_string(w, "file", at ? ptx_base_name(at->file) : NULL);
    json_member_known(w, "line", at != NULL, at ? at->line : 0);
    json_member_string(w, "text", line->text);
    json_end_object(w);
  }
  json_end_array(w);
}

// ---- sources ------------------------------------------------------------------------------------

static bool is_source_name(const char *name) {
  static const char *const ends[] = {".cu", ".cuh", ".h", ".hpp", ".cc", ".cpp", ".inl", ".py"};
  const char *dot = strrchr(name, '.');
  for (size_t i = 0; dot && i < sizeof ends / sizeof ends[0]; i++)
    if (str_equal(dot, ends[i])) return true;
  return false;
}

static const char *read_source(Arena *arena, const char *opened, const char *name) {
  Diags ignored = diags_new(arena);
  size_t bytes = 0;
  const char *base = ptx_base_name(name), *path = name;
  const char *slash = strrchr(opened, '/');
  if (open_is_example(opened))
    path = arena_printf(arena, "example:%s", base);
  else if (str_equal(ptx_base_name(opened), base))
    path = opened;
  else if (access(name, R_OK) != 0)
    path = arena_printf(arena, "%.*s%s", slash ? (int)(slash - opened + 1) : 0, opened, base);
  if (!is_source_name(path)) return NULL;
  const char *text = open_read_file(arena, path, &bytes, &ignored);
  return text && bytes <= SOURCE_BYTES_MAX ? text : NULL;
}

const char *open_source_text(const OpenResult *r) {
  for (int pc = r->kernel->first; pc < r->kernel->end; pc++) {
    const int loc = r->module->code[pc].loc;
    if (loc >= 0)
      return read_source(r->arena, r->path, ptx_file_name(r->module, r->module->locs[loc].file));
  }
  return NULL;
}

static void put_source(JsonWriter *w, Arena *arena, const char *name, const char *text) {
  int n = 0;
  const char *const *lines = lines_of(arena, text, &n);
  json_begin_object(w);
  json_member_string(w, "file", ptx_base_name(name));
  json_key(w, "lines");
  json_begin_array(w);
  for (int i = 0; i < n; i++)
    json_put_string(w,
                    str_sanitise(arena, arena_strndup(arena, lines[i], strcspn(lines[i], "\r\n"))));
  json_end_array(w);
  json_end_object(w);
}

// Without any source the PTX is one.
static void put_sources(JsonWriter *w, const OpenResult *r) {
  int n = 0;
  json_key(w, "sources");
  json_begin_array(w);
  for (int i = 0; i < r->module->n_files && n < SOURCES_MAX; i++) {
    const char *name = r->module->files[i].name;
    const char *text = read_source(r->arena, r->path, name);
    if (!text) continue;
    put_source(w, r->arena, name, text);
    n++;
  }
  put_source(w, r->arena, "", r->module->source);
  json_end_array(w);
}

static void put_files(JsonWriter *w, const OpenText *text) {
  json_key(w, "made_of");
  json_begin_array(w);
  for (int i = 0; i < text->n_files; i++) json_put_string(w, text->files[i]);
  json_end_array(w);
}

void open_put_detail(JsonWriter *w, const OpenResult *r) {
  put_files(w, &r->text);
  put_arrays(w, r);
  json_key(w, "sites");
  json_begin_array(w);
  for (int pc = 0; pc < r->module->n_code; pc++) {
    const PtxSite *site = ptx_record_site(r->record, pc);
    if (site) put_site(w, r, site);
  }
  json_end_array(w);
  put_texts(w, r);
  put_sources(w, r);
}

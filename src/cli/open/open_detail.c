// Record → JSON. Addresses of a site are rows [times, 32 addresses] and, of a copy, 32 more: where
// it reads from, counted from a line of global memory.
//
// Sources are read where the text's .file says, else beside the file that was opened; only files
// that are called like source files.
#include "cli/open/open_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/open/open_input.h"
#include "kernels/toolchain/machine/clock_form.h"
#include "ptx/module/ptx_module.h"

enum { SOURCES_MAX = 16, SOURCE_BYTES_MAX = 4 << 20 };

// ---- sites --------------------------------------------------------------------------------------

// One row of numbers a pattern.
static int pattern_numbers(const RecordedSite *site) {
  const bool copies = site->op && site->op->kind == BANK_CPASYNC;
  return 1 + (copies ? 2 : 1) * BANK_LANES;
}

static int pattern_count(const RecordedSite *site) {
  int n = 0;
  for (const RecordedPattern *p = site->patterns; p; p = p->next) n++;
  return n;
}

static const int64_t *patterns(Arena *arena, const RecordedSite *site) {
  const int per = pattern_numbers(site);
  int64_t *number = ARENA_ARRAY(arena, int64_t, pattern_count(site) * per + 1), *at = number;
  for (const RecordedPattern *p = site->patterns; p; p = p->next, at += per) {
    at[0] = p->times;
    memcpy(at + 1, p->addr, sizeof p->addr);
    if (per > 1 + BANK_LANES) memcpy(at + 1 + BANK_LANES, p->global, sizeof p->global);
  }
  return number;
}

typedef struct SiteFormula {
  const char *text, *why;
  bool of_all;
} SiteFormula;

static const SiteFormula *formula_of(Arena *arena, const OpenResult *r, const PtxSite *site) {
  SiteFormula *formula = ARENA_NEW(arena, SiteFormula);
  const int64_t base = site->array < 0 ? PTX_OWN_BASE : r->arrays.items[site->array].at.base;
  formula->text = ptx_record_formula(arena, r->record, site, base, &formula->why);
  formula->of_all = !site->steps_cut && r->n_blocks == 1;
  return formula;
}

static const PtxSite **sites(Arena *arena, const OpenResult *r) {
  const PtxSite **site = ARENA_ARRAY(arena, const PtxSite *, r->module->n_code + 1);
  for (int pc = 0; pc < r->module->n_code; pc++) site[pc] = ptx_record_site(r->record, pc);
  return site;
}

// ---- texts --------------------------------------------------------------------------------------

// Line `number` of the PTX, without its blanks.
static const char *ptx_line(Arena *arena, const char *const *lines, int n, int number) {
  if (number < 1 || number > n) return "";
  const char *at = lines[number - 1] + strspn(lines[number - 1], " \t");
  return str_sanitise(arena, arena_strndup(arena, at, strcspn(at, "\r\n")));
}

static int line_count(const char *text) {
  int n = 1;
  for (const char *c = text; *c; c++) n += *c == '\n';
  return n;
}

static const char *const *lines_of(Arena *arena, const char *text, int *n) {
  *n = line_count(text);
  const char **lines = ARENA_ARRAY(arena, const char *, *n);
  lines[0] = text;
  for (int i = 1; i < *n; i++) lines[i] = strchr(lines[i - 1], '\n') + 1;
  return lines;
}

typedef struct CodeRow {
  int line, loc;
  const char *text;
  int64_t executed;
} CodeRow;

static const CodeRow *code_rows(Arena *arena, const OpenResult *r) {
  int n = 0;
  const char *const *lines = lines_of(arena, r->module->source, &n);
  const int first = r->kernel->first, n_code = r->kernel->end - first;
  CodeRow *row = ARENA_ARRAY(arena, CodeRow, n_code + 1);
  for (int i = 0; i < n_code; i++) {
    const int line = r->module->code[first + i].line;
    row[i] =
        (CodeRow){line, ptx_tally_charged(r->tally, first + i), ptx_line(arena, lines, n, line),
                  ptx_machine_executions(r->machine, first + i)};
  }
  return row;
}

static const SassLine **sass_rows(Arena *arena, const OpenResult *r) {
  const int n = r->sass ? r->sass->n_lines : 0;
  const SassLine **row = ARENA_ARRAY(arena, const SassLine *, n + 1);
  for (int i = 0; i < n; i++) {
    const SassLine *line = &r->sass->lines[i];
    row[i] = line->address < 0 || !str_equal(line->kernel, r->kernel->name) ? NULL : line;
  }
  return row;
}

// ---- sources ------------------------------------------------------------------------------------

static bool is_source_name(const char *name) {
  static const char *const ends[] = {".cu", ".cuh", ".h", ".hpp", ".cc", ".cpp", ".inl", ".py"};
  const char *dot = strrchr(name, '.');
  for (size_t i = 0; dot && i < sizeof ends / sizeof ends[0]; i++)
    if (str_equal(dot, ends[i])) return true;
  return false;
}

// Whether the file lies below a folder, once links are followed.
static bool is_below(const char *file, const char *folder) {
  char *of = realpath(folder, NULL), *real = realpath(file, NULL);
  const size_t n = of ? strlen(of) : 0;
  const bool below = of && real && strncmp(real, of, n) == 0 && (real[n] == '/' || n == 1);
  free(of);
  free(real);
  return below;
}

// A capsule comes from somewhere, and its PTX names files. Of those only what lies below this
// folder or the capsule's own is read: it must not show a file that the user did not mean.
static bool may_read(const OpenResult *r, const char *path) {
  if (!r->text.capsule || r->made_here) return true;
  const char *slash = strrchr(r->path, '/');
  const char *folder =
      slash ? arena_strndup(r->arena, r->path, (size_t)(slash - r->path) + 1) : ".";
  return is_below(path, ".") || is_below(path, folder);
}

static const char *read_source(Arena *arena, const OpenResult *r, const char *name) {
  Diags ignored = diags_new(arena);
  size_t bytes = 0;
  const char *opened = r->path;
  const char *base = ptx_base_name(name), *path = name;
  const char *slash = strrchr(opened, '/');
  if (open_is_example(opened))
    path = arena_printf(arena, "example:%s", base);
  else if (str_equal(ptx_base_name(opened), base))
    path = opened;
  else if (access(name, R_OK) != 0)
    path = arena_printf(arena, "%.*s%s", slash ? (int)(slash - opened + 1) : 0, opened, base);
  if (!is_source_name(path) || !may_read(r, path)) return NULL;
  const char *text = open_read_file(arena, path, &bytes, &ignored);
  return text && bytes <= SOURCE_BYTES_MAX ? text : NULL;
}

const char *open_source_text(const OpenResult *r) {
  for (int pc = r->kernel->first; pc < r->kernel->end; pc++) {
    const int loc = r->module->code[pc].loc;
    if (loc >= 0)
      return read_source(r->arena, r, ptx_file_name(r->module, r->module->locs[loc].file));
  }
  return NULL;
}

typedef struct SourceText {
  const char *name, *text;
} SourceText;

static const char **clean_lines(Arena *arena, const char *text) {
  int n = 0;
  const char *const *lines = lines_of(arena, text, &n);
  const char **clean = ARENA_ARRAY(arena, const char *, n);
  for (int i = 0; i < n; i++)
    clean[i] = str_sanitise(arena, arena_strndup(arena, lines[i], strcspn(lines[i], "\r\n")));
  return clean;
}

static const SourceText *source_text(Arena *arena, const char *name, const char *text) {
  SourceText *source = ARENA_NEW(arena, SourceText);
  *source = (SourceText){name, text};
  return source;
}

// Without any source the PTX is one.
static const SourceText **sources(Arena *arena, const OpenResult *r) {
  const SourceText **source = ARENA_ARRAY(arena, const SourceText *, SOURCES_MAX + 1);
  int n = 0;
  for (int i = 0; i < r->module->n_files && n < SOURCES_MAX; i++) {
    const char *name = r->module->files[i].name, *text = read_source(arena, r, name);
    if (text) source[n++] = source_text(arena, name, text);
  }
  source[n] = source_text(arena, "", r->module->source);
  return source;
}

// ---- the clock ----------------------------------------------------------------------------------

static const ClockTold *told_of(Arena *arena, const OpenResult *r) {
  ClockTold *told = ARENA_NEW(arena, ClockTold);
  *told = (ClockTold){r->clock, true};
  return r->clock ? told : NULL;
}

#define FORM_FILE "cli/open/open_detail.form"
#include "base/form_make.h"

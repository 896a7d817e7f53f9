// Rows of the profiler's table are found again by address, or by their place in the listing; those
// of a table of CUDA lines by line, to which clocks are added up.
#include "cli/common/why/why_ncu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "cli/common/why/ncu_csv.h"

enum { PLACE, ADDRESS, SOURCE, NOT_ISSUED, ALL, SELECTED, NOT_SELECTED, COLUMNS };
enum { SHOWN = 8 };

static const char *const
    place_names[] = {"#", "Line", "Line No", "# Line", "Line Number", NULL},
    *const address_names[] = {"Address", NULL}, *const source_names[] = {"Source", "SASS", NULL},
    *const not_issued_names[] = {"Warp Stall Sampling (Not-issued Samples)",
                                 "Warp Stall Sampling (Not-issued)", "Sampling Data (Not Issued)",
                                 "smsp__pcsamp_sample_count_not_issued", NULL},
    *const all_names[] = {"Warp Stall Sampling (All Samples)",
                          "Warp Stall Sampling (All)",
                          "Sampling Data (All)",
                          "# Samples",
                          "Samples",
                          NULL},
    *const selected_names[] = {"stall_selected", "Stall Selected", NULL},
    *const not_selected_names[] = {"stall_not_selected", "Stall Not Selected", NULL};

static const NcuColumn columns[COLUMNS] = {[PLACE] = {place_names, true},
                                           [ADDRESS] = {address_names, false},
                                           [SOURCE] = {source_names, true},
                                           [NOT_ISSUED] = {not_issued_names, false},
                                           [ALL] = {all_names, false},
                                           [SELECTED] = {selected_names, false},
                                           [NOT_SELECTED] = {not_selected_names, false}};

// ---- rows ---------------------------------------------------------------------------------------

static int64_t positive(const NcuTable *table, const NcuRow *row, int column) {
  const int64_t value = ncu_number(table, row, column);
  return value > 0 ? value : 0;
}

static int64_t samples_of(const NcuTable *table, const NcuRow *row) {
  if (table->has[NOT_ISSUED]) return positive(table, row, NOT_ISSUED);
  return max64(0, positive(table, row, ALL) - positive(table, row, SELECTED) -
                      positive(table, row, NOT_SELECTED));
}

static const char *say_samples(const NcuTable *table) {
  if (table->has[NOT_ISSUED]) return "not-issued samples";
  return table->has[SELECTED] ? "samples of stalled warps" : "all samples";
}

// The opcode of "@!P0 BRA 0x150": its letters.
static size_t opcode_of(const char *text, const char **at) {
  text += strspn(text, " \t");
  if (*text == '@') text += strcspn(text, " ");
  text += strspn(text, " \t");
  *at = text;
  return strcspn(text, " .;");
}

static bool same_opcode(const char *text, const SassInst *inst) {
  const char *at;
  const size_t n = opcode_of(text ? text : "", &at);
  return strlen(inst->opcode->name) == n && strncmp(at, inst->opcode->name, n) == 0;
}

// The place of row `i` in the code: by its address, counted from the first row's.
static int inst_of(const NcuTable *table, int i) {
  const char *first = table->row[0].field[ADDRESS], *here = table->row[i].field[ADDRESS];
  if (!first || !here) return i;
  const uint64_t from = strtoull(first, NULL, 16), to = strtoull(here, NULL, 16);
  return to >= from && to - from < (uint64_t)1 << 30 ? (int)((to - from) / SASS_BYTES) : -1;
}

// ---- both beside each other ---------------------------------------------------------------------

typedef struct Beside {
  Arena *arena;
  const ClockAnswer *answer;
  const NcuTable *table;
  NcuPlace *place;
  int n, matched;
} Beside;

// As the samples are: of clocks in which nothing was issued, or of all that warps stood.
static double clocks_of(const Beside *b, int i) {
  return b->table->has[NOT_ISSUED] || !b->answer->stood ? b->answer->lost[i] : b->answer->stood[i];
}

static void read_instructions(Beside *b) {
  for (int i = 0; i < b->table->n; i++) {
    const int at = inst_of(b->table, i);
    if (at < 0 || at >= b->answer->code.n) continue;
    b->matched += same_opcode(b->table->row[i].field[SOURCE], &b->answer->code.inst[at]);
    b->place[b->n++] = (NcuPlace){.pc = at * SASS_BYTES,
                                  .line = b->answer->line ? max_int(0, b->answer->line[at]) : 0,
                                  .text = b->answer->text[at],
                                  .samples = samples_of(b->table, &b->table->row[i]),
                                  .lost = clocks_of(b, at)};
  }
}

static double clocks_of_line(const Beside *b, int line) {
  double clocks = 0;
  for (int i = 0; i < b->answer->code.n; i++)
    if (b->answer->line[i] == line) clocks += clocks_of(b, i);
  return clocks;
}

static void read_lines(Beside *b) {
  for (int i = 0; i < b->table->n; i++) {
    const int64_t line = ncu_number(b->table, &b->table->row[i], PLACE);
    const char *text = b->table->row[i].field[SOURCE];
    if (line <= 0 || line > INT32_MAX) continue;
    const double lost = clocks_of_line(b, (int)line);
    const int64_t samples = samples_of(b->table, &b->table->row[i]);
    if (!samples && !(lost > 0)) continue;
    b->matched += lost > 0;
    b->place[b->n++] = (NcuPlace){.pc = -1,
                                  .line = (int)line,
                                  .text = str_line(b->arena, text ? text : ""),
                                  .samples = samples,
                                  .lost = lost};
  }
}

static double off(const NcuPlace *place) { return fabs(place->sampled - place->lost); }

static int by_disagreement(const void *a, const void *b) {
  const double x = off(a), y = off(b);
  return x == y ? 0 : x < y ? 1 : -1;
}

// Counts become shares of their sums.
static int64_t make_shares(Beside *b) {
  int64_t samples = 0;
  double lost = 0;
  for (int i = 0; i < b->n; i++) {
    samples += b->place[i].samples;
    lost += b->place[i].lost;
  }
  for (int i = 0; i < b->n; i++) {
    b->place[i].sampled = samples ? (double)b->place[i].samples / (double)samples : 0;
    b->place[i].lost = lost > 0 ? b->place[i].lost / lost : 0;
  }
  qsort(b->place, (size_t)b->n, sizeof *b->place, by_disagreement);
  return samples;
}

static bool is_sass(const NcuTable *table, const ClockAnswer *answer) {
  return table->has[ADDRESS] || (table->n && answer->code.n &&
                                 same_opcode(table->row[0].field[SOURCE], &answer->code.inst[0]));
}

static bool check(const Beside *b, bool by_line, int64_t samples, const char *file, Diags *diags) {
  if (by_line && !b->answer->line)
    diag_add(diags, "ncu",
             "%s: a table of CUDA lines needs nvdisasm, to map instructions to lines; a table of "
             "machine code (--print-source sass) does not",
             file);
  else if (b->n == 0 || (!by_line && b->matched * 10 < b->n * 9) || (by_line && !b->matched))
    diag_add(diags, "ncu",
             "%s: it profiles another kernel: only %d of its %d rows match this "
             "one",
             file, b->matched, b->table->n);
  else if (!samples)
    diag_add(diags, "ncu", "%s: no row has a sample; run ncu with --section SourceCounters", file);
  else
    return true;
  return false;
}

const NcuBeside *why_ncu_read(Arena *arena, const ClockAnswer *answer, const char *file,
                              const char *text, Diags *diags) {
  const NcuTable table = ncu_table_read(arena, text, columns, COLUMNS);
  const char *name = str_line(arena, file);
  if (!table.found || (!table.has[NOT_ISSUED] && !table.has[ALL])) {
    diag_add(diags, "ncu",
             "%s: no row names a source and \"Warp Stall Sampling (All Samples)\": expected the "
             "CSV of the source page (ncu --page source --csv --print-source sass)",
             name);
    return NULL;
  }
  const bool by_line = !is_sass(&table, answer);
  Beside b = {arena, answer, &table, ARENA_ARRAY(arena, NcuPlace, table.n + 1), 0, 0};
  if (!by_line) read_instructions(&b);
  if (by_line && answer->line) read_lines(&b);
  const int64_t samples = make_shares(&b);
  if (!check(&b, by_line, samples, name, diags)) return NULL;
  NcuBeside *out = ARENA_NEW(arena, NcuBeside);
  *out = (NcuBeside){name, say_samples(&table), by_line, samples, b.n, b.place};
  return out;
}

// ---- printing -----------------------------------------------------------------------------------

static const char *where(Arena *arena, const NcuPlace *place) {
  return place->pc >= 0 ? arena_printf(arena, "%6x", place->pc)
                        : arena_printf(arena, "line %d", place->line);
}

void why_ncu_print(Arena *arena, const NcuBeside *beside) {
  printf("\nbeside %lld %s of %s; the largest disagreements:\n", (long long)beside->samples,
         beside->of, beside->file);
  printf("  %9s  %8s %8s\n", "", "sampled", "played");
  for (int i = 0; i < beside->n && i < SHOWN; i++) {
    const NcuPlace *place = &beside->place[i];
    if (off(place) < 0.005) break;
    printf("  %9s  %6.1f %% %6.1f %%  %.60s\n", where(arena, place), 100 * place->sampled,
           100 * place->lost, place->text ? place->text : "");
  }
}

#define FORM_FILE "cli/common/why/why_ncu.form"
#include "base/form_make.h"

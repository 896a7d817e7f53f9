// Numbers come from the documents of `resources`, `why`, `check` and `open`, which run as processes
// of their own; registers and spills of a source from ptxas -v, of a cubin from its sections. Only
// those commands tell facts.
#include "cli/open/diff_side.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/elf_file.h"
#include "base/json.h"
#include "base/whole.h"
#include "cli/common/cli.h"
#include "cli/common/self_run.h"
#include "cli/open/open_input.h"
#include "kernels/toolchain/tool.h"
#include "sass/sass_registers.h"

enum { SECONDS = 300, ASSEMBLE_SECONDS = 60, WORDS_MAX = 128 };

const char *diff_side_kind(DiffKind kind) {
  static const char *const names[] = {"state", "source", "cubin", "capsule"};
  return names[kind];
}

static bool ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && str_equal(text + n - m, end);
}

DiffKind diff_side_kind_of(const char *text) {
  struct stat unused;
  if (ends_with(text, ".capsule")) return DIFF_CAPSULE;
  if (ends_with(text, ".cubin")) return DIFF_CUBIN;
  const bool named = ends_with(text, ".cu") || ends_with(text, ".ptx") || ends_with(text, ".cuh");
  if (named || open_is_example(text)) return DIFF_SOURCE;
  return !strchr(text, '=') && stat(text, &unused) == 0 ? DIFF_SOURCE : DIFF_STATE;
}

// ---- numbers ------------------------------------------------------------------------------------

static DiffMetric *add(DiffSide *side, const char *name, double value) {
  static DiffMetric beyond;
  if (isnan(value)) return &beyond;
  if (side->n == DIFF_METRICS_MAX) return &beyond;
  DiffMetric *out = &side->metric[side->n++];
  *out = (DiffMetric){.name = name, .value = value, .low = value, .high = value};
  return out;
}

static double number(Arena *arena, const JsonValue *object, const char *key) {
  Diags unused = diags_new(arena);
  const JsonValue *value = json_object_get(object, key);
  double out = NAN;
  if (json_kind(value) == JSON_NUMBER) json_read_double(value, &out, &unused);
  return out;
}

static const char *text_of(Arena *arena, const JsonValue *object, const char *key) {
  Diags unused = diags_new(arena);
  const JsonValue *value = json_object_get(object, key);
  const char *out = NULL;
  if (json_kind(value) == JSON_STRING) json_read_string(value, &out, &unused);
  return out ? out : "";
}

// The sum of a member over a list; NAN where there is no list.
static double sum_of(Arena *arena, const JsonValue *object, const char *list, const char *key) {
  const JsonValue *items = json_object_get(object, list);
  double sum = 0;
  if (json_kind(items) != JSON_ARRAY) return NAN;
  for (int i = 0; i < json_count(items); i++) {
    const double value = number(arena, json_at(items, i), key);
    if (!isnan(value)) sum += value;
  }
  return sum;
}

static double count_of(const JsonValue *object, const char *list) {
  const JsonValue *items = json_object_get(object, list);
  return json_kind(items) == JSON_ARRAY ? json_count(items) : (double)NAN;
}

static void add_clocks(Arena *arena, DiffSide *side, const char *name, const JsonValue *clocks) {
  DiffMetric *metric = add(side, name, number(arena, clocks, "value"));
  const double low = number(arena, clocks, "low"), high = number(arena, clocks, "high");
  if (!isnan(low)) metric->low = low;
  if (!isnan(high)) metric->high = high;
}

// ---- documents ----------------------------------------------------------------------------------

typedef struct Words {
  int n;
  const char *word[WORDS_MAX];
} Words;

static void push(Words *words, const char *word) {
  if (words->n < WORDS_MAX) words->word[words->n++] = word;
}

static void push_all(Words *words, int n, const char *const *word) {
  for (int i = 0; i < n; i++) push(words, word[i]);
}

// The last line of what it said, without the program's name.
static const char *reason(Arena *arena, const SelfRun *run) {
  const char *at = run->err;
  if (str_starts(at, "gemmview: ")) at += strlen("gemmview: ");
  const char *text = arena_strndup(arena, at, strcspn(at, "\n"));
  return *text ? text : arena_printf(arena, "it ended with status %d", run->status);
}

static const JsonValue *document(Arena *arena, const Words *words, const char **why) {
  Diags diags = diags_new(arena);
  const SelfRun run = self_run(arena, words->n, words->word, SECONDS);
  const JsonValue *root = NULL;
  if (run.n_out && !run.cut) root = json_parse(arena, run.out, run.n_out, &diags, words->word[0]);
  *why = root ? NULL : reason(arena, &run);
  return root;
}

// ---- a state ------------------------------------------------------------------------------------

// The value behind ",KEY=" of a state that is written out; "".
static const char *knob_of(Arena *arena, const char *state, const char *key) {
  const char *at = strstr(state, key);
  if (!at) return "";
  at += strlen(key);
  return arena_strndup(arena, at, strcspn(at, ","));
}

static void add_resources(Arena *arena, const JsonValue *root, DiffSide *side) {
  const JsonValue *kernels = json_object_get(root, "kernels");
  const JsonValue *sites = json_object_get(root, "sites");
  double registers = NAN, spills = 0;
  for (int i = 0; i < json_count(kernels); i++) {
    const JsonValue *kernel = json_at(kernels, i);
    const double own = number(arena, kernel, "registers");
    if (!isnan(own)) registers = isnan(registers) ? own : fmax(registers, own);
    spills +=
        number(arena, kernel, "spill_store_bytes") + number(arena, kernel, "spill_load_bytes");
  }
  add(side, "wavefronts_per_slab", sum_of(arena, root, "sites", "wavefronts_per_slab"));
  add(side, "sectors", sum_of(arena, root, "global_sites", "sectors_grid"));
  add(side, "registers", registers);
  add(side, "spill_bytes", spills);
  for (int i = 0; i < json_count(sites); i++) {
    const JsonValue *site = json_at(sites, i);
    add(side, text_of(arena, site, "text"), number(arena, site, "wavefronts_per_slab"))->access =
        true;
  }
}

// Rules that do not hold.
static double count_failing(Arena *arena, const JsonValue *root) {
  const JsonValue *list = json_object_get(root, "rules");
  Diags unused = diags_new(arena);
  double failing = 0;
  for (int i = 0; i < json_count(list); i++) {
    bool yes = true;
    json_optional_bool(json_at(list, i), "holds", &yes, &unused);
    failing += !yes;
  }
  return root ? failing : (double)NAN;
}

static void read_state(Arena *arena, const DiffAsk *ask, DiffSide *side) {
  const Words resources = {5, {"resources", "-k", side->text, "--compile", "--json"}};
  const Words check = {4, {"check", "-k", side->text, "--json"}};
  Words why = {4, {"why", "-k", side->text, "--json"}};
  const char *unused;
  const JsonValue *root = document(arena, &resources, &side->failed);
  if (!root) return;
  push_all(&why, ask->n_words, ask->words);
  const char *state = text_of(arena, root, "state");
  side->target = text_of(arena, root, "target");
  side->problem = arena_printf(arena, "M=%s,N=%s,K=%s,%s", knob_of(arena, state, ",M="),
                               knob_of(arena, state, ",N="), knob_of(arena, state, ",K="),
                               knob_of(arena, state, "DTYPE="));
  side->slab = arena_printf(arena, "%.0f blocks, BK=%s, %s",
                            number(arena, json_at(json_object_get(root, "kernels"), 0), "blocks"),
                            knob_of(arena, state, ",BK="), knob_of(arena, state, "ATOM_KIND="));
  add_resources(arena, root, side);
  const JsonValue *clock = document(arena, &why, &side->note);
  add_clocks(arena, side, "clocks", json_object_get(json_object_get(clock, "kernel"), "clocks"));
  add(side, "findings", count_failing(arena, document(arena, &check, &unused)));
}

// ---- a source, a capsule ------------------------------------------------------------------------

// "    0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads" and "Used 32 registers"
// behind "Compiling entry function 'ENTRY'".
static void add_assembled(Arena *arena, const char *said, const char *entry, DiffSide *side) {
  const char *at = strstr(said, arena_printf(arena, "entry function '%s'", entry));
  const char *used = at ? strstr(at, "Used ") : NULL;
  const char *stores = at ? strstr(at, "bytes stack frame, ") : NULL;
  int registers = 0, stored = 0, loaded = 0;
  if (used && sscanf(used, "Used %6d registers", &registers) == 1)
    add(side, "registers", registers);
  if (stores && sscanf(stores, "bytes stack frame, %8d bytes spill stores, %8d bytes spill loads",
                       &stored, &loaded) == 2)
    add(side, "spill_bytes", stored + loaded);
}

static void assemble(Arena *arena, const DiffAsk *ask, const char *target, const char *entry,
                     DiffSide *side) {
  Diags ignored = diags_new(arena);
  const char *ptxas = open_find_tool(arena, "ptxas");
  char *flag[WORDS_MAX];
  int n = 0;
  for (; n < ask->n_flags && n < WORDS_MAX; n++) flag[n] = arena_strdup(arena, ask->flags[n]);
  const OpenText text =
      ptxas ? open_read_text(arena, side->text, n, flag, &ignored) : (OpenText){.ptx = NULL};
  if (!text.ptx) {
    side->note = "registers and spills are not known: ptxas was not found";
    return;
  }
  const char *const argv[] = {
      ptxas, "-v", arena_printf(arena, "-arch=%s", target), "INPUT", "-o", "/dev/null", NULL};
  const ToolResult said = tool_run(arena, argv, text.ptx, text.bytes, NULL, ASSEMBLE_SECONDS);
  if (said.ok)
    add_assembled(arena, said.output, entry, side);
  else
    side->note = "registers and spills are not known: ptxas does not take the text";
}

static void add_lines(Arena *arena, const JsonValue *root, DiffSide *side) {
  const JsonValue *lines = json_object_get(root, "lines");
  for (int i = 0; i < json_count(lines); i++) {
    const JsonValue *line = json_at(lines, i);
    const char *name = arena_printf(arena, "%s:%.0f %s", text_of(arena, line, "file"),
                                    number(arena, line, "line"), text_of(arena, line, "access"));
    add(side, name, number(arena, line, "wavefronts"))->access = true;
  }
}

static void read_opened(Arena *arena, const DiffAsk *ask, DiffSide *side) {
  Words open = {2, {"open", side->text}};
  if (ask->kernel) {
    push(&open, "--kernel");
    push(&open, ask->kernel);
  }
  push_all(&open, ask->n_words, ask->words);
  push(&open, "--json");
  if (ask->n_flags) push(&open, "--");
  push_all(&open, ask->n_flags, ask->flags);
  const JsonValue *root = document(arena, &open, &side->failed);
  if (!root) return;
  side->target = text_of(arena, root, "target");
  add(side, "wavefronts", number(arena, root, "wavefronts"));
  add(side, "sectors", sum_of(arena, root, "global", "sectors"));
  add(side, "findings", count_of(root, "findings") + count_of(root, "races"));
  add(side, "stopped", !str_equal(text_of(arena, root, "outcome"), "done"));
  assemble(arena, ask, side->target, text_of(arena, root, "entry"), side);
  add_lines(arena, root, side);
}

// ---- a cubin ------------------------------------------------------------------------------------

// STL and LDL among the instructions.
static double count_spills(Arena *arena, const JsonValue *root) {
  const JsonValue *code = json_object_get(root, "instructions");
  double n = 0;
  if (json_kind(code) != JSON_ARRAY) return NAN;
  for (int i = 0; i < json_count(code); i++) {
    const char *sass = text_of(arena, json_at(code, i), "sass");
    n += str_starts(sass, "STL") || str_starts(sass, "LDL");
  }
  return n;
}

static void add_loops(Arena *arena, const JsonValue *root, DiffSide *side) {
  const JsonValue *loops = json_object_get(root, "loops");
  for (int i = 0; i < json_count(loops); i++) {
    const char *name = arena_printf(arena, "clocks_of_loop_%d", i + 1);
    add_clocks(arena, side, name, json_object_get(json_at(loops, i), "clocks"));
  }
}

static void add_registers(Arena *arena, const void *cubin, size_t bytes, const char *kernel,
                          DiffSide *side) {
  const int registers = sass_registers(arena, cubin, bytes, kernel);
  if (registers) add(side, "registers", registers);
}

// The one kernel of the cubin, where none is named.
static const char *only_kernel(Arena *arena, const void *cubin, size_t bytes) {
  const char *name, *found = NULL;
  ElfBytes unused;
  for (int i = 0; elf_section_at(cubin, bytes, i, &name, &unused); i++) {
    if (!str_starts(name, ".text.")) continue;
    if (found) return NULL;
    found = arena_strdup(arena, name + strlen(".text."));
  }
  return found;
}

static void read_cubin(Arena *arena, const DiffAsk *ask, DiffSide *side) {
  Diags diags = diags_new(arena);
  size_t bytes = 0;
  const char *cubin = open_read_file(arena, side->text, &bytes, &diags);
  if (!cubin) {
    side->failed = diags.first->text;
    return;
  }
  const char *kernel = ask->kernel ? ask->kernel : only_kernel(arena, cubin, bytes);
  if (!kernel) {
    side->failed = "it does not have exactly one kernel: choose one with --kernel NAME";
    return;
  }
  side->target = arena_printf(arena, "sm_%d", elf_cuda_sm(cubin, bytes));
  add_registers(arena, cubin, bytes, kernel, side);
  Words why = {4, {"why", side->text, "--kernel", kernel}};
  push_all(&why, ask->n_words, ask->words);
  push(&why, "--json");
  const JsonValue *root = document(arena, &why, &side->note);
  if (root) {
    add(side, "spills", count_spills(arena, root));
    add_clocks(arena, side, "clocks", json_object_get(json_object_get(root, "kernel"), "clocks"));
    add_loops(arena, root, side);
  }
  if (side->n == 0) side->failed = "there is no such kernel in it";
}

void diff_side_read(Arena *arena, const char *text, const DiffAsk *ask, DiffSide *out) {
  *out = (DiffSide){
      .text = text, .kind = diff_side_kind_of(text), .target = "", .problem = "", .slab = ""};
  void (*const read[])(Arena *, const DiffAsk *, DiffSide *) = {[DIFF_STATE] = read_state,
                                                                [DIFF_SOURCE] = read_opened,
                                                                [DIFF_CUBIN] = read_cubin,
                                                                [DIFF_CAPSULE] = read_opened};
  read[out->kind](arena, ask, out);
}

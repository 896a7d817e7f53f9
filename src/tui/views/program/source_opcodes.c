// Instructions counted, classed and compared.
//
// "SASS identical: yes" compares the instructions with their operands one by one: that is how
// vectorized loads turn out to buy nothing where the compiler had made them already. Worked example
// of the ribbon, 24 instructions in 8 columns: three to a column, and the letter that occurs most
// often among the three, but a barrier always shows, and what has no letter only where it is alone.
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tui/views/program/source.h"

static const struct {
  const char *prefix;
  char letter;
} classes[] = {
    // SASS
    {"HMMA", 'M'},
    {"IMMA", 'M'},
    {"DMMA", 'M'},
    {"QMMA", 'M'},
    {"HGMMA", 'M'},
    {"FFMA", 'F'},
    {"HFMA2", 'F'},
    {"DFMA", 'F'},
    {"LDSM", 'L'},
    {"LDS", 'L'},
    {"STS", 'S'},
    {"STSM", 'S'},
    {"LDGSTS", 'A'},
    {"LDGDEPBAR", 'A'},
    {"DEPBAR", 'B'},
    {"LDG", 'G'},
    {"STG", 'W'},
    {"RED", 'W'},
    {"ATOM", 'W'},
    {"UTMALDG", 'A'},
    {"UBLKCP", 'A'},
    {"UTMASTG", 'A'},
    {"UTMAPF", 'A'},
    {"BAR", 'B'},
    {"SYNCS", 'B'},
    {"WARPSYNC", 'B'},
    {"USETMAXREG", 'B'},
    {"BRA", 'J'},
    {"EXIT", 'J'},
    // PTX
    {"mma", 'M'},
    {"wgmma", 'M'},
    {"fma", 'F'},
    {"ldmatrix", 'L'},
    {"ld.shared", 'L'},
    {"ld.volatile.shared", 'L'},
    {"st.shared", 'S'},
    {"stmatrix", 'S'},
    {"ld.global", 'G'},
    {"st.global", 'W'},
    {"red", 'W'},
    {"atom", 'W'},
    {"cp.async.wait_group", 'B'},
    {"cp.async.wait_all", 'B'},
    {"cp.async.bulk.wait_group", 'B'},
    {"cp.async", 'A'},
    {"prefetch.tensormap", 'A'},
    {"bar", 'B'},
    {"barrier", 'B'},
    {"mbarrier", 'B'},
    {"setmaxnreg", 'B'},
    {"bra", 'J'},
    {"ret", 'J'},
};

// Every ldmatrix and mma says .sync.aligned: what follows tells them apart.
const char *source_short_opcode(Arena *arena, const char *opcode) {
  static const char same[] = ".sync.aligned";
  const char *at = strstr(opcode, same);
  if (!at) return opcode;
  return arena_printf(arena, "%.*s%s", (int)(at - opcode), opcode, at + strlen(same));
}

char source_class_of(const char *opcode) {
  size_t longest = 0;
  char letter = '.';
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    size_t n = strlen(classes[i].prefix);
    if (n <= longest || strncmp(opcode, classes[i].prefix, n) != 0) continue;
    if (opcode[n] && opcode[n] != '.') continue;
    longest = n;
    letter = classes[i].letter;
  }
  return letter;
}

Style source_class_style(char letter) {
  static const struct {
    char letter;
    Style style;
  } styles[] = {{'M', STYLE_TIER_ATOM}, {'F', STYLE_ACCENT},  {'L', STYLE_SITE},
                {'S', STYLE_WARN},      {'G', STYLE_KEYWORD}, {'W', STYLE_LITERAL},
                {'A', STYLE_TYPE},      {'B', STYLE_BARRIER}, {'J', STYLE_LABEL}};
  for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
    if (styles[i].letter == letter) return styles[i].style;
  return STYLE_DIM;
}

// ---- counts -------------------------------------------------------------------------------------

static OpcodeRow *row_of(Source *source, const char *opcode) {
  for (int i = 0; i < source->n_opcodes; i++)
    if (str_equal(source->opcode[i].opcode, opcode)) return &source->opcode[i];
  source->opcode[source->n_opcodes] = (OpcodeRow){.opcode = opcode};
  return &source->opcode[source->n_opcodes++];
}

static int counts_in(const Compiled *compiled, SourceMode mode) {
  if (!compiled) return 0;
  if (mode == SOURCE_PTX) return compiled->listing ? compiled->listing->n_counts : 0;
  return compiled->sass ? compiled->sass->n_counts : 0;
}

static void add_counts(Source *source, const Compiled *compiled, bool b) {
  for (int i = 0; i < counts_in(compiled, source->mode); i++) {
    bool ptx = source->mode == SOURCE_PTX;
    const char *opcode =
        ptx ? compiled->listing->counts[i].opcode : compiled->sass->counts[i].opcode;
    int count = ptx ? compiled->listing->counts[i].count : compiled->sass->counts[i].count;
    OpcodeRow *row = row_of(source, opcode);
    *(b ? &row->b : &row->a) += count;
  }
}

static int compare_rows(const void *left, const void *right) {
  const OpcodeRow *x = left, *y = right;
  int dx = abs(x->b - x->a), dy = abs(y->b - y->a);
  if (dx != dy) return dy - dx;
  return y->b != x->b ? y->b - x->b : strcmp(x->opcode, y->opcode);
}

void source_count(Arena *arena, Source *source) {
  int n = counts_in(source->compiled, source->mode) + counts_in(source->compiled_a, source->mode);
  source->opcode = ARENA_ARRAY(arena, OpcodeRow, n + 1);
  add_counts(source, source->compiled, true);
  // Without an A everything counts as a difference, so the most frequent comes first.
  add_counts(source, source->compiled_a, false);
  for (int i = 0; i < source->n_opcodes; i++)
    source->opcode[i].shown = source_short_opcode(arena, source->opcode[i].opcode);
  qsort(source->opcode, (size_t)source->n_opcodes, sizeof *source->opcode, compare_rows);
}

// ---- the ribbon ---------------------------------------------------------------------------------

// Worked example, article 003: "B LLLLLL A ....M... L" has 6 reads before its first product, then
// others up to the seventh.
static void find_bursts(Ribbon *ribbon) {
  const char *letter = ribbon->letter;
  for (int i = 0; i < ribbon->n && ribbon->n_bursts < BURSTS_MAX;) {
    int reads = 0, last = i;
    for (; i < ribbon->n && letter[i] != 'M'; i++) {
      if (letter[i] == 'B') reads = 0;
      if (letter[i] == 'L') last = i;
      reads += letter[i] == 'L';
    }
    const bool products = i < ribbon->n && reads > 0;
    while (i < ribbon->n && letter[i] != 'L' && letter[i] != 'B') i++;
    const bool again = i < ribbon->n && letter[i] == 'L';
    if (products) ribbon->burst[ribbon->n_bursts++] = (Burst){reads, again ? i - last - 1 : -1};
    while (i < ribbon->n && letter[i] != 'B') i++;
  }
}

static Ribbon ribbon_of(Arena *arena, const Compiled *compiled, SourceMode mode) {
  Ribbon ribbon = {0};
  bool ptx = mode == SOURCE_PTX;
  if (!compiled || (ptx ? !compiled->listing : !compiled->sass)) return ribbon;
  int n = ptx ? compiled->listing->n_lines : compiled->sass->n_lines;
  char *letter = ARENA_ARRAY(arena, char, n + 1);
  for (int i = 0; i < n; i++) {
    const char *opcode = ptx ? compiled->listing->lines[i].opcode : compiled->sass->lines[i].opcode;
    if (opcode) letter[ribbon.n++] = source_class_of(opcode);
  }
  ribbon.letter = letter;
  find_bursts(&ribbon);
  return ribbon;
}

void source_make_ribbons(Arena *arena, Source *source) {
  source->ribbon = ribbon_of(arena, source->compiled, source->mode);
  source->ribbon_a = ribbon_of(arena, source->compiled_a, source->mode);
}

// ---- identity -----------------------------------------------------------------------------------

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && str_equal(a, b));
}

static bool same_ptx(const PtxListing *a, const PtxListing *b) {
  bool same = a->n_lines == b->n_lines;
  for (int i = 0; same && i < a->n_lines; i++) {
    bool comment = str_starts(a->lines[i].text, "//") && str_starts(b->lines[i].text, "//");
    same = comment || same_text(a->lines[i].text, b->lines[i].text);
  }
  return same;
}

static bool same_sass(const SassResult *a, const SassResult *b) {
  bool same = a->n_lines == b->n_lines;
  for (int i = 0; same && i < a->n_lines; i++) same = same_text(a->lines[i].text, b->lines[i].text);
  return same;
}

const char *source_identity(Arena *arena, const Compiled *a, const Compiled *b) {
  Str out = str_new(arena);
  if (!a || !b) return "";
  if (a->listing && b->listing)
    str_printf(&out, "PTX identical: %s", same_ptx(a->listing, b->listing) ? "yes" : "no");
  if (a->sass && b->sass && a->sass->ok && b->sass->ok)
    str_printf(&out, "%sSASS identical: %s", out.length ? "  " : "",
               same_sass(a->sass, b->sass) ? "yes" : "no");
  return out.text;
}

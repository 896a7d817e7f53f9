// Faults planted in machine code, one operand or one bit in one instruction, and whether the way
// back from what differs ends at that instruction.
//
//   planted      R4, UR4, P0, !P0, -R4, a bit of a number, a comparison, a mask of LOP3
//   located      the proof, or else the way back, names the instruction, as the first or the second
//   beside it    the proof is of another instruction, and the way back names this one
//   harmless     memory is what the PTX leaves, bit for bit
//   refused      the instruction has a form that is not known
//   elsewhere    another instruction is named, or none
//
// tests/golden/told/faults.txt holds what is said of the first faults of each kernel, and the ways;
// faults_named.txt of the kinds that are named first.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "golden.h"
#include "kernels/toolchain/machine/sass.h"
#include "machine/back/mc_back.h"
#include "machine/mc_cubin.h"
#include "machine/mc_repair.h"
#include "machine_case.h"
#include "open_case.h"
#include "ptx/module/line_table.h"
#include "ptx/run/run.h"
#include "stress.h"

Suite *suite_machine_faults(void);

enum { KERNELS = 10, SAMPLED = 6, WHOLE = 110, TOLD = 6 };
// Lane instructions that the proof of a fault may take.
enum { TRIAL_LANES = 40000000, TRIAL_LANES_SAMPLED = 3000000 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// ---- planting -----------------------------------------------------------------------------------

static uint32_t next(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

typedef struct Place {
  int at, length;    // in the text
  const char *with;  // stands there instead
} Place;

// A bit of the number behind a register's letters, of the lower three.
static const char *other_register(Arena *a, const char *at, int letters, uint32_t *seed) {
  return arena_printf(a, "%.*s%d", letters, at, atoi(at + letters) ^ 1 << next(seed) % 3);
}

static int word_length(const char *at) {
  int n = 0;
  while ((at[n] >= 'A' && at[n] <= 'Z') || is_digit(at[n])) n++;
  return n;
}

static const char *other_modifier(const char *word, int n) {
  static const struct {
    const char *word, *other;
  } rows[] = {{"GE", "GT"},   {"GT", "GE"},   {"LT", "LE"},       {"LE", "LT"},   {"EQ", "NE"},
              {"NE", "EQ"},   {"AND", "OR"},  {"OR", "AND"},      {"HI", "LO"},   {"BFLY", "DOWN"},
              {"DOWN", "UP"}, {"MAX", "MIN"}, {"H0_H0", "H1_H1"}, {"U32", "S32"}, {"EX2", "LG2"},
              {"RCP", "RSQ"}, {"ADD", "MAX"}, {"L", "R"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if ((int)strlen(rows[i].word) == n && strncmp(rows[i].word, word, (size_t)n) == 0)
      return rows[i].other;
  return NULL;
}

// All places of an instruction where one fault can be planted.
static int places_of(Arena *a, const char *text, Place *out, int most, uint32_t *seed) {
  int n = 0;
  for (int i = 0; text[i] && text[i] != ';' && n < most; i++) {
    const bool begins = i == 0 || strchr(" ,[-!|+@", text[i - 1]);
    const char *at = text + i;
    const int uniform = at[0] == 'U' && (at[1] == 'R' || at[1] == 'P');
    const char letter = at[uniform];
    if (begins && (letter == 'R' || letter == 'P') && is_digit(at[uniform + 1])) {
      const int letters = uniform + 1, length = word_length(at);
      out[n++] = (Place){i, length, other_register(a, at, letters, seed)};
      if (letter == 'P' && n < most && i > 0 && text[i - 1] == '!')
        out[n++] = (Place){i - 1, 1, ""};
      else if (n < most && i > 0 && text[i - 1] == '-')
        out[n++] = (Place){i - 1, 1, ""};
    } else if (begins && at[0] == '0' && at[1] == 'x') {
      char *end;
      const unsigned long long value = strtoull(at, &end, 16);
      const int bits = value > 0xffff ? 32 : value > 0xff ? 12 : 6;
      out[n++] = (Place){i, (int)(end - at),
                         arena_printf(a, "0x%llx", value ^ 1ull << next(seed) % (unsigned)bits)};
    } else if (i > 0 && text[i - 1] == '.') {
      const int length = word_length(at);
      const char *other = other_modifier(at, length);
      if (other) out[n++] = (Place){i, length, other};
    }
  }
  return n;
}

typedef struct Kernel {
  int index;
  char *cubin;
  size_t bytes;
  McListing *listing;
  int n;
  const int *line;     // of the PTX
  const bool *is_run;  // by instruction
  int64_t budget;      // lane instructions of a faulty run, which may not end
} Kernel;

typedef struct Fault {
  const Kernel *kernel;
  int pc;
  const char *text;
  const PtxModule *module[2];
} Fault;

static const PtxModule *read_module(Arena *a, const Kernel *k, const McListing *listing) {
  Diags diags = diags_new(a);
  McCubin cubin;
  ck_assert(mc_cubin_read(a, k->cubin, k->bytes, &cubin));
  return mc_module(a, &cubin, cubin.kernels, listing, k->n, "test", &diags);
}

// Floats and places of branches are read from the code's bits, which stay as they are: their
// numbers are left alone.
static bool has_bits_alone(const char *text) {
  const char *name = text + (text[0] == '@' ? strcspn(text, " ") + 1 : 0);
  static const char *const names[] = {"FFMA",     "FADD",  "FMUL", "FSETP", "FSEL", "HADD2",
                                      "HFMA2",    "HMUL2", "BRA",  "BSSY",  "CALL", "FMNMX",
                                      "WARPSYNC", "EXIT",  "NOP",  "BSYNC", "BAR",  "MOV"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (str_starts(name, names[i])) return true;
  return false;
}

static bool plant(Arena *a, const Kernel *k, uint32_t *seed, Fault *out) {
  enum { PLACES = 24 };
  Place places[PLACES];
  const int pc = (int)(next(seed) % (uint32_t)k->n);
  const char *text = k->listing[pc].text;
  if (!k->is_run[pc]) return false;
  int n = places_of(a, text, places, PLACES, seed);
  for (int i = 0; i < n && has_bits_alone(text); i++)
    if (text[places[i].at] == '0') places[i--] = places[--n];
  if (!n) return false;
  const Place *p = &places[next(seed) % (uint32_t)n];
  McListing *listing = ARENA_ARRAY(a, McListing, k->n + 1);
  memcpy(listing, k->listing, sizeof *listing * (size_t)k->n);
  listing[pc].text = arena_printf(a, "%.*s%s%s", p->at, text, p->with, text + p->at + p->length);
  *out = (Fault){.kernel = k, .pc = pc, .text = listing[pc].text};
  out->module[1] = read_module(a, k, listing);
  return out->module[1] != NULL;
}

// ---- running ------------------------------------------------------------------------------------

static OpenCase load_side(Arena *a, const Fault *f, bool machine_code) {
  const OpenCase out = machine_code ? open_case_load_module(a, f->kernel->index, f->module[1])
                                    : open_case_load(a, f->kernel->index, NULL);
  if (f->kernel->budget) out.machine->budget = f->kernel->budget;
  return out;
}

static PtxOutcome run_first(const OpenCase *c) { return ptx_machine_run(c->machine, 0, 0, 0); }

static bool again(void *self, bool machine_code, PtxTrace *trace, PtxAccessSink *sink,
                  void *context) {
  Arena *a = arena_new("again");
  const OpenCase c = load_side(a, self, machine_code);
  if (sink) ptx_machine_watch(c.machine, sink, context);
  if (trace) ptx_machine_trace(c.machine, trace, context);
  run_first(&c);
  arena_free(a);
  return true;
}

// Address of the first word that differs; 0: none does.
static uint64_t first_word(const OpenCase *x, const OpenCase *y) {
  for (int arg = 0; arg < x->n_args; arg++) {
    if (!x->bytes[arg]) continue;
    const unsigned char *a = ptx_machine_bytes(x->machine, x->buffers[arg], x->bytes[arg]),
                        *b = ptx_machine_bytes(y->machine, y->buffers[arg], y->bytes[arg]);
    for (int64_t i = 0; i < x->bytes[arg]; i++)
      if (a[i] != b[i]) return y->buffers[arg] + (uint64_t)(i & ~3);
  }
  return 0;
}

// Whether another module leaves what the PTX leaves, and has no more findings.
typedef struct Beside {
  Arena *arena;
  const Fault *fault;
  const OpenCase *text;
} Beside;

static bool leaves(void *self, const PtxModule *module, int64_t *lanes) {
  const Beside *b = self;
  Arena *a = arena_new("leaves");
  Fault f = *b->fault;
  f.module[1] = module;
  const OpenCase c = load_side(a, &f, true);
  const bool right = run_first(&c) == PTX_DONE && !first_word(b->text, &c) &&
                     ptx_machine_findings(c.machine) <= ptx_machine_findings(b->text->machine);
  *lanes = ptx_machine_lane_instructions(c.machine);
  arena_free(a);
  return right;
}

// What the way back names is put to the proof.
static void prove(Arena *a, const Fault *f, const OpenCase *text, int64_t lanes, McFault *found,
                  McRepair *repaired) {
  Beside b = {a, f, text};
  int hints[MC_HINTS_MAX];
  const int n_hints = mc_back_hints(found, hints);
  const McRepair repair =
      mc_repair(a, f->module[1], leaves, &b, hints, n_hints, lanes, MC_REPAIR_ALL);
  *repaired = repair;
  if (!repair.found) return;
  found->or_pc = repair.or_pc >= 0 ? repair.or_pc : found->pc;
  found->found = true;
  found->pc = repair.pc;
}

typedef enum Verdict {
  LOCATED,
  SECOND,
  BESIDE,
  HARMLESS,
  REFUSED,
  ELSEWHERE,
  NONE,
  VERDICTS
} Verdict;
static const char *const verdict_names[VERDICTS] = {"located",
                                                    "located as the second",
                                                    "named beside the proof",
                                                    "harmless",
                                                    "refused",
                                                    "elsewhere",
                                                    "none named"};

static Verdict judge(Arena *a, Fault *f, int64_t lanes, McFault *found, McRepair *repair) {
  *repair = (McRepair){.pc = -1, .or_pc = -1};
  *found = (McFault){.pc = -1, .or_pc = -1};
  const Kernel *k = f->kernel;
  if (f->module[1]->code[f->pc].why) return REFUSED;
  const OpenCase text = load_side(a, f, false), machine = load_side(a, f, true);
  run_first(&text);
  const PtxOutcome outcome = run_first(&machine);
  const uint64_t word = first_word(&text, &machine);
  const int n = ptx_machine_findings(machine.machine);
  const PtxFinding *finding = n ? ptx_machine_finding(machine.machine, n - 1) : NULL;
  if (outcome == PTX_STOPPED && finding && finding->thread >= 0)
    *found = mc_back_from(a, again, f, k->line, k->n, finding->pc, finding->thread, finding->block);
  else if (outcome == PTX_BUDGET)
    *found = mc_back_round(a, again, f, k->line, k->n);
  if (!found->found && word) *found = mc_back(a, again, f, k->line, k->n, word);
  if (!word && outcome == PTX_DONE) return HARMLESS;
  if (!word && !found->found) return NONE;
  const McFault way = *found;
  prove(a, f, &text, lanes, found, repair);
  if (!found->found) return NONE;
  if (found->pc == f->pc || found->or_pc == f->pc) return found->pc == f->pc ? LOCATED : SECOND;
  return way.found && (way.pc == f->pc || way.or_pc == f->pc) ? BESIDE : ELSEWHERE;
}

static void settle_kernel(Kernel *k, int index) {
  const char *id = open_case_id(index);
  size_t length = 0;
  *k = (Kernel){.index = index};
  k->cubin = machine_case_file(arena, id, ".cubin", &k->bytes);
  const SassResult *sass = sass_parse(arena, machine_case_file(arena, id, ".sass", &length));
  k->listing = ARENA_ARRAY(arena, McListing, sass->n_lines + 1);
  for (int i = 0; i < sass->n_lines; i++)
    if (sass->lines[i].opcode)
      k->listing[k->n++] = (McListing){sass->lines[i].address, sass->lines[i].text};
  McCubin cubin;
  ck_assert(mc_cubin_read(arena, k->cubin, k->bytes, &cubin));
  const LineTable table =
      line_table_read(arena, k->cubin, k->bytes, ".nv_debug_line_sass", cubin.kernels[0].name);
  ck_assert(table.n > 0);
  int *line = ARENA_ARRAY(arena, int, k->n + 1);
  bool *is_run = ARENA_ARRAY(arena, bool, k->n + 1);
  const Fault none = {.kernel = k, .module = {NULL, read_module(arena, k, k->listing)}};
  const OpenCase c = load_side(arena, &none, true);
  ck_assert_int_eq(run_first(&c), PTX_DONE);
  for (int pc = 0; pc < k->n; pc++) {
    const LineRow *row = line_table_find(&table, (uint64_t)pc * 16);
    line[pc] = row ? row->line : 0;
    is_run[pc] = ptx_machine_executions(c.machine, pc) > 0;
  }
  k->line = line;
  k->is_run = is_run;
  k->budget = 4 * ptx_machine_lane_instructions(c.machine);
}

// Writes each fault to the end of the file that GEMMVIEW_FAULTS names.
static FILE *teller(void) {
  const char *path = getenv("GEMMVIEW_FAULTS");
  return path ? fopen(path, "a") : NULL;
}

static const char *fault_text(Arena *a, const Kernel *k, const Fault *f, const McFault *found,
                              const McRepair *repair, Verdict v) {
  return arena_printf(a,
                      "%s 0x%x %s: %s: 0x%x or 0x%x (stored 0x%x, %d trials%s)\n     was %s\n"
                      "     %s\n",
                      verdict_names[v], f->pc * 16, open_case_id(k->index), f->text, found->pc * 16,
                      found->or_pc * 16, found->store_pc * 16, repair->tried,
                      repair->found ? ", proved" : "", k->listing[f->pc].text,
                      v == ELSEWHERE ? k->listing[found->pc].text : "");
}

// The way back itself, and what the proof says.
static const char *way_text(Arena *a, const McFault *found, const McRepair *repair) {
  Str out = str_new(a);
  str_printf(&out, "     PTX stores at %d, thread %d of block %d %d %d, %d steps to %08x; way",
             found->ptx_store_pc, found->thread, found->block[0], found->block[1], found->block[2],
             found->steps, found->value);
  for (int i = 0; i < found->n_way; i++) str_printf(&out, " %x", found->way[i] * 16);
  str_add(&out, "; beside");
  for (int i = 0; i < found->n_beside; i++) str_printf(&out, " %x", found->beside[i] * 16);
  str_add(&out, "; early");
  for (int i = 0; i < found->n_early; i++) str_printf(&out, " %x", found->early[i] * 16);
  str_printf(&out, "\n     %s\n", repair->found ? mc_repair_text(a, repair) : "");
  return out.text;
}

static void tell(const char *text) {
  FILE *out = teller();
  if (!out) return;
  fprintf(out, "%s", text);
  fclose(out);
}

// The faults are the same ones each time, but for another GEMMVIEW_SEED.
static uint32_t seed_of(int index) {
  const char *other = getenv("GEMMVIEW_SEED");
  return (uint32_t)(index + 1) * 7919u + (other ? (uint32_t)atoi(other) * 104729u : 0);
}

static void plant_in(int index, int n, int counts[VERDICTS], Str *told) {
  Kernel k;
  settle_kernel(&k, index);
  uint32_t seed = seed_of(index);
  for (int i = 0; i < n;) {
    Arena *a = arena_new("fault");
    Fault f;
    McFault found;
    McRepair repair;
    if (plant(a, &k, &seed, &f)) {
      const int64_t lanes = stress_is_on() && i >= TOLD ? TRIAL_LANES : TRIAL_LANES_SAMPLED;
      const Verdict v = judge(a, &f, lanes, &found, &repair);
      const char *text = fault_text(a, &k, &f, &found, &repair, v);
      counts[v]++;
      if (i++ < TOLD && !getenv("GEMMVIEW_SEED")) {
        str_add(told, text);
        str_add(told, way_text(a, &found, &repair));
      }
      tell(text);
    }
    arena_free(a);
  }
}

// Of what changes memory, or ends the block, so many in a hundred are told by the instruction, as
// the first or the second candidate.
START_TEST(test_planted_faults_are_located) {
  enum { LEAST = 60, DEAR = 8, DEAR_MOST = 12 };
  int counts[VERDICTS] = {0};
  Str first = str_new(arena), told = str_new(arena);
  for (int index = 0; index < KERNELS; index++) {
    const int asked = stress_count(SAMPLED, WHOLE), n = asked > TOLD ? asked : TOLD;
    plant_in(index, index == DEAR && n > DEAR_MOST ? DEAR_MOST : n, counts, &first);
  }
  if (*first.text) golden_check("told/faults.txt", first.text);
  for (int v = 0; v < VERDICTS; v++) str_printf(&told, "%s %d; ", verdict_names[v], counts[v]);
  FILE *out = teller();
  if (out) {
    fprintf(out, "%s\n", told.text);
    fclose(out);
  }
  const int located = counts[LOCATED] + counts[SECOND],
            others = counts[BESIDE] + counts[ELSEWHERE] + counts[NONE];
  ck_assert_msg(located * 100 >= LEAST * (located + others), "%s", told.text);
}
END_TEST

// Kinds of faults, one each, that are named first.
static const struct {
  const char *id;
  int at;
  const char *text;
} named[] = {
    // Takes the register of an address that another instruction has made: was R26.
    {"k03", 0x590, "LEA R24, R25, UR4, 0x2"},
    // Gives each lane its own value: x + x in place of x + y. Was DOWN.
    {"k07", 0x3c0, "SHFL.UP PT, R11, R8, 0x1, 0x1f"},
    // Reads a number that is right for what it is: was UR7.
    {"k09", 0x26e0, "FMUL R0, R0, UR6"},
    // Writes sums to registers that nothing reads: was R12.
    {"k11", 0x18e0, "HMMA.16816.F32 R8, R60.reuse, R44, R12"},
    // Lower words of an address are right, upper ones are not: was R41.
    {"k11", 0xf40, "IMAD R45, R3, UR11, RZ"},
    // Reads a register that no other instruction has: was R9.
    {"k03", 0x570, "LEA R9, R41, UR4, 0x2"},
    // The opposite of a product, and of a factor: was R10, and R11.
    {"k09", 0x2920, "FMUL R7, -R10, UR7"},
    {"k09", 0x24a0, "FFMA R41, R12, |R11|.reuse, R41"},
    // One load for four of the PTX, from another place: was 0x500.
    {"k09", 0x1720, "LDS.128 R8, [R50+0x700]"},
    // A store elsewhere: what such a load finds in its place is a value that the PTX has, too. Was
    // R6.
    {"k17", 0x200, "IADD3 R5, R5, R2, RZ"},
    // Two threads alone wait for each other: the store comes behind the load. Was without a count.
    {"k19", 0x470, "BAR.SYNC.DEFER_BLOCKING 0x0, 0x2"},
    // Stores a word of four: was STG.E.128.
    {"k05", 0x810, "STG.E desc[UR8][R12.64], R8"},
};

static void name_first(int which, Str *told) {
  int index = 0;
  while (index < KERNELS && strcmp(open_case_id(index), named[which].id) != 0) index++;
  ck_assert_int_lt(index, KERNELS);
  Kernel k;
  settle_kernel(&k, index);
  McListing *listing = ARENA_ARRAY(arena, McListing, k.n + 1);
  memcpy(listing, k.listing, sizeof *listing * (size_t)k.n);
  Fault f = {.kernel = &k, .pc = named[which].at / 16, .text = named[which].text};
  ck_assert_str_ne(listing[f.pc].text, f.text);
  listing[f.pc].text = f.text;
  f.module[1] = read_module(arena, &k, listing);
  McFault found;
  McRepair repair;
  const Verdict v = judge(arena, &f, TRIAL_LANES_SAMPLED, &found, &repair);
  const char *text = fault_text(arena, &k, &f, &found, &repair, v);
  ck_assert_msg(v == LOCATED, "%s%s", text, way_text(arena, &found, &repair));
  str_add(told, text);
  str_add(told, way_text(arena, &found, &repair));
  str_add(told, "     slice");
  for (int i = 0; i < found.n_slice; i++) str_printf(told, " %x", found.slice[i] * 16);
  str_add(told, "\n");
}

START_TEST(test_a_kind_of_fault_is_named_first) {
  Str told = str_new(arena);
  for (int i = 0; i < (int)(sizeof named / sizeof *named); i++) name_first(i, &told);
  golden_check("told/faults_named.txt", told.text);
}
END_TEST

// A word read beside the kernel and put in its place runs as the kernel read with it does.
START_TEST(test_a_word_in_place_is_the_code_with_it) {
  enum { WORDS = 8 };
  Kernel k;
  settle_kernel(&k, 0);
  uint32_t seed = 4242;
  int n = 0;
  while (n < WORDS) {
    Arena *a = arena_new("word");
    Fault f;
    if (plant(a, &k, &seed, &f)) {
      Diags diags = diags_new(a);
      McCubin cubin;
      ck_assert(mc_cubin_read(a, k.cubin, k.bytes, &cubin));
      McInPlace word = {f.pc, cubin.kernels->text.at + (size_t)f.pc * MC_BYTES, f.text, false};
      PtxModule *beside = (PtxModule *)mc_module_with(a, &cubin, cubin.kernels, k.listing, k.n,
                                                      &word, 1, "test", &diags);
      ck_assert(beside && !word.branches);
      ck_assert_int_eq(beside->n_code, f.module[1]->n_code);
      beside->code[f.pc] = beside->code[beside->n_code];
      Fault put = f;
      put.module[1] = beside;
      const OpenCase x = load_side(a, &f, true), y = load_side(a, &put, true);
      ck_assert_int_eq(run_first(&x), run_first(&y));
      ck_assert_msg(!first_word(&x, &y), "0x%x: %s", f.pc * 16, f.text);
      ck_assert_int_eq(ptx_machine_lane_instructions(x.machine),
                       ptx_machine_lane_instructions(y.machine));
      n++;
    }
    arena_free(a);
  }
}
END_TEST

Suite *suite_machine_faults(void) {
  Suite *suite = suite_create("machine_faults");
  TCase *tcase = tcase_create("faults");
  tcase_set_timeout(tcase, 3600);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, test_planted_faults_are_located);
  tcase_add_test(tcase, test_a_kind_of_fault_is_named_first);
  tcase_add_test(tcase, test_a_word_in_place_is_the_code_with_it);
  suite_add_tcase(suite, tcase);
  return suite;
}

// gemmview banks: what one access to shared or global memory costs, for addresses that people
// paste.
//
//   gemmview banks --op lds128 --addr 'lane*16'        the punch card, its numbers, and where lanes
//                                                      collide what to write instead
//   gemmview banks --op lds32 --unit f32 --addr 'lane*32'   an index of floats
//   gemmview banks --op ldg128 --addr 'lane*64'        sectors and lines of global memory
//   gemmview banks --op ldsm_x4 --addr - < addresses   the list from standard input
//   gemmview banks --batch FILE                        one JSON line out per line in
//   gemmview banks --batch FILE --check                do the measured counts in FILE agree?
//   gemmview banks --list | --bench
//
// A batch goes on after a bad line, since a person who pastes a thousand lines wants all mistakes
// at once and the good answers too. A bad line is told on stderr with its number, and answered by a
// line whose numbers are null, so that answer n belongs to line n (blank lines apart); the exit
// status is then 2.
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banks/engine/bank.h"
#include "banks/engine/bank_batch.h"
#include "banks/engine/bank_input.h"
#include "banks/engine/bank_text.h"
#include "banks/engine/sector_text.h"
#include "banks/engine/unit.h"
#include "banks/solver/own_access.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "kernels/worker/lines.h"

CommandRun cmd_banks;

enum { INPUT_BYTES_MAX = 1 << 20 };

typedef struct SharedAccess {
  const BankMap *map;
  const OwnAccess *access;
} SharedAccess;

typedef struct EngineRate {
  int64_t accesses_per_s, accesses;
} EngineRate;

#define FORM_FILE "cli/commands/forms/cmd_banks.form"
#include "base/form_make.h"

typedef struct BanksOptions {
  const char *op, *addr, *unit, *batch;
  bool json, csv, ascii, check, list, bench;
} BanksOptions;

static const Option OPTIONS[] = {
    {.name = "op", .kind = OPTION_KIND_TEXT, .offset = offsetof(BanksOptions, op)},
    {.name = "addr", .kind = OPTION_KIND_TEXT, .offset = offsetof(BanksOptions, addr)},
    {.name = "unit", .kind = OPTION_KIND_TEXT, .offset = offsetof(BanksOptions, unit)},
    {.name = "batch", .kind = OPTION_KIND_TEXT, .offset = offsetof(BanksOptions, batch)},
    OPTION_JSON(BanksOptions),
    OPTION_CSV(BanksOptions),
    {.name = "ascii", .kind = OPTION_KIND_FLAG, .offset = offsetof(BanksOptions, ascii)},
    {.name = "check", .kind = OPTION_KIND_FLAG, .offset = offsetof(BanksOptions, check)},
    {.name = "list", .kind = OPTION_KIND_FLAG, .offset = offsetof(BanksOptions, list)},
    {.name = "bench", .kind = OPTION_KIND_FLAG, .offset = offsetof(BanksOptions, bench)},
};

static bool draws_utf8(void) {
  setlocale(LC_CTYPE, "");
  const char *term = getenv("TERM");
  return str_equal(nl_langinfo(CODESET), "UTF-8") && !(term && str_equal(term, "linux"));
}

static const char ADDRESS_HELP[] =
    "\n"
    "LIST is one byte offset per lane, separated by commas, blanks or lines (32, or 8 or 16\n"
    "where only 8 or 16 lanes have an address; -1 or _ is an inactive lane):\n"
    "  0 16 0x20 ...               0:512:16 (start:stop:step)      as a debugger prints an array\n"
    "  lane 3: 0x80                one line for each active lane, in any order\n"
    "  (lane%8)*128 + (lane/8)*16  or another expression in `lane`:  lane < 16 ? lane*8 : -1\n"
    "- reads it from standard input. A batch has one {\"op\":...,\"addr\":[...]} per line.\n"
    "An expression counts bytes, or with --unit elements: bytes, f16, f32, f64, float4, ...\n"
    "OP may be spelt as in SASS or PTX: LDS.128, ld.shared.v4.f32.\n";

static int list_ops_csv(void) {
  puts("op,sass,ptx,bytes,addresses,lanes_per_phase,counted");
  for (int i = 0; i < banks_op_count(); i++) {
    const BankOp *op = banks_op_at(i);
    printf("%s,%s,%s,%d,%d,%d,%d\n", op->name, op->sass, op->ptx, op->bytes, op->n_addresses,
           op->lanes_per_phase, op->counted);
  }
  return CLI_OK;
}

static int list_ops(void) {
  printf("%-10s %-22s %-48s %s\n", "OP", "SASS", "PTX", "BYTES  ADDRESSES  LANES/PHASE");
  for (int i = 0; i < banks_op_count(); i++) {
    const BankOp *op = banks_op_at(i);
    printf("%-10s %-22s %-48s %5d  %9d  %11d%s\n", op->name, op->sass, op->ptx, op->bytes,
           op->n_addresses, op->lanes_per_phase, op->counted ? "" : "  between bounds");
  }
  printf("\n%-10s %-22s %-48s %s\n", "GLOBAL", "SASS", "PTX", "BYTES");
  for (int i = 0; i < sectors_op_count(); i++) {
    const BankOp *op = sectors_op_at(i);
    printf("%-10s %-22s %-48s %5d%s\n", op->name, op->sass, op->ptx, op->bytes,
           op->counted ? "" : "  counts unknown");
  }
  fputs(ADDRESS_HELP, stdout);
  return CLI_OK;
}

// ---- one access ---------------------------------------------------------------------------------

// Addresses may come as one argument, as several ("--addr 0 16 32 …", unquoted), or from stdin.
static const char *join_addresses(Arena *arena, const char *first, int argc, char **argv,
                                  Diags *diags) {
  Str text = str_new(arena);
  if (!str_equal(first, "-")) {
    str_add(&text, first);
    for (int i = 1; i < argc; i++) str_printf(&text, " %s", argv[i]);
    return text.text;
  }
  char bytes[4096];
  size_t n;
  while (text.length <= INPUT_BYTES_MAX && (n = fread(bytes, 1, sizeof bytes, stdin)) > 0)
    str_add_bytes(&text, bytes, n);
  if (text.length > INPUT_BYTES_MAX)
    diag_add(diags, "addr_syntax", "the list on stdin is longer than %d bytes", INPUT_BYTES_MAX);
  else if (strlen(text.text) < text.length)
    diag_add(diags, "addr_syntax", "the list on stdin is not text: it has a NUL byte");
  return text.text;
}

static void print_layouts(const OwnAccess *access) {
  for (int i = 0; i < access->n_layouts; i++) {
    const OwnLayout *layout = &access->layout[i];
    printf("%s  %s   %d wavefront%s, %s\n", i ? "or   " : "\nwrite", layout->expression,
           layout->count.wavefronts, plural_s(layout->count.wavefronts), layout->layout);
  }
  if (access->n_layouts && !access->layout[0].whole) printf("%s is read instead\n", access->name);
}

static void print_map_text(Arena *arena, const BankMap *map, bool ascii) {
  Str out = str_new(arena);
  bank_text_card(&out, map, ascii);
  str_add_char(&out, '\n');
  bank_text_numbers(&out, map);
  if (map->count.conflicts > 0) str_add_char(&out, '\n');
  bank_text_worst(&out, map);
  fputs(out.text, stdout);
}

static void print_sectors(Arena *arena, const BankOp *op, const int64_t *addr,
                          const BanksOptions *given) {
  SectorMap map;
  Str out = str_new(arena);
  sectors_map(&map, op, addr);
  if (given->json) {
    cli_print_document(arena, &banks_global_form, &map, NULL);
    return;
  }
  sector_text_card(&out, &map, given->ascii || !draws_utf8());
  str_add_char(&out, '\n');
  sector_text_numbers(&out, &map);
  fputs(out.text, stdout);
}

static int run_single(Arena *arena, const BanksOptions *given, int argc, char **argv,
                      Diags *diags) {
  if (!given->op)
    diag_add(diags, "usage", "--op is missing: gemmview banks --list shows all accesses");
  const BankOp *op = given->op ? bank_input_any_op(given->op, diags) : NULL;
  if (op && op->n_addresses == 0)
    diag_add(diags, "bank_op",
             "%s fetches boxes, so no lane has an address: gemmview layout "
             "--tma checks a box",
             op->name);
  if (!given->addr) {
    Diag *diag = diag_add(diags, "usage", "--addr is missing: 32 byte offsets or an expression");
    diag->nearest = arena_printf(arena, "--addr 'lane*%d'", op ? op->bytes : 4);
  }
  if (diags->count) return cli_fail(diags);
  const char *text = join_addresses(arena, given->addr, argc, argv, diags);
  if (diags->count) return cli_fail(diags);
  if (op->kind == BANK_GLOBAL) {
    int64_t addr[BANK_LANES];
    const BankInput input = {.op = op,
                             .unit_bytes = given->unit ? unit_bytes(given->unit, diags) : 1};
    if (diags->count || !bank_input_read(&input, text, addr, diags)) return cli_fail(diags);
    print_sectors(arena, op, addr, given);
    return CLI_OK;
  }
  OwnAccess access;
  Arena *scratch = arena_new("solver");
  const char *unit = given->unit ? given->unit : own_access_unit(0);
  bool ok = own_access_make(arena, scratch, op, unit, text, &access, diags);
  arena_free(scratch);
  if (!ok) return cli_fail(diags);
  BankMap *map = ARENA_NEW(arena, BankMap);
  banks_map(map, op, access.addr);
  if (given->json) {
    cli_print_document(arena, &banks_form, &(SharedAccess){map, &access}, NULL);
    return CLI_OK;
  }
  print_map_text(arena, map, given->ascii || !draws_utf8());
  print_layouts(&access);
  return CLI_OK;
}

// ---- batches ------------------------------------------------------------------------------------

typedef struct Batch {
  Arena *arena;  // for one line; reset before the next
  const char *file;
  bool check;
  int number;  // of the line, from 1
  int good, bad, differing;
} Batch;

static void answer_bad(Batch *batch, const Diags *diags) {
  batch->bad++;
  Str error = str_new(batch->arena);
  for (const Diag *d = diags->first; d; d = d->next) {
    const char *near = d->nearest ? d->nearest : "";
    const char *sentence =
        arena_printf(batch->arena, "%s%s%s", d->text, d->nearest ? "; nearest: " : "", near);
    cli_error(CLI_USAGE, "%s line %d: %s", batch->file, batch->number, sentence);
    str_printf(&error, "%s%s", error.length ? "\n" : "", sentence);
  }
  if (batch->check) return;
  Str out = str_new(batch->arena);
  bank_batch_write_error(&out, error.text);
  puts(out.text);
}

static void check_line(Batch *batch, const BankLine *line, BankCount count) {
  if (bank_batch_agrees(line, count)) return;
  batch->differing++;
  printf("line %d: %s %s: wavefronts %d, conflicts %d by the rules; measured ", batch->number,
         line->op->name, line->name ? str_sanitise(batch->arena, line->name) : "", count.wavefronts,
         count.conflicts);
  const int64_t measured[] = {line->measured_wavefronts, line->measured_conflicts};
  for (int i = 0; i < 2; i++)
    if (measured[i] < 0)
      printf("%s%s", i ? ", " : "", "(not given)");
    else
      printf("%s%d", i ? ", " : "", (int)measured[i]);
  putchar('\n');
}

static void answer_line(Batch *batch, const char *text, size_t n) {
  arena_reset(batch->arena);
  Diags diags = diags_new(batch->arena);
  BankLine line;
  if (!bank_batch_read(batch->arena, text, n, "json", &line, &diags)) {
    answer_bad(batch, &diags);
    return;
  }
  batch->good++;
  BankCount count = banks_count(line.op, line.addr);
  if (batch->check) {
    check_line(batch, &line, count);
    return;
  }
  Str out = str_new(batch->arena);
  bank_batch_write(&out, &line, count);
  puts(out.text);
}

static bool is_blank(const char *text, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!strchr(" \t\r\n", text[i]) || text[i] == '\0') return false;
  return true;
}

static void take_line(void *context, char *text, size_t n) {
  Batch *batch = context;
  batch->number++;
  if (is_blank(text, n)) return;
  answer_line(batch, text, n);
  fflush(stdout);
}

static int run_batch(Arena *arena, const BanksOptions *given) {
  bool from_stdin = str_equal(given->batch, "-");
  const char *why = NULL;
  FILE *file = from_stdin ? stdin : disk_open(given->batch, true, &why);
  const char *shown = from_stdin ? "stdin" : str_sanitise(arena, given->batch);
  if (!file) return cli_error(CLI_USAGE, "%s cannot be read: %s", shown, why);
  Batch batch = {.arena = arena_new("line"), .file = shown, .check = given->check};
  int n_lines = 0;
  why = lines_each(fileno(file), take_line, &batch, &n_lines);
  if (!from_stdin) fclose(file);
  arena_free(batch.arena);
  if (why) return cli_error(CLI_USAGE, "%s, line %d: %s", shown, n_lines + 1, why);
  if (given->check)
    printf("%d of %d accesses are as the rules say\n", batch.good - batch.differing, batch.good);
  return batch.bad ? CLI_USAGE : batch.differing ? CLI_NO : CLI_OK;
}

// ---- the engine's rate --------------------------------------------------------------------------

// Every operation with strides from 0 to 31 elements: from conflict-free to the worst.
static int run_bench(Arena *arena, bool json) {
  enum { STRIDES = 32 };
  const double seconds = 1.0;
  int n_ops = banks_op_count();
  int64_t(*addr)[BANK_LANES] = arena_alloc(arena, sizeof *addr * (size_t)(n_ops * STRIDES));
  for (int i = 0; i < n_ops * STRIDES; i++)
    for (int lane = 0; lane < BANK_LANES; lane++)
      addr[i][lane] = (int64_t)lane * (i % STRIDES) * banks_op_at(i / STRIDES)->bytes;
  double start = clock_seconds(), elapsed = 0;
  int64_t accesses = 0, wavefronts = 0;
  while (!(elapsed >= seconds)) {
    for (int i = 0; i < n_ops * STRIDES; i++)
      wavefronts += banks_count(banks_op_at(i / STRIDES), addr[i]).wavefronts;
    accesses += n_ops * STRIDES;
    elapsed = clock_seconds() - start;
  }
  double rate = (double)accesses / elapsed;
  if (json)
    cli_print_document(arena, &banks_bench_form, &(EngineRate){llround(rate), accesses}, NULL);
  else
    printf("%.2f million accesses a second on one core (%lld accesses, mean %.1f wavefronts)\n",
           rate / 1e6, (long long)accesses, (double)wavefronts / (double)accesses);
  return CLI_OK;
}

static int run_given(Arena *arena, const BanksOptions *given, int argc, char **argv, Diags *diags) {
  bool single = given->op || given->addr;
  if (given->csv && !given->list) {
    diag_add(diags, "usage", "--csv goes with --list; one access has --json");
    return cli_fail(diags);
  }
  if (single + (given->batch != NULL) + given->list + given->bench > 1) {
    diag_add(diags, "usage", "give one of --op with --addr, --batch, --list and --bench");
    return cli_fail(diags);
  }
  if (argc > 1 && !given->addr) {
    Diag *diag = diag_add(diags, "usage", "\"%s\" is not an option", str_sanitise(arena, argv[1]));
    diag->nearest = "--op OP --addr LIST";
    return cli_fail(diags);
  }
  if (given->check && !given->batch) {
    diag_add(diags, "usage", "--check compares the lines of --batch FILE with their measurements");
    return cli_fail(diags);
  }
  if (given->list) return given->csv ? list_ops_csv() : list_ops();
  if (given->bench) return run_bench(arena, given->json);
  if (given->batch) return run_batch(arena, given);
  return run_single(arena, given, argc, argv, diags);
}

int cmd_banks(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  BanksOptions given = {0};
  int n = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
  if (!options_parse(OPTIONS, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  return run_given(arena, &given, argc, argv, &diags);
}

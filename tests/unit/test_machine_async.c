// Machine code with copies that go on by themselves, as no kernel here has it: waits by control
// words, boxes by maps as a GPU reads them, multicast masks. Each is a few lines of a listing, its
// control words beside them; they stand in the place of a recorded kernel's instructions.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "banks/layouts/tma_map.h"
#include "base/str.h"
#include "machine_case.h"
#include "ptx/run/machine.h"

Suite *suite_machine_async(void);

enum { THREADS = 32, BUFFER_BYTES = 1 << 15, SMEM_BYTES = 16384, INST_BYTES = 16 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// ---- code ---------------------------------------------------------------------------------------

// Fields of an instruction's upper half.
enum { WRITES = 110 - 64, READS = 113 - 64, WAITS = 116 - 64, NO_BOARD = 7 };

static void write_inst(unsigned char *at, const char *notes, int n) {
  uint64_t words[2] = {0, (uint64_t)NO_BOARD << WRITES | (uint64_t)NO_BOARD << READS};
  for (int i = 0; i + 1 < n; i++) {
    const uint64_t number = (uint64_t)(notes[i + 1] - '0');
    if (notes[i] == 'w') words[1] |= number << WAITS;
    if (notes[i] == 'r') words[1] ^= (NO_BOARD ^ number) << READS;
    if (notes[i] == 'b') words[1] ^= (NO_BOARD ^ number) << WRITES;
    if (notes[i] == '<') {  // the branch goes back by as many instructions
      const int64_t by = -(int64_t)(number + 1) * INST_BYTES / 4;
      words[0] = ((uint64_t)by & 0xff) << 16 | (uint64_t)(by >> 8) << 34;
      words[1] |= (uint64_t)(by >> 8) >> 30 & 0x3ffff;
    }
  }
  memcpy(at, words, sizeof words);
}

// "EXIT{w1};": lines with what their control words say: waits for the scoreboards of a mask,
// operands' reads release, the result releases, < branches back.
static const PtxModule *module_of(const char *code) {
  size_t n = 0;
  char *bytes = machine_case_file(arena, "k17", ".cubin", &n);
  McCubin cubin;
  ck_assert(mc_cubin_read(arena, bytes, n, &cubin));
  const McKernel *kernel = &cubin.kernels[0];
  unsigned char *text = (unsigned char *)(uintptr_t)kernel->text.at;
  McListing *listing = ARENA_ARRAY(arena, McListing, strlen(code) + 1);
  int lines = 0;
  for (const char *at = code; *at; at += strcspn(at, ";") + 1, lines++) {
    const int length = (int)strcspn(at, ";"), before = (int)strcspn(at, "{;");
    ck_assert(kernel->text.at + INST_BYTES * (lines + 1) <= kernel->text.end);
    listing[lines] = (McListing){lines * INST_BYTES, arena_printf(arena, "%.*s", before, at)};
    write_inst(text + INST_BYTES * lines, at + before + 1, length - before - 2);
  }
  Diags diags = diags_new(arena);
  const PtxModule *module = mc_module(arena, &cubin, kernel, listing, lines, "test", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  return module;
}

typedef struct Run {
  PtxMachine *machine;
  PtxOutcome outcome;
  const PtxFinding *finding;  // the first one; NULL: none
  const uint32_t *out;
} Run;

typedef struct Given {
  const char *code;
  int blocks;        // of the cluster, which is the grid
  const void *in;    // NULL: zeros
  int64_t in_bytes;  // behind them zeros
} Given;

// The parameters are the addresses of two buffers: out at c[0x0][0x210], in at c[0x0][0x218].
static Run run(const Given *given) {
  Diags diags = diags_new(arena);
  const PtxModule *module = module_of(given->code);
  const PtxLaunch launch = {.grid = {given->blocks, 1, 1},
                            .block = {THREADS, 1, 1},
                            .cluster = {given->blocks, 1, 1},
                            .dynamic_smem = SMEM_BYTES,
                            .budget = 1000000};
  Run out = {.machine = ptx_machine_new(arena, module, &module->functions[0], &launch, &diags)};
  ck_assert_msg(out.machine != NULL, "%s", diags_text(arena, &diags));
  unsigned char *in = ARENA_ARRAY(arena, unsigned char, BUFFER_BYTES);
  if (given->in) memcpy(in, given->in, (size_t)given->in_bytes);
  const uint64_t to = ptx_machine_buffer(out.machine, "out", BUFFER_BYTES, NULL, PTX_CONTENT_ZERO),
                 from = ptx_machine_buffer(out.machine, "in", BUFFER_BYTES, in, PTX_CONTENT_GIVEN);
  ptx_machine_param(out.machine, 0, &to, sizeof to);
  ptx_machine_param(out.machine, 1, &from, sizeof from);
  out.outcome = ptx_machine_run(out.machine, 0, 0, 0);
  if (ptx_machine_findings(out.machine)) out.finding = ptx_machine_finding(out.machine, 0);
  out.out = (const uint32_t *)ptx_machine_bytes(out.machine, to, BUFFER_BYTES);
  return out;
}

static const char *said(const Run *r) {
  const PtxFinding *f = r->finding;
  return !f ? "no finding"
            : arena_printf(arena, "%s at 0x%x: %s", ptx_finding_names[f->kind], f->pc * INST_BYTES,
                           f->text ? f->text : "");
}

// ---- waits for copies out -----------------------------------------------------------------------

// Lane 0 sends 128 bytes of shared memory away. UTMACMDFLUSH releases scoreboard 3.
#define SEND                                                                                  \
  "S2R R2, SR_TID.X;ISETP.NE.AND P0, PT, R2, RZ, PT;MOV R3, 0x40e00000;IMAD.SHL R0, R2, 0x4," \
  " RZ;STS [R0+0x400], R3;MEMBAR.ALL.CTA;FENCE.VIEW.ASYNC.S;NOP;@P0 EXIT;"                    \
  "ULDC.64 UR6, c[0x0][0x210];UMOV UR4, 0x400;UMOV UR5, 0x8;MOV R0, 0x41000000;"              \
  "UBLKCP.G.S [UR6], [UR4], UR5;UTMACMDFLUSH{r3};"

static const struct {
  const char *code;
  int kind;  // of the finding; -1: none
} sends[] = {
    {SEND "EXIT;", PTX_FINDING_MISSING_WAIT},
    {SEND "EXIT{w8};", -1},
    // Another scoreboard.
    {SEND "EXIT{w7};", PTX_FINDING_MISSING_WAIT},
    // Any instruction waits, one that its guard leaves out, too.
    {SEND "@P0 MOV R5, RZ{w8};EXIT;", -1},
    {SEND "DEPBAR.LE SB3, 0x0;EXIT;", -1},
    {SEND "DEPBAR.LE SB3, 0x1;EXIT;", PTX_FINDING_MISSING_WAIT},
    {SEND "DEPBAR.LE SB0, 0x0;EXIT;", PTX_FINDING_MISSING_WAIT},
    // Two groups with a scoreboard each: the second one's wait is for the first, too.
    {SEND "UBLKCP.G.S [UR6], [UR4], UR5;UTMACMDFLUSH{r2};EXIT{w8};", PTX_FINDING_MISSING_WAIT},
    {SEND "UBLKCP.G.S [UR6], [UR4], UR5;UTMACMDFLUSH{r2};EXIT{w4};", -1},
    {SEND "UBLKCP.G.S [UR6], [UR4], UR5;UTMACMDFLUSH{r2};DEPBAR.LE SB2, 0x0;EXIT;", -1},
    {SEND "UBLKCP.G.S [UR6], [UR4], UR5;UTMACMDFLUSH{r2};DEPBAR.LE SB3, 0x0;EXIT;",
     PTX_FINDING_MISSING_WAIT},
    // What is sent is written again.
    {SEND "STS [UR4], R0;EXIT{w8};", PTX_FINDING_MISSING_WAIT},
    {SEND "STS [UR4], R0{w8};EXIT;", -1},
};
enum { SENDS = sizeof sends / sizeof *sends };

START_TEST(a_wait_for_what_is_sent_is_one_by_its_scoreboard) {
  const Run r = run(&(Given){.code = sends[_i].code, .blocks = 1});
  const int kind = r.finding ? (int)r.finding->kind : -1;
  ck_assert_msg(r.outcome == PTX_DONE && kind == sends[_i].kind, "%s: %s",
                sends[_i].code + strlen(SEND), said(&r));
}
END_TEST

// Each lane copies 16 bytes to shared memory by cp.async; LDGDEPBAR releases scoreboard 2.
#define COPY                                                                                \
  "S2R R2, SR_TID.X;IMAD.SHL R0, R2, 0x10, RZ;LDC.64 R4, c[0x0][0x218];ULDC.64 UR6, c[0x0]" \
  "[0x208];IMAD.WIDE R4, R2, 0x10, R4;LDGSTS.E.BYPASS.128 [R0+0x400], desc[UR6][R4.64];"    \
  "LDGDEPBAR{b2};"
#define LOAD "LDS R6, [R0+0x400]"

static const struct {
  const char *code;
  bool waits;
} copies[] = {
    {COPY LOAD ";EXIT;", false},
    {COPY LOAD "{w4};EXIT;", true},
    {COPY LOAD "{w1};EXIT;", false},
    {COPY "DEPBAR.LE SB2, 0x0;" LOAD ";EXIT;", true},
    {COPY "DEPBAR.LE SB2, 0x1;" LOAD ";EXIT;", false},
    {COPY "DEPBAR.LE SB0, 0x0;" LOAD ";EXIT;", false},
};
enum { COPIES = sizeof copies / sizeof *copies };

START_TEST(a_wait_for_what_is_copied_is_one_by_its_scoreboard) {
  const Run r = run(&(Given){.code = copies[_i].code, .blocks = 1});
  ck_assert_msg((r.finding == NULL) == copies[_i].waits, "%s: %s", copies[_i].code + strlen(COPY),
                said(&r));
}
END_TEST

Suite *suite_machine_async(void) {
  Suite *suite = suite_create("machine_async");
  TCase *tcase = tcase_create("machine_async");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, a_wait_for_what_is_sent_is_one_by_its_scoreboard, 0, SENDS);
  tcase_add_loop_test(tcase, a_wait_for_what_is_copied_is_one_by_its_scoreboard, 0, COPIES);
  suite_add_tcase(suite, tcase);
  return suite;
}

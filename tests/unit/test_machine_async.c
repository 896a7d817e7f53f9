// Machine code with copies that go on by themselves, as no kernel here has it: waits by control
// words, boxes by maps as a GPU reads them, multicast masks. Each is a few lines of a listing, its
// control words beside them; they stand in the place of a recorded kernel's instructions.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "banks/layouts/tma_map.h"
#include "base/str.h"
#include "kernel_log.h"
#include "machine_case.h"
#include "ptx/run/run.h"

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
  int blocks;          // of the cluster, which is the grid
  int threads;         // of a block; 0: a warp
  const char *tensor;  // of the map that `in` begins with; NULL: none
  bool is_out;         // it lies in `out`, else in `in`, from word 256 on
} Given;

// The parameters are the addresses of two buffers: out at c[0x0][0x210], in at c[0x0][0x218].
enum { TENSOR_AT = 1024, FIRST_WORD = 0x10000 };

static void write_map(const char *text, uint64_t address, unsigned char *bytes) {
  Diags diags = diags_new(arena);
  TmaBox box;
  ck_assert_msg(tma_box_parse(arena, text, &box, &diags) && tma_box_check(&box, &diags) &&
                    tma_map_write(&box, address, bytes),
                "%s", diags_text(arena, &diags));
}

static Run run(const Given *given) {
  Diags diags = diags_new(arena);
  const PtxModule *module = module_of(given->code);
  const PtxLaunch launch = {.grid = {given->blocks, 1, 1},
                            .block = {given->threads ? given->threads : THREADS, 1, 1},
                            .cluster = {given->blocks, 1, 1},
                            .dynamic_smem = SMEM_BYTES,
                            .budget = 1000000};
  Run out = {.machine = ptx_machine_new(arena, module, &module->functions[0], &launch, &diags)};
  ck_assert_msg(out.machine != NULL, "%s", diags_text(arena, &diags));
  uint32_t *in = ARENA_ARRAY(arena, uint32_t, BUFFER_BYTES / 4);
  for (uint32_t i = 0; i < (BUFFER_BYTES - TENSOR_AT) / 4; i++)
    in[TENSOR_AT / 4 + i] = FIRST_WORD + i;
  const uint64_t to = ptx_machine_buffer(out.machine, "out", BUFFER_BYTES, NULL, PTX_CONTENT_ZERO),
                 from = ptx_machine_buffer(out.machine, "in", BUFFER_BYTES, in, PTX_CONTENT_GIVEN);
  ptx_machine_param(out.machine, 0, &to, sizeof to);
  ptx_machine_param(out.machine, 1, &from, sizeof from);
  unsigned char *map = (unsigned char *)ptx_machine_bytes(out.machine, from, TMA_MAP_BYTES);
  if (given->tensor) write_map(given->tensor, given->is_out ? to : from + TENSOR_AT, map);
  PtxTally *tally = ptx_tally_new(arena, module, &module->functions[0]);
  kernel_log_watch(out.machine, tally);
  out.outcome = ptx_machine_run(out.machine, 0, 0, 0);
  kernel_log_add(out.machine, module, out.outcome, tally, to, BUFFER_BYTES / 4);
  if (ptx_machine_findings(out.machine)) out.finding = ptx_machine_finding(out.machine, 0);
  out.out = (const uint32_t *)ptx_machine_bytes(out.machine, to, BUFFER_BYTES);
  return out;
}

static const char *said(const Run *r) {
  const PtxFinding *f = r->finding;
  return !f ? "no finding"
            : arena_printf(arena, "%s at 0x%x, after 0x%x: %s", ptx_finding_names[f->kind],
                           f->pc * INST_BYTES, f->other_pc * INST_BYTES, f->text ? f->text : "");
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

// ---- tensor maps --------------------------------------------------------------------------------

// As users write them; of the last two a field has no place for the number.
static const struct {
  const char *text;
  bool is_written;
} maps[] = {
    {"shape=4096x4096,box=64x128,swizzle=128B,type=bf16", true},
    {"shape=100x7,box=32x4,type=f32,strides=416", true},
    {"shape=64x3x5,box=16x2x1,swizzle=64B,type=f16,strides=128x4096,step=1x2x1", true},
    {"shape=256x16x4x2,box=128x8x2x1,type=u8", true},
    {"shape=8x4x4x2x3,box=8x2x2x2x1,swizzle=32B,type=u16,step=1x1x2x1x1", true},
    {"shape=4294967296x2,box=16x1,type=u64", true},
    {"shape=512,box=256,type=f64", true},
    {"shape=64x64,box=64x64,type=f16,strides=1099511627760", false},
};
enum { MAPS = sizeof maps / sizeof *maps };

START_TEST(a_map_that_is_written_reads_as_it_was) {
  Diags diags = diags_new(arena);
  TmaBox box, back;
  unsigned char bytes[TMA_MAP_BYTES];
  const uint64_t address = 0x7f1234567890;
  uint64_t found = 0;
  ck_assert_msg(tma_box_parse(arena, maps[_i].text, &box, &diags) && tma_box_check(&box, &diags),
                "%s", diags_text(arena, &diags));
  ck_assert_int_eq(tma_map_write(&box, address, bytes), maps[_i].is_written);
  if (!maps[_i].is_written) return;
  ck_assert(tma_map_read(bytes, &back, &found));
  ck_assert_uint_eq(found, address);
  ck_assert_int_eq(back.rank, box.rank);
  ck_assert_int_eq(back.elem_bytes, box.elem_bytes);
  ck_assert_str_eq(back.type, box.type);
  ck_assert_ptr_eq(back.swizzle, box.swizzle);
  for (int d = 0; d < box.rank; d++) {
    ck_assert_int_eq(back.shape[d], box.shape[d]);
    ck_assert_int_eq(back.box[d], box.box[d]);
    ck_assert_int_eq(back.step[d], box.step[d]);
    if (d) ck_assert_int_eq(back.stride[d], box.stride[d]);
  }
}
END_TEST

// Bytes that the hardware would not take for a map of tiles.
START_TEST(other_bytes_are_no_map) {
  unsigned char bytes[TMA_MAP_BYTES] = {0};
  TmaBox box;
  uint64_t address;
  ck_assert(!tma_map_read(bytes, &box, &address));
  memset(bytes, 0xff, sizeof bytes);
  ck_assert(!tma_map_read(bytes, &box, &address));
}
END_TEST

// ---- boxes --------------------------------------------------------------------------------------

// `in` begins with a map. Behind it, or in `out`, lies its tensor, rows of 16 words; the box begins
// at its element (2, 3, 1, 0, 1) and has 8 words, 4 to a row.
enum { BOX_WORDS = 8, BOX_ROW = 4, UNTOUCHED = 0x7777 };

// Lane 0 begins an mbarrier that awaits the box, at 0x800; the box's place is at 0x1000. P0: lane
// 0; P3: block 0.
#define BEGIN                                                                                    \
  "S2R R2, SR_TID.X;S2R R7, SR_CTAID.X;IMAD.SHL R3, R2, 0x4, RZ;MOV R4, 0x7777;STS "             \
  "[R3+0x1000], R4;FENCE.VIEW.ASYNC.S;ISETP.EQ.AND P0, PT, R2, RZ, PT;ISETP.EQ.AND P3, PT, R7, " \
  "RZ, PT;UMOV UR6, 0x800;UMOV UR4, 0x1ffffe;UMOV UR5, 0x7ffff800;@P0 SYNCS.EXCH.64 URZ, [UR6]," \
  " UR4;MOV R0, 0x20;@P0 SYNCS.ARRIVE.TRANS64 RZ, [UR6], R0;MEMBAR.ALL.GPU;UCGABAR_ARV;"         \
  "UCGABAR_WAIT;"
#define MAP_AND_PLACE "ULDC.64 UR10, c[0x0][0x218];UMOV UR12, 0x1000;"
#define CORNER(a, b, c, d, e)                                                              \
  "UMOV UR" #a ", 0x2;UMOV UR" #b ", 0x3;UMOV UR" #c ", 0x1;UMOV UR" #d ", 0x0;UMOV UR" #e \
  ", "                                                                                     \
  "0x1;"
#define FETCH BEGIN MAP_AND_PLACE "UMOV UR13, 0x800;" CORNER(14, 15, 16, 17, 18)
// Block 0 waits for phase 0; each block stores 8 words.
#define STORE                                                                                    \
  "ISETP.EQ.AND P1, PT, RZ, RZ, PT;MOV R9, RZ;@P3 SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR6], R9;" \
  "@!P1 BRA `(.L_x_0){<1};ISETP.GE.AND P2, PT, R2, 0x8, PT;@P2 EXIT;LDS R5, [R3+0x1000];IMAD "   \
  "R8, R7, 0x8, R2;LDC.64 R10, c[0x0][0x210];ULDC.64 UR6, c[0x0][0x208];IMAD.WIDE R10, R8, 0x4," \
  " R10;STG.E desc[UR6][R10.64], R5;EXIT;"

static const struct {
  const char *instruction, *tensor;
  int first, row;  // words: the box's first one, from row to row of it
  int blocks;
} boxes[] = {
    {"@P0 UTMALDG.2D [UR12], [UR10];", "shape=16x64,box=4x2,type=u32", 50, 16, 1},
    {"@P0 UTMALDG.3D [UR12], [UR10];", "shape=16x8x8,box=4x2x1,type=u32", 178, 16, 1},
    {"@P0 UTMALDG.4D [UR12], [UR10];", "shape=16x8x4x2,box=4x1x2x1,type=u32", 178, 128, 1},
    {"@P0 UTMALDG.5D [UR12], [UR10];", "shape=16x8x2x2x2,box=4x2x1x1x1,type=u32", 690, 16, 1},
    // Block 1 fetches for block 0: the mask is the upper half of a register, the lower one says
    // both.
    {"ISETP.EQ.AND P0, PT, R7, 0x1, P0;UMOV UR9, 0x10003;@P0 UTMALDG.2D.MULTICAST [UR12], [UR10], "
     "UR9;",
     "shape=16x64,box=4x2,type=u32", 50, 16, 2},
    {"ISETP.EQ.AND P0, PT, R7, 0x1, P0;UMOV UR9, 0x10003;@P0 UTMALDG.5D.MULTICAST [UR12], [UR10], "
     "UR9;",
     "shape=16x8x2x2x2,box=4x2x1x1x1,type=u32", 690, 16, 2},
};
enum { BOXES = sizeof boxes / sizeof *boxes };

START_TEST(a_box_comes_by_its_map_to_the_blocks_of_its_mask) {
  const char *code = arena_printf(arena, FETCH "%s" STORE, boxes[_i].instruction);
  const Run r = run(&(Given){.code = code, .blocks = boxes[_i].blocks, .tensor = boxes[_i].tensor});
  ck_assert_msg(r.outcome == PTX_DONE && !r.finding, "%s", said(&r));
  for (int k = 0; k < boxes[_i].blocks * BOX_WORDS; k++) {
    const uint32_t word = (uint32_t)(boxes[_i].first + k / BOX_ROW * boxes[_i].row + k % BOX_ROW);
    ck_assert_uint_eq(r.out[k], k < BOX_WORDS ? FIRST_WORD + word : UNTOUCHED);
  }
}
END_TEST

// Each lane has written a word of its own; the box's pieces have one history behind them.
START_TEST(a_box_has_one_history_whatever_was_there) {
  const char *code = FETCH
      "@P0 UTMALDG.2D [UR12], [UR10];MOV R9, RZ;SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR6], R9;"
      "@!P1 BRA `(.L_x_0){<1};EXIT;";
  const Run r = run(&(Given){.code = code, .blocks = 1, .tensor = "shape=16x64,box=8x1,type=u32"});
  ck_assert_msg(!r.finding, "%s", said(&r));
  const uint32_t *history = r.machine->histories.of + 0x1000 / PTX_PIECE;
  ck_assert_uint_eq(history[1], history[0]);
  ck_assert_int_eq(r.machine->histories.history[history[0]].pieces, 2);
}
END_TEST

// Two warps read the place of the box before it is fetched; the barrier tells of loads that have
// their values, where the warp has waited for their scoreboards in front of it.
#define READ_FIRST(loads, barrier) \
  BEGIN loads barrier MAP_AND_PLACE                                                            \
      "UMOV UR13, 0x800;" CORNER(14, 15, 16, 17, 18) "@P0 UTMALDG.2D [UR12], [UR10];MOV R9, "  \
      "RZ;SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR6], R9;@!P1 BRA `(.L_x_0){<1};EXIT;"

static const struct {
  const char *code;
  int kind;  // of the finding; -1: none
} reads[] = {
    {READ_FIRST("LDS R5, [0x1000]{b0};", "BAR.SYNC 0x0;"), PTX_FINDING_MISSING_FENCE},
    {READ_FIRST("LDS R5, [0x1000]{b0};", "BAR.SYNC 0x0{w1};"), -1},
    {READ_FIRST("LDS R5, [0x1000]{b0};IADD3 R5, R5, R5, RZ{w1};", "BAR.SYNC 0x0;"), -1},
    {READ_FIRST("LDS R5, [0x1000]{b0};NOP{w2};", "BAR.SYNC 0x0;"), PTX_FINDING_MISSING_FENCE},
    // Too late: the barrier has told of it before.
    {READ_FIRST("LDS R5, [0x1000]{b0};", "BAR.SYNC 0x0;NOP{w1};"), PTX_FINDING_MISSING_FENCE},
    // One of two loads, both, and a load whose scoreboard nobody names.
    {READ_FIRST("LDS R5, [0x1000]{b0};LDS R8, [0x1004]{b1};", "BAR.SYNC 0x0{w1};"),
     PTX_FINDING_MISSING_FENCE},
    {READ_FIRST("LDS R5, [0x1000]{b0};LDS R8, [0x1004]{b1};", "BAR.SYNC 0x0{w3};"), -1},
    {READ_FIRST("LDS R5, [0x1000];", "BAR.SYNC 0x0{w?};"), PTX_FINDING_MISSING_FENCE},
    // Loads come back in turn: the scoreboard of the last stands for those in front of it that have
    // none, and for none behind it. An arrival has no value to come.
    {READ_FIRST("LDS R5, [0x1000];LDS R8, [0x1004]{b0};", "BAR.SYNC 0x0{w1};"), -1},
    {READ_FIRST("LDS R8, [0x1004]{b0};LDS R5, [0x1000];", "BAR.SYNC 0x0{w1};"),
     PTX_FINDING_MISSING_FENCE},
    {READ_FIRST("LDS R5, [0x1000];LDS R8, [0x1004]{b0};", "BAR.SYNC 0x0;"),
     PTX_FINDING_MISSING_FENCE},
    {READ_FIRST(
         "@P0 SYNCS.EXCH.64 URZ, [0x900], UR4;BAR.SYNC 0x0;"
         "MOV R13, 0x900;@P0 SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R13+URZ], RZ;LDS R5, [0x1000]{b0};",
         "BAR.SYNC 0x0{w1};"),
     -1},
    // A store is not over by a wait.
    {READ_FIRST("LDS R5, [0x1000]{b0};BAR.SYNC 0x0{w1};@P0 STS [0x1000], R5;", "BAR.SYNC 0x0;"),
     PTX_FINDING_MISSING_FENCE},
};
enum { READS_FIRST = sizeof reads / sizeof *reads };

START_TEST(a_load_that_was_waited_for_needs_no_fence) {
  const Run r = run(&(Given){.code = reads[_i].code,
                             .blocks = 1,
                             .threads = 2 * THREADS,
                             .tensor = "shape=16x64,box=8x1,type=u32"});
  if (reads[_i].kind < 0)
    ck_assert_msg(r.outcome == PTX_DONE && !r.finding, "%s", said(&r));
  else
    ck_assert_msg(r.finding && r.finding->kind == (PtxFindingKind)reads[_i].kind, "%s", said(&r));
}
END_TEST

#define PUT                                                                               \
  "S2R R2, SR_TID.X;IMAD.SHL R3, R2, 0x4, RZ;STS [R3+0x1000], R2;FENCE.VIEW.ASYNC.S;NOP;" \
  "ISETP.EQ.AND P0, PT, R2, RZ, PT;" MAP_AND_PLACE CORNER(13, 14, 15, 16, 17) "WARPSYNC.ALL;"

static const struct {
  const char *instruction, *tensor;
  int first, row;
} sent[] = {
    {"UTMASTG.2D", "shape=16x64,box=4x2,type=u32", 50, 16},
    {"UTMASTG.3D", "shape=16x8x8,box=4x2x1,type=u32", 178, 16},
    {"UTMASTG.4D", "shape=16x8x4x2,box=4x1x2x1,type=u32", 178, 128},
    {"UTMASTG.5D", "shape=16x8x2x2x2,box=4x2x1x1x1,type=u32", 690, 16},
};
enum { PUTS = sizeof sent / sizeof *sent };

START_TEST(a_box_goes_by_its_map) {
  const char *code = arena_printf(arena, PUT "@P0 %s [UR12], [UR10];UTMACMDFLUSH{r0};EXIT{w1};",
                                  sent[_i].instruction);
  const Run r = run(&(Given){.code = code, .blocks = 1, .tensor = sent[_i].tensor, .is_out = true});
  ck_assert_msg(r.outcome == PTX_DONE && !r.finding, "%s", said(&r));
  int written = 0;
  for (int k = 0; k < BUFFER_BYTES / 4; k++) written += r.out[k] != 0;
  ck_assert_int_eq(written, BOX_WORDS - 1);  // the first one is 0
  for (int k = 0; k < BOX_WORDS; k++)
    ck_assert_uint_eq(r.out[sent[_i].first + k / BOX_ROW * sent[_i].row + k % BOX_ROW],
                      (uint32_t)k);
}
END_TEST

// ---- mbarriers ----------------------------------------------------------------------------------

// What lane 0 of block 0 has in R5 behind them.
#define TELL                                                                                 \
  "@!P0 EXIT;@!P3 EXIT;LDC.64 R10, c[0x0][0x210];ULDC.64 UR8, c[0x0][0x208];STG.E desc[UR8]" \
  "[R10.64], R5;EXIT;"
// As BEGIN has it, but that nothing arrives.
#define ASK                                                                              \
  "S2R R2, SR_TID.X;S2R R7, SR_CTAID.X;ISETP.EQ.AND P0, PT, R2, RZ, PT;ISETP.EQ.AND P3," \
  " PT, R7, RZ, PT;UMOV UR6, 0x800;UMOV UR4, 0x1ffffe;MOV R6, 0x1;MOV R9, RZ;"
#define WAIT \
  "@P3 SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR6], R9;@!P1 BRA `(.L_x_0){<1};@P3 LDS R5, [0x1000];"

static const struct {
  const char *code;
  int blocks;
  uint32_t r5;
} signals[] = {
    // The phase under way stands in bit 63: of an mbarrier that begins with phase 1, 0 is over.
    {ASK "UMOV UR5, 0x7ffff800;@P0 SYNCS.EXCH.64 URZ, [UR6], UR4;@P0 SYNCS.PHASECHK.TRANS64 P1, "
         "[UR6], R9;SEL R5, R6, RZ, P1;" TELL,
     1, 0},
    {ASK "UMOV UR5, 0xfffff800;@P0 SYNCS.EXCH.64 URZ, [UR6], UR4;@P0 SYNCS.PHASECHK.TRANS64 P1, "
         "[UR6], R9;SEL R5, R6, RZ, P1;" TELL,
     1, 1},
    // Block 1 stores into block 0's shared memory and tells its mbarrier of 4 bytes, for which
    // block
    // 0 or block 1 has it wait.
    {ASK "UMOV UR5, 0x7ffff800;@P0 SYNCS.EXCH.64 URZ, [UR6], UR4;MOV R0, 0x4;@P0 "
         "SYNCS.ARRIVE.TRANS64 RZ, [UR6], R0;MEMBAR.ALL.GPU;UCGABAR_ARV;UCGABAR_WAIT;ISETP.EQ.AND "
         "P1, PT, RZ, RZ, PT;ISETP.EQ.AND P2, PT, R7, 0x1, P0;MOV R12, 0x1000;MOV R13, 0x800;MOV "
         "R14, 0x4321;@P2 STAS [R12.64], R14;" WAIT TELL,
     2, 0x4321},
    {ASK "UMOV UR5, 0x7ffff800;@P0 SYNCS.EXCH.64 URZ, [UR6], UR4;MOV R0, 0x4;MEMBAR.ALL.GPU;"
         "UCGABAR_ARV;UCGABAR_WAIT;ISETP.EQ.AND P1, PT, RZ, RZ, PT;ISETP.EQ.AND P2, PT, R7, 0x1, "
         "P0;MOV R12, 0x1000;MOV R13, 0x800;MOV R14, 0x4321;@P2 STAS [R12.64], R14;@P2 "
         "SYNCS.ARRIVE.TRANS64.RED RZ, [R13+URZ], R0;" WAIT TELL,
     2, 0x4321},
    {ASK "UMOV UR5, 0x7ffff800;@P0 SYNCS.EXCH.64 URZ, [UR6], UR4;MOV R0, 0x4;MEMBAR.ALL.GPU;"
         "UCGABAR_ARV;UCGABAR_WAIT;ISETP.EQ.AND P1, PT, RZ, RZ, PT;ISETP.EQ.AND P2, PT, R7, 0x1, "
         "P0;MOV R12, 0x1000;MOV R13, 0x800;MOV R14, 0x4321;@P2 SYNCS.ARRIVE.TRANS64.RED.A0TR RZ, "
         "[R13+URZ], R0;@P2 SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R13+URZ], RZ;@P2 STAS [R12.64], "
         "R14;" WAIT TELL,
     2, 0x4321},
};
enum { SIGNALS = sizeof signals / sizeof *signals };

START_TEST(mbarriers_are_told_as_the_code_says) {
  const Run r = run(&(Given){.code = signals[_i].code, .blocks = signals[_i].blocks});
  ck_assert_msg(r.outcome == PTX_DONE && !r.finding, "%s", said(&r));
  ck_assert_uint_eq(r.out[0], signals[_i].r5);
}
END_TEST

// ---- products -----------------------------------------------------------------------------------

// Four warps fill tiles, load a word of thread 0's each, and multiply 64x16 by 16x8; then thread 0
// writes all those words again.
#define PRODUCT_BEGIN                                                                             \
  "S2R R2, SR_TID.X;CS2R R4, SRZ;CS2R R6, SRZ;IMAD.SHL R3, R2, 0x20, RZ;STS.128 [R3+0x1000], R4;" \
  "STS.128 [R3+0x1010], R4;ISETP.NE.AND P0, PT, R2, RZ, PT;@!P0 STS.128 [0x3000], R4;MEMBAR.ALL." \
  "CTA;FENCE.VIEW.ASYNC.S;BAR.SYNC.DEFER_BLOCKING 0x0;"
#define LOAD_WORD "LDS R9, [0x3000];"
// Descriptors without a swizzle: pieces of 8 rows are 128 bytes apart, of 8 columns 256 bytes.
#define PRODUCT                                                                               \
  "UMOV UR4, 0x100100;UMOV UR5, 0x8;UMOV UR6, 0x100180;UMOV UR7, 0x8;WARPGROUP.ARRIVE;HGMMA." \
  "64x8x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT, gsb0;"
#define WRITE_WORD "@P0 EXIT;MOV R10, 0x5;STS [0x3000], R10;EXIT;"

static const struct {
  const char *code;
  bool races;
} products[] = {
    {PRODUCT_BEGIN LOAD_WORD PRODUCT "WARPGROUP.DEPBAR.LE gsb0, 0x0;" WRITE_WORD, false},
    {PRODUCT_BEGIN PRODUCT LOAD_WORD "WARPGROUP.DEPBAR.LE gsb0, 0x0;" WRITE_WORD, true},
    {PRODUCT_BEGIN LOAD_WORD PRODUCT "WARPGROUP.DEPBAR.LE gsb0, 0x1;" WRITE_WORD, true},
};
enum { PRODUCTS = sizeof products / sizeof *products };

START_TEST(a_product_that_is_over_was_asked_for_by_four_warps) {
  const Run r = run(&(Given){.code = products[_i].code, .blocks = 1, .threads = 128});
  ck_assert_msg(r.outcome == PTX_DONE && (r.finding != NULL) == products[_i].races, "%s", said(&r));
  if (products[_i].races) ck_assert_int_eq(r.finding->kind, PTX_FINDING_RACE);
}
END_TEST

START_TEST(all_that_runs_say) { kernel_log_check("kernels/machine_async.txt"); }
END_TEST

Suite *suite_machine_async(void) {
  Suite *suite = suite_create("machine_async");
  kernel_log_begin();
  TCase *tcase = tcase_create("machine_async");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, a_wait_for_what_is_sent_is_one_by_its_scoreboard, 0, SENDS);
  tcase_add_loop_test(tcase, a_wait_for_what_is_copied_is_one_by_its_scoreboard, 0, COPIES);
  tcase_add_loop_test(tcase, a_map_that_is_written_reads_as_it_was, 0, MAPS);
  tcase_add_test(tcase, other_bytes_are_no_map);
  tcase_add_loop_test(tcase, a_box_comes_by_its_map_to_the_blocks_of_its_mask, 0, BOXES);
  tcase_add_test(tcase, a_box_has_one_history_whatever_was_there);
  tcase_add_loop_test(tcase, a_load_that_was_waited_for_needs_no_fence, 0, READS_FIRST);
  tcase_add_loop_test(tcase, a_box_goes_by_its_map, 0, PUTS);
  tcase_add_loop_test(tcase, a_product_that_is_over_was_asked_for_by_four_warps, 0, PRODUCTS);
  tcase_add_loop_test(tcase, mbarriers_are_told_as_the_code_says, 0, SIGNALS);
  suite_add_tcase(suite, tcase);
  TCase *log = tcase_create("log");
  tcase_add_test(log, all_that_runs_say);
  suite_add_tcase(suite, log);
  return suite;
}

// Bits of machine code turned round, one at a time, and a miscompile that was published: what `open
// --against` says of them, as a user asks it.
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/open/open_parts.h"
#include "cli_harness.h"
#include "kernels/toolchain/machine/sass.h"
#include "machine/mc_cubin.h"
#include "machine_case.h"
#include "stress.h"

Suite *suite_machine_bits(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

#define LOST "tests/data/machine/lost_sign"

// pytorch#190973, in twelve instructions of PTX.
START_TEST(test_a_published_miscompile_is_found_from_its_ptx) {
  if (!cli_has_program() || !sass_find_tool(arena)) return;
  const CliRun run = cli_run(arena, "open " LOST ".ptx --against " LOST
                                    ".cubin --launch grid=1,block=32 --arg mem:128:random --arg 3");
  ck_assert_int_eq(run.status, CLI_NO);
  ck_assert_msg(strstr(run.out, "made by        /*00a0*/ VIMNMX3 R5, R0, UR4, R0, !PT\n") &&
                    strstr(run.out, "from PTX line 21: max.s32 %r8, %r5, %r7"),
                "%s", run.out);
}
END_TEST

// Kernels and their launches.
#define k01 "k01", "grid=8x7,block=32x8 --arg mem:200000:zero --arg mem:200000 --arg 250 --arg 200"
#define k03 "k03", "grid=8x6,block=32x4 --arg mem:196608 --arg mem:196608 --arg 256 --arg 192"
#define k05 "k05", "grid=4x4,block=256 --arg mem:262144 --arg mem:262144 --arg mem:262144 --arg 256"
#define k07 "k07", "grid=24,block=512 --arg mem:400012 --arg mem:96 --arg mem:96 --arg 100003"
#define k11                                                                                      \
  "k11",                                                                                         \
      "grid=2x3,block=128 --arg mem:98304 --arg mem:65536 --arg mem:393216 --arg 384 --arg 256 " \
      "--arg 128"
#define k13 \
  "k13", "grid=8x8,block=32x8 --arg mem:60000 --arg mem:60000 --arg 250 --arg 60 --arg 0.2"
#define k15 "k15", "grid=20,block=192 --arg mem:120004 --arg mem:1032:zero --arg 30001"
#define k17                                                                                 \
  "k17",                                                                                    \
      "grid=8x2,block=128 --arg mem:32768 --arg mem:32768 --arg mem:32768 --arg mem:32768 " \
      "--arg 128 --arg 0.125"
#define k19 "k19", "grid=24,block=160,smem=16000 --arg mem:46080 --arg mem:15360 --arg 6"

// A bit of an instruction of the cubin turned round, and what the report says of it.
static const struct {
  const char *id, *launch;
  int at, bit;
  const char *named, *with;
} bits[] = {
    // The guard's opposite.
    {k03, 0x120, 15, "@!PT IMAD.WIDE.U32 R12, R13, 0x4, R6",
     "it should run, its guard is never true: then memory is equal"},
    // Other numbers, which no register makes right.
    {k03, 0x370, 51, "VIADD R24, R4, 0x80018",
     "as VIADD R24, R4, 0x18, one bit away: then memory is equal"},
    // Another opcode in place of a branch: no value of the thread is wrong in front of it.
    {k15, 0xe0, 0, "@!P0 YIELD", "as @!P0 BRA `(.L_x), one bit away: then memory is equal"},
    // The upper word of an address; a carry in front of it makes memory right, too.
    {k05, 0x180, 75, "IMAD.X R5, R2, 0x1, ~R21, P0", "one bit away: then memory is equal"},
    // A load with another number makes memory right, too, and has its like nowhere.
    {k19, 0x4e0, 68, "IMAD R26, R26, 0x4, R25",
     "as IMAD R26, R26, 0x4, R9, one bit away: then memory is equal"},
    // Another guard in place of one that is never true.
    {k01, 0x1e0, 14, "@!PT LDG.E R16",
     "as @!P3 LDG.E R16, desc[UR6][R4.64], one bit away: then memory is equal"},
    // Other changes make memory right, too, and leave the value that the PTX does not have.
    {k05, 0x200, 36, "UMOV UR4, 0x410", "as UMOV UR4, 0x400, one bit away: then memory is equal"},
    // An asynchronous copy to another place, which other lanes' matrices are read from.
    {k11, 0x1170, 48, "LDGSTS.E.BYPASS.128 [R55+0x10]",
     "as LDGSTS.E.BYPASS.128 [R55], desc[UR12][R46.64+0x40], one bit away: then memory is equal"},
    // A loop goes on, and an access in it finds no memory.
    {k15, 0x9c0, 39, "VIADD R7, R7, 0xffffff7f",
     "as VIADD R7, R7, 0xffffffff, one bit away: then memory is equal"},
    // The one that reads it could have R15, too: all others of its kind write over what they read.
    {k15, 0x710, 18, "LOP3.LUT R15, R10",
     "as LOP3.LUT R11, R10, 0x3fc, RZ, 0xc0, !PT, one bit away"},
    // A pair that begins at an odd register; the one that reads it would, too.
    {k07, 0x3f0, 16, "@!P0 LDC.64 R7",
     "as @!P0 LDC.64 R6, c[0x0][0x218], one bit away: then memory is equal"},
    // Another sign, turned back where it is read: two in place of none.
    {k15, 0x980, 75, "IMAD.MOV.U32 R12, RZ, RZ, -R4",
     "as IMAD.MOV.U32 R12, RZ, RZ, R4, one bit away"},
    // BSSY B1 names the place behind it; a comparison that is always true ends the deadlock, too.
    {k13, 0x2e0, 16, "BSYNC B0", "as BSYNC B1, one bit away: then memory is equal"},
    // The stack pointer, which is set once.
    {k19, 0x1e0, 19, "MOV R1, 0x400", "as MOV R9, 0x400, one bit away: then memory is equal"},
    // The branch that it decides may be turned round, too; no other instruction has that number.
    {k15, 0x210, 62, "IADD3 R2, -R4, 0x40000300, RZ", "as IADD3 R2, -R4, 0x300, RZ, one bit away"},
    // Nobody reads its result; another address of the same bin makes memory right, too.
    {k15, 0x740, 21, "LOP3.LUT R45, R12", "as LOP3.LUT R13, R12, 0x3fc, RZ, 0xc0, !PT, one bit"},
    // R30 could be read, too: in one bank with the address beside it.
    {k11, 0x390, 16, "IMAD.IADD R30, R3", "as IMAD.IADD R31, R3.reuse, 0x1, R6, one bit away"},
    // Nobody else has R149; R21 is the lower one.
    {k19, 0x420, 39, "STS [R22], R149", "as STS [R22], R21, one bit away"},
    // A number like no other, in a loop that the way back does not come by.
    {k17, 0x3260, 56, "UIADD3 UR4, UR4, 0x1000020", "as UIADD3 UR4, UR4, 0x20, URZ, one bit"},
    // Too little of a right value is stored; and one of the many steps of a remainder.
    {k05, 0x4b0, 75, "STS.U8 [R37+0x2c0], R26", "as STS [R37+0x2c0], R26, one bit away"},
    {k19, 0x180, 75, "IMAD.HI.U32 R13, R13, R9, -R12", "as IMAD.HI.U32 R13, R13, R9, R12, one"},
    // A loop does not end: its count stands still.
    {k17, 0x1760, 13, "@P5 IADD3 R17, R17, 0x4, RZ", "as IADD3 R17, R17, 0x4, RZ, one bit away"},
    // Goes past the place where lanes meet, so that those that wait there wait for ever.
    {k15, 0x7d0, 18, "@P1 BRA `(.L_x_12)", "as @P1 BRA `(.L_x), one bit away"},
    // The first word of the load is right in this thread, and in no other one.
    {k05, 0x2c0, 75, "LEA R37, R37, UR7, 0x3", "as LEA R37, R37, UR7, 0x2, one bit away"},
};

START_TEST(test_a_bit_is_named_first) {
  if (!cli_has_program() || !sass_find_tool(arena)) return;
  size_t n = 0;
  char *bytes = machine_case_file(arena, bits[_i].id, ".cubin", &n);
  McCubin cubin;
  ck_assert(mc_cubin_read(arena, bytes, n, &cubin) && cubin.n_kernels == 1);
  char *text = bytes + ((char *)(uintptr_t)cubin.kernels[0].text.at - bytes);
  text[bits[_i].at + bits[_i].bit / 8] ^= (char)(1 << bits[_i].bit % 8);
  const char *path = cli_write_file(arena, "bit.cubin", "");
  FILE *file = fopen(path, "w");
  ck_assert(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0);
  const CliRun run =
      cli_run(arena, arena_printf(arena, "open tests/data/open/%s.ptx --against %s --launch %s",
                                  bits[_i].id, path, bits[_i].launch));
  const char *named_first =
      arena_printf(arena, "right with     /*%04x*/ %s", bits[_i].at, bits[_i].named);
  ck_assert_msg(
      run.status == CLI_NO && strstr(run.out, named_first) && strstr(run.out, bits[_i].with),
      "%s%s", run.out, run.err);
}
END_TEST

// Lanes of one warp that name different masks vote apart.
START_TEST(test_lanes_of_different_masks_vote_apart) {
  static const char *const asked[] = {"coop --launch grid=1,block=128",
                                      "wv --launch grid=1,block=64"};
  if (!cli_has_program() || !sass_find_tool(arena) || !open_find_tool(arena, "ptxas")) return;
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    const CliRun run =
        cli_run(arena, arena_printf(arena,
                                    "open tests/data/open/checked.ptx --kernel %s --arg mem:16384 "
                                    "--against machine",
                                    asked[i]));
    ck_assert_msg(run.status == CLI_OK, "%s%s", run.out, run.err);
  }
}
END_TEST

Suite *suite_machine_bits(void) {
  Suite *suite = suite_create("machine_bits");
  TCase *tcase = tcase_create("bits");
  tcase_set_timeout(tcase, 600);
  tcase_add_checked_fixture(tcase, setup, teardown);
  stress_add_turns(tcase, test_a_bit_is_named_first, (int)(sizeof bits / sizeof *bits), 6);
  tcase_add_test(tcase, test_a_published_miscompile_is_found_from_its_ptx);
  tcase_add_test(tcase, test_lanes_of_different_masks_vote_apart);
  suite_add_tcase(suite, tcase);
  return suite;
}

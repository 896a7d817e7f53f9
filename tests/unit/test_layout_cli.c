// gemmview layout and descriptor as a user calls them, and layouts of others' dialects where knobs
// and other commands take one.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "cli_harness.h"

Suite *suite_layout_cli(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

#define BLOCKED                                                                            \
  "'#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], " \
  "order = [1, 0]}>'"
#define RUNG "-k \"hgemm/ldmatrix,LAYOUT_A="

static const struct {
  const char *arguments;
  int status;
  const char *says;  // on stdout, or on stderr
} CALLS[] = {
    {"layout 'Sw<3,4,3> o smem_ptr[16b](unset) o (_64,_64):(_64,_1)'", 0,
     "which is\nswizzle:3,4,3\n"},
    {"layout 'S<3,4,3> o 0 o (8,64):(64,1)'", 0,
     "swizzle counted in  elements: the accesses below take 32 wavefronts\n"
     "in bytes    it is   swizzle:3,4,3: the accesses below take 24 wavefronts\n"
     "to type that        Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)\n"},
    {"layout 'S<3,4,3> o 0 o (8,64):(64,1)' --json", 0,
     "\"swizzle_unit\":\"elements\",\"other_unit\":{\"unit\":\"bytes\",\"layout\":\"Sw<3,4,3> o"},
    {"layout 'Sw<3,4,3> o smem_ptr[16b](unset) o (_64,_64):(_64,_1)' --json", 0,
     "\"swizzle_unit\":\"bytes\",\"other_unit\":null"},
    {"swizzle 'Swizzle<2,3,3>' --rows 8 --row-bytes 64 --elem 2", 0,
     "in elements it is   swizzle:2,4,3: the accesses below take 12 wavefronts\n"
     "to type that        swizzle_elem:2,3,3\n"},
    {"layout '(2,64,64):LayoutRight'", 0, "128 rows of 128 bytes, elements of 2"},
    {"loops " RUNG "swizzle_elem:3:3:3\"", 0, "A_s [128 x 64] f16  byte bits 4..6 ^= 7..9"},
    {"check --failing " RUNG "swizzle:1:3:3\"", 1,
     "read as a swizzle of bytes; of elements swizzle_elem:1:3:3"},
    {"layout '(64,64):(64,1)'", 0, "ldmatrix, 8 rows         ldsm_x1           512       8"},
    {"layout '(64,64):(1,64)'", 0, "a column is contiguous: a row below is a column of the matrix"},
    {"layout 'logical_divide((4,2,3):(2,1,8), 4:2)'", 0, "((_2,_2),(_2,_3)):((_4,_1),(_2,_8)) =\n"},
    {"layout swizzle:3,4,3 --shape 64x64 --to triton", 0,
     "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>\n"},
    {"layout swizzle:3,4,3 --shape 64x32 --type f32 --to cute", 0,
     "Sw<3,2,3> o _0 o (_64,_32):(_32,_1)\n"},
    {"layout pad:1 --shape 64x64 --to swizzled_shared", 1, "padded_shared can write it"},
    {"layout pad:8 --shape 64x64 --to triton", 0, "#ttg.padded_shared<[64:+8]"},
    {"layout --tma shape=4096x512,box=64x64,swizzle=128B", 0,
     "8192 bytes of shared memory at a multiple of 128"},
    {"layout --tma box=8x5,step=1x2,type=f32", 0, "96 bytes of shared memory"},  // rows 0, 2 and 4
    {"layout --tma shape=4096x512,box=128x64,swizzle=128B", 2, "nearest: 64 elements"},
    {"layout --tma box=64x8,swizzle=128B_ATOM_64B", 2, "is not documented"},
    {"layout --tma box=128x8,swizzle=128B,type=b6x16_p32", 0, "1024 bytes of shared memory"},
    {"layout --tma box=128x8,type=b4x16", 0, "512 bytes of shared memory"},
    {"layout --tma shape=250x8,box=128x8,type=b4x16_p64", 2,
     "250 b4x16_p64, not a multiple of 128"},
    {"layout --tma shape=256x8,box=64x8,type=b6x16_p32", 2, "it has to be 128"},
    {"layout --tma box=128x8,strides=80,type=b4x16_p64", 2, "takes multiples of 32"},
    {"layout --tma shape=64x64,box=8x8,strides=128,step=1x1", 0, "128 bytes of shared memory"},
    {"layout --tma box=8x8,step=1x1x1", 2, "a box of 2 dimensions has 1 strides and 2 steps"},
    {"layout --tma shape=64x64,box=8x8,strides=128x4096", 2,
     "a box of 2 dimensions has 1 strides and 2 steps"},
    {"layout --tma shape=64,box=8,strides=128", 0, "16 bytes of shared memory"},
    {"layout --tma shape=64,box=8,strides=128x128", 2,
     "a box of 1 dimensions has 0 strides and 1 steps"},
    {"layout --tma box=128x8,swizzle=64B,type=b4x16_p64", 2, "takes none, or one of 128B"},
    {"layout --tma box=63x8,type=b4x16", 2, "63 b4x16, not a multiple of 2"},
    {"layout '(4,4):(0,1)'", 0, "broadcast           4 elements lie in each place"},
    {"layout '(4,4):(1,1)'", 2, "row 0, col 1 and row 1, col 0 both lie at byte 2"},
    {"layout '((32,4),(16,4)):((16,4),(0,1))' --type ue4m3", 0, "16 elements lie in each place"},
    {"layout sf:128x4 --shape 128x8", 0, "128 rows of 8 bytes, elements of 1; 1024 bytes"},
    {"layout sf:128x4 --shape 128x8 --to cute", 0, "((_32,_4),(_4,_2)):((_16,_4),(_1,_512))\n"},
    {"layout sf:128x4 --shape 128x8 --element 40,5", 0,
     "(40, 5) lies at byte 645; in shared memory bank 1"},
    {"layout sf:128x4,16 --shape 256x512 --element 200,300", 0,
     "elements (200, 288) to (200, 303) share byte 6282"},
    {"layout sf:linear,32 --shape 4x80 --element 1,70", 0,
     "elements (1, 64) to (1, 79) share byte 5"},
    {"layout sf:linear,32 --shape 4x80", 0, "32 elements lie in each place"},
    {"layout sf:128x4 --shape 128x8 --element 128,0", 2, "rows 0 to 127 and columns 0 to 7"},
    {"layout swizzle:3,4,3 --shape 64x64 --element 1,0", 0, "element (1, 0) lies at byte 144;"},
    {"layout swizzle:3,4,3 --shape 64x64 --element 1,0 --json", 0, "\"place\":{\"row\":1"},
    {"layout swizzle:3,4,3 --shape 64x64 --element 1", 2, "rows 0 to 63"},
    {"layout 'Sw<2,4,3> o smem_ptr[16b](unset) o (_32,_32):(_32,_1)' --element 3,5", 0,
     "element (3, 5) lies at byte 218; in shared memory bank 22"},
    {"layout '(_32,_32):(_32,_1)' --element 3,5", 0, "element (3, 5) lies at byte 202;"},
    {"layout '((4,8),(2,2)):((32,1),(16,8))' --shape 16x8 --element 3,5", 0,
     "register 1 of lane 14"},
    {"layout sf:128x4,16 --shape 128x64 --json", 0, "\"broadcast\":16"},
    {"layout sf:linear,32 --shape 4x64 --map", 0,
     "broadcast           32 elements lie in each place"},
    {"layout sf:128x4,0 --shape 128x64", 2, "from 1 to 1024 elements"},
    {"layout sf:64x4 --shape 128x64", 2, "expected 128x4 or linear"},
    {"layout sf:128x4", 2, "give --shape"},
    {"layout --tma box=64x8,type=u8", 0, "a box of 64 u8 x 8"},
    {"layout --tma box=64x8,type=CU_TENSOR_MAP_DATA_TYPE_UINT8", 0, "512 bytes of shared memory"},
    {"layout '(8,64):(64,1)' --type e2m1", 2, "nearest: e2m1x2"},
    {"layout swizzle:3,4,3", 2, "give --shape ROWSxCOLS"},
    {"layout swizzle:3,4,3 --shape 64", 2, "nearest: --shape 64x64"},
    {"layout '(8,8):(8,1)' --to cutee", 2, "nearest: cute"},
    {"layout", 2, "one layout is needed"},
    {"layout '(8,64):(64,1)' --json", 0, "\"name\":\"cute\",\"text\":\"(_8,_64):(_64,_1)\""},
    {"layout " BLOCKED " --shape 64x64 --lane 5 --warp 1 --json", 0,
     "\"elements\":[{\"register\":0,\"element\":[4,40]},{\"register\":1,"},
    {"layout " BLOCKED " --shape 64x64 --element 3,5 --json", 0,
     "\"owners\":[{\"register\":5,\"lane\":24,\"warp\":0,\"block\":0}]"},
    {"layout " BLOCKED " --shape 64x64", 0, "\nwarp=2 -> (8, 0)\n"},
    {"layout " BLOCKED " --shape 64x64 --lane 32", 2, "from 0 to 31"},
    {"layout " BLOCKED " --shape 64x64 --warp 1", 2, "--warp and --block go with --lane"},
    {"layout " BLOCKED " --shape 64x64 --element 64,0", 2, "no element of 64x64"},
    {"layout " BLOCKED " --lane 5", 2, "give --shape"},
    {"layout " BLOCKED " 'swizzle:3,4,3' --shape 64x64", 0, "STS.128 "},
    {"layout 'swizzle:3,4,3' " BLOCKED " --shape 64x64 --json", 0,
     "\"stores\":[{\"op\":\"sts128\""},
    {"layout " BLOCKED " " BLOCKED " --shape 64x64", 0, "nothing moves"},
    {"layout SM80_16x8x16_F32F16F16F32_TN --operand A --element 3,5", 0, "register 1 of lane 14"},
    {"layout SM90_64x128x16_F32F16F16_SS --operand B", 2, "by a descriptor, not from registers"},
    {"layout '((4,8),(2,2)):((32,1),(16,8))' --shape 16x8 --lane 3", 0, "register   3  (8, 7)"},
    {"layout swizzle:3,4,3 --shape 64x64 --lane 3", 2, "need a layout of registers"},
    {"layout tests/data/matmul.ttgir", 0,
     "     2x  line 8     2x128x32 of f16, 16384 bytes of shared memory"},
    {"layout tests/data/matmul.ttgir --json", 0,
     "\"op\":\"ldsm_x4\",\"instructions\":16,\"wavefronts\":64"},
    {"layout tests/data/none.ttgir", 2, "none.ttgir"},
    {"layout 'ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag, "
     "Layout<Shape<_8,_1024>,Stride<_1024,_1>>>'",
     0, "swizzle:3,4,3\n8 rows of 128 bytes, elements of 2;"},
    {"layout 'Sw<3,4,3> o smem_ptr[4b](unset) o (8,256):(256,1)'", 0,
     "8 rows of 128 bytes, elements of 1;"},
    {"layout 'smem_ptr[4b](unset) o (8,3):(3,1)'", 2, "do not form whole elements of 8 bits"},
    {"layout 'SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0])' --shape 64x64",
     0, "which is\nswizzle:3,4,3\n"},
    {"layout 'gl.NVMMASharedLayout(128, 16, 2)' --shape 64x64", 0, "which is\nswizzle:3,4,3\n"},
    {"layout 'PaddedSharedLayout(offset_bases=[[0, 1], [1, 0]])'", 2, "no pairs of interval"},
    {"fragment SM80_16x8x16_F32F16F16F32_TN A", 0, "A of m16n8k16.f16, 16 x 16"},
    {"descriptor 0x4000004000010040", 0, "((_8,_8),(_8,_2)):((_64,_512),(_1,_8))"},
    {"descriptor 0x4000004000010040", 0, "  row   1    144.1    128.0\n"},
    {"descriptor 0x4000004000010040 --arch 100", 1, "illegal: bits 46-48 are 0"},
    {"descriptor 0x4000404000010000", 0, "sm_100, tcgen05.mma\n"},
    {"descriptor 0x4000404000010000 --arch 90", 1, "belong to no field of sm_90"},
    {"descriptor 0x400800200000", 0, "sm_100, tcgen05.cp.32x128b\n"},
    {"descriptor 0x400800200000", 0, "read as a tile of scale factors"},
    {"descriptor 0x400800200000 --copy 128x256b", 1, "LBO or SBO is too small"},
    {"descriptor 0x400800200000 --rows 128", 1, "LBO or SBO is too small"},
    {"descriptor lbo=512,sbo=128 --copy 32x128b --json", 0, "\"reader\":\"tcgen05.cp.32x128b\""},
    {"descriptor 0x4000004000010040 --copy 32x128", 2, "nearest: 32x128b"},
    {"descriptor start=0x400,lbo=4096,sbo=1024,swizzle=128B --major mn --rows 128", 0,
     "((_8,_8,_2),(_8,_2)):((_1,_8,_2048),(_64,_512))"},
    {"descriptor start=1056,sbo=1024,swizzle=128B", 0,
     "32 bytes into a row of the pattern: 1 steps"},
    {"descriptor sbo=64,lbo=16 --json", 1,
     "\"illegal\":[{\"text\":\"(row 0, k 8) and (row 1, k 0) are both"},
    {"descriptor", 2, "one descriptor is needed"},
    {"descriptor 0x0 --arch 80", 2, "no --arch \"80\""},
    {"descriptor 0x0 --type f64", 2, "operands have 8, 16 or 32 bits"},
    {"swizzle '(64,64):(72,1)' --rows 64 --row-bytes 128 --elem 2", 0, "which is\npad:8\n"},
    {"swizzle '(8,64):(72,1)' --rows 64 --row-bytes 128 --elem 2", 2, "the slab 64 x 64"},
    {"solve --example tf32-b", 0, "triton  #ttg.shared_linear<{offset = "},
    {"loops " RUNG "'Sw<3,4,3> o smem_ptr[16b](unset) o (_128,_64):(_64,_1)'\"", 0,
     "A_s [128 x 64] f16  byte bits 4..6 ^= 7..9"},
    {"loops " RUNG "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>\"",
     0, "A_s [128 x 64] f16  byte bits 4..6 ^= 7..9"},
    {"check --failing " RUNG "(_64,_64):(_64,_1)\"", 1,
     "it is 64 x 64 elements, the slab 128 x 64"},
    {"show swizzle " RUNG "'Sw<3,3,3> o _0 o (_128,_64):(_64,_1)',"
     "LAYOUT_B='Sw<3,3,4> o _0 o (_64,_128):(_128,_1)'\" --size 130x30",
     0, "now swizzle:3,4,3"},
};

START_TEST(calls_answer) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(arena, CALLS[_i].arguments);
  ck_assert_msg(run.status == CALLS[_i].status, "%s: %d\n%.300s%.300s", CALLS[_i].arguments,
                run.status, run.out, run.err);
  ck_assert_msg(strstr(run.out, CALLS[_i].says) || strstr(run.err, CALLS[_i].says),
                "%s:\n%.600s%.300s", CALLS[_i].arguments, run.out, run.err);
}
END_TEST

Suite *suite_layout_cli(void) {
  Suite *suite = suite_create("layout_cli");
  TCase *calls = tcase_create("calls");
  tcase_add_checked_fixture(calls, setup, teardown);
  tcase_add_loop_test(calls, calls_answer, 0, (int)(sizeof CALLS / sizeof CALLS[0]));
  suite_add_tcase(suite, calls);
  return suite;
}

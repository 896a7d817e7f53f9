// Operands that wgmma reads from shared memory: wavefronts of a warpgroup's product, as an H200
// counted them (driver 580.159.04, 2026-11-27: by instruction in the kernels of the rungs
// hopper/wgmma and attention/three_groups, in whole kernels with N = 256).
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "kernel_log.h"
#include "ptx_kernel.h"

Suite *suite_open_tiles(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static const struct {
  int n;
  bool in_registers, b_trans;
  int swizzle;         // of the descriptors: 0 none, 1 128 bytes
  int64_t wavefronts;  // of the four warps, with A's
} products[] = {
    {64, false, true, 1, 32},   {128, false, false, 1, 48}, {128, true, true, 1, 32},
    {256, false, false, 1, 80}, {256, false, false, 0, 80}, {64, true, false, 1, 16},
};
enum { PRODUCTS = sizeof products / sizeof *products };

static const char *kernel_of(int index) {
  const int n = products[index].n / 2;  // registers of D
  const bool in_registers = products[index].in_registers;
  Str out = str_new(arena), d = str_new(arena);
  for (int i = 0; i < n; i++) str_printf(&d, "%s%%d%d", i ? ", " : "", i);
  str_printf(&out,
             ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a, "
             ".param .u64 b)\n{\n.reg .f32 %%d<%d>;\n.reg .b32 %%r<8>;\n.reg .b64 %%rd<8>;\n"
             ".shared .align 1024 .b8 s[65536];\n",
             n);
  // Every thread writes its part, so that no read is of what nobody wrote.
  str_printf(&out,
             "mov.u32 %%r0, %%tid.x;\nshl.b32 %%r1, %%r0, 2;\nmov.u32 %%r2, s;\nadd.u32 %%r2, "
             "%%r2, %%r1;\nmov.u32 %%r3, 0;\nL:\nst.shared.u32 [%%r2], 0;\nadd.u32 %%r2, %%r2, "
             "512;\nadd.u32 %%r3, %%r3, 1;\n.reg .pred %%p;\nsetp.lt.u32 %%p, %%r3, 128;\n@%%p bra "
             "L;\nfence.proxy.async;\nbar.sync 0;\n");
  const unsigned long long layout = products[index].swizzle ? 1ull << 62 : 0;
  str_printf(&out, "mov.b64 %%rd0, %llu;\n",
             layout | 64ull << 32 | 8ull << 16);  // strides of 1024 and 128 bytes
  for (int i = 0; i < n; i++) str_printf(&out, "mov.f32 %%d%d, 0f00000000;\n", i);
  str_printf(
      &out,
      "mov.u32 %%r4, 0;\nwgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n%dk16.f32.bf16.bf16 {%s}, %s, %%rd0, 1, 1, 1, %s%d;\n"
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nret;\n}\n",
      products[index].n, d.text, in_registers ? "{%r4, %r4, %r4, %r4}" : "%rd0",
      in_registers ? "" : "0, ", products[index].b_trans);
  return out.text;
}

START_TEST(test_operands_are_counted) {
  const uint32_t in[PTX_KERNEL_WORDS] = {0};
  const PtxKernel k = ptx_kernel_run(arena, kernel_of(_i), "k", 128, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  ck_assert_int_eq(ptx_machine_findings(k.machine), 0);
  int n = 0;
  for (int pc = 0; pc < k.module->n_code; pc++) {
    const PtxInst *i = &k.module->code[pc];
    if (!i->wgmma) continue;
    const PtxSiteCount *site = ptx_tally_site(k.tally, pc);
    ck_assert_int_eq(site->wavefronts, products[_i].wavefronts);
    ck_assert_int_eq(site->ideal, products[_i].wavefronts);
    ck_assert(site->countable && site->space == PTX_SPACE_SHARED);
    n++;
  }
  ck_assert_int_eq(n, 1);
}
END_TEST

START_TEST(test_all_that_runs_say) { kernel_log_check("kernels/tiles.txt"); }
END_TEST

Suite *suite_open_tiles(void) {
  kernel_log_begin();
  Suite *suite = suite_create("open_tiles");
  TCase *tcase = tcase_create("tiles");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_operands_are_counted, 0, PRODUCTS);
  tcase_add_test(tcase, test_all_that_runs_say);
  suite_add_tcase(suite, tcase);
  return suite;
}

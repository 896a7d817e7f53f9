// Products of tcgen05 of every kind, of numbers that are the same each time: a warp puts A, B and
// factors into shared memory and tensor memory, multiplies twice, the second time on top, and reads
// what lies in its lanes. tests/golden/told/tcgen05.txt has some lanes and a sum over all.
#include <check.h>
#include <string.h>

#include "banks/layouts/instruction_descriptor.h"
#include "base/hash.h"
#include "base/str.h"
#include "golden.h"
#include "ptx_kernel.h"

Suite *suite_told_tcgen05(void);

static const struct {
  const char *kind, *idesc;
  const char *words, *behind;  // behind the kind; behind the operands
} products[] = {
    {"f16", "d=f32,a=f16,b=f16,m=128,n=16", "", ""},
    {"f16", "d=f32,a=bf16,b=bf16,m=64,n=16", "", ", 3"},
    {"f16", "d=f16,a=f16,b=f16,m=128,n=16,nega=1", "", ", 1"},
    {"f16", "d=f32,a=f16,b=bf16,m=128,n=16,negb=1", "", ", {%r9, %r9, %r9, %r9}"},
    {"tf32", "m=128,n=16", "", ", 5"},
    {"tf32", "m=64,n=8,negb=1", "", ""},
    {"f8f6f4", "d=f32,a=e4m3,b=e5m2,m=128,n=16", "", ""},
    {"f8f6f4", "d=f16,a=e5m2,b=e4m3,m=64,n=16", "", ""},
    {"f8f6f4", "d=f32,a=e3m2,b=e2m3,m=128,n=16", "", ""},
    {"f8f6f4", "d=f32,a=e2m1,b=e4m3,m=128,n=16,nega=1", "", ""},
    {"i8", "d=s32,a=u8,b=s8,m=128,n=16", "", ""},
    {"i8", "d=s32,a=s8,b=s8,m=64,n=16,sat=1", "", ""},
    {"i8", "d=s32,a=s8,b=u8,m=64,n=16", "", ""},
    {"i8", "d=s32,a=s8,b=s8,m=128,n=16,sat=1", "", ""},
    {"mxf8f6f4", "a=e5m2,b=e4m3,m=128,n=16", ".block_scale", ""},
    {"mxf8f6f4", "a=e4m3,b=e2m1,m=128,n=16,sfa=1,sfb=3", ".block_scale.scale_vec::1X", ""},
    {"mxf4", "m=128,n=16", ".block_scale.scale_vec::2X", ""},
    {"mxf4", "m=128,n=16,sfa=2,sfb=2", ".block_scale", ""},
    {"mxf4nvf4", "m=128,n=16,scale=ue4m3", ".block_scale.scale_vec::4X", ""},
    {"mxf4nvf4", "m=128,n=16,scale=ue8m0,sfa=2", ".block_scale.scale_vec::2X", ""},
};
enum { PRODUCTS = sizeof products / sizeof *products };

enum { LANES = 32, COLUMNS = 16, ADDRESS = 8, SFA = 32, SFB = 48 };

// Words `from` on of the numbers, without what is no number in any type.
static void fill(Str *out, const char *name, int words, int from, const char *keep,
                 const char *add) {
  for (int i = 0; i < words / LANES; i++)
    str_printf(out,
               "ld.global.u32 %%r1, [%%i+%d];\nand.b32 %%r1, %%r1, %s;\nadd.u32 %%r1, %%r1, %s;\n"
               "mov.u32 %%r2, %s;\nadd.u32 %%r2, %%r2, %%t4;\nst.shared.u32 [%%r2+%d], %%r1;\n",
               4 * (from + LANES * i), keep, add, name, 4 * LANES * i);
}

// K-major, without a swizzle: core matrices of 8 rows of 16 bytes, 128 bytes apart along K.
static void describe(Str *out, const char *name, const char *reg, int rows_apart) {
  str_printf(out,
             "mov.u32 %%r1, %s;\nshr.u32 %%r1, %%r1, 4;\ncvt.u64.u32 %s, %%r1;\n"
             "or.b64 %s, %s, 0x%llx;\n",
             name, reg, reg, reg,
             1ull << 46 | (unsigned long long)rows_apart / 16 << 32 | 8u << 16);
}

static void multiply(Str *out, int which, unsigned idesc, const char *on_top) {
  const bool scaled = *products[which].words;
  str_printf(out, "@%%p3 tcgen05.mma.cta_group::1.kind::%s%s [%%r4], %%rd1, %%rd2, 0x%x",
             products[which].kind, products[which].words, idesc);
  if (scaled) str_add(out, ", [%r5], [%r6]");
  const bool has_mask = products[which].behind[0] && products[which].behind[2] == '{';
  if (has_mask) str_add(out, products[which].behind);
  str_printf(out, ", %s%s;\n", on_top, has_mask ? "" : products[which].behind);
}

// D begins in this lane.
static const char *body_from(Arena *arena, int which, unsigned idesc, unsigned lane) {
  Str out = str_new(arena);
  const bool ue4m3 = strstr(products[which].idesc, "ue4m3") != NULL;
  str_add(&out,
          ".shared .align 1024 .b8 a[4096];\n.shared .align 1024 .b8 b[512];\n"
          ".shared .align 1024 .b8 f[1024];\n.shared .align 16 .b8 w[16];\n"
          "mov.u32 %r9, 0x10;\nsetp.eq.u32 %p3, %t, 0;\nsetp.ne.u32 %p1, 0, 0;\n"
          "setp.eq.u32 %p2, 0, 0;\n");
  fill(&out, "a", 1024 - LANES, 0, "0xb7b7b7b7", "0");
  fill(&out, "b", 128, 300, "0xb7b7b7b7", "0");
  fill(&out, "f", 256, 500, ue4m3 ? "0x0f0f0f0f" : "0x03030303",
       ue4m3 ? "0x30303030" : "0x7d7d7d7d");
  str_printf(&out,
             "mov.u32 %%r2, a;\nadd.u32 %%r2, %%r2, %%t4;\n"
             "st.shared.u32 [%%r2+3968], %%t;\n"
             "@%%p3 mbarrier.init.shared.b64 [w], 1;\nfence.proxy.async.shared::cta;\n"
             "bar.warp.sync -1;\n"
             "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [w+%d], 64;\n"
             "bar.warp.sync -1;\nld.shared.u32 %%r4, [w+%d];\nadd.u32 %%r5, %%r4, %d;\nadd.u32 "
             "%%r6, %%r4, %d;\n",
             ADDRESS, ADDRESS, SFA, SFB);
  describe(&out, "a", "%rd1", 256);
  describe(&out, "b", "%rd2", 256);
  describe(&out, "f", "%rd3", 128);
  if (*products[which].words)
    str_add(&out,
            "add.u64 %rd4, %rd3, 32;\n"
            "@%p3 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r5], %rd3;\n"
            "@%p3 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r6], %rd4;\n");
  if (lane) str_printf(&out, "add.u32 %%r4, %%r4, 0x%x;\n", lane << 16);
  multiply(&out, which, idesc, "%p1");
  multiply(&out, which, idesc, "%p2");
  str_add(&out,
          "@%p3 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [w];\n"
          "W: mbarrier.try_wait.parity.shared.b64 %p4, [w], 0;\n@!%p4 bra W;\n"
          "tcgen05.fence::after_thread_sync;\n"
          "tcgen05.ld.sync.aligned.32x32b.x16.b32 {");
  str_printf(&out, "%s}, [%%r4];\ntcgen05.wait::ld.sync.aligned;\n",
             "%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, "
             "%r24, %r25");
  str_add(&out, "mul.wide.u32 %rd5, %t, 64;\nadd.u64 %rd5, %rd5, %out;\n");
  for (int i = 0; i < COLUMNS; i++)
    str_printf(&out, "st.global.u32 [%%rd5+%d], %%r%d;\n", 4 * i, 10 + i);
  str_add(&out, "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 64;\n");
  return out.text;
}

static PtxKernel run_product(Arena *arena, int which, unsigned lane) {
  static uint32_t in[PTX_KERNEL_WORDS];
  InstructionDescriptor d;
  Diags diags = diags_new(arena);
  ck_assert_msg(
      instruction_descriptor_parse(arena, products[which].kind, products[which].idesc, &d, &diags),
      "%s", diags_text(arena, &diags));
  for (uint32_t i = 0; i < PTX_KERNEL_WORDS; i++) in[i] = (i + 1) * 2654435761u;
  const char *text = ptx_kernel_text(arena, body_from(arena, which, d.word, lane));
  return ptx_kernel_run(arena, text, NULL, LANES, in);
}

static void tell(Arena *arena, Str *out, int which) {
  const PtxKernel k = run_product(arena, which, 0);
  str_printf(out, "%s%s %s%s\n", products[which].kind, products[which].words, products[which].idesc,
             products[which].behind);
  for (int i = 0; i < ptx_machine_findings(k.machine); i++) {
    const PtxFinding *f = ptx_machine_finding(k.machine, i);
    str_printf(out, "  %s: %s\n", ptx_finding_names[f->kind], f->text ? f->text : "");
  }
  for (int pc = 0; pc < k.module->n_code; pc++)
    if (ptx_machine_unknown_why(k.machine, pc))
      str_printf(out, "  unknown: %s\n", ptx_machine_unknown_why(k.machine, pc));
  if (k.outcome != PTX_DONE) return;
  str_printf(out, "  %08x\n",
             (unsigned)hash_bytes(HASH_START, k.out, LANES * COLUMNS * sizeof *k.out));
  for (int lane = 0; lane < LANES; lane += 13) {
    str_printf(out, "  lane %d:", lane);
    for (int i = 0; i < COLUMNS; i++) str_printf(out, " %08x", k.out[COLUMNS * lane + i]);
    str_add(out, "\n");
  }
}

START_TEST(products_are_as_reviewed) {
  Arena *kept = arena_new("report"), *arena = arena_new("a product");
  Str out = str_new(kept);
  for (int i = 0; i < PRODUCTS; i++, arena_reset(arena)) tell(arena, &out, i);
  golden_check("told/tcgen05.txt", out.text);
  arena_free(arena);
  arena_free(kept);
}
END_TEST

// The upper half of the address is the lane: any of its bits is one too many.
START_TEST(d_begins_in_lane_0) {
  Arena *arena = arena_new("a product");
  for (unsigned lane = 1; lane < 128; lane *= 2, arena_reset(arena)) {
    const PtxKernel k = run_product(arena, 0, lane);
    bool is_told = false;
    for (int i = 0; i < ptx_machine_findings(k.machine); i++) {
      const PtxFinding *f = ptx_machine_finding(k.machine, i);
      is_told |= f->text && strstr(f->text, "D begins in lane 0");
    }
    ck_assert_msg(is_told && k.outcome != PTX_DONE, "lane %u", lane);
  }
  arena_free(arena);
}
END_TEST

Suite *suite_told_tcgen05(void) {
  Suite *suite = suite_create("told_tcgen05");
  TCase *tcase = tcase_create("products");
  tcase_add_test(tcase, products_are_as_reviewed);
  tcase_add_test(tcase, d_begins_in_lane_0);
  suite_add_tcase(suite, tcase);
  return suite;
}

// The machine that runs PTX: single instructions by their results.
#include <check.h>

#include "base/str.h"
#include "kernel_log.h"
#include "ptx_kernel.h"

Suite *suite_open_results(void);

static Arena *arena;
static uint32_t in[PTX_KERNEL_WORDS];

static void setup(void) {
  arena = arena_new("test");
  ptx_kernel_numbers(in);
}
static void teardown(void) { arena_free(arena); }

// ---- one instruction, one result ----------------------------------------------------------------

// Bodies put what they compute into %r0 (or %rd0's low half, by `st`).
static const struct {
  const char *body;
  uint32_t result;
} results[] = {
    {"mov.u32 %r1, 7; add.s32 %r0, %r1, -9;", (uint32_t)-2},
    {"mov.u32 %r1, 0xffffffff; mul.hi.u32 %r0, %r1, %r1;", 0xfffffffe},
    {"mov.s32 %r1, -3; mul.wide.s32 %rd0, %r1, 5; shr.s64 %rd0, %rd0, 32; cvt.u32.u64 %r0, %rd0;",
     0xffffffff},
    {"mov.u32 %r1, 0xffffffff; add.cc.u32 %r2, %r1, 1; addc.u32 %r0, 5, 5;", 11},
    {"mov.u32 %r1, 0; sub.cc.u32 %r2, %r1, 1; subc.u32 %r0, 5, 2;", 2},
    {"mov.u32 %r1, 0x12345678; prmt.b32 %r0, %r1, 0, 0x0123;", 0x78563412},
    {"mov.u32 %r1, 0xf0f0; bfe.s32 %r0, %r1, 4, 4;", 0xffffffff},
    {"mov.u32 %r1, 0xf0f8; bfe.s32 %r0, %r1, 4, 0;", 0},  // no bits, and no sign
    {"mov.u32 %r1, 0xffffffff; bfe.s32 %r0, %r1, 0, 0;", 0},
    {"mov.u32 %r1, 0x80000000; bfe.s32 %r0, %r1, 40, 4;", 0xffffffff},
    {"mov.u32 %r1, 0xab; bfi.b32 %r0, %r1, 0, 8, 8;", 0xab00},
    {"mov.u32 %r1, 0x80000001; shf.l.wrap.b32 %r0, %r1, %r1, 4;", 0x00000018},
    {"mov.u32 %r1, 1; shl.b32 %r0, %r1, 40;", 0},
    {"mov.s32 %r1, -8; shr.s32 %r0, %r1, 40;", 0xffffffff},
    {"lop3.b32 %r0, 0xf0, 0xcc, 0xaa, 0x96;", 0xf0 ^ 0xcc ^ 0xaa},
    {"mov.s32 %r1, -7; div.s32 %r0, %r1, 2;", (uint32_t)-3},
    {"mov.s32 %r1, -7; rem.s32 %r0, %r1, 2;", (uint32_t)-1},
    {"bfind.u32 %r0, 0x1000;", 12},
    {"brev.b32 %r0, 1;", 0x80000000},
    {"mov.u32 %r1, 0x01020304; dp4a.u32.u32 %r0, %r1, 0x01010101, 5;", 15},
    {"mov.b32 %r1, {%h0, %h1}; mov.b16 %h2, 5; mov.b16 %h3, 6; mov.b32 %r0, {%h2, %h3};", 0x60005},
    {"mov.f32 %f0, 0f3F800000; add.rn.f32 %f1, %f0, 0f33800000; mov.b32 %r0, %f1;", 0x3f800000},
    {"mov.f32 %f0, 0f3F800000; add.rp.f32 %f1, %f0, 0f33800000; mov.b32 %r0, %f1;", 0x3f800001},
    {"mov.f32 %f0, 0f3F800000; add.rz.f32 %f1, %f0, 0fB3800000; mov.b32 %r0, %f1;", 0x3f7fffff},
    {"mov.f32 %f0, 0f00000001; mul.ftz.f32 %f1, %f0, 0f40000000; mov.b32 %r0, %f1;", 0},
    {"mov.f32 %f0, 0f40400000; mul.sat.f32 %f1, %f0, %f0; mov.b32 %r0, %f1;", 0x3f800000},
    {"mov.f32 %f0, 0f7FC00000; max.f32 %f1, %f0, 0f40000000; mov.b32 %r0, %f1;", 0x40000000},
    {"mov.f32 %f0, 0f7FC00000; max.NaN.f32 %f1, %f0, 0f40000000; mov.b32 %r0, %f1;", 0x7fffffff},
    {"mov.f32 %f0, 0f40200000; cvt.rni.s32.f32 %r0, %f0;", 2},
    {"mov.f32 %f0, 0fC0200000; cvt.rzi.s32.f32 %r0, %f0;", (uint32_t)-2},
    {"mov.f32 %f0, 0f4F800000; cvt.rzi.s32.f32 %r0, %f0;", 0x7fffffff},
    {"mov.f32 %f0, 0fBF800000; cvt.rzi.u32.f32 %r0, %f0;", 0},
    {"mov.u32 %r1, 16777217; cvt.rn.f32.u32 %f0, %r1; mov.b32 %r0, %f0;", 0x4b800000},
    {"mov.u32 %r1, 16777217; cvt.rp.f32.u32 %f0, %r1; mov.b32 %r0, %f0;", 0x4b800001},
    {"mov.f32 %f0, 0f45001000; cvt.rn.f16.f32 %h0, %f0; cvt.u32.u16 %r0, %h0;", 0x6800},
    {"mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f40000000; cvt.rn.bf16x2.f32 %r0, %f1, %f0;",
     0x40003f80},
    {"mov.f32 %f0, 0f477FF000; cvt.rn.f16.f32 %h0, %f0; cvt.u32.u16 %r0, %h0;", 0x7c00},
    {"mov.f32 %f0, 0f3F801000; cvt.rna.tf32.f32 %r0, %f0;", 0x3f802000},
    {"mov.u32 %r1, 0x3c003c00; mov.u32 %r2, 0x40003c00; add.f16x2 %r0, %r1, %r2;", 0x42004000},
    {"mov.b16 %h0, 0x3c01; mov.b16 %h1, 0x1000; fma.rn.f16 %h2, %h0, %h0, %h1; cvt.u32.u16 %r0, "
     "%h2;",
     0x3c03},
    {"mov.u32 %r1, 5; setp.gt.u32 %p0|%p1, %r1, 3; selp.u32 %r0, 1, 2, %p1;", 2},
    {"setp.lt.and.s32 %p0, -1, 1, !%p9; selp.u32 %r0, 1, 2, %p0;", 1},
    {"set.gt.u32.f32 %r0, 0f40000000, 0f3F800000;", 0xffffffff},
    {"mov.u32 %r1, -1; cvt.s64.s32 %rd0, %r1; shr.u64 %rd0, %rd0, 60; cvt.u32.u64 %r0, %rd0;", 15},
    {"mov.f64 %fd0, 0d3FF0000000000000; div.rn.f64 %fd1, %fd0, 0d4008000000000000; cvt.rn.f32.f64 "
     "%f0, %fd1; mov.b32 %r0, %f0;",
     0x3eaaaaab},
    {"ex2.approx.f32 %f0, 0f40400000; mov.b32 %r0, %f0;", 0x41000000},
    {"mov.u32 %r1, 7; mad.lo.u32 %r0, %r1, %r1, 5;", 54},
    {"mov.s32 %r1, -7; mad.hi.s32 %r0, %r1, 3, 5;", 4},
    {"mov.s32 %r1, -7; mad.wide.s32 %rd0, %r1, 3, 0x100000000; shr.s64 %rd0, %rd0, 32; cvt.u32.u64 "
     "%r0, %rd0;",
     0},
    {"mov.u32 %r1, 0x12345678; mul24.lo.u32 %r0, %r1, 2;", 0x0068acf0},
    {"mov.s32 %r1, -7; mov.s32 %r2, 5; sad.s32 %r0, %r1, %r2, 100;", 112},
    {"mov.s32 %r1, -7; abs.s32 %r0, %r1;", 7},
    {"mov.s32 %r1, -7; neg.s32 %r0, %r1;", 7},
    {"mov.s32 %r1, -7; min.s32 %r0, %r1, 5;", 0xfffffff9},
    {"mov.s32 %r1, -7; min.u32 %r0, %r1, 5;", 5},
    {"mov.s32 %r1, -7; max.s32 %r0, %r1, 5;", 5},
    {"mov.u32 %r1, 0; sub.cc.u32 %r2, %r1, 1; subc.cc.u32 %r3, %r1, 0; subc.u32 %r0, 9, 0;", 8},
    {"mov.u32 %r1, 0xffffffff; mad.lo.cc.u32 %r2, %r1, 1, 1; madc.hi.u32 %r0, %r1, %r1, 3;", 2},
    {"clz.b32 %r0, 0x00ff0000;", 8},
    {"cnot.b32 %r0, 0;", 1},
    {"not.b32 %r0, 0xf0;", 0xffffff0f},
    {"mov.u32 %r1, 0x80; bfind.s32 %r0, -2;", 0},
    {"bfind.shiftamt.u32 %r0, 0x1000;", 19},
    {"bfind.u32 %r0, 0;", 0xffffffff},
    {"mov.u32 %r1, 0xab; bfi.b32 %r0, %r1, 0xffffffff, 28, 8;", 0xbfffffff},
    {"mov.u32 %r1, 0xab; bfi.b32 %r0, %r1, 0x55, 4, 0;", 0x55},
    {"bmsk.clamp.b32 %r0, 4, 3;", 0x70},
    {"bmsk.clamp.b32 %r0, 30, 8;", 0xc0000000},
    {"bmsk.wrap.b32 %r0, 36, 3;", 0x70},
    {"szext.clamp.s32 %r0, 0xf8, 4;", 0xfffffff8},
    {"szext.wrap.u32 %r0, 0xf8, 36;", 8},
    {"mov.u32 %r1, 0x80000001; shf.r.wrap.b32 %r0, %r1, 0x5, 36;", 0x58000000},
    {"mov.u32 %r1, 0x80000001; shf.r.clamp.b32 %r0, %r1, 0x5, 40;", 5},
    {"mov.u32 %r1, 0x80000001; shf.l.clamp.b32 %r0, %r1, 0x5, 40;", 0x80000001},
    {"mov.u32 %r1, 0x44332211; prmt.b32 %r0, %r1, 0x88776655, 0x7531;", 0x88664422},
    {"mov.u32 %r1, 0x44338211; prmt.b32 %r0, %r1, 0, 0x9888;", 0xff000000},
    {"mov.u32 %r1, 0x44332211; prmt.b32.f4e %r0, %r1, 0x88776655, 2;", 0x66554433},
    {"mov.u32 %r1, 0x44332211; prmt.b32.b4e %r0, %r1, 0x88776655, 1;", 0x77881122},
    {"mov.u32 %r1, 0x44332211; prmt.b32.rc8 %r0, %r1, 0, 2;", 0x33333333},
    {"mov.u32 %r1, 0x44332211; prmt.b32.rc16 %r0, %r1, 0, 1;", 0x44334433},
    {"mov.u32 %r1, 0x44332211; prmt.b32.ecl %r0, %r1, 0, 1;", 0x44332222},
    {"mov.u32 %r1, 0x44332211; prmt.b32.ecr %r0, %r1, 0, 2;", 0x33332211},
    {"mov.u32 %r1, 0x01ff0304; dp4a.s32.s32 %r0, %r1, 0x02020202, 5;", 19},
    {"mov.u32 %r1, 0x00030002; dp2a.lo.u32.u32 %r0, %r1, 0x04030201, 5;", 13},
    {"mov.u32 %r1, 0x00030002; dp2a.hi.u32.u32 %r0, %r1, 0x04030201, 5;", 23},
    {"mov.s32 %r1, 300; cvt.sat.u8.s32 %r0, %r1;", 255},
    {"mov.s32 %r1, -300; cvt.sat.s8.s32 %r0, %r1;", 0xffffff80},
    {"mov.s32 %r1, 0x1234ff80; cvt.s32.s8 %r0, %r1;", 0xffffff80},
    {"mov.f32 %f0, 0fBFC00000; cvt.rmi.s32.f32 %r0, %f0;", 0xfffffffe},
    {"mov.f32 %f0, 0fBFC00000; cvt.rpi.s32.f32 %r0, %f0;", 0xffffffff},
    {"mov.f32 %f0, 0f3FC00000; cvt.rmi.f32.f32 %f1, %f0; mov.b32 %r0, %f1;", 0x3f800000},
    {"mov.f32 %f0, 0f3F800000; sub.rm.f32 %f1, %f0, 0f33000000; mov.b32 %r0, %f1;", 0x3f7fffff},
    {"mov.f32 %f0, 0f3F800001; fma.rn.f32 %f1, %f0, %f0, 0fBF800000; mov.b32 %r0, %f1;",
     0x34800000},
    {"mov.f32 %f0, 0f40800000; sqrt.rn.f32 %f1, %f0; mov.b32 %r0, %f1;", 0x40000000},
    {"mov.f32 %f0, 0f40800000; rcp.rn.f32 %f1, %f0; mov.b32 %r0, %f1;", 0x3e800000},
    {"mov.f32 %f0, 0f40800000; rsqrt.approx.f32 %f1, %f0; mov.b32 %r0, %f1;", 0x3f000000},
    {"mov.f32 %f0, 0f40800000; lg2.approx.f32 %f1, %f0; mov.b32 %r0, %f1;", 0x40000000},
    {"mov.f32 %f0, 0f40400000; mov.f32 %f1, 0f3FC00000; div.rn.f32 %f1, %f0, %f1; mov.b32 %r0, "
     "%f1;",
     0x40000000},
    {"mov.f32 %f0, 0f40400000; copysign.f32 %f1, 0fBF800000, %f0; mov.b32 %r0, %f1;", 0xc0400000},
    {"mov.f32 %f0, 0fC0400000; abs.f32 %f1, %f0; neg.f32 %f1, %f1; mov.b32 %r0, %f1;", 0xc0400000},
    {"mov.f32 %f0, 0fFF800000; testp.infinite.f32 %p0, %f0; selp.u32 %r0, 1, 2, %p0;", 1},
    {"mov.f32 %f0, 0f7FC00000; setp.ltu.f32 %p0, %f0, 0f3F800000; selp.u32 %r0, 1, 2, %p0;", 1},
    {"mov.f32 %f0, 0f7FC00000; setp.lt.f32 %p0, %f0, 0f3F800000; selp.u32 %r0, 1, 2, %p0;", 2},
    {"mov.f32 %f0, 0f7FC00000; setp.nan.f32 %p0, %f0, %f0; selp.u32 %r0, 1, 2, %p0;", 1},
    {"setp.eq.u32 %p1, 1, 1; setp.lt.or.s32 %p0, 5, 1, %p1; selp.u32 %r0, 1, 2, %p0;", 1},
    {"setp.eq.u32 %p1, 1, 1; setp.lt.xor.s32 %p0, 0, 1, %p1; selp.u32 %r0, 1, 2, %p0;", 2},
    {"mov.u32 %r1, 0x3c003c00; mov.u32 %r2, 0x40003c00; sub.f16x2 %r0, %r1, %r2;", 0xbc000000},
    {"mov.u32 %r1, 0x3c003c00; mov.u32 %r2, 0x40003c00; mul.f16x2 %r0, %r1, %r2;", 0x40003c00},
    {"mov.u32 %r1, 0x3c00bc00; mov.u32 %r2, 0x40003c00; min.f16x2 %r0, %r1, %r2;", 0x3c00bc00},
    {"mov.u32 %r1, 0x3c00bc00; mov.u32 %r2, 0x40003c00; max.f16x2 %r0, %r1, %r2;", 0x40003c00},
    {"mov.u32 %r1, 0x3c00bc00; neg.f16x2 %r0, %r1;", 0xbc003c00},
    {"mov.u32 %r1, 0x3f803f80; mov.u32 %r2, 0x40003f80; fma.rn.bf16x2 %r0, %r1, %r2, %r2;",
     0x40804000},
    {"mov.b16 %h0, 0x3c00; cvt.f32.f16 %f0, %h0; mov.b32 %r0, %f0;", 0x3f800000},
    {"mov.b16 %h0, 0x3c00; cvt.rni.s32.f16 %r0, %h0;", 1},
    {"mov.s32 %r1, -3; cvt.rn.f16.s32 %h0, %r1; cvt.u32.u16 %r0, %h0;", 0xc200},
    {"mov.f64 %fd0, 0d4008000000000000; fma.rn.f64 %fd1, %fd0, %fd0, %fd0; cvt.rzi.s32.f64 %r0, "
     "%fd1;",
     12},
    {"mov.f64 %fd0, 0d4022000000000000; sqrt.rn.f64 %fd1, %fd0; cvt.rzi.s32.f64 %r0, %fd1;", 3},
    {"mov.u64 %rd0, 0x123456789; clz.b64 %r0, %rd0;", 31},
    {"mov.u64 %rd0, 0xf0000000f; popc.b64 %r0, %rd0;", 8},
    {"mov.u64 %rd0, 0x100000000; bfind.u64 %r0, %rd0;", 32},
    {"mov.u64 %rd0, 0x123456789; mul.hi.u64 %rd0, %rd0, %rd0; cvt.u32.u64 %r0, %rd0;", 1},
    {"mov.u64 %rd0, 0x300000000; div.u64 %rd0, %rd0, 0x10000; cvt.u32.u64 %r0, %rd0;", 0x30000},
    {"mov.u64 %rd0, 0x300000005; rem.u64 %rd0, %rd0, 0x10000; cvt.u32.u64 %r0, %rd0;", 5},
    {"mov.u64 %rd0, 0x300000005; mov.b64 {%r1, %r2}, %rd0; sub.u32 %r0, %r1, %r2;", 2},
    {"slct.u32.s32 %r0, 5, 6, -1;", 6},
    {"mov.u32 %r1, %nwarpid; mov.u32 %r0, %ntid.x;", 32},
    {"mov.u32 %r0, %lanemask_lt; mov.u32 %r1, %lanemask_ge; add.u32 %r0, %r0, %r1;", 0xffffffff},
    {"mov.u32 %r0, %laneid; popc.b32 %r0, 0xff; mov.u32 %r1, WARP_SZ; add.u32 %r0, %r0, %r1;", 40},
};
enum { RESULTS = sizeof results / sizeof results[0] };

START_TEST(test_an_instruction_by_its_result) {
  const char *ptx = ptx_kernel_text(
      arena, arena_printf(arena, "%s\nst.global.u32 [%%o], %%r0;", results[_i].body));
  const PtxKernel k = ptx_kernel_run(arena, ptx, NULL, 32, in);
  ck_assert_msg(k.outcome == PTX_DONE, "%s: %s", results[_i].body,
                k.outcome == PTX_STOPPED ? ptx_machine_finding(k.machine, 0)->text : "");
  for (int t = 0; t < 32; t++)
    ck_assert_msg(k.out[t] == results[_i].result, "%s: 0x%x, not 0x%x", results[_i].body, k.out[t],
                  results[_i].result);
}
END_TEST

// ---- what memory does by itself -----------------------------------------------------------------

static const struct {
  const char *op;
  uint32_t before, with, old, now;  // .cas compares with 5
} atomics[] = {
    {"add.u32 %r1, [%o], %r2", 5, 7, 5, 12},
    {"min.u32 %r1, [%o], %r2", 5, 0xfffffff9, 5, 5},
    {"min.s32 %r1, [%o], %r2", 5, 0xfffffff9, 5, 0xfffffff9},
    {"max.u32 %r1, [%o], %r2", 5, 0xfffffff9, 5, 0xfffffff9},
    {"max.s32 %r1, [%o], %r2", 5, 0xfffffff9, 5, 5},
    {"inc.u32 %r1, [%o], %r2", 5, 7, 5, 6},
    {"inc.u32 %r1, [%o], %r2", 7, 7, 7, 0},
    {"dec.u32 %r1, [%o], %r2", 5, 7, 5, 4},
    {"dec.u32 %r1, [%o], %r2", 0, 7, 0, 7},
    {"dec.u32 %r1, [%o], %r2", 8, 7, 8, 7},
    {"dec.u32 %r1, [%o], %r2", 7, 7, 7, 6},
    {"and.b32 %r1, [%o], %r2", 6, 12, 6, 4},
    {"or.b32 %r1, [%o], %r2", 6, 12, 6, 14},
    {"xor.b32 %r1, [%o], %r2", 6, 12, 6, 10},
    {"exch.b32 %r1, [%o], %r2", 6, 12, 6, 12},
    {"cas.b32 %r1, [%o], 5, %r2", 5, 12, 5, 12},
    {"cas.b32 %r1, [%o], 5, %r2", 6, 12, 6, 6},
    {"add.f32 %f1, [%o], %f2; mov.b32 %r1, %f1", 0x3f800000, 0x40000000, 0x3f800000, 0x40400000},
    {"add.noftz.f16x2 %r1, [%o], %r2", 0x3c004000, 0x3c003c00, 0x3c004000, 0x40004200},
};

START_TEST(test_an_atomic_gives_what_was_and_leaves_what_is) {
  const char *body = arena_printf(
      arena,
      "st.global.u32 [%%o], %u;\nmov.u32 %%r2, %u;\nmov.b32 %%f2, %%r2;\natom.global.%s;\n"
      "st.global.u32 [%%o+128], %%r1;",
      atomics[_i].before, atomics[_i].with, atomics[_i].op);
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, body), NULL, 32, in);
  ck_assert_msg(k.outcome == PTX_DONE, "%s: %s", atomics[_i].op,
                k.outcome == PTX_STOPPED ? ptx_machine_finding(k.machine, 0)->text : "");
  for (int t = 0; t < 32; t++) {
    ck_assert_msg(k.out[t] == atomics[_i].now, "%s: 0x%x", atomics[_i].op, k.out[t]);
    ck_assert_msg(k.out[32 + t] == atomics[_i].old, "%s: 0x%x", atomics[_i].op, k.out[32 + t]);
  }
}
END_TEST

START_TEST(all_that_runs_say) { kernel_log_check("kernels/results.txt"); }
END_TEST

Suite *suite_open_results(void) {
  Suite *suite = suite_create("open_results");
  kernel_log_begin();
  TCase *tcase = tcase_create("results");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_an_instruction_by_its_result, 0, RESULTS);
  tcase_add_loop_test(tcase, test_an_atomic_gives_what_was_and_leaves_what_is, 0,
                      sizeof atomics / sizeof *atomics);
  suite_add_tcase(suite, tcase);
  TCase *log = tcase_create("log");
  tcase_add_test(log, all_that_runs_say);
  suite_add_tcase(suite, log);
  return suite;
}

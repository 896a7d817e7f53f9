// What goes on by itself and is not waited for: bulk copies, wgmma and its registers, phases of
// mbarriers. Each kernel is right as it stands, and says what is wrong when one line is not there
// or another one.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "kernel_log.h"
#include "ptx_kernel.h"

Suite *suite_open_waits(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// 128 bytes leave twice from the same place.
static const char sends[] =
    "mov.u32 %r1, s;\nadd.u32 %r1, %r1, %t4;\nsetp.eq.u32 %p0, %t, 0;\n"
    "st.shared.u32 [%r1], %t;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
    "@!%p0 bra ON;\ncp.async.bulk.global.shared::cta.bulk_group [%out], [s], 128;\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nON: bar.sync 0;\n"
    "add.u32 %r2, %t, 1;\nst.shared.u32 [%r1], %r2;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
    "@!%p0 bra END;\ncp.async.bulk.global.shared::cta.bulk_group [%out], [s], 128;\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nEND:";

// D = A·B of 64 × 8 × 16 twice, both operands zeros in shared memory; then the slab is used again.
#define WGMMA(a, scale)                                                                         \
  "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, " a ", %rd3, " scale \
  ", 1, 1"
static const char multiplies[] =
    "mov.u32 %r1, s;\nmad.lo.u32 %r1, %t, 16, %r1;\nmov.u32 %r2, 0;\n"
    "st.shared.v4.u32 [%r1], {%r2, %r2, %r2, %r2};\nst.shared.v4.u32 [%r1+2048], {%r2, %r2, %r2, "
    "%r2};\n"
    "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
    "mov.u64 %rd3, 0x0000000800080000;\nmov.f32 %f0, 0f3F800000;\nmov.f32 %f1, %f0;\n"
    "mov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\nwgmma.fence.sync.aligned;\n" WGMMA(
        "%rd3", "1") ", 0, 0;\n"
                     "wgmma.commit_group.sync.aligned;\nmov.b32 %r4, 0;\nmov.b32 %r5, 0;\n"
                     "mov.b32 %r6, 0;\nmov.b32 %r7, 0;\n" WGMMA(
                         "{%r4, %r5, %r6, %r7}", "1") ", 0;\n"
                                                      "wgmma.commit_group.sync.aligned;\n"
                                                      "wgmma.wait_group.sync.aligned 0;\n"
                                                      "mov.b32 %r4, 1;\nmov.b32 %r8, %f0;\n"
                                                      "bar.sync 0;\nst.shared.u32 [%r1], %t;\n"
                                                      "st.global.u32 [%o], %r8;\n";

// Warp 0 fills, warp 1 reads, over two slots of one place each: three turns of one slot.
static const char turns[] =
    "setp.eq.u32 %p0, %t, 0;\nsetp.lt.u32 %p1, %t, 32;\nmov.u32 %r1, s;\nmov.u32 %r9, 0;\n"
    "@%p0 mbarrier.init.shared.b64 [s+1024], 1;\n@%p0 mbarrier.init.shared.b64 [s+1032], 32;\n"
    "bar.sync 0;\nmov.u32 %r2, 0;\n@!%p1 bra READER;\n@!%p0 bra END;\n"
    "FILL: and.b32 %r3, %r2, 1;\nxor.b32 %r4, %r3, 1;\n"
    "EMPTY: mbarrier.try_wait.parity.shared.b64 %p2, [s+1032], %r4;\n@!%p2 bra EMPTY;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [s+1024], 128;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%in], 128, [s+1024];\n"
    "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, 3;\n@%p3 bra FILL;\nbra END;\n"
    "READER: and.b32 %r3, %r2, 1;\n"
    "FULL: mbarrier.try_wait.parity.shared.b64 %p2, [s+1024], %r3;\n@!%p2 bra FULL;\n"
    "ld.shared.u32 %r5, [%r1];\nadd.u32 %r9, %r9, %r5;\nmbarrier.arrive.shared.b64 _, [s+1032];\n"
    "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, 3;\n@%p3 bra READER;\nEND: st.global.u32 [%o], "
    "%r9;";

// A warp that asks for a phase when the next one is over, too.
static const char late[] =
    "setp.lt.u32 %p0, %t, 32;\nsetp.eq.u32 %p1, %t, 0;\n"
    "@%p1 mbarrier.init.shared.b64 [s], 32;\nbar.sync 0;\n@!%p0 bra LATE;\n"
    "mbarrier.arrive.shared.b64 _, [s];\n"
    "W0: mbarrier.try_wait.parity.shared.b64 %p2, [s], 0;\n@!%p2 bra W0;\n"
    "LATE: nanosleep.u32 1000;\n@!%p0 mbarrier.try_wait.parity.shared.b64 %p3, [s], 0;\nbar.sync "
    "1, "
    "64;\n";

// Warp 1 hands a word to warp 0 by a flag that both touch atomically.
static const char flags[] =
    "setp.lt.u32 %p0, %t, 32;\nsetp.eq.u32 %p1, %t, 0;\nmov.u32 %r1, s;\nadd.u32 %r1, %r1, %t4;\n"
    "@%p1 st.shared.u32 [s+1024], 0;\nbar.sync 0;\n@%p0 bra ASK;\n"
    "st.shared.u32 [%r1], %t;\nbar.warp.sync 0xffffffff;\nsetp.eq.u32 %p2, %t, 32;\n"
    "@%p2 st.release.cta.shared.u32 [s+1024], 1;\nbra END;\n"
    "ASK: ld.acquire.cta.shared.u32 %r2, [s+1024];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra ASK;\n"
    "ld.shared.u32 %r3, [%r1+128];\nst.global.u32 [%o], %r3;\nEND:";

// One warp reads what a copy brought, and one of its lanes asks for the next one there.
static const char rereads[] =
    "setp.eq.u32 %p0, %t, 0;\nmov.u32 %r1, s;\nadd.u32 %r1, %r1, %t4;\nmov.u32 %r9, 0;\n"
    "@%p0 mbarrier.init.shared.b64 [s+1024], 1;\nbar.warp.sync 0xffffffff;\nmov.u32 %r2, 0;\n"
    "FILL: and.b32 %r3, %r2, 1;\n@!%p0 bra FULL;\nfence.proxy.async.shared::cta;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [s+1024], 128;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%in], 128, [s+1024];\n"
    "add.u64 %in, %in, 128;\nFULL: mbarrier.try_wait.parity.shared.b64 %p2, [s+1024], %r3;\n@!%p2 "
    "bra FULL;\n"
    "ld.shared.u32 %r5, [%r1];\nadd.u32 %r9, %r9, %r5;\nbar.warp.sync 0xffffffff;\n"
    "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, 3;\n@%p3 bra FILL;\nst.global.u32 [%o], %r9;";

// Eight lanes of a warp meet, and read what one of them wrote.
static const char parts[] =
    "mov.u32 %r1, s;\nadd.u32 %r2, %r1, %t4;\nst.shared.u32 [%r2], %t;\nsetp.lt.u32 %p1, %t, 8;\n"
    "@!%p1 bra END;\nbar.warp.sync 0xff;\nld.shared.u32 %r3, [%r1+4];\nst.global.u32 [%o], %r3;\n"
    "END:";

static const struct {
  const char *text;
  int threads;
  const char *line, *instead;  // "": as it stands
  PtxFindingKind kind;         // PTX_FINDINGS: nothing
} cases[] = {
    {sends, 32, "", "", PTX_FINDINGS},
    {sends, 32, "cp.async.bulk.wait_group.read 0;", "", PTX_FINDING_MISSING_WAIT},
    {sends, 32, "cp.async.bulk.wait_group.read 0;", "cp.async.bulk.wait_group.read 1;",
     PTX_FINDING_MISSING_WAIT},
    {sends, 32, "cp.async.bulk.wait_group 0;", "", PTX_FINDING_MISSING_WAIT},
    {multiplies, 128, "", "", PTX_FINDINGS},
    {multiplies, 128, "wgmma.wait_group.sync.aligned 0;", "", PTX_FINDING_MISSING_WAIT},
    {multiplies, 128, "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;",
     PTX_FINDING_MISSING_WAIT},
    {multiplies, 128, "wgmma.wait_group.sync.aligned 0;\nmov.b32 %r4, 1;",
     "mov.b32 %r4, 1;\nwgmma.wait_group.sync.aligned 0;", PTX_FINDING_MISSING_WAIT},
    {multiplies, 128, "wgmma.wait_group.sync.aligned 0;\nmov.b32 %r4, 1;\nmov.b32 %r8, %f0;",
     "mov.b32 %r8, %f0;\nadd.u32 %r8, %r8, 1;\nwgmma.wait_group.sync.aligned 0;",
     PTX_FINDING_MISSING_WAIT},
    {sends, 32, "fence.proxy.async.shared::cta;", "", PTX_FINDING_MISSING_FENCE},
    {sends, 32, "fence.proxy.async.shared::cta;", "fence.proxy.async.global;",
     PTX_FINDING_MISSING_FENCE},
    {sends, 32, "fence.proxy.async.shared::cta;", "membar.cta;", PTX_FINDING_MISSING_FENCE},
    // By one thread for those it has met, as good as by all; before they met, for itself alone.
    {sends, 32, "fence.proxy.async.shared::cta;\nbar.sync 0;\n@!%p0 bra ON;",
     "bar.sync 0;\n@!%p0 bra ON;\nfence.proxy.async;", PTX_FINDINGS},
    {sends, 32, "fence.proxy.async.shared::cta;\nbar.sync 0;",
     "@%p0 fence.proxy.async.shared::cta;\nbar.sync 0;", PTX_FINDING_MISSING_FENCE},
    {multiplies, 128, "fence.proxy.async.shared::cta;", "", PTX_FINDING_MISSING_FENCE},
    {multiplies, 128, "wgmma.fence.sync.aligned;", "", PTX_FINDING_MISSING_FENCE},
    {multiplies, 128, "mov.b32 %r4, 0;", "add.u32 %r4, %t, 0;", PTX_FINDING_MISSING_FENCE},
    {multiplies, 128, "mov.b32 %r7, 0;", "mul.lo.u32 %r7, %t, 0;\nwgmma.fence.sync.aligned;",
     PTX_FINDINGS},
    // Sums may not be written either while they are in flight.
    {multiplies, 128, "wgmma.wait_group.sync.aligned 0;\nmov.b32 %r4, 1;\n",
     "mov.f32 %f1, 0f3F800000;\nwgmma.wait_group.sync.aligned 0;\n", PTX_FINDING_MISSING_WAIT},
    {parts, 32, "", "", PTX_FINDINGS},
    {parts, 32, "bar.warp.sync 0xff;", "", PTX_FINDING_RACE},
    {parts, 32, "[%r1+4]", "[%r1+32]", PTX_FINDING_RACE},  // lane 8 has not met them
    {parts, 32, "[%r1+4]", "[%r1+124]", PTX_FINDING_RACE},
    {flags, 64, "", "", PTX_FINDINGS},
    {flags, 64, "@%p2 st.release.cta", "@%p2 fence.acq_rel.cta;\n@%p2 st.relaxed.cta",
     PTX_FINDINGS},
    {flags, 64, "ld.shared.u32 %r3", "fence.acq_rel.cta;\nld.shared.u32 %r3", PTX_FINDINGS},
    {flags, 64, "st.release.cta", "st.relaxed.cta", PTX_FINDING_RACE},
    {flags, 64, "ld.acquire.cta", "ld.relaxed.cta", PTX_FINDING_RACE},
    {flags, 64, "st.release.cta.shared", "st.shared", PTX_FINDING_RACE},
    // An atom that says nothing is relaxed: it publishes what a fence before it covers.
    {flags, 64, "@%p2 st.release.cta.shared.u32 [s+1024], 1;",
     "@%p2 fence.acq_rel.cta;\n@%p2 atom.shared.exch.b32 %r5, [s+1024], 1;", PTX_FINDINGS},
    {flags, 64, "@%p2 st.release.cta.shared.u32 [s+1024], 1;",
     "@%p2 atom.shared.exch.b32 %r5, [s+1024], 1;", PTX_FINDING_RACE},
    // Reads need a fence too, whether a barrier or an arrival stands behind them or not: by the one
    // who asks, or by all who read.
    {rereads, 32, "", "", PTX_FINDINGS},
    {rereads, 32, "fence.proxy.async.shared::cta;", "", PTX_FINDING_MISSING_FENCE},
    {rereads, 32, "fence.proxy.async.shared::cta;", "membar.cta;", PTX_FINDING_MISSING_FENCE},
    {rereads, 32, "%r9, %r5;\nbar.warp.sync 0xffffffff;", "%r9, %r5;", PTX_FINDING_RACE},
    {turns, 64, "", "", PTX_FINDINGS},
    // The reader's parity, which lets it run ahead until the filler has missed its turns; the
    // filler's; no wait at all.
    {turns, 64, "[s+1024], %r3", "[s+1024], 0", PTX_FINDING_DEADLOCK},
    {turns, 64, "[s+1032], %r4", "[s+1032], 1", PTX_FINDING_MISSING_WAIT},
    {turns, 64, "@!%p2 bra FULL;", "", PTX_FINDING_MISSING_WAIT},
    {turns, 64, "@!%p2 bra EMPTY;", "", PTX_FINDING_MISSING_WAIT},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static const char *changed(const char *text, const char *line, const char *instead) {
  const char *at = strstr(text, line);
  ck_assert_msg(at != NULL, "%s", line);
  return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, instead, at + strlen(line));
}

START_TEST(test_what_nobody_waited_for_is_named) {
  static uint32_t in[PTX_KERNEL_WORDS];
  for (int i = 0; i < PTX_KERNEL_WORDS; i++) in[i] = (uint32_t)i;  // each turn other bytes
  const char *body = changed(cases[_i].text, cases[_i].line, cases[_i].instead);
  const PtxKernel k =
      ptx_kernel_run(arena, ptx_kernel_text(arena, body), NULL, cases[_i].threads, in);
  const int n = ptx_machine_findings(k.machine);
  const PtxFinding *first = n ? ptx_machine_finding(k.machine, 0) : NULL;
  if (cases[_i].kind == PTX_FINDINGS) {
    ck_assert_msg(k.outcome == PTX_DONE && n == 0, "%s %s (PTX line %d)",
                  first ? ptx_finding_names[first->kind] : "",
                  first && first->text ? first->text : "",
                  first ? k.module->code[first->pc].line : 0);
    return;
  }
  const PtxFinding *f = ptx_kernel_finding(&k, cases[_i].kind);
  ck_assert_msg(f != NULL, "%s -> %s: %s", cases[_i].line, cases[_i].instead,
                first ? ptx_finding_names[first->kind] : "nothing");
  if (f->kind == PTX_FINDING_DEADLOCK) return;
  ck_assert_msg(f->other_pc >= 0 && f->thread >= 0 && f->other_thread >= 0 && f->lanes, "%s",
                cases[_i].line);
}
END_TEST

START_TEST(test_a_phase_that_was_missed_is_named) {
  static uint32_t in[PTX_KERNEL_WORDS];
  const char *twice = changed(late, "LATE:",
                              "mbarrier.arrive.shared.b64 _, [s];\n"
                              "W1: mbarrier.try_wait.parity.shared.b64 %p2, [s], 1;\n"
                              "@!%p2 bra W1;\nLATE:");
  PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, late), NULL, 64, in);
  ck_assert_ptr_null(ptx_kernel_finding(&k, PTX_FINDING_MBARRIER));
  k = ptx_kernel_run(arena, ptx_kernel_text(arena, twice), NULL, 64, in);
  const PtxFinding *f = ptx_kernel_finding(&k, PTX_FINDING_MBARRIER);
  ck_assert(f && f->other_pc >= 0 && f->thread >= 32);
}
END_TEST

// Warp 0 ends two phases before warp 1 asks for the first of them; then both meet. Warp 1 is told,
// let through, and the block ends; where nobody ever arrives, it does not.
static const char overtaken[] =
    "setp.lt.u32 %p0, %t, 32;\nsetp.eq.u32 %p1, %t, 0;\n"
    "@%p1 mbarrier.init.shared.b64 [s+64], 32;\nbar.sync 0;\n@!%p0 bra LATE;\n"
    "mbarrier.arrive.shared.b64 _, [s+64];\nmbarrier.arrive.shared.b64 _, [s+64];\nbra MEET;\n"
    "LATE: mbarrier.try_wait.parity.shared.b64 %p3, [s+64], 0;\n@!%p3 bra LATE;\n"
    "MEET: bar.sync 1, 64;\nst.global.u32 [%o], 7;\n";

// The same of two mbarriers for four rounds: what warp 1 learns at the one is that phases of the
// other are over, for which it has not waited yet.
static const char rounds[] =
    "setp.lt.u32 %p0, %t, 32;\nsetp.eq.u32 %p1, %t, 0;\n"
    "@%p1 mbarrier.init.shared.b64 [s+64], 32;\n@%p1 mbarrier.init.shared.b64 [s+128], 32;\n"
    "bar.sync 0;\nmov.u32 %r5, 0;\n"
    "AGAIN: and.b32 %r6, %r5, 1;\n@%p0 mbarrier.arrive.shared.b64 _, [s+64];\n"
    "A: mbarrier.try_wait.parity.shared.b64 %p3, [s+64], %r6;\n@!%p3 bra A;\n"
    "@%p0 mbarrier.arrive.shared.b64 _, [s+128];\n"
    "B: mbarrier.try_wait.parity.shared.b64 %p3, [s+128], %r6;\n@!%p3 bra B;\n"
    "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 4;\n@%p2 bra AGAIN;\n"
    "bar.sync 1, 64;\nst.global.u32 [%o], 7;\n";

START_TEST(test_who_is_late_in_every_round_goes_on) {
  static uint32_t in[PTX_KERNEL_WORDS];
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, rounds), NULL, 64, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  ck_assert_ptr_nonnull(ptx_kernel_finding(&k, PTX_FINDING_MBARRIER));
  for (int t = 0; t < 64; t++) ck_assert_uint_eq(k.out[t], 7);
}
END_TEST

START_TEST(test_who_is_late_goes_on) {
  static uint32_t in[PTX_KERNEL_WORDS];
  PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, overtaken), NULL, 64, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  ck_assert_ptr_nonnull(ptx_kernel_finding(&k, PTX_FINDING_MBARRIER));
  for (int t = 0; t < 64; t++) ck_assert_uint_eq(k.out[t], 7);
  const char *never = changed(overtaken,
                              "mbarrier.arrive.shared.b64 _, [s+64];\n"
                              "mbarrier.arrive.shared.b64 _, [s+64];",
                              "");
  k = ptx_kernel_run(arena, ptx_kernel_text(arena, never), NULL, 64, in);
  ck_assert_int_eq(k.outcome, PTX_DEADLOCK);
}
END_TEST

// What a warp waits for when all do: an mbarrier with what it lacks, a barrier, lanes.
static const struct {
  const char *body, *says;
} stuck[] = {
    {"setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [s+64], 40;\nbar.sync 0;\n"
     "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [s+64], 256;\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p3, [s+64], 0;\n@!%p3 bra W;\n",
     "phase 0 is under way, with 39 of 40 arrivals missing and 256 bytes to come"},
    {"setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [s+64], 40;\nbar.sync 0;\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p3, [s+64], 0;\nnanosleep.u32 20;\n@!%p3 bra W;\n",
     "with 40 of 40 arrivals missing"},
    {"bar.sync 3, 96;\n", "the warp waits at barrier 3, where 64 of 96 threads are"},
};

START_TEST(test_a_deadlock_says_for_what_a_warp_waits) {
  static uint32_t in[PTX_KERNEL_WORDS];
  const PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, stuck[_i].body), NULL, 64, in);
  ck_assert_int_eq(k.outcome, PTX_DEADLOCK);
  const PtxFinding *f = ptx_kernel_finding(&k, PTX_FINDING_DEADLOCK);
  ck_assert(f && f->text && strstr(f->text, stuck[_i].says) != NULL);
  ck_assert_msg(_i == 2 || (f->space == PTX_SPACE_SHARED && f->address == 64), "%llu",
                (unsigned long long)f->address);
}
END_TEST

// ---- tensor memory ------------------------------------------------------------------------------

// D = A·B of 128 x 32 x 16, A and B all ones; each warp loads its 32 lanes, a thread its row.
static const char tensor[] =
    "shr.u32 %r20, %t, 5;\nsetp.eq.u32 %p7, %r20, 0;\nsetp.eq.u32 %p0, %t, 0;\nmov.u32 %r1, s;\n"
    "mad.lo.u32 %r2, %t, 16, %r1;\nmov.u32 %r3, 0x3c003c00;\n"
    "st.shared.v4.u32 [%r2], {%r3, %r3, %r3, %r3};\n"
    "st.shared.v4.u32 [%r2+256], {%r3, %r3, %r3, %r3};\n"
    "@%p0 mbarrier.init.shared.b64 [s+4088], 1;\n"
    "@%p7 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+4080], 32;\n"
    "@%p7 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
    "fence.proxy.async.shared::cta;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
    "tcgen05.fence::after_thread_sync;\nld.shared.u32 %r4, [s+4080];\n"
    "mov.b64 %rd3, 0x0000400800080000;\nmov.u32 %r5, 0x8080010;\nsetp.ne.u32 %p1, 0, 0;\n"
    "setp.eq.u32 %p2, 0, 0;\nmov.u32 %r6, 0;\nmov.u32 %r7, 0xff;\n@!%p0 bra ON;\n"
    "tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd3, %rd3, %r5, {%r6, %r6, %r6, %r6}, %p1;\n"
    "tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd3, %rd3, %r5, {%r7, %r6, %r6, %r6}, %p2;\n"
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s+4088];\n"
    "ON: mbarrier.try_wait.parity.shared.b64 %p3, [s+4088], 0;\n@!%p3 bra ON;\n"
    "tcgen05.fence::after_thread_sync;\nshl.b32 %r8, %r20, 21;\nadd.u32 %r8, %r8, %r4;\n"
    "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r9, %r10}, [%r8];\nUSE: add.u32 %r11, %r9, 1;\n"
    "tcgen05.wait::ld.sync.aligned;\nst.global.u32 [%o], %r11;\n"
    "tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n"
    "@%p7 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 32;\n";

// Lanes 0 to 7 are left out of the second product. A read of what tcgen05.ld brings needs no wait
// (PTX ISA, "Register dependencies, same thread"), a write over it does.
START_TEST(test_tensor_memory) {
  static uint32_t in[PTX_KERNEL_WORDS];
  PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, tensor), NULL, 128, in);
  const PtxFinding *f = ptx_machine_findings(k.machine) ? ptx_machine_finding(k.machine, 0) : NULL;
  ck_assert_msg(k.outcome == PTX_DONE && !f, "%s %s", f ? ptx_finding_names[f->kind] : "",
                f && f->text ? f->text : "");
  for (int t = 0; t < 128; t++)  // 16.0, 32.0
    ck_assert_uint_eq(k.out[t], (t < 8 ? 0x41800000u : 0x42000000u) + 1);
  // An mbarrier lies in shared memory, whatever space the address is said to be of.
  k = ptx_kernel_run(arena,
                     ptx_kernel_text(arena, changed(tensor, "one.shared::cluster.b64 [s+4088]",
                                                    "one.b64 [s+4088]")),
                     NULL, 128, in);
  ck_assert(k.outcome == PTX_DONE && ptx_machine_findings(k.machine) == 0);
  // Each warp reaches its own lanes, also by an address that says lane 0; that is told.
  k = ptx_kernel_run(
      arena, ptx_kernel_text(arena, changed(tensor, "shl.b32 %r8, %r20, 21;", "mov.u32 %r8, 0;")),
      NULL, 128, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  f = ptx_kernel_finding(&k, PTX_FINDING_TENSOR_MEMORY);
  ck_assert(f && strstr(f->text, "the address says lane 0"));
  for (int t = 0; t < 128; t++)
    ck_assert_uint_eq(k.out[t], (t < 8 ? 0x41800000u : 0x42000000u) + 1);
  const char *over = changed(tensor, "USE: add.u32 %r11, %r9, 1;", "mov.u32 %r10, 0;");
  k = ptx_kernel_run(arena, ptx_kernel_text(arena, over), NULL, 128, in);
  f = ptx_kernel_finding(&k, PTX_FINDING_MISSING_WAIT);
  ck_assert(f && strstr(f->text, "tcgen05.wait::ld"));
}
END_TEST

// 128 bytes are added to global memory, their largest kept there; and in shared memory added to
// what threads put there, twice, told by an mbarrier.
static const char reduces[] =
    "mov.u32 %r1, s;\nadd.u32 %r1, %r1, %t4;\nsetp.eq.u32 %p0, %t, 0;\nst.global.u32 [%o], 100;\n"
    "add.u32 %r2, %t, 1;\nst.shared.u32 [%r1], %r2;\nst.shared.u32 [%r1+128], 7;\n"
    "@%p0 mbarrier.init.shared.b64 [s+1024], 1;\n"
    "fence.proxy.async.shared::cta;\nbar.sync 0;\n@!%p0 bra ON;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [s], 128;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%out], [s+128], 128;\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [s+1024], 256;\n"
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
    "[s+128], [s], 128, [s+1024];\n"
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
    "[s+128], [s], 128, [s+1024];\n"
    "ON: mbarrier.try_wait.parity.shared.b64 %p2, [s+1024], 0;\n@!%p2 bra ON;\n"
    "ld.shared.u32 %r3, [%r1+128];\nst.global.u32 [%o+256], %r3;\n";

START_TEST(test_reductions_of_many_bytes) {
  static uint32_t in[PTX_KERNEL_WORDS];
  PtxKernel k = ptx_kernel_run(arena, ptx_kernel_text(arena, reduces), NULL, 32, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  ck_assert_int_eq(ptx_machine_findings(k.machine), 0);
  for (uint32_t t = 0; t < 32; t++) {
    ck_assert_uint_eq(k.out[t], 101 + t);
    ck_assert_uint_eq(k.out[64 + t], 7 + 2 * (t + 1));
  }
  const char *without = changed(reduces, "fence.proxy.async.shared::cta;", "");
  k = ptx_kernel_run(arena, ptx_kernel_text(arena, without), NULL, 32, in);
  ck_assert_ptr_nonnull(ptx_kernel_finding(&k, PTX_FINDING_MISSING_FENCE));
  k = ptx_kernel_run(
      arena, ptx_kernel_text(arena, changed(reduces, "bulk_group.add.u32", "bulk_group.exch.b32")),
      NULL, 32, in);
  ck_assert_int_eq(k.outcome, PTX_STOPPED);
}
END_TEST

START_TEST(test_all_that_runs_say) { kernel_log_check("kernels/waits.txt"); }
END_TEST

Suite *suite_open_waits(void) {
  kernel_log_begin();
  Suite *suite = suite_create("open_waits");
  TCase *tcase = tcase_create("waits");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_what_nobody_waited_for_is_named, 0, CASES);
  tcase_add_test(tcase, test_a_phase_that_was_missed_is_named);
  tcase_add_test(tcase, test_who_is_late_goes_on);
  tcase_add_test(tcase, test_who_is_late_in_every_round_goes_on);
  tcase_add_loop_test(tcase, test_a_deadlock_says_for_what_a_warp_waits, 0, 3);
  tcase_add_test(tcase, test_tensor_memory);
  tcase_add_test(tcase, test_reductions_of_many_bytes);
  tcase_add_test(tcase, test_all_that_runs_say);
  suite_add_tcase(suite, tcase);
  return suite;
}

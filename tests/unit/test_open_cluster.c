// Blocks of a cluster that reach each other's shared memory: what they compute, and mistakes that
// are named with both lines.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "kernel_log.h"
#include "ptx_kernel.h"

Suite *suite_open_cluster(void);

enum { BLOCKS = 2, THREADS = 32 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// Two blocks of 32 threads, one cluster. The body finds its rank in %r30, the other's in %r31, the
// address of s in %r28 and of s in the other block in %r29; [%o] is its own word of out.
static const char *text_of(const char *body) {
  return ptx_kernel_text(
      arena, arena_printf(arena,
                          "mov.u32 %%r30, %%cluster_ctarank;\nxor.b32 %%r31, %%r30, 1;\n"
                          "mov.u32 %%r28, s;\nmapa.shared::cluster.u32 %%r29, %%r28, %%r31;\n"
                          "mul.wide.u32 %%rd30, %%r30, 128;\nadd.s64 %%o, %%o, %%rd30;\n"
                          "add.u32 %%r26, %%r28, %%t4;\nadd.u32 %%r27, %%r29, %%t4;\n"
                          "mad.lo.u32 %%r25, %%r30, 1000, %%t;\nsetp.eq.u32 %%p31, %%t, 0;\n%s",
                          body));
}

static PtxKernel run_threads(const char *body, int threads) {
  static uint32_t in[PTX_KERNEL_WORDS];
  for (uint32_t i = 0; i < PTX_KERNEL_WORDS; i++) in[i] = 7 * i;
  Diags diags = diags_new(arena);
  const char *text = text_of(body);
  PtxKernel k = {.module = ptx_module_read(arena, text, strlen(text), "k.ptx", &diags)};
  ck_assert_msg(k.module != NULL, "%s", diags_text(arena, &diags));
  const PtxFunction *kernel = ptx_module_kernel(k.module, NULL, &diags);
  const PtxLaunch launch = {.grid = {BLOCKS, 1, 1},
                            .block = {threads, 1, 1},
                            .cluster = {BLOCKS, 1, 1},
                            .budget = 1 << 22};
  k.machine = ptx_machine_new(arena, k.module, kernel, &launch, &diags);
  ck_assert_msg(k.machine != NULL, "%s", diags_text(arena, &diags));
  const int64_t bytes = sizeof in;
  const uint64_t from = ptx_machine_buffer(k.machine, "in", bytes, in, PTX_CONTENT_GIVEN),
                 to = ptx_machine_buffer(k.machine, "out", bytes, NULL, PTX_CONTENT_ZERO);
  ptx_machine_param(k.machine, 0, &from, 8);
  ptx_machine_param(k.machine, 1, &to, 8);
  k.tally = ptx_tally_new(arena, k.module, kernel);
  kernel_log_watch(k.machine, k.tally);
  k.outcome = ptx_machine_run(k.machine, 1, 0, 0);
  k.out = ptx_machine_bytes(k.machine, to, bytes);
  kernel_log_add(k.machine, k.module, k.outcome, k.tally, to, PTX_KERNEL_WORDS);
  return k;
}

static PtxKernel run(const char *body) { return run_threads(body, THREADS); }

#define SYNC "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
#define PUT "st.shared.u32 [%r26], %r25;\n"
#define GET "ld.shared::cluster.u32 %r0, [%r27];\nst.global.u32 [%o], %r0;\n"
#define INIT(n) "@%p31 mbarrier.init.shared.b64 [s+1024], " n ";\nadd.u32 %r24, %r29, 1024;\n"
#define WAIT                                                                         \
  "AGAIN: mbarrier.try_wait.parity.shared.b64 %p0, [s+1024], 0;\n@!%p0 bra AGAIN;\n" \
  "ld.shared.u32 %r0, [%r26];\nst.global.u32 [%o], %r0;\n"
#define EXPECT "@%p31 mbarrier.arrive.expect_tx.shared.b64 _, [s+1024], 128;\n"
#define CAST(mask)                                                         \
  "setp.eq.u32 %p1, %r25, 0;\nmov.b16 %h0, " mask                          \
  ";\n"                                                                    \
  "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes" \
  ".multicast::cluster [s], [%in], 128, [s+1024], %h0;\n"

// What lies behind s in one block is not the begin of s in the next one, however little it is.
START_TEST(memory_of_blocks_lies_apart) {
  for (int words = 1; words <= 5; words += 2) {
    const PtxKernel k = run(arena_printf(
        arena,
        ".shared .align 4 .b32 behind[%d];\nmov.u32 %%r1, behind;\nadd.u32 %%r2, %%r25, 7;\n"
        "@%%p31 st.shared.u32 [%%r1+%d], %%r25;\n@%%p31 st.shared.u32 [%%r28], %%r2;\n" SYNC
        "ld.shared.u32 %%r0, [%%r1+%d];\nst.global.u32 [%%o], %%r0;\n",
        words, 4 * words - 4, 4 * words - 4));
    ck_assert(k.outcome == PTX_DONE && ptx_machine_findings(k.machine) == 0);
    for (uint32_t rank = 0; rank < BLOCKS; rank++)
      ck_assert_uint_eq(k.out[THREADS * rank], 1000 * rank);
  }
}
END_TEST

// Every thread gets the other block's number of the same thread; or 7·t.
static const struct {
  const char *body;
  bool cast;
} right[] = {
    {PUT SYNC GET SYNC, false},
    // By a generic address.
    {PUT SYNC "cvt.u64.u32 %rd0, %r26;\ncvta.shared.u64 %rd0, %rd0;\nmapa.u64 %rd1, %rd0, %r31;\n"
              "ld.u32 %r0, [%rd1];\nst.global.u32 [%o], %r0;\n" SYNC,
     false},
    // Stored there.
    {SYNC "st.shared::cluster.u32 [%r27], %r25;\n" SYNC
          "ld.shared.u32 %r0, [%r26];\nst.global.u32 [%o], %r0;\n",
     false},
    // A fence makes up for arrivals that tell of nothing.
    {PUT "fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed.aligned;\n"
         "barrier.cluster.wait.aligned;\n" GET SYNC,
     false},
    // Arrived early, waited late; the other block's arrivals at an mbarrier.
    {INIT("32") "fence.mbarrier_init.release.cluster;\n" SYNC
                "st.shared::cluster.u32 [%r27], %r25;\n"
                "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r24];\n"
                "barrier.cluster.arrive.aligned;\n" WAIT "barrier.cluster.wait.aligned;\n",
     false},
    // Stores that the mbarrier counts.
    {INIT("1") EXPECT SYNC
     "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r27], %r25, [%r24];\n" WAIT SYNC,
     false},
    {INIT("1") EXPECT
     "st.shared.u32 [%r26], 0;\n" SYNC
     "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r27], %r25, "
     "[%r24];\n" WAIT SYNC,
     false},
    // One copy for both.
    {INIT("1") EXPECT SYNC CAST("3") WAIT SYNC, true},
    // A block that ends early is not waited for.
    {PUT SYNC GET SYNC "setp.eq.u32 %p2, %r30, 0;\n@%p2 ret;\n" SYNC, false},
    // An address of one's own memory names one's block: the other of the pair is one bit away.
    {PUT SYNC "xor.b32 %r27, %r26, 0x1000000;\n" GET SYNC, false},
};
enum { RIGHT = sizeof right / sizeof right[0] };

START_TEST(test_blocks_of_a_cluster_reach_each_other) {
  const PtxKernel k = run(right[_i].body);
  const int n = ptx_machine_findings(k.machine);
  const PtxFinding *f = n ? ptx_machine_finding(k.machine, 0) : NULL;
  ck_assert_msg(k.outcome == PTX_DONE && n == 0, "%s: %s %s", right[_i].body,
                f ? ptx_finding_names[f->kind] : "", f && f->text ? f->text : "");
  for (uint32_t i = 0; i < BLOCKS * THREADS; i++) {
    const uint32_t rank = i / THREADS, t = i % THREADS;
    ck_assert_uint_eq(k.out[i], right[_i].cast ? 7 * t : (1 - rank) * 1000 + t);
  }
}
END_TEST

static const struct {
  const char *body;
  PtxFindingKind kind;
  bool both;  // lines
} wrong[] = {
    // Nobody waited for the other to have begun, to have written, to be done with it.
    {"st.shared::cluster.u32 [%r27], %r25;\n" SYNC, PTX_FINDING_ENDED, false},
    {SYNC PUT GET SYNC, PTX_FINDING_RACE, true},
    {PUT SYNC GET, PTX_FINDING_ENDED, true},
    {PUT "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n" GET SYNC,
     PTX_FINDING_RACE, true},
    {INIT("32") "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n"
                "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r24];\n" WAIT SYNC,
     PTX_FINDING_RACE, true},
    {"barrier.cluster.arrive.aligned;\n" SYNC, PTX_FINDING_CLUSTER_BARRIER, false},
    {"barrier.cluster.wait.aligned;\n", PTX_FINDING_CLUSTER_BARRIER, false},
    {"setp.lt.u32 %p0, %t, 16;\n@%p0 bra A;\n" SYNC "bra B;\nA: " SYNC "B:",
     PTX_FINDING_DIVERGENT_BARRIER, true},
    {"setp.eq.u32 %p0, %r30, 0;\n@%p0 bar.sync 0, 64;\n" SYNC, PTX_FINDING_DEADLOCK, false},
    {PUT SYNC "ld.shared.u32 %r0, [%r27];\n" SYNC, PTX_FINDING_OUT_OF_BOUNDS, false},
    {"mapa.shared::cluster.u32 %r0, %r28, 2;\n", PTX_FINDING_OUT_OF_BOUNDS, false},
    {INIT("1") EXPECT SYNC CAST("5") WAIT SYNC, PTX_FINDING_OUT_OF_BOUNDS, false},
    // What lands is not waited for.
    {INIT("1") EXPECT SYNC CAST("3") "ld.shared.u32 %r0, [%r26];\n" SYNC, PTX_FINDING_MISSING_WAIT,
     true},
    {INIT("1") EXPECT SYNC
     "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r27], %r25, [%r24];\n" SYNC
     "ld.shared.u32 %r0, [%r26];\n" SYNC,
     PTX_FINDING_MISSING_WAIT, true},
};
enum { WRONG = sizeof wrong / sizeof wrong[0] };

START_TEST(test_a_mistake_across_blocks_is_named) {
  const PtxKernel k = run(wrong[_i].body);
  const PtxFinding *f = ptx_kernel_finding(&k, wrong[_i].kind);
  ck_assert_msg(f != NULL, "%s", wrong[_i].body);
  ck_assert_int_ge(f->thread, 0);
  ck_assert_msg((f->other_pc >= 0) == wrong[_i].both, "%s", wrong[_i].body);
}
END_TEST

START_TEST(test_a_rank_that_is_not_there_is_of_its_lane) {
  const PtxKernel k =
      run("setp.eq.u32 %p0, %t, 5;\nselp.u32 %r0, 9, 0, %p0;\nmapa.shared::cluster.u32 %r1, %r28, "
          "%r0;\n");
  const PtxFinding *f = ptx_kernel_finding(&k, PTX_FINDING_OUT_OF_BOUNDS);
  ck_assert(f && f->lanes == 1u << 5 && strstr(f->text, "rank 9, but the cluster has 2 blocks"));
}
END_TEST

START_TEST(test_each_warp_knows_its_block) {
  enum { TWO_WARPS = 64 };
  const PtxKernel k = run_threads(
      "add.s64 %o, %o, %rd30;\nmov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %clusterid.x;\n"
      "mov.u32 %r2, %cluster_ctaid.x;\nmad.lo.u32 %r0, %r0, 10, %r1;\nmad.lo.u32 %r0, %r0, 10, "
      "%r2;\nmad.lo.u32 %r0, %r0, 100, %t;\nst.global.u32 [%o], %r0;\n",
      TWO_WARPS);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  for (uint32_t i = 0; i < BLOCKS * TWO_WARPS; i++)
    ck_assert_uint_eq(k.out[i], i / TWO_WARPS * 10100 + i % TWO_WARPS);
}
END_TEST

START_TEST(test_each_block_has_room_for_mbarriers) {
  const PtxKernel k =
      run("mov.u32 %r0, 0;\nLOOP: mad.lo.u32 %r1, %r0, 8, %r28;\n"
          "@%p31 mbarrier.init.shared.b64 [%r1], 1;\nadd.u32 %r0, %r0, 1;\n"
          "setp.lt.u32 %p0, %r0, 100;\n@%p0 bra LOOP;\n" SYNC);
  ck_assert_msg(k.outcome == PTX_DONE && ptx_machine_findings(k.machine) == 0, "%s",
                ptx_machine_findings(k.machine) ? ptx_machine_finding(k.machine, 0)->text : "");
}
END_TEST

START_TEST(test_a_block_above_maxntid_says_how_many) {
  Diags diags = diags_new(arena);
  static const char text[] =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k() .maxntid 64, 1, 1 { ret; }\n";
  const PtxModule *module = ptx_module_read(arena, text, strlen(text), "k.ptx", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  const PtxLaunch launch = {.grid = {1, 1, 1}, .block = {8, 3, 4}};
  ck_assert_ptr_null(ptx_machine_new(arena, module, &module->functions[0], &launch, &diags));
  ck_assert_str_eq(diags.first->text, "block: 96 threads, the kernel takes at most 64 (.maxntid)");
}
END_TEST

START_TEST(test_what_lies_in_another_block_is_not_counted) {
  const PtxKernel k = run(PUT SYNC GET SYNC);
  const PtxLines *lines = ptx_tally_lines(arena, k.tally);
  int n_own = 0, n_other = 0;
  for (int i = 0; i < lines->n; i++) {
    if (!lines->items[i].shared) continue;
    n_own += lines->items[i].countable && lines->items[i].wavefronts == 1;
    n_other += !lines->items[i].countable;
  }
  ck_assert_int_eq(n_own, 1);  // of the block that is watched, not of both
  ck_assert_int_eq(n_other, 1);
}
END_TEST

START_TEST(test_a_cluster_that_makes_no_grid_is_refused) {
  static const int clusters[][3] = {{2, 1, 1}, {3, 1, 1}, {5, 5, 1}, {17, 1, 1}};
  Diags diags = diags_new(arena);
  const char *text = text_of("");
  const PtxModule *module = ptx_module_read(arena, text, strlen(text), "k.ptx", &diags);
  for (int i = 0; i < 4; i++) {
    PtxLaunch launch = {.grid = {17 * (i > 0) + 3, 25, 1}, .block = {32, 1, 1}};
    memcpy(launch.cluster, clusters[i], sizeof launch.cluster);
    Diags said = diags_new(arena);
    ck_assert_ptr_null(ptx_machine_new(arena, module, &module->functions[0], &launch, &said));
    ck_assert_int_ge(said.count, 1);
  }
}
END_TEST

START_TEST(test_all_that_runs_say) { kernel_log_check("kernels/cluster.txt"); }
END_TEST

Suite *suite_open_cluster(void) {
  kernel_log_begin();
  Suite *suite = suite_create("open_cluster");
  TCase *tcase = tcase_create("cluster");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_blocks_of_a_cluster_reach_each_other, 0, RIGHT);
  tcase_add_loop_test(tcase, test_a_mistake_across_blocks_is_named, 0, WRONG);
  tcase_add_test(tcase, test_a_rank_that_is_not_there_is_of_its_lane);
  tcase_add_test(tcase, test_each_warp_knows_its_block);
  tcase_add_test(tcase, test_each_block_has_room_for_mbarriers);
  tcase_add_test(tcase, test_a_block_above_maxntid_says_how_many);
  tcase_add_test(tcase, test_what_lies_in_another_block_is_not_counted);
  tcase_add_test(tcase, test_a_cluster_that_makes_no_grid_is_refused);
  tcase_add_test(tcase, memory_of_blocks_lies_apart);
  tcase_add_test(tcase, test_all_that_runs_say);
  suite_add_tcase(suite, tcase);
  return suite;
}

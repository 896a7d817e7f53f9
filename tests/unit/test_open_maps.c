// Tensor maps that a kernel makes for itself: fields by tensormap.replace, a copy by
// .cp_fenceproxy, and boxes by them.
#include <check.h>
#include <string.h>

#include "kernel_log.h"
#include "ptx_kernel.h"

Suite *suite_open_maps(void);

static Arena *arena;
static uint32_t in[PTX_KERNEL_WORDS];
static void setup(void) {
  arena = arena_new("test");
  for (uint32_t i = 0; i < PTX_KERNEL_WORDS; i++) in[i] = 1000 + i;
}
static void teardown(void) { arena_free(arena); }

#define FIELD(name, type, operands) \
  "@%p0 tensormap.replace.tile." name ".shared::cta.b1024." type " [s], " operands ";\n"

// A map of in as 32 x 32 words, boxes of 8 x 4, put together in shared memory and copied behind
// out.
#define MAKE(stride)                                                                            \
  "setp.eq.u32 %p0, %t, 0;\nmov.u32 %r1, s;\nadd.u32 %r1, %r1, %t4;\nst.shared.u32 [%r1], 0;\n" \
  "@%p0 mbarrier.init.shared.b64 [s+2048], 1;\nfence.proxy.async;\nbar.sync 0;\n" FIELD(        \
      "global_address", "b64", "%in") FIELD("rank", "b32", "1") FIELD("box_dim", "b32", "0, 8") \
      FIELD("box_dim", "b32", "1, 4") FIELD("global_dim", "b32", "0, 32")                       \
          FIELD("global_dim", "b32", "1, 32") FIELD("global_stride", "b64", "0, " stride)       \
              FIELD("element_stride", "b32", "0, 1") FIELD("element_stride", "b32", "1, 1")     \
                  FIELD("elemtype", "b32", "2") FIELD("interleave_layout", "b32", "0")          \
                      FIELD("swizzle_mode", "b32", "0")                                         \
                          FIELD("fill_mode", "b32", "0") "bar.sync 0;\n"
#define COPY(to)                                                                            \
  "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned " \
  "[%out+" to "], [s], 128;\nfence.proxy.tensormap::generic.acquire.gpu [%out+" to          \
  "], 128;\nbar.sync 0;\n"
#define LOAD(map, x, y, parity)                                                                 \
  "@!%p0 bra ON" parity                                                                         \
  ";\n"                                                                                         \
  "mbarrier.arrive.expect_tx.shared.b64 %rd9, [s+2048], 128;\n"                                 \
  "mov.u32 %r5, " x ";\nmov.u32 %r6, " y                                                        \
  ";\n"                                                                                         \
  "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s+1024], " \
  "[%out+" map ", {%r5, %r6}], [s+2048];\nON" parity                                            \
  ": mbarrier.try_wait.parity.shared.b64 %p3, [s+2048], " parity ";\n@!%p3 bra ON" parity ";\n"
#define SHOW(at)                                          \
  "ld.shared.u32 %r7, [%r1+1024];\nst.global.u32 [%o+" at \
  "], %r7;\nfence.proxy.async;\nbar.sync 0;\n"

static PtxKernel run(const char *body) {
  return ptx_kernel_run(arena, ptx_kernel_text(arena, body), NULL, 32, in);
}

static void check_ran(const PtxKernel *k) {
  const PtxFinding *f =
      ptx_machine_findings(k->machine) ? ptx_machine_finding(k->machine, 0) : NULL;
  ck_assert_msg(k->outcome == PTX_DONE && !f, "%s: %s", f ? ptx_finding_names[f->kind] : "",
                f && f->text ? f->text : "");
}

// Word (x, y) of the tensor.
static uint32_t word(int x, int y) { return (uint32_t)(1000 + y * 32 + x); }

START_TEST(test_a_map_made_from_zeros_fetches) {
  const PtxKernel k = run(MAKE("128") COPY("3072") LOAD("3072", "8", "4", "0") SHOW("0"));
  check_ran(&k);
  for (int i = 0; i < 32; i++) ck_assert_uint_eq(k.out[i], word(8 + i % 8, 4 + i / 8));
}
END_TEST

// What is changed behind a copy changes the copy no more; outside of the tensor there are zeros.
START_TEST(test_a_change_behind_a_copy_is_another_map) {
  const PtxKernel k =
      run(MAKE("128") COPY("3072") FIELD("global_dim", "b32", "0, 12") "bar.sync 0;\n" COPY("3328")
              LOAD("3328", "8", "4", "0") SHOW("0") LOAD("3072", "8", "4", "1") SHOW("128"));
  check_ran(&k);
  for (int i = 0; i < 32; i++) {
    ck_assert_uint_eq(k.out[i], i % 8 < 4 ? word(8 + i % 8, 4 + i / 8) : 0);
    ck_assert_uint_eq(k.out[32 + i], word(8 + i % 8, 4 + i / 8));
  }
}
END_TEST

// PTX of version 8.0, as here: strides in units of 16 bytes.
START_TEST(test_strides_may_come_in_units) {
  const PtxKernel k = run(MAKE("8") COPY("3072") LOAD("3072", "0", "2", "0") SHOW("0"));
  check_ran(&k);
  for (int i = 0; i < 32; i++) ck_assert_uint_eq(k.out[i], word(i % 8, 2 + i / 8));
}
END_TEST

static const struct {
  const char *body, *says;
} refused[] = {
    {MAKE("128") FIELD("box_dim", "b32", "0, 400") "bar.sync 0;\n" COPY("3072")
         LOAD("3072", "0", "0", "0"),
     "the tensor map that the kernel made"},
    {MAKE("128") FIELD("elemtype", "b32", "16") "bar.sync 0;\n" COPY("3072")
         LOAD("3072", "0", "0", "0"),
     "an element type, swizzle or interleave that is not run here"},
    {"setp.eq.u32 %p0, %t, 0;\nst.shared.u32 [s], 77;\n" FIELD("rank", "b32", "1"),
     "no tensor map lies at this address"},
};

START_TEST(test_a_wrong_map_is_told) {
  const PtxKernel k = run(refused[_i].body);
  const PtxFinding *f = ptx_kernel_finding(&k, PTX_FINDING_NOT_RUN);
  ck_assert(k.outcome == PTX_STOPPED && f != NULL);
  ck_assert_msg(strstr(f->text, refused[_i].says) != NULL, "%s", f->text);
}
END_TEST

START_TEST(test_all_that_runs_say) { kernel_log_check("kernels/maps.txt"); }
END_TEST

Suite *suite_open_maps(void) {
  kernel_log_begin();
  Suite *suite = suite_create("open_maps");
  TCase *tcase = tcase_create("maps");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, test_a_map_made_from_zeros_fetches);
  tcase_add_test(tcase, test_a_change_behind_a_copy_is_another_map);
  tcase_add_test(tcase, test_strides_may_come_in_units);
  tcase_add_loop_test(tcase, test_a_wrong_map_is_told, 0, sizeof refused / sizeof *refused);
  tcase_add_test(tcase, test_all_that_runs_say);
  suite_add_tcase(suite, tcase);
  return suite;
}

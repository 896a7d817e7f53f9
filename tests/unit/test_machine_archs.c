// Kernels of tests/data/open as ptxas makes them for other GPUs: what their machine code leaves in
// memory is what their PTX leaves, bit for bit.
//
// Up to sm_89 all is run. Of sm_100a and sm_120a it is what ptxas 13.0 makes of these kernels; no
// GPU of theirs was asked.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "machine_case.h"
#include "open_case.h"
#include "stress.h"

Suite *suite_machine_archs(void);

static const char *const targets[] = {"sm_80", "sm_86", "sm_89", "sm_100a", "sm_120a"};
enum { KERNELS = 10, TARGETS = sizeof targets / sizeof *targets, ONE_IN = 7 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static const char *text_for(const char *id, const char *target) {
  static const char from[] = ".target sm_90a";
  const char *ptx = open_case_text(arena, arena_printf(arena, "%s.ptx", id));
  const char *at = strstr(ptx, from);
  ck_assert(at != NULL);
  return arena_printf(arena, "%.*s.target %s%s", (int)(at - ptx), ptx, target, at + strlen(from));
}

static void run_well(const OpenCase *c, const char *target) {
  const PtxOutcome outcome = open_case_run(c);
  const int n = ptx_machine_findings(c->machine);
  const PtxFinding *f = n ? ptx_machine_finding(c->machine, 0) : NULL;
  ck_assert_msg(outcome == PTX_DONE && n == 0, "%s, %s: %s at 0x%x: %s", target, c->id,
                f ? ptx_finding_names[f->kind] : "stopped", f ? f->pc * 16 : 0,
                f && f->text ? f->text : "");
}

START_TEST(test_other_archs_leave_what_their_ptx_leaves) {
  const char *target = targets[_i / KERNELS], *id = open_case_id(_i % KERNELS);
  Diags diags = diags_new(arena);
  size_t n = 0;
  const char *ptx = text_for(id, target);
  const char *cubin = machine_case_assemble(arena, ptx, target, &n);
  const PtxModule *module = cubin ? machine_case_module(arena, cubin, n, NULL, &diags) : NULL;
  if (!module) {
    ck_assert_msg(diags.count == 0, "%s", diags_text(arena, &diags));
    return;
  }
  const OpenCase text = open_case_load(arena, _i % KERNELS, ptx),
                 machine = open_case_load_module(arena, _i % KERNELS, module);
  run_well(&text, target);
  run_well(&machine, target);
  for (int arg = 0; arg < text.n_args; arg++) {
    if (!text.bytes[arg]) continue;
    const unsigned char *x = ptx_machine_bytes(text.machine, text.buffers[arg], text.bytes[arg]),
                        *y = ptx_machine_bytes(machine.machine, machine.buffers[arg],
                                               machine.bytes[arg]);
    ck_assert_msg(memcmp(x, y, (size_t)text.bytes[arg]) == 0, "%s, %s: argument %d differs", target,
                  id, arg);
  }
}
END_TEST

// An address that may be one of shared or of global memory: machine code finds the window of shared
// memory in a word of the launch up to sm_89, and in a special register since sm_90.
static const char *pick_text(const char *target) {
  return arena_printf(arena,
                      ".version 8.7\n.target %s\n.address_size 64\n"
                      ".visible .entry pick(.param .u64 out, .param .u32 which) {\n"
                      "  .reg .pred %%p; .reg .b32 %%r<4>; .reg .b64 %%rd<6>;\n"
                      "  .shared .align 4 .b32 s[32];\n"
                      "  ld.param.u64 %%rd1, [out]; cvta.to.global.u64 %%rd1, %%rd1;\n"
                      "  ld.param.u32 %%r1, [which];\n"
                      "  mov.u32 %%r2, %%tid.x; mul.wide.u32 %%rd2, %%r2, 4;\n"
                      "  mov.u64 %%rd3, s; cvta.shared.u64 %%rd3, %%rd3;\n"
                      "  cvta.global.u64 %%rd4, %%rd1;\n"
                      "  setp.eq.u32 %%p, %%r1, 0; selp.b64 %%rd3, %%rd3, %%rd4, %%p;\n"
                      "  add.u64 %%rd3, %%rd3, %%rd2; add.u64 %%rd1, %%rd1, %%rd2;\n"
                      "  mul.lo.u32 %%r2, %%r2, 7;\n"
                      "  st.u32 [%%rd3], %%r2; bar.sync 0; ld.u32 %%r3, [%%rd3];\n"
                      "  add.u32 %%r3, %%r3, 1; st.global.u32 [%%rd1], %%r3; ret;\n}\n",
                      target);
}

START_TEST(test_address_of_any_memory_is_found) {
  static const char *const all[] = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a"};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (uint32_t which = 0; which < 2; which++) {
      Diags diags = diags_new(arena);
      size_t n = 0;
      const char *cubin = machine_case_assemble(arena, pick_text(all[i]), all[i], &n);
      const PtxModule *module = cubin ? machine_case_module(arena, cubin, n, NULL, &diags) : NULL;
      if (!module) {
        ck_assert_msg(diags.count == 0, "%s", diags_text(arena, &diags));
        return;
      }
      const PtxLaunch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
      PtxMachine *m = ptx_machine_new(arena, module, ptx_module_kernel(module, "pick", &diags),
                                      &launch, &diags);
      ck_assert_msg(m != NULL, "%s", diags_text(arena, &diags));
      const uint64_t out = ptx_machine_buffer(m, "out", 128, NULL, PTX_CONTENT_GIVEN);
      ptx_machine_param(m, 0, &out, sizeof out);
      ptx_machine_param(m, 1, &which, sizeof which);
      const PtxOutcome outcome = ptx_machine_run(m, 0, 0, 0);
      ck_assert_msg(outcome == PTX_DONE && ptx_machine_findings(m) == 0, "%s, %u: %s", all[i],
                    which, ptx_machine_findings(m) ? ptx_machine_finding(m, 0)->text : "");
      const unsigned char *bytes = ptx_machine_bytes(m, out, 128);
      for (int lane = 0; lane < 32; lane++) {
        int32_t value = 0;
        memcpy(&value, bytes + 4 * lane, sizeof value);
        ck_assert_int_eq(value, lane * 7 + 1);
      }
    }
}
END_TEST

// Products of f64 and of four columns of tf32: machine code has instructions of its own for them.
static const char products_text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry products(.param .u64 out) {\n"
    "  .reg .b32 %r<4>; .reg .f32 %f<6>; .reg .f64 %fd<6>; .reg .b64 %rd<3>;\n"
    "  ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;\n"
    "  mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 32; add.u64 %rd1, %rd1, %rd2;\n"
    "  cvt.rn.f64.u32 %fd1, %r1; fma.rn.f64 %fd2, %fd1, %fd1, 0d3FB999999999999A;\n"
    "  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64\n"
    "    {%fd3, %fd4}, {%fd1}, {%fd2}, {%fd2, %fd1};\n"
    "  st.global.v2.f64 [%rd1], {%fd3, %fd4};\n"
    "  cvt.rn.f32.u32 %f1, %r1; mov.b32 %r2, %f1; mul.lo.u32 %r3, %r1, 3;\n"
    "  cvt.rn.f32.u32 %f2, %r3; mov.b32 %r3, %f2;\n"
    "  mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32\n"
    "    {%f2, %f3, %f4, %f5}, {%r2, %r3}, {%r3}, {%f1, %f1, %f1, %f2};\n"
    "  st.global.v4.f32 [%rd1+16], {%f2, %f3, %f4, %f5}; ret;\n}\n";

static const unsigned char *run_products(const PtxModule *module, Diags *diags) {
  const PtxLaunch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
  PtxMachine *m =
      ptx_machine_new(arena, module, ptx_module_kernel(module, "products", diags), &launch, diags);
  ck_assert_msg(m != NULL, "%s", diags_text(arena, diags));
  const uint64_t out = ptx_machine_buffer(m, "out", 1024, NULL, PTX_CONTENT_GIVEN);
  ptx_machine_param(m, 0, &out, sizeof out);
  const PtxOutcome outcome = ptx_machine_run(m, 0, 0, 0);
  ck_assert_msg(outcome == PTX_DONE && ptx_machine_findings(m) == 0, "%s",
                ptx_machine_findings(m) ? ptx_machine_finding(m, 0)->text : "");
  return ptx_machine_bytes(m, out, 1024);
}

START_TEST(test_products_of_f64_and_of_narrow_tf32) {
  static const char *const all[] = {"sm_80", "sm_89", "sm_90a", "sm_100a"};
  Diags diags = diags_new(arena);
  const PtxModule *text =
      ptx_module_read(arena, products_text, sizeof products_text - 1, "products", &diags);
  ck_assert_msg(text != NULL, "%s", diags_text(arena, &diags));
  const unsigned char *expected = run_products(text, &diags);
  // Row 0, columns 0 and 1 of the doubles: k · (k² + 0.1), and with (4 + k)², summed over k.
  double first[2];
  memcpy(first, expected, sizeof first);
  ck_assert_double_eq_tol(first[0], 0.1 + 1 * 1.1 + 2 * 4.1 + 3 * 9.1, 1e-12);
  ck_assert_double_eq_tol(first[1], 1 * 25.1 + 2 * 36.1 + 3 * 49.1, 1e-12);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    size_t n = 0;
    const char *cubin = machine_case_assemble(arena, products_text, all[i], &n);
    const PtxModule *module = cubin ? machine_case_module(arena, cubin, n, NULL, &diags) : NULL;
    if (!module) {
      ck_assert_msg(diags.count == 0, "%s", diags_text(arena, &diags));
      return;
    }
    ck_assert_msg(memcmp(run_products(module, &diags), expected, 1024) == 0, "%s", all[i]);
  }
}
END_TEST

Suite *suite_machine_archs(void) {
  Suite *suite = suite_create("machine_archs");
  TCase *tcase = tcase_create("archs");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, test_address_of_any_memory_is_found);
  tcase_add_test(tcase, test_products_of_f64_and_of_narrow_tf32);
  stress_add_turns(tcase, test_other_archs_leave_what_their_ptx_leaves, KERNELS * TARGETS, ONE_IN);
  suite_add_tcase(suite, tcase);
  return suite;
}

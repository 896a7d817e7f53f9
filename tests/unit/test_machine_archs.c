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

Suite *suite_machine_archs(void) {
  Suite *suite = suite_create("machine_archs");
  TCase *tcase = tcase_create("archs");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  stress_add_turns(tcase, test_other_archs_leave_what_their_ptx_leaves, KERNELS * TARGETS, ONE_IN);
  suite_add_tcase(suite, tcase);
  return suite;
}

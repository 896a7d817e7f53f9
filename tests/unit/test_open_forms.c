// Every instruction that is run, with every modifier that its row of opcode.def heeds: a result
// computed beside it, and a list of what no case has run. A row, or a modifier of one, that is
// added without a case fails here.
//
// Results were computed apart from this program (exact fractions for roundings, Python's whole
// numbers for the rest), or are plain from the case: a copy equals its source.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "kernel_log.h"
#include "ptx/run/run.h"
#include "ptx_kernel.h"

Suite *suite_open_forms(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// Bodies put what they compute into %r0, which begins as 0.
static const struct {
  const char *body;
  uint32_t result;
  int threads;
} cases[] = {
#include "open_forms.def"
};
enum { CASES = sizeof cases / sizeof cases[0], ROWS_MAX = 512 };

// Rows that take a tile, a map or a whole warpgroup: the suites that hold their values against a
// product of their own.
static const struct {
  const char *name, *needs, *suite;
} elsewhere[] = {
    {"mma", "", "open_mma"},
    {"wmma", "", "open_run: fragments"},
    {"ldmatrix", "m8n16", "open_matrices"},
    {"wgmma", "", "open_waits, open_rungs, open_triton"},
    {"tcgen05", "", "open_rungs, open_waits, open_tmem"},
    {"cp", "async bulk tensor", "open_tensor"},
    {"cp", "reduce async bulk tensor", "open_tensor"},
    {"tensormap", "", "open_maps"},
    {"call", "", "open_styles"},
    {"ret", "", "every suite"},
    {"exit", "", "open_styles"},
    {"trap", "", "open_run: mistakes"},
};

static bool covered[ROWS_MAX][PTX_MODIFIERS];  // [row][0]: the row itself

static bool is_elsewhere(const PtxOpcode *row) {
  for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
    if (str_equal(elsewhere[i].name, row->name) &&
        (!elsewhere[i].needs[0] || str_equal(elsewhere[i].needs, row->needs)))
      return true;
  return false;
}

static void note_forms(const PtxKernel *k) {
  for (int pc = 0; pc < k->module->n_code; pc++) {
    const PtxInst *i = &k->module->code[pc];
    if (!i->row || ptx_machine_executions(k->machine, pc) == 0) continue;
    bool *row = covered[i->row - ptx_opcodes];
    row[0] = true;
    for (int m = 1; m < PTX_MODIFIERS; m++) row[m] |= ptx_mods_has(&i->form.mods, (PtxModifier)m);
  }
}

static PtxKernel run_body(const char *body, int threads) {
  static uint32_t in[PTX_KERNEL_WORDS];
  for (uint32_t i = 0; i < PTX_KERNEL_WORDS; i++) in[i] = (i * 2654435761u) >> 8 | 1;
  const char *ptx = ptx_kernel_text(
      arena, arena_printf(arena, "mov.u32 %%r0, 0;\n%s\nst.global.u32 [%%o], %%r0;", body));
  return ptx_kernel_run(arena, ptx, NULL, threads, in);
}

// What is wrong with a case goes to `wrong`.
static void check_case(int n, Str *wrong) {
  const PtxKernel k = run_body(cases[n].body, cases[n].threads);
  const PtxFinding *f = ptx_machine_findings(k.machine) ? ptx_machine_finding(k.machine, 0) : NULL;
  note_forms(&k);
  if (k.outcome != PTX_DONE || f) {
    str_printf(wrong, "%s: %s %s\n", cases[n].body, f ? ptx_finding_names[f->kind] : "",
               f && f->text ? f->text : "");
    return;
  }
  for (int t = 0; t < cases[n].threads; t++) {
    if (k.out[t] == cases[n].result) continue;
    str_printf(wrong, "%s: thread %d: 0x%x, not 0x%x\n", cases[n].body, t, k.out[t],
               cases[n].result);
    return;
  }
}

// What a row's lists name that no case ran.
static void list_missing(Str *out, int row, const char *list) {
  for (int m = 1; m < PTX_MODIFIERS; m++)
    if (ptx_modifier_listed(list, (PtxModifier)m) && !covered[row][m])
      str_printf(out, "%s [%s] .%s\n", ptx_opcodes[row].name, ptx_opcodes[row].needs,
                 ptx_modifiers[m].name);
}

START_TEST(test_every_form_has_its_value) {
  static Arena *kept;
  kept = arena_new("report");
  Str wrong = str_new(kept), missing = str_new(kept);
  for (int n = 0; n < CASES; n++) {
    check_case(n, &wrong);
    arena_free(arena);
    arena = arena_new("test");
  }
  ck_assert_int_le(ptx_opcode_count, ROWS_MAX);
  for (int row = 0; row < ptx_opcode_count; row++) {
    if (!ptx_opcodes[row].run || is_elsewhere(&ptx_opcodes[row])) continue;
    if (!covered[row][0])
      str_printf(&missing, "%s [%s]\n", ptx_opcodes[row].name, ptx_opcodes[row].needs);
    else
      list_missing(&missing, row, ptx_opcodes[row].takes);
  }
  ck_assert_msg(!wrong.text[0] && !missing.text[0], "wrong:\n%sno case runs:\n%s", wrong.text,
                missing.text);
  arena_free(kept);
}
END_TEST

// ---- hints change no value ----------------------------------------------------------------------

// The hints that each access may have; a policy's operand comes with .L2::cache_hint.
static const struct {
  const char *before, *hint_at, *operands, *behind;
} accesses[] = {
    {"", "ld.global@.u32", "%r0, [%in]@", ""},
    {"", "ld.global.nc@.v4.u32", "{%r0, %r1, %r2, %r3}, [%in]@", ""},
    {"st.global.u32 [%o+128], 1;", "st.global@.u32", "[%o+128], 9@",
     "ld.global.u32 %r0, [%o+128];"},
    {"st.global.u32 [%o+128], 1;", "red.global.add@.u32", "[%o+128], 9@",
     "ld.global.u32 %r0, [%o+128];"},
    {"st.global.u32 [%o+128], 1;", "atom.global.add@.u32", "%r1, [%o+128], 9@",
     "ld.global.u32 %r0, [%o+128];"},
    {"st.global.u32 [%o+128], 1;", "atom.global.cas@.b32", "%r1, [%o+128], 1, 9@",
     "ld.global.u32 %r0, [%o+128];"},
};
static const char *const hints[] = {".L2::cache_hint",
                                    ".L1::no_allocate",
                                    ".L1::evict_first",
                                    ".L1::evict_last",
                                    ".L1::evict_normal",
                                    ".L1::evict_unchanged",
                                    ".L2::evict_first",
                                    ".L2::evict_last",
                                    ".L2::evict_normal",
                                    ".L2::64B",
                                    ".L2::128B",
                                    ".L2::256B",
                                    ".L1::evict_last.L2::cache_hint",
                                    ".L2::cache_hint.L2::128B"};
enum { ACCESSES = sizeof accesses / sizeof accesses[0], HINTS = sizeof hints / sizeof hints[0] };

static const char *with(const char *text, const char *what) {
  const char *at = strchr(text, '@');
  return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, what, at + 1);
}

static const char *hinted(int access, const char *hint) {
  const bool policy = strstr(hint, "cache_hint") != NULL;
  return arena_printf(arena, "mov.b64 %%rd5, 0x1234567890;\n%s\n%s %s;\n%s",
                      accesses[access].before, with(accesses[access].hint_at, hint),
                      with(accesses[access].operands, policy ? ", %rd5" : ""),
                      accesses[access].behind);
}

START_TEST(test_hints_change_no_value) {
  const PtxKernel plain = run_body(hinted(_i, ""), 32);
  ck_assert_int_eq(plain.outcome, PTX_DONE);
  for (int h = 0; h < HINTS; h++) {
    const PtxKernel k = run_body(hinted(_i, hints[h]), 32);
    ck_assert_msg(k.outcome == PTX_DONE, "%s", hinted(_i, hints[h]));
    for (int t = 0; t < 32; t++) ck_assert_uint_eq(k.out[t], plain.out[t]);
  }
}
END_TEST

// ---- what is not heeded is not run --------------------------------------------------------------

// An instruction that writes registers alone gives unknown values; any other ends its block.
static const char *const gives[] = {
    "mad24.hi.sat.u32 %r0, %r1, %r2, %r3;", "mad.hi.sat.u32 %r0, %r1, %r2, %r3;",
    "add.sat.u16x2 %r0, %r1, %r2;",         "add.sat.u32 %r0, %r1, %r2;",
    "mul.relu.f32 %f0, %f1, %f2;",          "shl.wrap.b32 %r0, %r1, %r2;",
    "mul.f32.f16 %f0, %h1, %f2;",           "lop3.and.b32 %r0, %r1, %r2, %r3, 0x80;",
    "shfl.sync.b32 %r0, %r1, 1, 31, -1;",   "mbarrier.pending_count.b64 %r0, %rd0;",
};
static const char *const ends[] = {
    "atom.shared.popc.u32 %r0, [s], %r1;",      "st.global.L2::cache_hint.u32 [%o], %r0;",
    "cp.async.ca.shared.global [s], [%in], 0;", "cp.async.ca.shared.global [s], [%in], 4294967296;",
    "cp.async.cg.shared.global [s], [%in], 8;", "cp.async.ca.shared.global [s], [%in], 3;",
};
enum { GIVES = sizeof gives / sizeof *gives, ENDS = sizeof ends / sizeof *ends };

START_TEST(test_what_is_not_heeded_gives_unknown_values) {
  const PtxKernel k = run_body(gives[_i], 32);
  int n = 0;
  ck_assert_msg(k.outcome == PTX_DONE, "%s", gives[_i]);
  ck_assert_msg(ptx_machine_findings(k.machine) == 0, "%s", gives[_i]);
  for (int pc = 0; pc < k.module->n_code; pc++) {
    if (!ptx_machine_unknown_why(k.machine, pc)) continue;
    ck_assert_int_eq(ptx_machine_executions(k.machine, pc), 1);
    n++;
  }
  ck_assert_msg(n == 1, "%s", gives[_i]);
}
END_TEST

START_TEST(test_what_is_not_heeded_ends_the_block) {
  const PtxKernel k = run_body(ends[_i], 32);
  ck_assert_msg(k.outcome == PTX_STOPPED, "%s", ends[_i]);
  ck_assert_msg(ptx_kernel_finding(&k, PTX_FINDING_NOT_RUN) != NULL, "%s", ends[_i]);
}
END_TEST

START_TEST(all_that_runs_say) { kernel_log_check("kernels/forms.txt"); }
END_TEST

Suite *suite_open_forms(void) {
  Suite *suite = suite_create("open_forms");
  kernel_log_begin();
  TCase *tcase = tcase_create("forms");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, test_every_form_has_its_value);
  tcase_add_loop_test(tcase, test_hints_change_no_value, 0, ACCESSES);
  tcase_add_loop_test(tcase, test_what_is_not_heeded_gives_unknown_values, 0, GIVES);
  tcase_add_loop_test(tcase, test_what_is_not_heeded_ends_the_block, 0, ENDS);
  suite_add_tcase(suite, tcase);
  TCase *log = tcase_create("log");
  tcase_add_test(log, all_that_runs_say);
  suite_add_tcase(suite, log);
  return suite;
}

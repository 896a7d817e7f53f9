// Grids whose blocks wait for each other, in every way that a launch is run: side by side, one
// after the other, and one block with those that it waits for. tests/golden/told/grids.txt has the
// outcome of each, what it cost, what was found, what the blocks stored, and by sums which accesses
// the watcher was told in which order.
#include <check.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "golden.h"
#include "ptx/run/machine.h"

Suite *suite_told_grids(void);

static Arena *arena;
static void setup(void) { arena = arena_new("grids"); }
static void teardown(void) { arena_free(arena); }

// %r1 is the number of the block with x first, %r2 how many there are, %rd1 where its word of out
// lies, %rd2 its flag's place. A flag is set by release and waited for by acquire.
#define SETS "mov.u32 %r9, 1;\nst.release.gpu.global.u32 [%rd2], %r9;\n"
#define WAITS(place) \
  "W: ld.acquire.gpu.global.u32 %r9, [" place "];\nsetp.eq.u32 %p, %r9, 0;\n@%p bra W;\n"
#define COUNTS                                                        \
  "atom.global.add.u32 %r8, [%rd3], 1;\nst.global.u32 [%rd1], %r8;\n" \
  "W: ld.acquire.gpu.global.u32 %r9, [%rd3];\nsetp.lt.u32 %p, %r9, %r2;\n@%p bra W;\n"
static const struct {
  const char *name, *body;
} kernels[] = {
    {"none waits", "st.global.u32 [%rd1], %r1;\n"},
    {"each waits for the one before",
     "st.global.u32 [%rd1], %r1;\nsetp.eq.u32 %p, %r1, 0;\n@%p bra S;\n" WAITS(
         "%rd2-4") "S:\n" SETS},
    {"each waits for the one behind",
     "st.global.u32 [%rd1], %r1;\nadd.u32 %r3, %r1, 1;\nsetp.eq.u32 %p, %r3, %r2;\n@%p bra "
     "S;\n" WAITS("%rd2+4") "S:\n" SETS},
    {"even ones wait for the one behind",
     "st.global.u32 [%rd1], %r1;\n" SETS
     "and.b32 %r3, %r1, 1;\nsetp.ne.u32 %p, %r3, 0;\n@%p bra S;\n" WAITS("%rd2+4") "S:\n"},
    {"the second waits for what none sets",
     "st.global.u32 [%rd1], %r1;\nsetp.ne.u32 %p, %r1, 1;\n@%p bra S;\n" WAITS("%rd3") "S:\n"},
    {"all wait for all", COUNTS},
    {"each reads where nobody knows",
     "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {%r1}];\nmov.b32 %r8, %f0;\n"
     "mul.wide.u32 %rd4, %r8, 4;\nadd.u64 %rd4, %rd0, %rd4;\nld.global.u32 %r9, [%rd4];\n"
     "st.global.u32 [%rd1], %r1;\n"},
    {"the last traps",
     "st.global.u32 [%rd1], %r1;\nadd.u32 %r3, %r1, 1;\nsetp.ne.u32 %p, %r3, %r2;\n@%p bra S;\n"
     "trap;\nS:\n"},
};

static const PtxLaunch launches[] = {
    {.grid = {3, 1, 1}},
    {.grid = {2, 2, 2}},
    {.grid = {4, 2, 1}, .cluster = {2, 1, 1}},
    {.grid = {2, 4, 2}, .cluster = {1, 2, 2}},
};

enum { BLOCKS_MAX = 16, THREADS = 4, WORDS = 2 * BLOCKS_MAX + 8 };

static const char *text_of(const char *body) {
  return arena_printf(
      arena,
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 o)\n{\n"
      ".reg .b32 %%r<16>;\n.reg .b64 %%rd<8>;\n.reg .pred %%p;\n.reg .f32 %%f<4>;\nld.param.u64 "
      "%%rd0, [o];\n"
      "mov.u32 %%r9, %%tid.x;\nsetp.ne.u32 %%p, %%r9, %d;\n@%%p bra END;\n"
      "mov.u32 %%r1, %%ctaid.z;\nmov.u32 %%r3, %%nctaid.y;\nmov.u32 %%r4, %%ctaid.y;\n"
      "mad.lo.u32 %%r1, %%r1, %%r3, %%r4;\nmov.u32 %%r4, %%nctaid.x;\nmov.u32 %%r5, %%ctaid.x;\n"
      "mad.lo.u32 %%r1, %%r1, %%r4, %%r5;\nmov.u32 %%r5, %%nctaid.z;\n"
      "mul.lo.u32 %%r2, %%r3, %%r4;\nmul.lo.u32 %%r2, %%r2, %%r5;\nmul.wide.u32 %%rd1, %%r1, 4;\n"
      "add.u64 %%rd1, %%rd0, %%rd1;\nadd.u64 %%rd2, %%rd1, %d;\nadd.u64 %%rd3, %%rd0, %d;\n"
      "%sEND: ret;\n}\n",
      THREADS - 1, 4 * (BLOCKS_MAX + 4), 4 * (WORDS - 1), body);
}

static void add_access(void *self, const PtxAccess *access) {
  const int64_t said[] = {access->pc,       access->rank,   access->mask, access->addr[THREADS - 1],
                          access->is_store, access->unknown};
  uint64_t *sum = self;
  *sum = hash_bytes(*sum, said, sizeof said);
}

static bool ends_later(void *self) {
  int *left = self;
  return (*left)-- <= 0;
}

typedef struct Run {
  PtxMachine *machine;
  uint64_t out, told;
} Run;

static Run *start(int k, int l, int64_t budget, bool cooperative) {
  Diags diags = diags_new(arena);
  Run *run = ARENA_NEW(arena, Run);
  PtxLaunch launch = launches[l];
  launch.block[0] = THREADS, launch.block[1] = launch.block[2] = 1;
  launch.budget = budget, launch.cooperative = cooperative;
  const char *text = text_of(kernels[k].body);
  const PtxModule *module = ptx_module_read(arena, text, strlen(text), "k.ptx", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  run->machine =
      ptx_machine_new(arena, module, ptx_module_kernel(module, "k", &diags), &launch, &diags);
  ck_assert_msg(run->machine != NULL, "%s", diags_text(arena, &diags));
  run->out = ptx_machine_buffer(run->machine, "out", 4 * WORDS, NULL, PTX_CONTENT_ZERO);
  ptx_machine_param(run->machine, 0, &run->out, sizeof run->out);
  run->told = HASH_START;
  ptx_machine_watch(run->machine, add_access, &run->told);
  return run;
}

static void tell(Str *out, const char *how, const Run *run, PtxOutcome outcome) {
  static const char *const outcomes[] = {"done", "stopped", "deadlock", "budget", "beyond"};
  const uint32_t *word = ptx_machine_bytes(run->machine, run->out, 4 * WORDS);
  str_printf(out, "    %s: %s, %lld lane instructions, told %08x, out", how, outcomes[outcome],
             (long long)ptx_machine_lane_instructions(run->machine), (unsigned)run->told);
  for (int i = 0; i < WORDS; i++)
    if (word[i] || i == WORDS - 1) str_printf(out, " %d:%x", i, word[i]);
  for (int i = 0; i < ptx_machine_findings(run->machine); i++) {
    const PtxFinding *f = ptx_machine_finding(run->machine, i);
    str_printf(out, "; %s at %d in block %d,%d,%d, thread %d, %lld times",
               ptx_finding_names[f->kind], f->pc, f->block[0], f->block[1], f->block[2], f->thread,
               (long long)f->count);
  }
  str_add(out, "\n");
}

static void tell_launch(Str *out, int k, int l, int64_t budget) {
  const int *grid = launches[l].grid;
  const int n = grid[0] * grid[1] * grid[2];
  str_printf(out, "  grid %d %d %d, cluster %d %d %d, budget %lld\n", grid[0], grid[1], grid[2],
             launches[l].cluster[0], launches[l].cluster[1], launches[l].cluster[2],
             (long long)budget);
  for (int calls = n / 2; calls <= n; calls += n - n / 2) {
    int left = calls;
    Run *run = start(k, l, budget, false);
    tell(out, arena_printf(arena, "one after the other, asked %d times", calls), run,
         ptx_machine_run_all(run->machine, ends_later, &left));
  }
  Run *all = start(k, l, budget, true);
  tell(out, "side by side", all, ptx_machine_run_grid(all->machine, NULL));
  for (int b = 0; b < n; b += 2) {
    const int block[] = {b % grid[0], b / grid[0] % grid[1], b / grid[0] / grid[1]};
    Run *run = start(k, l, budget, true);
    tell(out, arena_printf(arena, "side by side, watched %d", b), run,
         ptx_machine_run_grid(run->machine, block));
    run = start(k, l, budget, false);
    tell(out, arena_printf(arena, "waiting %d", b), run,
         ptx_machine_run_waiting(run->machine, block));
  }
  arena_reset(arena);
}

START_TEST(grids_that_wait_are_as_reviewed) {
  Arena *kept = arena_new("report");
  Str out = str_new(kept);
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    str_printf(&out, "%s\n", kernels[k].name);
    for (size_t l = 0; l < sizeof launches / sizeof *launches; l++) {
      tell_launch(&out, (int)k, (int)l, 30000);
      if (l % 2 == 0) tell_launch(&out, (int)k, (int)l, 500);
    }
  }
  golden_check("told/grids.txt", out.text);
  arena_free(kept);
}
END_TEST

Suite *suite_told_grids(void) {
  Suite *suite = suite_create("told_grids");
  TCase *tcase = tcase_create("grids");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, grids_that_wait_are_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}

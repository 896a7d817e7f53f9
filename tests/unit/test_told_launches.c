// Launches at the edges of what is allowed, and what threads are told of theirs:
// tests/golden/told/launches.txt has a line for each launch that is refused, and for each block of
// those that run the words that the hardware gives its thread 5.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "golden.h"
#include "ptx/run/machine.h"
#include "ptx/run/run.h"

Suite *suite_told_launches(void);

static Arena *arena;
static void setup(void) { arena = arena_new("launches"); }
static void teardown(void) { arena_free(arena); }

static const struct {
  const char *target, *head, *memory;
} kernels[] = {
    {"sm_90a", "", ""},
    {"sm_90a", ".reqntid 32, 2, 1", ""},
    {"sm_90a", ".maxntid 64, 2, 2", ".shared .align 16 .b8 s[49152];"},
    {"sm_90a", ".reqnctapercluster 2, 2, 1", ""},
    {"sm_80", "", ".shared .align 16 .b8 s[40000]; .local .align 16 .b8 l[262160];"},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static const char *const words[] = {"%tid.x",
                                    "%tid.y",
                                    "%tid.z",
                                    "%laneid",
                                    "%warpid",
                                    "%nwarpid",
                                    "%ctaid.x",
                                    "%ctaid.y",
                                    "%ctaid.z",
                                    "%nctaid.x",
                                    "%nctaid.y",
                                    "%nctaid.z",
                                    "%cluster_ctaid.x",
                                    "%cluster_ctaid.y",
                                    "%cluster_ctaid.z",
                                    "%cluster_nctaid.x",
                                    "%cluster_nctaid.y",
                                    "%cluster_nctaid.z",
                                    "%cluster_ctarank",
                                    "%cluster_nctarank",
                                    "%clusterid.x",
                                    "%clusterid.y",
                                    "%clusterid.z",
                                    "%nclusterid.x",
                                    "%nclusterid.y",
                                    "%nclusterid.z",
                                    "%is_explicit_cluster",
                                    "%dynamic_smem_size",
                                    "%total_smem_size",
                                    "%lanemask_lt",
                                    "%lanemask_ge",
                                    "%smid"};
enum { WORDS = sizeof words / sizeof *words, SINCE_90 = 12, UNTIL_90 = 27, THREAD = 5 };

// Each block's thread 5 writes its words behind those of the blocks before it.
static const char *text_of(int k) {
  Str out = str_new(arena);
  str_printf(&out,
             ".version 8.0\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 o)\n%s\n{\n"
             ".reg .b32 %%r<8>;\n.reg .b64 %%rd<4>;\n.reg .pred %%p;\n%s\n"
             "ld.param.u64 %%rd0, [o];\nmov.u32 %%r0, %%tid.x;\nsetp.ne.u32 %%p, %%r0, %d;\n"
             "@%%p bra END;\nmov.u32 %%r1, %%ctaid.z;\nmov.u32 %%r2, %%nctaid.y;\n"
             "mov.u32 %%r3, %%ctaid.y;\nmad.lo.u32 %%r1, %%r1, %%r2, %%r3;\n"
             "mov.u32 %%r2, %%nctaid.x;\nmov.u32 %%r3, %%ctaid.x;\n"
             "mad.lo.u32 %%r1, %%r1, %%r2, %%r3;\nmul.wide.u32 %%rd1, %%r1, %d;\n"
             "add.u64 %%rd0, %%rd0, %%rd1;\n",
             kernels[k].target, kernels[k].head, kernels[k].memory, THREAD, 4 * WORDS);
  for (int i = 0; i < WORDS; i++) {
    const bool is_new = i >= SINCE_90 && i < UNTIL_90 && strcmp(kernels[k].target, "sm_80") == 0;
    if (is_new) continue;
    if (strstr(words[i], "explicit"))
      str_printf(&out, "mov.pred %%p, %s;\nselp.u32 %%r4, 1, 0, %%p;\n", words[i]);
    else
      str_printf(&out, "mov.u32 %%r4, %s;\n", words[i]);
    str_printf(&out, "st.global.u32 [%%rd0+%d], %%r4;\n", 4 * i);
  }
  str_add(&out, "END: ret;\n}\n");
  return out.text;
}

static PtxMachine *launched(int k, const PtxLaunch *launch, Diags *diags) {
  const char *text = text_of(k);
  const PtxModule *module = ptx_module_read(arena, text, strlen(text), "k.ptx", diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, diags));
  return ptx_machine_new(arena, module, ptx_module_kernel(module, "k", diags), launch, diags);
}

static PtxLaunch plain(int k) {
  PtxLaunch launch = {.grid = {4, 4, 2}, .block = {32, 2, 1}, .budget = 1000000};
  if (k == KERNELS - 1) launch.block[1] = 1;
  return launch;
}

static void tell_change(Str *out, int k, const char *what, const PtxLaunch *launch) {
  Diags diags = diags_new(arena);
  if (!launched(k, launch, &diags)) str_printf(out, "  %s: %s", what, diags_text(arena, &diags));
  arena_reset(arena);
}

// One number of the launch changed at a time.
static void tell_refused(Str *out, int k) {
  static const int numbers[] = {-1, 0,  1,  2,   3,    8,    9,     16,
                                17, 64, 65, 512, 1024, 1025, 65535, 65536};
  static const int smem[] = {-1, 0, 1024, 183296, 192448, 193472, 232448, 232449};
  for (int d = 0; d < 3; d++)
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
      const int number = numbers[i];
      PtxLaunch launch = plain(k);
      launch.grid[d] = number;
      tell_change(out, k, arena_printf(arena, "grid %c %d", 'x' + d, number), &launch);
      launch = plain(k);
      launch.block[d] = number;
      tell_change(out, k, arena_printf(arena, "block %c %d", 'x' + d, number), &launch);
      launch = plain(k);
      launch.cluster[d] = number;
      if (number < 64)
        tell_change(out, k, arena_printf(arena, "cluster %c %d", 'x' + d, number), &launch);
    }
  for (size_t i = 0; i < sizeof smem / sizeof *smem; i++) {
    PtxLaunch launch = plain(k);
    launch.dynamic_smem = smem[i];
    tell_change(out, k, arena_printf(arena, "smem %d", smem[i]), &launch);
  }
}

static void tell_blocks(Str *out, int k, const PtxLaunch *launch) {
  Diags diags = diags_new(arena);
  PtxMachine *m = launched(k, launch, &diags);
  ck_assert_msg(m != NULL, "%s", diags_text(arena, &diags));
  const int n = launch->grid[0] * launch->grid[1] * launch->grid[2];
  const uint64_t to = ptx_machine_buffer(m, "out", 4 * WORDS * n, NULL, PTX_CONTENT_ZERO);
  ptx_machine_param(m, 0, &to, sizeof to);
  for (int z = 0; z < launch->grid[2]; z++)
    for (int y = 0; y < launch->grid[1]; y++)
      for (int x = 0; x < launch->grid[0]; x++)
        ck_assert_int_eq(ptx_machine_run(m, x, y, z), PTX_DONE);
  const uint32_t *cell = ptx_machine_bytes(m, to, 4 * WORDS * n);
  for (int block = 0; block < n; block++) {
    str_printf(out, "  block %d:", block);
    for (int i = 0; i < WORDS; i++) str_printf(out, " %x", cell[WORDS * block + i]);
    str_add(out, "\n");
  }
  arena_reset(arena);
}

START_TEST(launches_are_as_reviewed) {
  Arena *kept = arena_new("report");
  Str out = str_new(kept);
  for (int k = 0; k < KERNELS; k++) {
    str_printf(&out, "kernel %d for %s: %s %s\n", k, kernels[k].target, kernels[k].head,
               kernels[k].memory);
    tell_refused(&out, k);
    PtxLaunch launch = plain(k);
    tell_blocks(&out, k, &launch);
    launch.cluster[0] = 2, launch.cluster[1] = 2, launch.cluster[2] = k == 0 ? 2 : 1;
    launch.dynamic_smem = 1000;
    if (k < KERNELS - 1) tell_blocks(&out, k, &launch);
  }
  golden_check("told/launches.txt", out.text);
  arena_free(kept);
}
END_TEST

Suite *suite_told_launches(void) {
  Suite *suite = suite_create("told_launches");
  TCase *tcase = tcase_create("launches");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, launches_are_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}

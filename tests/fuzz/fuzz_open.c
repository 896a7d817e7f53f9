// What people type to gemmview open, and the texts that it reads beside PTX: launches with
// clusters, blocks, arguments and tensor maps, of which a kernel then copies a box, rows of arrays,
// limits' places, declarations in sources, layouts of recorded accesses, and the document that the
// view reads. The first byte chooses.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "banks/solver/recorded_slab.h"
#include "cli/open/open_declared.h"
#include "cli/open/open_input.h"
#include "tui/views/own/opened.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_launch(Arena *arena, const char *text) {
  Diags diags = diags_new(arena);
  PtxLaunch launch = {0};
  OpenBlocks blocks;
  if (open_read_launch(text, &launch, &diags))
    open_read_blocks(text, &launch, &blocks, &diags);
  else
    assert(diags.count > 0);
}

// A box comes by the map that was typed, for each block of the cluster that was typed.
static const char boxes[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u32 x, .param .f32 y)\n{\n"
    ".reg .b32 %r<4>;\n.reg .f32 %f0;\n.reg .b64 %rd0;\n.reg .b16 %h0;\n.reg .pred %p<2>;\n"
    ".shared .align 1024 .b8 s[4096];\n.shared .align 8 .b64 full;\n"
    "mov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra END;\n"
    "ld.param.u32 %r1, [x];\nld.param.f32 %f0, [y];\ncvt.rzi.s32.f32 %r2, %f0;\n"
    "mov.b64 %rd0, map;\nmbarrier.init.shared.b64 [full], 1;\nmov.u32 %r3, %cluster_nctarank;\n"
    "cvt.u16.u32 %h0, %r3;\n"
    "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    ".multicast::cluster [s], [%rd0, {%r1, %r2}], [full], %h0;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    " [s], [%rd0, {%r1, %r2}], [full];\nEND: ret;\n}\n";

enum { TENSOR_MAX = 1 << 20 };

// "grid=2,block=32,cluster=2" and the three arguments, with blanks between.
static void fuzz_arguments(Arena *arena, char *text) {
  Diags diags = diags_new(arena);
  const char *words[4] = {"", "", "", ""};
  int n = 0;
  for (char *word = strtok(text, " "); word && n < 4; word = strtok(NULL, " ")) words[n++] = word;
  const PtxModule *module = ptx_module_read(arena, boxes, sizeof boxes - 1, "box.ptx", &diags);
  const PtxFunction *kernel = ptx_module_kernel(module, NULL, &diags);
  PtxLaunch launch = {.budget = 100000};
  TmaBox box;
  if (!open_read_launch(words[0], &launch, &diags)) return;
  if (strncmp(words[1], "tma:", 4) == 0 &&
      (!tma_box_parse(arena, words[1] + 4, &box, &diags) || !tma_box_check(&box, &diags) ||
       box.shape[box.rank - 1] * (box.rank > 1 ? box.stride[box.rank - 1] : box.elem_bytes) >
           TENSOR_MAX))
    return;
  for (int i = 1; i < 4; i++)
    if (strncmp(words[i], "mem:", 4) == 0 || strncmp(words[i], "file:", 5) == 0) return;
  PtxMachine *machine = ptx_machine_new(arena, module, kernel, &launch, &diags);
  assert((machine == NULL) == (diags.count > 0));
  if (!machine || !open_give_args(arena, machine, module, kernel, 3, words + 1, &diags)) return;
  ptx_machine_run_cluster(machine, 0, 0, 0);
}

static void fuzz_rows(Arena *arena, const char *text) {
  Diags diags = diags_new(arena);
  PtxPitch pitch;
  int n = 0;
  assert(open_read_slab(text, &pitch, arena, &diags) == (diags.count == 0));
  const PtxPitch *declared = open_declared(arena, text, &n);
  for (int i = 0; i < n; i++) assert(declared[i].elem_bytes > 0 && declared[i].array_bytes > 0);
}

// One load of 4 bytes down a column of 32 rows of 128 bytes.
static void fuzz_layout(Arena *arena, const char *text) {
  Diags diags = diags_new(arena);
  RecordedPattern pattern = {.times = 3};
  for (int lane = 0; lane < BANK_LANES; lane++) pattern.addr[lane] = lane * 128;
  const RecordedArray array = {.bytes = 4096, .row_bytes = 128, .elem_bytes = 4, .has_rows = true};
  const RecordedSite site = {
      .op = banks_op_find("lds32"), .bytes = 4, .patterns = &pattern, .n_patterns = 1};
  const RecordedCost cost = recorded_cost(arena, &array, &site, 1, text, &diags);
  assert(cost.legal == (diags.count == 0));
  assert(!cost.legal || (cost.wavefronts >= 3 && cost.wavefronts <= 96));
  if (cost.legal) assert(recorded_write(arena, &array, "a", text));
}

static void fuzz_document(Arena *arena, const char *text, size_t n) {
  Diags diags = diags_new(arena);
  const Opened *opened = opened_read(arena, text, n, &diags);
  assert((opened == NULL) == (diags.count > 0));
  for (int i = 0; opened && i < opened->n_sources; i++) {
    assert(opened_lines(arena, opened, i, false, NULL));
    assert(opened_lines(arena, opened, i, true, NULL));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  Arena *arena = arena_new("fuzz");
  char *text = arena_strndup(arena, (const char *)data + 1, size - 1);
  const int choice = data[0] % 5;
  if (choice == 0) fuzz_launch(arena, text);
  if (choice == 1) fuzz_rows(arena, text);
  if (choice == 2) fuzz_layout(arena, text);
  if (choice == 3) fuzz_document(arena, text, strlen(text));
  if (choice == 4) fuzz_arguments(arena, text);
  arena_free(arena);
  return 0;
}

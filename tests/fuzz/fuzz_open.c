// What people type to gemmview open, and the texts that it reads beside PTX: launches, blocks,
// rows of arrays, limits' places, declarations in sources, layouts of recorded accesses, and the
// document that the view reads. The first byte chooses.
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
  const char *text = arena_strndup(arena, (const char *)data + 1, size - 1);
  const int choice = data[0] % 4;
  if (choice == 0) fuzz_launch(arena, text);
  if (choice == 1) fuzz_rows(arena, text);
  if (choice == 2) fuzz_layout(arena, text);
  if (choice == 3) fuzz_document(arena, text, strlen(text));
  arena_free(arena);
  return 0;
}

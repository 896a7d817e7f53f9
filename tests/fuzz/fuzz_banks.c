// Address lists, expressions and batch lines from anywhere: no crash, and what is accepted is
// legal.
//
// The first byte chooses the operation and whether the rest is a list or a batch line.
#include <assert.h>
#include <string.h>

#include "banks/engine/bank_batch.h"
#include "banks/engine/bank_input.h"
#include "banks/engine/bank_text.h"
#include "banks/solver/own_access.h"
#include "banks/solver/solver_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_access(Arena *arena, const BankOp *op, const int64_t addr[BANK_LANES]) {
  BankMap *map = ARENA_NEW(arena, BankMap);
  banks_map(map, op, addr);
  assert(map->misaligned == 0);
  assert(map->n_rows == map->count.wavefronts && map->n_rows <= BANK_WAVEFRONTS_MAX);
  assert(map->count.conflicts >= 0 && map->count.ways <= map->count.wavefronts);
  for (int lane = 0; lane < BANK_LANES; lane++)
    assert(addr[lane] >= -1 && addr[lane] + op->bytes <= BANK_SMEM_BYTES_MAX);
  Str out = str_new(arena);
  bank_text_card(&out, map, true);
  bank_text_numbers(&out, map);
  bank_text_worst(&out, map);
}

static void fuzz_addresses(Arena *arena, const BankOp *op, const char *text) {
  Diags diags = diags_new(arena);
  int64_t addr[BANK_LANES];
  bool ok = bank_input_addresses(op, text, addr, &diags);
  assert(ok == (diags.count == 0));
  if (ok) check_access(arena, op, addr);
}

static void fuzz_own(Arena *arena, const BankOp *op, const char *text) {
  Diags diags = diags_new(arena);
  OwnAccess own, before = {.input = {.op = op}};
  Arena *scratch = arena_new("scratch");
  bool ok = own_access_read(arena, scratch, text, &before, &own, &diags);
  arena_free(scratch);
  assert(ok == (diags.count == 0));
  if (!ok) return;
  check_access(arena, own.input.op, own.addr);
  for (int i = 0; i < own.n_layouts; i++) check_access(arena, own.input.op, own.layout[i].addr);
}

static void fuzz_line(Arena *arena, const char *text, size_t n) {
  Diags diags = diags_new(arena);
  BankLine line;
  if (!bank_batch_read(arena, text, n, "json", &line, &diags)) {
    assert(diags.count > 0);
    return;
  }
  check_access(arena, line.op, line.addr);
  Str out = str_new(arena);
  bank_batch_write(&out, &line, banks_count(line.op, line.addr));
}

static void fuzz_layout(Arena *arena, const char *text) {
  static const LayoutSlab slabs[] = {{16, 64, 4}, {32, 128, 2}, {12, 48, 4}, {3, 5, 1}};
  for (size_t i = 0; i < sizeof slabs / sizeof slabs[0]; i++) {
    Diags diags = diags_new(arena);
    const Layout *layout = layout_parse(arena, &slabs[i], text, &diags);
    assert((layout == NULL) == (diags.count > 0));
    if (!layout) continue;
    for (int byte = 0; byte < slabs[i].rows * slabs[i].row_bytes; byte++)
      assert(layout->offset_of[byte] >= 0 && layout->offset_of[byte] < layout->storage_bytes);
    LayoutFacts facts = layout_examine(arena, layout);
    Str out = str_new(arena);
    if (facts.linear) layout_print_bits(&out, &facts);
    layout_print_groups(&out, layout, 4);
  }
}

static void fuzz_problem(Arena *arena, const char *text, size_t n) {
  Diags diags = diags_new(arena);
  SolverProblem problem;
  if (!solver_problem_read(arena, text, n, "json", &problem, &diags)) {
    assert(diags.count > 0);
    return;
  }
  int repeats = 0;
  for (int i = 0; i < problem.n_sites; i++) repeats += problem.sites[i].repeat;
  if (repeats > 8 || problem.slab.rows * problem.slab.row_bytes > 4096) return;
  Arena *scratch = arena_new("scratch");
  SolverResult result = solver_solve(arena, scratch, &problem);
  assert(!result.found || result.best.total >= result.bound);
  arena_free(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  Arena *arena = arena_new("fuzz");
  const char *text = arena_strndup(arena, (const char *)data + 1, size - 1);
  switch (data[0] >> 6) {
    case 0:
      fuzz_addresses(arena, banks_op_at(data[0] % banks_op_count()), text);
      fuzz_own(arena, banks_op_at(data[0] % banks_op_count()), text);
      break;
    case 1:
      fuzz_layout(arena, text);
      break;
    case 2:
      fuzz_line(arena, text, size - 1);
      break;
    default:
      fuzz_problem(arena, text, size - 1);
  }
  arena_free(arena);
  return 0;
}

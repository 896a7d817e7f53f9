// Address lists, expressions and batch lines from anywhere: no crash, and what is accepted is
// legal.
//
// The first byte chooses the operation and whether the rest is a list or a batch line.
#include <assert.h>
#include <string.h>

#include "banks/bank_batch.h"
#include "banks/bank_input.h"
#include "banks/bank_text.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  Arena *arena = arena_new("fuzz");
  Diags diags = diags_new(arena);
  const char *text = arena_strndup(arena, (const char *)data + 1, size - 1);
  if (data[0] & 0x80) {
    BankLine line;
    if (bank_batch_read(arena, text, size - 1, "json", &line, &diags)) {
      check_access(arena, line.op, line.addr);
      Str out = str_new(arena);
      bank_batch_write(&out, &line, banks_count(line.op, line.addr));
    } else {
      assert(diags.count > 0);
    }
  } else {
    const BankOp *op = banks_op_at(data[0] % banks_op_count());
    int64_t addr[BANK_LANES];
    bool ok = bank_input_addresses(op, text, addr, &diags);
    assert(ok == (diags.count == 0));
    if (ok) check_access(arena, op, addr);
  }
  diags_text(arena, &diags);
  arena_free(arena);
  return 0;
}

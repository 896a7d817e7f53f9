// Addresses of lanes → wavefronts, lines, bytes from L2, each the mean over the executions that
// were looked at.
#include "kernels/toolchain/machine/access_costs.h"

#include <stdio.h>

#include "banks/engine/bank.h"
#include "banks/engine/sector.h"
#include "base/str.h"
#include "sass/sass_access.h"

// PAIR: L2 fetches two sectors from DRAM where one is asked for.
enum { SEEN_PIECES = 1 << 18, LINE = 128, SECTOR = 32, PAIR = 64 };

static bool is_fetch(const SassInst *inst) {
  return inst->opcode->kind == SASS_KIND_LOAD || inst->opcode->kind == SASS_KIND_COPY;
}

bool access_is_box(const SassInst *inst) {
  return inst->opcode->kind == SASS_KIND_COPY && inst->opcode->pipe == SASS_PIPE_CONTROL;
}

static const BankOp *op_of(const SassInst *inst) {
  char name[32] = "";
  const char *opcode = inst->opcode->name;
  if (str_equal(opcode, "LDSM") || str_equal(opcode, "STSM"))
    snprintf(name, sizeof name, "%s_x%d", str_equal(opcode, "LDSM") ? "ldsm" : "stsm",
             inst->bytes / 4);
  else
    snprintf(name, sizeof name, "%s%d", inst->opcode->kind == SASS_KIND_STORE ? "sts" : "lds",
             inst->bytes * 8);
  return banks_op_find(name);
}

// The distinct pieces of `size` bytes that the lanes touch.
static int list_pieces(const int64_t address[SASS_LANES], int bytes, int size,
                       int64_t seen[SASS_LANES * 2]) {
  int n = 0;
  for (int i = 0; i < SASS_LANES; i++) {
    if (address[i] < 0) continue;
    for (int64_t piece = address[i] / size; piece <= (address[i] + bytes - 1) / size; piece++) {
      bool known = false;
      for (int k = n - 1; k >= 0 && !known; k--) known = seen[k] == piece;
      if (!known && n < SASS_LANES * 2) seen[n++] = piece;
    }
  }
  return n;
}

// Whether the piece is asked for the first time: by the block, or by this warp.
static bool is_new(AccessSeen *seen, int64_t piece, int warp) {
  const uint64_t key = (uint64_t)piece * 64 + (uint64_t)(warp + 1);
  const uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15);
  for (uint64_t i = hash >> 40;; i++) {
    uint64_t *cell = &seen->key[i % SEEN_PIECES];
    if (*cell == key) return false;
    if (*cell) continue;
    if (++seen->n < SEEN_PIECES / 2) *cell = key;
    return true;
  }
}

// Bytes that come from L2: the sectors that the block has not asked L1 for. A warp that has not
// asked for one of them waits, too, until they have come for the one that asked first.
static double far_bytes_of(AccessCosts *costs, int warp, const SassInst *inst,
                           const int64_t address[SASS_LANES], bool *waits) {
  enum { BLOCK = -1 };
  int64_t seen[SASS_LANES * 2];
  const bool by_l1 = inst->opcode->kind == SASS_KIND_LOAD ||
                     (inst->opcode->kind == SASS_KIND_COPY && inst->bytes < 16);
  const int n = list_pieces(address, inst->bytes, SECTOR, seen);
  int far = 0;
  *waits = !by_l1;
  for (int i = 0; i < n; i++) {
    far += !by_l1 || is_new(&costs->l1, seen[i], BLOCK);
    if (by_l1 && is_new(&costs->l1, seen[i], warp)) *waits = true;
  }
  return SECTOR * far;
}

// Whether the warp asks L2 for what it has not fetched yet. Worked example: a slab of 8 floats of a
// row is a sector, so every other slab is there with the one before it.
static bool is_new_to(AccessCosts *costs, int warp, const SassInst *inst,
                      const int64_t address[SASS_LANES]) {
  int64_t seen[SASS_LANES * 2];
  const int n = list_pieces(address, inst->bytes, PAIR, seen);
  bool cold = false;
  for (int i = 0; i < n; i++) cold |= is_new(&costs->l2, seen[i], warp);
  return cold;
}

// Copies of 4 and 8 bytes go through the shared pipe lane by lane; others are written past it.
static double wavefronts_of_copy(const SassInst *inst, const int64_t address[SASS_LANES],
                                 const int64_t *shared) {
  if (inst->bytes >= 16) return 0;
  if (!shared) return inst->bytes / 4.0;
  const BankOp *op = banks_op_find(inst->bytes == 8 ? "cpasync8" : "cpasync4");
  return banks_count_copy(op, shared, address).wavefronts;
}

// Clocks of L1: of a load those that were measured, by banks as of shared memory and four lines a
// clock; of others one for each line.
static double l1_clocks(const SassInst *inst, const int64_t address[SASS_LANES]) {
  int64_t seen[SASS_LANES * 2];
  const BankOp *op = inst->opcode->kind == SASS_KIND_LOAD ? sectors_load(inst->bytes) : NULL;
  if (op) return sectors_count(op, address).wavefronts;
  return list_pieces(address, inst->bytes, LINE, seen);
}

void access_costs_note(void *context, int warp, int at, const int64_t address[SASS_LANES],
                       const int64_t *shared) {
  AccessCosts *costs = context;
  const SassInst *inst = &costs->code->inst[at];
  if (sass_is_local(inst)) return;
  costs->n[at]++;
  if (inst->opcode->pipe == SASS_PIPE_FAR) {
    costs->lines[at] += l1_clocks(inst, address);
    bool waits;
    const double bytes = far_bytes_of(costs, warp, inst, address, &waits);
    costs->far_bytes[at] += bytes;
    costs->far_share[at] += waits;
    costs->first_share[at] += bytes > 0;
    if (is_fetch(inst)) costs->new_share[at] += is_new_to(costs, warp, inst, address);
    if (inst->opcode->kind == SASS_KIND_COPY)
      costs->wavefronts[at] += wavefronts_of_copy(inst, address, shared);
    return;
  }
  const BankOp *op = op_of(inst);
  if (op) costs->wavefronts[at] += banks_count(op, address).wavefronts;
}

// Spilled values are written through to L2, and found in L1 as far as it has room.
static bool is_spilled_load(const SassInst *inst) { return str_equal(inst->opcode->name, "LDL"); }

// Bytes that L2 writes for each byte that is spilled. (Of three kernels of h200_cycles.jsonl,
// stores of sums set aside, the profiler counts 1.50, 1.50 and 1.61.)
static double written_for(const SassInst *inst) {
  return sass_is_local(inst) && !is_spilled_load(inst) ? 1.5 : 1;
}

// Accesses without a known address have the wavefronts, or lines, that their bytes need.
void access_costs_finish(AccessCosts *costs) {
  for (int i = 0; i < costs->code->n; i++) {
    const SassInst *inst = &costs->code->inst[i];
    const double least = inst->bytes > 4 ? inst->bytes / 4.0 : 1;
    if (costs->n[i]) {
      costs->wavefronts[i] /= costs->n[i];
      costs->lines[i] /= costs->n[i];
      costs->far_bytes[i] /= costs->n[i];
      if (costs->far_share[i] > 0) costs->first_share[i] /= costs->far_share[i];
      costs->far_share[i] /= costs->n[i];
      costs->new_share[i] /= costs->n[i];
    }
    if (inst->opcode->pipe == SASS_PIPE_SHARED && !(costs->wavefronts[i] > 0))
      costs->wavefronts[i] = least;
    if (inst->opcode->pipe != SASS_PIPE_FAR || costs->n[i]) continue;
    costs->lines[i] = least;
    costs->first_share[i] = 1;
    costs->far_share[i] = is_spilled_load(inst) ? costs->local_share : 1;
    costs->far_bytes[i] = least * LINE * costs->far_share[i] * written_for(inst);
  }
}

AccessCosts access_costs_new(Arena *arena, const SassCode *code) {
  return (AccessCosts){.code = code,
                       .wavefronts = ARENA_ARRAY(arena, double, code->n + 1),
                       .lines = ARENA_ARRAY(arena, double, code->n + 1),
                       .far_bytes = ARENA_ARRAY(arena, double, code->n + 1),
                       .far_share = ARENA_ARRAY(arena, double, code->n + 1),
                       .first_share = ARENA_ARRAY(arena, double, code->n + 1),
                       .new_share = ARENA_ARRAY(arena, double, code->n + 1),
                       .n = ARENA_ARRAY(arena, int, code->n + 1),
                       .l1 = {.key = ARENA_ARRAY(arena, uint64_t, SEEN_PIECES)},
                       .l2 = {.key = ARENA_ARRAY(arena, uint64_t, SEEN_PIECES)}};
}

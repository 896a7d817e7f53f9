// Counted executions → distinct address patterns by instruction, in a hash table each.
//
// Requires that nothing else watches the tally. The record has limits: PATTERNS_MAX patterns and
// STEPS_MAX steps for an instruction, TOTAL_MAX of either for all. left_out counts the executions
// beyond them, so that a sum over patterns says which part it covers.
#include "ptx/record/record.h"

#include <stdio.h>
#include <string.h>

#include "banks/engine/sector.h"
#include "base/hash.h"
#include "base/whole.h"
#include "ptx/record/record_inside.h"
#include "ptx/run/run.h"

enum { PATTERNS_MAX = 1024, STEPS_MAX = 1024, TOTAL_MAX = 100000, SLOTS = 2048 };

struct Slots {
  RecordedPattern *pattern[SLOTS];
};

static PtxSite *begin_site(PtxRecord *r, int pc) {
  PtxSite *site = ARENA_NEW(r->arena, PtxSite);
  *site = (PtxSite){.pc = pc, .array = -1};
  r->site[pc] = site;
  return site;
}

// Where copies read from matters up to the line that they share.
static void take_source(const PtxAccess *access, int64_t out[BANK_LANES]) {
  int64_t least = INT64_MAX;
  FOR_LANES(access->mask) least = min64(least, access->global[l]);
  for (int lane = 0; lane < BANK_LANES; lane++)
    out[lane] = access->mask >> lane & 1
                    ? access->global[lane] - least / BANK_LINE_BYTES * BANK_LINE_BYTES
                    : 0;
}

static RecordedPattern *new_pattern(PtxRecord *r, PtxSite *site, RecordedPattern **slot,
                                    const RecordedPattern *like) {
  RecordedSite *recorded = &site->recorded;
  if (recorded->n_patterns == PATTERNS_MAX || r->n_patterns == TOTAL_MAX) return NULL;
  RecordedPattern *made = ARENA_NEW(r->arena, RecordedPattern);
  *made = *like;
  *slot = made;
  if (r->last[site->pc])
    r->last[site->pc]->next = made;
  else
    recorded->patterns = made;
  r->last[site->pc] = made;
  recorded->n_patterns++;
  r->n_patterns++;
  return made;
}

static void keep_pattern(PtxRecord *r, PtxSite *site, const PtxCounted *counted) {
  RecordedPattern key = {0};
  memcpy(key.addr, counted->addr, sizeof key.addr);
  if (counted->op && counted->op->kind == BANK_CPASYNC) take_source(counted->access, key.global);
  if (!r->slots[site->pc]) r->slots[site->pc] = ARENA_NEW(r->arena, struct Slots);
  const size_t same = sizeof key.addr + sizeof key.global;
  size_t at = hash_bytes(HASH_START, key.addr, same) % SLOTS;
  RecordedPattern **slot = r->slots[site->pc]->pattern;
  while (slot[at] && memcmp(slot[at]->addr, key.addr, same) != 0) at = (at + 1) % SLOTS;
  RecordedPattern *found = slot[at] ? slot[at] : new_pattern(r, site, &slot[at], &key);
  if (found)
    found->times++;
  else
    site->recorded.left_out++;
}

static void keep_step(PtxRecord *r, PtxSite *site, const PtxCounted *counted) {
  const int warp = counted->access->warp;
  int64_t *turns = r->turns[site->pc];
  if (!turns) turns = r->turns[site->pc] = ARENA_ARRAY(r->arena, int64_t, PTX_WARPS_MAX);
  const int64_t turn = turns[warp]++;
  if (r->rank < 0) r->rank = counted->access->rank;
  if (r->n_blocks > 1 || r->rank != counted->access->rank) return;
  if (r->n_steps_of[site->pc] == STEPS_MAX || r->n_steps == TOTAL_MAX) {
    site->steps_cut = true;
    return;
  }
  PtxStep *step = ARENA_NEW(r->arena, PtxStep);
  step->warp = warp;
  step->turn = turn;
  memcpy(step->addr, counted->addr, sizeof step->addr);
  if (r->last_step[site->pc])
    r->last_step[site->pc]->next = step;
  else
    site->steps = step;
  r->last_step[site->pc] = step;
  r->n_steps_of[site->pc]++;
  r->n_steps++;
}

static const BankOp *global_op(const PtxAccess *access) {
  const char *const kind = access->inst->run == run_cp_async ? "ldgsts"
                           : access->inst->run == run_atom || access->inst->run == run_red ? "red"
                           : access->is_store                                              ? "stg"
                                                                                           : "ldg";
  char name[16];
  snprintf(name, sizeof name, "%s%d", kind, access->bytes * 8);
  return sectors_op_find(name);
}

// The card of an access to global memory shows lines from the first that it touches on.
static void keep_worst(PtxSite *site, const PtxAccess *access) {
  int64_t lines[BANK_LANES], least = INT64_MAX;
  FOR_LANES(access->mask) least = min64(least, access->addr[l]);
  least = least / BANK_LINE_BYTES * BANK_LINE_BYTES;
  for (int lane = 0; lane < BANK_LANES; lane++)
    lines[lane] = access->addr[lane] < 0 ? -1 : access->addr[lane] - least;
  if (!site->global_op) return;
  const int sectors = sectors_count(site->global_op, lines).sectors;
  if (sectors <= site->worst_sectors) return;
  site->worst_sectors = sectors;
  memcpy(site->worst, lines, sizeof lines);
}

static void keep(void *self, const PtxCounted *counted) {
  PtxRecord *r = self;
  const PtxAccess *access = counted->access;
  PtxSite *site = r->site[access->pc] ? r->site[access->pc] : begin_site(r, access->pc);
  site->is_store = access->is_store;
  if (access->space == PTX_SPACE_GLOBAL) {
    if (site->space != PTX_SPACE_SHARED) {
      site->space = PTX_SPACE_GLOBAL;
      site->bytes = counted->bytes;
      keep_step(r, site, counted);
    }
    site->global_op = global_op(access);
    keep_worst(site, access);
    return;
  }
  if (site->space != PTX_SPACE_SHARED) {
    site->space = PTX_SPACE_SHARED;
    site->steps = NULL;  // of the global side
    r->last_step[site->pc] = NULL;
    r->turns[site->pc] = NULL;
  }
  site->bytes = site->recorded.bytes = counted->op ? counted->op->bytes : counted->bytes;
  site->recorded.op = counted->op;
  site->recorded.atomic = counted->atomic;
  keep_pattern(r, site, counted);
  keep_step(r, site, counted);
}

PtxRecord *ptx_record_new(Arena *arena, const PtxModule *module, const PtxFunction *kernel,
                          PtxTally *tally, const PtxLaunch *launch) {
  const int n = module->n_code + 1;
  PtxRecord *r = ARENA_NEW(arena, PtxRecord);
  *r = (PtxRecord){
      .arena = arena, .module = module, .kernel = kernel, .launch = *launch, .rank = -1};
  r->site = ARENA_ARRAY(arena, PtxSite *, n);
  r->slots = ARENA_ARRAY(arena, struct Slots *, n);
  r->last = ARENA_ARRAY(arena, RecordedPattern *, n);
  r->last_step = ARENA_ARRAY(arena, PtxStep *, n);
  r->n_steps_of = ARENA_ARRAY(arena, int, n);
  r->turns = ARENA_ARRAY(arena, int64_t *, n);
  ptx_tally_watch(tally, keep, r);
  return r;
}

void ptx_record_block(PtxRecord *record) { record->n_blocks++; }
const PtxSite *ptx_record_site(const PtxRecord *record, int pc) { return record->site[pc]; }

// Counting. Rules beyond the bank engine's:
//
// Counts match the profiler's per-instruction counters (BankCount.profiled): people compare them
// with its source page.
#include "ptx/tally/tally.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/run/run.h"

// The last count of an instruction. The next access comes to the same
// where its addresses lie as far from each other and from the lines of 128 bytes.
typedef struct Counted {
  const BankOp *op;  // NULL: none was counted
  int64_t to[BANK_LANES], from[BANK_LANES];
  BankCount count;
} Counted;

struct PtxTally {
  const PtxModule *module;
  const PtxFunction *kernel;
  Counted **last;       // by instruction of the module; NULL: it goes to no shared memory
  PtxSiteCount *sites;  // by instruction of the module
  PtxWide *wide;        // by instruction of the module
  uint8_t *groups;      // PtxGrouping by instruction
  int *charge;          // loc by instruction
  const PtxShare *shares;
  PtxCountedSink *sink;
  void *sink_self;
  bool innermost;  // lines of headers are lines, too
};

static const BankOp *op_of(const PtxAccess *access, int bytes) {
  static const char *const loads[] = {"lds8", "lds16", "lds32", "lds64", "lds128"},
                           *const stores[] = {"sts8", "sts16", "sts32", "sts64", "sts128"},
                           *const copies[] = {"cpasync4", "cpasync8", "cpasync16", "cpasync16ca"},
                           *const rows[] = {"ldsm_x1",  "ldsm_x2",  "ldsm_x4",
                                            "ldsm_x1t", "ldsm_x2t", "ldsm_x4t"},
                           *const put_rows[] = {"stsm_x1",  "stsm_x2",  "stsm_x4",
                                                "stsm_x1t", "stsm_x2t", "stsm_x4t"};
  const PtxInst *i = access->inst;
  const int size = __builtin_ctz((unsigned)bytes);
  const int matrices = (ptx_has(i, PTX_MOD_x4)   ? 2
                        : ptx_has(i, PTX_MOD_x2) ? 1
                                                 : 0) +
                       (ptx_has(i, PTX_MOD_trans) ? 3 : 0);
  if (i->run == run_ldmatrix) return banks_op_find(rows[matrices]);
  if (i->run == run_stmatrix) return banks_op_find(put_rows[matrices]);
  if (i->run == run_cp_async) {
    const bool through_l1 = size == 4 && ptx_has(i, PTX_MOD_ca);
    return size < 2 || size > 4 ? NULL : banks_op_find(copies[size - 2 + through_l1]);
  }
  if (size > 4) return NULL;
  return banks_op_find(access->is_store ? stores[size] : loads[size]);
}

// ---- atomics ------------------------------------------------------------------------------------

static bool increments(const PtxModule *module, const PtxInst *i) {
  const PtxGroup *value = &i->groups[i->run == run_red ? 1 : 2];
  const int constant = ~module->args[value->at] - PTX_SPECIALS;
  return i->form.logic == PTX_MOD_add && ptx_types[i->form.types[0]].bits == 32 &&
         ptx_types[i->form.types[0]].class != 'F' && constant >= 0 &&
         module->constants[constant] == 1;
}

static BankAtomic atomic_of(const PtxModule *module, const PtxAccess *access) {
  const PtxInst *i = access->inst;
  if (access->swaps) return BANK_ATOMIC_SWAP;
  if (i->run != run_atom && i->run != run_red) return BANK_NO_ATOMIC;
  if (i->form.logic == PTX_MOD_cas) return BANK_ATOMIC_SWAP;
  return increments(module, i) ? BANK_ATOMIC_INCREMENT : BANK_ATOMIC;
}

// Shared memory adds whole numbers of 32 bits, and exchanges and compares 32 and 64; of the rest
// ptxas makes a loop of LDS and ATOMS.CAST.SPIN, which goes round as often as another warp was
// faster. Counted on an H200 (driver 580.159.04, 2026-11-23) for 24 warps: 72 rounds of f32, 96 of
// u64.
static bool is_native(const PtxInst *i) {
  const PtxTypeRow *type = &ptx_types[i->form.types[0]];
  const bool swaps = i->form.logic == PTX_MOD_cas || i->form.logic == PTX_MOD_exch;
  return swaps ? type->bits >= 32 : type->bits == 32 && type->class != 'F' && type->class != 'X';
}

// ---- sites --------------------------------------------------------------------------------------

static void add(PtxSiteCount *site, const BankCount *count, const int64_t *addr) {
  site->countable &= count->profiled >= 0;
  if (count->profiled < 0) return;
  site->wavefronts += count->profiled;
  site->wavefronts_most += count->profiled_most;
  site->ideal += count->profiled_ideal;
  if (count->profiled <= site->worst) return;
  site->worst = count->profiled;
  memcpy(site->worst_addr, addr, sizeof site->worst_addr);
}

static BankCount count_of(const PtxAccess *access, const BankOp *op, BankAtomic atomic,
                          const int64_t addr[BANK_LANES]) {
  // Another block's memory is another SM's banks, by way of the network between them.
  if (atomic && (access->swaps || is_native(access->inst)) && !access->remote)
    return banks_count_atomic(atomic, addr);
  if (op && op->kind == BANK_CPASYNC) return banks_count_copy(op, addr, access->global);
  if (op) return banks_count(op, addr);
  return (BankCount){.profiled = -1, .profiled_most = -1};
}

// Addresses of active lanes, from the line of the first of them on; of other lanes a number that
// none has.
static void from_first_line(const int64_t *at, const int64_t addr[BANK_LANES],
                            int64_t out[BANK_LANES]) {
  int64_t line = -1;
  for (int lane = 0; lane < BANK_LANES; lane++) {
    const bool active = addr[lane] >= 0;
    if (active && line < 0) line = at[lane] / BANK_LINE_BYTES * BANK_LINE_BYTES;
    out[lane] = active ? at[lane] - line : INT64_MIN;
  }
}

static BankCount count_again(const PtxAccess *access, Counted *last, const BankOp *op,
                             const int64_t addr[BANK_LANES]) {
  const bool copies = op->kind == BANK_CPASYNC;
  int64_t to[BANK_LANES], from[BANK_LANES];
  from_first_line(addr, addr, to);
  if (copies) from_first_line(access->global, addr, from);
  if (last->op == op && memcmp(last->to, to, sizeof to) == 0 &&
      (!copies || memcmp(last->from, from, sizeof from) == 0))
    return last->count;
  last->op = op;
  memcpy(last->to, to, sizeof to);
  if (copies) memcpy(last->from, from, sizeof from);
  last->count = count_of(access, op, BANK_NO_ATOMIC, addr);
  return last->count;
}

static void count_once(PtxTally *tally, const PtxAccess *access, PtxSiteCount *site, int bytes,
                       const int64_t addr[BANK_LANES]) {
  const BankAtomic atomic = atomic_of(tally->module, access);
  Counted *last = tally->last[access->pc];
  const bool known = last && last->op && last->op->bytes == bytes && !atomic && !access->remote;
  site->executions++;
  site->op = known ? last->op : atomic || access->remote ? NULL : op_of(access, bytes);
  const BankCount count = last && site->op ? count_again(access, last, site->op, addr)
                                           : count_of(access, site->op, atomic, addr);
  add(site, &count, addr);
  if (!tally->sink) return;
  const PtxCounted counted = {access, site->op, atomic, addr, bytes, count.profiled};
  tally->sink(tally->sink_self, &counted);
}

// The addresses of the next group of lanes that go on alone; false: there is none.
static bool next_group(const PtxAccess *access, uint32_t *left, const int64_t addr[BANK_LANES],
                       int64_t of_group[BANK_LANES]) {
  if (!*left) return false;
  const uint32_t named = access->named[__builtin_ctz(*left)];
  for (int lane = 0; lane < BANK_LANES; lane++) {
    const bool in = *left >> lane & 1 && access->named[lane] == named;
    of_group[lane] = in ? addr[lane] : -1;
    *left &= ~((uint32_t)in << lane);
  }
  return true;
}

static void count_groups(PtxTally *tally, const PtxAccess *access, PtxSiteCount *site, int bytes,
                         const int64_t addr[BANK_LANES]) {
  uint32_t left = access->mask;
  int64_t of_group[BANK_LANES];
  while (next_group(access, &left, addr, of_group))
    count_once(tally, access, site, bytes, of_group);
}

// Together, and what it is at most, group by group.
static void count_perhaps(PtxTally *tally, const PtxAccess *access, PtxSiteCount *site, int bytes,
                          const int64_t addr[BANK_LANES]) {
  const int64_t before = site->wavefronts_most;
  count_once(tally, access, site, bytes, addr);
  const BankAtomic atomic = atomic_of(tally->module, access);
  uint32_t left = access->mask;
  int64_t of_group[BANK_LANES], most = 0;
  while (next_group(access, &left, addr, of_group))
    most += count_of(access, site->op, atomic, of_group).profiled_most;
  if (before + most > site->wavefronts_most) site->wavefronts_most = before + most;
}

static void count_shared(PtxTally *tally, const PtxAccess *access, PtxSiteCount *site) {
  const PtxWide *wide = &tally->wide[access->pc];
  const bool merged = wide->leader >= 0 && wide->leader != access->pc;
  if (merged || wide->leader == PTX_WIDE_GONE) return;
  const int bytes = wide->leader >= 0 ? wide->bytes : access->bytes;
  int64_t addr[BANK_LANES];
  for (int lane = 0; lane < BANK_LANES; lane++)
    addr[lane] =
        access->addr[lane] < 0 ? -1 : access->addr[lane] + (wide->leader >= 0 ? wide->offset : 0);
  static void (*const counts[])(PtxTally *, const PtxAccess *, PtxSiteCount *, int,
                                const int64_t[BANK_LANES]) = {
      [PTX_ALL_TOGETHER] = count_once,
      [PTX_PERHAPS_BY_GROUP] = count_perhaps,
      [PTX_GROUP_BY_GROUP] = count_groups};
  counts[tally->groups[access->pc]](tally, access, site, bytes, addr);
}

enum { SECTOR = 32 };

// Sectors of 32 bytes that the lanes ask for together, and the least number that would hold the
// same bytes: bytes that several lanes ask for count once.
static void count_sectors(const PtxAccess *access, PtxSiteCount *site) {
  int64_t seen[BANK_LANES * 3];
  uint32_t asked[BANK_LANES * 3];
  // An access lies at a multiple of its bytes: in one sector, or it has whole ones.
  const uint32_t unit = access->bytes >= SECTOR ? ~0u : (1u << access->bytes) - 1;
  int n = 0, bytes = 0;
  FOR_LANES(access->mask) {
    const int64_t first = access->addr[l], end = first + access->bytes;
    for (int64_t sector = first / SECTOR; sector <= (end - 1) / SECTOR; sector++) {
      int k = n - 1;  // neighbours ask for the same
      while (k >= 0 && seen[k] != sector) k--;
      if (k < 0 && n == BANK_LANES * 3) continue;
      if (k < 0) seen[k = n++] = sector, asked[k] = 0;
      asked[k] |= unit << first % SECTOR;
    }
  }
  for (int k = 0; k < n; k++) bytes += __builtin_popcount(asked[k]);
  site->executions++;
  site->sectors += n;
  site->ideal_sectors += (bytes + SECTOR - 1) / SECTOR;
}

// Tiles that descriptors find have no addresses of lanes, and no conflicts.
static void count_tiles(PtxSiteCount *site, const PtxAccess *access) {
  const int n = access->tile_wavefronts;
  site->executions++;
  add(site, &(BankCount){.profiled = n, .profiled_most = n, .profiled_ideal = n}, access->addr);
}

static void leave_out(PtxSiteCount *site, const PtxAccess *access) {
  site->executions++;
  site->unknown = true;
  site->countable = false;
  if (site->space != PTX_SPACE_SHARED) site->space = access->space;
}

void ptx_tally_access(void *self, const PtxAccess *access) {
  PtxTally *tally = self;
  PtxSiteCount *site = &tally->sites[access->pc];
  if (access->unknown) {
    leave_out(site, access);
    return;
  }
  const bool copies = access->inst->run == run_cp_async;
  if (access->space == PTX_SPACE_GLOBAL) {
    if (copies) site->executions--;  // it is counted with its shared side
    count_sectors(access, site);
    if (site->space == PTX_SPACE_GENERIC) site->space = PTX_SPACE_GLOBAL;
    const PtxCounted counted = {access, NULL, BANK_NO_ATOMIC, access->addr, access->bytes, -1};
    if (tally->sink) tally->sink(tally->sink_self, &counted);
    return;
  }
  site->space = PTX_SPACE_SHARED;
  if (access->tile_wavefronts) {
    count_tiles(site, access);
    return;
  }
  site->data_addresses |= access->data_addresses;
  site->data_mask |= access->data_mask;
  count_shared(tally, access, site);
}

// Accesses between a redux of lanes that the text does not name and where lanes meet next, or the
// way forks.
static void find_groups(PtxTally *tally, const PtxFunction *f) {
  bool alone = false;
  for (int pc = f->first; pc < f->end; pc++) {
    const PtxInst *i = &tally->module->code[pc];
    if (i->first || (i->row && i->row->flow == PTX_FLOW_WARP) || i->run == run_bar_sync ||
        i->run == run_bar_red || i->run == run_warp_sync)
      alone = false;
    if (i->run == run_redux) alone = tally->module->args[i->groups[2].at] >= 0;
    if (alone) tally->groups[pc] = PTX_PERHAPS_BY_GROUP;
  }
}

static bool has_addresses(const PtxInst *i) {
  PtxRun *run = ptx_meant(i)->run;
  return run == run_ld || run == run_st || run == run_ldmatrix || run == run_stmatrix ||
         run == run_cp_async;
}

PtxTally *ptx_tally_new(Arena *arena, const PtxModule *module, const PtxFunction *kernel) {
  PtxTally *tally = ARENA_NEW(arena, PtxTally);
  *tally = (PtxTally){.module = module, .kernel = kernel};
  tally->sites = ARENA_ARRAY(arena, PtxSiteCount, module->n_code + 1);
  tally->wide = ARENA_ARRAY(arena, PtxWide, module->n_code + 1);
  tally->groups = ARENA_ARRAY(arena, uint8_t, module->n_code + 1);
  tally->charge = ARENA_ARRAY(arena, int, module->n_code + 1);
  tally->last = ARENA_ARRAY(arena, Counted *, module->n_code + 1);
  for (int pc = 0; pc < module->n_code; pc++) {
    if (has_addresses(&module->code[pc])) tally->last[pc] = ARENA_NEW(arena, Counted);
    tally->sites[pc].countable = true;
    tally->wide[pc].leader = -1;
    tally->charge[pc] = module->code[pc].loc;
  }
  for (int n = 0; n < module->n_functions; n++) {
    const PtxFunction *f = &module->functions[n];
    if (!f->has_body || (f->is_kernel && f != kernel)) continue;
    if (module->machine) continue;  // accesses are as wide as they are
    memcpy(tally->wide + f->first, ptx_widen(arena, module, f),
           sizeof *tally->wide * (size_t)(f->end - f->first));
    find_groups(tally, f);
  }
  return tally;
}

const PtxSiteCount *ptx_tally_site(const PtxTally *tally, int pc) { return &tally->sites[pc]; }
const PtxWide *ptx_tally_wide(const PtxTally *tally, int pc) { return &tally->wide[pc]; }
int ptx_tally_charged(const PtxTally *tally, int pc) { return tally->charge[pc]; }
void ptx_tally_watch(PtxTally *tally, PtxCountedSink *sink, void *self) {
  tally->sink = sink;
  tally->sink_self = self;
}
void ptx_tally_charge(PtxTally *tally, int pc, int loc) { tally->charge[pc] = loc; }
void ptx_tally_set_wide(PtxTally *tally, int pc, PtxWide wide) { tally->wide[pc] = wide; }

void ptx_tally_set_groups(PtxTally *tally, int pc, PtxGrouping grouping) {
  tally->groups[pc] = (uint8_t)grouping;
}

void ptx_tally_take(PtxTally *tally, int pc, const PtxSiteCount *count, bool all) {
  PtxSiteCount *site = &tally->sites[pc];
  site->wavefronts = count->wavefronts;
  site->wavefronts_most = count->wavefronts_most;
  site->ideal = count->ideal;
  site->countable = all;
  site->op = count->op;
  site->worst = count->worst;
  memcpy(site->worst_addr, count->worst_addr, sizeof site->worst_addr);
}

// ---- numbers of several lines -------------------------------------------------------------------

void ptx_tally_innermost(PtxTally *tally) { tally->innermost = true; }

// The place with the line at which this place is shown.
static int ptx_tally_row(const PtxTally *tally, int loc) {
  return tally->innermost || loc < 0 ? loc : ptx_own_loc(tally->module, loc);
}

static bool same_line(const PtxTally *tally, int a, int b) {
  const PtxLoc *locs = tally->module->locs;
  const PtxLoc *x = &locs[ptx_tally_row(tally, a)], *y = &locs[ptx_tally_row(tally, b)];
  return x->line == y->line && x->file == y->file;
}

void ptx_tally_share(PtxTally *tally, Arena *arena, int loc, int other) {
  if (loc < 0 || other < 0 || same_line(tally, loc, other)) return;
  for (const PtxShare *s = tally->shares; s; s = s->next)
    if (same_line(tally, s->loc, loc) && same_line(tally, s->other, other)) return;
  PtxShare *share = ARENA_NEW(arena, PtxShare);
  *share = (PtxShare){loc, other, tally->shares};
  tally->shares = share;
}

const PtxShare *ptx_tally_shares(const PtxTally *tally) { return tally->shares; }

bool ptx_tally_shares_line(const PtxTally *tally, int loc) {
  if (loc < 0) return false;
  for (const PtxShare *s = tally->shares; s; s = s->next)
    if (same_line(tally, s->loc, loc) || same_line(tally, s->other, loc)) return true;
  return false;
}

static const char *file_of(const PtxModule *module, int loc) {
  return loc < 0 ? "" : ptx_base_name(ptx_file_name(module, module->locs[loc].file));
}

static bool is_of(const PtxTally *tally, int loc, const PtxLine *line) {
  const int row = ptx_tally_row(tally, loc);
  return line->line > 0 && tally->module->locs[row].line == line->line &&
         strcmp(file_of(tally->module, row), line->file) == 0;
}

int ptx_share_partner(const PtxTally *tally, const PtxShare *share, const PtxLine *line) {
  if (is_of(tally, share->loc, line)) return ptx_tally_row(tally, share->other);
  return is_of(tally, share->other, line) ? ptx_tally_row(tally, share->loc) : -1;
}

// ---- lines --------------------------------------------------------------------------------------

const char *ptx_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// If the text names no source line, each line of PTX is a line of its own.
static PtxLine *line_of(PtxLines *lines, const char *file, int line, int ptx_line) {
  for (int i = lines->n - 1; i >= 0; i--) {
    PtxLine *item = &lines->items[i];
    if (item->line == line && (line > 0 || item->ptx_line == ptx_line) &&
        strcmp(item->file, file) == 0)
      return item;
  }
  PtxLine *made = &lines->items[lines->n++];
  *made = (PtxLine){.file = file,
                    .line = line,
                    .ptx_line = ptx_line,
                    .countable = true,
                    .worst_pc = -1,
                    .loc = -1};
  return made;
}

// All that the line does, the dearest first.
static void add_op(Arena *arena, PtxLine *line, const PtxTally *tally, int pc) {
  const PtxSiteCount *site = &tally->sites[pc];
  const PtxOpcode *row = tally->module->code[pc].row;
  PtxLineOp **at = &line->ops, *found = NULL;
  for (; *at && !found; at = &(*at)->next)
    if ((*at)->op == site->op && (site->op || tally->module->code[(*at)->pc].row == row)) {
      found = *at;
      *at = found->next;
      break;
    }
  if (!found) {
    found = ARENA_NEW(arena, PtxLineOp);
    *found = (PtxLineOp){.op = site->op, .pc = pc, .countable = true};
  }
  found->wavefronts += site->wavefronts;
  found->countable &= site->countable;
  for (at = &line->ops; *at && (*at)->wavefronts >= found->wavefronts;) at = &(*at)->next;
  found->next = *at;
  *at = found;
}

static void add_site(Arena *arena, PtxLine *line, const PtxTally *tally, int pc) {
  const PtxSiteCount *site = &tally->sites[pc];
  line->sectors += site->sectors;
  line->unknown |= site->unknown;
  line->ideal_sectors += site->ideal_sectors;
  if (line->n_pcs++ == 0) line->loc = ptx_tally_row(tally, tally->charge[pc]);
  if (site->space != PTX_SPACE_SHARED) return;
  line->shared = true;
  add_op(arena, line, tally, pc);
  line->executions += site->executions;
  line->wavefronts += site->wavefronts;
  line->wavefronts_most += site->wavefronts_most;
  line->ideal += site->ideal;
  line->countable &= site->countable;
  line->data |= site->data_addresses || site->data_mask;
  if (site->worst <= line->worst) return;
  line->worst = site->worst;
  line->worst_pc = pc;
}

static int by_place(const void *a, const void *b) {
  const PtxLine *x = a, *y = b;
  const int files = strcmp(x->file, y->file);
  if (files) return files;
  if (x->line != y->line) return x->line > y->line ? 1 : -1;
  return (x->ptx_line > y->ptx_line) - (x->ptx_line < y->ptx_line);
}

// Both lines of a pair are there, if any of the two has numbers.
static void add_share(PtxLines *lines, const PtxTally *tally, const PtxShare *share) {
  const int locs[2] = {ptx_tally_row(tally, share->loc), ptx_tally_row(tally, share->other)};
  bool has_numbers = false;
  for (int i = 0; i < lines->n; i++)
    has_numbers |= ptx_share_partner(tally, share, &lines->items[i]) >= 0;
  for (int i = 0; i < 2 && has_numbers; i++) {
    PtxLine *line =
        line_of(lines, file_of(tally->module, locs[i]), tally->module->locs[locs[i]].line, 0);
    if (line->loc < 0) line->loc = locs[i];
    line->shares = line->shared = true;
  }
}

const PtxLines *ptx_tally_lines(Arena *arena, const PtxTally *tally) {
  const PtxModule *module = tally->module;
  PtxLines *lines = ARENA_NEW(arena, PtxLines);
  lines->countable = true;
  int n = 0;
  for (int pc = 0; pc < module->n_code; pc++) n += tally->sites[pc].executions > 0;
  for (const PtxShare *s = tally->shares; s; s = s->next) n += 2;
  lines->items = ARENA_ARRAY(arena, PtxLine, n + 1);
  for (int pc = 0; pc < module->n_code; pc++) {
    if (tally->sites[pc].executions == 0 && tally->sites[pc].sectors == 0) continue;
    const int loc = ptx_tally_row(tally, tally->charge[pc]);
    add_site(arena,
             line_of(lines, file_of(module, loc), loc < 0 ? 0 : module->locs[loc].line,
                     module->code[pc].line),
             tally, pc);
  }
  for (const PtxShare *s = tally->shares; s; s = s->next) add_share(lines, tally, s);
  qsort(lines->items, (size_t)lines->n, sizeof *lines->items, by_place);
  for (int i = 0; i < lines->n; i++) {
    lines->wavefronts += lines->items[i].wavefronts;
    lines->wavefronts_most += lines->items[i].wavefronts_most;
    lines->ideal += lines->items[i].ideal;
    lines->countable &= lines->items[i].countable;
  }
  return lines;
}

// One walk over each basic block: accesses are collected into runs of one root, one guard and one
// direction; what may come between closes a run; a closed run is packed.
//
// Packing goes from narrow to wide: [0, 4, 8, 12, 16, 20] of four bytes each are a window of 16
// with four of four, then one of 8 with both: LDS.128 and LDS.64. Bytes become words the same way
// before words become more.
#include "ptx/tally/widen.h"

#include "ptx/run/run.h"

enum { RUN_MAX = 256, RUNS_MAX = 16 };

typedef struct Item {
  int pc;          // of the first load or last store in it
  int64_t offset;  // from the root's base
  int bytes;
  int unit;  // bytes of one element in the text, the smallest in it
} Item;

typedef struct Run {
  PtxArg base;
  int guard;
  bool guard_not, is_store;
  int symbol;
  PtxKnown known;  // of the base
  int n;
  struct {
    int pc;
    int64_t offset;
    int bytes, unit;
  } accesses[RUN_MAX];
} Run;

typedef struct Widener {
  const PtxAddressing *a;
  PtxWide *wide;
  int first;
  Run runs[RUNS_MAX];
  int n_runs;
} Widener;

// ---- packing ------------------------------------------------------------------------------------

static int find_item(const Item *items, int n, int64_t offset, int bytes) {
  for (int i = 0; i < n; i++)
    if (items[i].bytes == bytes && items[i].offset == offset) return i;
  return -1;
}

static int64_t window_start(const Run *run, int64_t offset, int bytes) {
  const uint64_t residue = run->known.residue + (uint64_t)offset;
  return offset - (int64_t)(residue & (uint64_t)(bytes - 1));
}

static int log2_of(int bytes) { return __builtin_ctz((unsigned)bytes); }

static int later(bool is_store, int a, int b) { return (a > b) == is_store ? a : b; }

static bool lies_in(const Item *item, int64_t start, int bytes) {
  return item->offset >= start && item->offset + item->bytes <= start + bytes;
}

// Makes one item of those that lie in a window when they cover `wanted` of its bytes; elements that
// were smaller than the window's units must cover all of it.
static bool pack_window(const Run *run, Item *items, int *n, int64_t start, int bytes, int unit,
                        int wanted) {
  int covered = 0, found = 0, pc = -1, smallest = bytes;
  for (int i = 0; i < *n; i++) {
    if (!lies_in(&items[i], start, bytes)) continue;
    if (items[i].bytes < unit) return false;
    pc = found++ == 0 ? items[i].pc : later(run->is_store, pc, items[i].pc);
    covered += items[i].bytes;
    if (items[i].unit < smallest) smallest = items[i].unit;
  }
  if (smallest < unit) wanted = bytes;
  if (found < 2 || covered < wanted) return false;
  int kept = 0;
  for (int i = 0; i < *n; i++)
    if (!lies_in(&items[i], start, bytes)) items[kept++] = items[i];
  items[kept++] = (Item){pc, start, bytes, smallest};
  *n = kept;
  return true;
}

// Windows of `units` units of `unit` bytes; at least `parts` of the units must be there.
static bool pack_width(const Run *run, Item *items, int *n, int unit, int units, int parts) {
  const int bytes = unit * units;
  if (bytes > 16 || run->known.bits < log2_of(bytes)) return false;
  for (int i = 0; i < *n; i++)
    if (items[i].bytes < bytes &&
        pack_window(run, items, n, window_start(run, items[i].offset, bytes), bytes, unit,
                    unit * parts))
      return true;
  return false;
}

static void pack(const Run *run, Item *items, int *n) {
  for (int unit = 1; unit <= 8; unit *= 2) {
    while (pack_width(run, items, n, unit, 4, run->is_store ? 4 : 3)) {
    }
    while (pack_width(run, items, n, unit, 2, 2)) {
    }
  }
}

static void close_run(Widener *w, int index) {
  Run *run = &w->runs[index];
  Item items[RUN_MAX];
  int n = 0;
  for (int i = 0; i < run->n; i++) {
    const int same = find_item(items, n, run->accesses[i].offset, run->accesses[i].bytes);
    if (same < 0)
      items[n++] = (Item){run->accesses[i].pc, run->accesses[i].offset, run->accesses[i].bytes,
                          run->accesses[i].unit};
    else
      items[same].pc = later(run->is_store, items[same].pc, run->accesses[i].pc);
  }
  pack(run, items, &n);
  for (int i = 0; i < run->n; i++) w->wide[run->accesses[i].pc - w->first].n = 0;
  for (int i = 0; i < run->n; i++) {
    const int64_t offset = run->accesses[i].offset;
    for (int k = 0; k < n; k++) {
      if (offset < items[k].offset || offset >= items[k].offset + items[k].bytes) continue;
      PtxWide *wide = &w->wide[run->accesses[i].pc - w->first];
      wide->leader = items[k].pc;
      wide->bytes = items[k].bytes;
      wide->offset = items[k].offset - offset;
      w->wide[items[k].pc - w->first].n++;
      break;
    }
  }
  w->runs[index] = w->runs[--w->n_runs];
}

static void close_all(Widener *w) {
  while (w->n_runs > 0) close_run(w, 0);
}

// ---- what comes between -------------------------------------------------------------------------

static bool may_alias(const Run *run, int symbol, PtxArg base, int64_t offset, int bytes) {
  if (run->base == base) {
    for (int i = 0; i < run->n; i++)
      if (offset < run->accesses[i].offset + run->accesses[i].bytes &&
          run->accesses[i].offset < offset + bytes)
        return true;
    return false;
  }
  return symbol < 0 || run->symbol < 0 || symbol == run->symbol;
}

// A write closes what it may write over, a read the writes that it may read.
static void pass_access(Widener *w, bool is_store, int symbol, PtxArg base, int64_t offset,
                        int bytes) {
  for (int r = w->n_runs - 1; r >= 0; r--)
    if ((is_store || w->runs[r].is_store) && may_alias(&w->runs[r], symbol, base, offset, bytes))
      close_run(w, r);
}

static bool is_hard(const PtxInst *i) {
  static PtxRun *const barriers[] = {run_bar_sync,      run_bar_red,         run_bar_arrive,
                                     run_warp_sync,     run_cluster_wait,    run_atom,
                                     run_red,           run_mbarrier_init,   run_mbarrier_inval,
                                     run_mbarrier_test, run_mbarrier_arrive, run_mbarrier_expect,
                                     run_call,          run_cp_async_bulk,   run_mbarrier_complete,
                                     run_cp_async_wait, run_cp_async_arrive};
  for (size_t b = 0; b < sizeof barriers / sizeof barriers[0]; b++)
    if (i->run == barriers[b])
      return (i->run != run_atom && i->run != run_red) || i->space != PTX_SPACE_GLOBAL;
  const bool orders =
      i->row && (strcmp(i->row->name, "membar") == 0 || strcmp(i->row->name, "fence") == 0);
  return orders;
}

static bool stays(const PtxInst *i) {
  static const PtxModifier marks[] = {PTX_MOD_volatile, PTX_MOD_relaxed, PTX_MOD_acquire,
                                      PTX_MOD_release, PTX_MOD_mmio};
  for (size_t n = 0; n < sizeof marks / sizeof marks[0]; n++)
    if (ptx_has(i, marks[n])) return true;
  return false;
}

// Registers and predicates that an instruction writes end the runs that stand on them.
static void pass_writes(Widener *w, const PtxInst *i) {
  for (int g = 0; g <= i->n_groups; g++) {
    const PtxGroup *group = g < i->n_groups ? &i->groups[g] : &i->pair;
    for (int k = 0; group->written && k < group->n; k++) {
      const PtxArg arg = w->a->module->args[group->at + k];
      for (int r = w->n_runs - 1; r >= 0; r--)
        if (group->kind == PTX_GROUP_PRED
                ? w->runs[r].guard == arg && arg >= 0
                : group->kind == PTX_GROUP_VALUE && w->runs[r].base == arg)
          close_run(w, r);
    }
  }
}

// ---- the walk -----------------------------------------------------------------------------------

static Run *run_of(Widener *w, const PtxInst *i, const PtxRoot *root, bool is_store, int symbol) {
  for (int r = 0; r < w->n_runs; r++) {
    Run *run = &w->runs[r];
    if (run->base == root->base && run->guard == i->guard && run->guard_not == i->guard_not &&
        run->is_store == is_store && run->n < RUN_MAX)
      return run;
  }
  if (w->n_runs == RUNS_MAX) close_run(w, 0);
  Run *run = &w->runs[w->n_runs++];
  const PtxRoot base = {root->base, 0};
  run->base = root->base;
  run->guard = i->guard;
  run->guard_not = i->guard_not;
  run->is_store = is_store;
  run->symbol = symbol;
  run->known = ptx_address_known(w->a, &base);
  run->n = 0;
  return run;
}

static void walk_access(Widener *w, int pc, const PtxInst *i, bool is_store) {
  const PtxGroup *address = &i->groups[is_store ? 0 : 1];
  const PtxGroup *values = &i->groups[is_store ? 1 : 0];
  const PtxRoot root = ptx_address_root(w->a, address);
  const int symbol = ptx_address_symbol(w->a, address);
  const int bytes = ptx_types[i->form.types[0]].bits / 8 * values->n;
  pass_access(w, is_store, symbol, root.base, root.offset, bytes);
  w->wide[pc - w->first] = (PtxWide){pc, bytes, 0, 1};
  if (stays(i) || bytes > 16) return;
  Run *run = run_of(w, i, &root, is_store, symbol);
  run->accesses[run->n].pc = pc;
  run->accesses[run->n].offset = root.offset;
  run->accesses[run->n].unit = ptx_types[i->form.types[0]].bits / 8;
  run->accesses[run->n++].bytes = bytes;
}

static void walk(Widener *w, int pc) {
  const PtxInst *i = &w->a->module->code[pc];
  if (i->first || is_hard(i)) close_all(w);
  const bool loads = i->run == run_ld, stores = i->run == run_st;
  if ((loads || stores) && i->space == PTX_SPACE_SHARED)
    walk_access(w, pc, i, stores);
  else if ((loads || stores) && i->space == PTX_SPACE_GENERIC)
    pass_access(w, stores, PTX_SYMBOL_ANY, ~PTX_SPECIAL_sink, 0, 1);
  else if (i->run == run_cp_async || i->run == run_stmatrix)
    pass_access(w, true, ptx_address_symbol(w->a, &i->groups[0]), ~PTX_SPECIAL_sink, 0, 16);
  else if (i->run == run_ldmatrix)
    pass_access(w, false, ptx_address_symbol(w->a, &i->groups[1]), ~PTX_SPECIAL_sink, 0, 16);
  pass_writes(w, i);
}

const PtxWide *ptx_widen(Arena *arena, const PtxModule *module, const PtxFunction *function) {
  Widener *w = ARENA_NEW(arena, Widener);
  w->a = ptx_addressing(arena, module, function);
  w->first = function->first;
  w->wide = ARENA_ARRAY(arena, PtxWide, function->end - function->first + 1);
  for (int pc = function->first; pc < function->end; pc++)
    w->wide[pc - function->first] = (PtxWide){.leader = -1};
  for (int pc = function->first; pc < function->end; pc++) walk(w, pc);
  close_all(w);
  return w->wide;
}

// Each access of the machine code names the PTX line that it was made of: the first load or one of
// the stores that it took together. The accesses that the prediction put together with that one are
// its group. A narrower access cuts the group at its own width. A wider one took more along than
// was foreseen; it begins at the group's address, rounded down to its width (the bank engine does
// that). A copy of an access (ptxas peels the last turn off a loop) is charged to a line of its
// own. The text does not tell how often the copy runs, so the two lines have their numbers
// together. The line table has a row only where the line changes, so a second access right behind a
// first may seem to be of its line. An access left over that way goes to the nearest group of its
// width that no access named. A group that stays without an access is gone: the assembler found its
// value elsewhere.
#include "ptx/tally/reconcile.h"

#include <string.h>

#include "base/str.h"
#include "ptx/run/run.h"

typedef struct Found {
  int n, loc;  // machine accesses, where the first is charged to
  int pc;      // that it names
} Found;

// A machine access with a group that has one already.
typedef struct Spare {
  int pc, bytes, loc;
} Spare;

typedef struct Reconciler {
  Arena *arena;
  const PtxModule *module;
  const PtxFunction *kernel;
  PtxTally *tally;
  Found *found;   // by leader
  PtxWide *made;  // by instruction: what it becomes
  Spare *spares;
  int n_spares;
  bool *exclusive;    // by instruction: in a region that a group of lanes runs alone
  bool in_exclusive;  // the machine access is in one
} Reconciler;

static const struct {
  const char *start;
  bool moves_words;  // its width is in its modifiers
} accesses[] = {{"LDS", true},   {"STS", true},     {"LDSM", false},
                {"STSM", false}, {"LDGSTS", false}, {"ATOMS", false}};

static int access_row(const char *opcode) {
  const size_t length = strcspn(opcode, ".");
  for (size_t i = 0; i < sizeof accesses / sizeof accesses[0]; i++)
    if (strlen(accesses[i].start) == length && strncmp(opcode, accesses[i].start, length) == 0)
      return (int)i;
  return -1;
}

static int width_of(const char *opcode) {
  static const struct {
    const char *mark;
    int bytes;
  } marks[] = {{".128", 16}, {".64", 8}, {".U16", 2}, {".S16", 2}, {".U8", 1}, {".S8", 1}};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
    if (strstr(opcode, marks[i].mark)) return marks[i].bytes;
  return 4;
}

// An access to shared memory in the PTX; `words`: a plain load or store.
static bool is_access(const PtxInst *i, bool words) {
  const bool plain = i->run == run_ld || i->run == run_st;
  if (words) return plain && i->space == PTX_SPACE_SHARED;
  return i->run == run_ldmatrix || i->run == run_stmatrix || i->run == run_cp_async ||
         ((i->run == run_atom || i->run == run_red) && i->space == PTX_SPACE_SHARED);
}

static int find_pc(const Reconciler *r, int line, bool words) {
  for (int pc = r->kernel->first; pc < r->kernel->end; pc++)
    if (r->module->code[pc].line == line && is_access(&r->module->code[pc], words)) return pc;
  return -1;
}

static int find_loc(const PtxModule *module, const LineRow *row) {
  for (int i = 0; row && i < module->n_locs; i++) {
    const PtxLoc *loc = &module->locs[i];
    if (loc->line == row->line &&
        strcmp(ptx_base_name(ptx_file_name(module, loc->file)), ptx_base_name(row->file)) == 0)
      return i;
  }
  return -1;
}

// The place of the instruction's own chain with that line, else any with it.
static int chain_loc(const PtxModule *module, int pc, const LineRow *row) {
  for (int loc = module->code[pc].loc; loc >= 0 && row; loc = module->locs[loc].inlined_at)
    if (module->locs[loc].line == row->line) return loc;
  return find_loc(module, row);
}

// Accesses of one group that lie in the window of a machine access of `bytes` bytes.
static void take_window(Reconciler *r, int pc, int bytes) {
  const PtxWide *own = ptx_tally_wide(r->tally, pc);
  const int64_t start = -own->offset & ~(int64_t)(bytes - 1);
  for (int other = r->kernel->first; other < r->kernel->end; other++) {
    const PtxWide *wide = ptx_tally_wide(r->tally, other);
    const int64_t at = -wide->offset;
    if (wide->leader != own->leader || at < start || at >= start + bytes) continue;
    r->made[other] = (PtxWide){pc, bytes, start - at, 1};
  }
}

static int written_bytes(const Reconciler *r, int pc) {
  const PtxForm *form = &r->module->code[pc].form;
  return ptx_types[form->types[0]].bits / 8 * form->vector;
}

// An access that was foreseen as part of a wider one, which the assembler made as it is written and
// names, stands alone.
static void take_words(Reconciler *r, int pc, const char *opcode, int loc) {
  const PtxWide *own = ptx_tally_wide(r->tally, pc);
  const int bytes = width_of(opcode);
  const Found *taken = r->made[pc].leader >= 0 && r->found[r->made[pc].leader].n > 0
                           ? &r->found[r->made[pc].leader]
                           : NULL;
  const bool alone =
      taken && taken->pc != pc && bytes < own->bytes && bytes == written_bytes(r, pc);
  if (taken && !alone) {
    r->spares[r->n_spares++] = (Spare){pc, bytes, loc};
    return;
  }
  if (bytes < own->bytes)
    take_window(r, pc, bytes);
  else
    for (int other = r->kernel->first; other < r->kernel->end; other++)
      if (ptx_tally_wide(r->tally, other)->leader == own->leader) {
        r->made[other] = *ptx_tally_wide(r->tally, other);
        r->made[other].bytes = bytes;
      }
  const int leader = bytes < own->bytes ? pc : own->leader;
  Found *found = &r->found[leader];
  if (found->n++ == 0) *found = (Found){1, loc, pc};
}

// From WARPSYNC.EXCLUSIVE to the BSYNC or WARPSYNC.ALL where the groups of lanes meet again.
static void follow_regions(Reconciler *r, const char *opcode) {
  if (str_starts(opcode, "WARPSYNC")) r->in_exclusive = str_starts(opcode, "WARPSYNC.EXCLUSIVE");
  if (str_starts(opcode, "BSYNC")) r->in_exclusive = false;
}

static void take_inst(Reconciler *r, const MachineInst *inst, const LineTable *source,
                      const LineTable *ptx) {
  const int row = access_row(inst->opcode);
  follow_regions(r, inst->opcode);
  if (row < 0) return;
  const LineRow *at = line_table_find(ptx, inst->address);
  const bool words = accesses[row].moves_words;
  const int pc = at ? find_pc(r, at->line, words) : -1;
  // An instruction put in for another purpose (a dummy load, a spill) belongs to no access of the
  // text.
  if (pc < 0) return;
  r->exclusive[pc] |= r->in_exclusive;
  const int loc = chain_loc(r->module, pc, line_table_find(source, inst->address));
  if (words)
    take_words(r, pc, inst->opcode, loc);
  else if (r->found[pc].n++ == 0)
    r->found[pc] = (Found){1, loc, pc};
  else
    ptx_tally_share(r->tally, r->arena, r->found[pc].loc, loc);
}

// The spare access nearest to an instruction, of its width and direction; taken.
static const Spare *take_spare(Reconciler *r, int pc) {
  const PtxInst *code = r->module->code;
  int best = -1;
  for (int i = 0; i < r->n_spares; i++) {
    const Spare *spare = &r->spares[i];
    if (spare->bytes != ptx_tally_wide(r->tally, pc)->bytes || code[spare->pc].run != code[pc].run)
      continue;
    const int distance = spare->pc > pc ? spare->pc - pc : pc - spare->pc;
    const int least =
        best < 0 ? INT32_MAX
                 : (r->spares[best].pc > pc ? r->spares[best].pc - pc : pc - r->spares[best].pc);
    if (distance < least) best = i;
  }
  if (best < 0) return NULL;
  const Spare taken = r->spares[best];
  r->spares[best] = r->spares[--r->n_spares];
  r->spares[r->n_spares] = taken;
  return &r->spares[r->n_spares];
}

// A group that no machine access names: a spare one is its own, or it is gone.
static void settle(Reconciler *r, int pc) {
  const PtxWide *own = ptx_tally_wide(r->tally, pc);
  if (own->leader != pc || r->made[pc].leader >= 0) return;
  const Spare *spare = take_spare(r, pc);
  if (spare) r->found[pc] = (Found){1, spare->loc, pc};
  for (int other = r->kernel->first; other < r->kernel->end; other++) {
    const PtxWide *wide = ptx_tally_wide(r->tally, other);
    if (wide->leader == pc) r->made[other] = spare ? *wide : (PtxWide){.leader = PTX_WIDE_GONE};
  }
}

// Accesses that no group needs are copies of other accesses.
static void share_copies(Reconciler *r) {
  for (int i = 0; i < r->n_spares; i++) {
    const int leader = r->made[r->spares[i].pc].leader;
    if (leader >= 0) ptx_tally_share(r->tally, r->arena, r->found[leader].loc, r->spares[i].loc);
  }
}

bool ptx_reconcile(Arena *arena, const PtxModule *module, const PtxFunction *kernel,
                   PtxTally *tally, const MachineInst *code, int n, const LineTable *source,
                   const LineTable *ptx, const char **why) {
  Reconciler reconciler = {.arena = arena, .module = module, .kernel = kernel, .tally = tally},
             *r = &reconciler;
  r->found = ARENA_ARRAY(arena, Found, module->n_code + 1);
  r->made = ARENA_ARRAY(arena, PtxWide, module->n_code + 1);
  r->exclusive = ARENA_ARRAY(arena, bool, module->n_code + 1);
  r->spares = ARENA_ARRAY(arena, Spare, n + 1);
  for (int pc = 0; pc < module->n_code; pc++) r->made[pc].leader = PTX_WIDE_NONE;
  if (ptx->n == 0) {
    *why = arena_printf(arena, "widths are predicted: the machine code %s", line_table_lack(ptx));
    return false;
  }
  for (int i = 0; i < n; i++) take_inst(r, &code[i], source, ptx);
  for (int pc = kernel->first; pc < kernel->end; pc++) settle(r, pc);
  share_copies(r);
  for (int pc = kernel->first; pc < kernel->end; pc++)
    ptx_tally_set_groups(tally, pc, PTX_ALL_TOGETHER);
  for (int pc = kernel->first; pc < kernel->end; pc++) {
    if (ptx_tally_wide(tally, pc)->leader >= 0) ptx_tally_set_wide(tally, pc, r->made[pc]);
    const int leader = ptx_tally_wide(tally, pc)->leader;
    if (r->exclusive[pc])
      ptx_tally_set_groups(tally, leader >= 0 ? leader : pc, PTX_GROUP_BY_GROUP);
    if (r->found[pc].n > 0 && r->found[pc].loc >= 0) ptx_tally_charge(tally, pc, r->found[pc].loc);
  }
  return true;
}

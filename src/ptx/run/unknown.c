// Values that are not known: the result of an instruction that is not run here, arguments and
// memory without given values, and every value computed from them.
//
// Each register has a word beside it that says in which lanes its value is unknown, each byte of
// memory a bit (PTX_BYTE_UNKNOWN). Neither is looked at before the first unknown value is there
// (PtxMachine.unknowns). A load or store at an unknown address, or under an unknown predicate, is
// left out and told as one that cannot be counted. The memory that such a store may have hit is
// unknown from then on. A branch, or any other address, ends the block: its next step is not known.
//
//   tex.1d.v4.f32.s32 {%f4, …       %f4 is unknown in all lanes
//   fma.rn.f32 %f5, %f4, %f0, %f1   so is %f5
//   st.shared.f32 [%r1], %f5        counted as ever; the bytes are unknown
//   ld.shared.u32 %r2, [%r3]        known, where %r3 lies elsewhere
//   @%p1 bra L1                     goes on, unless %p1 is unknown
#include "base/str.h"
#include "ptx/run/mma.h"
#include "ptx/run/run_access.h"

#define UNKNOWN_BYTES (UINT64_C(0x0101010101010101) * PTX_BYTE_UNKNOWN)

// ---- memory -------------------------------------------------------------------------------------

static bool any_unknown(const unsigned char *state, int64_t bytes) {
  int64_t at = 0;
  for (uint64_t word; at + (int64_t)sizeof word <= bytes; at += (int64_t)sizeof word) {
    memcpy(&word, state + at, sizeof word);
    if (word & UNKNOWN_BYTES) return true;
  }
  for (; at < bytes; at++)
    if (state[at] & PTX_BYTE_UNKNOWN) return true;
  return false;
}

bool ptx_bytes_are_unknown(const PtxMachine *m, const PtxPlace *place, PtxSpace space, int bytes) {
  if (space == PTX_SPACE_SHARED && m->blocks[ptx_rank_at(m, place->offset)].unsure) return true;
  if (space == PTX_SPACE_GLOBAL && m->keeper->unsure) return true;
  return any_unknown(place->state, bytes);
}

void ptx_mark_unknown(const PtxPlace *place, int bytes) {
  for (int byte = 0; byte < bytes; byte++) place->state[byte] |= PTX_BYTE_UNKNOWN;
}

void ptx_doubt(PtxMachine *m, PtxWarp *w, uint32_t lanes) {
  m->unknowns = true;
  w->doubt |= lanes;
}

void ptx_machine_param_unknown(PtxMachine *m, int index) {
  const PtxParam *param = &m->kernel->params[index];
  memset(m->param.state + param->offset, PTX_BYTE_WRITTEN | PTX_BYTE_UNKNOWN, (size_t)param->bytes);
  m->has_unknowns = true;
}

int64_t ptx_machine_unknown_bytes(const PtxMachine *m, uint64_t address, int64_t bytes) {
  const PtxBuffer *b = m->has_unknowns ? ptx_buffer_at(m, address) : NULL;
  int64_t n = 0;
  if (!b) return 0;
  const uint64_t from = address - b->address, room = (uint64_t)b->plane.size - from;
  if ((uint64_t)bytes > room) bytes = (int64_t)room;
  if (m->unsure) return bytes;
  for (int64_t at = 0; at < bytes; at++)
    n += (b->plane.state[from + (uint64_t)at] & PTX_BYTE_UNKNOWN) != 0;
  return n;
}

bool ptx_machine_by_atomic(const PtxMachine *m, uint64_t address, int64_t bytes) {
  const PtxBuffer *b = ptx_buffer_at(m, address);
  unsigned known = 0;
  for (uint64_t at = b ? address - b->address : 0, end = at + (uint64_t)bytes;
       b && at < end && at < (uint64_t)b->plane.size; at++)
    known |= b->plane.state[at];
  return known & PTX_BYTE_ATOMIC;
}

// ---- registers ----------------------------------------------------------------------------------

static uint32_t *word_of(const PtxMachine *m, const PtxWarp *w, const PtxGroup *g, int n) {
  const PtxArg arg = m->module->args[g->at + n];
  if (arg < 0) return NULL;
  return g->kind == PTX_GROUP_PRED ? &w->frame_pred_unknown[arg] : &w->frame_unknown[arg];
}

uint32_t ptx_group_unknown(const PtxMachine *m, const PtxWarp *w, const PtxGroup *g) {
  uint32_t lanes = 0;
  for (int n = 0; n < g->n; n++) {
    const uint32_t *word = word_of(m, w, g, n);
    if (word) lanes |= *word;
  }
  return lanes;
}

static void put(const PtxMachine *m, const PtxWarp *w, const PtxGroup *g, uint32_t lanes,
                uint32_t unknown) {
  for (int n = 0; n < g->n; n++) {
    uint32_t *word = word_of(m, w, g, n);
    if (word) *word = (*word & ~lanes) | (unknown & lanes);
  }
}

// ---- what depends on them -----------------------------------------------------------------------

void ptx_stop_unknown(PtxMachine *m, PtxWarp *w, uint32_t lanes, const char *what) {
  PtxFinding *f = ptx_find(m, w, PTX_FINDING_UNKNOWN, w->pc, m->unknown_pc, lanes);
  const char *from = m->unknown_pc < 0 ? "; it comes from an argument or from memory whose "
                                         "contents were not given"
                                       : "";
  f->text = arena_printf(m->arena, "%s depends on a value that is not known here%s", what, from);
  m->stopped = true;
}

void ptx_run_unknown(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  ptx_give_unknown(m, w, i->why);
  ptx_doubt(m, w, mask);
}

void ptx_give_unknown(PtxMachine *m, PtxWarp *w, const char *why) {
  m->unknowns = m->has_unknowns = true;
  m->unknown_pc = w->pc;
  m->unknown_why[w->pc] = why;
}

const char *ptx_machine_unknown_why(const PtxMachine *m, int pc) { return m->unknown_why[pc]; }

// Functions of instructions with a flow of their own, and which of their operands may be unknown.
typedef struct Takes {
  PtxRun *run;
  unsigned values;  // operands, a bit each, that only pass values on to the result or to memory
  bool places;      // address and guard, too: the lanes concerned are left out
  bool stores;
} Takes;

static const Takes takes[] = {
    {run_ld, 0, true, false},
    {run_st, 1 << 1, true, true},
    {run_atom, 1 << 2 | 1 << 3, true, true},
    {run_red, 1 << 1, true, true},
    {run_stmatrix, 1 << 1, false, false},
    {run_wmma_store, 1 << 1, false, false},
    {run_st_async, 1 << 1, false, false},
    {run_red_async, 1 << 1, false, false},
    {run_t_st, 1 << 1 | 1 << 2, false, false},
    {run_nothing, ~0u, true, false},
    {run_nanosleep, ~0u, true, false},
};

static const Takes *takes_of(const PtxInst *i) {
  static const Takes none = {0};
  for (size_t n = 0; n < sizeof takes / sizeof *takes; n++)
    if (takes[n].run == i->run) return &takes[n];
  return &none;
}

// An access that is left out for some lanes: the counter is told.
static void tell_left_out(PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxGroup *address) {
  PtxAccess access;
  ptx_access_begin(m, w, i, 0, 1, false, address, &access);
  access.space = i->space == PTX_SPACE_SHARED ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
  access.unknown = true;
  const bool told = m->watched < 0 || m->watched == access.rank;
  const bool counts =
      i->space == PTX_SPACE_SHARED || i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_GENERIC;
  if (m->sink && told && counts) m->sink(m->sink_self, &access);
}

// A store that may or may not have been; where its address is known, its bytes are not.
static void forget_bytes(PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxGroup *address,
                         uint32_t lanes) {
  const int bytes = ptx_types[i->form.types[0]].bits / 8 * i->form.vector;
  FOR_LANES(lanes) {
    PtxSpace space = i->space;
    const PtxPlace place =
        ptx_place(m, ptx_thread(w, (int)l), &space, ptx_access_address(m, w, address, l), bytes);
    if (!place.bytes) continue;
    for (int byte = 0; byte < bytes; byte++)
      place.state[byte] |= PTX_BYTE_WRITTEN | PTX_BYTE_UNKNOWN;
  }
}

static void forget_memory(PtxMachine *m, PtxWarp *w, PtxSpace space) {
  if (space != PTX_SPACE_GLOBAL) w->block->unsure = true;
  if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC) m->keeper->unsure = true;
}

static void leave_out(PtxMachine *m, PtxWarp *w, const PtxInst *i, const Takes *t, uint32_t lanes) {
  const PtxGroup *address = NULL;
  for (int g = 0; g < i->n_groups && !address; g++)
    if (i->groups[g].kind == PTX_GROUP_ADDRESS) address = &i->groups[g];
  if (!address || i->run == run_nothing) return;
  const uint32_t nowhere = ptx_group_unknown(m, w, address) & lanes;
  tell_left_out(m, w, i, address);
  if (!t->stores) return;
  if (nowhere) forget_memory(m, w, i->space);
  forget_bytes(m, w, i, address, lanes & ~nowhere);
}

static const char *name_of(PtxMachine *m, const PtxInst *i) {
  return arena_printf(m->arena, "an operand of %s", i->row ? i->row->name : "the instruction");
}

// A of a wgmma, where registers have it and not a descriptor, and the metadata of a sparse one.
static bool is_matrix(const PtxInst *i, int group) {
  if (i->run != run_wgmma) return false;
  const PtxSparse *sparse = &i->wgmma->sparse;
  return (group == 1 && i->groups[group].n > 1) || (sparse->is_sparse && group == sparse->words);
}

// An unknown value in an operand that may not be unknown ends the block. Lanes with an unknown
// address go to *lost, where the instruction may leave lanes out.
static bool take_operands(PtxMachine *m, PtxWarp *w, const PtxInst *i, const Takes *t,
                          uint32_t active, uint32_t *lost) {
  for (int g = 0; g < i->n_groups; g++) {
    const PtxGroup *group = &i->groups[g];
    const uint32_t lanes = group->written ? 0 : ptx_group_unknown(m, w, group) & active;
    if (!lanes) continue;
    const bool is_address = group->kind == PTX_GROUP_ADDRESS;
    if (is_address && t->places) {
      *lost |= lanes;
    } else if (!is_address && (t->values >> g & 1 || is_matrix(i, g))) {
      w->doubt |= lanes;
    } else {
      ptx_stop_unknown(m, w, lanes, is_address ? "an address" : name_of(m, i));
      return false;
    }
  }
  return true;
}

// Sources of an instruction that alone determine its result.
static uint32_t sources(const PtxMachine *m, const PtxWarp *w, const PtxInst *i) {
  uint32_t lanes = 0;
  for (int g = 0; g < i->n_groups; g++)
    if (!i->groups[g].written) lanes |= ptx_group_unknown(m, w, &i->groups[g]);
  const char *name = i->row->name;
  const bool carries =
      str_equal(name, "addc") || str_equal(name, "subc") || str_equal(name, "madc");
  return carries ? lanes | w->carry_unknown : lanes;
}

static bool goes_on(const PtxInst *i) {
  return i->run == run_bra || i->run == run_brx || i->run == run_exit || i->run == run_ret ||
         i->run == run_call || i->run == run_trap;
}

bool ptx_unknown_before(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t *mask) {
  const uint32_t guard = i->guard >= 0 ? w->frame_pred_unknown[i->guard] & w->mask : 0;
  const uint32_t active = *mask | guard;
  w->doubt = 0;
  if (!active || !i->row) return true;
  if (guard && (goes_on(i) || i->row->flow == PTX_FLOW_WARP)) {
    ptx_stop_unknown(m, w, guard, goes_on(i) ? "a branch" : "whether lanes take part");
    return false;
  }
  if (i->row->flow != PTX_FLOW_OWN) {
    w->doubt = (sources(m, w, i) | guard) & active;
    return true;
  }
  const Takes *t = takes_of(i);
  uint32_t lost = 0;
  if (guard && !t->places) {
    ptx_stop_unknown(m, w, guard, "whether an instruction is carried out");
    return false;
  }
  if (!take_operands(m, w, i, t, active, &lost)) return false;
  lost |= guard;
  if (lost) leave_out(m, w, i, t, lost);
  w->doubt |= lost;
  *mask &= ~lost;
  return true;
}

void ptx_unknown_after(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (!i->row) return;
  if (i->row->flow == PTX_FLOW_WARP && w->doubt) w->doubt = mask;
  const uint32_t lanes = mask | w->doubt;
  for (int g = 0; g < i->n_groups; g++)
    if (i->groups[g].written) put(m, w, &i->groups[g], lanes, w->doubt);
  if (i->pair.n) put(m, w, &i->pair, lanes, w->doubt);
  if (ptx_has(i, PTX_MOD_cc)) w->carry_unknown = (w->carry_unknown & ~lanes) | w->doubt;
  w->doubt = 0;
}

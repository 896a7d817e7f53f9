// tcgen05 of one CTA: tensor memory, products into it, and what comes out. (PTX ISA, 9.7.16.)
//
// A product is carried out where it is asked for, as wgmma and bulk copies are; when it is over for
// others is tmem_order.c's business. Its types, shape and which way tiles run are what the
// instruction descriptor says (banks/layouts), rows of D lie in the lanes of data path layout D:
// row r in lane r, column n in column n, a cell for each sum. A warp reads and writes the 32 lanes
// of its quarter, 32x32b: lane by lane.
//
// Not run, and told by the line that asks for it: a pair of CTAs, block scaling, .ws, a sparse A, A
// in tensor memory, elements of 4 and 6 bits, M other than 128, tcgen05.cp and .shift.
#include "banks/layouts/instruction_descriptor.h"
#include "base/str.h"
#include "ptx/module/float_format.h"
#include "ptx/run/mma.h"
#include "ptx/run/run_access.h"
#include "ptx/run/run_sync.h"
#include "ptx/run/run_tile.h"
#include "ptx/run/run_tmem.h"

enum { ARCH = 100, N_MAX = 256, K_MAX = 32 };

// Holds what an instruction descriptor comes to, for one kind.
struct PtxProduct {
  InstructionDescriptor descriptor;
  int n, k, element_bytes[2];
  PtxType type[2], d;
  bool trans[2];
  double sign;
  const char *why;  // it is not run; NULL
  struct PtxProduct *next;
};

// ---- allocation ---------------------------------------------------------------------------------

static int64_t number(const PtxMachine *m, PtxWarp *w, const PtxInst *i, int group, uint32_t mask) {
  return (int64_t)(uint32_t)ptx_lanes(m, w, &i->groups[group], 0)[__builtin_ctz(mask)];
}

// The first unit of `units` free ones; -1: there are none.
static int find_free(const PtxTmem *tmem, int units) {
  for (int at = 0; at + units <= TMEM_UNITS; at += units) {
    const uint32_t bits = (uint32_t)((UINT64_C(1) << units) - 1) << at;
    if (!(tmem->taken & bits)) return at;
  }
  return -1;
}

static const char *refuses_alloc(const PtxMachine *m, const PtxTmem *tmem, int64_t n, int at) {
  if (!tensor_can_allocate(n))
    return arena_printf(m->arena, "%lld columns: allocate a power of two from 32 to 512",
                        (long long)n);
  if (tmem->gave_up) return "an allocation after relinquish_alloc_permit";
  return at < 0 ? "not enough columns are free: the block waits for ever" : NULL;
}

void run_t_alloc(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (!ptx_come_together(m, w, i, mask)) return;
  const uint32_t lane = (uint32_t)__builtin_ctz(mask);
  PtxTmem *tmem = w->block->tmem;
  const int64_t n = number(m, w, i, 1, mask);
  const int units = tensor_can_allocate(n) ? (int)n / TENSOR_COLUMNS_LEAST : 1,
            at = find_free(tmem, units);
  const char *why = refuses_alloc(m, tmem, n, at);
  if (why) {
    ptx_stop(m, w, PTX_FINDING_TENSOR_MEMORY, mask, why);
    return;
  }
  PtxAccess access;
  ptx_access_begin(m, w, i, 1u << lane, 4, true, &i->groups[0], &access);
  const PtxSpace space = i->space == PTX_SPACE_GENERIC ? PTX_SPACE_GENERIC : PTX_SPACE_SHARED;
  const PtxPlace place =
      ptx_access_lane(m, w, &access, lane, space, ptx_access_address(m, w, &i->groups[0], lane));
  if (!place.bytes) return;
  ptx_touch(m, w, (int)lane, place.offset, 4, PTX_WRITES, NULL);
  const uint32_t address = (uint32_t)at * TENSOR_COLUMNS_LEAST;
  memcpy(place.bytes, &address, sizeof address);
  ptx_mark_written(&place, 4, false);
  tmem->taken |= (uint32_t)((UINT64_C(1) << units) - 1) << at;
  tmem->had[at] = (uint8_t)units;
  tmem->alloc_pc = w->pc;
}

void run_t_dealloc(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (!ptx_come_together(m, w, i, mask)) return;
  PtxTmem *tmem = w->block->tmem;
  const int64_t address = number(m, w, i, 0, mask), n = number(m, w, i, 1, mask);
  const int at = (int)(address / TENSOR_COLUMNS_LEAST);
  if (address % TENSOR_COLUMNS_LEAST || at >= TMEM_UNITS ||
      tmem->had[at] * TENSOR_COLUMNS_LEAST != n || n == 0) {
    ptx_stop(m, w, PTX_FINDING_TENSOR_MEMORY, mask,
             "the columns freed are not those that were allocated together");
    return;
  }
  const PtxTmemReach all = {.quarters = 0xf, .column = (int)address, .n = (int)n};
  ptx_tmem_free(m, w, (uint32_t)__builtin_ctz(mask), &all);
  tmem->taken &= ~((uint32_t)((UINT64_C(1) << tmem->had[at]) - 1) << at);
  tmem->had[at] = 0;
}

void run_t_relinquish(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (ptx_come_together(m, w, i, mask)) w->block->tmem->gave_up = true;
}

// ---- products -----------------------------------------------------------------------------------

static const char *const kind_names[] = {"f16", "tf32", "f8f6f4", "i8"};
static const PtxModifier kind_words[] = {PTX_MOD_kind_f16, PTX_MOD_kind_tf32, PTX_MOD_kind_f8f6f4,
                                         PTX_MOD_kind_i8};
enum { KINDS = sizeof kind_words / sizeof *kind_words };

static const InstructionKind *kind_of(const PtxInst *i) {
  for (int k = 0; k < KINDS; k++)
    if (ptx_has(i, kind_words[k])) return instruction_kind_find(kind_names[k]);
  return NULL;
}

// The type that a field names; PTX_NO_TYPE: one of 4 or 6 bits.
static PtxType type_of(Arena *arena, const InstructionDescriptor *d, const char *field) {
  for (int i = 0; i < instruction_field_count(d->kind); i++) {
    const InstructionField *f = instruction_field_at(d->kind, i);
    if (!str_equal(f->name, field)) continue;
    const char *name = instruction_field_text(arena, d, f);
    return ptx_type_find(name, (int)strlen(name));
  }
  return PTX_NO_TYPE;
}

static const char *refuses_product(PtxMachine *m, const struct PtxProduct *p) {
  const InstructionDescriptor *d = &p->descriptor;
  Diags diags = diags_new(m->arena);
  if (!instruction_descriptor_check(m->arena, d, (InstructionUse){.cta_group = 1}, &diags))
    return arena_printf(m->arena, "the instruction descriptor 0x%08x: %s", d->word,
                        diags_text(m->arena, &diags));
  const char *letter = "?";
  instruction_data_path(d, (InstructionUse){.cta_group = 1}, &letter);
  if (instruction_value(d, "m") != TENSOR_LANES)
    return arena_printf(m->arena, "M = %d has data path layout %s for D: only M = 128 is run here",
                        instruction_value(d, "m"), letter);
  if (instruction_value(d, "sparse") || instruction_value(d, "sat"))
    return "a sparse A, or sums that saturate, are not run here";
  if (!p->type[0] || !p->type[1]) return "elements of 4 and 6 bits are not run here";
  return p->element_bytes[0] != p->element_bytes[1] ? "A and B of different width" : NULL;
}

static const struct PtxProduct *product_of(PtxMachine *m, const PtxInst *i, uint32_t word) {
  const InstructionKind *kind = kind_of(i);
  for (struct PtxProduct *p = m->product_plans; p; p = p->next)
    if (p->descriptor.kind == kind && p->descriptor.word == word) return p;
  struct PtxProduct *p = ARENA_NEW(m->arena, struct PtxProduct);
  const InstructionDescriptor d = {.kind = kind, .word = word};
  const char *const names[] = {"a", "b"}, *const majors[] = {"ta", "tb"};
  *p = (struct PtxProduct){.descriptor = d, .sign = 1, .next = m->product_plans};
  p->n = instruction_value(&d, "n");
  p->k = instruction_k(&d);
  p->d = type_of(m->arena, &d, "d");
  for (int o = 0; o < 2; o++) {
    p->type[o] = type_of(m->arena, &d, names[o]);
    p->element_bytes[o] = ptx_types[p->type[o]].bits / 8;
    p->trans[o] = instruction_value(&d, majors[o]) == 1;
  }
  if (instruction_value(&d, "nega") == 1) p->sign = -p->sign;
  if (instruction_value(&d, "negb") == 1) p->sign = -p->sign;
  p->why = refuses_product(m, p);
  return m->product_plans = p;
}

static bool read_operand(PtxMachine *m, PtxWarp *w, const struct PtxProduct *p, int operand,
                         uint64_t word, uint32_t lane, double *out) {
  const PtxTile tile = {.descriptor = smem_descriptor_decode(word, ARCH),
                        .trans = p->trans[operand],
                        .rows = operand == 0 ? TENSOR_LANES : p->n,
                        .k = p->k,
                        .element_bytes = p->element_bytes[operand],
                        .type = p->type[operand]};
  if (tile.descriptor.swizzle) return ptx_tile_read(m, w, (int)lane, &tile, PTX_ASKS, out);
  ptx_stop(m, w, PTX_FINDING_NOT_RUN, 1u << lane, "a descriptor with an undefined swizzle");
  return false;
}

// The mask of the lanes of D that stay as they are, a bit for each; none where it is not given.
static void take_disabled(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane,
                          uint32_t out[TENSOR_QUARTERS]) {
  const bool given = i->groups[4].kind == PTX_GROUP_VALUE;
  for (int q = 0; q < TENSOR_QUARTERS; q++)
    out[q] = given ? (uint32_t)ptx_lanes(m, w, &i->groups[4], q)[lane] : 0;
}

static void add_products(PtxMachine *m, PtxWarp *w, const PtxInst *i, const struct PtxProduct *p,
                         int column, bool adds, const uint32_t disabled[TENSOR_QUARTERS],
                         const double *a, const double *b) {
  double d[N_MAX];
  for (int row = 0; row < TENSOR_LANES; row++) {
    if (disabled[row / PTX_LANES] >> row % PTX_LANES & 1) continue;
    uint32_t *cells = &w->block->tmem->bits[row][column];
    for (int n = 0; n < p->n; n++) d[n] = adds ? ptx_type_value(p->d, cells[n]) : 0;
    for (int k = 0; k < p->k; k++) {
      const double x = p->sign * a[k * TENSOR_LANES + row];
      for (int n = 0; n < p->n; n++) d[n] += x * b[k * p->n + n];
    }
    for (int n = 0; n < p->n; n++) cells[n] = (uint32_t)ptx_mma_bits(i, p->d, d[n]);
  }
  if (p->d != PTX_S32) m->approximations++;
}

static bool ask(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane) {
  const uint32_t address = (uint32_t)ptx_access_address(m, w, &i->groups[0], lane);
  const struct PtxProduct *p = product_of(m, i, (uint32_t)ptx_lanes(m, w, &i->groups[3], 0)[lane]);
  if (p->why || address >> 16) {
    ptx_stop(m, w, PTX_FINDING_NOT_RUN, 1u << lane,
             p->why ? p->why : "D of 128 rows begins in lane 0 of tensor memory");
    return false;
  }
  static _Thread_local double a[K_MAX * TENSOR_LANES], b[K_MAX * N_MAX];
  PtxTmemReach reach = {.quarters = 0xf, .column = (int)address, .n = p->n};
  if (!ptx_tmem_has(m, w, lane, &reach)) return false;
  reach.product = ++w->asked;
  if (!read_operand(m, w, p, 0, ptx_lanes(m, w, &i->groups[1], 0)[lane], lane, a) ||
      !read_operand(m, w, p, 1, ptx_lanes(m, w, &i->groups[2], 0)[lane], lane, b))
    return false;
  const bool adds = ptx_pred(m, w, &i->groups[i->n_groups - 1]) >> lane & 1;
  uint32_t disabled[TENSOR_QUARTERS];
  take_disabled(m, w, i, lane, disabled);
  for (int q = 0; q < TENSOR_QUARTERS; q++)
    if (disabled[q] == ~0u) reach.quarters &= ~(1u << q);
  if (adds) ptx_tmem_read(m, w, lane, &reach);
  ptx_tmem_write(m, w, lane, &reach);
  add_products(m, w, i, p, reach.column, adds, disabled, a, b);
  return true;
}

void run_t_mma(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) if (!ask(m, w, i, l)) return;
}

// An arrival at each of the blocks that it is for.
void run_t_commit(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) {
    const PtxMbarrier *own = ptx_mbarrier_of(m, w, i, &i->groups[0], l);
    if (!own) return;
    const int64_t at = ptx_smem_offset(m, own->address);
    const bool casts = ptx_has(i, PTX_MOD_multicast);
    const uint32_t ranks = ptx_ranks_of(m, w, i, 1, l, ptx_rank_at(m, own->address));
    for (int rank = 0; rank < m->n_blocks; rank++) {
      if (!(ranks >> rank & 1)) continue;
      PtxMbarrier *b = ptx_mbarrier_at(m, w, l, casts ? m->smem_stride * rank + at : own->address);
      if (!b) return;
      ptx_reach(m, w, (int)l, rank);
      ptx_mbarrier_commit(m, w, l, b);
    }
  }
}

// ---- registers ----------------------------------------------------------------------------------

// The columns that a warp is at, and the first of its 32 lanes; -1 after a finding. Kernels give
// all four warps the same address, with lane 0 (DeepGEMM's epilogues do): each reaches its own
// quarter, though the address should say so (PTX ISA, tcgen05.ld: access restrictions).
static int take_quarter(PtxMachine *m, PtxWarp *w, uint32_t mask, const PtxGroup *at, int n,
                        PtxTmemReach *out) {
  const uint32_t lane = (uint32_t)__builtin_ctz(mask);
  const uint32_t address = (uint32_t)ptx_access_address(m, w, at, lane);
  const int quarter = w->in_block % TENSOR_QUARTERS;
  int first = (int)(address >> 16);
  *out = (PtxTmemReach){.quarters = 1u << quarter, .column = (int)(address & 0xffff), .n = n};
  if (first == 0 && quarter > 0) {
    PtxFinding *f = ptx_find(m, w, PTX_FINDING_TENSOR_MEMORY, w->pc, -1, mask);
    if (f->count == 1)
      f->text = arena_printf(
          m->arena, "the address says lane 0; warp %d reaches lanes %d to %d, and is run so",
          w->in_block, quarter * PTX_LANES, quarter * PTX_LANES + 31);
    first = quarter * PTX_LANES;
  }
  if (first != quarter * PTX_LANES) {
    ptx_stop(m, w, PTX_FINDING_TENSOR_MEMORY, mask,
             arena_printf(m->arena, "lane %d of tensor memory, but warp %d reaches only %d to %d",
                          first, w->in_block, quarter * PTX_LANES, quarter * PTX_LANES + 31));
    return -1;
  }
  return ptx_tmem_has(m, w, lane, out) ? first : -1;
}

void run_t_ld(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (!ptx_come_together(m, w, i, mask)) return;
  const PtxGroup *to = &i->groups[0];
  PtxTmemReach reach;
  const int first = take_quarter(m, w, mask, &i->groups[1], to->n, &reach);
  if (first < 0) return;
  ptx_tmem_read(m, w, (uint32_t)__builtin_ctz(mask), &reach);
  for (int n = 0; n < to->n; n++) {
    uint64_t *D = ptx_lanes(m, w, to, n);
    FOR_LANES(mask) D[l] = w->block->tmem->bits[first + (int)l][reach.column + n];
    const PtxArg arg = m->module->args[to->at + n];
    if (arg >= 0) w->frame_taint[arg] = ~0u;
  }
  ptx_note_load(m, w, to);
}

void run_t_st(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (!ptx_come_together(m, w, i, mask)) return;
  const PtxGroup *from = &i->groups[1];
  PtxTmemReach reach;
  const int first = take_quarter(m, w, mask, &i->groups[0], from->n, &reach);
  if (first < 0) return;
  ptx_tmem_write(m, w, (uint32_t)__builtin_ctz(mask), &reach);
  for (int n = 0; n < from->n; n++) {
    const uint64_t *S = ptx_lanes(m, w, from, n);
    FOR_LANES(mask) w->block->tmem->bits[first + (int)l][reach.column + n] = (uint32_t)S[l];
  }
}

void run_t_wait_ld(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (!ptx_come_together(m, w, i, mask)) return;
  OrderMoves *moves = &m->moves[w->index];
  order_wait_for_moves(&moves->loads, &moves->loaded, w->clock[w->index]);
  w->flies = m->multiplies;
}

void run_t_wait_st(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  if (!ptx_come_together(m, w, i, mask)) return;
  OrderMoves *moves = &m->moves[w->index];
  order_wait_for_moves(&moves->stores, &moves->stored, w->clock[w->index]);
}

void run_t_before(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)i, (void)mask;
  order_fact(m->order, w->clock, ORDER_BEFORE)[w->index] = ++w->clock[w->index];
}

void run_t_after(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)i, (void)mask;
  order_come_after(m->order, w->clock);
}

// ---- forms --------------------------------------------------------------------------------------

const char *ptx_product_refuses(const PtxInst *i) {
  const PtxGroup *g = i->groups;
  if (!kind_of(i)) return "tcgen05.mma: only kinds f16, tf32, f8f6f4 and i8 are run here";
  if (i->n_groups < 5 || g[0].kind != PTX_GROUP_ADDRESS || g[0].n != 1)
    return "tcgen05.mma takes D, A, B, a descriptor and a predicate";
  if (g[1].kind == PTX_GROUP_ADDRESS) return "tcgen05.mma with A in tensor memory is not run here";
  const bool masked = g[4].kind == PTX_GROUP_VALUE && i->n_groups > 5;
  if (masked && g[4].n != TENSOR_QUARTERS) return "a mask of lanes of D has four words";
  if (i->n_groups > 5 + masked || g[4 + masked].kind != PTX_GROUP_PRED)
    return "tcgen05.mma with D scaled is not run here";
  for (int n = 1; n < 4; n++)
    if (g[n].kind != PTX_GROUP_VALUE || g[n].n != 1) return "tcgen05.mma takes descriptors";
  return NULL;
}

const char *ptx_tmem_move_refuses(const PtxInst *i) {
  static const PtxModifier times[] = {PTX_MOD_x1,  PTX_MOD_x2,  PTX_MOD_x4,  PTX_MOD_x8,
                                      PTX_MOD_x16, PTX_MOD_x32, PTX_MOD_x64, PTX_MOD_x128};
  const PtxGroup *values = &i->groups[i->groups[0].kind == PTX_GROUP_ADDRESS];
  int n = 0;
  for (int t = 0; t < (int)(sizeof times / sizeof *times); t++)
    if (ptx_has(i, times[t])) n = 1 << t;
  if (!ptx_has(i, PTX_MOD_m32x32b)) return "tcgen05.ld and .st are run only with .32x32b";
  return values->n == n && values->kind == PTX_GROUP_VALUE
             ? NULL
             : "expected the number of registers that .x1 to .x128 names";
}

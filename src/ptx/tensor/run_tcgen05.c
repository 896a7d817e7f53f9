// tcgen05: tensor memory, what goes into it from registers and comes out. (PTX ISA, 9.7.16.)
//
// A warp reads and writes the 32 lanes of its quarter, in one of the shapes of "Data Movement
// Shape": which cell a register of a lane is, is table-driven. Products are run_t_mma.c's; when
// they are over for others is tmem_order.c's business.
//
//   .16x256b.x1, lane 5: registers 0, 1 are columns 2, 3 of row 1, registers 2, 3 the same of row 9
//
// Both CTAs of a pair (cta_group::2) allocate for themselves.
#include "base/str.h"
#include "ptx/run/run_access.h"
#include "ptx/run/run_sync.h"
#include "ptx/tensor/run_tmem.h"

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

// ---- commits ------------------------------------------------------------------------------------

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

// One shape of a move: lanes of tensor memory, columns of one repetition, registers of it.
typedef struct Move {
  PtxModifier name;
  int lanes, columns, registers;
  bool halves;  // .16x32bx2: the upper half of the warp has columns of its own
} Move;

static const Move shapes[] = {
    {PTX_MOD_m32x32b, 32, 1, 1, false},  {PTX_MOD_m16x64b, 16, 2, 1, false},
    {PTX_MOD_m16x128b, 16, 4, 2, false}, {PTX_MOD_m16x256b, 16, 8, 4, false},
    {PTX_MOD_m16x32bx2, 16, 1, 1, true},
};

static const Move *move_of(const PtxInst *i) {
  for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++)
    if (ptx_has(i, shapes[n].name)) return &shapes[n];
  return NULL;
}

// The cell that register r of a lane is, from the first lane and column on; of .16x32bx2 the second
// column is where the upper half begins.
static void cell_of(const Move *move, int lane, int r, int second, int *row, int *column) {
  switch (move->columns) {
    case 1:
      *row = lane % move->lanes;
      *column = r + (move->halves && lane >= 16 ? second : 0);
      return;
    case 2:
      *row = lane / 4 + 8 * (lane % 2);
      *column = lane / 2 % 2 + 2 * r;
      return;
    case 4:
      *row = lane / 4 + 8 * (r % 2);
      *column = lane % 4 + 4 * (r / 2);
      return;
    default:
      *row = lane / 4 + 8 * (r / 2 % 2);
      *column = lane % 4 * 2 + r % 2 + 8 * (r / 4);
      return;
  }
}

// A move of a warp: where it begins, and its registers. With .pack::16b or .unpack::16b a register
// has the lower halves of two columns.
typedef struct Moved {
  const Move *move;
  const PtxGroup *registers;
  PtxTmemReach reach[2];
  int n_reaches, first, column, second;  // of lanes and columns
  bool packs;
} Moved;

// Kernels give all four warps the same address, with lane 0 (DeepGEMM's epilogues do): each reaches
// its own quarter, though the address should say so (PTX ISA, tcgen05.ld: access restrictions).
static bool take_move(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask, bool is_store,
                      Moved *out) {
  const uint32_t lane = (uint32_t)__builtin_ctz(mask);
  const PtxGroup *at = &i->groups[is_store ? 0 : 1];
  const uint32_t address = (uint32_t)ptx_access_address(m, w, at, lane);
  const int quarter = w->in_block % TENSOR_QUARTERS;
  *out = (Moved){.move = move_of(i),
                 .registers = &i->groups[is_store ? i->n_groups - 1 : 0],
                 .n_reaches = 1,
                 .first = (int)(address >> 16),
                 .column = (int)(address & 0xffff),
                 .packs = ptx_has(i, PTX_MOD_pack_16b) || ptx_has(i, PTX_MOD_unpack_16b)};
  if (out->first == 0 && quarter > 0) {
    PtxFinding *f = ptx_find(m, w, PTX_FINDING_TENSOR_MEMORY, w->pc, -1, mask);
    if (f->count == 1)
      f->text = arena_printf(
          m->arena, "the address says lane 0; warp %d reaches lanes %d to %d, and is run so",
          w->in_block, quarter * PTX_LANES, quarter * PTX_LANES + 31);
    f->open =
        "addresses of tensor memory that say lane 0 in every warp: each was run in its own lanes";
    out->first = quarter * PTX_LANES;
  }
  const int begin = out->first - quarter * PTX_LANES;
  if (begin != 0 && !(begin == 16 && out->move->lanes == 16)) {
    ptx_stop(m, w, PTX_FINDING_TENSOR_MEMORY, mask,
             arena_printf(m->arena, "lane %d of tensor memory, but warp %d reaches only %d to %d",
                          out->first, w->in_block, quarter * PTX_LANES, quarter * PTX_LANES + 31));
    return false;
  }
  const int columns = out->registers->n / out->move->registers * out->move->columns;
  out->reach[0] = (PtxTmemReach){
      .quarters = 1u << quarter, .column = out->column, .n = columns << (out->packs ? 1 : 0)};
  if (out->move->halves) {
    out->second = (int)(int32_t)ptx_lanes(m, w, &i->groups[is_store ? 1 : 2], 0)[lane];
    out->reach[1] = out->reach[0];
    out->reach[out->n_reaches++].column += out->second;
  }
  for (int n = 0; n < out->n_reaches; n++)
    if (!ptx_tmem_has(m, w, lane, &out->reach[n])) return false;
  return true;
}

// The cells of register r in a lane: one, or the two that are packed.
static int cells_of(const Moved *moved, int lane, int r, int at[2][2]) {
  int row, column;
  cell_of(moved->move, lane, r, 0, &row, &column);
  const int half = moved->move->halves && lane >= 16 ? moved->second : 0;
  for (int c = 0; c < 2; c++) {
    at[c][0] = moved->first + row;
    at[c][1] = moved->column + half + (moved->packs ? 2 * column + c : column);
  }
  return moved->packs ? 2 : 1;
}

void run_t_ld(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  Moved moved;
  if (!ptx_come_together(m, w, i, mask) || !take_move(m, w, i, mask, false, &moved)) return;
  const PtxTmem *tmem = w->block->tmem;
  for (int n = 0; n < moved.n_reaches; n++)
    ptx_tmem_read(m, w, (uint32_t)__builtin_ctz(mask), &moved.reach[n]);
  for (int r = 0; r < moved.registers->n; r++) {
    uint64_t *D = ptx_lanes(m, w, moved.registers, r);
    FOR_LANES(mask) {
      int at[2][2];
      const int n = cells_of(&moved, (int)l, r, at);
      D[l] = tmem->bits[at[0][0]][at[0][1]];
      if (n == 2) D[l] = (D[l] & 0xffff) | (uint32_t)tmem->bits[at[1][0]][at[1][1]] << 16;
      for (int c = 0; c < n; c++)
        if (tmem->unknown[at[c][0]][at[c][1]]) ptx_doubt(m, w, 1u << l);
    }
    const PtxArg arg = m->module->args[moved.registers->at + r];
    if (arg >= 0) w->frame_taint[arg] = ~0u;
  }
  ptx_note_load(m, w, moved.registers);
}

void run_t_st(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  Moved moved;
  if (!ptx_come_together(m, w, i, mask) || !take_move(m, w, i, mask, true, &moved)) return;
  PtxTmem *tmem = w->block->tmem;
  for (int n = 0; n < moved.n_reaches; n++)
    ptx_tmem_write(m, w, (uint32_t)__builtin_ctz(mask), &moved.reach[n]);
  for (int r = 0; r < moved.registers->n; r++) {
    const uint64_t *S = ptx_lanes(m, w, moved.registers, r);
    FOR_LANES(mask) {
      int at[2][2];
      const int n = cells_of(&moved, (int)l, r, at);
      for (int c = 0; c < n; c++) {
        tmem->bits[at[c][0]][at[c][1]] =
            n == 1 ? (uint32_t)S[l] : (uint32_t)(S[l] >> 16 * c & 0xffff);
        tmem->unknown[at[c][0]][at[c][1]] = w->doubt >> l & 1;
      }
    }
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

const char *ptx_tmem_move_refuses(const PtxInst *i) {
  static const PtxModifier times[] = {PTX_MOD_x1,  PTX_MOD_x2,  PTX_MOD_x4,  PTX_MOD_x8,
                                      PTX_MOD_x16, PTX_MOD_x32, PTX_MOD_x64, PTX_MOD_x128};
  const bool is_store = i->groups[0].kind == PTX_GROUP_ADDRESS;
  const PtxGroup *values = &i->groups[is_store ? i->n_groups - 1 : 0];
  const Move *move = move_of(i);
  int n = 0;
  for (int t = 0; t < (int)(sizeof times / sizeof *times); t++)
    if (ptx_has(i, times[t])) n = 1 << t;
  if (!move) return "tcgen05.ld and .st take .32x32b, .16x64b, .16x128b, .16x256b or .16x32bx2";
  if (i->n_groups != (move->halves ? 3 : 2))
    return move->halves ? "expected where the second half begins" : "more operands than it takes";
  return values->n == n * move->registers && values->kind == PTX_GROUP_VALUE
             ? NULL
             : "expected the number of registers that the shape and .x1 to .x128 name";
}

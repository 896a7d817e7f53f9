// Loads, stores and atomics. (PTX ISA, 9.7.9 and 9.7.13.)
//
// Each lane's address is looked up, checked for alignment, and the warp's addresses together go to
// the watcher. A byte knows whether it was written and whether its value follows from loaded
// data; what comes out of global memory is data by definition.
#include <math.h>

#include "ptx/module/float_format.h"
#include "ptx/run/run_access.h"
#include "ptx/run/run_orders.h"

void ptx_access_begin(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask, int bytes,
                      bool is_store, const PtxGroup *address, PtxAccess *out) {
  out->pc = w->pc;
  out->inst = i;
  out->space = PTX_SPACE_GENERIC;
  out->mask = 0;
  out->bytes = bytes;
  out->warp = w->in_block;
  out->rank = w->block->rank;
  out->remote = out->unknown = false;
  out->swaps = false;
  out->tile_wavefronts = 0;
  out->named = w->named;
  out->is_store = is_store;
  const PtxArg base = m->module->args[address->at];
  const uint32_t data = base >= 0 ? w->frame_taint[base] : 0;
  const uint32_t guard = i->guard >= 0 ? w->frame_pred_taint[i->guard] : 0;
  out->data_addresses = (data & mask) != 0;
  out->data_mask = w->control != 0 || (guard & w->mask) != 0;
  for (int lane = 0; lane < PTX_LANES; lane++) out->addr[lane] = -1;
}

uint64_t ptx_access_address(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, uint32_t lane) {
  const uint64_t base = ptx_lanes(m, w, g, 0)[lane];
  const uint64_t sum = base + (uint64_t)g->offset;
  return m->module->args[g->at] >= 0 ? ptx_cut(sum, ptx_reg_bits(m, w, g, 0)) : sum;
}

// Memory of another block of the cluster takes an address that may name it.
static bool may_reach(PtxWarp *w, const PtxInst *i, PtxSpace space, int rank) {
  return rank == w->block->rank || space == PTX_SPACE_GENERIC || ptx_has(i, PTX_MOD_shared_cluster);
}

// The place of one lane's access; NULL bytes after a finding that ends the block.
PtxPlace ptx_access_lane(PtxMachine *m, PtxWarp *w, PtxAccess *access, uint32_t lane,
                         PtxSpace space, uint64_t address) {
  const bool aligned = address % (uint64_t)access->bytes == 0;
  const PtxSpace named = space;
  PtxPlace place = {0};
  if (aligned) place = ptx_place(m, ptx_thread(w, (int)lane), &space, address, access->bytes);
  const int rank =
      place.bytes && space == PTX_SPACE_SHARED ? ptx_rank_at(m, place.offset) : w->block->rank;
  if (!may_reach(w, access->inst, named, rank)) place.bytes = NULL;
  if (!place.bytes) {
    PtxFinding *finding =
        ptx_find(m, w, aligned ? PTX_FINDING_OUT_OF_BOUNDS : PTX_FINDING_MISALIGNED, access->pc, -1,
                 1u << lane);
    if (finding->count == 1) {
      finding->address = address;
      finding->space = space;
      finding->bytes = access->bytes;
    }
    m->stopped = true;
    return place;
  }
  if (rank != w->block->rank) {
    access->remote = true;
    ptx_reach(m, w, (int)lane, rank);
  }
  if (space == PTX_SPACE_SHARED || space == PTX_SPACE_GLOBAL) {
    // A warp with lanes that mean different spaces counts for the shared one.
    if (access->space != PTX_SPACE_SHARED) access->space = space;
    if (access->space == space) {
      access->addr[lane] =
          space == PTX_SPACE_SHARED ? ptx_smem_offset(m, place.offset) : (int64_t)address;
      access->mask |= 1u << lane;
    }
  }
  return place;
}

void ptx_access_end(PtxMachine *m, const PtxAccess *access) {
  m->events += access->is_store;
  const bool told = m->watched < 0 || m->watched == access->rank;
  if (m->sink && access->mask && told) m->sink(m->sink_self, access);
}

bool ptx_check_written(PtxMachine *m, PtxWarp *w, const PtxAccess *access, uint32_t lane,
                       const PtxPlace *place, int64_t address) {
  unsigned known = 0;
  for (int byte = 0; byte < access->bytes; byte++) known |= place->state[byte] & PTX_BYTE_WRITTEN;
  if (known) return true;
  PtxFinding *finding = ptx_find(m, w, PTX_FINDING_UNWRITTEN, access->pc, -1, 1u << lane);
  if (finding->count == 1) {
    finding->address = (uint64_t)address;
    finding->space = access->space;
    finding->bytes = access->bytes;
  }
  return false;
}

bool ptx_place_is_data(const PtxPlace *place, int bytes) {
  for (int byte = 0; byte < bytes; byte++)
    if (place->state[byte] & PTX_BYTE_DATA) return true;
  return false;
}

void ptx_mark_written(const PtxPlace *place, int bytes, bool is_data) {
  memset(place->state, PTX_BYTE_WRITTEN | (is_data ? PTX_BYTE_DATA : 0), (size_t)bytes);
}

void ptx_mark_atomic(const PtxPlace *place, int bytes) {
  memset(place->state, PTX_BYTE_WRITTEN | PTX_BYTE_DATA | PTX_BYTE_ATOMIC, (size_t)bytes);
}

// ---- loads and stores ---------------------------------------------------------------------------

static bool is_watched(PtxSpace space) {
  return space == PTX_SPACE_SHARED || space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC;
}

// A register that is wider than the value loaded is filled with the sign.
static uint64_t loaded(const PtxMachine *m, const PtxWarp *w, const PtxGroup *g, int n,
                       const PtxTypeRow *type, const unsigned char *bytes) {
  uint64_t value = 0;
  memcpy(&value, bytes, (size_t)type->bits / 8);
  if (type->class != 'S') return value;
  return ptx_cut((uint64_t)ptx_sign(value, type->bits), ptx_reg_bits(m, w, g, n));
}

static void set_taint(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, int n, uint32_t mask,
                      uint32_t data) {
  const PtxArg arg = m->module->args[g->at + n];
  if (arg >= 0) w->frame_taint[arg] = (w->frame_taint[arg] & ~mask) | (data & mask);
}

// A warp that reads a word of global memory again and finds it as it was may wait for another
// block. It lets others run; what it does may be no waiting, so that it never counts as asked in
// vain.
static void note_question(PtxMachine *m, PtxWarp *w, uint64_t value) {
  w->yields |= w->question == w->pc && w->answer == value;
  m->events += w->yields;
  w->question = w->pc;
  w->answer = value;
}

// The space that an access to shared or global memory meant; any other is as it is named.
static PtxSpace space_of(const PtxInst *i, const PtxAccess *access) {
  return access->space == PTX_SPACE_GENERIC ? i->space : access->space;
}

void run_ld(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const PtxGroup *to = &i->groups[0], *from = &i->groups[1];
  const PtxTypeRow *type = &ptx_types[i->form.types[0]];
  const int n = to->n, size = type->bits / 8;
  PtxAccess access;
  ptx_access_begin(m, w, i, mask, size * n, false, from, &access);
  const PtxTouchKind kind = ptx_is_atomic(i) ? PTX_ATOMIC_READS : PTX_READS;
  uint32_t data = w->control;
  FOR_LANES(mask) {
    const uint64_t address = ptx_access_address(m, w, from, l);
    const PtxPlace place = ptx_access_lane(m, w, &access, l, i->space, address);
    if (!place.bytes) return;
    const bool is_shared = access.space == PTX_SPACE_SHARED && access.mask >> l & 1;
    if (is_shared) ptx_touch(m, w, (int)l, place.offset, access.bytes, kind, NULL);
    if (is_watched(i->space) && access.mask >> l & 1)
      ptx_check_written(m, w, &access, l, &place, access.addr[l]);
    const bool is_global = access.space == PTX_SPACE_GLOBAL && access.mask >> l & 1;
    const bool fixed = i->space == PTX_SPACE_PARAM || i->space == PTX_SPACE_CONST;
    if ((is_global && !fixed) || ptx_place_is_data(&place, access.bytes)) data |= 1u << l;
    if (ptx_place_is_unknown(m, &place, space_of(i, &access), access.bytes))
      ptx_doubt(m, w, 1u << l);
    for (int k = 0; k < n; k++)
      ptx_lanes(m, w, to, k)[l] = loaded(m, w, to, k, type, place.bytes + k * size);
  }
  if (access.data_addresses) {
    const PtxArg base = m->module->args[from->at];
    data |= base >= 0 ? w->frame_taint[base] : 0;
  }
  for (int k = 0; k < n; k++) set_taint(m, w, to, k, mask, data);
  if (kind == PTX_ATOMIC_READS) ptx_order_after(m, w, i, mask);
  if (is_watched(i->space)) ptx_access_end(m, &access);
  if (is_watched(access.space) && (kind == PTX_ATOMIC_READS || ptx_has(i, PTX_MOD_volatile)))
    note_question(m, w, ptx_lanes(m, w, to, 0)[__builtin_ctz(mask)]);
  if (access.space == PTX_SPACE_GLOBAL && !access.is_store) ptx_orders_reads_global(m, w);
}

static uint32_t data_of(const PtxMachine *m, const PtxWarp *w, const PtxGroup *g) {
  uint32_t data = w->control;
  for (int k = 0; k < g->n; k++) {
    const PtxArg arg = m->module->args[g->at + k];
    if (arg >= 0) data |= w->frame_taint[arg];
  }
  return data;
}

void run_st(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const PtxGroup *to = &i->groups[0], *from = &i->groups[1];
  const int n = from->n, size = ptx_types[i->form.types[0]].bits / 8;
  PtxAccess access;
  ptx_access_begin(m, w, i, mask, size * n, true, to, &access);
  const uint32_t data = data_of(m, w, from);
  const PtxTouchKind kind = ptx_is_atomic(i) ? PTX_ATOMIC : PTX_WRITES;
  if (kind == PTX_ATOMIC) ptx_order_before(m, w, i);
  FOR_LANES(mask) {
    const uint64_t address = ptx_access_address(m, w, to, l);
    const PtxPlace place = ptx_access_lane(m, w, &access, l, i->space, address);
    if (!place.bytes) return;
    unsigned char values[64];
    for (int k = 0; k < n; k++)
      memcpy(values + k * size, &ptx_lanes(m, w, from, k)[l], (size_t)size);
    if (access.space == PTX_SPACE_SHARED && access.mask >> l & 1)
      ptx_touch(m, w, (int)l, place.offset, access.bytes, kind, values);
    memcpy(place.bytes, values, (size_t)access.bytes);
    ptx_mark_written(&place, access.bytes, data >> l & 1);
    if (w->doubt >> l & 1) ptx_mark_unknown(&place, access.bytes);
  }
  if (is_watched(i->space)) ptx_access_end(m, &access);
}

// ---- atomics ------------------------------------------------------------------------------------

// A sum of f32 that is no number is one NaN; f64 keeps the bits of the operand's, then of memory's.
// Which of two an addition keeps would else be the compiler's to choose. (red.add of both on an
// NVIDIA H200, driver 580, 2026-11-30: infinities of both signs add up to fff8000000000000.)
static uint64_t sum_f64(uint64_t old, uint64_t b) {
  if (isnan(ptx_f64(b))) return b;
  if (isnan(ptx_f64(old))) return old;
  const double sum = ptx_f64(old) + ptx_f64(b);
  return isnan(sum) ? UINT64_C(0xfff8000000000000) : ptx_f64_bits(sum);
}

static uint64_t sum_f32(uint64_t old, uint64_t b) {
  const float sum = ptx_f32(old) + ptx_f32(b);
  return isnan(sum) ? ptx_formats[PTX_FORMAT_F32].nan : ptx_f32_bits(sum);
}

static uint64_t atomic_float(PtxModifier logic, PtxType type, uint64_t old, uint64_t b) {
  if (type == PTX_F32) return sum_f32(old, b);
  if (type == PTX_F64) return sum_f64(old, b);
  const PtxFormat *format = ptx_format_of(type);
  uint64_t result = 0;
  for (int at = 0; at < ptx_types[type].bits; at += 16) {
    const double x = ptx_float_value(format, old >> at & 0xffff),
                 y = ptx_float_value(format, b >> at & 0xffff);
    const double value = logic == PTX_MOD_min   ? (x < y ? x : y)
                         : logic == PTX_MOD_max ? (x > y ? x : y)
                                                : x + y;
    result |= ptx_float_round(format, value, PTX_ROUND_NEAREST, false) << at;
  }
  return result;
}

uint64_t ptx_atomic_result(PtxModifier logic, PtxType id, uint64_t old, uint64_t b, uint64_t c) {
  if (ptx_format_of(id)) return atomic_float(logic, id, old, b);
  const PtxTypeRow *type = &ptx_types[id];
  const bool less =
      type->class == 'S' ? ptx_sign(old, type->bits) < ptx_sign(b, type->bits) : old < b;
  switch (logic) {
    case PTX_MOD_add:
      return old + b;
    case PTX_MOD_and:
      return old & b;
    case PTX_MOD_or:
      return old | b;
    case PTX_MOD_xor:
      return old ^ b;
    case PTX_MOD_exch:
      return b;
    case PTX_MOD_cas:
      return old == b ? c : old;
    case PTX_MOD_min:
      return less ? old : b;
    case PTX_MOD_max:
      return less ? b : old;
    case PTX_MOD_inc:
      return old >= b ? 0 : old + 1;
    case PTX_MOD_dec:
      return old == 0 || old > b ? b : old - 1;
    default:
      return old;
  }
}

void ptx_atomic_bytes(PtxModifier logic, PtxType type, unsigned char *to, const unsigned char *with,
                      int64_t bytes) {
  const int size = ptx_types[type].bits / 8;
  for (int64_t at = 0; at + size <= bytes; at += size) {
    uint64_t was = 0, value = 0;
    memcpy(&was, to + at, (size_t)size);
    memcpy(&value, with + at, (size_t)size);
    const uint64_t now = ptx_atomic_result(logic, type, was, value, 0);
    memcpy(to + at, &now, (size_t)size);
  }
}

static void atomic(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask, const PtxGroup *to,
                   const PtxGroup *old, const PtxGroup *b, const PtxGroup *c) {
  static const uint64_t zero[PTX_LANES];
  const PtxType id = i->form.types[0];
  const PtxTypeRow *type = &ptx_types[id];
  const int size = type->bits / 8;
  PtxAccess access;
  ptx_access_begin(m, w, i, mask, size * b->n, true, to, &access);
  ptx_order_before(m, w, i);
  FOR_LANES(mask) {
    const uint64_t address = ptx_access_address(m, w, to, l);
    const PtxPlace place = ptx_access_lane(m, w, &access, l, i->space, address);
    if (!place.bytes) return;
    if (access.space == PTX_SPACE_SHARED && access.mask >> l & 1)
      ptx_touch(m, w, (int)l, place.offset, access.bytes, PTX_ATOMIC, NULL);
    if (ptx_place_is_unknown(m, &place, access.space, access.bytes)) ptx_doubt(m, w, 1u << l);
    for (int k = 0; k < b->n; k++) {
      uint64_t was = 0;
      memcpy(&was, place.bytes + k * size, (size_t)size);
      const uint64_t with = ptx_cut(ptx_lanes(m, w, b, k)[l], type->bits),
                     then = c ? ptx_cut(ptx_lanes(m, w, c, k)[l], type->bits) : zero[0];
      const uint64_t now = ptx_atomic_result(i->form.logic, id, was, with, then);
      memcpy(place.bytes + k * size, &now, (size_t)size);
      if (old && old->kind == PTX_GROUP_VALUE) ptx_lanes(m, w, old, k)[l] = was;
    }
    ptx_mark_atomic(&place, access.bytes);
    if (w->doubt >> l & 1) ptx_mark_unknown(&place, access.bytes);
  }
  // The order of the lanes is not known, and the values they get depend on it.
  for (int k = 0; old && k < old->n; k++) set_taint(m, w, old, k, mask, mask);
  ptx_order_after(m, w, i, mask);
  ptx_access_end(m, &access);
}

void run_atom(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  atomic(m, w, i, mask, &i->groups[1], &i->groups[0], &i->groups[2],
         i->form.logic == PTX_MOD_cas ? &i->groups[3] : NULL);
}
void run_red(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  atomic(m, w, i, mask, &i->groups[0], NULL, &i->groups[1], NULL);
}

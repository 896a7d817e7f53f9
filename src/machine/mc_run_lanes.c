// Values between lanes, predicates as bits, constant banks, and exchanges in shared memory.
#include "machine/mc_run.h"
#include "ptx/run/run_access.h"

static inline bool lane_of(uint32_t bits, uint32_t l) { return bits >> l & 1; }

// The assembler (ptxas 13.0) leaves a NOP in place of a __syncwarp() of lanes that are together.
void mc_run_meet(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m, (void)i;
  ptx_meet(w, mask);
}

void mc_run_nothing(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m, (void)w, (void)i, (void)mask;
}

// The same value for all lanes: a register of the warp.
static void put_all(PtxWarp *w, const PtxInst *i, int n, uint32_t value) {
  uint64_t *D = mc_row(w, i, n, 0);
  for (int l = 0; l < PTX_LANES; l++) D[l] = value;
}

// R2UR p, d, a: p says which lanes have another value than the first one's, which d has; with .OR,
// or had one before (sass_run.c has the loop that a thread goes round for a value of its own).
static void move_uniform(PtxWarp *w, const PtxInst *i, uint32_t mask, uint32_t before) {
  const uint64_t *A = mc_row(w, i, 2, 0);
  const uint32_t value = mc_value(mc_operand(i, 2), A[__builtin_ctz(mask)]);
  uint32_t apart = before;
  FOR_LANES(mask) apart |= (uint32_t)(mc_value(mc_operand(i, 2), A[l]) != value) << l;
  put_all(w, i, 1, value);
  mc_put_pred(w, i, 0, mask, apart);
  mc_follow(w, i, ~0u, mc_data(w, i) & mask ? ~0u : 0);
}

void mc_run_move_uniform(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  move_uniform(w, i, mask, 0);
}

void mc_run_move_uniform_or(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  move_uniform(w, i, mask, mc_pred(w, i, 0, false));
}

// ---- votes --------------------------------------------------------------------------------------

static void vote(PtxWarp *w, const PtxInst *i, uint32_t mask, bool all) {
  const uint32_t yes = mc_pred(w, i, 2, true) & mask;
  const bool holds = all ? yes == mask : yes != 0;
  const bool once = i->machine->op->name[4] == 'U';
  const McOperand *d = mc_operand(i, 0);
  if (d->present) {
    uint64_t *D = mc_row(w, i, 0, 0);
    FOR_LANES(once ? ~0u : mask) D[l] = yes;
  }
  mc_put_pred(w, i, 1, once ? ~0u : mask, holds ? ~0u : 0);
  mc_follow(w, i, once ? ~0u : mask, mc_data(w, i) & mask ? ~0u : 0);
}

void mc_run_vote_any(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  vote(w, i, mask, false);
}
void mc_run_vote_all(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  vote(w, i, mask, true);
}

void mc_run_match_any(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const uint64_t *A = mc_row(w, i, 1, 0);
  uint32_t same[PTX_LANES] = {0};
  for (uint32_t k = 0; k < PTX_LANES; k++)
    FOR_LANES(mask) same[k] |= (uint32_t)((uint32_t)A[k] == (uint32_t)A[l]) << l;
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) D[l] = same[l];
  mc_follow(w, i, mask, mc_data(w, i) & mask ? ~0u : 0);
}

void mc_run_match_all(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const uint64_t *A = mc_row(w, i, 2, 0);
  const uint32_t first = (uint32_t)A[__builtin_ctz(mask)];
  bool all = true;
  FOR_LANES(mask) all &= (uint32_t)A[l] == first;
  uint64_t *D = mc_row(w, i, 1, 0);
  FOR_LANES(mask) D[l] = all ? mask : 0;
  mc_put_pred(w, i, 0, mask, all ? ~0u : 0);
  mc_follow(w, i, mask, mc_data(w, i) & mask ? ~0u : 0);
}

static uint32_t together(const McStep *step, uint32_t a, uint32_t b) {
  const bool less = mc_has(step, MC_W_S32) ? (int32_t)a < (int32_t)b : a < b;
  if (mc_has(step, MC_W_OR)) return a | b;
  if (mc_has(step, MC_W_XOR)) return a ^ b;
  if (mc_has(step, MC_W_AND)) return a & b;
  if (mc_has(step, MC_W_MIN)) return less ? a : b;
  if (mc_has(step, MC_W_MAX)) return less ? b : a;
  return mc_has(step, MC_W_SUM) ? a + b : a & b;
}

void mc_run_redux(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const uint64_t *A = mc_row(w, i, 1, 0);
  uint32_t left = mask & (mask - 1), value = (uint32_t)A[__builtin_ctz(mask)];
  FOR_LANES(left) value = together(i->machine, value, (uint32_t)A[l]);
  put_all(w, i, 0, value);
  mc_follow(w, i, ~0u, mc_data(w, i) & mask ? ~0u : 0);
}

// ELECT p, d, q: the first lane; d is its number.
void mc_run_elect(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const uint32_t among = mc_pred(w, i, 2, true) & mask;
  const uint32_t lane = among ? (uint32_t)__builtin_ctz(among) : 0;
  put_all(w, i, 1, lane);
  mc_put_pred(w, i, 0, mask, among ? 1u << lane : 0);
  mc_follow(w, i, mask, 0);
}

// ---- predicates as bits -------------------------------------------------------------------------

static int byte_of(const McStep *step) {
  return mc_has(step, MC_W_B1) ? 8 : mc_has(step, MC_W_B2) ? 16 : mc_has(step, MC_W_B3) ? 24 : 0;
}

// UP2UR has the predicates of the warp.
static int first_pred(const McStep *step) {
  return step->op->name[0] == 'U' ? MC_FRAME_UP : MC_FRAME_P;
}

// P2R d, PR, a, mask: the predicates at the bits of the mask, a's bits elsewhere.
void mc_run_pack_preds(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const uint64_t *A = mc_row(w, i, 2, 0), *B = mc_row(w, i, 3, 0);
  const int shift = byte_of(i->machine), first = first_pred(i->machine);
  if (first == MC_FRAME_UP) mask = ~0u;
  uint64_t *D = mc_row(w, i, 0, 0);
  uint32_t data = mc_data(w, i);
  for (int p = 0; p < MC_PT; p++) data |= w->frame_pred_taint[first + p];
  FOR_LANES(mask) {
    uint32_t bits = 1u << MC_PT;
    for (int p = 0; p < MC_PT; p++) bits |= (uint32_t)lane_of(w->frame_preds[first + p], l) << p;
    const uint32_t which = (uint32_t)B[l] & 0xff;
    D[l] = ((uint32_t)A[l] & ~(which << shift)) | (bits & which) << shift;
  }
  mc_follow(w, i, mask, data);
}

// R2P PR, a, mask
void mc_run_unpack_preds(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const uint64_t *A = mc_row(w, i, 1, 0), *B = mc_row(w, i, 2, 0);
  const int shift = byte_of(i->machine) + mc_operand(i, 1)->read->shift;
  const uint32_t data = mc_data(w, i);
  for (int p = 0; p < MC_PT; p++) {
    uint32_t bits = 0, lanes = 0;
    FOR_LANES(mask) {
      lanes |= (uint32_t)((uint32_t)B[l] >> p & 1) << l;
      bits |= (uint32_t)((uint32_t)A[l] >> (shift + p) & 1) << l;
    }
    w->frame_preds[p] = (w->frame_preds[p] & ~lanes) | (bits & lanes);
    w->frame_pred_taint[p] = (w->frame_pred_taint[p] & ~lanes) | (data & lanes);
  }
}

// B2R.RESULT d, p: of the last BAR.RED.
void mc_run_barrier_result(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  const uint64_t *from = mc_lanes(w, MC_FRAME_BR);
  uint64_t *D = mc_row(w, i, 0, 0);
  FOR_LANES(mask) D[l] = from[l];
  mc_put_pred(w, i, 1, mask, w->frame_preds[MC_FRAME_BP]);
  mc_follow(w, i, mask, ~0u);
}

// ---- constant banks -----------------------------------------------------------------------------

static uint32_t narrow(const McStep *step, uint32_t value) {
  if (mc_has(step, MC_W_U8)) return value & 0xff;
  if (mc_has(step, MC_W_U16)) return value & 0xffff;
  if (mc_has(step, MC_W_S8)) return (uint32_t)ptx_sign(value, 8);
  return mc_has(step, MC_W_S16) ? (uint32_t)ptx_sign(value, 16) : value;
}

static PtxArg frame_of(int number, int none, int first) {
  return number == MC_NO_REGISTER || number == none ? ~PTX_SPECIAL_zero : first + number;
}

// LDC d, c[bank][register + place]
void mc_run_constant(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const McOperand *d = mc_operand(i, 0);
  const McRead *c = mc_operand(i, 1)->read;
  const PtxArg index = frame_of(c->number, MC_RZ, MC_FRAME_R),
               uniform = frame_of(c->uniform, MC_URZ, MC_FRAME_UR);
  const uint64_t *A = mc_lanes(w, index), *U = mc_lanes(w, uniform);
  const uint32_t lanes = d->read->is_uniform ? ~0u : mask;
  int64_t first[PTX_LANES];  // LDC.64 R2, c[0x0][R2]: the index may be overwritten
  FOR_LANES(lanes) first[l] = (int32_t)((uint32_t)A[l] + (uint32_t)U[l] + (uint32_t)c->value);
  FOR_LANES(lanes)
  for (int k = 0; k < d->n; k++) {
    const int64_t at = first[l] + 4 * k;
    uint32_t value = 0;
    if (!mc_constant(m, w, c->bank, at, &value) && lane_of(mask, l) &&
        !(d->read->is_uniform && k)) {
      PtxFinding *f = ptx_find(m, w, PTX_FINDING_OUT_OF_BOUNDS, w->pc, -1, 1u << l);
      f->address = (uint64_t)at;
      f->space = PTX_SPACE_CONST;
      f->bytes = 4 * d->n;
      m->stopped = true;
      return;
    }
    mc_row(w, i, 0, k)[l] = narrow(i->machine, value);
  }
  mc_follow(w, i, lanes, index >= 0 ? w->frame_taint[index] : 0);
}

// ---- shared memory ------------------------------------------------------------------------------

// ATOMS.CAST.SPIN d, [a], b, c: memory that equals b becomes c; d says whether it did.
void mc_run_cast_spin(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const McRead *a = mc_operand(i, 1)->read;
  const PtxArg base = frame_of(a->number, MC_RZ, MC_FRAME_R),
               uniform = frame_of(a->uniform, MC_URZ, MC_FRAME_UR);
  const McOperand *b = mc_operand(i, 2);
  const int bytes = 4 * b->n;
  uint64_t *D = mc_row(w, i, 0, 0);
  PtxGroup address = {.kind = PTX_GROUP_ADDRESS, .n = 1, .at = i->groups[1].at};
  PtxAccess access;
  ptx_access_begin(m, w, i, mask, bytes, true, &address, &access);
  access.swaps = true;
  FOR_LANES(mask) {
    const uint64_t at =
        (mc_lanes(w, base)[l] + mc_lanes(w, uniform)[l] + (uint64_t)a->value) & 0xffffff;
    const PtxPlace place = ptx_access_lane(m, w, &access, l, PTX_SPACE_SHARED, at);
    if (!place.bytes) return;
    ptx_touch(m, w, (int)l, place.offset, bytes, PTX_ATOMIC, NULL);
    uint32_t was[2] = {0}, old[2], now[2];
    memcpy(was, place.bytes, (size_t)bytes);
    for (int k = 0; k < b->n; k++) {
      old[k] = (uint32_t)mc_row(w, i, 2, k)[l];
      now[k] = (uint32_t)mc_row(w, i, 3, k)[l];
    }
    const bool equal = memcmp(was, old, (size_t)bytes) == 0;
    if (equal) memcpy(place.bytes, now, (size_t)bytes);
    ptx_mark_written(&place, bytes, true);
    D[l] = equal;
    if (mc_operand(i, 0)->n > 1) mc_row(w, i, 0, 1)[l] = 0;
  }
  mc_follow(w, i, mask, ~0u);
  ptx_access_end(m, &access);
}

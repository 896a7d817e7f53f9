// Rules of tcgen05, whose sums lie in tensor memory.
//
// Worked example, WM=2, FN=2, ATOM_N=256: two warpgroups with two atoms of 256 columns each are
// 1,024 columns of sums, and there are 512.
#include "model/ir/problem.h"
#include "model/passes/tensor/tensor_body.h"
#include "model/passes/tensor/tensor_factors.h"
#include "model/readings/rules/rule_facts.h"

static int64_t value(const Facts *f, KnobId id) { return f->schedule->value[id]; }

bool rule_in_tensor_memory(const Facts *f) { return atom_is_of_thread(rule_atom_of(f)); }

int64_t rule_tensor_columns(const Facts *f) {
  return rule_in_tensor_memory(f) ? tensor_columns(f->schedule, f->atom.n) : 0;
}

// The columns that a block asks for, which its buffers have to fit into.
const char *rule_tensor_allocation_fault(const Facts *f) {
  const int64_t asked = value(f, KNOB_TENSOR_COLUMNS);
  const int64_t needed = rule_tensor_columns(f) + rule_factor_columns(f);
  if (!asked) return NULL;
  if (!rule_in_tensor_memory(f)) return "not an atom of tcgen05: its sums lie in registers";
  if (!tensor_can_allocate(asked)) return "columns are allocated by powers of two, from 32 to 512";
  if (asked >= needed) return NULL;
  return arena_printf(f->arena, "%lld columns of sums%s", (long long)rule_tensor_columns(f),
                      rule_factor_words(f));
}

int64_t rule_factor_columns(const Facts *f) { return tensor_factor_columns(f->schedule); }

// "SFA and SFB take 48 columns beside them"
const char *rule_factor_words(const Facts *f) {
  const int64_t columns = rule_factor_columns(f);
  if (!columns) return "";
  return arena_printf(f->arena, " and %lld of scale factors", (long long)columns);
}

// Factors come to tensor memory from whole tiles in shared memory, which TMA brings: 128 rows of A
// or columns of B, four factors of each.
const char *rule_factors_fault(const Facts *f) {
  enum { TILE = FACTOR_ROWS };
  if (!tensor_wants_factors(f->schedule)) return NULL;
  if (!value(f, KNOB_TMA)) return "TMA=0: tiles of factors come by TMA";
  if (f->atom.n % TILE)
    return arena_printf(f->arena, "ATOM_N=%d: tiles of factors are of %d columns", f->atom.n, TILE);
  const int64_t factors = value(f, KNOB_BK) * atom_scales(&f->atom);
  if (factors % FACTORS_ALONG == 0) return NULL;
  return arena_printf(f->arena,
                      "BK=%lld: a row has %lld factors in a slab, and tiles have %d along K",
                      (long long)value(f, KNOB_BK), (long long)factors, FACTORS_ALONG);
}

int64_t rule_tensor_piece(const Facts *f) { return tensor_piece(f->schedule, f->atom.n); }

const char *rule_tensor_piece_fault(const Facts *f) {
  enum { PIECE_LEAST = 8, PIECE_MOST = 128 };
  if (!rule_in_tensor_memory(f) || !value(f, KNOB_EPI_N)) return NULL;
  const int64_t piece = value(f, KNOB_EPI_N);
  if (!is_power_of_two(piece) || piece < PIECE_LEAST || piece > PIECE_MOST)
    return "tcgen05.ld loads a power of two of columns, here from 8 to 128";
  if (f->atom.n % piece == 0) return NULL;
  return arena_printf(f->arena, "an atom has %d columns, not a multiple", f->atom.n);
}

// Knobs that mean nothing for tcgen05, with the rule that says so, and those that are not built,
// with what there is in their place.
static const struct {
  KnobId knob;
  int64_t rest;
  const char *why;
} others[] = {
    {KNOB_A_REGS, 0,
     "A of tcgen05.mma lies in shared or tensor memory, never in registers (PTX ISA, tcgen05.mma)"},
    {KNOB_LDMATRIX, 0,
     "ldmatrix loads fragments into registers, and tcgen05.mma has none: it reads tiles by "
     "descriptor"},
    {KNOB_STMATRIX, 0,
     "not built: tcgen05.ld .32x32b gives a lane a row of sums; stmatrix stores fragments, which "
     ".16x256b would give"},
    {KNOB_MMA_GROUPS, 0,
     "tcgen05.commit and an mbarrier signal the end of products: there are no groups to wait for"},
    {KNOB_PRODUCER_REGS, 0,
     "setmaxnreg needs a warpgroup, but one warp fetches and one multiplies"},
    {KNOB_ASYNC_COPY, 0,
     "not built: slabs come by TMA, or through registers; cp.async would need its own fence"},
    {KNOB_ROLE_SCHEDULE, 0,
     "not built: use ACC_BUFFERS=2 to write a tile while the next is multiplied"},
    {KNOB_SPLITK, 1, "not built: parts of K that are added in C"},
    {KNOB_TAIL_SPLIT, 1, "not built: sets of sums for parts of tiles"},
    {KNOB_PROGRAM, 0, "not built: attention multiplies by wgmma or mma.sync"},
};

static int plain_fault(const Facts *f) {
  const int n = sizeof others / sizeof *others;
  int i = rule_in_tensor_memory(f) ? 0 : n;
  while (i < n && value(f, others[i].knob) == others[i].rest) i++;
  return i < n ? i : -1;
}

const char *rule_tensor_knob(const Facts *f) {
  const int i = plain_fault(f);
  return i < 0 ? NULL : knob_table[others[i].knob].name;
}

const char *rule_tensor_why(const Facts *f) {
  const int i = plain_fault(f);
  return i < 0 ? "" : others[i].why;
}

// A pair is two CTAs of a cluster, one above the other, with roles.
static const char *pair_shape_fault(const Facts *f) {
  if (!rule_in_tensor_memory(f)) return "not an atom of tcgen05: only those work with two CTAs";
  if (value(f, KNOB_CLUSTER_M) != 2 || value(f, KNOB_CLUSTER_N) != 1)
    return arena_printf(f->arena,
                        "CLUSTER_M=%lld, CLUSTER_N=%lld: a pair is a cluster of two along M",
                        (long long)value(f, KNOB_CLUSTER_M), (long long)value(f, KNOB_CLUSTER_N));
  if (value(f, KNOB_MULTICAST))
    return "MULTICAST=1: each CTA of a pair already fetches half of "
           "B for both";
  if (!value(f, KNOB_WARP_SPECIALIZE)) return "WARP_SPECIALIZE=0: a pair needs roles";
  return NULL;
}

const char *rule_pair_fault(const Facts *f) {
  return value(f, KNOB_CTA_GROUP) == 1 ? NULL : pair_shape_fault(f);
}

// Columns of an atom, of which each CTA has half: whole rows of eight, or where N runs fastest
// whole panels.
const char *rule_pair_columns_fault(const Facts *f) {
  enum { STEP = 16 };
  if (value(f, KNOB_CTA_GROUP) == 1 || !rule_in_tensor_memory(f)) return NULL;
  if (value(f, KNOB_FN) * value(f, KNOB_WN) > 1)
    return arena_printf(f->arena, "FN=%lld, WN=%lld: a pair shares one atom along N",
                        (long long)value(f, KNOB_FN), (long long)value(f, KNOB_WN));
  const long long n = f->atom.n, panel = (16 << value(f, KNOB_SWIZZLE)) * 8 / f->atom.bits;
  if (n % STEP) return arena_printf(f->arena, "ATOM_N=%lld: N of a pair is a multiple of 16", n);
  if (value(f, KNOB_B_COL) || n % (2 * panel) == 0) return NULL;
  return arena_printf(
      f->arena, "ATOM_N=%lld, SWIZZLE=%lld: half of the columns is %lld, but panels have %lld", n,
      (long long)value(f, KNOB_SWIZZLE), n / 2, panel);
}

// A second set of sums is for warps that read the first one meanwhile.
const char *rule_tensor_sets_fault(const Facts *f) {
  if (value(f, KNOB_ACC_BUFFERS) == 1) return NULL;
  if (!rule_in_tensor_memory(f)) return "sums in registers have only one set";
  if (!value(f, KNOB_WARP_SPECIALIZE))
    return "WARP_SPECIALIZE=0: the same threads read the sums of a tile and then start the next "
           "one";
  if (!value(f, KNOB_PERSISTENT)) return "PERSISTENT=0: a block has the sums of one tile";
  return NULL;
}

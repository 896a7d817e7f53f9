// Checking rules.
//
// Each row of rule.def becomes two functions, holds and text, over what the knobs come to. When a
// rule fails, rule_nearest.c looks for values with which it holds.
//
// Ids that start with "not_built" are told to the user as the one rule `not_built`.
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/program.h"
#include "model/passes/copy/slab_layout.h"
#include "model/passes/passes.h"
#include "model/readings/derive.h"
#include "model/readings/rules/rule_facts.h"
#include "model/words/fragment.h"
#include "model/words/schedule_atom.h"

enum {
  ROW_BY_ROW = 2,
  REGISTERS_FOR_ADDRESSES = 28,
  ASSEMBLER_BESIDE = 26,
  HILBERT_TILES_MAX = 65536 / 4,
  CC_STMATRIX = 90
};
static const int64_t MATRIX_MAX = (int64_t)1 << 36;

static bool divides_cells(int64_t group, int64_t cells) {
  return group == 0 || cells <= group || cells % group == 0;
}

// ---- what the knobs come to, with fma and with an atom ------------------------------------------

static int64_t value(const Facts *f, KnobId knob) { return f->schedule->value[knob]; }

Facts rule_facts(Arena *arena, const Schedule *schedule, const Target *target,
                 const Resources *resources) {
  Facts facts = {arena, schedule, target, resources, false, {.n = 0}};
  facts.has_atom = schedule_atom_is(schedule, &facts.atom);
  return facts;
}

const Atom *rule_atom_of(const Facts *f) { return f->has_atom ? &f->atom : NULL; }

// An atom of a warpgroup has its sums in registers, and reads B, and A if one likes, from shared
// memory by descriptor, as does one whose sums lie in tensor memory.
static bool warpgroup(const Facts *f) { return f->has_atom && atom_is_of_warpgroup(&f->atom); }
static bool reads_tiles(const Facts *f) { return f->has_atom && atom_reads_tiles(&f->atom); }

int64_t rule_dtype_of_atom(const Facts *f) {
  DType type = DTYPE_F32;
  const Atom *atom = rule_atom_of(f);
  if (!atom && value(f, KNOB_ATOM_KIND)) return value(f, KNOB_DTYPE);
  if (atom) dtype_find(atom->type, &type);
  return (int64_t)type;
}

// "sm_80 or later", "sm_90"
static const char *needed_archs(Arena *arena, const Facts *f) {
  const Atom *atom = rule_atom_of(f);
  if (!atom) return "";
  if (atom_scales(atom) && atom_is_of_thread(atom))
    return "sm_100a (sm_120a has block scaling as mma.sync, with factors in registers)";
  if (atom_scales(atom))
    return "sm_120a (sm_100a has block scaling as tcgen05, with factors in tensor memory)";
  if (atom->cc_last == 0) return arena_printf(arena, "sm_%d or later", atom->cc_first);
  if (atom->cc_last == atom->cc_first) return arena_printf(arena, "sm_%d", atom->cc_first);
  return arena_printf(arena, "sm_%d to sm_%d", atom->cc_first, atom->cc_last);
}

static bool atom_sums_f16(const Facts *f) { return rule_atom_of(f) && rule_atom_of(f)->f16_acc; }

static int64_t threads(const Facts *f) {
  if (f->has_atom)
    return pass_tiles_at_once(f->schedule) * value(f, KNOB_WM) * value(f, KNOB_WN) *
           atom_lanes(&f->atom);
  return value(f, KNOB_BM) * value(f, KNOB_BN);
}

static int64_t fragment_registers(const Atom *atom, AtomOperand operand) {
  FragmentPacking packing = fragment_packing(atom, operand);
  return packing.n_registers * packing.register_bits / 32;
}

// Registers of a thread's sums, and of its fragments of A and B.
static int64_t sums(const Facts *f) {
  const Atom *atom = rule_atom_of(f);
  int64_t cells = value(f, KNOB_FM) * value(f, KNOB_FN);
  if (!atom) return cells;
  if (atom_is_of_thread(atom)) return rule_tensor_piece(f);
  return cells * fragment_registers(atom, ATOM_C);
}

// FRAG_ORDER where it has a say: a slab's fragments of an atom, read once.
static int64_t frag_order(const Facts *f) {
  return rule_atom_of(f) && value(f, KNOB_STAGE) ? value(f, KNOB_FRAG_ORDER) : 0;
}

static int64_t fragments(const Facts *f) {
  const Atom *atom = rule_atom_of(f);
  if (rule_in_tensor_memory(f)) return 0;
  int64_t a = atom ? fragment_registers(atom, ATOM_A) : 1;
  if (warpgroup(f))  // A of a whole slab, if any
    return value(f, KNOB_A_REGS) ? a * value(f, KNOB_FM) * value(f, KNOB_BK) : 0;
  int64_t b = atom ? fragment_registers(atom, ATOM_B) : 1;
  int64_t steps = value(f, KNOB_FRAG_BUFFER), order = frag_order(f);
  if (order) steps = value(f, KNOB_BK);
  if (order == ROW_BY_ROW) {  // ldmatrix may bring a pair of columns
    bool pair = value(f, KNOB_LDMATRIX) == 2 && value(f, KNOB_FN) % 2 == 0;
    return (a + (pair ? 2 * b : b)) * steps;
  }
  return (a * value(f, KNOB_FM) + b * value(f, KNOB_FN)) * steps;
}

// Slabs whose steps stand one after the other in the text.
static int64_t ring_unroll(const Facts *f) {
  return value(f, KNOB_UNROLL_RING) && value(f, KNOB_STAGE) ? value(f, KNOB_BUFFER_COUNT) : 1;
}

// Elements of a block's tile along M or N, and of a slab along K.
static int64_t tile(const Facts *f, int side) {
  const Atom *atom = rule_atom_of(f);
  bool m = side == FM_BM;
  int64_t cells = value(f, m ? KNOB_FM : KNOB_FN);
  if (atom) return cells * value(f, m ? KNOB_WM : KNOB_WN) * (m ? atom->m : atom->n);
  return cells * value(f, m ? KNOB_BM : KNOB_BN);
}

// For attention, the whole head dimension.
static int64_t depth(const Facts *f) {
  if (rule_is_attention(f)) return value(f, KNOB_K);
  return value(f, KNOB_BK) * (rule_atom_of(f) ? rule_atom_of(f)->k : 1);
}

static DType operand_type(const Facts *f) { return schedule_operand_type(f->schedule); }

int64_t rule_depth(const Facts *f) { return depth(f); }

// Elements that an index along K counts as one.
static int unit(const Facts *f) { return dtype_elements(operand_type(f)); }
static int64_t units_of_k(const Facts *f) { return ceil_div(value(f, KNOB_K), unit(f)); }

// Each product of parts goes through all of K.
static int64_t slabs(const Facts *f) {
  return schedule_products(f->schedule) * ceil_div(units_of_k(f), depth(f));
}
// For one split.
static int64_t part_slabs(const Facts *f) { return ceil_div(slabs(f), value(f, KNOB_SPLITK)); }

static int64_t tiles(const Facts *f) {
  return ceil_div(value(f, KNOB_M), tile(f, FM_BM)) * ceil_div(value(f, KNOB_N), tile(f, FN_BN));
}

// Elements of 16 bytes, and the bytes of a slab row: of A along K, of B along N.
static int chunk(const Facts *f) { return 16 / dtype_bytes(operand_type(f)); }

// Elements of C in 16 bytes: C has the operands' type where that is a 16-bit one, else the sum's.
static int out_chunk(const Facts *f) {
  int bytes = dtype_bytes((DType)value(f, KNOB_DTYPE));
  return bytes == 2 || value(f, KNOB_ACC) ? 8 : bytes == 8 ? 2 : 4;
}

// Does an operand run along K in global memory, and its slab in shared memory?
static bool runs_along_k(const Facts *f, int side) {
  bool keys = rule_is_attention(f);  // rows of K run along the head dimension, as those of Q
  return side == FM_BM ? !value(f, KNOB_A_COL) : keys || value(f, KNOB_B_COL) != 0;
}

static bool slab_along_k(const Facts *f, int side) {
  bool turned = side == FM_BM ? value(f, KNOB_TRANSPOSE_A) && !rule_atom_of(f)
                              : value(f, KNOB_TRANSPOSE_B) && rule_atom_of(f);
  return runs_along_k(f, side) != turned;
}

// Does the operand go through shared memory?
static bool staged(const Facts *f, int side) {
  return (value(f, KNOB_STAGE) & (side == FM_BM ? STAGE_A : STAGE_B)) != 0;
}

// Elements in a row of the operand, and in 16 bytes of it: 32 of 4 bits, two of which are a unit.
static int run_chunk(const Facts *f) { return chunk(f) * (int)unit(f); }

static int64_t run_length(const Facts *f, int side) {
  if (runs_along_k(f, side)) return value(f, KNOB_K);
  return value(f, side == FM_BM ? KNOB_M : KNOB_N);
}

static int64_t row_bytes(const Facts *f, int side) {
  int64_t row = slab_along_k(f, side) ? depth(f) : tile(f, side);
  return row * dtype_bytes(operand_type(f));
}

// ---- rules of several conditions: what of them fails, NULL where nothing does -------------------

// A sentence of a fault; a caller that only asks whether there is one brings no arena for it.
#define TELL(f, ...) ((f)->arena ? arena_printf((f)->arena, __VA_ARGS__) : "")

static const char *knob_and(const Facts *f, KnobId id, const char *rest) {
  return TELL(f, "%s=%lld%s", knob_table[id].name, (long long)value(f, id), rest);
}

static const char *side_name(int side) { return side == FM_BM ? "A" : "B"; }

static const char *swizzle_fault(const Facts *f) {
  int64_t least = (int64_t)16 << value(f, KNOB_SWIZZLE);
  if (!value(f, KNOB_SWIZZLE) || !value(f, KNOB_STAGE)) return NULL;
  if (value(f, KNOB_PAD_SMEM))
    return TELL(f, "rows without a pad, and %s", knob_and(f, KNOB_PAD_SMEM, ""));
  for (int side = FM_BM; side <= FN_BN; side++) {
    long long bytes = row_bytes(f, side);
    if (!staged(f, side)) continue;
    if (bytes < least)
      return TELL(f, "rows of %lld bytes or more, and those of %s have %lld", (long long)least,
                  side_name(side), bytes);
    if (!reads_tiles(f) && (bytes & (bytes - 1)) != 0)
      return TELL(f, "rows of a power of two of bytes, and those of %s have %lld", side_name(side),
                  bytes);
  }
  return NULL;
}

// ---- TMA and roles ------------------------------------------------------------------------------

static bool tma(const Facts *f) { return pass_tma_wanted(f->schedule); }
static bool roles(const Facts *f) { return pass_warp_specialize_wanted(f->schedule); }
static bool pingpong(const Facts *f) { return value(f, KNOB_ROLE_SCHEDULE) == ROLES_PINGPONG; }
static int64_t producers(const Facts *f) { return pass_producers(f->schedule, threads(f)); }
// Roles that do not fetch: they multiply, or write what others multiply for them.
static int64_t computing(const Facts *f) {
  return threads(f) + (roles(f) ? pass_askers(f->schedule, threads(f)) : 0);
}
static int64_t block_threads(const Facts *f) {
  return computing(f) + (roles(f) ? producers(f) : 0);
}

// An unrolled ring that does not start over with each tile of a persistent block.
static bool ring_goes_on(const Facts *f) {
  bool drained = pass_pipeline_wanted(f->schedule) && !tma(f);
  return value(f, KNOB_PERSISTENT) && ring_unroll(f) > 1 && !drained;
}

static bool by_tma(const Facts *f, int side) { return tma(f) && staged(f, side); }

// Elements of one slab that each thread of the block fetches.
static int64_t copy_share(const Facts *f, int side) {
  return staged(f, side) && !tma(f) ? ceil_div(tile(f, side) * depth(f), threads(f)) : 0;
}

static int64_t slab_rows(const Facts *f, int side) {
  return slab_along_k(f, side) ? tile(f, side) : depth(f);
}
static int64_t slab_columns(const Facts *f, int side) {
  return slab_along_k(f, side) ? depth(f) : tile(f, side);
}

// Swizzled, rows are cut into panels, whose pattern repeats every eight rows; otherwise slots begin
// at multiples of 128 bytes.
static const char *box_fault(const Facts *f, int side) {
  enum { SIDE_MAX = 256, PATTERN_ROWS = 8, SLOT_BYTES = 128 };
  if (!by_tma(f, side)) return NULL;
  int64_t rows = slab_rows(f, side), bytes = row_bytes(f, side);
  if (rows > SIDE_MAX) return "a box may have at most 256 rows";
  if (value(f, KNOB_SWIZZLE))
    return rows % PATTERN_ROWS ? "a swizzled box has a multiple of 8 rows" : NULL;
  if (slab_columns(f, side) > SIDE_MAX) return "a row of a box has at most 256 elements";
  if (bytes % 16)
    return TELL(f, "a row of a box is a multiple of 16 bytes, and this one has %lld",
                (long long)bytes);
  if (rows * bytes % SLOT_BYTES == 0) return NULL;
  return TELL(f, "a slab is a multiple of 128 bytes, and this one has %lld",
              (long long)(rows * bytes));
}

// ---- clusters -----------------------------------------------------------------------------------

static int64_t cluster(const Facts *f) {
  return value(f, KNOB_CLUSTER_M) * value(f, KNOB_CLUSTER_N);
}

// The blocks of a cluster that need the same slab of an operand: those of a row, or of a column.
static int64_t sharers(const Facts *f, int side) {
  return by_tma(f, side) ? value(f, side == FM_BM ? KNOB_CLUSTER_N : KNOB_CLUSTER_M) : 1;
}

static const char *multicast_fault(const Facts *f) {
  if (!value(f, KNOB_MULTICAST)) return NULL;
  if (!tma(f)) return "TMA=0: only copies by TMA can go to several blocks";
  if (sharers(f, FM_BM) * sharers(f, FN_BN) > 1) return NULL;
  return TELL(f, "CLUSTER_M=%lld, CLUSTER_N=%lld: no two blocks of a cluster fetch the same slab",
              (long long)value(f, KNOB_CLUSTER_M), (long long)value(f, KNOB_CLUSTER_N));
}

static const char *share_fault(const Facts *f, int side) {
  int64_t blocks = sharers(f, side), panel = (int64_t)16 << value(f, KNOB_SWIZZLE);
  int64_t panels = value(f, KNOB_SWIZZLE) ? row_bytes(f, side) / panel : 1;
  if (!value(f, KNOB_MULTICAST) || pass_multicast_divides(slab_rows(f, side), panels, blocks))
    return NULL;
  return TELL(f, "%lld blocks share %lld rows in %lld panel%s of %s", (long long)blocks,
              (long long)slab_rows(f, side), (long long)panels, plural_s(panels), side_name(side));
}

// Bytes that come to one slot, all counted in one phase.
static int64_t slab_bytes(const Facts *f) {
  int64_t rows = (by_tma(f, FM_BM) ? tile(f, FM_BM) : 0) + (by_tma(f, FN_BN) ? tile(f, FN_BN) : 0);
  return rows * depth(f) * dtype_bytes(operand_type(f));
}

static const char *plain_slab_fault(const Facts *f) {
  if (!tma(f)) return NULL;
  if (value(f, KNOB_PAD_SMEM)) return knob_and(f, KNOB_PAD_SMEM, "");
  if (value(f, KNOB_PAD_CELLS)) return knob_and(f, KNOB_PAD_CELLS, "");
  if (slab_along_k(f, FM_BM) != runs_along_k(f, FM_BM)) return "TRANSPOSE_A=1";
  if (slab_along_k(f, FN_BN) != runs_along_k(f, FN_BN)) return "TRANSPOSE_B=1";
  for (int side = FM_BM; side <= FN_BN; side++)
    if (f->schedule->layout[side][0])
      return arena_printf(f->arena, "LAYOUT_%s=%s", side_name(side), f->schedule->layout[side]);
  return NULL;
}

// ---- wgmma --------------------------------------------------------------------------------------

static const char *tiles_fault(const Facts *f) {
  if (value(f, KNOB_STAGE) != (STAGE_A | STAGE_B))
    return TELL(f, "STAGE=%s leaves one operand in global memory",
                knob_enum_text(KNOB_STAGE, value(f, KNOB_STAGE)));
  if (value(f, KNOB_PAD_SMEM)) return knob_and(f, KNOB_PAD_SMEM, ": rows of panels have no pad");
  if (value(f, KNOB_TRANSPOSE_B))
    return knob_and(f, KNOB_TRANSPOSE_B, ": it takes either order as it is");
  for (int side = FM_BM; side <= FN_BN; side++)
    if (f->schedule->layout[side][0])
      return TELL(f, "LAYOUT_%s=%s: a descriptor says SWIZZLE alone", side_name(side),
                  f->schedule->layout[side]);
  return NULL;
}

static const char *fragments_fault(const Facts *f) {
  static const struct {
    KnobId knob;
    int64_t rest;
  } idle[] = {{KNOB_FRAG_BUFFER, 1},
              {KNOB_FRAG_ORDER, 0},
              {KNOB_COPY_STEPS, 0},
              {KNOB_INTERLEAVE_LOADS, 0},
              {KNOB_SERPENTINE, 0}};
  for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
    if (value(f, idle[i].knob) != idle[i].rest) return knob_and(f, idle[i].knob, "");
  return NULL;
}

static const char *major_fault(const Facts *f) {
  bool a_turned = value(f, KNOB_A_COL), b_turned = !value(f, KNOB_B_COL);
  if (value(f, KNOB_A_REGS) && a_turned)
    return "A_REGS=1 with A_COL=1: A in registers runs along K";
  if (f->atom.bits == 16) return NULL;
  if (a_turned) return "A_COL=1: with this type A runs only along K";
  return b_turned ? "B_COL=0: with this type B runs only along K" : NULL;
}

static const char *panels_fault(const Facts *f) {
  int64_t panel = (int64_t)16 << value(f, KNOB_SWIZZLE);
  for (int side = FM_BM; side <= FN_BN; side++) {
    long long bytes = row_bytes(f, side);
    if (bytes % panel)
      return TELL(f, "panels are %lld bytes wide, and rows of the slab of %s have %lld",
                  (long long)panel, side_name(side), bytes);
  }
  int64_t n_bytes = (int64_t)f->atom.n * f->atom.bits / 8;
  bool several = value(f, KNOB_FN) * value(f, KNOB_WN) > 1;
  if (runs_along_k(f, FN_BN) || !several || n_bytes % panel == 0) return NULL;
  return TELL(f, "panels are %lld bytes wide, and an atom of %d columns takes %lld of them",
              (long long)panel, f->atom.n, (long long)n_bytes);
}

// For the wider atom, where the second of two products has all of the head dimension in one.
static int64_t atom_sums(const Facts *f) {
  const int64_t scores = fragment_registers(&f->atom, ATOM_C);
  if (!rule_is_attention(f)) return scores;
  return max64(scores, scores * value(f, KNOB_K) / f->atom.n);
}

// Registers of a thread's sums and fragments, of all products.
static int64_t held(const Facts *f) {
  if (rule_is_attention(f)) return rule_group_registers(f);
  return (value(f, KNOB_PROMOTE) ? 2 : 1) * sums(f) + fragments(f);
}

static int64_t start(const Facts *f) {
  return program_start_registers(block_threads(f), (int)value(f, KNOB_MIN_BLOCKS));
}

// Tells what a thread that multiplies has in the end.
static int64_t own_registers(const Facts *f) {
  int64_t moved = roles(f) ? pass_consumer_registers(f->schedule, threads(f), producers(f)) : 0;
  return moved ? moved : start(f);
}

static const char *producer_registers_fault(const Facts *f) {
  enum { LEAST = 24, STEP = 8 };
  int64_t left = value(f, KNOB_PRODUCER_REGS);
  if (left == 0) return NULL;
  if (left < LEAST || left % STEP) return "setmaxnreg takes 24 to 232 in steps of 8; 0 leaves 40";
  if (!roles(f) || left < start(f)) return NULL;
  return TELL(f, "each of %lld threads starts with %lld, so a producer would give none back",
              (long long)block_threads(f), (long long)start(f));
}

// The blocks that MIN_BLOCKS asks for, on an SM.
static const char *min_blocks_fault(const Facts *f) {
  const Target *t = f->target;
  long long blocks = value(f, KNOB_MIN_BLOCKS);
  long long n_threads = blocks * block_threads(f), n_registers = blocks * threads(f) * sums(f);
  if (blocks > t->max_blocks_per_sm)
    return arena_printf(f->arena, "an SM of %s has at most %d blocks", t->id, t->max_blocks_per_sm);
  if (n_threads > t->max_threads_per_sm)
    return arena_printf(f->arena, "%lld threads on an SM, at most %d on %s", n_threads,
                        t->max_threads_per_sm, t->id);
  if (blocks && n_registers > t->regs_per_sm)
    return arena_printf(f->arena, "%lld registers of sums on an SM, at most %d on %s", n_registers,
                        t->regs_per_sm, t->id);
  return NULL;
}

// A register buffer and copies dealt out go along K.
static const char *order_fault(const Facts *f) {
  if (frag_order(f) == 0) return NULL;
  if (value(f, KNOB_FRAG_BUFFER) != 1)
    return knob_and(f, KNOB_FRAG_BUFFER, ": there is no k-step to read ahead");
  if (value(f, KNOB_COPY_STEPS) == 0) return NULL;
  return knob_and(f, KNOB_COPY_STEPS, ": there are no k-steps to deal copies to");
}

static const char *epilogue_fault(const Facts *f) {
  if (!value(f, KNOB_EPILOGUE) || !rule_atom_of(f)) return NULL;
  if (value(f, KNOB_N) % out_chunk(f))
    return arena_printf(f->arena, "N=%lld: rows of C are stored %d elements at a time",
                        (long long)value(f, KNOB_N), out_chunk(f));
  bool adds = value(f, KNOB_TMA_STORE) && !value(f, KNOB_ATOMIC_FREE_SPLITK);
  if (value(f, KNOB_SPLITK) == 1 || adds) return NULL;
  return knob_and(f, KNOB_SPLITK, ": only rows of C are stored so, not partial sums");
}

static bool staged_epilogue(const Facts *f) { return value(f, KNOB_EPILOGUE) && rule_atom_of(f); }

static int out_bytes(const Facts *f) { return 16 / out_chunk(f); }

// The columns of a piece that leaves by TMA.
static const char *piece_fault(const Facts *f) {
  const Atom *atom = rule_atom_of(f);
  if (!value(f, KNOB_TMA_STORE) || !atom || !value(f, KNOB_EPI_N)) return NULL;
  int64_t columns = value(f, KNOB_EPI_N), of_warp = value(f, KNOB_FN) * atom->n;
  if (pass_piece_fits(columns, of_warp, atom->n)) return NULL;
  return TELL(f, "a warp has %lld columns: EPI_N must divide them and be a multiple of 8",
              (long long)of_warp);
}

static const char *copy_fault(const Facts *f) {
  enum { SHARE_MAX = 128 };
  for (int side = FM_BM; side <= FN_BN; side++)
    if (copy_share(f, side) > SHARE_MAX)
      return arena_printf(f->arena, "each of %lld threads would fetch %lld elements of %s per slab",
                          (long long)threads(f), (long long)copy_share(f, side), side_name(side));
  return NULL;
}

static const char *groups_fault(const Facts *f) {
  int64_t group = value(f, KNOB_CELL_GROUP);
  const KnobId cells[] = {KNOB_FM, KNOB_FN};
  for (int i = 0; i < 2 && !rule_atom_of(f); i++)
    if (!divides_cells(group, value(f, cells[i]))) return knob_and(f, cells[i], "");
  return NULL;
}

static const char *matrix_fault(const Facts *f) {
  if (rule_is_attention(f))
    return value(f, KNOB_HEADS) * value(f, KNOB_M) * value(f, KNOB_N) > MATRIX_MAX * 64
               ? knob_and(f, KNOB_HEADS, ": scores")
               : NULL;
  const KnobId sides[][2] = {{KNOB_M, KNOB_K}, {KNOB_K, KNOB_N}, {KNOB_M, KNOB_N}};
  for (int i = 0; i < 3; i++)
    if (value(f, sides[i][0]) * value(f, sides[i][1]) > MATRIX_MAX)
      return arena_printf(f->arena, "%c of %s, %s", "ABC"[i], knob_and(f, sides[i][0], ""),
                          knob_and(f, sides[i][1], ""));
  return NULL;
}

static const char *layout_alone_fault(const Facts *f) {
  if (!(f->schedule->layout[0][0] || f->schedule->layout[1][0]) || !value(f, KNOB_STAGE))
    return NULL;
  const KnobId others[] = {KNOB_PAD_SMEM, KNOB_SWIZZLE};
  for (int i = 0; i < 2; i++)
    if (value(f, others[i])) return knob_and(f, others[i], "");
  return NULL;
}

bool rule_rows_take_swizzle(const Schedule *schedule) {
  const Facts facts = rule_facts(NULL, schedule, NULL, NULL);
  return !(reads_tiles(&facts) && panels_fault(&facts)) && !swizzle_fault(&facts) &&
         !box_fault(&facts, FM_BM) && !box_fault(&facts, FN_BN);
}

// ---- typed layouts ------------------------------------------------------------------------------

enum { SLAB_ELEMENTS_MAX = 1 << 20 };

// Rows and row bytes of a slab as the knobs make it.
static LayoutSlab slab_of(const Facts *f, int side) {
  int bytes = dtype_bytes(operand_type(f));
  int64_t across = tile(f, side), along = depth(f);
  bool along_k = slab_along_k(f, side);
  int64_t rows = along_k ? across : along, columns = along_k ? along : across;
  return (LayoutSlab){(int)rows, (int)columns * bytes, bytes};
}

// Is there a slab, and of a size that can be laid out at all? If not, another rule says so.
static bool is_laid_out(const Facts *f, int side) {
  if (!f->schedule->layout[side][0] || !staged(f, side)) return false;
  return tile(f, side) <= SLAB_ELEMENTS_MAX && depth(f) <= SLAB_ELEMENTS_MAX &&
         tile(f, side) * depth(f) <= SLAB_ELEMENTS_MAX;
}

// Why the typed layout cannot be; NULL when it can, or when nothing is typed.
static const char *layout_fault(const Facts *f, int side, const char *text) {
  if (!is_laid_out(f, side)) return NULL;
  Diags diags = diags_new(f->arena);
  XorTerm terms[XOR_TERMS_MAX];
  LayoutSlab slab = slab_of(f, side);
  int n;
  if (!slab_layout_read(text, slab, terms, &n, &diags))
    return arena_printf(f->arena, "%d rows of %d bytes: %s", slab.rows, slab.row_bytes,
                        diags.first->text);
  int64_t bytes = (int64_t)slab.rows * slab.row_bytes, piece;
  if (value(f, KNOB_BUFFER_COUNT) == 1 || slab_layout_repeats(terms, n, bytes, &piece)) return NULL;
  return arena_printf(
      f->arena,
      "%d rows of %d bytes: %s: bytes move within pieces of %lld, but a slab has %lld bytes, not "
      "a whole number of pieces: slabs of the ring would overlap",
      slab.rows, slab.row_bytes, text, (long long)piece, (long long)bytes);
}

static const char *fault_of(const Facts *f, int side) {
  return layout_fault(f, side, f->schedule->layout[side]);
}

// The widest swizzle that lays out the same slab: of rows of 128 bytes or more by their own row
// bits, of shorter ones by the bits of the 128-byte line.
const char *rule_nearest_layout(const Facts *f, int side) {
  const char *name = knob_table[side == FM_BM ? KNOB_LAYOUT_A : KNOB_LAYOUT_B].name;
  int line_bit = max_int(7, log2_up(slab_of(f, side).row_bytes)), chunk_bit = 4;
  for (int bits = 3; bits > 0; bits--) {
    char *text = arena_printf(f->arena, "swizzle:%d:4:%d", bits, line_bit - chunk_bit);
    if (!layout_fault(f, side, text)) return arena_printf(f->arena, "%s=%s", name, text);
  }
  return arena_printf(f->arena, "%s=none", name);
}

#define V(knob) (f->schedule->value[KNOB_##knob])
#define L(knob) ((long long)V(knob))
#define TEXT(knob) knob_value_text(arena, f->schedule, KNOB_##knob)
#define RULE(id, phase, knobs, help, holds, ...)         \
  static bool id##_holds(const Facts *f) {               \
    const Target *t = f->target;                         \
    const Resources *r = f->resources;                   \
    (void)t, (void)r;                                    \
    return holds;                                        \
  }                                                      \
  static char *id##_text(Arena *arena, const Facts *f) { \
    const Target *t = f->target;                         \
    const Resources *r = f->resources;                   \
    (void)t, (void)r, (void)f;                           \
    return arena_printf(arena, __VA_ARGS__);             \
  }
#include "model/readings/rules/rule.def"
#undef RULE

static const struct {
  RulePhase phase;
  bool (*holds)(const Facts *);
  char *(*text)(Arena *, const Facts *);
} rule_code[] = {
#define RULE(id, phase, knobs, help, holds, ...) {PHASE_##phase, id##_holds, id##_text},
#include "model/readings/rules/rule.def"
#undef RULE
};

const Rule rule_table[] = {
#define RULE(id, phase, knobs, help, holds, ...) {#id, knobs, help},
#include "model/readings/rules/rule.def"
#undef RULE
};
const int rule_count = sizeof rule_table / sizeof *rule_table;

bool rule_holds(int rule, const Facts *facts) { return rule_code[rule].holds(facts); }
RulePhase rule_phase(int rule) { return rule_code[rule].phase; }
char *rule_text(Arena *arena, int rule, const Facts *facts) {
  return rule_code[rule].text(arena, facts);
}

// Asked of every rule for every value that is tried: by the two names, not through all knobs.
int rule_layout_side(int rule) {
  static const KnobId knobs[] = {KNOB_LAYOUT_A, KNOB_LAYOUT_B};
  for (int side = 0; side < 2; side++)
    if (str_equal(rule_table[rule].knobs, knob_table[knobs[side]].name)) return side;
  return -1;
}

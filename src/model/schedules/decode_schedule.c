// A kernel's name → the nearest schedule, and the parts of the name that no knob can say.
//
// A tile of the name becomes warps × atoms: warps as the name has them, else as CUTLASS chooses (64
// x 64 each, at least four). The depth becomes BK, slabs the ring. Things that such kernels always
// do and their names do not say are added: both operands staged, ldmatrix, swizzled slabs, two sets
// of fragments.
//
// Worked example, s1688gemm_64x256_16x4: tf32, m16n8k8, so 1 x 4 warps of 64 x 64 are WM=1, WN=4,
// FM = 64 / 16 = 4, FN = 64 / 8 = 8, BK = 16 / 8 = 2; four slabs by cp.async; rows of A are 64
// bytes, so SWIZZLE=2.
//
// Kernels of sm_90 become wgmma: the tile is cut among one or two warpgroups that multiply, along
// M, where wgmma has its 64 rows, and a warpgroup's columns among as few instructions as there can
// be. nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NTN, C column-major: 128 rows and 256 columns here,
// WM=2, WN=1, FM=1, FN=1, ATOM_N=256, BK = 64 / 16, four slabs by TMA, and a producer.
//
// Kernels of sm_100 become tcgen05: a CTA, or a pair of them, has the tile, one thread asks for its
// products, and the kernel is persistent with roles. Those of sm_120 are a warp's mma.sync, with
// factors for blocks of elements where the name says so.
//
// cuBLAS keeps C column-major. Where the name says so ("tn"), rows and columns of the tile and of
// the warps are exchanged.
//
// The problem stays the reader's own: M, N, K, the order of A and B in memory, the target.
#include "model/schedules/decode.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/words/fragment.h"

enum { WARP_TILE = 64, FMA_CELLS = 8, CHUNK_BYTES = 16, RING_MAX = 8, SWIZZLE_MAX = 3 };
enum {
  WARP_LANES = 32,
  GROUP_LANES = 128,
  WARPGROUP = 128,
  GROUPS_MAX = 4,
  WGMMA_M = 64,
  WGMMA_N_MAX = 256,
  SUMS_OF_ONE_GROUP = 128
};
// Shared memory of a block on sm_90 and sm_100, and what mbarriers of wgmma's ring may take of it.
enum { SMEM_BYTES = 232448, MBARRIERS = 1024 };

typedef struct Builder {
  Arena *arena;
  const DecodedKernel *kernel;
  DecodedSchedule *out;
  const Atom *atom;  // NULL: fma
  bool wgmma;        // the atom is one of a warpgroup
  bool tcgen05;      // the atom is one of a thread
  int atom_n;        // ATOM_N, with wgmma
  Str knobs;
  int tile_k, stages, warps_m, warps_n;
} Builder;

static void note(Builder *b, const char *text) {
  if (b->out->n_notes < DECODED_NOTES_MAX) b->out->note[b->out->n_notes++] = text;
}

#define NOTE(...) note(b, arena_printf(b->arena, __VA_ARGS__))

static void set(Builder *b, const char *knob, int value) {
  str_printf(&b->knobs, "%s%s=%d", b->knobs.length ? "," : "", knob, value);
}

// ---- the instruction ----------------------------------------------------------------------------

static const char *type_of(const DecodedKernel *kernel) {
  return dtype_name(kernel->type == DTYPE_F32 ? DTYPE_TF32 : kernel->type);
}

// The atom of this many lanes that multiplies the type and has a knob: the instruction of the name,
// else the first of the table; NULL: none.
static const Atom *find_atom(const DecodedKernel *kernel, int lanes) {
  const Atom *nearest = NULL;
  for (const Atom *row = atom_table; row < atom_table + atom_count; row++) {
    if (row->lanes != lanes || !row->knob || !str_equal(row->type, type_of(kernel))) continue;
    if (!nearest) nearest = row;
    if (row->m == kernel->mma_m && row->n == kernel->mma_n && row->k == kernel->mma_k) return row;
  }
  return nearest;
}

static bool given(const DecodedSchedule *out, KnobId knob) {
  return out->schedule.value[knob] != 0;
}

// Wider types than 16 bits and narrower ones are read along K alone.
static bool runs_along_k(const Builder *b, const Atom *row) {
  return row->bits == 16 || (given(b->out, KNOB_B_COL) && !given(b->out, KNOB_A_COL));
}

// A type that no atom multiplies, such as e3m2.
static void say_no_atom(Builder *b) {
  NOTE("no instruction here multiplies %s: %s replaces it", type_of(b->kernel), b->atom->name);
}

static void choose_thread_atom(Builder *b) {
  b->atom = find_atom(b->kernel, 1);
  b->tcgen05 = true;
  if (b->atom) return;
  b->atom = atom_find_knob("tcgen05_m128n256k16_f16");
  say_no_atom(b);
}

static void choose_atom(Builder *b) {
  if (b->kernel->tensor_memory) {
    choose_thread_atom(b);
    return;
  }
  const Atom *row = b->kernel->warpgroup ? find_atom(b->kernel, GROUP_LANES) : NULL;
  b->wgmma = row && runs_along_k(b, row) && b->kernel->tile_m % WGMMA_M == 0 &&
             b->kernel->tile_n % 16 == 0;
  b->atom = b->wgmma ? row : find_atom(b->kernel, WARP_LANES);
  if (!b->atom) {
    b->atom = atom_table;
    say_no_atom(b);
  }
  if (!b->kernel->warpgroup || b->wgmma) return;
  const Atom *atom = b->atom;
  const char *why = !row                    ? "no wgmma has this type"
                    : !runs_along_k(b, row) ? "wgmma reads this type only along K, as with A_COL=0,"
                                              "B_COL=1"
                                            : "a tile of wgmma has rows in 64s and columns in 16s";
  NOTE("%s: a warp's m%dn%dk%d replaces it", why, atom->m, atom->n, atom->k);
}

static bool is_exact(const Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  return b->atom->m == kernel->mma_m && b->atom->n == kernel->mma_n && b->atom->k == kernel->mma_k;
}

static void say_instruction(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  const Atom *atom = b->atom;
  if (!kernel->warpgroup && !b->tcgen05 && kernel->mma_m && !is_exact(b))
    NOTE("m%dn%dk%d is not among the atoms: m%dn%dk%d replaces it", kernel->mma_m, kernel->mma_n,
         kernel->mma_k, atom->m, atom->n, atom->k);
  if (!kernel->has_type) NOTE("the name does not give the type of A and B: %s", atom->type);
}

// ---- tiles --------------------------------------------------------------------------------------

static int at_least_one(int n) { return n < 1 ? 1 : n; }

static void choose_warps(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  if (kernel->warps_m && kernel->warps_n) {
    b->warps_m = kernel->warps_m;
    b->warps_n = kernel->warps_n;
    return;
  }
  b->warps_m = at_least_one(kernel->tile_m / WARP_TILE);
  b->warps_n = at_least_one(kernel->tile_n / WARP_TILE);
  if (b->warps_m * b->warps_n < 4 && kernel->tile_m >= 32 && kernel->tile_n >= 32)
    b->warps_m = b->warps_n = 2;
  NOTE("the name does not give the warps: %d x %d, as in CUTLASS", b->warps_m, b->warps_n);
}

static int divide(Builder *b, const char *what, int size, int by) {
  int n = at_least_one((size + by / 2) / by);
  if (size % by) NOTE("%s = %d is not a multiple of %d: %d here", what, size, by, n * by);
  return n;
}

static void set_warp_tile(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  choose_warps(b);
  set(b, "WM", b->warps_m);
  set(b, "WN", b->warps_n);
  set(b, "FM", divide(b, "M of the tile", kernel->tile_m, b->warps_m * b->atom->m));
  set(b, "FN", divide(b, "N of the tile", kernel->tile_n, b->warps_n * b->atom->n));
  set(b, "BK", divide(b, "the depth", b->tile_k, b->atom->k));
}

// ---- tiles of warpgroups ------------------------------------------------------------------------

// The number of warpgroups that multiply a tile, where the name does not say: the fewest that have
// room for the sums.
static int choose_groups(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  if (kernel->groups >= 1 && kernel->groups <= GROUPS_MAX) return kernel->groups;
  const int groups =
      (int64_t)kernel->tile_m * kernel->tile_n > SUMS_OF_ONE_GROUP * WARPGROUP ? 2 : 1;
  NOTE("the name does not give the warpgroups that multiply: %d", groups);
  return groups;
}

// wgmma has its 64 rows along M, so the tile is cut there where it can be.
static void choose_cut(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  int groups = choose_groups(b);
  const bool along_m = kernel->tile_m % (groups * WGMMA_M) == 0;
  if (!along_m && kernel->tile_n % (groups * 8)) {
    NOTE("%d warpgroups cannot share %d rows and %d columns: one multiplies", groups,
         kernel->tile_m, kernel->tile_n);
    groups = 1;
  }
  b->warps_m = along_m ? groups : 1;
  b->warps_n = along_m ? 1 : groups;
  if (groups > 1 && kernel->cut && kernel->cut != (along_m ? 'm' : 'n'))
    NOTE("its warpgroups share the tile by %s of C; here by %s: wgmma has its 64 rows along M",
         along_m ? "columns" : "rows", along_m ? "rows" : "columns");
}

static void set_warpgroup_tile(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  choose_cut(b);
  const int columns = kernel->tile_n / b->warps_n;
  int fn = (columns + WGMMA_N_MAX - 1) / WGMMA_N_MAX;
  while (columns % fn || columns / fn % 8) fn++;
  b->atom_n = columns / fn;
  set(b, "ATOM_N", b->atom_n);
  set(b, "WM", b->warps_m);
  set(b, "WN", b->warps_n);
  set(b, "FM", kernel->tile_m / (b->warps_m * WGMMA_M));
  set(b, "FN", fn);
  set(b, "BK", divide(b, "the depth", b->tile_k, b->atom->k));
  if (kernel->mma_n && kernel->mma_n != b->atom_n)
    NOTE("m%dn%dk%d there, m64n%dk%d here", kernel->mma_m, kernel->mma_n, kernel->mma_k, b->atom_n,
         b->atom->k);
}

// ---- tiles in tensor memory ---------------------------------------------------------------------

// The sums of an instruction are 128 rows of a CTA; a pair has half of the tile's rows each.
// Columns come in 16s, with factors in 128s, whose tiles are that wide.
static void set_tensor_tile(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  const int ctas = kernel->pair ? 2 : 1, rows = ctas * b->atom->m;
  const int step = atom_scales(b->atom) ? 128 : 16;
  const int columns = divide(b, "N of the tile", kernel->tile_n, step) * step;
  int fn = (columns + b->atom->n - 1) / b->atom->n;
  while (columns % fn || columns / fn % step) fn++;
  b->atom_n = columns / fn;
  b->warps_m =
      divide(b, kernel->pair ? "M of the pair's tile" : "M of the tile", kernel->tile_m, rows);
  b->warps_n = 1;
  set(b, "ATOM_N", b->atom_n);
  set(b, "WM", b->warps_m);
  if (fn > 1) set(b, "FN", fn);
  set(b, "BK", divide(b, "the depth", b->tile_k, b->atom->k));
  if (kernel->mma_m && (kernel->mma_m != rows || kernel->mma_n != b->atom_n))
    NOTE("m%dn%dk%d there, m%dn%dk%d here", kernel->mma_m, kernel->mma_n, kernel->mma_k, rows,
         b->atom_n, b->atom->k);
}

// ---- tiles of threads ---------------------------------------------------------------------------

static void set_thread_tile(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  int fm = kernel->tile_m % FMA_CELLS ? 1 : FMA_CELLS,
      fn = kernel->tile_n % FMA_CELLS ? 1 : FMA_CELLS;
  set(b, "BM", kernel->tile_m / fm);
  set(b, "BN", kernel->tile_n / fn);
  set(b, "FM", fm);
  set(b, "FN", fn);
  set(b, "BK", b->tile_k);
  NOTE("the name does not give a thread's cells: %d x %d", fm, fn);
}

// ---- transport ----------------------------------------------------------------------------------

static int slabs_that_fit(const Builder *b) {
  const int64_t row_bytes = (int64_t)b->tile_k * b->atom->bits / 8;
  const int64_t fit =
      (SMEM_BYTES - MBARRIERS) / (row_bytes * (b->kernel->tile_m + b->kernel->tile_n));
  return fit < 2 ? 2 : fit > RING_MAX ? RING_MAX : (int)fit;
}

// Beside the piece of C that is on its way out.
static int tensor_slabs_that_fit(const Builder *b) {
  enum { OUTSIDE_SLABS = 40 * 1024 };
  const DecodedKernel *kernel = b->kernel;
  const int ctas = kernel->pair ? 2 : 1;
  const int64_t rows = max_int(kernel->tile_m / ctas, b->atom->m) + kernel->tile_n / ctas;
  const int64_t fit = (SMEM_BYTES - OUTSIDE_SLABS) / (rows * b->tile_k * b->atom->bits / 8);
  return fit < 2 ? 2 : fit > RING_MAX ? RING_MAX : (int)fit;
}

static int slabs_of(const Builder *b) {
  return b->wgmma ? slabs_that_fit(b) : b->tcgen05 ? tensor_slabs_that_fit(b) : 2;
}

static void choose_depth(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  b->tile_k = kernel->tile_k ? kernel->tile_k : b->atom ? 2 * b->atom->k : FMA_CELLS;
  b->stages = kernel->stages ? kernel->stages : slabs_of(b);
  if (!kernel->tile_k) NOTE("the name does not give the depth of a slab: %d", b->tile_k);
  if (!kernel->stages)
    NOTE("the name does not give the number of slabs: %d%s", b->stages,
         b->wgmma || b->tcgen05 ? ", all that fit" : "");
  if (b->stages <= RING_MAX) return;
  NOTE("%d slabs: a ring has at most %d", b->stages, RING_MAX);
  b->stages = RING_MAX;
}

// Bits of the swizzle that the shorter row has chunks for.
static int swizzle_bits(const Builder *b) {
  int bytes = b->atom->bits / 8, a = b->tile_k * bytes, n = b->kernel->tile_n * bytes;
  int row = a < n ? a : n, bits = 0;
  if (!is_power_of_two(a) || !is_power_of_two(n)) return 0;
  while (bits < SWIZZLE_MAX && CHUNK_BYTES << (bits + 1) <= row) bits++;
  return bits;
}

// The widest panels that divide the rows of both slabs as wgmma reads them: along K, or along N.
static int panel_bits(const Builder *b) {
  const int bytes = b->atom->bits / 8;
  const int a = given(b->out, KNOB_A_COL) ? WGMMA_M * bytes : b->tile_k * bytes;
  const int n = given(b->out, KNOB_B_COL) ? b->tile_k * bytes : b->atom_n * bytes;
  int bits = SWIZZLE_MAX;
  while (bits > 0 && (a % (CHUNK_BYTES << bits) || n % (CHUNK_BYTES << bits))) bits--;
  return bits;
}

// Blocks of a cluster along one axis that CLUSTER_M and CLUSTER_N can say.
static bool is_cluster_side(int n) {
  return n >= 1 && n <= knob_table[KNOB_CLUSTER_M].hi && is_power_of_two(n);
}

static bool sets_cluster(const Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  return b->wgmma && kernel->cluster_m * kernel->cluster_n > 1 &&
         is_cluster_side(kernel->cluster_m) && is_cluster_side(kernel->cluster_n);
}

// All kernels of wgmma that are known fetch by TMA, by a producer, and leave a group in flight.
static void set_wgmma_transport(Builder *b) {
  str_add(&b->knobs, ",STAGE=11,TMA=1");
  if (b->stages > 1) set(b, "BUFFER_COUNT", b->stages);
  if (b->stages > 1) set(b, "WARP_SPECIALIZE", 1);
  if (b->stages > 1 && b->kernel->turns) str_add(&b->knobs, ",PERSISTENT=1,ROLE_SCHEDULE=pingpong");
  if (b->stages > 2) set(b, "MMA_GROUPS", 1);
  if (panel_bits(b)) set(b, "SWIZZLE", panel_bits(b));
  if (sets_cluster(b)) {
    set(b, "CLUSTER_M", b->kernel->cluster_m);
    set(b, "CLUSTER_N", b->kernel->cluster_n);
    set(b, "MULTICAST", 1);
  }
  if (!b->kernel->roles)
    note(b, "it fetches by TMA; the name does not tell whether by a producer: here by one");
}

// CUTLASS's kernels of sm_100 are persistent, with a warp that fetches and one that asks for
// products.
static void set_tensor_transport(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  str_add(&b->knobs, ",STAGE=11,SWIZZLE=3,TMA=1");
  set(b, "BUFFER_COUNT", b->stages);
  str_add(&b->knobs, ",PERSISTENT=1,WARP_SPECIALIZE=1,EPILOGUE=1,TMA_STORE=1");
  if (kernel->pair) str_add(&b->knobs, ",CLUSTER_M=2,CTA_GROUP=2");
}

// A warp's instructions that stand in for a warpgroup's fetch by TMA, as those do; only some names
// say which warps fetch.
static void set_transport(Builder *b) {
  bool tma = b->kernel->warpgroup && b->atom, roles = tma && b->kernel->roles && b->stages > 1;
  bool async = !tma && (b->stages >= 3 || (b->kernel->arch >= 80 && b->atom));
  str_add(&b->knobs, ",STAGE=11");
  if (tma) set(b, "TMA", 1);
  if (async) set(b, "ASYNC_COPY", 1);
  if (b->stages > 1) set(b, "BUFFER_COUNT", b->stages);
  if (b->stages > 1 && !roles) set(b, "PIPELINE_STAGES", 1);
  if (roles) set(b, "WARP_SPECIALIZE", 1);
  if (!b->atom) {
    str_add(&b->knobs, ",VECTORIZE=1,CELL_GROUP=4");
    return;
  }
  if (b->atom->bits != 64) set(b, "LDMATRIX", 1);
  if (swizzle_bits(b)) set(b, "SWIZZLE", swizzle_bits(b));
  set(b, "FRAG_BUFFER", 2);
}

// ---- the rest of the words ----------------------------------------------------------------------

// A tile in tensor memory stays as it is: an instruction, or a pair, has its rows.
static bool is_exchanged(const DecodedKernel *kernel) {
  return *kernel->layout && kernel->layout[2] != 't' && !kernel->tensor_memory;
}

static void swap(int *a, int *b) {
  int kept = *a;
  *a = *b;
  *b = kept;
}

// Row-major C = A · B is column-major C' = B' · A': rows of the tile become columns here.
static DecodedKernel exchanged(const DecodedKernel *kernel) {
  DecodedKernel turned = *kernel;
  swap(&turned.tile_m, &turned.tile_n);
  swap(&turned.cluster_m, &turned.cluster_n);
  if (kernel->cut) turned.cut = kernel->cut == 'm' ? 'n' : 'm';
  swap(&turned.warps_m, &turned.warps_n);
  return turned;
}

// The kernel's A, "t", runs along K: so does B here, which is then column-major. Its B, "n", does
// too.
static void say_layout(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  if (kernel->tensor_memory && *kernel->layout && kernel->layout[2] != 't')
    NOTE(
        "\"%s\": such kernels keep C column-major; for row-major matrices A and B are exchanged, "
        "and rows of the tile are columns of C",
        kernel->layout);
  if (!is_exchanged(kernel)) return;
  NOTE(
      "\"%s\": such kernels keep C column-major; for row-major matrices A and B are exchanged: the "
      "%d x %d tile is %d rows of C and %d columns here, with operands as under A_COL=%d,B_COL=%d",
      kernel->layout, kernel->tile_n, kernel->tile_m, kernel->tile_m, kernel->tile_n,
      kernel->layout[1] == 't', kernel->layout[0] == 't');
}

static void say_unread(Builder *b) {
  Str out = str_new(b->arena);
  for (int i = 0; i < b->kernel->n_parts; i++)
    if (!*b->kernel->part[i].meaning) str_printf(&out, " %s", b->kernel->part[i].text);
  if (out.length) NOTE("not read:%s", out.text);
}

// Names the features that an older architecture's kernel does without, wherever it runs.
static void say_age(Builder *b) {
  static const struct {
    int arch;
    const char *what;
  } begins[] = {{80, "cp.async (sm_80)"}, {90, "TMA, roles for warps (sm_90)"}};
  int arch = b->kernel->arch;
  Str out = str_new(b->arena);
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (arch && arch < begins[i].arch)
      str_printf(&out, "%s%s", out.length ? ", " : "", begins[i].what);
  if (out.length) NOTE("it is built for sm_%d, so it runs without %s on every GPU", arch, out.text);
}

static void say_clusters(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  if (sets_cluster(b))
    note(b, "the name does not tell what the blocks of a cluster share: here slabs, by multicast");
  else if (kernel->cluster_m * kernel->cluster_n > 1 + kernel->pair)
    NOTE("it runs in clusters of %d x %d blocks; for TMA kernels that is CLUSTER_M=%d,CLUSTER_N=%d",
         kernel->cluster_m, kernel->cluster_n, kernel->cluster_m, kernel->cluster_n);
}

// The ladder's rung that has the same instruction and the same number of CTAs for it.
static void say_rung(Builder *b) {
  static const struct {
    bool tcgen05, scaled, pair;
    const char *rung;
  } rungs[] = {{true, false, false, "blackwell/roles"},
               {true, false, true, "blackwell/pair"},
               {true, true, false, "tensor_scaled/roles"},
               {true, true, true, "tensor_scaled/pair"},
               {false, true, false, "scaled/ring"}};
  const bool scaled = atom_scales(b->atom) > 0;
  for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++)
    if (rungs[i].tcgen05 == b->tcgen05 && rungs[i].scaled == scaled &&
        rungs[i].pair == b->kernel->pair)
      NOTE("the nearest rung is %s", rungs[i].rung);
}

// Names the smallest piece of cp.async where a load is smaller.
static void say_narrow_loads(Builder *b) {
  enum { LEAST_BYTES = 4 };
  const int align = b->kernel->align, bits = b->atom ? b->atom->bits : 0;
  if (align > 0 && bits && align * bits < LEAST_BYTES * 8)
    NOTE(
        "align%d is %d bytes in one load: cp.async moves 4 at least, so this kernel loads to "
        "registers and stores to shared memory",
        align, align * bits / 8);
}

static void say_type_age(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  if (kernel->arch && kernel->arch < 80 && b->atom && atom_is_of_warp(b->atom) &&
      (kernel->type == DTYPE_BF16 || kernel->type == DTYPE_TF32))
    NOTE(
        "mma.sync has %s from sm_80 on, so it runs only there: sm_%d names its main loop, two "
        "slabs through registers",
        dtype_name(kernel->type), kernel->arch);
}

static void say_the_rest(Builder *b) {
  const DecodedKernel *kernel = b->kernel;
  say_type_age(b);
  say_age(b);
  if (b->atom) say_rung(b);
  say_narrow_loads(b);
  if (kernel->warps_k > 1) NOTE("%d warps share a tile along K: no knob says it", kernel->warps_k);
  say_clusters(b);
  if (kernel->warpgroup && !b->wgmma && !kernel->roles)
    note(b, "it fetches by TMA; the name does not tell whether by a producer");
  say_layout(b);
  say_unread(b);
}

static Schedule problem_of(const Schedule *base) {
  Schedule schedule = schedule_plain();
  memcpy(schedule.target, base->target, sizeof schedule.target);
  for (int i = 0; i < base->n_given; i++) {
    KnobId knob = base->given[i];
    bool problem = knob_is_problem(knob);
    if (problem && knob != KNOB_DTYPE && knob != KNOB_ACC)
      schedule_set(&schedule, knob, base->value[knob]);
  }
  return schedule;
}

// Instructions that one generation alone has: a target that was not given becomes one that has
// them, and B lies along K, as these read it.
static bool is_of_its_own_gpu(const DecodedKernel *kernel) {
  return kernel->tensor_memory || kernel->blocks;
}

static const char *gpu_with(const DecodedKernel *kernel) {
  return kernel->tensor_memory ? "b200" : "rtx5090";
}

static void aim_at(Schedule *schedule, const DecodedKernel *kernel) {
  const Schedule plain = schedule_plain();
  if (!is_of_its_own_gpu(kernel) || !str_equal(schedule->target, plain.target)) return;
  snprintf(schedule->target, sizeof schedule->target, "%s", gpu_with(kernel));
}

static void say_target(Builder *b) {
  const Schedule plain = schedule_plain();
  if (str_equal(b->out->schedule.target, plain.target)) return;
  str_printf(&b->knobs, ",TARGET=%s", b->out->schedule.target);
  str_add(&b->knobs, ",B_COL=1");
}

DecodedSchedule decode_schedule(Arena *arena, const DecodedKernel *kernel, const Schedule *base) {
  DecodedSchedule out = {.schedule = problem_of(base)};
  aim_at(&out.schedule, kernel);
  const DecodedKernel turned = is_exchanged(kernel) ? exchanged(kernel) : *kernel;
  Builder builder = {.arena = arena, .kernel = &turned, .out = &out, .knobs = str_new(arena)};
  Builder *b = &builder;
  if (kernel->tensor) choose_atom(b);
  choose_depth(b);
  if (b->atom) {
    say_instruction(b);
    str_printf(&b->knobs, "ATOM_KIND=%s", b->atom->knob);
    if (b->atom->f16_acc && b->atom->bits == 16 && kernel->acc == DTYPE_F16)
      str_add(&b->knobs, ",ACC=f16");
    if (is_of_its_own_gpu(kernel)) say_target(b);
    if (b->tcgen05)
      set_tensor_tile(b);
    else if (b->wgmma)
      set_warpgroup_tile(b);
    else
      set_warp_tile(b);
  } else {
    set_thread_tile(b);
  }
  if (b->tcgen05)
    set_tensor_transport(b);
  else if (b->wgmma)
    set_wgmma_transport(b);
  else
    set_transport(b);
  say_the_rest(b);
  Diags diags = diags_new(arena);
  out.knobs = b->knobs.text;
  if (!schedule_parse(&out.schedule, out.knobs, &diags)) NOTE("%s", diags.first->text);
  return out;
}

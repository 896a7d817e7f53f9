// One rule makes nearly all of them: a register has 32 bits and four lanes stand along K (of sums
// along N), eight along the other side; registers go on down that side, then along K.
//
// Worked example, A of 16x8x16 with halves: two values to a register along K, 4 lanes along K, 8
// lanes down, 2 registers down (16 rows), 2 along K (16 halves):
// ((4,8),(2,2,2)):((32,1),(16,8,128)). A warpgroup's instruction has a warp for each 16 rows.
// Version 70 is of its own kind: four threads and the four 16 lanes further on share an 8 x 8 (PTX
// ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type").
#include "banks/registers/register_atom.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/whole.h"

enum { LANES_ALONG = 4, LANES_DOWN = 8, WARPGROUP_ROWS = 64, WARP_ROWS = 16, MODES_MAX = 4 };

static const struct {
  const char *name;
  int bits;
} TYPES[] = {{"TF32", 32}, {"BF16", 16}, {"F16", 16}, {"F32", 32}, {"F64", 64},
             {"E4M3", 8},  {"E5M2", 8},  {"S8", 8},   {"U8", 8},   {"S4", 4},
             {"U4", 4},    {"U1", 1},    {"S32", 32}, {"C32", 64}, {"C64", 128}};
enum { N_TYPES = sizeof TYPES / sizeof TYPES[0] };

// The head of a name, in front of its types: "SM80_16x8x16", "SM90::GMMA::MMA_64x128x16",
// "SM90::GMMA::SPARSE::GMMA_64x128x32", "SM120_SPARSE_16x8x64".
typedef struct AtomHead {
  int arch, m, n, k;
  bool sparse;
} AtomHead;

// The end of it; NULL: the text begins otherwise.
static const char *read_head(const char *at, AtomHead *out) {
  enum { WORDS_MAX = 40 };
  int used = 0;
  *out = (AtomHead){0};
  if (sscanf(at, "SM%4d%n", &out->arch, &used) != 1 || (at[used] != '_' && at[used] != ':'))
    return NULL;
  at += used;
  size_t n = 0;
  while (n < WORDS_MAX && (isalpha((unsigned char)at[n]) || at[n] == '_' || at[n] == ':')) n++;
  const char *sparse = strstr(at, "SPARSE");
  out->sparse = sparse && sparse < at + n;
  at += n;
  used = 0;
  if (sscanf(at, "%4dx%4dx%4d%n", &out->m, &out->n, &out->k, &used) != 3 || !used) return NULL;
  return at + used;
}

bool cute_atom_find(const char *text, const char **begin, const char **end) {
  for (const char *at = text; (at = strstr(at, "SM")); at += 2) {
    AtomHead head;
    if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) continue;
    const char *behind = read_head(at, &head);
    if (!behind) continue;
    *begin = at;
    at = behind;
    while (isalnum((unsigned char)*at) || *at == '_') at++;
    *end = at;
    return true;
  }
  return false;
}

// ---- layouts from counts ------------------------------------------------------------------------

typedef struct Modes {
  int n;
  CuteLayout mode[MODES_MAX];
} Modes;

static void add_mode(Modes *modes, int64_t shape, int64_t stride) {
  if (shape > 1) modes->mode[modes->n++] = cute_leaf(shape, stride);
}

static CuteLayout one_mode(CuteAlgebra *algebra, const Modes *modes) {
  if (modes->n == 0) return cute_leaf(1, 0);
  return modes->n == 1 ? modes->mode[0] : cute_tuple(algebra, modes->n, modes->mode);
}

// `rows` x `cols` (the first mode counts down), `width` values of a thread side by side.
static CuteLayout fragment(CuteAlgebra *algebra, int64_t rows, int64_t cols, int64_t width) {
  const int64_t warp_rows = rows == WARPGROUP_ROWS ? WARP_ROWS : rows;
  Modes threads = {0}, values = {0};
  add_mode(&threads, LANES_ALONG, width * rows);
  add_mode(&threads, LANES_DOWN, 1);
  add_mode(&threads, rows / warp_rows, WARP_ROWS);
  add_mode(&values, width, rows);
  add_mode(&values, warp_rows / LANES_DOWN, LANES_DOWN);
  add_mode(&values, cols / (LANES_ALONG * width), LANES_ALONG * width * rows);
  const CuteLayout both[2] = {one_mode(algebra, &threads), one_mode(algebra, &values)};
  return cute_tuple(algebra, 2, both);
}

static CuteLayout leaves(CuteAlgebra *algebra, int n, const int (*leaf)[2]) {
  Modes modes = {0};
  for (int i = 0; i < n; i++) modes.mode[modes.n++] = cute_leaf(leaf[i][0], leaf[i][1]);
  return one_mode(algebra, &modes);
}

static CuteLayout pair(CuteAlgebra *algebra, CuteLayout threads, CuteLayout values) {
  const CuteLayout both[2] = {threads, values};
  return cute_tuple(algebra, 2, both);
}

// ---- version 70 ---------------------------------------------------------------------------------

// An operand of 8 x 4: a thread has a row of four, or four of a column.
static CuteLayout quad_operand(CuteAlgebra *algebra, bool row) {
  static const int down[2][2] = {{4, 8}, {2, 4}};
  return row ? pair(algebra, cute_leaf(8, 1), cute_leaf(4, 8))
             : pair(algebra, leaves(algebra, 2, down), cute_leaf(4, 1));
}

static CuteLayout quad_sums(CuteAlgebra *algebra, int bits) {
  static const int threads[3][2] = {{2, 1}, {2, 16}, {2, 4}},
                   values[3][2] = {{2, 8}, {2, 2}, {2, 32}};
  return bits == 16 ? pair(algebra, cute_leaf(8, 1), cute_leaf(8, 8))
                    : pair(algebra, leaves(algebra, 3, threads), leaves(algebra, 3, values));
}

static bool make_quad(CuteAlgebra *algebra, const char *majors, int sum_bits, CuteAtom *out) {
  static const int quads[2][2] = {{4, 1}, {2, 16}};
  if (strlen(majors) != 2) return false;
  out->thread_id = leaves(algebra, 2, quads);
  // "T" of A is along K; "N" of B is.
  out->tv[0] = quad_operand(algebra, majors[0] == 'T');
  out->tv[1] = quad_operand(algebra, majors[1] == 'N');
  out->tv[2] = quad_sums(algebra, sum_bits);
  return true;
}

// ---- names --------------------------------------------------------------------------------------

typedef struct AtomName {
  int arch;
  bool sparse;           // A has two of each four columns, and a register stands for twice as many
  int n_types, bits[5];  // D, A, B and perhaps C
  const char *majors;    // what stands behind the types: "TN", "SS"
} AtomName;

static int take_type(const char **at) {
  for (int i = 0; i < N_TYPES; i++)
    if (str_starts(*at, TYPES[i].name)) {
      *at += strlen(TYPES[i].name);
      return TYPES[i].bits;
    }
  return 0;
}

// "SM80_16x8x16_F32F16F16F32_TN": what stands between the underlines.
static bool read_name(const char *name, CuteAtom *out, AtomName *parts) {
  AtomHead head;
  *parts = (AtomName){0};
  const char *at = read_head(name, &head);
  if (!at) return false;
  parts->arch = head.arch;
  parts->sparse = head.sparse;
  out->shape[0] = head.m;
  out->shape[1] = head.n;
  out->shape[2] = head.k;
  if (*at++ != '_') return false;
  for (int bits; parts->n_types < 5 && (bits = take_type(&at));)
    parts->bits[parts->n_types++] = bits;
  if (*at == '_') at++;
  parts->majors = at;
  return true;
}

// Bits of an element of A: version 120 names no types, and K of its atoms is 256 bits, of sparse
// ones 512.
static int operand_bits(const AtomName *parts, const CuteAtom *atom) {
  if (parts->n_types >= 3) return parts->bits[1];
  const int row = parts->sparse ? 512 : 256;  // bits
  return parts->arch >= 120 && atom->shape[2] > 0 ? row / (int)atom->shape[2] : 0;
}

static bool is_legal(const CuteAtom *atom, int bits, bool sparse) {
  const int64_t m = atom->shape[0], n = atom->shape[1], k = atom->shape[2];
  if (bits < 1 || bits > 64) return false;
  const int64_t along = LANES_ALONG * max_int(1, 32 / bits) * (1 + sparse);
  const bool warpgroup = m == WARPGROUP_ROWS;
  return (m == LANES_DOWN || m == WARP_ROWS || warpgroup) && n % LANES_DOWN == 0 && n > 0 &&
         (warpgroup ? n <= 256 : n == LANES_DOWN) && k >= along && k % along == 0;
}

bool cute_atom_named(Arena *arena, const char *name, CuteAtom *out, Diags *diags) {
  CuteAlgebra algebra = {.arena = arena};
  AtomName parts;
  *out = (CuteAtom){0};
  bool ok = read_name(name, out, &parts);
  if (ok && parts.arch == 70) {
    if (out->shape[0] == 8 && out->shape[1] == 8 && out->shape[2] == 4 && parts.n_types >= 3 &&
        make_quad(&algebra, parts.majors, parts.bits[0], out))
      return true;
  }
  const int bits = ok ? operand_bits(&parts, out) : 0;
  if (!ok || parts.arch == 70 || !is_legal(out, bits, parts.sparse)) {
    diag_add(diags, "layout", "%s: not a tensor-core atom of known shape and types",
             str_sanitise(arena, name))
        ->nearest = "SM80_16x8x16_F32F16F16F32_TN";
    return false;
  }
  const int64_t width = max_int(1, 32 / bits);
  const bool warpgroup = out->shape[0] == WARPGROUP_ROWS;
  out->thread_id = cute_leaf(warpgroup ? 128 : 32, 1);
  out->tv[0] = fragment(&algebra, out->shape[0], out->shape[2], width * (1 + parts.sparse));
  if (!warpgroup) out->tv[1] = fragment(&algebra, out->shape[1], out->shape[2], width);
  out->tv[2] = fragment(&algebra, out->shape[0], out->shape[1], 2);
  out->in_memory[0] = warpgroup && str_starts(parts.majors, "SS");
  out->in_memory[1] = warpgroup;
  return true;
}

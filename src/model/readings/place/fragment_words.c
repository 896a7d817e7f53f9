// The qualifiers of mma, wgmma and ldmatrix, from the PTX ISA's sections on them.
//
// Worked example, mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32: what is the same in every
// instruction comes from the table; the shape's sentence has the atom's own numbers, and the four
// types at the end are D, A, B and C, in this order.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "model/readings/place/fragment_text.h"

typedef struct Known {
  const char *text, *meaning;
} Known;

static const Known known[] = {
    {"mma", "multiply and accumulate: D = A·B + C, each a matrix"},
    {"wgmma", "the same for a warpgroup: four warps, 128 lanes"},
    {"tcgen05", "the tensor cores of Blackwell: one thread asks, sums lie in tensor memory"},
    {"ws", "weight-stationary: B stays in the tensor core for the next products"},
    {"cta_group::1", "one CTA multiplies"},
    {"cta_group::2", "a pair of CTAs multiplies: half of A's rows and of D's in each"},
    {"kind::f16", "elements of f16 or bf16"},
    {"kind::tf32", "elements of tf32"},
    {"kind::f8f6f4", "elements of 8, 6 or 4 bits, each type by the instruction descriptor"},
    {"mma_async", "asynchronous: sums may be read after a wait"},
    {"ldmatrix", "8 x 8 matrices from shared memory, to the lanes that mma wants"},
    {"sp", "of each four columns of A two are stored, as E says"},
    {"sp::ordered_metadata", "of each four columns of A two are stored, as E says"},
    {"sync", "a lane waits here until all lanes of the warp have come"},
    {"aligned", "all lanes run this same instruction: no branch between them"},
    {"row", "A row-major: neighbours along k share a register"},
    {"col", "B column-major, the same for B; this shape knows no other pair"},
    {"m8n8", "each matrix has 8 rows of 16 bytes"},
    {"trans", "each matrix is transposed on the way; for 16-bit elements"},
    {"shared", "from shared memory"},
    {"b16", "moved in units of 16 bits, of any type"},
    {"kind::mxf8f6f4", "elements of 8, 6 or 4 bits, a byte each"},
    {"kind::mxf4", "elements of 4 bits, factors of ue8m0"},
    {"kind::mxf4nvf4", "elements of 4 bits, factors of ue8m0 or ue4m3"},
    {"block_scale", "blocks of A and B along K are scaled by factors"},
    {"scale_vec::1X", "one factor for each row of A and column of B"},
    {"scale_vec::2X", "two factors for each, in two bytes of a register"},
    {"scale_vec::4X", "four factors for each, in the bytes of a register"},
    {"ue8m0", "the type of the factors: powers of two, 2^-127 to 2^127"},
    {"ue4m3", "the type of the factors: e4m3 without a sign"},
};

static bool is_shape(const char *word) {
  return *word == 'm' && isdigit((unsigned char)word[1]) && strchr(word, 'k');
}

static const char *say_shape(Arena *arena, const Atom *atom) {
  if (atom->sparse)
    return arena_printf(arena, "A is %d x %d, stored as %d x %d; B %d x %d; C and D %d x %d",
                        atom->m, atom->k, atom->m, atom->k / 2, atom->k, atom->n, atom->m, atom->n);
  return arena_printf(arena, "A is %d x %d (m x k), B %d x %d (k x n), C and D %d x %d", atom->m,
                      atom->k, atom->k, atom->n, atom->m, atom->n);
}

// "x4": four matrices, the addresses of eight lanes for each.
static const char *say_count(Arena *arena, const LdMatrix *load) {
  return arena_printf(arena, "%d matri%s; lanes 0 to %d give the addresses of their rows",
                      load->n_matrices, load->n_matrices == 1 ? "x" : "ces",
                      load->n_matrices * LDMATRIX_ROWS - 1);
}

// The types stand at the end: D, A, B and, where it is not D itself, C.
static const char *say_type(Arena *arena, int nth) {
  static const char *const of[] = {"D, the sums that come out", "A", "B", "C, the sums that go in"};
  return nth < 4 ? arena_printf(arena, "the type of %s", of[nth]) : "";
}

// "row" and "col" of a shape that has every pair: those of A, then of B.
static const char *say_order(const Atom *atom, const char *word, int nth) {
  const bool row = str_equal(word, "row");
  if (atom->products == 1 || (!row && !str_equal(word, "col"))) return NULL;
  static const char *const of[2][2] = {
      {"A column-major: a lane has four of a column", "A row-major: a lane has four of a row"},
      {"B column-major: a lane has four of a column", "B row-major: a lane has four of a row"}};
  return of[nth > 0][row];
}

static const char *meaning_of(Arena *arena, const Atom *atom, const LdMatrix *load,
                              const char *word, int *n_orders, int *n_types) {
  const char *order = say_order(atom, word, *n_orders);
  if (order) return ++*n_orders, order;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (str_equal(word, known[i].text)) return known[i].meaning;
  if (load && *word == 'x') return say_count(arena, load);
  if (is_shape(word)) return say_shape(arena, atom);
  return say_type(arena, (*n_types)++);
}

int ptx_words(Arena *arena, const Atom *atom, const LdMatrix *load, PtxWord out[PTX_WORDS_MAX]) {
  const char *ptx = load ? ldmatrix_ptx(arena, load) : atom_ptx(arena, atom);
  int n = 0, n_orders = 0, n_types = 0;
  for (const char *at = ptx; *at && n < PTX_WORDS_MAX;) {
    size_t length = strcspn(at, ".");
    const char *word = arena_strndup(arena, at, length);
    out[n].meaning = meaning_of(arena, atom, load, word, &n_orders, &n_types);
    out[n].text = n ? arena_printf(arena, ".%s", word) : word;
    n++;
    at += length + (at[length] == '.');
  }
  return n;
}

const char *wmma_text(Arena *arena, const Atom *atom) {
  enum { EDGE = 16, COLUMNS = 64 };
  bool has = str_equal(atom->type, "f16") || str_equal(atom->type, "bf16");
  if (!has || !atom_is_of_warp(atom) || atom->sparse || atom->products > 1) return NULL;
  int products = EDGE * EDGE * EDGE / (atom->m * atom->n * atom->k);
  return arena_printf(
      arena,
      "A WMMA tile is 16 x 16 x 16: the work of %d such instructions. The %d columns of a warp "
      "are %d fragments of B here and %d in WMMA, so more can be interleaved. The lane of each "
      "element is known here, so ldmatrix and a swizzle work.",
      products, COLUMNS, COLUMNS / atom->n, COLUMNS / EDGE);
}

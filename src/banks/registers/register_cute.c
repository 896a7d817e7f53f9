// Coordinates instead of algebra: a thread and a value are taken apart to an element of one atom, a
// place of the atom among its threads and a repeat, and put together again.
//
// CuTe's thrfrg_A, _B and _C build this by divisions, for mode X of an operand: element i of
// the atom, thread t of the ThrX side by side and repeat r are index i + AtomX * (t + ThrX * r),
// which PermutationX maps within its tile.
//
// Worked example, C of 16x8x16 with Thr Layout VMNK (32,2,2,1) and no permutation: thread 33 has
// v = 1 and m = 1; its value 1 is (0, 3) of the atom, so (16, 3) of the tile 32 x 16.
#include "banks/registers/register_cute.h"

#include <ctype.h>
#include <string.h>

#include "banks/layouts/cute_cxx.h"
#include "banks/layouts/notation_scan.h"
#include "banks/registers/register_atom.h"
#include "base/whole.h"

enum {
  MODES_MNK = 3,
  WARP_LANES = 32,
  THREADS_MAX = 1024,
  EXTENT_MAX = 1 << 20,
  PLACES_MAX = 1 << 20,  // of a table, each worked out by itself
};

typedef struct Mma {
  CuteAtom atom;
  CuteLayout threads;  // V, M, N, K
  bool permuted[MODES_MNK];
  CuteLayout permutation[MODES_MNK];
} Mma;

typedef struct Reading {
  Arena *arena;
  Diags *diags;
  const char *text;
} Reading;

static bool refuse(Reading *reading, const char *sentence) {
  diag_add(reading->diags, "layout", "%s: %s", str_sanitise(reading->arena, reading->text),
           sentence);
  return false;
}

// ---- labelled lines -----------------------------------------------------------------------------

// The label of a line without blanks and underlines, so that C++ and the DSL say the same:
// "LayoutA_TV" is LayoutATV.
static bool label_is(const char *line, size_t n, const char *label) {
  for (size_t i = 0; i < n; i++) {
    if (line[i] == ' ' || line[i] == '_' || line[i] == '\t') continue;
    if (tolower((unsigned char)line[i]) != tolower((unsigned char)*label++)) return false;
  }
  return *label == '\0';
}

// The text behind one of two labels; NULL.
static const char *labelled(Arena *arena, const char *text, const char *a, const char *b) {
  for (const char *line = text; *line; line += *line == '\n') {
    const size_t length = strcspn(line, "\n"), n = strcspn(line, ":\n");
    if (n < length && (label_is(line, n, a) || label_is(line, n, b)))
      return arena_strndup(arena, line + n + 1, length - n - 1);
    line += length;
  }
  return NULL;
}

static bool read_layout(Reading *reading, const char *text, CuteLayout *out) {
  CuteText cute;
  text += strspn(text, " \t\r");
  if (!cute_text_parse(reading->arena, text, &cute, reading->diags)) return false;
  if (cute.n != 1 || cute.part[0].kind != CUTE_PART_LAYOUT)
    return refuse(reading, "a layout of threads and values has no swizzle");
  *out = cute.part[0].layout;
  return true;
}

static bool field(Reading *reading, const char *a, const char *b, CuteLayout *out) {
  const char *text = labelled(reading->arena, reading->text, a, b);
  if (!text) return refuse(reading, arena_printf(reading->arena, "the line %s is missing", a));
  return read_layout(reading, text, out);
}

// ---- tuples -------------------------------------------------------------------------------------

// Part `index` of "(a,b,c)" or "Tile<a,b,c>", of the top level; NULL: there are fewer.
static const char *part_of(Arena *arena, const char *text, int index) {
  const char *begin = strpbrk(text, "(<{");
  int depth = 1;
  if (!begin) return NULL;
  begin++;
  for (const char *at = begin; *at && depth; at++) {
    if (strchr("(<{", *at)) depth++;
    if (strchr(")>}", *at)) depth--;
    if (depth > 1 || (depth == 1 && *at != ',')) continue;
    if (index-- == 0) return arena_strndup(arena, begin, (size_t)(at - begin));
    begin = at + 1;
  }
  return NULL;
}

// "_": *given is false. "32" and "_32{}" are 32:1.
static bool read_tile(Reading *reading, const char *text, bool *given, CuteLayout *out) {
  Scan scan = scan_new(reading->arena, text, reading->diags);
  long long size;
  *given = !(scan_peek(&scan) == '_' && !isdigit((unsigned char)scan.at[1]));
  if (!*given) return true;
  if (strchr(text, ':') || strstr(text, "Layout")) return read_layout(reading, text, out);
  if (scan_take(&scan, "Int<") || scan_take(&scan, "C<")) scan_peek(&scan);
  if (!scan_number(&scan, "the size of a tile", &size)) return false;
  if (size < 1 || size > EXTENT_MAX) return refuse(reading, "a tile has from 1 to 2^20 elements");
  *out = cute_leaf(size, 1);
  return true;
}

// ---- reading a product --------------------------------------------------------------------------

static bool read_shape(Reading *reading, int64_t shape[MODES_MNK]) {
  const char *text = labelled(reading->arena, reading->text, "ShapeMNK", "ShapeMNK");
  if (!text) return refuse(reading, "the line Shape MNK is missing");
  for (int i = 0; i < MODES_MNK; i++) {
    const char *part = part_of(reading->arena, text, i);
    CuteLayout size;
    bool given;
    if (!part || !read_tile(reading, part, &given, &size) || !given)
      return refuse(reading, "Shape MNK does not have three numbers");
    shape[i] = cute_size(&size);
  }
  return true;
}

static bool read_permutation(Reading *reading, const char *text, Mma *out) {
  for (int i = 0; text && i < MODES_MNK; i++) {
    const char *part = part_of(reading->arena, text, i);
    if (part && !read_tile(reading, part, &out->permuted[i], &out->permutation[i])) return false;
  }
  return true;
}

// The atom's threads side by side: V as the atom has them, then M, N, K as `atoms` lays them out.
static CuteLayout spread(CuteAlgebra *algebra, const CuteAtom *atom, const CuteLayout *atoms) {
  const CuteTiler tiler = {0, atoms};
  const CuteLayout product = cute_logical_product(algebra, atom->thread_id, tiler);
  const CuteLayout grid = cute_mode(&product, 1);
  const CuteLayout modes[4] = {cute_mode(&product, 0), cute_mode(&grid, 0),
                               atoms->rank > 1 ? cute_mode(&grid, 1) : cute_leaf(1, 0),
                               atoms->rank > 2 ? cute_mode(&grid, 2) : cute_leaf(1, 0)};
  return cute_tuple(algebra, 4, modes);
}

// "TiledMMA<MMA_Atom<NAME>, Layout<Shape<_2,_2,_1>>, Tile<…>>", "make_tiled_mma(NAME{}, …)", NAME.
static bool read_named(Reading *reading, Mma *out) {
  const char *begin, *end;
  CuteAlgebra algebra = {.arena = reading->arena};
  CuteLayout one = cute_leaf(1, 0);
  if (!cute_atom_find(reading->text, &begin, &end)) return refuse(reading, "it names no atom");
  const char *name = arena_strndup(reading->arena, begin, (size_t)(end - begin));
  if (!cute_atom_named(reading->arena, name, &out->atom, reading->diags)) return false;
  const bool tiled = strstr(reading->text, "iledMMA") || strstr(reading->text, "iled_mma");
  const char *atoms = tiled ? part_of(reading->arena, reading->text, 1) : NULL;
  if (atoms && !read_layout(reading, atoms, &one)) return false;
  const char *tile = atoms ? part_of(reading->arena, reading->text, 2) : NULL;
  if (tile && !read_permutation(reading, tile, out)) return false;
  out->threads = spread(&algebra, &out->atom, &one);
  return !algebra.fault || refuse(reading, algebra.fault);
}

static bool read_printed(Reading *reading, Mma *out) {
  static const char *const tv[MODES_MNK][2] = {
      {"LayoutATV", "TVLayoutA"}, {"LayoutBTV", "TVLayoutB"}, {"LayoutCTV", "TVLayoutC"}};
  CuteAlgebra algebra = {.arena = reading->arena};
  const CuteLayout one = cute_leaf(1, 0);
  if (!read_shape(reading, out->atom.shape)) return false;
  if (!field(reading, "ThrID", "ThrID", &out->atom.thread_id)) return false;
  for (int i = 0; i < MODES_MNK; i++)
    if (!field(reading, tv[i][0], tv[i][1], &out->atom.tv[i])) return false;
  const char *threads = labelled(reading->arena, reading->text, "ThrLayoutVMNK", "ThrLayoutVMNK");
  out->threads = spread(&algebra, &out->atom, &one);
  if (threads && !read_layout(reading, threads, &out->threads)) return false;
  if (cute_rank(&out->threads) != 4) return refuse(reading, "Thr Layout VMNK has four modes");
  return read_permutation(
      reading, labelled(reading->arena, reading->text, "PermutationMNK", "PermutationMNK"), out);
}

// ---- places -------------------------------------------------------------------------------------

// One mode of an operand: M, N or K.
typedef struct Side {
  int64_t atom, threads, tile, extent, repeats;
  const CuteLayout *permutation;  // NULL: none
} Side;

static bool make_side(Reading *reading, const Mma *mma, int mode, int extent, Side *out) {
  const CuteLayout threads = cute_mode(&mma->threads, mode + 1);
  *out = (Side){.atom = mma->atom.shape[mode], .threads = cute_size(&threads)};
  out->tile = out->atom * out->threads;
  if (mma->permuted[mode]) {
    out->permutation = &mma->permutation[mode];
    out->tile = cute_size(out->permutation);
    if (cute_cosize(out->permutation) != out->tile)
      return refuse(reading, "a permutation maps its tile onto itself");
  }
  out->extent = extent ? extent : out->tile;
  bool ok = out->tile % (out->atom * out->threads) == 0 && out->extent % out->tile == 0 &&
            out->extent <= EXTENT_MAX;
  out->repeats = out->extent / (out->atom * out->threads);
  return ok || refuse(reading,
                      "the shape is not a multiple of the tile, or the tile not one of "
                      "its atoms");
}

static int64_t side_index(const Side *side, int64_t in_atom, int64_t thread, int64_t repeat) {
  const int64_t index = in_atom + side->atom * (thread + side->threads * repeat);
  if (!side->permutation) return index;
  return cute_offset(side->permutation, index % side->tile) + index / side->tile * side->tile;
}

typedef struct Table {
  TensorShape shape;
  int n[HOLDERS];
  int64_t threads, values;
  int32_t *element;
} Table;

// Whole warps; of fewer than 32 threads a part of one.
static bool make_table(Reading *reading, int64_t threads, int64_t values, Table *out) {
  if (threads > THREADS_MAX || values > PLACES_MAX || threads * values > PLACES_MAX)
    return refuse(reading, "more than 1024 threads, or 2^20 places of registers");
  out->threads = threads;
  out->values = values;
  const int lanes = (int)min64(threads, WARP_LANES);
  out->n[HOLDER_REGISTER] = (int)values;
  out->n[HOLDER_LANE] = lanes;
  out->n[HOLDER_WARP] = (int)ceil_div(threads, lanes);
  out->n[HOLDER_BLOCK] = 1;
  const int64_t places = values * lanes * out->n[HOLDER_WARP];
  out->element = ARENA_ARRAY(reading->arena, int32_t, places);
  memset(out->element, -1, sizeof *out->element * (size_t)places);
  return true;
}

static void fill_thread(const CuteLayout *tv, const Side side[2], const int64_t at[2], int64_t v,
                        int64_t thread, Table *table) {
  const CuteLayout lanes = cute_mode(tv, 0), values = cute_mode(tv, 1);
  const int64_t n = cute_size(&values), base = cute_offset(&lanes, v);
  int32_t *out = &table->element[thread * table->values];
  for (int64_t value = 0; value < table->values; value++) {
    const int64_t in_atom = base + cute_offset(&values, value % n), repeat = value / n;
    const int64_t x = side_index(&side[0], in_atom % side[0].atom, at[0], repeat % side[0].repeats);
    const int64_t y = side_index(&side[1], in_atom / side[0].atom, at[1], repeat / side[0].repeats);
    if (x < side[0].extent && y < side[1].extent) out[value] = (int32_t)(x * side[1].extent + y);
  }
}

static bool fill_mma(Reading *reading, const Mma *mma, int operand, const Side side[2],
                     const int mode[2], Table *table) {
  const CuteLayout *tv = &mma->atom.tv[operand];
  if (cute_rank(tv) != 2) return refuse(reading, "a layout of threads and values has two modes");
  const CuteLayout values = cute_mode(tv, 1), v_mode = cute_mode(&mma->threads, 0);
  const int64_t all = cute_size(&mma->threads), n_v = cute_size(&v_mode);
  if (all > THREADS_MAX || cute_size(&values) > PLACES_MAX)
    return refuse(reading, "more than 1024 threads, or 2^20 values of one");
  if (!make_table(reading, cute_cosize(&mma->threads),
                  cute_size(&values) * side[0].repeats * side[1].repeats, table))
    return false;
  for (int64_t i = 0; i < all; i++) {
    int64_t at[MODES_MNK], rest = i / n_v;
    for (int k = 0; k < MODES_MNK; k++) {
      const CuteLayout threads = cute_mode(&mma->threads, k + 1);
      at[k] = rest % cute_size(&threads);
      rest /= cute_size(&threads);
    }
    const int64_t of_sides[2] = {at[mode[0]], at[mode[1]]};
    fill_thread(tv, side, of_sides, i % n_v, cute_offset(&mma->threads, i), table);
  }
  return true;
}

static const RegisterLayout *finish(Reading *reading, const char *kind, const Table *table) {
  return register_layout_of(reading->arena, reading->text, kind, &table->shape, table->n,
                            table->element);
}

static bool check_shape(Reading *reading, const TensorShape *shape) {
  return shape->rank == 0 || shape->rank == 2 || refuse(reading, "--shape has two extents here");
}

static const RegisterLayout *read_mma(Reading *reading, const char *operand,
                                      const TensorShape *shape) {
  static const int modes[3][2] = {{0, 2}, {1, 2}, {0, 1}};
  const int which = operand[0] - 'A';
  Mma mma = {.atom = {.shape = {0}}};
  Side side[2];
  Table table = {.shape = {.rank = 2}};
  if (which < 0 || which > 2) {
    refuse(reading, "operands of a product are A, B and C");
    return NULL;
  }
  const bool printed = labelled(reading->arena, reading->text, "ShapeMNK", "ShapeMNK");
  if (!(printed ? read_printed(reading, &mma) : read_named(reading, &mma))) return NULL;
  if (mma.atom.in_memory[which]) {
    refuse(reading, "this operand is read from shared memory by a descriptor, not from registers");
    return NULL;
  }
  for (int i = 0; i < 2; i++) {
    if (!make_side(reading, &mma, modes[which][i], shape->extent[i], &side[i])) return NULL;
    table.shape.extent[i] = (int)side[i].extent;
  }
  if (!fill_mma(reading, &mma, which, side, modes[which], &table)) return NULL;
  return finish(reading, arena_printf(reading->arena, "operand %c", operand[0]), &table);
}

// ---- copies -------------------------------------------------------------------------------------

typedef struct Copy {
  CuteLayout tv;  // (thread, value) → number within the tiler
  CuteLayout tile[2];
  bool has_atom;
  CuteLayout from, reference;  // of the atom: (thread, value) → number
  int64_t n_numbers;
  const int32_t *at_number;  // [n_numbers]: the place of the reference with this number; -1
} Copy;

// The side with values one behind the other is memory; the side of registers is the one that the
// tile was made for.
static bool lies_in_a_row(const CuteLayout *tv) {
  const CuteLayout values = cute_mode(tv, 1);
  for (int64_t i = 0; i < cute_size(&values); i++)
    if (cute_offset(&values, i) != i) return false;
  return true;
}

// The places of the reference by their numbers.
static bool invert_reference(Reading *reading, Copy *out) {
  const int64_t n = cute_size(&out->reference);
  out->n_numbers = cute_cosize(&out->reference);
  if (n > PLACES_MAX || out->n_numbers > PLACES_MAX)
    return refuse(reading, "an atom of more than 2^20 places");
  int32_t *at = ARENA_ARRAY(reading->arena, int32_t, out->n_numbers);
  memset(at, -1, sizeof *at * (size_t)out->n_numbers);
  for (int64_t i = n - 1; i >= 0; i--) at[cute_offset(&out->reference, i)] = (int32_t)i;
  out->at_number = at;
  return true;
}

static bool read_atom_sides(Reading *reading, char side, Copy *out) {
  CuteLayout source, target;
  if (!field(reading, "ValLayoutSrc", "TVLayoutSrc", &source) ||
      !field(reading, "ValLayoutDst", "TVLayoutDst", &target))
    return false;
  if (max64(cute_size(&source), cute_size(&target)) > PLACES_MAX)
    return refuse(reading, "an atom of more than 2^20 places");
  out->has_atom = true;
  out->from = side == 'S' ? source : target;
  out->reference = lies_in_a_row(&target) ? source : target;
  const char *reference = labelled(reading->arena, reading->text, "ValLayoutRef", "TVLayoutRef");
  if (reference && !read_layout(reading, reference, &out->reference)) return false;
  return invert_reference(reading, out);
}

static bool read_copy_text(Reading *reading, const char *operand, Copy *out) {
  const char *tiler = labelled(reading->arena, reading->text, "TilerMN", "TilerMN");
  if (!tiler) return refuse(reading, "the line Tiler MN is missing");
  if (!field(reading, "TiledLayoutTV", "TVLayouttiled", &out->tv)) return false;
  if (cute_rank(&out->tv) != 2)
    return refuse(reading, "a layout of threads and values has two modes");
  for (int i = 0; i < 2; i++) {
    const char *part = part_of(reading->arena, tiler, i);
    bool given = false;
    out->tile[i] = cute_leaf(1, 0);
    if (!part) continue;  // a tile of one dimension
    if (!read_tile(reading, part, &given, &out->tile[i])) return false;
    if (!given) return refuse(reading, "Tiler MN names a size for each side");
  }
  return !operand || read_atom_sides(reading, operand[0], out);
}

// Thread and value of the atom's other side → thread and value of the side that the tile was made
// for.
static bool through_atom(Reading *reading, const Copy *copy, int64_t *thread, int64_t *value) {
  const CuteLayout lanes = cute_mode(&copy->from, 0), values = cute_mode(&copy->from, 1);
  const CuteLayout ref_lanes = cute_mode(&copy->reference, 0);
  const int64_t n_lanes = cute_size(&lanes), n_values = cute_size(&values);
  const int64_t number =
      cute_offset(&lanes, *thread % n_lanes) + cute_offset(&values, *value % n_values);
  const int64_t n_ref = cute_size(&ref_lanes);
  const int64_t n_ref_values = cute_size(&copy->reference) / n_ref;
  const int32_t at = number < copy->n_numbers ? copy->at_number[number] : -1;
  if (at < 0) return refuse(reading, "the sides of the copy's atom do not have the same elements");
  *thread = *thread / n_lanes * n_ref + at % n_ref;
  *value = *value / n_values * n_ref_values + at / n_ref;
  return true;
}

static bool fill_copy(Reading *reading, const Copy *copy, const TensorShape *shape, Table *table) {
  const CuteLayout threads = cute_mode(&copy->tv, 0), values = cute_mode(&copy->tv, 1);
  const int64_t size[2] = {cute_size(&copy->tile[0]), cute_size(&copy->tile[1])};
  int64_t repeats[2], extent[2];
  for (int i = 0; i < 2; i++) {
    extent[i] = shape->rank ? shape->extent[i] : cute_cosize(&copy->tile[i]);
    repeats[i] = ceil_div(extent[i], size[i]);
    if (extent[i] > EXTENT_MAX) return refuse(reading, "a side of more than 2^20 elements");
    table->shape.extent[i] = (int)extent[i];
  }
  const int64_t n = cute_size(&values);
  if (n > PLACES_MAX) return refuse(reading, "a thread has more than 2^20 values");
  if (!make_table(reading, cute_size(&threads), n * repeats[0] * repeats[1], table)) return false;
  for (int64_t place = 0; place < table->threads * table->values; place++) {
    int64_t thread = place / table->values, value = place % table->values % n;
    const int64_t repeat = place % table->values / n;
    if (copy->has_atom && !through_atom(reading, copy, &thread, &value)) return false;
    const int64_t at = cute_offset(&threads, thread) + cute_offset(&values, value);
    const int64_t x = cute_offset(&copy->tile[0], at % size[0]) + repeat % repeats[0] * size[0];
    const int64_t y = cute_offset(&copy->tile[1], at / size[0]) + repeat / repeats[0] * size[1];
    if (x < extent[0] && y < extent[1]) table->element[place] = (int32_t)(x * extent[1] + y);
  }
  return true;
}

static const RegisterLayout *read_copy(Reading *reading, const char *operand,
                                       const TensorShape *shape) {
  Copy copy = {.has_atom = false};
  Table table = {.shape = {.rank = 2}};
  if (operand && operand[0] != 'S' && operand[0] != 'D') {
    refuse(reading, "the sides of a copy are S (source) and D (destination)");
    return NULL;
  }
  if (!read_copy_text(reading, operand, &copy)) return NULL;
  if (!fill_copy(reading, &copy, shape, &table)) return NULL;
  const char *kind = !operand ? "tile of a copy" : operand[0] == 'S' ? "source" : "destination";
  return finish(reading, kind, &table);
}

// ---- the door -----------------------------------------------------------------------------------

bool register_cute_is(const char *text) {
  const char *begin, *end;
  return strstr(text, "MMA_Atom") || strstr(text, "MMA Atom") || strstr(text, "TiledCopy") ||
         strstr(text, "Tiled Copy") || cute_atom_find(text, &begin, &end);
}

const RegisterLayout *register_cute_read(Arena *arena, const char *text, const char *operand,
                                         const TensorShape *shape, Diags *diags) {
  Reading reading = {arena, diags, text};
  if (!check_shape(&reading, shape)) return NULL;
  const bool copy = strstr(text, "TiledCopy") || strstr(text, "Tiled Copy");
  return copy ? read_copy(&reading, operand, shape)
              : read_mma(&reading, operand ? operand : "C", shape);
}

const RegisterLayout *register_tv_read(Arena *arena, const char *text, const TensorShape *shape,
                                       Diags *diags) {
  Reading reading = {arena, diags, text};
  Copy copy = {.has_atom = false};
  Table table = {.shape = {.rank = 2}};
  if (!check_shape(&reading, shape) || !read_layout(&reading, text, &copy.tv)) return NULL;
  if (shape->rank == 0 || cute_rank(&copy.tv) != 2) {
    refuse(&reading, "expected two modes, threads and values, and --shape for the matrix");
    return NULL;
  }
  for (int i = 0; i < 2; i++) copy.tile[i] = cute_leaf(shape->extent[i], 1);
  if (cute_cosize(&copy.tv) > tensor_size(shape)) {
    refuse(&reading, "it reaches beyond the shape");
    return NULL;
  }
  if (!fill_copy(&reading, &copy, shape, &table)) return NULL;
  return finish(&reading, "threads and values", &table);
}

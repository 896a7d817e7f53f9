// Fragments: one rule gives every map of every atom.
//
// An operand has an axis along which a register packs neighbours (the packed axis: k of A and B, n
// of C) and another (the spread axis: m of A and C, n of B). The PTX ISA writes each map with
//   groupID = lane >> 2,  threadID_in_group = lane % 4
// and in all of them the bits of an element's position are dealt out in the same order:
//
//   packed axis   value bits for the neighbours that share a register (C: two neighbours, always)
//                 then lane bits 0 1 (threadID_in_group), then the last value bits
//   spread axis   lane bits 2 3 4 (groupID), then a value bit (rows 8 apart where M > 8), then the
//                 warp of a warpgroup (lane bits 5 6: rows 16 and 32 apart)
//   value bits    packed neighbours first, then the 8 rows, then what is left of the packed axis
//
// Worked example, A of m16n8k16.f16 (packed axis = col, two halves share a register):
//   col = v[0]·1 + lane[0]·2 + lane[1]·4 + v[2]·8
//   row = lane[2]·1 + lane[3]·2 + lane[4]·4 + v[1]·8
//   lane 0: [0][0] [0][1] [8][0] [8][1] [0][8] [0][9] [8][8] [8][9]
//
// A of a sparse atom is stored as half its columns, by the same rule.
#include "model/words/fragment.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "base/whole.h"
#include "model/words/dtype.h"
#include "model/words/sparse.h"

enum { WARP_LANES = 32, GROUP_LANES = 128 };
enum { REG = ATOM_PLACE_REG, SMEM = ATOM_PLACE_SMEM, TMEM = ATOM_PLACE_TMEM };

const Atom atom_table[] = {
#define PRODUCT(sparse_, ctas_, stationary_, products_, a_col_, b_row_)               \
  .sparse = sparse_, .ctas = ctas_, .stationary = stationary_, .products = products_, \
  .a_col = a_col_, .b_row = b_row_
#define ANY_ATOM(product_, name_, ptx_, m_, n_, k_, n_step_, type_, bits_, acc_, acc_bits_, \
                 f16_acc_, lanes_, a_, b_, c_, first_, last_, knob_, section_)              \
  {product_,                                                                                \
   .name = name_,                                                                           \
   .pattern = ptx_,                                                                         \
   .m = m_,                                                                                 \
   .n = n_,                                                                                 \
   .k = k_,                                                                                 \
   .n_step = n_step_,                                                                       \
   .type = type_,                                                                           \
   .bits = bits_,                                                                           \
   .acc = acc_,                                                                             \
   .acc_bits = acc_bits_,                                                                   \
   .f16_acc = f16_acc_,                                                                     \
   .lanes = lanes_,                                                                         \
   .place = {a_, b_, c_},                                                                   \
   .cc_first = first_,                                                                      \
   .cc_last = last_,                                                                        \
   .knob = knob_,                                                                           \
   .section = section_,                                                                     \
   .unit = 1},
#define ATOM(...) ANY_ATOM(PRODUCT(0, 1, 0, 1, 0, 0), __VA_ARGS__)
#define SPARSE_ATOM(...) ANY_ATOM(PRODUCT(1, 1, 0, 1, 0, 0), __VA_ARGS__)
#define WS_ATOM(...) ANY_ATOM(PRODUCT(0, 1, 1, 1, 0, 0), __VA_ARGS__)
#define PAIR_ATOM(...) ANY_ATOM(PRODUCT(0, 2, 0, 1, 0, 0), __VA_ARGS__)
#define QUAD_ATOM(a_col_, b_row_, ...) ANY_ATOM(PRODUCT(0, 1, 0, 4, a_col_, b_row_), __VA_ARGS__)
#include "model/words/atom.def"
#undef ATOM
#undef SPARSE_ATOM
#undef WS_ATOM
#undef PAIR_ATOM
#undef QUAD_ATOM
#undef ANY_ATOM
#undef PRODUCT
};
const int atom_count = (int)(sizeof atom_table / sizeof *atom_table);

// ---- facts --------------------------------------------------------------------------------------

const Atom *atom_find_knob(const char *value) {
  for (int i = 0; i < atom_count; i++)
    if (atom_table[i].knob && str_equal_fold(atom_table[i].knob, value)) return &atom_table[i];
  return NULL;
}

bool atom_on(const Atom *atom, int cc) {
  return cc >= atom->cc_first && (atom->cc_last == 0 || cc <= atom->cc_last);
}

bool atom_same_row(const Atom *a, const Atom *b) {
  return a->pattern == b->pattern && a->m == b->m && str_equal(a->type, b->type);
}

int64_t atom_flop(const Atom *atom) {
  return 2LL * atom->products * atom->m * atom->n * atom->k * atom->unit;
}

static DType atom_type(const Atom *atom) {
  DType type = DTYPE_F32;
  dtype_find(atom->type, &type);
  return type;
}

void atom_in_units(Atom *atom) {
  const int unit = dtype_elements(atom_type(atom));
  if (atom->unit == unit) return;
  atom->unit = unit;
  atom->k /= unit;
  atom->bits *= unit;
}

void atom_in_elements(Atom *atom) {
  atom->k *= atom->unit;
  atom->bits /= atom->unit;
  atom->unit = 1;
}

int atom_scales(const Atom *atom) {
  const DTypeScale scale = dtype_scale(atom_type(atom));
  return scale.elements ? atom->k * atom->unit / scale.elements : 0;
}

const char *atom_ptx(Arena *arena, const Atom *atom) {
  Str out = str_new(arena);
  for (const char *p = atom->pattern; *p; p++) {
    if (*p == '@')
      str_add(&out, atom->acc);
    else if (*p == '#')
      str_printf(&out, "%d", atom->n);
    else
      str_add_char(&out, *p);
  }
  return out.text;
}

const char *atom_operand_name(AtomOperand operand) {
  static const char *const names[ATOM_MATRICES] = {
      [ATOM_A] = "A",     [ATOM_B] = "B",     [ATOM_C] = "C",
      [ATOM_SFA] = "SFA", [ATOM_SFB] = "SFB", [ATOM_META] = "E"};
  return names[operand];
}

int atom_lanes(const Atom *atom) {
  return atom->lanes == WARP_LANES ? WARP_LANES : atom->ctas * GROUP_LANES;
}
int atom_warps(const Atom *atom) { return atom_lanes(atom) / WARP_LANES; }

bool atom_operand_is_scale(AtomOperand operand) {
  return operand == ATOM_SFA || operand == ATOM_SFB;
}

bool atom_in_registers(const Atom *atom, AtomOperand operand) {
  if (operand == ATOM_META) return atom->sparse;
  if (atom_operand_is_scale(operand)) return atom_scales(atom) > 0 && !atom_is_of_thread(atom);
  return atom->place[operand] & ATOM_PLACE_REG;
}

bool atom_reads_tiles(const Atom *atom) { return atom->place[ATOM_B] & ATOM_PLACE_SMEM; }
bool atom_is_of_warp(const Atom *atom) { return atom->lanes == WARP_LANES; }
bool atom_is_of_thread(const Atom *atom) { return atom && atom->lanes == 1; }
bool atom_in_lanes(const Atom *atom, AtomOperand operand) {
  if (operand == ATOM_META) return atom->sparse;
  if (atom_operand_is_scale(operand)) return atom_scales(atom) > 0;
  return atom->place[operand] & (ATOM_PLACE_REG | ATOM_PLACE_TMEM);
}
bool atom_is_of_warpgroup(const Atom *atom) { return atom->lanes == GROUP_LANES; }
int atom_issuing_warps(const Atom *atom) {
  return atom_is_of_warpgroup(atom) ? GROUP_LANES / WARP_LANES : 1;
}

// ---- names --------------------------------------------------------------------------------------

enum { SPELLED_MAX = 96, TYPES_MAX = 4 };

// The parts of a name, whichever way it is spelled.
typedef struct Spelling {
  char text[SPELLED_MAX];  // lower case, '.' for '_'
  int lanes;        // that issue it, where the name says so: of a warpgroup, or one; 0: it does not
  bool sparse;      // A is stored as half of its columns: sp, sp::ordered_metadata
  bool stationary;  // ws
  int ctas;         // cta1, cta2; 0: the name does not say
  int n_orders;     // of A and B: "row" and "col", which nearly every atom has so
  bool a_col, b_row;  // or another way
  int m, n, k;        // 0: there was no shape
  int n_types;
  const char *type[TYPES_MAX];  // into `text`
} Spelling;

static void read_word(Spelling *out, const char *word) {
  static const char *const fillers[] = {"mma", "async", "sync", "aligned", "metadata"};
  int m, n, k;
  char shape[SPELLED_MAX];
  for (size_t i = 0; i < sizeof fillers / sizeof *fillers; i++)
    if (str_equal(word, fillers[i])) return;
  if (str_equal(word, "sp") || str_equal(word, "sp::ordered")) {
    out->sparse = true;
  } else if (str_equal(word, "wgmma")) {
    out->lanes = GROUP_LANES;
  } else if (str_equal(word, "tcgen05")) {
    out->lanes = 1;
  } else if (str_equal(word, "ws")) {
    out->stationary = true;
  } else if (str_equal(word, "cta1") || str_equal(word, "cta2")) {
    out->ctas = word[3] - '0';
  } else if (str_equal(word, "row") || str_equal(word, "col")) {
    const bool is_row = str_equal(word, "row");
    if (out->n_orders++ == 0)
      out->a_col = !is_row;
    else
      out->b_row = is_row;
  } else if (sscanf(word, "m%3dn%3dk%3d", &m, &n, &k) == 3 &&
             snprintf(shape, sizeof shape, "m%dn%dk%d", m, n, k) > 0 && str_equal(shape, word)) {
    out->m = m, out->n = n, out->k = k;
  } else {
    if (out->n_types < TYPES_MAX) out->type[out->n_types] = word;
    out->n_types++;
  }
}

static Spelling spelling_of(const char *text) {
  Spelling out = {.n_types = 0};
  size_t n = 0;
  for (; text[n] && n + 1 < SPELLED_MAX; n++)
    out.text[n] = text[n] == '_' ? '.' : (char)tolower((unsigned char)text[n]);
  if (text[n]) out.n_types = TYPES_MAX + 1;  // longer than any name
  return out;
}

static void read_words(Spelling *spelling) {
  for (char *at = spelling->text, *next; at; at = next) {
    next = strchr(at, '.');
    if (next) *next++ = '\0';
    read_word(spelling, at);
  }
}

// The types in the order of the instruction are C, A, B and, of mma, C again.
static bool read_types(const Spelling *spelling, const char **type, const char **acc) {
  const char *const *t = spelling->type;
  int whole = spelling->lanes ? 3 : 4;
  *type = t[0];
  *acc = spelling->n_types == 2 ? t[1] : NULL;
  if (spelling->n_types == 1 || spelling->n_types == 2) return true;
  if (spelling->n_types != whole || !str_equal(t[1], t[2])) return false;
  *type = t[1], *acc = t[0];
  return whole == 3 || str_equal(t[0], t[3]);
}

// A name that does not say how many CTAs multiply means one, where one can have its M.
static const Atom *find_row(const Spelling *spelling, const char *type) {
  const int ctas = spelling->ctas ? spelling->ctas : spelling->m > GROUP_LANES ? 2 : 1;
  for (int i = 0; i < atom_count; i++) {
    const Atom *row = &atom_table[i];
    bool shape = row->m == spelling->m && row->k == spelling->k &&
                 row->sparse == spelling->sparse && (row->n == spelling->n || row->n_step > 0);
    bool form = row->stationary == spelling->stationary && row->a_col == spelling->a_col &&
                row->b_row == spelling->b_row && row->ctas == ctas;
    if (shape && form && row->lanes == (spelling->lanes ? spelling->lanes : WARP_LANES) &&
        str_equal(row->type, type))
      return row;
  }
  return NULL;
}

static bool fail(Diags *diags, const char *nearest, const char *sentence) {
  diag_add(diags, "atom", "%s", sentence)->nearest = nearest;
  return false;
}

// The same with "wgmma." before it, where there is one; the row with a name that begins like the
// text; else the one with the nearest spelling: a shape without a type is compared with shapes.
static const char *nearest_atom(Arena *arena, const char *text) {
  Atom wgmma;
  Diags unused = diags_new(arena);
  enum { NAMES_MAX = 128 };
  const char *names[NAMES_MAX], *warpgroup = arena_printf(arena, "wgmma.%s", text);
  if (!str_starts(text, "wgmma.") && atom_parse(warpgroup, &wgmma, &unused)) return warpgroup;
  assert(atom_count <= NAMES_MAX);
  for (int i = 0; i < atom_count; i++) {
    names[i] = atom_table[i].name;
    if (*text && str_starts(names[i], text)) return names[i];
    if (!strchr(text, '.')) names[i] = arena_strndup(arena, names[i], strcspn(names[i], "."));
  }
  const char *nearest = nearest_name(text, names, atom_count);
  for (int i = 0; i < atom_count; i++)
    if (names[i] == nearest) return atom_table[i].name;
  return atom_table[0].name;
}

// The row that differs in the order of A and B alone; NULL: there is none.
static const Atom *in_usual_order(const Spelling *spelling, const char *type) {
  Spelling usual = *spelling;
  usual.a_col = usual.b_row = false;
  return find_row(&usual, type);
}

static bool fail_unknown(Diags *diags, const Atom *near, const char *text) {
  Spelling spelling = spelling_of(text);
  const char *name = spelling.text;
  while (str_starts(name, "mma.") || str_starts(name, "sync.") || str_starts(name, "aligned."))
    name = strchr(name, '.') + 1;
  return fail(diags, near ? near->name : nearest_atom(diags->arena, name),
              arena_printf(diags->arena, "\"%.80s\" is not a known atom",
                           str_sanitise(diags->arena, text)));
}

// PTX ISA, shapes of wgmma: of s8 there is every multiple of 8 up to 32, then every multiple of 16.
// Shapes of tcgen05.mma.ws: 64, 128 and 256.
bool atom_has_n(const Atom *row, int n) {
  enum { DENSE_MAX = 32, INTEGER_STEP = 16 };
  if (row->n_step == 0) return n == row->n;
  if (row->stationary && !is_power_of_two(n)) return false;
  bool sparse = str_equal(row->type, "s8") && n > DENSE_MAX;
  return n >= row->n_step && n <= 256 && n % (sparse ? INTEGER_STEP : row->n_step) == 0;
}

void atom_name_with_n(char *out, size_t bytes, const char *name, int m, int n) {
  const char *shape = name;  // "m64n256k16", behind "wgmma." or "wgmma.sp."
  while (*shape != 'm' || !isdigit((unsigned char)shape[1])) shape++;
  snprintf(out, bytes, "%.*sm%dn%d%s", (int)(shape - name), name, m, n, strchr(shape, 'k'));
}

void atom_set_n(Atom *atom, int n) {
  char before[sizeof atom->name];
  snprintf(before, sizeof before, "%s", atom->name);
  atom_name_with_n(atom->name, sizeof atom->name, before, atom->m, n);
  atom->n = n;
}

void atom_set_f16_acc(Atom *atom) {
  char name[sizeof atom->name];
  snprintf(name, sizeof name, "%.24s.f16", atom->name);
  if (!str_equal(atom->acc, "f16")) memcpy(atom->name, name, sizeof name);
  atom->acc = "f16";
  atom->acc_bits = 16;
}

static bool choose_n(Atom *atom, int n, Diags *diags) {
  int step = atom->n_step, most = atom->n;
  if (step == 0) return true;
  int nearest = n < step ? step : n > most ? most : (n + step / 2) / step * step;
  bool gap = !atom_has_n(atom, nearest);
  atom_set_n(atom, gap ? nearest + step : nearest);
  if (atom->stationary && atom->n != n)
    return fail(
        diags, arena_strdup(diags->arena, atom->name),
        arena_printf(diags->arena, "tcgen05.mma.ws with N=%d: N must be 64, 128 or 256", n));
  if (nearest == n && gap)
    return fail(diags, arena_strdup(diags->arena, atom->name),
                arena_printf(diags->arena,
                             "wgmma of %s with N=%d: N above 32 must be a multiple "
                             "of %d",
                             atom->type, n, 2 * step));
  if (nearest == n) return true;
  return fail(diags, arena_strdup(diags->arena, atom->name),
              arena_printf(diags->arena, "%s with N=%d: N must be a multiple of %d from %d to %d",
                           atom_is_of_thread(atom) ? "tcgen05" : "wgmma", n, step, step, most));
}

static bool choose_acc(Atom *atom, const char *acc, Diags *diags) {
  if (!acc || str_equal(acc, atom->acc)) return true;
  if (!atom->f16_acc || !str_equal(acc, "f16"))
    return fail(
        diags, arena_printf(diags->arena, "%s.%s", atom->name, atom->acc),
        arena_printf(diags->arena, "%s does not accumulate in %.16s, but in %s%s", atom->name,
                     str_sanitise(diags->arena, acc), atom->acc, atom->f16_acc ? " or f16" : ""));
  atom_set_f16_acc(atom);
  return true;
}

// A whole instruction with a name that says more than shape and types.
static const Atom *find_instruction(Arena *arena, const char *text) {
  for (int i = 0; i < atom_count; i++)
    if (str_equal_fold(atom_ptx(arena, &atom_table[i]), text)) return &atom_table[i];
  return NULL;
}

bool atom_parse(const char *text, Atom *out, Diags *diags) {
  const char *cute = atom_of_cute(diags->arena, text);
  if (cute) text = cute;
  const Atom *instruction = find_instruction(diags->arena, text);
  if (instruction) {
    *out = *instruction;
    return true;
  }
  Spelling spelling = spelling_of(text);
  const char *type, *acc;
  read_words(&spelling);
  bool known = read_types(&spelling, &type, &acc);
  const Atom *row = known ? find_row(&spelling, type) : NULL;
  if (!row) return fail_unknown(diags, known ? in_usual_order(&spelling, type) : NULL, text);
  Atom atom = *row;
  if (!choose_n(&atom, spelling.n, diags) || !choose_acc(&atom, acc, diags)) return false;
  *out = atom;
  return true;
}

// ---- fragments ----------------------------------------------------------------------------------

static int operand_bits(const Atom *atom, AtomOperand operand) {
  enum { SCALE_BITS = 8 };
  if (operand == ATOM_META) return SPARSE_META_BITS;
  return atom_operand_is_scale(operand) ? SCALE_BITS
         : operand == ATOM_C            ? atom->acc_bits
                                        : atom->bits;
}

// For factors in tensor memory a column has the factors of one instruction, whatever room is left.
static int elements_per_register(const Atom *atom, AtomOperand operand) {
  if (atom_operand_is_scale(operand) && atom_is_of_thread(atom)) return atom_scales(atom);
  int bits = operand_bits(atom, operand);
  return bits < 32 ? 32 / bits : 1;
}

// Neighbours along the packed axis that one lane holds: what A and B pack into a register, and two
// of C, packed or not.
static int neighbours(const Atom *atom, AtomOperand operand) {
  return operand == ATOM_C ? 2 : elements_per_register(atom, operand);
}

// A map under construction: arrays of the packed and of the spread axis.
typedef struct MapBuilder {
  FragmentMap *map;
  int *packed_of_lane, *packed_of_value, *spread_of_lane, *spread_of_value;
} MapBuilder;

static void value_bits(MapBuilder *builder, int *of_value, int from, int to) {
  for (int weight = from; weight < to; weight *= 2) of_value[builder->map->n_value_bits++] = weight;
}

static void lane_bits(MapBuilder *builder, int *of_lane, int from, int n) {
  for (int i = 0; i < n; i++) of_lane[builder->map->n_lane_bits++] = from << i;
}

// With thread-id 0 the first lanes of each four supply the factors: of A both, for rows 8 apart, of
// B the first. The others hold copies, which the instruction does not look at. Byte v of a lane's
// register, counted from byte-id on, belongs to the v-th piece of K.
static FragmentMap scale_map(const Atom *atom, AtomOperand operand) {
  const bool a = operand == ATOM_SFA;
  const int n = atom_scales(atom);
  FragmentMap map = {.rows = a ? atom->m : n,
                     .cols = a ? n : atom->n,
                     .n_lanes = WARP_LANES,
                     .n_values = n,
                     .n_lane_bits = 5};
  int *spread = a ? map.row_of_lane_bit : map.col_of_lane_bit;
  int *along_k = a ? map.col_of_value_bit : map.row_of_value_bit;
  if (a) spread[0] = 8;
  for (int bit = 0; bit < 3; bit++) spread[2 + bit] = 1 << bit;
  for (int weight = 1; weight < n; weight *= 2) along_k[map.n_value_bits++] = weight;
  return map;
}

// Bits of a row, or of a chunk of columns, that come from one bit of the place.
static void meta_bit(FragmentMap *map, SparsePlace at, int row, int chunk) {
  const int value = at.bit / SPARSE_META_BITS;
  const int bit = at.lane ? __builtin_ctz((unsigned)at.lane) : __builtin_ctz((unsigned)value);
  int *const rows = at.lane ? map->row_of_lane_bit : map->row_of_value_bit;
  int *const cols = at.lane ? map->col_of_lane_bit : map->col_of_value_bit;
  rows[bit] = row;
  cols[bit] = chunk;
}

// Metadata of a sparse A: four bits for each row and chunk of columns, eight to a word. With
// selector 0 the first lanes of each four supply them; those of other selectors follow. In a
// warpgroup each warp has its own 16 rows. (sparse.h; CUTLASS's ELayout_64x64, 64x32 and 64x16 say
// the same of wgmma.)
static FragmentMap meta_map(const Atom *atom) {
  const SparseMeta meta = sparse_meta(atom->bits, atom->k);
  const int lanes = atom_lanes(atom);
  FragmentMap map = {.rows = atom->m,
                     .cols = meta.chunks,
                     .n_lanes = lanes,
                     .n_values = 32 / SPARSE_META_BITS,
                     .n_lane_bits = lanes == WARP_LANES ? 5 : 7,
                     .n_value_bits = 3};
  enum { TILE_ROWS = 16 };
  for (int row = 1; row < TILE_ROWS; row *= 2) meta_bit(&map, sparse_place(&meta, row, 0), row, 0);
  for (int chunk = 1; chunk < meta.chunks; chunk *= 2)
    meta_bit(&map, sparse_place(&meta, 0, chunk), 0, chunk);
  for (int bit = 5; bit < map.n_lane_bits; bit++) map.row_of_lane_bit[bit] = TILE_ROWS << (bit - 5);
  return map;
}

FragmentMap fragment_map(const Atom *atom, AtomOperand operand) {
  assert(atom_in_lanes(atom, operand));
  if (atom_is_of_thread(atom)) return fragment_tensor_map(atom, operand);
  if (atom->products > 1) return fragment_quad_map(atom, operand);
  if (atom_operand_is_scale(operand)) return scale_map(atom, operand);
  if (operand == ATOM_META) return meta_map(atom);
  const int stored = atom->sparse ? atom->k / 2 : atom->k;
  FragmentMap map = {.rows = operand == ATOM_B ? atom->k : atom->m,
                     .cols = operand == ATOM_A ? stored : atom->n,
                     .n_lanes = atom_lanes(atom)};
  map.n_values = map.rows * map.cols / map.n_lanes;
  MapBuilder to_col = {&map, map.col_of_lane_bit, map.col_of_value_bit, map.row_of_lane_bit,
                       map.row_of_value_bit};
  MapBuilder to_row = {&map, map.row_of_lane_bit, map.row_of_value_bit, map.col_of_lane_bit,
                       map.col_of_value_bit};
  MapBuilder *b = operand == ATOM_B ? &to_row : &to_col;
  int packed = operand == ATOM_B ? map.rows : map.cols;
  int spread = operand == ATOM_B ? map.cols : map.rows;
  int pack = neighbours(atom, operand);
  value_bits(b, b->packed_of_value, 1, pack);
  lane_bits(b, b->packed_of_lane, pack, 2);
  lane_bits(b, b->spread_of_lane, 1, 3);
  value_bits(b, b->spread_of_value, 8, spread > 8 ? 16 : 8);
  if (atom_warps(atom) > 1) lane_bits(b, b->spread_of_lane, 16, 2);
  value_bits(b, b->packed_of_value, 4 * pack, packed);
  return map;
}

FragmentElement fragment_map_element(const FragmentMap *map, int lane, int value) {
  assert(lane >= 0 && lane < map->n_lanes && value >= 0 && value < map->n_values);
  FragmentElement at = {0, 0};
  for (int b = 0; b < map->n_lane_bits; b++)
    if (lane >> b & 1) at.row += map->row_of_lane_bit[b], at.col += map->col_of_lane_bit[b];
  for (int b = 0; b < map->n_value_bits; b++)
    if (value >> b & 1) at.row += map->row_of_value_bit[b], at.col += map->col_of_value_bit[b];
  return at;
}

// The bit of lane or value that adds most to an axis, and no more than `rest`; 0: none adds.
static int take_weight(const int *of_lane, const int *of_value, const FragmentMap *map, int rest,
                       FragmentOwner *owner) {
  int most = 0;
  FragmentOwner bit = {0, 0};
  for (int b = 0; b < map->n_lane_bits; b++)
    if (of_lane[b] > most && of_lane[b] <= rest)
      most = of_lane[b], bit = (FragmentOwner){.lane = 1 << b};
  for (int b = 0; b < map->n_value_bits; b++)
    if (of_value[b] > most && of_value[b] <= rest)
      most = of_value[b], bit = (FragmentOwner){.value = 1 << b};
  owner->lane |= bit.lane;
  owner->value |= bit.value;
  return most;
}

// A weight is at most twice the next smaller one of its axis: largest first leaves nothing over.
FragmentOwner fragment_map_owner(const FragmentMap *map, int row, int col) {
  assert(row >= 0 && row < map->rows && col >= 0 && col < map->cols);
  FragmentOwner owner = {0, 0};
  while (row > 0) row -= take_weight(map->row_of_lane_bit, map->row_of_value_bit, map, row, &owner);
  while (col > 0) col -= take_weight(map->col_of_lane_bit, map->col_of_value_bit, map, col, &owner);
  return owner;
}

FragmentElement fragment_element(const Atom *atom, AtomOperand operand, int lane, int value) {
  FragmentMap map = fragment_map(atom, operand);
  return fragment_map_element(&map, lane, value);
}

FragmentOwner fragment_owner(const Atom *atom, AtomOperand operand, int row, int col) {
  FragmentMap map = fragment_map(atom, operand);
  return fragment_map_owner(&map, row, col);
}

// The place of element (row, col) of A among the sums of atoms that stand side by side.
static FragmentOwner sum_owner(const FragmentMap *sums, int row, int col, int *atom) {
  *atom = col / sums->cols;
  return fragment_map_owner(sums, row, col % sums->cols);
}

// Fragments made of one atom's sums, one behind the other along N: each begins `step_values` values
// further, in the same lanes.
static bool steps_follow(const FragmentMap *sums, int depth, const Relayout *map) {
  for (int step = 0; step < map->n_steps; step++) {
    const FragmentOwner owner = fragment_map_owner(sums, 0, step * depth);
    if (owner.lane != 0 || owner.value != step * map->step_values) return false;
  }
  return true;
}

bool fragment_relayout(const Atom *from, const Atom *next, Relayout *out) {
  *out = (Relayout){0};
  if (!atom_in_lanes(next, ATOM_A) || !atom_in_lanes(from, ATOM_C)) return false;
  const FragmentMap a = fragment_map(next, ATOM_A), sums = fragment_map(from, ATOM_C);
  const bool wide = sums.cols > a.cols;
  *out = (Relayout){.n_atoms = wide ? 1 : a.cols / sums.cols,
                    .n_steps = wide ? sums.cols / a.cols : 1,
                    .n_values = a.n_values,
                    .n_bits = a.n_value_bits,
                    .run = 1,
                    .elements = a.rows * a.cols};
  if (wide) out->step_values = fragment_map_owner(&sums, 0, a.cols).value;
  for (int row = 0; row < a.rows; row++)
    for (int col = 0; col < a.cols; col++)
      out->kept += fragment_relayout_element(&sums, &a, row, col).kept;
  for (int bit = 0; bit < a.n_value_bits; bit++) {
    const FragmentElement e = fragment_map_element(&a, 0, 1 << bit);
    out->value_of_bit[bit] = sum_owner(&sums, e.row, e.col, &out->atom_of_bit[bit]).value;
    if (out->value_of_bit[bit] == 1 << bit && out->run == 1 << bit && bit == 0) out->run = 2;
  }
  const bool whole = wide ? sums.cols % a.cols == 0 : a.cols % sums.cols == 0;
  return whole && steps_follow(&sums, a.cols, out) && out->kept == out->elements;
}

FragmentPacking fragment_packing(const Atom *atom, AtomOperand operand) {
  int bits = operand_bits(atom, operand);
  FragmentPacking packing = {.n_values = fragment_map(atom, operand).n_values,
                             .register_bits = bits > 32 ? bits : 32,
                             .value_bits = bits,
                             .per_register = elements_per_register(atom, operand)};
  packing.n_registers = (packing.n_values + packing.per_register - 1) / packing.per_register;
  return packing;
}

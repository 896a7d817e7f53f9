// The words that are fed to the lanes, and the words that they must give back.
//
// ldmatrix: shared memory holds 16-bit tags, element i is i. A round is 32 addresses. In the
// scattered rounds every lane addresses 16 bytes of its own, those included whose addresses do not
// count; so a tag says which lane's row it is from and which column. In the operand rounds the
// addresses are those of ldmatrix_address() for a matrix that lies there by rows or by columns, and
// the tags must be the elements that fragment_element() gives the lane.
//
// mma: D = A · B + C is bilinear, so A runs through all its lanes and values, one of them 1 and the
// others 0. With that 1 at (i, k), row i of the product is row k of B. B holds its elements'
// numbers k · N + j + 1 and C its i · N + j + 1, one digit in base 4 at a time: digits are exact in
// every type, and together they tell which element of B met the 1 and which of C it was added to.
// Worked example, m16n8k16.f16, the 1 in lane 5, value 2: by the map (9, 2). In the round of
// digit 0, B[2][j] is (17 + j) mod 4 and so D[9][3] is 0 plus 4 · (9 · 8 + 4) mod 4 = 0, which lane
// 5 holds as value 3 of its C; D[9][2] is 3 + 4 · 3. 16 · 16 places × 4 digits are 1024 rounds.
#include "kernels/device/fragment_check.h"

#include <assert.h>
#include <string.h>

#include "base/random.h"
#include "model/words/formats.h"

enum { SCATTERED_ROUNDS = 64, OPERAND_ROUNDS_MAX = 512, LDMATRIX_FORMS = 6, BASE = 4 };
enum { ROW_HALVES = LDMATRIX_ROW_BYTES / 2, SLOTS = TAGGED_TAGS / ROW_HALVES };
static const uint32_t no_tag = 0xFFFF;

// ---- the list -----------------------------------------------------------------------------------

static LdMatrix ldmatrix_form(int index) {
  return (LdMatrix){.n_matrices = 1 << index % 3, .trans = index >= 3};
}

// Products of block-scaled atoms are not asked for: they have the registers of other atoms of the
// same shape in bytes, and no tag would tell which lanes the factors come from. Sparse ones have
// those of a half of the depth. Where a warp makes four products, a tag has four owners.
static int forms_of(const Atom *row) {
  if (!atom_is_of_warp(row) || atom_scales(row) || row->sparse || row->products > 1) return 0;
  return row->f16_acc ? 2 : 1;
}

// The atom of a case; false for a ldmatrix.
static bool atom_of(int index, Atom *atom) {
  index -= LDMATRIX_FORMS;
  for (int i = 0; i < atom_count && index >= 0; index -= forms_of(&atom_table[i++])) {
    if (index >= forms_of(&atom_table[i])) continue;
    *atom = atom_table[i];
    if (index == 1) {
      atom->acc = "f16";
      atom->acc_bits = 16;
    }
    return true;
  }
  return false;
}

int tagged_count(void) {
  int n = LDMATRIX_FORMS;
  for (int i = 0; i < atom_count; i++) n += forms_of(&atom_table[i]);
  return n;
}

const char *tagged_name(Arena *arena, int index) {
  Atom atom;
  if (atom_of(index, &atom)) return arena_printf(arena, "%s.%s", atom.name, atom.acc);
  const LdMatrix form = ldmatrix_form(index);
  return arena_printf(arena, "ldmatrix.x%d%s", form.n_matrices, form.trans ? ".trans" : "");
}

bool tagged_on(int index, int cc) {
  Atom atom;
  return atom_of(index, &atom) ? atom_on(&atom, cc) : cc >= 75;
}

// ---- ldmatrix -----------------------------------------------------------------------------------

typedef struct Rounds {
  Arena *arena;
  TaggedCase *tagged;
  uint32_t *in, *expected;
} Rounds;

static void begin_rounds(Rounds *rounds, int most) {
  TaggedCase *tagged = rounds->tagged;
  const size_t lanes = (size_t)most * TAGGED_LANES;
  rounds->in = ARENA_ARRAY(rounds->arena, uint32_t, lanes * (size_t)tagged->n_in);
  rounds->expected = ARENA_ARRAY(rounds->arena, uint32_t, lanes * (size_t)tagged->n_out);
  tagged->in = rounds->in;
  tagged->expected = rounds->expected;
}

static uint32_t *lane_in(const Rounds *rounds, int round, int lane) {
  return rounds->in + (round * TAGGED_LANES + lane) * rounds->tagged->n_in;
}
static uint32_t *lane_out(const Rounds *rounds, int round, int lane) {
  return rounds->expected + (round * TAGGED_LANES + lane) * rounds->tagged->n_out;
}

// Slots of 16 bytes, a different one for each lane: in order, backwards, then drawn.
static void draw_slots(int round, uint64_t *seed, int slot[TAGGED_LANES]) {
  bool taken[SLOTS] = {false};
  for (int lane = 0; lane < TAGGED_LANES; lane++) {
    slot[lane] = round == 1 ? TAGGED_LANES - 1 - lane : lane;
    while (round > 1 && taken[slot[lane] = (int)random_between(seed, 0, SLOTS - 1)]) {
    }
    taken[slot[lane]] = true;
  }
}

static void add_scattered(Rounds *rounds, uint64_t *seed) {
  TaggedCase *tagged = rounds->tagged;
  const int round = tagged->n_rounds++;
  int slot[TAGGED_LANES];
  draw_slots(round, seed, slot);
  tagged->round[round] = "rows that lie anywhere";
  for (int lane = 0; lane < TAGGED_LANES; lane++) {
    *lane_in(rounds, round, lane) = (uint32_t)slot[lane] * LDMATRIX_ROW_BYTES;
    for (int matrix = 0; matrix < tagged->load.n_matrices; matrix++)
      for (int half = 0; half < 2; half++) {
        const FragmentElement at = ldmatrix_element(tagged->load.trans, lane, half);
        const int from = slot[ldmatrix_addressing_lane(matrix, at.row)];
        lane_out(rounds, round, lane)[matrix] |= (uint32_t)(from * ROW_HALVES + at.col)
                                                 << (16 * half);
      }
  }
}

// An operand of n_fragments atoms side by side, lying in shared memory from byte 0.
typedef struct OperandLoad {
  const Atom *atom;
  AtomOperand operand;
  bool k_contiguous;
  int n_fragments;
  FragmentMap map;
  FragmentPacking packing;
} OperandLoad;

static int byte_address(const OperandLoad *load, int row, int col) {
  const bool is_a = load->operand == ATOM_A;
  const int k = is_a ? col : row, other = is_a ? row : col;
  const int n_k = load->atom->k, n_other = (is_a ? load->map.rows : load->map.cols);
  const int element =
      load->k_contiguous ? other * n_k + k : k * n_other * load->n_fragments + other;
  return element * load->atom->bits / 8;
}

// The source of byte `byte` of register `r` of a lane, by the maps.
static int source_byte(const OperandLoad *load, int lane, int r, int byte) {
  const int fragment = r / load->packing.n_registers, bit = 8 * byte;
  const int value =
      r % load->packing.n_registers * load->packing.per_register + bit / load->packing.value_bits;
  FragmentElement at = fragment_map_element(&load->map, lane, value);
  if (load->operand == ATOM_A)
    at.row += fragment * load->map.rows;
  else
    at.col += fragment * load->map.cols;
  return byte_address(load, at.row, at.col) + bit % load->packing.value_bits / 8;
}

// Two bytes of a register are one tag only if they were neighbours in shared memory.
static uint32_t expected_tag(const OperandLoad *load, int lane, int r, int half) {
  const int low = source_byte(load, lane, r, 2 * half);
  const int high = source_byte(load, lane, r, 2 * half + 1);
  return low % 2 == 0 && high == low + 1 ? (uint32_t)low / 2 : no_tag;
}

static void add_operand_round(Rounds *rounds, const OperandLoad *load, const LdMatrix *how) {
  TaggedCase *tagged = rounds->tagged;
  const int round = tagged->n_rounds++;
  assert(round < SCATTERED_ROUNDS + OPERAND_ROUNDS_MAX);
  tagged->round[round] = arena_printf(rounds->arena, "%d x %s of %s, %s", load->n_fragments,
                                      atom_operand_name(load->operand), load->atom->name,
                                      load->k_contiguous ? "k by k" : "across k");
  for (int lane = 0; lane < TAGGED_LANES; lane++) {
    const FragmentElement at = ldmatrix_address(how, lane % how->n_address_lanes);
    *lane_in(rounds, round, lane) = (uint32_t)byte_address(load, at.row, at.col);
    for (int r = 0; r < how->n_matrices; r++)
      lane_out(rounds, round, lane)[r] =
          expected_tag(load, lane, r, 0) | expected_tag(load, lane, r, 1) << 16;
  }
}

// Adds every way to load a fragment by the form of ldmatrix at hand.
static void add_operands(Rounds *rounds, const Atom *atom) {
  const LdMatrix *form = &rounds->tagged->load;
  for (int way = 0; way < 12 && atom_is_of_warp(atom); way++) {
    OperandLoad load = {.atom = atom,
                        .operand = way % 2 ? ATOM_B : ATOM_A,
                        .k_contiguous = way / 2 % 2 == 0,
                        .n_fragments = 1 << way / 4};
    LdMatrix how;
    if (!fragment_ldmatrix(atom, load.operand, load.k_contiguous, load.n_fragments, &how)) continue;
    if (how.n_matrices != form->n_matrices || how.trans != form->trans) continue;
    load.map = fragment_map(atom, load.operand);
    load.packing = fragment_packing(atom, load.operand);
    add_operand_round(rounds, &load, &how);
  }
}

static void build_ldmatrix(Arena *arena, TaggedCase *tagged) {
  Rounds rounds = {.arena = arena, .tagged = tagged};
  uint64_t seed = 1;
  tagged->n_in = 1;
  tagged->n_out = tagged->load.n_matrices;
  tagged->round = ARENA_ARRAY(arena, const char *, SCATTERED_ROUNDS + OPERAND_ROUNDS_MAX);
  begin_rounds(&rounds, SCATTERED_ROUNDS + OPERAND_ROUNDS_MAX);
  for (int i = 0; i < SCATTERED_ROUNDS; i++) add_scattered(&rounds, &seed);
  for (int i = 0; i < atom_count; i++) add_operands(&rounds, &atom_table[i]);
}

// ---- mma ----------------------------------------------------------------------------------------

// One operand's share of a lane's words.
typedef struct Part {
  FragmentMap map;
  DType type;
  int first_byte, value_bytes;
} Part;

typedef struct Mma {
  Part part[ATOM_OPERANDS];
  int n_digits;
} Mma;

static int digit(int number, int place) {
  while (place-- > 0) number /= BASE;
  return number % BASE;
}

static int digits_of(int number) {
  int n = 1;
  while (number /= BASE) n++;
  return n;
}

static Mma mma_of(TaggedCase *tagged) {
  const Atom *atom = &tagged->atom;
  Mma mma = {.n_digits = digits_of(atom->k * atom->n > atom->m * atom->n ? atom->k * atom->n
                                                                         : atom->m * atom->n)};
  int byte = 0;
  for (int operand = ATOM_A; operand <= ATOM_C; operand++) {
    Part *part = &mma.part[operand];
    const FragmentPacking packing = fragment_packing(atom, (AtomOperand)operand);
    const bool known = dtype_find(operand == ATOM_C ? atom->acc : atom->type, &part->type);
    assert(known && packing.value_bits == 8 * dtype_bytes(part->type));
    (void)known;
    part->map = fragment_map(atom, (AtomOperand)operand);
    part->first_byte = byte;
    part->value_bytes = packing.value_bits / 8;
    byte += packing.n_values * part->value_bytes;
  }
  tagged->n_in = byte / 4;
  tagged->n_out = (byte - mma.part[ATOM_C].first_byte) / 4;
  return mma;
}

static void put_value(uint32_t *words, const Part *part, int first_byte, int value, double number) {
  number_write(part->type, (unsigned char *)words + first_byte + value * part->value_bytes, number);
}

// The numbers of an operand's elements, one digit of each.
static void put_numbers(uint32_t *words, const Part *part, int first_byte, int lane, int place,
                        int factor) {
  for (int value = 0; value < part->map.n_values; value++) {
    const FragmentElement at = fragment_map_element(&part->map, lane, value);
    const int number = at.row * part->map.cols + at.col + 1;
    put_value(words, part, first_byte, value, factor * digit(number, place));
  }
}

// The rounds of the first place of A, without its 1: what the others are copied from.
static void add_templates(Rounds *rounds, const Mma *mma) {
  const Part *b = &mma->part[ATOM_B], *c = &mma->part[ATOM_C];
  for (int place = 0; place < mma->n_digits; place++)
    for (int lane = 0; lane < TAGGED_LANES; lane++) {
      put_numbers(lane_in(rounds, place, lane), b, b->first_byte, lane, place, 1);
      put_numbers(lane_in(rounds, place, lane), c, c->first_byte, lane, place, BASE);
      put_numbers(lane_out(rounds, place, lane), c, 0, lane, place, BASE);
    }
}

static void copy_round(const Rounds *rounds, int to, int from) {
  const TaggedCase *tagged = rounds->tagged;
  if (to == from) return;
  memcpy(lane_in(rounds, to, 0), lane_in(rounds, from, 0),
         sizeof(uint32_t) * TAGGED_LANES * (size_t)tagged->n_in);
  memcpy(lane_out(rounds, to, 0), lane_out(rounds, from, 0),
         sizeof(uint32_t) * TAGGED_LANES * (size_t)tagged->n_out);
}

// Puts the 1, and adds its row of B to the row of C.
static void put_one(const Rounds *rounds, const Mma *mma, int round, FragmentOwner owner,
                    int place) {
  const Part *a = &mma->part[ATOM_A], *c = &mma->part[ATOM_C];
  const FragmentElement one = fragment_map_element(&a->map, owner.lane, owner.value);
  put_value(lane_in(rounds, round, owner.lane), a, a->first_byte, owner.value, 1);
  for (int col = 0; col < c->map.cols; col++) {
    const FragmentOwner to = fragment_map_owner(&c->map, one.row, col);
    const int sum = BASE * digit(one.row * c->map.cols + col + 1, place) +
                    digit(one.col * c->map.cols + col + 1, place);
    put_value(lane_out(rounds, round, to.lane), c, 0, to.value, sum);
  }
}

// Goes from the last round to the first, so that the templates are overwritten last.
static void build_mma(Arena *arena, TaggedCase *tagged) {
  Rounds rounds = {.arena = arena, .tagged = tagged};
  const Mma mma = mma_of(tagged);
  const int n_values = mma.part[ATOM_A].map.n_values;
  tagged->n_rounds = TAGGED_LANES * n_values * mma.n_digits;
  begin_rounds(&rounds, tagged->n_rounds);
  add_templates(&rounds, &mma);
  for (int round = tagged->n_rounds - 1; round >= 0; round--) {
    const int source = round / mma.n_digits, place = round % mma.n_digits;
    copy_round(&rounds, round, place);
    put_one(&rounds, &mma, round, (FragmentOwner){source / n_values, source % n_values}, place);
  }
}

// ---- both ---------------------------------------------------------------------------------------

TaggedCase *tagged_build(Arena *arena, const char *arch, int index) {
  TaggedCase *tagged = ARENA_NEW(arena, TaggedCase);
  Str text = str_new(arena);
  tagged->name = tagged_name(arena, index);
  if (atom_of(index, &tagged->atom)) {
    build_mma(arena, tagged);
  } else {
    tagged->load = ldmatrix_form(index);
    build_ldmatrix(arena, tagged);
  }
  tagged_write_text(&text, tagged);
  tagged->plan = ARENA_NEW(arena, Plan);
  *tagged->plan = (Plan){.cuda = text.text,
                         .arch = arch,
                         .label = tagged->name,
                         .m = 1,
                         .n = 1,
                         .k = 1,
                         .n_kernels = 1,
                         .kernels = {{.name = tagged_kernel_name(arena, tagged),
                                      .grid = {1, 1, 1},
                                      .block = {TAGGED_LANES, 1, 1}}}};
  return tagged;
}

static const char *ldmatrix_difference(Arena *arena, const TaggedCase *tagged, int round, int lane,
                                       int word, uint32_t got, uint32_t expected) {
  return arena_printf(
      arena, "%s: lane %d received tags %u and %u in register %d, not %u and %u (%s)", tagged->name,
      lane, got & 0xFFFF, got >> 16, word, expected & 0xFFFF, expected >> 16, tagged->round[round]);
}

static const char *mma_difference(Arena *arena, const TaggedCase *tagged, int round, int lane,
                                  const uint32_t *got, const uint32_t *expected) {
  TaggedCase shape = *tagged;
  const Mma mma = mma_of(&shape);
  const Part *a = &mma.part[ATOM_A], *c = &mma.part[ATOM_C];
  const int source = round / mma.n_digits;
  const int one_lane = source / a->map.n_values, one_value = source % a->map.n_values;
  const FragmentElement one = fragment_map_element(&a->map, one_lane, one_value);
  int value = 0;
  while (memcmp((const char *)got + value * c->value_bytes,
                (const char *)expected + value * c->value_bytes, (size_t)c->value_bytes) == 0)
    value++;
  const FragmentElement at = fragment_map_element(&c->map, lane, value);
  return arena_printf(
      arena,
      "%s: with a 1 in value %d of lane %d, A[%d][%d], value %d of lane %d, C[%d][%d], is %g, not "
      "%g",
      tagged->name, one_value, one_lane, one.row, one.col, value, lane, at.row, at.col,
      number_read(c->type, (const char *)got + value * c->value_bytes),
      number_read(c->type, (const char *)expected + value * c->value_bytes));
}

const char *tagged_difference(Arena *arena, const TaggedCase *tagged, const uint32_t *out) {
  const int n = tagged->n_rounds * TAGGED_LANES * tagged->n_out;
  int at = 0;
  while (at < n && out[at] == tagged->expected[at]) at++;
  if (at == n) return NULL;
  const int lane = at / tagged->n_out % TAGGED_LANES, round = at / tagged->n_out / TAGGED_LANES;
  const int first = at - at % tagged->n_out;
  if (tagged->load.n_matrices)
    return ldmatrix_difference(arena, tagged, round, lane, at - first, out[at],
                               tagged->expected[at]);
  return mma_difference(arena, tagged, round, lane, out + first, tagged->expected + first);
}

// Tables and matrices of register layouts, one made from the other.
//
// A matrix becomes a table by XORs; a table is a matrix if every place is the XOR of the places of
// its bits, which is looked at place by place: the proof is the table itself.
#include "banks/registers/register_layout.h"

#include <stdio.h>
#include <string.h>

#include "base/whole.h"

static const char *const HOLDER_NAMES[HOLDERS] = {"register", "lane", "warp", "block"};

const char *holder_name(const RegisterLayout *layout, Holder holder) {
  return layout->tensor_memory && holder == HOLDER_REGISTER ? "column" : HOLDER_NAMES[holder];
}

// ---- shapes -------------------------------------------------------------------------------------

int tensor_size(const TensorShape *shape) {
  int size = 1;
  for (int dim = 0; dim < shape->rank; dim++) size *= shape->extent[dim];
  return size;
}

void tensor_coordinate(const TensorShape *shape, int element, int out[TENSOR_DIMS_MAX]) {
  for (int dim = shape->rank - 1; dim >= 0; dim--) {
    out[dim] = element % shape->extent[dim];
    element /= shape->extent[dim];
  }
}

int tensor_element(const TensorShape *shape, const int coordinate[TENSOR_DIMS_MAX]) {
  int element = 0;
  for (int dim = 0; dim < shape->rank; dim++)
    element = element * shape->extent[dim] + coordinate[dim];
  return element;
}

bool tensor_shape_parse(const char *text, TensorShape *out, Diags *diags) {
  int64_t size = 1;
  const char *at = text;
  *out = (TensorShape){0};
  for (bool more = true; more && out->rank < TENSOR_DIMS_MAX;) {
    int used = 0, extent = 0;
    if (*at < '0' || *at > '9' || sscanf(at, "%8d%n", &extent, &used) != 1 || extent < 1) break;
    out->extent[out->rank++] = extent;
    size = min64(size * extent, TENSOR_SIZE_MAX + 1);
    at += used;
    more = *at == 'x' && at[1];
    at += more;
  }
  if (out->rank && !*at && size <= TENSOR_SIZE_MAX) return true;
  diag_add(diags, "usage", "--shape %s: %s", str_sanitise(diags->arena, text),
           out->rank && !*at ? "more than 2^22 elements" : "one to five extents are needed")
      ->nearest = "--shape 64x64";
  return false;
}

const char *tensor_shape_text(Arena *arena, const TensorShape *shape) {
  Str out = str_new(arena);
  for (int dim = 0; dim < shape->rank; dim++)
    str_printf(&out, "%s%d", dim ? "x" : "", shape->extent[dim]);
  return out.text;
}

const char *tensor_element_text(Arena *arena, const TensorShape *shape, int element) {
  int at[TENSOR_DIMS_MAX];
  Str out = str_new(arena);
  tensor_coordinate(shape, element, at);
  for (int dim = 0; dim < shape->rank; dim++) str_printf(&out, "%s%d", dim ? ", " : "(", at[dim]);
  str_add_char(&out, ')');
  return out.text;
}

// ---- places -------------------------------------------------------------------------------------

int register_places(const RegisterLayout *layout) {
  int places = 1;
  for (int holder = 0; holder < HOLDERS; holder++) places *= layout->n[holder];
  return places;
}

RegisterPlace register_place_at(const RegisterLayout *layout, int place) {
  RegisterPlace out;
  for (int holder = 0; holder < HOLDERS; holder++) {
    out.at[holder] = place % layout->n[holder];
    place /= layout->n[holder];
  }
  return out;
}

int register_element(const RegisterLayout *layout, RegisterPlace at) {
  int place = 0, element = 0;
  for (int holder = HOLDERS - 1; holder >= 0; holder--) {
    place = place * layout->n[holder] + at.at[holder];
    if (!layout->element) element ^= layout->flips[holder][at.at[holder]];
  }
  return layout->element ? layout->element[place] : element;
}

static bool holds(const RegisterLayout *layout, int place, int element) {
  return register_element(layout, register_place_at(layout, place)) == element;
}

const RegisterPlace *register_owners(Arena *arena, const RegisterLayout *layout, int element,
                                     int *n) {
  const int places = register_places(layout);
  *n = 0;
  for (int place = 0; place < places; place++) *n += holds(layout, place, element);
  RegisterPlace *out = ARENA_ARRAY(arena, RegisterPlace, *n + 1);
  *n = 0;
  for (int place = 0; place < places; place++)
    if (holds(layout, place, element)) out[(*n)++] = register_place_at(layout, place);
  return out;
}

// ---- a matrix becomes a table -------------------------------------------------------------------

static int32_t *basis_at(RegisterBits *bits, Holder holder) {
  if (bits->n[holder] == HOLDER_BITS_MAX) {
    bits->full = true;
    bits->n[holder]--;
  }
  int32_t *basis = bits->basis[holder][bits->n[holder]++];
  memset(basis, 0, sizeof(int32_t[TENSOR_DIMS_MAX]));
  return basis;
}

void register_bits_count(RegisterBits *bits, Holder holder, int n, int dim) {
  for (int i = 0; i < n; i++) {
    if (bits->size[dim] == HOLDER_BITS_MAX) bits->full = true;
    int32_t *basis = basis_at(bits, holder);
    if (!bits->full) basis[dim] = 1 << bits->size[dim]++;
  }
}

void register_bits_repeat(RegisterBits *bits, Holder holder, int n) {
  for (int i = 0; i < n; i++) basis_at(bits, holder);
}

void register_bits_add(RegisterBits *bits, Holder holder, const int32_t basis[TENSOR_DIMS_MAX]) {
  memcpy(basis_at(bits, holder), basis, sizeof(int32_t[TENSOR_DIMS_MAX]));
  for (int dim = 0; dim < bits->rank; dim++)
    bits->size[dim] = max_int(bits->size[dim], log2_up((int64_t)basis[dim] + 1));
}

void register_bits_clip(RegisterBits *bits, int dim, int size) {
  if (bits->size[dim] <= size) return;
  bits->size[dim] = size;
  for (int holder = 0; holder < HOLDERS; holder++)
    for (int bit = 0; bit < bits->n[holder]; bit++)
      bits->basis[holder][bit][dim] &= (1 << size) - 1;
}

static bool repeats(const RegisterBits *bits, Holder holder, int bit) {
  for (int dim = 0; dim < bits->rank; dim++)
    if (bits->basis[holder][bit][dim]) return false;
  return true;
}

void register_bits_drop(RegisterBits *bits) {
  int kept = 0;
  for (int bit = 0; bit < bits->n[HOLDER_REGISTER]; bit++)
    if (!repeats(bits, HOLDER_REGISTER, bit))
      memmove(bits->basis[HOLDER_REGISTER][kept++], bits->basis[HOLDER_REGISTER][bit],
              sizeof bits->basis[0][0]);
  bits->n[HOLDER_REGISTER] = kept;
}

static void make_flips(Arena *arena, RegisterLayout *layout) {
  for (int holder = 0; holder < HOLDERS; holder++) {
    int32_t *flips = ARENA_ARRAY(arena, int32_t, layout->n[holder]);
    flips[0] = 0;
    for (int bit = 0; bit < layout->n_bits[holder]; bit++)
      for (int i = 0; i < 1 << bit; i++)
        flips[(1 << bit) + i] = flips[i] ^ layout->basis[holder][bit];
    layout->flips[holder] = flips;
  }
}

const RegisterLayout *register_layout_linear(Arena *arena, const char *text, const char *kind,
                                             const TensorShape *shape, const RegisterBits *bits,
                                             Diags *diags) {
  RegisterLayout *out = ARENA_NEW(arena, RegisterLayout);
  *out = (RegisterLayout){.text = text, .kind = kind, .shape = *shape, .linear = true};
  int n = 0;
  for (int holder = 0; holder < HOLDERS; holder++) {
    n += out->n_bits[holder] = bits->n[holder];
    out->n[holder] = 1 << bits->n[holder];
    for (int bit = 0; bit < bits->n[holder]; bit++)
      out->basis[holder][bit] = (int32_t)tensor_element(shape, bits->basis[holder][bit]);
  }
  if (bits->full || n > REGISTER_PLACES_BITS_MAX) {
    diag_add(diags, "layout", "%s over %s: more than 2^26 places of registers",
             str_sanitise(arena, text), tensor_shape_text(arena, shape));
    return NULL;
  }
  make_flips(arena, out);
  return out;
}

// ---- a table becomes a matrix -------------------------------------------------------------------

static bool sizes_are_powers(const RegisterLayout *layout) {
  for (int holder = 0; holder < HOLDERS; holder++)
    if (!is_power_of_two(layout->n[holder])) return false;
  for (int dim = 0; dim < layout->shape.rank; dim++)
    if (!is_power_of_two(layout->shape.extent[dim])) return false;
  return layout->element[0] == 0;
}

static bool find_matrix(Arena *arena, RegisterLayout *layout) {
  if (!sizes_are_powers(layout)) return false;
  int known = 1;
  for (int holder = 0; holder < HOLDERS; holder++) {
    layout->n_bits[holder] = log2_up(layout->n[holder]);
    for (int bit = 0; bit < layout->n_bits[holder]; bit++, known *= 2)
      if ((layout->basis[holder][bit] = layout->element[known]) < 0) return false;
  }
  make_flips(arena, layout);
  RegisterLayout matrix = *layout;
  matrix.element = NULL;
  for (int place = 0; place < register_places(layout); place++)
    if (!holds(&matrix, place, layout->element[place])) return false;
  return true;
}

const RegisterLayout *register_layout_of(Arena *arena, const char *text, const char *kind,
                                         const TensorShape *shape, const int n[HOLDERS],
                                         const int32_t *element) {
  RegisterLayout *out = ARENA_NEW(arena, RegisterLayout);
  *out = (RegisterLayout){.text = text, .kind = kind, .shape = *shape, .element = element};
  memcpy(out->n, n, sizeof out->n);
  out->linear = find_matrix(arena, out);
  return out;
}

void register_layout_print(Str *out, const RegisterLayout *layout) {
  for (int holder = 0; holder < HOLDERS; holder++)
    for (int bit = 0; bit < layout->n_bits[holder]; bit++)
      str_printf(out, "%s=%d -> %s\n", holder_name(layout, (Holder)holder), 1 << bit,
                 tensor_element_text(out->arena, &layout->shape, layout->basis[holder][bit]));
}

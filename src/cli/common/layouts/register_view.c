// The questions are answered from the table of the layout; the picture is its first rows, each
// element as lane:register of the first place that holds it.
#include "cli/common/layouts/register_view.h"

#include <stdio.h>
#include <string.h>

#include "base/whole.h"
#include "cli/common/options.h"

enum { PICTURE_ROWS = 8, PICTURE_COLS = 16, OWNERS_SHOWN = 16 };

// ---- the question -------------------------------------------------------------------------------

static bool ask_place(const RegisterLayout *layout, Holder holder, const char *text,
                      const char *option, RegisterView *out, Diags *diags) {
  if (!text) return true;
  return option_parse_int(text, 0, layout->n[holder] - 1, option, &out->at.at[holder], diags);
}

// "3,5": one number for each dimension of the tensor.
static bool ask_element(const RegisterLayout *layout, const char *text, RegisterView *out,
                        Diags *diags) {
  int at[TENSOR_DIMS_MAX] = {0}, dim = 0, used = 0;
  if (!text) return true;
  const char *rest = text;
  for (; dim < layout->shape.rank; dim++, rest += used) {
    used = 0;
    if (dim && *rest++ != ',') break;
    if (*rest < '0' || *rest > '9' || sscanf(rest, "%8d%n", &at[dim], &used) != 1) break;
    if (at[dim] >= layout->shape.extent[dim]) break;
  }
  if (dim == layout->shape.rank && !*rest) {
    out->element = tensor_element(&layout->shape, at);
    return true;
  }
  diag_add(diags, "usage", "--element %s: no element of %s", str_sanitise(diags->arena, text),
           tensor_shape_text(diags->arena, &layout->shape))
      ->nearest = layout->shape.rank == 1 ? "--element 0" : "--element 0,0";
  return false;
}

bool register_view_ask(Arena *arena, const RegisterLayout *layout, const RegisterQuestion *question,
                       RegisterView *out, Diags *diags) {
  *out = (RegisterView){.arena = arena, .layout = layout, .element = -1};
  out->of_lane = question->lane != NULL;
  if (!out->of_lane && (question->warp || question->block))
    diag_add(diags, "usage", "--warp and --block go with --lane")->nearest = "--lane 0";
  ask_place(layout, HOLDER_LANE, question->lane, "--lane", out, diags);
  ask_place(layout, HOLDER_WARP, question->warp, "--warp", out, diags);
  ask_place(layout, HOLDER_BLOCK, question->block, "--block", out, diags);
  ask_element(layout, question->element, out, diags);
  return diags->count == 0;
}

// ---- members ------------------------------------------------------------------------------------

typedef struct HeldElement {
  const RegisterLayout *layout;
  RegisterPlace at;
  int element;
} HeldElement;

static const HeldElement *held_elements(Arena *arena, const RegisterView *view, int *n) {
  const RegisterLayout *layout = view->layout;
  *n = view->of_lane ? layout->n[HOLDER_REGISTER] : 0;
  HeldElement *out = ARENA_ARRAY(arena, HeldElement, *n + 1);
  for (int i = 0; i < *n; i++) {
    out[i] = (HeldElement){.layout = layout, .at = view->at};
    out[i].at.at[HOLDER_REGISTER] = i;
    out[i].element = register_element(layout, out[i].at);
  }
  return out;
}

static const RegisterPlace *owners_of(Arena *arena, const RegisterView *view, int *n) {
  *n = 0;
  return view->element < 0 ? NULL : register_owners(arena, view->layout, view->element, n);
}

static const int *coordinate_of(Arena *arena, const RegisterLayout *layout, int element) {
  int *out = ARENA_ARRAY(arena, int, TENSOR_DIMS_MAX);
  tensor_coordinate(&layout->shape, max_int(0, element), out);
  return out;
}

// Coordinates of each basis, one after the other.
static const int *bases_of(Arena *arena, const RegisterLayout *layout, Holder holder) {
  const int rank = layout->shape.rank;
  int *out = ARENA_ARRAY(arena, int, (layout->n_bits[holder] + 1) * rank);
  for (int bit = 0; bit < layout->n_bits[holder]; bit++)
    memcpy(&out[bit * rank], coordinate_of(arena, layout, layout->basis[holder][bit]),
           sizeof *out * (size_t)rank);
  return out;
}

#define FORM_FILE "cli/common/layouts/register_view.form"
#include "base/form_make.h"

// ---- text ---------------------------------------------------------------------------------------

static void print_head(const RegisterView *view) {
  const RegisterLayout *layout = view->layout;
  printf("%s\n%s over %s: %d %ss of %d lanes", str_line(view->arena, layout->text), layout->kind,
         tensor_shape_text(view->arena, &layout->shape), layout->n[HOLDER_REGISTER],
         holder_name(layout, HOLDER_REGISTER), layout->n[HOLDER_LANE]);
  for (int holder = HOLDER_WARP; holder < HOLDERS; holder++)
    if (layout->n[holder] > 1)
      printf(", %d %ss", layout->n[holder], holder_name(layout, (Holder)holder));
  const double places = register_places(layout), n = tensor_size(&layout->shape);
  printf("; %.6g place%s for each element\n", places / n, places == n ? "" : "s");
}

static void print_matrix(const RegisterView *view) {
  Str out = str_new(view->arena);
  if (view->layout->linear)
    register_layout_print(&out, view->layout);
  else
    str_add(&out,
            "no matrix over GF(2): its sizes are not powers of two, or it is not linear "
            "over bits\n");
  printf("\n%s", out.text);
}

static void print_lane(const RegisterView *view) {
  int n;
  const RegisterLayout *layout = view->layout;
  const HeldElement *held = held_elements(view->arena, view, &n);
  printf("\nlane %d", view->at.at[HOLDER_LANE]);
  for (int holder = HOLDER_WARP; holder < HOLDERS; holder++)
    if (layout->n[holder] > 1)
      printf(" of %s %d", holder_name(layout, (Holder)holder), view->at.at[holder]);
  puts(" holds");
  for (int i = 0; i < n; i++)
    printf("  %s %3d  %s\n", holder_name(layout, HOLDER_REGISTER), i,
           held[i].element < 0 ? "nothing"
                               : tensor_element_text(view->arena, &layout->shape, held[i].element));
}

static void print_owners(const RegisterView *view) {
  int n;
  const RegisterLayout *layout = view->layout;
  const RegisterPlace *owner = owners_of(view->arena, view, &n);
  printf("\n%s lies in %d place%s\n",
         tensor_element_text(view->arena, &layout->shape, view->element), n, plural_s(n));
  for (int i = 0; i < n; i++) {
    printf("  %s %d of lane %d", holder_name(layout, HOLDER_REGISTER), owner[i].at[HOLDER_REGISTER],
           owner[i].at[HOLDER_LANE]);
    for (int holder = HOLDER_WARP; holder < HOLDERS; holder++)
      if (layout->n[holder] > 1)
        printf(" of %s %d", holder_name(layout, (Holder)holder), owner[i].at[holder]);
    putchar('\n');
  }
}

// The first place of each element; -1: none holds it.
static const int *first_places(Arena *arena, const RegisterLayout *layout) {
  const int n = tensor_size(&layout->shape);
  int *first = ARENA_ARRAY(arena, int, n);
  memset(first, -1, sizeof *first * (size_t)n);
  for (int place = register_places(layout) - 1; place >= 0; place--) {
    const int element = register_element(layout, register_place_at(layout, place));
    if (element >= 0) first[element] = place;
  }
  return first;
}

static void print_picture(const RegisterView *view) {
  const RegisterLayout *layout = view->layout;
  const TensorShape *shape = &layout->shape;
  const int *first = first_places(view->arena, layout);
  const int cols = shape->extent[shape->rank - 1];
  const int rows = shape->rank > 1 ? shape->extent[shape->rank - 2] : 1;
  printf("\nwarp/lane:%s of the first %d rows and %d columns of %s\n",
         holder_name(layout, HOLDER_REGISTER), min_int(rows, PICTURE_ROWS),
         min_int(cols, PICTURE_COLS), tensor_shape_text(view->arena, shape));
  for (int row = 0; row < rows && row < PICTURE_ROWS; row++) {
    for (int col = 0; col < cols && col < PICTURE_COLS; col++) {
      const int place = first[row * cols + col];
      const RegisterPlace at = register_place_at(layout, max_int(0, place));
      const char *cell = place < 0 ? "-"
                                   : arena_printf(view->arena, "%d/%d:%d", at.at[HOLDER_WARP],
                                                  at.at[HOLDER_LANE], at.at[HOLDER_REGISTER]);
      printf(" %7s", cell);
    }
    putchar('\n');
  }
}

void register_view_print(const RegisterView *view) {
  print_head(view);
  if (view->of_lane) print_lane(view);
  if (view->element >= 0) print_owners(view);
  if (view->of_lane || view->element >= 0) return;
  print_matrix(view);
  print_picture(view);
}

// ---- two layouts --------------------------------------------------------------------------------

bool register_pair_count(Arena *arena, RegisterPair *pair, Diags *diags) {
  if (pair->to)
    return register_move_count(arena, pair->from, pair->to, pair->elem_bytes, &pair->move, diags);
  return register_access_count(arena, pair->from, pair->memory, false, &pair->load, diags) &&
         register_access_count(arena, pair->from, pair->memory, true, &pair->store, diags);
}

static void print_accesses(const char *what, const RegisterAccesses *accesses) {
  for (int i = 0; i < accesses->n; i++) {
    const RegisterAccess *access = &accesses->access[i];
    printf("  %-6s %-20s %6lld instructions of warps, %6lld wavefronts, ideal %lld\n",
           i ? "or" : what, access->op->sass, (long long)access->instructions,
           (long long)access->wavefronts, (long long)access->ideal);
  }
}

static void print_move(const RegisterMove *move) {
  printf("%s\n", register_move_text(move->kind));
  printf(
      "  of %lld places %lld keep their register, %lld change it, %lld come from another lane, "
      "%lld from another warp, %lld from another block\n",
      (long long)move->places, (long long)move->same, (long long)move->thread,
      (long long)move->lanes, (long long)move->warps, (long long)move->blocks);
  if (move->shuffles) printf("  %lld shuffles of warps at least\n", (long long)move->shuffles);
  if (!move->store.n) return;
  puts("through shared memory row by row:");
  print_accesses("store", &move->store);
  print_accesses("load", &move->load);
}

void register_pair_print(Arena *arena, const RegisterPair *pair) {
  printf("%s\n%s\nelements of %d byte%s over %s\n\n", str_line(arena, pair->from->text),
         str_line(arena, pair->to ? pair->to->text : pair->memory->text), pair->elem_bytes,
         plural_s(pair->elem_bytes), tensor_shape_text(arena, &pair->from->shape));
  if (pair->to) {
    print_move(&pair->move);
    return;
  }
  print_accesses("load", &pair->load);
  print_accesses("store", &pair->store);
}

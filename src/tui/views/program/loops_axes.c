// The last digit of an atom's axis has no loop: the lane and the value of the register are it.
// Along k the two operands read it each in its own way; A's is shown. Elements of 4 bits are
// counted along k by twos: 16 × 4 × 32 bytes × 2 for 4096.
#include "tui/views/program/loops.h"

#include "base/str.h"
#include "model/ir/program.h"
#include "model/readings/place/fragment_text.h"
#include "tui/canvas/utf8.h"
#include "tui/views/program/tier_style.h"

static void rebuild_atom(Arena *arena, AxesPicture *picture, int i) {
  static const AtomOperand shown[] = {ATOM_C, ATOM_C, ATOM_A};
  static const char *const of[] = {"C", "C", "A"};
  const Program *program = picture->program;
  if (!program_atom(program)) return;
  const char *name = program->axis[i].name;
  picture->atom[i] = arena_printf(arena, "%s_a", name);
  if (i == AXIS_K && !program_buffer(program, ROLE_FRAG_A)) {  // in no lane's registers
    const bool pairs = dtype_elements(program->problem.dtype) > 1;
    picture->atom_is[i] = arena_printf(arena, "%s_a counts %s", name,
                                       pairs ? "bytes of two elements" : "the elements of a tile");
    return;
  }
  const FragmentMap map = fragment_map(program_atom(program), shown[i]);
  const FragmentFormulas formulas = fragment_formulas(arena, &map);
  picture->atom_is[i] = arena_printf(arena, "%s_a = %s in %s", name,
                                     i == AXIS_M ? formulas.row : formulas.col, of[i]);
}

static int atom_extent(const Atom *atom, int axis) {
  const int extents[] = {atom->m, atom->n, atom->k};
  return extents[axis];
}

static void rebuild_axis(Arena *arena, AxesPicture *picture, int i) {
  const Axis *axis = &picture->program->axis[i];
  Str sum = str_new(arena), factors = str_new(arena);
  str_printf(&sum, "%s = ", axis->name);
  for (int d = 0; d < axis->n_digits; d++) {
    const Digit *digit = &axis->digit[d];
    str_printf(&sum, "%s%s", d ? " + " : "", digit->var->name);
    if (digit->weight != 1) str_printf(&sum, "·%lld", (long long)digit->weight);
    str_printf(&factors, "%s%lld", d ? " × " : "", (long long)digit->var->extent);
  }
  rebuild_atom(arena, picture, i);
  if (picture->atom[i]) {
    str_printf(&sum, " + %s", picture->atom[i]);
    str_printf(&factors, " × %d", atom_extent(program_atom(picture->program), i));
  }
  const int each = i == AXIS_K ? dtype_elements(picture->program->problem.dtype) : 1;
  if (each > 1) str_printf(&factors, " bytes × %d", each);
  str_printf(&factors, " for %lld", (long long)axis->extent * each);
  picture->sum[i] = sum.text;
  picture->factors[i] = factors.text;
}

AxesPicture axes_picture(Arena *arena, const Program *program) {
  AxesPicture picture = {.program = program};
  for (int i = 0; i < AXIS_COUNT; i++) rebuild_axis(arena, &picture, i);
  return picture;
}

// ---- drawing ------------------------------------------------------------------------------------

static int widest(const char *const text[AXIS_COUNT]) {
  int cols = 0;
  for (int i = 0; i < AXIS_COUNT; i++)
    if (text[i] && utf8_columns(text[i]) > cols) cols = utf8_columns(text[i]);
  return cols;
}

static void draw_sum(Canvas *canvas, Rect in, const AxesPicture *picture, int i) {
  const Axis *axis = &picture->program->axis[i];
  int col = canvas_printf(canvas, in, i, 1, STYLE_TITLE, "%s = ", axis->name);
  for (int d = 0; d < axis->n_digits; d++) {
    const Digit *digit = &axis->digit[d];
    if (d) col = canvas_text(canvas, in, i, col, STYLE_DIM, " + ");
    col = canvas_text(canvas, in, i, col, tier_style(digit->var->tier), digit->var->name);
    if (digit->weight != 1)
      col = canvas_printf(canvas, in, i, col, STYLE_TEXT, "·%lld", (long long)digit->weight);
  }
  if (!picture->atom[i]) return;
  col = canvas_text(canvas, in, i, col, STYLE_DIM, " + ");
  canvas_text(canvas, in, i, col, STYLE_TIER_ATOM, picture->atom[i]);
}

void axes_picture_draw(Canvas *canvas, Rect in, const AxesPicture *picture) {
  const int sums = 1 + widest(picture->sum), factors = widest(picture->factors);
  const int at = sums + (sums + 4 + factors <= in.cols ? 4 : 2), is_at = at + factors + 4;
  const bool room = is_at + widest(picture->atom_is) <= in.cols;
  for (int i = 0; i < AXIS_COUNT; i++) {
    draw_sum(canvas, in, picture, i);
    canvas_text(canvas, in, i, at, STYLE_DIM, picture->factors[i]);
    if (picture->atom_is[i] && room)
      canvas_text(canvas, in, i, is_at, STYLE_DIM, picture->atom_is[i]);
  }
}

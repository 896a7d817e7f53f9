// The fragments view in words: what an atom is, which element the cursor is on, and the formulas of
// row, column, lane and value.
//
//   A[3][5] is value 1 of lane 14: r0, high half
//   row = lane / 4 + v / 2 % 2 * 8     col = …
#include "tui/canvas/utf8.h"
#include "tui/views/places/fragments.h"

void fragments_draw_facts(Canvas *canvas, Rect in, const Fragments *f) {
  const Atom *atom = f->atom;
  int row = 0;
  canvas_printf(canvas, in, row++, 0, STYLE_DIM, "%d × %d bits a lane", f->packing.n_registers,
                f->packing.register_bits);
  canvas_printf(canvas, in, row++, 0, STYLE_DIM, "A, B %s, C %s", atom->type, atom->acc);
  static const char *const byte_ids[] = {[1] = "0 to 3", [2] = "0 or 2", [4] = "0"};
  if (atom_operand_is_scale(f->operand))
    canvas_printf(canvas, in, row++, 0, STYLE_DIM, "%s %s",
                  atom_is_of_thread(atom) ? "ID" : "thread-id 0, byte-id",
                  byte_ids[atom_scales(atom)]);
  canvas_printf(canvas, in, row++, 0, STYLE_DIM, "%lld FLOP", (long long)atom_flop(atom));
  if (atom->products > 1)
    canvas_printf(canvas, in, row++, 0, STYLE_DIM, "%d products a warp", atom->products);
  if (atom_is_of_thread(atom))
    canvas_printf(canvas, in, row++, 0, STYLE_DIM, "data path layout %c", atom_data_path(atom));
  const int first = atom->cc_first, last = atom->cc_last;
  const char *until = !last           ? " and later"
                      : last == first ? " only"
                                      : arena_printf(f->arena, " to %d.%d", last / 10, last % 10);
  canvas_printf(canvas, in, row++, 0, STYLE_DIM, "cc %d.%d%s", first / 10, first % 10, until);
  static const char *const where[] = {"A in registers only", "if A_REGS=1, else", "see view D"};
  for (int i = 0; i < 3 && atom_is_of_warpgroup(atom) && f->operand == ATOM_A && !atom->sparse; i++)
    canvas_text(canvas, in, row++, 0, STYLE_DIM, where[i]);
}

// Where a factor lies in tensor memory.
static void draw_factor(Canvas *canvas, Rect row, const Fragments *f) {
  const int scales = f->packing.per_register, lane = f->owner.lane;
  int col = canvas_printf(canvas, row, 0, 1, STYLE_TITLE, "%s[%d][%d]",
                          atom_operand_name(f->operand), f->row, f->col);
  col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, ": lane %d, and %d, %d, %d; ", lane,
                      lane + 32, lane + 64, lane + 96);
  col = canvas_printf(canvas, row, 0, col, style_address(f->reg), "column %d", f->reg);
  canvas_printf(canvas, row, 0, col, STYLE_TEXT, scales > 3 ? ", byte %d" : ", byte ID + %d",
                f->part);
}

void fragments_draw_element(Canvas *canvas, Rect row, const Fragments *f) {
  if (atom_operand_is_scale(f->operand) && atom_is_of_thread(f->atom)) {
    draw_factor(canvas, row, f);
    return;
  }
  int col = canvas_printf(canvas, row, 0, 1, STYLE_TITLE, "%s[%d][%d]",
                          atom_operand_name(f->operand), f->row, f->col);
  col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, " is value %d of lane %d", f->owner.value,
                      f->owner.lane);
  const int warps = atom_warps(f->atom) / f->atom->ctas, warp = f->owner.lane / LANES;
  if (f->atom->ctas > 1)
    col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, " = CTA %d", warp / warps);
  if (warps > 1)
    col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, "%s warp %d lane %d",
                        f->atom->ctas > 1 ? "" : " =", warp % warps, f->owner.lane % LANES);
  if (f->map.product_lanes)
    col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, " = product %d",
                        f->product / (f->map.product_lanes & -f->map.product_lanes));
  col = canvas_text(canvas, row, 0, col, STYLE_TEXT, ": ");
  col = canvas_printf(canvas, row, 0, col, style_address(f->reg), "r%d", f->reg);
  if (f->packing.per_register == 2)
    canvas_printf(canvas, row, 0, col, STYLE_TEXT, ", %s half", f->part ? "high" : "low");
  else if (f->packing.per_register > 2)
    canvas_printf(canvas, row, 0, col, STYLE_TEXT, ", %s %d; 0 is the lowest",
                  f->packing.per_register == 4 ? "byte" : "part", f->part);
}

// Where the second of two formulas in a line begins, and whether both fit.
static int second_column(const Fragments *f) {
  int row = utf8_columns(f->formulas.row), lane = utf8_columns(f->formulas.lane);
  return (row > lane ? row : lane) + 10;
}

static bool two_in_a_line(const Fragments *f, int cols) {
  int col = utf8_columns(f->formulas.col), value = utf8_columns(f->formulas.value);
  return second_column(f) + 6 + (col > value ? col : value) <= cols;
}

void fragments_draw_formulas(Canvas *canvas, Rect in, const Fragments *f) {
  const char *const names[] = {"row", "col", "lane", "v"};
  const char *const texts[] = {f->formulas.row, f->formulas.col, f->formulas.lane,
                               f->formulas.value};
  bool pairs = two_in_a_line(f, in.cols);
  for (int i = 0; i < 4; i++) {
    int row = pairs ? i / 2 : i, col = pairs && i % 2 ? second_column(f) : 1;
    col = canvas_text(canvas, in, row, col, STYLE_ACCENT, names[i]);
    col = canvas_text(canvas, in, row, col, STYLE_TEXT, " = ");
    int room = in.cols - col, need = utf8_columns(texts[i]);
    canvas_fit(canvas, in, row, col, need < room ? need : room, ALIGN_LEFT, STYLE_TEXT, texts[i]);
  }
}

int fragments_formula_rows(const Fragments *f, int cols) { return two_in_a_line(f, cols) ? 2 : 4; }

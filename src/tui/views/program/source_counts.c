// The instructions of a text: a ribbon of them in order, and how often each occurs.
//
//   A LLFFFFFFFFFFFFFFFFFFFFFF…B     the ribbon, A above B at one scale
//   B L·FFFFFFFFFFFFFFFFFFFFFF…B
//
//   OPCODES       A       B          beside the text
//     +96 FFMA   32     128
#include "base/whole.h"
#include "tui/views/program/source.h"

// ---- the ribbon ---------------------------------------------------------------------------------

// The letter that occurs most often among instructions first … end. A barrier always shows, and
// what has no letter, the addresses around everything else, only where it is alone.
static char letter_of(const Ribbon *ribbon, int first, int end) {
  int counts[128] = {0};
  char most = '.';
  for (int i = first; i < end; i++) {
    char letter = ribbon->letter[i];
    if (letter == 'B') return letter;
    if (letter != '.' && ++counts[(int)letter] > counts[(int)most]) most = letter;
  }
  return most;
}

static void draw_ribbon(Canvas *canvas, Rect row, const char *label, Style label_style,
                        const Ribbon *ribbon, int longest) {
  int cols = row.cols - 4;
  if (ribbon->n == 0 || cols < 8) return;
  int each = (int)ceil_div(longest, cols);
  canvas_text(canvas, row, 0, 1, label_style, label);
  for (int i = 0; i * each < ribbon->n; i++) {
    int end = (i + 1) * each < ribbon->n ? (i + 1) * each : ribbon->n;
    char text[2] = {letter_of(ribbon, i * each, end), 0};
    canvas_text(canvas, row, 0, 3 + i, source_class_style(text[0]), text);
  }
}

// "reads before the first product 11, 3   others up to the next 10, 36"
static int draw_bursts(Canvas *canvas, Rect row, const char *label, Style style,
                       const Ribbon *ribbon) {
  if (ribbon->n_bursts == 0) return 0;
  canvas_text(canvas, row, 0, 1, style, label);
  int col = canvas_text(canvas, row, 0, 3, STYLE_DIM, "behind a barrier, reads before a product");
  for (int i = 0; i < ribbon->n_bursts; i++)
    col = canvas_printf(canvas, row, 0, col, STYLE_SITE, "%s%d", i ? ", " : " ",
                        ribbon->burst[i].reads);
  col = canvas_text(canvas, row, 0, col, STYLE_DIM, "; then others");
  for (int i = 0; i < ribbon->n_bursts; i++)
    col = ribbon->burst[i].others < 0
              ? canvas_printf(canvas, row, 0, col, STYLE_TEXT, "%sno more", i ? ", " : " ")
              : canvas_printf(canvas, row, 0, col, STYLE_TEXT, "%s%d", i ? ", " : " ",
                              ribbon->burst[i].others);
  return 1;
}

// B alone, or A above B at the same scale.
int source_draw_ribbons(Canvas *canvas, Rect in, const Source *source) {
  const Ribbon *a = &source->ribbon_a, *b = &source->ribbon;
  int longest = a->n > b->n ? a->n : b->n;
  if (b->n == 0 || in.rows < 8) return 0;
  Rect row = {in.row, in.col, 1, in.cols};
  if (a->n) {
    draw_ribbon(canvas, row, "A", STYLE_SIDE_A, a, longest);
    row.row++;
  }
  draw_ribbon(canvas, row, "B", STYLE_SIDE_B, b, longest);
  row.row++;
  canvas_fit(canvas, row, 0, 3, row.cols - 3, ALIGN_LEFT, STYLE_DIM,
             "F fma  M mma  L S shared  G W global  A async  B barrier  J jump  . other");
  row.row++;
  if (in.rows < 16) return row.row - in.row;
  row.row += draw_bursts(canvas, row, "A", STYLE_SIDE_A, a);
  row.row += draw_bursts(canvas, row, "B", STYLE_SIDE_B, b);
  return row.row - in.row;
}

int source_draw_register_banks(Canvas *canvas, Rect in, const Source *source) {
  if (!source->register_banks || !*source->register_banks || in.rows < 8) return 0;
  canvas_fit(canvas, in, 0, 3, in.cols - 3, ALIGN_LEFT, STYLE_TEXT, source->register_banks);
  return 1;
}

// How often each instruction stands in the text, in A and in B: of a loop that one compilation
// unrolled and another did not the lines differ and the work is the same.
void source_draw_opcodes(Canvas *canvas, Rect in, const Source *source) {
  bool both = source->compiled_a && source->ribbon_a.n;
  int end = canvas_text(canvas, in, 0, 1, STYLE_HEADER,
                        both ? "OPCODES       A       B" : "OPCODES  count");
  canvas_fit(canvas, in, 0, end + 2, in.cols - end - 2, ALIGN_LEFT, STYLE_DIM, "in the text");
  for (int i = 0; i < source->n_opcodes && i + 1 < in.rows; i++) {
    const OpcodeRow *row = &source->opcode[i];
    Rect line = {in.row + 1 + i, in.col, 1, in.cols};
    bool differs = both && row->a != row->b;
    if (both) canvas_printf(canvas, line, 0, 9, STYLE_SIDE_A, "%6d", row->a);
    canvas_printf(canvas, line, 0, both ? 17 : 9, both ? STYLE_SIDE_B : STYLE_NUMBER, "%6d",
                  row->b);
    if (differs) canvas_printf(canvas, line, 0, 1, STYLE_CHANGED, "%+6d", row->b - row->a);
    int col = both ? 25 : 17;
    canvas_fit(canvas, line, 0, col, in.cols - col, ALIGN_LEFT,
               source_class_style(source_class_of(row->opcode)), row->shown);
  }
}

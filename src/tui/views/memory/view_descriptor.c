// descriptor: how wgmma or tcgen05 finds a tile in shared memory, and what it would find by other
// 64 bits.
//
// Above the word by bits, on the left its fields with what they step over, on the right shared
// memory by core matrices, or the tile row by row (v; both where there is room). o goes from A to
// B, < and > through the tiles that one block reads of its first slab.
//
// Left and Right turn the chosen field, e types one, or a whole word; the elements that are then
// read from elsewhere are marked, and the sentence is the one that the interpreter reports. Tab
// goes to the picture, where the cursor stands on an element.
//
// ViewState: pane is the list or the picture.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "tui/canvas/utf8.h"
#include "tui/views/memory/descriptor.h"

enum { PANE_FIELDS, PANE_PICTURE, PANES };
enum { PICTURE_MEMORY, PICTURE_TILE, PICTURE_INSTRUCTION };
enum { CHUNK_BYTES = 16, WORD_BITS = 64, BITS_COLS = 74, LEFT_COLS = 40, LEFT_WIDE_COLS = 48 };
enum {
  WORDS_ROWS = 5,
  ALL_WORDS_ROWS = 16,
  BITS_ROWS = 3,
  BITS_FROM_ROWS = 16,
  WIDE_COLS = 112,
  WORD_COLS = 20,  // "  0x…" and 16 digits
  SWIZZLES = 4,
  BASES = 8
};

typedef struct DescriptorChosen {
  int picture;
  int row, k;  // of the tile: the cursor
} DescriptorChosen;

static DescriptorChosen *chosen_of(const Session *session) {
  return view_chosen(session, &descriptor_view);
}
static DescriptorWork *work_of(const Session *session) {
  return view_own(session, &descriptor_view);
}

// ---- preparing ----------------------------------------------------------------------------------

static const char *major_name(const Descriptor *frame, bool trans) {
  return !trans ? "K" : frame->reads.shape.operand == ATOM_A ? "M" : "N";
}

static const char *row_text(Arena *arena, const Descriptor *frame, int row) {
  const char *across = frame->reads.shape.operand == ATOM_A ? "M" : "N";
  DescriptorTile tile = tile_read_shape(&frame->reads);
  tile.mn_major = frame->trans;
  if (row < DESCRIPTOR_MAJOR)
    return descriptor_part_text(arena, &frame->said, &tile, (DescriptorPart)row, across);
  return arena_printf(arena, "not a field: %s says that the tile is %s-major",
                      frame->has_instruction ? "one of the instruction descriptor (v)"
                                             : "an operand of the instruction",
                      major_name(frame, frame->trans));
}

static const char *word_of_a(const Session *session, const DescriptorWork *work) {
  if (!session->doc.comparing) return NULL;
  Arena *arena = session->frame;
  TileReads reads = tile_reads(arena, session->doc.then.picture->model, work->operand);
  if (reads.why) return "no descriptor";
  SmemDescriptor word = tile_read_descriptor(&reads, (int)clamp_index(work->at, reads.n));
  return arena_printf(arena, "0x%016" PRIx64, smem_descriptor_encode(&word));
}

static void descriptor_prepare(Session *session) {
  Descriptor *frame = ARENA_NEW(session->frame, Descriptor);
  DescriptorWork *work = work_of(session);
  const Model *model = session_model(session);
  descriptor_look(frame, session->frame, work, model, chosen_of(session)->row,
                  chosen_of(session)->k);
  if (work->typed && !frame->typed) work->typed = false, work->error[0] = '\0';
  frame->word_of_a = word_of_a(session, work);
  for (int i = 0; i < DESCRIPTOR_ROWS && !frame->reads.why; i++)
    frame->row_text[i] = row_text(session->frame, frame, i);
  session->prepared = frame;
}

// ---- the word by bits ---------------------------------------------------------------------------

// The field that a bit belongs to; DESCRIPTOR_PARTS: none.
static int part_of_bit(const Descriptor *frame, int bit) {
  int part = 0;
  for (; part < DESCRIPTOR_PARTS; part++) {
    DescriptorBits bits = descriptor_part_bits((DescriptorPart)part, frame->said.arch);
    if (bit >= bits.first && bit < bits.first + bits.bits) break;
  }
  return part;
}

// "00 0000000000 000 …": a blank between fields; below each its name.
static void draw_bits(Canvas *canvas, Rect in, const Descriptor *frame) {
  uint64_t word = smem_descriptor_encode(&frame->said);
  for (int bit = WORD_BITS - 1, col = 1; bit >= 0; bit--) {
    int part = part_of_bit(frame, bit);
    bool begins = bit == WORD_BITS - 1 || part_of_bit(frame, bit + 1) != part;
    if (begins && bit != WORD_BITS - 1) col++;
    Style style = part == DESCRIPTOR_PARTS ? STYLE_DIM
                  : part == frame->field   ? STYLE_ACCENT
                                           : STYLE_TEXT;
    if (begins) canvas_printf(canvas, in, 0, col, STYLE_DIM, "%d", bit);
    if (begins && part < DESCRIPTOR_PARTS)
      canvas_text(canvas, in, 2, col, part == frame->field ? STYLE_TITLE : STYLE_DIM,
                  descriptor_part_name((DescriptorPart)part));
    col = canvas_text(canvas, in, 1, col, style, word >> bit & 1 ? "1" : "0");
  }
}

// ---- the fields ---------------------------------------------------------------------------------

static int64_t part_value(const SmemDescriptor *d, int part) {
  const int64_t value[] = {[DESCRIPTOR_START] = d->start,
                           [DESCRIPTOR_LBO] = d->lbo,
                           [DESCRIPTOR_SBO] = d->sbo,
                           [DESCRIPTOR_BASE] = d->base_offset,
                           [DESCRIPTOR_SWIZZLE] = d->swizzle_code};
  return value[part];
}

static bool in_bytes(int part) { return part <= DESCRIPTOR_SBO; }

static const char *row_name(int row) {
  return row == DESCRIPTOR_MAJOR ? "major" : descriptor_part_name((DescriptorPart)row);
}

static bool row_differs(const Descriptor *frame, int row) {
  if (row == DESCRIPTOR_MAJOR) return frame->trans != frame->reads.meant.trans;
  return part_value(&frame->said, row) != part_value(&frame->meant, row);
}

static void draw_value(Canvas *canvas, Rect row, int col, const Descriptor *frame, int at) {
  Style style = row_differs(frame, at) ? STYLE_CHANGED : STYLE_NUMBER;
  const SmemDescriptor *d = &frame->said;
  if (at == DESCRIPTOR_MAJOR) {
    canvas_printf(canvas, row, 0, col, style, "%7s", major_name(frame, frame->trans));
    return;
  }
  int64_t value = part_value(d, at);
  DescriptorBits bits = descriptor_part_bits((DescriptorPart)at, d->arch);
  if (at == DESCRIPTOR_SWIZZLE)
    canvas_printf(canvas, row, 0, col, style, "%7s", d->swizzle->name);
  else
    canvas_printf(canvas, row, 0, col, style, "%7" PRId64, value);
  if (in_bytes(at)) canvas_text(canvas, row, 0, col + 8, STYLE_UNIT, "B");
  canvas_printf(canvas, row, 0, col + 10, STYLE_DIM, "= %-5" PRId64 "bits %2d-%d",
                in_bytes(at) ? value / CHUNK_BYTES : value, bits.first, bits.first + bits.bits - 1);
}

static void draw_fields(Canvas *canvas, Rect in, const Session *session, const Descriptor *frame) {
  bool keys = session_view_state_const(session)->pane % PANES == PANE_FIELDS;
  for (int i = 0; i < DESCRIPTOR_ROWS && i < in.rows; i++) {
    Rect row = {in.row + i, in.col, 1, in.cols};
    canvas_text(canvas, row, 0, 1, STYLE_TEXT, row_name(i));
    draw_value(canvas, row, 9, frame, i);
    canvas_spot(canvas, row, DESCRIPTOR_SPOT_FIELD, i);
    if (i == frame->field) canvas_over(canvas, row, keys ? STYLE_CURSOR : STYLE_SELECTED);
  }
}

// ---- in words -----------------------------------------------------------------------------------

// The sentences below the fields, in the order of their weight.
typedef struct Says {
  Canvas *canvas;
  Rect in;
} Says;

static void say(Says *says, Style style, const char *text) {
  if (!text || !*text) return;
  int rows = canvas_wrap(says->canvas, says->in, style, text);
  rect_take_top(&says->in, rows);
}

static const char *cursor_text(const Descriptor *frame, char out[200]) {
  char holder[48];
  const char *across = descriptor_across(frame);
  int n =
      snprintf(out, 200, "%s %d, k %d: byte %" PRId64 ", bank %d; core matrix %d, its line %d%s",
               across, frame->row, frame->k, frame->address, (int)(frame->address / 4 % 32),
               frame->here.core, frame->here.line, frame->here.wrong ? "; there lies " : "");
  if (frame->here.wrong)
    snprintf(out + n, (size_t)(200 - n), "%s",
             descriptor_holder_text(frame, &frame->holder, holder));
  return out;
}

static void say_difference(Says *says, const Descriptor *frame) {
  char text[240];
  const TileShape *shape = &frame->reads.shape;
  if (*frame->error) say(says, STYLE_BAD, frame->error);
  if (!frame->difference) return;
  snprintf(text, sizeof text, "%s %s: %d of %d elements come from wrong addresses",
           frame->reads.by_thread ? "tcgen05.mma" : "wgmma", frame->difference, frame->n_wrong,
           shape->rows * shape->depth);
  say(says, STYLE_BAD, text);
  rect_take_top(&says->in, says->in.rows > WORDS_ROWS);
}

// The values that the chosen field steps over; where there is room all of them.
static void say_fields(Says *says, const Descriptor *frame) {
  char text[200];
  if (says->in.rows < ALL_WORDS_ROWS) {
    say(says, STYLE_NOTE, frame->row_text[frame->field]);
    return;
  }
  for (int i = 0; i < DESCRIPTOR_ROWS; i++) {
    snprintf(text, sizeof text, "%s: %s", row_name(i), frame->row_text[i]);
    say(says, i == frame->field ? STYLE_NOTE : STYLE_DIM, text);
  }
}

static void draw_words(Canvas *canvas, Rect in, const Descriptor *frame) {
  Says says = {canvas, in};
  char text[240];
  say_difference(&says, frame);
  say_fields(&says, frame);
  rect_take_top(&says.in, says.in.rows > WORDS_ROWS);
  say(&says, STYLE_TEXT, cursor_text(frame, text));
  if (!frame->illegal) return;
  rect_take_top(&says.in, says.in.rows > WORDS_ROWS);
  snprintf(text, sizeof text, "illegal: %s", frame->illegal);
  say(&says, STYLE_WARN, text);
}

// ---- the view -----------------------------------------------------------------------------------

// The word, and A's: behind the title, or in a row of their own where digits would be lost there.
static void draw_title(Canvas *canvas, Rect *in, const Descriptor *frame) {
  Rect row = rect_take_top(in, 1);
  const TileReads *reads = &frame->reads;
  const TileShape *shape = &reads->shape;
  const TileRead *read = &reads->read[frame->at];
  const char *across = descriptor_across(frame);
  int col = canvas_printf(canvas, row, 0, 1, STYLE_TITLE, "%s", reads->slab->name);
  col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, "  tile %d of %d: %s %d-%d, k %d-%d",
                      frame->at + 1, reads->n, across, (int)read->row,
                      (int)read->row + shape->rows - 1, (int)read->k,
                      (int)read->k + shape->depth - 1);
  const int each = dtype_elements(reads->slab->type);
  if (each > 1) col = canvas_printf(canvas, row, 0, col, STYLE_DIM, ", bytes of %d elements", each);
  if (shape->operand == ATOM_A)
    col = canvas_printf(canvas, row, 0, col, STYLE_DIM, "  warp%s %d",
                        reads->by_thread ? "" : "group", read->asker);
  if (col + (frame->word_of_a ? 2 * WORD_COLS + 2 : WORD_COLS) > row.cols)
    row = rect_take_top(in, 1), col = -1;
  col = canvas_printf(canvas, row, 0, col + 2, frame->typed ? STYLE_CHANGED : STYLE_ACCENT,
                      "0x%016" PRIx64, smem_descriptor_encode(&frame->said));
  if (frame->word_of_a)
    canvas_printf(canvas, row, 0, col + 2, STYLE_SIDE_A, "A %s", frame->word_of_a);
}

// The pictures there are: of wgmma no descriptor says types and shape.
static int pictures_of(const Descriptor *frame) {
  return frame->has_instruction ? PICTURE_INSTRUCTION + 1 : PICTURE_TILE + 1;
}

static void draw_caption(Canvas *canvas, Rect row, const Descriptor *frame, int picture) {
  bool marks = frame->n_wrong > 0;
  if (picture == PICTURE_MEMORY)
    canvas_text(
        canvas, row, 0, 0, STYLE_DIM,
        marks ? "cell = core matrix; ! wrong, x not read" : "cell = core matrix read there");
  else
    canvas_text(canvas, row, 0, 0, STYLE_DIM,
                marks ? "cell = what is read instead" : "+144.1: byte 144, bank group 1");
}

static void draw_picture(Canvas *canvas, Rect in, const Descriptor *frame, int picture) {
  if (picture == PICTURE_INSTRUCTION) {
    descriptor_draw_instruction(canvas, in, frame);
    return;
  }
  draw_caption(canvas, rect_take_bottom(&in, in.rows > 6), frame, picture);
  if (picture == PICTURE_MEMORY)
    descriptor_draw_memory(canvas, in, frame);
  else
    descriptor_draw_tile(canvas, in, frame);
}

static void draw_pictures(Canvas *canvas, Rect in, const Descriptor *frame, int picture) {
  if (in.cols < WIDE_COLS - LEFT_WIDE_COLS || picture == PICTURE_INSTRUCTION) {
    draw_picture(canvas, in, frame, picture);
    return;
  }
  draw_picture(canvas, rect_take_left(&in, DESCRIPTOR_MEMORY_COLS + 2), frame, PICTURE_MEMORY);
  draw_picture(canvas, in, frame, PICTURE_TILE);
}

static void descriptor_draw(Canvas *canvas, Rect in, const Session *session) {
  const Descriptor *frame = session->prepared;
  if (frame->reads.why) {
    canvas_wrap(canvas, rect_inset(in, 1, 1), STYLE_TEXT, frame->reads.why);
    return;
  }
  int picture = chosen_of(session)->picture % pictures_of(frame);
  draw_title(canvas, &in, frame);
  if (in.rows >= BITS_FROM_ROWS && in.cols >= BITS_COLS) {
    rect_take_top(&in, 1);
    draw_bits(canvas, rect_take_top(&in, BITS_ROWS), frame);
  }
  rect_take_top(&in, in.rows > DESCRIPTOR_ROWS + 6);
  bool narrow = in.cols < LEFT_COLS + DESCRIPTOR_MEMORY_COLS;
  if (narrow && session_view_state_const(session)->pane % PANES == PANE_PICTURE) {
    draw_picture(canvas, in, frame, picture);
    return;
  }
  Rect left = narrow ? in : rect_take_left(&in, in.cols < WIDE_COLS ? LEFT_COLS : LEFT_WIDE_COLS);
  left.cols -= !narrow;
  draw_fields(canvas, rect_take_top(&left, DESCRIPTOR_ROWS), session, frame);
  rect_take_top(&left, left.rows > 6);
  rect_take_left(&left, 1);
  draw_words(canvas, left, frame);
  if (!narrow) draw_pictures(canvas, in, frame, picture);
}

// ---- keys ---------------------------------------------------------------------------------------

static const Descriptor *look(Session *session) {
  descriptor_prepare(session);
  return session->prepared;
}

// From now on the word is the user's own.
static void begin_word(Session *session, const Descriptor *frame) {
  DescriptorWork *work = work_of(session);
  work->error[0] = '\0';
  if (work->typed) return;
  work->typed = true;
  work->word = frame->meant;
  work->trans = frame->reads.meant.trans;
  work->shift = 0;
  work->schedule = session_model(session)->schedule;
}

static int64_t turned(int64_t value, int64_t step, int64_t n) { return (value + step + n) % n; }

static void set_word(DescriptorWork *work, const Descriptor *frame, SmemDescriptor word) {
  work->word = word;
  work->shift = word.start - frame->meant.start;
}

// A field by one unit up or down, round at its ends.
static void turn_field(Session *session, int step) {
  const Descriptor *frame = look(session);
  DescriptorWork *work = work_of(session);
  if (frame->reads.why) return;
  begin_word(session, frame);
  if (work->field == DESCRIPTOR_MAJOR) {
    work->trans = !work->trans;
    return;
  }
  SmemDescriptor word = frame->said;
  DescriptorBits bits = descriptor_part_bits((DescriptorPart)work->field, word.arch);
  uint64_t mask = ((UINT64_C(1) << bits.bits) - 1) << bits.first,
           all = smem_descriptor_encode(&word);
  int64_t value = (int64_t)((all & mask) >> bits.first);
  value = turned(value, step, INT64_C(1) << bits.bits);
  word = smem_descriptor_decode((all & ~mask) | (uint64_t)value << bits.first, word.arch);
  set_word(work, frame, word);
}

static void set_element(Session *session, int row, int k) {
  chosen_of(session)->row = row;
  chosen_of(session)->k = k;
}

static void step_element(Session *session, int rows, int ks) {
  const Descriptor *frame = look(session);
  if (frame->reads.why) return;
  set_element(session, (int)clamp_index(frame->row + rows, frame->reads.shape.rows),
              (int)clamp_index(frame->k + ks, frame->reads.shape.depth));
}

// Lines go down, what runs fastest goes across.
static void step_across(Session *session, int step) {
  const Descriptor *frame = look(session);
  if (session_view_state(session)->pane % PANES == PANE_FIELDS)
    turn_field(session, step);
  else
    step_element(session, frame->trans ? step : 0, frame->trans ? 0 : step);
}

static void descriptor_move(Session *session, int delta) {
  const Descriptor *frame = look(session);
  DescriptorWork *work = work_of(session);
  if (session_view_state(session)->pane % PANES == PANE_FIELDS)
    work->field = (int)clamp_index(work->field + delta, DESCRIPTOR_ROWS);
  else
    step_element(session, frame->trans ? 0 : delta, frame->trans ? delta : 0);
}

static void less(Session *s, const char *a) { (void)a, step_across(s, -1); }
static void more(Session *s, const char *a) { (void)a, step_across(s, 1); }

static void step_tile(Session *session, int step) {
  const Descriptor *frame = look(session);
  if (!frame->reads.why) work_of(session)->at = (int)clamp_index(frame->at + step, frame->reads.n);
}

static void tile_before(Session *s, const char *a) { (void)a, step_tile(s, -1); }
static void tile_after(Session *s, const char *a) { (void)a, step_tile(s, 1); }

static void drop(Session *session, const char *argument) {
  (void)argument;
  work_of(session)->typed = false;
  work_of(session)->error[0] = '\0';
}

static void change_operand(Session *session, const char *argument) {
  DescriptorWork *work = work_of(session);
  bool named = argument && (str_equal_fold(argument, "A") || str_equal_fold(argument, "B"));
  bool b = named ? str_equal_fold(argument, "B") : work->operand == ATOM_A;
  drop(session, NULL);
  work->operand = b ? ATOM_B : ATOM_A;
}

static void change_picture(Session *session, const char *argument) {
  (void)argument;
  const Descriptor *frame = look(session);
  const int n = frame->reads.why ? 1 : pictures_of(frame);
  chosen_of(session)->picture = (chosen_of(session)->picture + 1) % n;
}

// "lbo=8192", "0x4000…", or a number, which is then of the chosen field.
static void try_word(Session *session, const char *text) {
  const Descriptor *frame = look(session);
  DescriptorWork *work = work_of(session);
  if (frame->reads.why) return;
  Diags diags = diags_new(session->frame);
  SmemDescriptor word = frame->said;
  bool decimal = *text && !text[strspn(text, "0123456789")];
  if (decimal && work->field < DESCRIPTOR_PARTS)
    text = arena_printf(session->frame, "%s=%s", row_name(work->field), text);
  if (!smem_descriptor_edit(session->frame, text, &word, &diags)) {
    snprintf(work->error, sizeof work->error, "%s", diags.first->text);
    return;
  }
  begin_word(session, frame);
  set_word(work, frame, word);
}

static void edit(Session *session, const char *argument) {
  const Descriptor *frame = look(session);
  if (frame->reads.why) return;
  if (argument && *argument) {
    try_word(session, argument);
    return;
  }
  int field = min_int(frame->field, DESCRIPTOR_SWIZZLE);
  const char *text = field == DESCRIPTOR_SWIZZLE
                         ? arena_printf(session->frame, "swizzle=%s", frame->said.swizzle->name)
                         : arena_printf(session->frame, "%s=%" PRId64, row_name(field),
                                        part_value(&frame->said, field));
  session->prompt.kind = PROMPT_FIELD;
  session->prompt.field.history = NULL;
  textfield_set(&session->prompt.field, text);
}

static void descriptor_typed(Session *session, TextFieldResult result) {
  if (result == TEXTFIELD_CANCELLED)
    drop(session, NULL);
  else
    try_word(session, session->prompt.field.text);
}

static void choose_element(Session *session, const char *argument) {
  int row, k, end = 0;
  const Descriptor *frame = look(session);
  if (frame->reads.why) return;
  const TileShape *shape = &frame->reads.shape;
  bool two = argument && sscanf(argument, "%6d%*[, ]%6d%n", &row, &k, &end) == 2 && !argument[end];
  if (two && row >= 0 && row < shape->rows && k >= 0 && k < shape->depth)
    set_element(session, row, k);
  else
    session_say(session, SAID_ERROR, "element takes %s,k: %s 0 to %d, k 0 to %d",
                descriptor_across(frame), descriptor_across(frame), shape->rows - 1,
                shape->depth - 1);
}

static int descriptor_count(const Session *session) {
  (void)session;
  return DESCRIPTOR_ROWS;
}
static const char *descriptor_line(const Session *session, int i) {
  (void)session;
  return row_name(i);
}
static int descriptor_at(const Session *session) { return work_of(session)->field; }
static void descriptor_go(Session *session, int i) { work_of(session)->field = i; }

static void descriptor_click(Session *session, int what, int value) {
  const Descriptor *frame = look(session);
  if (what == DESCRIPTOR_SPOT_FIELD) {
    session_view_state(session)->pane = PANE_FIELDS;
    work_of(session)->field = value;
  } else if (what == DESCRIPTOR_SPOT_CHUNK && value < frame->n_chunks) {
    session_view_state(session)->pane = PANE_PICTURE;
    set_element(session, frame->chunk[value].row, frame->chunk[value].k);
  }
}

static const Action actions[] = {
    {"less", "Left h -", "value", "more", "lower the field a step; in the picture, go left", less},
    {"more", "Right l + =", NULL, NULL, "raise the field a step; in the picture, go right", more},
    {"operand", "o", "A/B", NULL, "the other operand", change_operand},
    {"tile-before", "<", "tile", "tile-after", "the tile before: the last step along K",
     tile_before},
    {"tile-after", ">", NULL, NULL, "the next tile: the next step along K", tile_after},
    {"edit", "e Enter", "type", NULL, "type a field, lbo=8192, or a whole word, 0x…", edit},
    {"picture", "v", "picture", NULL,
     "change the picture: core matrices, the tile row by row, instruction descriptor",
     change_picture},
    {"drop", "Backspace", NULL, NULL, "put the program's word back", drop},
    {"word", "", NULL, NULL, "a word, or some of its fields: word lbo=1024,sbo=16", edit},
    {"element", "", NULL, NULL, "find an element of the tile: element 9,4", choose_element},
};

const ViewBody descriptor_view = {
    .chosen_bytes = sizeof(DescriptorChosen),
    .state_bytes = sizeof(DescriptorWork),
    .prepare = descriptor_prepare,
    .draw = descriptor_draw,
    .data = view_prepared,
    .move = descriptor_move,
    .move_label = "field",
    .pane_label = "picture",
    .count = descriptor_count,
    .line = descriptor_line,
    .at = descriptor_at,
    .go = descriptor_go,
    .click = descriptor_click,
    .typed = descriptor_typed,
    .field_label = "descriptor ",
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
    .n_panes = PANES,
};

// fragments: which lane of a tensor-core instruction holds which element, and how ldmatrix brings
// it there.
//
// The cursor stands on an element of an operand; the lane that holds it is shown with all its
// registers. v goes from the grid to ldmatrix, where the same cursor chooses a row of shared
// memory: who gives its address and who receives it. Tab changes the operand, a the atom; without a
// choice of the user the atom is the schedule's.
//
// From 120 x 40 on the grid is the whole instruction, A, B and C with one lane in all three, and
// ldmatrix beside it where there is room for both.
//
// A|B shows the same operand of both atoms side by side, where they differ.
//
// ViewState: pane is the operand.
#include "model/readings/place/on_chip.h"
#include "model/words/schedule_atom.h"
#include "tui/views/places/fragments.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "tui/canvas/utf8.h"
#include "tui/session/subject.h"
#include "tui/views/data/view_data.h"
#include "tui/views/places/element_text.h"
#include "tui/views/places/tiles.h"

typedef enum FragmentsPicture {
  PICTURE_GRID,
  PICTURE_LOAD,
  PICTURE_LOAD_TRANS,
  PICTURE_WORDS,
  PICTURE_ROWS,
  PICTURE_RELAYOUT,
  PICTURES
} FragmentsPicture;
enum { LOAD_ROWS = 18, LOAD_COLS = 80 };  // of ldmatrix beside a whole instruction
enum { SIDE_COLS = 20, FULL_ROWS = 15, SHUFFLE_COLS = 42, GAP_COLS = 2, MIN_TILES_COLS = 18 };

typedef struct FragmentsChosen {
  FragmentsPicture picture;
  int atom;       // a row of the table, with
  int n;          // this N; 0: the row's own
  bool f16_sums;  // and sums of f16 in place of its own
  int row, col;   // of the element under the cursor
  int lane;       // that was asked for: of several products that of this lane is shown
} FragmentsChosen;

// ---- what is chosen -----------------------------------------------------------------------------

static FragmentsChosen *chosen_of(const Session *session) {
  return view_chosen(session, &fragments_view);
}

static Atom atom_of(const FragmentsChosen *chosen) {
  Atom atom = atom_table[chosen->atom];
  if (chosen->n) atom_set_n(&atom, chosen->n);
  if (chosen->f16_sums) atom_set_f16_acc(&atom);
  return atom;
}

// The lane whose address the element under the cursor is read from: the receiver's register says
// which matrix, and its place in the matrix which row.
static int find_address_lane(const Fragments *f) {
  const LdMatrix *load = &f->memory.load;
  int half = f->part * f->packing.value_bits / 16;
  int row = ldmatrix_element(load->trans, f->owner.lane % 32, half).row;
  return f->owner.lane / 32 * 32 + ldmatrix_addressing_lane(f->reg, row);
}

static void map_memory(FragmentMemory *memory, const FragmentMap *map) {
  memset(memory->lane_at, -1, sizeof memory->lane_at);
  for (int lane = 0; lane < map->n_lanes; lane++) {
    if (lane % 32 >= memory->load.n_address_lanes) continue;
    FragmentElement at = ldmatrix_address(&memory->load, lane);
    int row = memory->row_is_row ? at.row : at.col, col = memory->row_is_row ? at.col : at.row;
    memory->lane_at[row][col / memory->chunk_elems] = (int8_t)lane;
  }
}

static const char *why_not(const Fragments *f, bool k_contiguous) {
  if (f->operand == ATOM_C) return "C is not loaded: stmatrix stores such tiles.";
  if (f->operand == ATOM_META) return "The lanes that give metadata load them, a word each.";
  if (atom_operand_is_scale(f->operand))
    return "The lanes that give factors load them, a byte or a word each.";
  if (f->packing.register_bits > 32) return "ldmatrix fills registers of 32 bits: not for f64.";
  if (!k_contiguous && f->packing.value_bits != 16)
    return ".trans works on elements of 16 bits: k must be contiguous here.";
  return "";
}

static FragmentMemory find_memory(const Fragments *f, bool k_contiguous) {
  FragmentMemory memory = {.row_is_row = (f->operand == ATOM_A) == k_contiguous};
  memory.legal = fragment_ldmatrix(f->atom, f->operand, k_contiguous, 1, &memory.load);
  memory.why = why_not(f, k_contiguous);
  if (!memory.legal) return memory;
  const char *other = f->operand == ATOM_A ? "m" : "n";
  memory.row_axis = k_contiguous ? other : "k";
  memory.col_axis = k_contiguous ? "k" : other;
  memory.chunk_elems = 8 * LDMATRIX_ROW_BYTES / f->packing.value_bits;
  memory.rows = memory.row_is_row ? f->map.rows : f->map.cols;
  memory.chunks = (memory.row_is_row ? f->map.cols : f->map.rows) / memory.chunk_elems;
  map_memory(&memory, &f->map);
  return memory;
}

// A pane for each operand; behind C the factors of a block-scaled atom, the metadata of a sparse
// one.
enum { N_OPERANDS = 5 };
static const AtomOperand scaled_operands[N_OPERANDS] = {ATOM_A, ATOM_B, ATOM_C, ATOM_SFA, ATOM_SFB},
                         sparse_operands[] = {ATOM_A, ATOM_B, ATOM_C, ATOM_META};

static const AtomOperand *operands_of(const Atom *atom, int *n) {
  *n = atom_scales(atom) ? N_OPERANDS : ATOM_OPERANDS + atom->sparse;
  return atom->sparse ? sparse_operands : scaled_operands;
}

static int pane_of(const Atom *atom, AtomOperand operand) {
  int pane = 0, n;
  const AtomOperand *operands = operands_of(atom, &n);
  while (operands[pane] != operand) pane++;
  return pane;
}

// The two pictures of sums have one operand. An atom without factors has C behind A on the way
// back.
static AtomOperand shown_operand(FragmentsPicture picture, int pane, const Atom *atom) {
  int n;
  const AtomOperand *operands = operands_of(atom, &n);
  if (picture >= PICTURE_ROWS) return ATOM_C;
  pane %= N_OPERANDS;
  return operands[pane < n ? pane : pane == N_OPERANDS - 1 ? n - 1 : 0];
}

// Everything but the texts: that atom and pane, else as chosen.
static Fragments look_at(const FragmentsChosen *chosen, int pane, const Atom *atom) {
  const FragmentsPicture picture = chosen->picture;
  Fragments f = {.atom = atom, .operand = shown_operand(picture, pane, atom)};
  f.held = atom_in_lanes(f.atom, f.operand);
  if (!f.held) return f;
  f.map = fragment_map(f.atom, f.operand);
  f.packing = fragment_packing(f.atom, f.operand);
  f.row = (int)clamp_index(chosen->row, f.map.rows);
  f.joined = picture == PICTURE_RELAYOUT && atom_in_lanes(atom, ATOM_A);
  f.n_cols = f.map.cols;
  if (f.joined) f.n_cols = (int)common_multiple(f.map.cols, fragment_map(atom, ATOM_A).cols);
  f.cursor_col = (int)clamp_index(chosen->col, f.n_cols);
  f.col = f.cursor_col % f.map.cols;
  f.of_row = picture == PICTURE_ROWS;
  f.shared = fragment_row(&f.map, f.row);
  f.product = chosen->lane & f.map.product_lanes;
  f.owner = fragments_owner(&f, f.row, f.col);
  f.reg = f.owner.value / f.packing.per_register;
  f.part = f.owner.value % f.packing.per_register;
  f.memory = find_memory(&f, picture != PICTURE_LOAD_TRANS);
  f.address_lane = f.memory.legal ? find_address_lane(&f) : -1;
  return f;
}

static Fragments look(const Session *session) {
  const FragmentsChosen *chosen = chosen_of(session);
  int pane = session_view_state_const(session)->pane;
  Atom *atom = ARENA_NEW(session->frame, Atom);
  *atom = atom_of(chosen);
  const bool held = atom_in_lanes(atom, ATOM_A) ||
                    atom_in_lanes(atom, shown_operand(chosen->picture, pane, atom));
  if (!held) pane = ATOM_C;  // lanes have sums alone, or these and factors
  return look_at(chosen, pane, atom);
}

// The statements that make one value of several lanes', and what they had before: of the schedule,
// where it has this atom.
static const char *rows_in_program(const Session *session, const Atom *atom) {
  const Model *model = session_model(session);
  const Atom *own = program_atom(model->program);
  if (session->at.subject || !own || !atom_same_row(own, atom)) return NULL;
  const ProgramText *text = &model->text;
  Str out = str_new(session->frame);
  for (int i = 0; i < text->n_lines; i++) {
    const Stmt *stmt = text->line[i].stmt;
    if (!stmt || stmt->kind != STMT_OP || op_facts(stmt->op.kind)->action != ACTION_COMBINE)
      continue;
    for (int j = 0; j < text->n_lines; j++) {
      const Stmt *by = text->line[j].stmt;
      if (by && by->kind == STMT_OP && by->op.dst.buffer == stmt->op.dst.buffer &&
          by->op.src.buffer && by->op.src.buffer->role == ROLE_SCORE)
        str_printf(&out, "%s\n", text->line[j].text);
    }
    str_printf(&out, "%s\n", text->line[i].text);
  }
  return out.length ? out.text : NULL;
}

// "tcgen05.mma.cta_group::2.kind::f16" where the schedule has a pair of CTAs multiply as one: each
// has 128 of the 256 rows, and they lie in its lanes as those of a CTA by itself.
static const char *instruction_of(const Session *session, const Atom *atom) {
  static const char alone[] = "cta_group::1";
  const Model *model = session_model(session);
  const Atom *own = program_atom(model->program);
  const char *ptx = atom_ptx(session->frame, atom), *group = strstr(ptx, alone);
  if (!group || session->at.subject || !own || !atom_same_row(own, atom)) return ptx;
  if (!on_chip(session->frame, model)->pair) return ptx;
  return arena_printf(session->frame, "%.*scta_group::2%s", (int)(group - ptx), ptx,
                      group + strlen(alone));
}

static Fragments *with_texts(const Session *session, Fragments seen) {
  Arena *arena = session->frame;
  Fragments *f = ARENA_NEW(arena, Fragments);
  *f = seen;
  f->arena = arena;
  f->ptx = instruction_of(session, f->atom);
  f->pairs = session->at.subject ? "; .x4 loads two of them" : "; LDMATRIX=2: two by .x4";
  f->n_words = ptx_words(arena, f->atom, NULL, f->word);
  f->wmma = wmma_text(arena, f->atom);
  if (f->held) f->formulas = fragment_formulas(arena, &f->map);
  if (f->held) f->row_text = fragment_row_text(arena, &f->shared);
  Relayout map;
  f->in_place = fragment_relayout(f->atom, f->atom, &map);
  f->relayout_text = fragment_relayout_text(arena, f->atom, f->atom);
  f->lanes_text = fragment_lanes_text(arena, f->atom, ATOM_C);
  f->program_text = rows_in_program(session, f->atom);
  if (f->memory.legal) f->memory.ptx = ldmatrix_ptx(arena, &f->memory.load);
  for (int i = 0; f->memory.legal && i < f->memory.load.n_matrices; i++)
    f->memory.matrix_text[i] = ldmatrix_matrix_text(arena, &f->memory.load, i);
  return f;
}

static void fragments_prepare(Session *session) {
  Fragments *f = with_texts(session, look(session));
  ViewState *state = session_view_state(session);
  int n_panes;
  operands_of(f->atom, &n_panes);
  if (state->pane >= n_panes) state->pane = pane_of(f->atom, f->operand);
  session->prepared = f;
  if (!session_compares(session)) return;
  Atom *a = ARENA_NEW(session->frame, Atom);
  const bool there = schedule_atom_is(&session->doc.then.pictured, a);
  if (there) atom_in_elements(a);
  if (!there)
    f->about_a = "A multiplies on plain FMA: no fragments";
  else if (str_equal(atom_ptx(session->frame, a), atom_ptx(session->frame, f->atom)))
    f->about_a = "the same in A";
  else
    f->a = with_texts(session, look_at(chosen_of(session), state->pane, a));
}

// ---- drawing ------------------------------------------------------------------------------------

static void draw_title(Canvas *canvas, Rect row, const Fragments *f, FragmentsPicture picture,
                       const char *side) {
  static const char *const axes[ATOM_MATRICES] = {[ATOM_A] = "m×k",
                                                  [ATOM_B] = "k×n",
                                                  [ATOM_C] = "m×n",
                                                  [ATOM_SFA] = "m×blocks of k",
                                                  [ATOM_SFB] = "blocks of k×n",
                                                  [ATOM_META] = "m×chunks of k"};
  int col = 1;
  if (side)
    col = canvas_text(canvas, row, 0, col, *side == 'A' ? STYLE_SIDE_A : STYLE_SIDE_B, side) + 2;
  int n_operands;
  const AtomOperand *operands = operands_of(f->atom, &n_operands);
  for (int i = 0; i < n_operands; i++) {
    const bool here = operands[i] == f->operand;
    const char *name = atom_operand_name(operands[i]);
    const int width = utf8_columns(name);
    col = canvas_text(canvas, row, 0, col, here ? STYLE_TITLE : STYLE_DIM, name);
    if (here)
      canvas_over(canvas, rect_intersect(row, (Rect){row.row, row.col + col - width, 1, width}),
                  STYLE_SELECTED);
    col++;
  }
  col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, "of ");
  col = canvas_text(canvas, row, 0, col, STYLE_ACCENT, f->atom->name);
  const bool stored = f->operand == ATOM_A && f->atom->sparse;
  if (f->held)
    col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, "  %d×%d %s", f->map.rows, f->map.cols,
                        stored ? "m×k/2, as stored" : axes[f->operand]);
  if (f->about_a) col = canvas_text(canvas, row, 0, col + 2, STYLE_SIDE_A, f->about_a);
  if (f->held && picture == PICTURE_GRID && col + 20 < row.cols)
    col = canvas_text(canvas, row, 0, col + 2, STYLE_DIM, "cell = lane:values");
  int width = utf8_columns(f->ptx);
  if (col + 2 + width < row.cols)
    canvas_text(canvas, row, 0, row.cols - width - 1, STYLE_DIM, f->ptx);
}

static void draw_grid_picture(Canvas *canvas, Rect in, const Fragments *f) {
  if (in.rows >= FULL_ROWS)
    fragments_draw_formulas(canvas, rect_take_bottom(&in, fragments_formula_rows(f, in.cols)), f);
  if (in.rows > 4) fragments_draw_element(canvas, rect_take_bottom(&in, 1), f);
  rect_take_left(&in, 1);
  int grid = fragments_grid_cols(f), left = in.cols - SIDE_COLS - GAP_COLS + 1;
  if (in.cols < 2 * SIDE_COLS + GAP_COLS) left = in.cols;
  fragments_draw_grid(canvas, rect_take_left(&in, grid < left ? grid : left), f);
  rect_take_left(&in, GAP_COLS - 1);
  if (in.cols < SIDE_COLS - 1) return;
  int registers = f->packing.n_registers + 1, room = in.rows - 5;
  Rect lane = rect_take_top(&in, registers < room || room < 3 ? registers : room);
  fragments_draw_lane(canvas, lane, f);
  rect_take_top(&in, 1);
  fragments_draw_facts(canvas, in, f);
}

static void draw_load_foot(Canvas *canvas, Rect in, const Fragments *f) {
  canvas_text(canvas, in, 0, 1, STYLE_ACCENT, f->memory.ptx);
  int col = canvas_text(canvas, in, 1, 1, STYLE_TEXT, "where k is ");
  col =
      canvas_text(canvas, in, 1, col, STYLE_TITLE, f->memory.load.trans ? "strided" : "contiguous");
  col =
      canvas_printf(canvas, in, 1, col, STYLE_TEXT, " in shared memory: one address, %s receivers",
                    f->memory.load.trans ? "eight" : "four");
  if (f->operand == ATOM_B && f->memory.load.n_matrices == 2 && col + 24 < in.cols)
    canvas_text(canvas, in, 1, col, STYLE_DIM, f->pairs);
}

static void draw_load_picture(Canvas *canvas, Rect in, const Fragments *f) {
  if (!f->memory.legal) {
    canvas_wrap(canvas, rect_inset(in, 1, 1), STYLE_TEXT, f->memory.why);
    return;
  }
  if (in.rows >= FULL_ROWS) draw_load_foot(canvas, rect_take_bottom(&in, 2), f);
  rect_take_left(&in, 1);
  int tiles = fragments_tiles_cols(f), left = in.cols - SHUFFLE_COLS;
  if (left >= MIN_TILES_COLS)
    fragments_draw_tiles(canvas, rect_take_left(&in, tiles < left ? tiles : left), f);
  fragments_draw_shuffle(canvas, in, f);
}

static void draw_side(Canvas *canvas, Rect in, const Fragments *f, FragmentsPicture picture,
                      const char *side) {
  draw_title(canvas, rect_take_top(&in, 1), f, picture, side);
  if (picture == PICTURE_WORDS)
    fragments_draw_words(canvas, in, f);
  else if (picture == PICTURE_ROWS)
    fragments_draw_rows(canvas, in, f);
  else if (picture == PICTURE_RELAYOUT && f->joined)
    fragments_draw_relayout(canvas, in, f);
  else if (!f->held)
    canvas_wrap(canvas, rect_inset(in, 1, 1), STYLE_TEXT,
                "wgmma reads B from shared memory by a descriptor: no register holds it. Tab "
                "goes to C, D shows the descriptor.");
  else if (picture == PICTURE_GRID)
    draw_grid_picture(canvas, in, f);
  else
    draw_load_picture(canvas, in, f);
}

static bool shows_whole(const Session *session, Rect in) {
  const Fragments *f = session->prepared;
  return chosen_of(session)->picture == PICTURE_GRID && f->held && !f->a &&
         f->operand < ATOM_OPERANDS && in.rows >= FRAGMENTS_WHOLE_ROWS &&
         in.cols >= FRAGMENTS_WHOLE_COLS;
}

// The other operands with the lane that is under the cursor of this one.
static void draw_instruction(Canvas *canvas, Rect in, const Session *session) {
  const Fragments *f = session->prepared;
  FragmentsWhole whole;
  const FragmentsChosen origin = {.picture = chosen_of(session)->picture,
                                  .lane = chosen_of(session)->lane};
  draw_title(canvas, rect_take_top(&in, 1), f, PICTURES, NULL);
  Rect foot = rect_take_bottom(&in, 1);
  fragments_draw_element(canvas, foot, f);
  for (int i = 0; i < ATOM_OPERANDS; i++) {
    whole.of[i] = i == (int)f->operand ? *f : look_at(&origin, i, f->atom);
    Fragments *of = &whole.of[i];
    of->lanes_text = f->lanes_text;
    if (i == (int)f->operand || !of->held) continue;
    of->beside = true;
    of->owner = (FragmentOwner){.lane = f->owner.lane};
    FragmentElement at = fragment_map_element(&of->map, f->owner.lane, 0);
    of->row = at.row;
    of->col = at.col;
  }
  rect_take_left(&in, 1);
  Rect spare = fragments_whole_spare(&whole, &in, LOAD_ROWS, LOAD_COLS);
  spare.rows = min_int(spare.rows, LOAD_ROWS + 4);
  if (f->memory.legal) draw_load_picture(canvas, spare, f);
  fragments_draw_whole(canvas, in, &whole, f->operand);
  const char *cells = "cell = lane:values, or lane";
  if (whole.of[ATOM_A].bare)
    canvas_text(canvas, foot, 0, foot.cols - utf8_columns(cells) - 1, STYLE_DIM, cells);
}

static void fragments_draw(Canvas *canvas, Rect in, const Session *session) {
  const Fragments *f = session->prepared;
  const FragmentsPicture picture = chosen_of(session)->picture;
  if (shows_whole(session, in)) {
    draw_instruction(canvas, in, session);
    return;
  }
  if (!f->a) {
    draw_side(canvas, in, f, picture, NULL);
    return;
  }
  const Rect left = view_take_a(canvas, &in, 1);
  draw_side(canvas, left, f->a, picture, "A");
  draw_side(canvas, in, f, picture, "B");
}

// ---- keys ---------------------------------------------------------------------------------------

static void set_element(Session *session, int row, int col) {
  chosen_of(session)->row = row;
  chosen_of(session)->col = col;
}

// In the picture of ldmatrix a step goes along shared memory: to the next row, or the next chunk.
static void step(Session *session, int rows, int cols) {
  Fragments f = look(session);
  if (!f.held) return;
  const FragmentsPicture picture = chosen_of(session)->picture;
  bool loads = (picture == PICTURE_LOAD || picture == PICTURE_LOAD_TRANS) && f.memory.legal;
  if (loads) cols *= f.memory.chunk_elems;
  bool turned = loads && !f.memory.row_is_row;
  set_element(session, (int)clamp_index(f.row + (turned ? cols : rows), f.map.rows),
              (int)clamp_index(f.cursor_col + (turned ? rows : cols), f.n_cols));
}

static void fragments_move(Session *session, int delta) { step(session, delta, 0); }
static void column_before(Session *s, const char *a) { (void)a, step(s, 0, -1); }
static void column_after(Session *s, const char *a) { (void)a, step(s, 0, 1); }

static void set_choice(Session *session, int index, bool f16_sums, int n) {
  FragmentsChosen *chosen = chosen_of(session);
  chosen->atom = index;
  chosen->f16_sums = f16_sums;
  chosen->n = n;
}

static void set_atom(Session *session, int index) {
  set_choice(session, (index + atom_count) % atom_count, false, 0);
}

// A row of the table with its N and its sums chosen.
static void set_atom_as(Session *session, const Atom *atom) {
  for (int i = 0; i < atom_count; i++)
    if (atom_same_row(&atom_table[i], atom))
      set_choice(session, i, atom->acc != atom_table[i].acc, atom->n_step ? atom->n : 0);
}

static void atom_next(Session *s, const char *a) { (void)a, set_atom(s, chosen_of(s)->atom + 1); }
static void atom_before(Session *s, const char *a) { (void)a, set_atom(s, chosen_of(s)->atom - 1); }

static void choose_atom(Session *session, const char *argument) {
  Diags diags = diags_new(session->frame);
  Atom atom;
  if (!atom_parse(argument ? argument : "", &atom, &diags)) {
    session_say(session, SAID_ERROR, "%s; nearest: %s", diags.first->text, diags.first->nearest);
    return;
  }
  set_atom_as(session, &atom);
}

// With a letter of the operand that it names, else of the one that is shown.
static void choose_element(Session *session, const char *argument) {
  ViewState *state = session_view_state(session);
  Fragments f = look(session);
  AtomOperand operand = f.operand;
  int64_t index[2];
  static const char *const names[] = {"A", "B", "C"};
  bool read = element_read(argument ? argument : "", names, &operand, index);
  Fragments at = look_at(chosen_of(session), pane_of(f.atom, operand), f.atom);
  if (read && at.held && index[0] < at.map.rows && index[1] < at.n_cols) {
    state->pane = pane_of(f.atom, operand);
    set_element(session, (int)index[0], (int)index[1]);
  } else if (at.held) {
    session_say(session, SAID_ERROR,
                "element takes ROW,COLUMN: of %s rows 0 to %d, columns 0 to %d",
                atom_operand_name(at.operand), at.map.rows - 1, at.n_cols - 1);
  } else {
    session_say(session, SAID_ERROR, "no register holds %s of this instruction",
                atom_operand_name(operand));
  }
}

static void choose_lane(Session *session, const char *argument) {
  Fragments f = look(session);
  int lane, end = 0;
  bool one = argument && sscanf(argument, "%6d%n", &lane, &end) == 1 && !argument[end];
  if (f.held && one && lane >= 0 && lane < f.map.n_lanes) {
    FragmentElement at = fragment_map_element(&f.map, lane, 0);
    set_element(session, at.row, at.col);
    chosen_of(session)->lane = lane;
    if (lane & f.map.idle_lanes)
      session_say(session, SAID_NOTE, "%s", fragment_lane_note(session->frame, &f.map, lane));
  } else if (f.held) {
    session_say(session, SAID_ERROR, "lane takes a number from 0 to %d", f.map.n_lanes - 1);
  }
}

static void change_picture(Session *session, const char *argument) {
  (void)argument;
  FragmentsChosen *chosen = chosen_of(session);
  chosen->picture = (chosen->picture + 1) % PICTURES;
}

static void show_or_leave(Session *session, FragmentsPicture picture) {
  FragmentsChosen *chosen = chosen_of(session);
  chosen->picture = chosen->picture == picture ? PICTURE_GRID : picture;
}

static void show_rows(Session *s, const char *a) { (void)a, show_or_leave(s, PICTURE_ROWS); }
static void show_relayout(Session *s, const char *a) {
  (void)a, show_or_leave(s, PICTURE_RELAYOUT);
}

// The kernel's own atom, when it has one; where it stands at an ldmatrix, the picture of that.
static void fragments_enter(Session *session) {
  const SubjectAtom own = session_atom(session);
  if (own.said) session_say(session, SAID_NOTE, "%s", own.said);
  if (!own.there) return;
  set_atom_as(session, &own.atom);
  if (!session->at.subject) return;
  chosen_of(session)->picture = !own.loads  ? PICTURE_GRID
                                : own.trans ? PICTURE_LOAD_TRANS
                                            : PICTURE_LOAD;
  session_view_state(session)->pane = pane_of(&own.atom, own.operand);
}

static int fragments_count(const Session *session) {
  (void)session;
  return atom_count;
}
static const char *fragments_line(const Session *session, int i) {
  (void)session;
  return atom_table[i].name;
}
static int fragments_at(const Session *session) { return chosen_of(session)->atom; }
static void fragments_go(Session *session, int i) { set_atom(session, i); }

static void fragments_click(Session *session, int what, int value) {
  if (what != FRAGMENTS_SPOT_ELEMENT) return;
  const Atom *atom = ((const Fragments *)session->prepared)->atom;
  session_view_state(session)->pane =
      pane_of(atom, (AtomOperand)(value / FRAGMENTS_BASE / FRAGMENTS_BASE));
  set_element(session, value / FRAGMENTS_BASE % FRAGMENTS_BASE, value % FRAGMENTS_BASE);
}

// The element of this place in the atom of CTA 0, warp 0, where the kernel multiplies by this atom.
static void follow(Session *session, const char *argument) {
  (void)argument;
  const Fragments f = look(session);
  const Atom *own = program_atom(session_model(session)->program);
  if (session->at.subject || !own || !atom_same_row(own, f.atom) || !f.held ||
      f.operand >= ATOM_OPERANDS) {
    session_say(session, SAID_NOTE, "this kernel has no such fragment: %s",
                own ? "a chooses another atom" : "it multiplies on plain FMA");
    return;
  }
  view_show(session, view_find("tiles"));
  view_prepare(session, session->rows, session->cols);
  view_run(session, "element",
           arena_printf(session->frame, "%s[%d][%d]", tiles_of(session)->side[1].name[f.operand],
                        f.row, f.col));
}

// A user's kernel has no tiles to follow an element in.
static const char *fragments_hint(const Session *session, const Action *action) {
  return action->run == follow && session->at.subject ? NULL : action->label;
}

static const Action actions[] = {
    {"column-before", "Left h", "column", "column-after", "the column before", column_before},
    {"column-after", "Right l", NULL, NULL, "the next column", column_after},
    {"follow", "Enter", "in memory", NULL,
     "show this element in the tiles view: its slab address and its way", follow},
    {"picture", "v", "picture", NULL,
     "change the picture: registers, ldmatrix, ldmatrix of a strided k, the instruction, a row "
     "of sums, sums as operand A",
     change_picture},
    {"rows", "r", "rows", NULL, "show the lanes that share a row of sums, and how they combine",
     show_rows},
    {"relayout", "p", "sums as A", NULL, "show sums that become operand A of the next product",
     show_relayout},
    {"atom-next", "a", "atom", NULL, "the next atom", atom_next},
    {"atom-before", "A", NULL, NULL, "the atom before", atom_before},
    {"atom", "", NULL, NULL, "choose an atom by name: atom m16n8k8.tf32", choose_atom},
    {"element", "", NULL, NULL, "find the lane of an element: element 3,5", choose_element},
    {"lane", "", NULL, NULL, "show the elements of a lane: lane 7", choose_lane},
};

const ViewBody fragments_view = {
    .chosen_bytes = sizeof(FragmentsChosen),
    .shows_subject = true,
    .enter = fragments_enter,
    .prepare = fragments_prepare,
    .draw = fragments_draw,
    .data = view_prepared,
    .move = fragments_move,
    .move_label = "row",
    .pane_label = "operand",
    .count = fragments_count,
    .line = fragments_line,
    .at = fragments_at,
    .go = fragments_go,
    .click = fragments_click,
    .hint = fragments_hint,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
    .n_panes = N_OPERANDS,
};

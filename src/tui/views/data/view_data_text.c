// The data of source, fragments and swizzle: what their `prepare` made, as tables.
//
// Worked example: an m16n8k16 A fragment has 256 cells, each a row of "elements": [lane, register,
// part, row, column], in the order of lanes and registers.
#include <math.h>
#include <string.h>

#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/readings/place/fragment_json.h"
#include "tui/frame/view_json.h"
#include "tui/views/data/view_data.h"
#include "tui/views/memory/swizzle.h"
#include "tui/views/places/fragments.h"
#include "tui/views/program/source.h"

// ---- source -------------------------------------------------------------------------------------

static const char *register_bank_name(RegisterBankMark mark) {
  static const char *const names[] = {NULL, "spared", "conflict"};
  return names[mark];
}

static const char *source_mode_name(SourceMode mode) {
  static const char *const modes[] = {
      [SOURCE_CUDA] = "cuda", [SOURCE_PTX] = "ptx", [SOURCE_SASS] = "sass"};
  return modes[mode];
}

static const SourceLine **written_lines(Arena *arena, const Source *source) {
  const SourceLine **line = ARENA_ARRAY(arena, const SourceLine *, source->n_whole + 1);
  for (int i = 0; i < source->n_whole; i++)
    line[i] = source->whole[i].text ? &source->whole[i] : NULL;
  return line;
}

#define FORM_FILE "tui/views/data/source.form"
#include "base/form_make.h"

// ---- fragments ----------------------------------------------------------------------------------

enum { ELEMENT_NUMBERS = 5 };

static int element_count(const Fragments *f) {
  return f->held ? f->map.n_lanes * f->map.n_values : 0;
}

static const int *fragment_elements(Arena *arena, const Fragments *f) {
  const int n = element_count(f), per = f->packing.per_register;
  int *element = ARENA_ARRAY(arena, int, n *ELEMENT_NUMBERS + 1);
  for (int i = 0; i < n; i++) {
    const int lane = i / f->map.n_values, value = i % f->map.n_values;
    const FragmentElement at = fragment_map_element(&f->map, lane, value);
    const int numbers[ELEMENT_NUMBERS] = {lane, value / per, value % per, at.row, at.col};
    memcpy(element + i * ELEMENT_NUMBERS, numbers, sizeof numbers);
  }
  return element;
}

static const FragmentRow *shown_row(Arena *arena, const Fragments *f) {
  FragmentRow *row = ARENA_NEW(arena, FragmentRow);
  *row = fragment_row(&f->map, f->row);
  return row;
}

static const FragmentPair *shown_relayout(Arena *arena, const Fragments *f) {
  FragmentPair *pair = ARENA_NEW(arena, FragmentPair);
  *pair = (FragmentPair){f->atom, f->atom};
  return pair;
}

#define FORM_FILE "tui/views/data/fragments.form"
#include "base/form_make.h"

// ---- swizzle ------------------------------------------------------------------------------------

static const Swizzle *slab_of(const Session *session) { return view_own(session, &swizzle_view); }

static const SwizzleColumn **shown_columns(Arena *arena, const Swizzle *work) {
  const SwizzleColumn **column = ARENA_ARRAY(arena, const SwizzleColumn *, SWIZZLE_COLUMNS);
  for (int i = 0; i < SWIZZLE_COLUMNS; i++)
    column[i] = !work->why && work->column[i].layout ? &work->column[i] : NULL;
  return column;
}

const void *swizzle_data(Session *session) { return slab_of(session); }

#define FORM_FILE "tui/views/data/swizzle.form"
#include "base/form_make.h"

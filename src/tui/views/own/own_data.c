// The own view as data: the lines that access memory, and the layout on trial.
#include "tui/frame/view.h"
#include "tui/views/own/own_work.h"

static const OpenedLine **shown_lines(Arena *arena, const OwnFrame *frame) {
  const OpenedLine **line = ARENA_ARRAY(arena, const OpenedLine *, frame->source->n + 1);
  for (int i = 0; i < frame->source->n; i++)
    line[i] = frame->lines[i + 1].n_sites ? &frame->lines[i + 1] : NULL;
  return line;
}

#define FORM_FILE "tui/views/own/own_data.form"
#include "base/form_make.h"

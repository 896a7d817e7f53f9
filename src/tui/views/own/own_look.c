// The state of the view → what one frame of it shows: the line under the cursor, its sites, which
// of them is looked at.
#include "base/whole.h"
#include "tui/views/own/own_work.h"

static int64_t cost_of(const OwnWork *work, int site) {
  const OpenedSite *s = &work->opened->sites[site];
  return s->shared ? s->wavefronts - s->ideal : -1;
}

// Sites of the line, the costliest of shared memory first; insertion keeps their order otherwise.
static void find_sites(Arena *arena, OwnFrame *frame) {
  const Opened *opened = frame->opened;
  int *here = ARENA_ARRAY(arena, int, opened->n_sites + 1);
  for (int i = 0; i < opened->n_sites; i++) {
    const OpenedSite *site = &opened->sites[i];
    if (opened_line_of(frame->source, &site->chain, site->ptx_line, frame->work->calls) !=
        frame->line)
      continue;
    int at = frame->n_here++;
    for (; at > 0 && cost_of(frame->work, here[at - 1]) < cost_of(frame->work, i); at--)
      here[at] = here[at - 1];
    here[at] = i;
  }
  frame->here = here;
}

static void choose_sites(OwnFrame *frame) {
  int nth = frame->work->nth;
  for (int i = 0; i < frame->n_here; i++) {
    const OpenedSite *site = &frame->opened->sites[frame->here[i]];
    if (site->global_op && !frame->global) frame->global = site;
    if (site->shared && (!frame->site || nth-- > 0)) frame->site = site;
  }
}

OwnFrame *own_look(Session *session) {
  OwnWork *work = own_work(session);
  OwnFrame *frame = ARENA_NEW(session->frame, OwnFrame);
  ViewState *state = &session->at.state[view_find("own")];
  *frame = (OwnFrame){.arena = session->frame, .work = work, .opened = work->opened};
  frame->pane = (OwnPane)(state->pane % OWN_PANES);
  if (!work->opened) return frame;
  frame->source = &work->opened->sources[work->source];
  frame->lines =
      opened_lines(session->frame, work->opened, work->source, work->calls, work->trial.then);
  frame->across = work->across;
  state->cursor = (int)clamp_index(state->cursor, frame->source->n);
  frame->line = state->cursor + 1;
  find_sites(session->frame, frame);
  choose_sites(frame);
  frame->clock = own_clock(session);
  return frame;
}

void own_look_at(Session *session, int index) {
  OwnWork *work = own_work(session);
  const Opened *opened = work->opened;
  const OpenedSite *site = &opened->sites[index];
  int line =
      opened_line_of(&opened->sources[work->source], &site->chain, site->ptx_line, work->calls);
  if (!line) {
    work->source = opened->n_sources - 1;
    line = site->ptx_line;
  }
  session->at.state[view_find("own")].cursor = line - 1;
  const OwnFrame *frame = own_look(session);
  work->nth = 0;
  for (int i = 0; i < frame->n_here && frame->here[i] != index; i++)
    work->nth += opened->sites[frame->here[i]].shared;
}

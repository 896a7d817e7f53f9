// The opened kernel's source, PTX and machine code for view `source`.
//
// Every instruction belongs to the line that view `own` charges it to: a line of a function that
// was inlined at its call, unless the lines are shown where they stand.
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tui/views/own/own_subject.h"
#include "tui/views/own/own_work.h"

static int line_of(const OwnFrame *frame, const OpenedText *text) {
  const int line = opened_line_of(frame->source, &text->chain, text->ptx_line, frame->work->calls);
  return line ? line : -1;
}

static const PtxListing *list_ptx(Arena *arena, const OwnFrame *frame) {
  const Opened *o = frame->opened;
  PtxLine *lines = ARENA_ARRAY(arena, PtxLine, o->n_code + 1);
  for (int i = 0; i < o->n_code; i++)
    lines[i] = (PtxLine){.text = o->code[i].text, .cuda_line = line_of(frame, &o->code[i])};
  return ptx_list(arena, lines, o->n_code);
}

// The text of machine code that was opened has its address in front: "/*0030*/ ULDC UR4, …".
static const char *without_address(const char *text) {
  const char *end = str_starts(text, "/*") ? strstr(text, "*/") : NULL;
  return end ? end + strlen("*/") + strspn(end + strlen("*/"), " ") : text;
}

// The machine code beside the PTX, or the code itself where machine code was opened.
static const SassResult *list_sass(Arena *arena, const OwnFrame *frame) {
  const Opened *o = frame->opened;
  const OpenedText *code = o->is_machine_code ? o->code : o->sass;
  int n = o->is_machine_code ? o->n_code : o->n_sass;
  while (n && !*without_address(code[n - 1].text)) n--;  // the end that a run stops at
  if (!n) {
    SassResult *none = ARENA_NEW(arena, SassResult);
    none->error = o->predicted_because ? o->predicted_because : "There is no machine code.";
    return none;
  }
  SassLine *lines = ARENA_ARRAY(arena, SassLine, n + 1);
  for (int i = 0; i < n; i++)
    lines[i] = (SassLine){.kernel = o->kernel,
                          .text = without_address(code[i].text),
                          .cuda_line = line_of(frame, &code[i]),
                          .live_registers = -1};
  return sass_list(arena, lines, n);
}

static const Compiled *compile(OwnWork *work, const OwnFrame *frame) {
  OwnTexts *texts = &work->texts;
  if (texts->there && texts->source == work->source && texts->calls == work->calls)
    return &texts->compiled;
  *texts = (OwnTexts){.there = true, .source = work->source, .calls = work->calls};
  texts->compiled = (Compiled){
      .compiler = frame->opened->compiler,
      .ptx_ms = -1,
      .cubin_ms = -1,
      .registers = -1,
      .listing = list_ptx(work->arena, frame),
      .no_ptx = frame->opened->is_machine_code ? "There is no PTX: machine code was opened." : NULL,
      .sass = list_sass(work->arena, frame)};
  return &texts->compiled;
}

SubjectText own_text(Session *session) {
  const OwnFrame *frame = own_look(session);
  const OpenedSource *source = frame->source;
  SubjectLine *lines = ARENA_ARRAY(session->frame, SubjectLine, source->n + 1);
  for (int i = 0; i < source->n; i++) lines[i].text = source->line[i];
  for (int i = 0, site = 0; i < frame->opened->n_sites; i++) {
    const OpenedSite *at = &frame->opened->sites[i];
    if (!own_is_listed(at)) continue;
    const int line = opened_line_of(source, &at->chain, at->ptx_line, frame->work->calls);
    site++;
    if (line && !lines[line - 1].site) lines[line - 1].site = site;
  }
  const char *target = frame->opened->target;
  const int sm = target && str_starts(target, "sm_") ? atoi(target + strlen("sm_")) : 0;
  return (SubjectText){lines, source->n, compile(own_work(session), frame), sm};
}

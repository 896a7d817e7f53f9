// A linked list in an arena; the words are made when the finding is added. They may quote anything
// a person typed or a file held, so this is where what a terminal could act on is taken out of
// them.
#include "base/diag.h"

#include <stdarg.h>

#include "base/str.h"

Diags diags_new(Arena *arena) { return (Diags){.arena = arena}; }

Diag *diag_add(Diags *diags, const char *rule, const char *format, ...) {
  Str text = str_new(diags->arena);
  va_list args;
  va_start(args, format);
  str_vprintf(&text, format, args);
  va_end(args);
  Diag *diag = ARENA_NEW(diags->arena, Diag);
  *diag = (Diag){.rule = rule, .text = str_sanitise(diags->arena, text.text)};
  if (diags->last)
    diags->last->next = diag;
  else
    diags->first = diag;
  diags->last = diag;
  diags->count++;
  return diag;
}

void diags_keep(Diags *diags) {
  for (Diag *d = diags->first; d; d = d->next)
    if (d->nearest) d->nearest = arena_strdup(diags->arena, d->nearest);
}

void diags_add_all(Diags *diags, const Diags *from) {
  for (const Diag *d = from->first; d; d = d->next) {
    Diag *copy = diag_add(diags, arena_strdup(diags->arena, d->rule), "%s", d->text);
    if (d->nearest) copy->nearest = arena_strdup(diags->arena, d->nearest);
  }
}

char *diags_text(Arena *arena, const Diags *diags) {
  Str out = str_new(arena);
  for (const Diag *d = diags->first; d; d = d->next) {
    str_printf(&out, "%s: %s", d->rule, d->text);
    if (d->nearest) str_printf(&out, "; nearest: %s", str_sanitise(arena, d->nearest));
    str_add_char(&out, '\n');
  }
  return out.text;
}

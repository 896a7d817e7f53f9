// A search → text or JSON.
#include "cli/common/cli_every.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/documents.h"
#include "model/readings/time/every_order.h"

enum { STEPS_SHOWN = 60, DELAYS_MAX = 32 };

typedef struct EveryStep {
  int number, warp;
  const char *role, *event, *object, *file;
  int line;  // 0: it has none
  bool has_phase;
  uint32_t phase;
} EveryStep;

// A warp that sleeps in front of an event, when it comes there for the `time`-th time.
typedef struct EveryDelay {
  int warp, time, line;
  const char *role, *event, *file;
} EveryDelay;

typedef struct EveryDocument {
  const char *what;
  const EveryTurn *every;
  bool found;
  int n_steps, n_delays;
  EveryStep *step;
  EveryDelay delay[DELAYS_MAX];
} EveryDocument;

#define FORM_FILE "cli/common/cli_every.form"
#include "base/form_make.h"

static const char *object_of(const Search *s, const SearchEvent *e, int process, int at,
                             bool *has_phase) {
  *has_phase = e->kind == SEARCH_INIT || e->kind == SEARCH_ARRIVE || e->kind == SEARCH_LAND ||
               e->kind == SEARCH_WAIT;
  if (*has_phase) return s->bar[e->object].name;
  if (e->kind == SEARCH_MEET || e->kind == SEARCH_PASS) return s->meet[e->object].name;
  for (int i = 0; i < s->n_accesses; i++)
    if (s->access[i].process == process && s->access[i].begin == at)
      return s->place[s->access[i].place].name;
  return NULL;
}

static EveryStep step_of(const EveryTurn *every, const EveryGiven *given, int i) {
  const Search *s = every->search;
  const SearchStep *step = &every->result.step[i];
  const SearchEvent *e = search_event(s, step->process, step->at);
  const SearchProcess *p = &s->process[step->process];
  EveryStep out = {.number = i + 1, .warp = p->agent && e->after ? e->after - 1 : step->process};
  out.role = p->name;
  out.event = search_event_text(s, step->process, step->at);
  out.object = object_of(s, e, step->process, step->at, &out.has_phase);
  out.phase = step->phase;
  if (given->line_of) out.line = given->line_of(given->context, e->tag, &out.file);
  return out;
}

static void find_delays(EveryDocument *d, const EveryGiven *given) {
  const Search *s = d->every->search;
  SearchStep at[DELAYS_MAX];
  d->n_delays = d->found ? search_delays(s, &d->every->result, at, DELAYS_MAX) : 0;
  for (int i = 0; i < d->n_delays; i++) {
    const SearchEvent *e = search_event(s, at[i].process, at[i].at);
    EveryDelay *delay = &d->delay[i];
    *delay = (EveryDelay){.warp = at[i].process, .time = 1, .role = s->process[at[i].process].name};
    delay->event = search_event_text(s, at[i].process, at[i].at);
    for (int k = 0; k < at[i].at; k++)
      delay->time += search_event(s, at[i].process, k)->tag == e->tag;
    if (given->line_of) delay->line = given->line_of(given->context, e->tag, &delay->file);
  }
}

static void print_delays(const EveryDocument *d) {
  if (d->n_delays) puts("\nto see it on a GPU, delay these:");
  for (int i = 0; i < d->n_delays; i++) {
    const EveryDelay *delay = &d->delay[i];
    printf("      %-34s in front of time %d that it %s", delay->role, delay->time, delay->event);
    if (delay->line) printf("   %s:%d", delay->file, delay->line);
    putchar(10);
  }
}

static void print_witness(const EveryDocument *d) {
  const int skip = d->n_steps > STEPS_SHOWN ? d->n_steps - STEPS_SHOWN : 0;
  puts(d->every->result.shortest ? "\nthe shortest harmful order:"
                                 : "\na harmful order, cut down; there may be a shorter one:");
  if (skip) printf("  … %d steps before\n", skip);
  for (int i = skip; i < d->n_steps; i++) {
    const EveryStep *s = &d->step[i];
    printf("%4d  %-34s %s", s->number, s->role, s->event);
    if (s->line) printf("   %s:%d", s->file, s->line);
    if (s->has_phase) printf("   (%s: phase %u under way)", s->object, s->phase);
    putchar('\n');
  }
}

static void print_text(const EveryDocument *d) {
  const EveryTurn *e = d->every;
  printf("verdict: %s\n", search_verdict_name(e->result.verdict));
  printf("%s\n", d->what);
  if (e->slots)
    printf("%lld stage%s, up to %lld turn%s and %lld tile%s, %lld run%s, %lld states\n",
           (long long)e->slots, plural_s(e->slots), (long long)e->turns, plural_s(e->turns),
           (long long)e->tiles, plural_s(e->tiles), (long long)e->runs, plural_s(e->runs),
           (long long)e->result.states);
  else if (e->runs)
    printf("with the number of turns of this kernel, %lld states\n", (long long)e->result.states);
  for (int i = 0; i < e->n_left_out; i++) printf("left out: %s\n", e->left_out[i]);
  if (e->spared) printf("harmless: %s\n", e->spared);
  if (!d->found) return;
  printf("%s: %s\n", search_fault_name(e->result.fault), e->result.root);
  printf("cure: %s\n", e->result.cure);
  if (d->n_steps) print_witness(d);
  print_delays(d);
}

int cli_print_every(Arena *arena, const EveryTurn *every, const EveryGiven *given) {
  EveryDocument d = {.what = given->what, .every = every};
  d.found = every->result.verdict == SEARCH_FOUND;
  d.n_steps = d.found ? every->result.n_steps : 0;
  const int n = d.n_steps;
  d.step = ARENA_ARRAY(arena, EveryStep, n + 1);
  d.n_steps = 0;
  for (int i = 0; i < n; i++) {
    d.step[d.n_steps] = step_of(every, given, i);
    if (i < n - 1 && strcmp(d.step[d.n_steps].event, "goes on") == 0) continue;
    d.step[d.n_steps].number = d.n_steps + 1;
    d.n_steps++;
  }
  find_delays(&d, given);
  if (given->json)
    fputs(form_document(arena, &every_order_form, &d, &d), stdout);
  else
    print_text(&d);
  const bool bounded = every->result.verdict == SEARCH_BOUNDED;
  return d.found || (bounded && given->strict) ? CLI_NO : CLI_OK;
}

int cli_print_unsearched(Arena *arena, const char *why, const EveryGiven *given) {
  EveryTurn none = {.result.verdict = SEARCH_BOUNDED, .n_left_out = 1, .left_out = {why}};
  return cli_print_every(arena, &none, given);
}

int cli_every_program(Arena *arena, const Program *program, const EveryGiven *given) {
  const EveryOrder order = every_order_program(arena, program, 1);
  if (order.fault) return cli_print_unsearched(arena, order.fault, given);
  EveryTurn every = {.search = order.search, .program = program, .runs = 1};
  every.result = search_run(order.search, &(SearchOptions){0});
  return cli_print_every(arena, &every, given);
}

int cli_every_order(Arena *arena, const Schedule *schedule, BreakageId breakage,
                    const EveryGiven *given, Diags *diags) {
  TargetTable targets;
  if (!cli_targets(arena, &targets, diags)) return cli_fail(diags);
  EveryTurn every = every_turn_search(&targets, schedule, breakage, &(SearchOptions){0});
  const int status = every.fault ? cli_print_unsearched(arena, every.fault, given)
                                 : cli_print_every(arena, &every, given);
  every_turn_free(&every);
  return status;
}

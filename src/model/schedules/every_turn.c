// A schedule → runs of few slabs and tiles, each searched, the shortest first.
#include "model/schedules/every_turn.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/readings/model.h"
#include "model/readings/time/every_order.h"
#include "model/schedules/reduce.h"

enum { TAIL = 1, BOUNDED_MAX = 2, QUICK_STATES = 4000 };

// The numbers of slabs and tiles of the first cluster; `cut`: only a part of the last slab.
typedef struct Turns {
  int64_t slabs, tiles;
  bool cut;
} Turns;

static Schedule with_turns(const Schedule *schedule, const Turns *turns) {
  Schedule s = *schedule;
  const int64_t *v = schedule->value;
  const KnobId walked = schedule_walked(schedule);
  const int64_t slab = schedule_tile(schedule, walked), grain = schedule_grain(schedule, walked);
  const int64_t extent = turns->slabs * slab - (turns->cut ? slab - min64(grain, slab) : 0);
  schedule_resize(&s, schedule_tile(schedule, KNOB_M) * v[KNOB_CLUSTER_M],
                  schedule_tile(schedule, KNOB_N) * v[KNOB_CLUSTER_N] * turns->tiles, extent);
  if (v[KNOB_HEADS] > 1) schedule_set(&s, KNOB_HEADS, 1);
  return s;
}

Schedule every_turn_schedule(const Schedule *schedule, int64_t slabs, int64_t tiles) {
  return with_turns(schedule, &(Turns){slabs, tiles, false});
}

// Sums are promoted after so many slabs, and no part of that is left at the end of a tile.
static int64_t slabs_of_promotion(const Schedule *schedule) {
  return max64(schedule->value[KNOB_PROMOTE], 1);
}

int64_t every_turn_least_slabs(const Schedule *schedule) {
  return max64(schedule->value[KNOB_TAIL_SPLIT], slabs_of_promotion(schedule));
}

static int64_t whole_promotions(const Schedule *schedule, int64_t slabs) {
  const int64_t each = slabs_of_promotion(schedule);
  return ceil_div(slabs, each) * each;
}

// ---- lists that come back -----------------------------------------------------------------------

static bool same_event(const Search *x, const SearchEvent *a, const Search *y,
                       const SearchEvent *b) {
  const bool names = a->kind == SEARCH_INIT || a->kind == SEARCH_ARRIVE || a->kind == SEARCH_LAND ||
                     a->kind == SEARCH_WAIT;
  if (a->kind != b->kind || a->n != b->n || a->bytes != b->bytes) return false;
  // Products that warps ask for together are counted by their groups alone.
  if (names && x->bar[a->object].given && y->bar[b->object].given) return true;
  if (a->bit != b->bit) return false;
  return names ? strcmp(x->bar[a->object].name, y->bar[b->object].name) == 0
               : a->object == b->object;
}

// Whether list b is list a with events put in that repeat those before them.
static bool comes_back(const Search *x, const SearchProcess *a, const Search *y,
                       const SearchProcess *b) {
  const int more = b->n_events - a->n_events;
  int head = 0, tail = 0;
  if (more < 0) return false;
  while (head < a->n_events && same_event(x, &a->event[head], y, &b->event[head])) head++;
  while (tail < a->n_events - head &&
         same_event(x, &a->event[a->n_events - 1 - tail], y, &b->event[b->n_events - 1 - tail]))
    tail++;
  return head + tail == a->n_events;
}

static bool all_come_back(const Search *x, const Search *y) {
  int n = 0;
  for (int p = 0; p < x->n_processes && p < y->n_processes; p++) {
    if (x->process[p].agent || y->process[p].agent) break;
    if (!comes_back(x, &x->process[p], y, &y->process[p])) return false;
    n++;
  }
  return n > 0;
}

// Arrivals, and bytes that are expected and have not landed, at a bar with that name.
typedef struct Counted {
  int64_t arrivals, bytes, expected;
} Counted;

static Counted count_at(const Search *s, const char *bar) {
  Counted out = {0};
  for (int p = 0; p < s->n_processes; p++)
    for (int i = 0; i < s->process[p].n_events; i++) {
      const SearchEvent *e = search_event(s, p, i);
      if (e->kind != SEARCH_INIT && e->kind != SEARCH_ARRIVE && e->kind != SEARCH_LAND) continue;
      if (strcmp(s->bar[e->object].name, bar) != 0) continue;
      out.arrivals += e->kind == SEARCH_ARRIVE ? e->n : 0;
      out.bytes += e->kind == SEARCH_LAND ? -e->bytes : e->bytes;
      if (e->kind == SEARCH_INIT) out.expected = e->n;
    }
  return out;
}

// The most arrivals of a phase of an mbarrier where the arrivals of a period are not an even number
// of phases, so that a longer run ends its phases elsewhere; 0: there is none.
static int64_t drift(const Search *x, const Search *y) {
  int64_t most = 0;
  for (int b = 0; b < x->n_bars; b++) {
    if (x->bar[b].given) continue;
    const Counted a = count_at(x, x->bar[b].name), z = count_at(y, x->bar[b].name);
    const bool even = a.expected && (z.arrivals - a.arrivals) % (2 * a.expected) == 0;
    if (!even || a.bytes != z.bytes) most = max64(most, max64(a.expected, 1));
  }
  return most;
}

// ---- runs ---------------------------------------------------------------------------------------

typedef struct Runner {
  const TargetTable *targets;
  const Schedule *schedule;
  BreakageId breakage;
  const SearchOptions *options;
  EveryTurn *out;
} Runner;

// The program of a run; NULL: the schedule is not legal so, or has nothing to break.
static const Program *program_of(const Runner *r, Arena *arena, const Turns *turns, Schedule *run) {
  *run = with_turns(r->schedule, turns);
  const Model *model = model_build(arena, r->targets, run);
  if (!model->ok) return NULL;
  return r->breakage < BREAK_COUNT ? program_break(arena, model->program, r->breakage)
                                   : model->program;
}

static void leave_out(EveryTurn *out, const char *what) {
  for (int i = 0; i < out->n_left_out; i++)
    if (strcmp(out->left_out[i], what) == 0) return;
  if (out->n_left_out < EVERY_LEFT_OUT) out->left_out[out->n_left_out++] = what;
}

static void take(EveryTurn *out, Arena *arena, const Search *search, const Program *program,
                 const Schedule *run, const Turns *turns) {
  if (out->arena) arena_free(out->arena);
  out->arena = arena;
  out->search = search;
  out->program = program;
  out->run = *run;
  out->turns = max64(out->turns, turns->slabs);
  out->tiles = max64(out->tiles, turns->tiles);
}

// States of a run, told with those of the runs before it; a search that begins anew says no less.
typedef struct Progress {
  const SearchOptions *of;
  int64_t before, said;
} Progress;

static bool goes_on(void *context, int64_t states) {
  Progress *p = context;
  p->said = max64(p->said, p->before + states);
  return p->of->goes_on(p->of->context, p->said);
}

// False: no more runs. `put_off`: set where a run takes many states, which is then not done; NULL:
// it is done in any case.
static bool run(const Runner *r, const Turns *turns, bool *put_off) {
  EveryTurn *out = r->out;
  Schedule schedule;
  Arena *arena = arena_new("every order");
  const Program *program = program_of(r, arena, turns, &schedule);
  EveryOrder every = {0};
  if (program) every = every_order_program(arena, program, 1);
  if (!program || every.fault) {
    if (every.fault) out->fault = every.fault;
    arena_free(arena);
    return !out->fault;
  }
  SearchOptions options = *r->options;
  if (put_off) options.quick = true, options.states = QUICK_STATES + search_events(every.search);
  const int64_t before = out->result.states;
  Progress progress = {r->options, before, before};
  if (options.goes_on) options.goes_on = goes_on, options.context = &progress;
  const SearchResult result = search_run(every.search, &options);
  if (put_off && result.verdict == SEARCH_BOUNDED) {
    out->result.states += result.states;
    arena_free(arena);
    return *put_off = true;
  }
  take(out, arena, every.search, program, &schedule, turns);
  const bool bounded = out->result.verdict == SEARCH_BOUNDED;
  out->result = result;
  out->result.states += before;
  out->runs++;
  if (result.verdict == SEARCH_BOUNDED) leave_out(out, "orders beyond the memory limit");
  if (result.verdict == SEARCH_PROVED && bounded) out->result.verdict = SEARCH_BOUNDED;
  out->bounded += result.verdict == SEARCH_BOUNDED;
  return result.verdict != SEARCH_FOUND && out->bounded < BOUNDED_MAX;
}

// The lists of a run and of one a period longer, into `arena`; false: there are none.
static bool two_lists(const Runner *r, Arena *arena, int64_t slabs, const Search *of[2]) {
  for (int i = 0; i < 2; i++) {
    Schedule schedule;
    const Turns turns = {slabs + 2 * i * r->out->slots, 1, false};
    const Program *program = program_of(r, arena, &turns, &schedule);
    of[i] = program ? every_order_program(arena, program, 1).search : NULL;
    if (!of[i]) return false;
  }
  return true;
}

// One arrival too many or too few in each phase adds up to a whole phase, after as many turns of
// its slot as a phase has arrivals. False: no more runs.
static bool run_until_it_shows(const Runner *r, int64_t slabs) {
  const Search *of[2];
  Arena *arena = arena_new("every order");
  const int64_t arrivals = two_lists(r, arena, slabs, of) ? drift(of[0], of[1]) : 0;
  arena_free(arena);
  if (!arrivals) return true;
  if (!run(r, &(Turns){(arrivals + 2) * r->out->slots, 1, false}, NULL)) return false;
  leave_out(r->out, "more turns than were run: the arrivals of a turn are not those of a phase");
  r->out->result.verdict = SEARCH_BOUNDED;
  return true;
}

static void compare_lists(const Runner *r, int64_t slabs) {
  const Search *of[2];
  Arena *arena = arena_new("every order");
  if (two_lists(r, arena, slabs, of) && !all_come_back(of[0], of[1])) {
    leave_out(r->out, "more turns than were run: slots and phases did not repeat");
    if (r->out->result.verdict == SEARCH_PROVED) r->out->result.verdict = SEARCH_BOUNDED;
  }
  arena_free(arena);
}

// ---- a breakage that does no harm ---------------------------------------------------------------

static void count_kinds(Arena *arena, const Program *program, int n[SEARCH_KINDS]) {
  const EveryOrder every = every_order_program(arena, program, 1);
  for (int p = 0; p < every.search->n_processes; p++)
    for (int i = 0; i < every.search->process[p].n_events; i++)
      n[search_event(every.search, p, i)->kind]++;
}

// Whether it would do harm if each warp's products were over for itself alone.
static bool is_spared_by_four(Arena *arena, const Program *program) {
  Search *s = every_order_program(arena, program, 1).search;
  bool any = false;
  for (int i = 0; i < s->n_accesses; i++) {
    any = any || s->access[i].n_also > 0;
    s->access[i].n_also = 0;
  }
  const SearchOptions how = {.states = QUICK_STATES, .quick = true, .plain = true};
  return any && search_run(s, &how).verdict == SEARCH_FOUND;
}

// Tells what the breakage changed in the lists of events, and why it is harmless.
static const char *spared_text(const Runner *r, const Turns *turns) {
  static const char *const kind[SEARCH_KINDS] = {[SEARCH_ARRIVE] = "arrivals",
                                                 [SEARCH_WAIT] = "waits at mbarriers",
                                                 [SEARCH_LAND] = "copies",
                                                 [SEARCH_MEET] = "arrivals at barriers",
                                                 [SEARCH_FENCE] = "fences",
                                                 [SEARCH_INIT] = "initialisations",
                                                 [SEARCH_INIT_SAID] = "fences of those",
                                                 [SEARCH_TAKE] = "changes of registers"};
  Arena *scratch = arena_new("every order");
  Runner whole = *r;
  Schedule schedule;
  int sound[SEARCH_KINDS] = {0}, broken[SEARCH_KINDS] = {0};
  whole.breakage = BREAK_COUNT;
  const Program *a = program_of(&whole, scratch, turns, &schedule),
                *b = program_of(r, scratch, turns, &schedule);
  if (a) count_kinds(scratch, a, sound);
  if (b) count_kinds(scratch, b, broken);
  Str out = str_new(r->out->arena);
  for (int i = 0; i < SEARCH_KINDS; i++)
    if (kind[i] && sound[i] != broken[i])
      str_printf(&out, "%s%d %s %s", *out.text ? ", " : "", abs(sound[i] - broken[i]), kind[i],
                 sound[i] > broken[i] ? "fewer" : "more");
  if (!*out.text) str_add(&out, "no event more or fewer");
  const char *why = breakage_spared(r->breakage);
  if (b && is_spared_by_four(scratch, b))
    why =
        "the four warps of a warpgroup multiply together: when one of them has waited for a "
        "product, all four have read what it multiplies";
  str_printf(&out, " than in the sound program: %s",
             why ? why : "the proof shows that other events keep the necessary order");
  arena_free(scratch);
  return out.text;
}

static bool run_tiles(const Runner *r, int64_t slots, int64_t tiles) {
  int64_t slabs[] = {1, 2, slots, slots + 1};
  bool put_off[4] = {false};
  for (int i = 0; i < 4; i++) {
    slabs[i] = whole_promotions(r->schedule, slabs[i]);
    if (i > 0 && slabs[i] <= slabs[i - 1]) continue;
    if (!run(r, &(Turns){slabs[i], tiles, false}, &put_off[i])) return false;
  }
  for (int i = 3; i >= 0; i--)
    if (put_off[i] && !run(r, &(Turns){slabs[i], tiles, false}, NULL)) return false;
  return true;
}

EveryTurn every_turn_search(const TargetTable *targets, const Schedule *schedule,
                            BreakageId breakage, const SearchOptions *options) {
  EveryTurn out = {.slots = schedule_ring_slots(schedule)};
  const Runner r = {targets, schedule, breakage, options, &out};
  const int64_t most = whole_promotions(schedule, 2 * out.slots + 2),
                see = schedule_turns_to_see(schedule);
  bool on = true, put_off = false;
  // Where a short run takes many states, a fault shows sooner when a slot is filled again.
  int64_t slabs = 0;
  while (on && !put_off && ++slabs < most) on = run(&r, &(Turns){slabs, 1, false}, &put_off);
  if (on) on = run_until_it_shows(&r, most);
  if (on) on = run(&r, &(Turns){most, 1, false}, NULL);
  for (; put_off && on && slabs < most; slabs = out.bounded ? most : slabs + 1)
    on = run(&r, &(Turns){slabs, 1, false}, NULL);
  if (on) on = run(&r, &(Turns){most, 1, true}, NULL);
  if (on && see > 1) on = run_tiles(&r, out.slots, see + TAIL);
  if (on && out.runs) compare_lists(&r, most);
  if (breakage < BREAK_COUNT && out.runs && out.result.verdict == SEARCH_PROVED)
    out.spared = spared_text(&r, &(Turns){most, 1, false});
  if (!out.runs && !out.fault)
    out.fault = breakage < BREAK_COUNT ? "it has nothing that this breakage could break"
                                       : "it is not legal with a few slabs";
  return out;
}

void every_turn_free(EveryTurn *every) {
  if (every->arena) arena_free(every->arena);
  every->arena = NULL;
}

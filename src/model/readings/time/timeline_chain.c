// A wait → the event that ends it → what its warp does at that clock → … → the root.
//
// An mbarrier's wait is ended by the last arrival or byte of the phase: of the events at that
// mbarrier the one whose effect comes last, not behind the phase's end. A meeting is ended by
// the warp that comes last, a group's wait by the warp's own copy or product.
//
// Worked example, at clock 1,000: warp 0 waits for full[1], a phase that ends at 1,744 with the
// bytes of a copy which warp 8 asked for at 34. 34 is before 1,000, so the chain ends there: on its
// way. Had warp 8 asked at 1,200 only, it would be looked up what warp 8 does at 1,000: it waits
// for empty[1], and the chain goes on from there.
#include "model/readings/time/timeline_chain.h"

#include <math.h>

#include "base/str.h"
#include "model/ir/lanes.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

static const double slack = 1e-6;  // of a clock

// ---- a warp at a clock --------------------------------------------------------------------------

static bool in_background(const TimelineEvent *e) {
  return e->kind == TIMELINE_COPY || e->kind == TIMELINE_STORE;
}

static double own_end(const Timeline *timeline, const TimelineEvent *e) {
  if (e->stuck) return INFINITY;
  return in_background(e) && !timeline->measured ? fmin(e->end, e->begin + (double)e->count)
                                                 : e->end;
}

static bool covers(const Timeline *timeline, const TimelineEvent *e, double clock) {
  return own_end(timeline, e) > clock || e->begin >= clock;
}

// A warp that multiplies in the background and waits meanwhile multiplies, as in the picture.
static int weight_of(const TimelineEvent *e) {
  return e->kind == TIMELINE_MULTIPLY ? 2 : timeline_kind_waits(e->kind);
}

const TimelineEvent *timeline_at(const Timeline *timeline, int warp, double clock) {
  const TimelineEvent *found = NULL;
  for (int i = 0; i < timeline->n_events && timeline->event[i].begin <= clock; i++) {
    const TimelineEvent *e = &timeline->event[i];
    if (e->warp == warp && covers(timeline, e, clock) &&
        (!found || weight_of(e) >= weight_of(found)))
      found = e;
  }
  return found;
}

static const TimelineEvent *wait_at(const Timeline *timeline, int warp, double clock) {
  const TimelineEvent *found = NULL;
  for (int i = 0; i < timeline->n_events && timeline->event[i].begin <= clock; i++) {
    const TimelineEvent *e = &timeline->event[i];
    if (e->warp == warp && timeline_kind_waits(e->kind) && covers(timeline, e, clock)) found = e;
  }
  return found;
}

// ---- who ends a wait ----------------------------------------------------------------------------

static bool same_bar(const TimelineBar *a, const TimelineBar *b) {
  return a->buffer && a->buffer == b->buffer && a->at == b->at && a->rank == b->rank;
}

// The clock at which an event counts at its mbarrier: bytes when they have landed.
static double takes_effect(const TimelineEvent *e) {
  return e->kind == TIMELINE_COPY ? e->end : e->begin;
}

// Before the wait: that phase had ended already, or is one that a new mbarrier is taken to have
// had.
static double phase_end(const Timeline *timeline, const TimelineEvent *wait) {
  double end = -1;
  for (int i = 0; i < timeline->n_phases; i++) {
    const TimelinePhase *phase = &timeline->phase[i];
    const bool its = phase->buffer == wait->bar.buffer && phase->at == wait->bar.at &&
                     phase->rank == wait->bar.rank &&
                     (phase->phase & 1) == (uint32_t)(wait->phase & 1);
    if (its && phase->end <= wait->end + slack) end = fmax(end, phase->end);
  }
  return end;
}

static const TimelineEvent *later(const TimelineEvent *a, const TimelineEvent *b) {
  return !a || takes_effect(b) >= takes_effect(a) ? b : a;
}

static const TimelineEvent *ender_at_bar(const Timeline *timeline, const TimelineEvent *wait) {
  const double end = phase_end(timeline, wait) + slack;
  const TimelineEvent *found = NULL;
  if (end < wait->begin) return NULL;
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *e = &timeline->event[i];
    if (e->kind != TIMELINE_WAIT && same_bar(&e->bar, &wait->bar) && takes_effect(e) <= end)
      found = later(found, e);
  }
  return found;
}

static bool passes(const TimelineEvent *e) {
  return e->stmt && e->stmt->kind == STMT_OP && op_facts(e->stmt->op.kind)->action == ACTION_PASS;
}

// A meeting ends for all who are there at once, and the warp that began it last was waited for, or
// one that arrived then and went on.
static const TimelineEvent *ender_of_meeting(const Timeline *timeline, const TimelineEvent *wait) {
  const TimelineEvent *found = wait;
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *e = &timeline->event[i];
    const bool met = e->kind == TIMELINE_MEET && fabs(e->end - wait->end) < slack;
    const bool passed = passes(e) && fabs(e->begin - wait->end) < slack;
    if ((met || passed) && e->begin >= found->begin) found = e;
  }
  return found == wait ? NULL : found;
}

static const TimelineEvent *ender_of_group(const Timeline *timeline, const TimelineEvent *wait) {
  const TimelineEvent *found = NULL;
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *e = &timeline->event[i];
    if (e->warp == wait->warp && !timeline_kind_waits(e->kind) && e->kind != TIMELINE_SIGNAL &&
        e->order < wait->order && e->end <= wait->end + slack && (!found || e->end >= found->end))
      found = e;
  }
  return found;
}

static const TimelineEvent *ender_of(const Timeline *timeline, const TimelineEvent *wait) {
  if (wait->stuck) return NULL;
  if (wait->kind == TIMELINE_MEET) return ender_of_meeting(timeline, wait);
  return wait->bar.buffer ? ender_at_bar(timeline, wait) : ender_of_group(timeline, wait);
}

// ---- for ever -----------------------------------------------------------------------------------

static const TimelineEvent *stuck_of(const Timeline *timeline, int warp) {
  for (int i = timeline->n_events - 1; i >= 0; i--)
    if (timeline->event[i].warp == warp && timeline->event[i].stuck) return &timeline->event[i];
  return NULL;
}

// Whether a condition keeps the other CTA of a pair out: m_c == 0 that of rank 1.
static bool keeps_out(const Expr *e, int rank) {
  if (e->op == EXPR_LAND) return keeps_out(e->a, rank) || keeps_out(e->b, rank);
  if (e->op != EXPR_EQ || e->a->op != EXPR_VAR || e->b->op != EXPR_CONST) return false;
  return e->a->var->tier == TIER_CLUSTER && e->b->value != rank;
}

// Whether a list, of the role that a warp plays, has a statement that counts at an mbarrier.
static bool would_arrive(const Stmt *list, const WarpRole *role, int rank, const Buffer *bar) {
  for (const Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (stmt->role && stmt->role != role) continue;
    if (stmt->kind == STMT_IF && keeps_out(stmt->expr, rank)) continue;
    if (stmt->body && would_arrive(stmt->body, role, rank, bar)) return true;
    if (stmt->kind != STMT_OP) continue;
    const Op *op = &stmt->op;
    const OpAction action = op_facts(op->kind)->action;
    const bool counts = action == ACTION_SIGNAL || action == ACTION_EXPECT;
    if (op->src2.buffer == bar || (counts && op->dst.buffer == bar)) return true;
  }
  return false;
}

static const WarpRole *role_of(const Timeline *timeline, int warp) {
  const Kernel *kernel = program_main(timeline->program);
  const int64_t thread = (int64_t)timeline_warp(timeline, warp) * LANES;
  for (int i = 0; i < kernel->n_roles; i++)
    if (thread >= kernel->role[i]->first_thread &&
        thread < kernel->role[i]->first_thread + kernel->role[i]->n_threads)
      return kernel->role[i];
  return NULL;
}

// Warps that stand at the same wait for ever are one link.
static bool is_in(const Timeline *timeline, const TimelineChain *chain, int warp) {
  const TimelineEvent *stuck = stuck_of(timeline, warp);
  for (int i = 0; i < chain->n; i++) {
    const TimelineEvent *wait = chain->link[i].wait;
    if (chain->link[i].warp == warp) return true;
    if (stuck && wait->stuck && wait->stmt == stuck->stmt && same_bar(&wait->bar, &stuck->bar))
      return true;
  }
  return false;
}

// Whether a warp that waits for ever elsewhere would end a wait: by a statement for its mbarrier,
// or by coming to its barrier.
static bool would_end(const Timeline *timeline, int warp, const TimelineEvent *wait) {
  const TimelineEvent *stuck = stuck_of(timeline, warp);
  const int rank = timeline_rank(timeline, warp);
  if (warp == wait->warp || !stuck) return false;
  if (wait->bar.buffer)
    return would_arrive(program_main(timeline->program)->body, role_of(timeline, warp), rank,
                        wait->bar.buffer);
  const bool cluster = op_facts(wait->stmt->op.kind)->scope == SCOPE_CLUSTER;
  return wait->kind == TIMELINE_MEET && stuck->kind != TIMELINE_MEET &&
         (cluster || rank == timeline_rank(timeline, wait->warp));
}

// One that is not in the chain yet, else one that is; of the own block before another's.
static int who_would_end(const Timeline *timeline, const TimelineChain *chain,
                         const TimelineEvent *wait) {
  const int each = timeline->n_warps / timeline->n_blocks;
  const int own = timeline_rank(timeline, wait->warp) * each;
  int known = -1;
  for (int i = 0; i < timeline->n_warps; i++) {
    const int warp = (own + i) % timeline->n_warps;
    if (!would_end(timeline, warp, wait)) continue;
    if (!is_in(timeline, chain, warp)) return warp;
    known = warp;
  }
  return known;
}

// Some have arrived and not all, or all have and not their bytes: what those of the chain do for it
// they have done.
static bool is_root(const TimelineEvent *wait) {
  const TimelineBar *bar = &wait->bar;
  return bar->buffer && ((bar->arrived > 0 && bar->arrived < bar->expected) ||
                         (bar->arrived >= bar->expected && bar->landed != bar->bytes));
}

// ---- the chain ----------------------------------------------------------------------------------

// The warp to look at next; -1: the chain ends.
static int next_of(const Timeline *timeline, TimelineChain *chain, const TimelineLink *link) {
  if (link->wait->stuck) return who_would_end(timeline, chain, link->wait);
  const bool to_come =
      link->ender && link->ender->warp != link->warp && link->ender->begin > chain->clock;
  return to_come ? link->ender->warp : -1;
}

TimelineChain timeline_chain(const Timeline *timeline, int warp, double clock) {
  TimelineChain chain = {.clock = clock};
  while (warp >= 0 && chain.n < TIMELINE_CHAIN_MAX) {
    chain.circle = is_in(timeline, &chain, warp);
    if (chain.circle) return chain;
    const TimelineEvent *e = wait_at(timeline, warp, clock);
    if (!e) return chain;
    TimelineLink *link = &chain.link[chain.n++];
    *link = (TimelineLink){warp, e, ender_of(timeline, e)};
    if (e->stuck && is_root(e)) return chain;
    warp = next_of(timeline, &chain, link);
  }
  return chain;
}

TimelineChain timeline_stuck_chain(const Timeline *timeline) {
  TimelineChain best = {0};
  double end = 0;
  for (int i = 0; i < timeline->n_events; i++)
    if (timeline->event[i].stuck) end = fmax(end, timeline->event[i].end);
  for (int warp = 0; timeline->n_stuck && warp < timeline->n_warps; warp++) {
    const TimelineChain chain = timeline_chain(timeline, warp, end);
    const bool stuck = chain.n && chain.link[0].wait->stuck;
    if (stuck && (!best.n || (best.circle && !chain.circle) ||
                  (best.circle == chain.circle && chain.n > best.n)))
      best = chain;
  }
  return best;
}

// ---- in words -----------------------------------------------------------------------------------

// "consumer 4"; of a block of a cluster "1:consumer 4"; "warp 4" where warps have no roles.
static const char *timeline_warp_name(Arena *arena, const Timeline *timeline, int warp) {
  const char *role = timeline_role(timeline, warp);
  const int at = timeline_warp(timeline, warp);
  if (timeline->n_blocks < 2) return arena_printf(arena, "%s %d", role ? role : "warp", at);
  return arena_printf(arena, "%d:%s %d", timeline_rank(timeline, warp), role ? role : "warp", at);
}

static const char *slab_said(Arena *arena, const TimelineEvent *e) {
  return e->slab >= 0 ? arena_printf(arena, "slab %lld", (long long)e->slab) : "what it copies";
}

// The last link of a chain that ends in an event which is under way or will come.
static void say_ender(Str *out, Arena *arena, const Timeline *timeline, const TimelineLink *link,
                      double clock) {
  const TimelineEvent *e = link->ender;
  const char *who = timeline_warp_name(arena, timeline, e->warp);
  const double begin = timeline_clock(timeline, e->begin), end = begin + (e->end - e->begin);
  if (e->kind == TIMELINE_COPY && e->begin <= clock)
    str_printf(out, ": %s is on its way, asked for by %s at clock %.0f, there at %.0f",
               slab_said(arena, e), who, begin, end);
  else if (e->warp == link->warp)
    str_printf(out, ", until clock %.0f", end);
  else if (e->begin <= clock)
    str_printf(out, ": %s has signalled at clock %.0f", who, begin);
  else
    str_printf(out, ": %s will end that at clock %.0f", who, begin);
}

// "which expects 5 arrivals and gets 4": why the last wait does not end.
static void say_lack(Str *out, const TimelineChain *chain, const TimelineEvent *wait) {
  const TimelineBar *bar = &wait->bar;
  if (!bar->buffer) {
    str_add(out, ", and no warp that is left comes there");
  } else if (bar->arrived > 0 && bar->arrived < bar->expected) {
    str_printf(out, ", which expects %lld arrivals and gets %lld", (long long)bar->expected,
               (long long)bar->arrived);
  } else if (bar->arrived >= bar->expected && bar->landed != bar->bytes) {
    str_printf(out, ", which expects %lld bytes and gets %lld", (long long)bar->bytes,
               (long long)bar->landed);
  } else if (chain->circle) {
    str_add(out, ": they wait for each other");
  } else {
    str_printf(out, ": phase %u is under way, and no warp that is left will end it", bar->phase);
  }
}

static const char *waits_for(Arena *arena, const TimelineLink *link) {
  if (!link->ender || link->ender->warp != link->warp) return timeline_waits_for(arena, link->wait);
  return link->ender->kind == TIMELINE_MULTIPLY ? "its own products" : "its own copies";
}

const char *timeline_chain_text(Arena *arena, const Timeline *timeline,
                                const TimelineChain *chain) {
  Str out = str_new(arena);
  if (!chain->n) return "";
  for (int i = 0; i < chain->n; i++) {
    const TimelineLink *link = &chain->link[i];
    str_printf(&out, "%s%s%s waits for %s", i ? "; " : "",
               timeline_warp_name(arena, timeline, link->warp), i ? ", which would end that," : "",
               waits_for(arena, link));
  }
  const TimelineLink *last = &chain->link[chain->n - 1];
  if (last->wait->stuck)
    say_lack(&out, chain, last->wait);
  else if (last->ender)
    say_ender(&out, arena, timeline, last, chain->clock);
  else if (last->wait->bar.buffer)
    str_add(&out, ", which has ended already");
  return out.text;
}

// Facts of a program (skeleton_checks.h) → the list of what its kernel must contain, line by line.
//
// Two tables are here: who reaches a statement (one thread, one whole warp), and the rest, each a
// function; what must stand in front of or behind what is that of skeleton_order.c. A row is asked
// where the program has what it is about: no line of tensor memory where there is none.
//
// Worked example, article 004's step 7 with its barriers initialised under wg_id == 1: thread 0 is
// none of those, so no thread reaches `init acc_full[0]`:
//   wrong   one thread of the block initialises the mbarriers   no thread passes its conditions
#include "model/readings/rules/skeleton.h"

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/stmt.h"
#include "model/readings/rules/skeleton_checks.h"

const char *skeleton_part_name(SkeletonPart part) {
  static const char *const names[SKELETON_PARTS] = {"before the roles", "phases",
                                                    "fetching slabs",   "multiplying",
                                                    "writing C",        "after the roles"};
  return names[part];
}

const char *skeleton_state_name(SkeletonState state) {
  static const char *const names[] = {"ok", "missing", "wrong"};
  return names[state];
}

// ---- who reaches a statement --------------------------------------------------------------------

// lanes: of each warp that reaches it; threads: of the block, 0: any number.
static const struct {
  SkeletonPart part;
  const char *asked;
  OpKind kind;
  BufferRole dst;
  int lanes;
  int64_t threads;
  bool apart;  // stands in no role
} reached[] = {
    {SKELETON_BEGIN, "one thread of the block initialises the mbarriers, in no role", OP_MBAR_INIT,
     ROLE_COUNT, 1, 1, true},
    {SKELETON_BEGIN, "one whole warp allocates tensor memory, with no lane guard", OP_T_ALLOC,
     ROLE_COUNT, LANES, LANES, true},
    {SKELETON_FETCH, "one thread expects the bytes", OP_MBAR_EXPECT, ROLE_COUNT, 1, 0, false},
    {SKELETON_FETCH, "one thread asks for the boxes", OP_TMA_LOAD, ROLE_COUNT, 1, 0, false},
    {SKELETON_MULTIPLY, "one thread of a warp asks for the products", OP_T_MMA, ROLE_COUNT, 1, 0,
     false},
    {SKELETON_MULTIPLY, "and the same one commits them", OP_T_COMMIT, ROLE_COUNT, 1, 0, false},
    {SKELETON_WRITE, "one thread sends the boxes bound for C", OP_TMA_STORE, ROLE_COUNT, 1, 0,
     false},
    {SKELETON_END, "one whole warp gives tensor memory back, with no lane guard", OP_T_FREE,
     ROLE_COUNT, LANES, LANES, true},
};
enum { N_REACHED = sizeof reached / sizeof *reached };

static const char *who_does(Arena *arena, const StmtFacts *facts, int lanes, bool apart) {
  if (facts->threads == 0) return "no thread of the first CTA meets its conditions";
  if (apart && facts->role) return arena_printf(arena, "it is in the role %s", facts->role->name);
  if (facts->lanes != lanes)
    return arena_printf(arena, "%d lane%s of a warp do%s", facts->lanes, plural_s(facts->lanes),
                        facts->lanes == 1 ? "es" : "");
  return arena_printf(arena, "%lld threads do", (long long)facts->threads);
}

// Every statement of this work: the first that is wrong is told.
static bool check_reached(const Asked *a, int row) {
  const SkeletonFacts *f = a->facts;
  const OpKind kind = reached[row].kind;
  const StmtFacts *first = skeleton_find(f, kind, reached[row].dst, WORK_COUNT, 0), *at = first;
  if (!first && kind == OP_T_FREE && skeleton_find(f, OP_T_ALLOC, ROLE_COUNT, WORK_COUNT, 0)) {
    skeleton_missing(a, NULL);
    return true;
  }
  for (; at; at = skeleton_find(f, kind, reached[row].dst, WORK_COUNT, at->place)) {
    const bool many = reached[row].threads && at->threads != reached[row].threads;
    if (at->lanes == reached[row].lanes && !many && !(reached[row].apart && at->role)) continue;
    skeleton_wrong(a, at->stmt, who_does(f->arena, at, reached[row].lanes, reached[row].apart));
    return true;
  }
  skeleton_ok(a, skeleton_stmt(first));
  return first != NULL;
}

// ---- the rest -----------------------------------------------------------------------------------

static bool asks_for_memory(const Asked *a) {
  const int64_t asked = program_smem_asked(a->facts->program);
  const int64_t laid = program_smem_bytes(a->facts->program);
  if (asked < laid)
    skeleton_wrong(a, NULL,
                   arena_printf(a->facts->arena, "%lld bytes are laid out, %lld asked for",
                                (long long)laid, (long long)asked));
  return laid > 0;
}

static bool all_are_initialised(const Asked *a) {
  for (int i = 0; i < a->facts->n_barriers; i++) {
    const PhaseFacts *phases = &a->facts->barrier[i];
    if (phases->init) {
      skeleton_ok(a, phases->init);
      continue;
    }
    skeleton_missing(a, phases->wait);
    a->line->found =
        arena_printf(a->facts->arena, "no thread reaches that of %s", phases->buffer->name);
    return true;
  }
  return a->facts->n_barriers > 0;
}

// One of the same thread, behind the last initialisation.
static bool inits_are_fenced(const Asked *a) {
  const SkeletonFacts *f = a->facts;
  const StmtFacts *init = skeleton_find_last(f, OP_MBAR_INIT, ROLE_COUNT, WORK_COUNT);
  const StmtFacts *fence = skeleton_find_last(f, OP_MBAR_FENCE, ROLE_COUNT, WORK_COUNT);
  if (!init) return false;
  if (!fence)
    skeleton_missing(a, init->stmt);
  else if (fence->place < init->place)
    skeleton_wrong(a, fence->stmt, "it comes before the last of them");
  else
    skeleton_ok(a, fence->stmt);
  return true;
}

static bool counts_agree(const Asked *a) {
  for (int i = 0; i < a->facts->n_barriers; i++) {
    const PhaseFacts *phases = &a->facts->barrier[i];
    skeleton_ok(a, phases->init);
    if (!phases->init || phases->awaited == phases->arrivals) continue;
    skeleton_wrong(a, phases->init,
                   arena_printf(a->facts->arena, "%s expects %lld, %lld come", phases->buffer->name,
                                (long long)phases->awaited, (long long)phases->arrivals));
    return true;
  }
  return a->facts->n_barriers > 0;
}

// One thread of a warp acts in that role: elect.sync says which one, and the whole warp asks.
// A kernel that picks threads by their numbers throughout is right too.
static bool is_elected(const Asked *a, RoleWork work) {
  const SkeletonFacts *f = a->facts;
  const StmtFacts *first = NULL;
  for (int i = 0; i < f->n; i++) {
    const StmtFacts *s = &f->stmt[i];
    if (!s->role || s->role->work != work || !skeleton_is_issued(s)) continue;
    if (!first) first = s;
    if (s->elects && s->whole) continue;
    skeleton_wrong(
        a, s->stmt,
        s->elects ? "only a part of a warp asks it" : "the thread is named by its number");
    return skeleton_elects(f);
  }
  skeleton_ok(a, skeleton_stmt(first));
  return first && skeleton_elects(f);
}

static bool fetcher_is_elected(const Asked *a) { return is_elected(a, WORK_FETCHES); }
static bool asker_is_elected(const Asked *a) { return is_elected(a, WORK_MULTIPLIES); }
static bool writer_is_elected(const Asked *a) { return is_elected(a, WORK_WRITES); }

// A box that several CTAs get overwrites what each of them reads.
static bool all_are_told(const Asked *a) {
  const PhaseFacts *full = skeleton_phases(a->facts, ROLE_FULL);
  const PhaseFacts *empty = skeleton_phases(a->facts, ROLE_EMPTY);
  if (!full || !empty || full->filled < 2) return false;
  const StmtFacts *arrives = skeleton_find(a->facts, OP_MBAR_ARRIVE, ROLE_EMPTY, WORK_COUNT, 0);
  skeleton_ok(a, skeleton_stmt(arrives));
  if (empty->told < full->filled)
    skeleton_wrong(a, skeleton_stmt(arrives),
                   arena_printf(a->facts->arena, "boxes go to %d CTAs, %d %s told", full->filled,
                                empty->told, empty->told == 1 ? "is" : "are"));
  return true;
}

static bool is_meeting(const StmtFacts *facts) {
  const Op *op = &facts->stmt->op;
  return !facts->role &&
         (op->kind == OP_CLUSTER_BARRIER || (op->kind == OP_BARRIER && op->threads == 0));
}

// Whether a CTA acts on what lies in another's shared or tensor memory.
static bool reaches_others(const SkeletonFacts *facts) {
  for (int i = 0; i < facts->n; i++) {
    const Op *op = &facts->stmt[i].stmt->op;
    if (op->ranks || op->cta_group > 1 || op->dst.rank || op->src.rank) return true;
  }
  return false;
}

static int first_in_role(const SkeletonFacts *facts) {
  for (int i = 0; i < facts->n; i++)
    if (facts->stmt[i].role) return facts->stmt[i].place;
  return facts->n + 1;
}

static int last_in_role(const SkeletonFacts *facts) {
  for (int i = facts->n - 1; i >= 0; i--)
    if (facts->stmt[i].role) return facts->stmt[i].place;
  return 0;
}

// A meeting of all between two places; of a cluster whose CTAs reach each other, its own.
static void ask_meeting(const Asked *a, int from, int to, const Stmt *at) {
  const SkeletonFacts *f = a->facts;
  const bool cluster = reaches_others(f);
  const StmtFacts *found = NULL;
  for (int i = 0; i < f->n; i++) {
    const StmtFacts *s = &f->stmt[i];
    if (s->place <= from || s->place >= to || !is_meeting(s)) continue;
    if (!found || s->stmt->op.kind == OP_CLUSTER_BARRIER) found = s;
  }
  if (!found)
    skeleton_missing(a, at);
  else if (cluster && found->stmt->op.kind != OP_CLUSTER_BARRIER)
    skeleton_wrong(a, found->stmt,
                   "CTAs reach each other's memory, but the threads of only one "
                   "meet");
  else
    skeleton_ok(a, found->stmt);
}

// Initialised, allocated, then met, then used.
static bool meets_before(const Asked *a) {
  const SkeletonFacts *f = a->facts;
  const StmtFacts *init = skeleton_find_last(f, OP_MBAR_INIT, ROLE_COUNT, WORK_COUNT);
  const StmtFacts *alloc = skeleton_find_last(f, OP_T_ALLOC, ROLE_COUNT, WORK_COUNT);
  if (!init && !alloc) return false;
  const int from = max_int(init ? init->place : 0, alloc ? alloc->place : 0);
  int first = first_in_role(f);
  const StmtFacts *use = skeleton_find(f, OP_MBAR_WAIT, ROLE_COUNT, WORK_COUNT, from);
  if (!skeleton_has_roles(f) && use) first = use->place;
  ask_meeting(a, from, first, skeleton_stmt(alloc ? alloc : init));
  return true;
}

static bool meets_behind(const Asked *a) {
  const SkeletonFacts *f = a->facts;
  const StmtFacts *freed = skeleton_find(f, OP_T_FREE, ROLE_COUNT, WORK_COUNT, 0);
  const StmtFacts *read = skeleton_find_last(f, OP_T_LD, ROLE_COUNT, WORK_COUNT);
  if (!freed && !reaches_others(f)) return false;
  const int from = max_int(last_in_role(f), read ? read->place : 0);
  ask_meeting(a, from, freed ? freed->place : f->n + 1, skeleton_stmt(freed));
  return true;
}

static bool gives_all_back(const Asked *a) {
  const SkeletonFacts *f = a->facts;
  const StmtFacts *alloc = skeleton_find(f, OP_T_ALLOC, ROLE_COUNT, WORK_COUNT, 0);
  const StmtFacts *freed = skeleton_find(f, OP_T_FREE, ROLE_COUNT, WORK_COUNT, 0);
  if (!alloc || !freed) return false;
  const Op *had = &alloc->stmt->op, *given = &freed->stmt->op;
  skeleton_ok(a, freed->stmt);
  if (had->columns != given->columns || had->cta_group != given->cta_group)
    skeleton_wrong(
        a, freed->stmt,
        arena_printf(f->arena, "%lld columns of %d CTA%s were allocated, %lld of %d are freed",
                     (long long)had->columns, max_int(had->cta_group, 1),
                     had->cta_group > 1 ? "s" : "", (long long)given->columns,
                     max_int(given->cta_group, 1)));
  return true;
}

// The first phase that is asked for at the mbarriers of two roles.
static bool begins_with(const Asked *a, BufferRole one, BufferRole other, int64_t phase) {
  const BufferRole roles[] = {one, other};
  bool any = false;
  for (int i = 0; i < 2; i++) {
    const PhaseFacts *phases = skeleton_phases(a->facts, roles[i]);
    if (!phases || !phases->wait) continue;
    any = true;
    skeleton_ok(a, phases->wait);
    if (phases->first_phase == phase) continue;
    skeleton_wrong(a, phases->wait,
                   arena_printf(a->facts->arena, "%s is asked for phase %lld", phases->buffer->name,
                                (long long)phases->first_phase));
    return true;
  }
  return any;
}

static bool free_begins_with_1(const Asked *a) {
  return begins_with(a, ROLE_EMPTY, ROLE_ACC_EMPTY, 1);
}

static bool filled_begins_with_0(const Asked *a) {
  return begins_with(a, ROLE_FULL, ROLE_ACC_FULL, 0);
}

static bool bytes_agree(const Asked *a) {
  const PhaseFacts *full = skeleton_phases(a->facts, ROLE_FULL);
  if (!full || !full->bytes) return false;
  skeleton_ok(a, full->expect);
  if (full->expected != full->bytes)
    skeleton_wrong(a, full->expect,
                   arena_printf(a->facts->arena, "%lld bytes are expected, the boxes have %lld",
                                (long long)full->expected, (long long)full->bytes));
  return true;
}

// ---- roles against each other -------------------------------------------------------------------

static const Stmt *loop_in_role(const Stmt *list, Tier tier) {
  for (const Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (stmt->kind == STMT_LOOP && stmt->var->tier == tier) return stmt;
    const Stmt *inner = stmt->body ? loop_in_role(stmt->body, tier) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

// The loops of a tier in all roles that have one go on alike.
static bool go_alike(const Asked *a, Tier tier, const char *what) {
  const Stmt *first = NULL, *of = NULL;
  for (const Stmt *role = a->facts->launch.body; role; role = role->next) {
    const Stmt *loop = role->role ? loop_in_role(role->body, tier) : NULL;
    if (!loop) continue;
    if (!first) first = loop, of = role;
    skeleton_ok(a, first);
    if (loop->var->extent == first->var->extent) continue;
    skeleton_wrong(a, loop,
                   arena_printf(a->facts->arena, "%s goes through %lld %s, %s through %lld",
                                role->role->name, (long long)loop->var->extent, what,
                                of->role->name, (long long)first->var->extent));
    return true;
  }
  return first != NULL;
}

static bool tiles_alike(const Asked *a) { return go_alike(a, TIER_TILE, "tiles"); }
static bool slabs_alike(const Asked *a) { return go_alike(a, TIER_SERIAL_OUTER, "slabs"); }

static bool no_block_barrier(const Asked *a) {
  const SkeletonFacts *f = a->facts;
  for (int i = 0; i < f->n; i++) {
    const StmtFacts *s = &f->stmt[i];
    const Op *op = &s->stmt->op;
    if (!s->role || op->kind != OP_BARRIER) continue;
    skeleton_ok(a, s->stmt);
    if (op->threads) continue;
    skeleton_wrong(a, s->stmt,
                   arena_printf(f->arena, "%s meets at that of all threads", s->role->name));
    return true;
  }
  return skeleton_has_roles(f);
}

static const struct {
  SkeletonPart part;
  const char *asked;
  bool (*check)(const Asked *);  // false: it is not asked
} others[] = {
    {SKELETON_BEGIN, "the launch asks for all shared memory that the layout needs",
     asks_for_memory},
    {SKELETON_BEGIN, "every mbarrier is initialised", all_are_initialised},
    {SKELETON_BEGIN, "each expects exactly the arrivals that come", counts_agree},
    {SKELETON_BEGIN, "fence.mbarrier_init after the last initialisation, by the same thread",
     inits_are_fenced},
    {SKELETON_BEGIN,
     "then all threads meet; in a cluster whose CTAs reach each other, all of "
     "the cluster",
     meets_before},
    {SKELETON_PHASES, "the first wait for an empty slot names phase 1, which counts as ended",
     free_begins_with_1},
    {SKELETON_PHASES, "the first wait for data names phase 0, which has not ended",
     filled_begins_with_0},
    {SKELETON_PHASES, "every role goes through the same tiles", tiles_alike},
    {SKELETON_PHASES, "every role goes through the same slabs of K", slabs_alike},
    {SKELETON_PHASES, "no role waits at the barrier of the whole block", no_block_barrier},
    {SKELETON_FETCH, "elect.sync picks the thread that fetches, and its whole warp asks it",
     fetcher_is_elected},
    {SKELETON_FETCH, "the expected bytes are the bytes of the boxes", bytes_agree},
    {SKELETON_MULTIPLY, "elect.sync picks the thread that asks, and its whole warp asks it",
     asker_is_elected},
    {SKELETON_WRITE, "elect.sync picks the thread that sends boxes, and its whole warp asks it",
     writer_is_elected},
    {SKELETON_MULTIPLY, "every CTA whose boxes fill the slot gets an arrival when it has been read",
     all_are_told},
    {SKELETON_END, "then all threads meet, before anything is freed", meets_behind},
    {SKELETON_END, "exactly the allocated columns are freed", gives_all_back},
};
enum { N_OTHERS = sizeof others / sizeof *others };

// ---- the list -----------------------------------------------------------------------------------

static void add(Skeleton *out, bool asked, const SkeletonLine *line) {
  if (!asked || out->n == SKELETON_LINES_MAX) return;
  out->line[out->n++] = *line;
  out->n_bad += line->state != SKELETON_OK;
}

static int place_of(const SkeletonFacts *facts, const Stmt *stmt) {
  for (int i = 0; i < facts->n; i++)
    if (facts->stmt[i].stmt == stmt) return facts->stmt[i].place;
  return 0;
}

// As the statements that answer them follow each other; of those in one place as they were added.
static void sort_lines(const SkeletonFacts *facts, SkeletonLine *line, int n) {
  for (int i = 1; i < n; i++)
    for (int k = i; k > 0; k--) {
      const SkeletonLine before = line[k - 1];
      if (place_of(facts, before.at) <= place_of(facts, line[k].at)) break;
      line[k - 1] = line[k];
      line[k] = before;
    }
}

// Those of a part: who reaches what, what else there is, and orders.
static void add_part(Skeleton *out, const SkeletonFacts *facts, SkeletonPart part) {
  const int first = out->n;
  for (int i = 0; i < N_REACHED; i++) {
    SkeletonLine line = {.part = part, .asked = reached[i].asked};
    const Asked a = {facts, &line};
    if (reached[i].part == part) add(out, check_reached(&a, i), &line);
  }
  for (int i = 0; i < N_OTHERS; i++) {
    SkeletonLine line = {.part = part, .asked = others[i].asked};
    const Asked a = {facts, &line};
    if (others[i].part == part) add(out, others[i].check(&a), &line);
  }
  for (int i = 0; i < skeleton_n_orders; i++) {
    SkeletonLine line = {.part = part};
    const Asked a = {facts, &line};
    if (skeleton_order_part(i) == part) add(out, skeleton_check_order(&a, i), &line);
  }
  if (part != SKELETON_PHASES) sort_lines(facts, &out->line[first], out->n - first);
}

const Skeleton *skeleton_of(Arena *arena, const Program *program) {
  Skeleton *out = ARENA_NEW(arena, Skeleton);
  const SkeletonFacts facts = skeleton_facts(arena, program);
  const bool has_tensor = skeleton_find(&facts, OP_T_MMA, ROLE_COUNT, WORK_COUNT, 0) != NULL;
  if (!skeleton_has_roles(&facts) && !has_tensor) return out;
  for (int part = 0; part < SKELETON_PARTS; part++) add_part(out, &facts, (SkeletonPart)part);
  return out;
}

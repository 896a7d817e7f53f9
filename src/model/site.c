// Sites: which shared-memory words a warp asks for, statement by statement.
//
// The main kernel is walked once per warp with an environment for its 32 lanes: hardware digits
// from the thread index, LETs evaluated, k_o at its first iteration, IFs switching lanes off. The
// address is the access's own offset expression, so what is counted here is what the emitter
// prints. Of all warps and iterations the one with the most wavefronts is kept.
//
// A loop that moves the addresses of all lanes alike, by whole words, only turns the banks round:
// its first iteration stands for all of them. Worked example, copies of rows of 44 floats: i stands
// in (tid + 256 · i) / 11 and % 11, so each of its iterations is looked at; r of a <- A_s[k_i, m_t
// · 8 + r] moves everybody by 4 bytes, and is not.
//
// Worked example, b <- B_s, n_t = 0…15, FN = 8, 16-byte reads at byte 32·n_t: quarter-warps of
// eight lanes ask for chunks 0, 2, 4, … 14, so lanes 0 and 4 meet on banks 0–3: 8 wavefronts,
// ideal 4.
#include <assert.h>
#include <string.h>

#include "base/whole.h"
#include "model/derive.h"
#include "model/lanes.h"
#include "model/rewrite.h"

enum { SITES_MAX = 32, LOOPS_MAX = 16, VISITS_MAX = 1024, TURNS_MIN = 2 };
_Static_assert((int)LANES == (int)BANK_LANES, "a lane of the program is a lane of the banks");

typedef enum Pace { UNKNOWN, EVEN, UNEVEN } Pace;  // whether all of them cost alike

typedef struct Walk {
  Arena *arena;
  Launch launch;
  int warp;
  int64_t *env;  // [n_vars][32]
  const Stmt *k_o;
  bool in_loop;                // inside k_o
  double executions;           // of the statement at hand by one warp, per slab
  double weight;               // how many of them this visit stands for
  bool first;                  // the first iteration of every loop around it
  const Var *loop[LOOPS_MAX];  // around it, inside k_o
  int n_loops;
  Pace *pace;           // by statement: of a loop's iterations
  int64_t room;         // iterations of the loops around it that may still be multiplied
  const Expr **offset;  // by statement: of a global source; NULL until it is asked for
  Site *site;
  int n_sites;
  bool *prologue;  // per site
  double lines;
} Walk;

static const BankOp *bank_op(Arena *arena, const Op *op, const Buffer *shared, bool store) {
  int bits = 8 * op->width * dtype_bytes(shared->type);
  const char *name = arena_printf(arena, "%s%d", store ? "sts" : "lds", bits);
  if (op->kind == OP_CP_ASYNC) name = arena_printf(arena, "cpasync%d", bits / 8);
  if (op->kind == OP_LDMATRIX)
    name = arena_printf(arena, "ldsm_x%lld%s", (long long)op->count, op->trans ? "t" : "");
  return banks_op_find(name);
}

static void site_addresses(Walk *walk, const Site *site, const bool *active, int64_t *addr) {
  expr_eval_warp(site->address, walk->env, addr);
  for (int lane = 0; lane < LANES; lane++)
    if (!active[lane]) addr[lane] = BANK_INACTIVE;
}

static Site new_site(Walk *walk, const Stmt *stmt, const Access *shared, bool store) {
  const Op *op = &stmt->op;
  const Expr *offset = access_offset(walk->arena, shared);
  const Expr *address = ex_add_const(
      walk->arena, ex_mul_const(walk->arena, offset, dtype_bytes(shared->buffer->type)),
      shared->buffer->offset_bytes);
  const BankOp *bank = bank_op(walk->arena, op, shared->buffer, store);
  return (Site){.stmt = stmt,
                .op = bank,
                .is_store = store,
                .slab = shared->buffer,
                .address = address,
                .executions = walk->in_loop ? walk->executions : 0,
                .text = arena_printf(walk->arena, "%s <- %s  %s", op->dst.buffer->name,
                                     op->src.buffer->name, bank->sass)};
}

static int find_site(const Walk *walk, const Stmt *stmt, bool store) {
  int at = 0;
  while (at < walk->n_sites && (walk->site[at].stmt != stmt || walk->site[at].is_store != store))
    at++;
  return at;
}

static void pay(const Walk *walk, Site *site, const BankCount *count, const bool *active) {
  int n_active = 0;
  for (int lane = 0; lane < LANES; lane++) n_active += active[lane];
  if (!walk->in_loop || n_active == 0) return;
  double bytes = (double)n_active * site->op->bytes;
  site->clocks += walk->weight * (count->known ? count->wavefronts : bytes / BANK_LINE_BYTES);
  site->ideal += walk->weight * count->ideal;
}

// The first visit adds the site; the others look whether they fare worse.
static void visit_site(Walk *walk, const Stmt *stmt, const Access *shared, bool store,
                       const bool *active) {
  int index = find_site(walk, stmt, store);
  if (index >= SITES_MAX) return;
  Site *site = &walk->site[index];
  bool is_new = index == walk->n_sites;
  if (is_new) {
    *site = new_site(walk, stmt, shared, store);
    walk->prologue[index] = !walk->in_loop;
    walk->n_sites++;
  }
  int64_t addr[LANES];
  site_addresses(walk, site, active, addr);
  BankCount count = banks_count(site->op, addr);
  pay(walk, site, &count, active);
  if (!is_new && count.wavefronts <= site->count.wavefronts) return;
  site->count = count;
  site->warp = walk->warp;
  memcpy(site->addr, addr, sizeof addr);
}

// A fragment read straight from global memory goes through L1, which shares its pipe with shared
// memory and answers one line per clock.
static bool reads_by_l1(const Op *op) {
  return op->kind == OP_LOAD && op->src.buffer->space == SPACE_GLOBAL &&
         buffer_is_fragment(op->dst.buffer);
}

// ---- loops --------------------------------------------------------------------------------------

// Whether an access meets other banks, or the same in another order, as `var` goes on: unless all
// its addresses move by the same whole number of words, or of its vectors; through L1, of lines.
static bool is_uneven(const Walk *walk, const Op *op, const Var *var) {
  const Access *side[] = {&op->dst, &op->src};
  for (int i = 0; i < 2; i++) {
    const Buffer *buffer = side[i]->buffer;
    bool by_l1 = i == 1 && reads_by_l1(op);
    if (!buffer || (buffer->space != SPACE_SHARED && !by_l1)) continue;
    int64_t stride, grain = op->width * dtype_bytes(buffer->type);
    if (!expr_stride(access_offset(walk->arena, side[i]), var, &stride)) return true;
    if (op->kind == OP_LDMATRIX) grain = 16;
    if (grain < BANK_WORD_BYTES) grain = BANK_WORD_BYTES;
    if (stride * dtype_bytes(buffer->type) % (by_l1 ? BANK_LINE_BYTES : grain)) return true;
  }
  return false;
}

static bool minds(const Walk *walk, const Stmt *list, const Var *var) {
  for (; list; list = list->next) {
    bool reads = list->kind == STMT_IF || list->kind == STMT_LET;
    if (reads && expr_uses(list->expr, var)) return true;
    if (list->kind == STMT_OP && is_uneven(walk, &list->op, var)) return true;
    if (list->body && minds(walk, list->body, var)) return true;
  }
  return false;
}

// How many iterations are looked at, and in which steps: all, as long as VISITS_MAX have room.
static int64_t turns_of(Walk *walk, const Stmt *loop, int64_t *step) {
  int64_t extent = loop->var->extent;
  *step = 1;
  if (!walk->in_loop) return 1;
  if (walk->pace[loop->id] == UNKNOWN)
    walk->pace[loop->id] = minds(walk, loop->body, loop->var) ? UNEVEN : EVEN;
  if (walk->pace[loop->id] == EVEN) return 1;
  *step = sample_step(extent, max64(walk->room, TURNS_MIN));
  return ceil_div(extent, *step);
}

static void walk_list(Walk *walk, const Stmt *list, const bool *active);

static void walk_turns(Walk *walk, const Stmt *stmt, int64_t turns, int64_t step,
                       const bool *active) {
  bool first = walk->first;
  int64_t room = walk->room;
  walk->room /= turns;
  for (int64_t i = 0; i < turns; i++) {
    lanes_set_all(walk->env, stmt->var, i * step);
    walk->first = first && i == 0;
    walk_list(walk, stmt->body, active);
  }
  walk->first = first;
  walk->room = room;
}

static void walk_loop(Walk *walk, const Stmt *stmt, const bool *active) {
  double executions = walk->executions, weight = walk->weight;
  bool slabs = stmt == walk->k_o || stmt->var->tier == TIER_SERIAL_OUTER;  // a producer's own
  int64_t step = 1, turns = slabs ? 1 : turns_of(walk, stmt, &step);
  if (slabs) {
    walk->in_loop = true;
    walk->executions = walk->weight = 1;
  } else {
    walk->executions *= (double)stmt->var->extent;
    walk->weight *= (double)stmt->var->extent / (double)turns;
    assert(walk->n_loops < LOOPS_MAX);
    walk->loop[walk->n_loops++] = stmt->var;
  }
  walk_turns(walk, stmt, turns, step, active);
  walk->executions = executions;
  walk->weight = weight;
  if (!slabs) walk->n_loops--;
  if (slabs) walk->in_loop = false;
}

// In how many of the iterations of the loops from `from` on some lane passes; all others stand at
// their first.
static int64_t count_passing(Walk *walk, const Expr *condition, const bool *active, int from) {
  while (from < walk->n_loops && !expr_uses(condition, walk->loop[from])) from++;
  int64_t value[LANES], n = 0;
  if (from == walk->n_loops) {
    expr_eval_warp(condition, walk->env, value);
    for (int i = 0; i < LANES; i++) n |= active[i] && value[i];
    return n;
  }
  const Var *var = walk->loop[from];
  for (int64_t at = var->extent - 1; at >= 0; at--) {
    lanes_set_all(walk->env, var, at);
    n += count_passing(walk, condition, active, from + 1);
  }
  return n;
}

// The share of the iterations that an IF lets through. Worked example, 8 copies dealt out among
// three k-steps: k_i · 3 + i < 8 holds in 8 of the 9 iterations of k_i and i.
static double passing_share(Walk *walk, const Expr *condition, const bool *active) {
  double all = 1;
  for (int i = 0; i < walk->n_loops; i++)
    if (expr_uses(condition, walk->loop[i])) all *= (double)walk->loop[i]->extent;
  return all == 1 ? 1 : (double)count_passing(walk, condition, active, 0) / all;
}

static void walk_if(Walk *walk, const Stmt *stmt, const bool *active) {
  bool inner[LANES];
  double before = walk->executions;
  if (walk->first && walk->warp == 0) walk->executions *= passing_share(walk, stmt->expr, active);
  lanes_pass(walk->env, stmt->expr, active, inner);
  walk_list(walk, stmt->body, inner);
  walk->executions = before;
}

static bool any_active(const bool *active) {
  bool any = false;
  for (int lane = 0; lane < LANES; lane++) any |= active[lane];
  return any;
}

// Distinct 128-byte lines behind the active lanes' addresses.
static int distinct_lines(const int64_t *offset, const bool *active, int bytes) {
  int64_t seen[LANES];
  int n = 0;
  for (int lane = 0; lane < LANES; lane++) {
    int64_t line = offset[lane] * bytes / BANK_LINE_BYTES;
    int at = 0;
    while (at < n && seen[at] != line) at++;
    if (active[lane] && at == n) seen[n++] = line;
  }
  return n;
}

static void count_lines(Walk *walk, const Stmt *stmt, const bool *active) {
  const Op *op = &stmt->op;
  int64_t offset[LANES];
  if (!walk->in_loop || !reads_by_l1(op)) return;
  if (!walk->offset[stmt->id]) walk->offset[stmt->id] = access_offset(walk->arena, &op->src);
  expr_eval_warp(walk->offset[stmt->id], walk->env, offset);
  int lines = distinct_lines(offset, active, dtype_bytes(op->src.buffer->type));
  walk->lines += lines * walk->weight;
}

// A box is written by nobody's lanes, a whole 128-byte line at a time: a swizzle permutes chunks
// inside of lines, so it conflicts with nothing and is no site.
static void count_box(Walk *walk, const Op *op, const bool *active) {
  if (!walk->in_loop || !any_active(active)) return;
  int64_t bytes = op->box[0] * op->box[1] * dtype_bytes(op->dst.buffer->type);
  walk->lines += (double)bytes / BANK_LINE_BYTES * walk->weight;
}

static void walk_op(Walk *walk, const Stmt *stmt, const bool *active) {
  const Access *side[] = {&stmt->op.dst, &stmt->op.src};
  count_lines(walk, stmt, active);
  if (stmt->op.kind == OP_TMA_LOAD) {
    count_box(walk, &stmt->op, active);
    return;
  }
  for (int i = 0; i < 2; i++)
    if (side[i]->buffer && side[i]->buffer->space == SPACE_SHARED)
      visit_site(walk, stmt, side[i], i == 0, active);
}

static void walk_list(Walk *walk, const Stmt *list, const bool *active) {
  for (; list; list = list->next) {
    switch (list->kind) {
      case STMT_LET:
        lanes_let(walk->env, list);
        break;
      case STMT_LOOP:
        walk_loop(walk, list, active);
        break;
      case STMT_IF:
        walk_if(walk, list, active);
        break;
      case STMT_OP:
        walk_op(walk, list, active);
        break;
    }
  }
}

// Is there a site inside the loop that does what this prologue site does?
static bool repeated(const Walk *walk, int index) {
  for (int i = 0; i < walk->n_sites; i++)
    if (!walk->prologue[i] && walk->site[i].slab == walk->site[index].slab &&
        walk->site[i].is_store == walk->site[index].is_store)
      return true;
  return false;
}

Sites derive_sites(Arena *arena, const Program *program) {
  const Kernel *kernel = program_main(program);
  Walk walk = {.arena = arena, .launch = kernel_launch(kernel)};
  walk.k_o = outer_k_loop(program);
  walk.env = ARENA_ARRAY(arena, int64_t, (size_t)program->n_vars * LANES);
  walk.site = ARENA_ARRAY(arena, Site, SITES_MAX);
  walk.prologue = ARENA_ARRAY(arena, bool, SITES_MAX);
  walk.pace = arena_alloc(arena, sizeof *walk.pace * (size_t)program->n_stmt_ids);
  walk.offset = ARENA_ARRAY(arena, const Expr *, program->n_stmt_ids);
  walk.executions = walk.weight = 1;
  int n_warps = launch_block_warps(&walk.launch);
  walk.room = VISITS_MAX / n_warps;
  for (int warp = 0; warp < n_warps; warp++) {
    bool active[LANES];
    walk.warp = warp;
    walk.first = true;
    lanes_enter(program, &walk.launch, 0, warp, walk.env, active);
    walk_list(&walk, walk.launch.body, active);
  }
  Site *kept = ARENA_ARRAY(arena, Site, SITES_MAX);
  int n = 0;
  for (int i = 0; i < walk.n_sites; i++) {
    if (walk.prologue[i] && repeated(&walk, i)) continue;
    kept[n] = walk.site[i];
    kept[n].number = n + 1;
    n++;
  }
  return (Sites){n, kept, walk.lines};
}

SiteTotals derive_totals(const Sites *sites) {
  SiteTotals totals = {0};
  for (int i = 0; i < sites->n; i++) {
    const Site *site = &sites->site[i];
    if (!site->count.known) continue;
    totals.wavefronts += site->clocks;
    totals.ideal += site->ideal;
    totals.n_conflicting += site->count.conflicts > 0;
  }
  return totals;
}

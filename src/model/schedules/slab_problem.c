// Program → the rows and columns that each access to one slab addresses, for all warps.
//
// site.c counts what the accesses cost in the layout there is. The cost of another layout depends
// on the rows and columns behind the addresses, so here the main kernel is walked again, warp after
// warp, every loop run to its end but k_o, which stands at its first iteration. At each access to
// the slab its row and column are evaluated for 32 lanes; the ring's slot, which moves all of them
// alike, is left out.
//
// Worked example, tf32 with B transposed: 8 warps store B_s[tid % 32 * 4 + v, c_b * 8 + tid / 32]
// for c_b in 0..2 and v in 0..4: 64 repetitions of sts32, row after row 32 ways, 2048 wavefronts.
//
// Which loops lead to the slab is settled once (`touches`), so the epilogue is never entered.
#include "model/schedules/slab_problem.h"

#include <string.h>

#include "banks/layouts/notation.h"
#include "base/str.h"
#include "base/whole.h"
#include "model/ir/lanes.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/passes/copy/slab_layout.h"

// ---- layouts as texts ---------------------------------------------------------------------------

// "swizzle:3:4:3", as a state line writes it, with commas; a whole text out of its quotes.
static const char *plain_text(Arena *arena, const char *typed) {
  size_t n = strlen(typed);
  bool quoted = n >= 2 && typed[0] == '\'' && typed[n - 1] == '\'';
  if (quoted) return arena_strndup(arena, typed + 1, n - 2);
  char *text = arena_strdup(arena, typed);
  for (char *c = text; str_starts(text, "swizzle:") && *c; c++)
    if (*c == ':' && c != text + strlen("swizzle")) *c = ',';
  return text;
}

const char *slab_layout_text(Arena *arena, const Schedule *schedule, const Buffer *slab) {
  int64_t pad = slab->stride[slab->rank - 2] - slab->dim[slab->rank - 1];
  if (slab->n_xor) return plain_text(arena, schedule->layout[slab->role == ROLE_SLAB_B]);
  if (slab->swizzle_bits)
    return arena_printf(arena, "swizzle:%d,%d,%d", slab->swizzle_bits, slab->swizzle_base,
                        slab->swizzle_shift);
  if (slab->run_pad && slab->run < slab->dim[slab->rank - 1])
    return arena_printf(arena, "pad:%lld,%lld", (long long)slab->run_pad, (long long)slab->run);
  return pad ? arena_printf(arena, "pad:%lld", (long long)pad) : "none";
}

const Layout *slab_layout_now(Arena *arena, const Schedule *schedule, const Buffer *slab,
                              Diags *diags) {
  LayoutSlab shape = slab_shape(slab);
  return layout_parse(arena, &shape, slab_layout_text(arena, schedule, slab), diags);
}

// ---- walking ------------------------------------------------------------------------------------

typedef struct Walk {
  Arena *arena;
  const Program *program;
  SlabProblem *out;
  const Stmt *k_o;
  bool *touches;   // by statement: it is, or contains, an access to the slab
  int64_t *env;    // [n_vars][32]
  int64_t *seen;   // [n_sites]: executions so far
  SlabSite *site;  // [n_sites]; NULL while executions are only counted
  int32_t (**logical)[LANES];
} Walk;

static const Access *slab_access_of(const Stmt *stmt, const Buffer *slab) {
  if (stmt->kind != STMT_OP) return NULL;
  if (stmt->op.dst.buffer == slab) return &stmt->op.dst;
  return stmt->op.src.buffer == slab ? &stmt->op.src : NULL;
}

static bool mark_touches(const Walk *walk, const Stmt *list) {
  bool any = false;
  for (; list; list = list->next) {
    bool here = slab_access_of(list, walk->out->slab) != NULL;
    if (list->body) here = mark_touches(walk, list->body);
    walk->touches[list->id] = here;
    any |= here;
  }
  return any;
}

static int find_use(const SlabProblem *slab, const Stmt *stmt) {
  for (int i = 0; i < slab->problem.n_sites; i++)
    if (slab->use[i].site->stmt == stmt) return i;
  return -1;
}

// The row of the slab that each lane is in, panel after panel.
static void rows_of(const Walk *walk, const Access *access, int64_t row[LANES]) {
  const Buffer *slab = access->buffer;
  int64_t panel[LANES];
  expr_eval_warp(access->idx[slab->rank - 2], walk->env, row);
  if (!slab->panel) return;
  expr_eval_warp(access->idx[slab->rank - 3], walk->env, panel);
  for (int lane = 0; lane < LANES; lane++) row[lane] += panel[lane] * slab->dim[slab->rank - 2];
}

static void record(Walk *walk, int use, const Access *access, const bool *active) {
  const Buffer *slab = access->buffer;
  SlabSite *site = &walk->site[use];
  int64_t row[LANES], col[LANES];
  rows_of(walk, access, row);
  expr_eval_warp(access->idx[slab->rank - 1], walk->env, col);
  int32_t *logical = walk->logical[use][site->repeat++];
  const LayoutSlab *shape = &walk->out->problem.slab;
  for (int lane = 0; lane < LANES; lane++) {
    bool used = active[lane] && lane < site->op->n_addresses;
    int64_t byte = row[lane] * shape->row_bytes + col[lane] * shape->elem_bytes;
    logical[lane] = used ? (int32_t)byte : BANK_INACTIVE;
  }
}

// Accesses that are executed as one stand for themselves at the first of them.
static bool begins_access(const Walk *walk, const Site *site, const Access *access,
                          const bool *active) {
  const int bytes = site->op->bytes, element = dtype_bytes(access->buffer->type);
  int64_t col[LANES];
  if (bytes <= site->written->op->bytes) return true;
  expr_eval_warp(access->idx[access->buffer->rank - 1], walk->env, col);
  for (int lane = 0; lane < LANES; lane++)
    if (active[lane]) return col[lane] * element % bytes == 0;
  return true;
}

static void walk_op(Walk *walk, const Stmt *stmt, const bool *active) {
  const Access *access = slab_access_of(stmt, walk->out->slab);
  int use = access ? find_use(walk->out, stmt) : -1;
  if (use < 0 || !begins_access(walk, walk->out->use[use].site, access, active)) return;
  int64_t at = walk->seen[use]++;
  if (walk->site && at % walk->site[use].weight == 0) record(walk, use, access, active);
}

static void walk_list(Walk *walk, const Stmt *list, const bool *active);

static void walk_loop(Walk *walk, const Stmt *stmt, const bool *active) {
  if (stmt->var->tier == TIER_TILE) {  // lanes_enter has chosen the tile
    walk_list(walk, stmt->body, active);
    return;
  }
  int64_t extent = stmt == walk->k_o ? 1 : stmt->var->extent;
  for (int64_t i = 0; i < extent; i++) {
    lanes_set_all(walk->env, stmt->var, i);
    walk_list(walk, stmt->body, active);
  }
}

static void walk_if(Walk *walk, const Stmt *stmt, const bool *active) {
  bool inner[LANES];
  if (lanes_pass(walk->env, stmt->expr, active, inner)) walk_list(walk, stmt->body, inner);
}

static void walk_list(Walk *walk, const Stmt *list, const bool *active) {
  for (; list; list = list->next) {
    if (list->kind == STMT_LET) lanes_let(walk->env, list);
    if (!walk->touches[list->id]) continue;
    if (list->kind == STMT_LOOP) walk_loop(walk, list, active);
    if (list->kind == STMT_IF) walk_if(walk, list, active);
    if (list->kind == STMT_OP) walk_op(walk, list, active);
  }
}

static void walk_block(Walk *walk) {
  Launch launch = kernel_launch(program_main(walk->program));
  memset(walk->seen, 0, sizeof *walk->seen * (size_t)walk->out->problem.n_sites);
  for (int warp = 0; warp < launch_warps(&launch); warp++) {
    bool active[LANES];
    lanes_enter(walk->program, &launch, 0, warp, walk->env, active);
    walk_list(walk, launch.body, active);
  }
}

// ---- building -----------------------------------------------------------------------------------

static int list_uses(Arena *arena, const Model *model, SlabProblem *out) {
  SlabUse *use = ARENA_ARRAY(arena, SlabUse, model->n_sites);
  int n = 0;
  for (int i = 0; i < model->n_sites && n < SOLVER_SITES_MAX; i++)
    if (model->site[i].slab == out->slab) use[n++].site = &model->site[i];
  out->use = use;
  return out->problem.n_sites = n;
}

// If there are more executions than the problem holds, it takes every n-th of them.
static void make_room(Walk *walk) {
  int n = walk->out->problem.n_sites;
  SlabSite *site = ARENA_ARRAY(walk->arena, SlabSite, n);
  walk->logical = (int32_t(**)[LANES])ARENA_ARRAY(walk->arena, void *, n);
  for (int i = 0; i < n; i++) {
    int64_t executions = walk->seen[i];
    site[i].weight = (int)sample_step(executions, SLAB_PROBLEM_REPEAT_MAX);
    site[i].name = arena_strdup(walk->arena, walk->out->use[i].site->text);
    site[i].op = walk->out->use[i].site->op;
    int64_t room = ceil_div(executions, site[i].weight);
    walk->logical[i] = arena_alloc(walk->arena, sizeof *walk->logical[i] * (size_t)room);
  }
  walk->site = site;
}

// Values that one execution brings a lane, of a fragment's n_values.
static double fragments_per_execution(const Site *site) {
  const Op *op = &site->stmt->op;
  const Buffer *fragment = op->dst.buffer;
  if (!buffer_is_fragment(fragment)) return 0;
  int bytes = dtype_bytes(fragment->type);
  double wider = (double)site->op->bytes / site->written->op->bytes;
  double values = op_is_collective(op->kind) ? (double)op->matrices * BANK_WORD_BYTES / bytes
                                             : op->width * wider;
  return values / (double)fragment->dim[fragment->rank - 1];
}

static void finish_uses(Walk *walk) {
  SlabUse *use = (SlabUse *)walk->out->use;
  for (int i = 0; i < walk->out->problem.n_sites; i++) {
    walk->site[i].logical = (const int32_t(*)[LANES])walk->logical[i];
    use[i].executions = walk->seen[i];
    use[i].fragments = (double)walk->seen[i] * fragments_per_execution(use[i].site);
  }
  walk->out->problem.sites = walk->site;
}

bool slab_problem_build(Arena *arena, const Model *model, const Buffer *slab, SlabProblem *out,
                        Diags *diags) {
  const Program *program = model->program;
  *out = (SlabProblem){.slab = slab, .elements = dtype_name(slab->type)};
  out->problem.name = arena_strdup(arena, slab->name);
  out->problem.slab = slab_shape(slab);
  out->layout_text = slab_layout_text(arena, &model->schedule, slab);
  out->layout = slab_layout_now(arena, &model->schedule, slab, diags);
  if (!out->layout) return false;
  if (notation_is(out->layout_text)) out->layout_text = notation_canonical(arena, out->layout);
  out->plain = layout_parse(arena, &out->problem.slab, "none", diags);
  Walk walk = {.arena = arena, .program = program, .out = out};
  int n = list_uses(arena, model, out);
  walk.k_o = program_slab_loop(program);
  walk.touches = ARENA_ARRAY(arena, bool, program->n_stmt_ids);
  walk.env = ARENA_ARRAY(arena, int64_t, (size_t)program->n_vars * LANES);
  walk.seen = ARENA_ARRAY(arena, int64_t, n);
  mark_touches(&walk, program_main(program)->body);
  walk_block(&walk);
  make_room(&walk);
  walk_block(&walk);
  finish_uses(&walk);
  return true;
}

double slab_use_wavefronts(const SlabProblem *slab, int use, const Layout *layout) {
  const SlabSite *site = &slab->problem.sites[use];
  SlabCost cost = slab_site_cost(site, layout);
  return cost.known && cost.legal ? (double)cost.wavefronts * site->weight : -1;
}

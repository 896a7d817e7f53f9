// Sites: which shared-memory words a warp asks for, statement by statement.
//
// The main kernel is walked warp by warp (warp_walk.h), k_o at its first iteration. The address is
// the access's own offset expression, so what is counted here is what the emitter prints. The warp
// and iteration with the most wavefronts are kept.
//
// A loop that moves the addresses of all lanes alike, by whole words, only turns the banks round:
// its first iteration stands for all of them.
//
// Worked example, b <- B_s, n_t = 0…15, FN = 8, 16-byte reads at byte 32·n_t: quarter-warps of
// eight lanes ask for chunks 0, 2, 4, … 14, so lanes 0 and 4 meet on banks 0–3: 8 wavefronts,
// ideal 4.
//
// The assembler may merge neighbouring accesses of a thread. The same walk counts what every width
// would cost: the lanes' addresses are rounded down to it, if all lanes lie equally far into it.
// site_form.c puts together what is really executed.
#include <string.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/ir/warp_walk.h"
#include "model/readings/derive.h"
#include "model/words/fragment.h"

enum { SITES_MAX = 32, WIDEST_BYTES = 16 };
_Static_assert((int)LANES == (int)BANK_LANES, "a lane of the program is a lane of the banks");

typedef struct Finder {
  Arena *arena;
  const Expr **offset;  // by statement: of a global source, in elements; NULL until asked for
  Site *site;
  int n_sites;
  bool *prologue;  // per site
  double lines, copies;
} Finder;

// "lds128", "cpasync16" by bytes as PTX says it, "ldsm_x4t" by matrices.
static const BankOp *bank_op(Arena *arena, const Op *op, const Buffer *shared) {
  const OpFacts *facts = op_facts(op->kind);
  int64_t size = 8 * op->width * dtype_bytes(shared->type);
  if (op_is_async_copy(op->kind)) size /= 8;
  if (op_moves_rows(op->kind)) size = op->matrices;
  return banks_op_find(
      arena_printf(arena, "%s%lld%s", facts->banks, (long long)size, op->trans ? "t" : ""));
}

static void site_addresses(const WarpVisit *visit, const Site *site, int64_t *addr) {
  expr_eval_warp(site->address, visit->env, addr);
  for (int lane = 0; lane < LANES; lane++)
    if (!visit->active[lane]) addr[lane] = BANK_INACTIVE;
}

// The widths that the accesses could have, from single elements (words where they are narrower) up
// to 16 bytes: the assembler merges neighbours, and splits what is not worth its registers.
static void add_widths(Arena *arena, Site *site) {
  bool varies = op_is_plain_access(site->stmt->op.kind);
  const char *verb = op_facts(site->stmt->op.kind)->banks;
  int written = site->op->bytes, element = dtype_bytes(site->slab->type);
  site->width = ARENA_ARRAY(arena, SiteForm, SITE_FORMS_MAX);
  for (int bytes = element; bytes <= WIDEST_BYTES; bytes *= 2) {
    const char *name = arena_printf(arena, "%s%d", verb, 8 * bytes);
    const BankOp *op = bytes == written ? site->op : varies ? banks_op_find(name) : NULL;
    if (!op) continue;
    SiteForm *form = &site->width[site->n_widths++];
    *form = (SiteForm){.op = op, .executions = site->executions * written / bytes, .warp = -1};
    if (bytes == written) site->as_written = form;
  }
}

static Site new_site(Arena *arena, const WarpVisit *visit, const Access *shared, bool store) {
  const Op *op = &visit->stmt->op;
  const Expr *offset = access_offset(arena, shared);
  const Expr *address =
      ex_add_const(arena, ex_mul_const(arena, offset, dtype_bytes(shared->buffer->type)),
                   shared->buffer->offset_bytes);
  Site site = {.stmt = visit->stmt,
               .op = bank_op(arena, op, shared->buffer),
               .is_store = store,
               .slab = shared->buffer,
               .address = address,
               .executions = visit->in_loop ? visit->executions : 0};
  add_widths(arena, &site);
  return site;
}

static int find_site(const Finder *finder, const Stmt *stmt, bool store) {
  int at = 0;
  while (at < finder->n_sites &&
         (finder->site[at].stmt != stmt || finder->site[at].is_store != store))
    at++;
  return at;
}

static int count_active(const WarpVisit *visit) {
  int n = 0;
  for (int lane = 0; lane < LANES; lane++) n += visit->active[lane];
  return n;
}

// The addresses rounded down to pieces of `bytes` bytes; false when lanes lie differently in them.
static bool round_down(const int64_t *addr, int bytes, int64_t *out) {
  int64_t into = -1;
  for (int lane = 0; lane < LANES; lane++) {
    out[lane] = addr[lane];
    if (addr[lane] < 0) continue;
    int64_t rest = addr[lane] % bytes;
    if (into >= 0 && rest != into) return false;
    into = rest;
    out[lane] -= rest;
  }
  return true;
}

// An access without a count comes past the pipe and takes no clocks of it.
static void pay(const WarpVisit *visit, SiteForm *form, const BankCount *count, double weight) {
  int n_active = count_active(visit);
  if (!visit->in_loop || n_active == 0) return;
  form->clocks += weight * (count->known ? count->wavefronts : 0);
  form->ideal += weight * count->ideal;
  form->profiled += weight * (count->profiled >= 0 ? count->profiled : 0);
  form->profiled_most += weight * (count->profiled_most >= 0 ? count->profiled_most : 0);
}

static void visit_width(const WarpVisit *visit, SiteForm *form, const int64_t *addr,
                        const BankCount *count, double weight) {
  pay(visit, form, count, weight);
  if (form->warp >= 0 && count->wavefronts <= form->count.wavefronts) return;
  form->count = *count;
  form->warp = visit->warp;
  memcpy(form->addr, addr, sizeof form->addr);
}

// Offsets, in elements, at which a statement reads global memory.
static void source_offsets(Finder *finder, const WarpVisit *visit, int64_t *offset) {
  const Expr **known = &finder->offset[visit->stmt->id];
  if (!*known) *known = access_offset(finder->arena, &visit->stmt->op.src);
  expr_eval_warp(*known, visit->env, offset);
}

static BankCount count_at(Finder *finder, const WarpVisit *visit, const BankOp *op,
                          const int64_t *addr) {
  int64_t source[LANES];
  const Buffer *from = visit->stmt->op.src.buffer;
  if (op->kind != BANK_CPASYNC) return banks_count(op, addr);
  source_offsets(finder, visit, source);
  for (int lane = 0; lane < LANES; lane++) source[lane] *= dtype_bytes(from->type);
  return banks_count_copy(op, addr, source);
}

// Counts a width: its first piece stands for all of those that an access is cut into. False when
// the lanes lie differently in pieces of this width.
static bool count_width(Finder *finder, const WarpVisit *visit, Site *site, SiteForm *form,
                        const int64_t *addr) {
  int64_t rounded[LANES];
  bool is_written = form == site->as_written;
  if (!is_written && !round_down(addr, form->op->bytes, rounded)) return false;
  const int64_t *used = is_written ? addr : rounded;
  BankCount count = count_at(finder, visit, form->op, used);
  double n_pieces = (double)site->as_written->op->bytes / form->op->bytes;
  visit_width(visit, form, used, &count, visit->weight * n_pieces);
  return true;
}

// The site of an access, added at its first visit; NULL when there is no room for it.
static Site *site_at(Finder *finder, const WarpVisit *visit, const Access *shared, bool store) {
  int index = find_site(finder, visit->stmt, store);
  if (index >= SITES_MAX) return NULL;
  if (index == finder->n_sites) {
    finder->site[index] = new_site(finder->arena, visit, shared, store);
    finder->prologue[index] = !visit->in_loop;
    finder->n_sites++;
  }
  return &finder->site[index];
}

// Lines that a copy past the pipe writes.
static void count_copy(Finder *finder, const WarpVisit *visit, const BankOp *op) {
  if (op->counted || !visit->in_loop) return;
  finder->copies += visit->weight * count_active(visit) * op->bytes / (double)BANK_LINE_BYTES;
}

// Counts a visit for every width of the site, and drops a width in which the lanes lie differently,
// with all wider ones.
static void visit_site(Finder *finder, const WarpVisit *visit, const Access *shared, bool store) {
  Site *site = site_at(finder, visit, shared, store);
  if (!site) return;
  int64_t addr[LANES];
  site_addresses(visit, site, addr);
  count_copy(finder, visit, site->as_written->op);
  int n = 0;
  while (n < site->n_widths && count_width(finder, visit, site, &site->width[n], addr)) n++;
  site->n_widths = n;
}

static bool is_group_copy(const Op *op) {
  return op_is_async_copy(op->kind) && op_facts(op->kind)->completes == COMPLETES_BY_GROUP;
}

// A copy of which it matters how its sectors lie in their lines, at both ends.
static bool copies_past_l1(Arena *arena, const Op *op) {
  return is_group_copy(op) && !bank_op(arena, op, op->dst.buffer)->counted;
}

// The step in bytes by which all addresses of one side may move and still cost the same: whole
// words, or vectors; whole lines past L1. 0: any step.
static int64_t even_step(const Finder *finder, const Op *op, const Access *side) {
  const Buffer *buffer = side->buffer;
  if (!buffer) return 0;
  if (copies_past_l1(finder->arena, op)) return BANK_LINE_BYTES;
  if (buffer->space != SPACE_SHARED && !is_group_copy(op)) return 0;
  if (op_moves_rows(op->kind)) return LDMATRIX_ROW_BYTES;
  return max64(op->width * dtype_bytes(buffer->type), BANK_WORD_BYTES);
}

// Whether an access meets other banks, or the same in another order, as `var` goes on.
static bool is_uneven(void *context, const Op *op, const Var *var) {
  const Finder *finder = context;
  const Access *side[] = {&op->dst, &op->src};
  const bool by_lane = !op_reads_tiles(op->kind) && !op_moves_factors(op->kind);
  for (int i = 0; i < 2 && by_lane; i++) {
    int64_t stride, step = even_step(finder, op, side[i]);
    if (step == 0) continue;
    if (!expr_stride(access_offset(finder->arena, side[i]), var, &stride)) return true;
    if (stride * dtype_bytes(side[i]->buffer->type) % step) return true;
  }
  return false;
}

// A box is written by no lane, a whole 128-byte line at a time: a swizzle permutes chunks
// inside of lines, so it conflicts with nothing and is no site. Like copies of 16 bytes it comes
// past the pipe that serves lanes: the pipe's counter does not move, and kernels with boxes are
// faster than that pipe would let them be (fp32/one_cell on an H200: 401 clocks a slab where lanes
// alone take 384 and boxes would be 40 more).
static void count_box(Finder *finder, const WarpVisit *visit) {
  const Op *op = &visit->stmt->op;
  if (!visit->in_loop || count_active(visit) == 0) return;
  int64_t bytes = op->box[0] * op->box[1] * dtype_bytes(op_box_shared(op)->buffer->type);
  finder->copies += (double)bytes / BANK_LINE_BYTES * visit->weight;
}

// All that the tensor core reads of tiles comes over the same 128 bytes a clock as what lanes read,
// whole lines at a time: the canonical layouts conflict with nothing, so tiles are no sites. A warp
// has its share: its rows of A, and a part of B, which the warpgroup reads once.
static void count_tiles(Finder *finder, const WarpVisit *visit) {
  const Op *op = &visit->stmt->op;
  const Atom *atom = op->atom;
  if (!visit->in_loop || count_active(visit) == 0 || !atom) return;
  int64_t rows = op->src2.buffer->space == SPACE_SHARED ? atom->n : 0;
  if (op->src.buffer->space == SPACE_SHARED) rows += atom->m;
  double bytes = (double)rows * atom->k * atom->bits / 8 / atom_issuing_warps(atom);
  finder->lines += bytes / BANK_LINE_BYTES * visit->weight;
}

// Factors on their way to tensor memory, the same.
static void count_factors(Finder *finder, const WarpVisit *visit) {
  const bool shared = visit->stmt->op.src.buffer->space == SPACE_SHARED;
  if (!visit->in_loop || count_active(visit) == 0 || !shared) return;
  finder->lines += (double)FACTOR_TILE_BYTES / BANK_LINE_BYTES * visit->weight;
}

static void look(void *context, const WarpVisit *visit) {
  Finder *finder = context;
  const Op *op = &visit->stmt->op;
  const Access *side[] = {&op->dst, &op->src};
  if (op_moves_box(op->kind)) {
    count_box(finder, visit);
    return;
  }
  if (op_reads_tiles(op->kind)) {
    count_tiles(finder, visit);
    return;
  }
  if (op_moves_factors(op->kind)) {
    count_factors(finder, visit);
    return;
  }
  for (int i = 0; i < 2; i++)
    if (side[i]->buffer && side[i]->buffer->space == SPACE_SHARED)
      visit_site(finder, visit, side[i], i == 0);
}

// Whether a site inside the loop does what this prologue site does.
static bool repeated(const Finder *finder, int index) {
  for (int i = 0; i < finder->n_sites; i++)
    if (!finder->prologue[i] && finder->site[i].slab == finder->site[index].slab &&
        finder->site[i].is_store == finder->site[index].is_store)
      return true;
  return false;
}

static Sites keep_sites(const Finder *finder) {
  Site *kept = ARENA_ARRAY(finder->arena, Site, SITES_MAX);
  int n = 0;
  for (int i = 0; i < finder->n_sites; i++) {
    if (finder->prologue[i] && repeated(finder, i)) continue;
    kept[n] = finder->site[i];
    kept[n].number = n + 1;
    site_take_forms(finder->arena, &kept[n], kept[n].as_written, 1);
    kept[n].written = &kept[n];
    n++;
  }
  return (Sites){n, kept, finder->lines, finder->copies};
}

Sites derive_sites(Arena *arena, const Program *program) {
  static const WarpVisitor visitor = {.visit = look, .is_uneven = is_uneven};
  Finder finder = {.arena = arena};
  finder.site = ARENA_ARRAY(arena, Site, SITES_MAX);
  finder.prologue = ARENA_ARRAY(arena, bool, SITES_MAX);
  finder.offset = ARENA_ARRAY(arena, const Expr *, program->n_stmt_ids);
  warp_walk(arena, program, &visitor, &finder);
  return keep_sites(&finder);
}

SiteTotals derive_totals(const Sites *sites) {
  SiteTotals totals = {0};
  for (int i = 0; i < sites->n; i++) {
    const Site *site = &sites->site[i];
    if (!site->count.known) continue;
    totals.profiled += site->profiled;
    totals.wavefronts += site->clocks;
    totals.ideal += site->ideal;
    totals.n_conflicting += site->count.conflicts > 0;
  }
  return totals;
}

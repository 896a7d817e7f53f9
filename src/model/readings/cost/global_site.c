// Sites of global memory: which sectors a warp asks for, matrix by matrix, from the kernel's first
// fetch to the last cell of C.
//
// The main kernel is walked whole (warp_walk.h): prologue, slabs, epilogue. All statements that do
// the same to the same matrix are one site: a fetch that a pipeline says twice, before the loop and
// inside it, is one site, with all the requests that the block makes. An access is written as wide
// as it is compiled: neighbouring scalar accesses stay scalar here, for the kernel's pointers
// promise the alignment of one element and no more.
//
// Whether a loop matters: what moves all lanes by whole sectors fetches the same number of them
// again. Worked example, C in rows of 16 KiB, FN = 8 scalar stores, n_t at 32-byte steps: each of
// the 8 puts 4 bytes into each of 16 sectors per row: 16 · 2 sectors where 4 would do, 64 times a
// warp.
#include <math.h>
#include <string.h>

#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/ir/warp_walk.h"
#include "model/readings/derive.h"

enum { GLOBALS_MAX = 16 };

// The expressions that give a statement's addresses, made at its first visit.
typedef struct Place {
  GlobalSite *site;    // NULL: not asked for yet
  const Expr *offset;  // in elements
  const Expr *guard;   // NULL: always inside
} Place;

typedef struct Finder {
  Arena *arena;
  Place *place;  // by statement
  GlobalSite *site;
  int n_sites;
} Finder;

// The operand in global memory; NULL: there is none.
static const Access *global_side(const Op *op) {
  const Access *side[] = {&op->dst, &op->src};
  for (int i = 0; i < 2; i++)
    if (side[i]->buffer && side[i]->buffer->space == SPACE_GLOBAL) return side[i];
  return NULL;
}

static const BankOp *sector_op(Arena *arena, const Op *op, const Buffer *matrix) {
  const char *verb = op_facts(op->kind)->sectors;
  if (!verb || op_moves_box(op->kind)) return verb ? sectors_op_find(verb) : NULL;
  int bits = 8 * op->width * dtype_bytes(matrix->type);
  return sectors_op_find(arena_printf(arena, "%s%d", verb, bits));
}

static GlobalSite *find_site(Finder *finder, const Buffer *matrix, const BankOp *op) {
  for (int i = 0; i < finder->n_sites; i++)
    if (finder->site[i].matrix == matrix && finder->site[i].op == op) return &finder->site[i];
  return finder->n_sites < GLOBALS_MAX ? &finder->site[finder->n_sites] : NULL;
}

static GlobalSite *site_of(Finder *finder, const Stmt *stmt, const Access *global) {
  const BankOp *op = sector_op(finder->arena, &stmt->op, global->buffer);
  GlobalSite *site = op ? find_site(finder, global->buffer, op) : NULL;
  if (!site || site != &finder->site[finder->n_sites]) return site;
  finder->n_sites++;
  *site = (GlobalSite){.stmt = stmt,
                       .op = op,
                       .compiled = op,
                       .matrix = global->buffer,
                       .is_store = global == &stmt->op.dst,
                       .by_l1 = buffer_is_fragment(stmt->op.dst.buffer),
                       .count.known = op->counted};
  for (int lane = 0; lane < LANES; lane++) site->addr[lane] = BANK_INACTIVE;
  return site;
}

static Place *place_of(Finder *finder, const Stmt *stmt, const Access *global) {
  Place *place = &finder->place[stmt->id];
  if (place->site) return place;
  *place = (Place){.site = site_of(finder, stmt, global),
                   .offset = access_offset(finder->arena, global),
                   .guard = access_guard(finder->arena, global)};
  return place;
}

static void addresses(const WarpVisit *visit, const Place *place, int64_t addr[LANES]) {
  bool inside[LANES];
  memcpy(inside, visit->active, sizeof inside);
  if (place->guard) lanes_pass(visit->env, place->guard, visit->active, inside);
  expr_eval_warp(place->offset, visit->env, addr);
  for (int lane = 0; lane < LANES; lane++)
    addr[lane] = inside[lane] ? addr[lane] * dtype_bytes(place->site->matrix->type) : BANK_INACTIVE;
}

// The statement of the loop stands for those around it, and of its visits the most wasteful.
static void show(GlobalSite *site, const WarpVisit *visit, const SectorCount *count,
                 const int64_t addr[LANES]) {
  bool moves_in = visit->in_loop && !site->in_loop, first = site->count.sectors == 0;
  int waste = count->sectors - count->ideal, shown = site->count.sectors - site->count.ideal;
  if (visit->in_loop < site->in_loop || !(first || moves_in || waste > shown)) return;
  site->stmt = visit->stmt;
  site->in_loop = visit->in_loop;
  site->warp = visit->warp;
  site->count = *count;
  memcpy(site->addr, addr, sizeof site->addr);
}

// Whole rows of a box leave as whole sectors, whatever the lanes do.
static void count_box(GlobalSite *site, const WarpVisit *visit) {
  const Op *op = &visit->stmt->op;
  double row = (double)op->box[1] * dtype_bytes(op->src.buffer->type);
  bool sent = false;
  for (int lane = 0; lane < LANES; lane++) sent |= visit->active[lane];
  if (!sent) return;
  double sectors = visit->weight * (double)op->box[0] * ceil(row / SECTOR_BYTES);
  site->requests += visit->weight;
  site->sectors += sectors;
  site->ideal += sectors;
}

// Copies and stores are looked up as loads are; what they move is not L1's.
static double l1_clocks(const GlobalSite *site, const SectorCount *count) {
  if (count->wavefronts > 0) return count->wavefronts;
  return site->is_store ? count->lines : (double)count->lines / SECTOR_LINES_PER_CLOCK;
}

static void look(void *context, const WarpVisit *visit) {
  Finder *finder = context;
  const Access *global = global_side(&visit->stmt->op);
  Place *place = global ? place_of(finder, visit->stmt, global) : NULL;
  GlobalSite *site = place ? place->site : NULL;
  if (!site) return;
  if (!site->op->counted) {
    site->in_loop |= visit->in_loop;
    if (site->is_store) count_box(site, visit);
    return;
  }
  int64_t addr[LANES];
  addresses(visit, place, addr);
  SectorCount count = sectors_count(site->op, addr);
  if (count.sectors == 0) return;
  site->requests += visit->weight;
  site->sectors += visit->weight * count.sectors;
  site->ideal += visit->weight * count.ideal;
  site->lines += visit->weight * count.lines;
  site->clocks += visit->weight * l1_clocks(site, &count);
  show(site, visit, &count, addr);
}

static bool is_uneven(void *context, const Op *op, const Var *var) {
  const Finder *finder = context;
  const Access *global = global_side(op);
  int64_t stride;
  if (!global || op_moves_box(op->kind)) return false;
  const Expr *guard = access_guard(finder->arena, global);
  if (guard && expr_uses(guard, var) && var->tier == TIER_REGISTER) return true;
  if (!expr_stride(access_offset(finder->arena, global), var, &stride)) return true;
  return stride * dtype_bytes(global->buffer->type) % SECTOR_BYTES != 0;
}

static const char *site_text(Arena *arena, const GlobalSite *site) {
  const Op *op = &site->stmt->op;
  return arena_printf(arena, "%s <- %s  %s", op->dst.buffer->name, op->src.buffer->name,
                      site->op->sass);
}

Globals derive_globals(Arena *arena, const Program *program, int number) {
  static const WarpVisitor visitor = {.visit = look, .is_uneven = is_uneven, .whole = true};
  Finder finder = {.arena = arena};
  finder.site = ARENA_ARRAY(arena, GlobalSite, GLOBALS_MAX + 1);
  finder.place = ARENA_ARRAY(arena, Place, program->n_stmt_ids);
  warp_walk(arena, program, &visitor, &finder);
  Globals out = {.n = finder.n_sites, .site = finder.site};
  for (int i = 0; i < out.n; i++) {
    GlobalSite *site = &finder.site[i];
    site->number = number + i;
    site->text = site_text(arena, site);
    out.clocks += site->clocks;
    if (site->in_loop && site->count.wavefronts > 0) out.loaded_clocks += site->clocks;
    if (site->is_store) out.store_sectors += site->sectors;
    if (!site->is_store && !site->by_l1) out.wasted_sectors += site->sectors - site->ideal;
  }
  return out;
}

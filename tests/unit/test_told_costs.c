// What accesses cost, and the layouts that the solver finds, of addresses and slabs drawn at random
// (base/random.h: the same ones each time). tests/golden/told/costs.txt holds every count.
#include <check.h>
#include <string.h>

#include "banks/engine/bank_atomic.h"
#include "banks/engine/sector.h"
#include "banks/solver/recorded_slab.h"
#include "banks/solver/slab_pattern.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/str.h"
#include "golden.h"

Suite *suite_told_costs(void);

// ---- addresses ----------------------------------------------------------------------------------

enum { PATTERNS = 14, SLABS = 60 };

static int draw(uint64_t *seed, int lo, int hi) { return (int)random_between(seed, lo, hi); }

// Strides, strides in two directions, a few words for all, anywhere; some lanes out, some askew.
static void draw_addresses(uint64_t *seed, int bytes, int pattern, int64_t addr[BANK_LANES]) {
  const int across = bytes * draw(seed, 0, 40);
  const int down = bytes * draw(seed, 0, 70);
  const int width = 1 << draw(seed, 0, 4);
  const int words = draw(seed, 1, 9);
  for (int lane = 0; lane < BANK_LANES; lane++) {
    addr[lane] = pattern % 3 == 0   ? lane * across
                 : pattern % 3 == 1 ? lane % width * across + lane / width * down
                                    : (int64_t)bytes * draw(seed, 0, 40 * words);
    if (pattern % 4 == 3 && draw(seed, 0, 3) == 0) addr[lane] = BANK_INACTIVE;
    if (pattern == PATTERNS - 1 && draw(seed, 0, 3) == 0) addr[lane] += draw(seed, 0, bytes);
  }
}

static uint64_t sum_addresses(const int64_t addr[BANK_LANES]) {
  return hash_bytes(HASH_START, addr, BANK_LANES * sizeof *addr);
}

static void tell_count(Str *out, const BankCount *c) {
  str_printf(out, " %d: %d of %d in %d, %d conflicts, %d ways; %d to %d of %d\n", c->known,
             c->wavefronts, c->ideal, c->phases, c->conflicts, c->ways, c->profiled,
             c->profiled_most, c->profiled_ideal);
}

static void tell_map(Str *out, const BankOp *op, const int64_t addr[BANK_LANES]) {
  static BankMap map;
  uint64_t sum = HASH_START;
  banks_map(&map, op, addr);
  for (int row = 0; row < map.n_rows; row++)
    for (int bank = 0; bank < BANK_COUNT; bank++)
      sum = hash_bytes(sum, &map.rows[row].cells[bank].lanes, sizeof(uint32_t));
  str_printf(out, "    merged over %d, active %08x, misaligned %08x, %d rows of %08x",
             map.merge_distance, map.active, map.misaligned, map.n_rows, (unsigned)sum);
  for (int i = 0; i < map.count.phases; i++)
    str_printf(out, ", %d+%d %d bank %d", map.phases[i].first_lane, map.phases[i].n_lanes,
               map.phases[i].wavefronts, map.phases[i].worst_bank);
  str_add(out, "\n");
}

static void tell_sectors(Str *out, const BankOp *op, const int64_t addr[BANK_LANES]) {
  SectorMap map;
  sectors_map(&map, op, addr);
  const SectorCount *c = &map.count;
  str_printf(out, "  %s %d: %d of %d sectors, %d of %d lines, %d bytes, %d clocks;", op->name,
             c->known, c->sectors, c->ideal, c->lines, c->lines_ideal, c->bytes, c->wavefronts);
  for (int i = 0; i < map.n_lines && i < 4; i++)
    str_printf(out, " %lld:%x", (long long)map.line[i].line, map.line[i].sectors);
  str_add(out, "\n");
}

START_TEST(counts_are_as_reviewed) {
  Arena *arena = arena_new("test");
  Str out = str_new(arena);
  uint64_t seed = 5;
  int64_t addr[BANK_LANES], source[BANK_LANES];
  for (int i = 0; i < banks_op_count(); i++)
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
      const BankOp *op = banks_op_at(i);
      draw_addresses(&seed, op->bytes, pattern, addr);
      BankCount count = banks_count(op, addr);
      str_printf(&out, "%s %08x", op->name, (unsigned)sum_addresses(addr));
      tell_count(&out, &count);
      tell_map(&out, op, addr);
      if (op->kind != BANK_CPASYNC) continue;
      draw_addresses(&seed, op->bytes, (pattern + 1) % (PATTERNS - 1), source);
      count = banks_count_copy(op, addr, source);
      tell_count(&out, &count);
    }
  for (int i = 0; i < sectors_op_count(); i++)
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
      draw_addresses(&seed, sectors_op_at(i)->bytes, pattern, addr);
      tell_sectors(&out, sectors_op_at(i), addr);
    }
  for (int atomic = BANK_ATOMIC; atomic <= BANK_ATOMIC_SWAP; atomic++)
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
      draw_addresses(&seed, 4, pattern, addr);
      const BankCount count = banks_count_atomic((BankAtomic)atomic, addr);
      str_printf(&out, "atomic %d", atomic);
      tell_count(&out, &count);
    }
  golden_check("told/costs.txt", out.text);
  arena_free(arena);
}
END_TEST

// ---- layouts ------------------------------------------------------------------------------------

static const char *const rows_of[] = {"lane/4",  "lane%8",       "lane",       "i",
                                      "lane%16", "4*i + lane/8", "lane/8 + i", "2*(lane%4)"};
static const char *const columns_of[] = {"lane%4", "lane%8*UNIT",    "0", "lane/16*UNIT", "i*UNIT",
                                         "lane/8", "lane%2*UNIT + i"};
static const char *const ops_of[] = {"lds32",   "lds64",    "lds128", "sts32",     "sts128",
                                     "ldsm_x4", "ldsm_x2t", "lds16",  "cpasync16", "sts64"};
#define DRAWN(list) list[draw(seed, 0, (int)(sizeof list / sizeof *list) - 1)]

static const char *column(Arena *arena, const char *text, int unit) {
  const char *at = strstr(text, "UNIT");
  if (!at) return text;
  return arena_printf(arena, "%.*s%d%s", (int)(at - text), text, unit, at + 4);
}

static void tell_solved(Str *out, const SolverProblem *problem, const SolverResult *r) {
  str_printf(out, "  %s: %s, %lld of %lld, optimal %d, whole %d\n  %s\n",
             r->found ? solver_family_name(r->family) : "none", r->found ? r->best.layout : "",
             (long long)r->best.total, (long long)r->bound, r->optimal, r->whole_bytes,
             r->proof ? r->proof : "");
  for (int f = 0; f < SOLVER_FAMILIES; f++) {
    const SolverCandidate *c = &r->families[f];
    str_printf(out, "    %s %s %lld, %d bytes, exact %d\n", solver_family_name((SolverFamily)f),
               c->layout ? c->layout : "-", (long long)(c->layout ? c->total : -1),
               c->layout ? c->storage_bytes : -1, c->exact);
  }
  for (int i = 0; i < problem->n_sites && r->found; i++)
    str_printf(out, "    %s: %d of %d, %d ways, floor %lld\n", problem->sites[i].name,
               r->costs[i].wavefronts, r->costs[i].ideal, r->costs[i].ways,
               (long long)r->site_floor[i]);
}

static void tell_patterns(Arena *arena, Str *out, const SolverProblem *problem) {
  const SlabPatterns p =
      slab_patterns_build(arena, &problem->slab, problem->sites, problem->n_sites);
  str_printf(out, "  %d patterns, whole %d, %d column and %d chunk bits, floor %lld:", p.n,
             p.whole_bytes, p.column_bits, p.chunk_bits, (long long)p.floor);
  for (int i = 0; i < p.n && i < 6; i++)
    str_printf(out, " %lldx%d/%d/%d", (long long)p.patterns[i].weight, p.patterns[i].n,
               p.patterns[i].most_together, p.patterns[i].floor);
  str_add(out, "\n");
}

static void tell_slab(Arena *arena, Arena *scratch, Str *out, uint64_t *seed) {
  static const int bytes_of[] = {1, 2, 4};
  // One draw a statement: compilers order those of one expression as they like.
  const int elem = DRAWN(bytes_of);
  int chunks = 1 << draw(seed, 1, 3);
  if (draw(seed, 0, 3) == 0) chunks = draw(seed, 2, 9);
  const int rows = 32 << draw(seed, 0, 1);
  const LayoutSlab slab = {.rows = rows, .row_bytes = 16 * chunks, .elem_bytes = elem};
  SlabSite sites[3];
  int n = 0;
  str_printf(out, "slab of %d rows of %d bytes, elements of %d\n", slab.rows, slab.row_bytes, elem);
  for (int i = draw(seed, 1, 3); i > 0; i--) {
    SlabSiteText text = {.name = arena_printf(arena, "site %d", i)};
    text.op = DRAWN(ops_of);
    text.row = DRAWN(rows_of);
    text.col = column(arena, DRAWN(columns_of), 16 / elem);
    text.weight = draw(seed, 1, 5);
    text.repeat = draw(seed, 1, 4);
    Diags diags = diags_new(arena);
    const bool built = slab_site_build(arena, &slab, &text, &sites[n], &diags);
    str_printf(out, "  %s %s [%s][%s] %d times, weight %d%s%s\n", text.name, text.op, text.row,
               text.col, text.repeat, text.weight, built ? "" : ": ",
               built ? "" : diags.first->text);
    n += built;
  }
  const SolverProblem problem = {.name = "slab", .slab = slab, .sites = sites, .n_sites = n};
  if (n == 0) return;
  tell_patterns(arena, out, &problem);
  const SolverResult r = solver_solve(arena, scratch, &problem);
  tell_solved(out, &problem, &r);
}

START_TEST(slabs_are_solved_as_reviewed) {
  Arena *kept = arena_new("report"), *arena = arena_new("test"), *scratch = arena_new("scratch");
  Str out = str_new(kept);
  uint64_t seed = 11;
  for (int i = 0; i < SLABS; i++, arena_reset(arena)) tell_slab(arena, scratch, &out, &seed);
  golden_check("told/slabs.txt", out.text);
  arena_free(scratch);
  arena_free(arena);
  arena_free(kept);
}
END_TEST

Suite *suite_told_costs(void) {
  Suite *suite = suite_create("told_costs");
  TCase *tcase = tcase_create("costs");
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, counts_are_as_reviewed);
  tcase_add_test(tcase, slabs_are_solved_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}

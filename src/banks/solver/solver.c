// Try whole families, keep the best of each, and say how low anything could be.
//
// Pads and swizzles are few: each is written as a layout text, parsed and costed like anybody's.
// They are XOR maps too, and a family is at least as good as what it holds: what is searched for is
// better. Either may cut a chunk that no access asks for whole. XOR maps are searched by parity
// masks (xor_search.c); the winner is completed to a bijection of the whole slab, written as a text
// too, and costed again by the bank engine, so what is reported is what the text does. A map of the
// low index bits is completed so: column bit k becomes output bit k, and every index bit that is no
// mask's leading bit keeps a place among the outputs.
//
// Worked example: transposed B of 128 x 16 floats, stores of column i by 32 lanes of every fourth
// row and ldmatrix reads of eight rows. The floor is 4 wavefronts for a store (32 chunks, 8
// columns) and 1 for a matrix; "xor" reaches 8 and 1, "xoroff" 4 and 1, which is the floor:
// optimal.
#include "banks/solver/solver.h"

#include <inttypes.h>

#include "banks/layouts/xor_text.h"
#include "banks/solver/slab_pattern.h"
#include "banks/solver/xor_search.h"
#include "base/whole.h"

// Looks at a pattern before a search gives up: some 15 ms for maps within rows or lines, 30 for
// all.
static const int64_t SEARCH_BUDGET = 500000, SEARCH_BUDGET_ANY = 1000000;

static const char *const FAMILY_NAMES[SOLVER_FAMILIES] = {
    [SOLVER_NONE] = "none",     [SOLVER_SWIZZLE] = "swizzle", [SOLVER_XOR] = "xor",
    [SOLVER_XOROFF] = "xoroff", [SOLVER_PAD] = "pad",
};

const char *solver_family_name(SolverFamily family) { return FAMILY_NAMES[family]; }

typedef struct Solver {
  Arena *arena, *scratch;
  const SolverProblem *problem;
  SlabPatterns patterns;
  SolverResult *out;
} Solver;

static int slab_bytes(const LayoutSlab *slab) { return slab->rows * slab->row_bytes; }

// Weighted wavefronts of all sites, or `ceiling` where a site finds the layout illegal or the sum
// gets that high.
static int64_t total_of(const Solver *s, const Layout *layout, int64_t ceiling) {
  int64_t total = 0;
  for (int i = 0; i < s->problem->n_sites && total < ceiling; i++) {
    const SlabSite *site = &s->problem->sites[i];
    SlabCost cost = slab_site_cost(site, layout);
    if (!cost.legal) return ceiling;
    if (cost.known) total += (int64_t)cost.wavefronts * site->weight;
  }
  return total < ceiling ? total : ceiling;
}

static void try_layout(Solver *s, SolverFamily family, const char *text) {
  SolverCandidate *best = &s->out->families[family];
  arena_reset(s->scratch);
  Diags diags = diags_new(s->scratch);
  const Layout *layout = layout_parse(s->scratch, &s->problem->slab, text, &diags);
  if (!layout) return;
  int64_t ceiling = best->layout ? best->total : INT64_MAX;
  int64_t total = total_of(s, layout, ceiling);
  if (total >= ceiling) return;
  best->layout = arena_strdup(s->arena, text);
  best->total = total;
  best->storage_bytes = layout->storage_bytes;
}

static bool at_floor(const Solver *s, SolverFamily family) {
  const SolverCandidate *best = &s->out->families[family];
  return best->layout && best->total <= s->patterns.floor;
}

// Tries the pads that keep whole chunks, or the finer ones, which may cut a chunk that no access
// wants whole.
static void try_pads(Solver *s, bool fine) {
  const LayoutSlab *slab = &s->problem->slab;
  for (int bytes = slab->elem_bytes; bytes <= BANK_LINE_BYTES; bytes += slab->elem_bytes) {
    if (!fine && at_floor(s, SOLVER_PAD)) break;
    bool cuts = (slab->row_bytes + bytes) % s->patterns.whole_bytes != 0;
    if (cuts == fine)
      try_layout(s, SOLVER_PAD, arena_printf(s->arena, "pad:%d", bytes / slab->elem_bytes));
  }
}

// B bits from bit M of the offset; bits from 7 up are flipped to no effect on the banks.
static void try_swizzles(Solver *s, bool fine) {
  int whole = log2_up(s->patterns.whole_bytes);
  int lowest = fine ? log2_up(s->problem->slab.elem_bytes) : whole;
  int end = log2_up(slab_bytes(&s->problem->slab));
  for (int base = lowest; base < (fine ? whole : 7); base++)
    for (int bits = 1; base + bits <= 7; bits++)
      for (int shift = bits; base + shift + bits <= end; shift++) {
        if (!fine && at_floor(s, SOLVER_SWIZZLE)) return;
        try_layout(s, SOLVER_SWIZZLE,
                   arena_printf(s->arena, "swizzle:%d,%d,%d", bits, base, shift));
      }
}

// ---- from parity masks to text ------------------------------------------------------------------

// Completes masks for the low bits to an invertible map. Each mask's leading bit is the one that it
// replaces; all other index bits stay, at their own place where it is free.
static BitMap complete_map(const XorResult *found, int column_bits, int n, bool echelon) {
  BitMap map = {.n = n};
  uint32_t replaced = 0;
  for (int k = 0; k < column_bits; k++) {
    map.row[k] = found->parity[k];
    replaced |= echelon ? 1u << leading_bit(found->parity[k]) : 1u << k;
  }
  for (int bit = column_bits; bit < n; bit++)
    if (!(replaced >> bit & 1)) map.row[bit] = 1u << bit;
  int free_place = column_bits;
  for (int bit = 0; bit < column_bits; bit++) {
    if (replaced >> bit & 1) continue;
    while (map.row[free_place]) free_place++;
    map.row[free_place] = 1u << bit;
  }
  return map;
}

static char *text_of_map(Solver *s, const BitMap *map, bool in_row) {
  const LayoutSlab *slab = &s->problem->slab;
  int scale = log2_up(s->patterns.whole_bytes / slab->elem_bytes);
  Str out = str_new(s->arena);
  if (!in_row) {
    str_add(&out, "xoroff:off");
    xor_text_add(&out, map, (XorSource){"off", 0, map->n, 0}, scale);
    return out.text;
  }
  int row_bits = log2_up(slab->row_bytes / s->patterns.whole_bytes);
  str_add(&out, "xor:col");
  xor_text_add(&out, map, (XorSource){"col", 0, row_bits, 0}, scale);
  xor_text_add(&out, map, (XorSource){"row", row_bits, map->n, row_bits + scale}, scale);
  return out.text;
}

static void try_map(Solver *s, SolverFamily family, const XorResult *found, bool echelon) {
  if (!found->found) return;
  int n = s->patterns.chunk_bits;
  BitMap map = complete_map(found, s->patterns.column_bits, n, echelon);
  try_layout(s, family, text_of_map(s, &map, family == SOLVER_XOR));
}

static void try_xor_rows(Solver *s) {
  const LayoutSlab *slab = &s->problem->slab;
  if (!is_power_of_two(slab->row_bytes) || slab->row_bytes < s->patterns.whole_bytes) return;
  int row_bits = log2_up(slab->row_bytes / s->patterns.whole_bytes);
  // A swizzle flips bits of a line, and so of a row that is at least a line long: it is one of
  // them.
  const SolverCandidate *swizzle = &s->out->families[SOLVER_SWIZZLE];
  bool within = swizzle->layout && slab->row_bytes >= BANK_LINE_BYTES;
  int64_t ceiling = within ? swizzle->total + 1 : INT64_MAX;
  arena_reset(s->scratch);
  XorResult found =
      xor_search(s->scratch, &s->patterns, XOR_ROWS, row_bits, ceiling, SEARCH_BUDGET);
  try_map(s, SOLVER_XOR, &found, false);
  if (within) try_layout(s, SOLVER_XOR, swizzle->layout);
  s->out->families[SOLVER_XOR].exact = found.exact;
}

// First maps within a line, which read best, then all the others if they can be better.
static void try_xor_any(Solver *s) {
  SolverCandidate *best = &s->out->families[SOLVER_XOROFF];
  const LayoutSlab *slab = &s->problem->slab;
  if (slab_bytes(slab) % BANK_LINE_BYTES != 0) return;
  arena_reset(s->scratch);
  XorResult line = xor_search(s->scratch, &s->patterns, XOR_LINE, 0, INT64_MAX, SEARCH_BUDGET);
  try_map(s, SOLVER_XOROFF, &line, false);
  for (SolverFamily held = SOLVER_SWIZZLE; held <= SOLVER_XOR; held++)
    if (s->out->families[held].layout) try_layout(s, SOLVER_XOROFF, s->out->families[held].layout);
  best->exact = at_floor(s, SOLVER_XOROFF);
  if (best->exact || !is_power_of_two(slab_bytes(slab))) return;
  arena_reset(s->scratch);
  XorResult any = xor_search(s->scratch, &s->patterns, XOR_ANY, 0,
                             best->layout ? best->total : INT64_MAX, SEARCH_BUDGET_ANY);
  try_map(s, SOLVER_XOROFF, &any, true);
  best->exact = any.exact;
}

// ---- the answer ---------------------------------------------------------------------------------

static void choose_best(SolverResult *out) {
  for (int f = 0; f < SOLVER_FAMILIES; f++) {
    const SolverCandidate *candidate = &out->families[f];
    if (!candidate->layout || (out->found && candidate->total >= out->best.total)) continue;
    out->found = true;
    out->best = *candidate;
    out->family = (SolverFamily)f;
  }
}

static void cost_best(Solver *s) {
  SolverResult *out = s->out;
  SlabCost *costs = ARENA_ARRAY(s->arena, SlabCost, s->problem->n_sites);
  out->costs = costs;
  if (!out->found) return;
  arena_reset(s->scratch);
  Diags diags = diags_new(s->scratch);
  const Layout *layout = layout_parse(s->scratch, &s->problem->slab, out->best.layout, &diags);
  for (int i = 0; i < s->problem->n_sites; i++)
    costs[i] = slab_site_cost(&s->problem->sites[i], layout);
}

static void add_floor_sentence(const Solver *s, Str *out) {
  int columns = 1 << s->patterns.column_bits;
  for (int i = 0; i < s->problem->n_sites; i++) {
    int chunks = s->patterns.site_chunks[i];
    if (chunks <= columns) continue;
    const SlabSite *site = &s->problem->sites[i];
    str_printf(out,
               "%s: one phase needs %d %s%d-byte chunks at one position, and a line of banks "
               "has %d places for whole chunks: at least %d wavefronts. ",
               site->name, chunks, site->op->shares_words ? "different " : "requests for ",
               s->patterns.whole_bytes, columns, (int)ceil_div(chunks, columns));
  }
}

// The least that the phases allow, when their words lie as well as can be.
static int64_t floor_of_words(const Solver *s) {
  int64_t floor = 0;
  for (int i = 0; i < s->problem->n_sites; i++) {
    const SlabCost *cost = &s->out->costs[i];
    if (cost->known)
      floor += (int64_t)(cost->wavefronts - cost->conflicts) * s->problem->sites[i].weight;
  }
  return floor;
}

static void conclude(Solver *s) {
  SolverResult *out = s->out;
  bool all_exact = true;
  for (int f = 0; f < SOLVER_FAMILIES; f++) all_exact &= out->families[f].exact;
  // XOR maps that cut chunks were not searched: below the floor of whole chunks there is only that
  // of the words.
  bool below = out->found && out->best.total < s->patterns.floor;
  out->bound = s->patterns.floor;
  if (out->found && all_exact) out->bound = out->best.total;
  if (below) out->bound = floor_of_words(s);
  out->optimal = out->found && out->best.total == out->bound;
  Str proof = str_new(s->arena);
  add_floor_sentence(s, &proof);
  if (below)
    str_printf(&proof,
               "This holds for whole chunks, which need %" PRId64
               " or more. Every pad, and every swizzle that splits only chunks that no access "
               "needs whole, was tried too: none is below %" PRId64
               "; without whole chunks the phases would allow %" PRId64 ".",
               s->patterns.floor, out->best.total, out->bound);
  else if (!out->found)
    str_add(&proof, "No layout of these families is legal for all accesses.");
  else if (out->best.total == s->patterns.floor)
    str_printf(&proof,
               "No layout has fewer than %" PRId64 " wavefronts: every phase is at its least.",
               out->best.total);
  else if (all_exact)
    str_printf(
        &proof,
        "Every pad, every swizzle and every XOR map that keeps %d-byte chunks whole was tried "
        "or excluded: none is below %" PRId64 " (each phase alone would allow %" PRId64 ").",
        s->patterns.whole_bytes, out->best.total, s->patterns.floor);
  else
    str_printf(
        &proof,
        "Not all XOR maps were tried; with %d-byte chunks whole, each phase alone would allow "
        "a total of %" PRId64 ".",
        s->patterns.whole_bytes, s->patterns.floor);
  out->proof = proof.text;
}

SolverResult solver_solve(Arena *arena, Arena *scratch, const SolverProblem *problem) {
  SolverResult out = {.found = false};
  Solver s = {.arena = arena, .scratch = scratch, .problem = problem, .out = &out};
  s.patterns = slab_patterns_build(arena, &problem->slab, problem->sites, problem->n_sites);
  out.whole_bytes = s.patterns.whole_bytes;
  out.site_floor = s.patterns.site_floor;
  try_layout(&s, SOLVER_NONE, "none");
  try_swizzles(&s, false);
  try_xor_rows(&s);
  try_xor_any(&s);
  try_pads(&s, false);
  try_swizzles(&s, true);
  try_pads(&s, true);
  const SolverFamily tried[] = {SOLVER_NONE, SOLVER_SWIZZLE, SOLVER_PAD};
  for (int i = 0; i < 3; i++) out.families[tried[i]].exact = true;
  choose_best(&out);
  cost_best(&s);
  conclude(&s);
  return out;
}

// Recorded addresses → logical bytes of a slab → a layout → addresses again → wavefronts.
//
// The solver takes sites of equal weight for each repetition, so patterns are put together by
// operation and by how often they came; of more kinds than it takes the rarest are left to the end,
// where the layout that it found is costed with all of them.
#include "banks/solver/recorded_slab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banks/layouts/notation.h"
#include "base/str.h"
#include "base/whole.h"

BankCount recorded_count(const RecordedSite *site, const int64_t addr[BANK_LANES],
                         const int64_t global[BANK_LANES]) {
  if (site->atomic) return banks_count_atomic(site->atomic, addr);
  if (!site->op) return (BankCount){.profiled = -1, .profiled_most = -1};
  if (site->op->kind == BANK_CPASYNC) return banks_count_copy(site->op, addr, global);
  return banks_count(site->op, addr);
}

bool recorded_slab(const RecordedArray *array, LayoutSlab *out, Diags *diags) {
  *out = (LayoutSlab){.row_bytes = array->row_bytes, .elem_bytes = array->elem_bytes};
  if (array->row_bytes > 0) out->rows = (int)ceil_div(array->bytes, array->row_bytes);
  return layout_check_slab(out, diags);
}

// Where an access of one lane begins in the layout; -1: it would be torn apart or misaligned.
static int64_t moved(const RecordedArray *array, const Layout *layout, int64_t addr, int bytes) {
  const int64_t logical = addr - array->base,
                end = (int64_t)layout->slab.rows * layout->slab.row_bytes;
  if (logical < 0 || logical + bytes > end) return -1;
  const int32_t first = layout->offset_of[logical];
  if ((array->base + first) % bytes != 0) return -1;
  for (int byte = 1; byte < bytes; byte++)
    if (layout->offset_of[logical + byte] != first + byte) return -1;
  return array->base + first;
}

bool recorded_addresses(const RecordedArray *array, const RecordedSite *site, const Layout *layout,
                        const int64_t from[BANK_LANES], int64_t to[BANK_LANES]) {
  for (int lane = 0; lane < BANK_LANES; lane++) {
    to[lane] = from[lane] < 0 ? -1 : moved(array, layout, from[lane], site->bytes);
    if (from[lane] >= 0 && to[lane] < 0) return false;
  }
  return true;
}

static bool add_site(RecordedCost *cost, const RecordedArray *array, const RecordedSite *site,
                     const Layout *layout) {
  for (const RecordedPattern *p = site->patterns; p; p = p->next) {
    int64_t addr[BANK_LANES];
    memcpy(addr, p->addr, sizeof addr);
    if (layout && !recorded_addresses(array, site, layout, p->addr, addr)) return false;
    const int wavefronts = recorded_count(site, addr, p->global).profiled;
    cost->known &= wavefronts >= 0;
    if (wavefronts > 0) cost->wavefronts += wavefronts * p->times;
  }
  return true;
}

RecordedCost recorded_cost(Arena *arena, const RecordedArray *array, const RecordedSite *sites,
                           int n, const char *layout, Diags *diags) {
  RecordedCost cost = {.known = true, .storage_bytes = array->bytes};
  LayoutSlab slab;
  if (layout && !recorded_slab(array, &slab, diags)) return cost;
  const Layout *read = layout ? layout_parse(arena, &slab, layout, diags) : NULL;
  if (layout && !read) return cost;
  if (read) cost.storage_bytes = read->storage_bytes;
  for (int i = 0; i < n; i++)
    if (!add_site(&cost, array, &sites[i], read)) {
      diag_add(diags, "layout", "%s: an access of %d bytes would be split or misaligned", layout,
               sites[i].bytes);
      return cost;
    }
  cost.legal = true;
  return cost;
}

// ---- the solver's sites -------------------------------------------------------------------------

enum { KINDS_MAX = 512 };

// Patterns of one operation that came equally often, of one site or of all.
typedef struct Kind {
  int site;  // -1: all
  const BankOp *op;
  int64_t times;
  int n;
  int32_t (*logical)[BANK_LANES];
} Kind;

static Kind *kind_of(Kind *kinds, int *n, int site, const BankOp *op, int64_t times) {
  for (int i = 0; i < *n; i++)
    if (kinds[i].op == op && kinds[i].times == times && kinds[i].site == site) return &kinds[i];
  if (*n == KINDS_MAX) return NULL;
  kinds[*n] = (Kind){.site = site, .op = op, .times = times};
  return &kinds[(*n)++];
}

static void take_pattern(Arena *arena, Kind *kind, const RecordedArray *array,
                         const RecordedPattern *p) {
  if (kind->n == SLAB_REPEAT_MAX) return;
  if (is_power_of_two(kind->n) || kind->n == 0) {
    int32_t(*more)[BANK_LANES] = arena_alloc(arena, sizeof *more * (size_t)max_int(2 * kind->n, 1));
    if (kind->n) memcpy(more, kind->logical, sizeof *more * (size_t)kind->n);
    kind->logical = more;
  }
  int32_t *out = kind->logical[kind->n++];
  for (int lane = 0; lane < BANK_LANES; lane++)
    out[lane] = p->addr[lane] < 0 ? -1 : (int32_t)(p->addr[lane] - array->base);
}

static int by_weight(const void *a, const void *b) {
  const Kind *x = a, *y = b;
  const int64_t u = x->times * x->n, v = y->times * y->n;
  return (u < v) - (u > v);
}

// `of`: the site that each of them is of; NULL: sites of one operation are put together.
static SlabSite *slab_sites(Arena *arena, const RecordedArray *array, const RecordedSite *sites,
                            int n, int *n_out, int *of) {
  Kind *kinds = ARENA_ARRAY(arena, Kind, KINDS_MAX);
  int n_kinds = 0;
  for (int i = 0; i < n; i++)
    for (const RecordedPattern *p = sites[i].patterns; p && sites[i].op; p = p->next) {
      Kind *kind = kind_of(kinds, &n_kinds, of ? i : -1, sites[i].op, p->times);
      if (kind) take_pattern(arena, kind, array, p);
    }
  qsort(kinds, (size_t)n_kinds, sizeof *kinds, by_weight);
  *n_out = min_int(n_kinds, SOLVER_SITES_MAX);
  SlabSite *out = ARENA_ARRAY(arena, SlabSite, *n_out + 1);
  for (int i = 0; of && i < *n_out; i++) of[i] = kinds[i].site;
  for (int i = 0; i < *n_out; i++)
    out[i] = (SlabSite){.name = kinds[i].op->name,
                        .op = kinds[i].op,
                        .weight = (int)min64(kinds[i].times, SLAB_WEIGHT_MAX),
                        .repeat = kinds[i].n,
                        .logical = (const int32_t(*)[BANK_LANES])kinds[i].logical};
  return out;
}

// Whether every access is inside of the array.
static bool are_inside(const RecordedArray *array, const LayoutSlab *slab,
                       const RecordedSite *sites, int n) {
  const int64_t end = array->base + (int64_t)slab->rows * slab->row_bytes;
  for (int i = 0; i < n; i++)
    for (const RecordedPattern *p = sites[i].patterns; p && sites[i].op; p = p->next)
      for (int lane = 0; lane < BANK_LANES; lane++)
        if (p->addr[lane] >= 0 &&
            (p->addr[lane] < array->base || p->addr[lane] + sites[i].op->bytes > end))
          return false;
  return true;
}

bool recorded_problem(Arena *arena, const RecordedArray *array, const char *name,
                      const RecordedSite *sites, int n, SolverProblem *out,
                      int of[SOLVER_SITES_MAX], Diags *diags) {
  *out = (SolverProblem){.name = name};
  if (!recorded_slab(array, &out->slab, diags)) return false;
  if (!are_inside(array, &out->slab, sites, n)) {
    diag_add(diags, "slab", "%s: an access reaches beyond it", name);
    return false;
  }
  out->sites = slab_sites(arena, array, sites, n, &out->n_sites, of);
  return true;
}

RecordedBest recorded_solve(Arena *arena, Arena *scratch, const RecordedArray *array,
                            const char *name, const RecordedSite *sites, int n) {
  RecordedBest best = {0};
  Diags ignored = diags_new(arena);
  SolverProblem problem;
  const RecordedCost now = recorded_cost(arena, array, sites, n, NULL, &ignored);
  if (!recorded_problem(arena, array, name, sites, n, &problem, NULL, &ignored) ||
      problem.n_sites == 0)
    return best;
  const SolverResult result = solver_solve(arena, scratch, &problem);
  best.proof = result.proof;
  if (!result.found || !result.best.layout || result.family == SOLVER_NONE) return best;
  best.layout = result.best.layout;
  best.cost = recorded_cost(arena, array, sites, n, best.layout, &ignored);
  best.found = best.cost.legal && best.cost.wavefronts < now.wavefronts;
  best.write = recorded_write(arena, array, name, best.layout);
  return best;
}

// ---- in the words of CUDA -----------------------------------------------------------------------

static const char *write_swizzle(Arena *arena, const RecordedArray *array, const char *name,
                                 const char *layout) {
  int bits, base, shift;
  const int elem = log2_up(array->elem_bytes), row = log2_up(array->row_bytes);
  if (sscanf(layout, "swizzle:%d,%d,%d", &bits, &base, &shift) != 3 || base < elem || shift < 1)
    return NULL;
  const bool rows = array->has_rows && is_power_of_two(array->row_bytes) && base + shift >= row &&
                    base + bits <= row;
  const int to = base - elem, from = base + shift - row;
  const char *of = !rows ? "" : from ? arena_printf(arena, "(row >> %d)", from) : "row";
  if (!rows)
    return arena_printf(arena, "%s[i ^ ((i >> %d) & %d)]", name, shift, ((1 << bits) - 1) << to);
  if (to == 0) return arena_printf(arena, "%s[row][col ^ (%s & %d)]", name, of, (1 << bits) - 1);
  return arena_printf(arena, "%s[row][col ^ ((%s & %d) << %d)]", name, of, (1 << bits) - 1, to);
}

// The text between the quotes of xor:'…'.
static const char *quoted(Arena *arena, const char *layout) {
  const char *open = strchr(layout, '\''), *close = strrchr(layout, '\'');
  if (open && close > open) return arena_strndup(arena, open + 1, (size_t)(close - open - 1));
  return strchr(layout, ':') + 1;
}

static const char *write_pad(Arena *arena, const RecordedArray *array, const char *name, int pad) {
  const int cols = array->row_bytes / array->elem_bytes;
  if (!array->has_rows) return arena_printf(arena, "%s[i + i / %d * %d]", name, cols, pad);
  return arena_printf(arena, "%s[%d][%d + %d]", name, (int)ceil_div(array->bytes, array->row_bytes),
                      cols, pad);
}

// Tells what CuTe, Triton and others wrote, as a swizzle, a pad or an XOR where it is one; NULL: it
// is not.
static const char *in_words_of_layout(Arena *arena, const RecordedArray *array,
                                      const char *layout) {
  static const char *const dialects[] = {"swizzle", "pad", "xor"};
  Diags ignored = diags_new(arena);
  LayoutSlab slab;
  if (!recorded_slab(array, &slab, &ignored)) return NULL;
  const Layout *read = layout_parse(arena, &slab, layout, &ignored);
  if (!read) return NULL;
  const LayoutForm form = layout_form(arena, read);
  for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
    const char *why,
        *text = notation_print(arena, notation_find(dialects[i], &ignored), &form, &why);
    if (text) return text;
  }
  return NULL;
}

const char *recorded_write(Arena *arena, const RecordedArray *array, const char *name,
                           const char *layout) {
  const int cols = array->row_bytes / array->elem_bytes;
  const char *where =
      array->has_rows ? "" : arena_printf(arena, ", row = i / %d, col = i %% %d", cols, cols);
  int pad, used = 0;
  const char *written = NULL, *plain = NULL;
  if (strchr(layout, ';')) return layout;
  if (sscanf(layout, "pad:%4d%n", &pad, &used) == 1 && !layout[used])
    written = write_pad(arena, array, name, pad);
  else if (str_starts(layout, "swizzle:"))
    written = write_swizzle(arena, array, name, layout);
  else if (str_starts(layout, "xor:"))
    written = arena_printf(arena, "%s[row][%s]%s", name, quoted(arena, layout), where);
  else if (str_starts(layout, "xoroff:"))
    written = arena_printf(arena, "%s[%s], off = row * %d + col%s", name, quoted(arena, layout),
                           cols, where);
  else if (str_equal(layout, "none"))
    written = arena_printf(arena, array->has_rows ? "%s[row][col]" : "%s[i]", name);
  else
    plain = in_words_of_layout(arena, array, layout);
  if (plain) return recorded_write(arena, array, name, plain);
  return written ? written : layout;
}

// Rows and columns → logical bytes, once; logical bytes → wavefronts, for each layout that is
// tried.
//
// The formulas are evaluated when the site is built, so trying another layout costs a table look-up
// per lane. A layout is illegal for a site where it moves an access off its alignment (a pad of one
// float under a 16-byte load) or takes its bytes apart (a swizzle of single floats): hardware would
// raise a fault, or the kernel would read something else.
//
// Worked example: store B above on rows of 64 bytes, i = 0: lane l writes logical byte 256 * l. In
// row-major order all 32 lie in bank 0: 32 wavefronts, 32 ways.
#include "banks/solver/slab_site.h"

#include <inttypes.h>

#include "banks/engine/bank_input.h"
#include "banks/engine/formula.h"

enum { VAR_LANE, VAR_I };
static const FormulaName NAMES[] = {{"lane", VAR_LANE}, {"i", VAR_I}};

static bool fault(const SlabSiteText *text, int lane, int i, const char *what, Diags *diags) {
  diag_add(diags, "site", "site \"%s\", lane %d, i = %d: %s",
           str_sanitise(diags->arena, text->name), lane, i, what);
  return false;
}

// Evaluates one formula for one lane; false after a diagnostic.
static bool evaluate(const Formula *formula, const SlabSiteText *text, int lane, int i,
                     int64_t *out, Diags *diags) {
  const int64_t values[2] = {[VAR_LANE] = lane, [VAR_I] = i};
  const char *why;
  if (formula_eval(formula, values, out, &why)) return true;
  return fault(text, lane, i, arena_printf(diags->arena, "the expression %s", why), diags);
}

static bool place_lane(const LayoutSlab *slab, const BankOp *op, const SlabSiteText *text,
                       int64_t row, int64_t col, int lane, int i, int32_t *out, Diags *diags) {
  *out = BANK_INACTIVE;
  if (row == BANK_INACTIVE || col == BANK_INACTIVE) return true;
  int cols = slab->row_bytes / slab->elem_bytes;
  if (row < 0 || row >= slab->rows || col < 0 || col >= cols)
    return fault(
        text, lane, i,
        arena_printf(diags->arena, "row %" PRId64 ", col %" PRId64 " is outside the %d x %d slab",
                     row, col, slab->rows, cols),
        diags);
  int byte = (int)col * slab->elem_bytes;
  if (byte % op->bytes != 0 || byte + op->bytes > slab->row_bytes)
    return fault(text, lane, i,
                 arena_printf(diags->arena,
                              "col %" PRId64 " (byte %d) does not begin a whole %d-byte %s access",
                              col, byte, op->bytes, op->name),
                 diags);
  *out = (int32_t)(row * slab->row_bytes + byte);
  return true;
}

static bool check_numbers(const SlabSiteText *text, Diags *diags) {
  bool ok = text->repeat >= 1 && text->repeat <= SLAB_REPEAT_MAX && text->weight >= 0 &&
            text->weight <= SLAB_WEIGHT_MAX;
  if (!ok)
    diag_add(diags, "site",
             "site \"%s\": repeat %d is not from 1 to %d, or weight %d not from 0 "
             "to %d",
             str_sanitise(diags->arena, text->name), text->repeat, SLAB_REPEAT_MAX, text->weight,
             SLAB_WEIGHT_MAX);
  return ok;
}

bool slab_site_build(Arena *arena, const LayoutSlab *slab, const SlabSiteText *text, SlabSite *out,
                     Diags *diags) {
  const BankOp *op = bank_input_op(text->op, diags);
  if (!op || !check_numbers(text, diags)) return false;
  const Formula *row = formula_parse(arena, text->row, NAMES, 2, diags);
  const Formula *col = formula_parse(arena, text->col, NAMES, 2, diags);
  if (!row || !col) return false;
  int32_t(*logical)[BANK_LANES] = arena_alloc(arena, sizeof *logical * (size_t)text->repeat);
  for (int i = 0; i < text->repeat; i++) {
    for (int lane = 0; lane < BANK_LANES; lane++) {
      int64_t r = -1, c = -1;
      logical[i][lane] = BANK_INACTIVE;
      if (lane >= op->n_addresses) continue;
      if (!evaluate(row, text, lane, i, &r, diags) || !evaluate(col, text, lane, i, &c, diags) ||
          !place_lane(slab, op, text, r, c, lane, i, &logical[i][lane], diags))
        return false;
    }
  }
  *out = (SlabSite){.name = text->name, .op = op, .weight = text->weight, .repeat = text->repeat};
  out->logical = (const int32_t(*)[BANK_LANES])logical;
  return true;
}

void slab_site_addresses(const SlabSite *site, const Layout *layout, int i,
                         int64_t addr[BANK_LANES]) {
  for (int lane = 0; lane < BANK_LANES; lane++) {
    int32_t logical = site->logical[i][lane];
    addr[lane] = logical < 0 ? BANK_INACTIVE : layout->offset_of[logical];
  }
}

// Whether the bytes of each lane's access lie together, in order, at a multiple of their number.
static bool is_legal(const SlabSite *site, const Layout *layout, int i) {
  int bytes = site->op->bytes;
  for (int lane = 0; lane < BANK_LANES; lane++) {
    int32_t logical = site->logical[i][lane];
    if (logical < 0) continue;
    int32_t first = layout->offset_of[logical];
    if (first % bytes != 0) return false;
    for (int byte = 1; byte < bytes; byte++)
      if (layout->offset_of[logical + byte] != first + byte) return false;
  }
  return true;
}

SlabCost slab_site_cost(const SlabSite *site, const Layout *layout) {
  SlabCost cost = {.legal = true, .known = site->op->counted};
  for (int i = 0; i < site->repeat; i++) {
    if (!is_legal(site, layout, i)) return (SlabCost){.known = site->op->counted};
    int64_t addr[BANK_LANES];
    slab_site_addresses(site, layout, i, addr);
    BankCount count = banks_count(site->op, addr);
    cost.wavefronts += count.wavefronts;
    cost.ideal += count.ideal;
    cost.conflicts += count.conflicts;
    if (count.ways > cost.ways) cost.ways = count.ways;
  }
  return cost;
}

int slab_site_phases(const SlabSite *site, int i, int *n_lanes) {
  int64_t addr[BANK_LANES];
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = site->logical[i][lane];
  *n_lanes = site->op->lanes_per_phase << (banks_merge_distance(site->op, addr) > 0);
  return site->op->n_addresses / *n_lanes;
}

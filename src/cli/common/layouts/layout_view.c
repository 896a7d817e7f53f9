// A layout looked at from every side, as text and as JSON.
#include "cli/common/layouts/layout_view.h"

#include <stdio.h>
#include <string.h>

#include "banks/layouts/notation.h"
#include "base/str.h"
#include "cli/common/cli.h"

enum { GROUP_ROWS = 16 };

LayoutView layout_view(Arena *arena, const Layout *layout, const SlabSite *sites, int n_sites) {
  Diags unused = diags_new(arena);
  LayoutView view = {.arena = arena, .layout = layout, .sites = sites, .n_sites = n_sites};
  view.plain = layout_parse(arena, &layout->slab, "none", &unused);
  view.facts = layout_examine(arena, layout);
  bool foreign = notation_is(layout->text);
  view.canonical = foreign ? notation_canonical(arena, layout) : layout->text;
  view.other = layout_other(arena, layout);
  if (!view.facts.bijective) view.n_sites = 0;
  return view;
}

// ---- text ---------------------------------------------------------------------------------------

static char *place_of(const LayoutView *view, int logical) {
  const LayoutSlab *slab = &view->layout->slab;
  int inside = logical % slab->row_bytes, byte = inside % slab->elem_bytes;
  char *at = arena_printf(view->arena, "row %d, col %d", logical / slab->row_bytes,
                          inside / slab->elem_bytes);
  return byte ? arena_printf(view->arena, "%s, byte %d", at, byte) : at;
}

// Wavefronts of all sites in a layout; -1: one of them cannot run in it, or has no counts.
static int wavefronts_in(const LayoutView *view, const Layout *layout) {
  int n = 0;
  for (int i = 0; i < view->n_sites; i++) {
    const SlabCost cost = slab_site_cost(&view->sites[i], layout);
    if (!cost.known || !cost.legal) return -1;
    n += cost.wavefronts;
  }
  return n;
}

static const char *say_wavefronts(const LayoutView *view, const Layout *layout) {
  const int n = wavefronts_in(view, layout);
  return n < 0 ? "not all accesses below can run"
               : arena_printf(view->arena, "the accesses below take %d wavefronts", n);
}

// Which unit the numbers of a typed swizzle were taken in, and what they are in the other one.
static void print_unit(const LayoutView *view) {
  const LayoutOther *other = &view->other;
  const char *unit = layout_unit_name(view->layout->unit);
  if (!unit) return;
  printf("swizzle counted in  %s", unit);
  if (other->unit && !view->turned) printf(": %s", say_wavefronts(view, view->layout));
  if (other->unit)
    printf("\nin %-8s it is   %s", layout_unit_name(other->unit),
           str_sanitise(view->arena, other->canonical));
  if (other->layout && !view->turned) printf(": %s", say_wavefronts(view, other->layout));
  if (other->unit) printf("\nto type that        %s", str_sanitise(view->arena, other->text));
  printf("\n\n");
}

static const char *yes(bool value) { return value ? "yes" : "no"; }

// Whether elements that share a place are meant to: every place taken has the same number of them.
bool layout_view_is_broadcast(const LayoutView *view) {
  const Layout *layout = view->layout;
  const int n = layout->slab.rows * layout->slab.row_bytes;
  if (layout->shared < 2) return false;
  int *count = ARENA_ARRAY(view->arena, int, layout->storage_bytes);
  memset(count, 0, sizeof *count * (size_t)layout->storage_bytes);
  for (int byte = 0; byte < n; byte++) count[layout->offset_of[byte]]++;
  for (int place = 0; place < layout->storage_bytes; place++)
    if (count[place] > layout->shared) return false;  // the last ones of a row may be fewer
  return true;
}

void layout_view_print_facts(const LayoutView *view) {
  const LayoutFacts *facts = &view->facts;
  const LayoutSlab *slab = &view->layout->slab;
  if (notation_is(view->layout->text))
    printf("%s, which is%s\n", str_sanitise(view->arena, view->layout->text),
           view->turned ? ", with rows and columns changed round," : "");
  printf("%s\n%d rows of %d bytes, elements of %d; %d bytes of shared memory\n\n",
         str_sanitise(view->arena, view->canonical), slab->rows, slab->row_bytes, slab->elem_bytes,
         view->layout->storage_bytes);
  print_unit(view);
  if (facts->bijective)
    printf("bijection           yes\n");
  else if (layout_view_is_broadcast(view))
    printf("broadcast           %d elements lie in each place\n", view->layout->shared);
  else
    printf("bijection           no: %s and %s both lie at byte %d\n",
           place_of(view, facts->clash[0]), place_of(view, facts->clash[1]),
           view->layout->offset_of[facts->clash[0]]);
  printf("linear over bits    %s%s\n", yes(facts->linear),
         facts->linear && facts->constant ? " (and a constant)" : "");
  printf("chunks kept whole   %d bytes\n", facts->whole_bytes);
  printf("vectors of 4 8 16   %s %s %s\n", yes(facts->whole_bytes >= 4),
         yes(facts->whole_bytes >= 8), yes(facts->whole_bytes >= 16));
  printf("ldmatrix, cp.async 16  %s\n", yes(facts->whole_bytes >= 16));
}

static void print_cost(const SlabCost *cost) {
  if (!cost->known)
    printf("  %18s", "unknown");
  else if (!cost->legal)
    printf("  %18s", "not aligned");
  else
    printf("  %10d %7d", cost->wavefronts, cost->ways);
}

void layout_view_print_sites(const LayoutView *view) {
  if (view->n_sites == 0) return;
  printf("\n%-24s %-9s  %18s  %18s\n", "", "", "row by row", "in this layout");
  printf("%-24s %-9s  %10s %7s  %10s %7s\n", "site", "op", "wavefronts", "ways", "wavefronts",
         "ways");
  for (int i = 0; i < view->n_sites; i++) {
    SlabCost before = slab_site_cost(&view->sites[i], view->plain);
    SlabCost after = slab_site_cost(&view->sites[i], view->layout);
    printf("%-24s %-9s", str_sanitise(view->arena, view->sites[i].name), view->sites[i].op->name);
    print_cost(&before);
    print_cost(&after);
    putchar('\n');
  }
}

static void print_bits(const LayoutView *view) {
  if (!view->facts.linear) return;
  Str out = str_new(view->arena);
  str_add(&out, "\nbits of the byte index (columns) and of the offset in shared memory (rows)\n");
  layout_print_bits(&out, &view->facts);
  fputs(out.text, stdout);
}

void layout_view_print_groups(const LayoutView *view, bool map) {
  if (view->layout->slab.row_bytes < 16 || view->facts.whole_bytes < 16) return;
  Str out = str_new(view->arena);
  str_add(&out, "\nbank group (0-7: four banks each) of each 16-byte chunk\n");
  layout_print_groups(&out, view->layout, map ? view->layout->slab.rows : GROUP_ROWS);
  fputs(out.text, stdout);
}

void layout_view_print(const LayoutView *view, bool map) {
  layout_view_print_facts(view);
  print_bits(view);
  layout_view_print_groups(view, map);
  layout_view_print_sites(view);
}

// ---- JSON ---------------------------------------------------------------------------------------

// An access in the two layouts.
typedef struct ViewedSite {
  const SlabSite *site;
  SlabCost before, after;
} ViewedSite;

static const ViewedSite *sites_of(const LayoutView *view) {
  ViewedSite *out = ARENA_ARRAY(view->arena, ViewedSite, view->n_sites);
  for (int i = 0; i < view->n_sites; i++)
    out[i] = (ViewedSite){&view->sites[i], slab_site_cost(&view->sites[i], view->plain),
                          slab_site_cost(&view->sites[i], view->layout)};
  return out;
}

// Row and column of the two elements that clash.
static const int *clash_of(const LayoutView *view) {
  const LayoutSlab *slab = &view->layout->slab;
  int *out = ARENA_ARRAY(view->arena, int, 4);
  for (int i = 0; i < 2; i++) {
    out[2 * i] = view->facts.clash[i] / slab->row_bytes;
    out[2 * i + 1] = view->facts.clash[i] % slab->row_bytes / slab->elem_bytes;
  }
  return out;
}

// The offset of each element, row by row.
static const int *map_of(const LayoutView *view) {
  const LayoutSlab *slab = &view->layout->slab;
  const int n = slab->rows * slab->row_bytes / slab->elem_bytes;
  int *out = ARENA_ARRAY(view->arena, int, n);
  for (int i = 0; i < n; i++) out[i] = view->layout->offset_of[i * slab->elem_bytes];
  return out;
}

#define FORM_FILE "cli/common/layouts/layout_view.form"
#include "base/form_make.h"

int layout_view_status(const LayoutView *view) {
  if (view->facts.bijective || layout_view_is_broadcast(view)) return CLI_OK;
  return cli_error(CLI_USAGE, "not a bijection: %s and %s both lie at byte %d of shared memory",
                   place_of(view, view->facts.clash[0]), place_of(view, view->facts.clash[1]),
                   view->layout->offset_of[view->facts.clash[0]]);
}

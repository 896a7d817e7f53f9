// Tells what `swizzle`, `layout` and `descriptor` show of a layout: facts, bits, bank groups, and
// what accesses cost in it beside the same slab row by row.
#pragma once
#include "banks/layouts/layout_unit.h"
#include "banks/solver/slab_site.h"
#include "base/form.h"

typedef struct LayoutView {
  Arena *arena;
  const Layout *layout, *plain;
  const char *canonical;  // of another's dialect: what it is in this program's own, or in CuTe's
  LayoutOther other;      // the typed swizzle read in the other unit
  bool turned;            // the layout's rows are columns of what the text says
  LayoutFacts facts;
  const SlabSite *sites;
  int n_sites;  // 0 where two elements lie in one place
  bool map;     // documents have the offset of every element
} LayoutView;

LayoutView layout_view(Arena *arena, const Layout *layout, const SlabSite *sites, int n_sites);

// `map`: all rows and not only the first ones.
void layout_view_print(const LayoutView *view, bool map);
void layout_view_print_facts(const LayoutView *view);
void layout_view_print_groups(const LayoutView *view, bool map);
void layout_view_print_sites(const LayoutView *view);
// Elements that lie in one place are meant to: a stride of 0, factors that elements share.
bool layout_view_is_broadcast(const LayoutView *view);
extern const Form layout_view_form;
// CLI_OK, or what a layout that is no bijection ends with, which is said on stderr.
int layout_view_status(const LayoutView *view);

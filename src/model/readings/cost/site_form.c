// The widths in which a site's accesses could be executed, and a count of each → the site as it is
// executed.
//
// derive_sites has counted what every width would cost if all of a statement's accesses were merged
// to it. Machine code, or the prediction, says how many accesses are merged: each form pays its
// share of that.
//
// Worked example, b <- B_s of eight floats, 16 k-steps, 8 warps: 128 LDS per warp and slab as the
// program says it. The assembler makes 3 LDS.128 and 116 LDS of them: the wide form would be 32 per
// warp if it were alone, so it pays 3/32 of its clocks, and the narrow one 116/128 of its own.
#include <math.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/stmt.h"
#include "model/readings/cost/merge.h"
#include "model/readings/derive.h"

static const char *const words[] = {"written", "predicted", "compiled"};
const char *access_word_name(AccessWord word) { return words[word]; }

double access_certainty(AccessWord word) {
  return word == ACCESS_PREDICTED ? (double)MERGE_RIGHT / MERGE_COUNTED : NAN;
}

static void lead(Site *site, const SiteForm *form) {
  site->op = form->op;
  site->count = form->count;
  site->warp = form->warp;
  for (int lane = 0; lane < BANK_LANES; lane++) site->addr[lane] = form->addr[lane];
}

// The wider of two equal ones costs more: fewer instructions stand for as much.
static bool costs_more(const SiteForm *a, const SiteForm *b) {
  return a->clocks != b->clocks ? a->clocks > b->clocks : a->executions < b->executions;
}

static void sort_forms(SiteForm *form, int n) {
  for (int i = 1; i < n; i++)
    for (int k = i; k > 0 && costs_more(&form[k], &form[k - 1]); k--) {
      SiteForm swap = form[k];
      form[k] = form[k - 1];
      form[k - 1] = swap;
    }
}

void site_take_forms(Arena *arena, Site *site, const SiteForm *form, int n) {
  SiteForm *kept = ARENA_ARRAY(arena, SiteForm, n);
  site->n_forms = n;
  site->form = kept;
  site->executions = site->clocks = site->ideal = site->profiled = site->profiled_most = 0;
  for (int i = 0; i < n; i++) {
    kept[i] = form[i];
    site->executions += form[i].executions;
    site->clocks += form[i].clocks;
    site->ideal += form[i].ideal;
    site->profiled += form[i].profiled;
    site->profiled_most += form[i].profiled_most;
  }
  sort_forms(kept, n);
  lead(site, &kept[0]);
  const Op *op = &site->stmt->op;
  site->text = arena_printf(arena, "%s <- %s  %s", op->dst.buffer->name, op->src.buffer->name,
                            site->op->sass);
}

static SiteForm scaled(const SiteForm *all, double executions) {
  SiteForm form = *all;
  double share = executions / all->executions;
  form.executions = executions;
  form.clocks *= share;
  form.ideal *= share;
  form.profiled *= share;
  form.profiled_most *= share;
  return form;
}

// The forms that are named for the site; -1 when one of them has no count.
static int find_forms(const Site *written, const MachineAccesses *machine, SiteForm *out) {
  int n = 0;
  for (int i = 0; i < machine->n; i++) {
    const MachineAccess *access = &machine->access[i];
    if (access->stmt_id != written->stmt->id || access->is_store != written->is_store) continue;
    int at = 0;
    while (at < written->n_widths && written->width[at].op->bytes != access->bytes) at++;
    if (at == written->n_widths || n == SITE_FORMS_MAX) return -1;
    out[n++] = scaled(&written->width[at], access->executions);
  }
  return n;
}

Sites sites_executed(Arena *arena, const Sites *sites, const MachineAccesses *machine,
                     AccessWord word) {
  Site *out = ARENA_ARRAY(arena, Site, sites->n);
  for (int i = 0; i < sites->n; i++) {
    SiteForm form[SITE_FORMS_MAX];
    out[i] = sites->site[i];
    const Site *written = out[i].written;
    int n = written->executions > 0 ? find_forms(written, machine, form) : 0;
    if (n <= 0) continue;
    site_take_forms(arena, &out[i], form, n);
    out[i].word = word;
  }
  return (Sites){sites->n, out, sites->lines, sites->copies};
}

const char *site_forms_text(Arena *arena, const Site *site) {
  static const char *const says[] = {"as written", "predicted", "as compiled"};
  Str out = str_new(arena);
  if (site->n_widths < 2 || !(site->executions > 0)) return "";
  for (int i = 0; i < site->n_forms; i++)
    str_printf(&out, "%s%.4g %s", i ? " + " : "", site->form[i].executions, site->form[i].op->sass);
  str_printf(&out, ", %s", says[site->word]);
  if (site->word == ACCESS_PREDICTED)
    str_printf(&out, ", right in %d %%", (int)(access_certainty(site->word) * 100));
  return out.text;
}

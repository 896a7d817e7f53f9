// The opened kernel for the views that show whichever kernel was brought: its accesses to shared
// memory as sites, the array that one of them is to as a slab, its lines.
//
// The site under the cursor of view `own` is the one under theirs: banks at a line, and back at
// that line. Worked example, a transpose: "line 39 <- tile  LDS" is site 5, the worst of its 256
// executions is drawn; "." goes to the next addresses that it had.
//
// Atomic operations have no punch card and are left to view `own`.
#include "tui/session/subject.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "tui/views/own/own_subject.h"
#include "tui/views/own/own_work.h"

// ---- accesses -----------------------------------------------------------------------------------

bool own_is_listed(const OpenedSite *site) { return site->shared && site->recorded.op; }

// Index into opened->sites of the i-th access; n where there are fewer.
static int nth_listed(const Opened *opened, int i) {
  for (int s = 0; s < opened->n_sites; s++)
    if (own_is_listed(&opened->sites[s]) && i-- == 0) return s;
  return opened->n_sites;
}

static bool stores(const BankOp *op) {
  return op->kind == BANK_STORE || op->kind == BANK_STMATRIX || op->kind == BANK_CPASYNC;
}

static const char *site_text(Arena *arena, const OwnFrame *frame, const OpenedSite *site) {
  const Opened *o = frame->opened;
  const char *array = site->array >= 0 ? o->arrays[site->array].name : "shared memory";
  const int line = opened_line_of(frame->source, &site->chain, site->ptx_line, frame->work->calls);
  const char *place =
      line ? arena_printf(arena, "line %d", line) : arena_printf(arena, "PTX %d", site->ptx_line);
  const bool to = stores(site->recorded.op);
  return arena_printf(arena, "%s <- %s  %s", to ? array : place, to ? place : array,
                      site->recorded.op->sass);
}

static DType type_of(int bytes) {
  return bytes == 1 ? DTYPE_S8 : bytes == 2 ? DTYPE_F16 : bytes == 8 ? DTYPE_F64 : DTYPE_F32;
}

Buffer *own_buffer(Arena *arena, const OpenedArray *array, int id) {
  Buffer *out = ARENA_NEW(arena, Buffer);
  const RecordedArray *at = &array->at;
  *out = (Buffer){.id = id,
                  .name = arena_strdup(arena, array->name),
                  .space = SPACE_SHARED,
                  .type = type_of(at->elem_bytes),
                  .rank = 2,
                  .offset_bytes = at->base};
  const int cols = max_int(1, at->row_bytes / dtype_bytes(out->type));
  out->dim[0] = ceil_div(at->bytes, at->row_bytes);
  out->dim[1] = out->stride[0] = cols;
  out->stride[1] = 1;
  return out;
}

static Site site_of(Arena *arena, const OwnFrame *frame, const OpenedSite *from, int number) {
  const Opened *o = frame->opened;
  Site site = {.number = number,
               .is_store = stores(from->recorded.op),
               .op = from->recorded.op,
               .executions = (double)from->executions,
               .clocks = (double)from->wavefronts,
               .ideal = (double)from->ideal,
               .text = site_text(arena, frame, from),
               .word = o->as_compiled ? ACCESS_COMPILED : ACCESS_PREDICTED};
  if (from->array >= 0) site.slab = own_buffer(arena, &o->arrays[from->array], from->array);
  memcpy(site.addr, from->worst, sizeof site.addr);
  site.count = recorded_count(&from->recorded, from->worst, from->worst_global);
  // The worst of its sources need not be that of its addresses.
  if (!site.count.known) site.count.profiled = from->worst_wavefronts;
  return site;
}

static const RecordedPattern *pattern_at(const RecordedSite *site, int i) {
  const RecordedPattern *p = site->patterns;
  while (p && i-- > 0) p = p->next;
  return p;
}

static Accesses accesses_of(Arena *arena, const OwnFrame *frame, int *at) {
  const Opened *o = frame->opened;
  Site *sites = ARENA_ARRAY(arena, Site, o->n_sites + 1);
  int n = 0;
  *at = -1;
  for (int i = 0; i < o->n_sites; i++) {
    if (!own_is_listed(&o->sites[i])) continue;
    if (&o->sites[i] == frame->site) *at = n;
    sites[n] = site_of(arena, frame, &o->sites[i], n + 1);
    sites[n].written = &sites[n];
    n++;
  }
  return (Accesses){.n = n,
                    .site = sites,
                    .wavefronts = (double)o->wavefronts,
                    .per = "in all",
                    .none =
                        "This line does not use shared memory. Up and Down choose a line that "
                        "does."};
}

// ---- the one under the cursor -------------------------------------------------------------------

static const char *execution_text(Arena *arena, const OwnWork *work, const OpenedSite *site) {
  const RecordedPattern *p =
      work->execution ? pattern_at(&site->recorded, work->execution - 1) : NULL;
  if (p)
    return arena_printf(arena, "addresses %d of %d, %" PRId64 " times", work->execution,
                        site->recorded.n_patterns, p->times);
  return arena_printf(arena, "the worst of %" PRId64, site->executions);
}

// Puts the execution that is looked at into the site.
static void show_execution(Site *to, OwnWork *work, const OpenedSite *site, int index) {
  if (work->execution_of != index || work->execution > site->recorded.n_patterns)
    work->execution = 0;
  work->execution_of = index;
  if (!work->execution) return;
  const RecordedPattern *p = pattern_at(&site->recorded, work->execution - 1);
  memcpy(to->addr, p->addr, sizeof to->addr);
  to->count = recorded_count(&site->recorded, p->addr, p->global);
}

static const char *sentence_of(Arena *arena, const OwnFrame *frame, const OpenedSite *site) {
  char formula[512];
  const char *text = frame->source->line[frame->line - 1];
  return arena_printf(arena, "%d  %s   %s", frame->line, text + strspn(text, " "),
                      own_formula(frame->opened, site, formula));
}

// The layout on trial, else the solver's, and the access in it.
static void offer_better(Arena *arena, Subject *out, const OwnFrame *frame, const Site *site) {
  const OpenedSite *from = frame->site;
  const OwnTrial *trial = &frame->work->trial;
  const bool tries = trial->layout && trial->array == from->array;
  const Layout *layout = tries ? trial->read : frame->work->layouts.best;
  int64_t addr[BANK_LANES];
  if (from->array < 0 || !layout) return;
  const OpenedArray *array = &frame->opened->arrays[from->array];
  out->offer = tries ? trial->layout : array->best;
  if (!recorded_addresses(&array->at, &from->recorded, layout, site->addr, addr)) return;
  BankMap *map = ARENA_NEW(arena, BankMap);
  banks_map(map, from->recorded.op, addr);
  out->best = map;
}

static void look_at_access(Session *session, Subject *out, const OwnFrame *frame) {
  Arena *arena = session->frame;
  OwnWork *work = own_work(session);
  const OpenedSite *from = frame->site;
  Site *site = (Site *)&out->accesses.site[out->at];
  show_execution(site, work, from, (int)(from - frame->opened->sites));
  banks_map(&out->map, site->op, site->addr);
  own_layouts_of(work, from->array);
  offer_better(arena, out, frame, site);
  out->slab = from->array;
  if (work->layouts.plain) out->layout = (AccessLayout){work->layouts.plain, "none"};
  out->execution = execution_text(arena, work, from);
  out->forms = arena_printf(arena, out->best ? "%s; anew: %s" : "%s",
                            frame->opened->as_compiled ? "as compiled" : "predicted", out->offer);
  out->sentence = sentence_of(arena, frame, from);
}

// ---- what the views ask for ---------------------------------------------------------------------

static void choose(Session *session, int i) {
  const Opened *opened = own_work(session)->opened;
  const int site = nth_listed(opened, i);
  if (site < opened->n_sites) own_look_at(session, site);
}

static void step_execution(Session *session, int step) {
  OwnWork *work = own_work(session);
  const OwnFrame *frame = own_look(session);
  if (!frame->site) return;
  const int n = 1 + frame->site->recorded.n_patterns;
  work->execution = (work->execution + step + n) % n;
}

static const char *no_clock(const Opened *opened) {
  if (opened->no_clock) return opened->no_clock;
  return opened->is_machine_code ? "The clock has no result for this run."
                                 : "The clock plays machine code, and this run used PTX: give "
                                   "--machine, or open FILE.cubin.";
}

const Subject *own_subject(Session *session) {
  const OwnFrame *frame = own_look(session);
  if (!frame->opened) return NULL;
  Subject *out = ARENA_NEW(session->frame, Subject);
  *out = (Subject){.generation = frame->work->generation,
                   .slab = -1,
                   .line = frame->line,
                   .choose = choose,
                   .step_execution = step_execution,
                   .slab_problem = own_slab_problem,
                   .lay = own_lay,
                   .atom = own_atom,
                   .text = own_text,
                   .clock = own_clock,
                   .no_clock = no_clock(frame->opened)};
  out->accesses = accesses_of(session->frame, frame, &out->at);
  if (out->at >= 0) look_at_access(session, out, frame);
  return out;
}

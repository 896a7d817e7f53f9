// Launch and arguments, as given or as recorded → a machine; its blocks, one after the other.
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "cli/open/open_capsule.h"
#include "cli/open/open_parts.h"
#include "ptx/module/signature.h"

enum { SAY_EVERY_MS = 100 };

static void say_block(const OpenRequest *request, int64_t n, int64_t of, int64_t *next_ms) {
  if (!request->detail || clock_ms() < *next_ms) return;
  fprintf(stderr, "running block %lld of %lld\n", (long long)n + 1, (long long)of);
  *next_ms = clock_ms() + SAY_EVERY_MS;
}

typedef struct AllBlocks {
  const OpenRequest *request;
  OpenResult *r;
  int64_t next_ms, of, at_once;
} AllBlocks;

static bool begin_cluster(void *self) {
  AllBlocks *all = self;
  OpenResult *r = all->r;
  if (r->n_blocks && r->followed) open_follow_block(r->followed);
  say_block(all->request, r->n_blocks, all->of, &all->next_ms);
  if (r->record) ptx_record_block(r->record);
  r->n_blocks += all->at_once;
  return false;
}

PtxOutcome open_run_blocks(const OpenRequest *request, OpenResult *r, PtxMachine *machine,
                           const OpenBlocks *b) {
  AllBlocks all = {.request = request, .r = r, .of = 1, .at_once = 1};
  for (int d = 0; d < 3; d++) {
    all.of *= b->last[d] - b->first[d] + 1;
    if (b->all) all.at_once *= ptx_machine_cluster(machine)[d];
  }
  PtxOutcome outcome;
  if (r->launch.cooperative) {
    if (r->record) ptx_record_block(r->record);
    r->n_blocks = all.of;
    outcome = ptx_machine_run_grid(machine, b->all ? NULL : b->first);
  } else if (b->all) {
    outcome = ptx_machine_run_all(machine, begin_cluster, &all);
  } else {
    begin_cluster(&all);
    outcome = ptx_machine_run_waiting(machine, b->first);
  }
  if (r->followed) open_follow_block(r->followed);
  return outcome;
}

static PtxMachine *make_recorded(OpenResult *r, const OpenRequest *given, OpenBlocks *blocks,
                                 Diags *diags) {
  const Capsule *capsule = r->text.capsule;
  if (given->launch || given->args.count) {
    diag_add(diags, "usage",
             "a capsule brings its launch and arguments: leave out --launch and "
             "--arg");
    return NULL;
  }
  if (!open_capsule_launch(capsule, given->blocks, &r->launch, diags)) return NULL;
  const char *which = given->blocks ? given->blocks : open_capsule_blocks(capsule);
  if (!open_read_blocks(which, &r->launch, blocks, diags)) return NULL;
  r->launch.budget = given->budget * INT64_C(1000000);
  PtxMachine *machine = ptx_machine_new(r->arena, r->module, r->kernel, &r->launch, diags);
  return machine && open_give_capsule(r->arena, machine, r->module, r->kernel, capsule,
                                      given->touched, &r->buffers, diags)
             ? machine
             : NULL;
}

// A launch as far as it is known before anybody says it: threads by .reqntid, threads and shared
// memory by the file that Triton leaves beside its PTX. True: it is one of Triton's.
static bool settle_launch(OpenResult *r) {
  r->launch = (PtxLaunch){0};
  const bool of_triton = open_triton_launch(r->arena, r->path, &r->launch);
  if (r->kernel->reqntid[0] > 0)
    memcpy(r->launch.block, r->kernel->reqntid, sizeof r->launch.block);
  return of_triton;
}

// Triton's last two parameters are scratch memory, of which most kernels use none: 0.
static OptionList with_scratch(const OpenResult *r, const OptionList *given) {
  enum { SCRATCH = 2 };
  const int n = r->kernel->n_params;
  if (given->count >= n || given->count < n - SCRATCH) return *given;
  const char **all = ARENA_ARRAY(r->arena, const char *, n + 1);
  for (int i = 0; i < n; i++) all[i] = i < given->count ? given->items[i] : "0";
  return (OptionList){all, n};
}

PtxMachine *open_make_machine(OpenResult *r, const OpenRequest *given, OpenBlocks *blocks,
                              Diags *diags) {
  if (r->text.capsule) return make_recorded(r, given, blocks, diags);
  if (!given->launch) {
    Diag *diag = diag_add(diags, "usage", "--launch is missing: the grid and block of %s",
                          ptx_signature_text(r->arena, r->kernel));
    settle_launch(r);
    diag->nearest =
        arena_printf(r->arena, "--launch grid=1,block=%d,smem=%d",
                     r->launch.block[0] ? r->launch.block[0] : 128, r->launch.dynamic_smem);
    return NULL;
  }
  const bool of_triton = settle_launch(r);
  if (!open_read_launch(given->launch, &r->launch, diags)) return NULL;
  if (!open_read_blocks(given->blocks, &r->launch, blocks, diags)) return NULL;
  r->launch.budget = given->budget * INT64_C(1000000);
  PtxMachine *machine = ptx_machine_new(r->arena, r->module, r->kernel, &r->launch, diags);
  if (!machine) return NULL;
  const OptionList args = of_triton ? with_scratch(r, &given->args) : given->args;
  return open_give_args(r->arena, machine, r->module, r->kernel, args.count, args.items,
                        &r->buffers, diags)
             ? machine
             : NULL;
}

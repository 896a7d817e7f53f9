// Request → text → kernel → machine → blocks → lines.
#include "cli/open/open_run.h"

#include <fnmatch.h>

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/watch.h"
#include "cli/common/cli.h"
#include "cli/open/library/open_library.h"
#include "cli/open/open_capsule.h"
#include "cli/open/open_compare.h"
#include "cli/open/open_cubin.h"
#include "cli/open/open_declared.h"
#include "cli/open/open_input.h"
#include "cli/open/open_memory.h"
#include "cli/open/open_parts.h"

// Tells what is being done now, one line of stderr, for a user who waits.
static void say(const OpenRequest *request, const char *what) {
  if (request->detail) fprintf(stderr, "%s\n", what);
}

// A capsule holds one kernel, which may be named as record takes names.
static const PtxFunction *recorded_kernel(const OpenRequest *request, const OpenResult *of,
                                          Diags *diags) {
  const char *kernel = of->text.capsule->kernel, *plain = ptx_plain_name(of->arena, kernel);
  if (!request->kernel || fnmatch(request->kernel, kernel, 0) == 0 ||
      fnmatch(request->kernel, plain, 0) == 0)
    return ptx_module_kernel(of->module, kernel, diags);
  diag_add(diags, "capsule", "--kernel %s: the capsule holds a launch of %s",
           str_sanitise(of->arena, request->kernel), str_sanitise(of->arena, plain));
  return NULL;
}

// The one that was recorded, or is asked for, else the only one, else that of the last time.
static const PtxFunction *choose_kernel(Arena *arena, const OpenRequest *request,
                                        const OpenResult *of, Diags *diags) {
  const PtxModule *module = of->module;
  Diags others = diags_new(arena);
  if (of->text.capsule) return recorded_kernel(request, of, diags);
  if (request->kernel) return ptx_module_kernel(module, request->kernel, diags);
  const char *last = open_recall_kernel(arena, request->path);
  const PtxFunction *kernel = last ? ptx_module_kernel(module, last, &others) : NULL;
  return kernel ? kernel : ptx_module_kernel(module, NULL, diags);
}

// The machine code of the kernel in place of its PTX.
static int read_machine(const OpenRequest *request, OpenResult *r, Diags *diags) {
  const char *why = NULL;
  if (r->module->machine) {
    r->cubin = r->text.ptx;
    r->cubin_bytes = r->text.bytes;
    return CLI_OK;
  }
  say(request, "reading the machine code");
  r->cubin = open_machine_code(r, &r->cubin_bytes, &why);
  if (!r->cubin) {
    diag_add(diags, "machine", "there is no machine code to run: %s", why);
    return CLI_MISSING;
  }
  const OpenRequest of = {.path = request->path, .kernel = r->kernel->name};
  const PtxModule *ptx = r->module;
  r->module = open_cubin(r->arena, &of, r->text.capsule, r->cubin, r->cubin_bytes, false, diags);
  if (r->module && !request->ncu)
    r->module =
        open_place_code(r->arena, r->module, ptx, r->kernel->name, r->cubin, r->cubin_bytes);
  r->kernel = r->module ? ptx_module_kernel(r->module, r->kernel->name, diags) : NULL;
  return r->kernel ? CLI_OK : CLI_USAGE;
}

// A text of PTX, or a cubin, of which a capsule names the kernel.
static const PtxModule *read_module(Arena *arena, const OpenRequest *request, const OpenResult *out,
                                    bool module_only, Diags *diags) {
  const OpenText *text = &out->text;
  const char *what = str_sanitise(arena, ptx_base_name(request->path));
  if (!open_is_cubin(text->ptx, text->bytes))
    return ptx_module_read(arena, text->ptx, text->bytes, what, diags);
  OpenRequest of = *request;
  if (text->capsule) of.kernel = text->capsule->kernel;
  return open_cubin(arena, &of, text->capsule, text->ptx, text->bytes, module_only, diags);
}

int open_read_kernel(Arena *arena, const OpenRequest *request, bool module_only, OpenResult *out,
                     Diags *diags) {
  *out = (OpenResult){.arena = arena, .path = request->path, .made_here = request->made_here};
  say(request, "compiling");
  OpenRequest of_library = *request;
  OpenLibrary library;
  if (open_library(arena, request->path, &library)) {
    out->text = open_library_text(arena, &library, &of_library.kernel, diags);
    open_library_close(&library);
    request = &of_library;
  } else {
    out->text = open_read_text(arena, request->path, request->n_flags, request->flags, diags);
  }
  if (out->text.capsule)
    out->launches = open_capsule_launches(arena, out->text.capsule, &out->n_launches);
  if (!out->text.ptx) return out->text.status;
  if (request->watched && out->text.n_files)
    watch_set(request->watched, out->text.files, out->text.n_files);
  out->compiler = out->text.compiler;
  out->module = read_module(arena, request, out, module_only, diags);
  if (!out->module) return CLI_USAGE;
  if (module_only) return CLI_OK;
  out->kernel = choose_kernel(arena, request, out, diags);
  if (!out->kernel) return CLI_USAGE;
  return request->machine || out->module->machine ? read_machine(request, out, diags) : CLI_OK;
}

static bool read_slabs(const OpenRequest *given, OpenResult *r, Diags *diags) {
  PtxPitch *slabs = ARENA_ARRAY(r->arena, PtxPitch, given->slabs.count + 1);
  for (int i = 0; i < given->slabs.count; i++)
    if (!open_read_slab(given->slabs.items[i], &slabs[i], r->arena, diags)) return false;
  r->slabs = slabs;
  return true;
}

// The rows of arrays: as given first, then as the source declares them.
static void find_arrays(const OpenRequest *given, OpenResult *r) {
  const char *source = open_source_text(r);
  int n = 0;
  const PtxPitch *declared = source ? open_declared(r->arena, source, &n) : NULL;
  PtxPitch *all = ARENA_ARRAY(r->arena, PtxPitch, n + given->slabs.count + 1);
  if (given->slabs.count) memcpy(all, r->slabs, sizeof *all * (size_t)given->slabs.count);
  if (n) memcpy(all + given->slabs.count, declared, sizeof *all * (size_t)n);
  r->arrays = ptx_record_arrays(r->arena, r->record, r->machine, all, n + given->slabs.count);
}

static void find_cures(OpenResult *r) {
  Arena *scratch = arena_new("solver");
  OpenCure *cures = ARENA_ARRAY(r->arena, OpenCure, r->arrays.n + 1);
  for (int i = 0; i < r->arrays.n; i++) {
    const PtxArray *array = &r->arrays.items[i];
    Diags ignored = diags_new(r->arena);
    int n = 0;
    const RecordedSite *sites = ptx_record_of_array(r->arena, r->record, i, &n);
    cures[i].now = recorded_cost(r->arena, &array->at, sites, n, NULL, &ignored).wavefronts;
    cures[i].best = recorded_solve(r->arena, scratch, &array->at, array->name, sites, n);
  }
  r->cures = cures;
  arena_free(scratch);
}

// Registers of a thread when its block begins, for setmaxnreg; -1: ptxas left that out, as it does
// where it does not know them.
static int registers_at_begin(const OpenResult *r) {
  for (int i = 0; r->sass && i < r->sass->n_counts; i++) {
    const SassCount *count = &r->sass->counts[i];
    if (str_equal(count->kernel, r->kernel->name) && str_starts(count->opcode, "USETMAXREG"))
      return r->registers;
  }
  return r->sass ? -1 : 0;
}

// The orders of a text ask its machine code for nothing but the registers that it begins with: that
// is a second of ptxas and nvdisasm.
static bool wants_machine_code(const OpenRequest *given, const OpenResult *r) {
  return !r->module->machine && !given->predict &&
         (!given->orders || ptx_module_sets_registers(r->module));
}

static void run_kernel(const OpenRequest *given, OpenResult *r, const OpenBlocks *blocks,
                       PtxMachine *machine) {
  PtxTally *tally = ptx_tally_new(r->arena, r->module, r->kernel);
  if (r->counted) ptx_tally_innermost(tally);  // a profiler's lines
  say(given, "reading the machine code");
  r->as_compiled = r->module->machine || (wants_machine_code(given, r) && open_reconcile(r, tally));
  if (given->predict && !r->module->machine)
    r->why_not = "widths are predicted: --predict asks for it";
  if (given->record) r->record = ptx_record_new(r->arena, r->module, r->kernel, tally, &r->launch);
  if (given->follow || (given->detail && r->module->machine))
    r->followed = open_follow(r, machine, tally);
  if (!r->followed) ptx_machine_watch(machine, ptx_tally_access, tally);
  const double started = clock_seconds();
  if (given->orders) ptx_machine_record_orders(machine, r->arena, registers_at_begin(r));
  r->outcome = given->orders ? ptx_machine_run_cluster(machine, blocks->first[0], blocks->first[1],
                                                       blocks->first[2])
                             : open_run_blocks(given, r, machine, blocks);
  if (given->orders)
    r->orders = ptx_machine_orders(machine, r->outcome, &r->n_left_out, &r->left_out);
  r->seconds = clock_seconds() - started;
  r->machine = machine;
  r->tally = tally;
  open_count_by_code(given, r, tally);
  open_check_fit(r);
  r->lines = ptx_tally_lines(r->arena, tally);
  if (given->detail && r->followed) {
    say(given, "playing the machine code clock by clock");
    open_take_clock(r);
  }
  say(given, "looking for better layouts");
  if (!given->record) return;
  find_arrays(given, r);
  find_cures(r);
}

static bool can_compare(const OpenRequest *given, const Capsule *capsule, Diags *diags) {
  if (!given->compare || (capsule && capsule->ended)) return true;
  diag_add(diags, "usage", "--compare: %s",
           !capsule ? "--compare needs a capsule: gemmview record makes one"
                    : "the capsule has no memory from after its launch: the launch failed, or it "
                      "was recorded without contents");
  return false;
}

static void compare(OpenResult *r, const OpenTolerance *tolerance, bool all_blocks) {
  OpenCompared *compared = ARENA_NEW(r->arena, OpenCompared);
  *compared = open_compare(r, tolerance, all_blocks);
  r->compared = compared;
}

int open_run(const OpenRequest *request, OpenResult *r, Diags *diags) {
  OpenRequest given = *request;
  const char *memory = open_memory_path(r->arena, r->path, r->kernel->name);
  const Capsule *capsule = r->text.capsule;
  const bool recalled =
      !capsule && (!given.launch || given.args.count == 0) && open_recall(r->arena, memory, &given);
  OpenBlocks blocks;
  OpenTolerance tolerance;
  if (!open_read_tolerance(given.tolerance, &tolerance, diags)) return CLI_USAGE;
  if (!can_compare(&given, capsule, diags)) return CLI_USAGE;
  PtxMachine *machine = open_make_machine(r, &given, &blocks, diags);
  if (!machine || !read_slabs(&given, r, diags)) return CLI_USAGE;
  r->n_dumps = given.dumps.count;
  r->dumps =
      open_read_dumps(r->arena, r->kernel, &r->buffers, given.dumps.items, r->n_dumps, diags);
  if (!r->dumps) return CLI_USAGE;
  if (given.ncu && !open_read_ncu(r->arena, given.ncu, &r->counted, &r->n_counted, diags))
    return CLI_USAGE;
  r->launch_text =
      capsule ? open_capsule_text(r->arena, capsule) : open_launch_text(r->arena, &given);
  r->recalled = recalled;
  r->detail = given.detail;
  r->allowed = given.allowed;
  if (!capsule) open_remember(r->arena, memory, &given);
  if (given.kernel && !capsule) open_remember_kernel(r->arena, r->path, r->kernel->name);
  run_kernel(&given, r, &blocks, machine);
  if (given.compare) compare(r, &tolerance, blocks.all);
  return CLI_OK;
}

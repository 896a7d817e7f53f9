// A launch on the CPU: the machine that `gemmview open` runs, on the memory of the program itself.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "driver/driver_launch.h"

static void give_memory(PtxMachine *machine) {
  for (const DriverMemory *m = driver_memories(); m; m = m->next)
    ptx_machine_give(machine, &(PtxGiven){.name = m->name,
                                          .address = m->address,
                                          .bytes = (int64_t)m->bytes,
                                          .memory = m->memory,
                                          .state = m->state});
}

// The text's constants name a variable by a place of the machine's own; its bytes are the driver's.
static void give_variables(PtxMachine *machine, const DriverModule *module) {
  for (const DriverVariable *v = module->variables; v; v = v->next) {
    PtxGiven given = {.name = v->name, .bytes = v->bytes};
    given.memory = driver_bytes(v->address, (size_t)v->bytes, &given.state);
    if (given.memory) ptx_machine_give_variable(machine, &given);
  }
}

PtxMachine *cpu_machine(Arena *arena, const DriverRun *run, bool bare, Diags *diags) {
  const DriverModule *module = run->function->module;
  PtxMachine *machine =
      ptx_machine_new(arena, driver_code_of(run->function), run->function->kernel, &run->at, diags);
  if (!machine) return NULL;
  if (!bare) {
    give_variables(machine, module);
    give_memory(machine);
  }
  ptx_machine_params(machine, run->params, (int64_t)run->param_bytes);
  for (const DriverMap *map = driver_maps(); map; map = map->next) {
    Diags ignored = diags_new(arena);
    ptx_machine_map(machine, &map->box, map->address, map->bytes, &ignored);
  }
  return machine;
}

static bool is_late(const DriverRun *run) { return run->until > 0 && clock_seconds() > run->until; }

static bool ends(void *run) { return is_late(run); }

PtxOutcome cpu_blocks(PtxMachine *machine, const DriverRun *run, const char *blocks) {
  int first[3] = {0};
  const bool all = str_equal(blocks, "all");
  if (!all) sscanf(blocks, "%d,%d,%d", &first[0], &first[1], &first[2]);
  for (int d = 0; d < 3; d++)
    if (first[d] < 0 || first[d] >= run->at.grid[d]) first[d] = 0;
  if (run->at.cooperative) return ptx_machine_run_grid(machine, all ? NULL : first);
  return all ? ptx_machine_run_all(machine, ends, (void *)(uintptr_t)run)
             : ptx_machine_run_waiting(machine, first);
}

// ---- the words told -----------------------------------------------------------------------------

static const char *place_of(Arena *arena, const PtxModule *module, int pc) {
  const int loc = pc >= 0 ? module->code[pc].loc : -1;
  if (loc < 0) return pc >= 0 ? arena_printf(arena, "PTX line %d", module->code[pc].line) : "";
  const PtxLoc *at = &module->locs[loc];
  return arena_printf(arena, "%s:%d", ptx_file_name(module, at->file), at->line);
}

// Each kind of finding of a kernel once: `gemmview open` of the capsule has all of them.
static void tell_findings(const DriverRun *run, const PtxMachine *machine) {
  static struct {
    const DriverFunction *function;
    unsigned kinds;
  } told[256];
  int at = 0;
  while (at < 255 && told[at].function && told[at].function != run->function) at++;
  told[at].function = run->function;
  Arena *arena = arena_new("findings");
  for (int i = 0; i < ptx_machine_findings(machine); i++) {
    const PtxFinding *f = ptx_machine_finding(machine, i);
    if (told[at].kinds >> f->kind & 1) continue;
    told[at].kinds |= 1u << f->kind;
    driver_say("%s: %s at %s%s%s", ptx_plain_name(arena, run->function->name),
               ptx_finding_names[f->kind], place_of(arena, run->function->ptx, f->pc),
               f->text ? ": " : "", f->text ? f->text : "");
  }
  arena_free(arena);
}

static DriverResult result_of(const PtxMachine *machine, PtxOutcome outcome) {
  if (outcome == PTX_DONE || outcome == PTX_BUDGET) return DRIVER_OK;
  const int n = ptx_machine_findings(machine);
  for (int i = 0; i < n; i++) {
    const PtxFindingKind kind = ptx_machine_finding(machine, i)->kind;
    if (kind == PTX_FINDING_OUT_OF_BOUNDS) return DRIVER_ILLEGAL_ADDRESS;
    if (kind == PTX_FINDING_NOT_RUN) return DRIVER_NOT_SUPPORTED;
  }
  return DRIVER_LAUNCH_FAILED;
}

DriverResult cpu_run(DriverRun *run) {
  Arena *arena = arena_new("launch");
  Diags diags = diags_new(arena);
  PtxMachine *machine = cpu_machine(arena, run, false, &diags);
  DriverResult result = DRIVER_LAUNCH_OUT_OF_RESOURCES;
  if (!machine) {
    driver_say("%s: %s", run->function->name, diags.first->text);
  } else {
    const PtxOutcome outcome = cpu_blocks(machine, run, "all");
    tell_findings(run, machine);
    result = result_of(machine, outcome);
    run->left = outcome == PTX_BUDGET;
    if (run->left)
      driver_say("%s: stopped after %lld lane instructions (%s): its results are not complete",
                 ptx_plain_name(arena, run->function->name),
                 (long long)ptx_machine_lane_instructions(machine),
                 is_late(run) ? "--seconds" : "--budget");
  }
  arena_free(arena);
  return result;
}

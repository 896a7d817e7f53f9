// The pages of memory that some blocks come by: they run on the CPU, on a copy that is filled page
// by page as they ask, so that of gigabytes only what they touch is ever read.
#include <string.h>

#include "base/str.h"
#include "driver/keep.h"

enum { BUDGET = 400000000 };  // lane instructions: what is touched by then counts

static bool fill_page(void *self, unsigned char *bytes, unsigned char *state, int64_t from,
                      int64_t n) {
  KeptMemory *m = self;
  (void)state;
  const int64_t page = from / PTX_PAGE_BYTES;
  m->touched[page] = true;
  kept_read_page(m, page);
  memcpy(bytes, m->copy + from, (size_t)n);
  return true;
}

// Variables of machine code are memory at their addresses, which the code was linked with.
static void give(const Kept *kept, PtxMachine *machine, bool is_machine_code, KeptMemory *m) {
  if (m->kind == CAPSULE_ALLOCATION) {
    m->touched = ARENA_ARRAY(kept->arena, bool, kept_pages(m));
    ptx_machine_give(machine, &(PtxGiven){.name = m->name,
                                          .address = m->address,
                                          .bytes = (int64_t)m->bytes,
                                          .memory = kept_map(m->bytes),
                                          .state = kept_map(m->bytes),
                                          .fill = fill_page,
                                          .self = m});
    return;
  }
  PtxGiven given = {.name = m->name, .address = m->address, .bytes = (int64_t)m->bytes};
  given.memory = kept_map(m->bytes);
  given.state = kept_map(m->bytes);
  if (!given.memory || !given.state) return;
  memcpy(given.memory, m->copy, m->bytes);
  memcpy(given.state, m->state, m->bytes);
  if (is_machine_code)
    ptx_machine_give(machine, &given);
  else
    ptx_machine_give_variable(machine, &given);
}

void kept_touch(Kept *kept, const DriverRun *run, const char *blocks) {
  Arena *arena = arena_new("touch");
  Diags diags = diags_new(arena);
  DriverRun trial = *run;
  trial.at.budget = BUDGET;
  PtxMachine *machine = cpu_machine(arena, &trial, true, &diags);
  for (KeptMemory *m = kept->memory; machine && m; m = m->next)
    give(kept, machine, run->function->ptx->machine, m);
  if (machine)
    kept->goes_on = cpu_blocks(machine, &trial, blocks) != PTX_DONE;
  else
    kept->fault = arena_printf(kept->arena, "%s", diags.first->text);
  arena_free(arena);
}

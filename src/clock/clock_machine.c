// One row for each fact: its key in the file, and where it goes.
#include "clock/clock_machine.h"

#include <stddef.h>
#include <string.h>

typedef struct Fact {
  const char *key;
  size_t offset;
  bool whole;
  double least, most;
} Fact;

#define WHOLE(member, least, most) \
  { #member, offsetof(ClockMachine, member), true, least, most }
#define CLOCKS(member) \
  { #member, offsetof(ClockMachine, member), false, 0, 20000 }
#define SHARE(member) \
  { #member, offsetof(ClockMachine, member), false, 0, 1 }
#define PIPE(key, pipe) \
  { key, offsetof(ClockMachine, pipe_clocks[SASS_PIPE_##pipe]), true, 1, 256 }
static const Fact facts[] = {
    WHOLE(schedulers, 1, CLOCK_SCHEDULERS_MAX),
    PIPE("fma_clocks", FMA),
    PIPE("fma_heavy_clocks", FMA_HEAVY),
    PIPE("alu_clocks", ALU),
    PIPE("half_clocks", HALF),
    PIPE("double_clocks", DOUBLE),
    PIPE("xu_clocks", XU),
    PIPE("tensor_clocks", TENSOR),
    WHOLE(tensor_half_clocks, 1, 256),
    WHOLE(tensor_double_clocks, 1, 256),
    WHOLE(branch_clocks, 0, 64),
    WHOLE(read_window, 1, 8),
    WHOLE(queue, 1, CLOCK_QUEUE_MAX),
    WHOLE(queue_clocks, 1, 64),
    CLOCKS(shared_clocks),
    CLOCKS(near_clocks),
    CLOCKS(far_clocks),
    CLOCKS(far_load_clocks),
    CLOCKS(dram_clocks),
    CLOCKS(cold_clocks),
    CLOCKS(far_bytes),
    CLOCKS(far_most_bytes),
    CLOCKS(store_bytes),
    CLOCKS(store_most_bytes),
    CLOCKS(store_queue_clocks),
    CLOCKS(copy_clocks),
    CLOCKS(copy_entry_clocks),
    CLOCKS(idle_load_clocks),
    CLOCKS(tma_clocks),
    CLOCKS(box_bytes),
    CLOCKS(box_clocks),
    CLOCKS(row_clocks),
    CLOCKS(half_row_clocks),
    CLOCKS(mbarrier_clocks),
    CLOCKS(mbarrier_ask_clocks),
    CLOCKS(group_clocks),
    CLOCKS(group_fma_clocks),
    CLOCKS(group_reuse_clocks),
    CLOCKS(group_half_clocks),
    CLOCKS(group_unit_clocks),
    CLOCKS(group_end_clocks),
    CLOCKS(block_clocks),
    SHARE(sm_spread),
    CLOCKS(sm_spread_clocks),
    SHARE(slot_spread),
    CLOCKS(launch_clocks),
    CLOCKS(early_launch_clocks),
    CLOCKS(code_begin_clocks),
    CLOCKS(code_line_clocks),
    WHOLE(code_lines, 1, 4096),
    WHOLE(code_ways, 1, 8),
    CLOCKS(code_fetch_clocks),
    CLOCKS(code_port_clocks),
    CLOCKS(product_hold_clocks),
    CLOCKS(product_stall_clocks),
    CLOCKS(unit_clocks),
    CLOCKS(source_clocks),
    CLOCKS(local_clocks),
    CLOCKS(arrival_clocks),
    CLOCKS(barrier_clocks),
};
enum { N_FACTS = sizeof facts / sizeof *facts };

static bool read_fact(const JsonValue *all, const JsonValue *sources, const Fact *fact,
                      void *machine, Diags *diags) {
  const JsonValue *row = json_require_object(all, fact->key, diags);
  const char *source = NULL;
  double value = 0;
  if (!json_require_double(row, "value", &value, diags) ||
      !json_require_string(row, "source", &source, diags))
    return false;
  if (!json_object_get(sources, source)) {
    json_diag(diags, row, "\"%s\" is not one of the sources", source);
    return false;
  }
  if (!(value >= fact->least && value <= fact->most) || (fact->whole && value != (int)value)) {
    json_diag(diags, row, "%g is outside of %g to %g", value, fact->least, fact->most);
    return false;
  }
  char *to = (char *)machine + fact->offset;
  const int whole = (int)value;
  memcpy(to, fact->whole ? (const void *)&whole : (const void *)&value,
         fact->whole ? sizeof whole : sizeof value);
  return true;
}

const char *clock_machine_borrows(const JsonValue *root, Diags *diags) {
  const char *arch = NULL;
  json_optional_string(root, "borrows", &arch, diags);
  return arch;
}

bool clock_machine_read(const JsonValue *root, ClockMachine *machine, Diags *diags) {
  const char *keys[N_FACTS];
  const bool borrows = clock_machine_borrows(root, diags) != NULL;
  const int before = diags->count;
  const JsonValue *sources = json_require_object(root, "sources", diags),
                  *all = json_require_object(root, "facts", diags);
  for (int i = 0; i < N_FACTS; i++) keys[i] = facts[i].key;
  machine->checked = !borrows;
  if (!borrows) machine->f16_sums_share = 1;
  for (int i = 0; i < SASS_PIPE_COUNT && !borrows; i++) machine->pipe_clocks[i] = 1;
  json_check_keys(all, keys, N_FACTS, diags);
  for (int i = 0; i < N_FACTS && all; i++)
    if (!borrows || json_object_get(all, facts[i].key))
      read_fact(all, sources, &facts[i], machine, diags);
  return diags->count == before;
}

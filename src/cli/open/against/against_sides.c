// Module, launch, arguments → machine → its memory, word by word.
#include "cli/open/against/against_sides.h"

#include <string.h>

static PtxOutcome run_blocks(PtxMachine *machine, const OpenBlocks *b) {
  PtxOutcome outcome = PTX_DONE;
  int step[3];
  for (int d = 0; d < 3; d++) step[d] = b->all ? ptx_machine_cluster(machine)[d] : 1;
  for (int z = b->first[2]; z <= b->last[2]; z += step[2])
    for (int y = b->first[1]; y <= b->last[1]; y += step[1])
      for (int x = b->first[0]; x <= b->last[0] && outcome == PTX_DONE; x += step[0])
        outcome =
            b->all ? ptx_machine_run_cluster(machine, x, y, z) : ptx_machine_run(machine, x, y, z);
  return outcome;
}

bool side_run(const Sides *s, Arena *arena, int which, PtxTrace *trace, PtxAccessSink *sink,
              void *context, Side *out, Diags *diags) {
  const PtxModule *module = s->module[which];
  const PtxFunction *kernel = ptx_module_kernel(module, s->kernel, diags);
  out->machine = kernel ? ptx_machine_new(arena, module, kernel, &s->launch, diags) : NULL;
  if (!out->machine) return false;
  if (!open_give_args(arena, out->machine, module, kernel, s->args.count, s->args.items,
                      &out->buffers, diags))
    return false;
  if (sink) ptx_machine_watch(out->machine, sink, context);
  if (trace) ptx_machine_trace(out->machine, trace, context);
  out->outcome = run_blocks(out->machine, &s->blocks);
  return true;
}

// NULL: a part of memory that has a place of its own in the list.
static const unsigned char *memory_of(const Side *side, int buffer) {
  const OpenBuffer *b = &side->buffers.items[buffer];
  return b->is_shared ? NULL : ptx_machine_bytes(side->machine, b->address, b->bytes);
}

SideWord side_first_word(const Side side[SIDES]) {
  SideWord out = {.buffer = -1};
  for (int i = 0; i < side[0].buffers.n; i++) {
    const int64_t bytes = side[0].buffers.items[i].bytes;
    const unsigned char *x = memory_of(&side[0], i), *y = memory_of(&side[1], i);
    if (!x || !y || memcmp(x, y, (size_t)bytes) == 0) continue;
    for (int64_t at = 0; at < bytes; at += 4) {
      const size_t n = bytes - at < 4 ? (size_t)(bytes - at) : 4;
      if (memcmp(x + at, y + at, n) == 0) continue;
      if (out.n++) continue;
      out.buffer = i;
      out.at = at;
      memcpy(&out.of[0], x + at, n);
      memcpy(&out.of[1], y + at, n);
    }
  }
  return out;
}

bool side_is_equal_at(const Side side[SIDES], const SideWord *word) {
  const OpenBuffer *b = &side[0].buffers.items[word->buffer];
  const int64_t left = b->bytes - word->at, n = left < 4 ? left : 4;
  const uint64_t address = b->address + (uint64_t)word->at;
  const void *x = ptx_machine_bytes(side[0].machine, address, n),
             *y = ptx_machine_bytes(side[1].machine, address, n);
  return x && y && memcmp(x, y, (size_t)n) == 0;
}

const PtxFinding *side_end(const Side *side) {
  const int n = side->outcome == PTX_DONE ? 0 : ptx_machine_findings(side->machine);
  return n ? ptx_machine_finding(side->machine, n - 1) : NULL;
}

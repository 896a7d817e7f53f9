// Ways, costs and events → shares and bytes, alike for a schedule's kernel and for anybody's.
#include "kernels/toolchain/machine/play_parts.h"

#include "base/whole.h"
#include "kernels/toolchain/machine/access_costs.h"
#include "sass/sass_access.h"

enum { MBARRIERS_MAX = 64 };

// ---- spilled values
// ------------------------------------------------------------------------------

static bool is_in_loop(const KernelPlay *play, int at) {
  for (int i = 0; i < play->n_loops; i++)
    if (at >= play->loop[i].first && at <= play->loop[i].last) return true;
  return false;
}

// Bytes of a thread's stack that its loops come by again and again; all of it where it has none.
static int circling_bytes(const KernelPlay *play, int stack_bytes) {
  enum { OFFSET_AT = 40, PLACES = 1 << 12 };
  bool seen[PLACES] = {false};
  int bytes = 0;
  for (int i = 0; i < play->code.n; i++) {
    const SassInst *inst = &play->code.inst[i];
    if (!sass_is_local(inst) || !is_in_loop(play, i)) continue;
    for (int word = 0; word < inst->bytes / 4; word++) {
      bool *place = &seen[((inst->low >> OFFSET_AT) / 4 + (uint64_t)word) % PLACES];
      bytes += *place ? 0 : 4;
      *place = true;
    }
  }
  return bytes ? min_int(bytes, stack_bytes) : stack_bytes;
}

// Spilled values come by in circles. Where L1 has no room for all of them beside the shared memory
// of its blocks, which is cut off in these steps, it has those that there is room for.
double play_spilled_share(const KernelPlay *play, const PlayRoom *at) {
  enum { KIB = 1024, ALL = 256 };
  static const int steps[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
  const int64_t shared = at->resident * (at->smem_bytes + KIB),
                asked = at->resident * at->threads * circling_bytes(play, at->stack_bytes);
  size_t step = 0;
  while (step + 1 < sizeof steps / sizeof *steps && (int64_t)steps[step] * KIB < shared) step++;
  const int64_t room = (int64_t)(ALL - steps[step]) * KIB;
  return asked > room ? 1 - (double)room / (double)asked : 0;
}

// ---- boxes --------------------------------------------------------------------------------------

// ---- boxes --------------------------------------------------------------------------------------

typedef struct Expected {
  uint32_t address;
  double bytes, copies;
} Expected;

static Expected *expected_at(Expected all[MBARRIERS_MAX], int *n, uint32_t address) {
  for (int i = 0; i < *n; i++)
    if (all[i].address == address) return &all[i];
  if (*n == MBARRIERS_MAX) return &all[0];
  all[*n] = (Expected){.address = address};
  return &all[(*n)++];
}

const ClockBox *play_boxes(Arena *arena, const SassCode *code, const SassWay *way, int warps,
                           double row_bytes) {
  Expected all[MBARRIERS_MAX];
  int n = 0;
  ClockBox *box = ARENA_ARRAY(arena, ClockBox, code->n + 1);
  for (int second = 0; second < 2; second++)
    for (int w = 0; w < warps; w++)
      for (int i = 0; i < way[w].n_events; i++) {
        const SassEvent *event = &way[w].event[i];
        const SassInst *inst = &code->inst[event->at];
        const bool arrives = inst->opcode->kind == SASS_KIND_MBARRIER && inst->form == 4;
        if (!arrives && !access_is_box(inst)) continue;
        Expected *one = expected_at(all, &n, event->address);
        if (!second) {
          one->bytes += arrives ? event->value : 0;
          one->copies += access_is_box(inst);
        } else if (access_is_box(inst))
          box[event->at] =
              (ClockBox){one->bytes / one->copies, one->bytes / one->copies / row_bytes};
      }
  return box;
}

double play_new_loads(const SassCode *code, const double *new_share, const SassWay *way,
                      int warps) {
  double n = 0;
  for (int w = 0; w < warps; w++)
    for (int i = 0; i < way[w].n_stretches; i++)
      for (int at = way[w].stretch[i].first; at <= way[w].stretch[i].last; at++)
        n += access_is_box(&code->inst[at]) ? 1 : new_share[at];
  return n;
}

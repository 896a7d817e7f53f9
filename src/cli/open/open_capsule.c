// Capsule → machine. Buffers lie at the recorded addresses, so that a pointer works wherever it
// stands: in a parameter, a struct, an array of pointers.
#include "cli/open/open_capsule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/str.h"
#include "kernels/toolchain/tool.h"

enum { SLACK = 16, WORD = 4 };

// ---- the launch ---------------------------------------------------------------------------------

const char *open_capsule_blocks(const Capsule *capsule) {
  return str_equal(capsule->blocks, "all") ? "0" : capsule->blocks;
}

bool open_capsule_launch(const Capsule *c, const char *blocks, PtxLaunch *launch, Diags *diags) {
  memcpy(launch->grid, c->grid, sizeof c->grid);
  memcpy(launch->block, c->block, sizeof c->block);
  memcpy(launch->cluster, c->cluster, sizeof c->cluster);
  launch->dynamic_smem = (int)c->smem;
  launch->cooperative = c->cooperative;
  if (!blocks || str_equal(c->blocks, "all") || str_equal(c->blocks, blocks)) return true;
  diag_add(diags, "capsule", "--blocks %s: the capsule holds only the memory that block %s touches",
           str_sanitise(diags->arena, blocks), str_sanitise(diags->arena, c->blocks))
      ->nearest = "gemmview record --blocks all";
  return false;
}

const char *open_capsule_text(Arena *arena, const Capsule *c) {
  return str_line(arena, arena_printf(arena, "launch %" PRIu64 " of %s, on %s", c->number,
                                      c->program, c->device));
}

// ---- memory -------------------------------------------------------------------------------------

// Whole numbers from -4 to 4 as f32, where contents were not recorded.
static void fill_random(unsigned char *bytes, uint64_t from, uint64_t n) {
  for (uint64_t at = 0; at < n; at++) {
    uint64_t seed = (from + at) / WORD;
    const float value = (float)(random_next(&seed) % 9) - 4;
    const unsigned char *of = (const unsigned char *)&value;
    bytes[at] = of[(from + at) % WORD];
  }
}

// Writes what a run tells of the bytes from `first` to `last`; both arrays begin with that byte.
static void take_run(const CapsuleRun *run, uint64_t first, uint64_t last, unsigned char *bytes,
                     unsigned char *state) {
  const uint64_t n = last - first;
  if (run->content == CAPSULE_BYTES) memcpy(bytes, run->bytes + (first - run->from), (size_t)n);
  if (run->content == CAPSULE_HIDDEN) fill_random(bytes, first, n);
  if (state) memset(state, run->content == CAPSULE_UNWRITTEN ? 0 : PTX_BYTE_WRITTEN, (size_t)n);
}

void open_capsule_before(const CapsuleMemory *m, unsigned char *bytes, unsigned char *state) {
  for (const CapsuleRun *run = m->before; run < m->before + m->n_before; run++)
    take_run(run, run->from, run->from + run->n, bytes + run->from,
             state ? state + run->from : NULL);
}

// An allocation, or a piece of one, whose contents are read page by page, as blocks come by.
typedef struct Pages {
  const CapsuleMemory *memory;
  bool *touched;   // by page; NULL: nobody asks
  uint64_t *left;  // bytes of a file, which the touched pages take
} Pages;

static bool may_touch(const Pages *pages, uint64_t from, uint64_t n) {
  uint64_t cost;
  if (!capsule_page_cost(pages->memory, from, n, &cost)) return false;
  if (!pages->touched) return true;
  if (cost > *pages->left) return false;
  *pages->left -= cost;
  return pages->touched[from / PTX_PAGE_BYTES] = true;
}

static bool fill_page(void *self, unsigned char *bytes, unsigned char *state, int64_t from,
                      int64_t n) {
  const Pages *pages = self;
  const CapsuleMemory *m = pages->memory;
  const uint64_t at = (uint64_t)from, end = at + (uint64_t)n;
  if (!may_touch(pages, at, (uint64_t)n)) return false;
  for (int i = capsule_run_behind(m->before, m->n_before, at);
       i < m->n_before && m->before[i].from < end; i++) {
    const CapsuleRun *run = &m->before[i];
    const uint64_t first = run->from > at ? run->from : at,
                   last = run->from + run->n < end ? run->from + run->n : end;
    take_run(run, first, last, bytes + (first - at), state + (first - at));
  }
  return true;
}

static void give_pages(Arena *arena, PtxGiven *given, const CapsuleMemory *m, bool *touched,
                       uint64_t *left) {
  Pages *pages = ARENA_NEW(arena, Pages);
  *pages = (Pages){m, touched, left};
  given->fill = fill_page;
  given->self = pages;
}

// Variables of machine code are memory at their addresses, which the code was linked with.
static void give(Arena *arena, PtxMachine *machine, bool is_machine_code, const CapsuleMemory *m,
                 bool *touched, uint64_t *left) {
  PtxGiven given = {.name = str_line(arena, m->name),
                    .address = m->address,
                    .bytes = (int64_t)m->bytes,
                    .memory = arena_alloc(arena, (size_t)m->bytes + SLACK),
                    .state = arena_alloc(arena, (size_t)m->bytes + SLACK)};
  if (m->kind == CAPSULE_ALLOCATION)
    give_pages(arena, &given, m, touched, left);
  else
    open_capsule_before(m, given.memory, given.state);
  if (m->kind == CAPSULE_ALLOCATION || (is_machine_code && m->address))
    ptx_machine_give(machine, &given);
  else if (!is_machine_code)
    ptx_machine_give_variable(machine, &given);
}

static OpenBuffers find_buffers(Arena *arena, const PtxFunction *kernel, const Capsule *c) {
  OpenBuffer *buffers = ARENA_ARRAY(arena, OpenBuffer, kernel->n_params + 1);
  int n = 0;
  for (int i = 0; i < kernel->n_params; i++) {
    const PtxParam *param = &kernel->params[i];
    const uint64_t at =
        c->n_params == kernel->n_params ? c->param[i].offset : (uint64_t)param->offset;
    uint64_t address = 0;
    if (param->bytes != sizeof address || at > c->params.n || c->params.n - at < sizeof address)
      continue;
    memcpy(&address, c->params.at + at, sizeof address);
    for (int k = 0; k < c->n_memory; k++) {
      const CapsuleMemory *m = &c->memory[k];
      if (address - m->address >= m->bytes) continue;
      buffers[n++] = (OpenBuffer){.param = i,
                                  .at = -1,
                                  .address = address,
                                  .bytes = (int64_t)(m->bytes - (address - m->address))};
      break;
    }
  }
  return (OpenBuffers){buffers, n};
}

// Each parameter to its place: machine code has them where its own alignment asks for, so that
// tensor maps begin at a multiple of 64 bytes of the constant bank.
static bool give_params(PtxMachine *machine, const PtxFunction *kernel, const Capsule *c,
                        Diags *diags) {
  if (c->n_params == kernel->n_params && c->n_params > 0) {
    for (int i = 0; i < c->n_params; i++)
      ptx_machine_param(machine, i, c->params.at + c->param[i].offset, (int64_t)c->param[i].bytes);
    return true;
  }
  if ((int64_t)c->params.n >= kernel->param_bytes) {
    ptx_machine_params(machine, c->params.at, (int64_t)c->params.n);
    return true;
  }
  diag_add(diags, "capsule", "the capsule has %zu bytes of parameters, its kernel takes %" PRId64,
           c->params.n, kernel->param_bytes);
  return false;
}

bool open_give_capsule(Arena *arena, PtxMachine *machine, const PtxModule *module,
                       const PtxFunction *kernel, const Capsule *c, const OpenTouched *touched,
                       OpenBuffers *out, Diags *diags) {
  const uint64_t bytes = capsule_memory_bytes(c), room = tool_memory_bytes() / 4;
  if (bytes > room) {
    diag_add(diags, "capsule",
             "the launch has %" PRIu64 " bytes of memory, and there is room for %" PRIu64 " here",
             bytes, room);
    return false;
  }
  uint64_t *left = ARENA_NEW(arena, uint64_t);
  if (touched) *left = touched->most;
  for (int i = 0; i < c->n_memory; i++)
    give(arena, machine, module->machine, &c->memory[i], touched ? touched->pages[i] : NULL, left);
  for (int i = 0; i < c->n_extents; i++)
    ptx_machine_leave_out(machine, c->extents[i].address, c->extents[i].bytes);
  if (!give_params(machine, kernel, c, diags)) return false;
  for (int i = 0; i < c->n_maps; i++)
    if (!ptx_machine_map(machine, &c->maps[i].box, c->maps[i].address, c->maps[i].bytes, diags))
      return false;
  *out = find_buffers(arena, kernel, c);
  return true;
}

// Capsule → machine. Buffers lie at the recorded addresses, so that a pointer works wherever it
// stands: in a parameter, a struct, an array of pointers.
#include "cli/open/open_capsule.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/str.h"
#include "kernels/toolchain/tool.h"
#include "ptx/module/float_format.h"

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
  diag_add(diags, "capsule",
           "--blocks %s: the capsule holds the memory that block %s touches, and no more",
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

// The contents before the launch; `state`, where wanted, what is known of each byte.
static void fill_before(const CapsuleMemory *m, unsigned char *bytes, unsigned char *state) {
  for (int i = 0; i < m->n_before; i++) {
    const CapsuleRun *run = &m->before[i];
    if (run->content == CAPSULE_BYTES) memcpy(bytes + run->from, run->bytes, (size_t)run->n);
    if (run->content == CAPSULE_HIDDEN) fill_random(bytes + run->from, run->from, run->n);
    if (state && run->content != CAPSULE_UNWRITTEN)
      memset(state + run->from, PTX_BYTE_WRITTEN, (size_t)run->n);
  }
}

static void give(Arena *arena, PtxMachine *machine, const CapsuleMemory *m) {
  PtxGiven given = {.name = str_line(arena, m->name),
                    .address = m->address,
                    .bytes = (int64_t)m->bytes,
                    .memory = arena_alloc(arena, (size_t)m->bytes + SLACK),
                    .state = arena_alloc(arena, (size_t)m->bytes + SLACK)};
  fill_before(m, given.memory, given.state);
  if (m->kind == CAPSULE_ALLOCATION)
    ptx_machine_give(machine, &given);
  else
    ptx_machine_give_variable(machine, &given);
}

static const OpenBuffer *find_buffers(Arena *arena, const PtxFunction *kernel, const Capsule *c) {
  OpenBuffer *buffers = ARENA_ARRAY(arena, OpenBuffer, kernel->n_params + 1);
  for (int i = 0; i < kernel->n_params; i++) {
    const PtxParam *param = &kernel->params[i];
    uint64_t address = 0;
    if (param->bytes != sizeof address || (uint64_t)param->offset > c->params.n ||
        c->params.n - (uint64_t)param->offset < sizeof address)
      continue;
    memcpy(&address, c->params.at + param->offset, sizeof address);
    for (int k = 0; k < c->n_memory; k++) {
      const CapsuleMemory *m = &c->memory[k];
      if (address - m->address < m->bytes)
        buffers[i] = (OpenBuffer){address, (int64_t)(m->bytes - (address - m->address))};
    }
  }
  return buffers;
}

const OpenBuffer *open_give_capsule(Arena *arena, PtxMachine *machine, const PtxFunction *kernel,
                                    const Capsule *c, Diags *diags) {
  const uint64_t bytes = capsule_memory_bytes(c), room = tool_memory_bytes() / 4;
  if (bytes > room) {
    diag_add(diags, "capsule",
             "the launch has %" PRIu64 " bytes of memory, and there is room for %" PRIu64 " here",
             bytes, room);
    return NULL;
  }
  if ((int64_t)c->params.n < kernel->param_bytes) {
    diag_add(diags, "capsule", "the capsule has %zu bytes of parameters, its kernel takes %" PRId64,
             c->params.n, kernel->param_bytes);
    return NULL;
  }
  for (int i = 0; i < c->n_memory; i++) give(arena, machine, &c->memory[i]);
  ptx_machine_params(machine, c->params.at, (int64_t)c->params.n);
  for (int i = 0; i < c->n_maps; i++)
    if (!ptx_machine_map(machine, &c->maps[i].box, c->maps[i].address, c->maps[i].bytes, diags))
      return NULL;
  return find_buffers(arena, kernel, c);
}

// ---- compared -----------------------------------------------------------------------------------

static uint32_t word_at(const unsigned char *bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

static double as_f32(uint32_t word) {
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

static void note_word(OpenCompared *out, const CapsuleMemory *m, uint64_t at, uint32_t here,
                      uint32_t recorded) {
  out->words++;
  if (here == recorded) return;
  if (out->different++ == 0) {
    out->name = m->name;
    out->offset = (int64_t)at;
    out->here = here;
    out->recorded = recorded;
  }
  const double difference = fabs(as_f32(here) - as_f32(recorded));
  if (isfinite(difference) && difference > out->largest) out->largest = difference;
}

// One block: the words that it changed; all of them: those that anybody changed.
static void compare_memory(const OpenResult *r, const CapsuleMemory *m, bool all_blocks,
                           OpenCompared *out) {
  const unsigned char *now = ptx_machine_bytes(r->machine, m->address, (int64_t)m->bytes);
  if (!now) return;
  Arena *arena = arena_new("compare");
  unsigned char *before = arena_alloc(arena, (size_t)m->bytes + SLACK),
                *after = arena_alloc(arena, (size_t)m->bytes + SLACK);
  fill_before(m, before, NULL);
  memcpy(after, before, (size_t)m->bytes);
  for (int i = 0; i < m->n_after; i++)
    if (m->after[i].content == CAPSULE_BYTES)
      memcpy(after + m->after[i].from, m->after[i].bytes, (size_t)m->after[i].n);
  for (uint64_t at = 0; at + WORD <= m->bytes; at += WORD) {
    const uint32_t here = word_at(now + at), was = word_at(before + at);
    const uint32_t recorded = word_at(after + at);
    if (here != was || (all_blocks && recorded != was)) note_word(out, m, at, here, recorded);
  }
  arena_free(arena);
}

OpenCompared open_compare(const OpenResult *r, bool all_blocks) {
  OpenCompared out = {0};
  const Capsule *c = r->text.capsule;
  for (int i = 0; i < c->n_memory; i++)
    if (c->memory[i].address) compare_memory(r, &c->memory[i], all_blocks, &out);
  return out;
}

void open_print_compared(const OpenResult *r) {
  const OpenCompared *c = r->compared;
  if (!c) return;
  printf("\nbeside the recorded result: %" PRId64 " of %" PRId64 " words that changed are equal\n",
         c->words - c->different, c->words);
  if (c->different > 0)
    printf("  the first that differs: %s, byte %" PRId64
           ": 0x%08x here, 0x%08x recorded; as f32 %g and %g, at most %g apart\n",
           str_line(r->arena, c->name), c->offset, c->here, c->recorded, as_f32(c->here),
           as_f32(c->recorded), c->largest);
}

// Makes the check sums of a changed capsule right again, so that what lies behind them is read; and
// looks at everything that a reader handed out.
#pragma once
#include <assert.h>
#include <string.h>

#include "capsule/capsule.h"

static inline void seal_put(unsigned char *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> 8 * i);
}
static inline uint64_t seal_get(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; i--) value = value << 8 | at[i];
  return value;
}

static inline void capsule_seal(unsigned char *bytes, size_t n) {
  if (n < 32) return;
  const uint64_t n_parts = seal_get(bytes + 12, 4);
  if (n_parts > (n - 32) / 24) return;
  for (uint64_t i = 0; i < n_parts; i++) {
    unsigned char *row = bytes + 32 + 24 * i;
    const uint64_t offset = seal_get(row + 8, 8), size = seal_get(row + 16, 8);
    if (offset > n || size > n - offset) continue;
    seal_put(row + 4, capsule_crc(0, bytes + offset, (size_t)size));
  }
  for (int i = 0; i < 8; i++) bytes[16 + i] = (unsigned char)((uint64_t)n >> 8 * i);
  seal_put(bytes + 24, capsule_crc(0, bytes + 32, (size_t)n_parts * 24));
  seal_put(bytes + 28, capsule_crc(0, bytes, 28));
}

// Touches every byte of the runs; the sum keeps a compiler from leaving it out.
static inline unsigned capsule_touch_runs(const CapsuleRun *runs, int n, uint64_t bytes) {
  unsigned sum = 0;
  uint64_t next = 0;
  for (int i = 0; i < n; i++) {
    assert(runs[i].from >= next && runs[i].n <= bytes - runs[i].from);
    next = runs[i].from + runs[i].n;
    for (uint64_t b = 0; runs[i].bytes && b < runs[i].n; b++) sum += runs[i].bytes[b];
  }
  return sum;
}

static inline unsigned capsule_touch(const Capsule *c) {
  unsigned sum = (unsigned)(strlen(c->kernel) + strlen(c->program) + strlen(c->blocks));
  for (int i = 0; i < c->n_memory; i++) {
    const CapsuleMemory *m = &c->memory[i];
    sum += capsule_touch_runs(m->before, m->n_before, m->bytes);
    sum += capsule_touch_runs(m->after, m->n_after, m->bytes);
  }
  for (int i = 0; i < c->n_extents; i++) {
    assert(c->extents[i].bytes <= CAPSULE_ADDRESS_MAX);
    assert(c->extents[i].address <= CAPSULE_ADDRESS_MAX - c->extents[i].bytes);
  }
  for (int i = 0; i < c->n_params; i++)
    for (uint64_t b = 0; b < c->param[i].bytes; b++) sum += c->params.at[c->param[i].offset + b];
  for (int i = 0; i < c->n_maps; i++) sum += (unsigned)c->maps[i].box.rank + c->maps[i].bytes[127];
  for (int i = 0; i < c->n_launches; i++) sum += (unsigned)strlen(c->launches[i].kernel);
  return sum;
}

// cuTensorMapEncodeTiled → a map whose bytes are known again wherever the program puts them: as a
// parameter, in a struct, in memory.
//
// With a real driver its bytes are kept beside what it was asked; without one they are a mark and a
// number.
#include <string.h>

#include "base/str.h"
#include "driver/entry.h"

#define MAP_MARK UINT64_C(0x7061762d6d6d6567)

static DriverMap *maps;
static uint64_t n_maps;
DriverMap *driver_maps(void) { return maps; }

// CUtensorMapDataType, from 0 on; FTZ kinds are read as those without.
static const char *const types[] = {"u8",   "u16",   "u32",       "s32",      "u64", "s64",
                                    "f16",  "f32",   "f64",       "bf16",     "f32", "tf32",
                                    "tf32", "b4x16", "b4x16_p64", "b6x16_p32"};
static const char *const swizzles[] = {
    "none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B"};

typedef struct Asked {
  int type, swizzle;
  uint32_t rank;
  const uint64_t *extents, *strides;
  const uint32_t *box, *steps;
} Asked;

static void add_numbers(Str *out, const char *key, const uint64_t *wide, const uint32_t *narrow,
                        uint32_t n) {
  if (n == 0) return;
  str_printf(out, ",%s=", key);
  for (uint32_t i = 0; i < n; i++)
    str_printf(out, "%s%llu", i ? "x" : "", (unsigned long long)(wide ? wide[i] : narrow[i]));
}

// In the words of tma_box_parse; NULL: no such map can be run here.
static const char *text_of(Arena *arena, const Asked *asked) {
  Str out = str_new(arena);
  const int n_types = (int)(sizeof types / sizeof types[0]),
            n_swizzles = (int)(sizeof swizzles / sizeof swizzles[0]);
  if (asked->type < 0 || asked->type >= n_types || asked->swizzle < 0 ||
      asked->swizzle >= n_swizzles || asked->rank < 1 || asked->rank > TMA_RANK_MAX)
    return NULL;
  str_printf(&out, "type=%s,swizzle=%s", types[asked->type], swizzles[asked->swizzle]);
  add_numbers(&out, "shape", asked->extents, NULL, asked->rank);
  add_numbers(&out, "box", NULL, asked->box, asked->rank);
  add_numbers(&out, "strides", asked->strides, NULL, asked->rank - 1);
  add_numbers(&out, "step", NULL, asked->steps, asked->rank);
  return out.text;
}

static Arena *map_arena(void) {
  static Arena *arena;
  if (!arena) arena = arena_new("tensor maps");
  return arena;
}

static int keep_map(CuTensorMap *map, const Asked *asked, uint64_t address) {
  Arena *arena = map_arena();
  Diags diags = diags_new(arena);
  DriverMap *kept = ARENA_NEW(arena, DriverMap);
  kept->address = address;
  kept->text = text_of(arena, asked);
  const bool ok = kept->text && tma_box_parse(arena, kept->text, &kept->box, &diags) &&
                  tma_box_check(&kept->box, &diags);
  if (!ok && !driver_forwards())
    driver_say("cuTensorMapEncodeTiled: %s",
               diags.first ? diags.first->text : "an unknown type or swizzle");
  if (!ok) return DRIVER_INVALID_VALUE;
  if (!driver_forwards()) {
    const uint64_t words[2] = {MAP_MARK, ++n_maps};
    memset(map, 0, sizeof *map);
    memcpy(map, words, sizeof words);
  }
  memcpy(kept->bytes, map, sizeof kept->bytes);
  kept->next = maps;
  maps = kept;
  return DRIVER_OK;
}

int drv_cuTensorMapEncodeTiled(CuTensorMap *map, int type, uint32_t rank, void *data,
                               const uint64_t *extents, const uint64_t *strides,
                               const uint32_t *box, const uint32_t *steps, int interleave,
                               int swizzle, int promotion, int fill) {
  typedef int Encode(CuTensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                     const uint32_t *, const uint32_t *, int, int, int, int);
  if (!map || !extents || !box || !steps) return DRIVER_INVALID_VALUE;
  const Asked asked = {type, swizzle, rank, extents, strides, box, steps};
  if (!driver_forwards()) {
    if (interleave) {
      driver_say("cuTensorMapEncodeTiled: interleaved layouts are not run here");
      return DRIVER_NOT_SUPPORTED;
    }
    pthread_mutex_lock(&driver_mutex);
    const int made = keep_map(map, &asked, (uint64_t)(uintptr_t)data);
    pthread_mutex_unlock(&driver_mutex);
    return made;
  }
  Encode *encode = (Encode *)driver_real("cuTensorMapEncodeTiled");
  if (!encode) return DRIVER_NOT_SUPPORTED;
  const int result = encode(map, type, rank, data, extents, strides, box, steps, interleave,
                            swizzle, promotion, fill);
  if (result != DRIVER_OK || interleave || fill) return result;
  pthread_mutex_lock(&driver_mutex);
  keep_map(map, &asked, (uint64_t)(uintptr_t)data);
  pthread_mutex_unlock(&driver_mutex);
  return result;
}

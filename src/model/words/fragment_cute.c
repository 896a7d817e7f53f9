// CuTe's names of atoms in this program's words.
//
//   SM80_16x8x16_F32F16F16F32_TN    m16n8k16.f16.f32
//   SM70_8x8x4_F32F16F16F32_NT      m8n8k4.col.row.f16.f32: N of A is along M, T of B along N
//   SM90_64x128x16_F16F16F16_SS     wgmma.m64n128k16.f16.f16
//   SM90::GMMA::SPARSE::GMMA_64x128x32_F32F16F16_SS     wgmma.sp.m64n128k32.f16.f32
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "model/words/fragment.h"

enum { WARPGROUP_M = 64, TYPES = 2, VOLTA = 70 };

// The type at the beginning of "F32BF16BF16F32", in small letters; NULL: none begins there.
static const char *take_type(Arena *arena, const char **at) {
  static const char *const types[] = {"tf32", "bf16", "f16", "f32", "f64", "e4m3",
                                      "e5m2", "s32",  "s8",  "u8",  "s4",  "u4"};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    const size_t n = strlen(types[i]);
    if (!str_equal_fold(arena_strndup(arena, *at, strnlen(*at, n)), types[i])) continue;
    *at += n;
    return types[i];
  }
  return NULL;
}

const char *atom_of_cute(Arena *arena, const char *text) {
  static const char *const heads[] = {"SM%4d_%4dx%4dx%4d_%n", "SM%4d::GMMA::MMA_%4dx%4dx%4d_%n",
                                      "SM%4d::GMMA::SPARSE::GMMA_%4dx%4dx%4d_%n"};
  int arch, m, n, k, used = 0, head = -1;
  while (!used && ++head < 3)
    if (sscanf(text, heads[head], &arch, &m, &n, &k, &used) != 4) used = 0;
  if (!used) return NULL;
  const char *at = text + used, *type[TYPES];
  for (int i = 0; i < TYPES; i++)
    if (!(type[i] = take_type(arena, &at))) return NULL;
  const char *end = strrchr(text, '_'), *orders = "";
  if (arch == VOLTA)
    orders = arena_printf(arena, ".%s.%s", end[1] == 'N' ? "col" : "row",
                          end[1] && end[2] == 'T' ? "row" : "col");
  return arena_printf(arena, "%s%sm%dn%dk%d%s.%s.%s", m == WARPGROUP_M ? "wgmma." : "",
                      head == 2 ? "sp." : "", m, n, k, orders, type[1], type[0]);
}

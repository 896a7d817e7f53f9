// Sections of a cubin ↔ hexadecimal digits.
#include "kernels/toolchain/machine/kernel_text.h"

#include <string.h>

#include "base/str.h"

static const char digits[] = "0123456789abcdef";

static const char *hex_of(Arena *arena, ElfBytes bytes) {
  char *hex = arena_alloc(arena, (size_t)(bytes.end - bytes.at) * 2 + 1), *to = hex;
  for (const unsigned char *at = bytes.at; at < bytes.end; at++) {
    *to++ = digits[*at >> 4];
    *to++ = digits[*at & 15];
  }
  *to = 0;
  return hex;
}

KernelTexts *kernel_texts_of(Arena *arena, const CompileResult *result) {
  KernelTexts *out = ARENA_NEW(arena, KernelTexts);
  for (int i = 0; i < result->n_kernels; i++) {
    const char *name = result->kernels[i].name;
    const ElfBytes bytes =
        elf_section(result->cubin, result->cubin_bytes, arena_printf(arena, ".text.%s", name));
    if (bytes.at) out->kernels[out->n_kernels++] = (KernelText){name, hex_of(arena, bytes)};
  }
  return out;
}

static ElfBytes bytes_of(Arena *arena, const char *hex) {
  const size_t n = strlen(hex) / 2;
  unsigned char *bytes = arena_alloc(arena, n + 1);
  for (size_t i = 0; i < n; i++) {
    const char *high = strchr(digits, hex[2 * i]), *low = strchr(digits, hex[2 * i + 1]);
    if (!high || !low) return (ElfBytes){0};
    bytes[i] = (unsigned char)((high - digits) << 4 | (low - digits));
  }
  return (ElfBytes){bytes, bytes + n};
}

ElfBytes kernel_text_bytes(Arena *arena, const KernelTexts *texts, const char *kernel) {
  for (int i = 0; i < texts->n_kernels; i++)
    if (str_equal(texts->kernels[i].name, kernel)) return bytes_of(arena, texts->kernels[i].hex);
  return (ElfBytes){0};
}

// The machine code of a plan's kernels, as it travels from the worker: the bytes of each section
// .text.KERNEL in hexadecimal digits.
#pragma once
#include "base/arena.h"
#include "base/elf_file.h"
#include "kernels/toolchain/nvrtc.h"

typedef struct KernelText {
  const char *name, *hex;
} KernelText;

typedef struct KernelTexts {
  int n_kernels;
  KernelText kernels[PLAN_MAX_KERNELS];
} KernelTexts;

// Never NULL; of a result without a cubin there are none.
KernelTexts *kernel_texts_of(Arena *arena, const CompileResult *result);
// The bytes again; nothing where there is no such kernel, or what stands there are no bytes.
ElfBytes kernel_text_bytes(Arena *arena, const KernelTexts *texts, const char *kernel);

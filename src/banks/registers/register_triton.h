// Triton's encodings of registers and of tensor memory, as TTGIR and Gluon write them.
//
//   #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order =
//   [1, 0]}>                                     BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
//   #ttg.nvidia_mma<{versionMajor = 2, …}>       NVMMADistributedLayout(version=[2, 0], …)
//   #ttg.dot_op<{opIdx = 0, parent = …}>         DotOperandLayout(operand_index=0, …)
//   #ttg.slice<{dim = 1, parent = …}>            SliceLayout(dim=1, …)
//   #ttg.linear<{register = [[0, 1], …], …}>     DistributedLinearLayout(reg_bases=…, …)
//   #ttng.tensor_memory_encoding<blockM = 128, …>          TensorMemoryLayout(block=(128, 64), …)
//   #ttng.tensor_memory_scales_encoding<>                  TensorMemoryScalesLayout()
//
// Registers count as Triton's own linear layouts do, so a tensor larger than the tile goes on in
// further registers, and one that is smaller repeats.
#pragma once
#include "banks/layouts/attr_text.h"
#include "banks/registers/register_layout.h"

// Whether an encoding of this name lays out registers or tensor memory.
bool register_triton_is(const char *name);
// NULL after findings of rule "layout".
const RegisterLayout *register_triton_read(Arena *arena, const char *text, const Attr *attr,
                                           const TensorShape *shape, Diags *diags);

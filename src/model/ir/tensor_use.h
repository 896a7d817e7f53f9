// How much tensor memory a block takes.
#pragma once
#include "model/ir/names.h"

// Columns of tensor memory that a block of the kernel allocates; 0: none.
int64_t kernel_tensor_columns(const Kernel *kernel);

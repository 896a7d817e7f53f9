// Roles of a block with its sums in tensor memory (tensor_roles.c).
#pragma once
#include "model/passes/passes.h"

// Threads of the warps of which one thread each asks for the products of a warpgroup.
int64_t tensor_askers(int64_t writers);
void tensor_roles(Program *program, const Product *product, const Schedule *schedule);

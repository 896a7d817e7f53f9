// What a program costs, derived from its own statements: sites, resources, traffic.
#pragma once
#include "model/model.h"

// The shared-memory access statements of the main kernel, in program order. The prologue's copies are
// left out where the loop has the same ones.
void derive_sites(Arena *arena, const Program *program, int *n_sites, const Site **sites);

Resources derive_resources(const Program *program, const Schedule *schedule, const Target *target);

Traffic derive_traffic(const Model *model);

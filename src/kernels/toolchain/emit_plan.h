// From a program to the plan that crosses the worker's pipe.
#pragma once
#include "kernels/toolchain/plan.h"
#include "model/readings/model.h"
#include "model/text/emit.h"

// Tells what a plan says of the problem alone: nothing can be run by it.
Plan plan_of_problem(const Problem *problem);

// `label` may be NULL. The plan shares the emission's text.
Plan *plan_from_emission(Arena *arena, const Emission *emission, const Program *program,
                         const Target *target, const char *label);

// The same for a model that is ok: emits its program for its target.
Plan *plan_from_model(Arena *arena, const Model *model, const char *label);

// The model's program with stamps, and the plan that traces a block of it.
const Emission *emit_traced(Arena *arena, const Model *model);
Plan *plan_traced(Arena *arena, const Model *model, const Emission *traced, int64_t block);

// How the model's program is emitted for its target, with its state in the heading.
EmitOptions plan_emit_options(Arena *arena, const Model *model);

// "sm_90a (H200 SXM)": what the heading of a text says it is for.
const char *plan_target_text(Arena *arena, const Target *target);

// The text of one of the model's programs as every reader shows it, heading and all: a line has one
// number, wherever it is printed, drawn or compiled.
const Emission *emit_model(Arena *arena, const Model *model, const Program *program);

// A capsule opened: the launch as it was recorded, with nothing typed.
#pragma once
#include "capsule/capsule.h"
#include "cli/open/open_request.h"
#include "cli/open/open_result.h"

// The launch, for a machine; false after a finding: the blocks that are asked for were not kept.
bool open_capsule_launch(const Capsule *capsule, const char *blocks, PtxLaunch *launch,
                         Diags *diags);
// The blocks that are run where the user names none.
const char *open_capsule_blocks(const Capsule *capsule);
// Parameters, memory at the recorded addresses, variables and tensor maps; the memory that each
// parameter points into. `touched`: NULL where nobody asks. False after a finding.
bool open_give_capsule(Arena *arena, PtxMachine *machine, const PtxModule *module,
                       const PtxFunction *kernel, const Capsule *capsule,
                       const OpenTouched *touched, OpenBuffers *buffers, Diags *diags);
// "launch 3 of ./program, on NVIDIA H200"
const char *open_capsule_text(Arena *arena, const Capsule *capsule);

// The contents of some memory before the launch; `state`, where wanted, what is known of each byte.
// Where the capsule left something out the bytes stay as they are.
void open_capsule_before(const CapsuleMemory *m, unsigned char *bytes, unsigned char *state);

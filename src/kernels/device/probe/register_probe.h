// The rule of register_banks.h asked of the GPU itself: FFMA with chosen registers by the clock.
//
//   for (int i = 0; i < register_probe_count(); i++) register_probe_run(arena, gpu, i)
//
// No assembler takes registers by number, so a kernel with a long row of FFMA is compiled and the
// registers, the .reuse marks and the wait of each are written into its machine code.
#pragma once
#include "kernels/device/driver.h"
#include "kernels/toolchain/nvrtc.h"
#include "kernels/toolchain/plan.h"

enum { REGISTER_PROBE_FFMA = 256, REGISTER_PROBE_FORMS = 2 };

// One FFMA's sources; 255 is RZ.
typedef struct FfmaForm {
  unsigned char source[3];
  unsigned char reuse;  // bit i: slot i is marked
} FfmaForm;

typedef struct RegisterProbeCase {
  const char *name;
  int n_forms;  // the row is made of these in turns
  FfmaForm form[REGISTER_PROBE_FORMS];
} RegisterProbeCase;

typedef struct RegisterProbeResult {
  const char *name, *error;  // error: NULL when measured
  const char *text;          // the forms as SASS: "FFMA R8.reuse, R10, R12; …"
  double predicted, clocks;  // of one FFMA of a warp that has its scheduler for itself
  bool fits;                 // the clocks are the predicted ones, to a fifth of a clock
} RegisterProbeResult;

int register_probe_count(void);
const RegisterProbeCase *register_probe_case(int index);
// Clocks of one FFMA, by register_banks_read of the row's own listing.
double register_probe_predict(Arena *arena, const RegisterProbeCase *row, int sm,
                              const char **text);

// The kernel, which compiles for sm_80 to sm_90a.
Plan *register_probe_plan(Arena *arena, const char *arch);
// Writes the row into a cubin of that plan, in place. False where it does not hold
// REGISTER_PROBE_FFMA FFMA of three registers.
bool register_probe_patch(unsigned char *cubin, size_t bytes, const RegisterProbeCase *row);

RegisterProbeResult register_probe_run(Arena *arena, Gpu *gpu, int index);

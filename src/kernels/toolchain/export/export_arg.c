#include "kernels/toolchain/export/export_arg.h"

#define DECLARE_GIVEN(id)
#define DECLARE_TOO(id)
#define DECLARE_OWN(id) extern const ExportArg export_##id;
#define LAUNCH_ARG(id, name, type, taken, holds, made) DECLARE_##made(id)
#include "model/text/launch_arg.def"

#define ROW_GIVEN(id) NULL
#define ROW_TOO(id) NULL
#define ROW_OWN(id) &export_##id
static const ExportArg *const rows[LAUNCH_ARGS] = {
#define LAUNCH_ARG(id, name, type, taken, holds, made) ROW_##made(id),
#include "model/text/launch_arg.def"
};

const ExportArg *export_arg(LaunchArg arg) { return rows[arg]; }

const ExportArg *export_arg_of(const EmitKernel *kernel) {
  for (int arg = 0; arg < LAUNCH_ARGS; arg++)
    if (kernel->takes[arg] && rows[arg]) return rows[arg];
  return NULL;
}

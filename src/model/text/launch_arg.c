#include "model/text/launch_arg.h"

#include "model/ir/op.h"

#define BY(action) (1u << ACTION_##action)

static const LaunchArgFacts rows[LAUNCH_ARGS] = {
#define LAUNCH_ARG(id, name, type, taken, holds, made) \
  {name, type, taken, HOLDS_##holds, MADE_##made},
#include "model/text/launch_arg.def"
};

const LaunchArgFacts *launch_arg_facts(int arg) { return &rows[arg]; }

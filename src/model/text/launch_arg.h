// All that kernels take besides their buffers: the rows of launch_arg.def.
#pragma once
#include <stdbool.h>

typedef enum LaunchArg {
#define LAUNCH_ARG(id, name, type, taken, holds, made) LAUNCH_##id,
#include "model/text/launch_arg.def"
  LAUNCH_ARGS
} LaunchArg;

typedef enum LaunchHolds { HOLDS_POINTER, HOLDS_REAL, HOLDS_NUMBER, HOLDS_COUNT } LaunchHolds;
typedef enum LaunchMade { MADE_GIVEN, MADE_OWN, MADE_TOO } LaunchMade;

typedef struct LaunchArgFacts {
  const char *name, *type;
  unsigned taken;  // bits 1 << ACTION_…
  LaunchHolds holds;
  LaunchMade made;
} LaunchArgFacts;

const LaunchArgFacts *launch_arg_facts(int arg);

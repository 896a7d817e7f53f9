// gemmview teach and gemmview join: the explorer as one end of a class.
#pragma once
#include "tui/app.h"

// Reads the options both have (--at only where one teaches), then runs the explorer.
int cli_class(Arena *arena, int argc, char **argv, ClassRole role);

// The functions of entry.def.
#pragma once
#include "driver/stand_in.h"

#define ENTRY(where, name, parameters) int drv_##name parameters;
#define ALIAS(where, name, same)
#define REAL(name, parameters) int real_##name parameters;
#include "driver/entry.def"
#undef ENTRY
#undef ALIAS
#undef REAL

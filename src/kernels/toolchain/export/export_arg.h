// All that the host's part of an exported text does for an argument that it settles before a
// launch: the OWN rows of launch_arg.def.
#pragma once
#include "base/str.h"
#include "model/text/emit.h"

typedef struct ExportArg {
  const char *text;  // whole lines in front of the launches, once
  void (*declare)(Str *out, const EmitKernel *kernel);  // lines in front of its launch
  const char *pass;  // ", …": this argument and those settled together with it
  const char *turn;  // what goes through the kernel's tiles, for the GRID of the kernel behind it
} ExportArg;

// NULL: it is given, or settled together with another one.
const ExportArg *export_arg(LaunchArg arg);
// For the first argument of a kernel that has one; NULL: none does.
const ExportArg *export_arg_of(const EmitKernel *kernel);

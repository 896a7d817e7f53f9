// Kernels inside of libraries, objects, executables and fatbins, by their names:
//
//   gemmview open libfoo.so --list
//   gemmview open libfoo.so:KERNEL          the best machine code for sm_90a, else PTX
//   gemmview open libfoo.so:KERNEL@sm_80    or @compute_90, as --list prints it
#pragma once
#include "cli/open/open_input.h"

// A file that is mapped, and what is asked for of it.
typedef struct OpenLibrary {
  const char *file, *kernel, *arch;  // kernel, arch: NULL where the path names none
  const unsigned char *bytes;
  size_t n;
} OpenLibrary;

// False: the path is not of such a file. open_library_close() unmaps it.
bool open_library(Arena *arena, const char *path, OpenLibrary *out);
void open_library_close(OpenLibrary *library);
// The cubin or PTX of the kernel, and its whole name in *kernel; .ptx NULL after a finding.
OpenText open_library_text(Arena *arena, OpenLibrary *library, const char **kernel, Diags *diags);
// Its kernels, or those of this name, with their architectures, and the entries that are refused.
int open_print_library(Arena *arena, OpenLibrary *library, const char *kernel, bool json,
                       Diags *diags);

// The Makefile says where the library lies; the assembler takes it in.
#include "cli/record/driver_bytes.h"

#ifndef GEMMVIEW_DRIVER
#define GEMMVIEW_DRIVER "build/driver/libcuda.so.1"
#endif
__asm__(
    ".section .rodata\n.balign 16\n.globl driver_bytes\ndriver_bytes:\n"
    ".incbin \"" GEMMVIEW_DRIVER
    "\"\n"
    ".globl driver_bytes_end\ndriver_bytes_end:\n.byte 0\n.previous\n");

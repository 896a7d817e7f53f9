// Arguments on their way into a machine.
#pragma once
#include "cli/open/open_input.h"
#include "ptx/module/signature.h"

typedef struct ArgGiver {
  Arena *arena;
  PtxMachine *machine;
  const PtxFunction *kernel;
  bool machine_code;
  int index;
  const PtxParamType *type;
  int at;            // the offset of the piece that is being read; -1: the whole parameter
  const char *name;  // the piece's; NULL
  Diags *diags;
  uint64_t seed;
  OpenBuffer *buffers;
  int n, capacity;
} ArgGiver;

// ---- args.c -------------------------------------------------------------------------------------

// A finding: what stands in the argument, and what was expected.
void arg_say(const ArgGiver *g, const char *arg, const char *expected);
// The address that a pointer is given by mem:, mem:tma:, file: or same:. False after a finding.
bool arg_is_pointer(const char *arg);
bool arg_read_pointer(ArgGiver *g, const char *arg, uint64_t *address);
// tma:shape=…: a tensor of its own, random, and its map. False after a finding.
bool arg_read_tensor(ArgGiver *g, const char *arg, unsigned char map[PTX_MAP_BYTES]);
// A whole number of so many bits, with or without a sign.
bool arg_read_whole(const char *text, int bits, uint64_t *value);

// ---- pieces.c -----------------------------------------------------------------------------------

// bytes:24,0=mem:65536,n@16=64.
void arg_give_pieces(ArgGiver *g, const char *arg);

// ---- buffers.c ----------------------------------------------------------------------------------

// Memory of the parameter or the piece that is being read.
void arg_add_buffer(ArgGiver *g, uint64_t address, int64_t bytes, bool is_shared);

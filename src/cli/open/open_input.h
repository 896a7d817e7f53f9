// The input of gemmview open: the kernel's text as PTX, the launch, the arguments.
#pragma once
#include "capsule/capsule.h"
#include "ptx/run/machine.h"

typedef struct OpenText {
  const char *ptx;  // NULL after a finding
  size_t bytes;
  const char *compiler;  // "nvcc", "NVRTC"; NULL: the file is PTX
  // Tells what it is made of: the file, and the headers that nvcc says it read, system headers left
  // out.
  const char *const *files;
  int n_files;
  const Capsule *capsule;  // the launch that the text is of; NULL: the file is a text
  int status;              // what the command ends with when there is no text
} OpenText;

// FILE.ptx as it is, a pipe or stdin ("-") as PTX too; the PTX of a capsule; FILE.cu by nvcc with
// these flags, without nvcc by NVRTC.
OpenText open_read_text(Arena *arena, const char *path, int n_flags, char **flags, Diags *diags);

// The architecture that a source is compiled for where no flag says one: "90a", "100a".
const char *open_arch_of(Arena *arena, const char *path);
// The words of a text, at its blanks; NULL behind the last.
char **open_split_words(Arena *arena, const char *text, int *n);
// nvcc, where GEMMVIEW_NVCC or the path has it; NULL.
const char *open_find_nvcc(Arena *arena);
bool open_names_arch(int n_flags, char **flags);

// "grid=8x7x1,block=32x8,smem=0,cluster=2"; a block and what else the launch has already may be
// left out.
bool open_read_launch(const char *text, PtxLaunch *launch, Diags *diags);
// "1,2,0" or "all": first and last block in each direction.
typedef struct OpenBlocks {
  int first[3], last[3];
  bool all;
} OpenBlocks;
bool open_read_blocks(const char *text, const PtxLaunch *launch, OpenBlocks *blocks, Diags *diags);

// Memory that an argument brought along: of a pointer, or of one in a struct.
typedef struct OpenBuffer {
  int param;         // from 0
  int at;            // the pointer's offset in a struct; -1: the parameter is the pointer
  const char *name;  // of the piece, "o" in "o@112=mem:512"; NULL
  uint64_t address;
  int64_t bytes;
  bool is_shared;  // it is a part of another one
} OpenBuffer;
typedef struct OpenBuffers {
  const OpenBuffer *items;
  int n;
} OpenBuffers;
// The arguments, given to the machine, with their memory; false after findings.
bool open_give_args(Arena *arena, PtxMachine *machine, const PtxModule *module,
                    const PtxFunction *kernel, int n, const char *const *args, OpenBuffers *out,
                    Diags *diags);
// By "2", "k_param_2", "2@112" or the name of a piece; numbers of parameters begin with `first`.
// NULL: there is none, or there are several.
const OpenBuffer *open_buffer_find(const PtxFunction *kernel, const OpenBuffers *buffers,
                                   const char *name, int first);
// The name of a buffer, numbers from 0: "2", "o", "2@112".
const char *open_buffer_text(Arena *arena, const OpenBuffer *buffer);
// symbol:NAME=file:PATH, which stands among the arguments and is none: a variable's contents.
bool open_is_symbol(const char *arg);
bool open_give_symbol(Arena *arena, PtxMachine *machine, const PtxModule *module, const char *arg,
                      Diags *diags);

// Whether the path is of a file that the program brings along: "example:sums.ptx".
bool open_is_example(const char *path);
// Whether it can be read only once: "-", which is stdin, or a pipe, such as a shell's <(…).
bool open_is_stdin(const char *path);
bool open_reads_once(const char *path);
// All of what a user names: a file, a pipe with a writer, stdin or an example; NULL
// after a finding of rule "file".
char *open_read_given(Arena *arena, const char *path, size_t *bytes, Diags *diags);
// The same of a file or an example: no pipe.
char *open_read_file(Arena *arena, const char *path, size_t *bytes, Diags *diags);
// A program of the toolkit: in PATH, else where the toolkits are; NULL.
const char *open_find_tool(Arena *arena, const char *name);

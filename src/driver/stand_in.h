// The stand-in for libcuda.so.1 that `gemmview record` puts in front of a program: what its files
// share.
//
//   jump.c             every symbol of a driver is a jump through a slot; who stands in a slot
//   settings.c         what the command said: the file that GEMMVIEW_RECORD names
//   entry.def          the functions that are answered here, without a GPU or with one
//   driver_device.c    one device, contexts, streams, events: what needs no memory
//   heap.c             memory, and what is known of each of its bytes
//   driver_copy.c      copies and fills
//   image.c            machine code and PTX out of what a program loads
//   module.c           modules, libraries, functions, variables
//   code.c             the same of machine code without PTX
//   gpu_graph.c        CUDA graphs in front of a real driver; graph.c: without one
//   driver_time.c      how long a real GPU was at each launch
//   driver_launch.c    a launch: seen, kept where it is the wanted one, run
//   keep.c             the capsule of a launch
//   runtime.c          the functions of NVIDIA's runtime, on top of these
//   hook.c             puts them into a program that has the runtime linked in
//
// Without a GPU addresses are of memory that no process can touch, as on a GPU; the bytes lie
// elsewhere. Everything holds one lock (driver_mutex): a program may have threads, the machine has
// one.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "banks/layouts/tma_box.h"
#include "base/arena.h"
#include "kernels/toolchain/cuda_api.h"
#include "ptx/run/machine.h"

// CUresult, as cuda.h has it.
enum {
  DRIVER_OK = 0,
  DRIVER_INVALID_VALUE = 1,
  DRIVER_OUT_OF_MEMORY = 2,
  DRIVER_NO_DEVICE = 100,
  DRIVER_INVALID_DEVICE = 101,
  DRIVER_INVALID_IMAGE = 200,
  DRIVER_INVALID_CONTEXT = 201,
  DRIVER_NO_BINARY_FOR_GPU = 209,
  DRIVER_INVALID_PTX = 218,
  DRIVER_FILE_NOT_FOUND = 301,
  DRIVER_INVALID_HANDLE = 400,
  DRIVER_NOT_FOUND = 500,
  DRIVER_ILLEGAL_ADDRESS = 700,
  DRIVER_LAUNCH_OUT_OF_RESOURCES = 701,
  DRIVER_LAUNCH_FAILED = 719,
  DRIVER_NOT_SUPPORTED = 801,
};
typedef int DriverResult;  // one of them, or what a real driver said

// ---- settings.c ---------------------------------------------------------------------------------

typedef struct DriverSettings {
  const char *real;     // path of the real driver; NULL: there is none, or it is not to be used
  const char *kernel;   // glob; NULL: any
  const char *capsule;  // where the capsule goes, %p is the process; NULL: none is wanted
  const char *seen;     // the table of launches (seen.h); NULL
  const char *command, *device, *blocks;
  long long launch;     // which launch of the kernel, from 0
  long long budget;     // lane instructions of one launch on the CPU
  long long seconds;    // of launches in front of the recorded one, of itself, of those behind it;
                        // 0: no limit
  bool no_data, skips;  // skips: no launch is run
  bool times;           // the real GPU is timed at each launch
  bool each_process;    // each process has a capsule of its own: launches are counted in each
  struct {
    int id, value;
  } attributes[256];
  int n_attributes;
} DriverSettings;

const DriverSettings *driver_settings(void);
// A line on stderr, "gemmview: …".
void driver_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern pthread_mutex_t driver_mutex;

// ---- jump.c -------------------------------------------------------------------------------------

// The function that a name leads to, of the newest version; NULL. `own`: never the one that
// refuses.
void *driver_symbol(const char *name, bool own);
bool driver_forwards(void);  // whether there is a real driver behind
// The real driver's function; NULL.
void *driver_real(const char *name);

// ---- heap.c -------------------------------------------------------------------------------------

typedef struct DriverMemory {
  uint64_t address;
  size_t bytes;
  unsigned char *memory, *state;  // of the machine's (PtxGiven)
  const char *name;               // "cudaMalloc 3"
  bool on_host;                   // the program's own memory, at the same address
  struct DriverMemory *next;
} DriverMemory;

DriverMemory *driver_memories(void);  // all, by rising address
DriverResult driver_allocate(uint64_t *address, size_t bytes, const char *what);
DriverResult driver_free(uint64_t address);
// The program's own memory, which kernels reach too.
void driver_share(void *memory, size_t bytes, const char *what);
DriverMemory *driver_memory_at(uint64_t address);
// The bytes of an address, NULL unless all of them lie in one allocation. Where none does, it may
// be memory of the program: *host says so.
unsigned char *driver_bytes(uint64_t address, size_t bytes, unsigned char **state);
// Copies between anything; false where an address lies nowhere.
bool driver_copy(uint64_t to, uint64_t from, size_t bytes);
bool driver_fill(uint64_t to, uint64_t value, int value_bytes, size_t count);

// ---- image.c ------------------------------------------------------------------------------------

// A module as a program hands it over: PTX, machine code, or a fatbin of both.
typedef struct DriverImage {
  const char *ptx;  // with NUL behind it; NULL: none
  size_t ptx_bytes;
  const unsigned char *cubin;  // the last one; NULL: none
  size_t cubin_bytes;
  const char *why_not;  // why there is no PTX; NULL
} DriverImage;
DriverImage driver_image(Arena *arena, const void *data);
// The compute capability of the GPU, 90 of an H200; 0: it is not known.
int driver_capability(void);

// ---- module.c -----------------------------------------------------------------------------------

typedef struct DriverModule DriverModule;
typedef struct DriverFunction {
  DriverModule *module;
  const char *name;
  const PtxModule *ptx;       // the text of its module, or its own machine code; NULL: not read
  const PtxFunction *kernel;  // of that
  bool code_was_read;         // its machine code was
  const char *why_not;        // why that cannot be run; NULL
  int max_dynamic_smem;
  enum { NAME_UNASKED, NAME_MATCHES, NAME_DIFFERS } matches;  // --kernel
  struct DriverFunction *next;
} DriverFunction;

typedef struct DriverVariable {
  const char *name;
  PtxSpace space;
  uint64_t address;
  int64_t bytes;
  struct DriverVariable *next;
} DriverVariable;

struct DriverModule {
  Arena *arena;
  DriverImage image;
  const PtxModule *ptx;         // NULL: not read
  const struct McCubin *cubin;  // of machine code alone that is run here; NULL
  DriverVariable *variables;
  DriverFunction *functions;
  DriverModule *next;
};

DriverResult driver_load(DriverModule **module, const void *data);
// A variable gets memory; `init`: what it holds, NULL: zeros.
DriverResult driver_place_variable(DriverModule *module, const char *name, PtxSpace space,
                                   int64_t bytes, const void *init);
DriverFunction *driver_function(DriverModule *module, const char *name);
DriverVariable *driver_variable(DriverModule *module, const char *name);

// ---- launch.c -----------------------------------------------------------------------------------

typedef struct DriverLaunch {
  PtxLaunch at;
  const void *params;  // as they lie in the kernel's parameter memory
  size_t param_bytes;
} DriverLaunch;

// ---- tensor.c -----------------------------------------------------------------------------------

typedef struct DriverMap {
  unsigned char bytes[128];
  uint64_t address;
  const char *text;
  TmaBox box;
  struct DriverMap *next;
} DriverMap;
DriverMap *driver_maps(void);

// ---- hook.c -------------------------------------------------------------------------------------

// Looks at every file that is loaded by now. Called once, before the program's own code.
void hook_program(void);
// Says, once, that there is a runtime that was not found.
void hook_missed(void);

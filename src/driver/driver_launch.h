// A launch between the program and the code that runs it.
#pragma once
#include "driver/seen.h"
#include "driver/stand_in.h"

typedef struct DriverRun {
  DriverFunction *function;
  PtxLaunch at;
  unsigned char params[1 << 16];  // as they lie in the kernel's parameter memory
  size_t param_bytes;
  struct {
    size_t offset, bytes;
  } param[4096];
  int n_params;
  void *handle, *stream;
  uint64_t number;                  // of those that --kernel means
  bool left;                        // it was left before its end: its results are not whole
  double until;                     // clock_seconds() when the CPU leaves it; 0: no limit
  DriverResult (*run)(void *self);  // with a real driver: what it was asked
  void *self;
} DriverRun;

// The shared table; NULL where the command wants none.
SeenTable *driver_seen(void);
SeenRow *driver_seen_row(const DriverRun *run);
bool driver_name_matches(const char *glob, const char *name);

// driver_time.c: asks the real driver to launch, and times the GPU where the command wants it.
DriverResult driver_time_launch(const DriverRun *run, SeenRow *row);

// reach.c: memory of the device, real or ours.
typedef struct Reached {
  uint64_t address;
  size_t bytes;
  const char *name;
} Reached;
// The allocation of an address. With a real driver nothing is known of bytes, and `state` is filled
// with "written".
bool reach_range(uint64_t address, Reached *out);
bool reach_read(uint64_t from, size_t n, unsigned char *to, unsigned char *state);
// Waits for everything that was asked of the device; false: it must not be asked now.
bool reach_wait(const DriverRun *run);
// The place of a variable of the launch's module.
bool reach_variable(const DriverRun *run, const char *name, uint64_t *address);

// keep.c: the capsule of a launch, in two steps. NULL where it cannot be kept, with a note.
typedef struct Kept Kept;
Kept *keep_before(const DriverRun *run);
void keep_after(Kept *kept, const DriverRun *run, bool ended);
void keep_fails(const char *why);  // the first reason is told

// module.c
void *driver_read_file(Arena *arena, const char *path, size_t *bytes);  // NULL
// The text of a function that is wanted, where it was not read yet.
void driver_find_kernel(DriverFunction *function);
// code.c: machine code, where there is no text: the variables of a module, and a function.
DriverResult driver_place_code(DriverModule *module);
void driver_read_code(DriverFunction *function);
// The module of a launch, its constants as they are now.
const PtxModule *driver_code_of(const DriverFunction *function);
// triton.c
void triton_find_ptx(DriverModule *module, const char *name);
bool driver_read_ptx(DriverModule *module);
DriverFunction *driver_function_of(void *handle);

// patience.c: a launch that --seconds leaves no time for is not run on the CPU. `wanted`: it is the
// recorded one. Sets run->until.
bool patience_begin(DriverRun *run, bool wanted);
void patience_end(const DriverRun *run);
// Whether launches after the recorded one have had their time, and what else takes of it.
bool patience_is_over(void);
void patience_spend(double seconds);

// cpu.c: all blocks, on the memory of the program itself.
DriverResult cpu_run(DriverRun *run);
// A machine with the launch's parameters, tensor maps and, unless `bare`, all memory of the driver.
PtxMachine *cpu_machine(Arena *arena, const DriverRun *run, bool bare, Diags *diags);
// Runs the blocks that a text names, "all" or "x,y,z".
PtxOutcome cpu_blocks(PtxMachine *machine, const DriverRun *run, const char *blocks);

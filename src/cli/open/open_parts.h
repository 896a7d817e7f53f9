// Parts of a run of gemmview open, and of what is printed about it.
#pragma once
#include "cli/open/open_request.h"
#include "cli/open/open_result.h"

// ---- open_machine.c -----------------------------------------------------------------------------

// Everything that a launch of r's kernel needs, with the blocks that are run; NULL after findings.
PtxMachine *open_make_machine(OpenResult *r, const OpenRequest *given, OpenBlocks *blocks,
                              Diags *diags);
PtxOutcome open_run_blocks(const OpenRequest *request, OpenResult *r, PtxMachine *machine,
                           const OpenBlocks *blocks);

// ---- open_by_code.c -----------------------------------------------------------------------------
// A kernel whose PTX is run, and its machine code: places, and counts that PTX does not have.

// The module with the places of the PTX that its instructions were made of, calls that were inlined
// included, as the cubin's .nv_debug_line_sass tells; without that table as it is.
const PtxModule *open_place_code(Arena *arena, const PtxModule *code, const PtxModule *ptx,
                                 const char *kernel, const void *cubin, size_t bytes);
// Counts accesses of shared memory that PTX alone does not tell the addresses of (wmma), or how
// often (loops that ptxas makes of atomics): the machine code is run as well, on memory of its own.
// For runs that ended well, with widths of the machine code (OpenResult.assembled).
void open_count_by_code(const OpenRequest *given, const OpenResult *r, PtxTally *tally);

// ---- open_triton.c ------------------------------------------------------------------------------
// Files that Triton's cache has beside NAME.ptx.

// Threads, shared memory and cluster of NAME.json; false: there is none.
bool open_triton_launch(Arena *arena, const char *path, PtxLaunch *launch);
const char *open_triton_cubin(Arena *arena, const char *path, size_t *bytes);  // NULL: none
// The assembler of Triton's wheel, in the environment or beside python3; NULL: none was found.
const char *open_triton_ptxas(Arena *arena);

// ---- open_fits.c --------------------------------------------------------------------------------
// Whether the GPU that a kernel was compiled for can launch it.

// Sets OpenResult.misfit to the sentence, where it cannot: shared memory, threads or registers are
// beyond its limits.
void open_check_fit(OpenResult *r);

// ---- open_dump.c --------------------------------------------------------------------------------
// --dump NAME=FILE: the memory of an argument as it is after the run.

typedef struct OpenDump {
  const OpenBuffer *buffer;
  const char *file;
} OpenDump;

// Each names memory as open_buffer_find() finds it, with numbers from 0; NULL after findings.
const OpenDump *open_read_dumps(Arena *arena, const PtxFunction *kernel, const OpenBuffers *buffers,
                                const char *const *items, int n, Diags *diags);
// Writes them; CLI_OK, or what the command ends with after a sentence on stderr.
int open_write_dumps(const OpenResult *result);

// ---- open_ncu.c ---------------------------------------------------------------------------------
// The counts of Nsight Compute's source page, from its CSV.

// ncu --page source --csv --print-source cuda: a table with a line number and "L1 Wavefronts
// Shared".
bool open_read_ncu(Arena *arena, const char *path, const OpenCounted **rows, int *n, Diags *diags);
// The row of a line; NULL: there is none, or no file was given.
const OpenCounted *open_counted_of(const OpenResult *r, const PtxLine *line);
// False after a finding: not one of its lines is a line that accessed shared memory.
bool open_ncu_is_of(const OpenResult *r, const char *path, Diags *diags);

// ---- open_compiled.c ----------------------------------------------------------------------------
// The machine code that the assembler makes of a kernel, if ptxas and nvdisasm are at hand.

// True: the tally's widths and lines are those of the machine code, which goes into result->sass.
// False: they are predicted, and result->why_not says why.
bool open_reconcile(OpenResult *result, PtxTally *tally);
// The machine code of the kernel: of a capsule as it was launched, of a text as ptxas makes it.
// NULL with a sentence in *why.
const char *open_machine_code(const OpenResult *result, size_t *bytes, const char **why);
// The assembler: as GEMMVIEW_PTXAS names it, else as it is found; NULL.
const char *open_ptxas(Arena *arena);
// The text, or one kernel of it (NULL: all), as ptxas makes machine code of it for that
// architecture; NULL with a sentence in *why.
const char *open_assemble(Arena *arena, const char *ptxas, const OpenText *text, const char *kernel,
                          const char *target, size_t *bytes, const char **why);

// ---- open_follow.c ------------------------------------------------------------------------------
// The ways of warps through the machine code of a run, and what the clock says of them: what
// `gemmview open --why` prints.

typedef struct OpenFollowed OpenFollowed;

// Follows what the machine runs from now on; the accesses are told to the tally, too.
OpenFollowed *open_follow(const OpenResult *result, PtxMachine *machine, PtxTally *tally);
// A block has ended.
void open_follow_block(OpenFollowed *followed);

typedef struct OpenWhy {
  bool json, what_if, cold, window;
  int mhz;  // of the SM clock; 0: the GPU's boost clock
} OpenWhy;

// The clock's answer about a run that was followed; NULL after a finding.
const struct ClockAnswer *open_clock(const OpenResult *result, const OpenWhy *ask, Diags *diags);
// The same into the result, with all that the screen shows.
void open_take_clock(OpenResult *result);

// Prints the clock's answer about a run that was followed; what the command ends with.
int open_why(const OpenResult *result, const OpenWhy *ask, Diags *diags);

// ---- open_detail.c ------------------------------------------------------------------------------
// Everything that the screen of the user's own kernel draws, as members of the report's JSON
// object: arrays with their best layouts, sites with their addresses, texts by line, sources.

extern const Form open_detail_form;  // of OpenResult
// The source that the kernel was compiled from; NULL: there is none to be read.
const char *open_source_text(const OpenResult *result);

// A PTX text, read: variables, functions, and one dense table of decoded instructions.
//
//   Diags diags = diags_new(arena);
//   const PtxModule *module = ptx_module_read(arena, text, bytes, "k.ptx", &diags);   NULL: see
//   diags const PtxFunction *kernel = ptx_module_kernel(module, "hgemm", &diags);
//
// Text of .version 6 to 9 as nvcc and NVRTC write it. A text that the reader does not know is a
// finding with its line; an instruction that is known but not run becomes one that stops the block
// that comes to it, by name.
#pragma once
#include "base/diag.h"
#include "ptx/module/ptx_isa.h"

enum { PTX_GROUPS_MAX = 10, PTX_LANES = 32 };

typedef enum PtxSpace {
  PTX_SPACE_GENERIC,
  PTX_SPACE_GLOBAL,
  PTX_SPACE_SHARED,
  PTX_SPACE_LOCAL,  // and the parameters of calls
  PTX_SPACE_CONST,
  PTX_SPACE_PARAM,  // of the kernel
} PtxSpace;

// The place of a register's 32 lanes: its index in the function's frame, or ~index of a value that
// is fixed for a warp: special registers first, then the module's constants.
typedef int32_t PtxArg;

// Predicates: index in the function's frame of predicates, or one of these.
enum { PTX_PRED_TRUE = -1, PTX_PRED_FALSE = -2 };

typedef enum PtxSpecial {
#define SPECIAL(id, name) PTX_SPECIAL_##id,
#include "ptx/module/special.def"
  PTX_SPECIALS
} PtxSpecial;

typedef enum PtxGroupKind {
  PTX_GROUP_VALUE,    // registers, constants: n of them
  PTX_GROUP_PRED,     // predicates
  PTX_GROUP_ADDRESS,  // one base and an offset
  PTX_GROUP_SINK,     // "_"
} PtxGroupKind;

typedef struct PtxGroup {
  PtxGroupKind kind;
  bool negated;    // !%p
  bool written;    // a destination
  int n;           // registers in it
  int at;          // first of them in PtxModule.args
  int64_t offset;  // of an address
} PtxGroup;

typedef struct PtxInst {
  PtxRun *run;  // never NULL
  const PtxOpcode *row;
  PtxForm form;
  PtxGroup groups[PTX_GROUPS_MAX];
  int n_groups;
  PtxGroup pair;  // the q of p|q, the p of d|p; n is 0 where there is none
  PtxSpace space;
  int guard;  // predicate, PTX_PRED_TRUE when there is none
  bool guard_not;
  int target;  // instruction a branch goes to, function that is called, −1; brx: first of `targets`
  int n_targets;
  int call;    // index of PtxModule.calls
  int rejoin;  // of a branch: the instruction where its ways meet again, −1 when they do not
  int access;  // index among the accesses to shared memory that can be counted, −1
  int line;    // in the PTX text
  int loc;     // index of PtxModule.locs, −1 when there is none
  bool first;  // of its basic block
  bool plain;  // a float instruction without any modifier but .rn
  // Machine code: scoreboards with groups of copies, a bit each. A commit's group releases
  // `boards`; any instruction waits for `awaits` before it does anything.
  uint8_t boards, awaits;
  // The scoreboard that a load's result releases, the bit behind all where it names none, and all
  // that any instruction waits for: where a kernel has copies that may come where loads read.
  uint8_t gives, waits;
  bool gives_for_all;        // and those of the loads in front that have none
  const struct PtxMma *mma;  // of an mma
  const struct PtxWgmma *wgmma;
  const struct McStep *machine;  // of machine code: its operands (machine/mc_code.h)
  const struct PtxInst *as;      // the PTX that does the same; NULL: none
  const char *why;               // run as nothing else: what to tell
} PtxInst;

// A place in a source file: .loc, with the call that it was inlined into.
typedef struct PtxLoc {
  int file, line, column;
  int inlined_at;  // the place of the call, −1
} PtxLoc;

typedef struct PtxFile {
  int number;
  const char *name;
} PtxFile;

typedef struct PtxVariable {
  const char *name;
  PtxSpace space;
  PtxType type;
  int align;
  int64_t bytes;              // 0: an extern array, as large as the launch says
  int64_t offset;             // in its space
  const unsigned char *init;  // NULL: zeros for global and const
  int function;               // that it belongs to, −1
  int line;
  bool is_extern;
  int vector;  // .v2, .v4: elements of one
} PtxVariable;

typedef struct PtxParam {
  const char *name;
  PtxType type;
  int64_t bytes;  // all of it
  int align;
  int64_t offset;   // for a kernel: in its parameters; for a function: in the thread's memory
  bool is_pointer;  // as .ptr says; false where nothing says it
  PtxArg reg;       // a function's formal that is a register
  bool in_register;
} PtxParam;

typedef struct PtxFunction {
  const char *name;
  bool is_kernel, has_body;
  PtxParam *params, *results;
  int n_params, n_results;
  int64_t param_bytes;
  int first, end;           // instructions
  int n_regs, n_preds;      // of its frame
  const uint8_t *reg_bits;  // width of each register
  int dynamic_align;        // that the extern arrays it names ask for; 0: it names none
  int reqntid[3], maxntid[3], cluster[3];  // 0: not said
  int line;
} PtxFunction;

// The values that a call hands over: registers, or .param variables in the thread's memory.
typedef struct PtxActual {
  bool in_register;
  PtxArg reg;
  int64_t offset;
} PtxActual;

typedef struct PtxCall {
  PtxActual *args, *results;
  int n_args, n_results;
} PtxCall;

typedef struct PtxModule {
  const char *what;  // the name in messages
  int version, cc;   // 90 for 9.0; of .target sm_90a
  const char *target;
  PtxInst *code;
  int n_code;
  PtxArg *args;
  int n_args;
  PtxFunction *functions;
  int n_functions;
  PtxVariable *variables;
  int n_variables;
  PtxLoc *locs;
  int n_locs;
  PtxFile *files;
  int n_files;
  uint64_t *constants;
  uint8_t *constant_zeros;  // trailing zeros that the compiler may count on
  int *constant_variable;   // shared variable with this address; −1: a number. Where variables
                            // lie for a kernel alone, a machine knows: the value counts all
  int n_constants;
  PtxCall *calls;
  int n_calls;
  int *targets;  // of brx
  int n_targets;
  int64_t local_bytes;  // of one thread: .local and the parameters of calls, all functions
  const char *source;   // the text itself, for messages
  // For machine code: its constant banks, and the work in front of each cluster; NULL for PTX.
  const struct McCode *machine;
  void (*begin)(struct PtxMachine *m);
  int reserved_smem;  // of a block's shared memory, the system's own; it lies in front
} PtxModule;

PtxModule *ptx_module_read(Arena *arena, const char *text, size_t bytes, const char *what,
                           Diags *diags);

// Finds a kernel by its name as PTX has it, or as CUDA has it ("hgemm" for "_Z5hgemmPf"); NULL: the
// only one. NULL after a finding.
const PtxFunction *ptx_module_kernel(const PtxModule *module, const char *name, Diags *diags);
// "hgemm" of "_Z5hgemmPKfi": the name alone.
const char *ptx_plain_name(Arena *arena, const char *symbol);
// The place in the user's own text for a place: the innermost call it was inlined into with a file
// in the folder of the outermost call's file, or below it. A line of a library's header is thus the
// line that calls it.
int ptx_own_loc(const PtxModule *module, int loc);
const char *ptx_file_name(const PtxModule *module, int number);  // "" when it is not known
// "ld.shared.v4.f32", as the text has it.
const char *ptx_inst_text(Arena *arena, const PtxModule *module, const PtxInst *inst);

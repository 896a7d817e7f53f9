// The interface that the parts of the reader share: directives and functions in ptx_parse.c,
// declarations in ptx_parse_var.c, instructions in ptx_parse_inst.c, their operands in
// ptx_parse_operand.c, names and scopes in ptx_names.c.
#pragma once
#include "ptx/module/ptx_lex.h"
#include "ptx/module/ptx_module.h"

typedef enum PtxNameKind {
  PTX_NAME_REG,       // `count` registers %r0 … from `value` on; a lone one has count 0
  PTX_NAME_WIDE,      // the same, of 128 bits: each is two registers of 64, behind each other
  PTX_NAME_PRED,      // the same
  PTX_NAME_VARIABLE,  // index
  PTX_NAME_FUNCTION,  // index
  PTX_NAME_PARAM,     // of the kernel: offset
  PTX_NAME_SLOT,      // a .param of a call or a formal: offset in the thread's memory
  PTX_NAME_LABEL,     // instruction
  PTX_NAME_TARGETS,   // index of `lists`
  PTX_NAME_PROTOTYPE,
} PtxNameKind;

typedef struct PtxName {
  const char *text;
  int length;
  PtxNameKind kind;
  int64_t value;
  int count;
  int next;  // in its bucket, −1
  uint32_t bucket;
} PtxName;

// A label that was used before it was met.
typedef struct PtxFixup {
  const char *text;
  int length, line;
  int inst;  // the instruction with this target; −1 − i: item i of PtxModule.targets
} PtxFixup;

typedef struct PtxScope {
  int n_names, n_fixups, n_regs, n_preds;
} PtxScope;

enum { PTX_BUCKETS = 4096, PTX_SCOPES_MAX = 64, PTX_ERRORS_MAX = 20 };

typedef struct PtxParser {
  Arena *arena;
  Diags *diags;
  PtxLexer lexer;
  PtxToken token;  // the one that comes next
  PtxModule *module;
  int function;  // the function with this body, −1
  int loc;       // of the last .loc
  PtxName *names;
  int n_names, cap_names;
  int buckets[PTX_BUCKETS];
  PtxFixup *fixups;
  int n_fixups, cap_fixups;
  PtxScope scopes[PTX_SCOPES_MAX];
  int n_scopes;
  int n_regs, n_preds;
  bool is_wide;  // the operand that was read last is a register of 128 bits: its first half
  uint8_t *reg_bits;
  int cap_reg_bits;
  int cap_code, cap_args, cap_functions, cap_variables, cap_locs, cap_files, cap_constants,
      cap_calls, cap_targets;
  int64_t shared_module;    // bytes of shared variables of the module
  int64_t shared_function;  // and of this kernel behind them
  int n_errors;
} PtxParser;

// ptx_names.c
void *ptx_grow(Arena *arena, void *items, int *capacity, int n, size_t size);
#define PTX_GROW(p, items, capacity, n) \
  ((items) = ptx_grow((p)->arena, (items), &(capacity), (n), sizeof *(items)))
void ptx_error(PtxParser *p, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ptx_advance(PtxParser *p);
bool ptx_accept(PtxParser *p, char sign);
bool ptx_expect(PtxParser *p, char sign);  // a finding when it is not there
bool ptx_accept_word(PtxParser *p, const char *word);
const char *ptx_token_text(PtxParser *p, const PtxToken *token);
PtxName *ptx_name_add(PtxParser *p, const char *text, int length, PtxNameKind kind, int64_t value);
// The newest of that name; NULL. A register of a range has its own value in *value.
const PtxName *ptx_name_find(PtxParser *p, const char *text, int length, int64_t *value);
void ptx_scope_open(PtxParser *p);
void ptx_scope_close(PtxParser *p);
PtxArg ptx_constant(PtxParser *p, uint64_t bits, int zeros);
// The same of an address in that variable of shared memory; −1: none.
PtxArg ptx_constant_of(PtxParser *p, uint64_t bits, int zeros, int variable);
PtxArg ptx_special(PtxParser *p, const char *text, int length);  // 0 when there is none

// ptx_parse_inst.c: [@p] opcode operands ;
void ptx_parse_instruction(PtxParser *p);
// Ends a function: a thread that runs off its end returns.
void ptx_parse_end(PtxParser *p);

// ptx_parse.c: a whole number with its sign; 0 after a finding.
int64_t ptx_parse_int(PtxParser *p);
// Goes on behind the next semicolon, or before a brace.
void ptx_skip_statement(PtxParser *p);

// ptx_parse_var.c: what stands before a name, .align 4 .v2 .b8; false after a finding.
typedef struct PtxQualifiers {
  bool is_extern, is_pointer;
  int align, vector;
  PtxType type;
} PtxQualifiers;
bool ptx_parse_qualifiers(PtxParser *p, PtxQualifiers *q);
// [4][5] or []: elements, 0 for an array without a size.
int64_t ptx_parse_dimensions(PtxParser *p, bool *is_array);
void ptx_parse_declaration(PtxParser *p, PtxSpace space, bool is_reg, bool is_extern);
// Bytes of one element; a predicate takes one.
int ptx_type_bytes(PtxType type);

// ptx_parse_operand.c. All give false after a finding.
// A number, with its sign: its bits as the type has them.
bool ptx_parse_number(PtxParser *p, PtxType type, uint64_t *bits);
// The value that a word means.
bool ptx_parse_word(PtxParser *p, const PtxToken *word, PtxGroup *group, PtxArg *arg);
// A number or a word, perhaps with an offset behind it ("var+16").
bool ptx_parse_value(PtxParser *p, const PtxForm *form, PtxGroup *group, PtxArg *arg);
bool ptx_parse_operand(PtxParser *p, PtxInst *inst, PtxGroup *group);
// Checks the operands against the letters of the opcode's row.
bool ptx_check_operands(PtxParser *p, PtxInst *inst, const char *name);
// Adds an argument to the module's and returns its index.
int ptx_add_arg(PtxParser *p, PtxArg arg);

// flow.c: sets `first` and `rejoin` of every instruction.
void ptx_flow(Arena *arena, PtxModule *module);

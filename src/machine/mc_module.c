// Listing → PTX text of one line for each instruction → module → instructions run by functions of
// our own.
//
//   000: L0:  mov.b32 R1, K0;                      LDC R1, c[0x0][0x28]     (its own function)
//   010:      mov.b32 R9, %tid.x;                  S2R R9, SR_TID.X
//   0f0:      @!P0 bra L30;                        @!P0 BRA `(.L_x_0)
//
// The text is read by the reader for PTX: it finds basic blocks, checks numbers of registers and
// lays out tiles of tensor cores. An instruction with a function of its own is a mov there, and
// gets its function and operands behind the reading.
#include "machine/mc_module.h"

#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "machine/mc_boards.h"
#include "machine/mc_run.h"

enum { NO_PLACE = -1, CODE_MAX = 1 << 20 };
#define PLACEHOLDER "mov.b64 T0, T0"

typedef struct Builder {
  Arena *arena;
  const McCubin *cubin;
  const McKernel *kernel;
  McPlan plan;
  int n_own;  // the kernel's instructions; other words stand behind them
  McInPlace *words;
  int n;
  McStep *steps;
  const char **text;  // PTX by instruction; NULL: its own function
  const char **why;   // not run: the sentence
  bool *named;        // a branch goes there
  const McLine **lines;
  Str out;
} Builder;

static bool is_own(const Builder *b, int at) { return at < b->n_own; }

// The instruction whose place it has.
static int origin_of(const Builder *b, int at) {
  return is_own(b, at) ? at : b->words[at - b->n_own].pc;
}

static const unsigned char *bytes_of(const Builder *b, int at) {
  return is_own(b, at) ? b->kernel->text.at + (size_t)at * MC_BYTES : b->words[at - b->n_own].bytes;
}

// ---- places -------------------------------------------------------------------------------------

// The byte that a branch at instruction `at` names: words of four bytes from behind it. Up to sm_89
// all bits lie from 34 on; since sm_90 eight more stand in front of those, at 16.
static int64_t reach_of(const McStep *step, int sm, int at) {
  const uint64_t bits = (step->low >> 34 | step->high << 30) & ((UINT64_C(1) << 48) - 1);
  const int64_t upper = (int64_t)(bits << 16) >> 16;
  const int64_t words = sm < 90 ? upper : upper * 256 + (int64_t)(step->low >> 16 & 0xff);
  return ((int64_t)at + 1) * MC_BYTES + (int64_t)((uint64_t)words * 4);
}

static bool has_place(const McStep *step) {
  return step->op->run == mc_run_branch || step->op->run == mc_run_branch_any ||
         step->op->run == mc_run_branch_by;
}

// Lanes meet in front of the place that BSSY names, which goes nowhere: bytes from behind it.
static int64_t meeting_place(const McStep *step, int at) {
  return ((int64_t)at + 1) * MC_BYTES + (int32_t)(step->low >> 32);
}

static int place_of(const Builder *b, const McStep *step) {
  const int64_t at = step->reach / MC_BYTES;
  return step->reach % MC_BYTES || at < 0 || at >= b->n_own ? NO_PLACE : (int)at;
}

// Whether a register has a say in where it goes.
static bool goes_by_register(const McStep *step) {
  return step->op->run == mc_run_branch_by && step->operands[0].present;
}

// ---- the text -----------------------------------------------------------------------------------

static void refuse(Builder *b, int at, const char *why) {
  b->why[at] = arena_printf(b->arena, "%s (at 0x%x)", why, origin_of(b, at) * MC_BYTES);
  b->text[at] = PLACEHOLDER;
}

static void plan_branch(Builder *b, int at) {
  McStep *step = &b->steps[at];
  step->reach = reach_of(step, b->cubin->sm, at);
  if (goes_by_register(step)) {
    b->text[at] = "exit";
    return;
  }
  const int place = place_of(b, step);
  if (place == NO_PLACE) {
    refuse(b, at,
           arena_printf(b->arena, "%s goes to a place without an instruction", step->op->name));
    return;
  }
  b->named[place] = true;
  b->text[at] = arena_printf(b->arena, "bra L%d", place);
}

// Whether it goes anywhere is decided when it is run.
static void plan_branch_apart(Builder *b, int at) {
  McStep *step = &b->steps[at];
  step->reach = reach_of(step, b->cubin->sm, origin_of(b, at));
  if (place_of(b, step) == NO_PLACE) refuse(b, at, "BRA goes to a place without an instruction");
}

// A branch has a say in the basic blocks of the code.
static void leave_to_others(Builder *b, int at) {
  b->words[at - b->n_own].branches = true;
  refuse(b, at, "it changes the ways through the code");
}

static void plan_one(Builder *b, int at, const char *text) {
  McLine *line = ARENA_NEW(b->arena, McLine);
  uint64_t words[2];
  memcpy(words, bytes_of(b, at), sizeof words);
  b->lines[at] = line;
  const char *why = mc_read(b->arena, text, line);
  if (why) {
    refuse(b, at,
           arena_printf(b->arena, "%s is not run here: %s", line->name ? line->name : "?", why));
    return;
  }
  if (line->has_guard && line->guard == MC_PT && line->guard_not) {
    line->name = "NOP";
    line->n = line->n_words = 0;
    line->has_guard = false;
  }
  const char *ptx = mc_plan(&b->plan, line, words[0], words[1], &b->steps[at], &why);
  if (!ptx)
    refuse(b, at, why);
  else if (!is_own(b, at) && has_place(&b->steps[at]))
    leave_to_others(b, at);
  else if (has_place(&b->steps[at]))
    plan_branch(b, at);
  else
    b->text[at] = *ptx ? ptx : PLACEHOLDER;
  McStep *step = &b->steps[at];
  if (ptx && str_equal(step->op->name, "BSSY")) step->reach = meeting_place(step, origin_of(b, at));
  if (ptx && step->op->run == mc_run_branch_apart) plan_branch_apart(b, at);
}

static bool same_address(const McRead *a, const McRead *b) {
  return a->number == b->number && a->uniform == b->uniform && a->value == b->value;
}

// A loop around ATOMS.CAST.SPIN is an atomic operation: what it reads first it reads as one.
static void mark_spin(Builder *b, int at) {
  enum { NEAR = 12 };
  const McLine *spin = b->lines[at];
  if (b->why[at] || b->steps[at].op->run != mc_run_cast_spin) return;
  for (int i = at - 1; i >= 0 && i >= at - NEAR; i--) {
    const McLine *line = b->lines[i];
    if (b->why[i] || !str_equal(line->name, "LDS")) continue;
    if (!same_address(&line->operands[1], &spin->operands[1])) continue;
    b->text[i] = arena_printf(b->arena, "ld.relaxed.cta%s", b->text[i] + strlen("ld"));
    return;
  }
}

static void write_guard(Builder *b, const McLine *line) {
  if (!line->has_guard || line->guard == MC_PT) return;
  str_printf(&b->out, "@%s%s%d ", line->guard_not ? "!" : "", line->guard_is_uniform ? "UP" : "P",
             line->guard);
}

static void write_code(Builder *b) {
  for (int i = 0; i < b->n; i++) {
    if (b->named[i]) str_printf(&b->out, "L%d:\n", i);
    if (!b->why[i]) write_guard(b, b->lines[i]);
    str_printf(&b->out, "%s;\n", b->text[i]);
  }
}

static void write_parameters(Builder *b) {
  for (int i = 0; i < b->kernel->n_parameters; i++) {
    const int bytes = b->kernel->parameters[i].bytes;
    const bool is_number = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    str_add(&b->out, i ? ", " : "");
    if (is_number)
      str_printf(&b->out, ".param .u%d p%d", bytes * 8, i);
    else
      str_printf(&b->out, ".param .align 1 .b8 p%d[%d]", i, bytes ? bytes : 1);
  }
}

static int global_bytes(const Builder *b, const char *section) {
  ElfSection header;
  if (!elf_section_header(b->cubin->bytes, b->cubin->n, section, &header)) return 0;
  return header.bytes < 1u << 28 ? (int)header.bytes : 0;
}

static const char *const global_sections[] = {".nv.global.init", ".nv.global"};
static const char *const global_names[] = {"mc_global_init", "mc_global"};
enum { GLOBALS = 2 };

static void write_three(Builder *b, const char *what, const int of[3]) {
  if (of[0] > 0) str_printf(&b->out, "%s %d, %d, %d\n", what, of[0], of[1], of[2]);
}

static void write_text(Builder *b) {
  str_add(&b->out, ".version 9.0\n.target sm_100a\n.address_size 64\n");
  for (int g = 0; g < GLOBALS; g++)
    if (global_bytes(b, global_sections[g]))
      str_printf(&b->out, ".global .align 256 .b8 %s[%d];\n", global_names[g],
                 global_bytes(b, global_sections[g]));
  str_add(&b->out, ".visible .entry mc_kernel(");
  write_parameters(b);
  str_add(&b->out, ")\n");
  write_three(b, ".maxntid", b->kernel->maximum);
  write_three(b, ".reqntid", b->kernel->required);
  write_three(b, ".reqnctapercluster", b->kernel->cluster);
  str_printf(&b->out,
             "{\n.reg .b32 R<256>;\n.reg .b32 UR<64>;\n.reg .b32 B<16>;\n.reg .b32 BR;\n"
             ".reg .b64 T<%d>;\n.reg .b32 K<%d>;\n.reg .pred P<8>;\n.reg .pred UP<8>;\n"
             ".reg .pred BP;\n",
             MC_TEMPORARIES, b->plan.n_fixed + 1);
  if (b->kernel->shared_bytes)
    str_printf(&b->out, ".shared .align 1024 .b8 mc_shared[%d];\n", b->kernel->shared_bytes);
  str_printf(&b->out, ".local .align 16 .b8 mc_stack[%d];\n", b->kernel->stack_bytes);
  write_code(b);
  str_add(&b->out, "}\n");
}

// ---- behind the reading -------------------------------------------------------------------------

// PT as an operand that is read.
static void mend_preds(PtxModule *module, const PtxInst *i) {
  for (int g = 0; g < i->n_groups; g++) {
    const PtxGroup *group = &i->groups[g];
    if (group->kind != PTX_GROUP_PRED || group->written || !group->n) continue;
    PtxArg *arg = &module->args[group->at];
    if (*arg == MC_FRAME_P + MC_PT || *arg == MC_FRAME_UP + MC_PT) *arg = PTX_PRED_TRUE;
  }
}

static PtxOpcode own_row(const McOp *op) {
  return (PtxOpcode){.name = op->name,
                     .needs = "",
                     .operands = "",
                     .run = op->run,
                     .flow = PTX_FLOW_OWN,
                     .takes = "",
                     .help = op->help};
}

// Groups of the operands in the order of the row, for code that follows values. `at` is the next
// argument that is free.
static void give_groups(PtxModule *module, const McStep *step, PtxInst *i, int *at) {
  i->n_groups = 0;
  i->pair = (PtxGroup){0};
  for (int n = 0; n < step->n && n < PTX_GROUPS_MAX; n++) {
    const McOperand *o = &step->operands[n];
    PtxGroup *group = &i->groups[i->n_groups++];
    const bool is_pred = o->letter == 'p' || o->letter == 'q';
    *group = (PtxGroup){.kind = PTX_GROUP_SINK, .at = *at};
    if (!o->present) continue;
    group->written = o->letter == 'd' || o->letter == 'p';
    if (is_pred || strchr("dsrfhglnuyz", o->letter)) {
      group->kind = is_pred ? PTX_GROUP_PRED : PTX_GROUP_VALUE;
      group->n = is_pred ? 1 : o->n;
      for (int k = 0; k < group->n; k++) module->args[(*at)++] = o->arg[k];
      const bool always = is_pred && o->arg[0] % MC_FRAME_UP == MC_PT && !group->written;
      if (always) module->args[group->at] = PTX_PRED_TRUE;
    } else {
      group->kind = PTX_GROUP_VALUE;
      group->n = 1;
      module->args[(*at)++] = ~PTX_SPECIAL_zero;
    }
  }
}

static bool keeps_ptx(const McStep *step) {
  if (step->op->as) return true;
  return has_place(step) && !goes_by_register(step) && !step->operands[0].present;
}

static void give_function(Builder *b, PtxModule *module, int at, int *next_arg) {
  PtxInst *i = &module->code[at];
  McStep *step = &b->steps[at];
  i->line = origin_of(b, at) + 1;
  if (b->why[at]) {
    i->run = ptx_run_why;
    i->why = b->why[at];
    i->guard = PTX_PRED_TRUE;
    return;
  }
  mend_preds(module, i);
  const bool once = step->is_uniform && step->op->flow == PTX_FLOW_LANE;
  if (keeps_ptx(step)) {
    i->machine = step;
    const bool alone = !step->n_gathers && !step->n_scatters && !(step->op->as && step->op->run);
    if (alone && !once) return;
    PtxInst *as = ARENA_NEW(b->arena, PtxInst);
    *as = *i;
    i->as = as;
    if (as->run == ptx_run_why) return;
  }
  PtxOpcode *row = ARENA_NEW(b->arena, PtxOpcode);
  *row = own_row(step->op);
  if (!i->as && step->op->flow == PTX_FLOW_LANE) row->flow = PTX_FLOW_LANE;
  if (!i->as) {
    give_groups(module, step, i, next_arg);
    i->form = (PtxForm){.vector = 1};
    i->space = PTX_SPACE_GENERIC;
  }
  i->row = row;
  i->machine = step;
  i->run = once ? mc_run_once : i->as && !step->op->run ? mc_run_as : step->op->run;
}

static void give_globals(const Builder *b, PtxModule *module) {
  for (int v = 0; v < module->n_variables; v++)
    for (int g = 0; g < GLOBALS; g++) {
      PtxVariable *variable = &module->variables[v];
      if (!str_equal(variable->name, global_names[g])) continue;
      const ElfBytes bytes = elf_section(b->cubin->bytes, b->cubin->n, global_sections[g]);
      variable->name = global_sections[g];
      if (bytes.at && bytes.end - bytes.at >= variable->bytes) variable->init = bytes.at;
    }
}

// The address that a symbol stands for: where the program had it, else in the variables of the
// module, or nowhere.
static uint64_t address_of(const Builder *b, const PtxModule *module, const char *name) {
  McSymbol symbol;
  for (int i = 0; i < b->cubin->n_variables; i++)
    if (b->cubin->variables[i].address && str_equal(b->cubin->variables[i].symbol, name))
      return b->cubin->variables[i].address;
  if (!mc_cubin_symbol(b->cubin, name, &symbol) || !symbol.section) return 0;
  for (int v = 0; v < module->n_variables; v++)
    if (str_equal(module->variables[v].name, symbol.section))
      return PTX_GLOBAL_VARIABLES + (uint64_t)module->variables[v].offset + symbol.at;
  return 0;
}

static unsigned char *linked_bank(const Builder *b, const PtxModule *module, ElfBytes bytes,
                                  const char *section) {
  const size_t n = (size_t)(bytes.end - bytes.at);
  unsigned char *out = arena_alloc(b->arena, n + 8);
  memcpy(out, bytes.at, n);
  for (size_t at = 0; at + 8 <= n; at += 8) {
    const ElfRelocation r = elf_relocation(b->cubin->bytes, b->cubin->n, section, at);
    if (!*r.symbol) continue;
    const uint64_t address = address_of(b, module, r.symbol) + (uint64_t)r.addend;
    memcpy(out + at, &address, sizeof address);
  }
  return out;
}

// The constants that the program had set, over those that the cubin begins with.
static void give_constants(const McCubin *cubin, const McBank *bank) {
  McSymbol symbol;
  const uint64_t n = (uint64_t)bank->n;
  for (const McVariable *v = cubin->variables; v < cubin->variables + cubin->n_variables; v++)
    if (v->bytes && mc_cubin_symbol(cubin, v->symbol, &symbol) && symbol.section &&
        str_equal(symbol.section, bank->section) && symbol.at <= n && v->n <= n - symbol.at)
      memcpy(bank->bytes + symbol.at, v->bytes, (size_t)v->n);
}

void mc_module_constants(const PtxModule *module, const McCubin *cubin) {
  for (int bank = 1; bank < MC_BANKS; bank++)
    if (module->machine->banks[bank].bytes) give_constants(cubin, &module->machine->banks[bank]);
}

static void give_banks(const Builder *b, const PtxModule *module, McCode *code) {
  for (int bank = 1; bank < MC_BANKS; bank++) {
    const char *of_all = arena_printf(b->arena, ".nv.constant%d", bank);
    const char *own = arena_printf(b->arena, "%s.%s", of_all, b->kernel->name);
    ElfBytes bytes = elf_section(b->cubin->bytes, b->cubin->n, own);
    const char *section = bytes.at ? own : of_all;
    if (!bytes.at) bytes = elf_section(b->cubin->bytes, b->cubin->n, of_all);
    if (!bytes.at) continue;
    code->banks[bank] =
        (McBank){section, linked_bank(b, module, bytes, section), bytes.end - bytes.at};
    give_constants(b->cubin, &code->banks[bank]);
  }
}

static void give_parameters(const McKernel *k, PtxFunction *f) {
  f->param_bytes = k->parameter_bytes;
  for (int i = 0; i < f->n_params && i < k->n_parameters; i++) {
    f->params[i].offset = k->parameters[i].offset;
    f->params[i].bytes = k->parameters[i].bytes;
  }
}

// The places of the source that .debug_line names; without it each instruction is its own place.
static void give_lines(const Builder *b, PtxModule *module) {
  const LineTable table =
      line_table_read(b->arena, b->cubin->bytes, b->cubin->n, ".debug_line", b->kernel->name);
  module->locs = ARENA_ARRAY(b->arena, PtxLoc, b->n + 1);
  module->files = ARENA_ARRAY(b->arena, PtxFile, b->n + 1);
  module->n_locs = module->n_files = 0;
  for (int i = 0; i < b->n_own; i++) {
    const LineRow *row = table.n ? line_table_find(&table, (uint64_t)i * MC_BYTES) : NULL;
    module->code[i].loc = -1;
    if (!row) continue;
    int file = 0, loc = 0;
    while (file < module->n_files && !str_equal(module->files[file].name, row->file)) file++;
    if (file == module->n_files) module->files[module->n_files++] = (PtxFile){file, row->file};
    while (loc < module->n_locs &&
           (module->locs[loc].file != file || module->locs[loc].line != row->line))
      loc++;
    if (loc == module->n_locs)
      module->locs[module->n_locs++] = (PtxLoc){.file = file, .line = row->line, .inlined_at = -1};
    module->code[i].loc = loc;
  }
}

static const char *source_of(Builder *b, const McListing *lines) {
  Str out = str_new(b->arena);
  for (int i = 0; i < b->n_own; i++) str_printf(&out, "/*%04x*/ %s\n", i * MC_BYTES, lines[i].text);
  return out.text;
}

// The end that the reader puts behind all of it goes behind the kernel's own instructions.
static void set_words_aside(const Builder *b, PtxModule *module, PtxFunction *f) {
  const int n_words = b->n - b->n_own;
  const PtxInst end = module->code[b->n];
  memmove(module->code + b->n_own + 1, module->code + b->n_own,
          sizeof *module->code * (size_t)n_words);
  module->code[b->n_own] = end;
  for (int pc = 0; pc < b->n_own; pc++)
    if (module->code[pc].rejoin == b->n) module->code[pc].rejoin = b->n_own;
  f->end = module->n_code = b->n_own + 1;
}

static void finish(Builder *b, PtxModule *module, const McListing *lines) {
  PtxArg *args = ARENA_ARRAY(b->arena, PtxArg, module->n_args + b->n * 16 + 1);
  memcpy(args, module->args, sizeof *args * (size_t)module->n_args);
  module->args = args;
  for (int i = 0; i < b->n; i++) give_function(b, module, i, &module->n_args);
  PtxFunction *f = &module->functions[0];
  f->name = b->kernel->name;
  set_words_aside(b, module, f);
  give_parameters(b->kernel, f);
  give_globals(b, module);
  give_lines(b, module);
  McCode *code = ARENA_NEW(b->arena, McCode);
  *code = (McCode){.n_fixed = b->plan.n_fixed,
                   .fixed = b->plan.fixed,
                   .parameters = b->kernel->parameters_at,
                   .sm = b->cubin->sm,
                   .stack_bytes = b->kernel->stack_bytes};
  mc_boards(module->code, b->n_own);
  give_banks(b, module, code);
  module->machine = code;
  module->begin = mc_begin;
  module->reserved_smem = b->cubin->sm >= 90 ? MC_RESERVED_SHARED : 0;
  module->source = source_of(b, lines);
  module->target = arena_printf(b->arena, "sm_%d%s", b->cubin->sm, b->cubin->sm >= 90 ? "a" : "");
  module->cc = b->cubin->sm;
}

// The listing leaves out padding behind the kernel's end.
static int listed(const McKernel *kernel, const McListing *lines, int n) {
  const int64_t all = (kernel->text.end - kernel->text.at) / MC_BYTES;
  int i = 0;
  while (i < n && i < all && i < CODE_MAX && lines[i].address == i * MC_BYTES) i++;
  return i;
}

const PtxModule *mc_module(Arena *arena, const McCubin *cubin, const McKernel *kernel,
                           const McListing *lines, int n, const char *what, Diags *diags) {
  return mc_module_with(arena, cubin, kernel, lines, n, NULL, 0, what, diags);
}

const PtxModule *mc_module_with(Arena *arena, const McCubin *cubin, const McKernel *kernel,
                                const McListing *lines, int n, McInPlace *words, int n_words,
                                const char *what, Diags *diags) {
  Builder b = {.arena = arena, .cubin = cubin, .kernel = kernel, .plan = {.arena = arena}};
  b.n_own = listed(kernel, lines, n);
  if (b.n_own < n || !n) {
    diag_add(diags, "machine", "%s: the listing of %s does not agree with its machine code at 0x%x",
             what, kernel->name, b.n_own * MC_BYTES);
    return NULL;
  }
  b.words = words;
  b.n = b.n_own + n_words;
  b.steps = ARENA_ARRAY(arena, McStep, b.n + 1);
  b.text = ARENA_ARRAY(arena, const char *, b.n + 1);
  b.why = ARENA_ARRAY(arena, const char *, b.n + 1);
  b.named = ARENA_ARRAY(arena, bool, b.n + 1);
  b.lines = ARENA_ARRAY(arena, const McLine *, b.n + 1);
  b.out = str_new(arena);
  for (int i = 0; i < b.n_own; i++) plan_one(&b, i, lines[i].text);
  for (int i = b.n_own; i < b.n; i++) plan_one(&b, i, words[i - b.n_own].text);
  for (int i = 0; i < b.n_own; i++) mark_spin(&b, i);
  write_text(&b);
  PtxModule *module = (PtxModule *)ptx_module_read(arena, b.out.text, b.out.length, what, diags);
  if (!module) return NULL;
  finish(&b, module, lines);
  return module;
}

static PtxType type_of(int bytes) {
  switch (bytes) {
    case 1:
      return PTX_U8;
    case 2:
      return PTX_U16;
    case 4:
      return PTX_U32;
    case 8:
      return PTX_U64;
    default:
      return PTX_B8;
  }
}

const PtxModule *mc_kernels(Arena *arena, const McCubin *cubin, const char *what) {
  PtxModule *module = ARENA_NEW(arena, PtxModule);
  *module = (PtxModule){.what = what,
                        .machine = ARENA_NEW(arena, McCode),
                        .source = "",
                        .n_functions = cubin->n_kernels,
                        .functions = ARENA_ARRAY(arena, PtxFunction, cubin->n_kernels + 1)};
  for (int i = 0; i < cubin->n_kernels; i++) {
    const McKernel *k = &cubin->kernels[i];
    PtxFunction *f = &module->functions[i];
    *f = (PtxFunction){.name = k->name, .is_kernel = true, .has_body = true};
    f->n_params = k->n_parameters;
    f->params = ARENA_ARRAY(arena, PtxParam, k->n_parameters + 1);
    for (int p = 0; p < k->n_parameters; p++)
      f->params[p] = (PtxParam){.name = arena_printf(arena, "p%d", p),
                                .type = type_of(k->parameters[p].bytes),
                                .offset = k->parameters[p].offset,
                                .bytes = k->parameters[p].bytes};
  }
  return module;
}

// PTX → ptxas → cubin → nvdisasm → which accesses the machine code has, by line of the PTX. A
// capsule has the machine code that was launched: it is read instead where it was made of the same
// text.
#include "cli/open/open_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_file.h"
#include "base/str.h"
#include "kernels/toolchain/machine/sass.h"
#include "kernels/toolchain/tool.h"
#include "kernels/toolchain/tool_keeper.h"
#include "ptx/tally/reconcile.h"
#include "sass/sass_registers.h"

enum { ASSEMBLE_SECONDS = 60, DISASSEMBLE_SECONDS = 60 };

// "ptxas INPUT, line 5; fatal   : Unsupported .version 9.4; …": what stands behind "fatal :" or
// "error :" of the first line that has one.
static const char *complaint(Arena *arena, const char *output) {
  static const char *const words[] = {"fatal", "error"};
  for (size_t i = 0; output && i < sizeof words / sizeof words[0]; i++) {
    const char *at = strstr(output, words[i]), *colon = at ? strchr(at, ':') : NULL;
    if (!colon) continue;
    colon += 1 + strspn(colon + 1, " ");
    return str_sanitise(arena, arena_strndup(arena, colon, strcspn(colon, "\n")));
  }
  return "it does not say why";
}

const char *open_assemble(Arena *arena, const char *ptxas, const OpenText *text, const char *kernel,
                          const char *target, size_t *bytes, const char **why) {
  const char *folder = tool_folder(arena);
  *why = "widths are predicted: no room for the output of ptxas";
  if (!folder) return NULL;
  const char *output = arena_printf(arena, "%s/kernel.cubin", folder);
  const char *arch = arena_printf(arena, "-arch=%s", target);
  // A text with many kernels takes as long as all of them.
  const char *const one[] = {ptxas,   "-lineinfo", arch,   "--entry", kernel,
                             "INPUT", "-o",        output, NULL};
  const char *const all[] = {ptxas, "-lineinfo", arch, "INPUT", "-o", output, NULL};
  Diags ignored = diags_new(arena);
  const ToolResult result =
      tool_run(arena, kernel ? one : all, text->ptx, text->bytes, folder, ASSEMBLE_SECONDS);
  const char *cubin = result.ok ? open_read_file(arena, output, bytes, &ignored) : NULL;
  if (result.limited)
    *why = arena_printf(arena, "widths are predicted: %s", result.error);
  else if (!result.ok)
    *why = arena_printf(arena, "widths are predicted: ptxas does not take this text: %s",
                        complaint(arena, result.output));
  tool_folder_remove(folder);
  return cubin;
}

// ---- machine code that was recorded -------------------------------------------------------------

static CapsuleText next_line(CapsuleText *rest, char end) {
  const unsigned char *at = rest->at, *found = memchr(at, end, rest->n);
  const size_t n = found ? (size_t)(found - at) : rest->n;
  *rest = (CapsuleText){at + n + (found != NULL), rest->n - n - (found != NULL)};
  return (CapsuleText){at, n};
}

static int next_letter(CapsuleText *line) {
  while (line->n > 0 && (*line->at == ' ' || *line->at == '\t')) {
    line->at++;
    line->n--;
  }
  if (line->n == 0) return -1;
  line->n--;
  return *line->at++;
}

// Whether a line begins with its kept text: blanks differ, comments are gone.
static bool begins_with(CapsuleText line, CapsuleText kept) {
  for (int letter; (letter = next_letter(&kept)) >= 0;)
    if (next_letter(&line) != letter) return false;
  return true;
}

// ptxas keeps the lines of the text that it was given, empty where they say nothing of the code.
static bool is_made_of(ElfBytes kept, const OpenText *text) {
  CapsuleText lines = {kept.at, (size_t)(kept.end - kept.at)},
              own = {(const unsigned char *)text->ptx, text->bytes};
  while (lines.n > 0 && own.n > 0) {
    const CapsuleText there = next_line(&own, '\n');
    if (!begins_with(there, next_line(&lines, '\0'))) return false;
  }
  return kept.at < kept.end;
}

// The machine code that was launched, or that Triton left beside its PTX, where it was made of this
// very text with line numbers; NULL.
static const char *recorded_code(const OpenResult *r, size_t *bytes) {
  const Capsule *capsule = r->text.capsule;
  const char *cubin =
      capsule ? (const char *)capsule->cubin.at : open_triton_cubin(r->arena, r->path, bytes);
  if (!cubin) return NULL;
  if (capsule) *bytes = capsule->cubin.n;
  const ElfBytes kept = elf_section(cubin, *bytes, ".nv_debug_ptx_txt");
  return kept.at && is_made_of(kept, &r->text) ? cubin : NULL;
}

static MachineInst *code_of(Arena *arena, const SassResult *sass, const char *kernel, int *n) {
  MachineInst *code = ARENA_ARRAY(arena, MachineInst, sass->n_lines + 1);
  *n = 0;
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *line = &sass->lines[i];
    if (line->opcode && line->address >= 0 && str_equal(line->kernel, kernel))
      code[(*n)++] = (MachineInst){(uint64_t)line->address, line->opcode};
  }
  return code;
}

bool open_reconcile(OpenResult *r, PtxTally *tally) {
  Arena *arena = r->arena;
  const char *named = getenv("GEMMVIEW_PTXAS");
  const char *ptxas = named ? named : open_find_tool(arena, "ptxas");
  size_t bytes = 0;
  const char *why = NULL, *cubin = recorded_code(r, &bytes);
  if ((!ptxas && !cubin && !open_triton_ptxas(arena)) || !sass_find_tool(arena)) {
    r->why_not = "widths are predicted: ptxas or nvdisasm was not found";
    return false;
  }
  const char *target = r->module->target ? r->module->target : "sm_90a";
  if (!cubin && ptxas)
    cubin = open_assemble(arena, ptxas, &r->text, r->kernel->name, target, &bytes, &why);
  // A text of Triton's may be newer than the toolkit.
  const char *newer = cubin || named ? NULL : open_triton_ptxas(arena);
  const char *ignored = NULL;
  if (newer)
    cubin = open_assemble(arena, newer, &r->text, r->kernel->name, target, &bytes, &ignored);
  const SassResult *sass =
      cubin ? sass_disassemble(arena, cubin, bytes, DISASSEMBLE_SECONDS) : NULL;
  if (!sass || !sass->ok) {
    r->why_not = cubin ? "widths are predicted: nvdisasm does not read the machine code" : why;
    return false;
  }
  int n = 0;
  r->registers = sass_registers(arena, cubin, bytes, r->kernel->name);
  const MachineInst *code = code_of(arena, sass, r->kernel->name, &n);
  const LineTable ptx =
      line_table_read(arena, cubin, bytes, ".nv_debug_line_sass", r->kernel->name);
  r->sass = sass;
  r->assembled = cubin;
  r->assembled_bytes = bytes;
  r->sass_lines = line_table_read(arena, cubin, bytes, ".debug_line", r->kernel->name);
  return ptx_reconcile(arena, r->module, r->kernel, tally, code, n, &r->sass_lines, &ptx,
                       &r->why_not);
}

const char *open_ptxas(Arena *arena) {
  const char *named = getenv("GEMMVIEW_PTXAS");
  if (named) return access(named, X_OK) == 0 ? named : NULL;
  return open_find_tool(arena, "ptxas");
}

const char *open_machine_code(const OpenResult *r, size_t *bytes, const char **why) {
  const Capsule *capsule = r->text.capsule;
  if (capsule && capsule->cubin.at) {
    *bytes = capsule->cubin.n;
    return (const char *)capsule->cubin.at;
  }
  const char *ptxas = open_ptxas(r->arena);
  const char *target = r->module->target ? r->module->target : "sm_90a";
  *why = "there is no ptxas here";
  return ptxas ? open_assemble(r->arena, ptxas, &r->text, r->kernel->name, target, bytes, why)
               : NULL;
}

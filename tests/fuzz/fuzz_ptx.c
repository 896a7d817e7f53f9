// PTX text from anywhere: no crash, nothing read outside, an end in time. What is read runs, with
// zeros behind every pointer, under a small budget; the lines' totals are the sums of the lines.
#include <assert.h>
#include <string.h>

#include "cli/open/open_input.h"
#include "ptx/module/signature.h"
#include "ptx/tally/tally.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOCAL_MAX = 1 << 16, CODE_MAX = 1 << 14 };

static void run_kernel(Arena *arena, const PtxModule *module, const PtxFunction *kernel) {
  Diags diags = diags_new(arena);
  PtxLaunch launch = {
      .grid = {2, 1, 1}, .block = {64, 1, 1}, .dynamic_smem = 1024, .budget = 300000};
  for (int d = 0; d < 3 && kernel->reqntid[0] > 0; d++) launch.block[d] = kernel->reqntid[d];
  PtxMachine *machine = ptx_machine_new(arena, module, kernel, &launch, &diags);
  assert((machine == NULL) == (diags.count > 0));
  if (!machine) return;
  for (int i = 0; i < kernel->n_params; i++) {
    if (kernel->params[i].bytes != 8) continue;
    const uint64_t address = ptx_machine_buffer(machine, "p", 8192, NULL, PTX_CONTENT_ZERO);
    ptx_machine_param(machine, i, &address, sizeof address);
  }
  PtxTally *tally = ptx_tally_new(arena, module, kernel);
  ptx_machine_watch(machine, ptx_tally_access, tally);
  for (int x = 0; x < 2; x++)
    if (ptx_machine_run(machine, x, 0, 0) != PTX_DONE) break;
  const PtxLines *lines = ptx_tally_lines(arena, tally);
  int64_t wavefronts = 0;
  for (int i = 0; i < lines->n; i++) wavefronts += lines->items[i].wavefronts;
  assert(wavefronts == lines->wavefronts && lines->wavefronts >= lines->ideal);
  assert(strlen(ptx_signature_text(arena, kernel)) > 0);
}

static void fuzz_text(Arena *arena, const char *text, size_t n) {
  Diags diags = diags_new(arena);
  const PtxModule *module = ptx_module_read(arena, text, n, "fuzz.ptx", &diags);
  assert((module == NULL) == (diags.count > 0));
  if (!module || module->local_bytes > LOCAL_MAX || module->n_code > CODE_MAX) return;
  for (int i = 0; i < module->n_variables; i++)
    if (module->variables[i].bytes > (1 << 24)) return;
  for (int i = 0; i < module->n_functions; i++) {
    const PtxFunction *f = &module->functions[i];
    if (!f->is_kernel || !f->has_body || f->n_regs > CODE_MAX || f->param_bytes > LOCAL_MAX)
      continue;
    run_kernel(arena, module, f);
    return;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  Arena *arena = arena_new("fuzz");
  const char *text = arena_strndup(arena, (const char *)data + 1, size - 1);
  if (data[0] % 8 == 0) {
    Diags diags = diags_new(arena);
    PtxLaunch launch = {0};
    OpenBlocks blocks;
    const bool ok = open_read_launch(text, &launch, &diags);
    assert(ok == (diags.count == 0));
    if (ok) open_read_blocks(text, &launch, &blocks, &diags);
  } else {
    fuzz_text(arena, (const char *)data + 1, size - 1);
  }
  arena_free(arena);
  return 0;
}

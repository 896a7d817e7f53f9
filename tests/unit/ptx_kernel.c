#include "ptx_kernel.h"

#include <check.h>
#include <string.h>

#include "kernel_log.h"

const char *ptx_kernel_text(Arena *arena, const char *body) {
  return arena_printf(arena,
                      ".version 8.0\n.target sm_90a\n.address_size 64\n"
                      ".visible .entry k(.param .u64 k_in, .param .u64 k_out)\n{\n"
                      ".reg .b32 %%r<32>, %%t, %%t4;\n.reg .b64 %%rd<32>, %%in, %%out, %%i, %%o;\n"
                      ".reg .f32 %%f<32>;\n.reg .f64 %%fd<32>;\n.reg .b16 %%h<32>;\n"
                      ".reg .pred %%p<32>;\n.shared .align 16 .b8 s[4096];\n"
                      "ld.param.u64 %%in, [k_in];\nld.param.u64 %%out, [k_out];\n"
                      "mov.u32 %%t, %%tid.x;\nshl.b32 %%t4, %%t, 2;\n"
                      "cvt.u64.u32 %%rd31, %%t4;\nadd.s64 %%i, %%in, %%rd31;\n"
                      "add.s64 %%o, %%out, %%rd31;\n%s\nret;\n}\n",
                      body);
}

void ptx_kernel_numbers(uint32_t in[PTX_KERNEL_WORDS]) {
  for (uint32_t i = 0; i < PTX_KERNEL_WORDS; i++) in[i] = (i * 2654435761u) >> 8;
}

PtxKernel ptx_kernel_run(Arena *arena, const char *ptx, const char *name, int threads,
                         const uint32_t *in) {
  Diags diags = diags_new(arena);
  PtxKernel k = {.module = ptx_module_read(arena, ptx, strlen(ptx), "k.ptx", &diags)};
  ck_assert_msg(k.module != NULL, "%s", diags_text(arena, &diags));
  const PtxFunction *kernel = ptx_module_kernel(k.module, name, &diags);
  ck_assert_msg(kernel != NULL, "%s", diags_text(arena, &diags));
  const PtxLaunch launch = {
      .grid = {1, 1, 1}, .block = {threads, 1, 1}, .dynamic_smem = 0, .budget = INT64_C(200000000)};
  k.machine = ptx_machine_new(arena, k.module, kernel, &launch, &diags);
  ck_assert_msg(k.machine != NULL, "%s", diags_text(arena, &diags));
  const int64_t bytes = PTX_KERNEL_WORDS * 4;
  const uint64_t from = ptx_machine_buffer(k.machine, "in", bytes, in, PTX_CONTENT_GIVEN);
  const uint64_t to = ptx_machine_buffer(k.machine, "out", bytes, NULL, PTX_CONTENT_ZERO);
  ptx_machine_param(k.machine, 0, &from, 8);
  ptx_machine_param(k.machine, 1, &to, 8);
  k.tally = ptx_tally_new(arena, k.module, kernel);
  kernel_log_watch(k.machine, k.tally);
  k.outcome = ptx_machine_run(k.machine, 0, 0, 0);
  k.out = ptx_machine_bytes(k.machine, to, bytes);
  k.out_address = to;
  kernel_log_add(k.machine, k.module, k.outcome, k.tally, to, PTX_KERNEL_WORDS);
  return k;
}

const char *ptx_kernel_registers(Arena *arena, const char *prefix, int n) {
  const char *list = "";
  for (int i = 0; i < n; i++)
    list = arena_printf(arena, "%s%s%s%d", list, i ? ", " : "", prefix, i);
  return list;
}

const char *ptx_kernel_loads(Arena *arena, const char *prefix, int n, int at) {
  const char *text = "";
  for (int i = 0; i < n; i++)
    text = arena_printf(arena, "%sld.global.b32 %s%d, [%%i+%d];\n", text, prefix, i,
                        4 * (at + 32 * i));
  return text;
}

const PtxFinding *ptx_kernel_finding(const PtxKernel *kernel, PtxFindingKind kind) {
  for (int i = 0; i < ptx_machine_findings(kernel->machine); i++)
    if (ptx_machine_finding(kernel->machine, i)->kind == kind)
      return ptx_machine_finding(kernel->machine, i);
  return NULL;
}

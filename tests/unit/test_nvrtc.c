// NVRTC: what is refused before it runs, what it gives, and what is read from its report. The tests
// that compile pass over a machine without NVRTC.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/str.h"
#include "base/whole.h"
#include "kernels/toolchain/dl.h"
#include "kernels/toolchain/nvrtc.h"
#include "stress.h"

static Arena *arena;
static void setup(void) { arena = arena_new("test nvrtc"); }
static void teardown(void) { arena_free(arena); }

static const char scale_text[] =
    "extern \"C\" __global__ void __launch_bounds__(256) scale(const float *__restrict__ A,\n"
    "                                                          float *__restrict__ C) {\n"
    "  __shared__ float s[256];\n"
    "  s[threadIdx.x] = A[blockIdx.x * 256 + threadIdx.x];\n"
    "  __syncthreads();\n"
    "  C[blockIdx.x * 256 + threadIdx.x] = 2.0f * s[255 - threadIdx.x];\n"
    "}\n"
    "extern \"C\" __global__ void zero(float *C) { C[threadIdx.x] = 0; }\n";

static Plan plan_of(const char *cuda) {
  return (Plan){
      .cuda = cuda,
      .arch = "sm_90a",
      .label = "test",
      .m = 64,
      .n = 64,
      .k = 64,
      .n_kernels = 2,
      .kernels = {{.name = "zero",
                   .grid = {1, 1, 1},
                   .block = {64, 1, 1},
                   .n_args = 1,
                   .args = {PLAN_ARG_C}},
                  {.name = "scale",
                   .grid = {16, 1, 1},
                   .block = {256, 1, 1},
                   .n_args = 2,
                   .args = {PLAN_ARG_A, PLAN_ARG_C}}},
  };
}

static bool have_nvrtc(void) {
  bool found = false;
  nvrtc_describe(arena, &found);
  return found;
}

static const char *const file_readers[] = {
    "#include </etc/passwd>\n",
    "  #  include \"/etc/passwd\"\n",
    "#/* */include \"/etc/passwd\"\n",
    "# \\\n include \"/etc/passwd\"\n",
    "#inc\\\nlude \"/etc/passwd\"\n",
    "#include_next <x>\n",
    "#import \"x\"\n",
    "%:include \"/etc/passwd\"\n",
    "\?\?=include \"/etc/passwd\"\n",
    "#embed \"/etc/passwd\"\n",
    "#if __has_include(\"/etc/passwd\")\n#endif\n",
    "const char *s = \"/*\";\n#include \"/etc/passwd\"\n// */\n",
    "asm(\".incbin \\\"/etc/passwd\\\"\");\n",
    "#\\\r\ninclude \"x\"\n",
    "#/\\\n**/include \"x\"\n",
    "#/* *\\\n/include \"x\"\n",
    "%\\\n:include \"x\"\n",
    "/* */ %\\\n:/* *\\\n/in\\\nclude \"x\"\n",
    "/* a\nb */ #include \"x\"\n",
    "/* a *\\\n/ #include \"x\"\n",
    "#\?\?/\ninclude \"x\"\n",
    "#\t\v\f/**//**/include \"x\"\n",
    "int a;\\ \n#include \"x\"\n",
    "#if __has\\\n_include(\"x\")\n#endif\n",
    "#define P(a, b) a##b\n#if P(__has_, include)(\"x\")\n#endif\n",
    "#define P(a, b) a%:%:b\n#if 0\n#elif P(__ha, s_include)(\"x\")\n#endif\n",
};

START_TEST(test_refuses_files) {
  int line = 0;
  ck_assert_msg(nvrtc_reads_files(file_readers[_i], &line), "%s", file_readers[_i]);
  Plan plan = plan_of(file_readers[_i]);
  CompileResult *result = nvrtc_compile(arena, &plan, COMPILE_PTX);
  ck_assert(!result->ok);
  ck_assert_str_eq(result->failed, "input");
  ck_assert_ptr_null(result->ptx);
}
END_TEST

START_TEST(test_accepts_directives) {
  int line = 0;
  ck_assert(!nvrtc_reads_files("#define INCLUDE 1\n#pragma unroll\n#if INCLUDE\n#endif\n", &line));
  ck_assert(!nvrtc_reads_files("int included = 5 % 3; // include\n", &line));
  ck_assert(!nvrtc_reads_files("// see #include \"x\"\nint a; /* #include \"x\" */\n", &line));
  ck_assert(!nvrtc_reads_files("#define P(a, b) a##b\nint P(x, y) = '#';\n", &line));
  ck_assert(nvrtc_reads_files("\n\n#include <x>", &line));
  ck_assert_int_eq(line, 3);
  ck_assert(nvrtc_reads_files("a\\\n\\\nb\n/*\n*/#\\\ninclude <x>", &line));
  ck_assert_int_eq(line, 5);
}
END_TEST

static const char *any(uint64_t *random, const char *const *words, int n) {
  return words[random_between(random, 0, n - 1)];
}

// A directive in one of very many spellings: with joined lines and comments between its letters,
// digraphs, and something in front.
static const char *random_spelling(uint64_t *random) {
  static const char *const between[] = {
      "\\\n", "\\\r\n", "/**/", "/\\\n* *\\\n/", " ", "\\ \n", "\n", "\r", "//", "\"", "/*", "*/"};
  static const char *const front[] = {
      "",        " ",           "/* \n */", "int a;\n", "int a; ",
      "// \\\n", "R\"(\n)\"\n", "'\"'\n",   "\"/*\"\n", "#if 0\n'\n#endif\n"};
  static const char *const hash[] = {"#", "%:", "\?\?="};
  Str text = str_new(arena);
  str_add(&text, any(random, front, sizeof front / sizeof *front));
  const char *spelled =
      arena_printf(arena, "%sinclude \"%s\"\n", any(random, hash, 3), "/none/secret.h");
  for (int i = 0; spelled[i]; i++) {
    if (i < 10 && random_between(random, 0, 5) == 0)
      str_add(&text, any(random, between, sizeof between / sizeof *between));
    str_add_char(&text, spelled[i]);
  }
  return text.text;
}

// NVRTC is the judge: where it looks for the file, the text has been refused.
START_TEST(no_spelling_gets_by) {
  uint64_t random = 2026;
  int refused = 0, n = max_int(120, stress_count(120, 5000));
  const NvrtcApi *api = dl_nvrtc(NULL);
  for (int i = 0; api && i < n; i++) {
    int line = 0;
    const char *text = random_spelling(&random);
    if (nvrtc_reads_files(text, &line)) {
      refused++;
      continue;
    }
    void *program = NULL;
    size_t bytes = 0;
    ck_assert_int_eq(api->nvrtcCreateProgram(&program, text, "k.cu", 0, NULL, NULL), 0);
    api->nvrtcCompileProgram(program, 0, NULL);
    ck_assert_int_eq(api->nvrtcGetProgramLogSize(program, &bytes), 0);
    char *log = arena_alloc(arena, bytes + 1);
    ck_assert_int_eq(api->nvrtcGetProgramLog(program, log), 0);
    ck_assert_msg(!strstr(log, "could not open source file"), "%s\n%s", text, log);
    api->nvrtcDestroyProgram(&program);
  }
  ck_assert(!api || refused > n / 4);
}
END_TEST

START_TEST(test_report) {
  static const char log[] =
      "kernel.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'scale' for 'sm_90a'\n"
      "ptxas info    : Function properties for scale\n"
      "ptxas         .     24 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 154 registers, used 1 barriers, 33280 bytes smem, 400 bytes cmem[0]\n"
      "ptxas info    : Compile time = 120.5 ms\n"
      "ptxas info    : Compiling entry function 'scale_other' for 'sm_90a'\n"
      "ptxas info    : Used 99 registers, 1 bytes smem\n"
      "ptxas info    : Compile time = 1.5 ms\n";
  Plan plan = plan_of(scale_text);
  KernelResources kernels[PLAN_MAX_KERNELS];
  double ms = 0;
  ck_assert_int_eq(nvrtc_read_report(arena, log, &plan, kernels, &ms), 1);
  ck_assert_double_eq_tol(ms, 122, 1e-9);
  ck_assert_int_eq(kernels[0].registers, -1);
  ck_assert_str_eq(kernels[1].name, "scale");
  ck_assert_int_eq(kernels[1].registers, 154);
  ck_assert_int_eq(kernels[1].stack_bytes, 24);
  ck_assert_int_eq(kernels[1].spill_store_bytes, 8);
  ck_assert_int_eq(kernels[1].spill_load_bytes, 16);
  ck_assert_int_eq(kernels[1].smem_bytes, 33280);
  ck_assert_int_eq(kernels[1].constant_bytes, 400);
  ck_assert_int_eq(kernels[1].n_barriers, 1);
}
END_TEST

START_TEST(test_stages) {
  if (!have_nvrtc()) return;
  Plan plan = plan_of(scale_text);
  CompileResult *ptx = nvrtc_compile(arena, &plan, COMPILE_PTX);
  ck_assert_msg(ptx->ok, "%s\n%s", ptx->error, ptx->log);
  ck_assert_ptr_nonnull(strstr(ptx->ptx, ".target sm_90a"));
  ck_assert_ptr_nonnull(strstr(ptx->ptx, ".loc"));
  ck_assert_ptr_nonnull(strstr(ptx->ptx, "\"kernel.cu\""));
  ck_assert_ptr_null(ptx->cubin);
  ck_assert(ptx->ptx_ms > 0 && ptx->cubin_ms == -1);
  CompileResult *cubin = nvrtc_compile(arena, &plan, COMPILE_CUBIN);
  ck_assert_msg(cubin->ok, "%s\n%s", cubin->error, cubin->log);
  ck_assert_mem_eq(cubin->cubin, "\177ELF", 4);
  ck_assert_int_eq(cubin->n_kernels, 2);
  ck_assert_str_eq(cubin->kernels[1].name, "scale");
  ck_assert_int_eq(cubin->kernels[1].smem_bytes, 1024);
  ck_assert_int_eq(cubin->kernels[1].n_barriers, 1);
  ck_assert_int_gt(cubin->kernels[0].registers, 3);
  ck_assert_int_eq(cubin->kernels[0].spill_store_bytes, 0);
  CompileResult *both = nvrtc_compile(arena, &plan, COMPILE_BOTH);
  ck_assert(both->ok && both->ptx && both->cubin && both->ptx_ms > 0 && both->cubin_ms > 0);
}
END_TEST

// A body that needs more registers than it is allowed must report its spills.
START_TEST(test_spills) {
  if (!have_nvrtc()) return;
  Plan plan = plan_of(
      "extern \"C\" __global__ void zero(float *C) { C[threadIdx.x] = 0; }\n"
      "extern \"C\" __global__ void __launch_bounds__(1024) scale(const float *A, float *C) {\n"
      "  float x[128];\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 128; i++) x[i] = A[i * 1024 + threadIdx.x];\n"
      "  for (int j = 0; j < 100; j++) {\n"
      "#pragma unroll\n"
      "    for (int i = 0; i < 128; i++) x[i] = x[i] * x[(i + 1) % 128] + 1.0f;\n"
      "  }\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 128; i++) C[i * 1024 + threadIdx.x] = x[i];\n"
      "}\n");
  CompileResult *result = nvrtc_compile(arena, &plan, COMPILE_CUBIN);
  ck_assert_msg(result->ok, "%s\n%s", result->error, result->log);
  ck_assert_int_le(result->kernels[1].registers, 64);
  ck_assert_int_gt(result->kernels[1].spill_store_bytes, 0);
  ck_assert_int_gt(result->kernels[1].spill_load_bytes, 0);
  ck_assert_int_gt(result->kernels[1].stack_bytes, 0);
}
END_TEST

START_TEST(test_notes_on_wgmma) {
  static const char log[] =
      "ptxas info    : (C7517) warpgroup.wait is injected in around line 41 by compiler to allow "
      "use of registers defined by GMMA in function 'zero'\n"
      "ptxas info    : (C7517) warpgroup.wait is injected in around line 43 by compiler to allow "
      "use of registers defined by GMMA in function 'scale'\n"
      "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to ill formed pipeline stage in the function 'scale'\n"
      "ptxas info    : Compiling entry function 'scale' for 'sm_90a'\n"
      "ptxas info    : Used 30 registers, used 0 barriers\n";
  Plan plan = plan_of(scale_text);
  KernelResources kernels[PLAN_MAX_KERNELS];
  double ms = 0;
  nvrtc_read_report(arena, log, &plan, kernels, &ms);
  ck_assert_str_eq(kernels[1].note, "wgmma serialized: ill formed pipeline stage");
  ck_assert_str_eq(kernels[0].note,
                   "wgmma mended: warpgroup.wait is injected in around line 41 by compiler to "
                   "allow use of registers defined by GMMA");
}
END_TEST

static const char multiply[] =
    "  asm volatile(\"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 \"\n"
    "    \"{%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;\"\n"
    "    : \"+f\"(c[0]), \"+f\"(c[1]), \"+f\"(c[2]), \"+f\"(c[3]) : \"l\"(tile) : \"memory\");\n";

// Sums that are touched between two wgmmas: the assembler puts in what is missing, and waits behind
// each of them. Without the touch, and with a wait, it has nothing to say.
START_TEST(test_serialized_wgmma) {
  if (!have_nvrtc()) return;
  Plan plan = plan_of(arena_printf(
      arena,
      "extern \"C\" __global__ void zero(float *C) { C[threadIdx.x] = 0; }\n"
      "extern \"C\" __global__ void __launch_bounds__(128) scale(const float *A, float *C) {\n"
      "  float c[4] = {0, 0, 0, 0};\n"
      "  const unsigned long long tile = (unsigned long long)A[0];\n"
      "  asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n%s%s%s"
      "  asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n"
      "  asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n"
      "  C[threadIdx.x] = c[0] + c[1] + c[2] + c[3];\n"
      "}\n",
      multiply, _i ? "  c[0] += 1;\n" : "", multiply));
  CompileResult *result = nvrtc_compile(arena, &plan, COMPILE_CUBIN);
  ck_assert_msg(result->ok, "%s\n%s", result->error, result->log);
  ck_assert_ptr_null(result->kernels[0].note);
  if (_i)
    ck_assert_msg(str_starts(result->kernels[1].note, "wgmma serialized: "), "%s", result->log);
  else
    ck_assert_msg(!result->kernels[1].note, "%s", result->log);
}
END_TEST

START_TEST(test_compile_error) {
  if (!have_nvrtc()) return;
  Plan plan = plan_of(
      "extern \"C\" __global__ void zero(float *C) { C[0] = no_such_name; }\n"
      "#pragma message(\"\033]0;title\007\")\n");
  CompileResult *result = nvrtc_compile(arena, &plan, COMPILE_BOTH);
  ck_assert(!result->ok);
  ck_assert_str_eq(result->failed, "cubin");
  ck_assert_ptr_nonnull(strstr(result->log, "kernel.cu(1): error"));
  ck_assert_ptr_null(strchr(result->log, '\033'));
}
END_TEST

START_TEST(test_missing_kernel) {
  if (!have_nvrtc()) return;
  Plan plan = plan_of(
      "extern \"C\" __global__ void zero(float *C) { C[threadIdx.x] = 0; }\n"
      "extern \"C\" __global__ void scale2(float *C) { C[threadIdx.x] = 0; }\n");
  CompileResult *result = nvrtc_compile(arena, &plan, COMPILE_PTX);
  ck_assert(!result->ok);
  ck_assert_str_eq(result->error, "the text defines no extern \"C\" __global__ scale");
}
END_TEST

START_TEST(test_old_arch) {
  if (!have_nvrtc()) return;
  Plan plan = plan_of(scale_text);
  plan.arch = "sm_30";
  CompileResult *result = nvrtc_compile(arena, &plan, COMPILE_PTX);
  ck_assert(!result->ok);
  ck_assert_str_eq(result->failed, "library");
  ck_assert_ptr_nonnull(strstr(result->error, "does not compile for sm_30; it knows sm_: "));
}
END_TEST

START_TEST(test_missing_driver) {
  DlStatus status = dl_status(DL_CUDA);
  if (status.path) return;
  ck_assert_str_eq(status.error,
                   "CUDA driver (libcuda.so.1) was not found: is the NVIDIA driver installed?");
}
END_TEST

Suite *suite_nvrtc(void);
Suite *suite_nvrtc(void) {
  Suite *suite = suite_create("nvrtc");
  TCase *tests = tcase_create("nvrtc");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, test_refuses_files, 0, sizeof file_readers / sizeof *file_readers);
  tcase_add_test(tests, test_accepts_directives);
  tcase_add_test(tests, no_spelling_gets_by);
  tcase_add_test(tests, test_report);
  tcase_add_test(tests, test_stages);
  tcase_add_test(tests, test_spills);
  tcase_add_test(tests, test_notes_on_wgmma);
  tcase_add_loop_test(tests, test_serialized_wgmma, 0, 2);
  tcase_add_test(tests, test_compile_error);
  tcase_add_test(tests, test_missing_kernel);
  tcase_add_test(tests, test_old_arch);
  tcase_add_test(tests, test_missing_driver);
  suite_add_tcase(suite, tests);
  return suite;
}

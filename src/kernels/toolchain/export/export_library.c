// Every file has its kernels under names of its own, and everything else in it is static, so that
// they can be linked together. The texts that an exported program has too end the program where
// CUDA refuses something; here the same must() throws, and the one function that the file shows
// gives the error back.
//
// Worked example, 64 × 8192 × 8192 in bf16 with sums in f32: gemm_64x8192x8192_bf16_f32_bf16_nn.cu
// has gemm_64x8192x8192_bf16_f32_bf16_nn(), which gemm_dispatch(64, 8192, 8192, GEMM_BF16_F32_BF16,
// GEMM_NN, …) calls. 64 × 8000 × 8192 has no kernel: the nearest is that one, log2(8192 / 8000) =
// 0.03 away.
#include "kernels/toolchain/export/export_library.h"

#include <ctype.h>
#include <string.h>

#include "base/foreign.h"
#include "base/str.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/export/export_inside.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/text/prelude.h"

// ---- names --------------------------------------------------------------------------------------

static const char *layout_name(const Problem *problem) {
  static const char *const names[2][2] = {{"nn", "nt"}, {"tn", "tt"}};
  return names[problem->a_col][problem->b_col];
}

static const char *types_name(Arena *arena, const Problem *problem) {
  return arena_printf(arena, "%s_%s_%s", dtype_name(problem->dtype), dtype_name(problem->acc),
                      dtype_name(problem->out));
}

static const char *kernel_name(Arena *arena, const Problem *problem) {
  return arena_printf(arena, "gemm_%lldx%lldx%lld_%s_%s", (long long)problem->m,
                      (long long)problem->n, (long long)problem->k, types_name(arena, problem),
                      layout_name(problem));
}

static const char *in_capitals(Arena *arena, const char *text) {
  char *out = arena_strdup(arena, text);
  for (char *at = out; *at; at++) *at = (char)toupper((unsigned char)*at);
  return out;
}

// ---- a kernel -----------------------------------------------------------------------------------

enum { ALIGNED = 256 };

static int64_t workspace_bytes(const Program *program) {
  int64_t bytes = 0;
  for (int i = 0; i < program->n_buffers; i++)
    if (buffer_is_workspace(program->buffer[i]))
      bytes += (buffer_bytes(program->buffer[i]) + ALIGNED - 1) / ALIGNED * ALIGNED;
  return bytes;
}

static const char must_throws[] =
    "static void must(cudaError_t error, const char *) {\n"
    "  if (error != cudaSuccess) throw error;\n"
    "}\n\n";

static void add_renames(Str *out, const Emission *emission, const char *name) {
  str_add(out, "// Other files of the library have kernels of these names too.\n");
  for (int i = 0; i < emission->n_kernels; i++)
    str_printf(out, "#define %s %s_%s\n", emission->kernel[i].name, name, emission->kernel[i].name);
  str_printf(out, "#define sm_of_blocks %s_sm_of_blocks\n", name);
}

static void add_function(Str *out, const Emission *emission, const Program *program,
                         const Plan *plan, const char *name) {
  long long at = 0;
  str_printf(out,
             "extern \"C\" int %s(const void *a, const void *b, void *c,\n"
             "    void *workspace, cudaStream_t stream) try {\n"
             "  Operands on = {};\n"
             "  on.A = static_cast<In *>(const_cast<void *>(a));\n"
             "  on.B = static_cast<In *>(const_cast<void *>(b));\n"
             "  on.C = static_cast<Out *>(c);\n"
             "  on.stream = stream;\n",
             name);
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    if (!buffer_is_workspace(buffer)) continue;
    str_printf(out, "  on.%s = reinterpret_cast<%s *>(static_cast<char *>(workspace) + %lld);\n",
               buffer->name, prelude_type_name(buffer->type), at);
    at += (buffer_bytes(buffer) + ALIGNED - 1) / ALIGNED * ALIGNED;
  }
  if (at == 0) str_add(out, "  (void)workspace;\n");
  export_add_maps(out, emission, plan);
  export_add_attributes(out, emission);
  str_add(out,
          "  multiply(on);\n"
          "  return cudaSuccess;\n"
          "} catch (cudaError_t error) {\n"
          "  return error;\n"
          "}\n");
}

static const char *kernel_text(Arena *arena, const Model *model, const char *name) {
  const Program *program = model->program;
  const Emission *emission = emit_model(arena, model, program);
  const Plan *plan = plan_from_emission(arena, emission, program, model->target, NULL);
  Str out = str_new(arena);
  add_renames(&out, emission, name);
  str_add(&out, "\n");
  export_add_kernels(&out, emission, plan);
  str_printf(&out, "\n// ---- the host's part ----\n\ntypedef %s In;\ntypedef %s Out;\n\n%s",
             prelude_type_name(program->problem.dtype), prelude_type_name(program->problem.out),
             must_throws);
  export_add_map_function(&out, plan);
  export_add_launches(&out, emission, program, plan, true);
  add_function(&out, emission, program, plan, name);
  return out.text;
}

// ---- the header ---------------------------------------------------------------------------------

static bool is_first_of_types(Arena *arena, const LibraryKernel *kernels, int index) {
  const char *types = types_name(arena, &kernels[index].model->program->problem);
  for (int i = 0; i < index; i++)
    if (str_equal(types, types_name(arena, &kernels[i].model->program->problem))) return false;
  return true;
}

static void add_types(Str *out, const LibraryKernel *kernels, int n) {
  str_add(out, "/* The types of A and B, of the sums, and of C. */\nenum gemm_types {\n");
  for (int i = 0; i < n; i++)
    if (is_first_of_types(out->arena, kernels, i))
      str_printf(
          out, "  GEMM_%s,\n",
          in_capitals(out->arena, types_name(out->arena, &kernels[i].model->program->problem)));
  str_add(out, "};\n\n");
}

static const char header_start[] =
    "#ifndef GEMM_TUNED_H\n"
    "#define GEMM_TUNED_H\n"
    "\n"
    "#include <cuda_runtime_api.h>\n"
    "\n"
    "#ifdef __cplusplus\n"
    "extern \"C\" {\n"
    "#endif\n"
    "\n";

static const char header_end[] =
    "/* Of A and B: n is row-major, t is column-major; C is row-major, and all are dense. */\n"
    "enum gemm_layout { GEMM_NN, GEMM_NT, GEMM_TN, GEMM_TT };\n"
    "\n"
    "struct gemm_kernel {\n"
    "  const char *name;\n"
    "  long long m, n, k;\n"
    "  enum gemm_types types;\n"
    "  enum gemm_layout layout;\n"
    "  long long workspace_bytes;  /* that gemm_dispatch() is to be given; 0: none */\n"
    "  double time_ns, cublas_ns;  /* as measured when it was tuned; 0: not known */\n"
    "  const char *state;          /* gemmview -k STATE shows it */\n"
    "};\n"
    "extern const struct gemm_kernel gemm_kernels[];\n"
    "extern const int gemm_kernel_count;\n"
    "\n"
    "/* The kernel of just this problem; GEMM_NO_KERNEL: there is none, and *nearest (may be "
    "NULL)\n"
    " * is the one of the same types and layout with the smallest |log2(ratio)| of M, of N and of\n"
    " * K, added up, the first of several; -1: no kernel is of these types and this layout. */\n"
    "int gemm_find(long long m, long long n, long long k, enum gemm_types types,\n"
    "              enum gemm_layout layout, int *nearest);\n"
    "\n"
    "/* C = A * B on the present device. 0, or what CUDA says (a cudaError_t), or GEMM_NO_KERNEL "
    "with\n"
    " * *nearest as above, and nothing is launched. Pointers are aligned to 256 bytes. A kernel "
    "may\n"
    " * keep what it has found out of the device, so it is for one device of a process; one "
    "stream\n"
    " * at a time. */\n"
    "enum { GEMM_NO_KERNEL = -1 };\n"
    "int gemm_dispatch(long long m, long long n, long long k, enum gemm_types types,\n"
    "                  enum gemm_layout layout, const void *a, const void *b, void *c,\n"
    "                  void *workspace, cudaStream_t stream, int *nearest);\n"
    "\n"
    "#ifdef __cplusplus\n"
    "}\n"
    "#endif\n"
    "#endif\n";

static const char *header_text(Arena *arena, const char *gpu, const LibraryKernel *kernels, int n) {
  Str out = str_new(arena);
  const char *flags = export_arch_flags(arena, kernels[0].model->target);
  str_printf(&out,
             "/* The fastest kernels that were found on %s, %d problem%s.\n"
             " *\n"
             " *   nvcc -O3 %s -lib -o libgemm_tuned.a *.cu\n"
             " */\n",
             foreign_comment(arena, gpu), n, plural_s(n), flags);
  str_add(&out, header_start);
  add_types(&out, kernels, n);
  str_add(&out, header_end);
  return out.text;
}

// ---- the dispatch -------------------------------------------------------------------------------

static const char dispatch_end[] =
    "int gemm_find(long long m, long long n, long long k, enum gemm_types types,\n"
    "              enum gemm_layout layout, int *nearest) {\n"
    "  int best = -1;\n"
    "  double least = 0;\n"
    "  for (int i = 0; i < gemm_kernel_count; ++i) {\n"
    "    const gemm_kernel &its = gemm_kernels[i];\n"
    "    if (its.types != types || its.layout != layout) continue;\n"
    "    const double away = std::fabs(std::log2((double)its.m / (double)m)) +\n"
    "                        std::fabs(std::log2((double)its.n / (double)n)) +\n"
    "                        std::fabs(std::log2((double)its.k / (double)k));\n"
    "    if (its.m == m && its.n == n && its.k == k) return i;\n"
    "    if (best >= 0 && !(away < least)) continue;\n"
    "    best = i;\n"
    "    least = away;\n"
    "  }\n"
    "  if (nearest) *nearest = best;\n"
    "  return GEMM_NO_KERNEL;\n"
    "}\n"
    "\n"
    "int gemm_dispatch(long long m, long long n, long long k, enum gemm_types types,\n"
    "                  enum gemm_layout layout, const void *a, const void *b, void *c,\n"
    "                  void *workspace, cudaStream_t stream, int *nearest) {\n"
    "  const int found = gemm_find(m, n, k, types, layout, nearest);\n"
    "  return found < 0 ? GEMM_NO_KERNEL : launches[found](a, b, c, workspace, stream);\n"
    "}\n";

static void add_row(Str *out, const LibraryKernel *kernel) {
  Arena *arena = out->arena;
  const Program *program = kernel->model->program;
  const Problem *problem = &program->problem;
  str_printf(out, "    // measured %s\n", foreign_comment(arena, kernel->when));
  str_printf(out, "    {\"%s\", %lld, %lld, %lld,\n     GEMM_%s, GEMM_%s, %lld, %.1f, %.1f,\n",
             kernel_name(arena, problem), (long long)problem->m, (long long)problem->n,
             (long long)problem->k, in_capitals(arena, types_name(arena, problem)),
             in_capitals(arena, layout_name(problem)), (long long)workspace_bytes(program),
             kernel->time_ns, kernel->cublas_ns);
  str_printf(out, "     \"%s\"},\n", schedule_record_text(arena, &kernel->model->schedule));
}

static const char *dispatch_text(Arena *arena, const LibraryKernel *kernels, int n) {
  Str out = str_new(arena);
  str_add(&out,
          "// Chooses the kernel of a problem.\n"
          "#include \"gemm_tuned.h\"\n\n#include <cmath>\n\n"
          "typedef int Launch(const void *a, const void *b, void *c, void *workspace,\n"
          "                   cudaStream_t stream);\n"
          "extern \"C\" {\n");
  for (int i = 0; i < n; i++)
    str_printf(&out, "Launch %s;\n", kernel_name(arena, &kernels[i].model->program->problem));
  str_add(&out, "}\n\nstatic Launch *const launches[] = {\n");
  for (int i = 0; i < n; i++)
    str_printf(&out, "    %s,\n", kernel_name(arena, &kernels[i].model->program->problem));
  str_add(&out, "};\n\nconst gemm_kernel gemm_kernels[] = {\n");
  for (int i = 0; i < n; i++) add_row(&out, &kernels[i]);
  str_printf(&out, "};\nconst int gemm_kernel_count = %d;\n\n%s", n, dispatch_end);
  return out.text;
}

const LibraryFile *export_library(Arena *arena, const char *gpu, const LibraryKernel *kernels,
                                  int n) {
  LibraryFile *files = ARENA_ARRAY(arena, LibraryFile, n + 2);
  files[0] = (LibraryFile){"gemm_tuned.h", header_text(arena, gpu, kernels, n)};
  files[1] = (LibraryFile){"gemm_tuned.cu", dispatch_text(arena, kernels, n)};
  for (int i = 0; i < n; i++) {
    const char *name = kernel_name(arena, &kernels[i].model->program->problem);
    files[2 + i] = (LibraryFile){arena_printf(arena, "%s.cu", name),
                                 kernel_text(arena, kernels[i].model, name)};
  }
  return files;
}

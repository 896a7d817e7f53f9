// The check reads elements by their place along K and multiplies each by its factor, in float64.
//
// Factors are drawn from 1/2 to 2, in all of the steps that their type has there; of ue8m0 these
// are powers of two. Two elements of 4 bits come of one normal number, the second of what the first
// leaves out of it.
#include "kernels/toolchain/export/export_inside.h"

#include "model/ir/problem.h"
#include "model/text/prelude.h"

static const char of_byte[] =
    "  float y;\n"
    "  asm(\"{ .reg .b16 low, high; .reg .b32 pair;\\n\"\n"
    "      \"cvt.rn.f16x2.%sx2 pair, %%1; mov.b32 {low, high}, pair;\\n\"\n"
    "      \"cvt.f32.f16 %%0, low; }\" : \"=f\"(y) : \"h\"((unsigned short)x.bits));\n"
    "  return y;\n";

static void add_bytes(Str *out, const char *name, const char *type) {
  str_printf(out, "__device__ double number(%s x) {\n", name);
  str_printf(out, of_byte, type);
  str_add(out, "}\n\n");
}

static const char pairs[] =
    "// Element `at` of a matrix of bytes that hold two.\n"
    "__device__ double element(const In *x, long long at) {\n"
    "  const double size[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};\n"
    "  const unsigned code = x[at / 2].bits >> (at % 2 * 4);\n"
    "  return code & 8 ? -size[code & 7] : size[code & 7];\n"
    "}\n\n"
    "__device__ void set(In *to, float x) {\n"
    "  const float rest = 64 * x - rintf(64 * x);\n"
    "  unsigned short both;\n"
    "  asm(\"{ .reg .b8 byte; cvt.rn.satfinite.e2m1x2.f32 byte, %1, %2;\\n\"\n"
    "      \"mov.b16 %0, {byte, 0}; }\" : \"=h\"(both) : \"f\"(8 * rest), \"f\"(x));\n"
    "  to->bits = (unsigned char)both;\n"
    "}\n\n";

static const char singles[] =
    "__device__ double element(const In *x, long long at) { return number(x[at]); }\n\n"
    "__device__ void set(In *to, float x) {\n"
    "  unsigned short pair;\n"
    "  asm(\"cvt.rn.satfinite.%sx2.f32 %%0, %%1, %%2;\" : \"=h\"(pair) : \"f\"(0.0f), \"f\"(x));\n"
    "  to->bits = (unsigned char)pair;\n"
    "}\n\n";

static const char factors[] =
    "__device__ unsigned long long mix(unsigned long long x);\n\n"
    "__global__ void fill_factors(Factor *x, long long n, unsigned long long seed) {\n"
    "  const long long stride = (long long)gridDim.x * blockDim.x;\n"
    "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)\n"
    "    x[i].bits = (unsigned char)(least_factor + mix(seed ^ mix(i)) %% %d);\n"
    "}\n\n";

void export_scaled_types(Str *out, const Problem *problem) {
  const DTypeScale scale = dtype_scale(problem->dtype);
  const bool powers = scale.type == DTYPE_UE8M0;
  const char *of_bytes = problem->dtype == DTYPE_MXF8E5M2 ? "e5m2" : "e4m3";
  str_printf(out, "typedef %s In;\ntypedef %s Out;\ntypedef %s Factor;\n\n",
             prelude_type_name(problem->dtype), prelude_type_name(problem->out),
             prelude_type_name(scale.type));
  str_printf(out,
             "// Elements along K that share a factor; the bits of a factor of 1/2.\n"
             "constexpr long long block = %d;\nconstexpr unsigned least_factor = %d;\n\n",
             scale.elements, powers ? 126 : 0x30);
  str_add(out, "__device__ double number(Out x) { return x; }\n\n");
  if (powers)
    str_add(out, "__device__ double number(Factor x) { return ldexp(1.0, x.bits - 127); }\n\n");
  else
    add_bytes(out, "Factor", "e4m3");
  if (dtype_elements(problem->dtype) > 1) {
    str_add(out, pairs);
  } else {
    add_bytes(out, "In", of_bytes);
    str_printf(out, singles, of_bytes);
  }
  str_printf(out, factors, powers ? 3 : 17);
}

static const char in_rows[] =
    "// Factors of all rows; the place of factor `at` of a row.\n"
    "constexpr long long factors_of(long long rows) { return rows * (depth / block); }\n"
    "__device__ long long factor_place(long long row, long long at) {\n"
    "  return row * (depth / block) + at;\n"
    "}\n\n";
static const char in_tiles[] =
    "// Factors of all rows, in tiles of 128 rows by four; the place of factor `at` of a row:\n"
    "// byte row % 32 * 16 + row / 32 * 4 + at of a tile.\n"
    "constexpr long long tiles = (depth / block + 3) / 4;\n"
    "constexpr long long factors_of(long long rows) { return (rows + 127) / 128 * tiles * 512; }\n"
    "__device__ long long factor_place(long long row, long long at) {\n"
    "  return (row / 128 * tiles + at / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + at % 4;\n"
    "}\n\n";

static const char check_cells[] =
    "__global__ void check_cells(const In *A, const In *B, const Factor *SFA, const Factor *SFB,\n"
    "                            const Out *C, Verdict *verdict) {\n"
    "  const long long stride = (long long)gridDim.x * blockDim.x;\n"
    "  long long cell = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  for (; cell < n_rows * n_columns; cell += stride) {\n"
    "    const double c = number(C[cell]);\n"
    "    if (c == c && cell % check_step != 0) continue;\n"
    "    const long long row = cell / n_columns, column = cell % n_columns;\n"
    "    double sum = 0, magnitude = 0;\n"
    "    for (long long k = 0; k < depth; ++k) {\n"
    "      const double factor = number(SFA[factor_place(row, k / block)]) *\n"
    "                            number(SFB[factor_place(column, k / block)]);\n"
    "      const double product = element(A, row * a_row + k * a_next) *\n"
    "                             element(B, column * b_column + k * b_next) * factor;\n"
    "      sum += product;\n"
    "      magnitude += fabs(product);\n"
    "    }\n"
    "    judge(c, sum, magnitude, verdict);\n"
    "  }\n"
    "}\n"
    "\n";

const char *export_scaled_check(Arena *arena, const Problem *problem) {
  return arena_printf(arena, "%s%s", problem->factor_tiles ? in_tiles : in_rows, check_cells);
}

const char *export_scaled_fill(Arena *arena, const Problem *problem) {
  const char *share = dtype_elements(problem->dtype) > 1 ? " / 2" : "";
  return arena_printf(arena,
                      "  on.A = operand(n_rows * depth%s, 1);\n"
                      "  on.B = operand(depth * n_columns%s, 2);\n"
                      "  on.C = unwritten<Out>(n_rows * n_columns);\n"
                      "  on.SFA = unwritten<Factor>(factors_of(n_rows));\n"
                      "  on.SFB = unwritten<Factor>(factors_of(n_columns));\n"
                      "  fill_factors<<<1024, 256>>>(on.SFA, factors_of(n_rows), 3);\n"
                      "  fill_factors<<<1024, 256>>>(on.SFB, factors_of(n_columns), 4);\n"
                      "  must(cudaGetLastError(), \"fill\");\n",
                      share, share);
}

// The host side of exported attention: one block of threads takes a row of O and computes it anew
// in float64, keys 256 at a time, with the running maximum that it checks. Rows are n_checked apart
// where all of them would take longer than a user waits; a NaN is looked for in every cell. Worked
// example, 64 heads of 4096 queries and keys, dimension 128: 2^38 products, one row in five.
#include "kernels/toolchain/export/export_inside.h"

void export_attention_sizes(Str *out, const Plan *plan) {
  const double products =
                   2.0 * (double)plan->heads * (double)plan->m * (double)plan->n * (double)plan->k,
               affordable = 0x1p36;
  const long long step = products > affordable ? (long long)(products / affordable) | 1 : 1;
  str_printf(
      out,
      "constexpr long long n_heads = %lld, n_queries = %lld, n_keys = %lld, head_dim = %lld;\n"
      "constexpr long long n_rows = n_heads * n_queries, n_columns = head_dim;\n"
      "constexpr bool causal = %s;\n"
      "// Scores are divided by the square root of head_dim; weights are powers of 2, not "
      "of e.\n"
      "constexpr float alpha = %.9gf;\n"
      "constexpr double operations = %.0f;  // multiplications and additions of both "
      "products\n",
      (long long)plan->heads, (long long)plan->m, (long long)plan->n, (long long)plan->k,
      plan->causal ? "true" : "false", (double)plan_alpha(plan), plan_flops(plan));
  str_printf(out, "constexpr long long check_step = %lld;  // %s\n", step,
             step == 1 ? "every row is compared"
                       : "one row of so many is compared; a NaN is looked for in all");
}

const char export_attention_check[] =
    "__global__ void __launch_bounds__(256)\n"
    "check_rows(const In *Q, const In *K, const In *V, const Out *O, Verdict *verdict) {\n"
    "  __shared__ double weight[256], most[256];\n"
    "  const int i = threadIdx.x;\n"
    "  for (long long row = blockIdx.x; row < n_rows; row += gridDim.x) {\n"
    "    const double o = i < head_dim ? number(O[row * head_dim + i]) : 0;\n"
    "    if (!__syncthreads_or(o != o) && row % check_step != 0) continue;\n"
    "    const long long head = row / n_queries;\n"
    "    const long long seen = causal ? row % n_queries + n_keys - n_queries + 1 : n_keys;\n"
    "    double best = -1e300, sum = 0, out = 0, size = 0;\n"
    "    for (long long first = 0; first < seen; first += 256) {\n"
    "      const long long t = first + i;\n"
    "      double score = -1e300;\n"
    "      if (t < seen) {\n"
    "        score = 0;\n"
    "        for (int e = 0; e < head_dim; ++e)\n"
    "          score += number(Q[row * head_dim + e]) *\n"
    "                   number(K[(head * n_keys + t) * head_dim + e]);\n"
    "      }\n"
    "      most[i] = score;\n"
    "      __syncthreads();\n"
    "      for (int half = 128; half > 0; half /= 2) {\n"
    "        if (i < half) most[i] = fmax(most[i], most[i + half]);\n"
    "        __syncthreads();\n"
    "      }\n"
    "      const double now = fmax(best, most[0]), factor = exp2(alpha * (best - now));\n"
    "      weight[i] = t < seen ? exp2(alpha * (score - now)) : 0;\n"
    "      __syncthreads();\n"
    "      best = now, sum *= factor, out *= factor, size *= factor;\n"
    "      for (int j = 0; j < 256 && first + j < seen; ++j) {\n"
    "        sum += weight[j];\n"
    "        if (i >= head_dim) continue;\n"
    "        const double v = number(V[(head * n_keys + first + j) * head_dim + i]);\n"
    "        out += weight[j] * v;\n"
    "        size += weight[j] * fabs(v);\n"
    "      }\n"
    "      __syncthreads();\n"
    "    }\n"
    "    if (i >= head_dim) continue;\n"
    "    judge(o, out / sum, size / sum, verdict);\n"
    "  }\n"
    "}\n"
    "\n";

// Each text has a namespace of its own, since all bring the same wrappers, and #line names it.
#include "cuda_batch.h"

#include <check.h>
#include <string.h>

CudaBatch cuda_batch_new(Arena *arena) { return (CudaBatch){.text = str_new(arena)}; }

// Where the name of the kernel ends: before the parameters.
static const char *end_of_name(const char *text, const char *kernel) {
  const size_t n = strlen(kernel);
  for (const char *at = text; (at = strstr(at, kernel)); at += n)
    if (at[n] == '(') return at + n;
  ck_abort_msg("there is no %s( in\n%s", kernel, text);
  return NULL;
}

void cuda_batch_add(CudaBatch *batch, const char *text, const char *kernel, const char *what) {
  const char *rest = end_of_name(text, kernel);
  str_printf(&batch->text, "namespace text_%d {\n#line 1 \"%s\"\n%.*s_%d%s}\n", batch->n, what,
             (int)(rest - text), text, batch->n, rest);
  batch->n++;
}

const Plan *cuda_batch_plan(Arena *arena, const CudaBatch *batch, const char *arch,
                            const char *kernel) {
  ck_assert_int_gt(batch->n, 0);
  Plan *plan = arena_alloc(arena, sizeof *plan);
  *plan = (Plan){.cuda = batch->text.text, .arch = arch, .m = 1, .n = 1, .k = 1, .n_kernels = 1};
  plan->kernels[0] = (PlanKernel){.name = arena_printf(arena, "%s_%d", kernel, batch->n - 1),
                                  .grid = {1, 1, 1},
                                  .block = {32, 1, 1}};
  return plan;
}

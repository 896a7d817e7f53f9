// The tensor memory that a kernel allocates: the sum over its allocations.
#include "model/ir/tensor_use.h"

#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

static void look_for_columns(Stmt *stmt, int depth, void *context) {
  (void)depth;
  const bool allocates =
      stmt->kind == STMT_OP && op_facts(stmt->op.kind)->action == ACTION_ALLOCATE;
  if (allocates) *(int64_t *)context += stmt->op.columns;
}

int64_t kernel_tensor_columns(const Kernel *kernel) {
  int64_t columns = 0;
  stmt_walk(kernel->body, look_for_columns, &columns);
  return columns;
}

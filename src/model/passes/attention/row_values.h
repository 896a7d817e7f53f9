// Values of rows of sums (row_values.c).
#pragma once
#include "model/ir/op_kind.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

// dst *= or /= a value of its row.
Op rows_by_row(Program *program, const Product *product, OpKind kind, const Expr *at[3],
               Buffer *rows);

// The types of a program by name, for files that only hand them on; a file that looks inside
// includes problem.h, buffer.h, stmt.h or program.h.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/whole.h"
#include "model/ir/expr.h"
#include "model/words/dtype.h"
#include "model/words/fragment.h"
#include "model/words/knob.h"

typedef struct Problem Problem;
typedef struct Buffer Buffer;
typedef struct Access Access;
typedef struct Op Op;
typedef struct Stmt Stmt;
typedef struct WarpRole WarpRole;
typedef struct Digit Digit;
typedef struct Axis Axis;
typedef struct Kernel Kernel;
typedef struct ProductOperand ProductOperand;
typedef struct Product Product;
typedef struct Program Program;
typedef struct Launch Launch;

// Barriers of a block (PTX ISA, bar): numbers 0 to 15; __syncthreads() is number 0.
enum { BLOCK_BARRIERS = 16 };

// Blocks of a cluster, at most the bits in a mask of the copies by TMA. More than 8 are not
// portable (CUDA programming guide, Thread Block Clusters).
enum { CLUSTER_MAX = 16, CLUSTER_PORTABLE = 8 };

enum {
  RANK_MAX = 4,
  KERNELS_MAX = 4,
  DIGITS_MAX = 16,
  BUFFERS_MAX = 24,
  ROLES_MAX = 8,
  PRODUCTS_MAX = 2,
  XOR_TERMS_MAX = 16
};

enum { AXIS_M, AXIS_N, AXIS_K, AXIS_COUNT };

// For callers that look no further.
// The atom by which the program multiplies, all of its products; NULL: plain FMA.
const Atom *program_atom(const Program *program);
int stmt_id(const Stmt *stmt);

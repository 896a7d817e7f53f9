// Statements: loops, conditions, LETs, and operations on elements of buffers.
#pragma once
#include "model/ir/names.h"
#include "model/ir/op_kind.h"
#include "model/ir/tile.h"

// One element of a buffer, or the first of `width` neighbours (consecutive offsets).
typedef struct Access {
  Buffer *buffer;  // NULL: no operand
  const Expr *idx[RANK_MAX];
  const Expr *rank;  // SHARED: the block of the cluster with the memory; NULL: the own one
} Access;

// How the attributes of attribute.def lie in an operation.
#define ATTRIBUTE_NUMBER int64_t
#define ATTRIBUTE_MAYBE int64_t
#define ATTRIBUTE_FLAG bool
#define ATTRIBUTE_EXPR const Expr *
#define ATTRIBUTE_MAYBE_EXPR const Expr *

typedef struct Op {
  OpKind kind;
  Access dst, src, src2;
  Access scale[2];  // of a multiplication: the factors of A and B, where the type has any. Of an
                    // atom the first of those that a lane gives; it is a byte of a register, or
                    // of a word of tensor memory, and its place there is what PTX calls the
                    // byte-id, or the ID of the scale factors
  int width;        // elements moved by LOAD, STORE, ATOMIC_ADD, CP_ASYNC, INIT; 1 otherwise
#define ATTRIBUTE(name, kind, ...) ATTRIBUTE_##kind name;
#include "model/ir/attribute.def"
  double value;         // INIT
  int64_t box[2];       // of TMA: rows and columns that one copy moves
  const Atom *atom;     // of a multiplication by the tensor core
  MatrixTile tile[2];   // of A and B, where the operation reads tiles
  int cta_group;        // of tcgen05: 2 where a pair of CTAs does it together; 0 and 1: one alone
  uint32_t idesc;       // T_MMA: its instruction descriptor; 0: none yet (ir/matrix_tile.h)
  int64_t factor_tile;  // T_CP: the number of its tile; passes make its place of it
} Op;

typedef enum StmtKind { STMT_LOOP, STMT_IF, STMT_LET, STMT_OP } StmtKind;

struct Stmt {
  StmtKind kind;
  int id;            // unique in its program; stable from one pass to the next
  KnobId knob;       // the knob that put it here; KNOB_NONE: the naive nest
  const char *note;  // why it is here, for the CUDA comment and the screen; may be NULL
  Stmt *next;        // the following statement of the same body
  Var *var;          // LOOP, LET
  int unroll;        // LOOP: 0 = the compiler decides, 1 = never, n = by n, UNROLL_FULL
  const Expr *expr;  // LET: value; IF: condition; LOOP over tiles: its first, NULL: the block's own
  const Expr *end;   // LOOP over tiles or slabs: the first that it leaves out; NULL: its extent
  Stmt *body;        // LOOP, IF
  bool predicated;   // IF around copies: each carries the condition itself, nothing branches
  const WarpRole *role;  // IF: the role with this body, as its condition says too; NULL: every warp
  bool elects;           // IF: elect.sync says which lane of a warp it is for (ir/elect.h)
  Op op;                 // OP
};

enum { UNROLL_FULL = -1 };

// ---- reading ------------------------------------------------------------------------------------

// The element offset of an access, swizzle included: the one place where an address is computed.
// Multiply by dtype_bytes for bytes; add buffer->offset_bytes (a multiple of 1024 where a buffer is
// swizzled, so that the xor acts within the buffer) for a shared-memory address.
const Expr *access_offset(Arena *arena, const Access *access);

// The condition under which a global access is inside its buffer, as far as the ranges leave it
// open; NULL when it always is. With width > 1 the last dimension is known to be a multiple of it.
const Expr *access_guard(Arena *arena, const Access *access);

// The first loop over tiles of a list, or under its conditions; NULL: there is none.
Stmt *tile_loop(Stmt *list);
// The tiles that such a loop goes through if each is one iteration: its extent, or where some are
// cut into parts the extent of the LET at its head that counts turns (ring.h, tile_turn).
int64_t tile_count(const Stmt *tiles);
// The end of a loop as an expression: what it says, or its extent.
const Expr *stmt_loop_end(Arena *arena, const Stmt *loop);
// All that an operation is for where it stands, by the role of what it writes; NULL: op_help() says
// it.
const char *op_help_here(const Op *op);  // model/ops/table.c
// Every access of an operation that it may have: dst, src, src2 and the scales.
enum { OP_ACCESSES = 5 };
void op_accesses(Op *op, Access *access[OP_ACCESSES]);
// The two ends of a copy by the tensor memory accelerator, whichever way it goes.
const Access *op_box_global(const Op *op);
const Access *op_box_shared(const Op *op);
// Calls visit for every expression of an operation: indices, ranks and what belongs to no operand.
typedef void ExprVisit(const Expr **expr, void *context);
void op_each_expr(Op *op, ExprVisit *visit, void *context);

// Calls visit(stmt, depth, context) for every statement, outermost and first ones first.
typedef void StmtVisit(Stmt *stmt, int depth, void *context);
void stmt_walk(Stmt *body, StmtVisit *visit, void *context);

// ---- building -----------------------------------------------------------------------------------

Access access1(Buffer *buffer, const Expr *i);
Access access2(Buffer *buffer, const Expr *i, const Expr *j);
Access access3(Buffer *buffer, const Expr *i, const Expr *j, const Expr *k);

Stmt *stmt_loop(Program *program, KnobId knob, Var *var, Stmt *body);
Stmt *stmt_if(Program *program, KnobId knob, const Expr *cond, Stmt *body);
Stmt *stmt_let(Program *program, KnobId knob, Var *var, const Expr *value);
Stmt *stmt_op(Program *program, KnobId knob, Op op);
Stmt *stmt_list(Stmt *first, ...);  // links the arguments up to a final NULL; lists may be given
Stmt *stmt_last(Stmt *list);
// The link of a statement that the list has, not in a body: insert in front of it there.
Stmt **stmt_link_to(Stmt **list, const Stmt *stmt);

// Tells what the files of breakages share; others use breakage.h.
#pragma once
#include "model/ir/names.h"
#include "model/ir/op_kind.h"
#include "model/ir/role.h"

bool stmt_is_op(const Stmt *stmt, OpKind kind);
// Whether the statement is an operation of this kind on the mbarriers of a role.
bool stmt_is_mbar_op(const Stmt *stmt, OpKind kind, BufferRole role);
// Whether it is the barrier at which a warpgroup of attention waits for its turn: no data depends
// on it (passes/attention/asking_turns.h).
bool stmt_is_turn(const Stmt *stmt);
// Leaves out every statement that is named, in bodies, too; whether there was one.
typedef bool BreakageDrops(const Stmt *stmt, const void *context);
bool breakage_drop_if(Stmt **link, BreakageDrops *drops, const void *context);
// Leaves out every operation of a kind, or those on the mbarriers of a role (ROLE_COUNT: any).
bool breakage_drop_all(Stmt **link, OpKind kind, BufferRole role);
// Leaves out the last operation of a kind in the main kernel, turns apart; false where there is
// none.
bool breakage_drop_last(Program *program, OpKind kind);
// Rewrites one statement of the main kernel at a time; whether any was what the change looks for.
bool breakage_change_each(Program *program, bool (*change)(Program *, Stmt *));
// One turn fewer. A loop that has one turn left is printed without its variable, which is 0 then.
void breakage_shorten(Program *program, Stmt *loop);

// Each does one thing to a program of its own; false: there is nothing of that kind in it.
#define BREAKAGE(id, name, seen, help) bool break_##name(Program *program);
#include "model/interp/breakage.def"

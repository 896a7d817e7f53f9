// Finding an operation in a list of statements, by its kind or by what it does (rewrite.c).
#pragma once
#include "model/ir/names.h"
#include "model/ir/op_kind.h"
#include "model/ir/role.h"

// The first operation of a kind with a destination of this role; ROLE_COUNT means any.
Stmt *stmt_find_op(Stmt *list, OpKind kind, BufferRole dst_role);
// The same for the first operation that does this to such a destination.
Stmt *stmt_find_action(Stmt *list, OpAction action, BufferRole dst_role);
// The link (the `next`, `body` or list head that points at it) of the first statement of `list`
// that is, or contains, such an operation: cut or replace there.
Stmt **stmt_find_link(Stmt **list, OpKind kind, BufferRole dst_role);
Stmt **stmt_find_action_link(Stmt **list, OpAction action, BufferRole dst_role);

// The same, where conditions that stand around the statement stay there.
Stmt **stmt_find_link_inside(Stmt **list, OpKind kind, BufferRole dst_role);

// Tells what passes that give warps roles are made of (role_parts.c). `knob` of all:
// WARP_SPECIALIZE.
#pragma once
#include "model/passes/passes.h"

enum { WARPGROUP = 128 };

// The kernel gains a role; its body stands under its condition.
Stmt *role_new(Program *program, WarpRole what, const Expr *condition, Stmt *body,
               const char *note);
// A loop over slabs of its own around what stood in the common one.
Stmt *role_slabs(Program *program, const Stmt *k_o, Stmt *list);
// A loop over tiles of its own, where there is one (NULL: there is none): its head binds the same
// variables.
Stmt *role_tiles(Program *program, const Stmt *tiles, Stmt *list);
// Tells what one thread asks for, without the condition that says which. `link` loses it.
Stmt *role_asked(Stmt **link);
// mbarriers that are initialised together with the slabs' mbarriers, by the first of all threads.
Buffer *role_mbarriers(Program *program, const char *name, BufferRole role, int64_t n,
                       int64_t arrivals);
// Numbers the threads of all roles.
void role_count_threads(Program *program, int64_t n_threads);
// "thread", and whether it is `thread`.
const Expr *role_thread(Program *program);
const Expr *role_is_thread(Program *program, int64_t thread);

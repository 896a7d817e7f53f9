// The colour and the mark of each tier, the same in every view.
#pragma once
#include "model/ir/expr.h"
#include "tui/canvas/theme.h"
#include "tui/session/nest.h"

Style tier_style(Tier tier);
char tier_mark(
    Tier tier);  // 'B' block, 'W' warp, 'T' thread, 'R' register, 'K' k slab by slab, 'i'
Style nest_style(NestGroup group);
// Whether warps wait there for others, or tell them to go on: a barrier, or an mbarrier.
bool tier_is_barrier(const Stmt *stmt);

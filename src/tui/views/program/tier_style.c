// Two tables; meaning never rests on colour alone, so every tier has a letter too.
#include "tui/views/program/tier_style.h"

#include "model/ir/op.h"
#include "model/ir/stmt.h"

static const struct {
  Style style;
  char mark;
} tiers[TIER_COUNT] = {
    [TIER_SERIAL] = {STYLE_TIER_SERIAL, 's'},       [TIER_BLOCK] = {STYLE_TIER_BLOCK, 'B'},
    [TIER_CLUSTER] = {STYLE_TIER_CLUSTER, 'C'},     [TIER_WARP] = {STYLE_TIER_WARP, 'W'},
    [TIER_THREAD] = {STYLE_TIER_THREAD, 'T'},       [TIER_REGISTER] = {STYLE_TIER_REGISTER, 'R'},
    [TIER_SERIAL_OUTER] = {STYLE_TIER_SERIAL, 'K'}, [TIER_STAGE_INNER] = {STYLE_TIER_STAGE, 'i'},
    [TIER_ATOM] = {STYLE_TIER_ATOM, 'A'},           [TIER_TILE] = {STYLE_TIER_BLOCK, 't'},
};

Style tier_style(Tier tier) { return tiers[tier].style; }
char tier_mark(Tier tier) { return tiers[tier].mark; }

Style nest_style(NestGroup group) {
  static const Style styles[NEST_GROUP_COUNT] = {
      [NEST_KERNEL] = STYLE_TITLE,           [NEST_BLOCK] = STYLE_TIER_BLOCK,
      [NEST_WARP] = STYLE_TIER_WARP,         [NEST_THREAD] = STYLE_TIER_THREAD,
      [NEST_REGISTER] = STYLE_TIER_REGISTER, [NEST_SERIAL] = STYLE_TIER_SERIAL,
      [NEST_STAGE] = STYLE_TIER_STAGE,       [NEST_ATOM] = STYLE_TIER_ATOM};
  return styles[group];
}

bool tier_is_barrier(const Stmt *stmt) {
  return stmt && stmt->kind == STMT_OP && op_orders(stmt->op.kind);
}

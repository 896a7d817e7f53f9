// Moves are told apart by the spaces between which they go, all else by its action.
#include "model/ir/timeline_kind.h"

#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"

static const struct {
  const char *name, *letter;
} kinds[TIMELINE_KINDS] = {
#define X(id, name, letter) {name, letter},
    TIMELINE_KIND_TABLE(X)
#undef X
};
const char *timeline_kind_name(TimelineKind kind) { return kinds[kind].name; }
const char *timeline_kind_letter(TimelineKind kind) { return kinds[kind].letter; }

static TimelineKind kind_of_move(const Op *op) {
  if (op->dst.buffer->space == SPACE_GLOBAL) return TIMELINE_STORE;
  if (op->src.buffer->space == SPACE_GLOBAL) return TIMELINE_COPY;
  if (op->dst.buffer->space != SPACE_REGISTER) return TIMELINE_WRITE;
  return op->src.buffer->space == SPACE_REGISTER ? TIMELINE_KINDS : TIMELINE_READ;
}

TimelineKind timeline_kind_of(const Op *op) {
  switch (op_facts(op->kind)->action) {
    case ACTION_MOVE:
      return kind_of_move(op);
    case ACTION_MULTIPLY:
      return TIMELINE_MULTIPLY;
    case ACTION_ADD:
      return op->dst.buffer->space == SPACE_GLOBAL ? TIMELINE_STORE : TIMELINE_KINDS;
    case ACTION_SET:
      return op->dst.buffer->space == SPACE_BARRIER ? TIMELINE_SIGNAL : TIMELINE_KINDS;
    case ACTION_SCALE:
    case ACTION_LARGER:
    case ACTION_FACTOR:
    case ACTION_COMBINE:
      return TIMELINE_KINDS;
    case ACTION_POWER:
      return TIMELINE_POWER;
    case ACTION_MEET:
      return TIMELINE_MEET;
    case ACTION_WAIT:
    case ACTION_GIVE:
    case ACTION_TAKE:
      return TIMELINE_WAIT;
    default:
      return TIMELINE_SIGNAL;
  }
}

bool timeline_kind_waits(TimelineKind kind) {
  return kind == TIMELINE_WAIT || kind == TIMELINE_MEET;
}

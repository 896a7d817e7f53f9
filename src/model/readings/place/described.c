// Products' operands in shared memory, and the boxes that fill them, statement by statement. A slab
// that a lane stores to or loads from as well is not one of them.
#include "model/readings/place/described.h"

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

static int find(const DescribedSlabs *slabs, const Buffer *buffer) {
  int i = 0;
  while (i < slabs->n && slabs->slab[i] != buffer) i++;
  return i;
}

static bool in_shared(const Access *access) {
  return access->buffer && access->buffer->space == SPACE_SHARED;
}

static void add(DescribedSlabs *slabs, const Op *op, const Access *operand) {
  if (!in_shared(operand) || slabs->n == DESCRIBED_MAX) return;
  if (find(slabs, operand->buffer) < slabs->n) return;
  slabs->slab[slabs->n++] = operand->buffer;
  slabs->reader = op_facts(op->kind)->name;
}

static void find_operands(DescribedSlabs *slabs, const Stmt *list) {
  for (; list; list = list->next) {
    if (list->body) find_operands(slabs, list->body);
    if (list->kind != STMT_OP || !op_multiplies(list->op.kind)) continue;
    add(slabs, &list->op, &list->op.src);
    add(slabs, &list->op, &list->op.src2);
  }
}

static void leave_out(DescribedSlabs *slabs, const Access *access) {
  const int at = in_shared(access) ? find(slabs, access->buffer) : slabs->n;
  if (at == slabs->n) return;
  slabs->n--;
  for (int i = at; i < slabs->n; i++) slabs->slab[i] = slabs->slab[i + 1];
}

static void look_at_moves(DescribedSlabs *slabs, const Stmt *list) {
  for (; list; list = list->next) {
    if (list->body) look_at_moves(slabs, list->body);
    if (list->kind != STMT_OP || op_facts(list->op.kind)->action != ACTION_MOVE) continue;
    if (!op_moves_box(list->op.kind)) {
      leave_out(slabs, &list->op.src);
      leave_out(slabs, &list->op.dst);
    } else if (in_shared(&list->op.dst) && find(slabs, list->op.dst.buffer) < slabs->n) {
      slabs->writer = op_carrier(list->op.kind);
    }
  }
}

DescribedSlabs described_slabs(const Program *program) {
  DescribedSlabs slabs = {0};
  find_operands(&slabs, program_main(program)->body);
  look_at_moves(&slabs, program_main(program)->body);
  return slabs;
}

// "128-byte swizzle", "no swizzle"
static const char *described_swizzle(Arena *arena, const Buffer *slab) {
  if (slab->n_xor) return "a typed layout";
  return slab->swizzle_bits ? arena_printf(arena, "%d-byte swizzle", 16 << slab->swizzle_bits)
                            : "no swizzle";
}

const char *described_sentence(Arena *arena, const DescribedSlabs *slabs) {
  Str text = str_new(arena);
  str_add(&text, "No lane addresses ");
  for (int i = 0; i < slabs->n; i++) str_printf(&text, "%s%s", i ? ", " : "", slabs->slab[i]->name);
  str_printf(&text, " in shared memory: %s writes, %s reads, %s. D shows the descriptor.",
             slabs->writer ? slabs->writer : "nobody", slabs->reader,
             described_swizzle(arena, slabs->slab[0]));
  return text.text;
}

// Splitting offsets into a fixed part and the rest.
//
// An offset is a sum. A term is fixed when all its variables are: the indices of the hardware, the
// digits bound to them, and LETs over those. Constants stay with the rest, where they become the
// immediate of the instruction; so the copies of slab 0 and of slab k_o share one base.
//
// An access with a constant rest keeps its offset whole: a base would win nothing. So do global
// ones: a base in global memory would hold two registers through the whole loop, and in a kernel of
// 255 that costs more than computing it anew for each slab (last rung of the fp32 ladder, 4096³ on
// an H200: 44.7 TFLOP/s with bases everywhere, 49.2 with shared ones, 44.6 with none).
#include "model/text/emit_parts.h"

#include <assert.h>

#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

static bool may_change(const Var *var) {
  if (var->kind == VAR_THREAD || var->kind == VAR_BLOCK) return false;
  return var->kind == VAR_STATE || !tier_is_hardware(var->tier);
}

static bool is_fixed(const Expr *expr) { return !expr_any(expr, may_change); }

static void split(Arena *arena, const Expr *sum, const Expr **fixed, const Expr **rest) {
  if (sum->op == EXPR_ADD) {
    split(arena, sum->a, fixed, rest);
    split(arena, sum->b, fixed, rest);
    return;
  }
  const Expr **side = sum->op != EXPR_CONST && is_fixed(sum) ? fixed : rest;
  *side = ex_add(arena, *side, sum);
}

// false when the access has no base.
static bool split_access(Arena *arena, const Access *access, const Expr **fixed,
                         const Expr **rest) {
  if (!access->buffer || access->buffer->space != SPACE_SHARED || access->rank) return false;
  *fixed = *rest = ex_const(arena, 0);
  split(arena, access_offset(arena, access), fixed, rest);
  return (*fixed)->op != EXPR_CONST && (*rest)->op != EXPR_CONST;
}

static const EmitBase *find(const EmitBases *bases, const Buffer *buffer, const Expr *fixed) {
  for (int i = 0; i < bases->n; i++)
    if (bases->base[i].buffer == buffer && expr_equal(bases->base[i].offset, fixed))
      return &bases->base[i];
  return NULL;
}

static void collect_access(Emitter *emitter, const Access *access) {
  const Expr *fixed, *rest;
  EmitBases *bases = &emitter->bases;
  if (!split_access(emitter->arena, access, &fixed, &rest)) return;
  if (bases->n == EMIT_BASES_MAX || find(bases, access->buffer, fixed)) return;
  int same = 1;
  for (int i = 0; i < bases->n; i++) same += bases->base[i].buffer == access->buffer;
  const char *name = same == 1
                         ? arena_printf(emitter->arena, "%s_at", access->buffer->name)
                         : arena_printf(emitter->arena, "%s_at%d", access->buffer->name, same);
  bases->base[bases->n++] = (EmitBase){access->buffer, fixed, name};
}

static void collect_list(Emitter *emitter, const Stmt *list) {
  for (; list; list = list->next) {
    if (list->kind == STMT_OP) {
      collect_access(emitter, &list->op.dst);
      collect_access(emitter, &list->op.src);
      if (op_reads_tiles(list->op.kind)) collect_access(emitter, &list->op.src2);
    }
    collect_list(emitter, list->body);
  }
}

void emit_bases_collect(Emitter *emitter, const Kernel *kernel) {
  emitter->bases.n = 0;
  collect_list(emitter, kernel->body);
}

const EmitBase *emit_base_of(const Emitter *emitter, const Access *access, const Expr **rest) {
  const Expr *fixed;
  if (!split_access(emitter->arena, access, &fixed, rest)) return NULL;
  return find(&emitter->bases, access->buffer, fixed);
}

void emit_bases_declare(Emitter *emitter) {
  if (emitter->bases.n == 0) return;
  emitter_blank(emitter);
  emitter_line(emitter, "// where this thread begins");
  for (int i = 0; i < emitter->bases.n; i++) {
    const EmitBase *base = &emitter->bases.base[i];
    Str offset = str_new(emitter->arena);
    ExprText text = {emitter->arena, &offset, &emitter->symbols, emitter->names,
                     emitter->n_threads};
    emit_term(&text, emitter->program, base->buffer, base->offset);
    emitter_line(emitter, "%s *const %s = %s + %s;", emit_type_name(emitter, base->buffer->type),
                 base->name, base->buffer->name, offset.text);
  }
}

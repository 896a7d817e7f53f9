// The steps that are tried, large ones first: a smaller launch, one store, instructions left out in
// halves, quarters …, one by one; then an instruction's source in place of its result, a number, a
// guard or a parameter less, and the steps of reduce_same.c. After each step the code that no other
// needs any more goes too.
//
//   add.s32 %r3, %r1, %r2;                             →   max.s32 %r4, %r1, %r0;
//   max.s32 %r4, %r3, %r0;     %r1 in place of %r3
#include <string.h>

#include "base/str.h"
#include "cli/open/against/reduce_parts.h"

static bool read_scratch(const Reduce *r, Scratch *s, const char *text, size_t bytes) {
  Diags diags = diags_new(s->arena);
  s->t = pieces_read(s->arena, text, bytes, r->kernel);
  s->module = ptx_module_read(s->arena, text, bytes, "reduced", &diags);
  s->kernel = s->module ? ptx_module_kernel(s->module, r->kernel, &diags) : NULL;
  // A function ends with an instruction that no text has.
  return s->kernel && s->t.n_insts == s->kernel->end - s->kernel->first - 1;
}

static bool clean_up(const Reduce *r, Scratch *s) {
  if (s->rewritten) {
    const char *text = pieces_text(&s->t);
    if (!read_scratch(r, s, text, strlen(text))) return false;
  }
  flow_close(&s->t, s->module, s->kernel, r->keeps_dead);
  pieces_settle(&s->t);
  s->next.text = pieces_text(&s->t);
  s->next.bytes = strlen(s->next.text);
  return true;
}

// Takes an edit of the state as far as its machine code; false: there is none to run.
static bool begin(Reduce *r, Edit *edit, int at, int n, ReduceTrial *out) {
  if (r->assembled >= r->most) return false;
  Arena *arena = arena_new("reduce");
  Scratch s = {.arena = arena, .next = r->state};
  if (read_scratch(r, &s, r->state.text, r->state.bytes) && edit(r, &s, at, n) && clean_up(r, &s))
    return reduce_begin(r, arena, &s.next, out) == REDUCE_SHOWS;
  arena_free(arena);
  return false;
}

static bool attempt(Reduce *r, Edit *edit, int at, int n) {
  ReduceTrial trial;
  return begin(r, edit, at, n, &trial) && reduce_finish(r, &trial, 1) == 0;
}

// ---- the launch ---------------------------------------------------------------------------------

static bool nothing(const Reduce *r, Scratch *s, int at, int n) {
  (void)r, (void)s, (void)at, (void)n;
  return true;
}

static bool one_block(const Reduce *r, Scratch *s, int at, int n) {
  (void)r, (void)n;
  const int threads = at ? PTX_LANES : s->next.launch.block[0];
  s->next.blocks = (OpenBlocks){0};
  for (int d = 0; d < 3; d++) s->next.launch.grid[d] = 1;
  if (at) s->next.launch.block[1] = s->next.launch.block[2] = 1;
  if (threads < s->next.launch.block[0]) s->next.launch.block[0] = threads;
  return true;
}

static bool same_block(const Reduce *r, Scratch *s, int at, int n) {
  (void)at, (void)n;
  s->next.blocks = (OpenBlocks){0};
  for (int d = 0; d < 3; d++) s->next.blocks.first[d] = s->next.blocks.last[d] = r->block[d];
  return true;
}

// A warp stays whole: values of 32 lanes are alike by chance more seldom than one is.
static bool half_block(const Reduce *r, Scratch *s, int at, int n) {
  (void)r, (void)n;
  int *block = s->next.launch.block;
  block[at] = (block[at] + 1) / 2;
  return (int64_t)block[0] * block[1] * block[2] >= PTX_LANES &&
         block[at] < r->state.launch.block[at];
}

static bool no_dynamic_memory(const Reduce *r, Scratch *s, int at, int n) {
  (void)r, (void)at, (void)n;
  if (!s->next.launch.dynamic_smem) return false;
  s->next.launch.dynamic_smem = 0;
  return true;
}

static void shrink_launch(Reduce *r) {
  if (!attempt(r, one_block, 1, 0) && !attempt(r, one_block, 0, 0)) attempt(r, same_block, 0, 0);
  for (int d = 0; d < 3; d++)
    while (attempt(r, half_block, d, 0)) continue;
  attempt(r, no_dynamic_memory, 0, 0);
}

// ---- instructions -------------------------------------------------------------------------------

const PtxInst *scratch_inst(const Scratch *s, int at) {
  return at < s->t.n_insts ? &s->module->code[s->kernel->first + at] : NULL;
}

Piece *scratch_piece(const Scratch *s, int at) {
  const int found = pieces_find(&s->t, PIECE_INST, at);
  return found < 0 ? NULL : &s->t.pieces[found];
}

static bool leave_out(const Reduce *r, Scratch *s, int at, int n) {
  (void)r;
  for (int i = at; i < at + n && i < s->t.n_insts; i++) scratch_piece(s, i)->kept = false;
  return at < s->t.n_insts;
}

// Stores to global memory but the one of that line.
static bool one_store(const Reduce *r, Scratch *s, int line, int n) {
  (void)r, (void)n;
  bool found = false, others = false;
  for (int i = 0; i < s->t.n_insts; i++) {
    const PtxInst *inst = scratch_inst(s, i);
    const bool stores =
        inst->row && (str_equal(inst->row->name, "st") || str_equal(inst->row->name, "red"));
    if (!stores || (inst->space != PTX_SPACE_GLOBAL && inst->space != PTX_SPACE_GENERIC)) continue;
    if (inst->line == line)
      found = true;
    else
      others = true;
    scratch_piece(s, i)->kept = inst->line == line;
  }
  return found && others;
}

const PtxGroup *scratch_result(const PtxInst *inst) {
  const PtxGroup *g = inst && inst->n_groups && !inst->pair.n ? &inst->groups[0] : NULL;
  const bool one =
      g && g->written && g->n == 1 && (g->kind == PTX_GROUP_VALUE || g->kind == PTX_GROUP_PRED);
  return one ? g : NULL;
}

int scratch_bits(const Scratch *s, const PtxGroup *g) {
  const PtxArg arg = s->module->args[g->at];
  return arg < 0 ? 0 : g->kind == PTX_GROUP_PRED ? 1 : s->kernel->reg_bits[arg];
}

bool scratch_is_written(const Scratch *s, int from, int to, PtxArg arg) {
  for (int i = from; i < to; i++) {
    const PtxInst *inst = scratch_inst(s, i);
    for (int g = 0; g < inst->n_groups; g++)
      for (int k = 0; k < inst->groups[g].n; k++)
        if (inst->groups[g].written && inst->groups[g].kind == PTX_GROUP_VALUE &&
            s->module->args[inst->groups[g].at + k] == arg)
          return true;
  }
  return false;
}

void scratch_put(Scratch *s, int from, const char *result, const char *source) {
  for (int i = from; i < s->t.n_insts; i++) {
    Piece *piece = scratch_piece(s, i);
    piece_set_text(s->arena, piece, piece_with(s->arena, piece, result, source));
  }
  s->rewritten = true;
}

// The nth source of the same width stands wherever the result stood; behind the instruction alone,
// where another one before it writes the same register.
static bool bypass(const Reduce *r, Scratch *s, int at, int nth) {
  (void)r;
  const PtxInst *inst = scratch_inst(s, at);
  const PtxGroup *to = scratch_result(inst);
  const PtxArg arg = to ? s->module->args[to->at] : 0;
  if (!to || to->kind != PTX_GROUP_VALUE || scratch_is_written(s, at + 1, s->t.n_insts, arg))
    return false;
  for (int g = 1; g < inst->n_groups; g++) {
    const PtxGroup *from = &inst->groups[g];
    if (from->written || from->n != 1 || from->kind != PTX_GROUP_VALUE ||
        scratch_bits(s, from) != scratch_bits(s, to) || nth-- > 0)
      continue;
    Piece *piece = scratch_piece(s, at);
    const char *result = piece_operand(s->arena, piece, 0);
    const char *source = piece_operand(s->arena, piece, g);
    if (!result || !source || str_equal(result, source)) return false;
    piece->kept = false;
    scratch_put(s, scratch_is_written(s, 0, at, arg) ? at + 1 : 0, result, source);
    return true;
  }
  return false;
}

static void put_number(Scratch *s, Piece *piece, const PtxGroup *to, uint64_t value) {
  const char *type =
      to->kind == PTX_GROUP_PRED ? "pred" : arena_printf(s->arena, "b%d", scratch_bits(s, to));
  piece_set_text(s->arena, piece,
                 arena_printf(s->arena, "mov.%s %s, %llu;", type, piece_operand(s->arena, piece, 0),
                              (unsigned long long)value));
  s->rewritten = true;
}

// An instruction with one result that is no number yet; NULL.
static const PtxGroup *result_to_fix(const Scratch *s, int at) {
  const PtxGroup *to = scratch_result(scratch_inst(s, at));
  const Piece *piece = scratch_piece(s, at);
  const char *source = piece ? piece_operand(s->arena, piece, 1) : NULL;
  if (!to || !source || !piece_operand(s->arena, piece, 0) || scratch_bits(s, to) == 0 ||
      scratch_bits(s, to) == 8)
    return NULL;
  return str_starts(piece->text, "mov") && strchr("-0123456789", *source) ? NULL : to;
}

bool scratch_run(const Reduce *r, Scratch *s, FlowRun *flow) {
  Side side;
  Diags diags = diags_new(s->arena);
  Sides sides = {.module = {s->module},
                 .kernel = r->kernel,
                 .launch = s->next.launch,
                 .blocks = s->next.blocks,
                 .args = s->next.args};
  *flow = flow_run_new(s->arena, s->kernel);
  sides.launch.budget = r->budget;
  return side_run(&sides, s->arena, SIDE_PTX, flow_trace, NULL, flow, &side, &diags);
}

// The number that an instruction gave to the first thread that ran it, to the last one, or 0, for
// every thread; no address, which another run has elsewhere.
static bool number(const Reduce *r, Scratch *s, int at, int which) {
  const PtxGroup *to = result_to_fix(s, at);
  if (!to) return false;
  FlowRun flow;
  const bool ran = which < 2 && scratch_run(r, s, &flow);
  if (which < 2 && !ran) return false;
  const uint64_t value = which == 2 ? 0 : which == 1 ? flow.last[at] : flow.first[at];
  if (value <= UINT32_MAX) put_number(s, scratch_piece(s, at), to, value);
  return value <= UINT32_MAX;
}

static bool no_guard(const Reduce *r, Scratch *s, int at, int n) {
  (void)r, (void)n;
  Piece *piece = scratch_piece(s, at);
  if (!piece || piece->text[0] != '@') return false;
  const char *behind = strchr(piece->text, ' ');
  if (!behind) return false;
  piece_set_text(s->arena, piece, behind + 1);
  s->rewritten = true;
  return true;
}

// ---- what stands around them --------------------------------------------------------------------

static bool one_param_less(const Reduce *r, Scratch *s, int at, int n) {
  (void)r, (void)n;
  const int found = pieces_find(&s->t, PIECE_PARAM, at);
  if (found < 0 || s->t.n_params != s->next.args.count || piece_is_named(&s->t, found))
    return false;
  const char **args = ARENA_ARRAY(s->arena, const char *, s->next.args.count + 1);
  int kept = 0;
  for (int i = 0; i < s->next.args.count; i++)
    if (i != at) args[kept++] = s->next.args.items[i];
  s->next.args = (OptionList){args, kept};
  s->t.pieces[found].kept = false;
  s->rewritten = true;
  return true;
}

static bool one_hint_less(const Reduce *r, Scratch *s, int at, int kind) {
  (void)r;
  const int found = pieces_find(&s->t, (PieceKind)kind, at);
  if (found < 0 || s->t.pieces[found].needed) return false;
  s->t.pieces[found].kept = false;
  return true;
}

// ---- in turns -----------------------------------------------------------------------------------

static int count_of(Reduce *r) {
  Arena *arena = arena_new("count");
  const PieceText t = pieces_read(arena, r->state.text, r->state.bytes, r->kernel);
  const int n = t.n_insts;
  arena_free(arena);
  return n;
}

typedef struct Place {
  int at, variant;
} Place;

// From the last instruction to the first, `n` at once. Several edits of one state are taken to
// their machine code before it runs, for they share a disassembler: more of them as long as none
// shows it.
static bool sweep(Reduce *r, Edit *edit, int n, int variants) {
  enum { MOST = 16, FIRST = 2 };
  ReduceTrial trials[MOST];
  Place places[MOST], next = {count_of(r) - n, 0};
  bool changed = false;
  for (int width = FIRST; next.at > -n;) {
    int begun = 0;
    while (begun < width && next.at > -n) {
      const int from = next.at < 0 ? 0 : next.at, length = next.at < 0 ? next.at + n : n;
      places[begun] = next;
      begun += begin(r, edit, from, variants > 1 ? next.variant : length, &trials[begun]);
      next.at -= next.variant + 1 == variants ? n : 0;
      next.variant = (next.variant + 1) % variants;
    }
    const int found = reduce_finish(r, trials, begun);
    width = found >= 0 ? FIRST : 2 * width > MOST ? MOST : 2 * width;
    if (found < 0) continue;
    changed = true;
    const int left = count_of(r);
    next = (Place){(places[found].at < left ? places[found].at : left) - n, 0};
  }
  return changed;
}

static bool leave_out_chunks(Reduce *r) {
  bool changed = false;
  for (int n = (count_of(r) + 1) / 2; n > 0; n = n == 1 ? 0 : (n + 1) / 2)
    changed |= sweep(r, leave_out, n, 1);
  return changed;
}

void reduce_shrink(Reduce *r, int store_line) {
  enum { SOURCES = 4, NUMBERS = 3, PARAMS = 64, HINTS = 16, ALL = -1 };
  // The closure drops dead code; where the disagreement needs it, it stays.
  r->keeps_dead = !attempt(r, nothing, 0, 0);
  r->is_placed = r->counts[REDUCE_PLACED] > 0;
  attempt(r, one_store, store_line, 0);
  shrink_launch(r);
  leave_out_chunks(r);
  for (bool changed = true; changed && r->assembled < r->most;) {
    changed = false;
    if (!attempt(r, edit_same, ALL, 0)) changed |= sweep(r, edit_same, 1, 1);
    changed |= sweep(r, bypass, 1, SOURCES);
    changed |= sweep(r, number, 1, NUMBERS);
    if (!attempt(r, edit_inline, ALL, 0)) changed |= sweep(r, edit_inline, 1, 1);
    changed |= sweep(r, edit_scalar, 1, EDIT_ELEMENTS);
    changed |= sweep(r, edit_plain, 1, EDIT_NUMBERS);
    changed |= sweep(r, edit_twin, 1, EDIT_TWINS);
    changed |= sweep(r, no_guard, 1, 1);
    if (changed) changed |= leave_out_chunks(r);
    shrink_launch(r);
  }
  for (int i = PARAMS; i >= 0; i--) attempt(r, one_param_less, i, 0);
  for (int i = HINTS; i >= 0; i--) {
    attempt(r, one_hint_less, i, PIECE_TUNING);
    attempt(r, one_hint_less, i, PIECE_HINT);
  }
}

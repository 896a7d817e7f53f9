// The main kernel → flat code for the run without values.
//
// Loops over registers around plain work become one code that counts its executions. Of a loop over
// slabs, or over anything else in which warps wait for each other, only the first and the last
// turns are run: its variable jumps over the rest by a multiple of the time after which all slots
// and phases come back, so every index of a slot and every phase bit is the one it would be.
//
// Worked example, k_o in 0..64, a ring of 4: slots and phases come back after 8 turns. 16 turns are
// run, then k_o jumps by 40, and 8 more: 0 … 15, 56 … 63. Of tiles of 64 slabs each 3 are run and
// the last 1 or 2, for a ring that goes on from tile to tile is where it was after every second
// one.
#include <assert.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/time/timeline_machine.h"
#include "model/words/fragment.h"

// The k-steps of all warps and turns that are run one by one, and the least of a slab.
enum { HEAD_TURNS_MIN = 8, HEAD_TILES = 3, STEPS_MAX = 1 << 13, STEPS_OF_A_SLAB = 4 };

typedef struct TimeCompiler {
  Arena *arena;
  const Model *model;
  TimeProgram *out;
  bool *by_lane;            // by variable
  int64_t comes_back;       // slabs after which slots and phases are the same again
  int64_t tiles_come_back;  // tiles of a persistent block after which they are
  bool whole;
} TimeCompiler;

// ---- what differs by lane -----------------------------------------------------------------------

static bool expr_by_lane(const TimeCompiler *c, const Expr *expr) {
  if (!expr) return false;
  if (expr->op == EXPR_VAR) return c->by_lane[expr->var->id];
  return expr_by_lane(c, expr->a) || expr_by_lane(c, expr->b) || expr_by_lane(c, expr->c);
}

static void find_lanes(TimeCompiler *c) {
  const Program *program = c->out->program;
  const Launch *launch = &c->out->launch;
  for (int i = 0; i < launch->n_thread_digits; i++) c->by_lane[launch->thread[i].var->id] = true;
  if (program->thread) c->by_lane[program->thread->id] = true;
  if (program->any_thread) c->by_lane[program->any_thread->id] = true;
  for (int i = 0; i < launch->n_lets; i++)
    c->by_lane[launch->let[i]->var->id] = expr_by_lane(c, launch->let[i]->expr);
}

// ---- loops --------------------------------------------------------------------------------------

// Work without a wait of its own: it neither orders nor counts at an mbarrier.
static bool is_plain(const Op *op) {
  const OpFacts *facts = op_facts(op->kind);
  bool closes = facts->action != ACTION_MOVE && facts->action != ACTION_MULTIPLY;
  return !op_orders(op->kind) && !op_takes_mbarrier(op->kind) && !op_moves_box(op->kind) &&
         facts->action != ACTION_GIVE && facts->action != ACTION_TAKE &&
         !(op_ends_with_group(op->kind) && closes);
}

static bool is_plain_list(const Stmt *list, bool registers_only) {
  for (; list; list = list->next) {
    if (list->kind == STMT_LET || list->kind == STMT_IF) return false;
    if (list->kind == STMT_OP && !is_plain(&list->op)) return false;
    if (list->kind != STMT_LOOP) continue;
    if (registers_only && list->var->tier != TIER_REGISTER) return false;
    if (!is_plain_list(list->body, registers_only)) return false;
  }
  return true;
}

static bool has_slots(const Buffer *buffer) {
  return buffer->space == SPACE_BARRIER ||
         (buffer->space == SPACE_SHARED && buffer_is_ring(buffer));
}

// The slots of rings and of mbarriers come back after the ring's number of slabs, their phases
// after twice that.
static int64_t turns_to_come_back(const Program *program) {
  int64_t slots = 1;
  for (int i = 0; i < program->n_buffers; i++)
    if (has_slots(program->buffer[i])) slots = common_multiple(slots, program->buffer[i]->dim[0]);
  return 2 * slots;
}

static int64_t slabs_of(const Program *program) {
  const Stmt *slabs = program_outer_k_loop(program);
  return slabs ? slabs->var->extent : 1;
}

// The same in tiles: their slabs are counted through, whatever else has slots is used as often in
// every tile, and of two tiles one may walk K upwards and the other one downwards.
static int64_t tiles_to_come_back(const Program *program, int64_t comes_back) {
  int64_t tiles = common_multiple(2, comes_back / common_divisor(comes_back, slabs_of(program)));
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    const bool of_slabs = buffer->role == ROLE_SLAB_A || buffer->role == ROLE_SLAB_B;
    if (buffer->space == SPACE_SHARED && has_slots(buffer) && !of_slabs)
      tiles = common_multiple(tiles, buffer->dim[0]);
  }
  return tiles;
}

// Turns that are run before a loop jumps.
static int64_t head_turns(const TimeCompiler *c) {
  return round_up(HEAD_TURNS_MIN, c->comes_back) + c->comes_back;
}

// The same for tiles. Long ones are alike from the second on; short ones are played
// until the ring has settled, and then twice through its slots, for these are not equally long.
static int64_t head_tiles(const TimeCompiler *c) {
  const int64_t settled = ceil_div(head_turns(c), slabs_of(c->out->program));
  return settled < HEAD_TILES ? HEAD_TILES : 2 * round_up(settled, c->tiles_come_back);
}

static void shorten(const TimeCompiler *c, TimeCode *loop, int64_t extent) {
  *loop = (TimeCode){.kind = loop->kind, .stmt = loop->stmt, .turns = extent, .head = extent};
  const Tier tier = loop->stmt->var->tier;
  if (c->whole || tier == TIER_REGISTER || tier == TIER_STAGE_INNER) return;
  const int64_t period = tier == TIER_TILE ? c->tiles_come_back : c->comes_back;
  const int64_t head = tier == TIER_TILE ? head_tiles(c) : head_turns(c);
  const int64_t tail = tier == TIER_TILE ? 1 : period;
  const int64_t skip = (extent - head - tail) / period * period;
  if (skip <= 0) return;
  loop->turns = extent - skip;
  loop->head = head;
  loop->skip = skip;
}

// ---- statements ---------------------------------------------------------------------------------

static TimeCode *emit(TimeCompiler *c, TimeCodeKind kind, const Stmt *stmt) {
  TimeCode *code = &c->out->code[c->out->n_codes++];
  *code = (TimeCode){.kind = kind, .stmt = stmt};
  return code;
}

// The digit of an axis that counts slabs; NULL: none does. Without a loop over slabs the k-steps
// do.
static const Digit *slab_digit(const Program *program, const Product *product, int of) {
  const Axis *axis = product->axis[of];
  for (int i = 0; i < axis->n_digits; i++)
    if (axis->digit[i].var->tier == TIER_SERIAL_OUTER) return &axis->digit[i];
  return of == AXIS_K && !program_slab_loop(program) ? &axis->digit[axis->n_digits - 1] : NULL;
}

// The dimension of an operand in global memory along which its slabs follow each other: of K for A
// and B, of attention for K and V, whose blocks of keys are counted, and none for Q.
static void find_slab_dimension(const TimeCompiler *c, TimeCode *code, const Buffer *from) {
  const Program *program = c->out->program;
  for (int i = 0; i < program->n_products; i++) {
    const Product *product = &program->product[i];
    for (int operand = ATOM_A; operand <= ATOM_B; operand++)
      for (int d = 0; d < 2 && product->operand[operand].global == from->role; d++) {
        const Digit *digit = slab_digit(program, product, operand_axis(operand, d));
        if (!digit) continue;
        code->slab_depth = digit->weight;
        code->slab_dimension = d + (product->batch != NULL);
      }
  }
}

static void emit_op(TimeCompiler *c, const Stmt *stmt, int64_t count) {
  const Program *program = c->out->program;
  const Buffer *from = stmt->op.src.buffer;
  TimeCode *code = emit(c, TIME_OP, stmt);
  code->count = count;
  code->cost = timeline_cost(c->model, program, stmt);
  if (from) find_slab_dimension(c, code, from);
}

static void emit_list(TimeCompiler *c, const Stmt *list, int64_t count);

// All iterations of a loop over plain work as one.
static void emit_counted(TimeCompiler *c, const Stmt *list, int64_t count) {
  for (; list; list = list->next)
    if (list->kind == STMT_OP)
      emit_op(c, list, count);
    else
      emit_counted(c, list->body, count * list->var->extent);
}

// Where warps are many the k-steps of a slab are taken several at a time.
static int64_t steps_at_once(const TimeCompiler *c, const Stmt *loop) {
  int64_t extent = loop->var->extent, step = 1;
  if (loop->var->tier != TIER_STAGE_INNER || !is_plain_list(loop->body, true)) return 1;
  int64_t turns = launch_block_warps(&c->out->launch) * (head_turns(c) + c->comes_back);
  int64_t most = max64(STEPS_MAX / turns, STEPS_OF_A_SLAB);
  while (extent % step || extent / step > most) step++;
  return step;
}

// Turns of a loop: over tiles, those of block 0.
static int64_t turns_of(const TimeCompiler *c, const Stmt *loop) {
  if (loop->var->tier != TIER_TILE) return loop->var->extent;
  return ceil_div(tile_count(loop), c->out->grid);  // parts of tiles are counted when it is run
}

static void emit_loop(TimeCompiler *c, const Stmt *stmt, int64_t count) {
  if (stmt->var->tier == TIER_REGISTER && is_plain_list(stmt->body, true)) {
    emit_counted(c, stmt->body, count * stmt->var->extent);
    return;
  }
  int start = c->out->n_codes;
  int64_t step = steps_at_once(c, stmt);
  shorten(c, emit(c, TIME_LOOP, stmt), turns_of(c, stmt) / step);
  emit_list(c, stmt->body, count * step);
  c->out->code[start].first = start + 1;
  TimeCode *next = emit(c, TIME_NEXT, stmt);
  *next = c->out->code[start];
  next->kind = TIME_NEXT;
  next->jump = start + 1;
  c->out->code[start].jump = c->out->n_codes;
}

static void emit_list(TimeCompiler *c, const Stmt *list, int64_t count) {
  for (; list; list = list->next) {
    int start = c->out->n_codes;
    switch (list->kind) {
      case STMT_OP:
        emit_op(c, list, count);
        break;
      case STMT_LOOP:
        emit_loop(c, list, count);
        break;
      case STMT_LET:
        c->by_lane[list->var->id] = expr_by_lane(c, list->expr);
        emit(c, TIME_LET, list)->by_lane = c->by_lane[list->var->id];
        break;
      case STMT_IF:
        emit(c, TIME_IF, list)->by_lane = expr_by_lane(c, list->expr);
        emit_list(c, list->body, count);
        c->out->code[start].jump = c->out->n_codes;
        emit(c, TIME_FI, list);
        break;
    }
  }
}

static int count_codes(const Stmt *list) {
  int n = 0;
  for (; list; list = list->next) n += 2 + (list->body ? count_codes(list->body) : 0);
  return n;
}

const TimeProgram *timeline_compile(Arena *arena, const Model *model, const Program *program,
                                    bool whole) {
  TimeProgram *out = ARENA_NEW(arena, TimeProgram);
  out->program = program;
  out->launch = kernel_launch(program_main(program));
  out->code = ARENA_ARRAY(arena, TimeCode, count_codes(out->launch.body) + 1);
  int64_t at_once = (int64_t)model->target->sm_count * max_int(model->resources.blocks_per_sm, 1);
  out->grid = max64(min64(out->launch.n_blocks, at_once) / out->launch.cluster, 1);
  TimeCompiler c = {.arena = arena, .model = model, .out = out, .whole = whole};
  c.by_lane = ARENA_ARRAY(arena, bool, program->n_vars);
  out->whole = whole;
  c.comes_back = out->comes_back = turns_to_come_back(program);
  c.tiles_come_back = tiles_to_come_back(program, c.comes_back);
  find_lanes(&c);
  emit_list(&c, out->launch.body, 1);
  emit(&c, TIME_EXIT, NULL);
  return out;
}

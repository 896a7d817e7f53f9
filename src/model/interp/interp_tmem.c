// Tensor memory: the columns that each block has, and the order in which they are reached.
//
// A block has the columns that one of its warps has allocated, all 128 lanes of them, until it
// gives them back. The tensor core works behind the thread that asks: each warp has a queue, first
// in, first out, which is a reader and writer of its own (tmem_agent). Early, it is carried out at
// once; late, when no warp can go on without it: both ends are legal. order/order_tensor.h says
// which order is missing between two accesses.
#include <string.h>

#include "base/random.h"
#include "model/interp/interp_machine.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

// ---- what a program has of it -------------------------------------------------------------------

static void look_for_tensor(Stmt *stmt, int depth, void *context) {
  (void)depth;
  *(bool *)context |= stmt->kind == STMT_OP && op_facts(stmt->op.kind)->family == FAMILY_TCGEN05;
}

bool tmem_is_used(const Program *program) {
  bool any = false;
  for (int i = 0; i < program->n_kernels; i++)
    stmt_walk(program->kernel[i].body, look_for_tensor, &any);
  return any;
}

void tmem_start(Machine *m, Warp *w) {
  w->agent->n = w->agent->first = 0;
  w->agent->askers = 0;
  w->loads->n = w->stores->n = 0;
  memset(w->loads->busy, 0, (size_t)m->n_rows);
  if (w->place == 0) m->own->tensor.columns = 0;
  if (w->place == 0) m->own->tensor.gave_up = false;
}

// A load without a wait is in the way of the next access to its columns, and is reported there.
void tmem_end_warp(Machine *m, Warp *w) {
  if (w->stores->n == 0) return;
  const Stmt *stmt = m->code->code[w->stores->move[0].code].stmt;
  interp_report(m, FINDING_MISSING_WAIT, w, 0, stmt, NULL, 0, "ends without a tcgen05.wait::st");
}

static void report_work(Machine *m, Warp *w) {
  const TensorAgent *agent = w->agent;
  if (agent->n == 0) return;
  const Code *code = &m->code->code[agent->work[agent->first].code];
  interp_report(m, FINDING_ABANDONED_COPY, w, -1, code->stmt, NULL, 0,
                "the block ends while the tensor core still has %d products and commits of warp "
                "%d, and no thread waits for them",
                agent->n, w->place);
  w->agent->n = 0;
}

static void report_leak(Machine *m, int rank) {
  interp_at_rank(m, rank);
  TensorMemory *tensor = &m->own->tensor;
  if (!tensor->columns) return;
  const Warp *w = &m->warp[tensor->alloc.thread / LANES];
  interp_report(m, FINDING_ALLOCATION, w, -1, m->code->code[tensor->alloc.code].stmt, NULL, 0,
                "the block ends with %d columns of tensor memory allocated: no other block of "
                "the SM can get them",
                tensor->columns);
  tensor->columns = 0;
}

void tmem_end_block(Machine *m) {
  for (int i = 0; i < m->n_warps && !m->stopped; i++) report_work(m, &m->warp[i]);
  for (int rank = 0; rank < m->code->cluster && !m->stopped; rank++) report_leak(m, rank);
}

// Column `column` of what the buffer's operand begins with, for the report.
static int64_t element_of(const Buffer *buffer, const TensorReach *reach, int quarter, int column) {
  const int64_t at = (int64_t)quarter * LANES * TENSOR_COLUMNS + (column - buffer->column);
  (void)reach;
  return at * buffer_column_elements(buffer);
}

bool tmem_has(Machine *m, const Warp *w, const Code *code, const Buffer *buffer,
              const TensorReach *reach) {
  const TensorMemory *tensor = &m->own->tensor;
  const int end = reach->column + reach->n, lane = lowest_lane(w->active);
  const int64_t at = element_of(buffer, reach, reach->first_quarter, reach->column);
  if (reach->column < 0 || end > tensor->columns) {
    interp_report(m, FINDING_ALLOCATION, w, lane, code->stmt, buffer, at,
                  "uses columns %d to %d of tensor memory: %s%.0d allocated", reach->column,
                  end - 1, tensor->columns ? "only " : "none", tensor->columns);
    return false;
  }
  Touch now = touch_of(m, w, code);
  now.thread = thread_of(w, (uint32_t)lane);
  if (!shadow_ordered(m, &tensor->alloc, &now))
    interp_report(m, FINDING_RACE, w, lane, code->stmt, buffer, at,
                  "uses tensor memory with no barrier after its allocation, stmt %d",
                  m->code->code[tensor->alloc.code].stmt->id);
  return true;
}

// ---- order --------------------------------------------------------------------------------------

// The columns are at hand; `who` does it, asked for by `now`.
static OrderVisit visit_of(const Machine *m, const Touch *now, uint16_t who, bool reads) {
  const OrderMoves *moves = &m->moves[now->thread / LANES];
  return (OrderVisit){.order = m->order,
                      .moves = m->moves,
                      .shares = m->first_tensor,
                      .since = m->own->tensor.alloc.epoch,
                      .clock = interp_clock(m, now->thread),
                      .asker = now->thread / LANES,
                      .now = {.tick = now->epoch,
                              .group = reads ? moves->loads.closed : moves->stores.closed,
                              .tag = now->code,
                              .party = (uint16_t)(who / LANES),
                              .lane = (uint16_t)(now->thread % LANES)},
                      .reader = now->thread / LANES % m->block_warps / TENSOR_QUARTERS};
}

static FindingKind kind_of(const OrderConflict *c) {
  static const FindingKind kinds[] = {[ORDER_RACE] = FINDING_RACE,
                                      [ORDER_MISSING_WAIT] = FINDING_MISSING_WAIT,
                                      [ORDER_MISSING_FENCE] = FINDING_MISSING_FENCE};
  return kinds[order_fault(c)];
}

static const char *who_text(const Machine *m, const OrderConflict *c) {
  if (c->by_share) return "the tensor core";
  return arena_printf(m->arena, "warp %s", interp_warp_name(m, c->then.party));
}

static void report(Machine *m, const Warp *w, const Code *code, const TensorReach *reach,
                   int64_t at, const OrderVisit *visit, bool reads, const OrderConflict *c) {
  interp_report(m, kind_of(c), w, visit->now.lane, code->stmt, reach->buffer, at,
                "%s what %s %s (stmt %d), %s", reads ? "reads" : "overwrites", who_text(m, c),
                c->read ? "reads" : "writes", m->code->code[c->then.tag].stmt->id,
                order_gap_text(c));
}

#define EACH_CELL(quarter, column, reach)                                 \
  for (int quarter = (reach)->first_quarter;                              \
       quarter < (reach)->first_quarter + (reach)->n_quarters; quarter++) \
    for (int column = (reach)->column; column < (reach)->column + (reach)->n; column++)

static OrderPlace *place_at(const Machine *m, int quarter, int column) {
  return &m->own->tensor.place[quarter][column];
}

bool tmem_read(Machine *m, const Warp *w, const Code *code, const TensorReach *reach,
               const Touch *now, uint16_t who) {
  const OrderVisit visit = visit_of(m, now, who, true);
  bool told = false;
  EACH_CELL(quarter, column, reach) {
    OrderPlace *place = place_at(m, quarter, column);
    const int64_t at = element_of(reach->buffer, reach, quarter, column);
    if (!order_place_is_written(place, &visit)) {
      interp_report(m, FINDING_UNWRITTEN_READ, w, visit.now.lane, code->stmt, reach->buffer, at,
                    "reads a place that was never written");
      return false;
    }
    const OrderConflict c = order_place_read(place, &visit);
    if (c.gap && !told) report(m, w, code, reach, at, &visit, true, &c);
    told |= c.gap != ORDER_NO_GAP;
  }
  return true;
}

void tmem_write(Machine *m, const Warp *w, const Code *code, const TensorReach *reach,
                const Touch *now, uint16_t who) {
  OrderVisit visit = visit_of(m, now, who, false);
  visit.apart = op_moves_factors(code->stmt->op.kind);
  bool told = false;
  EACH_CELL(quarter, column, reach) {
    const OrderConflict c = order_place_write(place_at(m, quarter, column), &visit);
    const int64_t at = element_of(reach->buffer, reach, quarter, column);
    if (c.gap && !told) report(m, w, code, reach, at, &visit, false, &c);
    told |= c.gap != ORDER_NO_GAP;
  }
}

void tmem_multiplied(Machine *m, const TensorReach *reach, const Touch *now, uint16_t who) {
  const OrderVisit visit = visit_of(m, now, who, true);
  EACH_CELL(quarter, column, reach) place_at(m, quarter, column)->multiplied = visit.now;
}

void tmem_release(Machine *m, const Warp *w, const Code *code) {
  TensorMemory *tensor = &m->own->tensor;
  const Touch now = touch_of(m, w, code);
  const OrderVisit visit = visit_of(m, &now, now.thread, false);
  const TensorReach all = {0, TENSOR_QUARTERS, 0, tensor->columns, NULL};
  tensor->columns = 0;
  EACH_CELL(quarter, column, &all) {
    const OrderConflict c = order_place_free(place_at(m, quarter, column), &visit);
    if (!c.gap) continue;
    const bool waits = c.gap == ORDER_GAP_WAIT;
    interp_report(m, waits ? FINDING_MISSING_WAIT : FINDING_RACE, w, 0, code->stmt, NULL, 0,
                  "gives back column %d, which %s %s (stmt %d), %s", column, who_text(m, &c),
                  c.read ? "reads" : "writes", m->code->code[c.then.tag].stmt->id,
                  waits ? order_gap_text(&c) : "with no barrier between");
    return;
  }
}

// ---- moves and work under way -------------------------------------------------------------------

TensorReach tmem_reach_of(const Machine *m, const Warp *w, const TensorMove *move) {
  const int n = m->code->code[move->code].stmt->op.width;
  return (TensorReach){w->place % TENSOR_QUARTERS, 1, move->column, n, NULL};
}

void tmem_bring(const Machine *m, const Warp *w, TensorMove *move) {
  const TensorReach from = tmem_reach_of(m, w, move);
  for (int i = 0; i < from.n && !move->has_come; i++)
    w->row[move->row + i] = m->own->tensor.row[from.first_quarter][from.column + i];
  move->has_come = true;
}

// The oldest first: of two loads into one register the later one stays.
static void bring_into(const Machine *m, const Warp *w, int first, int n) {
  for (int i = 0; i < w->loads->n; i++) {
    TensorMove *move = &w->loads->move[i];
    const int end = move->row + tmem_reach_of(m, w, move).n;
    if (move->row < first + n && first < end) tmem_bring(m, w, move);
  }
}

void tmem_touch_registers(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                          const Registers *at, bool reads) {
  const int n = operand->width * at->rows;
  uint8_t *busy = &w->loads->busy[at->first];
  if (!memchr(busy, 1, (size_t)n)) return;
  if (reads)
    bring_into(m, w, at->first, n);
  else
    interp_report(m, FINDING_MISSING_WAIT, w, lowest_lane(w->active), code->stmt, operand->buffer,
                  at->at, ORDER_LOADING);
  memset(busy, 0, (size_t)n);
}

TensorMove *tmem_new_move(Machine *m, TensorMoves *moves) {
  if (moves->n == moves->capacity) {
    moves->capacity = moves->capacity ? 2 * moves->capacity : 8;
    TensorMove *more = ARENA_ARRAY(m->arena, TensorMove, moves->capacity);
    if (moves->n) memcpy(more, moves->move, sizeof *more * (size_t)moves->n);
    moves->move = more;
  }
  return &moves->move[moves->n++];
}

// Places keep their clocks, so that a long run takes no more memory than a short one.
TensorWork *tmem_new_work(Machine *m, Warp *w) {
  TensorAgent *agent = w->agent;
  if (agent->n == 0) agent->first = 0;
  const int at = agent->first + agent->n;
  if (at == agent->capacity) {
    agent->capacity = agent->capacity ? 2 * agent->capacity : 16;
    TensorWork *more = ARENA_ARRAY(m->arena, TensorWork, agent->capacity);
    if (at) memcpy(more, agent->work, sizeof *more * (size_t)at);
    agent->work = more;
  }
  TensorWork *work = &agent->work[at];
  *work = (TensorWork){.known = work->known};
  if (!work->known) work->known = order_clock(m->order);
  agent->n++;
  return work;
}

void tmem_ask(Machine *m, Warp *w, const TensorWork *work) {
  w->agent->askers |= w->active;
  TensorWork *place = tmem_new_work(m, w);
  uint32_t *known = place->known;
  *place = *work;
  place->known = known;
}

int tmem_pending(const Machine *m) {
  int n = 0;
  for (int i = 0; i < m->n_warps; i++) n += m->warp[i].agent->n > 0;
  return n;
}

void tmem_carry_out(Machine *m, int which) {
  for (int i = 0; i < m->n_warps; i++) {
    Warp *w = &m->warp[i];
    TensorAgent *agent = w->agent;
    if (agent->n == 0 || which-- > 0) continue;
    const TensorWork work = agent->work[agent->first++];
    agent->n--;
    interp_at_rank(m, w->rank);
    tmem_do(m, w, &work);
    return;
  }
}

// Tensor memory: who has how much of it, and in which order it is reached.
//
// A block has the columns that a warp of it has allocated, all 128 lanes of them, until it gives
// them back. Nobody reaches less than a column of a quarter of the lanes, so that is what accesses
// are remembered by: 4 x 512 cells. The tensor core works behind the thread that asks: each warp
// has a queue, first in, first out, which is a reader and writer of its own (tmem_agent). Early, it
// is carried out at once; late, when no warp can go on without it: both ends are legal.
//
// Two accesses by different warps, or by a warp and the tensor core, have an order when (PTX ISA,
// tcgen05, Memory Consistency Model, canonical synchronization patterns)
//   the first one is over     its warp has waited for it, or a commit behind it has arrived
//   a fence stands behind     tcgen05.fence::before_thread_sync; a commit is one by itself
//   the other has been told   by a barrier or an mbarrier
//   and has a fence behind    tcgen05.fence::after_thread_sync
// and each of them that is missing is a finding of its own. Worked example, epochs in front:
//    5  thread 96: mma sums       cell.write = {5, agent of warp 3}
//    6  thread 96: commit full    when it arrives: full.gathered[agent] = seen 6, before 6
//       warp 0: wait full         warp 0 knows that: 5 < 6
//       warp 0: ld sums           5 < after? It is 0: missing fence
#include <string.h>

#include "base/random.h"
#include "model/interp/interp_machine.h"

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

// A load that nobody waits for is in the way of what comes over its columns, and is reported there.
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
                "the block ends while the tensor core has %d of warp %d's products and commits to "
                "do, for which nobody waits",
                agent->n, w->place);
  w->agent->n = 0;
}

static void report_leak(Machine *m, int rank) {
  interp_at_rank(m, rank);
  TensorMemory *tensor = &m->own->tensor;
  if (!tensor->columns) return;
  const Warp *w = &m->warp[tensor->alloc.thread / LANES];
  interp_report(m, FINDING_ALLOCATION, w, -1, m->code->code[tensor->alloc.code].stmt, NULL, 0,
                "the block ends with %d columns of tensor memory allocated, which no other block "
                "of the SM ever gets",
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
                  "is at columns %d to %d of tensor memory, of which %s%.0d allocated",
                  reach->column, end - 1, tensor->columns ? "are no more than " : "none are",
                  tensor->columns);
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

static bool is_of_tensor_core(const Machine *m, const Touch *touch) {
  return touch->thread / LANES >= m->first_tensor;
}

static bool is_old(const Machine *m, const Touch *touch) {
  return touch->epoch <= m->own->tensor.alloc.epoch;
}

// What keeps two accesses apart.
typedef enum Gap { GAP_NONE, GAP_FLIGHT, GAP_ORDER, GAP_BEFORE, GAP_AFTER } Gap;

// What one warp asks of the tensor core comes one after the other, but for copies of factors, which
// nothing keeps behind what was asked for before: `apart`.
static Gap gap_between(const Machine *m, const Touch *then, const Touch *now, uint16_t who,
                       bool apart) {
  const int whose = then->thread / LANES;
  if (is_old(m, then) || whose == now->thread / LANES) return GAP_NONE;
  const uint32_t *clock = interp_clock(m, now->thread);
  const bool over = order_is_over(m->order, clock, whose, then->epoch);
  if (whose == who / LANES) return apart && !over ? GAP_ORDER : GAP_NONE;
  if (!over) return GAP_ORDER;
  if (then->epoch >= order_known(m->order, clock, ORDER_BEFORE, whose)) return GAP_BEFORE;
  return then->epoch >= order_known(m->order, clock, ORDER_AFTER, whose) ? GAP_AFTER : GAP_NONE;
}

static FindingKind kind_of_gap(const Machine *m, Gap gap, const Touch *then) {
  if (gap == GAP_BEFORE || gap == GAP_AFTER) return FINDING_MISSING_FENCE;
  return gap == GAP_FLIGHT || is_of_tensor_core(m, then) ? FINDING_MISSING_WAIT : FINDING_RACE;
}

static const char *gap_text(const Machine *m, Gap gap, const Touch *then, bool read) {
  switch (gap) {
    case GAP_FLIGHT:
      return read ? "with no tcgen05.wait::ld behind that" : "with no tcgen05.wait::st behind that";
    case GAP_BEFORE:
      return "with no tcgen05.fence::before_thread_sync behind that";
    case GAP_AFTER:
      return "with no tcgen05.fence::after_thread_sync since it was told of that";
    default:
      return is_of_tensor_core(m, then) ? "and has waited for no commit behind that"
                                        : "with no barrier between";
  }
}

static const char *who_text(const Machine *m, const Touch *then) {
  if (is_of_tensor_core(m, then)) return "the tensor core";
  return arena_printf(m->arena, "warp %s", interp_warp_name(m, then->thread / LANES));
}

typedef struct Conflict {
  Gap gap;
  const Touch *then, *now;
  bool reads, read;  // now; then
  int quarter, column;
} Conflict;

static void report(Machine *m, const Warp *w, const Code *code, const TensorReach *reach,
                   const Conflict *c) {
  interp_report(m, kind_of_gap(m, c->gap, c->then), w, c->now->thread % LANES, code->stmt,
                reach->buffer, element_of(reach->buffer, reach, c->quarter, c->column),
                "%s what %s %s (stmt %d), %s", c->reads ? "reads" : "overwrites",
                who_text(m, c->then), c->read ? "reads" : "writes",
                m->code->code[c->then->code].stmt->id, gap_text(m, c->gap, c->then, c->read));
}

#define EACH_CELL(quarter, column, reach)                                 \
  for (int quarter = (reach)->first_quarter;                              \
       quarter < (reach)->first_quarter + (reach)->n_quarters; quarter++) \
    for (int column = (reach)->column; column < (reach)->column + (reach)->n; column++)

static TensorCell *cell_at(const Machine *m, int quarter, int column) {
  return &m->own->tensor.cell[quarter][column];
}

static bool against_write(Machine *m, const Warp *w, const Code *code, const TensorReach *reach,
                          const Touch *now, uint16_t who, Conflict at) {
  const TensorCell *cell = cell_at(m, at.quarter, at.column);
  at.then = &cell->write;
  at.now = now;
  at.gap = gap_between(m, at.then, now, who, !at.reads && op_moves_factors(code->stmt->op.kind));
  if (cell->in_flight && !is_old(m, at.then)) at.gap = GAP_FLIGHT;
  if (at.gap) report(m, w, code, reach, &at);
  return at.gap != GAP_NONE;
}

static int reader_of(const Machine *m, uint16_t who) {
  return who / LANES % m->block_warps / TENSOR_QUARTERS;
}

// Whether `i` is a reader whose warp has not waited for its tcgen05.ld. That its registers have
// been read says nothing of it: a register dependency implies no other form of ordering (PTX ISA,
// tcgen05, "Register dependencies, same thread").
static bool is_loading(const Machine *m, const TensorCell *cell, int i) {
  return i < TENSOR_READERS && (cell->loading >> i & 1) && !is_old(m, &cell->read[i]);
}

// A warp reads, or the tensor core does: its own reads are as old as its writes.
static void keep_read(const Machine *m, TensorCell *cell, const Touch *its) {
  if (is_of_tensor_core(m, its)) return;
  cell->read[reader_of(m, its->thread)] = *its;
  cell->loading |= 1u << reader_of(m, its->thread);
}

bool tmem_read(Machine *m, const Warp *w, const Code *code, const TensorReach *reach,
               const Touch *now, uint16_t who) {
  bool told = false;
  EACH_CELL(quarter, column, reach) {
    TensorCell *cell = cell_at(m, quarter, column);
    if (is_old(m, &cell->write)) {
      interp_report(m, FINDING_UNWRITTEN_READ, w, now->thread % LANES, code->stmt, reach->buffer,
                    element_of(reach->buffer, reach, quarter, column), "reads what nothing wrote");
      return false;
    }
    const Conflict at = {.reads = true, .quarter = quarter, .column = column};
    if (!told) told = against_write(m, w, code, reach, now, who, at);
    Touch its = *now;
    its.thread = who;
    keep_read(m, cell, &its);
  }
  return true;
}

static bool against_reads(Machine *m, const Warp *w, const Code *code, const TensorReach *reach,
                          const Touch *now, uint16_t who, Conflict at) {
  const TensorCell *cell = cell_at(m, at.quarter, at.column);
  for (int i = 0; i <= TENSOR_READERS; i++) {
    at.then = i < TENSOR_READERS ? &cell->read[i] : &cell->multiplied;
    at.now = now;
    at.read = true;
    at.gap = gap_between(m, at.then, now, who, op_moves_factors(code->stmt->op.kind));
    if (is_loading(m, cell, i)) at.gap = GAP_FLIGHT;
    if (!at.gap) continue;
    report(m, w, code, reach, &at);
    return true;
  }
  return false;
}

void tmem_write(Machine *m, const Warp *w, const Code *code, const TensorReach *reach,
                const Touch *now, uint16_t who) {
  bool told = false;
  EACH_CELL(quarter, column, reach) {
    const Conflict at = {.quarter = quarter, .column = column};
    if (!told) told = against_write(m, w, code, reach, now, who, at);
    if (!told) told = against_reads(m, w, code, reach, now, who, at);
    TensorCell *cell = cell_at(m, quarter, column);
    cell->write = *now;
    cell->write.thread = who;
    cell->in_flight = !is_of_tensor_core(m, &cell->write);
  }
}

void tmem_multiplied(Machine *m, const TensorReach *reach, const Touch *now, uint16_t who) {
  EACH_CELL(quarter, column, reach) {
    Touch *its = &cell_at(m, quarter, column)->multiplied;
    *its = *now;
    its->thread = who;
  }
}

void tmem_touch_read(Machine *m, const TensorReach *reach, const Touch *now) {
  EACH_CELL(quarter, column, reach) {
    TensorCell *cell = cell_at(m, quarter, column);
    cell->read[reader_of(m, now->thread)] = *now;
    cell->loading &= ~(1u << reader_of(m, now->thread));
  }
}

void tmem_touch_write(Machine *m, const TensorReach *reach, const Touch *now) {
  EACH_CELL(quarter, column, reach) {
    TensorCell *cell = cell_at(m, quarter, column);
    if (cell->write.thread / LANES != now->thread / LANES) continue;
    cell->write = *now;
    cell->in_flight = false;
  }
}

// An allocation knows nothing of fences, and a warp knows of its own accesses.
static bool may_be_there(const Machine *m, const Warp *w, const Touch *then) {
  const int whose = then->thread / LANES;
  if (is_old(m, then) || whose == w->index) return false;
  return !order_is_over(m->order, interp_clock(m, thread_of(w, 0)), whose, then->epoch);
}

// A column that is given back may have no reader or writer left.
static Conflict still_there(const Machine *m, const Warp *w, const TensorCell *cell) {
  if (may_be_there(m, w, &cell->write)) return (Conflict){.gap = GAP_ORDER, .then = &cell->write};
  for (int i = 0; i <= TENSOR_READERS; i++) {
    const Touch *then = i < TENSOR_READERS ? &cell->read[i] : &cell->multiplied;
    const Gap gap = may_be_there(m, w, then) ? GAP_ORDER
                    : is_loading(m, cell, i) ? GAP_FLIGHT
                                             : GAP_NONE;
    if (gap) return (Conflict){.gap = gap, .then = then, .read = true};
  }
  return (Conflict){.gap = GAP_NONE};
}

static void report_there(Machine *m, const Warp *w, const Code *code, int column,
                         const Conflict *c) {
  const bool flight = c->gap == GAP_FLIGHT;
  interp_report(m, flight ? FINDING_MISSING_WAIT : FINDING_RACE, w, 0, code->stmt, NULL, 0,
                "gives back column %d, which %s %s (stmt %d), %s", column, who_text(m, c->then),
                c->read ? "reads" : "writes", m->code->code[c->then->code].stmt->id,
                flight ? gap_text(m, c->gap, c->then, c->read) : "with no barrier between");
}

void tmem_release(Machine *m, const Warp *w, const Code *code) {
  TensorMemory *tensor = &m->own->tensor;
  const TensorReach all = {0, TENSOR_QUARTERS, 0, tensor->columns, NULL};
  tensor->columns = 0;
  EACH_CELL(quarter, column, &all) {
    const Conflict at = still_there(m, w, cell_at(m, quarter, column));
    if (!at.gap) continue;
    report_there(m, w, code, column, &at);
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
                  at->at,
                  "writes registers that a tcgen05.ld still brings, with no tcgen05.wait::ld "
                  "between");
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

// Boxes on their way from shared to global memory, and the bulk groups of the thread that sent
// them.
//
// PTX ISA, cp.async.bulk.wait_group: groups are each thread's own. With .read the wait is over when
// their sources have been read, without it when their writes are made, too. Early, a box is read
// and written when it is sent. Late, it is read when its thread waits for the read, and written
// when its thread waits for the whole box. Both ends are legal for the hardware. Worked example,
// one group of two boxes:
//
//   send, send        their elements may be read from now on, and cells of C be written
//   commit            group 0 of this thread is closed
//   read, at most 0   all elements are read: a thread that knows of this wait may write there again
//   wait, at most 0   all cells are written
//
// A write where an unread box lies is unordered with the box, even by the thread that sent it. A
// block may end with boxes that are read and not written yet. It may not end with unread ones: the
// next block takes their memory.
#include <string.h>

#include "model/interp/interp_machine.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"

static const Code *code_of(const Machine *m, const BulkStore *store) {
  return &m->code->code[store->code];
}

static int64_t box_elements(const Op *op) { return op->box[0] * op->box[1]; }

static BulkStore *new_store(Machine *m, Warp *w) {
  if (w->n_stores == w->store_capacity) {
    w->store_capacity = w->store_capacity ? 2 * w->store_capacity : 16;
    BulkStore *more = ARENA_ARRAY(m->arena, BulkStore, w->store_capacity);
    if (w->n_stores) memcpy(more, w->store, sizeof(BulkStore) * (size_t)w->n_stores);
    w->store = more;
  }
  return &w->store[w->n_stores++];
}

// The cell of C that element i of the box goes to; -1: it is outside, where nothing is written.
static int64_t cell_of(const Op *op, const BulkStore *store, int64_t i) {
  const Buffer *to = op->dst.buffer;
  int fast = buffer_fast_dimension(to), slow = buffer_slow_dimension(to);
  int64_t s = store->corner[slow] + i / op->box[1], f = store->corner[fast] + i % op->box[1];
  bool inside = s >= 0 && s < to->dim[slow] && f >= 0 && f < to->dim[fast];
  return inside ? buffer_matrix_begin(to, store->corner) + s * to->stride[slow] + f : -1;
}

static Touch touch_of_store(const Machine *m, const Warp *w, const BulkStore *store) {
  Touch now = touch_of(m, w, code_of(m, store));
  now.thread = thread_of(w, store->lane);
  return now;
}

static void take(Machine *m, BulkStore *store) {
  const Code *code = code_of(m, store);
  const Memory *src = &m->memory[code->src.buffer->id];
  int64_t n = box_elements(&code->stmt->op);
  store->data = arena_alloc(m->arena, (size_t)(n * src->bytes));
  for (int64_t i = 0; i < n; i++)
    memcpy(store->data + i * src->bytes, memory_at(src, store->first + code->box_at[i]),
           (size_t)src->bytes);
}

static bool adds(const Op *op) { return op_facts(op->kind)->action == ACTION_ADD; }

static void put_cell(const Memory *dst, int64_t cell, const uint8_t *value, bool is_added) {
  uint8_t *to = memory_at(dst, cell);
  if (is_added)
    number_write(dst->type, to, number_read(dst->type, to) + number_read(dst->type, value));
  else
    memcpy(to, value, (size_t)dst->bytes);
}

static void put(Machine *m, const BulkStore *store) {
  const Op *op = &code_of(m, store)->stmt->op;
  const Memory *dst = &m->memory[op->dst.buffer->id];
  for (int64_t i = 0; i < box_elements(op); i++) {
    int64_t cell = cell_of(op, store, i);
    if (cell >= 0) put_cell(dst, cell, store->data + i * dst->bytes, adds(op));
  }
}

// The thread has waited until the box was read; until its cells were written.
static void be_read(Machine *m, const Warp *w, BulkStore *store) {
  const Code *code = code_of(m, store);
  const Memory *src = &m->memory[code->src.buffer->id];
  Touch now = touch_of_store(m, w, store);
  if (m->async == INTERP_LATE) take(m, store);
  for (int64_t i = 0; i < box_elements(&code->stmt->op); i++)
    shadow_sent(src, store->first + code->box_at[i], &now);
  store->is_read = true;
}

static void be_written(Machine *m, const Warp *w, const BulkStore *store) {
  const Op *op = &code_of(m, store)->stmt->op;
  const Memory *dst = &m->memory[op->dst.buffer->id];
  Touch now = touch_of_store(m, w, store);
  if (m->async == INTERP_LATE) put(m, store);
  for (int64_t i = 0; i < box_elements(op) && !adds(op); i++) {
    int64_t cell = cell_of(op, store, i);
    if (cell >= 0) shadow_arrive(m, dst, cell, &now);
  }
}

// All that the box will read must be there, and fenced; the cells that it will write are its
// thread's.
static void ask(Machine *m, const Warp *w, const Code *code, const BulkStore *store) {
  const Op *op = &code->stmt->op;
  const Memory *src = &m->memory[op->src.buffer->id], *dst = &m->memory[op->dst.buffer->id];
  Touch now = touch_of_store(m, w, store);
  for (int64_t i = 0; i < box_elements(op); i++) {
    int64_t from = store->first + code->box_at[i], cell = cell_of(op, store, i);
    if (!shadow_send(m, src, from, &now)) shadow_report_unwritten(m, w, code, &now, src, from);
    if (cell < 0) continue;
    if (!adds(op))
      shadow_launch(m, dst, cell, &now);
    else if (!shadow_atomic(m, dst, cell, &now))
      shadow_report_unwritten(m, w, code, &now, dst, cell);
  }
}

void bulk_send(Machine *m, Warp *w, const Code *code) {
  uint32_t lane = (uint32_t)lowest_lane(w->active);
  BulkStore *store = new_store(m, w);
  *store = (BulkStore){.code = (int)(code - m->code->code),
                       .lane = lane,
                       .group = w->groups->reads[lane].closed,
                       .first = interp_scalar(w, &code->src.offset)};
  for (int d = 0; d < code->dst.buffer->rank; d++)
    store->corner[d] = interp_scalar(w, &code->corner[d]);
  ask(m, w, code, store);
  if (m->async != INTERP_EARLY) return;
  take(m, store);
  put(m, store);
}

void bulk_commit(Machine *m, Warp *w) {
  (void)m;
  EACH_LANE(lane, w->active) {
    w->groups->reads[lane].closed++;
    w->groups->writes[lane].closed++;
  }
}

// A thread that waits until its boxes are written has waited until they were read.
void bulk_wait(Machine *m, Warp *w, const Code *code, bool until_read) {
  int kept = 0;
  OrderGroups *groups = until_read ? w->groups->reads : w->groups->writes;
  EACH_LANE(lane, w->active) {
    order_groups_wait(&groups[lane], (uint32_t)code->stmt->op.groups);
    if (!until_read) order_groups_wait(&w->groups->reads[lane], (uint32_t)code->stmt->op.groups);
  }
  for (int i = 0; i < w->n_stores; i++) {
    BulkStore *store = &w->store[i];
    bool mine = w->active >> store->lane & 1;
    bool over = mine && order_group_is_over(&groups[store->lane], store->group);
    if (over && !store->is_read) be_read(m, w, store);
    if (over && !until_read) {
      be_written(m, w, store);
      continue;
    }
    if (kept != i) w->store[kept] = *store;
    kept++;
  }
  w->n_stores = kept;
}

void bulk_end(Machine *m, Warp *w) {
  for (int i = 0; i < w->n_stores; i++) {
    BulkStore *store = &w->store[i];
    const Code *code = code_of(m, store);
    if (!store->is_read)
      interp_report(m, FINDING_ABANDONED_COPY, w, (int)store->lane, code->stmt, code->src.buffer,
                    store->first, "ends without a wait until its box has been read");
    if (m->async == INTERP_EARLY) continue;
    if (!store->is_read) take(m, store);
    put(m, store);
  }
  w->n_stores = 0;
}

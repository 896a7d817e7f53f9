// mbarriers, boxes of TMA that come and boxes that leave for C; see cuda_on_cpu.h.
#pragma once
#include "cuda_on_cpu_fiber.h"

// ---- mbarriers and TMA --------------------------------------------------------------------------

#define __grid_constant__
#define __constant__ static
#define __cluster_dims__(...)

// A matrix, columns running fastest, or `matrices` of them one behind the other, and the box that
// is copied of it at a time.
struct tensor_map {
  const void *base;
  long long columns, rows, matrices;
  int box_columns, box_rows;
  int swizzle;  // chunk bits that are xored with the line's: 0 … 3
};

struct Box {
  char *to;
  const tensor_map *map;
  int column, row, matrix, element_bytes;
  Mbarrier *bar;
};
enum { BOXES_MAX = 4096 };
static Box boxes[BOXES_MAX];
static int n_boxes;

static Mbarrier *mbarrier(unsigned long long *bars, int i) { return (Mbarrier *)(bars + i); }

static void end_phase(Mbarrier *bar) {
  if (bar->pending < 0) fail("one arrival too many");
  if (bar->pending > 0 || bar->bytes != 0) return;
  bar->phase = ~bar->phase;
  bar->pending = bar->expected;
}

static bool has_ended(const Mbarrier *bar, int phase) { return (bar->phase & 1) != phase; }

static void mbarrier_init(unsigned long long *bars, int i, int arrivals) {
  *mbarrier(bars, i) = Mbarrier{(short)arrivals, (short)arrivals, 0, 0};
}

static void fence_mbarrier_init() {}

static void mbarrier_expect(unsigned long long *bars, int i, int bytes) {
  Mbarrier *bar = mbarrier(bars, i);
  bar->bytes += bytes;
  bar->pending--;
  end_phase(bar);
}

static void mbarrier_wait(unsigned long long *bars, int i, int phase) {
  while (!has_ended(mbarrier(bars, i), phase)) {
    running->bar = mbarrier(bars, i);
    running->phase = phase;
    give_up_control(AT_MBARRIER);
  }
}

template <class T>
void tma_load(T *slab, int at, const tensor_map *map, int column, int row, int matrix,
              unsigned long long *bars, int i) {
  aligned(slab + at, 128);
  if (n_boxes == BOXES_MAX) fail("too many boxes in flight");
  boxes[n_boxes++] =
      Box{(char *)(slab + at), map, column, row, matrix, (int)sizeof(T), mbarrier(bars, i)};
}
template <class T>
void tma_load(T *slab, int at, const tensor_map *map, int column, int row, unsigned long long *bars,
              int i) {
  tma_load(slab, at, map, column, row, 0, bars, i);
}

// The same box for each block in the mask, where it counts at that block's mbarrier.
template <class T>
void tma_multicast(T *slab, int at, const tensor_map *map, int column, int row,
                   unsigned long long *bars, int i, int mask) {
  for (int rank = 0; mask >> rank; rank++)
    if (mask >> rank & 1)
      tma_load((T *)in_block(rank, slab), at, map, column, row,
               (unsigned long long *)in_block(rank, bars), i);
}

// PTX ISA, tensors: bits [4, 4 + swizzle) of the address are xored with bits [7, 7 + swizzle).
static void land(const Box *box) {
  const tensor_map *map = box->map;
  int bytes = box->element_bytes, at = 0;
  for (int r = 0; r < map->box_rows; r++)
    for (int c = 0; c < map->box_columns; c++, at += bytes) {
      long long row = box->row + r, column = box->column + c;
      bool inside = row >= 0 && row < map->rows && column >= 0 && column < map->columns;
      if (map->matrices && box->matrix >= map->matrices) inside = false;
      uintptr_t to = (uintptr_t)box->to + (uintptr_t)at;
      to ^= (to >> 7 & ((1u << map->swizzle) - 1)) << 4;
      const long long from = (box->matrix * map->rows + row) * map->columns + column;
      move((void *)to, (const char *)map->base + from * bytes, bytes, inside);
    }
  box->bar->bytes -= at;
  end_phase(box->bar);
}

static bool land_one(bool falling) {
  if (n_boxes == 0) return false;
  int which = falling ? 0 : n_boxes - 1;
  Box box = boxes[which];
  boxes[which] = boxes[--n_boxes];
  land(&box);
  return true;
}

static void fence_async() {}

// ---- boxes bound for C --------------------------------------------------------------------------

template <class T>
void put_cell(void *to, const void *from) {
  *(T *)to = *(const T *)from;
}
template <class T>
void add_cell(void *to, const void *from) {
  *(T *)to = from_number<T>((int)(to_float(*(T *)to) + to_float(*(const T *)from)));
}

template <class T>
void send(const tensor_map *map, int column, int row, T *slab, int at,
          void (*put)(void *, const void *)) {
  aligned(slab + at, 128);
  if (running->n_sent == SENT_MAX) fail("too many boxes on their way to C");
  running->sent[running->n_sent++] = Sent{
      (const char *)(slab + at), map, column, row, (int)sizeof(T), running->n_bulk_groups, put};
}
template <class T>
void tma_store(const tensor_map *map, int column, int row, T *slab, int at) {
  send(map, column, row, slab, at, put_cell<T>);
}
template <class T>
void tma_add(const tensor_map *map, int column, int row, T *slab, int at) {
  send(map, column, row, slab, at, add_cell<T>);
}
static void bulk_commit() { running->n_bulk_groups++; }

// The rows' chunks lie as land() puts them.
static void leave(const Sent *box) {
  const tensor_map *map = box->map;
  int bytes = box->element_bytes, at = 0;
  for (int r = 0; r < map->box_rows; r++)
    for (int c = 0; c < map->box_columns; c++, at += bytes) {
      long long row = box->row + r, column = box->column + c;
      if (row < 0 || row >= map->rows || column < 0 || column >= map->columns) continue;
      uintptr_t from = (uintptr_t)box->from + (uintptr_t)at;
      from ^= (from >> 7 & ((1u << map->swizzle) - 1)) << 4;
      box->put((char *)map->base + (row * map->columns + column) * bytes, (const void *)from);
    }
}

static void bulk_leave(int left) {
  int kept = 0;
  for (int i = 0; i < running->n_sent; i++) {
    const Sent box = running->sent[i];
    if (box.group < running->n_bulk_groups - left)
      leave(&box);
    else
      running->sent[kept++] = box;
  }
  running->n_sent = kept;
}
template <int n>
void bulk_read() {
  bulk_leave(n);
}
template <int n>
void bulk_wait() {
  bulk_leave(n);
}

enum { BLOCK_BARRIERS = 16 };

template <int n>
void barrier_of(int id) {
  if (id < 0 || id >= BLOCK_BARRIERS) fail("a block has barriers 0 to 15");
  running->n_meet = n;
  running->barrier = id;
  give_up_control(AT_BARRIER_OF_SOME);
}

// Arrivals that went on, by block of the cluster and barrier. A warp that waits consumes them.
enum { RANKS = 16 };
static int passed[RANKS][BLOCK_BARRIERS];

template <int n>
void barrier_arrive(int id) {
  if (id < 0 || id >= BLOCK_BARRIERS) fail("a block has barriers 0 to 15");
  if (++passed[blockIdx.x % RANKS][id] > n) fail("more arrive at a barrier than it awaits");
}

template <int n>
void registers_give() {}
template <int n>
void registers_take() {}

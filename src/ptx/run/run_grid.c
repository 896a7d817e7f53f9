// A cooperative launch: all blocks of the grid are at work at the same time, each in a machine of
// its own, on one global memory. The machines take turns, so that a block that waits for others
// lets them come.
//
// Blocks of any other launch run one after the other, as long as none waits for one that comes
// later: locks and semaphores of stream-K and split-K kernels do. A block that asks global memory
// without success stands aside, the next one gets a machine beside it, and it goes on when that one
// is over.
//
// Requires: nothing has run yet. Findings of all blocks are kept by the machine that was asked.
//
//   grid 3, watched 1: this machine has block 1, two beside it have blocks 0 and 2
//   grid 3, block 0 waits for 1: 0 stands aside, 1 runs in a second machine, 0 ends, 2 runs
#include <string.h>

#include "ptx/run/run.h"

typedef struct Part {
  PtxMachine *machine;
  int rounds;
  bool over;
} Part;

typedef struct Grid {
  Part *part;
  int n;
  int64_t given;  // lane instructions that all may have
} Grid;

// The first block of the cluster of that number, counted with x first.
static void first_block(const PtxMachine *m, int number, int block[3]) {
  for (int d = 0; d < 3; d++) {
    const int clusters = m->launch.grid[d] / m->cluster[d];
    block[d] = number % clusters * m->cluster[d];
    number /= clusters;
  }
}

static bool has_block(const PtxMachine *m, const int first[3], const int block[3]) {
  for (int d = 0; d < 3; d++)
    if (block[d] / m->cluster[d] * m->cluster[d] != first[d]) return false;
  return true;
}

static PtxMachine *make_beside(PtxMachine *m, bool told) {
  PtxMachine *beside = ptx_machine_beside(m);
  if (!beside) return NULL;
  beside->watched = -1;
  beside->sink = told ? m->sink : NULL;
  if (told) beside->executions = m->executions;
  beside->unknown_why = m->unknown_why;
  return beside;
}

static bool make_grid(PtxMachine *m, const int watched[3], Grid *grid) {
  const int *cluster = m->cluster, *blocks = m->launch.grid;
  const int own[3] = {0, 0, 0}, *mine = watched ? watched : own;
  grid->n = blocks[0] / cluster[0] * (blocks[1] / cluster[1]) * (blocks[2] / cluster[2]);
  grid->part = ARENA_ARRAY(m->arena, Part, grid->n);
  grid->given = m->budget;
  m->watched = watched ? ptx_rank_of(m, watched) : -1;
  for (int n = 0; n < grid->n; n++) {
    int first[3];
    first_block(m, n, first);
    PtxMachine *machine = has_block(m, first, mine) ? m : make_beside(m, !watched);
    if (!machine) return false;
    grid->part[n].machine = machine;
    ptx_start_cluster(machine, first);
  }
  return true;
}

// One turn of one cluster. What all have used up counts against the budget of each.
static PtxOutcome turn(Grid *grid, Part *part, int64_t *executed) {
  PtxOutcome outcome = PTX_DONE;
  PtxMachine *m = part->machine;
  const int64_t before = m->executed;
  if (grid->given > 0) m->budget = before + grid->given - *executed;
  part->over = ptx_turn(m, &part->rounds, &outcome);
  *executed += m->executed - before;
  return part->over ? outcome : PTX_DONE;
}

PtxOutcome ptx_machine_run_grid(PtxMachine *m, const int watched[3]) {
  Grid grid;
  if (!make_grid(m, watched, &grid)) return PTX_STOPPED;
  int64_t executed = 0;
  PtxOutcome outcome = PTX_DONE;
  for (int left = grid.n; left > 0 && outcome == PTX_DONE;) {
    left = 0;
    for (int n = 0; n < grid.n && outcome == PTX_DONE; n++) {
      if (!grid.part[n].over) outcome = turn(&grid, &grid.part[n], &executed);
      left += !grid.part[n].over;
    }
  }
  m->executed = executed;
  return outcome;
}

// ---- one after the other ------------------------------------------------------------------------

enum { ASKED_IN_VAIN = 64 };  // rounds in which no warp did anything else

typedef struct Queue {
  PtxMachine *m;
  Part *aside;
  int n_aside;
  PtxMachine **spare;
  int n_spare;
  Grid grid;
  int64_t executed;
} Queue;

static Queue *make_queue(PtxMachine *m, int n) {
  Queue *q = ARENA_NEW(m->arena, Queue);
  q->m = m;
  q->aside = ARENA_ARRAY(m->arena, Part, n);
  q->spare = ARENA_ARRAY(m->arena, PtxMachine *, n);
  q->grid.given = m->budget;
  return q;
}

// Until it is over, or waits for others.
static PtxOutcome go_on(Queue *q, Part *part) {
  PtxOutcome outcome = PTX_DONE;
  part->machine->asking = 0;
  while (outcome == PTX_DONE && !part->over && part->machine->asking < ASKED_IN_VAIN)
    outcome = turn(&q->grid, part, &q->executed);
  return outcome;
}

// Those that stand aside go on, each as far as it comes.
static PtxOutcome go_on_aside(Queue *q) {
  PtxOutcome outcome = PTX_DONE;
  int left = 0;
  for (int i = 0; i < q->n_aside; i++) {
    Part *part = &q->aside[i];
    if (outcome == PTX_DONE) outcome = go_on(q, part);
    if (part->over && part->machine != q->m)
      q->spare[q->n_spare++] = part->machine;
    else if (!part->over)
      q->aside[left++] = *part;
  }
  q->n_aside = left;
  return outcome;
}

static PtxOutcome run_next(Queue *q, PtxMachine *machine, const int first[3], bool *over) {
  Part part = {.machine = machine};
  ptx_start_cluster(machine, first);
  const PtxOutcome outcome = go_on(q, &part);
  *over = part.over;
  if (!part.over) q->aside[q->n_aside++] = part;
  return outcome;
}

static PtxMachine *spare_machine(Queue *q) {
  return q->n_spare ? q->spare[--q->n_spare] : make_beside(q->m, q->m->watched < 0);
}

static int count_clusters(const PtxMachine *m) {
  int n = 1;
  for (int d = 0; d < 3; d++) n *= m->launch.grid[d] / m->cluster[d];
  return n;
}

static bool still_waits(const Queue *q) {
  for (int i = 0; i < q->n_aside; i++)
    if (q->aside[i].machine == q->m) return true;
  return false;
}

PtxOutcome ptx_machine_run_waiting(PtxMachine *m, const int block[3]) {
  int first[3], other[3];
  bool over;
  const int n = count_clusters(m);
  for (int d = 0; d < 3; d++) first[d] = block[d] / m->cluster[d] * m->cluster[d];
  Queue *q = make_queue(m, n);
  m->watched = ptx_rank_of(m, block);
  PtxOutcome outcome = run_next(q, m, first, &over);
  for (int k = 0; k < n && !over && outcome == PTX_DONE && still_waits(q); k++) {
    first_block(m, k, other);
    if (memcmp(first, other, sizeof first) == 0) continue;
    PtxMachine *beside = spare_machine(q);
    bool ended = false;
    if (!beside) return PTX_STOPPED;
    outcome = run_next(q, beside, other, &ended);
    if (ended) q->spare[q->n_spare++] = beside;
    if (outcome == PTX_DONE) outcome = go_on_aside(q);
  }
  while (outcome == PTX_DONE && still_waits(q)) outcome = go_on_aside(q);
  m->executed = q->executed;
  return outcome;
}

PtxOutcome ptx_machine_run_all(PtxMachine *m, bool (*ends)(void *self), void *self) {
  const int n = count_clusters(m);
  Queue *q = make_queue(m, n);
  PtxOutcome outcome = PTX_DONE;
  PtxMachine *machine = m;
  m->watched = -1;
  for (int k = 0; k < n && outcome == PTX_DONE; k++) {
    int first[3];
    bool over = false;
    if (ends(self)) outcome = PTX_BUDGET;
    if (!machine) machine = spare_machine(q);
    if (!machine) return PTX_STOPPED;
    first_block(m, k, first);
    if (outcome == PTX_DONE) outcome = run_next(q, machine, first, &over);
    if (!over) machine = NULL;
    if (outcome == PTX_DONE) outcome = go_on_aside(q);
  }
  while (outcome == PTX_DONE && q->n_aside) outcome = go_on_aside(q);
  m->executed = q->executed;
  return outcome;
}

// A cooperative launch: all blocks of the grid are at work at the same time, each in a machine of
// its own, on one global memory. The machines take turns, so that a block that waits for others
// lets them come.
//
// Requires: nothing has run yet. Findings of all blocks are kept by the machine that was asked.
//
//   grid 3, watched 1: this machine has block 1, two beside it have blocks 0 and 2
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

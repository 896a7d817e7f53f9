// Tells what must stand in front of or behind what in a kernel whose warps have roles.
//
// Worked example, the row "waits until the slab is there": where a product stands in the role that
// multiplies, the nearest wait for full in front of it is asked for, in the same role. There is
// one: ok, and the line is at it. There is none in front: wrong, if one stands elsewhere, else
// missing.
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/readings/rules/skeleton_checks.h"

typedef enum Needs { ALWAYS, IF_ROLES, IF_LISTS, IF_ROWS_READ } Needs;

typedef struct What {
  OpKind kind;  // OP_COUNT: whatever multiplies
  BufferRole dst;
  RoleWork work;
} What;

// Where `then` is there `need` is asked: in front of its last or behind it; `from`, where it is
// given, is what it stands behind. From here on roles are those of a kernel that has any.
static const struct {
  SkeletonPart part;
  const char *asked;
  What need, then;
  bool behind;  // or behind its first, where rows are read a slab ahead, or products overlap
  OpKind from;  // OP_COUNT: nothing
  Needs needs;
} ordered[] = {
    {SKELETON_FETCH,
     "waits until the slot has been read",
     {OP_MBAR_WAIT, ROLE_EMPTY, WORK_FETCHES},
     {OP_TMA_LOAD, ROLE_COUNT, WORK_FETCHES},
     false,
     OP_COUNT,
     IF_ROLES},
    {SKELETON_FETCH,
     "fence.proxy.async between that wait and the boxes, as threads read the slab",
     {OP_FENCE_ASYNC, ROLE_COUNT, WORK_FETCHES},
     {OP_TMA_LOAD, ROLE_COUNT, WORK_FETCHES},
     false,
     OP_MBAR_WAIT,
     IF_ROWS_READ},
    {SKELETON_FETCH,
     "expects the bytes, before the boxes",
     {OP_MBAR_EXPECT, ROLE_FULL, WORK_FETCHES},
     {OP_TMA_LOAD, ROLE_COUNT, WORK_FETCHES},
     false,
     OP_COUNT,
     IF_ROLES},
    {SKELETON_MULTIPLY,
     "waits until the sums of the tile before have been read",
     {OP_MBAR_WAIT, ROLE_ACC_EMPTY, WORK_MULTIPLIES},
     {OP_T_MMA, ROLE_COUNT, WORK_MULTIPLIES},
     false,
     OP_COUNT,
     IF_LISTS},
    {SKELETON_MULTIPLY,
     "tcgen05.fence::after_thread_sync after that wait",
     {OP_T_AFTER, ROLE_COUNT, WORK_MULTIPLIES},
     {OP_T_MMA, ROLE_COUNT, WORK_MULTIPLIES},
     false,
     OP_MBAR_WAIT,
     IF_LISTS},
    {SKELETON_MULTIPLY,
     "waits until the slab is there",
     {OP_MBAR_WAIT, ROLE_FULL, WORK_MULTIPLIES},
     {OP_COUNT, ROLE_COUNT, WORK_MULTIPLIES},
     false,
     OP_COUNT,
     IF_ROLES},
    {SKELETON_MULTIPLY,
     "wgmma.fence before the products",
     {OP_WG_FENCE, ROLE_COUNT, WORK_COUNT},
     {OP_WGMMA, ROLE_COUNT, WORK_COUNT},
     false,
     OP_COUNT,
     ALWAYS},
    {SKELETON_MULTIPLY,
     "wgmma.commit after them",
     {OP_WG_COMMIT, ROLE_COUNT, WORK_COUNT},
     {OP_WGMMA, ROLE_COUNT, WORK_COUNT},
     true,
     OP_COUNT,
     ALWAYS},
    {SKELETON_MULTIPLY,
     "wgmma.wait after that",
     {OP_WG_WAIT, ROLE_COUNT, WORK_COUNT},
     {OP_WGMMA, ROLE_COUNT, WORK_COUNT},
     true,
     OP_WG_COMMIT,
     ALWAYS},
    {SKELETON_MULTIPLY,
     "commits to empty: the slot has been read",
     {OP_T_COMMIT, ROLE_EMPTY, WORK_MULTIPLIES},
     {OP_T_MMA, ROLE_COUNT, WORK_MULTIPLIES},
     true,
     OP_COUNT,
     IF_ROLES},
    {SKELETON_MULTIPLY,
     "arrives at empty after the wait for the products that read the slot",
     {OP_MBAR_ARRIVE, ROLE_EMPTY, WORK_MULTIPLIES},
     {OP_WGMMA, ROLE_COUNT, WORK_MULTIPLIES},
     true,
     OP_WG_WAIT,
     IF_ROLES},
    {SKELETON_MULTIPLY,
     "arrives at empty: the slot has been read",
     {OP_MBAR_ARRIVE, ROLE_EMPTY, WORK_MULTIPLIES},
     {OP_LDMATRIX, ROLE_COUNT, WORK_MULTIPLIES},
     true,
     OP_COUNT,
     IF_ROLES},
    {SKELETON_MULTIPLY,
     "commits to acc_full after the last product: the sums are complete",
     {OP_T_COMMIT, ROLE_ACC_FULL, WORK_COUNT},
     {OP_T_MMA, ROLE_COUNT, WORK_COUNT},
     true,
     OP_COUNT,
     ALWAYS},
    {SKELETON_WRITE,
     "waits until the sums are complete",
     {OP_MBAR_WAIT, ROLE_ACC_FULL, WORK_COUNT},
     {OP_T_LD, ROLE_COUNT, WORK_COUNT},
     false,
     OP_COUNT,
     ALWAYS},
    {SKELETON_WRITE,
     "tcgen05.fence::after_thread_sync after that wait",
     {OP_T_AFTER, ROLE_COUNT, WORK_COUNT},
     {OP_T_LD, ROLE_COUNT, WORK_COUNT},
     false,
     OP_MBAR_WAIT,
     ALWAYS},
    {SKELETON_WRITE,
     "tcgen05.wait::ld after tcgen05.ld: tensor memory has been read",
     {OP_T_WAIT_LD, ROLE_COUNT, WORK_COUNT},
     {OP_T_LD, ROLE_COUNT, WORK_COUNT},
     true,
     OP_COUNT,
     ALWAYS},
    {SKELETON_WRITE,
     "tcgen05.fence::before_thread_sync after that wait",
     {OP_T_BEFORE, ROLE_COUNT, WORK_COUNT},
     {OP_T_LD, ROLE_COUNT, WORK_COUNT},
     true,
     OP_T_WAIT_LD,
     IF_LISTS},
    {SKELETON_WRITE,
     "arrives at acc_empty after that wait: the sums have been read",
     {OP_MBAR_ARRIVE, ROLE_ACC_EMPTY, WORK_WRITES},
     {OP_T_LD, ROLE_COUNT, WORK_WRITES},
     true,
     OP_T_WAIT_LD,
     IF_ROLES},
    {SKELETON_WRITE,
     "waits until the piece before has been read, before the next one",
     {OP_BULK_READ, ROLE_COUNT, WORK_COUNT},
     {OP_TMA_STORE, ROLE_COUNT, WORK_COUNT},
     false,
     OP_COUNT,
     ALWAYS},
    {SKELETON_WRITE,
     "fence.proxy.async between the piece and its box",
     {OP_FENCE_ASYNC, ROLE_COUNT, WORK_COUNT},
     {OP_TMA_STORE, ROLE_COUNT, WORK_COUNT},
     false,
     OP_BULK_READ,
     ALWAYS},
    {SKELETON_WRITE,
     "cp.async.bulk.commit_group after the box",
     {OP_BULK_COMMIT, ROLE_COUNT, WORK_COUNT},
     {OP_TMA_STORE, ROLE_COUNT, WORK_COUNT},
     true,
     OP_COUNT,
     ALWAYS},
    {SKELETON_WRITE,
     "cp.async.bulk.wait_group: no box is left at the end",
     {OP_BULK_WAIT, ROLE_COUNT, WORK_COUNT},
     {OP_TMA_STORE, ROLE_COUNT, WORK_COUNT},
     true,
     OP_COUNT,
     ALWAYS},
};
const int skeleton_n_orders = sizeof ordered / sizeof *ordered;

SkeletonPart skeleton_order_part(int row) { return ordered[row].part; }

static bool reads_rows(const SkeletonFacts *facts) {
  for (int i = 0; i < facts->n; i++) {
    const Op *op = &facts->stmt[i].stmt->op;
    const Buffer *from = op->src.buffer;
    const bool slab = from && (from->role == ROLE_SLAB_A || from->role == ROLE_SLAB_B);
    if (slab && op_facts(op->kind)->proxy == PROXY_GENERIC) return true;
  }
  return false;
}

static bool is_needed(const SkeletonFacts *facts, Needs needs) {
  if (needs == IF_ROLES) return skeleton_has_roles(facts);
  if (needs == IF_LISTS) return skeleton_has_roles(facts) && facts->launch.tiles;
  return needs == ALWAYS || (skeleton_has_roles(facts) && reads_rows(facts));
}

static const StmtFacts *find_what(const SkeletonFacts *facts, const What *what, bool last) {
  return last ? skeleton_find_last(facts, what->kind, what->dst, what->work)
              : skeleton_find(facts, what->kind, what->dst, what->work, 0);
}

// The nearest of those that stand in front is asked for, with `from` in front of it.
static const StmtFacts *in_front(const SkeletonFacts *facts, const What *what, int place,
                                 OpKind from) {
  const StmtFacts *nearest = NULL, *at = find_what(facts, what, false);
  for (; at && at->place < place;
       at = skeleton_find(facts, what->kind, what->dst, what->work, at->place))
    nearest = at;
  if (!nearest || from == OP_COUNT) return nearest;
  const StmtFacts *first = skeleton_find(facts, from, ROLE_COUNT, what->work, 0);
  return first && first->place < nearest->place ? nearest : NULL;
}

static const StmtFacts *behind_last(const SkeletonFacts *facts, const What *what, int place,
                                    OpKind from) {
  if (from != OP_COUNT) {
    const StmtFacts *at = skeleton_find(facts, from, ROLE_COUNT, what->work, place);
    if (!at) return NULL;
    place = at->place;
  }
  return skeleton_find(facts, what->kind, what->dst, what->work, place);
}

bool skeleton_check_order(const Asked *a, int row) {
  const SkeletonFacts *f = a->facts;
  a->line->asked = ordered[row].asked;
  const What *need = &ordered[row].need;
  if (!is_needed(f, ordered[row].needs)) return false;
  const bool behind = ordered[row].behind;
  const bool ahead =
      behind && (op_moves_rows(ordered[row].then.kind) || f->program->n_products > 1);
  const StmtFacts *then = find_what(f, &ordered[row].then, !ahead);
  if (!then) return false;
  const StmtFacts *found = behind ? behind_last(f, need, then->place, ordered[row].from)
                                  : in_front(f, need, then->place, ordered[row].from);
  const StmtFacts *elsewhere = find_what(f, need, false);
  if (behind && elsewhere && ordered[row].from != OP_COUNT) {  // nor may the first be too early
    const StmtFacts *from = skeleton_find(f, ordered[row].from, ROLE_COUNT, need->work, 0);
    if (from && elsewhere->place < from->place) found = NULL;
  }
  if (found)
    skeleton_ok(a, found->stmt);
  else if (elsewhere)
    skeleton_wrong(a, elsewhere->stmt, behind ? "it is too early" : "it is missing there");
  else
    skeleton_missing(a, then->stmt);
  return true;
}

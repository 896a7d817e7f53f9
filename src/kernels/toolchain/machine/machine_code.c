// SASS → how often a warp executes each width of each shared-memory access, per slab.
//
// An instruction belongs to the statement whose line it comes from; its opcode says the width. How
// often it runs follows from the loops it stands in, which are the jumps backwards: the outermost
// one that has accesses goes from slab to slab, and those inside it go over k_i, as far as they are
// not unrolled. Their trips are not read from the code but from what has to be moved: all accesses
// of a slab together move the bytes that the program says. A copy of the loop in front of it (the
// first slab, peeled off) is left out where the loop itself has the statement.
//
// Worked example, b <- B_s, 16 k-steps of 4 floats, 256 bytes a lane and slab. The code has one
// LDS.128 in front of the inner loop and twenty LDS inside: 16 + T · 80 = 256, T = 3, so a warp
// executes 1 LDS.128 and 60 LDS.
//
// Reads of one slab are taken together, since the assembler merges across statements and names one
// of them; so are all of an inner loop when its trips are reckoned. It may fetch a word too many
// (three neighbours by an LDS.128), never one too few: where a slab comes out short, lines were
// mixed up, and only what is exact is believed.
#include "kernels/toolchain/machine/machine_code.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

enum { LOOPS_MAX = 64, ACCESSES_MAX = 64, TRIPS_MAX = 4096 };

typedef struct Loop {
  int first, last;  // indices of its lines
  int outermost;    // the loop of the slabs around it, or itself
} Loop;

typedef enum Region { NOT_IN_LOOP, PER_SLAB, INNER } Region;

enum { POOL_SITES_MAX = 8, WIDTHS = 5 };  // 1, 2, 4, 8 and 16 bytes

// The instructions of all statements that read, or write, one slab.
typedef struct Pool {
  const Buffer *slab;
  bool is_store;
  const Site *site[POOL_SITES_MAX];
  int n_sites;
  int count[3][WIDTHS];  // by region and width
  int inner[LOOPS_MAX];  // the inner loops that they stand in
  int n_inner;
  double bytes;  // of a lane, per slab
} Pool;

typedef struct Reader {
  const SassResult *sass;
  const Emission *emission;
  const char *kernel;
  Loop loop[LOOPS_MAX];
  int n_loops;
  Pool *pool;
  int n_pools;
} Reader;

// ---- loops --------------------------------------------------------------------------------------

static int find_label(const SassResult *sass, const char *kernel, const char *text) {
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *line = &sass->lines[i];
    size_t n = strlen(line->text);
    if (line->opcode || !str_equal(line->kernel, kernel)) continue;
    const char *at = strstr(text, line->text);
    if (at && (at[n] == ')' || at[n] == 0)) return i;
  }
  return -1;
}

static void find_loops(Reader *reader) {
  const SassResult *sass = reader->sass;
  for (int i = 0; i < sass->n_lines && reader->n_loops < LOOPS_MAX; i++) {
    const SassLine *line = &sass->lines[i];
    if (!line->opcode || !str_starts(line->opcode, "BRA")) continue;
    if (!str_equal(line->kernel, reader->kernel)) continue;
    int to = find_label(sass, reader->kernel, line->text);
    if (to >= 0 && to < i) reader->loop[reader->n_loops++] = (Loop){to, i, 0};
  }
}

static bool holds(const Loop *loop, int line) { return loop->first <= line && line <= loop->last; }

// The innermost or the outermost loop around a line; -1: none. Loops that a jump from their end to
// an earlier label of the same head makes twice are one: the longest is taken.
static int loop_around(const Reader *reader, int line, bool innermost) {
  int best = -1;
  for (int i = 0; i < reader->n_loops; i++) {
    const Loop *loop = &reader->loop[i];
    if (!holds(loop, line)) continue;
    int length = loop->last - loop->first;
    int held = best < 0 ? 0 : reader->loop[best].last - reader->loop[best].first;
    if (best < 0 || (innermost ? length < held : length > held)) best = i;
  }
  return best;
}

// ---- instructions -------------------------------------------------------------------------------

static bool ends_in(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && str_equal(text + n - m, end);
}

// Bytes of "LDS.U.128" or "STS.U8"; 0: it is something else.
static int bytes_of(const char *opcode, bool *is_store) {
  static const struct {
    const char *mark;
    int bytes;
  } widths[] = {{".128", 16}, {".64", 8}, {"8", 1}, {"16", 2}};
  *is_store = str_starts(opcode, "STS");
  if (!*is_store && !str_starts(opcode, "LDS")) return 0;
  if (opcode[3] != 0 && opcode[3] != '.') return 0;  // LDSM
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    if (ends_in(opcode, widths[i].mark)) return widths[i].bytes;
  return 4;
}

static Pool *find_pool(Reader *reader, const Buffer *slab, bool is_store) {
  for (int i = 0; i < reader->n_pools; i++)
    if (reader->pool[i].slab == slab && reader->pool[i].is_store == is_store)
      return &reader->pool[i];
  return NULL;
}

static void add_site(Reader *reader, const Site *site) {
  Pool *pool = find_pool(reader, site->slab, site->is_store);
  if (site->executions == 0) return;
  if (!pool) {
    pool = &reader->pool[reader->n_pools++];
    *pool = (Pool){.slab = site->slab, .is_store = site->is_store};
  }
  if (pool->n_sites < POOL_SITES_MAX) pool->site[pool->n_sites++] = site;
  pool->bytes += site->executions * site->as_written->op->bytes;
}

static bool is_of(const Pool *pool, const Stmt *stmt) {
  for (int i = 0; i < pool->n_sites; i++)
    if (pool->site[i]->stmt->id == stmt->id) return true;
  return false;
}

static Pool *pool_of(Reader *reader, const Stmt *stmt, bool is_store) {
  for (int i = 0; i < reader->n_pools; i++)
    if (reader->pool[i].is_store == is_store && is_of(&reader->pool[i], stmt))
      return &reader->pool[i];
  return NULL;
}

static int log2_of(int bytes) { return bytes <= 1 ? 0 : 1 + log2_of(bytes / 2); }

static void add_inner(Pool *pool, int loop) {
  for (int i = 0; i < pool->n_inner; i++)
    if (pool->inner[i] == loop) return;
  pool->inner[pool->n_inner++] = loop;
}

static void add_instruction(Reader *reader, int index) {
  const SassLine *line = &reader->sass->lines[index];
  bool is_store;
  int bytes = line->opcode ? bytes_of(line->opcode, &is_store) : 0;
  int at = line->cuda_line - 1;
  if (!bytes || at < 0 || at >= reader->emission->n_lines) return;
  const Stmt *stmt = reader->emission->lines[at].stmt;
  Pool *pool = stmt ? pool_of(reader, stmt, is_store) : NULL;
  if (!pool) return;
  int inner = loop_around(reader, index, true), outer = loop_around(reader, index, false);
  Region region = outer < 0 ? NOT_IN_LOOP : inner == outer ? PER_SLAB : INNER;
  pool->count[region][log2_of(bytes)]++;
  if (region == INNER) add_inner(pool, inner);
}

// ---- trips --------------------------------------------------------------------------------------

static double bytes_in(const Pool *pool, Region region) {
  double bytes = 0;
  for (int i = 0; i < WIDTHS; i++) bytes += pool->count[region][i] * (double)(1 << i);
  return bytes;
}

static Region region_of(const Pool *pool) {
  bool looped = bytes_in(pool, PER_SLAB) > 0 || bytes_in(pool, INNER) > 0;
  return looped ? PER_SLAB : NOT_IN_LOOP;
}

// Copies of the loop's body that the code has: its ring unrolled, or short enough to be unrolled
// whole.
static double copies(const Pool *pool) {
  double n =
      pool->n_inner ? pool->n_inner : floor(bytes_in(pool, region_of(pool)) / pool->bytes + 0.5);
  return n < 1 ? 1 : n;
}

static bool share_inner(const Pool *a, const Pool *b) {
  for (int i = 0; i < a->n_inner; i++)
    for (int k = 0; k < b->n_inner; k++)
      if (a->inner[i] == b->inner[k]) return true;
  return false;
}

// 0 where there is no inner loop, -1 where nothing fits.
static double trips(const Reader *reader, const Pool *pool) {
  double left = 0, each = 0;
  if (!pool->n_inner) return 0;
  for (int i = 0; i < reader->n_pools; i++) {
    const Pool *other = &reader->pool[i];
    if (!share_inner(pool, other)) continue;
    left += other->bytes * copies(other) - bytes_in(other, PER_SLAB);
    each += bytes_in(other, INNER);
  }
  double n = ceil(left / each - 0.01);
  return n >= 1 && n <= TRIPS_MAX ? n : -1;
}

// ---- verdicts -----------------------------------------------------------------------------------

typedef enum Verdict { EXACT, TOO_MUCH, SHORT } Verdict;

static double executed(const Reader *reader, const Pool *pool, int width) {
  double n = pool->count[region_of(pool)][width];
  if (pool->n_inner) n += trips(reader, pool) * pool->count[INNER][width];
  return n / copies(pool);
}

// A statement's code may stand there twice, for two ways to come by. Then the program's number of
// instructions is executed, if all of them have the width that it says.
static bool is_as_written(const Pool *pool) {
  for (int i = 0; i < WIDTHS; i++)
    for (int k = 0; k < pool->n_sites; k++)
      if (1 << i != pool->site[k]->as_written->op->bytes &&
          pool->count[region_of(pool)][i] + pool->count[INNER][i] > 0)
        return false;
  return true;
}

static Verdict judge(const Reader *reader, const Pool *pool) {
  double moved = 0;
  if (trips(reader, pool) < 0) return SHORT;
  for (int i = 0; i < WIDTHS; i++) moved += executed(reader, pool, i) * (double)(1 << i);
  if (moved < pool->bytes * 0.999 || moved > pool->bytes * 1.5) return SHORT;
  if (is_as_written(pool)) return EXACT;
  return moved > pool->bytes * 1.001 ? TOO_MUCH : EXACT;
}

static bool has_width(const Site *site, int bytes) {
  for (int i = 0; i < site->n_widths; i++)
    if (site->width[i].op->bytes == bytes) return true;
  return false;
}

static void add_accesses(const Reader *reader, const Pool *pool, MachineAccesses *out,
                         MachineAccess *access) {
  for (int k = 0; k < pool->n_sites; k++) {
    const Site *site = pool->site[k];
    double share = site->executions * site->as_written->op->bytes / pool->bytes;
    int first = out->n;
    if (is_as_written(pool)) {
      access[out->n++] = (MachineAccess){site->stmt->id, site->is_store,
                                         site->as_written->op->bytes, site->executions};
      continue;
    }
    for (int i = 0; i < WIDTHS && out->n < ACCESSES_MAX; i++) {
      double n = share * executed(reader, pool, i);
      if (n == 0) continue;
      access[out->n++] = (MachineAccess){site->stmt->id, site->is_store, 1 << i, n};
      if (!has_width(site, 1 << i)) out->n = first, i = WIDTHS;
    }
  }
}

const MachineAccesses *machine_accesses(Arena *arena, const SassResult *sass,
                                        const Emission *emission, const Model *model) {
  Reader reader = {.sass = sass,
                   .emission = emission,
                   .kernel = program_main(model->program)->name,
                   .pool = ARENA_ARRAY(arena, Pool, model->n_sites)};
  for (int i = 0; i < model->n_sites; i++) {
    const Op *op = &model->site[i].stmt->op;
    if (op_is_plain_access(op->kind)) add_site(&reader, model->site[i].written);
  }
  find_loops(&reader);
  for (int i = 0; i < sass->n_lines; i++)
    if (str_equal(sass->lines[i].kernel, reader.kernel)) add_instruction(&reader, i);
  bool any_short = false;
  for (int i = 0; i < reader.n_pools; i++) any_short |= judge(&reader, &reader.pool[i]) == SHORT;
  MachineAccess *access = ARENA_ARRAY(arena, MachineAccess, ACCESSES_MAX);
  MachineAccesses *out = ARENA_NEW(arena, MachineAccesses);
  out->access = access;
  for (int i = 0; i < reader.n_pools; i++) {
    Verdict verdict = judge(&reader, &reader.pool[i]);
    if (verdict == EXACT || (verdict == TOO_MUCH && !any_short))
      add_accesses(&reader, &reader.pool[i], out, access);
  }
  return out->n ? out : NULL;
}

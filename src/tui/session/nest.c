// Program → rows. One walk per kernel: the launch gives the hardware rows, then every statement
// becomes a row, a folded row, or nothing.
//
// Folding: a loop or a condition around a single operation is said by the operation's size, so
//   for i in 0..2 REGISTER                     a[8] <- A_s
//     a[i*4 .. 4] = load A_s[k_i, i*64 + …]
// and a load from global memory whose value a statement of the same body stores to shared memory is
// one copy with that store: "A_s <- A". Where other work stands between (a pipelined kernel) both
// are shown. Loops over k always stand for themselves. LETs are left to the full listing. Work of
// one thread needs no condition around it, and a role's row says its registers.
#include "tui/session/nest.h"

#include <string.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/launch.h"
#include "model/ir/notation/print_op.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

enum { NEST_ROWS_MAX = 256 };

static const struct {
  const char *name, *knobs;  // knobs: the headings of knob.def that stand here
} group_table[NEST_GROUP_COUNT] = {
    [NEST_KERNEL] = {"KERNEL", ""},        [NEST_BLOCK] = {"BLOCK", "BLOCK CLUSTER"},
    [NEST_WARP] = {"WARP", "WARP"},        [NEST_THREAD] = {"THREAD", "THREAD"},
    [NEST_REGISTER] = {"REG", "REGISTER"}, [NEST_ATOM] = {"ATOM", "ATOM"},
    [NEST_SERIAL] = {"SERIAL", "SERIAL"},  [NEST_STAGE] = {"STAGE", "STAGE"},
};

const char *nest_group_name(NestGroup group) { return group_table[group].name; }

NestGroup nest_group_of_knobs(const char *tier) {
  for (int i = 0; i < NEST_GROUP_COUNT; i++) {
    const char *at = strstr(group_table[i].knobs, tier);
    if (at && (at[strlen(tier)] == ' ' || at[strlen(tier)] == '\0')) return (NestGroup)i;
  }
  return NEST_GROUP_COUNT;
}

typedef struct Walk {
  Arena *arena;
  const Model *model;
  Nest *nest;
  int kernel;
  const char *arrow;     // " ← " or "<-"
  const char *at_most;   // "≤" or "<=": one character alone would say "<"
  const WarpRole *role;  // the role with these statements; NULL: every warp
  bool has_box;          // a row is the seat of the knob that made boxes
} Walk;

static NestRow *add_row(Walk *walk, NestGroup group, int depth, const char *text) {
  Nest *nest = walk->nest;
  if (nest->n_rows == NEST_ROWS_MAX) return &nest->row[NEST_ROWS_MAX - 1];
  NestRow *row = &nest->row[nest->n_rows++];
  *row = (NestRow){.group = group,
                   .depth = depth,
                   .text = text,
                   .kernel = walk->kernel,
                   .knob = KNOB_NONE,
                   .seat = KNOB_NONE};
  return row;
}

// ---- hardware tiers -----------------------------------------------------------------------------

static bool is_of_grid(const Var *var) {
  return var->tier == TIER_BLOCK || var->tier == TIER_CLUSTER;
}

// "128x128": what one block covers of C.
static const char *tile_text(Walk *walk) {
  int64_t tile[2];
  const Program *program = walk->model->program;
  for (int i = AXIS_M; i <= AXIS_N; i++) {
    const Axis *axis = &program->axis[i];
    tile[i] = axis->extent;
    for (int d = 0; d < axis->n_digits; d++)
      if (is_of_grid(axis->digit[d].var) && axis->digit[d].weight < tile[i])
        tile[i] = axis->digit[d].weight;
  }
  return arena_printf(walk->arena, "%lld×%lld", (long long)tile[0], (long long)tile[1]);
}

// Blocks that share a tile, each with a part of K.
static int64_t split_count(const Program *program) {
  const Axis *k = &program->axis[AXIS_K];
  int64_t count = 1;
  for (int d = 0; d < k->n_digits; d++)
    if (is_of_grid(k->digit[d].var)) count *= k->digit[d].var->extent;
  return count;
}

// "1024 tiles 128×128"; of a C of 128 × 128 with SPLITK=8, "16 tiles 32×32 × 8 splits".
static const char *blocks_text(Walk *walk, const Launch *launch) {
  const int64_t splits = split_count(walk->model->program);
  const char *tiles = arena_printf(walk->arena, "%lld tiles %s",
                                   (long long)(launch->n_blocks / splits), tile_text(walk));
  if (splits == 1) return tiles;
  return arena_printf(walk->arena, "%s × %lld splits", tiles, (long long)splits);
}

static const char *extents_text(Walk *walk, const HardwareDigit *digit, int n, Tier tier) {
  Str text = str_new(walk->arena);
  for (int i = 0; i < n; i++)
    if (digit[i].var->tier == tier)
      str_printf(&text, "%s%lld", text.length ? "×" : "", (long long)digit[i].var->extent);
  return text.length ? text.text : NULL;
}

static void add_launch(Walk *walk, const Launch *launch) {
  const Program *program = walk->model->program;
  const char *blocks = arena_printf(walk->arena, "%lld blocks", (long long)launch->n_blocks);
  if (walk->kernel == program->main_kernel && (launch->n_block_digits || launch->tiles))
    blocks = blocks_text(walk, launch);
  if (launch->n_block_digits || launch->tiles) add_row(walk, NEST_BLOCK, 0, blocks);
  const char *cluster = extents_text(walk, launch->block, launch->n_block_digits, TIER_CLUSTER);
  if (cluster) add_row(walk, NEST_BLOCK, 0, arena_printf(walk->arena, "clusters of %s", cluster));
  const char *warps = extents_text(walk, launch->thread, launch->n_thread_digits, TIER_WARP);
  const Atom *atom = program_atom(program);
  const char *units = atom && atom_warps(atom) > 1 ? "warpgroups" : "warps";
  if (warps) add_row(walk, NEST_WARP, 0, arena_printf(walk->arena, "%s %s", warps, units));
  const char *threads = extents_text(walk, launch->thread, launch->n_thread_digits, TIER_THREAD);
  if (threads) {
    const char *what = !warps                         ? "threads"
                       : atom && atom_warps(atom) > 1 ? "threads a warpgroup"
                                                      : "lanes a warp";
    NestRow *row = add_row(walk, NEST_THREAD, 0, arena_printf(walk->arena, "%s %s", threads, what));
    row->tight = arena_printf(walk->arena, "%s %.*s", threads, (int)strcspn(what, " "), what);
  }
}

// ---- folding ------------------------------------------------------------------------------------

static bool walks_k(const Stmt *stmt) {
  return stmt->kind == STMT_LOOP &&
         (stmt->var->tier == TIER_SERIAL_OUTER || stmt->var->tier == TIER_STAGE_INNER);
}

// The operations of a subtree, as far as folding needs to know.
typedef struct Fold {
  const Stmt *op;  // the first operation
  int64_t count;   // how often the loops around it repeat it
  int n;           // operations in all
  bool over_k;     // a loop over k is inside
} Fold;

static void fold_add(Fold *fold, const Stmt *list, int64_t count) {
  for (const Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (walks_k(stmt)) fold->over_k = true;
    if (stmt->kind == STMT_LOOP) fold_add(fold, stmt->body, count * stmt->var->extent);
    if (stmt->kind == STMT_IF) fold_add(fold, stmt->body, count);
    if (stmt->kind != STMT_OP) continue;
    if (fold->n++) continue;
    fold->op = stmt;
    fold->count = count;
  }
}

static Fold fold_of(const Stmt *stmt) {
  Fold fold = {.over_k = walks_k(stmt)};
  if (stmt->kind == STMT_OP) return (Fold){.op = stmt, .count = 1, .n = 1};
  fold_add(&fold, stmt->body, stmt->kind == STMT_LOOP ? stmt->var->extent : 1);
  return fold;
}

static bool in_space(const Access *access, Space space) {
  return access->buffer && access->buffer->space == space;
}

// ---- operations ---------------------------------------------------------------------------------

// The printer's pieces, its arrows and comparisons as this screen writes them.
static const char *spans_text(Walk *walk, const Spans *spans) {
  Str text = str_new(walk->arena);
  for (int i = 0; i < spans->n; i++) {
    const TextSpan *span = &spans->span[i];
    if (span->kind == SPAN_ARROW)
      str_add(&text, walk->arrow);
    else if (span->kind == SPAN_AT_MOST)
      str_add(&text, walk->at_most);
    else
      str_add_bytes(&text, spans->text.text + span->begin, (size_t)span->length);
  }
  return text.text;
}

static const char *brief_text(Walk *walk, const Op *op, int64_t count, bool roomy) {
  Spans spans = spans_new(walk->arena);
  op_print_brief(&spans, walk->model->program, op, count, roomy);
  return spans_text(walk, &spans);
}

// ---- statements ---------------------------------------------------------------------------------

static void add_list(Walk *walk, const Stmt *list, NestGroup group, int depth);

static bool is_of_group(const Stmt *stmt, OpAction action) {
  return stmt->kind == STMT_OP && op_facts(stmt->op.kind)->action == action &&
         op_facts(stmt->op.kind)->completes == COMPLETES_BY_GROUP;
}

// "commit" and the wait that follows it are one row.
static bool joins_commit(Walk *walk, const Stmt *stmt, NestRow *row) {
  NestRow *last = row - 1;
  if (!is_of_group(stmt, ACTION_WAIT) || walk->nest->n_rows < 2 || !last->stmt) return false;
  if (last->stmt->next != stmt || !is_of_group(last->stmt, ACTION_SIGNAL)) return false;
  last->text =
      arena_printf(walk->arena, "commit, wait %s %lld", walk->at_most, (long long)stmt->op.groups);
  return true;
}

// Equal neighbours (an unrolled or interleaved loop) are one row with a count.
static bool joins_previous(Walk *walk, const NestRow *row) {
  if (walk->nest->n_rows < 2 || row->site) return false;
  const NestRow *last = row - 1;
  return last->kernel == row->kernel && last->depth == row->depth && !last->site &&
         str_equal(last->text, row->text);
}

// The role that fetches, and the first box, are the rows of the knobs that made them.
static void take_seat(Walk *walk, NestRow *row) {
  if (stmt_is_role(row->stmt, WORK_FETCHES)) row->seat = row->stmt->knob;
  if (walk->has_box || row->stmt->kind != STMT_OP || !op_moves_box(row->stmt->op.kind)) return;
  walk->has_box = true;
  row->seat = row->stmt->knob;
}

static void add_operation(Walk *walk, const Stmt *stmt, int64_t count, NestGroup group, int depth) {
  if (op_multiplies(stmt->op.kind)) group = NEST_ATOM;
  NestRow *row = add_row(walk, group, depth, brief_text(walk, &stmt->op, count, false));
  const char *wide = brief_text(walk, &stmt->op, count, true);
  if (!str_equal(wide, row->text)) row->wide = wide;
  row->tight = brief_text(walk, &stmt->op, 0, false);
  row->stmt = stmt;
  row->knob = stmt->knob;
  row->site = model_site_number(walk->model, stmt);
  take_seat(walk, row);
  if (joins_previous(walk, row) || joins_commit(walk, stmt, row)) walk->nest->n_rows--;
}

static void add_loop(Walk *walk, const Stmt *stmt, NestGroup group, int depth) {
  if (stmt->var->tier == TIER_SERIAL_OUTER) group = NEST_SERIAL;
  if (stmt->var->tier == TIER_STAGE_INNER) group = NEST_STAGE;
  const char *text =
      arena_printf(walk->arena, "%s in 0..%lld", stmt->var->name, (long long)stmt->var->extent);
  NestRow *row = add_row(walk, group, depth, text);
  row->stmt = stmt;
  row->knob = stmt->knob;
  add_list(walk, stmt->body, group, depth + 1);
}

static void add_condition(Walk *walk, const Stmt *stmt, NestGroup group, int depth) {
  Str text = str_new(walk->arena);
  str_add(&text, "if ");
  expr_print(&text, stmt->expr);
  NestRow *row = add_row(walk, group, depth, text.text);
  row->stmt = stmt;
  row->knob = stmt->knob;
  add_list(walk, stmt->body, group, depth + 1);
}

// ---- mbarriers and roles ------------------------------------------------------------------------

// One thread does it for the others, or waits in front of what it does.
static bool is_by_one_thread(OpKind kind) {
  const OpFacts *op = op_facts(kind);
  bool waits = op->action == ACTION_WAIT && op_takes_mbarrier(kind);
  return op->scope == SCOPE_THREAD || op->action == ACTION_FENCE || waits;
}

static bool by_one_thread(const Stmt *list) {
  for (; list; list = list->next)
    if (list->kind == STMT_OP ? !is_by_one_thread(list->op.kind) : !by_one_thread(list->body))
      return false;
  return true;
}

static bool does(const Stmt *stmt, OpAction action) {
  return stmt->kind == STMT_OP && op_facts(stmt->op.kind)->action == action;
}

static bool inits_mbarrier(const Stmt *stmt) {
  return does(stmt, ACTION_SET) && op_takes_mbarrier(stmt->op.kind);
}

static bool inits_mbarriers(const Stmt *stmt) {
  if (stmt->kind == STMT_OP || !stmt->body) return inits_mbarrier(stmt);
  for (const Stmt *inner = stmt->body; inner; inner = inner->next)
    if (!inits_mbarriers(inner)) return false;
  return true;
}

// The initialisation of mbarriers and the barrier behind it stand together; `before`: the statement
// before this one is part of it.
static bool sets_up_mbarriers(const Stmt *stmt, bool before) {
  return inits_mbarriers(stmt) || (before && does(stmt, ACTION_MEET));
}

// A condition that has no row.
static bool is_unsaid(const Stmt *stmt) {
  bool is_plain = stmt->kind == STMT_IF && !stmt->role;
  return is_plain && !inits_mbarriers(stmt) && by_one_thread(stmt->body);
}

// "init full, empty"
static void list_mbarriers(Str *out, const Stmt *list, bool sizes) {
  for (; list; list = list->next) {
    if (list->body) list_mbarriers(out, list->body, sizes);
    if (!inits_mbarrier(list)) continue;
    const Buffer *bar = list->op.dst.buffer;
    str_printf(out, "%s%s", out->length > 4 ? ", " : " ", bar->name);
    if (sizes) str_printf(out, "[%lld]", (long long)bar->dim[0]);
  }
}

static void add_inits(Walk *walk, const Stmt *stmt, int depth) {
  Str text = str_new(walk->arena), wide = str_new(walk->arena);
  str_add(&text, "init");
  str_add(&wide, "init");
  list_mbarriers(&text, stmt->body, false);
  list_mbarriers(&wide, stmt->body, true);
  NestRow *row = add_row(walk, NEST_THREAD, depth, text.text);
  row->wide = wide.text;
  row->stmt = stmt;
  row->knob = stmt->knob;
}

// "role producer: 40 registers, one thread": a heading, so that what stands below it has as much
// room as in a kernel without roles.
static void add_role(Walk *walk, const Stmt *stmt, int depth) {
  const WarpRole *role = stmt->role;
  const bool fetches = role->work == WORK_FETCHES;
  const char *name = arena_printf(walk->arena, "role %s", role->name);
  NestRow *row = add_row(walk, NEST_WARP, depth, name);
  Str wide = str_new(walk->arena);
  str_printf(&wide, "%s%s", name, role->registers || fetches ? ":" : "");
  if (role->registers)
    str_printf(&wide, " %lld registers%s", (long long)role->registers, fetches ? "," : "");
  if (fetches) str_add(&wide, " one thread");
  row->wide = wide.text;
  row->stmt = stmt;
  row->knob = stmt->knob;
  take_seat(walk, row);
  walk->role = role;
  add_list(walk, stmt->body, NEST_REGISTER, depth);
  walk->role = NULL;
}

// "t += grid to 512": a heading like a role's, for each role has one.
static void add_tiles(Walk *walk, const Stmt *stmt, int depth) {
  NestRow *row = add_row(walk, NEST_BLOCK, depth,
                         arena_printf(walk->arena, "%s += grid to %lld", stmt->var->name,
                                      (long long)stmt->var->extent));
  row->stmt = stmt;
  row->knob = stmt->knob;
  add_list(walk, stmt->body, NEST_REGISTER, depth);
}

static void add_statement(Walk *walk, const Stmt *stmt, NestGroup group, int depth) {
  Fold fold = fold_of(stmt);
  if (stmt->kind == STMT_LET || fold.n == 0) return;
  if (does(stmt, ACTION_GIVE) || does(stmt, ACTION_TAKE)) return;
  if (stmt->kind == STMT_IF && inits_mbarriers(stmt))
    add_inits(walk, stmt, depth);
  else if (stmt->role)
    add_role(walk, stmt, depth);
  else if (stmt->kind == STMT_LOOP && stmt->var->tier == TIER_TILE)
    add_tiles(walk, stmt, depth);
  else if (is_unsaid(stmt))
    add_list(walk, stmt->body, group, depth);
  else if (fold.n == 1 && !fold.over_k)
    add_operation(walk, fold.op, fold.count, group, depth);
  else if (stmt->kind == STMT_LOOP && stmt->var->tier == TIER_REGISTER)
    add_list(walk, stmt->body, group, depth);
  else if (stmt->kind == STMT_LOOP)
    add_loop(walk, stmt, group, depth);
  else
    add_condition(walk, stmt, group, depth);
}

// The only operation of a statement, NULL when there are more or a loop over k is in between.
static const Op *only_op(const Stmt *stmt) {
  Fold fold = fold_of(stmt);
  return fold.n == 1 && !fold.over_k ? &fold.op->op : NULL;
}

static bool loads_global(const Op *op) {
  return op && op_is_plain_access(op->kind) && in_space(&op->src, SPACE_GLOBAL);
}

static bool stores_shared(const Op *op) {
  return op && op_is_plain_access(op->kind) && in_space(&op->dst, SPACE_SHARED);
}

// Whether a later statement of the same list stores what `load` loaded to shared memory.
static bool lands_later(const Stmt *stmt) {
  const Op *load = only_op(stmt);
  if (!loads_global(load)) return false;
  for (const Stmt *later = stmt->next; later; later = later->next) {
    const Op *store = only_op(later);
    if (stores_shared(store) && store->src.buffer == load->dst.buffer) return true;
  }
  return false;
}

// The global buffer that an earlier statement of `list` loaded what `stmt` stores from.
static const Buffer *loaded_earlier(const Stmt *list, const Stmt *stmt) {
  const Op *store = only_op(stmt);
  if (!stores_shared(store)) return NULL;
  for (const Stmt *earlier = list; earlier != stmt; earlier = earlier->next) {
    const Op *load = only_op(earlier);
    if (loads_global(load) && load->dst.buffer == store->src.buffer) return load->src.buffer;
  }
  return NULL;
}

// Waits until the sums of an earlier tile are read, and the fence behind that.
static bool waits_for_sums(const Op *op) {
  if (!op) return false;
  const bool at_sums = op->dst.buffer && op->dst.buffer->role == ROLE_ACC_EMPTY;
  return at_sums || op_facts(op->kind)->family == FAMILY_TCGEN05;
}

// A pipelined kernel does the first slab's copies before the loop over k: the same statements
// again, so they are one row. Registers set to a constant are not part of it.
static bool in_prologue(const Stmt *stmt) {
  const Op *op = only_op(stmt);
  if (walks_k(stmt) || inits_mbarriers(stmt) || stmt->kind == STMT_LET) return false;
  if (waits_for_sums(op)) return false;
  const OpAction action = op ? op_facts(op->kind)->action : ACTION_MOVE;
  if (action == ACTION_SET || action == ACTION_GIVE || action == ACTION_TAKE) return false;
  for (const Stmt *later = stmt->next; later; later = later->next)
    if (walks_k(later) && later->var->tier == TIER_SERIAL_OUTER) return true;
  return false;
}

static void add_prologue(Walk *walk, const Stmt *stmt) {
  NestRow *last = walk->nest->n_rows ? &walk->nest->row[walk->nest->n_rows - 1] : NULL;
  if (last && last->group == NEST_SERIAL) return;
  bool reads = walk->role && walk->role->work == WORK_MULTIPLIES;  // what others have fetched
  const char *text = reads ? "first k-step read" : "first slab fetched";
  NestRow *row = add_row(walk, NEST_SERIAL, 0, text);
  if (reads) row->note = "the consumers wait for slab 0 and read ahead of the loop";
  row->stmt = stmt;
  row->knob = stmt->knob;
}

// A store of what an earlier statement of `list` loaded is one copy with it: "A_s <- A".
static void name_copy(Walk *walk, const Stmt *list, const Stmt *stmt, NestRow *row) {
  const Buffer *from = loaded_earlier(list, stmt);
  if (!from) return;
  const char *to = only_op(stmt)->dst.buffer->name;
  row->text = arena_printf(walk->arena, "%s%s%s", to, walk->arrow, from->name);
}

// Adds the rows of a statement of `list`; the first row carries its note.
static void add_with_note(Walk *walk, const Stmt *list, const Stmt *stmt, NestGroup group,
                          int depth) {
  int first = walk->nest->n_rows;
  add_statement(walk, stmt, group, depth);
  if (walk->nest->n_rows == first) return;
  NestRow *row = &walk->nest->row[first];
  if (!is_unsaid(stmt)) row->note = stmt->note;
  name_copy(walk, list, stmt, row);
}

static void add_list(Walk *walk, const Stmt *list, NestGroup group, int depth) {
  bool sets_up = false;
  for (const Stmt *stmt = list; stmt; stmt = stmt->next) {
    sets_up = sets_up_mbarriers(stmt, sets_up);
    if (depth == 0 && !sets_up && in_prologue(stmt))
      add_prologue(walk, stmt);
    else if (!lands_later(stmt))
      add_with_note(walk, list, stmt, sets_up ? NEST_THREAD : group, depth);
  }
}

static void add_kernel(Walk *walk, const Kernel *kernel) {
  Launch launch = kernel_launch(kernel);
  if (walk->model->program->n_kernels > 1)
    add_row(walk, NEST_KERNEL, 0, arena_printf(walk->arena, "kernel %s", kernel->name));
  add_launch(walk, &launch);
  bool on_gpu = launch.n_block_digits || launch.n_thread_digits;
  add_list(walk, on_gpu ? launch.body : kernel->body, NEST_REGISTER, 0);
}

Nest nest_build(Arena *arena, const Model *model, bool ascii) {
  Nest nest = {.row = ARENA_ARRAY(arena, NestRow, NEST_ROWS_MAX)};
  Walk walk = {.arena = arena,
               .model = model,
               .nest = &nest,
               .arrow = ascii ? "<-" : " ← ",
               .at_most = ascii ? "<=" : "≤"};
  for (int i = 0; i < model->program->n_kernels; i++) {
    walk.kernel = i;
    add_kernel(&walk, &model->program->kernel[i]);
  }
  return nest;
}

// ---- the full listing ---------------------------------------------------------------------------

static NestGroup group_of_tier(Tier tier, NestGroup outside) {
  static const NestGroup groups[TIER_COUNT] = {
      [TIER_BLOCK] = NEST_BLOCK,        [TIER_CLUSTER] = NEST_BLOCK,
      [TIER_TILE] = NEST_BLOCK,         [TIER_WARP] = NEST_WARP,
      [TIER_THREAD] = NEST_THREAD,      [TIER_SERIAL_OUTER] = NEST_SERIAL,
      [TIER_STAGE_INNER] = NEST_STAGE,  [TIER_REGISTER] = NEST_GROUP_COUNT,
      [TIER_SERIAL] = NEST_GROUP_COUNT, [TIER_ATOM] = NEST_GROUP_COUNT};
  NestGroup group = groups[tier];
  if (group != NEST_GROUP_COUNT) return group;
  return outside == NEST_SERIAL || outside == NEST_STAGE ? outside : NEST_REGISTER;
}

static void add_line(Walk *walk, const ProgramLine *line, NestGroup group) {
  bool op = line->stmt && line->stmt->kind == STMT_OP;
  if (op && op_multiplies(line->stmt->op.kind)) group = NEST_ATOM;
  NestRow *row = add_row(walk, group, line->depth, line->text);
  row->stmt = line->stmt;
  row->note = line->stmt ? line->stmt->note : NULL;
  row->kernel = line->kernel;
  row->knob = line->knob;
  row->site = line->stmt ? model_site_number(walk->model, line->stmt) : 0;
  if (line->stmt) take_seat(walk, row);
}

// `outside`: the group of the lines at this depth, unless they say another.
static NestGroup group_of_line(const ProgramLine *line, NestGroup outside, bool sets_up) {
  const Stmt *stmt = line->stmt;
  if (!stmt) return NEST_KERNEL;
  if (stmt->role) return NEST_WARP;
  if (sets_up) return NEST_THREAD;
  return stmt->kind == STMT_LOOP ? group_of_tier(line->tier, outside) : outside;
}

// Below the hardware's loops stands what a thread does; a producer's lines stay its warp's.
static NestGroup group_below(const ProgramLine *line, NestGroup group) {
  bool produces = line->stmt && stmt_is_role(line->stmt, WORK_FETCHES);
  return group <= NEST_THREAD && !produces ? NEST_REGISTER : group;
}

Nest nest_listing(Arena *arena, const Model *model) {
  enum { DEPTH_MAX = 64 };
  Nest nest = {.row = ARENA_ARRAY(arena, NestRow, NEST_ROWS_MAX)};
  Walk walk = {.arena = arena, .model = model, .nest = &nest};
  NestGroup outside[DEPTH_MAX + 1] = {NEST_REGISTER};  // by depth
  bool sets_up = false;
  for (int i = 0; i < model->text.n_lines; i++) {
    const ProgramLine *line = &model->text.line[i];
    if (line->kernel < 0 || line->depth >= DEPTH_MAX) continue;
    sets_up = line->stmt && sets_up_mbarriers(line->stmt, sets_up);
    NestGroup group = group_of_line(line, outside[line->depth], sets_up);
    outside[line->depth + 1] = group_below(line, group);
    add_line(&walk, line, group);
  }
  return nest;
}

// ---- what operations are for --------------------------------------------------------------------

const char *nest_op_help(const Op *op) {
  const char *here = op_help_here(op);
  return here ? here : op_help(op->kind);
}

// ---- changes ------------------------------------------------------------------------------------

void nest_mark_changes(Arena *arena, Nest *nest, const Nest *before) {
  const char **old = ARENA_ARRAY(arena, const char *, before->n_rows);
  const char **now = ARENA_ARRAY(arena, const char *, nest->n_rows);
  for (int i = 0; i < before->n_rows; i++) old[i] = before->row[i].text;
  for (int i = 0; i < nest->n_rows; i++) now[i] = nest->row[i].text;
  TextDiff diff = text_diff(arena, old, before->n_rows, now, nest->n_rows);
  for (int i = 0; i < diff.n_lines; i++)
    if (diff.line[i].kind == DIFF_ADDED) nest->row[diff.line[i].to].changed = true;
}

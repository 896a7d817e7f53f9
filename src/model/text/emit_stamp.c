// A list of statements is cut into runs: work of one kind, without anything between that orders.
//
//   stamp(trace, 8, k_o);      begin of site 4, wait full
//   mbarrier_wait(full, …);
//   stamp(trace, 9, k_o);      its end, and the begin of site 5: fence, multiplications, commit
//   wgmma_fence();
//   for (…) wgmma_…(…);
//   wgmma_commit();
//   stamp(trace, 11, k_o);
//
// The kernel is written once, as a template, and is there twice: blocks that are not traced execute
// the same instructions as without stamps, and no stamp asks whether its block is traced. The first
// thread of each warp writes, into a page of its own, so that no stamp waits for another: 8 bytes
// and no fence. All other threads count from beyond the page on, so one comparison tells whether a
// thread writes and whether there is room: no branch. A stamp comes to six instructions and three
// registers (CS2R.32, ISETP, IMAD.WIDE, STG.E.64, the count and the word; nvcc 13.0, sm_90a). A
// full page takes no more and goes on counting. The compiler moves no access to memory over a
// stamp; arithmetic in registers alone may move. Where elect.sync picks the lane that issues, that
// one writes: it is the same lane in each place.
#include "model/text/emit_parts.h"

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/text/emit_op.h"
#include "model/text/stamp_page.h"

#define TEXT_OF(x) #x
#define NUMBER(x) TEXT_OF(x)

static const PreludeText trace_text = {
    "trace_begin",
    "// A traced block writes a page for each warp, a stamp for each begin and end.\n"
    "struct trace_stamp {\n"
    "  unsigned clock;  // of the SM, its low half\n"
    "  unsigned what;   // the turn of its loop; above it 2 * place + (0 begin, 1 end)\n"
    "};\n"
    "struct trace_page {\n"
    "  unsigned long long ns_begin, ns_end;  // %globaltimer\n"
    "  long long clock_begin, clock_end;     // clock64, right behind it\n"
    "  unsigned sm, block, written, unused;  // written: those beyond the page counted\n"
    "  trace_stamp stamp[" NUMBER(STAMPS_EACH) "];\n"
    "};\n"
    "static_assert(sizeof(trace_page) == " NUMBER(STAMP_PAGE_BYTES) ", \"as its reader has it\");\n"
    "struct trace_writer {\n"
    "  trace_page *page;\n"
    "  unsigned n;\n"
    "};\n"
    "struct trace_nothing {};\n"
    "__device__ __forceinline__ unsigned long long trace_ns() {\n"
    "  unsigned long long ns;\n"
    "  asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(ns)::\"memory\");\n"
    "  return ns;\n"
    "}\n"
    "__device__ __forceinline__ long long trace_clock() {\n"
    "  long long clock;\n"
    "  asm volatile(\"mov.u64 %0, %%clock64;\" : \"=l\"(clock)::\"memory\");\n"
    "  return clock;\n"
    "}\n"
    "// One thread of a warp writes; the others count from beyond the page on.\n"
    "__device__ __forceinline__ void trace_begin(\n"
    "    trace_writer &trace, trace_page *pages, bool writes) {\n"
    "  trace.page = pages + threadIdx.x / 32;\n"
    "  trace.n = writes ? 0 : 1u << 31;\n"
    "  if (!writes) return;\n"
    "  trace.page->block = blockIdx.x;\n"
    "  asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(trace.page->sm));\n"
    "  trace.page->ns_begin = trace_ns();\n"
    "  trace.page->clock_begin = trace_clock();\n"
    "}\n"
    "__device__ __forceinline__ void stamp(trace_writer &trace, unsigned mark, int number) {\n"
    "  asm volatile(\"{\\n.reg .pred fits;\\n.reg .b32 clock;\\n\"\n"
    "               \"mov.u32 clock, %%clock;\\n\"\n"
    "               \"setp.lt.u32 fits, %1, " NUMBER(STAMPS_EACH) ";\\n\"\n"
    "               \"@fits st.global.v2.b32 [%0], {clock, %2};\\n}\" ::\n"
    "               \"l\"(&trace.page->stamp[trace.n]), \"r\"(trace.n),\n"
    "               \"r\"((mark << " NUMBER(STAMP_NUMBER_BITS) ") + number)\n"
    "               : \"memory\");\n"
    "  ++trace.n;\n"
    "}\n"
    "// A warp reads the clock when it arrives at a barrier of its block, before it waits there.\n"
    "__device__ __forceinline__ void stamp_met(trace_writer &trace, unsigned mark, int number) {\n"
    "  __syncwarp();\n"
    "  stamp(trace, mark, number);\n"
    "}\n"
    "__device__ __forceinline__ void trace_end(const trace_writer &trace) {\n"
    "  if (trace.n >> 31) return;\n"
    "  trace.page->ns_end = trace_ns();\n"
    "  trace.page->clock_end = trace_clock();\n"
    "  trace.page->written = trace.n;\n"
    "}\n"
    "// Without a trace nothing is written.\n"
    "__device__ __forceinline__ void trace_begin(trace_nothing, trace_page *, bool) {}\n"
    "__device__ __forceinline__ void stamp(trace_nothing, unsigned, int) {}\n"
    "__device__ __forceinline__ void stamp_met(trace_nothing, unsigned, int) {}\n"
    "__device__ __forceinline__ void trace_end(trace_nothing) {}\n"};

// ---- what a statement is ------------------------------------------------------------------------

// Has a begin and an end of its own: it waits, or others wait for it.
static bool is_alone(const Op *op) {
  switch (op_facts(op->kind)->action) {
    case ACTION_MEET:
    case ACTION_PASS:
    case ACTION_WAIT:
    case ACTION_EXPECT:
    case ACTION_GIVE:
    case ACTION_TAKE:
    case ACTION_CLAIM:
      return true;
    case ACTION_SIGNAL:
      return !op_ends_with_group(op->kind);
    default:
      return false;
  }
}

// Work that is shown. Other operations that are not alone belong to the work at which they stand.
static bool is_work(const Op *op) {
  return !is_alone(op) && op_facts(op->kind)->engine != ENGINE_NONE &&
         timeline_kind_of(op) < TIMELINE_KINDS;
}

typedef struct Quiet {
  bool orders;        // something in it has stamps of its own
  const Stmt *chief;  // the first work of the kind that outweighs the others; NULL: it has none
} Quiet;

// Where kinds are mixed, copies spread over multiplications say, the heavier one names the run.
static int weight(const Stmt *stmt) {
  static const int weights[TIMELINE_KINDS] = {
      [TIMELINE_MULTIPLY] = 5, [TIMELINE_STORE] = 4, [TIMELINE_COPY] = 3,
      [TIMELINE_POWER] = 3,    [TIMELINE_WRITE] = 2, [TIMELINE_READ] = 1};
  return stmt ? weights[timeline_kind_of(&stmt->op)] : 0;
}

static void note_stmt(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Quiet *quiet = context;
  if (stmt->kind == STMT_LOOP && stmt->var->tier == TIER_TILE) quiet->orders = true;
  if (stmt->kind != STMT_OP) return;
  if (is_alone(&stmt->op)) quiet->orders = true;
  if (is_work(&stmt->op) && weight(stmt) > weight(quiet->chief)) quiet->chief = stmt;
}

static Quiet look_at(const Stmt *stmt) {
  Quiet quiet = {0};
  Stmt alone = *stmt;
  alone.next = NULL;
  stmt_walk(&alone, note_stmt, &quiet);
  if (quiet.chief == &alone) quiet.chief = stmt;
  return quiet;
}

// ---- runs ---------------------------------------------------------------------------------------

typedef struct Run {
  const Stmt *first, *last, *chief;  // first NULL: none is open
} Run;

static void add_site(Emitter *emitter, const Run *run, const Var *turn) {
  EmitStamps *stamps = &emitter->stamps;
  if (!run->first) return;
  stamps->site[stamps->n++] = (EmitStamp){run->chief, turn, false};
  stamps->before[run->first->id] = stamps->n;
  stamps->behind[run->last->id] = stamps->n;
}

static void close_run(Emitter *emitter, Run *run, const Var *turn) {
  add_site(emitter, run, turn);
  *run = (Run){0};
}

static bool is_same_kind(const Stmt *a, const Stmt *b) {
  return timeline_kind_of(&a->op) == timeline_kind_of(&b->op);
}

static bool closes_group(const Stmt *stmt) {
  return stmt->kind == STMT_OP && op_ends_with_group(stmt->op.kind);
}

static bool is_fence(const Stmt *stmt) {
  return stmt->kind == STMT_OP && op_facts(stmt->op.kind)->action == ACTION_FENCE;
}

static void collect(Emitter *emitter, const Stmt *list, const Var *turn);

static void collect_inside(Emitter *emitter, const Stmt *stmt, const Var *turn) {
  bool counts = stmt->kind == STMT_LOOP && stmt->var->tier != TIER_REGISTER &&
                stmt->var->tier != TIER_TILE && stmt->var->extent > 1;
  collect(emitter, stmt->body, counts ? stmt->var : turn);
}

static void collect(Emitter *emitter, const Stmt *list, const Var *turn) {
  Run run = {0};
  const Stmt *fence = NULL;  // that stands in front of the work to come
  for (const Stmt *stmt = list; stmt; stmt = stmt->next) {
    const Quiet quiet = look_at(stmt);
    if (quiet.orders) {
      close_run(emitter, &run, turn);
      if (stmt->kind == STMT_OP)
        add_site(emitter, &(Run){stmt, stmt, stmt}, turn);
      else
        collect_inside(emitter, stmt, turn);
    } else if (quiet.chief) {
      if (run.first && !is_same_kind(run.chief, quiet.chief)) close_run(emitter, &run, turn);
      if (!run.first) run = (Run){fence ? fence : stmt, stmt, quiet.chief};
      run.last = stmt;
    } else if (run.first && closes_group(stmt)) {
      run.last = stmt;
    }
    bool waits_for_work = is_fence(stmt) || (fence && !quiet.orders && !quiet.chief);
    fence = !waits_for_work ? NULL : fence ? fence : stmt;
    if (fence == stmt) close_run(emitter, &run, turn);
  }
  close_run(emitter, &run, turn);
}

void emit_stamps_collect(Emitter *emitter, const Stmt *body) {
  const int n = emitter->program->n_stmt_ids;
  EmitStamps *stamps = &emitter->stamps;
  stamps->site = ARENA_ARRAY(emitter->arena, EmitStamp, n);
  stamps->before = ARENA_ARRAY(emitter->arena, int, n);
  stamps->behind = ARENA_ARRAY(emitter->arena, int, n);
  collect(emitter, body, NULL);
}

// ---- text ---------------------------------------------------------------------------------------

bool emit_has_stamps(const Emitter *emitter, const Stmt *stmt) {
  const EmitStamps *stamps = &emitter->stamps;
  return stamps->before && (stamps->before[stmt->id] || stamps->behind[stmt->id]);
}

// BAR.SYNC blocks its warp late. Of eight warps that came 2,000 cycles apart each read the clock
// behind it 2 cycles after it had come, and with __syncwarp() in front 16 to 18 cycles after the
// last one came (H200, 2026-11-23, nvcc 13.0, sm_90a).
static bool ends_meeting(const EmitStamp *site, int end) {
  return end && op_facts(site->stmt->op.kind)->action == ACTION_MEET;
}

static void print_stamp(Emitter *emitter, int site, int end) {
  const EmitStamp *stamp = &emitter->stamps.site[site - 1];
  emitter_line(emitter, "%s(trace, %d, %s);", ends_meeting(stamp, end) ? "stamp_met" : "stamp",
               2 * (site - 1) + end, stamp->turn ? emitter->names[stamp->turn->id] : "0");
}

// Where a place ends and the next one begins, one stamp says both.
void emit_stamp_before(Emitter *emitter, const Stmt *before, const Stmt *stmt) {
  const EmitStamps *stamps = &emitter->stamps;
  const int site = stamps->before ? stamps->before[stmt->id] : 0;
  const int ended = site && before ? stamps->behind[before->id] : 0;
  if (!site) return;
  if (ended && stamps->site[ended - 1].turn == stamps->site[site - 1].turn)
    stamps->site[site - 1].follows = true;
  else
    print_stamp(emitter, site, 0);
}

void emit_stamp_behind(Emitter *emitter, const Stmt *stmt) {
  const EmitStamps *stamps = &emitter->stamps;
  if (stamps->behind && stamps->behind[stmt->id]) print_stamp(emitter, stamps->behind[stmt->id], 1);
}

void emit_trace_template(Emitter *emitter) {
  emit_given(emitter, &trace_text);
  emitter_line(emitter, "// The work of a block; trace_writer records it.");
  emitter_line(emitter, "template <typename trace_kind>");
}

void emit_trace_begin(Emitter *emitter) {
  emitter_blank(emitter);
  emitter_line(emitter, "trace_kind trace;");
  const char *writes = "threadIdx.x % 32 == 0";
  if (emitter->elects) writes = arena_printf(emitter->arena, "%s()", emit_elect_one(emitter));
  emitter_line(emitter, "trace_begin(trace, stamps, %s);", writes);
}

void emit_trace_end(Emitter *emitter) { emitter_line(emitter, "trace_end(trace);"); }

void emit_trace_choice(Emitter *emitter, const EmitKernel *facts, const char *arguments) {
  const long long cluster = (long long)facts->cluster;
  const long long warps = (long long)ceil_div(facts->n_threads, LANES);
  const char *which = "blockIdx.x", *page = "stamps";
  if (cluster > 1) {
    which = arena_printf(emitter->arena, "blockIdx.x / %lld", cluster);
    page = arena_printf(emitter->arena, "stamps + blockIdx.x %% %lld * %lld", cluster, warps);
  }
  emitter_line(emitter, "if (%s == traced)", which);
  emitter->depth++;
  emitter_line(emitter, "%s_traced<trace_writer>(%s%s);", facts->name, arguments, page);
  emitter->depth--;
  emitter_line(emitter, "else");
  emitter->depth++;
  emitter_line(emitter, "%s_traced<trace_nothing>(%s%s);", facts->name, arguments, page);
  emitter->depth--;
}

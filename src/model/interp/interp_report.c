// Findings in words: the parties, their accesses to the element, the statements and the place.
//
// The same fault usually happens at thousands of elements. A finding is therefore kept once for
// each kind, kernel and pair of statements (in either order) and buffer; the first occurrence is
// told, the others are counted. Example:
//
//   race on A_s[0, 3, 5]: warp 2 lane 5 reads (load, stmt 41 of FM) what warp 0 lane 1 writes
//   (store, stmt 37 of STAGE) with no barrier between; kernel matmul, block 3
#include <stdarg.h>
#include <string.h>

#include "base/str.h"
#include "model/interp/interp_machine.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"

static const struct {
  const char *name, *help;
} finding_rows[FINDING_COUNT] = {
#define X(id, name, help) {name, help},
    INTERP_FINDING_TABLE(X)
#undef X
};

const char *finding_name(FindingKind kind) { return finding_rows[kind].name; }
const char *finding_help(FindingKind kind) { return finding_rows[kind].help; }

// The effect of each operation on memory, in the words of a race report.
typedef struct Verb {
  const char *now, *then;
} Verb;

static Verb verb_of(const Op *op, const Buffer *memory) {
  if (op_is_async_copy(op->kind) && op->src.buffer == memory)
    return (Verb){"copies out of", "copies out of"};
  if (op_is_async_copy(op->kind) && op_facts(op->kind)->action == ACTION_MOVE)
    return (Verb){"copies into", "copies into"};
  if (op_facts(op->kind)->action == ACTION_ADD)
    return (Verb){"adds atomically to", "adds to atomically"};
  if (op_moves_factors(op->kind) && op->src.buffer == memory) return (Verb){"reads", "reads"};
  // A product adds what it reads from shared memory to registers or to tensor memory.
  const bool elsewhere = op->dst.buffer && op->dst.buffer != memory;
  bool writes = op->dst.buffer && op->dst.buffer->space != SPACE_REGISTER && !elsewhere;
  return writes ? (Verb){"writes", "writes"} : (Verb){"reads", "reads"};
}

static bool same_pair(const Finding *f, const Stmt *a, const Stmt *b) {
  return (f->who.stmt == a && f->other.stmt == b) || (f->who.stmt == b && f->other.stmt == a);
}

// Counts the occurrence; gives a place for a finding that is new and still kept, else NULL.
static Finding *place(Machine *machine, FindingKind kind, const Stmt *a, const Stmt *b,
                      const Buffer *buffer) {
  machine->n_found++;
  if (machine->options->stop_at_first) machine->stopped = true;
  for (int i = 0; i < machine->n_findings; i++) {
    Finding *f = &machine->finding[i];
    if (f->kind != kind || f->kernel != machine->kernel || f->buffer != buffer) continue;
    if (!same_pair(f, a, b)) continue;
    f->times++;
    return NULL;
  }
  if (machine->n_findings == machine->max_findings) return NULL;
  Finding *f = &machine->finding[machine->n_findings++];
  *f = (Finding){.kind = kind, .kernel = machine->kernel, .buffer = buffer, .times = 1};
  f->who = (FindingParty){a, machine->block, -1};
  f->other = (FindingParty){b, -1, -1};
  return f;
}

// The dimension with the largest stride below `limit`; of a dense buffer all strides differ, or the
// dimensions that share one have a single index.
static int next_slower(const Buffer *buffer, int64_t limit) {
  int next = -1;
  for (int d = 0; d < buffer->rank; d++) {
    bool moves = buffer->dim[d] > 1 && buffer->stride[d] > 0;  // a broken one may stand still
    if (!moves || buffer->stride[d] >= limit) continue;
    if (next < 0 || buffer->stride[d] > buffer->stride[next]) next = d;
  }
  return next;
}

// The bits that a permuted slab xors onto an offset, in bytes.
static int64_t xored_bits(const Buffer *buffer, int64_t byte) {
  int base = buffer->swizzle_base;
  int64_t mask = ((int64_t)1 << buffer->swizzle_bits) - 1;
  int64_t bits = (byte >> (base + buffer->swizzle_shift) & mask) << base;
  for (int i = 0; i < buffer->n_xor; i++) {
    const XorTerm *term = &buffer->xor_term[i];
    bits ^= (byte >> term->from & (((int64_t)1 << term->bits) - 1)) << term->to;
  }
  return bits;
}

// The offset at which an element would lie without the permutation. It solves x ^ bits(x) = at: x =
// at ^ bits(x) is repeated until it holds, which it soon does as bits come from higher ones.
static int64_t unpermuted(const Buffer *buffer, int64_t at) {
  enum { ROUNDS = 32 };
  int64_t bytes = dtype_bytes(buffer->type), to = at * bytes, from = to;
  for (int i = 0; i < ROUNDS && (from ^ xored_bits(buffer, from)) != to; i++)
    from = to ^ xored_bits(buffer, from);
  return (from ^ xored_bits(buffer, from)) == to ? from / bytes : at;
}

static void set_index(Finding *finding, const Buffer *buffer, int64_t offset) {
  if (offset >= 0) offset = unpermuted(buffer, offset);
  int64_t limit = INT64_MAX;
  for (int d; (d = next_slower(buffer, limit)) >= 0; offset %= limit) {
    limit = buffer->stride[d];
    finding->index[d] = offset / limit;
  }
}

static void add_element(Str *out, const Finding *finding) {
  str_add(out, finding->buffer->name);
  for (int d = 0; d < finding->buffer->rank; d++)
    str_printf(out, "%s%lld", d ? ", " : "[", (long long)finding->index[d]);
  str_add_char(out, ']');
}

// "(load, stmt 41 of STAGE)"
static void add_stmt(Str *out, const Stmt *stmt) {
  static const char *const words[] = {
      [STMT_LOOP] = "loop", [STMT_IF] = "if", [STMT_LET] = "let", [STMT_OP] = "op"};
  const char *word = stmt->kind == STMT_OP ? op_name(stmt->op.kind) : words[stmt->kind];
  str_printf(out, "(%s, stmt %d", word, stmt->id);
  if (stmt->knob != KNOB_NONE) str_printf(out, " of %s", knob_table[stmt->knob].name);
  str_add_char(out, ')');
}

// The block of the grid that a thread of the machine belongs to, and its number there.
static FindingParty party_of(const Machine *m, const Stmt *stmt, const Touch *touch) {
  int rank = interp_rank_of(m, touch->thread), thread = touch->thread;
  const bool product = m->first_tensor && !m->has_tmem && thread / LANES >= m->first_tensor &&
                       thread != interp_stores(m);
  if (product) thread -= m->first_tensor * LANES;  // wgmma is told by the warp that asked for it
  if (!is_agent(m, thread)) thread -= rank * m->block_warps * LANES;
  return (FindingParty){stmt, (int)touch->block * m->code->cluster + rank, thread};
}

static void add_party(const Machine *m, Str *out, bool with_block, const FindingParty *party) {
  if (with_block) str_printf(out, "block %d ", party->block);
  if (m->first_tensor && party->thread / LANES >= m->first_tensor &&
      party->thread != interp_stores(m))
    str_add(out, "the tensor core");
  else if (is_agent(m, party->thread))
    str_add(out, "the memory accelerator");
  else
    str_printf(out, "warp %d lane %d", party->thread / LANES, party->thread % LANES);
}

void interp_report(Machine *machine, FindingKind kind, const Warp *warp, int lane, const Stmt *stmt,
                   const Buffer *buffer, int64_t offset, const char *format, ...) {
  Finding *f = place(machine, kind, stmt, NULL, buffer);
  if (!f) return;
  if (warp) f->who.block = machine->cluster * machine->code->cluster + warp->rank;
  Str text = str_new(machine->arena);
  str_add(&text, finding_name(kind));
  if (buffer) {
    set_index(f, buffer, offset);
    str_add(&text, " on ");
    add_element(&text, f);
  }
  str_add(&text, ": ");
  if (warp && lane >= 0) {
    f->who.thread = warp->place * LANES + lane;
    add_party(machine, &text, false, &f->who);
    str_add_char(&text, ' ');
  }
  va_list args;
  va_start(args, format);
  str_vprintf(&text, format, args);
  va_end(args);
  if (stmt) {
    str_add_char(&text, ' ');
    add_stmt(&text, stmt);
  }
  if (machine->code) str_printf(&text, "; kernel %s", machine->code->name);
  if (warp) str_printf(&text, ", block %d", f->who.block);
  f->text = text.text;
}

static const char *conflict_end(FindingKind kind, bool blocks, bool flying, bool landed,
                                bool unread, bool unfenced) {
  if (kind == FINDING_MISSING_WAIT) return " with no wait for that copy between";
  if (blocks) return ": blocks of one kernel have no order";
  if (flying) return " while that copy is in flight";
  if (unread) return " with no wait until that copy has read it between";
  if (unfenced) return " with no fence for copies by TMA between";
  return landed ? " with no wait for its mbarrier between" : " with no barrier between";
}

// "reads … what … writes", and for two writes "writes … what … writes".
void interp_report_conflict(Machine *machine, FindingKind kind, const Memory *memory,
                            const Shadow *shadow, const Touch *then, const Touch *now) {
  const Stmt *a = machine->code->code[now->code].stmt, *b = machine->code->code[then->code].stmt;
  Finding *f = place(machine, kind, a, b, memory->buffer);
  if (!f) return;
  f->who = party_of(machine, a, now);
  f->other = party_of(machine, b, then);
  set_index(f, memory->buffer, (shadow - memory->shadow) / memory->n_shadows);
  bool blocks = then->block != now->block, apart = f->who.block != f->other.block;
  bool flying = shadow->in_flight && then == &shadow->write;
  bool unread = then->thread == interp_stores(machine);
  bool unfenced = op_facts(a->op.kind)->proxy == PROXY_ASYNC && shadow_ordered(machine, then, now);
  Str text = str_new(machine->arena);
  str_printf(&text, "%s on ", finding_name(kind));
  add_element(&text, f);
  str_add(&text, ": ");
  add_party(machine, &text, apart, &f->who);
  str_printf(&text, " %s ", verb_of(&a->op, memory->buffer).now);
  add_stmt(&text, a);
  str_add(&text, " what ");
  add_party(machine, &text, apart, &f->other);
  str_printf(&text, " %s ", verb_of(&b->op, memory->buffer).then);
  add_stmt(&text, b);
  str_add(&text,
          conflict_end(kind, blocks, flying, is_agent(machine, then->thread), unread, unfenced));
  str_printf(&text, "; kernel %s", machine->code->name);
  if (!apart) str_printf(&text, ", block %d", f->who.block);
  f->text = text.text;
}

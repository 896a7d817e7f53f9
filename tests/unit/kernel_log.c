#include "kernel_log.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "golden.h"

enum { LOG_BYTES = 1 << 20, A_LINE = 100, FINDINGS_MAX = 20 };

// Shared with the processes that Check makes for tests, where it makes some.
typedef struct Log {
  size_t n;
  int runs;
  char text[LOG_BYTES];
} Log;
static Log *kept;

// Accesses since the last run that was added, in their order.
static struct {
  PtxTally *tally;
  uint64_t sum;
} watched = {NULL, HASH_START};

void kernel_log_begin(void) {
  kept = mmap(NULL, sizeof *kept, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ck_assert(kept != MAP_FAILED);
}

static uint64_t sum_number(uint64_t sum, int64_t number) {
  return hash_bytes(sum, &number, sizeof number);
}

static void see_access(void *self, const PtxAccess *a) {
  const int64_t said[] = {
      a->pc,     a->space,    a->mask,  a->bytes,           a->warp,           a->rank,
      a->remote, a->is_store, a->swaps, a->tile_wavefronts, a->data_addresses, a->data_mask,
      a->unknown};
  (void)self;
  watched.sum = hash_bytes(watched.sum, said, sizeof said);
  for (int lane = 0; lane < 32; lane++)
    if (a->mask >> lane & 1) watched.sum = sum_number(watched.sum, a->addr[lane]);
  if (watched.tally) ptx_tally_access(watched.tally, a);
}

void kernel_log_watch(PtxMachine *machine, PtxTally *tally) {
  watched.tally = tally;
  watched.sum = HASH_START;
  ptx_machine_watch(machine, see_access, NULL);
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(kept->text + kept->n, LOG_BYTES - kept->n, format, args);
  va_end(args);
  ck_assert_msg(n >= 0 && (size_t)n < LOG_BYTES - kept->n, "the log is full");
  kept->n += (size_t)n;
}

// The line of the text that an instruction stands in.
static void say_line(const PtxModule *module, int pc) {
  const char *at = module->source;
  for (int line = 1; pc >= 0 && line < module->code[pc].line && *at; line++)
    at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');
  if (pc >= 0)
    say("    %d: %.*s\n", pc, (int)(strcspn(at, "\n") < A_LINE ? strcspn(at, "\n") : A_LINE), at);
}

static void say_finding(const PtxModule *module, const PtxFinding *f) {
  say("  %s: lanes %x of warp %d, thread %d of block %d %d %d; %d bytes at %llx of space %d; %lld "
      "times%s%s\n",
      ptx_finding_names[f->kind], f->lanes, f->warp, f->thread, f->block[0], f->block[1],
      f->block[2], f->bytes, (unsigned long long)f->address, (int)f->space, (long long)f->count,
      f->text ? "; " : "", f->text ? f->text : "");
  if (f->cure) say("   cure: %s\n", f->cure);
  if (f->open) say("   open: %s\n", f->open);
  say_line(module, f->pc);
  if (f->other_pc < 0) return;
  say("   thread %d of block %d %d %d\n", f->other_thread, f->other_block[0], f->other_block[1],
      f->other_block[2]);
  say_line(module, f->other_pc);
}

// An access that takes more than it must, or whose count is not plain.
static void say_site(const PtxModule *module, const PtxTally *tally, int pc) {
  const PtxSiteCount *s = ptx_tally_site(tally, pc);
  if (!s || !s->executions) return;
  if (s->countable && !s->unknown && !s->data_addresses && !s->data_mask &&
      s->wavefronts == s->ideal && s->wavefronts == s->wavefronts_most &&
      s->sectors == s->ideal_sectors)
    return;
  say("   %lld times %lld to %lld wavefronts of %lld, %lld sectors of %lld, worst %d%s%s%s%s\n",
      (long long)s->executions, (long long)s->wavefronts, (long long)s->wavefronts_most,
      (long long)s->ideal, (long long)s->sectors, (long long)s->ideal_sectors, s->worst,
      s->countable ? "" : ", not countable", s->unknown ? ", some unknown" : "",
      s->data_addresses ? ", data as addresses" : "", s->data_mask ? ", lanes by data" : "");
  say_line(module, pc);
}

static uint64_t sum_site(uint64_t sum, const PtxSiteCount *s) {
  const int64_t said[] = {s->executions, s->wavefronts,    s->ideal,     s->wavefronts_most,
                          s->sectors,    s->ideal_sectors, s->countable, s->data_addresses,
                          s->data_mask,  s->unknown,       s->worst,     s->space};
  sum = hash_bytes(sum, said, sizeof said);
  for (int lane = 0; s->worst > 0 && lane < 32; lane++) sum = sum_number(sum, s->worst_addr[lane]);
  return hash_text(sum, s->op ? s->op->name : "-");
}

static uint64_t sum_line(uint64_t sum, const PtxLine *l) {
  const int64_t said[] = {l->line,  l->executions, l->wavefronts,    l->wavefronts_most,
                          l->ideal, l->sectors,    l->ideal_sectors, l->countable,
                          l->data,  l->shared,     l->unknown,       l->worst_pc,
                          l->worst, l->loc,        l->ptx_line,      l->n_pcs};
  sum = hash_text(hash_bytes(sum, said, sizeof said), l->file);
  for (const PtxLineOp *o = l->ops; o; o = o->next)
    sum = sum_number(sum_number(sum_number(sum, o->pc), o->wavefronts), o->countable);
  return sum;
}

// By sums: accesses in their order, how often each instruction ran, what the tally says.
static void say_counts(const PtxMachine *machine, const PtxModule *module, const PtxTally *tally) {
  uint64_t sites = HASH_START, lines = HASH_START, executions = HASH_START;
  for (int pc = 0; pc < module->n_code; pc++) {
    executions = sum_number(executions, ptx_machine_executions(machine, pc));
    const PtxSiteCount *site = tally ? ptx_tally_site(tally, pc) : NULL;
    if (site) sites = sum_site(sum_number(sites, ptx_tally_charged(tally, pc)), site);
  }
  if (tally) {
    Arena *arena = arena_new("lines");
    const PtxLines *all = ptx_tally_lines(arena, tally);
    for (int i = 0; i < all->n; i++) lines = sum_line(lines, &all->items[i]);
    lines = sum_number(sum_number(sum_number(lines, all->wavefronts), all->ideal), all->countable);
    arena_free(arena);
  }
  say("  accesses %08x, executions %08x, sites %08x, lines %08x\n", (unsigned)watched.sum,
      (unsigned)executions, (unsigned)sites, (unsigned)lines);
}

// How many of the words are unknown, or were written by an atomic operation last.
static void say_words(const PtxMachine *machine, uint64_t address, int n) {
  int unknown = 0, atomic = 0;
  for (int i = 0; i < n; i++) {
    unknown += ptx_machine_unknown_bytes(machine, address + 4 * (uint64_t)i, 4) > 0;
    atomic += ptx_machine_by_atomic(machine, address + 4 * (uint64_t)i, 4);
  }
  if (unknown || atomic) say("  %d words unknown, %d by atomic operations\n", unknown, atomic);
}

void kernel_log_add(const PtxMachine *machine, const PtxModule *module, PtxOutcome outcome,
                    const PtxTally *tally, uint64_t address, int n) {
  if (!kept) return;
  const uint32_t *words = ptx_machine_bytes(machine, address, 4 * n);
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15u;
  say("run %d: ends as %d, %lld instructions of lanes, %lld approximations, %lld registers, sum "
      "%016llx\n",
      ++kept->runs, (int)outcome, (long long)ptx_machine_lane_instructions(machine),
      (long long)ptx_machine_approximations(machine), (long long)ptx_machine_registers(machine, 40),
      (unsigned long long)sum);
  say_counts(machine, module, tally);
  say_words(machine, address, n);
  watched.sum = HASH_START;
  const int findings = ptx_machine_findings(machine);
  if (findings > FINDINGS_MAX) say("  %d findings\n", findings);
  for (int i = 0; i < findings && i < FINDINGS_MAX; i++)
    say_finding(module, ptx_machine_finding(machine, i));
  for (int pc = 0; pc < module->n_code; pc++) {
    if (ptx_machine_unknown_why(machine, pc))
      say("   unknown at %d: %s\n", pc, ptx_machine_unknown_why(machine, pc));
    if (tally) say_site(module, tally, pc);
  }
}

void kernel_log_check(const char *golden) {
  ck_assert_int_gt(kept->runs, 0);
  golden_check(golden, kept->text);
}

#include "kernel_log.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "golden.h"

enum { LOG_BYTES = 1 << 20, A_LINE = 100, FINDINGS_MAX = 20 };

// Shared with the processes that Check makes for tests, where it makes some.
typedef struct Log {
  size_t n;
  int runs;
  char text[LOG_BYTES];
} Log;
static Log *kept;

void kernel_log_begin(void) {
  kept = mmap(NULL, sizeof *kept, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ck_assert(kept != MAP_FAILED);
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

void kernel_log_add(const PtxMachine *machine, const PtxModule *module, PtxOutcome outcome,
                    const PtxTally *tally, const uint32_t *words, int n) {
  if (!kept) return;
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15u;
  say("run %d: ends as %d, %lld instructions of lanes, %lld approximations, %lld registers, sum "
      "%016llx\n",
      ++kept->runs, (int)outcome, (long long)ptx_machine_lane_instructions(machine),
      (long long)ptx_machine_approximations(machine), (long long)ptx_machine_registers(machine, 40),
      (unsigned long long)sum);
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

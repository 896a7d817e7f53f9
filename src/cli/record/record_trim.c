// A whole capsule → one with the pages that a block touches. Behind the recorded program the
// driver's own run (driver/keep_touch.c) needs PTX; here machine code is run, as `gemmview open
// --machine` runs it, in a child: whatever becomes of that, the file is whole.
//
//   cuBLAS, 4096 x 4096 x 4096 in bf16: A, B and C, 32 MiB each, of which a block reads some rows
//   of A and of B, and writes one tile of C
#include "cli/record/record_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/open/open_input.h"
#include "cli/open/open_parts.h"
#include "cli/open/open_run.h"

enum { TRIM_BUDGET = 400, TRIM_SECONDS = 30, WHY = 512 };  // millions of lane instructions

// The answer of the child, in memory that both processes have.
typedef struct Answer {
  bool ended;
  char why[WHY];
  bool touched[];
} Answer;

static uint64_t pages_of(const CapsuleMemory *m) {
  return m->kind == CAPSULE_ALLOCATION ? (m->bytes + PTX_PAGE_BYTES - 1) / PTX_PAGE_BYTES : 0;
}

// ---- in the child -------------------------------------------------------------------------------

static const char *stopped_text(Arena *arena, const PtxMachine *machine, PtxOutcome outcome) {
  const int n = ptx_machine_findings(machine);
  const PtxFinding *last = n ? ptx_machine_finding(machine, n - 1) : NULL;
  if (outcome == PTX_BUDGET)
    return arena_printf(arena, "it has more than %d million lane instructions", TRIM_BUDGET);
  if (!last) return "it stopped";
  return arena_printf(arena, "it stopped with %s%s%s", ptx_finding_names[last->kind],
                      last->text ? ": " : "", last->text ? last->text : "");
}

static const char *run(Arena *arena, const char *path, const char *blocks, bool *const *touched) {
  Diags diags = diags_new(arena);
  const OpenRequest request = {
      .path = path, .blocks = blocks, .budget = TRIM_BUDGET, .machine = true, .touched = touched};
  OpenResult result;
  OpenBlocks which;
  if (open_read_kernel(arena, &request, false, &result, &diags) != CLI_OK)
    return diags.first ? diags.first->text : "it cannot be read";
  PtxMachine *machine = open_make_machine(&result, &request, &which, &diags);
  if (!machine) return diags.first ? diags.first->text : "it cannot be made";
  const PtxOutcome outcome = open_run_blocks(&request, &result, machine, &which);
  return outcome == PTX_DONE ? NULL : stopped_text(arena, machine, outcome);
}

static _Noreturn void answer(Arena *arena, const char *path, const char *blocks,
                             bool *const *touched, Answer *out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(TRIM_SECONDS);
  const char *why = run(arena, path, blocks, touched);
  if (why) snprintf(out->why, sizeof out->why, "%s", str_line(arena, why));
  out->ended = !why;
  _exit(0);
}

// ---- in the parent ------------------------------------------------------------------------------

static const char *ended_text(Arena *arena, const Answer *said, int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return arena_printf(arena, "it takes longer than %d s", TRIM_SECONDS);
  if (WIFSIGNALED(status))
    return arena_printf(arena, "it was ended by signal %d", WTERMSIG(status));
  if (said->ended) return NULL;
  return said->why[0] ? arena_strdup(arena, said->why) : "it broke off";
}

static const char *ask(Arena *arena, const char *path, const char *blocks, bool *const *touched,
                       Answer *said) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) answer(arena, path, blocks, touched, said);
  if (child < 0) return arena_printf(arena, "no process can be started: %s", strerror(errno));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return ended_text(arena, said, status);
}

const bool *const *record_touched(Arena *arena, const char *path, const char *blocks,
                                  const Capsule *capsule, const char **why) {
  uint64_t n = 0;
  *why = "there is no machine code of the kernel";
  if (!capsule->cubin.at) return NULL;
  for (int i = 0; i < capsule->n_memory; i++) n += pages_of(&capsule->memory[i]);
  const size_t bytes = sizeof(Answer) + n;
  Answer *said = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  *why = "there is no room for it";
  if (said == MAP_FAILED) return NULL;
  bool **touched = ARENA_ARRAY(arena, bool *, capsule->n_memory + 1);
  n = 0;
  for (int i = 0; i < capsule->n_memory; i++) {
    const uint64_t pages = pages_of(&capsule->memory[i]);
    if (pages) touched[i] = said->touched + n;
    n += pages;
  }
  *why = ask(arena, path, blocks, touched, said);
  bool *kept = ARENA_ARRAY(arena, bool, n + 1);
  memcpy(kept, said->touched, n);
  for (int i = 0; i < capsule->n_memory; i++)
    if (touched[i]) touched[i] = kept + (touched[i] - said->touched);
  munmap(said, bytes);
  return *why ? NULL : (const bool *const *)touched;
}

static bool is_hidden(const Capsule *capsule) {
  for (int i = 0; i < capsule->n_memory; i++)
    for (int r = 0; r < capsule->memory[i].n_before; r++)
      if (capsule->memory[i].before[r].content == CAPSULE_HIDDEN) return true;
  return false;
}

void record_trim(Arena *arena, const char *path, const char *blocks, Capsule *capsule) {
  if (str_equal(blocks, "all") || !str_equal(capsule->blocks, "all") || is_hidden(capsule) ||
      capsule_memory_bytes(capsule) <= CAPSULE_WHOLE_MAX)
    return;
  const char *why = NULL, *file = str_line(arena, path);
  fprintf(stderr, "gemmview: %s: block %s runs on the CPU, to keep only the memory it touches\n",
          file, blocks);
  const bool *const *touched = record_touched(arena, path, blocks, capsule, &why);
  if (!touched) {
    fprintf(stderr,
            "gemmview: %s: all of the memory is kept, for what block %s touches is not known: %s\n",
            file, blocks, why);
    return;
  }
  capsule_cut(arena, capsule, touched, PTX_PAGE_BYTES);
  capsule->blocks = blocks;
}

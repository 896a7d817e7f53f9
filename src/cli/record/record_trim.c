// A whole capsule → one with the pages that a block touches first, as many as the limit on the file
// allows. Behind the recorded program the driver's own run (driver/keep_touch.c) needs PTX; here
// machine code is run, as `gemmview open --machine` runs it, in a child: whatever becomes of that,
// the file is whole.
//
// A run is the same each time. So one that was ended, because of the limit or of its time, is the
// begin of the run that `gemmview open` makes of the same block: it needs these pages, and ends
// where they do (PTX_BEYOND).
//
//   cuBLAS, 4096 x 4096 x 4096 in fp32: a block reads some rows of A and of B and writes one tile
//   of C, which are 36 MB. In bf16 blocks draw their tiles from a counter: the one that runs alone
//   draws the tiles of all and comes by everything; the 64 MB have its first tiles
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
  if (outcome == PTX_BEYOND) return "it touches more than --limit leaves room for";
  if (!last) return "it stopped";
  return arena_printf(arena, "it stopped with %s%s%s", ptx_finding_names[last->kind],
                      last->text ? ": " : "", last->text ? last->text : "");
}

// `machine_code`: where the driver did not run PTX.
static const char *run(Arena *arena, const char *path, const char *blocks, bool machine_code,
                       const OpenTouched *touched) {
  Diags diags = diags_new(arena);
  const OpenRequest request = {.path = path,
                               .blocks = blocks,
                               .budget = TRIM_BUDGET,
                               .machine = machine_code,
                               .touched = touched};
  OpenResult result;
  OpenBlocks which;
  if (open_read_kernel(arena, &request, false, &result, &diags) != CLI_OK)
    return diags.first ? diags.first->text : "it cannot be read";
  PtxMachine *machine = open_make_machine(&result, &request, &which, &diags);
  if (!machine) return diags.first ? diags.first->text : "it cannot be made";
  const PtxOutcome outcome = open_run_blocks(&request, &result, machine, &which);
  return outcome == PTX_DONE ? NULL : stopped_text(arena, machine, outcome);
}

static _Noreturn void answer(Arena *arena, const char *path, const char *blocks, bool machine_code,
                             const OpenTouched *touched, Answer *out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(TRIM_SECONDS);
  const char *why = run(arena, path, blocks, machine_code, touched);
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

static const char *ask(Arena *arena, const char *path, const char *blocks, bool machine_code,
                       const OpenTouched *touched, Answer *said) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) answer(arena, path, blocks, machine_code, touched, said);
  if (child < 0) return arena_printf(arena, "no process can be started: %s", strerror(errno));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return ended_text(arena, said, status);
}

// Bytes that the limit leaves for the pages of allocations, which stand in front of other memory.
static uint64_t room_for_pages(const Capsule *capsule, uint64_t limit) {
  Capsule bare = *capsule;
  int n = 0;
  while (n < capsule->n_memory && capsule->memory[n].kind == CAPSULE_ALLOCATION) n++;
  bare.memory += n;
  bare.n_memory -= n;
  const uint64_t extents = sizeof(CapsuleExtent) * (uint64_t)(capsule->n_memory + 2),
                 taken = capsule_file_bytes(&bare) + extents;
  return limit > taken ? limit - taken : 0;
}

RecordTouched record_touched(Arena *arena, const char *path, const char *blocks,
                             const Capsule *capsule, uint64_t limit) {
  uint64_t n = 0;
  for (int i = 0; i < capsule->n_memory; i++) n += pages_of(&capsule->memory[i]);
  const size_t bytes = sizeof(Answer) + n;
  Answer *said = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  RecordTouched out = {.why = "there is no room for it"};
  if (said == MAP_FAILED) return out;
  bool **touched = ARENA_ARRAY(arena, bool *, capsule->n_memory + 1);
  n = 0;
  for (int i = 0; i < capsule->n_memory; i++) {
    const uint64_t pages = pages_of(&capsule->memory[i]);
    if (pages) touched[i] = said->touched + n;
    n += pages;
  }
  const OpenTouched to = {touched, room_for_pages(capsule, limit)};
  out.why = ask(arena, path, blocks, str_equal(capsule->blocks, "all"), &to, said);
  bool *kept = ARENA_ARRAY(arena, bool, n + 1);
  memcpy(kept, said->touched, n);
  out.any = memchr(kept, true, n) != NULL;
  for (int i = 0; i < capsule->n_memory; i++)
    if (touched[i]) touched[i] = kept + (touched[i] - said->touched);
  munmap(said, bytes);
  out.pages = (const bool *const *)touched;
  return out;
}

static bool is_hidden(const Capsule *capsule) {
  for (int i = 0; i < capsule->n_memory; i++)
    for (int r = 0; r < capsule->memory[i].n_before; r++)
      if (capsule->memory[i].before[r].content == CAPSULE_HIDDEN) return true;
  return false;
}

// All of a launch with little memory is kept; the driver may have cut one with much.
static bool is_small(const Capsule *capsule, uint64_t bytes, uint64_t limit) {
  const bool was_cut = !str_equal(capsule->blocks, "all");
  return bytes <= limit && (was_cut || capsule_memory_bytes(capsule) <= CAPSULE_WHOLE_MAX);
}

void record_trim(Arena *arena, const char *path, const char *blocks, uint64_t limit,
                 Capsule *capsule) {
  const uint64_t bytes = capsule_file_bytes(capsule);
  if (str_equal(blocks, "all") || is_hidden(capsule) || is_small(capsule, bytes, limit)) return;
  const char *file = str_line(arena, path);
  fprintf(stderr, "gemmview: %s: block %s runs on the CPU, to keep only the memory it touches\n",
          file, blocks);
  const RecordTouched touched = record_touched(arena, path, blocks, capsule, limit);
  if (touched.why && (bytes <= limit || !touched.any)) {
    fprintf(stderr,
            "gemmview: %s: all of the memory is kept, for what block %s touches is not known: %s\n",
            file, blocks, touched.why);
    return;
  }
  if (touched.why)
    fprintf(stderr, "gemmview: %s: only the memory that block %s touches first is kept: %s\n", file,
            blocks, touched.why);
  capsule_cut(arena, capsule, touched.pages, PTX_PAGE_BYTES);
  capsule->blocks = blocks;
  capsule->goes_on |= touched.why != NULL;
}

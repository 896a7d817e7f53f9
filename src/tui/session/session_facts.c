// Gives facts (fact.h) the session's knowledge: targets, ladders, records and counters of GPUs.
//
// The model reads no files. Records come from data/results, counters from data/facts; lessons and
// claims ask for both through the two functions of FactWorld.
#include "base/embed.h"
#include "kernels/toolchain/machine/clock_facts.h"
#include "kernels/toolchain/machine/counted.h"
#include "model/lessons/fact.h"
#include "tui/session/session.h"

// Times measured here are left out: a text that compares two records has to speak of one GPU.
static bool find_record(const void *records, const Schedule *schedule, FactRecord *out) {
  const Results *results = records;
  for (int i = 0; i < results->n_timed; i++) {
    const Timed *timed = &results->timed[i];
    if (timed->origin != ORIGIN_RECORDED || !timed->ok || !timed->gpu || !timed->date) continue;
    if (!schedule_same(&timed->schedule, schedule)) continue;
    *out = (FactRecord){timed->tflops,      timed->ratio, timed->registers,
                        timed->spill_bytes, timed->gpu,   timed->date};
    return true;
  }
  return false;
}

// The files of data/facts that say what was counted of whole kernels.
static const char *const counter_files[] = {"facts/h200_kernels.jsonl", "facts/nvrtc_kernels.jsonl",
                                            "facts/h200_stalls.jsonl"};
enum { COUNTER_FILES = sizeof counter_files / sizeof *counter_files };

static bool find_count(const void *counters, const Schedule *schedule, const char *name,
                       FactCount *out) {
  const CountedKernels *const *files = counters;
  for (int i = 0; i < COUNTER_FILES; i++) {
    const CountedKernel *kernel = counted_find(files[i], schedule, name, &out->number);
    if (!kernel) continue;
    out->by = kernel->gpu ? kernel->gpu : kernel->compiler;
    out->date = kernel->date;
    return true;
  }
  return false;
}

// A file that cannot be read costs its numbers, never the lessons.
static const CountedKernels *load_file(Session *session, const char *path) {
  const EmbeddedFile *file = embed_find(session->app, path);
  Diags diags = diags_new(session->app);
  if (!file) return NULL;
  const CountedKernels *counted =
      counted_read(session->app, file->text, file->size, file->path, &diags);
  if (!counted) session_say(session, SAID_WARNING, "%s", diags.first->text);
  return counted;
}

static const CountedKernels *const *load_counters(Session *session) {
  const CountedKernels **files = ARENA_ARRAY(session->app, const CountedKernels *, COUNTER_FILES);
  for (int i = 0; i < COUNTER_FILES; i++) files[i] = load_file(session, counter_files[i]);
  return files;
}

const FactWorld *session_facts(Session *session) {
  if (session->background.facts) return session->background.facts;
  FactWorld *facts = ARENA_NEW(session->app, FactWorld);
  FactRuns *runs = ARENA_NEW(session->app, FactRuns);
  *runs = (FactRuns){.arena = session->app};
  *facts = (FactWorld){.targets = &session->doc.targets,
                       .ladders = session->doc.ladders,
                       .n_ladders = session->doc.n_ladders,
                       .recorded = find_record,
                       .records = &session->background.results,
                       .counted = find_count,
                       .counters = load_counters(session),
                       .clock = clock_facts_read,
                       .runs = runs};
  return session->background.facts = facts;
}

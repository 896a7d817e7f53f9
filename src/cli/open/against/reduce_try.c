// A text: read, run, assembled, run as machine code, and compared; the cheap questions first.
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "cli/open/against/reduce_parts.h"
#include "cli/open/open_cubin.h"
#include "cli/open/open_parts.h"

const char *const reduce_verdict_texts[REDUCE_N_VERDICTS] = {
#define VERDICT(id, text) text,
    REDUCE_VERDICTS(VERDICT)
#undef VERDICT
};

static uint64_t hash_of(const ReduceState *s) {
  uint64_t hash = hash_bytes(HASH_START, s->text, s->bytes);
  hash = hash_bytes(hash, s->launch.grid, sizeof s->launch.grid);
  hash = hash_bytes(hash, s->launch.block, sizeof s->launch.block);
  hash = hash_bytes(hash, &s->launch.dynamic_smem, sizeof s->launch.dynamic_smem);
  hash = hash_bytes(hash, &s->blocks, sizeof s->blocks.first + sizeof s->blocks.last);
  for (int i = 0; i < s->args.count; i++) hash = hash_text(hash, s->args.items[i]);
  return hash;
}

static bool is_seen(const Reduce *r, const ReduceState *s) {
  const uint64_t hash = hash_of(s);
  for (int i = 0; i < r->n_seen; i++)
    if (r->seen[i] == hash) return true;
  return false;
}

static void see(Reduce *r, const ReduceState *s) {
  if (r->n_seen == r->cap_seen) {
    r->cap_seen = 2 * r->cap_seen + 256;
    uint64_t *more = ARENA_ARRAY(r->arena, uint64_t, r->cap_seen);
    if (r->n_seen) memcpy(more, r->seen, sizeof *more * (size_t)r->n_seen);
    r->seen = more;
  }
  r->seen[r->n_seen++] = hash_of(s);
}

unsigned reduce_kinds(const PtxMachine *m) {
  unsigned kinds = 0;
  for (int i = 0; i < ptx_machine_findings(m); i++) kinds |= 1u << ptx_machine_finding(m, i)->kind;
  return kinds;
}

static bool read_ptx(Arena *arena, const Reduce *r, const ReduceState *s, Sides *sides,
                     Diags *diags) {
  *sides = (Sides){.kernel = r->kernel, .launch = s->launch, .blocks = s->blocks, .args = s->args};
  sides->launch.budget = r->budget;
  sides->module[SIDE_PTX] = ptx_module_read(arena, s->text, s->bytes, "reduced", diags);
  return sides->module[SIDE_PTX] && diags->count == 0;
}

static const char *assemble(Arena *arena, const Reduce *r, const ReduceState *s,
                            const PtxModule *ptx, size_t *bytes) {
  const OpenText text = {.ptx = s->text, .bytes = s->bytes};
  const char *target = ptx->target ? ptx->target : "sm_90a", *why = NULL;
  return open_assemble(arena, r->ptxas, &text, r->kernel, target, bytes, &why);
}

static const PtxModule *read_code(Arena *arena, Reduce *r, const char *cubin, size_t bytes,
                                  Diags *diags) {
  const OpenRequest of = {.path = r->path, .kernel = r->kernel, .listings = &r->listings};
  return open_cubin(arena, &of, NULL, cubin, bytes, false, diags);
}

Sides reduce_sides(Arena *arena, Reduce *r, const ReduceState *s, const char **cubin, size_t *bytes,
                   Diags *diags) {
  Sides sides;
  *cubin = read_ptx(arena, r, s, &sides, diags)
               ? assemble(arena, r, s, sides.module[SIDE_PTX], bytes)
               : NULL;
  if (*cubin) sides.module[SIDE_MACHINE] = read_code(arena, r, *cubin, *bytes, diags);
  return sides;
}

// ---- before machine code runs -------------------------------------------------------------------

// An access to the gap in front of the variables, which is the system's in machine code.
static void note_gap(void *self, const PtxAccess *access) {
  for (int l = 0; l < PTX_LANES && access->space == PTX_SPACE_SHARED; l++)
    if (access->mask >> l & 1 && access->addr[l] >= 0 && access->addr[l] < PIECES_GAP)
      *(bool *)self = true;
}

// An address that an edit made a number means another place in machine code: there the system's
// part lies in front of the variables. Where the user's own text does so, edits may, too.
static bool depends_on_place(const Reduce *r, const ReduceTrial *t) {
  if (r->is_placed || !strstr(t->state.text, ".shared")) return false;
  Arena *arena = arena_new("moved");
  Diags diags = diags_new(arena);
  ReduceState moved = t->state;
  moved.text = pieces_moved(arena, moved.text);
  moved.bytes = strlen(moved.text);
  Sides sides;
  Side side[SIDES] = {t->side[SIDE_PTX]};
  bool in_gap = false;
  const bool same = read_ptx(arena, r, &moved, &sides, &diags) &&
                    side_run(&sides, arena, SIDE_PTX, NULL, note_gap, &in_gap, &side[1], &diags) &&
                    !in_gap && side[1].outcome == side[0].outcome &&
                    !(reduce_kinds(side[1].machine) & ~r->findings) && side_first_word(side).n == 0;
  arena_free(arena);
  return !same;
}

// A run of the PTX is watched for its flow, and for the words that it stores to.
typedef struct Watch {
  FlowRun flow;  // the first: flow_trace() is given the whole
  StoredWords words;
} Watch;

static void note_store(void *self, const PtxAccess *access) {
  Watch *watch = self;
  stored_words_note(&watch->words, access);
}

static ReduceVerdict begin(Reduce *r, ReduceTrial *t) {
  Diags diags = diags_new(t->arena);
  if (!read_ptx(t->arena, r, &t->state, &t->sides, &diags)) return REDUCE_NO_PTX;
  const PtxFunction *kernel = ptx_module_kernel(t->sides.module[SIDE_PTX], r->kernel, &diags);
  if (!kernel) return REDUCE_NO_PTX;
  Watch watch = {flow_run_new(t->arena, kernel), {.arena = t->arena}};
  Side *side = &t->side[SIDE_PTX];
  if (!side_run(&t->sides, t->arena, SIDE_PTX, flow_trace, note_store, &watch, side, &diags))
    return REDUCE_NO_PTX;
  if (watch.flow.unwritten_pc >= 0) {
    r->unwritten_line = t->sides.module[SIDE_PTX]->code[watch.flow.unwritten_pc].line;
    return REDUCE_UNWRITTEN;
  }
  const unsigned kinds = reduce_kinds(side->machine);
  if (side->outcome != PTX_DONE || (kinds & ~r->findings)) return REDUCE_OTHER_END;
  t->is_disputed = watch.words.is_disputed;
  if (t->is_disputed && !r->is_disputed) return REDUCE_DISPUTED;
  if (depends_on_place(r, t)) return REDUCE_PLACED;
  r->assembled++;
  t->cubin = assemble(t->arena, r, &t->state, t->sides.module[SIDE_PTX], &t->bytes);
  return t->cubin ? REDUCE_SHOWS : REDUCE_NOT_ASSEMBLED;
}

ReduceVerdict reduce_begin(Reduce *r, Arena *arena, const ReduceState *candidate,
                           ReduceTrial *out) {
  *out = (ReduceTrial){.arena = arena, .state = *candidate};
  const bool seen = is_seen(r, candidate);
  const ReduceVerdict v = seen ? REDUCE_SEEN : begin(r, out);
  if (v == REDUCE_SHOWS) return v;
  if (!seen) {
    r->counts[v]++;
    see(r, candidate);
  }
  arena_free(arena);
  return v;
}

// ---- machine code -------------------------------------------------------------------------------

static void learn(Reduce *r, const ReduceTrial *trials, int n) {
  Arena *arena = arena_new("learn");
  McCubin *cubins = ARENA_ARRAY(arena, McCubin, n + 1);
  const McCubin **known = ARENA_ARRAY(arena, const McCubin *, n + 1);
  int n_known = 0;
  for (int i = 0; i < n; i++)
    if (mc_cubin_read(arena, trials[i].cubin, trials[i].bytes, &cubins[i]))
      known[n_known++] = &cubins[i];
  const char *target = trials->sides.module[SIDE_PTX]->target;
  open_learn(arena, &r->listings, target ? target : "sm_90a", known, n_known, r->kernel);
  arena_free(arena);
}

static bool ends_alike(const Reduce *r, const Side *machine) {
  const PtxFinding *end = side_end(machine);
  return machine->outcome == r->outcome && (!end || end->kind == r->end);
}

static bool shows(Reduce *r, ReduceTrial *t) {
  Diags diags = diags_new(t->arena);
  const PtxModule *code = read_code(t->arena, r, t->cubin, t->bytes, &diags);
  t->sides.module[SIDE_MACHINE] = code;
  Side *side = &t->side[SIDE_MACHINE];
  if (!code || !side_run(&t->sides, t->arena, SIDE_MACHINE, NULL, NULL, NULL, side, &diags))
    return false;
  if (!ends_alike(r, side)) return false;
  return !r->is_memory || side_first_word(t->side).n > 0;
}

static void keep(Reduce *r, const ReduceState *s) {
  r->state = *s;
  r->state.text = arena_strndup(r->arena, s->text, s->bytes);
  const char **args = ARENA_ARRAY(r->arena, const char *, s->args.count + 1);
  for (int i = 0; i < s->args.count; i++) args[i] = s->args.items[i];
  r->state.args.items = args;
}

int reduce_finish(Reduce *r, ReduceTrial *trials, int n) {
  int found = -1;
  if (n > 0) learn(r, trials, n);
  for (int i = 0; i < n; i++) {
    ReduceTrial *t = &trials[i];
    if (found < 0) {
      const bool does = shows(r, t);
      r->counts[does ? REDUCE_SHOWS : REDUCE_EQUAL]++;
      see(r, &t->state);
      if (does) found = i;
      if (does) keep(r, &t->state);
    }
    arena_free(t->arena);
  }
  return found;
}

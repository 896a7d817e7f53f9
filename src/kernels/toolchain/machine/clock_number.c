// State → model → the text again → its machine code, played.
//
// The model is made anew where the number is worked out, from the same line as the text; a text
// that comes out otherwise is another program's, and has no number here.
//
// A number that was kept holds as long as nothing changed that made it: the facts are told apart by
// their bytes, the engine by the build ID that the linker gave the program, which is a hash of all
// that it consists of.
#include "kernels/toolchain/machine/clock_number.h"

#include <elf.h>
#include <link.h>
#include <math.h>
#include <string.h>

#include "base/elf_file.h"
#include "base/embed.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/whole.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/program.h"
#include "model/readings/cost/power.h"

static ClockNumber *no_number(Arena *arena, const char *why_not) {
  ClockNumber *out = ARENA_NEW(arena, ClockNumber);
  out->why_not = why_not;
  return out;
}

static const Model *model_of(Arena *arena, const ClockSubject *subject) {
  TargetTable targets;
  Diags diags = diags_new(arena);
  Schedule schedule = schedule_plain();
  const EmbeddedFile *file = embed_find(arena, "gpus.json");
  if (!file || !targets_parse(arena, file->text, file->size, &diags, &targets)) return NULL;
  if (subject->device.name[0]) device_apply(arena, &subject->device, &targets);
  if (!schedule_parse(&schedule, subject->state, &diags)) return NULL;
  const Model *model = model_build(arena, &targets, &schedule);
  return model->ok ? model : NULL;
}

static ClockTexts texts_of(Arena *arena, const Emission *emission, const CompileResult *result,
                           int main_kernel) {
  ClockTexts out = {.stack_bytes = max_int(0, result->kernels[main_kernel].stack_bytes)};
  for (int i = 0; i < emission->n_kernels; i++)
    out.text[i] = elf_section(result->cubin, result->cubin_bytes,
                              arena_printf(arena, ".text.%s", emission->kernel[i].name));
  return out;
}

// How far tensor cores and power hold the clock down is known less well than clocks are; where
// no record says what the products take, a GPU that was measured may be slower by as much as one
// that was not.
ClockedSpeed clock_speed(const Model *model, const ClockAnswer *answer) {
  static const double held_error = 0.05, unknown_error = 0.3;
  const ClockSpan *clocks = &answer->clocks;
  const double error =
      clocks->high / clocks->value - 1 + (answer->power_share < 1 ? held_error : 0);
  const double slower = power_is_known(model) ? error : fmax(error, unknown_error);
  return (ClockedSpeed){answer->tflops, answer->tflops / (1 + slower), answer->tflops * (1 + error),
                        answer->unchecked};
}

static ClockNumber *number_of(Arena *arena, const Model *model, const ClockAnswer *answer) {
  ClockNumber *out = ARENA_NEW(arena, ClockNumber);
  *out = (ClockNumber){
      .speed = clock_speed(model, answer), .clocks = answer->clocks.value, .mhz = answer->mhz};
  return out;
}

ClockNumber *clock_number(Arena *arena, const ClockSubject *subject, const Plan *plan,
                          const CompileResult *result) {
  const Model *model = model_of(arena, subject);
  if (!model) return no_number(arena, "its state cannot be read");
  const Emission *emission = emit_model(arena, model, model->program);
  const int which = model->program->main_kernel;
  if (!str_equal(emission->text, plan->cuda) || which >= result->n_kernels)
    return no_number(arena, "its text differs from that of its state");
  const KernelResources *said = &result->kernels[which];
  model = model_compiled(arena, model, said->registers, kernel_spill_bytes(said), NULL);
  const ClockTexts texts = texts_of(arena, emission, result, which);
  const ClockAnswer answer =
      clock_answer_state(arena, model, emission, &texts, NULL, &(ClockAsk){0});
  if (answer.why_not) return no_number(arena, answer.why_not);
  if (answer.stand_in) return no_number(arena, answer.no_clocks);
  return number_of(arena, model, &answer);
}

// ---- what it depends on -------------------------------------------------------------------------

enum { NOTE_ALIGN = 4 };

// Looks for the build ID among the notes of the program itself, which comes first.
static int find_build_id(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  uint64_t *hash = context;
  for (int i = 0; i < info->dlpi_phnum && !*hash; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    const char *at = (const char *)(info->dlpi_addr + header->p_vaddr), *end = at + header->p_memsz;
    while (header->p_type == PT_NOTE && end - at > (ptrdiff_t)sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      memcpy(&note, at, sizeof note);
      const char *name = at + sizeof note, *bytes = name + round_up(note.n_namesz, NOTE_ALIGN);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
          memcmp(name, "GNU", sizeof "GNU") == 0)
        *hash = hash_bytes(HASH_START, bytes, note.n_descsz);
      at = bytes + round_up(note.n_descsz, NOTE_ALIGN);
    }
  }
  return 1;
}

// Rows and facts may stand in a folder of the user's.
static uint64_t data_hash(Arena *arena) {
  const EmbeddedList facts = embed_list(arena, "clock/");
  const EmbeddedFile *rows = embed_find(arena, "gpus.json");
  uint64_t hash = rows ? hash_bytes(HASH_START, rows->text, rows->size) : HASH_START;
  for (int i = 0; i < facts.count; i++) {
    const EmbeddedFile *file = embed_find(arena, facts.paths[i]);
    if (file) hash = hash_bytes(hash, file->text, file->size);
  }
  return hash;
}

const char *clock_number_key(Arena *arena, const ClockSubject *subject) {
  uint64_t program = 0;
  dl_iterate_phdr(find_build_id, &program);
  if (!program) return NULL;
  Str out = str_new(arena);
  str_printf(&out, "clock %016llx %016llx %s", (unsigned long long)program,
             (unsigned long long)data_hash(arena), subject->state);
#define X(field) str_printf(&out, " %lld", (long long)subject->device.field);
  if (subject->device.name[0]) {
    str_printf(&out, " on %s", subject->device.name);
    DEVICE_FIELD_TABLE(X)
  }
#undef X
  return out.text;
}

// gemmview idesc: what 32 bits tell tcgen05.mma.
//
//   gemmview idesc f16 0x08400490
//   gemmview idesc f16 d=f32,a=bf16,b=bf16,m=128,n=256 --cta-group 2
//
// Every field with its bits, the product that is meant, where D lies in tensor memory, and what is
// illegal, which ends with status 1.
#include <inttypes.h>
#include <stdio.h>

#include "banks/layouts/instruction_descriptor.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "cli/common/tables/cli_illegal.h"

CommandRun cmd_idesc;

typedef struct IdescOptions {
  int cta_group;
  bool ws, json;
} IdescOptions;

static const Option OPTIONS[] = {
    {.name = "cta-group",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(IdescOptions, cta_group),
     .lo = 1,
     .hi = 2},
    {.name = "ws", .kind = OPTION_KIND_FLAG, .offset = offsetof(IdescOptions, ws)},
    OPTION_JSON(IdescOptions),
};

typedef struct Shown {
  Arena *arena;
  InstructionDescriptor descriptor;
  InstructionUse use;
  const char *letter, *path;  // NULL: nothing is known of where D lies
  const char *note;           // NULL: there is nothing to add
  const Diags *findings;
} Shown;

// "bf16" of a field; "" where the kind has none.
static const char *text_of(const Shown *shown, const char *name) {
  const InstructionKind *kind = shown->descriptor.kind;
  for (int i = 0; i < instruction_field_count(kind); i++) {
    const InstructionField *field = instruction_field_at(kind, i);
    if (str_equal(field->name, name))
      return instruction_field_text(shown->arena, &shown->descriptor, field);
  }
  return "";
}

// Scaled kinds sum in f32 and say nothing of it.
static const char *type_of_d(const Shown *shown) {
  const char *named = text_of(shown, "d");
  return named[0] ? named : "f32";
}

static void print_fields(const Shown *shown) {
  const InstructionDescriptor *d = &shown->descriptor;
  for (int i = 0; i < instruction_field_count(d->kind); i++) {
    const InstructionField *field = instruction_field_at(d->kind, i);
    const char *bits = field->bits == 1 ? arena_printf(shown->arena, "bit  %d", field->first)
                                        : arena_printf(shown->arena, "bits %d-%d", field->first,
                                                       field->first + field->bits - 1);
    printf("  %-7s %-7s %-10s  %s\n", field->name[0] ? field->name : "-",
           instruction_field_text(shown->arena, d, field), bits, field->what);
  }
}

static void print_text(const Shown *shown) {
  const InstructionDescriptor *d = &shown->descriptor;
  const int m = instruction_value(d, "m"), n = instruction_value(d, "n"), k = instruction_k(d);
  printf("0x%08" PRIx32 "  tcgen05.mma%s.cta_group::%d.kind::%s\n", d->word,
         shown->use.weight_stationary ? ".ws" : "", shown->use.cta_group, d->kind->name);
  print_fields(shown);
  printf("\nD %d x %d of %s = A %d x %d of %s times B %d x %d of %s\n", m, n, type_of_d(shown), m,
         k, text_of(shown, "a"), k, n, text_of(shown, "b"));
  if (shown->path)
    printf("D in tensor memory: layout %s of the ISA, %s\n", shown->letter, shown->path);
  if (shown->note) printf("note: %s\n", shown->note);
  cli_print_illegal(shown->findings);
}

static const InstructionField **fields(Arena *arena, const InstructionKind *kind) {
  const InstructionField **out =
      ARENA_ARRAY(arena, const InstructionField *, instruction_field_count(kind));
  for (int i = 0; i < instruction_field_count(kind); i++) out[i] = instruction_field_at(kind, i);
  return out;
}

#define FORM_FILE "cli/commands/forms/cmd_idesc.form"
#include "base/form_make.h"

static int run_given(Arena *arena, const IdescOptions *given, int argc, char **argv, Diags *diags) {
  Shown shown = {.arena = arena, .use = {given->cta_group, given->ws}};
  if (argc != 3) {
    diag_add(diags, "usage", "a kind and one descriptor are needed: a number, or its fields")
        ->nearest = "f16 d=f32,a=bf16,b=bf16,m=128,n=256";
    return cli_fail(diags);
  }
  if (!instruction_descriptor_parse(arena, argv[1], argv[2], &shown.descriptor, diags))
    return cli_fail(diags);
  Diags findings = diags_new(arena);
  const bool legal = instruction_descriptor_check(arena, &shown.descriptor, shown.use, &findings);
  shown.findings = &findings;
  if (legal) {
    shown.path = instruction_data_path(&shown.descriptor, shown.use, &shown.letter);
    shown.note = instruction_shape_note(arena, &shown.descriptor, shown.use);
  }
  if (given->json)
    cli_print_document(arena, &idesc_form, &shown, &shown);
  else
    print_text(&shown);
  return legal ? CLI_OK : CLI_NO;
}

int cmd_idesc(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  IdescOptions given = {.cta_group = 1};
  const int n = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
  if (!options_parse(OPTIONS, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  return run_given(arena, &given, argc, argv, &diags);
}

// gemmview sass: the instructions themselves, where the toolkit's nvdisasm is installed.
//
//   gemmview sass -k BM=16,BN=16            address, instruction
//   gemmview sass -k … --lines              with the line of `gemmview cuda` and the live registers
//   1a40! FFMA R8, R4, R6, R8               three registers of one bank; r: .reuse spares it
//   gemmview sass -k … --counts             how many instructions of which kind, for each kernel
#include <stdio.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_compile.h"
#include "kernels/toolchain/machine/register_banks.h"
#include "kernels/toolchain/machine/saved_predicates.h"
#include "kernels/worker/result_json.h"

static const char *number_text(Arena *arena, int number) {
  return number < 0 ? "" : arena_printf(arena, "%d", number);
}

static void print_listing(const Compiled *c, const SassResult *sass) {
  const RegisterBanks banks = register_banks_read(c->arena, sass, c->model->target->cc);
  const char *kernel = "";
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *line = &sass->lines[i];
    if (!str_equal(line->kernel, kernel)) printf("%s%s:\n", *kernel ? "\n" : "", line->kernel);
    kernel = line->kernel;
    if (c->given->lines)
      printf("%5s %3s | ", number_text(c->arena, line->cuda_line),
             number_text(c->arena, line->live_registers));
    if (line->address < 0)
      printf("%s\n", line->text);
    else
      printf("  %04x%-2s%s\n", (unsigned)line->address, register_bank_sign(banks.mark[i]),
             line->text);
  }
  if (banks.n_ffma) printf("\n%s\n", register_banks_sentence(c->arena, &banks));
  if (banks.n_ffma)
    printf("register banks of sm_%d: %s\n", c->model->target->cc, banks.rule->source);
  const LostPredicates lost = predicates_lost(c->arena, sass);
  if (lost.n) printf("\n%s\n", predicates_lost_sentence(c->arena, sass, &lost));
}

static void print_counts(const SassResult *sass) {
  const char *kernel = "";
  for (int i = 0; i < sass->n_counts; i++) {
    const SassCount *count = &sass->counts[i];
    if (!str_equal(count->kernel, kernel)) printf("%s%s:\n", *kernel ? "\n" : "", count->kernel);
    kernel = count->kernel;
    printf("%6d  %s\n", count->count, count->opcode);
  }
}

// The indices of the lines, so that a reader needs no rule of its own.
static void put_marked(JsonWriter *w, const char *key, const RegisterBanks *banks, int n_lines,
                       RegisterBankMark mark) {
  json_key(w, key);
  json_begin_array(w);
  for (int i = 0; i < n_lines; i++)
    if (banks->mark[i] == mark) json_put_int(w, i);
  json_end_array(w);
}

static void put_register_banks(JsonWriter *w, Arena *arena, const SassResult *sass, int sm) {
  const RegisterBanks banks = register_banks_read(arena, sass, sm);
  json_key(w, "register_banks");
  json_begin_object(w);
  json_member_int(w, "ffma", banks.n_ffma);
  json_member_int(w, "conflicts", banks.n_conflicts);
  json_member_int(w, "spared", banks.n_spared);
  json_member_int(w, "reused_operands", banks.n_reused);
  json_member_int(w, "ffma_clocks", banks.rule->clocks);
  json_member_int(w, "lost_clocks_least", banks.lost_least);
  json_member_int(w, "lost_clocks_most", banks.lost_most);
  json_member_string(w, "rule_source", banks.rule->source);
  put_marked(w, "conflict_lines", &banks, sass->n_lines, BANK_MARK_CONFLICT);
  put_marked(w, "spared_lines", &banks, sass->n_lines, BANK_MARK_SPARED);
  json_end_object(w);
}

static void put_saved_predicates(JsonWriter *w, Arena *arena, const SassResult *sass) {
  const LostPredicates lost = predicates_lost(arena, sass);
  json_key(w, "saved_predicates");
  json_begin_object(w);
  json_member_int(w, "saved", lost.n_saved);
  json_member_int(w, "lost", lost.n);
  json_member_string(w, "sentence", predicates_lost_sentence(arena, sass, &lost));
  json_end_object(w);
}

static void print_json(const Compiled *c, const SassResult *sass) {
  Str text = str_new(c->arena), out = str_new(c->arena);
  Diags diags = diags_new(c->arena);
  sass_result_write_json(&text, sass);
  JsonWriter w = json_writer(&out);
  cli_compile_json_heading(&w, c, "sass");
  json_key(&w, "sass");
  json_put_value(&w, json_parse(c->arena, text.text, text.length, &diags, "sass"));
  put_register_banks(&w, c->arena, sass, c->model->target->cc);
  put_saved_predicates(&w, c->arena, sass);
  json_end_object(&w);
  puts(out.text);
}

static void show(const Compiled *c) {
  const SassResult *sass = c->answer->sass;
  if (c->given->json)
    print_json(c, sass);
  else if (c->given->counts)
    print_counts(sass);
  else
    print_listing(c, sass);
}

CommandRun cmd_sass;
int cmd_sass(Arena *arena, int argc, char **argv) {
  static const CompileCommand command = {
      .name = "sass", .want = "cubin,sass", .takes_listing = true, .show = show};
  return cli_compile_run(&command, arena, argc, argv);
}

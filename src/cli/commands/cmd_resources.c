// gemmview resources: what a block takes of an SM, estimated by the model and, where there is a
// compiler, as ptxas reports it. No GPU is needed.
//
//   $ gemmview resources -k FM=8,FN=8,STAGE=11
//   matmul                       model   compiled
//   registers per thread           108         96
//   spilled                          -        0 B
//   …
//   shared memory per block    16384 B    16384 B
//
// With --knob a table of what the compiler gives to each point of a product of knobs, beside what
// an article has of it (cli/common/tables/compile_table.h). With --places what the compiler gives
// to each place of a copy (cli/common/tables/place_table.h).
#include <stdio.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_compile.h"
#include "cli/common/tables/cli_cost.h"
#include "cli/common/tables/cli_steps.h"
#include "cli/common/tables/compile_table.h"
#include "cli/common/tables/place_table.h"
#include "model/readings/cost/site_json.h"

static const KernelResources *compiled_kernel(const Compiled *c, int kernel) {
  const CompileResult *cubin = c->answer->cubin;
  return cubin && cubin->ok && kernel < cubin->n_kernels ? &cubin->kernels[kernel] : NULL;
}

// "16384 B"; a number below 0 is not known.
static const char *amount(Arena *arena, int64_t number, const char *unit) {
  if (number < 0) return "-";
  return arena_printf(arena, "%lld%s%s", (long long)number, *unit ? " " : "", unit);
}

static void row(Arena *arena, const char *what, int64_t model, int64_t compiled, const char *unit) {
  printf("%-24s %10s %10s\n", what, amount(arena, model, unit), amount(arena, compiled, unit));
}

static int64_t dynamic_or(const EmitKernel *facts, const KernelResources *k) {
  return k ? k->smem_bytes + facts->dynamic_smem_bytes : -1;
}

// "  by instructions   1 STL 1 LDL in front of the loop, 0 and 3 in it, 0 and 0 behind".
static void print_spills(Arena *arena, const KernelResources *k) {
  if (k && spills_are_any(&k->spills)) printf("  STL, LDL %s\n", spills_text(arena, &k->spills));
}

static void print_kernel(const Compiled *c, int i) {
  const EmitKernel *facts = &c->emission->kernel[i];
  const KernelResources *k = compiled_kernel(c, i);
  const Resources *r = &c->model->resources;
  bool is_main = i == c->model->program->main_kernel;
  printf("%s%-24s %10s %10s\n", i ? "\n" : "", facts->name, "model", "compiled");
  row(c->arena, "registers per thread", is_main ? r->n_registers : -1, k ? k->registers : -1, "");
  if (is_main && r->consumer_registers) {
    row(c->arena, "  left to a consumer", r->consumer_registers, -1, "");
    row(c->arena, "  left to a producer", r->producer_registers, -1, "");
  }
  row(c->arena, "spilled", -1, k ? k->spill_store_bytes : -1, "B");
  print_spills(c->arena, k);
  row(c->arena, "stack", -1, k ? k->stack_bytes : -1, "B");
  row(c->arena, "shared memory per block", facts->smem_bytes, dynamic_or(facts, k), "B");
  row(c->arena, "threads per block", facts->n_threads, facts->n_threads, "");
  row(c->arena, facts->persistent ? "tiles" : "blocks", facts->n_blocks, facts->n_blocks, "");
  if (facts->cluster > 1) {
    row(c->arena, "blocks per cluster", facts->cluster, facts->cluster, "");
    printf(
        "how many clusters are active at once is not known: it depends on the GPCs, and the driver "
        "says it on the GPU\n");
  }
  if (k && k->note) printf("%s\n", k->note);
}

static void print_fit(const Model *model, const char *by) {
  const Resources *r = &model->resources;
  char limiters[LIMITERS_BYTES];
  printf("%-9s %d block%s per SM, limited by %s; %.1f %% of the warps of %s; %.2f waves\n", by,
         r->blocks_per_sm, r->blocks_per_sm == 1 ? "" : "s", resources_limiters(limiters, r),
         100 * r->occupancy, model->target->name, r->waves);
}

// Numbers that follow from registers go by the compiler's count if it is known, as in the explorer.
static void print_text(const Compiled *c) {
  const KernelResources *k = compiled_kernel(c, c->model->program->main_kernel);
  const Model *model = cli_compiled_model(c);
  for (int i = 0; i < c->emission->n_kernels; i++) print_kernel(c, i);
  putchar('\n');
  print_fit(c->model, "model:");
  if (k) print_fit(model, "compiled:");
  cli_print_traffic(c->arena, model);
  putchar('\n');
  cli_print_sites(c->arena, model);
  cli_print_globals(c->arena, c->model);
  cli_print_steps(c->arena, c->model);
}

// A number that nobody gave is negative.
static void put_said(JsonWriter *w, const char *key, int64_t number) {
  json_member_known(w, key, number >= 0, number);
}

static void write_kernel(JsonWriter *w, const Compiled *c, int i) {
  const EmitKernel *facts = &c->emission->kernel[i];
  const KernelResources *k = compiled_kernel(c, i);
  json_begin_object(w);
  json_member_string(w, "name", facts->name);
  json_member_int(w, facts->persistent ? "tiles" : "blocks", facts->n_blocks);
  json_member_int(w, "threads", facts->n_threads);
  json_member_int(w, "blocks_per_cluster", facts->cluster);
  put_said(w, "active_clusters", -1);  // the driver's to say, on the GPU
  json_member_int(w, "smem_bytes", facts->smem_bytes);
  put_said(w, "registers", k ? k->registers : -1);
  put_said(w, "spill_store_bytes", k ? k->spill_store_bytes : -1);
  put_said(w, "spill_load_bytes", k ? k->spill_load_bytes : -1);
  put_said(w, "stack_bytes", k ? k->stack_bytes : -1);
  if (k) spills_put_json(w, &k->spills);
  put_said(w, "compiled_smem_bytes", dynamic_or(facts, k));
  json_member_string(w, "note", k ? k->note : NULL);
  json_end_object(w);
}

static void write_model(JsonWriter *w, const Resources *r) {
  json_key(w, "model");
  json_begin_object(w);
  json_member_bool(w, "estimated", true);
  json_member_int(w, "registers", r->n_registers);
  put_said(w, "consumer_registers", r->consumer_registers ? r->consumer_registers : -1);
  put_said(w, "producer_registers", r->producer_registers ? r->producer_registers : -1);
  json_member_int(w, "warps", r->n_warps);
  json_member_int(w, "consumer_warps", r->n_consumers);
  json_member_int(w, "smem_bytes", r->smem_bytes);
  json_member_int(w, "blocks_per_sm", r->blocks_per_sm);
  json_member_string(w, "limiter", r->limiter);
  resources_put_limiters(w, r);
  json_member_double(w, "occupancy", r->occupancy);
  json_member_double(w, "waves", r->waves);
  json_end_object(w);
}

static void print_json(const Compiled *c) {
  Str out = str_new(c->arena);
  JsonWriter w = json_writer(&out);
  cli_compile_json_heading(&w, c, "resources");
  write_model(&w, &c->model->resources);
  const Model *model = cli_compiled_model(c);
  cli_put_traffic(&w, &model->traffic);
  cli_put_sites(&w, model);
  global_sites_put_json(&w, c->model);
  cli_put_steps(&w, c->arena, c->model);
  json_key(&w, "kernels");
  json_begin_array(&w);
  for (int i = 0; i < c->emission->n_kernels; i++) write_kernel(&w, c, i);
  json_end_array(&w);
  json_end_object(&w);
  puts(out.text);
}

static void show(const Compiled *c) {
  if (c->given->json)
    print_json(c);
  else
    print_text(c);
}

CommandRun cmd_resources;
int cmd_resources(Arena *arena, int argc, char **argv) {
  static const CompileCommand command = {
      .name = "resources", .want = "cubin,sass", .shows_failure = true, .show = show};
  if (compile_table_is_asked(argc, argv)) return compile_table_run(arena, argc, argv);
  if (place_table_is_asked(argc, argv)) return place_table_run(arena, argc, argv);
  return cli_compile_run(&command, arena, argc, argv);
}

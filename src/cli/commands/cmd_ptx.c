// gemmview ptx: what NVRTC makes of a schedule, before ptxas. No GPU is needed.
//
//   gemmview ptx -k BM=16,BN=16             the PTX as NVRTC gives it
//   gemmview ptx -k … --lines               code alone, the line of `gemmview cuda` in front
//   gemmview ptx -k … --counts              how many instructions of which kind
#include <stdio.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_compile.h"
#include "kernels/toolchain/machine/ptx_lines.h"

static void print_lines(const PtxListing *listing) {
  for (int i = 0; i < listing->n_lines; i++) {
    const PtxLine *line = &listing->lines[i];
    if (line->cuda_line > 0)
      printf("%5d | %s\n", line->cuda_line, line->text);
    else
      printf("      | %s\n", line->text);
  }
}

static void print_counts(const PtxListing *listing) {
  for (int i = 0; i < listing->n_counts; i++)
    printf("%6d  %s\n", listing->counts[i].count, listing->counts[i].opcode);
}

static void write_counts(JsonWriter *w, const PtxListing *listing) {
  json_key(w, "counts");
  json_begin_array(w);
  for (int i = 0; i < listing->n_counts; i++) {
    json_begin_object(w);
    json_member_string(w, "opcode", listing->counts[i].opcode);
    json_member_int(w, "count", listing->counts[i].count);
    json_end_object(w);
  }
  json_end_array(w);
}

static void write_lines(JsonWriter *w, const PtxListing *listing) {
  json_key(w, "lines");
  json_begin_array(w);
  for (int i = 0; i < listing->n_lines; i++) {
    const PtxLine *line = &listing->lines[i];
    json_begin_object(w);
    json_member_string(w, "text", line->text);
    json_member_string(w, "opcode", line->opcode);
    if (line->cuda_line > 0)
      json_member_int(w, "cuda_line", line->cuda_line);
    else
      json_member_null(w, "cuda_line");
    json_end_object(w);
  }
  json_end_array(w);
}

static void print_json(const Compiled *c, const PtxListing *listing) {
  Str out = str_new(c->arena);
  JsonWriter w = json_writer(&out);
  cli_compile_json_heading(&w, c, "ptx");
  json_member_double(&w, "ptx_ms", c->answer->ptx->ptx_ms);
  json_member_string(&w, "ptx", c->answer->ptx->ptx);
  write_counts(&w, listing);
  write_lines(&w, listing);
  json_end_object(&w);
  puts(out.text);
}

static void show(const Compiled *c) {
  const char *ptx = c->answer->ptx->ptx;
  const PtxListing *listing = ptx_read(c->arena, ptx);
  if (c->given->json)
    print_json(c, listing);
  else if (c->given->counts)
    print_counts(listing);
  else if (c->given->lines)
    print_lines(listing);
  else
    fputs(ptx, stdout);
}

CommandRun cmd_ptx;
int cmd_ptx(Arena *arena, int argc, char **argv) {
  static const CompileCommand command = {
      .name = "ptx", .want = "ptx", .takes_listing = true, .show = show};
  return cli_compile_run(&command, arena, argc, argv);
}

// What is left of CUDA after tests/data/cuda_on_cpu.h is turned into C line by line: the signature,
// the declaration of the shared pool (it is a global there) and the template argument of the wait.
// The names that every text has get a number, so that many texts fit into one file.
#include "cuda_on_cpu.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const renamed[] = {"M", "N", "K", "matmul", "zero", "reduce"};
enum { N_RENAMED = sizeof renamed / sizeof renamed[0] };

CpuProgram cpu_program_new(Arena *arena) {
  CpuProgram cpu = {.text = str_new(arena)};
  str_add(&cpu.text, "#include \"cuda_on_cpu.h\"\n\n");
  return cpu;
}

static void add_line(Str *out, const char *line, size_t n) {
  static const char signature[] = "extern \"C\" __global__";
  static const char wait[] = "cp_async_wait<";
  char *copy = strndup(line, n);
  char *at = strstr(copy, wait);
  if (strncmp(copy, signature, sizeof signature - 1) == 0) {
    str_add(out, "static void");
  } else if (at) {
    str_printf(out, "cp_async_wait(%d);", atoi(at + sizeof wait - 1));
  } else if (!strstr(copy, "__shared__")) {
    str_add(out, copy);
  }
  str_add_char(out, '\n');
  free(copy);
}

static void add_call(Str *out, const EmitKernel *kernel, int number, int index) {
  str_printf(out, "static void call_%d_%d(void) { %s(", number, index, kernel->name);
  for (int i = 0; i < kernel->n_args; i++)
    str_printf(out, "%son_%d[%d]", i ? ", " : "", number,
               kernel->arg[i]->role == ROLE_PARTIAL ? 3 : kernel->arg[i]->id);
  str_add(out, kernel->takes_alpha ? ", 1.0f); }\n" : "); }\n");
}

static void add_multiply(Str *out, const Emission *emission, int number) {
  for (int i = 0; i < emission->n_kernels; i++) add_call(out, &emission->kernel[i], number, i);
  str_printf(out,
             "static void multiply_%d(float *A, float *B, float *C, float *P, bool falling) {\n"
             "  float *const with[] = {A, B, C, P};\n"
             "  memcpy(on_%d, with, sizeof with);\n",
             number, number);
  for (int i = 0; i < emission->n_kernels; i++)
    str_printf(out, "  launch(call_%d_%d, %lld, %d, falling);\n", number, i,
               (long long)emission->kernel[i].n_blocks, (int)emission->kernel[i].n_threads);
  str_add(out, "}\n");
}

void cpu_program_add(CpuProgram *cpu, const char *name, const Emission *emission,
                     const Program *program) {
  Str *out = &cpu->text;
  for (int i = 0; i < cpu->n_cases; i++)
    if (strcmp(cpu->seen[i], emission->text) == 0) return;
  int number = cpu->n_cases++;
  ck_assert_int_lt(number, CPU_CASES_MAX);
  cpu->seen[number] = emission->text;
  for (int i = 0; i < N_RENAMED; i++)
    str_printf(out, "#define %s %s_%d\n", renamed[i], renamed[i], number);
  for (int i = 0; i < emission->n_lines; i++)
    add_line(out, emission->text + emission->lines[i].begin, emission->lines[i].length);
  str_printf(out, "static float *on_%d[4];\n", number);
  add_multiply(out, emission, number);
  for (int i = 0; i < N_RENAMED; i++) str_printf(out, "#undef %s\n", renamed[i]);
  str_printf(out, "static const Case case_%d = {\"%s\", %lld, %lld, %lld, %lld, multiply_%d};\n\n",
             number, name, (long long)program->problem.m, (long long)program->problem.n,
             (long long)program->problem.k, (long long)(emission->workspace_bytes / 4), number);
}

static const char *finish(Arena *arena, const CpuProgram *cpu) {
  Str out = str_new(arena);
  str_add(&out, cpu->text.text);
  str_add(&out, "int main(void) {\n  const Case cases[] = {");
  for (int i = 0; i < cpu->n_cases; i++) str_printf(&out, "%scase_%d", i ? ", " : "", i);
  str_printf(&out, "};\n  return run_cases(cases, %d);\n}\n", cpu->n_cases);
  return out.text;
}

static const char *run_command(Arena *arena, const char *command, int *status) {
  FILE *pipe = popen(command, "r");
  ck_assert(pipe != NULL);
  char said[4096];
  size_t n = fread(said, 1, sizeof said - 1, pipe);
  said[n] = 0;
  char rest[4096];
  while (fread(rest, 1, sizeof rest, pipe) > 0) continue;
  *status = pclose(pipe);
  return arena_strdup(arena, said);
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  ck_assert(file != NULL && fputs(text, file) >= 0);
  ck_assert(fclose(file) == 0);
}

bool cpu_program_run(Arena *arena, const CpuProgram *cpu, const char **said, bool *skipped) {
  int status = 0;
  run_command(arena, "cc --version 2>&1", &status);
  *skipped = status != 0;
  if (*skipped) return true;
  char folder[] = "/tmp/gemmview-emit-XXXXXX";
  ck_assert(mkdtemp(folder) != NULL);
  write_file(arena_printf(arena, "%s/texts.c", folder), finish(arena, cpu));
  // Locals nobody initialised hold a pattern, so that a register read too early shows.
  const char *command = arena_printf(
      arena,
      "cd %s && cc -std=gnu17 -O0 -w -ftrivial-auto-var-init=pattern -I%s/tests/data texts.c -o "
      "texts -lm 2>&1 && timeout 120 ./texts 2>&1",
      folder, getcwd(arena_alloc(arena, 4096), 4096));
  *said = run_command(arena, command, &status);
  bool failed = status != 0 || !strstr(*said, "texts compute C = A * B");
  if (failed) *said = arena_printf(arena, "%s\n(kept in %s)", *said, folder);
  if (!failed) run_command(arena, arena_printf(arena, "rm -r %s", folder), &status);
  return !failed;
}

// An emitted text is C++ but for its signature and the declaration of the shared pool; these two
// are rewritten line by line, each text in a namespace of its own, so that many fit into one file:
//   extern "C" __global__ void __launch_bounds__(256)   ->   static void
//   __shared__ __align__(128) float smem[4160];         ->   float *const smem = (float *)pool;
#include "cuda_on_cpu.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/text/prelude.h"

CpuProgram cpu_program_new(Arena *arena) {
  CpuProgram cpu = {.text = str_new(arena)};
  // The emulation takes longer than the texts: they are compiled fast, and it runs fast.
  str_add(&cpu.text, "#include \"cuda_on_cpu.h\"\n\n#pragma GCC optimize(\"O0\")\n");
  return cpu;
}

static void add_line(Str *out, const char *line, size_t n) {
  static const char signature[] = "extern \"C\" __global__";
  char *copy = strndup(line, n), *pool = strstr(copy, "__align__("), *name = strstr(copy, " smem[");
  if (strncmp(copy, signature, sizeof signature - 1) == 0) {
    str_add(out, "static void");
  } else if (pool && name) {
    char *type = strchr(pool, ' ') + 1;
    *name = 0;
    str_printf(out, "%s *const smem = (%s *)pool;", type, type);
  } else {
    str_add(out, copy);
  }
  str_add_char(out, '\n');
  free(copy);
}

// Where a buffer is: an operand of its own, or of a matmul a place in the workspace, where those of
// the program follow each other.
static void add_place(Str *out, const Program *program, const Buffer *buffer) {
  long long before = 0;
  if (program->problem.kind == PROBLEM_ATTENTION || !buffer_is_workspace(buffer)) {
    str_printf(out, "on[%d]", buffer->id);
    return;
  }
  for (int i = 0; program->buffer[i] != buffer; i++)
    if (buffer_is_workspace(program->buffer[i])) before += buffer_bytes(program->buffer[i]);
  str_printf(out, "((char *)on[3] + %lld)", before);
}

// "tensor_map{on[0], columns, rows, matrices, box columns, box rows, swizzle}"
static void add_map(Str *out, const Program *program, const EmitArg *arg) {
  const EmitMap map = emit_arg_map(arg);
  str_add(out, "tensor_map{");
  add_place(out, program, arg->buffer);
  str_printf(out, ", %lld, %lld, %lld, %d, %d, %d}", (long long)map.columns, (long long)map.rows,
             (long long)map.matrices, map.box_columns, map.box_rows, map.swizzle_bits);
}

static void add_call(Str *out, const Program *program, const EmitKernel *kernel, int index) {
  const bool attention = program->problem.kind == PROBLEM_ATTENTION;
  str_printf(out, "static void call_%d() { %s(", index, kernel->name);
  for (int i = 0; i < kernel->n_args; i++) {
    const Buffer *buffer = kernel->arg[i].buffer;
    if (i) str_add(out, ", ");
    if (kernel->arg[i].copy) {
      add_map(out, program, &kernel->arg[i]);
      continue;
    }
    str_printf(out, "(%s *)", prelude_type_name(buffer->type));
    add_place(out, program, buffer);
  }
  if (kernel->takes[LAUNCH_ALPHA]) str_printf(out, ", %s", attention ? "2.0f" : "1.0f");
  if (kernel->takes[LAUNCH_LISTS])
    str_printf(out, ", nullptr, nullptr, 0, gridDim.x / %lld", (long long)kernel->cluster);
  str_add(out, "); }\n");
}

static void add_multiply(Str *out, const Emission *emission, const Program *program) {
  str_add(out, "static void *const *on;\n");
  for (int i = 0; i < emission->n_kernels; i++) add_call(out, program, &emission->kernel[i], i);
  str_add(out,
          "static void multiply(void *const *operands, bool falling) {\n"
          "  on = operands;\n");
  for (int i = 0; i < emission->n_kernels; i++) {
    const EmitKernel *kernel = &emission->kernel[i];
    // Several tiles for some block.
    long long all = (long long)kernel->n_blocks, few = round_up(all / 3 + 1, kernel->cluster);
    str_printf(out, "  launch(call_%d, %lld, %d, %d, %lld, falling);\n", i,
               kernel->persistent ? few : all, (int)kernel->n_threads, (int)kernel->cluster,
               (long long)program_smem_bytes(program));
  }
  str_add(out, "}\n");
}

// Whole numbers whose products and sums are exact in every type of the problem.
static int largest_operand(const Problem *problem) {
  bool narrow = dtype_bytes(problem->acc) < 4 || dtype_bytes(problem->out) < 4;
  if (problem->out == DTYPE_BF16) return 1;
  return narrow ? 2 : 7;
}

// A number as it is in a register of the sums, and as an element.
static const char *number_type(const char *type) {
  static const char *const types[][2] = {
      {"f32", "float"}, {"tf32", "float"}, {"s32", "int"}, {"s8", "signed char"}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i][0], type) == 0) return types[i][1];
  return type;  // f16, bf16, e4m3, e5m2
}

static void find_undescribed(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (stmt->kind != STMT_OP) return;
  if (op_moves_factors(stmt->op.kind) && !stmt->op.tile[0].is_described) *(bool *)context = true;
  if (!op_reads_tiles(stmt->op.kind)) return;
  const Access *side[] = {&stmt->op.src, &stmt->op.src2};
  for (int i = 0; i < 2; i++)
    if (side[i]->buffer->space != SPACE_REGISTER && !stmt->op.tile[i].is_described)
      *(bool *)context = true;
}

bool cpu_finds_tiles(const Program *program) {
  bool undescribed = false;
  stmt_walk(program->kernel[program->main_kernel].body, find_undescribed, &undescribed);
  return !undescribed;
}

// WGMMA(wgmma_m64n128k16_f32_bf16, 128, 16, float, bf16)
static void add_wgmma(Str *out, const Atom *atom) {
  const Prelude wrapper = {.kind = PRELUDE_WGMMA, .atom = atom};
  str_printf(out, "WGMMA(%s, %d, %d, %s, %s)\n", prelude_name(out->arena, &wrapper), atom->n,
             atom->k, number_type(atom->acc), number_type(atom->type));
}

// One for each N that products have.
static void add_wgmmas(Str *out, const Program *program) {
  const Atom *before = NULL;
  for (int i = 0; i < program->n_products; i++) {
    const Atom *atom = program->product[i].atom;
    if (!atom || !atom_is_of_warpgroup(atom) || (before && before->n == atom->n)) continue;
    add_wgmma(out, atom);
    before = atom;
  }
}

void cpu_program_add(CpuProgram *cpu, const char *name, const Emission *emission,
                     const Program *program) {
  Str *out = &cpu->text;
  const Problem *problem = &program->problem;
  for (int i = 0; i < cpu->n_cases; i++)
    if (strcmp(cpu->seen[i], emission->text) == 0) return;
  int number = cpu->n_cases++;
  ck_assert_int_lt(number, CPU_CASES_MAX);
  cpu->seen[number] = emission->text;
  cpu->name[number] = name;
  str_printf(out, "namespace case_%d {\n", number);
  add_wgmmas(out, program);
  for (int i = 0; i < emission->n_lines; i++)
    add_line(out, emission->text + emission->lines[i].begin, emission->lines[i].length);
  const bool attention = problem->kind == PROBLEM_ATTENTION;
  add_multiply(out, emission, program);
  str_printf(out,
             "static const Case one = {\"%s\", %lld, %lld, %lld, %d, %d, %lld, %d, multiply, "
             "run_%s<%s, %s>, %lld, %d, %d};\n",
             name, (long long)problem->m, (long long)problem->n, (long long)problem->k,
             problem->a_col, problem->b_col, (long long)emission->workspace_bytes,
             largest_operand(problem),
             attention                         ? "attention"
             : dtype_is_scaled(problem->dtype) ? "scaled"
                                               : "case",
             prelude_type_name(problem->dtype), prelude_type_name(problem->out),
             attention ? (long long)problem->heads : 0, problem->causal, problem->factor_tiles);
  str_add(out, "}\n\n");
}

static const char *finish(Arena *arena, const CpuProgram *cpu) {
  Str out = str_new(arena);
  str_add(&out, cpu->text.text);
  str_add(&out, "int main(int argc, char **argv) {\n  const Case cases[] = {");
  for (int i = 0; i < cpu->n_cases; i++) str_printf(&out, "%scase_%d::one", i ? ", " : "", i);
  str_printf(&out, "};\n  return run_cases(cases, %d, argc, argv);\n}\n", cpu->n_cases);
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

// The folder of the program that the texts become; NULL where there is no compiler.
static const char *build(Arena *arena, const CpuProgram *cpu) {
  int status = 0;
  run_command(arena, "c++ --version 2>&1", &status);
  if (status != 0) return NULL;
  char *folder = arena_strdup(arena, "/tmp/gemmview-emit-XXXXXX");
  ck_assert(mkdtemp(folder) != NULL);
  write_file(arena_printf(arena, "%s/texts.cc", folder), finish(arena, cpu));
  // Locals nobody initialised hold a pattern, so that a register read too early shows.
  const char *command = arena_printf(
      arena,
      "cd %s && c++ -std=gnu++17 -O2 -w -ftrivial-auto-var-init=pattern -I%s/tests/data texts.cc "
      "-o texts 2>&1",
      folder, getcwd(arena_alloc(arena, 4096), 4096));
  const char *said = run_command(arena, command, &status);
  ck_assert_msg(status == 0, "%.2000s", said);
  return folder;
}

static bool run(Arena *arena, const char *folder, const char *argument, const char **said) {
  int status = 0;
  const char *command =
      arena_printf(arena, "cd %s && timeout 120 ./texts %s 2>&1", folder, argument);
  *said = run_command(arena, command, &status);
  return status == 0 && strstr(*said, "texts compute C = A * B");
}

static void remove_folder(Arena *arena, const char *folder) {
  int status = 0;
  run_command(arena, arena_printf(arena, "rm -r %s", folder), &status);
}

bool cpu_program_run(Arena *arena, const CpuProgram *cpu, const char **said, bool *skipped) {
  const char *folder = build(arena, cpu);
  *skipped = !folder;
  if (*skipped) return true;
  bool right = run(arena, folder, "", said);
  if (right)
    remove_folder(arena, folder);
  else
    *said = arena_printf(arena, "%s\n(kept in %s)", *said, folder);
  return right;
}

int cpu_program_count_wrong(Arena *arena, const CpuProgram *cpu) {
  const char *folder = build(arena, cpu), *said;
  int wrong = 0;
  if (!folder) return cpu->n_cases;
  for (int i = 0; i < cpu->n_cases; i++)
    if (!run(arena, folder, arena_printf(arena, "%d", i), &said))
      wrong++;
    else
      printf("%s passes\n", cpu->name[i]);
  remove_folder(arena, folder);
  return wrong;
}

// Programs are recorded as they are: behind our driver alone, and behind one that has a GPU. What
// was recorded opens with nothing typed, and runs to the recorded result.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/open/launches/open_launches.h"
#include "record_harness.h"
#include "stress.h"

Suite *suite_record(void);

// Its machine code leaves the same, with the variables of the program, and has a time by the clock.
static void check_machine_equal(const char *path, const char *equal) {
  if (!have("nvdisasm", "machine code") || !have("ptxas", "machine code")) return;
  const CliRun open =
      cli_run(arena, arena_printf(arena, "open %s --machine --text --compare --blocks all", path));
  ck_assert_msg(open.status == 0 && strstr(open.out, equal), "%s\n%s", open.out, open.err);
  const CliRun why = cli_run(arena, arena_printf(arena, "open %s --why", path));
  ck_assert_msg(why.status == 0 && strstr(why.out, "clocks from launch to end"), "%s\n%s", why.out,
                why.err);
}

// ---- our driver alone ---------------------------------------------------------------------------

// A table's line has room for a name, not for what its templates are made of.
START_TEST(test_names_are_shortened) {
  static const struct {
    const char *whole, *line;
  } rows[] = {
      {"add", "add"},
      {"add<float>(float*, int)", "add<float>"},
      {"void at::reduce<512, 1, at::Op<bool, f<g>(h)> >(at::Op<bool>)",
       "void at::reduce<512, 1, at::Op<…> >"},
      {"void (anonymous namespace)::softmax<float, 9>(float*)",
       "void (anonymous namespace)::softmax<float, 9>"},
      {"k<f(int)::{lambda()#1}>(int)", "k<f(…)::{…}>"},
      {"odd>name", "odd>name"},
      {"", ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    ck_assert_str_eq(open_short_name(arena, rows[i].whole), rows[i].line);
}
END_TEST

START_TEST(test_driver_program_runs_and_opens) {
  if (!have("cc", "a program of the driver's functions")) return;
  const char *program = driver_program(), *path = in_folder("k.capsule");
  const char *how = _i ? " extra" : "";
  const CliRun run = record(arena_printf(arena, "--cpu -o %s", path),
                            arena_printf(arena, "%s " DATA "/add.ptx%s", program, how));
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  ck_assert_str_eq(run.out, "PASS\n");
  ck_assert_ptr_nonnull(strstr(run.err, "grid 8, block 128"));
  const Capsule *capsule = read_capsule(path);
  ck_assert_str_eq(capsule->kernel, "_Z3addIfEvPKT_S2_PS0_i");
  ck_assert_int_eq(capsule->n_memory, 3);
  ck_assert_uint_eq(capsule->memory[0].bytes, 4000);
  ck_assert(capsule->ended && !capsule->by_gpu);
  // Unwritten memory is known as that: C, wherever it lies.
  int unwritten = 0;
  for (int i = 0; i < 3; i++)
    unwritten += capsule->memory[i].before[0].content == CAPSULE_UNWRITTEN;
  ck_assert_int_eq(unwritten, 1);
  check_opens_equal(path, "999 of 999 words that changed are equal");
  const CliRun json = cli_run(arena, arena_printf(arena, "open %s --compare --json", path));
  ck_assert_int_eq(json_number(cli_json(arena, &json), "compared_words"), 127);
  ck_assert_int_eq(json_number(cli_json(arena, &json), "compared_different"), 0);
}
END_TEST

// Launches of a graph are launches; what was captured is done at each of them, and not before.
START_TEST(test_launches_of_a_graph_are_seen) {
  if (!have("cc", "a program of the driver's functions")) return;
  const char *program = driver_program(), *path = in_folder("k.capsule");
  const CliRun run = record(arena_printf(arena, "--cpu --launch 1 -o %s", path),
                            arena_printf(arena, "%s " DATA "/add.ptx graph", program));
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  ck_assert_str_eq(run.out, "PASS\n");
  const Capsule *capsule = read_capsule(path);
  ck_assert_uint_eq(capsule->number, 1);
  ck_assert(capsule->ended);
  check_opens_equal(path, "0 of 0 words that changed are equal");  // as the launch before left it
  const CliRun none = record(arena_printf(arena, "--cpu --launch 2 -o %s", path),
                             arena_printf(arena, "%s " DATA "/add.ptx graph", program));
  ck_assert_int_eq(none.status, 1);
}
END_TEST

static bool collect(void *self, const void *bytes, size_t n) {
  str_add_bytes(self, bytes, n);
  return true;
}

START_TEST(test_other_result_differs) {
  if (!have("cc", "a program of the driver's functions")) return;
  const char *path = in_folder("k.capsule");
  record(arena_printf(arena, "--cpu -o %s", path),
         arena_printf(arena, "%s " DATA "/add.ptx", driver_program()));
  Capsule *capsule = (Capsule *)(uintptr_t)read_capsule(path);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < capsule->memory[i].n_after; k++)
      ((unsigned char *)(uintptr_t)capsule->memory[i].after[k].bytes)[9] ^= 1;
  Str out = str_new(arena);
  ck_assert(capsule_write(arena, capsule, collect, &out));
  FILE *file = fopen(path, "wb");
  ck_assert(file && fwrite(out.text, 1, out.length, file) == out.length && fclose(file) == 0);
  const CliRun open = cli_run(arena, arena_printf(arena, "open %s --text --compare", path));
  ck_assert_int_eq(open.status, 1);
  ck_assert_ptr_nonnull(strstr(open.out, "the first that differs: "));
  // 2^-15 of a number, as the last byte but one of its fraction says.
  static const struct {
    const char *tolerance;
    int status;
  } rows[] = {{"1e-3", 0},  {"1e-6", 1}, {"1e-3:f32", 0}, {"1e-9:f16", 1}, {"1e-9:f16,1e-3", 0},
              {"1e-3,", 2}, {"0", 2},    {"x", 2},        {"1e-3:f31", 2}, {"nan", 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const CliRun run = cli_run(arena, arena_printf(arena, "open %s --text --compare --tolerance %s",
                                                   path, rows[i].tolerance));
    ck_assert_msg(run.status == rows[i].status, "%s: %d\n%s%s", rows[i].tolerance, run.status,
                  run.out, run.err);
  }
}
END_TEST

START_TEST(test_what_is_not_answered_is_named) {
  if (!have("cc", "a program of the driver's functions")) return;
  const CliRun run =
      record("--cpu", arena_printf(arena, "%s " DATA "/add.ptx managed", driver_program()));
  ck_assert_str_eq(run.out, "801\n");
  ck_assert_ptr_nonnull(strstr(run.err, "cuMemAllocManaged does not work without a GPU"));
  ck_assert_int_eq(run.status, 1);  // no launch
  ck_assert_ptr_nonnull(strstr(run.err, "launched no kernel"));
}
END_TEST

START_TEST(test_no_such_launch_lists_what_there_is) {
  if (!have("cc", "a program of the driver's functions")) return;
  const char *program = arena_printf(arena, "%s " DATA "/add.ptx", driver_program());
  CliRun run = record(arena_printf(arena, "--cpu --launch 1 -o %s", in_folder("k")), program);
  ck_assert_int_eq(run.status, 1);
  ck_assert_str_eq(run.out, "PASS\n");
  ck_assert_ptr_nonnull(strstr(run.err, "no launch 1: there were 1"));
  ck_assert_ptr_nonnull(strstr(run.err, "add<float>"));
  run = record(arena_printf(arena, "--cpu --kernel 'sub*' -o %s", in_folder("k")), program);
  ck_assert_int_eq(run.status, 1);
  ck_assert_ptr_nonnull(strstr(run.err, "no launch 0 of a kernel \"sub*\": 0 of them"));
  ck_assert_int_ne(access(in_folder("k"), F_OK), 0);
  run = record(arena_printf(arena, "--cpu --kernel add -o %s", in_folder("k")), program);
  ck_assert_int_eq(run.status, 0);
  run = record("--cpu --list", program);
  ck_assert_int_eq(run.status, 0);
  ck_assert_ptr_nonnull(strstr(run.err, "8              128"));
}
END_TEST

START_TEST(test_bad_words_are_refused) {
  if (!cli_has_program()) return;
  static const char *const wrong[] = {"record", "record ./a", "record --launch x -- true",
                                      "record --blocks a -- true", "record --target none -- true"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    const CliRun run = cli_run(arena, wrong[i]);
    ck_assert_msg(run.status == 2, "%s: %d", wrong[i], run.status);
  }
  const CliRun none = record("--cpu", "/nowhere/at/all");
  ck_assert_int_eq(none.status, 2);
  ck_assert_ptr_nonnull(strstr(none.err, "cannot be started"));
  ck_assert_int_eq(record("--cpu", "true").status, 1);
}
END_TEST

START_TEST(test_shapes_without_contents) {
  if (!have("cc", "a program of the driver's functions")) return;
  const char *path = in_folder("k.capsule");
  const CliRun run = record(arena_printf(arena, "--cpu --no-data -o %s", path),
                            arena_printf(arena, "%s " DATA "/add.ptx", driver_program()));
  ck_assert_msg(run.status == 0, "%s", run.err);
  const Capsule *capsule = read_capsule(path);
  for (int i = 0; i < capsule->n_memory; i++) {
    ck_assert_int_eq(capsule->memory[i].n_after, 0);
    for (int k = 0; k < capsule->memory[i].n_before; k++)
      ck_assert_int_ne(capsule->memory[i].before[k].content, CAPSULE_BYTES);
  }
  const CliRun open = cli_run(arena, arena_printf(arena, "open %s --text --blocks all", path));
  ck_assert_msg(open.status == 0, "%s\n%s", open.out, open.err);
  ck_assert_int_eq(cli_run(arena, arena_printf(arena, "open %s --compare", path)).status, 2);
}
END_TEST

START_TEST(test_unfinished_ones_are_not_left) {
  if (!have("cc", "a program of the driver's functions")) return;
  const char *program = arena_printf(arena, "%s " DATA "/add.ptx", driver_program());
  CliRun run = record(arena_printf(arena, "--cpu -o %s/none/k.capsule", folder), program);
  ck_assert_int_eq(run.status, 2);
  ck_assert_ptr_nonnull(strstr(run.err, "cannot be written to: No such file or directory"));
  run = record(arena_printf(arena, "--cpu -o %s/k-%%p.capsule", folder), program);
  ck_assert_int_eq(run.status, 0);
  run = cli_shell(arena, arena_printf(arena, "ls %s", folder));
  ck_assert_msg(strstr(run.out, "k-") && strstr(run.out, ".capsule"), "%s", run.out);
  run = cli_shell(arena, arena_printf(arena, "(ls %s | grep part)", folder));
  ck_assert_str_eq(run.out, "");
}
END_TEST

START_TEST(test_capsules_that_are_none_are_refused) {
  if (!have("cc", "a program of the driver's functions")) return;
  const char *path = in_folder("k.capsule"), *cut = in_folder("cut.capsule");
  record(arena_printf(arena, "--cpu -o %s", path),
         arena_printf(arena, "%s " DATA "/add.ptx", driver_program()));
  cli_shell(arena, arena_printf(arena, "head -c 4000 %s > %s", path, cut));
  const CliRun open = cli_run(arena, arena_printf(arena, "open %s", cut));
  ck_assert_int_eq(open.status, 2);
  ck_assert_ptr_nonnull(strstr(open.err, "it was cut"));
  // By its name it is one; a file of no bytes, too, is no PTX text.
  static const char *const junk[] = {"printf junk", "true"};
  for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
    cli_shell(arena, arena_printf(arena, "%s > %s", junk[i], cut));
    const CliRun none = cli_run(arena, arena_printf(arena, "open %s", cut));
    ck_assert_int_eq(none.status, 2);
    ck_assert_ptr_nonnull(strstr(none.err, "it is not a capsule"));
    ck_assert_ptr_null(strstr(none.err, "PTX"));
  }
  ck_assert_int_eq(cli_run(arena, arena_printf(arena, "open %s --arg 3", path)).status, 2);
}
END_TEST

// ---- a driver that has a GPU --------------------------------------------------------------------

START_TEST(test_calls_go_on_to_a_real_driver) {
  if (!have("cc", "a driver with a GPU, made up")) return;
  const char *program = driver_program(), *path = in_folder("k.capsule");
  compile(arena_printf(arena,
                       "cc -O1 -shared -fPIC -Wl,-soname,libcuda.so.1 -o %s/libcuda.so.1 " DATA
                       "/fake_driver.c",
                       folder));
  const char *with = arena_printf(arena, "LD_LIBRARY_PATH=%s $GEMMVIEW record", folder);
  CliRun run = cli_shell(arena, arena_printf(arena, "%s -o %s -- %s " DATA "/add.ptx%s", with, path,
                                             program, _i ? " extra" : ""));
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  ck_assert_str_eq(run.out, "PASS\n");
  ck_assert_ptr_nonnull(strstr(run.err, "the fake GPU ran launch 0"));
  ck_assert_ptr_null(strstr(run.err, "launch 1"));
  const Capsule *capsule = read_capsule(path);
  ck_assert(capsule->by_gpu && capsule->ended);
  ck_assert_str_eq(capsule->device, "a fake GPU 0");
  ck_assert_int_eq(capsule->n_memory, 3);
  check_opens_equal(path, "999 of 999 words that changed are equal");
  // Calls that are not recorded are the real driver's alone.
  run = cli_shell(
      arena, arena_printf(arena, "%s -o %s -- %s " DATA "/add.ptx managed", with, path, program));
  ck_assert_str_eq(run.out, "4711\n");
  run = cli_shell(arena, arena_printf(arena, "%s --list -- %s " DATA "/add.ptx", with, program));
  ck_assert_str_eq(run.out, "PASS\n");
  run = cli_shell(
      arena, arena_printf(arena, "%s --cpu -o %s -- %s " DATA "/add.ptx", with, path, program));
  ck_assert_str_eq(run.out, "PASS\n");
  ck_assert(!read_capsule(path)->by_gpu);
}
END_TEST

// The driver of a program that is linked with it is there before the program, and all that it calls
// can be found before the real one: nothing of the runtime is replaced where there is a GPU.
START_TEST(test_linked_program_keeps_its_runtime) {
  if (!have("cc", "a driver with a GPU, made up")) return;
  compile(arena_printf(arena,
                       "cc -O1 -shared -fPIC -Wl,-soname,libcuda.so.1 -o %s/libcuda.so.1 " DATA
                       "/fake_driver.c && cc -O0 -rdynamic -o %s/linked " DATA
                       "/linked.c %s/libcuda.so.1",
                       folder, folder, folder));
  const char *command = arena_printf(
      arena, "LD_LIBRARY_PATH=%s $GEMMVIEW record --list -- %s/linked", folder, folder);
  const CliRun run = cli_shell(arena, command);
  ck_assert_msg(strcmp(run.out, "42\n") == 0, "%s%s", run.out, run.err);
}
END_TEST

// A capsule that could not be written is told before the program runs; a capsule is of one kernel.
START_TEST(test_mistakes_are_told) {
  if (!have("cc", "a program of the driver API")) return;
  const char *path = in_folder("k.capsule"),
             *program = arena_printf(arena, "%s " DATA "/add.ptx", driver_program());
  const CliRun nowhere = record(arena_printf(arena, "--cpu -o %s/none/k.capsule", folder), program);
  ck_assert_msg(nowhere.status == 2 && strstr(nowhere.err, "folder cannot be written") != NULL &&
                    !*nowhere.out,
                "%d %s%s", nowhere.status, nowhere.out, nowhere.err);
  const CliRun run = record(arena_printf(arena, "--cpu -o %s", path), program);
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  const CliRun other = cli_run(arena, arena_printf(arena, "open %s --kernel nope --text", path));
  ck_assert_msg(other.status == 2 && strstr(other.err, "the capsule holds a launch of add") != NULL,
                "%d %s", other.status, other.err);
  const CliRun same =
      cli_run(arena, arena_printf(arena, "open %s --kernel 'ad*' --predict --text", path));
  ck_assert_msg(same.status == 0, "%s\n%s", same.out, same.err);
}
END_TEST

// Machine code alone is handed over; the text lies in Triton's cache, beside the same code.
START_TEST(test_text_of_triton_is_found) {
  if (!have("cc", "a driver with a GPU, made up")) return;
  const char *program = driver_program(), *path = in_folder("k.capsule");
  static const char *const name = "_Z3addIfEvPKT_S2_PS0_i";
  compile(arena_printf(arena,
                       "cc -O1 -shared -fPIC -Wl,-soname,libcuda.so.1 -o %s/libcuda.so.1 " DATA
                       "/fake_driver.c && mkdir -p %s/cache/other %s/cache/hash && "
                       "echo none > %s/cache/other/%s.cubin && "
                       "cp tests/data/cubins/sm_100a.cubin %s/cache/hash/%s.cubin && "
                       "cp " DATA "/add.ptx %s/cache/hash/%s.ptx",
                       folder, folder, folder, folder, name, folder, name, folder, name));
  const CliRun run = cli_shell(
      arena, arena_printf(arena,
                          "TRITON_CACHE_DIR=%s/cache LD_LIBRARY_PATH=%s $GEMMVIEW record -o %s -- "
                          "%s tests/data/cubins/sm_100a.cubin",
                          folder, folder, path, program));
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  ck_assert_ptr_nonnull(read_capsule(path)->cubin.at);
  check_opens_equal(path, "999 of 999 words that changed are equal");
}
END_TEST

// ---- programs that nvcc makes -------------------------------------------------------------------

static const struct {
  const char *name, *arch, *equal;
} programs[] = {{"add", "arch=compute_80,code=compute_80", "999 of 999 words"},
                {"sgemm", "arch=compute_80,code=[compute_80,sm_80]", "4595 of 4595 words"},
                {"wgmma", "arch=compute_90a,code=compute_90a", "3871 of 3871 words"},
                {"grid", "arch=compute_90,code=[compute_90,sm_90]", "3120 of 3120 words"},
                {"chain", "arch=compute_90,code=[compute_90,sm_90]", "65 of 65 words"},
                {"packed", "arch=compute_90,code=compute_90", "64 of 64 words"}};
enum { N_PROGRAMS = sizeof programs / sizeof *programs };

static const char *nvcc_program(int i, const char *flags) {
  const char *program = in_folder(programs[i].name);
  compile_cuda(arena_printf(arena, "-gencode %s -lineinfo %s", programs[i].arch, flags),
               arena_printf(arena, DATA "/%s.cu", programs[i].name), program);
  return program;
}

START_TEST(test_program_of_nvcc_passes_its_own_check) {
  if (!have("nvcc", "a program with NVIDIA's runtime")) return;
  const char *path = in_folder("k.capsule");
  const CliRun run = record(arena_printf(arena, "--cpu -o %s", path), nvcc_program(_i, ""));
  ck_assert_msg(run.status == 0 && str_starts(run.out, "PASS"), "%s\n%s", run.out, run.err);
  check_opens_equal(path, programs[_i].equal);
  check_machine_equal(path, programs[_i].equal);
}
END_TEST

// Without PTX the machine code runs, with its variables; a kernel is recorded by its name.
START_TEST(test_program_without_ptx_passes_its_own_check) {
  if (!have("nvcc", "a program with NVIDIA's runtime") || !have("nvdisasm", "machine code")) return;
  const char *path = in_folder("k.capsule"), *program = in_folder(programs[_i].name);
  const char *arch = strstr(programs[_i].arch, "90a") ? "90a" : "90";
  compile_cuda(arena_printf(arena, "-gencode arch=compute_%s,code=sm_%s", arch, arch),
               arena_printf(arena, DATA "/%s.cu", programs[_i].name), program);
  CliRun run = record(arena_printf(arena, "--cpu --kernel '*' -o %s", path), program);
  ck_assert_msg(run.status == 0 && str_starts(run.out, "PASS"), "%s\n%s", run.out, run.err);
  const Capsule *capsule = read_capsule(path);
  ck_assert(!capsule->ptx.at && capsule->cubin.at && capsule->ended);
  check_opens_equal(path, programs[_i].equal);
  if (_i > 1) return;  // one of these two is asked each time
  run = record("--cpu", program);
  ck_assert_msg(run.status == 1 && strstr(run.err, "its kernels have no PTX") != NULL, "%d %s",
                run.status, run.err);
  setenv("GEMMVIEW_NVDISASM", "/dev/null/none", 1);
  run = record("--cpu --kernel '*'", program);
  unsetenv("GEMMVIEW_NVDISASM");
  ck_assert_msg(run.status == 3 && strstr(run.err, "its machine code: nvdisasm was not found"),
                "%d %s", run.status, run.err);
}
END_TEST

START_TEST(test_later_launch_has_its_own_contents) {
  if (!have("nvcc", "a program with NVIDIA's runtime")) return;
  const char *path = in_folder("k.capsule");
  const CliRun run = record(arena_printf(arena, "--cpu --kernel 'add*' --launch 2 -o %s", path),
                            arena_printf(arena, "%s 4", nvcc_program(0, "-cudart shared")));
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  ck_assert_str_eq(run.out, "PASS\n");
  const Capsule *capsule = read_capsule(path);
  ck_assert_uint_eq(capsule->number, 2);
  uint64_t b = 0;
  memcpy(&b, capsule->params.at + 8, sizeof b);
  for (int i = 0; i < capsule->n_memory; i++) {
    if (capsule->memory[i].address != b) continue;
    float value = 0;  // b[5] after two rounds
    memcpy(&value, capsule->memory[i].before[0].bytes + 20, sizeof value);
    ck_assert_float_eq(value, 10);
  }
}
END_TEST

START_TEST(test_runtime_without_names_is_told) {
  if (!have("nvcc", "a program with NVIDIA's runtime")) return;
  const char *program = nvcc_program(0, "");
  const CliRun array = record("--cpu --list", arena_printf(arena, "%s 1 array", program));
  ck_assert_ptr_nonnull(strstr(array.err, "cudaMallocArray does not work without a GPU"));
  ck_assert_ptr_nonnull(strstr(array.out, "CUDA_ERROR_NOT_SUPPORTED"));
  ck_assert_ptr_nonnull(strstr(array.out, "9.0, 132 SMs, 232448 bytes, maps 1"));
  // PTX alone: 65536 for 1024 threads. Machine code: its own, and a sum needs few.
  ck_assert_ptr_nonnull(strstr(array.out, "\n64 registers\n"));
  const CliRun code =
      record("--cpu --list",
             arena_printf(arena, "%s 1 array",
                          nvcc_program(0, "-gencode arch=compute_90,code=[sm_90,compute_90]")));
  int registers = 0;
  const char *said = strstr(code.out, "maps 1\n");
  ck_assert_msg(said && sscanf(said, "maps 1 %d", &registers) == 1, "%s", code.out);
  ck_assert_msg(registers >= 4 && registers < 32, "%d", registers);
  program = nvcc_program(0, "");
  compile(arena_printf(arena, "strip %s", program));
  const CliRun run = record("--cpu", program);
  ck_assert_int_eq(run.status, 3);
  ck_assert_ptr_nonnull(strstr(run.err, "do not strip"));
}
END_TEST

START_TEST(test_runtime_of_cuda_12_has_its_own_numbers) {
  if (!have("cc", "a program of CUDA 12")) return;
  const char *program = in_folder("runtime12");
  compile(arena_printf(arena, "cc -O0 -rdynamic -o %s " DATA "/runtime12.c", program));
  const CliRun run = record("--cpu --list", program);
  ck_assert_ptr_nonnull(
      strstr(run.out, "9, 132 SMs, maps 1, 62914560 bytes of L2, 232448 bytes, 32 blocks\n"));
}
END_TEST

// Python has no runtime when it begins; kernels come with libraries that it opens.
START_TEST(test_library_that_is_opened_later) {
  if (!have("nvcc", "a library of kernels")) return;
  const char *path = in_folder("k.capsule");
  compile(arena_printf(arena, "cc -O1 -o %s/opens " DATA "/opens.c -ldl", folder));
  compile_cuda(arena_printf(arena,
                            "-shared -Xcompiler -fPIC -gencode arch=compute_80,code=compute_80 "
                            "-cudart %s",
                            _i ? "shared" : "static"),
               DATA "/opened.cu", in_folder("opened.so"));
  const CliRun run = record(arena_printf(arena, "--cpu -o %s", path),
                            arena_printf(arena, "%s/opens %s/opened.so", folder, folder));
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  ck_assert_str_eq(run.out, "PASS\n");
  check_opens_equal(path, "63 of 63 words that changed are equal");
}
END_TEST

// The machine code of the capsule is read, where it was made of the same text: no ptxas is asked.
START_TEST(test_recorded_machine_code_is_read) {
  if (!have("nvcc", "a program with machine code and text")) return;
  const char *path = in_folder("k.capsule");
  const CliRun run =
      record(arena_printf(arena, "--cpu -o %s", path), nvcc_program(1, "-Xfatbin -compress-all"));
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  const CliRun open = cli_shell(
      arena, arena_printf(arena, "GEMMVIEW_PTXAS=/nowhere $GEMMVIEW open %s --text", path));
  ck_assert_msg(strstr(open.out, "as compiled") != NULL, "%s", open.out);
  // What a launch left that did not come to its end is no result to compare with.
  record(arena_printf(arena, "--cpu --budget 1 -o %s", path), in_folder("sgemm"));
  const CliRun cut = cli_run(arena, arena_printf(arena, "open %s --compare", path));
  ck_assert_int_eq(cut.status, 2);
  ck_assert_ptr_nonnull(strstr(cut.err, "the launch failed"));
}
END_TEST

// A launch too long for the CPU is left when its time is over, and so are those in front of it: the
// capsule is written all the same, without a result.
START_TEST(test_long_launches_are_left) {
  if (!have("nvcc", "a program of long launches")) return;
  const char *path = in_folder("k.capsule"), *program = in_folder("long");
  compile(arena_printf(
      arena, "nvcc -gencode arch=compute_90,code=compute_90 -o %s " DATA "/long.cu", program));
  CliRun run = record(arena_printf(arena, "--cpu --seconds 1 -o %s", path), program);
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  ck_assert_ptr_nonnull(strstr(run.err, "spin: stopped after"));
  ck_assert_ptr_nonnull(strstr(run.err, "(--seconds): its results are not complete"));
  ck_assert_ptr_nonnull(strstr(run.err, "1 s of launches after the recorded one have run"));
  const CliRun open = cli_run(arena, arena_printf(arena, "open %s --json", path));
  ck_assert_ptr_nonnull(strstr(open.out, "\"outcome\":\"done\""));
  ck_assert_int_eq(cli_run(arena, arena_printf(arena, "open %s --compare", path)).status, 2);
  run = record(arena_printf(arena, "--cpu --seconds 1 --launch 3 -o %s", path), program);
  ck_assert_ptr_nonnull(strstr(run.err, "1 s of launches before the recorded one have run"));
  ck_assert_int_eq(cli_run(arena, arena_printf(arena, "open %s --text", path)).status, 0);
}
END_TEST

// The whole way by one command, and a launch of the program that is not the first.
START_TEST(test_source_with_a_main_is_opened) {
  if (!have("nvcc", "a source with a main")) return;
  const CliRun run = cli_run(arena, "open " DATA
                                    "/add.cu --text --main --compare --launch 4 "
                                    "--nvcc '-O2 -DX=1' -- 5");
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  ck_assert_ptr_nonnull(strstr(run.out, "PASS\n"));
  ck_assert_ptr_nonnull(strstr(run.out, "as recorded: launch 4 of "));
  ck_assert_ptr_nonnull(strstr(run.out, "add.cu:9 "));
  ck_assert_ptr_nonnull(strstr(run.out, "127 of 127 words that changed are equal"));
  ck_assert_ptr_nonnull(strstr(run.err, "add<float>"));
  // Whatever the program prints, stdout is one JSON object.
  const CliRun object = cli_run(arena, "open " DATA "/add.cu --json --main");
  ck_assert_msg(object.out[0] == '{', "%.80s", object.out);
  cli_json(arena, &object);
  const CliRun none = cli_run(arena, "open " DATA "/add.cu --text --main --launch 3");
  ck_assert_int_eq(none.status, 1);
  ck_assert_int_eq(cli_run(arena, "open " DATA "/add.ptx.cu --text --main").status, 4);
}
END_TEST

Suite *suite_record(void) {
  Suite *suite = suite_create("record");
  TCase *tc = tcase_create("record");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 180);
  tcase_add_loop_test(tc, test_driver_program_runs_and_opens, 0, 2);
  tcase_add_test(tc, test_names_are_shortened);
  tcase_add_test(tc, test_launches_of_a_graph_are_seen);
  tcase_add_test(tc, test_other_result_differs);
  tcase_add_test(tc, test_what_is_not_answered_is_named);
  tcase_add_test(tc, test_no_such_launch_lists_what_there_is);
  tcase_add_test(tc, test_bad_words_are_refused);
  tcase_add_test(tc, test_shapes_without_contents);
  tcase_add_test(tc, test_unfinished_ones_are_not_left);
  tcase_add_test(tc, test_capsules_that_are_none_are_refused);
  tcase_add_loop_test(tc, test_calls_go_on_to_a_real_driver, 0, 2);
  tcase_add_test(tc, test_linked_program_keeps_its_runtime);
  tcase_add_test(tc, test_mistakes_are_told);
  tcase_add_test(tc, test_text_of_triton_is_found);
  // Each program is asked in one of both ways.
  stress_add_turns(tc, test_program_of_nvcc_passes_its_own_check, N_PROGRAMS, 2);
  stress_add_turns(tc, test_program_without_ptx_passes_its_own_check, N_PROGRAMS, 2);
  tcase_add_test(tc, test_later_launch_has_its_own_contents);
  tcase_add_test(tc, test_runtime_without_names_is_told);
  tcase_add_test(tc, test_runtime_of_cuda_12_has_its_own_numbers);
  tcase_add_loop_test(tc, test_library_that_is_opened_later, 0, 2);
  tcase_add_test(tc, test_recorded_machine_code_is_read);
  tcase_add_test(tc, test_long_launches_are_left);
  tcase_add_test(tc, test_source_with_a_main_is_opened);
  suite_add_tcase(suite, tc);
  return suite;
}

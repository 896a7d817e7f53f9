// The cubins of tests/data/cubins, one for each way in which ptxas writes them: their tables of
// lines are what nvdisasm reads out of them, and their loop is found.
#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf_file.h"
#include "base/str.h"
#include "kernels/toolchain/machine/kernel_code.h"
#include "machine/mc_cubin.h"
#include "ptx/module/line_table.h"

Suite *suite_cubins(void);

#define FOLDER "tests/data/cubins/"

static const struct {
  const char *target;
  int sm;
} cubins[] = {{"sm_75", 75},  {"sm_80", 80},    {"sm_86", 86},  {"sm_89", 89},
              {"sm_90a", 90}, {"sm_100a", 100}, {"sm_120", 120}};
enum { CUBINS = sizeof cubins / sizeof cubins[0] };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static char *read_file(const char *name, size_t *n) {
  FILE *file = fopen(arena_printf(arena, FOLDER "%s", name), "rb");
  ck_assert_msg(file != NULL, "%s", name);
  char *bytes = ARENA_ARRAY(arena, char, 1 << 16);
  *n = fread(bytes, 1, (1 << 16) - 1, file);
  bytes[*n] = '\0';
  fclose(file);
  return bytes;
}

static char *cubin_of(int i, size_t *n) {
  return read_file(arena_printf(arena, "%s.cubin", cubins[i].target), n);
}

typedef struct Row {
  char target[16], kernel[16];
  unsigned address;
  int ptx, source;
} Row;

static bool read_row(const char *line, Row *row) {
  return sscanf(line, "%15s %15s %x %d %d", row->target, row->kernel, &row->address, &row->ptx,
                &row->source) == 5;
}

// nvdisasm names the last of several rows with one address: of a call that was inlined the line in
// the function.
static bool has_row(const LineTable *table, unsigned address, int line) {
  const LineRow *first = line_table_find(table, address);
  for (int i = 0; first && i < table->n; i++)
    if (table->rows[i].address == first->address && table->rows[i].line == line) return true;
  return false;
}

static void check_row(const char *cubin, size_t n, const Row *row) {
  const LineTable ptx = line_table_read(arena, cubin, n, ".nv_debug_line_sass", row->kernel),
                  source = line_table_read(arena, cubin, n, ".debug_line", row->kernel);
  ck_assert_msg(ptx.n > 0 && source.n > 0, "%s: %s, %s", row->target, line_table_lack(&ptx),
                line_table_lack(&source));
  ck_assert_msg(
      has_row(&ptx, row->address, row->ptx) && has_row(&source, row->address, row->source),
      "%s, %s at %04x: PTX line %d, source line %d; nvdisasm has %d and %d", row->target,
      row->kernel, row->address, line_table_find(&ptx, row->address)->line,
      line_table_find(&source, row->address)->line, row->ptx, row->source);
}

START_TEST(lines_are_those_that_nvdisasm_reads) {
  size_t n, n_text;
  const char *cubin = cubin_of(_i, &n);
  char *text = read_file("lines.tsv", &n_text);
  int rows = 0;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    Row row;
    if (!read_row(line, &row) || strcmp(row.target, cubins[_i].target) != 0) continue;
    check_row(cubin, n, &row);
    rows++;
  }
  ck_assert_int_ge(rows, 40);
}
END_TEST

START_TEST(a_cubin_says_what_it_is_for) {
  size_t n;
  const char *cubin = cubin_of(_i, &n);
  ck_assert_int_eq(elf_cuda_sm(cubin, n), cubins[_i].sm);
}
END_TEST

// Both kernels have 1024 bytes of their own; from sm_90 on the system has as many in front of them,
// where a kernel has none, too.
START_TEST(a_kernel_has_its_shared_memory) {
  enum { RESERVED = 1024, OWN = 1024 };
  size_t n;
  char *bytes = cubin_of(_i, &n);
  const int reserved = cubins[_i].sm >= 90 ? RESERVED : 0;
  McCubin cubin;
  ck_assert(mc_cubin_read(arena, bytes, n, &cubin));
  ck_assert_int_eq(mc_cubin_kernel(&cubin, "dots")->shared_bytes, reserved + OWN);
  ck_assert_int_eq(mc_cubin_kernel(&cubin, "pairs")->shared_bytes, reserved + OWN);
  char *name = memmem(bytes, n, ".nv.shared.dots", sizeof ".nv.shared.dots");
  ck_assert_ptr_nonnull(name);
  name[1] = 'x';
  ck_assert(mc_cubin_read(arena, bytes, n, &cubin));
  ck_assert_int_eq(mc_cubin_kernel(&cubin, "dots")->shared_bytes, reserved);
  ck_assert_int_eq(mc_cubin_kernel(&cubin, "pairs")->shared_bytes, reserved + OWN);
}
END_TEST

// ABI version 7 has the compute capability in the low byte of its flags.
START_TEST(a_cubin_of_cuda_12_says_it_elsewhere) {
  size_t n;
  char *cubin = cubin_of(1, &n);
  Elf64_Ehdr header;
  memcpy(&header, cubin, sizeof header);
  header.e_ident[EI_ABIVERSION] = 7;
  header.e_flags = 0x500550;
  memcpy(cubin, &header, sizeof header);
  ck_assert_int_eq(elf_cuda_sm(cubin, n), 80);
  header.e_machine = EM_X86_64;
  memcpy(cubin, &header, sizeof header);
  ck_assert_int_eq(elf_cuda_sm(cubin, n), 0);
}
END_TEST

// `dots` multiplies three times in a loop of some ten instructions, whatever its branch looks like.
START_TEST(the_loop_is_found) {
  size_t n;
  const char *cubin = cubin_of(_i, &n);
  const ElfBytes text = elf_section(cubin, n, ".text.dots");
  const CompiledCode code = kernel_reading((const unsigned char *)cubin, n, "dots").code;
  ck_assert_int_eq(code.inner.multiplies, 3);
  ck_assert_int_ge(code.inner.instructions, 6);
  ck_assert_int_lt(code.inner.instructions, (int)(text.end - text.at) / 16 / 2);
}
END_TEST

START_TEST(a_table_says_what_it_lacks) {
  size_t n;
  char *cubin = cubin_of(_i, &n);
  LineTable table = line_table_read(arena, cubin, n, ".debug_line", "nobody");
  ck_assert_int_eq(table.n, 0);
  ck_assert_str_eq(line_table_lack(&table), "has a table of lines without this kernel");
  table = line_table_read(arena, cubin, n, ".debug_lines", "dots");
  ck_assert_str_eq(line_table_lack(&table), "has no table of lines");
  const ElfBytes section = elf_section(cubin, n, ".debug_line");
  cubin[section.at - (const unsigned char *)cubin + 4] = 5;  // DWARF 5
  table = line_table_read(arena, cubin, n, ".debug_line", "dots");
  ck_assert_str_eq(line_table_lack(&table), "has a table of lines in an unknown format");
}
END_TEST

// Whatever a damaged file says of itself, reading stays inside of it.
START_TEST(damaged_cubins_are_read_to_their_end) {
  size_t n;
  const char *cubin = cubin_of(_i, &n);
  for (size_t at = 0; at < n; at += 7) {
    char *damaged = malloc(n);
    memcpy(damaged, cubin, n);
    damaged[at] ^= (char)(1 << at % 8);
    (void)line_table_read(arena, damaged, n, ".debug_line", "dots");
    (void)line_table_read(arena, damaged, n - at % 512, ".nv_debug_line_sass", "pairs");
    free(damaged);
  }
}
END_TEST

Suite *suite_cubins(void) {
  Suite *suite = suite_create("cubins");
  TCase *tcase = tcase_create("cubins");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, lines_are_those_that_nvdisasm_reads, 0, CUBINS);
  tcase_add_loop_test(tcase, a_cubin_says_what_it_is_for, 0, CUBINS);
  tcase_add_loop_test(tcase, a_kernel_has_its_shared_memory, 0, CUBINS);
  tcase_add_test(tcase, a_cubin_of_cuda_12_says_it_elsewhere);
  tcase_add_loop_test(tcase, the_loop_is_found, 0, CUBINS);
  tcase_add_loop_test(tcase, a_table_says_what_it_lacks, 0, CUBINS);
  tcase_add_loop_test(tcase, damaged_cubins_are_read_to_their_end, 0, CUBINS);
  suite_add_tcase(suite, tcase);
  return suite;
}

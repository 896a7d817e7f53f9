// A capsule is read back as it was written, and refused by one sentence when it was cut anywhere,
// changed anywhere, or is newer than its reader.
#include <check.h>
#include <limits.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/str.h"
#include "capsule_seal.h"

Suite *suite_capsule(void);

enum { BEFORE = 5000, MUTANTS = 10000 };

static Arena *arena;
static unsigned char contents[BEFORE];

static bool collect(void *self, const void *bytes, size_t n) {
  str_add_bytes(self, bytes, n);
  return true;
}

static Capsule a_capsule(void) {
  static const CapsuleRun before[] = {{CAPSULE_BYTES, 0, BEFORE, contents},
                                      {CAPSULE_ZEROS, BEFORE, 100, NULL},
                                      {CAPSULE_UNWRITTEN, BEFORE + 100, 92, NULL}},
                          after[] = {{CAPSULE_BYTES, 8, 16, contents}},
                          whole[] = {{CAPSULE_BYTES, 0, 8, contents}},
                          hidden[] = {{CAPSULE_HIDDEN, 0, 64, NULL}};
  static CapsuleMemory memory[] = {
      {CAPSULE_ALLOCATION, "cudaMalloc 1", 0x7f0000000000, BEFORE + 192, before, after, 3, 1},
      {CAPSULE_ALLOCATION, "cudaMalloc 2", 0x7f0000010000, 64, hidden, NULL, 1, 0},
      {CAPSULE_CONSTANT, "weights", 0x7f0000020000, 8, whole, NULL, 1, 0}};
  static CapsuleMap maps[] = {
      {.bytes = {1, 2, 3}, .address = 0x7f0000000000, .text = "shape=64x64,box=64x8,type=f16"}};
  static const CapsuleLaunch launches[] = {
      {.kernel = "_Z3addPf", .grid = {4, 2, 1}, .block = {256, 1, 1}, .smem = 1024, .times = 9},
      {"k", "its PTX was not found", {1, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0, 3, 2, 3, 7500}};
  static const CapsuleParam params[] = {{0, 8}, {8, 4}};
  static const CapsuleExtent extents[] = {{0x7f0000000000, BEFORE + 192}, {0x7f0000010000, 4096}};
  return (Capsule){.kernel = "_Z3addPf",
                   .program = "./add 5",
                   .device = "a GPU",
                   .blocks = "all",
                   .grid = {4, 2, 1},
                   .block = {256, 1, 1},
                   .smem = 1024,
                   .number = 3,
                   .ended = true,
                   .params = {contents, 12},
                   .ptx = {(const unsigned char *)".version 8.0", 12},
                   .param = params,
                   .n_params = 2,
                   .memory = memory,
                   .n_memory = 3,
                   .extents = extents,
                   .n_extents = 2,
                   .maps = maps,
                   .n_maps = 1,
                   .launches = launches,
                   .n_launches = 2};
}

static Str written;

static void setup(void) {
  arena = arena_new("test");
  for (int i = 0; i < BEFORE; i++) contents[i] = (unsigned char)(i * 7);
  written = str_new(arena);
  const Capsule capsule = a_capsule();
  ck_assert(capsule_write(arena, &capsule, collect, &written));
}
static void teardown(void) { arena_free(arena); }

static Capsule *read_bytes(Arena *in, const void *bytes, size_t n, const char **why) {
  Diags diags = diags_new(in);
  Capsule *capsule = capsule_read(in, bytes, n, "k.capsule", &diags);
  ck_assert_int_eq(capsule == NULL, diags.count == 1);
  *why = diags.first ? diags.first->text : "";
  return capsule;
}

START_TEST(test_read_back_as_written) {
  const char *why;
  const Capsule *c = read_bytes(arena, written.text, written.length, &why);
  ck_assert_msg(c != NULL, "%s", why);
  ck_assert_str_eq(c->kernel, "_Z3addPf");
  ck_assert_str_eq(c->program, "./add 5");
  ck_assert_int_eq(c->grid[0], 4);
  ck_assert_int_eq(c->block[0], 256);
  ck_assert_int_eq(c->cluster[0], 0);
  ck_assert_uint_eq(c->smem, 1024);
  ck_assert_uint_eq(c->number, 3);
  ck_assert(c->ended && !c->by_gpu);
  ck_assert_int_eq(c->n_params, 2);
  ck_assert_mem_eq(c->params.at, contents, 12);
  ck_assert_mem_eq(c->ptx.at, ".version 8.0", 12);
  ck_assert_ptr_null(c->cubin.at);
  ck_assert_int_eq(c->n_memory, 3);
  ck_assert_uint_eq(c->memory[0].bytes, BEFORE + 192);
  ck_assert_mem_eq(c->memory[0].before[0].bytes, contents, BEFORE);
  ck_assert_int_eq(c->memory[0].before[2].content, CAPSULE_UNWRITTEN);
  ck_assert_uint_eq(c->memory[0].after[0].from, 8);
  ck_assert_str_eq(c->memory[2].name, "weights");
  ck_assert_int_eq(c->memory[2].kind, CAPSULE_CONSTANT);
  ck_assert_int_eq(c->n_maps, 1);
  ck_assert_int_eq((int)c->maps[0].box.box[1], 8);
  ck_assert_uint_eq(capsule_memory_bytes(c), BEFORE + 192 + 64 + 8);
  ck_assert_int_eq(c->n_extents, 2);
  ck_assert_uint_eq(c->extents[1].address, 0x7f0000010000);
  ck_assert_uint_eq(c->extents[1].bytes, 4096);
  ck_assert_int_eq(c->n_launches, 2);
  ck_assert_ptr_null(c->launches[0].note);
  ck_assert_uint_eq(c->launches[0].times, 9);
  ck_assert_str_eq(c->launches[1].note, "its PTX was not found");
  ck_assert_int_eq(c->launches[1].cluster[0], 2);
  ck_assert_uint_eq(c->launches[1].first, 2);
  ck_assert_uint_eq(c->launches[1].nano, 7500);
}
END_TEST

START_TEST(test_crc_is_the_known_one) {
  ck_assert_uint_eq(capsule_crc(0, "123456789", 9), 0xcbf43926);
  unsigned char many[9000];
  for (size_t i = 0; i < sizeof many; i++) many[i] = (unsigned char)(i * i);
  uint32_t slow = 0;
  for (size_t i = 0; i < sizeof many; i++) slow = capsule_crc(slow, many + i, 1);
  ck_assert_uint_eq(capsule_crc(0, many, sizeof many), slow);
}
END_TEST

START_TEST(test_cut_anywhere_is_refused) {
  for (size_t n = 0; n < written.length; n++) {
    Arena *scratch = arena_new("cut");
    const char *why;
    unsigned char *cut = malloc(n + 1);  // of its own, so that a byte behind it is seen
    memcpy(cut, written.text, n);
    ck_assert_msg(!read_bytes(scratch, cut, n, &why), "cut at %zu", n);
    free(cut);
    arena_free(scratch);
  }
}
END_TEST

START_TEST(test_more_behind_it_is_refused) {
  const char *why;
  str_add(&written, "x");
  ck_assert_ptr_null(read_bytes(arena, written.text, written.length, &why));
  ck_assert_ptr_nonnull(strstr(why, "something was appended"));
}
END_TEST

START_TEST(test_newer_version_is_refused) {
  const char *why;
  written.text[8] = CAPSULE_VERSION + 1;
  capsule_seal((unsigned char *)written.text, written.length);
  ck_assert_ptr_null(read_bytes(arena, written.text, written.length, &why));
  ck_assert_str_eq(why,
                   "k.capsule: it has version 3, but this gemmview reads version 2: use a newer "
                   "gemmview");
}
END_TEST

// Two rows where one and a half fit behind the header: the second would be read behind the bytes.
START_TEST(test_a_table_ends_within_the_bytes) {
  enum { HEADER = 32, BYTES = HEADER + 36 };
  const char *why;
  unsigned char *bytes = calloc(1, BYTES);  // of its own, so that a byte behind it is seen
  memcpy(bytes, written.text, HEADER);
  seal_put(bytes + 12, 2);
  seal_put(bytes + 16, BYTES);
  seal_put(bytes + 28, capsule_crc(0, bytes, 28));
  ck_assert_ptr_null(read_bytes(arena, bytes, BYTES, &why));
  ck_assert_str_eq(why, "k.capsule: its table does not fit into it");
  free(bytes);
}
END_TEST

// The first number that stands for no content.
START_TEST(test_content_of_no_kind_is_refused) {
  const char *why;
  CapsuleRun runs[] = {{CAPSULE_ZEROS, 0, 8, NULL}};
  CapsuleMemory memory[] = {{CAPSULE_ALLOCATION, "a", 0x7f0000000000, 8, runs, NULL, 1, 0}};
  Capsule capsule = a_capsule();
  capsule.memory = memory, capsule.n_memory = 1;
  for (int content = CAPSULE_LEFT_OUT; content <= CAPSULE_CONTENTS; content++) {
    Str out = str_new(arena);
    runs[0].content = (CapsuleContent)content;
    ck_assert(capsule_write(arena, &capsule, collect, &out));
    const bool is_read = read_bytes(arena, out.text, out.length, &why) != NULL;
    ck_assert_msg(is_read == (content < CAPSULE_CONTENTS), "%d: %s", content, why);
  }
}
END_TEST

// Each number of a launch at the edges of what it may be.
START_TEST(test_numbers_of_launches_are_read_up_to_their_ends) {
  const uint64_t most = INT64_MAX,
                 edges[] = {0,        1,    2,        INT_MAX,   (uint64_t)INT_MAX + 1,
                            most - 1, most, most + 1, UINT64_MAX};
  const char *why;
  Capsule capsule = a_capsule();
  for (int field = 0; field < 5; field++)
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
      const uint64_t edge = edges[i];
      Str out = str_new(arena);
      CapsuleLaunch of = {
          .kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .times = most, .timed = 1};
      uint64_t *const numbers[] = {&of.smem, &of.times, &of.first, &of.timed, &of.nano};
      *numbers[field] = edge;
      capsule.launches = &of, capsule.n_launches = 1;
      ck_assert(capsule_write(arena, &capsule, collect, &out));
      const Capsule *read = read_bytes(arena, out.text, out.length, &why);
      const bool legal = edge <= most && (field != 0 || edge <= INT_MAX) && (field != 1 || edge);
      ck_assert_msg((read != NULL) == legal, "number %d is %llu: %s", field,
                    (unsigned long long)edge, why);
      const CapsuleLaunch *got = read ? &read->launches[0] : &of;
      ck_assert_uint_eq(got->smem, of.smem);
      ck_assert_uint_eq(got->times, of.times);
      ck_assert_uint_eq(got->first, of.first);
      ck_assert_uint_eq(got->timed, of.timed);
      ck_assert_uint_eq(got->nano, of.nano);
    }
}
END_TEST

// A list that says of more launches, or of other ones, than its bytes can hold.
START_TEST(test_launches_that_are_none_are_refused) {
  const char *why;
  CapsuleLaunch launch = {.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .times = 1};
  Capsule capsule = a_capsule();
  capsule.launches = &launch, capsule.n_launches = 1;
  for (int wrong = 0; wrong < 5; wrong++) {
    Str out = str_new(arena);
    CapsuleLaunch of = launch;
    if (wrong == 1) of.grid[1] = 0;
    if (wrong == 2) of.times = 0;
    if (wrong == 3) of.timed = 2;
    if (wrong == 4) of.first = (uint64_t)INT64_MAX + 1;
    capsule.launches = &of;
    ck_assert(capsule_write(arena, &capsule, collect, &out));
    const bool is_read = read_bytes(arena, out.text, out.length, &why) != NULL;
    ck_assert_msg(is_read == (wrong == 0), "%d: %s", wrong, why);
  }
}
END_TEST

// Extents that overlap, that are none, or that lie where no memory of a GPU does.
START_TEST(test_extents_that_are_none_are_refused) {
  static const CapsuleExtent rows[][2] = {{{64, 64}, {128, 64}},
                                          {{64, 65}, {128, 64}},
                                          {{128, 64}, {64, 64}},
                                          {{64, 0}, {128, 64}},
                                          {{64, 64}, {CAPSULE_ADDRESS_MAX - 64, 65}},
                                          {{64, 64}, {UINT64_MAX - 8, 64}}};
  const char *why;
  Capsule capsule = a_capsule();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    Str out = str_new(arena);
    capsule.extents = rows[i];
    ck_assert(capsule_write(arena, &capsule, collect, &out));
    const bool is_read = read_bytes(arena, out.text, out.length, &why) != NULL;
    ck_assert_msg(is_read == (i == 0), "%zu: %s", i, why);
  }
}
END_TEST

// Twelve bytes of parameters: each lies within them, the first and the last one.
START_TEST(test_parameters_lie_within_their_bytes) {
  static const struct {
    CapsuleParam param[2];
    bool is_read;
  } rows[] = {{{{0, 12}, {12, 0}}, true}, {{{0, 13}, {8, 4}}, false}, {{{1, 12}, {8, 4}}, false},
              {{{0, 8}, {8, 5}}, false},  {{{0, 8}, {9, 4}}, false},  {{{13, 0}, {8, 4}}, false},
              {{{11, 1}, {0, 12}}, true}};
  const char *why;
  Capsule capsule = a_capsule();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    Str out = str_new(arena);
    capsule.param = rows[i].param;
    ck_assert(capsule_write(arena, &capsule, collect, &out));
    const bool is_read = read_bytes(arena, out.text, out.length, &why) != NULL;
    ck_assert_msg(is_read == rows[i].is_read, "%zu: %s", i, why);
  }
}
END_TEST

// Readers of version 1 would take the end of the memory for a fault of the kernel.
START_TEST(test_version_is_the_lowest_that_is_right) {
  const char *why;
  Capsule capsule = a_capsule();
  for (int bits = 0; bits < 4; bits++) {
    Str out = str_new(arena);
    capsule.goes_on = bits & 1;
    capsule.cooperative = bits & 2;
    ck_assert(capsule_write(arena, &capsule, collect, &out));
    ck_assert_int_eq(out.text[8], bits & 1 ? 2 : 1);
    const Capsule *c = read_bytes(arena, out.text, out.length, &why);
    ck_assert_msg(c != NULL, "%s", why);
    ck_assert_int_eq(c->goes_on, bits & 1);
    ck_assert_int_eq(c->cooperative, bits >> 1);
    ck_assert_uint_eq(capsule_file_bytes(&capsule), out.length);
  }
}
END_TEST

// One byte changed: a check sum differs, wherever it stands.
START_TEST(test_any_changed_byte_is_refused) {
  for (size_t at = 0; at < written.length; at++) {
    Arena *scratch = arena_new("changed");
    const char *why;
    written.text[at] ^= 0x20;
    ck_assert_msg(!read_bytes(scratch, written.text, written.length, &why), "byte %zu", at);
    written.text[at] ^= 0x20;
    arena_free(scratch);
  }
}
END_TEST

// With check sums that are right, what is read still lies inside of the bytes.
START_TEST(test_mutants_are_read_or_refused) {
  uint64_t seed = 1;
  int n_read = 0;
  for (int round = 0; round < MUTANTS; round++) {
    Arena *scratch = arena_new("mutant");
    unsigned char *bytes = malloc(written.length);
    memcpy(bytes, written.text, written.length);
    const int changes = 1 + (int)(random_next(&seed) % 3);
    for (int i = 0; i < changes; i++) {
      // Contents are most of the file; what says something of them is where it gets interesting.
      size_t at = (size_t)(random_next(&seed) % written.length);
      if (round % 2) at = (size_t)(random_next(&seed) % 500);
      bytes[at] = (unsigned char)(random_next(&seed) % 4 ? random_next(&seed) : 0xff);
    }
    capsule_seal(bytes, written.length);
    const char *why;
    const Capsule *capsule = read_bytes(scratch, bytes, written.length, &why);
    n_read += capsule != NULL;
    if (capsule) capsule_touch(capsule);
    free(bytes);
    arena_free(scratch);
  }
  ck_assert_int_gt(n_read, MUTANTS / 10);
  ck_assert_int_lt(n_read, MUTANTS);
}
END_TEST

// ---- pages of it --------------------------------------------------------------------------------

enum { PAGE = 64, PAGES = 1500, CUT_BYTES = PAGE * PAGES - 7 };

// What a byte is, in one number; -1: no run has it.
static int content_at(const CapsuleRun *runs, int n, uint64_t at) {
  for (int i = 0; i < n; i++)
    if (at - runs[i].from < runs[i].n)
      return runs[i].bytes ? 256 + runs[i].bytes[at - runs[i].from] : (int)runs[i].content;
  return -1;
}

static const CapsuleRun *random_runs(uint64_t *seed, bool whole, int *n) {
  CapsuleRun *runs = ARENA_ARRAY(arena, CapsuleRun, CUT_BYTES);
  *n = 0;
  for (uint64_t at = 0; at < CUT_BYTES;) {
    uint64_t bytes = 1 + random_next(seed) % (random_next(seed) % 4 ? 100 : 4000);
    if (bytes > CUT_BYTES - at) bytes = CUT_BYTES - at;
    const CapsuleContent content = whole ? (CapsuleContent)(random_next(seed) % 3) : CAPSULE_BYTES;
    if (whole || random_next(seed) % 2)
      runs[(*n)++] =
          (CapsuleRun){content, at, bytes,
                       content == CAPSULE_BYTES ? contents + random_next(seed) % 1000 : NULL};
    at += bytes;
  }
  return runs;
}

static const CapsuleMemory *piece_at(const Capsule *c, uint64_t address) {
  for (int i = 0; i < c->n_memory; i++)
    if (c->memory[i].kind == CAPSULE_ALLOCATION &&
        address - c->memory[i].address < c->memory[i].bytes)
      return &c->memory[i];
  return NULL;
}

// The cost that is told of the kept pages.
static uint64_t cost_of(const CapsuleMemory *m, const bool *kept) {
  uint64_t sum = 0;
  for (uint64_t at = 0, cost; at < CUT_BYTES; at += PAGE) {
    const uint64_t n = CUT_BYTES - at < PAGE ? CUT_BYTES - at : PAGE;
    ck_assert(capsule_page_cost(m, at, n, &cost));
    sum += kept[at / PAGE] ? cost : 0;
  }
  return sum;
}

// The file with no allocation but its extent.
static uint64_t file_without(Capsule capsule) {
  capsule.memory++, capsule.n_memory--;
  return capsule_file_bytes(&capsule) + 2 * sizeof(CapsuleExtent);
}

// Each byte of a kept page is what it was; each other is outside, or left out. The file has no more
// bytes than its pages cost.
START_TEST(test_pages_are_kept_or_left_out) {
  uint64_t seed = (uint64_t)_i + 1;
  CapsuleMemory memory[] = {
      {.kind = CAPSULE_ALLOCATION, .name = "a", .address = 0x7f0000000000, .bytes = CUT_BYTES},
      a_capsule().memory[2]};
  memory[0].before = random_runs(&seed, true, &memory[0].n_before);
  memory[0].after = random_runs(&seed, false, &memory[0].n_after);
  bool kept[PAGES];
  const uint64_t one_of = 1 + random_next(&seed) % 400;
  for (int i = 0; i < PAGES; i++) kept[i] = random_next(&seed) % one_of == 0;
  Capsule capsule = a_capsule();
  capsule.memory = memory, capsule.n_memory = 2;
  capsule.n_extents = 0;
  const uint64_t most = cost_of(&memory[0], kept) + file_without(capsule);
  capsule_cut(arena, &capsule, (const bool *const[]){kept, NULL}, PAGE);
  Str out = str_new(arena);
  ck_assert(capsule_write(arena, &capsule, collect, &out));
  ck_assert_uint_le(out.length, most);
  const char *why;
  const Capsule *cut = read_bytes(arena, out.text, out.length, &why);
  ck_assert_msg(cut != NULL, "%s", why);
  for (uint64_t at = 0; at < CUT_BYTES; at++) {
    const CapsuleMemory *m = piece_at(cut, memory[0].address + at);
    const uint64_t in_piece = m ? memory[0].address + at - m->address : 0;
    const int before = m ? content_at(m->before, m->n_before, in_piece) : CAPSULE_LEFT_OUT,
              after = m ? content_at(m->after, m->n_after, in_piece) : -1;
    const bool is_kept = kept[at / PAGE];
    ck_assert_int_eq(
        before, is_kept ? content_at(memory[0].before, memory[0].n_before, at) : CAPSULE_LEFT_OUT);
    ck_assert_int_eq(after, is_kept ? content_at(memory[0].after, memory[0].n_after, at) : -1);
  }
  ck_assert_int_eq(cut->n_extents, 1);
  ck_assert_uint_eq(cut->extents[0].address, memory[0].address);
  ck_assert_uint_eq(cut->extents[0].bytes, CUT_BYTES);
  ck_assert_str_eq(cut->memory[cut->n_memory - 1].name, "weights");
  ck_assert_int_le(cut->n_memory, PAGES / 256 + 2);
}
END_TEST

Suite *suite_capsule(void) {
  Suite *suite = suite_create("capsule");
  TCase *tc = tcase_create("capsule");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, test_read_back_as_written);
  tcase_add_test(tc, test_crc_is_the_known_one);
  tcase_add_test(tc, test_cut_anywhere_is_refused);
  tcase_add_test(tc, test_more_behind_it_is_refused);
  tcase_add_test(tc, test_newer_version_is_refused);
  tcase_add_test(tc, test_a_table_ends_within_the_bytes);
  tcase_add_test(tc, test_content_of_no_kind_is_refused);
  tcase_add_test(tc, test_launches_that_are_none_are_refused);
  tcase_add_test(tc, test_numbers_of_launches_are_read_up_to_their_ends);
  tcase_add_test(tc, test_extents_that_are_none_are_refused);
  tcase_add_test(tc, test_parameters_lie_within_their_bytes);
  tcase_add_test(tc, test_version_is_the_lowest_that_is_right);
  tcase_add_test(tc, test_any_changed_byte_is_refused);
  tcase_add_test(tc, test_mutants_are_read_or_refused);
  tcase_add_loop_test(tc, test_pages_are_kept_or_left_out, 0, 12);
  suite_add_tcase(suite, tc);
  return suite;
}

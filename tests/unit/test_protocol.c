// The protocol's table, its writer and its strict reader: round trips of every kind, what is
// refused, what is cut, and mutants of good lines.
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/worker/lines.h"
#include "kernels/worker/protocol.h"
#include "stress.h"

static Arena *arena;
static void setup(void) { arena = arena_new("test protocol"); }
static void teardown(void) { arena_free(arena); }

static const struct {
  const char *name;
  MessageSide side;
  uint64_t must, may;
} rows[] = {
#define F(name) (UINT64_C(1) << FIELD_##name)
#define FIELD(name, type, lo, hi, help)
#define ERROR_KIND(kind, name, status)
#define MESSAGE(kind, name, side, must, may) {name, side, must, may},
#include "kernels/worker/protocol.def"
#undef MESSAGE
#undef FIELD
#undef ERROR_KIND
};

// A message with every field it may have; values within the table's ranges.
static Message full_message(int kind) {
  Message message = message_new((MessageKind)kind);
  const uint64_t fields = rows[kind].must | rows[kind].may;
#define VALUE_INT(lo, hi) ((hi) < 7 ? (hi) : (lo) > 7 ? (lo) : 7)
#define VALUE_NUMBER(lo, hi) ((hi)*0.25)
#define VALUE_BOOL(lo, hi) true
#define VALUE_STRING(lo, hi) "a \"q\" \\ \xc3\xa9"
#define VALUE_JSON(lo, hi) "{\"x\":[1,2.5,null,\"\\\\u001b[2J\"]}"
#define VALUE_ERROR(lo, hi) ERROR_TIMEOUT
#define MESSAGE(kind, name, side, must, may)
#define ERROR_KIND(kind, name, status)
#define FIELD(name, type, lo, hi, help) \
  if (fields & F(name)) MESSAGE_SET(message, name, VALUE_##type(lo, hi));
#include "kernels/worker/protocol.def"
#undef MESSAGE
#undef FIELD
#undef ERROR_KIND
  return message;
}

static MessageSide a_side(int kind) {
  return rows[kind].side & FROM_CLIENT ? FROM_CLIENT : FROM_WORKER;
}

static Str written(const Message *message) {
  Str line = str_new(arena);
  message_write(&line, message);
  return line;
}

START_TEST(test_round_trip) {
  const int kind = _i;
  Message message = full_message(kind), back;
  Diags diags = diags_new(arena);
  Str line = written(&message);
  ck_assert_int_eq(line.text[line.length - 1], '\n');
  ck_assert_ptr_eq(strchr(line.text, '\n'), line.text + line.length - 1);
  bool ok = message_read(arena, line.text, line.length - 1, a_side(kind), &back, &diags);
  ck_assert_msg(ok, "%s: %s", line.text, diags_text(arena, &diags));
  ck_assert_uint_eq(back.has, message.has);
  ck_assert_str_eq(written(&back).text, line.text);
}
END_TEST

// Each member a kind must have is missed when it is not there.
START_TEST(test_required) {
  const int kind = _i;
  for (int field = 0; field < MESSAGE_N_FIELDS; field++) {
    if (!(rows[kind].must >> field & 1)) continue;
    Message message = full_message(kind), back;
    Str line = written(&message);
    // The member's name is spoiled, which leaves it unknown and the right one missing.
    Diags diags = diags_new(arena);
    static const char *const names[] = {
#define MESSAGE(kind, name, side, must, may)
#define ERROR_KIND(kind, name, status)
#define FIELD(name, type, lo, hi, help) "\"" #name "\":",
#include "kernels/worker/protocol.def"
#undef MESSAGE
#undef FIELD
#undef ERROR_KIND
    };
    char *at = strstr(line.text, names[field]);
    ck_assert_ptr_nonnull(at);
    at[1] = 'Z';
    ck_assert(!message_read(arena, line.text, line.length - 1, a_side(kind), &back, &diags));
    ck_assert_int_eq(diags.count, 1);
  }
}
END_TEST

static const struct {
  const char *line, *says;
  MessageSide from;
} refused[] = {
    {"", "client", FROM_CLIENT},
    {"Welcome to box", "client", FROM_CLIENT},
    {"[]", "object", FROM_CLIENT},
    {"{}", "type", FROM_CLIENT},
    {"{\"type\":7}", "type", FROM_CLIENT},
    {"{\"type\":\"nonsense\"}", "nonsense", FROM_CLIENT},
    {"{\"type\":\"done\",\"id\":1}", "never sends", FROM_CLIENT},
    {"{\"type\":\"ping\"}", "never sends", FROM_WORKER},
    {"{\"type\":\"cancel\"}", "\"id\"", FROM_CLIENT},
    {"{\"type\":\"cancel\",\"id\":0}", "0", FROM_CLIENT},
    {"{\"type\":\"cancel\",\"id\":-1}", "-1", FROM_CLIENT},
    {"{\"type\":\"cancel\",\"id\":1.5}", "1.5", FROM_CLIENT},
    {"{\"type\":\"cancel\",\"id\":1e300}", "id", FROM_CLIENT},
    {"{\"type\":\"cancel\",\"id\":\"1\"}", "id", FROM_CLIENT},
    {"{\"type\":\"cancel\",\"id\":null}", "id", FROM_CLIENT},
    {"{\"type\":\"cancel\",\"id\":1,\"id\":2}", "twice", FROM_CLIENT},
    {"{\"type\":\"cancel\",\"id\":1,\"ID\":2}", "does not have this member", FROM_CLIENT},
    {"{\"type\":\"cancel\",\"id\":1,\"text\":\"x\"}", "does not have this member", FROM_CLIENT},
    {"{\"type\":\"cancel\",\"id\":1} x", "client", FROM_CLIENT},
    {"{\"type\":\"compile\",\"id\":1,\"plan\":[],\"want\":\"ptx\"}", "object", FROM_CLIENT},
    {"{\"type\":\"compile\",\"id\":1,\"plan\":{},\"want\":\"\"}", "bytes", FROM_CLIENT},
    {"{\"type\":\"progress\",\"id\":1,\"stage\":\"x\",\"fraction\":1.5}", "1.5", FROM_WORKER},
    {"{\"type\":\"error\",\"error\":\"odd\",\"text\":\"\"}", "unknown kind of error", FROM_WORKER},
    {"{\"type\":\"hello\",\"protocol\":2}", "version", FROM_WORKER},
    {"{\"type\":\"result\",\"id\":1,\"what\":\"x\",\"data\":{\"\\u0001\":1,\"?\":2}}", "twice",
     FROM_WORKER},
};

START_TEST(test_refused) {
  Message back;
  Diags diags = diags_new(arena);
  const char *line = refused[_i].line;
  ck_assert(!message_read(arena, line, strlen(line), refused[_i].from, &back, &diags));
  ck_assert_int_eq(diags.count, 1);
  ck_assert_msg(strstr(diags_text(arena, &diags), refused[_i].says) != NULL, "%s: %s", line,
                diags_text(arena, &diags));
}
END_TEST

// Text from outside arrives without anything a terminal could act on, and never too long.
START_TEST(test_text_is_clean_and_short) {
  static const char line[] =
      "{\"type\":\"error\",\"id\":1,\"error\":\"worker\",\"text\":\"a\\u001b["
      "31mb\\u009bc\\u007f\"}";
  Message back;
  Diags diags = diags_new(arena);
  ck_assert(message_read(arena, line, sizeof line - 1, FROM_WORKER, &back, &diags));
  ck_assert_ptr_null(strchr(back.text, 0x1b));
  ck_assert_ptr_null(strstr(back.text, "\xc2\x9b"));
  ck_assert_ptr_null(strchr(back.text, 0x7f));

  Str text = str_new(arena);
  for (int i = 0; i < 40000; i++) str_add(&text, "\xc3\xa9");
  str_add_bytes(&text, "\xff\xfe\n\n", 4);
  Message error = message_new(MESSAGE_ERROR);
  MESSAGE_SET(error, error, ERROR_WORKER);
  MESSAGE_SET(error, text, text.text);
  Str out = written(&error);
  ck_assert(message_read(arena, out.text, out.length - 1, FROM_WORKER, &back, &diags));
  ck_assert_uint_eq(strlen(back.text), 65536);
}
END_TEST

START_TEST(test_errors_have_statuses) {
  for (int i = 0; i < ERROR_N_KINDS; i++) {
    ck_assert_int_gt(error_kind_exit_status((ErrorKind)i), 0);
    for (int j = 0; j < i; j++)
      ck_assert_str_ne(error_kind_name((ErrorKind)i), error_kind_name((ErrorKind)j));
  }
  ck_assert_int_eq(error_kind_exit_status(ERROR_TIMEOUT), 124);
}
END_TEST

// ---- mutants ------------------------------------------------------------------------------------

static uint64_t random_state;
static uint32_t random_below(uint32_t n) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(random_state >> 33) % n;
}

static size_t mutate(char *line, size_t n, size_t capacity) {
  const size_t at = random_below((uint32_t)n);
  switch (random_below(6)) {
    case 0:
      line[at] = (char)random_below(256);
      return n;
    case 1:
      line[at] ^= (char)(1 << random_below(8));
      return n;
    case 2:
      memmove(line + at, line + at + 1, n - at - 1);
      return n - 1;
    case 3:
      return at + 1;
    case 4:
      if (n + 1 >= capacity) return n;
      memmove(line + at + 1, line + at, n - at);
      line[at] = "{}[]\":,\\0e-u"[random_below(12)];
      return n + 1;
    default:
      for (size_t from = random_below((uint32_t)n), i = 0; i < 8; i++)
        if (at + i < n && from + i < n) line[at + i] = line[from + i];
      return n;
  }
}

// What is accepted can be written, and reads back as the same line: nothing half-read gets through.
START_TEST(test_mutants) {
  const int n_mutants = stress_count(100000, 1000000);
  int accepted = 0;
  random_state = 20250131;
  char lines[MESSAGE_N_KINDS][2048];
  size_t lengths[MESSAGE_N_KINDS];
  for (int kind = 0; kind < MESSAGE_N_KINDS; kind++) {
    Message message = full_message(kind);
    Str line = written(&message);
    ck_assert_uint_lt(line.length, sizeof lines[0]);
    lengths[kind] = line.length - 1;
    memcpy(lines[kind], line.text, line.length);
  }
  for (int i = 0; i < n_mutants; i++) {
    char line[2100];
    const int kind = i % MESSAGE_N_KINDS;
    size_t n = lengths[kind];
    memcpy(line, lines[kind], n);
    for (uint32_t times = 1 + random_below(4); times > 0 && n > 0; times--)
      n = mutate(line, n, sizeof line);
    arena_reset(arena);
    Message message, again;
    Diags diags = diags_new(arena);
    if (!message_read(arena, line, n, a_side(kind), &message, &diags)) {
      ck_assert_int_gt(diags.count, 0);
      continue;
    }
    accepted++;
    Str out = written(&message);
    ck_assert(
        message_read(arena, out.text, out.length - 1, a_side((int)message.kind), &again, &diags));
    ck_assert_str_eq(written(&again).text, out.text);
  }
  ck_assert_int_gt(accepted, n_mutants / 100);
  ck_assert_int_lt(accepted, n_mutants / 2);
}
END_TEST

// ---- lines --------------------------------------------------------------------------------------

START_TEST(test_lines_in_pieces) {
  int fds[2];
  ck_assert_int_eq(pipe(fds), 0);
  LineReader reader = line_reader_new(8);
  char *line = NULL;
  size_t n = 0;
  static const char pieces[] = "ab\ncdef\n\n12345678\n";
  int n_lines = 0;
  for (size_t i = 0; i < sizeof pieces - 1; i++) {
    ck_assert_int_eq(write(fds[1], pieces + i, 1), 1);
    ck_assert_int_eq(line_reader_fill(&reader, fds[0]), 1);
    while (line_reader_next(&reader, &line, &n) == LINE_READY) {
      static const char *const want[] = {"ab", "cdef", "", "12345678"};
      ck_assert_str_eq(line, want[n_lines]);
      ck_assert_uint_eq(n, strlen(want[n_lines]));
      n_lines++;
    }
  }
  ck_assert_int_eq(n_lines, 4);
  ck_assert_int_eq(write(fds[1], "123456789", 9), 9);
  ck_assert_int_eq(line_reader_fill(&reader, fds[0]), 9);
  ck_assert_int_eq(line_reader_next(&reader, &line, &n), LINE_TOO_LONG);
  close(fds[1]);
  ck_assert_int_eq(line_reader_fill(&reader, fds[0]), 0);
  close(fds[0]);
  line_reader_free(&reader);
}
END_TEST

Suite *suite_protocol(void);
Suite *suite_protocol(void) {
  Suite *suite = suite_create("protocol");
  TCase *tests = tcase_create("protocol");
  tcase_set_timeout(tests, 300);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, test_round_trip, 0, MESSAGE_N_KINDS);
  tcase_add_loop_test(tests, test_required, 0, MESSAGE_N_KINDS);
  tcase_add_loop_test(tests, test_refused, 0, (int)(sizeof refused / sizeof *refused));
  tcase_add_test(tests, test_text_is_clean_and_short);
  tcase_add_test(tests, test_errors_have_statuses);
  tcase_add_test(tests, test_mutants);
  tcase_add_test(tests, test_lines_in_pieces);
  suite_add_tcase(suite, tests);
  return suite;
}

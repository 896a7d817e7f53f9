// The strict reader against hostile texts, the getters' sentences, and the writer.
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "stress.h"

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}

static void teardown(void) { arena_free(arena); }

static const JsonValue *parse(const char *text) {
  return json_parse(arena, text, strlen(text), &diags, "t");
}

static const char *rewritten(const JsonValue *value) {
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_put_value(&w, value);
  return out.text;
}

static const struct {
  const char *text, *told;
} bad_texts[] = {
    {"", "t:1:1: the text ends before a value"},
    {"   ", "t:1:4: the text ends before a value"},
    {"{} x", "t:1:4: bytes after the end of the document"},
    {"[1]]", "t:1:4: bytes after"},
    {"{\"a\":1,\n \"a\":2}", "t:2:6: a: the key is given twice, first on line 1"},
    {"{\"a\":{\"b\":1,\"c\":2,\"b\":3}}", "a.b: the key is given twice"},
    {"{a:1}", "t:1:2: expected a key in double quotes"},
    {"{'a':1}", "a key in double quotes"},
    {"{\"a\" 1}", "t:1:6: expected a colon"},
    {"{\"a\":1,}", "t:1:8: expected a key in double quotes"},
    {"[1,]", "t:1:4: expected a value"},
    {"[1 2]", "t:1:4: expected a comma or ]"},
    {"{\"a\":1 \"b\":2}", "expected a comma or }"},
    {"[1}", "expected a comma or ]"},
    {"[", "ends before a value"},
    {"{", "a key in double quotes"},
    {"\"abc", "ends inside a string"},
    {"\"abc\\", "ends inside an escape"},
    {"\"\\x41\"", "does not have this escape"},
    {"\"\\u12G4\"", "four hexadecimal digits"},
    {"\"\\u12", "four hexadecimal digits"},
    {"\"\\u0000\"", "may not hold NUL"},
    {"\"\\ud800\"", "a high surrogate without"},
    {"\"\\ud800\\n\"", "a high surrogate without"},
    {"\"\\ud800\\ud800\"", "a high surrogate without"},
    {"\"\\udc00\"", "a low surrogate without"},
    {"\"a\tb\"", "t:1:3: a control character in a string"},
    {"\"a\nb\"", "a control character in a string"},
    {"\"\x80\"", "not UTF-8"},
    {"\"\xc0\x80\"", "not UTF-8"},
    {"\"\xed\xa0\x80\"", "not UTF-8"},
    {"\"\xf4\x90\x80\x80\"", "not UTF-8"},
    {"\"\xe2\x82\"", "not UTF-8"},
    {"\"\xe2", "not UTF-8"},
    {"\xEF\xBB\xBF{}", "byte order mark"},
    {"01", "extra 0"},
    {"-01", "extra 0"},
    {"00", "extra 0"},
    {"1.", "a number needs a digit here"},
    {".5", "expected a value"},
    {"+1", "expected a value"},
    {"-", "a number needs a digit here"},
    {"1e", "a number needs a digit here"},
    {"1e+", "a number needs a digit here"},
    {"0x10", "bytes after the end"},
    {"1e999", "t:1:1: the number is too large for a double"},
    {"[0,-1e400]", "t:1:4: [1]: the number is too large for a double"},
    {"1111111111111111111111111111111111111111111111111111111111111111", "at most 63 characters"},
    {"NaN", "expected a value"},
    {"Infinity", "expected a value"},
    {"nul", "expected a value"},
    {"True", "expected a value"},
    {"truefalse", "bytes after the end"},
    {"// c\n1", "expected a value"},
    {"\f1", "expected a value"},
    {"[\"é\", x]", "t:1:7: expected a value"},
};

START_TEST(bad_text_is_refused_with_its_place) {
  const char *text = bad_texts[_i].text;
  ck_assert_msg(parse(text) == NULL, "accepted: %s", text);
  ck_assert_int_eq(diags.count, 1);
  ck_assert_str_eq(diags.first->rule, "json");
  ck_assert_msg(strstr(diags.first->text, bad_texts[_i].told) != NULL, "%s gave: %s", text,
                diags.first->text);
}
END_TEST

START_TEST(raw_nul_bytes_are_refused_anywhere) {
  static const char text[] = "{\"a\":[1,\"b\"]}";
  for (size_t at = 0; at <= sizeof text - 1; at++) {
    char copy[sizeof text];
    memcpy(copy, text, at);
    copy[at] = '\0';
    memcpy(copy + at + 1, text + at, sizeof text - 1 - at);
    diags = diags_new(arena);
    ck_assert_ptr_null(json_parse(arena, copy, sizeof text, &diags, "t"));
    ck_assert_int_eq(diags.count, 1);
  }
}
END_TEST

START_TEST(every_prefix_of_a_document_is_refused) {
  static const char text[] = "{\"k\": [1.5e3, \"\\u00e9\\ud83d\\ude80\", true, null, {}]}";
  for (size_t n = 0; n < sizeof text - 1; n++)
    ck_assert_ptr_null(json_parse(arena, text, n, &diags, "t"));
  ck_assert_int_eq(diags.count, (int)sizeof text - 1);
  ck_assert_ptr_nonnull(json_parse(arena, text, sizeof text - 1, &diags, "t"));
}
END_TEST

START_TEST(depth_is_limited_and_huge_depth_is_no_crash) {
  for (int depth = JSON_DEPTH_MAX - 1; depth <= JSON_DEPTH_MAX + 1; depth++) {
    Str text = str_new(arena);
    str_add_repeat(&text, '[', depth);
    str_add_repeat(&text, ']', depth);
    ck_assert_int_eq(parse(text.text) != NULL, depth <= JSON_DEPTH_MAX);
  }
  Str deep = str_new(arena);
  str_add_repeat(&deep, '[', 1000000);
  ck_assert_ptr_null(parse(deep.text));
}
END_TEST

START_TEST(many_keys_do_not_take_quadratic_time) {
  Str text = str_new(arena);
  str_add(&text, "{");
  for (int i = 0; i < 200000; i++) str_printf(&text, "\"k%d\":0,", i);
  str_add(&text, "\"k7\":1}");
  ck_assert_ptr_null(parse(text.text));
  ck_assert_ptr_nonnull(strstr(diags.first->text, "k7: the key is given twice"));
}
END_TEST

START_TEST(values_are_read_back) {
  const JsonValue *v = parse(
      " {\"s\":\"a\\n\\\"\\u00e9\\ud83d\\ude80\", \"i\":-7, \"d\":2.5e-3, \"t\":true, \"n\":null,"
      "\"l\":[1,[2,3],{}], \"\":0, \"S\":\"upper\"} ");
  ck_assert_ptr_nonnull(v);
  const char *s;
  int i;
  double d;
  bool t = false;
  ck_assert(json_require_string(v, "s", &s, &diags));
  ck_assert_str_eq(s, "a\n\"é🚀");
  ck_assert(json_require_string(v, "S", &s, &diags));
  ck_assert_str_eq(s, "upper");
  ck_assert(json_require_int(v, "i", -10, 10, &i, &diags) && i == -7);
  ck_assert(json_require_double(v, "d", &d, &diags) && d == 2.5e-3);
  ck_assert(json_require_bool(v, "t", &t, &diags) && t);
  ck_assert(json_is_null(json_object_get(v, "n")));
  ck_assert_int_eq(json_count(v), 8);
  const JsonValue *l = json_require_array(v, "l", &diags);
  ck_assert_int_eq(json_count(l), 3);
  ck_assert_int_eq(json_count(json_at(l, 1)), 2);
  ck_assert_ptr_null(json_at(l, 3));
  ck_assert_ptr_null(json_at(l, -1));
  ck_assert_str_eq(json_path(arena, json_at(json_at(l, 1), 0)), "l[1][0]");
  ck_assert_str_eq(json_key_at(v, 1), "i");
  ck_assert_ptr_null(json_object_get(v, "I"));
  ck_assert_int_eq(diags.count, 0);
}
END_TEST

START_TEST(getters_say_what_is_wrong_and_leave_out_alone) {
  const JsonValue *v =
      parse("{\"g\":[{\"sm\":\"x\",\"f\":1.5,\"big\":1e300,\"o\":200,\"z\":null}]}");
  const JsonValue *g = json_at(json_require_array(v, "g", &diags), 0);
  int i = 42;
  bool b = true;
  const char *s = "kept";
  ck_assert(!json_require_int(g, "sm", 0, 99, &i, &diags));
  ck_assert_str_eq(diags.last->text, "t:1:13: g[0].sm: \"x\" is not a number");
  ck_assert(!json_require_int(g, "f", 0, 99, &i, &diags));
  ck_assert_str_eq(diags.last->text, "t:1:21: g[0].f: 1.5 is not a whole number from 0 to 99");
  ck_assert_str_eq(diags.last->nearest, "2");
  ck_assert(!json_require_int(g, "big", 0, 99, &i, &diags));
  ck_assert_str_eq(diags.last->nearest, "99");
  ck_assert(!json_require_int(g, "o", 0, 99, &i, &diags));
  ck_assert_ptr_nonnull(strstr(diags.last->text, "200 is outside 0 to 99"));
  ck_assert(!json_require_int(g, "z", 0, 99, &i, &diags));
  ck_assert_ptr_nonnull(strstr(diags.last->text, "null, but a value is needed"));
  ck_assert(!json_require_int(g, "none", 0, 99, &i, &diags));
  ck_assert_ptr_nonnull(strstr(diags.last->text, "g[0]: the key \"none\" is missing"));
  ck_assert(!json_require_bool(g, "sm", &b, &diags));
  ck_assert(!json_require_string(g, "o", &s, &diags));
  ck_assert_ptr_nonnull(strstr(diags.last->text, "200 is not a string"));
  ck_assert(!json_require_string(v, "g", &s, &diags));
  ck_assert_ptr_nonnull(strstr(diags.last->text, "an array is not a string"));
  ck_assert_int_eq(i, 42);
  ck_assert(b);
  ck_assert_str_eq(s, "kept");
}
END_TEST

START_TEST(optional_members_keep_their_default) {
  const JsonValue *v = parse("{\"n\":null,\"i\":3,\"w\":\"x\"}");
  int i = 9;
  ck_assert(json_optional_int(v, "absent", 0, 10, &i, &diags) && i == 9);
  ck_assert(json_optional_int(v, "n", 0, 10, &i, &diags) && i == 9);
  ck_assert(json_optional_int(v, "i", 0, 10, &i, &diags) && i == 3);
  ck_assert_int_eq(diags.count, 0);
  ck_assert(!json_optional_int(v, "w", 0, 10, &i, &diags));
  ck_assert_int_eq(diags.count, 1);
}
END_TEST

START_TEST(missing_parents_are_told_once) {
  const JsonValue *v = parse("{}");
  int i = 0;
  const JsonValue *absent = json_require_object(v, "a", &diags);
  ck_assert_int_eq(diags.count, 1);
  ck_assert(!json_require_int(absent, "b", 0, 1, &i, &diags));
  ck_assert_ptr_null(json_require_array(absent, "c", &diags));
  ck_assert_int_eq(diags.count, 1);
}
END_TEST

START_TEST(whole_numbers_are_exact_or_refused) {
  const JsonValue *v = parse("[9007199254740992, 9007199254740994, -9007199254740992, 2147483648]");
  int64_t wide;
  int narrow = 0;
  ck_assert(json_read_int64(json_at(v, 0), INT64_MIN, INT64_MAX, &wide, &diags));
  ck_assert_int_eq(wide, 9007199254740992);
  ck_assert(!json_read_int64(json_at(v, 1), INT64_MIN, INT64_MAX, &wide, &diags));
  ck_assert(json_read_int64(json_at(v, 2), INT64_MIN, INT64_MAX, &wide, &diags));
  ck_assert(!json_read_int(json_at(v, 3), INT32_MIN, INT32_MAX, &narrow, &diags));
  ck_assert_str_eq(diags.last->nearest, "2147483647");
}
END_TEST

START_TEST(unknown_keys_are_told_with_the_nearest) {
  static const char *const known[] = {"value", "source"};
  const JsonValue *v = parse("{\"vlaue\":1,\"source\":2,\"zzzzzzzz\":3}");
  ck_assert(!json_check_keys(v, known, 2, &diags));
  ck_assert_int_eq(diags.count, 2);
  ck_assert_str_eq(diags.first->nearest, "value");
  ck_assert_ptr_null(diags.last->nearest);
}
END_TEST

START_TEST(escapes_in_a_message_are_harmless) {
  const JsonValue *v = parse("{\"\\u001b[2J\":\"\\u001b]0;x\\u0007\"}");
  int i;
  ck_assert(!json_read_int(json_at(v, 0), 0, 1, &i, &diags));
  for (const char *at = diags.last->text; *at; at++) ck_assert_int_ne(*at, '\x1b');
}
END_TEST

START_TEST(long_values_are_cut_in_a_message) {
  Str text = str_new(arena);
  str_add(&text, "\"");
  for (int i = 0; i < 100; i++) str_add(&text, "漢");
  str_add(&text, "\"");
  int i;
  ck_assert(!json_read_int(parse(text.text), 0, 1, &i, &diags));
  ck_assert_uint_lt(strlen(diags.last->text), 100);
  ck_assert_str_eq(str_sanitise(arena, diags.last->text), diags.last->text);
}
END_TEST

START_TEST(writer_places_commas_and_colons) {
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_begin_object(&w);
  json_member_int(&w, "a", -1);
  json_key(&w, "b");
  json_begin_array(&w);
  json_begin_array(&w);
  json_end_array(&w);
  json_put_null(&w);
  json_put_bool(&w, true);
  json_begin_object(&w);
  json_end_object(&w);
  json_end_array(&w);
  json_member_string(&w, "c", "x");
  json_member_string(&w, "d", NULL);
  json_member_double(&w, "e", NAN);
  json_member_double(&w, "f", -INFINITY);
  json_member_bool(&w, "h", false);
  json_end_object(&w);
  ck_assert_str_eq(out.text,
                   "{\"a\":-1,\"b\":[[],null,true,{}],\"c\":\"x\",\"d\":null,\"e\":null,\"f\":null,"
                   "\"h\":false}");
}
END_TEST

START_TEST(writer_escapes_what_must_not_reach_a_terminal) {
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_put_string(&w, "\x1b[0m\"\\/\b\f\n\r\t\x01\x7f é \xc2\x9b \xff\xfe \xed\xa0\x80 \xe2\x82");
  ck_assert_str_eq(out.text,
                   "\"\\u001b[0m\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u007f é \\u009b "
                   "\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD "
                   "\xEF\xBF\xBD\xEF\xBF\xBD\"");
  ck_assert_ptr_nonnull(parse(out.text));
}
END_TEST

START_TEST(every_byte_string_survives_as_legal_json) {
  srand(7);
  for (int round = 0; round < 20000; round++) {
    char bytes[9] = {0};
    for (int i = 0; i < 8; i++) bytes[i] = (char)(rand() % 3 ? 0x80 + rand() % 128 : rand() % 256);
    Str out = str_new(arena);
    JsonWriter w = json_writer(&out);
    json_put_string(&w, bytes);
    ck_assert_msg(parse(out.text) != NULL, "%s", diags.last ? diags.last->text : "");
    arena_reset(arena);
    diags = diags_new(arena);
  }
}
END_TEST

START_TEST(doubles_read_back_equal) {
  static const double numbers[] = {0,       -0.0,
                                   0.1,     1.0 / 3,
                                   5e-324,  1.7976931348623157e308,
                                   1e15,    1e16,
                                   123.456, 9007199254740993.0,
                                   66.9,    -2.5e-10};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    Str out = str_new(arena);
    JsonWriter w = json_writer(&out);
    json_put_double(&w, numbers[i]);
    double back = NAN;
    ck_assert(json_read_double(parse(out.text), &back, &diags));
    ck_assert_msg(back == numbers[i] && signbit(back) == signbit(numbers[i]), "%s", out.text);
  }
  Str tenth = str_new(arena);
  JsonWriter w = json_writer(&tenth);
  json_put_double(&w, 0.1);
  ck_assert_str_eq(tenth.text, "0.1");
}
END_TEST

START_TEST(rewriting_is_a_fixed_point) {
  const char *first = rewritten(parse("{ \"a\" : [ 1 , -2.5 , \"\\u00e9\" , { } , [ ] , null ] }"));
  ck_assert_str_eq(first, "{\"a\":[1,-2.5,\"é\",{},[],null]}");
  ck_assert_str_eq(rewritten(parse(first)), first);
}
END_TEST

// Mutants of a real document: a parse either succeeds and is a fixed point of rewriting, or gives
// exactly one finding.
START_TEST(mutants_are_parsed_or_refused_cleanly) {
  static const char text[] =
      "{\"gpus\":{\"h200\":{\"sm\":{\"value\":132,\"source\":\"ds\"},\"l\":[1e3,-0.5,\"\\u00e9\","
      "\"é\",true,false,null,{},[[]]]}}}";
  static const char bytes[] = "{}[]\",:\\0123456789eE+-.utfn \n\x80\xc3\xff";
  srand(1);
  for (int round = 0; round < stress_count(30000, 100000); round++) {
    char copy[sizeof text];
    memcpy(copy, text, sizeof text);
    size_t n = sizeof text - 1;
    for (int edits = 1 + rand() % 3; edits > 0; edits--)
      copy[(size_t)rand() % n] = bytes[(size_t)rand() % (sizeof bytes - 1)];
    const JsonValue *v = json_parse(arena, copy, n, &diags, "t");
    ck_assert_int_eq(diags.count, v ? 0 : 1);
    if (v) {
      const char *once = rewritten(v);
      ck_assert_str_eq(rewritten(parse(once)), once);
    }
    arena_reset(arena);
    diags = diags_new(arena);
  }
}
END_TEST

Suite *suite_json(void);
Suite *suite_json(void) {
  Suite *suite = suite_create("json");
  TCase *tests = tcase_create("json");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, bad_text_is_refused_with_its_place, 0,
                      (int)(sizeof bad_texts / sizeof bad_texts[0]));
  tcase_add_test(tests, raw_nul_bytes_are_refused_anywhere);
  tcase_add_test(tests, every_prefix_of_a_document_is_refused);
  tcase_add_test(tests, depth_is_limited_and_huge_depth_is_no_crash);
  tcase_add_test(tests, many_keys_do_not_take_quadratic_time);
  tcase_add_test(tests, values_are_read_back);
  tcase_add_test(tests, getters_say_what_is_wrong_and_leave_out_alone);
  tcase_add_test(tests, optional_members_keep_their_default);
  tcase_add_test(tests, missing_parents_are_told_once);
  tcase_add_test(tests, whole_numbers_are_exact_or_refused);
  tcase_add_test(tests, unknown_keys_are_told_with_the_nearest);
  tcase_add_test(tests, escapes_in_a_message_are_harmless);
  tcase_add_test(tests, long_values_are_cut_in_a_message);
  tcase_add_test(tests, writer_places_commas_and_colons);
  tcase_add_test(tests, writer_escapes_what_must_not_reach_a_terminal);
  tcase_add_test(tests, every_byte_string_survives_as_legal_json);
  tcase_add_test(tests, doubles_read_back_equal);
  tcase_add_test(tests, rewriting_is_a_fixed_point);
  tcase_add_test(tests, mutants_are_parsed_or_refused_cleanly);
  suite_add_tcase(suite, tests);
  return suite;
}

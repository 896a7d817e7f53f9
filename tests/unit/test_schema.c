// What --json prints keeps to the schema that `gemmview schema` prints: for each line of
// tests/data/documents.tsv (FORM, TAB, ARGUMENTS) the program is run and its document validated.
// `@NAME` in the arguments is one of the workers below. Of several documents, one on a line, those
// are validated that have the text behind a second TAB. Where the arguments are GPU nobody answers
// for one, and the form is only checked for its members. Lines that begin with ~ take seconds: make
// stress runs them.
// tests/golden/schema.txt holds the members of all documents, so that none is renamed unseen.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/documents.h"
#include "cli_harness.h"
#include "golden.h"
#include "stress.h"

Suite *suite_schema(void);

static Arena *arena;

static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// ---- a validator of what form_schema writes -----------------------------------------------------

static const char *kind_name(const JsonValue *value) {
  static const char *const names[] = {
      [JSON_NULL] = "null",     [JSON_BOOL] = "boolean", [JSON_NUMBER] = "number",
      [JSON_STRING] = "string", [JSON_ARRAY] = "array",  [JSON_OBJECT] = "object"};
  return names[json_kind(value)];
}

static const char *text_of(const JsonValue *value) {
  Diags diags = diags_new(arena);
  const char *text = "";
  ck_assert(json_read_string(value, &text, &diags));
  return text;
}

static bool is_of_type(const JsonValue *value, const char *type) {
  Diags diags = diags_new(arena);
  int64_t whole;
  if (str_equal(type, "integer"))
    return json_kind(value) == JSON_NUMBER &&
           json_read_int64(value, INT64_MIN / 2, INT64_MAX / 2, &whole, &diags);
  return str_equal(type, kind_name(value));
}

static bool fits_type(const JsonValue *value, const JsonValue *type) {
  if (json_kind(type) != JSON_ARRAY) return json_is_null(type) || is_of_type(value, text_of(type));
  for (int i = 0; i < json_count(type); i++)
    if (is_of_type(value, text_of(json_at(type, i)))) return true;
  return false;
}

// What does not fit, as a sentence; NULL: all does.
static const char *misfit(const JsonValue *value, const JsonValue *schema, const char *where);

static const char *misfit_of_members(const JsonValue *object, const JsonValue *schema,
                                     const char *where) {
  const JsonValue *members = json_object_get(schema, "properties"),
                  *required = json_object_get(schema, "required"),
                  *others = json_object_get(schema, "additionalProperties");
  for (int i = 0; i < json_count(required); i++)
    if (!json_object_get(object, text_of(json_at(required, i))))
      return arena_printf(arena, "%s has no %s", where, text_of(json_at(required, i)));
  const char *found = NULL;
  for (int i = 0; i < json_count(object) && !found; i++) {
    const char *path = arena_printf(arena, "%s.%s", where, json_key_at(object, i));
    const JsonValue *its = json_object_get(members, json_key_at(object, i));
    const bool may_be = its || json_kind(others) == JSON_OBJECT;
    found = may_be ? misfit(json_at(object, i), its ? its : others, path)
                   : arena_printf(arena, "%s is in no schema", path);
  }
  return found;
}

static const char *misfit(const JsonValue *value, const JsonValue *schema, const char *where) {
  const JsonValue *constant = json_object_get(schema, "const"),
                  *type = json_object_get(schema, "type"),
                  *items = json_object_get(schema, "items");
  if (!fits_type(value, type))
    return arena_printf(arena, "%s is %s, which its schema does not say", where, kind_name(value));
  if (constant && !str_equal(text_of(value), text_of(constant)))
    return arena_printf(arena, "%s is \"%s\"", where, text_of(value));
  if (json_kind(value) == JSON_OBJECT && type) return misfit_of_members(value, schema, where);
  const char *found = NULL;
  for (int i = 0; items && i < json_count(value) && !found; i++)
    found = misfit(json_at(value, i), items, arena_printf(arena, "%s[%d]", where, i));
  return found;
}

START_TEST(the_validator_refuses) {
  static const char schema[] =
      "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":[\"integer\",\"null\"]},"
      "\"b\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
      "\"required\":[\"a\"],\"additionalProperties\":false}";
  static const struct {
    const char *text, *misfit;
  } cases[] = {{"{\"a\":1}", NULL},
               {"{\"a\":null,\"b\":[]}", NULL},
               {"{\"a\":1.5}", "x.a is number"},
               {"{\"a\":\"1\"}", "x.a is string"},
               {"{\"a\":1,\"b\":[\"y\",2]}", "x.b[1] is number"},
               {"{}", "x has no a"},
               {"[]", "x is array"},
               {"{\"a\":1,\"c\":2}", "x.c is in no schema"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Diags diags = diags_new(arena);
    const JsonValue *value = json_parse(arena, cases[i].text, strlen(cases[i].text), &diags, "x"),
                    *its = json_parse(arena, schema, strlen(schema), &diags, "schema");
    const char *found = misfit(value, its, "x");
    ck_assert_msg(!found == !cases[i].misfit, "%s: %s", cases[i].text, found ? found : "fits");
    if (found) ck_assert_msg(str_starts(found, cases[i].misfit), "%s", found);
  }
}
END_TEST

// ---- documents ----------------------------------------------------------------------------------

static const JsonValue *schema_of(const Form *form) {
  Str text = str_new(arena);
  JsonWriter writer = json_writer(&text);
  Diags diags = diags_new(arena);
  form_schema(&writer, form, true);
  return json_parse(arena, text.text, text.length, &diags, "schema");
}

typedef struct Line {
  const char *form, *arguments, *part;  // part NULL: one document
} Line;

enum { LINES_MAX = 512 };

static int read_lines(Line *lines) {
  FILE *file = fopen("tests/data/documents.tsv", "r");
  static char text[1024];
  int n = 0;
  ck_assert_ptr_nonnull(file);
  while (fgets(text, sizeof text, file)) {
    char *line = arena_strndup(arena, text, strcspn(text, "\n")), *tab = strchr(line, '\t');
    ck_assert_ptr_nonnull(tab);
    ck_assert_int_lt(n, LINES_MAX);
    *tab = 0;
    char *part = strchr(tab + 1, '\t');
    if (part) *part++ = 0;
    const bool slow = *line == '~';
    if (!slow || stress_is_on()) lines[n++] = (Line){line + slow, tab + 1, part};
  }
  fclose(file);
  return n;
}

// A program to record.
static const char *program_of(const char *name) {
  const char *path = cli_write_file(arena, name, "");
  const CliRun run = cli_shell(
      arena, arena_printf(arena, "cc -o %s tests/data/record/driver_%s.c -ldl", path, name));
  ck_assert_msg(run.status == 0, "%s", run.err);
  return path;
}

// Workers without a GPU: one that times by a law, one that says hello late, one with a good result.
static const char *worker(const char *name) {
  static const char law[] =
      "\"do\":\"machine\",\"text\":\"NVIDIA H200\"}\n"
      "{\"on\":\"compile\",\"do\":\"simulate\"}\n"
      "{\"on\":\"bench\",\"do\":\"simulate\"}\n";
  const CompileResult cubin = cli_good_cubin();
  const BenchResult bench = cli_good_bench();
  if (str_equal(name, "simulated"))
    return cli_fake_worker_rules(arena, arena_printf(arena, "{\"on\":\"start\",%s", law));
  if (str_equal(name, "late"))
    return cli_fake_worker_rules(
        arena, arena_printf(arena, "{\"on\":\"start\",\"delay_ms\":3000,%s", law));
  if (str_equal(name, "add")) return program_of("add");
  ck_assert_str_eq(name, "good");
  return cli_fake_worker(arena, "NVIDIA H200", &cubin, &bench);
}

static const char *with_worker(const char *arguments) {
  const char *at = strchr(arguments, '@');
  if (!at) return arguments;
  const size_t n = strcspn(at, " ");
  return arena_printf(arena, "%.*s%s%s", (int)(at - arguments), arguments,
                      worker(arena_strndup(arena, at + 1, n - 1)), at + n);
}

// The documents that one run prints and the line is about; how many.
static int validate(const Line *line, const Document *document) {
  if (str_equal(line->arguments, "GPU")) return 1;
  CliRun run = cli_run(arena, with_worker(line->arguments));
  int n = 0;
  for (const char *at = run.out; *at;) {
    const size_t length = line->part ? strcspn(at, "\n") + 1 : strlen(at);
    const CliRun one = {.out = arena_strndup(arena, at, length), .err = run.err};
    at += length;
    if (line->part && !strstr(one.out, line->part)) continue;
    const char *found = misfit(cli_json(arena, &one), schema_of(document->form), document->name);
    ck_assert_msg(!found, "gemmview %s: %s", line->arguments, found);
    n++;
  }
  ck_assert_msg(n > 0, "gemmview %s: %s", line->arguments, run.err);
  return n;
}

START_TEST(documents_keep_to_their_schema) {
  if (!cli_has_program()) return;
  static Line lines[LINES_MAX];
  const Document *document = &cli_documents[_i];
  int tried = 0, its = 0;
  for (int i = 0, n = read_lines(lines); i < n; i++) {
    if (!str_equal(lines[i].form, document->name)) continue;
    // The first line of each document has its turn; of more lines make test takes one in four.
    if (stress_has_turn(its++, 4)) tried += validate(&lines[i], document);
  }
  ck_assert_msg(tried > 0, "tests/data/documents.tsv has no line of %s", document->name);
}
END_TEST

// ---- names --------------------------------------------------------------------------------------

static void list_record(Str *out, const Record *record, const char *path) {
  for (int i = 0; i < record->n; i++) {
    const char *its = arena_printf(arena, "%s.%s", path, record->fields[i].key);
    str_printf(out, "%s\n", its);
    if (record->fields[i].record) list_record(out, record->fields[i].record, its);
  }
}

static void list(Str *out, const Form *form, const char *path, const char *mark) {
  for (int i = 0; i < form->n; i++) {
    const FormField *field = &form->field[i];
    static const char *const marks[] = {
        [FORM_ALWAYS] = "", [FORM_MAYBE] = " or null", [FORM_WHEN] = " or left out"};
    static const char *const kinds[] = {[FORM_BOOL] = "bool",
                                        [FORM_INT] = "int",
                                        [FORM_NUM] = "number",
                                        [FORM_TEXT] = "text",
                                        [FORM_WORD] = "text",
                                        [FORM_NUMBERS] = "numbers",
                                        [FORM_TEXTS] = "texts",
                                        [FORM_GRID] = "grid",
                                        [FORM_COUNTS] = "counts",
                                        [FORM_OBJECT] = "object",
                                        [FORM_LIST] = "list",
                                        [FORM_REFS] = "list",
                                        [FORM_MEMBERS] = "",
                                        [FORM_PAIRS] = "texts by key",
                                        [FORM_KEYED] = "objects by key",
                                        [FORM_RAW] = "anything",
                                        [FORM_RECORD] = "record"};
    if (field->kind == FORM_MEMBERS) {
      list(out, field->form, path, field->presence == FORM_WHEN ? marks[FORM_WHEN] : mark);
      continue;
    }
    const char *its = arena_printf(arena, "%s.%s", path, field->key),
               *its_mark = field->presence == FORM_WHEN ? "" : mark;
    str_printf(out, "%s: %s%s%s\n", its, kinds[field->kind], marks[field->presence], its_mark);
    if (field->form) list(out, field->form, its, "");
    if (field->record) list_record(out, field->record, its);
  }
}

START_TEST(members_keep_their_names) {
  Str out = str_new(arena);
  for (int i = 0; i < cli_document_count; i++)
    list(&out, cli_documents[i].form, cli_documents[i].name, "");
  golden_check("schema.txt", out.text);
}
END_TEST

START_TEST(one_schema_or_all) {
  if (!cli_has_program()) return;
  const CliRun all = cli_run(arena, "schema"), one = cli_run(arena, "schema interpret"),
               none = cli_run(arena, "schema interprte");
  ck_assert_int_eq(json_count(cli_json(arena, &all)), cli_document_count + 1);
  ck_assert(json_object_get(cli_json(arena, &one), "$schema"));
  ck_assert_int_eq(none.status, 2);
  ck_assert(strstr(none.err, "nearest: interpret"));
}
END_TEST

Suite *suite_schema(void) {
  Suite *suite = suite_create("schema");
  TCase *cases = tcase_create("schema");
  tcase_set_timeout(cases, 300);
  tcase_add_checked_fixture(cases, setup, teardown);
  tcase_add_test(cases, the_validator_refuses);
  tcase_add_loop_test(cases, documents_keep_to_their_schema, 0, cli_document_count);
  tcase_add_test(cases, members_keep_their_names);
  tcase_add_test(cases, one_schema_or_all);
  suite_add_tcase(suite, cases);
  return suite;
}

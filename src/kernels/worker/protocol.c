// One loop over protocol.def writes a message, one reads it.
//
// A row of FIELD becomes a FieldRow: where the value sits in a Message, its type, its range. A
// message is then a set of fields, and a set is 64 bits: writing walks the bits of `has`; reading
// takes the members one by one, refuses those outside must | may, and at the end asks whether
// must & ~has is empty. Worked example:
//
//   {"type":"done","id":0}  →  worker: id: 0 is outside 1 … 9007199254740991; nearest: 1
//   {"type":"done"}         →  worker: a "done" message has no member "id"
//
// JSON members (plans, results) are not looked into here: they are rewritten on one line and left
// to their own strict readers. A worker's texts lose their control characters on the way; a plan
// keeps them, because a compiler is to see the text as it is.
#include "kernels/worker/protocol.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/unicode.h"

typedef enum FieldType {
  FIELD_INT,
  FIELD_NUMBER,
  FIELD_BOOL,
  FIELD_STRING,
  FIELD_JSON,
  FIELD_ERROR
} FieldType;

typedef struct FieldRow {
  const char *name;
  FieldType type;
  size_t offset;
  double lo, hi;
} FieldRow;

typedef struct MessageRow {
  const char *name;
  MessageSide side;
  uint64_t must, may;
} MessageRow;

typedef struct ErrorRow {
  const char *name;
  int exit_status;
} ErrorRow;

#define F(name) (UINT64_C(1) << FIELD_##name)

#define MESSAGE(kind, name, side, must, may)
#define ERROR_KIND(kind, name, status)
#define FIELD(name, type, lo, hi, help) {#name, FIELD_##type, offsetof(Message, name), lo, hi},
static const FieldRow field_rows[] = {
#include "kernels/worker/protocol.def"
};
#undef FIELD
#undef MESSAGE
#undef ERROR_KIND

#define FIELD(name, type, lo, hi, help)
#define ERROR_KIND(kind, name, status)
#define MESSAGE(kind, name, side, must, may) {name, side, must, may},
static const MessageRow message_rows[] = {
#include "kernels/worker/protocol.def"
};
#undef FIELD
#undef MESSAGE
#undef ERROR_KIND

#define FIELD(name, type, lo, hi, help)
#define MESSAGE(kind, name, side, must, may)
#define ERROR_KIND(kind, name, status) {name, status},
static const ErrorRow error_rows[] = {
#include "kernels/worker/protocol.def"
};
#undef FIELD
#undef MESSAGE
#undef ERROR_KIND

static_assert(MESSAGE_N_FIELDS <= 64, "a set of fields is 64 bits");

Message message_new(MessageKind kind) { return (Message){.kind = kind}; }
const char *message_kind_name(MessageKind kind) { return message_rows[kind].name; }
const char *error_kind_name(ErrorKind kind) { return error_rows[kind].name; }
int error_kind_exit_status(ErrorKind kind) { return error_rows[kind].exit_status; }

// ---- writing ------------------------------------------------------------------------------------

// Cuts a text to at most `limit` bytes, never inside a UTF-8 sequence, without the newlines at the
// end.
static const char *text_cut(Arena *arena, const char *text, size_t limit) {
  const char *clean = str_sanitise(arena, text);
  size_t n = utf8_cut(clean, limit);
  while (n > 0 && clean[n - 1] == '\n') n--;
  return arena_strndup(arena, clean, n);
}

static void write_json_text(JsonWriter *writer, const char *key, const char *text) {
  str_printf(writer->str, ",\"%s\":", key);
  str_add(writer->str, text);
}

static void write_field(JsonWriter *writer, const FieldRow *row, const void *at) {
  switch (row->type) {
    case FIELD_INT:
      json_member_int(writer, row->name, *(const int64_t *)at);
      return;
    case FIELD_NUMBER:
      json_member_double(writer, row->name, *(const double *)at);
      return;
    case FIELD_BOOL:
      json_member_bool(writer, row->name, *(const bool *)at);
      return;
    case FIELD_JSON:
      write_json_text(writer, row->name, *(const char *const *)at);
      return;
    case FIELD_ERROR:
      json_member_string(writer, row->name, error_rows[*(const ErrorKind *)at].name);
      return;
    case FIELD_STRING:
      json_member_string(writer, row->name,
                         text_cut(writer->str->arena, *(const char *const *)at, (size_t)row->hi));
      return;
  }
}

void message_write(Str *out, const Message *message) {
  const MessageRow *row = &message_rows[message->kind];
  assert((row->must & ~message->has) == 0 && (message->has & ~(row->must | row->may)) == 0);
  JsonWriter writer = json_writer(out);
  json_begin_object(&writer);
  json_member_string(&writer, "type", row->name);
  for (int i = 0; i < MESSAGE_N_FIELDS; i++)
    if (message->has >> i & 1)
      write_field(&writer, &field_rows[i], (const char *)message + field_rows[i].offset);
  json_end_object(&writer);
  str_add_char(out, '\n');
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct Reading {
  Arena *arena;
  MessageSide from;
  Diags *diags;
} Reading;

static bool read_number(const Reading *reading, const FieldRow *row, const JsonValue *value,
                        double *out) {
  if (!json_read_double(value, out, reading->diags)) return false;
  if (*out >= row->lo && *out <= row->hi) return true;
  json_diag(reading->diags, value, "%g is outside %g … %g", *out, row->lo, row->hi);
  return false;
}

enum { NAME_MAX_BYTES = 256 };

static bool read_string(const Reading *reading, const FieldRow *row, const JsonValue *value,
                        const char **out) {
  const char *text = NULL;
  if (!json_read_string(value, &text, reading->diags)) return false;
  size_t n = strlen(text);
  if ((double)n < row->lo || (double)n > row->hi) {
    json_diag(reading->diags, value, "%zu bytes of text; %.0f to %.0f are allowed", n, row->lo,
              row->hi);
    return false;
  }
  // Sentences may have several lines, names have one.
  *out = row->hi > NAME_MAX_BYTES ? str_sanitise(reading->arena, text)
                                  : str_line(reading->arena, text);
  return true;
}

static bool read_error(const Reading *reading, const JsonValue *value, ErrorKind *out) {
  const char *text = NULL;
  if (!json_read_string(value, &text, reading->diags)) return false;
  for (int i = 0; i < ERROR_N_KINDS; i++) {
    if (!str_equal(text, error_rows[i].name)) continue;
    *out = (ErrorKind)i;
    return true;
  }
  json_diag(reading->diags, value, "unknown kind of error");
  return false;
}

// Whether the escape that stands at `at` (behind its backslash) is a control that a terminal could
// act on: \\b \\f \\r, \\u0000 … \\u001f but for tab and newline, \\u007f … \\u009f.
static bool is_control_escape(const char *at) {
  if (*at == 'b' || *at == 'f' || *at == 'r') return true;
  if (*at != 'u' || at[1] != '0' || at[2] != '0') return false;
  const char hex[3] = {at[3], at[4], '\0'};
  const long code = strtol(hex, NULL, 16);
  return (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7F && code < 0xA0);
}

// The writer has escaped every control in the text it made, so cleaning its strings means to
// replace those escapes: "a\\u001b[2J" becomes "a?[2J".
//
// Two keys of an object may have become one by that; such a text is refused.
static bool clean_json_text(const Reading *reading, Str *text) {
  char *to = text->text;
  bool changed = false;
  for (const char *at = text->text; *at;) {
    const bool control = *at == '\\' && is_control_escape(at + 1);
    const int n = *at != '\\' ? 1 : at[1] == 'u' ? 6 : 2;
    changed |= control;
    if (control)
      *to++ = '?';
    else
      for (int i = 0; i < n; i++) *to++ = at[i];
    at += n;
  }
  *to = '\0';
  text->length = (size_t)(to - text->text);
  return !changed ||
         json_parse(reading->arena, text->text, text->length, reading->diags, "worker") != NULL;
}

static bool read_json(const Reading *reading, const JsonValue *value, const char **out) {
  if (json_kind(value) != JSON_OBJECT) {
    json_diag(reading->diags, value, "is not an object");
    return false;
  }
  Str text = str_new(reading->arena);
  JsonWriter writer = json_writer(&text);
  json_put_value(&writer, value);
  *out = text.text;  // which is cleaned in its place
  return reading->from == FROM_CLIENT || clean_json_text(reading, &text);
}

static bool read_field(const Reading *reading, const FieldRow *row, const JsonValue *value,
                       void *at) {
  switch (row->type) {
    case FIELD_INT:
      return json_read_int64(value, (int64_t)row->lo, (int64_t)row->hi, at, reading->diags);
    case FIELD_NUMBER:
      return read_number(reading, row, value, at);
    case FIELD_BOOL:
      return json_read_bool(value, at, reading->diags);
    case FIELD_STRING:
      return read_string(reading, row, value, at);
    case FIELD_JSON:
      return read_json(reading, value, at);
    case FIELD_ERROR:
      return read_error(reading, value, at);
  }
  return false;
}

static const MessageRow *find_message(const char *name) {
  for (int i = 0; i < MESSAGE_N_KINDS; i++)
    if (str_equal(name, message_rows[i].name)) return &message_rows[i];
  return NULL;
}

static int find_field(const char *name, uint64_t allowed) {
  for (int i = 0; i < MESSAGE_N_FIELDS; i++)
    if ((allowed >> i & 1) && str_equal(name, field_rows[i].name)) return i;
  return -1;
}

static bool read_member(const Reading *reading, const MessageRow *row, const char *key,
                        const JsonValue *value, Message *out) {
  if (str_equal(key, "type")) return true;
  int field = find_field(key, row->must | row->may);
  if (field < 0) {
    json_diag(reading->diags, value, "a \"%s\" message does not have this member", row->name);
    return false;
  }
  void *at = (char *)out + field_rows[field].offset;
  if (!read_field(reading, &field_rows[field], value, at)) return false;
  out->has |= UINT64_C(1) << field;
  return true;
}

static bool check_complete(const Reading *reading, const MessageRow *row, const JsonValue *root,
                           uint64_t has) {
  for (int i = 0; i < MESSAGE_N_FIELDS; i++) {
    if (!((row->must & ~has) >> i & 1)) continue;
    json_diag(reading->diags, root, "a \"%s\" message needs the member \"%s\"", row->name,
              field_rows[i].name);
    return false;
  }
  return true;
}

static const MessageRow *read_type(const Reading *reading, const JsonValue *root,
                                   MessageSide from) {
  const char *name = NULL;
  if (json_kind(root) != JSON_OBJECT) {
    json_diag(reading->diags, root, "a message is an object");
    return NULL;
  }
  if (!json_require_string(root, "type", &name, reading->diags)) return NULL;
  const MessageRow *row = find_message(name);
  if (row && (row->side & from)) return row;
  json_diag(reading->diags, root, row ? "this side never sends \"%s\"" : "no message \"%s\"",
            row ? row->name : str_sanitise(reading->arena, name));
  return NULL;
}

bool message_read(Arena *arena, const char *line, size_t n, MessageSide from, Message *out,
                  Diags *diags) {
  const Reading reading = {.arena = arena, .from = from, .diags = diags};
  const char *what = from == FROM_WORKER ? "worker" : "client";
  const JsonValue *root = json_parse(arena, line, n, diags, what);
  const MessageRow *row = root ? read_type(&reading, root, from) : NULL;
  if (!row) return false;
  *out = message_new((MessageKind)(row - message_rows));
  for (int i = 0; i < json_count(root); i++)
    if (!read_member(&reading, row, json_key_at(root, i), json_at(root, i), out)) return false;
  return check_complete(&reading, row, root, out->has);
}

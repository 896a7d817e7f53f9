// One reader for both spellings: brackets differ, members and lists do not.
//
// Worked example, "#b<{size = [1, 8]}>": '#', the dotted name, '<', '{', one member whose value is
// a list of two numbers, '}', '>'. The same in Python is "b(size=[1, 8])".
#include "banks/layouts/attr_text.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

typedef struct Reader {
  Scan *scan;
  const AttrNames *names;
  int depth;
} Reader;

typedef struct Items {
  int n;
  Attr item[ATTR_ITEMS_MAX];
} Items;

static bool read_value(Reader *reader, Attr *out);

static void keep(Arena *arena, const Items *items, Attr *out) {
  Attr *copy = ARENA_ARRAY(arena, Attr, items->n + 1);
  memcpy(copy, items->item, sizeof *copy * (size_t)items->n);
  out->item = copy;
  out->n = items->n;
}

// "key = value", "key=value" or a value alone; ": i32" behind a value is MLIR's type of it.
static bool read_member(Reader *reader, Attr *out) {
  Scan *scan = reader->scan;
  const char *begin = scan->at, *key = scan_word(scan);
  if (key && scan_peek(scan) == '=' && scan->at[1] != '=') {
    scan->at++;
  } else {
    scan->at = begin;
    key = NULL;
  }
  if (!read_value(reader, out)) return false;
  out->key = key;
  if (scan_peek(scan) == ':' && scan->at[1] != '+') {
    scan->at++;
    if (!scan_word(scan)) return scan_fail(scan, "a type");
  }
  return true;
}

// Members up to `closing`; braces around some of them mean nothing. Each turn takes something.
static bool read_members(Reader *reader, const char *closing, Items *out) {
  Scan *scan = reader->scan;
  bool brace = false, behind_member = false;
  while (!scan_take(scan, closing)) {
    if (scan_take(scan, brace ? "}" : "{")) {
      behind_member &= brace;
      brace = !brace;
    } else if (behind_member) {
      if (!scan_take(scan, ","))
        return scan_fail(scan, arena_printf(scan->arena, "\",\" or \"%s\"", closing));
      behind_member = false;
    } else {
      if (out->n == ATTR_ITEMS_MAX) return scan_refuse(scan, "more than 64 members");
      if (!read_member(reader, &out->item[out->n++])) return false;
      behind_member = true;
    }
  }
  return !brace || scan_fail(scan, "\"}\"");
}

static bool read_list(Reader *reader, const char *closing, Attr *out) {
  Items items = {0};
  out->kind = ATTR_LIST;
  if (!read_members(reader, closing, &items)) return false;
  keep(reader->scan->arena, &items, out);
  return true;
}

// "ttg.blocked": the last part counts.
static const char *read_name(Scan *scan) {
  const char *name = scan_word(scan);
  while (name && *scan->at == '.') {
    scan->at++;
    name = scan_word(scan);
  }
  return name;
}

static bool read_alias(Reader *reader, const char *name, Attr *out) {
  Scan *scan = reader->scan;
  const char *text = reader->names ? reader->names->text_of(reader->names->owner, name) : NULL;
  if (!text)
    return scan_refuse(scan, arena_printf(scan->arena, "#%s is not defined in this text", name));
  Scan inner = scan_new(scan->arena, text, scan->diags);
  Reader again = {&inner, reader->names, reader->depth};
  scan->failed = !read_value(&again, out) || !scan_end(&inner);
  return !scan->failed;
}

static bool read_object(Reader *reader, const char *name, const char *closing, Attr *out) {
  Items items = {0};
  out->kind = ATTR_OBJECT;
  out->name = name;
  if (!read_members(reader, closing, &items)) return false;
  keep(reader->scan->arena, &items, out);
  return true;
}

// A "#" in front, or a word of Python.
static bool read_named(Reader *reader, bool mlir, Attr *out) {
  Scan *scan = reader->scan;
  const char *name = read_name(scan);
  if (!name) return scan_fail(scan, "a name, a number or a list");
  if (mlir && scan_take(scan, "=")) return read_value(reader, out);  // #shared = #ttg.…
  if (scan_take(scan, "<")) return read_object(reader, name, ">", out);
  if (!mlir && scan_take(scan, "(")) return read_object(reader, name, ")", out);
  if (mlir) return read_alias(reader, name, out);
  *out = (Attr){.kind = ATTR_WORD, .name = name};
  return true;
}

// "64:+8", a pad behind an interval, is a list of two.
static bool read_number(Reader *reader, Attr *out) {
  Scan *scan = reader->scan;
  Attr pair[2] = {{.kind = ATTR_NUMBER}, {.kind = ATTR_NUMBER}};
  if (!scan_signed(scan, "a number", &pair[0].number)) return false;
  *out = pair[0];
  if (!scan_take(scan, ":+")) return true;
  if (!scan_number(scan, "a pad", &pair[1].number)) return false;
  Attr *copy = ARENA_ARRAY(scan->arena, Attr, 2);
  memcpy(copy, pair, sizeof pair);
  *out = (Attr){.kind = ATTR_LIST, .n = 2, .item = copy};
  return true;
}

static bool read_value(Reader *reader, Attr *out) {
  Scan *scan = reader->scan;
  *out = (Attr){0};
  if (reader->depth == ATTR_DEPTH_MAX) return scan_refuse(scan, "nested more than 12 deep");
  reader->depth++;
  bool ok;
  if (scan_take(scan, "[")) {
    ok = read_list(reader, "]", out);
  } else if (scan_take(scan, "(")) {
    ok = read_list(reader, ")", out);
  } else if (isdigit((unsigned char)scan_peek(scan)) || *scan->at == '-') {
    ok = read_number(reader, out);
  } else {
    bool mlir = scan_take(scan, "#");
    ok = read_named(reader, mlir, out);
  }
  reader->depth--;
  return ok;
}

const Attr *attr_scan(Scan *scan, const AttrNames *names) {
  Reader reader = {scan, names, 0};
  Attr *out = ARENA_NEW(scan->arena, Attr);
  return read_value(&reader, out) ? out : NULL;
}

const Attr *attr_parse(Arena *arena, const char *text, const AttrNames *names, Diags *diags) {
  Scan scan = scan_new(arena, text, diags);
  const Attr *attr = attr_scan(&scan, names);
  return attr && scan_end(&scan) ? attr : NULL;
}

const Attr *attr_find(const Attr *object, const char *key, const char *other, int place) {
  for (int i = 0; i < object->n; i++) {
    const Attr *item = &object->item[i];
    if (item->key ? str_equal(item->key, key) || (other && str_equal(item->key, other))
                  : i == place)
      return item;
  }
  return NULL;
}

// The first word chooses the reader of a text: a name of Triton's, a type around one, or CuTe's
// words.
#include "banks/registers/register_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "banks/registers/register_cute.h"
#include "banks/registers/register_triton.h"
#include "base/whole.h"

// The encoding's text behind "#alias =", and within tensor<…> or memdesc<…>.
static const char *encoding_in(const char *text) {
  text += strspn(text, " \t\r\n!");
  const bool is_type = str_starts(text, "tensor<") || str_starts(text, "memdesc<") ||
                       str_starts(text, "ttg.memdesc<");
  if (is_type) {
    const char *comma = strchr(text, ',');
    if (!comma) return NULL;
    text = comma + 1 + strspn(comma + 1, " ");
  }
  const char *equals = *text == '#' ? strchr(text, '=') : NULL;
  if (equals &&
      strspn(text + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789 ") ==
          (size_t)(equals - text - 1))
    text = equals + 1 + strspn(equals + 1, " ");
  return text;
}

static const char *name_of(Arena *arena, const char *text, const AttrNames *names) {
  for (int i = 0; text && i < ATTR_DEPTH_MAX; i++) {
    text += *text == '#';
    size_t n = 0, last = 0;
    for (; isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '.'; n++)
      if (text[n] == '.') last = n + 1;
    const char *name = arena_strndup(arena, text + last, n - last);
    if (text[n] == '<' || text[n] == '(' || !names) return name;
    text = names->text_of(names->owner, name);
  }
  return "";
}

bool register_text_is(const char *text, const AttrNames *names) {
  Arena *arena = arena_new("register_text_is");
  const char *encoding = encoding_in(text);
  bool is = encoding && register_triton_is(name_of(arena, encoding, names));
  arena_free(arena);
  return is || register_cute_is(text);
}

// ---- types --------------------------------------------------------------------------------------

int tensor_type_bits(const char *type) {
  enum { POINTER_BITS = 64 };
  if (strstr(type, "ptr")) return POINTER_BITS;
  if (str_starts(type, "tf32")) return 32;
  if (str_equal(type, "index")) return POINTER_BITS;
  const int bits = atoi(type + strcspn(type, "0123456789"));
  return bits >= 1 && bits <= 128 ? bits : 0;
}

bool tensor_type_scan(Scan *scan, TensorType *out) {
  *out = (TensorType){.type = ""};
  int64_t size = 1;
  while (isdigit((unsigned char)scan_peek(scan))) {
    char *behind;
    const long long extent = strtoll(scan->at, &behind, 10);
    if (out->shape.rank == TENSOR_DIMS_MAX) return scan_refuse(scan, "more than 5 dimensions");
    scan->at = behind;
    if (!scan_take(scan, "x")) return scan_fail(scan, "\"x\"");
    size = min64(size * min64(extent, TENSOR_SIZE_MAX + 1), TENSOR_SIZE_MAX + 1);
    if (extent < 1 || size > TENSOR_SIZE_MAX)
      return scan_refuse(scan, "a tensor must have from 1 to 2^22 elements");
    out->shape.extent[out->shape.rank++] = (int)extent;
  }
  const char *begin = scan->at;
  int depth = 0;
  while (*scan->at && (depth || (*scan->at != ',' && *scan->at != '>'))) {
    depth += *scan->at == '<';
    depth -= *scan->at == '>';
    scan->at++;
  }
  out->type = arena_strndup(scan->arena, begin, (size_t)(scan->at - begin));
  return true;
}

static const char *skip_alias(Scan *scan) {
  const char *encoding = encoding_in(scan->text);
  scan->at = encoding ? encoding : scan->text;
  return scan->at;
}

static bool shapes_agree(const char *text, const TensorShape *asked, TensorShape *said,
                         Diags *diags) {
  if (asked->rank == 0) return true;
  bool same = said->rank == 0 || said->rank == asked->rank;
  for (int dim = 0; same && said->rank && dim < said->rank; dim++)
    same = said->extent[dim] == asked->extent[dim];
  *said = *asked;
  if (same) return true;
  diag_add(diags, "layout", "%s: its shape differs from --shape", str_sanitise(diags->arena, text));
  return false;
}

static const RegisterLayout *read_triton(Arena *arena, const char *text, const RegisterAsked *asked,
                                         Diags *diags) {
  Scan scan = scan_new(arena, text, diags);
  TensorType said = {.type = ""};
  if (scan_take(&scan, "!")) scan_take(&scan, "ttg.");
  const bool is_type = scan_take(&scan, "tensor<") || scan_take(&scan, "memdesc<");
  if (is_type && (!tensor_type_scan(&scan, &said) || !scan_expect(&scan, ","))) return NULL;
  if (!is_type) skip_alias(&scan);
  const Attr *attr = attr_scan(&scan, asked->names);
  if (!attr) return NULL;
  if (is_type) scan.at += strlen(scan.at);  // ", #smem, mutable>"
  if (!scan_end(&scan) || !shapes_agree(text, &asked->shape, &said.shape, diags)) return NULL;
  if (said.shape.rank == 0) {
    diag_add(diags, "layout", "%s: it does not name the shape of its tensor: give --shape",
             str_sanitise(arena, text))
        ->nearest = "--shape 64x64";
    return NULL;
  }
  return register_triton_read(arena, text, attr, &said.shape, diags);
}

const RegisterLayout *register_text_read(Arena *arena, const char *text, const RegisterAsked *asked,
                                         Diags *diags) {
  const char *encoding = encoding_in(text);
  if (encoding && register_triton_is(name_of(arena, encoding, asked->names)))
    return read_triton(arena, text, asked, diags);
  return register_cute_read(arena, text, asked->operand, &asked->shape, diags);
}

// Gluon's reprs of layouts of shared memory: each is the encoding of TTGIR with the same members.
//
//   SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0])
//   NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
//   PaddedSharedLayout(interval_padding_pairs=[[32, 4]], offset_bases=[…], cga_layout=[],
//   shape=[…]) SharedLinearLayout(offset_bases=[…], block_bases=[], alignment=16)
#include <string.h>

#include "banks/layouts/attr_text.h"
#include "banks/layouts/notation_table.h"

typedef struct Member {
  const char *gluon, *ttgir;
} Member;

enum { MEMBERS_MAX = 8 };

// Members in the order in which Python takes them without their names.
static const struct {
  const char *gluon, *ttgir;
  Member member[MEMBERS_MAX];
} CLASSES[] = {
    {"SwizzledSharedLayout",
     "swizzled_shared",
     {{"vec", "vec"},
      {"per_phase", "perPhase"},
      {"max_phase", "maxPhase"},
      {"order", "order"},
      {"cga_layout", "CGALayout"}}},
    {"NVMMASharedLayout",
     "nvmma_shared",
     {{"swizzle_byte_width", "swizzlingByteWidth"},
      {"element_bitwidth", "elementBitWidth"},
      {"rank", "rank"},
      {"transposed", "transposed"},
      {"fp4_padded", "fp4Padded"},
      {"cga_layout", "CGALayout"}}},
    {"PaddedSharedLayout",
     "padded_shared",
     {{"interval_padding_pairs", ""},
      {"offset_bases", "offset"},
      {"cga_layout", "block"},
      {"shape", ""}}},
    {"SharedLinearLayout",
     "shared_linear",
     {{"offset_bases", "offset"}, {"block_bases", "block"}, {"alignment", ""}}},
};
enum { N_CLASSES = sizeof CLASSES / sizeof CLASSES[0] };

static int class_of(const char *text) {
  text += strspn(text, " \t\r\n");
  const size_t length = strcspn(text, "(");
  for (int i = 0; i < N_CLASSES; i++) {
    const size_t n = strlen(CLASSES[i].gluon);
    const bool dotted = length > n && text[length - n - 1] == '.';
    if (text[length] == '(' && (length == n || dotted) &&
        !strncmp(text + length - n, CLASSES[i].gluon, n))
      return i;
  }
  return -1;
}

bool gluon_is(const char *text) { return class_of(text) >= 0; }

static void print_value(Str *out, const Attr *value) {
  if (value->kind == ATTR_NUMBER) str_add_number(out, value->number);
  if (value->kind == ATTR_WORD) str_add(out, str_equal(value->name, "True") ? "true" : "false");
  if (value->kind != ATTR_LIST) return;
  str_add_char(out, '[');
  for (int i = 0; i < value->n; i++) {
    if (i) str_add(out, ", ");
    print_value(out, &value->item[i]);
  }
  str_add_char(out, ']');
}

// "[32:+4, 64:+8]".
static bool print_pads(Str *out, const Attr *pairs) {
  if (!pairs || pairs->kind != ATTR_LIST) return false;
  str_add_char(out, '[');
  for (int i = 0; i < pairs->n; i++) {
    const Attr *pair = &pairs->item[i];
    if (pair->kind != ATTR_LIST || pair->n != 2) return false;
    str_printf(out, "%s%lld:+%lld", i ? ", " : "", pair->item[0].number, pair->item[1].number);
  }
  str_add(out, "] ");
  return true;
}

static const char *as_ttgir(Arena *arena, int class, const Attr *object) {
  const Member *member = CLASSES[class].member;
  Str out = str_new(arena);
  str_printf(&out, "#ttg.%s<", CLASSES[class].ttgir);
  const bool padded = !member[0].ttgir[0];
  if (padded && !print_pads(&out, attr_find(object, member[0].gluon, NULL, 0))) return NULL;
  str_add_char(&out, '{');
  bool any = false;
  for (int i = 0; i < MEMBERS_MAX && member[i].gluon; i++) {
    const Attr *value = member[i].ttgir[0] ? attr_find(object, member[i].gluon, NULL, i) : NULL;
    const bool none = value && value->kind == ATTR_WORD && str_equal(value->name, "None");
    if (!value || none) continue;
    str_printf(&out, "%s%s = ", any ? ", " : "", member[i].ttgir);
    print_value(&out, value);
    any = true;
  }
  str_add(&out, "}>");
  return out.text;
}

const Layout *notation_read_gluon(Arena *arena, const LayoutSlab *slab, const char *text,
                                  Diags *diags) {
  const Attr *object = attr_parse(arena, text, NULL, diags);
  if (!object) return NULL;
  const char *ttgir = object->kind == ATTR_OBJECT ? as_ttgir(arena, class_of(text), object) : NULL;
  if (!ttgir) {
    diag_add(diags, "layout", "%s: no pairs of interval and padding", str_sanitise(arena, text));
    return NULL;
  }
  const Layout *read = notation_read_triton(arena, slab, ttgir, diags);
  if (!read) return NULL;
  Layout *out = ARENA_NEW(arena, Layout);
  *out = *read;
  out->text = arena_strdup(arena, text);
  return out;
}

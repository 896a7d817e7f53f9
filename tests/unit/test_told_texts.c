// Texts of layouts, descriptors, boxes and accesses with every number changed in turn.
//
// tests/data/text_edges.txt has a row for each: a kind, what it is read with, and the text. What is
// made of it is told whole, then in a line what each number gives as 0, one more, and twice as
// much, and up to where it is taken, and what the text gives without each of its marks and groups
// in brackets: by a sum over the whole answer. The golden file is tests/golden/told/texts.txt.
#include <check.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/bank_input.h"
#include "banks/layouts/instruction_descriptor.h"
#include "banks/layouts/layout_stages.h"
#include "banks/layouts/notation.h"
#include "banks/layouts/smem_descriptor.h"
#include "banks/layouts/tma_box.h"
#include "banks/layouts/tma_map.h"
#include "banks/registers/register_cute.h"
#include "banks/registers/register_text.h"
#include "banks/solver/own_access.h"
#include "base/hash.h"
#include "base/str.h"
#include "edges.h"
#include "golden.h"

Suite *suite_told_texts(void);

enum { SHOWN = 3, NUMBER_MAX = 6, A_LINE = 10, CHANGES = 3, LIMIT_MAX = 1024 };

static bool refused;   // since it was last set to false
static bool is_asked;  // only whether it is

static void tell_findings(Str *out, const Diags *diags) {
  refused |= diags->first != NULL;
  for (const Diag *d = diags->first; d; d = d->next)
    str_printf(out, "  %s: %s%s%s\n", d->rule, d->text, d->nearest ? "; nearest: " : "",
               d->nearest ? d->nearest : "");
}

// ---- layouts ------------------------------------------------------------------------------------

static void tell_places(Arena *arena, Str *out, const Layout *layout) {
  if (is_asked) return;
  const LayoutSlab *slab = &layout->slab;
  const LayoutForm form = layout_form(arena, layout);
  uint64_t sum = 0;
  for (int i = 0; i < slab->rows * slab->row_bytes; i++)
    sum = sum * 31 + (uint64_t)layout->offset_of[i];
  str_printf(out, "  %d rows of %d bytes, elements of %d, %d bytes of storage, sum %" PRIx64 "\n",
             slab->rows, slab->row_bytes, slab->elem_bytes, layout->storage_bytes, sum);
  str_printf(out,
             "  bijective %d, clash %d %d, whole %d, linear %d of %d bits, affine %d, base %d\n",
             form.facts.bijective, form.facts.clash[0], form.facts.clash[1], form.facts.whole_bytes,
             form.facts.linear, form.facts.n_bits, form.affine, (int)form.base);
  for (int row = 0; row < slab->rows && row < SHOWN; row++) {
    str_add(out, "   ");
    for (int col = 0; col < form.cols && col < 4 * SHOWN; col++)
      str_printf(out, " %d", (int)layout_form_element(&form, row, col));
    str_add(out, "\n");
  }
  for (int n = 0; n < notation_count; n++) {
    const char *why = "", *text = notation_print(arena, &notation_table[n], &form, &why);
    str_printf(out, "  %s: %s\n", notation_table[n].name, text ? text : why);
  }
  Str drawn = str_new(arena);
  if (form.facts.linear) layout_print_bits(&drawn, &form.facts);
  if (slab->row_bytes >= 16) layout_print_groups(&drawn, layout, 2 * SHOWN);
  str_printf(out, "  canonical: %s, drawn %08x\n", notation_canonical(arena, layout),
             (unsigned)hash_text(HASH_START, drawn.text));
}

// "16x64x2 TEXT": rows, columns and bytes of an element; 0x0x0: the text says them.
static void tell_layout(Arena *arena, Str *out, const char *text) {
  Diags diags = diags_new(arena);
  char *end = NULL;
  const int rows = (int)strtol(text, &end, 10), cols = (int)strtol(end + 1, &end, 10),
            bytes = (int)strtol(end + 1, &end, 10);
  const LayoutSlab slab = {.rows = rows, .row_bytes = cols * bytes, .elem_bytes = bytes};
  const Layout *layout = layout_parse(arena, &slab, end + 1, &diags);
  tell_findings(out, &diags);
  if (layout) tell_places(arena, out, layout);
}

static void tell_holders(Arena *arena, Str *out, const RegisterLayout *layout) {
  if (is_asked) return;
  uint64_t sum = 0;
  for (int place = 0; place < register_places(layout); place++)
    sum = sum * 31 + (uint64_t)register_element(layout, register_place_at(layout, place));
  str_printf(out, "  %s over %s, %d %d %d %d places, linear %d, sum %" PRIx64 "\n", layout->kind,
             tensor_shape_text(arena, &layout->shape), layout->n[0], layout->n[1], layout->n[2],
             layout->n[3], layout->linear, sum);
  if (layout->linear) register_layout_print(out, layout);
}

// "64x64 A TEXT": the tensor, and the operand or -.
static void tell_registers(Arena *arena, Str *out, const char *text) {
  char shape[32], operand[32];
  int n = 0;
  Diags diags = diags_new(arena);
  RegisterAsked asked = {.operand = NULL};
  ck_assert_int_eq(sscanf(text, "%31s %31s %n", shape, operand, &n), 2);
  if (operand[0] != '-') asked.operand = operand;
  if (strcmp(shape, "-") != 0) ck_assert(tensor_shape_parse(shape, &asked.shape, &diags));
  const RegisterLayout *layout = register_text_read(arena, text + n, &asked, &diags);
  tell_findings(out, &diags);
  if (layout) tell_holders(arena, out, layout);
}

// "16x8 TEXT": threads and values over a tensor.
static void tell_threads(Arena *arena, Str *out, const char *text) {
  char shape[32];
  int n = 0;
  Diags diags = diags_new(arena);
  TensorShape extents;
  ck_assert_int_eq(sscanf(text, "%31s %n", shape, &n), 1);
  ck_assert(tensor_shape_parse(shape, &extents, &diags));
  const RegisterLayout *layout = register_tv_read(arena, text + n, &extents, &diags);
  tell_findings(out, &diags);
  if (layout) tell_holders(arena, out, layout);
}

// ---- descriptors and boxes ----------------------------------------------------------------------

// "90 k 64 2 TEXT": the architecture, what runs fastest, rows, bytes of an element.
static void tell_descriptor(Arena *arena, Str *out, const char *text) {
  int arch, rows, bytes, n = 0;
  char major[8];
  SmemDescriptor d;
  Diags diags = diags_new(arena);
  ck_assert_int_eq(sscanf(text, "%d %7s %d %d %n", &arch, major, &rows, &bytes, &n), 4);
  const DescriptorTile tile = {.mn_major = major[0] == 'm', .rows = rows, .elem_bytes = bytes};
  if (smem_descriptor_parse(arena, text + n, arch, &d, &diags)) {
    Str notes = str_new(arena);
    const bool legal = smem_descriptor_check(&d, &tile, &notes, &diags);
    const char *why = "", *cute = legal ? smem_descriptor_cute(arena, &d, &tile, &why) : NULL;
    str_printf(out, "  %016" PRIx64 ", lead %d, %s\n%s", smem_descriptor_encode(&d),
               legal ? smem_descriptor_lead(&d) : -1, cute ? cute : why, notes.text);
    for (int part = 0; part < DESCRIPTOR_PARTS && legal; part++)
      str_printf(out, "  %s\n", descriptor_part_text(arena, &d, &tile, (DescriptorPart)part, "M"));
    const Layout *layout = legal ? smem_descriptor_layout(arena, &d, &tile, &diags) : NULL;
    if (layout) tell_places(arena, out, layout);
  }
  tell_findings(out, &diags);
}

static void tell_use(Arena *arena, Str *out, const InstructionDescriptor *d, InstructionUse use) {
  Diags diags = diags_new(arena);
  const char *letter = "", *note = instruction_shape_note(arena, d, use);
  const bool legal = instruction_descriptor_check(arena, d, use, &diags);
  const char *path = legal ? instruction_data_path(d, use, &letter) : NULL;
  str_printf(out, "  %d CTAs%s: %s %s %s\n", use.cta_group,
             use.weight_stationary ? ", weight stationary" : "", path ? letter : "-",
             path ? path : "", note ? note : "");
  tell_findings(out, &diags);
}

// "f16 TEXT"
static void tell_idesc(Arena *arena, Str *out, const char *text) {
  char kind[16];
  int n = 0;
  InstructionDescriptor d;
  Diags diags = diags_new(arena);
  ck_assert_int_eq(sscanf(text, "%15s %n", kind, &n), 1);
  const bool read = instruction_descriptor_parse(arena, kind, text + n, &d, &diags);
  tell_findings(out, &diags);
  if (!read) return;
  str_printf(out, "  %08x, K %d\n ", d.word, instruction_k(&d));
  for (int i = 0; i < instruction_field_count(d.kind); i++) {
    const InstructionField *field = instruction_field_at(d.kind, i);
    str_printf(out, " %s %s,", field->name, instruction_field_text(arena, &d, field));
  }
  str_add(out, "\n");
  tell_use(arena, out, &d, (InstructionUse){1, false});
  tell_use(arena, out, &d, (InstructionUse){1, true});
  tell_use(arena, out, &d, (InstructionUse){2, false});
}

// The words of its tensor map, and what is read of them again.
static void tell_map(Str *out, const TmaBox *box) {
  unsigned char bytes[TMA_MAP_BYTES];
  TmaBox again;
  uint64_t address = 0;
  if (!tma_map_write(box, UINT64_C(0x7f0123456780), bytes)) {
    str_add(out, "  no map\n");
    return;
  }
  str_add(out, "  map");
  for (int i = 0; i < TMA_MAP_BYTES; i += 4) {
    uint32_t word;
    memcpy(&word, bytes + i, sizeof word);
    str_printf(out, " %x", word);
  }
  const bool read = tma_map_read(bytes, &again, &address);
  str_printf(out, ", at %" PRIx64 ":", address);
  for (int d = 0; read && d < again.rank; d++)
    str_printf(out, " %lld/%lld/%lld/%lld", again.shape[d], again.stride[d], again.box[d],
               again.step[d]);
  str_printf(out, " %s\n", read ? again.type : "none");
}

static void tell_box(Arena *arena, Str *out, const char *text) {
  TmaBox box;
  Diags diags = diags_new(arena);
  if (tma_box_parse(arena, text, &box, &diags) && tma_box_check(&box, &diags) && !is_asked) {
    str_printf(out,
               "  %" PRId64 " bytes, aligned to %d, repeats after %d; (3, 20) from 0, 128, 4096:",
               tma_box_bytes(&box), tma_box_alignment(&box), tma_box_repeat(&box));
    for (int corner = 0; corner <= 4096; corner = corner ? 32 * corner : 128)
      str_printf(out, " %" PRId64, tma_box_address(&box, corner, 3, 20));
    str_add(out, "\n");
    tell_map(out, &box);
    for (int i = 1; i < box.rank; i++) str_printf(out, "  stride %lld\n", box.stride[i]);
    const Layout *layout = tma_box_layout(arena, &box, text, &diags);
    if (layout) tell_places(arena, out, layout);
  }
  tell_findings(out, &diags);
}

// A line of the view of banks.
static void tell_access(Arena *arena, Str *out, const char *text) {
  Arena *scratch = arena_new("scratch");
  OwnAccess own;
  Diags diags = diags_new(arena);
  if (own_access_read(arena, scratch, text, NULL, &own, &diags)) {
    str_printf(out, "  %s of %s, %d of %d wavefronts, rows of %d, steps of %d, pitch %d\n",
               own.name, own.unit, own.count.profiled, own.count.ideal, own.row, own.step,
               own.pitch);
    for (int i = 0; i < own.n_layouts; i++)
      str_printf(out, "  %s: %s, pad %d, %d wavefronts\n", own.layout[i].layout,
                 own.layout[i].expression, own.layout[i].pad, own.layout[i].count.profiled);
    str_printf(out, "  %s\n ", own.proof ? own.proof : "");
    for (int lane = 0; lane < BANK_LANES; lane++) str_printf(out, " %d", (int)own.addr[lane]);
    str_add(out, "\n");
  }
  tell_findings(out, &diags);
  arena_free(scratch);
}

// "lds32 TEXT": addresses of lanes, of shared memory or global.
static void tell_addresses(Arena *arena, Str *out, const char *text) {
  char name[32];
  int n = 0;
  Diags diags = diags_new(arena);
  ck_assert_int_eq(sscanf(text, "%31s %n", name, &n), 1);
  const BankOp *op = bank_input_any_op(name, &diags);
  int64_t addr[BANK_LANES];
  const bool read = op && bank_input_addresses(op, text + n, addr, &diags);
  tell_findings(out, &diags);
  if (!read) return;
  str_add(out, " ");
  for (int lane = 0; lane < BANK_LANES; lane++) str_printf(out, " %" PRId64, addr[lane]);
  str_add(out, "\n");
}

// ---- rows ---------------------------------------------------------------------------------------

typedef void Tell(Arena *arena, Str *out, const char *text);
static const struct {
  const char *kind;
  Tell *tell;
  int words;  // in front of the text, which stay as they are
} kinds[] = {{"layout ", tell_layout, 1},
             {"registers ", tell_registers, 2},
             {"descriptor ", tell_descriptor, 4},
             {"idesc ", tell_idesc, 1},
             {"tv ", tell_threads, 1},
             {"tma ", tell_box, 0},
             {"access ", tell_access, 0},
             {"addresses ", tell_addresses, 1}};

// A sum over the whole answer.
static void tell_brief(Str *out, Tell *tell, const char *text, const char *label) {
  Arena *arena = arena_new("a variant");
  Str answer = str_new(arena);
  tell(arena, &answer, text);
  str_printf(out, " %s %08x", label, (unsigned)hash_text(HASH_START, answer.text));
  arena_free(arena);
}

static bool is_taken(Tell *tell, const char *text) {
  Arena *arena = arena_new("a variant");
  Str answer = str_new(arena);
  refused = false;
  is_asked = true;
  tell(arena, &answer, text);
  is_asked = false;
  arena_free(arena);
  return !refused;
}

// Up to where a number is taken: it is doubled until it is not, then the last step is halved; not
// of layouts, whose places are all made each time.
static void tell_limit(Arena *arena, Str *out, Tell *tell, const char *row, const char *at,
                       const char *end, long value) {
  long taken = value, no = value;
  while (taken <= LIMIT_MAX) {
    no = 2 * taken;
    if (!is_taken(tell, arena_printf(arena, "%.*s%ld%s", (int)(at - row), row, no, end))) break;
    taken = no;
  }
  while (tell != tell_layout && taken < LIMIT_MAX && no - taken > 1) {
    const long middle = taken + (no - taken) / 2;
    const char *text = arena_printf(arena, "%.*s%ld%s", (int)(at - row), row, middle, end);
    *(is_taken(tell, text) ? &taken : &no) = middle;
  }
  str_printf(out, " to %ld", taken);
}

// Numbers from 0 to six digits that stand alone: the 3 of "Sw<3,3,3>", not that of "f32".
static void tell_variants(Arena *arena, Str *out, Tell *tell, const char *row, const char *text) {
  for (const char *at = text; *at; at++) {
    const bool begins = isdigit((unsigned char)*at) &&
                        (at == text || (!isalnum((unsigned char)at[-1]) || at[-1] == 'x'));
    if (!begins) continue;
    char *end = NULL;
    const long value = strtol(at, &end, 10);
    if (end - at <= NUMBER_MAX && (value || *end != 'x')) {
      const long changed[CHANGES] = {0, value + 1, 2 * value};
      str_printf(out, "  at %d:", (int)(at - text));
      for (int i = 0; i < CHANGES; i++)
        tell_brief(out, tell,
                   arena_printf(arena, "%.*s%ld%s", (int)(at - row), row, changed[i], end),
                   arena_printf(arena, "%ld", changed[i]));
      if (value && tell != tell_access && is_taken(tell, row))
        tell_limit(arena, out, tell, row, at, end, value);
      str_add(out, "\n");
    }
    at = end - 1;
  }
}

static void tell_without_marks(Arena *arena, Str *out, Tell *tell, const char *row,
                               const char *text) {
  int n = 0;
  for (const char *at = text; *at; at++) {
    if (!ispunct((unsigned char)*at)) continue;
    str_add(out, n++ % A_LINE ? "" : n == 1 ? "  without" : "\n  without");
    tell_brief(out, tell, arena_printf(arena, "%.*s%s", (int)(at - row), row, at + 1),
               arena_printf(arena, "%c", *at));
  }
  str_add(out, n ? "\n" : "");
}

// How many characters a group takes: "(8,(2,4))" and what is nested in it; 0: none begins here.
static int group_length(const char *text) {
  int depth = 0;
  for (const char *at = text; *at; at++) {
    if (strchr("([{<", *at)) depth++;
    if (strchr(")]}>", *at)) depth--;
    if (depth == 0) return (int)(at - text) + (at != text);
  }
  return 0;
}

static void tell_without_groups(Arena *arena, Str *out, Tell *tell, const char *row,
                                const char *text) {
  for (const char *at = text; *at; at++) {
    const int n = group_length(at);
    if (n == 0) continue;
    str_printf(out, "  without all of");
    tell_brief(out, tell, arena_printf(arena, "%.*s%s", (int)(at - row), row, at + n),
               arena_printf(arena, "%.*s", n, at));
    str_add(out, "\n");
  }
}

static void tell_row(Arena *arena, Str *out, const char *row) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const size_t n = strlen(kinds[i].kind);
    if (strncmp(row, kinds[i].kind, n) != 0) continue;
    str_printf(out, "%s\n", row);
    kinds[i].tell(arena, out, row + n);
    const char *text = row + n;
    for (int word = 0; word < kinds[i].words; word++) text = strchr(text, ' ') + 1;
    tell_variants(arena, out, kinds[i].tell, row + n, text);
    tell_without_marks(arena, out, kinds[i].tell, row + n, text);
    tell_without_groups(arena, out, kinds[i].tell, row + n, text);
    return;
  }
  ck_abort_msg("%s: of no kind", row);
}

START_TEST(texts_are_told_as_reviewed) {
  Arena *arena = arena_new("test"), *of_row = arena_new("a row");
  char *rows = edges_read(arena, "text_edges.txt");
  Str out = str_new(arena);
  for (char *row = strtok(rows, "\n"); row; row = strtok(NULL, "\n"), arena_reset(of_row))
    if (row[0] != '#') tell_row(of_row, &out, row);
  golden_check("told/texts.txt", out.text);
  arena_free(of_row);
  arena_free(arena);
}
END_TEST

Suite *suite_told_texts(void) {
  Suite *suite = suite_create("told_texts");
  TCase *tcase = tcase_create("texts");
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, texts_are_told_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}

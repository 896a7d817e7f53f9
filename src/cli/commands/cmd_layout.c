// gemmview layout: one layout in everybody's dialect, with its offsets and what accesses cost in
// it.
//
//   gemmview layout 'Sw<3,4,3> o smem_ptr[16b](unset) o (_64,_64):(_64,_1)'
//   gemmview layout swizzle:3,4,3 --shape 64x64 --to triton
//   gemmview layout sf:128x4,16 --shape 256x512 --element 40,80    where an element lies
//   gemmview layout --tma shape=4096x512,box=64x64,swizzle=128B
//   gemmview layout '#ttg.blocked<{…}>' --shape 64x64 --lane 5     which elements a lane holds
//   gemmview layout '#ttg.blocked<{…}>' '#ttg.nvidia_mma<{…}>' --shape 64x64
//   gemmview layout FILE.ttgir                                      every layout of a file
//
// A layout of registers is answered by register_view.h, beside another one with what the way
// between them costs.
//
// Where columns lie together and rows do not, accesses are along columns. A dialect that --to asks
// for and that cannot say the layout says why not, and the exit status is 1.
#include <stdio.h>
#include <string.h>

#include "banks/engine/unit.h"
#include "banks/layouts/cute_cxx.h"
#include "banks/layouts/notation.h"
#include "banks/layouts/tma_box.h"
#include "banks/registers/register_cute.h"
#include "banks/solver/slab_standard.h"
#include "base/str.h"
#include "base/whole.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/layouts/layout_view.h"
#include "cli/common/layouts/register_view.h"
#include "cli/common/layouts/ttgir_view.h"
#include "cli/common/options.h"
#include "cli/open/open_input.h"

CommandRun cmd_layout;

enum { CORNER_ROWS = 8, CORNER_COLS = 16 };

typedef struct LayoutOptions {
  const char *shape, *type, *to, *tma, *operand;
  RegisterQuestion question;
  bool map, json;
} LayoutOptions;

static const Option OPTIONS[] = {
    {.name = "shape", .kind = OPTION_KIND_TEXT, .offset = offsetof(LayoutOptions, shape)},
    {.name = "type", .kind = OPTION_KIND_TEXT, .offset = offsetof(LayoutOptions, type)},
    {.name = "to", .kind = OPTION_KIND_TEXT, .offset = offsetof(LayoutOptions, to)},
    {.name = "tma", .kind = OPTION_KIND_TEXT, .offset = offsetof(LayoutOptions, tma)},
    {.name = "lane", .kind = OPTION_KIND_TEXT, .offset = offsetof(LayoutOptions, question.lane)},
    {.name = "warp", .kind = OPTION_KIND_TEXT, .offset = offsetof(LayoutOptions, question.warp)},
    {.name = "block", .kind = OPTION_KIND_TEXT, .offset = offsetof(LayoutOptions, question.block)},
    {.name = "element",
     .kind = OPTION_KIND_TEXT,
     .offset = offsetof(LayoutOptions, question.element)},
    {.name = "operand", .kind = OPTION_KIND_TEXT, .offset = offsetof(LayoutOptions, operand)},
    {.name = "map", .kind = OPTION_KIND_FLAG, .offset = offsetof(LayoutOptions, map)},
    OPTION_JSON(LayoutOptions),
};

// Where an element lies.
typedef struct LayoutPlace {
  bool is_asked;
  int row, col;
  int64_t byte, shared;  // elements that lie there, from the one at first_col on
  int first_col;
} LayoutPlace;

typedef struct Shown {
  Arena *arena;
  LayoutForm form;
  LayoutView view;
  const char *evaluated;  // what an operation of CuTe gives; NULL
  const char *across;     // what runs fastest: "rows" or "columns"
  const Notation *only;   // NULL: every dialect
  bool triton;            // the first of Triton's that can say it
  const TmaBox *tma;      // NULL: no tensor map
  LayoutPlace place;
} Shown;

// ---- input --------------------------------------------------------------------------------------

static bool read_slab(const LayoutOptions *given, LayoutSlab *out, Diags *diags) {
  int used = 0, rows = 0, cols = 0;
  *out = (LayoutSlab){0};
  if (given->type && !(out->elem_bytes = unit_bytes(given->type, diags))) return false;
  if (!given->shape) return true;
  bool ok = sscanf(given->shape, "%6dx%6d%n", &rows, &cols, &used) == 2 && !given->shape[used];
  if (!ok || rows < 1 || cols < 1) {
    diag_add(diags, "usage", "--shape %s: rows and columns are needed",
             str_sanitise(diags->arena, given->shape))
        ->nearest = "--shape 64x64";
    return false;
  }
  int elem = out->elem_bytes ? out->elem_bytes : unit_bytes("f16", diags);
  *out = (LayoutSlab){rows, cols * elem, elem};
  return layout_check_slab(out, diags);
}

static const Layout *read_tma(Arena *arena, const char *text, TmaBox *box, Diags *diags) {
  if (!tma_box_parse(arena, text, box, diags) || !tma_box_check(box, diags)) return NULL;
  return tma_box_layout(arena, box, text, diags);
}

static const Layout *read_layout(Arena *arena, const LayoutOptions *given, int argc, char **argv,
                                 TmaBox *box, Diags *diags) {
  if ((given->tma != NULL) + (argc - 1) != 1) {
    diag_add(diags, "usage", "one layout is needed, or --tma with the fields of a tensor map")
        ->nearest = "'Sw<3,3,3> o _0 o (_8,_64):(_64,_1)'";
    return NULL;
  }
  if (given->tma) return read_tma(arena, given->tma, box, diags);
  LayoutSlab slab;
  if (!read_slab(given, &slab, diags)) return NULL;
  return notation_parse(arena, &slab, argv[1], diags);
}

// "logical_divide((8,8):(8,1), 4:1)" as the layout that it is.
static const char *evaluate(Arena *arena, const char *text) {
  CuteText cute;
  Diags unused = diags_new(arena);
  if (!cute_text_is(text) || !strpbrk(text, "abcdefghijklmnopqrstuvwxyz")) return NULL;
  if (!cute_text_parse(arena, text, &cute, &unused) || cute.n != 1) return NULL;
  Str out = str_new(arena);
  cute_print(&out, &cute.part[0].layout);
  return out.text;
}

// Rows and columns changed round.
static const Layout *turned(Arena *arena, const Layout *layout) {
  const LayoutSlab *slab = &layout->slab;
  int elem = slab->elem_bytes, cols = slab->row_bytes / elem;
  int32_t *offset = ARENA_ARRAY(arena, int32_t, slab->rows * slab->row_bytes);
  for (int row = 0; row < slab->rows; row++)
    for (int col = 0; col < cols; col++)
      memcpy(&offset[(col * slab->rows + row) * elem],
             &layout->offset_of[row * slab->row_bytes + col * elem], sizeof *offset * (size_t)elem);
  Layout *out = ARENA_NEW(arena, Layout);
  *out = *layout;
  out->slab = (LayoutSlab){cols, slab->rows * elem, elem};
  out->offset_of = offset;
  return out;
}

static bool columns_lie_together(const LayoutForm *form) {
  if (form->rows < 2) return false;
  int64_t first = layout_form_element(form, 0, 0);
  bool along_row = form->cols > 1 && layout_form_element(form, 0, 1) == first + 1;
  return !along_row && layout_form_element(form, 1, 0) == first + 1;
}

static Shown show(Arena *arena, const Layout *layout, const TmaBox *tma) {
  Shown shown = {.arena = arena, .form = layout_form(arena, layout), .across = "rows", .tma = tma};
  if (columns_lie_together(&shown.form)) {
    layout = turned(arena, layout);
    shown.across = "columns";
  }
  int n;
  const SlabSite *sites = slab_standard_sites(arena, &layout->slab, &n);
  shown.view = layout_view(arena, layout, sites, n);
  shown.view.turned = str_equal(shown.across, "columns");
  if (!tma) shown.evaluated = evaluate(arena, layout->text);
  return shown;
}

// --element R,C
static bool find_place(const char *text, Shown *shown, Diags *diags) {
  const LayoutForm *form = &shown->form;
  int row = -1, col = -1, used = 0;
  if (!text) return true;
  const bool read = sscanf(text, "%9d,%9d%n", &row, &col, &used) == 2 && !text[used];
  if (!read || row < 0 || row >= form->rows || col < 0 || col >= form->cols) {
    diag_add(diags, "usage", "--element %s: the layout has rows 0 to %d and columns 0 to %d",
             str_sanitise(diags->arena, text), form->rows - 1, form->cols - 1)
        ->nearest = "--element 0,0";
    return false;
  }
  const Layout *layout = form->layout;
  const LayoutSlab *slab = &layout->slab;
  const int shared = max_int(layout->shared, 1);
  shown->place =
      (LayoutPlace){.is_asked = true,
                    .row = row,
                    .col = col,
                    .byte = layout->offset_of[row * slab->row_bytes + col * slab->elem_bytes],
                    .shared = min_int(shared, form->cols - col / shared * shared),
                    .first_col = col / shared * shared};
  return true;
}

static int64_t place_bank(const LayoutPlace *place) {
  enum { WORD = 4, BANKS = 32 };
  return place->byte / WORD % BANKS;
}

// ---- dialects -----------------------------------------------------------------------------------

static bool is_asked(const Shown *shown, const Notation *notation) {
  return !shown->only || shown->only == notation || (shown->triton && notation_is_triton(notation));
}

// --to: the text alone, to paste it.
static int print_only(const Shown *shown) {
  Str reasons = str_new(shown->arena);
  for (int i = 0; i < notation_count; i++) {
    if (!is_asked(shown, &notation_table[i])) continue;
    const char *why = NULL;
    const char *text = notation_print(shown->arena, &notation_table[i], &shown->form, &why);
    if (text) {
      puts(text);
      return CLI_OK;
    }
    str_printf(&reasons, "%s%s: %s", reasons.length ? "\n" : "", notation_table[i].name, why);
  }
  return cli_error(CLI_NO, "%s", reasons.text);
}

static void print_dialects(const Shown *shown) {
  putchar('\n');
  for (int i = 0; i < notation_count; i++) {
    const char *why = NULL;
    const char *text = notation_print(shown->arena, &notation_table[i], &shown->form, &why);
    printf("%-16s %s%s\n", notation_table[i].name, text ? text : "-  ", text ? "" : why);
  }
}

// A dialect with the layout in it, or the reason why it cannot say it.
typedef struct LayoutDialect {
  const char *name, *text, *why;
} LayoutDialect;

static const LayoutDialect *dialects(const Shown *shown, int *n) {
  LayoutDialect *out = ARENA_ARRAY(shown->arena, LayoutDialect, notation_count);
  *n = 0;
  for (int i = 0; i < notation_count; i++) {
    if (!is_asked(shown, &notation_table[i])) continue;
    const char *why = NULL;
    const char *text = notation_print(shown->arena, &notation_table[i], &shown->form, &why);
    out[(*n)++] = (LayoutDialect){notation_table[i].name, text, text ? NULL : why};
  }
  return out;
}

// ---- text and JSON ------------------------------------------------------------------------------

static void print_offsets(const Shown *shown, bool map) {
  const LayoutForm *form = &shown->form;
  int rows = map ? form->rows : min_int(form->rows, CORNER_ROWS);
  int cols = map ? form->cols : min_int(form->cols, CORNER_COLS);
  printf("\nwhere elements lie, in elements: rows 0 to %d, columns 0 to %d of %d x %d\n", rows - 1,
         cols - 1, form->rows, form->cols);
  for (int row = 0; row < rows; row++) {
    printf("  row %3d", row);
    for (int col = 0; col < cols; col++)
      printf(" %5lld", (long long)layout_form_element(form, row, col));
    putchar('\n');
  }
}

static void print_tma(const TmaBox *box) {
  printf("a box of %lld %s", box->box[0], box->type);
  for (int i = 1; i < box->rank; i++) printf(" x %lld", box->box[i]);
  printf(", swizzle %s: %lld bytes of shared memory at a multiple of %d\n", box->swizzle->name,
         (long long)tma_box_bytes(box), tma_box_alignment(box));
  if (tma_box_repeat(box) > tma_box_alignment(box))
    printf(
        "the pattern follows the address: it is as below if the box begins at a multiple of "
        "%d\n",
        tma_box_repeat(box));
}

static void print_place(const Shown *shown) {
  const LayoutPlace *p = &shown->place;
  const int elem = shown->form.layout->slab.elem_bytes;
  printf("%s, %d x %d, elements of %d byte%s\n", shown->form.layout->text, shown->form.rows,
         shown->form.cols, elem, plural_s(elem));
  if (p->shared > 1)
    printf("elements (%d, %d) to (%d, %lld) share byte %lld", p->row, p->first_col, p->row,
           (long long)(p->first_col + p->shared - 1), (long long)p->byte);
  else
    printf("element (%d, %d) lies at byte %lld", p->row, p->col, (long long)p->byte);
  printf("; in shared memory bank %lld\n", (long long)place_bank(p));
}

static void print_text(const Shown *shown, bool map) {
  if (shown->tma) print_tma(shown->tma);
  if (shown->evaluated) printf("%s =\n", shown->evaluated);
  LayoutView facts = shown->view;
  facts.layout = shown->form.layout;
  layout_view_print_facts(&facts);
  print_dialects(shown);
  print_offsets(shown, map);
  if (shown->across[0] == 'c')
    puts("\na column is contiguous: a row below is a column of the matrix");
  layout_view_print_groups(&shown->view, map);
  layout_view_print_sites(&shown->view);
}

#define FORM_FILE "cli/commands/forms/cmd_layout.form"
#include "base/form_make.h"

static int run_given(Arena *arena, const LayoutOptions *given, int argc, char **argv,
                     Diags *diags) {
  TmaBox box;
  const Layout *layout = read_layout(arena, given, argc, argv, &box, diags);
  const Notation *only = NULL;
  if (given->to) only = notation_find(given->to, diags);
  if (diags->count) return cli_fail(diags);
  Shown shown = show(arena, layout, given->tma ? &box : NULL);
  if (!find_place(given->question.element, &shown, diags)) return cli_fail(diags);
  shown.only = only;
  shown.triton = only && str_equal(given->to, "triton");
  if (only && !given->json) return print_only(&shown);
  shown.view.map = given->map;
  if (given->json)
    cli_print_document(arena, &notated_layout_form, &shown, NULL);
  else if (shown.place.is_asked)
    print_place(&shown);
  else
    print_text(&shown, given->map);
  return shown.place.is_asked ? CLI_OK : layout_view_status(&shown.view);
}

// ---- layouts of registers -----------------------------------------------------------------------

static bool ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end);
}

static bool is_file(const char *text) {
  return ends_with(text, ".ttgir") || ends_with(text, ".ttgir.mlir") || ends_with(text, ".ttir") ||
         ends_with(text, ".mlir");
}

static int run_file(Arena *arena, const LayoutOptions *given, const char *path, Diags *diags) {
  size_t bytes;
  const char *text = open_read_file(arena, path, &bytes, diags);
  const Ttgir *ttgir = text ? ttgir_read(arena, text, diags) : NULL;
  if (!ttgir) return cli_fail(diags);
  return given->json ? ttgir_view_json(arena, ttgir) : ttgir_view_print(arena, ttgir);
}

// A layout of CuTe is one of threads and values where a lane of it is asked for, or an element of
// the matrix that --shape names. One of memory names its own matrix.
static bool lays_out_registers(Arena *arena, const LayoutOptions *given, const char *text) {
  if (register_text_is(text, NULL) || !cute_text_is(text)) return register_text_is(text, NULL);
  if (!given->question.element || given->question.lane) return given->question.lane;
  CuteText cute;
  Diags unused = diags_new(arena);
  return given->shape && cute_text_parse(arena, text, &cute, &unused) && cute.n == 1;
}

static const RegisterLayout *read_registers(Arena *arena, const LayoutOptions *given,
                                            const char *text, Diags *diags) {
  RegisterAsked asked = {.operand = given->operand};
  if (given->shape && !tensor_shape_parse(given->shape, &asked.shape, diags)) return NULL;
  return register_text_is(text, NULL) ? register_text_read(arena, text, &asked, diags)
                                      : register_tv_read(arena, text, &asked.shape, diags);
}

static int run_registers(Arena *arena, const LayoutOptions *given, const char *text, Diags *diags) {
  RegisterView view;
  const RegisterLayout *layout = read_registers(arena, given, text, diags);
  if (!layout || !register_view_ask(arena, layout, &given->question, &view, diags))
    return cli_fail(diags);
  if (given->json)
    cli_print_document(arena, &register_layout_form, &view, NULL);
  else
    register_view_print(&view);
  return CLI_OK;
}

static const Layout *read_memory(Arena *arena, const LayoutOptions *given, const char *text,
                                 Diags *diags) {
  LayoutSlab slab;
  return read_slab(given, &slab, diags) ? notation_parse(arena, &slab, text, diags) : NULL;
}

// The first of the two that lays out registers, and the other one.
static int run_pair(Arena *arena, const LayoutOptions *given, char **text, Diags *diags) {
  const bool second = !lays_out_registers(arena, given, text[0]);
  RegisterPair pair = {.elem_bytes = unit_bytes(given->type ? given->type : "f16", diags)};
  pair.from = read_registers(arena, given, text[second], diags);
  if (pair.from && !second && lays_out_registers(arena, given, text[1]))
    pair.to = read_registers(arena, given, text[1], diags);
  else if (pair.from)
    pair.memory = read_memory(arena, given, text[!second], diags);
  if (pair.memory) pair.elem_bytes = pair.memory->slab.elem_bytes;
  if (diags->count || !register_pair_count(arena, &pair, diags)) return cli_fail(diags);
  if (given->json)
    cli_print_document(arena, &register_pair_form, &pair, NULL);
  else
    register_pair_print(arena, &pair);
  return CLI_OK;
}

// Whether only layouts of registers answer the question.
static bool asks_registers(const LayoutOptions *given) {
  const RegisterQuestion *question = &given->question;
  return question->lane || question->warp || question->block || given->operand;
}

static int run(Arena *arena, LayoutOptions *given, int argc, char **argv, Diags *diags) {
  if (argc == 2 && !given->type && notation_is_of_scales(argv[1])) given->type = "byte";
  const bool first = argc > 1 && lays_out_registers(arena, given, argv[1]);
  if (argc == 2 && is_file(argv[1])) return run_file(arena, given, argv[1], diags);
  if (argc == 3 && (first || lays_out_registers(arena, given, argv[2])))
    return run_pair(arena, given, &argv[1], diags);
  if (argc == 2 && first) return run_registers(arena, given, argv[1], diags);
  if (asks_registers(given)) {
    diag_add(diags, "usage", "--lane, --warp, --block and --operand need a layout of registers");
    return cli_fail(diags);
  }
  return run_given(arena, given, argc, argv, diags);
}

int cmd_layout(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  LayoutOptions given = {0};
  int n = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
  if (!options_parse(OPTIONS, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  return run(arena, &given, argc, argv, &diags);
}

// gemmview fragment: which lane of a tensor-core instruction holds which element, and the way back.
//
//   gemmview fragment m16n8k16.f16 A                   the operand as a grid of lane:value
//   gemmview fragment m16n8k16.f16 A --lane 7          what lane 7 holds, in register order
//   gemmview fragment m16n8k16.f16 A --element 3,5     who holds row 3, column 5
//   gemmview fragment m16n8k32.mxf8 SFA                the factors of A, of a block-scaled atom
//   gemmview fragment sp.m16n8k32.f16 E                the metadata of a sparse A
//   gemmview fragment m16n8k16.f16 C --row 3           the lanes that share row 3, and its
//   reduction gemmview fragment --list                           the atoms
//
// A grid that is wider than 80 columns writes the neighbours that one lane holds as one cell
// (T14:0,1), and goes on in a second panel below where that is not enough. JSON has every cell as
// [lane, value_index, row, col].
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "cli/common/tables/atom_rows.h"
#include "model/readings/place/fragment_json.h"
#include "model/readings/place/fragment_text.h"
#include "model/words/dtype.h"
#include "model/words/sparse.h"

CommandRun cmd_fragment;

enum { TEXT_COLS = 80, PANELS_SHOWN = 2, CELL_BYTES = 24 };

typedef struct FragmentOptions {
  const char *lane, *element, *of_row;
  bool list, json, csv, full;
} FragmentOptions;

static const Option OPTIONS[] = {
    {.name = "lane", .kind = OPTION_KIND_TEXT, .offset = offsetof(FragmentOptions, lane)},
    {.name = "element", .kind = OPTION_KIND_TEXT, .offset = offsetof(FragmentOptions, element)},
    {.name = "row", .kind = OPTION_KIND_TEXT, .offset = offsetof(FragmentOptions, of_row)},
    OPTION_CSV(FragmentOptions),
    {.name = "list", .kind = OPTION_KIND_FLAG, .offset = offsetof(FragmentOptions, list)},
    {.name = "full", .kind = OPTION_KIND_FLAG, .offset = offsetof(FragmentOptions, full)},
    OPTION_JSON(FragmentOptions),
};

// One operand of one atom, and which part of it is asked for (-1: all).
typedef struct Fragment {
  Arena *arena;
  Atom atom;
  AtomOperand operand;
  FragmentMap map;
  FragmentPacking packing;
  FragmentFormulas formulas;
  int lane, row, col, of_row;
} Fragment;

// ---- input --------------------------------------------------------------------------------------

static bool fail(Diags *diags, const char *nearest, const char *sentence) {
  diag_add(diags, "usage", "%s", sentence)->nearest = nearest;
  return false;
}

static bool find_operand(const char *text, AtomOperand *out) {
  static const AtomOperand operands[] = {ATOM_A, ATOM_B, ATOM_C, ATOM_SFA, ATOM_SFB, ATOM_META};
  for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
    if (str_equal_fold(text, atom_operand_name(*out = operands[i]))) return true;
  *out = ATOM_C;
  return str_equal_fold(text, "D");
}

static bool read_operand(const char *text, Fragment *out, Diags *diags) {
  if (!find_operand(text, &out->operand))
    return fail(diags, "A",
                arena_printf(out->arena, "\"%.40s\" is not an operand: choose A, B or C",
                             str_sanitise(out->arena, text)));
  if (atom_operand_is_scale(out->operand) && !atom_scales(&out->atom))
    return fail(
        diags, "A",
        arena_printf(out->arena, "%s takes no scale factors: m16n8k32.mxf8 does", out->atom.name));
  if (out->operand == ATOM_META && !out->atom.sparse)
    return fail(
        diags, "A",
        arena_printf(out->arena, "%s takes no metadata: sp.m16n8k32.f16 does", out->atom.name));
  if (!atom_in_lanes(&out->atom, out->operand))
    return fail(diags, atom_in_registers(&out->atom, ATOM_A) ? "A" : "C",
                arena_printf(out->arena,
                             "%s of %s is read from shared memory through a descriptor and has no "
                             "registers: %s",
                             atom_operand_name(out->operand), out->atom.name,
                             atom_in_registers(&out->atom, ATOM_A) ? "A and C have" : "C has"));
  return true;
}

// "3,5". A number too large for a long is one that lies outside.
static bool read_element(const char *text, Fragment *out, Diags *diags) {
  char *end;
  long row = strtol(text, &end, 10), col = 0;
  bool pair = end != text && *end == ',' && strchr("-0123456789", end[1]) && end[1];
  const char *second = end + 1;
  if (pair) col = strtol(second, &end, 10);
  if (!pair || end == second || *end || (unsigned char)*text <= ' ')
    return fail(diags, "0,0",
                arena_printf(out->arena, "--element: \"%.40s\" is not ROW,COLUMN",
                             str_sanitise(out->arena, text)));
  out->row = (int)clamp_index(row, out->map.rows);
  out->col = (int)clamp_index(col, out->map.cols);
  if (out->row == row && out->col == col) return true;
  return fail(
      diags, arena_printf(out->arena, "%d,%d", out->row, out->col),
      arena_printf(out->arena, "--element %.40s: %s of %s has rows 0 to %d and columns 0 to %d",
                   str_sanitise(out->arena, text), atom_operand_name(out->operand), out->atom.name,
                   out->map.rows - 1, out->map.cols - 1));
}

static bool read_part(const FragmentOptions *given, Fragment *out, Diags *diags) {
  out->lane = out->row = out->col = out->of_row = -1;
  if (given->of_row && atom_operand_is_scale(out->operand))
    return fail(diags, NULL, "--row needs a row of sums or of an operand: a factor is one number");
  if (given->of_row && out->operand == ATOM_META)
    return fail(diags, NULL, "--row needs a row of sums or of an operand: E has no sums");
  if ((given->lane != NULL) + (given->element != NULL) + (given->of_row != NULL) > 1)
    return fail(diags, NULL,
                "give one of --lane (what a lane holds), --element (its lane) and --row (lanes "
                "that share a row)");
  if (given->of_row)
    return option_parse_int(given->of_row, 0, out->map.rows - 1, "--row", &out->of_row, diags);
  if (given->lane)
    return option_parse_int(given->lane, 0, out->map.n_lanes - 1, "--lane", &out->lane, diags);
  return !given->element || read_element(given->element, out, diags);
}

static bool read_fragment(const FragmentOptions *given, int argc, char **argv, Fragment *out,
                          Diags *diags) {
  if (argc < 2)
    return fail(diags, "m16n8k16.f16 A", "an atom is needed: gemmview fragment --list lists all");
  if (!atom_parse(argv[1], &out->atom, diags)) return false;
  if (argc != 3)
    return fail(diags, arena_printf(out->arena, "%s A", out->atom.name),
                argc < 3 ? "an operand is needed after the atom: A, B or C, SFA or SFB, E"
                         : "one atom and one operand are needed");
  if (!read_operand(argv[2], out, diags)) return false;
  out->map = fragment_map(&out->atom, out->operand);
  out->packing = fragment_packing(&out->atom, out->operand);
  out->formulas = fragment_formulas(out->arena, &out->map);
  return read_part(given, out, diags);
}

// ---- text ---------------------------------------------------------------------------------------

static const char *part_name(const FragmentPacking *packing) {
  return packing->per_register == 2 ? "half" : packing->per_register == 4 ? "byte" : "part";
}

// In lines of at most TEXT_COLS, broken at blanks.
static void print_wrapped(const char *text) {
  while (*text) {
    size_t n = strlen(text);
    if (n > TEXT_COLS) n = TEXT_COLS;
    while (text[n] && text[n] != ' ') n--;
    printf("%.*s\n", (int)n, text);
    text += n + (text[n] == ' ');
  }
}

// Explains the name of the instruction, word by word.
static void print_words(const Fragment *f) {
  PtxWord word[PTX_WORDS_MAX];
  int n = ptx_words(f->arena, &f->atom, NULL, word);
  enum { WIDTH_MAX = 15 };
  int width = 10;
  for (int i = 0; i < n; i++) width = max_int(width, (int)strlen(word[i].text));
  width = min_int(width, WIDTH_MAX);
  for (int i = 0; i < n; i++) {
    const bool is_long = (int)strlen(word[i].text) > width;
    if (is_long) printf("  %s\n", word[i].text);
    printf("  %-*s %s\n", width, is_long ? "" : word[i].text, word[i].meaning);
  }
  const char *wmma = wmma_text(f->arena, &f->atom);
  if (wmma) print_wrapped(wmma);
}

// In lines of at most TEXT_COLS, the second from the shape on.
static void print_instruction(const Fragment *f) {
  const char *ptx = atom_ptx(f->arena, &f->atom), *shape = strstr(ptx, ".m16");
  if (strlen(ptx) <= TEXT_COLS || !shape)
    printf("%s\n", ptx);
  else
    printf("%.*s\n    %s\n", (int)(shape - ptx), ptx, shape);
}

// A as it is stored, or which columns these are.
static void print_sparse(const Fragment *f) {
  const int chunk = f->atom.k / fragment_map(&f->atom, ATOM_META).cols;
  if (f->operand == ATOM_META)
    printf("E of %s, %d x %d (m x chunks of %d columns),\n4 bits each: which columns are stored\n",
           f->atom.name, f->map.rows, f->map.cols, chunk);
  else
    printf("A of %s, %d x %d (m x k / 2), in %s;\n%d of each %d columns are stored, as E says\n",
           f->atom.name, f->map.rows, f->map.cols, f->atom.type, chunk / 2, chunk);
}

// The axes of an operand, and what it is of.
static void print_operand(const Fragment *f) {
  const char *rows = f->operand == ATOM_B ? "k" : "m", *cols = f->operand == ATOM_A ? "k" : "n";
  const char *type = f->operand == ATOM_C ? f->atom.acc : f->atom.type;
  if (atom_operand_is_scale(f->operand)) {
    DType element = DTYPE_F32;
    dtype_find(f->atom.type, &element);
    const DTypeScale scale = dtype_scale(element);
    const char *blocks = arena_printf(f->arena, "k / %d", scale.elements);
    *(f->operand == ATOM_SFA ? &cols : &rows) = blocks;
    type = dtype_name(scale.type);
  }
  if (f->operand == ATOM_META || (f->operand == ATOM_A && f->atom.sparse)) {
    print_sparse(f);
    return;
  }
  printf("%s of %s, %d x %d (%s x %s), in %s\n", atom_operand_name(f->operand), f->atom.name,
         f->map.rows, f->map.cols, rows, cols, type);
}

static void print_meta_lanes(const Fragment *f) {
  const SparseMeta meta = sparse_meta(f->atom.bits, f->atom.k);
  const int n = sparse_selectors(&meta);
  if (n == 4)
    puts("with selector s, from 0 to 3, lanes with lane % 4 = s supply them; the map is of s = 0");
  if (n == 2)
    puts("selector 0: lanes with lane % 4 < 2 supply them, as in the map; 1: the other lanes");
  puts(meta.bits == 32 ? "0x4 keeps the first of two columns, 0xe the second"
                       : "the low two bits are the first stored column of four, the high two the "
                         "second: 0x9 keeps 1 and 2");
}

// Which lanes the instruction looks at, and which bytes.
static void print_selectors(const Fragment *f) {
  static const char *const ids[] = {[1] = "0, 1, 2 or 3", [2] = "0 or 2", [4] = "0"};
  if (f->operand == ATOM_META) {
    print_meta_lanes(f);
    return;
  }
  const char *lanes = fragment_lanes_text(f->arena, &f->atom, f->operand);
  if (lanes) print_wrapped(lanes);
  if (!atom_operand_is_scale(f->operand)) return;
  const char *places = ids[atom_scales(&f->atom)];
  if (atom_is_of_thread(&f->atom)) {
    printf(
        "a register is a column of tensor memory; the other three quarters of the lanes have "
        "copies;\n"
        "%s counts from the byte that the ID names: %s\n",
        atom_scales(&f->atom) > 1 ? "a value" : "its only value", places);
    return;
  }
  printf(
      "with thread-id 0, lanes with lane %% 4 %s supply them; the registers of other lanes are "
      "not read;\n"
      "v counts from the byte that byte-id names: %s\n",
      f->operand == ATOM_SFA ? "< 2" : "= 0", places);
}

static void print_head(const Fragment *f) {
  const FragmentPacking *packing = &f->packing;
  int per = packing->per_register;
  print_operand(f);
  print_instruction(f);
  printf("%d lanes, each %d value%s in %d register%s of %d bits", f->map.n_lanes, packing->n_values,
         plural_s(packing->n_values), packing->n_registers, plural_s(packing->n_registers),
         packing->register_bits);
  printf("\n\nrow  = %s\ncol  = %s\n", f->formulas.row, f->formulas.col);
  printf("lane = %s\nv    = %s\n", f->formulas.lane, f->formulas.value);
  if (per > 1) printf("v is %s v %% %d of register v / %d\n", part_name(packing), per, per);
  print_selectors(f);
}

// "T14:2", or of several neighbours "T14:2,3", "T14:4-7".
static void cell_text(const Fragment *f, int row, int col, int run, char out[CELL_BYTES]) {
  FragmentOwner owner = fragment_map_owner(&f->map, row, col);
  int last = owner.value + run - 1;
  snprintf(out, CELL_BYTES,
           run == 1   ? "T%d:%d"
           : run == 2 ? "T%d:%d,%d"
                      : "T%d:%d-%d",
           owner.lane, owner.value, last);
}

// The columns that a widest cell takes, a blank included.
static int cell_width(const Fragment *f, int run) {
  char widest[CELL_BYTES];
  FragmentMap map = f->map;
  FragmentElement at = fragment_map_element(&map, map.n_lanes - 1, map.n_values - run);
  cell_text(f, at.row, at.col, run, widest);
  return (int)strlen(widest) + 1;
}

static void print_panel(const Fragment *f, int first, int end, int run) {
  int width = cell_width(f, run), label = f->map.rows > 10 ? 2 : 1;
  char cell[CELL_BYTES];
  printf("\n%*s ", label, "");
  for (int col = first; col < end; col += run) {
    snprintf(cell, sizeof cell, "%d", col);
    printf(" %-*s", col + run < end ? width - 1 : 0, cell);
  }
  putchar('\n');
  for (int row = 0; row < f->map.rows; row++) {
    printf("%*d ", label, row);
    for (int col = first; col < end; col += run) {
      cell_text(f, row, col, run, cell);
      printf(" %-*s", col + run < end ? width - 1 : 0, cell);
    }
    putchar('\n');
  }
}

// Columns side by side: all of them, or the largest power of two that fits.
static int panel_columns(const Fragment *f, int run) {
  int fitting = (TEXT_COLS - 3) / cell_width(f, run) * run, power = run;
  if (fitting >= f->map.cols) return f->map.cols;
  while (2 * power <= fitting) power *= 2;
  return power;
}

static void print_grid(const Fragment *f, bool full) {
  int cols = f->map.cols;
  int run = panel_columns(f, 1) == cols ? 1 : fragment_map_run(&f->map, false);
  int panel = panel_columns(f, run);
  int shown = full || cols <= PANELS_SHOWN * panel ? cols : PANELS_SHOWN * panel;
  for (int first = 0; first < shown; first += panel)
    print_panel(f, first, first + panel < shown ? first + panel : shown, run);
  if (shown < cols)
    printf("\ncolumns %d to %d follow the same pattern (--full prints them)\n", shown, cols - 1);
}

static void print_load(const Fragment *f, bool k_contiguous) {
  LdMatrix load;
  if (!fragment_ldmatrix(&f->atom, f->operand, k_contiguous, 1, &load)) return;
  printf("\nwhere k is %s: %s\naddresses:", k_contiguous ? "contiguous" : "strided",
         ldmatrix_ptx(f->arena, &load));
  for (int matrix = 0; matrix < load.n_matrices; matrix++)
    printf("%s  %-*s", matrix == 2 ? "\n          " : "",
           matrix % 2 || matrix + 1 == load.n_matrices ? 0 : 30,
           ldmatrix_matrix_text(f->arena, &load, matrix));
  putchar('\n');
  if (atom_warps(&f->atom) > 1)
    printf("            in warp w (of lanes 32*w on) rows are %d*w further down\n",
           f->map.rows / atom_warps(&f->atom));
}

static void print_lane(const Fragment *f) {
  const FragmentPacking *packing = &f->packing;
  const char *note = fragment_lane_note(f->arena, &f->map, f->lane);
  if (note) printf("\n%s\n", note);
  if (f->lane & f->map.idle_lanes) return;
  printf("\nlane %d holds %s\n\n", f->lane, fragment_lane_text(f->arena, &f->map, f->lane));
  printf("value  register  %-4s  row  col\n", part_name(packing));
  for (int v = 0; v < f->map.n_values; v++) {
    FragmentElement at = fragment_map_element(&f->map, f->lane, v);
    printf("%5d  %8d  %4d  %3d  %3d\n", v, v / packing->per_register, v % packing->per_register,
           at.row, at.col);
  }
}

static void print_owner(const Fragment *f) {
  FragmentOwner owner = fragment_map_owner(&f->map, f->row, f->col);
  int per = f->packing.per_register;
  printf("\n%s[%d][%d] is value %d of lane %d: register %d", atom_operand_name(f->operand), f->row,
         f->col, owner.value, owner.lane, owner.value / per);
  if (per > 1) printf(", %s %d", part_name(&f->packing), owner.value % per);
  if (f->atom.products > 1) printf("; of the other products 4, 8 and 12 lanes further");
  putchar('\n');
}

static void print_row(const Fragment *f, int index) {
  const FragmentRow row = fragment_row(&f->map, index);
  putchar('\n');
  print_wrapped(fragment_row_text(f->arena, &row));
  for (int step = 0; step <= row.n_steps; step++)
    printf("  %s\n", fragment_step_text(f->arena, &row, step));
}

// Tells what becomes of sums: rows that are reduced, and operand A of the next product.
static void print_sums(const Fragment *f) {
  print_row(f, 0);
  printf("\nas operand A of the next product:\n");
  print_wrapped(fragment_relayout_text(f->arena, &f->atom, &f->atom));
  Relayout map;
  if (!fragment_relayout(&f->atom, &f->atom, &map)) return;
  const int n = fragment_packing(&f->atom, ATOM_A).n_registers;
  for (int reg = 0; reg < n; reg++)
    printf("  A r%d is %s of C\n", reg,
           fragment_relayout_register(f->arena, &f->atom, &f->atom, 0, 0, reg));
}

static void print_text(const Fragment *f, bool full) {
  print_head(f);
  if (f->of_row >= 0) {
    print_row(f, f->of_row);
  } else if (f->lane >= 0) {
    print_lane(f);
  } else if (f->row >= 0) {
    print_owner(f);
  } else {
    print_grid(f, full);
    print_load(f, true);
    print_load(f, false);
    if (f->operand == ATOM_C) print_sums(f);
    putchar('\n');
    print_words(f);
    printf("\nPTX ISA 9.2, section %.*s\n", (int)strcspn(f->atom.section, " "), f->atom.section);
  }
}

// ---- JSON ---------------------------------------------------------------------------------------

// A load of the operand by ldmatrix.
typedef struct FragmentLoad {
  const Fragment *f;
  bool k_contiguous;
  LdMatrix load;
} FragmentLoad;

typedef struct FragmentShown {
  const Fragment *f;
  int n_loads;
  FragmentLoad load[2];
  FragmentRow row;
  FragmentPair pair;
} FragmentShown;

// The place of value v of a lane: its register, or which part of it from the low end.
static const int *registers_of_values(Arena *arena, const FragmentPacking *packing, bool part) {
  const int n = packing->n_values, per = packing->per_register;
  int *out = ARENA_ARRAY(arena, int, n);
  for (int v = 0; v < n; v++) out[v] = part ? v % per : v / per;
  return out;
}

// For factors all four lanes of a row have a copy, and one lane's counts; of several products each
// has lanes of its own.
static bool supplies(const Fragment *f, int lane) {
  const FragmentElement at = fragment_map_element(&f->map, lane, 0);
  return fragment_map_owner(&f->map, at.row, at.col).lane == (lane & ~f->map.product_lanes);
}

enum { CELL_NUMBERS = 4, ADDRESS_NUMBERS = 3 };

// Lane, value, row and column of each cell that is asked for; *n gets their number.
static const int *cells(Arena *arena, const Fragment *f, int *n) {
  FragmentOwner only = {f->lane, -1};
  if (f->row >= 0) only = fragment_map_owner(&f->map, f->row, f->col);
  const int same = f->row >= 0 ? ~f->map.product_lanes : ~0;
  int *out = ARENA_ARRAY(arena, int, f->map.n_lanes * f->map.n_values * CELL_NUMBERS);
  *n = 0;
  for (int lane = 0; lane < f->map.n_lanes; lane++)
    for (int value = 0; value < f->map.n_values; value++) {
      if ((only.lane >= 0 && only.lane != (lane & same)) ||
          (only.value >= 0 && only.value != value) || !supplies(f, lane))
        continue;
      const FragmentElement at = fragment_map_element(&f->map, lane, value);
      const int cell[CELL_NUMBERS] = {lane, value, at.row, at.col};
      memcpy(&out[CELL_NUMBERS * (*n)++], cell, sizeof cell);
    }
  return out;
}

// Lane, row and column of each lane that gives an address; *n gets their number.
static const int *addresses(Arena *arena, const FragmentLoad *l, int *n) {
  const int n_lanes = l->f->map.n_lanes, warp_lanes = n_lanes / atom_warps(&l->f->atom);
  int *out = ARENA_ARRAY(arena, int, n_lanes *ADDRESS_NUMBERS);
  *n = 0;
  for (int lane = 0; lane < n_lanes; lane++) {
    if (lane % warp_lanes >= l->load.n_address_lanes) continue;
    const FragmentElement at = ldmatrix_address(&l->load, lane);
    const int address[ADDRESS_NUMBERS] = {lane, at.row, at.col};
    memcpy(&out[ADDRESS_NUMBERS * (*n)++], address, sizeof address);
  }
  return out;
}

#define FORM_FILE "cli/commands/forms/cmd_fragment.form"
#include "base/form_make.h"

static void print_json(const Fragment *f) {
  FragmentShown shown = {.f = f, .pair = {&f->atom, &f->atom}};
  for (int strided = 0; strided < 2; strided++) {
    FragmentLoad *at = &shown.load[shown.n_loads];
    *at = (FragmentLoad){.f = f, .k_contiguous = !strided};
    shown.n_loads += fragment_ldmatrix(&f->atom, f->operand, !strided, 1, &at->load);
  }
  if (f->of_row >= 0 || f->operand == ATOM_C)
    shown.row = fragment_row(&f->map, max_int(f->of_row, 0));
  cli_print_document(f->arena, &fragment_form, &shown, NULL);
}

// ---- the command --------------------------------------------------------------------------------

static int run_given(Arena *arena, const FragmentOptions *given, int argc, char **argv,
                     Diags *diags) {
  if (given->csv && (!given->list || given->json))
    diag_add(diags, "usage", "--csv goes with --list, and without --json");
  if (given->list && (argc > 1 || given->lane || given->element || given->of_row))
    diag_add(diags, "usage", "--list stands alone, or with --json or --csv");
  if (diags->count) return cli_fail(diags);
  if (given->list) {
    void (*print)(Arena * arena) = given->json ? atom_list_json : atom_list_text;
    (given->csv ? atom_list_csv : print)(arena);
    return CLI_OK;
  }
  Fragment fragment = {.arena = arena};
  if (!read_fragment(given, argc, argv, &fragment, diags)) return cli_fail(diags);
  given->json ? print_json(&fragment) : print_text(&fragment, given->full);
  return CLI_OK;
}

int cmd_fragment(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  FragmentOptions given = {.lane = NULL};
  options_parse(OPTIONS, sizeof OPTIONS / sizeof OPTIONS[0], &given, &argc, argv, &diags);
  return diags.count ? cli_fail(&diags) : run_given(arena, &given, argc, argv, &diags);
}

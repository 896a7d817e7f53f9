// Types are put to the alias that they name; a type with an encoding in it makes an entry of its
// own. A text that cannot be read or counted says why in its place.
#include "cli/common/layouts/ttgir_view.h"

#include <stdio.h>
#include <string.h>

#include "banks/layouts/notation.h"
#include "base/whole.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/layouts/register_view.h"

typedef struct ShownUse {
  const TtgirUse *use;
  const RegisterLayout *layout;  // NULL: memory, or not read
  const Layout *memory;          // NULL: registers, or not read
  const char *why;
} ShownUse;

typedef struct ShownAlias {
  const char *name, *text;
  int line, n_uses;
  ShownUse *use;
} ShownAlias;

typedef struct ShownMove {
  const TtgirMove *move;
  const TtgirUse *from, *to;
  RegisterPair pair;
  const char *why;
} ShownMove;

typedef struct ShownFile {
  int n_aliases, n_moves;
  ShownAlias *alias;
  ShownMove *move;
} ShownFile;

#define FORM_FILE "cli/common/layouts/ttgir_view.form"
#include "base/form_make.h"

// ---- types --------------------------------------------------------------------------------------

// The encoding with every "#name" in front replaced by what it is.
static const char *resolved(const Ttgir *ttgir, const char *encoding) {
  for (int i = 0; i < ATTR_DEPTH_MAX && encoding[0] == '#' && !strpbrk(encoding, "<."); i++) {
    const char *text = ttgir->names.text_of(ttgir->names.owner, encoding + 1);
    if (!text) break;
    encoding = text;
  }
  return encoding;
}

// The rows and columns at the beginning of a larger one: a view lies as what it is a view of.
static const Layout *part_of(Arena *arena, const Layout *whole, const TensorShape *shape) {
  const LayoutSlab *slab = &whole->slab;
  const int rows = shape->rank > 1 ? shape->extent[shape->rank - 2] : 1;
  const int bytes = shape->extent[shape->rank - 1] * slab->elem_bytes;
  if (rows > slab->rows || bytes > slab->row_bytes) return NULL;
  int32_t *offset = ARENA_ARRAY(arena, int32_t, rows * bytes);
  for (int row = 0; row < rows; row++)
    memcpy(&offset[row * bytes], &whole->offset_of[row * slab->row_bytes],
           sizeof *offset * (size_t)bytes);
  Layout *out = ARENA_NEW(arena, Layout);
  *out = *whole;
  out->slab = (LayoutSlab){rows, bytes, slab->elem_bytes};
  out->offset_of = offset;
  return out;
}

static const Layout *read_memory(Arena *arena, const TtgirUse *use, const char *encoding,
                                 Diags *diags) {
  const TensorShape *whole = use->whole.rank ? &use->whole : &use->type.shape;
  const char *text = arena_printf(arena, "!ttg.memdesc<%sx%s, %s>", tensor_shape_text(arena, whole),
                                  use->type.type, encoding);
  const Layout *layout = notation_parse(arena, &(LayoutSlab){0}, text, diags);
  if (!layout || whole == &use->type.shape) return layout;
  const Layout *part = part_of(arena, layout, &use->type.shape);
  if (!part)
    diag_add(diags, "layout", "%s: larger than the tensor that it is a part of", use->text);
  return part;
}

static ShownUse read_use(Arena *arena, const Ttgir *ttgir, const TtgirUse *use) {
  Diags diags = diags_new(arena);
  ShownUse out = {.use = use};
  const char *encoding = resolved(ttgir, use->encoding);
  if (register_text_is(encoding, &ttgir->names)) {
    const RegisterAsked asked = {.shape = use->type.shape, .names = &ttgir->names};
    out.layout = register_text_read(arena, encoding, &asked, &diags);
  } else {
    out.memory = read_memory(arena, use, encoding, &diags);
  }
  if (diags.count) out.why = diags.first->text;
  return out;
}

static ShownAlias *find_alias(ShownFile *file, const char *name, const char *text) {
  for (int i = 0; i < file->n_aliases; i++) {
    ShownAlias *alias = &file->alias[i];
    if (name[0] ? alias->name && str_equal(alias->name, name) : str_equal(alias->text, text))
      return alias;
  }
  ShownAlias *alias = &file->alias[file->n_aliases++];
  *alias = (ShownAlias){.text = text};
  return alias;
}

// "#name" alone; "" where the encoding stands there itself.
static const char *name_in(const char *encoding) {
  return encoding[0] == '#' && !strpbrk(encoding, "<.") ? encoding + 1 : "";
}

static ShownUse *add_use(Arena *arena, const Ttgir *ttgir, const TtgirUse *use, ShownFile *file) {
  ShownAlias *alias = find_alias(file, name_in(use->encoding), use->encoding);
  if (!alias->use) alias->use = ARENA_ARRAY(arena, ShownUse, ttgir->n_uses);
  alias->use[alias->n_uses] = read_use(arena, ttgir, use);
  return &alias->use[alias->n_uses++];
}

// ---- operations ---------------------------------------------------------------------------------

// Registers first; of two layouts of memory nothing is counted.
static void count_move(Arena *arena, const ShownUse *from, const ShownUse *to, ShownMove *out) {
  Diags diags = diags_new(arena);
  const ShownUse *registers = from->layout ? from : to, *other = from->layout ? to : from;
  const int bits = tensor_type_bits(registers->use->type.type);
  if (from->why || to->why) {
    out->why = from->why ? from->why : to->why;
  } else if (!registers->layout || (!other->layout && !other->memory)) {
    out->why = "no layout of registers";
  } else if (bits < 8) {
    out->why = "elements of less than a byte";
  } else {
    out->pair =
        (RegisterPair){registers->layout, other->layout, other->memory, bits / 8, {0}, {0}, {0}};
    register_pair_count(arena, &out->pair, &diags);
    if (diags.count) out->why = diags.first->text;
  }
}

static const ShownFile *shown_file(Arena *arena, const Ttgir *ttgir) {
  ShownFile *file = ARENA_NEW(arena, ShownFile);
  *file = (ShownFile){.alias = ARENA_ARRAY(arena, ShownAlias, ttgir->n_aliases + ttgir->n_uses + 1),
                      .move = ARENA_ARRAY(arena, ShownMove, ttgir->n_moves + 1)};
  ShownUse *use = ARENA_ARRAY(arena, ShownUse, ttgir->n_uses + 1);
  for (int i = 0; i < ttgir->n_aliases; i++)
    file->alias[file->n_aliases++] = (ShownAlias){
        .name = ttgir->alias[i].name, .text = ttgir->alias[i].text, .line = ttgir->alias[i].line};
  for (int i = 0; i < ttgir->n_uses; i++) use[i] = *add_use(arena, ttgir, &ttgir->use[i], file);
  for (int i = 0; i < ttgir->n_moves; i++) {
    const TtgirMove *move = &ttgir->move[i];
    ShownMove *out = &file->move[file->n_moves++];
    *out = (ShownMove){.move = move, .from = use[move->from].use, .to = use[move->to].use};
    count_move(arena, &use[move->from], &use[move->to], out);
  }
  return file;
}

// ---- text ---------------------------------------------------------------------------------------

// Bytes of all slabs that lie one behind the other.
static int64_t memory_bytes(const ShownUse *shown) {
  const TensorShape *shape = &shown->use->type.shape;
  int64_t bytes = shown->memory->storage_bytes;
  for (int dim = 0; dim + 2 < shape->rank; dim++) bytes *= shape->extent[dim];
  return bytes;
}

static void print_use(Arena *arena, const ShownUse *shown) {
  const TtgirUse *use = shown->use;
  printf("  %4dx  line %-5d %s of %s", use->count, use->line,
         tensor_shape_text(arena, &use->type.shape), str_line(arena, use->type.type));
  if (shown->why)
    printf(": %s", str_line(arena, shown->why));
  else if (use->whole.rank)
    printf(", a part of %s in shared memory", tensor_shape_text(arena, &use->whole));
  else if (shown->memory)
    printf(", %lld bytes of shared memory", (long long)memory_bytes(shown));
  else
    printf(", %d %ss of a lane, %d warp%s", shown->layout->n[HOLDER_REGISTER],
           holder_name(shown->layout, HOLDER_REGISTER), shown->layout->n[HOLDER_WARP],
           plural_s(shown->layout->n[HOLDER_WARP]));
  putchar('\n');
}

static void print_alias(Arena *arena, const ShownAlias *alias) {
  if (alias->name) printf("#%s, line %d\n", alias->name, alias->line);
  printf("  %s\n", str_line(arena, alias->text));
  for (int i = 0; i < alias->n_uses; i++) print_use(arena, &alias->use[i]);
  if (alias->n_uses == 0) puts("  no tensor names it");
}

static void print_move(Arena *arena, const ShownMove *move) {
  printf("\nline %d, %s, %d time%s\n", move->move->line, move->move->op, move->move->count,
         plural_s(move->move->count));
  if (move->why)
    printf("  not counted: %s\n", str_line(arena, move->why));
  else
    register_pair_print(arena, &move->pair);
}

int ttgir_view_print(Arena *arena, const Ttgir *ttgir) {
  const ShownFile *file = shown_file(arena, ttgir);
  for (int i = 0; i < file->n_aliases; i++) print_alias(arena, &file->alias[i]);
  for (int i = 0; i < file->n_moves; i++) print_move(arena, &file->move[i]);
  return CLI_OK;
}

int ttgir_view_json(Arena *arena, const Ttgir *ttgir) {
  cli_print_document(arena, &ttgir_form, shown_file(arena, ttgir), NULL);
  return CLI_OK;
}

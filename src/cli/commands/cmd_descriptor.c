// gemmview descriptor: what wgmma, tcgen05.mma or tcgen05.cp reads by 64 bits.
//
//   gemmview descriptor 0x4000004000010040
//   gemmview descriptor start=0x400,lbo=16,sbo=1024,swizzle=128B --major mn --rows 128
//   gemmview descriptor 0x400800200000 --copy 32x128b
//
// The bits themselves say which architecture they are for; --arch is for fields, and for bits that
// are meant otherwise. Whether mma or cp reads them they do not say: without --copy they are an
// operand's, unless the operand's rows would overlap and the factor tile of 32 rows of 16 bytes,
// the one tile that tcgen05.cp brings to scale factors, is whole.
//
// Fields, what is illegal about them, and the operand as it lies in shared memory: each line is a
// row of M or N where K runs fastest, a column of K where it does not. What is illegal ends with
// status 1.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/unit.h"
#include "banks/layouts/smem_descriptor.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/whole.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "cli/common/tables/cli_illegal.h"

CommandRun cmd_descriptor;

enum { CHUNK_BYTES = 16, CORE_ROWS = 8, SHOWN_LINES = 16, SHOWN_CHUNKS = 8, BANK_GROUPS = 8 };

typedef struct DescriptorOptions {
  const char *arch, *major, *type, *copy;
  int rows;
  bool map, json;
} DescriptorOptions;

static const Option OPTIONS[] = {
    {.name = "arch", .kind = OPTION_KIND_TEXT, .offset = offsetof(DescriptorOptions, arch)},
    {.name = "major", .kind = OPTION_KIND_TEXT, .offset = offsetof(DescriptorOptions, major)},
    {.name = "rows",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(DescriptorOptions, rows),
     .lo = 8,
     .hi = 256},
    {.name = "type", .kind = OPTION_KIND_TEXT, .offset = offsetof(DescriptorOptions, type)},
    {.name = "copy", .kind = OPTION_KIND_TEXT, .offset = offsetof(DescriptorOptions, copy)},
    {.name = "map", .kind = OPTION_KIND_FLAG, .offset = offsetof(DescriptorOptions, map)},
    OPTION_JSON(DescriptorOptions),
};

typedef struct Shown {
  Arena *arena;
  const char *type, *read_as;
  SmemDescriptor descriptor;
  DescriptorTile tile;
  const DescriptorCopy *copy;  // NULL: an operand
  const char *cute;            // NULL: it is not drawn
  const Layout *layout;        // NULL: illegal, or not drawn
  const char *notes;
  const Diags *findings;
} Shown;

// ---- input --------------------------------------------------------------------------------------

static const char *pick(const char *option, const char *given, const char *const *names, int n,
                        Diags *diags) {
  for (int i = 0; i < n; i++)
    if (!given || str_equal(given, names[i])) return names[i];
  diag_add_unknown(diags, "usage", option, str_sanitise(diags->arena, given), names, n);
  return NULL;
}

static void read_as_copy(Shown *out, const DescriptorCopy *copy) {
  out->copy = copy;
  out->tile.mn_major = false;
  out->tile.rows = copy->rows;
  out->tile.k_bytes = copy->row_bytes;
}

static bool read_copy(const DescriptorOptions *given, Shown *out, int arch, Diags *diags) {
  const char *names[8];
  const int n = descriptor_copy_count();
  if (!given->copy) return true;
  for (int i = 0; i < n; i++) names[i] = descriptor_copy_at(i)->name;
  const char *name = pick("--copy", given->copy, names, n, diags);
  if (name && arch == 90)
    diag_add(diags, "usage", "--copy: these are bits of wgmma; tcgen05.cp needs sm_100");
  for (int i = 0; name && i < n; i++)
    if (str_equal(name, names[i])) read_as_copy(out, descriptor_copy_at(i));
  return name && arch == 100;
}

// Bits 46 to 48 of a number name the architecture; fields mean sm_90 unless --arch says otherwise.
static const char *arch_of(const char *text) {
  char *end;
  const uint64_t word = strtoull(text, &end, 0);
  return end != text && smem_descriptor_arch(word) == 100 ? "100" : "90";
}

static bool read_tile(const DescriptorOptions *given, const char *text, Shown *out, int *arch,
                      Diags *diags) {
  static const char *const arches[] = {"90", "100"}, *const majors[] = {"k", "mn"};
  const char *asked = given->arch ? given->arch : given->copy ? "100" : arch_of(text);
  const char *arch_name = pick("--arch", asked, arches, 2, diags);
  const char *major = pick("--major", given->major, majors, 2, diags);
  out->type = given->type ? given->type : "f16";
  int elem = unit_bytes(out->type, diags);
  if (elem > 4) diag_add(diags, "usage", "--type %s: operands have 8, 16 or 32 bits", out->type);
  if (diags->count) return false;
  *arch = str_equal(arch_name, "100") ? 100 : 90;
  int rows = given->rows ? given->rows : *arch == 100 ? 128 : 64;
  out->tile = (DescriptorTile){str_equal(major, "mn"), rows, elem, 0};
  return read_copy(given, out, *arch, diags);
}

static const char *reader(const Shown *shown) {
  if (shown->descriptor.arch == 90) return "wgmma";
  return shown->copy ? arena_printf(shown->arena, "tcgen05.cp.%s", shown->copy->name)
                     : "tcgen05.mma";
}

// How a number without 0x was read, to stand behind it.
static const char *reading_of(const char *text) {
  if (smem_descriptor_is_bare_hex(text)) return ", read as hexadecimal";
  const size_t digits = strspn(text, "0123456789");
  return digits > 0 && !strchr("xX", text[digits] ? text[digits] : '.') ? ", read as decimal" : "";
}

// ---- text ---------------------------------------------------------------------------------------

// "  lbo      8192     bits 16-29, 64 of M or N further on: …"
static void print_field(const Shown *shown, DescriptorPart part, const char *value) {
  const SmemDescriptor *d = &shown->descriptor;
  DescriptorBits bits = descriptor_part_bits(part, d->arch);
  printf("  %-8s %-8s bits %2d-%d, %s\n", descriptor_part_name(part), value, bits.first,
         bits.first + bits.bits - 1,
         descriptor_part_text(shown->arena, d, &shown->tile, part, "M or N"));
}

static void print_fields(const Shown *shown) {
  const SmemDescriptor *d = &shown->descriptor;
  Arena *arena = shown->arena;
  printf("0x%016" PRIx64 "  sm_%d, %s%s\n", smem_descriptor_encode(d), d->arch, reader(shown),
         shown->read_as);
  print_field(shown, DESCRIPTOR_START, arena_printf(arena, "0x%" PRIx64, d->start));
  print_field(shown, DESCRIPTOR_LBO,
              arena_printf(arena, d->lbo_absolute ? "%" PRId64 " abs" : "%" PRId64, d->lbo));
  print_field(shown, DESCRIPTOR_SBO, arena_printf(arena, "%" PRId64, d->sbo));
  print_field(shown, DESCRIPTOR_BASE, arena_printf(arena, "%d", d->base_offset));
  print_field(shown, DESCRIPTOR_SWIZZLE,
              d->swizzle ? d->swizzle->name : arena_printf(arena, "code %d", d->swizzle_code));
}

static int byte_of(const Shown *shown, int line, int chunk) {
  return shown->layout->offset_of[line * shown->layout->slab.row_bytes + chunk * CHUNK_BYTES] -
         smem_descriptor_lead(&shown->descriptor);
}

// A core matrix is eight lines of one chunk; where the first of them is.
static void print_cores(const Shown *shown) {
  int chunks = shown->layout->slab.row_bytes / CHUNK_BYTES;
  int bands = shown->layout->slab.rows / CORE_ROWS;
  printf(
      "\ncore matrices, 8 x 16 bytes: where the first line of each begins, in bytes from the "
      "start\n");
  for (int band = 0; band < bands && band < SHOWN_LINES; band++) {
    printf("  %s %3d-%-3d", shown->tile.mn_major ? "k  " : "row", band * CORE_ROWS,
           band * CORE_ROWS + CORE_ROWS - 1);
    for (int chunk = 0; chunk < chunks && chunk < SHOWN_CHUNKS; chunk++)
      printf(" %6d", byte_of(shown, band * CORE_ROWS, chunk));
    putchar('\n');
  }
}

static void print_lines(const Shown *shown, bool map) {
  int chunks = shown->layout->slab.row_bytes / CHUNK_BYTES, lines = shown->layout->slab.rows;
  int n = map ? chunks : min_int(chunks, SHOWN_CHUNKS),
      elements = CHUNK_BYTES / shown->tile.elem_bytes;
  printf("\neach chunk of 16 bytes, %d %s of %s: bytes from the start, and its bank group\n",
         elements, shown->type, shown->tile.mn_major ? "M or N" : "K");
  for (int line = 0; line < lines && (map || line < SHOWN_LINES); line++) {
    printf("  %s %3d", shown->tile.mn_major ? "k  " : "row", line);
    for (int chunk = 0; chunk < n; chunk++) {
      int64_t address = shown->descriptor.start + byte_of(shown, line, chunk);
      printf(" %6d.%d", byte_of(shown, line, chunk), (int)(address / CHUNK_BYTES % BANK_GROUPS));
    }
    putchar('\n');
  }
}

static void print_text(const Shown *shown, bool map) {
  print_fields(shown);
  if (shown->copy)
    printf("\n%d rows of %d bytes\n", shown->copy->rows, shown->copy->row_bytes);
  else
    printf("\n%d rows of M or N, %d bytes of K, %s, %s fastest\n", shown->tile.rows, 32,
           shown->type, shown->tile.mn_major ? "M or N" : "K");
  if (shown->cute) printf("%s\n", shown->cute);
  cli_print_illegal(shown->findings);
  fputs(shown->notes, stdout);
  if (!shown->layout) return;
  print_cores(shown);
  print_lines(shown, map);
}

// ---- JSON ---------------------------------------------------------------------------------------

// Bytes from the start, line by line.
static const int *chunks(Arena *arena, const Shown *shown) {
  if (!shown->layout) return NULL;
  const LayoutSlab *slab = &shown->layout->slab;
  const int n = slab->row_bytes / CHUNK_BYTES;
  int *out = ARENA_ARRAY(arena, int, slab->rows *n);
  for (int i = 0; i < slab->rows * n; i++) out[i] = byte_of(shown, i / n, i % n);
  return out;
}

#define FORM_FILE "cli/commands/forms/cmd_descriptor.form"
#include "base/form_make.h"

static bool check(Shown *shown, Diags *findings) {
  Str notes = str_new(shown->arena);
  const bool legal = smem_descriptor_check(&shown->descriptor, &shown->tile, &notes, findings);
  shown->notes = notes.text;
  shown->findings = findings;
  return legal;
}

// An operand of tcgen05.mma that cannot be, and a factor tile that can: these bits are
// tcgen05.cp's.
static bool is_factor_tile(const Shown *shown, const DescriptorOptions *given, Shown *out) {
  Diags *findings = ARENA_NEW(shown->arena, Diags);
  *findings = diags_new(shown->arena);
  *out = *shown;
  read_as_copy(out, descriptor_copy_at(0));
  if (given->copy || given->major || given->rows || shown->descriptor.arch != 100 ||
      !shown->descriptor.swizzle || !check(out, findings))
    return false;
  out->notes = arena_printf(shown->arena,
                            "rows of an operand of tcgen05.mma would overlap: these are read as a "
                            "tile of scale factors; --copy names another shape\n%s",
                            out->notes);
  return true;
}

static int run_given(Arena *arena, const DescriptorOptions *given, int argc, char **argv,
                     Diags *diags) {
  Shown shown = {.arena = arena};
  int arch;
  if (argc != 2) {
    diag_add(diags, "usage", "one descriptor is needed: a number, or its fields")->nearest =
        "start=0x400,lbo=16,sbo=1024,swizzle=128B";
    return cli_fail(diags);
  }
  if (!read_tile(given, argv[1], &shown, &arch, diags) ||
      !smem_descriptor_parse(arena, argv[1], arch, &shown.descriptor, diags))
    return cli_fail(diags);
  shown.read_as = reading_of(argv[1]);
  Diags findings = diags_new(arena), unused = diags_new(arena);
  const char *why;
  bool legal = check(&shown, &findings);
  Shown factors;
  if (!legal && is_factor_tile(&shown, given, &factors)) {
    shown = factors;
    legal = true;
  }
  if (legal) {
    shown.cute = smem_descriptor_cute(arena, &shown.descriptor, &shown.tile, &why);
    shown.layout = smem_descriptor_layout(arena, &shown.descriptor, &shown.tile, &unused);
  }
  if (given->json)
    cli_print_document(arena, &descriptor_form, &shown, NULL);
  else
    print_text(&shown, given->map);
  return legal ? CLI_OK : CLI_NO;
}

int cmd_descriptor(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  DescriptorOptions given = {0};
  int n = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
  if (!options_parse(OPTIONS, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  return run_given(arena, &given, argc, argv, &diags);
}

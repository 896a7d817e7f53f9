// File → entries → rows: a kernel, its architecture, its entry → the best row.
#include "cli/open/library/open_library.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elf_file.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "kernels/toolchain/unpack.h"
#include "ptx/module/ptx_module.h"

enum { ANY_RANK = -1, NAMES_SHOWN = 8 };

// ---- the file -----------------------------------------------------------------------------------

static bool map_file(const char *path, OpenLibrary *out) {
  struct stat status;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  void *at = MAP_FAILED;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (at == MAP_FAILED) return false;
  out->bytes = at;
  out->n = (size_t)status.st_size;
  if (fat_is(out->bytes, out->n)) return true;
  open_library_close(out);
  return false;
}

void open_library_close(OpenLibrary *library) {
  if (library->bytes) munmap((void *)(uintptr_t)library->bytes, library->n);
  library->bytes = NULL;
}

// "libfoo.so:KERNEL@sm_80": the shortest beginning that is a file.
bool open_library(Arena *arena, const char *path, OpenLibrary *out) {
  *out = (OpenLibrary){.file = path};
  if (map_file(path, out)) return true;
  for (const char *colon = strchr(path, ':'); colon; colon = strchr(colon + 1, ':')) {
    out->file = arena_strndup(arena, path, (size_t)(colon - path));
    if (!map_file(out->file, out)) continue;
    const char *at = strrchr(colon, '@');
    out->arch = at ? at + 1 : NULL;
    out->kernel =
        arena_strndup(arena, colon + 1, at ? (size_t)(at - colon - 1) : strlen(colon + 1));
    return true;
  }
  return false;
}

// ---- rows ---------------------------------------------------------------------------------------

typedef struct Row {
  const char *name, *arch;
  int rank;
  FatEntry entry;
} Row;

typedef struct Refused {
  const char *what, *why;  // "LTO IR of sm_90"
  int n;
} Refused;

typedef struct LibraryKernel {
  const char *name;
  int n;
  const char **archs;
} LibraryKernel;

typedef struct Library {
  Arena *arena;
  const OpenLibrary *of;
  const char *name;  // of the kernels that are kept; NULL: all
  bool is_listed;    // refused entries are kept
  int n, capacity;
  Row *rows;
  int n_refused;
  Refused *refused;
  int n_kernels;
  LibraryKernel *kernels;
} Library;

static const char *arch_of(Arena *arena, const FatEntry *e) {
  const char variant[] = {e->variant, '\0'};
  return arena_printf(arena, "%s_%d%s", e->kind == FAT_PTX ? "compute" : "sm", e->sm, variant);
}

// The best to run comes first: machine code of sm_90a, of what stands before it down to sm_80,
// PTX, then what is known in part.
static int rank_of(const FatEntry *e) {
  enum { FIRST_FULL = 80, LAST_FULL = 90, FULL = 1000, PTX = 900, PTX_NEWER = 800 };
  if (e->kind == FAT_PTX) return (e->sm <= LAST_FULL ? PTX : PTX_NEWER) + (e->sm == LAST_FULL);
  const int within = 2 * e->sm + (e->variant != '\0');
  return e->sm >= FIRST_FULL && e->sm <= LAST_FULL ? FULL + within : within;
}

static void add_row(Library *l, const char *name, const FatEntry *e) {
  if (l->name && !str_equal(name, l->name) &&
      (str_starts(l->name, "_Z") || !str_equal(ptx_plain_name(l->arena, name), l->name)))
    return;
  if (l->n == l->capacity) {
    const int capacity = 2 * l->capacity + 256;
    Row *larger = ARENA_ARRAY(l->arena, Row, capacity);
    if (l->n) memcpy(larger, l->rows, sizeof *larger * (size_t)l->n);
    l->rows = larger;
    l->capacity = capacity;
  }
  l->rows[l->n++] = (Row){str_sanitise(l->arena, name), arch_of(l->arena, e), rank_of(e), *e};
}

// Each kernel of a cubin has a constant bank of its own for its parameters; functions have none.
static void add_of_cubin(Library *l, const Unpacked *u, const FatEntry *e) {
  static const char bank[] = ".nv.constant0.";
  const char *name;
  ElfBytes section;
  for (int i = 0; elf_section_at(u->at, u->bytes, i, &name, &section); i++)
    if (str_starts(name, bank)) add_row(l, name + sizeof bank - 1, e);
}

static void add_of_ptx(Library *l, const Unpacked *u, const FatEntry *e) {
  static const char entry[] = ".entry";
  const char *text = arena_strndup(l->arena, (const char *)u->at, u->bytes);
  for (const char *at = strstr(text, entry); at; at = strstr(at, entry)) {
    at += sizeof entry - 1;
    const size_t blank = strspn(at, " \t\n"), n = strcspn(at + blank, " \t\r\n(;");
    if (blank && n) add_row(l, arena_strndup(l->arena, at + blank, n), e);
  }
}

static void refuse(Library *l, const FatEntry *e, const char *why) {
  if (!l->is_listed) return;
  static const char *const kinds[] = {"PTX", "machine code", "LTO IR", "an entry"};
  const char *what = arena_printf(l->arena, "%s of sm_%d", kinds[e->kind], e->sm);
  for (int i = 0; i < l->n_refused; i++)
    if (str_equal(l->refused[i].what, what) && str_equal(l->refused[i].why, why)) {
      l->refused[i].n++;
      return;
    }
  Refused *larger = ARENA_ARRAY(l->arena, Refused, l->n_refused + 1);
  if (l->n_refused) memcpy(larger, l->refused, sizeof *larger * (size_t)l->n_refused);
  l->refused = larger;
  l->refused[l->n_refused++] = (Refused){what, why, 1};
}

// Reads the entries of this rank, or all of them.
static void read_rows(Library *l, int rank) {
  FatFile file = fat_file(l->of->bytes, l->of->n);
  Arena *kept = l->arena;
  for (FatEntry e; fat_next(&file, &e);) {
    if (rank != ANY_RANK && rank_of(&e) != rank) continue;
    if (l->of->arch && !str_equal(arch_of(kept, &e), l->of->arch)) continue;
    Arena *scratch = arena_new("entry");
    const Unpacked u = unpack_entry(scratch, &e);
    if (!u.at)
      refuse(l, &e, u.why);
    else if (e.kind == FAT_PTX)
      add_of_ptx(l, &u, &e);
    else
      add_of_cubin(l, &u, &e);
    arena_free(scratch);
  }
}

static int by_name(const void *a, const void *b) {
  const Row *x = a, *y = b;
  const int order = strcmp(x->name, y->name);
  return order ? order : (x->rank < y->rank) - (x->rank > y->rank);
}

// Rows of a name are one kernel, with each architecture once.
static void group(Library *l) {
  if (l->n) qsort(l->rows, (size_t)l->n, sizeof *l->rows, by_name);
  l->kernels = ARENA_ARRAY(l->arena, LibraryKernel, l->n + 1);
  for (int i = 0, end; i < l->n; i = end) {
    LibraryKernel *k = &l->kernels[l->n_kernels++];
    for (end = i; end < l->n && str_equal(l->rows[end].name, l->rows[i].name);) end++;
    *k = (LibraryKernel){l->rows[i].name, 0, ARENA_ARRAY(l->arena, const char *, end - i)};
    for (int r = i; r < end; r++)
      if (r == i || !str_equal(l->rows[r].arch, l->rows[r - 1].arch))
        k->archs[k->n++] = l->rows[r].arch;
  }
}

// ---- one kernel ---------------------------------------------------------------------------------

static int next_rank(const Library *l, int below) {
  FatFile file = fat_file(l->of->bytes, l->of->n);
  int rank = ANY_RANK;
  for (FatEntry e; fat_next(&file, &e);)
    if ((e.kind == FAT_CUBIN || e.kind == FAT_PTX) && rank_of(&e) < below && rank_of(&e) > rank)
      rank = rank_of(&e);
  return rank;
}

static const Row *not_one(const Library *l, Diags *diags) {
  const char *file = str_sanitise(l->arena, l->of->file);
  if (l->n_kernels == 0) {
    diag_add(diags, "kernel", "%s has no kernel%s%s%s%s; gemmview open %s --list shows all", file,
             l->name ? " " : "", l->name ? str_sanitise(l->arena, l->name) : "",
             l->of->arch ? " of " : "", l->of->arch ? str_sanitise(l->arena, l->of->arch) : "",
             file);
    return NULL;
  }
  Str names = str_new(l->arena);
  for (int i = 0; i < l->n_kernels && i < NAMES_SHOWN; i++)
    str_printf(&names, "%s%s", i ? "; " : "", l->kernels[i].name);
  diag_add(diags, "kernel", "%s has %d kernels%s%s, choose one, FILE:KERNEL: %s%s", file,
           l->n_kernels, l->name ? " of that name" : "", "", names.text,
           l->n_kernels > NAMES_SHOWN ? "; … (--list shows all)" : "");
  return NULL;
}

// Without a name the file must have only one; with one the entries that run best are read first.
static const Row *choose(Library *l, Diags *diags) {
  if (!l->name) read_rows(l, ANY_RANK);
  for (int rank = next_rank(l, INT32_MAX); l->name && rank != ANY_RANK && !l->n;
       rank = next_rank(l, rank))
    read_rows(l, rank);
  group(l);
  return l->n_kernels == 1 ? &l->rows[0] : not_one(l, diags);
}

OpenText open_library_text(Arena *arena, OpenLibrary *library, const char **kernel, Diags *diags) {
  OpenText text = {.status = CLI_USAGE};
  Library l = {.arena = arena,
               .of = library,
               .name = library->kernel && *library->kernel ? library->kernel : *kernel};
  const Row *row = choose(&l, diags);
  if (!row) return text;
  if (row->entry.is_relocatable) {
    diag_add(diags, "machine", "%s is not linked yet: open the program that it becomes", row->name);
    return text;
  }
  const Unpacked u = unpack_entry(arena, &row->entry);
  *kernel = row->name;
  text.bytes = u.bytes;
  text.ptx = arena_strndup(arena, (const char *)u.at, u.bytes);
  return text;
}

// ---- the list -----------------------------------------------------------------------------------

#define FORM_FILE "cli/open/library/open_library.form"
#include "base/form_make.h"

static void print_text(const Library *l) {
  for (int i = 0; i < l->n_kernels; i++) {
    const LibraryKernel *k = &l->kernels[i];
    printf("%s\n ", k->name);
    for (int a = 0; a < k->n; a++) printf(" %s", k->archs[a]);
    printf("\n");
  }
  for (int i = 0; i < l->n_refused; i++)
    printf("%s%d entr%s not read: %s: %s\n", i || !l->n_kernels ? "" : "\n", l->refused[i].n,
           l->refused[i].n == 1 ? "y is" : "ies are", l->refused[i].what, l->refused[i].why);
}

int open_print_library(Arena *arena, OpenLibrary *library, const char *kernel, bool json,
                       Diags *diags) {
  Library l = {.arena = arena,
               .of = library,
               .name = library->kernel && *library->kernel ? library->kernel : kernel,
               .is_listed = true};
  read_rows(&l, ANY_RANK);
  group(&l);
  if (l.n_kernels == 0 && (l.name || l.n_refused == 0)) {
    not_one(&l, diags);
    return cli_fail(diags);
  }
  if (json)
    cli_print_document(arena, &open_library_form, &l, NULL);
  else
    print_text(&l);
  return CLI_OK;
}

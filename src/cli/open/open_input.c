// Files and launches of gemmview open. (What becomes PTX, and how: open_text.c. Arguments: args.)
#include "cli/open/open_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/disk.h"
#include "base/embed.h"
#include "base/str.h"
#include "cli/common/cli.h"

enum { STREAM_BYTES = 1 << 16, FILE_MIB_MAX = 1024, STREAM_MIB_MAX = 256, MIB = 1 << 20 };

// "example:sums.ptx" is one of the files that the program brings along.
bool open_is_example(const char *path) { return str_starts(path, "example:"); }

static char *read_example(Arena *arena, const char *path, size_t *bytes, Diags *diags) {
  const char *name = arena_printf(arena, "examples/%s", path + strlen("example:"));
  const EmbeddedFile *file = embed_find(arena, name);
  if (!file) {
    const EmbeddedList all = embed_list(arena, "examples/");
    Diag *diag = diag_add(diags, "file", "there is no %s", str_sanitise(arena, path));
    for (int i = 0; i < all.count; i++)
      if (strstr(all.paths[i], ".ptx"))
        diag->nearest = arena_printf(arena, "example:%s", all.paths[i] + strlen("examples/"));
    return NULL;
  }
  *bytes = file->size;
  return arena_strndup(arena, file->text, file->size);
}

// All that comes, until its writer has gone; the part beyond a file's limit is left there.
static char *read_stream(Arena *arena, FILE *file, size_t *bytes) {
  size_t room = STREAM_BYTES;
  char *text = malloc(room);
  *bytes = 0;
  for (size_t n; text && (n = fread(text + *bytes, 1, room - *bytes, file)) > 0;) {
    *bytes += n;
    if (*bytes < room || room > (size_t)STREAM_MIB_MAX * MIB) continue;
    char *more = realloc(text, room *= 2);
    if (!more) free(text);
    text = more;
  }
  char *kept = text ? arena_strndup(arena, text, *bytes) : NULL;
  free(text);
  return kept;
}

static char *read_sized(Arena *arena, FILE *file, size_t size, size_t *bytes) {
  char *text = arena_alloc(arena, size + 1);
  *bytes = fread(text, 1, size, file);
  return text;
}

static char *read_whole(Arena *arena, const char *path, bool pipes, size_t *bytes, Diags *diags) {
  const char *why = NULL;
  FILE *file = pipes && open_is_stdin(path) ? stdin : disk_open(path, pipes, &why);
  struct stat status;
  const char *name = str_sanitise(arena, path);
  char *text = NULL;
  const bool is_there = file && fstat(fileno(file), &status) == 0;
  if (!is_there)
    diag_add(diags, "file", "%s cannot be read: %s", name, why ? why : strerror(errno));
  const bool is_sized = is_there && S_ISREG(status.st_mode) && file != stdin;
  const size_t most = (size_t)(is_sized ? FILE_MIB_MAX : STREAM_MIB_MAX) * MIB;
  if (is_there && (size_t)status.st_size <= most)
    text = is_sized ? read_sized(arena, file, (size_t)status.st_size, bytes)
                    : read_stream(arena, file, bytes);
  const bool broken = file && ferror(file) != 0,
             large = is_there && (text ? *bytes : (size_t)status.st_size) > most;
  if (file && file != stdin) fclose(file);
  if (large) diag_add(diags, "file", "%s has more than %d MiB", name, (int)(most / MIB));
  if (broken && !large) diag_add(diags, "file", "%s cannot be read", name);
  return broken || large ? NULL : text;
}

bool open_is_stdin(const char *path) { return str_equal(path, "-"); }

bool open_reads_once(const char *path) {
  struct stat status;
  return open_is_stdin(path) || (stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
}

char *open_read_file(Arena *arena, const char *path, size_t *bytes, Diags *diags) {
  return open_is_example(path) ? read_example(arena, path, bytes, diags)
                               : read_whole(arena, path, false, bytes, diags);
}

char *open_read_given(Arena *arena, const char *path, size_t *bytes, Diags *diags) {
  return open_is_example(path) ? read_example(arena, path, bytes, diags)
                               : read_whole(arena, path, true, bytes, diags);
}

// ---- launch -------------------------------------------------------------------------------------

// "8x7x1": a number that is left out is 1.
static bool read_extents(const char *text, size_t n, int out[3]) {
  const char *end = text + n;
  for (int d = 0; d < 3; d++) {
    char *after = NULL;
    out[d] = 1;
    if (text >= end) continue;
    const long value = *text >= '0' && *text <= '9' ? strtol(text, &after, 10) : -1;
    if (value < 0 || value > INT32_MAX || after > end) return false;
    out[d] = (int)value;
    if (after < end && *after != 'x' && *after != 'X') return false;
    text = after < end ? after + 1 : after;
    if (after < end && text == end) return false;
  }
  return text >= end;
}

bool open_read_launch(const char *text, PtxLaunch *launch, Diags *diags) {
  const int before = diags->count;
  for (int d = 0; d < 3; d++) launch->grid[d] = 1;
  bool has_block = launch->block[0] > 0;
  while (*text) {
    const size_t n = strcspn(text, ",");
    const char *equals = memchr(text, '=', n);
    const size_t key = equals ? (size_t)(equals - text) : n;
    const char *value = equals ? equals + 1 : text + n;
    const size_t length = (size_t)(text + n - value);
    int extents[3];
    const bool ok = equals && length > 0 && read_extents(value, length, extents);
    if (ok && key == 4 && memcmp(text, "grid", 4) == 0) {
      memcpy(launch->grid, extents, sizeof extents);
    } else if (ok && key == 5 && memcmp(text, "block", 5) == 0) {
      memcpy(launch->block, extents, sizeof extents);
      has_block = true;
    } else if (ok && key == 7 && memcmp(text, "cluster", 7) == 0 && extents[0] > 0) {
      memcpy(launch->cluster, extents, sizeof extents);
    } else if (ok && key == 4 && memcmp(text, "smem", 4) == 0 && !memchr(value, 'x', length)) {
      launch->dynamic_smem = extents[0];
    } else if (ok && key == 11 && memcmp(text, "cooperative", 11) == 0 && extents[0] <= 1) {
      launch->cooperative = extents[0] == 1;
    } else {
      Diag *diag = diag_add(diags, "launch",
                            "--launch: \"%.*s\" is not one of grid=X[xY[xZ]], block=X[xY[xZ]], "
                            "smem=BYTES, cluster=X[xY[xZ]], cooperative=1",
                            (int)n, text);
      diag->nearest = "--launch grid=8x8,block=256,smem=0";
    }
    text += n + (text[n] == ',');
  }
  if (!has_block && diags->count == before)
    diag_add(diags, "launch", "--launch: block=X[xY[xZ]] is missing");
  return diags->count == before;
}

bool open_read_blocks(const char *text, const PtxLaunch *launch, OpenBlocks *blocks, Diags *diags) {
  *blocks = (OpenBlocks){0};
  if (text && str_equal(text, "all")) {
    blocks->all = true;
    for (int d = 0; d < 3; d++) blocks->last[d] = launch->grid[d] - 1;
    return true;
  }
  const char *at = text ? text : "0";
  for (int d = 0; d < 3 && *at; d++) {
    char *end = NULL;
    const long value = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : -1;
    if (value < 0 || value >= launch->grid[d] || (*end && *end != ',')) {
      diag_add(diags, "launch",
               "--blocks: \"%s\" is not a block of the grid (%dx%dx%d) and not all",
               text ? text : "0", launch->grid[0], launch->grid[1], launch->grid[2]);
      return false;
    }
    blocks->first[d] = blocks->last[d] = (int)value;
    at = *end ? end + 1 : end;
  }
  if (*at) diag_add(diags, "launch", "--blocks: \"%s\" has more than three numbers", text);
  return *at == '\0';
}

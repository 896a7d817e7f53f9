// Files, compilers and arguments of gemmview open.
//
// nvcc writes its PTX into a folder of its own below the one for temporary files, which is removed:
// nothing appears beside the user's source. Random contents are whole numbers from −4 to 4 (0 to 7
// in integers), so that sums of products stay exact.
#include "cli/open/open_input.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/embed.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "kernels/toolchain/dl.h"
#include "kernels/toolchain/nvrtc.h"
#include "kernels/toolchain/tool.h"
#include "kernels/toolchain/tool_keeper.h"
#include "ptx/module/float_format.h"
#include "ptx/module/signature.h"
#include "ptx/tally/tally.h"

enum { STREAM_BYTES = 1 << 16, FILE_BYTES_MAX = 256 << 20, COMPILE_SECONDS = 120 };

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

// All that comes, until its writer has gone; what is more than a file may have is left there.
static char *read_stream(Arena *arena, FILE *file, size_t *bytes) {
  size_t room = STREAM_BYTES;
  char *text = malloc(room);
  *bytes = 0;
  for (size_t n; text && (n = fread(text + *bytes, 1, room - *bytes, file)) > 0;) {
    *bytes += n;
    if (*bytes < room || room > FILE_BYTES_MAX) continue;
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
  if (!file || fstat(fileno(file), &status) != 0)
    diag_add(diags, "file", "%s cannot be read: %s", name, why ? why : strerror(errno));
  else if (status.st_size <= FILE_BYTES_MAX)
    text = S_ISREG(status.st_mode) && file != stdin
               ? read_sized(arena, file, (size_t)status.st_size, bytes)
               : read_stream(arena, file, bytes);
  const bool broken = file && ferror(file) != 0,
             large = file && (text ? *bytes : (size_t)status.st_size) > FILE_BYTES_MAX;
  if (file && file != stdin) fclose(file);
  if (large) diag_add(diags, "file", "%s has more than 256 MiB", name);
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

// ---- compilers ----------------------------------------------------------------------------------

const char *open_find_tool(Arena *arena, const char *name) {
  const char *path = getenv("PATH");
  while (path && *path) {
    const size_t length = strcspn(path, ":");
    char *file = arena_printf(arena, "%.*s/%s", (int)length, path, name);
    if (length > 0 && path[0] == '/' && access(file, X_OK) == 0) return file;
    path += length + (path[length] == ':');
  }
  return dl_find_tool(arena, name);
}

// The architecture that a text asks for by itself: tensor memory is there from sm_100a on.
static const char *arch_for(const char *text) { return strstr(text, "tcgen05.") ? "100a" : "90a"; }

bool open_names_arch(int n_flags, char **flags) {
  for (int i = 0; i < n_flags; i++)
    if (str_starts(flags[i], "-arch") || str_starts(flags[i], "--gpu-architecture") ||
        str_starts(flags[i], "-gencode") || str_starts(flags[i], "--generate-code"))
      return true;
  return false;
}

static bool lists_files(int n_flags, char **flags) {
  for (int i = 0; i < n_flags; i++)
    if (str_starts(flags[i], "-M") || str_starts(flags[i], "--generate-") ||
        str_starts(flags[i], "--dependency-"))
      return true;
  return false;
}

// Whether a file is one of the toolkit that nvcc is of, which it does not take for a system header.
static bool is_of_toolkit(const char *nvcc, const char *file) {
  char tool[PATH_MAX], whole[PATH_MAX];
  if (file[0] != '/' || !realpath(nvcc, tool) || !realpath(file, whole)) return false;
  for (int cut = 0; cut < 2 && *tool; cut++) *strrchr(tool, '/') = '\0';  // "/bin", "/nvcc"
  const size_t n = strlen(tool);
  return n > 0 && strncmp(whole, tool, n) == 0 && whole[n] == '/';
}

// "kernel.ptx : k.cu \\\n tile.h": what stands behind the colon, blanks in names escaped.
static void read_rule(Arena *arena, const char *nvcc, const char *rule, OpenText *text) {
  const char *at = rule ? strstr(rule, " :") : NULL;
  const char **files = ARENA_ARRAY(arena, const char *, rule ? strlen(rule) / 2 + 2 : 1);
  int n = 0;
  for (at = at ? at + 2 : ""; *at;) {
    Str name = str_new(arena);
    at += strspn(at, " \t\r\n");
    for (; *at && !strchr(" \t\r\n", *at); at++) {
      if (*at == '\\' && at[1]) at++;
      if (*at != '\n') str_add_char(&name, *at);
    }
    if (name.length && !is_of_toolkit(nvcc, name.text)) files[n++] = name.text;
  }
  text->files = files;
  text->n_files = n;
}

const char *open_arch_of(Arena *arena, const char *path) {
  Diags ignored = diags_new(arena);
  size_t bytes = 0;
  const char *text = open_read_file(arena, path, &bytes, &ignored);
  return text ? arch_for(text) : arch_for("");
}

// As many words as the user has written: none is left out.
static const char *const *nvcc_words(Arena *arena, const char *const first[5], const char *path,
                                     const char *rule, int n_flags, char **flags) {
  enum { OURS_MAX = 10 };
  const char **argv = ARENA_ARRAY(arena, const char *, OURS_MAX + n_flags + 1);
  int n = 0;
  for (; n < 5; n++) argv[n] = first[n];
  argv[n++] = path;
  if (!open_names_arch(n_flags, flags))
    argv[n++] = arena_printf(arena, "-arch=sm_%s", open_arch_of(arena, path));
  if (!lists_files(n_flags, flags)) {
    argv[n++] = "-MMD";
    argv[n++] = "-MF";
    argv[n++] = rule;
  }
  for (int i = 0; i < n_flags; i++) argv[n++] = flags[i];
  argv[n] = NULL;
  return argv;
}

static OpenText compile_by_nvcc(Arena *arena, const char *nvcc, const char *path, int n_flags,
                                char **flags, Diags *diags) {
  OpenText text = {.compiler = "nvcc", .status = CLI_COMPILE};
  const char *folder = tool_folder(arena);
  if (!folder) {
    diag_add(diags, "file", "no folder for nvcc's output can be made: %s", strerror(errno));
    return text;
  }
  const char *output = arena_printf(arena, "%s/kernel.ptx", folder);
  const char *rule = arena_printf(arena, "%s/kernel.d", folder);
  const char *const *argv =
      nvcc_words(arena, (const char *const[]){nvcc, "-ptx", "-lineinfo", "-o", output}, path, rule,
                 n_flags, flags);
  const ToolResult result = tool_run(arena, argv, "", 0, folder, COMPILE_SECONDS);
  if (result.ok)
    text.ptx = open_read_file(arena, output, &text.bytes, diags);
  else
    diag_add(diags, "compile", "nvcc: %s",
             !result.limited && *result.output
                 ? arena_printf(arena, "it did not compile\n%s", str_sanitise(arena, result.output))
                 : result.error);
  size_t bytes = 0;
  Diags ignored = diags_new(arena);
  read_rule(arena, nvcc, open_read_file(arena, rule, &bytes, &ignored), &text);
  tool_folder_remove(folder);
  return text;
}

// The file's own name goes into the lines.
static const char *ptx_by_nvrtc(Arena *arena, const char *cuda, const char *name,
                                const char **log) {
  const char *options[] = {arena_printf(arena, "--gpu-architecture=compute_%s", arch_for(cuda)),
                           "--std=c++17", "--generate-line-info"};
  const NvrtcApi *api = dl_nvrtc(log);
  void *program = NULL;
  size_t bytes = 0;
  if (!api || api->nvrtcCreateProgram(&program, cuda, name, 0, NULL, NULL) != NVRTC_SUCCESS)
    return NULL;
  char *ptx = NULL;
  if (api->nvrtcCompileProgram(program, 3, options) == NVRTC_SUCCESS &&
      api->nvrtcGetPTXSize(program, &bytes) == NVRTC_SUCCESS) {
    ptx = arena_alloc(arena, bytes + 1);
    if (api->nvrtcGetPTX(program, ptx) != NVRTC_SUCCESS) ptx = NULL;
  } else if (api->nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS) {
    char *said = arena_alloc(arena, bytes + 1);
    if (api->nvrtcGetProgramLog(program, said) == NVRTC_SUCCESS) *log = str_sanitise(arena, said);
  }
  api->nvrtcDestroyProgram(&program);
  return ptx;
}

static OpenText compile_by_nvrtc(Arena *arena, const char *path, Diags *diags) {
  OpenText text = {.compiler = "NVRTC", .status = CLI_COMPILE};
  size_t bytes = 0;
  const char *cuda = open_read_file(arena, path, &bytes, diags);
  if (!cuda) {
    text.status = CLI_USAGE;
    return text;
  }
  bool found = false;
  const char *why = nvrtc_describe(arena, &found);
  int line = 0;
  if (!found || nvrtc_reads_files(cuda, &line)) {
    text.status = CLI_MISSING;
    diag_add(
        diags, "compile",
        "%s: there is no nvcc here; %s; a text without #include, or PTX (nvcc -ptx -lineinfo), "
        "can be read",
        str_sanitise(arena, path), found ? "NVRTC takes kernels alone" : why);
    return text;
  }
  const char *log = "";
  text.ptx = ptx_by_nvrtc(arena, cuda, ptx_base_name(path), &log);
  text.bytes = text.ptx ? strlen(text.ptx) : 0;
  if (!text.ptx) diag_add(diags, "compile", "NVRTC: it did not compile\n%s", log);
  return text;
}

const char *open_find_nvcc(Arena *arena) {
  const char *named = getenv("GEMMVIEW_NVCC");
  if (named) return access(named, X_OK) == 0 ? named : NULL;
  return open_find_tool(arena, "nvcc");
}

char **open_split_words(Arena *arena, const char *text, int *n) {
  char **words = ARENA_ARRAY(arena, char *, strlen(text) / 2 + 2);
  *n = 0;
  for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
    const size_t length = strcspn(text, " \t\n");
    words[(*n)++] = arena_strndup(arena, text, length);
    text += length;
  }
  return words;
}

// The launch of a capsule, and the text of its kernel.
static void take_capsule(Arena *arena, const char *path, OpenText *text, Diags *diags) {
  const char *bytes = text->ptx;
  text->ptx = NULL;
  text->capsule = capsule_read(arena, bytes, text->bytes, str_line(arena, path), diags);
  if (!text->capsule) return;
  const Capsule *c = text->capsule;
  text->ptx = (const char *)c->ptx.at;
  text->bytes = c->ptx.n;
  if (text->ptx) {
    text->ptx = arena_strndup(arena, text->ptx, text->bytes);
    return;
  }
  text->status = CLI_MISSING;
  diag_add(diags, "capsule",
           "%s is of %s, grid %dx%dx%d, block %dx%dx%d, %llu bytes of dynamic shared memory: there "
           "is machine code alone of it, and PTX is what runs here",
           str_line(arena, path), str_line(arena, c->kernel), c->grid[0], c->grid[1], c->grid[2],
           c->block[0], c->block[1], c->block[2], (unsigned long long)c->smem);
}

OpenText open_read_text(Arena *arena, const char *path, int n_flags, char **flags, Diags *diags) {
  const char *dot = strrchr(path, '.');
  const bool is_cuda = dot && (str_equal(dot, ".cu") || str_equal(dot, ".cuh"));
  if (!is_cuda) {
    OpenText text = {.status = CLI_USAGE};
    text.ptx = open_read_given(arena, path, &text.bytes, diags);
    if (text.ptx && capsule_is(text.ptx, text.bytes)) take_capsule(arena, path, &text, diags);
    return text;
  }
  if (access(path, R_OK) != 0) {
    diag_add(diags, "file", "%s cannot be read: %s", str_sanitise(arena, path), strerror(errno));
    return (OpenText){.status = CLI_USAGE};
  }
  const char *nvcc = open_find_nvcc(arena);
  return nvcc ? compile_by_nvcc(arena, nvcc, path, n_flags, flags, diags)
              : compile_by_nvrtc(arena, path, diags);
}

// ---- launch -------------------------------------------------------------------------------------

// "8x7x1": what is left out is 1.
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
  bool has_block = false;
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
    } else {
      Diag *diag = diag_add(diags, "launch",
                            "--launch: \"%.*s\" is none of grid=X[xY[xZ]], "
                            "block=X[xY[xZ]], smem=BYTES, cluster=X[xY[xZ]]",
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
               "--blocks: \"%s\" is neither a block of the grid (%dx%dx%d) nor all", text,
               launch->grid[0], launch->grid[1], launch->grid[2]);
      return false;
    }
    blocks->first[d] = blocks->last[d] = (int)value;
    at = *end ? end + 1 : end;
  }
  if (*at) diag_add(diags, "launch", "--blocks: \"%s\" has more than three numbers", text);
  return *at == '\0';
}

// ---- arguments ----------------------------------------------------------------------------------

typedef struct ArgGiver {
  Arena *arena;
  PtxMachine *machine;
  const PtxFunction *kernel;
  int index;
  const PtxParamType *type;
  Diags *diags;
  uint64_t seed;
  OpenBuffer *buffers;  // by parameter
} ArgGiver;

static void say(const ArgGiver *g, const char *arg, const char *expected) {
  diag_add(g->diags, "arg", "argument %d (%s): \"%s\": %s", g->index + 1, g->type->text,
           str_sanitise(g->arena, arg), expected);
}

// The contents of a buffer of random numbers, page by page.
typedef struct RandomFill {
  uint64_t seed;  // of its first element
  PtxElement element;
  int size;
} RandomFill;

#define RANDOM_MULTIPLIER UINT64_C(6364136223846793005)
#define RANDOM_ADDEND UINT64_C(1442695040888963407)

// The seed n numbers later: the step is applied to itself for each bit of n.
static uint64_t seed_after(uint64_t seed, int64_t n) {
  uint64_t multiplier = RANDOM_MULTIPLIER, addend = RANDOM_ADDEND;
  for (; n > 0; n >>= 1) {
    if (n & 1) seed = seed * multiplier + addend;
    addend *= multiplier + 1;
    multiplier *= multiplier;
  }
  return seed;
}

static void fill_random(void *self, unsigned char *bytes, int64_t from, int64_t n) {
  const RandomFill *fill = self;
  const int size = fill->size;
  uint64_t seed = seed_after(fill->seed, from / size);
  for (int64_t at = 0; at + size <= n; at += size) {
    seed = seed * RANDOM_MULTIPLIER + RANDOM_ADDEND;
    const uint64_t whole = seed >> 61;
    const float single = (float)whole - 4;
    const double twice = (double)single;
    const uint16_t half = ptx_f16_of(single);
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    const uint16_t brain = (uint16_t)(bits >> 16);
    const PtxElement element = fill->element;
    const void *number = element == PTX_ELEMENT_F64    ? (const void *)&twice
                         : element == PTX_ELEMENT_F16  ? (const void *)&half
                         : element == PTX_ELEMENT_BF16 ? (const void *)&brain
                         : element == PTX_ELEMENT_INT  ? (const void *)&whole
                                                       : (const void *)&single;
    memcpy(bytes + at, number, (size_t)size);
  }
}

static uint64_t give_buffer(const ArgGiver *g, int64_t bytes, const void *contents,
                            PtxContent content) {
  const char *name = arena_printf(g->arena, "argument %d", g->index + 1);
  const uint64_t address = ptx_machine_buffer(g->machine, name, bytes, contents, content);
  g->buffers[g->index] = (OpenBuffer){address, bytes};
  return address;
}

// Numbers as they would come one after the other, argument after argument.
static uint64_t give_random(ArgGiver *g, int64_t bytes) {
  RandomFill *fill = ARENA_NEW(g->arena, RandomFill);
  const bool known = g->type->element != PTX_ELEMENT_UNKNOWN && g->type->bytes > 0;
  *fill = (RandomFill){g->seed, g->type->element, known ? g->type->bytes : 4};
  g->seed = seed_after(g->seed, bytes / fill->size);
  const char *name = arena_printf(g->arena, "argument %d", g->index + 1);
  const uint64_t address = ptx_machine_filled(g->machine, name, bytes, fill_random, fill);
  g->buffers[g->index] = (OpenBuffer){address, bytes};
  return address;
}

static void set_pointer(const ArgGiver *g, uint64_t address) {
  ptx_machine_param(g->machine, g->index, &address, sizeof address);
}

static bool takes_pointer(const ArgGiver *g, const char *arg) {
  if (g->kernel->params[g->index].bytes == 8) return true;
  say(g, arg, "a pointer, where the parameter is no 64-bit number");
  return false;
}

// mem:BYTES[:zero|random|unwritten]
static void give_memory(ArgGiver *g, const char *arg) {
  char *end = NULL;
  const long long bytes = strtoll(arg + 4, &end, 10);
  const char *how = *end == ':' ? end + 1 : "random";
  if (end == arg + 4 || (*end && *end != ':') || bytes < 1 || bytes > (1ll << 31)) {
    say(g, arg, "mem:BYTES[:zero|random|unwritten] is expected, with 1 to 2^31 bytes");
    return;
  }
  const bool random = str_equal(how, "random"), unwritten = str_equal(how, "unwritten");
  if (!random && !unwritten && !str_equal(how, "zero")) {
    say(g, arg, "zero, random or unwritten is expected behind the bytes");
    return;
  }
  if (!takes_pointer(g, arg)) return;
  set_pointer(g, random ? give_random(g, bytes)
                        : give_buffer(g, bytes, NULL,
                                      unwritten ? PTX_CONTENT_UNWRITTEN : PTX_CONTENT_ZERO));
}

static void give_file(ArgGiver *g, const char *arg) {
  size_t bytes = 0;
  const char *contents = open_read_given(g->arena, arg + 5, &bytes, g->diags);
  if (contents && bytes == 0) say(g, arg, "the file is empty");
  if (contents && bytes > 0 && takes_pointer(g, arg))
    set_pointer(g, give_buffer(g, (int64_t)bytes, contents, PTX_CONTENT_GIVEN));
}

static const PtxParamType *element_type(const ArgGiver *g, const TmaBox *box) {
  static const struct {
    const char *name;
    PtxElement element;
  } elements[] = {{"f16", PTX_ELEMENT_F16},
                  {"bf16", PTX_ELEMENT_BF16},
                  {"f64", PTX_ELEMENT_F64},
                  {"f32", PTX_ELEMENT_UNKNOWN},
                  {"tf32", PTX_ELEMENT_UNKNOWN}};
  PtxParamType *type = ARENA_NEW(g->arena, PtxParamType);
  *type =
      (PtxParamType){.text = g->type->text, .element = PTX_ELEMENT_INT, .bytes = box->elem_bytes};
  for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
    if (str_equal(box->type, elements[i].name)) type->element = elements[i].element;
  return type;
}

// tma:shape=512x256,box=64x64,swizzle=128B,type=f16: a tensor of its own, random, and its map.
static void give_tensor(ArgGiver *g, const char *arg) {
  TmaBox box;
  if (g->kernel->params[g->index].bytes != 128) {
    say(g, arg, "a tensor map, where the parameter has not 128 bytes");
    return;
  }
  if (!tma_box_parse(g->arena, arg + 4, &box, g->diags) || !tma_box_check(&box, g->diags)) return;
  if (box.shape[0] == 0) {
    say(g, arg, "shape=… is missing: it says how large the tensor is");
    return;
  }
  const int last = box.rank - 1;
  const int64_t bytes = last ? box.shape[last] * box.stride[last] : box.shape[0] * box.elem_bytes;
  if (bytes > (1ll << 31)) {
    say(g, arg, "a tensor of at most 2^31 bytes is expected");
    return;
  }
  unsigned char map[128];
  g->type = element_type(g, &box);
  const uint64_t address = give_random(g, bytes);
  if (ptx_machine_tensor(g->machine, &box, address, map, g->diags))
    ptx_machine_param(g->machine, g->index, map, sizeof map);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char letter = (char)(c | 32);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

static void give_bytes(const ArgGiver *g, const char *arg) {
  const char *hex = arg + 6;
  const size_t n = strlen(hex);
  const int64_t wanted = g->kernel->params[g->index].bytes;
  unsigned char *bytes = arena_alloc(g->arena, n / 2 + 1);
  bool ok = n % 2 == 0 && (int64_t)(n / 2) == wanted;
  for (size_t i = 0; ok && i < n; i += 2) {
    const int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
    ok = high >= 0 && low >= 0;
    bytes[i / 2] = (unsigned char)(high << 4 | (low & 15));
  }
  if (ok)
    ptx_machine_param(g->machine, g->index, bytes, wanted);
  else
    say(g, arg,
        arena_printf(g->arena, "bytes:HEX with two digits for each of %lld bytes",
                     (long long)wanted));
}

// A number in the parameter's own type.
static void give_number(const ArgGiver *g, const char *arg) {
  const PtxParam *param = &g->kernel->params[g->index];
  const PtxTypeRow *row = &ptx_types[param->type];
  char *end = NULL;
  errno = 0;
  if (row->bits != param->bytes * 8 || row->bits > 64) {
    say(g, arg,
        arena_printf(g->arena, "the parameter has %lld bytes: bytes:HEX is expected",
                     (long long)param->bytes));
  } else if (row->class == 'F') {
    const double twice = strtod(arg, &end);
    const float single = (float)twice;
    if (end == arg || *end)
      say(g, arg, "a number is expected");
    else
      ptx_machine_param(g->machine, g->index, row->bits == 64 ? (const void *)&twice : &single,
                        param->bytes);
  } else {
    const bool negative = arg[0] == '-';
    const uint64_t value =
        negative ? (uint64_t)strtoll(arg, &end, 0) : (uint64_t)strtoull(arg, &end, 0);
    const uint64_t most = row->bits == 64 ? UINT64_MAX : (UINT64_C(1) << row->bits) - 1;
    const bool fits = negative ? 0 - value <= most / 2 + 1 : value <= most;
    if (end == arg || *end || errno || !fits)
      say(g, arg,
          arena_printf(g->arena,
                       "a whole number of %d bits is expected, or mem:BYTES, "
                       "file:PATH, bytes:HEX",
                       row->bits));
    else
      ptx_machine_param(g->machine, g->index, &value, param->bytes);
  }
}

const OpenBuffer *open_give_args(Arena *arena, PtxMachine *machine, const PtxFunction *kernel,
                                 int n, const char *const *args, Diags *diags) {
  const int before = diags->count;
  if (n != kernel->n_params) {
    diag_add(diags, "arg", "%s takes %d argument%s, %d %s given", ptx_signature_text(arena, kernel),
             kernel->n_params, plural_s(kernel->n_params), n, n == 1 ? "is" : "are");
    return NULL;
  }
  ArgGiver giver = {.arena = arena,
                    .machine = machine,
                    .kernel = kernel,
                    .diags = diags,
                    .seed = 1,
                    .buffers = ARENA_ARRAY(arena, OpenBuffer, n + 1)};
  const PtxParamType *types = ptx_signature(arena, kernel);
  for (int i = 0; i < n; i++) {
    giver.index = i;
    giver.type = &types[i];
    if (str_starts(args[i], "mem:"))
      give_memory(&giver, args[i]);
    else if (str_starts(args[i], "file:"))
      give_file(&giver, args[i]);
    else if (str_starts(args[i], "tma:"))
      give_tensor(&giver, args[i]);
    else if (str_starts(args[i], "bytes:"))
      give_bytes(&giver, args[i]);
    else
      give_number(&giver, args[i]);
  }
  return diags->count == before ? giver.buffers : NULL;
}

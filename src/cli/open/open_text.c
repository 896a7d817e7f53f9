// A file → PTX: as it is, out of a capsule, or by a compiler.
//
// nvcc writes its PTX into a folder of its own below the one for temporary files, which is removed:
// nothing appears beside the user's source.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/open/open_cubin.h"
#include "cli/open/open_input.h"
#include "kernels/toolchain/dl.h"
#include "kernels/toolchain/nvrtc.h"
#include "kernels/toolchain/tool.h"
#include "kernels/toolchain/tool_keeper.h"
#include "ptx/tally/tally.h"

enum { COMPILE_SECONDS = 120 };

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

// nvcc knows CUDA by ".cu" alone.
static bool ends_as_header(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && str_equal(dot, ".cuh");
}

// All the words that the user has written: none is left out.
static const char *const *nvcc_words(Arena *arena, const char *const first[5], const char *path,
                                     const char *rule, int n_flags, char **flags) {
  enum { OURS_MAX = 12 };
  const char **argv = ARENA_ARRAY(arena, const char *, OURS_MAX + n_flags + 1);
  int n = 0;
  for (; n < 5; n++) argv[n] = first[n];
  if (ends_as_header(path)) {
    argv[n++] = "-x";
    argv[n++] = "cu";
  }
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

// Words that nvcc, or a header, says where a flag is missing.
static const struct {
  const char *says, *flag;
} HINTS[] = {{"--expt-relaxed-constexpr", "--expt-relaxed-constexpr"},
             {"--extended-lambda", "--extended-lambda"},
             {"__nv_hdl_wrapper", "--extended-lambda"},
             {"C++20", "-std=c++20"},
             {"C++17", "-std=c++17"},
             {"c++17", "-std=c++17"},
             {"unsupported GNU version", "-allow-unsupported-compiler"}};

// The flag that would help, as one types it; "": none is known.
static const char *hint_of(Arena *arena, const char *output) {
  static const char missing[] = "cannot open source file \"";
  const char *header = strstr(output, missing);
  if (header) {
    header += strlen(missing);
    return arena_printf(arena, "\ngive the folder that has %.*s: -- -I FOLDER",
                        (int)strcspn(header, "\"\n"), header);
  }
  for (size_t i = 0; i < sizeof HINTS / sizeof *HINTS; i++)
    if (strstr(output, HINTS[i].says))
      return arena_printf(arena, "\ntry this flag of nvcc: -- %s", HINTS[i].flag);
  return "";
}

static OpenText compile_by_nvcc(Arena *arena, const char *nvcc, const char *path, int n_flags,
                                char **flags, Diags *diags) {
  OpenText text = {.compiler = "nvcc", .status = CLI_COMPILE};
  const char *folder = tool_folder(arena);
  if (!folder) {
    diag_add(diags, "file", "cannot make a folder for the output of nvcc: %s", strerror(errno));
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
                 ? arena_printf(arena,
                                "it does not compile\n"
                                "%s%s",
                                str_sanitise(arena, result.output),
                                hint_of(arena, str_sanitise(arena, result.output)))
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
        "%s: nvcc was not found; %s; without it, give a text without #include, or PTX (nvcc -ptx "
        "-lineinfo)",
        str_sanitise(arena, path), found ? "NVRTC compiles only kernels" : why);
    return text;
  }
  const char *log = "";
  text.ptx = ptx_by_nvrtc(arena, cuda, ptx_base_name(path), &log);
  text.bytes = text.ptx ? strlen(text.ptx) : 0;
  if (!text.ptx) diag_add(diags, "compile", "NVRTC: it does not compile\n%s", log);
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

// The launch of a capsule, and the text of its kernel; where it has no PTX, its machine code.
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
  if (c->cubin.at && open_is_cubin(c->cubin.at, c->cubin.n)) {
    text->ptx = (const char *)c->cubin.at;
    text->bytes = c->cubin.n;
    return;
  }
  text->status = CLI_MISSING;
  diag_add(diags, "capsule",
           "%s is a launch of %s, grid %dx%dx%d, block %dx%dx%d, %llu bytes of dynamic shared "
           "memory: it has neither PTX nor a cubin of its kernel",
           str_line(arena, path), str_line(arena, c->kernel), c->grid[0], c->grid[1], c->grid[2],
           c->block[0], c->block[1], c->block[2], (unsigned long long)c->smem);
}

OpenText open_read_text(Arena *arena, const char *path, int n_flags, char **flags, Diags *diags) {
  const char *dot = strrchr(path, '.');
  const bool is_cuda = dot && (str_equal(dot, ".cu") || str_equal(dot, ".cuh"));
  const bool by_name = dot && str_equal(dot, ".capsule");
  if (!is_cuda) {
    OpenText text = {.status = CLI_USAGE};
    text.ptx = open_read_given(arena, path, &text.bytes, diags);
    if (text.ptx && (by_name || capsule_is(text.ptx, text.bytes)))
      take_capsule(arena, path, &text, diags);
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

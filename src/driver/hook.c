// A program that nvcc made has NVIDIA's runtime inside or beside it. That runtime works with
// NVIDIA's driver alone, so without a GPU it is not run at all: the functions of runtime.c take its
// place, by a jump at the beginning of each of its functions. They are found by their names, in the
// symbols of the program and of every library, those that are loaded later included, for Python has
// none of them when it begins. A program without its symbols (strip) is told so. cuBLAS is a
// runtime of its own: programs that make a handle early get one, and their own kernels run.
#include "driver/stand_in.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "driver/driver_launch.h"
#include "driver/runtime.h"

typedef struct Answer {
  const char *name;
  void *function;
} Answer;
static const Answer answers[] = {
#define RUNTIME(name, type, parameters) {#name, (void *)rt_##name},
#define RUNTIME_AS(name, same) {#name, (void *)rt_##same},
#include "driver/runtime.def"
#undef RUNTIME
#undef RUNTIME_AS
};

#define NAME(function) #function,
static const char *const names[] = {
#include "driver/runtime_name.def"
};
#undef NAME
enum { N_NAMES = sizeof names / sizeof names[0], JUMP_BYTES = 16 };

// ---- refusals -----------------------------------------------------------------------------------

// One for each name: it loads the name's number and goes to the one that refuses them all.
__attribute__((visibility("hidden"))) extern const char driver_runtime_refusals[];
__attribute__((visibility("hidden"))) int driver_refuse_runtime(int which);
enum { REFUSAL_BYTES = 16 };
#if defined __x86_64__
#define NAME(function) \
  ".balign 16\nmovl $gv_name,%edi\njmp driver_refuse_runtime\n.set gv_name,gv_name+1\n"
#else
#define NAME(function) \
  ".balign 16\nmov w0,#gv_name\nb driver_refuse_runtime\n.set gv_name,gv_name+1\n"
#endif
__asm__(
    ".text\n.balign 16\n.hidden driver_runtime_refusals\n.globl driver_runtime_refusals\n"
    "driver_runtime_refusals:\n.set gv_name,0\n"
#include "driver/runtime_name.def"
);
#undef NAME

int driver_refuse_runtime(int which) {
  static bool said[N_NAMES];
  if (!said[which])
    driver_say("%s does not work without a GPU: cudaErrorNotSupported", names[which]);
  said[which] = true;
  return rt_result(DRIVER_NOT_SUPPORTED);
}

static int refuse_cublas(void) {
  enum { NOT_SUPPORTED = 15 };
  static bool said;
  if (!said)
    driver_say(
        "cuBLAS computes nothing without a GPU: its functions return CUBLAS_STATUS_NOT_SUPPORTED");
  said = true;
  return NOT_SUPPORTED;
}

// Calls that need no handle stay cuBLAS's own.
static void *answer_of_cublas(const char *name) {
  static const char *const own[] = {"Status", "Version", "Property", "Logger"};
  if (!str_starts(name, "cublas")) return NULL;
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
    if (strstr(name, own[i])) return NULL;
  return (void *)refuse_cublas;
}

static void *answer_of(const char *name) {
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
    if (str_equal(answers[i].name, name)) return answers[i].function;
  for (int i = 0; i < N_NAMES; i++)
    if (str_equal(names[i], name))
      return (void *)(uintptr_t)(driver_runtime_refusals + i * REFUSAL_BYTES);
  return answer_of_cublas(name);
}

// ---- jumps --------------------------------------------------------------------------------------

static void put_jump(unsigned char *at, const void *to) {
#if defined __x86_64__
  static const unsigned char jump[6] = {0xff, 0x25};  // jmp *0(%rip)
  memcpy(at, jump, sizeof jump);
  memcpy(at + sizeof jump, &to, sizeof to);
#else
  static const uint32_t jump[2] = {0x58000050, 0xd61f0200};  // ldr x16, 8; br x16
  memcpy(at, jump, sizeof jump);
  memcpy(at + sizeof jump, &to, sizeof to);
#endif
  __builtin___clear_cache((char *)at, (char *)at + JUMP_BYTES);
}

static bool make_writable(unsigned char *at, bool writable) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)at & ~(page - 1),
                  to = ((uintptr_t)at + JUMP_BYTES + page - 1) & ~(page - 1);
  return mprotect((void *)from, to - from, PROT_READ | PROT_EXEC | (writable ? PROT_WRITE : 0)) ==
         0;
}

static bool hook(unsigned char *at, const void *to) {
  if (!make_writable(at, true)) return false;
  put_jump(at, to);
  return make_writable(at, false);
}

// ---- symbols ------------------------------------------------------------------------------------

typedef struct File {
  const unsigned char *bytes;
  size_t n;
} File;

static File map_file(const char *path) {
  File file = {0};
  struct stat status;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > (off_t)sizeof(Elf64_Ehdr)) {
    void *at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at != MAP_FAILED) file = (File){at, (size_t)status.st_size};
  }
  if (fd >= 0) close(fd);
  return file;
}

static const void *part(const File *file, uint64_t offset, uint64_t n) {
  return offset <= file->n && n <= file->n - offset ? file->bytes + offset : NULL;
}

// The code that nvcc lets run in front of main(), or when a library is opened: it registers the
// kernels. A library that is opened later has done so with the runtime that stood there before.
typedef struct Registers {
  void (*function[256])(void);
  int n;
} Registers;

static bool is_hooked(const char *name) {
  return str_starts(name, "cuda") || str_starts(name, "__cuda") || str_starts(name, "cublas");
}

static void note_registering(Registers *registers, const char *name, uintptr_t at) {
  const int most = (int)(sizeof registers->function / sizeof registers->function[0]);
  if (strstr(name, "__sti____cudaRegisterAll") && registers->n < most)
    registers->function[registers->n++] = (void (*)(void))at;
}

static int hook_symbols(Registers *registers, const File *file, uintptr_t base,
                        const Elf64_Shdr *symbols, const Elf64_Shdr *strings) {
  const Elf64_Sym *symbol = part(file, symbols->sh_offset, symbols->sh_size);
  const char *text = part(file, strings->sh_offset, strings->sh_size);
  int n = 0;
  if (!symbol || !text || strings->sh_size == 0 || text[strings->sh_size - 1]) return 0;
  for (size_t i = 0; i < symbols->sh_size / sizeof *symbol; i++) {
    if (ELF64_ST_TYPE(symbol[i].st_info) != STT_FUNC || symbol[i].st_shndx == SHN_UNDEF ||
        symbol[i].st_name >= strings->sh_size)
      continue;
    const char *name = text + symbol[i].st_name;
    note_registering(registers, name, base + symbol[i].st_value);
    const void *to = is_hooked(name) ? answer_of(name) : NULL;
    if (to && hook((unsigned char *)(base + symbol[i].st_value), to)) n++;
  }
  return n;
}

// The whole table of symbols, else those that the file exports.
static int hook_file(Registers *registers, const char *path, uintptr_t base) {
  const File file = map_file(path);
  const Elf64_Ehdr *header = part(&file, 0, sizeof *header);
  int n = 0;
  if (header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
      header->e_shentsize == sizeof(Elf64_Shdr)) {
    const Elf64_Shdr *sections =
        part(&file, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections);
    static const uint32_t kinds[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (int k = 0; k < 2 && n == 0 && sections; k++)
      for (int i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type == kinds[k] && sections[i].sh_link < header->e_shnum)
          n += hook_symbols(registers, &file, base, &sections[i], &sections[sections[i].sh_link]);
  }
  if (file.bytes) munmap((void *)(uintptr_t)file.bytes, file.n);
  return n;
}

// Places that were looked at, so that nothing is hooked twice: the new code would be taken for the
// old.
static bool is_new(uintptr_t base) {
  enum { MOST = 4096 };
  static uintptr_t known[MOST];
  static int n_known;
  for (int i = 0; i < n_known; i++)
    if (known[i] == base) return false;
  if (n_known == MOST) return false;
  known[n_known++] = base;
  return true;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *registers) {
  (void)size;
  if (!is_new(info->dlpi_addr)) return 0;
  hook_file(registers, info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe", info->dlpi_addr);
  return 0;
}

static void hook_new(bool again) {
  Registers registers = {.n = 0};
  dl_iterate_phdr(look_at, &registers);
  for (int i = 0; again && i < registers.n; i++) registers.function[i]();
}

void hook_program(void) { hook_new(false); }

// A library that is loaded later. Without a hook the real function sees its true caller, for a
// library is looked for by the rules of its caller.
__attribute__((visibility("default"))) void *dlopen(const char *path, int mode) {
  typedef void *Open(const char *, int);
  static Open *next;
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
  if (!next || driver_settings()->real) return next ? next(path, mode) : NULL;
  void *library = next(path, mode);
  if (library && !(mode & RTLD_NOLOAD)) hook_new(true);
  return library;
}

void hook_missed(void) {
  SeenTable *seen = driver_seen();
  if (seen) seen->missed = 1;
}

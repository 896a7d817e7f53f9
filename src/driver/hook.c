// A program that nvcc made has NVIDIA's runtime inside or beside it. That runtime works with
// NVIDIA's driver alone, so without a GPU it is not run at all: the functions of runtime.c take its
// place, by a jump at the beginning of each of its functions. They are found by their names, in the
// symbols of the program and of a libcudart.so that it is linked with. A program without its
// symbols (strip) is told so.
#include "driver/hook.h"

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
    driver_say("%s is not answered without a GPU: cudaErrorNotSupported", names[which]);
  said[which] = true;
  return rt_result(DRIVER_NOT_SUPPORTED);
}

static void *answer_of(const char *name) {
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
    if (str_equal(answers[i].name, name)) return answers[i].function;
  for (int i = 0; i < N_NAMES; i++)
    if (str_equal(names[i], name))
      return (void *)(uintptr_t)(driver_runtime_refusals + i * REFUSAL_BYTES);
  return NULL;
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

static int hook_symbols(const File *file, uintptr_t base, const Elf64_Shdr *symbols,
                        const Elf64_Shdr *strings) {
  const Elf64_Sym *symbol = part(file, symbols->sh_offset, symbols->sh_size);
  const char *text = part(file, strings->sh_offset, strings->sh_size);
  int n = 0;
  if (!symbol || !text || strings->sh_size == 0 || text[strings->sh_size - 1]) return 0;
  for (size_t i = 0; i < symbols->sh_size / sizeof *symbol; i++) {
    if (ELF64_ST_TYPE(symbol[i].st_info) != STT_FUNC || symbol[i].st_shndx == SHN_UNDEF ||
        symbol[i].st_name >= strings->sh_size)
      continue;
    const char *name = text + symbol[i].st_name;
    if (!str_starts(name, "cuda") && !str_starts(name, "__cuda")) continue;
    const void *to = answer_of(name);
    if (to && hook((unsigned char *)(base + symbol[i].st_value), to)) n++;
  }
  return n;
}

// The whole table of symbols, else those that the file exports.
static int hook_file(const char *path, uintptr_t base) {
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
          n += hook_symbols(&file, base, &sections[i], &sections[sections[i].sh_link]);
  }
  if (file.bytes) munmap((void *)(uintptr_t)file.bytes, file.n);
  return n;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *self) {
  (void)size;
  int *n = self;
  const char *base = strrchr(info->dlpi_name, '/');
  if (!info->dlpi_name[0])
    *n += hook_file("/proc/self/exe", info->dlpi_addr);
  else if (str_starts(base ? base + 1 : info->dlpi_name, "libcudart.so"))
    *n += hook_file(info->dlpi_name, info->dlpi_addr);
  return 0;
}

void hook_program(void) {
  int n = 0;
  dl_iterate_phdr(look_at, &n);
}

void hook_missed(void) {
  SeenTable *seen = driver_seen();
  if (seen) seen->missed = 1;
}

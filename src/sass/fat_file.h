// Files that carry machine code of CUDA inside: fatbins, and objects, executables, shared libraries
// and archives of objects that have some.
//
//   FatFile file = fat_file(bytes, n);
//   for (FatEntry e; fat_next(&file, &e);)     each cubin and PTX, in the order of the file
//
// An entry may be compressed: fat_unpack() does LZ4, a library does Zstandard.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum FatKind { FAT_PTX, FAT_CUBIN, FAT_LTO, FAT_UNKNOWN } FatKind;
typedef enum FatPacking { FAT_PLAIN, FAT_LZ4, FAT_ZSTD } FatPacking;

typedef struct FatEntry {
  FatKind kind;
  FatPacking packing;
  bool is_relocatable;  // of an object that is not linked yet
  int sm;
  char variant;  // 'a' of sm_90a, 'f' of sm_100f; 0
  int number;    // of the kind, as the file has it
  const unsigned char *at;
  size_t bytes;  // as they stand in the file
  size_t whole;  // unpacked
} FatEntry;

typedef struct FatFile {
  const unsigned char *bytes, *end;
  const unsigned char *object, *object_end;  // of an archive's member, or all
  const unsigned char *next_object;          // NULL: there is no other
  const unsigned char *at, *section_end;     // the next fatbin
  const unsigned char *entry, *entry_end;    // the next entry of a fatbin
  int section;                               // the next one of the object
  bool is_relocatable;
} FatFile;

// Whether a file may have such entries: a fatbin, an archive, or an ELF file of another machine
// than CUDA's.
bool fat_is(const void *bytes, size_t n);
FatFile fat_file(const void *bytes, size_t n);
// False: there is no other entry. Nothing outside of the file is ever read.
bool fat_next(FatFile *file, FatEntry *out);

// LZ4's blocks. True: exactly n bytes came out.
bool fat_unpack(const unsigned char *at, size_t bytes, unsigned char *out, size_t n);

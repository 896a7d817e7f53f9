// The 64 bits by which wgmma, tcgen05.mma and tcgen05.cp find a tile in shared memory.
//
//   SmemDescriptor descriptor;
//   smem_descriptor_parse(arena, "0x4000004000010040", 90, &descriptor, &diags)
//   smem_descriptor_parse(arena, "start=0x400,lbo=16,sbo=1024,swizzle=128B", 90, …)
//
// Sources: PTX ISA, "Matrix Descriptor Format" and "Canonical Layouts" of wgmma, "Shared memory
// descriptor" and "Valid Combinations of Type-Size, Major-ness and Swizzling" of tcgen05.
#pragma once
#include "banks/layouts/cute_text.h"
#include "banks/layouts/layout.h"

typedef struct DescriptorSwizzle {
  const char *name;
  int span_bytes;       // of a row of the pattern
  int code[2];          // in the descriptor of sm_90 and of sm_100; -1: it has none
  int columns;          // of K in one pattern, where M or N runs fastest
  CuteSwizzle swizzle;  // of bytes
} DescriptorSwizzle;

typedef struct SmemDescriptor {
  int arch;                 // 90: wgmma, 100: tcgen05
  int64_t start, lbo, sbo;  // bytes: start address, leading and stride dimension byte offset
  int base_offset;
  bool lbo_absolute;                 // tcgen05: the leading dimension is an address
  const DescriptorSwizzle *swizzle;  // NULL: the code means nothing
  int swizzle_code, fixed[2];        // as they stand there; fixed: tcgen05's bits 46-48 and 53-60
  uint64_t unused;                   // bits that are set and belong to no field
} SmemDescriptor;

// The tile that an instruction reads by a descriptor: rows of M or N, and 32 bytes of K; a
// tcgen05.cp's: rows, and 16 or 32 bytes each.
typedef struct DescriptorTile {
  bool mn_major;  // M or N runs fastest; else K
  int rows;
  int elem_bytes;
  int k_bytes;  // of a row; 0: 32, as an operand has
} DescriptorTile;

// A shape of tcgen05.cp: "32x128b" has 32 rows of 16 bytes (PTX ISA, tcgen05.cp).
typedef struct DescriptorCopy {
  const char *name;
  int rows, row_bytes;
} DescriptorCopy;
int descriptor_copy_count(void);
const DescriptorCopy *descriptor_copy_at(int index);

// The fields that say where an operand lies.
typedef enum DescriptorPart {
  DESCRIPTOR_START,
  DESCRIPTOR_LBO,
  DESCRIPTOR_SBO,
  DESCRIPTOR_BASE,
  DESCRIPTOR_SWIZZLE,
  DESCRIPTOR_PARTS,
} DescriptorPart;

typedef struct DescriptorBits {
  int first, bits;  // from bit `first` up
} DescriptorBits;

const char *descriptor_part_name(DescriptorPart part);  // "lbo", as smem_descriptor_parse reads it
DescriptorBits descriptor_part_bits(DescriptorPart part, int arch);

const DescriptorSwizzle *descriptor_swizzle_at(int index);

// Whether a number without 0x is read as hexadecimal: it has 16 digits, as debuggers print a
// descriptor, or begins with a digit and has a letter. Every other one is decimal.
bool smem_descriptor_is_bare_hex(const char *text);
// A number, or fields; `arch` is 90 or 100. False after a finding of rule "descriptor".
bool smem_descriptor_parse(Arena *arena, const char *text, int arch, SmemDescriptor *out,
                           Diags *diags);
// The same over a descriptor that there is: fields that are not named stay as they are.
bool smem_descriptor_edit(Arena *arena, const char *text, SmemDescriptor *inout, Diags *diags);
// 100 where bits 46-48 are 1, as tcgen05 wants them: wgmma has no field there. Else 90.
int smem_descriptor_arch(uint64_t word);
SmemDescriptor smem_descriptor_decode(uint64_t word, int arch);
uint64_t smem_descriptor_encode(const SmemDescriptor *descriptor);

// A finding of rule "descriptor" for everything that is illegal; in *notes a line for what is legal
// and may surprise.
bool smem_descriptor_check(const SmemDescriptor *descriptor, const DescriptorTile *tile, Str *notes,
                           Diags *diags);

// The canonical layout of (M or N, K) in elements, as CuTe writes it; NULL with a sentence in *why.
// Offsets begin where the pattern does, which is smem_descriptor_lead() bytes before the start.
const char *smem_descriptor_cute(Arena *arena, const SmemDescriptor *descriptor,
                                 const DescriptorTile *tile, const char **why);
int smem_descriptor_lead(const SmemDescriptor *descriptor);
// The same as a table with the fast dimension across: rows are M or N where K runs fastest, K where
// it does not. NULL after a finding.
const Layout *smem_descriptor_layout(Arena *arena, const SmemDescriptor *descriptor,
                                     const DescriptorTile *tile, Diags *diags);

// Tells what a field says of a tile whose rows are counted along `across` ("M", "N"): what LBO and
// SBO step over, which address bits the swizzle moves.
//   LBO  "64 of N further on: the next panel of 128 bytes"
const char *descriptor_part_text(Arena *arena, const SmemDescriptor *descriptor,
                                 const DescriptorTile *tile, DescriptorPart part,
                                 const char *across);

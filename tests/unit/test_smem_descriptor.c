// Shared-memory descriptors and tensor maps: bits, what is illegal, and where elements lie.
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "banks/layouts/notation.h"
#include "banks/layouts/smem_descriptor.h"
#include "banks/layouts/tma_box.h"
#include "base/str.h"

Suite *suite_smem_descriptor(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static SmemDescriptor read_descriptor(const char *text, int arch) {
  SmemDescriptor out;
  Diags diags = diags_new(arena);
  ck_assert_msg(smem_descriptor_parse(arena, text, arch, &out, &diags), "%s",
                diags_text(arena, &diags));
  return out;
}

// start 0x400 >> 4 = 0x40; lbo 256 >> 4 = 0x10 at bit 16; sbo 128 >> 4 = 8 at bit 32; 128B is 1 at
// bit 62 of sm_90, 2 at bit 61 of sm_100, which is the same bit; there 0b001 stands at bit 46.
START_TEST(fields_lie_where_the_isa_says) {
  const char *fields = "start=0x400,lbo=256,sbo=128,swizzle=128B,base=5";
  SmemDescriptor d = read_descriptor(fields, 90);
  ck_assert_uint_eq(smem_descriptor_encode(&d), UINT64_C(0x400a000800100040));
  d = read_descriptor(fields, 100);
  ck_assert_uint_eq(smem_descriptor_encode(&d), UINT64_C(0x400a400800100040));
  d = read_descriptor("0xc00a000800100040", 90);
  ck_assert(d.start == 0x400 && d.lbo == 256 && d.sbo == 128 && d.base_offset == 5);
  ck_assert_str_eq(d.swizzle->name, "32B");
  d = read_descriptor("0x2000400000000000", 100);
  ck_assert_str_eq(d.swizzle->name, "128B_ATOM_32B");
  static const struct {
    const char *name;
    uint64_t wgmma, tcgen05;  // bits 62 to 63, and 61 to 63
  } swizzles[] = {
      {"none", 0, 0}, {"32B", 3, 6}, {"64B", 2, 4}, {"128B", 1, 2}, {"128B_ATOM_32B", 0, 1}};
  for (int i = 0; i < 5; i++) {
    fields = arena_printf(arena, "start=0,lbo=0,sbo=0,swizzle=%s", swizzles[i].name);
    d = read_descriptor(fields, 100);
    ck_assert_uint_eq(smem_descriptor_encode(&d) >> 61, swizzles[i].tcgen05);
    if (i == 4) break;  // wgmma has none
    d = read_descriptor(fields, 90);
    ck_assert_uint_eq(smem_descriptor_encode(&d) >> 62, swizzles[i].wgmma);
  }
  for (int arch = 90; arch <= 100; arch += 10)
    for (int bit = 0; bit < 64; bit++) {
      d = smem_descriptor_decode(UINT64_C(1) << bit, arch);
      ck_assert_uint_eq(smem_descriptor_encode(&d), UINT64_C(1) << bit);
    }
}
END_TEST

// PTX ISA, "Canonical Layouts": its examples, K cut to the 32 bytes that one instruction reads.
START_TEST(canonical_layouts_are_those_of_the_isa) {
  static const struct {
    const char *fields;
    DescriptorTile tile;
    const char *is;
  } cases[] = {
      {"lbo=256,sbo=128",
       {false, 16, 4, 0},
       "smem_ptr[32b](unset) o ((_8,_2),(_4,_2)):((_4,_32),(_1,_64))"},
      {"sbo=256,swizzle=32B",
       {false, 16, 4, 0},
       "Sw<1,4,3> o smem_ptr[32b](unset) o ((_8,_2),(_4,_2)):((_8,_64),(_1,_4))"},
      {"lbo=256,sbo=128",
       {true, 16, 2, 0},
       "smem_ptr[16b](unset) o ((_8,_1,_2),(_8,_2)):((_1,_8,_64),(_8,_128))"},
      {"lbo=256,sbo=512,swizzle=32B",
       {true, 32, 2, 0},
       "Sw<1,4,3> o smem_ptr[16b](unset) o ((_8,_2,_2),(_8,_2)):((_1,_8,_128),(_16,_256))"},
      {"lbo=512,sbo=1024,swizzle=64B",
       {true, 64, 2, 0},
       "Sw<2,4,3> o smem_ptr[16b](unset) o ((_8,_4,_2),(_8,_2)):((_1,_8,_256),(_32,_512))"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    SmemDescriptor d = read_descriptor(cases[i].fields, 100);
    const char *why;
    ck_assert_str_eq(smem_descriptor_cute(arena, &d, &cases[i].tile, &why), cases[i].is);
  }
}
END_TEST

// K-major, 128B, rows of 64 halves: row 9 is in the second pattern, 1024 on, in its row 1, where
// chunk 0 lies at chunk 1: 1024 + 128 + 16. A start 32 bytes on reads chunks 2 and 3 of each row.
START_TEST(elements_lie_as_tma_writes_them) {
  DescriptorTile tile = {false, 64, 2, 0};
  SmemDescriptor d = read_descriptor("start=1024,lbo=16,sbo=1024,swizzle=128B", 90);
  Diags diags = diags_new(arena);
  const Layout *layout = smem_descriptor_layout(arena, &d, &tile, &diags);
  ck_assert_int_eq(layout->offset_of[9 * 32], 1024 + 128 + 16);
  d = read_descriptor("start=1056,lbo=16,sbo=1024,swizzle=128B", 90);
  ck_assert_int_eq(smem_descriptor_lead(&d), 32);
  layout = smem_descriptor_layout(arena, &d, &tile, &diags);
  ck_assert_int_eq(layout->offset_of[9 * 32], 1024 + 128 + (2 ^ 1) * 16);
}
END_TEST

START_TEST(what_is_illegal_is_said) {
  static const struct {
    const char *text;
    int arch;
    DescriptorTile tile;
    const char *says;
  } cases[] = {
      {"0x4000004000014040", 90, {false, 64, 2, 0}, "bits 0x0000000000004000"},
      {"0x4000004000010040", 100, {false, 128, 2, 0}, "tcgen05 needs 0b001"},
      {"0x6000404000010040", 100, {false, 128, 2, 0}, "swizzle 3 is not defined"},
      {"0x4200404000010040", 100, {false, 128, 2, 0}, "bits 53-60 are 0x10"},
      {"sbo=1024,swizzle=128B,base=3", 90, {false, 64, 2, 0}, "has (address >> 7) & 7 = 0"},
      {"lbo=128,sbo=256,base=1", 90, {false, 64, 2, 0}, "there is no pattern"},
      {"lbo=1024,sbo=1024,swizzle=128B", 90, {true, 64, 4, 0}, "only in types of 16 bits"},
      {"lbo=1024,sbo=1024,swizzle=128B",
       100,
       {true, 128, 4, 0},
       "only with swizzle 128B_ATOM_32B, not 128B"},
      {"lbo=1024,sbo=512,swizzle=128B_ATOM_32B", 100, {true, 128, 2, 0}, "needs 32-bit types"},
      {"sbo=512,swizzle=128B", 90, {false, 64, 2, 0}, "are both read from byte"},
      {"lbo=16,sbo=64", 90, {false, 64, 2, 0}, "LBO or SBO is too small"},
      {"lbo=2048,sbo=1024,swizzle=128B",
       90,
       {true, 72, 2, 0},
       "not a whole number of patterns of 64"},
      {"sbo=131056,lbo=16", 90, {false, 64, 2, 0}, "shared memory has"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    SmemDescriptor d = read_descriptor(cases[i].text, cases[i].arch);
    Diags diags = diags_new(arena);
    Str notes = str_new(arena);
    ck_assert(!smem_descriptor_check(&d, &cases[i].tile, &notes, &diags));
    const char *text = diags_text(arena, &diags);
    ck_assert_msg(strstr(text, cases[i].says), "%s: %s", cases[i].text, text);
  }
  static const char *const bad[] = {"start=8", "sbo=1",        "swizzle=96B", "base=8", "x=1",
                                    "lbo",     "start=262144", "lbo=262144",  ""};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    SmemDescriptor d;
    Diags diags = diags_new(arena);
    ck_assert_msg(!smem_descriptor_parse(arena, bad[i], 90, &d, &diags) && diags.count == 1, "%s",
                  bad[i]);
  }
  ck_assert_int_eq(read_descriptor("start=262128,lbo=16,sbo=16", 90).start, 262128);
}
END_TEST

// ---- tensor maps --------------------------------------------------------------------------------

// Row r of a box of 64 halves is line r; chunk c of it lies at c ^ r % 8.
START_TEST(a_box_lies_as_its_swizzle_says) {
  TmaBox box;
  Diags diags = diags_new(arena);
  ck_assert(tma_box_parse(arena, "shape=4096x512,box=64x16,swizzle=128B", &box, &diags));
  ck_assert(tma_box_check(&box, &diags) && tma_box_bytes(&box) == 2048);
  ck_assert(tma_box_alignment(&box) == 128 && tma_box_repeat(&box) == 1024);
  // A corner one line further on sees the pattern one row further on.
  ck_assert_int_eq(tma_box_address(&box, 128, 11, 2 * 16), 12 * 128 + (2 ^ 4) * 16);
  const Layout *layout = tma_box_layout(arena, &box, "box", &diags);
  ck_assert_int_eq(layout->offset_of[11 * 128 + 2 * 16], 11 * 128 + (2 ^ 3) * 16);
  ck_assert_str_eq(notation_canonical(arena, layout), "swizzle:3,4,3");
  ck_assert(tma_box_parse(arena, "box=8x4x3,step=1x2x1,type=f32", &box, &diags));
  layout = tma_box_layout(arena, &box, "box", &diags);
  ck_assert(layout->slab.rows == 2 * 3 && layout->slab.row_bytes == 32);
}
END_TEST

START_TEST(what_the_driver_refuses_is_said) {
  static const struct {
    const char *text, *says;
  } cases[] = {
      {"shape=4096x512,box=128x64,swizzle=128B", "256 bytes; swizzle=128B takes 128"},
      {"shape=4096x512,box=32x64,swizzle=32B", "64 bytes; swizzle=32B takes 32"},
      {"shape=4096x512,box=12x64", "24 bytes, not a multiple of 16"},
      {"shape=4095x512,box=64x64", "stride of 8190 bytes, not a multiple of 16"},
      {"shape=4096x512,box=64x257", "257 elements along dimension 1"},
      {"shape=4096x512,box=64x0", "0 elements along dimension 1"},
      {"shape=4096x512,box=64x64,step=1x9", "a step of 9"},
      {"shape=8589934592x2,box=64x2", "1 to 2^32"},
      {"shape=512x512x512,box=256x256x4", "the box has 524288 bytes"},
      {"shape=4096x512,box=64", "shape has 2 dimensions and box 1"},
      {"box=64x64,swizzle=96B", "no swizzle"},
      {"box=1x1x1x1x1x1", "5 dimensions"},
      {"shape=64x64", "a box is needed"},
      {"box=64x64,type=f99", "unit"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TmaBox box;
    Diags diags = diags_new(arena);
    bool ok = tma_box_parse(arena, cases[i].text, &box, &diags) && tma_box_check(&box, &diags);
    const char *text = diags_text(arena, &diags);
    ck_assert_msg(!ok && strstr(text, cases[i].says), "%s: %s", cases[i].text, text);
  }
}
END_TEST

Suite *suite_smem_descriptor(void) {
  Suite *suite = suite_create("smem_descriptor");
  TCase *descriptor = tcase_create("descriptor");
  tcase_add_checked_fixture(descriptor, setup, teardown);
  tcase_add_test(descriptor, fields_lie_where_the_isa_says);
  tcase_add_test(descriptor, canonical_layouts_are_those_of_the_isa);
  tcase_add_test(descriptor, elements_lie_as_tma_writes_them);
  tcase_add_test(descriptor, what_is_illegal_is_said);
  tcase_add_test(descriptor, a_box_lies_as_its_swizzle_says);
  tcase_add_test(descriptor, what_the_driver_refuses_is_said);
  suite_add_tcase(suite, descriptor);
  return suite;
}

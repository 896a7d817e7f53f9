// Instructions of machine code that no kernel here has in the form that shows it: a carry that
// ends a product, a choice that each lane makes for itself, bytes from the upper half. Each is a
// few lines of a listing; what R4 holds behind them is stored, and told here from the lane's
// number.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "kernel_log.h"
#include "machine/mc_code.h"
#include "machine/mc_cubin.h"
#include "machine/mc_read.h"
#include "machine_case.h"
#include "open_case.h"

Suite *suite_machine_forms(void);

enum { K01 = 0, LANES = 32 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// R0 is the lane, R2 the address of its word, R1 the row of threads, of which the first one goes
// on.
static const char before[] =
    "S2R R1, SR_TID.Y;ISETP.NE.AND P6, PT, R1, RZ, PT;@P6 EXIT;S2R R0, SR_TID.X;"
    "LDC.64 R2, c[0x0][0x210];ULDC.64 UR4, c[0x0][0x208];IMAD.WIDE R2, R0, 0x4, R2;";
static const char behind[] = "STG.E desc[UR4][R2.64], R4;EXIT;";

static uint32_t below_five(uint32_t lane) { return lane < 5 ? 0x3f800000 : 0x40000000; }
static uint32_t from_one(uint32_t lane) { return lane >= 1; }
static uint32_t of_upper_bytes(uint32_t lane) { return 31 + 5 * lane; }
static uint32_t of_lower_bytes(uint32_t lane) { return 43 + 17 * lane; }
static uint32_t least(uint32_t lane) { return lane - lane - 3; }
static uint32_t most(uint32_t lane) { return lane - lane + 28; }
static uint32_t first_alone(uint32_t lane) { return lane == 7; }
static uint32_t upper_word(uint32_t lane) { return 0xfffffffe + (lane >= 31); }

#define VALUE(name, value)              \
  static uint32_t name(uint32_t lane) { \
    (void)lane;                         \
    return value;                       \
  }
VALUE(two_carries, 1 + (lane >= 2))
VALUE(three_times_less_5, 3 * lane - 5)
VALUE(upper_of_three_times_less_5, lane < 2 ? 0xffffffff : 0)
VALUE(less_lane, 100 - lane)
VALUE(with_carry, 5 * lane + 7 + (lane < 5))
VALUE(carry_of_x, lane >= 9)
VALUE(shifted_sum, 8 * lane + 3)
VALUE(upper_shifted, (3u << 4 | lane >> 1) + 9)
VALUE(carry_of_lea, lane >= 16)
VALUE(same_bits, 0x11111111u << (lane & 3))
VALUE(all_alike, 0xffffffffu)
VALUE(not_alike, 0)
VALUE(first_five, 0x1f)
VALUE(whether_all, 0)
VALUE(whether_any, 1)
VALUE(xored, lane ^ 0x35 ^ 0x1c3)
VALUE(and_or_not, (lane & 0x35) | ~0x1c3u)
VALUE(bit_left, (lane & 6) != 0)
VALUE(between, lane >= 5 && lane < 9)
VALUE(outside, lane < 5 || lane >= 9)
VALUE(shifted_left, lane << 9)
VALUE(come_in, 0x30u | lane >> 1)
VALUE(to_the_right, (lane << 27 >> 4) | 3u << 28)
VALUE(with_a_sign, (uint32_t)((int32_t)(lane << 27) >> 3))
VALUE(below_zero, lane < 6)
VALUE(above_all, lane < 6)
VALUE(not_both, lane != 3 && lane != 4)
VALUE(either, lane == 3 || lane == 4)
VALUE(the_other_one, lane > 4)
VALUE(pair_below, lane < 7)
VALUE(at_most_9, lane < 9 ? lane : 9)
VALUE(at_least_9, lane > 9 ? lane : 9)
VALUE(unsigned_most, lane < 6 ? lane - 6 : 9 < lane - 6 ? lane - 6 : 9)
VALUE(sum_at_most, lane + 4 < 20 ? lane + 4 : 20)
VALUE(halves_of_block, 32u << 16 | 32u)  // 32 · 2^-24, twice
VALUE(bits_set, (uint32_t)__builtin_popcount(lane * 0x55u))
VALUE(highest, lane ? 31 - (uint32_t)__builtin_clz(lane) : 0xffffffff)
VALUE(from_the_top, lane ? (uint32_t)__builtin_clz(lane) : 0xffffffff)
VALUE(five_bits_signed, (uint32_t)((int32_t)(lane << 27) >> 27))
VALUE(three_bits, lane & 7)
VALUE(mask_of_three, lane > 29 ? 0xffffffffu << lane : 7u << lane)
VALUE(bytes_mixed, lane << 24 | 0x332211)
VALUE(four_products, 5 * lane + 12 + 21 + 32 + 1)
VALUE(four_signed, lane * 5 - 1 * 6 + 3 * 7 + 4 * 8)
VALUE(warp_sum, 496)
VALUE(warp_or, 31)
VALUE(warp_unsigned_most, 0xffffffff)
VALUE(three_down, lane < 29 ? lane + 3 : lane)
VALUE(butterfly, lane ^ 5)
VALUE(up_in_eights, lane % 8 < 2 ? lane : lane - 2)
VALUE(of_lane_6, 6)
VALUE(packed, (lane < 5 ? 1u : 0u) + (lane >= 3 ? 2u : 0u))
VALUE(unpacked, lane >> 1 & 1)
VALUE(halves_of_numbers, lane - lane + 0x3c004000)
VALUE(bf16_of_numbers, lane - lane + 0x3f804000)
VALUE(largest_of_three, lane < 3 ? 3 : lane)
VALUE(lane_and_three, lane + 3)
VALUE(odd_or_4, lane % 2 || lane == 4)
VALUE(odd, lane % 2)
VALUE(none, 0)
VALUE(one, 1)
VALUE(two, 2)
VALUE(float_one, 0x3f800000)
VALUE(least_of_three, lane < 13 ? lane - 10 : 3)
VALUE(even, lane % 2 == 0)
VALUE(replaced_if_even, lane % 2 ? lane : lane + 100)
VALUE(if_a_multiple_of_4, lane % 4 == 0)
VALUE(low_if_a_multiple_of_4, lane % 4 ? lane : lane + 100)
VALUE(high_if_a_multiple_of_4, lane % 4 ? lane + 40 : lane + 200)
VALUE(block_x, lane - lane + 32)
VALUE(block_x_or_y, lane % 2 ? 8 : 32)
VALUE(block_y_of_pair, lane - lane + 8)
VALUE(below_five_of_even, lane < 5 ? (lane % 2 ? 0xau : 0x15u) : 9)
VALUE(five_alike, lane < 5 ? 0x1f : 9)
VALUE(odd_below_five, lane < 5 ? 0xa : 9)
VALUE(all_of_five, lane < 5)
VALUE(sum_below_five, lane - lane + 10)
VALUE(xor_below_five, lane - lane + 4)
VALUE(and_below_five, lane - lane + 8)
VALUE(lane_two_alone, lane == 2)
VALUE(number_two, lane - lane + 2)
VALUE(not_the_first, lane > 3 && lane < 9)
VALUE(second_byte, (lane < 5 ? 0x100u : 0u) + (lane % 2 ? 0x200u : 0u) + 0x11223044)
VALUE(bit_nine, lane >> 1 & 1)

static const struct {
  const char *code;
  uint32_t (*value)(uint32_t lane);
} forms[] = {
    // 1 and 2 as two halves, as sm_80 and sm_86 spell it.
    {"MOV R5, 0x3c003c00;HMUL2 R4, R5, c[0x0] [0x0].H0_H0;", halves_of_block},
    {"MOV R5, 0x3f800000;MOV R6, 0x40000000;F2FP.PACK_AB R4, R5, R6;", halves_of_numbers},
    {"MOV R5, 0x3f800000;MOV R6, 0x40000000;F2FP.BF16.PACK_AB R4, R5, R6;", bf16_of_numbers},
    // The largest and the least of lane - 10, 3 and lane, with a sign.
    {"VIADD R5, R0, 0xfffffff6;MOV R6, 0x3;VIMNMX3 R4, R5, R6, R0, !PT;", largest_of_three},
    {"VIADD R5, R0, 0xfffffff6;MOV R6, 0x3;VIMNMX3 R4, R5, R6, R0, PT;", least_of_three},
    // The smaller of 1 and 2 where the lane's predicate holds, else the larger one.
    {"ISETP.LT.AND P0, PT, R0, 0x5, PT;MOV R5, 0x3f800000;MOV R6, 0x40000000;"
     "FMNMX R4, R5, R6, P0;",
     below_five},
    // (2^32 - 1)^2 + (lane : 2^32 - 1): 64 bits are enough in lane 0, whose highest bit is set.
    {"MOV R5, 0xffffffff;MOV R8, 0xffffffff;MOV R9, R0;MOV R10, 0x1;"
     "IMAD.WIDE.U32 R12, P1, R5, R5, R8;SEL R4, R10, RZ, P1;",
     from_one},
    // The upper word of (2^32 - 1)^2 + (lane << 27): the low word carries in the last lane.
    {"MOV R5, 0xffffffff;IMAD.SHL.U32 R8, R0, 0x8000000, RZ;LOP3.LUT R6, R0, 0x1f, RZ, 0xc0, !PT;"
     "ISETP.EQ.AND P0, PT, R6, 0x1f, PT;MOV R7, 0xffffffff;SEL R8, R7, R8, P0;MOV R9, RZ;"
     "IMAD.HI.U32 R4, R5, R5, R8;",
     upper_word},
    // Halves (2 + lane, 3) by bytes 0x11, 3, 5 and 7: the upper two, then the lower two.
    {"IADD3 R5, R0, 0x30002, RZ;MOV R6, 0x7050311;IDP.2A.HI.U16.U8 R4, R5, R6, RZ;",
     of_upper_bytes},
    {"IADD3 R5, R0, 0x30002, RZ;MOV R6, 0x7050311;IDP.2A.LO.U16.U8 R4, R5, R6, RZ;",
     of_lower_bytes},
    // -3 to 28, with a sign.
    {"VIADD R5, R0, 0xfffffffd;REDUX.MIN.S32 UR6, R5;MOV R4, UR6;", least},
    {"VIADD R5, R0, 0xfffffffd;REDUX.MAX.S32 UR6, R5;MOV R4, UR6;", most},
    // The lane that the warp elects among those from 7 on.
    {"ISETP.GE.AND P0, PT, R0, 0x7, PT;MOV R10, 0x1;MOV R4, RZ;ELECT P1, URZ, P0;"
     "SEL R4, R10, RZ, P1;",
     first_alone},
    // Carries of a sum of three: one for lanes 0 and 1, two from lane 2 on, each by a predicate of
    // its own.
    {"MOV R5, 0xffffffff;IADD3 R6, P0, P1, R5, R5, R0;IADD3.X R4, RZ, RZ, RZ, P0, P1;",
     two_carries},
    // A negated operand is its complement and one, in a pair too.
    {"MOV R8, 0x5;MOV R9, RZ;MOV R6, 0x3;IMAD.WIDE R12, R0, R6, -R8;MOV R4, R12;",
     three_times_less_5},
    {"MOV R8, 0x5;MOV R9, RZ;MOV R6, 0x3;IMAD.WIDE R12, R0, R6, -R8;MOV R4, R13;",
     upper_of_three_times_less_5},
    {"MOV R5, 0x64;IADD3 R4, R5, -R0, RZ;", less_lane},
    // A product, a sum and a carry.
    {"ISETP.LT.AND P0, PT, R0, 0x5, PT;MOV R5, 0x7;IMAD.X R4, R0, 0x5, R5, P0;", with_carry},
    // The carry of that goes on.
    {"MOV R5, 0xfffffff7;MOV R10, 0x1;IMAD.X R6, P1, R0, 0x1, R5;SEL R4, R10, RZ, P1;", carry_of_x},
    {"MOV R5, 0x3;LEA R4, R0, R5, 0x3;", shifted_sum},
    // The upper word of a pair moved left by 4.
    {"MOV R5, 0x9;MOV R6, 0x3;IMAD.SHL.U32 R7, R0, 0x8000000, RZ;LEA.HI R4, R7, R5, R6, 0x4;",
     upper_shifted},
    // A shifted sum carries.
    {"MOV R5, 0x80000000;MOV R10, 0x1;LEA R6, P1, R0, R5, 0x1b;SEL R4, R10, RZ, P1;", carry_of_lea},
    // Lanes with the same two bits.
    {"LOP3.LUT R5, R0, 0x3, RZ, 0xc0, !PT;MATCH.ANY R4, R5;", same_bits},
    {"MOV R5, 0x3;MATCH.ALL PT, R4, R5;", all_alike},
    {"MOV R5, 0x3;MATCH.ALL PT, R4, R0;", not_alike},
    // Lanes of the warp that say yes.
    {"ISETP.LT.AND P0, PT, R0, 0x5, PT;VOTE.ANY R4, PT, P0;", first_five},
    {"ISETP.LT.AND P0, PT, R0, 0x1f, PT;MOV R10, 0x1;VOTE.ALL R5, P1, P0;SEL R4, R10, RZ, P1;",
     whether_all},
    {"ISETP.LT.AND P0, PT, R0, 0x1, PT;MOV R10, 0x1;VOTE.ANY R5, P1, P0;SEL R4, R10, RZ, P1;",
     whether_any},
    // The table of a ^ b ^ c, and of a & b | ~c.
    {"MOV R5, 0x35;MOV R6, 0x1c3;LOP3.LUT R4, R0, R5, R6, 0x96, !PT;", xored},
    {"MOV R5, 0x35;MOV R6, 0x1c3;LOP3.LUT R4, R0, R5, R6, 0xd5, !PT;", and_or_not},
    // A predicate says whether a bit is left.
    {"MOV R10, 0x1;LOP3.LUT P1, RZ, R0, 0x6, RZ, 0xc0, !PT;SEL R4, R10, RZ, P1;", bit_left},
    // Three predicates: 0x80 is and, 0xfe is or.
    {"ISETP.GE.AND P0, PT, R0, 0x5, PT;ISETP.LT.AND P1, PT, R0, 0x9, PT;MOV R10, 0x1;PLOP3.LUT P2, "
     "PT, P0, P1, PT, 0x80, 0x0;SEL R4, R10, RZ, P2;",
     between},
    {"ISETP.LT.AND P0, PT, R0, 0x5, PT;ISETP.GE.AND P1, PT, R0, 0x9, PT;MOV R10, 0x1;PLOP3.LUT P2, "
     "PT, P0, P1, PT, 0xfc, 0x0;SEL R4, R10, RZ, P2;",
     outside},
    // Shifts of a pair: the lower word to the left, what comes into the upper, and to the right
    // with a sign.
    {"SHF.L.U32 R4, R0, 0x9, RZ;", shifted_left},
    {"MOV R6, 0x3;IMAD.SHL.U32 R7, R0, 0x8000000, RZ;SHF.L.U64.HI R4, R7, 0x4, R6;", come_in},
    {"MOV R6, 0x3;IMAD.SHL.U32 R7, R0, 0x8000000, RZ;SHF.R.U64 R4, R7, 0x4, R6;", to_the_right},
    {"IMAD.SHL.U32 R7, R0, 0x8000000, RZ;SHF.R.S32.HI R4, RZ, 0x3, R7;", with_a_sign},
    // Comparisons with a sign and without, and of pairs by two instructions.
    {"VIADD R5, R0, 0xfffffffa;MOV R10, 0x1;ISETP.LT.AND P0, PT, R5, RZ, PT;SEL R4, R10, RZ, P0;",
     below_zero},
    {"VIADD R5, R0, 0xfffffffa;MOV R10, 0x1;ISETP.GT.U32.AND P0, PT, R5, 0x7fffffff, PT;SEL R4, "
     "R10, RZ, P0;",
     above_all},
    {"ISETP.NE.AND P1, PT, R0, 0x3, PT;MOV R10, 0x1;ISETP.NE.AND P0, PT, R0, 0x4, P1;SEL R4, R10, "
     "RZ, P0;",
     not_both},
    {"ISETP.EQ.AND P1, PT, R0, 0x3, PT;MOV R10, 0x1;ISETP.EQ.OR P0, PT, R0, 0x4, P1;SEL R4, R10, "
     "RZ, P0;",
     either},
    {"MOV R10, 0x1;ISETP.LE.AND P1, P0, R0, 0x4, PT;SEL R4, R10, RZ, P0;", the_other_one},
    {"MOV R10, 0x1;MOV R6, 0x7;ISETP.LT.U32.AND P0, PT, R0, R6, PT;MOV R7, 0x2;MOV R8, "
     "0x2;ISETP.LT.AND.EX P0, PT, R7, R8, PT, P0;SEL R4, R10, RZ, P0;",
     pair_below},
    // The smaller and the larger number.
    {"IMNMX R4, R0, 0x9, PT;", at_most_9},
    {"IMNMX R4, R0, 0x9, !PT;", at_least_9},
    {"VIADD R5, R0, 0xfffffffa;IMNMX.U32 R4, R5, 0x9, !PT;", unsigned_most},
    {"MOV R5, 0x14;VIADDMNMX R4, R0, 0x4, R5, PT;", sum_at_most},
    // Bits.
    {"IMAD R5, R0, 0x55, RZ;POPC R4, R5;", bits_set},
    {"FLO.U32 R4, R0;", highest},
    {"FLO.U32.SH R4, R0;", from_the_top},
    {"SGXT R4, R0, 0x5;", five_bits_signed},
    {"SGXT.U32 R4, R0, 0x3;", three_bits},
    {"BMSK R4, R0, 0x3;", mask_of_three},
    {"MOV R5, 0x44332211;PRMT R4, R5, 0x4210, R0;", bytes_mixed},
    // Bytes (lane, 2, 3, 4) by 5, 6, 7, 8.
    {"IADD3 R5, R0, 0x4030200, RZ;MOV R6, 0x8070605;MOV R7, 0x1;IDP.4A.U8.U8 R4, R5, R6, R7;",
     four_products},
    {"IADD3 R5, R0, 0x403ff00, RZ;MOV R6, 0x8070605;IDP.4A.S8.S8 R4, R5, R6, RZ;", four_signed},
    // The warp's values together.
    {"REDUX.SUM UR6, R0;MOV R4, UR6;", warp_sum},
    {"REDUX.OR UR6, R0;MOV R4, UR6;", warp_or},
    {"VIADD R5, R0, 0xffffffff;REDUX.MAX UR6, R5;MOV R4, UR6;", warp_unsigned_most},
    // Another lane's value: three down, around in eights, and with every third bit turned.
    {"SHFL.DOWN PT, R4, R0, 0x3, 0x1f;", three_down},
    {"SHFL.BFLY PT, R4, R0, 0x5, 0x1f;", butterfly},
    {"SHFL.UP PT, R4, R0, 0x2, 0x1800;", up_in_eights},
    {"SHFL.IDX PT, R4, R0, 0x6, 0x1f;", of_lane_6},
    // Predicates as bits, and back.
    {"ISETP.LT.AND P0, PT, R0, 0x5, PT;ISETP.GE.AND P1, PT, R0, 0x3, PT;P2R R4, PR, RZ, 0x3;",
     packed},
    {"R2P PR, R0, 0x7f;MOV R10, 0x1;SEL R4, R10, RZ, P1;", unpacked},
    {"UISETP.EQ.AND UP1, UPT, URZ, URZ, UPT;UP2UR UR6, UPR, URZ, 0x3;MOV R4, UR6;", two},
    // As sm_90 spells them.
    {"VIMNMX R4, R0, 0x9, PT;", at_most_9},
    {"VIMNMX R4, R0, 0x9, !PT;", at_least_9},
    {"VIADD R5, R0, 0xfffffffa;VIMNMX.U32 R4, R5, 0x9, !PT;", unsigned_most},
    // The upper word is a number.
    {"MOV R5, 0x9;IMAD.SHL.U32 R7, R0, 0x8000000, RZ;LEA.HI R4, R7, R5, 0x3, 0x4;", upper_shifted},
    // Lanes with another value than the first one's, and those that had one before.
    {"LOP3.LUT R5, R0, 0x1, RZ, 0xc0, !PT;MOV R10, 0x1;R2UR P1, UR6, R5;SEL R4, R10, RZ, P1;", odd},
    {"LOP3.LUT R5, R0, 0x1, RZ, 0xc0, !PT;MOV R10, 0x1;ISETP.EQ.AND P1, PT, R0, 0x4, PT;R2UR.OR "
     "P1, "
     "UR6, R5;SEL R4, R10, RZ, P1;",
     odd_or_4},
    {"LOP3.LUT R5, R0, 0x1, RZ, 0xc0, !PT;R2UR P1, UR6, R5;MOV R4, UR6;", none},
    // .E alone says that R3 is the upper half of the address.
    {"STG.E desc[UR4][R2.64], R0;LDG.E R5, [R2];MOV R6, 0x3;IADD3 R4, R5, R6, RZ;", lane_and_three},
    // Where bank 0 lies: a parameter by its address.
    {"ULDC.64 UR6, c[0x0][0xc0];MOV R6, UR6;MOV R7, UR7;LD.E R8, [R6+0x220];LDC R9, c[0x0][0x220];"
     "MOV R10, 0x1;ISETP.EQ.AND P1, PT, R8, R9, PT;SEL R4, R10, RZ, P1;",
     one},
    // No cluster, its blocks along x, and 1 by them.
    {"LDC R4, c[0x0][0x140];", none},
    {"LDC R4, c[0x0][0x144];", one},
    {"MOV R4, 0x4;LDC.64 R4, c[0x0][R4+0x13c];MOV R4, R5;", one},
    {"LDC R4, c[0x0][0x150];", float_one},
// Lanes exchange the word in their place of shared memory for lane + 100 if it is what they
// expect: the lane in even lanes, and one more in odd ones. Whether it was, and what lies there.
#define PLACE "IMAD.SHL.U32 R5, R0, 0x8, RZ;"
#define EXPECT "LOP3.LUT R9, R0, 0x1, RZ, 0xc0, !PT;IADD3 R8, R0, R9, RZ;VIADD R10, R0, 0x64;"
    {PLACE "STS [R5], R0;" EXPECT "ATOMS.CAST.SPIN R4, [R5], R8, R10;", even},
    {PLACE "STS [R5], R0;" EXPECT "ATOMS.CAST.SPIN R6, [R5], R8, R10;LDS R4, [R5];",
     replaced_if_even},
// Both words of a pair have to be as expected: of lane + 40 in the second, in lanes 4 i.
#define PAIR                                                          \
  PLACE "VIADD R7, R0, 0x28;MOV R6, R0;STS.64 [R5], R6;" EXPECT       \
        "VIADD R11, R0, 0xc8;"                                        \
        "LOP3.LUT R12, R0, 0x2, RZ, 0xc0, !PT;IADD3 R9, R7, R12, RZ;" \
        "ATOMS.CAST.SPIN.64 R14, [R5], R8, R10;LDS.64 R6, [R5];"
    {PAIR "MOV R4, R14;", if_a_multiple_of_4},
    {PAIR "MOV R4, R15;", none},
    {PAIR "MOV R4, R6;", low_if_a_multiple_of_4},
    {PAIR "MOV R4, R7;", high_if_a_multiple_of_4},
    // A block has 32 x 8 threads: by number, by a lane's own register, by one of the warp, as a
    // pair.
    {"LDC R4, c[0x0][0x0];", block_x},
    {"LOP3.LUT R5, R0, 0x1, RZ, 0xc0, !PT;IMAD.SHL.U32 R5, R5, 0x4, RZ;LDC R4, c[0x0][R5];",
     block_x_or_y},
    {"LDC.64 R4, c[0x0][0x0];MOV R4, R5;", block_y_of_pair},
    {"LDC.U8 R4, c[0x0][0x0];", block_x},
    {"LDC.U16 R4, c[0x0][0x0];", block_x},
    {"LDC.S8 R4, c[0x0][0x0];", block_x},
// Five lanes alone: the others keep what they had.
#define FIVE "ISETP.LT.AND P0, PT, R0, 0x5, PT;LOP3.LUT P2, R5, R0, 0x1, RZ, 0xc0, !PT;"
#define NINE FIVE "MOV R4, 0x9;MOV R10, 0x1;"
    {NINE "@P0 MATCH.ANY R4, R5;", below_five_of_even},
    {NINE "MOV R5, 0x3;@P0 MATCH.ALL PT, R4, R5;", five_alike},
    {NINE "@P0 VOTE.ANY R4, PT, P2;", odd_below_five},
    {NINE "ISETP.LT.AND P2, PT, R0, 0x7, PT;ISETP.NE.AND P1, PT, R0, R0, PT;"
          "@P0 VOTE.ALL R6, P1, P2;SEL R4, R10, RZ, P1;",
     all_of_five},
    {NINE "@P0 REDUX.SUM UR6, R0;MOV R4, UR6;", sum_below_five},
    {NINE "@P0 REDUX.XOR UR6, R0;MOV R4, UR6;", xor_below_five},
    {NINE "LOP3.LUT R5, R0, 0x8, RZ, 0xfc, !PT;@P0 REDUX UR6, R5;MOV R4, UR6;", and_below_five},
    {NINE "ISETP.GE.AND P2, PT, R0, 0x2, PT;ISETP.NE.AND P1, PT, R0, R0, PT;"
          "@P0 ELECT P1, UR6, P2;SEL R4, R10, RZ, P1;",
     lane_two_alone},
    {NINE "ISETP.GE.AND P2, PT, R0, 0x2, PT;@P0 ELECT P1, UR6, P2;MOV R4, UR6;", number_two},
    // R2UR takes the value of the first of lanes 3 to 8.
    {"ISETP.GE.AND P0, PT, R0, 0x3, PT;ISETP.LT.AND P0, PT, R0, 0x9, P0;"
     "ISETP.NE.AND P1, PT, R0, R0, PT;MOV R10, 0x1;@P0 R2UR P1, UR6, R0;SEL R4, R10, RZ, P1;",
     not_the_first},
    // Predicates 0 and 1 in byte 1, beside the other bits, and out of it.
    {"ISETP.LT.AND P0, PT, R0, 0x5, PT;LOP3.LUT P1, RZ, R0, 0x1, RZ, 0xc0, !PT;"
     "MOV R5, 0x11223344;P2R.B1 R4, PR, R5, 0x3;",
     second_byte},
    {"IMAD.SHL.U32 R5, R0, 0x100, RZ;MOV R10, 0x1;R2P.B1 PR, R5, 0x3;SEL R4, R10, RZ, P1;",
     bit_nine},
    // Predicates that the mask leaves out stay, and so do those of other lanes.
    {"ISETP.EQ.AND P2, PT, R0, R0, PT;MOV R10, 0x1;R2P PR, R0, 0x3;SEL R4, R10, RZ, P2;", one},
    {"ISETP.EQ.AND P2, PT, R0, R0, PT;MOV R10, 0x1;ISETP.GE.AND P3, PT, R0, 0x5, PT;"
     "@P3 R2P PR, RZ, 0x4;SEL R4, R10, RZ, P2;",
     all_of_five},
};
enum { FORMS = sizeof forms / sizeof *forms };

// "S2R R1, SR_TID.Y;@P6 EXIT;" as nvdisasm lists it.
static const char *listing_of(const char *code) {
  Str out = str_new(arena);
  int address = 0;
  str_add(&out, "_Z15transpose_naivePfPKfii:\n.text._Z15transpose_naivePfPKfii:\n");
  for (const char *at = code; *at; at += strcspn(at, ";") + 1, address += 16)
    str_printf(&out, "        /*%04x*/    %.*s ;\n", address, (int)strcspn(at, ";"), at);
  return out.text;
}

START_TEST(a_form_gives_each_lane_its_value) {
  size_t n = 0;
  Diags diags = diags_new(arena);
  const char *cubin = machine_case_file(arena, "k01", ".cubin", &n);
  const char *code = arena_printf(arena, "%s%s%s", before, forms[_i].code, behind);
  const PtxModule *module = machine_case_read(arena, cubin, n, listing_of(code), NULL, &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  ck_assert(str_starts(module->source, "/*0000*/ S2R R1, SR_TID.Y"));
  const OpenCase c = open_case_load_module(arena, K01, module);
  kernel_log_watch(c.machine, c.tally);
  const PtxOutcome outcome = ptx_machine_run(c.machine, 0, 0, 0);
  kernel_log_add(c.machine, module, outcome, c.tally, c.buffers[0], LANES);
  const PtxFinding *f = ptx_machine_findings(c.machine) ? ptx_machine_finding(c.machine, 0) : NULL;
  ck_assert_msg(outcome == PTX_DONE && !f, "%s: %s", forms[_i].code, f && f->text ? f->text : "?");
  uint32_t got[LANES];
  memcpy(got, ptx_machine_bytes(c.machine, c.buffers[0], sizeof got), sizeof got);
  for (uint32_t lane = 0; lane < LANES; lane++)
    ck_assert_msg(got[lane] == forms[_i].value(lane), "%s: 0x%x in lane %u, not 0x%x",
                  forms[_i].code, got[lane], lane, forms[_i].value(lane));
}
END_TEST

// ---- a cubin ------------------------------------------------------------------------------------

// The record of the last parameter, of 4 bytes at 20, says 8: four of them lie behind the 24 that
// the kernel has.
START_TEST(a_parameter_ends_where_they_all_end) {
  enum { OFFSET = 4 + 6, SIZE = 4 + 8, SIZE_FROM = 18, LAST = 20 };
  static const unsigned char record[] = {0x04, 0x17, 0x0c, 0x00};
  size_t n = 0;
  unsigned char *bytes = (unsigned char *)machine_case_file(arena, "k01", ".cubin", &n), *at = NULL;
  for (size_t i = 0; i + SIZE + 4 <= n; i++)
    if (memcmp(bytes + i, record, sizeof record) == 0 && bytes[i + OFFSET] == LAST) at = bytes + i;
  ck_assert_ptr_nonnull(at);
  McCubin cubin;
  for (uint32_t size = 4; size <= 8; size += 4) {
    uint32_t word;
    memcpy(&word, at + SIZE, sizeof word);
    word = (word & ((1u << SIZE_FROM) - 1)) | size << SIZE_FROM;
    memcpy(at + SIZE, &word, sizeof word);
    ck_assert(mc_cubin_read(arena, bytes, n, &cubin));
    const McKernel *kernel = &cubin.kernels[0];
    ck_assert_int_eq(kernel->parameter_bytes, LAST + 4);
    ck_assert_int_eq(kernel->parameters[kernel->n_parameters - 1].offset, LAST);
    ck_assert_int_eq(kernel->parameters[kernel->n_parameters - 1].bytes, 4);
  }
}
END_TEST

// Threads and clusters of a launch by their records, whose three numbers differ: they come to the
// module as they stand. k05 has one such record, __launch_bounds__(256).
START_TEST(bounds_of_a_launch_come_to_the_module) {
  enum { ATTRIBUTE = 1, WORDS = 4 };
  static const unsigned char record[] = {0x04, 0x05, 0x0c, 0x00, 0x00, 0x01},
                             attributes[] = {0x05, 0x10, 0x3d};
  static const uint32_t bounds[3] = {8, 4, 2};
  size_t n = 0, length = 0;
  char *bytes = machine_case_file(arena, "k05", ".cubin", &n);
  const char *listing = machine_case_file(arena, "k05", ".sass", &length);
  char *at = memmem(bytes, n, record, sizeof record);
  ck_assert_ptr_nonnull(at);
  memcpy(at + WORDS, bounds, sizeof bounds);
  for (int which = 0; which < 3; which++) {
    at[ATTRIBUTE] = (char)attributes[which];
    Diags diags = diags_new(arena);
    McCubin cubin;
    ck_assert(mc_cubin_read(arena, bytes, n, &cubin));
    const PtxModule *module =
        machine_case_read(arena, bytes, n, listing, cubin.kernels[0].name, &diags);
    ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
    const PtxFunction *k = ptx_module_kernel(module, NULL, &diags);
    const int *const said[3] = {k->maxntid, k->reqntid, k->cluster};
    for (int other = 0; other < 3; other++)
      for (int d = 0; d < 3; d++)
        ck_assert_int_eq(said[other][d], other == which ? (int)bounds[d] : 0);
  }
}
END_TEST

// What follows values reads PT as true, and no predicate by the number of PT.
START_TEST(a_predicate_that_is_always_true_has_no_number) {
  static const char *const ids[] = {"k01", "k07", "k15"};
  int always = 0, others = 0;
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    const PtxModule *module = machine_case_recorded(arena, ids[i]);
    for (int pc = 0; pc < module->n_code; pc++)
      for (int g = 0; g < module->code[pc].n_groups; g++) {
        const PtxGroup *group = &module->code[pc].groups[g];
        if (group->kind != PTX_GROUP_PRED || group->written || !group->n) continue;
        const PtxArg arg = module->args[group->at];
        ck_assert_msg(arg != MC_FRAME_P + MC_PT && arg != MC_FRAME_UP + MC_PT, "%s 0x%x", ids[i],
                      16 * pc);
        always += arg == PTX_PRED_TRUE;
        others += arg != PTX_PRED_TRUE;
      }
  }
  ck_assert_msg(always > 0 && others > 0, "%d, %d", always, others);
}
END_TEST

START_TEST(all_that_runs_say) { kernel_log_check("kernels/machine_forms.txt"); }
END_TEST

Suite *suite_machine_forms(void) {
  Suite *suite = suite_create("machine_forms");
  kernel_log_begin();
  TCase *tcase = tcase_create("machine_forms");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, a_form_gives_each_lane_its_value, 0, FORMS);
  tcase_add_test(tcase, a_parameter_ends_where_they_all_end);
  tcase_add_test(tcase, bounds_of_a_launch_come_to_the_module);
  tcase_add_test(tcase, a_predicate_that_is_always_true_has_no_number);
  suite_add_tcase(suite, tcase);
  TCase *log = tcase_create("log");
  tcase_add_test(log, all_that_runs_say);
  suite_add_tcase(suite, log);
  return suite;
}

"""Layouts of threads and values as CuTe's Python DSL prints them, for tests/data/cute_tv_layouts.txt.

  pip install nvidia-cutlass-dsl==4.8.1
  for arch in sm_90a sm_120a; do CUTE_DSL_ARCH=$arch python3 tools/cute_layouts.py; done

Makes atoms, tiled products and tiled copies (no GPU is needed) and prints each as print() does, with
the layouts of the whole tile behind it: lines "= OPERAND ROWSxCOLS LAYOUT". An element is numbered
down the first mode of its tile. A line "@ NAME" is CuTe's C++ name of the atom.
"""

import os
import random

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import warp, warpgroup

HOPPER = "90" in os.environ["CUTE_DSL_ARCH"]
F16, F32, BF16, F8, TF32 = (cutlass.Float16, cutlass.Float32, cutlass.BFloat16,
                            cutlass.Float8E4M3FN, cutlass.TFloat32)


def tile(mma, modes):
    return "x".join(str(cute.size(mma.get_tile_size(mode))) for mode in modes)


def show_mma(op, name, atoms, permutation):
    mma = cute.make_tiled_mma(op, atoms, permutation_mnk=permutation)
    print("@", name)
    print(mma)
    if not (HOPPER and "SS" in name):
        print("= A", tile(mma, (0, 2)), mma.tv_layout_A_tiled)
    if not HOPPER:
        print("= B", tile(mma, (1, 2)), mma.tv_layout_B_tiled)
    # With several atoms along K the printed layout goes on beyond the tile; partition_C does not.
    if atoms[2] == 1:
        print("= C", tile(mma, (0, 1)), mma.tv_layout_C_tiled)


def show_copy(copy, shape):
    print("@ -")
    print(copy)
    print("= S", shape, copy.layout_src_tv_tiled)
    print("= D", shape, copy.layout_dst_tv_tiled)


def warp_ops():
    for types, a in (("F32F16F16F32", F16), ("F32BF16BF16F32", BF16)):
        for k in (8, 16):
            yield warp.MmaF16BF16Op(a, F32, (16, 8, k)), f"SM80_16x8x{k}_{types}_TN"
    yield warp.MmaF16BF16Op(F16, F16, (16, 8, 16)), "SM80_16x8x16_F16F16F16F16_TN"
    for k in (4, 8):
        yield warp.MmaTF32Op((16, 8, k)), f"SM80_16x8x{k}_F32TF32TF32F32_TN"
    yield warp.MmaFP8Op(F8, F32, (16, 8, 32)), "SM89_16x8x32_F32E4M3E4M3F32_TN"


def warpgroup_ops():
    memory, registers = warpgroup.OperandSource.SMEM, warpgroup.OperandSource.RMEM
    major = cute.nvgpu.OperandMajorMode.K
    for n in (8, 64, 176, 256):
        yield (warpgroup.MmaF16BF16Op(F16, F32, (64, n, 16), registers, major, major),
               f"SM90_64x{n}x16_F32F16F16_RS")
    yield (warpgroup.MmaF16BF16Op(BF16, F32, (64, 128, 16), memory, major, major),
           "SM90_64x128x16_F32BF16BF16_SS")
    yield (warpgroup.MmaF8Op(F8, F8, F32, (64, 96, 32), registers, major, major),
           "SM90_64x96x32_F32E4M3E4M3_RS_TN")


def permutations(rng, mnk, atoms, free):
    """Tiles that the atoms divide, and one that interleaves them along N."""
    yield None
    sizes = [size * count * rng.choice([1, 2]) for size, count in zip(mnk, atoms)]
    yield tuple(sizes)
    if free:
        yield (None, cute.make_layout((8, atoms[1], 2), stride=(1, 16, 8)), None)


@cute.jit
def warps():
    rng = random.Random(39)
    for op, name in warp_ops():
        for atoms in ((1, 1, 1), (2, 2, 1), (1, 4, 2)):
            for permutation in permutations(rng, op.shape_mnk, atoms, True):
                show_mma(op, name, atoms, permutation)


@cute.jit
def warpgroups():
    rng = random.Random(40)
    for op, name in warpgroup_ops():
        for atoms in ((1, 1, 1), (2, 1, 1)):
            for permutation in permutations(rng, op.shape_mnk, atoms, False):
                show_mma(op, name, atoms, permutation)


@cute.jit
def copies():
    for bits, threads, order, values in ((128, (32, 8), (1, 0), (1, 8)), (64, (16, 8), (0, 1), (4, 1)),
                                         (32, (8, 16), (1, 0), (2, 2)), (16, (4, 32), (1, 0), (3, 1))):
        atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), F16, num_bits_per_copy=bits)
        copy = cute.make_tiled_copy_tv(atom, cute.make_ordered_layout(threads, order=order),
                                       cute.make_layout(values))
        show_copy(copy, f"{threads[0] * values[0]}x{threads[1] * values[1]}")
    op = warp.MmaF16BF16Op(F16, F32, (16, 8, 16))
    mma = cute.make_tiled_mma(op, (2, 2, 1), permutation_mnk=(32, 32, 16))
    for transposed in (False, True):
        load = cute.make_copy_atom(warp.LdMatrix8x8x16bOp(transposed, 4), F16)
        show_copy(cute.make_tiled_copy_A(load, mma), "32x16")
        show_copy(cute.make_tiled_copy_B(load, mma), "32x16")
        store = cute.make_copy_atom(warp.StMatrix8x8x16bOp(transposed, 4), F16)
        show_copy(cute.make_tiled_copy_C(store, mma), "32x32")


if HOPPER:
    warpgroups()
else:
    warps()
    copies()

"""Layouts of registers as Triton itself has them, for tests/data/triton_layouts.tsv.

  pip install triton==3.9.0
  python3 tools/triton_layouts.py SEED COUNT > tests/data/triton_layouts.tsv

Draws encodings, asks Triton for the linear layout of each over a shape (no GPU is needed), and prints
a line for each: shape, the encoding as TTGIR has it, the same as Gluon's repr, the bases of register,
lane, warp and block. Of tensor memory the columns stand for registers and the rows for lanes.
"""

import random
import sys

from triton._C.libtriton import gluon_ir, ir
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.experimental.gluon.language._layouts import (
    BlockedLayout, DistributedLinearLayout, DotOperandLayout, NVMMADistributedLayout, SliceLayout)
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout, TensorMemoryScalesLayout)


def split(rng, total, rank):
    """`total`, a power of two, as a product over dimensions."""
    out = [1] * rank
    while total > 1:
        out[rng.randrange(rank)] *= 2
        total //= 2
    return out


def blocks(rng, rank):
    """Bases of a cluster, and what the older spelling says of the same; None where it cannot."""
    kind = rng.randrange(6)
    if kind < 3:
        return [], None
    if kind == 3:  # any bases, broadcasts too
        bases, used = [], [1] * rank
        for _ in range(rng.choice([1, 2, 3])):
            basis = [0] * rank
            if rng.random() < 0.75:
                dim = rng.randrange(rank)
                basis[dim] = used[dim]
                used[dim] *= 2
            bases.append(basis)
        return bases, None
    split_num = split(rng, rng.choice([1, 2, 4]), rank)
    per = [s * rng.choice([1, 1, 2]) for s in split_num]
    order = rng.sample(range(rank), rank)
    bases = []
    for dim in order:
        for bit in range(per[dim].bit_length() - 1):
            basis = [0] * rank
            if 1 << bit < split_num[dim]:
                basis[dim] = 1 << bit
            bases.append(basis)
    old = f"CTAsPerCGA = {per}, CTASplitNum = {split_num}, CTAOrder = {order}"
    return bases, old


def cga_text(bases, old):
    if old:
        return ", " + old
    return f", CGALayout = {bases}" if bases else ""


def blocked(rng, rank):
    bases, old = blocks(rng, rank)
    size = [rng.choice([1, 1, 2, 4, 8]) for _ in range(rank)]
    lanes, warps = split(rng, 32, rank), split(rng, rng.choice([1, 2, 4, 8, 16]), rank)
    order = rng.sample(range(rank), rank)
    text = (f"#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {lanes}, warpsPerCTA = {warps}, "
            f"order = {order}{cga_text(bases, old)}}}>")
    return BlockedLayout(size, lanes, warps, order, bases), text


def mma(rng, rank, version=None):
    bases, old = blocks(rng, rank)
    version = version or (rng.choice([2, 3]) if rank == 2 else 2)
    if version == 2:
        warps = split(rng, rng.choice([1, 2, 4, 8]), rank)
        instr, minor = [1] * (rank - 2) + [16, 8], rng.choice([0, 0, 1])
    else:
        warps = split(rng, rng.choice([1, 2]), rank)
        warps[rank - 2] *= 4
        instr, minor = [16, rng.choice([8, 16, 32, 64, 128, 256]), rng.choice([8, 16, 32])], 0
    text = (f"#ttg.nvidia_mma<{{versionMajor = {version}, versionMinor = {minor}, warpsPerCTA = {warps}"
            f"{cga_text(bases, old)}, instrShape = {instr}}}>")
    return NVMMADistributedLayout([version, minor], warps, instr, bases), text


def operand(rng, rank):
    index = rng.randrange(2)
    if rng.random() < 0.25:
        parent, text = blocked(rng, rank)
        return (DotOperandLayout(index, parent, 0),
                f"#ttg.dot_op<{{opIdx = {index}, parent = {text}}}>")
    parent, text = mma(rng, rank, 2 if index else None)
    width = rng.choice([1, 2, 4, 8])
    return (DotOperandLayout(index, parent, width),
            f"#ttg.dot_op<{{opIdx = {index}, parent = {text}, kWidth = {width}}}>")


def linear(rng, rank):
    bits = [rng.randrange(1, 6) for _ in range(rank)]
    places = [(dim, bit) for dim in range(rank) for bit in range(bits[dim])]
    rng.shuffle(places)
    lanes, warps = 5, rng.randrange(4)
    held = [[], [], [], []]
    for dim, bit in places:
        basis = [0] * rank
        basis[dim] = 1 << bit
        room = [0] + [1] * (len(held[1]) < lanes) + [2] * (len(held[2]) < warps)
        held[rng.choice(room)].append(basis)
    for holder, count in ((1, lanes), (2, warps)):
        while len(held[holder]) < count:
            held[holder].insert(rng.randrange(len(held[holder]) + 1), [0] * rank)
    shape = [1 << b for b in bits]
    text = (f"#ttg.linear<{{register = {held[0]}, lane = {held[1]}, warp = {held[2]}, "
            f"block = {held[3]}}}>")
    return DistributedLinearLayout(*held, shape), text


def sliced(rng, rank):
    dim = rng.randrange(rank + 1)
    if rank < 3 and rng.random() < 0.3:
        parent, text = sliced(rng, rank + 1)
    else:
        kinds = [blocked, linear] + ([mma, operand] if rank else [])
        parent, text = rng.choice(kinds)(rng, rank + 1)
    return SliceLayout(dim, parent), f"#ttg.slice<{{dim = {dim}, parent = {text}}}>"


def tensor_memory(rng):
    if rng.random() < 0.3:
        return (TensorMemoryScalesLayout(), "#ttng.tensor_memory_scales_encoding<>",
                [1 << rng.randrange(5, 9), 1 << rng.randrange(2, 6)])
    m, n, stride = rng.choice([64, 128]), 1 << rng.randrange(3, 9), rng.choice([1, 1, 2])
    shape = [m * rng.choice([1, 2, 4]), n * rng.choice([1, 2])]
    return (TensorMemoryLayout((m, n), stride),
            f"#ttng.tensor_memory_encoding<blockM = {m}, blockN = {n}, colStride = {stride}>", shape)


def draw(rng):
    kind = rng.randrange(12)
    if kind == 0:
        return tensor_memory(rng)
    rank = rng.choice([1, 2, 2, 2, 2, 3]) if kind < 6 else rng.choice([2, 2, 2, 3])
    if kind < 4:
        layout, text = blocked(rng, rank)
    elif kind < 6:
        layout, text = sliced(rng, min(rank, 2))
    elif kind < 8:
        layout, text = mma(rng, rank)
    elif kind < 11:
        layout, text = operand(rng, rank)
    else:
        layout, text = linear(rng, rank)
    shape = [1 << rng.randrange(0, 9 if rank < 3 else 6) for _ in range(rank)]
    return layout, text, shape[:layout.rank]


def main():
    rng = random.Random(int(sys.argv[1]))
    context = ir.context()
    ir.load_dialects(context)
    CUDABackend(GPUTarget("cuda", 100, 32)).load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    print("#shape\tttgir\tgluon\tregister\tlane\twarp\tblock")
    for _ in range(int(sys.argv[2])):
        layout, text, shape = draw(rng)
        made = builder.to_linear_layout(layout._to_ir(builder), shape)
        if hasattr(made, "cols"):
            bases = [made.cols, made.rows, [], []]
        else:
            bases = [made.reg_bases, made.lane_bases, made.warp_bases, made.block_bases]
        print("x".join(map(str, shape)), text, repr(layout), *bases, sep="\t")


main()

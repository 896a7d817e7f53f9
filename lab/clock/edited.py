#!/usr/bin/env python3
"""Puts NOP, or another instruction of the same cubin, in the place of instructions.

    lab/clock/edited.py IN OUT --from 0x6e0 --to 0xb90 --opcode 0x984          LDS become NOP
    lab/clock/edited.py IN OUT --from 0x1260 --to 0x23f0 --but 0x23c --copy 0x13c0

What a kernel takes without its loads, its stores or its barriers tells what each of them costs, and
a loop of products with one other instruction between them what that one costs. Control words stay:
a NOP stalls as what it replaces, but opens no scoreboard. Opcodes are the low twelve bits of an
instruction (src/sass/sass_opcode.def has nine of them); --but keeps those and edits all others.
lab/clock/edited.cu runs what comes out.
"""

import argparse
import struct

NOP = (0x7918, 0)
CONTROL_AT, CONTROL_BITS = 41, 21  # of the second word
NO_SCOREBOARDS = 7 << 5 | 7 << 8


def text_section(elf):
    """Offset and size of the first kernel's text."""
    table, size, count, names = struct.unpack_from("<Q", elf, 0x28) + struct.unpack_from("<HHH", elf, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, table + i * size) for i in range(count)]
    for section in sections:
        at = sections[names][4] + section[0]
        if elf[at:].startswith(b".text."):
            return section[4], section[5]
    raise SystemExit("no text section")


def control(word, drop_scoreboards):
    bits = word >> CONTROL_AT & (1 << CONTROL_BITS) - 1
    if drop_scoreboards:
        bits = bits & 0x1F | NO_SCOREBOARDS | bits & 0x3F << 11
    return bits << CONTROL_AT


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("source")
    ask.add_argument("target")
    for name in ("--from", "--to", "--copy"):
        ask.add_argument(name, type=lambda text: int(text, 0), dest=name[2:] + "_pc")
    for name in ("--opcode", "--but"):
        ask.add_argument(name, type=lambda text: int(text, 0), action="append", default=[])
    given = ask.parse_args()
    cubin = bytearray(open(given.source, "rb").read())
    at, _ = text_section(bytes(cubin))
    new, edited = NOP, 0
    if given.copy_pc is not None:
        new = struct.unpack_from("<QQ", cubin, at + given.copy_pc)
    mask = (1 << CONTROL_AT + CONTROL_BITS) - (1 << CONTROL_AT)
    for pc in range(given.from_pc, given.to_pc, 16):
        low, high = struct.unpack_from("<QQ", cubin, at + pc)
        opcode = low & 0xFFF
        if opcode in given.but or given.opcode and opcode not in given.opcode:
            continue
        struct.pack_into("<QQ", cubin, at + pc, new[0], new[1] & ~mask | control(high, True))
        edited += 1
    open(given.target, "wb").write(cubin)
    print(f"{edited} instructions")


main()

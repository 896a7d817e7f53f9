#!/usr/bin/env python3
"""nvdisasm for cubins that differ from one in a single word, with all texts learned at once.

   faults_words.py learn CUBIN AT BYTES STORE FAULTS      FAULTS: a line `address bit` for each
   FAULTS_STORE=STORE faults_words.py [nvdisasm's words] FILE

nvdisasm takes half a second to begin, and a fault asks for it several times: for the cubin, and for
the words that are one bit away. It lists 100,000 words in three seconds. What is not in the store,
branches among them, is asked of nvdisasm itself.
"""
import marshal
import os
import re
import subprocess
import sys
import tempfile

REAL = os.environ.get("FAULTS_NVDISASM", "nvdisasm")
INST, BITS = 16, 105
LINE = re.compile(r"^\s*/\*([0-9a-f]+)\*/\s+(.*?)\s*;", re.M)
BRANCH = re.compile(r"\b(BRA|BRX|BSSY|CALL|JMP|RET|WARPSYNC)|`\(")
NOP = bytes.fromhex("18790000000000000000000000000000")


def flipped(word, bit):
    out = bytearray(word)
    out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


def ask(words, known, target="SM90"):
    """Texts of words that are not known yet; "": nvdisasm refuses it."""
    words = [w for w in dict.fromkeys(words) if w not in known]
    code = list(words)
    with tempfile.NamedTemporaryFile() as file:
        for _ in range(8):
            file.seek(0)
            file.truncate()
            file.write(b"".join(code))
            file.flush()
            run = subprocess.run([REAL, "-b", target, file.name], capture_output=True, text=True)
            if run.returncode == 0:
                break
            for at in re.findall(r"at address 0x([0-9a-f]+)", run.stderr + run.stdout):
                code[int(at, 16) // INST] = NOP
    texts = {int(at, 16) // INST: text for at, text in LINE.findall(run.stdout)}
    for i, word in enumerate(words):
        known[word] = texts.get(i, "") if code[i] == word else ""


def learn(cubin, at, size, store, faults):
    with open(cubin, "rb") as file:
        code = file.read()[at : at + size]
    words = [code[i : i + INST] for i in range(0, size, INST)]
    with open(faults) as file:
        planted = [(int(at, 16) // INST, int(bit)) for at, bit in map(str.split, file)]
    wanted = words + [flipped(w, bit) for w in words for bit in range(BITS)]
    for i, bit in planted:
        wanted += [flipped(flipped(words[i], bit), other) for other in range(BITS)]
    known = {}
    ask(wanted, known)
    listings = {}
    with open(store, "wb") as file:
        marshal.dump((code, at, known, listings), file)


def save(store, state):
    with open(store + ".new", "wb") as file:
        marshal.dump(state, file)
    os.rename(store + ".new", store)


def put(text):
    sys.stdout.write(text)
    sys.exit(0)


def list_cubin(words, state, store):
    """The listing of the sound cubin with one line in place of another, where that is all."""
    code, at, known, listings = state
    with open(words[-1], "rb") as file:
        mine = file.read()[at : at + len(code)]
    other = [i for i in range(0, len(code), INST) if code[i : i + INST] != mine[i : i + INST]]
    key = " ".join(words[:-1])
    if len(other) > 1 or len(mine) != len(code):
        return
    if key not in listings:
        with tempfile.NamedTemporaryFile() as file:
            with open(words[-1], "rb") as faulty:
                sound = bytearray(faulty.read())
            sound[at : at + len(code)] = code
            file.write(sound)
            file.flush()
            listings[key] = subprocess.run([REAL, *words[:-1], file.name], capture_output=True, text=True).stdout
        save(store, state)
    listing = listings[key]
    if not other:
        put(listing)
    line = re.search(r"^(\s*/\*0*%x\*/\s+)(.*?)(\s*;)" % other[0], listing, re.M)
    text = known.get(mine[other[0] : other[0] + INST])
    if text == "":
        sys.exit(f"nvdisasm error   : Illegal instruction found at address 0x{other[0]:08x}")
    if line and text and not BRANCH.search(text) and not BRANCH.search(line.group(2)):
        put(listing[: line.start(2)] + text + listing[line.end(2) :])


def list_words(words, state, store):
    with open(words[-1], "rb") as file:
        code = file.read()
    mine = [code[i : i + INST] for i in range(0, len(code), INST)]
    known = state[2]
    n = len(known)
    ask(mine, known, words[words.index("-b") + 1])
    if len(known) != n:
        save(store, state)
    refused = [i * INST for i, word in enumerate(mine) if not known[word]]
    for address in refused:
        print(f"nvdisasm error   : Illegal instruction found at address 0x{address:08x}", file=sys.stderr)
    if refused:
        sys.exit(1)
    put("".join(f"        /*{i * INST:04x}*/                   {known[w]} ;\n" for i, w in enumerate(mine)))


def main():
    if sys.argv[1] == "learn":
        cubin, at, size, store, faults = sys.argv[2:]
        return learn(cubin, int(at), int(size), store, faults)
    words, store = sys.argv[1:], os.environ["FAULTS_STORE"]
    with open(store, "rb") as file:
        state = marshal.load(file)
    if "-b" in words:
        list_words(words, state, store)
    elif len(words) > 1:
        list_cubin(words, state, store)
    os.execvp(REAL, [REAL, *words])


if __name__ == "__main__":
    main()

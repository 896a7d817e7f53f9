#!/usr/bin/env python3
"""Lists every string that a user can see, and names those that are not plain.

  tools/words.py            file:line<TAB>string; exit status 1 when one is not plain
  tools/words.py comments   line comments of src instead

A string is one literal of C, neighbouring literals joined, of at least two words, or a text in
data/claims, data/ladders and data/lessons, or a row of the glossary, or a paragraph of a document.
A sentence is not plain

  - when it begins with Of, What, Who, That, Nor or Nobody and asks nothing,
  - when it has one of the STIFF words, of which each has a plain one beside it,
  - when a screen (src/tui, data) would show more than 20 words of it without a stop.

Texts of programs are listed and not judged: PTX, CUDA, SQL and the comments that stand in CUDA.
"""
import glob
import json
import re
import sys

FIRST = re.compile(r"(Of|What|Who|That|Nor|Nobody)\b")
STIFF = [(re.compile(pattern, re.I), plain) for pattern, plain in (
    (r"\bso many\b", "the number of …"),
    (r"\bas many\b", "the same number, one for each"),
    (r"\bno more than so\b", "at most"),
    (r"^[^?]*\bhow many\b[^?]*$", "the number of …"),
    (r"\b(?:those|he|she|they|ones) who\b", "name them: the consumers"),
    (r"\bwhom\b", "name them: which warps"),
    (r"\b(?:nobody|somebody|whoever|whosever)\b", "name it: no thread, a warp"),
    (r"\bis none of\b", "is not one of, choose"),
    (r"\bis due\b", "is missing, expected"),
    (r"\b(?:is|are) expected(?: here| behind|$)", "expected …"),
    (r"\bof the kind\b", "name it"),
    (r"\bone's own\b", "your own"),
    (r"\blikewise\b", "the same way"),
    (r"\bin vain\b", "needlessly"),
    (r"(?<!there )\bis no (?!longer|need)(?:such )?[a-z]+ (?:of|that|to)\b", "is not a …"),
    (r"\bsays otherwise\b", "gives another …"),
    (r"\bfor want of\b", "without, because … is missing"),
    (r"\bat registers\b", "uses registers"),
    (r"\bby way of\b", "through, by"),
    (r"\bturn(?:s|ed)? round\b", "transposed, reversed"),
    (r"\bhow many percent\b", "what percentage"),
    (r"\balong [KMN] alone\b", "only along K"),
    (r"\bnothing to say\b", "has no result"),
    (r"\bof the same make\b", "of the same kind"),
)]
# Texts of programs: files, and strings that are code wherever they stand.
PROGRAMS = ("src/model/text/", "src/model/ops/", "src/kernels/toolchain/export/", "src/machine/mc_",
            "src/features/gpc/kernels/export_places.c",
            "src/kernels/device/late_reads.c", "src/kernels/device/gpu_selftest_text.c")
CODE = re.compile(r"\basm\b|__\w+__|\breturn\b|#pragma|^\s*//|;\\n|\bSELECT\b|\bPRAGMA\b")
WORDS_MAX = 20
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
GAP = re.compile(r'\s*(?:\\\n\s*)?\Z')


def strings_of_c(path):
    """(line, text) of each run of literals; comments, includes and characters left out."""
    text = open(path, encoding="utf-8").read()
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    text = re.sub(r"//[^\n]*(?=\n)", lambda m: blank(m) if m.string[:m.start()].rsplit("\n", 1)[-1]
                  .replace('\\"', "").count('"') % 2 == 0 else m.group(0), text)
    text = re.sub(r"^#\s*include[^\n]*", blank, text, flags=re.M)
    text = re.sub(r"'(?:[^'\\\n]|\\.)'", blank, text)
    run, begin, end = "", 0, None
    for m in LITERAL.finditer(text):
        if end is not None and GAP.fullmatch(text[end:m.start()]):
            run += m.group(1)
        else:
            if run:
                yield text.count("\n", 0, begin) + 1, run
            run, begin = m.group(1), m.start()
        end = m.end()
    if run:
        yield text.count("\n", 0, begin) + 1, run


def strings_of_json(path):
    text = open(path, encoding="utf-8").read()
    keys = ("title", "text", "line", "notes", "reason", "why", "question", "answer", "said", "help",
            "what", "says", "hint", "about")

    def walk(value, key=""):
        if isinstance(value, dict):
            for k, v in value.items():
                yield from walk(v, k)
        elif isinstance(value, list):
            for v in value:
                yield from walk(v, key)
        elif isinstance(value, str) and key in keys:
            yield value

    for value in walk(json.loads(text)):
        at = text.find(json.dumps(value, ensure_ascii=False)[1:25])
        yield text.count("\n", 0, max(at, 0)) + 1, value


def strings():
    for path in sorted(glob.glob("src/**/*.[ch]", recursive=True) +
                       glob.glob("src/**/*.def", recursive=True) +
                       glob.glob("src/**/*.form", recursive=True)):
        for line, text in strings_of_c(path):
            if re.search(r"[A-Za-z]{2,}[^A-Za-z%]+[A-Za-z]{2,}", text) and " " in text.strip():
                yield path, line, text
    for path in sorted(p for folder in ("claims", "ladders", "lessons")
                       for p in glob.glob(f"data/{folder}/*.json")):
        for line, text in strings_of_json(path):
            yield path, line, text
    for number, row in enumerate(open("data/glossary.tsv", encoding="utf-8"), 1):
        yield "data/glossary.tsv", number, row.rstrip("\n").split("\t")[-1]


# Made from the commands and the glossary, whose strings are listed where they stand.
MADE = ("docs/commands.md", "docs/glossary.md")


def strings_of_document(path):
    """(line, text) of each paragraph; code, tables and heads left out, names in backticks kept."""
    text = open(path, encoding="utf-8").read()
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    text = re.sub(r"```.*?```", blank, text, flags=re.S)
    text = re.sub(r"^(?:\||#|!|\[)[^\n]*", blank, text, flags=re.M)
    for m in re.finditer(r"\S(?:[^\n]*\n(?!\s*(?:[-*]|\d+\.)\s|\s*\n))*[^\n]*", text):
        words = re.sub(r"^(?:[-*]|\d+\.)\s+", "", " ".join(m.group(0).split()))
        if " " in words:
            yield text.count("\n", 0, m.start()) + 1, words


def documents():
    paths = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] + sorted(glob.glob("docs/*.md"))
    for path in paths:
        if path not in MADE:
            for line, text in strings_of_document(path):
                yield path, line, text


def sentences(text):
    text = re.sub(r"\\n|\n", " ", text)
    return [s.strip() for s in re.split(r"(?<=[.!?])\s+", text) if s.strip()]


def faults(path, text):
    """Why it is not plain; nothing where it is."""
    if path.startswith(PROGRAMS) or path.startswith("src") and CODE.search(text):
        return
    screen = path.startswith(("src/tui", "data"))
    text = re.sub(r"\{[^{}]*\}", "N", text)  # a fact in a lesson is a number on the screen
    for sentence in sentences(text):
        if FIRST.match(sentence) and "?" not in sentence:
            yield f"begins with {FIRST.match(sentence).group(1)}"
        for pattern, plain in STIFF:
            m = pattern.search(sentence)
            if m:
                yield f'"{m.group(0)}": say "{plain}"'
        if not screen:
            continue
        parts = re.split(r"[:;,(]\s|\s--\s|…", sentence)
        if max(len(re.findall(r"[A-Za-z][A-Za-z'-]*", p)) for p in parts) > WORDS_MAX:
            yield f"more than {WORDS_MAX} words without a stop"


def comments():
    for path in sorted(glob.glob("src/**/*.[ch]", recursive=True) +
                       glob.glob("src/**/*.def", recursive=True)):
        before = False
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            m = re.match(r"\s*//\s?(.*)", line)
            if m and not before and FIRST.match(m.group(1)) and "?" not in m.group(1):
                yield path, number, m.group(1)
            before = bool(m)


def main(mode):
    bad = 0
    if mode == "comments":
        for path, line, text in comments():
            print(f"{path}:{line}\t{text}")
            bad += 1
        return 1 if bad else 0
    for path, line, text in [*strings(), *documents()]:
        print(f"{path}:{line}\t{text}")
        for why in faults(path, text):
            print(f"{path}:{line}: {why}: {text}", file=sys.stderr)
            bad += 1
    if bad:
        print(f"words: {bad} strings are not plain", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "strings"))

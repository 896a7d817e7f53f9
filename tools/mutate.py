#!/usr/bin/env python3
"""Changes one token of the program at a time and asks whether the tests see it.

    tools/mutate.py --count 300 --seed 1      (make mutate N=300 SEED=1)

A mutant is one source file with one token replaced: `<` by `<=`, `+` by `-`, 4 by 5. It is compiled in a copy of the
tree, build/mutate, and the suites that tools/mutate.suites names for its file are run, the nearest first. A mutant is
caught when a suite fails, crashes, or takes more CPU time than ten times what it took before. Mutants that do not
compile, or whose object code is that of the original, are replaced by others: no test can tell them. So are those that
tools/mutate.equal lists with the reason why they compute the same.

Survivors are listed as FILE:LINE:COLUMN with both tokens and the line. The last line is `caught X of Y`; the exit
status is 1 when X is less than 85 % of Y.

Example: `if (lane < 32)` of src/banks/engine/bank.c gives `if (lane <= 32)` and `if (lane < 33)`.
"""
import argparse
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPY = os.path.join(ROOT, "build", "mutate")
ORIGINAL = "build/original"  # the programs without a mutant
ENOUGH = 0.85
# Files that make test compiles unguarded for its speed: a mutant there is compiled under the sanitizers, the rest stays fast.
UNGUARDED = ("src/order/", "src/ptx/run/")

# One token and what it becomes.
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "/", "/": "*",
         "%": "/", "<<": ">>", ">>": "<<", "&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "true": "false",
         "false": "true", "!": "", "&": "|", "|": "&", "^": "|"}
TOKEN = re.compile(r"""
    (?P<skip>//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|[^\n])*|assert\([^\n]*)
  | (?P<word>[A-Za-z_][A-Za-z_0-9]*)
  | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|[0-9][0-9.eE]*[0-9a-zA-Z.]*)
  | (?P<mark>->|\+\+|--|<<=|>>=|&&|\|\||[<>=!+\-*/%&|^]=|<<|>>|[^\s])
""", re.X | re.S | re.M)
# In front of these a `*`, `&`, `-` or `+` is unary, and a `*` may be a declaration: left alone.
OPENS = set("([{,;=:?<>!&|+-*/%^~") | {"return", "case", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "<<", ">>"}


def replacements(text):
    """(begin, end, new) of every token that can be changed, in the order of the text."""
    before = ";"
    for found in TOKEN.finditer(text):
        token, kind = found.group(), found.lastgroup
        if kind == "skip":
            continue
        new = None
        if kind == "number" and re.fullmatch(r"[0-9]+", token):
            new = str(int(token) + 1)
        elif token in SWAPS and not (token in "*&-+" and before in OPENS) and not is_declaration(text, found, before):
            new = SWAPS[token]
        if new is not None:
            yield found.start(), found.end(), new
        before = token


def is_declaration(text, found, before):
    """`Type *name`: a star behind a word and a space, in front of a name without a space."""
    return found.group() in "*&" and re.match(r"[A-Za-z_0-9]", before) and re.match(r"\S", text[found.end():])


def suites_of(path, table):
    """Lists of suites, the nearest first; none where the file is left alone."""
    for prefix, suites in table:
        if path.startswith(prefix):
            return suites
    return []


def read_table():
    rows = []
    with open(os.path.join(ROOT, "tools", "mutate.suites")) as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words:
                rows.append((words[0], [part.split() for part in " ".join(words[1:]).split("/")]))
    return rows


def read_equal():
    """What mutate.equal lists: lines as Mutants.judged_by makes them."""
    with open(os.path.join(ROOT, "tools", "mutate.equal")) as lines:
        return {line.rstrip() for line in lines if line.startswith("src/")}


def copy_tree():
    """Every file that git knows or would add, where its text differs, for make goes by times; others that make would
    find are gone."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                            check=True).stdout.split("\n")
    for name in filter(None, listed):
        source, target = os.path.join(ROOT, name), os.path.join(COPY, name)
        if os.path.isfile(source) and not (os.path.isfile(target) and read(source) == read(target)):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    for folder in ("src", "tests", "data"):
        for path, _, files in os.walk(os.path.join(COPY, folder)):
            for name in files:
                here = os.path.join(path, name)
                if not os.path.isfile(os.path.join(ROOT, os.path.relpath(here, COPY))):
                    os.remove(here)


def build(target, *variables, quiet=True):
    command = ["make", "-s", "CC=" + os.environ.get("CC", "gcc"), *variables, target]
    done = subprocess.run(command, cwd=COPY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode and not quiet:
        sys.exit("mutate: the tree does not build:\n" + done.stdout[-2000:])
    return done.returncode == 0


def limited(seconds):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    return set_limit


def run(suites, seconds, programs="build/asan"):
    """Whether the suites pass within so many seconds of CPU each, and the CPU seconds that they took."""
    env = dict(os.environ, GEMMVIEW=programs + "/gemmview", CK_DEFAULT_TIMEOUT=str(seconds * 10), TEST_STOP="1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([programs + "/unit", *suites], cwd=COPY, env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, preexec_fn=limited(seconds))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.returncode == 0, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Mutants:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.table = read_table()
        self.equal = read_equal()
        self.limits = {}
        self.sites = [(path, *site) for path in self.sources() for site in replacements(self.text(path))]

    def sources(self):
        found = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        return [path for path in found.stdout.split() if path.endswith(".c") and suites_of(path, self.table)]

    def text(self, path):
        return read(os.path.join(ROOT, path)).decode()

    def limit(self, suites):
        """Ten times what they take without a mutant, which is asked when they are first wanted."""
        key = tuple(suites)
        if key not in self.limits:
            passed, took = run(suites, 600, ORIGINAL)
            if not passed:
                sys.exit("mutate: without a mutant these suites fail: " + " ".join(suites))
            self.limits[key] = int(10 * took) + 5
        return self.limits[key]

    def is_caught(self, path):
        for suites in suites_of(path, self.table):
            if not run(suites, self.limit(suites))[0]:
                return True
        return False

    def judge(self, site):
        """None when no test could tell the mutant, else whether the suites caught it."""
        path, begin, end, new = site
        text = self.text(path)
        if self.judged_by(site) in self.equal:
            return None
        target = os.path.join(COPY, path)
        made = "build/asan/" + path[:-2] + ".o"
        guarded = ["HOT=-O3"] if path.startswith(UNGUARDED) else []
        if guarded:
            os.utime(target)
            build(made, *guarded)
        original = read(os.path.join(COPY, made))
        try:
            with open(target, "w") as file:
                file.write(text[:begin] + new + text[end:])
            if not build(made, *guarded) or read(os.path.join(COPY, made)) == original:
                return None
            if not build("test-build"):
                return None
            return self.is_caught(path)
        finally:
            with open(target, "w") as file:
                file.write(text)

    def place(self, site):
        path, begin, end, new = site
        text = self.text(path)
        line = text.count("\n", 0, begin) + 1
        column = begin - (text.rfind("\n", 0, begin) + 1) + 1
        source = text.splitlines()[line - 1].strip()
        return f"{path}:{line}:{column}: {text[begin:end]} became {new or 'nothing'}: {source}"

    def judged_by(self, site):
        """The same without line and column, which move: the line of source as the mutant has it."""
        path, begin, end, new = site
        text = self.text(path)
        after = text.find("\n", end)
        return f"{path}: {text[begin:end]}: {(text[text.rfind(chr(10), 0, begin) + 1:begin] + new + text[end:after]).strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a path that the mutated files begin with")
    parser.add_argument("--list", action="store_true", help="say what would be changed, and change nothing")
    given = parser.parse_args()
    mutants = Mutants(given.seed)
    sites = [site for site in mutants.sites if site[0].startswith(given.only)]
    mutants.random.shuffle(sites)
    if given.list:
        for site in sites[:given.count]:
            print(mutants.place(site))
        return 0
    # Ended from outside, too, it puts back what it changed, waits for what it started, and says how far it came.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    copy_tree()
    build("test-build", quiet=False)
    os.makedirs(os.path.join(COPY, ORIGINAL), exist_ok=True)
    for name in ("unit", "gemmview"):
        shutil.copy(os.path.join(COPY, "build/asan", name), os.path.join(COPY, ORIGINAL, name))
    caught = tried = 0
    try:
        for site in sites:
            if tried == given.count:
                break
            verdict = mutants.judge(site)
            if verdict is None:
                continue
            tried += 1
            caught += verdict
            if not verdict:
                print("survived", mutants.place(site), flush=True)
    finally:  # ended from outside it says how far it came
        print(f"caught {caught} of {tried}", flush=True)
    return 0 if tried and caught >= ENOUGH * tried else 1


if __name__ == "__main__":
    sys.exit(main())

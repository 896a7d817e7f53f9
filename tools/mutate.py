#!/usr/bin/env python3
"""Changes one token of the program at a time and asks whether the tests see it.

    tools/mutate.py --count 300 --seed 1      (make mutate N=300 SEED=1)

A mutant is one source file with one token replaced: `<` by `<=`, `+` by `-`, 4 by 5. build/mutate is a copy of the
tree with its tests built. The mutant's object is compiled into a folder of its own there, as make would compile it and
with sanitizers in it, and linked with the objects of the copy, which have none; what else make would link anew is linked,
too. The suites, with what make test leaves to CI, that tools/mutate.suites
names for its file are run, the nearest first, of several the quickest first, each up to its first check that fails. As
many mutants as there are processors are judged at a time (--jobs).

What no suite runs no suite sees: the first time that a suite is wanted it is run without a mutant, over objects that
count their lines (gcov), and only mutants on lines that it ran are put to it. A mutant on a line that no suite of its
file ran has survived without a run; it is listed with `no suite runs it`.

A mutant is caught when a suite fails, crashes, or takes more CPU time than four times what it took before. Mutants that
do not compile are replaced by others. So are those that the compiler proves equal, for no test can tell them: with -O2
and neither sanitizers nor line numbers their object is that of the original. So are those that tools/mutate.equal lists
with the reason why they compute the same.

-1 becomes 0, not -2: it says that there is none, and nothing asks more than whether a number is below 0.

Numbers of a room that is asked for (ARENA_ARRAY, arena_alloc) are left alone where they would make it larger: nobody can
tell.

Survivors are listed as FILE:LINE:COLUMN with both tokens and the line. The line before the last counts the mutants that
were replaced. The last line is `caught X of Y`; the exit status is 1 when X is less than 85 % of Y.

Example: `if (lane < 32)` of src/banks/engine/bank.c gives `if (lane <= 32)` and `if (lane < 33)`.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pickle
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPY = os.path.join(ROOT, "build", "mutate")
ENOUGH = 0.85
PROGRAMS = "build/plain"
# The library that stands in for a driver, and what has it inside: only these suites load it. It is loaded by programs that
# have no sanitizers, so a mutant of it has none.
DRIVER = tuple(f"{PROGRAMS}/{name}" for name in ("parts.a", "libcuda.so.1", "src/cli/record/driver_bytes.o"))
DRIVER_SUITES = {"record", "open_record"}
# Behind the options of a command, these look after the mutant's own accesses; the arenas tell them where one ends.
GUARDED = (" -O1 -g0 -fsanitize=address,undefined -fno-sanitize-recover=all"
           " -fno-sanitize=null,alignment,object-size,pointer-overflow -Wno-format-truncation -Wno-format-overflow -c ")
GUARDED_LINK = " -fsanitize=address,undefined -static-libasan -static-libubsan"
ARENA, GUARDED_ARENA = f"{PROGRAMS}/src/base/arena.o", "build/guarded_arena.o"

# Behind the options of a command, these compile what the program is, without what only the tests want to know.
PLAIN = " -O2 -g0 -fno-sanitize=all -c "

# Behind the options of a command, these compile what counts how often each line is run. Optimized as far as lines stay
# what they are, for whole suites are run with it; threads do not wait for each other's counts, of which only whether
# they are 0 is asked.
COUNTED = " -O1 -fno-early-inlining -g0 -fno-sanitize=all --coverage -fprofile-update=single -w -c "
COVERED = "build/covered"  # its objects and programs
LINES = "build/lines"  # what each suite ran

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
ROOMS = ("ARENA_ARRAY", "arena_alloc")
CAUGHT, SURVIVED, NOT_RUN = "caught", "survived", "survived, no suite runs it"
REPLACED = ("not compiled", "equal to the compiler", "listed as equal")
# In front of these a `*`, `&`, `-` or `+` is unary, and a `*` may be a declaration: left alone.
OPENS = set("([{,;=:?<>!&|+-*/%^~") | {"return", "case", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "<<", ">>"}


def replacements(text):
    """(begin, end, new) of every token that can be changed, in the order of the text."""
    before = older = ";"
    depth = 0  # of parentheses, inside those that say how much room is asked for
    for found in TOKEN.finditer(text):
        token, kind = found.group(), found.lastgroup
        if kind == "skip":
            continue
        if depth or (token == "(" and before in ROOMS):
            depth += (token == "(") - (token == ")")
        new = None
        if token == "1" and before == "-" and older in OPENS:
            new = "0"
        elif kind == "number" and re.fullmatch(r"[0-9]+", token):
            new = str(int(token) + 1) if not depth or before in ("-", "/", "%") else None
        elif token in SWAPS and not (token in "*&-+" and before in OPENS) and not is_declaration(text, found, before):
            new = SWAPS[token]
        if new is not None:
            yield found.start(), found.end(), new
        before, older = token, before


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
    for name in tree_files():
        source, target = os.path.join(ROOT, name), os.path.join(COPY, name)
        if not (os.path.isfile(target) and read(source) == read(target)):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    for folder in ("src", "tests", "data"):
        for path, _, files in os.walk(os.path.join(COPY, folder)):
            for name in files:
                here = os.path.join(path, name)
                if not os.path.isfile(os.path.join(ROOT, os.path.relpath(here, COPY))):
                    os.remove(here)


def tree_files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                            check=True).stdout.split("\n")
    return [name for name in listed if name and os.path.isfile(os.path.join(ROOT, name))]


class Sums:
    """For each suite a sum over the files that it depends on: all of the program and of the tests, but for other suites'
    files, and for golden files and lists of tests/data that only other suites' files name."""

    def __init__(self):
        self.files = {name: hashlib.sha256(name.encode() + b"\0" + read(os.path.join(ROOT, name))).digest()
                      for name in tree_files() if name.startswith(("src/", "tests/", "data/", "Makefile"))}
        self.named_by = {}  # of files that suites' files name, those suites
        for name in self.files:
            suite = re.fullmatch(r"tests/unit/test_(\w+)\.c", name)
            text = read(os.path.join(ROOT, name)).decode() if suite else ""
            for word in set(re.findall(r'"([\w/]+\.txt)"', text)):
                for path in ("tests/golden/" + word, "tests/data/" + word):
                    self.named_by.setdefault(path, set()).add(suite.group(1))

    def of(self, suite):
        found = hashlib.sha256()
        for name, sum_of_file in self.files.items():
            other = re.fullmatch(r"tests/unit/test_(\w+)\.c", name)
            owners = {other.group(1)} if other else self.named_by.get(name, {suite})
            if suite in owners:
                found.update(sum_of_file)
        return found.hexdigest()


def make(*arguments):
    compiler = os.environ.get("CC", "gcc")
    return subprocess.run(["make", "CC=" + compiler, "TEST_CC=" + compiler, *arguments, "test-build"], cwd=COPY,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def build():
    done = make("-s", f"-j{os.cpu_count()}")
    if done.returncode:
        sys.exit("mutate: the tree does not build:\n" + done.stdout[-2000:])


def commands_for(path, variables, driver):
    """[(target, command)] that make would run if this source were new, the object first; those of the library that
    stands in for a driver only on demand."""
    found = []
    for line in make("-n", "V=1", "-W", path, *variables).stdout.replace("\\\n", " ").split("\n"):
        target = re.search(r"(?: -o |ar rcs )(\S+)", line)
        if target and (driver or target.group(1) not in DRIVER):
            found.append((target.group(1), line.replace(" -MMD -MP", "")))
    own = f"{PROGRAMS}/{path[:-2]}.o"
    found = [(target, line if driver else guarded(line)) for target, line in found]
    return sorted(found, key=lambda command: command[0] != own)


def guarded(line):
    """The command with sanitizers in what it compiles or links."""
    if " -c " in line:
        return line.replace(" -c ", GUARDED)
    return line.replace(f" {ARENA} ", f" {GUARDED_ARENA} ") + GUARDED_LINK


def make_guarded_arena():
    source = "src/base/arena.c"
    _, line = commands_for(source, [], False)[0]
    if not done_well(line.replace(ARENA, GUARDED_ARENA)):
        sys.exit("mutate: the arena with sanitizers is not built")


def moved(command, path, targets, folder):
    """The command with the source and the targets in a folder of their own."""
    names = "|".join(map(re.escape, [path, *targets]))
    return re.sub(rf"(?<![\w./])({names})(?![\w.])", lambda name: f"{folder}/{name.group()}", command)


def done_well(command):
    return subprocess.run(command, shell=True, cwd=COPY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def make_covered(paths):
    """Programs in COVERED whose objects of these sources count their lines, for gcc's gcov."""
    given = [word for path in paths for word in ("-W", path)]
    found = []
    for line in make("-n", "V=1", *given).stdout.replace("\\\n", " ").split("\n"):
        target = re.search(r"(?: -o |ar rcs )(" + PROGRAMS + r"/\S+)", line)
        if not target or target.group(1) in DRIVER:
            continue
        if "-c " not in line or target.group(1)[len(PROGRAMS) + 1:-2] + ".c" in paths:
            found.append((target.group(1), line.replace(" -MMD -MP", "")))
    targets = [target for target, _ in found]
    shutil.rmtree(os.path.join(COPY, COVERED), ignore_errors=True)
    names = re.compile(r"(?<![\w./])(" + "|".join(map(re.escape, targets)) + r")(?![\w.])")
    commands = []
    for target, line in found:
        os.makedirs(os.path.dirname(os.path.join(COPY, COVERED, target)), exist_ok=True)
        line = names.sub(lambda name: f"{COVERED}/{name.group()}", line)
        commands.append((" -c " not in line, line.replace(" -c ", COUNTED) if " -c " in line else line + " --coverage"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        compiled = all(list(workers.map(done_well, [line for linked, line in commands if not linked])))
    if not compiled or not all(done_well(line) for linked, line in commands if linked):
        sys.exit("mutate: the objects that count lines are not built")


def lines_of(suite):
    """The lines that the suite ran: path → ({line: run}, [(first line, last line, run)] of the functions)."""
    top = os.path.join(COPY, LINES, suite)
    found = {}
    for folder, _, files in os.walk(top):
        counted = [name for name in files if name.endswith(".gcda")]
        if not counted:
            continue
        here = os.path.join(COPY, COVERED, os.path.relpath(folder, top))
        for name in counted:
            os.symlink(os.path.join(here, name[:-5] + ".gcno"), os.path.join(folder, name[:-5] + ".gcno"))
        said = subprocess.run(["gcov", "-t", "-j", *[os.path.join(folder, name) for name in counted]], cwd=COPY,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for text in filter(None, said.stdout.split("\n")):
            for file in json.loads(text)["files"]:
                lines, functions = found.setdefault(file["file"], ({}, []))
                for line in file["lines"]:
                    lines[line["line_number"]] = lines.get(line["line_number"], False) or line["count"] > 0
                functions += [(f["start_line"], f["end_line"], f["execution_count"] > 0) for f in file["functions"]]
    shutil.rmtree(top, ignore_errors=True)
    return found


def watched(suite, tree):
    """(whether it passes, CPU seconds, what it ran) without a mutant, kept for the next run over the same files."""
    path = os.path.join(COPY, LINES, suite + ".pickle")
    if os.path.exists(path):
        kept = pickle.loads(read(path))
        if kept[0] == tree:
            return kept[1:]
    counts = path[:-len(".pickle")]
    shutil.rmtree(counts, ignore_errors=True)  # of a run that was ended
    os.makedirs(counts)
    passed, seconds = run(suite, 900, f"{COVERED}/{PROGRAMS}", counts)
    said = passed, seconds, lines_of(suite)
    with open(path, "wb") as file:
        pickle.dump((tree, *said), file)
    return said


def has_run(found, path, line):
    """Whether a suite ran the line. A line without code of its own goes by its function, one outside of functions by none."""
    lines, functions = found.get(path, ({}, []))
    if line in lines:
        return lines[line]
    inside = [ran for first, last, ran in functions if first <= line <= last]
    return any(inside) or not inside


def run(suite, seconds, programs, counts=None):
    """Whether the suite passes, no process of it taking more CPU seconds than that, and the seconds that all took."""
    def begin():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    # Limits of wall time are Check's: on a loaded machine a test that waits for the processor would count as failed.
    env = dict(os.environ, GEMMVIEW=programs + "/gemmview", GEMMVIEW_STRESS="0.00001", TEST_STOP="1", TEST_JOBS="1",
               CK_TIMEOUT_MULTIPLIER="20")
    if counts:
        depth = os.path.join(COPY, COVERED).count("/")
        env.update(GCOV_PREFIX=counts, GCOV_PREFIX_STRIP=str(depth))
    child = subprocess.Popen([programs + "/unit", suite], cwd=COPY, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=begin)
    given_up = time.monotonic() + 60 + 20 * seconds  # for what waits, and takes no CPU
    while True:
        pid, status, used = os.wait4(child.pid, os.WNOHANG)
        if pid or time.monotonic() > given_up:
            break
        time.sleep(0.01)
    child.returncode = status  # it is waited for here, not by Popen
    try:
        os.killpg(child.pid, signal.SIGKILL)  # what a suite that stopped has left behind
    except ProcessLookupError:
        pass
    if not pid:
        _, status, used = os.wait4(child.pid, 0)
    return bool(pid) and status == 0, used.ru_utime + used.ru_stime


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Mutants:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.table = read_table()
        self.equal = read_equal()
        self.took = {}
        self.ran = {}
        self.sums = None
        self.commands = {}
        self.originals = {}
        self.asking = threading.Lock()
        self.locks = {}  # of each suite: two workers time two suites beside each other
        self.texts = {path: read(os.path.join(ROOT, path)).decode() for path in self.sources()}
        self.sites = [(path, *site) for path, text in self.texts.items() for site in replacements(text)]

    def sources(self):
        found = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        return [path for path in found.stdout.split() if path.endswith(".c") and suites_of(path, self.table)]

    def seconds(self, suite):
        """The CPU time without a mutant, asked when it is first wanted; None when the suite fails."""
        with self.asking:
            lock = self.locks.setdefault(suite, threading.Lock())
        with lock:
            if suite not in self.took:
                passed, self.took[suite], self.ran[suite] = watched(suite, self.sums.of(suite))
                if not passed:
                    self.took[suite] = None
                    print("not asked, for it fails without a mutant:", suite, flush=True)
            return self.took[suite]

    def is_run(self, suite, path, line):
        return self.seconds(suite) is not None and has_run(self.ran[suite], path, line)

    def is_caught(self, path, line, programs):
        """CAUGHT, SURVIVED or NOT_RUN."""
        verdict = NOT_RUN
        for suites in suites_of(path, self.table):
            for suite in sorted((s for s in suites if self.is_run(s, path, line)), key=self.seconds):
                if not run(suite, int(4 * self.seconds(suite)) + 3, programs)[0]:
                    return CAUGHT
                verdict = SURVIVED
        return verdict

    def made(self, path, text, folder):
        """Puts the text in the place of the file; the commands that make its object and the programs from it."""
        if path not in self.commands:
            driver = any(DRIVER_SUITES & set(suites) for suites in suites_of(path, self.table))
            self.commands[path] = commands_for(path, [], driver)
        targets = [target for target, _ in self.commands[path]]
        shutil.rmtree(os.path.join(COPY, folder), ignore_errors=True)
        for name in [path, *targets]:
            os.makedirs(os.path.dirname(os.path.join(COPY, folder, name)), exist_ok=True)
        with open(os.path.join(COPY, folder, path), "w") as file:
            file.write(text)
        return [moved(command, path, targets, folder) for _, command in self.commands[path]]

    def plain(self, path, command, folder):
        """The bytes of the object without sanitizers and line numbers; None when it does not compile."""
        compiled = done_well(command.replace(" -c ", PLAIN))
        return read(os.path.join(COPY, folder, PROGRAMS, path[:-2] + ".o")) if compiled else None

    def judge(self, site):
        """CAUGHT, SURVIVED, NOT_RUN, or why it is replaced: a member of REPLACED."""
        path, begin, end, new = site
        text = self.texts[path]
        if self.judged_by(site) in self.equal:
            return "listed as equal"
        folder = f"build/mutants/{threading.get_native_id()}"
        place = (path, folder)  # an object knows where its source was
        if place not in self.originals:
            self.originals[place] = self.plain(path, self.made(path, text, folder)[0], folder)
        commands = self.made(path, text[:begin] + new + text[end:], folder)
        code = self.plain(path, commands[0], folder)
        if code == self.originals[place]:
            return "equal to the compiler"
        if code is None or not all(map(done_well, commands)):
            return "not compiled"
        return self.is_caught(path, text.count("\n", 0, begin) + 1, f"{folder}/{PROGRAMS}")

    def place(self, site):
        path, begin, end, new = site
        text = self.texts[path]
        line = text.count("\n", 0, begin) + 1
        column = begin - (text.rfind("\n", 0, begin) + 1) + 1
        source = text.splitlines()[line - 1].strip()
        return f"{path}:{line}:{column}: {text[begin:end]} became {new or 'nothing'}: {source}"

    def judged_by(self, site):
        """The same without line and column, which move: the line of source as the mutant has it."""
        path, begin, end, new = site
        text = self.texts[path]
        after = text.find("\n", end)
        return f"{path}: {text[begin:end]}: {(text[text.rfind(chr(10), 0, begin) + 1:begin] + new + text[end:after]).strip()}"


def verdicts(mutants, sites, jobs):
    """(site, verdict) in the order of the sites, some of them judged ahead."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as workers:
        ahead, left = [], iter(sites)
        try:
            while True:
                for site in left:
                    ahead.append((site, workers.submit(mutants.judge, site)))
                    if len(ahead) > 2 * jobs:
                        break
                if not ahead:
                    return
                site, verdict = ahead.pop(0)
                yield site, verdict.result()
        finally:
            for _, verdict in ahead:
                verdict.cancel()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a path that the mutated files begin with")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants judged at a time")
    parser.add_argument("--list", action="store_true", help="say what would be changed, and change nothing")
    given = parser.parse_args()
    mutants = Mutants(given.seed)
    sites = [site for site in mutants.sites if site[0].startswith(given.only)]
    mutants.random.shuffle(sites)
    if given.list:
        for site in sites[:given.count]:
            print(mutants.place(site))
        return 0
    # Ended from outside, too, it waits for what it started, and says how far it came.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    copy_tree()
    build()
    make_guarded_arena()
    make_covered(sorted(mutants.texts))
    mutants.sums = Sums()
    caught = tried = 0
    replaced = dict.fromkeys(REPLACED, 0)
    try:
        for site, verdict in verdicts(mutants, sites, given.jobs):
            if verdict in replaced:
                replaced[verdict] += 1
                continue
            tried += 1
            caught += verdict == CAUGHT
            if verdict != CAUGHT:
                print(f"{verdict}: {mutants.place(site)}", flush=True)
            if tried == given.count:
                break
    finally:
        print("replaced: " + ", ".join(f"{count} {why}" for why, count in replaced.items()))
        print(f"caught {caught} of {tried}", flush=True)
    return 0 if tried and caught >= ENOUGH * tried else 1


if __name__ == "__main__":
    sys.exit(main())

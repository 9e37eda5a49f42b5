#!/usr/bin/env python3
# mutants.py - changes one operator at a time, and looks whether a test notices.
#
# usage: tests/mutants.py [-n N] [--seed SEED] [--groups unit,cases,cli] [--only I,J] [--jobs N]
#
# N places (100) are drawn at random from the C files outside tests; each is one
# operator or constant that becomes another. What compiles to the same code is no
# mutant, and another place is drawn. No source is changed: a mutant is one object,
# in a library that all programs load in front of the one with the others, so it
# costs a compile of one file. First each test runs once over the files of the
# mutants built for gcov, which tells the lines that it runs: a mutant is tried
# against those that run its line, units before cases before scripts, the nearest
# and fastest first, until one fails: the mutant is killed. A table outside
# functions is tried against all. One that takes ten times as long as it did, and
# ten seconds, has failed. Everything is built in build-mutants.
# Prints a line for each mutant and, at the end, how many were killed and which
# are alive; the status is 1 if one is.
import argparse
import bisect
import collections
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

O = "build-mutants"
ABS = os.path.abspath(O)
FLAGS = "CFLAGS=-O1 -g0 -fPIC"
# with debug information, as some read their own; the library of mutants is empty yet
UNIT_FLAGS = "UNIT_CFLAGS=-O0 -U_FORTIFY_SOURCE -g -Wl,--no-as-needed"
FOLDERS = ("analyze", "cli", "formats", "schema", "stitch", "symbolize")
SWAPS = {
    "==": ("!=",), "!=": ("==",), "<": ("<=",), "<=": ("<",), ">": (">=",), ">=": (">",),
    "&&": ("||",), "||": ("&&",), "+": ("-",), "-": ("+",), "+=": ("-=",), "-=": ("+=",),
    "++": ("--",), "--": ("++",), "<<": (">>",), ">>": ("<<",), "true": ("false",),
    "false": ("true",), "&": ("|",), "|": ("&",), "!": ("",), "break": ("continue",),
    "0": ("1",), "1": ("0", "2"),
}
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|//[^\n]*|#[^\n]*(?:\\\n[^\n]*)*'
                   r'|[A-Za-z_]\w*|0[xX][0-9a-fA-F]+\w*|\d[\w.]*|->|\+\+|--|<<=|>>=|<<|>>|[-+*/%&|^=!<>]='
                   r'|&&|\|\||\S', re.S)
SECONDS = 600
# What ends by _exit() has run its lines, too.
DUMP = """#include <sys/syscall.h>
#include <unistd.h>
void __gcov_dump(void);
void _exit(int status)
{
	__gcov_dump();
	for (;;)
		syscall(SYS_exit_group, status);
}
"""


def places(path):
    """Yields (begin, end, new text) of each token of a function that can be another."""
    text = open(path).read()
    depth, before = 0, ""
    for m in TOKEN.finditer(text):
        word = m.group()
        if word[0] == "#" or word.startswith(("/*", "//")):
            continue
        if word in "{}":
            depth += 1 if word == "{" else -1
        if depth and word in SWAPS:
            binary = re.match(r"[\w)\]]", before) and before not in ("return", "case", "else")
            after = text[m.end():m.end() + 1]
            # neither pointers, signs and addresses nor designated arrays
            if word in "+-&|" and (not binary or after not in " \n"):
                pass
            elif word in "01" and before == "[":
                pass
            elif word in ("true", "false", "break") or not word.isalpha():
                for new in SWAPS[word]:
                    yield m.start(), m.end(), new
        before = word


def run(command, seconds=SECONDS, env=None, output=subprocess.DEVNULL):
    """Runs a command; returns whether it ended with 0 in time."""
    with subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL, start_new_session=True,
                          env=dict(os.environ, **(env or {}))) as p:
        try:
            return p.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            return False


def make(*args):
    made = subprocess.run(["make", "-j2", "LTO=", "O=" + O, FLAGS, UNIT_FLAGS, "WERROR="] + list(args),
                          capture_output=True, text=True, check=False)
    if made.returncode:
        sys.exit(made.stderr)
    return made.stdout


def libs():
    """What the program is linked with, by its Makefile."""
    dry = make("-n", "-W", "cli/main.c", O + "/backstitch")
    return re.findall(r"(?<=\s)-(?:l[\w-]+|pthread)", dry.splitlines()[-1])


def share(out, *members):
    return run(["gcc", "-shared", "-fuse-ld=lld", "-Wl,-soname," + os.path.basename(out), "-o", out] +
               list(members))


def build():
    """Builds everything once. Returns the command that compiles a file."""
    make("all", "mkcap", O + "/selfunwind", O + "/names/names")
    members = [o for o in glob.glob(O + "/**/*.o", recursive=True)
               if o.split("/")[1] in FOLDERS + ("schema_sql.o", "schema_empty.o", "cli_text.o")
               and o != O + "/cli/embed/embed_empty.o"]
    one, rest = ABS + "/libmutant.so", ABS + "/librest.so"
    if not share(one) or not share(rest, *members, *libs()):
        sys.exit("cannot link " + rest)
    # what make links with the archive gets the libraries
    with open(O + "/all.a", "w") as f:
        f.write("INPUT(%s %s)\n" % (one, rest))
    run(["gcc", "-o", O + "/backstitch", "-Wl,--no-as-needed", one, rest, "-Wl,-rpath," + ABS] + libs())
    # their sonames are found by this
    os.environ["LD_LIBRARY_PATH"] = ABS
    make(*("%s/unit/%s" % (O, os.path.basename(t)[:-2]) for t in glob.glob("tests/unit/*.c")))
    dry = make("-n", "-W", "cli/commands.c", O + "/cli/commands.o")
    line = [w for w in dry.splitlines() if "-MMD" in w][-1]
    return line.replace("-MMD -MP", "").split(" -c ")[0]


def compiled(command, path, text, obj, more=""):
    """Compiles a text in place of a file. Returns its code, or None."""
    with open(obj + ".c", "w") as f:
        f.write(text)
    os.makedirs(os.path.dirname(obj), exist_ok=True)
    if not run(["sh", "-c", "%s -I%s %s -c -o %s %s" % (command, os.path.dirname(path), more, obj, obj + ".c")]):
        return None
    return open(obj, "rb").read()


class Test:
    """A unit test, a script of cli, or all cases."""

    def __init__(self, group, name):
        self.group, self.name = group, name
        self.seconds, self.lines, self.text = 0, {}, ""
        if group == "unit":
            self.command = [ABS + "/unit/" + name]
            self.text = open("tests/unit/%s.c" % name).read()
        elif group == "cases":
            self.command = ["tests/cases/run.py"]
        else:
            self.command = ["sh", "tests/cli/%s.sh" % name]

    def passes(self, where, seconds=SECONDS, env=None):
        """As run.sh runs it; under sanitizers, all tests of a unit are one process, if it allows that."""
        alone = "/* A process for each test: " in self.text
        with tempfile.TemporaryDirectory() as work, tempfile.TemporaryFile() as out:
            env = dict(env or {}, CK_FORK="yes" if alone else "no", BACKSTITCH_NO_SYNC="1", HOME=work, TMPDIR=work,
                       LD_LIBRARY_PATH=where + ":" + ABS, BACKSTITCH=ABS + "/backstitch", MKCAP=ABS + "/mkcap",
                       MKFTRACE=ABS + "/mkftrace", ROOT=os.getcwd(), NO_COLOR="1", LC_ALL="C", TZ="UTC", SAN="",
                       LONG="", O=where if self.group == "cases" else ABS, CK_DEFAULT_TIMEOUT=str(seconds))
            good = run(self.command, seconds, env, out)
            out.seek(0)
            return good and not re.search(rb"^not ok ", out.read(), re.M)

    def reaches(self, path, line):
        """Does it run this line? None: it is in no function."""
        functions, lines = self.lines.get(path, ((), {}))
        if functions and not any(a <= line <= b for a, b in functions):
            return None
        # an expression of several lines has a number for some of them
        at = sorted(lines)
        i = bisect.bisect_right(at, line)
        return any(lines[n] for n in at[max(i - 1, 0):i + 1])


def learn(test, where):
    """Runs a test over the code that counts its lines."""
    with tempfile.TemporaryDirectory() as work:
        begun = time.monotonic()
        if not test.passes(where, env={"GCOV_PREFIX": work}):
            return False
        test.seconds = time.monotonic() - begun
        for data in glob.glob(work + "/**/*.gcda", recursive=True):
            note = data[len(work):-5] + ".gcno"
            shutil.copy(note, data[:-5] + ".gcno")
            said = subprocess.run(["gcov", "--json-format", "--stdout", data], capture_output=True, check=True,
                                  cwd=work)
            path = os.path.relpath(note[:-5], where)
            for f in json.loads(said.stdout)["files"]:
                if f["file"].endswith(path + ".o.c"):
                    test.lines[path + ".c"] = (
                        [(u["start_line"], u["end_line"]) for u in f["functions"]],
                        {n["line_number"]: n["count"] for n in f["lines"]})
    return True


def nearest(tests, path):
    """The tests in the order in which they are tried."""
    stem, folder = os.path.basename(path)[:-2], os.path.dirname(path)

    def near(t):
        return (("unit", "cases", "cli").index(t.group), t.seconds > 2,
                t.name != stem, "%s/%s.h" % (folder, stem) not in t.text, folder + "/" not in t.text, t.seconds)
    return sorted(tests, key=near)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("-n", type=int, default=100)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--groups", default="unit,cases,cli")
    ap.add_argument("--only", help="these mutants alone")
    ap.add_argument("--jobs", type=int, default=2)
    args = ap.parse_args()
    command = build()
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    drawn = [(path,) + place for folder in FOLDERS
             for path in sorted(glob.glob(folder + "/**/*.c", recursive=True)) for place in places(path)]
    random.Random(args.seed).shuffle(drawn)
    mutants, codes, obj = [], {}, ABS + "/one/draw.o"
    shutil.rmtree(ABS + "/one", ignore_errors=True)
    os.makedirs(ABS + "/one")
    for path, begin, end, new in drawn:
        if len(mutants) == args.n:
            break
        # what another build has, or a program of its own
        if not os.path.exists("%s/%s.o" % (O, path[:-2])) or path == "cli/embed/embed_empty.c":
            continue
        text = open(path).read()
        if path not in codes:
            codes[path] = compiled(command, path, text, obj)
        if compiled(command, path, text[:begin] + new + text[end:], obj) not in (None, codes[path]):
            mutants.append((path, begin, end, new))
            os.rename(obj, "%s/one/%d.o" % (ABS, len(mutants)))
    wanted = [int(i) for i in args.only.split(",")] if args.only else range(1, len(mutants) + 1)

    # where each test goes
    counted = ABS + "/counted"
    shutil.rmtree(counted, ignore_errors=True)
    objs = []
    for path in sorted({mutants[i - 1][0] for i in wanted}):
        objs.append("%s/%s.o" % (counted, path[:-2]))
        os.makedirs(os.path.dirname(objs[-1]), exist_ok=True)
        compiled(command, path, open(path).read(), objs[-1], "--coverage")
    with open(counted + "/dump.c", "w") as f:
        f.write(DUMP)
    if not run(["gcc", "-shared", "--coverage", "-fPIC", "-Wl,-soname,libmutant.so", "-o", counted + "/libmutant.so",
                counted + "/dump.c"] + objs):
        sys.exit("cannot link " + counted)
    tests = []
    for group in args.groups.split(","):
        names = [os.path.basename(t).rsplit(".", 1)[0] for t in sorted(
            glob.glob({"unit": "tests/unit/*.c", "cli": "tests/cli/*.sh"}.get(group, group)))]
        tests += [Test(group, name) for name in names or [group]]
    good = list(pool.map(lambda t: learn(t, counted), tests))
    bad = [t.group + "/" + t.name for t, g in zip(tests, good) if not g]
    tests = [t for t, g in zip(tests, good) if g]
    print("%d tests%s" % (len(tests), "; fail without a mutant: " + ", ".join(bad) if bad else ""), flush=True)

    said, alive, lock = collections.Counter(), [], threading.Lock()

    def attempt(i):
        path, begin, end, new = mutants[i - 1]
        text = open(path).read()
        line = text.count("\n", 0, begin) + 1
        shown = " ".join(text[text.rfind("\n", 0, begin) + 1:text.find("\n", end)].split())
        known = [t.reaches(path, line) for t in tests]
        inside = not any(k is None for k in known)
        those = [t for t, k in zip(tests, known) if k or not inside]
        where = "%s/one/%d" % (ABS, i)
        os.makedirs(where, exist_ok=True)
        share(where + "/libmutant.so", where + ".o")
        by = next((t.group + "/" + t.name for t in nearest(those, path)
                   if not t.passes(where, 10 + 10 * t.seconds)), None)
        with lock:
            said["killed" if by else "alive"] += 1
            if not by:
                alive.append("%s:%d" % (path, line))
            print("%d %s:%d '%s' as '%s': %s    %s" % (
                i, path, line, text[begin:end], new,
                "killed by " + by if by else "ALIVE, %d tests run it" % len(those), shown), flush=True)
    list(pool.map(attempt, wanted))
    print("%d killed, %d alive: %s" % (said["killed"], said["alive"], ", ".join(alive) or "none"))
    return bool(alive)


if __name__ == "__main__":
    sys.exit(main())

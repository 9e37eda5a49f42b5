#!/usr/bin/env python3
# mutants.py - changes one operator at a time, and looks whether a test notices.
#
# usage: tests/mutants.py [-n N] [--seed SEED] [--groups unit,cases] [--only I]
#
# N places (100) are drawn at random from the C files outside tests; each is one
# operator or constant that becomes another. What compiles to the same code is no
# mutant, and another place is drawn. The unit tests run first, those that include
# a header of the file's folder before the others, then the groups that are asked
# for, until one fails: the mutant is killed. The sources are changed in place, one
# at a time, and put back: run it in a checkout of its own. Everything is built
# once, as a shared library in build-mutants, so that a mutant costs one file.
# Prints a line for each mutant and, at the end, how many were killed and which
# are alive; the status is 1 if one is.
import argparse
import collections
import glob
import os
import random
import re
import signal
import subprocess
import sys

O = "build-mutants"
FOLDERS = ("cli", "formats", "schema", "stitch", "symbolize")
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
SECONDS = 300


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


def run(command, seconds=SECONDS, env=None):
    """Runs a command; returns whether it ended with 0 in time."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL, start_new_session=True,
                          env=dict(os.environ, **(env or {}))) as p:
        try:
            return p.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            return False


def make(*targets):
    return subprocess.run(["make", "-s", "-j2", "LTO=", "O=" + O, "CFLAGS=-O1 -g0 -fPIC",
                           "WERROR="] + list(targets), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)


def libs():
    """What the program is linked with, by its Makefile."""
    dry = subprocess.run(["make", "-n", "LTO=", "O=" + O, "CFLAGS=-O1 -g0 -fPIC", "-W", "cli/main.c",
                          O + "/backstitch"], capture_output=True, text=True, check=True)
    return re.findall(r"(?<=\s)-(?:l[\w-]+|pthread)", dry.stdout.splitlines()[-1])


def link(shared):
    """Links the library of all objects but main()."""
    members = [o for o in glob.glob(O + "/**/*.o", recursive=True)
               if o.split("/")[1] in FOLDERS + ("schema_sql.o", "schema_empty.o", "cli_text.o")
               and o not in (O + "/cli/main.o", O + "/cli/embed_empty.o")]
    return run(["gcc", "-shared", "-fuse-ld=lld", "-o", shared] + members + libs())


def build():
    """Builds everything once. Returns the unit tests."""
    made = make("all", "mkcap")
    if made.returncode:
        sys.exit(made.stderr.decode())
    shared = os.path.abspath(O + "/libmutant.so")
    if not link(shared):
        sys.exit("cannot link " + shared)
    # what make links with the archive gets the library
    with open(O + "/all.a", "w") as f:
        f.write("INPUT(%s)\n" % shared)
    run(["gcc", "-o", O + "/backstitch", O + "/cli/main.o", shared, "-Wl,-rpath," + os.path.dirname(shared)] +
        libs())
    names = [os.path.basename(t)[:-2] for t in sorted(glob.glob("tests/unit/*.c"))]
    made = make(*(O + "/unit/" + n for n in names))
    if made.returncode:
        sys.exit(made.stderr.decode())
    return names


def order(units, path):
    """The unit tests, those that are nearest to a file first."""
    stem, folder = os.path.basename(path)[:-2], os.path.dirname(path)

    def near(unit):
        text = open("tests/unit/%s.c" % unit).read()
        return (unit != stem, "%s/%s.h" % (folder, stem) not in text, folder + "/" not in text, unit)
    return sorted(units, key=near)


def unit_passes(unit):
    """As run.sh runs it under sanitizers: all its tests are one process, if it allows that."""
    alone = "/* A process for each test: " in open("tests/unit/%s.c" % unit).read()
    return run([O + "/unit/" + unit], env={"CK_FORK": "yes" if alone else "no",
                                           "BACKSTITCH_NO_SYNC": "1"})


def killer(path, units, groups):
    """Returns the name of the first test that fails, or None."""
    for unit in order(units, path) if "unit" in groups else ():
        if not unit_passes(unit):
            return "unit/" + unit
    for group in groups:
        if group != "unit" and not run(["tests/run.sh", group], 1800, {"O": O, "JOBS": "2"}):
            return group
    return None


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("-n", type=int, default=100)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--groups", default="unit,cases")
    ap.add_argument("--only", type=int, help="this mutant alone")
    args = ap.parse_args()
    units = build()
    bad = [u for u in units if not unit_passes(u)]
    units = [u for u in units if u not in bad]
    print("%d unit tests%s" % (len(units), "; fail without a mutant: " + ", ".join(bad) if bad else ""))
    drawn = [(path,) + place for folder in FOLDERS
             for path in sorted(glob.glob(folder + "/**/*.c", recursive=True)) for place in places(path)]
    random.Random(args.seed).shuffle(drawn)
    said, alive, tried = collections.Counter(), [], 0
    for path, begin, end, new in drawn:
        if tried == args.n:
            break
        obj = O + "/" + path[:-2] + ".o"
        if not os.path.exists(obj):
            continue
        text, code = open(path).read(), open(obj, "rb").read()
        line = text.count("\n", 0, begin) + 1
        shown = " ".join(text[text.rfind("\n", 0, begin) + 1:text.find("\n", end)].split())
        try:
            open(path, "w").write(text[:begin] + new + text[end:])
            if make(obj).returncode or open(obj, "rb").read() == code:
                continue
            tried += 1
            if args.only not in (None, tried):
                continue
            link(os.path.abspath(O + "/libmutant.so"))
            by = killer(path, units, args.groups.split(","))
        finally:
            open(path, "w").write(text)
            make(obj)
        said["killed" if by else "alive"] += 1
        print("%d %s:%d '%s' as '%s': %s    %s" % (tried, path, line, text[begin:end], new,
                                                 "killed by " + by if by else "ALIVE", shown), flush=True)
        if not by:
            alive.append("%s:%d" % (path, line))
    link(os.path.abspath(O + "/libmutant.so"))
    print("%d killed, %d alive: %s" % (said["killed"], said["alive"], ", ".join(alive) or "none"))
    return bool(alive)


if __name__ == "__main__":
    sys.exit(main())

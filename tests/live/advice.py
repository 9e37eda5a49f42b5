# advice.py - is the advice of the first screen and of check right? It is read there, followed, and measured.
"""usage: BACKSTITCH=PROGRAM advice.py [--only NAME,..]

Records a program in a state that has advice, reads it from what backstitch
prints, does what it says, and compares: the share of whole stacks must be no
more than 5 points below what was promised, and what was to go must be gone.
Prints a table; fails if one is not. Needs perf, as root; in no group, as its result
depends on the machine. What is not installed is left out."""

import os
import re
import shlex
import shutil
import sys
import tempfile

import record
from record import B, run

SLACK = 5.0
CLOCK = ["-F", "997", "-e", "cpu-clock"]
DEEP = """
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void down(int n, clock_t end)
{
	volatile char room[20000];
	/* what was never touched is not in memory, and no dump has it */
	for (int i = 0; i < 20000; i++)
		room[i] = n;
	if (n)
		down(n - 1, end);
	while (!n && clock() < end)
		sink += room[0];
	sink++;
}
int main(int argc, char **argv)
{
	down(2, clock() + (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC));
	return argc > 9;
}
"""


def capture(data, options, program, env=None):
    result = run("perf", "record", "-q", "-o", data, *options, "--", *program,
                 env={**os.environ, **(env or {})})
    if not os.path.exists(data):
        raise RuntimeError(result.stderr)


def mended(where, options, program, env=None, rounds=2):
    """What the first screen promises, and what came of it."""
    data = os.path.join(where, "perf.data")
    capture(data, CLOCK + options, program, env)
    before = record.whole(data)[0]
    said = ""
    promised = before
    while rounds:
        rounds -= 1
        first = run(B, data).stdout.split("\n")[0]
        found = re.search(r"'(perf record[^']*)' may mend (all of them|<?[\d.]+ %)", first)
        if not found:
            break
        said += ("; then " if said else "") + found[1]
        promised = record.whole(data)[0]
        promised += 100 if found[2][0] == "a" else float(found[2].strip("<% "))
        promised = min(promised, 100)
        capture(data, CLOCK + shlex.split(found[1])[2:], program, env)
    return said or "none", before, promised, record.whole(data)[0]


def gone(where, options, program, advice, key):
    """What check says to do, and whether it was left to say afterwards."""
    data = os.path.join(where, "perf.data")
    capture(data, options, program)
    said = " ".join(run(B, "check", data).stdout.split())
    found = re.search(advice, said)
    if not found:
        return "none: " + said[:200], 0, 0, 100
    words = shlex.split(found[1])
    if words[0] == "backstitch":
        run(B, *words[1:], "-o", data, "--", *program)
    else:
        more = [o for o in options if o != "-m" and o != "4"]
        capture(data, more + words[2:], program)
    after = " ".join(run(B, "check", data).stdout.split())
    return found[1], 0, 100, 0 if re.search(key, after) else 100


def rules(where):
    """Names, and functions that follow the advice."""
    s = str(record.SECONDS)
    hot = os.path.join(where, "hot.py")
    script = [os.path.join(record.TWINS, "script.js"), s]
    for name in "c", "fp", "clang", "static", "cxx", "rust", "go":
        program = os.path.join(where, name)
        if os.path.exists(program):
            yield name + " -g", lambda p=program: mended(where, ["-g"], [p, s])
    with open(os.path.join(where, "deep.c"), "w", encoding="ascii") as f:
        f.write(DEEP)
    run("gcc", "-O1", "-o", "deep", "deep.c", cwd=where)
    yield "60 kB of stack", lambda: mended(where, ["--call-graph", "dwarf"],
                                           [os.path.join(where, "deep"), s])
    yield "git, dwarf", lambda: mended(where, ["--call-graph", "dwarf"], [
        "git", "-C", record.ROOT, "log", "-p", "--stat", "-250"])
    for version, env in (("3.11", {}), ("3.12", {"PYTHONPERFSUPPORT": "1"}),
                         ("3.13", {"PYTHON_PERF_JIT_SUPPORT": "1"})):
        if record.python(version):
            yield "CPython %s -g" % version, lambda v=version, e=env: mended(
                where, ["-g", "-k", "mono"], [record.python(v), hot, s], e)
    if shutil.which("node"):
        yield "node --perf-basic-prof -g", lambda: mended(
            where, ["-g"], ["node", "--perf-basic-prof", *script])
    if shutil.which("java"):
        yield "java -g", lambda: mended(where, ["-g"], [
            "java", os.path.join(record.TWINS, "Script.java"), s])
    yield "switches sampled beside a clock", lambda: gone(
        where, ["-a", *CLOCK, "-e", "sched:sched_switch"], ["sleep", "1"],
        "record each switch: (perf record [-\\w :]*|backstitch record --waits)",
        "record each switch")
    yield "buffers of 16 kB, lost", lambda: gone(
        where, [*CLOCK, "--call-graph", "dwarf,16384", "-m", "4"],
        [os.path.join(where, "c"), s],
        "larger buffers: (perf record -m 4M)", "larger buffers")


def main():
    args = sys.argv[1:]
    only = args[args.index("--only") + 1].split(",") if "--only" in args else None
    where = tempfile.mkdtemp()
    bad = 0
    try:
        record.build(where)
        print("| state | advice | before % | promised % | after % |\n|---|---|---|---|---|")
        for name, follow in rules(where):
            if only and name not in only:
                continue
            said, before, promised, after = follow()
            # more than was promised is no harm
            wrong = after < promised - SLACK
            bad += wrong
            print("| %s | %s | %.2f | %.2f | %.2f |%s" % (
                name, said, before, promised, after, " WRONG" if wrong else ""), flush=True)
            for name in os.listdir(where):
                if name.startswith("perf.data"):
                    os.unlink(os.path.join(where, name))
    finally:
        shutil.rmtree(where)
    return 1 if bad else 0


sys.exit(main())

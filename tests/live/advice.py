# advice.py - is the advice of the first screen and of check right? It is read there, followed, and measured.
"""usage: BACKSTITCH=PROGRAM advice.py [--only NAME,..]

Records a program in a state that has advice, reads it from what backstitch
prints, does what it says, and compares: the share of whole stacks must be no
more than 5 points below what was promised, and what was to go must be gone.
A command that may say no more than that something was not recorded has a row of
TOLD. Not here is advice for what cannot be had in a second: of check, that for
--overwrite, throttling, AUX data, sessions of one task, cookies without room, late
records and guests; that for ftrace, LTTng and jitdumps, for --buildid-mmap and for
'sframe unwind'. 'view' shows what other commands print.
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
GUILE = """
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (work n) (let loop ((i 0) (acc '()))
  (if (= i n) (length (sort acc <))
    (loop (+ i 1) (cons (modulo (* i 7919) 10007) acc)))))
(define end (+ (get-internal-real-time)
  (* internal-time-units-per-second (string->number (cadr (command-line))))))
(let loop () (if (< (get-internal-real-time) end) (begin (fib 22) (work 3000) (loop))))
"""
# Python that calls C and is called by it, and that has most of its time in modules of C
CTYPES = """
import ctypes, json, re, sys, time, zlib
libc = ctypes.CDLL(None)
kind = ctypes.CFUNCTYPE(ctypes.c_int, *2 * [ctypes.POINTER(ctypes.c_int)])
compare = kind(lambda a, b: a[0] - b[0])
def sort(n):
    v = (ctypes.c_int * n)(*(i * 7919 % 10007 for i in range(n)))
    libc.qsort(v, n, 4, compare)
def pack(n):
    text = json.dumps([{str(i): [i] * 5} for i in range(n)])
    return len(zlib.compress(text.encode())) + len(re.findall('[0-9]+', text))
end = time.time() + float(sys.argv[2])
while time.time() < end:
    sort(200) if sys.argv[1] == "ctypes" else pack(400)
"""
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

GO = """
package main

import (
	"crypto/aes"
	"crypto/sha256"
	"encoding/json"
	"os"
	"regexp"
	"sort"
	"strconv"
	"time"
)

type pair[K comparable, V any] struct {
	Key K
	Val []V
}

func collect[K comparable, V any](n int, k func(int) K, v func(int) V) []pair[K, V] {
	all := []pair[K, V]{}
	for i := 0; i < n; i++ {
		all = append(all, pair[K, V]{k(i), []V{v(i), v(i + 1)}})
	}
	return all
}

var sink int

func work(what string) {
	buf := make([]byte, 1<<16)
	switch what {
	case "sha256":
		sink += int(sha256.Sum256(buf)[0])
	case "aes":
		block, _ := aes.NewCipher(buf[:16])
		for i := 0; i+16 <= len(buf); i += 16 {
			block.Encrypt(buf[i:i+16], buf[i:i+16])
		}
	case "json":
		text, _ := json.Marshal(collect(500, strconv.Itoa, strconv.Itoa))
		back := []pair[string, string]{}
		json.Unmarshal(text, &back)
		sink += len(back)
	case "regexp":
		sink += len(regexp.MustCompile("(a|b)*c[0-9]+").FindAllString(string(buf), -1))
	case "generics":
		all := collect(5000, func(i int) int { return i * 7919 % 5003 }, strconv.Itoa)
		sort.Slice(all, func(a, b int) bool { return all[a].Key < all[b].Key })
	case "frames":
		sink += deep(5)
	}
}

func deep(n int) int {
	var room [1024]int
	for i := range room {
		room[i] = n * i
	}
	if n == 0 {
		return room[7]
	}
	return deep(n-1) + room[n]
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[2], 64)
	for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); {
		work(os.Args[1])
	}
}
"""


def capture(data, options, program, env=None):
    result = run("perf", "record", "-q", "-o", data, *options, "--", *program,
                 env={**os.environ, **(env or {})})
    if not os.path.exists(data):
        raise RuntimeError(result.stderr)


def mended(where, options, program, env=None, rounds=2):
    """What the first screen promises, and what came of it, as often as it does."""
    data = os.path.join(where, "perf.data")
    capture(data, CLOCK + options, program, env)
    for _ in range(rounds):
        before = record.whole(data)[0]
        first = run(B, data).stdout.split("\n")[0]
        found = re.search(r"'(perf record[^']*)' may mend (all of them|<?[\d.]+ %)", first)
        if not found:
            break
        promised = 100 if found[2][0] == "a" else before + float(found[2].strip("<% "))
        capture(data, CLOCK + shlex.split(found[1])[2:], program, env)
        yield found[1], before, min(promised, 100), record.whole(data)[0]


def gone(where, options, program, advice, *tell):
    """What a command says to do, the first screen if none is given, and whether it
    was left to say afterwards."""
    data = os.path.join(where, "perf.data")

    def say():
        result = run(B, *tell, data)
        said = re.sub("<[^>]*>", "", result.stdout + result.stderr)
        return " ".join(said.split()), result.returncode in (0, 3, 4)

    capture(data, options, program)
    said, _ = say()
    found = re.search(advice, said)
    if not found:
        yield "none: " + said[:200], 0, 100, 0
        return
    words = shlex.split(found[1])
    os.unlink(data)
    if words[0] == "backstitch":
        run(B, *words[1:], "-o", data, "--", *program)
    else:
        # events of an advice are instead of others, and -c is of a rate
        more = [] if "-e" in words else list(options)
        for option in ["-m"] + ["-F"] * ("-c" in words):
            if option in more:
                del more[more.index(option):more.index(option) + 2]
        capture(data, more + words[2:], program)
    said, works = say()
    yield found[1], 0, 100, 100 * (works and not re.search(advice, said))


SWITCH = ["-e", "sched:sched_switch"]
SAMPLED = ["-a", "-F", "49", *SWITCH]
NAPS = ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.07; done"]
# what a command says of a recording, which is to be gone when it was followed
TOLD = (
    ("switches of one program: --off-cpu", ["-c", "1", *SWITCH],
     r"not all CPUs were recorded \((perf record -a)\)", "report", "--off-cpu"),
    ("switches of one program: path", ["-c", "1", *SWITCH],
     "record all CPUs, (perf record -a)", "path"),
    ("no switches: --off-cpu", CLOCK,
     "(perf record -a -e sched:sched_switch)", "report", "--off-cpu"),
    ("no switches: path", CLOCK,
     "(perf record -a -g -e sched:sched_switch[-\\w :]*)", "path"),
    ("no switches: Chrome", ["-a", *CLOCK],
     "(perf record --switch-events)", "export", "--format", "chrome", "-o",
     "/dev/null"),
    ("sampled switches: --off-cpu", SAMPLED, "'(perf record -c 1)'", "report",
     "--off-cpu"),
    ("sampled switches: path", SAMPLED,
     "without other events (perf record -a -c 1[-\\w :]*)", "path"),
    ("sampled switches: record --waits", SAMPLED,
     "record each switch and wake-up: (backstitch record --waits)", "path"),
    ("sampled switches: first screen", SAMPLED, "'(perf record -c 1)'"),
    ("sampled switches: page", SAMPLED, "(perf record -c 1) records all", "report",
     "--html", "-o", "/dev/stdout"),
    ("waits without a stack", ["-a", "-g", "--switch-events", *CLOCK],
     "(perf record -g -e sched:sched_switch -c 1)", "flame", "--off-cpu", "-o",
     "/dev/stdout"),
    ("no stacks: first screen", CLOCK, "'(perf record -g)' records them"),
    ("no stacks: page", CLOCK, "'(perf record -g)' records them", "report", "--html",
     "-o", "/dev/stdout"),
    ("no cgroups", CLOCK, "'(perf record --all-cgroups)'", "report", "--sort",
     "cgroup"),
)


def rules(where):
    """Names, and functions that follow the advice."""
    s = str(record.SECONDS)
    hot = os.path.join(where, "hot.py")
    script = [os.path.join(record.TWINS, "script.js"), s]
    for name in "c", "fp", "clang", "static", "cxx", "rust", "go":
        program = os.path.join(where, name)
        if os.path.exists(program):
            yield name + " -g", lambda p=program: mended(where, ["-g"], [p, s])
    for name, steps, flags in (("cgo", "20000", ""), ("cgo little C", "900", ""), (
            "cgo with frame pointers", "20000", "-fno-omit-frame-pointer")):
        program = os.path.join(where, name.replace(" ", "-"))
        run("go", "build", "-o", program, record.TWINS + "/cgo.go", env={
            **os.environ, "GO111MODULE": "off", "CGO_CFLAGS": "-O2 " + flags})
        if os.path.exists(program):
            yield name + " -g", lambda p=program, n=steps: mended(
                where, ["-g"], [p, s, n])
    with open(os.path.join(where, "kinds.go"), "w", encoding="ascii") as f:
        f.write(GO)
    for flags in ("", "-s -w"):
        program = os.path.join(where, "kinds" + flags.replace(" ", ""))
        if shutil.which("go"):
            run("go", "build", "-ldflags", flags, "-o", program,
                os.path.join(where, "kinds.go"), env={**os.environ, "GO111MODULE": "off"})
        for what in "sha256", "aes", "json", "regexp", "generics", "frames":
            if os.path.exists(program):
                yield "Go %s %s" % (what, flags), lambda p=program, w=what: mended(
                    where, ["-g"], [p, w, s])
    if shutil.which("guile"):
        scheme = os.path.join(where, "hot.scm")
        with open(scheme, "w", encoding="ascii") as f:
            f.write(GUILE)
        yield "guile -g", lambda: mended(where, ["-g"], ["guile", "--no-auto-compile",
                                                          scheme, s])
    with open(os.path.join(where, "deep.c"), "w", encoding="ascii") as f:
        f.write(DEEP)
    run("gcc", "-O1", "-o", "deep", "deep.c", cwd=where)
    yield "60 kB of stack", lambda: mended(where, ["--call-graph", "dwarf"],
                                           [os.path.join(where, "deep"), s])
    yield "git: dwarf", lambda: mended(where, ["--call-graph", "dwarf"], [
        "git", "-C", record.ROOT, "log", "-p", "--stat", "-250"])
    for version, env in (("3.11", {}), ("3.12", {"PYTHONPERFSUPPORT": "1"}),
                         ("3.13", {"PYTHON_PERF_JIT_SUPPORT": "1"})):
        if record.python(version):
            yield "CPython %s -g" % version, lambda v=version, e=env: mended(
                where, ["-g", "-k", "mono"], [record.python(v), hot, s], e)
    mixed = os.path.join(where, "mixed.py")
    with open(mixed, "w", encoding="ascii") as f:
        f.write(CTYPES)
    for what in "ctypes", "modules of C":
        if record.python("3.11"):
            yield "CPython 3.11 %s -g" % what, lambda w=what: mended(
                where, ["-g"], [record.python("3.11"), mixed, w, s])
    if shutil.which("node"):
        yield "node --perf-basic-prof -g", lambda: mended(
            where, ["-g"], ["node", "--perf-basic-prof", *script])
    for name, argv in (("ruby", ["ruby", os.path.join(where, "hot.rb"), s]),
                       ("perl", ["perl", "-e", record.PERL]),
                       ("stripped", [os.path.join(where, "stripped"), s])):
        if shutil.which(argv[0]):
            yield name + " -g", lambda a=argv: mended(where, ["-g"], a)
    if shutil.which("java"):
        yield "java -g", lambda: mended(where, ["-g"], [
            "java", os.path.join(record.TWINS, "Script.java"), s])
    yield "switches sampled beside a clock", lambda: gone(
        where, ["-a", *CLOCK, "-e", "sched:sched_switch"], ["sleep", "1"],
        "record each switch: (perf record [-\\w :]*|backstitch record --waits)", "check")
    yield "buffers of 16 kB: lost", lambda: gone(
        where, [*CLOCK, "--call-graph", "dwarf,16384", "-m", "4"],
        [os.path.join(where, "c"), s],
        "larger buffers: (perf record -m 4M)", "check")
    for name, options, advice, *tell in TOLD:
        yield name, lambda o=options, a=advice, t=tell: gone(
            where, o, NAPS, a, *t)


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
            n = 0
            for said, before, promised, after in follow():
                n += 1
                # more than was promised is no harm
                wrong = after < promised - SLACK
                bad += wrong
                print("| %s | %s | %.2f | %.2f | %.2f |%s" % (
                    name, said, before, promised, after, " WRONG" if wrong else ""), flush=True)
            if not n:
                print("| %s | none |" % name, flush=True)
            for left in os.listdir(where):
                if left.startswith("perf.data"):
                    os.unlink(os.path.join(where, left))
    finally:
        shutil.rmtree(where)
    return 1 if bad else 0


sys.exit(main())

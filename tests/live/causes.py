# causes.py - how often a comparison names the change that was planted.
"""usage: BACKSTITCH=PROGRAM causes.py [--only LANGUAGE,..] [RUNS [SECONDS [FOLDER]]]

Builds planted/orders.* in C++, Rust and Go as they are and with one change each:
in a leaf, spread over what a function calls, in a callee of two callers, by one
of these two, moved to another thread, inlined, an allocation more, a lock more.
Records each RUNS times (4), about SECONDS (1) of
processor time each, in turn, and compares them by
'report --diff', of one run and of RUNS a side, and prints how often the cause is
named first, how often something that did not change, and how many pairs of equal
programs show a change. Recordings that are in FOLDER are not made again. Fails if
19 of 20 are not named, or anything is that did not change. Needs perf, g++, rustc
and go; a language that has no compiler is left out. It is in no group, as its
result depends on the machine, whose load is printed."""

import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
ARGS = sys.argv[1:]
ONLY = ARGS[1].split(",") if ARGS[:1] == ["--only"] else None
ARGS = ARGS[2 if ONLY else 0:]
RUNS = int(ARGS[0]) if ARGS else 4
SECONDS = float(ARGS[1]) if len(ARGS) > 1 else 1
ENV = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME")}
# each change with the functions that it was made in, by their names in C++
PLANTED = {
    "leaf": ["mix"], "spread": ["index_words"], "shared": ["checksum"],
    "caller": ["verify"], "moved": ["clerk", "teller"], "inlined": ["scale", "matrix"],
    "alloc": ["parse"], "lock": ["push_order"],
}
# how to build, and to record, as 'backstitch record' does for C++: along frame
# pointers the caller of each leaf and of the C library would be missing
LANGUAGES = {
    "cc": (["g++", "-g", "-O2", "-pthread"], "dwarf,16384"),
    "rs": (["rustc", "-g", "-O", "-C", "codegen-units=1", "-C",
            "force-frame-pointers=yes"], "fp"),
    "go": (["go", "build"], "fp"),
}
NOINLINE = {"cc": "__attribute__((noinline))", "rs": "#[inline(never)]",
            "go": "//go:noinline"}
INLINE = {"cc": "__attribute__((always_inline)) inline", "rs": "#[inline(always)]",
          "go": ""}


def build(language, change, where):
    program = os.path.join(where, "%s-%s" % (language, change), "orders")
    if os.path.exists(program):
        return program
    os.makedirs(os.path.dirname(program), exist_ok=True)
    with open(os.path.join(HERE, "planted", "orders." + language),
              encoding="ascii") as f:
        text = f.read()
    for name in PLANTED:
        text = text.replace("PLANT_" + name.upper(), str(int(name == change)))
    text = text.replace("\nNOINLINE", "\n" + (INLINE if change == "inlined" else
                                              NOINLINE)[language])
    source = program + "." + language
    with open(source, "w", encoding="ascii") as f:
        f.write(text)
    subprocess.run(LANGUAGES[language][0] + ["-o", program, source], check=True,
                   env=ENV, cwd=os.path.dirname(program))
    return program


def rounds(program):
    """As many as take SECONDS."""
    n = 100
    while True:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([program, str(n)], check=True, env=ENV)
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        if took > SECONDS / 4:
            return str(max(1, int(n * SECONDS / took)))
        n *= 2


def record(language, program, n, path):
    if os.path.exists(path):
        return
    data = path + ".data"
    subprocess.run(["perf", "record", "-q", "-F", "1999", "-e", "cpu-clock:u", "-m", "4M",
                    "--call-graph", LANGUAGES[language][1], "-o", data, program, n],
                   env=ENV, check=True, stderr=subprocess.DEVNULL)
    subprocess.run([B, "ingest", "-q", "-o", path, data], check=True)
    os.remove(data)


def compare(a, b):
    out = subprocess.run([B, "report", "--diff", "--json"] + a + ["--"] + b, check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(out.stdout)


def plain(name):
    """main.indexWords and orders::index_words as index_words."""
    name = name.split("(")[0].replace("::", ".").split(".")[-1]
    return "".join("_" + c.lower() if c.isupper() else c for c in name)


def judge(change, answer):
    """Returns whether a cause was named, and whether it is the one planted."""
    cause = answer["cause"]
    if not cause:
        return False, False
    named = {plain(cause["symbol"]), plain(cause["instead"] or "")}
    return True, bool(named & set(PLANTED[change]))


def main():
    where = ARGS[2] if len(ARGS) > 2 else tempfile.mkdtemp()
    found = wrong = tried = equal = shown = 0
    try:
        print("load before: %.1f, on %d CPUs" % (os.getloadavg()[0], os.cpu_count()))
        languages = [k for k in LANGUAGES if shutil.which(LANGUAGES[k][0][0])
                     and (not ONLY or k in ONLY)]
        runs = {}
        for language in languages:
            programs = {c: build(language, c, where) for c in ["none"] + list(PLANTED)}
            keeper = os.path.join(where, language + "-rounds")
            if not os.path.exists(keeper):
                with open(keeper, "w", encoding="ascii") as f:
                    f.write(rounds(programs["none"]))
            with open(keeper, encoding="ascii") as f:
                n = f.read()
            for i in range(2 * RUNS):
                for change, program in programs.items():
                    if i >= RUNS and change != "none":
                        continue
                    path = os.path.join(where, "%s-%s-%d.db" % (language, change, i))
                    record(language, program, n, path)
                    runs.setdefault((language, change), []).append(path)
        print("load after: %.1f" % os.getloadavg()[0], flush=True)
        for language, change in itertools.product(languages, PLANTED):
            a, b = runs[language, "none"], runs[language, change]
            for n in sorted({1, RUNS}):
                answer = compare(a[:n], b[:n])
                named, right = judge(change, answer)
                tried += 1
                found += right
                wrong += named and not right
                if not right:
                    print("%s %s, %d a side: %s" % (language, change, n,
                                                    answer["says"]))
        for language in languages:
            a = runs[language, "none"]
            pairs = [([x], [y]) for x, y in itertools.combinations(a, 2)]
            pairs += [(a[:RUNS], a[RUNS:]), (a[::2], a[1::2])]
            for x, y in pairs:
                answer = compare(x, y)
                equal += 1
                if answer["cause"] and answer["cause"]["by"] == "share":
                    shown += 1
                    print("%s, equal: %s" % (language, answer["says"]))
    finally:
        if len(ARGS) <= 2:
            shutil.rmtree(where)
    print("named first: %d of %d; something else: %d; of %d pairs of equal runs %d "
          "show a change" % (found, tried, wrong, equal, shown))
    sys.exit(found * 20 < tried * 19 or wrong > 0)


main()

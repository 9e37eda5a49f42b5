# equal.py - how often 'diff' says that equal sides differ, and what a loss makes of that.
"""usage: BACKSTITCH=PROGRAM equal.py [--most N] FOLDER

FOLDER has the recordings of causes.py. Compares those of one case with each
other: all pairs of one run a side, by '--wall', and of the cases of which
nothing is planted also two and three runs a side, by '--wall', '--off-cpu' and
'--sched' ('--most N': so many of each, 20). Then three runs of the server are
recorded, and each tenth page of each CPU is cut out of them, with the mark that
the kernel leaves where it overwrote some: these are compared with the whole
ones, and with others. Prints each pair of which a row is said to be more or
less, and ends with status 1 if there is one. Needs root and ftrace."""

import contextlib
import glob
import itertools
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys

B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
ENV = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME")}
BASES = "none", "redis", "pg", "sqlite", "fio"
PAGE, LOST = 4096, 1 << 31


def changed(options, a, b):
    """The rows that are said to differ; None: they cannot be compared."""
    got = subprocess.run([B, "diff", *options, "--json", "--limit", "0", *a, "--", *b], env=ENV, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, check=False)
    if got.returncode:
        print("not compared:", *a, "--", *b, got.stderr.strip())
        return None
    try:
        rows = json.loads(got.stdout)["rows"]
    except ValueError as e:
        print("not JSON:", e, options, a, b, got.stdout[e.pos - 300:e.pos + 60], flush=True)
        return ["not JSON"]
    return [" ".join(str(r[k]) for k in ("kind", "name", "where", "time_percent", "time_p"))
            for r in rows
            if any(r[m + "_change"] for m in ("time", "per_s", "average", "p50", "p99"))]


def pairs(folder, most):
    cases = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.ftrace.*.db"))):
        cases.setdefault(os.path.basename(path).split(".ftrace.")[0], []).append(path)
    rnd = random.Random(1)
    for name, dbs in cases.items():
        more = ["--comm", "fio"] if name.startswith("fio") else []
        for a, b in itertools.combinations(dbs, 2):
            yield ["--wall"] + more, [a], [b]
    for name in BASES:
        dbs = cases.get(name, []) + cases.get(name + "2", [])
        more = ["--comm", "fio"] if name == "fio" else []
        for n in 2, 3:
            if len(dbs) < 2 * n:
                continue
            sides = list(itertools.combinations(dbs, 2 * n))
            for _ in range(most):
                some = list(rnd.choice(sides))
                rnd.shuffle(some)
                for what in ["--wall"] + more, ["--off-cpu", "--all"], ["--sched", "--all"]:
                    yield what, some[:n], some[n:]


def cut(path):
    """Cuts each tenth page out."""
    with open(path, "rb") as f:
        pages = [f.read(PAGE) for _ in range(os.path.getsize(path) // PAGE)]
    with open(path, "wb") as f:
        for i, page in enumerate(pages):
            if i % 10 == 5:
                continue
            if i % 10 == 6:
                stamp, commit = struct.unpack_from("<QQ", page)
                page = struct.pack("<QQ", stamp, commit | LOST) + page[16:]
            f.write(page)


def record_and_cut(folder):
    """Returns databases of whole recordings, and of what is left of them."""
    whole, less = [], []
    for n in range(3):
        raw = os.path.join(folder, "cut.%d.data" % n)
        whole.append(raw[:-5] + ".whole")
        less.append(raw[:-5] + ".less")
        if os.path.exists(less[-1]):
            continue
        subprocess.run([B, "record", "--waits", "--tracer", "ftrace", "-o", raw, "--", os.path.join(folder, "first"),
                        os.path.join(folder, "server"), "none", os.path.join(folder, "files")], env=ENV, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.rename(raw[:-5] + ".db", whole[-1])
        for path in glob.glob(raw + ".ftrace/per_cpu/*/trace_pipe_raw"):
            cut(path)
        inputs = [raw] + [raw + end for end in (".ftrace", ".cgroups") if os.path.exists(raw + end)]
        subprocess.run([B, "ingest", "-q", "-o", less[-1]] + inputs, env=ENV, check=False, stdout=subprocess.DEVNULL)
        for path in inputs:
            shutil.rmtree(path, ignore_errors=True)
            if os.path.exists(path):
                os.remove(path)
    return whole, less


def main():
    args, most = sys.argv[1:], 20
    if args[:1] == ["--most"]:
        most, args = int(args[1]), args[2:]
    folder = os.path.abspath(args[0])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    count, bad = {}, 0
    whole, less = record_and_cut(folder)
    removed = [(["--wall"], some, other) for some in [[x] for x in less] + [less] for other in [[x] for x in whole] + [whole]]
    removed += [(["--wall"], b, a) for _, a, b in removed]
    todo = [("equal",) + p for p in pairs(folder, most)] + [("a tenth removed from one side",) + p for p in removed]
    random.Random(2).shuffle(todo)
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C ends it early
        for kind, options, a, b in todo:
            found = changed(options, a, b)
            if found is None:
                continue
            key = kind, len(a), len(b), options[0]
            n = count.setdefault(key, [0, 0])
            n[0] += 1
            n[1] += found != []
            if found:
                bad += 1
                print(*options, *(re.sub(r"\.ftrace|\.db", "", os.path.basename(x)) for x in a), "--",
                      *(re.sub(r"\.ftrace|\.db", "", os.path.basename(x)) for x in b), *found, sep="\n  ", flush=True)
    for (kind, n, m, what), (tried, said) in count.items():
        print("%s, %d and %d runs, %s: %d of %d said to differ" % (kind, n, m, what, said, tried))
    print("in all: %d of %d" % (bad, sum(n[0] for n in count.values())))
    return bad > 0


sys.exit(main())

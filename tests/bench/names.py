# names.py - naming with source lines and inlined functions, ours and others'.
"""usage: names.py BUILD

Records the tests' own program at work (it and the C library have debug
information), once with frame pointers, once with stack dumps, and names all
distinct frames: perf script with and without --no-inline (perf 6.1 looks for
inlined functions only in unwound stack dumps), one eu-addr2line -i and one
addr2line -i fed with the same addresses per file, and ours, without and with
what it remembers. Stack dumps are perf's to unwind: ours gets the addresses
that perf found."""

import collections
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

BUILD = sys.argv[1]
US = os.path.abspath(os.path.join(BUILD, "backstitch"))
DATA = "bench/names.data"
DUMPS = "bench/names-dwarf.data"
RUNS = int(os.environ.get("BENCH_RUNS", "3"))


def best(cmd, runs=RUNS, **kw):
    times = []
    for _ in range(runs):
        start = time.monotonic()
        subprocess.run(cmd, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, **kw)
        times.append(time.monotonic() - start)
    return min(times)


def record(data, freq, graph):
    if os.path.exists(data):
        return
    work = [p for p in ("bench/big.data", "bench/small.data")
            if os.path.exists(p)]
    work = work[0] if work else "tests/captures/z-defer.data"
    subprocess.run(["perf", "record", "-q", "-N", "-o", data, "-F", freq, "-e",
                    "cpu-clock", "--call-graph", graph, "--", "sh", "-c",
                    "for i in 1 2 3 4 5 6 7 8; do %s ingest -f -o bench/x.db "
                    "%s; %s report bench/x.db >/dev/null; done"
                    % (US, work, US)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def debug_file(path):
    p = subprocess.run(["readelf", "-SnW", path], capture_output=True,
                       text=True)
    if " .debug_info " in p.stdout:
        return path
    m = re.search(r"Build ID: (..)(\w+)", p.stdout)
    debug = m and "/usr/lib/debug/.build-id/%s/%s.debug" % m.groups()
    return debug if debug and os.path.exists(debug) else None


FRAME = re.compile(r"^\s+([0-9a-f]+) \((/[^)]*)\)$")


def lookup(lists, extra=()):
    """Seconds of ours for all files."""
    total = 0
    for path, text in lists.items():
        p = subprocess.run([os.path.join(BUILD, "names/lines"), path, "3",
                            *extra], input=text, text=True,
                           capture_output=True)
        m = re.search(r"([\d.]+) ms$", p.stderr)
        total += float(m[1]) / 1e3 if m else 0
    return total


def dumps():
    """perf script with inlined functions against ours of its addresses."""
    perf = ["perf", "--no-pager", "script", "-i", DUMPS, "-F"]
    p = subprocess.run(perf + ["ip,dso", "--no-inline"], text=True,
                       capture_output=True)
    lists = collections.defaultdict(set)
    for line in p.stdout.split("\n"):
        m = FRAME.match(line)
        if m and os.path.exists(m[2]):
            lists[m[2]].add(int(m[1], 16))
    lists = {path: "".join("%x\n" % a for a in sorted(s))
             for path, s in lists.items() if debug_file(path)}
    fields = "comm,tid,time,event,ip,sym,dso"
    print("%s: %.1f MB, %d distinct addresses in %d files with debug "
          "information" % (DUMPS, os.path.getsize(DUMPS) / 1e6, sum(
              t.count("\n") for t in lists.values()), len(lists)))
    without = best(perf + [fields, "--no-inline"], 1)
    with_all = best(["timeout", "300"] + perf + [fields], 1)
    with tempfile.TemporaryDirectory() as tmp:
        ingest = best([US, "ingest", "-f", "--no-cache", "--no-lines", "-o",
                       os.path.join(tmp, "x.db"), DUMPS])
    ours = lookup(lists)
    for name, seconds in (("perf script --no-inline", without),
                          ("perf script (stopped after 300 s)", with_all),
                          ("ingest without lines", ingest),
                          ("look-up of the same addresses", ours)):
        print("  %-48s %9.3f s" % (name, seconds))
    ratio("perf script / ingest and look-up", with_all, ingest + ours, 20)
    ratio("inlined functions only, perf / ours", with_all - without, ours, 20)


def ratio(name, a, b, wanted):
    print("  %-48s %7.1f  (target >= %g)%s"
          % (name, a / b, wanted, "" if a / b >= wanted else "  MISSED"))


def main():
    os.makedirs("bench", exist_ok=True)
    record(DATA, "20000", "fp")
    record(DUMPS, "2000", "dwarf,8192")
    size = os.path.getsize(DATA)
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, XDG_CACHE_HOME=tmp)
        db = os.path.join(tmp, "n.db")
        base = [US, "ingest", "-f", "-o", db]
        plain = best(base + ["--no-symbols", DATA], env=env)
        none = best(base + ["--no-lines", "--no-cache", DATA], env=env)
        cold = best(base + ["--no-cache", DATA], env=env)
        subprocess.run(base + [DATA], env=env, check=True,
                       stderr=subprocess.DEVNULL)
        warm = best(base + [DATA], env=env)
        con = sqlite3.connect(db)
        frames = collections.defaultdict(set)
        for path, vaddr in con.execute(
                "SELECT i.file, f.vaddr FROM frame f JOIN image i"
                " ON i.id = f.image WHERE f.vaddr NOT NULL"):
            frames[path].add(vaddr)
        inlined = con.execute("SELECT count(*) FROM inline_frame")
        inlined = inlined.fetchone()[0]
        con.close()
        lists = {}
        for path, addrs in frames.items():
            debug = debug_file(path)
            if debug:
                lists[path] = (debug, "".join("%x\n" % a
                                              for a in sorted(addrs)))
        n = sum(len(a) for a in frames.values())
        print("%s: %.1f MB, %d distinct user addresses, %d of them in %d "
              "files with debug information, %d inlined functions"
              % (DATA, size / 1e6, n,
                 sum(t.count("\n") for _, t in lists.values()), len(lists),
                 inlined))
        took = {}
        took["ingest, not named"] = plain
        took["ingest, named, no lines"] = none
        took["ingest, with lines"] = cold
        took["ingest, with lines, remembered"] = warm
        texts = {path: text for path, (_, text) in lists.items()}
        alone = lookup(texts)
        lookup(texts, [tmp])
        again = lookup(texts, [tmp])
        took["look-up alone"] = alone
        took["look-up alone, remembered"] = again
        for tool in ("eu-addr2line", "addr2line"):
            if not shutil.which(tool):
                continue
            took[tool + " -i -f"] = sum(
                best([tool, "-i", "-f", "-C", "-e",
                      path if tool[0] == "e" else debug],
                     input=text.encode())
                for path, (debug, text) in lists.items())
        perf = ["perf", "--no-pager", "script", "-i", DATA, "-F",
                "comm,tid,time,event,ip,sym,dso"]
        took["perf script --no-inline"] = best(perf + ["--no-inline"], 1)
        for name, seconds in took.items():
            print("  %-48s %9.3f s" % (name, seconds))
        print("ratios")
        if "eu-addr2line -i -f" in took:
            ratio("eu-addr2line / look-up",
                  took["eu-addr2line -i -f"], alone, 3)
        ratio("look-up / remembered", alone, again, 10)
    dumps()


if __name__ == "__main__":
    main()

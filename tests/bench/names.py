# names.py - naming with source lines and inlined functions, ours and others'.
"""usage: names.py BUILD

Records this program at work with frame pointers and names all distinct
frames: one eu-addr2line -i and one addr2line -i per file, fed with the same
addresses, and ours, without and with what it remembers.

perf 6.1 looks for inlined functions only in unwound stack dumps, so three are
recorded: of this program (it and the C library have debug information), of a
large program with debug information (a fuzz target: several times as many
addresses), and of a large one without any (the C compiler). perf script with
and without --no-inline is measured against our whole ingest, which unwinds and
names the same dumps; its inlined functions alone against a look-up of every
address that perf found. perf is stopped after $BENCH_LIMIT (120) seconds; a
ratio is then a lower bound.

Of each capture the names are taken away again and 'backstitch symbolize' gives
them back, for the first time and with what it remembers then: the whole
command, which also puts them away and checks call sites, and the look-up of
all its user addresses. All ratios stand side by side at the end."""

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
RUNS = int(os.environ.get("BENCH_RUNS", "3"))
LIMIT = int(os.environ.get("BENCH_LIMIT", "120"))


def best(cmd, runs=RUNS, **kw):
    times = []
    for _ in range(runs):
        start = time.monotonic()
        subprocess.run(cmd, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, **kw)
        times.append(time.monotonic() - start)
    return min(times)


def record(data, freq, graph, cmd):
    if os.path.exists(data):
        return
    subprocess.run(["perf", "record", "-q", "-N", "-o", data + ".new", "-F",
                    freq, "-e", "cpu-clock", "--call-graph", graph, "--",
                    "sh", "-c", cmd], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.rename(data + ".new", data)


def own_work():
    work = [p for p in ("bench/big.data", "bench/small.data")
            if os.path.exists(p)]
    work = work[0] if work else "tests/captures/z-defer.data"
    return ("for i in 1 2 3 4 5 6 7 8; do %s ingest -f -o bench/x.db %s; "
            "%s report bench/x.db >/dev/null; done" % (US, work, US))


FUZZ = ("mkdir -p bench/corpus; build-fuzz/fuzz/pipeline -seed=1 "
        "-runs=2000 -max_len=16384 -rss_limit_mb=2048 bench/corpus "
        "tests/fuzz/perf.seeds; rm -rf bench/corpus; true")
COMPILE = ("for f in cli/commands/flame.c symbolize/dwarf/dwarf.c schema/store.c; do "
           "gcc -std=gnu11 -D_GNU_SOURCE -I. -O2 -S -o /dev/null $f; done")


def debug_file(path):
    p = subprocess.run(["readelf", "-SnW", path], capture_output=True,
                       text=True)
    if " .debug_info " in p.stdout:
        return path
    m = re.search(r"Build ID: (..)(\w+)", p.stdout)
    debug = m and "/usr/lib/debug/.build-id/%s/%s.debug" % m.groups()
    return debug if debug and os.path.exists(debug) else None


FRAME = re.compile(r"^\s+([0-9a-f]+) \((/[^)]*)\)$")


TAKE_AWAY = """
UPDATE frame SET symbol = NULL, symoff = NULL, vaddr = NULL, file = NULL,
	line = NULL;
UPDATE image SET file = NULL, status = NULL;
DELETE FROM symbol; DELETE FROM inline_frame; DELETE FROM internal_segment;
DELETE FROM internal_image_section; DELETE FROM internal_label; DELETE FROM internal_callsite;
DELETE FROM internal_callsite_link; DELETE FROM internal_stack_check;
VACUUM;
"""


def addresses(db):
    """Of each file, the distinct user addresses."""
    frames = collections.defaultdict(set)
    con = sqlite3.connect(db)
    for path, vaddr in con.execute(
            "SELECT i.file, f.vaddr FROM frame f JOIN image i"
            " ON i.id = f.image WHERE f.vaddr NOT NULL"):
        frames[path].add(vaddr)
    con.close()
    return {path: "".join("%x\n" % a for a in sorted(s))
            for path, s in frames.items()}


def again(data, what, tmp, env):
    """Naming for the first time and with what is remembered then."""
    db = os.path.join(tmp, "again.db")
    bare = os.path.join(tmp, "bare.db")
    cache = os.path.join(tmp, "backstitch")
    subprocess.run([US, "ingest", "-f", "-q", "--no-cache", "-o", db, data],
                   env=env, check=True)
    lists = addresses(db)
    con = sqlite3.connect(db)
    con.executescript(TAKE_AWAY)
    con.close()
    os.rename(db, bare)
    took = {True: [], False: []}
    for cold in [True] * RUNS + [False] * RUNS:
        if cold:
            shutil.rmtree(cache, ignore_errors=True)
        shutil.copy(bare, db)
        took[cold].append(best([US, "symbolize", db], 1, env=env))
    first, second = min(took[True]), min(took[False])
    shutil.rmtree(cache, ignore_errors=True)
    alone = lookup(lists)
    lookup(lists, [cache])
    remembered = lookup(lists, [cache])
    shutil.rmtree(cache, ignore_errors=True)
    for name, seconds in (("ours, symbolize, first", first),
                          ("ours, symbolize, remembered", second),
                          ("ours, look-up of all addresses", alone),
                          ("ours, the same, remembered", remembered)):
        print("  %-48s %9.4f s" % (name, seconds))
    ratio(what + ": look-up / remembered", alone, remembered, 10)
    ratio(what + ": symbolize first / remembered", first, second)


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


def perf_addresses(data):
    """Of each file, the distinct addresses that perf unwound."""
    p = subprocess.run(["perf", "--no-pager", "script", "-i", data, "-F",
                        "ip,dso", "--no-inline"], text=True,
                       stderr=subprocess.DEVNULL, stdout=subprocess.PIPE)
    lists = collections.defaultdict(set)
    for line in p.stdout.split("\n"):
        m = FRAME.match(line)
        if m and os.path.exists(m[2]):
            lists[m[2]].add(int(m[1], 16))
    return {path: "".join("%x\n" % a for a in sorted(s))
            for path, s in lists.items()}


def count(lists):
    return sum(text.count("\n") for text in lists.values())


def dumps(data, what):
    """perf script with inlined functions against ours of its addresses."""
    perf = ["perf", "--no-pager", "script", "-i", data, "-F"]
    fields = "comm,tid,time,event,ip,sym,dso"
    lists = perf_addresses(data)
    debug = {path: t for path, t in lists.items() if debug_file(path)}
    print("%s (%s): %.1f MB, %d distinct addresses, %d of them in %d files "
          "with debug information"
          % (data, what, os.path.getsize(data) / 1e6, count(lists),
             count(debug), len(debug)))
    without = best(perf + [fields, "--no-inline"], 1)
    with_all = best(["timeout", str(LIMIT)] + perf + [fields], 1)
    stopped = with_all >= LIMIT
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, XDG_CACHE_HOME=tmp)
        db = os.path.join(tmp, "x.db")
        base = [US, "ingest", "-f", "-o", db, data]
        whole = best(base + ["--no-cache"], env=env)
        no_lines = best(base + ["--no-cache", "--no-lines"], env=env)
        ours = lookup(lists)
        for name, seconds in (("perf script --no-inline", without),
                              ("perf script" + ", stopped" * stopped,
                               with_all),
                              ("ours, the whole ingest", whole),
                              ("ours, without lines", no_lines),
                              ("ours, look-up of perf's addresses", ours)):
            print("  %-48s %9.3f s" % (name, seconds))
        again(data, what, tmp, env)
    ratio(what + ": perf script / ours, all of it", with_all, whole, 20,
          stopped)
    ratio(what + ": its inlined functions only", with_all - without, ours, 20,
          stopped)
    ratio(what + ": perf script --no-inline / ours", without, no_lines)


RATIOS = []


def ratio(name, a, b, wanted=None, at_least=False):
    RATIOS.append((name, a / b, wanted, at_least))


def print_ratios():
    print("ratios")
    for name, r, wanted, at_least in RATIOS:
        note = ""
        if wanted:
            note = "  (target >= %g)%s" % (wanted,
                                           "" if r >= wanted else "  MISSED")
        print("  %-52s %2s%7.1f%s" % (name, ">=" if at_least else "", r, note))


def main():
    os.makedirs("bench", exist_ok=True)
    record(DATA, "20000", "fp", own_work())
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
        all_texts = addresses(db)
        con = sqlite3.connect(db)
        inlined = con.execute("SELECT count(*) FROM inline_frame")
        inlined = inlined.fetchone()[0]
        con.close()
        lists = {}
        for path, text in all_texts.items():
            debug = debug_file(path)
            if debug:
                lists[path] = (debug, text)
        n = count(all_texts)
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
        alone = lookup({path: text for path, (_, text) in lists.items()})
        took["look-up alone"] = alone
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
        if "eu-addr2line -i -f" in took:
            ratio("eu-addr2line / look-up",
                  took["eu-addr2line -i -f"], alone, 3)
        again(DATA, "frame pointers", tmp, env)
    record("bench/names-dwarf.data", "2000", "dwarf,8192", own_work())
    dumps("bench/names-dwarf.data", "this program")
    if os.path.exists("build-fuzz/fuzz/pipeline"):
        record("bench/names-fuzz.data", "1000", "dwarf,8192", FUZZ)
        dumps("bench/names-fuzz.data", "fuzz target")
    else:
        print("no build-fuzz/fuzz/pipeline: 'make fuzz' makes it")
    record("bench/names-cc1.data", "1000", "dwarf,8192", COMPILE)
    dumps("bench/names-cc1.data", "compiler")
    print_ratios()


if __name__ == "__main__":
    main()

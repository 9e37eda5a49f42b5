# measure.py - whole-process wall time and peak memory, ours and perf's, in one run.
"""usage: measure.py BUILD BIG SMALL

Programs are run in turn (one of each, then again), so that a slow moment of
the machine hits them all. Best and median of $BENCH_RUNS (3) are printed, and
the targets that we set ourselves with what was reached."""

import glob
import os
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import time

BUILD, BIG, SMALL = sys.argv[1:4]
RUNS = int(os.environ.get("BENCH_RUNS", "3"))
US = os.path.join(BUILD, "backstitch")
DB = "bench/big.db"
BASIC = "bench/basic.db"


def run(args, limit=None):
    """(seconds, peak KiB, status) of one process with all its threads."""
    def prepare():
        if limit:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    with open("bench/out.log", "wb") as log:
        start = time.monotonic()
        p = subprocess.Popen(args, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=log,
                             preexec_fn=prepare)
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = status
        return time.monotonic() - start, usage.ru_maxrss, status


def exporter():
    found = glob.glob("/usr/libexec/perf-core/scripts/python/"
                      "export-to-sqlite.py") + glob.glob(
        "/usr/*/perf*-core/scripts/python/export-to-sqlite.py")
    return found[0] if found else None


def contenders():
    perf = ["perf", "--no-pager"]
    yield "ingest, no symbols", [US, "ingest", "-f", "--fields", "none",
                                 "--no-symbols", "-o", BASIC, BIG]
    yield "ingest", [US, "ingest", "-f", "--fields", "none", "-o", DB, BIG]
    yield "perf script, cheapest", perf + [
        "script", "-i", BIG, "-F", "comm,tid,time,event,ip"]
    yield "perf script --no-inline", perf + ["script", "--no-inline", "-i",
                                             BIG]
    yield "perf report --stdio", perf + ["report", "--stdio", "--no-inline",
                                         "-i", BIG]
    path = exporter()
    if path:
        yield "export-to-sqlite.py", perf + [
            "script", "-i", BIG, "-s", path, "bench/export.db"]


def records():
    p = subprocess.run(["perf", "--no-pager", "report", "--stats", "-i", BIG],
                       capture_output=True, text=True)
    m = re.search(r"TOTAL events:\s+(\d+)", p.stdout)
    return int(m[1]) if m else 0


def timed_query(sql, *args):
    con = sqlite3.connect("file:%s?mode=ro" % DB, uri=True)
    start = time.monotonic()
    n = sum(1 for _ in con.execute(sql, args))
    return time.monotonic() - start, n


def insertion(n):
    """The plain insertion of as many rows, in seconds; None: not to be had.
    tests/bench/insert.c prints 'plain ... N rows/s'."""
    prog = os.path.join(BUILD, "bench/insert")
    if not os.path.exists(prog):
        return None
    p = subprocess.run([prog, str(n)], capture_output=True, text=True)
    sys.stdout.write(p.stdout)
    m = re.search(r"plain.*?([0-9.]+)\s*M? rows/s", p.stdout)
    if not m:
        return None
    rate = float(m[1]) * (1e6 if "M rows/s" in m[0] else 1)
    return n / rate


def target(name, reached, wanted, smaller_is_better=False):
    if reached is None:
        print("  %-52s not measured" % name)
        return
    good = reached <= wanted if smaller_is_better else reached >= wanted
    print("  %-52s %8.3f  target %s %g  %s"
          % (name, reached, "<=" if smaller_is_better else ">=", wanted,
             "reached" if good else "MISSED"))


def smallest_limit(capture):
    """The smallest RLIMIT_DATA in MiB under which a capture is ingested."""
    for mib in (24, 32, 48, 64, 80, 96, 128, 192, 256, 512, 1024):
        _, _, status = run([US, "ingest", "-f", "--fields", "none", "-o",
                            "bench/limit.db", capture], mib << 20)
        if status == 0:
            return mib
    return None


def main():
    n = records()
    size = os.path.getsize(BIG)
    print("%s: %d records, %.1f MB" % (BIG, n, size / 1e6))
    took, peak, tried = {}, {}, set()
    jobs = list(contenders())
    for _ in range(RUNS):
        for name, args in jobs:
            if name == "export-to-sqlite.py":
                if name in tried:
                    continue
                tried.add(name)
                if os.path.exists("bench/export.db"):
                    os.unlink("bench/export.db")
            seconds, kib, status = run(args)
            if status and name == "export-to-sqlite.py":
                continue
            if status:
                with open("bench/out.log") as f:
                    print("%s failed: %s" % (name, f.read()[-400:].strip()))
                continue
            took.setdefault(name, []).append(seconds)
            peak[name] = max(peak.get(name, 0), kib)
    print("  %-26s %8s %8s %12s %9s" % ("", "best s", "median", "records/s",
                                        "peak MiB"))
    for name, times in took.items():
        print("  %-26s %8.2f %8.2f %12d %9.0f"
              % (name, min(times), statistics.median(times),
                 n / min(times), peak[name] / 1024))
    if "export-to-sqlite.py" not in took:
        print("  export-to-sqlite.py: not available here (it is a script of "
              "perf's and needs PySide)")
    if os.path.exists("bench/export.db"):
        os.unlink("bench/export.db")
    best = {k: min(v) for k, v in took.items()}

    def ratio(a, b):
        return best[a] / best[b] if a in best and b in best else None
    print("ratios (best times)")
    target("perf script, cheapest / ingest, no symbols",
           ratio("perf script, cheapest", "ingest, no symbols"), 4)
    target("perf script --no-inline / ingest",
           ratio("perf script --no-inline", "ingest"), 6)
    target("perf report --stdio / ingest",
           ratio("perf report --stdio", "ingest"), 1)
    target("export-to-sqlite.py / ingest",
           ratio("export-to-sqlite.py", "ingest"), 25)
    plain = insertion(n)
    target("ingest, no symbols / plain insertion",
           best["ingest, no symbols"] / plain
           if plain and "ingest, no symbols" in best else None, 1.5, True)
    if "ingest" not in best:
        return 1
    target("database / capture", os.path.getsize(DB) / size, 1 / 3, True)
    seconds, rows = timed_query("SELECT * FROM folded")
    target("folded, seconds (%d rows)" % rows, seconds, 2, True)
    con = sqlite3.connect(DB)
    event = con.execute("SELECT event_id FROM samples LIMIT 1 OFFSET %d"
                        % (n // 2)).fetchone()[0]
    con.close()
    timed_query("SELECT * FROM full_stack WHERE event_id = ?", event)
    seconds, rows = timed_query("SELECT * FROM full_stack WHERE event_id = ?",
                                event)
    target("full_stack of one event, ms (%d rows)" % rows, seconds * 1000, 5,
           True)
    small, big = smallest_limit(SMALL), smallest_limit(BIG)
    print("memory: %.0f MB ingests under RLIMIT_DATA %s MiB, %.0f MB under "
          "%s MiB" % (os.path.getsize(SMALL) / 1e6, small, size / 1e6, big))
    target("the larger one's limit, MiB", big, 64, True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

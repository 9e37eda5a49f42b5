# table.py - one line for each kind of capture: ours, the rival, ratio, wanted.
"""usage: table.py BUILD

See runs.py. Measures those captures in bench/ that are there: mixed.data,
dwarf.data, sched.data, stacks.data, big.dat, big.ctf. Seconds are by the clock, medians; ours and the
rivals run in turn, and the ratio is the median of those of each round, as
processors that share a core, and neighbours, move a time by half. The ratio of
processor times stands beside theirs. Then what one and two processors take, with the
speed that two of the same runs at a time have, which no program can exceed on
these processors; and what our runs need of anonymous memory."""

import os
import statistics
import subprocess
import sys
import time

import runs

BUILD = sys.argv[1]
US = os.path.join(BUILD, "backstitch")
DB = "bench/table.db"
CHEAP = ["-F", "comm,tid,time,event,ip"]


def ingest(*args, db=DB):
    return [US, "ingest", "-q", "-f", "--no-cache", "-o", db, *args]


# work, capture, rival, ours (the capture's name is put behind both), wanted
WORK = [
    ("mixed, addresses only", "mixed.data", runs.script(*CHEAP),
     ingest("--no-symbols"), 7),
    ("mixed, names", "mixed.data", runs.script("--no-inline"), ingest(), 9),
    ("mixed, script of the database", "mixed.data", runs.script("--no-inline"),
     [US, "script", DB], 8),
    ("mixed, first look", "mixed.data", runs.FLAT, [US, "report"], 1),
    ("dumps, addresses only", "dwarf.data", runs.script("--no-inline", *CHEAP),
     ingest("--no-symbols"), 7),
    ("dumps, first look", "dwarf.data", runs.FLAT, [US, "report"], 1),
    ("ftrace, all fields", "big.dat",
     ("trace-cmd", lambda command: [command, "report", "-i"]),
     ingest("--fields", "all"), 14),
    ("ftrace, no fields", "big.dat",
     ("trace-cmd", lambda command: [command, "report", "-i"]),
     ingest("--fields", "none"), 20),
    ("script, perf sched record", "sched.data", runs.script(), [US, "script"], 6),
    ("script, tracepoints and stacks", "stacks.data", runs.script("--no-inline"),
     [US, "script"], 8),
    ("script, ftrace", "big.dat",
     ("trace-cmd", lambda command: [command, "report", "-i"]),
     [US, "script"], 8),
    ("CTF, no fields; dummy", "big.ctf",
     ("babeltrace2", lambda command: [command, "-o", "dummy"]),
     ingest("--fields", "none"), 3),
    ("CTF, fields; text", "big.ctf", ("babeltrace2", lambda command: [command]),
     ingest("--fields", "all"), 7),
]


def at_once(cpus, capture):
    """Seconds of one ingest on each of the processors, at the same time."""
    start = time.monotonic()
    running = []
    for cpu in cpus:
        args = ingest("--no-symbols", capture, db="%s.%d" % (DB, cpu))
        runs.remove_output(args)
        running.append(subprocess.Popen(["taskset", "-c", str(cpu)] + args))
    for p in running:
        p.wait()
    wall = time.monotonic() - start
    for cpu in cpus:
        os.unlink("%s.%d" % (DB, cpu))
    return wall


def processors(capture):
    args = ingest("--no-symbols", capture)
    one, two, both = [], [], []
    for _ in range(runs.RUNS):
        one.append(runs.Run(["taskset", "-c", "0"] + args).wall)
        two.append(runs.Run(["taskset", "-c", "0,1"] + args).wall)
        both.append(at_once((0, 1), capture))
    anon = runs.Run(args, watch=True).anon
    ratio = statistics.median(a / b for a, b in zip(one, two))
    most = statistics.median(2 * a / b for a, b in zip(one, both))
    runs.missed += ratio < 1.7
    print("  %-18s %6.2f %6.2f %6.2f %6.2f %6g %-6s %8d" % (
        os.path.basename(capture), statistics.median(one),
        statistics.median(two), ratio, most, 1.7, "" if ratio >= 1.7 else "MISSED", anon))


def main():
    here = [w for w in WORK if os.path.exists("bench/" + w[1])]
    print("load average %.2f on %d processors" % (os.getloadavg()[0],
                                                   os.cpu_count()))
    print("  %-31s %-15s %6s %6s %6s %6s %6s" % (
        "work", "rival", "rival", "ours", "ratio", "cpu", "wanted"))
    for work, capture, rival, ours, wanted in here:
        capture = "bench/" + capture
        own = ours if DB in ours and ours[1] == "script" else ours + [capture]
        runs.compare(work, rival, capture, own, wanted)
        if work == "mixed, names":
            size = os.path.getsize(DB) / os.path.getsize("bench/mixed.data")
            runs.target("mixed, database / capture", size, 0.28, True)
    if os.cpu_count() > 1:
        print("  %-18s %6s %6s %6s %6s %6s %15s" % (
            "addresses only", "one", "two", "ratio", "most", "wanted",
            "RssAnon KiB"))
        for capture in dict.fromkeys("bench/" + w[1] for w in here
                                     if w[3][1] == "ingest"):
            processors(capture)
    print("%d targets missed" % runs.missed)


if __name__ == "__main__":
    main()

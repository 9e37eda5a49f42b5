# measure_ftrace.py - a large trace.dat: ours, trace-cmd's and a bare iteration.
"""usage: measure_ftrace.py BUILD BIG SMALL

See runs.py. In BIG every event has a kernel stack. Of ours, ingest uses two
processors, trace-cmd one. Reading alone is compared by processor time, without
opening the file: libtracecmd hands out entries, in order, and ours events with
their stacks joined.

Measured on 2 cores with trace-cmd 3.1.6 (1.12 million events, 136 MB): report
4.7 s, ingest 0.42 s (--fields none) and 0.78 s (all), reading 0.12 s, bare
iteration 0.18 s.
"""

import os
import subprocess
import sys

import runs

BUILD, BIG, SMALL = sys.argv[1:4]
US = os.path.join(BUILD, "backstitch")
READ = os.path.join(BUILD, "bench/read")
BARE = os.path.join(BUILD, "bench/bare")
DB = "bench/ftrace.db"


def ingest(fields, capture):
    return [US, "ingest", "-q", "-f", "--fields", fields, "-o", DB, capture]


def contenders(others):
    for name, command in others.items():
        yield name + " report", [command, "report", "-i", BIG]
    yield "ingest --fields none", ingest("none", BIG)
    yield "ingest --fields all", ingest("all", BIG)


def walk(program):
    """What it counted, and the seconds that it took."""
    p = subprocess.run([program, BIG], capture_output=True, text=True)
    if p.returncode:
        print("  %s failed: %s" % (program, p.stderr.strip()))
        return None, None
    words = p.stdout.split()
    return [int(w) for w in words[:-1]], float(words[-1])


def reading(counted):
    took = {READ: [], BARE: []}
    for _ in range(runs.RUNS):
        for program in took:
            if program == READ:
                took[program].append(counted[1])
                counted = walk(READ)
            elif os.path.exists(program):
                entries, seconds = walk(program)
                took[program].append(seconds)
    print("reading alone, in %d processes each" % runs.RUNS)
    ours = min(took[READ])
    print("  %-46s %7.3f s, %.1f M events/s" % (
        "ours: %d events with %d frames" % tuple(counted[0][1:]), ours,
        counted[0][1] / ours / 1e6))
    if None in took[BARE] or not took[BARE]:
        runs.target("ours / bare iteration", None, 1, True)
        return
    bare = min(took[BARE])
    print("  %-46s %7.3f s, %.1f M entries/s" % (
        "libtracecmd: %d events and stacks" % entries[0], bare,
        entries[0] / bare / 1e6))
    runs.target("ours / bare iteration", ours / bare, 1, True)


def main():
    counted = walk(READ)
    if not counted[0]:
        return 1
    print("%s: %d events, %.1f MB; load average %.2f on %d processors"
          % (BIG, counted[0][1], os.path.getsize(BIG) / 1e6,
             os.getloadavg()[0], os.cpu_count()))
    others = runs.versions("trace-cmd")
    took = runs.race(lambda took: contenders(others), counted[0][1], "events")
    print("ratios of best times")
    reports = [name + " report" for name in others]
    runs.ratio(took, reports, "ingest --fields none", 12)
    runs.ratio(took, reports, "ingest --fields all", 10)
    runs.processors("ingest --fields all", ingest("all", BIG))
    reading(counted)
    print("memory: ulimit -d %d; KiB" % runs.LIMIT)
    for capture in (SMALL, BIG):
        for fields in ("none", "all"):
            runs.memory("%.0f MB, --fields %s" % (
                os.path.getsize(capture) / 1e6, fields),
                ingest(fields, capture))
    os.unlink(DB)
    print("load average %.2f; %d targets missed"
          % (os.getloadavg()[0], runs.missed))
    return 0


if __name__ == "__main__":
    sys.exit(main())

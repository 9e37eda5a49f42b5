# why.py - where the time of each row of table.py goes, by folder of the source.
"""usage: why.py BUILD

Records each command of table.py whose capture is in bench/, and ingest and first
look of those that kinds.py recorded, with perf, asks
`backstitch report` for the samples of each source line, and adds these up:
files by their folder, others by library, the kernel as one. Percent are of all
samples; those of the thread that has most of them are printed too, as no more
threads make a command faster than that one. So the model of more processors is:
with P of them, a command is min(P, 100 / percent of that thread) times as fast as
with one, and it is printed for 4, 8 and 16.

On two processors, of commands without link-time optimization:
    mixed, addresses only           16 stitch/tasks, 16 schema/write, 14
      stitch/base, 13 formats/perf, 10 kernel, 9 libc, 5 stitch, 5 schema/db, 4
      stitch/order; one thread has 54
    mixed, names                    13 stitch/tasks, 12 schema/write, 12
      stitch/base, 10 formats/perf, 10 kernel, 8 libc, 6 stitch, 5 symbolize/unwind,
      5 libz, 4 schema/db; one thread has 57
    mixed, script of the database   23 libc, 18 analyze/samples, 15 schema/db, 12
      kernel, 9 libsqlite3, 8 cli/output, 7 formats/tracepoint, 6 cli/tables; one
      thread has 100
    mixed, first look               16 stitch/tasks, 16 stitch/base, 12
      formats/perf, 9 libc, 9 kernel, 9 stitch, 8 schema/write, 4 symbolize/unwind,
      4 stitch/order, 3 analyze/stacks; one thread has 72
    dumps, addresses only           21 stitch/base, 15 kernel, 15 symbolize/unwind,
      8 schema/db, 8 stitch/tasks, 7 libc, 6 symbolize/cfi, 5 schema/write, 4
      libsqlite3, 4 formats/perf, 3 stitch; one thread has 59
    dumps, first look               23 stitch/base, 15 kernel, 14 symbolize/unwind,
      8 analyze/stacks, 7 stitch/tasks, 7 libc, 7 symbolize/cfi, 4 cli/ingest, 3
      formats/perf, 3 schema/write, 3 stitch; one thread has 65
    ftrace, all fields              16 formats/ftrace, 13 kernel, 11 schema/db, 10
      schema/write, 9 stitch/base, 9 stitch, 7 formats/tracepoint, 6 libc, 4
      stitch/tasks, 4 stitch/order, 3 cli/ingest, 3 stitch/audit; one thread has 31
    ftrace, no fields               19 formats/ftrace, 13 stitch, 13 kernel, 10
      stitch/base, 8 schema/write, 7 stitch/order, 7 schema/db, 6 stitch/tasks, 6
      libc, 5 formats/tracepoint, 3 stitch/audit; one thread has 43
    script, perf sched record       13 schema/write, 12 schema/db, 10 kernel, 9
      formats/perf, 8 libc, 7 stitch/order, 6 analyze/samples, 5 stitch, 5 stitch/base,
      5 libsqlite3, 4 formats/tracepoint, 4 stitch/audit, 3 cli/tables, 3
      cli/output; one thread has 54
    script, tracepoints and stacks  19 kernel, 12 libc, 10 stitch/base, 8
      formats/perf, 8 schema/write, 5 schema/db, 5 libz, 4 stitch, 4 stitch/tasks, 3
      symbolize/cfi; one thread has 58
    script, ftrace                  13 formats/ftrace, 13 schema/db, 11 libc, 9
      schema/write, 9 kernel, 7 stitch/base, 5 formats/tracepoint, 5 stitch/order, 5
      stitch, 4 stitch/tasks, 4 cli/output, 4 analyze/samples, 3 cli/tables; one thread
      has 49
    CTF, no fields; dummy           15 formats/ctf, 13 schema/db, 12 stitch, 9
      stitch/join, 8 stitch/order, 8 schema/write, 7 libc, 6 kernel, 5
      formats/ctf/decode, 4 stitch/base, 4 stitch/audit, 4 stitch/tasks; one thread
      has 39
    CTF, fields; text               13 schema/db, 12 formats/ctf, 9 stitch, 9 libc,
      8 schema/write, 8 kernel, 8 formats/ctf/decode, 7 stitch/order, 7 stitch/join,
      6 stitch/base, 4 stitch/tasks, 4 stitch/audit; one thread has 33
    a system with make, names       22 kernel, 12 stitch/base, 12 stitch/tasks, 10
      libc, 7 libsqlite3, 6 symbolize/unwind, 6 symbolize/cfi, 4 schema/write; one
      thread has 74: 1.3, 1.3, 1.3
    a system with make, first look  24 kernel, 14 stitch/base, 12 stitch/tasks, 10
      libc, 6 analyze/stacks, 6 symbolize/cfi, 6 symbolize/unwind; one thread has
      84: 1.2, 1.2, 1.2
    a system with a script, names   35 kernel, 13 libc, 10 libz, 9 stitch/base, 6
      symbolize/cfi, 5 libdw, 4 stitch/tasks, 3 symbolize/unwind; one thread has
      53: 1.9, 1.9, 1.9
    a system with a script, first   34 kernel, 12 libc, 11 stitch/base, 8
      symbolize/cfi, 6 stitch/tasks, 5 libsqlite3, 4 symbolize/unwind, 3
      symbolize/files, 3 analyze/stacks; one thread has 87: 1.2, 1.2, 1.2

No folder has more than a quarter: reading, joining, storing and, of text, reading
back and printing each take their part; where a row of table.py misses what is
wanted, there is no single thing that it waits for."""

import collections
import json
import os
import subprocess
import sys
import tempfile

import table

US = table.US
LEAST = 3  # percent
PROCESSORS = (4, 8, 16)
KINDS = [("%s, %s" % (name, what), "kinds/%s.data" % name, None, ours, None)
         for name in ("build", "script", "pool", "system", "compile", "short")
         for what, ours in (("names", table.ingest()),
                            ("first look", [US, "report"]))]


def report(capture):
    got = subprocess.run([US, "report", "--no-children", "--limit", "0", "--json",
                          "--by", "samples", "--sort", "tid,dso,srcline", capture],
                         check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout
    return json.loads(got)


def rooms(capture):
    """Percent by folder, library or kernel; and of the thread that has most."""
    said = report(capture)
    here = os.getcwd() + "/"
    of, threads = collections.Counter(), collections.Counter()
    for row in said["rows"]:
        share = 100 * row["self_samples"] / said["samples"]
        file = row["file"]
        if file.startswith(here):
            name = os.path.normpath(os.path.dirname(file[len(here):]))
        else:
            name = os.path.basename(row["image"])
            name = "kernel" if name.startswith("[kernel") else name.split(".so")[0]
        of[name] += share
        threads[row["tid"]] += share
    return of, max(threads.values())


def main():
    frequency = os.environ.get("BENCH_FREQUENCY", "1999")
    for work, capture, _, ours, _ in table.WORK + KINDS:
        if not os.path.exists("bench/" + capture):
            continue
        command = ours if table.DB in ours and ours[1] == "script" else \
            ours + ["bench/" + capture]
        with tempfile.TemporaryDirectory(dir="bench") as folder:
            data = folder + "/why.data"
            subprocess.run(["perf", "record", "-q", "-F", frequency, "-e", "cpu-clock",
                            "-o", data, *command], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            of, first = rooms(data)
        print("  %-31s %s; one thread has %.0f: %s" % (work, ", ".join(
            "%.0f %s" % (share, name) for name, share in of.most_common()
            if share >= LEAST), first, ", ".join(
                "%.1f" % min(n, 100 / first) for n in PROCESSORS)))
        sys.stdout.flush()


main()

#!/usr/bin/env python3
# lasting.py - what one pipeline that lives as long as a stream would cost beside pieces.
"""usage: lasting.py BUILD pieces CAPTURE...     lasting.py BUILD hours [HOURS...]
       lasting.py BUILD waiting CAPTURE...

pieces: each capture of perf becomes a stream of 'perf record -o -', which follow
takes in ten pieces, and one ingest whole, from a file and from a pipe. Printed: seconds of a
processor of all their processes, of $BENCH_RUNS (3) in turn the least, the median of
the ratios of each round, and the largest memory of one process (two of them live
at once in follow: the one that receives is small). What follow does beside is
mostly the kernel's: each byte is written to the folder and removed from it, so
that what ends a process loses nothing. That weighs most where bytes are cheap to
ingest, which are those of stack dumps. Reached on two busy processors: 1.11 with
44 MB of clock samples with stacks, 1.45 with 497 MB of stack dumps (1.40 from a
pipe). Of the 0.54 s more there 0.34 were the kernel's for reading, writing and
removing, 0.14 the receiver's own.

hours: the stream of hours.py, which one ingest reads whole. Printed: its largest
memory, how much that is of an hour more, and of a thousand samples.

waiting: captures with deferred user stacks. Printed: how many samples wait for
their stack at once, where a piece may end anywhere: on average and at most, and how
long one waited. A sample whose stack never comes is none of them."""

import bisect
import os
import random
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path[:0] = [os.path.join(ROOT, "tests/compare"), os.path.dirname(__file__)]
US = os.path.join(BUILD, "backstitch")
RUNS = int(os.environ.get("BENCH_RUNS", 3))
WANTED = 1.3  # times the processor time of one ingest


def cost(command, feed=None):
    """(seconds of a processor, peak of memory in kB) of a program and those that
    it starts. feed: gives the bytes of its input."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(out)
        p = subprocess.Popen(command, stdin=subprocess.PIPE if feed else
                             subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for data in feed() if feed else ():
            p.stdin.write(data)
        if feed:
            p.stdin.close()
        bad = p.wait() not in (0, 3)
        use = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(into, b"%f %d %d" % (
            use.ru_utime + use.ru_stime, use.ru_maxrss, bad))
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as f:
        seconds, peak, bad = f.read().split()
    os.waitpid(child, 0)
    if int(bad):
        sys.exit("failed: " + " ".join(command))
    return float(seconds), int(peak)


def pieces(captures, folder):
    import restream
    stream = os.path.join(folder, "stream")
    print("  %-20s %8s %-5s %8s %8s %6s %6s %8s %15s" % (
        "ten pieces by follow", "MB", "from", "ingest", "follow", "ratio",
        "wanted", "", "memory, kB"))
    for name in captures:
        with open(stream, "wb") as f:
            f.write(restream.Perf(name).stream(random.Random(7), 100))
        for source in stream, "-":
            compare(os.path.basename(name), stream, source, folder)


def compare(name, stream, source, folder):
    """One line: both take the stream in turn, from its file or from a pipe."""
    def feed():
        with open(stream, "rb") as f:
            while data := f.read(65536):
                yield data
    size = os.path.getsize(stream)
    commands = (
        [US, "ingest", "-f", "-q", "--no-symbols", "-o", folder + "/whole.db",
         source],
        [US, "follow", "-q", "--no-symbols", "--segment",
         "%dK" % (size // 10240 + 1), "-o", folder + "/pieces", source])
    took = []
    for _ in range(RUNS):
        shutil.rmtree(folder + "/pieces", ignore_errors=True)
        took.append([cost(c, feed if source == "-" else None)
                     for c in commands])
    ratio = statistics.median(f[0] / i[0] for i, f in took)
    print("  %-20s %8.1f %-5s %8.2f %8.2f %6.2f %6g %8s %7d %7d" % (
        name, size / 1e6, "pipe" if source == "-" else "file",
        min(i[0] for i, f in took), min(f[0] for i, f in took), ratio, WANTED,
        "" if ratio <= WANTED else "MISSED", max(i[1] for i, f in took),
        max(f[1] for i, f in took)), flush=True)


def hours(counts, folder):
    import hostile
    import hours as stream
    t = stream.Template(hostile.recorded(stream.CAPTURE, 30)())
    before = None
    print("%5s %10s %11s %11s %11s %13s" % (
        "hours", "samples", "processor s", "memory, kB", "kB an hour",
        "bytes each"))
    for n in map(int, counts or (1, 2, 4)):
        rounds = n * stream.ROUNDS_OF_HOUR

        def feed():
            yield t.session
            for i in range(rounds):
                yield t.once_more(i)
        used, peak = cost([US, "ingest", "-f", "-q", "--no-symbols", "-o",
                           folder + "/hours.db", "-"], feed)
        samples = t.samples * rounds
        more = (peak - before[1]) / (n - before[0]) if before else 0
        print("%5d %10d %11.1f %11d %11.0f %13.1f" % (
            n, samples, used, peak, more,
            more * 1024 / (samples / n)), flush=True)
        before = n, peak


def waits_of(db):
    """(from, to) of each sample and its stack."""
    with sqlite3.connect("file:%s?mode=ro" % db, uri=True) as con:
        return con.execute(
            "SELECT e.time_ns, h.time_ns FROM request r JOIN event e"
            " ON e.id = r.event JOIN chain h ON h.id = r.chain"
            " WHERE e.time_ns NOT NULL AND h.time_ns >= e.time_ns"
            " AND r.cookie NOT NULL").fetchall()


def waiting(captures, folder):
    db = os.path.join(folder, "waiting.db")
    print("%-36s %8s %8s %9s %8s %10s" % (
        "capture", "samples", "seconds", "wait, avg", "at most", "oldest, ms"))
    for name in captures:
        subprocess.run([US, "ingest", "-f", "-q", "--no-symbols", "-o", db,
                        name], check=False, stderr=subprocess.DEVNULL)
        try:
            rows = waits_of(db)
        except sqlite3.Error:
            rows = []
        if not rows:
            continue
        begin, end = sorted(r[0] for r in rows), sorted(r[1] for r in rows)
        most = max(i + 1 - bisect.bisect_right(end, t)
                   for i, t in enumerate(begin))
        span = max(end[-1] - begin[0], 1)
        print("%-36s %8d %8.2f %9.2f %8d %10.3f" % (
            name[-36:], len(rows), span / 1e9, sum(b - a for a, b in rows) / span,
            most, max(b - a for a, b in rows) / 1e6), flush=True)
        os.remove(db)


def main():
    folder = tempfile.mkdtemp(dir=os.environ.get("BENCH_DIR"))
    try:
        {"pieces": pieces, "hours": hours, "waiting": waiting}[sys.argv[2]](
            sys.argv[3:], folder)
    finally:
        shutil.rmtree(folder)


main()

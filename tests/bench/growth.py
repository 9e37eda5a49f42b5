#!/usr/bin/env python3
# growth.py - time and memory per thing must not grow with the number of things.
#
# usage: growth.py BUILD [NAME...]
#
# For each kind of thing mkcap makes captures with 20,000, 80,000 and 320,000
# of them. Shown: processor time of `ingest --no-symbols`, without that of an
# empty capture, in us per thing, and peak memory in bytes per thing. Fails if
# four times as many things take more than 1.5 times the time each; a square of
# time would be 4 times. The fastest of $BENCH_RUNS (3) counts. What is left is
# caches: instructions for each of 160,000 overlapping mappings are 1.10 times
# those for each of 20,000, which is log n.
#
# Last result (2 cores, busy, one run): mappings upwards 0.94 from 20k to 320k,
# downwards 0.90, in any order 2.1, overlapping 1.8, nested 1.6, forks and
# mappings in turn 0.1, threads 0.9, names 0.9, execs 0.8, stacks 0.9.
import os
import random
import resource
import subprocess
import sys
import tempfile

SIZES = (20000, 80000, 320000)
LIMIT = 1.5
RUNS = int(os.environ.get("BENCH_RUNS", 3))
PAGE = 0x2000
HEAD = """event cpu-clock defer period=1000
event dummy:u output
comm pid=100 name=app
"""


def mmap(pid, page, pages, n, time):
    return ("mmap pid=%d start=%#x len=%#x pgoff=0 path=/lib/l%d time=%d cpu=0"
            % (pid, 0x10000000 + page * PAGE, pages * PAGE - 0x1000, n % 50, time))


def sample(pid, tid, time, user):
    return ("sample pid=%d tid=%d cpu=0 time=%d k=0xffffffff81000010 u=%s"
            % (pid, tid, time, ",".join(hex(a) for a in user)))


def ordered(place, pages=lambda i, n: 1):
    """Mappings of one process: place(i, n) is the page of the i-th."""
    def make(n):
        for i in range(n):
            yield mmap(100, place(i, n), pages(i, n), i, 1000 + i)
    return make


def shuffled(n):
    order = list(range(n))
    random.Random(n).shuffle(order)
    for t, i in enumerate(order):
        yield mmap(100, i, 1, i, 1000 + t)


def fork_and_map(n):
    """A process with 65,536 mappings forks and maps in turn."""
    for i in range(65536):
        yield mmap(100, i, 1, i, 1000 + i)
    for i in range(n):
        t = 100000 + 3 * i
        yield "fork pid=%d tid=%d ppid=100 ptid=100 time=%d cpu=0" % (
            1000 + i, 1000 + i, t)
        yield mmap(100, i * 40503 % 65536, 1, i, t + 1)


def children_map(n):
    """The children map, and end."""
    for i in range(65536):
        yield mmap(100, i, 1, i, 1000 + i)
    for i in range(n):
        t = 100000 + 4 * i
        pid = 1000 + i
        yield "fork pid=%d tid=%d ppid=100 ptid=100 time=%d cpu=0" % (pid, pid, t)
        yield mmap(pid, i * 40503 % 65536, 1, i, t + 1)
        yield "exit pid=%d tid=%d ppid=100 ptid=100 time=%d cpu=0" % (
            pid, pid, t + 2)


def threads(n):
    for i in range(n):
        yield "fork pid=100 tid=%d ppid=100 ptid=100 time=%d cpu=0" % (
            1000 + i, 1000 + 2 * i)
        yield sample(100, 1000 + i, 1001 + 2 * i, [0x401000])


def names(n):
    for i in range(n):
        yield "comm pid=100 name=n%d time=%d cpu=0" % (i, 1000 + 2 * i)
        yield sample(100, 100, 1001 + 2 * i, [0x401000])


def execs(n):
    for i in range(n):
        t = 1000 + 3 * i
        yield "comm pid=100 name=n%d exec time=%d cpu=0" % (i % 9, t)
        yield mmap(100, i % 50, 1, i, t + 1)
        yield sample(100, 100, t + 2, [0x10000100 + i % 50 * PAGE])


def stacks(n):
    yield mmap(100, 0, 2000, 1, 999)
    for i in range(n):
        yield sample(100, 100, 1000 + i,
                     [0x10000000 + i, 0x10000000 + i // 7, 0x10000000 + i // 50])


def events(n):
    for i in range(n):
        yield sample(100, 100, 1000 + i, [0x401000, 0x402000])


def waiting(n):
    """Requests whose chains come when all of them wait."""
    for i in range(n):
        yield "sample pid=100 tid=%d cpu=0 time=%d k=0xffffffff81000010 cookie=0:%d" % (
            1000 + i, 1000 + i, i + 1)
    for i in range(n):
        yield "chain cookie=0:%d pid=100 tid=%d cpu=0 time=%d u=0x401000" % (
            i + 1, 1000 + i, 1000000 + i)


KINDS = {
    "mappings upwards": ordered(lambda i, n: i),
    "mappings downwards": ordered(lambda i, n: n - i),
    "mappings in any order": shuffled,
    "overlapping mappings": ordered(lambda i, n: n - i, lambda i, n: 3),
    "nested mappings": ordered(lambda i, n: i, lambda i, n: 2 * (n - i)),
    "forks and mappings in turn": fork_and_map,
    "children that map": children_map,
    "threads": threads,
    "names": names,
    "execs": execs,
    "distinct stacks": stacks,
    "events": events,
    "requests waiting": waiting,
}


def measured(build, folder, lines):
    """Seconds of processor time and bytes of an ingest."""
    text, data, db = (os.path.join(folder, x) for x in ("c.txt", "c.data", "c.db"))
    with open(text, "w") as f:
        f.write(HEAD)
        f.writelines(line + "\n" for line in lines)
    subprocess.run([build + "/mkcap", text, data], check=True)
    best = None
    for _ in range(RUNS):
        pid = os.fork()
        if pid == 0:
            null = os.open("/dev/null", os.O_WRONLY)
            os.dup2(null, 2)
            os.execv(build + "/backstitch", [
                "backstitch", "ingest", "-q", "-f", "--no-symbols", "-o", db, data])
        _, status, used = os.wait4(pid, 0)
        if os.waitstatus_to_exitcode(status) not in (0, 3):
            sys.exit("ingest failed: %s" % status)
        took = used.ru_utime + used.ru_stime
        if best is None or took < best[0]:
            best = took, used.ru_maxrss * 1024
    return best


def main():
    build = sys.argv[1]
    want = sys.argv[2:] or KINDS
    bad = 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("%-28s %27s %24s   growth" % ("", "us each, of " + ", ".join(
        "%dk" % (n // 1000) for n in SIZES), "bytes each"))
    with tempfile.TemporaryDirectory() as folder:
        empty = measured(build, folder, [])
        for name in want:
            make = KINDS[name]
            base = empty
            if make in (fork_and_map, children_map):
                # the first forks write rows for the mappings of each child
                base = measured(build, folder, make(500))
            took = [measured(build, folder, make(n)) for n in SIZES]
            us = [max(t - base[0], 0.001) * 1e6 / n for (t, _), n in zip(took, SIZES)]
            mem = [(m - base[1]) / n for (_, m), n in zip(took, SIZES)]
            growth = max(b / a for a, b in zip(us, us[1:]))
            bad += growth > LIMIT
            print("%-28s %9.2f%9.2f%9.2f %8.0f%8.0f%8.0f   %.2f%s" % (
                name, *us, *mem, growth, " TOO MUCH" if growth > LIMIT else ""),
                flush=True)
    sys.exit(bad > 0)


main()

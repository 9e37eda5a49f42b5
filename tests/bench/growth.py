#!/usr/bin/env python3
# growth.py - time and memory per thing must not grow with the number of things.
#
# usage: growth.py BUILD [NAME...]        growth.py BUILD --large [GB]
#
# For each kind of thing mkcap makes captures with 20,000, 80,000 and 320,000
# of them. Shown for each size: processor time of `ingest --no-symbols` without
# that of an empty capture, and peak memory; both per thing, and as a multiple
# of the least of the smaller sizes. Fails above 1.5 times as much per thing; a
# square of time would be 16 times. The fastest of $BENCH_RUNS (5) counts, of
# runs that take the sizes in turn. What is left is caches: instructions for
# each of 160,000 overlapping mappings are 1.10 times those for each of 20,000,
# which is log n.
#
# --large: captures of a quarter, a half and all of 2 GB (or GB), with 1,000
# distinct stacks, made by repeating a block of records with later times. Time
# per gigabyte must stay within 1.5 times, and the whole is read with the data
# segment limited to the bound of backstitch-ingest(1), whatever the size.
#
# Last result (2 cores, busy; us and bytes each of 320,000, and how many times
# those of 20,000): mappings upwards 1.1 us 580 B 1.05, downwards 1.1 450 1.06,
# in any order 1.9 470 1.38, overlapping 1.8 480 1.01, nested 3.3 960 1.14, forks
# and mappings in turn 23 5800 0.8, children that map 18 3900 0.8, processes 12.5
# 1060 1.07, threads 2.3 450 1.10, names 2.4 300 1.03, execs 2.7 310 1.03, stacks
# 4.0 610 1.04, events 1.1 140 1.06, requests waiting 5.4 1010 1.22, functions of
# a JIT compiler 7.5 1070 1.27. --large: 3.9, 3.7, 3.8 s/GB, 16 MB of memory.
import array
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time

SIZES = (20000, 80000, 320000)
LIMIT = 1.5
BOUND = 32 << 20  # bytes of the data segment
RUNS = int(os.environ.get("BENCH_RUNS", 5))
PAGE = 0x2000
ROUND = 8  # bytes of a FINISHED_ROUND
JIT = 0x700000000000
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
    """In any order, the same each time."""
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


def processes(n):
    for i in range(n):
        t = 1000 + 4 * i
        pid = 1000 + i
        yield "fork pid=%d tid=%d ppid=100 ptid=100 time=%d cpu=0" % (pid, pid, t)
        yield "comm pid=%d tid=%d name=p%d time=%d cpu=0" % (pid, pid, i % 9, t + 1)
        yield sample(pid, pid, t + 2, [0x401000])
        yield "exit pid=%d tid=%d ppid=100 ptid=100 time=%d cpu=0" % (pid, pid, t + 3)


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


def jitted(n):
    """A sample in each of n functions that a runtime made; see jitdump()."""
    yield "mmap pid=100 start=%#x len=%#x pgoff=0 path=//anon time=1 cpu=0" % (
        JIT, 64 * n)
    for i in range(n):
        yield sample(100, 100, 2000000 + i, [JIT + 64 * (i * 40503 % n) + 8])


def jitdump(n):
    """The file in which it logged them."""
    yield struct.pack("=6I2Q", 0x4A695444, 1, 40, 62, 0, 100, 0, 0)
    for i in range(n):
        name = b"f%d\0" % i
        at = JIT + 64 * i
        yield struct.pack("=2IQ2I4Q", 0, 56 + len(name) + 16, 1000 + i, 100, 100,
                          at, at, 16, i) + name + bytes(16)


KINDS = {
    "mappings upwards": ordered(lambda i, n: i),
    "mappings downwards": ordered(lambda i, n: n - i),
    "mappings in any order": shuffled,
    "overlapping mappings": ordered(lambda i, n: n - i, lambda i, n: 3),
    "nested mappings": ordered(lambda i, n: i, lambda i, n: 2 * (n - i)),
    "forks and mappings in turn": fork_and_map,
    "children that map": children_map,
    "processes": processes,
    "threads": threads,
    "names": names,
    "execs": execs,
    "distinct stacks": stacks,
    "events": events,
    "requests waiting": waiting,
    "JIT functions": jitted,
}


def ingest(build, args, limit=None):
    """Seconds of processor time and bytes of an ingest; with a limit of the data
    segment without the pages of files that are mapped."""
    pid = os.fork()
    if pid == 0:
        null = os.open("/dev/null", os.O_WRONLY)
        os.dup2(null, 1)
        if limit:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        os.execv(build + "/backstitch", [
            "backstitch", "ingest", "-q", "-f", "--no-symbols", *args])
    own = 0
    while limit and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        with open("/proc/%d/status" % pid, encoding="ascii") as f:
            for line in f:
                if line.startswith("RssAnon"):
                    own = max(own, int(line.split()[1]) * 1024)
        time.sleep(0.02)
    _, status, used = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        sys.exit("ingest failed: %s" % status)
    return used.ru_utime + used.ru_stime, own or used.ru_maxrss * 1024


def capture(build, folder, name, lines, head=HEAD):
    """Makes a capture; returns its path."""
    text, data = (os.path.join(folder, name + x) for x in (".txt", ".data"))
    with open(text, "w", encoding="ascii") as f:
        f.write(head)
        f.writelines(line + "\n" for line in lines)
    subprocess.run([build + "/mkcap", text, data], check=True)
    os.unlink(text)
    return data


def prepared(build, folder, make, n):
    """Makes what is read for n things; returns arguments of ingest."""
    db = os.path.join(folder, "c.db")
    if make is not jitted:
        return ["-o", db, capture(build, folder, str(n), make(n))]
    dump = os.path.join(folder, "jit-100-%d.dump" % n)
    with open(dump, "wb") as f:
        f.writelines(jitdump(n))
    head = HEAD.replace(" defer ", " mono ")
    return ["-o", db, "--jitdump", dump,
            capture(build, folder, str(n), make(n), head)]


def worst(row):
    """How many times the least of those before the largest is."""
    return max(b / max(min(row[:i + 1]), 1e-9) for i, b in enumerate(row[1:]))


def measured(build, folder, name):
    """Prints a line for each size; returns how many of them grow too much."""
    make = KINDS[name]
    every = [prepared(build, folder, make, n) for n in SIZES]
    # the first forks write rows for the mappings of each child
    first = prepared(build, folder, make,
                     500 if make in (fork_and_map, children_map) else 0)
    runs = [[ingest(build, args) for args in (first, *every)] for _ in range(RUNS)]
    base, *took = [tuple(map(min, zip(*same))) for same in zip(*runs)]
    secs = [max(t - base[0], 1e-5) for t, _ in took]
    mem = [max(m - base[1], 1) for _, m in took]
    bad = 0
    for i, n in enumerate(SIZES):
        each = [[v[j] / SIZES[j] for j in range(i + 1)] for v in (secs, mem)]
        grew = [worst(row) if i else 1 for row in each]
        wrong = max(grew) > LIMIT
        bad += wrong
        print("%-28s %7d %8.3f %8.2f %6.2f %8.1f %8.0f %6.2f%s" % (
            name, n, secs[i], each[0][i] * 1e6, grew[0], mem[i] / 1e6, each[1][i],
            grew[1], "  TOO MUCH" if wrong else ""), flush=True)
    for args in (first, *every):
        os.unlink(args[-1])
    return bad


def all_kinds(build, folder, want):
    print("%-28s %7s %8s %8s %6s %8s %8s %6s" % (
        "", "n", "s", "us each", "ratio", "MB", "B each", "ratio"))
    bad = 0
    for name in want:
        bad += measured(build, folder, name)
    return bad


# ---- one that is larger than memory


def block_of(n):
    """Records of one size, whose times are those of a ring that was never full."""
    for i in range(n):
        k = i % 1000
        yield sample(100, 100, 1000 + i, [0x10000000 + 16 * (k * 31 + j * 7 % 100)
                                          for j in range(30)])
    yield "round"


def large_capture(build, folder, size):
    """Repeats a block until the file has so many bytes; returns path and records."""
    n = 20000
    path = capture(build, folder, "block", block_of(n))
    with open(path, "rb") as f:
        whole = f.read()
    at, length = struct.unpack_from("<QQ", whole, 40)
    # the records of HEAD, which are another size, come first
    step = (length - len_of_head(build, folder) - ROUND) // n
    last = at + length - ROUND
    first = last - n * step
    records, finished = bytearray(whole[first:last]), whole[last:last + ROUND]
    where = bytes(records[:step]).index(struct.pack("<Q", 1000))
    big = os.path.join(folder, "large.data")
    count = 0
    with open(big, "wb") as f:
        f.write(whole[:first])
        while f.tell() < size:
            times = array.array("Q", range(1000 + count, 1000 + count + n)).tobytes()
            for byte in range(8):
                records[where + byte::step] = times[byte::8]
            f.write(records + finished)
            count += n
        end = f.tell()
        f.seek(48)
        f.write(struct.pack("<Q", end - at))
    return big, count


def len_of_head(build, folder):
    with open(capture(build, folder, "none", []), "rb") as f:
        return struct.unpack_from("<Q", f.read(64), 48)[0]


def large(build, folder, size):
    """Returns whether time grows with the size, or memory is above the bound."""
    print("%8s %10s %8s %8s %6s %8s" % ("GB", "records", "s", "s/GB", "ratio", "MB"))
    db, row = os.path.join(folder, "c.db"), []
    bad = 0
    for part in (size // 4, size // 2, size):
        path, n = large_capture(build, folder, part)
        took, mem = ingest(build, ["-o", db, path], BOUND)
        row.append(took / part)
        grew = worst(row) if len(row) > 1 else 1
        bad += grew > LIMIT
        print("%8.2f %10d %8.2f %8.2f %6.2f %8.1f%s" % (
            part / 1e9, n, took, row[-1] * 1e9, grew, mem / 1e6,
            "  TOO MUCH" if grew > LIMIT else ""), flush=True)
        os.unlink(path)
    print("with the data segment limited to %d MB" % (BOUND / 1e6))
    return bad


def main():
    build, *want = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        if want and want[0] == "--large":
            sys.exit(large(build, folder, int(float(
                want[1] if len(want) > 1 else 2) * 1e9)) > 0)
        sys.exit(all_kinds(build, folder, want or KINDS) > 0)


main()

# pagedb.py - the database that page.py and view.py look at.
"""1.5 million samples with 100,000 distinct stacks of 10 to 50 frames, made
once, in bench/page.db: a capture of the stacks from mkcap, its events
repeated."""

import os
import random
import sqlite3
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
STACKS = 100000
FUNCTIONS = 20000
TIMES = 15
DB = "bench/page.db"


def walk(rand):
    """One stack, outermost first: of a function's eight callees the first is
    called most, as in programs, so that some frames are wide."""
    f, stack = rand.randrange(4), []
    while len(stack) < 10 or (len(stack) < 50 and rand.random() > 0.06):
        stack.append(f)
        f = (f * 7919 + min(int(rand.expovariate(0.9)), 7) * 104729 + 1) % \
            FUNCTIONS
    return tuple(stack)


def write_capture(path):
    """Distinct stacks, one sample each."""
    rand = random.Random(1)
    seen = set()
    with open(path, "w") as f:
        f.write("event cycles\n")
        for pid in range(100, 164):
            f.write("comm pid=%d name=app%d\n" % (pid, pid % 7))
            f.write("mmap pid=%d start=0x400000 len=0x1000000 pgoff=0x1000 "
                    "path=/bin/app\n" % pid)
        while len(seen) < STACKS:
            stack = walk(rand)
            if stack in seen:
                continue
            seen.add(stack)
            pid = 100 + min(int(rand.expovariate(0.1)), 63)
            f.write("sample pid=%d tid=%d cpu=%d time=%d period=%d u=%s\n" %
                    (pid, pid, rand.randrange(4), 1000000 + len(seen) * 10007,
                     rand.randint(90000, 110000),
                     ",".join(hex(0x400000 + a * 16)
                              for a in reversed(stack))))


def repeat(db):
    """Names, and each event TIMES times, a millisecond apart."""
    with sqlite3.connect(db) as c:
        c.execute("INSERT INTO symbol(id, image, start, size, name, how) "
                  "SELECT id, image, off, 1, 'function_' || off, 'symtab' "
                  "FROM frame WHERE id > 0")
        c.execute("UPDATE frame SET symbol = id, symoff = 0")
        n, span = c.execute("SELECT max(id), max(time_ns) - min(time_ns) + "
                            "1000000 FROM event").fetchone()
        for k in range(1, TIMES):
            c.execute("INSERT INTO event(id, time_ns, cpu, thread, comm, type,"
                      " weight, kraw, uraw) SELECT id + ?1, time_ns + ?2, "
                      "cpu, thread, comm, type, weight, kraw, uraw FROM event "
                      "WHERE id <= ?3", (k * n, k * span, n))
        c.execute("UPDATE capture SET last_ns = (SELECT max(time_ns) "
                  "FROM event)")
        c.execute("UPDATE sample_group SET n = n * ?1, weight = weight * ?1",
                  (TIMES,))
        c.execute("UPDATE event_type SET events = events * ?1, "
                  "weight = weight * ?1", (TIMES,))


def make():
    if os.path.exists(DB):
        return
    print("making %s" % DB)
    write_capture("bench/page.txt")
    subprocess.run([os.path.join(BUILD, "mkcap"), "bench/page.txt",
                    "bench/page.data"], check=True)
    subprocess.run([os.path.join(BUILD, "backstitch"), "ingest", "-q", "-f",
                    "--no-symbols", "-o", DB + ".new", "bench/page.data"],
                   check=True)
    repeat(DB + ".new")
    for name in "bench/page.txt", "bench/page.data":
        os.unlink(name)
    os.rename(DB + ".new", DB)

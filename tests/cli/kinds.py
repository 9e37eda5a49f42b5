#!/usr/bin/env python3
"""The same stacks, recorded in other ways, get the same words.

usage: kinds.py BACKSTITCH MKCAP NAME
NAME.txt and NAME.db are what whole.py left: stacks along frame pointers, each
cut behind each of its frames, and what is said of them. Here they are deferred
stacks, user stacks of ftrace, callstacks of a CTF trace, two captures that are
read together or merged, and the segments of a stream. Prints a line for each.
"""
import os
import re
import sqlite3
import subprocess
import sys

B, MKCAP, name = sys.argv[1:]
KERNEL = "0xffffffff81000010"
with open(name + ".txt") as f:
    lines = f.read().splitlines()
stacks = [re.search(r" u=(\S+)", line)[1] for line in lines
          if line.startswith("sample")]
maps = [re.match(r"mmap pid=(\d+) start=(\w+) len=(\w+) pgoff=(\w+) path=(\S+)",
                 line).groups() for line in lines if line.startswith("mmap")]
facts = [line for line in lines if line.startswith(("comm", "mmap"))]
bad = 0


def run(*args, **kwargs):
    subprocess.run(args, check=True, stderr=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, **kwargs)


def ingest(db, *captures):
    run(B, "ingest", "-q", "-f", "-o", db, *captures)


def write(path, text):
    with open(path, "w") as f:
        f.write("".join(line + "\n" for line in text))


def words(db):
    """Of the stacks in order of time, and those of all samples by class."""
    con = sqlite3.connect(db)
    each = [r[0] for r in con.execute("""
        SELECT coalesce(w.name, 'whole') FROM event e
        LEFT JOIN request q ON q.event = e.id
        JOIN raw_chain c ON c.id = coalesce(q.uraw, e.uraw)
        LEFT JOIN internal_judged j ON j.stack = c.stack
        LEFT JOIN word w ON w.kind = 'judged' AND w.id = j.class
        ORDER BY e.time_ns""")]
    sums = sorted(con.execute("SELECT class, sum(samples) FROM trust GROUP BY 1"))
    con.close()
    return each, sums


def same(kind, db, sums=True):
    global bad
    got = words(db)
    wrong = got[0] != want[0] or (sums and got[1] != want[1])
    bad += wrong
    print("%s: %s" % (kind, "NOT the same: %s" % (got,) if wrong else "the same"))


def sample(i, how="u="):
    return "sample pid=100 tid=100 cpu=0 time=%d k=%s %s" % (
        1000 * (i + 1), KERNEL, how + stacks[i] if how else "cookie=0:%d" % (i + 1))


want = words(name + ".db")
print("%d stacks:" % len(stacks), *("%d %s" % (n, c) for c, n in want[1]), sep=" ")

write("deferred.txt", [
    "event cpu-clock defer period=1000", "event dummy:u output", *facts,
    *(line for i, u in enumerate(stacks) for line in (
        sample(i, ""), "chain cookie=0:%d pid=100 tid=100 cpu=0 time=%d u=%s" %
        (i + 1, 1000 * (i + 1) + 500, u)))])
run(MKCAP, "deferred.txt", "deferred.data")
ingest("deferred.db", "deferred.data")
same("deferred", "deferred.db")

write("100.maps", [
    "%x-%x r-xp %08x 00:00 0 %s" % (int(start, 0), int(start, 0) + int(n, 0),
                                    int(off, 0), path)
    for _, start, n, off, path in maps])
# ftrace keeps 8 frames: the view calls such a stack cut
write("ftrace.txt", ["event pid=100 cpu=0 time=%d u=%s" % (1000 * (i + 1), u)
                     for i, u in enumerate(stacks)])
run(os.path.join(os.path.dirname(MKCAP), "mkftrace"), "ftrace.txt", "ftrace.dat")
ingest("ftrace.db", "--maps", "100=100.maps", "ftrace.dat")
same("ftrace", "ftrace.db", False)

run("rm", "-rf", "ctf")
run(B, "export", "--format", "ctf", "-o", "ctf", name + ".db")
ingest("ctf.db", "--maps", "100=100.maps", "ctf")
same("ctf", "ctf.db", False)

half = len(stacks) // 2
for part, which in (("a", range(half)), ("b", range(half, len(stacks)))):
    write(part + ".txt", ["event cpu-clock period=1000", *facts,
                          *(sample(i) for i in which)])
    run(MKCAP, part + ".txt", part + ".data")
    ingest(part + ".db", part + ".data")
ingest("both.db", "a.data", "b.data")
same("two captures", "both.db")
run(B, "merge", "-q", "-f", "-o", "merged.db", "a.db", "b.db")
same("merged", "merged.db")

write("all.txt", ["event cpu-clock period=1000", *facts,
                  *(sample(i) for i in range(len(stacks)))])
run(MKCAP, "-p", "all.txt", "all.pipe")
run("rm", "-rf", "seg")
with open("all.pipe", "rb") as stream:
    run(B, "follow", "-q", "-o", "seg", "--segment", "1K", "-", stdin=stream)
segments = [s for s in os.listdir("seg") if s.endswith(".db")]
if len(segments) < 2:
    print("follow: %d segments only" % len(segments))
    bad += 1
run(B, "merge", "-q", "-f", "-o", "segments.db", "seg")
same("segments", "segments.db")
sys.exit(bad)

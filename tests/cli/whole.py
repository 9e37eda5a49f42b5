#!/usr/bin/env python3
"""Cuts the stacks that a program prints behind each frame, and compares what is said of them.

usage: whole.py BACKSTITCH MKCAP PROGRAM
A stack that goes back to a frame of a library, to _start, to main or to the
routine that pthread_create got is whole: nothing but start functions is cut
off. Shorter ones are not. Ends with 3 if the program cannot be judged.
"""
import bisect
import os
import re
import sqlite3
import subprocess
import sys

B, MKCAP, program = sys.argv[1:]
out = subprocess.run(["./" + program], capture_output=True, text=True).stdout
maps = [re.match(r"map (\w+)-(\w+) \S+ (\w+) \S+ \S+ +(/\S+)", line)
        for line in out.splitlines() if line.startswith("map ")]
maps = [(int(m[1], 16), int(m[2], 16), int(m[3], 16), m[4])
        for m in maps if m]
stacks = [[int(a, 16) for a in line.split()[1:]]
          for line in out.splitlines() if line.startswith("stack")]
if not stacks or min(map(len, stacks)) < 3:
    print("libgcc walks no stack of it")
    sys.exit(3)
# names of the program's functions, from nm
named = program + ".names" if os.path.exists(program + ".names") else program
names = sorted((int(a, 16), n) for a, t, n in (
    line.split()[:3] for line in subprocess.run(
        ["nm", "--defined-only", named], capture_output=True, text=True,
        check=True).stdout.splitlines()) if t in "tTwW")
exe = os.path.realpath(program)
base = 0
if b"DYN" in subprocess.run(["readelf", "-h", program], capture_output=True,
                            check=True).stdout:
    base = min(m[0] - m[2] for m in maps if m[3] == exe)


def name(ret):
    """The function of a return address; None: of a library."""
    for start, end, _, path in maps:
        if start <= ret - 1 < end:
            if path != exe:
                return None
            i = bisect.bisect_right(names, (ret - 1 - base, "~")) - 1
            return names[i][1]
    return None


def span(path):
    """The length of all segments of a file, in whole pages."""
    loads = [line.split() for line in subprocess.run(
        ["readelf", "-lW", path], capture_output=True, text=True,
        check=True).stdout.splitlines() if line.split()[:1] == ["LOAD"]]
    return max(int(p[2], 16) + int(p[5], 16) for p in loads) + 4095 & ~4095


def is_own(ret):
    n = name(ret)
    return n is not None and (n.startswith("whole_") or "main" == n or
                              "_M_run" in n or "invoke" in n.lower() or
                              "lambda" in n or n.startswith("_ZZ4main") or
                              n.startswith("_ZNSt6thread"))


# to what the address is given, a stripped static program does not tell
FIRST = ("main",) if program == "stripped" else ("main", "whole_routine")
cuts = []
with open(program + ".txt", "w") as f:
    f.write("event cpu-clock period=1000\n"
            "comm pid=100 name=%s exec time=100\n" % program)
    for start, end, off, path in maps:
        # the kernel maps the span of a file with its first segment, and tells
        # that length, though the others are mapped over it
        if program == "joined" and path == exe:
            end = start + span(program)
        f.write("mmap pid=100 start=%#x len=%#x pgoff=%#x path=%s time=200\n" %
                (start, end - start, off, path))
    for stack in stacks:
        own = [i for i, ret in enumerate(stack) if is_own(ret)]
        first = min([own[-1] + 1] + [i for i in own if name(stack[i]) in FIRST])
        for k in range(2, len(stack) + 1):
            f.write("sample pid=100 tid=100 cpu=0 time=%d ip=%#x u=%s\n" % (
                1000 * (len(cuts) + 1), stack[0],
                ",".join("%#x" % a for a in stack[:k])))
            cuts.append((k > first, [name(a) or "?" for a in stack[:k]]))
db = program + ".db"
subprocess.run([MKCAP, program + ".txt", program + ".data"], check=True)
subprocess.run([B, "ingest", "-q", "-f", "-o", db, program + ".data"],
               check=True, stderr=subprocess.DEVNULL)
got = [r[0] for r in sqlite3.connect(db).execute("""
    SELECT coalesce(w.name, 'whole') FROM event e
    JOIN event_type t ON t.id = e.type AND t.kind = 'sample'
    JOIN raw_chain c ON c.id = e.uraw
    LEFT JOIN internal_judged j ON j.stack = c.stack
    LEFT JOIN word w ON w.kind = 'judged' AND w.id = j.class
    ORDER BY e.time_ns""")]
bad = 0
for (true, frames), said in zip(cuts, got):
    short = said.startswith(("ends early", "caller missing"))
    print(said, "is" if true == (said == "whole") else "IS NOT",
          "whole" if true else "short", " ".join(frames))
    # a stripped library without tables does not tell where its functions begin
    open_end = program == "musl" and said == "not judged (start)"
    # no walk along frame pointers has the callers of functions without one
    open_end |= program == "mixed" and said == "caller missing (further out)"
    bad += not (said == "whole" or open_end if true else short)
print("%d stacks, %d whole, %d not as it is" % (
    len(cuts), sum(t for t, _ in cuts), bad))
sys.exit(bad or len(got) != len(cuts))

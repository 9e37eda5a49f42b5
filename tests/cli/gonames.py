#!/usr/bin/env python3
"""gonames.py - functions of a stripped Go program have the names that the symbols
of the same program have.

usage: gonames.py BACKSTITCH MKCAP PROGRAM STRIPPED FIRST: prints what differs, and
ends with 1 if anything does. A sample in the middle of each function is taken of
STRIPPED; nm tells the symbols of PROGRAM. In front of FIRST is code of C, which has no names.
Then the table is damaged in 60 ways, of which the program must not die."""
import os
import random
import re
import sqlite3
import subprocess
import sys

from goprogram import code, lines

B, MKCAP, program, stripped, first = sys.argv[1:]
BASE = 0x500000000
off, vaddr, size = code(stripped)
function = {}
for line in lines("nm", "-S", "--defined-only", program):
    p = line.split(" ", 3)
    if len(p) == 4 and p[2] in "tT" and int(p[1], 16) > 1:
        function[int(p[0], 16)] = int(p[1], 16), p[3]
order = sorted(a for a in function if vaddr <= a < vaddr + size)
with open("go.txt", "w") as f:
    f.write("event cpu-clock\ncomm pid=7 name=go exec\n"
            "mmap pid=7 start=%#x len=%#x pgoff=%#x path=%s\n" % (
                BASE + (vaddr & -4096), (off % 4096 + size + 4095) & -4096, off & -4096,
                os.path.abspath(stripped)))
    for i, a in enumerate(order):
        f.write("sample pid=7 tid=7 cpu=0 time=%d u=%#x\n" % (
            1000 + i, BASE + a + function[a][0] // 2))
subprocess.run([MKCAP, "go.txt", "go.data"], check=True)
subprocess.run([B, "ingest", "-q", "-f", "-o", "go.db", "go.data"], check=True)
got = dict(sqlite3.connect("go.db").execute("""
    SELECT e.time_ns, y.name FROM event e JOIN raw_chain c ON c.id = e.uraw
    JOIN stack s ON s.id = c.stack JOIN frame f ON f.id = s.frame
    LEFT JOIN symbol y ON y.id = f.symbol"""))
bad = known = 0
for i, a in enumerate(order):
    # the runtime's table has no kinds of calls, and no types in brackets
    want = re.sub(r"\[.*\]", "[...]", re.sub(r"\.abi\w+$", "", function[a][1]))
    name = got.get(1000 + i)
    if name is None and "." not in want or want.startswith("x_cgo_"):
        continue  # of C
    known += 1
    if re.sub(r"\[.*\]", "[...]", name or "-") != want:
        bad += 1
        print("%#x is %s, not %s" % (a, want, name))
print("%d functions, %d with another name" % (known, bad))
if first not in got.values() or known < 500:
    print("too few have a name")
    bad += 1

sections = lines("readelf", "-SW", stripped)
table = next(re.search(r"gopclntab\s+\S+\s+(\w+) (\w+) (\w+)", s)
             for s in sections if "gopclntab" in s)
at, length = int(table[2], 16), int(table[3], 16)
random.seed(1)
with open(stripped, "rb") as f:
    sound = f.read()
for n in range(60):
    data = bytearray(sound)
    # the header, the names or the entries
    within = (72, length, length)[n % 3]
    for _ in range(1 + n % 4):
        data[at + random.randrange(within)] = random.choice(
            (0, 1, 0x7f, 0x80, 0xff, random.randrange(256)))
    if n % 7 == 0:
        del data[at + random.randrange(length):]
    os.remove(stripped)
    with open(stripped, "wb") as f:
        f.write(data)
    r = subprocess.run([B, "ingest", "-q", "-f", "-o", "go.db", "go.data"],
                       capture_output=True)
    if r.returncode not in (0, 1, 3) or b"Sanitizer" in r.stderr:
        print("damage %d: status %d" % (n, r.returncode), r.stderr[-300:])
        bad += 1
sys.exit(bad != 0)

#!/usr/bin/env python3
"""goframes.py - where a function of a stripped Go program has its return address is
where the .debug_frame of the same program says.

usage: goframes.py BACKSTITCH PROGRAM STRIPPED: prints what differs, and ends with 1 if
anything does. For each row of .debug_frame a sample is made in STRIPPED, whose stack
dump has an address of its own in each word: the one that is taken for the caller tells
the row that was used. readelf tells the rows of PROGRAM."""
import os
import re
import sqlite3
import struct
import subprocess
import sys

from goprogram import code, lines

B, program, stripped = sys.argv[1:]
BASE, SP, WORDS, LEAST = 0x500000000, 0x7ff000000000, 128, 2000
off, vaddr, size = code(stripped)
# [address of a row, where its return address is above the stack pointer]
rows = []
for line in lines("readelf", "--debug-dump=frames-interp", program):
    row = re.match(r"([0-9a-f]{16}) rsp\+(\d+) +c-8", line)
    if row:
        rows.append((int(row[1], 16), int(row[2]) - 8))
rows = [(at, ra) for at, ra in rows
        if vaddr <= at < vaddr + size and 0 <= ra < 8 * WORDS]


def record(kind, misc, data):
    return struct.pack("<IHH", kind, misc, 8 + len(data)) + data


def own(i):
    """The address in word i of each dump."""
    return BASE + vaddr + 1 + i


ids = struct.pack("<IIQ", 7, 7, 1)
path = os.path.abspath(stripped).encode() + b"\0"
path += bytes(-len(path) % 8)
data = [record(3, 0x2000, struct.pack("<II8s", 7, 7, b"go") + ids),
        record(1, 2, struct.pack("<IIQQQ", 7, 7, BASE + (vaddr & -4096), size + 8192,
                                 off & -4096) + path + ids)]
dump = struct.pack("<%dQ" % WORDS, *map(own, range(WORDS)))
for n, (at, _) in enumerate(rows):
    data.append(record(9, 2, struct.pack(
        "<QIIQQQQQQQ", BASE + at, 7, 7, 1000 + n, 0, 2, 0, SP, BASE + at, len(dump))
        + dump + struct.pack("<Q", len(dump))))
data = b"".join(data)
# ip, tid, time, callchain, registers and stack of user mode; bp, sp and ip
attr = struct.pack("<IIQQQQQIIQQQQII", 1, 128, 0, 1000, 1 << 0 | 1 << 1 | 1 << 2
                   | 1 << 5 | 1 << 12 | 1 << 13, 0, 1 << 18 | 1 << 22, 0, 0, 0, 0, 0,
                   1 << 6 | 1 << 7 | 1 << 8, len(dump), 0)
attr += bytes(128 - len(attr)) + struct.pack("<QQ", 0, 0)
with open("frames.data", "wb") as f:
    f.write(struct.pack("<8sQQQQQQQQ32x", b"PERFILE2", 104, len(attr), 104, len(attr),
                        104 + len(attr), len(data), 0, 0) + attr + data)
subprocess.run([B, "ingest", "-q", "-f", "--no-symbols", "-o", "frames.db",
                "frames.data"], check=True)
got = dict(sqlite3.connect("frames.db").execute("""
    SELECT e.time_ns, f.off FROM event e JOIN raw_chain c ON c.id = e.uraw
    JOIN stack_path p ON p.stack = c.stack AND p.pos = 1
    JOIN frame f ON f.id = p.frame"""))
bad = 0
for n, (at, ra) in enumerate(rows):
    want = ra // 8 + off  # a return address is shown as that of its call
    if got.get(1000 + n) != want:
        bad += 1
        if bad <= 5:
            print("%#x: word %s of the stack, not %d" % (
                at, "-" if 1000 + n not in got else got[1000 + n] - off, ra // 8))
print("%d rows, %d with another caller" % (len(rows), bad))
sys.exit(bad or len(rows) < LEAST)

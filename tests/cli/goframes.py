#!/usr/bin/env python3
"""goframes.py - where a function of a stripped Go program has its return address is
where the .debug_frame of the same program says.

usage: goframes.py BACKSTITCH PROGRAM STRIPPED: prints what differs, and ends with 1 if
anything does. For each row of .debug_frame a sample is made in STRIPPED, whose stack
dump has an address of its own in each word: the one that is taken for the caller tells
the row that was used. readelf tells the rows of PROGRAM.

The last samples are of what the runtime calls where no table says the truth: nothing has
called rt0_go(), and what called morestack() is on another stack."""
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


def called(caller, callee):
    """The address behind the call, and that of the callee."""
    names = {s.split()[-1].removesuffix(".abi0"): s.split() for s in
             lines("nm", "-S", program) if s.split()[-1].startswith("runtime.")}
    start, length = (int(x, 16) for x in names["runtime." + caller][:2])
    text = lines("objdump", "-d", "--start-address=%#x" % start,
                 "--stop-address=%#x" % (start + length), program)
    at = next(i for i, s in enumerate(text) if re.search(
        r"call +[0-9a-f]+ <runtime\.%s(\.abi0)?>" % callee, s))
    to = int(text[at].split("<")[0].split()[-1], 16)
    return int(text[at + 1].split(":")[0], 16), to


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
dumps = [(at, map(own, range(WORDS))) for at, _ in rows]
ends = []
for caller, callee, word, end in (
        ("rt0_go", "schedinit", 2, "outermost"), ("rt0_go", "osinit", 0, "outermost"),
        ("morestack", "newstack", 0, "foreign_stack"),
        ("morestack", "newstack", 2, "foreign_stack")):
    back, to = called(caller, callee)
    ends.append(end)
    dumps.append((to, [BASE + back, word] + WORDS * [0]))
for n, (at, words) in enumerate(dumps):
    dump = struct.pack("<%dQ" % WORDS, *list(words)[:WORDS])
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
db = sqlite3.connect("frames.db")
got = dict(db.execute("""
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
ended = [row[0] for row in db.execute("""
    SELECT w.name FROM event e JOIN raw_chain c ON c.id = e.uraw
    LEFT JOIN word w ON w.kind = 'unwind' AND w.id = c.ended
    WHERE e.time_ns >= ? ORDER BY e.time_ns""", (1000 + len(rows),))]
if ended != ends:
    print("stacks end as", ended, "not", ends)
    bad += 1
sys.exit(bad or len(rows) < LEAST)

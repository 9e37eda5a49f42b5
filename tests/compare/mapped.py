# mapped.py - what processes of ftrace captures had mapped, wherever it comes from.
"""usage: mapped.py

One capture has the system calls that map libraries in one instance, and user
stacks in another; /proc/PID/maps of the program was read while it ran. With
and without that file the same addresses are the same places, and the file's
lines are those of the view. In another capture trace-cmd stored mappings
without offsets: there the dynamic linker's mmap calls say where libc is, and
its program headers which offsets that makes. In a text a program logged its
own stacks: its maps say where they are."""

import os
import re
import shutil
import struct

import common

ADDRS = """SELECT r.id, r.stack, r.addrs FROM raw_chain r WHERE r.id IN (
SELECT uraw FROM event UNION SELECT uraw FROM request
UNION SELECT uraw FROM chain)"""
FRAMES = """SELECT i.path, f.off, f.flags, k.name FROM stack_path p
JOIN frame f ON f.id = p.frame JOIN image i ON i.id = f.image
JOIN word k ON k.kind = 'image' AND k.id = i.kind
WHERE p.stack = ? ORDER BY p.pos"""


def ingest(path, name, *opts):
    db, status, said = common.into(
        os.path.join(common.CACHE, "mapped-%s.db" % name), *opts, path)
    common.ok(status == 0, "%s is read" % name, [said])
    return db


def places(db):
    """{addresses of a stack: [(path, offset, flags, kind), ...]}, for all user stacks"""
    found = {}
    for raw, stack, ips in common.query(db, ADDRS):
        frames = common.query(db, FRAMES, stack)
        ips = common.addresses(ips)
        if len(ips) != len(frames):
            raise SystemExit("raw chain %d: %d addresses, %d frames"
                             % (raw, len(ips), len(frames)))
        found.setdefault(tuple(ips), []).extend(frames)
    return found


def pairs(db):
    """{(address, path, offset, flags)} of code in files"""
    return {(ip, f[0], f[1], f[2]) for ips, frames in places(db).items()
            for ip, f in zip(ips, frames) if f[3] == "file"}


def instances():
    whole = common.place("ftrace-7.2/instances.dat")
    maps = os.path.dirname(whole) + "/maps"
    path = os.path.join(common.CACHE, "mapped-" + os.path.basename(whole))
    shutil.copy(whole, path)
    folder = ingest(whole, "folder", "--maps", maps)
    given = ingest(path, "given", "--maps", "1362=%s/wl.1362.maps" % maps)
    calls = pairs(ingest(path, "calls"))
    both = pairs(given)
    paths = {p[1] for p in calls}
    common.ok(calls <= both and len(calls) >= 40 and
              {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/wl/libplug0.so",
               "/wl/libplug1.so"} <= paths,
              "instances: system calls say what the file says: %d of %d places"
              % (len(calls), len(both)),
              ["only by calls: %r" % (p,) for p in sorted(calls - both)[:5]])
    more = {p[1] for p in both - calls}
    common.ok({"/wl/wl", "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"} <= more,
              "instances: the file says more", [repr(more)])
    common.ok(both <= pairs(folder), "instances: the folder says it too",
              ["only given: %r" % (p,) for p in sorted(both - pairs(folder))[:5]])
    with open(maps + "/wl.1362.maps") as f:
        want = {l.rstrip("\n") for l in f if " r-xp " in l and "/" in l}
    view = {r[0] for r in common.query(given, "SELECT line FROM maps")}
    common.ok(want and want <= view, "instances: %d lines of the file are in "
              "the view" % len(want), sorted(want - view)[:5])


def marker():
    """Stacks that a program logged itself, with its own maps."""
    maps = common.place("ftrace-raw/marker-kstack.maps")
    with open(maps) as f:
        lines = [l.split() for l in f if l[0] != "#" and len(l.split()) == 6]
    db = ingest(common.place("ftrace-raw/marker-kstack.txt"), "marker",
                "--maps", "30227=" + maps)
    found = pairs(db)
    wrong = []
    for ip, path, off, flags in found:
        want = [(l[5], ip - int(l[0].split("-")[0], 16) + int(l[2], 16))
                for l in lines
                if int(l[0].split("-")[0], 16) <= ip < int(l[0].split("-")[1], 16)]
        wrong += [] if want == [(path, off)] and not flags else [(hex(ip), path, off)]
    common.ok(len(found) >= 8 and not wrong, "marker: %d places are where the "
              "maps say" % len(found), [repr(w) for w in wrong[:5]])


LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
# readelf -lW of the C library of that machine: offset, address, size in the
# file and in memory, and flags of its PT_LOAD.
LIBC_LOADS = [(0, 0, 0x25388, 0x25388, 4),
              (0x26000, 0x26000, 0x1550fc, 0x1550fc, 5),
              (0x17c000, 0x17c000, 0x52c31, 0x52c31, 4),
              (0x1cf8d0, 0x1cf8d0, 0x4f98, 0x12680, 6)]


def libc_symfs():
    """A folder of programs in which the C library is: the library itself, or
    a file that has nothing but its program headers."""
    folder = common.symfs("symfs-6.18")
    if os.path.exists(folder + LIBC):
        return folder
    folder = os.path.join(common.CACHE, "mapped-symfs")
    os.makedirs(os.path.dirname(folder + LIBC), exist_ok=True)
    with open(folder + LIBC, "wb") as f:
        f.write(b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, len(LIBC_LOADS),
            64, 0, 0))
        for off, addr, size, memory, flags in LIBC_LOADS:
            f.write(struct.pack("<IIQQQQQQ", 1, flags, off, addr, addr, size,
                                memory, 4096))
        f.truncate(LIBC_LOADS[-1][0] + LIBC_LOADS[-1][2])
    return folder


def procmap():
    base = os.path.join(common.HERE, "ftrace-procmap")
    symfs = libc_symfs()
    text = common.read_gz(base + ".report.txt.gz")
    start = int(re.search(r"sys_enter_mmap: .*len: 0x001e1f50.*?"
                          r"sys_exit_mmap: +(0x[0-9a-f]+)", text, re.S)[1], 16)
    loads = list(common.segments(common.read_bytes(symfs + LIBC)))
    proved = pairs(ingest(base + ".dat", "proved", "--symfs", symfs))
    derived = pairs(ingest(base + ".dat", "derived", "--symfs",
                           os.path.join(common.ROOT, "tests/cases")))
    wrong = []
    n = 0
    for ip, path, off, flags in proved:
        want = [o + ip - start - v for _, o, v, size in loads
                if v <= ip - start < v + size]
        if path == LIBC:
            n += 1
            wrong += [] if [off] == want and flags == 0 else [(hex(ip), off, want)]
    common.ok(n >= 12 and not wrong, "procmap: %d places in libc are where its "
              "headers say" % n, [repr(w) for w in wrong[:5]])
    common.ok({p[:3] for p in proved} == {p[:3] for p in derived} and
              {p[3] for p in derived} == {8} and
              {p[3] for p in proved if os.path.exists(symfs + p[1])} == {0},
              "procmap: without the files they are the same, and derived")


def main():
    instances()
    procmap()
    marker()
    common.finish()


main()

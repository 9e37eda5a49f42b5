# jit.py - code that processes made themselves has the name it had when it was hit.
"""usage: jit.py

Real captures: every user address of every sample is looked up here too, by a
plain search through the jitdump file's records or the map's lines, and the
names must be equal; so must those that perf prints of the same capture after
'perf inject --jit'. Made-up ones: code at random places that is replaced
and moved, in files of both byte orders, and maps whose lines overlap."""

import collections
import os
import random
import struct
import tempfile

import common
import names

GRACE = 1000000
MAGIC = 0x4A695444
AMBIGUOUS = "[ambiguous] "


# ---- jitdump, read and written

def read_dump(data):
    """[(time, kind, from, to, size, number, name)] of LOAD and MOVE."""
    e = "<" if struct.unpack_from("<I", data)[0] == MAGIC else ">"
    at = struct.unpack_from(e + "I", data, 8)[0]
    out = []
    while at + 16 <= len(data):
        kind, size, time = struct.unpack_from(e + "IIQ", data, at)
        if size < 16 or at + size > len(data):
            break
        if kind == 0:
            _, addr, n, number = struct.unpack_from(e + "4Q", data, at + 24)
            name = data[at + 56:data.index(b"\0", at + 56)]
            out.append((time, "load", addr, addr, n, number,
                        name.decode(errors="surrogateescape")))
        elif kind == 1:
            _, old, new, n, number = struct.unpack_from(e + "5Q", data,
                                                        at + 24)
            out.append((time, "move", old, new, n, number, None))
        at += size
    return out


def write_dump(records, pid, big=False):
    e = ">" if big else "<"
    out = struct.pack(e + "6I2Q", MAGIC, 1, 40, 62, 0, pid, 1, 0)
    for time, kind, old, new, n, number, name in records:
        if kind == "load":
            body = struct.pack(e + "2I4Q", pid, pid, new, new, n, number)
            body += name.encode() + b"\0" + bytes(n)
        else:
            body = struct.pack(e + "2I5Q", pid, pid, new, old, new, n, number)
        out += struct.pack(e + "IIQ", 0 if kind == "load" else 1,
                           16 + len(body), time) + body
    return out


def lives(records):
    """[(from, until, addr, size, name)] in the order in which they came."""
    out = []
    for time, kind, old, new, n, number, name in records:
        if kind == "move":
            for i in range(len(out) - 1, -1, -1):
                t0, t1, addr, size, nm, num = out[i]
                if addr == old and num == number:
                    break
            else:
                continue
            if t1 is not None:
                continue
            out[i] = (t0, max(time, t0), addr, size, nm, num)
            name, n = nm, size
        out.append((time, None, new, n, name, number))
    return sorted(out, key=lambda x: x[0])


def name_at(codes, addr, time):
    """The newest code over an address; None where there is none."""
    there = [c for c in codes if c[2] <= addr < c[2] + c[3]]
    past = [c for c in there if c[0] <= time]
    if past and (past[-1][1] is None or time < past[-1][1]):
        return past[-1][4], addr - past[-1][2]
    soon = [c for c in there if time < c[0] <= time + GRACE]
    return (soon[0][4], addr - soon[0][2]) if soon else None


# ---- what the database says

def user_frames(db):
    """[(time, [(address, kind, name, offset in it, flags)])] of the samples."""
    path = collections.defaultdict(dict)
    for row in common.query(
            db, "SELECT s.stack, s.pos, w.name, y.name, f.symoff, f.flags"
                " FROM stack_path s JOIN frame f ON f.id = s.frame"
                " JOIN image i ON i.id = f.image"
                " JOIN word w ON w.kind = 'image' AND w.id = i.kind"
                " LEFT JOIN symbol y ON y.id = f.symbol"):
        path[row[0]][row[1]] = row[2:]
    return [(time, [(a,) + path[stack][i]
                    for i, a in enumerate(common.addresses(blob))])
            for time, blob, stack in common.query(
                db, "SELECT e.time_ns, c.addrs, c.stack FROM event e"
                    " JOIN event_type t ON t.id = e.type AND t.kind = 'sample'"
                    " JOIN raw_chain c ON c.id = e.uraw ORDER BY e.id")]


def ingest(tmp, capture, *options):
    return common.into(os.path.join(tmp, "jit.db"), *options, capture)


def check_against_dump(tmp, what, capture, dump, *options):
    """How often each name was hit; every address by the file itself."""
    codes = lives(read_dump(common.read_bytes(dump)))
    db, status, err = ingest(tmp, capture, *options)
    hit = collections.Counter()
    wrong = []
    n = 0
    for time, frames in user_frames(db):
        for i, (addr, kind, name, off, _) in enumerate(frames):
            want = name_at(codes, addr, time)
            have = (name, off) if kind == "jit" else None
            n += want is not None
            if want != have:
                wrong.append("%d: %x is %s, ours %s"
                             % (time, addr, want, have))
            if i == 0 and kind == "jit":
                hit[name] += 1
    common.ok(status == 0 and n and not wrong,
              "%s: %d frames have the name of their time" % (what, n),
              wrong[:8] + [err])
    return db, hit


def check_map(db, what, status, err, lines):
    """Each address by a map's lines; gives how many several lines cover.
    Code in a file is not the map's."""
    wrong = []
    n = several = 0
    for _, frames in user_frames(db):
        for addr, kind, name, _, flags in frames:
            want = list(dict.fromkeys(
                nm for at, size, nm in lines if at <= addr < at + size))
            ambiguous = len(want) > 1
            if kind not in ("jit", "anon"):
                continue
            n += 1
            several += ambiguous
            full = (AMBIGUOUS if ambiguous else "") + "|".join(want)
            if (kind, name or "", bool(flags & 16)) != (
                    "jit" if want else "anon", full, ambiguous):
                wrong.append("%x: %s, ours %s %s" % (addr, want, kind, name))
    common.ok(status == 0 and n and not wrong,
              "%s: %d frames by their lines" % (what, n), wrong[:8] + [err])
    return several


# ---- real captures

# Three functions in turn at one address; perf with the map alone says jit_beta
# of all 1628.
FAKEJIT = os.path.join(common.HERE, "jit-reused.data.zst")
TRUTH = {"jit_alpha": 551, "jit_beta": 264, "jit_gamma": 813}


def check_fakejit(tmp):
    _, hit = check_against_dump(tmp, "code replaced at one address", FAKEJIT,
                                common.HERE + "/jit-13475.dump")
    common.ok(hit == TRUTH, "alpha 551, beta 264, gamma 813", [str(hit)])
    db, status, err = ingest(tmp, FAKEJIT, "--no-jit", "--perf-map",
                             common.HERE + "/perf-13475.map")
    leaf = collections.Counter((f[0][2], f[0][4] & 16)
                               for _, f in user_frames(db)
                               if f[0][1] == "jit")
    want = {(AMBIGUOUS + "|".join(TRUTH), 16): sum(TRUTH.values())}
    common.ok(status == 0 and leaf == want,
              "by the map alone all 1628 are ambiguous", [str(leaf), err])
    db, _, _ = ingest(tmp, FAKEJIT, "--no-jit")
    kinds = collections.Counter(f[0][1] for _, f in user_frames(db))
    common.ok(kinds["anon"] == 1628 and not kinds["jit"],
              "--no-jit looks at neither", [str(kinds)])


def perf_frames(text):
    """[[(name, offset, dso)]] of the samples in perf's text, in order."""
    return [[(name, int(off or "0", 16), dso) for _, name, off, dso, _ in fs]
            for _, fs in names.frames(text)]


def check_perf(tmp, what, capture, text, is_jit):
    """Where perf names jitted code, we give the same name and offset."""
    db, status, err = ingest(tmp, capture)
    perf = [[f for f in s if not f[2].startswith("[k")] for s in
            perf_frames(text)]
    perf = [s for s in perf if any(is_jit(f[2]) for f in s)]
    ours = [[f[2:4] if f[1] == "jit" else None for f in frames]
            for _, frames in user_frames(db)]
    ours = [s for s in ours if any(s)]
    wrong, n = [], 0
    for p, o in zip(perf, ours):
        jit_p = [f[:2] for f in p if is_jit(f[2])]
        jit_o = [f for f in o if f]
        n += len(jit_p)
        if jit_p != jit_o:
            wrong.append("perf %s, ours %s" % (jit_p, jit_o))
    common.ok(status == 0 and n and not wrong and len(perf) == len(ours),
              "%s: %d names are perf's" % (what, n),
              wrong[:8] + ["%d and %d samples" % (len(perf), len(ours)), err])


def check_lines(db):
    """V8's lines are of instructions in their code, and are in hot.js."""
    rows = common.query(
        db, "SELECT i.path, l.off, i.len, l.file, l.line FROM jit_line l"
            " JOIN image i ON i.id = l.image")
    bad = [r for r in rows if r[1] >= r[2] or r[4] < 1]
    common.ok(rows and not bad, "node: %d lines of source" % len(rows), bad)
    codes = common.one(
        db, "SELECT count(*) FROM image i JOIN word w ON w.kind = 'image'"
            " AND w.id = i.kind AND w.name = 'jit'")
    kept = common.one(
        db, "SELECT count(*) FROM jit_code c JOIN image i ON i.id = c.image"
            " WHERE length(c.bytes) = i.len AND c.machine = 62")
    common.ok(codes == kept, "the bytes of all %d codes are kept" % codes,
              [str(kept)])


def check_node(tmp):
    capture = common.place("perf/node-jitdump/perf.data")
    db, _ = check_against_dump(
        tmp, "node, jitdump", capture,
        common.place("perf/node-jitdump/jit-9863.dump"))
    check_lines(db)
    check_perf(tmp, "node, after perf inject --jit", capture,
               common.read_gz(common.place("perf/node-jitdump/script.jit.txt")),
               lambda dso: "/jitted-" in dso)
    with open(common.place("perf/node-map/perf-9842.map")) as f:
        lines = [x.rstrip("\n").split(" ", 2) for x in f]
    db, status, err = ingest(tmp, common.place("perf/node-map/perf.data"))
    check_map(db, "node, perf map", status, err,
              [(int(x[0], 16), int(x[1], 16), x[2]) for x in lines])
    # perf's own text was made without the map, but it counts the frames
    text = common.read_gz(common.place("perf/node-map/script-v72.txt"))
    perf = sum("/perf-9842.map" in f[2] for s in perf_frames(text) for f in s)
    ours = sum(f[1] in ("jit", "anon") for _, s in user_frames(db) for f in s)
    common.ok(perf == ours, "node, perf map: %d frames in anonymous memory"
              % perf, [str(ours)])


# ---- made-up captures

def make_capture(tmp, samples, pid, marker):
    text = ["event cpu-clock mono", 'comm pid=%d name="app"' % pid,
            "mmap pid=%d start=0x10000 len=0x100000 pgoff=0x10000 path=//anon"
            % pid]
    if marker:
        text.append("mmap pid=%d start=0x900000 len=0x1000 pgoff=0 "
                    "path=/gone/jit-%d.dump time=1" % (pid, pid))
    for time, addrs in samples:
        text.append("sample pid=%d tid=%d cpu=0 time=%d ip=%d u=%s"
                    % (pid, pid, time, addrs[0],
                       ",".join("0x%x" % a for a in addrs)))
    return common.mkcap(text, os.path.join(tmp, "c.data"))


def random_records(rnd, n):
    """Code that is made, replaced and moved; out of order now and then."""
    out, time, loaded = [], 10000000, []
    for i in range(n):
        time += rnd.randrange(1, 3000000)
        if loaded and rnd.random() < 0.2:
            number, at, size = rnd.choice(loaded)
            to = 0x10000 + rnd.randrange(0x2000)
            out.append((time, "move", at, to, size, number, None))
            loaded = [x for x in loaded if x[0] != number]
            loaded.append((number, to, size))
            continue
        at = 0x10000 + rnd.randrange(0x2000) // 16 * 16
        size = rnd.randrange(1, 400)
        out.append((time, "load", at, at, size, i, "f%d (x; y)" % i))
        loaded.append((i, at, size))
    return out


def check_random(tmp, seed):
    rnd = random.Random(seed)
    records = random_records(rnd, 300)
    last = records[-1][0]
    samples = sorted((rnd.randrange(9000000, last + 10000000),
                      [0x10000 + rnd.randrange(0x2200) for _ in range(4)])
                     for _ in range(1500))
    pid = 4242
    capture = make_capture(tmp, samples, pid, True)
    dump = os.path.join(tmp, "jit-%d.dump" % pid)
    with open(dump, "wb") as f:
        f.write(write_dump(records, pid, seed % 2 == 1))
    check_against_dump(tmp, "random code, seed %d" % seed, capture, dump)
    os.remove(dump)


def check_random_map(tmp, seed):
    rnd = random.Random(seed)
    lines = [(0x10000 + rnd.randrange(0x800), rnd.randrange(1, 60),
              rnd.choice("abcdefgh") * 3 + " %d" % rnd.randrange(40))
             for _ in range(200)]
    samples = [(1000 * (i + 1), [0x10000 + rnd.randrange(0x900)])
               for i in range(1500)]
    capture = make_capture(tmp, samples, 77, False)
    path = os.path.join(tmp, "perf-77.map")
    with open(path, "w") as f:
        for i, (at, n, name) in enumerate(lines):
            f.write("%s%x %x %s\n" % ("0x" if i % 3 == 0 else "", at, n, name))
    db, status, err = ingest(tmp, capture)
    several = check_map(db, "random map, seed %d" % seed, status, err, lines)
    common.ok(several > 100, "%d frames are ambiguous" % several)
    os.remove(path)


LIVES = """event cpu-clock mono
comm pid=501 name="app"
mmap pid=501 start=0x10000 len=0x10000 pgoff=0x10000 path=//anon
mmap pid=501 start=0x900000 len=0x1000 pgoff=0 path=/gone/jit-501.dump time=9
sample pid=501 tid=501 cpu=0 time=20000000 u=0x10104
fork pid=502 ppid=501 time=30000000 cpu=0
sample pid=502 tid=502 cpu=0 time=40000000 u=0x10104
sample pid=502 tid=502 cpu=0 time=60000000 u=0x10104
sample pid=501 tid=501 cpu=0 time=61000000 u=0x10104
comm pid=502 name="new" exec time=70000000 cpu=0
mmap pid=502 start=0x10000 len=0x10000 pgoff=0x10000 path=//anon time=71000000
sample pid=502 tid=502 cpu=0 time=80000000 u=0x10104
mmap pid=501 start=0x10000 len=0x1000 pgoff=0 path=/lib/x.so time=90000000
sample pid=501 tid=501 cpu=0 time=100000000 u=0x10104
sample pid=501 tid=501 cpu=0 time=120000000 u=0x10104
exit pid=501 tid=501 ppid=1 ptid=1 time=130000000 cpu=0
fork pid=501 ppid=502 time=140000000 cpu=0
mmap pid=501 start=0x10000 len=0x10000 pgoff=0x10000 path=//anon time=141000000
sample pid=501 tid=501 cpu=0 time=150000000 u=0x10104
"""


def check_lives(tmp):
    """Forked, replaced in one process only, gone with exec, below a file
    that was mapped later, over it, and not another life's."""
    out = common.mkcap(LIVES.splitlines(), os.path.join(tmp, "c.data"))
    dump = os.path.join(tmp, "jit-501.dump")
    with open(dump, "wb") as f:
        f.write(write_dump(
            [(ms * 1000000, "load", 0x10100, 0x10100, 16, i, name)
             for i, (ms, name) in enumerate(((10, "f"), (50, "g"),
                                             (110, "h")))], 501))
    db, status, err = ingest(tmp, out)
    have = [(t // 1000000, f[0][2] or f[0][1]) for t, f in user_frames(db)]
    want = [(20, "f"), (40, "f"), (60, "f"), (61, "g"), (80, "anon"),
            (100, "file"), (120, "h"), (150, "anon")]
    common.ok(status == 0 and have == want,
              "jitted code lives with its process", [str(have), err])
    os.remove(dump)


def check_python(tmp, name):
    """CPython's trampolines: a hit in each one, by the file it wrote."""
    path = common.place("elf/jit/" + name)
    with open(path, "rb") as f:
        data = f.read()
    pid = struct.unpack_from("<I", data, 20)[0]
    records = read_dump(data)
    base = min(r[3] for r in records) - 0x10000
    capture = make_capture(
        tmp, [(r[0] + 10, [r[3] + 3]) for r in records], pid, False)
    db, hit = check_against_dump(tmp, "python, " + name, capture, path,
                                 "--jitdump", path)
    common.ok(base and hit == {r[6]: 1 for r in records},
              "python: each of %d functions once" % len(records))


def check_python_map(tmp):
    path = common.place("elf/jit/python314-perf.map")
    with open(path) as f:
        lines = [x.rstrip("\n").split(" ", 2) for x in f]
    capture = make_capture(
        tmp, [(1000 * (i + 1), [int(x[0], 16) + 3])
              for i, x in enumerate(lines)], 9, False)
    db, status, err = ingest(tmp, capture, "--perf-map", "9=" + path)
    hit = [f[0][2] for _, f in user_frames(db)]
    common.ok(status == 0 and hit == [x[2] for x in lines],
              "python, perf map: %d names" % len(lines), [err])


def main():
    with tempfile.TemporaryDirectory() as tmp:
        check_fakejit(tmp)
        check_lives(tmp)
        for seed in range(1, 7):
            check_random(tmp, seed)
        for seed in range(1, 4):
            check_random_map(tmp, seed)
        check_node(tmp)
        for name in "py314-jit.dump", "python314-jit.dump":
            check_python(tmp, name)
        check_python_map(tmp)
    common.finish()


if __name__ == "__main__":
    main()

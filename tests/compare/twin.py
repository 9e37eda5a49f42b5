# twin.py - the same capture in another dress is the same database.
"""usage: twin.py

stdin: a capture piped in has the same samples as the file.
packed: .gz and .zst around a capture change nothing.
bytes: the byte-swapped twin of a capture has the same contents, apart from the
cookies (twins/NAME.data were made by tools/mkbe.py of the shared folder, which
makes more where it is; the cases have twins of their own).
cuts: inside the data every whole record before the cut is there, status 3 and
the offset are said; inside the header or the attributes it is status 1."""

import gzip
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import common

SAMPLES = "SELECT s.time_ns, s.cpu, pid, tid, s.comm, s.event, s.weight, s.verdict," \
          " hex(k.addrs), hex(u.addrs) FROM samples s" \
          " LEFT JOIN event e ON e.id = s.event_id" \
          " LEFT JOIN request r ON r.event = s.event_id" \
          " LEFT JOIN raw_chain k ON k.id = e.kraw" \
          " LEFT JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw)"
# What the twin must have too: mkbe.py leaves out the table of build-ids, and
# records lie elsewhere in its file.
TABLES = {
    "process": "*", "thread": "*", "comm": "*", "mapping": "*", "frame": "*",
    "image": "id, kind, path, maj, min, ino, start, len",
    "stack": "id, parent, frame, depth", "raw_chain": "*", "word": "*",
    "loss": "id, capture, what, counts, cpu, type, t0, t1, n",
    "request": "*", "chain": "*", "cookies": "*", "cookie_cpu": "*",
    "cookie_gap": "*", "internal_rule": "*", "internal_finding": "*",
}


def samples(db):
    return sorted(common.query(db, SAMPLES), key=repr)


def ingest(path, db, stdin=None):
    r = common.run("ingest", "-f", "--no-symbols", "-o", db, path,
                   stdin=stdin)
    return r.returncode, r.stderr.decode(errors="replace")


def plain(c, tmp):
    """A copy of the capture without .gz or .zst around it."""
    out = os.path.join(tmp, c.name + ".data")
    with open(out, "wb") as f:
        f.write(common.read_bytes(c.path))
    return out


def check_stdin(c, path, tmp):
    db, status, _ = common.ingest(c)
    if status:
        return
    want = samples(db)
    other = os.path.join(tmp, "stdin.db")
    with open(path, "rb") as f:
        status, err = ingest("-", other, stdin=f)
    common.ok(status == 0 and samples(other) == want,
              "%s: the same %d samples through stdin" % (c.name, len(want)),
              ["status %d" % status, err])
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as p:
        status, err = ingest("-", other, stdin=p.stdout)
    common.ok(status == 0 and samples(other) == want,
              "%s: the same %d samples through a pipe" % (c.name, len(want)),
              ["status %d" % status, err])
    first, last, least, most = common.query(
        other, "SELECT c.first_ns, c.last_ns, (SELECT min(time_ns) FROM event),"
               " (SELECT max(time_ns) FROM event) FROM capture c")[0]
    common.ok(least is None or first <= least <= most <= last
              and last - first < 60 * 10**9,
              "%s: its time range through a pipe" % c.name,
              ["%s to %s, events %s to %s" % (first, last, least, most)])


def check_packed(c, path, tmp):
    db, status, _ = common.ingest(c)
    if status:
        return
    want = samples(db)
    gz = path + ".gz"
    with open(path, "rb") as i, gzip.open(gz, "wb") as o:
        shutil.copyfileobj(i, o)
    zst = path + ".zst"
    subprocess.run(["zstd", "-qf", path, "-o", zst], check=True)
    for packed in (gz, zst):
        other = os.path.join(tmp, "packed.db")
        status, err = ingest(packed, other)
        common.ok(status == 0 and samples(other) == want,
                  "%s: the same samples from %s"
                  % (c.name, os.path.splitext(packed)[1]),
                  ["status %d" % status, err])


def dump(db, table):
    rows = common.query(db, "SELECT %s FROM %s" % (TABLES[table], table))
    return sorted(map(repr, rows))


def check_bytes(c, path, tmp):
    big = common.place("twins/%s.data" % c.name)
    if not big and common.SHARED:
        mkbe = os.path.join(common.SHARED, "tools/mkbe.py")
        big = os.path.join(tmp, "big.data")
        r = subprocess.run([sys.executable, mkbe, path, big],
                           stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        if r.returncode:
            return False
    if not big:
        return False
    db, status, _ = common.ingest(c)
    other = os.path.join(tmp, "big.db")
    status, err = ingest(big, other)
    good = status == 0 and samples(other) == samples(db)
    wrong = [] if good else ["samples differ", "status %d" % status, err]
    for table in TABLES if good else ():
        if dump(db, table) != dump(other, table):
            wrong.append("table %s differs" % table)
    common.ok(not wrong, "%s: the big-endian twin is the same database"
              % c.name, wrong)
    return True


def check_cuts(c, path, tmp):
    with open(path, "rb") as f:
        data = f.read()
    attrs_at = struct.unpack_from("<Q", data, 24)[0]
    records = list(common.records(data))
    cut = os.path.join(tmp, "cut.data")
    db = os.path.join(tmp, "cut.db")
    for part in (0.3, 0.6, 0.9):
        at, n, _, _ = records[int(len(records) * part)]
        with open(cut, "wb") as f:
            f.write(data[:at + n // 2])
        status, err = ingest(cut, db)
        want = sum(kind == 9 for off, size, kind, _ in records
                   if off + size <= at)
        got = common.one(db, "SELECT count(*) FROM samples") \
            if os.path.exists(db) else -1
        said = [int(x, 16) for x in re.findall(r"\+0x([0-9a-f]+)", err)]
        common.ok(status == 3 and got == want and at in said,
                  "%s: cut at 0x%x keeps %d samples" % (c.name, at, want),
                  ["status %d, %d samples, offset 0x%x said: %s"
                   % (status, got, at, at in said), err])
        if os.path.exists(db):
            os.unlink(db)
    for what, at in (("header", 60), ("attributes", attrs_at + 20)):
        with open(cut, "wb") as f:
            f.write(data[:at])
        status, err = ingest(cut, db)
        common.ok(status == 1 and "cut.data" in err
                  and not os.path.exists(db),
                  "%s: a cut inside the %s is refused" % (c.name, what),
                  ["status %d" % status, err])


def main():
    with tempfile.TemporaryDirectory() as tmp:
        by_name = {c.name: c for c in common.captures()}
        for name in ("fp-1", "task-exitexec", "pipe-defer", "z-defer",
                     "s390x-z"):
            check_stdin(by_name[name], plain(by_name[name], tmp), tmp)
        for name in ("fp-1", "pipe-zstd"):
            check_packed(by_name[name], plain(by_name[name], tmp), tmp)
        for name in ("fp-1", "two-e"):
            check_cuts(by_name[name], plain(by_name[name], tmp), tmp)
        n = 0
        for name in ("fp-1", "defer-cpuclock", "group", "regs",
                     "two-f", "ctx2-defer", "dlchurn", "churn"):
            if name in by_name:
                n += check_bytes(by_name[name], plain(by_name[name], tmp),
                                 tmp)
        common.ok(n >= 4, "%d captures have a twin" % n)
    common.finish()


if __name__ == "__main__":
    main()

# latencycuts.py - latency of real captures from which records were removed.
"""usage: latencycuts.py [--removals N] [NAME|CAPTURE...]

A capture of perf in which nothing was lost has the true intervals, which
latency.py compares with perf's. Here records are removed from copies of it, as
a full ring does: single ones, pairs and bursts of a CPU, with a record of type
LOST before the next one of that CPU. In each copy

- the losses add up to what was removed;
- an interval of which both ends are left is proved if and only if records that
  were lost between them are too few to be an end and a begin of the same, and
  otherwise consistent; of a consistent one nobody knows, but a proved one must
  be a true one;
- each end and each begin that is left is in one interval, as in the whole
  capture, and one whose other half was removed is in none that is proved.

N: how many records to remove in all (4,000; with LONG=1 30,000)."""

import collections
import csv
import io
import os
import random
import struct
import sys
import tempfile

import common

IDENTIFIER, IP, TID, TIME, ADDR, ID, CPU, STREAM = (
    1 << n for n in (16, 0, 1, 2, 3, 6, 7, 9))
SAMPLE, LOST, LOST_SAMPLES = 9, 2, 13
BY_CPU = "irq", "softirq", "softirq-wait", "timer"
OF_THREAD = "syscall", "lock", "work"
# what begins again before it ends: an earlier begin may be lost
FIRST = "softirq-wait", "lock"


class Capture:
    """The records of a perf.data file: (bytes, type, cpu, time, tid)."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.attrs = struct.unpack_from("<QQ", self.data, 24)
        self.at, self.size = struct.unpack_from("<QQ", self.data, 40)
        step, = struct.unpack_from("<Q", self.data, 16)
        self.kinds = {}  # by id
        for i in range(self.attrs[0], self.attrs[0] + self.attrs[1], step):
            self.kind, = struct.unpack_from("<Q", self.data, i + 24)
            at, n = struct.unpack_from("<QQ", self.data, i + step - 16)
            for k in range(0, n, 8):
                self.kinds[self.data[at + k:at + k + 8]] = self.kind
        self.records = []
        at, end = self.at, self.at + self.size
        while at < end:
            kind, _, n = struct.unpack_from("<IHH", self.data, at)
            raw = self.data[at:at + n]
            self.records.append((raw, kind) + (
                self.where(raw, kind) if kind < 64 else (None,) * 3))
            at += n

    def trailer(self, bits):
        return [b for b in (TID, TIME, ID, STREAM, CPU, IDENTIFIER) if bits & b]

    def where(self, raw, kind):
        if kind == SAMPLE:
            # without an identifier all events are alike
            bits = self.kinds.get(raw[8:16], self.kind)
            order, at = (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM, CPU), 8
        else:
            bits = self.kinds.get(raw[-8:], self.kind)
            order = self.trailer(bits)
            at = len(raw) - 8 * len(order)
        time = cpu = tid = None
        for b in order:
            if not bits & b:
                continue
            if b == TIME:
                time, = struct.unpack_from("<Q", raw, at)
            elif b == TID:
                tid, = struct.unpack_from("<I", raw, at + 4)
            elif b == CPU:
                cpu, = struct.unpack_from("<I", raw, at)
            at += 8
        return cpu, time, tid

    def lost(self, n, cpu, time):
        ident = next(iter(self.kinds))
        tail = b"".join({TIME: struct.pack("<Q", time), IDENTIFIER: ident,
                         CPU: struct.pack("<II", cpu, 0)}.get(b, bytes(8))
                        for b in self.trailer(self.kinds[ident]))
        return struct.pack("<IHHQQ", LOST, 0, 24 + len(tail), 0, n) + tail

    def without(self, gone, path):
        """Writes a copy without the records of these numbers. Returns the
        losses: (from, to, cpu, n)."""
        out, losses, waiting, last = [], [], collections.Counter(), {}
        for i, (raw, _, cpu, time, _) in enumerate(self.records):
            if i in gone:
                waiting[cpu] += 1
                continue
            if cpu is not None and waiting[cpu]:
                out.append(self.lost(waiting[cpu], cpu, time))
                losses.append((last.get(cpu, 0), time, cpu, waiting.pop(cpu)))
            if cpu is not None and time:
                last[cpu] = time
            out.append(raw)
        assert not +waiting, waiting
        data = b"".join(out)
        head = bytearray(self.data[:self.at])
        struct.pack_into("<Q", head, 48, len(data))
        rest = bytearray(self.data[self.at + self.size:])
        features = sum(bin(b).count("1") for b in self.data[72:104])
        for i in range(features):
            at, = struct.unpack_from("<Q", rest, 16 * i)
            struct.pack_into("<Q", rest, 16 * i, at + len(data) - self.size)
        with open(path, "wb") as f:
            f.write(head + data + rest)
        return losses

    def choose(self, rnd, most):
        """Numbers of records to remove: none behind which its CPU has none."""
        rings = collections.defaultdict(list)
        for i, (_, kind, cpu, _, _) in enumerate(self.records):
            if cpu is not None and kind < 64:
                rings[cpu].append((i, kind))
        gone = set()
        while len(gone) < most:
            ring = rnd.choice(list(rings.values()))
            at = rnd.randrange(len(ring))
            for i, kind in ring[at:min(at + rnd.choice((1, 1, 2, 3, 20)),
                                       len(ring) - 1)]:
                if kind == SAMPLE:
                    gone.add(i)
        return gone


def intervals(path, folder):
    db = os.path.join(folder, "cut.db")
    common.must("ingest", "-qf", "--no-symbols", "-o", db, path, allowed=(0, 3))
    text = common.must("query", "--format", "csv", db, "SELECT kind, t0, t1, tid,"
                       " key, cpu, verdict, reason FROM interval")
    return [(r["kind"], int(r["t0"] or 0), int(r["t1"] or 0), r["tid"], r["key"],
             int(r["cpu"] or -1), r["verdict"], r["reason"])
            for r in csv.DictReader(io.StringIO(text))], int(common.one(
                db, "SELECT coalesce(sum(n), 0) FROM loss WHERE what = 'lost'"))


def sides(rows):
    """How many intervals each begin and each end is in."""
    out = collections.Counter()
    for kind, t0, t1, tid, key, cpu, *_ in rows:
        # of an end without a begin, thread and CPU are those of the end
        where = (tid if kind in OF_THREAD else "",
                 cpu if kind in BY_CPU else 0)
        if t0:
            out[(kind, "begin", t0) + where] += 1
        if t1:
            out[(kind, "end", t1) + where] += 1
    return out


def is_gone(gone, kind, time, tid, cpu):
    """Two records may have one time: the key says which is meant."""
    if kind in BY_CPU:
        return ("cpu", time, cpu) in gone
    if kind in OF_THREAD:
        return ("tid", time, tid) in gone
    return time in gone


def check(whole, rows, losses, gone, count, bad):
    """gone: times of removed records, and each with its CPU and its thread."""
    true = {r[:5]: r for r in whole if r[1] and r[2]}
    left = {r[:5]: r for r in rows if r[1] and r[2]}
    parts_of = set()
    for key, r in left.items():
        if r[6] == "proved":
            count["proved"] += 1
            if key not in true:
                count["false"] += 1
                bad.append("proved, but false: %s" % (r,))
    for key, r in true.items():
        kind, t0, t1 = key[:3]
        parts = sum(is_gone(gone, kind, t, key[3], r[5]) for t in (t0, t1))
        if parts:
            count["without %d" % parts] += 1
            if key in left:
                bad.append("an end of it is gone: %s" % (r,))
            continue
        n = sum(n for a, b, cpu, n in losses if a < t1 and b > t0
                and (kind not in BY_CPU or cpu == r[5]))
        have = left.get(key)
        if not have and kind in FIRST and any(
                r[0] == kind and r[4] == key[4] and r[1] <= t0 and r[2] >= t1
                and r[6] == "consistent" for r in left.values()):
            count["joined"] += 1
            parts_of.add((kind, t0))
        elif not have:
            bad.append("is no more: %s" % (r,))
        elif have[6] != ("consistent" if n >= 2 else r[6]) and not (
                kind in FIRST and have[6] == "consistent"):
            bad.append("%s %s, not %s with %d lost: %s" % (*have[6:], r[6], n, r))
        else:
            count["kept " + have[6]] += 1
    want = sides(whole)
    for s in list(want):
        if is_gone(gone, s[0], *s[2:]):
            del want[s]
    have = sides(rows)
    for side in set(want) - set(have):
        if side[1] == "begin" and (side[0], side[2]) in parts_of:
            continue
        # a begin is a part of an earlier one whose end was removed
        if side[1] == "begin" and side[0] in FIRST and any(
                r[0] == side[0] and 0 < r[1] < side[2]
                and (not r[2] or r[2] > side[2]) for r in rows):
            continue
        bad.append("is in no interval: %s" % (side,))
    for side in set(have) - set(want):
        bad.append("is in an interval that is not: %s" % (side,))
    for r in rows:
        if not (r[1] and r[2]):
            count[r[6]] += 1


def stored():
    for name in "calls", "locks":
        yield name, os.path.join(common.HERE, name + ".data.zst")
    for name in "disk", "lock":
        yield "causality/" + name, os.path.join(
            common.ROOT, "tests/causality/captures", name + ".data.zst")


def main():
    args = sys.argv[1:]
    most = 30000 if os.environ.get("LONG") else 4000
    if args[:1] == ["--removals"]:
        most, args = int(args[1]), args[2:]
    chosen = [(n, p) for n, p in stored() if not args or n in args] + [
        (os.path.basename(a), a) for a in args if os.path.exists(a)]
    total = collections.Counter()
    for name, packed in chosen:
        rnd = random.Random(name)
        count, bad, removed = collections.Counter(), [], 0
        with tempfile.TemporaryDirectory() as folder:
            path = common.plain(packed, folder)
            c = Capture(path)
            whole, lost = intervals(path, folder)
            samples = sum(1 for r in c.records if r[1] == SAMPLE)
            assert not lost and whole
            cut = os.path.join(folder, "cut.data")
            while removed < most / len(chosen) and not bad:
                gone = c.choose(rnd, rnd.choice((1, 4, 16, samples // 20,
                                                samples // 8,
                                                samples // 3)))
                losses = c.without(gone, cut)
                rows, lost = intervals(cut, folder)
                if lost != len(gone):
                    bad.append("%d removed, %d lost" % (len(gone), lost))
                where = set()
                for i in gone:
                    _, _, cpu, time, tid = c.records[i]
                    where |= {time, ("cpu", time, cpu), ("tid", time, str(tid))}
                check(whole, rows, losses, where, count, bad)
                removed += len(gone)
                count["copies"] += 1
        print("   ", name, removed, "removed:", ", ".join(
            "%d %s" % (n, k) for k, n in sorted(count.items())))
        # one thread alone has nothing to lose inside of its calls
        common.ok(not bad and count["kept proved"]
                  and (count["kept consistent"] or args),
                  name + ": no proved interval is false whatever is removed",
                  bad[:12])
        total["removed"] += removed
        total["false"] += count["false"]
    common.ok(total["false"] == 0 and total["removed"] >= most or args,
              "%(removed)d records were removed" % total)


if __name__ == "__main__":
    main()
    common.finish()

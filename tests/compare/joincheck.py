# joincheck.py - every request again, joined by a reader of our own in a few lines.
"""usage: joincheck.py [NAME...]

Reads the bytes of a capture (file, pipe or directory form, either byte order)
and says of every sample with a cookie which chain it must have, and of every
chain who uses it and whether its thread had ended. It knows nothing of the
program, of order or of ids: a sample is named by its time, thread and cookie.
Then the database is asked for the same, row by row."""

import bisect
import collections
import os
import struct
import sys

import common

ALL_ONES = (1 << 64) - 1
KERNEL, USER, DEFERRED = (ALL_ONES + 1 - n for n in (128, 512, 640))
CONTEXT_MAX = ALL_ONES - 4094
COMM, EXIT, FORK, SAMPLE, CHAIN, COMPRESSED = 3, 4, 7, 9, 22, (81, 83)
ATTR, TRACING, AUXTRACE = 64, 66, 71
MISC_EXEC = 1 << 13

Attr = collections.namedtuple("Attr", "kind read flags")
Request = collections.namedtuple(
    "Request", "time tid cookie ip kind addrs place cpu")
Chain = collections.namedtuple("Chain", "time tid cookie addrs place")


def attr_at(order, data, off):
    fields = struct.unpack_from(order + "IIQQQQQ", data, off)
    flags = fields[6]
    if order == ">":  # the first bit of a bit field is the highest there
        flags = int(format(flags, "064b")[::-1], 2)
    return Attr(fields[4], fields[5], flags), fields[1]


class Capture:
    """The records that matter to the join, in file order."""

    def __init__(self, path):
        self.attrs, self.by_id = [], {}
        self.requests, self.chains = [], []
        self.execs = collections.defaultdict(list)
        self.lives = collections.defaultdict(list)  # tid: (time, is exit)
        self.place = 0
        self.order = "<"
        self.packed = b""  # payload of all compressed records: one stream
        if os.path.isdir(path):
            more = [os.path.join(path, f) for f in sorted(os.listdir(path))
                    if f.startswith("data.")]
            path = os.path.join(path, "data")
        else:
            more = []
        data = common.read_bytes(path)
        self.walk(data, *self.head(data))
        for extra in more:
            data = common.read_bytes(extra)
            self.walk(data, 0, len(data))
        if self.packed:
            data, self.packed = common.unzstd(self.packed), b""
            self.walk(data, 0, len(data))

    def get(self, form, data, off):
        return struct.unpack_from(self.order + form, data, off)

    def head(self, data):
        self.order = ">" if data[:8] == b"2ELIFREP" else "<"
        size, = self.get("Q", data, 8)
        if size == 16:
            return 16, len(data)
        step, at, n, start, length = self.get("5Q", data, 16)
        for off in range(at, at + n, step):
            attr, _ = attr_at(self.order, data, off)
            ids, n_ids = self.get("QQ", data, off + step - 16)
            self.add(attr, data, ids, ids + n_ids)
        return start, start + length

    def add(self, attr, data, ids, end):
        self.attrs.append(attr)
        for off in range(ids, end - 7, 8):
            number, = self.get("Q", data, off)
            self.by_id[number] = attr

    def walk(self, data, pos, end):
        while pos + 8 <= end:
            kind, misc, size = self.get("IHH", data, pos)
            if size < 8 or pos + size > end:
                break
            self.place += 1
            self.record(kind, misc, data[pos:pos + size])
            pos += size
            if kind == TRACING:
                n, = self.get("I", data, pos - size + 8)
                pos += (n + 7) // 8 * 8
            elif kind == AUXTRACE:
                pos += self.get("Q", data, pos - size + 8)[0]

    def record(self, kind, misc, rec):
        if kind == ATTR:
            attr, size = attr_at(self.order, rec, 8)
            self.add(attr, rec, 8 + size, len(rec))
        elif kind in COMPRESSED:
            start, end = 8, len(rec)
            if kind == COMPRESSED[1]:
                start, end = 16, 16 + self.get("Q", rec, 8)[0]
            self.packed += rec[start:end]
        elif kind == SAMPLE:
            self.sample(misc, rec)
        elif kind == CHAIN:
            cookie, n = self.get("QQ", rec, 8)
            tid, time = self.trailer(rec)
            self.chains.append(Chain(
                time, tid, cookie, self.get("%dQ" % n, rec, 24),
                self.place))
        elif kind == COMM and misc & MISC_EXEC:
            tid, = self.get("i", rec, 12)
            self.execs[tid].append(self.trailer(rec)[1])
        elif kind in (EXIT, FORK):
            tid, = self.get("i", rec, 16)
            self.lives[tid].append((self.trailer(rec)[1], kind == EXIT))

    def trailer(self, rec):
        """(tid, time) behind a record that is no sample."""
        attr = self.attrs[0]
        if attr.kind & 1 << 16:
            attr = self.by_id.get(self.get("Q", rec,
                                                     len(rec) - 8)[0], attr)
        n = sum(bool(attr.kind & bit) for bit in
                (2, 4, 1 << 6, 1 << 9, 1 << 7, 1 << 16))
        off = len(rec) - 8 * n
        tid = time = None
        if attr.kind & 2:
            tid, = self.get("i", rec, off + 4)
            off += 8
        if attr.kind & 4:
            time, = self.get("Q", rec, off)
        return tid, time

    def sample(self, misc, rec):
        attr = self.attrs[0]
        if attr.kind & 1 << 16:
            attr = self.by_id[self.get("Q", rec, 8)[0]]
        elif attr.kind & 1 << 6:
            # the id stands behind these four, where they are
            at = 8 + 8 * sum(bool(attr.kind & b) for b in (1, 2, 4, 8))
            attr = self.by_id[self.get("Q", rec, at)[0]]
        if not attr.flags >> 38 & 1 or not attr.kind & 1 << 5:
            return
        pos = 8
        value = {}
        for bit in (1 << 16, 1, 2, 4, 8, 1 << 6, 1 << 9, 1 << 7, 1 << 8):
            if attr.kind & bit:
                value[bit], = self.get("Q", rec, pos)
                pos += 8
        if attr.kind & 1 << 4:
            pos = self.skip_read(rec, pos, attr.read)
        n, = self.get("Q", rec, pos)
        entries = self.get("%dQ" % n, rec, pos + 8)
        tid = value.get(2)
        if tid is not None:
            tid = tid >> 32 if self.order == "<" else tid & 0xffffffff
            tid = tid - (1 << 32) if tid >> 31 else tid
        self.request(value, tid, misc & 7, entries)

    def skip_read(self, rec, pos, form):
        n = 1
        if form & 8:
            n, = self.get("Q", rec, pos)
            pos += 8
        times = bool(form & 1) + bool(form & 2)
        each = 1 + bool(form & 4) + bool(form & 16)
        return pos + 8 * (times + n * each)

    def request(self, value, tid, mode, entries):
        kind, addrs, cookie = None, (), 0
        if DEFERRED in entries:
            at = entries.index(DEFERRED)
            kind = "cookie" if at + 1 < len(entries) else "mark"
            cookie = entries[at + 1] if kind == "cookie" else 0
        elif USER in entries:
            at = entries.index(USER) + 1
            addrs = tuple(a for a in entries[at:] if a < CONTEXT_MAX)
            kind = "direct"
        if kind:
            ip = value.get(1, 0) if mode == 2 else 0
            cpu = value.get(1 << 7)
            if cpu is not None:
                cpu = cpu >> 32 if self.order == ">" else cpu & 0xffffffff
            self.requests.append(Request(value.get(4), tid, cookie, ip, kind,
                                         addrs, self.place, cpu))


def opened(c, reader=Capture):
    """The records of a capture; None where this machine cannot unpack them."""
    try:
        return reader(c.path)
    except common.Packed as why:
        print("skip %s: %s" % (c.name, why))
        return None


def between(times, a, b):
    """Is one of the sorted times in (a, b]?"""
    return bisect.bisect_right(times, a) < bisect.bisect_right(times, b)


def ended(lives, time):
    """Was an EXIT the last thing said of the thread before `time`?"""
    last = None
    for when, is_exit in lives:
        if when <= time:
            last = is_exit
    return bool(last)


def wanted(cap):
    """(requests, chains) as the database must have them."""
    first = {}
    for c in sorted(cap.chains, key=lambda c: (c.time or 0, c.place)):
        first.setdefault((c.tid, c.cookie), c)
    for tid in cap.execs:
        cap.execs[tid].sort(key=lambda t: t or 0)
    for tid in cap.lives:
        cap.lives[tid].sort(key=lambda t: t[0] or 0)
    used = collections.Counter()
    requests = []
    for r in cap.requests:
        c = first.get((r.tid, r.cookie)) if r.kind == "cookie" else None
        after = execs = latency = None
        kind = {"cookie": "no chain", "mark": "unjoinable",
                "direct": "refused"}[r.kind]
        addrs = r.addrs
        if c:
            kind, addrs = "matched", c.addrs
            used[c.tid, c.cookie] += 1
            if r.time is not None:
                latency = c.time - r.time
                after = latency < 0
                execs = between(cap.execs[r.tid], min(r.time, c.time),
                                max(r.time, c.time))
        requests.append((r.time, r.tid, r.cookie, kind, addrs, after, execs,
                         latency))
    chains = []
    seen = set()
    for c in sorted(cap.chains, key=lambda c: (c.time or 0, c.place)):
        again = (c.tid, c.cookie) in seen
        seen.add((c.tid, c.cookie))
        gone = None if c.time is None else ended(cap.lives[c.tid], c.time)
        chains.append((c.time, c.tid, c.cookie, c.addrs, gone,
                       0 if again else used[c.tid, c.cookie]))
    return requests, chains


REQUESTS = """
SELECT e.time_ns, t.tid, r.cookie, w.name, u.addrs, r.flags, r.latency_ns
FROM request r JOIN event e ON e.id = r.event
LEFT JOIN thread t ON t.id = e.thread
LEFT JOIN word w ON w.kind = 'request' AND w.id = r.verdict
LEFT JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw)"""

CHAINS = """
SELECT c.time_ns, t.tid, c.cookie, u.addrs, c.flags, c.n_events
FROM chain c LEFT JOIN thread t ON t.id = c.thread
LEFT JOIN raw_chain u ON u.id = c.uraw"""

KNOWN = ("matched", "unjoinable", "refused")


def stored(db):
    requests, chains = [], []
    for time, tid, cookie, verdict, blob, flags, latency in \
            common.query(db, REQUESTS):
        joined = verdict == "matched" and time is not None
        requests.append((
            time, tid, (cookie or 0) % (1 << 64),
            verdict if verdict in KNOWN else "no chain",
            tuple(common.addresses(blob)),
            bool(flags & 1) if joined else None,
            bool(flags & 2) if joined else None, latency))
    for time, tid, cookie, blob, flags, n in common.query(db, CHAINS):
        chains.append((time, tid, (cookie or 0) % (1 << 64),
                       tuple(common.addresses(blob)),
                       None if time is None else bool(flags & 16), n))
    return requests, chains


def compare(name, what, want, have):
    want, have = collections.Counter(want), collections.Counter(have)
    missing = list((want - have).elements())
    extra = list((have - want).elements())

    def line(tag, row):
        return "%s %s" % (tag, " ".join(
            "[%s]" % " ".join("%x" % a for a in v[:3])
            if isinstance(v, tuple) else str(v) for v in row))

    common.ok(not missing and not extra,
              "%s: %d %s are as the bytes say" % (name, sum(want.values()),
                                                  what),
              ["%d missing, %d extra" % (len(missing), len(extra))]
              + [line("want", m) for m in sorted(missing, key=str)[:5]]
              + [line("have", m) for m in sorted(extra, key=str)[:5]])


def check(c):
    cap = opened(c)
    db = cap and common.database(c)
    if not db:
        return 0
    want, have = wanted(cap), stored(db)
    compare(c.name, "requests", want[0], have[0])
    compare(c.name, "chains", want[1], have[1])
    return len(cap.requests)


def main():
    n = sum(check(c) for c in common.captures(sys.argv[1:]) if c.analysis)
    common.ok(n > 0 or sys.argv[1:], "%d requests were joined again" % n)
    common.finish()


if __name__ == "__main__":
    main()

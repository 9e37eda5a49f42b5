# evidence.py - what the audit says of each missing half is what the bytes say.
"""usage: evidence.py [NAME...]

The records of a capture are read once more by joincheck's reader, with the
losses between them, and each row of the audit is asked for its reasons:

  as_tid      the next chain of the sample's tid in time, whatever its cookie
  ended_by    why a chain was due that never came: the first thing after the
  until_ns    sample that closes its cookie, and when that was; after an EXIT
              the kernel has 2 ms to write the chain, and what nothing closes
              was due when the capture ended
  loss        of a request without chain: records were dropped between the
              sample and that moment; of a chain without sample: since its
              thread was last seen, on the CPU that made the cookie
  cookie_gap  each run of counters that no record of their CPU has, with the
              first sights of its neighbours, and a loss of that CPU between
  table loss  every LOST record, since the last record of its ring; every
              number of LOST_SAMPLES; what a ring lost after its last LOST;
              where a ring that overwrites begins; when an event was stopped

Where a capture has no times, the place in the file stands for them."""

import collections
import sys

import common
import joincheck
from joincheck import CHAIN, EXIT, FORK, SAMPLE

LOST, THROTTLE, UNTHROTTLE, LOST_SAMPLES, ID_INDEX = 2, 5, 6, 13, 69
FILTERED = 15  # misc of LOST_SAMPLES: a BPF filter took them
DEFER_OUTPUT, BACKWARD = 1 << 39, 1 << 27

AFTER_EXIT_NS = 2000000  # 0.4 ms was the longest that was seen

Stamp = collections.namedtuple("Stamp", "attr id tid time cpu")
Lost = collections.namedtuple("Lost", "cpu since time n")
Total = collections.namedtuple("Total", "attr cpu n time misc")


class Bytes(joincheck.Capture):
    """A capture with what was dropped from it."""

    def __init__(self, path):
        self.ring = {}  # CPU: newest time so far, in file order
        self.oldest = {}  # CPU: oldest time
        self.lost, self.totals, self.cpu_of, self.exits = [], [], {}, []
        self.stopped, self.throttled = {}, []
        super().__init__(path)
        self.totals = [t._replace(cpu=self.cpu_of.get(t.cpu, -1))
                       for t in self.totals]
        self.end = max(self.ring.values(), default=None)
        self.throttled += [(cpu, since, self.end, None)
                           for (cpu, _), since in self.stopped.items()]
        self.overwrites = any(a.flags & BACKWARD for a in self.attrs)
        self.timed = any(r.time is not None
                         for r in self.requests + self.chains)

    def record(self, kind, misc, rec):
        if kind == ID_INDEX:
            n, = self.get("Q", rec, 8)
            for off in range(16, 16 + 32 * n, 32):
                number, _, cpu, _ = self.get("QQqq", rec, off)
                self.cpu_of[number] = cpu
        elif kind < 64:
            self.note(kind, misc, rec, self.stamp(kind, rec))
        if kind != SAMPLE or self.defers():
            super().record(kind, misc, rec)

    def defers(self):
        return any(a.flags >> 38 & 1 for a in self.attrs)

    def note(self, kind, misc, rec, who):
        if kind == LOST:
            n, = self.get("Q", rec, 16)
            self.lost.append(Lost(who.cpu, self.ring.get(who.cpu), who.time,
                                  n))
        elif kind == LOST_SAMPLES:
            n, = self.get("Q", rec, 8)
            self.totals.append(Total(who.attr, who.id, n, who.time, misc))
        elif kind == EXIT:
            self.exits.append((who.time, self.get("i", rec, 16)[0],
                               self.place))
        elif kind in (THROTTLE, UNTHROTTLE):
            event = who.cpu, self.get("Q", rec, 16)[0]
            if kind == THROTTLE:
                self.stopped.setdefault(event, who.time)
            else:
                self.throttled.append((who.cpu, self.stopped.pop(event, None),
                                       who.time, None))
        if who.time:
            self.ring[who.cpu] = max(who.time, self.ring.get(who.cpu, 0))
            self.oldest[who.cpu] = min(who.time, self.oldest.get(
                who.cpu, who.time))

    def stamp(self, kind, rec):
        """Who and when: in front in a sample, at the end elsewhere."""
        attr = self.attrs[0]
        if kind == SAMPLE:
            order = (1 << 16, 1, 2, 4, 8, 1 << 6, 1 << 9, 1 << 7)
            off, number = 8, self.front_id(attr, rec)
        else:
            order = (2, 4, 1 << 6, 1 << 9, 1 << 7, 1 << 16)
            off, number = 0, self.get("Q", rec, len(rec) - 8)[0]
        if attr.kind & (1 << 16 | 1 << 6):
            attr = self.by_id.get(number, attr)
        if kind != SAMPLE:
            off = len(rec) - 8 * sum(bool(attr.kind & b) for b in order)
        tid = time = cpu = None
        for bit in order:
            if not attr.kind & bit:
                continue
            if bit == 2:
                tid, = self.get("i", rec, off + 4)
            elif bit == 4:
                time, = self.get("Q", rec, off)
            elif bit == 1 << 7:
                cpu, = self.get("I", rec, off)
            elif bit & (1 << 16 | 1 << 6):
                number, = self.get("Q", rec, off)
            off += 8
        return Stamp(attr, number, tid, time, cpu)

    def front_id(self, attr, rec):
        at = 8 if attr.kind & 1 << 16 else \
            8 + 8 * sum(bool(attr.kind & b) for b in (1, 2, 4, 8))
        return self.get("Q", rec, at)[0] if at + 8 <= len(rec) else 0


# ---- what the rows must say

def moments(b):
    """All that can end a wait, by tid, in the order of time: a sample before a
    chain, a chain before an EXIT, and a FORK before all of them."""
    rows = collections.defaultdict(list)

    def put(tid, time, rank, place, what):
        rows[tid].append((time or 0 if b.timed else place, rank, place, what))

    for r in b.requests:
        if r.kind == "cookie":
            put(r.tid, r.time, 1, r.place, r)
    for c in b.chains:
        put(c.tid, c.time, 2, c.place, c)
    exits = {(time, tid) for time, tid, _ in b.exits}
    for time, tid, place in b.exits:
        put(tid, time, 3, place, "exit")
    for tid, lives in b.lives.items():
        for time, is_exit in lives:
            # A FORK without a time was made up when recording began.
            if not is_exit and time and (time, tid) not in exits:
                put(tid, time, 0, 0, "reused_tid")
    for tid in rows:
        rows[tid].sort(key=lambda m: m[:3])
    return rows


def next_chains(b):
    """(sample, the next chain of its tid or None)"""
    for row in moments(b).values():
        chain = None
        for _, _, _, what in reversed(row):
            if isinstance(what, joincheck.Chain):
                chain = what
            elif isinstance(what, joincheck.Request):
                yield what, chain


def ends(row, i):
    """(word, time) of the first thing that closes the cookie of row[i]."""
    old = {what.cookie for _, _, _, what in row[:i + 1]
           if not isinstance(what, str)}
    for time, _, _, what in row[i + 1:]:
        if isinstance(what, str):
            return what, time
        if what.cookie not in old:
            return "newer_cookie", time
    return "end_of_capture", None


def due(b, word, time):
    """By when the chain should have come."""
    if not b.timed:
        return None
    if word == "exit":
        return time + AFTER_EXIT_NS
    return b.end if time is None else time


def wanted_ends(b):
    """Of every sample whose chain is not in the file."""
    have = {(c.tid, c.cookie) for c in b.chains}
    for tid, row in moments(b).items():
        for i, (_, _, _, what) in enumerate(row):
            if isinstance(what, joincheck.Request) \
                    and (tid, what.cookie) not in have:
                word, time = ends(row, i)
                yield what.time, tid, what.cookie, word, due(b, word, time)


# ---- what they do say

REQUESTS = """
SELECT e.time_ns, t.tid, r.cookie, w.name, x.name, r.until_ns, r.loss,
       r.chain IS NOT NULL, c.time_ns, c.cookie, u.addrs
FROM request r JOIN event e ON e.id = r.event
JOIN thread t ON t.id = e.thread
JOIN word w ON w.kind = 'request' AND w.id = r.verdict
LEFT JOIN word x ON x.kind = 'end' AND x.id = r.ended_by
LEFT JOIN chain c ON c.id = r.as_tid
LEFT JOIN raw_chain u ON u.id = c.uraw
WHERE r.cookie <> 0"""

CHAINS = """
SELECT c.time_ns, t.tid, c.cookie, w.name, c.from_ns, c.loss
FROM chain c JOIN thread t ON t.id = c.thread
JOIN word w ON w.kind = 'chain' AND w.id = c.verdict"""

Asked = collections.namedtuple(
    "Asked", "time tid cookie verdict end until loss joined next")


def stored_requests(db):
    for row in common.query(db, REQUESTS):
        time, cookie, addrs = row[8:]
        chain = None
        if cookie is not None:
            chain = (time, cookie % (1 << 64),
                     tuple(common.addresses(addrs)))
        yield Asked(row[0], row[1], row[2] % (1 << 64), *row[3:8], chain)


def check_next(name, b, asked):
    want = [(r.time, r.tid, r.cookie,
             c and (c.time, c.cookie, c.addrs)) for r, c in next_chains(b)]
    joincheck.compare(name, "next chains", [flat(*w) for w in want],
                      [flat(a.time, a.tid, a.cookie, a.next) for a in asked])


def flat(time, tid, cookie, chain):
    return (time, tid, cookie) + (chain or (None, None, ()))


def check_ends(name, b, asked):
    joincheck.compare(
        name, "ends of the wait", list(wanted_ends(b)),
        [(a.time, a.tid, a.cookie, a.end, a.until)
         for a in asked if not a.joined])


def overlaps(loss, after, before):
    """Were records dropped in (after, before)? None: not known."""
    _, _, t0, t1 = loss
    if t0 is None and t1 is None:
        return True
    return (t1 is None or after is None or t1 > after) \
        and (t0 is None or before is None or t0 < before)


class Losses:
    """The rows that can be a reason, and whether one is."""

    def __init__(self, db, b):
        self.rows = {row[0]: row for row in common.query(
            db, "SELECT id, cpu, t0, t1, what FROM loss")}
        self.overwritten = [row for row in self.rows.values()
                            if row[4] == "overwritten"]
        self.overwrites = b.overwrites

    def explains(self, number, cpu, after, before):
        """Records of that CPU (None: of any) were dropped between. A ring
        that overwrites says nothing, but it begins later than that."""
        row = self.rows.get(number)
        rows = [row] if row else self.overwritten if self.overwrites else []
        return any(overlaps(r[:4], after, before)
                   and (cpu is None or r[1] in (cpu, None)) for r in rows)


def check_losses(name, db, asked, b):
    """Each loss that a row names is one that can be the reason."""
    losses, n = Losses(db, b), 0
    bad = []
    for a in asked:
        if a.verdict == "chain_lost":
            n += 1
            if not losses.explains(a.loss, None, a.time, a.until):
                bad.append("request %s: %s" % (a[:7],
                                               losses.rows.get(a.loss)))
        elif a.loss and a.loss not in losses.rows:
            bad.append("request %s: no such loss" % (a[:7],))
    for time, tid, cookie, verdict, since, loss in common.query(db, CHAINS):
        if verdict not in ("sample_lost", "overwritten"):
            continue
        n += 1
        if not losses.explains(loss, (cookie & 0xffffffff) - 1, since, time):
            bad.append("chain %s of tid %d, cookie %x, since %s: %s" % (
                time, tid, cookie, since, losses.rows.get(loss)))
    common.ok(not bad, "%s: %d lost halves name a loss that can be the reason"
              % (name, n), ["%d do not" % len(bad)] + bad[:5])
    return n


def sights(b):
    """CPU: counter: when a record with that cookie was seen first."""
    seen = collections.defaultdict(dict)
    for r in b.requests + b.chains:
        if not r.cookie:
            continue
        counters = seen[(r.cookie & 0xffffffff) - 1]
        counter = r.cookie >> 32
        time = r.time if b.timed else 0
        counters[counter] = min(time, counters.get(counter, time))
    return seen


def gaps(b):
    """(CPU, first missing counter, how many, neighbours' times)"""
    for cpu, seen in sights(b).items():
        row = sorted(seen)
        for below, above in zip(row, row[1:]):
            if above != below + 2:
                yield cpu, below + 2, (above - below) // 2 - 1, \
                    seen[below] if b.timed else None, \
                    seen[above] if b.timed else None


GAPS = """
SELECT g.cpu, g.first, g.n, g.t0, g.t1, w.name, l.cpu, l.t0, l.t1
FROM cookie_gap g LEFT JOIN loss l ON l.id = g.loss
LEFT JOIN word w ON w.kind = 'gap' AND w.id = g.verdict"""


def check_gaps(name, db, b):
    rows = common.query(db, GAPS)
    joincheck.compare(name, "runs of missing counters", list(gaps(b)),
                      [row[:5] for row in rows])
    bad = []
    for cpu, first, n, t0, t1, verdict, *loss in rows:
        if verdict == "lost" and (loss[0] not in (cpu, None) or not overlaps(
                [None] + loss, t0, t1)):
            bad.append("cpu %d, %d from %d on in %s..%s: %s" % (
                cpu, n, first, t0, t1, loss))
    common.ok(not bad, "%s: %d of these name a loss that can be the reason"
              % (name, sum(row[5] == "lost" for row in rows)), bad[:5])


def rest_of_rings(b):
    """What the LOST records of a ring do not tell of: it came after them."""
    n = collections.Counter()
    for t in b.totals:
        n[t.cpu] += t.n if t.misc == 0 and not t.time else 0
    for l in b.lost:
        n[l.cpu] -= l.n
    for cpu in n:
        if n[cpu] > 0:
            yield cpu, b.ring[cpu], b.end, n[cpu]


def rows_of_loss(b):
    """Table loss, as the bytes have it: what: (CPU, t0, t1, n)"""
    for what, misc in (("lost_total", 0), ("filtered", FILTERED)):
        yield what, [(None if t.cpu < 0 else t.cpu, None, None, t.n)
                     for t in b.totals if t.misc == misc and not t.time]
    yield "lost", [tuple(l) for l in b.lost]
    yield "lost_end", list(rest_of_rings(b))
    yield "throttled", b.throttled
    yield "overwritten", [(cpu, None, time, None)
                          for cpu, time in b.oldest.items()] \
        if b.overwrites else []


def check_rows(name, db, b):
    """Table loss has what the records say, and no record twice."""
    want = [(what,) + row for what, rows in rows_of_loss(b) for row in rows]
    joincheck.compare(name, "rows of loss", want, common.query(
        db, "SELECT what, cpu, t0, t1, n FROM loss"))


def check(c):
    try:
        b = Bytes(c.path)
    except joincheck.Packed as why:
        print("skip %s: %s" % (c.name, why))
        return 0
    db, status, err = common.ingest(c)
    if status != 0:
        common.ok(False, "%s is read" % c.name, err.split("\n")[-5:])
        return 0
    check_rows(c.name, db, b)
    if not any(r.kind == "cookie" for r in b.requests):
        return 0
    asked = list(stored_requests(db))
    check_next(c.name, b, asked)
    check_ends(c.name, b, asked)
    check_gaps(c.name, db, b)
    return check_losses(c.name, db, asked, b)


def main():
    n = sum(check(c) for c in common.captures(sys.argv[1:]))
    common.ok(n > 0 or sys.argv[1:], "%d lost halves were asked for" % n)
    common.finish()


if __name__ == "__main__":
    main()

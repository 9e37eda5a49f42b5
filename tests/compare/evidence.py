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
  from_ns     of such a chain: when its thread was last seen before
  first_lost  (flag 128) the first sample of a cookie is not the one that made
              it: it is of another CPU, or a larger counter was there before
  cookie_gap  each run of counters that no record of their CPU has. It was
              given out before the first sight of any that is larger, and
              after some smaller one that a sample of that CPU shows; a loss
              of that CPU is between
  table loss  every LOST record, since the last record of its ring; every
              number of LOST_SAMPLES; what a ring lost after its last LOST;
              where a ring that overwrites begins; when an event was stopped;
              each process of which perf gave up reading the mappings

Where a capture has no times, the place in the file stands for them.

request.until_ns is 2 ms after an EXIT, because the kernel writes the chain
after it (0.4 ms was the longest), and the time of the capture's last record
where nothing closed the cookie. A ring that overwrites leaves no LOST record,
so that its missing halves may name no loss; that it begins later than they are
due is checked instead.
"""

import collections
import sys

import common
import joincheck
from joincheck import EXIT, SAMPLE

MMAP, LOST, THROTTLE, UNTHROTTLE, MMAP2, LOST_SAMPLES = 1, 2, 5, 6, 10, 13
ID_INDEX = 69
FILTERED = 15  # misc of LOST_SAMPLES: a BPF filter took them
MAPS_END = 1 << 12  # misc of MMAP: perf gave up reading /proc/PID/maps behind it
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
        self.tids = set()  # of what was recorded; -1: of all
        self.given_up = set()  # processes of which mappings were not read
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
                number, _, cpu, tid = self.get("QQqq", rec, off)
                self.cpu_of[number] = cpu
                self.tids.add(tid)
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
        elif kind in (MMAP, MMAP2) and misc & MAPS_END:
            self.given_up.add(self.get("i", rec, 8)[0])
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


def seen_before(b):
    """Of every chain whose cookie no sample has: (time, tid, cookie, when its
    thread was last seen)"""
    asked = {(r.tid, r.cookie) for r in b.requests}
    known = set()
    for tid, row in moments(b).items():
        last = None
        for time, _, _, what in row:
            if isinstance(what, str):
                last = None if what == "reused_tid" else last
                continue
            if isinstance(what, joincheck.Chain) \
                    and (tid, what.cookie) not in asked | known:
                yield what.time, tid, what.cookie, last
                known.add((tid, what.cookie))
            last = time if b.timed else None


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


def check_session(name, db, b):
    """Missing counters prove a loss where all tasks were recorded, with
    times, and nobody else asked; else there is a reason why they do not."""
    asked = {r.cookie for r in b.requests}
    marks = any(r.kind == "mark" for r in b.requests)
    foreign = not marks and not b.lost and not b.overwrites \
        and any(c.cookie not in asked for c in b.chains)
    proof = b.timed and b.tids == {-1} and not b.overwrites and not foreign
    reason = common.one(db, "SELECT reason FROM cookies")
    common.ok(proof == (reason is None), "%s: missing counters %s"
              % (name, "prove a loss" if proof else "prove nothing"),
              ["we say: %s" % reason, "tasks: %s" % sorted(b.tids)[:5]])


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


GAPS = """
SELECT g.cpu, g.first, g.n, g.t0, g.t1, w.name, g.loss
FROM cookie_gap g LEFT JOIN word w ON w.kind = 'gap' AND w.id = g.verdict"""


def check_gaps(name, db, b):
    rows = common.query(db, GAPS)
    want = list(gaps(b))
    joincheck.compare(name, "runs of missing counters", [
        gap[:3] + (gap[3] if b.timed else None,) for gap in want],
        [row[:3] + row[4:5] for row in rows])
    after = {gap[:2]: gap[4] for gap in want}
    losses = Losses(db, b)
    bad = []
    for cpu, first, n, t0, t1, verdict, loss in rows:
        why = None
        if t0 is not None and t0 not in after.get((cpu, first), ()):
            why = "nothing was made then"
        if verdict == "lost" and not losses.explains(loss, cpu, t0, t1):
            why = "loss %s" % (losses.rows.get(loss),)
        if why:
            bad.append("cpu %d, %d from %d on in %s..%s: %s" % (
                cpu, n, first, t0, t1, why))
    common.ok(not bad, "%s: %d of these name a loss that can be the reason"
              % (name, sum(row[5] == "lost" for row in rows)), bad[:5])


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
    """CPU: counter: when a record with that cookie was seen first, and
    whether that was a sample on the CPU that made it."""
    seen = collections.defaultdict(dict)
    for x in b.requests + b.chains:
        if not x.cookie:
            continue
        cpu = (x.cookie & 0xffffffff) - 1
        at = x.time or 0, isinstance(x, joincheck.Request) and x.cpu == cpu
        counters = seen[cpu]
        counter = x.cookie >> 32
        counters[counter] = min(at, counters.get(counter, at))
    return seen


def gaps(b):
    """(CPU, first missing counter, how many, the time before which they were
    made, the times after which they may have been)"""
    for cpu, seen in sights(b).items():
        row = sorted(seen)
        for i in range(1, len(row)):
            if row[i] == row[i - 1] + 2:
                continue
            yield cpu, row[i - 1] + 2, (row[i] - row[i - 1]) // 2 - 1, \
                min(seen[above][0] for above in row[i:]), \
                {seen[below][0] for below in row[:i] if seen[below][1]}


def first_lost(b):
    """(time, tid, cookie) of the first samples that did not make their
    cookie; (CPU, how many were late, how many elsewhere) of all first
    sights."""
    firsts, newest = {}, {}
    flagged, late, elsewhere = [], collections.Counter(), \
        collections.Counter()
    for x in sorted((x for x in b.requests + b.chains if x.cookie),
                    key=lambda x: (x.time, isinstance(x, joincheck.Chain),
                                   x.place)):
        if x.cookie in firsts:
            continue
        firsts[x.cookie] = x
        cpu, counter = (x.cookie & 0xffffffff) - 1, x.cookie >> 32
        is_late = counter < newest.get(cpu, 0)
        newest[cpu] = max(counter, newest.get(cpu, 0))
        is_else = isinstance(x, joincheck.Request) and x.cpu != cpu
        late[cpu] += is_late
        elsewhere[cpu] += is_else
        if isinstance(x, joincheck.Request) and (is_late or is_else):
            flagged.append((x.time, x.tid, x.cookie))
    return flagged, [(cpu, late[cpu], elsewhere[cpu]) for cpu in newest]


def check_firsts(name, db, b):
    flagged, cpus = first_lost(b)
    joincheck.compare(name, "first samples that made no cookie", flagged, [
        (time, tid, cookie % (1 << 64)) for time, tid, cookie in common.query(
            db, "SELECT e.time_ns, t.tid, r.cookie FROM request r"
                " JOIN event e ON e.id = r.event"
                " JOIN thread t ON t.id = e.thread WHERE r.flags & 128")])
    joincheck.compare(name, "CPUs with late first sights", cpus, common.query(
        db, "SELECT cpu, late, elsewhere FROM cookie_cpu"))


def rest_of_rings(b):
    """What the LOST records of a ring do not tell of: it came after them.
    Totals of events of a task have no CPU: then the rings are one."""
    n = collections.Counter()
    one = any(t.cpu < 0 for t in b.totals)
    for t in b.totals:
        n[None if one else t.cpu] += t.n if t.misc == 0 and not t.time else 0
    for l in b.lost:
        n[None if one else l.cpu] -= l.n
    for cpu in n:
        if n[cpu] > 0:
            # nothing is known of the time after the last record of all
            start = b.ring.get(cpu)
            end = b.end if start is None or b.end > start else None
            yield cpu, start, end, n[cpu]


def rows_of_loss(b):
    """Table loss, as the bytes have it: what: (CPU, t0, t1, n)"""
    for what, misc in (("lost_total", 0), ("filtered", FILTERED)):
        yield what, [(None if t.cpu < 0 else t.cpu, None, None, t.n)
                     for t in b.totals if t.misc == misc and not t.time]
    yield "lost", [tuple(l) for l in b.lost]
    yield "lost_end", list(rest_of_rings(b))
    yield "throttled", b.throttled
    yield "mappings", [(None,) * 4 for _ in b.given_up]
    yield "overwritten", [(cpu, None, time, None)
                          for cpu, time in b.oldest.items()] \
        if b.overwrites else []


# Captures with records missing that nobody counted: the thread that a switch
# left on a CPU is not the one that the next switch finds there.
SILENT = {"switch-churn": 10}


def check_rows(name, db, b):
    """Table loss has what the records say, and no record twice."""
    want = [(what,) + row for what, rows in rows_of_loss(b) for row in rows]
    joincheck.compare(name, "rows of loss", want, common.query(
        db, "SELECT what, cpu, t0, t1, n FROM loss WHERE what <> 'silent'"))
    n, = common.query(db, "SELECT count(*) FROM loss WHERE what = 'silent'")
    common.ok(n[0] == SILENT.get(name, 0),
              "%s: %d losses that no record tells of" % (name, n[0]))


def check(c):
    b = joincheck.opened(c, Bytes)
    db = b and common.database(c)
    if not db:
        return 0
    check_rows(c.name, db, b)
    if not any(r.kind == "cookie" for r in b.requests):
        return 0
    asked = list(stored_requests(db))
    check_next(c.name, b, asked)
    check_ends(c.name, b, asked)
    joincheck.compare(
        c.name, "chains without a sample", list(seen_before(b)),
        [(row[0], row[1], row[2] % (1 << 64), row[4])
         for row in common.query(db, CHAINS + " WHERE c.n_events = 0"
                                 " AND w.name <> 'duplicate'")])
    check_gaps(c.name, db, b)
    if b.timed:
        check_firsts(c.name, db, b)
    check_session(c.name, db, b)
    return check_losses(c.name, db, asked, b)


def main():
    n = sum(check(c) for c in common.captures(sys.argv[1:]))
    common.ok(n > 0 or sys.argv[1:], "%d lost halves were asked for" % n)
    common.finish()


if __name__ == "__main__":
    main()

# asperf.py - what perf really made of every waiting sample, and what we say it makes.
"""usage: asperf.py [NAME...]

The oracle is perf 7.2's own output, twice. With --no-merge-callchains it
prints every sample with its cookie and every chain, in the order in which they
come out of its queue; without, it prints the samples as its merge leaves them.
So the first says where a sample stood, the second where it came out and with
which addresses. Both must tell of the same samples; from the pair follows, for
each sample with a cookie:

  merged         the user half stands behind its kernel half
  bare           it does not
  bare_at_end    nor does any chain of its thread follow in perf's order
  late           a sample that stood behind it came out before it
  held           the time until that thread's next chain, which let it go

and every row of request must say the same (as_perf, flag 256, held_ns). A
sample is known by its time, thread, CPU, event, kernel half and cookie; those
that are equal in all of this are told apart by their order. Differences have a
class, and expect-asperf.txt says how many there are of it in a capture (0 when
it says nothing):

queue          perf's queue had the samples in another order than time has:
               one of them is older than what a FINISHED_ROUND had let through
               already (perf says "out of order events")

In all 21 captures for which perf's two texts are at hand (26226 samples with a
cookie) there is no difference. Two things look like one:

- of defer-exitexec-s the unmerged text has chains without addresses, because
  perf asks the capture's first event which fields of a chain to print: these
  addresses are taken from the bytes, by cookie;
- defer-lost-clock has three samples that perf's queue had out of time order,
  0.1 ms older than what a FINISHED_ROUND had let through. Each waits for a
  chain that comes later still, so it comes out behind the same samples either
  way.
"""

import collections
import re
import sys

import common
import joincheck

DEPTH = 127  # perf prints so many addresses at most
LATE = 256

Line = collections.namedtuple("Line", "key cookie addrs")
HEAD = re.compile(
    r"^\s*.*?\s+(?:-?\d+/)?(?P<tid>-?\d+)\s+(?:\[(?P<cpu>\d+)\]\s+)?"
    r"(?:(?P<time>\d+\.\d+):\s+)?"
    r"(?:DEFERRED CALLCHAIN \[cookie: (?P<chain>[0-9a-f]+)\]"
    r"|(?:\d+\s+)?(?P<event>\S+?):(?:\s.*)?)$")
RECORD = re.compile(r"\sPERF_RECORD_[A-Z]")


def paragraphs(text):
    """(first line, other lines) of all that is set apart by empty lines;
    records of one line follow each other without any."""
    head, rest = None, []
    for line in text.split("\n"):
        if line[:1] == "\t":
            rest.append(line)
        elif line.strip():
            if head:
                yield head, rest
            head, rest = line, []
    if head:
        yield head, rest


def read(path):
    """What perf script printed, of samples and of chains: (is it a chain,
    time, tid, CPU and event, addresses, cookie where perf calls it one)."""
    for head, rest in paragraphs(common.read_gz(path)):
        if RECORD.search(head):
            continue
        m = HEAD.match(head)
        if not m:
            raise ValueError("not a line of perf script: %r" % head)
        ips = tuple(int(line.split()[0], 16) for line in rest)
        cookie = ips[-1] if rest and " (cookie) " in rest[-1] else 0
        if m["chain"]:
            cookie = int(m["chain"], 16)
        time = common.micros(m["time"]) if m["time"] else None
        cpu = int(m["cpu"]) if m["cpu"] else None
        yield bool(m["chain"]), (time, int(m["tid"]), cpu, m["event"]), \
            ips, cookie


class Sample:
    """One sample, as perf saw it, and what became of it."""

    def __init__(self, key, ips, cookie, place):
        self.key, self.ips, self.cookie = key, ips, cookie
        self.place = place  # among samples, in the order of perf's queue
        self.at = None  # and among those that came out
        self.kind = None
        self.next = None  # time of the thread's next chain, us
        self.last = True  # there is none
        self.late = False


class Oracle:
    """Both texts, brought together; problems: what does not fit."""

    def __init__(self, unmerged, merged, known):
        """known: addresses by cookie, from the bytes, for a text that has
        none: perf asks the first event whether to print a chain's."""
        self.samples, self.problems = [], []
        self.chains = collections.defaultdict(list)  # cookie: addresses
        waiting = collections.defaultdict(list)
        for is_chain, key, ips, cookie in read(unmerged):
            if is_chain:
                self.chains[cookie] += [ips] if ips else known[cookie]
                for s in waiting.pop(key[1], ()):
                    s.next, s.last = key[0], False
            else:
                s = Sample(key, ips[:-1] if cookie else ips, cookie,
                           len(self.samples))
                self.samples.append(s)
                waiting[key[1]].append(s)
        self.put([line[1:3] for line in read(merged)])
        self.order()

    def put(self, lines):
        """Gives each sample its place in the merged text."""
        waiting = collections.defaultdict(list)
        for s in self.samples:
            waiting[s.key].append(s)
        for at, (key, ips) in enumerate(lines):
            for s in waiting[key]:
                kind = self.kind(s, ips)
                if kind:
                    s.at, s.kind = at, kind
                    waiting[key].remove(s)
                    break
            else:
                self.problems.append("merged only: %s" % (key,))
        self.problems += ["unmerged only: %s" % (s.key,)
                          for s in self.samples if s.at is None]

    def kind(self, s, ips):
        """How these addresses show that sample; None: it is another one."""
        if not s.cookie:
            return "whole" if ips == s.ips else None
        if ips == s.ips + (s.cookie,):
            return "bare"
        for chain in self.chains[s.cookie]:
            if ips == (s.ips + chain)[:DEPTH]:
                return "merged"
        return None

    def order(self):
        out = sorted((s for s in self.samples if s.at is not None),
                     key=lambda s: s.at)
        newest = -1
        for s in out:
            s.late = s.place < newest
            newest = max(newest, s.place)
        # Those for which no chain came stand behind everything else.
        end = [s for s in out if s.kind == "bare" and s.last]
        if set(end) != set(out[len(out) - len(end):]):
            self.problems.append("the end is not of those without a chain")
        for s in end:
            s.kind = "bare_at_end"


EVENTS = """
SELECT e.id, e.time_ns / 1000, t.tid, e.cpu, y.name, k.addrs, u.addrs,
       r.cookie, w.name, coalesce(r.flags, 0), r.held_ns
FROM event e JOIN event_type y ON y.id = e.type AND y.kind = 'sample'
LEFT JOIN thread t ON t.id = e.thread
LEFT JOIN raw_chain k ON k.id = e.kraw
LEFT JOIN raw_chain u ON u.id = e.uraw
LEFT JOIN request r ON r.event = e.id
LEFT JOIN word w ON w.kind = 'as_perf' AND w.id = r.as_perf
ORDER BY e.id"""

Row = collections.namedtuple("Row", "event as_perf late held")


def stored(db, has_cpu):
    """Rows by what a sample is known by."""
    rows = collections.defaultdict(list)
    for event, time, tid, cpu, name, kern, user, cookie, as_perf, flags, \
            held in common.query(db, EVENTS):
        ips = common.addresses(kern) + common.addresses(user)
        key = (time, tid, cpu if has_cpu else None, name)
        rows[key, tuple(ips[:DEPTH]), (cookie or 0) % (1 << 64)].append(
            Row(event, as_perf, bool(flags & LATE), held))
    return rows


def pairs(oracle, rows, problems):
    """(sample, row) of every sample, in perf's order. perf has tid -1 for a
    thread that the kernel had unhashed; compare.py counts these."""
    for s in oracle.samples:
        same = rows[s.key, s.ips, s.cookie]
        if not same and s.key[1] == -1:
            same = next((r for k, r in rows.items() if r and k[1:] == (
                s.ips, s.cookie) and k[0][0] == s.key[0] and
                k[0][2:] == s.key[2:]), [])
        if same:
            yield s, same.pop(0)
        else:
            problems.append("not in the database: %s" % (s.key,))
    for key, same in rows.items():
        problems += ["not in perf's output: %s" % (key[0],)] * len(same)


def held(s, row):
    """Is it the time that perf held it back?"""
    if not s.cookie or s.next is None or s.key[0] is None:
        return row.held is None
    # perf's times are cut to microseconds.
    return row.held is not None and \
        abs(row.held / 1000 - (s.next - s.key[0])) <= 1


def late_by_id(both):
    """Events that come out of perf after one with a higher id."""
    late, newest = set(), 0
    for s, row in sorted(both, key=lambda p: p[0].at or 0):
        if row.event < newest:
            late.add(row.event)
        newest = max(newest, row.event)
    return late


def differences(both):
    """(Counter of classes, lines for what no class explains)"""
    count, bad = collections.Counter(), []
    late = late_by_id(both)
    for s, row in both:
        kind = s.kind if s.cookie else None
        if kind != row.as_perf:
            bad.append("event %d %s: perf %s, we say %s" % (
                row.event, s.key, kind, row.as_perf))
        if s.late != row.late:
            if row.late == (row.event in late):
                count["queue"] += 1
            else:
                bad.append("event %d %s: perf gives it out %s" % (
                    row.event, s.key, "late" if s.late else "in order"))
        if not held(s, row):
            bad.append("event %d %s: next chain at %s, held for %s" % (
                row.event, s.key, s.next, row.held))
    return count, bad


def texts(c):
    """perf's two outputs; (None, None) where they are not at hand."""
    base = c.script[:-len(".script-ip.txt.gz")]
    place = "perf-deferred/" + c.name
    unmerged = common.first(base + ".script-nomerge.txt.gz") \
        or common.place(place + ".script-nomerge.txt")
    merged = common.first(base + ".script.txt.gz") \
        or common.place(place + ".script.txt") or c.script
    return (unmerged, merged) if unmerged else (None, None)


def check(c, expected):
    unmerged, merged = texts(c)
    if not unmerged:
        if c.analysis:
            print("skip %s: perf's unmerged output is not at hand" % c.name)
        return 0
    db = common.database(c)
    if not db:
        return 0
    known = collections.defaultdict(list)
    for chain in joincheck.Capture(c.path).chains:
        known[chain.cookie].append(chain.addrs)
    oracle = Oracle(unmerged, merged, known)
    has_cpu = any(s.key[2] is not None for s in oracle.samples)
    both = list(pairs(oracle, stored(db, has_cpu), oracle.problems))
    common.ok(not oracle.problems, "%s: perf's two outputs and ours have the "
              "same %d samples" % (c.name, len(oracle.samples)),
              oracle.problems[:5])
    n = sum(bool(s.cookie) for s in oracle.samples)
    count, bad = differences(both)
    common.ok(not bad, "%s: %d waiting samples come out as from perf"
              % (c.name, n), ["%d differ" % len(bad)] + bad[:5])
    common.known_classes(c.name, count, expected)
    return n


def main():
    table = common.expectations("expect-asperf.txt")
    n = sum(check(c, table.get(c.name, {}))
            for c in common.captures(sys.argv[1:]))
    common.ok(n > 0 or sys.argv[1:], "perf was asked about %d samples" % n)
    common.finish()


if __name__ == "__main__":
    main()

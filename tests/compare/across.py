# across.py - two captures of one kernel in one database: every join across them, by the bytes.
"""usage: across.py

two-e (the tasks of one command) and two-f (all CPUs) were recorded at the same
time by two perf sessions: a chain that one session asked for is in the other's
file too, if that was listening. The reader of joincheck.py says what each file
has alone; both lists together say what the database of both must have. What
perf would show of a file does not depend on the other one."""

import collections
import os

import common
import joincheck

PAIR = ("two-e", "two-f")

REQUESTS = """
SELECT y.capture, e.time_ns, t.tid, r.cookie, w.name, r.flags & 4 <> 0,
    u.addrs, r.latency_ns, h.capture, h.time_ns
FROM request r JOIN event e ON e.id = r.event
JOIN event_type y ON y.id = e.type
LEFT JOIN thread t ON t.id = e.thread
LEFT JOIN word w ON w.kind = 'request' AND w.id = r.verdict
LEFT JOIN chain h ON h.id = r.chain
LEFT JOIN raw_chain u ON u.id = r.uraw
WHERE r.cookie IS NOT NULL"""

CHAINS = """
SELECT h.capture, h.time_ns, t.tid, h.cookie, w.name, h.flags & 4 <> 0,
    h.n_events
FROM chain h JOIN thread t ON t.id = h.thread
JOIN word w ON w.kind = 'chain' AND w.id = h.verdict"""

COPIES = """
SELECT c.capture, c.time_ns, t.tid, h.cookie, h.capture
FROM chain_copy c JOIN chain h ON h.id = c.chain
JOIN thread t ON t.id = h.thread"""

AS_PERF = """
SELECT e.time_ns, t.tid, r.cookie, r.as_perf, r.held_ns, r.flags & 256, h.cookie
FROM request r JOIN event e ON e.id = r.event
JOIN event_type y ON y.id = e.type JOIN thread t ON t.id = e.thread
LEFT JOIN chain h ON h.id = r.as_tid
WHERE y.capture = ?"""

VERDICTS = """
SELECT w.name, count(*) FROM %s v
JOIN word w ON w.kind = '%s' AND w.id = v.verdict GROUP BY 1"""

U64 = 1 << 64


class Told:
    """What the bytes of all captures say together."""

    def __init__(self, caps):
        self.chains = collections.defaultdict(list)
        self.requests = []
        for n, cap in enumerate(caps, 1):
            for c in cap.chains:
                self.chains[c.tid, c.cookie].append((c.time, n, c.addrs))
            self.requests += [(n, r) for r in cap.requests
                              if r.kind == "cookie"]
        for list_ in self.chains.values():
            list_.sort()

    def wanted_requests(self):
        for n, r in self.requests:
            have = self.chains.get((r.tid, r.cookie))
            if not have:
                yield n, r.time, r.tid, r.cookie, "none", 0, (), None, 0, 0
                continue
            time, by, addrs = have[0]
            own = any(h[1] == n for h in have)
            yield (n, r.time, r.tid, r.cookie, "matched", int(not own), addrs,
                   time - r.time, by, time)

    def wanted_chains(self):
        users = collections.defaultdict(list)
        for n, r in self.requests:
            users[r.tid, r.cookie].append(n)
        for key, have in self.chains.items():
            by = {h[1] for h in have}
            used = users[key]
            yield (have[0][1], have[0][0], *key,
                   "used" if used else "foreign",
                   int(bool(used) and not by & set(used)), len(used))

    def wanted_copies(self):
        for key, have in self.chains.items():
            for time, n, _ in have[1:]:
                yield n, time, *key, have[0][1]


def stored_requests(db):
    for row in common.query(db, REQUESTS):
        n, time, tid, cookie, verdict, other, blob, latency, by, at = row
        yield (n, time, tid, cookie % U64,
               verdict if verdict == "matched" else "none", other,
               tuple(common.addresses(blob)), latency, by or 0, at or 0)


def unsigned(rows, at):
    for row in rows:
        yield (*row[:at], row[at] % U64, *row[at + 1:])


def alone(db, n_cap):
    return collections.Counter(common.query(db, AS_PERF, n_cap))


def numbers(db):
    out = {}
    for table in ("request", "chain"):
        out.update({table + " " + k: n for k, n in
                    common.query(db, VERDICTS % (table, table))})
    return out


def check_pair(pair):
    names = " + ".join(c.name for c in pair)
    caps = [joincheck.Capture(c.path) for c in pair]
    both = os.path.join(common.CACHE, "-".join(c.name for c in pair) + ".db")
    single = [common.ingest(c)[0] for c in pair]
    _, status, said = common.into(both, "--no-symbols",
                                  *(c.path for c in pair))
    common.ok(status == 0, "%s: are read" % names, said.split("\n"))
    if status:
        return
    told = Told(caps)
    same = all(h[2] == have[0][2] for have in told.chains.values()
               for h in have)
    common.ok(same, "%s: what both recorded is the same in both" % names)
    for what, want, have in (
            ("requests", told.wanted_requests(), stored_requests(both)),
            ("chains", told.wanted_chains(),
             unsigned(common.query(both, CHAINS), 3)),
            ("copies", told.wanted_copies(),
             unsigned(common.query(both, COPIES), 3))):
        joincheck.compare(names, what, want, have)
    for n, (c, db) in enumerate(zip(pair, single), 1):
        common.ok(alone(db, 1) == alone(both, n),
                  "%s: perf shows the same of %s alone" % (names, c.name))
    check_numbers(names, dict(zip((c.name for c in pair), single)), both)


def check_numbers(names, single, both):
    e, f, all_ = (numbers(db) for db in
                  (single["two-e"], single["two-f"], both))
    facts = [
        (e["request exit_per_task"], 4), (e["chain foreign"], 124),
        (f["chain foreign"], 8), (all_.get("request exit_per_task", 0), 0),
        (all_.get("request unexplained", 0), 0),
        (all_.get("chain foreign", 0), 0), (len(common.query(both, COPIES)),
                                            132),
        (common.one(both, "SELECT count(*) FROM request WHERE flags & 4"), 4),
        (common.one(both, "SELECT count(*) FROM cookie_gap"), 0)]
    common.ok(all(have == want for have, want in facts),
              "%s: alone 4, 124 and 8 halves have no other, together none"
              % names, ["%d, should be %d" % x for x in facts
                        if x[0] != x[1]])


def main():
    have = {c.name: c for c in common.captures(PAIR)}
    if len(have) < len(PAIR):
        print("skip across: needs %s" % " and ".join(PAIR))
        return
    try:
        check_pair([have[n] for n in PAIR])
        check_pair([have[n] for n in reversed(PAIR)])
    except common.Packed as why:
        print("skip across: %s" % why)
    common.finish()


if __name__ == "__main__":
    main()

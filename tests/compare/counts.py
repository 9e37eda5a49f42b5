# counts.py - the verdicts add up to what an independent reader counted.
"""usage: counts.py [NAME...]

NAME.analysis.json holds counts made from the bytes of the capture by a program
that shares nothing with us. The oracle: a sample that hit user mode was
interrupted at the very place where its user stack begins (unless there was an
exec between: then the chain is the new program's)."""

import json
import sys

import common

REQUEST = "SELECT count(*) FROM request JOIN word w ON w.kind = 'request'" \
          " AND w.id = request.verdict WHERE w.name = '%s'"
CHAIN = "SELECT count(*) FROM chain JOIN word w ON w.kind = 'chain'" \
        " AND w.id = chain.verdict WHERE w.name = '%s'"


def duplicates(db):
    """Records whose bytes stood there before are kept, and marked."""
    return common.one(db, "SELECT count(*) FROM sample_extra"
                          " WHERE name = 'duplicate'") \
        + common.one(db, CHAIN % "duplicate")


def after_last_exit(db):
    """Chains after the last EXIT of their thread's number. (The reference does
    not tell the lives of a number apart; chain.flags does.)"""
    return common.one(
        db, "SELECT count(*) FROM chain c JOIN thread t ON t.id = c.thread"
            " WHERE c.flags & 16 AND NOT EXISTS (SELECT 1 FROM thread l"
            " WHERE l.tid = t.tid AND l.end_ns > c.time_ns)")


def pairs(db, a):
    """(what, ours, theirs) for every count that both have."""
    cookie = a["samples_with_cookie"]
    marker = a["samples_marker_without_cookie(USER_DEFERRED last)"]
    direct = a["samples_direct_user_chain(no cookie)"]
    one = common.one

    def req(verdict):
        return one(db, REQUEST % verdict)

    def flag(table, bit):
        return one(db, "SELECT count(*) FROM %s WHERE flags & %d"
                   % (table, bit))

    yield "requests", one(db, "SELECT count(*) FROM request"), \
        cookie + marker + direct
    yield "matched", req("matched"), a["joinable_by_cookie_alone"]
    yield "unjoinable", req("unjoinable"), marker
    yield "refused", req("refused"), direct
    yield "requests without chain", one(
        db, "SELECT count(*) FROM request WHERE cookie IS NOT NULL"
            " AND cookie <> 0 AND chain IS NULL"), \
        a["samples_of_cookies_without_deferred"]
    yield "cookies", one(
        db, "SELECT count(DISTINCT cookie) FROM request WHERE cookie <> 0"), \
        a["distinct_cookies_in_samples"]
    yield "chains", one(db, "SELECT count(*) FROM chain"), \
        a["deferred_records"]
    yield "chains without sample", one(
        db, "SELECT count(DISTINCT cookie) FROM chain WHERE cookie NOT IN"
            " (SELECT cookie FROM request WHERE cookie IS NOT NULL)"), \
        a["deferred_without_sample"]
    yield "samples after their chain", flag("request", 1), \
        a["samples_after_their_deferred_record"]
    yield "chains after EXIT", after_last_exit(db), \
        a["deferred_after_EXIT_of_tid"]
    yield "joins across exec", one(
        db, "SELECT count(DISTINCT cookie) FROM request WHERE flags & 2"), \
        a["joins_across_exec(COMM exec between sample and deferred)"]
    yield "chains without a frame", one(
        db, "SELECT count(*) FROM chain WHERE uraw IS NULL"), \
        a["deferred_nr0"]


def sums(db, name):
    """The view's verdicts are the rows', and none is missing."""
    for kind, table in (("request", "request"), ("chain", "chain")):
        total = common.one(db, "SELECT coalesce(sum(n), 0) FROM verdicts"
                               " WHERE kind = ?", kind)
        rows = common.one(db, "SELECT count(*) FROM " + table)
        common.ok(total == rows, "%s: verdicts of %ss add up to %d"
                  % (name, kind, rows), ["view says %d" % total])
    odd = common.query(
        db, "SELECT kind, verdict, confidence, n FROM verdicts"
            " WHERE verdict IS NULL OR confidence IS NULL")
    common.ok(not odd, "%s: every verdict has a word and a confidence" % name,
              map(str, odd))


def losses(db, a, name):
    """Each drop is counted once, though it is told of twice."""
    want = max(a["LOST_sum"], a["LOST_SAMPLES_sum"])
    got = common.one(db, "SELECT coalesce(sum(n), 0) FROM loss WHERE counts")
    common.ok(got == want, "%s: %d records were lost" % (name, want),
              ["we say %s" % got])


def counters(db, a, name):
    """Which counters each CPU's cookies have, and why others are missing."""
    key = "counter_per_cpu(cpu: first..last, seen, missing odd values)"
    ours = ["%d: %d..%d seen %d missing %d" % row for row in common.query(
        db, "SELECT cpu, first, last, seen, missing FROM cookie_cpu"
            " ORDER BY cpu")]
    theirs = ["%s: %s" % (cpu, a[key][cpu]) for cpu in
              sorted(a[key], key=int)]
    common.ok(ours == theirs, "%s: counters of %d CPUs are as counted"
              % (name, len(theirs)), ["ours"] + ours + ["theirs"] + theirs)
    gaps = common.one(db, "SELECT coalesce(sum(n), 0) FROM cookie_gap")
    common.ok(gaps == a["counter_gaps_total"],
              "%s: %d counters are missing" % (name, a["counter_gaps_total"]),
              ["gaps have %s" % gaps])
    odd = common.query(
        db, "SELECT g.* FROM cookie_gap g JOIN word w ON w.kind = 'gap'"
            " AND w.id = g.verdict WHERE w.name = 'uncounted'"
            " OR (w.name = 'lost' AND g.loss IS NULL)")
    common.ok(not odd, "%s: a loss of its CPU explains every gap" % name,
              map(str, odd))


def first_frames(db, name):
    rows = common.query(
        db, "SELECT request.event, request.ip, raw_chain.addrs FROM request"
            " JOIN raw_chain ON raw_chain.id = request.uraw"
            " WHERE request.flags & 32 AND NOT request.flags & 2"
            " AND request.chain IS NOT NULL")
    bad = []
    for event, ip, blob in rows:
        chain = common.addresses(blob)
        if not chain or chain[0] != ip % (1 << 64):
            bad.append("event %d: ip %x, chain %s" % (
                event, ip % (1 << 64), ["%x" % a for a in chain[:2]]))
    common.ok(not bad, "%s: %d user hits have their ip as first frame"
              % (name, len(rows)), bad[:5])
    return len(rows)


def check(c):
    with open(c.analysis) as f:
        a = json.load(f)
    db = common.database(c)
    if not db:
        return 0
    dup = a["byte_identical_duplicate_records(samples+deferred)"]
    dup = dup if isinstance(dup, int) else 0
    wrong = []
    for what, ours, theirs in pairs(db, a):
        if ours != theirs:
            wrong.append("%s: %d, reference %d" % (what, ours, theirs))
    common.ok(not wrong, "%s: requests and chains are as counted" % c.name,
              wrong)
    if dup:
        common.ok(duplicates(db) == dup, "%s: %d duplicate records are marked"
                  % (c.name, dup), ["we say %d" % duplicates(db)])
    sums(db, c.name)
    losses(db, a, c.name)
    counters(db, a, c.name)
    return first_frames(db, c.name)


def main():
    n = sum(check(c) for c in common.captures(sys.argv[1:]) if c.analysis)
    common.ok(n > 0 or sys.argv[1:], "the first-frame oracle was asked "
              "(%d times)" % n)
    common.finish()


if __name__ == "__main__":
    main()

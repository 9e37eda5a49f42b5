# audit.py - the numbers of the audit are those of independent readers.
"""usage: audit.py [NAME...]

NAME.analysis.json holds counts made from the bytes of the capture by a program
that shares nothing with us; tools/lostacct.py of the shared folder adds cookies
and the kernel's own count of lost records up against each other, and what it
said of the captures of the project is in NAME.lostacct.txt. Where our number
differs for a reason, expect-audit.txt has a line "CAPTURE NUMBER ours", and the
list below the reason; such a line that no
longer differs is a failure too.

Of a capture from which nothing was dropped, nobody may be accused: no half is
lost or unexplained, no counter is missing without a reason, no rule that
breaks has a finding.

Where a column of the database counts something else than a number of the
reference, the scripts ask for the same thing:

- chains after EXIT (tidreuse-defer 45): ours are per life, and also those of a
  life whose tid another one has later (144 with flag 16). counts.py leaves out
  those of which a later life of the number ends;
- joins across exec (tidreuse-defer 82): ours are per request, all samples of
  the cookie (163 with flag 2). counts.py counts cookies;
- duplicates (defer-lost-clock 7): samples are marked, chains have a verdict.
  counts.py adds both;
- the sum of LOST_SAMPLES (defer-lost-clock 2959): the drops that LOST tells of
  (2894), and 65 more. The rows lost_total are the sum; counts = 1 (lost and
  lost_end) adds up to it too, each drop once;
- the kernel's count of lost defer_output records (defer-lost-clock 826): it is
  of all records of that event, also MMAP, COMM and EXIT. It is not equal by
  nature to 801 = 71 cookies without a chain + 730 missing; see
  backstitch-formats(5), "Deferred stacks: counters".
"""

import collections
import json
import os
import re
import sys

import common
import evidence
import joincheck

WORD = "(SELECT id FROM word WHERE kind = '%s' AND name = '%s')"


def count(db, table, kind, word, column="verdict"):
    return common.one(db, "SELECT count(*) FROM %s WHERE %s = "
                      % (table, column) + WORD % (kind, word))


def loss(db, what, where="1"):
    return common.one(db, "SELECT coalesce(sum(l.n), 0) FROM loss l"
                      " LEFT JOIN event_type y ON y.id = l.type"
                      " WHERE l.what = '%s' AND %s" % (what, where))


def cookies(db, column):
    return common.one(db, "SELECT sum(%s) FROM cookies" % column)


def per_rule(db, a):
    """What perf's rule, and the tid's, make of the waiting samples."""
    bare = a["perf_rule: delivered unmerged at another deferred"]
    yield "perf_merged", count(db, "request", "as_perf", "merged",
                               "as_perf"), a["perf_rule: merged"]
    yield "perf_bare", count(db, "request", "as_perf", "bare",
                             "as_perf"), bare
    yield "perf_bare_at_end", count(db, "request", "as_perf", "bare_at_end",
                                    "as_perf"), a["perf_rule: flushed at end"]
    # The next chain of a tid is another cookie's just where perf's merge
    # finds that the cookies differ.
    yield "tid_wrong", common.one(
        db, "SELECT count(*) FROM request r JOIN chain c ON c.id = r.as_tid"
            " WHERE c.cookie <> r.cookie"), bare
    yield "tid_none", common.one(
        db, "SELECT count(*) FROM request WHERE cookie <> 0"
            " AND as_tid IS NULL"), a["perf_rule: flushed at end"]


def per_half(db, a):
    """Halves without the other, and where they belong."""
    yield "no_chain", cookies(db, "no_chain"), a["cookies_without_deferred"]
    yield "no_sample", cookies(db, "no_sample"), a["deferred_without_sample"]
    yield "missing", cookies(db, "missing"), a["counter_gaps_total"]
    yield "gap_counters", common.one(
        db, "SELECT coalesce(sum(n), 0) FROM cookie_gap"), \
        a["counter_gaps_total"]
    for row in common.query(
            db, "SELECT cpu, first, last, seen, missing FROM cookie_cpu"):
        yield "cpu%d" % row[0], "%d..%d seen %d missing %d" % row[1:], \
            a["counter_per_cpu(cpu: first..last, seen, missing odd values)"] \
            .get(str(row[0]))
    yield "cpus", common.one(db, "SELECT count(*) FROM cookie_cpu"), len(
        a["counter_per_cpu(cpu: first..last, seen, missing odd values)"])
    # The chain is foreign, unjoinable or lost, but none is forgotten.
    yield "chains_unused", common.one(
        db, "SELECT count(DISTINCT c.cookie) FROM chain c JOIN word w"
            " ON w.kind = 'chain' AND w.id = c.verdict WHERE w.name IN"
            " ('sample_lost', 'foreign', 'overwritten', 'unexplained',"
            " 'unjoinable')"), a["deferred_without_sample"]
    yield "requests_unused", common.one(
        db, "SELECT count(DISTINCT r.cookie) FROM request r JOIN word w"
            " ON w.kind = 'request' AND w.id = r.verdict"
            " WHERE r.cookie <> 0 AND w.name <> 'matched'"), \
        a["cookies_without_deferred"]


def per_loss(db, a):
    """What was dropped, as LOST tells it, and the recorder's own count."""
    yield "lost", loss(db, "lost"), a["LOST_sum"]
    yield "lost_records", common.one(
        db, "SELECT count(*) FROM loss WHERE what = 'lost'"), \
        a["LOST_records"]
    yield "lost_total", loss(db, "lost_total"), a["LOST_SAMPLES_sum"]
    for text, n in a["LOST_SAMPLES_by_attr"].items():
        words = dict(w.split("=") for w in text.split()[1:])
        yield "lost_total_of_" + text.split()[0], loss(
            db, "lost_total", "y.type = %s AND y.config = %s"
            " AND y.defer_output = %s" % (
                words["type"], words["config"], words["defer_output"])), n
    key = "lost_deferred+sideband_by_cpu(LOST_SAMPLES of the defer_output" \
          " event)"
    for cpu, n in a[key].items():
        yield "lost_defer_output_cpu" + cpu, loss(
            db, "lost_total", "y.defer_output AND l.cpu = %s" % cpu), n
    # Each drop once: what LOST did not tell is in lost_end.
    yield "lost_in_all", common.one(
        db, "SELECT coalesce(sum(n), 0) FROM loss WHERE counts = 1"), \
        max(a["LOST_sum"], a["LOST_SAMPLES_sum"])
    yield "throttled", common.one(
        db, "SELECT count(*) FROM loss WHERE what = 'throttled'"), \
        a["records"].get("THROTTLE", 0)


ACCOUNT = re.compile(
    r"cookies seen (\d+) \| no chain: sample-only (\d+) \+ in gaps (\d+)"
    r" = (\d+) \| kernel: lost of the defer_output event (\d+)"
    r" \| chain-only (\d+) \| lost of other events (\d+)")


def account(db, name):
    """The line of tools/lostacct.py."""
    tool = os.path.join(common.SHARED, "tools/lostacct.py")
    path = os.path.join(common.SHARED, "captures/perf-deferred",
                        name + ".data")
    saved = common.place("perf-deferred/%s.lostacct.txt" % name)
    if saved:
        text = common.read_gz(saved)
    elif common.SHARED and os.path.exists(tool):
        text = common.output(sys.executable, "-B", tool, path)
    else:
        return
    m = ACCOUNT.search(text)
    theirs = [int(n) for n in m.groups()]
    ours = [common.one(db, "SELECT coalesce(sum(seen), 0) FROM cookie_cpu"),
            cookies(db, "no_chain"), cookies(db, "missing"),
            cookies(db, "no_chain + missing"),
            loss(db, "lost_total", "y.defer_output"),
            cookies(db, "no_sample"),
            loss(db, "lost_total", "NOT y.defer_output")]
    for what, o, t in zip(("seen", "no_chain", "missing", "without_chain",
                           "kernel", "no_sample", "kernel_others"),
                          ours, theirs):
        yield "account_" + what, o, t


def numbers(db, c):
    with open(c.analysis) as f:
        a = json.load(f)
    for part in (per_rule, per_half, per_loss):
        yield from part(db, a)
    yield from account(db, c.name)


def check_numbers(db, c, expected):
    wrong, known, n = [], set(), 0
    for what, ours, theirs in numbers(db, c):
        n += 1
        if ours == theirs:
            continue
        if what in expected and expected[what] == ours:
            known.add(what)
        else:
            wrong.append("%s: %s, reference %s" % (what, ours, theirs))
    wrong += ["%s: is no longer different" % what
              for what in sorted(set(expected) - known)
              if not any(w.startswith(what + ":") for w in wrong)]
    common.ok(not wrong, "%s: %d numbers are as counted (%d differ for a"
              " reason)" % (c.name, n, len(known)), wrong)


# ---- what perf leaves without its user half, and why we do not

# All that wait, joined by perf, joined by us alone, lost with a loss that is
# the reason, pending at the end; and those that get a wrong stack when the
# next chain of the tid is taken for theirs.
SETTLED = {
    "defer-lost-clock": (4530, 3958, 171, 382, 19, 550),
    "defer-cpuclock": (1419, 1402, 17, 0, 0, 17),
}


def check_settled(db, name):
    bare = "as_perf <> " + WORD % ("as_perf", "merged")
    have = (
        common.one(db, "SELECT count(*) FROM request WHERE cookie <> 0"),
        count(db, "request", "as_perf", "merged", "as_perf"),
        common.one(db, "SELECT count(*) FROM request WHERE %s"
                       " AND chain IS NOT NULL" % bare),
        common.one(db, "SELECT count(*) FROM request WHERE loss IS NOT NULL"
                       " AND verdict = " + WORD % ("request", "chain_lost")),
        count(db, "request", "request", "pending_end"),
        common.one(db, "SELECT count(*) FROM request r JOIN chain c"
                       " ON c.id = r.as_tid WHERE c.cookie <> r.cookie"))
    common.ok(have == SETTLED[name] and have[0] == sum(have[1:5]),
              "%s: %d = %d joined by perf + %d by us alone + %d lost"
              " + %d pending; %d wrong by tid" % ((name,) + SETTLED[name]),
              ["%s" % (have,)])


# ---- no false accusation

ACCUSED = (
    ("requests", "SELECT count(*) FROM request WHERE verdict IN (%s, %s)"
     % (WORD % ("request", "chain_lost"), WORD % ("request", "unexplained"))),
    ("chains", "SELECT count(*) FROM chain WHERE verdict IN (%s, %s, %s)"
     % (WORD % ("chain", "sample_lost"), WORD % ("chain", "overwritten"),
        WORD % ("chain", "unexplained"))),
    ("counters", "SELECT count(*) FROM cookie_gap WHERE verdict = %s"
     % WORD % ("gap", "uncounted")),
    ("drops", "SELECT count(*) FROM loss WHERE counts = 1"),
    ("findings", "SELECT count(*) FROM internal_finding f JOIN internal_rule r ON r.id = f.rule"
     " WHERE r.breaks"),
)


# A guest with Linux 6.18 in which perf left out, without a word, what was hit in
# some threads and in the idle task of CPU 1: the task that comes is not the one
# that leaves next, in so many places.
SILENT = {"switch-churn": ["10 drops", "10 findings"]}


def nothing_dropped(b):
    """By the bytes: no record of a loss, and no ring that overwrites."""
    return not b.lost and not any(t.misc == 0 for t in b.totals) \
        and not any(a.flags & evidence.BACKWARD for a in b.attrs)


def check_accused(db, c):
    bad = ["%d %s" % (n, what) for what, n in
           ((what, common.one(db, sql)) for what, sql in ACCUSED) if n]
    common.ok(bad == SILENT.get(c.name, []), "%s: nothing was dropped, nothing is accused"
              % c.name, bad)


def check(c, expected):
    db = common.database(c)
    if not db:
        return 0
    if c.analysis:
        check_numbers(db, c, expected)
    if c.name in SETTLED:
        check_settled(db, c.name)
    b = joincheck.opened(c, evidence.Bytes)
    if not b or not nothing_dropped(b):
        return 0
    check_accused(db, c)
    return 1


def main():
    table = collections.defaultdict(dict)
    for name, what, ours in common.table("expect-audit.txt", 3):
        table[name][what] = int(ours) if ours.isdigit() else ours
    n = sum(check(c, table.get(c.name, {}))
            for c in common.captures(sys.argv[1:]))
    common.ok(n > 0 or sys.argv[1:], "%d captures without a loss" % n)
    common.finish()


if __name__ == "__main__":
    main()

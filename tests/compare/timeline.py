# timeline.py - captures recorded at the same time on different clocks: what is found, and what is refused.
"""The captures in clocks/ are three runs of a machine, each with perf, ftrace
(raw pages) and LTTng, and one more of ftrace: which of them are of one run, and
by how much their clocks differ, is known. All pairs are tried. Of perf-deferred,
two-e and two-f are two sessions of one kernel, z-defer is of another boot."""

import itertools
import os
import shutil
import sys
import tempfile

import common

FORMATS = common.place("ftrace-raw")

# How far ftrace's local clock is ahead of perf's default, by the kernel's own
# line "sched_clock: Marking stable".
LOCAL = 30100334
# Which pairs are of one run and have clocks that something connects; the runs of
# perf on its own clock are of one boot, one after the other.
GOOD = {
    ("perf_perf", "perf_local"): ("same_clock", 0),
    ("perf_local", "ft_local"): ("events", -LOCAL),
    ("perf_perf", "ft_perf"): ("same_clock", 0),
    ("perf_mono", "ft_mono"): ("same_clock", 0),
    ("perf_mono", "lttng_mono"): ("same_clock", 0),
    ("ft_mono", "lttng_mono"): ("same_clock", 0),
}


def captures(work):
    """NAME: path; pages get the layout that tracefs has."""
    found = {}
    for clock in ("local", "perf", "mono", "boot"):
        folder = os.path.join(work, "ft_" + clock)
        for cpu in range(2):
            to = os.path.join(folder, "per_cpu/cpu%d" % cpu)
            os.makedirs(to)
            shutil.copy(common.place("clocks/clk_ft_%s.%d" % (clock, cpu)),
                        os.path.join(to, "trace_pipe_raw"))
        with open(os.path.join(folder, "trace_clock"), "w") as f:
            f.write("[%s]\n" % clock)
        found["ft_" + clock] = folder
        if clock == "boot":
            continue
        found["perf_" + clock] = common.place("clocks/clk_perf_%s.data" % clock)
        found["lttng_" + clock] = common.place("clocks/clk_lttng_" + clock)
    return found


def ingest(db, *paths):
    """(status, message, rows of capture)"""
    _, status, said = common.into(db, "--no-symbols", "--formats", FORMATS,
                                  *paths)
    rows = [] if status else common.query(
        db, "SELECT align, offset_ns, error_ns, pairs, together FROM capture"
            " ORDER BY id")
    return status, said, rows


def one_pair(db, found, a, b):
    status, message, rows = ingest(db, found[a], found[b])
    want = GOOD.get((a, b)) or GOOD.get((b, a))
    if not want:
        # of LTTng the boot id is known, and these are one after the other
        why = ("of one boot, but not of one time"
               if {a[:5], b[:5]} == {"lttng"} else "not of one timeline")
        common.ok(status == 1 and why + ": " in message and
                  "--separate" in message, "%s and %s are refused" % (a, b),
                  [str(status), message] + [str(r) for r in rows])
        return
    method, offset = want
    if (b, a) in GOOD:
        offset = -offset
    good = status == 0 and rows[1][0] == method
    if good:
        _, got, error, _, _ = rows[1]
        good = abs(got - offset) <= error < 5000
    common.ok(good, "%s and %s: %s within its error" % (a, b, method),
              [str(status), message] + [str(r) for r in rows])


def triple(db, found):
    status, message, rows = ingest(db, found["perf_mono"], found["ft_mono"],
                                   found["lttng_mono"])
    common.ok(status == 0 and [r[0] for r in rows] ==
              ["reference", "same_clock", "same_clock"] and
              all(r[4] == 1 for r in rows),
              "perf, ftrace and LTTng of one run are one kernel's",
              [message] + [str(r) for r in rows])


def order_of_hooks(db, found):
    """Once aligned, the two records of each switch stand side by side."""
    for clock in ("local", "perf", "mono"):
        status, message, _ = ingest(db, found["perf_" + clock],
                                    found["ft_" + clock])
        row = common.query(db, """
            WITH s AS (
                SELECT y.capture, e.time_ns, e.cpu, s.prev_pid, s.next_pid
                FROM event e JOIN event_type y ON y.id = e.type
                JOIN ev_sched_sched_switch s ON s.event_id = e.id)
            SELECT (SELECT count(*) FROM s WHERE capture = 1),
                count(DISTINCT p.time_ns || ' ' || p.cpu) FROM s p JOIN s f
                ON f.capture = 2 AND f.cpu = p.cpu
                AND f.prev_pid = p.prev_pid AND f.next_pid = p.next_pid
                AND abs(f.time_ns - p.time_ns) < 5000
            WHERE p.capture = 1""")[0]
        common.ok(status == 0 and row[0] > 100 and row[1] >= row[0] * 0.99,
                  "%s: both see each switch at the same time" % clock,
                  [message, str(row)])


def two_sessions(db):
    two_e = common.place("perf-deferred/two-e.data")
    status, message, rows = ingest(db, two_e,
                                   common.place("perf-deferred/two-f.data"))
    common.ok(status == 0 and rows[1][0] == "same_clock" and
              rows[1][3] >= 132 and rows[1][4] == 1,
              "two sessions of perf are of one clock and one kernel",
              [message] + [str(r) for r in rows])
    status, message, rows = ingest(db, two_e,
                                   common.place("perf-deferred/z-defer.data"))
    common.ok(status == 1, "a session of another boot is refused",
              [message] + [str(r) for r in rows])


def boots(db, found):
    """LTTng names the run of the kernel."""
    other = common.place("lttng/ku-cookie/trace")
    status, message, rows = ingest(db, found["lttng_mono"], other)
    common.ok(status == 1 and "two boots" in message,
              "LTTng sessions of two boots are refused",
              [str(status), message] + [str(r) for r in rows])


def main():
    with tempfile.TemporaryDirectory() as work:
        db = os.path.join(work, "x.db")
        found = captures(work)
        for a, b in itertools.combinations(sorted(found, reverse=True), 2):
            one_pair(db, found, a, b)
        triple(db, found)
        order_of_hooks(db, found)
        boots(db, found)
        two_sessions(db)
    common.finish()


if __name__ == "__main__":
    sys.exit(main())

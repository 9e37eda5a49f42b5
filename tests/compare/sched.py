# sched.py - runs and waits of threads, one by one, against perf sched timehist.
"""usage: sched.py [NAME...]

perf sched timehist prints a line for each switch out: when, on which CPU, the
thread, how long it was ready before that run (from sched_wakeup on) and how
long it ran. Each line must be a row of our table stay, and each stay that ends
with a switch a line. Times of timehist have microseconds. Differences belong to
a class, and each is counted and must be as in EXPECT:

begin    the thread ran at the first record of its CPU: perf says 0
exit     a thread that exits has no id in perf's record: the line is of :-1
ready    how long it was ready, where we have a proof: perf counts from
         sched_wakeup on, we from sched_waking, so it is at most our time
same     -w names the thread that woke it: so do we, with proof
doubt    the same, without proof: it was in a softirq, of which nobody knows how
         it was entered
handler  perf names the thread, or the idle one, that an interrupt came to; we
         name none
preempt  the thread left the CPU ready: perf 6.1 counts no delay, newer ones
         (6.12) all of it, as we do, and ready from sched_waking on
gone     newer ones forget a thread when it exits, with how long it was ready
         before that run (6.12 its name, too; 7.2 has that)
Anything else is an error."""

import collections
import os
import re
import subprocess
import sys
import tempfile

import common

FOLDER = os.path.join(common.ROOT, "tests/causality/captures")
LINE = re.compile(r"^\s*(?P<time>\d+\.\d{6}) \[(?P<cpu>\d+)\]\s+(?P<name>.+?)"
                  r"\s+(?P<wait>\d+\.\d{3})\s+(?P<delay>\d+\.\d{3})\s+"
                  r"(?P<run>\d+\.\d{3})\s*$")
WOKE = re.compile(r"^\s*(?P<time>\d+\.\d{6}) \[(?P<cpu>\d+)\]\s+"
                  r"(?P<name>.+?)\s+awakened: (?P<woken>.+?)\s*$")
TID = re.compile(r"\[(-?\d+)(?:/-?\d+)?\]$")
EXPECT = {
    "chain": {"stays": 123, "begin": 2, "ready": 70, "preempt": 29, "same": 44,
              "handler": 17},
    "lock": {"stays": 75, "begin": 2, "ready": 37, "preempt": 14, "exit": 1,
             "same": 10, "handler": 22},
    "sock": {"stays": 109, "begin": 2, "ready": 60, "preempt": 21, "same": 34,
             "handler": 22},
}
GONE = {"chain": 6, "lock": 1, "sock": 3}


def timehist(path):
    """(us, cpu) -> (tid, delay in us, run in us), and (us, cpu, woken) -> waker"""
    out, woke = {}, {}
    for line in common.output("perf", "sched", "-i", path, "timehist", "-w",
                              "--force", "--no-call-graph").split("\n"):
        m = WOKE.match(line)
        if m:
            waker, tid = TID.search(m["name"]), TID.search(m["woken"])
            woke[int(m["time"].replace(".", "")), int(m["cpu"]),
                 int(tid[1])] = int(waker[1]) if waker else 0
        m = LINE.match(line)
        if not m:
            continue
        tid = TID.search(m["name"])
        out[int(m["time"].replace(".", "")), int(m["cpu"])] = (
            0 if m["name"] == "<idle>" else int(tid[1]),
            int(m["delay"].replace(".", "")), int(m["run"].replace(".", "")))
    return out, woke


def ours(db, sql):
    text = common.must("query", "--format", "csv", db, sql)
    return [[int(v) if v else None for v in line.split(",")]
            for line in text.replace("\r", "").split("\n")[1:] if line]


def compare_wakes(db, woke, found, other):
    """Each wait that ended by a recorded wake-up is a line of -w."""
    for time, cpu, tid, by, current, proved in ours(db, """
            SELECT k.time_ns, k.cpu, k.tid, k.by_tid, k.current,
                k.proof LIKE 'proved%'
            FROM wait w JOIN wake k ON k.id = w.wake
            WHERE k.kind = 'wake' AND k.event NOT NULL"""):
        line = [woke[k] for k in ((time // 1000, cpu, tid),
                                  (time // 1000 + 1, cpu, tid)) if k in woke]
        if line != [current]:
            other.append("%d woken at %d by %s: perf says %s" % (
                tid, time, current, line))
        elif by is None:
            found["handler"] += 1
        else:
            found["same" if proved else "doubt"] += 1


def compare(name, folder, newer):
    path = common.plain("%s/%s.data.zst" % (FOLDER, name), folder)
    db = folder + "/perf.db"
    common.must("ingest", "-qf", "--no-symbols", "-o", db, path)
    lines, woke = timehist(path)
    ready = {}
    for tid, t0, t1, preempted in ours(db, """
            SELECT i.tid, i.t0, i.t1, s.state IN ('R', 'R+')
            FROM state_interval i LEFT JOIN stay s ON s.event = i.event
            WHERE i.state = 'ready' AND i.proof LIKE 'proved%'"""):
        first = ready.get((tid, t0), (t0,))[0]
        ready[tid, t1] = (first, preempted)
    exits = {tid: time for tid, time in ours(
        db, """SELECT x.pid, e.time_ns FROM ev_sched_sched_process_exit x
        JOIN event e ON e.id = x.event_id""")}
    found = collections.Counter()
    other = []
    stays = ours(db, """SELECT tid, cpu, t0, t1, exact0 FROM stay
        WHERE exact1 ORDER BY t1""")
    for tid, cpu, t0, t1, exact0 in stays:
        # microseconds, and perf's are rounded in one place, cut in another
        line = [lines.pop(k) for k in ((t1 // 1000, cpu),
                                       (t1 // 1000 + 1, cpu)) if k in lines]
        found["stays"] += 1
        if len(line) != 1:
            other.append("%d at %d: %d lines" % (tid, t1, len(line)))
            continue
        their, delay, run = line[0]
        gone = newer and t0 <= exits.get(tid, -1) <= t1
        if their == -1:
            found["exit"] += 1
        elif their != tid:
            other.append("%d at %d: perf says %d" % (tid, t1, their))
        if abs(run - (t1 - t0) / 1000) > 1:
            if exact0 or run:
                other.append("%d at %d ran %d us" % (tid, t1, run))
            found["begin"] += 1
        if (tid, t0) not in ready or not tid or their != tid:
            continue
        since, preempted = ready[tid, t0]
        mine = (t0 - since) / 1000
        found["preempt" if preempted else "ready"] += 1
        found["gone"] += gone
        if gone or (preempted and not newer):
            good = delay == 0
        else:
            good = mine - (1 if newer else 200) <= delay <= mine + 1
        if not good:
            other.append("%d at %d: ready %d us" % (tid, t1, delay))
    compare_wakes(db, woke, found, other)
    other += ["perf only: %s %s" % (k, v) for k, v in sorted(lines.items())]
    return +found, other


def main():
    version = subprocess.run(["perf", "--version"], capture_output=True,
                             check=False)
    if version.returncode:
        print("skip sched: no perf")
        return
    newer = b"version 6.1." not in version.stdout
    for name in sys.argv[1:] or ("chain", "lock", "sock"):
        with tempfile.TemporaryDirectory() as folder:
            found, other = compare(name, folder, newer)
        want = dict(EXPECT[name], **({"gone": GONE[name]} if newer else {}))
        common.ok(not other and found == want,
                  "runs_of_%s_are_those_of_timehist" % name,
                  [str(dict(found))] + other[:20])


main()
common.finish()

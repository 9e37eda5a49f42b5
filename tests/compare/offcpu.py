# offcpu.py - off-CPU time, wait for wait, against the switches in the peers' texts.
"""usage: offcpu.py [NAME...]

From the lines of sched_switch that perf script and trace-cmd report print, a
few lines of arithmetic make the waits of each thread: from leaving a CPU to
the next coming back. `report --off-cpu` must give the same waits with the same
times (some of perf's texts have microseconds, all others nanoseconds), so the same sum
for each thread. Those that ours calls uncertain are counted as a class: the
text knows a wait there, a thread that left twice, or one that exited later."""

import collections
import json
import os
import re
import sqlite3
import sys

import common
import ftrace

SAMPLED = "pipe-zstd"	# perf record -F 300
PERF = re.compile(
    r"^(?P<comm>.*?)\s+(?:\d+/)?(?P<tid>\d+)\s+\[(?P<cpu>\d+)\]\s+"
    r"(?P<time>\d+\.\d+):.*\bsched:sched_switch:.*"
    r":(?P<out>\d+) \[\d+\] (?P<state>\S+) ==> .*:(?P<next>\d+) \[\d+\]")
FIELDS = re.compile(
    r"^(?P<comm>.*?)\s+(?P<tid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?P<time>\d+\.\d+):.*"
    r"prev_pid=(?P<out>\d+) .*prev_state=(?P<state>\S+) ==> .*"
    r"next_pid=(?P<next>\d+)")
RECORD = re.compile(r"^.*?\s(?P<tid>\d+) (?:\[\d+\] )?\s*(?P<time>\d+\.\d+): "
                    r"PERF_RECORD_SWITCH\S* (?P<way>IN|OUT)")
PID = re.compile(r" pid=(?P<pid>\d+) ")
RAW = re.compile(r"prev_pid=(?P<out>\d+) .*prev_state=(?P<state>\S+) .*"
                 r"next_pid=(?P<next>\d+)")

Waits = collections.namedtuple("Waits", "waits twice open exits")


def digits(time):
    """12.345678 in the last digit's unit."""
    sec, _, frac = time.partition(".")
    return int(sec) * 10 ** len(frac) + int(frac or 0)


def perf_switches(path):
    """(time, tid out, whether it ended, tid in) of perf script's text."""
    for line in common.read_gz(path).split("\n"):
        m = PERF.match(line) or FIELDS.match(line)
        if m:
            yield (digits(m["time"]), int(m["out"]),
                   m["state"] in ("X", "Z"), int(m["next"]))
        m = RECORD.match(line)
        if m:
            out = m["way"] == "OUT"
            yield (digits(m["time"]), int(m["tid"]) if out else 0, False,
                   0 if out else int(m["tid"]))


def ftrace_wakes(path):
    """The same file's (time, tid woken, is waking, tid that woke)."""
    for line in common.read_gz(path).split("\n"):
        m = ftrace.LINE.match(line)
        if m and m["event"] in ("sched_waking", "sched_wakeup"):
            yield (digits(m["time"]), int(PID.search(m["text"])["pid"]),
                   m["event"] == "sched_waking", int(m["pid"]))


def check_wakes(name, got, wakes):
    """Each wait whose waker is known was ended by the first sched_waking in it,
    by the thread of that line unless it was an interrupt; where there is none,
    by the first sched_wakeup. A thread that needed no waker has no line."""
    by_tid = collections.defaultdict(list)
    for time, tid, waking, by in wakes:
        by_tid[tid].append((not waking, time, by))
    bad, woken = [], collections.Counter()
    for w in got["longest"]:
        inside = [k for k in by_tid[w["tid"]]
                  if w["from_ns"] <= k[1] <= w["to_ns"]]
        _, want, by = min(inside) if inside else (0, 0, 0)
        woken[w["proof"]] += 1
        named = w["waker"] and not w["waker"].startswith("[")
        if w["proof"] == "unknown":
            good = not w["waker"] and not w["waker_tid"]
        elif w["proof"]:
            good = w["woken_ns"] == want and \
                w["waker_tid"] == (by if named else 0)
        else:
            good = not [k for k in inside if not k[0]]
        if not good:
            bad.append("%r, text %d by %d" % (w, want, by))
    common.ok(not bad, "offcpu_%s_knows_who_was_woken_when" % name, bad[:5])
    print("    %s: wakers of %d waits are proved, %d consistent, %d unknown" %
          (name, woken["proved"], woken["consistent"], woken["unknown"]))
    return woken["proved"]


def ftrace_switches(path):
    """The same of trace-cmd report -R: of the buffer with the most."""
    found = collections.defaultdict(list)
    for line in common.read_gz(path).split("\n"):
        m = ftrace.LINE.match(line)
        if not m or m["event"] != "sched_switch":
            continue
        f = RAW.search(m["text"])
        found[m["inst"]].append((digits(m["time"]), int(f["out"]),
                                 int(f["state"], 0) in (16, 32),
                                 int(f["next"])))
    return max(found.values(), key=len) if found else []


def arithmetic(switches):
    away, waits, twice, exits = {}, [], 0, 0
    for time, out, gone, back in switches:
        if out:
            twice += out in away
            away.pop(out, None)
            if gone:
                exits += 1
            else:
                away[out] = time
        if back in away:
            waits.append((back, away.pop(back), time))
    return Waits(sorted(waits), twice, away, exits)


def ended(db, away, unit):
    """Of the threads that the text leaves off the CPU, those that exited: behind
    that (so they had come back), and before (so they do not wait)."""
    with sqlite3.connect(db) as c:
        lives = sorted((tid, start // unit, end // unit) for tid, start, end
                       in c.execute("SELECT tid, coalesce(start_ns, 0),"
                                    " coalesce(end_ns, -1) FROM thread"))
    gone = []
    for tid, time in away.items():
        end = [e for t, start, e in lives if t == tid and start <= time][-1:]
        gone += [e > time for e in end if e >= 0]
    return sum(gone), len(gone)


def sums(waits):
    total = collections.Counter()
    for tid, begin, end in waits:
        total[tid] += end - begin
    return total


def check(name, path, switches, unit):
    want = arithmetic(switches)
    db, _, _ = common.into(os.path.join(common.CACHE, "offcpu-%s.db" % name),
                           "--no-symbols", path)
    if name == SAMPLED:
        r = common.run("report", "--off-cpu", db)
        common.ok(r.returncode == 1 and b"were sampled, 64 of 1503" in r.stderr,
                  "offcpu_%s_is_refused_as_sampled" % name)
        # the text does not know that, nor do we from here on
        with sqlite3.connect(db) as c:
            c.execute("UPDATE event_type SET weight = events"
                      " WHERE name = 'sched:sched_switch'")
    r = common.run("report", "--off-cpu", "--json", "--limit", "0", db)
    if r.returncode:
        # nothing is certain: all waits of the text must be doubtful then
        text = r.stderr.decode(errors="replace")
        common.ok("no return is certain" in text or
                  not want.waits and "no thread left" in text,
                  "offcpu_%s_has_nothing_certain" % name, [text])
        return None
    got = json.loads(r.stdout)
    ours = sorted((w["tid"], w["from_ns"] // unit, w["to_ns"] // unit)
                  for w in got["longest"])
    unseen, gone = ended(db, want.open, unit)
    extra = set(ours) - set(want.waits)
    missing = len(want.waits) - len(ours)
    detail = ["%d waits of ours, %d of the text, %d uncertain, %d twice"
              % (len(ours), len(want.waits), got["uncertain"], want.twice)]
    detail += ["only ours: %r" % (w,) for w in sorted(extra)[:5]]
    common.ok(not extra and len(ours) == got["waits"] and
              missing + want.twice + unseen == got["uncertain"],
              "offcpu_waits_of_%s_are_those_of_the_text" % name, detail)
    common.ok(got["open"] == len(want.open) - gone,
              "offcpu_%s_has_as_many_open_waits" % name,
              ["%d, text %d - %d" % (got["open"], len(want.open), gone)])
    if unit == 1 and not missing:
        mine = collections.Counter()
        for t in got["threads"]:
            if t["ns"]:
                mine[t["tid"]] += t["ns"]
        common.ok(mine == sums(want.waits) and
                  got["ns"] == sum(want.waits[i][2] - want.waits[i][1]
                                   for i in range(len(want.waits))),
                  "offcpu_sums_of_%s_are_equal_to_the_ns" % name)
    else:
        # each wait is equal in the text's unit: so are their sums
        common.ok(sum(t["ns"] for t in got["threads"]) == got["ns"] ==
                  sum(w["ns"] for w in got["longest"]),
                  "offcpu_sums_of_%s_add_up" % name)
    if missing:
        print("    %s: %d waits are uncertain by loss" % (name, missing))
    return got


def main():
    only = sys.argv[1:]
    perf = [("defer-exitexec-s", "defer-exitexec-s.data.zst",
             "defer-exitexec-s.script-nomerge.txt.gz", 1000),
            ("pipe-zstd", "pipe-zstd.data", "pipe-zstd.switches.txt.gz", 1),
            ("naps", "naps.data", "naps.switches.txt.gz", 1)]
    n = woken = 0
    for name, path, text, unit in perf:
        if only and name not in only:
            continue
        switches = list(perf_switches(os.path.join(common.HERE, text)))
        common.ok(len(switches) > 30, "offcpu_%s_has_a_text" % name)
        check(name, os.path.join(common.HERE, path), switches, unit)
        n += 1
    for case in ftrace.cases(only):
        if not case.raw or case.name in ftrace.CUT:
            continue
        switches = ftrace_switches(case.raw)
        if len(switches) < 10:
            continue
        got = check(case.name, case.path, switches, 1)
        wakes = list(ftrace_wakes(case.raw))
        if got and wakes:
            woken += check_wakes(case.name, got, wakes)
        n += 1
    common.ok(woken > 20 or only, "offcpu_wakers_were_compared")
    common.ok(n >= (1 if only else 6), "offcpu_captures_were_compared",
              ["%d" % n])
    common.finish()


if __name__ == "__main__":
    main()

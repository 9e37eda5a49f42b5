# critical.py - who ended each wait of an LTTng trace, by the definition of Trace Compass's critical path, and by ours.
"""usage: critical.py

Trace Compass's execution graph follows sched_switch and sched_waking alone: a
waking of a thread that is blocked links the thread that is current on the CPU
of the record to it. What that makes of each wait is worked out here again, from
what babeltrace2 prints, and compared with the chains of 'backstitch path'. Each
wait is of one class, and each class is counted and must be as in EXPECT:

same       the same thread, at the same time
interrupt  that thread was only interrupted, or is the idle one: we name no
           thread
doubt      the same thread, but ours is not proved: the trace has neither
           common_flags nor names of functions, so an interrupt may have been
           the waker
ready      nobody: it left the CPU runnable, or was woken on its way to sleep
hidden     it left the CPU runnable and was woken: it ran in between, at a time
           of which a CPU has no records yet. Trace Compass goes on as if it had
           not, we call a part unknown
lost       Trace Compass links a thread; we call the wait unknown, as what came
           before the first record of a CPU is
Anything else is an error."""

import collections
import os
import re
import subprocess
import tempfile

import common

EXPECT = {
    "k-callstack": {"ready": 47, "interrupt": 77, "doubt": 99, "lost": 1,
                    "hidden": 1},
}
LINE = re.compile(r"^\[(\d+)\] .*?(sched_switch|sched_waking): "
                  r"\{ cpu_id = (\d+) \}.*(\{ [^{}]* \})$")
FIELD = re.compile(r'(\w+) = (-?\d+)')


def records(folder):
    done = subprocess.run(["babeltrace2", "--clock-cycles", folder],
                          capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        m = LINE.match(line)
        if m:
            yield (int(m[1]), m[2], int(m[3]),
                   {k: int(v) for k, v in FIELD.findall(m[4])})


def linked(folder):
    """(tid, from, to): (waker, time), or None where nobody is linked."""
    on, out, link, waits = {}, {}, {}, {}
    for time, name, cpu, f in records(folder):
        if name == "sched_waking":
            tid = f["tid"]
            if tid in out and out[tid][1] and tid not in link and cpu in on:
                link[tid] = (on[cpu], time)
            continue
        went, came = f["prev_tid"], f["next_tid"]
        on[cpu] = came
        if went:
            out[went] = (time, f["prev_state"] & 0xff)
            link.pop(went, None)
        if came in out:
            waits[came, out.pop(came)[0], time] = link.pop(came, None)
    return waits


def ours(db):
    """The same: the edge that ended it, and the states in it."""
    found = {}
    for c in common.answer("path", "--idle", "--worst", "1000000", db)["chains"]:
        edges = {e["id"]: e for e in c["edges"]}
        first = [edges[s["edges"][0]] for s in c["segments"] if s["edges"]]
        key = c["thread"]["tid"], c["from_ns"], c["to_ns"]
        found[key] = (first[-1] if first else None,
                      {s["state"] for s in c["segments"]})
    return found


def classify(tc, edge, states):
    if tc is None:
        if edge is None:
            return "ready" if states == {"ready"} else "odd"
        return "hidden" if "unknown" in states else "odd"
    if edge is None:
        return "lost"
    if edge["at_ns"] != tc[1]:
        return "odd"
    if edge["waker"] == 0:
        return "interrupt" if edge["current"] == tc[0] else "odd"
    if edge["waker"] != tc[0]:
        return "odd"
    return "same" if edge["proof"] == "proved" else "doubt"


def compare(name, folder, temp):
    db, _, _ = common.into(os.path.join(temp, name + ".db"), "--no-symbols",
                           folder)
    theirs, mine = linked(folder), ours(db)
    counts, odd = collections.Counter(), []
    for key, tc in theirs.items():
        edge, states = mine.pop(key, (None, {"unknown"}))
        what = classify(tc, edge, states)
        counts[what] += 1
        if what == "odd":
            odd.append((key, tc, edge and (edge["waker"], edge["at_ns"]),
                        states))
    counts["only ours"] = len(mine)
    common.ok(dict(+counts) == EXPECT[name],
              name + "_has_the_wakers_of_trace_compass",
              ["%s, not %s" % (dict(+counts), EXPECT[name])] +
              [str(o) for o in odd[:8]])


def main():
    folder = os.path.join(common.SHARED, "captures/lttng")
    if not common.SHARED:
        print("skip wakers_of_trace_compass: no $BACKSTITCH_SHARED")
        return
    with tempfile.TemporaryDirectory() as temp:
        for name in EXPECT:
            compare(name, os.path.join(folder, name), temp)


main()
common.finish()

#!/usr/bin/env python3
# truth.py - who was responsible for each wait in a capture of which nothing is
# lost, and how far the log of the workload says the same.
"""usage: truth.py FOLDER/NAME [QUERIES]

Reads NAME.data, NAME.log and kallsyms in FOLDER, and writes NAME.truth.json and
NAME.data.zst. Queries are waits of the log, as many of each thread. A row says
how many records there are, what contradicts that they are whole, and how much of
the computing in the log is running, or being ready to, in the truth.

The truth comes from pairs of switches and the wake-ups between them, which is
right only where nothing is lost."""

import bisect
import collections
import json
import os
import re
import struct
import subprocess
import sys

import lose
import perfdata

HARDIRQ, SOFTIRQ, NMI = 8, 16, 64
RUNNABLE = 0x100
DEAD = 0x10 | 0x20
# what calls a softirq that the current thread has nothing to do with
BEHIND_INTERRUPT = re.compile(r"irq_exit|ksoftirqd|sysvec_|common_interrupt")
EVENTS = ("sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new",
          "sched_process_fork")

Piece = collections.namedtuple("Piece", "start end state cpu by")
Waking = collections.namedtuple("Waking", "time by")
IRQ = -1


def names_of_events(path):
    """{config: name}"""
    said = subprocess.run(["perf", "evlist", "-v", "-i", path],
                          capture_output=True, text=True, check=True).stdout
    return {int(c, 0): name for name, c in re.findall(
        r"^\w+:(\w+): .*?config: (\w+)", said, re.M)}


class Kernel:
    """Names of addresses in the kernel."""

    def __init__(self, path):
        with open(path, encoding="ascii") as f:
            at = sorted((int(a, 16), n) for a, kind, n, *_ in
                        map(str.split, f) if kind in "tTwW")
        self.start, self.name = [a for a, _ in at], [n for _, n in at]

    def names(self, addresses):
        return [self.name[bisect.bisect(self.start, a) - 1]
                for a in addresses if self.start[0] <= a < 1 << 64 - 12]


class Whole:
    """pieces and wakings by thread, of a capture without losses"""

    def __init__(self, capture, config, kernel):
        self.capture, self.kernel = capture, kernel
        self.out, self.came = (collections.defaultdict(list) for _ in "oc")
        self.wakings, self.wakeups = (collections.defaultdict(list)
                                      for _ in "gu")
        self.born, self.comm = {}, {0: "swapper"}
        for s in capture.records:
            name = "sched_switch" if s.type == "sched_switch" \
                else config.get(s.type)
            if name in EVENTS:
                self.take(s, name)
        self.last = capture.records[-1].time

    def take(self, s, name):
        raw, stack = self.capture.raw(s)
        flags = raw[2]
        if name == "sched_switch":
            prev, state = struct.unpack_from("<i4xq", raw, 24)
            self.comm[prev] = raw[8:24].split(b"\0")[0].decode()
            self.out[prev].append((s.time, state))
            self.came[s.fields["next_pid"]].append((s.time, s.cpu))
        elif name == "sched_process_fork":
            self.born[struct.unpack_from("<i", raw, 44)[0]] = (s.time, s.current)
        else:
            tid, = struct.unpack_from("<i", raw, 24)
            if name == "sched_waking":
                self.wakings[tid].append(Waking(s.time, self.waker(
                    s.current, flags, stack)))
            else:
                self.wakeups[tid].append(s.time)

    def waker(self, current, flags, stack):
        if not current or flags & (HARDIRQ | NMI):
            return IRQ
        if flags & SOFTIRQ and any(map(BEHIND_INTERRUPT.search,
                                       self.kernel.names(stack))):
            return IRQ
        return current

    def slept(self, tid, out, came):
        """The pieces between two runs of a thread that left in a sleep."""
        between = [w for w in self.wakings[tid] if out < w.time < came]
        if len(between) == 1:
            yield Piece(out, between[0].time, "blocked", None, between[0].by)
            yield Piece(between[0].time, came, "ready", None, None)
            return
        before = [w for w in self.wakings[tid] if w.time < out]
        raced = before and not any(before[-1].time < u < out
                                   for u in self.wakeups[tid])
        yield Piece(out, came, "ready" if raced and not between else "unknown",
                    None, None)

    def pieces(self, tid):
        born, parent = self.born.get(tid, (None, None))
        if born:
            yield Piece(0, born, "unborn", None, parent)
        marks = sorted([(t, 0, s) for t, s in self.out[tid]] +
                       [(t, 1, c) for t, c in self.came[tid]])
        if born and marks:
            yield Piece(born, marks[0][0], "ready", None, None)
        for (a, comes, what), (b, _, _) in zip(marks, marks[1:] +
                                              [(self.last, 0, 0)]):
            if comes:
                yield Piece(a, b, "run", what, None)
            elif what & DEAD:
                yield Piece(a, 1 << 62, "dead", None, None)
            elif b == self.last:
                yield Piece(a, b, "unknown", None, None)
            elif not what & ~RUNNABLE:
                yield Piece(a, b, "ready", None, None)
            else:
                yield from self.slept(tid, a, b)

    def chain(self, tid, start, end, out, depth=0):
        at = start
        for p in self.pieces(tid):
            a, b = max(at, p.start), min(end, p.end)
            if a >= b:
                continue
            if a > at:
                out.append((at, a, tid, "unknown", None))
            if p.by not in (None, IRQ) and depth < 100:
                self.chain(p.by, a, b, out, depth + 1)
            else:
                out.append((a, b, tid, "interrupt" if p.state == "blocked"
                            else p.state, p.cpu))
            at = b
        if at < end:
            out.append((at, end, tid, "unknown", None))
        return out

    def without_a_wake(self):
        """Sleeps that nobody is seen to end; perf's own are never seen."""
        return sum(p.state == "unknown" and p.end < self.last
                   for tid in list(self.out) if tid and
                   self.comm.get(tid) != "perf" for p in self.pieces(tid))


def intervals(path):
    """(tid, what, from, to) of the log"""
    began, out = {}, []
    with open(path, encoding="ascii") as f:
        for ns, tid, _, edge, what in map(str.split, f):
            if edge == "begin":
                began[tid, what] = int(ns)
            else:
                out.append((int(tid), what, began.pop((tid, what)), int(ns)))
    return out


def confirmed(whole, log):
    ns = total = 0
    for tid, what, a, b in log:
        if what == "compute":
            total += b - a
            ns += sum(max(0, min(b, p.end) - max(a, p.start))
                      for p in whole.pieces(tid) if p.state in ("run", "ready"))
    return ns / total if total else 1.0


def queries(whole, log, most):
    """Of the waits in the log in which the thread left its CPU, or of what else
    it did if it never waits."""
    kinds = {what for _, what, _, _ in log}
    of = next(k for k in ("wait", "sleep", "compute") if k in kinds)
    asked = [i for i in log if i[1] == of and any(
        i[2] < t < i[3] for t, _ in whole.out[i[0]])]
    for n in range(min(most, len(asked))):
        tid, _, a, b = asked[n * len(asked) // min(most, len(asked))]
        yield {"id": n, "tid": tid, "comm": whole.comm[tid], "from": a, "to": b,
               "segments": [(x, y, who, whole.comm.get(who, ""), state,
                             int(state != "unknown"), cpu)
                            for x, y, who, state, cpu in
                            whole.chain(tid, a, b, [])]}


def main():
    path, most = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 29
    config = names_of_events(path + ".data")
    with open(path + ".data", "rb") as f:
        capture = perfdata.Samples(f.read())
    whole = Whole(capture, config, Kernel(
        os.path.join(os.path.dirname(path), "kallsyms")))
    log = intervals(path + ".log")
    truth = {"confirmed": round(confirmed(whole, log), 4),
             "queries": list(queries(whole, log, most))}
    with open(path + ".truth.json", "w", encoding="ascii") as f:
        json.dump(truth, f, separators=(",", ":"))
    subprocess.run(["zstd", "-19", "-qf", path + ".data"], check=True)
    signs = lose.has_sign([(r, 0) for r in capture.records])
    print("%-8s %6d records, %d lost, %s, %d sleeps without a wake, %d queries, "
          "%.1f %% of the log's computing" % (
              os.path.basename(path), len(capture.records), capture.lost,
              "records are missing" if signs else "no contradiction",
              whole.without_a_wake(), len(truth["queries"]),
              100 * truth["confirmed"]))


if __name__ == "__main__":
    main()

# naive.py - pairs the records that are there, as tools do that know no loss.
"""usage: naive.py TEXT TID FROM TO

Prints a chain of causes as JSON, in which everything is called proved. It reads
what text.py writes. The bench must find it to be false where records are lost,
and right where none is."""

import json
import re
import sys

FOREVER = 1 << 62
LINE = re.compile(r"\s*(.*)-(\d+)\s+\[(\d+)\] (\S+) (\d+)\.(\d{9}): (\w+): (.*)")
FIELD = re.compile(r"(\w+)=(\S+)")


class Pairs:
    def __init__(self, path):
        self.out, self.came, self.woken, self.born = {}, {}, {}, {}
        with open(path, encoding="ascii") as f:
            for m in filter(None, map(LINE.match, f)):
                self.take(m)

    def take(self, m):
        time = int(m[5]) * 10**9 + int(m[6])
        f = dict(FIELD.findall(m[8]))
        if m[7] == "sched_switch":
            self.out.setdefault(int(f["prev_pid"]), []).append(
                (time, f["prev_state"][0]))
            self.came.setdefault(int(f["next_pid"]), []).append(
                (time, int(m[3])))
        elif m[7] == "sched_waking":
            irq = m[4][2] in "hHs"
            self.woken.setdefault(int(f["pid"]), []).append(
                (time, 0 if irq else int(m[2])))
        elif m[7] == "sched_process_fork":
            self.born[int(f["child_pid"])] = (time, int(f["pid"]))

    def pieces(self, tid):
        """(from, to, state, cpu, waker) in the order of time"""
        marks = sorted([(t, 1, s) for t, s in self.out.get(tid, [])] +
                       [(t, 0, c) for t, c in self.came.get(tid, [])])
        at, state, cpu = 0, "unknown", None
        for time, leaves, what in marks + [(FOREVER, 2, None)]:
            if state == "off":
                w = [x for x in self.woken.get(tid, []) if at <= x[0] <= time]
                if w and left != "R":
                    yield at, w[-1][0], "blocked", None, w[-1][1]
                    yield w[-1][0], time, "ready", None, None
                else:
                    yield (at, time, "ready" if left == "R" else "unknown",
                           None, None)
            elif time > at:
                yield at, time, state, cpu, None
            at, state, cpu = time, "off" if leaves else "run", what
            left = what if leaves == 1 else "S"

    def chain(self, tid, a, b, segments, edges, depth=0):
        for s, e, state, cpu, by in self.pieces(tid):
            x, y = max(a, s), min(b, e)
            if x >= y:
                continue
            if state == "blocked" and by and depth < 100:
                edges.append({"at_ns": e, "waiter": tid, "waker": by,
                              "kind": "wake", "proof": "proved"})
                self.chain(by, x, y, segments, edges, depth + 1)
                continue
            segments.append({"from_ns": x, "to_ns": y, "tid": tid, "cpu": cpu,
                             "state": "timer" if state == "blocked" else state,
                             "proof": "unknown" if state == "unknown"
                             else "proved"})


def main():
    path, tid, a, b = sys.argv[1], *map(int, sys.argv[2:])
    segments, edges = [], []
    Pairs(path).chain(tid, a, b, segments, edges)
    json.dump({"thread": {"tid": tid}, "from_ns": a, "to_ns": b,
               "segments": segments, "edges": edges}, sys.stdout)


if __name__ == "__main__":
    main()

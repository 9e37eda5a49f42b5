# latency.py - latency, row by row, against perf trace, lock, kwork, sched.
"""usage: latency.py [--print] [NAME...]; LATENCY_PERF=PROGRAM: of that perf

perf script prints the events of a capture. From them this script makes two lists
of intervals: the right ones, and those that perf counts, by the rules of its
source (6.1; of 7.2 if perf, or what $LATENCY_PERF names, is newer). Then three things must hold, for each kind that a capture has:

1. every row of perf's table is the sum of the intervals of the second list;
2. our intervals, their verdicts among them, are those of the first list;
3. the two lists differ by classes, each of which is decided by the events, and
   of each there are as many as expect-latency.txt says, and in its place
   expect-latency-newer.txt of newer ones.

syscall (perf trace -s)
  same       both have it
  orphan     an exit without an enter of that call: perf counts a call, of 0 ms
             or since the thread's last enter, whatever that was
  child      the same, of the child of clone, fork or vfork
  exec       the exit of an exec that another thread of the process began
  sigreturn  its exit has the number -1, and perf leaves the call out
  open       an enter that no exit follows; perf has no word for it
irq, softirq, work (perf kwork report)
  same
  stale      perf ends the last begin that has no end yet, which is not this one's
  moved      a work that began on another CPU than it ended: perf has none
  orphan     an end without a begin, in neither
  open       a begin without an end; neither has it as an interval
softirq-wait, work-wait (perf kwork latency)
  same       of a work: from workqueue_activate_work on, within ours
  again      raised again before it ran: perf counts from the last time on
  stale      perf takes one that was left over from an earlier wait
  late       perf's begin lies before ours, as ours is not known or was one of
             another wait
  moved      raised or queued on another CPU than it ran: perf has none
lock (perf lock contention -t)
  same, orphan, open as above
wake-up (perf sched latency)
  wake       both count from sched_wakeup on
  waking     perf counts from sched_wakeup on, we from sched_waking, before it
  crossed    the same, of a thread that was still leaving the CPU: it is ready
             from its switch out on
  new        both, of a new thread, from sched_wakeup_new on
  yield      both, of a thread that left the CPU in state R, from the switch on
  R+         one that was preempted: perf 6.1 does not know the letter
             perf 6.12 knows it, and counts from sched_waking on where there is
             one: both have the same
  first      perf takes a thread of which it knows nothing for one that became
             ready when its first record was made, and counts 0
  silent     a thread is on a CPU without a switch: between its last switch out
             and this, records are missing that no loss tells of
  unproved   the wait before it is not proved in table state_interval
  unseen     perf has it, but that the thread was not on a CPU before its first
             record nobody knows
Verdicts are checked by the losses that perf script prints: an interval is
proved if and only if it is whole and records that were lost between its ends
are too few to be an end and a begin. 'silent' counts those in a time in which
switches show that records are missing, of which no loss tells. 'edge' counts those that are whole but lie
where not all CPUs were recorded, 'doubt' those with such losses. 'twice' are ends
that are there a second time: perf counts them again."""

import collections
import csv
import io
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile

import common
import latencycuts

LINE = re.compile(r"^\s*(?P<comm>.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+"
                  r"\[(?P<cpu>\d+)\]\s+(?P<s>\d+)\.(?P<ns>\d{9}):\s+"
                  r"(?:PERF_RECORD_(?P<record>\w+)|(?P<event>[a-z_]+:\w+):)"
                  r"\s*(?P<text>.*)$")
Event = collections.namedtuple("Event", "time cpu pid tid comm name text n")
# begin, end: Events or None
Span = collections.namedtuple("Span", "begin end key")
NAMED = {0: "HI", 1: "TIMER", 2: "NET_TX", 3: "NET_RX", 4: "BLOCK",
         5: "IRQ_POLL", 6: "TASKLET", 7: "SCHED", 8: "HRTIMER", 9: "RCU"}
PERF, NEWER = "perf", False
CLONES = "clone", "clone3", "fork", "vfork"


def use(program):
    """Which perf prints the tables: 6.1, or a newer one, of which 6.12, 7.2 and
    7.3 count alike."""
    global PERF, NEWER
    PERF = program
    NEWER = not re.search(r"version 6\.1\.", common.output(PERF, "--version"))


class Capture:
    def __init__(self, path, db):
        self.path, self.db = path, db
        self.events, self.lost, self.cpus = [], [], {}
        last = {}
        text = common.output(
            "perf", "script", "-i", path, "-f", "-G", "--ns",
            "--show-lost-events", "--show-task-events", "--show-mmap-events",
            "-F", "comm,pid,tid,cpu,time,event,trace")
        for line in text.split("\n"):
            m = LINE.match(line)
            if not m:
                assert not line.strip(), line
                continue
            time, cpu = int(m["s"]) * 10**9 + int(m["ns"]), int(m["cpu"])
            if m["record"] == "LOST":
                self.lost.append((last.get(cpu, 0), time, cpu,
                                  int(m["text"].split()[-1])))
            if m["record"] != "LOST_SAMPLES":
                last[cpu] = time
            if m["record"]:
                continue
            first = self.cpus.setdefault(cpu, [time, time])
            first[1] = time
            self.events.append(Event(time, cpu, int(m["pid"]), int(m["tid"]),
                                     m["comm"], m["event"], m["text"],
                                     len(self.events)))
        # what was lost behind the last record of a ring has none of its own;
        # the kernel counts it by event
        tail, of = collections.Counter(), {}
        for raw, kind, cpu, _, _ in latencycuts.Capture(path).records:
            if kind == latencycuts.SAMPLE:
                of[raw[8:16]] = cpu
            elif kind == latencycuts.LOST_SAMPLES:
                # perf writes CPU 0 into all of them; the id tells
                tail[of.get(raw[-8:], cpu)] += struct.unpack_from("<Q", raw, 8)[0]
            elif kind == latencycuts.LOST:
                tail[cpu] -= struct.unpack_from("<Q", raw, 16)[0]
        self.lost += [(last.get(cpu, 0), 1 << 62, cpu, n)
                      for cpu, n in tail.items() if n > 0]
        self.wide = "enable_on_exec: 1" not in common.output(
            "perf", "evlist", "-i", path, "-f", "-v")
        # perf 6.1 writes all records of some tasks twice on Linux 6.18
        seen, self.twice = set(), set()
        for e in self.events:
            if e[:7] in seen:
                self.twice.add(e.n)
            seen.add(e[:7])
        self.names = {e.name for e in self.events}

    def of(self, *names, twice=False):
        return [e for e in self.events if e.name in names
                and (twice or e.n not in self.twice)]

    def on(self, cpu=None):
        """Since when and until when all CPUs, or this one, certainly recorded.
        perf record -a turns its events on and off CPU by CPU."""
        on, off = [], []
        for at in self.cpus:
            if cpu in (None, at):
                on.append(min(t for k, (t, _) in self.cpus.items()
                              if k >= at or not self.wide))
                off.append(max(t for k, (_, t) in self.cpus.items()
                               if k <= at or not self.wide))
        return max(on), min(off)

    def missing(self, t0, t1, cpu=None):
        """How many records were lost between two times."""
        return sum(n for a, b, c, n in self.lost
                   if a < t1 and b > t0 and cpu in (None, c))


def began(s):
    return s.begin and s.begin.time


def number(pattern, e):
    m = re.search(pattern, e.text)
    return int(m[1], 0) if m else None


# ---- what perf prints


def perf(path, *args):
    """Some of them print their tables to stderr."""
    r = subprocess.run([PERF, *args, "-i", path, "-f"],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       check=True)
    return r.stdout.decode(errors="surrogateescape")


def near(shown, ns):
    """Is this how perf prints a length in ms? It divides floating-point numbers."""
    return abs(float(shown) - ns / 1e6) <= 0.0005001


def when(shown, ns):
    """Is this how perf prints a time in s? It cuts what is below 1 us."""
    return round(float(shown) * 10**6) == ns // 1000


def check_rows(title, theirs, model, like):
    """theirs, model: lists of rows, which are equal if like() says so."""
    bad = []
    rest = sorted(model)
    for row in sorted(theirs):
        for i, m in enumerate(rest):
            if like(row, m):
                del rest[i]
                break
        else:
            bad.append("perf only: %s" % (row,))
    bad += ["not in perf: %s" % (m,) for m in rest]
    common.ok(not bad, title, sorted(bad, key=lambda b: b.split('(')[1])[:12])


def sums(spans):
    """count, total, longest, and its begin and end, of (begin, end) in ns"""
    n = total = longest = 0
    at = 0, 0
    for t0, t1 in spans:
        n, total = n + 1, total + t1 - t0
        if t1 - t0 > longest:
            longest, at = t1 - t0, (t0, t1)
    return (n, total, longest) + at


# ---- system calls


def calls(c, **more):
    return c.of("raw_syscalls:sys_enter", "raw_syscalls:sys_exit", **more)


def right_calls(c, name):
    """The spans, and those of them that began in another thread."""
    open_, out, execs = {}, [], set()
    for e in calls(c):
        nr = number(r"NR (-?\d+)", e)
        if e.name.endswith("enter"):
            if e.tid in open_:
                out.append(Span(open_[e.tid], None, None))
            open_[e.tid] = e
            continue
        b = open_.get(e.tid)
        call = b and number(r"NR (-?\d+)", b)
        if b and (call == nr or (nr == -1 and name(call) == "rt_sigreturn")):
            out.append(Span(open_.pop(e.tid), e, None))
            continue
        other = [o for o in open_.values() if name(nr) in ("execve", "execveat")
                 and o.pid == e.pid and o.tid != e.tid
                 and number(r"NR (-?\d+)", o) == nr]
        if b:
            out.append(Span(open_.pop(e.tid), None, None))
        if other:
            execs.add(e.n)
            out.append(Span(open_.pop(other[0].tid), e, None))
        else:
            out.append(Span(None, e, None))
    return out + [Span(b, None, None) for b in open_.values()], execs


def perf_calls(c):
    entry, out = {}, []
    for e in calls(c, twice=True):
        if e.name.endswith("enter"):
            entry[e.tid] = e
        elif number(r"NR (-?\d+)", e) >= 0:
            b = entry.get(e.tid)
            out.append(Span(b if b and b.time < e.time else None, e, None))
    return out


ROW = re.compile(r"^   (\S+) +(\d+) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) ")


def check_trace(c, names):
    if not any(os.path.isdir(d + "/events") for d in (
            "/sys/kernel/tracing", "/sys/kernel/debug/tracing")):
        # it looks there for what is in the file, too
        print("skip %s: no tracefs, which perf trace needs" % c.name)
        return
    try:
        text = perf(c.path, "trace", "-s")
    except subprocess.CalledProcessError as e:
        if e.returncode != -signal.SIGSEGV or not NEWER:
            raise
        # that of 6.12 does, even in a file that it has recorded itself
        print("skip %s: this perf trace crashes when it reads a file" % c.name)
        return
    theirs = collections.defaultdict(lambda: [0, 0, 0.0, 0.0, 0])
    tid = None
    for line in text.split("\n"):
        m = re.match(r"^ .* \((\d+)\), \d+ events", line)
        if m:
            tid = int(m[1])
        m = ROW.match(line)
        if m and m[2].isdigit():
            row = theirs[tid, m[1]]
            row[0] += int(m[2])
            row[1] += int(m[3])
            row[2] += float(m[4])
            row[3] = max(row[3], float(m[7]))
            row[4] += 1
    model = collections.defaultdict(list)
    errors = collections.Counter()
    for s in perf_calls(c):
        key = s.end.tid, names(number(r"NR (\d+)", s.end))
        model[key].append((s.begin.time if s.begin else s.end.time, s.end.time))
        errors[key] += (number(r"= (-?(?:0x[0-9a-f]+|\d+))", s.end) or 0) < 0
    bad = ["%s: perf %s" % (k, theirs.get(k)) for k in sorted(
        set(theirs) ^ set(model))]
    for k in set(theirs) & set(model):
        n, total, longest = sums(model[k])[:3]
        row = theirs[k]
        # a thread whose tid was used again has several rows
        if not (row[0] == n and row[1] == errors[k] and near(row[3], longest)
                and abs(row[2] - total / 1e6) <= row[4] * 0.0005001):
            bad.append("%s: perf %s, by its rules %s" % (
                k, row, (n, errors[k], total / 1e6, longest / 1e6)))
    common.ok(not bad and model, c.name + ": rows of perf trace -s are the sums "
              "of what it counts", bad[:12])


def classes_calls(c, right, execs, names):
    theirs = {s.end.n: s for s in perf_calls(c)}
    found = collections.Counter()
    for s in right:
        if not s.end:
            found["open"] += names(number(r"NR (-?\d+)", s.begin)) not in (
                "exit", "exit_group")
            continue
        p = theirs.pop(s.end.n, None)
        nr = number(r"NR (-?\d+)", s.end)
        if nr == -1:
            found["sigreturn"] += 1
        elif s.end.n in execs:
            found["exec"] += 1
        elif not s.begin:
            child = names(nr) in CLONES and number(r"= (-?\w+)", s.end) == 0
            found["child" if child else "orphan"] += 1
        elif p and began(p) == began(s):
            found["same"] += 1
        else:
            found["else"] += 1
    twice = sum(1 for n in theirs if n in c.twice)
    found["twice"] += twice
    found["else"] += len(theirs) - twice
    return found


# ---- interrupts and works


KWORK = {
    "irq": ("irq:irq_handler_entry", "irq:irq_handler_exit", r"irq=(\d+)"),
    "softirq": ("irq:softirq_entry", "irq:softirq_exit", r"vec=(\d+)"),
    "work": ("workqueue:workqueue_execute_start",
             "workqueue:workqueue_execute_end", r"work struct (0x[0-9a-f]+)"),
}
RAISE = {
    "softirq": "irq:softirq_raise",
    "work": "workqueue:workqueue_activate_work",
}


def right_kwork(c, kind):
    begin, end, pattern = KWORK[kind]
    open_, out = {}, []
    for e in c.of(begin, end):
        key = e.tid if kind == "work" else e.cpu, number(pattern, e)
        b = open_.pop(key, None)
        if e.name == begin:
            if b:
                out.append(Span(b, None, key))
            open_[key] = e
        else:
            out.append(Span(b, e, key))
    return out + [Span(b, None, k) for k, b in open_.items()]


def right_waits(c, kind):
    """From the first raise, or the queueing, to the start."""
    begin = {"softirq": "irq:softirq_raise",
             "work": "workqueue:workqueue_queue_work"}[kind]
    end, pattern = KWORK[kind][0], KWORK[kind][2].replace("struct ", "struct[ =]")
    open_, out = {}, []
    for e in c.of(begin, end):
        key = 0 if kind == "work" else e.cpu, number(pattern, e)
        b = open_.get(key)
        if e.name == begin and b and kind == "softirq":
            continue
        open_.pop(key, None)
        if e.name == begin:
            if b:
                out.append(Span(b, None, key))
            open_[key] = e
        else:
            out.append(Span(b, e, key))
    return out + [Span(b, None, k) for k, b in open_.items()]


def perf_kwork(c, kind, begin, end):
    """kwork ends what came last of the same id on the same CPU."""
    pattern = KWORK[kind][2]
    atoms, out = collections.defaultdict(list), []
    for e in c.of(begin, end, twice=True):
        key = number(pattern, e), e.cpu
        if NEWER and e.n in c.twice:
            continue
        if e.name == begin:
            atoms[key].append(e)
        elif atoms[key]:
            out.append(Span(atoms[key].pop(), e, key))
    return out


def kwork_names(c, kind):
    out = {}
    for e in c.of(*KWORK[kind][:2]):
        i = number(KWORK[kind][2], e)
        if kind == "softirq":
            out[i] = "(s)%s:%d" % (NAMED[i], i)
        elif kind == "work":
            out[i] = "(w)" + e.text.split()[-1]
        elif "name=" in e.text:
            out[i] = "%s:%d" % (e.text.split("name=")[1], i)
    return out


def check_kwork(c, kind, what, spans):
    word = {"work": "workqueue"}.get(kind, kind)
    theirs = []
    for line in perf(c.path, "kwork", "-k", word, what).split("\n"):
        col = [x.strip() for x in line.split("|")]
        if len(col) > 6 and col[1].isdigit():
            theirs.append((col[0], int(col[1]), int(col[3]),
                           float(col[2].split()[0]), float(col[4].split()[0]),
                           float(col[5].split()[0]), float(col[6].split()[0])))
    names = kwork_names(c, kind)
    groups = collections.defaultdict(list)
    for s in spans:
        groups[s.key].append((s.begin.time, s.end.time))
    model = [(names[i], cpu) + sums(v) for (i, cpu), v in groups.items()]

    def alike(row, m):
        total = m[3] / m[2] if what == "latency" else m[3]
        # a name is cut, its end may be overwritten, and it is that of the
        # symbols of this machine
        like = len(os.path.commonprefix([row[0], m[0]])) >= min(12, len(m[0]))
        return ((like or "(w)0x" in (row[0][:5], m[0][:5])) and row[1:3] == m[1:3]
                and abs(row[3] - total / 1e6) <= 0.000502
                and near(row[4], m[4]) and when(row[5], m[5])
                and when(row[6], m[6]))

    check_rows("%s: rows of perf kwork %s of %s are the sums of what it counts"
               % (c.name, what, kind), theirs, model, alike)


def classes_kwork(c, right, theirs):
    theirs = {s.end.n: s for s in theirs}
    found = collections.Counter()
    for s in right:
        p = s.end and theirs.pop(s.end.n, None)
        if not s.end:
            found["open"] += 1
        elif not s.begin:
            found["stale" if p else "orphan"] += 1
        elif p and began(p) == began(s):
            found["same"] += 1
        elif p:
            found["stale"] += 1
        else:
            found["moved" if s.begin.cpu != s.end.cpu else "else"] += 1
    twice = sum(1 for n in theirs if n in c.twice)
    found["twice"] += twice
    found["else"] += len(theirs) - twice
    return found


def classes_waits(c, kind, right, theirs):
    theirs = {s.end.n: s for s in theirs}
    pattern = KWORK[kind][2]
    raised = collections.defaultdict(list)
    for e in c.of(RAISE[kind]):
        raised[number(pattern, e)].append(e)
    found = collections.Counter()
    for s in right:
        p = s.end and theirs.pop(s.end.n, None)
        if not s.end:
            found["open"] += 1
        elif not s.begin:
            found["late" if p else "orphan"] += 1
        else:
            mine = [e for e in raised[number(pattern, s.end)]
                    if s.begin.n <= e.n < s.end.n
                    and (kind == "work" or e.cpu == s.end.cpu)]
            if not p:
                found["moved" if all(e.cpu != s.end.cpu for e in mine)
                      else "else"] += 1
            elif p.begin.n < s.begin.n:
                found["stale"] += 1
            elif len(mine) == 1 and began(p) == mine[0].time:
                found["same"] += 1
            elif mine and began(p) == mine[-1].time:
                found["again"] += 1
            else:
                found["else"] += 1
    twice = sum(1 for n in theirs if n in c.twice)
    found["twice"] += twice
    found["else"] += len(theirs) - twice
    return found


# ---- locks


def right_locks(c):
    open_, out = {}, []
    for e in c.of("lock:contention_begin", "lock:contention_end"):
        key = e.tid, number(r"(0x[0-9a-f]+)", e), e.cpu if not e.tid else 0
        if not e.name.endswith("begin"):
            out.append(Span(open_.pop(key, None), e, key))
        elif key not in open_:
            open_[key] = e
        elif "SPIN" in e.text or "MUTEX" not in e.text:
            # a mutex alone begins a second time, when its thread goes to sleep
            out.append(Span(open_[key], None, key))
            open_[key] = e
    return out + [Span(b, None, k) for k, b in open_.items()]


def perf_locks(c):
    """A lock of a thread; all idle threads are one."""
    open_, out = {}, []
    for e in c.of("lock:contention_begin", "lock:contention_end", twice=True):
        key = e.tid, number(r"(0x[0-9a-f]+)", e)
        if e.name.endswith("begin"):
            open_.setdefault(key, e)
        elif key in open_:
            out.append(Span(open_.pop(key), e, key))
    return out + [Span(b, None, k) for k, b in open_.items()]


def lock_time(ns):
    """As perf does, by numbers of 32 bits."""
    def short(x):
        return struct.unpack("f", struct.pack("f", x))[0]
    for size, unit in ((3600 * 10**9, "h"), (60 * 10**9, "m"), (10**9, "s"),
                       (10**6, "ms"), (10**3, "us")):
        if ns >= size:
            return "%.2f %s" % (short(short(ns) / short(size)), unit)
    return "%d ns" % ns


def check_locks(c):
    theirs = []
    for line in perf(c.path, "lock", "contention", "-t").split("\n"):
        m = re.match(r"^ +(\d+) +([\d.]+ +\w+) +([\d.]+ +\w+) +([\d.]+ +\w+) "
                     r"+(-?\d+)   ", line)
        if m:
            theirs.append((int(m[5]), int(m[1]), *(
                " ".join(m[i].split()) for i in (2, 3, 4))))
    groups = collections.defaultdict(list)
    for s in perf_locks(c):
        groups[s.key[0]].append(s)
    model = []
    for tid, spans in groups.items():
        whole = [s.end.time - s.begin.time for s in spans if s.end]
        model.append((tid, len(spans), lock_time(sum(whole)),
                      lock_time(max(whole, default=0)),
                      lock_time(sum(whole) // max(len(whole), 1))))
    check_rows(c.name + ": rows of perf lock contention -t are the sums of what "
               "it counts", theirs, model, lambda a, b: a == b)


def classes_locks(c, right):
    theirs = {s.end.n: s for s in perf_locks(c) if s.end}
    found = collections.Counter()
    for s in right:
        p = s.end and theirs.pop(s.end.n, None)
        if not s.end:
            found["open"] += 1
        elif not s.begin:
            found["else" if p else "orphan"] += 1
        else:
            found["same" if p and began(p) == began(s) else "else"] += 1
    twice = sum(1 for n in theirs if n in c.twice)
    found["twice"] += twice
    found["else"] += len(theirs) - twice
    return found


# ---- the scheduler


def perf_wakes(c):
    """tid -> (begin, end, what began it)"""
    wakes = "sched:sched_wakeup_new", "sched:sched_wakeup"
    # perf 6.12 takes them in place of wake-ups if there are any
    if NEWER and "sched:sched_waking" in c.names:
        wakes = "sched:sched_wakeup_new", "sched:sched_waking"
    atoms, out = {}, collections.defaultdict(list)
    for e in c.events:
        pid = number(r" pid=(-?\d+)", e)
        if e.name == "sched:sched_switch":
            prev = number(r"prev_pid=(\d+)", e)
            state = re.search(r"prev_state=(\S+)", e.text)[1]
            # perf 6.1 has no letter for R+, and reads one behind its table
            atoms[prev] = (["ready", e, "yield"] if state == "R" else
                           ["ready", e, "R+"] if NEWER and state == "R+" else
                           ["asleep", e, None])
            nxt = number(r"next_pid=(\d+)", e)
            a = atoms.setdefault(nxt, ["ready", e, "first"])
            if a[0] == "ready":
                out[nxt].append((a[1], e, a[2]))
                a[0] = "on"
        elif e.name == "sched:sched_stat_runtime":
            atoms.setdefault(pid, ["ready", e, "first"])
        elif e.name in wakes:
            a = atoms.setdefault(pid, ["asleep", e, None])
            if a[0] == "asleep":
                atoms[pid] = ["ready", e,
                              "new" if e.name.endswith("new") else "wake"]
    return out


def silent_times(c):
    """When a thread came to a CPU without a switch."""
    current, out = {}, []
    for e in c.events:
        time, tid = current.get(e.cpu, (0, e.tid))
        if tid != e.tid:
            out.append((time, e.time))
        current[e.cpu] = e.time, (number(r"next_pid=(\d+)", e)
                                  if e.name == "sched:sched_switch" else e.tid)
    return out


def check_sched(c):
    theirs = []
    for line in perf(c.path, "sched", "latency", "-p").split("\n"):
        m = re.match(r"^  (.+):(\d+) +\| .* ms \| +(\d+) \| avg: *([\d.]+) ms \| "
                     r"max: *([\d.]+) ms \| max start: *([\d.]+) s \| "
                     r"max end: *([\d.]+) s", line)
        if m:
            theirs.append((int(m[2]), int(m[3]), *(
                float(m[i]) for i in (4, 5, 6, 7))))
    model = [(tid,) + sums((b.time, e.time) for b, e, _ in v)
             for tid, v in perf_wakes(c).items() if tid]
    check_rows(c.name + ": rows of perf sched latency are the sums of what it "
               "counts", theirs, model, lambda a, m: a[:2] == m[:2]
               and near(a[2], m[2] / m[1]) and near(a[3], m[3])
               and when(a[4], m[4]) and when(a[5], m[5]))


# ---- ours


def ours(c, kind):
    text = common.must("query", "--format", "csv", c.db,
                       "SELECT t0, t1, tid, cpu, name, key, verdict, reason "
                       "FROM interval WHERE kind = '%s'" % kind)
    out = []
    for r in csv.DictReader(io.StringIO(text)):
        for k in ("t0", "t1", "tid", "cpu", "key"):
            r[k] = int(r[k]) if r[k] else None
        out.append(r)
    return out


def check_report(c, kind, rows):
    """The rows of the report are the sums of the table."""
    bad = []
    for by in "name", "tid":
        r = json.loads(common.must("report", "--latency", kind, "--by", by,
                                   "--json", "--limit", "0", c.db))
        lengths = collections.defaultdict(list)
        for i in rows:
            if i["verdict"] == "proved":
                lengths[i["name"] if by == "name" else str(i["tid"])].append(
                    i["t1"] - i["t0"])
        want, have = {}, {}
        for key, v in lengths.items():
            v.sort()
            want.update({(key, "count"): len(v), (key, "total_ns"): sum(v),
                         (key, "max_ns"): v[-1]})
            for p in 50, 90, 99:
                want[key, "p%d_ns" % p] = v[-(-len(v) * p // 100) - 1]
        for i in r["rows"]:
            for k in ("count", "total_ns", "max_ns", "p50_ns", "p90_ns", "p99_ns"):
                have[i["name"] if by == "name"
                     else i["name"].split("/")[-1], k] = i[k]
        bad += common.unlike({k: v for k, v in want.items() if v},
                             {k: v for k, v in have.items() if v > 0}, 0)
    common.ok(not bad, "%s: rows of latency %s are those of the table"
              % (c.name, kind), bad[:12])


def check_ours(c, kind, right, rows, found, by_cpu=False, first=False,
               silent=lambda s: False):
    """Each of the right intervals is ours, with the right verdict."""
    have = collections.defaultdict(list)
    for r in rows:
        have[r["t0"], r["t1"], r["tid"]].append(r)
    quiet = ("consistent", "silent"), ("consistent", "loss")
    silences = silent_times(c) * ("sched:sched_switch" in c.names) + [
        (r["t0"] or 0, r["t1"] or 1 << 62) for r in json.loads(common.must(
            "query", "--format", "json", c.db, "SELECT t0, t1 FROM loss "
            "WHERE what = 'silent'"))["rows"]]
    seen, bad = {}, []
    for s in right:
        at = s.begin or s.end
        last, seen[s.key] = seen.get(s.key, 0), (s.end or s.begin).time
        key = (s.begin and s.begin.time, s.end and s.end.time, at.tid)
        if not have.get(key):
            if not silent(s):
                bad.append("not ours: %s" % (key,))
            continue
        if silent(s):
            bad.append("ours, and should not be: %s" % (key,))
        r = have[key].pop()
        if not (s.begin and s.end):
            if r["verdict"] in ("proved", "consistent"):
                bad.append("%s of half a pair: %s" % (r["verdict"], key))
            continue
        cpu = s.begin.cpu if by_cpu else None
        on, off = c.on(cpu)
        # one that may begin several times before it ends
        since = last if first else s.begin.time
        want = []
        if c.missing(s.begin.time, s.end.time, cpu) >= 2 or (
                since < s.begin.time
                and c.missing(since, s.begin.time, cpu)):
            want.append(("consistent", "loss"))
        if min(since, s.begin.time) < on or s.end.time > off:
            want.append(("consistent", "start"))
        if not want and (r["verdict"], r["reason"]) in quiet and any(
                t0 < s.end.time and t1 > since for t0, t1 in silences):
            found["silent"] += 1
            continue
        found["doubt" if len(want) == 1 else "edge"] += len(want) > 0
        if (r["verdict"], r["reason"]) not in (want or [("proved", "")]):
            bad.append("%s: %s %s, not %s" % (
                key, r["verdict"], r["reason"], want))
    bad += ["ours only: %s" % (k,) for k, v in have.items() if v]
    common.ok(not bad and right, "%s: each %s is one of the events" % (
        c.name, kind), bad[:12])


def compare_calls(c, found):
    rows = ours(c, "syscall")
    table = {}
    for r in rows:
        table[r["key"]] = r["name"]
    names = call_names()
    right, execs = right_calls(c, names)
    check_trace(c, names)
    check_ours(c, "syscall", right, rows, found, silent=lambda s: (
        not s.end and names(number(r"NR (-?\d+)", s.begin)) in (
            "exit", "exit_group")) or (
        not s.begin and names(number(r"NR (-?\d+)", s.end)) in CLONES
        and number(r"= (-?\w+)", s.end) == 0))
    check_report(c, "syscall", rows)
    found.update(classes_calls(c, right, execs, names))


def call_names():
    """The numbers of this machine, from the header of its C library."""
    text = common.output("gcc", "-E", "-dM", "-include", "sys/syscall.h",
                         "-x", "c", "/dev/null")
    table = {int(n): name for name, n in re.findall(
        r"#define __NR_(\w+) (\d+)$", text, re.M)}
    return lambda n: table.get(n, "NR %s" % n)


def compare_kwork(c, kind, found):
    begin, end, _ = KWORK[kind]
    rows, right = ours(c, kind), right_kwork(c, kind)
    theirs = perf_kwork(c, kind, begin, end)
    check_kwork(c, kind, "report", theirs)
    check_ours(c, kind, right, rows, found, by_cpu=kind != "work")
    check_report(c, kind, rows)
    found.update(classes_kwork(c, right, theirs))


def compare_waits(c, kind, found):
    rows, right = ours(c, kind + "-wait"), right_waits(c, kind)
    theirs = perf_kwork(c, kind, RAISE[kind], KWORK[kind][0])
    check_kwork(c, kind, "latency", theirs)
    check_ours(c, kind + "-wait", right, rows, found, by_cpu=kind != "work",
               first=kind != "work")
    check_report(c, kind + "-wait", rows)
    found.update(classes_waits(c, kind, right, theirs))


def compare_locks(c, found):
    rows, right = ours(c, "lock"), right_locks(c)
    check_locks(c)
    check_ours(c, "lock", right, rows, found)
    check_report(c, "lock", rows)
    found.update(classes_locks(c, right))


def compare_sched(c, found):
    check_sched(c)
    r = json.loads(common.must("report", "--latency", "wake-up", "--json",
                               "--worst", "1000000", c.db))
    mine = {(i["tid"], i["end_ns"]): i["begin_ns"] for i in r["worst"]
            if i["tid"]}
    common.ok(len(mine) == sum(1 for i in r["worst"] if i["tid"]),
              c.name + ": no thread is ready twice at a time")
    on, off = c.on()
    silent = silent_times(c)
    begins = collections.defaultdict(dict)
    for e in c.events:
        if e.name == "sched:sched_switch":
            tid = number(r"prev_pid=(\d+)", e)
            begins[tid][e.time] = re.search(r"prev_state=(\S+)", e.text)[1]
        elif e.name in ("sched:sched_waking", "sched:sched_wakeup_new",
                        "sched:sched_wakeup"):
            begins[number(r" pid=(-?\d+)", e)][e.time] = e.name.split(":")[1]
    for tid, spans in perf_wakes(c).items():
        for b, e, why in spans if tid else ():
            t0 = mine.pop((tid, e.time), None)
            if t0 is None:
                if why == "first":
                    found["first"] += 1
                    continue
                out = max((t for t, w in begins[tid].items() if t <= b.time
                           and not w.startswith("sched_")), default=None)
                since = b.time if out is None else out
                if since < on or e.time >= off:
                    found["edge"] += 1
                elif c.missing(since, e.time):
                    found["doubt"] += 1
                elif any(t0 < e.time and t1 > since for t0, t1 in silent):
                    found["silent"] += 1
                else:
                    found["unproved" if out else "unseen"] += 1
            elif t0 == b.time:
                found["waking" if b.name == "sched:sched_waking" else why] += 1
            elif why == "wake" and begins[tid].get(t0) == "sched_waking":
                found["waking"] += 1
            elif why == "wake" and begins[tid].get(t0, "-") in "SDI" and (
                    max(t for t in begins[tid] if t < t0
                        and begins[tid][t] != "sched_wakeup") in (
                            t for t, w in begins[tid].items()
                            if w == "sched_waking")):
                found["crossed"] += 1
            else:
                found["else"] += 1
    for (tid, _), t0 in mine.items():
        found["R+" if begins[tid].get(t0) == "R+" else "else"] += 1


KINDS = {
    "syscall": ("raw_syscalls:sys_exit", compare_calls),
    "irq": (KWORK["irq"][1], lambda c, f: compare_kwork(c, "irq", f)),
    "softirq": (KWORK["softirq"][1], lambda c, f: compare_kwork(c, "softirq", f)),
    "work": (KWORK["work"][1], lambda c, f: compare_kwork(c, "work", f)),
    "softirq-wait": (RAISE["softirq"],
                     lambda c, f: compare_waits(c, "softirq", f)),
    "work-wait": (RAISE["work"], lambda c, f: compare_waits(c, "work", f)),
    "lock": ("lock:contention_end", compare_locks),
    "wake-up": ("sched:sched_switch", compare_sched),
}


def compare(path, name, folder):
    """The classes of each kind that the capture has."""
    db = os.path.join(folder, "perf.db")
    common.must("ingest", "-qf", "--no-symbols", "-o", db, path, allowed=(0, 3))
    c = Capture(path, db)
    c.name = name
    found = {}
    for kind, (event, function) in KINDS.items():
        if event in c.names:
            count = collections.Counter()
            function(c, count)
            found[kind] = {k: v for k, v in count.items() if v}
    return found


def stored():
    """(name, path) of the captures that have pairs."""
    for name in "calls", "disk-irqs", "locks":
        yield name, os.path.join(common.HERE, name + ".data.zst")
    folder = os.path.join(common.ROOT, "tests/causality/captures")
    for file in sorted(os.listdir(folder)):
        if file.endswith(".data.zst"):
            yield "causality/" + file.split(".")[0], os.path.join(folder, file)
    for name in "lost", "tp-sched", "tp-syscalls":
        path = os.path.join(common.SHARED, "captures/perf", name, "perf.data")
        if common.SHARED and os.path.exists(path):
            yield "perf/" + name, path


def main():
    if subprocess.run(["perf", "--version"], capture_output=True,
                      check=False).returncode:
        print("skip latency: no perf")
        return
    show, names = common.asked()
    use(os.environ.get("LATENCY_PERF", "perf"))
    want = collections.defaultdict(dict)
    for file in ["expect-latency.txt"] + NEWER * ["expect-latency-newer.txt"]:
        for name, kind, word, n in common.table(file, 4):
            want[name][kind, word] = int(n)
    for name, path in stored():
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = compare(common.plain(path, folder), name, folder)
        count = {(kind, word): n for kind, words in found.items()
                 for word, n in words.items()}
        if show:
            for (kind, word), n in sorted(count.items()):
                print("%-20s %-12s %-9s %d" % (name, kind, word, n))
        else:
            common.known_classes(name, count, want[name])


if __name__ == "__main__":
    main()
    common.finish()

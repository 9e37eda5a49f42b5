# rules.py - which events of a complete recording belong together, by the kernel.
"""Each function takes the events of a text, in order, and returns
[(begin, end, whose)]: intervals that are certain if no record is missing. whose
is a thread, a CPU or an address, of which there is one such interval at a time.
It shares no code with backstitch, and reads what perf script and the kernel's own
text say. The functions of the kernel are named with analyze/latency/pair_kinds.c."""

import collections
import re

Event = collections.namedtuple("Event", "time cpu tid name args")
PERF = re.compile(r"\s*(-?\d+) \[(\d+)\]\s+(\d+)\.(\d{9}):\s+\w+:(\w+): ?(.*)")
FTRACE = re.compile(r".*?-(\d+)\s+\[(\d+)\] \S+\s+(\d+)\.(\d{6}): (\w+): ?(.*)")
BLOCK = re.compile(r"(\d+,\d+) (\w+) (?:(\d+) )?\([^)]*\) (\d+) \+ (\d+)")


def events_of(lines, form, unit):
    for line in lines:
        m = form.match(line)
        if m:
            tid, cpu, seconds, rest, name, args = m.groups()
            yield Event((int(seconds) * 10**9 + int(rest) * unit), int(cpu),
                        int(tid), name, args)


def once(events):
    """In guests with Linux 6.18 perf 6.1 writes records of some tasks twice, and
    prints some late."""
    out = []
    for e in sorted(events, key=lambda e: e[:2]):
        if not out or out[-1] != e:
            out.append(e)
    return out


def value(args, name):
    return re.search(r"\b%s[= ](\S+)" % name, args)[1]


def number(args, name):
    text = value(args, name).rstrip(":")
    n = int(text, 16 if re.match("0x|[0-9a-f]{16}", text) else 10)
    return n - (n >> 63 << 64)


def syscall(events):
    """A thread has one call at a time; rt_sigreturn's exit has -1, and an exec
    returns in the first thread of the process, with the exec's own event."""
    begun, out, by_exec = {}, [], {}
    for e in events:
        if e.name == "sys_enter":
            begun[e.tid] = e.time, int(e.args.split()[1]), e.tid
        elif e.name == "sched_process_exec":
            old = number(e.args, "old_pid")
            if old != e.tid and old in begun:
                begun[e.tid] = begun.pop(old)
        elif e.name == "sys_exit" and e.tid in begun:
            time, nr, tid = begun.pop(e.tid)
            if int(e.args.split()[1]) in (nr, -1 if nr == 15 else nr):
                out.append((time, e.time, tid))
    return out


def trace_summary(events):
    """Number of calls that `perf trace -s` prints: an exit without an enter is
    one, of children and of what began before; that of rt_sigreturn is none."""
    begun, n = {}, 0
    for e in events:
        if e.name == "sys_enter":
            begun[e.tid] = int(e.args.split()[1])
        elif e.name == "sched_process_exec":
            begun.pop(number(e.args, "old_pid"), None)
            begun[e.tid] = 59
        elif e.name == "sys_exit":
            n += begun.pop(e.tid, 0) != 15
    return n


def kwork(events):
    """Number of works that `perf kwork` prints: it knows them by CPU, so that a
    worker that moves has none, and the end of the next one ends it."""
    begun, n = set(), 0
    for e in events:
        if e.name in ("workqueue_execute_start", "workqueue_execute_end"):
            at = e.cpu, number(e.args, "struct")
            if e.name.endswith("start"):
                begun.add(at)
            elif at in begun:
                begun.remove(at)
                n += 1
    return n


def on_a_cpu(begin, end, key, again=False):
    """again: a begin that follows another is none."""
    def pairs(events):
        begun, out = {}, []
        for e in events:
            if e.name == begin:
                at = e.cpu, value(e.args, key)
                if not again or at not in begun:
                    begun[at] = e.time
            elif e.name == end:
                time = begun.pop((e.cpu, value(e.args, key)), None)
                if time is not None:
                    out.append((time, e.time, e.cpu))
        return out
    return pairs


def in_a_thread(begin, end):
    def pairs(events):
        begun, out = {}, []
        for e in events:
            if e.name == begin:
                begun[e.tid] = e.time
            elif e.name == end and e.tid in begun:
                out.append((begun.pop(e.tid), e.time, e.tid))
        return out
    return pairs


def lock(events):
    """The first begin of a lock in a thread begins it."""
    begun, out = {}, []
    for e in events:
        if e.name == "contention_begin":
            begun.setdefault((e.tid, e.args.split()[0]), e.time)
        elif e.name == "contention_end":
            time = begun.pop((e.tid, e.args.split()[0]), None)
            if time is not None:
                out.append((time, e.time, e.tid))
    return out


def work(events):
    begun, out = {}, []
    for e in events:
        if e.name == "workqueue_execute_start":
            begun[e.tid] = e.time, number(e.args, "struct")
        elif e.name == "workqueue_execute_end" and e.tid in begun:
            time, key = begun.pop(e.tid)
            if number(e.args, "struct") == key:
                out.append((time, e.time, e.tid))
    return out


def work_waits(begin):
    """PENDING is cleared just before the start is traced: of one that is queued
    twice either may be the one that starts, and is left out."""
    def pairs(events):
        begun, twice, out = {}, set(), []
        for e in events:
            if e.name == begin:
                key = number(e.args, "struct")
                if key in begun:
                    twice.add(key)
                begun[key] = e.time
            elif e.name == "workqueue_execute_start":
                key = number(e.args, "struct")
                time = begun.pop(key, None)
                if time is not None and key not in twice:
                    out.append((time, e.time, key))
                twice.discard(key)
        return out
    return pairs


def timer_waits(events):
    """The last start before it expires, and no cancel but that of expiring."""
    begun, out = {}, []
    for e in events:
        if not re.fullmatch("(hr)?timer_(start|expire_entry)", e.name):
            continue
        key = number(e.args, "hrtimer" if e.name[0] == "h" else "timer")
        if e.name.endswith("start"):
            begun[key] = e.time
        elif key in begun:
            out.append((begun.pop(key), e.time, key))
    return out


class Requests:
    """Requests of disks: several of one key are not certain. total: of all, in
    whatever order they end."""

    def __init__(self, events, begin, end, whole):
        self.open, self.out, self.n, self.total = {}, [], 0, 0
        self.whole = whole
        cancel = "block_rq_requeue" if whole else "block_rq_merge"
        for e in events:
            if e.name not in (begin, end, cancel):
                continue
            dev, op, _, sector, n = BLOCK.match(e.args).groups()
            op = op[1] if op[0] == "F" and op[1] in "RWDNZ" else op[0]
            key = dev, op, int(sector) % (1 << 64) % ((1 << 64) - 1)
            if e.name == begin:
                self.begin(e, key, int(n))
            elif e.name == end and (int(n) or op not in "RWD"):
                self.end(e, key, int(n))
            elif e.name == cancel and self.open.get(key):
                for r in self.open[key]:
                    r["alone"] = False
                self.open[key].pop()

    def begin(self, e, key, n):
        same = self.open.setdefault(key, [])
        if not self.whole:
            del same[:]  # the first was merged
        same.append({"time": e.time, "rest": n, "alone": True})
        if len(same) > 1:
            for r in same:
                r["alone"] = False

    def end(self, e, key, n):
        same = self.open.get(key)
        if not same:
            return
        # one whose end has no record is not taken for another's rest
        r = same.pop(next((i for i, r in enumerate(same) if r["rest"] == n), 0))
        if self.whole and n < r["rest"]:
            r["rest"] -= n
            dev, op, sector = key
            self.open.setdefault((dev, op, sector + n), []).append(r)
            return
        self.n += 1
        self.total += e.time - r["time"]
        major, minor = key[0].split(",")
        if r["alone"] and n == r["rest"]:
            self.out.append((r["time"], e.time, int(major) << 20 | int(minor)))


def migration(events):
    """One that compacts for what it moves is in it twice."""
    begun, out = collections.defaultdict(list), []
    for e in events:
        if e.name == "mm_migrate_pages_start":
            begun[e.tid].append(e.time)
        elif e.name == "mm_migrate_pages" and begun[e.tid]:
            out.append((begun[e.tid].pop(), e.time, e.tid))
    return out


def slices(events):
    """B and E of a thread are inside of each other."""
    begun, out = collections.defaultdict(list), []
    for e in events:
        text = e.args.split(": ", 1)[-1]
        if e.name == "tracing_mark_write" and text.startswith("B|"):
            begun[e.tid].append(e.time)
        elif e.name == "tracing_mark_write" and text.startswith("E") and \
                begun[e.tid]:
            out.append((begun[e.tid].pop(), e.time, e.tid))
    return out


def asyncs(events):
    begun, out = {}, []
    for e in events:
        if e.name != "tracing_mark_write":
            continue
        text = e.args.split(": ", 1)[-1]
        if text.startswith("S|"):
            begun[text[2:]] = e.time
        elif text.startswith("F|") and text[2:] in begun:
            out.append((begun.pop(text[2:]), e.time, int(text.split("|")[1])))
    return out


def either(*rules):
    return lambda events: sum((rule(events) for rule in rules), [])


def block(events):
    return Requests(events, "block_rq_issue", "block_rq_complete", True).out


def block_queue(events):
    return Requests(events, "block_rq_insert", "block_rq_issue", False).out


# kind: its rule, and whose its intervals are
KINDS = {
    "syscall": (syscall, "tid"),
    "irq": (on_a_cpu("irq_handler_entry", "irq_handler_exit", "irq"), "cpu"),
    "softirq": (on_a_cpu("softirq_entry", "softirq_exit", "vec"), "cpu"),
    "softirq-wait": (on_a_cpu("softirq_raise", "softirq_entry", "vec", True),
                     "cpu"),
    "block": (block, "key"),
    "block-queue": (block_queue, "key"),
    "work": (work, "tid"),
    "work-wait": (work_waits("workqueue_queue_work"), "key"),
    "work-ready": (work_waits("workqueue_activate_work"), "key"),
    "tasklet": (on_a_cpu("tasklet_entry", "tasklet_exit", "tasklet"), "cpu"),
    "timer": (either(on_a_cpu("timer_expire_entry", "timer_expire_exit", "timer"),
                     on_a_cpu("hrtimer_expire_entry", "hrtimer_expire_exit",
                              "hrtimer")), "cpu"),
    "timer-wait": (timer_waits, "key"),
    "lock": (lock, "tid"),
    "reclaim": (either(*(in_a_thread("mm_vmscan_%s_reclaim_begin" % how,
                                     "mm_vmscan_%s_reclaim_end" % how)
                         for how in ("direct", "memcg", "node"))), "tid"),
    "compaction": (in_a_thread("mm_compaction_begin", "mm_compaction_end"),
                   "tid"),
    "migration": (migration, "tid"),
    "slice": (slices, "tid"),
    "async": (asyncs, "key"),
}

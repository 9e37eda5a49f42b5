#!/usr/bin/env python3
# pairs.py - holds each proved interval of `latency` against what others say of the
# same recording.
"""usage: pairs.py --program BACKSTITCH [--count N] [--removed N] [--rounds N]
                [--seconds S] [--only LOAD,...] [--keep FOLDER]

Records real loads with perf and with ftrace, and compares. The truths, none of
which is ours, are in README.md; rules.py has the rules of the kernel. Prints a
row for each kind and recorder; ends with status 1 if anything proved is false.
Needs root. A load whose program is not installed is left out, with its reason."""

import argparse
import collections
import glob
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

import rules

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../causality"))
import lose  # noqa: E402
import perfdata  # noqa: E402

TRACING = "/sys/kernel/tracing"
RING = 64 << 20  # bytes of perf's ring of a CPU
CALLS = ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit",
         "sched:sched_process_exec"]
IRQS = ["irq:irq_handler_entry", "irq:irq_handler_exit", "irq:softirq_raise",
        "irq:softirq_entry", "irq:softirq_exit", "irq:tasklet_entry",
        "irq:tasklet_exit"]
TIMERS = ["timer:%s" % e for e in (
    "timer_start", "timer_cancel", "timer_expire_entry", "timer_expire_exit",
    "hrtimer_start", "hrtimer_cancel", "hrtimer_expire_entry",
    "hrtimer_expire_exit")]
WORKS = ["workqueue:workqueue_%s" % e for e in (
    "queue_work", "activate_work", "execute_start", "execute_end")]
BLOCKS = ["block:block_rq_%s" % e for e in (
    "insert", "issue", "complete", "requeue", "merge")]
LOCKS = ["lock:contention_begin", "lock:contention_end"]
MEMORY = ["vmscan:mm_vmscan_%s_reclaim_%s" % (how, end)
          for how in ("direct", "memcg", "node") for end in ("begin", "end")] + [
              "compaction:mm_compaction_begin", "compaction:mm_compaction_end",
              "migrate:mm_migrate_pages_start", "migrate:mm_migrate_pages"]
# name: events, and a command; a program of loads.c has a log
LOADS = {
    "servers": CALLS, "network": IRQS, "calls": CALLS, "compile": CALLS + IRQS,
    "locks": LOCKS,
    "timers": TIMERS + IRQS, "disk": BLOCKS, "queue": BLOCKS, "files": BLOCKS + WORKS + IRQS,
    "memory": MEMORY + WORKS, "marks": [], "terminals": WORKS, "reads": IRQS}


def run(*args, **kwargs):
    return subprocess.run(args, check=True, text=True, **kwargs)


def put(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


# ---- loads: each is a context in which a command runs

class Disk:
    """A loop device, and with --files a file system on it."""

    def __init__(self, folder, seconds, how):
        self.folder, self.seconds, self.how = folder, seconds, how
        self.image = os.path.join(folder, "image")
        self.mounted = os.path.join(folder, "mounted")

    def __enter__(self):
        run("truncate", "-s", "1G", self.image)
        self.loop = run("losetup", "-f", "--show", "--direct-io=on", self.image,
                        stdout=subprocess.PIPE).stdout.strip()
        put("/sys/block/%s/queue/scheduler" % os.path.basename(self.loop),
            "none" if self.how == "disk" else "mq-deadline")
        where = ["--filename=" + self.loop]
        if self.how == "files":
            run("mkfs.ext4", "-q", self.loop)
            os.makedirs(self.mounted, exist_ok=True)
            run("mount", self.loop, self.mounted)
            where = ["--directory=" + self.mounted, "--fsync=16",
                     "--nrfiles=4", "--buffered=1"]
        elif self.how == "disk":
            where += ["--direct=1", "--write_lat_log=fio", "--log_offset=1"]
        else:
            where += ["--direct=1", "--numjobs=2"]
        self.command = [
            "fio", "--name=fio", "--ioengine=libaio", "--iodepth=32",
            "--bs=4k", "--size=%s" % ("900M" if self.how == "disk" else "120M"),
            "--rw=%s" % ("rw" if self.how == "queue" else "randrw"),
            "--output=fio.out", "--runtime=%g" % self.seconds, *where]
        return self

    def __exit__(self, *_):
        if self.how == "files":
            run("umount", self.mounted)
        run("losetup", "-d", self.loop)
        os.unlink(self.image)


class Program:
    """A load of loads.c, in a cgroup with little memory if it needs that."""

    def __init__(self, folder, seconds, how):
        self.command = [os.path.join(folder, "loads"), how, "%g" % seconds, "log"]
        self.group = None
        if how == "compile":
            self.command = ["sh", "-c", (
                "end=$(($(date +%%s) + %d)); "
                "while [ $(date +%%s) -lt $end ]; do for f in %s/tests/unit/*.c; do "
                "cc -O1 -D_GNU_SOURCE -I%s -I%s/tests -fsyntax-only $f 2>/dev/null; "
                "[ $(date +%%s) -lt $end ] || break; done; done") % (
                    seconds, *3 * [os.path.join(HERE, "../..")])]
        if how == "memory":
            self.group = "/sys/fs/cgroup/memory/pairs-%d" % os.getpid()

    def __enter__(self):
        if self.group and os.path.isdir(os.path.dirname(self.group)) and \
                os.path.exists("/sys/fs/cgroup/memory/cgroup.procs"):
            os.mkdir(self.group)
            put(self.group + "/memory.limit_in_bytes", "64M")
            self.command = ["sh", "-c", 'echo $$ >%s/cgroup.procs; exec "$@"' %
                            self.group, "sh", *self.command]
        return self

    def __exit__(self, *_):
        if self.group and os.path.isdir(self.group):
            os.rmdir(self.group)


def load_of(name, folder, seconds):
    return (Disk if name in ("disk", "queue", "files") else Program)(
        folder, seconds, name)


# ---- recorders: each returns a capture, and the events of a text of it

def by_perf(folder, events, command, _):
    there = [e for e in events
             if os.path.isdir(TRACING + "/events/" + e.replace(":", "/"))]
    if not there:
        return None
    run("perf", "record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-m",
        "%dM" % (RING >> 20), "-o", "perf.data",
        *(x for e in there for x in ("-e", e)), "--", *command, cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    path = os.path.join(folder, "perf.data")
    with open(path + ".txt", "w", encoding="utf-8") as f:
        run("perf", "script", "--ns", "-F", "tid,cpu,time,event,trace", "-i",
            path, stdout=f, stderr=subprocess.DEVNULL)
    with open(path + ".txt", encoding="utf-8", errors="replace") as f:
        return path, list(rules.events_of(f, rules.PERF, 1))


def by_ftrace(folder, events, command, name):
    """Text is what the kernel prints of a ring, which is copied then as pages."""
    instance = TRACING + "/instances/pairs-%d" % os.getpid()
    out = os.path.join(folder, "pages")
    shutil.rmtree(out, ignore_errors=True)
    os.mkdir(instance)
    try:
        # it is on when it is made: begins would come before ends are on
        put(instance + "/tracing_on", "0")
        put(instance + "/trace_clock", "mono")
        put(instance + "/buffer_size_kb", str(96 << 10))
        if os.path.exists(instance + "/options/hash-ptr"):
            put(instance + "/options/hash-ptr", "0")
        for e in events:
            at = "events/" + e.replace(":", "/")
            if os.path.isdir(os.path.join(instance, at)):
                put(os.path.join(instance, at, "enable"), "1")
                os.makedirs(os.path.join(out, at))
                shutil.copyfile(os.path.join(instance, at, "format"),
                                os.path.join(out, at, "format"))
        if name == "marks":
            os.makedirs(out + "/events/ftrace/print")
            shutil.copyfile(TRACING + "/events/ftrace/print/format",
                            out + "/events/ftrace/print/format")
        put(instance + "/tracing_on", "1")
        run(*command, cwd=folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "MARKER": instance + "/trace_marker"})
        put(instance + "/tracing_on", "0")
        shutil.copyfile(instance + "/trace", out + ".txt")
        shutil.copyfile(TRACING + "/events/header_page", out + "/header_page")
        for name in ("osrelease", "arch"):
            if os.path.exists("/proc/sys/kernel/" + name):
                shutil.copyfile("/proc/sys/kernel/" + name, out + "/" + name)
        put(out + "/trace_clock", "local global counter uptime perf [mono]\n")
        for cpu in glob.glob(instance + "/per_cpu/cpu*"):
            at = out + "/per_cpu/" + os.path.basename(cpu)
            os.makedirs(at)
            shutil.copyfile(cpu + "/stats", at + "/stats")
            fd = os.open(cpu + "/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
            with open(at + "/trace_pipe_raw", "wb") as f:
                try:
                    while data := os.read(fd, 1 << 16):
                        f.write(data)
                except BlockingIOError:
                    pass
            os.close(fd)
    finally:
        os.rmdir(instance)
    with open(out + ".txt", encoding="utf-8", errors="replace") as f:
        return out, list(rules.events_of(f, rules.FTRACE, 1000))


RECORDERS = {"perf": by_perf, "ftrace": by_ftrace}


# ---- what backstitch says, and the comparison

def intervals(program, capture):
    """Returns the rows of all intervals, and whether records were lost."""
    db = capture + ".db"
    run(program, "ingest", "-q", "-f", "--no-symbols", "-o", db, capture,
        stderr=subprocess.DEVNULL)
    text = run(program, "query", "--format", "csv", db,
               "SELECT kind, verdict, t0, t1, tid, cpu, key, ns, premise, name "
               "FROM interval", stdout=subprocess.PIPE).stdout
    with sqlite3.connect(db) as con:
        lost = con.execute("SELECT count(*) FROM loss WHERE what <> 'filtered'"
                           ).fetchone()[0]
    return [line.split(",") for line in text.splitlines()[1:]], lost


class Row:
    def __init__(self):
        self.proved = self.false = self.wrong_if = self.true = self.unproved = 0
        self.sum = self.longest = self.true_sum = self.missed_sum = 0
        self.classes = collections.Counter()
        self.examples = []


def compare(row, kind, ours, truth, blur, keys=True):
    """Counts what is proved and not true. blur: a text has microseconds. keys: of
    what is known by one."""
    _, whose = rules.KINDS[kind]
    at = {"tid": 4, "cpu": 5, "key": 6}[whose]
    unknown = -1 if whose == "tid" else 0
    if whose == "key" and not keys:
        truth = [(t0, t1, unknown) for t0, t1, _ in truth]

    def near(t):
        return (t + 500) // 1000 * 1000 if blur else t
    left = collections.Counter(truth)
    for r in ours:
        if r[0] != kind:
            continue
        row.classes[r[1].strip('"')] += 1
        if r[1].strip('"') != "proved":
            continue
        t0, t1 = near(int(r[2])), near(int(r[3]))
        row.proved += 1
        row.sum += t1 - t0
        row.longest = max(row.longest, t1 - t0)
        it = t0, t1, int(r[at]) if r[at] and (whose != "key" or keys) else unknown
        if not left[it] or int(r[7]) != int(r[3]) - int(r[2]):
            # with a premise the sentence has said that it may be so
            row.false += not r[8]
            row.wrong_if += bool(r[8])
            row.classes["false if " + r[8].strip('"')] += bool(r[8])
            row.examples += [] if r[8] else [r]
        else:
            left[it] -= 1
    row.true += len(truth)
    row.unproved += sum(left.values())
    row.true_sum += sum(t1 - t0 for t0, t1, _ in truth)
    row.missed_sum += sum(n * (t1 - t0) for (t0, t1, _), n in left.items())


# ---- other programs, and programs' own logs

def by_log(folder, ours, kind):
    """Each call that a program logged has one proved interval of the kind in it,
    or, of locks, any number of them: each is in a call. Returns (compared,
    false)."""
    path = os.path.join(folder, "log")
    if not os.path.exists(path):
        return 0, 0
    calls = collections.defaultdict(list)
    with open(path, encoding="ascii") as f:
        for line in f:
            tid, _, before, after = map(int, line.split())
            calls[tid].append((before, after))
    inside = collections.defaultdict(list)
    for r in ours:
        if r[0] == kind and r[1] == "proved" and int(r[4] or 0) in calls:
            inside[int(r[4])].append((int(r[2]), int(r[3])))
    compared = false = 0
    for tid, found in inside.items():
        lines, i = sorted(calls[tid]), 0
        for t0, t1 in sorted(found):
            while i < len(lines) and lines[i][1] < t0:
                i += 1
            # what the log does not have begins between two of its calls
            if i < len(lines) and lines[i][0] <= t0:
                compared += 1
                false += t1 > lines[i][1]
    return compared, false


def by_fio(folder, ours, events):
    """fio's log: each block is read or written once. What the device took is less
    than what fio waited. Returns (compared, false)."""
    took, where, compared, false = {}, {}, 0, 0
    for path in glob.glob(os.path.join(folder, "fio_lat.*.log")):
        with open(path, encoding="ascii") as f:
            for line in f:
                _, ns, way, _, offset, *_ = map(int, line.split(","))
                took[offset // 512, "RW"[way]] = ns
    for e in events if took else ():
        m = rules.BLOCK.match(e.args) if e.name == "block_rq_issue" else None
        if m and m[1].startswith("7,"):
            where[e.time] = int(m[4]), m[2][0]
    for r in ours:
        at = where.get(int(r[2] or 0))
        # another disk's may begin in the same nanosecond
        if r[0] == "block" and r[1] == "proved" and at in took and \
                r[9].strip('"') == "7":
            compared += 1
            false += int(r[7]) > took[at]
    return compared, false


def lock_contention(path):
    """Number, total and longest, as perf rounds them."""
    text = run("perf", "lock", "contention", "-t", "-i", path,
               stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10}
    n = total = longest = 0
    for m in re.finditer(r"^\s*(\d+)\s+([\d.]+) (\w+)\s+([\d.]+) (\w+)", text,
                         flags=re.M):
        n += int(m[1])
        total += float(m[2]) * unit[m[3]]
        longest = max(longest, float(m[4]) * unit[m[5]])
    return n, total, longest


def trace_summary(path):
    """Number, total and longest of the calls of perf trace -s."""
    text = run("perf", "trace", "-s", "-i", path, stdout=subprocess.PIPE,
               stderr=subprocess.STDOUT).stdout
    n = total = longest = 0
    for m in re.finditer(r"^   \w+\s+(\d+)\s+\d+\s+([\d.]+)\s+[\d.]+\s+[\d.]+\s+"
                         r"([\d.]+)", text, flags=re.M):
        n += int(m[1])
        total += float(m[2]) * 1e6
        longest = max(longest, float(m[3]) * 1e6)
    return n, total, longest


def kwork(kind):
    def summary(path):
        text = run("perf", "kwork", "-k", kind, "report", "-i", path,
                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        n = total = longest = 0
        for m in re.finditer(r"\|\s*([\d.]+) ms \|\s*(\d+) \|\s*([\d.]+) ms", text):
            n += int(m[2])
            total += float(m[1]) * 1e6
            longest = max(longest, float(m[3]) * 1e6)
        return n, total, longest
    return summary


OTHERS = {"syscall": ("perf trace -s", trace_summary),
          "lock": ("perf lock contention", lock_contention),
          "irq": ("perf kwork", kwork("irq")),
          "softirq": ("perf kwork", kwork("softirq")),
          "work": ("perf kwork", kwork("workqueue"))}
# how many these count
RULES = {"syscall": rules.trace_summary, "work": rules.kwork}


def sums(ours, kind):
    all_of = [int(r[7]) for r in ours if r[0] == kind and r[7]]
    return len(all_of), sum(all_of), max(all_of, default=0)


# ---- records removed

def of_ftrace(folder):
    """Returns the events of the last recording by ftrace, and what writes its text
    without some, with what its ring would tell of them."""
    with open(os.path.join(folder, "pages.txt"), encoding="utf-8",
              errors="replace") as f:
        lines = f.read().splitlines()
    head = [line for line in lines if line.startswith("#")]
    records = []
    for line in lines:
        events = list(rules.events_of([line], rules.FTRACE, 1000))
        if events:
            records.append((line, events[0]))

    def write(path, gone):
        said, waiting = list(head), collections.Counter()
        for i, (line, e) in enumerate(records):
            if i in gone:
                waiting[e.cpu] += 1
                continue
            if waiting[e.cpu]:
                said.append("CPU:%d [LOST %d EVENTS]" % (e.cpu, waiting.pop(e.cpu)))
            said.append(line)
        put(path, "\n".join(said) + "\n")
    return [e for _, e in records], write


def of_perf(folder):
    """The same of the last one by perf, whose records are taken out of perf.data."""
    path = os.path.join(folder, "perf.data")
    with open(path + ".txt", encoding="utf-8", errors="replace") as f:
        events = sorted(rules.events_of(f, rules.PERF, 1), key=lambda e: e[:2])
    with open(path, "rb") as f:
        data = perfdata.Samples(f.read())
    records = sorted(data.records, key=lambda s: s[:2])
    if [e[:2] for e in events] != [s[:2] for s in records]:
        return [], None
    return events, lambda to, gone: data.write(
        to, [(s, 0) for i, s in enumerate(records) if i not in gone])


OF = {"ftrace": of_ftrace, "perf": of_perf}


def remove(program, folder, how, rng, wanted, rows):
    """Takes wanted records out of the last recording, in as many turns as it
    takes."""
    out = os.path.join(folder, "less")
    events, write = OF[how](folder)
    if len(events) < 100:
        return 0
    each = rules.once(events) if how == "perf" else events
    truth = {kind: rule(each) for kind, (rule, _) in rules.KINDS.items()}
    ways, removed = sorted(lose.TABLE), 0
    while removed < wanted:
        gone, _ = lose.TABLE[rng.choice(ways)](rng, events)
        removed += len(gone)
        write(out, gone)
        ours, _ = intervals(program, out)
        for kind in {r[0] for r in ours}:
            compare(rows[kind + " " + how], kind, ours, truth[kind],
                    how == "ftrace", how == "perf")
    return removed


# ---- the table

def human(ns):
    for unit, n in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= n:
            return "%.2f %s" % (ns / n, unit)
    return "%d ns" % ns


def print_table(title, rows):
    print("\n%s\n%-18s %9s %6s %6s %9s %7s %10s %10s %10s  %s" % (
        title, "kind", "proved", "false", "if", "certain", "share", "total", "average",
        "longest", "not proved"))
    for name, r in sorted(rows.items()):
        if not r.true and not r.proved:
            continue
        same = r.sum == r.true_sum - r.missed_sum
        print("%-18s %9d %6d %6d %9d %6.2f%% %10s %10s %10s%s  %s" % (
            name, r.proved, r.false, r.wrong_if, r.true,
            100 * (r.true - r.unproved) / max(r.true, 1), human(r.sum),
            human(r.sum / max(r.proved, 1)), human(r.longest),
            " " if same else "!", ", ".join(
                "%d %s" % (n, c) for c, n in sorted(r.classes.items())
                if n and c != "proved")))
        for e in r.examples[:3]:
            print("    false: %s" % ",".join(e))


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--program", required=True)
    p.add_argument("--count", type=int, default=5000)
    p.add_argument("--removed", type=int, default=10000)
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--seconds", type=float, default=0.3)
    p.add_argument("--only", default=",".join(LOADS))
    p.add_argument("--recorders", default=",".join(RECORDERS))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep")
    a = p.parse_args()
    if os.geteuid() or not os.path.isdir(TRACING + "/instances"):
        print("skip pairs: needs root and tracefs")
        return 0
    folder = os.path.abspath(a.keep or tempfile.mkdtemp(prefix="pairs-"))
    os.makedirs(folder, exist_ok=True)
    program = shutil.copy(a.program, os.path.join(folder, "backstitch"))
    rng = random.Random(a.seed)
    rows, less = (collections.defaultdict(Row) for _ in range(2))
    said, logs, removed = [], [], 0
    try:
        run("cc", "-D_GNU_SOURCE", "-O1", "-o", os.path.join(folder, "loads"),
            os.path.join(HERE, "loads.c"), "-lpthread")
        for name in a.only.split(","):
            if name in ("disk", "queue", "files") and not shutil.which("fio"):
                print("left out: %s, as fio is not installed" % name)
                continue
            for how in a.recorders.split(","):
                got = None
                for turn in range(a.rounds):
                    started = time.time()
                    for f in glob.glob(folder + "/fio_*.log") + [folder + "/log"]:
                        if os.path.exists(f):
                            os.unlink(f)
                    try:
                        with load_of(name, folder, a.seconds) as load:
                            got = RECORDERS[how](folder, LOADS[name], load.command,
                                                 name)
                    except subprocess.CalledProcessError as e:
                        # perf 6.1 aborts now and then
                        print("not recorded: %s by %s: %s" % (name, how, e.returncode))
                        continue
                    if not got:
                        break
                    path, events = got
                    ours, lost = intervals(program, path)
                    counts = collections.Counter(r[0] for r in ours if r[1] == "proved")
                    each = rules.once(events) if how == "perf" else events
                    for kind in {r[0] for r in ours}:
                        rule, _ = rules.KINDS[kind]
                        compare(rows[kind + " " + how], kind, ours, rule(each),
                                how == "ftrace")
                    for kind in ("syscall", "lock"):
                        n, false = by_log(folder, ours, kind)
                        if n:
                            logs.append((name, how, kind, n, false))
                    n, false = by_fio(folder, ours, events) if how == "perf" else (0, 0)
                    if n:
                        logs.append((name, how, "fio's own", n, false))
                    if how == "perf":
                        for kind, (other, fn) in OTHERS.items():
                            if counts[kind]:
                                said.append((name, kind, other, sums(ours, kind), fn(path),
                                             RULES[kind](events)
                                             if kind in RULES else None))
                    print("%s %s %d: %d events, %d losses, %.0f s: %s" % (
                        name, how, turn, len(events), lost, time.time() - started,
                        dict(counts)), file=sys.stderr)
                    if all(rows["%s %s" % (k, how)].proved >= a.count
                           for k, n in counts.items() if 20 * n > a.count):
                        break
                if not a.removed or not got:
                    continue
                try:
                    with load_of(name, folder, 0.2) as load:
                        RECORDERS[how](folder, LOADS[name], load.command, name)
                except subprocess.CalledProcessError as e:
                    print("nothing removed: %s by %s: %s" % (name, how, e.returncode))
                    continue
                removed += remove(program, folder, how, rng,
                                  a.removed // len(LOADS), less)
    finally:
        if not a.keep:
            shutil.rmtree(folder)
    print_table("All records, each proved interval held against the rules of the "
                "kernel:", rows)
    print_table("%d records removed:" % removed, less)
    print("\nPrograms' own logs:")
    for row in logs:
        print("%-10s %-7s %-8s %9d in the log's calls, %d are not" % row)
    print("\nOther programs:")
    for name, kind, other, (n, total, longest), (n2, total2, longest2), its in said:
        print("%-10s %-8s %8d %10s %10s; %-20s %8d %10s %10s%s" % (
            name, kind, n, human(total), human(longest), other, n2,
            human(total2), human(longest2),
            "" if its is None else ", %d by its own rule" % its))
    false = sum(r.false for r in [*rows.values(), *less.values()]) + \
        sum(row[4] for row in logs)
    print("\n%d false" % false)
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())

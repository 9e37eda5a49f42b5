#!/usr/bin/env python3
# live.py - records workloads with recorders that pause, and holds what is called
# proved against the workloads' own logs.
"""usage: live.py --program BACKSTITCH --workloads PROGRAM [--count N] [--seed N]
               [--ways LIST] [--names LIST] [--each] [--keep FOLDER]

Needs root, perf and tracefs; by hand, not in CI. Each recording is of one
workload (a random one of --names), in one of these ways, which pause for 1 to 50
ms at random moments:

  perf      perf record -a; does not pause
  stacks    the same with stacks, and names of the kernel's functions
  addresses the same with stacks, without names
  irqs      the same with events of softirqs and disks, without stacks
  both      the same with stacks and names
  small     two pages for each CPU, and perf is stopped at random: records are lost
  cut       perf record -a, of which 15 % of the records are removed, in bursts
            of up to 8
  control   perf record --control, disable and enable
  delay     perf record -D
  ftrace    an instance of ftrace; does not pause
  firqs     the same with events of softirqs
  fstacks   the same with stacks
  fboth     the same with both
  fsmall    trace_pipe, whose reader is stopped at random, of 16 KB for each CPU
  fcut      ftrace, of which 15 % of the records are removed, in bursts of up to 8
  tracing   tracing_on 0 and 1
  events    events/sched/enable 0, and each event 1
  switch    events/sched/sched_switch/enable 0 and 1

--each: each of --names in each of --ways, with a row of its own.
--load: as many programs compute beside each recording.

False is a time in which a thread is said to be off all CPUs, proved, and of which
the thread itself logged a line: it ran; and a proved wake-up, the last one of a
wait of the log, that is not by who ends such waits (WAKERS), or, with events of softirqs, one in
a softirq that the thread did not raise (inline.py). With a premise ('proved with premise')
the sentence has said that recording must not have paused: counted apart, as is
what is only likely ('consistent'), times and wakers together. Prints a row for each way,
and for each workload, of the waits of its log, how many wakers are proved, likely
and not known, and how many of these are wrong. Ends with status 1 if anything is
false without a premise."""

import argparse
import bisect
import collections
import csv
import io
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import inline
import lose
import perfdata

EVENTS = ("sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new")
# Who ends the waits of a thread, by the names in the log; others are not asked.
WAKERS = {
    "taker": {"giver"}, "ping": {"pong"}, "pong": {"ping"},
    "receiver": {"sender"}, "parent": {"child"},
    "asker": {"hop5"}, "hop1": {"asker"}, "hop2": {"hop1"}, "hop3": {"hop2"},
    "hop4": {"hop3"}, "hop5": {"hop4"},
    "waiter": {"owner"}, "producer": {"consumer"}, "consumer": {"producer"},
    "client": {"server"}, "backend": {"server"},
    "server": {"client", "backend"},
    # no thread ends a read from the disk
    "direct": set(), "asks": {"answers"}}
# one signals the condition, all of them the mutex
WAKERS.update(("waiter%d" % i, {"signaler"} | {
    "waiter%d" % k for k in range(8)}) for i in range(8))
PERF = ("perf", "stacks", "addresses", "irqs", "both", "control", "delay",
        "small", "cut")
CUT = lose.share_of(0.15, 8, 1)
ALWAYS = 10**9  # times
SOFTIRQS = ("irq/softirq_entry", "irq/softirq_exit", "irq/softirq_raise",
            "block/block_rq_complete")
TRACING = "/sys/kernel/tracing"
NEAR = 1500     # ns between a record and the line of the log beside it


def put(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def pauses(rng, child, off, on, times=4):
    """Turns recording off and on while the workload runs."""
    n = 0
    while child.poll() is None and n < times:
        time.sleep(rng.uniform(0.005, 0.06))
        off()
        time.sleep(rng.uniform(0.001, 0.05))
        on()
        n += 1
    child.wait()


def stops(rng, child, reader):
    """Stops who reads the rings, so that they overflow."""
    pauses(rng, child, lambda: reader.send_signal(signal.SIGSTOP),
           lambda: reader.send_signal(signal.SIGCONT), ALWAYS)


def cut_perf(rng, path):
    with open(path, "rb") as f:
        s = perfdata.Samples(f.read())
    s.write(path, lose.keep(s.records, *CUT(rng, s.records)))


class Line:
    """A record of a text, and the lines of its stack."""
    type, current = "", 0

    def __init__(self, text, cpu):
        self.text, self.cpu = text, cpu


def cut_text(rng, path):
    head, records = [], []
    with open(path, encoding="utf-8") as f:
        for text in f:
            cpu = re.match(r" *\S.*?-\d+ +\[(\d+)\] ", text)
            if cpu:
                records.append(Line(text, int(cpu[1])))
            elif records:
                records[-1].text += text
            else:
                head.append(text)
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(head)
        for r, lost in lose.keep(records, *CUT(rng, records)):
            if lost:
                f.write("CPU:%d [LOST %d EVENTS]\n" % (r.cpu, lost))
            f.write(r.text)


def perf(rng, way, command, log, folder):
    data = folder + "/perf.data"
    # build-ids tell nothing here, and perf 6.1 aborts over long paths of them
    record = ["perf", "record", "-q", "-a", "-B", "-N", "-k", "CLOCK_MONOTONIC",
              "-o", data]
    for e in EVENTS:
        record += ["-e", "sched:" + e]
    for e in SOFTIRQS if way in ("irqs", "both") else ():
        record += ["-e", e.replace("/", ":")]
    if way in ("stacks", "addresses", "both"):
        record += ["-g"]
    if way == "delay":
        record += ["-D", "20"]
    if way == "small":
        record += ["-m", "2"]
    fifos = [folder + "/ctl", folder + "/ack"]
    if way == "control":
        for f in fifos:
            os.mkfifo(f)
        record += ["--control", "fifo:" + ",".join(fifos)]
    with open(log, "w", encoding="ascii") as out:
        with subprocess.Popen(record + ["--"] + command, stdout=out) as child:
            if way == "control":
                ctl, ack = (os.open(f, os.O_RDWR) for f in fifos)

                def say(word):
                    os.write(ctl, word + b"\n")
                    # perf may have ended meanwhile
                    if select.select([ack], [], [], 0.5)[0]:
                        os.read(ack, 16)

                pauses(rng, child, lambda: say(b"disable"),
                       lambda: say(b"enable"))
            elif way == "small":
                stops(rng, child, child)
    if way == "cut":
        cut_perf(rng, data)
    for f in fifos if way == "control" else []:
        os.remove(f)
    return data


def piped(rng, at, path, command, out):
    with open(path, "w", encoding="ascii") as f:
        f.write("# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   "
                "#P:%d\n#\n" % os.cpu_count())
        f.flush()
        with subprocess.Popen(["cat", at + "/trace_pipe"], stdout=f) as reader:
            with subprocess.Popen(command, stdout=out) as child:
                stops(rng, child, reader)
            put(at + "/tracing_on", "0")
            time.sleep(0.5)
            reader.kill()


def ftrace(rng, way, command, log, folder):
    at = "%s/instances/live%d" % (TRACING, os.getpid())
    data = folder + "/trace.txt"

    def each(value):
        for e in EVENTS:
            put("%s/events/sched/%s/enable" % (at, e), value)

    turn = {
        "tracing": (lambda: put(at + "/tracing_on", "0"),
                    lambda: put(at + "/tracing_on", "1")),
        "events": (lambda: put(at + "/events/sched/enable", "0"),
                   lambda: each("1")),
        "switch": (lambda: put(at + "/events/sched/sched_switch/enable", "0"),
                   lambda: put(at + "/events/sched/sched_switch/enable", "1")),
    }.get(way, (lambda: None, lambda: None))
    os.mkdir(at)
    try:
        put(at + "/trace_clock", "mono")
        put(at + "/buffer_size_kb", "16" if way == "fsmall" else "16384")
        each("1")
        for e in SOFTIRQS if way in ("firqs", "fboth") else ():
            put("%s/events/%s/enable" % (at, e), "1")
        if way in ("fstacks", "fboth"):
            put(at + "/options/stacktrace", "1")
        with open(log, "w", encoding="ascii") as out:
            if way == "fsmall":
                piped(rng, at, data, command, out)
                return data
            with subprocess.Popen(command, stdout=out) as child:
                pauses(rng, child, *turn)
        put(at + "/tracing_on", "0")
        with open(at + "/trace", encoding="utf-8", errors="replace") as trace:
            with open(data, "w", encoding="utf-8") as f:
                shutil.copyfileobj(trace, f)
    finally:
        os.rmdir(at)
    if way == "fcut":
        cut_text(rng, data)
    return data


def read_log(path):
    """Times of the lines of each thread; its names; (tid, from, to) of waits."""
    said = collections.defaultdict(list)
    names, begun, waits = collections.defaultdict(set), {}, []
    with open(path, encoding="ascii") as f:
        for line in sorted(f, key=lambda s: int(s.split()[0])):
            ns, tid, name, *what = line.split()
            tid = int(tid)
            said[tid].append(int(ns))
            names[tid].add(name)
            if what == ["begin", "wait"]:
                begun[tid] = int(ns)
            elif what == ["end", "wait"] and tid in begun:
                waits.append((tid, begun.pop(tid), int(ns)))
    return said, names, waits


def rows(program, db, sql):
    done = subprocess.run([program, "query", "--format", "csv", db, sql],
                          capture_output=True, text=True, check=False)
    return [] if done.returncode else list(csv.DictReader(io.StringIO(
        done.stdout)))


# The waits of these are uninterruptible. One of another program, for a lock of
# its address space or a page, is none of its log's: who ends that may be anyone.
DEEP = "direct", "vfork"


def judge_wakers(program, db, name, names, waits):
    """Returns (proof, 0, false) of the wake-ups that ended waits of the log, whose
    wakers are known there."""
    other = set() if name in DEEP else {
        r["event"] for r in rows(
            program, db, "SELECT k.event FROM wait w JOIN wake k ON k.id = w.wake "
            "WHERE w.state LIKE 'D%'")}
    asked = collections.defaultdict(list)
    for tid, start, end in waits:
        if any(n in WAKERS for n in names[tid]):
            asked[tid].append((start, end))
    woken = collections.defaultdict(list)
    for r in rows(program, db, "SELECT time_ns, event, tid, by_tid, proof FROM wake "
                  "WHERE time_ns NOT NULL AND tid IN (%s) ORDER BY time_ns" %
                  (",".join(map(str, asked)) or "0")):
        if r["event"] not in other:
            woken[int(r["tid"])].append((int(r["time_ns"]), r["by_tid"],
                                         r["proof"]))
    out = []
    for tid, spans in asked.items():
        for start, end in spans:
            last = [w for w in woken[tid] if start + NEAR < w[0] < end]
            # what is likely names no thread where it may be an interrupt's
            if not last or last[-1][2] == "unknown" or (
                    last[-1][2] == "consistent" and not last[-1][1]):
                out.append(("unknown", 0, False, tid, start, end))
                continue
            at, by, proof = last[-1]
            right = set().union(*(WAKERS.get(n, set())
                                  for n in names[tid]))
            false = not names.get(int(by), set()) & right if by else \
                bool(right)
            out.append((proof, 0, false, tid, start, at))
    return out


def judge(program, db, said):
    """Returns (proof, ns, false) of the threads of the log."""
    sql = ("SELECT tid, t0, t1, proof FROM state_interval WHERE tid IN (%s) "
           "AND state IN ('blocked', 'ready', 'off') AND proof <> 'unknown' "
           "AND t0 NOT NULL AND t1 NOT NULL" % ",".join(map(str, said)))
    out = []
    for r in rows(program, db, sql):
        t0, t1 = int(r["t0"]), int(r["t1"])
        times = said[int(r["tid"])]
        i = bisect.bisect_right(times, t0 + NEAR)
        out.append((r["proof"], t1 - t0,
                    i < len(times) and times[i] < t1 - NEAR, r["tid"], t0, t1))
    return out


def main():
    p = argparse.ArgumentParser(
        usage=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", required=True)
    p.add_argument("--workloads", required=True)
    p.add_argument("--count", type=int, default=10)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--rounds", default="150")
    p.add_argument("--ways", type=lambda s: s.split(","), default=[
        "control", "delay", "tracing", "events", "switch"])
    p.add_argument("--names", type=lambda s: s.split(","), default=[
        "chain", "lock", "cond", "queue", "timers", "sock", "fork", "signals",
        "pi", "herd", "futex", "sem", "barrier", "pair", "udp", "epoll",
        "vfork", "stop", "ptrace", "yield", "affinity", "rt", "direct"])
    p.add_argument("--each", action="store_true")
    p.add_argument("--load", type=int, default=0)
    p.add_argument("--keep")
    a = p.parse_args()
    rng = random.Random(a.seed)
    sums = collections.defaultdict(collections.Counter)
    kinds = collections.defaultdict(collections.Counter)
    load = [subprocess.Popen(["sh", "-c", "while :; do :; done"])
            for _ in range(a.load)]
    asked = [(w, n) for n in a.names for w in a.ways] if a.each else [
        (a.ways[n % len(a.ways)], rng.choice(a.names)) for n in range(a.count)]
    for n, (way, name) in enumerate(asked):
        folder = tempfile.mkdtemp()
        log, db = folder + "/log", folder + "/db"
        record = perf if way in PERF else ftrace
        data = record(rng, way, [a.workloads, name, a.rounds], log, folder)
        subprocess.run([a.program, "ingest", "-q", "-f", "--fields", "all"] +
                       ["--no-symbols"] * (way not in ("stacks", "both")) +
                       ["-o", db, data], check=False)
        s = sums[way + " " + name if a.each else way]
        s["recordings"] += 1
        bad = False
        said, names, waits = read_log(log)
        found = judge(a.program, db, said)
        ended = judge_wakers(a.program, db, name, names, waits)
        if way in ("irqs", "both", "firqs", "fboth"):
            wrong = [k for k in inline.judge_inline(a.program, db).elements()
                     if inline.is_false(k)]
            s["false"] += len(wrong)
            for k in wrong[:1]:
                print("FALSE: %s, %s: %d as %s" % (way, name, len(wrong), k))
        for proof, _, false, *_ in ended:
            kinds[name]["waits"] += 1
            kinds[name][proof.split()[0]] += 1
            kinds[name]["wrong " + proof.split()[0]] += false
        for proof, ns, false, *where in found + ended:
            if proof == "unknown":
                continue
            if proof == "consistent":
                s["likely"] += 1
                s["wrong"] += false
                continue
            s["wakers"] += not ns
            premise = proof != "proved"
            s["premise" if premise else "proved"] += ns
            s["unpremised"] += not premise
            s["false with premise" if premise else "false"] += false
            if false and not premise:
                bad = True
                print("FALSE: %s, %s: tid %s from %d to %d" % (way, name,
                                                               *where))
        if bad and a.keep:
            os.makedirs(a.keep, exist_ok=True)
            shutil.copytree(folder, "%s/%d-%s-%s" % (a.keep, n, way, name))
        shutil.rmtree(folder)
    for child in load:
        child.kill()
    print("%-16s %10s %12s %12s %7s %6s %18s %7s %6s" % (
        "way", "recordings", "proved ms", "premise ms", "wakers", "false",
        "false with premise", "likely", "wrong"))
    for way, s in sums.items():
        print("%-16s %10d %12.1f %12.1f %7d %6d %18d %7d %6d" % (
            way, s["recordings"], s["proved"] / 1e6, s["premise"] / 1e6,
            s["wakers"], s["false"], s["false with premise"], s["likely"],
            s["wrong"]))
    kinds["all"] = sum(kinds.values(), collections.Counter())
    print("%-16s %8s %8s %8s %8s %8s %8s" % (
        "workload", "waits", "proved", "wrong", "likely", "wrong", "unknown"))
    for name, k in kinds.items():
        print("%-16s %8d %8d %8d %8d %8d %8d" % (
            name, k["waits"], k["proved"], k["wrong proved"], k["consistent"],
            k["wrong consistent"], k["unknown"]))
    return any(s["false"] for s in sums.values())


if __name__ == "__main__":
    sys.exit(main())

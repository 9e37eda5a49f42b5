# looks.py - the first look at a capture: report of it, beside perf's flat report; how long its calls took.
"""usage: looks.py BUILD CAPTURE...
       looks.py BUILD --calls [CAPTURE [EVENTS]]
       looks.py BUILD --others

The second form compares report --latency with perf trace -s and with scripts
over perf script, as bcc's are, on a capture of system calls, which it records
if there is none; or on one of so many events, of that capture again and again
at later times, and prints what memory that takes. The third does so with perf
kwork report on a capture of interrupts, softirqs and work queues, and with
trace-cmd report and hist on a trace.dat of system calls and more, both of
which it records if there are none.

See runs.py. perf prints what was hit, without callers and without saying how
far stacks can be trusted; ours prints both. Ratios are of processor times:
with 104 MB of a mixed load 0.8, with 539 MB of stack dumps, which perf does
not unwind for this, 0.45."""

import os
import re
import struct
import subprocess
import sys

import runs

BUILD = sys.argv[1]
US = os.path.join(BUILD, "backstitch")


def contenders(perfs, capture):
    yield "report", [US, "report", capture]
    for name, command in perfs.items():
        yield name, [command, "--no-pager", "report", "--stdio",
                     "--no-children", "-g", "none", "-i", capture]


# pairs enter and exit by thread, and prints count, sum and longest of each call
AWK = """{ for (i = 1; i <= NF; i++) if ($i == "NR") { nr = $(i + 1); break } }
/sys_enter:/ { at[$1] = $2; of[$1] = nr + 0 }
/sys_exit:/ && ($1 in at) { d = $2 - at[$1]; k = of[$1]; delete at[$1]
    n[k]++; sum[k] += d; if (d > most[k]) most[k] = d }
END { for (k in n) print k, n[k], sum[k], most[k] }"""
PYTHON = """import collections, re, sys
at, n = {}, collections.defaultdict(list)
line = re.compile(r" *(\\d+) +([0-9.]+): raw_syscalls:sys_(enter|exit): NR (-?\\d+)")
for m in filter(None, map(line.match, sys.stdin)):
    if m[3] == "enter":
        at[m[1]] = float(m[2]), m[4]
    elif m[1] in at:
        t, nr = at.pop(m[1])
        n[nr].append(float(m[2]) - t)
for nr, v in n.items():
    v.sort()
    print(nr, len(v), sum(v), v[len(v) * 99 // 100], v[-1])"""
CALLS = "bench/calls.data"
MADE = "bench/calls-made.data"
SCRIPT = "%s script -i %s --ns -F tid,time,event,trace | "


def record_calls():
    subprocess.run(["perf", "record", "-q", "-N", "-a", "-m", "8M", "-e",
                    "raw_syscalls:sys_enter", "-e", "raw_syscalls:sys_exit",
                    "-o", CALLS, "--", "sh", "-c", "timeout 2 find / -xdev "
                    "-newer /etc/passwd >/dev/null; true"], check=True)


def make_calls(path, events):
    """The records of a capture again and again, at later times."""
    with open(path, "rb") as f:
        head = bytearray(f.read(104))
        # perf_file_header: data at 40, its length at 48, feature bits at 72
        off, length = struct.unpack_from("<QQ", head, 40)
        f.seek(0)
        before = f.read(off)
        data = f.read(length)
        bits = sum(bin(b).count("1") for b in head[72:104])
        table = f.read(16 * bits)
        rest = f.read()
    # sample_type IDENTIFIER, IP, TID, TIME, ...: the time is behind these
    where, first, last, at, keep = [], None, None, 0, bytearray()
    while at < length:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind == 9:
            where.append(len(keep) + 32)
            t = struct.unpack_from("<Q", data, at + 32)[0]
            first, last = min(first or t, t), max(last or t, t)
        if kind in (9, 68):
            keep += data[at:at + size]
        at += size
    rounds = -(-events // len(where))
    times = [struct.unpack_from("<Q", keep, w)[0] for w in where]
    with open(MADE, "wb") as out:
        out.write(before + data)
        for n in range(1, rounds):
            by = n * (last - first + 1000000)
            for w, t in zip(where, times):
                struct.pack_into("<Q", keep, w, t + by)
            out.write(keep)
        struct.pack_into("<Q", head, 48, length + (rounds - 1) * len(keep))
        grown = (rounds - 1) * len(keep)
        for i in range(bits):
            a, n = struct.unpack_from("<QQ", table, 16 * i)
            out.write(struct.pack("<QQ", a + grown, n))
        out.write(rest)
        out.seek(0)
        out.write(head)
    return rounds * len(where)


def calls(perfs, capture, db):
    yield "report --latency", [US, "report", "--latency", "syscall", capture]
    yield "of its database", [US, "report", "--latency", "syscall", db]
    for name, command in perfs.items():
        yield name + " trace -s", [command, "trace", "-s", "-i", capture]
        for what, program in ("awk", ["awk", AWK]), (
                "python", [sys.executable, "-c", PYTHON]):
            yield "%s script, %s" % (name, what), [
                "sh", "-c", SCRIPT % (command, capture) + '"$@"', "-"] + program


def compare_calls(capture=CALLS, events=0):
    perfs = runs.versions("perf")
    if not os.path.exists(capture):
        record_calls()
    n = 0
    if events:
        n = make_calls(capture, int(events))
        capture = MADE
    db = "bench/calls.db"
    made = runs.Run([US, "ingest", "-qf", "--no-symbols", "-o", db, capture],
                    watch=True)
    if not n:
        n = int(re.search(r"(\d+)", subprocess.run(
            [US, "query", "--format", "csv", db, "SELECT count(*) FROM event"],
            stdout=subprocess.PIPE, text=True, check=True).stdout)[1])
    print("%s: %.1f MB, %d events" % (capture, os.path.getsize(capture) / 1e6, n))
    print("  ingest --no-symbols %.1f s of processors, RssAnon %d MiB"
          % (made.cpu, made.anon >> 10))
    for what, args in (
            ("report --latency of the database", calls({}, capture, db)),
            ("the intervals alone, by SQL", [(0, 0), (0, [
                US, "query", db, "SELECT count(*) FROM interval"])])):
        r = runs.Run(list(args)[1][1], watch=True)
        print("  %s: %.1f s of processors, RssAnon %d MiB"
              % (what, r.cpu, r.anon >> 10))
    took = runs.race(lambda _: calls(perfs, capture, db), n, "events")
    best = {name: min(r.cpu for r in took[name]) for name in took}
    for name in best:
        if not name.startswith("perf"):
            continue
        for ours, wanted in ("report --latency", 0), ("of its database", 1):
            runs.target("%s / %s, processor time" % (name, ours),
                        best[name] / best[ours], wanted)
    if events:
        os.remove(MADE)
        os.remove(db)


WORKS = "bench/works.data"
TRACE = "bench/calls.dat"
KINDS = ("irq:irq_handler_entry", "irq:irq_handler_exit", "irq:softirq_raise",
         "irq:softirq_entry", "irq:softirq_exit",
         "workqueue:workqueue_activate_work",
         "workqueue:workqueue_execute_start",
         "workqueue:workqueue_execute_end")
BUSY = ("for i in $(seq 8); do dd if=/dev/zero of=bench/blob bs=64k count=100 "
        "oflag=dsync 2>/dev/null; done; rm -f bench/blob")


def record_works():
    subprocess.run(["perf", "record", "-q", "-N", "-a", "-m", "8M",
                    *[a for e in KINDS for a in ("-e", e)], "-o", WORKS, "--",
                    "sh", "-c", BUSY], check=True)


def record_trace():
    """Calls, and with a stack each what the kernel did for them."""
    subprocess.run(["tests/bench/record-ftrace.sh", TRACE, "true", "2"],
                   check=True, stdout=subprocess.DEVNULL)


def others(tool, path, db):
    kind = [] if tool == "perf" else ["syscall"]
    yield "report --latency", [US, "report", "--latency", *kind, path]
    yield "of its database", [US, "report", "--latency", *kind, db]
    for name, command in runs.versions(tool).items():
        if tool == "perf":
            yield name + " kwork report", [command, "kwork", "-k",
                                           "irq,softirq,workqueue", "report",
                                           "-i", path]
            continue
        yield name + " report", [command, "report", "-i", path]
        yield name + " hist", [command, "hist", "-i", path]


def compare_others():
    for tool, path, record in (("perf", WORKS, record_works),
                               ("trace-cmd", TRACE, record_trace)):
        if not os.path.exists(path):
            record()
        db = path + ".db"
        runs.Run([US, "ingest", "-qf", "--no-symbols", "-o", db, path])
        n = int(re.findall(r"\d+", subprocess.run(
            [US, "query", "--format", "csv", db, "SELECT count(*) FROM event"],
            stdout=subprocess.PIPE, text=True, check=True).stdout)[0])
        print("%s: %.1f MB, %d events" % (path, os.path.getsize(path) / 1e6, n))
        took = runs.race(lambda _, t=tool, p=path, d=db: others(t, p, d), n,
                         "events")
        best = {name: min(r.cpu for r in took[name]) for name in took}
        for name in best:
            if not name.startswith(tool):
                continue
            for ours, wanted in ("report --latency", 0), ("of its database", 1):
                runs.target("%s / %s, processor time" % (name, ours),
                            best[name] / best[ours], wanted)


def main():
    if sys.argv[2] == "--others":
        compare_others()
        print("%d targets missed" % runs.missed)
        return
    if sys.argv[2] == "--calls":
        compare_calls(*sys.argv[3:])
        print("%d targets missed" % runs.missed)
        return
    perfs = runs.versions("perf")
    for capture in sys.argv[2:]:
        size = os.path.getsize(capture)
        print("%s: %.1f MB" % (capture, size / 1e6))
        took = runs.race(lambda _: contenders(perfs, capture), size, "bytes")
        best = {name: min(r.cpu for r in took[name]) for name in took}
        ours = best.pop("report", None)
        if not ours or not best:
            continue
        rival = min(best, key=best.get)
        runs.target("%s / report, processor time" % rival,
                    best[rival] / ours, 1)
        runs.processors("report", [US, "report", capture])
    print("%d targets missed" % runs.missed)


main()

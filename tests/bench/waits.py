#!/usr/bin/env python3
# waits.py - memory and time of the causes of waits, for 1.7 million events of the scheduler.
#
# usage: waits.py BUILD [MILLIONS]
#
# The capture, bench/waits.data, is a real one, tests/causality/captures/herd,
# repeated with later times: what is between the first and the last moment in
# which both CPUs are idle and no thread is born or ends, so that no thread and
# no wake-up is missing where two of them meet.
#
# A second one has the same in 13 segments that are put together, as threads
# of 111 processes in turn, with 10,000 switches missing without a loss:
# 1,000 threads, each away for long, beside a database of half of that.
#
# Last result (2 cores; s of processor time, MB of memory at most; before: when all
# rows came from SQLite, and each loss was a step for each thread away). The load
# was 10 for the first column, 30 for the others: a quiet machine takes less, and
# columns beside each other tell less than the instructions below.
#
#                         13: before   now         26: before   now
#   path --tid            0.87   85  0.36   71   1.91  141   0.73  128
#   path --waits          1.21   88  0.62   91   3.09  146   1.16  167
#   path --worst 3        1.25   87  0.55   91   2.96  146   1.19  167
#   path --tree           1.51  119  0.73  105   4.23  209   1.68  197
#   path --flame          2.06  144  1.00  108   6.14  257   2.24  201
#   report --sched        1.16   87  0.50   74   3.38  146   1.06  134
#   report --html         2.29   87  1.20   72   5.03  141   2.59  123
#   state_interval: time  1.25  119  0.50  105   2.58  210   1.03  197
#   wait: time            1.25  126  0.56  112   2.73  223   1.18  210
#   stay: time            0.80   85  0.36   71   1.67  140   0.71  128
#   state_interval: tid   0.81   85  0.35   71   1.66  140   0.69  128
#   wait: tid             0.82   85  0.36   71   1.63  140   0.70  128
#   stay: tid             0.85   85  0.36   71   1.52  140   0.68  128
#   blame: tid            0.84   85  0.35   71   1.59  140   0.74  128
#
# Of instructions, which do not depend on who else computes, a database of six
# segments takes 0.53 of those before for --tid, 0.54 for --tree, 0.52 for
# --flame and --html.
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(sys.argv[0]), "..", "causality"))
import perfdata  # noqa: E402
import runs  # noqa: E402

MEMORY, SECONDS, CHAIN = 150, 2.5, 0.3
PATH = 85  # MB of path --waits, --worst and --tree
SEGMENTS, GAPS, TURNS, EVENTS = 13, 10000, 111, 1200000
EACH, GROWTH = 1, 2.3  # s of the segments; for twice of them
STOP = 1  # s until Ctrl-C ends a command
SAMPLE, ROUND = 9, 68
WORKLOAD, FIRST = 100, 149  # tids of the workload are above; one of them
GAP = 1000  # ns between two of the repeated times
build = sys.argv[1]
want = int(float(sys.argv[2]) * 1e6) if len(sys.argv) > 2 else 1700000
data, db = "bench/waits.data", "bench/waits.db"


def quiet_time(s, name):
    """The longest time between two moments in which all is idle."""
    on, start, best = {}, None, (0, 0, 0)
    n = 0
    for r in s.records:
        n += 1
        if name[r.at] in ("sched_wakeup_new", "sched_process_exit",
                          "sched_process_fork"):
            start = None
        if r.type != "sched_switch":
            continue
        on[r.cpu] = r.fields["next_pid"]
        if len(on) < 2 or any(on.values()):
            continue
        if start is None:
            start = n, r.time
        else:
            best = max(best, (n - start[0], start[1], r.time))
    return best[1:]


def rounds_of():
    """The capture; the head of its records, and those of one round: (time,
    bytes, where they name threads of the workload, and which); its length."""
    s = perfdata.Samples(subprocess.run(
        ["zstd", "-dcq", "tests/causality/captures/herd.data.zst"],
        stdout=subprocess.PIPE, check=True).stdout)
    kinds = {int(m[2]): m[1].decode() for m in
             re.finditer(rb"name: (\w+)\nID: (\d+)\n", s.data)}
    name = {r.at: kinds.get(r.type, r.type) for r in s.records}
    start, end = quiet_time(s, name)
    kept = {r.at: r for r in s.records if start < r.time <= end and
            name[r.at].startswith("sched_")}
    head, block = bytearray(), []
    for at, kind, record in s.walk():
        if at in kept:
            raw = 60 + 8 * (s.kinds[struct.unpack_from("<Q", record, 8)[0]][1] >> 5 & 1)
            if raw > 60:
                raw += 8 * struct.unpack_from("<Q", record, 56)[0]
            places = [28, raw + 4, raw + 24]
            if kept[at].type == "sched_switch":
                places.append(raw + 56)
            tids = [(p, struct.unpack_from("<i", record, p)[0]) for p in places]
            block.append((kept[at], record,
                          [(p, tid) for p, tid in tids if tid >= WORKLOAD]))
        elif kind not in (SAMPLE, ROUND):
            head += record
    return s, head, block, end - start + GAP


def make_capture(path, first, last, turns=1, missing=0.0):
    """Rounds from the first to before the last; each of the switches is missing
    with a probability."""
    s, head, block, length = rounds_of()
    rng = random.Random(first)
    out = bytearray(head)
    for i in range(first, last):
        for sample, record, tids in block:
            if sample.type == "sched_switch" and rng.random() < missing:
                continue
            b = bytearray(record)
            struct.pack_into("<Q", b, 32, sample.time + i * length)
            for place, tid in tids:
                struct.pack_into("<i", b, place, tid + i % turns * 1000)
            out += b
        out += struct.pack("<IHH", ROUND, 0, 8)
    s.put(path, bytes(out))


def ingest(out, path):
    subprocess.run([build + "/backstitch", "ingest", "-q", "-f", "--no-symbols",
                    "-o", out, path], check=True)
    os.unlink(path)


def make_segments(out, segments):
    """SEGMENTS are all of it."""
    block = rounds_of()[2]
    rounds = EVENTS // len(block) // SEGMENTS
    missing = GAPS / (rounds * SEGMENTS * sum(
        sample.type == "sched_switch" for sample, _, _ in block))
    made = ["bench/waits%d.db" % i for i in range(segments)]
    for i, name in enumerate(made):
        make_capture(data, i * rounds, (i + 1) * rounds, TURNS, missing)
        ingest(name, data)
    subprocess.run([build + "/backstitch", "merge", "-q", "-f", "-o", out, *made],
                   check=True)
    for name in made:
        os.unlink(name)


def asked(name, args, seconds=None, memory=MEMORY):
    """Runs a command that must stay within the bounds; returns its seconds."""
    one = [runs.Run([build + "/backstitch", *args], watch=True)
           for _ in range(min(runs.RUNS, 3))]
    if any(r.status for r in one):
        sys.exit("%s failed: %s" % (name, runs.message()))
    cpu = min(r.cpu for r in one)
    runs.target(name + ": anonymous MB", max(r.anon for r in one) * 1024 / 1e6,
                memory, True, "  %.2f s of processor time" % cpu)
    if seconds:
        runs.target(name + ": s", cpu, seconds, True)
    return cpu


def stopped(name, args):
    """Ctrl-C in the middle of a command: it must end by it, and soon."""
    p = subprocess.Popen([build + "/backstitch", *args],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.1)
    start = time.monotonic()
    p.send_signal(signal.SIGINT)
    status = p.wait()
    if status != -signal.SIGINT:
        sys.exit("%s: Ctrl-C gave status %d" % (name, status))
    runs.target(name + ": s after Ctrl-C", time.monotonic() - start, STOP, True)


pathlib.Path("bench").mkdir(exist_ok=True)
make_capture(data, 0, -(-want // len(rounds_of()[2])))
ingest(db, data)
longest = asked("path --waits", ["path", "--waits", db], SECONDS, PATH)
asked("path --waits --limit 0 --json", ["path", "--waits", "--limit", "0", "--json", db])
asked("path --tree", ["path", "--tree", db], SECONDS, PATH)
runs.target("path --worst 1, beside path --waits: s",
            asked("path --worst 1", ["path", "--worst", "1", db], None, PATH) - longest,
            CHAIN, True)
asked("report --sched", ["report", "--sched", db])
asked("report --off-cpu", ["report", "--off-cpu", db])
asked("flame --off-cpu", ["flame", "--off-cpu", "-o", "bench/waits.svg", db])
for table, column in (("stay", "t1"), ("state_interval", "wake"), ("wake", "event"),
                      ("wait", "by_ns"), ("blame", "ns")):
    asked("table " + table,
          ["query", db, "SELECT count(*), sum(%s) FROM %s" % (column, table)])

half = "bench/waits-half.db"
make_segments(db, SEGMENTS)
make_segments(half, SEGMENTS // 2)
tid = "%d" % (FIRST + TURNS // 2 * 1000)
since = "t0 >= 100000000000 AND t1 <= 101000000000"
for name, args in (
        ("path --tid", ["path", "--tid", tid, "--worst", "1"]),
        ("path --waits", ["path", "--waits"]),
        ("path --worst", ["path", "--worst", "3"]),
        ("path --tree", ["path", "--tree"]),
        ("path --flame", ["path", "--flame", "bench/waits.svg"]),
        ("report --sched", ["report", "--sched"]),
        ("report --html", ["report", "--html", "-o", "bench/waits.html"])):
    more = asked("segments: " + name, [*args, db], EACH)
    less = asked("half of them: " + name, [*args, half])
    runs.target(name + ": twice the input",
                more / less * 2 * (SEGMENTS // 2) / SEGMENTS, GROWTH, True)
    stopped(name, [*args, db])
for table, where in (("state_interval", since), ("wait", since), ("stay", since)):
    asked("segments: %s of a second" % table, [
        "query", db, "SELECT count(*) FROM %s WHERE %s" % (table, where)], EACH)
for table in "state_interval", "wait", "stay", "blame":
    asked("segments: %s of a thread" % table, [
        "query", db, "SELECT count(*) FROM %s WHERE tid = %s" % (table, tid)], EACH)
for name in db, half, "bench/waits.svg", "bench/waits.html":
    os.unlink(name)
sys.exit(runs.missed > 0)

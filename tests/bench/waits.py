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
# Last result (2 cores, load 10; anonymous memory in MB, before stays, wake-ups
# and pieces were packed in brackets, and seconds of processor time): longest
# waits 90 (190) 1.1, all of them as JSON 137 (220), tree 124 (190) 2.3, report
# --sched 105 (210) 1.2, report --off-cpu 122 (224) 1.9, tables 132 (198) 1.6.
import os
import pathlib
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(sys.argv[0]), "..", "causality"))
import perfdata  # noqa: E402
import runs  # noqa: E402

MEMORY, SECONDS, CHAIN = 150, 2.5, 0.3
SAMPLE, ROUND = 9, 68
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


def make_capture(path):
    s = perfdata.Samples(subprocess.run(
        ["zstd", "-dcq", "tests/causality/captures/herd.data.zst"],
        stdout=subprocess.PIPE, check=True).stdout)
    kinds = {int(m[2]): m[1].decode() for m in
             re.finditer(rb"name: (\w+)\nID: (\d+)\n", s.data)}
    name = {r.at: kinds.get(r.type, r.type) for r in s.records}
    start, end = quiet_time(s, name)
    kept = {r.at for r in s.records if start < r.time <= end and
            name[r.at].startswith("sched_")}
    head, block, times = bytearray(), bytearray(), []
    for at, kind, record in s.walk():
        if at in kept:
            times.append((len(block) + 32, struct.unpack_from("<Q", record, 32)[0]))
            block += record
        elif kind not in (SAMPLE, ROUND):
            head += record
    out = head
    for i in range(-(-want // len(kept))):
        for at, time in times:
            struct.pack_into("<Q", block, at, time + i * (end - start + GAP))
        out += block + struct.pack("<IHH", ROUND, 0, 8)
    s.put(path, bytes(out))


def asked(name, args, seconds=None):
    """Runs a command that must stay within the bounds; returns its seconds."""
    one = [runs.Run([build + "/backstitch", *args], watch=True)
           for _ in range(min(runs.RUNS, 3))]
    if any(r.status for r in one):
        sys.exit("%s failed: %s" % (name, runs.message()))
    cpu = min(r.cpu for r in one)
    runs.target(name + ": anonymous MB", max(r.anon for r in one) * 1024 / 1e6,
                MEMORY, True, "  %.2f s of processor time" % cpu)
    if seconds:
        runs.target(name + ": s", cpu, seconds, True)
    return cpu


pathlib.Path("bench").mkdir(exist_ok=True)
make_capture(data)
subprocess.run([build + "/backstitch", "ingest", "-q", "-f", "--no-symbols", "-o",
                db, data], check=True)
longest = asked("path --waits", ["path", "--waits", db], SECONDS)
asked("path --waits --limit 0 --json", ["path", "--waits", "--limit", "0", "--json", db])
asked("path --tree", ["path", "--tree", db], SECONDS)
runs.target("path --worst 1, beside path --waits: s",
            asked("path --worst 1", ["path", "--worst", "1", db]) - longest, CHAIN, True)
asked("report --sched", ["report", "--sched", db])
asked("report --off-cpu", ["report", "--off-cpu", db])
for table, column in (("stay", "t1"), ("state_interval", "wake"), ("wake", "event"),
                      ("wait", "by_ns"), ("blame", "ns")):
    asked("table " + table,
          ["query", db, "SELECT count(*), sum(%s) FROM %s" % (column, table)])
os.unlink(data)
os.unlink(db)
sys.exit(runs.missed > 0)

# futexes.py - latency --by lock of a program that times its own waits.
"""usage: BACKSTITCH=PROGRAM futexes.py [RUNS]

Builds tests/captures/futexes.c in the ways in which programs and libraries are
built, records each with raw_syscalls and with the events of futex, with rings of
the usual size and of one page, and compares what is proved of each lock with what
the threads say: a call that is named by a lock lies in a turn of that thread at
that lock. Prints how many turns are in which class:

  called     a wait of more than 5 us, with calls of futex for that lock inside
  lost       the same without one, in a capture that lost records
  delayed    the same without one: the thread waited for a CPU, not for the lock
  short      others

Fails if a proved interval is in no turn, or has the name of another lock. For
root; it is in no group, as what it records depends on the machine."""

import collections
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
os.environ.setdefault("ROOT", ROOT)
sys.path.insert(0, os.path.join(ROOT, "tests/compare"))
import common  # noqa: E402

US = os.environ.get("BACKSTITCH", os.path.join(ROOT, "build/backstitch"))
SOURCE = os.path.join(ROOT, "tests/captures/futexes.c")
LOCKS = "big_lock", "table+0x68", "library_lock"
LONG_NS = 5000
# name: options of the compiler, what strip leaves
BUILDS = {
    "pie": ("-pie -fPIE", ()),
    "fixed": ("-no-pie -fno-pie", ()),
    "pie-dynsym": ("-pie -fPIE -rdynamic", ("program", "library")),
    "fixed-dynsym": ("-no-pie -fno-pie -rdynamic", ("program", "library")),
}
EVENTS = {
    "raw": ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"],
    "named": ["syscalls:sys_enter_futex", "syscalls:sys_exit_futex"],
}


def build(folder, options, stripped):
    cc = ["gcc", "-O1", "-pthread"]
    lib = os.path.join(folder, "liblocks.so")
    program = os.path.join(folder, "locks")
    subprocess.run(cc + ["-shared", "-fPIC", "-DLIBRARY", "-o", lib, SOURCE],
                   check=True)
    subprocess.run(cc + options.split() + ["-o", program, SOURCE, "-L" + folder,
                                           "-llocks", "-Wl,-rpath," + folder],
                   check=True)
    for name in stripped:
        subprocess.run(["strip", lib if name == "library" else program],
                       check=True)
    return program


def report(db, *args):
    r = subprocess.run([US, "report", "--latency", "syscall", "--by", "lock",
                        "--json", *args, db], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, check=False)
    return json.loads(r.stdout) if r.stdout else {"worst": [], "rows": []}


def compare(db, log, lost):
    turns = collections.defaultdict(list)
    with open(log) as f:
        for line in f:
            tid, what, lock, begin, end = line.split()
            turns[int(tid)].append([what, lock, int(begin), int(end), 0])
    found = collections.Counter()
    for lock in LOCKS:
        for i in report(db, "--name", lock, "--worst", "100000")["worst"]:
            at = [t for t in turns[i["tid"]] if t[1] == lock and
                  t[2] <= i["begin_ns"] and i["end_ns"] <= t[3]]
            found["proved" if at else "false"] += 1
            for t in at:
                t[4] += 1
    for what, _, begin, end, calls in sum(turns.values(), []):
        if what == "unlock" or end - begin <= LONG_NS:
            found["short"] += 1
        elif calls:
            found["called"] += 1
        else:
            found["lost" if lost else "delayed"] += 1
    return found


def record(folder, program, events, rings):
    data, log = os.path.join(folder, "perf.data"), os.path.join(folder, "log")
    db = os.path.join(folder, "perf.db")
    if os.path.exists(log):
        os.unlink(log)
    subprocess.run(["perf", "record", "-q", "-N", "-k", "CLOCK_MONOTONIC", "-m",
                    rings, *[a for e in events for a in ("-e", e)], "-o", data,
                    "--", program, log], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([US, "ingest", "-qf", "-o", db, data], check=True,
                   stderr=subprocess.DEVNULL)
    lost = subprocess.run([US, "query", "--format", "csv", db,
                           "SELECT coalesce(sum(n), 0) FROM loss"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.split()[-1]
    return db, log, int(lost)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    total = collections.Counter()
    for name, (options, stripped) in BUILDS.items():
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            program = build(folder, options, stripped)
            for events, rings in [(e, r) for e in EVENTS for r in ("4M", "4K")
                                  for _ in range(runs)]:
                db, log, lost = record(folder, program, EVENTS[events], rings)
                found = compare(db, log, lost)
                total.update(found)
                print("%-12s %-5s %-2s lost %-4d %s" % (
                    name, events, rings, lost, " ".join(
                        "%s=%d" % i for i in sorted(found.items()))))
                common.ok(not found["false"] and (found["proved"] or lost),
                          "%s, %s, rings of %s: what is proved of a lock is true"
                          % (name, events, rings))
    print("all", " ".join("%s=%d" % i for i in sorted(total.items())))


main()
common.finish()

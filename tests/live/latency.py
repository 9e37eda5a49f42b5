# latency.py - latency of what is recorded here, beside perf's tables.
"""usage: BACKSTITCH=PROGRAM [PERFS="PERF ..."] latency.py [--only NAME,..]

Records compilers, archivers, servers and disks with the events of perf trace,
perf lock, perf kwork and perf sched, of one process and of the whole machine,
with rings of the usual size and of one page, and compares each capture as
tests/compare/latency.py does: rows of perf are the sums of what it counts,
intervals of ours are those of the events. Prints the classes of each capture, for
perf and each other perf in $PERFS.
Fails if an interval is in no class ("else"). For root; it is in no group, as
what it records depends on the machine."""

import collections
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
os.environ.setdefault("ROOT", ROOT)
sys.path.insert(0, os.path.join(ROOT, "tests/compare"))
import common  # noqa: E402
import latency  # noqa: E402

EVENTS = {
    "calls": ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"],
    "locks": ["lock:contention_begin", "lock:contention_end"],
    "works": ["irq:irq_handler_entry", "irq:irq_handler_exit",
              "irq:softirq_raise", "irq:softirq_entry", "irq:softirq_exit",
              "workqueue:workqueue_queue_work",
              "workqueue:workqueue_activate_work",
              "workqueue:workqueue_execute_start",
              "workqueue:workqueue_execute_end"],
    "sched": ["sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup",
              "sched:sched_wakeup_new", "sched:sched_stat_runtime"],
}
SOURCE = os.path.join(ROOT, "analyze/latency/pairing.c")
COMPILE = "gcc -D_GNU_SOURCE -I %s -O2 -c -o /dev/null %s" % (ROOT, SOURCE)
MANY = "for i in 1 2 3 4 5 6; do %s & done; wait" % COMPILE
REDIS = "redis-benchmark -p 7391 -q -n %d -c 20 -t set,get"
DISK = "dd if=/dev/zero of=blob bs=64k count=300 oflag=dsync"
# name: events, options of perf record, command, server beside it
RUNS = {
    "gcc": ("calls", "", COMPILE, None),
    "gcc-locks": ("calls locks", "", MANY, None),
    "gcc-all": ("calls", "-a", COMPILE, None),
    "gcc-sched": ("sched", "-a", MANY, None),
    "gcc-works": ("works", "-a", MANY, None),
    "gcc-lost": ("calls", "-a -m 1", COMPILE, None),
    "tar": ("calls", "", "tar cf - -C %s/cli . | wc -c" % ROOT, None),
    "gzip": ("calls locks", "", "tar cf - -C %s/cli . | gzip | wc -c" % ROOT,
             None),
    "python": ("calls", "", sys.executable + " -c 'import json, ssl, sqlite3'",
               None),
    "git": ("calls", "", "git -C %s status --short" % ROOT, None),
    "redis": ("calls", "-a", REDIS % 3000, "redis-server --port 7391"),
    "redis-sched": ("sched", "-a", REDIS % 3000, "redis-server --port 7391"),
    "redis-works": ("works", "-a", REDIS % 3000, "redis-server --port 7391"),
    "redis-locks": ("locks", "-a", REDIS % 9000,
                    "redis-server --port 7391 --io-threads 4"),
    "redis-lost": ("calls", "-a -m 1", REDIS % 2000, "redis-server --port 7391"),
    "disk": ("works calls", "-a", DISK, None),
    "disk-sched": ("sched works", "-a", DISK, None),
    "fio": ("works", "-a", "fio --name=r --rw=randrw --size=8m --bs=4k "
            "--runtime=2 --filename=blob --direct=1 --numjobs=2", None),
    "shell": ("calls locks", "", "for i in $(seq 60); do /bin/true; done", None),
    "shell-sched": ("sched", "-a -m 1", "for i in $(seq 60); do /bin/true; done",
                    None),
}


def record(name, folder):
    events, options, command, server = RUNS[name]
    beside = server and subprocess.Popen(
        server.split(), cwd=folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    try:
        time.sleep(1 if server else 0)
        path = os.path.join(folder, name + ".data")
        args = [a for word in events.split() for e in EVENTS[word]
                for a in ("-e", e)]
        if "-m" not in options:
            args += ["-m", "4M"]
        r = subprocess.run(["perf", "record", "-q", "-N", *options.split(), *args,
                            "-o", path, "--", "sh", "-c", command], cwd=folder,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           check=False)
        return path if r.returncode >= 0 else None
    finally:
        if beside:
            beside.terminate()
            beside.wait()


def tell(perf, name, found, total):
    perf = os.path.basename(perf)
    for kind, words in found.items():
        print("%-12s %-12s %-12s %s" % (perf, name, kind, " ".join(
            "%s=%d" % i for i in sorted(words.items()))))
        total.update({(perf, kind, k): n for k, n in words.items()})
        common.ok(not words.get("else"), "%s: %s: each %s is in a class"
                  % (perf, name, kind))
    sys.stdout.flush()


def main():
    only = sys.argv[2].split(",") if sys.argv[1:2] == ["--only"] else RUNS
    total = collections.Counter()
    for name in only:
        server = RUNS[name][3] or RUNS[name][2]
        if not shutil.which(server.split()[0]) and "/" not in server.split()[0] \
                and not server.startswith("for "):
            print("skip %s: no %s" % (name, server.split()[0]))
            continue
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            path = record(name, folder)
            if not path:
                print("skip %s: perf did not end its recording" % name)
                continue
            # perf 6.1 may end by a signal when it reads what it recorded
            if subprocess.run(["perf", "script", "-f", "-i", path],
                              stdout=subprocess.DEVNULL, check=False,
                              stderr=subprocess.DEVNULL).returncode:
                print("skip %s: perf script cannot read it" % name)
                continue
            for perf in ["perf"] + os.environ.get("PERFS", "").split():
                latency.use(perf)
                found = latency.compare(path, name, folder)
                tell(perf, name, found, total)
    for (perf, kind, word), n in sorted(total.items()):
        print("%-20s all          %-12s %-9s %d" % (perf, kind, word, n))


main()
common.finish()

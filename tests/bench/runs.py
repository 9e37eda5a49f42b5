# runs.py - whole programs run side by side: time, memory, targets.
"""Programs are run in turn (one of each, then again), so that a slow moment of
the machine hits them all. Best and median of $BENCH_RUNS (5) are printed, and
the targets that we set ourselves with what was reached. Ratios are of the
best wall times (of the table: the median of those of each round); where other programs wanted the machine, the ratio of
processor times (user + system, all threads) says more and stands beside it.
Of perf, trace-cmd and babeltrace2 there are two versions, if newer.sh can get
one; ratios are to the faster of them."""

import functools
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import time

RUNS = int(os.environ.get("BENCH_RUNS", "5"))
LIMIT = 65536  # KiB, as in ulimit -d
FIRST = []  # what each program is started by, such as chrt
missed = 0


def remove_output(args):
    """A database is made where none was. ext4 writes a file out when it takes
    the place of another: 37 ms for 75 MB, whoever wrote it."""
    if "ingest" in args or "merge" in args:
        pathlib.Path(args[args.index("-o") + 1]).unlink(missing_ok=True)


class Run:
    """One process with all its threads, from start to end."""

    def __init__(self, args, limit_kib=None, watch=False):
        def prepare():
            if limit_kib:
                resource.setrlimit(resource.RLIMIT_DATA,
                                   (limit_kib << 10, limit_kib << 10))
        self.data = self.anon = 0
        remove_output(args)
        with open("bench/out.log", "wb") as log:
            start = time.monotonic()
            p = subprocess.Popen(FIRST + args, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=log,
                                 preexec_fn=prepare)
            pid = 0
            while watch and not pid:
                self.look(p.pid)
                time.sleep(0.005)
                pid, status, usage = os.wait4(p.pid, os.WNOHANG)
            if not watch:
                _, status, usage = os.wait4(p.pid, 0)
            p.returncode = status
            self.wall = time.monotonic() - start
        self.status = status
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss

    def look(self, pid):
        """The largest VmData and RssAnon: what is ours, without the pages
        of the mapped capture, which the kernel can take back."""
        try:
            with open("/proc/%d/status" % pid) as f:
                text = f.read()
        except OSError:
            return
        for key in ("VmData", "RssAnon"):
            m = re.search(key + r":\s+(\d+)", text)
            if m:
                attr = key[2:].lower() if key == "VmData" else "anon"
                setattr(self, attr, max(getattr(self, attr), int(m[1])))


@functools.cache
def versions(program):
    """{"perf 6.1": "perf", "perf 7.2": "bench/newer-perf"}"""
    p = subprocess.run(["tests/bench/newer.sh", program],
                       stdout=subprocess.PIPE, text=True)
    found = {}
    for command in filter(shutil.which, [program] + p.stdout.split()):
        p = subprocess.run([command, "version" if program == "trace-cmd" else
                            "--version"], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True)
        m = re.search(r"(?:version|Babeltrace) (\d+\.\d+)",
                      p.stdout + p.stderr)
        if m:
            found.setdefault("%s %s" % (program, m[1]), command)
    return found


def message():
    with open("bench/out.log", errors="replace") as f:
        return f.read()[-300:].strip()


def script(*args):
    return "perf", lambda perf: [perf, "--no-pager", "script", *args, "-i"]


# for awk: folds what perf script prints, names only, as FlameGraph does
COLLAPSE = r"""
/^\t/ { f = $2; sub(/\+0x[0-9a-f]+$/, "", f); s = f (s == "" ? "" : ";" s); next }
/^$/ { if (c != "") n[c ";" s]++; c = s = ""; next }
{ c = $1 }
END { for (k in n) print k, n[k] }"""
FLAT = "perf", lambda perf: [perf, "--no-pager", "report", "--stdio",
                             "--no-children", "-g", "none", "-i"]


def middle(run, key):
    return statistics.median(getattr(r, key) for r in run)


def pairs(rival, mine, key):
    """The median of the ratios of two programs, round by round."""
    return statistics.median(getattr(r, key) / getattr(m, key)
                             for r, m in zip(rival, mine))


def compare(work, rival, capture, own, wanted, memory=False):
    """Runs both in turn; prints the line, and with memory the MiB of both. A
    first look is judged by the processor's time, as it is short."""
    global missed
    took = {}
    failed = set()
    for _ in range(RUNS):
        for name, command in [("ours", own)] + [
                (name, rival[1](command) + [capture])
                for name, command in versions(rival[0]).items()]:
            if name in failed:
                continue
            r = Run(command)
            if r.status:
                print("  %s failed: %s" % (name, message()))
                failed.add(name)
                took.pop(name, None)
            else:
                took.setdefault(name, []).append(r)
    mine = took.pop("ours", None)
    if not mine or not took:
        print("  %-31s not measured" % work)
        return
    key = "cpu" if "first look" in work else "wall"
    other = min(took, key=lambda n: pairs(took[n], mine, key))
    reached = pairs(took[other], mine, key)
    missed += reached < wanted
    peaks = "%6d %6d " % tuple(max(r.peak for r in run) >> 10
                               for run in (took[other], mine))
    print("  %-31s %-15s %6.2f %6.2f %6.2f %6.2f %6g %s%s" % (
        work, other, middle(took[other], key), middle(mine, key), reached,
        pairs(took[other], mine, "cpu"), wanted, peaks if memory else "",
        "" if reached >= wanted else "MISSED"))


def race(contenders, n, what):
    """contenders() gives (name, arguments), each time anew; n of `what` were
    read by each. Gives {name: [Run, ...]}, failed ones left out."""
    took = {}
    for _ in range(RUNS):
        for name, args in contenders(took):
            r = Run(args)
            if r.status:
                print("  %s failed: %s" % (name, message()))
                continue
            took.setdefault(name, []).append(r)
    print("  %-26s %7s %7s %7s %11s %9s" % (
        "best of %d" % RUNS, "wall s", "median", "cpu s", what + "/s",
        "peak MiB"))
    for name, runs in took.items():
        wall = [r.wall for r in runs]
        print("  %-26s %7.2f %7.2f %7.2f %11d %9.0f"
              % (name, min(wall), statistics.median(wall),
                 min(r.cpu for r in runs), n / min(wall),
                 max(r.peak for r in runs) / 1024))
    return took


def target(name, reached, wanted, smaller=False, beside=""):
    global missed
    if reached is None:
        print("  %-46s not measured" % name)
        return
    good = reached <= wanted if smaller else reached >= wanted
    missed += not good
    print("  %-46s %7.2f  target %s %-5.4g %s%s"
          % (name, reached, "<=" if smaller else ">=", wanted,
             "reached" if good else "MISSED", beside))


def ratio(took, a, b, wanted, smaller=False):
    """The time of a over that of b, with its target. a may be a list: the
    fastest of these."""
    def best(name, key):
        return min(getattr(r, key) for r in took[name])

    names = [n for n in ([a] if isinstance(a, str) else a) if n in took]
    if not names or b not in took:
        target("%s / %s" % (a if isinstance(a, str) else " or ".join(a), b),
               None, wanted, smaller)
        return
    a = min(names, key=lambda n: best(n, "wall"))
    target("%s / %s" % (a, b), best(a, "wall") / best(b, "wall"), wanted,
           smaller, "  (cpu %.2f)" % (best(a, "cpu") / best(b, "cpu")))


def longest_thread(args):
    """Seconds on a processor of the thread of args that computes most: with a
    processor for each thread it cannot take less time."""
    seconds = {}
    with open("bench/out.log", "wb") as log:
        p = subprocess.Popen(args, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=log)
        while p.poll() is None:
            tasks = "/proc/%d/task" % p.pid
            try:
                for thread in os.listdir(tasks):
                    with open("%s/%s/schedstat" % (tasks, thread)) as f:
                        seconds[thread] = int(f.read().split()[0]) / 1e9
            except (OSError, IndexError):
                pass
            time.sleep(0.002)
    return max(seconds.values(), default=0)


def processors(name, args):
    """Prints the best wall times of args on 1, 2 and 4 processors; for more
    than there are, what is possible on paper."""
    print("%s on" % name)
    for n in (1, 2, 4):
        if n <= os.cpu_count():
            cpus = "0-%d" % (n - 1)
            best = min(Run(["taskset", "-c", cpus] + args).wall
                       for _ in range(RUNS))
            print("  %d processor%s %30.2f s" % (n, " " if n == 1 else "s", best))
    print("  on paper, one for each thread  %11.2f s, of the longest thread"
          % min(longest_thread(args) for _ in range(RUNS)))


def memory(name, args):
    """Does it work under the limit, and what does it take at most?"""
    limited = Run(args, LIMIT)
    r = Run(args, watch=True)
    target(name + ": fails under the limit (0: no)", int(limited.status != 0),
           0, True, "  peak VmData %d, RssAnon %d" % (r.data, r.anon))
    if limited.status:
        print("    " + message())

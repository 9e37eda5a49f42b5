#!/usr/bin/env python3
# grow_commands.py - no command takes the square of how many of a thing a text has.
#
# usage: grow_commands.py BACKSTITCH [N] [DIMENSION...]
#
# Texts of ftrace with N / 5 and N things (100,000) of each dimension are read, and
# each command runs on both databases. Prints the commands that take a second and
# more than ten times as long for five times as many, or 20 s, or that die; ends
# with 1 if there are any. growth.py looks closer at fewer pairs.
import os
import resource
import subprocess
import sys
import tempfile

HEAD = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1   #P:4\n#\n"
PTR = 0xffff000000000000


def ev(us, comm, tid, text, cpu=0):
    return "%16s-%-7d [%03d] ..... %d.%06d: %s\n" % (
        comm, tid, cpu, 100 + us // 1000000, us % 1000000, text)


def switch(us, tid, to, cpu=0, state="S"):
    name = ["t" if t else "swapper/%d" % cpu for t in (tid, to)]
    return ev(us, name[0] if tid else "<idle>", tid,
              "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s"
              " ==> next_comm=%s next_pid=%d next_prio=120"
              % (name[0], tid, state, name[1], to), cpu)


def waking(us, tid, who, cpu=0):
    return ev(us, "t", tid, "sched_waking: comm=t pid=%d prio=120 target_cpu=%03d"
              % (who, cpu), cpu)


def mark(us, text):
    return ev(us, "a", 10, "tracing_mark_write: " + text)


def both(n, begin, end, backwards=False):
    """All begins, and then all ends."""
    return [begin(i) for i in range(n)] + [
        end(n + i, n - 1 - i if backwards else i) for i in range(n)]


def chain(n):
    """Each thread wakes the next one, and sleeps."""
    for i in range(n):
        at, cpu, tid = 4 * i, i % 4, 1000 + i
        yield waking(at, tid, tid + 1, cpu)
        yield switch(at + 1, tid, 0, cpu)
        yield switch(at + 2, 0, tid + 1, (cpu + 1) % 4, "R")


def herd(n):
    """All sleep, and one wakes them."""
    last = 1000 + n
    yield from (switch(2 * i, 1000 + i, 1001 + i) for i in range(n))
    yield from (waking(2 * n + 2 * i, last, 1000 + i) for i in range(n))
    yield from (switch(4 * n + 2 * i, last - i, last - i - 1) for i in range(n))


def losses(n):
    for i in range(n):
        yield waking(4 * i, 10, 11) + "CPU:0 [LOST %d EVENTS]\n" % (i % 7 + 1)
        yield switch(4 * i + 2, 10, 11, 0, "R") + switch(4 * i + 3, 11, 10)


def lives(n):
    for i in range(n):
        yield ev(3 * i, "a", 10, "task_newtask: pid=20 comm=a clone_flags=1200000 oom_score_adj=0")
        yield ev(3 * i + 1, "a", 20, "sys_enter: NR 0 (3, 0, 0, 0, 0, 0)")
        yield ev(3 * i + 2, "a", 20, "sched_process_exit: comm=a pid=20 prio=120")


def pairs(n, begin, end):
    for i in range(n):
        yield ev(2 * i, "a", 10, begin % i) + ev(2 * i + 1, "a", 10, end % i)


def call(i, tid, nr="0"):
    return ev(i, "t", tid, "sys_enter: NR %s (3, 0, 0, 0, 0, 0)" % nr, tid % 4)


DIMENSIONS = {
    "kinds of events": lambda n: (ev(i, "a", 10, "kind%d: a=1" % i) for i in range(n // 5)),
    "threads": lambda n: (switch(2 * i, 1000 + i, 1001 + i) for i in range(n)),
    "names of a thread": lambda n: (ev(i, "n%d" % i, 10, "sys_enter: NR 0 (3, 0, 0, 0, 0, 0)")
                                    for i in range(n)),
    "slices in each other": lambda n: both(n, lambda i: mark(i, "B|10|s%d" % (i % 50)),
                                           lambda t, i: mark(t, "E|10")),
    "slices that do not end": lambda n: (mark(i, "B|10|s%d" % i) for i in range(n)),
    "ends of no slice": lambda n: (mark(i, "E|10") for i in range(n)),
    "names of slices": lambda n: pairs(n, "tracing_mark_write: B|10|n%d",
                                       "tracing_mark_write: E|10|%d"),
    "requests at a time": lambda n: both(n, lambda i: mark(i, "S|10|r|%d" % i),
                                         lambda t, i: mark(t, "F|10|r|%d" % i), True),
    "requests of one key": lambda n: both(n, lambda i: mark(i, "S|10|r|1"),
                                          lambda t, i: mark(t, "F|10|r|1")),
    "counters": lambda n: (mark(i, "C|10|c%d|%d" % (i, i)) for i in range(n)),
    "calls at a time": lambda n: both(
        n, lambda i: call(i, 1000 + i),
        lambda t, i: ev(t, "t", 1000 + i, "sys_exit: NR 0 = 0", i % 4)),
    "locks": lambda n: pairs(n, "contention_begin: 0xffff%012x (flags=MUTEX)",
                             "contention_end: 0xffff%012x (ret=0)"),
    "waiters of a lock": lambda n: both(
        n, lambda i: ev(i, "t", 1000 + i, "contention_begin: 0xffff8 (flags=MUTEX)"),
        lambda t, i: ev(t, "t", 1000 + i, "contention_end: 0xffff8 (ret=0)")),
    "blocks at a time": lambda n: both(
        n, lambda i: ev(i, "t", 10, "block_rq_issue: 8,0 R 4096 () %d + 8 none,0,0 [t]" % (i * 8)),
        lambda t, i: ev(t, "t", 10, "block_rq_complete: 8,0 R () %d + 8 none,0,0 [0]" % (i * 8))),
    "blocks of one sector": lambda n: both(
        n, lambda i: ev(i, "t", 10, "block_rq_issue: 8,0 R 4096 () 64 + 8 none,0,0 [t]"),
        lambda t, i: ev(t, "t", 10, "block_rq_complete: 8,0 R () 64 + 8 none,0,0 [0]")),
    "wake-ups in a chain": chain,
    "waiters of a thread": herd,
    "losses": losses,
    "timers at a time": lambda n: both(
        n, lambda i: ev(i, "a", 10, "timer_start: timer=%016x function=f expires=%d [timeout=10]"
                        " cpu=0 idx=0 flags=" % (PTR + i * 64, i)),
        lambda t, i: ev(2 * t, "a", 10, "timer_expire_entry: timer=%016x function=f now=1"
                        " baseclk=1" % (PTR + i * 64)) +
        ev(2 * t + 1, "a", 10, "timer_expire_exit: timer=%016x" % (PTR + i * 64))),
    "works that wait": lambda n: both(
        n, lambda i: ev(i, "a", 10, "workqueue_queue_work: work struct=%016x function=f%d"
                        " workqueue=events req_cpu=8192 cpu=0" % (PTR + i * 64, i)),
        lambda t, i: ev(2 * t, "k", 20, "workqueue_execute_start: work struct %016x: function f%d"
                        % (PTR + i * 64, i)) +
        ev(2 * t + 1, "k", 20, "workqueue_execute_end: work struct %016x: function f%d"
           % (PTR + i * 64, i))),
    "kernel stacks": lambda n: (call(i, 10, str(i % 300)) + ev(i, "t", 10, "<stack trace>", 2) +
                                " => f%d\n => g%d\n => h\n" % (i, i % 100) for i in range(n)),
    "forks in a row": lambda n: (
        ev(2 * i, "a", 1000 + i, "task_newtask: pid=%d comm=a clone_flags=1200000 oom_score_adj=0"
           % (1001 + i)) + call(2 * i + 1, 1001 + i) for i in range(n)),
    "lives of one id": lives,
    "interrupts": lambda n: pairs(n, "irq_handler_entry: irq=%d name=n", "irq_handler_exit: irq=%d ret=handled"),
    "futexes": lambda n: pairs(n, "sys_enter: NR 202 (7f%010x, 80, 0, 0, 0, 0)", "sys_exit: NR 202 = %d"),
    "files": lambda n: pairs(n, "sys_openat: dfd: ffffff9c, filename: 0x1 \"/tmp/f%d\", flags: 0,"
                             " mode: 0", "sys_openat -> 0x%x"),
}
OUT = "out"
COMMANDS = [c.split() for c in (
    "report DB", "report --callers DB", "report --sort comm,tid DB", "report --off-cpu DB",
    "check DB", "info --events DB", "path --all --waits DB", "path --all --tree DB",
    "path --all --worst 3 DB", "path --json --all DB", "path --of read DB", "sched DB",
    "latency DB", "latency --by comm DB", "page -o OUT DB", "flame -o OUT DB",
    "flame --off-cpu -o OUT DB", "script DB", "export --format chrome -o OUT DB",
    "export --format firefox -o OUT DB", "export --format folded -o OUT DB", "diff DB DB",
    "diff --latency call DB DB", "diff --off-cpu DB DB", "bundle -o out.tar DB")]
COMMANDS += [["query", "DB", "SELECT count(*) FROM " + view]
             for view in ("interval", "state_interval", "call")]


def seconds(args, limit=60):
    """Of processor time; and the status, negative: it died."""
    for name in (OUT, "out.tar"):
        if os.path.exists(name):
            os.unlink(name)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False, preexec_fn=lambda:
                          resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            done.returncode)


def main():
    program = os.path.abspath(sys.argv[1])
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    bad = 0
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for name, make in DIMENSIONS.items():
            if sys.argv[3:] and name not in sys.argv[3:]:
                continue
            took, worst = {}, 0
            for n in (most // 5, most):
                with open("in.txt", "w", encoding="utf-8") as f:
                    f.write(HEAD)
                    f.writelines(make(n))
                took[n, "ingest"] = seconds([program, "ingest", "-q", "-f", "--fields", "all",
                                             "-o", "in.db", "in.txt"])
                for c in COMMANDS:
                    took[n, " ".join(c)] = seconds([program] + [
                        {"DB": "in.db", "OUT": OUT}.get(w, w) for w in c])
            for (n, c), (s, rc) in took.items():
                if n != most:
                    continue
                less = max(took[most // 5, c][0], 0.05)
                worst = max(worst, s)
                if rc < 0 or s > 20 or (s > 1 and s > 10 * less):
                    bad += 1
                    print("%s: %s: %.2f -> %.2f s, status %d" % (name, c, less, s, rc))
            print("%-24s ingest %.2f s, longest command %.2f s" % (
                name, took[most, "ingest"][0], worst), flush=True)
    sys.exit(bad > 0)


main()

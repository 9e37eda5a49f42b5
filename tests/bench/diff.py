#!/usr/bin/env python3
# diff.py - memory and time of 'diff' of two captures of 10 million events each.
"""usage: diff.py BUILD [MILLIONS [FOLDER]]

A program and four threads that answer it: wake-ups, switches, and system calls;
in the second capture answers take a tenth longer. Databases that are in FOLDER
are not made again. Prints the processor time, the seconds by the clock, and the
MB at most, of each comparison."""

import os
import random
import subprocess
import sys
import tempfile
import time

EACH = 14  # events of a round


def lines(rounds, seed, us):
    r = random.Random(seed)
    lengths = [r.lognormvariate(0, .4) for _ in range(4096)]
    names = {0: "<idle>", 11: "w"}
    t = 1000000000

    def line(tid, cpu, text):
        return "%16s-%d [%03d] d..2. %d.%06d: %s\n" % (names.get(tid, "a%d" % (tid - 12)), tid, cpu, t // 1000000, t % 1000000, text)

    def switch(cpu, a, state, b):
        p, n = (names.get(a, "a%d" % (a - 12)), names.get(b, "a%d" % (b - 12)))
        return line(a, cpu, "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120"
                    % (p, a, state, n, b))

    def waking(cpu, a, b, to):
        return line(a, cpu, "sched_waking: comm=%s pid=%d prio=120 target_cpu=%03d" % (names.get(b, "a%d" % (b - 12)), b, to))

    yield "# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#\n"
    yield switch(0, 0, "R", 11).replace("next_comm=w", "next_comm=trace-cmd")
    t += 10
    yield line(11, 0, "sched_process_exec: filename=/bin/w pid=11 old_pid=11")
    for n in range(rounds):
        who = 12 + n % 4
        took = int(us * lengths[n * 7919 % 4096]) + 2
        t += 20
        yield line(11, 0, "sys_write(fd: 3)")
        t += 1
        yield waking(0, 11, who, 1)
        t += 1
        yield line(11, 0, "sys_write -> 0x1")
        yield line(11, 0, "sys_read(fd: 3)")
        t += 2
        yield switch(1, 0, "R", who)
        yield switch(0, 11, "S", 0)
        for call in "read", "write":
            t += took // 2
            yield line(who, 1, "sys_%s(fd: 4)" % call)
            t += 1
            yield line(who, 1, "sys_%s -> 0x1" % call)
        t += 1
        yield waking(1, who, 11, 0)
        t += 2
        yield switch(0, 0, "R", 11)
        t += 1
        yield line(11, 0, "sys_read -> 0x1")
        yield switch(1, who, "S", 0)
    t += 10
    yield line(11, 0, "sched_process_exit: comm=w pid=11 prio=120")
    t += 10
    yield switch(0, 11, "X", 0)


def measured(command):
    start = time.monotonic()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, time.monotonic() - start, used.ru_maxrss / 1024


def main():
    program = os.path.join(os.path.abspath(sys.argv[1]), "backstitch")
    millions = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    folder = sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp(dir="/var/tmp")
    os.makedirs(folder, exist_ok=True)
    dbs = []
    for name, seed, us in ("a", 1, 50), ("b", 2, 55):
        dbs.append(os.path.join(folder, name + ".db"))
        if os.path.exists(dbs[-1]):
            continue
        with subprocess.Popen([program, "ingest", "-q", "-o", dbs[-1], "-"], stdin=subprocess.PIPE, text=True) as p:
            for text in lines(int(millions * 1e6 / EACH), seed, us):
                p.stdin.write(text)
        print("%s: %.0f MB" % (name, os.path.getsize(dbs[-1]) / 1e6), flush=True)
    print("load %.1f" % os.getloadavg()[0])
    for what in ["--wall"], ["--off-cpu"], ["--sched"], ["--latency", "syscall"], ["--latency", "wake-up"], []:
        print("diff %-18s status %d  %6.1f s of processor time  %6.1f s  %5.0f MB"
              % ((" ".join(what),) + measured([program, "diff"] + what + dbs)), flush=True)


main()

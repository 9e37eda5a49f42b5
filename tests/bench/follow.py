#!/usr/bin/env python3
# follow.py - what follow costs beside a plain ingest of the same stream.
"""usage: follow.py BUILD

Records a minute of perf's stream (once: remove bench/follow.pipe to record anew) and makes two more by mkcap: one with
deferred user stacks, and one of many processes with many mappings, which each segment begins with. Each is followed in
segments of ten seconds of it, given as bytes, from a file: as fast as it goes. That is compared with a plain ingest, in
instructions (callgrind), processor time of all processes (best of $BENCH_RUNS), and events per second on one core and on
two. Both write their databases, use their cache of names and --jobs 1 on one core.

Measured on 2 cores, instructions of ingest over those of follow: see the table that is printed; the target is 0.8."""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import runs

BUILD = sys.argv[1]
US = os.path.join(BUILD, "backstitch")
MKCAP = os.path.join(BUILD, "mkcap")
LOAD = os.path.join(BUILD, "bench/load-fp")
SECONDS = 60
SEGMENT = 10
TARGET = 0.8
RATE = 4000  # samples per second and CPU
EVENTS = 2 * SECONDS * RATE // 2


def record(path):
    """perf of a busy program of two threads; the program alone, with an empty environment."""
    if os.path.exists(path):
        return
    print("recording %s (%d s)" % (path, SECONDS), flush=True)
    with open(path + ".new", "wb") as out, open("bench/record.log", "wb") as log:
        subprocess.run(["env", "-i", "PATH=" + os.environ["PATH"], "perf", "record", "-q", "-F", str(RATE), "-g", "-e",
                        "cpu-clock", "-o", "-", os.path.abspath(LOAD), str(SECONDS), "2"],
                       stdout=out, stderr=log, check=True)
    os.rename(path + ".new", path)


def symbols():
    """Addresses of the functions of the load program, and where its code is mapped."""
    head = subprocess.run(["readelf", "-lW", LOAD], stdout=subprocess.PIPE, text=True, check=True).stdout
    m = re.search(r"LOAD\s+0x(\w+)\s+0x(\w+)\s+0x\w+\s+0x(\w+)\s+0x\w+\s+R E", head)
    off, vaddr, size = (int(x, 16) for x in m.groups())
    names = subprocess.run(["nm", LOAD], stdout=subprocess.PIPE, text=True, check=True).stdout
    funcs = [int(line.split()[0], 16) for line in names.splitlines() if " t " in line or " T " in line]
    return off, size, [a - vaddr for a in funcs if vaddr <= a < vaddr + size]


BASE = 0x400000


def begin(processes, mappings):
    """Names and mappings of processes, of which the first mapping is the load program."""
    off, size, _ = symbols()
    yield "event cpu-clock defer period=1000"
    yield "event dummy:u output"
    yield ("mmap pid=-1 start=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000"
           " path=[kernel.kallsyms]_text kernel")
    for p in range(100, 100 + processes):
        yield "comm pid=%d tid=%d name=work%d" % (p, p, p)
        yield "mmap pid=%d tid=%d start=0x%x len=0x%x pgoff=0x%x path=%s" % (
            p, p, BASE, (size + 4095) & ~4095, off & ~4095, os.path.abspath(LOAD))
        for i in range(mappings):
            yield "mmap pid=%d tid=%d start=0x%x len=0x4000 pgoff=0 path=/none/lib%d.so" % (
                p, p, 0x7f0000000000 + 0x10000 * i, i)
    yield "round"


def deferred(path, processes, mappings):
    """A stream in which threads are sampled in the kernel, and get their user stack when they return."""
    if os.path.exists(path):
        return
    rnd = random.Random(7)
    _, _, funcs = symbols()
    stacks = [",".join(hex(BASE + rnd.choice(funcs) + 8) for _ in range(rnd.randrange(2, 9))) for _ in range(3000)]
    kernel = [",".join(hex(0xffffffff81000100 + 16 * rnd.randrange(400)) for _ in range(4)) for _ in range(200)]
    step = 10 ** 9 // (2 * RATE)
    counter = [0] * 4
    with open(path + ".txt", "w", encoding="ascii") as f:
        for line in begin(processes, mappings):
            f.write(line + "\n")
        for i in range(EVENTS):
            t = 10 ** 9 + i * step
            p, cpu = 100 + rnd.randrange(processes), i % 4
            who = "pid=%d tid=%d cpu=%d" % (p, p, cpu)
            if rnd.random() < 0.5:
                f.write("sample %s time=%d u=%s\n" % (who, t, stacks[min(2999, int(rnd.expovariate(0.01)))]))
            else:
                counter[cpu] += 1
                cookie = "%d:%d" % (cpu, 2 * counter[cpu] + 1)
                f.write("sample %s time=%d k=%s cookie=%s\n" % (who, t, rnd.choice(kernel), cookie))
                f.write("chain cookie=%s %s time=%d u=%s\n" % (
                    cookie, who, t + step // 2, stacks[min(2999, int(rnd.expovariate(0.01)))]))
            if i % 1000 == 999:
                f.write("round\n")
    subprocess.run([MKCAP, "-p", path + ".txt", path], check=True)
    os.unlink(path + ".txt")


def commands(stream, options, out):
    size = os.path.getsize(stream) * SEGMENT // SECONDS // 1024 + 1
    ingest = [US, "ingest", "-f", "-q", "-o", out + "/whole.db"] + options + [stream]
    follow = [US, "follow", "-q", "--segment", "%dK" % size, "-o", out + "/seg"] + options + [stream]
    return {"ingest": ingest, "follow": follow}


def run(args, out, cores):
    """One run on so many cores, without what an earlier one made."""
    shutil.rmtree(out + "/seg", ignore_errors=True)
    r = runs.Run(["taskset", "-c", "0" if cores == 1 else "0,1"] + args + (["--jobs", "1"] if cores == 1 else []))
    if r.status:
        sys.exit("%s failed: %s" % (" ".join(args), runs.message()))
    return r


def instructions(args, out):
    """Of all processes. None: callgrind is not here."""
    if not shutil.which("valgrind"):
        return None
    shutil.rmtree(out + "/seg", ignore_errors=True)
    p = subprocess.run(["valgrind", "--tool=callgrind", "--trace-children=yes",
                        "--callgrind-out-file=/dev/null"] + args + ["--jobs", "1"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        sys.exit("callgrind failed: " + p.stderr[-300:])
    return sum(int(n) for n in re.findall(r"Collected : (\d+)", p.stderr))


def events(db):
    return int(subprocess.run([US, "query", "--format", "csv", db, "SELECT count(*) FROM samples"],
                              stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1])


def measure(name, stream, options, out):
    """One line of the table; returns by what part ingest is cheaper, in instructions or else in processor time."""
    both = commands(stream, options, out)
    cpu, rate = {}, {}
    run(both["ingest"], out, 1)
    n = events(out + "/whole.db")
    for what, args in both.items():
        for cores in (1, 2):
            took = [run(args, out, cores) for _ in range(runs.RUNS)]
            cpu[what, cores] = min(r.cpu for r in took)
            rate[what, cores] = n / min(r.wall for r in took)
    code = {what: instructions(args, out) for what, args in both.items()}
    print("  %-28s %8d" % (name, n), end="")
    print("  %8.0f %8.0f" % tuple((code[w] or 0) / 1e6 for w in both), end="")
    print("  %6.2f %6.2f" % tuple(cpu[w, 1] for w in both), end="")
    print("  %9d %9d %9d %9d" % tuple(rate[w, c] for c in (1, 2) for w in both), end="")
    by_code = code["ingest"] / code["follow"] if code["follow"] else None
    by_cpu = cpu["ingest", 1] / cpu["follow", 1]
    print("  %5s %5.2f" % ("%.2f" % by_code if by_code else "-", by_cpu))
    return by_code or by_cpu


def main():
    record("bench/follow.pipe")
    deferred("bench/follow-deferred.pipe", 40, 20)
    deferred("bench/follow-many.pipe", 300, 100)
    out = tempfile.mkdtemp(dir="bench")
    os.environ["XDG_CACHE_HOME"] = os.path.abspath(out)
    print("                                          M instructions      cpu s       events/s, 1 core    "
          "events/s, 2 cores  ingest/follow")
    print("  %-28s %8s  %8s %8s  %6s %6s  %9s %9s %9s %9s  %5s %5s" % (
        "segments of 10 s", "events", "ingest", "follow", "ingest", "follow", "ingest", "follow", "ingest", "follow",
        "instr", "cpu"))
    reached = {}
    for name, stream in (("frame pointers", "follow"), ("deferred", "follow-deferred"), ("30,000 mappings", "follow-many")):
        for what, options in (("", []), (", no symbols", ["--no-symbols"])):
            reached[name + what] = measure(name + what, "bench/%s.pipe" % stream, options, out)
    shutil.rmtree(out)
    for name, part in reached.items():
        runs.target("rate of follow / ingest: " + name, part, TARGET)
    sys.exit(runs.missed > 0)


main()

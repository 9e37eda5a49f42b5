#!/usr/bin/env python3
# growth.py - time and memory per thing must not grow with the number of things.
#
# usage: growth.py BUILD [--table] [NAME...]        growth.py BUILD --large [GB]
#        growth.py --check
#
# For each kind of thing mkcap makes captures with 20,000, 80,000 and 320,000
# of them, or other numbers (SIZES_OF): four doublings. CTF, a tar, and databases
# for other commands are made by growth_inputs.py. Shown for each size: processor
# time of `ingest --no-symbols`, or of the command, without that of an empty
# capture, or of FIRST things, and peak memory; both per thing, and as a multiple
# of the least of the smaller sizes. Fails above 1.5 times as much per thing; a
# square of time would be 16 times. The last column is the bound of memory that
# backstitch-memory(7), MEMORY, promises for one: more than that, beyond what it
# promises for a run and the pages of the capture, fails, too. The fastest of
# $BENCH_RUNS (5) counts, of runs that take the sizes in turn. What is left is
# caches: instructions for each of 160,000 overlapping mappings are 1.10 times
# those for each of 20,000, which is log n.
#
# --table writes the last line of each kind into backstitch-memory(7), whatever it
# is; --check, of tests/check-bounds.sh, compares the table there with the text
# above it, and fails for a row that grows by more than 2.3 a doubling.
#
# --large: captures of a quarter, a half and all of 2 GB (or GB), with 1,000
# distinct stacks, made by repeating a block of records with later times. Time
# per gigabyte must stay within 1.5 times, and the whole is read with the data
# segment limited to the bound of backstitch-memory(7), whatever the size.
#
# The last result is the table of backstitch-memory(7). --large: 3.9, 3.7, 3.8 s/GB,
# 16 MB of memory.
import array
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import growth_inputs  # noqa: E402
import mkdwarf  # noqa: E402

MANUAL = "man/backstitch-memory.7"
SIZES = (20000, 80000, 320000)
LIMIT = 1.5
TOLD = 1.15 ** 4  # the most that the manual may tell: 2.3 for each doubling
LEAST = 0.01  # seconds: below, the clock tells nothing
LEAST_MEMORY = 1 << 20  # the same of memory: runs of nothing differ by as much
BOUND = 32 << 20  # bytes of the data segment
RUNS = int(os.environ.get("BENCH_RUNS", 5))
PAGE = 0x2000
ROUND = 8  # bytes of a FINISHED_ROUND
JIT = 0x700000000000
HEAD = """event cpu-clock defer period=1000
event dummy:u output
comm pid=100 name=app
"""


def mmap(pid, page, pages, n, time):
    return ("mmap pid=%d start=%#x len=%#x pgoff=0 path=/lib/l%d time=%d cpu=0"
            % (pid, 0x10000000 + page * PAGE, pages * PAGE - 0x1000, n % 50, time))


def sample(pid, tid, time, user):
    return ("sample pid=%d tid=%d cpu=0 time=%d k=0xffffffff81000010 u=%s"
            % (pid, tid, time, ",".join(hex(a) for a in user)))


def ordered(place, pages=lambda i, n: 1):
    """Mappings of one process: place(i, n) is the page of the i-th."""
    def make(n):
        for i in range(n):
            yield mmap(100, place(i, n), pages(i, n), i, 1000 + i)
    return make


def shuffled(n):
    """In any order, the same each time."""
    order = list(range(n))
    random.Random(n).shuffle(order)
    for t, i in enumerate(order):
        yield mmap(100, i, 1, i, 1000 + t)


def fork_and_map(n):
    """A process with 65,536 mappings forks and maps in turn."""
    for i in range(65536):
        yield mmap(100, i, 1, i, 1000 + i)
    for i in range(n):
        t = 100000 + 3 * i
        yield "fork pid=%d tid=%d ppid=100 ptid=100 time=%d cpu=0" % (
            1000 + i, 1000 + i, t)
        yield mmap(100, i * 40503 % 65536, 1, i, t + 1)


def children_map(n):
    """The children map, and end."""
    for i in range(65536):
        yield mmap(100, i, 1, i, 1000 + i)
    for i in range(n):
        t = 100000 + 4 * i
        pid = 1000 + i
        yield "fork pid=%d tid=%d ppid=100 ptid=100 time=%d cpu=0" % (pid, pid, t)
        yield mmap(pid, i * 40503 % 65536, 1, i, t + 1)
        yield "exit pid=%d tid=%d ppid=100 ptid=100 time=%d cpu=0" % (
            pid, pid, t + 2)


def threads(n):
    for i in range(n):
        yield "fork pid=100 tid=%d ppid=100 ptid=100 time=%d cpu=0" % (
            1000 + i, 1000 + 2 * i)
        yield sample(100, 1000 + i, 1001 + 2 * i, [0x401000])


def processes(n):
    for i in range(n):
        t = 1000 + 4 * i
        pid = 1000 + i
        yield "fork pid=%d tid=%d ppid=100 ptid=100 time=%d cpu=0" % (pid, pid, t)
        yield "comm pid=%d tid=%d name=p%d time=%d cpu=0" % (pid, pid, i % 9, t + 1)
        yield sample(pid, pid, t + 2, [0x401000])
        yield "exit pid=%d tid=%d ppid=100 ptid=100 time=%d cpu=0" % (pid, pid, t + 3)


def names(n):
    for i in range(n):
        yield "comm pid=100 name=n%d time=%d cpu=0" % (i, 1000 + 2 * i)
        yield sample(100, 100, 1001 + 2 * i, [0x401000])


def execs(n):
    for i in range(n):
        t = 1000 + 3 * i
        yield "comm pid=100 name=n%d exec time=%d cpu=0" % (i % 9, t)
        yield mmap(100, i % 50, 1, i, t + 1)
        yield sample(100, 100, t + 2, [0x10000100 + i % 50 * PAGE])


def stacks(n):
    yield mmap(100, 0, 2000, 1, 999)
    for i in range(n):
        yield sample(100, 100, 1000 + i,
                     [0x10000000 + i, 0x10000000 + i // 7, 0x10000000 + i // 50])


def events(n):
    for i in range(n):
        yield sample(100, 100, 1000 + i, [0x401000, 0x402000])


def waiting(n):
    """Requests whose chains come when all of them wait."""
    for i in range(n):
        yield "sample pid=100 tid=%d cpu=0 time=%d k=0xffffffff81000010 cookie=0:%d" % (
            1000 + i, 1000 + i, i + 1)
    for i in range(n):
        yield "chain cookie=0:%d pid=100 tid=%d cpu=0 time=%d u=0x401000" % (
            i + 1, 1000 + i, 1000000 + i)


def jitted(n):
    """A sample in each of n functions that a runtime made; see jitdump()."""
    yield "mmap pid=100 start=%#x len=%#x pgoff=0 path=//anon time=1 cpu=0" % (
        JIT, 64 * n)
    for i in range(n):
        yield sample(100, 100, 2000000 + i, [JIT + 64 * (i * 40503 % n) + 8])


def jitdump(n):
    """The file in which it logged them."""
    yield struct.pack("=6I2Q", 0x4A695444, 1, 40, 62, 0, 100, 0, 0)
    for i in range(n):
        name = b"f%d\0" % i
        at = JIT + 64 * i
        yield struct.pack("=2IQ2I4Q", 0, 56 + len(name) + 16, 1000 + i, 100, 100,
                          at, at, 16, i) + name + bytes(16)


def lossy(n):
    """A loss behind each sample: the next one asks what was lost."""
    for i in range(n):
        yield sample(100, 100, 1000 + 2 * i, [0x401000])
        yield "lost n=1 cpu=%d time=%d" % (i % 4, 1001 + 2 * i)


def generations(n):
    """A process with 8,000 mappings forks, its child does, and each maps."""
    for i in range(8000):
        yield mmap(100, i, 1, i, 1000 + i)
    for i in range(n):
        t, pid, parent = 10000 + 2 * i, 1000 + i, 999 + i if i else 100
        yield "fork pid=%d tid=%d ppid=%d ptid=%d time=%d cpu=0" % (
            pid, pid, parent, parent, t)
        yield mmap(pid, i * 40503 % 8000, 1, i, t + 1)


def images(n):
    for i in range(n):
        yield ("mmap pid=100 start=%#x len=0x1000 pgoff=0 path=/srv/%d/lib id=%040x "
               "time=%d cpu=0" % (0x10000000 + i * PAGE, i, i + 1, 1000 + i))
        yield sample(100, 100, 1000 + n + i, [0x10000010 + i * PAGE])


def deep(n):
    """Stacks of 100 frames that share none."""
    for i in range(n):
        yield sample(100, 100, 1000 + i, [0x400000 + 100 * i + j for j in range(100)])


def ftrace_head(n):
    return ["# tracer: nop", "#",
            "# entries-in-buffer/entries-written: %d/%d   #P:4" % (n, n), "#"]


def trace_line(i, tid, text):
    return "%16s-%-7d [%03d] d..2. %d.%06d: %s" % (
        "app", tid, i % 4, 1 + i // 1000000, i % 1000000, text)


def event_types(n):
    yield from ftrace_head(n)
    for i in range(n):
        yield trace_line(i, 100, "ev%d: a=%d b=%d" % (i, i, i))


def fields(n):
    """Of one event: each line has 50 that no other has."""
    yield from ftrace_head(n // 50)
    for i in range(n // 50):
        yield trace_line(i, 100, "ev: " + " ".join(
            "f%d=%d" % (50 * i + j, j) for j in range(50)))


def switches(n):
    yield from ftrace_head(n)
    for i in range(n):
        was, now = 10 + i % 1000, 10 + (i + 1) % 1000
        yield trace_line(
            i, was, "sched_switch: prev_comm=t prev_pid=%d prev_prio=120 prev_state=S ==> "
            "next_comm=t next_pid=%d next_prio=120" % (was, now))


def cgroups(n):
    """Groups of control, each made anew."""
    for i in range(n):
        path = b"/sys/%d" % i
        path += bytes(8 - len(path) % 8)
        body = struct.pack("<Q", i + 1) + path + struct.pack(
            "<IIQIIQ", 100, 100, 1000 + i, i % 4, 0, 1 + i % 4)
        yield "raw type=19 misc=0 hex=" + body.hex()


def cpus(n):
    """A sample and a loss of each CPU."""
    for i in range(n):
        yield "sample pid=100 tid=100 cpu=%d time=%d u=0x401000" % (i, 1000 + 2 * i)
        yield "lost n=1 cpu=%d time=%d" % (i, 1001 + 2 * i)


def findings(n):
    """Ids of threads that another process has without an EXIT."""
    for i in range(n):
        for pid in (100, 101):
            yield sample(pid, 1000 + i, 1000 + 2 * i + pid - 100, [0x401000])


def explained(n):
    """The same with a loss between, which explains it."""
    for i in range(n):
        yield sample(100, 1000 + i, 1000 + 3 * i, [0x401000])
        yield "lost n=1 cpu=0 time=%d" % (1001 + 3 * i)
        yield sample(101, 1000 + i, 1002 + 3 * i, [0x401000])


def long_names(n):
    """Of 60,000 bytes, each another one."""
    for i in range(n):
        yield "comm pid=100 name=%s%d time=%d cpu=0" % (
            "n" * 60000, i, 1000 + 2 * i)
        yield sample(100, 100, 1001 + 2 * i, [0x401000])


def long_paths(n):
    for i in range(n):
        yield ("mmap pid=100 start=%#x len=0x1000 pgoff=0 path=/%s%d time=%d cpu=0"
               % (0x10000000 + i * PAGE, "d" * 4000, i, 1000 + i))
        yield sample(100, 100, 1000 + n + i, [0x10000010 + i * PAGE])


def kernel_symbols(n):
    """Samples in some; see kallsyms()."""
    yield ("mmap pid=-1 tid=0 start=0xffffffff81000000 len=0x1000000 kernel "
           "pgoff=0xffffffff81000000 path=[kernel.kallsyms]_text time=0 cpu=0")
    for i in range(min(n, 1000)):
        yield ("sample pid=100 tid=100 cpu=0 time=%d k=%#x"
               % (1000 + i, 0xffffffff81000008 + 16 * (i * 40503 % n)))


def kallsyms(n):
    """The table that names them."""
    for i in range(n):
        yield "%016x t f%d\n" % (0xffffffff81000000 + 16 * i, i)


def inlines(n):
    """Samples of a program with n functions, each inlined in the one before."""
    yield from mkdwarf.capture()


def segments(n):
    """A stream that is cut into segments of 20 samples, of which each has 1 kB."""
    for i in range(20 * n):
        yield sample(100, 100, 1000 + i, [0x401000])
        if i % 20 == 19:
            yield "round"


def merged(n):
    """They become one database."""
    yield from segments(n)


def captures(n):
    """The same small one again and again; each keeps its own clock."""
    yield sample(100, 100, 1000, [0x401000])


TEXTS = (event_types, fields, switches)
SIZES_OF = {
    "generations that map": (2000, 8000, 32000),
    "stacks of 100 frames": (5000, 20000, 80000),
    "types of events": (4000, 16000, 64000),
    "captures": (60, 240, 960),
    "segments of a stream": (240, 960, 3840),
    "segments that are merged": (60, 240, 960),
    "functions inlined in each other": (1000, 4000, 16000),
    "CPUs": (500, 2000, 8000),
    "names of 60,000 bytes": (100, 400, 1600),
    "paths of 4,000 bytes": (1000, 4000, 16000),
    **growth_inputs.SIZES_OF,
}

# What MEMORY of backstitch-memory(7) says of one of them, in kB.
ANY = r"up to ([\d.]+) kB for each thread, name, mapping, request"
PROMISED = {
    "forks and mappings in turn": r"up to ([\d.]+) kB for each fork",
    "children that map": r"up to ([\d.]+) kB for each fork",
    "generations that map": r"up to ([\d.]+) kB for each fork",
    "losses between samples": r"([\d.]+) kB for each loss",
    "types of events": r"an event of the recorder ([\d.]+) kB",
    "captures": r"([\d.]+) kB for each capture",
    "segments of a stream": r"([\d.]+) kB for each segment",
    "segments that are merged": r"([\d.]+) kB for each segment",
    "CPUs": r"([\d.]+) kB for each CPU",
    "symbols of the kernel": r"a symbol of a file ([\d.]+) kB",
    # 100 new frames, of which each takes 8 bytes and 0.5 kB
    "stacks of 100 frames": r"and ([\d.]+) kB for each frame",
    "cgroups": None,
    "events": None,
    "functions inlined in each other": None,
    "switches": None,
    **growth_inputs.PROMISED,
}

KINDS = {
    "mappings upwards": ordered(lambda i, n: i),
    "mappings downwards": ordered(lambda i, n: n - i),
    "mappings in any order": shuffled,
    "overlapping mappings": ordered(lambda i, n: n - i, lambda i, n: 3),
    "nested mappings": ordered(lambda i, n: i, lambda i, n: 2 * (n - i)),
    "forks and mappings in turn": fork_and_map,
    "children that map": children_map,
    "processes": processes,
    "threads": threads,
    "names": names,
    "execs": execs,
    "distinct stacks": stacks,
    "events": events,
    "requests waiting": waiting,
    "JIT functions": jitted,
    "losses between samples": lossy,
    "generations that map": generations,
    "images": images,
    "stacks of 100 frames": deep,
    "types of events": event_types,
    "fields of an event": fields,
    "switches": switches,
    "captures": captures,
    "cgroups": cgroups,
    "CPUs": cpus,
    "findings": findings,
    "findings that losses explain": explained,
    "names of 60,000 bytes": long_names,
    "paths of 4,000 bytes": long_paths,
    "symbols of the kernel": kernel_symbols,
    "functions inlined in each other": inlines,
    "segments of a stream": segments,
    "segments that are merged": merged,
    **growth_inputs.KINDS,
}


# The first forks write rows for the mappings of each child. With few things the
# peak of memory is elsewhere.
FIRST = {fork_and_map: 500, children_map: 500, generations: 500, captures: 1,
         segments: 1, merged: 1, **growth_inputs.FIRST}

# Bytes of text in each.
TEXT = {long_names: 60000, long_paths: 4000}


def promised(name):
    """Bytes that the manual promises for one; None: nothing, as they are not kept."""
    with open(MANUAL, encoding="utf-8") as f:
        text = re.sub(r"(?m)^\.\w+ ?", "", f.read().split(".Sh MEMORY")[1])

    def number(pattern):
        said = re.search(pattern.replace(" ", r"\s+"), text)
        if not said:
            sys.exit("%s promises nothing for %s" % (MANUAL, name))
        return float(said[1])

    pattern = PROMISED.get(name, ANY)
    if not pattern:
        return None
    more = TEXT.get(KINDS[name], 0)
    return (number(pattern) * (100000 if name == "stacks of 100 frames" else 1000) +
            (more and more * number(r"([\d.]+) times its bytes")))


# The peak of a process is at least that of the one that began it: this one stays small.
BEGIN_ONE = """import os, sys
null = (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[null])
_, status, used = os.wait4(pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def run(args):
    """Seconds of processor time and bytes of a command."""
    said = subprocess.run([sys.executable, "-I", "-S", "-c", BEGIN_ONE, *args], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.split()
    if said[0] not in ("0", "3"):
        sys.exit("%s failed: %s" % (args, said[0]))
    return float(said[1]), int(said[2]) * 1024


def run_limited(args, limit):
    """The same with a limit of the data segment; bytes without the pages of files
    that are mapped."""
    pid = os.fork()
    if pid == 0:
        null = os.open("/dev/null", os.O_WRONLY)
        os.dup2(null, 1)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        os.execvp(args[0], args)
    own = 0
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        with open("/proc/%d/status" % pid, encoding="ascii") as f:
            for line in f:
                if line.startswith("RssAnon"):
                    own = max(own, int(line.split()[1]) * 1024)
        time.sleep(0.02)
    _, status, used = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        sys.exit("%s failed: %s" % (args, status))
    return used.ru_utime + used.ru_stime, own


def capture(build, folder, name, lines, head=HEAD, option=None):
    """Makes a capture; returns its path."""
    text, data = (os.path.join(folder, name + x) for x in (".txt", ".data"))
    with open(text, "w", encoding="ascii") as f:
        f.write(head)
        f.writelines(line + "\n" for line in lines)
    subprocess.run([build + "/mkcap", *([option] if option else []), text, data],
                   check=True)
    os.unlink(text)
    return data


def cut_stream(build, folder, n, keep):
    """A stream, and the command that makes n segments of it. For each new file ext4
    looks at all that were removed in the last five seconds: memory does not."""
    pipe = capture(build, folder, "%d-stream" % n, segments(n), option="-p")
    memory = not keep and os.access("/dev/shm", os.W_OK)
    into = os.path.join("/dev/shm" if memory else folder, "%s-%d-segments" % (
        os.path.basename(folder), n))
    after = "" if keep else "; rc=$?; rm -r '%s'; exit $rc" % into
    return pipe, into, ["sh", "-c", "'%s/backstitch' follow -q --no-symbols -o '%s' "
                        "--segment 1K - <'%s'%s" % (build, into, pipe, after)]


def prepared(build, folder, make, n):
    """Makes what is read for n things; returns the command, and its files."""
    if make in growth_inputs.KINDS.values():
        return make(build, folder, n)
    db = os.path.join(folder, "c.db")
    command = [build + "/backstitch", "ingest", "-q", "-f", "-o", db]
    plain = [*command, "--no-symbols"]
    if make in TEXTS:
        path = os.path.join(folder, "%d.trace" % n)
        with open(path, "w", encoding="ascii") as f:
            f.writelines(line + "\n" for line in make(n))
        return [*plain, path], [path]
    if make is captures:
        one = capture(build, folder, "one", make(n))
        every = [os.path.join(folder, "%d-%d.data" % (n, i)) for i in range(n)]
        for path in every:
            shutil.copy(one, path)
        return [*plain, *every], every
    if make in (segments, merged):
        pipe, into, cut = cut_stream(build, folder, n, make is merged)
        if make is segments:
            return cut, [pipe]
        subprocess.run(cut, check=True)
        return [build + "/backstitch", "merge", "-q", "-f", "-o", db, into], []
    if make is kernel_symbols:
        table = os.path.join(folder, "%d.kallsyms" % n)
        with open(table, "w", encoding="ascii") as f:
            f.writelines(kallsyms(n))
        one = capture(build, folder, str(n), make(n))
        return [*command, "--no-cache", "--kallsyms", table, one], [one, table]
    if make is inlines:
        program = os.path.join(folder, "%d/opt/work" % n)
        os.makedirs(os.path.dirname(program))
        info, abbrev = mkdwarf.dies(mkdwarf.nested(n))
        mkdwarf.program(program, info=info, abbrev=abbrev,
                        line=mkdwarf.lines(mkdwarf.line_rows(1000)))
        one = capture(build, folder, str(n), make(n), "")
        return [*command, "--no-cache", "--symfs", os.path.join(folder, str(n)),
                one], [one]
    if make is not jitted:
        one = capture(build, folder, str(n), make(n))
        return [*plain, one], [one]
    dump = os.path.join(folder, "jit-100-%d.dump" % n)
    with open(dump, "wb") as f:
        f.writelines(jitdump(n))
    one = capture(build, folder, str(n), make(n), HEAD.replace(" defer ", " mono "))
    return [*plain, "--jitdump", dump, one], [one, dump]


def worst(row):
    """How many times the least of those before the largest is."""
    return max(b / max(min(row[:i + 1]), 1e-9) for i, b in enumerate(row[1:]))


def measured(build, folder, name):
    """Prints a line for each size; returns a row of the table, and how often there
    is too much."""
    make = KINDS[name]
    sizes = SIZES_OF.get(name, SIZES)
    bound = promised(name)
    every = [prepared(build, folder, make, n) for n in sizes]
    first = prepared(build, folder, make, FIRST.get(make, 0))
    runs = [[run(args) for args, _ in (first, *every)] for _ in range(RUNS)]
    base, *took = [tuple(map(min, zip(*same))) for same in zip(*runs)]
    secs = [max(t - base[0], LEAST) for t, _ in took]
    mem = [max(m - base[1], LEAST_MEMORY) for _, m in took]
    bad = 0
    for i, n in enumerate(sizes):
        each = [[v[j] / (sizes[j] - FIRST.get(make, 0)) for j in range(i + 1)]
                for v in (secs, mem)]
        grew = [worst(row) if i else 1 for row in each]
        files = sum(os.path.getsize(p) for p in every[i][1])
        wrong = max(grew) > LIMIT or bool(bound) and (
            mem[i] + base[1] > BOUND + n * bound + files)
        bad += wrong
        print("%-31s %7d %8.3f %8.2f %6.2f %8.1f %8.0f %6.2f %8s%s" % (
            name, n, secs[i], each[0][i] * 1e6, grew[0], mem[i] / 1e6, each[1][i],
            grew[1], "%.0f" % bound if bound else "-",
            "  TOO MUCH" if wrong else ""), flush=True)
    for path in {p for _, files in (first, *every) for p in files}:
        os.unlink(path)
    return (name, sizes[-1], each[0][-1] * 1e6, grew[0], each[1][-1], grew[1],
            bound), bad


def all_kinds(build, folder, want):
    print("%-31s %7s %8s %8s %6s %8s %8s %6s %8s" % (
        "", "n", "s", "us each", "ratio", "MB", "B each", "ratio", "bound"))
    rows, bad = [], 0
    for name in want:
        row, wrong = measured(build, folder, name)
        rows.append(row)
        bad += wrong
    return rows, bad


# ---- the table of the manual

BEGIN = '.\\" by tests/bench/growth.py BUILD --table\n'
END = '.\\" end of the table\n'


def short(v):
    return "%.2g" % v if v < 10 else "{:,.0f}".format(v)


def kilobytes(n):
    return "-" if n is None else short(n / 1000)


def line_of(row):
    """mdoc of a row."""
    name, n, us, grew, own, grew_mem, bound = row
    return ".It %s Ta %s Ta %s Ta %.2f Ta %.2f Ta %s Ta %s\n" % (
        name, "{:,}".format(n), short(us), grew, grew_mem, kilobytes(own),
        kilobytes(bound))


def write_table(rows):
    """Rows of kinds that were not measured stay."""
    with open(MANUAL, encoding="utf-8") as f:
        before, rest = f.read().split(BEGIN)
    was, after = rest.split(END)
    lines = {line.split(" Ta ")[0][len(".It "):]: line + "\n"
             for line in was.splitlines()}
    lines.update((row[0], line_of(row)) for row in rows)
    with open(MANUAL, "w", encoding="utf-8") as f:
        f.write(before + BEGIN + "".join(lines[k] for k in KINDS if k in lines) +
                END + after)


def wrong_in_table():
    """What the manual's table tells that is not so, without a measurement."""
    with open(MANUAL, encoding="utf-8") as f:
        lines = f.read().split(BEGIN)[1].split(END)[0].splitlines()
    table = {}
    for line in lines:
        name, *cells = line[len(".It "):].split(" Ta ")
        table[name] = cells
    for name in [*table, *(k for k in KINDS if k not in table)]:
        if name not in KINDS or name not in table:
            yield name + ": in one of table and KINDS only"
            continue
        n, _, time_grew, mem_grew, own, bound = table[name]
        size = SIZES_OF.get(name, SIZES)[-1]
        if n != "{:,}".format(size) or bound != kilobytes(promised(name)):
            yield "%s: %s of %s kB, but now it is %d of %s" % (
                name, n, bound, size, kilobytes(promised(name)))
        if max(float(time_grew), float(mem_grew)) > TOLD:
            yield name + ": grows too much"
        # the 32 MB of any run are not in a bound
        if bound != "-" and float(own) * size > float(bound) * size + BOUND / 1000:
            yield "%s: takes %s kB, the bound is %s" % (name, own, bound)


# ---- one that is larger than memory


def block_of(n):
    """Records of one size, whose times are those of a ring that was never full."""
    for i in range(n):
        k = i % 1000
        yield sample(100, 100, 1000 + i, [0x10000000 + 16 * (k * 31 + j * 7 % 100)
                                          for j in range(30)])
    yield "round"


def large_capture(build, folder, size):
    """Repeats a block until the file has so many bytes; returns path and records."""
    n = 20000
    path = capture(build, folder, "block", block_of(n))
    with open(path, "rb") as f:
        whole = f.read()
    at, length = struct.unpack_from("<QQ", whole, 40)
    # the records of HEAD, which are another size, come first
    step = (length - len_of_head(build, folder) - ROUND) // n
    last = at + length - ROUND
    first = last - n * step
    records, finished = bytearray(whole[first:last]), whole[last:last + ROUND]
    where = bytes(records[:step]).index(struct.pack("<Q", 1000))
    big = os.path.join(folder, "large.data")
    count = 0
    with open(big, "wb") as f:
        f.write(whole[:first])
        while f.tell() < size:
            times = array.array("Q", range(1000 + count, 1000 + count + n)).tobytes()
            for byte in range(8):
                records[where + byte::step] = times[byte::8]
            f.write(records + finished)
            count += n
        end = f.tell()
        f.seek(48)
        f.write(struct.pack("<Q", end - at))
    return big, count


def len_of_head(build, folder):
    with open(capture(build, folder, "none", []), "rb") as f:
        return struct.unpack_from("<Q", f.read(64), 48)[0]


def large(build, folder, size):
    """Returns whether time grows with the size, or memory is above the bound."""
    print("%8s %10s %8s %8s %6s %8s" % ("GB", "records", "s", "s/GB", "ratio", "MB"))
    db, row = os.path.join(folder, "c.db"), []
    bad = 0
    for part in (size // 4, size // 2, size):
        path, n = large_capture(build, folder, part)
        took, mem = run_limited([build + "/backstitch", "ingest", "-q", "-f",
                                 "--no-symbols", "-o", db, path], BOUND)
        row.append(took / part)
        grew = worst(row) if len(row) > 1 else 1
        bad += grew > LIMIT
        print("%8.2f %10d %8.2f %8.2f %6.2f %8.1f%s" % (
            part / 1e9, n, took, row[-1] * 1e9, grew, mem / 1e6,
            "  TOO MUCH" if grew > LIMIT else ""), flush=True)
        os.unlink(path)
    print("with the data segment limited to %d MB" % (BOUND / 1e6))
    return bad


def main():
    build, *want = sys.argv[1:]
    if build == "--check":
        wrong = list(wrong_in_table())
        print("".join("%s: %s\n" % (MANUAL, w) for w in wrong), end="")
        sys.exit(bool(wrong))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        if want and want[0] == "--large":
            sys.exit(large(build, folder, int(float(
                want[1] if len(want) > 1 else 2) * 1e9)) > 0)
        table = want[:1] == ["--table"]
        rows, bad = all_kinds(build, folder, want[table:] or KINDS)
        if table:
            write_table(rows)
        sys.exit(bad > 0)


main()

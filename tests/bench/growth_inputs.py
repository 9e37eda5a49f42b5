# growth_inputs.py - what growth.py measures that is no perf.data of mkcap alone.
"""Each kind is a function of the build, a folder for files and a number of
things: it makes what is read, and returns the command and its files. A command
on a database gets one that was made before."""
import os
import sqlite3
import struct
import subprocess

UUID = bytes(range(16))
CTF = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
trace { major = 1; minor = 8; byte_order = le;
 uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
 packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; }; };
env { domain = "ust"; tracer_name = "lttng-ust"; };
clock { name = "monotonic"; freq = 1000000000; offset = 5; };
typealias integer { size = 64; align = 8; signed = false;
 map = clock.monotonic.value; } := t64;
stream { id = 0;
 packet.context := struct { t64 timestamp_begin; t64 timestamp_end;
  u64 content_size; u64 packet_size; u32 cpu_id; };
 event.header := struct { u32 id; t64 timestamp; };
 event.context := struct { u32 _vpid; u32 _vtid; }; };
event { id = 0; name = "app:tick"; stream_id = 0;
 fields := struct { }; };
"""


def ingest(build, folder, *args, name="c"):
    return [build + "/backstitch", "ingest", "-q", "-f", "-o",
            os.path.join(folder, name + ".db"), *args]


def database(build, folder, name, *args):
    """Makes a database; returns its path."""
    subprocess.run(ingest(build, folder, *args, name=name), check=True)
    return os.path.join(folder, name + ".db")


def text(folder, name, lines):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as f:
        f.writelines(line + "\n" for line in lines)
    return path


def capture(build, folder, name, lines):
    """A perf.data."""
    data = os.path.join(folder, name + ".data")
    subprocess.run([build + "/mkcap", text(folder, name + ".txt", lines), data],
                   check=True)
    return data


# ---- CTF


def packet(events):
    """Events: time and tid."""
    body = b"".join(struct.pack("<IQII", 0, time, 100, tid) for time, tid in events)
    size = 60 + len(body)
    return struct.pack("<I16sIQQQQI", 0xC1FC1FC1, UUID, 0, events[0][0],
                       events[-1][0], size * 8, size * 8, 0) + body


def ctf(build, folder, n, packets):
    trace = os.path.join(folder, "%d.ctf" % n)
    os.makedirs(trace, exist_ok=True)
    with open(trace + "/metadata", "w", encoding="ascii") as f:
        f.write(CTF)
    with open(trace + "/stream", "wb") as f:
        f.writelines(packet(events) for events in packets)
    return (ingest(build, folder, "--no-symbols", trace),
            [trace + "/stream", trace + "/metadata"])


def packets_of_ctf(build, folder, n):
    """Of an event each."""
    return ctf(build, folder, n, ([(1000 + i, 100)] for i in range(n)))


def threads_of_ctf(build, folder, n):
    """An event of each."""
    return ctf(build, folder, n, (
        [(1000 + i + k, 1000 + i + k) for k in range(100)]
        for i in range(0, n, 100)))


# ---- perf.data with more


def mapped(n):
    yield "event cpu-clock period=1000"
    yield "comm pid=100 name=app"
    yield "mmap pid=100 start=0x10000000 len=%#x pgoff=0 path=//anon time=1 cpu=0" % (64 * n)


def sampled(n, step=1, first=0):
    """Samples in each of n functions of 64 bytes, or in one of `step`."""
    for i in range(0, n, step):
        yield "sample pid=100 tid=100 cpu=0 time=%d u=%#x" % (
            1000 + i, 0x10000008 + 64 * ((first + i * 40503) % n))


def perf_map(folder, name, n):
    return text(folder, name + ".map", (
        "%x 40 f%d" % (0x10000000 + 64 * i, i) for i in range(n)))


def entries_of_a_map(build, folder, n):
    """Samples in 1,000 of them."""
    one = capture(build, folder, str(n), [*mapped(n), *sampled(n, max(n // 1000, 1))])
    entries = perf_map(folder, str(n), n)
    return (ingest(build, folder, "--no-symbols", "--perf-map", "100=" + entries, one),
            [one, entries])


def build_ids(build, folder, n):
    """As perf lists them in front of the records, of files that none maps."""
    def lines():
        yield "event cpu-clock period=1000"
        for i in range(n):
            body = struct.pack("<i20sI", -1, b"%020d" % i, 0) + b"/lib/l%07d\0" % i
            yield "raw type=67 misc=2 hex=" + (body + bytes(-len(body) % 8)).hex()
        yield "comm pid=100 name=app"
        yield "sample pid=100 tid=100 cpu=0 time=1000 u=0x401000"
    one = capture(build, folder, str(n), lines())
    return ingest(build, folder, "--no-symbols", one), [one]


def children_that_execute(build, folder, n):
    """Of a process with 8,000 mappings."""
    def lines():
        yield "event cpu-clock period=1000"
        for i in range(8000):
            yield "mmap pid=100 start=%#x len=0x1000 pgoff=0 path=/lib/l%d time=%d cpu=0" % (
                0x10000000 + i * 0x2000, i % 50, 1000 + i)
        for i in range(n):
            at, pid = 10000 + 4 * i, 1000 + i
            yield "fork pid=%d tid=%d ppid=100 ptid=100 time=%d cpu=0" % (pid, pid, at)
            yield "comm pid=%d tid=%d name=p exec time=%d cpu=0" % (pid, pid, at + 1)
            yield "mmap pid=%d start=0x400000 len=0x1000 pgoff=0 path=/bin/p time=%d cpu=0" % (
                pid, at + 2)
            yield "sample pid=%d tid=%d cpu=0 time=%d u=0x400010" % (pid, pid, at + 3)
    one = capture(build, folder, str(n), lines())
    return ingest(build, folder, "--no-symbols", one), [one]


# ---- what other commands read


def members_of_a_bundle(build, folder, n):
    """Of a tar in front of the database; each is empty."""
    db = database(build, folder, "run", "--no-symbols", capture(
        build, folder, "one", [*mapped(1), *sampled(1)]))
    tar = os.path.join(folder, "%d.tar" % n)
    with open(db, "rb") as f:
        last = member(b"run.db", os.path.getsize(db)) + f.read()
    with open(tar, "wb") as f:
        f.writelines(member(b"f%d" % i, 0) for i in range(n))
        f.write(last + bytes(-len(last) % 512 + 1024))
    return [build + "/backstitch", "info", tar], [tar]


def member(name, size):
    head = bytearray(name.ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 +
                     b"%011o\0" % size + b"00000000000\0" + b" " * 8 + b"0")
    head = head.ljust(257, b"\0") + b"ustar\00000"
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head.ljust(512, b"\0"))


def ftrace_head(n, cpus=1):
    return ("# tracer: nop", "#",
            "# entries-in-buffer/entries-written: %d/%d   #P:%d" % (n, n, cpus), "#")


def traced(time, tid, event, cpu=0):
    return "%16s-%-7d [%03d] d..2. %d.%06d: %s" % (
        "t", tid, cpu, 1 + time // 1000000, time % 1000000, event)


def switch(time, was, now, cpu=0):
    return traced(time, was, "sched_switch: prev_comm=t prev_pid=%d prev_prio=120 "
                  "prev_state=S ==> next_comm=t next_pid=%d next_prio=120" % (was, now), cpu)


def waking(time, by, whom, cpu=0):
    return traced(time, by, "sched_waking: comm=t pid=%d prio=120 target_cpu=%03d" % (
        whom, cpu), cpu)


def call(time, tid, cpu=0):
    return traced(time, tid, "sys_enter: NR 1 (0, 0, 0, 0, 0, 0)", cpu)


def call_ends(time, tid, cpu=0):
    return traced(time, tid, "sys_exit: NR 1 = 0", cpu)


def cpus_of(*command):
    """A wait on each CPU, at a time of its own: all others have no records then."""
    def make(build, folder, n):
        def lines():
            yield from ftrace_head(5 * n, n)
            for c in range(n):
                at, was, now = 10 * c, 10 + c, 100000 + c
                yield switch(at, was, now, c)
                yield call(at + 1, now, c)
                yield call_ends(at + 2, now, c)
                yield waking(at + 3, now, was, c)
                yield switch(at + 4, now, was, c)
        db = database(build, folder, str(n), text(folder, "%d.trace" % n, lines()))
        return [build + "/backstitch", command[0], db, *filter(None, command[1:])], [db]
    return make


def captures_that_switch(build, folder, n):
    """Each has the same 300 switches, later by its own clock."""
    def lines(k):
        yield from ftrace_head(300, 4)
        for i in range(300):
            yield switch(2 * i + 1000 * k, 10 + i % 50, 1000 + i % 77, i % 4)
    every = [text(folder, "%d-%d.trace" % (n, k), lines(k)) for k in range(n)]
    return ingest(build, folder, "--no-symbols", *every), every


def readings_of_waits(build, folder, n):
    """And as many times that two threads which may use one CPU wait for it."""
    def lines():
        yield "# beside: clock=monotonic"
        yield from ftrace_head(n, 2)
        for i in range(n):
            yield traced(1000000 * i + 50, 10 + i % 2, "sched_switch: prev_comm=t "
                         "prev_pid=%d prev_prio=120 prev_state=R ==> next_comm=t "
                         "next_pid=%d next_prio=120" % (10 + i % 2, 11 - i % 2))

    def limits():
        yield "# beside: clock=monotonic"
        yield "# tracer: nop"
        for i in range(n):
            for tid in 10, 11:
                yield traced(1000000 * i, 9, "limits_thread: tid=%d cpus=0 real_time=0 path=-" % tid)
            yield traced(1000000 * i + 1, 9, "limits_read: took_ns=2000 stolen_ns=0 cpus=0-1 "
                         "real_time_us=950000 host=box")
    db = database(build, folder, str(n), text(folder, "%d.trace" % n, lines()),
                  text(folder, "%d.limits" % n, limits()))
    return [build + "/backstitch", "sched", "--limit", "1", db], [db]


def ends_without_begin(build, folder, n):
    """And as many losses before them."""
    def lines():
        yield from ftrace_head(2 * n)
        for i in range(n):
            yield traced(2 * i, 10, "ev: a=1")
            yield "CPU:0 [LOST 3 EVENTS]"
        for i in range(n):
            yield call_ends(3 * n + i, 1000 + i)
        yield call(5 * n, 10)
        yield call_ends(5 * n + 1, 10)
    db = database(build, folder, str(n), "--fields", "all",
                  text(folder, "%d.trace" % n, lines()))
    return [build + "/backstitch", "latency", db], [db]


def returns_of_probes(build, folder, n):
    """Of one whose begin was missed, below as many calls of another."""
    def lines():
        yield from ftrace_head(2 * n)
        for i in range(n):
            yield traced(2 * i, 10, "f__entry: (ffffffff81000000)")
        for i in range(n):
            yield traced(2 * n + i, 10, "%s__exit: (ffffffff81000010 <- "
                         "ffffffff81000000)" % "gf"[i % 2])
        yield traced(3 * n, 10, "g__entry: (ffffffff81000000)")
    db = database(build, folder, str(n),
                  text(folder, "%d.trace" % n, lines()))
    return [build + "/backstitch", "latency", db], [db]


def ends_of_exec(build, folder, n):
    """In processes of which no exec is known; as many other calls are open."""
    def lines():
        for name in ("enter_read", "exit_read", "enter_execve", "exit_execve"):
            yield "event syscalls:sys_" + name
        for i in range(2 * n):
            yield "sample event=syscalls:sys_%s pid=%d tid=%d cpu=0 time=%d" % (
                "enter_read" if i < n else "exit_execve", 10 + i, 10 + i, 1000 + i)
        for i, name in enumerate(("enter_execve", "exit_execve", "exit_read")):
            yield "sample event=syscalls:sys_%s pid=5 tid=5 cpu=0 time=%d" % (
                name, 2000 + 2 * n + i)
    db = database(build, folder, str(n), capture(build, folder, str(n), lines()))
    return [build + "/backstitch", "latency", db], [db]


def mappings_at_one_place(build, folder, n):
    """One after the other, with a call of futex while each is there."""
    db = database(build, folder, str(n), os.path.join(
        os.path.dirname(__file__), "../captures/nets.data.zst"))
    with sqlite3.connect(db) as c:
        # a call of futex, 202 on x86-64, and what it waits for
        for event, thread, data in c.execute(
                "SELECT e.id, e.thread, p.data FROM event e JOIN payload p ON p.id = e.payload "
                "WHERE e.type = 1"):
            if len(data) >= 64 and struct.unpack_from("<q", data, 8) == (202,):
                place = struct.unpack_from("<Q", data, 16)[0] & ~0xfff
                break
        last, end = c.execute("SELECT max(id), max(time_ns) FROM event").fetchone()
        columns = [r[1] for r in c.execute("PRAGMA table_info(event)")]
        values = {"id": "?1", "time_ns": "?2"}
        c.executemany("INSERT INTO event SELECT %s FROM event WHERE id = %d" % (
            ",".join(values.get(k, k) for k in columns), event),
            ((last + 1 + i, end + 10 * i + 5) for i in range(n)))
        c.executemany(
            'INSERT INTO mapping(process, start, "end", pgoff, image, prot, flags, t0, t1) '
            "SELECT process, %d, %d, 0, (SELECT min(id) FROM image WHERE kind = 2 "
            "AND coalesce(len, 0) = 0), 5, 2, ?1, ?2 FROM thread WHERE id = %d" % (
                place, place + 0x1000, thread),
            ((end + 10 * i, end + 10 * i + 10) for i in range(n)))
    return [build + "/backstitch", "latency", "--by", "lock", db], [db]


def nested_wake_ups(build, folder, n):
    """Each thread sleeps until the next one wakes it: chains of up to n."""
    def lines():
        yield from ftrace_head(3 * n)
        for i in range(n):
            yield switch(i, 10 + i, 11 + i)
        for i in range(n):
            by = 10 + n - i
            yield waking(n + 2 * i, by, by - 1)
            yield switch(n + 2 * i + 1, by, by - 1)
    db = database(build, folder, str(n), text(folder, "%d.trace" % n, lines()))
    return [build + "/backstitch", "path", "--tree", "--tid", "10", db], [db]


def functions_compared(build, folder, n):
    """Of two databases, with other numbers of samples."""
    both = []
    for name, step in (("a", 1), ("b", 2)):
        name = "%d%s" % (n, name)
        both.append(database(
            build, folder, name, "--no-symbols", "--perf-map", "100=" + perf_map(folder, name, n),
            capture(build, folder, name, [*mapped(n), *sampled(n), *sampled(n, step)])))
    return [build + "/backstitch", "report", "--diff", *both], both


def calls_at_once(build, folder, n):
    """All threads are in one when the first returns."""
    def lines():
        yield from ftrace_head(2 * n)
        for at in range(2 * n):
            yield (call if at < n else call_ends)(at, 10 + at % n)
    db = database(build, folder, str(n), "--fields", "all",
                  text(folder, "%d.trace" % n, lines()))
    return [build + "/backstitch", "report", "--latency", "syscall", db], [db]


def requests_at_one_sector(build, folder, n):
    """All are at the disk when the first ends."""
    def lines():
        yield from ftrace_head(2 * n)
        for at in range(n):
            yield traced(at, 10, "block_rq_issue: 8,0 R 4096 () 64 + 8 [t]")
        for at in range(n):
            yield traced(n + at, 10, "block_rq_complete: 8,0 R () 64 + 8 [0]")
    db = database(build, folder, str(n), "--fields", "all",
                  text(folder, "%d.trace" % n, lines()))
    return [build + "/backstitch", "latency", "block", db], [db]


def drawn(build, folder, n):
    db = database(build, folder, str(n), "--no-symbols", "--perf-map",
                  "100=" + perf_map(folder, str(n), n),
                  capture(build, folder, str(n), [*mapped(n), *sampled(n)]))
    return [build + "/backstitch", "flame", "-o", os.path.join(folder, "c.svg"), db], [db]


def redacted(build, folder, n):
    """Names of threads."""
    def lines():
        yield "event cpu-clock period=1000"
        for i in range(n):
            yield "comm pid=100 name=n%d time=%d cpu=0" % (i, 1000 + 2 * i)
            yield "sample pid=100 tid=100 cpu=0 time=%d u=0x401000" % (1001 + 2 * i)
    db = database(build, folder, str(n), "--no-symbols",
                  capture(build, folder, str(n), lines()))
    return [build + "/backstitch", "bundle", "--redact", "-f", "-o",
            os.path.join(folder, "c.db"), db], [db]


CPUS = {
    "CPUs of path": cpus_of("path", ""),
    "CPUs of path --tree": cpus_of("path", "--tree"),
    "CPUs of sched": cpus_of("sched", ""),
    "CPUs of report --off-cpu": cpus_of("report", "--off-cpu"),
    "CPUs of table wait": cpus_of("query", "SELECT * FROM wait"),
}
KINDS = {
    "packets of CTF": packets_of_ctf,
    "threads of CTF": threads_of_ctf,
    "entries of a perf map": entries_of_a_map,
    "build-ids of a header": build_ids,
    "children that execute": children_that_execute,
    "members of a bundle": members_of_a_bundle,
    "nested wake-ups of path --tree": nested_wake_ups,
    "functions of diff": functions_compared,
    "calls of latency": calls_at_once,
    "requests at one sector": requests_at_one_sector,
    "ends without a begin of latency": ends_without_begin,
    "returns of probes": returns_of_probes,
    "ends of exec of latency": ends_of_exec,
    "mappings at one place": mappings_at_one_place,
    **CPUS,
    "captures that switch": captures_that_switch,
    "readings of record --waits": readings_of_waits,
    "functions of flame": drawn,
    "names of bundle --redact": redacted,
}

# growth.py subtracts what the first ones need. Fewer take less memory than
# another part of the command.
MANY = (40000, 160000, 640000)
MORE = (80000, 320000, 1280000)
SIZES_OF = {
    "entries of a perf map": MANY,
    "children that execute": (5000, 20000, 80000),
    "build-ids of a header": MORE,
    "nested wake-ups of path --tree": MANY,
    "functions of diff": MANY,
    "calls of latency": MANY,
    "requests at one sector": MANY,
    "ends without a begin of latency": MANY,
    "returns of probes": MANY,
    "ends of exec of latency": MANY,
    "mappings at one place": MANY,
    **dict.fromkeys(CPUS, (2000, 4000, 8000)),
    "captures that switch": (64, 256, 1024),
    "readings of record --waits": (10000, 40000, 160000),
    "functions of flame": MANY,
    "names of bundle --redact": MANY,
}
BEGINS = {MANY: 20000, MORE: 60000}
FIRST = {make: BEGINS.get(SIZES_OF.get(name), 1) for name, make in KINDS.items()}
FIRST.update({children_that_execute: 500, captures_that_switch: 2,
              readings_of_waits: 100,
              **dict.fromkeys(CPUS.values(), 500)})
PROMISED = {
    **dict.fromkeys(KINDS),
    "threads of CTF": r"([\d.]+) kB for each thread, name",
    "entries of a perf map": r"([\d.]+) kB for its entry in a perf map",
    "children that execute": r"up to ([\d.]+) kB for each fork",
}

#!/usr/bin/env python3
# hours.py - follow must take no more memory and time in the last hour of a stream than in the first.
"""usage: hours.py BUILD [HOURS [CAPTURE]]

A recorded stream with deferred user stacks, each ten seconds once more, with later
times, new cookies, and processes and threads that come, fork, map and end: eight
hours of it, as fast as follow takes them, in segments of ten seconds, of which the
newest 64 MB are kept. Printed for each hour: seconds, by the clock, and of a
processor in both processes (not that of 150 commands that count samples); memory of the process that
receives and of the one that makes databases, segments that are there. At the end the
sum of the samples of all segments must be that of the stream, nothing may be damaged
or dropped, what is kept must be all that the limit allows, and neither memory nor
time may have grown."""

import os
import struct
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1])
ARGS = sys.argv[2:] if __name__ == "__main__" else []
HOURS = int(ARGS[0]) if ARGS else 8
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tests/compare"))
os.environ["O"] = os.path.relpath(BUILD, ROOT)
import common  # noqa: E402
import hostile  # noqa: E402

CAPTURE = ARGS[1] if len(ARGS) > 1 else "defer-exitexec-s.data.zst"
STEP_NS = 10 * 10**9
ROUNDS_OF_HOUR = 3600 * 10**9 // STEP_NS
KEEP = 64 << 20
PIDS = 4000000
GROWTH, LEAST_KB = 1.25, 4 << 10
MMAP, COMM, EXIT, FORK, SAMPLE, SWITCH_WIDE, CHAIN, ROUND = (
    1, 3, 4, 7, 9, 15, 22, 68)
MMAP2, STATE = 10, (1, 3, 4, 7, 10)
IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM, CPU, PERIOD, READ, CALLCHAIN = (
    1 << 16, 1, 2, 4, 8, 64, 512, 128, 256, 16, 32)
DEFERRED = (1 << 64) - 640


class Template:
    """Ten seconds of the stream, and where times, threads and cookies are in it.
    All records are multiples of 8 bytes."""

    def __init__(self, data):
        s = hostile.Stream(data)
        first = s.first
        self.fields = self.sample_type(s.records)
        before = s.records[:first]
        own = [r for r in before if s.kind(r) in STATE and self.pid(r) > 0]
        self.session = s.head + b"".join(
            bytes(r) for r in before if r not in own)
        body = s.records[first + 1:]
        times = sorted(t for r in body for t in [self.time(s.kind(r), r)] if t)
        self.begin = times[0] - 1000
        for r in own:
            self.set_time(r, self.begin)
        records = own + body
        records += self.exits(records, times[-1] + 1000)
        records.append(bytearray(struct.pack("<IHH", ROUND, 0, 8)))
        self.samples = sum(s.kind(r) == SAMPLE for r in records)
        self.find(s, records)

    @staticmethod
    def sample_type(records):
        return next(struct.unpack_from("<Q", r, 8 + 24)[0] for r in records
                    if struct.unpack_from("<I", r)[0] == 64)

    def pid(self, r):
        return struct.unpack_from("<i", r, 8)[0]

    def at(self, kind, r, field):
        """Where a field of the sample_type is."""
        if kind == SAMPLE:
            order = (IDENTIFIER, IP, TID, TIME)
            return 8 + 8 * sum(bool(self.fields & f)
                               for f in order[:order.index(field)])
        order = (TID, TIME, ID, STREAM, CPU, IDENTIFIER)
        return len(r) - 8 * sum(bool(self.fields & f)
                                for f in order[order.index(field):])

    def time(self, kind, r):
        if kind >= 64:
            return 0
        return struct.unpack_from("<Q", r, self.at(kind, r, TIME))[0]

    def set_time(self, r, time):
        struct.pack_into("<Q", r, self.at(0, r, TIME), time)

    def exits(self, records, time):
        """The end of each thread that lives at the end of them."""
        alive, trailer = {}, None
        for r in records:
            kind, = struct.unpack_from("<I", r)
            if kind in (MMAP, MMAP2) and self.pid(r) > 0:
                alive[self.pid(r)] = self.pid(r)
            elif kind == COMM:
                pid, tid = struct.unpack_from("<ii", r, 8)
                alive[tid] = pid
                trailer = r[self.at(0, r, TID):]
            elif kind in (FORK, EXIT):
                pid, _, tid, _ = struct.unpack_from("<iiii", r, 8)
                alive.pop(tid, None)
                if kind == FORK:
                    alive[tid] = pid
        out = []
        for tid, pid in alive.items():
            body = struct.pack("<iiiiQ", pid, 1, tid, 1, time) + trailer
            r = bytearray(struct.pack("<IHH", EXIT, 0, 8 + len(body)) + body)
            self.set_time(r, time)
            out.append(r)
        return out

    def find(self, s, records):
        time_at, thread_at, cookie_at, at = [], [], [], 0
        for r in records:
            kind = s.kind(r)
            if kind < 64:
                time_at.append(at + self.at(kind, r, TIME))
                thread_at += [at + self.at(kind, r, TID) + i for i in (0, 4)]
            if kind in (MMAP, MMAP2, COMM):
                thread_at += [at + 8, at + 12]
            elif kind in (FORK, EXIT):
                thread_at += [at + i for i in (8, 12, 16, 20)]
                time_at.append(at + 24)
            elif kind == CHAIN:
                cookie_at.append(at + 8)
            elif kind == SAMPLE:
                words = struct.unpack_from("<%dQ" % (len(r) // 8 - 1), r, 8)
                cookie_at += [at + 16 + 8 * i for i, w in enumerate(words)
                              if w == DEFERRED and i + 1 < len(words)]
            at += len(r)
        self.data = bytearray(b"".join(map(bytes, records)))
        wide, narrow = (memoryview(self.data).cast(c) for c in "Qi")
        self.wide, self.narrow = wide, narrow
        self.time_at = [(i // 8, wide[i // 8]) for i in time_at]
        self.cookie_at = [(i // 8, wide[i // 8]) for i in cookie_at]
        ids = sorted({narrow[i // 4] for i in thread_at} - {0, 1, -1})
        number = {tid: i for i, tid in enumerate(ids)}
        self.thread_at = [(i // 4, number[narrow[i // 4]]) for i in thread_at
                          if narrow[i // 4] in number]
        self.ids = len(ids)
        counters = [c >> 32 for _, c in self.cookie_at]
        self.counters = max(counters) - min(counters) + 1

    def once_more(self, n):
        """The n-th ten seconds."""
        wide, narrow = self.wide, self.narrow
        shift, cookies = n * STEP_NS, n * self.counters << 32
        for i, v in self.time_at:
            wide[i] = v + shift
        for i, v in self.cookie_at:
            wide[i] = (v + cookies) % (1 << 64)
        base = 2 + n * self.ids % (PIDS - self.ids)
        for i, v in self.thread_at:
            narrow[i] = base + v
        return self.data


def memory(pid):
    """kB that are the process's alone; 0: there is none."""
    try:
        with open("/proc/%d/status" % pid, encoding="ascii") as f:
            return sum(int(line.split()[1]) for line in f
                       if line.startswith("RssAnon"))
    except OSError:
        return 0


def processor(*pids):
    """Seconds that the processes used so far."""
    ticks = 0
    for pid in pids:
        try:
            with open("/proc/%d/stat" % pid, encoding="ascii") as f:
                ticks += sum(map(int, f.read().rsplit(")")[-1].split()[11:13]))
        except OSError:
            pass
    return ticks / os.sysconf("SC_CLK_TCK")


def maker_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
        children = [int(x) for x in f.read().split()]
    for child in children:
        try:
            if "backstitch" in os.readlink("/proc/%d/exe" % child):
                return child
        except OSError:
            pass
    return 0


def main():
    t = Template(hostile.recorded(CAPTURE, 30)())
    folder = tempfile.mkdtemp(dir=os.environ.get("BENCH_DIR"))
    counts = os.path.join(folder, "counts")
    seg = os.path.join(folder, "seg")
    p = subprocess.Popen(
        [BUILD + "/backstitch", "follow", "--no-symbols", "--segment",
         "%dK" % (len(t.data) // 1024), "--keep", "%dM" % (KEEP >> 20), "-o",
         seg, "--exec", "sqlite3 -readonly \"$1\" 'SELECT samples, "
         "(SELECT count(*) FROM damage WHERE kind = \"damage\") FROM capture' "
         ">>'%s'" % counts, "-"],
        stdin=subprocess.PIPE, stderr=open(folder + "/err", "w"), bufsize=0)
    p.stdin.write(t.session)
    print("%d samples, %d threads and %d bytes each ten seconds" % (
        t.samples, t.ids, len(t.data)))
    print("%5s %8s %11s %14s %14s %9s %8s" % (
        "hour", "s", "processor s", "receives, kB", "makes, kB", "segments",
        "MB"))
    used, receives, makes = [0], [], []
    for hour in range(HOURS):
        begin, most = time.monotonic(), 0
        for n in range(ROUNDS_OF_HOUR):
            left = memoryview(t.once_more(hour * ROUNDS_OF_HOUR + n))
            while left:
                left = left[p.stdin.write(left):]
            most = max(most, memory(maker_of(p.pid)) if n % 10 == 0 else 0)
        used.append(processor(p.pid, maker_of(p.pid)))
        receives.append(memory(p.pid))
        makes.append(most)
        there = [os.path.getsize(os.path.join(seg, f)) for f in os.listdir(seg)
                 if f.endswith(".db")]
        print("%5d %8.1f %11.1f %14d %14d %9d %8.1f" % (
            hour + 1, time.monotonic() - begin, used[-1] - used[-2], receives[-1], makes[-1], len(there),
            sum(there) / 1e6), flush=True)
    p.stdin.close()
    bad = []
    if p.wait():
        bad.append("follow ends with %d" % p.returncode)
    rows = [line.split("|") for line in open(counts)]
    have, want = sum(int(r[0]) for r in rows), t.samples * HOURS * ROUNDS_OF_HOUR
    print("%d samples of %d in %d segments" % (have, want, len(rows)))
    if have != want or any(int(r[1]) for r in rows):
        bad.append("samples that are missing, or damage")
    sizes = [os.path.getsize(os.path.join(seg, f)) for f in os.listdir(seg)
             if f.endswith(".db")]
    print("%d segments of %.1f MB are kept" % (len(sizes), sum(sizes) / 1e6))
    if not KEEP - max(sizes) - 1 < sum(sizes) <= KEEP:
        bad.append("not what --keep allows")
    for what, row, least in (("receiver's memory", receives, LEAST_KB),
                             ("maker's memory", makes, LEAST_KB),
                             ("time", [b - a for a, b in zip(used, used[1:])],
                              1)):
        if max(row[1:] or row) > GROWTH * row[0] + least:
            bad.append("%s grows: %s" % (what, row))
    with open(folder + "/err", encoding="utf-8") as f:
        print(f.read().strip()[-300:])
    subprocess.run(["rm", "-r", folder], check=True)
    print("\n".join("TOO MUCH: " + b for b in bad) or "flat")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()

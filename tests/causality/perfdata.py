# perfdata.py - takes samples out of a perf.data file, as a ring would lose them.
"""Reads what is needed of the file: where records are, and CPU, thread and time
of samples of tracepoints. Its truth is a file NAME.truth.json beside it."""

import collections
import json
import struct
import subprocess

SAMPLE, LOST, COMM, SWITCH_CPU_WIDE = 9, 2, 3, 15
OUT, PREEMPT = 1 << 13, 1 << 14     # of records of switches
RUNNABLE, DEAD = 0x100, 0x10        # prev_state
COMM_EXEC = 1 << 13
OF_TASKS = (1, 3, 4, 7, 10)  # MMAP, COMM, EXIT, FORK, MMAP2
IDENTIFIER, IP, TID, TIME, CPU = 1 << 16, 1, 2, 4, 1 << 7
PERIOD, CHAIN, RAW = 1 << 8, 1 << 5, 1 << 10
READ_NO = ~(IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CHAIN | RAW)

# type: "sched_switch", "switch" for a record of one, or the number of another
# tracepoint. flags: common_flags. fields: order, in which perf turns types on and off; next_pid, if a
# thread leaves
Sample = collections.namedtuple("Sample", "time cpu current type flags at fields")
SWITCH_BYTES = 68  # no other event of these captures has as many
NEXT_PID = 56
SWITCH = "<IHHiiiiQIIQ"  # pid, tid of the other; pid, tid, time, CPU, 0, id


class Samples:
    """records: the samples of tracepoints of a file, in the order of time"""

    def __init__(self, data):
        self.data = data
        (_, attr_size, attrs, attrs_len, self.start,
         self.size) = struct.unpack_from("<6Q", self.data, 8)
        self.kinds, self.order = {}, {}
        for at in range(attrs, attrs + attrs_len, attr_size):
            config, _, kind = struct.unpack_from("<3Q", self.data, at + 8)
            ids, size = struct.unpack_from("<2Q", self.data,
                                           at + attr_size - 16)
            for i in range(ids, ids + size, 8):
                self.kinds[struct.unpack_from("<Q", self.data, i)[0]] = \
                    (config, kind)
                self.order[struct.unpack_from("<Q", self.data, i)[0]] = at
        self.records = sorted(self.samples(), key=lambda s: s.time)
        self.lost = sum(struct.unpack_from("<Q", b, 16)[0]
                        for _, kind, b in self.walk() if kind == LOST)
        self.exec = max((struct.unpack_from("<Q", b, len(b) - 24)[0]
                         for _, kind, b in self.walk() if kind == COMM and
                         struct.unpack_from("<H", b, 4)[0] & COMM_EXEC),
                        default=0)

    def walk(self):
        at = self.start
        while at < self.start + self.size:
            kind, _, size = struct.unpack_from("<IHH", self.data, at)
            yield at, kind, self.data[at:at + size]
            at += size

    def samples(self):
        for at, kind, b in self.walk():
            if kind == SWITCH_CPU_WIDE:
                _, misc, _, _, other, _, tid, time, cpu, _, _ = \
                    struct.unpack_from(SWITCH, b)
                yield Sample(time, cpu, max(tid, 0), "switch", 0, at, {
                    "order": len(self.data),
                    **({"next_pid": max(other, 0)} if misc & OUT else {})})
            if kind != SAMPLE:
                continue
            number, = struct.unpack_from("<Q", b, 8)
            config, has = self.kinds[number]
            if has & READ_NO or not has & RAW:
                continue
            time, cpu = struct.unpack_from("<QI", b, 32)
            raw = 56
            if has & CHAIN:
                raw += 8 + 8 * struct.unpack_from("<Q", b, raw)[0]
            size, flags, current = struct.unpack_from("<I2xBxi", b, raw)
            fields = {"order": self.order[number]}
            if size == SWITCH_BYTES:
                config = "sched_switch"
                fields["next_pid"], = struct.unpack_from(
                    "<i", b, raw + 4 + NEXT_PID)
            yield Sample(time, cpu, current, config, flags, at, fields)

    def raw(self, s):
        """Returns the bytes of the tracepoint, and the addresses of the stack."""
        number, = struct.unpack_from("<Q", self.data, s.at + 8)
        at, stack = s.at + 56, ()
        if self.kinds[number][1] & CHAIN:
            n, = struct.unpack_from("<Q", self.data, at)
            stack = struct.unpack_from("<%dQ" % n, self.data, at + 8)
            at += 8 + 8 * n
        size, = struct.unpack_from("<I", self.data, at)
        return self.data[at + 4:at + 4 + size], stack

    def lost_at(self, kept):
        """Where LOST records stand: {offset of the record behind: number}. The
        kernel writes one in front of the next record of the ring, of whatever
        kind. All that is not kept is lost, if kept does not say what is."""
        told = {s.at for s, n in kept}
        lost = getattr(kept, "lost", {id(s) for s in self.records})
        known = {s.at: s for s in self.records}
        waiting, out = {}, {}
        for at, kind, b in self.walk():
            if at in known and at not in told:
                cpu = known[at].cpu
                waiting[cpu] = waiting.get(cpu, 0) + (id(known[at]) in lost)
                continue
            if at in known:
                cpu = known[at].cpu
            elif kind in OF_TASKS:
                cpu, = struct.unpack_from("<I", b, len(b) - 16)
            else:
                continue
            if waiting.get(cpu):
                out[at] = waiting.pop(cpu)
        return out

    def write(self, path, kept):
        """kept: (sample, number lost in front of it)"""
        told = {s.at for s, n in kept}
        known = {s.at for s in self.records}
        lost = self.lost_at(kept)
        out = bytearray()
        for at, kind, b in self.walk():
            if at in known and at not in told:
                continue
            if lost.get(at):
                if kind == SAMPLE:
                    number, pid, tid, time, cpu = struct.unpack_from(
                        "<Q8xiiQI", b, 8)
                else:
                    pid, tid, time, cpu, number = struct.unpack_from(
                        "<iiQI4xQ", b, len(b) - 32)
                # the kernel takes the time of LOST after that of the sample
                out += struct.pack("<IHHQQiiQIIQ", LOST, 0, 56, number,
                                   lost[at], pid, tid, time + 120, cpu, 0,
                                   number)
            out += b
        self.put(path, bytes(out))

    def with_records(self):
        """The file with two records of each switch in place of sched_switch: one
        thread leaves, one comes 1 ns later, as in no capture both do at once."""
        out, process = bytearray(), {}
        for at, kind, b in self.walk():
            if kind == SAMPLE:
                pid, tid = struct.unpack_from("<ii", b, 24)
                process[tid] = pid
        switches = {s.at: s for s in self.records if s.type == "sched_switch"}
        for at, kind, b in self.walk():
            s = switches.get(at)
            if not s:
                out += b
                continue
            prev, state = struct.unpack_from("<i4xq", self.raw(s)[0], 24)
            coming = s.fields["next_pid"]
            number, = struct.unpack_from("<Q", b, 8)
            tid, pid = prev, process.get(prev, prev)
            if state & DEAD:
                tid = pid = -1  # it has none any more
            ready = not state or state & RUNNABLE
            out += struct.pack(
                SWITCH, SWITCH_CPU_WIDE, OUT | (PREEMPT if ready else 0), 48,
                process.get(coming, coming), coming, pid, tid, s.time, s.cpu, 0,
                number)
            out += struct.pack(SWITCH, SWITCH_CPU_WIDE, 0, 48, pid, tid,
                               process.get(coming, coming), coming, s.time + 1,
                               s.cpu, 0, number)
        return self.made(bytes(out))

    def put(self, path, records):
        with open(path, "wb") as f:
            f.write(self.made(records))

    def made(self, records):
        """Features stand behind the records: they move."""
        head = bytearray(self.data[:self.start])
        tail = bytearray(self.data[self.start + self.size:])
        moved = len(records) - self.size
        struct.pack_into("<Q", head, 48, len(records))
        bits = sum(bin(n).count("1")
                   for n in struct.unpack_from("<4Q", head, 72))
        for i in range(bits):
            off, = struct.unpack_from("<Q", tail, 16 * i)
            struct.pack_into("<Q", tail, 16 * i, off + moved)
        return bytes(head + records + tail)


class Capture(Samples):
    """NAME.data.zst, with its truth"""

    suffix = ".data"

    def __init__(self, path, records=False):
        """records: of switches, in place of sched_switch"""
        with open(path + ".truth.json", encoding="utf-8") as f:
            self.truth = json.load(f)
        super().__init__(subprocess.run(
            ["zstd", "-dcq", path + ".data.zst"], capture_output=True,
            check=True).stdout)
        if records:
            super().__init__(self.with_records())

    def queries(self, rng, n):
        """((tid, from, to), segments of score.py, None)"""
        asked = self.truth["queries"]
        for q in rng.sample(asked, min(n, len(asked))):
            yield (q["tid"], q["from"], q["to"]), [
                (a, b, tid, self.state(state, known), cpu)
                for a, b, tid, _, state, known, cpu in q["segments"]], None

    @staticmethod
    def state(state, known):
        if not known or state == "unknown":
            return None
        return state if state in ("run", "ready") else "interrupt"

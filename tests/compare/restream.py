# restream.py - real captures cut at random places, as their recorders could have written them.
"""A capture of perf becomes a stream of 'perf record -o -' whose rings were read
at random times, CPU by CPU: what perf promises of a round still holds, that at
its end nothing older than the round before is missing. An LTTng session that was
rotated often becomes one that was rotated less. The places come from a
random.Random."""

import bisect
import os
import shutil
import struct

import common

IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM, CPU = (
    1 << 16, 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 6, 1 << 9, 1 << 7)
SAMPLE, LOST_SAMPLES, FIRST_OF_PERF = 9, 13, 64
COMPRESSED, ROUND = (81, 83), 68
ATTR, TRACING, FEATURE = 64, 66, 80
TRACING_BIT, BUILD_ID_BIT, LAST_BIT = 1, 2, 32
AT_SAMPLE_TIME = (IDENTIFIER, IP, TID)
AT_SAMPLE_CPU = (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM)
BEHIND_TIME = (TIME, ID, STREAM, CPU, IDENTIFIER)


class Perf:
    """The records of a perf.data file: those of the session, and each ring."""

    def __init__(self, path):
        data = common.read_bytes(path)
        self.order = ">" if data[:8] == b"2ELIFREP" else "<"
        size, = self.get("Q", data, 8)
        if size < 104:
            raise ValueError("%s: not a perf.data file" % path)
        self.types, self.by_id = [], {}
        self.head = data[:8] + struct.pack(self.order + "Q", 16)
        self.rings = {}
        self.tail = b""
        self.add_attrs(data)
        self.add_features(data)
        begin, length = self.get("QQ", data, 40)
        self.add_records(data, begin, begin + length)

    def get(self, form, data, off):
        return struct.unpack_from(self.order + form, data, off)

    def record(self, kind, body):
        return struct.pack(self.order + "IHH", kind, 0, 8 + len(body)) + body

    def add_attrs(self, data):
        step, at, n = self.get("QQQ", data, 16)
        for off in range(at, at + n, step):
            length, = self.get("I", data, off + 4)
            kind, = self.get("Q", data, off + 24)
            ids, n_ids = self.get("QQ", data, off + step - 16)
            self.types.append(kind)
            for i in range(ids, ids + n_ids, 8):
                self.by_id[self.get("Q", data, i)[0]] = kind
            self.head += self.record(
                ATTR, data[off:off + length] + data[ids:ids + n_ids])

    def add_features(self, data):
        begin, length = self.get("QQ", data, 40)
        words = self.get("4Q", data, 72)
        at = begin + length
        for bit in range(256):
            if not words[bit // 64] >> bit % 64 & 1:
                continue
            off, size = self.get("QQ", data, at)
            at += 16
            body = data[off:off + size]
            if bit == TRACING_BIT:
                self.head += self.record(
                    TRACING, struct.pack(self.order + "I", size))
                self.head += body + bytes(-size % 8)
            elif bit != BUILD_ID_BIT and bit < LAST_BIT and size < 60000:
                self.head += self.record(
                    FEATURE, struct.pack(self.order + "Q", bit) + body)

    def type_of(self, kind, body):
        """The sample_type by which a record is laid out."""
        if len(set(self.types)) == 1:
            return self.types[0]
        at = 0 if kind == SAMPLE else len(body) - 8
        number, = self.get("Q", body, at)
        return self.by_id.get(number, self.types[0])

    def when(self, kind, body):
        """(time, cpu) of a record of the kernel, 0 if it was made up."""
        fields = self.type_of(kind, body)
        if kind == SAMPLE:
            at = 8 * sum(bool(fields & f) for f in AT_SAMPLE_TIME)
            cpu = 8 * sum(bool(fields & f) for f in AT_SAMPLE_CPU)
        else:
            at = len(body) - 8 * sum(bool(fields & f) for f in BEHIND_TIME)
            cpu = len(body) - 8 * sum(bool(fields & f)
                                      for f in (CPU, IDENTIFIER))
        if not fields & TIME:
            raise ValueError("a capture without times")
        return (self.get("Q", body, at)[0],
                self.get("I", body, cpu)[0] if fields & CPU else None)

    def add_records(self, data, at, end):
        while at + 8 <= end:
            kind, _, size = self.get("IHH", data, at)
            record = data[at:at + size]
            at += size
            if kind in COMPRESSED:
                raise ValueError("a compressed capture")
            if kind == ROUND:
                continue
            time = 0
            if kind < FIRST_OF_PERF:
                time, cpu = self.when(kind, record[8:])
            if time:
                self.rings.setdefault(cpu, []).append((time, record))
            elif kind == LOST_SAMPLES:
                self.tail += record
            else:
                self.head += record

    def spread(self, rnd):
        """Gives each record a CPU, where the capture does not tell it: a
        program runs on one for a while."""
        cpu, left = 0, 0
        for time, record in sorted(self.rings.pop(None),
                                   key=lambda r: r[0]):
            if not left:
                cpu, left = 1 - cpu, rnd.randint(1, 50)
            left -= 1
            self.rings.setdefault(cpu, []).append((time, record))

    def stream(self, rnd, rounds):
        """The bytes of a stream with so many rounds."""
        if None in self.rings:
            self.spread(rnd)
        every = sorted(t for ring in self.rings.values() for t, _ in ring)
        begins = sorted(rnd.choice(every) for _ in range(rounds - 1))
        taken = {cpu: 0 for cpu in self.rings}
        out = [self.head, self.record(ROUND, b"")]
        for i in range(rounds):
            last = i == rounds - 1
            cpus = list(self.rings)
            rnd.shuffle(cpus)
            for cpu in cpus:
                ring = self.rings[cpu]
                until = len(ring)
                if not last:
                    next_begin = (begins + every[-1:])[i + 1]
                    read_at = rnd.randint(begins[i], next_begin)
                    until = bisect.bisect_right(ring, read_at, taken[cpu],
                                                key=lambda r: r[0])
                out += [r for _, r in ring[taken[cpu]:until]]
                taken[cpu] = max(until, taken[cpu])
            if last:
                out.append(self.tail)
            out.append(self.record(ROUND, b""))
        return b"".join(out)


def chunks(place, rnd, n, folder):
    """n chunks of the session in place/trace: rotations.txt has how long its
    streams were after each rotation. The other rotations are as if they had
    not been. Returns the number of chunks."""
    trace = os.path.join(place, "trace")
    names = sorted(name for name in os.listdir(trace) if name != "metadata")
    with open(os.path.join(place, "rotations.txt"), encoding="ascii") as f:
        ends = [[int(x) for x in line.split()] for line in f]
    cuts = sorted(rnd.sample(range(len(ends) - 1), n - 1))
    begin = [0] * len(names)
    for i, cut in enumerate(cuts + [len(ends) - 1]):
        chunk = os.path.join(folder, "archives", "%03d" % i)
        os.makedirs(chunk)
        shutil.copy(os.path.join(trace, "metadata"), chunk)
        for j, name in enumerate(names):
            with open(os.path.join(trace, name), "rb") as f:
                data = f.read()[begin[j]:ends[cut][j]]
            if data:
                with open(os.path.join(chunk, name), "wb") as f:
                    f.write(data)
        begin = ends[cut]
    return n

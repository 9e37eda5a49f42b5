# restream.py - real captures cut at random places, as their recorders could have written them.
"""A capture of perf becomes a stream of 'perf record -o -' whose rings were read
at random times, CPU by CPU: what perf promises of a round still holds, that at
its end nothing older than the round before is missing. A CTF trace becomes
chunks of whole packets, and raw pages of ftrace become files of some pages
each. The places come from a random.Random."""

import bisect
import glob
import os
import struct

import joincheck

IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM, CPU = (
    1 << 16, 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 6, 1 << 9, 1 << 7)
SAMPLE, LOST_SAMPLES, FIRST_OF_PERF = 9, 13, 64
COMPRESSED, ROUND = (81, 83), 68
ATTR, TRACING, FEATURE = 64, 66, 80
TRACING_BIT, BUILD_ID_BIT, LAST_BIT = 1, 2, 32
AT_SAMPLE_TIME = (IDENTIFIER, IP, TID)
AT_SAMPLE_CPU = (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM)
BEHIND_TIME = (TIME, ID, STREAM, CPU, IDENTIFIER)
PAGE = 4096
PACKET_BEGIN, PACKET_END, PACKET_BITS = 32, 40, 56


class Perf:
    """The records of a perf.data file: those of the session, and each ring."""

    def __init__(self, path):
        data = joincheck.Capture.load(path)
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


def packets(path):
    """(begin, end, bytes) of each packet of a stream of an LTTng trace."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        begin, end, _, bits = struct.unpack_from("<4Q", data,
                                                 at + PACKET_BEGIN)
        yield begin, end, data[at:at + bits // 8]
        at += bits // 8


def chunks(trace, rnd, n, folder):
    """Chunks of a trace, as if its session had been rotated n - 1 times: a
    packet that is written at that time is the last one of its chunk."""
    streams = {os.path.basename(p): list(packets(p))
               for p in glob.glob(trace + "/*")
               if os.path.isfile(p) and not p.endswith("metadata")}
    ends = sorted({e for s in streams.values() for _, e, _ in s})
    cuts = sorted(rnd.sample(ends[:-1], min(n, len(ends)) - 1)) + ends[-1:]
    with open(trace + "/metadata", "rb") as f:
        metadata = f.read()
    last = 0
    for i, cut in enumerate(cuts):
        chunk = os.path.join(folder, "archives", "2026-%06d" % i)
        os.makedirs(chunk)
        for name, all_of_it in streams.items():
            mine = b"".join(b for _, e, b in all_of_it if last < e <= cut)
            if mine:
                with open(os.path.join(chunk, name), "wb") as f:
                    f.write(mine)
        with open(os.path.join(chunk, "metadata"), "wb") as f:
            f.write(metadata)
        last = cut
    return len(cuts)

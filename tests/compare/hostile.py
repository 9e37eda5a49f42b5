# hostile.py - of a damaged stream, segments keep what an ingest of its bytes does.
"""usage: [HOSTILE=N] [FROM=N] hostile.py [STREAM...]

N streams (40; with LONG 1,000) get damage at random places: bytes, sizes, types,
times and threads of records, records that are missing, twice, too long or out of
place, and payloads that are none. Each is read by ingest, and by follow in
segments that are merged. What ingest has of samples, stacks, verdicts and losses,
the segments must have, but for the classes of segments.py, of which the sums are
printed; of a record that lies, at least all samples (see SAMPLES); a stream that ingest calls damaged must end with
status 3, and one of which the rest cannot be read with a message that has its
path and offset; no process may take more memory than the plain ingest and 64 MB,
or a minute."""

import collections
import os
import random
import re
import resource
import sqlite3
import struct
import subprocess
import sys
import tempfile

import common
import restream
import segments

N = int(os.environ.get("HOSTILE", 1000 if os.environ.get("LONG") else 40))
FROM = int(os.environ.get("FROM", 0))
SECONDS, MORE_KB = 60, 64 << 10
ROUND, TRACING, AUXTRACE, COMPRESSED = 68, 66, 71, 81
KERNEL_TYPES = tuple(range(1, 23))


# ---- streams

def made(*options):
    def run():
        with tempfile.TemporaryDirectory() as folder:
            case = segments.Case(folder, random.Random(7), 7)
            case.cut = lambda data: setattr(case, "data", data)
            segments.made(*options)(case)
            return case.data
    return run


def recorded(name, rounds=30):
    def run():
        capture = restream.Perf(common.place(name)
                                or os.path.join(common.HERE, name))
        return capture.stream(random.Random(7), rounds)
    return run


def whole(name):
    return lambda: common.read_bytes(os.path.join(common.HERE, name))


STREAMS = {
    "made": made("forks"),
    "lost": made("lost"),
    "fp": recorded("dlchurn.data"),
    "defer": recorded("task-exitexec.data"),
    "big-endian": recorded("twins/group.data"),
    "packed": whole("pipe-zstd.data"),
    "text": whole("ftrace-ustack-both.report.txt.gz"),
}


class Stream:
    """Bytes, and where their records are."""

    def __init__(self, data):
        self.order = ">" if data[:8] == b"2ELIFREP" else "<"
        self.perf = data[:8] in (b"2ELIFREP", b"PERFILE2")
        self.head, self.records = data[:16], []
        if not self.perf:
            self.head, self.records = b"", data.splitlines(keepends=True)
            return
        at = 16
        while at < len(data):
            kind, _, size = struct.unpack_from(self.order + "IHH", data, at)
            if kind == TRACING:
                n, = struct.unpack_from(self.order + "I", data, at + 8)
                size += (n + 7) // 8 * 8
            self.records.append(bytearray(data[at:at + size]))
            at += size
        # the events of the session stay, so that there is something to read
        self.first = next(i for i, r in enumerate(self.records)
                          if self.kind(r) in (ROUND, COMPRESSED))

    def kind(self, record):
        return struct.unpack_from(self.order + "I", record)[0]


# ---- damage: each changes the list of records at i

def put(s, r, form, at, value):
    """False: the record has no such place."""
    if at < 0 or at + struct.calcsize(form) > len(r):
        return
    struct.pack_into(s.order + form, r, at, value)


def bytes_of(s, rnd, records, i):
    for _ in range(rnd.randint(1, 8)):
        r = records[i]
        at = rnd.randrange(len(r)) if len(r) < 9 else rnd.randrange(8, len(r))
        records[i] = r[:at] + bytes([rnd.randrange(256)]) + r[at + 1:]


def word(s, rnd, records, i):
    """A number, small, large or of another record."""
    r, other = records[i], rnd.choice(records)
    if len(r) < 16:
        return
    at = rnd.randrange(8, len(r) - 7, 4)
    value = rnd.choice((0, 1, (1 << 64) - 1, 1 << 63, 1 << 62, 1 << 32,
                        rnd.getrandbits(64), rnd.getrandbits(20)))
    if len(other) >= 16 and rnd.random() < 0.3:
        value, = struct.unpack_from(s.order + "Q", other, 8)
    put(s, r, "Q", at, value)


def last_words(s, rnd, records, i):
    """Time, CPU and event of what is no sample; a time may be near."""
    r = records[i]
    at = len(r) - 8 * rnd.randint(1, 4)
    if at >= 8:
        old, = struct.unpack_from(s.order + "Q", r, at)
        put(s, r, "Q", at, rnd.choice((
            (old + rnd.randrange(-10**9, 10**9)) % (1 << 64), old ^ 1,
            rnd.getrandbits(64), 0)))


def size(s, rnd, records, i):
    put(s, records[i], "H", 6, rnd.choice((0, 7, 8, 9, 16, 0xffff,
                                           rnd.getrandbits(16))))


def kind(s, rnd, records, i):
    put(s, records[i], "I", 0, rnd.choice(KERNEL_TYPES + (
        ROUND, TRACING, AUXTRACE, COMPRESSED, 64, 69, 80, 0, 40000,
        rnd.getrandbits(32))))


def shorter(s, rnd, records, i):
    n = rnd.randrange(8, len(records[i]) + 1)
    records[i] = records[i][:n]
    put(s, records[i], "H", 6, n)


def longer(s, rnd, records, i):
    records[i] = records[i] + rnd.randbytes(rnd.choice((1, 8, 64, 4000)))
    put(s, records[i], "H", 6, min(len(records[i]), 0xffff))


def gone(s, rnd, records, i):
    del records[i:i + rnd.choice((1, 1, 10))]


def twice(s, rnd, records, i):
    records.insert(rnd.randrange(i, len(records)), bytearray(records[i]))


def moved(s, rnd, records, i):
    records.insert(rnd.randrange(len(records)), records.pop(i))


def noise(s, rnd, records, i):
    records.insert(i, bytearray(rnd.randbytes(rnd.choice((1, 8, 100)))))


def payload(s, rnd, records, i):
    """A trace that is said to follow, of some bytes that are records."""
    n = rnd.choice((0, 8, 4096, 1 << 20, 1 << 29, 1 << 31, (1 << 63) - 8))
    if rnd.random() < 0.5:
        records.insert(i, bytearray(struct.pack(
            s.order + "IHHQQQQIIQ", AUXTRACE, 0, 48, n, 0, 0, 0, 0, 0, 0)))
    else:
        records.insert(i, bytearray(struct.pack(
            s.order + "IHHII", TRACING, 0, 16, n & 0xffffffff, 0)))


def mode(s, rnd, records, i):
    put(s, records[i], "H", 4, rnd.getrandbits(16))


DAMAGE = (bytes_of, bytes_of, word, word, last_words, size, kind, shorter, longer,
          gone, twice, moved, noise, payload, mode)
OF_TEXT = (bytes_of, gone, twice, moved, noise)


def damaged(s, rnd):
    """The bytes of the stream with some of these, and what they are."""
    records = list(map(bytearray, s.records)) if s.perf else list(s.records)
    said = []
    for _ in range(rnd.choice((1, 1, 2, 5))):
        how = rnd.choice(DAMAGE if s.perf else OF_TEXT)
        i = rnd.randrange(s.first if s.perf else 0, len(records))
        how(s, rnd, records, i)
        said.append("%s at %d" % (how.__name__, i))
    return s.head + b"".join(map(bytes, records)), ", ".join(said)


# ---- what may differ

def damage_rows(table, row):
    """How often damage is told: of what cannot be read once, not for each part."""
    return () if table == "losses" and row[0] == "damage" else None


segments.CLASSES["damage rows"] = damage_rows, segments.ONE
# A record that lies about its time, its thread or a counter, or that is out of
# its place, is believed by both, but not to the same effect: ingest sorts a whole
# file by time, and a stream that is cut cannot be. Then at least all samples are
# there; of the members of a group, whose values are differences, the leader.
SAMPLES = """SELECT e.time_ns, e.cpu, h.tid, t.name, hex(k.addrs)
    FROM event e JOIN event_type t ON t.id = e.type AND t.kind = 'sample'
    LEFT JOIN thread h ON h.id = e.thread
    LEFT JOIN raw_chain k ON k.id = e.kraw
    WHERE t.name NOT IN ('context-switches', 'page-faults')"""
LIES_MOST = 0.15


def same_samples(whole, merged):
    want, have = (collections.Counter(db.execute(SAMPLES).fetchall())
                  for db in (whole, merged))
    return common.differences(have, want)


class Run:
    """A command; the memory is of its children too."""

    def __init__(self, *args, stdin=None):
        p = subprocess.Popen(["timeout", "-s", "KILL", str(SECONDS), *args],
                             stdin=stdin, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True,
                             errors="replace")
        self.said = p.stderr.read()
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = self.status = os.waitstatus_to_exitcode(status)
        self.memory = used.ru_maxrss


def damage_of(path):
    with sqlite3.connect(path) as db:
        return collections.Counter(
            dict(db.execute("SELECT what, sum(n) FROM damage GROUP BY 1")))


def look(case, data, stream):
    """Returns what is bad, and the classes of what else differs."""
    bad = []
    with open(case.path("whole"), "wb") as f:
        f.write(data)
    options = case.options()
    plain = Run(common.BACKSTITCH, "ingest", *options, "-o",
                case.path("whole.db"), case.path("whole"))
    limit = "%dK" % max(1, len(data) // 7 // 1024)
    with open(case.path("whole"), "rb") as f:
        follow = Run(common.BACKSTITCH, "follow", *options, "--segment", limit,
                     "-o", case.path("seg"), "-", stdin=f)
    if plain.status not in (0, 1, 3) or follow.status not in (0, 1, 3):
        return ["ends with %d, ingest with %d: %s" % (
            follow.status, plain.status, follow.said)], {}
    if follow.memory > plain.memory + MORE_KB:
        bad.append("takes %d kB, ingest %d" % (follow.memory, plain.memory))
    if follow.status == 1 or plain.status == 1:
        if follow.status != plain.status:
            bad.append("ends with %d, ingest with %d: %s" % (
                follow.status, plain.status, follow.said))
        return bad, {}
    if follow.status != plain.status:
        bad.append("ends with %d, ingest with %d: %s" % (
            follow.status, plain.status, follow.said))
    broken = "nothing tells where" in follow.said or "ends in a record" in \
        follow.said
    if broken and not re.search(r"^backstitch: -(\+0x[0-9a-f]+)?: ",
                                follow.said, re.M):
        bad.append("does not say where: " + follow.said)
    merged = Run(common.BACKSTITCH, "merge", "-q", "-o", case.path("all.db"),
                 case.path("seg"))
    if merged.status:
        return bad + ["merge ends with %d: %s" % (
            merged.status, merged.said)], {}
    dbs = [sqlite3.connect(case.path(f)) for f in ("whole.db", "all.db")]
    segments.MAY[stream] = tuple(segments.CLASSES)
    more, counts = segments.compare(stream, *dbs)
    if more:
        more = same_samples(*dbs)
        counts = collections.Counter({("lies", "streams"): 1})
    want, have = (damage_of(case.path(f)) for f in ("whole.db", "all.db"))
    # values that go back, as those of a record that is there twice
    for c in (want, have):
        c.pop("value of an event group", None)
    if bool(want) != bool(have):
        more.append("damage: %s, ingest %s" % (dict(have), dict(want)))
    elif want != have:
        counts["damage rows", "damage"] = sum(
            abs(want[k] - have[k]) for k in want | have)
    return bad + more, counts


def main():
    streams = {name: Stream(STREAMS[name]())
               for name in sys.argv[1:] or STREAMS}
    sums, failed = collections.Counter(), 0
    for i in range(FROM, FROM + N):
        rnd = random.Random(i)
        name = rnd.choice(list(streams))
        data, said = damaged(streams[name], rnd)
        with tempfile.TemporaryDirectory() as folder:
            case = segments.Case(folder, rnd, 7)
            bad, counts = look(case, data, name)
        sums.update(counts)
        lies = ("lies", "streams") in counts
        if lies and os.environ.get("LIES"):
            print("# %d: %s: %s" % (i, name, said))
        if bad:
            failed += 1
            print("# %d: %s: %s" % (i, name, said))
            for line in bad:
                print("#   %s" % str(line)[:400])
            sys.stdout.flush()
    for (name, table), n in sorted(sums.items()):
        print("# %6d %s: %s" % (n, table, name))
    common.ok(sums["lies", "streams"] <= 1 + LIES_MOST * N,
              "most_damage_has_the_same_effect_on_both")
    common.ok(not failed, "segments_of_%d_damaged_streams_are_what_ingest_keeps"
              % N, ["%d differ" % failed])
    common.finish()


if __name__ == "__main__":
    main()

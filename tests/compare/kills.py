# kills.py - whatever ends follow, and whenever, no stream is lost that lay in its folder.
"""usage: [KILLS=N] [FROM=N] kills.py [HOW...]

N times (24; with LONG 1,000) follow gets a stream bit by bit, and at a random
place of it something ends, by HOW:

  receiver   SIGKILL of the process that receives
  maker      SIGKILL of the one that makes databases: the other goes on
  both       SIGKILL of both
  TERM, INT  the signal, and the writer's end is closed
  writer     the writer's end is closed

Then the next run, which now and then is killed as well, finds what lies there.
What must hold:

- A database that was finished is not touched.
- Each part of which there was anything has a database now, and no other file is
  left.
- A segment without a gap has what the same segment of a run that nobody ended
  has.
- A segment with a gap says so, as damage 'truncated'. It has each sample that lay
  in its part, and none that the segment of the other run has not. Only the last
  two can have one, and one does unless the stream ended.
- If nobody was killed but the maker, the segments that are merged are what ingest
  makes of the bytes that were written, but for the classes of segments.py."""

import collections
import hashlib
import os
import random
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

import common
import hostile
import segments

sys.path.insert(0, os.path.join(common.ROOT, "tests/cli"))
import merge  # noqa: E402

N = int(os.environ.get("KILLS", 1000 if os.environ.get("LONG") else 24))
FROM = int(os.environ.get("FROM", 0))
HOW = ("receiver", "receiver", "receiver", "maker", "both", "TERM", "INT",
       "writer")
STREAMS = {
    # name: its bytes, segments
    "made": (hostile.made("forks"), 20),
    "lost": (hostile.made("lost"), 5),
    "defer": (hostile.recorded("defer-exitexec-s.data.zst", 60), 3),
    "fp": (hostile.recorded("dlchurn.data"), 7),
    "packed": (hostile.whole("pipe-zstd.data"), 7),
}
# A stream that is silent for a second is cut elsewhere: then it is tried again.
SILENT = 0.8
PART = re.compile(r"\.segment-(\d+)\.data$")
DATABASE = re.compile(r"segment-(\d+)\.db$")
SAMPLE, MARK, ENDS = 9, 40000, 1 | 4 | 8
OPTIONS = "-q", "--no-lines", "--no-symbols"


def files(folder, form):
    """{number: path} of the files that fit."""
    found = {}
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        m = form.match(name)
        if m:
            found[int(m[1])] = os.path.join(folder, name)
    return found


def rows(db, name):
    return collections.Counter(db.execute(merge.CUT[name]).fetchall())


def is_cut_off(db):
    return bool(db.execute(
        "SELECT count(*) FROM damage WHERE what = 'truncated'").fetchone()[0])


class Part:
    """What lies in a part: samples that are whole, and whether it has an end."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        order = ">" if data[:8] == b"2ELIFREP" else "<"
        self.size, self.samples, self.ends = len(data), 0, False
        at = 16
        while at + 8 <= len(data):
            kind, misc, size = struct.unpack_from(order + "IHH", data, at)
            if kind == 66 and at + 12 <= len(data):
                n, = struct.unpack_from(order + "I", data, at + 8)
                size += (n + 7) // 8 * 8
            if size < 8 or at + size > len(data):
                break
            self.samples += kind == SAMPLE
            self.ends |= kind == MARK and bool(misc & ENDS)
            at += size


class Stream:
    """Bytes, and the segments of a run that nobody ended."""

    def __init__(self, folder, name):
        data, n = STREAMS[name]
        self.name, self.data = name, data()
        self.limit = "%dK" % max(1, len(self.data) // n // 1024)
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder)
        with open(os.path.join(self.folder, "whole"), "wb") as f:
            f.write(self.data)
        with open(os.path.join(self.folder, "whole"), "rb") as f:
            subprocess.run([common.BACKSTITCH, "follow", *OPTIONS, "--segment",
                            self.limit, "-o", "seg", "-"], stdin=f, check=True,
                           cwd=self.folder)
        self.segment = {
            n: sqlite3.connect(path) for n, path in
            files(os.path.join(self.folder, "seg"), DATABASE).items()}


class Try:
    """One run that something ends, and what is there afterwards."""

    def __init__(self, stream, rnd, folder, how):
        self.stream, self.rnd, self.folder, self.how = stream, rnd, folder, how
        self.seg = os.path.join(folder, "seg")
        self.bad = []

    def follow(self, *args, **more):
        return subprocess.Popen(
            [common.BACKSTITCH, "follow", *OPTIONS, "-o", "seg", *args],
            cwd=self.folder, stderr=subprocess.PIPE, **more)

    def maker_of(self, pid):
        try:
            with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
                return [int(x) for x in f.read().split()]
        except OSError:
            return []

    def end(self, p):
        makers = self.maker_of(p.pid) if self.how in ("maker", "both") else []
        if self.how == "both" and self.rnd.random() < 0.5:
            p.kill()
        for pid in makers:
            os.kill(pid, signal.SIGKILL)
        if self.how in ("receiver", "both"):
            p.kill()
        elif self.how in ("TERM", "INT"):
            p.send_signal(getattr(signal, "SIG" + self.how))

    def run(self):
        """Returns False if the stream was silent for too long. What was written
        is in self.data."""
        data, rnd = self.stream.data, self.rnd
        p = self.follow("--segment", self.stream.limit, "-",
                        stdin=subprocess.PIPE, bufsize=0)
        place = rnd.randrange(len(data) + 1)
        pause = rnd.choice((0, 0.0005, 0.002))
        at, last, longest, ended = 0, time.monotonic(), 0, False
        try:
            while at < len(data):
                if at >= place and not ended:
                    time.sleep(rnd.choice((0, 0, 0.01, 0.05)))
                    ended = True
                    self.end(p)
                    if self.how != "maker":
                        break
                step = min(rnd.randint(1, 20000), len(data) - at)
                if not ended:
                    step = min(step, place - at) or step
                p.stdin.write(data[at:at + step])
                at += step
                time.sleep(pause)
                now = time.monotonic()
                longest, last = max(longest, now - last), now
        except BrokenPipeError:
            pass
        if not ended:
            self.end(p)
        p.stdin.close()
        self.data = data[:at]
        said = p.stderr.read().decode(errors="replace")
        self.status = p.wait()
        self.said = said
        # before it had said that it wants to know of signals
        if self.status < 0 and self.how in ("TERM", "INT"):
            self.how = "receiver"
        return longest < SILENT

    def snapshot(self):
        self.finished = {n: hashlib.sha1(common.read_bytes(path)).digest()
                         for n, path in files(self.seg, DATABASE).items()}
        self.part = {n: Part(path) for n, path in
                     files(self.seg, PART).items()}

    def recover(self):
        if not os.path.isdir(self.seg):
            return
        again = self.rnd.random() < 0.25
        if again:
            p = self.follow("-", stdin=subprocess.DEVNULL)
            time.sleep(self.rnd.random() * 0.05)
            p.kill()
            p.communicate()
        p = self.follow("-", stdin=subprocess.DEVNULL)
        said = p.communicate()[1].decode(errors="replace")
        if p.returncode not in (0, 3):
            self.bad.append("the next run ends with %d: %s"
                            % (p.returncode, said))
        gaps = any(not part.ends for n, part in self.part.items()
                   if part.size and n not in self.finished)
        if gaps and p.returncode != 3 and not again:
            self.bad.append("a gap, and the next run ends with %d"
                            % p.returncode)

    def check_segment(self, n, path):
        """Returns whether it has a gap."""
        other = self.stream.segment.get(n)
        with sqlite3.connect(path) as db:
            if not other:
                self.bad.append("segment %d is in no other run" % n)
                return False
            gap = is_cut_off(db)
            samples, want = rows(db, "samples"), rows(other, "samples")
            if not gap:
                for table in merge.CUT:
                    self.bad += ["segment %d: %s: %s" % (n, table, d)
                                 for d in common.differences(
                                     rows(db, table), rows(other, table))]
                return False
            have = sum(samples.values())
            part = self.part.get(n)
            if part and part.samples != have:
                self.bad.append("segment %d has %d samples of %d in its part"
                                % (n, have, part.samples))
            # without names and verdicts that later records tell
            raw = [collections.Counter({row[:2] + row[3:4] + row[7:8]: k
                                        for row, k in c.items()})
                   for c in (samples, want)]
            self.bad += ["segment %d with a gap: %r is too many" % (n, row)
                         for row in list(raw[0] - raw[1])[:3]]
        return True

    def check_killed(self):
        found = files(self.seg, DATABASE)
        for n, digest in self.finished.items():
            if n not in found or hashlib.sha1(
                    common.read_bytes(found[n])).digest() != digest:
                self.bad.append("segment %d was finished, and is another" % n)
        for n, part in self.part.items():
            if n not in found and part.size >= 64:
                self.bad.append("segment %d: %d bytes have no database"
                                % (n, part.size))
        gaps = [n for n, path in sorted(found.items())
                if self.check_segment(n, path)]
        if [n for n in gaps if n < max(found) - 1]:
            self.bad.append("gaps in %s of %d" % (gaps, max(found)))
        if found and not gaps and max(found) < max(self.stream.segment):
            self.bad.append("no gap is told behind segment %d" % max(found))

    def check_ended(self):
        if self.status not in (0, 3) or (
                self.status == 3 and "ends in a record" not in self.said):
            self.bad.append("ends with %d: %s" % (self.status, self.said))
        case = segments.Case(self.folder, self.rnd, 1)
        with open(case.path("whole"), "wb") as f:
            f.write(self.data)
        if not os.path.isdir(self.seg) or not files(self.seg, DATABASE):
            # the stream ended before its first event
            if Part(case.path("whole")).samples:
                self.bad.append("no segment of %d bytes" % len(self.data))
            return
        segments.backstitch("ingest", *OPTIONS, "-o", case.path("whole.db"),
                            case.path("whole"))
        segments.backstitch("merge", "-q", "-o", case.path("all.db"), self.seg)
        dbs = [sqlite3.connect(case.path(f)) for f in ("whole.db", "all.db")]
        may = set(sum(segments.MAY.values(), ()))
        segments.CLASSES.setdefault("damage rows",
                                    (hostile.damage_rows, segments.ONE))
        segments.MAY[self.stream.name] = tuple(may) + ("damage rows",)
        bad, self.counts = segments.compare(self.stream.name, *dbs)
        self.bad += bad

    def check(self):
        self.counts = {}
        rest = [f for f in os.listdir(self.seg) if not DATABASE.match(f)
                ] if os.path.isdir(self.seg) else []
        if [f for f in rest if f != ".lock"]:
            self.bad.append("left: %s" % rest)
        if self.how in ("receiver", "both"):
            self.check_killed()
        else:
            self.check_ended()


def one(streams, seed, how):
    """Returns what is bad, and classes."""
    for again in range(10):
        rnd = random.Random("%d %d" % (seed, again))
        t = None
        with tempfile.TemporaryDirectory() as folder:
            stream = streams[rnd.choice(list(streams))]
            t = Try(stream, rnd, folder, how)
            if not t.run():
                continue
            t.snapshot()
            if t.how in ("receiver", "both"):
                t.recover()
            t.check()
        return ["%s of %s: %s" % (how, stream.name, b)
                for b in t.bad], t.counts
    return ["the machine is too busy"], {}


def main():
    sums, failed = collections.Counter(), collections.Counter()
    ways = sys.argv[1:] or HOW
    with tempfile.TemporaryDirectory() as folder:
        streams = {name: Stream(folder, name) for name in STREAMS}
        for i in range(FROM, FROM + N):
            how = ways[i % len(ways)]
            bad, counts = one(streams, i, how)
            sums.update(counts)
            failed[how] += bool(bad)
            for line in bad[:6]:
                print("# %d: %s" % (i, str(line)[:400]))
            sys.stdout.flush()
    for (name, table), n in sorted(sums.items()):
        print("# %6d %s: %s" % (n, table, name))
    for how in dict.fromkeys(ways):
        common.ok(not failed[how], "nothing_is_lost_by_the_end_of_the_%s" % how
                  if how in ("receiver", "maker", "writer") else
                  "nothing_is_lost_by_the_end_of_%s" % how)
    common.finish()


if __name__ == "__main__":
    main()

# segments.py - a stream that is cut, and put together again, is the stream.
"""usage: [SEEDS=N] segments.py [NAME...]

follow cuts a stream at places that a seed gives; merge makes one database of the
segments, which must hold what that of the whole stream does: samples, stacks,
verdicts, losses, trust, findings, as tests/cli/merge.py reads them. Streams of
perf are real captures whose rings are read at random times (restream.py).

What differs must be in one of CLASSES, and their counts in expect-segments.txt,
which are of the first seed. SEEDS=50 tries more seeds: the counts are printed."""

import collections
import gzip
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import common
import restream

sys.path.insert(0, os.path.join(common.ROOT, "tests/cli"))
import merge  # noqa: E402

CUTS = (1, 2, 7, 50)
# The last column of these is a number, which adds up.
SUMS = ("verdicts", "trust", "folded")


def backstitch(*args):
    r = common.run(*args)
    if r.returncode not in (0, 3):
        raise RuntimeError("%s: %s" % (" ".join(args),
                                       r.stderr.decode(errors="replace")))


class Case:
    """One stream, cut once."""

    def __init__(self, folder, rnd, n):
        self.folder, self.rnd, self.n = folder, rnd, n
        self.programs = os.path.join(folder, "none")
        os.mkdir(self.programs)

    def path(self, name):
        return os.path.join(self.folder, name)

    def options(self):
        return "-q", "--no-lines", "--symfs", self.programs

    def cut(self, data):
        """A stream of bytes, into n segments or so."""
        with open(self.path("whole"), "wb") as f:
            f.write(data)
        backstitch("ingest", *self.options(), "-o", self.path("whole.db"),
                   self.path("whole"))
        limit = "%dK" % max(1, len(data) // self.n // 1024)
        backstitch("follow", *self.options(), "--segment",
                   limit if self.n > 1 else "1G",
                   "-o", self.path("seg"), self.path("whole"))

    def watch(self, whole, folder, n):
        """A folder with so many finished files."""
        backstitch("ingest", *self.options(), "-o", self.path("whole.db"),
                   whole)
        p = subprocess.Popen([common.BACKSTITCH, "follow", *self.options(),
                              "-o", self.path("seg"), folder],
                             stderr=subprocess.PIPE)
        followed = self.path("seg/.followed")
        end = time.monotonic() + 60
        while time.monotonic() < end and not (
                os.path.exists(followed)
                and len(open(followed).readlines()) == n):
            time.sleep(0.02)
        p.send_signal(signal.SIGTERM)
        said = p.communicate()[1]
        if p.returncode not in (0, 3):
            raise RuntimeError(said.decode(errors="replace"))


def perf(name):
    def run(case):
        capture = restream.Perf(common.place(name)
                                or os.path.join(common.ROOT,
                                                "tests/captures", name))
        rounds = case.n * case.rnd.randint(1, 4) + 1
        case.cut(capture.stream(case.rnd, rounds))
    return run


def made(*options, big=False):
    """Requests and chains of several threads, with rounds at random places."""
    def run(case):
        seed = str(case.rnd.randrange(1 << 30))
        subprocess.run([sys.executable,
                        os.path.join(common.ROOT, "tests/cli/stream.py"),
                        seed, "1", case.folder, *options], check=True)
        lines = open(case.path("whole.txt")).read().splitlines()
        for _ in range(3 * case.n):
            lines.insert(case.rnd.randrange(40, len(lines)), "round")
        with open(case.path("whole.txt"), "w") as f:
            f.write("\n".join(lines) + "\n")
        subprocess.run([os.environ.get("MKCAP",
                                       os.path.join(common.OUT, "mkcap")),
                        *(["-b"] if big else []), "-p", case.path("whole.txt"), case.path("pipe")],
                       check=True)
        case.cut(open(case.path("pipe"), "rb").read())
    return run


def text(name):
    def run(case):
        path = os.path.join(common.ROOT, "tests/captures", name)
        packed = path.endswith(".gz")
        case.cut((gzip.open if packed else open)(path, "rb").read())
    return run


def chunks(name):
    def run(case):
        trace = os.path.join(common.ROOT, "tests/captures", name)
        if not os.path.isdir(trace):
            trace = common.place(name)
        n = restream.chunks(trace, case.rnd, case.n, case.path("session"))
        case.watch(trace, case.path("session"), n)
    return run


STREAMS = {
    "made": made(),
    "forks": made("forks"),
    "defer-task": perf("task-exitexec.data"),
    "defer-all": perf("defer-exitexec-s.data.zst"),
    "defer-lost": perf("defer-lost-clock.data.zst"),
    "big-endian": perf("twins/group.data"),
    "made-big": made("forks", big=True),
    "fp": perf("fp-1.data"),
    "fp-libraries": perf("dlchurn.data"),
    "fp-groups": perf("group.data"),
    "dwarf": perf("frames32.data.zst"),
    "dwarf-fp": perf("hits-mixed.data.zst"),
    "text": text("ftrace-ustack-both.report.txt.gz"),
    "text-buffers": text("ftrace-buffers.report.txt.gz"),
    "text-marker": text("ftext-marker-kstack.txt"),
    "text-overrun": text("ftext-overrun-pipe.txt"),
    "lttng": chunks("ctf-discard/trace"),
}


def rows(db, name):
    """The rows of one query of merge.CUT; sums as rows with a weight."""
    out = collections.Counter()
    for row in db.execute(merge.CUT[name]).fetchall():
        if name == "trust":
            out[(row[0], row[1], row[3])] += row[2]
        elif name in SUMS:
            out[row[:-1]] += row[-1]
        else:
            out[row] += 1
    return out


CLASSES = {}


def compare(case, whole, merged):
    """Returns the tables that differ, and the counts of the classes."""
    bad, counts = [], collections.Counter()
    for name in merge.CUT:
        want, have = rows(whole, name), rows(merged, name)
        missing, more = want - have, have - want
        if missing or more:
            bad.append("%s: %d missing, %d too many of %d"
                       % (name, sum(missing.values()), sum(more.values()),
                          sum(want.values())))
            for word, c in (("missing", missing), ("too many", more)):
                bad += ["  %s: %s" % (word, str(row)[:int(os.environ.get("W", 300))])
                        for row in list(c.items())[:3]]
    return bad, counts


def run(name, n, seed):
    folder = tempfile.mkdtemp()
    try:
        case = Case(folder, random.Random("%s %d %d" % (name, n, seed)), n)
        STREAMS[name](case)
        backstitch("merge", "-q", "-o", case.path("all.db"), case.path("seg"))
        segments = len([f for f in os.listdir(case.path("seg"))
                        if re.fullmatch(r"segment-\d+\.db", f)])
        bad, counts = compare(case, sqlite3.connect(case.path("whole.db")),
                              sqlite3.connect(case.path("all.db")))
        return segments, bad, counts
    finally:
        if os.environ.get("KEEP"): print(folder)
        else: shutil.rmtree(folder)


def main():
    for seed in range(1, int(os.environ.get("SEEDS", "1")) + 1):
        for name in sys.argv[1:] or STREAMS:
            for n in CUTS:
                t = time.time()
                segments, bad, counts = run(name, n, seed)
                print("# %s, %d cuts, seed %d: %d segments %.1f s" % (name, n - 1, seed, segments, time.time() - t))
                for b in bad: print("   ", b)
                sys.stdout.flush()
    common.finish()


if __name__ == "__main__":
    main()

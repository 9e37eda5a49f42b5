# segments.py - a stream that is cut, and put together again, is the stream.
"""usage: [SEEDS=N] segments.py [NAME...]

follow cuts a stream at places that a seed gives; merge makes one database of the
segments, which must hold what that of the whole stream does: samples, stacks,
verdicts, losses, trust, findings, as tests/cli/merge.py reads them; and so must
one of two heaps of them that were merged first. Streams of
perf are real captures whose rings are read at random times (restream.py).

What differs must be in one of CLASSES, and their counts in expect-segments.txt,
which are of the first seed. SEEDS=50 tries more seeds: the counts are printed. Each
stream is cut in four ways; without LONG a ninth of all is, another one of each commit."""

import collections
import contextlib
import io
import os
import random
import re
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
# Known by content. A stack in memory without a file is stored once for each
# process, which are those of their segments.
ONCE = ("stacks", "checks")


def backstitch(*args):
    common.must(*args, allowed=(0, 3))


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
                                or os.path.join(common.HERE, name))
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
        subprocess.run([common.MKCAP, *(["-b"] if big else []), "-p",
                        case.path("whole.txt"), case.path("pipe")], check=True)
        case.cut(open(case.path("pipe"), "rb").read())
    return run


def text(name):
    return lambda case: case.cut(
        common.read_bytes(os.path.join(common.HERE, name)))


def chunks(place):
    def run(case):
        session = case.path("session")
        restream.chunks(place, case.rnd, case.n, session)
        case.watch(os.path.join(place, "trace"), session, case.n)
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
    "defer-marks": perf("ctx2-defer.data.zst"),
    "lttng": chunks(common.place("lttng-rotated")),
}


def rows(db, name):
    """The rows of one query of merge.CUT, with how many there are of each."""
    out = collections.Counter()
    for row in db.execute(merge.CUT[name]).fetchall():
        if name == "trust":
            out[(row[0], row[1], row[3])] += row[2]
        elif name in SUMS:
            out[row[:-1]] += row[-1] or 0
        elif name in ONCE:
            out[row] = 1
        else:
            out[row] += 1
    return out


# ---- what may differ

REUSED, FIRST_LOST = 8, 128


def used_before(table, row):
    """A thread id that another thread had in an earlier segment."""
    if table == "samples" and row[13] is not None:
        return row[:13] + (row[13] & ~REUSED,) + row[14:]
    return None


def ended_before(table, row):
    """The name of a thread whose end was told in an earlier segment, and its tid
    if it was dying."""
    if table == "samples" and row[4]:
        return row[:3] + row[5:]
    if table == "folded":
        return row[0], row[1].partition(";")[2]
    return None


def first_lost(table, row):
    """Whether the first sample of a cookie is missing, by counters on both sides
    of a cut."""
    if table == "samples" and row[13] is not None:
        return row[:13] + (row[13] & ~FIRST_LOST,) + row[14:]
    return None


def cut_throttle(table, row):
    """A throttling over a cut is one in each segment."""
    return () if table == "losses" and row[0] == "throttled" else None


def sums_of_the_end(table, row):
    """perf's own sums are those of the last segment; they are not counted."""
    return () if table == "losses" and row[0] == "lost_total" else None


def begins_late(table, row):
    """That a ring begins late is told in the header of a whole text only."""
    return () if table == "losses" and row[0] == "overwritten" else None


def without_stacks(table, row):
    """A segment of a text in which no event has a user stack tells that."""
    return () if table == "trust" and row[1] == "not recorded" else None


def unknown_mappings(table, row):
    """Mappings that were told, or were put in doubt, in an earlier segment."""
    if table == "samples":
        return row[:8] + row[9:10] + row[11:]
    if table == "trust":
        return row[0], "mappings"
    if table == "folded":
        # what is known of the mappings decides whether a caller is missed
        return row[0], row[1].replace("[caller missing];", "").count(";")
    return None


def stacks_of_them(table, row):
    """The stacks of such frames, and what is known of them."""
    return (row[0],) if table in ("stacks", "checks") else None


def gap_over_cut(table, row):
    """Cookies that are missing between two segments are not counted, and a loss
    in one does not explain a gap in the other."""
    if table == "cookies":
        return row[:1]
    if table == "chains" and row[5] in ("sample_lost", "unexplained",
                                        "foreign"):
        return row[:5]
    if table == "verdicts" and row[0] == "chain":
        return ("chain",)
    return () if table in ("gaps", "findings") else None


# One: a row on one side counts; pair: one of each side, which are the same in
# what the function gives.
ONE, PAIR = False, True
CLASSES = {
    "thread id used before": (used_before, PAIR),
    "ended before": (ended_before, PAIR),
    "first lost": (first_lost, PAIR),
    "throttled over a cut": (cut_throttle, ONE),
    "sums of perf at the end": (sums_of_the_end, ONE),
    "begins late": (begins_late, ONE),
    "without stacks": (without_stacks, ONE),
    "mappings": (unknown_mappings, PAIR),
    "stacks of mappings": (stacks_of_them, ONE),
    "gap over a cut": (gap_over_cut, ONE),
}
# Which of them a stream may have, beside those of its kind.
MAY = {
    "defer-all": ("thread id used before", "ended before"),
    "defer-lost": ("thread id used before", "ended before", "first lost",
                   "throttled over a cut", "sums of perf at the end",
                   "mappings", "stacks of mappings", "gap over a cut"),
    "defer-marks": ("throttled over a cut",),
    "text-marker": ("begins late", "without stacks", "gap over a cut"),
    "lttng": ("mappings", "stacks of mappings"),
}


def explain(table, missing, more, name):
    """Takes from both what a class has. Returns how much that is."""
    same, pair = CLASSES[name]
    n = 0
    sides = []
    for rows_of in (missing, more):
        side = collections.defaultdict(list)
        for row in rows_of:
            key = same(table, row)
            if key is not None:
                side[key].append(row)
        sides.append(side)
    for key in list(sides[0]) + [k for k in sides[1] if k not in sides[0]]:
        both = [(c, sum(c[r] for r in side[key]), side[key])
                for c, side in zip((missing, more), sides)]
        if pair and both[0][1] != both[1][1]:
            continue
        n += max(both[0][1], both[1][1])
        for c, _, rows_of in both:
            for row in rows_of:
                del c[row]
    return n


def compare(stream, whole, merged):
    """Returns what differs, and how much each class has in each table."""
    bad, counts = [], collections.Counter()
    for table in merge.CUT:
        want, have = (rows(db, table) for db in (whole, merged))
        missing, more = want - have, have - want
        for name in MAY.get(stream, ()):
            n = explain(table, missing, more, name)
            if n:
                counts[name, table] += n
        if not missing and not more:
            continue
        bad.append("%s: %d missing, %d too many of %d"
                   % (table, sum(missing.values()), sum(more.values()),
                      sum(want.values())))
        for word, c in (("missing", missing), ("too many", more)):
            bad += ["  %s: %s" % (word, str(row)[:300])
                    for row in list(c.items())[:3]]
    return bad, counts


def in_any_order(case, segments):
    """Returns what differs if the segments are merged in two heaps, of which both
    have some, and those again."""
    names = [case.path("seg/" + name) for name in segments]
    case.rnd.shuffle(names)
    at = case.rnd.randint(1, len(names) - 1)
    heaps = names[:at + 1], names[at - 1:]
    for i, heap in enumerate(heaps):
        backstitch("merge", "-q", "-o", case.path("heap%d.db" % i), *heap)
    backstitch("merge", "-q", "-o", case.path("heaps.db"),
               case.path("heap1.db"), case.path("heap0.db"))
    whole, heaps = (sqlite3.connect(case.path(f))
                    for f in ("all.db", "heaps.db"))
    with io.StringIO() as said, contextlib.redirect_stdout(said):
        merge.compare(heaps, [whole])
        return ["in two heaps: " + s for s in said.getvalue().splitlines()]


def cut(stream, n, seed):
    """Returns the number of segments, what differs, and classes."""
    with tempfile.TemporaryDirectory() as folder:
        case = Case(folder, random.Random("%s %d %d" % (stream, n, seed)), n)
        STREAMS[stream](case)
        backstitch("merge", "-q", "-o", case.path("all.db"), case.path("seg"))
        segments = sorted(f for f in os.listdir(case.path("seg"))
                          if re.fullmatch(r"segment-\d+\.db", f))
        dbs = [sqlite3.connect(case.path(f)) for f in ("whole.db", "all.db")]
        bad, counts = compare(stream, *dbs)
        if len(segments) > 1:
            bad += in_any_order(case, segments)
        return len(segments), bad, counts


def expected():
    """What each case of the first seed has of each class."""
    want = collections.defaultdict(dict)
    for stream, n, table, count, name in common.table(
            "expect-segments.txt", 5):
        want[stream, int(n)][name, table] = int(count)
    return want


def main():
    # ~/.debug has the files of captures that were recorded here
    os.environ["HOME"] = "/nonexistent"
    want = expected()
    for seed in range(1, int(os.environ.get("SEEDS", "1")) + 1):
        ways = [(stream, n) for stream in sys.argv[1:] or STREAMS for n in CUTS]
        for stream, n in ways if sys.argv[1:] else common.share(ways, 9):
            segments, bad, counts = cut(stream, n, seed)
            if seed > 1 and counts:
                print("# seed %d: %s %d: %s" % (seed, stream, n, ", ".join(
                    "%s %d %s" % (t, c, k)
                    for (k, t), c in sorted(counts.items()))))
            if seed == 1 and dict(counts) != want[stream, n]:
                bad += ["of this class, to be in expect-segments.txt:"]
                bad += ["%s %d %s %d %s" % (stream, n, t, c, k)
                        for (k, t), c in sorted(counts.items())]
            if n > 1 and segments < 2:
                bad.append("it was not cut")
            common.ok(not bad, "%s_in_%d_segments_is_the_whole"
                      % (stream.replace("-", "_"), segments), bad)
            sys.stdout.flush()
    common.finish()


if __name__ == "__main__":
    main()

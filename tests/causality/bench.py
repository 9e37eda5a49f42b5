#!/usr/bin/env python3
# bench.py - asks a program for chains of causes in captures with losses, and
# compares each statement with the truth.
"""usage: bench.py [option...]

  --tool COMMAND     what to ask; {capture}, {db}, {tid}, {from} and {to} (ns),
                     {from_s} and {to_s} (seconds) are replaced. It prints JSON
                     as described in README.md. "naive" is the one that ships
                     here, which believes what it sees
  --all COMMAND      in place of --tool: prints the chains of all waits at once,
                     {"chains": [...]}, each with "thread" {"tid"}, "from_ns"
                     and "to_ns" too. Not with --recorded
  --prepare COMMAND  run once for each capture, before the tool
  --kinds LIST       kinds of losses, of lose.py
  --captures N       generated schedules, times each kind (10)
  --removals N       go on until so many records were removed
  --queries N        for each capture (4)
  --cpus LIST        numbers of CPUs (2,3,4,8,16,64)
  --steps N          of a schedule, for each CPU (120)
  --pieces N         of each schedule: captures, each with losses of its own,
                     that follow each other; {captures} in --prepare are all
  --overlap          the pieces overlap in time, as those of two recorders
  --recorded FOLDER  in place of schedules: NAME.data.zst with NAME.truth.json
  --records          with --recorded: perf's records of switches in place of
                     sched_switch
  --seed N
  --keep FOLDER      of captures for which something false was called proved
  --table            a row for each kind
  -v                 what was false, and the commands that show it

Ends with status 1 if anything false was called proved, or an answer is none.
What a program cannot know is no failure: see README.md, "Silent threads"."""

import argparse
import collections
import glob
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import lose
import naive
import perfdata
import schedule
import score
import text

NOTHING = {"segments": []}
COLUMNS = ("proved", "false", "right", "wrong", "unknown")


def run(command, names):
    words = []
    for w in shlex.split(command):
        words += names["captures"] if w == "{captures}" else [
            w.format(**names)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def ask(a, names):
    """Returns the answer, or None and why there is none."""
    if a.tool == "naive":
        segments, edges = [], []
        names["pairs"].chain(names["tid"], names["from"], names["to"],
                             segments, edges)
        return {"segments": segments, "edges": edges}, ""
    done = run(a.tool, names)
    if done.returncode in (1, 2) and not done.stdout:
        return NOTHING, ""  # it says that it cannot know
    try:
        return json.loads(done.stdout), ""
    except ValueError:
        return None, "status %d: %s" % (done.returncode,
                                        done.stderr.strip()[:200])


def windows(rng, records, pieces, overlap):
    """Parts of the records, in time order."""
    n = len(records)
    at = [0] + sorted(rng.randrange(n) for _ in range(pieces - 1)) + [n]
    for a, b in zip(at, at[1:]):
        more = rng.randint(n // 8, n // 4) if overlap else 0
        if records[max(0, a - more):b + more]:
            yield records[max(0, a - more):b + more]


class Made:
    """A schedule as a text of ftrace, with its truth."""

    suffix = ".txt"

    def __init__(self, rng, seed, a):
        cpus = rng.choice(a.cpus)
        self.made = schedule.Schedule(seed, cpus, rng.randint(4, 12 + cpus),
                                      a.steps * cpus)
        self.records = self.made.records

    def write(self, path, kept):
        names = {t.tid: t.name for t in self.made.threads.values()}
        text.write(path, kept, names, self.made.cpus)

    def wakes(self):
        wakes = collections.defaultdict(list)
        for w in self.made.wakes:
            wakes[w.waiter].append(w)
        return wakes

    def queries(self, rng, n):
        """From and to a time at which the thread runs, as a user would ask."""
        wakes = self.wakes()
        for _ in range(n):
            t = self.made.threads[rng.choice(sorted(self.made.threads))]
            runs = [p for p in t.pieces if p.state == "run"]
            if not t.tid or len(runs) < 2:
                continue
            at = rng.randrange(len(runs) - 1)
            to = min(len(runs) - 1, at + rng.choice((1, 1, 1, 2, 4)))
            query = (t.tid, (runs[at].start + runs[at].end) // 2,
                     (runs[to].start + runs[to].end) // 2)
            yield query, self.made.chain(*query, []), wakes


class Bench:
    def __init__(self, a):
        self.a = a
        self.sums = collections.defaultdict(collections.Counter)
        self.failed = self.asked = self.removed = self.captures = 0
        self.recorded = [perfdata.Capture(f[:-len(".truth.json")], a.records)
                         for f in sorted(glob.glob(os.path.join(
                             a.recorded, "*.truth.json")))] \
            if a.recorded else []

    def fail(self, what, kind, names):
        self.failed += 1
        if self.a.keep:
            os.makedirs(self.a.keep, exist_ok=True)
            kept = os.path.join(self.a.keep, "%s-%d%s" % (
                kind, self.captures,
                os.path.splitext(names["capture"])[1]))
            shutil.copy(names["capture"], kept)
            names = dict(names, capture=kept)
        names = dict(names, captures=" ".join(names["captures"]))
        if self.a.verbose:
            print("FALSE (%s) %s\n    %s" % (kind, what, " ; ".join(
                c.format(**names) for c in (
                    self.a.prepare, self.a.all or self.a.tool) if c)))

    def one_query(self, kind, query, names, hidden):
        asked, truth, wakes = query
        names = dict(names, tid=asked[0], to=asked[2], **{"from": asked[1]})
        for key in ("from", "to"):
            names[key + "_s"] = "%d.%09d" % divmod(names[key], 10**9)
        answer, why = ask(self.a, names)
        self.judge(kind, query, names, hidden, answer, why)

    def judge(self, kind, query, names, hidden, answer, why):
        asked, truth, wakes = query
        self.asked += 1
        if answer is None:
            self.fail("no JSON, " + why, kind, names)
            return
        if answer is NOTHING:
            self.sums[kind]["unknown"] += asked[2] - asked[1]
            return
        notes = []
        got = score.score(answer, asked, truth, wakes, notes.append,
                          int(self.a.records))
        if hidden and (got["false"] or got["edges false"]):
            self.sums[kind]["hidden"] += 1
            got["false"] = got["edges false"] = 0
        self.sums[kind].update(got)
        if got["false"] or got["edges false"] or got["bad"]:
            self.fail(notes[0], kind, names)

    def all_waits(self, kind, made, names, hidden):
        done = run(self.a.all, names)
        if done.returncode in (1, 2) and not done.stdout:
            return  # it says that it cannot know
        try:
            chains = json.loads(done.stdout)["chains"]
        except (ValueError, KeyError):
            self.fail("no JSON, status %d: %s" % (
                done.returncode, done.stderr.strip()[:200]), kind, names)
            return
        wakes = made.wakes()
        for c in chains:
            asked = c["thread"]["tid"], c["from_ns"], c["to_ns"]
            names = dict(names, tid=asked[0], to=asked[2], **{"from": asked[1]})
            self.judge(kind, (asked, made.made.chain(*asked, []), wakes),
                       names, hidden, c, "")

    def one_capture(self, kind, n, folder):
        seed = self.a.seed + n
        rng = random.Random("%s %d" % (kind, seed))
        made = self.recorded[self.turn(kind, n) % len(self.recorded)] \
            if self.recorded else Made(rng, seed, self.a)
        names = {"db": os.path.join(folder, "c.db"), "captures": []}
        hidden = kind.startswith("silent")
        for i, part in enumerate(windows(rng, made.records, self.a.pieces,
                                         self.a.overlap)):
            lost, missing = {**lose.KINDS, **lose.TABLE}[kind](rng, part)
            kept = lose.keep(part, lost, missing)
            if not kept:
                continue
            names["captures"].append(
                os.path.join(folder, "c%d%s" % (i, made.suffix)))
            self.removed += len(part) - len(kept)
            made.write(names["captures"][-1], kept)
            hidden = hidden and lose.only_premise(
                kept, {lose.task_of(part[k], part[k].current)
                       for k in missing})
        if not names["captures"]:
            return
        names["capture"] = names["captures"][0]
        self.captures += 1
        if os.path.exists(names["db"]):
            os.remove(names["db"])
        if self.a.tool == "naive":
            names["pairs"] = naive.Pairs(names["capture"])
        if self.a.prepare:
            run(self.a.prepare, names)
        if self.a.all:
            self.all_waits(kind, made, names, hidden)
            return
        for query in made.queries(rng, self.a.queries):
            self.one_query(kind, query, names, hidden)

    def turn(self, kind, n):
        """Which recorded capture is the n-th of a kind: if a kind has fewer than
        there are, the next kind has others."""
        fewer = max(1, len(self.recorded) // max(1, self.a.captures))
        return self.a.seed + n * fewer + (
            self.a.kinds.index(kind) if fewer > 1 else 0)

    def more(self, n):
        return self.removed < self.a.removals if self.a.removals \
            else n < self.a.captures

    def go(self):
        n, folder = 0, tempfile.mkdtemp()
        try:
            while self.more(n):
                for kind in self.a.kinds:
                    self.one_capture(kind, n, folder)
                n += 1
        finally:
            shutil.rmtree(folder)

    def table(self):
        """The rate is how much of what is only likely (consistent) is right."""
        print("%-16s" % "loss" + "".join("%10s" % c for c in COLUMNS) +
              "%14s%10s" % ("edges false", "rate"))
        for kind in self.a.kinds:
            s = self.sums[kind]
            total = sum(s[c] for c in COLUMNS) or 1
            likely = s["right"] + s["wrong"]
            print("%-16s" % kind + "".join(
                "%10.2f" % (100 * s[c] / total) for c in COLUMNS) +
                "%14d" % s["edges false"] +
                ("%10.2f" % (100 * s["right"] / likely) if likely
                 else "%10s" % "-") +
                ("   %d hidden" % s["hidden"] if s["hidden"] else ""))


def options():
    p = argparse.ArgumentParser(
        usage=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tool", default="naive")
    p.add_argument("--all", default="")
    p.add_argument("--prepare", default="")
    p.add_argument("--kinds", type=lambda s: s.split(","))
    p.add_argument("--captures", type=int, default=10)
    p.add_argument("--removals", type=int, default=0)
    p.add_argument("--queries", type=int, default=4)
    p.add_argument("--cpus", type=lambda s: [int(n) for n in s.split(",")],
                   default=[2, 3, 4, 8, 16, 64])
    p.add_argument("--steps", type=int, default=120)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--pieces", type=int, default=1)
    p.add_argument("--overlap", action="store_true")
    p.add_argument("--recorded")
    p.add_argument("--records", action="store_true")
    p.add_argument("--keep")
    p.add_argument("--table", action="store_true")
    p.add_argument("-v", "--verbose", action="store_true")
    a = p.parse_args()
    a.kinds = a.kinds or [k for k in lose.KINDS
                          if not a.recorded or k not in lose.FEWER_TYPES]
    return a


def main():
    a, began = options(), time.time()
    b = Bench(a)
    b.go()
    if a.table:
        b.table()
    print("%d captures, %d records removed, %d questions, %d false or without "
          "an answer, %.0f s" % (b.captures, b.removed, b.asked, b.failed,
                                 time.time() - began))
    return b.failed > 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Prints what two versions say first of user stacks, of each capture in which it differs.

usage: tests/sentences.py OLD NEW [CAPTURE...]
OLD and NEW are programs; CAPTURE is a pattern of the names that 'tests/same.sh
--list' prints, of all that are at hand ($BACKSTITCH_SHARED). Ends with a line of
counts. Below the two sentences is how many samples changed their class. New
sentences that do not fit into three lines of a terminal are told, too.
"""
import collections
import concurrent.futures
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINES = 3
TIMEOUT = 120


def sentence(program, case, folder):
    """What a version says of a capture, or why nothing; samples by class."""
    db = os.path.join(folder, "x.db")
    for args in (["ingest", "-q", "-f", "-o", db, *case.options, *case.paths],
                 ["info", "--json", db]):
        try:
            done = subprocess.run([program, *args], capture_output=True,
                                  text=True, check=False, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return "(takes longer than %d s)" % TIMEOUT, collections.Counter()
        if done.returncode not in (0, 3):
            return "(status %d)" % done.returncode, collections.Counter()
    answer = json.loads(done.stdout)
    classes = collections.Counter()
    for row in answer["trust"]:
        classes[row["class"]] += row["samples"]
    return answer["user_stacks"], classes


def said(case, programs):
    with tempfile.TemporaryDirectory() as folder:
        return [sentence(p, case, folder) for p in programs]


def main(old, new, *wanted):
    sys.path.insert(0, os.path.join(ROOT, "tests"))
    from samecases import all_cases
    shared = os.environ.get("BACKSTITCH_SHARED")
    with tempfile.TemporaryDirectory() as prepared:
        cases = [c for c in all_cases(ROOT, shared, prepared)
                 if c.how == "capture" and
                 (not wanted or any(fnmatch.fnmatch(c.name, w) for w in wanted))]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda c: said(c, (old, new)), cases))
    differ = long = 0
    for case, ((was, before), (now, after)) in zip(cases, found):
        lines = textwrap.wrap(now, 78)
        long += len(lines) > LINES
        differ += was != now
        if was != now:
            print("%s\n  old: %s\n  new: %s" % (case.name, was, now))
            moved = [(after[c] - before[c], c) for c in {*before, *after}
                     if after[c] != before[c]]
            if moved:
                print("  samples: %s" % ", ".join(
                    "%+d %s" % m for m in sorted(moved)))
        if len(lines) > LINES:
            print("%s: %d lines" % (case.name, len(lines)))
    print("%d captures, %d differ, %d are longer than %d lines" %
          (len(cases), differ, long, LINES))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), *sys.argv[3:])

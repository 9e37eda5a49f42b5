#!/usr/bin/env python3
# calls.py - calls of function_graph: a text of 1 GB, and 1,000,000 calls of raw pages.
#
# usage: calls.py BUILD [ROUNDS OF THE TEXT] [ROUNDS OF THE PAGES]
#
# Both are tests/captures/fgraph, repeated with later times.
#
# Last result (2 cores): the text 6.3 s, 7 MiB of its own; the million 0.39 s,
# 10 MiB, latency 0.75 s, report 0.79 s, flame 0.80 s.
import gzip
import os
import pathlib
import re
import shutil
import struct
import sys

import runs

build = sys.argv[1]
rounds = [int(a) for a in sys.argv[2:4]] + [18000, 2250][len(sys.argv) - 2:]
us = os.path.join(build, "backstitch")
here = pathlib.Path("tests/captures/fgraph")
text, pages = pathlib.Path("bench/calls.txt"), pathlib.Path("bench/calls.raw")
LENGTH = 200000  # us of a round
PAGE = 4096


def make_text():
    lines = gzip.decompress((here / "trace.txt.gz").read_bytes()).decode().splitlines()
    heads = [x for x in lines if x.startswith("#")]
    events = [re.match(r"(?: *(\d+)\.(\d{6}) \|)?(.*)", x).groups() for x in lines if x[:1] != "#"]
    times = [int(s + us) for s, us, _ in events if s]
    assert max(times) - min(times) < LENGTH
    with open("bench/calls.new", "w") as out:
        out.write("\n".join(heads) + "\n")
        for i in range(rounds[0]):
            out.write("".join("%5d.%06d |%s\n" % (*divmod(int(s + us) + i * LENGTH, 1000000), rest)
                              if s else rest + "\n" for s, us, rest in events))
    os.rename("bench/calls.new", text)


def make_pages():
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(here, pages)
    data = (here / "cpu1.raw").read_bytes()
    with open(pages / "cpu1.raw", "wb") as out:
        for i in range(rounds[1]):
            for at in range(0, len(data), PAGE):
                time, = struct.unpack_from("<Q", data, at)
                out.write(struct.pack("<Q", time + i * LENGTH * 1000) + data[at + 8:at + PAGE])


def measure(what, command, seconds, mib):
    took = [runs.Run([us, *command], watch=True) for _ in range(runs.RUNS)]
    if any(r.status for r in took):
        print("  %s failed: %s" % (what, runs.message()))
        runs.missed += 1
        return
    runs.target(what + ", s", min(r.wall for r in took), seconds, True, "  (cpu %.2f)" % min(r.cpu for r in took))
    runs.target(what + ", MiB", max(r.anon for r in took) / 1024, mib, True)


def main():
    os.makedirs("bench", exist_ok=True)
    if not text.exists():
        make_text()
    if not pages.exists():
        make_pages()
    measure("ingest of %.2f GB of text" % (text.stat().st_size / 1e9),
            ["ingest", "-q", "-f", "-o", "bench/calls.text.db", str(text)], 10, 50)
    measure("ingest of %d,000 calls" % (rounds[1] * 445 // 1000),
            ["ingest", "-q", "-f", "-o", "bench/calls.db", str(pages)], 1, 400)
    for words in (["latency", "call"], ["report"], ["flame", "-o", "bench/calls.svg"]):
        measure(words[0] + " of these", [*words, "bench/calls.db"], 3, 400)
    return runs.missed > 0


sys.exit(main())

# looks.py - the first look at a capture: report of it, beside perf's flat report.
"""usage: looks.py BUILD CAPTURE...

See runs.py. perf prints what was hit, without callers and without saying how
far stacks can be trusted; ours prints both. Ratios are of processor times:
with 104 MB of a mixed load 0.8, with 539 MB of stack dumps, which perf does
not unwind for this, 0.45."""

import os
import sys

import runs

BUILD = sys.argv[1]
US = os.path.join(BUILD, "backstitch")


def contenders(perfs, capture):
    yield "report", [US, "report", capture]
    for name, command in perfs.items():
        yield name, [command, "--no-pager", "report", "--stdio",
                     "--no-children", "-g", "none", "-i", capture]


def main():
    perfs = runs.versions("perf")
    for capture in sys.argv[2:]:
        size = os.path.getsize(capture)
        print("%s: %.1f MB" % (capture, size / 1e6))
        took = runs.race(lambda _: contenders(perfs, capture), size, "bytes")
        best = {name: min(r.cpu for r in took[name]) for name in took}
        ours = best.pop("report", None)
        if not ours or not best:
            continue
        rival = min(best, key=best.get)
        runs.target("%s / report, processor time" % rival,
                    best[rival] / ours, 1)
        runs.processors("report", [US, "report", capture])
    print("%d targets missed" % runs.missed)


main()

# newest.py - perf of a newer version prints the same blocks as the one of the reference texts.
"""usage: newest.py [--print] [NAME...]

The reference texts beside the captures are by perf 7.2. This runs the perf of
$BENCH_SID, or the one that tests/bench/newer.sh installed, over the same
captures with the same fields, and compares each block. What differs belongs to
a class, which is counted and must be as expect-newest.txt says; so what
compare.py says of perf 7.2 is true of that perf too. Stack dumps are left out,
as their text depends on files that a test does not have.

text     a block that only one of the two prints
order    blocks that both print, in another order
cpu      blocks of another CPU, or with pid and tid exchanged: perf of a
         little-endian machine takes the halves of a big-endian one's words in
         the wrong order in a pipe, which has no header to tell; one has no name
         then, or another
refused  perf does not read the capture
"""

import collections
import os
import re
import subprocess

import common


def newest():
    """(major, minor, command) of the newest perf; None where there is none."""
    if "BENCH_SID" not in os.environ and not os.path.isdir("bench/sid"):
        return None
    said = subprocess.run(["tests/bench/newer.sh", "perf"], text=True,
                          capture_output=True).stdout.split()
    if not said:
        return None
    found = []
    for command in said:
        m = re.search(r"version (\d+)\.(\d+)",
                      common.output(command, "--version"))
        if m:
            found.append((int(m[1]), int(m[2]), command))
    return max(found, default=None)


def printed(perf, c, path):
    p = subprocess.run(
        [perf, "script", "--no-inline", "-i", path, "-F",
         common.fields_of(c)],
        capture_output=True, text=True, errors="surrogateescape",
        stdin=subprocess.DEVNULL)
    return common.blocks(p.stdout) if not p.returncode else None


def either_half(block):
    a, b = sorted((block.pid, block.tid))
    return block._replace(cpu="", comm="", pid=a, tid=b)


def compare(c, perf, expected, printing, work):
    want = common.blocks(common.read_gz(c.script))
    path = common.plain(c.path, work)
    got = printed(perf, c, path)
    if path != c.path:
        os.unlink(path)
    count = collections.Counter()
    if got is None:
        count["refused"] = 1
    else:
        a, b = collections.Counter(want), collections.Counter(got)
        count["text"] = sum(((a - b) + (b - a)).values())
        halves = collections.Counter(map(either_half, want))
        if a == b and want != got:
            count["order"] = sum(x != y for x, y in zip(want, got))
        elif halves == collections.Counter(map(either_half, got)):
            count["cpu"] = count.pop("text") // 2
    count = +count
    if printing:
        common.print_classes(c.name, count)
    else:
        common.ok(dict(count) == expected, "%s: %d blocks %s" % (
            c.name, len(want), dict(count) or "are the same"),
            common.differences(b, a) if got else [])


if __name__ == "__main__":
    perf = newest()
    if not perf or perf < (7, 3):
        print("skip newest: no perf 7.3; tests/bench/newer.sh installs it")
        common.finish()
    printing, args = common.asked()
    table = common.expectations("expect-newest.txt")
    work = os.path.join(common.CACHE, "newest")
    os.makedirs(work, exist_ok=True)
    for c in common.captures(args):
        if "dwarf" not in c.name and c.symfs is None:
            compare(c, perf[2], table.get(c.name, {}), printing, work)
    common.finish()

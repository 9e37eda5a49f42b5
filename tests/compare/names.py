# names.py - names and offsets are perf's where the image's file is at hand.
"""usage: names.py [--print] [NAME...]

Small images are shipped in tests/captures/symfs, most are in
../shared/captures. Each block of perf's is found in ours by its head and
addresses; then each frame's symbol and offset is compared. An image counts
when its file is at hand and it was named; the others are counted, not
compared. What differs belongs to a class, whose count is in expect.txt:

names_only_ours   perf let go of the mappings at EXIT, and prints [unknown]
names_of_next     a call ends its function, as that of one that does not return:
                  perf prints the function behind, with offset 0"""

import collections
import os
import re
import tempfile

import common

FRAME = re.compile(r"^\s+([0-9a-f]+)\s+(.*?)(?:\+0x([0-9a-f]+))?"
                   r" \((.*?)(?:\+0x([0-9a-f]+))?\)$")


HEAD = re.compile(r"^.*?\s+(?:-?\d+/)?(-?\d+)\s+(?:\[(\d+)\]\s+)?"
                  r"(?:(\d+\.\d+):\s+)?(?:\d+\s+)?(\S+?):(?:\s|$)")


def head_of(line):
    """Thread, CPU, time and event: what the default output of perf script
    and ours have both."""
    m = HEAD.match(line)
    return m.groups() if m else line


def frames(text):
    """[(head, [(addr, name, symoff, dso, dsooff)])]"""
    out = []
    for line in text.split("\n"):
        if not line.strip():
            continue
        m = FRAME.match(line)
        if m and line[0] in "\t ":
            out[-1][1].append((int(m[1], 16), m[2], m[3], m[4], m[5]))
        else:
            out.append((head_of(line), []))
            # A sample without callchain has its address here.
            m = re.search(r": +([0-9a-f]+ .* \(.*\))$", line)
            m = m and FRAME.match(" " + m[1])
            if m:
                out[-1][1].append((int(m[1], 16), m[2], m[3], m[4], m[5]))
    return out


Job = collections.namedtuple("Job", "capture script kallsyms symfs dsoff")


def jobs(only):
    """Where the images of a capture are."""
    base = os.path.join(common.SHARED, "captures")
    for c in common.captures(only):
        full = os.path.join(base, "perf-deferred", c.name)
        plain = os.path.join(base, "perf", c.name)
        stem = os.path.join(common.HERE, c.name)
        if common.SHARED and os.path.exists(full + ".boot"):
            with open(full + ".boot") as f:
                kall = os.path.join(base, "perf-deferred", f.read().strip())
            yield Job(c, full + ".script.txt.gz", kall,
                      os.path.join(base, "symfs-7.2"),
                      full + ".script-dsoff.txt.gz")
        elif common.SHARED and os.path.exists(plain + "/script-v72.txt.gz"):
            yield Job(c, plain + "/script-v72.txt.gz",
                      os.path.join(base, "perf/kallsyms.gz"),
                      os.path.join(base, "symfs-6.18"), None)
        elif os.path.exists(stem + ".script-sym.txt.gz"):
            yield Job(c, stem + ".script-sym.txt.gz",
                      common.first(stem + ".kallsyms"),
                      os.path.join(common.HERE, "symfs"),
                      common.first(stem + ".script-dsoff.txt.gz"))


def named_images(db):
    return {r[0] for r in common.query(
        db, "SELECT path FROM image WHERE status IN ('named', 'unverified')")}


def compare(perf, ours, known):
    count = collections.Counter()
    wrong = collections.Counter()
    by_key = collections.defaultdict(list)
    for head, fs in ours:
        by_key[head].append(fs)
    for head, fs in perf:
        for mine in by_key.get(head, ()):
            n = min(len(mine), len(fs))
            if n and [f[0] for f in mine][:n] == [f[0] for f in fs][:n]:
                break
        else:
            count["block not compared"] += 1
            continue
        for i, (p, o) in enumerate(zip(fs, mine)):
            if p[3] not in known and not (
                    p[3].startswith("[") and o[1] != "[unknown]"):
                count["image not at hand"] += 1
            elif p[1:3] == o[1:3]:
                count["equal"] += 1
            elif p[1] == "[unknown]" and p[3] == "[unknown]":
                count["names_only_ours"] += 1
            elif i and p[2] and int(p[2], 16) == 0 and o[2] and int(o[2], 16):
                count["names_of_next"] += 1
            else:
                count["different"] += 1
                wrong["perf %s (%s), ours %s (%s)"
                      % (p[1], p[3], o[1], o[3])] += 1
    return count, wrong


def check_offsets(c, path, db):
    """File offsets of user frames, from perf's --dsoff output."""
    if not path or os.path.getsize(path) < 100:
        return
    theirs = collections.Counter()
    for _, fs in frames(common.read_gz(path)):
        for addr, _, _, dso, off in fs:
            if not off or dso.startswith("[") or addr >= 1 << 47:
                continue
            # perf copies the vdso to a file of its own, and invents one
            # for code without a file.
            if dso.startswith("/tmp/perf-vdso"):
                dso = "[vdso]"
            if not dso.startswith("/tmp/perf-"):
                theirs[(addr, dso, int(off, 16))] += 1
    path_of = collections.defaultdict(dict)
    for stack, pos, image, off in common.query(
            db, "SELECT p.stack, p.pos, i.path, f.off FROM stack_path p"
                " JOIN frame f ON f.id = p.frame"
                " JOIN image i ON i.id = f.image"):
        path_of[stack][pos] = (image, off)
    have = set()
    for blob, stack in common.query(db, "SELECT addrs, stack FROM raw_chain"):
        for pos, addr in enumerate(common.addresses(blob)):
            if pos in path_of[stack]:
                have.add((addr,) + path_of[stack][pos])
    missing = [t for t in theirs if t not in have]
    common.ok(not missing, "%s: %d file offsets are perf's"
              % (c.name, len(theirs)),
              ["%x %s+0x%x" % m for m in missing[:8]])


def check(job, table, tmp, printing):
    c = job.capture
    # a block of other addresses than perf's cannot be compared
    options = ["--no-infer-callers", "--symfs", job.symfs]
    if job.kallsyms:
        options += ["--kallsyms", common.plain(job.kallsyms, tmp)]
    db = common.sound("%s is read with symbols" % c.name,
                      common.ingest(c, *options))
    if not db:
        return
    r = common.run("script", "--no-inline", "-F", common.fields_of(c) + ",sym,symoff,dso",
                   db)
    perf = frames(common.read_gz(job.script))
    ours = frames(r.stdout.decode(errors="surrogateescape"))
    count, wrong = compare(perf, ours, named_images(db))
    found = {k: n for k, n in count.items() if k.startswith("names_")}
    if printing:
        common.print_classes(c.name, found)
    want = {k: n for k, n in table.get(c.name, {}).items()
            if k.startswith("names_")}
    # Where perf unwound every user half from a dump, there is no common one.
    asked = count["equal"] > 0 or "stack_dump" in table.get(c.name, {})
    common.ok(not count["different"] and found == want and asked,
              "%s: names are perf's (%s)" % (c.name, ", ".join(
                  "%s %d" % kv for kv in sorted(count.items()))),
              ["%6d times: %s" % (n, what)
               for what, n in wrong.most_common(12)])
    check_offsets(c, job.dsoff, db)


def main():
    table = common.expectations()
    printing, only = common.asked()
    with tempfile.TemporaryDirectory() as tmp:
        for job in jobs(only):
            check(job, table, tmp, printing)
    common.finish()


if __name__ == "__main__":
    main()

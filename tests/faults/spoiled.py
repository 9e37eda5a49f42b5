#!/usr/bin/env python3
# spoiled.py - captures whose bytes were changed at random, read by every command.
#
# usage: spoiled.py BUILD [N [SEED]]      (1000, 1)
#
# BUILD is one with sanitizers, as of 'make fuzz'. Each of N captures has one to 32
# changes: other bytes and bits, numbers at their limits, parts copied or taken
# out. One command, drawn at random, reads it, and must end by itself: with a
# status of its own, without a report of a sanitizer, within SECONDS and BYTES.
# What does not stays in BUILD/found. The status is 1 if there is any.
import collections
import glob
import os
import random
import shutil
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
N = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
SECONDS = 120
SIZE_MAX = 300000
COMMANDS = [c.split() for c in (
    "script F", "report F", "latency --worst 3 F", "report --wall F",
    "report --off-cpu F", "sched F", "report --sort sym,srcline F",
    "report -g F", "page -o O F", "diff F SOUND", "path F",
    "path --tree F", "path --waits --limit 0 F", "check --verbose F", "info F",
    "flame -o O F", "flame --off-cpu -o O F", "annotate F", "bundle -f -o O.tar F",
    "export --format firefox -o O F", "export --format chrome -o O F",
    "export --format perf.data -o O F", "export --format pprof -o O F",
    "export --format ctf -o O F", "export --format parquet -o O F",
    "ingest -q -f --fields all -o O F")] + [["query", "F", "SELECT * FROM interval"]]
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent",
       "ASAN_OPTIONS": "exitcode=99:allocator_may_return_null=1:detect_leaks=0:"
                       "hard_rss_limit_mb=3000"}


def captures():
    """Small ones, unpacked."""
    for path in sorted(glob.glob("tests/captures/*") + glob.glob("tests/causality/captures/*")):
        if os.path.isfile(path) and path.endswith((".data", ".dat", ".zst", ".txt")):
            if os.path.getsize(path) <= SIZE_MAX:
                data = open(path, "rb").read()
                if path.endswith(".zst"):
                    data = subprocess.run(["zstd", "-dqc"], input=data, check=True,
                                          stdout=subprocess.PIPE).stdout
                yield path, data


def change(rnd, data):
    if not data:  # all of it was taken out
        return
    at = rnd.randrange(len(data))
    kind = rnd.randrange(6)
    if kind == 0:
        data[at] = rnd.randrange(256)
    elif kind == 1:
        data[at] ^= 1 << rnd.randrange(8)
    elif kind in (2, 3):
        size = 4 if kind == 2 else 8
        limit = 1 << 8 * size
        data[at:at + size] = rnd.choice((0, 1, limit - 1, limit // 2, limit // 2 - 1,
                                         rnd.randrange(limit))).to_bytes(size, "little")
    elif kind == 4:
        other = rnd.randrange(len(data))
        size = rnd.randrange(1, 200)
        data[at:at + size] = data[other:other + size]
    elif len(data) > 100:
        del data[at:at + rnd.randrange(1, 64)]


def tried(folder, command):
    """The status, or what went wrong."""
    try:
        done = subprocess.run([BUILD + "/backstitch"] + command, cwd=folder, env=ENV,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "took more than %d s" % SECONDS
    said = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1, 2, 3, 4) or "runtime error" in said:
        return said[-2000:]
    return done.returncode


def main():
    rnd = random.Random(SEED)
    sound = list(captures())
    statuses = collections.Counter()
    for i in range(N):
        path, data = rnd.choice(sound)
        data = bytearray(data)
        for _ in range(1 << rnd.randrange(6)):
            change(rnd, data)
        words = rnd.choice(COMMANDS)
        folder = tempfile.mkdtemp()
        spoiled = os.path.join(folder, "f" + (".txt" if path.endswith(".txt") else ".dat"))
        with open(spoiled, "wb") as f:
            f.write(data)
        got = tried(folder, [{"F": spoiled, "SOUND": os.path.abspath(path)}.get(w, w)
                             for w in words])
        if isinstance(got, str):
            os.makedirs(BUILD + "/found", exist_ok=True)
            kept = shutil.copy(spoiled, "%s/found/spoiled-%d-%d" % (BUILD, SEED, i))
            print("not ok %s of %s: %s\n%s" % (" ".join(words), path, kept, got), flush=True)
            got = "found"
        statuses[got] += 1
        shutil.rmtree(folder)
    print("%s %d spoiled captures: %s" % (
        "not ok" if statuses["found"] else "ok", N,
        ", ".join("%s %d" % s for s in sorted(statuses.items(), key=str))))
    sys.exit(statuses["found"] > 0)


main()

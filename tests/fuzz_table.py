#!/usr/bin/env python3
# fuzz_table.py - runs each fuzz target for some time; prints what was done and found.
#
# usage: fuzz_table.py SECONDS [NAME...]     (all of tests/fuzz; 0: only count lines)
#        fuzz_table.py --keep
#
# The corpus of each target is kept in build-fuzz/corpus/NAME and reduced to the
# inputs that add coverage. Where there is none, it begins with that of
# tests/fuzz/corpora.tar.xz, which --keep makes of what is there. The first table has the executions of each target, all
# and in a second of processor time, as the machine may have more to do; the
# second has the lines of each reader, and of each of its files, that the corpora run,
# and that they, the unit tests and ingest of tests/captures run together. Coverage needs llvm-profdata-14
# and llvm-cov-14, and the programs of build-cov; see `make fuzz` in the Makefile.
# The status is 1 if a target failed.
import glob
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile

FUZZ, COV = "build-fuzz", "build-cov"
KEPT = "tests/fuzz/corpora.tar.xz"
# Rooms whose input comes from outside.
READERS = ("formats", "formats/perf", "formats/ftrace", "formats/ftext", "formats/ctf",
           "formats/ctf/decode", "formats/ctf/meta", "formats/tracepoint", "formats/code",
           "formats/reader", "symbolize/elf", "symbolize/dwarf", "symbolize/cfi",
           "symbolize/sframe", "symbolize/names", "symbolize/unwind", "symbolize/disasm")


def corpus_of(name):
    return os.path.join(FUZZ, "corpus", name)


def unpack():
    """The kept corpora, unless there are others."""
    if os.path.isdir(os.path.join(FUZZ, "corpus")):
        return
    with tarfile.open(KEPT) as kept:
        for item in kept:
            name, file = item.name.split("/")
            os.makedirs(corpus_of(name), exist_ok=True)
            with open(os.path.join(corpus_of(name), file), "wb") as out:
                shutil.copyfileobj(kept.extractfile(item), out)


def keep():
    """Packs the corpora: the same bytes for the same inputs."""
    with tarfile.open(KEPT, "w:xz") as kept:
        for path in sorted(glob.glob(FUZZ + "/corpus/*/*")):
            item = tarfile.TarInfo(os.path.relpath(path, FUZZ + "/corpus"))
            item.size = os.path.getsize(path)
            with open(path, "rb") as data:
                kept.addfile(item, data)


def inputs(name):
    """The corpus and the seeds of a target."""
    seeds = subprocess.run(["tests/fuzz.sh", "--seeds", name], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    return sorted(glob.glob(corpus_of(name) + "/*")) + sorted(set(seeds))


def reduce(name):
    """Keeps the inputs of a corpus that add coverage."""
    corpus, less = corpus_of(name), corpus_of(name) + ".less"
    shutil.rmtree(less, ignore_errors=True)
    os.makedirs(less)
    with tempfile.TemporaryDirectory() as tmp:
        done = subprocess.run(
            [FUZZ + "/fuzz/" + name, "-merge=1", "-timeout=10", "-rss_limit_mb=1024",
             "-max_len=65536", less, corpus], env={**os.environ, "TMPDIR": tmp},
            check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode == 0 and os.listdir(less):
        shutil.rmtree(corpus)
        os.rename(less, corpus)
    else:
        shutil.rmtree(less)


def run(name, seconds):
    """Fuzzes a target; returns executions, those a second, and whether it failed."""
    os.makedirs(corpus_of(name), exist_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        ["tests/fuzz.sh", name, corpus_of(name)], check=False, text=True, errors="replace",
        env={**os.environ, "FUZZ_SECONDS": str(seconds)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    log = os.path.join(FUZZ, "log")
    os.makedirs(log, exist_ok=True)
    with open(os.path.join(log, name), "w", encoding="utf-8") as f:
        f.write(done)

    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = re.search(r"stat::number_of_executed_units: *(\d+)", done)
    count = int(found.group(1)) if found else 0
    return count, count / max(took, 0.01), not re.search(r"(?m)^ok %s " % name, done)


def replay(name, folder):
    """Runs all inputs of a target with counters."""
    with tempfile.TemporaryDirectory() as tmp:
        env = {**os.environ, "TMPDIR": tmp,
               "LLVM_PROFILE_FILE": "%s/%s-%%m.profraw" % (folder, name)}
        todo = inputs(name)
        for i in range(0, len(todo), 500):
            subprocess.run([COV + "/fuzz/" + name, "-timeout=60", *todo[i:i + 500]], env=env,
                           check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def captures(folder):
    """Reads the captures of tests/, folders too, as ingest does."""
    with tempfile.TemporaryDirectory() as tmp:
        env = {**os.environ, "HOME": tmp, "LLVM_PROFILE_FILE": folder + "/ingest-%m.profraw"}
        for path in sorted(glob.glob("tests/captures/*.dat*") + glob.glob(
                "tests/captures/ftext*") + glob.glob("tests/captures/ctf-*/trace")):
            subprocess.run([COV + "/backstitch", "ingest", "-q", "-f", "--symfs",
                            "tests/captures/symfs", "-o", tmp + "/x", path], env=env,
                           check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def unit_tests(folder):
    with tempfile.TemporaryDirectory() as tmp:
        for path in sorted(glob.glob(COV + "/unit/*")):
            if path.endswith(".d"):
                continue
            env = {**os.environ, "TMPDIR": tmp, "HOME": tmp,
                   "LLVM_PROFILE_FILE": "%s/%s-%%m.profraw" % (folder, os.path.basename(path))}
            subprocess.run([path], env=env, check=False, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)


def tool(name):
    return shutil.which(name + "-14") or shutil.which(name)


def lines_of(folder):
    """{file: (lines, lines that ran)}, from the counters in a folder."""
    data = os.path.join(folder, "all.profdata")
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", "-o", data,
                    *glob.glob(folder + "/*.profraw")], check=True)
    text = subprocess.run([tool("llvm-cov"), "export", "-summary-only",
                           "-instr-profile", data, COV + "/backstitch"], check=True,
                          stdout=subprocess.PIPE).stdout
    said = {}
    for f in json.loads(text)["data"][0]["files"]:
        count = f["summary"]["lines"]
        said[os.path.relpath(f["filename"])] = count["count"], count["covered"]
    return said


def share(lines, files):
    total = sum(lines.get(f, (0, 0))[0] for f in files)
    return "%5.1f %%" % (100 * sum(lines.get(f, (0, 0))[1] for f in files) / total
                         ) if total else "-"


def print_coverage(alone, both):
    print("\n%-36s %6s %9s %9s" % ("lines that ran", "lines", "corpora", "and tests"))
    for room in READERS:
        files = sorted(f for f in both if os.path.dirname(f) == room and f.endswith(".c"))
        if not files:
            continue
        print("%-36s %6d %9s %9s" % (room + "/", sum(both[f][0] for f in files),
                                     share(alone, files), share(both, files)))
        for f in files:
            print("  %-34s %6d %9s %9s" % (f, both[f][0], share(alone, [f]),
                                           share(both, [f])))


def coverage(names):
    if not tool("llvm-cov") or not tool("llvm-profdata"):
        print("skip coverage: no llvm-cov (package llvm-14)")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            replay(name, folder)
        alone = lines_of(folder)
        unit_tests(folder)
        captures(folder)
        print_coverage(alone, lines_of(folder))


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    if sys.argv[1:] == ["--keep"]:
        return keep()
    unpack()
    names = sys.argv[2:] or sorted(os.path.basename(f)[:-2]
                                   for f in glob.glob("tests/fuzz/*.c"))
    rows, bad = [], []
    for name in names if int(sys.argv[1]) else ():
        done, speed, failed = run(name, int(sys.argv[1]))
        reduce(name)
        sizes = [os.path.getsize(f) for f in glob.glob(corpus_of(name) + "/*")]
        rows.append((name, done, int(speed), len(sizes), sum(sizes)))
        bad += [name] if failed else []
        print("%s%s: %d executions" % ("FAILED " if failed else "", name, done),
              file=sys.stderr, flush=True)
    print("%-16s %12s %9s %7s %9s" % ("target", "executions", "a second", "corpus", "bytes"))
    for row in rows:
        print("%-16s %12d %9d %7d %9d" % row)
    coverage(names)
    for name in bad:
        print("failed: %s, see %s/log/%s and %s/found/" % (name, FUZZ, name, FUZZ))
    return len(bad) > 0


sys.exit(main())

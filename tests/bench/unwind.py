# unwind.py - samples per second, unwound from stack dumps.
"""usage: unwind.py BUILD-FOLDER | --record

Records gcc's own compiler at work on a file of many functions (once: remove
bench/dwarf.data to record anew), then measures on that one file: our
unwinding and libdw's (one Dwfl, kept) on the same samples in one run, tables
included; and, as whole programs, perf script --no-inline (the faster of two
versions, see runs.py) and our ingest, which stores what it finds. These times
are of the processor; then both whole programs by the clock, ours with one, two
and four threads. Last how that grows with the processes of one program and with
its libraries: each table is made once.

Measured on 2 cores: 134,390 samples of cc1 are unwound at 560,000 a second,
tables included, 6.3 times as fast as by libdw and 31 times as fast as perf
script prints them; ingest, which stores all of it, at 119,000 a second, 6.7
times. 1,000 processes of one program with 10 libraries: 13 tables are made,
once each, and 207,000 samples a second are unwound, where libdw, which has a
Dwfl for each process, comes to 13,500; 100 libraries in one process: 160,000
and 78,000.
"""

import os
import re
import resource
import statistics
import subprocess
import sys

import runs

FILE = "bench/dwarf.data"
FUNCTIONS = 900
RUNS = runs.RUNS
DB = "bench/dwarf.db"
PERFS = {}
# processes, libraries, and how long each of these is busy
GROWTH = [(1, 1, 20000), (1, 10, 2000), (1, 100, 200), (10, 10, 200),
          (100, 10, 20), (1000, 1, 20), (1000, 10, 2)]


def source():
    """Functions with enough in them to keep the optimizer busy."""
    yield "#include <stdio.h>\n#include <string.h>\n"
    for i in range(FUNCTIONS):
        yield ("int f%d(int *a, int n, const char *s) { int r = %d;"
               " for (int i = 0; i < n; i++) switch ((a[i] ^ %d) %% 6) {"
               " case 0: r += a[i] * %d; break;"
               " case 1: r ^= strlen(s) + i; break;"
               " case 2: r -= a[(i * %d) %% n]; break;"
               " case 3: for (int k = 0; k < r %% 17; k++) a[k %% n] += k * r;"
               " break; case 4: printf(\"%%d %%s\", r, s); break;"
               " default: r += memcmp(s, \"abc%d\", 3); } return r; }\n"
               % (i, i, i, i % 13 + 1, i % 7 + 1, i))


def record():
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], text=True,
                         stdout=subprocess.PIPE).stdout.strip()
    include = subprocess.run(["gcc", "-print-file-name=include"], text=True,
                             stdout=subprocess.PIPE).stdout.strip()
    multi = subprocess.run(["gcc", "-print-multiarch"], text=True,
                           stdout=subprocess.PIPE).stdout.strip()
    with open("bench/many.c", "w") as f:
        f.writelines(source())
    print("recording %s" % FILE)
    r = subprocess.run(
        ["perf", "record", "-q", "--call-graph", "dwarf,8192", "-m", "32M",
         "-e", "cpu-clock", "-F", "12000", "-o", FILE + ".new", "--", cc1,
         "-quiet", "-O2", "-I", include, "-I/usr/include",
         "-I/usr/include/" + multi, "bench/many.c", "-o", "/dev/null"])
    if r.returncode == 0:
        os.rename(FILE + ".new", FILE)
    return r.returncode == 0


def seconds(*args):
    """Of the processor, for one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime
            - before.ru_utime - before.ru_stime)


def side_by_side(build, file):
    """samples, images, tables, ours and libdw's samples per second"""
    text = subprocess.run([build + "/libdw/libdw", "--time", "", file],
                          stdout=subprocess.PIPE, text=True).stdout
    m = re.search(r"of (\d+) samples", text)
    t = re.search(r"(\d+) images of code, (\d+) tables made; .*"
                  r"ours (\d+) samples/s, libdw (\d+)", text)
    return [int(m[1])] + [int(t[i]) for i in range(1, 5)]


def script(command, file):
    return [command, "script", "--no-inline", "-F", "ip", "-i", file]


def ingest(build, file, *options):
    return [build + "/backstitch", "ingest", "-q", "-f", "-o", DB,
            "--no-symbols", file, *options]


def whole(build, file):
    """Seconds of perf script and of our ingest."""
    perf = min(seconds(*script(command, file)) for command in PERFS.values()
               for _ in range(RUNS))
    ours = min(seconds(*ingest(build, file)) for _ in range(RUNS))
    os.unlink(DB)
    return perf, ours


def contenders(build, file):
    for name, command in PERFS.items():
        yield name + " script", script(command, file)
    for jobs in ("1", "2", "4"):
        yield "ingest --jobs " + jobs, ingest(build, file, "--jobs", jobs)


def compiler(build):
    alone = [side_by_side(build, FILE) for _ in range(RUNS)]
    samples = alone[0][0]
    ours, libdw = max(r[3] for r in alone), max(r[4] for r in alone)
    perf, ours_all = whole(build, FILE)
    print("stack dumps: %d samples of cc1, best of %d" % (samples, RUNS))
    print("  unwinding alone    %8d samples/s" % ours)
    print("  libdw, Dwfl kept   %8d samples/s; ours is %.1f times as fast"
          % (libdw, ours / libdw))
    print("  ingest, all of it  %8d samples/s" % (samples / ours_all))
    print("  perf script        %8d samples/s; ingest is %.1f times as fast,"
          " unwinding alone %.1f times"
          % (samples / perf, perf / ours_all, ours * perf / samples))
    took = runs.race(lambda _: contenders(build, FILE), samples, "samples")
    runs.ratio(took, [name + " script" for name in PERFS], "ingest --jobs 2",
               5)
    runs.processors("ingest --jobs 4", ingest(build, FILE, "--jobs", "4"))
    os.unlink(DB)


# file, thread, least share of the work that is used, in percent
AHEAD = [(FILE, "unwinding", 80)]


def ahead(build):
    """Returns whether the main thread used enough of what others did."""
    good = True
    for file, thread, wanted in AHEAD:
        if not os.path.exists(file):
            print("  %-18s no %s: 'make bench BENCH=perf' records it" % (thread, file))
            continue
        said = [subprocess.run(ingest(build, file, "--timing"), text=True,
                               stderr=subprocess.PIPE, check=True).stderr
                for _ in range(RUNS)]
        used = [re.search(r"^%s +\d+ .* ([0-9.]+) %% of" % thread, text, re.M)
                for text in said]
        share = statistics.median(float(m[1]) if m else 0 for m in used)
        print("  %-18s %.1f %% of it was used, at least %d %s"
              % (thread, share, wanted,
                 "reached" if share >= wanted else "MISSED"))
        good &= share >= wanted
    os.unlink(DB)
    return good


def library(i):
    """A shared library of its own, with functions that call each other."""
    out = os.path.abspath("bench/libspread%d.so" % i)
    if os.path.exists(out):
        return out
    text = "static volatile int sink;\n" + "".join(
        "__attribute__((noinline)) static int f%d(int n) { for (int i = 0;"
        " i < 2000; i++) sink += i * %d; return n ? %s(n - 1) + sink : 0; }\n"
        % (k, i + k + 1, "f%d" % (k - 1) if k else "") for k in range(1, 20))
    text = text.replace("f0(n - 1)", "sink * (n - 1)")
    text += ("int spread(int loops) { int s = 0; for (int i = 0; i < loops;"
             " i++) s += f19(19); return s; }\n")
    subprocess.run(["gcc", "-O1", "-fno-ipa-icf", "-shared", "-fPIC", "-xc",
                    "-", "-o", out], input=text, text=True, check=True)
    return out


def growth(build):
    """How it grows with processes of one program, and with libraries."""
    subprocess.run(["gcc", "-O2", "-o", "bench/many", "tests/bench/many.c",
                    "-ldl"], check=True)
    print("\n  processes libraries samples images tables     ours    libdw"
          "   perf script   ingest")
    for processes, libs, loops in GROWTH:
        file = "bench/many-%d-%d.data" % (processes, libs)
        if not os.path.exists(file):
            subprocess.run(
                ["perf", "record", "-q", "--call-graph", "dwarf,2048", "-m",
                 "8M", "-e", "cpu-clock:u", "-F", "4000", "-o", file + ".new",
                 "--", "bench/many", str(processes), str(loops)]
                + [library(i) for i in range(libs)], check=True)
            os.rename(file + ".new", file)
        samples, images, tables, ours, libdw = side_by_side(build, file)
        perf, ingest = whole(build, file)
        print("  %9d %9d %7d %6d %6d %6d/s %6d/s %11d/s %6d/s"
              % (processes, libs, samples, images, tables, ours, libdw,
                 samples / perf, samples / ingest))


def main():
    build = sys.argv[1]
    if not os.path.exists(FILE) and not record():
        print("cannot record stack dumps: perf and the right to use it are"
              " needed")
        return 1
    if build == "--record":
        return 0
    PERFS.update(runs.versions("perf"))
    compiler(build)
    good = ahead(build)
    growth(build)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

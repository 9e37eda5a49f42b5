# unwind.py - samples per second, unwound from stack dumps.
"""usage: unwind.py BUILD-FOLDER

Records gcc's own compiler at work on a file of many functions (once: remove
bench/dwarf.data to record anew), then measures on that one file: our
unwinding and libdw's (one Dwfl, kept) on the same samples in one run, tables
included; and, as whole programs, perf script --no-inline and our ingest, which
stores what it finds. All times are of the processor.
"""

import os
import re
import resource
import subprocess
import sys

FILE = "bench/dwarf.data"
FUNCTIONS = 900


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


def main():
    build = sys.argv[1]
    if not os.path.exists(FILE) and not record():
        print("cannot record stack dumps: perf and the right to use it are"
              " needed")
        return 1
    runs = int(os.environ.get("BENCH_RUNS", "5"))
    ours = libdw = samples = 0
    for _ in range(runs):
        text = subprocess.run([build + "/libdw/libdw", "--time", "", FILE],
                              stdout=subprocess.PIPE, text=True).stdout
        m = re.search(r"of (\d+) samples", text)
        t = re.search(r"ours (\d+) samples/s, libdw (\d+)", text)
        samples = int(m[1])
        ours, libdw = max(ours, int(t[1])), max(libdw, int(t[2]))
    db = "bench/dwarf.db"
    perf = min(seconds("perf", "script", "--no-inline", "-F", "ip", "-i",
                       FILE) for _ in range(runs))
    ingest = min(seconds(build + "/backstitch", "ingest", "-q", "-f", "-o", db,
                         "--no-symbols", "--symfs", "/", FILE)
                 for _ in range(runs))
    os.unlink(db)
    print("stack dumps: %d samples of cc1, best of %d" % (samples, runs))
    print("  unwinding alone    %8d samples/s" % ours)
    print("  libdw, Dwfl kept   %8d samples/s; ours is %.1f times as fast"
          % (libdw, ours / libdw))
    print("  ingest, all of it  %8d samples/s" % (samples / ingest))
    print("  perf script        %8d samples/s; ingest is %.1f times as fast,"
          " unwinding alone %.1f times"
          % (samples / perf, perf / ingest, ours * perf / samples))
    return 0


if __name__ == "__main__":
    sys.exit(main())

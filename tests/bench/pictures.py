# pictures.py - from samples to folded stacks and a flame graph, ours and others'.
"""usage: pictures.py BUILD BIG

See runs.py. Without us a flame graph starts with perf script and a program that
collapses its text, such as that of FlameGraph, which is not in Debian: a few
lines of awk stand for it here. (perf's own stackcollapse.py takes no samples of
tracepoints, which most of these are.) Ours starts from the database; what making
that takes is said as well."""

import os
import shutil
import subprocess
import sys

import runs

BUILD, BIG = sys.argv[1:3]
US = os.path.join(BUILD, "backstitch")
DB = "bench/big.db"


def contenders(perfs):
    yield "ingest", [US, "ingest", "-q", "-f", "--fields", "none", "-o", DB,
                     BIG]
    yield "folded", [US, "query", "--format", "csv", DB,
                     "SELECT * FROM folded"]
    yield "export folded", [US, "export", "--format", "folded", DB]
    yield "flame", [US, "flame", "-o", "bench/big.svg", DB]
    yield "report --html", [US, "report", "--html", "-o", "bench/big.html", DB]
    for name, command in perfs.items():
        yield name + " script | collapse", [
            "sh", "-c", '"$0" script --no-inline -i "$1" | "$2" "$3"', command,
            BIG, shutil.which("mawk") or "awk", runs.COLLAPSE]


def main():
    subprocess.run([US, "ingest", "-q", "-f", "--fields", "none", "-o", DB,
                    BIG], check=True)
    p = subprocess.run([US, "query", "--format", "csv", DB,
                        "SELECT count(*) FROM samples"],
                       capture_output=True, text=True, check=True)
    n = int(p.stdout.split()[-1])
    print("%s: %d samples, %d MB, load average %.2f on %d processors" % (
        BIG, n, os.path.getsize(BIG) // 1000000, os.getloadavg()[0],
        os.cpu_count()))
    perfs = runs.versions("perf")
    took = runs.race(lambda took: contenders(perfs), n, "samples")
    print("ratios of best times")
    others = [name + " script | collapse" for name in perfs]
    runs.ratio(took, others, "export folded", 20)
    runs.ratio(took, others, "flame", 20)
    runs.ratio(took, others, "folded", 20)
    return 1 if runs.missed else 0


if __name__ == "__main__":
    sys.exit(main())

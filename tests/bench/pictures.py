# pictures.py - from samples to folded stacks and a flame graph, ours and others'.
"""usage: pictures.py BUILD BIG

See runs.py. Without us a flame graph starts with perf script and a program that
collapses its text: perf's own stackcollapse.py, or a filter like that of
FlameGraph, which is not in Debian: a few lines of awk stand for it here. Ours
starts from the database; what making that takes is said as well."""

import glob
import os
import shutil
import subprocess
import sys

import runs

BUILD, BIG = sys.argv[1:3]
US = os.path.join(BUILD, "backstitch")
DB = "bench/big.db"
COLLAPSE = r"""
/^\t/ { f = $2; sub(/\+0x[0-9a-f]+$/, "", f); s = f (s == "" ? "" : ";" s); next }
/^$/ { if (c != "") n[c ";" s]++; c = s = ""; next }
{ c = $1 }
END { for (k in n) print k, n[k] }"""


def perf_collapse():
    found = [p for d in ("/usr/libexec/perf-core", "/usr/lib*/perf-core",
                         "/usr/share/perf-core")
             for p in glob.glob(d + "/scripts/python/stackcollapse.py")]
    return found[0] if found else None


def contenders(took):
    yield "ingest", [US, "ingest", "-q", "-f", "--fields", "none", "-o", DB,
                     BIG]
    yield "folded", [US, "query", "--format", "csv", DB,
                     "SELECT * FROM folded"]
    yield "flame --folded", [US, "flame", "--folded", DB]
    yield "flame", [US, "flame", "-o", "bench/big.svg", DB]
    yield "report --html", [US, "report", "--html", "-o", "bench/big.html", DB]
    yield "perf script | collapse", [
        "sh", "-c", 'perf script --no-inline -i "$1" | "$2" "$3"', "sh", BIG,
        shutil.which("mawk") or "awk", COLLAPSE]
    # once: it takes minutes
    if perf_collapse() and "stackcollapse.py" not in took:
        yield "stackcollapse.py", ["perf", "script", "-i", BIG, "-s",
                                   perf_collapse()]


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
    took = runs.race(contenders, n, "samples")
    print("ratios of best times")
    runs.ratio(took, "perf script | collapse", "flame --folded", 20)
    runs.ratio(took, "perf script | collapse", "flame", 20)
    runs.ratio(took, "perf script | collapse", "folded", 20)
    runs.ratio(took, "stackcollapse.py", "flame --folded", 20)
    return 1 if runs.missed else 0


if __name__ == "__main__":
    sys.exit(main())

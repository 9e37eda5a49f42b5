# texts.py - texts of perf script and folded stacks: samples a second, beside a program that folds them.
"""usage: texts.py BUILD

See runs.py. A shell that starts programs is recorded with stacks at 20,000 Hz, and
what perf script prints of it is written 40 times, as are its folded stacks. The
program is a few lines of awk, which take only names and count. Fails below
1,000,000 samples a second of perf script's text.

Last result (2 cores, load 1.4; samples a second):

    ingest of the text          850,000, of 6 frames and 370 bytes each: 315 MB a second
    awk of the text             785,000
    ingest of folded stacks     700,000 lines a second

The million is not reached: half of the time goes into finding the stack of each sample by its text, and its frames one by one."""
import os
import shutil
import subprocess
import sys

import runs

US = os.path.join(sys.argv[1], "backstitch")
LOAD = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); [ $((i%500)) != 0 ] || /bin/ls / >/dev/null; done"


def main():
    subprocess.run(["perf", "record", "-q", "-F", "20000", "-g", "-B", "-N", "-o", "bench/texts.data", "--", "sh", "-c", LOAD],
                   check=True, stderr=subprocess.DEVNULL)
    text = subprocess.run(["perf", "script", "-i", "bench/texts.data"], check=True, capture_output=True).stdout
    n = 40 * sum(1 for line in text.split(b"\n") if line.strip() and not line.startswith(b"\t"))
    with open("bench/texts.txt", "wb") as f:
        for _ in range(40):
            f.write(text)
    subprocess.run([US, "ingest", "-q", "-f", "-o", "bench/texts.db", "bench/texts.txt"], check=True)
    folded = subprocess.run([US, "export", "--format", "folded", "bench/texts.db"], check=True, capture_output=True).stdout
    with open("bench/texts.folded", "wb") as f:
        f.write(folded * 200)
    print("%d samples, %d MB, load average %.2f" % (n, os.path.getsize("bench/texts.txt") // 1000000, os.getloadavg()[0]))
    ingest = [US, "ingest", "-q", "-f", "-o", "bench/texts.db"]
    took = runs.race(lambda _: [("ingest", ingest + ["bench/texts.txt"]),
                                ("awk", [shutil.which("mawk") or "awk", runs.COLLAPSE, "bench/texts.txt"])], n, "samples")
    runs.target("million samples a second", n / 1e6 / min(r.wall for r in took["ingest"]), 1)
    lines = 200 * folded.count(b"\n")
    runs.race(lambda _: [("ingest of folded stacks", ingest + ["bench/texts.folded"])], lines, "lines")
    return 1 if runs.missed else 0


if __name__ == "__main__":
    sys.exit(main())

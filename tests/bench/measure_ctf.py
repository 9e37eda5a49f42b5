# measure_ctf.py - a large CTF trace: ours beside babeltrace2.
"""usage: measure_ctf.py BUILD BIG

See runs.py. BIG is made by mkctf.c. babeltrace2 uses one processor: its dummy
sink decodes everything and does nothing with it, its text output prints all;
ours decodes, orders and joins while another thread stores."""

import os
import subprocess
import sys

import runs

BUILD, BIG = sys.argv[1:3]
US = os.path.join(BUILD, "backstitch")
DB = "bench/ctf.db"


def ingest(fields):
    return [US, "ingest", "-q", "-f", "--fields", fields, "-o", DB, BIG]


def contenders(_):
    yield "babeltrace2 -o dummy", ["babeltrace2", "-o", "dummy", BIG]
    yield "babeltrace2 text", ["babeltrace2", BIG]
    yield "ingest --fields none", ingest("none")
    yield "ingest --fields all", ingest("all")


def main():
    p = subprocess.run([US, "query", BIG, "SELECT count(*) FROM event"],
                       capture_output=True, text=True, check=True)
    n = int(p.stdout.split()[-1])
    print("%s: %d events, load average %.2f on %d processors"
          % (BIG, n, os.getloadavg()[0], os.cpu_count()))
    took = runs.race(contenders, n, "events")
    print("ratios of best times")
    runs.ratio(took, "babeltrace2 -o dummy", "ingest --fields none", 1)
    runs.ratio(took, "babeltrace2 text", "ingest --fields all", 2)
    return 1 if runs.missed else 0


if __name__ == "__main__":
    sys.exit(main())

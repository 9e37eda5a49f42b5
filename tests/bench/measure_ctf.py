# measure_ctf.py - large CTF traces: ours beside babeltrace2.
"""usage: measure_ctf.py BUILD TRACE...

See runs.py. Traces are made by mkctf.c and repeatctf.py. babeltrace2 uses one
processor: its dummy sink decodes everything and does nothing with it, its text
output prints all; ours decodes, orders and joins while another thread
stores."""

import os
import subprocess
import sys

import runs

BUILD = sys.argv[1]
US = os.path.join(BUILD, "backstitch")
DB = "bench/ctf.db"
OTHERS = runs.versions("babeltrace2")


def ingest(fields, trace):
    return [US, "ingest", "-q", "-f", "--fields", fields, "-o", DB, trace]


def measure(trace):
    def contenders(_):
        for name, command in OTHERS.items():
            yield name + " -o dummy", [command, "-o", "dummy", path]
            yield name + " text", [command, path]
        yield "ingest --fields none", ingest("none", path)
        yield "ingest --fields all", ingest("all", path)

    path = os.path.abspath(trace)
    p = subprocess.run([US, "query", path, "SELECT count(*) FROM event"],
                       capture_output=True, text=True, check=True)
    n = int(p.stdout.split()[-1])
    print("%s: %d events, load average %.2f on %d processors"
          % (trace, n, os.getloadavg()[0], os.cpu_count()))
    took = runs.race(contenders, n, "events")
    print("ratios of best times")
    runs.ratio(took, [name + " -o dummy" for name in OTHERS],
               "ingest --fields none", 1.5)
    runs.ratio(took, [name + " text" for name in OTHERS],
               "ingest --fields all", 4)
    runs.processors("ingest --fields none", ingest("none", path))


def main():
    for trace in sys.argv[2:]:
        measure(trace)
    return 1 if runs.missed else 0


if __name__ == "__main__":
    sys.exit(main())

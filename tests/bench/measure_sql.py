# measure_sql.py - how long the queries of backstitch-sql(7) take.
"""usage: measure_sql.py BUILD CAPTURE...

Prints the slowest, with their time on the CPU (a query is one thread that reads
a file) and on the clock. More than LIMIT seconds of the CPU is a failure; on a
machine that does other things as well the clock says little.
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

LIMIT = 2.0
SHOWN = 5


def cpu():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def ask(program, db, query):
    """Seconds on the CPU and on the clock, and how many lines came."""
    before, begun = cpu(), time.monotonic()
    got = subprocess.run([program, "query", "--format", "csv", "-f", query, db],
                         capture_output=True, check=False, timeout=120)
    took = cpu() - before, time.monotonic() - begun
    if got.returncode and b"no such table: ev_" not in got.stderr:
        sys.exit(got.stderr.decode() + query.read_text())
    return (*took, max(got.stdout.count(b"\n") - 1, 0))


def measure(program, queries, capture, folder):
    db = folder / "x.db"
    subprocess.run([program, "ingest", "-f", "-o", db, "--no-cache", capture],
                   capture_output=True, check=True)
    events = subprocess.run(
        [program, "query", "--format", "csv", db,
         "SELECT count(*) AS n FROM event"],
        capture_output=True, check=True).stdout.split()[1].decode()
    times = sorted(((*ask(program, db, q), q) for q in queries), reverse=True)
    print(f"sql: {len(times)} queries on {capture}, {events} events; "
          "the slowest:")
    for on_cpu, clock, rows, q in times[:SHOWN]:
        print(f"  {on_cpu:6.2f} s ({clock:.2f} s) {rows:8} rows  "
              f"{q.read_text().splitlines()[0][:46]} ...")
    return times[0][0] <= LIMIT


def main():
    program = os.path.join(sys.argv[1], "backstitch")
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["tests/sql-queries.sh", name], check=True)
        queries = sorted(folder.glob("*.sql"))
        for capture in sys.argv[2:]:
            if not measure(program, queries, capture, folder):
                print(f"  more than {LIMIT} s")
                good = False
    sys.exit(0 if good and queries else 1)


main()

#!/usr/bin/env python3
# cost.py - what 'record --waits -p' costs a server: requests a second with and without, in turn.
"""usage: cost.py [--pairs N] [--server redis|postgres] PROGRAM...

Each turn runs the load without a recorder and beside each PROGRAM, in an order that
rotates. Prints a row
for each, and the median of the ratios of pairs. Server, load and recorder go before
everything else on the machine (the nice value of their session's group), redis and
its load have a CPU each, so that other work disturbs little. Root, redis or
PostgreSQL with pgbench."""

import argparse
import glob
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

PORT = 6391


def said(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


class Redis:
    def __init__(self, folder):
        self.child = subprocess.Popen(
            ["taskset", "-c", "0", "redis-server", "--port", str(PORT), "--save",
             "", "--appendonly", "no", "--dir", folder], stdout=subprocess.DEVNULL)
        time.sleep(1)
        self.pid = self.child.pid

    def load(self):
        out = said("taskset", "-c", "1", "redis-benchmark", "-p", str(PORT), "-t",
                   "set", "-n", "100000", "-c", "20", "--csv")
        return float(out.splitlines()[-1].split(",")[1].strip('"'))

    def end(self):
        self.child.kill()
        self.child.wait()


class Postgres:
    """As its packages forbid root, another user runs it."""
    def __init__(self, folder):
        self.bin = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        os.chmod(folder, 0o755)
        self.data = folder + "/data"
        os.mkdir(self.data)
        shutil.chown(self.data, "postgres")
        self.user("initdb", "-A", "trust", "-D", self.data)
        self.user("pg_ctl", "-w", "-D", self.data, "-l", self.data + "/log", "-o",
                  "-p %d -k %s" % (PORT, self.data), "start")
        self.user("createdb", "-h", self.data, "-p", str(PORT), "cost")
        self.user("pgbench", "-h", self.data, "-p", str(PORT), "-i", "-q", "cost")
        with open(self.data + "/postmaster.pid", encoding="ascii") as f:
            self.pid = int(f.readline())

    def user(self, program, *words):
        path = self.bin + "/" + program
        return said("setpriv", "--reuid=postgres", "--regid=postgres",
                    "--init-groups", path if os.path.exists(path) else program,
                    *words)

    def load(self):
        out = self.user("pgbench", "-h", self.data, "-p", str(PORT), "-c", "4", "-T",
                        "3", "-n", "cost")
        return float(re.search(r"tps = ([0-9.]+)", out).group(1))

    def end(self):
        self.user("pg_ctl", "-D", self.data, "-m", "immediate", "stop")


def beside(program, server, folder):
    """Returns requests a second, and bytes that were written in each second."""
    out = folder + "/cost.data"
    with subprocess.Popen([program, "record", "--waits", "-o", out, "-p",
                           str(server.pid)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as rec:
        for line in rec.stderr:
            if line.startswith("recording"):
                break
        time.sleep(0.3)
        began = time.monotonic()
        speed = server.load()
        took = time.monotonic() - began
        pages = glob.glob(out + ".ftrace/**/trace_pipe_raw", recursive=True)
        size = sum(os.path.getsize(p) for p in [out] + pages)
        rec.send_signal(signal.SIGINT)
        # the answer is not asked for, and takes processor time
        time.sleep(0.7)
        rec.kill()
    for p in glob.glob(folder + "/cost.*"):
        shutil.rmtree(p) if os.path.isdir(p) else os.unlink(p)
    return speed, size / took


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--pairs", type=int, default=10)
    a.add_argument("--server", choices=("redis", "postgres"), default="redis")
    a.add_argument("programs", nargs="+")
    a = a.parse_args()
    if os.getsid(0) != os.getpid():
        os.execvp("setsid", ["setsid", "-w", sys.executable] + sys.argv)
    with open("/proc/self/autogroup", "w", encoding="ascii") as f:
        f.write("-20")
    rows = {None: []}
    rows.update({p: [] for p in a.programs})
    size = {p: [] for p in a.programs}
    # what the server keeps is in memory: others use the disk
    with tempfile.TemporaryDirectory(dir="/dev/shm") as data, \
            tempfile.TemporaryDirectory() as folder:
        server = {"redis": Redis, "postgres": Postgres}[a.server](data)
        # a server that made a session of its own has a group of its own
        with open("/proc/%d/autogroup" % server.pid, "w", encoding="ascii") as f:
            f.write("-20")
        try:
            for turn in range(a.pairs):
                order = list(rows)
                # what comes first, or behind another, may be slower
                for p in order[turn % len(order):] + order[:turn % len(order)]:
                    if not p:
                        rows[p].append(server.load())
                        continue
                    speed, written = beside(p, server, folder)
                    rows[p].append(speed)
                    size[p].append(written)
        finally:
            server.end()
    for p, row in rows.items():
        ratio = [x / y for x, y in zip(row, rows[None])]
        print("| %s | %s | %.3f | %s |" % (
            os.path.basename(p) if p else "without",
            " | ".join("%.0f" % x for x in row), statistics.median(ratio),
            "%.1f MB/s" % (statistics.median(size[p]) / 1e6) if p else ""))
    print("load of the machine: %.1f %.1f %.1f" % os.getloadavg())


main()

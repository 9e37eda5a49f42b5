# postgres.py - the slow 1 % of a PostgreSQL server and its stack, in three commands.
"""usage: BACKSTITCH=PROGRAM postgres.py [FOLDER]

Starts a PostgreSQL server whose disk is busy, records its system calls with
stacks, and then does what a reader does who knows nothing of the program: opens
the capture, and follows what the screens say, literally. Prints each command
with its seconds. Fails if the slow call of the server is not there with its
stack after three of them. For root; it is in no group, as it needs PostgreSQL
and perf. FOLDER keeps the capture and what was printed."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
BIN = (sorted(glob.glob("/usr/lib/postgresql/*/bin")) or [""])[-1]
CALLS = ["fdatasync", "fsync", "pwrite64", "pread64", "openat", "epoll_wait",
         "futex", "recvfrom", "sendto"]
PORT = "7433"


def server(where, program, *args, **more):
    return subprocess.run(
        ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
         os.path.join(BIN, program), *args], cwd=where, check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def record(where):
    data, client = os.path.join(where, "d"), ["-h", where, "-p", PORT]
    server(where, "initdb", "-D", data, "-A", "trust")
    server(where, "pg_ctl", "-D", data, "-w", "-l", data + ".log", "-o",
           "-k %s -p %s -c listen_addresses=" % (where, PORT), "start")
    try:
        server(where, "createdb", *client, "b")
        server(where, "pgbench", *client, "-i", "-q", "-s", "2", "b")
        events = ["syscalls:sys_%s_%s" % (way, c) for c in CALLS
                  for way in ("enter", "exit")]
        busy = "while :; do dd if=/dev/zero of=%s/blob bs=1M count=100 " \
               "conv=fsync; done 2>/dev/null" % where
        with subprocess.Popen(["sh", "-c", busy], start_new_session=True) as disk:
            bench = subprocess.Popen(
                ["setpriv", "--reuid=postgres", "--regid=postgres",
                 "--clear-groups", os.path.join(BIN, "pgbench"), *client, "-c",
                 "4", "-T", "4", "b"], cwd=where, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
            time.sleep(1)
            with open(os.path.join(data, "postmaster.pid")) as f:
                pid = f.readline().strip()
            pids = [pid] + subprocess.run(["pgrep", "-P", pid], check=True,
                                          stdout=subprocess.PIPE,
                                          text=True).stdout.split()
            subprocess.run(["perf", "record", "-q", "-m", "8M", "--call-graph",
                            "dwarf,8192", "-e", ",".join(events), "-p",
                            ",".join(pids), "-o", "pg.data", "--", "sleep", "2"],
                           cwd=where, check=True)
            os.killpg(disk.pid, 15)
            bench.wait()
    finally:
        server(where, "pg_ctl", "-D", data, "-m", "immediate", "stop")


def follow(command, where):
    """What a command prints; it is one that the last screen named."""
    start = time.monotonic()
    r = subprocess.run(["sh", "-c", command.replace("backstitch", B, 1)],
                       cwd=where, stdout=subprocess.PIPE, check=True, text=True,
                       stderr=subprocess.STDOUT)
    print("$ %s\t# %.2f s" % (command, time.monotonic() - start))
    print("\n".join(r.stdout.split("\n")[:30]))
    return r.stdout


def main():
    if not BIN or not shutil.which("perf") or os.getuid():
        print("skip postgres: needs root, PostgreSQL and perf")
        return 0
    where = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    try:
        shutil.chown(where, "postgres")
        record(where)
        start = time.monotonic()
        said = follow("backstitch pg.data", where)
        said = follow(re.search(r"backstitch latency pg\.db", said)[0],
                      where)
        more = re.search(r"with '(.*?)' it lists", said)[1]
        said = follow("backstitch latency %s pg.db" % more, where)
        print("three commands: %.2f s" % (time.monotonic() - start))
    finally:
        if len(sys.argv) == 1:
            shutil.rmtree(where)
    found = re.search(r"--name fdatasync", more) and re.search(
        r"of postgres/\d+: fdatasync <[^:]*XLogFlush", said.replace("\n    ", " "))
    print("ok" if found else "not ok", "the_slow_call_has_its_stack")
    return not found


sys.exit(main())

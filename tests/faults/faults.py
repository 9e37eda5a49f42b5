#!/usr/bin/env python3
# faults.py - every command while calls fail: each time a clean end and whole files.
#
# usage: faults.py BUILD [NAME...]      FAULTS_MAX=N places per kind (40)
#
# For each command and each kind of call (write, read, open, mmap, malloc,
# rename, fsync, thread) shim.so counts the calls, then lets the n-th fail, for
# n = 1, 2, 4, ... and around each change of the outcome. Expected of each try:
# - an exit status, 0, 1, 3 or 4, and no signal; 1 says why on standard error;
# - with 0, the same bytes as without the fault; with 3, a sound database;
# - an existing output is the old one, or the whole new one;
# - nothing else is left in the folder.
# 'write!' is a full disk: all writes from the n-th on fail. 'signal': TERM, HUP,
# INT and KILL at $FAULTS_MAX moments; after KILL a run without a fault must remove
# what is left. The last lines are a table of tries and findings; the status is 1 if
# there are any.
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

KINDS = ("write", "write!", "read", "open", "mmap", "malloc", "rename", "fsync",
         "thread", "signal")
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)
OLD = b"old\n"
MAX = int(os.environ.get("FAULTS_MAX", 40))
CAPTURE = "tests/captures/defer-exitexec-s.data.zst"
COMMANDS = {
    # name: arguments, whether the output is a file
    "ingest": ("ingest -f -q --no-symbols -o OUT CAPTURE", True),
    "info": ("info DB", False),
    "check": ("check DB", False),
    "check --json": ("check --json DB", False),
    "check --svg": ("check --svg OUT DB", True),
    "report": ("report DB", False),
    "report --html": ("report --html -o OUT DB", True),
    "script": ("script DB", False),
    "flame": ("flame -o OUT DB", True),
    "flame --diff": ("flame --diff -o OUT DB DB2", True),
    "query": ("query --format json DB SELECT_ALL", False),
    "dump": ("dump CAPTURE", False),
    "folded": ("export --format folded -o OUT DB", True),
    "csv": ("export --format csv -o OUT DB", True),
    "json": ("export --format json -o OUT DB", True),
    "speedscope": ("export --format speedscope -o OUT DB", True),
    "chrome": ("export --format chrome -o OUT DB", True),
    "pprof": ("export --format pprof -o OUT DB", True),
    "firefox": ("export --format firefox -o OUT DB", True),
    "perf.data": ("export --format perf.data -o OUT DB", True),
    "bundle": ("bundle -f -o OUT.tar.gz DB", True),
    "bundle --redact": ("bundle --redact -f -o OUT DB", True),
}


class Bench:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.db = os.path.join(folder, "a.db")
        self.db2 = os.path.join(folder, "b.db")
        self.shim = os.path.join(folder, "shim.so")
        self.out = os.path.join(folder, "out")
        os.mkdir(self.out)
        subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", "-D_GNU_SOURCE",
                        "-o", self.shim, "tests/faults/shim.c", "-ldl"], check=True)
        for db in (self.db, self.db2):
            subprocess.run([build + "/backstitch", "ingest", "-q", "--no-symbols",
                            "-o", db, CAPTURE], check=True)

    def run(self, text, kind, at, sent=None, clean=True):
        """Returns status, standard output and error, and {file: bytes}. sent: a
        signal, and after how many seconds. Without clean the last run's files stay."""
        target = os.path.join(self.out, "x")
        words = {"DB": self.db, "DB2": self.db2, "CAPTURE": CAPTURE, "OUT": target,
                 "OUT.tar.gz": target + ".tar.gz",
                 "SELECT_ALL": "SELECT * FROM samples"}
        args = [words.get(w, w) for w in text.split()]
        for f in os.listdir(self.out) if clean else ():
            os.unlink(os.path.join(self.out, f))
        for w in args if clean else ():
            # ingest -f replaces databases only
            if w.startswith(target) and text.startswith("ingest"):
                shutil.copy(self.db2, w)
            elif w.startswith(target):
                with open(w, "wb") as f:
                    f.write(OLD)
        count = os.path.join(self.folder, "count")
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC",
               "HOME": self.folder, "LD_PRELOAD": self.shim, "FAULT_COUNT": count,
               "FAULT_KIND": kind.rstrip("!"), "FAULT_AT": str(at),
               "TMPDIR": self.folder}
        if kind.endswith("!"):
            env["FAULT_STAY"] = "1"
        if sent:
            del env["LD_PRELOAD"]
        p = subprocess.Popen([self.build + "/backstitch", *args], env=env,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        if sent:
            time.sleep(sent[1])
            p.send_signal(sent[0])
        p.out, p.err = p.communicate(timeout=60)
        if os.path.exists(count):  # not after _exit() or a signal
            with open(count, encoding="ascii") as f:
                self.calls = int(f.read() or 0)
            os.unlink(count)
        files = {}
        for f in os.listdir(self.out):
            with open(os.path.join(self.out, f), "rb") as g:
                files[f] = g.read()
        return p.returncode, p.out, p.err, files


def is_sound(data):
    db = sqlite3.connect(":memory:")
    try:
        db.deserialize(data)
        return db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    except sqlite3.Error:
        return False
    finally:
        db.close()


def judge(got, want, old):
    """Returns what is wrong with a try, or None."""
    status, out, said, files = got
    if status < 0:
        return "signal %d" % -status
    if status not in (0, 1, 3, 4):
        return "status %d" % status
    if status == 1 and not said.strip():
        return "status 1 without a word"
    if set(files) - set(want[3]):
        return "left behind: %s" % sorted(set(files) - set(want[3]))
    for name, data in files.items():
        # the input was cut by the fault, and the result says so
        if status == 3 and status != want[0] and is_sound(data):
            continue
        if data not in (want[3][name], old[name]):
            return "half a file: %d of %d bytes" % (len(data), len(want[3][name]))
    if set(want[3]) - set(files):
        return "the old file is gone"
    if status == want[0] and (out, files) != (want[1], want[3]):
        return "status %d with another result" % status
    return None


def judge_signal(bench, text, got, want, old, sig):
    """The same for a try that a signal ended, or that was done before."""
    status, _, _, files = got
    if status not in (0, 3, 4, -sig):
        return "%s: status %d" % (sig.name, status)
    if sig == signal.SIGKILL:
        if any(files.get(f) not in (want[3][f], old[f]) for f in want[3]):
            return "SIGKILL: half a file"
        files = bench.run(text, "write", 0, clean=False)[3]
        return None if files == want[3] else "SIGKILL: the next run leaves %s" % list(files)
    if set(files) != set(want[3]):
        return "%s: left %s" % (sig.name, sorted(files))
    if any(files[f] not in (want[3][f], old[f]) for f in files):
        return "%s: half a file" % sig.name
    return None


def signals(bench, text, want, old):
    """Sends each signal at moments of a run; returns tries and {finding: moments}."""
    start = time.monotonic()
    bench.run(text, "write", 0, sent=(0, 0))
    took = time.monotonic() - start
    said = {}
    for i in range(MAX):
        sig = SIGNALS[i % len(SIGNALS)]
        got = bench.run(text, "write", 0, sent=(sig, took * i / MAX))
        wrong = judge_signal(bench, text, got, want, old, sig)
        if wrong:
            said.setdefault(wrong, []).append(i)
    return MAX, said


def places(bench, text, kind, calls):
    """Yields each n to try, with the result; around changes of the outcome too."""
    done = {}

    def at(n):
        if n not in done:
            done[n] = bench.run(text, kind, n)
        return done[n]

    n, row = 1, []
    while n <= calls:
        at(n)
        row.append(n)
        n *= 2
    todo = [(a, b) for a, b in zip(row, row[1:])]
    while todo and len(done) < MAX:
        a, b = todo.pop(0)
        if b - a > 1 and at(a)[0::2] != at(b)[0::2]:
            at((a + b) // 2)
            todo += [(a, (a + b) // 2), ((a + b) // 2, b)]
    return sorted(done.items())


def faults(bench, text, kind, calls, want, old):
    """Returns the tries, and {finding: places}."""
    tries = places(bench, text, kind, calls)
    said = {}
    for n, got in tries:
        wrong = judge(got, want, old)
        if wrong:
            said.setdefault(wrong, []).append(n)
    return tries, said


def main():
    build = os.path.abspath(sys.argv[1])
    names = sys.argv[2:] or COMMANDS
    table, bad = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(build, folder)
        for name in names:
            text, _ = COMMANDS[name]
            for kind in KINDS:
                want = bench.run(text, kind, 0)
                calls = bench.calls
                old = {f: OLD for f in want[3]}
                if text.startswith("ingest"):
                    with open(bench.db2, "rb") as f:
                        old = {k: f.read() for k in want[3]}
                if kind == "signal":
                    tries, said = signals(bench, text, want, old)
                    tries = range(tries)
                else:
                    tries, said = faults(bench, text, kind, calls, want, old)
                for wrong, at in said.items():
                    print("%s: %s of %d, %s: %s" % (
                        name, kind, calls, " ".join(map(str, at[:6])), wrong), flush=True)
                table[name, kind] = len(tries), sum(map(len, said.values()))
                bad += len(said)
    print("\n%-16s" % "tries/findings" + "".join("%10s" % k for k in KINDS))
    for name in names:
        print("%-16s" % name + "".join(
            "%10s" % ("%d/%d" % table[name, k]) for k in KINDS))
    sys.exit(bad > 0)


main()

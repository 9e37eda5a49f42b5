# view.py - how soon view shows a database, and answers keys.
"""usage: view.py BUILD [CAPTURE]

Seconds from the command to the first screen of pagedb.py's database, by the
clock and of the processor, and from each key to the last byte that it draws; the
best of $BENCH_RUNS (5). With a capture: from the command to its functions, its
database not made yet."""

import os
import pty
import select
import signal
import sys
import time

from pagedb import BUILD, DB, make

RUNS = int(os.environ.get("BENCH_RUNS", "5"))
LIMIT_OPEN = 0.3
LIMIT_KEY = 0.05
LIMIT_CAPTURE = 1.5
QUIET = 1.5  # nothing more is drawn
KEYS = (("down", b"\x1bOB"), ("a page", b" "), ("callers", b"\r"),
        ("callees", b"c"), ("sort", b"s"), ("tree", b"2"), ("hot path", b"h"),
        ("flame", b"3"), ("its child", b"\x1bOB"), ("zoom", b"\r"),
        ("functions", b"1"), ("search", b"/_1\r"))


class View:
    def __init__(self, path):
        self.start = time.monotonic()
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execve(os.path.join(BUILD, "backstitch"),
                      ["backstitch", "view", path],
                      {"TERM": "xterm", "LC_ALL": "C.UTF-8"})

    def until(self, text):
        """Seconds from the start until the text is drawn."""
        got = b""
        while text not in got:
            got += os.read(self.fd, 65536)
        return time.monotonic() - self.start

    def cpu(self):
        """Seconds of the processor so far."""
        with open("/proc/%d/stat" % self.pid, encoding="utf-8") as f:
            f = f.read().rsplit(")", 1)[1].split()
        return (int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK")

    def key(self, key):
        """Seconds from a key to the last byte that is drawn for it."""
        start = last = time.monotonic()
        os.write(self.fd, key)
        while select.select([self.fd], [], [], QUIET)[0]:
            os.read(self.fd, 65536)
            last = time.monotonic()
        return last - start

    def end(self):
        """Returns the peak of its memory, MB."""
        os.kill(self.pid, signal.SIGTERM)
        return os.wait4(self.pid, 0)[2].ru_maxrss / 1024


def of_database():
    opened, cpu, peak, best = [], [], [], {}
    for _ in range(RUNS):
        v = View(DB)
        opened.append(v.until(b"1 functions"))
        cpu.append(v.cpu())
        for name, key in KEYS:
            best[name] = min(best.get(name, 9), v.key(key))
        peak.append(v.end())
    print("view of 1.5 million samples, 100,000 distinct stacks:")
    print("  opened in        %7.2f s   (at most %.1f), %.2f s of processor time, "
          "%d MB with all screens"
          % (min(opened), LIMIT_OPEN, min(cpu), max(peak)))
    for name, took in best.items():
        print("  %-16s %7.0f ms  (at most %d)" % (name, took * 1000,
                                                 LIMIT_KEY * 1000))
    return min(opened) > LIMIT_OPEN or max(best.values()) > LIMIT_KEY


def of_capture(path):
    db = path[:-len(".data")] + ".db"
    best = 99
    for _ in range(RUNS):
        if os.path.exists(db):
            os.unlink(db)
        v = View(path)
        best = min(best, v.until(b"1 functions"))
        v.end()
    os.unlink(db)
    print("view of a capture of %d MB: functions after %.2f s (at most %.1f)"
          % (os.path.getsize(path) / 1e6, best, LIMIT_CAPTURE))
    return best > LIMIT_CAPTURE


make()
bad = of_database()
for capture in sys.argv[2:]:
    bad |= of_capture(capture)
sys.exit(bad)

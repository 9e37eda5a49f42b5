#!/usr/bin/env python3
# faults.py - every command while calls fail: each time a clean end and whole files.
#
# usage: faults.py BUILD [NAME...]      FAULTS_MAX=N places per kind (100)
#
# For each command and each kind of call (write, read, open, mmap, malloc,
# rename, fsync, thread) shim.so counts the calls, then lets the n-th fail, for
# n = 1, 2, 4, ... and around each change of the outcome. Expected of each try:
# - an exit status, 0, 1, 3 or 4, and no signal; 1 says why on standard error;
# - with 0, the same bytes as without the fault, or of a stream the same rows but
#   for when it was read; with 3, a sound database;
# - an existing output is the old one, or the whole new one;
# - nothing else is left in the folder, but for the journal of a database that was
#   changed in place and could not be put back: see rolls_back().
# 'disk': a real file system with room for 1/11, ... 10/11 of the output;
# 'places': outputs in a folder that cannot be written, inputs in one, and the
# output under the name of the input, a hard link or a symbolic link to it: the
# input must keep its bytes. Both need root (mount in a namespace of their own),
# else they are skipped. Every command of `--list-commands` and every export must
# be in the table COMMANDS.
# 'rivals': at $FAULTS_MAX moments of a follow, another one begins in its folder,
# links to a precious file are planted under the names that it will use, or the
# folder is replaced by a link: each that ends with 0 has added its events, once,
# and what a link points to stays as it was.
# 'storm' interrupts all calls that wait, a thousand times a second: the result is
# the same. 'write!' is a full disk: all writes from the n-th on fail; follow says that
# it waits for room, and is ended. 'signal': TERM, HUP,
# INT and KILL at $FAULTS_MAX moments; after KILL a run without a fault must remove
# what is left. FAULTS_BIG=N makes the inputs of N samples and N switches in place of
# small ones, for signals alone: then nothing may take longer than STOP_S after a
# signal; every second time two are sent. The last lines are a table of tries and findings; the status is 1 if
# there are any.
import contextlib
import gzip
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

KINDS = ("write", "write!", "read", "open", "mmap", "malloc", "rename", "fsync",
         "thread", "storm", "signal", "rivals", "disk", "places")
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)
OLD = b"old\n"
SEGMENT = "x/segment-000001.db"
STOP_S = 1.0
FULL_S = 1.0  # follow waits on a full disk
BIG = int(os.environ.get("FAULTS_BIG", 0))
MAX = int(os.environ.get("FAULTS_MAX", 100))
CAPTURE = "tests/captures/defer-exitexec-s.data.zst"
FTRACE = "tests/captures/ftrace-procmap.dat"
LTTNG = "tests/captures/ctf-discard"
STREAM = "tests/captures/pipe-defer.data.gz"
COMMANDS = {
    # name: arguments, whether the output is a file
    "ingest": ("ingest -f -q --no-symbols -o OUT CAPTURE", True),
    "info": ("info DB", False),
    "check": ("check DB", False),
    "check --json": ("check --json DB", False),
    "report": ("report DB", False),
    "report capture": ("report --no-symbols CAPTURE", False),
    "check capture": ("check --no-symbols CAPTURE", False),
    "diff": ("diff DB DB2", False),
    "latency": ("latency DB3", False),
    "sched": ("sched DB3", False),
    "page": ("page -o OUT DB", True),
    "script": ("script DB", False),
    "flame": ("flame -o OUT DB", True),
    "flame --diff": ("flame --diff -o OUT DB DB2", True),
    "annotate": ("annotate DB", False),
    "sframe": ("sframe --readiness DB", False),
    "completion": ("completion bash", False),
    "help": ("help verdicts", False),
    "report --off-cpu": ("report --off-cpu DB3", False),
    "path": ("path DB3", False),
    "path --json": ("path --json --worst 3 DB3", False),
    "ingest ftrace": ("ingest -f -q --no-symbols -o OUT FTRACE", True),
    "ingest LTTng": ("ingest -f -q --no-symbols -o OUT LTTNG", True),
    "merge": ("merge -f -q -o OUT DB3 DB", True),
    "follow": ("follow -q --no-symbols -o NEW STREAM", True),
    "symbolize": ("symbolize --no-cache OUT", True),
    "ctf": ("export --format ctf -o NEW DB", True),
    "query": ("query --format json DB SELECT_ALL", False),
    "dump": ("dump CAPTURE", False),
    "folded": ("export --format folded -o OUT DB", True),
    "json": ("export --format json -o OUT DB", True),
    "chrome": ("export --format chrome -o OUT DB", True),
    "pprof": ("export --format pprof -o OUT DB", True),
    "firefox": ("export --format firefox -o OUT DB", True),
    "perf.data": ("export --format perf.data -o OUT DB", True),
    "parquet": ("export --format parquet -o NEW DB", True),
    "bundle": ("bundle -f -o OUT.tar.gz DB", True),
    "bundle --redact": ("bundle --redact -f -o OUT DB", True),
}

# Those that take long with FAULTS_BIG only.
LONG = {
    "query": ("query DB LONG_SQL", False),
    "query waits": ("query DB3 WAITS_SQL", False),
    "report --callers": ("report --callers main DB", False),
    "export --capture": ("export --format folded -o OUT CAPTURE", True),
}
SQL = {
    "SELECT_ALL": "SELECT * FROM samples",
    # one statement that takes long, and one row after the other of computed tables
    "LONG_SQL": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                "WHERE i < %d) SELECT sum(i) FROM n" % (10 * BIG),
    "WAITS_SQL": "SELECT (SELECT count(*) FROM wait), (SELECT count(*) FROM stay), "
                 "(SELECT count(*) FROM wake), (SELECT count(*) FROM blame)",
}

# Those that replace databases only.
DATABASES = ("ingest", "symbolize", "merge")

# push needs servers: tests/fleet/push.py breaks them, and kills it; view needs a
# terminal.
OTHERS = ("push", "record", "view")


def big_capture(build, folder):
    """N samples of 50 threads, each with a stack of its own."""
    text, path = os.path.join(folder, "big.txt"), os.path.join(folder, "big.data")
    draw = random.Random(1)
    with open(text, "w", encoding="ascii") as f:
        f.write("event cpu-clock period=1000\ncomm pid=100 name=app\n")
        for i in range(400):
            f.write("mmap pid=100 start=%#x len=0x100000 pgoff=0 path=/lib/l%d time=%d cpu=0\n"
                    % (0x400000 + (i << 20), i, i))
        for i in range(BIG):
            f.write("sample pid=100 tid=%d cpu=%d time=%d k=0xffffffff81000010 u=%s\n" % (
                100 + i % 50, i % 4, 1000 * i,
                ",".join(hex(0x400010 + draw.randrange(1 << 27)) for _ in range(20))))
    subprocess.run([build + "/mkcap", text, path], check=True)
    return path


def big_trace(folder):
    """N switches, and wakings of what sleeps."""
    path = os.path.join(folder, "big.trace")
    draw = random.Random(1)
    runs, sleeps = list(range(10, 14)), list(range(14, 200))
    with open(path, "w", encoding="ascii") as f:
        f.write("# tracer: nop\n#\n# entries-in-buffer/entries-written: %d/%d   #P:4\n#\n"
                % (2 * BIG, 2 * BIG))
        for i in range(BIG):
            cpu = draw.randrange(4)
            was, wakes = runs[cpu], sleeps.pop(draw.randrange(len(sleeps)))
            for j, line in enumerate((
                    "sched_waking: comm=t%d pid=%d prio=120 target_cpu=%03d" % (wakes, wakes, cpu),
                    "sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=S ==> "
                    "next_comm=t%d next_pid=%d next_prio=120" % (was, was, wakes, wakes))):
                us = 1000000 + 2 * i + j
                f.write("%16s-%-7d [%03d] d..2. %d.%06d: %s\n" % (
                    "t%d" % was, was, cpu, us // 1000000, us % 1000000, line))
            sleeps.append(was)
            runs[cpu] = wakes
    return path


class Bench:
    def __init__(self, build, folder, words):
        """words: of the commands, which say what is needed of what is large."""
        self.build, self.folder = build, folder
        self.calls = 0
        self.db = os.path.join(folder, "a.db")
        self.db2 = os.path.join(folder, "b.db")
        self.shim = os.path.join(folder, "shim.so")
        self.out = os.path.join(folder, "out")
        os.mkdir(self.out)
        subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", "-D_GNU_SOURCE",
                        "-o", self.shim, "tests/faults/shim.c", "-ldl"], check=True)
        samples = {"DB", "DB2", "CAPTURE", "OUT"} & words
        self.capture = big_capture(build, folder) if BIG and samples else CAPTURE
        self.trace = big_trace(folder) if BIG else FTRACE
        self.db3 = os.path.join(folder, "c.db")
        self.stream = os.path.join(folder, "stream")
        with gzip.open(STREAM) as packed, open(self.stream, "wb") as f:
            f.write(packed.read())
        for db, capture in ((self.db, self.capture),
                            (self.db2, self.capture),
                            (self.db3, self.trace)):
            subprocess.run([build + "/backstitch", "ingest", "-q", "--no-symbols",
                            "-o", db, capture], check=True)

    def words(self, text):
        target = os.path.join(self.out, "x")
        words = {"DB": self.db, "DB2": self.db2, "DB3": self.db3, "CAPTURE": self.capture,
                 "FTRACE": self.trace, "LTTNG": LTTNG, "STREAM": self.stream, "OUT": target, "NEW": target,
                 "OUT.tar.gz": target + ".tar.gz", **SQL}
        return [words.get(w, w) for w in text.split()]

    def empty(self):
        for f in os.listdir(self.out):
            path = os.path.join(self.out, f)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)

    def put_old(self, text):
        """Puts the file that is replaced where the output goes."""
        target = os.path.join(self.out, "x")
        for w in self.words(text):
            if w.startswith(target) and text.startswith(DATABASES):
                shutil.copy(self.db2, w)
            elif w.startswith(target) and " NEW " not in text:
                with open(w, "wb") as f:
                    f.write(OLD)

    def files(self):
        """{name: bytes}, in folders too, which are 'NAME/'."""
        said = {}
        for folder, folders, names in os.walk(self.out):
            for name in folders:
                said[os.path.relpath(os.path.join(folder, name), self.out) + "/"] = b""
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    said[os.path.relpath(path, self.out)] = f.read()
        return said

    def run(self, text, kind, at, sent=None, clean=True, full=False):
        """Returns status, standard output and error, and {file: bytes}. sent: a
        signal, after how many seconds, and how often. Without clean the last run's files
        stay. full: the disk may be, for which follow waits."""
        args = self.words(text)
        if clean:
            self.empty()
            self.put_old(text)
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
            start = time.monotonic()
            for i in range(sent[2]):
                time.sleep(0.05 * i)
                p.send_signal(sent[0])
        waits = text.startswith("follow") and (full or kind.endswith("!"))
        try:
            p.out, p.err = p.communicate(timeout=FULL_S if waits else 600 if BIG else 60)
        except subprocess.TimeoutExpired:
            if not waits:
                raise
            p.terminate()  # the user ends the waiting
            p.out, p.err = p.communicate(timeout=60)
            if b"waits for room" not in p.err:
                raise
        if sent:
            self.ended = time.monotonic() - start
        if os.path.exists(count):  # not after _exit() or a signal
            with open(count, encoding="ascii") as f:
                self.calls = int(f.read() or 0)
            os.unlink(count)
        return p.returncode, p.out, p.err, self.files()


@contextlib.contextmanager
def opened(data):
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(data)
        yield db


def is_sound(data):
    try:
        with opened(data) as db:
            return db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    except sqlite3.Error:
        return False


def timeless(files):
    """Files of which the sound databases are text, without when their stream was
    read: that differs from run to run."""
    def text(data):
        with opened(data) as db:
            db.execute("DELETE FROM meta WHERE key GLOB 'written_*_ns'")
            return list(db.iterdump())
    return {f: text(d) if f.endswith(".db") and d and is_sound(d) else d
            for f, d in files.items()}


def rolls_back(bench, files, old):
    """Whether these are a database that was changed in place, and the journal by which
    the next program that opens it puts the old bytes back. SQLite leaves them if its
    rollback cannot write either. Without the journal the database would be half."""
    if set(files) != {"x", "x-journal"}:
        return False
    bench.empty()
    path = os.path.join(bench.out, "x")
    for name, data in files.items():
        with open(os.path.join(bench.out, name), "wb") as f:
            f.write(data)
    refused = subprocess.run([bench.build + "/backstitch", "info", path], check=False,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if refused.returncode != 1 or "x-journal" not in refused.stderr:
        return False
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("SELECT * FROM sqlite_schema").fetchone()
    return bench.files() == old


def damages(data):
    """How many rows of damage a database has."""
    with opened(data) as db:
        return db.execute("SELECT count(*) FROM damage").fetchone()[0]


def judge_parts(files, ended):
    """The same of a folder of segments: those are whole, and what was received but
    is in none of them waits for the next run unless that is at its end; so does the
    lock, which nobody holds then."""
    parts = re.compile(r"x/(segment-\d+\.db%s)" % (
        "" if ended else r"|\.segment-\d+\.data|\.lock"))
    left = sorted(f for f in files if f != "x/" and not parts.fullmatch(f))
    if left:
        return "left behind: %s" % left
    if not all(is_sound(d) for f, d in files.items() if f.endswith(".db")):
        return "half a segment"
    return None


def judge(got, want, old):
    """Returns what is wrong with a try, or None."""
    status, out, said, files = got
    if status < 0:
        return "signal %d" % -status
    if status not in (0, 1, 3, 4):
        return "status %d" % status
    if status == 1 and not said.strip():
        return "status 1 without a word"
    if SEGMENT in want[3] and status == 1:
        return judge_parts(files, False)
    if set(files) - set(want[3]):
        return "left behind: %s" % sorted(set(files) - set(want[3]))
    same, wanted = map(timeless if SEGMENT in want[3] else dict, (files, want[3]))
    for name, data in files.items():
        # the input was cut by the fault, and the result says so
        if status == 3 and is_sound(data) and (
                status != want[0] or damages(data) > damages(want[3][name])):
            continue
        if same[name] not in (wanted[name], old.get(name)):
            return "half a file: %d of %d bytes" % (len(data), len(want[3][name]))
    if set(old) - set(files):
        return "the old file is gone"
    if files and set(want[3]) - set(files):
        return "half a folder"
    if status == want[0] and (out, same) != (want[1], wanted):
        return "status %d with another result" % status
    return None


def without_temps(files):
    """Waits for the processes whose temporary databases are there: killed with
    the one that started them, they take a moment to end. Returns the others."""
    temp = re.compile(r".*\.db\.(\d+)-\d+\.tmp")
    for pid in {m[1] for m in map(temp.fullmatch, files) if m}:
        for _ in range(200):
            if not os.path.exists("/proc/" + pid):
                break
            time.sleep(0.01)
    return {f: d for f, d in files.items() if not temp.fullmatch(f)}


def judge_signal(bench, text, got, want, old, sig):
    """The same for a try that a signal ended, or that was done before."""
    status, _, _, files = got
    if status not in (0, 3, 4, -sig):
        return "%s: status %d" % (sig.name, status)
    if SEGMENT in want[3]:
        if status == -sig:
            if sig == signal.SIGKILL:
                files = without_temps(files)
            wrong = judge_parts(files, False)
            status, _, _, files = bench.run(text, "write", 0, clean=False)
            return "%s: %s" % (sig.name, wrong) if wrong else judge_parts(files, True)
        return judge_parts(files, True)
    # a second signal is as good as SIGKILL for what symbolize changes in place
    undone = text.startswith("symbolize") and rolls_back(bench, files, old)
    if undone and sig != signal.SIGKILL:
        return None
    if sig == signal.SIGKILL:
        if not undone and any(files.get(f) not in (want[3][f], old.get(f)) for f in want[3]):
            return "SIGKILL: half a file"
        files = bench.run(text, "write", 0, clean=False)[3]
        # pages that a journal has put back are in another order
        if text.startswith("symbolize") and all(map(is_sound, files.values())):
            return None
        return None if files == want[3] else "SIGKILL: the next run leaves %s" % list(files)
    if set(files) not in (set(want[3]), set(old)):
        return "%s: left %s" % (sig.name, sorted(files))
    if any(files[f] not in (want[3][f], old.get(f)) for f in files):
        return "%s: half a file" % sig.name
    return None


def signals(bench, text, took, want, old):
    """Sends each signal at moments of a run, which took so many seconds; returns tries
    and {finding: moments}."""
    said = {}
    for i in range(MAX):
        sig = SIGNALS[i % len(SIGNALS)]
        twice = BIG and i % 8 > 3
        got = bench.run(text, "write", 0, sent=(sig, took * i / MAX, 1 + twice))
        wrong = judge_signal(bench, text, got, want, old, sig)
        if BIG and bench.ended > STOP_S and not text.startswith("follow"):
            wrong = "%s: went on for %.1f s" % (sig.name, bench.ended)
        if wrong:
            said.setdefault(wrong, []).append(i)
    return MAX, said


def events_in(folder):
    """How many events the segments in a folder have."""
    n = 0
    for name in os.listdir(folder):
        if re.fullmatch(r"segment-\d+\.db", name):
            with contextlib.closing(sqlite3.connect(folder + "/" + name)) as db:
                n += db.execute("SELECT count(*) FROM event").fetchone()[0]
    return n


def plant(bench, target, how, victim):
    """Does to a folder what others may do. Returns what they started, or None."""
    if how == "follow":
        return start(bench, target)
    if how == "replaced" and os.path.isdir(target):
        os.rename(target, target + "-was")
        os.symlink(bench.out + "/other", target)
    for name in (".lock", ".followed", ".followed.tmp", "segment-000001.db",
                 *(".segment-%06d.data" % i for i in range(1, 4))):
        if how == "links" and os.path.isdir(target):
            with contextlib.suppress(FileExistsError):
                os.symlink(victim, target + "/" + name)
    return None


def start(bench, target):
    return subprocess.Popen([bench.build + "/backstitch", "follow", "-q", "--no-symbols",
                             "-o", target, bench.stream], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def rival(bench, how, wait, each):
    """Returns what is wrong, or None."""
    bench.empty()
    target, victim = bench.out + "/x", bench.out + "/victim"
    os.mkdir(bench.out + "/other")
    with open(victim, "wb") as f:
        f.write(OLD)
    run = [start(bench, target)]
    time.sleep(wait)
    run.append(plant(bench, target, how, victim))
    ended = [(p.communicate(timeout=60)[1], p.returncode) for p in run if p]
    with open(victim, "rb") as f:
        if f.read() != OLD or os.listdir(bench.out + "/other"):
            return how + ": written through a link"
    for said, status in ended:
        if status not in (0, 1, 3):
            return "%s: status %d" % (how, status)
        if status and not said.strip():
            return "%s: status %d without a word" % (how, status)
    if how != "follow":
        return None
    got = events_in(target)
    if got != each * sum(not status for _, status in ended):
        return "follow: %d events, %d a follow, %s" % (got, each, ended)
    left = [f for f in os.listdir(target) if not f.startswith("segment-")]
    return "follow: left %s" % left if left else None


def rivals(bench, want):
    """Returns tries and {finding: moments}; other commands than follow have none."""
    if SEGMENT not in want[3]:
        return [], {}
    each = events_in(bench.out + "/x")
    begin = time.monotonic()
    start(bench, bench.out + "/y").communicate()
    took = time.monotonic() - begin
    said = {}
    for i in range(MAX):
        wrong = rival(bench, ("follow", "links", "replaced")[i % 3], took * i / MAX, each)
        if wrong:
            said.setdefault(wrong, []).append(i)
    return range(MAX), said


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
        # a program that cannot be opened names nothing
        if kind == "open" and text.startswith("symbolize") and got[0] == 0 and (
                all(map(is_sound, got[3].values()))):
            wrong = None
        if kind == "write!" and text.startswith("symbolize") and got[0] == 1 and (
                "x-journal" in got[3] and rolls_back(bench, got[3], old)):
            wrong = None
        if wrong:
            said.setdefault(wrong, []).append(n)
    return tries, said


def storm(bench, text, want, old):
    """A signal a thousand times a second changes nothing."""
    got = bench.run(text, "storm", 1)
    if SEGMENT in want[3]:  # databases name the time
        wrong = judge_parts(got[3], True) or (
            "status %d" % got[0] if got[0] != want[0] else None)
    else:
        wrong = judge(got, want, old) or (
            "status %d" % got[0] if got[0] != want[0] else None)
    return range(1), {wrong: [1]} if wrong else {}


def mounted(options, path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", path], check=True)


def disk(bench, text, want, old):
    """Tries ten sizes of a disk; returns tries and {finding: sizes}."""
    size = sum((len(d) + 4095) // 4096 for d in want[3].values()) or (
        len(want[1]) + 4095) // 4096
    said = {}
    for i in range(1, 11):
        # two blocks more, as the old file has its place too
        pages = 1 + size * i // 11 + sum((len(d) + 4095) // 4096 for d in old.values())
        mounted("size=%dk" % (4 * pages), bench.out)
        try:
            got = bench.run(text, "write", 0, full=True)
        finally:
            subprocess.run(["umount", bench.out], check=True)
        wrong = judge_parts(got[3], False) if text.startswith("follow") else (
            judge(got, want, old))
        if wrong:
            said.setdefault(wrong, []).append(i)
    return range(10), said


def read_only(bench, text, want, old):
    """Outputs where nothing can be written; returns what is wrong."""
    mounted("size=64m", bench.out)
    try:
        bench.put_old(text)
        subprocess.run(["mount", "-o", "remount,ro", bench.out], check=True)
        got = bench.run(text, "write", 0, clean=False)
    finally:
        subprocess.run(["umount", bench.out], check=True)
    if want[3] and got[0] == 0:
        return "status 0 in a folder that cannot be written"
    return judge(got, want, old)


def same_place(bench, text, how):
    """The output is the input; returns what is wrong."""
    bench.empty()
    words = text.split()
    source = bench.words(words[-1])[0]
    with open(source, "rb") as f:
        data = f.read()
    copy = os.path.join(bench.folder, "same" if how != "name" else "out/x")
    target = os.path.join(bench.out, "x.tar.gz" if "OUT.tar.gz" in words else "x")
    shutil.copy(source, copy)
    if how == "hard":
        os.link(copy, target)
    elif how == "symbolic":
        os.symlink(copy, target)
    elif target != copy:
        os.rename(copy, target)
        copy = target
    args = [copy if w == words[-1] else w for w in words]
    status, _, said, _ = bench.run(" ".join(args), "write", 0, clean=False)
    with open(copy, "rb") as f:
        now = f.read()
    os.unlink(copy)
    if now != data:
        return "output = input by its %s %s: the input is gone, status %d" % (
            how, "name" if how == "name" else "link", status)
    if status == 1 and not said.strip():
        return "status 1 without a word"
    return None


def places_of(bench, text, want, old):
    tries, said = 1, {}
    wrong = [read_only(bench, text, want, old)]
    if want[3] and " NEW " not in text and not text.split()[-1] in ("OUT", "LTTNG"):
        for how in ("hard", "symbolic", "name"):
            wrong.append(same_place(bench, text, how))
            tries += 1
    for i, w in enumerate(wrong):
        if w:
            said.setdefault(w, []).append(i)
    return range(tries), said


def missing(build):
    """The commands and exports that are not in the table."""
    def told(*words):
        text = subprocess.run([build + "/backstitch", *words], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        return re.findall(r"(?m)^ {0,2}([a-z][a-z.]*)\s+\S", text)

    lines = [text for text, _ in COMMANDS.values()]
    return [c for c in told("--list-commands") if c not in OTHERS and not any(t.startswith(c) for t in lines)] + [
        f for f in told("help", "exports") if not any("--format %s " % f in t for t in lines)]


def in_namespace():
    """Starts again with mounts of its own; without root they are left out."""
    if os.environ.get("FAULTS_NAMESPACE") or os.geteuid():
        return
    if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL,
                      check=False).returncode == 0:
        os.environ["FAULTS_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "-m", "--propagation", "private",
                              sys.executable, *sys.argv])


def main():
    in_namespace()
    build = os.path.abspath(sys.argv[1])
    lacking = missing(build)
    for name in lacking:
        print("not tried: %s" % name)
    kinds = os.environ.get("FAULTS_KINDS", " ".join(KINDS)).split()
    if BIG:
        kinds = ["signal"]
        COMMANDS.update(LONG)
    if not os.environ.get("FAULTS_NAMESPACE"):
        print("skip disk and places: they need root")
        kinds = [k for k in kinds if k not in ("disk", "places")]
    names = sys.argv[2:] or COMMANDS
    table, bad = {}, len(lacking)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(build, folder, {w for n in names for w in COMMANDS[n][0].split()})
        for name in names:
            text, _ = COMMANDS[name]
            for kind in kinds:
                start = time.monotonic()
                want = bench.run(text, kind, 0, sent=(0, 0, 1) if kind == "signal" else None)
                took, calls = time.monotonic() - start, bench.calls
                old = {f: OLD for f in want[3]}
                if " NEW " in text:
                    old = {}
                if text.startswith(DATABASES):
                    with open(bench.db2, "rb") as f:
                        old = {k: f.read() for k in want[3]}
                if kind == "signal":
                    tries, said = signals(bench, text, took, want, old)
                    tries = range(tries)
                elif kind == "storm":
                    tries, said = storm(bench, text, want, old)
                elif kind == "rivals":
                    tries, said = rivals(bench, want)
                elif kind == "disk":
                    tries, said = disk(bench, text, want, old)
                elif kind == "places":
                    tries, said = places_of(bench, text, want, old)
                else:
                    tries, said = faults(bench, text, kind, calls, want, old)
                for wrong, at in said.items():
                    print("%s: %s of %d, %s: %s" % (
                        name, kind, calls, " ".join(map(str, at[:6])), wrong), flush=True)
                table[name, kind] = len(tries), sum(map(len, said.values()))
                bad += len(said)
    print("\n%-16s" % "tries/findings" + "".join("%10s" % k for k in kinds))
    for name in names:
        print("%-16s" % name + "".join(
            "%10s" % ("%d/%d" % table[name, k]) for k in kinds))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()

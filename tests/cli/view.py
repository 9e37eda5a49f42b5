"""view.py - drives view in terminals of tmux, and compares what they show with
what the other commands print.

usage: view.py BACKSTITCH MKCAP ROOT DIR
"""
import fcntl
import os
import pty
import random
import re
import select
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import time

B, MKCAP, ROOT, DIR = sys.argv[1:]
CAPTURES = os.path.join(ROOT, "tests", "captures")
KEYS = int(os.environ.get("VIEW_KEYS", "400"))
SEED = int(os.environ.get("VIEW_SEED", "1"))
ENV = {"PATH": os.environ["PATH"], "HOME": DIR, "LC_ALL": "C.UTF-8",
       "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}
LONG = "e" * 3000  # an event's name
FIRST = "functions 2 tree"  # of the last line
WIDE = 300
# program, capture, more options: of C, C++ and Python, with losses, dumps,
# traces, and one without a sample
DATABASES = {
    "fp": ["fp-1.data"],
    "defer": ["defer-lost-clock.data.zst"],
    "shop": ["shop.data.zst", "--symfs", "symfs"],
    "exec": ["defer-exitexec-s.data.zst"],
    "switches": ["naps.data"],
    "offcpu": ["offcpu-616.data"],
    "trace": ["ftrace-procmap.dat"],
    "text": ["ftext-overrun-pipe.txt"],
    "churn": ["dlchurn.data"],
    "ctf": ["ctf-discard"],
    "templates": ["twins/cc-a.data.zst", "--symfs", "twins"],
    "dumps": ["frames32.data.zst", "--symfs", "symfs"],
    "calls": ["calls.data.zst"],
    "lock": ["../causality/captures/lock.data.zst"],
    "lock2": ["../causality/captures/lock.data.zst", "--no-symbols"],
    "traced": ["fgraph"],
    "several": ["pair.data", "pair.dat.zst"],
}

FILTERED = ("defer", "shop", "exec", "ctf", "several", "python")


def say(ok, name, *more):
    print("%s %s" % ("ok" if ok else "not ok", name))
    if not ok:
        for text in more:
            for line in str(text).split("\n"):
                print("# " + line)
    sys.stdout.flush()
    return ok


def run(*args, columns=200, env=None):
    wide = {"COLUMNS": str(columns)} if columns else {}
    p = subprocess.run([B, *args], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, errors="replace",
                       env={**ENV, **wide, **(env or {})},
                       check=False)
    return p.stdout, p.stderr, p.returncode


class Terminal:
    """A program in a terminal of tmux."""
    servers = 0

    def __init__(self, command, width=120, height=40, term="screen-256color",
                 **env):
        Terminal.servers += 1
        self.socket = os.path.join(DIR, "s%d" % Terminal.servers)
        # The kernel sends SIGCONT after SIGHUP, for which LeakSanitizer would
        # wait for ever.
        self.env = {**ENV, "TERM": "screen",
                    "ASAN_OPTIONS": ENV["ASAN_OPTIONS"] + ":detect_leaks=0"}
        inside = " ".join("%s='%s'" % e
                          for e in {"TERM": term, **env}.items())
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height),
                  "cd '%s'; env %s %s; echo status $?; exec sleep 1000"
                  % (DIR, inside, command))

    def tmux(self, *args):
        p = subprocess.run(["tmux", "-f", "/dev/null", "-S", self.socket,
                            *args], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True,
                           env=self.env, check=False)
        return p.stdout

    def keys(self, *keys):
        for key in keys:
            self.tmux("send-keys", key)
        return self

    def type(self, text):
        self.tmux("send-keys", "-l", text)
        return self

    def screen(self):
        return self.tmux("capture-pane", "-p").rstrip("\n")

    def cursor(self):
        """The line that is drawn in reverse above the line of keys: seen twice,
        as the screen may be half drawn, or have none."""
        before = None
        for _ in range(200):
            lines = self.tmux("capture-pane", "-e", "-p").split("\n")
            line = ([line for line in lines if re.search("\x1b.(0;)?7m", line)]
                    + [""])[0]
            if line and line == before:
                break
            before = line
            time.sleep(0.01)
        return line

    def row_with(self, text, before):
        """Waits for a row under the cursor that has the text and is another one
        than before; returns it, or nothing."""
        for _ in range(200):
            row = self.cursor()
            if text in row and row != before:
                return row
            time.sleep(0.04)
        return None

    def until(self, there):
        """Waits until the function returns something, and returns it."""
        for _ in range(200):
            got = there()
            if got:
                break
            time.sleep(0.04)
        return got

    def shows(self, pattern):
        """Returns whether the screen soon has a match, and keeps it: twice, as
        one may be caught half drawn."""
        before = None
        for _ in range(200):
            self.last = self.screen()
            if re.search(pattern, self.last, re.M) and self.last == before:
                return True
            before = self.last
            time.sleep(0.04)
        return False

    def end(self):
        self.tmux("kill-server")


def view(db, *args, **how):
    t = Terminal("'%s' view %s '%s'" % (B, " ".join(args), db), **how)
    t.ready = t.shows(FIRST)
    return t


def path(name):
    return os.path.join(DIR, name + ".db")


def make_databases():
    have = []
    for name, (capture, *more) in DATABASES.items():
        capture = os.path.join(CAPTURES, capture)
        more = [os.path.join(CAPTURES, a) if a[0] != "-" else a for a in more]
        if more and more[0][0] != "-":
            more = more + ["--separate"]
        if not os.path.exists(capture):
            continue
        _, said, status = run("ingest", "-q", "-o", path(name), *more, capture)
        if status in (0, 3):
            have.append(name)
        else:
            say(False, "%s_is_read" % name, said)
    return have


def make_more():
    """A program in Python, and a capture without samples."""
    with open(os.path.join(DIR, "python.txt"), "w", encoding="utf-8") as f:
        f.write("event cpu-clock period=1000\ncomm pid=7 tid=7 name=python3\n"
                "mmap pid=7 tid=7 start=0x400000 len=0x1000 pgoff=0 "
                "path=/usr/bin/python3.12\n"
                "mmap pid=7 tid=7 start=0x500000 len=0x1000 pgoff=0 path=//anon\n")
        for i in range(60):
            f.write("sample pid=7 tid=7 cpu=%d time=%d u=0x4002%02x,0x500%d10,"
                    "0x400100,0x500010,0x400100\n"
                    % (i % 2, 1000 + i, i % 5 * 16, 1 + i % 3))
    with open(os.path.join(DIR, "perf-7.map"), "w", encoding="utf-8") as f:
        f.write("".join("%x 100 py::%s:/srv/app.py\n" % (0x500000 + 0x1000 * i, n)
                        for i, n in enumerate(("<module>", "serve", "answer",
                                               "sort"))))
    with open(os.path.join(DIR, "empty.txt"), "w", encoding="utf-8") as f:
        f.write("event cpu-clock period=1000\n")
    for name in ("python", "empty"):
        data = os.path.join(DIR, name + ".data")
        subprocess.run([MKCAP, data[:-4] + "txt", data], check=True)
        run("ingest", "-q", "-o", path(name), *(
            ["--perf-map", "7=" + os.path.join(DIR, "perf-7.map")]
            if name == "python" else []), data)
    return ["python", "empty"]


# ---- numbers

ROW = re.compile(r" *([<>]?[0-9.]+) +([<>]?[0-9.]+) +([0-9,]+) +[-+ ] (\S+)")


def rows_of_screen(text):
    return [m.groups()[:3] + (m.group(4),)
            for m in map(ROW.match, text.split("\n")) if m]


def rows_of_report(*args):
    text = run("report", "--limit", "0", *args)[0]
    return [tuple(line.split()[:4]) for line in text.split("\n")
            if re.match(r" *[<>]?[0-9.]+ +[<>]?[0-9.]+ +[0-9,]+  ", line)]


OUTPUTS = (("5", "threads", None, True),
           ("6", "what was lost", ("check", "-v"), True),
           ("7", "events", ("script",), True),
           ("8", "what is in it", ("info",), False),
           ("9", "latency", ("report", "--latency", "--by", "kind", "--limit",
                             "0"), True))


def threads_of(db):
    """The command whose output the threads are, by the events of a database."""
    with sqlite3.connect(db) as c:
        if c.execute("SELECT 1 FROM event_type WHERE events > 0 AND "
                     "kind = 'sample' AND name LIKE '%sched_switch%'").fetchone():
            return ("report", "--sched", "--limit", "0")
        if c.execute("SELECT 1 FROM event_type WHERE events > 0 AND (name LIKE "
                     "'%sched_switch%' OR name = 'offcpu-time' OR "
                     "kind = 'record' AND name = 'switch')").fetchone():
            return ("report", "--off-cpu", "--sort", "comm", "--limit", "0")
    return ("report", "--sort", "comm,tid", "--limit", "0")


def printed(*command, columns=WIDE):
    """The lines of a command, as a screen has them."""
    return [line.rstrip()[:columns].rstrip() for line in
            "".join(run(*command, columns=columns)[1::-1])
            .replace("\t", " ").split("\n") if line.strip()]


def check_lines(t, name, title, want):
    """The screen with that title has lines of a command, side by side."""
    for _ in range(150):
        text = t.screen().split("\n")
        have = [line.rstrip() for line in text[1:-2] if line.strip()]
        at = [i for i, line in enumerate(want) if have[:1] == [line]]
        if text[0].startswith(title) and len(have) >= min(len(want), 20) and \
                (have == want or
                 any(want[i:i + len(have)] == have for i in at)):
            return True
        time.sleep(0.05)
    return say(False, name, "\n".join(text), "want:", "\n".join(want[:60]))


def check_code(t, name, db, *only):
    """The code of the function under the cursor."""
    t.keys("1", "Home", "4")
    if not t.shows("n p next hot one"):
        return "no function here" in t.last
    function = t.last.split("\n")[0].split(", only ")[0]
    return check_lines(t, "the_code_in_%s_is_that_of_annotate" % name, function,
                       printed("annotate", *only, "--", db, function))


def check_screens(name, only=""):
    """The numbers and lines of all screens are those of the commands, of the
    same samples."""
    db = path(name)
    t = view(db, width=WIDE, height=50)
    args = ["--" + only] if only else []
    what = "%s_with_%s" % (name, only) if only else name
    if only:
        t.keys("f").type(only)
        t.shows("^only: " + only)
        t.keys("Enter")
        t.until(lambda: "only: " not in t.screen())
    t.keys("1")
    ok = t.shows("functions: |no samples|all samples have weight 0")
    want = rows_of_report(db, *args)
    have = rows_of_screen(t.last)
    ok = ok and have == want[:len(have)] and bool(have) == bool(want)
    say(ok, "functions_of_%s_are_those_of_report" % what, t.last, have,
        want[:len(have)])
    ok = not have or check_code(t, what, db, *args)
    for key, title, command, filters in OUTPUTS:
        command = command or threads_of(db)
        t.keys(key)
        ok = check_lines(t, "%s_of_%s_is_what_%s_prints"
                         % (key, what, command[0]), title,
                         printed(*command, *(args if filters else []),
                                 db)) and ok
    t.end()
    return say(ok, "screens_of_%s_are_those_of_the_commands" % what)


def check_events():
    """Other events are said, and no message is left for the end."""
    with open(os.path.join(DIR, "two.txt"), "w", encoding="utf-8") as f:
        f.write("event cpu-clock period=1000\nevent task-clock period=1000\n"
                "comm pid=10 tid=10 name=a\n"
                "sample event=cpu-clock pid=10 tid=10 cpu=0 time=1000 u=0x400100\n"
                "sample event=cpu-clock pid=10 tid=10 cpu=0 time=1001 u=0x400100\n"
                "sample event=task-clock pid=10 tid=10 cpu=0 time=1002 u=0x400200\n")
    subprocess.run([MKCAP, os.path.join(DIR, "two.txt"),
                    os.path.join(DIR, "two.data")], check=True)
    run("ingest", "-q", "-o", path("two"), os.path.join(DIR, "two.data"))
    t = view(path("two"))
    say(t.shows("cpu-clock, 2 samples .1 more event: f event="),
        "other_events_are_said", t.last)
    t.keys("f").type("event=task-clock")
    t.keys("Enter")
    say(t.shows("task-clock, 1 sample, only"), "and_one_of_them_is_shown", t.last)
    t.keys("3")
    say(t.shows("self 0.00 %, 1 sample: all"), "one_sample_is_named_so", t.last)
    t.keys("q")
    say(t.shows("status 0") and "counting" not in t.last,
        "no_message_is_left", t.last)
    t.end()
    with sqlite3.connect(path("two")) as db:
        db.execute("UPDATE event_type SET name = ? WHERE name = 'cpu-clock'",
                   (LONG,))
    t = view(path("two"))
    say(t.shows("eee[.][.][.].*1 more event"),
        "a_long_name_of_an_event_is_cut", t.last)
    t.end()


def check_segments():
    """A folder of databases is read as one."""
    folder = os.path.join(DIR, "segments")
    os.mkdir(folder)
    for i, name in enumerate(("fp", "dumps")):
        with open(path(name), "rb") as f, \
                open(os.path.join(folder, "segment-%06d.db" % (i + 1)),
                     "wb") as to:
            to.write(f.read())
    t = view(folder, width=200)
    want = rows_of_report(folder)
    have = rows_of_screen(t.last)
    say(have and have == want[:len(have)],
        "functions_of_segments_are_those_of_report", t.last, have, want)
    t.end()
    for name, args, want in (("last", ("--last 1", folder), ("--last", "1", folder)),
                             ("input", ("-i", path("fp")), (path("fp"),))):
        t = Terminal("'%s' view %s %s" % (B, *args), width=WIDE)
        t.shows(FIRST)
        t.keys("8")
        if check_lines(t, "info_with_" + name, "what is in it", printed("info", *want)):
            say(True, "info_is_of_what_%s_says" % name)
        t.end()


def check_live():
    """A segment without samples that the filter selects does not show those of
    the one before."""
    folder = os.path.join(DIR, "live")
    os.mkdir(folder)
    t = None
    for n, name, want in ((1, "fp", "segment-000001.db: functions: .*, 71 samples"),
                          (2, "shop", "^no thread named 'work-0' here"),
                          (3, "fp", "segment-000003.db: functions: .*, 71 samples")):
        shutil.copy(path(name), os.path.join(folder, "next"))
        os.rename(os.path.join(folder, "next"),
                  os.path.join(folder, "segment-%06d.db" % n))
        t = t or Terminal("'%s' view --live '%s' --comm work-0" % (B, folder))
        say(t.shows(want) and (n != 2 or "71 samples" not in t.last),
            "live_shows_what_segment_%d_has" % n, t.last)
    t.end()


def check_comparison():
    """b and B are diff with the other one as A and as B."""
    for key, a, b in (("b", "churn", "fp"), ("B", "fp", "churn")):
        t = view(path("fp"), width=WIDE, height=50)
        t.keys(key)
        t.shows("^compare with the recording")
        t.type(path("churn"))
        t.keys("Enter")
        if check_lines(t, "comparison_by_" + key, "comparison",
                       printed("report", "--diff", "--", path(a), path(b))):
            say(True, "%s_compares_as_report_diff_does" % key)
        t.end()


TABLES = (("s", "comparison", ()), ("w", "comparison of time by wall", ("--wall",)),
          ("o", "comparison of waits", ("--off-cpu",)),
          ("e", "comparison of waits by who ended them", ("--off-cpu", "--woken-by")),
          ("l", "comparison of latency", ("--latency",)),
          ("r", "comparison of scheduling", ("--sched",)))


def check_sides():
    """--diff shows each table of diff above the screens of the second side, of
    single recordings and of several runs."""
    for name, sides, more in (
            ("two", [path("lock"), path("lock2")], ()),
            ("runs", [path("lock"), path("lock2"), "--", path("lock2"),
                      path("lock")], ("--comm=owner",))):
        t = Terminal("'%s' view --diff %s %s" % (B, " ".join(more), " ".join(sides)),
                     width=WIDE, height=50)
        good = t.shows("^comparison")
        for key, title, options in TABLES + TABLES[:1]:
            t.keys(key)
            good = check_lines(t, "%s_of_%s_is_what_diff_prints" % (key, name), title,
                               printed("diff", *options, *more, *sides)) and good
        t.keys("t")
        good = good and t.shows("^threads(.|\n)*  Tid  ")
        t.keys("q")
        say(good, "view_of_%s_sides_has_the_tables_of_diff" % name, t.last)
        t.end()
    many = ["%s/many%d.db" % (DIR, i) for i in range(64)]
    for args, want in ((("--diff", path("lock")), "two databases"),
                       (("--diff", "--live", DIR), "leave out"),
                       (("--diff", *many[:32], "--", *many[32:]), "fewer than")):
        _, said, status = run("view", *args)
        say(status == 2 and want in said, "sides_are_refused_" + want.replace(" ", "_"),
            said)


def check_tree():
    t = view(path("defer"), width=200)
    t.keys("2")
    t.shows("^tree of calls|^.*\n.*tree of calls")
    before = t.screen()
    t.keys("Down", "h")
    t.until(lambda: len(t.screen()) > len(before) + 200)
    text = t.screen()
    t.end()
    want = set()
    for line in run("report", "-g", path("defer"))[0].split("\n"):
        m = re.match(r" *([0-9.]+) +([0-9.]+) +(\S+)", line)
        if m:
            want.add((m.group(2), m.group(1), m.group(3)))
    have = [(r[0], r[1], r[3]) for r in rows_of_screen(text)
            if float(r[1].lstrip("<>")) > 1]
    say(len(have) > 5 and all(h in want for h in have if h[2] != "all"),
        "the_tree_has_the_shares_of_report_g", text,
        [h for h in have if h not in want])


def check_callers():
    t = view(path("shop"), width=200)
    top = rows_of_screen(t.last)[0]
    t.keys("Enter")
    t.shows(r"^ +[0-9.]+ +[0-9,]+ +\+")
    have = re.findall(r"^ {8,}([0-9.]+) +[0-9,]+ +[-+]? *(\S+)", t.screen(),
                      re.M)
    t.end()
    want = set()
    for line in run("report", "--callers", top[3],
                    path("shop"))[0].split("\n"):
        m = re.match(r" *[0-9.]+ +([0-9.]+) +[0-9,]+  (\S+)", line)
        if m:
            want.add(m.groups())
    say(have and set(have) <= want, "callers_are_those_of_report", t.last,
        have, want)


def check_turn():
    """c turns the rows, and stays on its function."""
    t = view(path("shop"), width=200)
    name = rows_of_screen(t.last)[2][3]
    # below the open callers of the first, which have one share
    t.keys("h", "Home")
    for _ in range(60):
        before = t.cursor()
        t.keys("Down")
        t.until(lambda old=before: t.cursor() != old)
        if re.search(r"[0-9] +[0-9.]+ +[0-9,]+ +[+] %s " % name, t.cursor()):
            break
    t.keys("c")
    say(t.shows("open into what they call") and name in t.cursor(),
        "c_stays_on_its_function", t.last, t.cursor())
    t.end()


# ---- keys

def check_rows():
    """The keys of rows: order, image, shares, moves, and what is written."""
    db = path("shop")
    t = view(db, width=WIDE, height=24)
    rows = rows_of_report(db)

    def names():
        return [r[3] for r in rows_of_screen(t.screen())]

    def share(row, column):
        return float(row[column].lstrip("<>"))

    for order, key in (("total", lambda r: -share(r, 1)),
                       ("name", lambda r: r[3]), ("image", None),
                       ("self", lambda r: -share(r, 0))):
        t.keys("s")
        ok = t.shows("^sorted by " + order)
        have = rows_of_screen(t.last)
        say(ok and len(have) > 10 and
            (not key or [key(r) for r in have] ==
             sorted(key(r) for r in rows)[:len(have)]),
            "s_sorts_by_" + order, t.last)
    all_names = names()
    for key, cursor in (("j", 1), ("Down", 2), ("k", 1), ("Up", 0), ("End", -1),
                        ("Home", 0), (">", -1), ("<", 0), ("NPage", 18),
                        ("PPage", 0), ("Space", 18), ("Home", 0)):
        t.keys(key)
        say(t.until(lambda at=cursor: rows[at][3] in t.cursor()),
            "%s_moves_to_row_%d" % (key, cursor), t.screen(), rows[cursor])
    t.keys("j", "+")
    ok = t.until(lambda: "- mix " in t.cursor())
    t.keys("p")
    ok = t.shows("^percent of the row above") and ok
    shares = [float(x) for x in re.findall(r"^ {9,}([0-9.]+) +[0-9,]+ +[-+ ]",
                                           t.last, re.M)]
    say(ok and abs(sum(shares) - 100) < 0.1 * len(shares),
        "p_shows_percent_of_the_row_above", t.last, shares)
    t.keys("p", "-")
    say(t.until(lambda: names() == all_names), "minus_closes_the_row",
        t.screen())
    t.keys("d")
    ok = t.shows("^only functions of this image")
    images = {line.split()[-1] for line in t.last.split("\n")
              if ROW.match(line)}
    say(ok and images == {"shop"}, "d_shows_one_image", t.last)
    t.keys("d", "/").type("row")
    # each key is waited for: what is seen between two would be taken for the
    # row after both
    t.keys("Enter")
    first = t.row_with("row", "")
    t.keys("n")
    second = t.row_with("row", first)
    t.keys("N")
    say(first and second and t.row_with("row", second) == first,
        "n_and_N_go_on", t.screen(), first, second)
    t.keys("/", "Enter")
    for key, title in (("t", "threads"), ("5", "threads")):
        t.keys("1", key)
        say(t.shows("^" + title), key + "_shows_the_threads", t.last)
    t.keys("q")
    for key, want in (("j", ("report", "--json")), ("h", ("report", "--html")),
                      ("t", ("report", "--limit", "0")), (None, None)):
        t.keys(*["x", key] if key else ["P"])
        ok = t.shows(r"view-[0-9]+[.]\w+: backstitch report ")
        file = re.search(r"view-[0-9]+[.]\w+", t.last)
        want = want or ("report", "--limit", "0")
        for _ in range(100):
            with open(os.path.join(DIR, file.group(0)), encoding="utf-8") as f:
                have = f.read()
            if ok and have:
                break
        say(have == run(*want, db, columns=None)[0], "%s_writes_what_%s_does"
            % (key or "P", "".join(want[1:2])[2:]), t.last, have[:800])
        t.keys("x", "Escape")
        t.shows("^nothing was written")
    t.end()


def check_flame():
    """The frames of the flame graph have the shares of report -g."""
    t = view(path("shop"), width=WIDE)
    want = set()
    for line in run("report", "-g", "--limit", "0", path("shop"),
                    columns=WIDE)[0].split("\n"):
        m = re.match(r" *([<>]?[0-9.]+) +([<>]?[0-9.]+) +(\S+)", line)
        if m:
            want.add(m.groups())
    t.keys("3")
    t.shows("^100.00 %, self")
    have = []
    # a line may be seen half drawn: waits for one that is right
    for _ in range(6):
        t.keys("Down")
        have.append(t.until(lambda: [
            f for f in re.findall(r"^([0-9.]+) %, self ([0-9.]+) %, .* samples?"
                                  r": (\S+)", t.screen(), re.M)
            if f not in have and (f in want or float(f[0]) <= 1)] or None))
        have[-1:] = have[-1] or []
    # report leaves the small ones out
    large = [h for h in have if float(h[0]) > 1]
    say(len(have) == 6 and len(large) > 4 and set(large) <= want,
        "frames_of_the_flame_graph_are_those_of_report_g", t.screen(), have)
    t.end()


def check_keys(width, height, term):
    """Each key, in one terminal."""
    def ok_in(ok, name, *more):
        say(ok, "%s_on_%s_%dx%d" % (name, term, width, height), *more)

    t = view(path("shop"), "--symfs", os.path.join(CAPTURES, "symfs"),
             width=width, height=height, term=term)
    comm = "orders"
    want = rows_of_report("--comm", comm, path("shop"))
    t.keys("f").type("comm=" + comm)
    t.keys("Enter")
    ok = t.shows("only comm=" + comm)
    ok_in(ok and rows_of_screen(t.last) == want[:len(rows_of_screen(t.last))],
        "a_filter_selects_the_samples_of_report_with_it", t.last, want)
    t.keys("u")
    ok_in(t.shows("samples$"), "u_takes_the_filter_back", t.last)
    t.keys("f").type("comm=nobody")
    t.keys("Enter")
    ok_in(t.shows("nobody'") and rows_of_screen(t.screen()),
        "a_filter_for_nothing_is_said_and_not_kept", t.last)
    t.keys("/").type("sort_rows")
    t.keys("Enter")
    ok_in(t.until(lambda: len(rows_of_screen(t.screen())) == 1 and
                  "sort_rows" in t.cursor()), "a_search_shows_its_rows",
          t.screen())
    t.keys("a")
    ok_in(t.shows(r"[0-9.]+ % +[0-9]+ #+ +\|"), "a_shows_the_code", t.last)
    t.until(lambda: "#" in t.cursor())
    lines = [i for i, line in enumerate(t.last.split("\n"))
             if line.strip() and line.strip() in t.cursor()]
    ok_in(lines and lines[0] < height - 4, "the_hottest_has_lines_around_it",
          t.last, lines)
    t.keys("q", "/", "Enter", "3")
    ok_in(t.shows("^flame graph") and t.shows("^100.00 %, self"),
        "a_flame_graph_is_drawn", t.last)
    t.keys("Down", "Enter")
    ok_in(t.shows("samples: ") and not re.search("samples: all", t.screen()),
        "the_cursor_goes_to_what_is_called", t.last)
    t.keys("T", "Right", "Right", "Enter", "Right", "Right", "Enter")
    ok_in(t.shows("only time="), "a_time_is_chosen_by_arrows", t.last)
    first = re.escape(re.search("only time=.*", t.last).group(0))
    t.keys("T", "Right", "Enter", "Right", "Right", "Right", "Right", "Enter")
    t.shows("only time=(?!%s)" % first[len("only time="):])
    t.keys("u")
    ok_in(t.shows(first), "u_takes_back_the_time_before", t.last)
    t.keys("u")
    t.shows("samples$")
    t.keys("x", "f")
    ok = t.shows(r"(view-[0-9]+.svg): backstitch flame ")
    svg = re.search(r"view-[0-9]+[.]svg", t.last)
    with open(os.path.join(DIR, svg.group(0)), encoding="utf-8") as f:
        ok_in(ok and "</svg>" in f.read(),
            "a_flame_graph_is_written_and_its_command_is_said", t.last)
    t.keys("b").type(path("shop"))
    t.keys("Enter")
    ok_in(t.shows("significant: 0 more"), "it_is_compared_with_another", t.last)
    t.keys("q", "?")
    ok_in(t.shows("filter: comm=, pid=, tid="), "help_shows_the_keys", t.last)
    for _ in range(8):
        t.keys("q")
        if t.shows("^functions") or "status" in t.last:
            break
    t.keys("q")
    ok_in(t.shows("status 0"), "q_ends_it", t.last)
    t.end()


def check_waits():
    """From the threads to the waits of one, and to the chain of one."""
    t = view(path("lock"), width=120, height=60)
    t.keys("5")
    ok = t.shows("^threads") and t.shows("Tid") and t.shows("^[0-9.]+ [mun]?s ")
    say(ok and t.until(lambda: re.search("[0-9] [mun]?s ", t.cursor())),
        "threads_have_their_times", t.last, t.cursor())
    for _ in range(20):
        before = t.cursor()
        if " waiter" in before:
            break
        t.keys("Down")
        t.until(lambda old=before: t.cursor() != old)
    t.keys("w")
    say(t.shows("^thread [0-9]+ off the CPU") and t.shows("waits?, "),
        "w_shows_causes_and_places", t.last)
    t.keys("q", "Enter")
    say(t.shows("^waits of thread") and t.shows("waits?, .* together"),
        "a_thread_leads_to_its_waits", t.last)
    t.shows("^[0-9.]+ +[mun]?s +[0-9]+[.]")
    tid = re.search(r"^waits of thread ([0-9]+)", t.last, re.M).group(1)
    if check_lines(t, "waits", "waits of thread %s" % tid,
                   printed("path", "--tid", tid, "--waits", path("lock"),
                           columns=120)):
        say(True, "the_waits_are_those_of_path")
    chains = run("path", "--tid", tid, "--worst", "2", path("lock"),
                 columns=120)[0].split("\n")
    t.until(lambda: re.search("[0-9] [mun]?s +[0-9]+[.]", t.cursor()))
    t.keys("Down", "Enter")
    ok = t.shows("^wait 2 of thread %s" % tid) and t.shows(" took ")
    last = [c for c in chains if " took " in c][-1]
    say(ok and last in t.screen(), "a_wait_leads_to_its_chain", t.last, last)
    t.end()


def check_latency():
    """From the kinds to the names of one, and to the longest of a name."""
    t = view(path("calls"), width=120, height=60)
    t.keys("9")
    t.shows("^latency")
    t.until(lambda: re.search("syscall +syscall ", t.cursor()))
    t.keys("Enter")
    names = ("report", "--latency", "--kind", "syscall", "--limit", "0")
    if check_lines(t, "names", "syscall latency",
                   printed(*names, path("calls"), columns=120)):
        say(True, "a_kind_leads_to_its_names")
    t.until(lambda: re.search("syscall +read ", t.cursor()))
    t.keys("Enter")
    if check_lines(t, "longest", "syscall latency of read",
                   printed(*names, "--worst", "50", "--name", "read",
                           path("calls"), columns=120)):
        say(True, "a_name_leads_to_the_longest")
    say("the longest:" in t.last or "the longest:" in t.screen(),
        "which_are_listed", t.screen())
    t.end()


def check_traced():
    t = view(path("traced"))
    say(t.shows("functions: function_graph, 462 calls"),
        "calls_of_a_tracer_are_no_samples", t.last)
    t.end()


# ---- terminals

def check_narrow():
    """Names of templates that differ in their middle, in few columns."""
    if not shutil.which("g++"):
        print("skip different_functions_look_different: no g++")
        return
    prog = os.path.join(DIR, "narrow")
    with open(prog + ".cc", "w") as f:
        f.write("namespace market { namespace detail {\n"
                "template <class T> struct Poly {};\n"
                "template <class T> struct Sqrt {};\n"
                "template <class P, class T> struct Pricer { "
                "static int run(int x); };\ntemplate <class P, class T> "
                "int Pricer<P, T>::run(int x) { return x + sizeof(T); }\n"
                + "".join("template struct Pricer<%s<%s>, %s>;\n" % (p, t, t)
                          for p in ("Poly", "Sqrt")
                          for t in ("double", "float", "long")) +
                "} }\nint main() { return 0; }\n")
    subprocess.run(["g++", "-O0", "-Wl,--build-id", "-o", prog, prog + ".cc"],
                   check=True)

    def told(*command):
        return subprocess.run(command + (prog,), stdout=subprocess.PIPE,
                              check=True, text=True).stdout

    at = [int(a, 16) for a in re.findall(r"(\w+) W \w*3run", told("nm"))]
    build = re.search(r"Build ID: (\w+)", told("readelf", "-n")).group(1)
    with open(prog + ".txt", "w") as f:
        f.write("event cpu-clock\ncomm pid=7 name=narrow\nmmap pid=7 "
                "start=0x500000 len=0x10000 pgoff=0 path=%s id=%s\n" %
                (prog, build))
        for i, addr in enumerate(at):
            f.write("sample pid=7 tid=7 cpu=0 time=%d u=0x%x\n" %
                    (1000 + i, addr + 0x500000))
    subprocess.run([MKCAP, prog + ".txt", prog + ".data"], check=True)
    subprocess.run([B, "ingest", "-q", "-f", "-o", prog + ".db",
                    prog + ".data"], check=True, env=ENV)
    for width, height in ((40, 10), (80, 24)):
        t = view(prog + ".db", width=width, height=height)
        rows = [line for line in t.last.split("\n")
                if re.match(r" *[<>]?[0-9.]+ +[<>]?[0-9.]+ ", line)]
        shown = [re.sub(r"^[ 0-9.,<>]+", "", line) for line in rows]
        say(len(at) == 6 and len(rows) == min(height - 5, 6) and
            len(set(shown)) == len(shown) and
            all("run" in line for line in shown),
            "different_functions_look_different_at_%dx%d" % (width, height),
            t.last)
        t.end()


def check_terminals():
    want = rows_of_report(path("defer"))[0]
    for width, height in ((40, 10), (80, 24), (120, 30), (240, 60)):
        t = view(path("defer"), width=width, height=height)
        ok = want[0] in t.last
        for key, title in (("2", "tree"), ("3", "flame"), ("6", "what was"),
                           ("8", "what is")):
            t.keys(key)
            ok = t.shows("^" + title) and ok
        say(ok, "screens_fit_%dx%d" % (width, height), t.last)
        t.end()
    check_narrow()
    for term in ("vt100", "linux", "xterm", "xterm-256color", "tmux"):
        t = view(path("defer"), width=80, height=24, term=term)
        say(want[0] in t.last, "it_works_on_%s" % term, t.last)
        t.end()
    for name, env in (("without_colors", {"NO_COLOR": "1"}),
                      ("without_utf8", {"LC_ALL": "C"})):
        t = view(path("defer"), width=80, height=24, **env)
        say(want[0] in t.last, "it_works_" + name, t.last)
        t.end()
    t = Terminal("'%s' view '%s'" % (B, path("defer")), term="nothing")
    say(t.shows("TERM=nothing.*not known"), "another_terminal_is_refused",
        t.last)
    t.end()


def check_resize():
    t = view(path("defer"), width=80, height=24)
    t.tmux("resize-window", "-x", "120", "-y", "40")
    ok = False
    for _ in range(100):
        lines = t.screen().split("\n")
        ok = len(lines) == 40 and FIRST in lines[-1]
        if ok:
            break
        time.sleep(0.05)
    say(ok, "a_terminal_may_change_its_size", t.screen())
    t.end()


def check_huge():
    """ncurses counts in a short: more rows or columns were SIGSEGV."""
    for size in ((40000, 100), (100, 40000), (65535, 65535)):
        pid, fd = pty.fork()
        if not pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
            os.execve(B, [B, "view", path("defer")], {**ENV, "TERM": "xterm"})
        alive = drain(fd, 10)
        for rows, columns in (size, (24, 80), size[::-1]):
            fcntl.ioctl(fd, termios.TIOCSWINSZ,
                        struct.pack("HHHH", rows, columns, 0, 0))
            drain(fd, 0.5)
        if alive:
            os.write(fd, b"q")
        while drain(fd, 1):
            pass
        status = os.waitpid(pid, 0)[1]
        os.close(fd)
        say(status == 0, "a_terminal_may_have_%d_rows_and_%d_columns" % size,
            str(status))


def check_sane():
    """However it ends, the terminal is as before."""
    with open(os.path.join(DIR, "sane.sh"), "w", encoding="utf-8") as f:
        # in the foreground from its start: bash keeps the terminal's state there
        f.write("set -m\nstty -a >before\n"
                "sh -c 'echo $$ >pid; exec \"$0\" view \"$1\"' '%s' '%s'\n"
                "stty -a >stopped\ncmp before stopped && echo same1\n"
                "fg\nstty -a >after\ncmp before after && echo same2\n"
                % (B, path("defer")))
    t = Terminal("bash sane.sh", width=80, height=24)
    ok = t.shows(FIRST)
    t.keys("C-z")
    ok = ok and t.shows(FIRST)
    with open(os.path.join(DIR, "pid"), encoding="utf-8") as f:
        os.kill(int(f.read()), signal.SIGTERM)
    say(ok and t.shows("^same2") and "same1" in t.last,
        "a_stop_and_a_signal_leave_the_terminal_as_it_was", t.last)
    t.end()


def check_refused():
    out, said, status = run("view", path("defer"))
    say(status == 2 and "needs a terminal" in said and "report" in said,
        "without_a_terminal_report_is_named", out, said)
    # what keeps messages off the screen needs a descriptor of 64 or more
    for limit in (64, 256):
        t = Terminal("sh -c \"ulimit -n %d; exec '%s' view --comm nobody '%s'\""
                     % (limit, B, path("defer")))
        say(t.shows("^status 1") and "no thread named 'nobody'" in t.last,
            "of_%d_files_an_error_is_told_behind_the_screen" % limit, t.last)
        t.end()
    with open(path("text"), "rb") as f:
        before = f.read()
    t = view(path("text"))
    say(t.shows("^events") and t.shows("sys_exit"),
        "of_a_trace_the_events_are_first", t.last)
    t.end()
    t = view(path("switches"))
    say(t.shows("^threads"), "of_switches_the_threads_are_first", t.last)
    t.end()
    with open(path("text"), "rb") as f:
        say(f.read() == before, "the_database_is_not_written", "")


def check_capture():
    """A capture's database is made beside it."""
    capture = os.path.join(DIR, "new.data")
    with open(os.path.join(CAPTURES, "fp-1.data"), "rb") as f, \
            open(capture, "wb") as to:
        to.write(f.read())
    t = view(capture)
    say(rows_of_screen(t.last) and os.path.exists(path("new")),
        "the_database_of_a_capture_is_beside_it", t.last)
    t.end()


def check_replaced():
    """Numbers of two databases are not shown as those of one."""
    db = path("replaced")
    shutil.copy(path("fp"), db)
    t = view(db)
    t.keys("4", "q")
    t.shows(FIRST)
    shutil.copy(path("defer"), db + ".new")
    os.rename(db + ".new", db)
    before = os.listdir(DIR)
    for key, what in (("6", "a_screen"), ("x", "a_file")):
        t.keys(key, *"f" if key == "x" else ())
        say(t.shows("^replaced.db was changed or replaced; 'q', and view it "
                    "again") and t.shows("^functions") and
            os.listdir(DIR) == before,
            "no_%s_is_of_a_database_in_its_place" % what, t.last)
    t.end()


# ---- hostile names, random keys

def make_hostile():
    """Names that command a terminal, are wide, turn text, or are not UTF-8."""
    with open(os.path.join(DIR, "hostile.txt"), "wb") as f:
        f.write(b"event cpu-clock period=1000\n"
                b"comm pid=10 tid=10 name=a\x1b[2Jb\n"
                b"mmap pid=10 tid=10 start=0x400000 len=0x300 pgoff=0 "
                b"path=//anon\n"
                b"mmap pid=10 tid=10 start=0x400300 len=0x10000 pgoff=0 "
                b"path=/bin/\xe6\xbc\xa2e\xcc\x81\xe2\x80\xae\xff "
                b"id=0aaabb\n")
        for i in range(300):
            f.write(b"sample pid=10 tid=10 cpu=%d time=%d u=%s\n"
                    % (i % 3, 1000 + i,
                       b",".join(b"0x40%04x" % (16 * (i * k % 97))
                                 for k in range(1, 2 + i % 60))))
    subprocess.run([MKCAP, os.path.join(DIR, "hostile.txt"),
                    os.path.join(DIR, "hostile.data")], check=True)
    with open(os.path.join(DIR, "perf-10.map"), "wb") as f:
        for i in range(97):
            f.write(b"%x 10 \x1b[31mf%d\xe6\xbc\xa2\xcc\x81<\xff>%s\n"
                    % (0x400000 + 16 * i, i, b"x" * (i * i)))
    run("ingest", "-q", "--perf-map", "10=" + os.path.join(DIR, "perf-10.map"),
        "-o", path("hostile"), os.path.join(DIR, "hostile.data"))


def check_hostile():
    t = view(path("hostile"), width=100)
    say(rows_of_screen(t.last) and "\x1b" not in t.last and
        r"\x1b" in t.last, "names_do_not_command_the_terminal", t.last)
    t.end()


CHOICES = ([b"1", b"2", b"3", b"4", b"5", b"6", b"8", b"?"] * 2 +
           [b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\r", b"e", b"h",
            b"c", b"s", b"p", b"d", b"a", b"n", b"N", b"u", b"T", b"\x7f",
            b"+", b"-", b"\x1b[5~", b"\x1b[6~", b"\x1b[H", b"\x1b[F", b"<",
            b">", b" "] * 3 +
           [b"/f1\r", b"/\r", b"fcpu=1\r", b"fcomm=zz\r", b"f\x7f\x7f\r",
            b"\x1b", b"f\xe6\xbc\xa2=\r", b"\xff", b"\x00", b"\t"])


def drain(fd, wait):
    while select.select([fd], [], [], wait)[0]:
        try:
            if not os.read(fd, 65536):
                return False
        except OSError:
            return False
        wait = 0
    return True


def check_random():
    """Random keys and sizes; nothing is written, and it ends when asked."""
    rnd = random.Random(SEED)
    pid, fd = pty.fork()
    if not pid:
        os.chdir(DIR)
        os.execve(B, [B, "view", path("hostile")],
                  {**ENV, "TERM": "xterm-256color"})
    alive = True
    done = 0
    while alive and done < KEYS:
        if rnd.randrange(20) == 0:
            fcntl.ioctl(fd, termios.TIOCSWINSZ,
                        struct.pack("HHHH", rnd.randrange(1, 60),
                                    rnd.randrange(1, 250), 0, 0))
        os.write(fd, rnd.choice(CHOICES))
        done += 1
        alive = drain(fd, 0.02)
    os.kill(pid, signal.SIGTERM)
    # The terminal is closed a little before its process has ended.
    end = time.monotonic() + 60
    got, status = 0, 0
    while not got and time.monotonic() < end:
        drain(fd, 0)
        time.sleep(0.02)
        got, status = os.waitpid(pid, os.WNOHANG)
    if not got:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    say(alive and got and os.WIFSIGNALED(status) and
        os.WTERMSIG(status) == signal.SIGTERM,
        "%d_random_keys_do_no_harm" % KEYS, "key %d of seed %d" % (done, SEED),
        status, "" if got else "it did not end")


def main():
    os.environ.clear()
    os.environ.update(ENV)
    have = make_databases()
    have += make_more()
    for name in have:
        if name != "traced":  # of which report has more columns
            check_screens(name)
    for name in FILTERED:
        if name in have:
            check_screens(name, "cpu=0")
    check_events()
    check_segments()
    check_live()
    check_comparison()
    check_sides()
    check_tree()
    check_callers()
    check_turn()
    check_rows()
    check_flame()
    for width, height, term in ((80, 24, "vt100"), (100, 30, "linux"),
                                (120, 40, "screen-256color"),
                                (240, 60, "xterm")):
        check_keys(width, height, term)
    check_waits()
    check_latency()
    check_traced()
    check_terminals()
    check_resize()
    check_huge()
    check_sane()
    check_refused()
    check_capture()
    check_replaced()
    make_hostile()
    check_hostile()
    check_random()


main()

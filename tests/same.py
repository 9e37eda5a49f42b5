# same.py - runs two versions of backstitch and compares their outputs.
"""Called by tests/same.sh, which says what the options mean.

A case is a capture (or several that belong together) with the options to read
it. A version runs all commands of a case in one folder, build/same/work/CASE,
which is emptied for each version, so both see the same paths. Outputs of the
old version are kept in build/same/cache; the old version runs again only when
the captures, these scripts or the old program change."""

import argparse
import collections
import concurrent.futures
import fcntl
import fnmatch
import functools
import glob
import hashlib
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

import sameread
from samecases import Case, all_cases, path_case

ROOT = os.environ.get("ROOT", os.getcwd())
TIMEOUT = 300
# One output of a command. form says how sameread.py reads and shows it.
Output = collections.namedtuple("Output", "kind label status err out form")

COMMANDS = ("record", "report", "view", "flame", "path", "annotate", "check",
            "info", "script", "query", "diff", "page", "latency", "sched",
            "ingest", "merge", "follow", "export",
            "bundle", "push", "symbolize", "dump", "sframe", "completion",
            "help")
# What these commands were until 2.0.
WORDS = {"diff": "--diff", "page": "--html", "latency": "--latency",
         "sched": "--sched"}
EXPORTS = ("folded", "json", "chrome", "pprof", "firefox",
           "perf.data")
FORMS = {"json": "json", "chrome": "json",
         "firefox": "json", "pprof": "pprof", "perf.data": "binary"}
FIELDS = "comm,pid,tid,cpu,time,period,event,trace,ip,sym,symoff,dso,dsoff," \
    "srcline"

# Commands run on every database: kind, form, arguments. DB stands for the
# database, SYM, SYM2 and HOT for functions, COMM, PID and TID for the thread
# with the most events, SYMFS for the option --symfs.
ASKED = (
    ("info", "text", "info DB"),
    ("info", "json", "info --json DB"),
    ("report", "text", "report DB"),
    ("report", "text", "report -s comm,dso DB"),
    ("report", "text", "report -s pid,tid,cpu --by samples DB"),
    ("report", "text", "report -s verdict,sym --limit 0 DB"),
    ("report", "text", "report --order total --no-inline DB"),
    ("report", "text", "report --interpreter collapse --no-children DB"),
    ("report", "text", "report --format lines --limit 5 DB"),
    ("report", "text", "report --format csv --limit 0 DB"),
    ("report", "text", "report --time 10%-60% DB"),
    ("report", "text", "report -C 0 --event * DB"),
    ("report", "json", "report --json --limit 0 DB"),
    ("report", "text", "report --callers SYM DB"),
    ("report", "json", "report --callees SYM2 --json DB"),
    ("off-cpu", "text", "report --off-cpu DB"),
    ("off-cpu", "json", "report --off-cpu --json --limit 0 DB"),
    ("off-cpu", "svg", "flame --off-cpu --by-state DB"),
    ("off-cpu", "svg", "flame --off-cpu --wakeups DB"),
    ("check", "text", "check DB"),
    ("check", "text", "check --verbose DB"),
    ("check", "json", "check --json --limit 0 DB"),
    ("check", "text", "check --as-perf --as-tid DB"),
    ("check", "text", "check --sql DB"),
    ("check", "text", "check --time 20%-70% --max-unjoined 5 DB"),
    ("check", "text", "check --max-loss 5% --limit 3 --verbose DB"),
    ("flame", "svg", "flame DB"),
    ("flame", "svg", "flame --reverse --colors hot DB"),
    ("flame", "svg", "flame --by-verdict --by-pid --by samples DB"),
    ("flame", "svg", "flame --off-cpu DB"),
    ("flame", "svg", "flame --latency syscall DB"),
    ("flame", "svg", "flame --from-folded --title T x.folded"),
    ("folded", "text", "export --format folded DB"),
    ("folded", "text", "export --format folded --by samples DB"),
    ("folded", "text", "export --format folded --no-inline --event * DB"),
    ("flame", "svg", "flame --include SYM --by-thread --reverse DB"),
    ("script", "text", "script DB"),
    ("script", "text", "script --show-lost --no-inline --time 5%-50% DB"),
    ("script", "text", "script --wall DB"),
    ("script", "text", "script --wall-clock --time 5%-50% DB"),
    ("script", "text", "script -F " + FIELDS + " DB"),
    ("script", "json", "script --json DB"),
    ("html", "html", "page DB"),
    ("sframe", "text", "sframe --readiness DB"),
    ("sframe", "json", "sframe --readiness --json DB"),
    ("annotate", "text", "annotate DB"),
    ("annotate", "text", "annotate SYMFS DB HOT"),
    ("annotate", "text", "annotate -M intel --around 3 --nth 1 SYMFS DB HOT"),
    ("annotate", "json", "annotate --json SYMFS DB HOT"),
    ("query", "text", "query --tables DB"),
    ("query", "text", "query --format lines DB 'SELECT * FROM samples'"),
    ("query", "json", "query --json DB 'SELECT * FROM verdicts'"),
    ("query", "text", "query --spreadsheet --format csv -f q.sql -i DB"),
    ("screen", "text", "DB"),
    ("report", "text", "report -g --limit 8 --depth 6 DB"),
    ("report", "text", "report -G --interpreter mark DB"),
    ("report", "text", "report -g --inverted --fold-library --library lib*"
     " --by samples DB"),
    ("report", "text", "report --format markdown --full-names DB"),
    ("report", "text", "report --format sql DB"),
    ("report", "text", "report --fold-suffixes --inline --spreadsheet DB"),
    ("report", "text", "report --comm COMM --pid PID --tid TID DB"),
    ("report", "text", "report --filter 'prev_pid > 0' --sort"
     " sched:sched_switch.prev_comm DB"),
    ("report", "text", "report --weight bytes_alloc DB"),
    ("report", "text", "report --source-dir . -i DB"),
    ("wall", "text", "report --wall DB"),
    ("wall", "json", "report --wall --json --limit 0 DB"),
    ("wall", "text", "report --wall -g --comm COMM DB"),
    ("wall", "svg", "flame --wall DB"),
    ("off-cpu", "text", "report --off-cpu --state S,D -g DB"),
    ("off-cpu", "text", "report --off-cpu --wall-clock DB"),
    ("off-cpu", "text", "report --off-cpu --sort comm,tid --by samples DB"),
    ("off-cpu", "text", "report --off-cpu --callers SYM DB"),
    ("off-cpu", "svg", "flame --off-cpu --state S --by samples DB"),
    ("off-cpu", "text", "export --format chrome --comm COMM DB"),
    ("sched", "text", "sched DB"),
    ("sched", "text", "sched --wall-clock DB"),
    ("sched", "json", "sched --json --limit 0 DB"),
    ("sched", "text", "sched --order blocked --format csv DB"),
    ("sched", "text", "sched --cpu 0 --time 10%-60% DB"),
    ("sched", "text", "sched --comm COMM --pid PID --tid TID --spreadsheet"
     " --full-names --fold-suffixes --interpreter mark DB"),
    ("sched", "text", "sched --event * --cgroup * DB"),
    ("latency", "text", "latency --cpu 0 --time 10%-60% --order max --limit 5"
     " --format csv --spreadsheet DB"),
    ("latency", "text", "latency --comm COMM --pid PID --tid TID DB"),
    ("latency", "text", "latency --worst 3 --wall-clock DB"),
    ("latency", "text", "latency --event * --cgroup * DB"),
    ("html", "html", "page --wall --state S,D --source-dir . DB"),
    ("html", "html", "page --by samples --cpu 0 --time 10%-60% --event *"
     " --comm COMM --pid PID --tid TID --cgroup * DB"),
    ("html", "html", "page --inline --full-names --fold-library --library l"
     " --fold-suffixes --interpreter mark DB"),
    ("latency", "text", "latency --kind off-cpu --worst 5 --histogram DB"),
    ("latency", "text", "latency --kind off-cpu --by behind --name COMM DB"),
    ("latency", "json", "latency --kind wake-up --by tid --json --histogram DB"),
    ("latency", "text", "latency --fail-above 1h --percentile 99"
     " --pair sched:sched_waking,sched:sched_switch DB"),
    ("path", "text", "path DB"),
    ("path", "text", "path --worst 2 --wall-clock DB"),
    ("path", "of", "path --of read --worst 2 DB"),
    ("path", "json", "path --json DB"),
    ("path", "text", "path --worst 3 --limit 40 DB"),
    ("path", "json", "path --worst 3 --json --min 1000 DB"),
    ("path", "text", "path --waits --limit 0 DB"),
    ("path", "json", "path --waits --json -i DB"),
    ("path", "text", "path --idle --all --limit 5 DB"),
    ("path", "text", "path --tree DB"),
    ("path", "text", "path --pid 1 DB"),
    ("path", "text", "path --premises --worst 3 DB"),
    ("path", "json", "path --tree --json --proved DB"),
    ("path", "svg", "path --flame DB"),
    ("path", "text", "path --blame COMM DB"),
    ("path", "json", "path --blame COMM --json DB"),
    ("path", "text", "path --tid TID --time 10%-60% --depth 4 DB"),
    ("path", "text", "path --comm COMM --fail-unknown 5 --proved DB"),
    ("path", "text", "query --format csv DB 'SELECT * FROM wake LIMIT 3000'"),
    ("path", "text", "query --format csv DB"
     " 'SELECT * FROM state_interval LIMIT 3000'"),
    ("check", "text", "check --format markdown --full-names DB"),
    ("check", "text", "check --min-whole 50 --max-gaps 5 -C 0 DB"),
    ("check", "text", "check --comm COMM --pid PID --tid TID --event * DB"),
    ("flame", "svg", "flame --exclude SYM --no-comm --collapse-recursion DB"),
    ("flame", "svg", "flame --width 900 --minwidth 1% --subtitle S --upward"
     " --fold-library --library lib* --fold-suffixes --inline DB"),
    ("flame", "svg", "flame --no-inline --interpreter collapse --full-names"
     " --comm COMM --pid PID --tid TID -C 0-99 --event * --time 5%-95% DB"),
    ("flame", "svg", "flame --weight bytes_alloc --filter 'cpu >= 0' DB"),
    ("script", "text", "script --marks -C 0 --comm COMM --pid PID --tid TID"
     " --event * DB"),
    ("annotate", "text", "annotate --limit 5 --by samples --dso * --inlined"
     " --full-names --no-source DB"),
    ("annotate", "text", "annotate --source-dir . --comm COMM --pid PID"
     " --tid TID -C 0-99 --event * --time 5%-95% DB"),
    ("folded", "text", "export --format folded --interpreter mark --comm COMM"
     " --pid PID --tid TID -C 0-99 --time 5%-95% DB"),
    ("cgroup", "text", "report --cgroup * --sort cgroup,sym DB"),
    ("cgroup", "svg", "flame --cgroup * DB"),
    ("cgroup", "text", "script --cgroup * DB"),
    ("cgroup", "text", "check --cgroup * DB"),
    ("cgroup", "text", "annotate --cgroup * --limit 5 DB"),
    ("cgroup", "text", "export --format folded --cgroup * DB"),
)

# Screens of view, by the keys that lead there: P writes each as text.
SCREENS = ("1P", "2jjeP", "1cehP", "3P", "1aP", "5P", "5jwP", "6P", "7P", "8P",
           "1dsP", "/a\rnP", "fcpu=0\rP", "1peP", "2hpP")

# Commands that write a folder, compared file by file.
FOLDERS = (
    "export --format ctf -o out DB",
    "export --format parquet -o out --partition --label a=b --event-fields DB",
    "export --format parquet -o out --weighted 100ms DB",
)

# What an ingest is asked beside the options of the case.
READ = (
    "--slack 1ms --no-lines --no-jit --json",
    "--request a:ask(cookie) --chain a:got(cookie,ips)",
    "--clock monotonic", "--clock-offset 1ms --sched-clock-offset 1ms",
    "--cookie-layout opaque --debug-dir . --formats . --stats . --cpus 4",
    "--nonce-format none", "--maps 1=none", "--vmlinux none",
    "--jitdump none", "--perf-map 1=none",
    "--fields sched:*",
)

WRONG = ("", "nosuch", "--nosuch", "help nosuch", "ingest", "ingest nosuch",
         "ingest --slack x nosuch", "ingest -o x.db same.txt", "report",
         "report nosuch.db", "report --sort x a.db", "check --max-loss x a.db",
         "flame --diff a.db", "export a.db", "export --format x a.db",
         "query a.db x", "script -F x a.db", "script --time x a.db",
         "annotate --limit x a.db", "completion csh", "bundle --keep x a.db",
         "dump nosuch", "sframe nosuch", "symbolize nosuch.db")


@functools.lru_cache(maxsize=None)
def has_words(binary):
    """Whether WORDS are options of report in this version."""
    said = subprocess.run([binary, "--list-commands"], check=False,
                          stdout=subprocess.PIPE).stdout
    return b"\ndiff\t" not in said


class Run:
    """One version that runs one case. facts holds the function, view and export
    names that the old version printed; the new version gets the same ones."""

    def __init__(self, binary, case, work, facts=None):
        self.binary, self.case, self.work = binary, case, work
        self.first = facts is None
        self.facts = {} if facts is None else facts
        self.outputs = []
        shutil.rmtree(work, ignore_errors=True)
        for sub in ("", "home", "tmp", "cache"):
            os.makedirs(os.path.join(work, sub), exist_ok=True)
        self.env = {
            "PATH": "/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C",
            "NO_COLOR": "1", "HOME": os.path.join(work, "home"),
            "TMPDIR": os.path.join(work, "tmp"),
            "XDG_CACHE_HOME": os.path.join(work, "cache")}

    def call(self, args, stdin=None):
        """Returns (status, standard error, standard output)."""
        if args and args[0] in WORDS and has_words(self.binary):
            args = ["report", WORDS[args[0]], *args[1:]]
        try:
            p = subprocess.run(
                ["backstitch", *args], executable=self.binary, cwd=self.work,
                env=self.env, timeout=TIMEOUT, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                stdin=stdin if stdin else subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            return "timeout", b"", b""
        return p.returncode, p.stderr, p.stdout

    def segments(self):
        """The databases that follow made, by name."""
        names = os.listdir(os.path.join(self.work, "segments")) if self.has(
            "segments") else []
        return sorted(n for n in names if n.endswith(".db"))

    def has(self, name):
        return os.path.exists(os.path.join(self.work, name))

    def write(self, name, text):
        with open(os.path.join(self.work, name), "w") as f:
            f.write(text)

    def folder(self, name):
        """What is in a folder: names, sizes and hashes."""
        top = os.path.join(self.work, name)
        lines = []
        for where, _, names in os.walk(top):
            for n in names:
                path = os.path.join(where, n)
                with open(path, "rb") as f:
                    data = f.read()
                size = len(data)
                if n.endswith(".db"):
                    data = b"".join(sameread.streamed(path))
                lines.append("%s %d %s" % (os.path.relpath(path, top), size,
                                           hashlib.sha256(data).hexdigest()))
        shutil.rmtree(top, ignore_errors=True)
        return "\n".join(sorted(lines)).encode()

    def view(self, args):
        """What `view` wrote of the screens to which SCREENS lead."""
        keys = "".join(SCREENS) + "q" * 60
        sameread.press(self.binary, ["view", *args], keys, self.work, self.env)
        said = []
        for n in sorted(f for f in os.listdir(self.work)
                        if f.startswith("view-")):
            with open(os.path.join(self.work, n), "rb") as f:
                said.append(b"== " + n.encode() + b"\n" + f.read())
            os.unlink(os.path.join(self.work, n))
        return b"\n".join(said)

    def keep(self, kind, label, said, form="text"):
        status, err, out = said
        self.outputs.append(
            Output(kind, label, status, err, sameread.taken(form, out), form))
        return said

    def ask(self, kind, form, args, label=None):
        return self.keep(kind, label or " ".join(args), self.call(args), form)

    def database(self, name, label, read=sameread.database):
        """The rows of a database and the text of its schema."""
        path = os.path.join(self.work, name)
        if not os.path.exists(path):
            return
        with open(path, "rb") as f:
            key = "db " + name + hashlib.sha256(f.read()).hexdigest()
        if key not in self.facts:
            self.facts[key] = read(path)
        schema, rows = self.facts[key]
        self.keep("schema", label, (0, b"", schema))
        self.keep("database", label, (0, b"", rows))

    def fact(self, name, make):
        if self.first:
            self.facts[name] = make()
        return self.facts[name]


def hot_symbols(run):
    """The function with the most samples, and the third."""
    rows = sameread.csv_rows(run.call(
        ["report", "--format", "csv", "--limit", "9", "a.db"])[2])
    names = [r["symbol"] for r in rows if r.get("symbol")] or ["main"]
    names = [n for n in names if n[0] != "["] or names
    return names[0], names[min(2, len(names) - 1)]


def hot_code(run):
    """A function whose code is on this machine, otherwise main."""
    text = run.call(["annotate", "--limit", "0", "a.db"])[2]
    return sameread.annotated(text, run.case.symfs) or "main"


def exports_of(run):
    text = run.call(["help", "exports"])[2].decode("utf-8", "replace")
    found = [line.split()[0] for line in text.split("\n")
             if line[:1].strip() and line.split()]
    return found or list(EXPORTS)


def views_of(run):
    """One statement that prints every view; None without a database."""
    rows = sameread.csv_rows(run.call([
        "query", "--format", "csv", "a.db",
        "SELECT m.name AS v, p.name AS c FROM sqlite_master m,"
        " pragma_table_xinfo(m.name) p WHERE m.type = 'view'"])[2])
    views = collections.OrderedDict()
    for r in rows:
        views.setdefault(r["v"], []).append(r["c"])
    return " UNION ALL ".join(
        "SELECT * FROM (SELECT '%s' v, %s r FROM \"%s\"%s)" % (
            v, " || '|' || ".join('quote("%s")' % c.replace('"', '""')
                                  for c in columns), v, " LIMIT 3000")
        for v, columns in views.items())


def busiest(run):
    """Name, process and id of the thread with the most events."""
    rows = sameread.csv_rows(run.call([
        "query", "--format", "csv", "a.db", "SELECT comm, pid, tid FROM events"
        " WHERE comm > '' GROUP BY 1, 2, 3 ORDER BY count(*) DESC, 2, 3"
        " LIMIT 1"])[2])
    return [rows[0][k] for k in ("comm", "pid", "tid")] if rows else [
        "main", "1", "1"]


def filled(args, given):
    """The words of a command, with what stands in for its names."""
    line = []
    for word in sameread.shell_words(args):
        line += given.get(word, [word])
    return line


def ask_all(run):
    """Runs every command of ASKED, every export and every view on a.db."""
    sym, sym2 = run.fact("symbols", lambda: hot_symbols(run))
    hot = run.fact("hot", lambda: hot_code(run))
    comm, pid, tid = run.fact("busiest", lambda: busiest(run))
    given = {"DB": ["a.db"], "SYM": [sym], "SYM2": [sym2], "HOT": [hot],
             "COMM": [comm], "PID": [pid], "TID": [tid],
             "SYMFS": run.case.symfs_option}
    with open(os.path.join(run.work, "x.folded"), "wb") as f:
        f.write(run.fact("folded", lambda: run.call(
            ["export", "--format", "folded", "a.db"])[2]))
    run.write("q.sql", "SELECT * FROM verdicts")
    for kind, form, args in ASKED:
        run.ask(kind, form, filled(args, given), args)
    for args in FOLDERS:
        run.ask("folder", "text", filled(args, given), args)
        run.keep("folder", args + ": files", (0, b"", run.folder("out")))
    run.keep("view", "view", (0, b"", run.view(["a.db"])))
    run.keep("view", "view with filters", (0, b"", run.view(
        ["--comm", comm, "--pid", pid, "--tid", tid, "-C", "0-99", "--event",
         "*", "--time", "5%-95%", "--source-dir", ".", "-i", "a.db"])))
    run.keep("view", "view of cgroups", (0, b"", run.view(
        ["--cgroup", "*", "a.db"])))
    for name in run.fact("exports", lambda: exports_of(run)):
        run.ask("export-" + name, FORMS.get(name, "text"),
                ["export", "--format", name, "a.db"])
    run.ask("export-pprof", "pprof", ["export", "--format", "pprof",
                                      "--by", "samples", "--no-inline", "a.db"])
    views = run.fact("views", lambda: views_of(run))
    if views:
        run.ask("query", "text", ["query", "--format", "csv", "a.db", views],
                "query: every view")


def run_capture(run):
    """ingest, its database and ASKED, then other ways to read the capture."""
    case = run.case
    options = list(case.options)
    run.ask("ingest", "text", ["ingest", "-o", "a.db", *options, *case.paths],
            "ingest")
    run.database("a.db", "ingest")
    if run.has("a.db"):
        ask_all(run)
    run.ask("ingest", "text", ["ingest", "--fields", "all", "--no-infer-callers",
                               "--no-demangle", "-o", "f.db",
                               *options, *case.paths],
            "ingest --fields all --no-infer-callers")
    run.database("f.db", "ingest --fields all --no-infer-callers")
    run.ask("ingest", "text", ["ingest", "-q", "--no-symbols", "-o", "s.db",
                               *case.plain, *case.paths],
            "ingest --no-symbols")
    run.database("s.db", "ingest --no-symbols")
    run.ask("ingest", "text", ["ingest", "-q", "--memory", "64K", "--no-cache",
                               "--jobs", "1", "-o", "m.db", *options,
                               *case.paths], "ingest --memory 64K")
    run.database("m.db", "ingest --memory 64K")
    run.ask("symbolize", "text", ["symbolize", *case.naming, "s.db"],
            "symbolize")
    run.database("s.db", "symbolize")
    run.ask("bundle", "text", ["bundle", "--redact", "-o", "r.db", "a.db"],
            "bundle --redact")
    run.database("r.db", "bundle --redact")
    run.ask("bundle", "text", ["bundle", "-o", "b.tar", "a.db"], "bundle")
    run.keep("bundle", "bundle: members", (0, b"", sameread.members(
        os.path.join(run.work, "b.tar"))))
    run.ask("bundle", "text", ["bundle", "-f", "--keep", "names", "--redact",
                               "--no-debug-files", "-o", "r.db", "-i", "a.db"],
            "bundle --redact --keep names")
    run.database("r.db", "bundle --redact --keep names")
    for line in READ:
        run.ask("ingest", "text", ["ingest", "-f", "-o", "i.db",
                                   *line.split(), *case.paths],
                "ingest " + line)
        run.database("i.db", "ingest " + line)
    run.ask("symbolize", "json", ["symbolize", "--json", *case.naming, "i.db"])
    for path in case.paths:
        run.ask("dump", "text", ["dump", path], "dump " +
                os.path.basename(path))
    if len(case.paths) == 1:
        path = case.paths[0]
        run.ask("sframe", "text", ["sframe", "--unwind", *case.symfs_option,
                                   path], "sframe --unwind")
        run.ask("check", "text", ["check", *options, path], "check CAPTURE")
        if os.path.isfile(path):
            with open(path, "rb") as f:
                run.keep("ingest", "ingest -", run.call(
                    ["ingest", "-o", "p.db", *options, "-"], f))
            run.database("p.db", "ingest -")
            run_follow(run, path)
    else:
        run.ask("ingest", "text", ["ingest", "--separate", "-o", "p.db",
                                   *options, *case.paths],
                "ingest --separate")
        run.database("p.db", "ingest --separate")


def run_follow(run, path):
    """The capture as a stream, its segments, and the commands that read them
    as one."""
    with open(path, "rb") as f:
        run.keep("follow", "follow", run.call(
            ["follow", "-o", "segments", "--segment", "64K", *run.case.options,
             "-"], f))
    with open(path, "rb") as f:
        run.call(["follow", "-q", "-o", "again", *run.case.options, "-"], f)
    run.keep("follow", "follow -q", (0, b"", run.folder("again")))
    for name in run.segments():
        run.database("segments/" + name, "follow: " + name, sameread.streamed)
    run.ask("follow", "text", ["report", "--since", "1h", "segments"])
    run.ask("follow", "text", ["check", "--last", "1h", "segments"])
    run.ask("follow", "text", ["merge", "--last", "1h", "-o", "g.db",
                               "segments"])
    run.database("g.db", "follow: merge", sameread.streamed)


def run_merge(run):
    """Databases of two captures in one, and a part of their time."""
    both = ["a.db", "b.db"]
    for more in ([], ["--from", "0", "--to", "1"], ["--last", "1"],
                 ["-q", "--since", "1s"]):
        run.ask("merge", "text", ["merge", "-f", "-o", "m.db", *more, *both])
        run.database("m.db", " ".join(["merge", *more]))
    run.ask("merge", "text", ["report", "m.db"])
    run.ask("merge", "text", ["check", "--where", "host=x", *both])


def run_diff(run):
    """Two captures, before and after."""
    for path, name in zip(run.case.paths, ("a.db", "b.db")):
        run.ask("ingest", "text", ["ingest", "-o", name, *run.case.options,
                                   path], "ingest " + name)
    two = ["a.db", "b.db"]
    both = ["--diff", *two]
    for more in ([], ["--absolute"], ["--limit", "0", "-s", "comm,dso"],
                 ["--format", "csv"], ["--format", "markdown"],
                 ["--match", "before=after"],
                 ["--fail-above", "5%", "--function", "."],
                 ["--order", "total"]):
        run.ask("diff", "text", ["diff", *more, *two])
    for more in ("--by samples --event * --time 10%-90% --cpu 0-99",
                 "--comm * --pid 0-99999 --tid 1", "--cgroup *",
                 "--format csv --spreadsheet --no-inline --full-names",
                 "--fold-library --library l --fold-suffixes --inline",
                 "--interpreter mark"):
        run.ask("diff", "text", ["diff", *more.split(), *two])
    for more in ("--latency --all", "--off-cpu --woken-by --json", "--wall",
                 "--sched --per sched:sched_switch"):
        run.ask("diff", "text", ["diff", *more.split(), *two])
    run.ask("html", "html", ["page", "--absolute", "--no-inline", "--match",
                             "x=y", *both])
    run.ask("diff", "text", ["diff", "a.db", "a.db", "--", "b.db", "b.db"])
    run.ask("diff", "json", ["diff", "--json", *two])
    run.ask("html", "html", ["page", "--no-source", *both])
    for more in ([], ["--absolute"], ["--diff-by", "total"],
                 ["--match", "before=after"],
                 ["--fail-above", "5%", "--function", "."]):
        run.ask("flame", "svg", ["flame", *more, *both])
    run.ask("html", "html", ["page", "-o", "d.html", *both])
    run.ask("folded", "text", ["export", "--format", "folded", *both])
    run_merge(run)


def run_help(run):
    """Help, completions, and messages about wrong use."""
    def listed():
        text = run.call(["--list-commands"])[2].decode("utf-8", "replace")
        return [line.split()[0] for line in text.splitlines()]
    found = run.fact("commands", listed) or list(COMMANDS)
    commands = found
    found = [*found, "formats", "exports", "verdicts", "rules", "exit-status", "environment"]
    for args in (["help"], ["-h"], ["--version"]):
        run.ask("help", "text", args)
    for name in found:
        run.ask("help", "text", ["help", name])
    for name in commands:
        run.ask("help", "text", [name, "-h"])
        run.ask("errors", "text", [name, "--nosuch"])
    for shell in ("bash", "zsh", "fish"):
        run.ask("help", "text", ["completion", shell])
    run.call(["ingest", "-o", "a.db", *run.case.paths])
    for what in ("--views", "--tables", "--functions"):
        run.ask("help", "text", ["query", what, "a.db"])
    run.ask("help", "text", ["query", "--schema"])
    for more in ([], ["--runtime", "-e", "cpu-clock", "-F", "99", "--dump", "8K",
                      "-o", "x.data"]):
        run.ask("record", "text", ["record", "--dry-run", *more, "true"])
    run.ask("record", "text", ["record", "--dry-run", "--for", "1s", "-p", "1"])
    run.ask("record", "text", ["record", "--dry-run", "--for", "1s", "-a"])
    run.ask("record", "text", ["record", "--dry-run", "--again", "true"])
    run.ask("record", "text", ["record", "--dry-run", "--cost", "true"])
    run.ask("record", "text", ["record", "--dry-run", "--calls", "none", "true"])
    for more in ([], ["--tracer", "ftrace"]):
        run.ask("record", "text", ["record", "--dry-run", "--waits", *more, "true"])
    with open(os.path.join(run.work, "same.txt"), "w") as f:
        f.write("no capture\n")
    for line in WRONG:
        run.ask("errors", "text", line.split(), line or "(nothing)")
    run.ask("errors", "text", ["ingest", "-o", "a.db", *run.case.paths],
            "ingest, and the database exists")


def run_elf(run):
    for path in run.case.paths:
        name = os.path.basename(path)
        run.ask("sframe", "text", ["sframe", path], "sframe " + name)
        run.ask("sframe", "json", ["sframe", "--json", path],
                "sframe --json " + name)
        run.ask("sframe", "text", ["sframe", "--check", path],
                "sframe --check " + name)


RUNS = {"capture": run_capture, "diff": run_diff, "help": run_help,
        "elf": run_elf}


def cache_key(case, old):
    """A hash of everything that the outputs of the old version depend on."""
    h = hashlib.sha256(repr((case, old)).encode())
    here = os.path.dirname(os.path.abspath(__file__))
    for name in ("same.py", "samecases.py", "sameread.py"):
        with open(os.path.join(here, name), "rb") as f:
            h.update(f.read())
    for path in case.paths:
        for p in [path] + [os.path.join(d, n) for d, _, names in os.walk(path)
                           for n in names]:
            s = os.stat(p)
            h.update(repr((p, s.st_size, s.st_mtime_ns)).encode())
    return h.hexdigest()[:32]


def old_side(case, opts, work):
    """Returns (outputs, facts), from the cache if it has them."""
    stem = os.path.join(opts.cache, case.name + "@")
    path = stem + cache_key(case, opts.old_hash)
    if not opts.fresh and os.path.exists(path):
        with open(path, "rb") as f:
            return pickle.loads(zlib.decompress(f.read()))
    for stale in glob.glob(glob.escape(stem) + "*"):
        os.unlink(stale)
    run = Run(opts.old, case, work)
    RUNS[case.how](run)
    with open(path + ".tmp%d" % os.getpid(), "wb") as f:
        f.write(zlib.compress(pickle.dumps((run.outputs, run.facts)), 1))
    os.replace(f.name, path)
    return run.outputs, run.facts


def one_case(case, opts):
    """Returns (case, [(kind, label, verdict, diff, changes)], used words,
    seconds)."""
    begin = time.monotonic()
    work = os.path.join(opts.out, "work", case.name)
    olds, facts = old_side(case, opts, work)
    run = Run(opts.new, case, work, facts)
    RUNS[case.how](run)
    words = sameread.Words(opts.words)
    found, used = [], set()
    mine = {(o.kind, o.label): o for o in run.outputs}
    names = [(o.kind, o.label) for o in olds]
    names += [k for k in mine if k not in set(names)]
    theirs = {(o.kind, o.label): o for o in olds}
    for key in names:
        a, b = theirs.get(key), mine.get(key)
        if b and (b.status == "timeout" or b.status < 0):
            found.append((*key, "different", [
                "the new version ended with: %s" % b.status], ()))
            continue
        if a == b:
            found.append((*key, "identical", None, ()))
            continue
        verdict, diff, hits, pairs = sameread.judge(a, b, words, work)
        found.append((*key, verdict, diff, pairs))
        used |= hits
    shutil.rmtree(work, ignore_errors=True)
    return case, found, used, time.monotonic() - begin


class Plan(Run):
    """Runs nothing, and says that all is there: what would be run is in
    asked."""

    def __init__(self, case, work):
        super().__init__(None, case, work)
        self.asked = []

    def call(self, args, stdin=None):
        self.asked.append(list(args))
        return 0, b"", b""

    def view(self, args):
        self.call(["view", *args])
        return b""

    def database(self, name, label, read=None):
        pass

    def has(self, name):
        return True

    def segments(self):
        return []


# What no case runs, and why; options of any command where there is none.
NOT_RUN = {
    "push": "needs a server: tests/fleet",
    "--password-file": "needs a server: tests/fleet",
    "--ca-file": "needs a server: tests/fleet",
    "--timeout": "needs a server: tests/fleet",
    "--debuginfod": "needs a server: tests/cli/symbolize.sh",
    "--debuginfod-timeout": "needs a server: tests/cli/symbolize.sh",
    "--open": "starts a browser: tests/cli/first.sh",
    "--timing": "prints times: tests/cli/jobs.sh",
    "view --live": "ends with its stream: tests/cli/top.sh",
    "view --diff": "shows what diff prints: tests/cli/view.sh",
    "follow --top": "by the time of segments: tests/cli/top_print.sh",
    "follow --keep": "by the age of files: tests/cli/keep.sh",
    "follow --exec": "runs a command: tests/cli/follow.sh",
    "--color": "no output has any: tests/cli/flame.sh",
    "--no-pager": "no output is a terminal: tests/cli/pager.sh",
}


def not_asked(binary, work):
    """Commands and options that the program has and no case runs. How a capture
    is read and named, and which of several databases are, are tables for all
    commands: the options of ingest and merge are asked of one command."""
    missing = ["%s, for which there is no %s" % (what, why.split(": ")[1])
               for what, why in NOT_RUN.items()
               if not os.path.exists(os.path.join(ROOT, why.split(": ")[1]))]
    asked, files = {}, (os.path.abspath(__file__),)
    naming = ("--symfs", "x", "--kallsyms", "x")
    for how in RUNS:
        for paths in (files, files * 2):
            plan = Plan(Case(how, how, paths, naming, (), ("x",), 0, True, False),
                        work)
            RUNS[how](plan)
            for args in plan.asked:
                command = args[0] if args and args[0][:1] != "-" else ""
                asked.setdefault(command, set()).update(
                    a for a in args if a[:1] == "-")
    said = subprocess.run([binary, "completion", "bash"], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    has = {c: words.split() for c, words in re.findall(
        r"(?m)^\t\t(\w+)\) words='( -[^']*)'", said)}
    anywhere = {"--input", "--output"}.union(*asked.values())
    shared = {*has["ingest"], *has["merge"], "--where", "--input", "--output"}
    most = subprocess.run([binary, "help", "options"], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    for command, words in has.items():
        if command in NOT_RUN:
            continue
        if command not in asked:
            missing.append(command)
            continue
        text = subprocess.run([binary, "help", command], check=True,
                              stdout=subprocess.PIPE).stdout.decode()
        short = dict(re.findall(r"(?m)^ +(-\w), (--[a-z-]+)", text + most))
        short["-h"] = "--help"
        run = asked[command] | {short[a] for a in asked[command] if a in short}
        for word in words:
            if word[:2] != "--" or word in run or word in NOT_RUN or \
                    command + " " + word in NOT_RUN:
                continue
            if word not in shared or word not in anywhere:
                missing.append(command + " " + word)
    return missing


class Report:
    """Prints results as they come, and keeps the diffs in a folder."""

    VERDICTS = ("identical", "words", "different")

    def __init__(self, log):
        self.log = log
        self.table = collections.OrderedDict()
        self.used = set()
        self.changes = collections.Counter()
        shutil.rmtree(log, ignore_errors=True)
        os.makedirs(log)

    def add(self, case, found, used, seconds):
        self.used |= used
        bad = 0
        for kind, label, verdict, diff, changes in found:
            row = self.table.setdefault(kind, collections.Counter())
            row[verdict] += 1
            if verdict == "different":
                bad += 1
                self.show(case, kind, label, diff, changes)
        print("%s %s: %d outputs%s, %.1f s" % (
            "not ok" if bad else "ok", case.name, len(found),
            ", %d differ" % bad if bad else "", seconds), flush=True)

    def show(self, case, kind, label, diff, changes):
        """Writes the diff to the log; prints it unless all its changes were
        printed before."""
        name = "".join(c if c.isalnum() or c in "-._" else "_"
                       for c in "%s-%s-%s" % (case.name, kind, label))[:150]
        path = os.path.join(self.log, name + ".diff")
        n = 1
        while os.path.exists(path):
            n += 1
            path = os.path.join(self.log, "%s-%d.diff" % (name, n))
        with open(path, "w", errors="replace") as f:
            f.write("\n".join(diff) + "\n")
        known = changes and all(c in self.changes for c in changes)
        self.changes.update(changes)
        print("--- %s: %s: %s%s" % (case.name, kind, label[:100],
                                    ": as shown above" if known else ""))
        if known:
            return
        for line in diff[:20]:
            print("    " + line[:200])
        if len(diff) > 20:
            print("    %d more lines in %s" % (len(diff) - 20, path))

    def finish(self, words):
        print("\n%-18s %9s %9s %9s %9s" % ("output", "compared", "identical",
                                           "words", "different"))
        total = collections.Counter()
        for kind in sorted(self.table):
            row = self.table[kind]
            total.update(row)
            print("%-18s %9d %9d %9d %9d" % (
                kind, sum(row.values()), *(row[v] for v in self.VERDICTS)))
        print("%-18s %9d %9d %9d %9d" % (
            "all", sum(total.values()), *(total[v] for v in self.VERDICTS)))
        if self.changes:
            path = os.path.join(self.log, "suggested.txt")
            with open(path, "w", errors="replace") as f:
                for (a, b, kind), _ in self.changes.most_common():
                    f.write("%s\t%s\t%s\n" % (a, b, kind))
            print("lines for the list of words, to be judged: " + path)
        for line in words.unused(self.used):
            print("note: not needed: " + line)
        bad = total["different"]
        print("%d passed, %d failed" % (sum(total.values()) - bad, bad))
        return 1 if bad else 0


def hash_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def options():
    p = argparse.ArgumentParser()
    for name in ("shared", "quick", "all", "fresh", "list", "missing"):
        p.add_argument("--" + name, action="store_true")
    for name in ("out", "words", "old", "new", "from"):
        p.add_argument("--" + name)
    p.add_argument("-j", type=int, default=2)
    p.add_argument("names", nargs="*")
    return p.parse_args()


def chosen(opts):
    """The cases, and why others are left out."""
    shared = os.environ.get("BACKSTITCH_SHARED", "") if opts.shared else ""
    if opts.shared and not shared:
        print("skip: no $BACKSTITCH_SHARED")
    cases = all_cases(ROOT, shared, os.path.join(opts.out, "prepared"))
    if opts.names:
        picked = []
        for name in opts.names:
            path = os.path.join(getattr(opts, "from"), name)
            hits = [c for c in cases if fnmatch.fnmatch(c.name, name)]
            if not hits and os.path.exists(path):
                hits = [c for c in cases if c.paths == (path,)] or [
                    path_case(path)]
            if not hits:
                sys.exit("same.sh: no capture '%s'; --list names them" % name)
            picked += [c for c in hits if c not in picked]
        return picked
    if opts.quick:
        return [c for c in cases if c.quick]
    large = [c for c in cases if c.large and not opts.all]
    for c in large:
        print("skip %s: %d kB; --all has it" % (c.name, c.size // 1000))
    return [c for c in cases if c not in large]


def main():
    opts = options()
    if opts.missing:
        with tempfile.TemporaryDirectory() as work:
            found = not_asked(opts.new, work)
        print("".join("tests/same.py runs nothing with: %s\n" % f
                      for f in found), end="")
        return 1 if found else 0
    os.makedirs(opts.out, exist_ok=True)
    lock = open(os.path.join(opts.out, "lock"), "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        print("another run is at work in %s: waiting" % opts.out, flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    cases = chosen(opts)
    if opts.list:
        print("\n".join(c.name for c in cases))
        return 0
    for path in (opts.old, opts.new):
        if not os.access(path, os.X_OK):
            sys.exit("same.sh: %s: no program" % path)
    words = sameread.Words(opts.words)
    opts.old_hash = hash_of(opts.old)
    opts.cache = os.path.join(opts.out, "cache", opts.old_hash[:12])
    for stale in glob.glob(os.path.join(opts.out, "cache", "*")):
        if stale != opts.cache:
            shutil.rmtree(stale)
    os.makedirs(opts.cache, exist_ok=True)
    # A copy, because the tree may be compiled again meanwhile.
    copy = os.path.join(opts.out, "new-backstitch")
    shutil.copy(opts.new, copy)
    opts.new = copy
    report = Report(os.path.join(opts.out, "log"))
    cases.sort(key=lambda c: -c.size)
    with concurrent.futures.ProcessPoolExecutor(opts.j) as pool:
        for done in concurrent.futures.as_completed(
                [pool.submit(one_case, c, opts) for c in cases]):
            report.add(*done.result())
    return report.finish(words)


if __name__ == "__main__":
    sys.exit(main())

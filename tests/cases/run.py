#!/usr/bin/env python3
# run.py - makes a capture of every case's capture.txt and compares what comes out.
"""usage: tests/cases/run.py [CASE...]

A case is a folder: capture.txt (see tests/mkcap.c, and tests/mkftrace.c for
forms of ftrace), OUTPUT.expect for every output to compare, and cmd with lines
'OUTPUT: shell command' for outputs that are not among the usual ones below.
Commands run where cap.data and cap.db are. Each case is tried as a
little-endian file, a big-endian file and a pipe: the outputs must be the same,
unless the case's first line says '# forms: file ...'. Forms of ftrace are v7,
v7big, v6 and text. The capture of case x is left in $O/cases/x.data, of ftrace
in x.dat.

Under sanitizers each case is read in one of its forms, the next case in
another, and in all of them with LONG: what comes out is compared without
them, and that no form is read wrongly there is what the fuzzers try."""

import difflib
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

ROOT = os.environ.get("ROOT", os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
HERE = os.path.join(ROOT, "tests/cases")
KEEP = os.path.join(ROOT, os.environ.get("O", "build"), "cases")
PROGRAM = os.environ["BACKSTITCH"]
FEWER = os.environ.get("SAN") and not os.environ.get("LONG")
OPTIONS = {"file": [], "big": ["-b"], "pipe": ["-p"], "v7": [],
           "v7big": ["-b"], "v6": ["-6"], "text": ["-t"]}
KEPT = {"file": ".data", "v7": ".dat"}

# The usual outputs, all from tables and views that the man page promises.
USUAL = {
    "verdicts": """SELECT kind, verdict, confidence, n FROM verdicts
        ORDER BY kind DESC, verdict""",
    "requests": """SELECT e.time_ns, t.tid, w.name, r.flags & ~8,
            coalesce(r.latency_ns, '-')
        FROM request r JOIN event e ON e.id = r.event
        JOIN thread t ON t.id = e.thread
        JOIN word w ON w.kind = 'request' AND w.id = r.verdict
        ORDER BY e.id""",
    "chains": """SELECT c.time_ns, t.tid, w.name, c.flags & ~8, c.n_events
        FROM chain c JOIN thread t ON t.id = c.thread
        JOIN word w ON w.kind = 'chain' AND w.id = c.verdict
        ORDER BY c.time_ns, c.id""",
    "stacks": """SELECT e.time_ns, p.pos, coalesce(i.path, '-'),
            printf('%x', f.off)
        FROM event e LEFT JOIN request r ON r.event = e.id
        JOIN raw_chain c ON c.id = coalesce(r.uraw, e.uraw)
        JOIN stack_path p ON p.stack = c.stack
        JOIN frame f ON f.id = p.frame
        JOIN image i ON i.id = f.image
        ORDER BY e.id, p.pos""",
    # by the names that the capture itself says
    "frames": """SELECT e.time_ns, p.pos, i.path, s.name
        FROM request r JOIN event e ON e.id = r.event
        JOIN raw_chain c ON c.id = r.uraw
        JOIN stack_path p ON p.stack = c.stack
        JOIN frame f ON f.id = p.frame
        JOIN image i ON i.id = f.image
        LEFT JOIN symbol s ON s.id = f.symbol
        ORDER BY e.id, p.pos""",
    "folded": "SELECT event, stack, weight FROM folded ORDER BY 1, 2",
    "loss": """SELECT what, cpu, coalesce(t0, '-'), coalesce(t1, '-'), n
        FROM loss ORDER BY id""",
}


def read(path):
    try:
        with open(path, encoding="utf-8", errors="backslashreplace") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def sql(text):
    """Rows as the sqlite3 of a command line prints them."""
    with sqlite3.connect("cap.db") as db:
        db.text_factory = lambda b: b.decode("utf-8", "backslashreplace")
        rows = db.execute(text).fetchall()
    db.close()
    return "".join(" ".join("" if c is None else str(c) for c in row) + "\n"
                   for row in rows)


def run(*args, shell=False):
    """The status, and both outputs."""
    r = subprocess.run(args[0] if shell else args, shell=shell, check=False,
                       stdin=subprocess.DEVNULL, capture_output=True)
    return (r.returncode, r.stdout.decode("utf-8", "backslashreplace"),
            r.stderr.decode("utf-8", "backslashreplace"))


def output(name, commands):
    """What came out, and what was said."""
    if name in commands:
        return run(commands[name], shell=True)[1:]
    if name == "script":
        return run(PROGRAM, "script", "-F", "comm,pid,tid,cpu,time,event,ip",
                   "cap.db")[1:]
    try:
        return sql(USUAL[name]), ""
    except (KeyError, sqlite3.Error) as e:
        return "", "no output '%s': %s\n" % (name, e)


def make(case, form):
    """What is wrong with capture.txt."""
    status, _, said = run(
        os.environ["MKFTRACE" if form[0] in "vt" else "MKCAP"], *OPTIONS[form],
        os.path.join(HERE, case, "capture.txt"), "cap.data")
    if not status and form in KEPT:
        with open("cap.data", "rb") as f, open(
                os.path.join(KEEP, case + KEPT[form]), "wb") as to:
            to.write(f.read())
    return said + "no capture\n" if status else ""


def one(case, form):
    """Prints a line for each output; whether all are right."""
    folder = os.path.join(HERE, case)
    commands = dict(re.findall(r"^(\w+): (.*)$", read(folder + "/cmd"), re.M))
    said = make(case, form)
    if said:
        print("%snot ok %s as %s: capture.txt" % (said, case, form))
        return False
    status, _, said = run(PROGRAM, "ingest", "--no-symbols", "-o", "cap.db",
                          "cap.data")
    if status != int(commands.get("status", 0)):
        print("%snot ok %s as %s: ingest ends with %d" % (
            said, case, form, status))
        return False
    bad = 0
    for expect in sorted(os.listdir(folder)):
        name, ending = os.path.splitext(expect)
        if ending != ".expect":
            continue
        want = read(os.path.join(folder, expect))
        got, said = output(name, commands)
        if got != want:
            bad += 1
            print("".join(difflib.unified_diff(
                want.splitlines(True), got.splitlines(True), expect,
                name + ".out")) + said)
        print("%s %s as %s: %s" % ("not ok" if got != want else "ok", case,
                                   form, name), flush=True)
    return not bad


def main():
    os.makedirs(KEEP, exist_ok=True)
    cases = sys.argv[1:] or sorted(
        c for c in os.listdir(HERE) if os.path.isdir(os.path.join(HERE, c)))
    good = True
    with tempfile.TemporaryDirectory() as work:
        for i, case in enumerate(cases):
            first = read("%s/%s/capture.txt" % (HERE, case)).split("\n")[0]
            forms = first.partition("# forms: ")[2].split() or [
                "file", "big", "pipe"]
            for form in forms:
                folder = os.path.join(work, case + "-" + form)
                os.mkdir(folder)
                os.chdir(folder)
                if not FEWER or form == forms[i % len(forms)]:
                    good = one(case, form) and good
                elif form in KEPT:
                    make(case, form)
        os.chdir(ROOT)
    sys.exit(not good)


main()

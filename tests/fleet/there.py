# there.py - what is asked of two ClickHouse servers is answered as a database does.
"""Captures of all tracers are pushed, and drawn again from the servers: flame
graphs, tables and sums must be the same bytes. Then servers die, replies are
cut, changed and hostile: an answer is whole, or there is none.
usage: there.py; the seed of what is random is $BACKSTITCH_SEED."""

import gzip
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "compare"))

from common import BACKSTITCH, OUT, ROOT, finish, ok, query, turn  # noqa: E402
from proxy import Hostile, hostile_replies  # noqa: E402
from servers import Servers, installed  # noqa: E402
from shift import shift  # noqa: E402

LONG = os.environ.get("LONG")
SEED = int(os.environ.get("BACKSTITCH_SEED", "1"))
CAPTURES = os.path.join(ROOT, "tests/captures")
RUNS = [  # deferred, frame pointers, s390x, inlined, jit, ftrace, CTF, ...
    "defer-exitexec-s.data.zst", "ctx2-defer.data.zst", "fp-1.data",
    "s390x-z.data", "lines-gcc.data.zst", "dlchurn.data", "jit-reused.data.zst",
    "overwrite-defer.data.zst", "ftrace-missed.dat.zst", "ctf-discard/trace",
    # two of its stacks have the same frames, and other bogus ones
    "defer-lost-clock.data.zst"]
if LONG:  # more of the same kinds
    RUNS[3:3] = ["hits-mixed.data.zst", "arm64-fp-leaf.data", "group.data",
                 "ftrace-v7.dat", "ftrace-ustack-both.dat", "ftrace-procmap.dat"]
ANSWERS = [
    ["flame", "-o", "-"], ["flame", "-o", "-", "--reverse", "--no-inline"],
    ["flame", "-o", "-", "--by", "samples", "--by-verdict", "--by-thread"],
    ["export", "--format", "folded", "-o", "-"],
    ["report", "--limit", "0"],
    ["report", "--limit", "0", "--sort", "comm,pid,tid,cpu,sym,verdict",
     "--format", "csv"],
    ["report", "--limit", "0", "--json", "--by", "samples"]]
FILTERS = [["--comm", "*[a-z]*"], ["--comm", "w?*,nothing"], ["--cpu", "0,2-3"],
           ["--tid", "0-100000"], ["--event", "*"], ["--event", "cpu-cl?ck"]]


def run(*args, **more):
    return subprocess.run([BACKSTITCH, *args], capture_output=True,
                          timeout=120, **more)


def ingest(db, path):
    r = run("ingest", "-q", "-f", "--no-cache", "-o", db, path)
    if r.returncode not in (0, 3):
        raise RuntimeError(r.stderr.decode())


def capture(name):
    at = [os.path.join(CAPTURES, n) for n in (name, name.replace(".zst", ""))]
    return next(p for p in at if os.path.exists(p))


def push(url, *args):
    r = run("push", "-q", url, *args)
    if r.returncode:
        raise RuntimeError(r.stderr.decode())


def blameless(out):
    """A server is not told whose file lacks the innermost caller. The lines below a
    picture, which are broken elsewhere, are in its description too."""
    if b"<svg" in out:
        out = re.sub(rb'<text[^>]*class="quiet">[^<]*</text>', b"", out)
    # a server has no table of the kernel halves
    out = re.sub(rb'("kernel_stacks_by_class": ?)\[[^]]*\]', rb"\1[]", out)
    return re.sub(rb"(lack the innermost caller) \([^)]*\)", rb"\1", out)


def hint(out, db, url):
    """The advice about code without a name is another one."""
    return blameless(out).replace(
        ("info %s' says why" % db).encode(),
        ("symbolize %s' names code that is here" % url).encode())


def same(db, url, answers, where):
    """What differs between the answers of a database and of the servers."""
    bad = []
    for a in answers:
        here, there = run(*a, db), run(*a, "--where", where, url)
        if (hint(here.stdout, db, url), here.returncode) != (
                blameless(there.stdout), there.returncode):
            bad.append("%s: status %d and %d, %d and %d bytes, %s" % (
                " ".join(a), here.returncode, there.returncode,
                len(here.stdout), len(there.stdout), there.stderr.decode()))
    return bad


def forget_callers(db):
    """The tables of a server say neither where a caller is missing nor who walked.
    Of how many stacks it is known depends on the libraries of this machine."""
    with sqlite3.connect(db) as d:
        d.execute("UPDATE internal_judged SET callerless = 0")
        d.execute("UPDATE internal_stack_check SET walked = NULL")


def path_of(db):
    return query(db, "SELECT path FROM capture")[0][0]


def asked(i, of=ANSWERS):
    """Of the i-th run or table: all with LONG; else two, so that each is asked
    of as many."""
    return of if LONG else [
        of[(2 * i + k) % len(of)] for k in range(2)]


def test_same(s, folder):
    """Returns the databases."""
    dbs = []
    for name in RUNS:
        db = "%s/%s.db" % (folder, name.replace("/", "-"))
        ingest(db, capture(name))
        push(s.url(0, "f"), db)
        dbs.append(db)
        forget_callers(db)
    for i, (name, db) in enumerate(zip(RUNS, dbs)):
        where = "path = '%s'" % path_of(db)
        bad = same(db, s.url(1, "f"), asked(i), where)
        ok(not bad, "%s is drawn and counted from the servers as from its "
           "database" % name, bad)
    bad = []
    for f in FILTERS:
        here, there = (run("export", "--format", "folded", "-o", "-", *f, *of)
                       for of in ([dbs[0]], ["--where", "path = '%s'" %
                                             path_of(dbs[0]), s.url(0, "f")]))
        if here.stdout != there.stdout or (here.returncode == 0) != (
                there.returncode == 0):
            bad.append("%s: %d and %d bytes, %s" % (
                f, len(here.stdout), len(there.stdout), there.stderr.decode()))
    ok(not bad, "the servers select samples as the filters do", bad)
    return dbs


def trust(*args):
    """The status and the lines of report's first sentence."""
    r = run("report", "--limit", "1", *args)
    return r.returncode, r.stdout.decode().split("\n\n")[0].split("\ncapture")[0]


def test_trust(s, dbs):
    """Of exactly the samples that a filter selects, as a database says it."""
    bad, sentences = [], set()
    for name, db in list(zip(RUNS, dbs))[::3 if LONG else 5]:
        comms = query(db, "SELECT DISTINCT name FROM comm ORDER BY 1")
        tids = query(db, "SELECT min(tid), max(tid) FROM thread WHERE tid > 0")[0]
        filters = [["--comm", c[0]] for c in comms[-2:] if c[0]] + [
            ["--tid", "%s-%s" % (tids[0], (tids[0] + tids[1]) // 2)],
            ["--cpu", "0"], ["--cpu", "1-9"]]
        for f in filters:
            here, there = (trust(*f, *of) for of in (
                [db], ["--where", "path = '%s'" % path_of(db), s.url(0, "f")]))
            sentences.add(there[1])
            if here != there and not (here[0] and there[0]):
                bad.append((name, f, here, there))
    ok(not bad and len(sentences) > 8, "the first sentence is of the samples "
       "that a filter selects", bad or [len(sentences)])


def test_trust_of_two(s, dbs):
    """Two runs have events of one name, and each its own classes."""
    two = [dbs[RUNS.index(n)] for n in ("defer-exitexec-s.data.zst",
                                        "ctx2-defer.data.zst")]
    sums = {}
    for db in two:
        for key in query(db, """SELECT event, class, sum(samples) FROM trust
                                GROUP BY 1, 2"""):
            sums[key[:2]] = sums.get(key[:2], 0) + key[2]
    where = "path IN (%s)" % ", ".join("'%s'" % path_of(db) for db in two)
    bad = []
    for f in [], ["--tid", "0-9999999"]:
        r = json.loads(run("report", "--json", *f, "--where", where,
                           s.url(0, "f")).stdout)
        got = {(r["event"], c["class"]): c["samples"]
               for c in r["user_stacks_by_class"]}
        if got != {k: n for k, n in sums.items() if k[0] == r["event"]}:
            bad.append((f, got, sums))
    ok(not bad, "the first sentence is of all runs that have the event", bad)


def test_trust_before(s, db):
    """Of rows of an earlier version it is not known which class they have."""
    create(s, "before")
    url = s.url(0, "before")
    push(url, db)
    whole = trust(url)
    for i in range(2):
        s.sql("ALTER TABLE before.sample_local UPDATE class = '' WHERE 1", i)
    wait_mutations(s)
    blank = trust("--tid", "0-9999999", url)
    for i in range(2):
        for table in "sample_local", "sample":
            s.sql("ALTER TABLE before.%s DROP COLUMN class" % table, i)
    without = trust("--tid", "0-9999999", url)
    ok(blank == without and "is not known of a part" in blank[1] and
       trust(url) == whole and "not known" not in whole[1],
       "of rows of an earlier version a filter's sentence says that it is not "
       "known", [whole, blank, without])


def test_diff(s, dbs):
    two = [dbs[RUNS.index(n)] for n in ("fp-1.data", "dlchurn.data")]
    a, b = ("%s#path = '%s'" % (s.url(0, "f"), path_of(db)) for db in two)
    here = run("flame", "--diff", "-o", "-", *two)
    there = run("flame", "--diff", "-o", "-", a, b)
    # the notes name the sides, and may need more lines for that; servers keep no
    # times, so that what the parts of a run vary by is not in their p
    pictures = [re.findall(r'<g class="[^"]*" data-s=.*?</g>',
                           re.sub(r"\(p [^)]*\)", "(p)", r.stdout.decode()), re.S)
                for r in (here, there)]
    ok(there.returncode == 0 and pictures[0] == pictures[1] and
       len(pictures[0]) > 10,
       "runs of a server are compared as databases are",
       [here.stderr.decode(), there.stderr.decode()])


def test_sums(s, dbs):
    bad = []
    parts = ("verdict", "status", "user_stacks", "losses")
    for db in dbs:
        here, there = (json.loads(blameless(run("check", "--json", *a).stdout)) for a in (
            [db], ["--where", "path = '%s'" % path_of(db), s.url(0, "f")]))
        for p in parts:
            if here[p] != there[p]:
                bad.append("%s: %s: %s and %s" % (db, p, here[p], there[p]))
        for p in ("requests", "chains"):
            differ = {k: (v, here[p][k]) for k, v in there[p].items()
                      if v is not None and k != "with_cookie"
                      and v != here[p][k]}
            if differ:
                bad.append("%s: %s: %s" % (db, p, differ))
        found = [{r["rule"]: (r["findings"], r["explained"]) for r in
                  x["findings"]} for x in (here, there)]
        if found[0] != found[1]:
            bad.append("%s: findings: %s and %s" % (db, *found))
    ok(not bad, "check has the verdicts, losses, trust and findings of each "
       "database", bad)
    all_of = json.loads(run("check", "--json", s.url(0, "f")).stdout)
    want = sum(query(db, "SELECT count(*) FROM request")[0][0] for db in dbs)
    ok(all_of["requests"]["requests"] == want and want > 100,
       "check of all runs has the sums of all", [all_of["requests"], want])


def test_page(s, db, folder):
    r = run("report", "--html", "--no-source", "-o", folder + "/p.html",
            "--where", "path = '%s'" % path_of(db), s.url(0, "f"))
    with open(folder + "/p.html", encoding="utf-8") as f:
        page = f.read()
    n = query(db, "SELECT sum(n) FROM sample_group")[0][0]
    sizes = json.loads(page.split('"sizes":')[1].split("]")[0] + "]") \
        if '"sizes":[' in page else None
    ok(r.returncode == 0 and "they have no times" in page and
       (sizes is None or sizes[-1] == n) and "{:,}".format(n) in page,
       "the page has all samples, and says that they have no times",
       [r.stderr.decode(), sizes, n])


def test_choice(s, dbs):
    url = s.url(0, "f")

    def report(*args):
        return run("report", "--json", "--limit", "0", *args)

    def status(*args):
        r = report(*args)
        return r.returncode, r.stderr.decode()

    count = sum("capture: " in line for line in
                run("report", "--last", "3", url).stdout.decode().split("\n"))
    cases = [
        ("newest", count == 3, count),
        ("no run", status("--where", "host = 'nobody'", url)[0] == 2, ""),
        ("syntax", status("--where", "host = = 1", url)[0] == 1, ""),
        ("comment", status("--where", "1 -- all", url)[0] == 0, ""),
        ("bracket", status("--where", "1)) OR ((1", url)[0] == 1, ""),
        ("until", status("--to", "2001-01-01", url)[0] == 2, ""),
        ("time", "--from" in status("--time", "1,2", url)[1], ""),
        ("script", "read the database" in run("script", url).stderr.decode(),
         run("script", url).stderr.decode()),
        ("off-cpu", run("flame", "--off-cpu", url).returncode == 2, ""),
        ("weight", run("flame", "--weight", "1", url).returncode == 2, ""),
        ("filter of check", run("check", "--comm", "x", url).returncode == 2,
         ""),
        ("password", "list of processes" in status(
            url.replace("//", "//u:geheim@"))[1], ""),
        ("no tables", "push --create" in status(s.url(0, "empty"))[1],
         status(s.url(0, "empty"))),
    ]
    bad = [c for c in cases if not c[1]]
    ok(not bad, "what a server cannot answer is refused, with what to do", bad)


def test_uncommitted(s, db):
    """A run without its row of table run is not there yet, and rows that are
    missing are not silently left out."""
    url = s.url(0, "f")
    where = ["--where", "path = '%s'" % path_of(db)]
    run_id = s.rows("SELECT hex(run) FROM f.run WHERE path = '%s'"
                    % path_of(db))[0][0]
    for i in range(2):
        s.sql("ALTER TABLE f.run_local DELETE WHERE hex(run) = '%s'" % run_id,
              i)
    wait_mutations(s)
    r = run("report", *where, url)
    ok(r.returncode == 2 and b"no run" in r.stderr,
       "a run that is not complete is not read", [r.stderr.decode()])
    push(url, db)
    for i in range(2):
        s.sql("ALTER TABLE f.sample_local DELETE WHERE hex(run) = '%s' AND "
              "time %% 2 = 0" % run_id, i)
    wait_mutations(s)
    r = run("report", *where, url)
    ok(r.returncode == 1 and not r.stdout and b"push the runs again" in r.stderr,
       "samples that are missing are an error", [r.stderr.decode()])
    push(url, "--server", s.url(1, "f"), db)
    r = run("report", *where, url)
    ok(r.returncode == 0 and r.stdout, "a push repairs it",
       [r.stderr.decode()])


def test_samples_lost(s, db):
    """Samples that are there twice, or missing, and filters."""
    url = s.url(0, "f")
    where = ["--where", "path = '%s'" % path_of(db)]
    run_id = s.rows("SELECT hex(run) FROM f.run WHERE path = '%s'"
                    % path_of(db))[0][0]
    mine = "hex(run) = '%s'" % run_id
    args = ["export", "--format", "folded", "-o", "-", "--tid", "0-9999999",
            *where, url]
    want = run(*args)
    for i in range(2):
        s.sql("INSERT INTO f.sample_local SELECT * FROM f.sample_local WHERE "
              + mine, i)
    r = run(*args)
    ok(want.returncode == 0 and r.returncode == 1 and not r.stdout and
       b"push the runs again" in r.stderr, "samples that are there twice are "
       "an error with a filter, too", [r.returncode, r.stderr.decode()])
    push(url, "--server", s.url(1, "f"), db)
    r = run(*args)
    ok(r.stdout == want.stdout and r.stdout, "a push removes those of them "
       "that are too many", [r.stderr.decode()])


def test_weights(s):
    """Two weights whose sum is 2^64."""
    create(s, "heavy")
    url = s.url(0, "heavy")
    s.sql("INSERT INTO heavy.run_local (run, host, kept, rows) VALUES "
          "('0123456789abcdef', 'h', 2, 2)")
    s.sql("INSERT INTO heavy.event_local (run, event, samples) VALUES "
          "('0123456789abcdef', 'e', 2)")
    s.sql("INSERT INTO heavy.sample_local (run, comm, event, weight, n) VALUES "
          "('0123456789abcdef', 'c', 'e', 9223372036854775808, 1), "
          "('0123456789abcdef', 'c', 'e', 9223372036854775808, 1)")
    r = run("report", url)
    ok(r.returncode == 1 and not r.stdout and b"63 bits" in r.stderr,
       "weights that are too many for a sum are an error",
       [r.returncode, r.stdout.decode(), r.stderr.decode()])


def test_no_weight(s, db, folder):
    """Where the weight is not known, a sample counts as one."""
    create(s, "light")
    light = shutil.copy(db, folder + "/light.db")
    c = sqlite3.connect(light)
    c.execute("UPDATE event SET weight = NULL")
    c.commit()
    c.close()
    push(s.url(0, "light"), light)
    got = s.rows("SELECT sum(weight), sum(n) FROM light.sample")[0]
    ok(got[0] == got[1] != "0", "a sample whose weight is not known counts as "
       "one", got)


def test_last(s):
    """A long run begins before and ends behind a short one."""
    create(s, "last")
    for run_id, start, end in (("a", 10, 90), ("b", 20, 30), ("c", 5, 8)):
        key = run_id * 16
        s.sql("INSERT INTO last.run_local (run, host, path, start, end, kept, "
              "rows) VALUES ('%s', 'h', '/%s', %d, %d, 1, 1)"
              % (key, run_id, start, end))
        s.sql("INSERT INTO last.event_local (run, event, samples) VALUES "
              "('%s', 'e', 1)" % key)
        s.sql("INSERT INTO last.sample_local (run, comm, event, weight, n) "
              "VALUES ('%s', 'c', 'e', 1, 1)" % key)
    got = []
    for n in "123":
        out = run("report", "--last", n, s.url(0, "last")).stdout.decode()
        got.append(re.findall("capture: /([a-c])", out))
    ok(got == [["a"], ["a", "b"], ["c", "a", "b"]], "the last runs are those "
       "that ended last, in the order of their begin", got)


def test_sums_lost(s, db):
    """Rows of the small tables that are missing, or there twice."""
    url = s.url(0, "f")
    where = ["--where", "path = '%s'" % path_of(db)]
    run_id = s.rows("SELECT hex(run) FROM f.run WHERE path = '%s'"
                    % path_of(db))[0][0]
    mine = "hex(run) = '%s'" % run_id
    want = run("check", *where, url)
    bad, n = [], 0
    for table in ("loss", "verdict", "trust", "finding"):
        for i in range(2):
            local = "f.%s_local" % table
            if s.rows("SELECT count() FROM %s WHERE %s" % (local, mine),
                      i)[0][0] == "0":
                continue
            n += 1
            s.sql("INSERT INTO %s SELECT * FROM %s WHERE %s"
                  % (local, local, mine), i)
            twice = run("check", *where, url)
            s.sql("ALTER TABLE %s DELETE WHERE %s" % (local, mine), i)
            wait_mutations(s)
            none = run("check", *where, url)
            push(url, "--server", s.url(1, "f"), db)
            after = run("check", *where, url)
            for r in (twice, none):
                if (r.returncode, r.stdout) != (1, b"") or (
                        b"table " + table.encode()) not in r.stderr:
                    bad.append((table, r.returncode, r.stderr.decode()))
            if after.stdout != want.stdout:
                bad.append((table, after.stderr.decode()))
    ok(not bad and n > 2, "verdicts, losses, trust and findings that are "
       "missing or there twice are an error", bad or [n])
    for i in range(2):
        s.sql("ALTER TABLE f.run_local UPDATE counted = 0, loss_rows = 0, "
              "verdict_rows = 0, trust_rows = 0, finding_rows = 0 WHERE "
              + mine, i)
    wait_mutations(s)
    r = run("check", *where, url)
    ok(r.stdout == want.stdout, "a run of a version that did not count them "
       "is read", [r.stderr.decode()])


def test_doubled(s, db):
    """Rows that two pushers at a time, or someone's own INSERT, left twice: of
    whichever table, no reader shows other sums without a word."""
    url = s.url(0, "f")
    where = ["--where", "path = '%s'" % path_of(db)]
    mine = "path = '%s'" % path_of(db)
    mine = "run GLOBAL IN (SELECT run FROM f.run WHERE %s)" % mine
    readers = (["report", "--limit", "0"], ["flame", "-o", "-"], ["check"],
               ["check", "--json"], ["report", "--limit", "0", "--tid", "0-9999999"],
               ["export", "--format", "pprof", "-o", "-"],
               ["report", "--html", "--no-source", "-o", "-"])
    want = [run(*c, *where, url) for c in readers]
    bad = [(c, r.stderr.decode()) for c, r in zip(readers, want) if not r.stdout]
    said = 0
    for n, table in enumerate(("run", "event", "sample", "loss", "verdict",
                               "trust", "finding")):
        s.sql("INSERT INTO f.%s SELECT * FROM f.%s WHERE %s"
              % (table, table, mine), insert_distributed_sync=1)
        for c, w in asked(n, list(zip(readers, want))):
            r = run(*c, *where, url)
            refused = r.returncode == 1 and not r.stdout and r.stderr
            said += bool(refused)
            if not refused and r.stdout != w.stdout:
                bad.append((table, c, r.returncode, r.stderr.decode()))
        push(url, "--server", s.url(1, "f"), db)
        if run(*readers[0], *where, url).stdout != want[0].stdout:
            bad.append((table, "is not repaired by a push"))
    ok(not bad and said > len(readers), "no reader shows sums of rows that are "
       "there twice", bad or [said])


def test_two_pushers(s, db):
    """Of one run at a time: an answer is right, or refused."""
    bad, ends = [], []
    for n in range(4 if LONG else 2):
        if not turn(n, 2):
            continue
        create(s, "two")
        url = s.url(n % 2, "two")
        # if they meet at the same step, each of them is refused
        for _ in range(4):
            both = [subprocess.Popen([BACKSTITCH, "push", "-q", s.url(i, "two"), db],
                                     stderr=subprocess.DEVNULL) for i in range(2)]
            ends.append([p.wait() for p in both])
            if 0 in ends[-1]:
                break
        got = [run("report", "--limit", "0", url), run("check", url)]
        push(url, "--server", s.url(1 - n % 2, "two"), db)
        after = [run("report", "--limit", "0", url), run("check", url)]
        for g, a in zip(got, after):
            if g.stdout != a.stdout and (g.returncode not in (1, 2) or g.stdout):
                bad.append((n, ends[-1], g.returncode, g.stderr.decode()))
        rows = [r[0] for r in s.rows("SELECT count() FROM two.sample UNION ALL "
                                     "SELECT sum(rows) FROM two.run")]
        if len(set(rows)) != 1:
            bad.append((n, "is not repaired", rows))
        for i in range(2):
            s.sql("DROP DATABASE two", i)
    ok(not bad and 0 in sum(ends, []), "what two pushers of one run leave is "
       "right, or refused, and repaired by the next", bad or ends)


def wait_mutations(s):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if not any(int(s.sql("SELECT count() FROM system.mutations WHERE "
                             "is_done = 0", i)) for i in range(2)):
            return
        time.sleep(0.05)
    raise RuntimeError("a mutation does not end")


def test_killed(s, db):
    """A server is killed while it works on a statement, and before."""
    url = s.url(0, "f")
    want = run("report", "--limit", "0", url).stdout
    os.kill(s.process[1].pid, signal.SIGSTOP)
    asked = subprocess.Popen([BACKSTITCH, "report", "--limit", "0", url],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and asked.poll() is None:
        if "SELECT" in s.sql("SELECT query FROM system.processes WHERE query "
                             "NOT LIKE '%system.processes%'"):
            break
        time.sleep(0.02)
    waiting = asked.poll() is None
    s.kill(1)
    out, err = asked.communicate(timeout=60)
    ok(waiting and asked.returncode == 1 and not out and b"code " in err,
       "a shard that is killed during a statement is an error",
       [asked.returncode, out[:200], err])
    r = run("flame", "-o", "-", url)
    ok(r.returncode == 1 and not r.stdout and r.stderr,
       "a shard that is not there is an error", [r.returncode, r.stderr])
    s.start(1)
    s.kill(0)
    r = run("flame", "-o", "-", url)
    ok(r.returncode == 1 and not r.stdout and b"cannot connect" in r.stderr,
       "a server that is not there is an error", [r.returncode, r.stderr])
    s.start(0)
    r = run("report", "--limit", "0", url)
    ok(r.stdout == want, "afterwards the answer is that of before",
       [r.stderr.decode()])


def test_hostile(s, db, rnd):
    """An answer is whole, or there is none; and no reply is a crash."""
    where = ["--where", "path = '%s'" % path_of(db)]
    commands = (["report", "--limit", "0"], ["check"])
    port = re.compile(rb"127.0.0.1:\d+")
    bad, tries, kept = [], 0, {}
    with Hostile(s.urls[0], kept=kept) as p:
        good = {c[0]: run(*c, *where, p.url + "/f") for c in commands}
        last = p.count // len(commands)
    for c in commands:
        name = port.sub(b"", good[c[0]].stdout)
        for at in range(last):
            changes = hostile_replies(rnd)
            for change in rnd.sample(changes, 3 if LONG else 2):
                with Hostile(s.urls[0], at, change, kept=kept) as p:
                    r = run(*c, *where, p.url + "/f", "--timeout", "20")
                    changed = p.changed
                tries += changed
                right = r.returncode == 0 and port.sub(b"", r.stdout) == name
                if not right and (r.returncode not in (1, 2) or r.stdout):
                    bad.append((c, at, r.returncode, r.stderr[-200:]))
    ok(not bad and tries > 50, "hostile replies end with a message, and give "
       "no answer", bad[:5] or [tries])

    def changed(reply):
        """A reply that is whole, with some bytes changed."""
        b = bytearray(gzip.decompress(reply))
        for _ in range(rnd.randrange(1, 5)):
            if b:
                b[rnd.randrange(len(b))] = rnd.choice((0, 1, 127, 128, 255,
                                                       rnd.randrange(256)))
        if rnd.random() < 0.2:
            b += bytes(rnd.randrange(1, 40))
        body = gzip.compress(bytes(b))
        return 200, {"Content-Encoding": "gzip"}, body, len(body)

    bad, ends = [], {}
    for n in range(120 if LONG else 24):
        c = commands[0] if n % 4 else ["flame", "-o", "-"]
        with Hostile(s.urls[0], n % last, changed, kept=kept) as p:
            r = run(*c, *where, p.url + "/f", "--timeout", "20")
        ends[r.returncode] = ends.get(r.returncode, 0) + 1
        if r.returncode not in (0, 1, 2) or r.returncode and r.stdout:
            bad.append((n % last, r.returncode, r.stderr[-300:]))
    ok(not bad and ends.get(1, 0) > 5, "rows that are changed end with an "
       "answer or a message", bad[:5] or [ends])


def test_name_twice(s, db):
    """A reply has the function of a place behind those inlined there, again."""
    counted = []

    def row(place, level):
        return place + bytes([level, 255]) + b"\2in\3a.c" + bytes(13)

    def change(ignored):
        place = p.asked.split(b"\r\n\r\n", 1)[1][:8]
        if not counted:
            b = struct.pack("<Q", 202)
        else:
            b = b"".join(row(place, level) for level in [*range(201), 0])
        counted.append(1)
        b = gzip.compress(b)
        return 200, {"Content-Encoding": "gzip"}, b, len(b)

    with Hostile(s.urls[0], "argMax(levels", change) as p:
        r = run("report", "--where", "path = '%s'" % path_of(db), p.url + "/f")
    ok(p.changed and r.returncode == 1 and not r.stdout and
       b"two functions" in r.stderr, "a place that has two functions is an "
       "error", [r.returncode, r.stderr.decode()])
    ok(r.stderr.count(b"clickhouse://") == 1, "a message about a row names the "
       "server once", [r.stderr.decode()])


def test_names(s, folder):
    """Names that the servers lack are found here, and pushed."""
    url = s.url(0, "names")
    create(s, "names")
    source = folder + "/here.c"
    with open(source, "w") as f:
        f.write("int inner(int a) { return a * 3; }\n"
                "int main(void) { return inner(2) - 6; }\n")
    subprocess.run(["gcc", "-g", "-O0", "-Wl,--build-id=0x0123456789abcdef",
                    "-o", folder + "/here", source], check=True)
    at = [line.split()[0] for line in subprocess.run(
        ["nm", folder + "/here"], check=True, capture_output=True,
        text=True).stdout.split("\n") if line.endswith(" T inner")][0]
    with open(folder + "/h.txt", "w") as f:
        f.write("event cpu-clock period=1000\ncomm pid=10 tid=10 name=here\n"
                "mmap pid=10 tid=10 start=0x10000 len=0x10000 pgoff=0 "
                "path=/elsewhere/here id=0123456789abcdef\n"
                "sample pid=10 tid=10 cpu=0 time=1000 u=%s\n"
                % hex(0x10000 + int(at, 16) + 4))
    subprocess.run([OUT + "/mkcap", folder + "/h.txt", folder + "/h.data"],
                   check=True)
    r = run("ingest", "-q", "--no-symbols", "-o", folder + "/h.db",
            folder + "/h.data")
    push(url, folder + "/h.db")
    before = run("report", url).stdout
    os.makedirs(folder + "/fs/elsewhere")
    os.rename(folder + "/here", folder + "/fs/elsewhere/here")
    r = run("symbolize", "--json", "--symfs", folder + "/fs", url)
    after = run("report", url).stdout
    said = json.loads(r.stdout or b"{}")
    ok(said.get("unnamed_before") == 1 and said.get("unnamed") == 0 and
       b"inner" in after and b"inner" not in before,
       "names that the servers lack are found here and pushed",
       [r.stderr.decode(), said, after.decode()])
    again = json.loads(run("symbolize", "--json", "--symfs", folder + "/fs",
                           url).stdout)
    ok(again["unnamed_before"] == 0 and again["names_sent"] == 0,
       "and not a second time", [again])


TEXTS = (  # quotes, comments, escapes of TSV and SQL, ends of a text, no UTF-8
    "'; DROP TABLE f.run_local; --", "\\'); SELECT 1 INTO OUTFILE '/tmp/x' --", "\\",
    "\\N\t\n\r%s%n{x:String}$1`\"", "*/ FORMAT Null /*a\\0b\x1b[31m\x7f\u202e", "\udcff\udcfe",
    "x" * 70000)
NAMED = (("comm", "name"), ("event_type", "name"), ("image", "path"), ("symbol", "name"),
         ("symbol", "raw_name"), ("frame", "file"), ("inline_frame", "name"),
         ("capture", "path"), ("capture", "release"), ("capture", "cmdline"),
         ("loss", "what"), ("damage", "detail"))


def test_texts(s, folder, source):
    """Names, paths and labels are what they are, and never a statement."""
    whole = s.url(0, "f")
    stored = "SELECT count() FROM system.tables WHERE database = 'f'"
    tables = s.rows(stored)
    before = run("report", "--limit", "0", whole).stdout
    bad = []
    for n, text in enumerate(TEXTS):
        if not turn(n, 3):
            continue
        # a place has one name in all runs of a database
        create(s, "t%d" % n)
        url, db = s.url(0, "t%d" % n), "%s/text-%d.db" % (folder, n)
        raw = text.encode("utf-8", "surrogateescape")
        shift(source, db, "host%d" % n)
        with sqlite3.connect(db) as d:
            for table, column in NAMED:
                d.execute("UPDATE OR IGNORE %s SET %s = CAST(? AS TEXT) || %s WHERE %s"
                          " IS NOT NULL" % (table, column, column, column), (raw,))
            d.execute("UPDATE capture SET host = CAST(? AS TEXT)", (raw,))
        d.close()
        r = run("push", "-q", "--label", "l=" + text, url, db)
        if r.returncode:
            bad.append((n, r.stderr[-300:]))
            continue
        value = s.sql("SELECT hex(label_value[1]) FROM t%d.run" % n)
        if bytes.fromhex(value) != raw.decode("utf-8", "backslashreplace").encode():
            bad.append((n, "label", value[:80]))
        where = "has(label_name, 'l')"
        forget_callers(db)
        # colors are of the bytes, and a server has only text
        bad += [(n, b) for b in same(db, url, ANSWERS[3 if "\udcff" in text else 2:5], where)]
        for option in ("--comm", "--event"):
            here, there = (run("export", "--format", "folded", "-o", "-", option, text, *of)
                           for of in ([db], ["--where", where, url]))
            if (here.stdout, here.returncode == 0) != (there.stdout, there.returncode == 0):
                bad.append((n, option, here.returncode, there.returncode, there.stderr[-200:]))
    ok(not bad, "names, paths and labels of all bytes come back from the servers", bad[:6])
    ok(tables == s.rows(stored) and before == run("report", "--limit", "0", whole).stdout,
       "and are never a statement")


def create(s, database):
    push(s.url(0, database), "--create", "--cluster", "fleet", "--server",
         s.url(1, database))


def timed(test, *args):
    begun = time.monotonic()
    result = test(*args)
    print("# %s: %.1f s" % (test.__name__, time.monotonic() - begun),
          flush=True)
    return result


def main():
    if not installed():
        print("skip there: clickhouse-server is not installed")
        return
    rnd = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder, Servers(2) as s:
        create(s, "f")
        dbs = timed(test_same, s, folder)
        late = dbs[RUNS.index("overwrite-defer.data.zst")]
        for test in (
                (test_trust, s, dbs), (test_trust_of_two, s, dbs),
                (test_trust_before, s, dbs[0]),
                (test_sums, s, dbs), (test_diff, s, dbs),
                (test_page, s, dbs[0], folder), (test_choice, s, dbs),
                (test_names, s, folder), (test_texts, s, folder, dbs[2]),
                (test_uncommitted, s, dbs[2]), (test_samples_lost, s, dbs[1]),
                (test_weights, s), (test_no_weight, s, dbs[2], folder),
                (test_last, s), (test_sums_lost, s, late),
                (test_doubled, s, late), (test_two_pushers, s, dbs[-1]),
                (test_name_twice, s, dbs[0]), (test_killed, s, dbs[0]),
                (test_hostile, s, dbs[0], rnd)):
            timed(*test)
    finish()


main()

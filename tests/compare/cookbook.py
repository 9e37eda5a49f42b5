# cookbook.py - the questions of backstitch-fleet-sql(7), asked in DuckDB, ClickHouse and SQLite.
"""Runs of ten hosts are exported and pushed; the databases are those of
shipped captures, under other names of hosts and kernels. Both engines must
give the same rows to each question of the page, and at least one. Python asks
the databases themselves for the same: what it says must be what DuckDB says.
So must all sums, by run and event, by stack and verdict, of losses and of
names."""

import collections
import json
import math
import os
import re
import sqlite3
import sys

import fleet
from common import ROOT, finish, ok, query, run
from exportread import FOLDER
from stackids import StackIds

sys.path.insert(0, os.path.join(ROOT, "tests/fleet"))
import questions  # noqa: E402
import servers  # noqa: E402
from shift import shift  # noqa: E402

DAY = 86400 * 10**9
START = 1795000000 * 10**9
OLD, NEW = "7.1.9", "7.2.3"
# host, capture, kernel, label
HOSTS = [
    ("alpha", "before.data", OLD, "stable"),
    ("alpha", "after.data", NEW, "stable"),
    ("alpha", "defer-lost-clock.data.zst", None, "stable"),
    ("beta", "defer-lost-clock.data.zst", None, "stable"),
    ("beta", "ctx2-defer.data.zst", None, "stable"),
    ("gamma", "lines-gcc.data.zst", None, "canary"),
    ("gamma", "tiny-sframe.data", None, "canary"),
    ("delta", "ftrace-v7.dat", None, "canary"),
    ("delta", "ftrace-missed.dat.zst", None, "canary"),
    ("epsilon", "defer-exitexec-s.data.zst", NEW, "canary"),
    ("zeta", "overwrite-defer.data.zst", None, "canary"),
    ("eta", "dlchurn.data", None, "canary"),
    ("eta", "fp-1.data", None, "canary"),
    ("theta", "arm64-fp-leaf.data", None, "stable"),
    ("iota", "s390x-z.data", None, "stable"),
    ("kappa", "ctf-discard/trace", None, "canary"),
    ("kappa", "ftext-verbose.txt.gz", None, "canary"),
]
NONE = "00" * 16
NUMBER = re.compile(r"-?\d{1,20}(\.\d+)?(e[-+]?\d+)?$")  # a hash has 32 digits


def databases():
    """(label, path of a database) of each run."""
    known = {}
    for i, (host, name, kernel, label) in enumerate(HOSTS):
        if name not in known:
            known[name] = fleet.database(name)
        path = os.path.join(FOLDER.name, "run-%d.db" % i)
        shift(known[name], path, host, kernel, START + i * DAY)
        if kernel == OLD:
            lose_some(path)
        yield label, path


def lose_some(db):
    """Seven more records are lost, so that a bound is not what is measured."""
    con = sqlite3.connect(db)
    con.execute("""INSERT INTO loss(capture, cpu, t0, t1, n, what, counts)
        SELECT id, 0, first_ns, last_ns, 7, 'lost', 1 FROM capture""")
    con.commit()
    con.close()


def close(rows):
    """Rows as texts; numbers as one engine or the other prints them are equal."""
    def plain(v):
        if v is None or isinstance(v, str) and not NUMBER.match(v):
            return v or ""
        x = float(v)
        return repr(int(x)) if math.isfinite(x) and x == int(x) else repr(x)
    return [[plain(v) for v in r] for r in rows]


# ---- with the databases

class Sample:
    """A sample, its stacks as lists of frames, the innermost first."""
    __slots__ = ("run", "event", "weight", "verdict", "kernel", "user", "cpu",
                 "comm", "tid", "time")


Frame = collections.namedtuple("Frame", "symbol inlined path build")
Run = collections.namedtuple("Run", "host kernel label records lost unknown "
                             "seconds path")


def frames(db):
    out = collections.defaultdict(list)
    for stack, symbol, inlined, path, build in query(db, """
            SELECT stack, symbol, inlined, image, build_id FROM stack_frames
            ORDER BY stack, pos"""):
        out[stack].append(Frame(symbol, inlined, path or "", build or ""))
    return out


def load(made):
    """All samples of all databases, from the views."""
    samples, runs = [], []
    for label, db in made:
        host, kernel, records, lost, unknown, ns = query(db, """
            SELECT host, coalesce(release, ''), coalesce(records, 0),
                (SELECT coalesce(sum(n), 0) FROM loss WHERE counts),
                (SELECT count(*) FROM loss WHERE (counts AND n IS NULL)
                    OR what IN ('overwritten', 'damage')),
                last_ns - first_ns FROM capture""")[0]
        runs.append(Run(host, kernel, label, records, lost, unknown, ns, db))
        known = frames(db)
        for event, weight, verdict, k, u, cpu, comm, tid, time in query(db, """
                SELECT event, weight, verdict, kernel_stack, user_stack, cpu,
                    comm, tid, time_ns FROM samples"""):
            s = Sample()
            s.run, s.event, s.weight = runs[-1], event, weight or 0
            s.verdict, s.cpu, s.comm = verdict or "", cpu, comm or ""
            s.kernel, s.user = known.get(k, []), known.get(u, [])
            s.tid, s.time = tid, time
            samples.append(s)
    return runs, samples


def function(frame):
    """The innermost function of a frame, or its file."""
    if frame.inlined:
        return frame.inlined.split(";")[-1]
    return frame.symbol or frame.path


def functions(frame):
    """All functions of a frame, the outermost first."""
    if not frame.symbol:
        return []
    return [frame.symbol] + [x for x in (frame.inlined or "").split(";") if x]


def clocked(samples):
    return [s for s in samples if s.event.startswith("cpu-clock")]


def top(s):
    stack = s.kernel or s.user
    return function(stack[0]) if stack else None


def percent(a, b, digits=2):
    return round(100 * a / b, digits)


def ask_hosts(runs, samples):
    out = collections.defaultdict(lambda: [0] * 5)
    for r in runs:
        x = out[r.host, r.kernel]
        x[0] += 1
        x[2] += r.lost
        x[3] += r.unknown
        x[4] += not query(r.path, "SELECT complete FROM capture")[0][0]
    for s in samples:
        out[s.run.host, s.run.kernel][1] += 1
    return [list(k) + v for k, v in sorted(out.items())]


def ask_loss(runs, samples):
    out, all_of = collections.defaultdict(lambda: [0, 0]), collections.Counter()
    for r in runs:
        all_of[r.host] += r.records + r.lost
        for cpu, n in query(r.path, "SELECT cpu, n FROM loss WHERE counts"):
            x = out[r.host, -1 if cpu is None else cpu]
            x[0] += n or 0
            x[1] += n is None
    return [[h, c, a, b, percent(a, all_of[h], 4)] for (h, c), (a, b) in
            sorted(out.items(), key=lambda i: (-i[1][0], -i[1][1], i[0]))]


def ask_missing(runs, samples):
    out, asked = collections.Counter(), collections.Counter()
    for s in samples:
        if s.verdict:
            asked[s.run.host] += 1
            out[s.run.host, s.verdict] += not s.user
    return [[h, v, n, percent(n, asked[h])] for (h, v), n in
            sorted(out.items(), key=lambda i: (i[0][0], -i[1], i[0][1])) if n]


def ask_trust(runs, samples):
    out = collections.Counter()
    for r in runs:
        for kind, fix, n in query(r.path, "SELECT class, fix, samples FROM trust"):
            if kind not in ("whole", "not recorded"):
                out[r.host, kind, fix or ""] += n
    return [[*k, n] for k, n in sorted(
        out.items(), key=lambda i: (i[0][0], -i[1], i[0][1:]))]


def ask_findings(runs, samples):
    out = collections.defaultdict(lambda: [0, 0])
    for r in runs:
        for rule, loss in query(r.path, """
                SELECT f.rule, f.loss FROM findings f
                JOIN internal_rule r ON r.name = f.rule WHERE r.breaks"""):
            out[r.host, rule][0] += 1
            out[r.host, rule][1] += loss is None
    return [[*k, *n] for k, n in sorted(
        out.items(), key=lambda i: (-i[1][1], -i[1][0], i[0]))]


def ask_rate(runs, samples):
    out, seen = collections.Counter(), collections.defaultdict(set)
    for s in clocked(samples):
        if s.cpu is not None:
            out[s.run.host, s.cpu] += 1
            seen[s.run.host, s.cpu].add(s.run)
    return [[h, c, n, round(1e9 * n / sum(r.seconds for r in seen[h, c]), 1)]
            for (h, c), n in sorted(out.items())]


def ask_top(runs, samples):
    out = collections.defaultdict(lambda: [0, 0])
    for s in clocked(samples):
        if top(s) is not None:
            out[s.run.host, top(s)][0] += s.weight
            out[s.run.host, top(s)][1] += 1
    rows = sorted(([*k, *v] for k, v in out.items()),
                  key=lambda r: (r[0], -r[2], r[1]))
    return [r for i, r in enumerate(rows)
            if i < 3 or rows[i - 3][0] != r[0]]


def ask_total(runs, samples):
    out = collections.Counter()
    for s in clocked(samples):
        for f in {f for x in s.kernel + s.user for f in functions(x)}:
            out[f] += s.weight
    return [list(x) for x in sorted(out.items(), key=lambda i: (-i[1], i[0]))][:20]


def ask_slower(runs, samples):
    found = collections.defaultdict(lambda: [0, 0])
    total, missing, lost, unknown = [0, 0], [0, 0], [0, 0], 0
    side = {OLD: 0, NEW: 1}
    for r in runs:
        if r.kernel in side:
            lost[side[r.kernel]] += r.lost
            unknown += r.unknown
    for s in clocked(samples):
        i = side.get(s.run.kernel)
        if i is None:
            continue
        total[i] += 1
        missing[i] += bool(s.verdict) and not s.user
        if s.user:
            found[function(s.user[0])][i] += 1
    out = [[f, percent(a, total[0]), percent(b, total[1]),
            -100 if unknown else round(100 * (
                b / (total[1] + lost[1]) - (a + missing[0] + lost[0]) /
                (total[0] + lost[0])), 2)] for f, (a, b) in found.items()]
    return sorted(out, key=lambda r: (-r[3], -r[2], r[0]))[:20]


def ask_labels(runs, samples):
    found = collections.defaultdict(lambda: [0, 0])
    total = [0, 0]
    for s in clocked(samples):
        i = ("stable", "canary").index(s.run.label)
        total[i] += s.weight
        if top(s) is not None:
            found[top(s)][i] += s.weight
    out = [[f, percent(a, total[0]), percent(b, total[1])]
           for f, (a, b) in found.items()]
    return sorted(out, key=lambda r: (-abs(r[1] - r[2]), r[0]))[:20]


def ask_inlined(runs, samples):
    out = collections.defaultdict(lambda: [0, 0])
    for s in clocked(samples):
        frame = (s.kernel or s.user or [None])[0]
        if frame and frame.inlined:
            out[frame.path, function(frame)][0] += s.weight
            out[frame.path, function(frame)][1] += 1
    return [[*k, *v] for k, v in sorted(
        out.items(), key=lambda i: (-i[1][0], i[0]))][:20]


def ask_callers(runs, samples):
    out = collections.Counter()
    for s in clocked(samples):
        for stack in (s.kernel, s.user):
            for caller in {function(b) for a, b in zip(stack, stack[1:])
                           if a.symbol == "schedule"}:
                out[caller] += s.weight
    return [list(x) for x in sorted(out.items(), key=lambda i: (-i[1], i[0]))][:20]


def ask_ready(runs, samples):
    out = collections.defaultdict(lambda: [0, 0])
    ready = ("e1c7697a4d077319db7eb428e261ac2ab3a52fb7",
             "7f867b94a5417c715ceaaca4cc6fd910aa9eba31")
    for s in samples:
        if s.user:
            out[s.run.host][0] += 1
            out[s.run.host][1] += all(f.build in ready for f in s.user)
    return sorted(([h, n, r, percent(r, n)] for h, (n, r) in out.items()),
                  key=lambda x: (x[3], x[0]))


def ask_builds(runs, samples):
    hosts, counts = collections.defaultdict(set), collections.Counter()
    for s in samples:
        for stack in (s.kernel, s.user):
            for f in {(f.path, f.build) for f in stack if f.build}:
                hosts[f].add(s.run.host)
                counts[f] += 1
    paths = collections.Counter(path for path, _ in hosts)
    return sorted(([*f, len(h), counts[f]] for f, h in hosts.items()
                   if paths[f[0]] > 1),
                  key=lambda r: (r[0], -r[2], -r[3], r[1]))


def is_text(r):
    """Its fields are texts, which the questions do not read."""
    return query(r.path, "SELECT format = 'ftext' FROM capture")[0][0]


def waits(turns):
    """(key, begin, end, what) of each begin that is followed by an end."""
    by = collections.defaultdict(list)
    for key, time, what in turns:
        by[key].append((time, what))
    for key, events in by.items():
        events.sort(key=lambda e: e[0])
        for a, b in zip(events, events[1:]):
            if a[1] is not None and b[1] is None:
                yield key, a[0], b[0], a[1]


def ask_wakes(runs, samples):
    out = collections.defaultdict(list)
    for r in runs:
        tables = {x for (x,) in query(r.path, "SELECT name FROM sqlite_master")}
        if not {"ev_sched_sched_wakeup", "ev_sched_sched_switch"} <= tables:
            continue
        turns = query(r.path, """
            SELECT w.pid, e.time_ns, 1 FROM ev_sched_sched_wakeup w
            JOIN event e ON e.id = w.event_id WHERE w.pid > 0 UNION ALL
            SELECT w.next_pid, e.time_ns, NULL FROM ev_sched_sched_switch w
            JOIN event e ON e.id = w.event_id WHERE w.next_pid > 0""")
        out[r.host] += [b - a for _, a, b, _ in waits(turns)]
    return sorted(([h, len(x), max(x), sum(n > 1000000 for n in x),
                    round(sum(x) / len(x), 1)] for h, x in out.items() if x),
                  key=lambda r: (-r[2], r[0]))


def ask_offcpu(runs, samples):
    out = collections.defaultdict(lambda: [0, 0])
    for r in runs:
        tables = {x for (x,) in query(r.path, "SELECT name FROM sqlite_master")}
        if "ev_sched_sched_switch" not in tables or is_text(r):
            continue
        turns = [(s.tid, s.time, (s.comm, function(s.user[0])
                                  if s.user else "")) for s in samples
                 if s.run is r and s.event == "sched:sched_switch" and s.tid > 0]
        turns += query(r.path, """
            SELECT w.next_pid, e.time_ns, NULL FROM ev_sched_sched_switch w
            JOIN event e ON e.id = w.event_id WHERE w.next_pid > 0""")
        lost = query(r.path, "SELECT t0, t1 FROM loss WHERE counts")
        for _, a, b, (comm, name) in waits(turns):
            if not any((x or 0) < b and (y or 0) > a for x, y in lost):
                out[r.host, comm, name][0] += 1
                out[r.host, comm, name][1] += b - a
    return [[*k, *v] for k, v in sorted(
        out.items(), key=lambda i: (-i[1][1], i[0]))][:20]


# By the first words of the question; the columns of DuckDB that are compared.
WANT = {
    "Which hosts are there": ask_hosts,
    "Which hosts lose records": ask_loss,
    "Why are user stacks missing": ask_missing,
    "Which user stacks cannot be trusted": lambda *a: [
        [h, c, f, n] for h, c, f, n in ask_trust(*a)],
    "Which findings break": ask_findings,
    "How many samples a second": ask_rate,
    "What are the top functions": ask_top,
    "Which functions are on the stack": ask_total,
    "What got slower": ask_slower,
    "How do runs with one label": ask_labels,
    "Which inlined functions": ask_inlined,
    "Who calls a function": ask_callers,
    "How much of the fleet": ask_ready,
    "Which files run in several builds": ask_builds,
    "How long do threads": ask_wakes,
    "In which functions do threads wait": ask_offcpu,
}


# ---- all sums

FRAMES = """FROM (SELECT stack, place, pos FROM stack FINAL
        ARRAY JOIN place, arrayEnumerate(place) AS pos)
    ALL INNER JOIN (SELECT place, level, function, file FROM named)
    USING place"""
SUMS = {  # what: (SQL of both, or of ClickHouse; DuckDB's, if it is another one)
    "samples and weights by run and event": (
        """SELECT lower(hex(run)) AS id, event, sum(n) AS a, sum(weight) AS b
        FROM sample GROUP BY id, event ORDER BY id, event""", None),
    "samples and weights by stacks and verdict": (
        """SELECT lower(hex(kernel_stack)) AS k, lower(hex(user_stack)) AS u,
            verdict, sum(n) AS a, sum(weight) AS b
        FROM sample GROUP BY k, u, verdict ORDER BY k, u, verdict""", None),
    "losses": (
        """SELECT lower(hex(run)) AS id, what, cpu, counts, count(*) AS a,
            sum(n) AS b
        FROM loss GROUP BY id, what, cpu, counts
        ORDER BY id, what, cpu, counts""", None),
    "verdicts": (
        """SELECT lower(hex(run)) AS id, kind, verdict, confidence, n
        FROM verdict ORDER BY id, kind, verdict, confidence""", None),
    "functions of each frame of each stack": (
        """SELECT lower(hex(stack)) AS id, pos, level, function, file """ +
        FRAMES + " ORDER BY id, pos, level",
        """SELECT lower(hex(k.stack)) AS id, k.pos, m.level, m.function, m.file
        FROM (SELECT stack, unnest(place) AS place,
            generate_subscripts(place, 1) AS pos FROM stack) k
        JOIN name m USING (place) ORDER BY id, k.pos, m.level"""),
}


def sums_of(made):
    """The answers to SUMS, from the databases."""
    out = {what: collections.Counter() for what in SUMS}
    for _, db in made:
        ids = dict(query(db, """SELECT capture, value FROM meta
                                WHERE key = 'content'"""))
        run_id = ids[1]
        for event, k, u, verdict, n, weight in query(db, """
                SELECT s.event, lower(hex(k.hash)), known(u.id, hex(u.hash)),
                    coalesce(s.verdict, ''), count(*), sum(s.weight)
                FROM samples s LEFT JOIN stack k ON k.id = s.kernel_stack
                LEFT JOIN stack u ON u.id = s.user_stack GROUP BY 1, 2, 3, 4""",
                known=StackIds(db).known):
            for what, key in (
                    ("samples and weights by run and event", (run_id, event)),
                    ("samples and weights by stacks and verdict",
                     (k or NONE, u or NONE, verdict))):
                out[what][key + ("n",)] += n
                out[what][key + ("weight",)] += weight or 0
        for what, cpu, counts, n, lost in query(db, """
                SELECT what, coalesce(cpu, -1), counts, count(*),
                    sum(coalesce(n, -1)) FROM loss GROUP BY 1, 2, 3"""):
            out["losses"][run_id, what, cpu, counts or 0, "n"] += n
            out["losses"][run_id, what, cpu, counts or 0, "weight"] += lost
        for row in query(db, "SELECT kind, verdict, confidence, n FROM verdicts"):
            out["verdicts"][(run_id,) + row[:3] + ("n",)] += row[3]
    return {what: close(sorted(rows_of(c))) for what, c in out.items()}


def rows_of(counter):
    for key, n in counter.items():
        if key[-1] == "n":
            weight = key[:-1] + ("weight",)
            yield [*key[:-1], n] + ([counter[weight]] if weight in counter
                                    else [])


def all_sums():
    """They are asked like questions."""
    return [questions.Question(what, a, b or a) for what, (a, b) in SUMS.items()]


def check_databases(asked, answers, made):
    runs, samples = load(made)
    for begin, want in WANT.items():
        q = next((q for q in asked if q.title.startswith(begin)), None)
        if not q:
            ok(False, "no question begins with '%s'" % begin)
            continue
        rows = answers[q.title]
        if begin == "Which inlined functions":
            rows = [r[:2] + r[3:] for r in rows]  # not the source
        expect = close(want(runs, samples))
        ok(rows == expect, "SQLite agrees: " + q.title,
           [(a, b) for a, b in zip(rows, expect) if a != b][:3] +
           [len(rows), len(expect)])


# ---- with the engines

def ask_duckdb(lake, asked):
    empty = os.path.join(FOLDER.name, "empty")
    os.mkdir(empty)
    begin = questions.duckdb(lake)
    rows = fleet.node("duck.mjs", empty, stdin=json.dumps(
        begin + [q.duckdb for q in asked]))
    return {q.title: close(r) for q, r in zip(asked, rows[len(begin):])}


def ask_clickhouse(s, database, asked):
    out = {}
    for q in asked:
        text = s.sql(q.clickhouse + " FORMAT JSONCompact", database=database)
        out[q.title] = close(json.loads(text)["data"])
    return out


def push_all(s, database, made, *options):
    for label in ("canary", "stable"):
        r = run("push", "-q", "--create", *options, "--event-fields", "--label",
                "rollout=" + label, s.url(0, database),
                *[db for x, db in made if x == label])
        if r.returncode:
            raise ValueError(r.stderr.decode(errors="replace"))
    for statement in questions.clickhouse():
        s.sql(statement, database=database)


def disturb(s, database):
    """Half a run, and names of an earlier version, with other levels."""
    columns = "run, time, cpu, pid, tid, comm, event, weight, n, " \
        "kernel_stack, user_stack, verdict, user_mark, kernel_mark, day, block"
    s.sql("INSERT INTO sample (%s) SELECT toFixedString('half', 16) AS %s "
          "FROM sample LIMIT 5000" % (columns, columns), database=database)
    for level in (0, 1):
        s.sql("INSERT INTO name (place, level, levels, function, version) "
              "SELECT place, %d, 1, 'old', 1 FROM name WHERE level = 0" % level,
              database=database)


def check_clickhouse(asked, made, duckdb):
    answers = {}
    with servers.Servers(2) as s:
        push_all(s, "one", made)
        push_all(s, "two", made, "--cluster", "fleet", "--server",
                 s.url(1, "two"))
        for database, what in (("one", "one server"), ("two", "two shards")):
            for again in ("", ", with half a run and old names"):
                # sums are of all rows, halves of runs too
                answers[what + again] = ask_clickhouse(
                    s, database, [q for q in asked if not again or
                                  q.title not in SUMS])
                if not again:
                    disturb(s, database)
    first = duckdb or answers["one server"]
    for what, said in answers.items():
        for title, a in said.items():
            b = first[title]
            ok(a and a == b, "%s: %s" % (what, title),
               [x for x in zip(a, b) if x[0] != x[1]][:3] + [len(a), len(b)])


def main():
    asked = questions.asked()
    ok(len(asked) >= 20, "the page has %d questions" % len(asked))
    lake = os.path.join(FOLDER.name, "lake")
    os.mkdir(lake)
    made = list(databases())
    asked += all_sums()
    for label in ("canary", "stable"):
        fleet.export("lake/" + label, "--event-fields", "--label",
                     "rollout=" + label, *[db for x, db in made if x == label])
    duckdb = None
    if fleet.NODE and os.path.isdir(fleet.NPM + "/@duckdb/node-api"):
        duckdb = ask_duckdb(lake, asked)
        for q in asked:
            ok(duckdb[q.title], "DuckDB answers: " + q.title)
        check_databases(asked, duckdb, made)
        for what, rows in sums_of(made).items():
            if rows:
                ok(duckdb[what] == rows, "SQLite agrees: " + what,
                   [x for x in zip(duckdb[what], rows) if x[0] != x[1]][:2])
    else:
        print("skip DuckDB: npm has not installed @duckdb/node-api")
    if servers.installed():
        check_clickhouse(asked, made, duckdb)
    else:
        print("skip ClickHouse: clickhouse-server is not installed")
    finish()


if __name__ == "__main__":
    main()

# waits.py - the waits of report --off-cpu, side by side with those of path.
"""usage: waits.py [--print] [NAME...]

Both read the same switches, each in its own way: `report --off-cpu` has a wait
for each switch out that is followed by a switch in, and is certain of it if
nothing was lost in between; path has the times between two stays on a CPU, and
a stay ends where records are missing. So each wait of one is looked for in the
other, by its thread and begin: it must have the same end and state, and be
ended by the same thread with the same proof. All that differs is of a class,
and each count must be as in expect-waits.txt:

doubt    path has it, report counts it as uncertain or open
cut      path does not know its begin or its end: records of its CPU contradict
         each other there, which report does not look at
link     path's table wake says who woke, and report's proof is that this also
         ended this wait
ready    report says that it was ready all the time, path has a wake-up in it
refused  path has nothing, and says why; report has waits
sampled  report has nothing, as no wait is certain; path has waits

Two captures of one kernel are made of one: both read both, and no wait that
began in one ends in the other. And a capture whose sched_switch is made into records of
switches (who leaves, who comes, and whether it was preempted) must have the
same times, but for what only the state of sched_switch tells."""

import collections
import json
import os
import sqlite3
import sys

import common

EXPECT = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "expect-waits.txt")
PLACES = ("*.data", "*/*.data", "*/*/*.data", "*.dat", "*/*.dat", "*/*/*.dat",
          "*/*/*/*.dat", "ftrace-7.2/*.trace.txt", "ftrace-raw/*trace.txt",
          "ftrace-raw/same-default.txt", "lttng/*")
SWITCHES = """SELECT count(*) FROM event_type WHERE events > 0
AND (name LIKE '%sched_switch%' OR (name = 'switch' AND kind = 'record')
    OR name = 'offcpu-time')"""
WAIT = """SELECT w.tid, w.t0, w.t1, w.state, k.by_tid, k.proof
FROM wait w LEFT JOIN wake k ON k.id = w.wake"""
STAY = "SELECT tid, t0, t1 FROM stay"
# Without a loss. Of perf's captures an event shows that those before it are on,
# but not that records of switches are.
MADE = ("ftrace/v7/trace.dat", "ftrace/v6/trace.dat", "ftrace/stack/trace.dat",
        "arm64/ftrace/v7/trace.dat", "s390x/ftrace/v7/trace.dat")
INTERVAL = """SELECT i.tid, i.t0, i.t1, i.state, i.cpu, i.proof, k.by_tid
FROM state_interval i LEFT JOIN wake k ON k.id = i.wake
WHERE i.t0 NOT NULL AND i.t1 NOT NULL"""


def rows(db, sql):
    """The rows of a query, None where it is refused."""
    r = common.run("query", "--format", "json", db, sql)
    if r.returncode:
        return None, r.stderr.decode(errors="replace")
    return json.loads(r.stdout)["rows"], ""


def unlike_ends(wait, stays):
    """The class of a wait whose begin or end path does not have; None: it has
    both."""
    before = [s for s in stays if s["t1"] == wait["from_ns"]]
    behind = [s for s in stays if s["t0"] == wait["to_ns"]]
    return None if before and behind else "cut"


def unlike_proof(wait, other):
    mine, theirs = wait["proof"], other["proof"] or ""
    if mine in ("", "unknown") and not theirs:
        return None
    if not mine:
        return "ready"
    if mine != "unknown" and wait["waker_tid"] != (other["by_tid"] or 0):
        return "waker"
    return None if mine == theirs else "link"


def compare(db):
    count = collections.Counter()
    odd = []
    r = common.run("report", "--off-cpu", "--json", "--limit", "0", db)
    text = r.stderr.decode(errors="replace")
    path, why = rows(db, WAIT)
    if path is None:
        count["refused"] = "off-cpu" in why
        return count, [] if count["refused"] else [why]
    if r.returncode:
        count["sampled"] = "no wait is certain" in text or \
            "no return is certain" in text
        return count, [] if count["sampled"] else [text]
    report = {(w["tid"], w["from_ns"]): w for w in
              json.loads(r.stdout)["longest"]}
    path = {(w["tid"], w["t0"]): w for w in path}
    stays = collections.defaultdict(list)
    for s in rows(db, STAY)[0]:
        stays[s["tid"]].append(s)
    for key, wait in report.items():
        other = path.get(key)
        if not other or other["t1"] != wait["to_ns"]:
            kind = unlike_ends(wait, stays[key[0]]) or "end"
        elif (other["state"] or "?") != wait["state"]:
            kind = "state"
        else:
            kind = unlike_proof(wait, other)
        if kind:
            count[kind] += 1
        if kind in ("end", "state", "waker"):
            odd.append("%s: %r, path %r" % (kind, wait, other))
    count["doubt"] = len(set(path) - set(report))
    return +count, odd


def make_records(db):
    """Makes records of switches of sched_switch, in the database."""
    with sqlite3.connect(db) as c:
        point, = c.execute("SELECT id FROM event_type"
                           " WHERE name = 'sched:sched_switch'").fetchone()
        c.execute("CREATE TEMP TABLE sw AS SELECT e.id, s.prev_pid AS prev,"
                  " s.next_pid AS next, s.prev_state AS state FROM event e"
                  " JOIN ev_sched_sched_switch s ON s.event_id = e.id"
                  " WHERE e.type = ?", (point,))
        far = 1 << 32    # above all ids: each new one is free
        for table, column in [("event", "id"), ("request", "event"),
                              ("sample_extra", "event")] + [
                (t, "event_id") for t, in c.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table'"
                    " AND name GLOB 'ev_*'").fetchall()]:
            c.execute("UPDATE %s SET %s = %s * 2 + %d" %
                      (table, column, column, far))
        c.execute("UPDATE sw SET id = id * 2 + %d" % far)
        record = 1 + c.execute("SELECT max(id) FROM event_type").fetchone()[0]
        c.execute("INSERT INTO event_type(id, capture, name, kind, events)"
                  " SELECT ?, capture, 'switch', 'record', events * 2"
                  " FROM event_type WHERE id = ?", (record, point))
        c.execute("UPDATE event_type SET events = 0 WHERE id = ?", (point,))
        c.execute("INSERT INTO thread(tid) SELECT DISTINCT next FROM sw"
                  " WHERE next NOT IN (SELECT tid FROM thread)")
        c.execute("INSERT INTO event(id, type, time_ns, cpu, thread)"
                  " SELECT e.id + 1, ?, e.time_ns, e.cpu, (SELECT min(t.id)"
                  " FROM thread t WHERE t.tid = s.next)"
                  " FROM event e JOIN sw s ON s.id = e.id", (record,))
        c.execute("UPDATE event SET type = ? WHERE type = ?", (record, point))
        for name, event, value in (("out", "id", "1"), ("out", "id + 1", "0"),
                                   ("other_tid", "id", "next"),
                                   ("other_tid", "id + 1", "prev")):
            c.execute("INSERT INTO sample_extra(event, name, value)"
                      " SELECT %s, '%s', %s FROM sw" % (event, name, value))
        c.execute("INSERT INTO sample_extra(event, name, value)"
                  " SELECT id, 'preempt', 1 FROM sw WHERE state IN (0, 256)")


def check_records(name, path):
    """Times of which the records say less are those in which the state told
    that a thread slept, or was dead: off, ready or not known without it."""
    want_db, got_db = (os.path.join(common.CACHE, "waits-%s.db" % w)
                       for w in ("points", "records"))
    for db in want_db, got_db:
        common.into(db, "--no-symbols", path)
    make_records(got_db)
    want = {(i["tid"], i["t0"]): i for i in rows(want_db, INTERVAL)[0]}
    got, why = rows(got_db, INTERVAL)
    same, less, odd = 0, 0, [why] if got is None else []
    for i in got or ():
        w = want.get((i["tid"], i["t0"]))
        if i == w:
            same += 1
        elif i["proof"] == "unknown":
            less += 1
        else:
            odd.append("%r, of sched_switch %r" % (i, w))
    runs = [sum(i["state"] == "run" for i in x) for x in
            (want.values(), got or ())]
    common.ok(not odd and same > 4 * less and runs[0] == runs[1] > 0,
              "records_of_switches_tell_the_times_of_" +
              name.replace("/", "_"),
              ["%d same, %d less, runs %r" % (same, less, runs)] + odd[:5])


def check_container(name, path):
    """In a container threads outside have id 0 in records of switches, those
    inside other ids than in the wake-ups."""
    db = os.path.join(common.CACHE, "waits-container.db")
    for what, sql in (
            ("outside", "UPDATE event SET thread = (SELECT id FROM thread"
             " WHERE tid = 0) WHERE type = (SELECT max(id) FROM event_type)"
             " AND id IN (SELECT event FROM sample_extra"
             " WHERE name = 'other_tid' AND value = 0)"),
            ("inside", "UPDATE thread SET tid = tid + 1000 WHERE tid > 0")):
        common.into(db, "--no-symbols", path)
        make_records(db)
        with sqlite3.connect(db) as c:
            c.execute(sql)
        got, why = rows(db, INTERVAL)
        proofs = {w["proof"] for w in common.answer(
            "report", "--off-cpu", "--limit", "0", db)["longest"]}
        common.ok(got is None and "ids of a container" in why and
                  "proved" not in proofs,
                  "ids_of_a_container_prove_nothing_%s_of_%s" % (
                      what, name.replace("/", "_")), [why, str(proofs)])


def split(db):
    """Makes two captures of one, of the same kernel; returns the time between
    them."""
    with sqlite3.connect(db) as c:
        mid, = c.execute("SELECT (min(time_ns) + max(time_ns)) / 2"
                         " FROM event").fetchone()
        n, = c.execute("SELECT max(id) FROM event_type").fetchone()
        for table, put in (("capture", "id = 2"), ("event_type", "capture = 2")):
            c.execute("CREATE TEMP TABLE more AS SELECT * FROM %s" % table)
            c.execute("UPDATE more SET %s" % put)
            if table == "event_type":
                c.execute("UPDATE more SET id = id + ?", (n,))
            c.execute("INSERT INTO %s SELECT * FROM more" % table)
            c.execute("DROP TABLE more")
        c.execute("UPDATE capture SET together = 1")
        c.execute("UPDATE event SET type = type + ? WHERE time_ns > ?", (n, mid))
    return mid


def check_split(name, path):
    db = os.path.join(common.CACHE, "waits-split.db")
    common.into(db, "--no-symbols", path)
    whole = common.answer("report", "--off-cpu", "--limit", "0", db)
    mid = split(db)
    both = common.answer("report", "--off-cpu", "--limit", "0", db)
    within = [w for w in whole["longest"]
              if w["to_ns"] <= mid or w["from_ns"] > mid]
    count, odd = compare(db)
    common.ok(not odd and both["waits"] == len(within) < whole["waits"] and
              both["open"] == whole["open"] and
              any(w["from_ns"] > mid for w in both["longest"]),
              "both_captures_of_a_kernel_are_read_of_" + name.replace("/", "_"),
              ["%d waits, %d of each, %d uncertain, %r" % (
                  both["waits"], len(within), both["uncertain"], count)] + odd)


def main():
    show, asked = common.asked()
    want = collections.defaultdict(dict)
    with open(EXPECT, encoding="utf-8") as f:
        for line in f:
            if line.strip() and line[0] != "#":
                name, kind, n = line.split()
                want[name][kind] = int(n)
    naps = os.path.join(common.HERE, "naps.data")
    for name, path in [("naps.data", naps), *common.find(*PLACES)]:
        if asked and name not in asked or ".report" in name:
            continue
        db = os.path.join(common.CACHE, "waits.db")
        _, status, _ = common.into(db, "--no-symbols", path)
        if status not in (0, 3):
            continue
        with sqlite3.connect(db) as c:
            if not c.execute(SWITCHES).fetchone()[0]:
                continue
        count, odd = compare(db)
        if show:
            common.print_classes(name, count)
            continue
        common.known_classes(name, count, want[name])
        common.ok(not odd, name + ": nothing else differs", odd[:5])
        if name in MADE:
            check_records(name, path)
            check_split(name, path)
        if name == MADE[0]:    # it has wake-ups
            check_container(name, path)
    common.finish()


main()

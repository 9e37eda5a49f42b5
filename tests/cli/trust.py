#!/usr/bin/env python3
"""The trust of each output is that of exactly the samples that it counts.

usage: trust.py BACKSTITCH CAPTURE...
       trust.py BACKSTITCH --changed CAPTURE
For each capture the class of every sample is read once, without the sums that
the program adds up. Filters and sums are Python's own. Each filter asks 'report --json', and in turn
one of the other outputs, whose sentence must be the same. Without $LONG, a quarter of
the captures is looked at, another one for the next commit, and one of nineteen filters of
each capture is asked, others for the next capture. --changed: in a
database in which one sample, one stack or one sum is another, the sentence is
another, too, and the comparison with what the samples were finds it.
"""
import collections
import fnmatch
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

B = sys.argv[1]
Row = collections.namedtuple("Row", "id type event comm pid tid cpu time cls")
tried = collections.Counter()
STEP, PARTS = (1, 1) if os.environ.get("LONG") else (19, 4)
TURN = int(os.environ.get("SHARE_OF", "0"))
CLASS_OF_EACH = """
    WITH unwound(stack) AS MATERIALIZED (
        SELECT DISTINCT stack FROM raw_chain WHERE ended IS NOT NULL
    ), outermost(id) AS MATERIALIZED (
        SELECT id FROM word WHERE kind = 'unwind' AND name = 'outermost'
    ), inferred(stack) AS MATERIALIZED (
        -- with a caller that was not recorded
        SELECT p.stack FROM stack_path p
        JOIN frame f ON f.id = p.frame AND f.flags & 1 WHERE p.pos = 1
    ), switching(stack) AS MATERIALIZED (
        SELECT DISTINCT p.stack FROM internal_end d
        JOIN word w ON w.kind = 'start' AND w.id = d.start
            AND w.name = 'function that goes to another stack'
        JOIN stack_path p ON p.frame = d.frame
    ), kept(class, type, mark, judged, frames, image) AS MATERIALIZED (
        SELECT class, type, mark, judged, frames, image FROM internal_trust_class
    )
    SELECT e.id AS event_id, c.class
    FROM event e
    JOIN event_type t ON t.id = e.type AND t.kind = 'sample'
    LEFT JOIN request q ON q.event = e.id
    LEFT JOIN raw_chain k ON k.id = e.kraw
    LEFT JOIN raw_chain u ON u.id = coalesce(q.uraw, e.uraw)
    LEFT JOIN stack a ON a.id = k.stack
    LEFT JOIN stack b ON b.id = u.stack
    LEFT JOIN internal_judged j ON j.stack = u.stack
    LEFT JOIN word w ON w.kind = 'judged' AND w.id = j.class
    JOIN kept c ON c.type = e.type
        AND c.mark IS CASE WHEN q.event IS NOT NULL AND u.stack IS NULL
            THEN -q.verdict WHEN q.flags & 2 THEN 2
            WHEN u.ended > (SELECT id FROM outermost)
            THEN 100 + u.ended END
        AND c.judged IS CASE WHEN u.stack IS NOT NULL
            THEN coalesce(w.name, 'whole') END
        AND c.image IS j.image
        AND c.frames IS CASE
            WHEN u.stack IS NULL OR u.stack IN (SELECT stack FROM unwound)
            THEN NULL
            WHEN b.depth - (b.id IN (SELECT stack FROM inferred))
                + coalesce(a.depth, 0) = CASE WHEN t.defer THEN 127 ELSE
                coalesce((SELECT value FROM meta m WHERE m.capture = t.capture
                AND m.key = 'max_stack'), 127) END THEN 127
            WHEN b.depth - (b.id IN (SELECT stack FROM inferred)) = 8
            THEN 8
            -- a dump would end at another stack, or near the innermost frame
            WHEN EXISTS (SELECT 1 FROM switching z WHERE z.stack = b.id)
            THEN 1
            WHEN w.name IN ('one frame', 'fabricated (no frame pointers)',
                'caller missing', 'caller missing (further out)',
                'ends early (no frame pointers)', 'ends early (function)')
            AND EXISTS (
                SELECT 1 FROM frame l JOIN image m ON m.id = l.image
                JOIN word x ON x.kind = 'image' AND x.id = m.kind
                LEFT JOIN internal_end d ON d.frame = l.id
                LEFT JOIN word o ON o.kind = 'judged' AND o.id = d.open
                LEFT JOIN word y ON y.kind = 'start' AND y.id = d.start
                WHERE l.id = b.frame
                AND (x.name = 'anon' OR o.name = 'not judged (no table)'
                    OR y.name = 'end of a stack dump'))
            THEN 1 END"""
bad = []
name = [""]


def wrong(text):
    bad.append("%s: %s" % (name[0], text))


def run(*args):
    r = subprocess.run([B, *args], capture_output=True, stdin=subprocess.DEVNULL)
    return r.returncode, r.stdout.decode("utf-8", "replace"), r.stderr.decode()


def load(path):
    db = sqlite3.connect(path)
    db.text_factory = lambda b: b.decode("utf-8", "replace")
    rows = [Row(*r) for r in db.execute("""
        WITH sample_trust AS (%s)
        SELECT s.event_id, e.type, s.event, s.comm, s.pid, s.tid, s.cpu,
            s.time_ns, t.class
        FROM samples s JOIN event e ON e.id = s.event_id
        LEFT JOIN sample_trust t USING(event_id)""" % CLASS_OF_EACH)]
    sums = collections.Counter()
    share = collections.Counter()
    perf = {r[0] for r in db.execute("SELECT id FROM capture WHERE format = "
                                     "'perf' OR version LIKE 'perf%'")}
    for capture, event, cls, n, part, fix in db.execute("SELECT * FROM trust"):
        sums[event, cls] += n
        share[capture, event] += part
        if capture not in perf and "perf" in (fix or ""):
            wrong("%s: advice for another recorder: %s" % (path, fix))
    if any(abs(s - 100) > 1e-6 for s in share.values()):
        wrong("%s: shares are not 100 %%: %s" % (path, share))
    mine = collections.Counter((r.event, r.cls) for r in rows if r.cls)
    if sums != mine:
        wrong("%s: view trust is not the sum of sample_trust" % path)
    span = db.execute("SELECT coalesce(min(first_ns), 0), "
                      "coalesce(max(last_ns), 0) FROM capture").fetchone()
    db.close()
    return rows, span


def commonest(rows, key, n):
    c = collections.Counter(key(r) for r in rows if key(r) is not None)
    return [v for v, _ in sorted(c.items(), key=lambda i: (-i[1], str(i[0])))
            ][:n]


def seconds(ns):
    return "%d.%09d" % (ns // 10**9, ns % 10**9)


def filters(rows, span):
    """Twenty filters: [options, which samples]."""
    comms = commonest(rows, lambda r: r.comm, 2)
    pids = commonest(rows, lambda r: r.pid if r.pid and r.pid > 0 else None, 2)
    tids = commonest(rows, lambda r: r.tid if r.tid and r.tid > 0 else None, 2)
    cpus = commonest(rows, lambda r: r.cpu, 2)
    events = commonest(rows, lambda r: r.event, 2)
    lo, hi = span
    part = [lo + (hi - lo) * p // 100 for p in (25, 60)]
    plain = [c for c in comms if not set(c) & set(",*?[")]
    named = [e for e in events if not set(e) & set(",*?[{/")]
    one = {}
    if plain:
        one["comm"] = (["--comm", plain[0]], lambda r: r.comm == plain[0])
        begin = plain[0][0] + "*"
        one["wild"] = (["--comm", begin],
                       lambda r: fnmatch.fnmatchcase(r.comm or "", begin))
        one["comms"] = (["--comm", ",".join(plain)],
                        lambda r: r.comm in plain)
        one["last"] = (["--comm", plain[-1]], lambda r: r.comm == plain[-1])
    if pids:
        one["pid"] = (["--pid", str(pids[0])], lambda r: r.pid == pids[0])
        one["pids"] = (["--pid", ",".join(map(str, pids))],
                       lambda r: r.pid in pids)
    if tids:
        one["tid"] = (["--tid", str(tids[0])], lambda r: r.tid == tids[0])
        one["other"] = (["--tid", str(tids[-1])], lambda r: r.tid == tids[-1])
    if cpus:
        one["cpu"] = (["-C", str(cpus[0])], lambda r: r.cpu == cpus[0])
        one["cpus"] = (["-C", "0-3"], lambda r: r.cpu in (0, 1, 2, 3))
    if named:
        one["event"] = (["--event", named[0]], lambda r: r.event == named[0])
        one["rare"] = (["--event", named[-1]], lambda r: r.event == named[-1])
        one["all"] = (["--event", "*"], lambda r: True)
    if hi > lo:
        one["share"] = (["--time", "25%-60%"], lambda r: r.time is not None and
                        part[0] <= r.time <= part[1])
        one["from"] = (["--time", seconds(part[0])], lambda r:
                       r.time is not None and r.time >= part[0])
        one["to"] = (["--time", "," + seconds(part[1])], lambda r:
                     r.time is not None and r.time < part[1] + 1000)
    both = [("comm", "cpu"), ("event", "share"), ("pid", "from")]
    for a, b in both:
        if a in one and b in one:
            f, g = one[a], one[b]
            one[a + b] = (f[0] + g[0],
                          lambda r, f=f, g=g: f[1](r) and g[1](r))
    return [([], lambda r: True)] + list(one.values())


def shares(counts):
    """The numbers that the sentence must have."""
    whole = sum(n for c, n in counts.items() if c != "not recorded")
    if not whole:
        return []
    out = []
    for c, n in counts.most_common():
        if c != "not recorded" and n < whole and len(out) < 3:
            s = "%d.%02d" % divmod((20000 * n + whole) // (2 * whole), 100)
            out.append("<0.01" if s == "0.00" else ">99.99"
                       if s == "100.00" else s)
    return out


def flat(text):
    text = re.sub(r'<span class="option">([^<]*)</span>', r"\1", text)
    for a, b in (("&gt;", ">"), ("&lt;", "<"), ("&#39;", "'")):
        text = text.replace(a, b)
    return " ".join(text.split())


def judge(what, counts, said):
    """Compares what a JSON answer says with what the samples are."""
    got = {c["class"]: c["samples"] for c in said["user_stacks_by_class"]}
    tried[what.split()[0]] += 1
    if got != dict(counts):
        wrong("%s: %s, not %s" % (what, got, dict(counts)))
    for s in shares(counts):
        if s + " %" not in said["user_stacks"]:
            wrong("%s: no %s in %s" % (what, s, said["user_stacks"]))


def count(rows):
    return collections.Counter(r.cls for r in rows if r.cls)


def ask_page(db, options, rows, sentence, event, work):
    page = os.path.join(work, "page")
    status, _, err = run("report", "--html", "--no-source", "-o", page,
                         *options, db)
    if status not in (0, 3):
        return err
    with open(page, errors="replace") as f:
        text = f.read()
    meta = json.loads(re.search(r'id="meta"[^>]*>(.*?)</script>', text,
                                re.S).group(1).replace("<\\/", "</"))
    for e, trust in zip(meta["events"], meta["trust"]):
        tried["page's event"] += 1
        if e[0] == event and trust != sentence:
            wrong("page %s %s: %s: %s" % (db, options, event, trust))
        for s in shares(count(r for r in rows if r.event == e[0])):
            if s + " %" not in trust:
                wrong("page %s: %s: no %s in %s" % (options, e[0], s,
                                                         trust))
    return ""


def ask_waits(db, rows, options):
    """The waits by samples of sched_switch: each is one sample."""
    status, out, _ = run("report", "--off-cpu", "--json", "--limit", "0",
                         *options, db)
    if status not in (0, 3):
        return
    said = json.loads(out)
    of = {r.id: r for r in rows}
    waits = [of.get(w["event_id"]) for w in said["longest"]]
    if None in waits:
        return  # by records, whose stack is another sample's
    judge("off-cpu %s %s" % (db, options), count(waits), said)
    tried["wait"] += len(waits)
    for args in (["report", "--off-cpu"], ["flame", "--off-cpu"]):
        _, out, err = run(*args, *options, db)
        if said["waits"] and flat(said["user_stacks"]) not in flat(out):
            wrong("%s %s %s: %s" % (args, options, db, err))


def ask_wall(db, options, rows):
    """Samples of the clock, and waits as the table of waits has them."""
    status, out, _ = run("report", "--wall", "--json", *options, db)
    if status not in (0, 3):
        return
    wall = json.loads(out)
    off = json.loads(run("report", "--off-cpu", "--json", *options, db)[1])
    want = count(r for r in rows if r.event == wall["event"].split(" and ")[0])
    for c in off["user_stacks_by_class"]:
        want[c["class"]] += c["samples"]
    judge("wall %s %s" % (db, options), want, wall)
    tried["wall"] += 1


def ask_all(db, rows, n):
    """Screens of the whole database say one thing; without $LONG one screen of
    each capture, of the next capture another."""
    said = json.loads(run("check", "--json", db)[1])
    judge("check " + db, count(rows), said)
    screens = (["info", "--json"], ["check"], ["info"])
    for screen in screens if STEP == 1 else [screens[n % 3]]:
        text = run(*screen, db)[1]
        tried[" ".join(screen)] += 1
        if (json.loads(text)["user_stacks"] != said["user_stacks"]
                if "--json" in screen
                else flat(said["user_stacks"]) not in flat(text)):
            wrong("%s %s does not say %s" % (" ".join(screen), db,
                                             said["user_stacks"]))


def ask(db, turn, options, keep, rows, work):
    mine = [r for r in rows if keep(r)]
    status, out, err = run("report", "--json", "--limit", "1", *options, db)
    if status not in (0, 3):
        if mine and "weight 0" not in err and "weights sum" not in err:
            wrong("%s %s: %s" % (db, options, err))
        return
    said = json.loads(out)
    shown = [r for r in mine if said["event"] in (r.event, "several, added up")]
    judge("report %s %s" % (db, options), count(shown), said)
    if said["samples"] != len(shown):
        wrong("%s %s: %d samples, not %d" % (db, options, said["samples"],
                                                  len(shown)))
    which = ["report", "", "flame", "", "annotate", "", "check", "", "page",
             ""][turn % 10]
    sentence = said["user_stacks"]
    if which == "check":
        status, out, err = run("check", "--json", *options, db)
        judge("check %s %s" % (db, options), count(mine), json.loads(out))
        return
    if which == "page":
        ask_page(db, options, mine, sentence, said["event"], work)
        return
    if not which:
        return
    status, out, err = run(which, *options, db)
    if status in (0, 3):
        tried[which] += 1
        if flat(sentence) not in flat(out):
            wrong("%s %s %s does not say %s" % (which, options, db,
                                                     sentence))


# One sample of the commonest class: its user half is lost; or its stack is of
# one frame. One sum that the outputs of a whole database read.
COMMONEST = """SELECT judged FROM internal_user_trust WHERE mark IS NULL
    ORDER BY n DESC LIMIT 1"""
ONE = """SELECT %s FROM event e JOIN request q ON q.event = e.id
    JOIN raw_chain u ON u.id = q.uraw JOIN comm c ON c.id = e.comm
    JOIN internal_judged j ON j.stack = u.stack
    JOIN word w ON w.kind = 'judged' AND w.id = j.class AND w.name = (%s)
    WHERE c.name = ?1 AND NOT q.flags & 2 AND u.ended IS NULL LIMIT 1"""
CHANGES = {
    "sample": """UPDATE request SET uraw = NULL, verdict = (SELECT id FROM word
        WHERE kind = 'request' AND name = 'chain_lost')
        WHERE event = (%s)""" % (ONE % ("e.id", COMMONEST)),
    "stack": """UPDATE internal_judged SET class = (SELECT id FROM word
        WHERE kind = 'judged' AND name = 'one frame')
        WHERE stack = (%s)""" % (ONE % ("u.stack", COMMONEST)),
    "sum": """UPDATE internal_user_trust SET n = n * 2
        WHERE judged = (%s) AND mark IS NULL AND ?1 = ?1""" % COMMONEST}


def ask_changed(what, db, comm):
    """Returns whether the comparison finds it, and the sentence is another."""
    changed = db + ".changed"
    shutil.copy(db, changed)
    with sqlite3.connect(changed) as d:
        done = d.execute(CHANGES[what], [comm]).rowcount
    d.close()
    of = [] if what == "sum" else ["--comm", comm]
    command = ["check" if what == "sum" else "report", "--json", *of]
    was, said = (json.loads(run(*command, x)[1]) for x in (db, changed))
    want = count(r for r in load(db)[0] if what == "sum" or r.comm == comm)
    before = len(bad)
    judge(what, want, was)
    right = len(bad) == before
    judge(what, want, said)
    found = len(bad) > before
    print("# %s: %s\n#   was: %s" % (what, said["user_stacks"],
                                     was["user_stacks"]))
    del bad[before:]
    ok = done == 1 and right and found
    return ok and said["user_stacks"] != was["user_stacks"]


def main_changed(capture):
    with tempfile.TemporaryDirectory() as work:
        db = os.path.join(work, "x.db")
        run("ingest", "-q", "-f", "--no-symbols", "-o", db, capture)
        comm, = commonest(load(db)[0], lambda r: r.comm, 1)
        for what in CHANGES:
            print("%s one_%s_more_or_less_is_another_sentence" %
                  ("ok" if ask_changed(what, db, comm) else "not ok", what))


def main():
    turn = captures = 0
    with tempfile.TemporaryDirectory() as work:
        for i, capture in enumerate(sorted(sys.argv[2:])):
            # no others have both a clock and waits
            if i % PARTS != TURN % PARTS and "/offcpu-" not in capture:
                continue
            db = os.path.join(work, "x.db")
            run("ingest", "-q", "-f", "--no-symbols", "--fields", "sched:*,*",
                "-o", db, capture)
            if not os.path.exists(db):
                continue
            captures += 1
            name[0] = capture
            rows, span = load(db)
            ask_all(db, rows, captures)
            walls = run("report", "--wall", db)[0] in (0, 3)
            if walls:
                ask_wall(db, [], rows)
            those = filters(rows, span)
            for options, keep in those[captures % STEP::STEP]:
                ask(db, turn, options, keep, rows, work)
                turn += 1
                if walls:
                    ask_wall(db, options, [r for r in rows if keep(r)])
            for options, keep in those[:2 if STEP == 1 else 1]:
                ask_waits(db, rows, options)
            turn += 1
            os.unlink(db)
    for b in bad[:20]:
        print("# " + b)
    print("# %d captures, %d filters; %s" % (captures, turn, ", ".join(
        "%d of %s" % (n, w) for w, n in sorted(tried.items()))))
    print("%s every_sentence_is_of_the_samples_that_are_counted" %
          ("not ok" if bad else "ok"))
    print("%s most_captures_were_looked_at" % ("ok" if captures * PARTS >= 55
                                              else "not ok"))
    print("%s each_output_was_asked" % ("ok" if all(
        tried[w] for w in ("report", "flame", "annotate", "check", "off-cpu",
                           "wall", "page's event", "info", "info --json"))
                                       else "not ok"))


if sys.argv[2] == "--changed":
    main_changed(sys.argv[3])
else:
    main()

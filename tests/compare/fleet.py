# fleet.py - the tables of a fleet against the database they are of, as three readers of Parquet see them.
"""Runs of all tracers are exported. parquetread.py, which knows the format's
documents and nothing of ours, checks the files byte by byte and gives the rows;
these are compared with what the views of backstitch-schema(5) say: every
sample, stack, name, loss, verdict and finding. DuckDB and hyparquet must see
the same rows, if npm has installed them, and give the same sums as SQLite. Without LONG
it is some of the runs, and a third of the others, in turn."""

import collections
import glob
import json
import os
import shutil
import sqlite3

import parquetread
from common import (HERE, OUT, ROOT, bare, differences, finish, first, must,
                    ok, output, query, run, share)
from exportread import FOLDER
from stackids import StackIds

NPM = os.path.join(OUT, "npm", "node_modules")
NODE = shutil.which("node")
RUNS = [  # deferred, frame pointers, dwarf, arm64, s390x, loss, inlined, jit
    "defer-exitexec-s.data.zst", "ctx2-defer.data.zst",
    "defer-lost-clock.data.zst", "fp-1.data", "hits-mixed.data.zst",
    "arm64-fp-leaf.data", "s390x-z.data", "lines-gcc.data.zst",
    "group.data", "dlchurn.data", "jit-reused.data.zst", "overwrite-defer.data.zst",
    "ftrace-v7.dat", "ftrace-ustack-both.dat", "ftrace-missed.dat.zst",
    "ftrace-procmap.dat", "ftext-verbose.txt.gz", "ctf-discard/trace"]
# in several databases at once too
SEVERAL = ["fp-1.data", "ctx2-defer.data.zst", "ftrace-v7.dat", "ctf-discard/trace"]
TABLES = ["run", "event", "sample", "stack", "name", "loss", "verdict",
          "trust", "finding", "field"]
NONE = bytes(16)


def capture(name):
    return first(os.path.join(HERE, name), os.path.join(HERE, bare(name)))


def database(name):
    db = os.path.join(FOLDER.name, name.replace("/", "-") + ".db")
    must("ingest", "-q", "-f", "-o", db, "--no-cache", "--fields", "all",
         "--symfs", HERE + "/symfs", "--kallsyms",
         HERE + "/defer-lost-clock.kallsyms", capture(name), allowed=(0, 3))
    return db


def export(name, *args):
    folder = os.path.join(FOLDER.name, name)
    shutil.rmtree(folder, ignore_errors=True)
    must("export", "--format", "parquet", "-o", folder, *args)
    return folder


def rows(folder, table):
    f = parquetread.read("%s/%s.parquet" % (folder, table))
    columns = [f.data[c.name] for c in f.columns]
    return [dict(zip(f.data, r)) for r in zip(*columns)]


def same(name, got, want):
    """Compares two lists as bags; says how they differ."""
    key = json.dumps
    a = collections.Counter(key(list(x)) for x in got)
    b = collections.Counter(key(list(x)) for x in want)
    ok(a == b, name, differences(a, b))


def text(v):
    return v if isinstance(v, str) else "" if v is None else str(v)


def less(v, n=-1):
    return n if v is None else v


# ---- with the database

def check_samples(name, db, got, boot, ids):
    want = query(db, """
        SELECT s.time_ns, s.cpu, s.pid, s.tid, s.comm, s.event, s.weight,
            hex(k.hash), u.id, hex(u.hash), s.verdict
        FROM samples s LEFT JOIN stack k ON k.id = s.kernel_stack
        LEFT JOIN stack u ON u.id = s.user_stack ORDER BY s.event_id""")
    want = [[0 if t is None else t + boot, less(cpu), less(pid), less(tid),
             text(comm), text(event), less(weight, 0),
             k.lower() or NONE.hex(), ids.known(stack, u), text(verdict)]
            for t, cpu, pid, tid, comm, event, weight, k, stack, u, verdict
            in want]
    got = [[r["time"], r["cpu"], r["pid"], r["tid"], r["comm"], r["event"],
            r["weight"], r["kernel_stack"].hex(), r["user_stack"].hex(),
            r["verdict"]] for r in got]
    differ = [(g, w) for g, w in zip(got, want) if g != w]
    ok(got == want, "%s: %d samples are those of the database, in its order"
       % (name, len(want)), ["%d, not %d" % (len(got), len(want)), differ[:2]])


def check_marks(name, db, got, ids):
    """Sums by stacks and marks, as ingest added them up."""
    words = dict(query(db, "SELECT id, name FROM word WHERE kind = 'unwind'"))
    verdicts = dict(query(db, "SELECT id, name FROM word WHERE kind = 'request'"))
    want = collections.Counter()
    for event, comm, k, user, u, mark, kmark, weight, n, bogus in query(db, """
            SELECT t.name, c.name, hex(k.hash), u.id, hex(u.hash), g.mark,
                g.kernel_mark, g.weight, g.n, b.bogus AND EXISTS (
                    SELECT 1 FROM raw_chain r
                    WHERE r.stack = g.user AND r.ended IS NULL)
            FROM sample_group g JOIN event_type t ON t.id = g.type
            LEFT JOIN comm c ON c.id = g.comm
            LEFT JOIN stack k ON k.id = g.kernel
            LEFT JOIN stack u ON u.id = g.user
            LEFT JOIN internal_stack_check b ON b.stack = g.user"""):
        word = ("fabricated" if bogus and not mark else
                "" if not mark else "after exec" if mark == 2 else
                "missing: " + verdicts[-mark] if mark < 0 else words[mark - 100])
        key = (event, text(comm) or "[no name]", k.lower() or NONE.hex(),
               ids.known(user, u), word, words[kmark - 100] if kmark else "")
        want[key + ("n",)] += n
        want[key + ("weight",)] += weight or 0
    have = collections.Counter()
    for r in got:
        word = r["user_mark"]
        if r["verdict"] and r["user_stack"] == NONE:
            word = "missing: " + r["verdict"]
        key = (r["event"], r["comm"], r["kernel_stack"].hex(),
               r["user_stack"].hex(), word, r["kernel_mark"])
        have[key + ("n",)] += r["n"]
        have[key + ("weight",)] += r["weight"]
    ok(+have == +want, name + ": sums by stack and mark are those of ingest",
       differences(have, want))


def check_classes(name, db, got):
    """Added up, the classes of the samples are view trust."""
    sums = {}
    for r in got:
        if r["class"] != "none":
            key = r["event"], r["class"]
            sums[key] = sums.get(key, 0) + r["n"]
    same(name + ": classes of samples", sorted((*k, n) for k, n in sums.items()),
         query(db, """SELECT event, class, sum(samples) FROM trust
                      GROUP BY 1, 2 ORDER BY 1, 2"""))


def check_stacks(name, db, stacks, names, ids):
    """Every frame of every stack, and its functions."""
    named = {(r["place"], r["level"]): r for r in names}
    ok(len(named) == len(names), name + ": each name is there once")
    want = {}
    for (h, stack, pos, symbol, image, off, vaddr, build, kind, flags,
         inlined) in query(db, """
            SELECT hex(s.hash), f.stack, f.pos, f.symbol, f.image, f.off, f.vaddr,
                f.build_id, f.kind, f.flags, f.inlined
            FROM stack_frames f JOIN stack s ON s.id = f.stack
            WHERE s.hash NOT NULL ORDER BY f.stack, f.pos"""):
        one = want.setdefault(h.lower(), {}).setdefault(stack, [])
        one.append([text(build), text(image), text(kind), int(off, 16),
                    int(vaddr or "0", 16), flags or 0, text(symbol), text(inlined)])
    bad, seen = [], set()
    for r in stacks:
        frames = [list(x) + [""] * 2 for x in zip(
            r["build_id"], r["path"], r["kind"], r["offset"], r["vaddr"],
            r["flags"])]
        for f, place in zip(frames, r["place"]):
            row = named.get((place, 0))
            if row:
                f[6] = row["function"]
                f[7] = ";".join(named[place, i]["function"]
                                for i in range(1, row["levels"] + 1))
        known = r["stack"].hex()
        seen.add(known)
        known, bogus = ids.plain.get(known, (known, [0] * len(frames)))
        if frames not in want.get(known, {}).values() or r["bogus"] != bogus:
            bad.append((known, frames[:2], bogus, r["bogus"],
                        list(want.get(known, {}).values())[:1]))
    every = {ids.known(stack, h) for h, of in want.items() for stack in of}
    ok(not bad and len(stacks) == len(seen) and seen == every,
       "%s: %d stacks and %d names are those of the database"
       % (name, len(want), len(names)), bad[:1])


def check_small(name, db, got, boot):
    r = got["run"][0]
    want = query(db, """SELECT host, release, arch, cmdline, format, version,
        clock, records, complete, note FROM capture""")[0]
    have = [r[k] for k in ("host", "kernel", "machine", "command", "format",
                           "recorder", "clock", "records", "complete", "note")]
    want = [want[0] or "unknown"] + [text(v) for v in want[1:7]] + \
        [less(v, 0) for v in want[7:9]] + [text(want[9])]
    ok(have == want, name + ": the run is the capture", [have, want])
    lost = query(db, """SELECT coalesce(sum(n) FILTER (WHERE counts), 0),
        count(*) FILTER (WHERE (counts AND n IS NULL)
            OR what IN ('overwritten', 'damage')) FROM loss""")[0]
    ok((r["lost"], r["lost_unknown"]) == lost and
       r["kept"] == r["rows"] == len(got["sample"]) == r["samples"],
       name + ": the run knows its samples and losses")
    same(name + ": losses", [list(x.values())[1:] for x in got["loss"]], [
        [text(w), c or 0, less(cpu), text(e), 0 if a is None else a + boot,
         0 if b is None else b + boot, less(n)] for w, c, cpu, e, a, b, n in
        query(db, """SELECT l.what, l.counts, l.cpu, t.name, l.t0, l.t1, l.n
            FROM loss l LEFT JOIN event_type t ON t.id = l.type""")])
    same(name + ": verdicts", [list(x.values())[1:] for x in got["verdict"]],
         query(db, "SELECT * FROM verdicts"))
    same(name + ": trust", [list(x.values())[1:] for x in got["trust"]],
         query(db, """SELECT event, class, samples, coalesce(fix, '')
                      FROM trust"""))
    same(name + ": findings",
         [[x["rule"], x["explained"], x["time"], x["since"], x["cpu"], x["pid"],
           x["tid"], x["comm"], x["n"]] for x in got["finding"]],
         [[a, int(b is not None), 0 if t is None else t + boot,
           0 if s is None else s + boot, less(c), less(p), less(d), text(m), n or 0]
          for a, b, t, s, c, p, d, m, n in query(db, """
            SELECT rule, loss, time_ns, since_ns, cpu, pid, tid, comm, n
            FROM findings""")])
    same(name + ": events", [[x["event"], x["samples"], x["weight"]]
                             for x in got["event"]],
         query(db, """SELECT name, sum(events), coalesce(sum(weight), 0)
            FROM event_type WHERE kind = 'sample' GROUP BY 1"""))


def check_fields(name, db, got):
    """The number of values of each column of the ev_ tables."""
    want = collections.Counter()
    for event, table in query(db, """SELECT name, fields FROM event_type
                                     WHERE kind = 'sample' AND fields NOT NULL
                                     GROUP BY fields"""):
        for (column,) in query(db, "SELECT name FROM pragma_table_info(?)", table):
            if column != "event_id" and not column.endswith("_label"):
                want[event] += 1
    have = collections.defaultdict(set)
    for r in got:
        have[r["event"]].add(r["field"])
    ok(set(have) <= set(want) and (not want or have), name + ": fields of %d events"
       % len(have), [set(have) - set(want), want])


# ---- with other readers

def node(script, *args, stdin=None):
    said = output(NODE, os.path.join(ROOT, "tests/compare", script), NPM,
                  *args, input=stdin)
    return [json.loads(line) for line in said.splitlines()]


def plain(v):
    return (v.hex() if isinstance(v, bytes) else
            [plain(x) for x in v] if isinstance(v, list) else str(v))


SUMS = {  # the same question to the database and to the tables
    "samples and weights by event": (
        """SELECT event, count(*), sum(weight) FROM samples GROUP BY 1""",
        """SELECT event, sum(n), sum(weight) FROM sample GROUP BY 1"""),
    "verdicts by thread": (
        """SELECT pid, tid, comm, verdict, count(*) FROM samples
           WHERE verdict NOT NULL GROUP BY 1, 2, 3, 4""",
        """SELECT pid, tid, comm, verdict, sum(n) FROM sample
           WHERE verdict <> '' GROUP BY 1, 2, 3, 4"""),
    "weights by stack": (
        """SELECT lower(hex(k.hash)), known(u.id, hex(u.hash)), sum(weight)
           FROM samples s JOIN stack k ON k.id = s.kernel_stack
           JOIN stack u ON u.id = s.user_stack GROUP BY 1, 2""",
        """SELECT lower(hex(kernel_stack)), lower(hex(user_stack)), sum(weight)
           FROM sample WHERE kernel_stack <> '%s'::BLOB
           AND user_stack <> '%s'::BLOB GROUP BY 1, 2"""
        % (("\\x00" * 16,) * 2)),
    "samples by function, innermost user frame": (
        """SELECT f.symbol, count(*) FROM samples s JOIN stack_frames f
           ON f.stack = s.user_stack AND f.pos = 0
           WHERE f.symbol NOT NULL GROUP BY 1""",
        """SELECT m.function, sum(s.n) FROM sample s
           JOIN stack k ON k.stack = s.user_stack
           JOIN name m ON m.place = k.place[1] AND m.level = 0 GROUP BY 1"""),
    "records lost by CPU": (
        """SELECT coalesce(cpu, -1), what, count(*), coalesce(sum(n), 0)
           FROM loss WHERE counts GROUP BY 1, 2""",
        """SELECT cpu, what, count(*), coalesce(sum(n) FILTER (n >= 0), 0)
           FROM loss WHERE counts = 1 GROUP BY 1, 2"""),
    "samples of one CPU after the first tenth": (
        """SELECT count(*), max(time_ns) - min(time_ns) FROM samples
           WHERE cpu = 0 AND time_ns > (SELECT min(time_ns)
               + (max(time_ns) - min(time_ns)) / 10 FROM samples
               WHERE time_ns NOT NULL)""",
        """SELECT count(*), max(time) - min(time) FROM sample
           WHERE cpu = 0 AND time <> 0 AND time > (SELECT min(time)
               + (max(time) - min(time)) // 10 FROM sample
               WHERE time <> 0)"""),
}


def check_engines(i, name, db, folder, got, ids):
    """Of the i-th run: by one engine in turn, or by both with LONG."""
    both = os.environ.get("LONG")
    files = sorted(glob.glob(folder + "/*.parquet"))
    tables = [os.path.basename(f)[:-len(".parquet")] for f in files]
    want = [[[plain(v) for v in r.values()] for r in got[t]] for t in tables]
    if os.path.isdir(NPM + "/hyparquet-compressors") and (both or i % 2):
        have = node("hypar.mjs", *files)
        ok(have == want, name + ": hyparquet reads the same rows",
           [t for t, h, w in zip(tables, have, want) if h != w])
    if not os.path.isdir(NPM + "/@duckdb/node-api") or not (
            both or i % 2 == 0):
        return
    have = node("duck.mjs", folder, stdin=json.dumps(
        ["SELECT * FROM %s" % t for t in tables] + [q for _, q in SUMS.values()]))
    ok(have[:len(tables)] == want, name + ": DuckDB reads the same rows",
       [t for t, h, w in zip(tables, have, want) if h != w])
    for (what, (ask, _)), answer in zip(SUMS.items(), have[len(tables):]):
        key = lambda r: json.dumps(r)
        b = sorted(([None if v is None else str(v) for v in r]
                    for r in query(db, ask, known=ids.known)), key=key)
        ok(sorted(answer, key=key) == b, "%s: DuckDB's %s are SQLite's"
           % (name, what), [answer[:3], b[:3]])


# ---- more than one run, and samples that are added up

def check_weighted(name, db, plain_rows):
    folder = export("weighted", "--weighted", "100ms", db)

    def sums(those, n_of, step):
        out = collections.Counter()
        for r in those:
            key = *(plain(r[k]) for k in (
                "pid", "tid", "comm", "event", "kernel_stack", "user_stack",
                "verdict", "user_mark", "kernel_mark")), \
                r["time"] - r["time"] % step
            out[key + ("n",)] += n_of(r)
            out[key + ("weight",)] += r["weight"]
        return out

    want = sums(plain_rows, lambda r: 1, 100000000)
    kept = rows(folder, "sample")
    have, n = sums(kept, lambda r: r["n"], 1), len(kept)
    r = rows(folder, "run")[0]
    ok(+have == +want and r["rows"] == n and r["kept"] == len(plain_rows),
       "%s: %d samples in %d rows of 100 ms" % (name, len(plain_rows), n))


def check_names_of_two(db):
    """A place has the names of one database, not levels of both."""
    few = os.path.join(FOLDER.name, "few.db")
    full = os.path.join(FOLDER.name, "full.db")
    for path in (few, full):
        shutil.copy(db, path)
        con = sqlite3.connect(path)
        con.execute("DELETE FROM inline_frame")
        if path == full:
            con.execute("""INSERT INTO inline_frame SELECT id, 0, 'within', '', 1
                           FROM frame WHERE symbol NOT NULL""")
            con.execute("UPDATE frame SET symbol = NULL WHERE id % 5 = 1")
        else:
            con.execute("UPDATE frame SET symbol = NULL WHERE id % 5 = 2")
        con.commit()
        con.close()
    for order in ((few, full), (full, few)):
        got = rows(export("names", *order), "name")
        levels = collections.defaultdict(list)
        for r in got:
            levels[r["place"]].append((r["level"], r["levels"]))
        bad = [x for x in levels.values()
               if x != [(i, x[0][1]) for i in range(x[0][1] + 1)]]
        ok(not bad and {len(x) for x in levels.values()} == {1, 2},
           "two databases name %d places, each by one" % len(levels), bad[:3])


def check_many(dbs):
    several = export("several", *dbs)
    alone = [export("alone-%d" % i, db) for i, db in enumerate(dbs)]
    for t in ("run", "sample", "loss", "verdict", "trust"):
        got = [[plain(v) for v in r.values()] for r in rows(several, t)]
        want = [[plain(v) for v in r.values()] for f in alone for r in rows(f, t)]
        ok(got == want, "several databases: table %s is that of each" % t)
    for t, key in (("stack", ("stack",)), ("name", ("place", "level"))):
        got = [tuple(plain(r[k]) for k in key) for r in rows(several, t)]
        want = {tuple(plain(r[k]) for k in key) for f in alone for r in rows(f, t)}
        ok(len(set(got)) == len(got) and set(got) == want,
           "several databases: each %s is there once" % t)
    check_names_of_two(dbs[0])
    again = export("again", *dbs, *dbs)
    ok(all(open(f, "rb").read() ==
           open(again + "/" + os.path.basename(f), "rb").read()
           for f in glob.glob(several + "/*.parquet")),
       "a database that is given twice changes nothing")
    merged = os.path.join(FOLDER.name, "merged.db")
    r = run("merge", "-f", "-o", merged, *dbs)
    ok(r.returncode == 0 and
       {x["run"] for x in rows(export("merged", merged), "run")} ==
       {x["run"] for x in rows(several, "run")},
       "a merged database has the same runs", [r.stderr])
    parts = export("parts", "--partition", *dbs)
    found = sorted(glob.glob(parts + "/sample/host=*/day=*/*.parquet"))
    got = [json.dumps([list(map(plain, r)) for r in zip(
        *parquetread.read(f).data.values())]) for f in found]
    want = [json.dumps([list(map(plain, r.values())) for r in rows(
        f, "sample")]) for f in alone]
    ok(len(found) == len(dbs) and sorted(got) == sorted(want),
       "partitions hold the samples of each run", [found, len(got), len(want)])
    if os.path.isdir(NPM + "/@duckdb/node-api"):
        have = node("duck.mjs", parts, stdin=json.dumps([
            "SELECT host, sum(n) FROM sample GROUP BY 1 ORDER BY 1"]))[0]
        want = collections.Counter()
        for r in rows(parts, "run"):
            want[r["host"]] += r["kept"]
        ok(have == [[k, str(v)] for k, v in sorted(want.items()) if v],
           "DuckDB finds the hosts in the names of the folders", [have, want])


def main():
    dbs = {}
    for i, name in enumerate(SEVERAL + share([r for r in RUNS if r not in SEVERAL], 3)):
        if not capture(name):
            ok(False, name + ": is not there")
            continue
        db = dbs[name] = database(name)
        folder = export("one", "--event-fields", "--label", "a=b=c", db)
        got = {t: rows(folder, t) for t in TABLES}
        ok([(r["label_name"], r["label_value"]) for r in got["run"]] ==
           [(["a"], ["b=c"])], name + ": one run, with its label")
        boot = got["run"][0]["boot"]
        ids = StackIds(db)
        check_samples(name, db, got["sample"], boot, ids)
        check_marks(name, db, got["sample"], ids)
        check_classes(name, db, got["sample"])
        check_stacks(name, db, got["stack"], got["name"], ids)
        check_small(name, db, got, boot)
        check_fields(name, db, got["field"])
        check_engines(i, name, db, folder, got, ids)
        check_weighted(name, db, got["sample"])
    check_many([dbs[n] for n in SEVERAL])
    for package in ("@duckdb/node-api", "hyparquet-compressors"):
        if not NODE or not os.path.isdir(os.path.join(NPM, package)):
            print("skip %s: npm has not installed it" % package)
    finish()


if __name__ == "__main__":
    main()

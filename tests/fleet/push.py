# push.py - runs in two ClickHouse servers are those of the databases, whatever happens on the way.
"""Captures of all tracers are pushed; every row of every table is compared with
those of Parquet files of the same databases, which compare/fleet.py proves, and
sums with SQLite. Then pushers and servers are killed, disks are full, the
network breaks and replies are hostile: each row must be there exactly once in
the end. usage: push.py; the seed of what is random is $BACKSTITCH_SEED."""

import collections
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "compare"))

import parquetread  # noqa: E402
from common import BACKSTITCH, OUT, ROOT, finish, ok, query  # noqa: E402
from proxy import Broken, Hostile, hostile_replies  # noqa: E402
from servers import Servers, installed  # noqa: E402

RUNS = ["defer-lost-clock.data.zst", "ctx2-defer.data.zst", "fp-1.data",
        "arm64-fp-leaf.data", "s390x-z.data", "lines-gcc.data.zst",
        "ftrace-v7.dat", "ftrace-missed.dat.zst", "ctf-discard/trace"]
BY_RUN = ["run", "event", "sample", "loss", "verdict", "trust", "finding",
          "field"]
LARGE = 270000  # samples: two blocks
LONG = os.environ.get("LONG")
SEED = int(os.environ.get("BACKSTITCH_SEED", "1"))
ENV = {k: v for k, v in os.environ.items() if not k.startswith("BACKSTITCH_C")}


def push(*args, env=None, **more):
    return subprocess.run([BACKSTITCH, "push", *args], capture_output=True,
                          text=True, env=dict(ENV, **(env or {})), timeout=120,
                          **more)


def counts(*args):
    """What a push says that it did."""
    r = push("--json", "-q", *args)
    if r.returncode or r.stderr:
        raise RuntimeError("push %s: %s" % (args, r.stderr))
    return json.loads(r.stdout)


def large_capture(folder):
    """A database with so many samples that a push can be disturbed: all have
    other times."""
    rnd = random.Random(SEED)
    stacks = [",".join(hex(0x400100 + 16 * rnd.randrange(90))
                       for _ in range(rnd.randrange(1, 12)))
              for _ in range(3000)]
    with open(folder + "/large.txt", "w") as f:
        f.write("event cpu-clock period=1000\n"
                "comm pid=10 tid=10 name=prog\n"
                "mmap pid=10 tid=10 start=0x400000 len=0x10000 pgoff=0 "
                "path=/bin/prog id=0aabb0\n")
        for i in range(LARGE):
            f.write("sample pid=10 tid=%d cpu=%d time=%d u=%s\n"
                    % (10 + i % 7, i % 4, 1000 + 3 * i, stacks[i % 3000]))
    subprocess.run([OUT + "/mkcap", folder + "/large.txt",
                    folder + "/large.data"], check=True)
    ingest(folder + "/large.db", folder + "/large.data")
    os.unlink(folder + "/large.txt")
    return folder + "/large.db"


def ingest(db, path, *more):
    r = subprocess.run([BACKSTITCH, "ingest", "-q", "-f", "--no-cache",
                        "--fields", "all", *more, "-o", db, path],
                       capture_output=True, text=True, env=ENV)
    if r.returncode not in (0, 3):
        raise RuntimeError(r.stderr)


def databases(folder):
    at = os.path.join(ROOT, "tests/captures")
    out = []
    for name in RUNS:
        paths = [os.path.join(at, n) for n in (name, name.replace(".zst", ""))]
        path = next(p for p in paths if os.path.exists(p))
        db = "%s/%s.db" % (folder, name.replace("/", "-"))
        ingest(db, path)
        out.append(db)
    return out


# ---- what is in the servers

def columns(s, table):
    return [r for r in s.rows(
        "SELECT name, type FROM system.columns WHERE database = 'f' AND "
        "table = '%s'" % table) if r[0] not in ("day", "block", "version")
        or (table, r[0]) == ("run", "version")]


def there(s, table):
    """The rows of a table, as a bag of tuples of texts."""
    cells = []
    for name, kind in columns(s, table):
        hex_ = "lower(hex(`%s`))" if kind == "FixedString(16)" else "`%s`"
        cells.append(hex_ % name)
    text = s.sql("SELECT %s FROM f.%s FORMAT JSONCompact" % (
        ", ".join(cells), table), output_format_json_quote_64bit_integers=0)
    return collections.Counter(map(repr, json.loads(text)["data"]))


def here(folder, table):
    """The rows of a Parquet file in the same way."""
    f = parquetread.read("%s/%s.parquet" % (folder, table))
    cells = [f.data[c.name] for c in f.columns]
    return collections.Counter(
        repr([v.hex() if isinstance(v, bytes) else v for v in row])
        for row in zip(*cells))


def digest(s):
    """Numbers that change if any row is missing, changed or there twice."""
    out = []
    plain = re.compile("U?Int|Float|String|FixedString|Date")  # no NULL, no array
    for table in BY_RUN + ["stack", "name"]:
        names = ", ".join(("`%s`" if plain.match(kind) else "toString(`%s`)") % n
                          for n, kind in columns(s, table))
        out.append(s.rows("SELECT count(), sum(cityHash64(%s)) FROM f.%s"
                          % (names, table)))
    return out


def parts(s):
    """What is stored, and in which files."""
    return [s.rows("SELECT table, sum(rows) FROM system.parts WHERE active AND "
                   "database = 'f' GROUP BY table ORDER BY table", i)
            for i in range(s.n)]


def once(s, db):
    """Whether each sample of the large run is there exactly once, and its run
    too."""
    return s.rows("SELECT count(), uniqExact(time), sum(weight) FROM f.sample "
                  "WHERE run GLOBAL IN (SELECT run FROM f.run)") == [
        (str(LARGE), str(LARGE), str(query(db, "SELECT sum(weight) FROM samples")[0][0]))]


def urls(s):
    return s.url(0, "f"), s.url(1, "f")


def create(s):
    a, b = urls(s)
    r = push("--create", "--cluster", "fleet", "--server", b, a)
    if r.returncode:
        raise RuntimeError(r.stderr)


def clear(s):
    for i in range(s.n):
        s.sql("DROP DATABASE f", i)
    create(s)


# ---- tests

def test_create(s):
    a, b = urls(s)
    r = push(a, "nothing.db")
    ok(r.returncode == 1 and "push --create" in r.stderr,
       "a server without tables says how to make them", [r.stderr])
    r = push("--create", "--cluster", "fleet", a)
    ok(r.returncode == 2 and "--server URL" in r.stderr,
       "a cluster of which one server is not named has no tables there",
       [r.stderr])
    create(s)
    create(s)
    r = push("--create", a)
    ok(r.returncode == 2 and "over cluster fleet" in r.stderr,
       "tables over a cluster do not become those of a server", [r.stderr])
    r = push("--create", "--dry-run", "--cluster", "fleet", a)
    ok(r.returncode == 0 and r.stdout.count("CREATE TABLE") == 20
       and r.stdout.count("Distributed('fleet', 'f', ") == 10,
       "the statements can be printed", [r.stderr, r.stdout])


def test_rows(s, folder, dbs):
    a, _ = urls(s)
    would = counts("--dry-run", "--event-fields", a, *dbs)
    ok(parts(s) == [[], []] and would["runs"] == len(dbs),
       "a dry run sends nothing")
    did = counts("--event-fields", a, *dbs)
    ok(all(did[k] == would[k] for k in ("runs", "rows_sent", "blocks_sent",
                                        "stacks_sent", "names_sent")),
       "a dry run tells what would be sent", [would, did])
    lake = folder + "/lake"
    subprocess.run([BACKSTITCH, "export", "--format", "parquet", "-o", lake,
                    "--event-fields", *dbs], check=True, env=ENV,
                   capture_output=True)
    for table in BY_RUN + ["stack", "name"]:
        x, y = there(s, table), here(lake, table)
        same = dict.__eq__(x, y)
        ok(same and (table == "finding" or x),
           "table %s has the rows of the databases" % table,
           [] if same else [
               "%d rows, not %d" % (sum(x.values()), sum(y.values())),
               str(list((x - y).items())[:2]), str(list((y - x).items())[:2])])
    sums = collections.Counter()
    for db in dbs:
        for n, weight in query(
                db, "SELECT count(*), coalesce(sum(weight), 0) FROM samples"):
            sums.update(n=n, weight=weight)
    ok(s.rows("SELECT count(), sum(weight) FROM f.sample")
       == [(str(sums["n"]), str(sums["weight"]))],
       "counts and sums of samples are those of SQLite", [sums])
    for i in range(s.n):
        ok(s.rows("SELECT count() > 0 FROM f.sample_local", i) == [("1",)],
           "shard %d has runs" % i)


def test_twice(s, dbs):
    a, b = urls(s)
    was = digest(s), parts(s)
    again = counts("--event-fields", b, *dbs)
    ok(again["runs"] == 0 and again["runs_there"] == len(dbs)
       and again["stacks_sent"] == again["names_sent"] == 0
       and (digest(s), parts(s)) == was,
       "what is pushed again, to the other server, changes nothing", [again])
    r = push("--label", "a=b", a, dbs[0])
    ok(r.returncode == 1 and "--replace" in r.stderr and digest(s) == was[0],
       "a run with other rows is left alone, which is said", [r.stderr])
    r = push("--label", "a=b", "--replace", a, dbs[0])
    r2 = push("--label", "a=b", "--replace", "--server", b, a, dbs[0])
    ok(r2.returncode == 0 and s.rows(
        "SELECT label_value FROM f.run WHERE notEmpty(label_name)")
       == [("['b']",)] and s.rows("SELECT count() FROM f.run")
       == [(str(len(dbs)),)],
       "a run is replaced on request", [r.stderr, r2.stderr])
    for i in range(s.n):
        s.sql("ALTER TABLE f.run_local DELETE WHERE notEmpty(label_name)", i)
    r = push(a, dbs[0])
    ok(r.returncode == 1 and "in part only" in r.stderr
       and "--replace" in r.stderr,
       "a replacement that was stopped is not told to be a run", [r.stderr])
    r = push("--event-fields", "--replace", "--server", b, a, dbs[0])
    ok(r.returncode == 0 and digest(s) == was[0],
       "and replaced again has the rows of before", [r.stderr])


def test_names(s, dbs):
    """Places of which the server lacks a level, as after a body that was cut
    between two."""
    a, _ = urls(s)
    did = counts(a, *dbs)
    cells = ", ".join("`%s`" % n for n, _ in columns(s, "name"))
    for i in range(s.n):
        s.sql("CREATE TABLE f.whole AS f.name_local", i)
        s.sql("INSERT INTO f.whole SELECT * FROM f.name_local", i)
        s.sql("TRUNCATE TABLE f.name_local", i)
        s.sql("INSERT INTO f.name_local (%s, version) SELECT %s, version FROM "
              "f.whole" % (cells, cells.replace(
                  "`levels`", "toUInt8(levels + 1)")), i)
    again = counts(a, *dbs)
    last = counts(a, *dbs)
    ok(did["names_sent"] == again["names_sent"] > 0 == last["names_sent"],
       "places of which a level is missing are sent again",
       [did, again, last])


def test_other(s, folder):
    """One capture, ingested with and without what proves stacks wrong."""
    a, b = urls(s)
    dbs = [folder + "/other-plain.db", folder + "/other.db"]
    capture = os.path.join(ROOT, "tests/captures/z-defer.data")
    ingest(dbs[0], capture, "--no-symbols")
    ingest(dbs[1], capture)
    counts(a, dbs[0])
    was = digest(s)
    r = push(a, dbs[1])
    ok(r.returncode == 1 and "with other rows" in r.stderr
       and digest(s)[:-1] == was[:-1],
       "a capture that was ingested in another way has other rows", [r.stderr])
    r = push("--replace", "--server", b, a, dbs[1])
    ok(r.returncode == 0 and s.rows(
        "SELECT count() > 0 FROM f.trust WHERE class LIKE 'fabricated%'")
       == [("1",)], "and replaces it on request", [r.stderr])


def test_host(s, folder, db):
    """The host is what the capture says: here, a command for the terminal."""
    a, _ = urls(s)
    evil = folder + "/host.db"
    shutil.copy(db, evil)
    con = sqlite3.connect(evil)
    con.execute("UPDATE capture SET host = 'a' || char(27) || '[31m' || char(10) || 'b'")
    con.commit()
    con.close()
    counts(a, evil)
    r = push("--label", "a=b", a, evil)
    ok(r.returncode == 1 and "of host a\\x1b[31m\\x0ab on" in r.stderr
       and "\x1b" not in r.stderr, "the name of a host is shown, not obeyed", [r.stderr])


def test_weighted(s, db):
    a, _ = urls(s)
    did = counts("--weighted", "1s", "--label", "x=y", a, db)
    want = query(db, "SELECT count(*), sum(weight) FROM samples")[0]
    ok(s.rows("SELECT sum(n), sum(weight), count() < %d FROM f.sample"
              % want[0]) == [(str(want[0]), str(want[1]), "1")]
       and did["runs"] == 1, "samples are added up on request", [did])
    clear(s)
    counts("--comm", "sh,nobody,wl", a, db)
    want = query(db, "SELECT count(*) FROM samples WHERE comm IN ('sh', 'wl')")
    ok(s.rows("SELECT count() FROM f.sample") == [(str(want[0][0]),)]
       and s.rows("SELECT filtered FROM f.run") == [("1",)],
       "filters select samples")


def test_killed(s, db, rnd):
    a, b = urls(s)
    begun = time.monotonic()
    whole = counts(a, db)
    took = time.monotonic() - begun
    reference = digest(s)
    ok(once(s, db) and whole["blocks"] > 3 and whole["rows"] > LARGE,
       "a large run is several blocks", [whole])
    kills = partly = 0
    good = True
    while kills < (8 if LONG else 3) or (not partly and kills < 60):
        clear(s)
        for _ in range(5):
            p = subprocess.Popen([BACKSTITCH, "push", "-q", a, db], env=ENV,
                                 stderr=subprocess.DEVNULL)
            # of each three one once a part is there: nothing else is sure to be
            while kills % 3 == 2 and p.poll() is None and s.rows(
                    "SELECT count() > 0 FROM f.sample") != [("1",)]:
                wait_for(0.01)
            try:
                p.wait(0 if kills % 3 == 2 else rnd.random() * took * 0.8)
                break
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
                kills += 1
            a, b = b, a
            partly += s.rows("SELECT count() > 0 FROM f.sample") == [("1",)] \
                and s.rows("SELECT count() FROM f.run") == [("0",)]
        counts(a, db)
        good = good and digest(s) == reference
    ok(good and partly, "a push that is killed anywhere goes on where it was",
       ["%d kills, %d times partly there" % (kills, partly)])
    p = subprocess.Popen([BACKSTITCH, "push", "--replace", "--label", "a=1",
                          "--server", b, a, db], env=ENV, text=True,
                         stderr=subprocess.PIPE)
    try:
        p.wait(took / 2)
    except subprocess.TimeoutExpired:
        p.send_signal(signal.SIGINT)
    said = p.communicate()[1]
    r = push("--replace", "--server", b, a, db)
    ok(p.returncode in (-2, 0) and not r.returncode and digest(s) == reference,
       "a replacement that is stopped can be taken back", [said, r.stderr])


def test_repaired(s, db):
    """What two pushers at a time, or someone's own INSERT, could leave."""
    a, b = urls(s)
    reference = digest(s)
    said = []
    for sql in ("INSERT INTO f.event SELECT * FROM f.event",
                "INSERT INTO f.sample SELECT * FROM f.sample "
                "WHERE block % 4294967296 = 1",
                "INSERT INTO f.run SELECT * FROM f.run"):
        s.sql(sql, insert_distributed_sync=1)
        said.append(digest(s) != reference)
        r = push("-q", "--server", b, a, db)
        said.append((r.returncode, r.stderr, digest(s) == reference))
    ok(said == [True, (0, "", True)] * 3,
       "blocks that are there twice are found and sent again", said)


def test_removing(s, db, other):
    """A statement that removes rows goes on after it has returned, and after
    the pusher that sent it was killed."""
    a, b = urls(s)
    counts(a, db)
    reference = digest(s)

    def remove(where):
        for t in ("run_local", "sample_local"):
            for i in range(s.n):
                s.sql("ALTER TABLE f.%s DELETE WHERE %s" % (t, where), i)

    def merges(word):
        for i in range(s.n):
            for t in ("run_local", "sample_local"):
                s.sql("SYSTEM %s MERGES f.%s" % (word, t), i)

    def settled():
        return [s.rows("SELECT count() FROM system.mutations WHERE NOT is_done",
                       i) for i in range(s.n)] == [[("0",)]] * s.n

    merges("STOP")
    remove("1")
    r = push("--timeout", "1", "--retry", "0", a, db)
    p = subprocess.Popen([BACKSTITCH, "push", "-q", a, db], env=ENV, text=True,
                         stderr=subprocess.PIPE)
    wait_for(0.5)
    merges("START")
    text = p.communicate()[1]
    while not settled():
        wait_for(0.05)
    ok(r.returncode == 1 and "has not ended" in r.stderr and not p.returncode
       and digest(s) == reference,
       "rows that are being removed do not count as there", [r.stderr, text])
    merges("STOP")
    remove("run = toFixedString(unhex('%s'), 16)" % ("0" * 32))
    r = push("--timeout", "1", "--retry", "0", b, other)
    merges("START")
    ok(r.returncode == 0, "a removal of another run is not waited for",
       [r.stderr])


def test_servers_killed(s, db, rnd):
    a, _ = urls(s)
    reference = digest(s)
    said = []
    for i in (0, 1):
        clear(s)
        p = subprocess.Popen([BACKSTITCH, "push", "--retry", "0", a, db],
                             env=ENV, text=True, stderr=subprocess.PIPE)
        wait_for(rnd.random() * 0.5)
        s.kill(i)
        said.append((p.communicate()[1], p.returncode))
        s.start(i)
        r = push("-q", a, db)
        ok(not r.returncode and digest(s) == reference,
           "after server %d was killed, the next push sends the rest" % i,
           [r.stderr])
    ok(all(rc == 1 and "clickhouse://" in text and (
        "cannot be reached" in text or "is the server running" in text
        or "the connection broke" in text)
        for text, rc in said if rc) and any(rc for _, rc in said),
       "a push says that a server went away", said)
    clear(s)
    some = "SELECT (SELECT count() FROM f.stack) + (SELECT count() FROM f.name)"
    none = s.rows(some)
    p = subprocess.Popen([BACKSTITCH, "push", "--retry", "120", a, db], env=ENV,
                         text=True, stderr=subprocess.PIPE)
    # a server that is not there when a push begins is an error
    while p.poll() is None and s.rows(some) == none:
        wait_for(0.05)
    s.kill(1)
    s.start(1)
    said = p.communicate()[1]
    ok(p.returncode == 0 and digest(s) == reference,
       "a server that comes back is waited for", [said])


def test_silent(s, db):
    """A server that takes connections and does not answer."""
    a, _ = urls(s)
    clear(s)
    p = subprocess.Popen([BACKSTITCH, "push", "-q", "--json", "--timeout", "1",
                          "--retry", "2", a, db], env=ENV, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while s.rows("SELECT count() > 0 FROM f.sample") != [("1",)]:
        wait_for(0.01)
    s.process[0].send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    out, said = p.communicate()
    took = time.monotonic() - begun
    s.process[0].send_signal(signal.SIGCONT)
    ok(p.returncode == 1 and took < 16,
       "the time of --retry counts what is asked meanwhile", [took, said])
    ok(out and json.loads(out)["runs"] == 0 < json.loads(out)["bytes"],
       "a push that fails says in JSON what it did", [out])
    clear(s)


def wait_for(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)


def test_network(s, db):
    reference = digest(s)
    clear(s)
    with Broken(s.urls[0], SEED, 5) as net:
        r = push("--retry", "60", "--timeout", "10", net.url + "/f", db)
        while r.returncode and "trying again" not in r.stderr and net.broken < 5:
            # a first statement that breaks is not tried again
            r = push("--retry", "60", "--timeout", "10", net.url + "/f", db)
    ok(r.returncode == 0 and digest(s) == reference and net.broken >= 5,
       "a slow network that breaks costs time only",
       ["%d broken" % net.broken, r.stderr])


def test_hostile(s, db, rnd):
    counts(urls(s)[0], db)
    reference = digest(s)
    tries, bad = 0, []
    for k in range(2):
        for n, change in enumerate(hostile_replies(rnd)):
            # which stacks are there is said by an empty one, too: none
            at = rnd.randrange(9) if k and n != 11 else 1 + n % 5
            with Hostile(s.urls[0], at, change) as server:
                r = push("--retry", "0", "--timeout", "5", server.url + "/f",
                         db)
            if not server.changed:
                continue
            tries += 1
            text = r.stderr
            if r.returncode not in (0, 1) or (r.returncode and not text) \
                    or "\x1b" in text or len(text) > 1500:
                bad.append((n, at, r.returncode, text))
            if not r.returncode and n not in (11,):
                bad.append((n, at, "was taken for a reply"))
    ok(not bad and tries > 25,
       "hostile replies end with a message", bad or [tries])
    ok(digest(s) == reference, "and change nothing that is there")


def test_tls(s, folder, db):
    pem = folder + "/tls.pem"
    if not shutil.which("openssl") or subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes",
             "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", pem, "-out", folder + "/ca.pem"],
            capture_output=True).returncode:
        print("skip TLS: openssl makes no certificate")
        return
    with open(folder + "/ca.pem") as ca, open(pem, "a") as f:
        f.write(ca.read())
    with Hostile(s.urls[0], certificate=pem) as server:
        r = [push(server.url + "/f", db),
             push("--ca-file", folder + "/ca.pem", server.url + "/f", db),
             push("--ca-file", db, server.url + "/f", db),
             push(server.url.replace("clickhouses", "clickhouse") + "/f", db)]
    ok([x.returncode for x in r] == [1, 0, 1, 1]
       and "--ca-file" in r[0].stderr and "1 there already" in r[1].stderr
       and "no TLS" in r[2].stderr,
       "a server with TLS must be trusted", [x.stderr for x in r])
    with socket.create_server(("127.0.0.1", 0)) as silent:
        r = push("--timeout", "1", "clickhouse://127.0.0.1:%d/f"
                 % silent.getsockname()[1], db)
    ok(r.returncode == 1 and "--timeout" in r.stderr,
       "a silent server is given up", [r.stderr])


def test_schema(s, db):
    a, b = urls(s)
    was = s.rows("SELECT count() FROM f.run")
    for i in (0, 1):
        for t in ("sample", "sample_local"):
            s.sql("ALTER TABLE f.%s DROP COLUMN kernel_mark" % t, i)
    r = push("--label", "v=0", a, db)
    ok(r.returncode == 1 and "has no column kernel_mark" in r.stderr
       and "--create" in r.stderr,
       "tables of an older version are named", [r.stderr])
    create(s)
    r = push("--label", "v=0", "--replace", "--server", b, a, db)
    ok(r.returncode == 0 and s.rows("SELECT count() FROM f.run") == was,
       "columns that they lack can be added", [r.stderr])
    for i in (0, 1):
        s.sql("ALTER TABLE f.sample DROP COLUMN kernel_mark", i)
    r = push("--create", "--cluster", "fleet", "--server", b, a)
    ok(r.returncode == 0
       and s.rows("SELECT count() FROM system.columns WHERE database = 'f' AND "
                  "table = 'sample' AND name = 'kernel_mark'") == [("1",)],
       "and when that was killed half way, once more", [r.stderr])
    counted = ["counted"] + [t + "_rows" for t in
                             ("loss", "verdict", "trust", "finding")]
    for i in (0, 1):
        for t in ("run", "run_local"):
            for c in counted:
                s.sql("ALTER TABLE f.%s DROP COLUMN %s" % (t, c), i)
    r = push("--label", "v=0", a, db)
    ok(r.returncode == 1 and "table run has no column counted" in r.stderr,
       "tables in which runs do not know their rows are named", [r.stderr])
    create(s)
    asked = ("SELECT counted, loss_rows, verdict_rows, trust_rows, finding_rows "
             "FROM f.run")
    ok(s.rows(asked) == [("0",) * 5] * int(was[0][0]),
       "they get the columns, and runs that are there are not counted",
       s.rows(asked))
    r = push("--label", "v=1", "--replace", "--server", b, a, db)
    there_are = [s.rows("SELECT count() FROM f." + t)[0][0]
                 for t in ("loss", "verdict", "trust", "finding")]
    ok(r.returncode == 0 and s.rows(asked) == [("1", *there_are)]
       and there_are[1] != "0",
       "and those that are pushed then are", [r.stderr, s.rows(asked)])
    s.sql("INSERT INTO f.run (run, version) VALUES ('0123456789abcdef', 99)",
          insert_distributed_sync=1)
    r = push(a, db)
    ok(r.returncode == 1 and "version 99" in r.stderr
       and "newer backstitch" in r.stderr,
       "tables of a newer version are left alone", [r.stderr])
    clear(s)
    for i in (0, 1):
        s.sql("DROP TABLE f.loss", i)
        s.sql("CREATE TABLE f.loss (run String) ENGINE = Memory", i)
    r = push(a, db)
    ok(r.returncode == 1 and "table loss is String" in r.stderr,
       "a column of another type is named", [r.stderr])
    for i in (0, 1):
        s.sql("DROP TABLE f.loss", i)
    clear(s)


def test_manual(s, db):
    counts(urls(s)[0], db)
    with open(os.path.join(ROOT, "man/backstitch-fleet.7")) as f:
        text = f.read().split(".Sh CLICKHOUSE")[1].split("\n.Sh ")[0]
    blocks = re.findall(r"indent\n(.*?)\n\.Ed", text, re.S)
    asked = [q for b in blocks for q in b.split(";")
             if q.strip().startswith("SELECT")]
    said = []
    for q in asked:
        try:
            s.sql(q, database="f")
        except RuntimeError as e:
            said.append((q, str(e)))
    ok(len(asked) == 3 and not said, "the queries of the manual can be asked",
       said)


def test_follow(s, folder, db):
    a, _ = urls(s)
    del db
    subprocess.run([sys.executable, ROOT + "/tests/cli/stream.py", "3", "1",
                    folder], check=True)
    subprocess.run([OUT + "/mkcap", "-p", folder + "/whole.txt",
                    folder + "/whole.pipe"], check=True)
    with open(folder + "/whole.pipe", "rb") as f:
        r = subprocess.run(
            [BACKSTITCH, "follow", "-q", "--segment", "3K", "-o",
             folder + "/segments", "--exec",
             '"%s" push -q %s "$1"' % (BACKSTITCH, a), "-"],
            stdin=f, capture_output=True, text=True, env=ENV, timeout=60)
    segments = len([n for n in os.listdir(folder + "/segments")
                    if n.endswith(".db")])
    again = counts(a, folder + "/segments")
    ok(r.returncode == 0 and segments > 2 and again["runs"] == 0
       and again["runs_there"] == segments,
       "follow pushes each segment", [r.stderr, again, segments])


def test_password(folder, db):
    with Servers(1, password="ge'heim \\x") as s:
        a = s.url(0, "f")
        with open(folder + "/password", "w") as f:
            f.write("ge'heim \\x\n")
        r = [push("--create", a),
             push("--create", a,
                  env={"BACKSTITCH_CLICKHOUSE_PASSWORD": "falsch"}),
             push(a.replace("//", "//default:falsch@"), db)]
        ok([x.returncode for x in r] == [1, 1, 2]
           and "wrong user or password" in r[1].stderr
           and "--password-file" in r[0].stderr
           and all("falsch" not in x.stderr for x in r),
           "a wrong password is said, and in no message",
           [x.stderr for x in r])
        r = [push("--create", a, db,
                  env={"BACKSTITCH_CLICKHOUSE_PASSWORD": "ge'heim \\x"}),
             push("--password-file", folder + "/password", a, db)]
        ok([x.returncode for x in r] == [0, 0],
           "the password is from the environment or a file",
           [x.stderr for x in r])


def test_full_disk(folder, db):
    small = folder + "/small"
    os.mkdir(small)
    if os.geteuid() or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=2m", "none", small],
            capture_output=True).returncode:
        print("skip a full disk: no tmpfs can be mounted")
        return
    try:
        with Servers(1, path={0: small}) as s:
            a = s.url(0, "f")
            r = push("--create", "--retry", "0", a, db)
            ok(r.returncode == 1 and "make room" in r.stderr,
               "a full disk is said", [r.stderr])
            subprocess.run(["mount", "-o", "remount,size=400m", small],
                           check=True)
            r = push("-q", a, db)
            ok(r.returncode == 0 and once(s, db),
               "and once there is room the rest is sent", [r.stderr])
    finally:
        subprocess.run(["umount", "-l", small])


def main():
    if not installed():
        print("skip push: clickhouse-server is not installed")
        return
    rnd = random.Random(SEED)
    folder = tempfile.mkdtemp(prefix="push-")
    try:
        dbs = databases(folder)
        large = large_capture(folder)
        with Servers(2) as s:
            for test in ((test_create, s), (test_rows, s, folder, dbs),
                         (test_twice, s, dbs), (clear, s),
                         (test_names, s, dbs), (clear, s),
                         (test_other, s, folder), (clear, s),
                         (test_host, s, folder, dbs[0]), (clear, s),
                         (test_weighted, s, dbs[0]), (clear, s),
                         (test_removing, s, dbs[0], dbs[1]), (clear, s),
                         (test_killed, s, large, rnd),
                         (test_repaired, s, large),
                         (test_servers_killed, s, large, rnd),
                         (test_silent, s, large), (counts, urls(s)[0], large),
                         (test_network, s, large),
                         (clear, s), (test_hostile, s, dbs[0], random.Random(SEED)),
                         (test_tls, s, folder, dbs[0]),
                         (test_schema, s, dbs[0]),
                         (test_manual, s, dbs[0]),
                         (test_follow, s, folder, dbs[0])):
                begun = time.monotonic()
                test[0](*test[1:])
                print("# %s: %.1f s" % (test[0].__name__,
                                        time.monotonic() - begun))
        test_password(folder, dbs[0])
        test_full_disk(folder, large)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# hostile.py - databases that somebody made to do harm, read by every command.
#
# usage: hostile.py BUILD [N[/PARTS] [SEED [COMMAND...]]]      (300, 1, all)
#
# Each of N databases is a sound one with one to three of the changes below:
# views without end in place of tables and views, values of other types, huge
# and negative ids and times, forged rows, long blobs, zero bytes in text,
# parents in a circle, triggers, generated columns, virtual tables, damaged pages
# and schemas, constraints, computed indexes, WAL mode, a journal, a link or a FIFO beside it. `view` has a terminal, and random keys. Every command must end by itself: with a status of its own
# (0, 1, 3, 4; 1 with a message), within 10 s of processor time, with less than
# 1 GB (not under sanitizers), and without a change of the database or another
# file; `symbolize` may write its database. The same SEED makes the same
# databases; of PARTS one is made, another one for the next commit ($SHARE_OF). The last lines are a table; the status is 1 if there are findings.
import fcntl
import hashlib
import os
import pty
import random
import re
import resource
import select
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import threading

CAPTURES = ("tests/captures/defer-exitexec-s.data.zst", "tests/captures/ftrace-procmap.dat",
            "tests/captures/jitframes.data.zst",
            "tests/causality/captures/lock.data.zst", "tests/captures/naps.data")
SECONDS, BYTES = 10, 1 << 30
FORMATS = ("folded", "json", "chrome", "pprof", "firefox",
           "perf.data")
COMMANDS = [
    ["info", "DB"], ["info", "--json", "DB"], ["check", "--verbose", "DB"],
    ["check", "--json", "DB"], ["report", "DB"],
    ["report", "--html", "-o", "OUT", "DB"], ["report", "--off-cpu", "DB"],
    ["flame", "-o", "OUT", "DB"], ["flame", "--diff", "-o", "OUT", "DB", "SOUND"],
    ["annotate", "DB"], ["script", "DB"], ["query", "DB", "SELECT * FROM samples"],
    ["query", "DB", "SELECT * FROM stacks_by_rule"],
    ["sframe", "--readiness", "DB"], ["bundle", "-f", "-o", "OUT.tar", "DB"],
    ["bundle", "--redact", "-f", "-o", "OUT", "DB"],
    ["export", "--format", "ctf", "-o", "OUT.ctf", "DB"],
    ["path", "DB"], ["path", "--waits", "--limit", "0", "DB"],
    ["path", "--worst", "3", "DB"], ["path", "--tree", "--json", "DB"],
    ["path", "--proved", "--worst", "1", "--depth", "1000", "DB"],
    ["report", "--diff", "DB", "SOUND"], ["report", "--diff", "DB", "SOUND", "--", "DB", "SOUND"],
    ["report", "--latency", "DB"], ["report", "--latency", "--worst", "3", "DB"],
    ["report", "--latency", "--by", "caller", "--json", "DB"], ["report", "--sched", "DB"],
    ["report", "--wall", "DB"], ["query", "DB", "SELECT * FROM interval"],
    ["query", "DB", "SELECT * FROM blame, wake"],
    ["merge", "-f", "-o", "OUT", "DB", "SOUND"], ["view", "DB"], ["view", "DB"],
    ["symbolize", "COPY"], ["ingest", "-o", "OUT", "DB"], ["dump", "DB"], ["DB"],
] + [["export", "--format", f, "-o", "OUT", "DB"] for f in FORMATS]
VALUES = ("NULL", "-1", "0", "1", "9223372036854775807", "-9223372036854775808",
          "4294967296", "1e308", "-1e308", "''", "'%s%n%s'", "'a' || char(0) || 'b'",
          "x'00'", "x'ff80808080808080808080808080'", "zeroblob(3000000)",
          "printf('%.3000000c', 'x')", "char(0x202e) || '</script>'", "'../../../etc/passwd'",
          "abs(random()) % 300", "random()", "id + 4000000000", "'1' || id", "-id", "id % 2")


def columns(db, table):
    return [r[1] for r in db.execute('PRAGMA table_xinfo("%s")' % table)]


def names(db, kind):
    return [r[0] for r in db.execute(
        "SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite%'"
        " ORDER BY 1", (kind,))]


def run(db, sql):
    try:
        db.execute(sql)
    except sqlite3.Error:
        pass


def other_value(rnd, db):
    table = rnd.choice(names(db, "table"))
    column = rnd.choice(columns(db, table))
    value = rnd.choice(VALUES)
    if "id" in value and "id" not in columns(db, table):
        value = "7"
    where = rnd.choice(("", "WHERE rowid % 7 = 1", "LIMIT 1"))
    if where == "LIMIT 1" or "3000000" in value:
        where = "WHERE rowid = (SELECT min(rowid) FROM \"%s\")" % table
    run(db, 'UPDATE OR IGNORE "%s" SET "%s" = %s %s' % (table, column, value, where))


def number(rnd, old):
    """Near the old one, at a limit, or anything of 64 bits."""
    return rnd.choice((
        old + rnd.choice((-1, 1)), old ^ 1 << rnd.randrange(63), -old, 0, rnd.randrange(300),
        rnd.choice((1, -1)) << rnd.randrange(8, 63), (1 << 63) - 1, -1 << 63,
        rnd.randrange(-1 << 63, 1 << 63), rnd.randrange(1 << 32)))


def cells(rnd, db):
    """Changes up to 60 cells of one table, each by itself."""
    table = rnd.choice(names(db, "table"))
    named = columns(db, table)
    last = db.execute('SELECT max(rowid) FROM "%s"' % table).fetchone()[0] or 1
    for _ in range(1 << rnd.randrange(7)):
        column, row = rnd.choice(named), rnd.randrange(1, last + 1)
        old = db.execute('SELECT "%s" FROM "%s" WHERE rowid = ?' % (column, table),
                         (row,)).fetchone()
        old = old[0] if old and isinstance(old[0], int) else 0
        new = max(-1 << 63, min(number(rnd, old), (1 << 63) - 1))
        db.execute('UPDATE OR IGNORE "%s" SET "%s" = ? WHERE rowid = ?' % (table, column),
                   (new, row))


def forged(rnd, db):
    """Adds up to 64 rows that are those of a table with other numbers in them."""
    table = rnd.choice(names(db, "table"))
    rows = db.execute('SELECT * FROM "%s" LIMIT 300' % table).fetchall()
    for _ in range((1 << rnd.randrange(7)) if rows else 0):
        row = list(rnd.choice(rows))
        for at in rnd.sample(range(len(row)), rnd.randrange(1, len(row) + 1)):
            if isinstance(row[at], int):
                row[at] = max(-1 << 63, min(number(rnd, row[at]), (1 << 63) - 1))
        db.execute('INSERT OR REPLACE INTO "%s" VALUES(%s)' % (
            table, ", ".join("?" * len(row))), row)


def circle(rnd, db):
    run(db, rnd.choice((
        "UPDATE stack SET parent = id", "UPDATE stack SET parent = (SELECT max(id) FROM stack)",
        "UPDATE stack SET parent = id + 1", "UPDATE process SET parent = id",
        "UPDATE process SET parent = (SELECT max(id) FROM process)",
        "UPDATE stack SET depth = 1000000000", "UPDATE stack_path SET pos = pos + 1000000",
        "UPDATE OR IGNORE frame SET image = 4000000000", "UPDATE thread SET process = -1",
        "INSERT INTO stack VALUES(9223372036854775807, 1, 1, 1, NULL)",
        "UPDATE event SET time_ns = time_ns * 1000000", "UPDATE comm SET thread = id",
        "UPDATE sample_group SET kernel = 9000000000, user = -1",
        "UPDATE raw_chain SET addrs = zeroblob(5000000) WHERE id = 1",
        "UPDATE frame SET symbol = id", "UPDATE inline_frame SET depth = -depth")))


def schema(db, sql, *bind):
    db.execute("PRAGMA writable_schema = ON")
    db.execute(sql, bind)
    db.execute("PRAGMA writable_schema = RESET")


ENDLESS = ("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
           " SELECT %s FROM r")


def endless(rnd, db):
    kind = rnd.choice(("table", "view"))
    name = rnd.choice(names(db, kind))
    cols = ", ".join('%s AS "%s"' % (rnd.choice(("n", "1", "'x'")), c)
                     for c in columns(db, name))
    schema(db, "UPDATE sqlite_master SET type = 'view', rootpage = 0, sql = ?"
           " WHERE name = ?", 'CREATE VIEW "%s" AS ' % name + ENDLESS % cols, name)


def crossed(rnd, db):
    name = rnd.choice(names(db, "view"))
    cols = columns(db, name)
    schema(db, "UPDATE sqlite_master SET sql = ? WHERE name = ?",
           'CREATE VIEW "%s" AS SELECT %s FROM event a, event b, event c, event d'
           % (name, ", ".join('a.id AS "%s"' % c for c in cols)), name)


def circular_view(rnd, db):
    name = rnd.choice(names(db, "view"))
    schema(db, "UPDATE sqlite_master SET sql = ? WHERE name = ?",
           'CREATE VIEW "%s" AS SELECT * FROM "%s"' % (name, name), name)


def trigger(rnd, db):
    table = rnd.choice(names(db, "table"))
    run(db, "CREATE TRIGGER t%d %s %s ON \"%s\" BEGIN DELETE FROM event;"
        " SELECT load_extension('/tmp/x'); SELECT writefile('OUT', 'x'); END" % (
            rnd.randrange(1000), rnd.choice(("BEFORE", "AFTER")),
            rnd.choice(("INSERT", "UPDATE", "DELETE")), table))


def generated(rnd, db):
    table = rnd.choice(names(db, "table"))
    cols = columns(db, table)
    drop = rnd.choice(cols)
    rest = [c for c in cols if c != drop]
    if not rest:
        return
    run(db, 'ALTER TABLE "%s" RENAME TO "%s_"' % (table, table))
    run(db, 'CREATE TABLE "%s"(%s)' % (table, ", ".join(
        '"%s"' % c if c != drop else
        '"%s" AS (printf(\'%%.100000000c\', \'x\')) %s' % (c, rnd.choice(("STORED", "VIRTUAL")))
        for c in cols)))


def virtual(rnd, db):
    table = rnd.choice(names(db, "table"))
    cols = columns(db, table)
    how = rnd.choice(("fts5(%s)", "rtree(%s)", "dbstat", "zipfile('/etc/passwd')",
                      "csv(filename='/etc/passwd')", "fsdir('/')", "nothing(%s)"))
    how = how % ", ".join(cols) if "%s" in how else how
    schema(db, "UPDATE sqlite_master SET rootpage = 0, sql = ? WHERE name = ?",
           'CREATE VIRTUAL TABLE "%s" USING %s' % (table, how), table)


def constraint(rnd, db):
    table = rnd.choice(names(db, "table"))
    column = rnd.choice(columns(db, table))
    evil = rnd.choice(("hex(zeroblob(490000000)) <> ''", "randomblob(900000000) IS NOT NULL",
                       "printf('%.900000000c', 'x') <> ''", '"%s" REGEXP \'(a*)*\'' % column))
    schema(db, "UPDATE sqlite_master SET sql = substr(sql, 1, length(sql) - 1) || ? WHERE name = ?"
           " AND sql LIKE '%)'", ", CHECK(%s))" % evil, table)


def computed_index(rnd, db):
    table = rnd.choice(names(db, "table"))
    column = rnd.choice(columns(db, table))
    run(db, 'CREATE INDEX i%d ON "%s"(%s)' % (rnd.randrange(1000), table, rnd.choice((
        "hex(zeroblob(1000))", '"%s" || 1' % column, '"%s") WHERE ("%s" > 1' % (column, column)))))


def statistics(rnd, db):
    run(db, "ANALYZE")
    run(db, "UPDATE sqlite_stat1 SET stat = '%s'" % rnd.choice(
        ("1 1 1", "9223372036854775807", "0 0", "1 unordered", "-1", "x")))
    if rnd.randrange(2):
        schema(db, "UPDATE sqlite_master SET sql = 'CREATE TABLE sqlite_stat1(tbl, idx, stat AS"
               " (hex(zeroblob(490000000))))' WHERE name = 'sqlite_stat1'")


def wal_mode(rnd, db):
    run(db, "PRAGMA journal_mode = WAL")


def wrong_schema(rnd, db):
    name = rnd.choice(names(db, "table") + names(db, "view"))
    what, value = rnd.choice((
        ("rootpage", 1), ("rootpage", 2), ("rootpage", 999999), ("sql", None),
        ("sql", "CREATE TABLE x(a)"), ("sql", "nonsense"), ("type", "index"),
        ("name", "sqlite_x"), ("tbl_name", "event"), ("sql", "CREATE VIEW v AS SELECT " + "(" * 900)))
    schema(db, "UPDATE sqlite_master SET %s = ? WHERE name = ?" % what, value, name)


CHANGES = (other_value, other_value, other_value, cells, cells, cells, forged, forged, circle, circle, endless, endless, crossed,
           circular_view, trigger, generated, virtual, wrong_schema, constraint, constraint,
           computed_index, statistics, wal_mode)


def flip(rnd, path):
    """Changes bytes of the file, cuts it, or puts a journal beside it."""
    size = os.path.getsize(path)
    how = rnd.randrange(4)
    with open(path, "r+b") as f:
        for _ in range(rnd.randrange(1, 40) if how < 2 else 0):
            f.seek(rnd.randrange(100 if how else 0, size))
            f.write(bytes([rnd.randrange(256)]))
        if how == 2:
            f.truncate(rnd.randrange(100, size))
    if how == 3:
        with open(path + "-journal", "wb") as f:
            f.write(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + rnd.randbytes(2000))


def beside(rnd, path):
    """Puts something beside the database that no program of ours leaves there."""
    name = path + rnd.choice(("-journal", "-journal", "-wal", "-shm"))
    victim = os.path.join(os.path.dirname(path), "..", "victim")
    how = rnd.randrange(5)
    if how == 0:
        os.mkfifo(name)
    elif how == 1:
        os.symlink(victim, name)
    elif how == 2:
        os.link(victim, name)
    else:
        with open(path, "rb") as f:
            head = f.read(100)
        size = struct.unpack(">H", head[16:18])[0]
        pages = os.path.getsize(path) // (65536 if size == 1 else size or 512)
        journal = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + struct.pack(
            ">IIIII", rnd.choice((0, 1, 0xffffffff)), 1, max(pages - rnd.randrange(2), 0), 512, size)
        named = os.path.abspath(victim).encode()
        with open(name, "wb") as f:
            f.write(journal.ljust(512, b"\0"))
            if how == 3:
                f.write(bytes(4) + named + struct.pack(">II", len(named), sum(named)) + journal[:8])


def make(rnd, sound, path):
    """Makes a hostile database; returns what was done."""
    shutil.copy(sound, path)
    db = sqlite3.connect(path, isolation_level=None)
    db.text_factory = bytes
    done = []
    for _ in range(rnd.randrange(1, 4)):
        change = rnd.choice(CHANGES)
        done.append(change.__name__)
        db.text_factory = str
        try:
            change(rnd, db)
        except (sqlite3.Error, OverflowError, IndexError):
            pass
    db.close()
    for left in ("-journal", "-wal"):
        if os.path.exists(path + left):
            os.unlink(path + left)
    if rnd.randrange(6) == 0:
        done.append("flip")
        flip(rnd, path)
    elif rnd.randrange(4) == 0:
        done.append("beside")
        beside(rnd, path)
    return done


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS * LOAD, SECONDS * LOAD + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if LOAD == 1:
        resource.setrlimit(resource.RLIMIT_DATA, (2 * BYTES, 2 * BYTES))


def digest(folder):
    said = {}
    for f in sorted(os.listdir(folder)):
        name = os.path.join(folder, f)
        said[f] = os.lstat(name).st_mode
        if os.path.isfile(name):
            with open(name, "rb") as g:
                said[f] = hashlib.sha1(g.read()).digest()
    return said


def copy_all(src, name):
    """Copies the database and what is beside it."""
    for f in os.listdir(src):
        old, new = os.path.join(src, f), name + f[len("db"):]
        if os.path.islink(old) or os.lstat(old).st_nlink > 1:
            os.link(old, new, follow_symlinks=False)
        elif os.path.isfile(old):
            shutil.copy(old, new)
        else:
            os.mkfifo(new)


KEYS = ("\r", "\r", "\x1b[C", "\x1b[D", "\x1b[B", "\x1b[A", "\x1b[6~", "\x1b[H", "\x1b[F", "\t",
        *"12345678hjkepwnNaTubBxPtz?+-<> ", "/a\r", "fcpu=1\r", "fcomm=a\r", "fevent=\r",
        "f\x7f\r", "b\x7f\r")


def press_keys(keys, p, terminal):
    """Presses keys in view, shows nobody what it shows, and kills what does not end."""
    keys += ["\r"] + ["q"] * 60 + [""] * 600
    try:
        while keys:
            os.write(terminal, keys.pop(0).encode())
            while select.select([terminal], [], [], 0.02 if len(keys) > 600 else 0.1)[0]:
                os.read(terminal, 65536)
    except OSError:  # it has ended
        return
    p.kill()


def start(command, keys, **more):
    """Starts it, with a terminal if there are keys."""
    if not keys:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, **more)
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    p = subprocess.Popen(command, stdin=inside, stdout=inside, stderr=subprocess.PIPE, **more)
    os.close(inside)
    threading.Thread(target=press_keys, args=(keys, p, terminal), daemon=True).start()
    return p


def judge(build, work, command, keys):
    """Runs a command on work/in/db; returns what is wrong, or None."""
    src, out = os.path.join(work, "in"), os.path.join(work, "out")
    shutil.rmtree(out, ignore_errors=True)
    os.mkdir(out)
    words = {"DB": src + "/db", "SOUND": work + "/sound", "OUT": out + "/x",
             "OUT.tar": out + "/x.tar", "OUT.ctf": out + "/ctf", "COPY": out + "/copy"}
    if "COPY" in command:
        copy_all(src, out + "/copy")
    before = digest(src), digest(work)
    p = start([build + "/backstitch"] + [words.get(w, w) for w in command], keys, cwd=work,
              env={"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "HOME": out,
                   "TERM": "xterm", "TMPDIR": out,
                   "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"},
              preexec_fn=limits)
    said = p.stderr.read()
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = status = os.waitstatus_to_exitcode(status)
    if b"Sanitizer" in said or b"runtime error" in said:
        return "sanitizer: %s" % said.splitlines()[0:3]
    if status < 0:
        return "signal %d" % -status
    if status not in (0, 1, 2, 3, 4):
        return "status %d" % status
    if status in (1, 2) and not said.strip():
        return "status %d without a word" % status
    if LOAD == 1 and used.ru_maxrss > BYTES / 1024:
        return "%d MB of memory" % (used.ru_maxrss / 1024)
    for f in os.listdir(work):
        if re.fullmatch(r"view-\d+\.(txt|svg|html|json)", f):  # keys of view save screens
            os.unlink(work + "/" + f)
    if (digest(src), digest(work)) != before:
        return "the database, or another file, was changed"
    left = [f for f in os.listdir(out) if f not in ("x", "x.tar", "ctf", ".cache")
            and not ("COPY" in command and f.startswith("copy"))]
    return "left %s" % left if left else None


def main():
    build = os.path.abspath(sys.argv[1])
    n, _, parts = sys.argv[2].partition("/") if len(sys.argv) > 2 else (300, "", "")
    n, parts = int(n), int(parts or 1)
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    commands = [c for c in COMMANDS if c[0] in sys.argv[4:] or not sys.argv[4:]]
    tries, bad, kinds = 0, 0, {}
    with tempfile.TemporaryDirectory() as work:
        sound = []
        for c in CAPTURES:
            sound.append(work + "/" + os.path.basename(c) + ".db")
            subprocess.run([build + "/backstitch", "ingest", "-q", "--no-symbols", "-o",
                            sound[-1], c], check=True)
        shutil.copy(sound[0], work + "/sound")
        os.mkdir(work + "/in")
        with open(work + "/victim", "wb") as f:
            f.write(b"\0nobody may change this")
        for i in range(int(os.environ.get("SHARE_OF", "0")) % parts, n, parts):
            rnd = random.Random("%d-%d" % (seed, i))
            for f in os.listdir(work + "/in"):
                os.unlink(work + "/in/" + f)
            done = make(rnd, rnd.choice(sound), work + "/in/db")
            # each database meets some commands; all commands meet many of them
            for command in rnd.sample(commands, min(6, len(commands))):
                keys = rnd.choices(KEYS, k=40) if command[0] == "view" else []
                wrong = judge(build, work, command, keys)
                tries += 1
                for d in set(done):
                    kinds.setdefault(d, [0, 0])[0] += 1
                    kinds[d][1] += wrong is not None
                if wrong:
                    bad += 1
                    print("%d-%d (%s), %s: %s" % (seed, i, ", ".join(done),
                                                  " ".join(command), wrong), flush=True)
    for d, (tried, found) in sorted(kinds.items()):
        print("hostile %-16s %6d/%d" % (d, tried, found))
    print("%sok %d databases made to do harm, %d tries: %d findings"
          % ("not " if bad else "", n // parts, tries, bad))
    sys.exit(bad > 0)


LOAD = 10 if "san" in sys.argv[1] or "fuzz" in sys.argv[1] else 1
if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# planted.py - files beside a database, and schemas, that somebody planted.
# usage: planted.py PROGRAM DB FOLDER; prints "ok NAME", "not ok NAME" or "skip NAME" lines
#
# DB is a sound database. Each try runs a command on a copy of it in FOLDER, for
# at most SECONDS with at most BYTES. Journals are written here, after
# "Database File Format" of SQLite; the sound ones are those of a process that was
# killed. The file that a planted journal names, or is, must keep its bytes.
import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tarfile

PROGRAM, SOUND, FOLDER = sys.argv[1:4]
SECONDS, BYTES = 20, 200 << 20
MAGIC = bytes.fromhex("d9d505f920a163d7")
SECRET = b"\0a file that nobody may change\n"
OPENING = [["info"], ["report"], ["check"], ["script"], ["annotate"], ["path"],
           ["query", "DB", "SELECT count(*) FROM event"], ["flame", "-o", "OUT"],
           ["export", "--format", "folded", "-o", "OUT"], ["report", "--html", "-o", "OUT"],
           ["report", "--diff", "DB", "SOUND"], ["sframe", "--readiness"],
           ["bundle", "-f", "-o", "OUT.tar"], ["bundle", "--redact", "-f", "-o", "OUT"],
           ["merge", "-f", "-o", "OUT", "SOUND", "DB"], ["symbolize", "--no-cache"]]
SYMBOLIZE, INFO, REDACT = OPENING[-1], OPENING[0], OPENING[-3]


def ok(name, bad):
    print("%s %s" % ("not ok" if bad else "ok", name))
    for b in (bad or [])[:5]:
        print("# %s" % str(b).strip().replace("\n", "; "))
    sys.stdout.flush()


def read(name):
    with open(name, "rb") as f:
        return f.read()


def write(name, data):
    with open(name, "wb") as f:
        f.write(data)


@contextlib.contextmanager
def opened():
    """The copy, to be changed without waiting for the disk."""
    db = sqlite3.connect("x.db", isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")
    try:
        yield db
    finally:
        db.close()


def fresh():
    for f in os.listdir("."):
        if os.path.isdir(f) and not os.path.islink(f):
            shutil.rmtree(f)
        else:
            os.unlink(f)
    shutil.copy(SOUND, "x.db")
    write("victim", SECRET)


def run(command):
    """Returns status, output, messages and the memory that it took."""
    if "DB" not in command and not command[-1].startswith(("x.", "taken.")):
        command = command + ["DB"]
    words = {"DB": "x.db", "OUT": "out", "OUT.tar": "out.tar", "SOUND": SOUND}
    with open("../said", "w+") as said, open("../out", "w+") as out:
        p = subprocess.Popen([PROGRAM] + [words.get(w, w) for w in command], stdout=out,
                             stderr=said, stdin=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.alarm(SECONDS))
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        out.seek(0)
        return p.returncode, out.read(), said.read(), used.ru_maxrss << 10


def refuses(command, words):
    """Runs it; returns what is wrong if it is not refused with these words."""
    before = read("x.db")
    status, _, said, memory = run(command)
    if status != 1 or words not in said:
        return ["%s: status %d, %s" % (" ".join(command), status, said.strip())]
    if read("x.db") != before:
        return ["%s: the database was changed" % " ".join(command)]
    if not os.path.exists("victim") or read("victim") != SECRET:
        return ["%s: the other file was changed" % " ".join(command)]
    if memory > BYTES and not SANITIZED:
        return ["%s: %d MB" % (" ".join(command), memory >> 20)]
    return []


def page_size(data):
    n = struct.unpack(">H", data[16:18])[0]
    return 65536 if n == 1 else n


def header(data, records, nonce=1, **other):
    h = {"pages": len(data) // page_size(data), "sector": 512, "page": page_size(data)}
    h.update(other)
    return (MAGIC + struct.pack(">IIIII", records, nonce, h["pages"], h["sector"], h["page"])
            ).ljust(512, b"\0")


def record(number, page, nonce=1):
    total = nonce
    for i in range(len(page) - 200, 0, -200):
        total += page[i]
    return struct.pack(">I", number) + page + struct.pack(">I", total & 0xffffffff)


def super_name(data, name, **other):
    n = {"size": len(name), "sum": sum(name) & 0xffffffff}
    n.update(other)
    return (struct.pack(">I", 0x40000000 // page_size(data) + 1) + name
            + struct.pack(">II", n["size"], n["sum"]) + MAGIC)


def killed():
    """Makes x.db and x.db-journal those of a writer that was killed."""
    fresh()
    if os.fork() == 0:
        db = sqlite3.connect("x.db", isolation_level=None)
        db.execute("PRAGMA cache_size = 10")
        db.execute("BEGIN")
        for i in range(4):
            db.execute("UPDATE event SET cpu = ?", (1000 + i,))
            db.execute("UPDATE stack SET depth = ?", (1000 + i,))
            db.execute("UPDATE request SET flags = ?", (1000 + i,))
        db.execute("CREATE TABLE more AS SELECT randomblob(1000) FROM event")
        os.kill(os.getpid(), signal.SIGKILL)
    os.wait()
    return read("x.db"), read("x.db-journal")


def journals():
    data = read(SOUND)
    page = page_size(data)
    first, second = data[:page], data[page:2 * page]
    pages = len(data) // page
    fresh()
    bad = []
    for n in list(range(1, 12)) + [31, 100, 255, 256, 300, 511, 512, 513, 2000]:
        # "./" as often as it fits, then the name
        name = b"./" * (max(n - 11, 0) // 2)
        name += b"v" * (n - len(name))
        write(name, SECRET)
        for j in (header(data, 0), header(data, 1) + record(1, first), bytes(512)):
            write("x.db-journal", j + super_name(data, name))
            bad += refuses(SYMBOLIZE, "x.db-journal")
            if not os.path.exists(name):
                bad.append("the file with %d bytes of name was deleted" % n)
        os.path.exists(name) and os.unlink(name)
    for other in ({"size": 0}, {"size": 7}, {"size": 0xffffffff}, {"sum": 0}):
        write("x.db-journal", header(data, 0) + super_name(data, b"victim", **other))
        bad += refuses(SYMBOLIZE, "x.db-journal")
    ok("a_journal_that_names_another_file_deletes_nothing", bad)

    changed = bytearray(first)
    changed[68] ^= 1
    shrunk = first[:28] + struct.pack(">I", pages - 1) + first[32:]
    bad = []
    for j in (
            [header(data, 0, page=p) for p in (0, 3, 512, 1024, 2 * page, 65536, 0x80000000)]
            + [header(data, 0, pages=n) for n in (0, 1, pages - 1, pages + 1, 0x7fffffff,
                                                  0xffffffff)]
            + [header(data, 0, sector=n) for n in (0, 1, 31, 48, 131072, 0xffffffff)]
            + [header(data, 1) + record(1, bytes(changed)),
               header(data, 1) + record(1, bytes(page)), header(data, 1) + record(1, shrunk),
               header(data, 1, pages=pages - 1) + record(1, first),
               header(data, 1) + record(0, second), header(data, 1) + record(pages + 1, second),
               header(data, 2) + record(2, second), header(data, 0xfffffffe) + record(2, second),
               header(data, 1, nonce=2) + record(2, second),
               (header(data, 1) + record(2, second)).ljust(512 * (page // 512 + 2), b"\0")
               + header(data, 1, nonce=9) + record(2, second, nonce=8),
               b"no journal", b"x" * 5000, MAGIC[:4] + b"x" * 5000, MAGIC + b"\xff" * 5000]):
        write("x.db-journal", j)
        bad += refuses(SYMBOLIZE, "x.db-journal")
        bad += refuses(INFO, "x.db-journal")
    ok("a_journal_of_another_database_is_refused", bad)

    fresh()
    bad = []
    for j in (b"", bytes(512), bytes(5000), MAGIC[:3], header(data, 0)[:20]):
        for command in (INFO, SYMBOLIZE):
            write("x.db-journal", j)
            status, _, said, _ = run(command)
            if status and not (command == INFO and "symbolize" in said):
                bad.append("%d bytes, %s: %s" % (len(j), command[0], said))
    ok("what_is_left_of_a_journal_is_no_fault", bad)

    bad = []
    torn, journal = killed()
    sound = read(SOUND)
    if journal.count(MAGIC) < 2 or torn == sound:
        bad.append("there are %d headers" % journal.count(MAGIC))
    status, _, said, _ = run(INFO)
    if status != 1 or "'backstitch symbolize' undoes it" not in said:
        bad.append(said)
    status, _, said, _ = run(SYMBOLIZE)
    with opened() as db:
        left = db.execute("SELECT count(*) FROM event WHERE cpu >= 1000").fetchone()[0]
        if status or left or os.path.exists("x.db-journal"):
            bad.append("%d rows, status %d, %s" % (left, status, said))
        if db.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            bad.append("is damaged")
    ok("what_a_killed_writer_changed_is_put_back", bad)

    # a byte that is in a sum: either all comes back, or it is refused
    bad = []
    at = [m.start() for m in re.finditer(re.escape(MAGIC), journal)]
    for i in [a + k for a in at[:3] for k in (0, 9, 13, 316 + page, 516 + page, 519 + page)]:
        write("x.db", torn)
        write("x.db-journal", journal[:i] + bytes([journal[i] ^ 0x41]) + journal[i + 1:])
        status, _, said, _ = run(SYMBOLIZE)
        if status == 0 and i < 1000:
            with opened() as db:
                if db.execute("SELECT count(*) FROM event WHERE cpu >= 1000").fetchone()[0]:
                    bad.append("byte %d: half of it came back" % i)
        if status and "x.db-journal" not in said:
            bad.append("byte %d: %s" % (i, said))
    ok("a_journal_that_was_changed_puts_back_all_or_nothing", bad)


def kinds():
    data = read(SOUND)

    def fifo(name):
        os.mkfifo(name)

    def sock(name):
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
            s.bind(name)

    def link(name):
        os.symlink("victim", name)

    def loose(name):
        os.symlink("nothing", name)

    def hard(name):
        os.link("victim", name)

    def device(name):
        os.mknod(name, 0o20600, os.makedev(1, 5))

    def owner(name):
        write(name, header(data, 0))
        os.chown(name, 65534, 65534)

    makers = [fifo, sock, link, loose, hard, os.mkdir]
    if os.geteuid() == 0:
        makers += [device, owner]
    for make in makers:
        bad = []
        for tail in ("-journal", "-wal", "-shm"):
            fresh()
            try:
                make("x.db" + tail)
            except PermissionError:  # root without the right, in a container
                continue
            for command in (SYMBOLIZE, INFO):
                bad += refuses(command, "x.db" + tail)
        ok("beside_a_database_is_no_%s" % make.__name__, bad)
    bad = []
    for command in OPENING:
        fresh()
        fifo("x.db-journal")
        bad += refuses(command, "x.db-journal")
        os.unlink("x.db-journal")
        write("x.db-journal", header(data, 0) + super_name(data, b"victim"))
        bad += refuses(command, "x.db-journal")
        left = set(os.listdir(".")) - {"x.db", "x.db-journal", "victim"}
        if left:
            bad.append("%s left %s" % (command, left))
    ok("every_command_looks_beside_the_database", bad)
    # the side files of a link are beside what it leads to
    fresh()
    os.mkdir("far")
    os.rename("x.db", "far/y.db")
    os.symlink("far/y.db", "x.db")
    write("far/y.db-journal", header(data, 0) + super_name(data, b"victim"))
    ok("so_do_they_where_a_link_leads", refuses(SYMBOLIZE, "far/y.db-journal"))


def wal():
    fresh()
    _, want, _, _ = run(INFO)
    with opened() as db:
        db.execute("PRAGMA journal_mode = WAL")
    bad = []
    status, said, _, _ = run(INFO)
    if status or said != want or sorted(os.listdir(".")) != ["victim", "x.db"]:
        bad.append("status %d, there is %s" % (status, os.listdir(".")))
    bad += refuses(SYMBOLIZE, "x.db: is in WAL mode")
    # what earlier releases left there
    write("x.db-wal", b"")
    write("x.db-shm", bytes(32768))
    status, said, _, _ = run(INFO)
    if status or said != want:
        bad.append("status %d with an empty -wal" % status)
    ok("a_database_in_wal_mode_is_read_and_nothing_is_left", bad)
    with opened() as db:
        db.execute("UPDATE event SET cpu = 7")
        bad = refuses(INFO, "x.db-wal") + refuses(SYMBOLIZE, "x.db-wal")
    ok("changes_that_are_in_a_wal_only_are_not_passed_over", bad)


def bundles():
    """One that brings a journal: only its database is taken out."""
    fresh()
    data = read(SOUND)
    write("x.db-journal", header(data, 0) + super_name(data, b"victim"))
    with tarfile.open("x.tar", "w") as t:
        for name in ("x.db-journal", "x.db", "x.db-journal"):
            t.add(name)
    os.unlink("x.db")
    os.unlink("x.db-journal")
    bad = []
    status, _, said, _ = run(["symbolize", "x.tar"])
    advice = re.search(r"'backstitch (bundle -o FILE\.db x\.tar)'", said)
    if status != 2 or not advice:
        bad.append("status %d: %s" % (status, said))
    for command in (["report", "x.tar"],
                    advice and advice[1].replace("FILE.db", "taken.db").split() or [],
                    ["symbolize", "--no-cache", "taken.db"]):
        status, _, said, _ = run(command)
        if status:
            bad.append("%s: status %d: %s" % (command, status, said))
    if sorted(os.listdir(".")) != ["taken.db", "victim", "x.tar"] or read("victim") != SECRET:
        bad.append(os.listdir("."))
    ok("a_journal_in_a_bundle_is_not_taken_out", bad)


def in_text(old, new):
    return ("UPDATE sqlite_master SET sql = replace(sql, %s, %s) WHERE type = 'table'"
            % tuple("'%s'" % s.replace("'", "''") for s in (old, new)))


def schemas():
    huge = "hex(zeroblob(490000000))"
    checks = ["%s <> ''" % huge, "length(hex(randomblob(400000000))) > 0", "1",
              "label REGEXP '(a*)*b'", "name LIKE '%a%a%a%a%a%a%a%b'",
              "printf('%.900000000c', 'x') <> ''",
              "(WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
              " SELECT count(*) FROM r) > 0"]
    columns = ["CHECK(%s)" % c for c in checks] + [
        "DEFAULT (%s)" % huge, "DEFAULT 'x'", "COLLATE NOCASE", "COLLATE nothing", "NOT NULL",
        "UNIQUE", "GENERATED ALWAYS AS (%s) STORED" % huge, "AS (%s) VIRTUAL" % huge,
        "REFERENCES event(id)"]
    changes = [(in_text("file TEXT,", "file TEXT %s," % c), "'image'") for c in columns]
    changes += [(in_text("raw_name TEXT,", "raw_name TEXT %s," % c), "'symbol'")
                for c in columns[:2]]
    changes += [(in_text("PRIMARY KEY(kind, id)", "PRIMARY KEY(kind, id), CHECK(%s)" % c), "'word'")
                for c in checks]
    changes += [
        ("CREATE INDEX i ON symbol(hex(zeroblob(40)))", "'i'"),
        ("CREATE INDEX i ON symbol(name) WHERE length(name) > 3", "'i'"),
        ("CREATE INDEX i ON ev_sched_sched_switch(hex(zeroblob(40)))", "'i'"),
        ("UPDATE sqlite_master SET type = 'view', rootpage = 0, sql = 'CREATE VIEW symbol AS SELECT"
         " hex(zeroblob(490000000)) AS id' WHERE name = 'symbol'", "'symbol'"),
        (in_text('"prev_comm",', '"prev_comm" CHECK(%s),' % checks[0]), "'ev_sched_sched_switch'"),
        (in_text('"prev_comm",', '"prev_comm" DEFAULT (%s),' % huge), "'ev_sched_sched_switch'"),
    ]
    bad = []
    tried = 0
    with contextlib.closing(sqlite3.connect(SOUND)) as db:
        text = " ".join(r[0] or "" for r in db.execute("SELECT sql FROM sqlite_master"))
    for sql, name in changes:
        fresh()
        with opened() as db:
            db.execute("PRAGMA writable_schema = ON")
            if "ev_sched_sched_switch" in name + sql and "ev_sched_sched_switch" not in text:
                continue
            try:
                db.execute(sql)
            except sqlite3.OperationalError as e:
                bad.append("%s: %s" % (sql, e))
        if read("x.db") == read(SOUND):
            continue
        tried += 1
        got = refuses(SYMBOLIZE, "x.db: ")
        # text that SQLite itself does not take is refused without a name
        if not got and name not in open("../said").read() and (
                "malformed" not in open("../said").read()
                and "damaged" not in open("../said").read()):
            got = [open("../said").read()]
        bad += ["%s: %s" % (sql, g) for g in got]
        for command in (INFO, REDACT):
            _, _, _, memory = run(command)
            if memory > BYTES and not SANITIZED:
                bad.append("%s: %s: %d MB" % (sql, command[0], memory >> 20))
    if tried < 25:
        bad.append("only %d were tried" % tried)
    ok("no_constraint_but_ours_is_evaluated", bad)

    sound = [
        ("UPDATE sqlite_master SET sql = replace(sql, '-- ', '--  another release: ')", None),
        ("CREATE INDEX i ON symbol(name)", None),
        ("CREATE TABLE mine(a CHECK(a > 0), b DEFAULT (1)); CREATE VIEW v AS SELECT * FROM mine",
         None),
        ("CREATE TABLE seen(a); CREATE TRIGGER t AFTER UPDATE ON image BEGIN"
         " INSERT INTO seen VALUES(1); END; CREATE TRIGGER d DELETE ON internal_label BEGIN"
         " INSERT INTO seen VALUES(1); END", "SELECT count(*) FROM seen"),
        ("CREATE TABLE auto(id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO auto VALUES(7);"
         " UPDATE sqlite_sequence SET seq = 9223372036854775807, name = 'event'", None),
        ("ANALYZE; UPDATE sqlite_stat1 SET stat = '1 1 1 1 unordered noskipscan'", None),
        ("ANALYZE; DELETE FROM sqlite_stat1; WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT"
         " n + 1 FROM r WHERE n < 20000) INSERT INTO sqlite_stat1 SELECT 'event', 'x' || n,"
         " printf('%.1000c', '9') FROM r", None),
        ("ANALYZE; PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql ="
         " 'CREATE TABLE sqlite_stat1(tbl, idx, stat AS (hex(zeroblob(490000000))))'"
         " WHERE name = 'sqlite_stat1'", "may fail"),
    ]
    bad = []
    for sql, ask in sound:
        fresh()
        with opened() as db:
            db.execute("PRAGMA writable_schema = ON")
            db.executescript(sql)
        for command in (INFO, SYMBOLIZE):
            status, _, said, memory = run(command)
            if (status and ask != "may fail") or status < 0 or (
                    memory > BYTES and not SANITIZED):
                bad.append("%s: %s: status %d, %d MB, %s" % (sql, command[0], status,
                                                            memory >> 20, said))
        if ask and ask != "may fail":
            with opened() as db:
                if db.execute(ask).fetchone()[0]:
                    bad.append("%s: was run" % sql)
    ok("what_a_user_added_is_left_alone_and_not_run", bad)

    data = read(SOUND)
    bad = []
    for at, size, values in ((28, 4, (0, 1, 0x7fffffff, 0xffffffff)), (32, 4, (1, 0xffffffff)),
                             (36, 4, (1, 0xffffffff)), (44, 4, (0, 9)), (52, 4, (1, 0xffffffff)),
                             (56, 4, (2, 3, 9)), (16, 2, (0, 1, 512, 3)), (20, 1, (255,))):
        for v in values:
            fresh()
            write("x.db", data[:at] + v.to_bytes(size, "big") + data[at + size:])
            for command in (INFO, SYMBOLIZE):
                status, _, said, memory = run(command)
                if status not in (0, 1) or (memory > BYTES and not SANITIZED) or (
                        os.path.getsize("x.db") > 4 * len(data)):
                    bad.append("byte %d is %d, %s: status %d, %d MB, %s" % (
                        at, v, command[0], status, memory >> 20, said))
    ok("numbers_of_the_header_take_no_memory", bad)


def writing():
    """While another program writes, what it has not written yet is not seen."""
    fresh()
    bad = []
    _, want, _, _ = run(INFO)
    with opened() as db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE image SET status = 'x'")
        if not os.path.exists("x.db-journal"):
            bad.append("there is no journal")
        status, said, _, _ = run(INFO)
        if status or said != want:
            bad.append("status %d" % status)
        db.execute("ROLLBACK")
    ok("a_database_is_read_while_it_is_written", bad)


def main():
    os.makedirs(FOLDER)
    os.chdir(FOLDER)
    os.environ.update(TMPDIR=os.path.abspath(".."), DEBUGINFOD_URLS="")
    for part in (journals, kinds, wal, bundles, schemas, writing):
        try:
            part()
        except sqlite3.Error as e:
            ok(part.__name__, [e])


SANITIZED = b"__asan_init" in read(PROGRAM)
if __name__ == "__main__":
    main()

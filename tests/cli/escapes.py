# escapes.py - puts names that command terminals wherever names can be, and looks at all that is printed.
# usage: escapes.py PROGRAM CAPTURES WORK; prints "ok NAME" or "not ok NAME" lines
"""What may be printed: UTF-8 whose only control characters are newline and tab,
without characters that are invisible or turn text; on a terminal also the few
sequences of term.c. A line that begins with FORGED was begun by a name.

LONG=1 spoils every column of the databases by itself, and tries every name in
every place; without it each name is somewhere. Under sanitizers, which read the
same bytes, only the parts in SANITIZED run then."""

import glob
import os
import pty
import re
import select
import shutil
import sqlite3
import struct
import subprocess
import sys
import time
import tty

PROGRAM, CAPTURES, WORK = sys.argv[1:]
LONG = bool(os.environ.get("LONG"))
with open(PROGRAM, "rb") as program:
    SAN = b"__asan_init" in program.read()
os.chdir(WORK)
ENV = dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8", COLUMNS="100")
ENV.pop("NO_COLOR", None)

EVIL = [
    b"\x1b[31mred", b"\x1b]52;c;RVZJTA==\x07", b"\x1b]8;;http://e/\x1b\\l", b"\x1bPq#0\x1b\\",
    b"\x1bc", b"\x1b[2J\x1b[H", b"\x1b]0;title\x07", b"\x1b[6n", b"\x1b_apc\x1b\\", b"\x1b^pm\x1b\\",
    b"\x1bXsos\x1b\\", b"\x1b", b"\x1b[", b"\x9b31mred", b"\x9d0;t\x9c", b"\x90q\x9c", b"\xc2\x9b31mred",
    b"\xc2\x9d0;t\xc2\x9c", b"\xc2\x85next", b"a\nFORGED line", b"\nFORGED", b"a\n\n  FORGED", b"a\rFORGED", b"a\tb",
    b"a\x08\x08\x08b", b"a\x07", b"a\x0e\x0fb", b"a\x7fb", b"a\x0b\x0cb", b"\xe2\x80\xaegnp.exe",
    b"\xe2\x81\xa6a\xe2\x81\xa9", b"\xe2\x80\xa8FORGED", b"\xef\xbb\xbfa", b"a\xc2\xadb\xe2\x80\x8b", b"\xc0\x9b31m", b"\xe0\x80\x9b",
    b"\xed\xa0\x80\xed\xb0\x80", b"\xf4\x90\x80\x80", b"\xff\xfe", b"\xc3", b"x" * 3000, b"", b"-", b"--help",
    b"%s%n%s%n", b"%1$s", b"   ", b"'\"`", b"\\x1b[31m\\", b"</script><script>FORGED", b"]]>&<!--", b"\xf3\xa0\x80\x81a",
]
OURS = re.compile("\x1b\\[(?:1|2|31|32|33|0)m|\r(?=\n)|\r[^\n]*?\x1b\\[K")
TURNS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000fffff]")
FORGED = re.compile(r"^\s*FORGED", re.M)
# values of several lines are indented: output.c
FORGED_LINES = re.compile(r"^FORGED", re.M)

seen = {}


def wrong(out, terminal=False, forged=FORGED):
    """Returns what is wrong with an output; None: nothing."""
    try:
        text = out.decode()
    except UnicodeDecodeError as e:
        return "not UTF-8: %r" % out[max(0, e.start - 40):e.start + 20]
    if terminal:
        text = OURS.sub("", text)
    m = TURNS.search(text) or forged.search(text)
    if m:
        return "%r" % text[max(0, m.start() - 60):m.end() + 20]
    return None


def note(name, what, how=""):
    """Counts a result of the test NAME."""
    bad = seen.setdefault(name, [0, []])
    bad[0] += 1
    if what:
        bad[1].append("%s: %s" % (how, what))


def run(name, *args, stdin=b"", binary=False, env=None):
    """Runs a command with pipes; looks at what it prints."""
    r = subprocess.run([PROGRAM, *args], input=stdin, capture_output=True, env=env or ENV)
    how = " ".join(repr(a)[:80] for a in args)
    if not binary:
        note(name, wrong(r.stdout, forged=FORGED_LINES if "lines" in args else FORGED), how)
    note(name, wrong(r.stderr), how)
    # as a shell says it: no such program, or none that may be run
    ends = (*range(5), 126, 127) if args[0] == "record" else range(5)
    note(name, None if r.returncode in ends else "status %d: %r" % (r.returncode, r.stderr[-300:]), how)
    return r


def on_terminal(name, *args, keys=b"", only=None):
    """Runs a command with a terminal as all of its descriptors."""
    pid, fd = pty.fork()
    if not pid:
        tty.setraw(0)
        os.execve(PROGRAM, [PROGRAM, *args], dict(ENV, TERM="xterm-256color"))
    out, end, typed = b"", time.time() + 30, False
    while time.time() < end:
        if not select.select([fd], [], [], 0.3)[0]:
            if keys:
                os.write(fd, keys[:1])
                keys = keys[1:]
            continue
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    os.close(fd)
    os.waitpid(pid, 0)
    how = "terminal: " + " ".join(repr(a)[:80] for a in args)
    if only:
        note(name, next((repr(e) for e in only if e in out), None), how)
    else:
        note(name, wrong(out, True), how)


# ---- a perf.data with a name in every field

TYPE = 1 | 2 | 4 | 32 | 128  # IP TID TIME CALLCHAIN CPU


def padded(s, to=8, least=1):
    s = s.split(b"\0")[0] + b"\0" * least
    return s + bytes(-len(s) % to)


def perf_data(path, names):
    """Writes a capture whose strings come from names()."""
    def rec(kind, misc, body):
        return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def trailer(t):
        return struct.pack("<IIQII", 7, 7, t, 0, 0)
    flags = 1 << 18 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 23
    attr = struct.pack("<IIQQQQQ", 1, 64, 0, 1, TYPE, 0, flags) + bytes(16)
    mmap = struct.pack("<IIQQQIIQQII", 7, 7, 0x400000, 0x10000, 0, 8, 1, 99, 0, 5, 2)
    module = struct.pack("<IIQQQIIQQII", 0xffffffff, 0, 0xffffffffc0000000, 0x10000, 0, 0, 0, 0, 0, 5, 2)
    data = rec(3, 0, struct.pack("<II", 7, 7) + padded(names()[:60000]) + trailer(1000))
    data += rec(10, 2, mmap + padded(names()[:60000]) + trailer(1001))
    data += rec(10, 1, module + padded(names()[:60000]) + trailer(1002))
    data += rec(17, 0, struct.pack("<QIHH", 0xffffffffd0000000, 0x1000, 1, 0) + padded(names()) + trailer(1003))
    data += rec(19, 0, struct.pack("<Q", 5) + padded(names()) + trailer(1004))
    for i in range(6):
        chain = (2**64 - 128, 0xffffffffc0000010 + i % 3, 2**64 - 512, 0x400100 + i, 0x400200)
        data += rec(9, 1, struct.pack("<QIIQII", chain[1], 7, 7, 2000 + i, 0, 0) + struct.pack("<Q5Q", 5, *chain))
    data += rec(99, 0, bytes(8)) + rec(2, 0, struct.pack("<QQ", 1, 3) + trailer(3000))

    def string(s):
        s = padded(s, 64)
        return struct.pack("<I", len(s)) + s
    features = {2: build_id(names()),
                12: struct.pack("<II", 1, 64) + attr + struct.pack("<I", 1) + string(names()) + struct.pack("<Q", 1)}
    for bit in (3, 4, 5, 6, 8, 9):  # hostname osrelease version arch cpudesc cpuid
        features[bit] = string(names())
    features[11] = struct.pack("<I", 3) + string(names()) + string(names()) + string(names())
    head, ids = 104, struct.pack("<Q", 1)
    attrs = attr + struct.pack("<QQ", head, 8)
    at = head + len(ids) + len(attrs)
    bits = sum(1 << b for b in features)
    out = struct.pack("<8s8Q", b"PERFILE2", head, 80, head + 8, len(attrs), at, len(data), 0, 0)
    out += struct.pack("<4Q", bits, 0, 0, 0) + ids + attrs + data
    off, table, body = len(out) + 16 * len(features), b"", b""
    for b in sorted(features):
        table += struct.pack("<QQ", off + len(body), len(features[b]))
        body += features[b]
    with open(path, "wb") as f:
        f.write(out + table + body)


def build_id(name):
    name = padded(name)[:4000]
    return struct.pack("<IHHi", 0, 2, 36 + len(name), 7) + bytes(range(20)) + bytes(4) + name


class Names:
    """Gives one name after the other; counts."""

    def __init__(self, at=0):
        self.at = at

    def __call__(self):
        self.at += 1
        return EVIL[self.at % len(EVIL)]


# ---- the commands, as the program lists them

LISTED = [line.split("\t")[0] for line in subprocess.run(
    [PROGRAM, "--list-commands"], capture_output=True, text=True).stdout.splitlines()]
# what a command does beside "COMMAND INPUT"; of a new one, that alone
MORE = {
    "report": (["--callers", "."], ["--sched"], ["--off-cpu"], ["--threads"], ["--sort", "comm,dso,sym"], ["--json"],
               ["--html", "-o", "-"], ["--event", "\x1b[31m"], ["--format", "csv"]),
    "flame": ([], ["--wall"], ["--invert"]), "path": (["--comm", "\x1b[31m"], ["--comm", "a\nFORGED line"], ["--comm", "*", "--json"]),
    "check": (["--json"], ["--evidence"], ["--sql"]), "info": (["--json"],),
    "script": (["-F", "comm,pid,tid,event,ip,sym,dso,trace,verdict"], ["--comm", "a\nFORGED"]),
    "query": (["SELECT 'a\x1b[31m\nFORGED' AS 'b\x1b[31m'"], ["--schema"], ["SELECT \x1b[31m"]),
    "export": tuple(["--format", f] for f in ("folded", "json", "chrome", "firefox")),
    "annotate": (["\x1b[31m"], []), "ingest": (["-f", "-o", "made.db"],), "merge": (["-f", "-o", "made.db"],),
    "bundle": (["-f", "-o", "made.tar.gz"], ["-f", "--redact", "-o", "made.redacted.db"]), "push": (),
    "sframe": (["--check"], ["--unwind"]), "dump": (), "symbolize": (), "completion": (), "help": (),
    "follow": ((["-o", "folder", "--segment", "1"]),), "view": (),
}
TABLES = ("capture", "comm", "image", "event_type", "word", "function", "loss", "damage", "hot_functions", "verdicts")


def commands(name, db, brief=False):
    """Runs each command on a database or capture."""
    for c in LISTED:
        if c in ("view", "follow", "completion"):
            continue
        if c == "push":
            run(name, c, "--dry-run", "--retry", "0", "clickhouse://127.0.0.1:1/\x1b[31m", db)
            continue
        run(name, c, *(["-f", "-o", "made.db"] if c in ("ingest", "merge") else ["-f", "-o", "made.tar.gz"] if c == "bundle" else []), db)
        if brief:
            continue
        for more in MORE.get(c, ()):
            args = [more[0], db, *more[1:]] if c == "annotate" and more else [*more[:-1], db, more[-1]] if c == "query" and more[0][0] != "-" else [*more, db]
            if c == "annotate":
                args = [db, *more]
            run(name, c, *args)
    if not brief:
        for t in TABLES if LONG else TABLES[:3]:
            for form in ("table", "csv", "json", "lines"):
                run(name, "query", "--format", form, db, "SELECT * FROM " + t)
    run(name, db)


def terminal_commands(name, db):
    for args in (["info"], ["report"], ["check"], ["script"], ["report", "--sched"], ["query", db, "SELECT * FROM comm, image"],
                 ["ingest", "-f", "-o", "made.db"], ["path"], ["annotate"], ["bundle", "-f", "-o", "made.tar.gz"]):
        on_terminal(name, *args[:1], "--no-pager", *args[1:], *([] if "query" in args else [db]))
    on_terminal(name, "--no-pager", db)


def captures():
    """Every name in every field of a perf.data, and names in place of those of
    captures of other forms."""
    for at in range(len(EVIL)) if LONG else range(0, len(EVIL), len(EVIL) if SAN else 13):
        perf_data("evil.data", Names(at))
        run("names_of_a_capture_are_shown", "ingest", "-f", "-o", "evil.db", "evil.data")
        run("names_of_a_capture_are_shown", "dump", "evil.data")
        commands("names_of_a_capture_are_shown", "evil.db", brief=not LONG and at > 0)
        if LONG or not at:
            terminal_commands("and_on_a_terminal", "evil.db")
    commands("a_capture_in_place_of_a_database", "evil.data", brief=True)


def others():
    """In captures of other forms, words that the database has are replaced by
    names of the same length."""
    for source in ("ftrace-v7.dat", "ftext-marker-kstack.txt", "task-exitexec.data", "pair.data"):
        sound = subprocess.run([PROGRAM, "ingest", "-q", "-f", "-o", "sound.db", os.path.join(CAPTURES, source)],
                               capture_output=True)
        if sound.returncode not in (0, 3):
            continue
        with open(os.path.join(CAPTURES, source), "rb") as f:
            data = f.read()
        words, con = set(), sqlite3.connect("sound.db")
        con.text_factory = bytes
        for table, column in text_columns(con):
            words.update(w for (w,) in con.execute("SELECT DISTINCT %s FROM %s WHERE typeof(%s) = 'text' LIMIT 300"
                                                   % (column, table, column)) if 4 <= len(w) < 60)
        con.close()
        fits = sorted(w for w in words if w in data)
        note("captures_have_names_to_spoil", None if len(fits) > 3 else "%s has %d" % (source, len(fits)))
        for at in range(8 if LONG else 1):
            spoiled = data
            for i, w in enumerate(fits):
                e = (EVIL[(i * 8 + at) % len(EVIL)].replace(b"\n", b"\r") + b"x" * 60)[:len(w)]
                spoiled = spoiled.replace(w, e)
            name = "spoiled" + os.path.splitext(source)[1]
            with open(name, "wb") as f:
                f.write(spoiled)
            commands("names_in_%s_are_shown" % source.split(".")[0].replace("-", "_"), name, brief=True)


# ---- databases

def text_columns(con):
    """Each column with text of each table, from the schema."""
    for (table,) in con.execute("SELECT CAST(name AS TEXT) FROM sqlite_master WHERE type = 'table'").fetchall():
        table = table.decode() if isinstance(table, bytes) else table
        for c in con.execute('PRAGMA table_info("%s")' % table).fetchall():
            column = c[1].decode() if isinstance(c[1], bytes) else c[1]
            n = con.execute('SELECT count(*) FROM "%s" WHERE typeof("%s") = \'text\'' % (table, column)).fetchone()[0]
            if n:
                yield '"%s"' % table, '"%s"' % column


def spoil(source, db, columns, at, names=EVIL):
    shutil.copy(source, db)
    con = sqlite3.connect(db)
    con.execute("PRAGMA ignore_check_constraints = 1")
    for i, (table, column) in enumerate(columns):
        ids = con.execute("SELECT rowid FROM %s WHERE typeof(%s) = 'text' LIMIT 100" % (table, column)).fetchall() \
            if "without" not in table else []
        for k, (rowid,) in enumerate(ids):
            con.execute("UPDATE OR IGNORE %s SET %s = CAST(? AS TEXT) WHERE rowid = ?" % (table, column),
                        (names[(at + i * 5 + k) % len(names)], rowid))
    con.commit()
    con.close()


def databases():
    perf_data("plain.data", lambda: b"plain")
    for source in ("plain.data", os.path.join(CAPTURES, "pair.dat.zst"))[:1 if SAN and not LONG else 2]:
        subprocess.run([PROGRAM, "ingest", "-q", "-f", "-o", "base.db", source], capture_output=True)
        con = sqlite3.connect("base.db")
        tables = {t for (t,) in con.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%WITHOUT ROWID%'")}
        columns = [c for c in text_columns(con) if c[0].strip('"') in tables]
        con.close()
        note("databases_have_columns_to_spoil", None if len(columns) > 20 else "only %d" % len(columns))
        free = [c for c in columns if c[0] not in ('"meta"', '"internal_meta"')]
        for at in range(0, len(EVIL), 9 if LONG else 100):
            spoil("base.db", "spoiled.db", free, at)
            commands("text_of_a_database_is_shown", "spoiled.db", brief=not LONG and at > 0)
        terminal_commands("text_of_a_database_on_a_terminal", "spoiled.db")
        if SAN and not LONG:
            continue
        spoil("base.db", "spoiled.db", free, 0, [e for e in EVIL if b"\n" in e])
        commands("no_text_of_a_database_begins_a_line", "spoiled.db")
        for i, column in enumerate(columns):
            for at in range(0, len(EVIL), 11) if LONG else [i * 7]:
                spoil("base.db", "spoiled.db", [column], at)
                if LONG:
                    commands("each_column_of_a_database_is_shown", "spoiled.db")
                else:
                    for c in (["info"], ["check"])[i % 2:][:1]:
                        run("each_column_of_a_database_is_shown", *c, "spoiled.db")


# ---- names of files, arguments, the environment

def files():
    perf_data("plain.data", lambda: b"plain")
    for at, e in enumerate(EVIL):
        e = e[:200].replace(b"/", b"|")
        if e in (b"", b"-", b"--help"):
            continue
        if not LONG and at % 16 and at != 19:
            continue
        folder = os.path.join(b"d" + e)
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        capture, db = os.path.join(folder, e + b".data"), os.path.join(folder, e + b".db")
        shutil.copy("plain.data", capture)
        # bytes, not names of Python: the program gets them as they are
        def go(*args):
            run("names_of_files_are_shown", *[a if isinstance(a, bytes) else a.encode() for a in args])
        go("ingest", "-f", "-o", db, capture)
        for c in ("info", "check", "symbolize", "report", "dump", "export"):
            go(c, db)
            go(c, capture)
        go("merge", "-f", "-o", db + b"2.db", db)
        go("bundle", "-f", "-o", db + b".tar.gz", db)
        go("info", db + b".tar.gz")
        go("info", b"no" + e)
        go(e)
        go("report", e)
        go("--" + "x", e)
        go(b"--" + e)
        go("report", b"--" + e, db)
        go("help", e)
        go("query", db, e)
        go("query", db, b"SELECT '" + e)
        for option in (b"--event", b"--comm", b"--time", b"--pid", b"--symfs", b"--sort", b"--format", b"--limit"):
            go("report", option, e, db)
        with open(capture, "r+b") as f:
            f.truncate(os.path.getsize(capture) - 100)
        go("ingest", "-f", "-o", db, capture)
        go("info", capture)
        os.chdir(folder)
        go("info")
        os.chdir("..")
        if b"\n" in e or LONG:
            on_terminal("names_of_files_on_a_terminal", b"info", db)
            on_terminal("names_of_files_on_a_terminal", b"ingest", b"-f", b"-o", db, capture)
        shutil.rmtree(folder)
    for v in ("TMPDIR", "BACKSTITCH_CLICKHOUSE_PASSWORD", "DEBUGINFOD_URLS", "XDG_CACHE_HOME", "COLUMNS", "HOME"):
        for e in (b"\x1b[31m", b"a\nFORGED", b"\xff"):
            run("the_environment_is_shown", "info", "plain.data", env={**ENV, v: e})
            run("the_environment_is_shown", "symbolize", "--debuginfod", "plain.data", env={**ENV, v: e})
            run("the_environment_is_shown", "report", "clickhouse://127.0.0.1:1/x", env={**ENV, v: e})


def names_of_code():
    """Symbols of kallsyms and of a perf map."""
    os.makedirs("maps", exist_ok=True)
    perf_data("plain.data", lambda: b"//anon")
    for at in range(0, len(EVIL), 1 if LONG else 8):
        e = [EVIL[(at + k) % len(EVIL)].replace(b"\n", b"\r") for k in range(4)]
        with open("kallsyms", "wb") as f:
            f.write(b"ffffffffc0000000 t %s\t[%s]\nffffffffc0000011 t %s\n" % (e[0], e[1], e[2]))
        with open("maps/perf-7.map", "wb") as f:
            f.write(b"400000 180 %s\n400180 100 %s\n" % (e[2], e[3]))
        run("symbols_are_shown", "ingest", "-f", "--kallsyms", "kallsyms", "--symfs", "maps", "-o", "code.db", "plain.data")
        for args in (["report"], ["report", "--callers", "."], ["script"], ["export", "--format", "folded"],
                     ["flame"], ["report", "--html", "-o", "-"], ["annotate"]):
            run("symbols_are_shown", *args, "code.db")


# ---- passwords, and what is not text

def passwords():
    db = "plain.db"
    perf_data("plain.data", lambda: b"plain")
    subprocess.run([PROGRAM, "ingest", "-q", "-f", "-o", db, "plain.data"], capture_output=True)
    secret = "S3CRET"
    urls = ["clickhouse://user:S3CRET@host/db", "clickhouses://user:S3CRET@host:1/db", "clickhouse://u:a/S3CRET@host/db",
            "clickhouse://u:a@S3CRET@host/db", "clickhouse://u:S3CRET?@h/", "https://u:S3CRET@host/x", "clickhouse://:S3CRET@h/"]
    for i, c in enumerate(LISTED + [""]):
        for url in urls if LONG else [urls[i % len(urls)]]:
            places = ([url], ["-o", url, db], [db, url], [url, db], ["-i", url], ["--input=" + url], ["-o", "made.db", "-f", url],
                      ["--symfs", url, db], ["--diff", db, url], ["-i" + url])
            # without LONG each place is one of every third command's
            for args in places if LONG else places[i % 3::3]:
                if c in ("view", "follow"):
                    args = args[:1]
                if c == "record" and args[0] == url:
                    continue  # a program of that name, whose arguments are its own
                r = subprocess.run([PROGRAM, *([c] if c else []), *args], capture_output=True, text=True, env=ENV, stdin=subprocess.DEVNULL)
                note("no_message_has_the_password_of_a_url", r.stdout + r.stderr if secret in r.stdout + r.stderr else None, c)
    for f in glob.glob("*.db"):
        with open(f, "rb") as b:
            note("and_no_database", f if secret.encode() in b.read() else None)
    r = subprocess.run([PROGRAM, "push", "clickhouse://user:S3CRET@host/db", db], capture_output=True, text=True, env=ENV)
    note("such_a_url_is_refused", None if r.returncode == 2 and "a password in a URL" in r.stderr else r.stderr)
    r = subprocess.run([PROGRAM, "query", "--format", "csv", db, "SELECT 'x=''clickhouse://u:pw@h/''' AS x"], capture_output=True, text=True, env=ENV)
    note("a_statement_is_not_changed", None if "u:pw@h" in r.stdout else r.stdout)


def tar(head):
    """Returns a block whose checksum is right."""
    b = bytearray(head.ljust(512, b"\0"))
    b[148:156] = b" " * 8
    b[148:156] = b"%06o\0 " % sum(b)
    return bytes(b)


def entry(name, data, kind=b"0"):
    head = name.ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + b"%011o\0" % len(data) + b"0" * 11 + b"\0" + b" " * 8 + kind
    return tar(head.ljust(257, b"\0") + b"ustar\x0000") + data + bytes(-len(data) % 512)


def archives():
    sound = entry(b"b.txt", b"hello")
    # the header behind an entry is none: libarchive asks to try again
    cases = {"header": sound + b"z" + entry(b"a.db", b"hello")[1:]}
    for key in (b"path", b"size", b"GNU.sparse.map", b"GNU.sparse.major", b"hdrcharset", b"", b"mtime"):
        for value in (b"", b"-1", b"\xff\xfe.db", b"99999999999999999999", b"\x1b[31m\nFORGED.db"):
            body = b" " + key + b"=" + value + b"\n"
            n = len(body) + len(str(len(body) + 2))
            cases[key + value] = entry(b"pax", str(n).encode() + body, b"x") + entry(b"a.db", b"hello")
    for data in cases.values():
        with open("odd.tar", "wb") as f:
            f.write(data + bytes(1024))
        r = run("odd_archives_are_refused_in_our_words", "info", "odd.tar")
        note("odd_archives_are_refused_in_our_words", repr(r.stderr) if b"INTERNAL ERROR" in r.stderr or not r.returncode else None)
    with open("odd.tar", "wb") as f:
        f.write(cases["header"] + bytes(1024))
    r = run("and_the_offset_of_the_entry_is_told", "info", "odd.tar")
    note("and_the_offset_of_the_entry_is_told", None if b"odd.tar+0x400: " in r.stderr else repr(r.stderr))


def bytes_stay():
    """What is no text is the same in a pipe and in a file, and so are pictures."""
    perf_data("evil.data", Names())
    subprocess.run([PROGRAM, "ingest", "-q", "-f", "-o", "evil.db", "evil.data"], capture_output=True)
    for args in (["export", "--format", "pprof"], ["export", "--format", "perf.data"], ["export", "--format", "json"],
                 ["export", "--format", "firefox"], ["export", "--format", "chrome"],
                 ["export", "--format", "folded"], ["flame"], ["report", "--html"]):
        subprocess.run([PROGRAM, *args, "-o", "file", "evil.db"], capture_output=True, env=ENV)
        r = subprocess.run([PROGRAM, *args, "-o", "-", "evil.db"], capture_output=True, env=ENV)
        with open("file", "rb") as f:
            note("a_pipe_has_the_bytes_of_a_file", None if r.stdout and f.read() == r.stdout else "differs", " ".join(args))
        os.unlink("file")
    piped = subprocess.run([PROGRAM, "script", "evil.db"], capture_output=True, env=ENV).stdout
    note("a_pipe_has_the_bytes_of_a_file", None if b"\\x1b" in piped or b"\\x9b" in piped else "no escapes")
    page = subprocess.run([PROGRAM, "report", "--html", "-o", "-", "evil.db"], capture_output=True, env=ENV).stdout
    note("no_name_ends_a_script", "found" if b"</script><script>FORGED" in page else None)


def screens():
    perf_data("evil.data", Names())
    subprocess.run([PROGRAM, "ingest", "-q", "-f", "-o", "evil.db", "evil.data"], capture_output=True)
    only = [e for e in EVIL if len(e) > 4 and (e[0] in (0x1b, 0x9b, 0x9d, 0x90) or e[:2] in (b"\xc2\x9b", b"\xc2\x9d"))
            and e != b"\x1b[2J\x1b[H"]
    on_terminal("no_name_commands_view", "view", "evil.db", keys=b"123456j\ri?q\x1bqq", only=only)


def known():
    """Each place where a name was once printed as it was."""
    e = "a\x1b[31m\nFORGED"

    def told(name, stream, want, *args, status=(0,)):
        """The name is there, and as an escape."""
        r = run(name, *args)
        text = getattr(r, stream).decode("utf-8", "replace")
        note(name, None if want + "a\\x1b[31m\\x0aFORGED" in text and r.returncode in status else "%d %r" % (r.returncode, text[-300:]),
             " ".join(repr(a) for a in args))
    perf_data("k.data", lambda: ("/bin/" + e).encode())
    shutil.copy("k.data", e + ".data")
    told("a_file_name_in_the_summary_of_ingest", "stderr", "", "ingest", "-f", "-o", e + ".db", e + ".data")
    told("a_path_in_bundle", "stderr", "such as '/bin/", "bundle", "-f", "-o", "k.tar.gz", e + ".db")
    told("a_file_name_in_bundle", "stderr", "", "bundle", "-f", "-o", e + ".tar.gz", e + ".db")
    told("a_file_name_in_merge", "stderr", "", "merge", "-f", "-o", e + "2.db", e + ".db")
    told("a_file_name_in_symbolize", "stderr", "", "symbolize", e + ".db")
    told("a_file_name_in_info", "stdout", "", "info", e + ".db")
    os.makedirs("alone", exist_ok=True)
    os.replace(e + ".db", os.path.join("alone", e + ".db"))
    os.chdir("alone")
    told("a_file_name_that_is_read", "stderr", "reading ", "info")
    os.chdir("..")
    os.replace(os.path.join("alone", e + ".db"), e + ".db")
    with open(e + ".data", "r+b") as f:
        f.seek(24)
        at = struct.unpack("<4Q", f.read(32))
        f.truncate(at[2] + at[3] - 60)
    told("a_file_name_of_what_is_damaged", "stderr", "", "report", e + ".data", status=(3,))
    for column in ("format", "clock"):
        shutil.copy(e + ".db", "k.db")
        con = sqlite3.connect("k.db")
        con.execute("PRAGMA ignore_check_constraints = 1")
        con.execute("UPDATE capture SET %s = ?" % column, (e,))
        con.commit()
        told("a_%s_in_info" % column, "stdout", "", "info", "k.db")
    con.execute("UPDATE capture SET clock = 'mono', format = 'perf.data'")
    con.execute("UPDATE image SET status = ?", (e,))
    con.commit()
    told("a_status_of_an_image_in_info", "stdout", "", "info", "k.db")
    con.execute("UPDATE image SET status = 'ok'")
    image = con.execute("SELECT image FROM frame WHERE image IS NOT NULL ORDER BY off LIMIT 1").fetchone()[0]
    con.execute("UPDATE image SET path = ?", ("/bin/" + e,))
    con.execute("DELETE FROM symbol")
    for i, (start, size) in enumerate(((0, 0x11), (0x11, 0x1000)), 1):
        con.execute("INSERT INTO symbol(id, image, start, size, name, how) VALUES(?, ?, ?, ?, 'helper', 'symtab')", (i, image, start, size))
        con.execute("UPDATE frame SET symbol = ?, symoff = off - ?, file = ?, line = 3 WHERE image = ? AND off >= ? AND off < ?",
                    (i, start, "/src/%d.c" % i, image, start, start + size))
    con.commit()
    con.close()
    told("an_image_in_annotate", "stderr", " of ", "annotate", "k.db", "helper", status=(0, 1))


PARTS = (known, captures, others, databases, files, names_of_code, passwords, archives, bytes_stay, screens)
# Each command reads a capture and a database of such names, and names of files
# and archives are cut to pieces: what the other parts do more is to look at it.
SANITIZED = (known, captures, databases, names_of_code, archives)
for part in PARTS if LONG or not SAN else SANITIZED:
    begun = time.time()
    part()
    print("# %s: %.1f s" % (part.__name__, time.time() - begun), flush=True)
failed = 0
for name, (n, bad) in seen.items():
    print("%s %s" % ("not ok" if bad else "ok", name))
    for b in bad[:8]:
        print("# %s" % b[:400])
    if bad:
        print("# %d of %d" % (len(bad), n))
        failed = 1
sys.exit(failed)

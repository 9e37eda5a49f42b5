# names.py - makes a capture full of names from hell and looks at every output.
"""usage: names.py PROGRAM, in an empty folder

Thread names, paths, kernel symbols, event names, what the capture says of its
host, names and strings of tracepoint fields: all of them try to reach the
terminal, to break out of folded stacks, XML, JSON, CSV or SQL."""

import csv
import io
import json
import re
import sqlite3
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET

PROGRAM = sys.argv[1]
CAP, DB = "hell.data", "hell.db"

NAMES = [
    b"e\x1b[31mred\x1b]0;title\x07\x08\x7f",
    b"a;b c;d ;",
    b"<x>&amp;\"'</title><script>alert(1)</script>]]>",
    b"new\nline\r\n\tfake 1/1 [000] 1.0: cpu-clock: ",
    "right\u202eexe.gnp\u2066\u200f\u061c".encode(),
    b"bad\xff\xfe\xc3\x28\xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf",
    "c1\u009b31m\u0085\u2028\u2029x".encode(),
    "hid\u200bden\ufeff\u00ad".encode(),
    b"x' OR 1=1; DROP TABLE event; --\"; \"",
    b"%s%n%d%99999999s",
    b"back\\x1bslash\\",
    b"=cmd|' /C calc'!A0,\"q\",z",
    "na\u00efve \u65e5\u672c \U0001f600".encode(),
    b"L" * 30000 + b"\x1b",
    b" ",
]
N = len(NAMES)
FORMAT = b"""name: hostile
ID: 777
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:int event_id;\toffset:8;\tsize:4;\tsigned:1;
\tfield:int Event_ID;\toffset:12;\tsize:4;\tsigned:1;
\tfield:int select;\toffset:16;\tsize:4;\tsigned:1;
\tfield:int na"me;\toffset:20;\tsize:4;\tsigned:1;
\tfield:char text[64];\toffset:24;\tsize:64;\tsigned:0;

print fmt: "text=%s", REC->text
"""
SYSTEM = b'sy"s;--'
TEXT = b"t\x1b[2J;\"'<&\n\xff" + "\u202e".encode()
KERNEL, USER = (1 << 64) - 128, (1 << 64) - 512
IP, TID, TIME, CHAIN, ID, RAW = 1, 2, 4, 32, 1 << 16, 1 << 10


# ---- the capture

def record(kind, misc, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(pid, time, number):
    return struct.pack("<IIQQ", pid, pid, time, number)


def cstring(text):
    return text + b"\0" * (8 - len(text) % 8)


def text(s):
    return struct.pack("<I", len(s) + 1) + s + b"\0"


def attr(kind, config, sample_type):
    # mmap, comm, task, sample_id_all, mmap2, ksymbol
    flags = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 30
    return struct.pack("<IIQQQQQ", kind, 128, config, 0, sample_type, 0,
                       flags).ljust(128, b"\0")


def sample(i, time, raw=None):
    out = struct.pack("<QQIIQ", i + 1, 0x700010, 100 + i, 100 + i, time)
    chain = (KERNEL, 0xffffffffc0000010 + i * 0x1000, USER, 0x700010, 0x20)
    out += struct.pack("<6Q", len(chain), *chain)
    if raw is not None:
        out += struct.pack("<I", len(raw)) + raw
    return record(9, 1, out)


def records():
    out = b""
    for i, name in enumerate(NAMES):
        pid = 100 + i
        out += record(3, 0, struct.pack("<II", pid, pid) + cstring(name)
                      + trailer(pid, 10, 1))
        out += record(10, 2, struct.pack(
            "<IIQQQIIQQII", pid, pid, 0x700000, 0x1000, 0, 0, 0, 0, 0, 5, 2)
            + cstring(b"/" + name) + trailer(pid, 20, 1))
        out += record(17, 0, struct.pack(
            "<QIHH", 0xffffffffc0000000 + i * 0x1000, 0x1000, 1, 0)
            + cstring(name) + trailer(pid, 30, 1))
    for i in range(N):
        out += sample(i, 1000 + i)
    raw = struct.pack("<HHiiiii", 777, 0, 100, 1, 2, 3, 4) \
        + TEXT.ljust(64, b"\0")
    raw += b"\0" * (4 - len(raw) % 8)
    return out + sample(N, 5000, raw) + record(99, 0, b"what is this")


def tracing():
    def block(data):
        return struct.pack("<Q", len(data)) + data

    return (b"\x17\x08\x44tracing0.6\0" + struct.pack("<BBI", 0, 8, 4096)
            + b"header_page\0" + block(b"") + b"header_event\0" + block(b"")
            + struct.pack("<II", 0, 1) + SYSTEM + b"\0" + struct.pack("<I", 1)
            + block(FORMAT) + struct.pack("<I", 0) + struct.pack("<I", 0)
            + block(b"100 " + NAMES[0] + b"\n"))


def features():
    desc = struct.pack("<II", N + 1, 128)
    for i in range(N + 1):
        desc += (attr_of(i) + struct.pack("<I", 1)
                 + text(NAMES[i] if i < N else SYSTEM + b":hostile")
                 + struct.pack("<Q", i + 1))
    ids = b""
    for name in NAMES[:4]:
        path = cstring(b"/" + name)
        ids += struct.pack("<IHHi", 0, 2, 36 + len(path), -1) \
            + b"\1" * 20 + b"\0" * 4 + path
    args = struct.pack("<I", N) + b"".join(text(n) for n in NAMES)
    return {1: tracing(), 2: ids, 3: text(NAMES[0]), 4: text(NAMES[4]),
            5: text(NAMES[5]), 6: text(NAMES[2]), 8: text(NAMES[6]),
            11: args, 12: desc}


def attr_of(i):
    base = IP | TID | TIME | CHAIN | ID
    return attr(1, i, base) if i < N else attr(2, 777, base | RAW)


def write_capture():
    attrs = b"".join(attr_of(i) + struct.pack("<QQ", 0, 0)
                     for i in range(N + 1))
    ids = struct.pack("<%dQ" % (N + 1), *range(1, N + 2))
    at_ids = 104
    at_attrs = at_ids + len(ids)
    attrs = b"".join(attr_of(i) + struct.pack("<QQ", at_ids + 8 * i, 8)
                     for i in range(N + 1))
    start = at_attrs + len(attrs)
    data = records()
    feats = sorted(features().items())
    bits = 0
    for bit, _ in feats:
        bits |= 1 << bit
    head = struct.pack("<8s8Q", b"PERFILE2", 104, 144, at_attrs, len(attrs),
                       start, len(data), 0, 0) \
        + bits.to_bytes(32, "little")
    at = start + len(data) + 16 * len(feats)
    table = b""
    for _, body in feats:
        table += struct.pack("<QQ", at, len(body))
        at += len(body)
    with open(CAP, "wb") as f:
        f.write(head + ids + attrs + data + table
                + b"".join(body for _, body in feats))


# ---- looking at what comes out

def ok(good, name, detail=""):
    if detail and not good:
        print("#", ascii(detail)[:300])
    print("ok" if good else "not ok", name)


def run(*args):
    r = subprocess.run([PROGRAM, *args], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    return r.returncode, r.stdout, r.stderr


# What moves the cursor, turns the text around or cannot be seen.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f"
                    "\u2028-\u202e\u2060-\u2069\ufeff]")


def unsafe(data):
    """None, or what would reach the terminal."""
    try:
        shown = data.decode()
    except UnicodeDecodeError as why:
        return "%s: %r" % (why.reason, data[max(0, why.start - 20):
                                            why.end + 20])
    m = UNSAFE.search(shown)
    return m and shown[max(0, m.start() - 20):m.end() + 20]


def check_terminal():
    hell = NAMES[0].decode()
    views = ("samples", "folded", "maps", "hot_functions", "unsymbolized",
             "full_stack", "flame_tree", "stack_frames", "causality_errors",
             "verdicts", "deferral_latency", "trust")
    lines = [("script", DB), ("script", "-F", "comm,pid,tid,time,event,ip,"
                              "sym,symoff,dso", DB),
             ("script", "--json", DB), ("report", DB), ("info", DB),
             ("report", "-s", "comm,dso,sym", "--event", "*", DB),
             ("report", "--callers", "x", DB), ("info", CAP), ("dump", CAP),
             ("report", "--format", "csv", DB), ("report", "--json", DB),
             ("info", "--json", DB), ("export", "--format", "folded", DB),
             ("flame", DB), ("ingest", "-f", "-o", "again.db", CAP),
             ("info", hell), ("script", "--event", hell, DB),
             ("script", "--comm", hell, DB), ("report", "--callers", hell, DB),
             ("query", DB, "SELECT * FROM '" + hell + "'"),
             (hell,), ("info", "--" + hell),
             ("flame", "--title", hell, DB), ("flame", "--colors", hell, DB)]
    lines += [("query", "--format", form, DB, "SELECT * FROM " + view)
              for view in views for form in ("table", "csv", "json")]
    tables = [t for t, in sqlite3.connect(DB).execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'")]
    lines += [("query", DB, 'SELECT * FROM "%s"' % t.replace('"', '""'))
              for t in tables]
    for args in lines:
        status, out, err = run(*args)
        bad = unsafe(out) or unsafe(err)
        name = " ".join(args).replace(hell, "HELL")
        ok(not bad and status in (0, 1, 2, 3), "nothing_gets_out_of: "
           + ascii(name)[1:-1], bad or status)


def check_database():
    db = sqlite3.connect(DB)
    db.text_factory = bytes
    names = {n for n, in db.execute("SELECT name FROM comm")}
    lost = [n for n in NAMES if n not in names]
    ok(not lost, "thread_names_are_stored_as_they_are", lost)
    paths = {p for p, in db.execute("SELECT path FROM image")}
    lost = [n for n in NAMES if b"/" + n not in paths]
    ok(not lost, "paths_are_stored_as_they_are", lost)
    events = {n for n, in db.execute("SELECT name FROM event_type")}
    lost = [n for n in NAMES if n not in events]
    ok(not lost, "event_names_are_stored_as_they_are", lost)
    tables = [t for t, in db.execute(
        "SELECT name FROM sqlite_master WHERE name LIKE 'ev%hostile%'"
        " AND type = 'table'")]
    ok(len(tables) == 1, "a_hostile_event_has_its_table", tables)
    if tables:
        quoted = '"' + tables[0].decode().replace('"', '""') + '"'
        cur = db.execute("SELECT * FROM " + quoted)
        row = cur.fetchone()
        ok(row is not None and TEXT.split(b"\0")[0] in row
           and {1, 2, 3, 4} <= set(row), "its_fields_are_there",
           (row, cur.description))
    n = db.execute("SELECT count(*) FROM event").fetchone()[0]
    ok(n == N + 1, "no_event_is_lost", n)


def check_folded():
    want = db_one("SELECT count(*) FROM samples")
    for what, data in (
            ("export", run("export", "--format", "folded", "--event", "*",
                           DB)[1]),
            ("view", "".join(
                "%s %d\n" % row for row in rows(
                    "SELECT stack, weight FROM folded")).encode())):
        lines = data.decode(errors="replace").split("\n")[:-1]
        odd = [l for l in lines if not re.fullmatch(r"[^\n]+ \d+", l)
               or l.rsplit(" ", 1)[0].count(";") != 3]
        total = sum(int(l.rsplit(" ", 1)[1]) for l in lines
                    if l.rsplit(" ", 1)[1].isdigit())
        ok(not odd, "folded_%s_has_four_frames_a_line" % what, odd)
        ok(total == want, "folded_%s_has_all_samples" % what, total)


def rows(sql):
    return sqlite3.connect(DB).execute(sql).fetchall()


def db_one(sql):
    return rows(sql)[0][0]


def check_svg():
    for args in ((), ("--event", "*"), ("--by-thread",), ("--reverse",),
                 ("--title", NAMES[2].decode(), "--subtitle",
                  NAMES[0].decode())):
        status, out, err = run("flame", *args, DB)
        try:
            root = ET.fromstring(out)
            scripts = [e for e in root.iter() if e.tag.endswith("script")]
            hrefs = [v for e in root.iter() for k, v in e.attrib.items()
                     if k.lower().startswith("on") or "href" in k]
            ok(len(scripts) <= 1 and b"alert(1)</script>" not in out
               and not [h for h in hrefs if "alert" in h],
               "svg_is_whole_and_ours: " + ascii(" ".join(args))[1:-1],
               (len(scripts), hrefs))
        except ET.ParseError as why:
            ok(False, "svg_is_xml: " + ascii(" ".join(args))[1:-1], why)


def valid(name):
    try:
        return name.decode()
    except UnicodeDecodeError:
        return None


def strings(thing):
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, dict):
        for k, v in thing.items():
            yield from strings(k)
            yield from strings(v)
    elif isinstance(thing, list):
        for v in thing:
            yield from strings(v)


def check_json():
    want = {valid(n) for n in NAMES} - {None}
    for args in (("query", "--json", DB, "SELECT comm, event FROM samples"),
                 ("script", "--json", DB),
                 ("report", "--json", "-s", "comm", "--event", "*", DB),
                 ("info", "--json", DB)):
        status, out, err = run(*args)
        name = "json_is_lossless: " + " ".join(args[:2])
        try:
            if args[0] == "script":
                found = [json.loads(l) for l in out.splitlines()]
            else:
                found = json.loads(out)
        except ValueError as why:
            ok(False, name, why)
            continue
        have = set(strings(found))
        lost = want - have
        ok(not lost or args[0] == "info", name, lost)
        if args[0] == "info":
            ok(valid(NAMES[0]) in have, "json_has_the_host", have)


def check_csv():
    for args in (("query", "--format", "csv", DB,
                  "SELECT comm, event, weight FROM samples"),
                 ("report", "--format", "csv", "-s", "comm,dso,sym",
                  "--event", "*", "--limit", "0", DB)):
        out = run(*args)[1].decode(errors="replace")
        table = list(csv.reader(io.StringIO(out)))
        ok(len(table) > N and len({len(r) for r in table}) == 1,
           "csv_rows_have_the_same_columns: " + args[0],
           [r for r in table if len(r) != len(table[0])])


def main():
    write_capture()
    status, out, err = run("ingest", "-o", DB, "--fields", "all", CAP)
    ok(status == 0, "a_capture_from_hell_is_read", (status, err))
    check_database()
    check_terminal()
    check_folded()
    check_svg()
    check_json()
    check_csv()


main()

#!/usr/bin/env python3
# redact.py - what bundle --redact leaves of words planted everywhere.
#
# usage: redact.py BACKSTITCH CAPTURES FOLDER; prints "ok NAME" or "not ok NAME" lines
#
# A word of its own goes into each column of each table that has text or blobs,
# in databases of perf, ftrace and LTTng captures, and of jitted code; others
# into pages that are free again. No byte of the redacted file may have one of
# them, but in the columns of KEPT: our own words, and those that the manual page
# says stay (names of events and versions; addresses).
import os
import re
import sqlite3
import subprocess
import sys

CAPTURES = {
    "perf": "defer-exitexec-s.data.zst",
    "perf with fields": "pair.data",
    "ftrace": "ftrace-procmap.dat",
    "text of ftrace": "ftext-marker-kstack.txt",
    "LTTng": "ctf-discard",
    "jitted code": "jitframes.data.zst",
}
KEPT = {
    "word": "kind name", "meta": "key value",
    "capture": "format release version arch clock note align", "image": "status identity",
    "event_type": "name kind format fields buffer how unit", "raw_chain": "addrs",
    "internal_user_trust": "judged", "cookies": "layout reason",
    "internal_rule": "name proves", "loss": "what", "ordering": "what", "damage": "kind what", "sample_extra": "name",
    "internal_image_section": "", "symbol": "how",
}
FREED = "FREED-SECRET"
# The kernel's own images, names and source files stay: words go to others.
USER = """SELECT i.id FROM image i JOIN word w ON w.kind = 'image' AND w.id = i.kind
    WHERE i.path NOT IN ('[heap]', '[stack]', '//anon') AND w.name NOT IN (
        'kernel', 'module', 'symbols', 'unknown_kernel', 'vdso', 'unknown', 'bpf',
        'ool', 'special', 'guest')"""
OWNER = dict.fromkeys(("frame", "symbol", "jit_code", "jit_line", "internal_image_section"), "image IN users")
OWNER["image"] = "id IN users"
OWNER["inline_frame"] = "frame IN (SELECT id FROM frame WHERE image IN users)"


def plant(path):
    """Puts the words in; returns {word: (table, column)}."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA secure_delete = OFF")
    db.execute("CREATE TEMP TABLE users AS " + USER)
    where = {}
    tables = [r[0] for r in db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]
    for table in tables:
        for row in list(db.execute('PRAGMA table_info("%s")' % table)):
            column = row[1]
            kind = db.execute('SELECT typeof("%s") FROM "%s" WHERE typeof("%s") IN'
                              " ('text', 'blob')" % (column, table, column)).fetchone()
            if kind is None and row[2].upper() not in ("TEXT", "BLOB", ""):
                continue
            word = "SECRET%04dX" % len(where)
            where[word] = table, column
            blob = kind == ("blob",) or kind is None and row[2].upper() == "BLOB"
            of = OWNER.get(table, "1")
            db.execute('UPDATE OR IGNORE "%s" SET "%s" = ?1 WHERE %s AND "%s" IS'
                       ' (SELECT max("%s") FROM "%s" WHERE %s)' % (
                           table, column, of, column, column, table, of),
                       (word.encode() if blob else word,))
    db.execute("CREATE TABLE gone(x)")
    db.executemany("INSERT INTO gone VALUES(?)", [(FREED * 50,)] * 500)
    db.commit()
    db.execute("DROP TABLE gone")
    db.commit()
    db.close()
    return where


def main():
    program, captures, folder = sys.argv[1:]
    for name, capture in CAPTURES.items():
        db, out = os.path.join(folder, "in.db"), os.path.join(folder, "out.db")
        subprocess.run([program, "ingest", "-q", "-f", "--no-symbols", "-o", db,
                        os.path.join(captures, capture)], check=False)
        where = plant(db)
        with open(db, "rb") as f:
            before = f.read()
        status = subprocess.run([program, "bundle", "--redact", "-f", "-o", out, db],
                                stderr=subprocess.PIPE, check=False).returncode
        with open(out, "rb") as f:
            after = f.read()
        planted = set(re.findall(rb"SECRET\d{4}X", before))
        left = {where[w.decode()] for w in re.findall(rb"SECRET\d{4}X", after)}
        bad = {"%s.%s" % c for c in left if c[1] not in KEPT.get(c[0], "").split()}
        for c in sorted(bad):
            print("# left: %s" % c)
        ok = status == 0 and len(planted) > 25 and not bad
        print("%sok nothing planted in %d columns of %s is left" % (
            "" if ok else "not ", len(planted), name))
        ok = FREED.encode() in before and FREED.encode() not in after
        print("%sok nor in free pages of %s" % ("" if ok else "not ", name))
        left = [f for f in os.listdir(folder) if f not in ("in.db", "out.db")]
        print("%sok and no other file is left of %s" % ("not " if left else "", name))


main()

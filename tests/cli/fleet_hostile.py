# fleet_hostile.py - export --format parquet of databases with values that no ingest writes.
# usage: fleet_hostile.py PROGRAM DATABASE DATABASE_WITH_FIELDS WORK
"""Each case changes one column of one table in a copy of the database. The
export must end with status 0, and files that can be read, or with 1 and a
message; no value may end it in another way. Then follow rows that would cost
much, and values that two tables must have in the same way."""

import glob
import os
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, "tests/compare")
import parquetread  # noqa: E402

PROGRAM, DB, FIELDS_DB, WORK = sys.argv[1:]
TABLES = {
    "capture": ["id", "host", "first_ns", "records", "complete", "cpus"],
    "event_type": ["capture", "name", "kind", "events", "weight", "period"],
    "event": ["time_ns", "cpu", "thread", "comm", "type", "weight", "kraw", "uraw"],
    "request": ["uraw", "verdict", "confidence", "flags"],
    "chain": ["capture", "verdict"],
    "stack": ["parent", "frame", "hash"],
    "frame": ["image", "off", "flags", "vaddr", "symbol", "line"],
    "image": ["kind", "path", "build_id"],
    "raw_chain": ["stack", "ended"],
    "comm": ["name"],
    "thread": ["tid", "process"],
    "word": ["name"],
    "meta": ["value"],
}
VALUES = {
    "null": "NULL", "text": "'x'", "large": "9223372036854775807",
    "small": "-9223372036854775807 - 1", "real": "1e300",
    "blob": "randomblob(5000)", "bytes": "CAST(x'ff00fe41' AS TEXT)"}
# Of seven values two or three for each column, or one for a third of them, others of each
# commit.
STEP, LEAST = (3, 80) if os.environ.get("LONG") else (7, 9)
TURN = int(os.environ.get("SHARE_OF", "0"))
bad = []
n = read = 0
for table, columns in TABLES.items():
    for i, column in enumerate(columns):
        if STEP == 7 and i % 3 != TURN % 3:
            continue
        for value in list(VALUES)[(i + TURN) % STEP::STEP]:
            db, out = os.path.join(WORK, "h.db"), os.path.join(WORK, "h")
            shutil.copy(DB, db)
            con = sqlite3.connect(db)
            try:
                con.execute("UPDATE OR IGNORE %s SET %s = %s WHERE rowid %% 3 = 1"
                            % (table, column, VALUES[value])
                            if table not in ("word", "meta") else
                            "UPDATE OR IGNORE %s SET %s = %s"
                            % (table, column, VALUES[value]))
                con.commit()
            except sqlite3.Error:
                continue
            finally:
                con.close()
            shutil.rmtree(out, ignore_errors=True)
            r = subprocess.run(
                [PROGRAM, "export", "--format", "parquet", "--event-fields",
                 "--partition", "-o", out, db], capture_output=True,
                timeout=100, check=False)
            n += 1
            name = "%s.%s = %s" % (table, column, value)
            if r.returncode not in (0, 1) or r.returncode and not r.stderr:
                bad.append("%s: status %d, %r" % (name, r.returncode, r.stderr))
            try:
                for f in glob.glob(out + "/**/*.parquet", recursive=True):
                    parquetread.read(f)
                    read += 1
            except (ValueError, UnicodeDecodeError) as e:
                bad.append("%s: %s" % (name, e))


def export(what, source, want, *script):
    """Exports a changed copy; the status must be 0, or 1 with the text wanted."""
    db, out = os.path.join(WORK, "h.db"), os.path.join(WORK, "h")
    shutil.copy(source, db)
    con = sqlite3.connect(db)
    for sql in script:
        con.execute(sql)
    con.commit()
    con.close()
    shutil.rmtree(out, ignore_errors=True)
    r = subprocess.run([PROGRAM, "export", "--format", "parquet",
                        "--event-fields", "-o", out, db],
                       capture_output=True, text=True, timeout=100, check=False)
    if r.returncode != (want is not None) or (want or "") not in r.stderr:
        bad.append("%s: status %d, %r" % (what, r.returncode, r.stderr))
        return None
    return {t: parquetread.read("%s/%s.parquet" % (out, t)).data
            for t in ("sample", "field", "stack") if want is None}


CHAIN = """INSERT INTO stack(id, parent, frame, hash)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
    SELECT m + i, CASE i WHEN 1 THEN NULL ELSE m + i - 1 END, 1,
        CASE WHEN i > %d THEN randomblob(16) END
    FROM n, (SELECT max(id) AS m FROM stack)"""
export("a stack far behind the others", DB,
       "the database is damaged: stack, row ",
       "INSERT INTO stack VALUES(4294967294, NULL, 1, 1, randomblob(16))")
export("a stack that is missing", DB,
       "the database is damaged: stack, row 2",
       "DELETE FROM stack WHERE id = 2")
export("stacks in one chain", DB, " has more than 8192 frames",
       CHAIN % (20000, 0))
got = export("the deepest stack", DB, None, CHAIN % (8192, 8191))
if got and max(len(x) for x in got["stack"]["place"]) != 8192:
    bad.append("the deepest stack is not there")
got = export("numbers of more than 32 bits", FIELDS_DB, None,
             "UPDATE event SET cpu = 4294967296 + cpu WHERE id % 3 = 1",
             "UPDATE thread SET tid = 4294967296 + tid WHERE id % 3 = 1",
             "UPDATE thread SET tid = -tid - 7 WHERE id % 3 = 2")
if got:
    key = ("time", "cpu", "tid", "event")
    more = (set(zip(*(got["field"][k] for k in key)))
            - set(zip(*(got["sample"][k] for k in key))))
    if more or not any(c < 0 for c in got["field"]["cpu"]):
        bad.append("fields without a sample: %s" % sorted(more)[:3])
LONG = "event_id || substr(replace(hex(zeroblob(30000)), '0', 'x'), event_id % 7)"
got = export("texts of many batches", FIELDS_DB, None,
             "UPDATE ev_sched_sched_switch SET next_comm = " + LONG)
if got:
    con = sqlite3.connect(os.path.join(WORK, "h.db"))
    want = [x for (x,) in con.execute("""SELECT next_comm
        FROM ev_sched_sched_switch JOIN event ON id = event_id ORDER BY id""")]
    con.close()
    have = [t for f, t in zip(got["field"]["field"], got["field"]["text"])
            if f == "next_comm"]
    if have != want or sum(map(len, want)) < 5 << 20:
        bad.append("%d texts of %d, %d bytes" % (len(have), len(want),
                                                 sum(map(len, want))))
for line in bad:
    print("   ", line)
if bad or n < LEAST or read < 6 * LEAST:
    print("%d databases, %d files" % (n, read))
sys.exit(bool(bad) or n < LEAST or read < 6 * LEAST)

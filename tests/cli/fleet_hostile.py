# fleet_hostile.py - export --format parquet of databases with values that no ingest writes.
# usage: fleet_hostile.py PROGRAM DATABASE WORK
"""Each case changes one column of one table in a copy of the database. The
export must end with status 0, and files that can be read, or with 1 and a
message; no value may end it in another way."""

import glob
import os
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, "tests/compare")
import parquetread  # noqa: E402

PROGRAM, DB, WORK = sys.argv[1:]
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
    "blob": "randomblob(100000)", "bytes": "CAST(x'ff00fe41' AS TEXT)"}
bad = []
n = read = 0
for table, columns in TABLES.items():
    for i, column in enumerate(columns):
        for value in list(VALUES)[i % 3::3]:
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
for line in bad:
    print("   ", line)
if bad or n < 80 or read < 500:
    print("%d databases, %d files" % (n, read))
sys.exit(bool(bad) or n < 80 or read < 500)

#!/usr/bin/env python3
"""Every capture with requests for deferred user stacks: what became of them, and what check says.
usage: tests/compare/deferred.py [--write]

Prints one row for each distinct capture: requests, joined ones, the others by verdict, stays that
vanished uncounted, rules with findings that no loss explains, and check's status and verdict. Those of
tests/captures must be as in expect-deferred.txt (--write makes it anew): a new alarm fails. Of the
others (of BACKSTITCH_SHARED) the sums must be right. Another program is run with BACKSTITCH=PROGRAM."""
import json
import os
import re
import sqlite3
import sys
import tempfile

import common

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECT = os.path.join(HERE, "expect-deferred.txt")
CLONE = os.path.join(HERE, "..", "captures")
NAME = re.compile(r"(\.data|\.dat|marker[^/]*\.txt|nonce[^/]*\.txt)(\.zst|\.gz|\.xz)?$|^perf\.data")


def found(root):
    """The files that may be captures, and folders that are one."""
    for folder, inside, files in os.walk(root):
        if folder.endswith(".data") or "metadata" in files:
            inside.clear()
            yield folder
            continue
        inside.sort()
        for f in sorted(files):
            path = os.path.join(folder, f)
            if NAME.search(f) and os.path.isfile(path):
                yield path


def row_of(path):
    """Of a capture with requests: its row, and what identifies it. Else None."""
    with tempfile.TemporaryDirectory() as tmp:
        db = os.path.join(tmp, "x.db")
        common.run("ingest", "-q", "--no-symbols", "-o", db, path)
        if not os.path.exists(db):
            return None
        with sqlite3.connect(db) as con:
            verdicts = con.execute(
                "SELECT w.name, count(*) FROM request r JOIN word w ON w.kind = 'request' "
                "AND w.id = r.verdict GROUP BY 1 ORDER BY 1").fetchall()
            first = con.execute("SELECT min(time_ns), count(*) FROM event").fetchone()
        con.close()
        if not verdicts:
            return None
        out = common.run("check", "--json", db)
    said = json.loads(out.stdout)
    alarms = [f"{f['rule']}={f['findings'] - f['explained']}" for f in said["findings"]
              if f["findings"] > f["explained"]]
    gaps = sum(c["missing_uncounted"] or 0 for c in said["cookies"])
    n = sum(v[1] for v in verdicts)
    joined = sum(v[1] for v in verdicts if v[0] == "matched")
    missing = [f"{v[0]}={v[1]}" for v in verdicts if v[0] != "matched"]
    row = (f"{n} {joined} {','.join(missing) or '-'} uncounted={gaps} "
           f"{','.join(alarms) or '-'} {out.returncode} {said['verdict']}")
    return row, (row, first)


def main():
    want = {}
    if os.path.exists(EXPECT):
        for line in open(EXPECT):
            if line.strip() and not line.startswith("#"):
                name, _, row = line.strip().partition(" ")
                want[name] = row
    seen = set()
    have = {}
    print("# capture requests joined missing uncounted rules status verdict")
    roots = [CLONE]
    if common.SHARED:
        roots.append(os.path.join(common.SHARED, "captures"))
    for root in roots:
        for path in found(root):
            got = row_of(path)
            if not got or got[1] in seen:
                continue
            seen.add(got[1])
            name = os.path.relpath(path, root)
            print("#", name, got[0])
            if root == CLONE:
                have[name] = got[0]
    print(f"# {len(seen)} captures")
    if "--write" in sys.argv:
        with open(EXPECT, "w") as f:
            f.write("# expect-deferred.txt - see deferred.py: capture, requests, joined, missing, gaps, "
                    "rules, status, verdict\n")
            f.writelines(f"{n} {r}\n" for n, r in sorted(have.items()))
        return
    for name in sorted(set(want) | set(have)):
        common.ok(want.get(name) == have.get(name),
                  f"{name}: {have.get(name)}, not {want.get(name)}"
                  if want.get(name) != have.get(name) else name)
    common.finish()


main()

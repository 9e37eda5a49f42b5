#!/usr/bin/env python3
"""Every capture with requests for deferred user stacks: what became of them, and what check says.
usage: tests/compare/deferred.py [--write]

Prints one row for each distinct capture: requests, joined ones, the others by verdict, stays that
vanished uncounted, rules with findings that no loss explains, and check's status and verdict. In every
capture the requests must be the joined ones and those of each other verdict, and the chains the used
ones and the others. The rows of tests/captures, with what is packed there, must be as in
expect-deferred.txt (--write makes it anew): a new alarm fails. Of what is not in it a quarter is
read, another one of each commit; all with LONG. Another program is run with BACKSTITCH=PROGRAM."""
import json
import os
import sys
import tempfile

import common

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECT = os.path.join(HERE, "expect-deferred.txt")
CLONE = os.path.join(HERE, "..", "captures")
# How the names of files end that are no captures.
OTHERS = tuple((
    ".c .cmd .boot .debug .err .fields .format .h .idx .js .json .kallsyms .log .lostacct .map .maps .md .o "
    ".rec .s .sh .so .stats .xz").split())
OTHER_WORDS = ("/elf/", "/symfs", "README", "kallsyms", "report", "script")


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
            place = "/" + os.path.relpath(path, root)
            if not common.bare(place).endswith(OTHERS) and not any(w in place for w in OTHER_WORDS):
                yield path


def count(db, table):
    """The rows of a table by verdict: {word: number}"""
    return dict(common.query(
        db, f"SELECT w.name, count(*) FROM {table} t JOIN word w ON w.kind = ? AND w.id = t.verdict "
        "GROUP BY 1 ORDER BY 1", table))


def wrong_sums(db, said, requests, chains):
    """What does not add up, as text."""
    about = ("requests", "with_cookie", "after", "exec_between", "other_capture", "reused_tid", "first_lost")
    kinds = {k: n for k, n in said["requests"].items() if k not in about and n}
    if kinds != requests or said["requests"]["requests"] != sum(requests.values()):
        yield f"requests {said['requests']['requests']}, by verdict {kinds}, not {requests}"
    kinds = {k.replace("_session", ""): n for k, n in said["chains"].items()
             if k not in ("chains", "after_exit", "conflict") and n}
    if kinds != chains or said["chains"]["chains"] != sum(chains.values()):
        yield f"chains {said['chains']['chains']}, by verdict {kinds}, not {chains}"
    for table in "request", "chain":
        n = common.one(db, f"SELECT count(*) FROM {table}")
        if n != sum((requests if table == "request" else chains).values()):
            yield f"{n} rows in {table}"
    for c in said["cookies"]:
        parts = c["missing_lost"] + c["missing_uncounted"] + c["missing_doubtful"]
        if c["missing"] != parts:
            yield f"counters missing {c['missing']}, by reason {parts}"


def row_of(path):
    """Of a capture with requests: its row, what identifies it, and what is wrong. Else None."""
    with tempfile.TemporaryDirectory() as tmp:
        db, _, _ = common.into(os.path.join(tmp, "x.db"), "--no-symbols", path)
        requests = os.path.exists(db) and count(db, "request")
        if not requests:
            return None
        chains = count(db, "chain")
        key = common.query(db, "SELECT min(time_ns), count(*) FROM event")[0]
        out = common.run("check", "--json", db)
        said = json.loads(out.stdout)
        wrong = list(wrong_sums(db, said, requests, chains))
    alarms = [f"{f['rule']}={f['findings'] - f['explained']}" for f in said["findings"]
              if f["findings"] > f["explained"]]
    gaps = sum(c["missing_uncounted"] or 0 for c in said["cookies"])
    missing = [f"{k}={n}" for k, n in requests.items() if k != "matched"]
    row = (f"{sum(requests.values())} {requests.get('matched', 0)} {','.join(missing) or '-'} uncounted={gaps} "
           f"{','.join(alarms) or '-'} {out.returncode} {said['verdict']}")
    return row, (row, key), wrong


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
    roots = [CLONE] + common.FOLDERS
    for root in roots:
        for i, path in enumerate(found(root)):
            if not (os.path.relpath(path, root) in want or "--write" in sys.argv or common.turn(i, 4)):
                continue
            got = row_of(path)
            if not got or got[1] in seen:
                continue
            seen.add(got[1])
            name = os.path.relpath(path, root)
            print("#", name, got[0])
            common.ok(not got[2], f"the sums of {name} are right", got[2])
            if root in roots[:2]:
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

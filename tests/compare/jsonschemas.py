# jsonschemas.py - what --json prints is as the schemas in man/json say, by a validator that we did not write.
"""Each schema is given something wrong, too. Without LONG each command is asked of a quarter
of the captures, of others for the next commit."""

import copy
import glob
import itertools
import json
import os
import subprocess
import sys

import common

sys.path.append(os.path.join(common.ROOT, "tests"))
import schemas as kept  # noqa: E402

schemas = kept.load(common.ROOT)
if not schemas:
    print("skip schemas: there is no python3-jsonschema")
    sys.exit(0)

CAPTURES = os.path.join(common.ROOT, "tests/captures")
SYMFS = ["--symfs", os.path.join(CAPTURES, "symfs")]
DBS = os.path.join(common.OUT, "jsonschemas")
NAMES = """before.data after.data naps.data pair.data offcpu-616.data z-defer.data overwrite-defer.data.zst
shop.data.zst defer-exitexec-s.data.zst hits-lbr.data.zst lines-clang.data.zst jit-reused.data.zst two-e.data
m32.data calls.data.zst ftrace-v7.dat ftrace-missed.dat.zst ftext-verbose.txt.gz ctf-discard""".split()


seen, wrong = {}, {}
asks = itertools.count()


def ask(command, *args):
    """Runs a command and validates its answer; returns the last one."""
    done = subprocess.run([common.BACKSTITCH, command, *args, "--json"], capture_output=True, check=False,
                          timeout=300)
    if done.returncode not in (0, 3, 4):
        return None
    text = done.stdout.decode()
    answer = None
    for line in text.splitlines()[:200] if command == "script" else [text]:
        answer = json.loads(line)
        chains = [c for c in answer.get("chains", []) if c and command == "report"]
        for e in [*schemas[command].iter_errors(answer),
                  *schemas["path"].iter_errors({"version": 1, "chains": chains})]:
            wrong.setdefault(command, []).append("%s: %s: %.200s" % (" ".join(args), "/".join(map(str, e.path)),
                                                                     e.message))
        seen.setdefault(command, answer)
    return answer


def in_turn(command, *args):
    return ask(command, *args) if common.turn(next(asks), 4) else None


os.makedirs(DBS, exist_ok=True)
dbs = {}
for name in NAMES:
    db = os.path.join(DBS, name + ".db")
    ask("ingest", "-f", "-q", "--no-cache", *SYMFS, "-o", db, os.path.join(CAPTURES, name))
    dbs[name] = db
    for more in ([], ["-v"], ["--as-perf", "--as-tid"]):
        in_turn("check", *more, db)
    for command in ("info", "annotate", "path"):
        in_turn(command, db)
    in_turn("symbolize", "--no-cache", db)
    in_turn("script", "--show-lost", db)
    in_turn("query", db, "SELECT * FROM verdicts")
    for more in ("--worst 3", "--tree", "--waits"):
        in_turn("path", *more.split(), db)
    for more in ("-g", "--off-cpu", "--off-cpu -g", "--off-cpu --sort comm", "--wall", "--by wall --sort parallelism", "--sched", "--inline",
                 "--sort comm,image", "--sort srcline", "--latency --worst 3", "--latency wake-up --histogram --worst 2"):
        in_turn("report", "--limit", "20", *more.split(), db)
    report = in_turn("report", "--limit", "20", db)
    for row in (report or {}).get("rows", [])[:2]:
        if row.get("symbol"):
            in_turn("report", "--callers", row["symbol"], db)
            in_turn("report", "--callees", row["symbol"], db)
            in_turn("annotate", *SYMFS, "--source-dir", CAPTURES, db, row["symbol"])
ask("path", "--blame", "sysload", dbs["ftrace-v7.dat"])
ask("report", "--diff", dbs["before.data"], dbs["after.data"])
ask("query", "--schema")
ask("sframe", "--readiness", dbs["shop.data.zst"])
for path in glob.glob(os.path.join(CAPTURES, "sframe/*")):
    ask("sframe", path)
    ask("sframe", "--check", path)

asked = set(schemas) - {"push", "record"}  # cli/json and cli/cost ask them: they need a server, and perf
for command in asked - set(seen):  # few have an answer
    any(ask(command, db) for db in dbs.values())
common.ok(asked == set(seen), "each schema is asked", sorted(asked ^ set(seen)))
for command in sorted(asked):
    common.ok(command not in wrong, command + " prints what its schema says", sorted(set(wrong.get(command, [])))[:20])
    bad = copy.deepcopy(seen[command])
    bad["version"] = "one"
    common.ok(not schemas[command].is_valid(bad), command + ": a wrong version is refused")
    bad = dict(copy.deepcopy(seen[command]), no_such_key=1)
    common.ok(not schemas[command].is_valid(bad), command + ": an unknown key is seen")
common.finish()

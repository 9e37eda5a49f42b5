# pairs.py - how many pairs of recordings of one program show a change that is none.
"""usage: BACKSTITCH=PROGRAM pairs.py [RUNS [SECONDS]]

Records the programs of tests/captures/twins and one of Python RUNS times (24),
about SECONDS (1) each, and compares all pairs of recordings of each by 'report
--diff'. Fails if more than one of 200 shows a change of self or of total. The
machine should be as busy as those are for which the rate is to hold. Needs perf,
gcc and g++; it is in no group, as its result depends on the machine."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
TWINS = os.path.join(ROOT, "tests/captures/twins")
B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 24
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 1
ENV = {"PATH": os.environ["PATH"]}
PYTHON = """import json, re, sys
for i in range(int(sys.argv[1])):
    re.findall("[a-z]+|[0-9]+", "abc 123 def 456 " * 20)
    json.loads(json.dumps({str(k): list(range(9)) for k in range(9)}))
"""


def programs(where):
    """Commands that take a number of rounds."""
    for name, compiler in ("twins.c", "gcc"), ("twins.cc", "g++"):
        program = os.path.join(where, name.replace(".", "-"))
        subprocess.run([compiler, "-g", "-O2", "-fno-omit-frame-pointer", "-o",
                        program, os.path.join(TWINS, name)], check=True)
        yield [program]
    yield [sys.executable, "-c", PYTHON]


def rounds(command):
    """As many as take SECONDS."""
    n = 100
    while True:
        start = time.monotonic()
        subprocess.run(command + [str(n)], stdout=subprocess.DEVNULL, env=ENV,
                       check=True)
        took = time.monotonic() - start
        if took > SECONDS / 4:
            return str(max(1, int(n * SECONDS / took)))
        n *= 2


def record(command, path):
    data = path + ".data"
    subprocess.run(["perf", "record", "-q", "-g", "-F", "999", "-e",
                    "cpu-clock", "-o", data] + command, env=ENV, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([B, "ingest", "-q", "-o", path, data], check=True)
    os.remove(data)
    return path


def changes(a, b):
    out = subprocess.run([B, "report", "--diff", "--json", a, b], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return ["%s %s %.2f %.2f" % (r["symbol"], by, r[by + "_a_percent"],
                                 r[by + "_b_percent"])
            for r in json.loads(out.stdout)["rows"] for by in ("self", "total")
            if r[by + "_significant"] in ("more", "less")]


def main():
    pairs = shown = 0
    with tempfile.TemporaryDirectory() as where:
        for at, command in enumerate(programs(where)):
            run = command + [rounds(command)]
            dbs = [record(run, os.path.join(where, "%d-%d.db" % (at, i)))
                   for i in range(RUNS)]
            for a, b in itertools.combinations(dbs, 2):
                found = changes(a, b)
                pairs += 1
                shown += found != []
                if found:
                    print(os.path.basename(a), os.path.basename(b), *found,
                          sep="\n  ")
            print("%s: %d of %d pairs so far" %
                  (os.path.basename(command[0]), shown, pairs), flush=True)
    sys.exit(shown * 200 > pairs)


main()

# pairs.py - how many pairs of recordings of one program show a change that is none.
"""usage: BACKSTITCH=PROGRAM pairs.py [--only NAME,..] [RUNS [SECONDS [FOLDER]]]

Records twenty programs RUNS times (11), about SECONDS (1) each, in turn, so that
the recordings of one are as far apart as those of two builds are. Compares all
pairs of recordings of each by 'diff', of one run a side and of several,
by shares and by weights, and prints how many show a change of self or of total,
by program and in all, and of how many all that changed is code without a name.
Fails if more than one of 100 does with several runs a side. Recordings that are
in FOLDER are not made again, and FOLDER/rounds keeps how often each program does
its work, so that later ones do the same. The machine should be as busy as those
are for which the rate is to hold, and its load is printed. Needs perf, gcc and
g++; it is in no group, as its result depends on the machine."""

import concurrent.futures
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
TWINS = os.path.join(ROOT, "tests/captures/twins")
B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
ARGS = sys.argv[1:]
ONLY = ARGS[1].split(",") if ARGS[:1] == ["--only"] else None
ARGS = ARGS[2 if ONLY else 0:]
RUNS = int(ARGS[0]) if ARGS else 11
SECONDS = float(ARGS[1]) if len(ARGS) > 1 else 1
ENV = {"PATH": os.environ["PATH"]}
SIDES = (1, 2), (2, 2), (3, 3), (4, 4)  # runs of A and of B, beside (1, 1)
OTHERS = 50  # pairs of each, of each program
PYTHON = {
    "json": "json.loads(json.dumps({str(k): list(range(9)) for k in range(9)}))",
    "re": "re.findall('[a-z]+|[0-9]+', 'abc 123 def 456 ' * 20)",
    "sort": "sorted(str(k * 7919 % 1009) for k in range(300))",
    "zlib": "zlib.decompress(zlib.compress(text))",
    "decimal": "sum(decimal.Decimal(k) / 7 for k in range(1, 90)).sqrt()",
    "sqlite": "sqlite3.connect(':memory:').execute('WITH RECURSIVE n(i) AS "
              "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
              "SELECT sum(i * i % 7), group_concat(i) FROM n').fetchall()",
}
# what reads a text of some MB, $0
SHELL = {
    "gzip": "gzip -c $0", "bzip2": "bzip2 -c $0", "xz": "xz -1 -c $0",
    "sort": "sort $0", "mawk": "mawk '{n[$1]++} END {for (k in n) print k, n[k]}' $0",
    "grep": "grep -c '[0-9]a.*z' $0", "sed": "sed 's/[aeiou]\\([0-9]\\)/\\1/g' $0",
    "sha256sum": "sha256sum $0", "od": "od -c $0 | wc",
    "perl": "perl -ne '$n{$1}++ while /(\\w\\d)/g; END {print scalar(%n)}' $0",
    "gcc": "gcc -x c -O2 -S -o /dev/null %s" % os.path.join(TWINS, "twins.c"),
    "bash": "bash -c 'for ((i = 0; i < 20000; i++)); do x=${x#a}a$i; x=${x:0:9}; done'",
}


def programs(where):
    """Names, and commands that take a number of rounds."""
    for name, compiler in ("twins.c", "gcc"), ("twins.cc", "g++"):
        program = os.path.join(where, name.replace(".", "-"))
        if not os.path.exists(program):
            subprocess.run([compiler, "-g", "-O2", "-fno-omit-frame-pointer", "-o",
                            program, os.path.join(TWINS, name)], check=True)
        yield name, [program]
    for name, code in PYTHON.items():
        yield "python-" + name, [
            sys.executable, "-c", "import decimal, json, re, sqlite3, sys, zlib\n"
            "text = b'some text, %%d' * 999\nfor i in range(int(sys.argv[1])): %s"
            % code]
    text = os.path.join(where, "text")
    if not os.path.exists(text):
        rnd = random.Random(7)
        with open(text, "w") as out:
            for _ in range(40000):
                out.write(" ".join("%x" % rnd.randrange(1 << 30)
                                   for _ in range(9)) + "\n")
    for name, code in SHELL.items():
        yield name, ["sh", "-c", "i=0; while [ $i -lt $1 ]; do i=$((i + 1)); "
                     "%s || :; done" % code, text]


def rounds(name, command, kept):
    """As many as take SECONDS, or as the recordings that are there did."""
    n = 1
    while name not in kept:
        start = time.monotonic()
        subprocess.run(command + [str(n)], stdout=subprocess.DEVNULL, env=ENV,
                       check=True)
        took = time.monotonic() - start
        if took > SECONDS / 4:
            kept[name] = max(1, int(n * SECONDS / took))
        n *= 2
    return str(kept[name])


def record(command, path):
    if os.path.exists(path):
        return
    data = path + ".data"
    subprocess.run(["perf", "record", "-q", "-g", "-F", "999", "-e",
                    "cpu-clock", "-o", data] + command, env=ENV, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([B, "ingest", "-q", "-o", path, data], check=True)
    os.remove(data)


def changes(options, a, b):
    out = subprocess.run([B, "report", "--diff", "--json"] + options + a + ["--"] + b,
                         check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    unit = "weight" if options else "percent"
    return ["%s %s %.2f %.2f p %.1e" % (r["symbol"], by, r["%s_a_%s" % (by, unit)],
                                        r["%s_b_%s" % (by, unit)], r[by + "_p"])
            for r in json.loads(out.stdout)["rows"] for by in ("self", "total")
            if r[by + "_significant"] in ("more", "less")]


def pairs(name, where):
    dbs = [os.path.join(where, "%s-%d.db" % (name, i)) for i in range(RUNS)]
    for a, b in itertools.combinations(dbs, 2):
        yield [a], [b]
    rnd = random.Random(1)
    for n, m in SIDES:
        for _ in range(OTHERS if RUNS >= n + m else 0):
            some = rnd.sample(dbs, n + m)
            yield some[:n], some[n:]


def compare(names, where):
    """Returns, by runs of A and of B, options and program: the pairs, how many
    show a change, and how many only one of code without a name."""
    count = {}
    todo = [(name, options, a, b) for name in names for a, b in pairs(name, where)
            for options in ([], ["--absolute"])]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (name, options, a, b), found in zip(
                todo, pool.map(lambda t: changes(*t[1:]), todo)):
            n = count.setdefault((len(a), len(b), bool(options), name), [0, 0, 0])
            n[0] += 1
            n[1] += found != []
            n[2] += found != [] and all(re.match(r"\[|0x|\S+\+0x", f) for f in found)
            if found:
                print(*options, *(os.path.basename(x) for x in a), "--",
                      *(os.path.basename(x) for x in b), *found, sep="\n  ")
    return count


def main():
    where = ARGS[2] if len(ARGS) > 2 else tempfile.mkdtemp()
    os.makedirs(where, exist_ok=True)
    try:
        keeper = os.path.join(where, "rounds")
        kept = {}
        if os.path.exists(keeper):
            with open(keeper, encoding="ascii") as f:
                kept = json.load(f)
        commands = {n: c + [rounds(n, c, kept)] for n, c in programs(where)
                    if not ONLY or n in ONLY}
        with open(keeper, "w", encoding="ascii") as f:
            json.dump(kept, f)
        print("rounds:", *("%s %s" % (n, kept[n]) for n in commands))
        print("load before: %.1f, on %d CPUs" % (os.getloadavg()[0], os.cpu_count()))
        for i in range(RUNS):
            for name, command in commands.items():
                record(command, os.path.join(where, "%s-%d.db" % (name, i)))
        print("load after: %.1f" % os.getloadavg()[0], flush=True)
        count = compare(commands, where)
    finally:
        if len(ARGS) <= 2:
            shutil.rmtree(where)
    bad = 0
    for n, m, absolute in sorted({key[:3] for key in count}):
        by_name = {k[3]: v for k, v in count.items() if k[:3] == (n, m, absolute)}
        tried, shown, nameless = (sum(v) for v in zip(*by_name.values()))
        print("%d and %d runs, by %s: %d of %d pairs show a change, %d only without "
              "a name:" % (n, m, "weights" if absolute else "shares", shown, tried,
                           nameless),
              *("%s %d/%d" % (k, v[1], v[0]) for k, v in by_name.items() if v[1]))
        bad += n + m > 2 and shown * 100 > tried
    sys.exit(bad > 0)


main()

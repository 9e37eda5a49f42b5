# cost.py - what 'record --cost' says of programs, held against recordings of their own and perf stat.
"""usage: BACKSTITCH=PROGRAM cost.py [--only NAME,...] [--scale PERCENT] [--json FILE]

For a quiet machine, and the right to record. Runs 'record --cost --json' of
twenty programs (--only: these; --scale: with so much of their work), and then each command that it prints,
five times in turn with the program alone. Of all of them perf stat, which the
recording starts in place of the program, says how long the program took. Equal
have to be: the share of whole stacks and of lost records, to 2 points, or 3 standard deviations
of so few samples; how much slower it is: both intervals of 95 %
have a value in common. Prints the table of backstitch-record(1), and the load;
what is not installed is skipped. Ends with 1 if a row differs."""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
TURNS = 5
STUDENT = 2.31  # 95 %, two times five turns
SETUP = "seq @1500000@ | sed 's/$/ some words of a line that is longer/' >lines; seq @200000@ >few; printf '%s\\n' \
'int main(void) { return 0; }' >a.c; yes 'int f(int a) { return a * 3 + (a >> 2); }' | head -n @3000@ | \
awk '{ sub(/f/, \"f\" NR); print }' >>a.c"
PROGRAMS = {
    "gcc -O2": "gcc -O2 -Wno-unused -c -o a.o a.c",
    "python": "python3 -c 'print(sum(i * i % 7 for i in range(@12000000@)))'",
    "sort": "sort -r lines -o sorted",
    "xz": "xz -k -1 -c lines",
    "sqlite3": "sqlite3 :memory: 'WITH t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t LIMIT @4000000@) SELECT sum(i * i % 7) FROM t'",
    "gzip": "gzip -c lines",
    "zstd": "zstd -q -c -15 few few few few few few",
    "bzip2": "bzip2 -k -c few few few few few few few few",
    "awk": "awk '{ n[$1 % 1000] += length($0) } END { print n[7] }' lines",
    "sed": "sed -n 's/\\(.*\\)9\\(.*\\)/\\2\\1/p' lines",
    "grep": "sh -c 'grep -cE \"(1.*2.*3|9+8+7).*some\" lines lines lines lines lines lines | cat'",  # to /dev/null it ends at the first match
    "perl": "perl -e '$s += $_ * $_ % 7 for 1..@15000000@; print $s'",
    "node": "node -e 'let s = 0; for (let i = 0; i < @1000000000@; i++) s += i & 7; console.log(s)'",
    "openssl": "openssl speed -seconds 1 -bytes 8192 sha256",
    "sha256sum": "sha256sum lines lines lines lines lines lines",
    "tar": "sh -c 'for i in 1 2 3 4 5 6 7 8; do tar -cf - lines few | cat >/dev/null; done'",
    "git": "git -C repository log --oneline --stat",
    "bc": "bc -l few.bc",
    "jq": "jq -n '[range(@1500000@) | . * . % 7] | add'",
    "short processes": "sh -c 'i=0; while [ $i -lt @1500@ ]; do /bin/true; i=$((i + 1)); done'",
}


def scaled(line, percent):
    return re.sub(r"@(\d+)@", lambda m: str(int(m[1]) * percent // 100), line)


def text(argv, **kw):
    return subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False,
                          stdin=subprocess.DEVNULL, **kw)


def mean_of(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))


def elapsed(command, before=()):
    """Seconds of the command by perf stat, which 'before' starts."""
    said = text([*before, "perf", "stat", "-x,", "-o", "stat", "-e", "duration_time", *command])
    with open("stat", encoding="utf-8") as f:
        return [int(line.split(",")[0]) / 1e9 for line in f if ",duration_time," in line][0], said


def shares():
    """whole, all, lost, samples of the capture"""
    said = json.loads(text([B, "check", "--json", "perf.data"]).stdout)
    classes = {c["class"]: c["samples"] for c in said["user_stacks_by_class"]}
    every = sum(n for c, n in classes.items() if c != "not recorded")
    events = json.loads(text([B, "info", "--json", "perf.data"]).stdout)
    lost = sum(c.get("lost", 0) or 0 for c in events["captures"])
    return classes.get("whole", 0), every, lost, sum(c["samples"] for c in events["captures"])


def own(rows, argv):
    """Of each row: how much slower it is, by how much, and its shares."""
    bare, ways = [], [[] for _ in rows]
    found = [[0, 0, 0, 0] for _ in rows]
    for _ in range(TURNS):
        bare.append(elapsed(argv)[0])
        for i, row in enumerate(rows):
            words = text(["sh", "-c", "printf '%%s\\n' %s" % row["command"]]).stdout.split("\n")
            at = words.index("--")
            ways[i].append(elapsed(argv, words[:at + 1])[0])
            found[i] = [a + b for a, b in zip(found[i], shares())]
    alone, spread = mean_of(bare)
    for way, f in zip(ways, found):
        took, own_spread = mean_of(way)
        slower = 100 * (took / alone - 1)
        yield slower, 100 * STUDENT * math.hypot(spread, own_spread) / alone, f


def is_near(told, part, every, stacks):
    """Is a told share of `stacks` that of part of every?"""
    if not every or told is None:
        return told is None or not every
    p = part / every
    return abs(told - 100 * p) <= max(2, 300 * math.sqrt(max(p * (1 - p), 1e-4) * (1 / every + 1 / max(stacks, 1))))


def main():
    only = sys.argv[sys.argv.index("--only") + 1].split(",") if "--only" in sys.argv else PROGRAMS
    percent = int(sys.argv[sys.argv.index("--scale") + 1]) if "--scale" in sys.argv else 100
    told, failed, home = {}, 0, os.getcwd()
    print("%d CPUs, Linux %s, load %.1f" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run(["sh", "-c", scaled(SETUP, percent) + "; git clone -q --depth 300 file://%s repository 2>/dev/null;"
                        " echo 'scale = 1800; 4 * a(1)' >few.bc" % os.path.dirname(os.path.dirname(os.path.dirname(
                            os.path.abspath(__file__))))], check=True)
        for name, line in PROGRAMS.items():
            line = scaled(line, percent)
            argv = ["sh", "-c", "exec " + line] if not line.startswith("sh ") else text(
                ["sh", "-c", "printf '%%s\\n' %s" % line]).stdout.rstrip("\n").split("\n")
            tool = line.split()[0]
            if name not in only:
                continue
            if not shutil.which(tool):
                print("skip %s: %s is not here" % (name, tool))
                continue
            said = text([B, "record", "--cost", "--json", *argv])
            if said.returncode:
                print("skip %s: %s" % (name, said.stderr.strip()[-200:]))
                continue
            answer = json.loads(said.stdout)
            told[name] = answer
            for row, (slower, width, f) in zip(answer["rows"], own(answer["rows"], argv)):
                least, most = row["slower_least_percent"], row["slower_most_percent"]
                bad = []
                if most < slower - width or least > slower + width:
                    bad.append("perf stat: %.1f to %.1f" % (slower - width, slower + width))
                if not is_near(row["whole_percent"], f[0], f[1], row["stacks"]):
                    bad.append("whole: %.2f" % (100 * f[0] / f[1]))
                if not is_near(row["lost_percent"], f[2], f[2] + f[3], row["stacks"]):
                    bad.append("lost: %.2f" % (100 * f[2] / (f[2] + f[3])))
                failed += bool(bad)
                print("%-15s %-20s slower %6.1f (%6.1f to %6.1f), %8.0f B/s, whole %6.2f, lost %5.2f%s%s" % (
                    name, row["how"], row["slower_percent"], least, most, row["bytes_per_second"], row["whole_percent"] or 0,
                    row["lost_percent"] or 0, "  <- taken" if row["how"] == answer["take"] else "", "".join(
                        "  DIFFERS: " + b for b in bad)))
                sys.stdout.flush()
    print("load after: %.1f; rows that differ: %d" % (os.getloadavg()[0], failed))
    if "--json" in sys.argv:
        with open(os.path.join(home, sys.argv[sys.argv.index("--json") + 1]), "w", encoding="utf-8") as f:
            json.dump(told, f, indent=1)
    return failed > 0 or not told


if __name__ == "__main__":
    sys.exit(main())

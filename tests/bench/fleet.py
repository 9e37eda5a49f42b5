# fleet.py - a hundred runs of ten hosts: Parquet, push, and the cookbook's questions.
"""usage: fleet.py BUILD RUNS CAPTURE...

Each capture becomes a database; so does one of 750,000 samples, of which 58 %
wait for a deferred user stack. RUNS databases of ten hosts are made of
these in turn, under other names and times (tests/fleet/shift.py). Shown: rows a
second and memory of export --format parquet, of all runs and of a tenth; rate
and disk of a push to one server and to two shards; how long the questions of
backstitch-fleet-sql(7) take on each, and in DuckDB. Seconds of the processor
are those of the program and of the servers; a busy machine changes them less
than those of the clock. The files, some GB, are in bench/fleet while it runs."""

import glob
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time

sys.path[:0] = ["tests/fleet", "tests/bench"]

import questions  # noqa: E402
import runs  # noqa: E402
import servers  # noqa: E402
from shift import shift  # noqa: E402

BUILD, COUNT, CAPTURES = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
US = os.path.join(BUILD, "backstitch")
WORK = "bench/fleet"
TICK = os.sysconf("SC_CLK_TCK")
DAY = 86400 * 10**9
START = 1795000000 * 10**9
DEFERRED = 750000
LIMIT = 96  # MB of memory


def deferred(path):
    """A capture of mkcap: 2,500 kernel and 2,500 user stacks, some of them in
    most of the samples."""
    rnd = random.Random(1)

    def stacks(least, most, places):
        return [",".join(hex(places() & ~0xf) for _ in
                         range(rnd.randrange(least, most)))
                for _ in range(2500)]

    def pick(some):
        return some[min(len(some), int(rnd.paretovariate(0.7))) - 1]

    kernel = stacks(3, 16, lambda: 0xffffffff81000000 + rnd.randrange(1 << 18))
    user = stacks(2, 14, lambda: (0x400000 if rnd.random() < .6 else
                                  0x7f0000000000) + rnd.randrange(1 << 17))
    now, cookie = 1000000, [0] * 4
    with open(path + ".txt", "w") as f:
        f.write("event cpu-clock defer period=1000000\nevent dummy:u output\n")
        for pid in range(100, 112):
            f.write("comm pid=%d tid=%d name=app%d time=1 cpu=0\n"
                    % (pid, pid, pid))
            for start, name in ((0x400000, "app"), (0x7f0000000000, "lib.so")):
                f.write("mmap pid=%d tid=%d start=%#x len=0x100000 pgoff=0 "
                        "path=/bin/%s time=2 cpu=0\n" % (pid, pid, start, name))
        for i in range(DEFERRED):
            now += rnd.randrange(100, 200000)
            cpu, pid = rnd.randrange(4), rnd.randrange(100, 112)
            where = "pid=%d tid=%d cpu=%d " % (pid, pid, cpu)
            f.write("sample %stime=%d k=%s" % (where, now, pick(kernel)))
            if rnd.random() < .58:
                cookie[cpu] += 1
                mark = " cookie=%d:%d" % (cpu, cookie[cpu])
                f.write(mark)
                if rnd.random() < .95:
                    f.write("\nchain %stime=%d%s u=%s"
                            % (where, now + 50, mark, pick(user)))
            f.write("\nround\n" if i % 5000 == 0 else "\n")
    subprocess.run([os.path.join(BUILD, "mkcap"), path + ".txt", path],
                   check=True)
    os.remove(path + ".txt")
    return path


def make():
    """The databases; each is of a run of its own."""
    os.makedirs(WORK)
    sources = []
    for i, c in enumerate([deferred(WORK + "/deferred.data")] + CAPTURES):
        db = "%s/source-%d.db" % (WORK, i)
        r = runs.Run([US, "ingest", "-f", "-q", "--no-cache", "--fields", "none",
                      "-o", db, c])
        if r.status not in (0, 3 << 8):
            sys.exit(runs.message())
        sources.append(db)
    made = []
    for i in range(COUNT):
        made.append("%s/run-%03d.db" % (WORK, i))
        shift(sources[i % len(sources)], made[-1], "host-%d" % (i % 10),
              "7.2.3" if i * 2 >= COUNT else "7.1.9", START + i // 10 * DAY)
    return made


def shown(what, n, r, more=""):
    print("  %-30s %7.1f s %7.1f s cpu %6.2f M rows/s of it  %s"
          % (what, r.wall, r.cpu, n / r.cpu / 1e6, more))


def size(folder):
    return sum(os.path.getsize(f) for f in glob.glob(folder + "/**/*.parquet",
                                                     recursive=True))


def parquet(made):
    """Exports all; returns the number of samples."""
    peak = []
    for part in (made[:max(1, len(made) // 10)], made):
        lake = WORK + "/lake/all"
        shutil.rmtree(WORK + "/lake", ignore_errors=True)
        os.makedirs(WORK + "/lake")
        r = runs.Run([US, "export", "--format", "parquet", "--label",
                      "rollout=stable", "-o", lake, *part])
        if r.status:
            sys.exit(runs.message())
        rows = sum(rows_of(part))
        shown("Parquet, %d runs" % len(part), rows, r,
              "%.2f bytes a sample, peak %d MB" % (size(lake) / rows,
                                                   r.peak >> 10))
        peak.append(r.peak >> 10)
    runs.target("Parquet: M samples a second of the processor",
                rows / r.cpu / 1e6, 2)
    runs.target("Parquet: MB of memory", peak[1], LIMIT, True)
    return rows


def rows_of(made):
    for db in made:
        con = sqlite3.connect(db)
        yield con.execute("SELECT sum(events) FROM event_type "
                          "WHERE kind = 'sample'").fetchone()[0]
        con.close()


class Clock:
    """Seconds since begin(): by the clock, and of the servers' processors."""

    def __init__(self, s):
        self.s = s
        self.begin()

    def used(self):
        ticks = 0
        for p in self.s.process:
            with open("/proc/%d/stat" % p.pid) as f:
                fields = f.read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / TICK

    def begin(self):
        self.wall, self.cpu = time.monotonic(), self.used()

    def took(self):
        return time.monotonic() - self.wall, self.used() - self.cpu


def push(s, database, made, rows, *options):
    clock = Clock(s)
    every = ["--label", "rollout=stable", s.url(0, database), *made]
    r = runs.Run([US, "push", "-q", "--create", *options, *every])
    wall, cpu = clock.took()
    print("  %-30s %7.1f s %7.1f s cpu, servers %.1f s: %.2f M rows/s"
          % ("push, " + database, wall, r.cpu, cpu, rows / wall / 1e6))
    again = runs.Run([US, "push", "-q", *every])
    print("  %-30s %7.1f s %7.1f s cpu" % ("the same again", again.wall,
                                           again.cpu))
    if r.status or again.status:
        sys.exit(runs.message())
    for statement in questions.clickhouse():
        s.sql(statement, database=database)
    disk(s, database, rows)


def disk(s, database, rows):
    total, lines = 0, []
    used = {}
    for i in range(s.n):
        for table, n, size_ in s.rows(
                "SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts"
                " WHERE active AND database = '%s' GROUP BY table"
                % database, i):
            was = used.get(table, (0, 0))
            used[table] = was[0] + int(n), was[1] + int(size_)
    for table, (n, bytes_) in sorted(used.items(), key=lambda x: -x[1][1])[:4]:
        lines.append("%s %d rows of %.1f bytes" % (table, n, bytes_ / max(n, 1)))
        total += bytes_
    print("  %-30s %7.2f bytes a sample: %s"
          % ("disk, " + database, total / rows, ", ".join(lines)))


def ask(s, database, asked):
    """Seconds of each question: by the clock, of the processors."""
    took = {}
    for q in asked:
        clock = Clock(s)
        s.sql(q.clickhouse + " FORMAT TabSeparated", database=database,
              timeout=600)
        took[q.title] = clock.took()
    return took


def ask_duckdb(asked):
    npm = os.path.abspath(BUILD + "/npm/node_modules")
    if not os.path.isdir(npm + "/@duckdb/node-api"):
        return {}
    os.makedirs(WORK + "/empty")
    begin = [q for q in questions.duckdb(WORK + "/lake") if "/field" not in q]
    r = subprocess.run(
        ["node", "tests/compare/duck.mjs", npm, WORK + "/empty", "times"],
        input=json.dumps(begin + [q.duckdb for q in asked]), text=True,
        capture_output=True)
    if r.returncode:
        sys.exit(r.stderr[-600:])
    said = [json.loads(line) for line in r.stdout.splitlines()]
    return {q.title: tuple(t) for q, t in zip(asked, said[len(begin):])}


def names(s, database):
    """What a million names take, and to replace them."""
    s.sql("CREATE DATABASE names")
    s.sql("CREATE TABLE names.name AS %s.name ENGINE = ReplacingMergeTree("
          "version) ORDER BY (place, level)" % database)
    for statement in questions.clickhouse():
        s.sql(statement, database="names")
    for version in (1, 2):
        clock = Clock(s)
        s.sql("INSERT INTO name (place, build_id, path, offset, function, file,"
              " line, version) SELECT intHash64(number), hex(intHash64(intDiv("
              "number, 5000))), concat('/usr/lib/lib', toString(intDiv(number, "
              "5000)), '.so'), 16 * number, concat('function_', toString("
              "intHash32(intDiv(number, 4)))), concat('dir/source_', toString("
              "intDiv(number, 100)), '.c'), number %% 2000, %d FROM "
              "system.numbers LIMIT 1000000" % version,
              database="names", timeout=600)
        print("  %-30s %7.1f s %7.1f s cpu" % (
            "a million names, version %d" % version, *clock.took()))
        clock.begin()
        n = s.sql("SELECT count() FROM named", database="names", timeout=600)
        print("  %-30s %7.1f s %7.1f s cpu, %s rows of %s bytes" % (
            "read by view named", *clock.took(), n.strip(), s.sql(
                "SELECT round(sum(bytes_on_disk) / sum(rows), 1) FROM "
                "system.parts WHERE active AND database = 'names'").strip()))
    s.sql("DROP DATABASE names")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    try:
        made = make()
        rows = parquet(made)
        print("  %d runs, %d samples" % (len(made), rows))
        # two questions are about fields, of which these runs have none
        asked = [q for q in questions.asked() if "field" not in q.duckdb]
        took = {"DuckDB": ask_duckdb(asked)}
        with servers.Servers(2) as s:
            push(s, "one", made, rows)
            took["one server"] = ask(s, "one", asked)
            names(s, "one")
            s.sql("DROP DATABASE one")
            push(s, "two", made, rows, "--cluster", "fleet", "--server",
                 s.url(1, "two"))
            took["two shards"] = ask(s, "two", asked)
        print("  %-52s %s" % ("seconds (of the processor)", "  ".join(
            "%15s" % k for k in took)))
        for q in asked:
            print("  %-52.52s %s" % (q.title, "  ".join(
                "%6.2f (%6.2f)" % took[k][q.title] if q.title in took[k] else
                "%15s" % "" for k in took)))
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    sys.exit(runs.missed != 0)


if __name__ == "__main__":
    main()

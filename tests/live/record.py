# record.py - whole stacks and bytes a second of what 'record' chooses, for programs of many kinds.
"""usage: BACKSTITCH=PROGRAM record.py [--only NAME,..] [FOLDER]

Records each program by 'backstitch record --runtime', by plain 'perf record -g'
and by plain 'perf record --call-graph dwarf', and prints a table. Fails if
'record' has fewer whole stacks than the better of the others by more than 2
points, or less than 95 % where one of them has that. All CPUs are recorded in
the three ways at once, as what runs there is another thing a moment later.
Needs perf, and leaves out what is not installed; it is in no group, as its
result depends on the machine."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
TWINS = os.path.join(ROOT, "tests/twins/programs")
WORK = os.path.join(ROOT, "tests/bench/work")
B = os.path.abspath(os.environ.get("BACKSTITCH", os.path.join(ROOT, "backstitch")))
SLACK = 2.0
RATE = "997"
ENOUGH = 95.0
SECONDS = 1.5

PYTHON = """
import sys, time
def leaf(n):
    return sum(i * i % 7 for i in range(n))
def middle(n):
    return leaf(n) + len(sorted(str(i) for i in range(n)))
def main():
    end = time.time() + float(sys.argv[1])
    while time.time() < end:
        middle(300)
main()
"""
PERL = ("my %n; for my $i (1..900000) { $n{$i % 977} .= 'x' x ($i % 7) "
        "if (\"a$i\" =~ /(\\d+)7$/) } print scalar(%n)")
RUBY = """
def leaf(n) = (1..n).sum { |i| i * i % 7 }
def middle(n) = leaf(n) + (1..n).map(&:to_s).sort.size
stop = Time.now + ARGV[0].to_f
middle(300) while Time.now < stop
"""
C = """
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <time.h>
static volatile unsigned long sink;
static int compare(const void *a, const void *b) { return strcmp(a, b); }
__attribute__((noinline)) static void sort(void)
{
	static char v[2000][16];
	for (int i = 0; i < 2000; i++)
		snprintf(v[i], sizeof(v[i]), "%d", i * 7919 % 10007);
	qsort(v, 2000, 16, compare);
	sink += v[7][0];
}
__attribute__((noinline)) static void sum(int n)
{
	for (int i = 0; i < 300000; i++)
		sink += i ^ n;
}
__attribute__((noinline)) static void work(int n) { sort(); sum(n); sink++; }
int main(int argc, char **argv)
{
	clock_t end = clock() + (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC);
	for (int n = 0; clock() < end; n++)
		work(n);
	return argc > 9;
}
"""


def run(*argv, **more):
    return subprocess.run(argv, check=False, capture_output=True, text=True,
                          errors="replace", timeout=180, **more)


def whole(data):
    """Percent of the user stacks that are whole, how many there are, and what is not."""
    db = data + ".db"
    run(B, "ingest", "-q", "-f", "-o", db, data)
    got = run(B, "query", "--format", "csv", db,
              "SELECT total(samples), class FROM trust WHERE class <> 'not recorded' "
              "AND event NOT LIKE 'sched:%' GROUP BY class ORDER BY 1 DESC")
    if os.path.exists(db):
        os.unlink(db)
    rows = [line.split(",", 1) for line in got.stdout.splitlines()[1:]]
    n = sum(float(r[0]) for r in rows)
    good = sum(float(r[0]) for r in rows if r[1] == "whole")
    return (100 * good / n if n else 0.0), ", ".join(
        "%s %.2f" % (r[1], 100 * float(r[0]) / n) for r in rows if r[1] != "whole")


def took(data):
    """Bytes a second of a capture."""
    got = run("perf", "script", "-F", "time", "-i", data)
    times = [float(line.rstrip(": ")) for line in got.stdout.split()]
    return os.path.getsize(data) / max(max(times) - min(times), 0.01) if times else 0


def python(version):
    """An interpreter of pyenv, or of the system."""
    root = os.path.expanduser("~/.pyenv/versions")
    have = sorted(os.listdir(root)) if os.path.isdir(root) else []
    for name in have:
        if name.startswith(version + "."):
            return os.path.join(root, name, "bin/python" + version)
    return shutil.which("python" + version)


def build(where):
    """Makes the programs; those whose compiler is missing are left out."""
    with open(os.path.join(where, "c.c"), "w", encoding="ascii") as f:
        f.write(C)
    with open(os.path.join(where, "hot.py"), "w", encoding="ascii") as f:
        f.write(PYTHON)
    with open(os.path.join(where, "hot.rb"), "w", encoding="ascii") as f:
        f.write(RUBY)
    with open(os.path.join(where, "script"), "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n%s/c 0.7\n%s/c 0.7\n" % (where, where))
    os.chmod(os.path.join(where, "script"), 0o755)
    for command in ("gcc -O2 -o c c.c", "gcc -O0 -o c0 c.c", "gcc -O2 -s -o stripped c.c",
                    "gcc -O2 -static -o static c.c",
                    "gcc -O2 -fno-omit-frame-pointer -o fp c.c",
                    "clang -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -o clang c.c",
                    "g++ -O2 -o cxx %s/cxx.cc -lpthread" % TWINS,
                    "rustc -O -o rust %s/rust.rs" % TWINS,
                    "go build -o go %s/golang.go" % WORK):
        run("sh", "-c", command, cwd=where)
    run("sh", "-c", "seq 400000 | sed 's/$/ the quick brown fox/' >text", cwd=where)


def programs(where):
    """Names, and command lines."""
    s = str(SECONDS)
    text = os.path.join(where, "text")
    for name in "c", "c0", "fp", "stripped", "static", "clang", "cxx", "rust", "go":
        program = os.path.join(where, name)
        if os.path.exists(program):
            yield name, [program, s]
    yield "shell script", [os.path.join(where, "script")]
    for version in "3.11", "3.12", "3.13":
        if python(version):
            yield "CPython " + version, [python(version), os.path.join(where, "hot.py"), s]
    others = {
        "node": ["node", os.path.join(TWINS, "script.js"), s],
        "java": ["java", os.path.join(TWINS, "Script.java"), s],
        "perl": ["perl", "-e", PERL],
        "ruby": ["ruby", os.path.join(where, "hot.rb"), s],
        "php": ["php", "-r", "for ($i = 0, $n = []; $i < 9000000; $i++) $n[$i % 977] = "
                             "strlen(\"a$i\"); echo count($n);"],
        "git": ["git", "-C", ROOT, "log", "-p", "--stat", "-250"],
        "gcc": ["gcc", "-O2", "-S", "-o", "/dev/null", os.path.join(WORK, "../../twins/record.c")],
        "cc1plus": ["g++", "-O2", "-S", "-o", "/dev/null", TWINS + "/cxx.cc"],
        "sqlite3": ["sqlite3", ":memory:", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
                    "i + 1 FROM n WHERE i < 900000) SELECT sum(i * i % 7), "
                    "length(group_concat(i % 9)) FROM n"],
        "sort": ["sort", text], "xz": ["xz", "-2", "-kc", text], "zstd": ["zstd", "-qc9", text],
        "openssl": ["openssl", "speed", "-seconds", "1", "sha256"],
        "mawk": ["mawk", "{n[$1 % 977] += $1} END {for (k in n) print k, n[k]}", text],
        "tclsh": ["tclsh", os.path.join(where, "hot.tcl")],
        "bash": ["bash", "-c", "for ((i = 0; i < 90000; i++)); do x=${x#a}a$i; x=${x:0:9}; done"],
    }
    with open(os.path.join(where, "hot.tcl"), "w", encoding="ascii") as f:
        f.write("proc f {n} {set s 0; for {set i 0} {$i<$n} {incr i} {incr s [string length "
                "[lsort [list $i b a]]]}; return $s}\nputs [f 400000]\n")
    for name, argv in others.items():
        if shutil.which(argv[0]):
            yield name, argv


@contextlib.contextmanager
def process(where):
    """A program that runs, or a database server that has clients."""
    with subprocess.Popen([os.path.join(where, "c"), "60"]) as p:
        yield str(p.pid)
        p.kill()


@contextlib.contextmanager
def postgres(where):
    """The server's process; its clients are its children."""
    data = os.path.join(where, "pg")
    os.mkdir(data)
    user = []
    if os.geteuid() == 0:
        shutil.chown(data, "nobody")
        os.chmod(where, 0o755)
        user = ["setpriv", "--reuid=nobody", "--clear-groups"]
    run(*user, "initdb", "-D", data, "-A", "trust", "-U", "me")
    server = subprocess.Popen([*user, "postgres", "-D", data, "-k", data, "-h", ""],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    clients = None
    try:
        for _ in range(50):
            time.sleep(0.1)
            if run("pgbench", "-i", "-q", "-h", data, "-U", "me", "postgres").returncode == 0:
                break
        clients = subprocess.Popen(["pgbench", "-S", "-C", "-c", "2", "-T", "60", "-h", data,
                                    "-U", "me", "postgres"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        yield str(server.pid)
    finally:
        for p in filter(None, (clients, server)):
            p.send_signal(signal.SIGINT)
            p.wait()


@contextlib.contextmanager
def nginx(where):
    """The process of a web server that answers, which has clients."""
    conf = os.path.join(where, "nginx.conf")
    with open(conf, "w", encoding="ascii") as f:
        f.write("daemon off; pid %s/nginx.pid; error_log /dev/null; events {}\n"
                "http { access_log off; types_hash_max_size 2048;\n"
                " client_body_temp_path %s; proxy_temp_path %s; fastcgi_temp_path %s;\n"
                " uwsgi_temp_path %s; scgi_temp_path %s;\n"
                " server { listen 127.0.0.1:18087; root %s; gzip on; gzip_types *;\n"
                " gzip_min_length 1; } }\n" % ((where,) * 7))
    os.chmod(where, 0o755)
    server = subprocess.Popen(["nginx", "-c", conf], stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    clients = subprocess.Popen(["ab", "-q", "-t", "60", "-n", "9999999", "-c", "2", "-H",
                                "Accept-Encoding: gzip", "http://127.0.0.1:18087/c.c"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        yield run("pgrep", "-P", str(server.pid)).stdout.split()[0]
    finally:
        clients.kill()
        clients.wait()
        server.terminate()
        server.wait()


def ways(data, target, program):
    """The three command lines; target: options that say what; program: behind '--'."""
    mine = [B, "record", "--runtime", "-o", data + ".mine", *target]
    mine += ["--", *program] if program else ["--for", "%ss" % SECONDS]
    plain = program or ["sleep", str(SECONDS)]
    start = ["perf", "record", "-q", "-F", RATE]
    return {"mine": mine,
            "fp": [*start, "-g", "-o", data + ".fp", *target, "--", *plain],
            "dwarf": [*start, "--call-graph", "dwarf", "-o", data + ".dwarf", *target, "--",
                      *plain]}


def measure(where, name, target, program, at_once=False):
    data = os.path.join(where, "perf.data")
    running = []
    said = ""
    got = {}
    for way, argv in ways(data, target, program).items():
        if at_once:
            running.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.PIPE, text=True, cwd=where))
        else:
            result = run(*argv, cwd=where)
            said = said or result.stderr
    for p in running:
        said = said or p.communicate()[1]
    for way in "mine", "fp", "dwarf":
        file = data + "." + way
        if os.path.exists(file):
            got[way] = *whole(file), took(file)
        else:
            got[way] = 0.0, "nothing recorded", 0
        for end in "", ".old", ".db":
            if os.path.exists(file + end):
                os.unlink(file + end)
    line = next((x for x in said.splitlines() if "perf record" in x), "")
    chose = line.split("--call-graph ")[1].split()[0] if "--call-graph " in line else "?"
    env = line.split()[0] if "=" in line.split(" ")[0] else ""
    best = max(got["fp"][0], got["dwarf"][0])
    bad = got["mine"][0] < best - SLACK or got["mine"][0] < ENOUGH <= best
    print("| %s | %s | %s | %s | %s |" % (
        name, (chose + " " + env).strip(),
        " | ".join("%.2f" % got[w][0] for w in ("mine", "fp", "dwarf")),
        " | ".join("%.1f" % (got[w][2] / 1e6) for w in ("mine", "fp", "dwarf")),
        ("FEWER " if bad else "") + (got["mine"][1] if got["mine"][0] < ENOUGH else "")), flush=True)
    return bad


def main():
    args = sys.argv[1:]
    only = args[args.index("--only") + 1].split(",") if "--only" in args else None
    where = tempfile.mkdtemp()
    bad = 0
    try:
        build(where)
        print("| program | chosen | whole % | -g | dwarf | MB/s | -g | dwarf | not whole % |\n"
              "|---|---|---|---|---|---|---|---|---|")
        for name, argv in programs(where):
            if not only or name in only:
                bad += measure(where, name, [], argv)
        if not only or "a process" in only:
            with process(where) as pid:
                bad += measure(where, "a process", ["-p", pid], None)
        if shutil.which("pgbench") and (not only or "postgres" in only):
            with postgres(where) as pid:
                bad += measure(where, "postgres", ["-p", pid], None)
        if shutil.which("nginx") and shutil.which("ab") and (not only or "nginx" in only):
            with nginx(where) as pid:
                bad += measure(where, "nginx", ["-p", pid], None)
        if not only or "all CPUs" in only:
            bad += measure(where, "all CPUs", ["-a"], None, True)
    finally:
        shutil.rmtree(where)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

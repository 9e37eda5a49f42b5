# causes.py - how often 'diff --wall' names the cause of a slower program first.
"""usage: BACKSTITCH=PROGRAM causes.py [--tracer ftrace|perf] [--only CAUSE,..] [RUNS [FOLDER]]

Records server.c, redis, PostgreSQL, SQLite and fio RUNS times (3) a side by
'record --waits', as they are and with one cause each, in turn, and holds the
first sentence of 'diff --wall' against what was planted; and pairs of equal
sides, of which nothing may be said. What has no program here is left out.
Recordings that are in FOLDER are not made again. Needs root, and perf or ftrace.
It is in no group, as its result depends on the machine. Ends with status 1 if
anything else is blamed, or equal sides are said to differ."""

import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
ENV = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME")}
PG = (sorted(glob.glob("/usr/lib/postgresql/*/bin")) or [""])[-1]
IN_GROUP = "for g in %s; do echo $$ >$g/cgroup.procs; done; exec \"$@\""


class Cause:
    """accepts: what the sentence must have. base: the case that is compared with; None: that of the program, as it is.
    run: how it is started, in place of "server CAUSE"; told: of the server."""

    def __init__(self, accepts, base=None, run=None, **told):
        self.accepts, self.base, self.run, self.told = accepts, base, run, told


def group(kind, case):
    return ["sh", "-c", IN_GROUP % ("<%s>" % kind), "sh", "<server>", case, "<work>"]


SERVER = {
    "longer-lock": Cause("look_up"),
    "sleep-in-lock": Cause("timer.*look_up"),
    "one-more-lock": Cause("lock.*(count_it|work_for)"),
    "smaller-reads": Cause("computing.*(fetch|read_block|pread)"),
    "busier-log": Cause("(computing|log).*write_log"),
    "fsync": Cause("write_log"),
    "sleep": Cause("timer.*nap"),
    "timer-slack": Cause("timer.*nap"),
    "n+1": Cause(r"\bdb\b|ask_db"),
    "more-syscalls": Cause("check_parent"),
    "larger-responses": Cause("answer|main|itself"),
    "retries": Cause("work_for|toil"),
    "parse": Cause("computing.*parse"),
    "herd": Cause("herd|broadcast|futex_wake"),
    "neighbour": Cause("ready.*neighbour"),
    "more-threads": Cause("ready.*worker"),
    "dropped-cache": Cause("disk.*fetch"),
    "affinity": Cause("ready"),
    "nice": Cause("ready.*neighbour", "neighbour"),
    "quota": Cause("throttled|quota", run=group("quota", "none")),
    "slow-preload": Cause("pread64|fetch", run=["env", "LD_PRELOAD=<slow>", "<server>", "none", "<work>"]),
    "drops-behind": Cause("disk.*fetch"),
    "larger-table": Cause("computing.*walk_table"),
    "small-pool": Cause("(timer|lock).*(ask_db|take_slot)"),
    "wrong-thread": Cause("by wrong"),
    "one-lock": Cause("lock of"),
    "collector": Cause("by collector", "one-lock"),
    "slow-logger": Cause("(by|ran) logger"),
    "proxy": Cause("by proxy"),
    "page-faults": Cause("use_buffer|touch|fault"),
    "huge-pages": Cause("use_huge|touch|advise|fault|memory"),
    "fork": Cause("start_helper|fork"),
    "spin": Cause("spin_for_turn"),
    "signals": Cause("on_tick|signal handler"),
    "flood": Cause("(ready|interrupt).*(flood|interrupt)"),
    "memory": Cause("(disk|memory).*fetch", run=group("memory", "memory")),
    "swap": Cause("(disk|memory|swap).*walk_table", "larger-table", group("swap", "larger-table")),
    "slow-disk": Cause("disk.*fetch", "drops-behind", group("disk", "drops-behind")),
}

# beside: commands that are repeated meanwhile
REDIS = {
    "redis-keys": Cause("by redis-server", beside=["keys", "*"]),
    "redis-fsync": Cause("disk.*redis-server|jbd2|redis-server.*(sync|write)", "redis-few", turns="20000", conf=["--appendonly", "yes", "--appendfsync", "always"]),
    "redis-values": Cause("computing by (itself|redis-server)", size="50000"),
    "redis-save": Cause("by redis-server", beside=["save"]),
    "redis-one-cpu": Cause("ready.*redis", pin=["taskset", "-c", "0"]),
    "redis-proxy": Cause("by proxy", "redis-few", turns="20000", late="300"),
}

POSTGRES = {
    "pg-fsync": Cause("disk|jbd2|sync", conf="-c fsync=on -c synchronous_commit=on"),
    "pg-no-index": Cause("computing by postgres", "pg-few", turns="1000", sql=["alter table pgbench_accounts drop constraint pgbench_accounts_pkey"], script="one"),
    "pg-lock": Cause("timer by postgres|lock|pg_sleep", "pg-short", turns="3000", beside="begin; update pgbench_accounts set abalance = 1 where aid < 500; select pg_sleep(0.01); commit; select pg_sleep(0.001)"),
    "pg-n+1": Cause("computing by (itself|postgres)|ready", "pg-select", script="ten"),
    "pg-sleep": Cause("timer by postgres", "pg-few", turns="1000", script="sleep"),
}
PG_SCRIPT = {
    "update": "\\set a random(1, 400)\nupdate pgbench_accounts set abalance = abalance + 1 where aid = :a;\n",
    "one": "\\set a random(1, 90000)\nselect abalance from pgbench_accounts where aid = :a;\n",
    "sleep": "\\set a random(1, 90000)\nselect abalance, pg_sleep(0.002) from pgbench_accounts where aid = :a;\n",
}
PG_SCRIPT["ten"] = PG_SCRIPT["one"] * 10

SQLITE = {
    "sqlite-sync": Cause("disk", sync="full"),
    "sqlite-no-index": Cause("computing by itself", index=""),
    "sqlite-busy": Cause("timer by itself", beside=True),
}

FIO = {
    "fio-small": Cause("disk.*by fio|by fio.*(read|submit)", args=["--bs=4k"]),
    "fio-depth": Cause("disk.*by fio", "fio-deep", args=["--ioengine=libaio", "--iodepth=1"]),
    "fio-fsync": Cause("disk.*by fio|sync", "fio-write", args=["--rw=write", "--fsync=1"]),
    "fio-cold": Cause("disk.*by fio", "fio-warm", args=["--direct=0", "--invalidate=1"]),
}


def cgroup(kind):
    """Folders of a cgroup that limits; "" if this machine has none."""
    disk = os.stat(HERE).st_dev
    device = "%d:0" % os.major(disk)
    old = {"quota": ("cpu", [("cpu.cfs_period_us", "20000"), ("cpu.cfs_quota_us", "8000")]),
           "memory": ("memory", [("memory.limit_in_bytes", "50M")]),
           "swap": ("memory", [("memory.limit_in_bytes", "30M")]),
           "disk": ("blkio", [("blkio.throttle.read_iops_device", device + " 400")])}
    new = {"quota": [("cpu.max", "8000 20000")], "memory": [("memory.max", "50M")], "swap": [("memory.max", "30M")],
           "disk": [("io.max", device + " riops=400")]}
    where = "/sys/fs/cgroup/%s" % old[kind][0]
    try:
        where, files = (where, old[kind][1]) if os.path.isdir(where) else ("/sys/fs/cgroup", new[kind])
        where = os.path.join(where, "causes-" + kind)
        os.makedirs(where, exist_ok=True)
        for name, value in files:
            with open(os.path.join(where, name), "w", encoding="ascii") as f:
                f.write(value)
        return where
    except OSError as e:
        print("%s: left out: %s" % (kind, e))
        return ""


@contextlib.contextmanager
def swapping(folder, wanted):
    path = os.path.join(folder, "swap")
    if wanted:
        subprocess.run("dd if=/dev/zero of=%s bs=1M count=64 2>/dev/null && chmod 600 %s && mkswap -q %s && swapon %s" % ((path,) * 4),
                       shell=True, check=True)
    try:
        yield
    finally:
        if wanted:
            subprocess.run(["swapoff", path], check=True)
            os.remove(path)


@contextlib.contextmanager
def started(command, **more):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **more) as p:
        try:
            yield p
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(p.pid, 9)


def until(test):
    for _ in range(200):
        if test():
            return
        time.sleep(0.05)
    sys.exit("a server did not start")


def quiet(*command, **more):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, **more).returncode


def with_redis(folder, told, record):
    sock, data = os.path.join(folder, "redis.sock"), os.path.join(folder, "redis")
    shutil.rmtree(data, ignore_errors=True)
    os.makedirs(data)
    cli, pin = ["redis-cli", "-s", sock], told.get("pin", [])
    conf = told.get("conf", ["--appendonly", "no"])
    with contextlib.ExitStack() as stack:
        stack.enter_context(started([os.path.join(folder, "first")] + pin + ["redis-server", "--port", "0", "--unixsocket", sock, "--save", "", "--dir", data] + conf))
        until(lambda: not quiet(*cli, "ping"))
        quiet("redis-benchmark", "-s", sock, "-n", "30000", "-r", "20000", "-t", "set", "-P", "16", "-q")
        if "beside" in told:
            stack.enter_context(started(["sh", "-c", 'while :; do "$@" >/dev/null; done', "sh"] + cli + told["beside"]))
        to = sock
        if "late" in told:
            to = sock + ".proxy"
            stack.enter_context(started([os.path.join(folder, "first"), os.path.join(folder, "proxy"), to, sock, told["late"]]))
            until(lambda: os.path.exists(to))
        record(pin + ["redis-benchmark", "-s", to, "-n", told.get("turns", "60000"), "-c", "2", "-r", "20000", "-t", "set", "-d", told.get("size", "100"), "-q"])


def with_postgres(folder, told, record):
    where = "/var/tmp/causes-pg"
    as_pg = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    data, client = os.path.join(where, "d"), ["-h", where, "-p", "7434", "-U", "postgres"]
    if not os.path.exists(data):
        os.makedirs(where, exist_ok=True)
        shutil.chown(where, "postgres", "postgres")
        subprocess.run(as_pg + [os.path.join(PG, "initdb"), "-D", data, "-A", "trust", "-N"], check=True, stdout=subprocess.DEVNULL, cwd=where)
    with started([os.path.join(folder, "first")] + as_pg + [os.path.join(PG, "postgres"), "-D", data, "-k", where, "-p", "7434", "-c", "listen_addresses="] +
                 (told.get("conf") or "-c fsync=off -c synchronous_commit=off").split(), cwd=where) as server:
        sql = lambda text: quiet("psql", *client, "-c", text, "postgres")
        until(lambda: not sql("select 1"))
        quiet(os.path.join(PG, "pgbench"), *client, "-i", "-q", "-s", "1", "postgres")
        for text in told.get("sql", []):
            sql(text)
        script = os.path.join(where, "script")
        with open(script, "w", encoding="ascii") as f:
            f.write(PG_SCRIPT[told.get("script", "update")])
        with contextlib.ExitStack() as stack:
            if "beside" in told:
                stack.enter_context(started(["sh", "-c", 'yes "$0;" | "$@"', told["beside"], "psql", *client, "postgres"]))
                time.sleep(0.3)
            record([os.path.join(PG, "pgbench"), *client, "-n", "-c", "1", "-t", told.get("turns", "10000"), "-f", script, "postgres"])
        server.send_signal(2)
        server.wait()


def with_sqlite(folder, told, record):
    db, script = os.path.join(folder, "sqlite.db"), os.path.join(folder, "sqlite.sql")
    for end in "", "-journal", "-wal":
        with contextlib.suppress(FileNotFoundError):
            os.remove(db + end)
    subprocess.run(["sqlite3", db, "create table t(a integer, b text); with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) "
                    "insert into t select i, hex(i) from n; " + told.get("index", "create index x on t(a);")], check=True)
    with open(script, "w", encoding="ascii") as f:
        f.write(".timeout 60000\npragma synchronous=%s;\n" % told.get("sync", "off"))
        for i in range(8000):
            f.write("update t set b = b || 'x' where a = %d;\n" % (i * 7919 % 5000))
    with contextlib.ExitStack() as stack:
        if "beside" in told:
            stack.enter_context(started(["python3", "-c", "import sqlite3, time\nc = sqlite3.connect(%r, timeout=60, isolation_level=None)\n"
                                         "while True:\n c.execute('begin immediate'); time.sleep(0.01); c.execute('commit'); time.sleep(0.002)" % db]))
        record(["sh", "-c", "exec sqlite3 %s <%s >/dev/null" % (db, script)])


def with_fio(folder, told, record):
    record(["fio", "--name=job", "--filename=" + os.path.join(folder, "fio"), "--size=384m", "--rw=randread", "--direct=1", "--bs=64k",
            "--ioengine=psync"] + told.get("args", []))


# program: what it needs, its causes, the bases of some of them, and how it is recorded
PROGRAMS = {
    "server": ("gcc", SERVER, {"none": Cause(None), "none2": Cause(None, run=["<server>", "none", "<work>"])}, None),
    "redis": ("redis-benchmark", REDIS, {"redis": Cause(None), "redis2": Cause(None), "redis-few": Cause(None, turns="20000")}, with_redis),
    "postgres": (os.path.join(PG, "pgbench"), POSTGRES, {"pg": Cause(None), "pg2": Cause(None), "pg-select": Cause(None, script="one"),
                                                           "pg-few": Cause(None, script="one", turns="1000"), "pg-short": Cause(None, turns="3000")}, with_postgres),
    "sqlite": ("sqlite3", SQLITE, {"sqlite": Cause(None), "sqlite2": Cause(None)}, with_sqlite),
    "fio": ("fio", FIO, {"fio": Cause(None), "fio2": Cause(None), "fio-write": Cause(None, args=["--rw=write"]),
                         "fio-deep": Cause(None, args=["--ioengine=libaio", "--iodepth=16"]),
                         "fio-warm": Cause(None, args=["--direct=0", "--invalidate=0"])}, with_fio),
}
DIFF = {"fio": ["--comm", "fio"]}


def main():
    args, tracer, only = sys.argv[1:], "ftrace", None
    while args and args[0].startswith("--"):
        if args[0] == "--tracer":
            tracer = args[1]
        elif args[0] == "--only":
            only = args[1].split(",")
        args = args[2:]
    runs = int(args[0]) if args else 3
    folder = os.path.abspath(args[1]) if len(args) > 1 else tempfile.mkdtemp()
    where = {"work": os.path.join(folder, "files"), "server": os.path.join(folder, "server"), "slow": os.path.join(folder, "slow.so"),
             **{kind: cgroup(kind) for kind in ("quota", "memory", "swap", "disk")}}
    os.makedirs(where["work"], exist_ok=True)
    flags = ["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-D_FILE_OFFSET_BITS=64", "-o"]
    if not os.path.exists(where["slow"]):
        for name, more in ("server", ["server.c"]), ("proxy", ["proxy.c"]), ("first", ["first.c"]), ("slow.so", ["slow.c", "-shared", "-fPIC"]):
            subprocess.run(flags + [os.path.join(folder, name), os.path.join(HERE, more[0])] + more[1:] + ["-lpthread"], check=True)

    def database(name, n):
        return os.path.join(folder, "%s.%s.%d.db" % (name, tracer, n))

    def record(out, command):
        raw = out[:-3] + ".data"
        # which makes the database too
        got = subprocess.run([os.path.join(folder, "first"), B, "record", "--waits", "--tracer", tracer, "-o", raw, "--", os.path.join(folder, "first")] + command, env=ENV,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if not os.path.exists(out):
            sys.exit("%s: %s" % (out, got.stderr))
        subprocess.run(["rm", "-rf", raw] + [raw + "." + end for end in ("ftrace", "cgroups")], check=True)

    def said(a, b, more):
        got = subprocess.run([B, "diff", "--wall"] + more + a + ["--"] + b, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, check=False)
        if got.returncode:
            sys.exit(got.stderr)
        return " ".join(got.stdout.split("\nA: ")[0].split())

    chosen = {}  # case: its program and how it is recorded
    pairs = []
    for program, (needs, causes, bases, how) in PROGRAMS.items():
        names = [c for c in causes if not only or c in only]
        if not shutil.which(needs):
            print("%s: left out, as it is not here" % program)
            continue
        names = [c for c in names if all(where[w] for w in re.findall(r"<(\w+)>", " ".join(causes[c].run or [])))]
        first = list(bases)[0]
        if names:
            pairs += [(None, first, first + "2", program)]
            pairs += [(causes[c], causes[c].base or first, c, program) for c in names]
            for name in [first, first + "2"] + [causes[c].base for c in names if causes[c].base] + names:
                chosen.setdefault(name, ({**causes, **bases}[name], how))
    for n in range(runs):
        for name, (cause, how) in chosen.items():
            out = database(name, n)
            if os.path.exists(out):
                continue
            with swapping(folder, name == "swap"):
                if how:
                    how(folder, cause.told, lambda command, to=out: record(to, command))
                else:
                    record(out, [re.sub(r"<(\w+)>", lambda m: where[m[1]], w) for w in cause.run or ["<server>", name, "<work>"]])
    count = {"named": 0, "hinted": 0, "nothing": 0, "other": 0, "equal sides differ": 0}
    for cause, a, b, program in pairs:
        text = said(*([database(name, n) for n in range(runs)] for name in (a, b)), DIFF.get(program, []))
        verdict, sentence = "other", re.sub("^.*? in A[^;]*; ", "", text).split("; intervals")[0].split(": ")[0]
        accepted = cause and re.search(cause.accepts, sentence)
        if "nothing is proved" in text:
            verdict = "hinted" if accepted else "nothing"
        elif accepted:
            verdict = "named"
        if cause:
            count[verdict] += 1
        else:
            count["equal sides differ"] += verdict == "other"
        print("%-8s %-17s %s" % (verdict, b if cause else "equal " + program, text), flush=True)
    print(tracer, ", ".join("%s %d" % i for i in count.items()))
    return count["other"] + count["equal sides differ"] > 0


sys.exit(main())

# kinds.py - what people have: a system with make, a compile, a server, short processes, runtimes, a system, LTTng-UST.
"""usage: kinds.py BUILD [ROW...]: all rows, or these ("system, make")

See runs.py, and kinds.sh, whose loads are recorded once into bench/kinds. First
each sample is compared with that of the newest perf (event of babeltrace2): time,
thread, event and addresses; and as many frames have a name at least. What is not
so is not measured, and the benchmark fails. Rows say which commands are compared:

script / ingest    perf's text with names, without inlined functions; rows of the
                   same, with inlined functions
script / script    the same text of both, from the capture
first look         'report' of both, by processor time
inject, script     perf names code of a JIT in what 'perf inject --jit' makes
dummy, text        babeltrace2 without and with fields; ingest likewise

The second table has commands that no other program has, on databases of two
sizes: seconds and MiB for each million events. MiB is what the kernel counts at
most, with pages of the capture that are mapped.

Last result (2 cores, before all other work of the machine; medians of 5; the
other, ours, ratio by the clock and by processor time):

    system, make, script / ingest   perf 6.1          4.28   2.11   1.93   1.45
    system, make, script / script   perf 6.1          3.54   1.88   2.06   1.57
    system, make, first look        perf 6.1          2.22   2.07   1.02   1.02
    system, script, script / ingest perf 6.1          0.43   0.30   1.64   1.35
    system, script, script / script perf 6.1          0.51   0.24   2.11   1.82
    system, script, first look      perf 7.2          0.28   0.22   1.35   1.35
    system, 200 threads, ingest     perf 6.1          3.29   1.25   2.76   2.12
    system, 200 threads, script     perf 6.1          3.55   1.31   2.70   2.16
    system, 200 threads, first look perf 6.1          1.01   1.19   0.75   0.75
    compile, script / ingest        perf 6.1          7.23   3.73   2.02   1.48
    compile, script / script        perf 6.1          6.00   3.92   1.44   1.09
    compile, first look             perf 6.1          3.34   4.03   1.01   1.01
    server, script / ingest         perf 6.1          3.35   1.08   3.24   2.14
    server, script / script         perf 6.1          3.64   1.28   3.21   2.44
    server, first look              perf 7.2          1.28   1.12   1.09   1.09
    short, script / ingest          perf 6.1          5.09   1.66   3.09   2.10
    short, script / script          perf 6.1          5.28   2.35   2.28   1.70
    short, first look               perf 7.2          1.95   1.94   1.02   1.02
    Node, inject, script / ingest   perf 7.2          4.37   0.82   5.23   3.51
    Node, inject, script / script   perf 7.2          5.08   0.80   5.91   4.54
    Java, script / ingest           perf 6.1          0.89   0.43   2.29   1.88
    system, script / ingest         perf 6.1          4.38   1.65   2.84   2.00
    system, script / script         perf 6.1          5.01   1.99   2.64   2.01
    system, first look              perf 7.2          2.35   2.10   0.99   0.99

and before that, of other captures of the same kinds (medians of 3):

    Java, script / script           perf 7.2          0.53   0.24   2.24   2.04
    Java, first look                perf 6.1          0.18   0.22   0.83   0.83
    LTTng-UST, dummy / no fields    babeltrace2 2.1   1.59   0.66   2.30   1.45
    LTTng-UST, text / fields        babeltrace2 2.1   6.23   1.24   5.18   2.83

    million events       1.54   4.70   1.54   4.70   1.54   4.70
                        cpu s  cpu s   wall   wall    MiB    MiB
    path                 0.11   0.11   0.11   0.11      9      3
    path --worst 3       0.11   0.09   0.11   0.09      9      3
    report --latency     0.59   0.56   0.59   0.59     19      7
    report --html        0.99   0.90   1.03   0.94     47     34
    check                0.40   0.36   0.40   0.37     15      5
    report --diff        0.12   0.10   0.12   0.10     16     13    of 3.09, 9.24
    merge                0.51   0.44   0.48   0.41     12      4    of 3.09, 9.24

The compile takes longest: its 1,043,696 samples of 613 processes have 195,276
stacks. Of each chain frames are found and interned, and it is asked whether its
caller is missing, which is remembered by file and offset. perf only finds
frames."""

import collections
import csv
import itertools
import os
import re
import shutil
import subprocess
import sys

import runs

BUILD = sys.argv[1]
ROWS = sys.argv[2:]
US = os.path.join(BUILD, "backstitch")
DIR = "bench/kinds/"
DB = DIR + "out.db"
INGEST = [US, "ingest", "-q", "-f", "--no-cache", "-o", DB]
LOADS = "tests/bench/kinds.sh"
GROWTH = 1.5
ADDRESSES = "comm,tid,time,event,ip"
os.environ.update(BUILD=BUILD, LOAD=os.path.join(BUILD, "bench/load-fp"))


class Skip(Exception):
    """Why a row is not measured."""


class Wrong(Exception):
    """What is not as another program has it: nothing of it is measured, and
    the benchmark fails."""


wrong = 0
# files outside of bench/ where perf looks for them, while they are needed: the
# numbers of processes in their names are used again
lent = []


def need(*programs):
    for p in programs:
        if not shutil.which(p):
            raise Skip("no " + p)


def recorded(name, load, amount, *options):
    """bench/kinds/NAME.data, recorded by root where it is of all CPUs."""
    need("perf")
    path = DIR + name + ".data"
    if not os.path.exists(path):
        print("recording " + path, flush=True)
        # before all other work, and with all of it where all is recorded: so perf
        # keeps up with what it records
        first = ["chrt", "-r", "5"] if runs.FIRST else []
        last = ["chrt", "-o", "0"] if first and "-a" in options else []
        # perf 6.1 overruns a buffer now and then where it reads build-ids at the end
        for _ in range(3):
            p = subprocess.run(
                first + ["perf", "record", "-q", "-N", "-g", "-m", "2048", "-o",
                         path + ".new", *options, "--", *last, LOADS, load,
                         DIR + name, str(amount)], capture_output=True, text=True)
            if not p.returncode:
                break
        if p.returncode:
            raise Skip("perf record: " + p.stderr[-200:].strip())
        os.rename(path + ".new", path)
    return path


def planted(name, build):
    """The program of tests/live/planted in this language, with nothing
    planted."""
    need(*build[:1])
    os.makedirs(DIR + name, exist_ok=True)
    source = "orders." + {"node": "js"}.get(name, name)
    with open("tests/live/planted/" + source, encoding="ascii") as f:
        text = re.sub(r"PLANT_\w+", "0", f.read())
    with open(DIR + name + "/" + source, "w", encoding="ascii") as f:
        f.write(re.sub(r"\b(NOINLINE|LARGE)\b", "", text))
    subprocess.run(build + [source], check=True, cwd=DIR + name)


def node():
    planted("node", ["node", "--check"])
    return recorded("node", "node", 40000, "-F", "10000", "-k", "mono")


def java():
    planted("java", ["javac"])
    path = recorded("java", "java", 40000, "-F", "10000")
    with open(DIR + "java/pid", encoding="ascii") as f:
        name = "/tmp/perf-%d.map" % int(f.read())
    kept = DIR + "java/map"
    if not os.path.exists(kept):
        shutil.copy2(name, kept)
    shutil.copy2(kept, name)
    lent.append(name)
    return path


def java_jitdump():
    need("javac")
    raise Skip("the JVM writes a jitdump by libperf-jvmti.so only, which Debian's"
               " linux-perf does not have")


def ust():
    """LTTng's daemon is one of our own, without the kernel's tracer."""
    need("lttng-sessiond", "lttng", "babeltrace2")
    path = os.path.abspath(DIR + "ust.ctf")
    if os.path.exists(path):
        return path
    print("recording " + path, flush=True)
    program = os.path.abspath(DIR + "ust")
    env = dict(os.environ, LTTNG_HOME=os.path.abspath(DIR),
               LTTNG_UST_ALLOW_BLOCKING="1")

    def run(*args):
        p = subprocess.run(args, env=env, capture_output=True, text=True)
        if p.returncode:
            raise Skip("%s: %s" % (" ".join(args[:3]), p.stderr[-200:].strip()))

    run("gcc", "-Itests/captures", "-o", program, "tests/captures/ust.c",
        "-llttng-ust", "-pthread", "-ldl")
    pid = DIR + "sessiond.pid"
    run("lttng-sessiond", "--daemonize", "--no-kernel", "--pidfile", pid)
    try:
        run("lttng", "-q", "create", "kinds", "--output", path + ".new")
        run("lttng", "-q", "enable-channel", "-u", "ch", "--num-subbuf=16",
            "--subbuf-size=4M", "--blocking-timeout=inf")
        run("lttng", "-q", "enable-event", "-u", "-c", "ch", "-a")
        run("lttng", "-q", "add-context", "-u", "-c", "ch", "-t", "vpid", "-t",
            "vtid", "-t", "procname")
        run("lttng", "-q", "start")
        run(program, "700000")
        run("lttng", "-q", "destroy")
    finally:
        with open(pid, encoding="ascii") as f:
            os.kill(int(f.read()), 15)
    os.rename(path + ".new", path)
    return path


def lines(args):
    p = subprocess.Popen(args, stdout=subprocess.PIPE, text=True,
                         stderr=subprocess.DEVNULL, errors="replace")
    yield from p.stdout
    if p.wait():
        raise Wrong("%s ended with %d" % (args, p.returncode))


def samples(args):
    """Of a text: (head, addresses or names) of each sample."""
    for full, group in itertools.groupby(lines(args), lambda line: line != "\n"):
        if full:
            head, *frames = group
            yield " ".join(head.split()), "".join(frames)


def newest(program):
    found = runs.versions(program)
    return found[max(found, key=lambda n: [int(d) for d in re.findall(r"\d+", n)])]


def same_samples(capture):
    """Samples of both, as they were recorded (names prove callers that are
    missing there). Two classes differ. Those of which perf prints no frame: it
    throws a stack away when one of its words is above 2^64 - 4096 and no mark,
    as where a register that is no frame pointer was followed. And those behind
    the record of their thread's end, with which perf forgets its name."""
    text = ["script", "--no-inline", "-F", ADDRESSES, "-i"]
    subprocess.run(INGEST + ["--no-symbols", capture], check=True)
    n = 0
    theirs, ours = collections.Counter(), collections.Counter()
    for a, b in itertools.zip_longest(
            samples([newest("perf"), "--no-pager"] + text + [capture]),
            samples([US] + text + [DB])):
        n += a is not None
        if a != b:
            theirs[a] += 1
            ours[b] += 1
    left, right = theirs - ours, ours - theirs
    bare = nameless = 0
    for head, frames in list(right.elements()):
        _, *rest = head.rsplit(" ", 3)
        ended = " ".join([":" + rest[0]] + rest)
        for key in ((head, ""), (ended, frames), (ended, "")):
            if left[key]:
                left[key] -= 1
                right[head, frames] -= 1
                bare += key[1] != frames
                nameless += key[0] != head
                break
    if +left or +right:
        raise Wrong("%s: other samples: perf %s, ours %s" % (
            capture, list((+left).items())[:3], list((+right).items())[:3]))
    return "%d samples are perf's, %d bare and %d nameless there" % (n, bare, nameless)


def named(command, capture):
    n = unknown = 0
    for _, frames in samples([*command, "script", "--no-inline", "-F", "comm,ip,sym",
                              "-i", capture]):
        n += frames.count("\n")
        unknown += frames.count("[unknown]")
    return n - unknown, n


def same_names(capture, theirs):
    """theirs: what perf reads, which may be made of the capture."""
    perf, of = named([newest("perf"), "--no-pager"], theirs)
    ours, of_ours = named([US], capture)
    if ours < perf:
        raise Wrong("%s: perf names %d frames, ours %d" % (capture, perf, ours))
    return "names: perf %d of %d frames, ours %d of %d" % (perf, of, ours, of_ours)


def same_events(trace):
    theirs = collections.Counter(
        re.match(r"\[.*?\] \(.*?\) (?:\S+ )?(\S+:\S+): ", line)[1]
        for line in lines([newest("babeltrace2"), trace]))
    subprocess.run([US, "ingest", "-qf", "-o", DB, trace], check=True)
    ours = collections.Counter(dict(rows(
        DB, "SELECT t.name, count(*) FROM event e JOIN event_type t"
            " ON t.id = e.type GROUP BY 1")))
    if theirs != ours:
        raise Wrong("%s: other events: %s" % (
            trace, (theirs - ours, ours - theirs)))
    return "%d events are babeltrace2's" % sum(theirs.values())


def rows(db, sql):
    p = subprocess.run([US, "query", "--format", "csv", db, sql], check=True,
                       stdout=subprocess.PIPE, text=True)
    return [(name, int(n)) for name, n in list(csv.reader(p.stdout.splitlines()))[1:]]


JITTED = "perf", lambda perf: [
    "sh", "-c", "rm -f $0.jit && %s inject --jit -i $0 -o $0.jit && "
    "%s --no-pager script --no-inline -i $0.jit" % (perf, perf)]


def perf_rows(name, capture, rival):
    theirs = "inject, script" if rival == JITTED else "script"
    yield ("%s, %s / ingest" % (name, theirs), rival, INGEST + [capture], 3)
    yield ("%s, %s / script" % (name, theirs), rival,
           [US, "script", "--no-inline", capture], 3)
    if rival != JITTED:
        yield name + ", first look", runs.FLAT, [US, "report", capture], 1


def babeltrace(*args):
    return "babeltrace2", lambda command: [command, *args]


def measured(name, make):
    """Prints the lines of a kind of capture, or why there are none."""
    global wrong
    try:
        capture = make()
        work = []
        if make is ust:
            print("  %s: %s" % (name, same_events(capture)))
            work = [(name + ", dummy / no fields", babeltrace("-o", "dummy"),
                     INGEST + ["--fields", "none", capture], 3),
                    (name + ", text / fields", babeltrace(),
                     INGEST + ["--fields", "all", capture], 3)]
        elif capture:
            rival, theirs = runs.script("--no-inline"), capture
            if make is node:
                rival, theirs = JITTED, capture + ".jit"
                subprocess.run(JITTED[1](newest("perf")) + [capture], check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            print("  %s: %s; %s" % (name, same_samples(capture),
                                    same_names(capture, theirs)))
            work = perf_rows(name, capture, rival)
        for row, rival, own, wanted in work:
            runs.compare(row, rival, capture, own, wanted, memory=True)
    except Skip as why:
        print("  %s: skip: %s" % (name, why))
    except Wrong as what:
        print("  %s: WRONG: %s" % (name, what))
        wrong += 1
    while lent:
        os.unlink(lent.pop())
    sys.stdout.flush()


def databases(which, seconds):
    """A database of all of a system's events, and how many these are."""
    capture = recorded("threads-%s" % which, "threads", seconds, "-a", "-m", "8M",
                       "-e", "cpu-clock/freq=4000/", "-e", "sched:*",
                       "-e", "raw_syscalls:*")
    db = capture.replace(".data", ".db")
    subprocess.run([US, "ingest", "-qf", "-o", db, capture], check=True)
    n = rows(db, "SELECT '', count(*) FROM event")[0][1]
    theirs = sum(1 for _ in lines([newest("perf"), "script", "-G", "-F", "time", "-i",
                                   capture]))
    if n != theirs:
        raise Wrong("%s: %d samples, perf has %d" % (capture, n, theirs))
    return db, n


# one database or two; -o of merge is what runs.py removes
COMMANDS = [
    ("path", 1, ["path", "--all"]),
    ("path --worst 3", 1, ["path", "--all", "--worst", "3"]),
    ("report --latency", 1, ["report", "--latency"]),
    ("report --html", 1, ["report", "--html", "-o", DIR + "page.html"]),
    ("check", 1, ["check"]),
    ("report --diff", 2, ["report", "--diff"]),
    ("merge", 2, ["merge", "-q", "-f", "-o", DIR + "merged.db"]),
]


def grown():
    """Prints what a million events cost in two sizes of the same load."""
    sizes = [[databases("%d%s" % (seconds, which), seconds) for which in "ab"]
             for seconds in (2, 6)]
    print("  %-18s %9s %9s  %6s %6s  %6s %6s  %6s %6s" % (
        "for each million", "events", "events", "cpu s", "cpu s", "wall", "wall",
        "MiB", "MiB"))
    for name, inputs, args in COMMANDS:
        took = [[], []]
        n = [sum(n for _, n in size[:inputs]) / 1e6 for size in sizes]
        for _, i in itertools.product(range(runs.RUNS), (0, 1)):
            r = runs.Run([US] + args + [db for db, _ in sizes[i][:inputs]])
            # check ends with 4 where something is wrong with the capture
            if r.status and (args[0], os.waitstatus_to_exitcode(r.status)) != (
                    "check", 4):
                raise Wrong("%s: %s" % (name, runs.message()))
            took[i].append(r)
        each = [[runs.middle(took[i], key) / n[i] for i in (0, 1)]
                for key in ("cpu", "wall", "peak")]
        print("  %-18s %9d %9d  %6.2f %6.2f  %6.2f %6.2f  %6d %6d" % (
            name, 1e6 * n[0], 1e6 * n[1], *each[0], *each[1],
            *(kib / 1024 for kib in each[2])))
        for what, (small, large) in zip(("cpu", "memory"), (each[0], each[2])):
            if large / small > GROWTH:
                runs.target("%s of %s, large / small" % (what, name), large / small,
                            GROWTH, True)
        sys.stdout.flush()
    n = rows(DIR + "merged.db", "SELECT '', count(*) FROM event")[0][1]
    if n != sum(n for _, n in sizes[1]):
        raise Wrong("merge: %d events" % n)


def main():
    os.makedirs(DIR, exist_ok=True)
    print("load average %.2f on %d processors" % (os.getloadavg()[0], os.cpu_count()))
    if os.geteuid() == 0 and shutil.which("chrt"):
        runs.FIRST = ["chrt", "-r", "40"]
        print("each is run by %s, before all other work" % " ".join(runs.FIRST))
    print("  %-31s %-15s %6s %6s %6s %6s %6s %6s %6s" % (
        "work", "rival", "rival", "ours", "ratio", "cpu", "wanted", "MiB", "ours"))
    often = ("-F", "10000")
    all_cpus = ("-a", "-F", "4999")
    for name, make in (
            ("system, make", lambda: recorded("build", "build", 45, *all_cpus)),
            ("system, script", lambda: recorded("script", "script", 2000, *all_cpus)),
            ("system, 200 threads", lambda: recorded("pool", "pool", 500, *all_cpus)),
            ("compile", lambda: recorded("compile", "compile", 400, *often)),
            ("server", lambda: recorded("server", "server", 4000, *often)),
            ("short", lambda: recorded("short", "short", 40000, *often)),
            ("Node", node), ("Java", java),
            ("Java, jitdump", java_jitdump),
            ("system", lambda: recorded("system", "system", 60, "-a", "-F", "4000")),
            ("LTTng-UST", ust)):
        if name in ROWS or not ROWS:
            measured(name, make)
    if not ROWS:
        measured("commands", grown)
    print("%d targets missed, %d wrong" % (runs.missed, wrong))
    return wrong > 0


sys.exit(main())

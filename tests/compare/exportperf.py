# exportperf.py - perf reads what export --format perf.data writes, as it is.
"""usage: exportperf.py [--print] [NAME...]

Each capture (without LONG each sixth one, others for the next commit) is
read, exported, and printed by perf 6.1 (that of Debian 12), which must say for
each sample, in the same order: time, CPU, process, thread, name, event, period,
every address as it was recorded, and for every address the file and the offset
that we have; and of times of day and the scheduler's events what it says of the
capture itself. Differences belong to a named class, and each is counted and must
be as tests/compare/expect-exportperf.txt says (0 when it says nothing); --print
prints what would be expected instead.

verdict      the user half is missing: the mark [user: VERDICT] stands for it
after_exec   the user half is another program's: [user: after exec] instead
ended        a stack was unwound, but not to its end, or is only the address that
             was hit: [user: REASON] behind it
pac          authentication bits of a return address are cleared
no_address   code known by its name only has an address in the export
unmapped     we know that nothing was mapped there any more, perf does not
name_late    a thread that never had a name has its later one

The payloads of tracepoints must be printed as we print them, but for

trace_stack  a field that is a stack, of which perf 6.1 knows nothing
trace_named  addresses that the capture names, and perf does not
trace_array  elements of __print_dynamic_array(), which perf 6.1 does not know

Then perf report must print a tree, and our own reading of the export must
have the same samples and stacks (their hashes are equal) wherever nothing is
missing, but for

again_jit    jitted code is now a file with the name of the function
again_known  of a capture without times: what was mapped later is known earlier
"""

import collections
import functools
import glob
import os
import re
import shutil
import subprocess
import tempfile

import common

SAMPLES = """
SELECT e.id, e.time_ns, e.cpu, p.pid, t.tid, c.name, y.name, e.weight, e.kraw,
	coalesce(r.uraw, e.uraw), w.name, coalesce(r.flags, 0), y.has_chain,
	r.ip, hex(ks.hash), hex(us.hash)
FROM event e JOIN event_type y ON y.id = e.type AND y.kind = 'sample'
LEFT JOIN comm c ON c.id = e.comm LEFT JOIN thread t ON t.id = c.thread
LEFT JOIN process p ON p.id = t.process
LEFT JOIN request r ON r.event = e.id
LEFT JOIN word w ON w.kind = 'request' AND w.id = r.verdict
LEFT JOIN raw_chain k ON k.id = e.kraw LEFT JOIN stack ks ON ks.id = k.stack
LEFT JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw)
LEFT JOIN stack us ON us.id = u.stack ORDER BY e.id"""

CHAINS = """
SELECT r.id, r.stack, r.addrs, w.name FROM raw_chain r
LEFT JOIN word w ON w.kind = 'unwind' AND w.id = r.ended"""

FRAMES = """
SELECT s.id, s.parent, w.name, i.path, f.off FROM stack s
JOIN frame f ON f.id = s.frame JOIN image i ON i.id = f.image
JOIN word w ON w.kind = 'image' AND w.id = i.kind ORDER BY s.id"""

Ours = collections.namedtuple(
    "Ours", "id time cpu pid tid comm event weight kraw uraw verdict flags "
            "has_chain ip khash uhash")
EXEC = 2
PAC = 0x7f << 48
SLASH = "\u2215"  # of names of jitted code
KERNEL, USER = (1 << 64) - 128, (1 << 64) - 512
MARK = re.compile(r"^\[user: .*\]$")

Theirs = collections.namedtuple("Theirs", "time cpu pid tid ip weight said")


def perf(*args):
    return subprocess.run(["perf", *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


# "0 11392459000 0x5e8 [0x70]: PERF_RECORD_SAMPLE(IP, 0x1): 167/167: 0xff period:
# 1 addr: 0"; CPU and time only when the file has them.
DUMP = re.compile(r"^(?:(-?\d+) )?(?:(\d+) )?0x[0-9a-f]+ \[0x[0-9a-f]+\]: "
                  r"PERF_RECORD_SAMPLE\([^)]*\): (-?\d+)/(-?\d+): "
                  r"(?:0x)?([0-9a-f]+) period: (\d+)")
FRAME = re.compile(r"^\s+([0-9a-f]+) \((.*)\)\s*$")
ENTRY = re.compile(r"^\.+\s+\d+: ([0-9a-f]+)$")
# of events without callchains the address is on this line
EVENT = re.compile(r"^.*?\s(-?\d+)\s+(\S+):\s+(?:([0-9a-f]+) \((.*)\))?\s*$")


def empty_of(path):
    """A folder in which perf finds no programs."""
    empty = os.path.join(os.path.dirname(path), "empty")
    os.makedirs(empty, exist_ok=True)
    return empty


# The same frame is in many stacks.
@functools.lru_cache(1 << 16)
def frame_of(line):
    m = FRAME.match(line)
    return m and (int(m[1], 16), m[2])


class Printed:
    """What perf prints of a record below its first line."""

    def __init__(self, text):
        self.addrs, self.frames, self.comm, self.event = [], [], None, None
        for line in text.split("\n"):
            if line.startswith("....."):
                m = ENTRY.match(line)
                if m:
                    self.addrs.append(int(m[1], 16))
            elif line.startswith(" ... thread: "):
                self.comm = line[len(" ... thread: "):].rpartition(":")[0]
            elif frame_of(line):
                self.frames.append(frame_of(line))
            elif self.event is None and self.comm is not None and line.startswith(
                    (" ", self.comm[:1])):
                m = EVENT.match(line)
                if m:
                    self.event = m[2]
                    if m[3]:
                        self.frames.append((int(m[3], 16), m[4]))


def records(text):
    """(first line, text below it) of what -D prints of each."""
    at = text.find("PERF_RECORD_")
    while at >= 0:
        end = text.find("\n", at)
        after = text.find("PERF_RECORD_", end)
        below = text.rfind("\n", end, after) if after >= 0 else len(text)
        yield text[text.rfind("\n", 0, at) + 1:end], text[end + 1:below]
        at = after


def theirs(path, has_time, has_cpu):
    """perf's own decoding of the file, and what it makes of each address; it
    looks at no file, so that offsets stay what they are."""
    r = perf("script", "-D", "-i", path, "-F", "comm,tid,event,ip,dso",
             "--max-stack", "2048", "--no-inline", "--symfs", empty_of(path))
    # without the bytes of records, which are most lines, and where they are
    text = re.sub(r"(?m)^(?:\.(?:  .*| \.\.\. raw event: .*)?|0x[0-9a-f]+@.*)\n", "",
                  r.stdout.decode(errors="surrogateescape"))
    # many samples of a thread have one stack
    said = {}
    for first, below in records(text):
        head = DUMP.match(first)
        if not head:
            continue
        cpu, time = head[1], head[2]
        if cpu and not time and has_time:
            cpu, time = None, cpu
        if below not in said:
            said[below] = Printed(below)
        yield Theirs(int(time) if has_time and time else None,
                     int(cpu) if has_cpu and cpu else None, int(head[3]),
                     int(head[4]), int(head[5], 16), int(head[6]), said[below])
    if r.returncode:
        raise ValueError("perf script: status %d: %s" % (
            r.returncode, r.stderr.decode(errors="replace")[-300:]))


class Database:
    def __init__(self, db):
        self.samples = [Ours(*row) for row in common.query(db, SAMPLES)]
        self.stack = {row[0]: row[1:] for row in common.query(db, FRAMES)}
        self.chain = {}
        for i, stack, blob, ended in common.query(db, CHAINS):
            addrs, frames = common.addresses(blob), []
            while stack:
                parent, *frame = self.stack[stack]
                frames.append(frame)
                stack = parent
            self.chain[i] = (addrs, frames, ended)

    def half(self, raw):
        return self.chain[raw] if raw else ([], [], None)


def wanted(db, s, count):
    """The addresses of a sample with their contexts, and what each is: a
    frame of ours, or the name of a mark."""
    kernel, kframes, _ = db.half(s.kraw)
    user, uframes, ended = db.half(s.uraw)
    addrs, frames = [], []
    if s.kraw:
        addrs += [KERNEL] + kernel
        frames += [(a, f) for a, f in zip(kernel, kframes)]
    mark = None
    if s.verdict and not s.uraw:
        mark, user, uframes = s.verdict, [], []
        if mark == "matched":
            mark = "empty"
        count["verdict"] += 1
    elif s.uraw and s.flags & EXEC:
        mark, user, uframes = "after exec", [], []
        count["after_exec"] += 1
    elif ended and ended != "outermost":
        mark = ended
        count["ended"] += 1
    if user or mark:
        addrs += [USER] + user
        frames += [(a, f) for a, f in zip(user, uframes)]
    if mark:
        addrs.append(None)
        frames.append((None, "[user: %s]" % mark))
    return addrs, frames


def same_address(want, got, count):
    if want is None:
        return 0x1000 <= got < 0x10000
    if want == got:
        return True
    if want == 0:
        count["no_address"] += 1
        return True
    if want & ~PAC == got and not want >> 63:
        count["pac"] += 1
        return True
    return False


def same_frame(want, frame, got, count, has_chain):
    """Has perf found what we have? Kernel addresses are printed as they are,
    others as offsets in their file."""
    addr, dso = got
    if isinstance(frame, str):
        return dso == frame
    kind, path, off = frame
    off %= 1 << 64
    if kind in ("kernel", "module", "bpf", "ool", "symbols", "guest",
                "unknown_kernel"):
        return True  # by its address; names are others' business
    if kind == "unknown":
        if dso != "[unknown]":
            count["unmapped"] += 1
        return True
    if kind == "file":  # perf prints the address of one without callchain
        return dso == path and addr == (off if has_chain else want)
    if kind == "jit":
        path = path.replace("/", SLASH)
    if kind in ("vdso", "jit", "special", "anon", "mapping"):
        # perf 6.1 calls anonymous memory as the file with its names
        anon = dso == "//anon" or re.match(r"^/tmp/perf-\d+\.map$", dso)
        return dso == path or (kind == "anon" and bool(anon))
    return False


def differ(db, s, p, count, judged):
    """A word for what is not the same; None: nothing. judged: what was said of each
    stack, and counted."""
    pid = -1 if s.pid is None else s.pid
    tid = -1 if s.tid is None else s.tid
    comm = s.comm or ":%d" % tid
    if p.said.comm.encode(errors="surrogateescape") != comm.encode(
            errors="surrogateescape"):
        if not s.comm:
            count["name_late"] += 1
        else:
            return "comm %r, not %r" % (p.said.comm, comm)
    for name, a, b in (("time", p.time, s.time), ("cpu", p.cpu, s.cpu),
                       ("pid", p.pid, pid), ("tid", p.tid, tid),
                       ("period", p.weight, s.weight)):
        if a != b and not (b is None and a in (0, -1, 2**32 - 1)):
            return "%s %s, not %s" % (name, a, b)
    if p.said.event != s.event:
        return "event %r, not %r" % (p.said.event, s.event)
    one = (s.kraw, s.uraw, s.verdict, s.flags & EXEC, s.has_chain,
           None if s.has_chain else (s.ip, p.ip), p.said)
    if one not in judged:
        found = collections.Counter()
        judged[one] = differ_stack(db, s, p, found), found
    why, found = judged[one]
    if found:
        count.update(found)
    return why


def differ_stack(db, s, p, count):
    addrs, frames = wanted(db, s, count)
    if s.has_chain:
        got = p.said.addrs
    else:
        got, addrs = [p.ip], [a for a in addrs if a not in (KERNEL, USER)][:1]
        addrs = addrs or [s.ip or 0]
    if len(got) != len(addrs) or not all(
            same_address(a, b, count) for a, b in zip(addrs, got)):
        return "addresses %s, not %s" % (
            " ".join("%x" % a for a in got),
            " ".join("%x" % a if a is not None else "MARK" for a in addrs))
    if len(p.said.frames) != len(frames) and s.has_chain:
        return "%d frames, not %d" % (len(p.said.frames), len(frames))
    for (a, frame), got in zip(frames, p.said.frames):
        if not same_frame(a, frame, got, count, s.has_chain):
            return "frame %x (%s), not %r" % (*got, frame)
    return None


def compare(ours, path):
    """Counter of classes, and the first differences that have none."""
    count, bad, n, judged = collections.Counter(), [], 0, {}
    has_time = any(s.time is not None for s in ours.samples)
    has_cpu = any(s.cpu is not None for s in ours.samples)
    for p in theirs(path, has_time, has_cpu):
        if n < len(ours.samples):
            why = differ(ours, ours.samples[n], p, count, judged)
            if why:
                bad.append("event %d: %s" % (ours.samples[n].id, why))
        n += 1
    if n != len(ours.samples):
        bad.append("%d samples, not %d" % (n, len(ours.samples)))
    return count, bad, n


def trace_lines(text):
    lines = text.decode(errors="surrogateescape").split("\n")
    return [line for line in (" ".join(line.split()) for line in lines) if line]


def trace_class(ours, got):
    if re.sub(r" stack= => .*", "", ours) == got:
        return "trace_stack"
    if " ({0x" in ours and " __syscall_nr=" in got:
        return "trace_array"
    ours, got = ours.split(), got.split()
    if len(ours) == len(got) and all(
            a == b or re.match(r"^ip=0xf[0-9a-f]{15}$", b)
            for a, b in zip(ours, got)):
        return "trace_named"
    return None


def traces(db, path, count):
    """What is different in the texts of tracepoints."""
    if not common.one(db, "SELECT count(*) FROM event_type WHERE type = 2"
                          " AND events > 0"):
        return []
    has_time = common.one(db, "SELECT count(time_ns) FROM event")
    fields = "comm,tid,time,event,trace" if has_time else \
        "comm,tid,event,trace"
    r = perf("script", "-i", path, "-F", fields, "--symfs", empty_of(path))
    # the text of CTF is babeltrace2's, which no print format of perf makes
    ctf = common.one(db, "SELECT count(*) FROM capture WHERE format = 'ctf'")
    ours = trace_lines(common.run("script", "-F", fields,
                                  path if ctf else db).stdout)
    got = trace_lines(r.stdout)
    bad = []
    if r.returncode or len(ours) != len(got):
        bad.append("status %d, %d lines, not %d" % (r.returncode, len(got),
                                                    len(ours)))
    for a, b in zip(ours, got):
        if a != b:
            why = trace_class(a, b)
            if why:
                count[why] += 1
            else:
                bad.append("%s, not %s" % (b, a))
    return bad


def values(files, path, folder):
    """Every field of every event of these captures, and of the export: in the
    order of the events, without those that perf's format adds."""
    out = []
    for name, paths in ("first", files), ("second", [path]):
        db = common.into(os.path.join(folder, name + ".db"), "--no-symbols",
                         "--fields", "all", *paths)[0]
        own = [{k: v for k, v in f.items() if k[:7] != "common_"}
               for _, f in sorted(common.fields(db).items())]
        out.append([f for f in own if f])
    return out


def again_class(a, x, b, y):
    """Why one half is another one when it is read again; None: nothing."""
    ours, theirs = a.half(x), b.half(y)
    if len(ours[1]) != len(theirs[1]):
        return None
    found = None
    for (kind, path, off), now in zip(ours[1], theirs[1]):
        if [kind, path, off] == now:
            continue
        if kind == "jit" and now == ["file", path.replace("/", SLASH), off]:
            found = "again_jit"
        elif kind == "unknown":
            found = "again_known"
        else:
            return None
    return found


def same_again(a, x, b, y, count):
    if (x.comm or "") != (y.comm or "") or x[6:8] != y[6:8]:
        return False
    halves = [(x.khash, y.khash, x.kraw, y.kraw)]
    if x.uraw and not x.flags & EXEC and a.half(x.uraw)[2] in (
            None, "outermost"):
        halves.append((x.uhash, y.uhash, x.uraw, y.uraw))
    for was, now, raw, raw2 in halves:
        if was != now:
            why = again_class(a, raw, b, raw2)
            if not why:
                return False
            count[why] += 1
    return True


def round_trip(a, path, folder, count):
    """Our own reading of the export: the same samples, the same stacks."""
    again, status, said = common.into(os.path.join(folder, "again.db"),
                                      "--no-symbols", "--no-jit", path)
    if status:
        return ["status %d: %s" % (status, said[-300:])]
    b = Database(again)
    bad = []
    if len(a.samples) != len(b.samples):
        bad.append("%d samples, not %d" % (len(b.samples), len(a.samples)))
    for x, y in zip(a.samples, b.samples):
        if not same_again(a, x, b, y, count):
            bad.append("event %d: %s, not %s" % (x.id, y, x))
    return bad


# More than one capture: a database of both. Names are looked for, as of some
# kernels only the file can tell them.
OTHERS = [
    ("ftrace-stack", ["ftrace/stack/trace.dat"]),
    ("ftrace-ustack", ["ftrace/ustack-both/trace.dat"]),
    ("ftrace-instances", ["ftrace-7.2/instances.dat"]),
    ("ftrace-function", ["ftrace-7.2/function.dat"]),
    ("ftrace-synth", ["ftrace-7.2/synth.dat"]),
    ("ftrace-text", ["ftrace-7.2/t-us-addr.trace.txt"]),
    ("ftrace-text-names", ["ftrace-7.2/t-us.trace.txt"]),
    ("ftrace-arm64", ["arm64/ftrace/v7/trace.dat"]),
    ("lttng-cookie", ["lttng/ku-cookie"]),
    ("lttng-callstack", ["lttng/k-callstack"]),
    ("lttng-minimal", ["lttng/minimal"]),
    ("perf+lttng", ["clocks/clk_perf_mono.data", "clocks/clk_lttng_mono"]),
    ("perf+perf", ["perf-deferred/two-e.data", "perf-deferred/two-f.data"]),
]


def others(only, folder):
    for name, files in OTHERS if only else common.share(OTHERS, 3):
        paths = [common.place(f) for f in files]
        if only and name not in only or not all(paths):
            continue
        db = common.sound("%s is read" % name, common.into(
            os.path.join(folder, "other.db"), "--no-lines", "--no-cache",
            *paths), (0, 3))
        if db:
            yield name, db, paths


def cases(only, folder):
    """The readable captures of tests/cases that are perf.data files. (Names
    with line breaks in them perf prints as they are.)"""
    texts = sorted(glob.glob(os.path.join(common.ROOT, "tests/cases/*/capture.txt")))
    for text in texts if only else common.share(texts, 6):
        name = os.path.basename(os.path.dirname(text))
        data = os.path.join(folder, "case.data")
        if only and name not in only or name.startswith(
                ("ftrace_", "nonce_", "names_cannot_break_out")):
            continue
        if subprocess.run([common.MKCAP, text, data]).returncode:
            common.ok(False, "%s is made" % name)
            continue
        yield name, common.into(os.path.join(folder, "case.db"),
                                "--no-symbols", data)[0]


def check(name, db, expected, printing, folder, again):
    path = os.path.join(folder, "out.data")
    if os.path.exists(path):
        os.unlink(path)  # no output replaces a capture
    r = common.run("export", "--format", "perf.data", "-o", path, db)
    if r.returncode:
        common.ok(False, "%s is exported" % name, [r.stderr.decode()])
        return
    ours = Database(db)
    count, bad, n = compare(ours, path)
    texts = traces(db, path, count)
    worse = round_trip(ours, path, folder, count) if again else []
    if printing:
        common.print_classes(name, count)
    common.ok(not bad, "%s: perf prints the samples that we have (%d, %d not)"
              % (name, n, len(bad)), bad[:5])
    common.ok(not texts, "%s: perf prints what tracepoints say" % name,
              texts[:5])
    common.known_classes(name, count, expected)
    r = perf("report", "--stdio", "-i", path)
    common.ok(r.returncode == 0 and b"Samples:" in r.stdout,
              "%s: perf report prints it" % name, [r.stderr[-300:]])
    if again:
        common.ok(not worse, "%s: read again it is the same (%d not)" % (
            name, len(worse)), worse[:3])


# What perf makes of the capture itself, where it can read it: the same.
BOTH = [("times of day", ["script", "-F", "tod,time,tid"], 1),
        ("perf sched timehist", ["sched", "timehist"], 4)]


def both(c, folder):
    path = os.path.join(folder, "out.data")
    for what, command, least in BOTH:
        was, now = (perf(*command, "-i", f, "--symfs", empty_of(path))
                    for f in (c.path, path))
        lines = [sorted(r.stdout.split(b"\n")) for r in (was, now)]
        if (was.returncode or len(lines[0]) <= least
                or b" disabled " in was.stdout):
            continue  # perf refuses the capture, or it has no such thing
        common.ok(lines[0] == lines[1],
                  "%s: %s, as of the capture itself (%d lines)" % (
                      c.name, what, len(lines[0]) - 1),
                  [str(x) for x in zip(*lines) if x[0] != x[1]][:5])


def main():
    printing, args = common.asked()
    version = perf("--version").stdout.decode() if shutil.which("perf") else ""
    if not version.startswith("perf version 6.1."):
        print("skip perf.data exports: needs Debian 12's perf 6.1, here is %s"
              % (version.strip() or "none"))
        common.finish()
    table = common.expectations("expect-exportperf.txt")
    with tempfile.TemporaryDirectory() as folder:
        for c in common.captures(args) if args else common.share(common.captures(), 6):
            # sums of waits have no time, by which perf sorts
            if c.name.startswith("offcpu-"):
                continue
            options = []
            if c.symfs:
                options = ["--no-symbols", "--symfs", c.symfs]
            check(c.name, common.ingest(c, *options)[0],
                  table.get(c.name, {}), printing, folder, True)
            both(c, folder)
        for name, db in cases(args, folder):
            check(name, db, table.get(name, {}), printing, folder, True)
        for name, db, files in others(args, folder):
            check(name, db, table.get(name, {}), printing, folder, False)
            if "lttng" in name:
                had, has = values(files, os.path.join(folder, "out.data"),
                                  folder)
                common.ok(had and had == has, "%s: read again all fields of "
                          "%d events are the same" % (name, len(had)))
    common.finish()


if __name__ == "__main__":
    main()

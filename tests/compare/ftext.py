# ftext.py - texts of ftrace: counts of another reader, and forms of one ring.
"""usage: ftext.py [NAME...]

Every text in the captures is read and its events, stacks, frames and marks of
loss are counted; tools/ftext.py of the shared folder, which only matches lines,
must count the same. What it counted of the texts of the project is in
ftext-counts.json. What it counts otherwise, or not at all, has a reason in
CLASSES, and is counted too.

One ring was read in every rendering of the kernel and as pages: all forms must
give the same events with the same stacks, as far as they say them."""

import ast
import collections
import json
import os
import re
import sys

import common

KSTACK = re.compile(r": *(?:kernel_stack: +)?<stack trace ?>")
USTACK = re.compile(r": <user stack trace>|: user_stack: +\t=>")
COUNTS = os.path.join(common.ROOT, "tests/compare/ftext-counts.json")
REFUSED = re.compile(r"same-raw|same-hex")
RAW = re.compile(r"report-R|report-raw")  # stacks in it are events

# name: what differs, and why
CLASSES = {
    # the last line of a text that was still being written is left out
    "ftrace-raw/pipe-live.txt": {"entries": -1, "damage": 1},
    "ftrace-raw/overrun-pipe-live.txt": {"damage": 1},
    "ftrace-7.2/t-pipe-overrun.trace_pipe.txt": {"damage": 1},
    "ftrace-7.2/small-buf-nopoll.report-raw.txt": {
        "entries": -1, "damage": 1},
    # no blank between flags and long times
    "ftrace/clock-x86-tsc/report-R.txt": {"entries": 132},
    "ftrace/clock-x86-tsc/report-tl.txt": {"entries": 132},
    "ftrace/clock-x86-tsc/report-v34.txt": {"entries": 132},
    "ftrace/clock-x86-tsc/report.txt": {"entries": 132},
    # lines without task, CPU and time
    "ftrace-raw/same-nocontext.txt": {
        "entries": 5429, "kernel frames": 8678, "user frames": 4600},
}


def ingest(path, *more):
    return common.into(os.path.join(common.CACHE, "ftext.db"), *more, path)


def ours(db, path, text):
    def one(sql):
        return common.one(db, sql) or 0

    depth = "SELECT sum(s.depth) FROM event e JOIN raw_chain r ON r.id = e.%s" \
        " JOIN stack s ON s.id = r.stack"
    of_own = one("SELECT count(*) FROM event e JOIN event_type y"
                 " ON y.id = e.type WHERE y.name IN"
                 " ('ftrace:kernel_stack', 'ftrace:user_stack')")
    n = collections.Counter()
    # an entry is an event or a stack, and most stacks are no event
    n["stacks"] = len(KSTACK.findall(text)) + len(USTACK.findall(text))
    if "same-nocontext" in path:
        n["stacks"] = len(re.findall(r"^<(?:user )?stack trace>$", text, re.M))
    n["entries"] = one("SELECT count(*) FROM event") - of_own + n["stacks"]
    if RAW.search(path):
        n["entries"] = one("SELECT count(*) FROM event")
    n["kernel frames"] = one(depth % "kraw")
    n["user frames"] = one(depth % "uraw")
    n["lost"] = one("SELECT count(*) FROM loss WHERE what = 'lost'")
    n["damage"] = one("SELECT count(*) FROM damage WHERE kind = 'damage'")
    n["of its own"] = of_own
    return n


def tool_counts(name, text):
    """What tools/ftext.py counts, or counted."""
    tool = os.path.join(common.SHARED, "tools/ftext.py")
    if not common.SHARED or not os.path.exists(tool):
        with open(COUNTS, encoding="utf-8") as f:
            return json.load(f)[name]
    plain = os.path.join(common.CACHE, "ftext.txt")
    with open(plain, "wb") as f:
        f.write(text.encode(errors="surrogateescape"))
    out = common.output(sys.executable, tool, plain)
    return ast.literal_eval(out.split("\n")[0].split(" ", 1)[1])


def theirs(name, text):
    c = tool_counts(name, text)
    n = collections.Counter()
    n["entries"] = c.get("event", 0) + c.get("latency", 0) \
        + c.get("lat-verbose", 0)
    n["kernel frames"] = c.get("kernel frame", 0)
    n["user frames"] = c.get("user frame", 0)
    n["lost"] = c.get("lost", 0)
    if "report-raw" in name:
        # the other reader does not know flags as a number
        n["entries"] = len(re.findall(r"\]-0x[0-9a-f]+ +\d", text))
    if "raw user frame" in c:
        # lines of zeros behind the end of a stack are no frames
        n["user frames"] = real_frames(text)
    return n


def real_frames(text):
    n = 0
    ended = True
    for line in text.split("\n"):
        first = re.search(r"user_stack: +\t=> 0x([0-9a-f]+)$", line)
        if first:
            ended = first[1] == "0"
            n += not ended
        elif line.startswith("\t=> 0x"):
            ended = ended or line == "\t=> 0x0"
            n += not ended
    return n


def counts(path, name):
    text = common.read_gz(path)
    read = ingest(path, "--no-symbols")
    _, status, said = read
    if REFUSED.search(name):
        common.ok(status == 1 and re.search(
            "without|give the trace.dat", said),
            "%s is refused, and what to do is said" % name, [said])
        return
    db = common.sound(name, read, (0, 3))
    if not db:
        return
    mine = ours(db, path, text)
    their = theirs(name, text)
    want = collections.Counter(their)
    want.update(CLASSES.get(name, {}))
    keys = ("entries", "kernel frames", "user frames", "lost", "damage")
    bad = ["%s: %d, they have %d" % (k, mine[k], want[k]) for k in keys
           if mine[k] != want[k]]
    if status != (3 if mine["damage"] else 0):
        bad.append("status %d" % status)
    common.ok(not bad and mine["entries"], "%s: %d entries, %d of them stacks "
              "(%d without an event), %d + %d frames, %d marks of loss" % (
                  name, mine["entries"], mine["stacks"], mine["of its own"],
                  mine["kernel frames"], mine["user frames"], mine["lost"]),
              bad)


# ---- one ring in all its forms

def events(db):
    """Each event with its stacks: names of the kernel's functions, addresses
    of the user's, or paths and offsets."""
    name = dict(common.query(
        db, "SELECT f.id, coalesce(s.name, '?') FROM frame f"
            " LEFT JOIN symbol s ON s.id = f.symbol"))
    path = {}
    for stack, frame in common.query(
            db, "SELECT stack, frame FROM stack_path ORDER BY stack, pos"):
        path.setdefault(stack, []).append(name[frame])
    raw = {i: (s, tuple(common.addresses(a))) for i, s, a in
           common.query(db, "SELECT id, stack, addrs FROM raw_chain")}
    for time, cpu, tid, what, kraw, uraw in common.query(
            db, "SELECT e.time_ns, e.cpu, t.tid, y.name, e.kraw, e.uraw"
                " FROM event e JOIN thread t ON t.id = e.thread"
                " JOIN event_type y ON y.id = e.type ORDER BY e.id"):
        kern = tuple(path[raw[kraw][0]]) if kraw else ()
        kaddr = raw[kraw][1] if kraw else ()
        user = raw[uraw][1] if uraw else ()
        yield time, cpu, tid, what.split(":", 1)[-1], kern, kaddr, user


# form: which it says of time (t), CPU and thread (c), kernel names (k) and
# addresses (a), user addresses (u), how many user frames (n), prints (p)
FORMS = {
    "userobj-addr": "tcaunp", "default": "tckunp", "tgid": "tckunp",
    "noannotate": "tckunp", "latency": "ckunp", "latency-verbose": "tckunp",
    "noirqinfo": "tcp", "symoffset": "tckunp", "userobj": "tcknp",
    "nocontext": "p", "fields": "tc",
}


def key_of(e, form):
    time, cpu, tid, what, kern, kaddr, user = e
    # the kernel rounds times to us
    key = [what, (time + 500) // 1000 if "t" in form else 0]
    if "c" in form:
        key += [cpu, tid]
    if "k" in form:
        key.append(kern)
    if "a" in form:
        key.append(kaddr)
    if "u" in form:
        key.append(user)
    if "n" in form:
        key.append(len(user))
    return tuple(key)


def form_of(name, form, reference):
    db = common.sound(name, ingest(
        common.place("ftrace-raw/same-%s.txt" % name), "--no-symbols"))
    if not db:
        return []
    mine = got = list(events(db))
    if name == "fields":
        # this option prints numbers for the kernel's own events
        mine = [e for e in got if not e[3].isdigit()]
    if name in ("nocontext", "noirqinfo"):
        # without contexts some stacks have no event
        mine = [e for e in got if not e[3].endswith("_stack")]
    if "p" not in form:
        reference = [e for e in reference if e[3] != "print"]
    a = collections.Counter(key_of(e, form) for e in mine)
    b = collections.Counter(key_of(e, form) for e in reference)
    lost = common.one(db, "SELECT count(*) FROM loss")
    common.ok(a == b and mine and not lost,
              "%s: the same %d events, as far as it says them (%s)"
              % (name, len(mine), form), common.differences(a, b))
    return got


def forms():
    db = common.sound("pages of the same ring",
                      ingest(common.place("ftrace-raw")))
    if not db:
        return
    reference = list(events(db))
    for name, form in FORMS.items():
        got = form_of(name, form, reference)
        if name == "userobj-addr":
            # equal by address; from here on names count, of which the
            # trimmed kallsyms beside the pages lacks some
            reference = got


# Times of texts are cut to us, here rounded.
MAPPINGS = ("SELECT m.start, m.end, m.pgoff, i.path, (m.t0 + 500) / 1000,"
            " (m.t1 + 500) / 1000 FROM mapping m JOIN image i"
            " ON i.id = m.image WHERE m.process > 0")


def mappings():
    """What system calls mapped, by a trace.dat and by trace-cmd's report of
    it, which does not say whose the threads are that did not call exec."""
    base = "ftrace-7.2/instances"
    rows = []
    for path in (common.place(base + ".dat"),
                 common.place(base + ".report.txt")):
        db = common.sound("mappings by system calls", ingest(path))
        if not db:
            return
        rows.append(collections.Counter(common.query(db, MAPPINGS)))
        if "report" in path:
            named = common.query(
                db, "SELECT DISTINCT buffer, name FROM event_type")
            bad = [n for b, n in named if b and not n.startswith(b + "/")]
            common.ok({b for b, _ in named} == {None, "one", "two"} and
                      not bad, "events of a text's buffers have their name",
                      bad[:5])
    dat, text = rows
    common.ok(not text - dat and sum(text.values()) == 16,
              "a text's system calls map what they did: %d of %d" %
              (sum(text.values()), sum(dat.values())),
              common.differences(text, dat))


def captures():
    for name, path in common.find(
            "ftrace-raw/*.txt", "ftrace-7.2/*trace*.txt",
            "ftrace-7.2/*report*.txt", "ftrace/*/report*.txt",
            "arm64/ftrace/*/*.txt", "s390x/ftrace/*/*.txt"):
        head = common.read_gz(path)[:200]
        if re.match(r"# tracer|cpus=|CPU[: ]| *\S+.*-\d+ +[\[(]", head):
            yield name, path


def main():
    for name, path in captures():
        if not sys.argv[1:] or name in sys.argv[1:]:
            counts(path, name)
    if not sys.argv[1:] or "forms" in sys.argv[1:]:
        forms()
    if not sys.argv[1:] or "mappings" in sys.argv[1:]:
        mappings()
    common.finish()


main()

# ftrace.py - ring-buffer captures, event for event as trace-cmd reports them.
"""usage: ftrace.py [NAME... | FILE]

Beside each trace.dat lies `trace-cmd report -t -R` (times in ns, fields as they
are) and `trace-cmd report` (whole kernel stacks; of some captures this alone). Compared: time, CPU, thread
and name of each event; its fields, where they are numbers or words; the
addresses of its stacks; the marks of lost events. What trace-cmd prints and we
do not, or the other way round, has a class below, and is counted.
FILE is compared with what the installed trace-cmd reports now."""

import collections
import os
import re
import subprocess
import sys

import common

LINE = re.compile(
    r"^(?:(?P<inst>[^:\[\]]*): )? *(?P<comm>.*)-(?P<pid>\d+) +\[(?P<cpu>\d+)\]"
    r"(?:-0x\w+)?\s*(?:[^\s\d]\S*\s+)?(?P<time>\d+(?:\.\d+)?): +(?P<event>[^ ]+?): *"
    r"(?P<text>.*)$")
LOST = re.compile(r"^(?:[^:]*: )?CPU:(\d+) \[(?:(\d+) )?EVENTS DROPPED\]")
FIELD = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")
FRAME = re.compile(r"^=> (?:.*\()?(?:0x)?([0-9a-f]+)\)?$")
WORD = re.compile(r"^[\w./:<>-]+$")

# Reports that are not whole.
CUT = ("v72-small-buf-nopoll", "v72-us-kstack")

LIVE = os.path.join(common.CACHE, "live-raw.txt")

Case = collections.namedtuple("Case", "name path raw report")
Event = collections.namedtuple("Event", "time cpu tid name text stacks")


def find():
    """(name, path, report with times in ns, report with whole stacks)"""
    for place, path in common.find("ftrace/*/trace.dat"):
        d = os.path.dirname(place)
        yield (os.path.basename(d), path, common.place(d + "/report-R.txt"),
               common.place(d + "/report.txt"))
    for place, path in common.find("ftrace-7.2/*.dat"):
        stem = place[:-len(".dat")]
        yield ("v72-" + os.path.basename(stem), path,
               common.place(stem + ".report-raw.txt"),
               common.place(stem + ".report.txt"))
    for place, path in common.find("arm64/ftrace/*/trace.dat",
                                   "s390x/ftrace/*/trace.dat"):
        d = os.path.dirname(place)
        yield (d.replace("/ftrace/", "-"), path,
               common.place(d + "/report-raw.txt"),
               common.place(d + "/report.txt"))


def compare_counted(db, found):
    """Losses of no page come from the counters of the file (kernel's per_cpu/cpuN/
    stats), which trace-cmd's reports leave out: with those of the pages they
    make up each CPU's counter."""
    counted = common.query(
        db, "SELECT cpu, sum(n) FROM loss WHERE what = 'lost' AND cpu IN"
        " (SELECT cpu FROM loss WHERE what = 'lost' AND off = 0) GROUP BY 1")
    totals = dict(common.query(
        db, "SELECT cpu, sum(n) FROM loss WHERE what = 'lost_total' GROUP BY 1"))
    for cpu, n in counted:
        found["counters"] += 1
        if totals.get(cpu) != n:
            found["counter differs"] += 1


def live(path):
    """A case of any file: the reports are made now. With -R trace-cmd 3.1
    crashes at some events; then the other report has to do."""
    reports = []
    for name, options in (("raw", ["-t", "-R"]), ("report", [])):
        file = os.path.join(common.CACHE, "live-%s.txt" % name)
        with open(file, "wb") as out:
            p = subprocess.run(["trace-cmd", "report"] + options + [path],
                               stdout=out, stderr=subprocess.DEVNULL)
        reports.append(None if p.returncode else file)
    return Case(os.path.basename(path), path, *reports)


def cases(only):
    for name, path, raw, report in find():
        if (raw or report) and (not only or name in only):
            yield Case(name, path, raw, report)


def ns(time):
    sec, _, frac = time.partition(".")
    return int(sec) * 10**9 + int(frac.ljust(9, "0")) if frac else int(sec)


def caller(text, wide, order):
    m = re.search(r"caller=ARRAY\[([^\]]*)\]", text)
    data = bytes(int(x, 16) for x in m[1].split(",")) if m else b""
    out = []
    for i in range(0, len(data) - wide + 1, wide):
        out.append(int.from_bytes(data[i:i + wide], order))
    return out


def kernel_stacks(path):
    """All frames of every kernel stack, in the order of the report."""
    out = []
    frames = None
    for line in common.read_gz(path).split("\n"):
        m = FRAME.match(line)
        if m and frames is not None:
            frames.append(int(m[1], 16))
        elif LINE.match(line):
            frames = None
            if "kernel_stack:" in line and "<stack trace" in line:
                frames = []
                out.append(frames)
    return out


def theirs(case, order):
    """Events with the stacks that trace-cmd prints behind them; lost marks."""
    whole = kernel_stacks(case.report) if case.report else []
    events, lost, orphans = [], [], 0
    last = {}
    for line in common.read_gz(case.raw or case.report).split("\n"):
        m = LOST.match(line)
        if m:
            lost.append((int(m[1]), int(m[2] or 0)))
            for k in [k for k in last if k[1] == int(m[1])]:
                del last[k]
            continue
        m = LINE.match(line)
        if not m:
            continue
        key = (m["inst"], int(m["cpu"]), int(m["pid"]))
        kind = m["event"]
        if kind in ("kernel_stack", "user_stack"):
            stack = caller(m["text"], 8, order)
            if kind == "kernel_stack" and whole:
                stack = whole.pop(0)
            elif kind == "user_stack":
                stack = stack[:stack.index(0)] if 0 in stack else stack
            owner = last.get(key)
            if owner is not None and kind not in owner.stacks:
                owner.stacks[kind] = stack
                continue
            orphans += 1
        stacks = {kind: stack} if kind.endswith("_stack") else {}
        ev = Event(ns(m["time"]), key[1], key[2], kind, m["text"], stacks)
        last[key] = None if kind.endswith("_stack") else ev
        events.append(ev)
    return events, lost, orphans


def ours(db):
    fields, chain = common.fields(db), common.chains(db)
    for i, time, cpu, tid, name, kraw, uraw in common.query(
            db, "SELECT e.id, e.time_ns, e.cpu, t.tid, y.name, e.kraw, e.uraw"
                " FROM event e JOIN thread t ON t.id = e.thread"
                " JOIN event_type y ON y.id = e.type ORDER BY e.id"):
        stacks = {}
        if kraw:
            stacks["kernel_stack"] = chain[kraw]
        if uraw:
            stacks["user_stack"] = chain[uraw]
        yield Event(time, cpu, tid, name.split(":", 1)[1], fields.get(i, {}),
                    stacks)


def numbers(text):
    """What a number in the report may mean: 010 is %03d or %o."""
    out = []
    for base in (0, 10, 8):
        try:
            out.append(int(text, base))
        except ValueError:
            pass
    return out


def field_differs(name, mine, text):
    """None: cannot be told."""
    if isinstance(mine, int):
        n = numbers(text)
        if not n:
            return None
        return not any((mine - v) % (1 << bits) == 0
                       for v in n for bits in (64, 32))
    if isinstance(mine, str) and WORD.match(text):
        # paths of the recording machine were changed in some reports
        return os.path.basename(mine) != os.path.basename(text)
    return None


def compare_fields(mine, their, found, raw):
    if their.name == "print":
        # its text is full of things like fields
        text = their.text.partition("buf=")[2]
        found["fields"] += 1
        if mine.text["buf"].strip() != text.strip():
            found["field buf"] += 1
        return
    for name, text in FIELD.findall(their.text):
        if name not in mine.text:
            continue
        differs = field_differs(name, mine.text[name], text.strip())
        if differs is None:
            continue
        found["fields"] += 1
        # of a file of today a format may print hexadecimal digits without 0x
        if differs and not (raw == LIVE and re.fullmatch("[0-9a-f]+", text.strip()) and int(text, 16) == mine.text[name] % (1 << 64)):
            found["field " + name] += 1


def compare_held(mine, their, found, chains, order):
    """Fields that are stacks: how many there are, then as many addresses."""
    for name, text in re.findall(r"(\w+)=ARRAY\[([^\]]*)\]", their.text):
        if "stack" not in name or their.name.endswith("_stack"):
            continue
        data = bytes(int(x, 16) for x in text.split(","))
        words = [int.from_bytes(data[i:i + 8], order)
                 for i in range(0, len(data), 8)]
        found["stack fields"] += 1
        if words[0] != len(words) - 1 or \
                chains.get(mine.text.get(name)) != words[1:]:
            found["stack field differs"] += 1


def compare_stacks(mine, their, found, raw):
    for kind in ("kernel_stack", "user_stack"):
        if kind == "user_stack" and not raw:
            continue
        a, b = mine.stacks.get(kind, []), their.stacks.get(kind, [])
        if not a and not b:
            continue
        found[kind + "s"] += 1
        if a == b or (len(b) == 8 and kind == "kernel_stack" and a[:8] == b):
            continue
        found[kind + " differs"] += 1


def nested(mine, only_theirs, found):
    """A stack behind an interrupt's event and stack: we join it to the event
    that was interrupted, by its context; `theirs` above knows only the task.
    Then that event has it with us, and had none here."""
    index = {}
    for e in mine:
        for kind, stack in e.stacks.items():
            index.setdefault((e.cpu, e.tid, kind, tuple(stack)), []).append(
                e.time)
    for e in list(only_theirs):
        if not e.name.endswith("_stack"):
            continue
        times = index.get((e.cpu, e.tid, e.name, tuple(e.stacks[e.name])), [])
        if any(e.time - 10**8 < t < e.time for t in times):
            only_theirs.remove(e)
            found["nested"] += 1
            found[e.name + " differs"] -= 1


def compare(case):
    db = common.sound(case.name, common.into(
        os.path.join(common.CACHE, "ftrace-%s.db" % case.name),
        "--fields", "all", "--no-symbols", case.path))
    if not db:
        return
    order = "big" if case.name.startswith("s390x") else "little"
    their, lost, orphans = theirs(case, order)
    if not their:
        common.ok(False, case.name, ["the report has no events"])
        return
    cut = case.name in CUT
    if cut:
        del their[-60:]  # their stacks may not be there
    mine = list(ours(db))
    chains = common.chains(db)
    found = collections.Counter(orphans=orphans)

    def key(e):
        # without -t the times are rounded to us
        time = e.time if case.raw else (e.time + 500) // 1000
        return (time, e.cpu, e.tid, e.name)

    a = collections.defaultdict(list)
    for e in mine:
        a[key(e)].append(e)
    only_theirs = []
    for e in their:
        if a[key(e)]:
            m = a[key(e)].pop(0)
            found["events"] += 1
            if case.raw:
                compare_fields(m, e, found, case.raw)
                compare_held(m, e, found, chains, order)
            compare_stacks(m, e, found, case.raw)
        else:
            only_theirs.append(e)
    only_ours = [k for k, v in a.items() for _ in v
                 if k[0] <= their[-1].time or not cut]
    nested(mine, only_theirs, found)
    my_lost = common.query(
        db, "SELECT cpu, coalesce(n, 0) FROM loss WHERE what = 'lost' AND off > 0")
    if sorted(my_lost) != sorted(lost) and not cut:
        found["lost differs"] = abs(len(my_lost) - len(lost)) or 1
    compare_counted(db, found)
    times = [e.time for e in mine]
    if times != sorted(times):
        found["order"] += 1
    bad = [k for k in found if found[k] and (
        k.endswith("differs") or k == "order" or k.startswith("field "))]
    detail = ["%s %d" % x for x in sorted(found.items())]
    detail += ["only theirs: %r" % (e,) for e in only_theirs[:5]]
    detail += ["only ours: %r" % (k,) for k in only_ours[:5]]
    good = not bad and not only_theirs and not only_ours and their
    name = "%s: %d events, %d kernel and %d user stacks, %d fields, %d marks" \
        " of loss" % (case.name, found["events"], found["kernel_stacks"],
                      found["user_stacks"], found["fields"], len(lost))
    if found["stack fields"]:
        name += ", %d fields with a stack" % found["stack fields"]
    common.ok(good, name, detail)


TEXT = re.compile(
    r"^ *(?P<comm>.*)-(?P<pid>\d+) +(?:\( *(?P<tgid>[\d-]+)\) +)?"
    r"\[(?P<cpu>\d+)\] +\S+ +(?P<time>\d+\.\d{6}): (?P<text>.*)$")


def folder(place, text):
    """Pages, and the kernel's own text of the same rings."""
    name = "pages of " + place
    db = common.sound(name, common.into(
        os.path.join(common.CACHE, "ftrace-pages.db"), "--fields", "all",
        common.place(place)))
    if not db:
        return
    their, tgids = collections.Counter(), collections.Counter()
    for line in common.read_gz(common.place(place + "/" + text)).split("\n"):
        m = TEXT.match(line)
        if not m:
            continue
        what = m["text"].split(":")[0]
        if what.startswith("<"):
            # user stacks may be empty, which are none with us
            their["kernel", int(m["cpu"])] += "user" not in what
            continue
        # trace_marker's lines have the name of a function
        what = "print" if what == "tracing_mark_write" else what
        their[ns(m["time"]) // 1000, int(m["cpu"]), int(m["pid"]), what] += 1
        if (m["tgid"] or "-")[0] != "-":
            tgids[int(m["pid"]), int(m["tgid"])] += 1
    mine = collections.Counter()
    for e in ours(db):
        mine[(e.time + 500) // 1000, e.cpu, e.tid, e.name] += 1
        mine["kernel", e.cpu] += "kernel_stack" in e.stacks
    known = dict(common.query(
        db, "SELECT tid, pid FROM thread t JOIN process p ON p.id = t.process"))
    wrong = [p for p in tgids if known.get(p[0]) != p[1]]
    twice = common.query(db, "SELECT tid FROM thread GROUP BY 1"
                             " HAVING count(*) > 1")
    common.ok(not twice, name + ": no thread has two rows", [repr(twice)])
    n = sum(v for k, v in mine.items() if len(k) == 4)
    common.ok(mine == their and n and not wrong, "%s: %d events, %d threads "
              "with a process" % (name, n, len(tgids)),
              common.differences(mine, their, 5)
              + ["tgid: %r" % (k,) for k in wrong[:5]])


SWITCHES = "SELECT next_comm, count(*) FROM ev_sched_sched_switch GROUP BY 1"


def cut():
    """A file whose last options, which name the rings, are cut off."""
    whole = os.path.join(common.HERE, "ftrace-v7.dat")
    path = os.path.join(common.CACHE, "ftrace-cut.dat")
    with open(whole, "rb") as f, open(path, "wb") as g:
        g.write(f.read(50210))
    db = []
    for p in (whole, path):
        db.append(path + os.path.basename(p) + ".db")
        r = common.run("ingest", "-f", "-o", db[-1], p)
    common.ok(r.returncode == 3, "a cut file is read, with status 3")
    notes = common.query(db[1], "SELECT detail FROM damage"
                                " WHERE kind = 'note'")
    common.ok(any("derived" in n and "CPU" in n for n, in notes),
              "and that its CPUs are derived", [repr(notes)])
    common.ok(b"ftrace-cut.dat+0xc422:" in r.stderr, "and says where it is cut",
              [r.stderr.decode()])
    rows = common.query(db[1], "SELECT cpu, count(*), count(kraw) FROM event"
                               " GROUP BY cpu")
    # 1454 entries: each event has a stack
    common.ok(rows == [(0, 700, 700), (1, 27, 27)], "and has all events",
              [repr(rows)])
    common.ok(common.query(db[0], SWITCHES) == common.query(db[1], SWITCHES),
              "and the same switches as the whole file")


def main():
    if len(sys.argv) == 2 and os.path.isfile(sys.argv[1]):
        compare(live(sys.argv[1]))
        common.finish()
    tested = 0
    for case in cases(sys.argv[1:]):
        compare(case)
        tested += 1
    if not sys.argv[1:]:
        cut()
        folder("ftrace-raw", "same-default.txt")
        folder("s390x/ftrace/raw-pages", "trace.txt")
    if not tested:
        common.ok(False, "no capture to compare")
    common.finish()


if __name__ == "__main__":
    main()

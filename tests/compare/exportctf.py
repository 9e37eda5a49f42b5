# exportctf.py - babeltrace2 and we ourselves read export --format ctf.
"""usage: exportctf.py [--print] [NAME...]

Each run is ingested with all fields and exported. Compared with its database,
event by event of each CPU in its order:

text     what babeltrace2 prints: time, name, thread, process, weight, capture,
         verdict, both stacks, every field; and the losses that it tells
plugin   babeltrace2 on the database by our plugin: word for word the same text
again    the database that we make of the trace: time, name, thread, process,
         both stacks, and the number of records lost

Differences belong to a named class, whose count must be as
tests/compare/expect-exportctf.txt says (0 when it says nothing); --print
prints what would be expected instead.

absent      the event lacks a field of its type, which is 0 or "" in the trace
untimed     the event has no time, and gets that of the event before it
late        the same for an event that came late into a live capture
stale       babeltrace2 2.0 prints an older text for one that is empty; 2.1 does not
unknown     a loss of an unknown number of records counts as one
no_order    names of threads of a capture without times are not in order
known_pid   the process of a thread, which the trace as a whole tells
no_comm     a thread without a name has the name "" in the trace
"""

import collections
import os
import re
import shutil
import tempfile

import common
import ctf

RUNS = (
    ("deferred", "z-defer.data"),
    ("deferred-lost", "defer-lost-clock.data.zst"),
    ("untimed", "notime-defer.data.zst"),
    ("fp", "fp-1.data"),
    ("switches", "naps.data"),
    ("big-endian", "s390x-z.data"),
    ("ftrace", "ftrace-v7.dat"),
    ("ftrace-missed", "ftrace-missed.dat.zst"),
    ("ftrace-text", "ftext-verbose.txt.gz"),
    ("lttng-ust", "ctf-discard/trace"),
    ("perf-ftrace", "pair.data", "pair.dat.zst"),
    # of three machines
    ("all-three", "z-defer.data", "ftrace-v7.dat", "ctf-discard/trace"),
)
# More, where the shared folder is.
SHARED = (
    ("dwarf", "perf/dwarf/perf.data"),
    ("lttng-kernel", "lttng/k-callstack/trace"),
    ("lttng-both", "lttng/ku-cookie/trace"),
)
PLUGIN = os.path.join(common.OUT, "plugin")

Event = collections.namedtuple(
    "Event", "time name tid pid comm weight capture verdict kern user fields")

EVENTS = """
SELECT e.id, e.time_ns, coalesce(e.cpu, -1), y.name, coalesce(t.tid, -1),
	coalesce(p.pid, -1), coalesce(c.name, ''), coalesce(e.weight, 0), y.capture,
	coalesce(w.name, 'none'), e.kraw, coalesce(r.uraw, e.uraw)
FROM event e JOIN event_type y ON y.id = e.type
LEFT JOIN comm c ON c.id = e.comm LEFT JOIN thread t ON t.id = c.thread
LEFT JOIN process p ON p.id = t.process
LEFT JOIN request r ON r.event = e.id
LEFT JOIN word w ON w.kind = 'request' AND w.id = r.verdict ORDER BY e.id"""


def events(db, found):
    """The events of each CPU, as the trace must have them."""
    fields, chain = common.fields(db), common.chains(db)
    timed = common.one(db, "SELECT min(first_ns) FROM capture") is not None
    out = collections.defaultdict(list)
    now = 0
    for (i, time, cpu, name, tid, pid, comm, weight, capture, verdict, kraw,
         uraw) in common.query(db, EVENTS):
        if timed and time is None:
            found["untimed"] += 1
        elif timed and time < now:
            found["late"] += 1
        now = max(now, time or 0)
        out[cpu].append(Event(
            now if timed else None, name, tid, pid, comm, weight, capture,
            verdict, chain.get(kraw, []), chain.get(uraw, []),
            fields.get(i, {})))
    return out


def printed(trace, *args):
    text, err = ctf.bt2(trace, *args, "--clock-cycles")
    # without times babeltrace2 2.0.4 forgets a comma; and it names a trace that
    # it reads
    text = re.sub(r"(?m)^(trace.*?)(?<!host)name = ", r"\1, name = ", text)
    text = re.sub(r"(?m)trace = [^,\n]*, (, (?=name)|, ?(?=trace:)|(?=trace:))",
                  "", text)
    return text, err


def of_text(text):
    """The events of each CPU, as babeltrace2 prints them."""
    out = collections.defaultdict(list)
    text = re.sub(r"(?m)^timestamp = 0*(\d+)(\d{9}),", r"timestamp = \1.\2,",
                  re.sub(r"(?m)^timestamp = (\d{20}),",
                         lambda m: "timestamp = %019d," % int(m[1]), text))
    for e in ctf.theirs(text):
        c = e.contexts["ctx"]
        out[e.cpu].append(Event(
            e.time, e.name, c["tid"], c["pid"], c["procname"], c["weight"],
            c["capture"], c["verdict"].label, c["callstack_kernel"],
            c["callstack_user"], dict(ctf.flat(e.fields, ""))))
    return out


def compare_fields(want, got, found):
    for name, value in want.items():
        if value is None:
            found["absent"] += 1
            value = "" if isinstance(got.get(name), str) else 0
            value = b"" if isinstance(got.get(name), list) else value
        if name not in got:
            found["field missing: " + name] += 1
        elif value == "" and got[name]:
            found["stale"] += 1
        elif not ctf.same(value, got[name]):
            found["field differs: %s (%r, %r)" % (name, value,
                                                  got[name])] += 1


def compare_event(want, got, found):
    if want.comm.startswith(":") or want.comm == "[no name]":
        found["no_comm"] += want.comm != got.comm
        got = got._replace(comm=want.comm)
    if want.time is None and want.comm != got.comm:
        found["no_order"] += 1
        got = got._replace(comm=want.comm)
    if want.pid == -1 and got.pid >= 0 and got.fields is None:
        found["known_pid"] += 1
        got = got._replace(pid=-1)
    if want[:-1] != got[:-1]:
        compare_members(want, got, found)
    if got.fields is not None:
        compare_fields(want.fields, got.fields, found)


def compare_members(want, got, found):
    for key in Event._fields[:-1]:
        if getattr(want, key) != getattr(got, key):
            found["%s differs: %s (%r, %r)" % (
                key, want.name, getattr(want, key), getattr(got, key))] += 1


def compare(want, got, found):
    n = 0
    for cpu in sorted(set(want) | set(got)):
        w, g = want.get(cpu, []), got.get(cpu, [])
        if len(w) != len(g):
            found["events of CPU %d: %d, not %d" % (cpu, len(g), len(w))] += 1
        for a, b in zip(w, g):
            compare_event(a, b, found)
            n += 1
    return n


def again(db):
    """What a second ingest made of the trace."""
    out = events(db, collections.Counter())
    for cpu, list_ in out.items():
        out[cpu] = [e._replace(weight=None, capture=None, verdict=None,
                               fields=None) for e in list_]
    return out


def losses(db, start):
    """Those of a CPU that overlap are one."""
    rows = sorted(
        (cpu, t0 if t0 is not None else t1 if t1 is not None else start,
         t1 if t1 is not None else t0 if t0 is not None else start, n)
        for cpu, t0, t1, n in common.query(
            db, "SELECT coalesce(cpu, -1), t0, t1, n FROM loss"
                " WHERE counts AND coalesce(n, 1) > 0"
                " ORDER BY 1, n IS NULL"))
    out = []
    for cpu, t0, t1, n in rows:
        last = out[-1] if out else None
        if last and last[0] == cpu and (t0 < last[2] or t1 == last[2]):
            out[-1] = (cpu, last[1], max(t1, last[2]), last[3] + (n or 0))
        else:
            out.append((cpu, t0, t1, n or 0))
    return [loss[:3] + (loss[3] or 1,) for loss in out]


def since_first(ranges):
    return [(a - ranges[0][0], b - ranges[0][0], n) for a, b, n in ranges]


def compare_losses(db, db2, said, found):
    start = common.one(db, "SELECT min(first_ns) FROM capture")
    found["unknown"] += common.one(
        db, "SELECT count(*) FROM loss WHERE counts AND n IS NULL")
    want, have = losses(db, start), losses(db2, start)
    told = sorted((ctf.of_day(a), ctf.of_day(b), int(n))
                  for n, a, b in ctf.LOST.findall(said))
    # it tells times of day: compared from the first one on
    if since_first(told) != since_first(sorted(loss[1:] for loss in want)):
        found["losses that babeltrace2 tells differ"] += 1
    if want != have:
        found["losses differ: %r" % (set(want) ^ set(have))] += 1
    return sum(loss[3] for loss in want)


def ingest(db, *args):
    _, status, said = common.into(db, "--no-symbols", "--fields", "all", *args)
    return said if status not in (0, 3) else ""


def export(name, paths, scratch, found):
    """Returns what went wrong, or "", and how much there was."""
    db, db2, trace = (os.path.join(scratch, name + s)
                      for s in (".db", ".2.db", ".trace"))
    said = ingest(db, *(["--separate"] if len(paths) > 2 else []), *paths)
    if not said:
        said = common.run("export", "--format", "ctf", "-o", trace,
                          db).stderr.decode()
    if not said:
        said = ingest(db2, trace)
    if said:
        return said, 0, 0
    text, err = printed(trace)
    want = events(db, found)
    n = compare(want, of_text(text), found)
    twice = {cpu: [e._replace(weight=None, capture=None, verdict=None)
                   for e in list_] for cpu, list_ in want.items()}
    compare(twice, again(db2), found)
    lost = compare_losses(db, db2, err, found)
    direct = printed(db, "--plugin-path=" + PLUGIN)
    a, b = direct[0].split("\n"), text.split("\n")
    if not text.startswith("timestamp"):
        # streams without a clock have no order
        a, b = sorted(a), sorted(b)
    lines = abs(len(a) - len(b)) + sum(x != y for x, y in zip(a, b))
    if lines != found["stale"]:
        found["plugin"] += lines
    return "", n, lost


def runs():
    for name, *paths in RUNS:
        yield name, [os.path.join(common.HERE, p) for p in paths]
    for name, *paths in SHARED:
        paths = [common.place(p) for p in paths]
        if all(paths):
            yield name, paths


def main():
    show, only = common.asked()
    expect = common.expectations("expect-exportctf.txt")
    if not ctf.BT2:
        print("skip exportctf: no babeltrace2")
        return
    if "Babeltrace 2.0" not in common.output("babeltrace2", "--version"):
        for classes in expect.values():
            classes.pop("stale", None)
    scratch = tempfile.mkdtemp()
    for name, paths in runs() if only else common.share(runs(), 2):
        if only and name not in only:
            continue
        found = collections.Counter()
        said, n, lost = export(name, paths, scratch, found)
        if "built without" in said:
            print("skip exportctf: built without libbabeltrace2")
            break
        found = {k: v for k, v in found.items() if v}
        if show:
            common.print_classes(name, found)
            continue
        common.ok(not said and n and found == expect.get(name, {}),
                  "%s: %d events, %d lost records" % (name, n, lost),
                  [said] + ["%s: %d" % f for f in sorted(found.items())][:20])
    shutil.rmtree(scratch)
    common.finish()


if __name__ == "__main__":
    main()

# eventnames.py - functions and strings that the text of an event names, as trace-cmd prints them.
"""usage: eventnames.py [FILE...]

A payload has addresses where the text of an event names a function (%ps, %pS)
or a string of the kernel (rcu_utilization). In each trace.dat, every name that
is a field of ours (function_name, ...) must stand in the line that the
installed trace-cmd prints for the same event, and so must the text of
trace_printk() and the function that called it. Events are the same by their
place among those of their name on a CPU."""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

import common

LINE = re.compile(r"^.{16,}?-\d+ +\[(\d+)\].*?\d+\.\d+: +(?:\S+ +)??"
                  r"([A-Za-z_]\w*): +(.*)$")


def theirs(path):
    """{(CPU, event): lines}, None if trace-cmd cannot say."""
    p = subprocess.run(["trace-cmd", "report", path], capture_output=True,
                       text=True, errors="surrogateescape")
    if p.returncode or "PER CPU" in p.stdout[:200]:
        return None
    out = collections.defaultdict(list)
    for line in p.stdout.split("\n"):
        m = LINE.match(line)
        if m:
            out[int(m[1]), m[2]].append(m[3])
    return out


def ours(db):
    """(CPU, event, names) of the events that have names, in order."""
    fields = common.fields(db)
    for i, cpu, name in common.query(
            db, "SELECT e.id, e.cpu, y.name FROM event e JOIN event_type y"
                " ON y.id = e.type WHERE y.buffer IS NULL ORDER BY e.id"):
        row = fields.get(i)
        if not row:
            continue
        named = [k for k in row if k.endswith("_name") and k[:-5] in row]
        if name in ("ftrace:bprint", "ftrace:bputs"):
            named = ["function", "text"]
        if named:
            yield cpu, name.split(":")[1], [row[k] for k in named]


def same(name, line):
    """Of a text of several lines the first is compared. trace-cmd prints a
    number of no function with or without 0x."""
    name = name.split("\n")[0]
    return name in line or (name[:2] == "0x" and name[2:] in line)


def compare(place, path):
    lines = theirs(path)
    with tempfile.TemporaryDirectory() as folder:
        db, _, _ = common.into(os.path.join(folder, "db"), "--no-symbols",
                               path)
        if lines is None or not os.path.exists(db):
            return 0
        at = collections.Counter()
        events = collections.Counter()
        wrong = []
        for cpu, event, names in ours(db):
            have = lines[cpu, event]
            if at[cpu, event] >= len(have):
                continue
            line = have[at[cpu, event]]
            at[cpu, event] += 1
            events[event] += 1
            if not all(same(n, line) for n in names if n):
                wrong.append("%s: %s: %s" % (event, names, line))
    if events:
        common.ok(not wrong, "%s: %s" % (place, ", ".join(
            "%d %s" % (n, e) for e, n in sorted(events.items()))), wrong[:5])
    return sum(events.values())


def main():
    if not shutil.which("trace-cmd"):
        print("skip eventnames: no trace-cmd")
        common.finish()
    found = [(f, f) for f in sys.argv[1:]] or list(common.find(
        "*.dat", "ftrace/*/trace.dat", "ftrace-7.2/*.dat"))
    total = sum(compare(place, path) for place, path in found
                if path.endswith(".dat"))
    print("# %d events" % total)
    common.ok(total or common.SHARED is None, "there_are_events_with_names")
    common.finish()


if __name__ == "__main__":
    main()

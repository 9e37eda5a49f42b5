# hits.py - every function has the share that perf report gives it.
"""usage: hits.py [--print] [NAME...]

The captures hits-* of one program: chains without their kernel or user half, no
chains, call stacks of the processor, groups of events with and without reading
the whole group, a way of unwinding for each event. NAME.report-v61.txt.gz and
NAME.report-v72.txt.gz are perf's reports, by

    perf report --stdio --no-group -g none --children -t '|'
        -F overhead_children,overhead,period,sample,dso,sym

and NAME.group-v61.txt.gz and NAME.group-v72.txt.gz those with --group instead,
which have a column for each member of the group.

For each event the sum of the weights (of perf's group that of all members), and for each function its own weight
and number of samples must be equal, and its share with its callees (of which
perf prints two decimals) must differ by less than 0.1 points. A function that
differs belongs to a class, whose count is in expect-hits.txt. --print prints
the lines that would be expected instead.

lbr_kernel       perf takes the kernel half of a chain with an LBR call stack for
                 user code: its functions have no name and no share
stale_callers    perf shows callers of a sample before for an event that has no
                 callchains, beside events that have some
lbr_hit          perf 7.2 begins the user half with the address that was hit in the
                 kernel, so the function that called the kernel has no share
inferred         a caller that no chain has, and the code proves
only_ours        a function that perf lacks
only_perf        a function that we lack
self, total      a share that differs"""

import collections
import os
import re
import shutil

import common
import mklbr
from common import HERE

HEAD = re.compile(r"^# Samples: (\S+)\s+of events? '(.*)'")
GROUP = re.compile(r"^anon group { (.*) }$")
SUM = re.compile(r"^# Event count \(approx\.\): (\d+)")
NEAR = 0.1  # of 100

Function = collections.namedtuple("Function", "total own period samples")
OURS = """SELECT event, coalesce(symbol, '[unknown]'), image, self, total
FROM hot_functions"""
SAMPLES = """SELECT t.name, coalesce(y.name, '[unknown]'), i.path, count(*)
FROM event e JOIN event_type t ON t.id = e.type AND t.kind = 'sample'
JOIN raw_chain c ON c.id = coalesce(e.kraw, e.uraw)
JOIN stack_path s ON s.stack = c.stack AND s.pos = 0
JOIN frame f ON f.id = s.frame JOIN image i ON i.id = f.image
LEFT JOIN symbol y ON y.id = f.symbol GROUP BY 1, 2, 3"""


INFERRED = """SELECT DISTINCT i.path, y.name FROM frame f
JOIN image i ON i.id = f.image JOIN symbol y ON y.id = f.symbol
WHERE f.flags & 1"""


def key(dso, symbol):
    return os.path.basename(dso), symbol


def theirs(path):
    """{event: (sum, {function: Function})}"""
    out = {}
    event = None
    for line in common.read_gz(path).split("\n"):
        m = HEAD.match(line)
        if m:
            event = m[2]
            of_group = GROUP.match(event)
            members = of_group[1].split(", ") if of_group else [event]
        m = SUM.match(line)
        if m:
            out.update((e, (int(m[1]), {})) for e in members)
        cells = [c.strip() for c in line.split("|")]
        if len(cells) != 6 or line.startswith("#"):
            continue
        name = cells[5].split("] ", 1)[1]
        at = key(cells[4], "[unknown]" if name.startswith("0x") else name)
        columns = [c.split() for c in cells[:4]]
        assert all(len(c) == len(members) for c in columns), line
        for i, event in enumerate(members):
            total, own, period, samples = (c[i] for c in columns)
            # without chains N/A: there are no callees
            total = own if total == "N/A" else total
            row = Function(float(total.rstrip("%")), float(own.rstrip("%")),
                           int(period), int(samples))
            # perf has a row for each address without a name
            known = out[event][1].get(at, Function(0.0, 0.0, 0, 0))
            out[event][1][at] = Function(*map(sum, zip(row, known)))
    return out


def ours(db):
    """The same of our database."""
    out = {name: (weight, {}) for name, weight in common.query(
        db, "SELECT name, weight FROM event_type WHERE kind = 'sample'")}
    samples = {(e, key(dso, symbol)): n for e, symbol, dso, n
               in common.query(db, SAMPLES)}
    for event, symbol, dso, own, total in common.query(db, OURS):
        weight, functions = out[event]
        at = key(dso, symbol)
        functions[at] = Function(100.0 * total / weight, 100.0 * own / weight,
                                 own, samples.get((event, at), 0))
    return out


def class_of(capture, event, function, perf, own, inferred):
    """Why two functions differ, None if they do not."""
    if perf and own:
        if (perf.period, perf.samples) != (own.period, own.samples):
            return "self"
        if abs(perf.total - own.total) < NEAR:
            return None
    elif (perf or own).period:
        return "only_perf" if perf else "only_ours"
    if (function in inferred and own and
            own.total > (perf.total if perf else 0.0)):
        return "inferred"
    if capture == "hits-mixed" and event == "plain" and perf:
        return "stale_callers"
    if capture == "hits-lbr":
        return "lbr_hit" if function[0] == "hits" and own else "lbr_kernel"
    return "total" if perf and own else "only_perf" if perf else "only_ours"


def compare(name, perf, mine, grouped, inferred):
    """Counter of classes, and lines about them."""
    count, lines = collections.Counter(), []
    for event, (weight, functions) in sorted(perf.items()):
        own_weight, own = mine[event]
        if grouped:
            own_weight = sum(mine[e][0] for e in perf)
        if weight != own_weight:
            count["sum"] += 1
            lines.append("%s: perf %d, ours %d" % (event, weight, own_weight))
        # of a group there is a row for each function of any member
        some = {f for f, row in functions.items() if any(row) or not grouped}
        for f in sorted(some | set(own)):
            kind = class_of(name, event, f, functions.get(f), own.get(f),
                            inferred)
            if kind:
                count[kind] += 1
                lines.append("%s %s: %s: perf %s, ours %s" % (
                    event, kind, f, functions.get(f), own.get(f)))
    return count, lines


def is_made_again():
    fp, lbr = (common.read_bytes("%s/hits-%s.data.zst" % (HERE, name))
               for name in ("fp", "lbr"))
    return mklbr.make(fp, mklbr.functions(HERE + "/symfs/wl/hits")) == lbr


def main():
    show, only = common.asked()
    expect = common.expectations("expect-hits.txt")
    seen = set()
    for c in common.captures():
        if not c.name.startswith("hits-") or (only and c.name not in only):
            continue
        seen.add(c.name)
        db, status, said = common.ingest(
            c, "--symfs", HERE + "/symfs", "--kallsyms",
            HERE + "/hits.kallsyms")
        common.ok(status == 0, "%s is read" % c.name, [said])
        mine = ours(db)
        inferred = {key(*row) for row in common.query(db, INFERRED)}
        for version in ("report-v61", "report-v72", "group-v61", "group-v72"):
            path = "%s/%s.%s.txt.gz" % (HERE, c.name, version)
            if not os.path.exists(path):
                continue
            what = "%s.%s" % (c.name, version.replace("report-", ""))
            perf = theirs(path)
            seen.add(what)
            count, lines = compare(c.name, perf, mine,
                                   version.startswith("group"), inferred)
            if show:
                common.print_classes(what, count)
                continue
            common.ok(dict(count) == dict(expect.get(what, {})),
                      "%s: %d functions of perf" % (
                          what, sum(len(f) for _, f in perf.values())), lines)
    if not only and shutil.which("zstd"):
        common.ok(is_made_again(), "mklbr.py makes hits-lbr of hits-fp")
    if not only:
        common.ok(len(seen) == 41, "all captures and reports are there",
                  sorted(seen))
    common.finish()


if __name__ == "__main__":
    main()

# selfs.py - Self is one number: perf's, and that of each of our outputs.
"""usage: selfs.py [--print] [NAME...]

tests/captures/self/NAME.txt.gz is what perf 6.1 prints for a capture, by

    perf report --stdio --no-group -g none --no-children --no-inline -t '|'
        -F overhead,period,sample,dso,sym

with the programs and kernel symbols that we are given too. For each event the
own weight and samples of every function must be equal in it and in
'report --json'. For the event that is shown first, 'report --json', 'annotate
--json', the view hot_functions and the table of the page must be equal, and
'report --inline' must have the same sum for each image. A function that differs
from perf's belongs to a class, whose count is in expect-selfs.txt. --print
prints the lines that would be expected instead.

only_ours   a function that perf lacks
only_perf   a function that we lack
differs     its weight or samples differ"""

import collections
import glob
import html
import os
import re
import tempfile

import common
from common import HERE

HEAD = re.compile(r"^# Samples: (\S+)\s+of events? '(.*)'")
PAGE = re.compile(
    r'<tr><td class="n">[^<]*</td><td class="n">[^<]*</td><td class="n">'
    r'([0-9,]+)</td><td>([\w -]*)</td><td title="(.*?)">.*?</td>'
    r'<td title="(.*?)">.*?</td></tr>')
UNKNOWN = "[unknown]"
ROWS_OF_PAGE = 50


def summed(rows):
    """{(image, symbol): (weight, samples)} of (image, symbol, weight,
    samples), where no symbol means no name."""
    out = {}
    for image, symbol, weight, samples in rows:
        # jitted code is in no file: where its image has a path, it is the name
        image = "[jit]" if image == symbol else os.path.basename(image or "")
        at = image or UNKNOWN, symbol or UNKNOWN
        was = out.get(at, (0, 0))
        if weight or samples:
            out[at] = was[0] + weight, was[1] + samples
    return out


def theirs(path):
    """{event: functions}"""
    rows = collections.defaultdict(list)
    event = None
    for line in common.read_gz(path).split("\n"):
        m = HEAD.match(line)
        event = m[2] if m else event
        cells = [c.strip() for c in line.split("|")]
        if len(cells) != 5 or line.startswith("#"):
            continue
        name = cells[4].split("] ", 1)[1]
        image = "[jit]" if cells[3].startswith("[JIT]") else cells[3]
        rows[event].append((image, None if name.startswith("0x") else name,
                            int(cells[1]), int(cells[2])))
    return {event: summed(r) for event, r in rows.items()}


def of_report(db, *options):
    return summed(
        (r["image"], None if r["kind"] in ("unnamed", "missing")
         else r["symbol"], r["self_weight"], r["self_samples"])
        for r in common.answer("report", "--limit", "0", *options, db)["rows"])


def of_annotate(db):
    return summed((r["image"], None if r["symbol"] == "[no name]"
                   else r["symbol"], r["weight"], r["samples"])
                  for r in common.answer("annotate", "--limit", "0",
                                         db)["rows"])


def of_page(db):
    """Samples of the functions of its table."""
    with tempfile.NamedTemporaryFile(suffix=".html") as f:
        common.run("report", "--html", "--no-source", "-o", f.name, db)
        text = open(f.name.encode(), encoding="utf-8",
                    errors="surrogateescape").read()
    table = text[text.index('<table id="hot">'):]
    return summed((html.unescape(m[4]), None if m[2] in ("unnamed", "missing")
                   else html.unescape(m[3]), int(m[1].replace(",", "")), 0)
                  for m in PAGE.finditer(table[:table.index("</table>")]))


def by_image(functions):
    out = collections.Counter()
    for (image, _), (weight, _) in functions.items():
        out[image] += weight
    return out


def without_names(perf, own):
    """Ours, where perf has a name for nothing in an image: we may find the
    kernel's symbols on this machine, and know jitted code."""
    named = {image for image, symbol in perf if symbol != UNKNOWN}
    return summed((image, symbol if image in named else None, *n)
                  for (image, symbol), n in own.items())


def compare(perf, own):
    """Counter of classes, and lines about them."""
    count, lines = collections.Counter(), []
    for f in sorted(set(perf) | set(own)):
        a, b = perf.get(f), own.get(f)
        if a == b:
            continue
        kind = "differs" if a and b else "only_perf" if a else "only_ours"
        count[kind] += 1
        lines.append("%s %s: perf %s, ours %s" % (kind, f, a, b))
    return count, lines


def same(name, what, want, got):
    lines = compare(want, got)[1]
    common.ok(not lines, "%s: %s" % (name, what), lines[:20])


def check_outputs(name, db):
    """All outputs beside report --json, for the event that is shown first."""
    report = of_report(db)
    # what no code is known of is no function to be annotated or viewed
    known = {f: n for f, n in report.items() if f[0] != UNKNOWN}
    same(name, "annotate", known, {
        f: n for f, n in of_annotate(db).items() if f[0] != UNKNOWN})
    events = {r[0]: r[1] for r in common.query(
        db, "SELECT event, sum(self) FROM hot_functions GROUP BY 1")}
    whole = sum(n for n, _ in report.values())
    views = [summed((image, symbol, own, 0) for symbol, image, own
                    in common.query(
                        db, "SELECT symbol, image, self FROM hot_functions "
                        "WHERE event = ?", event)) for event in events]
    want = {f: (n[0], 0) for f, n in known.items()}
    common.ok(any({f: n for f, n in v.items() if f[0] != UNKNOWN} == want
                  for v in views), name + ": the view hot_functions",
              [str(want)[:300]])
    page = of_page(db)
    common.ok(page and all(report[f][1] == n for f, (n, _) in page.items())
              and (len(page) >= ROWS_OF_PAGE
                   or sum(n for n, _ in page.values())
                   == sum(n for _, n in report.values())),
              name + ": the page", [str(page)[:300]])
    inlined = of_report(db, "--inline")
    common.ok(by_image(inlined) == by_image(report) and
              sum(n for n, _ in inlined.values()) == whole,
              name + ": report --inline")


def made(name, work):
    """The database of a capture, None if it is not at hand."""
    path = common.first(*[HERE + "/" + name + ".data" + p
                          for p in common.PACKINGS])
    kallsyms = common.first(HERE + "/" + name + ".kallsyms")
    if name.startswith("hits-"):
        kallsyms = HERE + "/hits.kallsyms"
    if not path and common.SHARED:
        folder = os.path.join(common.SHARED, "captures/perf")
        path = common.first("%s/%s/perf.data" % (folder, name))
        kallsyms = path and common.plain(folder + "/kallsyms.gz", work)
    if not path:
        return None
    db, status, said = common.into(
        os.path.join(work, name + ".db"), "--symfs", HERE + "/symfs",
        *(["--kallsyms", kallsyms] if kallsyms else []), path)
    common.ok(status in (0, 3), name + " is read", [said])
    return db


def main():
    show, only = common.asked()
    expect = common.expectations("expect-selfs.txt")
    done = set()
    functions_seen = 0
    with tempfile.TemporaryDirectory() as work:
        for path in sorted(glob.glob(HERE + "/self/*.txt.gz")):
            name = os.path.basename(path).replace(".txt.gz", "")
            db = None if only and name not in only else made(name, work)
            if not db:
                continue
            done.add(name)
            count, lines = collections.Counter(), []
            for event, functions in theirs(path).items():
                n, more = compare(functions, without_names(
                    functions, of_report(db, "--event", event)))
                functions_seen += len(functions)
                count += n
                lines += more
            if show:
                print("\n".join(lines))
                common.print_classes(name, count)
                continue
            common.ok(dict(count) == dict(expect.get(name, {})),
                      name + ": perf report --no-inline", lines)
            check_outputs(name, db)
    if not only:
        common.ok(len(done) == (42 if common.SHARED else 29),
                  "all captures are there, with %d functions"
                  % functions_seen, sorted(done))
    common.finish()


if __name__ == "__main__":
    main()

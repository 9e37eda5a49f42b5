# ctflatency.py - intervals of LTTng traces, by the text of babeltrace2.
"""usage: ctflatency.py [NAME...]

Beside each LTTng capture lies the text of babeltrace2 (see ctf.py). From it this
script pairs system calls of the kernel by thread and name, and the requests and
stacks of a user-space program by their cookie. The intervals of tables and
reports must be these, row by row, and their verdicts those that follow from the
losses which babeltrace2 prints: EXPECT has how many of each. Times are compared
by their distance from the first event, as in ctf.py."""

import collections
import csv
import io
import json
import os
import re
import sys

import common

LINE = re.compile(
    r"^timestamp = (?P<s>\d+)\.(?P<ns>\d{9}),(?:.*?,)? name = (?P<name>[\w:]+), "
    r".*?cpu_id = (?P<cpu>\d+).*$")
LOST = re.compile(r"Tracer discarded (?:at least )?(\d+) events? between "
                  r"\[(\d+):(\d+):([\d.]+)\] and "
                  r"\[(\d+):(\d+):([\d.]+)\]")
PAIR = "stitch:request,stitch:ustack,cookie"
# Intervals by capture, kind and verdict; half: the begin or the end is missing.
EXPECT = {
    "chunks": {"request": {"proved": 222, "half": 18}},
    "ctf2-basic": {"request": {"proved": 423, "half": 27}},
    "discard": {"request": {"proved": 74, "half": 81, "consistent": 508}},
    "k-callstack": {"syscall": {"proved": 1054}},
    "ku-cookie": {"request": {"proved": 112, "half": 8}, "syscall": {"proved": 3529}},
    "ku-cookie-ctf2": {"request": {"proved": 112, "half": 8},
                  "syscall": {"proved": 3539}},
    "minimal": {"request": {"proved": 37, "half": 3}},
    "pid-basic": {"request": {"proved": 564, "half": 36}},
    "rotate": {"request": {"proved": 351, "half": 23}},
    "snapshot": {"request": {"proved": 200, "half": 14}},
    "t213-pid": {"request": {"proved": 4, "half": 6}},
    "t213-rotation": {"request": {"proved": 4, "half": 14}},
    "t213-snapshot": {"request": {"proved": 19, "half": 21}},
    "t213-uid": {"request": {"proved": 4, "half": 6}},
    "t216-pid": {"request": {"proved": 4, "half": 6}},
    "t216-rotation": {"request": {"proved": 4, "half": 14}},
    "t216-snapshot": {"request": {"proved": 16, "half": 34, "consistent": 16}},
    "t216-uid": {"request": {"proved": 4, "half": 6}},
    "uid-basic": {"request": {"proved": 423, "half": 27}},
}
Event = collections.namedtuple("Event", "time name cpu tid cookie ret")


def read(text):
    out, first = [], None
    for line in text.split("\n"):
        m = LINE.match(line)
        if not m:
            continue
        time = int(m["s"]) * 10**9 + int(m["ns"])
        first = time if first is None else first
        tid = re.search(r"\bv?tid = (\d+)", line)
        cookie = re.search(r"\bcookie = (0x[0-9A-F]+|\d+)", line)
        ret = re.search(r"event\.fields = \{ ret = (0x[0-9A-F]+|-?\d+)", line)
        out.append(Event(time - first, m["name"], int(m["cpu"]),
                         int(tid[1]) if tid else None,
                         int(cookie[1], 0) if cookie else None,
                         int(ret[1], 0) if ret else None))
    return out, first


def calls(events):
    """(begin, end, tid, name, result) of system calls; None: not there."""
    out, entry = [], {}
    for e in events:
        m = re.match(r"syscall_(entry|exit)_(\w+)$", e.name)
        if not m:
            continue
        b = entry.pop(e.tid, None)
        if m[1] == "entry" or not b or b[1] != m[2]:
            if b and b[1] not in ("exit", "exit_group"):
                out.append((b[0], None, e.tid, b[1], None))
        if m[1] == "entry":
            entry[e.tid] = e.time, m[2]
        elif b and b[1] == m[2]:
            out.append((b[0], e.time, e.tid, m[2], e.ret))
        elif not (m[2] in ("clone", "vfork", "fork", "clone3") and e.ret == 0):
            out.append((None, e.time, e.tid, m[2], e.ret))
    return out + [(t, None, tid, name, None) for tid, (t, name) in entry.items()
                  if name not in ("exit", "exit_group")]


def requests(events):
    """(begin, end, cookie, tid)"""
    out, since = [], collections.defaultdict(list)
    for e in events:
        if e.name == "stitch:request":
            since[e.cookie].append(e)
        elif e.name == "stitch:ustack":
            b = since[e.cookie].pop() if since[e.cookie] else None
            out.append((b and b.time, e.time, e.cookie, b and b.tid))
    return out + [(b.time, None, b.cookie, b.tid) for v in since.values()
                  for b in v]


def lost(err, first):
    """Times of day."""
    out = []
    for n, *t in LOST.findall(err):
        a, b = ((int(h) * 3600 + int(m) * 60) * 10**9
                + int(s.replace(".", "")) - first % (86400 * 10**9)
                for h, m, s in (t[:3], t[3:]))
        out.append((a, b, int(n)))
    return out


def verdicts(spans, losses, needs):
    out = collections.Counter()
    for t0, t1, *_ in spans:
        if t0 is None or t1 is None:
            out["half"] += 1
        elif sum(n for a, b, n in losses if a < t1 and b > t0) >= needs:
            out["consistent"] += 1
        else:
            out["proved"] += 1
    return out


def since_first(spans):
    """(tid, begin, end): of two domains each trace has an offset of its own in
    the text, so times are those since the first interval of a thread."""
    out = collections.defaultdict(list)
    for tid, t0, t1 in spans:
        out[tid].append((t0, t1))
    return {(tid, t0 - min(v)[0], t1 - min(v)[0]) for tid, v in out.items()
            for t0, t1 in v}


def compare(name, trace, text, err):
    events, first = read(common.read_gz(text))
    losses = lost(err, first)
    # a ring that overwrites: what a CPU did before its oldest record is lost
    for cpu in {e.cpu for e in events} if "snapshot" in name else ():
        losses.append((-1, min(e.time for e in events if e.cpu == cpu), 10**9))
    db, status, said = common.into(os.path.join(common.CACHE, name + ".lat.db"),
                                   "--no-symbols", trace)
    assert status in (0, 3), said
    zero = int(common.one(db, "SELECT min(time_ns) FROM event"))
    found = {}
    spans = calls(events)
    if spans:
        text = common.must("query", "--format", "csv", db, "SELECT t0, t1, tid, "
                           "name, ret, verdict FROM interval "
                           "WHERE kind = 'syscall'")
        rows = list(csv.DictReader(io.StringIO(text)))
        have = collections.Counter()
        for r in rows:
            have[tuple(int(r[k]) - zero if r[k] else None for k in ("t0", "t1"))
                 + (int(r["tid"]), r["name"],
                    int(r["ret"]) if r["ret"] else None)] += 1
        bad = common.differences(have, collections.Counter(spans), 6)
        common.ok(not bad, name + ": calls are those of the text", bad)
        count = collections.Counter(
            r["verdict"] if r["verdict"] in ("proved", "consistent") else "half"
            for r in rows)
        want = verdicts(spans, losses, 2)
        common.ok(count == want, name + ": verdicts of calls follow from losses",
                  [str(count), str(want)])
        found["syscall"] = dict(count)
    spans = requests(events)
    if any(t0 is not None and t1 is not None for t0, t1, *_ in spans):
        r = json.loads(common.must("report", "--latency", "--pair", PAIR,
                                   "--json", "--worst", "1000000", db))
        want = verdicts(spans, losses, 1)
        have = since_first((i["tid"], i["begin_ns"], i["end_ns"])
                           for i in r["worst"])
        mine = since_first((-1 if s[3] is None else s[3],) + s[:2]
                           for s in spans if None not in s[:2] and not any(
                               a < s[1] and b > s[0] for a, b, _ in losses))
        bad = ["%s: %s" % (word, sorted(d)[:6]) for word, d in (
            ("too many", have - mine), ("missing", mine - have)) if d]
        common.ok(not bad, name + ": requests are those of the text", bad)
        v = r["verdicts"]
        count = {"proved": v["proved"], "consistent": v["consistent"],
                 "half": sum(v.values()) - v["proved"] - v["consistent"]}
        count = {k: n for k, n in count.items() if n}
        common.ok(count == dict(want), name + ": verdicts of requests follow "
                  "from losses", [str(count), str(want)])
        found["request"] = count
    return found


def main():
    for place, trace in common.find("lttng/*/trace"):
        folder = os.path.dirname(place)
        name = os.path.basename(folder)
        text = common.place(folder + "/bt2-all.txt")
        if not text or (sys.argv[1:] and name not in sys.argv[1:]):
            continue
        err = os.path.join(os.path.dirname(text), "bt2.err")
        said = ""
        if os.path.exists(err):
            with open(err, encoding="utf-8") as f:
                said = f.read()
        found = compare(name, trace, text, said)
        common.ok(found == EXPECT.get(name, {}), name + ": as many as before",
                  ["found %s" % found])


main()
common.finish()

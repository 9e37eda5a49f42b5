# exporttext.py - json and chrome exports against the database itself.
"""Reads each form as its readers do and adds up: samples, weights, stacks,
losses and running times must be those that SQL says. What speedscope's own
page makes of chrome's is compared as well, where `make deps` could install
the package."""

import collections
import json
import os
import re
import shutil
import sys

from common import (CACHE, HERE, OUT, ROOT, alone, captures, finish, ingest,
                    must, ok, one, output, place, query, share, sound,
                    unlike)

NPM = os.path.join(OUT, "npm")
NODE = shutil.which("node") and os.path.isdir(
    NPM + "/node_modules/speedscope") and os.path.isdir(
    NPM + "/node_modules/ajv")
# read by the page too; it is slow where there are many stacks
PAGE = ("z-defer", "defer-lost-clock", "defer-exitexec-s", "tp-sched",
        "switch-churn", "two-e", "dlchurn", "ftrace-v7", "pair", "lttng")


def export(form, db, *more):
    return must("export", "--format", form, *more, db)


def samples_of(db):
    return query(db, "SELECT event_id, time_ns, cpu, pid, tid, comm, event, "
                 "weight, verdict, capture, kernel_raw, user_raw "
                 "FROM samples ORDER BY event_id")


def none_if_unknown(x):
    return None if x == -1 else x


def check_json(name, db, want, lost):
    d = json.loads(export("json", db))
    got = [(s["event_id"], s["time_ns"], s["cpu"], s["pid"], s["tid"],
            s["comm"], s["event"], s["weight"], s["verdict"], s["capture"],
            s["kernel"] or None, s["user"] or None) for s in d["samples"]]
    ok(got == [w[:3] + (none_if_unknown(w[3]), none_if_unknown(w[4])) + w[5:]
               for w in want] and (d["format"], d["version"])
       == ("backstitch", 1), name + ": json has all samples",
       [str(x) for x in list(zip(got, want))[:2]])
    ok(sum(x["n"] or 0 for x in d["losses"] if x["counts"]) == lost
       and len(d["losses"]) == one(db, "SELECT count(*) FROM loss"),
       name + ": json has all losses")
    check_code(name, db, d)


def check_code(name, db, d):
    """Arrays are indexed by id."""
    bad = [key for key in ("images", "frames", "stacks")
           if any(x["id"] != i for i, x in enumerate(d[key]))]
    for id_, image, off, symbol in query(
            db, "SELECT f.id, f.image, f.off, s.name FROM frame f "
            "LEFT JOIN symbol s ON s.id = f.symbol"):
        f = d["frames"][id_]
        if (f["image"], int(f["off"], 16), f["symbol"]) != (
                image, off % (1 << 64), symbol):
            bad.append(f)
    frames = collections.defaultdict(list)
    for stack, frame in query(db, "SELECT stack, frame FROM stack_path "
                              "ORDER BY stack, pos"):
        frames[stack].append(frame)
    for id_, stack in query(db, "SELECT id, stack FROM raw_chain"):
        s = d["stacks"][id_]
        if (s["frames"] != frames[stack] and frames[stack]
                or len(s["addresses"]) != len(s["frames"])):
            bad.append(s)
    ok(not bad, name + ": json has all frames and stacks",
       [str(b) for b in bad[:3]])


def running(db):
    """ns of each tid between switches of which both ends are recorded, on
    their CPUs, where nothing is lost in between; from one event type for each
    kernel."""
    types = query(db, "SELECT t.id, t.kind, t.fields, t.events, "
                  "coalesce(c.together, c.id) FROM event_type t "
                  "JOIN capture c ON c.id = t.capture WHERE t.events > 0 AND "
                  "(t.kind = 'sample' AND t.name LIKE '%sched_switch' "
                  "AND t.weight <= t.events "
                  "AND t.fields IS NOT NULL "
                  "OR t.kind = 'record' AND t.name = 'switch')")
    best = {}
    for t in types:
        key = (t[1] == "sample", t[3])
        if t[4] not in best or key > (best[t[4]][1] == "sample",
                                      best[t[4]][3]):
            best[t[4]] = t
    total = collections.Counter()
    for id_, kind, table, n, kernel in best.values():
        if kind == "record":
            rows = query(db, "SELECT e.time_ns, e.cpu, h.tid, x.value "
                         "FROM event e JOIN sample_extra x ON x.event = e.id "
                         "AND x.name = 'out' LEFT JOIN thread h ON h.id = "
                         "e.thread WHERE e.type = ? ORDER BY e.id", id_)
            halves = [(t, cpu, tid, out) for t, cpu, tid, out in rows]
        else:
            names = [r[1] for r in query(db, 'PRAGMA table_info("%s")' % table)]
            prev, next_ = (("prev_pid", "next_pid") if "prev_pid" in names
                           else ("prev_tid", "next_tid"))
            halves = []
            for t, cpu, out, into in query(
                    db, 'SELECT e.time_ns, e.cpu, s.%s, s.%s FROM event e '
                    'JOIN "%s" s ON s.event_id = e.id WHERE e.type = ? '
                    'ORDER BY e.id' % (prev, next_, table), id_):
                halves += [(t, cpu, out, 1), (t, cpu, into, 0)]
        losses = query(db, "SELECT cpu, coalesce(t0, -1 << 63), "
                       "coalesce(t1, (1 << 63) - 1) FROM loss WHERE counts "
                       "AND capture = (SELECT capture FROM event_type WHERE "
                       "id = ?1) AND (type IS NULL OR type = ?1)", id_)
        on = {}     # CPU -> (tid, since)
        where = {}  # tid -> CPU
        for t, cpu, tid, out in halves:
            tid = -1 if tid is None else tid
            cpu = ("task", tid) if cpu is None else cpu
            if out:
                at, since = on.pop(cpu, (None, 0))
                if at is not None and tid in (at, -1) and not any(
                        t0 < t and t1 > since and c in (None, cpu)
                        for c, t0, t1 in losses):
                    total[at] += t - since
                if at is not None:
                    where.pop(at, None)
                on.pop(where.pop(tid, None), None)
            else:
                on.pop(where.pop(tid, None), None)
                at, since = on.pop(cpu, (None, 0))
                where.pop(at, None)
                if tid:
                    on[cpu] = (tid, t)
                    where[tid] = cpu
    return +total


def nanos(ts):
    return int(ts.replace(".", ""))


def read_chrome(text):
    """Running ns by track, instants, losses; ValueError when it is no trace."""
    d = json.loads(text, parse_float=nanos)
    run_, open_, last = collections.Counter(), {}, None
    instants, lost, names, arrows = [], {}, set(), {}
    for e in d["traceEvents"]:
        track = (e["pid"], e["tid"])
        if e["ph"] == "M":
            names.add(track)
            continue
        if track not in names:
            raise ValueError("no name before %r" % e)
        if last is not None and e["ts"] < last:
            raise ValueError("not in time order: %r" % e)
        last = e["ts"]
        if e["ph"] == "B":
            if track in open_:
                raise ValueError("two slices at once: %r" % e)
            open_[track] = e
        elif e["ph"] == "E":
            b = open_.pop(track)
            if b["name"] != e["name"]:
                raise ValueError("ends another one: %r" % e)
            if e.get("args", {}).get("end") != "capture":
                run_[track] += e["ts"] - b["ts"]
        elif e["ph"] == "s":
            arrows[e["id"]] = e
        elif e["ph"] == "f":
            # from who woke to who came, and nothing comes before its cause
            if arrows.pop(e["id"])["ts"] > e["ts"] or e["bp"] != "e":
                raise ValueError("an arrow into the past: %r" % e)
        elif e["ph"] == "b":
            lost[e["id"]] = e
        elif e["ph"] == "e":
            if lost[e["id"]].get("ended"):
                raise ValueError("ended twice: %r" % e)
            lost[e["id"]]["ended"] = True
        elif "args" not in e:
            # why there are no slices
            if e["s"] != "g" or instants or run_ or open_:
                raise ValueError("says too late: %r" % e)
        else:
            instants.append(e)
    if open_ or arrows or not all(x["ended"] for x in lost.values()):
        raise ValueError("slices without an end")
    return d, run_, instants, lost


def check_chrome(name, db, want):
    text = export("chrome", db)
    d, run_, instants, lost = read_chrome(text)
    timed = [w for w in want if w[1] is not None]
    # slices and arrows tell of some
    there = {i["args"]["event_id"] for i in instants}
    left = [w for w in timed if w[0] not in there]
    ok(len(left) == d["otherData"]["events_left_out"] and
       all(w[6].split(":")[0] in ("sched", "irq") for w in left),
       name + ": chrome leaves out what it counts")
    timed = [w for w in timed if w[0] in there]
    ok([(i["args"]["event_id"], i["ts"], i["args"].get("cpu"), i["cat"],
         i["args"]["weight"], i["args"].get("verdict")) for i in instants]
       == [(w[0], w[1], w[2], w[6], w[7], w[8]) for w in timed]
       and d["otherData"]["events_without_time"] ==
       len(want) - len(timed) - len(left),
       name + ": chrome has all samples")
    threads = collections.Counter()
    cpus = 0
    for (pid, tid), ns in run_.items():
        if pid & ((1 << 23) - 1) == (1 << 22) + 1:
            cpus += ns
        else:
            threads[tid & ((1 << 23) - 1)] += ns
    mine = running(db)
    ok(+threads == mine, name + ": chrome's running times add up",
       unlike(mine, threads, 0)[:5])
    per_cpu = one(db, "SELECT count(*) FROM event e JOIN event_type t ON "
                  "t.id = e.type WHERE e.cpu IS NULL AND t.name = 'switch'")
    ok(cpus == sum(threads.values()) or per_cpu > 0,
       name + ": a CPU runs what its threads run")
    rows = query(db, "SELECT id, n FROM loss WHERE t0 NOT NULL OR t1 NOT NULL")
    ok({int(i): x["args"]["records"] for i, x in lost.items()}
       == {i: "not known" if n is None else n for i, n in rows},
       name + ": chrome has all losses")
    check_stacks(name, d, instants)
    return text, threads


def check_stacks(name, d, instants):
    """sf and the text of args are the same stack."""
    frames = d["stackFrames"]
    depth = {}
    for i in sorted(frames, key=int):
        parent = frames[i].get("parent")
        depth[int(i)] = depth[parent] + 1 if parent else 1
    bad = [i for i in instants
           if depth.get(i.get("sf"), 0) != sum(
               len(i["args"][half].split(";")) for half in ("user", "kernel")
               if half in i["args"])]
    ok(not bad, name + ": stack frames are those of the text",
       [str(b) for b in bad[:2]])


def on_the_page(text):
    path = os.path.join(CACHE, "page.json")
    with open(path, "w") as f:
        f.write(text)
    return json.loads(output("node", ROOT + "/tests/cli/speedscope.js", NPM,
                             path))["profiles"]


def check_page(name, chrome, threads):
    if not threads:
        return
    if not NODE:
        print("skip %s: no node, or no speedscope (make deps)" % name)
        return
    seen = on_the_page(chrome)
    got = collections.Counter()
    for p in seen:
        if "CPUs" not in p["name"]:
            tid = int(re.search(r"tid (\d+)\)$", p["name"])[1])
            got[tid] += round(1000 * sum(
                w for s, w in p["stacks"].items() if s))
    off = {t for t in threads if abs(got[t] - threads[t]) > 1000}
    # it draws slices to the end of the capture as well, and rounds
    ok(not any(got[t] < threads[t] for t in off)
       and all(t in got for t in threads),
       name + ": speedscope's page runs the same threads")


def others():
    """Captures of the other tracers, and of two at once."""
    for name, path, more in (
            ("ftrace-v7", HERE + "/ftrace-v7.dat", ()),
            ("ftrace-buffers", HERE + "/ftrace-buffers.dat", ()),
            ("ftrace-missed", HERE + "/ftrace-missed.dat.zst", ()),
            ("ftext-overrun", HERE + "/ftext-overrun-pipe.txt", ()),
            ("pair", HERE + "/pair.data", (HERE + "/pair.dat.zst",)),
            ("machines", HERE + "/defer-exitexec-s.data.zst",
             ("--separate", HERE + "/ftrace-v7.dat")),
            ("ctf-discard", HERE + "/ctf-discard", ()),
            ("lttng", place("lttng/k-callstack"), ()),
            ("lttng-ku", place("lttng/ku-cookie"), ())):
        yield alone(name, path), more


def check(c, more=()):
    db = sound(c.name + ": a database",
               ingest(c, *(("--no-symbols",) + more if more else ())), (0, 3))
    if not db:
        return
    want = samples_of(db)
    lost = one(db, "SELECT coalesce(sum(n), 0) FROM loss WHERE counts")
    check_json(c.name, db, want, lost)
    chrome, threads = check_chrome(c.name, db, want)
    if c.name in PAGE:
        check_page(c.name, chrome, threads)


asked = sys.argv[1:]
for capture in captures(asked) if asked else share(captures(), 2):
    check(capture)
for capture, more_paths in others() if asked else share(others(), 2):
    if not asked or capture.name in asked:
        check(capture, more_paths)
finish()

# exportfirefox.py - profiles for the Firefox Profiler against folded stacks, SQL, and its own code.
"""Every profile is held against what the program's
docs-developer/CHANGELOG-formats.md and src/types/profile.ts say of version 60:
there is no schema to be had. Stacks and weights are those of folded stacks, and numbers
those that SQL counts. Where `make deps` could install profiler-cli, which is
the program without its page, that reads them too."""

import collections
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from common import HERE, OUT, differences, finish, ingest, ok, one, query, unlike
from exportread import alone, databases, export, folded, same_bytes, visible

CLI = os.path.join(OUT, "npm/node_modules/@firefox-devtools/profiler-cli/dist/"
                   "profiler-cli.js")
NODE = shutil.which("node") and os.path.exists(CLI)
COLORS = {"transparent", "purple", "green", "orange", "yellow", "lightblue",
          "blue", "brown", "magenta", "red", "lightred", "darkgrey", "grey"}
THREAD = {"processType", "processStartupTime", "processShutdownTime",
          "registerTime", "unregisterTime", "pausedRanges", "name",
          "isMainThread", "pid", "tid", "samples", "markers"}
META = {"interval", "startTime", "processType", "product", "stackwalk",
        "version", "preprocessedProfileVersion", "markerSchema", "categories"}
LIB = {"arch", "name", "path", "debugName", "debugPath", "breakpadId",
       "codeId"}
TABLES = {
    "stackTable": {"frame": "frameTable", "prefix": "stackTable?"},
    "frameTable": {"address": "address", "inlineDepth": int,
                   "category": "category", "subcategory": "subcategory",
                   "func": "funcTable", "nativeSymbol": "nativeSymbols?",
                   "innerWindowID": None, "line": "int?", "column": None},
    "funcTable": {"name": "string", "isJS": False, "relevantForJS": False,
                  "resource": "resourceTable-", "source": "sources?",
                  "lineNumber": None, "columnNumber": None},
    "resourceTable": {"lib": "lib", "name": "string", "host": None,
                      "type": 1},
    "nativeSymbols": {"libIndex": "lib", "address": "address",
                      "name": "string", "functionSize": "int?"},
    "sources": {"uuid": None, "filename": "string"},
}
NO_STACK = "[no stack]"


class Bad(Exception):
    pass


def need(good, *what):
    if not good:
        raise Bad(" ".join(str(w) for w in what))


def is_int(v, low=0, high=1 << 53):
    return type(v) is int and low <= v < high


def check_value(p, kind, v):
    """One value of a column of a shared table."""
    if kind is int:
        return is_int(v)
    if not isinstance(kind, str):
        return v is kind or v == kind
    if kind == "address":
        return is_int(v, -1, 1 << 31)
    if kind == "category":
        return is_int(v, 0, len(p["meta"]["categories"]))
    if kind == "subcategory":
        return is_int(v, 0, 6)
    if kind == "string":
        return is_int(v, 0, len(p["shared"]["stringArray"]))
    if kind == "lib":
        return is_int(v, 0, len(p["libs"]))
    if kind == "int?":
        return v is None or is_int(v, 1)
    if kind[-1] == "?" and v is None or kind[-1] == "-" and v == -1:
        return True
    return is_int(v, 0, p["shared"][kind.rstrip("?-")]["length"])


def check_tables(p):
    shared = p["shared"]
    need(set(shared) == set(TABLES) | {"stringArray"}, "tables", set(shared))
    need(len(set(shared["stringArray"])) == len(shared["stringArray"]),
         "a string is there twice")
    for name, columns in TABLES.items():
        t = shared[name]
        need(set(t) == set(columns) | {"length"}, name, "has", set(t))
        for column, kind in columns.items():
            need(len(t[column]) == t["length"], name, column, "length")
            for i, v in enumerate(t[column]):
                need(check_value(p, kind, v), name, column, i, v)
    t = shared["stackTable"]
    need(all(x is None or x < i for i, x in enumerate(t["prefix"])),
         "a stack is before its prefix")
    need(len(set(zip(t["frame"], t["prefix"]))) == t["length"],
         "a stack is there twice")
    f = shared["frameTable"]
    libs = [None if r == -1 else shared["resourceTable"]["lib"][r]
            for r in shared["funcTable"]["resource"]]
    for i in range(f["length"]):
        n = f["nativeSymbol"][i]
        need(n is None or (
            shared["nativeSymbols"]["libIndex"][n] == libs[f["func"][i]]
            and shared["nativeSymbols"]["address"][n] <= f["address"][i]),
             "frame", i, "is not in its symbol")


def check_inlined(p):
    """An inlined frame follows the one it is in, at the same address."""
    s, f = p["shared"]["stackTable"], p["shared"]["frameTable"]
    for i in range(s["length"]):
        a, up = s["frame"][i], s["prefix"][i]
        if f["inlineDepth"][a] == 0:
            continue
        need(up is not None, "stack", i, "begins inlined")
        b = s["frame"][up]
        need(f["inlineDepth"][b] == f["inlineDepth"][a] - 1
             and f["address"][a] == f["address"][b]
             and f["nativeSymbol"][a] == f["nativeSymbol"][b],
             "stack", i, "is inlined into something else")


def check_thread(p, t):
    need(THREAD <= set(t), "thread", t.get("name"), THREAD - set(t))
    need(type(t["pid"]) is str, "pid", t["pid"])
    s = t["samples"]
    for column in ("stack", "time", "weight", "threadCPUDelta"):
        if column == "threadCPUDelta" and column not in s:
            continue
        need(s[column] is None and column == "weight"
             or len(s[column]) == s["length"], t["name"], column)
    need(s["weightType"] in ("samples", "tracing-ms"), s["weightType"])
    need(all(v is None or is_int(v, 0, p["shared"]["stackTable"]["length"])
             for v in s["stack"]), t["name"], "stacks")
    need(s["time"] == sorted(s["time"]) and (
        not s["time"] or s["time"][0] >= 0), t["name"], "times")
    m = t["markers"]
    schema = {x["name"] for x in p["meta"]["markerSchema"]}
    for column in ("data", "name", "startTime", "endTime", "phase",
                   "category"):
        need(len(m[column]) == m["length"], t["name"], "markers", column)
    for i in range(m["length"]):
        need(m["data"][i]["type"] in schema, m["data"][i])
        need(check_value(p, "string", m["name"][i])
             and check_value(p, "category", m["category"][i]), "marker", i)
        a, b = m["startTime"][i], m["endTime"][i]
        need(m["phase"][i] == 0 and b is None or m["phase"][i] == 1
             and 0 <= a <= b, t["name"], "marker", i, a, b)


def check_sound(p):
    need(set(p) == {"meta", "libs", "shared", "threads"}, set(p))
    meta = p["meta"]
    need(META <= set(meta), META - set(meta))
    need(meta["preprocessedProfileVersion"] == 60, "version")
    need(meta["interval"] > 0, "interval")
    need(any(c["color"] == "grey" for c in meta["categories"]), "no grey")
    for c in meta["categories"]:
        need(c["color"] in COLORS and c["subcategories"][0] == "Other"
             and len(c["subcategories"]) == 6, c)
    for x in p["libs"]:
        need(set(x) == LIB, x)
        need(len(x["breakpadId"]) in (0, 33), x)
    need(p["threads"], "no threads")
    check_tables(p)
    check_inlined(p)
    for t in p["threads"]:
        check_thread(p, t)
    tids = [(t["pid"], t["tid"]) for t in p["threads"]]
    need(len(set(tids)) == len(tids), "two threads are one")
    need(all(0 <= i < len(tids) for i in meta["initialSelectedThreads"]),
         "selected")


# ---- sums

def frames(p):
    """The names of each stack, the outermost first, and its functions."""
    shared = p["shared"]
    s = shared["stackTable"]
    func = [shared["frameTable"]["func"][f] for f in s["frame"]]
    name = [shared["stringArray"][i] for i in shared["funcTable"]["name"]]
    names, funcs = [], []
    for i in range(s["length"]):
        up = s["prefix"][i]
        names.append((names[up] if up is not None else ()) + (name[func[i]],))
        funcs.append((funcs[up] if up is not None else ()) + (func[i],))
    return names, funcs


def weights(s):
    """In ns, or as they are."""
    if s["weight"] is None:
        return [1] * s["length"]
    return [round(w * 1e6) if s["weightType"] == "tracing-ms" else w
            for w in s["weight"]]


def check_sums(name, p, want, what):
    names, _ = frames(p)
    got = collections.Counter()
    for t in p["threads"]:
        for stack, w in zip(t["samples"]["stack"], weights(t["samples"])):
            f = () if names[stack] == (NO_STACK,) else names[stack]
            got[tuple(visible(x) for x in f)] += w
    sums = collections.Counter()
    for (_, f), n in want.items():
        sums[f] += n
    ok(got == sums, "%s: %s are those of folded" % (name, what),
       differences(got, sums))


def known(number):
    return -1 if number is None else number


def check_threads(name, db, p, event):
    """Each life of a thread: how many samples, their weight, first, last."""
    zero = one(db, "SELECT min(first_ns) FROM capture") or 0
    want = collections.Counter(
        (known(pid), known(tid), n, weight,
         *((0, 0) if a is None else (a - zero, b - zero)))
        for pid, tid, n, weight, a, b in query(
            db, "SELECT p.pid, t.tid, count(*), sum(e.weight), "
            "min(e.time_ns), max(e.time_ns) FROM event e "
            "JOIN event_type y ON y.id = e.type AND y.kind = 'sample' "
            "AND y.name = ? LEFT JOIN comm c ON c.id = e.comm "
            "LEFT JOIN thread t ON t.id = c.thread "
            "LEFT JOIN process p ON p.id = t.process GROUP BY t.id", event))
    got = collections.Counter()
    for t in p["threads"]:
        s = t["samples"]
        if s["length"]:
            got[int(t["pid"].split(".")[0]),
                int(str(t["tid"]).split(".")[0]), s["length"],
                sum(weights(s)), round(s["time"][0] * 1e6),
                round(s["time"][-1] * 1e6)] += 1
    ok(got == want, name + ": threads are the lives that SQL has",
       differences(got, want))


def check_losses(name, db, p):
    want = collections.Counter(query(db, "SELECT what, n, cpu FROM loss"))
    strings = p["shared"]["stringArray"]
    got = collections.Counter()
    for t in p["threads"]:
        for i, d in zip(t["markers"]["name"], t["markers"]["data"]):
            if d["type"] == "Loss":
                got[strings[i], d.get("records"), d.get("cpu")] += 1
    ok(got == want, name + ": losses are markers", differences(got, want))


def check_switches(name, db, p):
    """An interval for each time that a thread left a CPU and came back, of
    the lives that records tell of."""
    if not one(db, "SELECT count(*) FROM event_type WHERE kind = 'record' "
               "AND name = 'switch'"):
        return
    outs = query(db, "SELECT count(*) FROM event e JOIN sample_extra x "
                 "ON x.event = e.id AND x.name = 'out' AND x.value = 1 "
                 "LEFT JOIN comm c ON c.id = e.comm "
                 "LEFT JOIN thread t ON t.id = c.thread WHERE t.tid > 0")[0][0]
    got = sum(1 for t in p["threads"] for d in t["markers"]["data"]
              if d["type"] == "OffCpu")
    ok(got == outs, "%s: %d intervals off a CPU of %d" % (name, got, outs))


def check_events(name, db, p):
    """A marker for each event with a time that is neither what the samples
    are of, nor told by times off the CPU, nor a record of a call."""
    if one(db, "SELECT count(*) FROM event_type WHERE name GLOB '*funcgraph*' "
           "OR name GLOB '*function*'") or "several" in p["meta"]["arguments"]:
        return
    rows = query(db, "SELECT t.name, count(*) FROM event e JOIN event_type t "
                 "ON t.id = e.type WHERE t.kind = 'sample' AND e.time_ns IS "
                 "NOT NULL GROUP BY 1")
    message = ("print", "bprint", "tracing_mark_write")
    want = {n: k for n, k in rows
            if n not in (p["meta"]["arguments"], "sched:sched_switch")}
    want["[message]"] = sum(want.pop(n) for n in list(want)
                            if n.split(":")[-1] in message)
    want = {n: k for n, k in want.items() if k}
    strings = p["shared"]["stringArray"]
    got = collections.Counter()
    sizes = 0
    for t in p["threads"]:
        for i, d in zip(t["markers"]["name"], t["markers"]["data"]):
            if d["type"] == "Event":
                got[strings[i] if strings[i] in want else "[message]"] += 1
                size = re.search(r"\bbytes_req=(\d+)", d["what"])
                sizes += int(size.group(1)) if size else 0
                need("cause" not in d or 0 <= d["cause"]["stack"] <
                     p["shared"]["stackTable"]["length"], name, d)
    ok(dict(got) == want, name + ": events are markers",
       differences(got, collections.Counter(want)))
    if "kmem:kmalloc" in want:
        ok(sizes == one(db, "SELECT sum(bytes_req) FROM ev_kmem_kmalloc"),
           name + ": markers have the fields of events")


# ---- the program itself

class Session:
    """The program's own daemon, as our child: what its `load` starts may
    outlive us, and has to be ready in half a second."""

    def __init__(self, path):
        # sockets are in it: their names must be short
        self.dir = tempfile.mkdtemp(prefix="pq", dir="/tmp")
        self.env = dict(os.environ, PROFILER_CLI_SESSION_DIR=self.dir)
        self.daemon = subprocess.Popen(
            ["node", CLI, "--daemon", path, "--session", "t"], env=self.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def wait(self):
        """A client that comes too early takes the daemon for a dead one, and
        removes its socket: its log says when."""
        log = os.path.join(self.dir, "t.log")
        for _ in range(600):
            if self.daemon.poll() is not None:
                raise Bad("the program refused the profile")
            text = ""
            if os.path.exists(log):
                with open(log, errors="replace") as f:
                    text = f.read()
            if "loaded successfully" in text:
                return
            if "rror" in text:
                raise Bad(text[-500:])
            time.sleep(0.1)
        raise Bad("the program is not ready after a minute")

    def ask(self, *args):
        r = subprocess.run(
            ["node", CLI, *args, "--session", "t", "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env,
            timeout=120)
        if r.returncode:
            raise Bad(r.stderr.decode(errors="replace")[-500:])
        return json.loads(r.stdout)

    def close(self):
        self.daemon.terminate()
        self.daemon.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def functions(p, t):
    """{(name, library): (self, total)} of a thread, in ns or as it is; the
    program says no library that is called as the function."""
    _, funcs = frames(p)
    shared = p["shared"]
    label = []
    for n, r in zip(shared["funcTable"]["name"],
                    shared["funcTable"]["resource"]):
        lib = None if r == -1 else p["libs"][
            shared["resourceTable"]["lib"][r]]["name"]
        name = shared["stringArray"][n]
        label.append((name, None if lib == name else lib))
    own, total = collections.Counter(), collections.Counter()
    for stack, w in zip(t["samples"]["stack"], weights(t["samples"])):
        own[funcs[stack][-1]] += w
        for f in set(funcs[stack]):
            total[f] += w
    out = collections.defaultdict(lambda: [0, 0])
    for f, n in total.items():
        out[label[f]][0] += own[f]
        out[label[f]][1] += n
    return {k: tuple(v) for k, v in out.items()}


def check_program(name, path, p):
    s = Session(path)
    try:
        s.wait()
        threads = {t["threadIndex"]: t
                   for t in s.ask("thread", "list", "--limit", "0")["threads"]}
        bad = [] if len(threads) == len(p["threads"]) else ["threads missing"]
        heavy = sorted(range(len(p["threads"])), key=lambda i: -sum(
            weights(p["threads"][i]["samples"])))[:4]
        for i in heavy:
            t = p["threads"][i]
            scale = 1e6 if t["samples"]["weightType"] == "tracing-ms" else 1
            if scale != 1 and t["samples"]["weight"] is None:
                scale = 1
            rows = s.ask("thread", "functions", "--include-idle", "--limit",
                         "0", "--thread", threads[i]["threadHandle"])
            got = collections.defaultdict(lambda: [0, 0])
            for f in rows["functions"]:
                x = got[f["name"], f.get("library")]
                x[0] += round(f["selfSamples"] * scale)
                x[1] += round(f["totalSamples"] * scale)
            got = {k: tuple(v) for k, v in got.items()}
            want = functions(p, t)
            bad += [t["name"] + ": " + line for line in unlike(want, got)]
        bad += ["%s: markers" % t["name"] for i, t in enumerate(p["threads"])
                if threads[i]["markerCount"] != t["markers"]["length"]]
        ok(not bad, name + ": the program itself adds up the same", bad[:5])
    except (Bad, subprocess.TimeoutExpired, KeyError) as e:
        ok(False, name + ": the program itself reads it", [repr(e)])
    finally:
        s.close()


# ---- all of it

def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def check_one(name, db, program):
    path = export("firefox", db)
    with open(path, "rb") as f:
        once = f.read()
    p = json.loads(once)
    try:
        check_sound(p)
        ok(True, name + ": the profile is as documented")
    except Bad as e:
        ok(False, name + ": the profile is as documented", [str(e)])
        return
    check_sums(name, p, folded(db), "stacks and weights")
    check_threads(name, db, p, p["meta"]["arguments"])
    check_losses(name, db, p)
    check_switches(name, db, p)
    check_events(name, db, p)
    if program:
        check_program(name, path, p)
    q = read(export("firefox", db, "--no-inline", "--by", "samples"))
    check_sums(name, q, folded(db, "--no-inline", "--by", "samples"),
               "samples without inlined functions")
    for how in ("mark", "collapse"):
        q = read(export("firefox", db, "--interpreter", how))
        check_sums(name, q, folded(db, "--interpreter", how),
                   "stacks with --interpreter " + how)
    same_bytes(name, "firefox", db, once)


def events_only(capture, named):
    """A capture of tracepoints: of one its samples, of the rest markers."""
    c = alone(capture.split(".")[0], capture)
    db = ingest(c._replace(path=os.path.join(HERE, capture)), "--fields", "all")[0]
    p = read(export("firefox", db))
    check_sound(p)
    check_events(capture, db, p)
    strings = p["shared"]["stringArray"]
    ok(any(strings[i].startswith(named) for t in p["threads"]
           for i in t["markers"]["name"]), capture + " has markers " + named)


def main():
    events_only("events.data.zst", "kmem:kmalloc")
    events_only("ftext-marker-kstack.txt", "ustack nonce=")
    if not NODE:
        print("skip profiler-cli: no node, or not installed by make deps")
    for name, db in databases(
            ("z-defer", "defer-lost-clock", "task-exitexec", "group",
             "dlchurn", "s390x-z", "fp-1", "two-e"),
            ("jit-reused.data.zst", "ftrace-ustack-both.dat", "ftrace-v7.dat",
             "ftext-overrun-pipe.txt"), ("z-defer.data",)):
        check_one(name, db, NODE and (name in ("defer-lost-clock", "group")
                                      or name.endswith(" named")))
    finish()


if __name__ == "__main__":
    main()

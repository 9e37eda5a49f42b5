# common.py - the captures with perf's own output beside them, and how to read both.
"""The captures of the project are in tests/captures; unpack.py gives them the
layout of $BACKSTITCH_SHARED/captures, which only adds more of the same kinds
where it exists. find() and place() look through both, so a script needs no
list of its own for either, and a capture that is in both is compared once."""

import collections
import fcntl
import glob
import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys

import unpack

ROOT = os.environ.get("ROOT", os.getcwd())
OUT = os.path.join(ROOT, os.environ.get("O", "build"))
BACKSTITCH = os.environ.get("BACKSTITCH", os.path.join(OUT, "backstitch"))
SHARED = os.environ.get("BACKSTITCH_SHARED", "")
if not os.path.isdir(os.path.join(SHARED, "captures")):
    SHARED = ""
CACHE = os.path.join(OUT, "compare")
# The captures of the project, then those of the shared folder.
FOLDERS = [unpack.unpack()]
if SHARED:
    FOLDERS.append(os.path.join(SHARED, "captures"))
PACKINGS = ("", ".gz", ".zst")

Capture = collections.namedtuple(
    "Capture", "name path script fields analysis stats shipped symfs")
Block = collections.namedtuple("Block", "comm pid tid cpu time event addrs")

failures = 0


def ok(good, name, detail=()):
    """One line for tests/run.sh; the details first, as they explain it."""
    global failures
    if not good:
        failures += 1
        for line in detail:
            print("   ", line)
    print("ok" if good else "not ok", name)


def finish():
    sys.exit(1 if failures else 0)


def first(*paths):
    for path in paths:
        if path and os.path.exists(path):
            return path
    return None


def bare(path):
    """The path without the ending of what it is packed with."""
    return re.sub(r"\.(gz|zst)$", "", path)


def find(*patterns):
    """(place, path) of what fits a pattern, each once. A place is the path in
    the layout, unpacked; patterns are of places."""
    seen = set()
    for folder in FOLDERS:
        for pattern in patterns:
            found = [p for packing in PACKINGS
                     for p in glob.glob(os.path.join(folder, pattern + packing))]
            for path in sorted(found):
                name = bare(os.path.relpath(path, folder))
                if name not in seen:
                    seen.add(name)
                    yield name, path


def place(name):
    """The path of one capture or text; None where it is not at hand."""
    return first(*[os.path.join(folder, name + packing)
                   for folder in FOLDERS for packing in PACKINGS])


def symfs(name):
    """A folder of programs. The shared one has the C library as well."""
    return first(*[os.path.join(f, name) for f in reversed(FOLDERS)])


def symfs_of(name, folder):
    """The programs, where stacks depend on their tables: which caller is in
    the link register, and dumps."""
    return first(folder) if name.startswith(("arm64-", "hits-mixed")) else None


def shared_symfs(name, base):
    if name.startswith("s390x-"):
        return first(base + "/s390x/symfs") if "dwarf" in name else None
    if "dwarf" in name and not name.startswith("arm64-"):
        return first(base + "/symfs-6.18")
    return symfs_of(name, base + "/arm64/symfs")


def shipped():
    """tests/captures/NAME.data[.gz|.zst] and its references."""
    base = os.path.join(ROOT, "tests/captures")
    for path in sorted(glob.glob(base + "/*.data*")):
        stem = path[:path.index(".data")]
        if not os.path.exists(stem + ".script-ip.txt.gz"):
            continue
        name = os.path.basename(stem)
        programs = "symfs" if name.startswith("hits-") else "symfs-arm64"
        yield Capture(name, path, stem + ".script-ip.txt.gz",
                      first(stem + ".script-ip.fields"),
                      first(stem + ".analysis.json"),
                      first(stem + ".stats-v72.txt"), True,
                      symfs_of(name, os.path.join(base, programs)))


def shared():
    base = os.path.join(SHARED, "captures")
    for path in sorted(glob.glob(base + "/perf-deferred/*.data")):
        stem = path[:-len(".data")]
        yield Capture(os.path.basename(stem), path,
                      stem + ".script-ip.txt.gz",
                      first(stem + ".script-ip.fields"),
                      first(stem + ".analysis.json"), None, False, None)
    for prefix, folder in (("", "perf"), ("arm64-", "arm64/perf"),
                           ("s390x-", "s390x/perf")):
        for d in sorted(glob.glob("%s/%s/*/" % (base, folder))):
            d = d.rstrip("/")
            path = first(d + "/perf.data", d + "/data" and d)
            if not os.path.exists(d + "/script-ip.txt.gz"):
                continue
            name = prefix + os.path.basename(d).replace(".data", "")
            yield Capture(name, path, d + "/script-ip.txt.gz",
                          first(d + "/script-ip.fields", d + "/fields.txt",
                                d + "/cmd.txt"),
                          None, first(d + "/stats-v72.txt"), False,
                          shared_symfs(name, base))


def captures(only=()):
    """All there are, each name once: the shared folder's copy of a shipped
    capture is the same capture; NAME-symfs has all the programs it needs."""
    seen = set()
    everything = list(shipped()) + (list(shared()) if SHARED else [])
    for c in everything:
        if c.name in seen and c.symfs:
            c = c._replace(name=c.name + "-symfs")
        if c.name not in seen and (not only or c.name in only):
            seen.add(c.name)
            yield c


def fields_of(c):
    """What perf was asked to print; not every capture has every field."""
    if c.fields:
        text = open(c.fields).read()
        m = re.findall(r"(?:fields:|-F)?\s*(comm,[a-z,]+)", text)
        if m:
            return m[-1]
    return "comm,pid,tid,cpu,time,event,ip"


def run(*args, stdin=None):
    return subprocess.run([BACKSTITCH, *args], stdin=stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ingest(c, *options):
    """The database of a capture, made when it is older than the program.
    Gives (path, exit status, stderr)."""
    os.makedirs(CACHE, exist_ok=True)
    tag = "-named" if options else ""
    if "--no-symbols" in options:
        tag = ".symfs"  # no capture is named so
    if "--no-infer-callers" in options:
        tag += ".asis"
    db = os.path.join(CACHE, c.name + tag + ".db")
    # scripts that run side by side want the same databases
    with open(db + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return ingest_locked(c, db, options)


def ingest_locked(c, db, options):
    state = db + ".state"
    newest = max(os.path.getmtime(BACKSTITCH), os.path.getmtime(c.path))
    if (os.path.exists(db) and os.path.exists(state)
            and os.path.getmtime(db) > newest):
        with open(state) as f:
            saved = json.load(f)
        return db, saved[0], saved[1]
    r = run("ingest", "-f", "-o", db, *(options or ("--no-symbols",)),
            c.path)
    err = r.stderr.decode(errors="replace")
    with open(state, "w") as f:
        json.dump([r.returncode, err], f)
    return db, r.returncode, err


def query(db, sql, *args, **functions):
    """functions: by name, of two arguments."""
    con = sqlite3.connect("file:%s?mode=ro" % db, uri=True)
    try:
        for name, function in functions.items():
            con.create_function(name, 2, function)
        return con.execute(sql, args).fetchall()
    finally:
        con.close()


def one(db, sql, *args):
    return query(db, sql, *args)[0][0]


HEAD = re.compile(
    r"^(?P<comm>.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)"
    r"(?:\s+\[(?P<cpu>-?\d+)\])?"
    r"(?:\s+(?P<time>\d+\.\d+):)?"
    r"\s+(?P<event>\S+?):\s*(?P<ip>[0-9a-f]+)?\s*$")


def blocks(text):
    """perf script's text as Blocks. A sample without callchain has its
    address on the first line."""
    out = []
    head, addrs = None, []

    def put():
        if head:
            m = head
            out.append(Block(m["comm"].strip(), m["pid"], m["tid"], m["cpu"],
                             m["time"], m["event"], tuple(addrs)))

    for line in text.split("\n"):
        if not line.strip():
            continue
        if line[0] == "\t" or re.match(r"^\s+[0-9a-f]+\s*$", line):
            addrs.append(int(line.split()[0], 16))
            continue
        put()
        head = HEAD.match(line)
        if not head:
            raise ValueError("not a line of perf script: %r" % line)
        addrs = [int(head["ip"], 16)] if head["ip"] else []
    put()
    return out


def read_gz(path):
    """The text of a file that may be packed by gzip."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", errors="surrogateescape") as f:
        return f.read()


def micros(time):
    sec, frac = time.split(".")
    return int(sec) * 1000000 + int(frac[:6].ljust(6, "0"))


def addresses(blob):
    """raw_chain.addrs, as schema/sql/tables.sql describes it."""
    out, at, last = [], 0, 0
    while blob and at < len(blob):
        value, shift = 0, 0
        while True:
            byte = blob[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        last = (last + ((value >> 1) ^ -(value & 1))) % (1 << 64)
        out.append(last)
    return out


def expectations(name="expect.txt"):
    """A table of expectations: name class count."""
    table = collections.defaultdict(dict)
    with open(os.path.join(ROOT, "tests/compare", name)) as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                name, kind, n = words
                table[name][kind] = int(n)
    return table

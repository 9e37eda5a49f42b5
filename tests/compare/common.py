# common.py - the captures with perf's own output beside them, and how to read both.
"""The captures of the project are in tests/captures; unpack.py gives them the
layout of $BACKSTITCH_SHARED/captures, which only adds more of the same kinds
where it exists. find() and place() look through both, so a script needs no
list of its own for either, and a capture that is in both is compared once."""

import collections
import fcntl
import gc
import glob
import gzip
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys

import unpack

ROOT = os.environ.get("ROOT", os.getcwd())
OUT = os.path.join(ROOT, os.environ.get("O", "build"))
BACKSTITCH = os.environ.get("BACKSTITCH", os.path.join(OUT, "backstitch"))
SHARED = os.environ.get("BACKSTITCH_SHARED", "")
if not os.path.isdir(os.path.join(SHARED, "captures")):
    SHARED = ""
MKCAP = os.environ.get("MKCAP", os.path.join(OUT, "mkcap"))
HERE = os.path.join(ROOT, "tests/captures")
CACHE = os.path.join(OUT, "compare")
os.makedirs(CACHE, exist_ok=True)
# The captures of the project, then those of the shared folder.
FOLDERS = [unpack.unpack()]
if SHARED:
    FOLDERS.append(os.path.join(SHARED, "captures"))
PACKINGS = ("", ".gz", ".zst")

Capture = collections.namedtuple(
    "Capture", "name path script fields analysis stats shipped symfs")
Block = collections.namedtuple("Block", "comm pid tid cpu time event addrs")

gc.disable()

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


def asked():
    """(is --print among the arguments, the others)"""
    args = sys.argv[1:]
    return "--print" in args, [a for a in args if a != "--print"]


def print_classes(name, count):
    """The lines of a table of expectations that would be true of a capture."""
    for kind, n in sorted(count.items()):
        print("%-20s %-20s %d" % (name, kind, n))


def known_classes(name, count, want):
    ok(dict(count) == dict(want), name + ": differences are the known ones",
       ["found %s" % dict(count), "expected %s" % dict(want)])


def unlike(want, have, none=None):
    """Lines about the keys of two dicts whose values are not the same."""
    return ["%s: %s, not %s" % (k, have.get(k, none), want.get(k, none))
            for k in sorted(set(want) | set(have), key=str)
            if want.get(k, none) != have.get(k, none)]


def differences(have, want, n=3):
    """The first of what only one of two Counters has."""
    if dict.__eq__(have, want):  # at once, as that of Counter is not
        return []
    return ["%s: %r" % (word, item)
            for word, more in (("too many", have - want),
                               ("missing", want - have))
            for item in list(more.items())[:n]]


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


def alone(name, path):
    """A capture without references."""
    return Capture(name, path, None, None, None, None, True, None)


def shipped():
    """tests/captures/NAME.data[.gz|.zst] and its references."""
    for path in sorted(glob.glob(HERE + "/*.data*")):
        stem = path[:path.index(".data")]
        if not os.path.exists(stem + ".script-ip.txt.gz"):
            continue
        name = os.path.basename(stem)
        programs = "symfs" if name.startswith("hits-") else "symfs-arm64"
        yield Capture(name, path, stem + ".script-ip.txt.gz",
                      first(stem + ".script-ip.fields"),
                      first(stem + ".analysis.json"),
                      first(stem + ".stats-v72.txt"), True,
                      symfs_of(name, os.path.join(HERE, programs)))


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


def turn(i, of):
    """Is it the turn of the i-th, of so many one? The next one for the next commit (run.sh
    says which); all with LONG, and where what is expected is printed."""
    return (bool(os.environ.get("LONG")) or "--print" in sys.argv
            or i % of == int(os.environ.get("SHARE_OF", "0")) % of)


def share(all_there, of):
    """Those whose turn it is."""
    return [x for i, x in enumerate(all_there) if turn(i, of)]


def fields_of(c):
    """What perf was asked to print; not every capture has every field."""
    if c.fields:
        text = open(c.fields).read()
        m = re.findall(r"(?:fields:|-F)?\s*(comm,[a-z,]+)", text)
        if m:
            return m[-1]
    return "comm,pid,tid,cpu,time,event,ip"


def run(*args, stdin=None):
    """Runs ours. Without symbols, files are looked for in an empty folder: one of
    this system may be the one that was recorded, whose code then tells more of a
    chain than its addresses do (glibc of Debian sid)."""
    if "--no-symbols" in args and "--symfs" not in args:
        nothing = os.path.join(CACHE, "nothing")
        os.makedirs(nothing, exist_ok=True)
        args = (*args[:1], "--symfs", nothing, *args[1:])
    return subprocess.run([BACKSTITCH, *args], stdin=stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def output(*command, allowed=(0,), errors="surrogateescape", **more):
    """What any program prints; an error when it fails."""
    r = subprocess.run(command, capture_output=True, text=True, errors=errors,
                       **more)
    if r.returncode not in allowed:
        raise ValueError("%s: status %d: %s" % (
            " ".join(command), r.returncode, r.stderr[-2000:]))
    return r.stdout


def must(*args, allowed=(0,)):
    """What ours prints, which must be UTF-8; an error when it fails."""
    return output(BACKSTITCH, *args, allowed=allowed, errors="strict")


def answer(*args):
    return json.loads(must(*args, "--json"))


def into(db, *args):
    """Reads captures, with options, into a new database. Gives (path, exit
    status, stderr)."""
    r = run("ingest", "-q", "-f", "-o", db, *args)
    return db, r.returncode, r.stderr.decode(errors="replace")


def sound(title, got, allowed=(0,)):
    """The path of what into() or ingest() gave; None, and a failed test of this
    title, when the status is another."""
    db, status, said = got
    if status in allowed and os.path.exists(db):
        return db
    ok(False, title, ["status %d" % status] + said.split("\n")[-5:])
    return None


def database(c):
    """That of a capture without options."""
    return sound("%s is read" % c.name, ingest(c))


def mkcap(lines, path):
    """Writes the perf.data file that such lines describe."""
    with open(path + ".txt", "w") as f:
        f.write("\n".join(lines) + "\n")
    subprocess.run([MKCAP, path + ".txt", path], check=True)
    return path


def ingest(c, *options):
    """The database of a capture, made when it is older than the program.
    Gives (path, exit status, stderr)."""
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
    """Names may be any bytes. functions: by name, of two arguments."""
    con = sqlite3.connect("file:%s?mode=ro" % db, uri=True)
    try:
        for name, function in functions.items():
            con.create_function(name, 2, function)
        try:
            return con.execute(sql, args).fetchall()
        except sqlite3.OperationalError:
            # perhaps a text that is not UTF-8; one by one they take longer
            con.text_factory = lambda b: b.decode(errors="surrogateescape")
            return con.execute(sql, args).fetchall()
    finally:
        con.close()


def one(db, sql, *args):
    return query(db, sql, *args)[0][0]


def fields(db):
    """{event: {column: value}} of all ev_ tables."""
    out = {}
    for table, in query(db, "SELECT DISTINCT fields FROM event_type"
                            " WHERE fields IS NOT NULL"):
        names = [n for n, in query(
            db, "SELECT name FROM pragma_table_info(?)", table)]
        for row in query(db, 'SELECT * FROM "%s"' % table.replace('"', '""')):
            out[row[0]] = dict(zip(names[1:], row[1:]))
    return out


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


class Packed(Exception):
    """A capture that this machine has no means for."""


def unzstd(data):
    """Of a stream that may end in the middle."""
    if not shutil.which("zstd"):
        raise Packed("needs zstd")
    return subprocess.run(["zstd", "-dqc"], input=data,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def read_bytes(path):
    """Those of a file that may be packed."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        data = f.read()
    return unzstd(data) if path.endswith(".zst") else data


def plain(path, folder):
    """The file itself, or its unpacked copy in the folder."""
    if path == bare(path):
        return path
    out = os.path.join(folder, os.path.basename(bare(path)))
    with open(out, "wb") as f:
        f.write(read_bytes(path))
    return out


def read_gz(path):
    """The text of a file that may be packed by gzip."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", errors="surrogateescape") as f:
        return f.read()


def micros(time):
    sec, frac = time.split(".")
    return int(sec) * 1000000 + int(frac[:6].ljust(6, "0"))


def records(data):
    """(offset, size, type, misc) of the records of a perf.data file, not a
    pipe, of a little-endian machine."""
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at + 8 <= end:
        kind, misc, n = struct.unpack_from("<IHH", data, at)
        if n < 8:
            return
        yield at, n, kind, misc
        at += n


def segments(data):
    """(flags, offset, address, size in the file) of what an ELF file loads."""
    e = ">" if data[5] == 2 else "<"
    wide = data[4] == 2
    at, = struct.unpack_from(e + ("Q" if wide else "I"), data,
                             32 if wide else 28)
    size, n = struct.unpack_from(e + "HH", data, 54 if wide else 42)
    for i in range(at, at + n * size, size):
        if wide:
            kind, flags, off, vaddr, _, filesz = struct.unpack_from(
                e + "IIQQQQ", data, i)
        else:
            kind, off, vaddr, _, filesz, _, flags = struct.unpack_from(
                e + "7I", data, i)
        if kind == 1:
            yield flags, off, vaddr, filesz


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


def chains(db):
    """{id: addresses}"""
    return {i: addresses(blob) for i, blob in
            query(db, "SELECT id, addrs FROM raw_chain")}


def table(name, columns):
    """The rows of a table of expectations; the last column may have blanks."""
    with open(os.path.join(ROOT, "tests/compare", name)) as f:
        for line in f:
            words = line.split("#")[0].strip().split(None, columns - 1)
            if words:
                yield words


def expectations(file="expect.txt"):
    """A table of expectations: name class count."""
    out = collections.defaultdict(dict)
    for name, kind, n in table(file, 3):
        out[name][kind] = int(n)
    return out

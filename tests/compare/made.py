# made.py - what a database holds does not depend on the way in which it was made.
"""Each capture becomes a database in several ways, where the programs that ran are
at hand, some of them, none, or others at their paths: read and named at once;
the same with the cache of names that the first time left; read, then named;
named twice; merged alone. All tables must have the same rows, and what is said
of a database must be the same words. Without LONG one of thirty pairs of a capture and
a folder of programs is made, another one of each commit, and with all programs those
of which a table is about locks or an image has a debug file but no file of code
(v72-zstd)."""

import ctypes
import filecmp
import os
import shutil
import subprocess
import tempfile

import common

WAYS = ("from the cache", "read, then named", "named twice", "merged alone")
SAYS = (["report"], ["report", "--sort", "dso"], ["info"], ["check"], ["flame"])
# Named as backstitch-symbolize(1) says: the kernel of a trace.dat is named from the
# copy of kallsyms in it, while it is read.
TRACE_DAT = ("frame", "image", "internal_label", "symbol", "report", "info", "flame", "report --sort dso")
# So are the frames in which stacks of the kernel begin: word.id of kind start.
KERNEL_STARTS = (12, 13)
# Which of a merge's rows its parts do not have: what its ids are compared by, and
# where the kernel begins, which one capture alone says elsewhere.
OF_A_MERGE = ("content", "kernel_start")


def others(work):
    """The folders of programs: for each a name, and what names it."""
    whole = common.symfs("symfs") or os.path.join(common.HERE, "symfs")
    some, wrong, none = (os.path.join(work, d) for d in ("some", "wrong", "none"))
    os.mkdir(none)
    n = 0
    for folder, _, files in sorted(os.walk(whole)):
        for name in sorted(files):
            path = os.path.join(folder, name)
            place = os.path.relpath(path, whole)
            n += 1
            for to, source in ((some, path if n % 2 else None), (wrong, "/bin/true")):
                if source:
                    os.makedirs(os.path.dirname(os.path.join(to, place)), exist_ok=True)
                    shutil.copyfile(source, os.path.join(to, place))
    return (("all programs", whole), ("some programs", some), ("other programs", wrong), ("no programs", none))


# A machine of the same name with the same kernel as that of a capture would give
# names that it did not have when it was recorded.
LIBC = ctypes.CDLL(None)
if not LIBC.unshare(0x04000000):  # CLONE_NEWUTS, which root may
    LIBC.sethostname(b"elsewhere", 9)


def run(home, *args):
    p = subprocess.run([common.BACKSTITCH, *args], capture_output=True, check=False,
                       stdin=subprocess.DEVNULL, env=dict(os.environ, HOME=home))
    return p.returncode, p.stdout, p.stderr


def holds(db):
    """The rows of each table, without their order where they have no id."""
    con = common.sqlite3.connect("file:%s?mode=ro" % db, uri=True)
    con.text_factory = bytes
    got = {}
    for (name,) in con.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
        name = name.decode()
        rows = con.execute('SELECT * FROM "%s"' % name).fetchall()
        if name == "meta":
            rows = [r for r in rows if r[1].decode() not in OF_A_MERGE]
        got[name] = sorted(rows, key=repr)
    con.close()
    return got


def says(home, db):
    return {" ".join(a): tuple(x.replace(db.encode(), b"DB") if isinstance(x, bytes) else x
                               for x in run(home, *a, db)) for a in SAYS}


def place(work, n):
    """Paths of one length, as some lines are folded."""
    os.mkdir(os.path.join(work, "%d" % n))
    return os.path.join(work, "%d" % n, "x.db")


def make(way, work, home, symfs, capture, first):
    """Makes the database that a way gives; returns its path, or None and why."""
    db = place(work, 1 + WAYS.index(way))
    named = ["--symfs", symfs]
    if way == "from the cache":
        steps = (["ingest", "-qf", *named, "-o", db, capture],)
    elif way == "read, then named":
        steps = (["ingest", "-qf", "--no-symbols", *named, "-o", db, capture],
                 ["symbolize", *named, db])
    elif way == "named twice":
        shutil.copyfile(first, db)
        steps = (["symbolize", *named, db],)
    else:
        steps = (["merge", "-qf", "-o", db, first],)
    for step in steps:
        rc, _, err = run(home, *step)
        if rc and not os.path.exists(db):
            return None, "%s: status %d: %s" % (" ".join(step), rc, err.decode())
    return db, None


def differences(capture, way, base, other):
    for name in sorted(set(base) | set(other)):
        if base.get(name) == other.get(name):
            continue
        if way == "read, then named" and capture.endswith(".dat"):
            if name in TRACE_DAT:
                continue
            if name == "internal_end" and [r for r in base.get(name, ()) if r[1] not in KERNEL_STARTS] == [
                    r for r in other.get(name, ()) if r[1] not in KERNEL_STARTS]:
                continue
        yield "%s: %r, not %r" % (name, unlike(other.get(name), base.get(name)),
                                  unlike(base.get(name), other.get(name)))


def unlike(rows, more):
    """The first row or word that the other does not have."""
    if isinstance(rows, list):
        there = set(more or ())
        return next((r for r in rows if r not in there), len(rows))
    return next((str(a)[:400] for a, b in zip(rows or (), more or ()) if a != b), None)


def compare(capture, symfs, work):
    home = os.path.join(work, "home")
    os.mkdir(home)
    first = place(work, 0)
    rc, _, err = run(home, "ingest", "-qf", "--symfs", symfs, "-o", first, capture)
    if not os.path.exists(first):
        return ["ingest: status %d: %s" % (rc, err.decode())]
    tables, words = holds(first), says(home, first)
    wrong = []
    for way in WAYS:
        db, why = make(way, work, home, symfs, capture, first)
        if not db:
            wrong.append(why)
            continue
        if filecmp.cmp(first, db, shallow=False):
            continue  # what is asked of the same bytes is the same
        for base, other in ((tables, holds(db)), (words, says(home, db))):
            wrong += ["%s: %s" % (way, d) for d in differences(common.bare(capture), way, base, other)]
    return wrong


def chosen(folders):
    """The captures of the project, one file each, that are made with each folder."""
    found = sorted(os.path.join(common.HERE, f) for f in os.listdir(common.HERE)
                   if common.bare(f).endswith((".data", ".dat")) or f.startswith("ftext-"))
    pairs = [(word, f) for word, _ in folders for f in found]
    always = ("locks-named", "ftrace-v7", "v72-zstd")
    mine = set(common.share(pairs, 30)) | {(folders[0][0], f) for f in found if any(a in f for a in always)}
    return {word: [f for f in found if (word, f) in mine] for word, _ in folders}


def main():
    with tempfile.TemporaryDirectory() as top:
        folders = others(top)
        captures = chosen(folders)
        for word, symfs in folders:
            wrong = []
            for capture in captures[word]:
                with tempfile.TemporaryDirectory(dir=top) as work:
                    wrong += ["%s: %s" % (os.path.basename(capture), d)
                              for d in compare(capture, symfs, work)]
            common.ok(not wrong, "a database is the same however it was made: %s" % word, wrong)
    common.finish()


if __name__ == "__main__":
    main()

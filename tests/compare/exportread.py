# exportread.py - what the tests of exports share: folded stacks, and names as those write them.
import collections
import functools
import os
import re
import tempfile

from common import HERE, alone, captures, ingest, must, ok, share, sound, symfs

FOLDER = tempfile.TemporaryDirectory()
KIND = re.compile(r"_\[[kij]\]$")


def export(form, db, *options):
    """The file that export wrote; the next one has the same name."""
    path = os.path.join(FOLDER.name, os.path.basename(db) + "." + form)
    must("export", "--format", form, *options, "-o", path, db)
    return path


# A profile has few names, and each of them in many stacks.
@functools.lru_cache(None)
def visible(name):
    """As folded stacks write a name."""
    return "".join(":" if c == ";" else c if c.isprintable()
                   else "\\x%02x" % ord(c) for c in name)


def folded(db, *options):
    """Sums by (comm, frames), the outermost first."""
    out = collections.Counter()
    with open(export("folded", db, *options), encoding="utf-8") as f:
        for line in f:
            stack, _, weight = line.rstrip("\n").rpartition(" ")
            comm, *frames = stack.split(";")
            out[comm, tuple(KIND.sub("", x) for x in frames)] += int(weight)
    return out


def same_bytes(name, form, db, once):
    with open(export(form, db), "rb") as f:
        ok(f.read() == once, name + ": the same bytes again")


def databases(names, files, programs):
    """(name, database) of captures; of files of other tracers and of jitted
    code; and of captures whose programs are at hand: a quarter of each."""
    everything = os.environ.get("EXPORT_ALL")
    if not everything:
        names, files, programs = (share(x, 4) for x in (names, files, programs))
    for c in captures(() if everything else names):
        yield c.name, ingest(c)[0]
    named = [(alone(f.split(".")[0], f), ()) for f in files]
    named += [(alone("pprof-" + f.split(".")[0], f),
               ("--symfs", symfs("symfs-7.2"))) for f in programs]
    for c, options in named:
        c = c._replace(path=os.path.join(HERE, c.path))
        db = sound(c.name + ": ingest", ingest(c, "--no-cache", *options),
                   (0, 3))
        if db:
            yield c.name + " named", db

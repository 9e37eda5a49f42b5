# exportread.py - what the tests of exports share: folded stacks, and names as those write them.
import collections
import os
import re
import tempfile

from common import run

FOLDER = tempfile.TemporaryDirectory()
KIND = re.compile(r"_\[[kij]\]$")


def export(form, db, *options):
    """The file that export wrote; the next one has the same name."""
    path = os.path.join(FOLDER.name, os.path.basename(db) + "." + form)
    r = run("export", "--format", form, *options, "-o", path, db)
    if r.returncode:
        raise ValueError(r.stderr.decode(errors="replace"))
    return path


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


def differences(a, b):
    return [str(x) for x in list((a - b).items())[:3]] + [
        "against"] + [str(x) for x in list((b - a).items())[:3]]

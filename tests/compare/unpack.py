# unpack.py - unpacks the captures of tests/captures/packed into the build folder.
"""usage: unpack.py; prints the folder.

The folder has the layout of $BACKSTITCH_SHARED/captures, so that a script finds
a capture under the same name in both. Captures that lie in tests/captures
itself are linked into it. Files that are .gz or .zst there may be plain here.
A new folder is made when an archive changes; one that no script has asked for
in an hour is removed then: others may still read it, for the 15 minutes that
run.sh gives a script."""

import contextlib
import glob
import hashlib
import os
import shutil
import tarfile
import tempfile
import time

ROOT = os.environ.get("ROOT", os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
OUT = os.path.join(ROOT, os.environ.get("O", "build"))
HERE = os.path.join(ROOT, "tests/captures")
PACKED = os.path.join(HERE, "packed")
KEPT_S = 3600

# Names in tests/captures that do not tell the place in the layout.
TEXTS = {
    "ftext-marker-kstack.txt": "ftrace-raw/marker-kstack.txt",
    "ftext-overrun-pipe.txt": "ftrace-raw/overrun-pipe.txt",
    "ftext-verbose.txt.gz": "ftrace-7.2/t-verbose.trace.txt.gz",
    "shop.lostacct.txt": "perf-deferred/shop.lostacct.txt",
}
PROGRAMS = {
    "symfs/wl": "symfs-7.2/wl",
    "symfs/usr/local/cap/bin": "symfs-6.18/usr/local/cap/bin",
    "symfs-arm64/wl": "arm64/symfs/wl",
}


def links():
    """(name in tests/captures, place in the layout)"""
    yield from TEXTS.items()
    for folder, place in PROGRAMS.items():
        for name in sorted(os.listdir(os.path.join(HERE, folder))):
            yield folder + "/" + name, place + "/" + name
    for path in glob.glob(HERE + "/ftrace-*.*"):
        name, _, rest = os.path.basename(path)[len("ftrace-"):].partition(".")
        rest = "trace." + rest if rest.startswith("dat") else rest
        yield os.path.basename(path), "ftrace/%s/%s" % (name, rest)
    for path in glob.glob(HERE + "/ctf-*"):
        name = os.path.basename(path)
        yield name, "lttng/" + name[len("ctf-"):]
    for path in glob.glob(HERE + "/*.data*"):
        name = os.path.basename(path)
        stem = name[:name.index(".data")]
        if name.startswith("two-") or os.path.exists(
                os.path.join(HERE, stem + ".analysis.json")):
            yield name, "perf-deferred/" + name


def key_of(archives, linked):
    """A name for this state of tests/captures."""
    h = hashlib.sha256(repr(sorted(linked)).encode())
    for path in archives:
        s = os.stat(path)
        h.update(repr((path, s.st_size, s.st_mtime_ns)).encode())
    return h.hexdigest()[:12]


def fill(folder, archives, linked):
    for path in archives:
        with tarfile.open(path) as t:
            t.extractall(folder)
    for name, place in linked:
        path = os.path.join(folder, place)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(os.path.join(HERE, name), path)


def unpack():
    """Several scripts may do so at once: the first one's folder stays."""
    archives = sorted(glob.glob(PACKED + "/*.tar.xz"))
    linked = sorted(links())
    parent = os.path.join(OUT, "captures")
    folder = os.path.join(parent, key_of(archives, linked))
    if os.path.isdir(folder):
        os.utime(folder)
        return folder
    os.makedirs(parent, exist_ok=True)
    old = [os.path.join(parent, x) for x in os.listdir(parent)
           if not x.startswith("new-")]
    new = tempfile.mkdtemp(prefix="new-", dir=parent)
    fill(new, archives, linked)
    try:
        os.rename(new, folder)
    except OSError:
        shutil.rmtree(new)
    os.utime(folder)
    for path in old:
        with contextlib.suppress(FileNotFoundError):  # by another script
            if path != folder and os.path.getmtime(path) < time.time() - KEPT_S:
                shutil.rmtree(path)
    return folder


if __name__ == "__main__":
    print(unpack())

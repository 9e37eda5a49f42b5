# intact.py - no capture of $BACKSTITCH_SHARED that is intact is called damaged.
"""usage: intact.py [--print] [PATH...]

Reads every capture of the shared folder, those of other projects too, and
compares what is called damage with expect-intact.txt: a line has a pattern of
paths, a kind of damage and the reason why it is damaged. A capture that no
line names must have none; a line that no capture needs fails too."""

import concurrent.futures
import fnmatch
import gzip
import lzma
import os
import re
import subprocess
import sys
import tempfile

import common

BEGINS = (b"PERFILE2", b"2ELIFREP", b"\x17\x08\x44tracing", b"# tracer:",
          b"cpus=")
NOT_HERE = ("/elf", "/symfs", "/maps", "/formats", "/src", "/lib", "/usr")


def head(path):
    """The first bytes, unpacked."""
    try:
        if path.endswith(".zst"):
            p = subprocess.run(["zstd", "-qdc", path], capture_output=True)
            return p.stdout[:512]
        opener = {".gz": gzip.open, ".xz": lzma.open}.get(
            os.path.splitext(path)[1], open)
        with opener(path, "rb") as f:
            return f.read(512)
    except (OSError, EOFError, lzma.LZMAError):
        return b""


def is_capture(path):
    begin = head(path)
    tar = begin[257:262] == b"ustar"
    return begin.startswith(BEGINS) or (tar and ".tar" in path)


def captures(top):
    """Files and folders that are captures, by their path below the folder."""
    for folder, folders, files in os.walk(top):
        if "metadata" in files or "trace_pipe_raw" in folders or any(
                re.fullmatch(r"data(\.0)?", f) for f in files):
            yield folder
            folders[:] = []
            continue
        folders[:] = sorted(f for f in folders
                            if not ("/" + f).startswith(NOT_HERE))
        for f in sorted(files):
            path = os.path.join(folder, f)
            # of trace-cmd stat, and of perf script
            if not re.search(r"script|stat\.txt", f) and is_capture(path):
                yield path


def unpacked(path, folder):
    """What can be given to the program: xz is not read."""
    out = os.path.join(folder, os.path.basename(path)[:-3])
    if ".tar" in path:
        out += ".d"
        os.mkdir(out)
        subprocess.run(["tar", "-xf", path, "-C", out], check=True)
        inside = os.listdir(out)
        # beside the folder of a capture is what its kernel printed of it
        folders = [f for f in inside if not f.endswith(".txt")] or inside
        return os.path.join(out, folders[0]) if len(folders) == 1 else out
    if path.endswith(".xz"):
        with open(out, "wb") as f:
            f.write(lzma.open(path).read())
        return out
    return path


def damage(path):
    """{what is damaged: where and why}"""
    with tempfile.TemporaryDirectory() as folder:
        db, _, said = common.into(folder + "/db", "--no-symbols",
                                  unpacked(path, folder))
        if not os.path.exists(db):
            return {"refused": said.strip().split("\n")[0]}
        return {what: "%d times, at %s: %s" % (n, off, detail)
                for what, n, off, detail in common.query(
                    db, "SELECT what, sum(n), min(off), detail FROM damage"
                    " WHERE kind = 'damage' GROUP BY what")}


def main():
    if not common.SHARED:
        print("skip intact: no $BACKSTITCH_SHARED")
        common.finish()
    paths = [p for a in (sys.argv[1:] or ("captures", "peers"))
             for p in captures(os.path.join(common.SHARED, a))]
    table = list(map(tuple, common.table("expect-intact.txt", 2)))
    needed = set()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path, found in zip(paths, pool.map(damage, paths)):
            name = os.path.relpath(path, common.SHARED)
            for what, detail in sorted(found.items()):
                known = [t for t in table if t[1] == what
                         and fnmatch.fnmatch(name, t[0])]
                needed.update(known)
                if not known:
                    common.ok(False, "%s: %s" % (name, what), [detail])
    for t in set(table) - needed if not sys.argv[1:] else ():
        common.ok(False, "%s has no %s any more" % t)
    common.ok(paths, "%d captures are as expected" % len(paths))
    common.finish()


if __name__ == "__main__":
    main()

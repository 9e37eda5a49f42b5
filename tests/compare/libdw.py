# libdw.py - stack dumps unwound by us and by libdw are the same.
"""usage: libdw.py

Runs tests/libdw/libdw.c on every capture with stack dumps; it says how many
stacks are the same and puts the others into classes. At most one in 1000 may
be in a class on x86-64, where libdw is a sound reference.
"""

import os
import re
import subprocess
import sys
import tempfile

import common

# capture, where its programs are, "" where x86-64's share is not asked for
CAPTURES = [
    ("perf/dwarf/perf.data", "symfs-6.18", "x86"),
    ("perf/dlchurn-dwarf/perf.data", "symfs-6.18", "x86"),
    ("fpcap/fp.data.zst", "symfs-6.18", "x86"),
    ("fpcap/nofp.data.zst", "symfs-6.18", "x86"),
    ("arm64/perf/dwarf/perf.data", "arm64/symfs", ""),
    ("arm64/perf/dwarf-nopauth/perf.data", "arm64/symfs", ""),
    ("arm64/perf/dwarf-sve/perf.data", "arm64/symfs", ""),
    ("s390x/perf/dwarf/perf.data", "s390x/symfs", ""),
]

# The same of tests/captures, whose programs are in its symfs.
OWN = ["frames32.data.zst"]


def unpacked(path, folder):
    if not path.endswith(".zst"):
        return path
    out = os.path.join(folder, os.path.basename(path)[:-4])
    subprocess.run(["zstd", "-qdo", out, path], check=True)
    return out


def callers(root, folder):
    """The caller that chains lack, by the dumps in the same samples."""
    program = os.path.join(os.environ.get("O", "build"), "libdw", "callers")
    for name, right in (("fp", "995"), ("nofp", "0")):
        r = subprocess.run(
            [program, os.path.join(root, "symfs-6.18"),
             os.path.join(folder, name + ".data"), "1000", right],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = r.stdout.decode(errors="replace").strip()
        common.ok(r.returncode == 0, text.split(": ", 1)[-1], [text])


def compared(path, symfs, name):
    """Says what libdw.c says: stacks that are the same, and all."""
    program = os.path.join(os.environ.get("O", "build"), "libdw", "libdw")
    r = subprocess.run([program, symfs, path], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    text = r.stdout.decode(errors="replace")
    m = re.search(r": (\d+) of (\d+) samples.*", text)
    common.ok(r.returncode == 0 and m, name + (m[0] if m else " is unwound"),
              text.split("\n")[-8:])
    return (int(m[1]), int(m[2])) if m else (0, 0)


def shared(folder):
    root = os.path.join(common.SHARED, "captures")
    samples = same = 0
    for name, symfs, kind in CAPTURES:
        got = compared(unpacked(os.path.join(root, name), folder),
                       os.path.join(root, symfs), name)
        if kind:
            same += got[0]
            samples += got[1]
    common.ok(samples and same * 1000 >= samples * 999,
              "%d of %d stacks of x86-64 are libdw's" % (same, samples))
    callers(root, folder)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in OWN:
            same, samples = compared(
                unpacked("tests/captures/" + name, folder),
                "tests/captures/symfs", name)
            common.ok(same == samples, name + ": all are libdw's")
        if common.SHARED:
            shared(folder)
        else:
            print("skip stacks are libdw's: no ../shared/captures")
    common.finish()


if __name__ == "__main__":
    main()

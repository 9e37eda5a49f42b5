# libdw.py - stack dumps unwound by us and by libdw are the same.
"""usage: libdw.py

Runs tests/libdw/libdw.c on every capture with stack dumps; it says how many
stacks are the same and puts the others into classes. At most one in 1000 may
be in a class on x86-64, where libdw is a sound reference. In the C library,
which is not among the programs of the project, libdw follows the frame pointer
(class "pointer"); these stacks are left out where the library is not at hand.
"""

import glob
import os
import re
import subprocess
import tempfile

import common

# capture, where its programs are, "" where x86-64's share is not asked for
CAPTURES = [
    ("perf/dwarf/perf.data", "symfs-6.18", "x86"),
    ("perf/dlchurn-dwarf/perf.data", "symfs-6.18", "x86"),
    ("fpcap/fp.data", "symfs-6.18", "x86"),
    ("fpcap/nofp.data", "symfs-6.18", "x86"),
    ("fpcap/fp-200.data", "symfs-6.18", "x86"),
    ("fpcap/nofp-200.data", "symfs-6.18", "x86"),
    ("arm64/perf/dwarf/perf.data", "arm64/symfs", ""),
    ("arm64/perf/dwarf-nopauth/perf.data", "arm64/symfs", ""),
    ("arm64/perf/dwarf-sve/perf.data", "arm64/symfs", ""),
    ("s390x/perf/dwarf/perf.data", "s390x/symfs", ""),
]

# The same of tests/captures, whose programs are in its symfs.
OWN = ["frames32.data.zst"]


def callers(symfs, paths):
    """The caller that chains lack, by the dumps in the same samples."""
    program = os.path.join(common.OUT, "libdw", "callers")
    for name, right in (("fp", "995"), ("nofp", "0")):
        r = subprocess.run(
            [program, symfs, paths["fpcap/%s.data" % name], "1000", right],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = r.stdout.decode(errors="replace").strip()
        common.ok(r.returncode == 0, text.split(": ", 1)[-1], [text])


def has_libc(symfs):
    return bool(glob.glob(symfs + "/usr/lib/*/libc.so.6"))


def compared(path, symfs, name):
    """Says what libdw.c says: stacks that are the same, and all."""
    program = os.path.join(common.OUT, "libdw", "libdw")
    r = subprocess.run([program, symfs, path], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    text = r.stdout.decode(errors="replace")
    m = re.search(r": (\d+) of (\d+) samples.*", text)
    pointer = re.search(r"(\d+) pointer", text)
    common.ok(r.returncode == 0 and m, name + (m[0] if m else " is unwound"),
              text.split("\n")[-8:])
    if not m:
        return 0, 0
    left_out = int(pointer[1]) if pointer and not has_libc(symfs) else 0
    return int(m[1]), int(m[2]) - left_out


def all_machines(folder):
    samples = same = 0
    paths = {}
    for name, symfs, kind in CAPTURES:
        path = common.place(name)
        if not path:
            continue
        paths[name] = common.plain(path, folder)
        got = compared(paths[name], common.symfs(symfs), name)
        if kind:
            same += got[0]
            samples += got[1]
    common.ok(samples and samples - same <= max(1, samples / 1000),
              "%d of %d stacks of x86-64 are libdw's" % (same, samples))
    if "fpcap/fp.data" in paths:
        callers(common.symfs("symfs-6.18"), paths)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in OWN:
            same, samples = compared(
                common.plain("tests/captures/" + name, folder),
                "tests/captures/symfs", name)
            common.ok(same == samples, name + ": all are libdw's")
        all_machines(folder)
    common.finish()


if __name__ == "__main__":
    main()

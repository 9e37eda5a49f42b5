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


def unpacked(path, folder):
    if not path.endswith(".zst"):
        return path
    out = os.path.join(folder, os.path.basename(path)[:-4])
    subprocess.run(["zstd", "-qdo", out, path], check=True)
    return out


def callers(root, folder):
    """The caller that chains lack, by the dumps in the same samples."""
    program = os.path.join(os.environ.get("O", "build"), "libdw", "callers")
    for name in ("fp", "nofp"):
        r = subprocess.run(
            [program, os.path.join(root, "symfs-6.18"),
             os.path.join(folder, name + ".data"), "1000", "995"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = r.stdout.decode(errors="replace").strip()
        common.ok(r.returncode == 0, text.split(": ", 1)[-1], [text])


def main():
    if not common.SHARED:
        print("skip stacks are libdw's: no ../shared/captures")
        return common.finish()
    root = os.path.join(common.SHARED, "captures")
    program = os.path.join(os.environ.get("O", "build"), "libdw", "libdw")
    samples = same = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, symfs, kind in CAPTURES:
            r = subprocess.run(
                [program, os.path.join(root, symfs),
                 unpacked(os.path.join(root, name), folder)],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            text = r.stdout.decode(errors="replace")
            m = re.search(r": (\d+) of (\d+) samples.*", text)
            common.ok(r.returncode == 0 and m,
                      name + (m[0] if m else " is unwound"),
                      text.split("\n")[-8:])
            if m and kind:
                same += int(m[1])
                samples += int(m[2])
        common.ok(samples and same * 1000 >= samples * 999,
                  "%d of %d stacks of x86-64 are libdw's" % (same, samples))
        callers(root, folder)
    common.finish()


if __name__ == "__main__":
    main()

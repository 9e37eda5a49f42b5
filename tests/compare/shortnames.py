#!/usr/bin/env python3
# shortnames.py - short names of all symbols of libstdc++, LLVM, a program of Rust and one of Go.
# usage: BACKSTITCH=PROGRAM tests/compare/shortnames.py; prints "ok NAME" or "not ok NAME" lines.
#
# The symbols of each, as nm and c++filt print them, are the frames of one flame graph, so that all of them are read
# together: none is empty, no two are shown alike, and none is longer than the full name.
import glob
import html
import os
import re
import subprocess
import tempfile

from common import must, ok
from inlined import build

FRAME = re.compile(r'<g class="[^"]*" data-s="\d+" data-w="\d+"(?: data-n="([^"]*)")?><title>([^\n]*)\n')


def run(*cmd, **kw):
    return subprocess.run(cmd, capture_output=True, text=True, errors="replace", **kw)


def symbols(path, dynamic):
    """Returns the demangled names of the symbols in a file."""
    nm = run("nm", *(["-D"] if dynamic else []), path).stdout
    raw = {line.split(" ")[-1].split("@")[0] for line in nm.splitlines()
           if re.match(r"[0-9a-f]+ [A-Za-z] ", line)}
    text = run("c++filt", input="\n".join(sorted(raw))).stdout
    # a ';' ends a frame of a folded stack
    return sorted({n for n in text.splitlines() if n and ";" not in n and "\t" not in n})


def shown(names, work):
    """Returns the names that a flame graph of these symbols shows, by full name."""
    folded = work + "/folded"
    with open(folded, "w") as f:
        f.writelines("p;%s 1\n" % n for n in names)
    svg = must("flame", "--from-folded", "--minwidth", "0", folded)
    got = {html.unescape(full): html.unescape(short or full) for short, full in FRAME.findall(svg)}
    return {n: got[n] for n in names if n in got}


def look(what, names, work):
    got = shown(names, work)
    lost = len(names) - len(got)
    alike = len(got) - len(set(got.values()))
    long = sorted(len(s) for s in got.values())
    full = sorted(len(n) for n in got)

    ok(len(got) > 100 and lost == 0, "%s: %d symbols are all there" % (what, len(names)))
    ok(all(got.values()), what + ": no name is empty")
    ok(not alike, what + ": no two names are alike")
    ok(all(len(s) <= len(n) for n, s in got.items()), what + ": no short name is longer")
    print("%s: 50 %% of the names have at most %d of %d characters, 90 %% %d of %d, all %d of %d" % (
        what, long[len(long) // 2], full[len(full) // 2], long[len(long) * 9 // 10], full[len(full) * 9 // 10],
        long[-1], full[-1]))


def main():
    with tempfile.TemporaryDirectory() as work:
        stdcxx = run("gcc", "-print-file-name=libstdc++.so.6").stdout.strip()
        llvm = sorted(glob.glob("/usr/lib/llvm-*/lib/libLLVM-*.so*") + glob.glob("/usr/lib/*/libLLVM-*.so*"))
        for what, path, dynamic in (
                ("libstdc++", stdcxx, True), ("LLVM", llvm[0] if llvm else None, True),
                ("Rust", build("rust", work, ["rustc", "-g", "tests/names/generic.rs"]), False),
                ("Go", build("go", work, ["go", "build", "tests/names/generic.go"]), False)):
            if path and os.path.exists(path):
                look(what, symbols(path, dynamic), work)
            else:
                print("skip %s: is not installed" % what)


main()

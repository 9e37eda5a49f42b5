#!/usr/bin/env python3
# shortnames.py - short names of all symbols of libstdc++, LLVM, a program of Rust and one of Go.
# usage: BACKSTITCH=PROGRAM tests/compare/shortnames.py; prints "ok NAME" or "not ok NAME" lines.
#
# The symbols of each, as nm and c++filt print them, are the frames of one flame graph, so that all of them are read
# together: none is empty, no two are shown alike, and none is longer than the full name.
import glob
import html
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile

B = os.environ["BACKSTITCH"]
HERE = os.path.dirname(os.path.abspath(__file__))
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
    folded, svg = work + "/folded", work + "/svg"
    with open(folded, "w") as f:
        f.writelines("p;%s 1\n" % n for n in names)
    with open(svg, "w") as f:
        subprocess.run([B, "flame", "--from-folded", "--minwidth", "0", folded], stdout=f, check=True)
    with open(svg, errors="replace") as f:
        got = {html.unescape(full): html.unescape(short or full) for short, full in FRAME.findall(f.read())}
    return {n: got[n] for n in names if n in got}


def ok(good, name):
    print("ok" if good else "not ok", name)


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


def build(work, source, *cmd):
    """Returns the path of the program built from a source of this folder; None without its compiler."""
    # rustc of rustup wants the home of its user
    home = pwd.getpwuid(os.getuid()).pw_dir
    env = dict({"RUSTUP_HOME": home + "/.rustup"}, **os.environ, GO111MODULE="off", GOCACHE=work + "/go",
               GOPATH=work + "/gopath")
    version = "version" if cmd[0] == "go" else "--version"
    if not shutil.which(cmd[0]) or run(cmd[0], version, env=env).returncode:
        return None
    out = work + "/" + source.replace(".", "-")
    got = run(*cmd, "-o", out, os.path.join(HERE, "../names", source), env=env)
    if got.returncode:
        sys.exit(got.stderr)
    return out


def main():
    with tempfile.TemporaryDirectory() as work:
        stdcxx = run("gcc", "-print-file-name=libstdc++.so.6").stdout.strip()
        llvm = sorted(glob.glob("/usr/lib/llvm-*/lib/libLLVM-*.so*") + glob.glob("/usr/lib/*/libLLVM-*.so*"))
        for what, path, dynamic in (
                ("libstdc++", stdcxx, True), ("LLVM", llvm[0] if llvm else None, True),
                ("Rust", build(work, "generic.rs", "rustc", "-g"), False),
                ("Go", build(work, "generic.go", "go", "build"), False)):
            if path and os.path.exists(path):
                look(what, symbols(path, dynamic), work)
            else:
                print("skip %s: is not installed" % what)


main()

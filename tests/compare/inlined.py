# inlined.py - inlined functions and lines of addresses are those of llvm-symbolizer.
"""usage: inlined.py [BUILD...]

Builds C of this project, C++, Rust and Go with several compilers, options and
forms of DWARF, and asks llvm-symbolizer for the functions, files and lines at
addresses of their code, which are chosen at random, the same each time.
INLINED=20000 asks for so many in all, of more code, instead of 3,000 (of 250 for each
build, a few files have enough). Without LONG it is overlap and a fifth of the others,
another one of each commit, and C++ has no regular expressions.

That of LLVM 14 does not look into every split unit, so it is asked about the
same build with whole units, whose code must be the same bytes.

Where several siblings have an address, ours takes the one with the smallest
range, as gdb and binutils do. llvm-symbolizer takes the last of the file, and
loses what a larger one has beyond it. It has the last part of a name without
linkage name, ours has what the function is in as well. Of overlap.s these are eight addresses;
in code of compilers the two rules were not seen to differ.

llvm-symbolizer gives what lies behind a function, as the padding before the next one,
to the last label without a type and size, as LTO leaves them; ours ends such a symbol
with the function. These addresses are counted as "behind a label"."""

import collections
import glob
import json
import os
import pwd
import random
import re
import shutil
import subprocess
import sys
import tempfile

import common
import lines

TOOL = "llvm-symbolizer"
N = int(os.environ.get("INLINED", "3000"))
MUCH = bool(os.environ.get("LONG")) or "INLINED" in os.environ
SOURCES = "stitch/*/*.c" if "INLINED" in os.environ else "stitch/tasks/s*.c"
C = ["-I" + os.getcwd(), "-D_GNU_SOURCE", "-std=gnu11", "-w", "-shared", "-fPIC",
     *sorted(glob.glob(SOURCES))]
CXX = ["-std=c++17", "-w", *["-DREGEX"][:MUCH], "tests/names/generic.cc"]
BUILDS = {
    "overlap": ["gcc", "-shared", "-nostdlib", "tests/names/overlap.s"],
    "gcc-4": ["gcc", "-O2", "-gdwarf-4", *C],
    "gcc-5": ["gcc", "-O2", "-gdwarf-5", *C],
    "gcc-lto-4": ["gcc", "-O3", "-flto=2", "-gdwarf-4", *C],
    "gcc-lto-5": ["gcc", "-O3", "-flto=2", "-gdwarf-5", *C],
    "gcc-split-4": ["gcc", "-O2", "-gdwarf-4", "-gsplit-dwarf", *C],
    "gcc-split-5": ["gcc", "-O2", "-gdwarf-5", "-gsplit-dwarf", *C],
    "clang-4": ["clang", "-O3", "-gdwarf-4", *C],
    "clang-5": ["clang", "-O2", "-gdwarf-5", *C],
    "clang-split-5": ["clang", "-O2", "-gdwarf-5", "-gsplit-dwarf", *C],
    "g++": ["g++", "-O3", "-gdwarf-5", *CXX],
    "clang++": ["clang++", "-O2", "-gdwarf-4", *CXX],
    "rust": ["rustc", "-O", "-g", "-Awarnings", "tests/names/generic.rs"],
    "go": ["go", "build", "-ldflags=-B=0x6261636b73746974", "tests/names/generic.go"],
}
# Builds in which something differs: the class, and how often.
DIFFERS = {"overlap": {"functions": 8}}
BIAS = 0x10000000000


def build(name, work, command):
    """The path of the program that a compiler makes; None without it."""
    cmd = list(command)
    out = os.path.join(work, name)
    if os.path.exists(out):
        return out
    # rustc of rustup wants the home of its user
    home = pwd.getpwuid(os.getuid()).pw_dir
    env = dict({"RUSTUP_HOME": home + "/.rustup"}, **os.environ,
               GO111MODULE="off", GOCACHE=work + "/cache",
               GOPATH=work + "/gopath")
    version = "version" if cmd[0] == "go" else "--version"
    if not shutil.which(cmd[0]) or subprocess.run(
            [cmd[0], version], env=env, capture_output=True).returncode:
        return None
    place = {"go": 2, "rustc": 1}.get(cmd[0], len(cmd))
    cmd[place:place] = ["-o", out]
    # .dwo files are written where the compiler runs
    cmd = [os.path.abspath(a) if os.path.isfile(a) else a for a in cmd]
    subprocess.run(cmd, env=env, check=True, cwd=work)
    return out


def loaded(path):
    """(offset, address, size) of the code segments, (address, offset, size) of
    .text"""
    said = common.output("readelf", "-lSW", path)
    segments = [tuple(int(x, 16) for x in m) for m in re.findall(
        r"LOAD\s+(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ R E", said)]
    text = re.search(r"\] \.text\s+PROGBITS\s+(\w+) (\w+) (\w+)", said)
    return segments, tuple(int(x, 16) for x in text.groups())


def code(path):
    _, (_, off, size) = loaded(path)
    with open(path, "rb") as f:
        f.seek(off)
        return f.read(size)


def chosen(path):
    """Addresses of its code at random, the same each time; all of a few."""
    _, (start, _, size) = loaded(path)
    draw = random.Random(31)
    n = N // (len(BUILDS) - 1)
    return [start + at for at in (
        range(size) if size < n else sorted(draw.sample(range(size), n)))]


def database(path, addrs):
    """A database in which each address is that of a sample, as no program has
    them: only the build-id of the mapping proves the file."""
    text = ["event cpu-clock nochain", "comm pid=1 name=app"]
    build_id = re.search(r"Build ID: (\w+)", common.output("readelf", "-n", path))
    for off, vaddr, size in loaded(path)[0]:
        low = vaddr & 4095
        text.append("mmap pid=1 start=%#x len=%#x pgoff=%#x path=%s%s" % (
            BIAS + vaddr - low, size + low, off - low, path,
            " id=" + build_id[1] if build_id else ""))
    text += ["sample pid=1 tid=1 cpu=0 time=%d ip=%#x" % (1000 + i, BIAS + a)
             for i, a in enumerate(addrs)]
    data = common.mkcap(text, path + ".data")
    common.must("ingest", "-q", "-f", "-o", path + ".db", data)
    return path + ".db"


def demangled(names):
    text = common.output("c++filt", "-i", input="\n".join(names))
    return dict(zip(names, [re.sub(r"::h[0-9a-f]{16}$", "", n)
                            for n in text.split("\n")]))


def theirs(path, addrs):
    """{addr: [(name, file, line)]}, innermost first"""
    said = common.output(
        TOOL, "--output-style=JSON", "--no-demangle", "--obj=" + path,
        input="".join("%#x\n" % a for a in addrs))
    out = {}
    for line in said.splitlines():
        got = json.loads(line)
        out[int(got["Address"], 16)] = [
            (s["FunctionName"], s["FileName"], s["Line"])
            for s in got.get("Symbol", [])]
    names = demangled(sorted({s[0] for c in out.values() for s in c}))
    return {a: [lines.place(names[s[0]], s[1], s[2]) for s in c]
            for a, c in out.items()}


def labels(path):
    """Names of symbols without a type and size."""
    return set(re.findall(r"^ *\d+: \w+ +0 NOTYPE .* (\S+)$",
                          common.output("readelf", "-sW", path), re.M))


def kind(mine, other):
    """The class of a difference; None if there is none."""
    if len(mine) != len(other) or not all(
            m[0] == o[0] or m[0].endswith("::" + o[0])
            for m, o in zip(mine[:-1], other[:-1])):
        return "functions"
    if [f[1:] for f in mine[1:]] != [f[1:] for f in other[1:]]:
        return "place"
    return "line" if mine[0][1:] != other[0][1:] else None


def compare(name, work):
    path = build(name, work, BUILDS[name])
    if not path:
        print("skip inlined %s: no %s" % (name, BUILDS[name][0]))
        return
    asked = path
    if "-split-" in name:
        whole = name.replace("-split", "")
        asked = build(whole, work, BUILDS[whole])
        common.ok(code(path) == code(asked), name + ": the same code as whole")
    addrs = chosen(path)
    mine = lines.ours(database(path, addrs)).get(path, {})
    other = theirs(asked, addrs)
    count = collections.Counter()
    differs = collections.Counter()
    wrong = []
    label = labels(asked)
    for a in addrs:
        m, o = mine.get(a, []), other.get(a, [])
        if not m and len(o) == 1 and o[0][0] in label:
            count["behind a label"] += 1
            continue
        if len(o) < 2 and not (o and o[0][0] and o[0][2]):
            count["no function or line"] += 1
            continue
        count["inlined" if len(o) > 1 else "plain"] += 1
        k = kind(m, o) if m else "functions"
        if k:
            differs[k] += 1
            wrong.append("%s %#x: %s, not %s" % (k, a, m, o))
    common.ok(count["inlined"] and differs == DIFFERS.get(name, {}),
              "%s: functions and lines are llvm-symbolizer's (%s)" % (
                  name, ", ".join("%s %d" % kv for kv in sorted(
                      (count + differs).items()))), wrong[:6])


def main():
    if not shutil.which(TOOL):
        print("skip inlined: no " + TOOL)
        common.finish()
    with tempfile.TemporaryDirectory() as work:
        every = list(BUILDS)
        for name in sys.argv[1:] or (every if MUCH else every[:1] + common.share(every[1:], 5)):
            compare(name, work)
    common.finish()


if __name__ == "__main__":
    main()

# builds.py - the programs of the bench, and how each is built.
"""A build is (language, name, commands, command to run). {src} is the folder of
the programs, {out} the file to make; what a compiler cannot do is skipped, with
what it said. The name says what matters for stacks: the compiler, -O, fp or nofp
(-fno-omit-frame-pointer or without it), leaf (-mno-omit-leaf-frame-pointer)."""

import collections
import glob
import os
import subprocess

Build = collections.namedtuple("Build", "language name commands run")

FP, NOFP = "-fno-omit-frame-pointer", "-fomit-frame-pointer"
LEAF = "-mno-omit-leaf-frame-pointer"
C = "{src}/calls.c {src}/inner.c {src}/leaf.S -lm -pthread"
SECONDS = "{seconds}"


def c_builds():
    def c(name, flags, cc="gcc", after=()):
        return Build("C", name, ["%s -w %s -o {out} %s" % (cc, flags, C)]
                     + list(after), ["{out}", SECONDS])

    def mixed(name, outer, inner, cc_inner="gcc", cc="gcc", link="",
              after=()):
        """inner.c by other means than calls.c"""
        return Build("C", name, [
            "%s -w -c %s -o {out}.inner.o {src}/inner.c" % (cc_inner, inner),
            "%s -w -c %s -o {out}.calls.o {src}/calls.c" % (cc, outer),
            "%s %s -o {out} {out}.calls.o {out}.inner.o {src}/leaf.S -lm"
            " -pthread" % (cc, link)] + list(after), ["{out}", SECONDS])

    # the names of a stripped file are in NAME.full
    strip = ["mv {out} {out}.full", "strip -o {out} {out}.full"]
    for cc in ("gcc", "clang"):
        for o in ("-O0", "-O1", "-O2", "-O3"):
            yield c("%s%s-fp" % (cc, o), "%s %s" % (o, FP), cc)
        yield c(cc + "-O2-fp-leaf", "-O2 %s %s" % (FP, LEAF), cc)
        yield c(cc + "-O2-nofp", "-O2 " + NOFP, cc)
        yield c(cc + "-O0-nofp", "-O0 " + NOFP, cc)
        yield c(cc + "-Os-fp", "-Os " + FP, cc)
        yield c(cc + "-O2-fp-stripped", "-O2 " + FP, cc, strip)
        yield c(cc + "-O2-fp-static", "-O2 -static " + FP, cc)
        yield mixed(cc + "-inner-fp-leaf-outer-nofp", "-O2 " + NOFP,
                    "-O2 %s %s" % (FP, LEAF), cc)
        yield mixed(cc + "-inner-nofp-outer-fp", "-O2 " + FP,
                    "-O2 " + NOFP, cc)
    yield c("gcc-O2-nofp-stripped", "-O2 " + NOFP, after=strip)
    yield c("gcc-O2-nofp-static", "-O2 -static " + NOFP)
    yield c("static-gcc-O2-fp", "-O2 -static " + FP, after=strip)
    yield c("gcc-O2-fp-static-pie", "-O2 -static-pie " + FP)
    yield c("gcc-O2-fp-no-pie", "-O2 -no-pie " + FP)
    yield c("gcc-O2-fp-lto", "-O2 -flto " + FP)
    yield c("gcc-O2-fp-now", "-O2 -Wl,-z,now -fno-plt " + FP)
    yield c("gcc-O2-fp-cet", "-O2 -fcf-protection -Wl,-z,ibtplt " + FP)
    yield c("gcc-O2-fp-align", "-O2 -mstackrealign " + FP)
    yield c("gcc-O3-fp-native", "-O3 -march=native " + FP)
    yield c("clang-O2-fp-lto", "-O2 -flto -fuse-ld=lld " + FP, "clang")
    yield c("gcc-O2-fp-old-dtags", "-O2 -Wl,-z,lazy " + FP)
    yield c("musl-O2-fp", "-O2 -static " + FP, "musl-gcc")
    yield c("musl-O2-nofp", "-O2 -static " + NOFP, "musl-gcc")
    for cc in ("gcc", "clang"):
        yield mixed("static-%s-inner-nofp" % cc, "-O0 " + FP, "-O2 " + NOFP,
                    cc, link="-static", after=strip)
    yield c("static-clang-O0-nofp", "-O0 -static " + NOFP, "clang", strip)
    yield mixed("musl-inner-fp-leaf-outer-nofp", "-O2 " + NOFP,
                "-O2 %s %s" % (FP, LEAF), "clang", "musl-gcc", "-static")
    yield c("musl-O2-fp-dynamic", "-O2 " + FP, "musl-gcc")


def cxx_builds():
    def cxx(name, flags, cc="g++", after=()):
        return Build("C++", name, ["%s -w -std=c++20 -pthread %s -o {out}"
                                   " {src}/cxx.cc" % (cc, flags)]
                     + list(after), ["{out}", SECONDS])

    for cc in ("g++", "clang++"):
        yield cxx(cc + "-O0-fp", "-O0 " + FP, cc)
        yield cxx(cc + "-O2-fp", "-O2 " + FP, cc)
        yield cxx(cc + "-O2-fp-leaf", "-O2 %s %s" % (FP, LEAF), cc)
        yield cxx(cc + "-O3-fp", "-O3 " + FP, cc)
        yield cxx(cc + "-O2-nofp", "-O2 " + NOFP, cc)
    yield cxx("g++-O2-fp-static", "-O2 -static " + FP)
    yield cxx("g++-O2-fp-lto", "-O2 -flto " + FP)
    yield cxx("g++-O2-fp-stripped", "-O2 " + FP, after=[
        "mv {out} {out}.full", "strip -o {out} {out}.full"])


def other_builds():
    # the names of a stripped file are in NAME.full
    strip = ["mv {out} {out}.full", "strip -o {out} {out}.full"]

    def rust(name, flags, after=()):
        return Build("Rust", name, ["rustc --edition 2021 %s -o {out}"
                                    " {src}/rust.rs" % flags] + list(after),
                     ["{out}", SECONDS])

    yield rust("rust-O", "-O")
    yield rust("rust-O-fp", "-O -C force-frame-pointers=yes")
    yield rust("rust-O0", "")
    yield rust("rust-O-fp-lto", "-O -C lto=fat -C force-frame-pointers=yes")
    yield rust("rust-O-fp-abort", "-O -C panic=abort"
               " -C force-frame-pointers=yes")
    yield rust("rust-O-fp-stripped", "-O -C force-frame-pointers=yes", strip)
    go = "env GO111MODULE=off GOCACHE={cache} CGO_ENABLED=%d go build %s" \
        " -o {out} {src}/../../bench/work/golang.go"
    yield Build("Go", "go", [go % (0, "")], ["{out}", SECONDS])
    yield Build("Go", "go-N-l", [go % (0, "-gcflags='-N -l'")],
                ["{out}", SECONDS])
    yield Build("Go", "go-stripped", [go % (0, "")] + strip,
                ["{out}", SECONDS])
    for name, flags in (("cgo", "-O2"), ("cgo-fp", "-O2 " + FP)):
        yield Build("Go", name, ["env GO111MODULE=off GOCACHE={cache}"
                                 " 'CGO_CFLAGS=%s' go build -o {out}"
                                 " {src}/cgo.go" % flags], ["{out}", SECONDS])
    # of the system, and those that TWINS_PYTHONS names
    for python in sorted(glob.glob("/usr/bin/python3.[0-9]*[0-9]")) \
            + os.environ.get("TWINS_PYTHONS", "").split():
        version = subprocess.run([python, "-V"], capture_output=True,
                                 text=True, check=False).stdout.split()[-1]
        yield Build("Python", "python-" + version, [],
                    [python, "{src}/script.py", SECONDS])
    yield Build("Node", "node", [], ["node", "{src}/script.js", SECONDS])
    yield Build("Java", "java", ["javac -d {out}.classes {src}/Script.java"],
                ["java", "-cp", "{out}.classes", "Script", SECONDS])
    yield Build("Java", "java-fp", ["javac -d {out}.classes"
                                    " {src}/Script.java"],
                ["java", "-XX:+PreserveFramePointer", "-cp", "{out}.classes",
                 "Script", SECONDS])


def builds():
    yield from c_builds()
    yield from cxx_builds()
    yield from other_builds()

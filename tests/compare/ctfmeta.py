# ctfmeta.py - metadata of CTF traces: what is read and what is refused, as babeltrace2 does.
"""usage: ctfmeta.py

Each file of metadata of the captures, of other projects' traces in
$BACKSTITCH_SHARED and of the seeds of the fuzzer is put alone into a folder:
babeltrace2 reads or refuses that as a trace without streams. The trees that we
make of the seeds are compared by tests/unit/ctf_tree.c, what is decoded by them
by ctf.py. CTF 2 needs babeltrace2 2.1; $BABELTRACE2 names another program than
the one that is found. DIFFER has what only one of the two reads."""

import glob
import os
import re
import resource
import shutil
import subprocess
import tempfile

import common

BT2 = os.environ.get("BABELTRACE2") or shutil.which("babeltrace2")
OURS = os.path.join(common.OUT, "damage", "ctf_meta")
SEEDS = os.path.join(common.ROOT, "tests", "fuzz", "ctf_meta.seeds")

# What is different: who reads it; which, with the version of babeltrace2 if
# only one of 2.0 and 2.1 differs.
DIFFER = {
    "metadata that is cut is used up to there": (
        "we", "tsdl-cut ctf2-cut"),
    "numbers of 16 and 128 bits": (
        "we", "tsdl-float-half ctf2-half ctf2-float-128"),
    "what says the version is not asked for": (
        "we", "tsdl-no-major tsdl-no-signature:2.0"),
    "a structure or variant is declared inside a structure": (
        "we", "tsdl-struct-in-struct tsdl-variant-in-struct"),
    "labels and options need not fit": (
        "we", "tsdl-option-without-label tsdl-variants"),
    "streams with several clocks": (
        "we", "tsdl-two-clocks"),
    "a sequence in a context makes babeltrace2 stop": (
        "we", "tests/data/ctf-traces/succeed/meta-ctx-sequence:2.0"),
    "paths that go up twice, and that end at an optional": (
        "we", "ctf2-path-two-up ctf2-through-optional"),
    "fragments in any order, none, and without text": (
        "we", "ctf2-event-before-stream ctf2-minimal ctf2-blank-fragment"),
    "what has no effect is not checked": (
        "we", "ctf2-magic-second ctf2-map-beyond ctf2-role-elsewhere "
        "ctf2-variant-overlap"),
    "a field with two roles": (
        "babeltrace2", "ctf2-two-roles"),
    "a length in the environment": (
        "babeltrace2", "tsdl-env-length"),
}


def expected(minor, seen):
    """{name: who reads it} of the differences among the names that are seen."""
    want = {}
    for who, names in DIFFER.values():
        for name in names.split():
            name, _, only = name.partition(":")
            if name in seen and only in ("", "%d.%d" % minor):
                want[name] = who
    return want


def version():
    major, minor = re.search(r"(\d+)\.(\d+)",
                             common.output(BT2, "--version")).groups()
    return int(major), int(minor)


def metadata():
    """Names and paths. Names of seeds and of captures are different."""
    for seed in sorted(os.listdir(SEEDS)):
        yield seed, os.path.join(SEEDS, seed)
    roots = list(common.FOLDERS)
    if common.SHARED:
        roots.append(os.path.join(common.SHARED, "peers", "babeltrace"))
    for root in roots:
        for path in sorted(glob.glob(os.path.join(root, "**", "metadata"),
                                     recursive=True)):
            yield os.path.relpath(os.path.dirname(path), root), path


def theirs(path):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(path), os.path.join(folder, "metadata"))
        # It reads one in some milliseconds, and two of them without end.
        return not subprocess.run(
            [BT2, folder], capture_output=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
        ).returncode


def main():
    if not BT2:
        print("skip ctfmeta: babeltrace2 is not installed")
        return
    minor = version()
    seen = set()
    found = {}
    for name, path in metadata():
        with open(path, "rb") as f:
            if f.read(1) == b"\x1e" and minor < (2, 1):
                continue
        seen.add(name)
        ours = not subprocess.run([OURS, path],
                                  capture_output=True).returncode
        if ours != theirs(path):
            found[name] = "we" if ours else "babeltrace2"
    want = expected(minor, seen)
    common.ok(found == want, "%d metadata are read or refused as babeltrace2 "
              "%d.%d does, %d with a known difference" %
              (len(seen), *minor, len(want)),
              common.unlike(want, found, "both or none"))
    common.finish()


main()

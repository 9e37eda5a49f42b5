#!/usr/bin/env python3
"""framed.py - record chooses deferred stacks where the C library has frame pointers, and they tell what dumps tell.

usage: framed.py build GLIBC FOLDER INSTALLED    the programs of framed.c, and the library, into FOLDER
       framed.py run BACKSTITCH INSTALLED RESULT  in a machine whose kernel and perf know deferred stacks (7.0 and later)
       framed.py table RESULT                     the table of README.md

GLIBC is the folder in which a glibc was built by CFLAGS='-O2 -g -fno-omit-frame-pointer'; INSTALLED is where the machine has
FOLDER. BACKSTITCH may be several words. Each program is recorded as `record` chooses, and by dumps of 65,528 bytes; its samples are
put down to the functions that ran by both (of the program, its C library, and the kernel), and deferred halves are counted by
perf. The status is 1 if a program is not recorded by deferred stacks, or if `record` loses a half.
"""
import collections
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = HERE + "/framed.c"


def build(glibc, folder, installed):
    lib = folder + "/lib"
    os.makedirs(lib, exist_ok=True)
    for path in ("libc.so", "math/libm.so", "elf/ld.so"):
        name = {"libc.so": "libc.so.6", "math/libm.so": "libm.so.6", "elf/ld.so": "ld-linux-x86-64.so.2"}[path]
        shutil.copy(glibc + "/" + path, lib + "/" + name)
    loads = re.findall(r"(?m)^KEEP static void load_(\w+)", open(SOURCE).read())
    for load in loads:
        subprocess.run(["gcc", "-O2", "-g", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-Wno-unused-function",
                        "-DLOAD=" + load, "-o", folder + "/fr-" + load, SOURCE, "-lm",
                        "-Wl,--dynamic-linker=%s/lib/ld-linux-x86-64.so.2" % installed, "-Wl,-rpath=%s/lib" % installed],
                       check=True)
    print("%d programs" % len(loads))


def call(words, cwd, **more):
    return subprocess.run(words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", **more)


def shares(backstitch, cwd, data, comm):
    """Of all samples: the share of each function itself, and of each class of user stacks."""
    said = call(backstitch + ["report", "--json", "--sort", "sym", "--limit", "0", "--comm", comm, data], cwd)
    if said.returncode not in (0, 3):
        sys.exit("%s: %s" % (data, said.stderr))
    report = json.loads(said.stdout)
    by = {r["symbol"]: r["self_percent"] for r in report["rows"]}
    n = sum(c["samples"] for c in report["user_stacks_by_class"]) or 1
    return report["samples"], by, {c["class"]: 100 * c["samples"] / n for c in report["user_stacks_by_class"]}


def calls(backstitch, cwd, data):
    """How often which user function was the innermost one, and which one called it; not where a caller is missing."""
    said = call(backstitch + ["export", "--format", "folded", "--by", "samples", "--no-inline", data], cwd)
    pairs = collections.Counter()
    for line in said.stdout.splitlines():
        stack, _, n = line.rpartition(" ")
        user = [f for f in stack.split(";")[1:] if not f.endswith("_[k]")]
        if len(user) > 1 and not any(f.startswith("[") for f in user[-2:]):
            pairs[tuple(user[-2:])] += int(n)
    return pairs


def run(backstitch, installed, result):
    backstitch = shlex.split(backstitch)
    rows = []
    bad = 0
    for name in sorted(os.listdir(installed)):
        if not name.startswith("fr-"):
            continue
        work = "/tmp/framed/" + name
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        program = installed + "/" + name
        begin = time.monotonic()
        dry = call(backstitch + ["record", "--dry-run", "--", program], work)
        took = time.monotonic() - begin
        deferred = "fp,defer" in dry.stdout + dry.stderr
        call(backstitch + ["record", "-o", "chosen.data", "--", program], work, stdin=subprocess.DEVNULL)
        call(["perf", "record", "-q", "-e", "cpu-clock", "-F", "199", "-m", "16M", "--call-graph", "dwarf,65528", "-o", "dump.data", "--",
              program], work)
        n, chosen, classes = shares(backstitch, work, "chosen.data", name[:15])
        m, dumped, whole = shares(backstitch, work, "dump.data", name[:15])
        # who called the innermost function, where that is not missing: of pairs that the dumps lack, those that are no rarity
        ours = calls(backstitch, work, "chosen.data")
        true = calls(backstitch, work, "dump.data")
        alone = sorted(((n, "%s -> %s" % k) for k, n in ours.items() if k not in true and n >= 20), reverse=True)
        # deferred halves, as perf counts them
        raw = re.search(r"CALLCHAIN_DEFERRED events: +(\d+)",
                        call(["perf", "report", "--stats", "-i", "chosen.data"], work).stdout)
        halves = call(backstitch + ["query", "--format", "csv", "chosen.data",
                                    "SELECT kind, verdict, n FROM verdicts ORDER BY n DESC"], work)
        functions = {f for f in set(chosen) | set(dumped) if max(chosen.get(f, 0), dumped.get(f, 0)) >= 2}
        most = max(((abs(chosen.get(f, 0) - dumped.get(f, 0)), f) for f in functions), default=(0, ""))
        rows.append({"program": name[3:], "deferred": deferred, "dry_run_s": took, "samples": n, "dumps": m,
                     "classes": classes, "dump_classes": whole, "most": most, "functions": len(functions),
                     "pairs": len(ours), "alone": alone,
                     "chains": int(raw.group(1)) if raw else 0, "verdicts": halves.stdout.split("\n")[1:-1],
                     "why": (dry.stdout + dry.stderr).strip().splitlines()[:8]})
        bad += not deferred
        r = rows[-1]
        print("%-12s %s %.1f s, %d samples, %s; largest difference %.1f points (%s); chains %d; %s; only here %s" % (
            r["program"], "defer" if deferred else "NOT DEFERRED", took, n,
            ", ".join("%s %.1f" % (c, p) for c, p in classes.items()), most[0], most[1], r["chains"], " ".join(r["verdicts"]), r["alone"]),
            flush=True)
        json.dump(rows, open(result, "w"), indent=1)
    print("%d programs, %d without deferred stacks" % (len(rows), bad))
    return bool(bad)


def table(result):
    print("| program | samples | whole % | caller missing % | by dumps: whole % |\n|---|---|---|---|---|")
    for r in json.load(open(result)):
        missing = sum(p for c, p in r["classes"].items() if c.startswith("caller missing"))
        print("| %s | %s | %.1f | %.1f | %.1f |" % (r["program"], format(r["samples"], ","), r["classes"].get("whole", 0), missing,
                                                   r["dump_classes"].get("whole", 0)))


if __name__ == "__main__":
    how = sys.argv[1:2]
    if how == ["build"] and len(sys.argv) == 5:
        sys.exit(build(*sys.argv[2:]))
    if how == ["run"] and len(sys.argv) == 5:
        sys.exit(run(*sys.argv[2:]))
    if how == ["table"] and len(sys.argv) == 3:
        sys.exit(table(sys.argv[2]))
    sys.exit(__doc__)

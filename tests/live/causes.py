# causes.py - how often a comparison names the change that was planted.
"""usage: BACKSTITCH=PROGRAM causes.py [--equal] [--only LANGUAGE,..] [RUNS [SECONDS
    [FOLDER]]]

Builds planted/orders.* in C++, Rust, Go, Java and JavaScript as they are and with
one change each: in a leaf, spread over what a function calls, in a callee of two
callers, by one of these two, moved to another thread, inlined, an allocation more,
a lock more. Records each RUNS times (4), about SECONDS (1) of processor time each,
in turn, and compares them by 'diff', of one run and of RUNS a side, and
prints how often the cause is named first, how often something that did not change,
and how many pairs of equal programs show a change. Recordings that are in FOLDER
are not made again. Fails if 19 of 20 are not named, or anything is that did not
change. Needs perf, g++, rustc, go, javac and node; a language whose compiler is
not there is left out. With --equal nothing is planted, and all pairs of RUNS
recordings of each program are compared, of Scala, Kotlin and C# (mono) too. It is
in no group, as its result depends on the machine, whose load is printed."""

import glob
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
ARGS = sys.argv[1:]
EQUAL = ARGS[:1] == ["--equal"]
ARGS = ARGS[1 if EQUAL else 0:]
ONLY = ARGS[1].split(",") if ARGS[:1] == ["--only"] else None
ARGS = ARGS[2 if ONLY else 0:]
RUNS = int(ARGS[0]) if ARGS else 4
SECONDS = float(ARGS[1]) if len(ARGS) > 1 else 1
ENV = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME")}
# each change with the functions that it was made in, by their names in C++
PLANTED = {
    "leaf": ["mix"], "spread": ["index_words"], "shared": ["checksum"],
    "caller": ["verify"], "moved": ["clerk", "teller"], "inlined": ["scale", "matrix"],
    "alloc": ["parse"], "lock": ["push_order"],
}
# what is not to be inlined in Java, where no word in the source says that
METHODS = ["checksum", "clerk", "count", "index_words", "letters", "matrix", "mix",
           "pack", "parse", "price", "push_order", "scale", "sort_rows", "teller",
           "verify"]
JAVA = ["java", "-XX:+PreserveFramePointer", "-XX:+UnlockDiagnosticVMOptions",
        "-XX:+DumpPerfMapAtExit", "-XX:CompileCommand=quiet"]
# how to build, and to record, as 'backstitch record' does for C++: along frame
# pointers the caller of each leaf and of the C library would be missing
LANGUAGES = {
    "cc": (["g++", "-g", "-O2", "-pthread", "-o", "orders"], "dwarf,16384"),
    "rs": (["rustc", "-g", "-O", "-C", "codegen-units=1", "-C",
            "force-frame-pointers=yes", "-o", "orders"], "fp"),
    "go": (["go", "build", "-o", "orders"], "fp"),
    "java": (["javac"], "fp"),
    "js": (["node", "--check"], "fp"),
    "scala": (["scalac"], "fp"),
    "kt": (["kotlinc", "-d", "."], "fp"),
    "cs": (["mcs", "-r:System.Core"], "fp"),
}
# those in which nothing is planted, and how to run them, with Debian's libraries
ONLY_EQUAL = {
    "scala": JAVA + ["-cp", ".:/usr/share/java/scala-library.jar", "orders"],
    "kt": JAVA + ["-cp", ".:/usr/share/java/kotlin-stdlib.jar", "OrdersKt"],
    "cs": ["mono", "--jitmap", "orders.exe"],
}
NOINLINE = {"cc": "__attribute__((noinline))", "rs": "#[inline(never)]",
            "go": "//go:noinline",
            # more than --max-inlined-bytecode-size of V8
            "js": "if (sink < -1e9) {%s}" % (99 * "sink++; ")}
INLINE = {"cc": "__attribute__((always_inline)) inline", "rs": "#[inline(always)]"}


def build(language, change, where):
    """Returns the command that runs the program, but for its number of rounds."""
    folder = os.path.join(where, "%s-%s" % (language, change))
    source = "orders." + language
    if not os.path.exists(folder):
        os.makedirs(folder)
        with open(os.path.join(HERE, "planted", source), encoding="ascii") as f:
            text = f.read()
        for name in PLANTED:
            text = text.replace("PLANT_" + name.upper(), str(int(name == change)))
        never = NOINLINE.get(language, "")
        text = text.replace("NOINLINE", INLINE.get(language, "")
                            if change == "inlined" else never)
        text = text.replace("LARGE", never)
        with open(os.path.join(folder, source), "w", encoding="ascii") as f:
            f.write(text)
        subprocess.run(LANGUAGES[language][0] + [source], check=True, env=ENV, cwd=folder)
    if language in ONLY_EQUAL:
        return ["env", "-C", folder] + ONLY_EQUAL[language]
    if language == "java":
        return JAVA + ["-XX:CompileCommand=dontinline,orders::" + m for m in METHODS
                       if (m, change) != ("scale", "inlined")] + ["-cp", folder, "orders"]
    if language == "js":
        return ["node", "--perf-basic-prof", "--interpreted-frames-native-stack",
                os.path.join(folder, source)]
    return [os.path.join(folder, "orders")]


def took(program, n, where):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(program + [str(n)], check=True, env=ENV, cwd=where)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def rounds(program, where):
    """As many as take SECONDS, beside what the program's start takes."""
    n = 100
    start = took(program, 1, where)
    while True:
        seconds = took(program, n, where) - start
        if seconds > SECONDS / 4:
            return str(max(1, int(n * SECONDS / seconds)))
        n *= 2


def record(language, program, n, path):
    if os.path.exists(path):
        return
    data = path + ".data"
    for _ in range(3):
        # the shell tells its id, with which the names of JIT code go
        r = subprocess.run(
            ["perf", "record", "-q", "--buildid-mmap", "-F", "1999", "-e", "cpu-clock:u", "-m", "4M",
             "--call-graph", LANGUAGES[language][1], "-o", data, "sh", "-c",
             "echo $$; exec \"$@\"", "sh"] + program + [n], env=ENV,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
            cwd=os.path.dirname(path))
        if not r.returncode:
            break
        print("%s: ended with %d, once more: %s" % (path, r.returncode, r.stderr))
    r.check_returncode()
    subprocess.run([B, "ingest", "-q", "-o", path, data], check=True)
    for left in data, "/tmp/perf-%s.map" % r.stdout.split()[0]:
        if os.path.exists(left):
            os.remove(left)
    # V8 writes another log beside its map
    for left in glob.glob(os.path.join(os.path.dirname(path), "isolate-*-v8.log")):
        os.remove(left)


def compare(a, b):
    out = subprocess.run([B, "report", "--diff", "--json"] + a + ["--"] + b, check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(out.stdout)


def plain(name):
    """main.indexWords, orders::index_words, and JS:index_words orders.js as
    index_words."""
    name = name.split("(")[0].replace("JS:", "").split(" ")[0]
    name = name.replace("::", ".").split(".")[-1]
    return "".join("_" + c.lower() if c.isupper() else c for c in name)


def judge(change, answer):
    """Returns whether a cause was named, and whether it is the one planted."""
    cause = answer["cause"]
    if not cause:
        return False, False
    named = {plain(cause["symbol"]), plain(cause["instead"] or "")}
    return True, bool(named & set(PLANTED[change]))


def main():
    where = os.path.abspath(ARGS[2]) if len(ARGS) > 2 else tempfile.mkdtemp()
    found = wrong = tried = equal = shown = 0
    try:
        print("load before: %.1f, on %d CPUs" % (os.getloadavg()[0], os.cpu_count()))
        languages = [k for k in LANGUAGES if shutil.which(LANGUAGES[k][0][0])
                     and (k in ONLY if ONLY else EQUAL or k not in ONLY_EQUAL)]
        changes = [] if EQUAL else list(PLANTED)
        runs = {}
        for language in languages:
            programs = {c: build(language, c, where) for c in ["none"] + changes}
            keeper = os.path.join(where, language + "-rounds")
            if not os.path.exists(keeper):
                with open(keeper, "w", encoding="ascii") as f:
                    f.write(rounds(programs["none"], where))
            with open(keeper, encoding="ascii") as f:
                n = f.read()
            for i in range(RUNS if EQUAL else 2 * RUNS):
                for change, program in programs.items():
                    if i >= RUNS and change != "none":
                        continue
                    path = os.path.join(where, "%s-%s-%d.db" % (language, change, i))
                    record(language, program, n, path)
                    runs.setdefault((language, change), []).append(path)
        print("load after: %.1f" % os.getloadavg()[0], flush=True)
        for language, change in itertools.product(languages, changes):
            a, b = runs[language, "none"], runs[language, change]
            for n in sorted({1, RUNS}):
                answer = compare(a[:n], b[:n])
                named, right = judge(change, answer)
                tried += 1
                found += right
                wrong += named and not right
                if not right:
                    print("%s %s, %d a side: %s" % (language, change, n,
                                                    answer["says"]))
        for language in languages:
            a = runs[language, "none"]
            pairs = [([x], [y]) for x, y in itertools.combinations(a, 2)]
            half = len(a) // 2
            pairs += [(a[:half], a[half:]), (a[::2], a[1::2])]
            for x, y in pairs:
                answer = compare(x, y)
                equal += 1
                if answer["cause"] and answer["cause"]["by"] == "share":
                    shown += 1
                    print("%s, equal: %s" % (language, answer["says"]))
    finally:
        if len(ARGS) <= 2:
            shutil.rmtree(where)
    print("named first: %d of %d; something else: %d; of %d pairs of equal runs %d "
          "show a change" % (found, tried, wrong, equal, shown))
    sys.exit(found * 20 < tried * 19 or wrong > 0)


main()

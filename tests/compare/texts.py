# texts.py - texts of perf script, in each form of -F, against our reading of the same perf.data.
"""usage: texts.py [--print] [CAPTURE...]; --print prints expect-texts.txt

perf prints each capture in each form; our reading of the text must have the
samples of our reading of the file, with those of the fields that the form
prints: thread, name, CPU, time to a microsecond (--ns: all of it), period,
event, and the frames by the twelve low bits of their addresses, since perf
prints those of a mapped file without its base. A text that perf printed has no
damage. Each difference has a class with an exact count in expect-texts.txt. Without
LONG a tenth of the pairs of a capture and a form is printed, another one of each commit."""
import collections
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys

import common

ALL = "comm pid tid cpu time period event ip".split()
CPU = "comm,pid,tid,cpu,time,period,event"
PLAIN = "comm tid cpu time period event ip".split()
# The options, and what the text has then.
FORMS = {
    "plain": ([], PLAIN),
    "ns": (["--ns"], PLAIN + ["ns"]),
    "all": (["-F", CPU + ",ip,sym,symoff,dso"], ALL),
    "bare": (["-F", "comm,tid,ip,sym"], ["comm", "tid", "ip"]),
    "no-comm": (["-F", "pid,tid,cpu,time,event,ip,sym,dso"], ["pid", "tid", "cpu", "time", "event", "ip"]),
    "no-tid": (["-F", "comm,cpu,time,event,ip,sym,dso"], ["comm", "cpu", "time", "event", "ip"]),
    "no-cpu": (["-F", "comm,pid,tid,time,period,event,ip,sym,dso"], [f for f in ALL if f != "cpu"]),
    "no-time": (["-F", "comm,pid,tid,cpu,period,event,ip,sym,dso"], [f for f in ALL if f != "time"]),
    "no-event": (["-F", "comm,pid,tid,cpu,time,ip,sym,dso"], ["comm", "pid", "tid", "cpu", "time", "ip"]),
    "heads": (["-F", "comm,pid,tid,cpu,time,period,event"], [f for f in ALL if f != "ip"]),
    "tod": (["-F", "+tod"], PLAIN),
    "misc": (["-F", "+misc"], PLAIN),
    "flags": (["-F", "+flags"], PLAIN),
    "srcline": (["-F", "+srcline"], PLAIN),
    "insn": (["-F", "+insn,+insnlen"], PLAIN),
    "addr": (["-F", "+addr"], PLAIN),
    "weight": (["-F", "+weight"], PLAIN),
    "phys": (["-F", "+phys_addr"], PLAIN),
    "data": (["-F", "+data_src"], PLAIN),
    "pages": (["-F", "+data_page_size,+code_page_size"], PLAIN),
    "branches": (["-F", "+brstack"], PLAIN),
    "branch-symbols": (["-F", "+brstacksym"], PLAIN),
    "regs": (["-F", "+iregs"], PLAIN),
    "user-regs": (["-F", "+uregs"], PLAIN),
    "delta": (["--deltatime"], [f for f in PLAIN if f != "time"]),
    "reltime": (["--reltime"], [f for f in PLAIN if f != "time"]),
    "inlined": (["--inline", "-F", CPU + ",ip,sym,symoff,dso,srcline"], ALL),
    "records": (["--show-task-events", "--show-mmap-events", "--show-switch-events", "--show-namespace-events",
                 "--show-lost-events"], PLAIN),
    "ids": (["--show-mmap-events", "--header", "-F", CPU + ",ip"], ALL),
}
# perf refuses these forms where no event has this; it takes 30 ms to say so.
NEEDS = {"addr": "ADDR", "weight": "WEIGHT", "phys": "PHYS_ADDR", "data": "DATA_SRC", "pages": "DATA_PAGE_SIZE",
         "regs": "REGS_INTR", "user-regs": "REGS_USER"}
FOLDER = os.path.join(common.CACHE, "texts")
os.makedirs(FOLDER, exist_ok=True)
# of tests/captures: with tracepoints, stack dumps, branch stacks, several events
SHIPPED = """after before calls-cgroups cgroups clone deep disk-irqs dlchurn events fp-1 frames32 group hits-fp
hits-kernel hits-lbr hits-mixed hits-none hits-user inputs-fault inputs-v1 jitframes lines-gcc m32 naps nets pair perthread
pipe-zstd regs tailsynth tiny-sframe trampolines twins-cc-a""".split()
LACKS = "no-address fewer branch no-name no-period".split()
# where perf gives up on source lines when addr2line takes too long, which of these it lacks is not asked
SLOW = ["srcline", "inlined"]
Sample = collections.namedtuple("Sample", "comm pid tid cpu time period event ip")


def samples(db):
    """What a database has of all fields."""
    chains = common.chains(db)
    return [Sample(comm, pid, tid, cpu, time, weight, event,
                   tuple(a & 0xfff for raw in (kernel, user) for a in chains.get(raw, ())))
            for time, cpu, pid, tid, comm, event, weight, kernel, user in common.query(
                db, "SELECT time_ns, cpu, pid, tid, comm, event, weight, kernel_raw, user_raw FROM samples ORDER BY event_id")]


def class_of(field, text, file):
    """The name of a difference. The first ones are what perf does not print."""
    if field == "ip" and len(text) < len(file) and text in (file[len(file) - len(text):], file[:len(text)]):
        return "no-address" if not text else "fewer"
    if field == "ip" and text[1:] == file[1:]:
        return "branch"  # the innermost is where a branch record of LBR ends
    if field == "comm" and text[0] == ":":
        return "no-name"
    if field == "period" and text == 1:
        return "no-period"
    return field


def differences(have, want, fields):
    """Counts by class, of the fields of samples in order."""
    if len(have) != len(want):
        return collections.Counter({"samples": abs(len(have) - len(want))})
    count = collections.Counter()
    for f in sorted(set(fields) & set(Sample._fields)):
        i = Sample._fields.index(f)
        for a, b in zip(have, want):
            a, b = a[i], b[i]
            if f == "time" and "ns" not in fields:
                a, b = (t if t is None else t // 1000 for t in (a, b))
            if a != b:
                count[class_of(f, a, b)] += 1
    return count


def captures(only):
    found = {}
    folders = [os.path.join(common.ROOT, "tests/captures")]
    folders += [os.path.join(common.SHARED, "captures")] if common.SHARED and not only else []
    for folder in folders:
        for path in sorted(glob.glob(folder + "/**/*.data*", recursive=True)):
            name = os.path.relpath(common.bare(path), folder)[:-5].replace("/perf", "").replace("/", "-")
            if os.path.isfile(path) and common.bare(path).endswith(".data") and (not only or name in only):
                found.setdefault(name, path)
    return found


def compare(name, path, forms):
    """Samples of the texts of one capture, and what differs in each form that perf printed."""
    path = common.plain(path, FOLDER)
    made, status, _ = common.into(os.path.join(FOLDER, name + ".db"), "--no-symbols", "--no-infer-callers", path)
    file = [] if status else samples(made)
    found, n = {}, 0
    has = ""
    if NEEDS.keys() & forms:
        has = subprocess.run(["perf", "evlist", "-v", "-f", "-i", path], capture_output=True, check=False).stdout.decode()
    has = {word for types in re.findall(r"sample_type: ([A-Z_|]+)", has) for word in types.split("|")}
    known = {}  # the same text in another form
    for form in forms if not status else ():
        options, fields = FORMS[form]
        if form in NEEDS and NEEDS[form] not in has:
            continue
        r = subprocess.run(["perf", "script", "-f", "-i", path] + options, capture_output=True, check=False)
        if r.returncode or not r.stdout.strip():
            continue
        key = r.stdout, tuple(fields)
        if key not in known:
            text = os.path.join(FOLDER, name + ".txt")
            with open(text, "wb") as f:
                f.write(r.stdout)
            db, status, _ = common.into(os.path.join(FOLDER, name + "-text.db"), "--no-symbols", text)
            have = [] if status else samples(db)
            # 1: of nothing but names and numbers nobody knows what they are; 3: a text with line feeds in it
            known[key] = len(have), {"refused" if status == 1 and form == "bare" else "damage": 1} if status else \
                differences(have, file, fields)
        n += known[key][0]
        found[form] = {kind: k for kind, k in known[key][1].items() if form not in SLOW or kind not in LACKS}
    return n, found


def expected():
    """{(capture, form): {class: count}}"""
    want = collections.defaultdict(dict)
    for capture, kind, n, forms in common.table("expect-texts.txt", 4):
        slow = SLOW if kind in LACKS else []
        for form in FORMS.keys() - forms[1:].split(",") - set(slow) if forms[0] == "-" else forms.split(","):
            want[capture, form][kind] = int(n)
    return want


def print_expected(name, found):
    """The lines of a capture: its classes and counts, with the forms, or those without."""
    forms = collections.defaultdict(list)
    for form, kinds in found.items():
        for kind, n in kinds.items():
            forms[kind, n].append(form)
    for (kind, n), those in sorted(forms.items()):
        others = [f for f in found if f not in those and not (kind in LACKS and f in SLOW)]
        print(name, kind, n, ",".join(those) if len(those) < 1 + len(others) else "-" + ",".join(others))


def main():
    want = expected()
    asked = [a for a in sys.argv[1:] if a[0] != "-"]
    version = subprocess.run(["perf", "--version"], capture_output=True, check=False).stdout.decode() if shutil.which("perf") else ""
    if not version.startswith("perf version 6.1."):
        print("skip texts: perf 6.1 is not here, whose texts were counted")
        return
    captured = captures(asked or SHIPPED)
    pairs = [(name, form) for name in captured for form in FORMS]
    forms = collections.defaultdict(list)
    for name, form in pairs if asked else common.share(pairs, 10):
        forms[name].append(form)
    printed = n = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, (k, found) in zip(forms, pool.map(lambda c: compare(c, captured[c], forms[c]), forms)):
            printed, n = printed + len(found), n + k
            if "--print" in sys.argv:
                print_expected(name, found)
                continue
            bad = ["%s: %s, expected %s" % (form, kinds, want[name, form])
                   for form, kinds in found.items() if kinds != want[name, form]]
            common.ok(not bad, "%s: the texts of perf script" % name, bad)
    if not asked:
        # of those pairs perf refuses some
        common.ok(len(forms) >= 20 and printed > len(pairs) / 30 and n > 50 * printed,
                  "%d captures in %d texts have %d samples" % (len(forms), printed, n))
    common.finish()


main()

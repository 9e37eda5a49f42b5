# texts.py - texts of perf script, in each form of -F, against our reading of the same perf.data.
"""usage: texts.py [--classes] [CAPTURE...]; SHOW=1 names the forms

perf prints each capture in each form; our reading of the text must have the
samples of our reading of the file, with those of the fields that the form
prints: thread, name, CPU, time to a microsecond (--ns: all of it), period,
event, and the frames by the twelve low bits of their addresses, since perf
prints those of a mapped file without its base. A text that perf printed has no
damage. Each difference has a class with an exact count in expect-texts.txt."""
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


def compare(name, path):
    """(forms, samples, differences) of one capture."""
    path = common.plain(path, FOLDER)
    made, status, _ = common.into(os.path.join(FOLDER, name + ".db"), "--no-symbols", "--no-infer-callers", path)
    file = [] if status else samples(made)
    count = collections.Counter()
    forms = n = 0
    has = subprocess.run(["perf", "evlist", "-v", "-f", "-i", path], capture_output=True, check=False).stdout.decode()
    has = {word for types in re.findall(r"sample_type: ([A-Z_|]+)", has) for word in types.split("|")}
    known = {}  # the same text in another form
    for form, (options, fields) in FORMS.items() if not status else ():
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
        forms += 1
        n += known[key][0]
        for kind, k in known[key][1].items():
            # perf gives up on source lines when addr2line takes too long
            if form not in ("srcline", "inlined") or kind not in LACKS:
                count[kind] += k
            if os.environ.get("SHOW"):
                print("   ", name, form, kind, k)
    return forms, n, count


def main():
    known = {(c, k): int(n) for c, k, n in common.table("expect-texts.txt", 3)}
    asked = [a for a in sys.argv[1:] if a[0] != "-"]
    version = subprocess.run(["perf", "--version"], capture_output=True, check=False).stdout.decode() if shutil.which("perf") else ""
    if not version.startswith("perf version 6.1."):
        print("skip texts: perf 6.1 is not here, whose texts were counted")
        return
    found = captures(asked or SHIPPED)
    forms = n = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, (f, k, count) in zip(found, pool.map(lambda i: compare(*i), found.items())):
            forms, n = forms + f, n + k
            if "--classes" in sys.argv:
                for kind in sorted(count):
                    print(name, kind, count[kind])
            want = {kind: c for (capture, kind), c in known.items() if capture == name}
            common.ok(f and dict(count) == want, "%s: the texts of perf script" % name,
                      ["%s: %d, expected %d" % (k, count[k], want.get(k, 0)) for k in sorted({*count, *want})
                       if count[k] != want.get(k, 0)])
    if not asked:
        common.ok(len(found) >= 20 and forms > 300 and n > 50000,
                  "%d captures in %d texts have %d samples" % (len(found), forms, n))
    common.finish()


main()

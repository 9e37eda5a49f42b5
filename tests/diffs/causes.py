# causes.py - how often 'diff --wall' names the cause of a slower server first.
"""usage: BACKSTITCH=PROGRAM causes.py [--tracer ftrace|perf] [--only CAUSE,..] [RUNS [FOLDER]]

Builds server.c, records it RUNS times (3) a side by 'record --waits', as it is
and with one cause each, in turn, and holds the first sentence of 'diff --wall'
against what was planted; and pairs of equal sides, of which nothing may be said.
Recordings that are in FOLDER are not made again. Needs root, and perf or ftrace.
It is in no group, as its result depends on the machine. Ends with status 1 if
anything else is blamed, or equal sides are said to differ."""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
ENV = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME")}

# cause: what the sentence must have, and how the server is started in place of
# "server CAUSE"
CAUSES = {
    "longer-lock": ("look_up", None),
    "sleep-in-lock": ("timer.*look_up", None),
    "one-more-lock": ("lock.*(count_it|work_for)", None),
    "smaller-reads": ("computing.*fetch", None),
    "busier-log": ("(computing|log).*write_log", None),
    "fsync": ("write_log", None),
    "sleep": ("timer.*nap", None),
    "timer-slack": ("timer.*nap", None),
    "n+1": (r"\bdb\b|ask_db", None),
    "more-syscalls": ("check_parent", None),
    "larger-responses": ("answer|main|itself", None),
    "retries": ("work_for|toil", None),
    "parse": ("computing.*parse", None),
    "herd": ("herd|broadcast|futex_wake", None),
    "neighbour": ("ready.*neighbour", None),
    "more-threads": ("ready.*worker", None),
    "dropped-cache": ("disk.*fetch", None),
    "affinity": ("ready", None),
    "nice": ("ready", ["nice", "-n", "15", "SERVER", "neighbour"]),
    "quota": ("throttled|quota", ["sh", "-c", "echo $$ >QUOTA/cgroup.procs; exec \"$@\"", "sh", "SERVER", "none"]),
    "slow-preload": ("pread64|fetch", ["env", "LD_PRELOAD=SLOW", "SERVER", "none"]),
}
# what the other side is, if it is not the server as it is
OTHER = {"nice": "neighbour"}


def quota():
    """A cgroup of 20 % of one CPU; None: this machine has none."""
    old, new = "/sys/fs/cgroup/cpu/causes", "/sys/fs/cgroup/causes"
    try:
        if os.path.isdir(os.path.dirname(old)):
            os.makedirs(old, exist_ok=True)
            for name, value in (("cpu.cfs_period_us", "20000"), ("cpu.cfs_quota_us", "8000")):
                with open(os.path.join(old, name), "w", encoding="ascii") as f:
                    f.write(value)
            return old
        os.makedirs(new, exist_ok=True)
        with open(os.path.join(new, "cpu.max"), "w", encoding="ascii") as f:
            f.write("8000 20000")
        return new
    except OSError as e:
        print("quota: left out:", e)
        return None


def main():
    args, tracer, only = sys.argv[1:], "ftrace", list(CAUSES)
    while args and args[0].startswith("--"):
        if args[0] == "--tracer":
            tracer = args[1]
        elif args[0] == "--only":
            only = args[1].split(",")
        args = args[2:]
    runs = int(args[0]) if args else 3
    folder = os.path.abspath(args[1]) if len(args) > 1 else tempfile.mkdtemp()
    work, group = os.path.join(folder, "files"), quota()
    os.makedirs(work, exist_ok=True)
    where = {"SERVER": os.path.join(folder, "server"), "SLOW": os.path.join(folder, "slow.so"), "QUOTA": group or ""}
    flags = ["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-D_FILE_OFFSET_BITS=64", "-o"]
    if not os.path.exists(where["SLOW"]):
        subprocess.run(flags + [where["SERVER"], os.path.join(HERE, "server.c"), "-lpthread"], check=True)
        subprocess.run(flags + [where["SLOW"], "-shared", "-fPIC", os.path.join(HERE, "slow.c")], check=True)

    def recorded(name, how, n):
        out = os.path.join(folder, "%s.%s.%d.db" % (name, tracer, n))
        if os.path.exists(out):
            return out
        raw = out[:-3] + ".data"
        command = [re.sub("SERVER|SLOW|QUOTA", lambda m: where[m[0]], w) for w in how or ["SERVER", name]]
        # which makes the database too
        got = subprocess.run([B, "record", "--waits", "--tracer", tracer, "-o", raw, "--", "nice", "-n", "-15"] + command + [work], env=ENV,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if got.returncode not in (0, 3):
            sys.exit("%s: %s" % (name, got.stderr))
        subprocess.run(["rm", "-rf", raw] + [raw + "." + end for end in ("ftrace", "cgroups")], check=True)
        return out

    def said(a, b):
        got = subprocess.run([B, "diff", "--wall"] + a + ["--"] + b, env=ENV, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        if got.returncode:
            sys.exit(got.stderr)
        return " ".join(got.stdout.split("\nA: ")[0].split())

    count = {"named": 0, "hinted": 0, "nothing": 0, "wrong": 0}
    sides = {}
    for n in range(runs):
        for name in ["none", "none2", "neighbour"] + [c for c in only if c != "neighbour"]:
            if name == "quota" and not group:
                continue
            how = CAUSES.get(name, (None, None))[1] or ["SERVER", name.rstrip("2")]
            sides.setdefault(name, []).append(recorded(name, how, n))
    for name in ["none2"] + [c for c in only if c in sides]:
        text = said(sides[OTHER.get(name, "none")], sides[name])
        if "nothing is proved" in text:
            verdict = "nothing"
        elif name != "none2" and re.search(CAUSES[name][0], text.split(": ")[0]):
            verdict = "named"
        else:
            verdict = "wrong"
        if name != "none2":
            count[verdict] += 1
        elif verdict == "wrong":
            count["wrong"] += 1
        if verdict == "nothing" and name != "none2" and re.search(CAUSES[name][0], text.split("chance, ")[-1].split(": ")[0]):
            verdict = "hinted"
            count["hinted"] += 1
            count["nothing"] -= 1
        print("%-8s %-17s %s" % (verdict, name if name != "none2" else "equal sides", text), flush=True)
    print(tracer, ", ".join("%s %d" % i for i in count.items()))
    return count["wrong"] > 0


sys.exit(main())

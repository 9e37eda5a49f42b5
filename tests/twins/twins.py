# twins.py - a bench for programs that say how far a frame-pointer stack is right.
"""usage: twins.py [options] [CAPTURE...]

Without a capture it builds the programs of builds.py and records each with
tests/twins/record.c. README.md says what is compared. Ends with status 1 if a
word is stronger than the truth, or a twin is not what the kernel recorded.

    --program PATH   backstitch (build/backstitch)
    --folder DIR     where to build and record (build/twins)
    --only REGEX     builds with such a name
    --samples N      of each build, at most (1500)
    --again          records again what is there
    --whole PERCENT  fails if less of the truly whole are called so
    --keep DIR       leaves a few samples of each kind, with truth and program
    --replay DIR     judges those: nothing is built or recorded
    --table FILE     writes the results to it, as JSON
    --examples N     prints N samples of each wrong cell (1)"""

import argparse
import collections
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys

import builds
import score
from capture import Capture, derive

HERE = os.path.dirname(os.path.abspath(__file__))
HERTZ, DUMP = "1999", "16384"
SECONDS = 0.9
DUMPS_KEPT = 20


def run(argv, **kw):
    # rustup and go want a home
    return subprocess.run(argv, capture_output=True, text=True, check=False,
                          env={"PATH": os.environ["PATH"], "LC_ALL": "C",
                               "HOME": os.environ.get("HOME", "/")}, **kw)


Frame = collections.namedtuple("Frame", "address kind start end name")
Truth = collections.namedtuple("Truth", "tid time frames")


class Skipped(Exception):
    pass


class Bench:
    def __init__(self, args):
        self.args = args
        self.folder = os.path.abspath(args.folder)
        if args.replay:
            return
        os.makedirs(self.folder, exist_ok=True)
        self.tool("record", [])
        self.tool("truth", ["-ldw", "-lelf"])

    def tool(self, name, libraries):
        source, out = os.path.join(HERE, name + ".c"), self.path(name)
        if os.path.exists(out) and \
                os.path.getmtime(out) >= os.path.getmtime(source):
            return
        said = run(["cc", "-D_GNU_SOURCE", "-O2", "-o", out, source]
                   + libraries)
        if said.returncode:
            sys.exit("skip twins: %s.c: %s" % (name, said.stderr[:300]))

    def path(self, name):
        return os.path.join(self.folder, name)

    # what there is to judge

    def build(self, b):
        """Returns the capture."""
        out, data = self.path(b.name), self.path(b.name + ".data")
        if os.path.exists(data) and not self.args.again:
            return data
        words = {"src": HERE + "/programs", "out": out,
                 "cache": self.path("go-cache"), "seconds": str(SECONDS)}
        for command in b.commands:
            argv = shlex.split(command.format(**words))
            if not shutil.which(argv[0]):
                raise Skipped("%s is not here" % argv[0])
            said = run(argv)
            if said.returncode:
                raise Skipped((said.stderr.strip().splitlines()
                               or ["status %d" % said.returncode])[-1][:120])
        if not shutil.which(b.run[0].format(**words)):
            raise Skipped("%s is not here" % b.run[0])
        said = run(["env", "-i", self.path("record"), data + ".new", HERTZ,
                    DUMP, shutil.which(b.run[0].format(**words))] + [
                        w.format(**words) for w in b.run[1:]], timeout=120)
        if said.returncode == 3:
            print("skip twins: no event can be opened")
            sys.exit(0)
        if said.returncode:
            raise Skipped("not recorded: " + said.stderr.strip()[-120:])
        os.replace(data + ".new", data)
        return data

    # the truth

    def by_libdw(self, path):
        """(end, [Frame]) of each sample"""
        names, out = {}, []
        said = run([self.path("truth"), path])
        if said.returncode:
            sys.exit("truth %s: status %d" % (path, said.returncode))
        for line in said.stdout.splitlines():
            f = line.split()
            if f[0] == "N":
                names[f[1], f[2]] = (f[3], int(f[4], 16), int(f[5], 16),
                                     f[6])
            else:
                frames = [a.rstrip("!") for a in f[3:]]
                out.append((f[1], [Frame(int(a, 16), *names[f[2], a])
                                   for a in frames]))
        return out

    def by_perf(self, path):
        """Of each sample the addresses, as far as perf tells: without the
        pages; those of callers are one less."""
        if not shutil.which("perf"):
            return None
        said = run(["perf", "script", "-i", path, "-F", "tid,time,ip", "--ns",
                    "--no-inline", "--max-stack", "2048"])
        out = []
        for line in said.stdout.splitlines():
            if line and not line.startswith(("\t", "    ")) \
                    and re.match(r"\s*\d+\s+\d+\.\d+:", line):
                out.append([])
            elif line.strip():
                out[-1].append(int(line.split()[0], 16) & 0xfff)
        return out

    # what is said

    def judged(self, path, symfs=()):
        """{(tid, time): (class, inferred, addresses, accused positions)}"""
        db = path + ".db"
        said = run([self.args.program, "ingest", "-q", "-f", *symfs, "-o", db,
                    path])
        if said.returncode not in (0, 3):
            sys.exit("ingest %s: %s" % (path, said.stderr))
        con = sqlite3.connect(db)
        accused = collections.defaultdict(set)
        for stack, pos in con.execute("SELECT stack, pos FROM bogus_frames"):
            accused[stack].add(pos)
        # what a walk finds behind the function in which a thread begins is no frame
        behind = dict(con.execute("""
                SELECT p.stack, min(p.pos) FROM stack_path p
                JOIN internal_stack_check k ON k.stack = p.stack AND NOT k.bogus
                JOIN internal_callsite c ON c.frame = p.frame
                JOIN word w ON w.kind = 'callsite' AND w.id = c.kind
                WHERE w.name = 'no_code' GROUP BY 1"""))
        out, sums = {}, collections.Counter()
        for tid, time, name, inferred, stack, addrs, flags in con.execute("""
                SELECT h.tid, e.time_ns, coalesce(w.name, 'whole'),
                    u.caller = 2, u.stack, u.addrs, f.flags
                FROM event e JOIN event_type t ON t.id = e.type
                JOIN thread h ON h.id = e.thread
                LEFT JOIN raw_chain u ON u.id = e.uraw
                LEFT JOIN internal_judged j ON j.stack = u.stack
                LEFT JOIN word w ON w.kind = 'judged' AND w.id = j.class
                LEFT JOIN stack_path p ON p.stack = u.stack AND p.pos = 1
                LEFT JOIN frame f ON f.id = p.frame
                WHERE t.kind = 'sample'"""):
            if stack is None:
                continue
            addrs = decoded(addrs)
            if inferred and flags & 8:
                # of the caller only the function is known: where it begins
                addrs[1] += 1
            if len(addrs) - bool(inferred) == 127 and name in (
                    "whole", "not judged (start)", "ends early (function)",
                    "ends early (no frame pointers)", "ends early (unread)"):
                name = "cut (full)"
            addrs = addrs[:behind.get(stack)]
            out[tid, time] = name, bool(inferred), addrs, accused[stack]
            sums[name] += 1
        # what a user is told of all must be the sum of these
        told = dict(con.execute("SELECT class, sum(samples) FROM trust"
                                " GROUP BY 1"))
        con.close()
        for name in set(told) | set(sums):
            if told.get(name, 0) != sums[name] and not name.startswith(
                    "missing"):
                sys.exit("%s: %s of %d samples by view trust, of %d by"
                         " stack" % (path, name, told.get(name, 0),
                                     sums[name]))
        return out

    # both

    def judge(self, b, data):
        """Returns the counts of a build."""
        c = Capture(data)
        n = collections.Counter()
        step = max(1, -(-len(c.samples) // self.args.samples))
        chosen = list(range(0, len(c.samples), step))
        c.write(data + ".dumps", dict.fromkeys(chosen, ()), dumps=True)
        truth = self.by_libdw(data + ".dumps")
        perf = self.by_perf(data + ".dumps")
        if perf is None:
            print("skip %s: perf is not here, libdw is believed" % b.name)
            perf = [[]] * len(chosen)
        if len(truth) != len(chosen) or len(perf) != len(chosen):
            sys.exit("%s: %d samples, of %d libdw's stack, of %d perf's" % (
                b.name, len(chosen), len(truth), len(perf)))
        twins, true = {}, []
        for i, (end, frames), other in zip(chosen, truth, perf):
            s = c.samples[i]
            n["samples"] += 1
            chain = self.derived(s, n)
            if not chain:
                n["left out: walk leaves the dump"] += 1
            elif end != "outermost":
                n["left out: " + end] += 1
            elif not confirms(other, frames):
                n["left out: libdw and perf differ"] += 1
            else:
                n["both to the end"] += len(other) == len(frames)
                twins[i] = chain
                true.append(Truth(s.tid, s.time, frames))
        os.unlink(data + ".dumps")
        c.write(data + ".twin", twins)
        self.compare(b, true, self.judged(data + ".twin"), n)
        if self.args.keep:
            self.keep(b, c, data, twins, true)
        return n

    @staticmethod
    def derived(s, n):
        """Returns the twin's addresses, and compares them with the kernel's."""
        chain = derive(s)
        if chain and s.chain:
            n["derived"] += 1
            n["as recorded"] += chain == list(s.chain)
        elif s.chain:
            n["by the kernel alone"] += 1
            chain = list(s.chain)
        return chain

    def keep(self, b, c, data, twins, true):
        """A few of each kind, with their truth and the program."""
        kinds, few, kept = collections.Counter(), {}, []
        for (i, chain), t in zip(twins.items(), true):
            if any(f.kind == "v" for f in t.frames):
                continue  # nobody has the file
            addrs = [f.address for f in t.frames]
            kind = score.relation(chain, addrs, score.core_of(t.frames)), \
                tuple(f.name for f in t.frames[:6])
            kinds[kind] += 1
            if kinds[kind] <= 2:
                few[i] = chain
                kept.append(t)
        out = os.path.join(self.args.keep, b.name)
        os.makedirs(os.path.dirname(out + self.path(b.name)), exist_ok=True)
        shutil.copy(self.path(b.name), out + self.path(b.name))
        c.write(out + ".data", few)
        c.write(out + ".dumps", {i: c.samples[i].chain for i in
                                 list(few)[:DUMPS_KEPT]}, dumps=True)
        frames = {f: None for t in kept for f in t.frames}
        number = {f: i for i, f in enumerate(frames)}
        with open(out + ".json", "w", encoding="utf-8") as f:
            json.dump({"language": b.language, "frames": list(frames),
                       "samples": [(t.tid, t.time, [number[f] for f in
                                                    t.frames])
                                   for t in kept]}, f, indent=None)

    def replay(self, path):
        """What keep() left: NAME.data, NAME.json and the folder NAME"""
        name = os.path.basename(path)[:-5]
        with open(path, encoding="utf-8") as f:
            kept = json.load(f)
        frames = [Frame(*f) for f in kept["frames"]]
        true = [Truth(tid, time, [frames[i] for i in stack])
                for tid, time, stack in kept["samples"]]
        b = builds.Build(kept["language"], name, (), None)
        n = collections.Counter(samples=len(true))
        for s in Capture(path[:-5] + ".dumps").samples:
            self.derived(s, n)
        said = self.judged(path[:-5] + ".data", ("--symfs", path[:-5]))
        self.compare(b, true, said, n)
        return b, n

    def compare(self, b, true, said, n):
        shown = collections.Counter()
        for s in true:
            frames = s.frames
            name, inferred, stack, accused = said[s.tid, s.time]
            addrs = [f.address for f in frames]
            stack = list(stack)
            if inferred:
                right = len(addrs) > 1 and (
                    stack[1] == addrs[1]
                    or frames[1].start < stack[1] <= frames[1].end)
                n["inferred right" if right else "inferred wrong"] += 1
                n["inferred address"] += len(addrs) > 1 and \
                    stack[1] == addrs[1]
                if right:
                    stack[1] = addrs[1]
            core = score.core_of(frames)
            how = score.relation(stack, addrs, core)
            word = score.word_of(name, inferred)
            n["judged"] += 1
            n["cell", word, how] += 1
            good = score.in_order(stack, addrs)
            n["false frames"] += good.count(False)
            n["found frames"] += sum(not good[p] for p in accused
                                     if p < len(good))
            wrong = sum(good[p] for p in accused if p < len(good))
            n["true frames accused"] += wrong
            if how in score.STRONGER[word] or wrong:
                n["stronger"] += 1
                shown[word, how] += 1
                if shown[word, how] <= self.args.examples:
                    self.show(b, word, how, stack, s)

    @staticmethod
    def show(b, word, how, stack, s):
        frames = s.frames
        names = {f.address: f.name[:32] for f in frames}
        print("  %s at %d.%09d, thread %d: said '%s', is '%s'" % (
            b.name, s.time // 10**9, s.time % 10**9, s.tid, word, how))
        print("    said: " + " ".join(names.get(a, "%x" % a)
                                      for a in stack[:24]))
        print("    true: " + " ".join(names[f.address] for f in frames[:24]))


def confirms(other, frames):
    """Does perf find the same, as far as it comes?"""
    return len(other) <= len(frames) and all(
        (f.address - p) & 0xfff <= 1 for f, p in zip(frames, other))


def decoded(blob):
    """Of raw_chain.addrs."""
    found, value, shift = [], 0, 0
    for byte in blob:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            step = value >> 1 ^ -(value & 1)
            found.append(((found[-1] if found else 0) + step) % (1 << 64))
            value = shift = 0
    return found


def percent(part, whole):
    return "%.2f" % (100 * part / whole) if whole else "-"


def matrix(title, n):
    print("\n%s: %d samples" % (title, n["judged"]))
    words = [w for w in score.STRONGER
             if any(n["cell", w, r] for r in score.RELATIONS)]
    print("  %-28s" % "said" + "".join("%11s" % r for r in score.RELATIONS))
    for w in words:
        print("  %-28s" % w + "".join(
            "%10d%s" % (n["cell", w, r], "!" if n["cell", w, r] and
                        r in score.STRONGER[w] else " ")
            for r in score.RELATIONS))


def whole_share(n):
    """Percent of the truly whole that are called whole."""
    same = sum(n["cell", w, "same"] for w in score.STRONGER)
    whole = n["cell", "whole", "same"] + n["cell", "caller inferred", "same"]
    return 100 * whole / same if same else 100


def summary(name, n):
    same = sum(n["cell", w, "same"] for w in score.STRONGER)
    false = sum(n["cell", w, "false"] for w in score.STRONGER)
    print("%-34s %6d %6d %7s %7s %7s %6d" % (
        name, n["samples"], n["judged"], "%.2f" % whole_share(n) if same else "-",
        percent(n["cell", "fabricated", "false"], false),
        percent(n["inferred right"], n["inferred right"]
                + n["inferred wrong"]), n["stronger"]))


def counted(bench, args):
    """(build, counts)"""
    if args.replay:
        for name in sorted(os.listdir(args.replay)):
            if name.endswith(".json"):
                yield bench.replay(os.path.join(args.replay, name))
        return
    if args.captures:
        for c in args.captures:
            b = builds.Build("captures", os.path.basename(c), (), None)
            yield b, bench.judge(b, c)
        return
    for b in builds.builds():
        if not re.search(args.only, b.name):
            continue
        try:
            yield b, bench.judge(b, bench.build(b))
        except (Skipped, subprocess.TimeoutExpired) as e:
            print("skip %s: %s" % (b.name, e))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--program", default="build/backstitch")
    p.add_argument("--folder", default="build/twins")
    p.add_argument("--only", default="")
    p.add_argument("--samples", type=int, default=1500)
    p.add_argument("--again", action="store_true")
    p.add_argument("--table")
    p.add_argument("--whole", type=float, default=0)
    p.add_argument("--keep")
    p.add_argument("--replay")
    p.add_argument("--examples", type=int, default=1)
    p.add_argument("captures", nargs="*")
    args = p.parse_args()
    bench = Bench(args)
    languages = collections.defaultdict(collections.Counter)
    by_build = {}
    print("%-34s %6s %6s %7s %7s %7s %6s" % (
        "build", "all", "judged", "whole %", "found %", "infer %", "wrong"))
    for b, n in counted(bench, args):
        summary(b.name, n)
        sys.stdout.flush()
        languages[b.language] += n
        by_build[b.language, b.name] = n
    total = sum(languages.values(), collections.Counter())
    for language, n in languages.items():
        matrix(language, n)
    matrix("all", total)
    print()
    for key in sorted((k for k in total if isinstance(k, str))):
        print("  %-34s %8d" % (key, total[key]))
    if args.table:
        with open(args.table, "w", encoding="utf-8") as f:
            json.dump([{"language": k[0], "build": k[1], "counts": {
                " / ".join(c) if isinstance(c, tuple) else c: v
                for c, v in n.items()}} for k, n in by_build.items()], f,
                      indent=1)
    return 1 if total["stronger"] or not total["judged"] \
        or total["as recorded"] != total["derived"] \
        or whole_share(total) < args.whole else 0


if __name__ == "__main__":
    sys.exit(main())

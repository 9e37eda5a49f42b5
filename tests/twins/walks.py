# walks.py - who walked a stack: stacks that a kernel with SFrame would record.
"""usage: walks.py [--program PATH] [--folder DIR] [--only REGEX] [--samples N]
                [--examples N] [--table FILE]

Builds calls.c with .sframe (as --gsframe; binutils 2.40 writes version 1),
records each with dumps, and walks the dumps as the kernel's proposed reader
does ("unwind_user: Add sframe support", version 13): of each frame the table
that was registered for its code; where there is none, along the frame pointer;
a table that leads nowhere ends the walk. What the walk used for each frame is
the truth for the word of internal_stack_check.walked, and libdw's stack that
for the word of the stack, as in twins.py. Ends with status 1 if less than
99.5 % of the words of a way are right, a word is stronger than the truth, or a
sentence names frame pointers where only SFrame was used."""

import argparse
import bisect
import collections
import json
import os
import re
import sqlite3
import struct
import subprocess
import sys

import builds
import score
import twins
from capture import BITS, LOWEST, MMAP, MMAP2, X86, Capture, Other

DEEPEST = 510  # of record 22: a page of words


class Table:
    """.sframe of an ELF file, version 1 or 2, x86-64"""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = d = f.read()
        off, = struct.unpack_from("<Q", d, 40)
        size, n, names = struct.unpack_from("<3H", d, 58)
        heads = [struct.unpack_from("<IIQQQQ", d, off + i * size)
                 for i in range(n)]
        base = heads[names][4] if names < n else 0
        self.addr = {d[base + h[0]:d.index(b"\0", base + h[0])]: h
                     for h in heads}.get(b".sframe")
        poff, = struct.unpack_from("<Q", d, 32)
        psize, pn = struct.unpack_from("<2H", d, 54)
        self.loads = [(o, v, fs) for t, _, o, v, _, fs in (
            struct.unpack_from("<IIQQQQ", d, poff + i * psize)
            for i in range(pn)) if t == 1]
        self.funcs, self.starts = [], []
        if self.addr:
            self.read(self.addr[3], self.addr[4])

    def read(self, addr, at):
        d = self.data
        magic, version, flags, _, self.fp, self.ra, aux, n, _, _, foff, \
            self.rows = struct.unpack_from("<HBBBbbBIIIII", d, at)
        assert magic == 0xdee2 and version < 3
        at += 28 + aux
        step = 17 if version == 1 else 20
        for i in range(n):
            f = at + foff + i * step
            start, size, rows, many, info = struct.unpack_from("<iIIIB", d, f)
            start += f + addr - self.addr[4] if flags & 4 else addr
            rep = d[f + 17] if version > 1 else 16
            self.funcs.append((start, size, at + self.rows + rows, many, info,
                               rep))
        self.funcs.sort()
        self.starts = [f[0] for f in self.funcs]

    def row(self, off):
        """(base is sp, cfa, fp or None) at an offset of the file, or None"""
        for o, v, size in self.loads:
            if o <= off < o + size:
                pc = off - o + v
                break
        else:
            return None
        i = bisect.bisect(self.starts, pc) - 1
        if i < 0 or pc >= self.funcs[i][0] + self.funcs[i][1]:
            return None
        start, _, at, many, info, rep = self.funcs[i]
        pc -= start
        if info & 16:
            pc %= rep
        width, found = "BHI"[info & 15], None
        for _ in range(many):
            where, said = struct.unpack_from("<%sB" % width, self.data, at)
            at += struct.calcsize(width) + 1
            words = struct.unpack_from("<%d%s" % (said >> 1 & 15,
                                                  "bhi"[said >> 5 & 3]),
                                       self.data, at)
            at += len(words) << (said >> 5 & 3)
            if where > pc:
                break
            found = said & 1, words[0], words[1] if len(words) > 1 else None
        return found


class Maps:
    """What is mapped where, of each process"""

    def __init__(self, capture):
        self.of, self.tables = collections.defaultdict(list), {}
        for r in capture.records:
            if not isinstance(r, Other):
                continue
            kind, = struct.unpack_from("<I", r.data)
            if kind in (MMAP, MMAP2):
                pid, _, start, size, off = struct.unpack_from("<IIQQQ", r.data,
                                                              8)
                name = r.data[72 if kind == MMAP2 else 40:].split(b"\0")[0]
                self.of[pid].append((start, start + size, off,
                                     name.decode()))

    def row(self, pid, pc, registered):
        for start, end, off, name in reversed(self.of[pid]):
            if start <= pc < end:
                if not registered(name):
                    return None
                if name not in self.tables:
                    self.tables[name] = Table(name)
                return self.tables[name].row(pc - start + off)
        return None


def walk(s, maps, registered):
    """(addresses, by what each was found), None if the walk leaves the dump"""
    if not s.regs:
        return None
    fp, sp, pc = (s.regs[bit] for bit in BITS[X86])
    low, out, by = sp, [pc], []

    def word(at):
        if at < low or at + 8 > low + len(s.stack):
            raise IndexError
        return struct.unpack_from("<Q", s.stack, at - low)[0]

    while len(out) < DEEPEST:
        row = maps.row(s.pid, pc - (len(out) > 1), registered)
        if not row and (fp < sp or fp >= (1 << 47) - 16 or fp < LOWEST):
            break
        cfa = (sp if row[0] else fp) + row[1] if row else fp + 16
        if cfa <= sp or cfa & 7 or cfa >= 1 << 47:
            break
        try:
            pc = word(cfa - 8)
            if not row or row[2] is not None:
                fp = word(cfa + (row[2] if row else -16))
        except IndexError:
            return None
        sp = cfa
        out.append(pc)
        by.append("SFrame" if row else "frame pointers")
    return out, by


class Walks(twins.Bench):
    def __init__(self, args):
        super().__init__(args)
        self.by, self.maps, self.registered = {}, None, None

    def derived(self, s, n):
        if len(self.by) == 0:
            self.maps = Maps(self.capture)
        found = walk(s, self.maps, self.registered)
        if not found:
            return None
        self.by[s.tid, s.time] = set(found[1])
        return found[0]

    def judged(self, path, symfs=()):
        out = super().judged(path, symfs)
        con = sqlite3.connect(path + ".db")
        self.walked = {(tid, time): (word, fix) for tid, time, word, fix in
                       con.execute("""
                SELECT h.tid, e.time_ns, w.name, (SELECT max(x.fix)
                    FROM internal_trust_class x WHERE x.judged = coalesce(
                        jw.name, 'whole'))
                FROM event e JOIN event_type t ON t.id = e.type
                JOIN thread h ON h.id = e.thread
                JOIN raw_chain u ON u.id = e.uraw
                LEFT JOIN internal_stack_check k ON k.stack = u.stack
                LEFT JOIN word w ON w.kind = 'walk' AND w.id = k.walked
                LEFT JOIN internal_judged j ON j.stack = u.stack
                LEFT JOIN word jw ON jw.kind = 'judged' AND jw.id = j.class
                WHERE t.kind = 'sample'""")}
        con.close()
        return out

    def ways(self, b, data, registered, n):
        self.by, self.registered = {}, registered
        self.capture = Capture(data)
        n.update(self.judge(b, data))
        said = twins.run([self.args.program, "report", "--limit", "1",
                          data + ".twin.db"]).stdout
        for key, (word, fix) in self.walked.items():
            true = self.by[key]
            if not true:
                continue
            way = "both" if len(true) > 1 else true.copy().pop()
            n["walk", way, word or "not known"] += 1
            if way == "SFrame" and fix and "frame-pointer" in fix:
                n["blamed"] += 1
        if all(t == {"SFrame"} for t in self.by.values()) \
                and "frame pointer" in said:
            n["blaming sentences"] += 1
            print("  %s: %s" % (b.name, said.splitlines()[0]))


RIGHT = {"SFrame": "SFrame", "frame pointers": "frame pointers",
         "both": "SFrame and frame pointers"}


def the_builds():
    """(build, what is registered)"""
    def c(name, flags, cc="gcc"):
        as_ = "-Wa,--gsframe" + (" -fno-integrated-as" if cc == "clang"
                                 else "")
        return builds.Build("C", name, ["%s -w %s %s -o {out} %s" % (
            cc, flags, as_, builds.C)], ["{out}", "{seconds}"])

    def library(name, outer, inner):
        """inner.c in a library of its own"""
        return builds.Build("C", name, [
            "gcc -w -shared -fPIC %s -o {out}.so {src}/inner.c" % inner,
            "gcc -w %s -o {out} {src}/calls.c {src}/leaf.S {out}.so -lm"
            " -pthread" % outer], ["{out}", "{seconds}"])

    fp, nofp, table = builds.FP, builds.NOFP, " -Wa,--gsframe"
    for cc in ("gcc", "clang"):
        for o in ("-O0", "-O1", "-O2", "-O3", "-Os"):
            for frames, how in (("fp", fp), ("nofp", nofp)):
                yield c("%s%s-%s-sframe" % (cc, o, frames), o + " " + how, cc)
    yield c("gcc-O2-nofp-sframe-static", "-O2 -static " + nofp)
    for outer, a in (("fp", fp), ("nofp", nofp)):
        for inner, i in (("fp", fp), ("nofp", nofp)):
            yield library("outer-%s-sframe-inner-%s-sframe" % (outer, inner),
                          "-O2 " + a + table, "-O2 " + i + table)
            yield library("outer-%s-sframe-inner-%s" % (outer, inner),
                          "-O2 " + a + table, "-O2 " + i)
            yield library("outer-%s-inner-%s-sframe" % (outer, inner),
                          "-O2 " + a, "-O2 " + i + table)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--program", default="build/backstitch")
    p.add_argument("--folder", default="build/walks")
    p.add_argument("--only", default="")
    p.add_argument("--samples", type=int, default=1500)
    p.add_argument("--examples", type=int, default=1)
    p.add_argument("--table")
    args = p.parse_args()
    args.again = args.keep = args.replay = args.captures = None
    bench = Walks(args)
    total, rows = collections.Counter(), {}
    for b in the_builds():
        if not re.search(args.only, b.name):
            continue
        try:
            data = bench.build(b)
        except (twins.Skipped, subprocess.TimeoutExpired) as e:
            print("skip %s: %s" % (b.name, e))
            continue
        mine = os.path.abspath(bench.path(b.name))
        ways = {"all": lambda name, mine=mine: name.startswith(mine),
                "none": lambda name: False}
        if "inner" in b.name:
            ways["program"] = lambda name, mine=mine: name == mine
        for way, registered in ways.items():
            n = collections.Counter()
            bench.ways(b._replace(name=b.name + " " + way), data, registered, n)
            rows[b.name, way] = n
            total.update(n)
            told = {w: sum(v for k, v in n.items() if k[:2] == ("walk", w))
                    for w in RIGHT}
            print("%-40s %-8s judged %5d, stronger %3d, blamed %3d: %s" % (
                b.name, way, n["judged"], n["stronger"], n["blamed"],
                ", ".join("%s %d of %d" % (w, n["walk", w, RIGHT[w]], t)
                          for w, t in told.items() if t)))
            sys.stdout.flush()
    twins.matrix("all", total)
    bad = total["stronger"] + total["blamed"] + total["blaming sentences"]
    print("\nwalked by, and said so:")
    for w in RIGHT:
        said = {k[2]: v for k, v in total.items() if k[:2] == ("walk", w)}
        every = sum(said.values())
        wrong = sum(v for k, v in said.items() if k not in (
            RIGHT[w], "frame pointers or SFrame", "not known"))
        print("  %-16s %7d: %s" % (w, every, ", ".join(
            "%s %d" % i for i in sorted(said.items()))))
        bad += every and wrong * 200 > every
    print("sentences that name frame pointers where SFrame alone was used: %d"
          % total["blaming sentences"])
    if args.table:
        with open(args.table, "w", encoding="utf-8") as f:
            json.dump([{"build": k[0], "registered": k[1], "counts": {
                " / ".join(c) if isinstance(c, tuple) else c: v
                for c, v in n.items()}} for k, n in rows.items()], f, indent=1)
    return 1 if bad or not total["judged"] else 0


if __name__ == "__main__":
    sys.exit(main())

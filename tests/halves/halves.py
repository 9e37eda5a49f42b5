#!/usr/bin/env python3
# halves.py - are true frames of kernel stacks marked, and are planted false ones found?
"""usage: halves.py [--program BACKSTITCH] [--seed N] VMLINUX KALLSYMS [DIR] perf.data...

VMLINUX: the kernel that ran, without symbols or with; KALLSYMS: of that boot; DIR: a root with /lib/modules. Each kernel half of each
capture is taken as true: what is marked there is printed. Then one return address of each is replaced by a false one, and the captures are read
again. Prints a table; ends with status 1 if a true frame was marked. It shares no code with backstitch."""

import argparse
import bisect
import csv
import gzip
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

SAMPLE, CHAIN = 9, 32
KERNEL, USER = (1 << 64) - 128, (1 << 64) - 512
CONTEXT = (1 << 64) - 4095
CALLS = re.compile(r"\b(call|callq|lcall|bl|blr|blra[ab]z?|brasl|bras|basr|bas)\b")
# after these comes what was interrupted, which is no return address
ENTRIES = re.compile(r"asm_|el1|.*_int_handler$|pgm_check|common_interrupt|restore_|native_i|error_|paranoid_|nmi_|ret_to_k")
# of 8 bytes each, in front of the chain: IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD
IN_FRONT = 1 << 16, 1, 2, 4, 8, 64, 512, 128, 256


class Capture:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = bytearray(f.read())
        self.e = "<" if self.data[:8] == b"PERFILE2" else ">"
        self.start, self.size = self.read("QQ", 40)
        _, each, at, size = self.read("QQQQ", 8)
        self.type = {}  # by event id
        for a in range(at, at + size, each):
            kind, = self.read("Q", a + 24)
            ids, n = self.read("QQ", a + each - 16)
            for i in range(ids, ids + n, 8):
                self.type[self.read("Q", i)[0]] = kind
            self.only = kind
        if len(self.type) <= 1:
            self.type = {}

    def read(self, form, at):
        return struct.unpack_from(self.e + form, self.data, at)

    def chains(self):
        """Yields the places of the kernel's addresses of each sample."""
        at = self.start
        while at < self.start + self.size:
            kind, _, size = self.read("IHH", at)
            if kind == SAMPLE:
                yield self.chain(at)
            at += size

    def chain(self, at):
        first, = self.read("Q", at + 8)
        mask = self.type.get(first, self.only)
        if not mask & CHAIN or mask & 16:
            return []
        at += 8 + 8 * sum(bool(mask & t) for t in IN_FRONT)
        n, = self.read("Q", at)
        places, kernel = [], False
        for i in range(at + 8, at + 8 + 8 * n, 8):
            ip, = self.read("Q", i)
            if ip >= CONTEXT:
                kernel = ip == KERNEL
            elif kernel:
                places.append(i)
        return places


class Symbols:
    def __init__(self, path):
        self.all, self.data, self.module = [], [], []
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
            lines = f.read().splitlines()
        for line in lines:
            f = line.split()
            a = int(f[0], 16)
            if f[2] == "_text":
                self.text = a
            if f[2] == "_etext":
                self.end = a
            if len(f) > 3 and f[1] in "tT":
                self.module.append((a, f[2], f[3].strip("[]")))
            if len(f) == 3 and f[1] in "tTwW":
                self.all.append((a, f[2]))
            if len(f) == 3 and f[1] in "rRdDbB":
                self.data.append(a)
        self.all.sort()
        self.all = sorted(dict(self.all).items())
        self.addr = [a for a, _ in self.all]
        self.data = [a for a in self.data if a > self.end]

    def name(self, ip):
        i = bisect.bisect_right(self.addr, ip) - 1
        return self.all[i][1] if i >= 0 else ""


def disassemble(tool, path, start, stop, section=None):
    """The addresses of instructions, but for those behind a call."""
    out = subprocess.run([tool, "-d", "--no-show-raw-insn", path,
                          *(["-j", section] if section else []),
                          "--start-address=%#x" % start,
                          "--stop-address=%#x" % stop],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    after_call = True
    for line in out.splitlines():
        m = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
        if not m:
            continue
        if not after_call:
            yield int(m.group(1), 16)
        after_call = bool(CALLS.search(m.group(2)))


def middles(args, sym, rng):
    """Addresses in functions of the kernel behind no call."""
    text = min(int(f[3], 16) for f in sections(args, args.vmlinux)
               if f[2] == "PROGBITS" and f[1] in (".text", ".head.text") and "X" in f[7])
    code = [i for i, a in enumerate(sym.addr[:-1]) if sym.text < a < sym.end]
    found = []
    for i in rng.sample(code, min(400, len(code))):
        a, b = sym.addr[i], min(sym.addr[i + 1], sym.addr[i] + 4096)
        for at in disassemble(args.objdump, args.vmlinux, a - sym.text + text,
                              b - sym.text + text):
            if at > a - sym.text + text:
                found.append(at - text + sym.text)
    return found


def sections(args, path):
    out = subprocess.run(["readelf", "-SW", path], stdout=subprocess.PIPE,
                         text=True, check=True).stdout
    for line in out.splitlines():
        f = line.replace("[ ", "[").split()
        if len(f) > 8 and f[0].startswith("[") and f[0] != "[Nr]":
            yield f


def run(args, *argv):
    done = subprocess.run([args.program, *argv], text=True,
                          stdout=subprocess.PIPE)
    if done.returncode not in (0, 3, 4):
        sys.exit("%s: status %d" % (" ".join(argv), done.returncode))
    return done.stdout


def ingest(args, capture, db):
    run(args, "ingest", "-q", "-f", "-o", db, "--vmlinux", args.vmlinux,
        "--kallsyms", args.kallsyms, *(["--symfs", args.root] if args.root else []),
        capture)
    classes = json.loads(run(args, "check", "--json", db))
    return {c["class"]: c["samples"] for c in classes["kernel_stacks_by_class"]}


FRAMES = """WITH k(stack, n) AS (SELECT kernel, sum(n) FROM sample_group WHERE kernel NOT NULL GROUP BY 1)
SELECT coalesce(w.name, 'unchecked') AS kind, i.path AS image, sum(k.n) AS n FROM k JOIN stack_path p ON p.stack = k.stack AND p.pos > 0
JOIN frame f ON f.id = p.frame JOIN image i ON i.id = f.image LEFT JOIN internal_callsite c ON c.frame = f.id
LEFT JOIN word w ON w.kind = 'callsite' AND w.id = c.kind GROUP BY 1, 2"""


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--program", default="build/backstitch")
    p.add_argument("--objdump", default="objdump")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--root")
    p.add_argument("vmlinux")
    p.add_argument("kallsyms")
    p.add_argument("captures", nargs="+")
    args = p.parse_args()
    rng = random.Random(args.seed)
    sym = Symbols(args.kallsyms)
    false = {"data": sym.data, "middle": middles(args, sym, rng),
             "module": []}
    total = {}
    marked = 0

    def add(what, n, of):
        a, b = total.get(what, (0, 0))
        total[what] = a + n, b + of

    for path in args.captures:
        with tempfile.TemporaryDirectory() as d:
            db = os.path.join(d, "a.db")
            classes = ingest(args, path, db)
            said = classes.get("fabricated", 0)
            rows = [(k, image, int(n)) for k, image, n in csv.reader(
                run(args, "query", "--format", "csv", db, FRAMES).splitlines()[1:])]
            frames = sum(n for _, _, n in rows)
            for k, image, n in rows:
                add("frames, " + (k + " in " + os.path.basename(image) if k == "unchecked" else k), n, 0)
            for what in {w for w in total if w.startswith("frames, ")}:
                total[what] = total[what][0], total[what][1] + frames
            for k, n in classes.items():
                add("halves, " + k, n, 0)
            for what in {w for w in total if w.startswith("halves, ")}:
                total[what] = total[what][0], total[what][1] + sum(classes.values())
            marked += said
            seen = {os.path.basename(image).split(".")[0].replace("-", "_") for k, image, _ in rows if k == "direct"}
            # one of each: a module of which most addresses are wrong is taken for another
            false["module"] = list({m: a + 1 for a, _, m in rng.sample(sym.module, len(sym.module)) if m in seen}.values())
            for kind, pool in false.items():
                c = Capture(path)
                planted = 0
                for places in c.chains():
                    may = [places[i] for i in range(1, len(places))
                           if not ENTRIES.match(sym.name(c.read("Q", places[i - 1])[0]))
                           and c.read("Q", places[i - 1])[0] < (1 << 64) - 4096]
                    if may and pool:
                        struct.pack_into(c.e + "Q", c.data, rng.choice(may), rng.choice(pool))
                        planted += 1
                with open(os.path.join(d, "f.data"), "wb") as f:
                    f.write(c.data)
                got = ingest(args, os.path.join(d, "f.data"), db)
                add("planted, " + kind, got.get("fabricated", 0), planted)
    for what, (n, of) in sorted(total.items()):
        print("%-60s %9d of %9d %7.2f %%" % (what, n, of, 100.0 * n / of if of else 0))
    return 1 if marked else 0


if __name__ == "__main__":
    sys.exit(main())

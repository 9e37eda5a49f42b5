# exportpprof.py - profiles for pprof against folded stacks, report, ELF files, and go tool pprof.
"""Every profile is read by pprofread.py, which knows profile.proto and nothing
of ours, and by `go tool pprof` and the package pprof-format where those are.
Addresses are looked up in the program headers and symbols of the ELF files."""

import collections
import json
import os
import re
import shutil
import subprocess

import pprofread
from common import (OUT, answer, differences, finish, ok, query, segments,
                    unlike)
from exportread import (FOLDER, databases, export, folded, same_bytes,
                        visible)

GO = shutil.which("go")
NPM = os.path.join(OUT, "npm", "node_modules")
NODE = shutil.which("node") and os.path.isdir(NPM + "/pprof-format")
NO_STACK = "[no stack]"


def pprof_stacks(p, value):
    out = collections.Counter()
    for (comm, frames), n in pprofread.stacks(p, value).items():
        frames = () if frames == (NO_STACK,) else frames
        out[visible(comm), tuple(visible(x) for x in frames)] += n
    return out


# ---- sums

def check_sums(name, db, p):
    got, want = pprof_stacks(p, -1), folded(db)
    ok(got == want, name + ": stacks and weights are those of folded",
       differences(got, want))
    got, want = pprof_stacks(p, 0), folded(db, "--by", "samples", "--event",
                                           p.types[-1][0])
    ok(got == want, name + ": numbers of samples too", differences(got, want))
    want = collections.Counter()
    for r in answer("report", "--inline", "--limit", "0", db)["rows"]:
        want[visible(r["symbol"])] += r["self_weight"]
    got = collections.Counter()
    for n, (own, _) in pprofread.functions(p, -1).items():
        got[visible(n)] += own
    ok(+got == +want, name + ": each function's own weight is that of report",
       differences(+got, +want))


def known(number):
    return None if number == -1 else number


def check_labels(name, db, p):
    """Who, where, and what became of requests, as SQL counts them."""
    event = p.types[-1][0]
    want = collections.Counter()
    for pid, tid, comm, cpu, verdict, n in query(
            db, "SELECT pid, tid, comm, cpu, verdict, count(*) FROM samples "
            "WHERE event = ? GROUP BY 1, 2, 3, 4, 5", event):
        want[known(pid), known(tid), visible(comm or "[no name]"), cpu,
             verdict] += n
    got = collections.Counter()
    for s in p.samples:
        x = s.labels
        got[x.get("pid"), x.get("tid"), visible(x["thread"]), x.get("cpu"),
            x.get("verdict")] += s.values[0]
    ok(got == want, name + ": threads, CPUs and verdicts are those of SQL",
       differences(got, want))


def check_comments(name, db, p):
    lost = query(db, "SELECT what, coalesce(sum(n), 0), count(*) FROM loss "
                 "GROUP BY what, counts")
    verdicts = query(db, "SELECT kind, verdict, n FROM verdicts WHERE n > 0")
    text = "\n".join(p.comments)
    missing = [x for x in lost if not re.search(
        r"^loss?t?[^:]*: %s, %d records in %d intervals" % (
            re.escape(x[0]), x[1], x[2]), text, re.M)]
    missing += [x for x in verdicts if not re.search(
        r"^%s %s \(.*\): %d$" % x, text, re.M)]
    ok(not missing, name + ": comments say what was lost, and all verdicts",
       [str(x) for x in missing[:3]] + p.comments[:9])


# ---- addresses

def check_addresses(name, db, p):
    """The frames that SQL knows, each at its own place or, behind a call, one
    byte before; and where the ELF file is at hand, at its vaddr."""
    known = collections.defaultdict(set)
    files = {}
    for path, build_id, file, off in query(
            db, "SELECT i.path, hex(i.build_id), i.file, f.off FROM frame f "
            "JOIN image i ON i.id = f.image JOIN word w ON w.kind = 'image' "
            "AND w.id = i.kind WHERE w.name = 'file'"):
        known[path, build_id.lower()].add(off)
        files[path, build_id.lower()] = file
    bad, seen, in_elf = [], 0, 0
    for x in p.locations.values():
        m = p.mappings.get(x.mapping)
        key = m and (m.file, m.build_id)
        if key not in known:
            continue
        seen += 1
        off = x.address - m.start + m.offset
        if not {off, off + 1} & known[key]:
            bad.append("%s+%#x is no frame" % (m.file, off))
        file = files[key]
        if not file or not os.path.isfile(file):
            continue
        with open(file, "rb") as f:
            data = f.read()
        if data[:4] != b"\x7fELF":
            continue
        code = [s[1:] for s in segments(data) if s[0] & 1]
        if code and not any(o <= off < o + size for o, _, size in code):
            continue
        in_elf += 1
        if not any(x.address - vaddr == off - o for o, vaddr, _ in code):
            bad.append("%s: %#x is not at its vaddr" % (m.file, x.address))
    ok(not bad, "%s: %d addresses in files are right, %d of them vaddrs" % (
        name, seen, in_elf), bad[:5])


def check_kernel(name, db, p):
    """Kernel code is where it was recorded; jitted functions do not share
    addresses."""
    known = collections.defaultdict(set)
    for path, start, off in query(
            db, "SELECT i.path, i.start, f.off FROM frame f JOIN image i "
            "ON i.id = f.image JOIN word w ON w.kind = 'image' AND w.id = "
            "i.kind WHERE w.name IN ('kernel', 'module', 'bpf')"):
        known[path].add(((start or 0) + off) % (1 << 64))
    bad, seen = [], 0
    jitted = collections.defaultdict(set)
    for x in p.locations.values():
        m = p.mappings.get(x.mapping)
        if m and m.file in known:
            seen += 1
            if not {x.address, x.address + 1} & known[m.file]:
                bad.append("%s %#x" % (m.file, x.address))
        elif m and m.file == "[jit]":
            jitted[x.address].add(tuple(pprofread.names(p, x))[-1:])
    bad += [str(x) for x in jitted.items() if len(x[1]) > 1]
    ok(not bad, "%s: %d kernel and %d jitted addresses are right" % (
        name, seen, len(jitted)), bad[:5])


def check_calls(name, db, p):
    """The innermost location is where it was, its callers inside a call."""
    off = {}
    for path, o in query(
            db, "SELECT i.path, f.off FROM frame f JOIN image i "
            "ON i.id = f.image JOIN stack s ON s.frame = f.id "
            "JOIN raw_chain r ON r.stack = s.id"):
        off.setdefault(path, set()).add(o)
    bad = []
    for s in p.samples:
        x = p.locations[s.locations[0]]
        m = p.mappings.get(x.mapping)
        if m and m.file in off and m.file != "[jit]" and (
                x.address - m.start + m.offset not in off[m.file]):
            bad.append("%s %#x" % (m.file, x.address))
    ok(not bad, name + ": the innermost addresses are those hit", bad[:5])


# ---- other readers

def go_top(path, value):
    """{name: (self, total)}, the sum."""
    text = subprocess.run(
        [GO, "tool", "pprof", "-symbolize=none", "-top", "-nodecount=1000000",
         "-nodefraction=0", "-edgefraction=0", "-unit=ns",
         "-sample_index=" + value, path], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=dict(os.environ, PPROF_TMPDIR=FOLDER.name),
        check=True).stdout.decode()
    total = re.search(r"^Showing nodes accounting for .* of (\d+)", text, re.M)
    rows = {}
    for m in re.finditer(r"^ *(\d+)(?:ns)? +\S+ +\S+ +(\d+)(?:ns)? +\S+"
                         r"  (.*?)(?: \(inline\)| \(partial-inline\))?$",
                         text, re.M):
        rows[m[3]] = int(m[1]), int(m[2])
    return rows, total and int(total[1])


def one_build(p):
    """pprof takes mappings with one build-id, and of one size, for one."""
    first = {}
    return {"[%s]" % os.path.basename(m.file): first.setdefault(
        (m.build_id or m.file, m.limit - m.start, m.offset),
        "[%s]" % os.path.basename(m.file)) for m in p.mappings.values()}


def check_go(name, path, p):
    bad = []
    alias = one_build(p)
    for i, (kind, _) in enumerate(p.types):
        want = pprofread.functions(p, i, alias)
        rows, total = go_top(path, kind)
        rows = {alias.get(n, n): w for n, w in rows.items()}
        want = {n: w for n, w in want.items() if w != (0, 0)}
        if rows != want:
            bad += [kind] + unlike(want, rows)[:4]
        if total != sum(s.values[i] for s in p.samples) and want:
            bad.append("%s: %s in all" % (kind, total))
    ok(not bad, name + ": go tool pprof adds up the same", bad)


NODE_SCRIPT = r"""
const { Profile } = require(process.argv[1] + "/pprof-format");
const zlib = require("zlib");
const data = zlib.gunzipSync(require("fs").readFileSync(process.argv[2]));
const p = Profile.decode(data);
const s = p.stringTable.strings;
let sum = p.sampleType.map(() => 0n);
for (const x of p.sample)
	x.value.forEach((v, i) => { sum[i] += BigInt(v); });
console.log(JSON.stringify({
	types: p.sampleType.map((t) => [s[Number(t.type)], s[Number(t.unit)]]),
	sum: sum.map(String), samples: p.sample.length,
	locations: p.location.length, mappings: p.mapping.length,
	again: Buffer.compare(Buffer.from(Profile.decode(p.encode()).encode()),
			      Buffer.from(p.encode())) === 0 }));
"""


def check_node(name, path, p):
    r = subprocess.run(["node", "-e", NODE_SCRIPT, NPM, path],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    got = json.loads(r.stdout or "{}")
    want = {"types": [list(t) for t in p.types],
            "sum": [str(sum(s.values[i] for s in p.samples))
                    for i in range(len(p.types))],
            "samples": len(p.samples), "locations": len(p.locations),
            "mappings": len(p.mappings), "again": True}
    ok(got == want, name + ": pprof-format reads the same",
       [str(got), str(want), r.stderr.decode(errors="replace")[-300:]])


# ---- all of it

def check_options(name, db, p):
    """No inlined functions; all events side by side; weights of 1; chosen
    samples."""
    q = pprofread.read(export("pprof", db, "--no-inline"))
    got, want = pprof_stacks(q, -1), folded(db, "--no-inline")
    ok(got == want and all(len(x.lines) < 2 for x in q.locations.values()),
       name + ": without inlined functions", differences(got, want))
    q = pprofread.read(export("pprof", db, "--by", "samples"))
    got, want = pprof_stacks(q, 0), folded(db, "--by", "samples")
    ok(got == want and q.types == [("samples", "count")],
       name + ": weights of 1", differences(got, want))
    for how in ("mark", "collapse"):
        q = pprofread.read(export("pprof", db, "--interpreter", how))
        got, want = pprof_stacks(q, -1), folded(db, "--interpreter", how)
        ok(got == want and not pprofread.check(q),
           "%s: --interpreter %s" % (name, how), differences(got, want))
    q = pprofread.read(export("pprof", db, "--event", "*"))
    events = query(db, "SELECT event, count(*), sum(weight) FROM samples "
                   "GROUP BY event")
    ok(not pprofread.check(q)
       and sorted(t[0] for t in q.types[1:]) == sorted(e[0] for e in events)
       and all(sum(s.values[1 + i] for s in q.samples)
               == next(e[2] for e in events if e[0] == t[0])
               for i, t in enumerate(q.types[1:])),
       name + ": all events side by side")


def check_one(name, db):
    path = export("pprof", db)
    p = pprofread.read(path)
    ok(not pprofread.check(p), name + ": the profile is sound",
       [str(pprofread.check(p))])
    if not p.samples:
        return
    check_sums(name, db, p)
    check_labels(name, db, p)
    check_comments(name, db, p)
    check_addresses(name, db, p)
    check_kernel(name, db, p)
    check_calls(name, db, p)
    with open(path, "rb") as f:
        once = f.read()
    check_options(name, db, p)
    same_bytes(name, "pprof", db, once)
    if GO:
        check_go(name, path, p)
    if NODE:
        check_node(name, path, p)


def main():
    if not GO:
        print("skip go tool pprof: go is not here")
    if not NODE:
        print("skip pprof-format: no node, or not installed by make deps")
    for name, db in databases(
            ("z-defer", "defer-lost-clock", "task-exitexec", "group",
             "dlchurn", "s390x-z", "m32", "fp-1", "two-e", "regs"),
            ("jit-reused.data.zst", "ftrace-ustack-both.dat",
             "ftext-overrun-pipe.txt"),
            ("z-defer.data", "defer-lost-clock.data.zst")):
        check_one(name, db)
    finish()


if __name__ == "__main__":
    main()

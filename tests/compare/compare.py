# compare.py - every block of perf script is in ours, and nothing else is.
"""usage: compare.py [--print] [NAME...]

Blocks that differ belong to a named class, and each class is counted and must
be as tests/compare/expect.txt says (0 when it says nothing). --print prints
the lines that would be expected instead, to be read before they are believed.

joined_only_by_us  perf left out the user half, the chain is in the file
cookie_frame       perf printed the cookie as if it were an address
depth_limit        perf prints 127 addresses at most
lbr_kernel         perf 7.2 begins the calls that the processor recorded with the
                   address that was hit in the kernel, we with the call
order              perf's block is earlier than one printed before it
aarch64_lr         only perf has the caller from lr: no file or no table is at
                   hand, or it is wrong (the way back from a signal)
aarch64_lr_ours    only we have it: perf forgot the process at its EXIT
aarch64_lr_alone   only we have it: perf adds none to a chain of one address
dump_pc_ours       perf could not unwind a dump and printed nothing; the sampled
                   program counter is the one frame we have
aarch64_pac        perf's caller from lr has authentication bits
dump_pac           perf keeps the authentication bits of the return addresses
                   that it takes from a dump, and is lost there
dump_vdso          perf has no rules in AArch64's vdso and takes the frame
                   pointer's word; the caller is in the link register
dump_no_code       perf's last address is in no mapping that can be code
dump_further       perf ends before we come to the outermost frame
inferred           only we have the caller of the innermost function: no chain
                   has it, and the code proves which one it is
comm_dead          perf forgot the thread's name at its EXIT and prints :TID
comm_later         perf prints the name that the thread had when the chain came,
                   not the one it had when the sample was taken
off_cpu_ids        perf (6.16 to 7.3) exchanges process and thread of a long
                   wait of 'record --off-cpu', and names the wrong one
off_cpu_no_time    perf prints the number of a sum of waits as its time
"""

import collections
import json
import os
import re

import common


DEPTH = 127
PAC = 0x7f << 48


def is_cookie(addr):
    """The kernel's layout: cpu + 1 below, an odd counter above."""
    return 0 < addr & 0xffffffff <= 4096 and addr >> 32 & 1


def without_one(longer, shorter):
    """Is shorter what is left when one address is taken out of longer?"""
    if len(longer) != len(shorter) + 1:
        return False
    i = 0
    while i < len(shorter) and longer[i] == shorter[i]:
        i += 1
    return longer[i + 1:] == shorter[i:]


class Unmerged:
    """What perf script --no-merge-callchains prints, where it is at hand:
    chains by cookie, and the name of a thread at the time of its sample."""

    def __init__(self, c=None):
        self.chain, self.comm = {}, {}
        path = c and c.script.replace(".script-ip.", ".script-nomerge.")
        if not path or path == c.script or not os.path.exists(path):
            return
        cookie = None
        for line in common.read_gz(path).split("\n"):
            m = re.search(r"DEFERRED CALLCHAIN \[cookie: ([0-9a-f]+)\]", line)
            if m:
                cookie = int(m[1], 16)
                self.chain.setdefault(cookie, ())
            elif not line.strip():
                cookie = None
            elif line[0] not in "\t ":
                m = re.match(r"(.*?)\s+(?:-?\d+/)?(-?\d+)\s+\[(\d+)\]"
                             r"\s+(\d+\.\d+):", line)
                if m:
                    self.comm[m.groups()[1:]] = m[1]
            elif cookie is not None:
                self.chain[cookie] += (int(line.split()[0], 16),)


def comm_class(perf, ours, unmerged):
    if perf.comm == ":" + perf.tid:
        return "comm_dead"
    at_sample = unmerged.comm.get((ours.tid, ours.cpu, ours.time), ours.comm)
    return "comm_later" if at_sample == ours.comm else None


def lr_class(p, o):
    """The caller that was inferred, as one of the two has it."""
    if without_one(p, o):
        return "aarch64_lr"
    if without_one(o, p):
        return "aarch64_lr_alone" if o[:-1] == p else "aarch64_lr_ours"
    differ = [(x, y) for x, y in zip(p, o) if x != y]
    if len(p) == len(o) and len(differ) == 1:
        x, y = differ[0]
        return "aarch64_pac" if x & ~PAC == y and y & 1 else None
    return None


def is_lbr_kernel(p, o):
    """Is the kernel address that was hit in the place of a user address?"""
    differ = [(x, y) for x, y in zip(p, o) if x != y]
    return (len(p) == len(o) and len(differ) == 1 and p[0] >> 63
            and differ[0][0] == p[0] and not differ[0][1] >> 63)


def dump_class(p, o):
    """Two stacks from one dump; a kernel half is before both."""
    same = 0
    while same < min(len(p), len(o)) and p[same] == o[same]:
        same += 1
    if o[:-1] == p:
        return "dump_pc_ours"
    if same == len(p):
        return "dump_further"
    if any(a & PAC and not a >> 63 and a >> 56 == 0 for a in p):
        return "dump_pac"
    if same == len(o) == len(p) - 1 and (p[-1] >> 48 or p[-1] < 4096):
        return "dump_no_code"
    if same >= 2 and p[same:same + 2] == (p[same],) * 2:
        return "dump_vdso"
    return None


def classes(perf, ours, unmerged, lr, dump):
    """Why two blocks of one sample differ; None when nothing explains it."""
    found = []
    if perf.comm != ours.comm:
        found.append(comm_class(perf, ours, unmerged))
        if not found[0]:
            return None
    p, o = perf.addrs, ours.addrs
    if p == o:
        return found
    if len(p) == DEPTH and o[:DEPTH] == p:
        return found + ["depth_limit"]
    if p and is_cookie(p[-1]):
        found.append("cookie_frame")
        cookie, p = p[-1], p[:-1]
        if p == o:
            return found
        # What we have more must be the chain of that very cookie.
        # (Of a session of tracepoints perf prints chains without addresses.)
        tail, chain = o[len(p):], unmerged.chain.get(cookie)
        if chain and (tail[:DEPTH] if len(chain) == DEPTH
                                  else tail) != chain:
            return None
        if len(o) > len(p) and o[:len(p)] == p:
            return found + ["joined_only_by_us"]
        return None
    if not lr and len(p) > 1 and without_one(o, p) and o[:-1] != p:
        return found + ["inferred"]
    if dump:
        why = dump_class(p, o)
        return found + [why] if why else None
    if is_lbr_kernel(p, o):
        return found + ["lbr_kernel"]
    if lr and not dump and lr_class(p, o):
        return found + [lr_class(p, o)]
    return None


# perf writes sums of waits at the end, with times from here on.
NO_TIME = str(0xffffffff00000000 // 10**9)


def off_cpu(b, ours):
    """The classes of a wait of perf's, and the block of ours that is the same
    one without them; None without such a block."""
    if b.event != "offcpu-time":
        return None, None
    o, why = b, []
    if b.time.startswith(NO_TIME + "."):
        o, why = o._replace(time=None), ["off_cpu_no_time"]
    elif b.pid != b.tid:
        o, why = o._replace(pid=b.tid, tid=b.pid), ["off_cpu_ids"]
    for x in ours:
        if why and key(x) == key(o) and x.addrs == o.addrs and (
                x.comm == b.comm or "off_cpu_ids" in why):
            return why, x
    return None, None


def dying(b, ours):
    """The same block of ours where perf has no tid, as the kernel had unhashed
    the thread."""
    if b.tid == "-1":
        for x in ours:
            if x[3:] == b[3:] and x.tid != "-1":
                return ["tid_dying"], x
    return None, None


def key(b):
    return b[1:6]


def compare(perf, ours, unmerged=Unmerged(), lr=False, dump=False):
    """Counter of classes, blocks of perf's missing, blocks of ours extra."""
    count = collections.Counter()
    all_ours = collections.Counter(ours)
    both = all_ours & collections.Counter(perf)
    left = list((all_ours - both).elements())
    rest = list((collections.Counter(perf) - both).elements())
    by_key = collections.defaultdict(list)
    for b in left:
        by_key[key(b)].append(b)
    missing = []
    for b in rest:
        now = [x for group in by_key.values() for x in group]
        why, o = off_cpu(b, now)
        if not why:
            why, o = dying(b, now)
        if why:
            count.update(why)
            by_key[key(o)].remove(o)
            continue
        for o in by_key[key(b)]:
            why = classes(b, o, unmerged, lr, dump)
            if why is not None:
                count.update(why)
                by_key[key(b)].remove(o)
                break
        else:
            missing.append(b)
    extra = [b for group in by_key.values() for b in group]
    return count, missing, extra


def inversions(bs):
    last, n = 0, 0
    for b in bs:
        if b.time:
            t = common.micros(b.time)
            n += t < last
            last = max(last, t)
    return n


def show(b):
    return "%s %s/%s [%s] %s %s: %s" % (
        b.comm, b.pid, b.tid, b.cpu, b.time, b.event,
        " ".join("%x" % a for a in b.addrs[:12]))


def reference_samples(c):
    if c.analysis:
        with open(c.analysis) as f:
            return json.load(f)["samples"]
    if c.stats:
        for line in open(c.stats):
            if "SAMPLE events:" in line and "LOST" not in line:
                return int(line.split("events:")[1].split()[0])
    return None


def takes_dumps(db):
    """PERF_SAMPLE_STACK_USER"""
    return common.one(db, "SELECT count(*) FROM event_type"
                          " WHERE sample_type & (1 << 13)") > 0


def check(c, expected, printing):
    options = []
    if c.symfs:
        options = ["--no-symbols", "--symfs", c.symfs]
    db = common.sound("%s is read" % c.name, common.ingest(c, *options))
    if not db:
        return
    r = common.run("script", "-F", common.fields_of(c), db)
    if r.returncode != 0:
        common.ok(False, "%s is printed" % c.name,
                  r.stderr.decode(errors="replace").split("\n")[-5:])
        return
    perf = common.blocks(common.read_gz(c.script))
    ours = common.blocks(r.stdout.decode(errors="surrogateescape"))
    count, missing, extra = compare(perf, ours, Unmerged(c),
                                    c.name.startswith("arm64"), takes_dumps(db))
    if inversions(perf):
        count["order"] = inversions(perf)
    if printing:
        common.print_classes(c.name, count)
    detail = ["only perf: " + show(b) for b in missing[:5]]
    detail += ["only ours: " + show(b) for b in extra[:5]]
    common.ok(not missing and not extra,
              "%s: blocks are perf's (%d of perf, %d ours; %d missing, "
              "%d extra)" % (c.name, len(perf), len(ours), len(missing),
                             len(extra)), detail)
    common.known_classes(c.name, count, {
        k: v for k, v in expected.items() if not k.startswith("names_")})
    common.ok(inversions(ours) == 0, "%s: our blocks are in time order"
              % c.name, ["%d are not" % inversions(ours)])
    n = common.one(db, "SELECT count(*) FROM samples")
    # perf counts records; members of a group have events of their own
    members = common.one(
        db, "SELECT count(*) FROM sample_extra WHERE name = 'leader'")
    ref = reference_samples(c)
    ref = len(perf) if ref is None else ref + members
    common.ok(n == ref and n == len(ours),
              "%s: %d samples" % (c.name, ref),
              ["database %d, printed %d, reference %d" % (n, len(ours), ref)])


def main():
    printing, args = common.asked()
    table = common.expectations()
    for c in common.captures(args):
        check(c, table.get(c.name, {}), printing)
    common.finish()


if __name__ == "__main__":
    main()

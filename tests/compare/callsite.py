# callsite.py - frames marked bogus against the true stacks of the same samples.
"""usage: callsite.py [NAME...]

fpcap/NAME.data holds, in each sample, the frame-pointer chain and a dump of the
stack. From the dump the true stack is worked out here with the unwind tables
as readelf prints them; an address of the chain that is not in it, in order,
is made up. The database must mark those (99 of 100 at least) and no other.
Where the tables are those of another system, the true stack is not known from
there on, and nothing behind it is judged."""

import bisect
import os
import shutil
import struct
import sys
import tempfile

import common

SAMPLE, MMAP2 = 9, 10
CONTEXT = (1 << 64) - 4095
# perf's numbers of x86-64 registers, by DWARF's
NAMES = {"rax": 0, "rbx": 1, "rcx": 2, "rdx": 3, "rsi": 4, "rdi": 5, "rbp": 6,
         "rsp": 7, "rip": 8, "r8": 16, "r9": 17, "r10": 18, "r11": 19,
         "r12": 20, "r13": 21, "r14": 22, "r15": 23}
# The recordings have no build-ids. These are of Debian 12's files, which ran: the
# tables of another system's library at the same path lead astray.
RAN = {
    "ld-linux-x86-64.so.2": "7ebc65e52f2bbea498b4040fa92f7238377aaba9",
    "libc.so.6": "93ac61ec5a8eb1396f9fbd350e3169a558528a40",
    "libm.so.6": "d6e6f9e3af1243eed9bf5efd366dd015a9f22c13",
    "libgmp.so.10.4.1": "0c00b6d88e6ba3d5177fdae0bd46d8b9d007dc59",
    "libisl.so.23.2.0": "2d349127830ec7dfd27de2a9352ca110316ea5eb",
    "libmpc.so.3.3.1": "baccec2a6f2d3d681fa9adad012bcd42a902306c",
    "libmpfr.so.6.2.0": "6e33848f3498f4b85bc72f4f3136dbb93819dd69",
    "libz.so.1.2.13": "1f95d5498d283b79505861523e20b3db2afdf518",
    "libzstd.so.1.5.4": "9908bedb57505b4f2657f6f539cb19b5a9d58f52",
    "cc1": "4178c06f7ed4d0729fd9fa20d167096eb12df370",
}
KEPT = ("rbx", "rbp", "r12", "r13", "r14", "r15")
DEPTH = 127


class Sample:
    def __init__(self, time, chain, regs, stack):
        self.time, self.chain = time, chain
        self.regs, self.stack = regs, stack


def read(path):
    """Executable mappings and samples of a file of fpcap."""
    data = common.read_bytes(path)
    maps, samples = [], []
    for pos, _, kind, _ in common.records(data):
        if kind == MMAP2:
            addr, length, pgoff = struct.unpack_from("<QQQ", data, pos + 16)
            prot = struct.unpack_from("<I", data, pos + 64)[0]
            name = data[pos + 72:data.index(b"\0", pos + 72)].decode()
            if prot & 4:
                maps.append((addr, addr + length, pgoff, name))
        elif kind == SAMPLE:
            samples.append(sample(data, pos + 8))
    return maps, samples


def sample(data, pos):
    """ip, tid, time, callchain, user registers, user stack."""
    time, n = struct.unpack_from("<QQ", data, pos + 16)
    chain = struct.unpack_from("<%dQ" % n, data, pos + 32)
    pos += 32 + 8 * n
    abi = struct.unpack_from("<Q", data, pos)[0]
    pos += 8
    regs = {}
    if abi:
        mask = 0xff0fff
        have = [i for i in range(64) if mask >> i & 1]
        values = struct.unpack_from("<%dQ" % len(have), data, pos)
        regs = dict(zip(have, values))
        pos += 8 * len(have)
    size = struct.unpack_from("<Q", data, pos)[0]
    pos += 8
    stack = b""
    if size:
        used = struct.unpack_from("<Q", data, pos + size)[0]
        stack = data[pos:pos + min(size, used)]
    return Sample(time, [a for a in chain if a < CONTEXT], regs, stack)


class Tables:
    """The unwind rows of a file, as readelf tells them."""

    def __init__(self, path):
        self.loads = []
        for line in common.output("readelf", "-lW", path).splitlines():
            f = line.split()
            if f and f[0] == "LOAD" and "E" in "".join(f[6:-1]):
                self.loads.append(tuple(int(x, 16) for x in (f[1], f[2],
                                                             f[4])))
        self.at, self.row = [], []
        self.load(path)

    def load(self, path):
        rows, columns, end = [], (), 0
        # it warns of what it does not know
        for line in common.output("readelf", "-wF", path,
                                  allowed=(0, 1)).splitlines():
            f = line.split()
            if " FDE " in line and "pc=" in line:
                if end:
                    rows.append((end, None))
                lo, hi = line.rsplit("pc=", 1)[1].split("..")
                end, columns = int(hi, 16), ()
                rows.append((int(lo, 16), {"CFA": "rsp+8", "ra": "c-8"}))
            elif " CIE " in line:
                columns = None
            elif f and f[0] == "LOC":
                columns = f if columns is not None else None
            elif columns and len(f) == len(columns):
                rows.append((int(f[0], 16), dict(zip(columns[1:], f[1:]))))
        if end:
            rows.append((end, None))
        # where one function ends another may begin: its row counts
        rows.sort(key=lambda r: (r[0], r[1] is not None))
        self.at = [r[0] for r in rows]
        self.row = [r[1] for r in rows]

    def vaddr(self, off):
        for o, v, size in self.loads:
            if o <= off < o + size:
                return off - o + v
        return None

    def find(self, vaddr):
        i = bisect.bisect_right(self.at, vaddr) - 1
        return self.row[i] if i >= 0 else None


def is_that_which_ran(path):
    wanted = RAN.get(os.path.basename(path))
    return not wanted or "Build ID: " + wanted in common.output(
        "readelf", "-n", path, allowed=(0, 1))


class Truth:
    def __init__(self, maps, symfs):
        self.maps = maps
        self.symfs = symfs
        self.tables = {}

    def table(self, name):
        if name not in self.tables:
            path = common.first(self.symfs + name, name)
            self.tables[name] = Tables(path) if path and os.path.isfile(
                path) and is_that_which_ran(path) else None
        return self.tables[name]

    def file(self, ip):
        """The mapping, and the tables of its file if they are known."""
        for m in self.maps:
            if m[0] <= ip < m[1]:
                return m, self.table(m[3])
        return None, None

    def row(self, ip):
        m, t = self.file(ip)
        v = t and t.vaddr(ip - m[0] + m[2])
        return t.find(v) if v is not None else None

    def unwind(self, s):
        """The return addresses, innermost first, and whether the tables of a
        file that others call are not known."""
        regs = {n: s.regs.get(i) for n, i in NAMES.items()}
        base, out = regs["rsp"], []

        def load(addr):
            at = addr - base
            if 0 <= at and at + 8 <= len(s.stack):
                return struct.unpack_from("<Q", s.stack, at)[0]
            return None

        ip = regs["rip"]
        while len(out) < DEPTH:
            row = self.row(ip)
            if not row or row.get("ra") in (None, "u", "exp"):
                break
            reg, plus, off = row["CFA"].partition("+")
            if not plus or regs.get(reg) is None:
                break
            cfa = regs[reg] + int(off)
            new = dict(regs)
            for r in KEPT:
                rule = row.get(r, "u")
                if rule.startswith("c"):
                    new[r] = load(cfa + int(rule[1:]))
                elif rule == "exp":
                    new[r] = None
            ret = load(cfa + int(row["ra"][1:]))
            if not ret:
                break
            new["rsp"] = cfa
            regs = new
            out.append(ret)
            ip = ret - 1
        m, t = self.file(ip)
        return out, bool(m and not t)


def judge(chain, true, unknown):
    """For each address behind the first: is it one of the true stack? None for
    those behind all that is known of it."""
    at, out = 0, []
    for addr in chain[1:]:
        try:
            at = true.index(addr, at) + 1
            out.append(True)
        except ValueError:
            out.append(None if unknown and at == len(true) else False)
    return out


def marked(db):
    """The positions of marked frames, by time of the sample."""
    rows = common.query(db, """
        SELECT e.time_ns, b.pos, b.reason FROM event e
        JOIN raw_chain u ON u.id = e.uraw
        JOIN bogus_frames b ON b.stack = u.stack""")
    out = {}
    for time, pos, reason in rows:
        out.setdefault(time, {})[pos] = reason
    return out


def compare(name, data, db, symfs):
    maps, samples = read(data)
    truth = Truth(maps, symfs)
    marks = marked(db)
    n = {"true": 0, "bogus": 0, "no_call": 0, "no_code": 0, "passes": 0,
         "alarm": 0, "unknown": 0, "samples": 0, "samples_bogus": 0, "samples_caught": 0}
    alarms = []
    for s in samples:
        true, unknown = truth.unwind(s)
        if not true:
            continue
        n["samples"] += 1
        mark = marks.get(s.time, {})
        verdicts = judge(s.chain, true, unknown)
        for pos, good in enumerate(verdicts, 1):
            reason = mark.get(pos)
            if good is None:
                n["unknown"] += 1
                continue
            n["true" if good else "bogus"] += 1
            if good and reason:
                n["alarm"] += 1
                alarms.append("%d: frame %d, %x, is %s" % (
                    s.time, pos, s.chain[pos], reason))
            elif not good:
                n[reason or "passes"] += 1
        if False in verdicts:
            n["samples_bogus"] += 1
            n["samples_caught"] += bool(mark)
    caught = n["no_call"] + n["no_code"]
    share = 100.0 * caught / n["bogus"] if n["bogus"] else 100.0
    print("%s: %s; caught %.2f %%" % (
        name, ", ".join("%s %d" % kv for kv in n.items()), share))
    common.ok(n["samples"] > 0 and n["true"] + n["bogus"] > 0,
              name + "_has_stacks_with_known_truth")
    common.ok(share >= 99, name + "_marks_99_of_100_bogus_frames",
              ["%d of %d" % (caught, n["bogus"])])
    common.ok(not alarms, name + "_marks_no_true_frame", alarms[:10])
    return n


def one(name, folder):
    data = common.place("fpcap/%s.data" % name)
    symfs = common.symfs("symfs-6.18")
    # no build-ids in these files: what is here need not be what ran
    where = () if name == "cc1" else ("--symfs", symfs)
    db = common.sound(name + "_is_read", common.into(
        os.path.join(folder, name + ".db"), *where, data))
    if not db:
        return
    if common.query(db, """SELECT count(*) FROM internal_callsite c
            JOIN word w ON w.kind = 'callsite' AND w.id = c.kind
            WHERE w.name IN ('direct', 'indirect', 'no_call')""")[0][0]:
        compare(name, data, db, "" if name == "cc1" else symfs)
    else:
        print("skip %s: the recorded programs are not here" % name)


def main(only):
    for tool in ("zstd", "readelf"):
        if not shutil.which(tool):
            print("skip fpcap: needs %s" % tool)
            return
    with tempfile.TemporaryDirectory() as folder:
        for name in ("fp-200", "nofp-200", "fp", "nofp", "cc1"):
            if (not only or name in only) and common.place(
                    "fpcap/%s.data" % name):
                one(name, folder)


main(sys.argv[1:])
common.finish()

# capture.py - reads a perf.data with stack dumps, and writes its frame-pointer twin.
"""A capture whose samples have registers and a dump of the stack: of 'perf
record --call-graph dwarf', one event; or of tests/twins/record.c, with the
kernel's chain too. derive() walks along frame pointers within the dump as the
kernel does when the sample is taken: perf_callchain_user() of
arch/x86/events/core.c, arch_stack_walk_user() of arch/arm64/kernel/stacktrace.c
(Linux 6.18)."""

import collections
import struct

MMAP, MMAP2, SAMPLE, KERNELS = 1, 10, 9, 64  # perf's own records are from 64 on
MISC_DATA, MISC_BUILD_ID = 1 << 13, 1 << 14
IP, TID, TIME, ADDR, READ, CHAIN = 1, 2, 4, 8, 16, 32
ID, CPU, PERIOD, STREAM, RAW, BRANCH = 64, 128, 256, 512, 1024, 2048
REGS, STACK, IDENTIFIER = 1 << 12, 1 << 13, 1 << 16
IN_FRONT = IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM, CPU, PERIOD
IN_TRAILER = TID, TIME, ID, STREAM, CPU, IDENTIFIER
MMAP_DATA, EXCLUDE_CHAIN_USER = 1 << 17, 1 << 22
USER = (1 << 64) - 512  # PERF_CONTEXT_USER
X86, ARM64 = 62, 183
# bits of the registers: frame pointer, stack pointer, program counter
BITS = {X86: (6, 7, 8), ARM64: (29, 31, 32)}
LOWEST = 65536  # vm.mmap_min_addr: no process has its first pages mapped
DEEPEST = 127   # kernel.perf_event_max_stack

# chain: user addresses, None: none was recorded. body: registers and dump
Sample = collections.namedtuple("Sample", "time pid tid ip chain regs stack "
                                          "body")
Other = collections.namedtuple("Other", "time ids data")  # without its trailer


class Capture:
    """records: in order of time; samples: those of them"""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        (_, self.attr_size, self.attrs, size, self.start,
         self.len) = struct.unpack_from("<6Q", self.data, 8)
        if size != self.attr_size:
            raise ValueError("%s: more than one event" % path)
        self.type, = struct.unpack_from("<Q", self.data, self.attrs + 24)
        self.mask, = struct.unpack_from("<Q", self.data, self.attrs + 80)
        if self.type & (READ | RAW | BRANCH) \
                or ~self.type & (IP | TID | TIME | REGS | STACK):
            raise ValueError("%s: samples of type 0x%x" % (path, self.type))
        self.records = sorted(self.read(), key=lambda r: r.time)
        self.samples = [r for r in self.records if isinstance(r, Sample)]

    def read(self):
        at = self.start
        trailer = 8 * sum(bool(self.type & t) for t in IN_TRAILER)
        while at < self.start + self.len:
            kind, _, size = struct.unpack_from("<IHH", self.data, at)
            b = self.data[at:at + size]
            if kind == SAMPLE:
                yield self.sample(b)
            elif kind < KERNELS:
                # TID is first, TIME behind it
                ids, time = struct.unpack_from("<QQ", b, size - trailer)
                yield Other(time, ids, b[:size - trailer])
            at += size

    def sample(self, b):
        front, pos = {}, 8
        for t in IN_FRONT:
            if self.type & t:
                front[t], = struct.unpack_from("<Q", b, pos)
                pos += 8
        chain = None
        if self.type & CHAIN:
            n, = struct.unpack_from("<Q", b, pos)
            words = struct.unpack_from("<%dQ" % n, b, pos + 8)
            pos += 8 + 8 * n
            if USER in words:
                chain = words[words.index(USER) + 1:]
        body, regs, stack = pos, {}, b""
        abi, = struct.unpack_from("<Q", b, pos)
        pos += 8
        if abi:
            have = [i for i in range(64) if self.mask >> i & 1]
            regs = dict(zip(have, struct.unpack_from("<%dQ" % len(have), b,
                                                     pos)))
            pos += 8 * len(have)
        size, = struct.unpack_from("<Q", b, pos)
        pos += 8
        if size:
            used, = struct.unpack_from("<Q", b, pos + size)
            stack = b[pos:pos + min(size, used)]
            pos += size + 8
        return Sample(front[TIME], front[TID] & 0xffffffff, front[TID] >> 32,
                      front[IP], chain, regs, stack, b[body:pos])

    def write(self, path, chains, dumps=False):
        """Writes the samples of chains ({number: addresses}), with these. With
        dumps registers and dump are there too. Both with no address are what
        perf record --call-graph dwarf would have written."""
        kind = IP | TID | TIME | CHAIN | (REGS | STACK if dumps else 0)
        attr = bytearray(self.data[self.attrs:self.attrs + self.attr_size])
        struct.pack_into("<Q", attr, 24, kind)
        flags, = struct.unpack_from("<Q", attr, 40)
        struct.pack_into("<Q", attr, 40, flags | EXCLUDE_CHAIN_USER if dumps
                         else flags & ~(EXCLUDE_CHAIN_USER | MMAP_DATA))
        if not dumps:
            struct.pack_into("<QI", attr, 80, 0, 0)  # registers, bytes
        struct.pack_into("<2Q", attr, len(attr) - 16, 0, 0)  # no ids
        out = bytearray()
        n = -1
        for r in self.records:
            n += isinstance(r, Sample)
            if isinstance(r, Other):
                # perf asks for mappings of data for the sake of dumps
                if dumps or not is_data(r):
                    out += self.other(r, dumps)
            elif n in chains:
                out += self.one(r, chains[n], dumps)
        head = struct.pack("<8s6Q", b"PERFILE2", 104, len(attr), 104,
                           len(attr), 104 + len(attr), len(out))
        with open(path, "wb") as f:
            f.write(head.ljust(104, b"\0") + attr + out)

    @staticmethod
    def other(r, dumps):
        kind, misc, size = struct.unpack_from("<IHH", r.data)
        rest = r.data[8:]
        if kind == MMAP2 and dumps:
            # perf 6.1 unwinds nothing where a mapping tells its build-id
            misc &= ~MISC_BUILD_ID
            rest = rest[:32] + bytes(24) + rest[56:]
        return struct.pack("<IHH", kind, misc, len(rest) + 24) + rest \
            + struct.pack("<QQ", r.ids, r.time)

    @staticmethod
    def one(s, chain, dumps):
        words = (USER,) + tuple(chain) if chain else ()
        body = struct.pack("<QIIQQ%dQ" % len(words), s.ip, s.pid, s.tid,
                           s.time, len(words), *words)
        if dumps:
            body += s.body
        return struct.pack("<IHH", SAMPLE, 2, 8 + len(body)) + body


def is_data(r):
    kind, misc = struct.unpack_from("<IH", r.data)
    return kind in (MMAP, MMAP2) and misc & MISC_DATA


def derive(s, machine=X86):
    """Returns the addresses, None if the walk leaves the dump."""
    if not s.regs:
        return None
    fp, sp, pc = (s.regs[bit] for bit in BITS[machine])
    out = [pc]
    while len(out) < DEEPEST:
        # access_ok(), or a page fault, which ends the walk too
        if fp >= (1 << 47) - 16 or fp < LOWEST \
                or machine == ARM64 and fp & 7:
            break
        if fp < sp or fp + 16 > sp + len(s.stack):
            return None
        before = fp
        fp, back = struct.unpack_from("<QQ", s.stack, fp - sp)
        out.append(back)
        if machine == ARM64 and fp <= before:
            break
    return out

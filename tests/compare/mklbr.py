# mklbr.py - makes a capture with LBR call stacks of one with frame pointers.
"""usage: mklbr.py IN.data PROGRAM OUT.data

Processors that record their calls are rare, and no virtual machine has them.
Each sample gets the branch stack that such a processor would have written: for
each call in the user half of its chain the address of the call and that of the
function. IN is a file with one event; all user code is in PROGRAM, a static
ELF file of 64 bits."""

import bisect
import struct
import sys

SAMPLE = 9
CALLCHAIN, BRANCH = 1 << 5, 1 << 11
RAW = 1 << 10
# PERF_SAMPLE_BRANCH_USER and _CALL_STACK
MODE = 1 << 0 | 1 << 11
FIXED = (1 << 16, 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 6, 1 << 9, 1 << 7,
         1 << 8)
MARKS = (1 << 64) - 4095
USER = (1 << 64) - 512
CALL = 5  # bytes of a direct call


def functions(path):
    """Addresses of the functions, sorted."""
    with open(path, "rb") as f:
        elf = f.read()
    at, = struct.unpack_from("<Q", elf, 40)
    size, n = struct.unpack_from("<HH", elf, 58)
    found = set()
    for i in range(n):
        kind, = struct.unpack_from("<I", elf, at + i * size + 4)
        if kind != 2:
            continue
        off, length = struct.unpack_from("<QQ", elf, at + i * size + 24)
        for sym in range(off, off + length, 24):
            section, addr = struct.unpack_from("<HQ", elf, sym + 6)
            if section:
                found.add(addr)
    return sorted(found)


def branches(chain, known):
    """[(from, to)], the newest first; none without a user half."""
    if USER not in chain:
        return []
    user = [a for a in chain[chain.index(USER) + 1:] if a < MARKS]
    entry = [known[bisect.bisect(known, a) - 1] for a in user]
    return [(user[i + 1] - CALL, entry[i]) for i in range(len(user) - 1)]


def with_branches(rec, sample_type, known):
    """The bytes of a sample with its branch stack."""
    at = 8 + 8 * sum(1 for bit in FIXED if sample_type & bit)
    n, = struct.unpack_from("<Q", rec, at)
    chain = struct.unpack_from("<%dQ" % n, rec, at + 8)
    end = at + 8 + 8 * n
    stack = branches(list(chain), known)
    extra = struct.pack("<Q", len(stack))
    for source, target in stack:
        extra += struct.pack("<QQQ", source, target, 0)
    head = struct.pack("<IHH", SAMPLE, struct.unpack_from("<H", rec, 4)[0],
                       len(rec) + len(extra))
    return head + rec[8:end] + extra + rec[end:]


def make(data, known):
    """The capture with branch stacks."""
    out = bytearray(data)
    attr, _, data_off, size = struct.unpack_from("<QQQQ", data, 24)
    sample_type, = struct.unpack_from("<Q", data, attr + 24)
    assert sample_type & CALLCHAIN and not sample_type & (BRANCH | RAW)
    struct.pack_into("<Q", out, attr + 24, sample_type | BRANCH)
    struct.pack_into("<Q", out, attr + 72, MODE)
    records = b""
    at = data_off
    while at < data_off + size:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        rec = data[at:at + length]
        records += (with_branches(rec, sample_type, known)
                    if kind == SAMPLE else rec)
        at += length
    more = len(records) - size
    struct.pack_into("<Q", out, 48, len(records))
    rest = bytearray(out[data_off + size:])
    features = sum(bin(b).count("1") for b in data[72:104])
    for i in range(features):
        place, = struct.unpack_from("<Q", rest, 16 * i)
        struct.pack_into("<Q", rest, 16 * i, place + more)
    return bytes(out[:data_off]) + records + bytes(rest)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as source:
        made = make(source.read(), functions(sys.argv[2]))
    with open(sys.argv[3], "wb") as target:
        target.write(made)

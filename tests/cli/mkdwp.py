# mkdwp.py - packs .dwo files of DWARF 5 into a .dwp package.
"""usage: mkdwp.py OUT.dwp IN.dwo...

dwp of binutils writes no index for DWARF 5, and llvm-dwp does not end with
files of gcc. The package is as DWARF 5, 7.3.5, has it: the sections of the
files behind each other, and in .debug_cu_index which part is whose. Strings are
not shared: their offsets are moved. ELF of 64 bits, little-endian."""

import struct
import sys

COLUMNS = [(1, ".debug_info.dwo"), (3, ".debug_abbrev.dwo"),
           (4, ".debug_line.dwo"), (6, ".debug_str_offsets.dwo"),
           (8, ".debug_rnglists.dwo")]


def sections(path):
    """{name: bytes}"""
    with open(path, "rb") as f:
        elf = f.read()
    at, = struct.unpack_from("<Q", elf, 40)
    size, n, names = struct.unpack_from("<HHH", elf, 58)
    heads = [struct.unpack_from("<IIQQQQ", elf, at + i * size)
             for i in range(n)]
    text = elf[heads[names][4]:][:heads[names][5]]
    return {text[h[0]:text.index(b"\0", h[0])].decode():
            elf[h[4]:h[4] + h[5]] for h in heads if h[1] != 8}


def moved(offsets, by):
    """A table of string offsets, which has 8 bytes in front."""
    v = struct.unpack_from("<%dI" % ((len(offsets) - 8) // 4), offsets, 8)
    return offsets[:8] + struct.pack("<%dI" % len(v), *(x + by for x in v))


def index(ids, parts):
    """parts: [[(offset, size) of each column] of each unit]"""
    slots = 1
    while slots < 3 * len(ids) // 2 + 1:
        slots *= 2
    table = [(0, 0)] * slots
    for row, unit in enumerate(ids, 1):
        at = unit & (slots - 1)
        while table[at][1]:
            at = (at + (unit >> 32 & (slots - 1) | 1)) & (slots - 1)
        table[at] = unit, row
    out = struct.pack("<HHIII", 5, 0, len(COLUMNS), len(ids), slots)
    out += b"".join(struct.pack("<Q", unit) for unit, _ in table)
    out += b"".join(struct.pack("<I", row) for _, row in table)
    out += b"".join(struct.pack("<I", number) for number, _ in COLUMNS)
    for which in range(2):
        for part in parts:
            out += b"".join(struct.pack("<I", p[which]) for p in part)
    return out


def elf_of(contents):
    """An ELF file with these sections."""
    names = b"\0"
    heads, body = b"\0" * 64, b""
    for name, data in contents + [(".shstrtab", None)]:
        at = len(names)
        names += name.encode() + b"\0"
        data = names if data is None else data
        heads += struct.pack("<IIQQQQIIQQ", at, 3 if data is names else 1, 0,
                             0, 64 + len(body), len(data), 0, 0, 1, 0)
        body += data
    return (b"\x7fELF\2\1\1" + b"\0" * 9
            + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64 + len(body), 0,
                          64, 0, 0, 64, len(contents) + 2, len(contents) + 1)
            + body + heads)


def main(out, paths):
    whole = {name: b"" for _, name in COLUMNS}
    strings, ids, parts = b"", [], []
    for path in paths:
        s = sections(path)
        unit, = struct.unpack_from("<Q", s[".debug_info.dwo"], 12)
        ids.append(unit)
        key = ".debug_str_offsets.dwo"
        s[key] = moved(s[key], len(strings))
        strings += s[".debug_str.dwo"]
        parts.append([(len(whole[name]), len(s.get(name, b"")))
                      for _, name in COLUMNS])
        for name in whole:
            whole[name] += s.get(name, b"")
    with open(out, "wb") as f:
        f.write(elf_of([(".debug_cu_index", index(ids, parts)),
                        (".debug_str.dwo", strings)]
                       + [(n, d) for n, d in whole.items() if d]))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])

# lines.py - programs whose line tables make a reader take memory.
"""usage: lines.py FILE KIND N [UNITS]

Writes an ELF program of UNITS units of 16 bytes of code from 0x401000 on, each
with a line table of its own: rows, N of them; names, N files in a folder with a
name of 4 N bytes; define, N files that the program of the table adds."""

import struct
import sys

TEXT = 0x401000
HEAD = bytes([1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
ABBREV = bytes([1, 17, 0, 16, 23, 17, 1, 18, 7, 0, 0, 0])


def table(kind, n, addr):
    """One of DWARF 4. Opcode 18 makes a row, and neither moves on."""
    folder, files, more = b"", b"a.c\0\0\0\0", b""
    if kind != "rows":
        folder = b"d" * (4 * n) + b"\0"
    if kind == "rows":
        more = b"\x12" * n
    elif kind == "names":
        files = b"f\0\1\0\0" * n
    else:
        more = b"\0\6\3f\0\1\0\0" * n
    head = HEAD + folder + b"\0" + files + b"\0"
    body = b"\0\x09\2" + struct.pack("<Q", addr) + b"\x12" + more + b"\2\x10\0\1\1"
    rest = struct.pack("<HI", 4, len(head)) + head + body
    return struct.pack("<I", len(rest)) + rest


def main():
    path, kind, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
    units = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    info, lines = b"", b""
    for i in range(units):
        addr = TEXT + 16 * i
        unit = struct.pack("<HIBBIQQ", 4, 0, 8, 1, len(lines), addr, 16)
        info += struct.pack("<I", len(unit)) + unit
        lines += table(kind, n, addr)
    sections = [("", 0, b""), (".text", 1, bytes(4096)), (".debug_abbrev", 1, ABBREV),
                (".debug_info", 1, info), (".debug_line", 1, lines),
                (".symtab", 2, bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, TEXT, 4096)),
                (".strtab", 3, b"\0run\0")]
    names = b"".join(s[0].encode() + b"\0" for s in sections) + b".shstrtab\0"
    sections.append((".shstrtab", 3, names))
    at, out, heads = 4096, b"", b""
    for name, kind, data in sections:
        text = name == ".text"
        heads += struct.pack("<IIQQQQIIQQ", names.index(name.encode() + b"\0"), kind,
                             6 if text else 0, TEXT if text else 0, at if data else 0,
                             len(data), 6 if kind == 2 else 0, 1 if kind == 2 else 0, 1,
                             24 if kind == 2 else 0)
        at += len(data)
        out += data
    elf = struct.pack("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 2, 62, 1, TEXT, 64,
                      at, 0, 64, 56, 1, 64, len(sections), len(sections) - 1)
    load = struct.pack("<IIQQQQQQ", 1, 5, 4096, TEXT, TEXT, 4096, 4096, 4096)
    with open(path, "wb") as f:
        f.write((elf + load).ljust(4096, b"\0") + out + heads)


main()

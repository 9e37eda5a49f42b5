# bounds.py - inputs of which each byte makes a reader take much memory.
"""usage: bounds.py KIND N [UNITS]

Writes c.data, a capture of two samples of process 100 in ./app, and

rows, names, define  app, of UNITS units of 16 bytes of code with a line table
                     each: N rows; N files in a folder with a name of 4 N
                     bytes; N files that the program of the table adds
origins              app with N inlined functions in each other, each of
                     which is the next one, and the last one the first
symbols              app with N symbols
unwind, functions    app with N rows for unwinding, of one function; with N
                     functions
map, jitdump         perf-100.map, jit-100.dump with N functions
events               c.data has N descriptions of events"""

import os
import struct
import sys

TEXT, EH = 0x401000, 0x40000000
LINES = bytes([1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
ABBREV = bytes([1, 17, 0, 16, 23, 17, 1, 18, 7, 0, 0, 0])
# a unit, a function, an inlined function; with a range and an origin
NESTED = (bytes([1, 17, 1, 16, 23, 17, 1, 18, 7, 0, 0]) +
          bytes([2, 0x2e, 1, 17, 1, 18, 7, 0x31, 0x13, 0, 0]) +
          bytes([3, 0x1d, 1, 17, 1, 18, 7, 0x31, 0x13, 0, 0, 0]))
CIE = struct.pack("<II", 20, 0) + b"\1zR\0\1\x78\x10\1\x1b\x0c\7\x08\x90\1\0\0"


def capture(path, n=1):
    """Of perf: n descriptions of events, a mapping, samples with two frames."""
    def record(kind, misc, body):
        return struct.pack("<IHH", kind, misc, 8 + len(body)) + body
    app = os.path.abspath("app").encode() + b"\0"
    app += bytes(-len(app) % 8)
    data = record(1, 2, struct.pack("<IIQQQ", 100, 100, TEXT, 4096, 4096) + app)
    for i in range(3):
        ip = TEXT + 1 + 16 * i
        data += record(9, 2, struct.pack("<QIIQ4Q", ip, 100, 100, 1000 + i, 3,
                                         (1 << 64) - 512, ip, TEXT + 8))
    attr = b"".join(struct.pack("<IIQQQQQ", 1, 112, i, 4000, 0x27, 0, 0) + bytes(80)
                    for i in range(n))
    with open(path, "wb") as f:
        f.write(struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, 128, 104, len(attr),
                            104 + len(attr), len(data), 0, 0) + bytes(32) + attr + data)


def program(sections):
    """name: contents, of an ELF file with a page of code."""
    all_of = [("", b""), (".text", bytes(4096)), *sections.items()]
    if ".symtab" not in sections:
        all_of += [(".symtab", symbol(1)), (".strtab", b"\0run\0")]
    names = b"".join(n.encode() + b"\0" for n, _ in all_of) + b".shstrtab\0"
    all_of.append((".shstrtab", names))
    kinds = {"": 0, ".symtab": 2, ".strtab": 3, ".shstrtab": 3}
    at, out, heads, eh = 4096, b"", b"", 0
    for i, (name, data) in enumerate(all_of):
        addr = {".text": TEXT, ".eh_frame": EH}.get(name, 0)
        flags = {".text": 6, ".eh_frame": 2}.get(name, 0)
        eh = at if name == ".eh_frame" else eh
        is_sym = name == ".symtab"
        heads += struct.pack("<IIQQQQIIQQ", names.index(name.encode() + b"\0"),
                             kinds.get(name, 1), flags, addr, at if data else 0, len(data),
                             i + 1 if is_sym else 0, is_sym, 1, 24 if is_sym else 0)
        at += len(data)
        out += data
    elf = struct.pack("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 2, 62, 1, TEXT, 64,
                      at, 0, 64, 56, 1 + (eh > 0), 64, len(all_of), len(all_of) - 1)
    load = struct.pack("<IIQQQQQQ", 1, 5, 4096, TEXT, TEXT, 4096, 4096, 4096)
    size = len(sections.get(".eh_frame", b""))
    load += struct.pack("<IIQQQQQQ", 1, 4, eh, EH, EH, size, size, 1) if eh else b""
    with open("app", "wb") as f:
        f.write((elf + load).ljust(4096, b"\0") + out + heads)


def symbol(name, at=0):
    return bytes(0 if at else 24) + struct.pack("<IBBHQQ", name, 0x12, 0, 1, TEXT + at, 4096)


def line_table(kind, n, addr):
    """One of DWARF 4. Opcode 18 makes a row, and neither moves on."""
    folder, files, more = b"", b"a.c\0\0\0\0", b""
    if kind == "rows":
        more = b"\x12" * n
    else:
        folder = b"d" * (4 * n) + b"\0"
    if kind == "names":
        files = b"f\0\1\0\0" * n
    elif kind == "define":
        more = b"\0\6\3f\0\1\0\0" * n
    head = LINES + folder + b"\0" + files + b"\0"
    body = b"\0\x09\2" + struct.pack("<Q", addr) + b"\x12" + more + b"\2\x10\0\1\1"
    rest = struct.pack("<HI", 4, len(head)) + head + body
    return struct.pack("<I", len(rest)) + rest


def lines(kind, n, units):
    info, table = b"", b""
    for i in range(units):
        unit = struct.pack("<HIBBIQQ", 4, 0, 8, 1, len(table), TEXT + 16 * i, 16)
        info += struct.pack("<I", len(unit)) + unit
        table += line_table(kind, n, TEXT + 16 * i)
    program({".debug_abbrev": ABBREV, ".debug_info": info, ".debug_line": table})


def origins(n):
    first, size = 32, 21
    info = struct.pack("<HIBBIQQ", 4, 0, 8, 1, 0, TEXT, 4096)
    info += b"".join(struct.pack("<BQQI", 3 if i else 2, TEXT, 4096,
                                 first + size * ((i + 1) % n)) for i in range(n))
    info += bytes(n + 1)
    program({".debug_abbrev": NESTED, ".debug_info": struct.pack("<I", len(info)) + info,
             ".debug_line": line_table("rows", 3, TEXT)})


def symbols(n):
    names = [b"%x" % i for i in range(n)]
    at, out = 1, []
    for i, name in enumerate(names):
        out.append(symbol(at, i % 4096))
        at += len(name) + 1
    program({".symtab": b"".join(out), ".strtab": b"\0" + b"\0".join(names) + b"\0"})


def frames(functions, size, steps):
    """.eh_frame of functions, each with these steps."""
    out, at = [CIE], len(CIE)
    for i in range(functions):
        one = struct.pack("<IiI", at + 4, TEXT + i - EH - at - 8, size) + b"\0" + steps
        one += bytes(-(len(one) + 4) % 8)
        out.append(struct.pack("<I", len(one)) + one)
        at += len(out[-1])
    program({".eh_frame": b"".join(out) + bytes(4)})


def perf_map(n):
    with open("perf-100.map", "w", encoding="ascii") as f:
        f.write("".join("%x 10 %x\n" % (0x10000000 + 16 * i, i) for i in range(n)))


def jitdump(n):
    with open("jit-100.dump", "wb") as f:
        f.write(struct.pack("<6I2Q", 0x4A695444, 1, 40, 62, 0, 100, 1, 0))
        for i in range(n):
            name = b"%x\0" % i
            f.write(struct.pack("<IIQII4Q", 0, 57 + len(name), 1 + i, 100, 100,
                                0x10000000 + i, 0x10000000 + i, 1, i) + name + b"\xc3")


def main():
    kind, n = sys.argv[1], int(sys.argv[2])
    capture("c.data", n if kind == "events" else 1)
    if kind == "symbols":
        symbols(n)
    elif kind == "origins":
        origins(n)
    elif kind == "unwind":
        frames(1, 1 << 28, b"\x41\x0e\x10\x41\x0e\x18" * (n // 2))
    elif kind == "functions":
        frames(n, 1, b"")
    elif kind == "map":
        perf_map(n)
    elif kind == "jitdump":
        jitdump(n)
    elif kind != "events":
        lines(kind, n, int(sys.argv[3]) if len(sys.argv) > 3 else 1)


main()

# mkdwarf.py - makes programs with debug information that no compiler writes.
"""A program is one function of code, WORK bytes at ADDR, and sections of DWARF 5
given as bytes: program() has the assembler put them into an ELF file. Die makes
.debug_info and .debug_abbrev of a tree, in which a value may be another Die, also
one above or itself; what it cannot say is done to the bytes afterwards."""

import struct
import subprocess

ADDR = 0x401000
WORK = 0x8000
SECTIONS = ("info", "abbrev", "line", "str", "ranges", "rnglists", "addr",
            "str_offsets", "line_str", "aranges")

# tags
UNIT, FUNCTION, INLINED, BLOCK, SPACE, CLASS, PARTIAL, IMPORTED = (
    0x11, 0x2e, 0x1d, 0x0b, 0x39, 0x02, 0x3c, 0x3d)
# attributes
SIBLING, NAME, LINES, LOW, HIGH, LANGUAGE, FOLDER, IMPORT = (
    0x01, 0x03, 0x10, 0x11, 0x12, 0x13, 0x1b, 0x18)
ORIGIN, SPECIFICATION, RANGES, CALL_FILE, CALL_LINE, DECLARED = (
    0x31, 0x47, 0x55, 0x58, 0x59, 0x3c)
# forms
F_ADDR, F_DATA8, F_STRING, F_REF, F_OFFSET, F_FLAG, F_STRP, F_UDATA = (
    0x01, 0x07, 0x08, 0x13, 0x17, 0x19, 0x0e, 0x0f)


def uleb(v):
    out = b""
    while v > 127:
        out += bytes((v & 127 | 128,))
        v >>= 7
    return out + bytes((v,))


class Die:
    """attrs: (attribute, form, value)"""

    def __init__(self, tag, *attrs, children=()):
        self.tag, self.attrs, self.children = tag, list(attrs), list(children)
        self.at = 0


def value(form, v):
    if form == F_FLAG:
        return b""
    if form in (F_ADDR, F_DATA8):
        return struct.pack("<Q", v & (1 << 64) - 1)
    if form == F_STRING:
        return v + b"\0"
    if form == F_UDATA:
        return uleb(v)
    return struct.pack("<I", (v.at if isinstance(v, Die) else v) & 0xffffffff)


def dies(root):
    """(.debug_info, .debug_abbrev) of a unit of DWARF 5."""
    shapes, body = {}, bytearray()

    def put():
        # a list in place of calls: the tree may be deep
        body.clear()
        todo = [root]
        while todo:
            die = todo.pop()
            if die is None:
                body.append(0)
                continue
            die.at = 12 + len(body)
            shape = (die.tag, bool(die.children),
                     tuple((a, f) for a, f, _ in die.attrs))
            body.extend(uleb(shapes.setdefault(shape, len(shapes) + 1)))
            for _, form, v in die.attrs:
                body.extend(value(form, v))
            if die.children:
                todo.append(None)
                todo.extend(reversed(die.children))

    put()  # the first time tells the offsets
    put()
    info = struct.pack("<IHBBI", 8 + len(body), 5, 1, 8, 0) + body
    abbrev = b"".join(
        uleb(n) + uleb(tag) + bytes((has,)) +
        b"".join(uleb(a) + uleb(f) for a, f in attrs) + b"\0\0"
        for (tag, has, attrs), n in shapes.items()) + b"\0"
    return info, abbrev


def lines(program, files=(b"a.c", b"a.c"), header=None):
    """.debug_line of DWARF 5; header: what is behind the two lengths."""
    head = header if header is not None else struct.pack(
        "<BBBbBB12B", 1, 1, 1, -5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1) + (
        b"\1\1\x08\1/src\0" + b"\1\1\x08" + uleb(len(files)) +
        b"".join(f + b"\0" for f in files))
    rest = struct.pack("<HBBI", 5, 8, 0, len(head)) + head + program
    return struct.pack("<I", len(rest)) + rest


def line_rows(n, step=1):
    """Sets the address, and adds n rows."""
    return (b"\0\x09\2" + struct.pack("<Q", ADDR) +
            (b"\2" + uleb(step) + b"\3\1\1") * n + b"\2\1\0\1\1")


def unit(*children, more=()):
    return Die(UNIT, (NAME, F_STRING, b"a.c"), (LANGUAGE, F_UDATA, 0x21),
               (LOW, F_ADDR, ADDR), (HIGH, F_DATA8, WORK),
               (LINES, F_OFFSET, 0), *more, children=children)


def function(name, *children, low=ADDR, size=WORK, more=()):
    return Die(FUNCTION, (NAME, F_STRING, name), (LOW, F_ADDR, low),
               (HIGH, F_DATA8, size), *more, children=children)


def inlined(origin, *children, low=ADDR, size=WORK):
    return Die(INLINED, (ORIGIN, F_REF, origin), (LOW, F_ADDR, low),
               (HIGH, F_DATA8, size), (CALL_FILE, F_UDATA, 0),
               (CALL_LINE, F_UDATA, 7), children=children)


def abstract(name):
    return Die(FUNCTION, (NAME, F_STRING, name))


def nested(n, size=WORK):
    """n functions inlined in each other."""
    origins = [abstract(b"f%d" % i) for i in range(n)]
    inner = []
    for i in reversed(range(n)):
        inner = [inlined(origins[i], *inner, size=size)]
    return unit(*origins, function(b"work", *inner))


def program(path, **sections):
    """Writes an ELF file with code and these sections; returns nothing."""
    text = [".globl _start, work", ".type work, @function", "_start:", "work:",
            ".skip %d, 0x90" % WORK, ".size work, .-work"]
    for name, data in sections.items():
        with open(path + "." + name, "wb") as f:
            f.write(data)
        text += ['.section .debug_%s,"",@progbits' % name,
                 '.incbin "%s.%s"' % (path, name)]
    subprocess.run(
        ["cc", "-nostdlib", "-static", "-Wl,-Ttext=%#x" % ADDR, "-Wl,--build-id",
         "-x", "assembler", "-o", path, "-"],
        input="\n".join(text) + "\n", encoding="ascii", check=True)


def capture(n=16):
    """Lines of mkcap for a capture that ran it, n places of it, as /opt/work."""
    yield "event cpu-clock period=1000"
    yield "comm pid=5 name=work time=0 cpu=0"
    yield ("mmap pid=5 start=%#x len=%#x pgoff=0x1000 path=/opt/work time=1 cpu=0"
           % (ADDR, WORK))
    for i in range(n):
        yield "sample pid=5 tid=5 cpu=0 time=%d u=%#x" % (
            100 + i, ADDR + WORK * i // n)

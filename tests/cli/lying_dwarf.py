# lying_dwarf.py - debug information that is well-formed and lies: names, lines and inlined functions of it.
"""usage: lying_dwarf.py PROGRAM MKCAP DIR [WORD...]

Makes a program with one function and DWARF by tests/mkdwarf.py, and a capture of
it. `ingest`, `symbolize` and commands that show lines must end as lying.py has
it. The sound one must name the inlined functions: else nothing was read."""

import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import lying  # noqa: E402
from mkdwarf import *  # noqa: E402, F403

HUGE = (1 << 63) - 1
WHOLE = nested(3)
LINES = lines(line_rows(1000))
MIXES = lying.MIXES


def tree(root, line=LINES, **more):
    info, abbrev = dies(root)
    return {"info": info, "abbrev": abbrev, "line": line, **more}


def several(first, *units):
    """Units behind each other, with one table of abbreviations each."""
    info, abbrev = b"", b""
    for root in (first, *units):
        one, shapes = dies(root)
        info += one[:8] + struct.pack("<I", len(abbrev)) + one[12:]
        abbrev += shapes
    return {"info": info, "abbrev": abbrev, "line": LINES}


def to_itself(attr):
    die = abstract(b"a")
    die.attrs.append((attr, F_REF, die))
    return unit(die, function(b"work", inlined(die)))


def in_a_circle(attr, n):
    all_of_it = [Die(FUNCTION) for _ in range(n)]
    for i, die in enumerate(all_of_it):
        die.attrs.append((attr, F_REF, all_of_it[(i + 1) % n]))
    return unit(*all_of_it, function(b"work", inlined(all_of_it[0])))


def of_its_parent():
    die = inlined(0)
    work = function(b"work", die)
    die.attrs[0] = (ORIGIN, F_REF, work)
    return unit(work)


def wide(n):
    """Many, each over all of the code."""
    a = abstract(b"a")
    return unit(a, function(b"work", *(inlined(a) for _ in range(n))))


def staircase(n):
    """Many functions that overlap."""
    return unit(*(function(b"w%d" % i, low=ADDR + i % WORK, size=WORK - i % WORK)
                  for i in range(n)))


def spaces(n, length, functions):
    """Functions of C++ that are far inside of spaces with long names."""
    inner = [Die(FUNCTION, (NAME, F_STRING, b"f%d" % i), (LOW, F_ADDR, ADDR + 8 * i),
                 (HIGH, F_DATA8, 8)) for i in range(functions)]
    for i in range(n):
        inner = [Die(SPACE, (NAME, F_STRING, b"n" * length), children=inner)]
    return unit(*inner)


def shared_spaces(n, length, functions):
    """The same with names that are one text."""
    inner = [Die(FUNCTION, (NAME, F_STRING, b"f%d" % i), (LOW, F_ADDR, ADDR + 8 * i),
                 (HIGH, F_DATA8, 8)) for i in range(functions)]
    for i in range(n):
        inner = [Die(SPACE, (NAME, F_STRP, 0), children=inner)]
    return tree(unit(*inner), str=b"n" * length + b"\0")


def ranges(*pairs, repeat=1):
    """.debug_rnglists: each pair as DW_RLE_start_end."""
    body = b"".join(b"\6" + struct.pack("<QQ", a & (1 << 64) - 1, b & (1 << 64) - 1)
                    for a, b in pairs) * repeat + b"\0"
    return struct.pack("<IHBBI", 8 + len(body), 5, 8, 0, 0) + body


def with_ranges(table, at=12):
    a = abstract(b"a")
    work = Die(FUNCTION, (NAME, F_STRING, b"work"), (RANGES, F_OFFSET, at),
               children=[Die(INLINED, (ORIGIN, F_REF, a), (RANGES, F_OFFSET, at))])
    return tree(unit(a, work), rnglists=table)


def rows(program, **more):
    return tree(WHOLE, line=lines(program, **more))


def head(**other):
    """A header of a line table with other numbers."""
    v = {"least": 1, "ops": 1, "stmt": 1, "base": -5, "range": 14, "codes": 13}
    v.update(other)
    return struct.pack("<BBBbBB", *v.values()) + bytes(
        (0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)[:max(v["codes"] - 1, 0)]) + (
        b"\1\1\x08\1/src\0\1\1\x08\2a\0b\0")


def cut(sections, name, to):
    return {**sections, name: sections[name][:to]}


def poked(sections, name, at, form, v):
    data = bytearray(sections[name])
    struct.pack_into(form, data, at, v)
    return {**sections, name: bytes(data)}


def mixed(r):
    """Some bytes of some sections are others."""
    out = tree(nested(20))
    for _ in range(r.randrange(1, 12)):
        name = r.choice(list(out))
        at = r.randrange(len(out[name]))
        out = poked(out, name, at, "B", r.choice((0, 1, 127, 128, 255,
                                                  r.randrange(256))))
    return out


def big_uleb(n):
    return b"\xff" * n + b"\1"


def lies():
    """(name, sections), or what makes those if that takes long: few are asked for"""
    sound = tree(WHOLE)
    yield "an origin that is itself", tree(to_itself(ORIGIN))
    yield "a specification that is itself", tree(to_itself(SPECIFICATION))
    for n in (2, 17, 3000):
        yield "origins in a circle of %d" % n, lambda: tree(in_a_circle(ORIGIN, n))
        yield "specifications in a circle of %d" % n, tree(
            in_a_circle(SPECIFICATION, n))
    yield "inlined into what it is inlined in", tree(of_its_parent())
    for n in (300, 5000, 100000):
        yield "inlined %d deep" % n, lambda: tree(nested(n))
        yield "inlined %d times at one place" % n, lambda: tree(wide(n))
        yield "%d functions that overlap" % n, lambda: tree(staircase(n))
    yield "an origin outside", tree(unit(function(b"work", inlined(0x7fffffff))))
    yield "an origin in the middle", tree(unit(abstract(b"abcdef"), function(
        b"work", inlined(14))))
    yield "spaces of long names", lambda: tree(spaces(60, 60000, 500))
    yield "spaces of a shared long name", lambda: shared_spaces(63, 1 << 20, 500)
    yield "many functions in spaces of a long name", lambda: shared_spaces(63, 4000, 4000)
    yield "a name of 16 MB", tree(unit(Die(
        FUNCTION, (NAME, F_STRING, b"n" * (1 << 24)), (LOW, F_ADDR, ADDR),
        (HIGH, F_DATA8, WORK))))
    yield "a code of negative size", tree(unit(function(b"work", size=-1)))
    yield "a code up to 2^64", tree(unit(function(b"work", low=-8, size=7)))
    yield "a code that wraps", tree(unit(function(b"work", low=ADDR, size=-ADDR)))
    yield "ten thousand units", lambda: several(*(nested(2) for _ in range(10000)))
    # ranges
    yield "ranges backwards", with_ranges(ranges((ADDR + 64, ADDR)))
    yield "ranges of everything", with_ranges(ranges((0, -1)))
    yield "a million ranges", with_ranges(ranges((ADDR, ADDR + WORK), repeat=1000000))
    yield "ranges without an end", with_ranges(ranges((ADDR, ADDR + 8))[:-1])
    yield "ranges by an index of none", with_ranges(
        struct.pack("<IHBBI", 14, 5, 8, 0, 0) + b"\1" + big_uleb(4))
    yield "ranges outside", with_ranges(ranges((ADDR, ADDR + 8)), at=0x7ffffff0)
    yield "ranges with offsets without number", with_ranges(
        struct.pack("<IHBBI", 0x7fffffff, 5, 8, 0, 0x3fffffff) + bytes(64))
    # line tables
    at = b"\0\x09\2" + struct.pack("<Q", ADDR)
    yield "lines backwards", rows((at + b"\2\x08\3\1\1") * 3000 + b"\0\1\1")
    yield "rows of one address", rows(line_rows(500000, 0))
    yield "an address for each row", rows((at + b"\1") * 100000 + b"\0\1\1")
    yield "rows that never end", rows(at + b"\2\1\1" * 100000)
    yield "a sequence of none", rows(b"\0\1\1" * 200000)
    yield "files by the thousand", rows(line_rows(1000), files=[b"f"] * 100000)
    yield "a file that is not there", rows(at + b"\4" + big_uleb(4) + b"\1\2\1\0\1\1")
    yield "lines of 2^64", rows(at + b"\3" + big_uleb(8) + b"\1\2\1\0\1\1")
    yield "steps of 2^64", rows(at + b"\2" + big_uleb(8) + b"\1\0\1\1")
    yield "an operation that is too long", rows(at + b"\0" + big_uleb(8) + b"\2")
    for name, other in (("range", 0), ("range", 255), ("ops", 0), ("ops", 255),
                        ("codes", 0), ("codes", 1), ("least", 0), ("base", -128)):
        yield "%s %d of lines" % (name, other), rows(
            line_rows(1000), header=head(**{name: other}))
    yield "formats of files without number", rows(
        line_rows(1000), header=head()[:17] + b"\xff" + b"\1\x08" * 255 + big_uleb(8))
    yield "folders without number", rows(
        line_rows(10), header=head()[:17] + b"\1\1\x08" + big_uleb(8) + b"a\0")
    yield "files that have no size", rows(
        line_rows(10), header=head()[:17] + b"\0" + big_uleb(4) + b"\0" + big_uleb(4))
    yield "lines of a huge length", poked(sound, "line", 0, "<I", 0xffffffef)
    yield "lines of 64 bits", poked(sound, "line", 0, "<I", 0xffffffff)
    # abbreviations
    yield "no abbreviations", {**sound, "abbrev": b"\0"}
    yield "an abbreviation of 2^64", {**sound, "abbrev": b"".join((
        big_uleb(8), sound["abbrev"]))}
    yield "one abbreviation again and again", {**sound, "abbrev":
                                               b"\1\x2e\1\0\0" * 300000 + b"\0"}
    yield "attributes without end", {**sound, "abbrev":
                                     b"\1\x11\1" + b"\3\x19" * 1000000}
    yield "a form in a form in a form", {
        **sound, "abbrev": b"\1\x11\1\3\x16\0\0\0",
        "info": sound["info"][:12] + b"\1" + b"\x16" * 100000}
    yield "children without end", {
        **sound, "abbrev": b"\1\x11\1\0\0\2\x0b\1\0\0\0",
        "info": struct.pack("<IHBBI", 9 + 3000000, 5, 1, 8, 0) + b"\1" +
        b"\2" * 3000000}
    yield "empty children", {
        **sound, "abbrev": b"\1\x11\1\0\0\2\x0b\0\0\0\0",
        "info": struct.pack("<IHBBI", 9 + 3000000, 5, 1, 8, 0) + b"\1" +
        b"\2" * 3000000}
    yield "a sibling that is itself", tree(unit(Die(
        FUNCTION, (SIBLING, F_REF, 12), (NAME, F_STRING, b"a"),
        children=[abstract(b"b")]), function(b"work")))
    yield "a block of 2^32 bytes", tree(unit(Die(
        FUNCTION, (NAME, 0x04, 0xffffffff)), function(b"work")))
    for v in (0, 1, 0x7fffffff, 0xfffffff0, 0xffffffff):
        yield "a unit of %d bytes" % v, poked(sound, "info", 0, "<I", v)
        yield "abbreviations at %d" % v, poked(sound, "info", 8, "<I", v)
    for v in (0, 1, 6, 65535):
        yield "version %d" % v, poked(sound, "info", 4, "<H", v)
        yield "kind %d of a unit" % v, poked(sound, "info", 6, "B", v & 255)
        yield "addresses of %d bytes" % v, poked(sound, "info", 7, "B", v & 255)
    partial = Die(PARTIAL)
    partial.children = [Die(IMPORTED, (IMPORT, F_REF, partial)) for _ in range(9)]
    yield "an import of itself", tree(unit(partial, function(b"work")))
    for name in sound:
        for part in (1, 11, len(sound[name]) // 2, len(sound[name]) - 1):
            yield "%s cut at %d" % (name, part), cut(sound, name, part)
    for i in range(5 * MIXES):
        yield "mix %d" % i, lambda: mixed(random.Random(i))


def attempt(name, sections, first=0, n=3):
    """n of the three readers read it, from the first one on."""
    subprocess.run(["rm", "-rf", "fs", "d.db"], check=True)
    os.makedirs("fs/opt")
    program("fs/opt/work", **sections)
    bad = lying.wrong(["ingest", "-q", "-f", "--no-symbols", "-o", "d.db", "d.data"],
                      (0,))
    readers = (["report", "d.db"], ["script", "d.db"],
               ["annotate", "--symfs", "fs", "d.db", "work"])
    for args in (["symbolize", "--no-cache", "--symfs", "fs", "d.db"],
                 *[readers[(first + i) % 3] for i in range(n)]):
        bad = bad or lying.wrong(args, (0, 1, 3))
    print("%sok dwarf: %s%s" % ("not " if bad else "", name,
                                "\n# " + bad if bad else ""), flush=True)


def main():
    lying.set_program(sys.argv[1])
    mkcap = os.path.abspath(sys.argv[2])
    os.chdir(sys.argv[3])
    with open("d.txt", "w", encoding="ascii") as f:
        f.writelines(line + "\n" for line in capture())
    subprocess.run([mkcap, "d.txt", "d.data"], check=True)
    attempt("sound", tree(WHOLE))
    said = subprocess.run([lying.PROGRAM, "script", "d.db"], check=False,
                          capture_output=True).stdout
    print("%sok dwarf: the sound one is read" % (
        "" if b"f2+0x0 (inlined)" in said else "not "))
    # without LONG every twentieth, another one of each commit, by one of the readers
    share = 1 if lying.SHARE == 1 or sys.argv[4:] else 20
    for i, (name, sections) in enumerate(lies()):
        if i % share == lying.TURN % share and (not sys.argv[4:] or
                                                any(w in name for w in sys.argv[4:])):
            if callable(sections):
                sections = sections()
            attempt(name, sections, i // share + lying.TURN, 3 if share == 1 else 1)


main()

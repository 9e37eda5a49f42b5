# members.py - bundles with odd members: each is read or refused, and nothing is left.
"""usage: members.py PROGRAM DATABASE

Types, names, sizes and headers of tar that no bundle has, in front of the
database or in its place; gzip with thousands of empty members; without LONG a quarter of them, another one of
each commit. The program must end by itself with 0 or 1 and one message, and leave no copy in TMPDIR."""
import gzip
import os
import random
import subprocess
import sys

PROGRAM, DATABASE = sys.argv[1:]
DB = open(DATABASE, "rb").read()
END = bytes(1024)


def padded(data):
    return data + bytes(-len(data) % 512)


def head(name, size, kind=b"0", field=None):
    h = bytearray(512)
    h[:len(name)] = name
    h[100:108], h[108:116], h[116:124] = b"0000644\0", b"0000000\0", b"0000000\0"
    h[124:136] = field or b"%011o\0" % size
    h[136:148], h[148:156], h[156:157], h[257:265] = b"00000000000\0", b" " * 8, kind, b"ustar\00000"
    h[148:156] = b"%06o\0 " % sum(h)
    return bytes(h)


def pax(key, value, kind=b"x"):
    record = b" " + key + b"=" + value + b"\n"
    n = len(record) + 1
    while len(str(n)) + len(record) != n:
        n = len(str(n)) + len(record)
    return head(b"p", n, kind) + padded(b"%d" % n + record)


def members():
    good = head(b"run.db", len(DB)) + padded(DB)
    for kind in b"123456 7 V M D Z \0".replace(b" ", b""):
        yield head(b"run.db", 0, bytes([kind])) + good
        yield head(b"run.db", len(DB), bytes([kind])) + padded(DB)
    for name in (b"./run.db", b"../run.db", b"/run.db", b".db", b"run.db\n", b"\xff.db", b"\x1b[31m.db"):
        yield head(name, len(DB)) + padded(DB)
    for field in (b"\x80\0\0\0\x7f" + b"\xff" * 7, b"\xff" * 12, b"77777777777\0", b"-0000000001\0", b"z" * 12):
        yield head(b"run.db", 0, field=field) + padded(DB)
        yield head(b"x", 0, field=field) + good
    ranges = b",".join(b"%d,%d" % (10 * i, 5) for i in range(10000))
    for key, value in ((b"size", b"9" * 20), (b"size", b"-1"), (b"path", b"a" * 900000), (b"GNU.sparse.map", ranges),
                       (b"GNU.sparse.size", b"9223372036854775807"), (b"mtime", b"9" * 24), (b"path", b"\xff.db")):
        yield pax(key, value) + good
        yield pax(key, value, b"g") + good
    yield head(b"././@LongLink", 300000, b"L") + padded(b"a" * 299996 + b".db\0") + good
    yield head(b"././@LongLink", 0, b"L", b"\x80\0\0\0" + b"\0\0\1\0\0\0\0\0") + good
    yield (head(b"././@LongLink", 8, b"L") + padded(b"q.db\0\0\0\0")) * 5000 + good
    yield pax(b"path", b"a.db") * 5000 + good
    yield b"".join(head(b"f%d" % i, 0) for i in range(20000)) + good
    draw = random.Random(5)
    for _ in range(40):
        some = bytearray(good)
        for _ in range(draw.randint(1, 8)):
            some[draw.randrange(600)] = draw.randrange(256)
        yield bytes(some)


def main():
    bad = []
    every = [("odd.tar", m + END) for m in members()]
    every += [("odd.tar.gz", gzip.compress(data, 1)) for _, data in every[:60]]
    every.append(("odd.tar.gz", gzip.compress(b"") * 100000 + every[-1][1]))
    last = every.pop()
    if not os.environ.get("LONG"):
        every = every[int(os.environ.get("SHARE_OF", "0")) % 4::4]
    every.append(last)
    for i, (name, data) in enumerate(every):
        with open(name, "wb") as f:
            f.write(data)
        try:
            run = subprocess.run([PROGRAM, "report", name], capture_output=True, timeout=60, check=False)
            if run.returncode not in (0, 1) or b"runtime error" in run.stderr or os.listdir(os.environ["TMPDIR"]):
                bad.append("%d: status %d, %r" % (i, run.returncode, run.stderr[:200]))
        except subprocess.TimeoutExpired:
            bad.append("%d has no end" % i)
    os.unlink("odd.tar")
    os.unlink("odd.tar.gz")
    print("%s %d bundles with odd members end" % ("not ok" if bad else "ok", len(every)))
    print("".join("# %s\n" % b for b in bad), end="")


main()

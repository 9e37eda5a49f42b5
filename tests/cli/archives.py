# archives.py - archives of others: damaged, hostile and odd ones.
"""usage: archives.py PROGRAM CAPTURE

Each is read or refused with one message, and leaves nothing in TMPDIR: names
that lead elsewhere, links, bombs in bombs, members that share their bytes, cuts,
flips, and thousands of members. Of a cut archive what is in front of the cut is
read, and the damage is told."""
import bz2
import gzip
import io
import lzma
import os
import random
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib

PROGRAM, CAPTURE = sys.argv[1:]
DATA = open(CAPTURE, "rb").read()
TMP = os.environ["TMPDIR"]


def ok(name, good, why=""):
    print("%s %s" % ("ok" if good else "not ok", name))
    if not good:
        print("# %s" % (why,))


def run(name, data, *more):
    with open(name, "wb") as f:
        f.write(data)
    r = subprocess.run([PROGRAM, "ingest", "-q", "-f", "--no-symbols", "-o", "got.db", name, *more], capture_output=True,
                       timeout=120, check=False)
    err = r.stderr.decode(errors="replace")
    left = os.listdir(TMP)
    if left or r.returncode < 0 or "runtime error" in err or "Sanitizer" in err:
        err += " LEFT %s, status %d" % (left, r.returncode)
    os.unlink(name)
    return r.returncode, err


def samples():
    r = subprocess.run([PROGRAM, "query", "--format", "csv", "got.db", "select count(*) from samples"], capture_output=True,
                       check=True)
    return int(r.stdout.split()[-1])


def notes(kind):
    r = subprocess.run([PROGRAM, "query", "--format", "csv", "got.db",
                        "select what, detail from damage where kind = '%s'" % kind], capture_output=True, check=True)
    return r.stdout.decode()


def tar(members):
    """members: (name, bytes), or a TarInfo"""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as t:
        for m in members:
            if isinstance(m, tarfile.TarInfo):
                t.addfile(m)
                continue
            info = tarfile.TarInfo(m[0])
            info.size = len(m[1])
            t.addfile(info, io.BytesIO(m[1]))
    return out.getvalue()


def link(name, to, kind):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return info


def shared_zip(times):
    """members that all have the same bytes of the file (zip bombs without nesting)"""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packed.compress(bytes(4 << 20)) + packed.flush()
    crc = zlib.crc32(bytes(4 << 20))
    local = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, 0, 8, 0, 0, crc, len(body), 4 << 20, 1, 0) + b"a" + body
    central = b""
    for i in range(times):
        name = b"m%d" % i
        central += struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, 0, 8, 0, 0, crc, len(body), 4 << 20, len(name), 0, 0,
                               0, 0, 0, 0) + name
    return local + central + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, times, times, len(central), len(local), 0)


def quick_xz(data):
    return lzma.compress(data, preset=0)


def main():
    good = ("perf.data", DATA)
    run("good.tar", tar([good]))
    whole = samples()

    # names and links
    escapes = ["../out", "/etc/out", "a/../../out", "..", "a/./../..", "x/" * 40 + "deep", "n" * 300]
    links = [link("l", "/etc/passwd", tarfile.SYMTYPE), link("h", "perf.data", tarfile.LNKTYPE),
             link("f", "", tarfile.FIFOTYPE), link("d", "", tarfile.CHRTYPE)]
    rc, err = run("odd.tar", tar([(n, b"x") for n in escapes] + links + [good]))
    ok("names that lead elsewhere and links are left out", rc == 0 and samples() == whole and not os.path.exists("../out"),
       err)
    ok("which is noted", "entries of the archive are no files of it" in notes("note"), notes("note"))
    rc, err = run("linked.tar", tar([link("dir", TMP, tarfile.SYMTYPE), ("dir/perf.data", DATA)]))
    ok("a folder that was a link is a folder", rc == 0 and samples() == whole, err)
    rc, err = run("twice.tar", tar([("perf.data", b"older"), good]))
    ok("the last member of a name counts", rc == 0 and samples() == whole, err)
    rc, err = run("file.tar", tar([("a", b"x"), ("a/b", b"y"), good]))
    ok("a file where a folder should be", rc == 0 and samples() == whole, err)
    rc, err = run("unnamed.tar", tar([("x\x1b[31my\n", b"x"), good]))
    ok("control characters in names", rc == 0 and samples() == whole, err)

    # thousands, and too many
    rc, err = run("many.tar.gz", gzip.compress(tar([("f%d" % i, b"") for i in range(5000)] + [good])))
    ok("thousands of members", rc == 0 and samples() == whole, err)
    rc, err = run("more.tar.gz", gzip.compress(tar([("f", b"")])[:512] * 100001 + bytes(1024), 1))
    ok("too many are refused", rc == 1 and "more than 100000 files are in this archive" in err, err)

    # bombs
    bomb = "unpack to more than 256 times as many"
    zeros = bytes(80 << 20)
    for name, packed in (("b.tar.gz", gzip.compress), ("b.tar.xz", quick_xz), ("b.tar.bz2", bz2.compress)):
        rc, err = run(name, packed(tar([("zeros", zeros), good])))
        ok("a bomb in front of the capture: " + name, rc == 1 and bomb in err, err)
        rc, err = run(name[:2] + "data." + name[6:], packed(DATA[:4096] + zeros))
        ok("a packed capture that is one: " + name[6:], rc == 1 and bomb in err, err)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("zeros", zeros)
    rc, err = run("b.zip", out.getvalue())
    ok("a bomb in a zip", rc == 1 and bomb in err, err)
    rc, err = run("shared.zip", shared_zip(2000))
    ok("members that share their bytes end", rc == 1 and "LEFT" not in err, err)
    inner = gzip.compress(bytes(1 << 26), 1)
    rc, err = run("b2.tar.xz", lzma.compress(tar([("perf.data.gz", inner * 32)])))
    ok("a bomb that is packed twice", rc == 1 and "is packed once more, as no data are" in err, err)
    rc, err = run("p.tar.gz", gzip.compress(tar([("perf.data.xz", lzma.compress(DATA))])))
    ok("a packed capture in a packed archive is read", rc == 0 and samples() == whole, err)

    # damage
    plain = tar([good, ("behind", random.Random(1).randbytes(200000))])
    for name, data in (("c.tar", plain), ("c.tar.gz", gzip.compress(plain)), ("c.tar.xz", lzma.compress(plain))):
        rc, err = run(name, data[:len(data) - 100000])
        ok("what is in front of a cut is read: " + name, rc == 3 and samples() == whole, err)
        ok("and the cut is damage: " + name, "packed" in notes("damage"), notes("damage"))
    rc, err = run("c.tar.bz2", bz2.compress(plain)[:-100000])
    ok("bzip2 has one block for it", rc == 1 and "truncated bzip2 input" in err, err)
    rc, err = run("c.data.xz", lzma.compress(DATA)[:-20000])
    ok("a cut packed capture", rc == 3 and 0 < samples() < whole, err)
    rc, err = run("c.tar", tar([good])[:len(DATA) // 2])
    ok("a cut capture in an archive", rc == 3 and 0 < samples() < whole, err)
    draw = random.Random(7)
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("perf.data", DATA)
    bad = []
    forms = {"f.tar": tar([good]), "f.tar.gz": gzip.compress(tar([good])), "f.tar.xz": lzma.compress(tar([good])),
             "f.tar.bz2": bz2.compress(tar([good])), "f.zip": zipped.getvalue(), "f.data.xz": lzma.compress(DATA)}
    for name, data in forms.items():
        for _ in range(8):
            flipped = bytearray(data)
            for _ in range(draw.randint(1, 6)):
                flipped[draw.randrange(min(len(flipped), draw.choice([600, 1 << 30])))] ^= 1 << draw.randrange(8)
            flipped = flipped[:draw.choice([len(flipped), draw.randrange(len(flipped))])]
            rc, err = run(name, bytes(flipped))
            if rc not in (0, 1, 3) or "LEFT" in err or len(err.splitlines()) > 1:
                bad.append((name, rc, err[:300]))
    ok("%d flips and cuts end well" % (8 * len(forms)), not bad, bad)
    ok("nothing is left", not os.listdir(TMP), os.listdir(TMP))


main()

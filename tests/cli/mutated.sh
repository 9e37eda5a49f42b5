#!/bin/sh
# mutated.sh - bundles of which bytes were changed, or the end is missing: a report or a message, and no file left.
# usage: BACKSTITCH=PROGRAM [BUNDLES=N] tests/cli/mutated.sh; prints "ok NAME" or "not ok NAME" lines.
# With sanitizers: bundles of changed bytes
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
mkdir tmp
NO_COLOR=1 XDG_CACHE_HOME=$dir/cache TMPDIR=$dir/tmp
export XDG_CACHE_HOME TMPDIR
"$B" ingest -q --no-symbols -o a.db "$root/tests/captures/fp-1.data"
"$B" bundle -o a.tar a.db 2>err && "$B" bundle -o a.tar.gz a.db 2>err || exit 2
for program in xz zstd
do
	! command -v $program >out || $program -q -c a.tar >a.tar.$program
done
cat >mutate.py <<'END'
"""Changes the head of the archive, its database, or the packed bytes; N times."""
import glob
import os
import random
import subprocess
import sys

B, N = sys.argv[1], int(sys.argv[2])
rnd = random.Random(int(os.environ.get("BUNDLES_SEED", "1")))
COMMANDS = (["report"], ["check", "-v"], ["info"], ["script"], ["flame", "-o", "-"],
            ["query", "SELECT * FROM samples"])
# the heads of the files are of 512 bytes
HEADS = (range(512), range(512), range(1536), None, None)
VALUES = (0, 1, 0x7f, 0x80, 0xff, 0x2f, 0x37)

def mutated(data):
    data = bytearray(data)
    where = rnd.choice(HEADS) or range(len(data))
    for _ in range(rnd.choice((1, 1, 2, 8))):
        at = rnd.choice(where) % len(data)
        kind = rnd.randrange(5)
        if kind == 0:
            data[at] ^= 1 << rnd.randrange(8)
        elif kind == 1:
            data[at] = rnd.choice(VALUES)
        elif kind == 2:
            data[at:at + 12] = b"77777777777\0"
        elif kind == 3:
            del data[at + 1:]
        else:
            data[at:at] = data[:rnd.choice((1, 512))]
    # a header with a wrong checksum is not read any further
    if rnd.random() < 0.7 and len(data) > 512:
        data[148:156] = b" " * 8
        data[148:156] = b"%06o\0 " % sum(data[:512])
    return bytes(data)

sound = [(name, open(name, "rb").read()) for name in sorted(glob.glob("a.tar*"))]
bad, statuses = [], {}
for i in range(N):
    # damage in a compressed file is mostly found by its checksum: fewer of those
    name, data = sound[0] if rnd.random() < 0.7 else rnd.choice(sound)
    data = mutated(data)
    with open("m" + name[1:], "wb") as f:
        f.write(data)
    command, *more = rnd.choice(COMMANDS)
    try:
        r = subprocess.run([B, command, "m" + name[1:], *more], timeout=100,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        status, said = r.returncode, r.stderr
    except subprocess.TimeoutExpired:
        status, said = "no end", b""
    statuses[status] = statuses.get(status, 0) + 1
    if status not in (0, 1, 3, 4) or (status == 1 and not said) or \
            b"Sanitizer" in said or b"runtime error" in said or os.listdir("tmp"):
        bad.append((i, command, status, said[-2000:], os.listdir("tmp")))
for line in bad[:5]:
    print("#", *line)
print("%s %d_mutated_bundles_end_with_a_report_or_a_message"
      % ("not ok" if bad else "ok", N))
# some are read, some are not: else nothing was asked
print("%s some_are_read_and_some_refused" % ("ok" if statuses.get(0) and statuses.get(1)
                                             else "not ok: %s" % statuses))
END
PYTHONDONTWRITEBYTECODE=1 python3 mutate.py "$B" "${BUNDLES:-80}"

#!/bin/sh
# simpleperf.sh - a file of simpleperf is named for what it is, and its samples are read.
# usage: BACKSTITCH=build/backstitch tests/cli/simpleperf.sh
cd "$(dirname "$0")/../.." || exit 2
B=${BACKSTITCH:-./backstitch}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

. tests/ok.sh

# Its layout: one event, five samples, and between them records of simpleperf,
# one of them of more than 64 KiB, whose upper half of the size is in misc.
python3 - "$work/perf.data" <<'END'
import struct
import sys

IP_TID_TIME = 7
attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000, IP_TID_TIME, 0, 1 << 18)
attr += bytes(112 - len(attr)) + struct.pack("<QQ", 0, 0)


def record(kind, body, misc=0):
    size = 8 + len(body)
    return struct.pack("<IHH", kind, misc | size >> 16, size & 65535) + body


def sample(i):
    return record(9, struct.pack("<QIIQ", 0x4000 + i, 70, 71, 1000 + i), 2)


data = sample(0)
data += record(32769, struct.pack("<I", 70000) + b"k" * 70004)
data += sample(1)
data += record(32769, b"k" * (65536 - 8))
data += sample(2)
data += record(32776, bytes(16)) + sample(3)
data += record(32800, bytes(8)) + sample(4)
at = 104 + len(attr)
end = at + len(data)
sections = {11: struct.pack("<II", 1, 16) + b"simpleperf\0\0\0\0\0\0",
            129: b"simpleperf_version\0001.build.1\0", 132: bytes(40)}
table, body = b"", b""
for s in sections.values():
    table += struct.pack("<QQ", end + 16 * len(sections) + len(body), len(s))
    body += s
bits = sum(1 << b for b in sections).to_bytes(32, "little")
head = b"PERFILE2" + struct.pack("<8Q", 104, len(attr), 104, len(attr), at,
                                 len(data), 0, 0) + bits
with open(sys.argv[1], "wb") as f:
    f.write(head + attr + data + table + body)
END

"$B" ingest --no-symbols -o "$work/a.db" "$work/perf.data" >"$work/out" 2>&1
ok "a file of simpleperf has no damage" $?
rows=$("$B" query --format csv "$work/a.db" \
	"SELECT count(*), max(time_ns) - min(time_ns), min(h.tid)
	FROM event e JOIN thread h ON h.id = e.thread" | tail -n 1)
[ "$rows" = 5,4,71 ]
ok "all samples of simpleperf are read" $?
"$B" info "$work/a.db" >"$work/info" 2>&1

# says WORDS: info tells them
says() {
	tr -s ' \n' ' ' <"$work/info" | grep -q -- "$1"
	ok "info says '$1'" $?
}
says 'simpleperf recorded this file'
says '--symfs'
says 'simpleperf KERNEL_SYMBOL'
says 'simpleperf: of a later version'

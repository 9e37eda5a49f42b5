#!/bin/sh
# simpleperf.sh - a file of simpleperf is named for what it is, and its samples are read.
# usage: BACKSTITCH=build/backstitch tests/cli/simpleperf.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

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

# Two events, one opened again during the recording: its second id is in a record
# of simpleperf. Names are in META_INFO.
cat >"$work/two.py" <<'END'
import struct
import sys

ID_TID_TIME = 1 << 6 | 6

def attr(kind, config, ids):
    a = struct.pack("<IIQQQQQ", kind, 112, config, 1, ID_TID_TIME, 0, 1 << 18)
    return a + bytes(112 - len(a)) + struct.pack("<QQ", ids, 8)

def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

def sample(event, time):
    return record(9, struct.pack("<IIQQ", 70, 71, time, event), 2)

def file_of(path, kind, names, more=b""):
    body = path + b"\0" + struct.pack("<IQI", kind, 0, len(names))
    for n in names:
        body += struct.pack("<QI", 0x1000, 16) + n + b"\0"
    return struct.pack("<I", len(body + more)) + body + more

n, at = int(sys.argv[2]), int(sys.argv[3])
ids = struct.pack("<QQ", 100, 200)
attrs = attr(0, 0, 104) + attr(2, 91, 112)
data = sample(100, 1000) + sample(200, 1010)
data += record(32774, struct.pack("<QQQ", n, at, 300)) + sample(300, 1020)
files = (file_of(b"/system/lib64/libc.so", 2, [b"read", b"write"], bytes(8))
         + file_of(b"[kernel.kallsyms]", 0, [b"do_exit"])
         + file_of(b"base.apk", 3, [], struct.pack("<IQ", 1, 64)))
if len(sys.argv) > 4:
    files = struct.pack("<I", int(sys.argv[4])) + files[4:]
sections = {128: files,
            129: b"simpleperf_version\0001.build.1\0event_type_info\0"
                 b"cpu-cycles,0,0\nsched:sched_switch,2,91\0"}
begin = 104 + len(ids) + len(attrs)
end = begin + len(data)
table, body = b"", b""
for s in sections.values():
    table += struct.pack("<QQ", end + 16 * len(sections) + len(body), len(s))
    body += s
bits = sum(1 << b for b in sections).to_bytes(32, "little")
head = b"PERFILE2" + struct.pack("<8Q", 104, 128, 104 + len(ids), len(attrs),
                                 begin, len(data), 0, 0) + bits
with open(sys.argv[1], "wb") as f:
    f.write(head + ids + attrs + data + table + body)
END
python3 "$work/two.py" "$work/two.data" 1 1
"$B" ingest --no-symbols -o "$work/two.db" "$work/two.data" >"$work/out" 2>&1
ok "ids that came later and feature sections are no damage" $?
rows=$("$B" query --format csv "$work/two.db" "SELECT group_concat(t.name ||
	' ' || e.time_ns, ';') FROM event e JOIN event_type t ON t.id = e.type" |
	tail -n 1 | tr -d '"\r')
[ "$rows" = 'cpu-cycles 1000;sched:sched_switch 1010;sched:sched_switch 1020' ]
ok "samples with ids that came later have their event and its name" $?
"$B" info "$work/two.db" | grep -q '1\.build\.1'
ok "info has the version of simpleperf" $?
# damaged NAME ARG...: two.py with these numbers is damage
damaged() {
	name=$1
	shift
	python3 "$work/two.py" "$work/bad.data" "$@"
	"$B" ingest -f --no-symbols -o "$work/bad.db" "$work/bad.data" \
		>"$work/out" 2>&1
	[ $? = 3 ]
	ok "$name" $?
}
damaged "more ids than the record has are damage" 2 1
damaged "fewer ids than the record has are damage" 0 1
damaged "ids of no event are damage" 1 2
damaged "a size in FILE that is too large is damage" 1 1 4000
damaged "a size in FILE that is too small is damage" 1 1 20

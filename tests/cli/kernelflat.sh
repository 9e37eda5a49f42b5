#!/bin/sh
# kernelflat.sh - kernels of arm64, whose file has no sections: what boots is read, packed or not, with the list of what the kernel changes.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/kernelflat.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2

cat >image.py <<'P'
"""image.py FILE HOW ENTRIES: work() calls itself, and once more where the list puts a call"""
import gzip, struct, subprocess, sys
out, how, entries = sys.argv[1], sys.argv[2], int(sys.argv[3])
d = bytearray(0x4000)
NOP, PUSH, SET, RET = 0xd503201f, 0xa9bf7bfd, 0x910003fd, 0xd65f03c0
def put(at, *words):
    struct.pack_into("<%dI" % len(words), d, at, *words)
def bl(at, to):
    return 0x94000000 | (to - at) >> 2 & 0x3ffffff
d[:2] = b"MZ"
d[0x38:0x3c] = b"ARM\x64"
put(0x1000, PUSH, SET, bl(0x1008, 0x1000), NOP, NOP, NOP, RET)
put(0x1100, PUSH, SET, bl(0x1108, 0x1000), RET)
put(0x1200, bl(0x1200, 0x1100), RET)
put(0x1300, bl(0x1010, 0x1000), NOP)
put(0x1400, *[NOP] * 600)
d[0x1e00:0x1e24] = struct.pack("<III4s", 4, 20, 3, b"GNU") + bytes.fromhex("00112233445566778899aabbccddeeff00112233")
for i in range(entries):
    at = 0x2000 + 12 * i
    struct.pack_into("<iiHBB", d, at, *((0x1010 - at, 0x1300 - at - 4) if not i else (0x1400 + 4 * i - at, 0x1304 - at - 4)), 9, 4, 4)
if how != "plain":
    tool, efi = how.split("-") if "-" in how else (how, "")
    p = subprocess.run([tool, "-q" if tool == "zstd" else "-n"], input=d, stdout=subprocess.PIPE, check=True).stdout
    if efi:
        p += struct.pack("<I", len(d)) if tool == "zstd" else b""
        p = struct.pack("<2sH4sIIQ32s", b"MZ", 0, b"zimg", 256, len(p), 0, tool.encode()).ljust(256, b"\0") + p + bytes(512)
    d = p
open(out, "wb").write(d)
P
printf 'ffff80008000%s\n' '0000 T _text' '1000 T work' '1100 T el0t_64_sync_handler' '1200 T el0t_64_sync' '1300 T _etext' >kallsyms
capture() { # capture FILE LENGTH ID
	printf '%s\n' "host vm 7.2.13-arm64" "event cpu-clock" "comm pid=100 name=app" \
		"mmap pid=-1 start=0xffff800080000000 len=$2 pgoff=0xffff800080000000 path=[kernel.kallsyms]_text kernel id=$3" >"$1.txt"
	for k in 100c,110c,1204 100c,1014,110c,1204 100c,1018,110c,1204 100c,2004,1204; do
		t=$((t + 1000))
		echo "sample pid=100 tid=100 cpu=1 time=$t k=$(echo "$k" | sed 's/[^,]*/0xffff80008000&/g')"
	done >>"$1.txt"
	"$MKCAP" "$1.txt" "$1.data"
}
mkdir -p root/boot
judged() { # judged FILE HOW ENTRIES
	python3 image.py root/boot/vmlinuz-7.2.13-arm64 "$2" "$3" && "$B" ingest -q -f -o "$1.db" --symfs root --kallsyms kallsyms "$1.data" &&
		"$B" report --json "$1.db" | python3 -c 'import json, sys
print(*(c["class"] + " %d" % c["samples"] for c in json.load(sys.stdin)["kernel_stacks_by_class"]), sep=", ")'
}
id=00112233445566778899aabbccddeeff00112233
capture flat 0x3f80 $id
for how in plain gzip zstd gzip-efi zstd-efi; do
	is "halves are judged by the kernel that boots, $how" "whole 2, fabricated 2" "$(judged flat $how 520)"
done
is "without the list nothing is called wrong" "unchecked 3, whole 1" "$(judged flat plain 400)"
capture other 0x3f80 "ff${id#00}"
is "that of another build-id is another" "not judged (no file) 4" "$(judged other plain 520)"
capture stext 0x2000 $id
is "and none is read where the addresses may begin elsewhere" "not judged (no file) 4" "$(judged stext plain 520)"

#!/bin/sh
# guests.sh - hits in guests (perf kvm): no word blames the host's kernel, or frame pointers, for stacks that no kernel records.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/guests.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2

# of perf kvm --guest --host: what the guest has mapped is of no use; a chain has the marks of both halves, and no address. The last two are
# chains of a guest, as a kernel might record them.
python3 - >guest.txt <<'P'
import struct
TEXT = 0xffffffff81000000
KERNEL, USER, GUEST, GUEST_KERNEL, GUEST_USER = -128, -512, -2048, -2176, -2560
HALF = TEXT + 0x110, TEXT + 0x210, TEXT + 0x310
print("event cpu-clock\ncomm pid=100 name=qemu")
print("mmap pid=-1 start=%#x len=0x1000000 pgoff=%#x path=[kernel.kallsyms]_text kernel" % (TEXT, TEXT))
path = b"[guest.kernel.kallsyms]_text\0\0\0\0"
print("raw type=1 misc=4 hex=" + (struct.pack("<iiQQQ", -1, -1, TEXT, 0x1000000, TEXT) + path + struct.pack("<QQQQ", 0, 0, 0, 1)).hex())
at = 1000
for mode, ip, chain in ((4, TEXT + 0x110, (KERNEL, USER)), (5, 0x401110, (KERNEL, USER)),
                        (4, TEXT + 0x110, (GUEST_KERNEL, *HALF, GUEST_USER, 0x401110, 0x401120)),
                        (4, TEXT + 0x110, (GUEST, KERNEL, *HALF, USER, 0x401110, 0x401120))):
    at += 1000
    print("raw type=9 misc=%d hex=%s" % (mode, struct.pack("<QQIIQIIQQ%dQ" % len(chain), 1, ip, 100, 100, at, 0, 0, 1, len(chain),
                                                           *(a & (1 << 64) - 1 for a in chain)).hex()))
P
"$MKCAP" guest.txt guest.data
# in the host nothing called work
printf 'ffffffff81000%s\n' '000 T _text' '100 T work' '200 T do_syscall_64' '300 T entry_SYSCALL_64_after_hwframe' '400 T _etext' >kallsyms
"$B" ingest -q -o guest.db --kallsyms kallsyms guest.data
is "addresses of a guest are those of no function of the host" "[guest kernel] 7 [guest user] 5" \
	"$("$B" script -F ip,dso guest.db | sed -n 's/.*(\(.*\))/\1/p' | sort | uniq -c | awk '{ printf "%s%s %s %d", sep, $2, $3, $1; sep = " " }')"
classes() { # classes KEY
	"$B" report --json guest.db | python3 -c 'import json, sys
print(*(c["class"] + " %d" % c["samples"] for c in json.load(sys.stdin)[sys.argv[1]]), sep=", ")' "$1"
}
is "user stacks are unchecked, and no frame pointers are to blame" "not judged (guest) 3" "$(classes user_stacks_by_class)"
is "nothing is said of kernel halves" "unchecked 2" "$(classes kernel_stacks_by_class)"
is "the sentence says so, and advises nothing" "All 3 user stacks are unchecked, as a guest was hit." \
	"$("$B" report guest.db | head -1)"

#!/bin/sh
# kernelhalf.sh - the kernel's half of stacks: none that is true is marked, and
# those that go on behind where kernel stacks begin are.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/kernelhalf.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2

at=0
for name in _text work do_syscall_64 entry_SYSCALL_64_after_hwframe asm_sysvec_apic_timer_interrupt sysvec_apic_timer_interrupt \
	ret_from_fork_asm ret_from_fork kthread el0t_64_sync el0t_64_sync_handler asm_int80_emulation data_behind_code _etext; do
	printf 'ffffffff8100%02x00 T %s\n' $at "$name"
	eval "$name=0xffffffff8100$(printf %02x $at)10"
	at=$((at + 1))
done >kallsyms
# shellcheck disable=SC2154 # set by eval
capture() { # capture FILE: of the chains on standard input, one a line
	{
		printf '%s\n' "event cpu-clock" "comm pid=100 name=app" \
			"mmap pid=-1 start=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 path=[kernel.kallsyms]_text kernel"
		awk '{ gsub(" ", ","); print "sample pid=100 tid=100 cpu=1 time=" NR * 1000 " k=" $0 }'
	} >"$1.txt"
	"$MKCAP" "$1.txt" "$1.data"
}
classes() { # classes DB OPTION...: what report's JSON says
	"$B" report --json "$@" |
		python3 -c 'import json, sys
print(*(c["class"] + " %d" % c["samples"] for c in json.load(sys.stdin)["kernel_stacks_by_class"]), sep=", ")'
}
halves() { "$B" "$@" | tr -s ' \n' ' ' | sed 's/ kernel code .*//' | grep -o '[0-9.]* % of the kernel halves.* unchecked[^.]*' | head -1; }

# shellcheck disable=SC2154
true_ones="$work $do_syscall_64 $entry_SYSCALL_64_after_hwframe
$work $sysvec_apic_timer_interrupt $asm_sysvec_apic_timer_interrupt
$work $asm_sysvec_apic_timer_interrupt $work $do_syscall_64 $entry_SYSCALL_64_after_hwframe
$work $kthread $ret_from_fork $ret_from_fork_asm
$work $kthread $ret_from_fork
$entry_SYSCALL_64_after_hwframe $entry_SYSCALL_64_after_hwframe
$work $el0t_64_sync_handler $el0t_64_sync"
echo "$true_ones" | capture true
"$B" ingest -q -o true.db --kallsyms kallsyms true.data
is "stacks that begin where those of the kernel do are not marked" "unchecked 7" "$(classes true.db)"
is "and nothing is said of them" "" "$(halves check true.db; halves report true.db)"

# a frame of data, of a function and of a beginning behind one
# shellcheck disable=SC2154
{
	echo "$true_ones"
	echo "$work $do_syscall_64 $entry_SYSCALL_64_after_hwframe $data_behind_code"
	echo "$work $el0t_64_sync_handler $el0t_64_sync $work"
	echo "$work $do_syscall_64 $entry_SYSCALL_64_after_hwframe $work $do_syscall_64 $entry_SYSCALL_64_after_hwframe"
} | capture false
"$B" ingest -q -o false.db --kallsyms kallsyms false.data
is "those that go on behind are fabricated" "unchecked 7, fabricated 3" "$(classes false.db)"
want="30.00 % of the kernel halves are fabricated (a frame after no call, or after a kernel entry), 70.00 % are unchecked"
for of in report info check; do
	is "$of says so" "$want" "$(halves $of false.db)"
done
is "of the samples that are asked for" "fabricated 3" "$(classes false.db --time 0.0000075,)"
"$B" merge -q -o merged.db true.db false.db 2>err
is "and of merged ones" "unchecked 14, fabricated 3" "$(classes merged.db)"

# shellcheck disable=SC2154
{
	echo "$true_ones"
	echo "$work $do_syscall_64"
} | capture early
"$B" ingest -q -o early.db --kallsyms kallsyms early.data
is "where no stack begins one is not judged" "unchecked 7, not judged (start) 1" "$(classes early.db)"
is "check says so" "12.50 % of the kernel halves end where none is known to begin, 87.50 % are unchecked" "$(halves check early.db)"
is "report does not" "" "$(halves report early.db)"

is "of the capture, without a database" "unchecked 7, fabricated 3; unchecked 7, not judged (start) 1" \
	"$(classes --kallsyms kallsyms false.data); $(classes --kallsyms kallsyms early.data)"
"$B" merge -q -o merged2.db true.db early.db 2>err
is "merged with others it is said of it, too" "unchecked 14, not judged (start) 1" "$(classes merged2.db)"

# a system call by int 0x80, since Linux 6.7
# shellcheck disable=SC2154
echo "$work $do_syscall_64 $asm_int80_emulation" | capture int80
"$B" ingest -q -o int80.db --kallsyms kallsyms int80.data
is "it begins where a program of 32 bits calls the kernel" "unchecked 1" "$(classes int80.db)"

# perf record -e cpu-clock/call-graph=fp,max-stack=8/ of a program that reads /proc/self/maps
full() { classes "$@" --kallsyms "$root/tests/captures/max-stack.kallsyms"; }
zstd -dcq "$root/tests/captures/max-stack.data.zst" >full.data
is "as many frames as perf was asked for are full" "not judged (no file) 11, cut (full) 53" "$(full full.data)"
"$B" ingest -q -o full.db --kallsyms "$root/tests/captures/max-stack.kallsyms" full.data
is "check says so, too" "82.81 % of the kernel halves have as many frames as the kernel keeps, 17.19 % are unchecked for want of the file" "$(halves check full.db)"
# the number in the header
python3 - <<'P'
d = bytearray(open("full.data", "rb").read())
at = d.index(b"\x80\0\0\0", 104) - 4 + 108
assert d[at] == 8
d[at] = 0
open("any.data", "wb").write(d)
P
is "otherwise they end where none begins" "not judged (no file) 11, not judged (start) 53" "$(full any.data)"

"$B" ingest -q -o bare.db --no-symbols false.data
is "without names nothing is known" "unchecked 10" "$(classes bare.db)"
"$B" symbolize --kallsyms kallsyms bare.db 2>err
is "and symbolize finds it" "unchecked 7, fabricated 3" "$(classes bare.db)"

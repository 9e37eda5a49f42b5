#!/bin/sh
# kernelcode.sh - return addresses of kernel stacks in the kernel's code: true ones are not marked, where the kernel writes a call neither;
# those after no call are.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/kernelcode.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
[ "$(uname -m)" = x86_64 ] || { echo "ok not on this machine"; exit 0; }

cat >kernel.s <<'S'
	.macro	fn name
	.balign	64
	.globl	\name
	.type	\name, @function
\name:
	.endm
	.text
	fn	_text
	.globl	_stext
_stext:	ret
	fn	work
	.byte	0x0f, 0x1f, 0x44, 0, 0
traced:	call	_text
direct:	nop
middle:	nop
thunk:	call	_text
called:	nop
altern:	.byte	0xf3, 0xa4, 0x0f, 0x1f, 0
copied:	nop
virt:	call	*0x1000
hyper:	ret
	thunk2 = thunk + 2
	thunk3 = thunk + 3
	thunk4 = thunk + 4
	thunk7 = thunk + 7
	altern2 = altern + 2
	virt3 = virt + 3
	virt5 = virt + 5
	fn	do_syscall_64
	call	work
syscall: ret
	fn	entry_SYSCALL_64_after_hwframe
	call	do_syscall_64
entry:	ret
	fn	asm_sysvec_apic_timer_interrupt
	call	work
timer:	ret
	fn	secondary_startup_64_no_verify
	lretq
second:	ret
	fn	framed
	push	%rbp
	mov	%rsp, %rbp
within:	nop
	call	_text
called2: pop	%rbp
after:	ret
	fn	bare
	nop
leaf:	ret
	fn	either
	test	%edi, %edi
	je	1f
	push	%rbp
	mov	%rsp, %rbp
perhaps: pop	%rbp
1:	ret
	fn	ftrace_caller
	nop
tracer:	ret
	fn	return_to_handler
	ret
	fn	_etext
	ret
	.section .rodata, "a"
	.globl	a_table
a_table: .quad	0
	.section .retpoline_sites, "a"
	.long	thunk - .
	.section .altinstructions, "a"
	.long	altern - .
	.long	1f - .
	.long	0
	.byte	5, 5
	.section .altinstr_replacement, "ax"
1:	call	_text
	.section .parainstructions, "a"
	.quad	virt
	.byte	0, 7
	.balign	8
S
id=00112233445566778899aabbccddeeff00112233
kernel() { # kernel NAME LINE...: makes NAME of kernel.s and these lines
	name=$1
	shift
	{ cat kernel.s; printf '%s\n' "$@"; } | as -o k.o - &&
		ld -Ttext=0xffffffff81000000 -e 0 --build-id=0x$id -o "$name" k.o 2>/dev/null || exit 2
}
kernel vmlinux '.section .orc_unwind, "a"' '.byte 0'
nm vmlinux >labels
grep " [TR] " labels >kallsyms
at() { awk -v n="$1" '$3 == n { print "0x" $1 }' labels; }
capture() { # capture FILE: of the chains on standard input, one a line, of names of kallsyms
	{
		printf '%s\n' "event cpu-clock" "comm pid=100 name=app" \
			"mmap pid=-1 start=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 path=[kernel.kallsyms]_text kernel id=$id"
		while read -r chain; do
			k=
			for n in $chain; do
				case $n in 0x*) k=$k,$n ;; *) k=$k,$(at "$n") ;; esac
			done
			t=$((t + 1000))
			echo "sample pid=100 tid=100 cpu=1 time=$t k=${k#,}"
		done
	} >"$1.txt"
	"$MKCAP" "$1.txt" "$1.data"
}
classes() { # classes ARGUMENT...: what report's JSON says
	"$B" report --json "$@" |
		python3 -c 'import json, sys
print(*(c["class"] + " %d" % c["samples"] for c in json.load(sys.stdin)["kernel_stacks_by_class"]), sep=", ")'
}
read_it() { "$B" ingest -q -f -o "$1.db" --vmlinux "${2:-vmlinux}" --kallsyms kallsyms "$1.data"; }

capture true <<E
work direct syscall entry
work called syscall entry
work thunk2 syscall entry
work thunk3 syscall entry
work copied syscall entry
work hyper syscall entry
work virt5 syscall entry
work timer middle syscall entry
work second
E
read_it true
is "halves of which each return address is after a call are whole" "whole 9" "$(classes true.db)"
capture open <<E
tracer traced syscall entry
work 0xffffffffc0000010 traced syscall entry
work return_to_handler syscall entry
work direct 0xffffffff81800000 entry
work 0xffffffffc0000010 middle syscall entry
E
read_it open
is "where a tracer may have written one they are unchecked" "unchecked 4, whole 1" "$(classes open.db)"
capture false <<E
work direct syscall entry
work traced syscall entry
work middle syscall entry
work thunk4 syscall entry
work thunk7 syscall entry
work altern2 syscall entry
work virt3 syscall entry
work direct a_table entry
work timer a_table syscall entry
E
read_it false
is "a frame after no call, or of data, is fabricated" "whole 1, fabricated 8" "$(classes false.db)"
is "script marks it" 7 "$("$B" script --marks false.db | grep -c 'fabricated')"
"$B" merge -q -o merged.db true.db false.db 2>err
is "and of merged ones" "unchecked 1, whole 10, fabricated 7" "$(classes merged.db)"
is "of the capture, without a database" "whole 1, fabricated 8" "$(classes --vmlinux vmlinux --kallsyms kallsyms false.data)"

kernel framed
capture bare <<E
within direct syscall entry
called2 direct syscall entry
work syscall entry
leaf direct syscall entry
after direct syscall entry
within timer leaf syscall entry
perhaps direct syscall entry
E
read_it bare framed
is "with frame pointers it is told where a caller is missing" \
	"unchecked 1, whole 3, caller missing (further out) 1, caller missing 2" "$(classes bare.db)"
read_it bare
is "with tables none is" "whole 7" "$(classes bare.db)"
read_it false framed
is "and a frame that never was is found" "caller missing 1, fabricated 8" "$(classes false.db)"
sed 's/^event/host vm 5.7.0\n&/' false.txt >old.txt
"$MKCAP" old.txt old.data
read_it old
is "where an older kernel is interrupted is not known" "unchecked 9" "$(classes old.db)"
id=ff112233445566778899aabbccddeeff00112233
kernel other
read_it false other
is "by the code of another kernel nothing is" "unchecked 9" "$(classes false.db)"

# perf record --kcore: a folder with the code that ran
id=00112233445566778899aabbccddeeff00112233
live() { # live FILE: its data, the code and the names in the folder FILE.dir
	mkdir -p "$1.dir/kcore_dir"
	cp "$1.data" "$1.dir/data"
	{ cat kallsyms; echo "ffffffff82000000 R __start_orc_unwind"; } >"$1.dir/kcore_dir/kallsyms"
	objcopy -O binary -j .text vmlinux text.bin
	python3 - "$1.dir/kcore_dir/kcore" <<'P'
import struct, sys
code = open("text.bin", "rb").read()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0))
    f.write(struct.pack("<IIQQQQQQ", 1, 7, 4096, 0xffffffff81000000, 0, len(code), len(code), 4096))
    f.write(bytes(4096 - f.tell()) + code)
P
}
capture ran <<E
work direct syscall entry
work timer middle syscall entry
work traced syscall entry
work 0xffffffff81800000 entry
work middle syscall entry
E
live ran
is "perf's copy of the kernel's code is read, with its names" "unchecked 2, whole 2, fabricated 1" "$(classes ran.dir)"
printf '\1' | dd of=ran.dir/kcore_dir/kcore bs=1 seek=$((64 + 16 + 3)) conv=notrunc 2>err
is "not one of another boot" "unchecked 5" "$(classes ran.dir)"

# both halves
cat >app.c <<'C'
__attribute__((noinline)) static void g(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) static void f(void) { g(); __asm__ volatile("in_f: nop"); g(); __asm__ volatile("nop"); }
void _start(void) { f(); __asm__ volatile("back: nop"); f(); for (;;); }
C
gcc -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -nostdlib -static -no-pie -fcf-protection=none \
	-Wl,--build-id=0x0102030405060708 -Wl,-Ttext=0x401000 -o app app.c 2>err || exit 2
off=$(readelf -lW app | awk '/LOAD/ && / R E /{ print $2 }')
u=0x$(nm app | awk '$3 == "in_f"{ print $1 }'),0x$(nm app | awk '$3 == "back"{ print $1 }')
: | capture both
sed "s|^comm.*|&\nmmap pid=100 start=0x401000 len=0x1000 pgoff=$off path=$PWD/app id=0102030405060708|" both.txt >both.in
for k in direct direct middle leaf; do
	t=$((t + 1000))
	echo "sample pid=100 tid=100 cpu=1 time=$t k=$(at work),$(at $k),$(at syscall),$(at entry) u=$u"
done >>both.in
"$MKCAP" both.in both.data
read_it both framed
is "the weaker half comes first" \
	"50.00 % of the kernel halves are fabricated (a frame after no call, or after a kernel entry), 50.00 % lack the innermost caller. All 4 user stacks are whole." \
	"$("$B" report both.db | sed '/^capture/,$d' | tr -s ' \n' ' ' | sed 's/ $//')"

#!/bin/sh
# noreturn.sh - callers whose last instruction is a call that does not return have their own name.
# usage: BACKSTITCH=build/backstitch MKCAP=build/mkcap tests/cli/noreturn.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

# named CAPTURE OPTIONS...: the functions of its stacks, innermost first
named() {
	capture=$1
	shift
	"$MKCAP" "$capture.txt" "$capture.data" || return
	"$B" script -F ip,sym "$@" "$capture.data" 2>err | awk 'NF { printf "%s%s", s, $2; s = " " }'
}

# ---- a program: functions without padding between them, and with
if [ "$(uname -m)" = x86_64 ]
then
	cat >prog.s <<'END'
.macro f name
	.globl \name
	.type \name, @function
\name:
.endm
.macro e name
	.size \name, . - \name
.endm
f spin; nop; jmp spin; e spin
f ends; push %rbp; call spin; e ends
f behind; push %rbp; mov %rsp, %rbp; pop %rbp; ret; e behind
f through; push %rbp; call *%rax; e through
f padded; push %rbp; call spin; e padded
	.p2align 5, 0x90
f plain; push %rbp; call spin; pop %rbp; ret; e plain
f restore; mov $15, %rax; syscall; e restore
f _start; call plain; hlt; e _start
END
	cc -c -o prog.o prog.s && ld -o prog prog.o &&
		text=$(readelf -lW prog | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
	ok a_program_is_made $?
	# end FUNCTION: where a call at its end returns to
	end() {
		nm -S prog | awk -v f="$1" '$4 == f { print "0x" $1, "0x" $2 }' | {
			read -r start size
			printf 0x%x $((start + size))
		}
	}
	spin=0x$(nm prog | awk '$3 == "spin" { print $1 }')
	{
		echo 'event cpu-clock period=1000'
		echo 'comm pid=7 name=prog'
		echo "mmap pid=7 start=${text#* } len=0x1000 pgoff=${text% *} path=$work/prog"
		for f in ends through padded plain
		do echo "sample pid=7 tid=7 cpu=0 time=1000 u=$spin,$(end $f)"
		done
	} >prog.txt
	# 'plain' ends in no call: a signal handler returns to what is behind it
	is a_caller_that_ends_in_its_call_has_its_name \
		"spin ends spin through spin padded spin restore" "$(named prog)"
	for f in ends through padded
	do addr2line -f -e prog "$(printf 0x%x $(($(end $f) - 1)))" | head -n 1
	done | tr '\n' ' ' >truth
	is as_addr2line_of_the_call_says "ends through padded " "$(cat truth)"
fi

# ---- kernels since 6.2 have a symbol for the padding in front of a function
cat >list <<'END'
ffffffff81000000 T _text
ffffffff81001000 T halt
ffffffff81001100 T ends
ffffffff81001120 T __pfx_next
ffffffff81001130 T next
ffffffff81001200 T outer
ffffffff81001300 T _etext
END
cat >kernel.txt <<'END'
event cpu-clock period=1000
mmap pid=-1 start=0xffffffff81000000 len=0x100000 pgoff=0xffffffff81000000 path=[kernel.kallsyms]_text kernel
comm pid=7 name=prog
sample pid=7 tid=7 cpu=0 time=1000 k=0xffffffff81001008,0xffffffff81001120,0xffffffff81001204
sample pid=7 tid=7 cpu=0 time=2000 k=0xffffffff81001008,0xffffffff81001130,0xffffffff81001204
END
# an interrupt may have come at the first instruction of 'next', which is no call
is padding_of_the_kernel_is_no_caller "halt ends outer halt next outer" "$(named kernel --kallsyms list)"

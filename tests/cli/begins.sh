#!/bin/sh
# begins.sh - what a walk finds behind the function in which a thread begins is no frame.
# usage: BACKSTITCH=build/backstitch MKCAP=build/mkcap tests/cli/begins.sh
# Needs: libcapstone
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2
if [ "$(uname -m)" != x86_64 ]
then
	echo "skip begins: its program is of x86-64"
	exit 0
fi

# As those of glibc 2.43 do, the first functions keep other data in the frame
# pointer; the first one of 'bare' has no table, as that of glibc's loader.
cat >prog.s <<'END'
.macro f name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
.endm
.macro e name
	.cfi_endproc
	.size \name, . - \name
.endm
.macro framed
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register 6
.endm
.macro back
	pop %rbp
	.cfi_def_cfa 7, 8
	ret
.endm
f spin; framed
in_spin: nop; jmp spin; back; e spin
f main; framed; call spin
in_main: back; e main
f exit; mov $231, %eax; syscall; e exit
f call_main; sub $24, %rsp
	.cfi_def_cfa_offset 32
	call *8(%rsp)
in_call_main: mov %eax, %edi; call exit; e call_main
f __libc_start_main; call call_main; hlt; e __libc_start_main
f worker; mov %rdi, %rbp; call main
in_worker: ret; e worker
.ifdef STARTER
f starter; ret; e starter
f start; lea worker(%rip), %rdx; mov %rdx, %rsi; lea worker(%rip), %rsi; call starter
	ret; e start
.endif
.ifdef DIRECT
f _start
	.cfi_undefined rip
	call main
in_start: mov %eax, %edi; nop; hlt; e _start
.else
.ifdef BARE
	.globl _start
	.type _start, @function
_start: call main
in_start: mov %eax, %edi; nop; hlt
	.size _start, . - _start
.else
f _start
	.cfi_undefined rip
	lea main(%rip), %rdi; call __libc_start_main
in_start: hlt; e _start
.endif
.endif
END
cc -c -o prog.o prog.s && ld -o prog prog.o &&
	cc -c -Wa,--defsym,BARE=1 -o bare.o prog.s && ld -o bare bare.o &&
	cc -c -Wa,--defsym,DIRECT=1 -o direct.o prog.s && ld -o direct direct.o
ok three_programs_are_made $?
# at PROGRAM LABEL
at() {
	printf 0x%s "$(nm "$1" | awk -v l="$2" '$3 == l { print $1 }')"
}
# capture PROGRAM LABEL: a chain that goes on behind the label's function
capture() {
	text=$(readelf -lW "$1" | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
	cat >c.txt <<END
event cpu-clock period=1000
comm pid=7 name=prog
mmap pid=7 start=${text#* } len=0x1000 pgoff=${text% *} path=$work/$1
sample pid=7 tid=7 cpu=0 time=1000 u=$(at "$1" in_spin),$(at "$1" in_main),$(at "$1" "$2"),$3
sample pid=7 tid=7 cpu=0 time=2000 u=$(at "$1" in_spin),$(at "$1" in_main),$(at "$1" "$2"),$3
END
	"$MKCAP" c.txt c.data
}
# stacks: the distinct ones of c.db, and what is said of them
stacks() {
	"$B" export --format folded --by samples c.db 2>err
	"$B" report c.db 2>err | sed -n '1s/ Nothing proves.*//p'
}
word=0x4c4c454853006e72
whole='All 2 user stacks are whole.'
for end in prog/in_call_main/call_main direct/in_start/_start bare/in_start/_start
do
	IFS=/ read -r prog label name <<END
$end
END
	capture "$prog" "$label" 0,$word
	"$B" ingest -q -f -o c.db c.data 2>err
	is "nothing_is_behind_${name}_of_$prog" "prog;$name;main;spin 2
$whole" "$(stacks)"
	"$B" ingest -q -f --no-symbols -o c.db c.data 2>err
	"$B" symbolize c.db >out 2>&1
	is "nor_if_${name}_of_${prog}_is_named_later" "$whole" "$(stacks | tail -n 1)"
done
# what has a caller: the frame pointer was lost
capture prog in_worker 0,$word
"$B" ingest -q -f -o c.db c.data 2>err
is a_function_that_others_call_lacks_its_caller \
	"prog;[unknown];[unknown];worker;main;spin 2
None of the 2 user stacks is whole: all are fabricated. 'perf record \
--call-graph dwarf,16384' may mend all of them." "$(stacks)"
# What has one name in a runtime, and what is given to a function that starts threads:
# to that of the C library, and to Ada's.
objcopy --redefine-sym worker=thread_entryPoint prog d
cc -c -Wa,--defsym,STARTER=1 -o starter.o prog.s
for starter in pthread_create system__task_primitives__operations__create_task
do
	objcopy --redefine-sym starter=$starter starter.o $starter.o && ld -o $starter $starter.o
done
for begin in d/thread_entryPoint pthread_create/worker \
	system__task_primitives__operations__create_task/worker
do
	capture "${begin%/*}" in_worker 0,$word
	"$B" ingest -q -f -o c.db c.data 2>err
	is "a_thread_begins_in_${begin#*/}_of_${begin%/*}" "$whole" "$(stacks | tail -n 1)"
done

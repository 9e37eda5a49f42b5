#!/bin/sh
# reach.sh - what a call enters must have led to the next inner frame, or have made the
# frame that holds the return address: else the two frames are not of one stack.
# usage: BACKSTITCH=build/backstitch tests/cli/reach.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

case $(uname -m)-$(command -v gcc) in
x86_64-/*) ;;
*)
	echo "skip reach: no gcc for x86-64"
	exit 0
	;;
esac
# Functions with a frame pointer; bare, which has none; and what calls them.
{
	cat <<'END'
	.macro begin name
	.p2align 4
	.type \name, @function
\name:
	.cfi_startproc
	.endm
	.macro framed name
	begin \name
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	.endm
	.macro done name
	pop %rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size \name, . - \name
	.endm
	.macro jumps name, to:vararg
	begin \name
	nop
	jmp \to
	.cfi_endproc
	.size \name, . - \name
	.endm
	.globl _start
	begin _start
	.cfi_undefined rip
	xor %ebp, %ebp
	.irp to, work, stays, one_jump, two_jumps, cold_jump, by_register, by_memory, by_stub, bare, no_frame, no_frame_jumps, clears
	call \to
after_\to:
	.endr
	hlt
	.cfi_endproc
	.size _start, . - _start
	begin thread
	call *%rax
after_thread:
	mov $0x6f, %edi
	mov $60, %eax
	syscall
	hlt
	.cfi_endproc
	.size thread, . - thread
	framed work
in_work:
	call bare
after_bare_in_work:
	call work
after_work_in_work:
	done work
	framed runtime.asyncPreempt
in_preempt:
	call work
after_work_in_preempt:
	done runtime.asyncPreempt
	framed stays
	nop
in_stays:
	call bare
	# the distance of a call back, and a prefix: no jump
	call bare
	fs mov 0x28, %rax
	done stays
	begin bare
	nop
in_bare:
	ret
	.cfi_endproc
	.size bare, . - bare
	begin no_frame
	sub $8, %rsp
	.cfi_def_cfa_offset 16
	call bare
	add $8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size no_frame, . - no_frame
	# as Go 1.19 calls runtime.duffzero
	begin clears
	sub $24, %rsp
	.cfi_def_cfa_offset 32
	mov %rbp, 16(%rsp)
	.cfi_offset rbp, -16
	lea 16(%rsp), %rbp
	mov %rbp, -16(%rsp)
before_clears:
	lea -16(%rsp), %rbp
in_clears:
	call bare
after_bare_in_clears:
returned_to_clears:
	mov (%rbp), %rbp
behind_clears:
	call clears
after_clears_in_clears:
	mov 16(%rsp), %rbp
	add $24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size clears, . - clears
	jumps one_jump, work
	jumps two_jumps, one_jump
	begin context
	.cfi_undefined rip
	mov %rbx, %rsp
	mov (%rsp), %rdi
	test %rdi, %rdi
	hlt
	.cfi_endproc
	.size context, . - context
	begin switching
	call *%rdi
after_switching:
	mov 0x38(%rax), %rsp
	ret
	.cfi_endproc
	.size switching, . - switching
	jumps by_register, *%rax
	jumps by_memory, *table(, %rax, 8)
	jumps no_frame_jumps, no_frame
	begin cold_jump
	test %edi, %edi
	jne 1f
	ret
	.cfi_endproc
	.size cold_jump, . - cold_jump
	.skip 512, 0xcc
	begin apart
	nop
1:	jmp work
	.cfi_endproc
	.size apart, . - apart
	jumps by_stub, elsewhere@plt
	begin calls_out
	sub $8, %rsp
	.cfi_def_cfa_offset 16
	call elsewhere@plt
after_elsewhere:
	add $8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size calls_out, . - calls_out
	.data
table:	.quad work
	.section .note.GNU-stack
END
} >reach.S
echo 'void elsewhere(void); void elsewhere(void) {}' >elsewhere.c
gcc -shared -o elsewhere.so elsewhere.c &&
	gcc -nostdlib -no-pie -Wl,--build-id,-z,lazy -o reach reach.S ./elsewhere.so || exit 2
# The first call by a stub enters the loader, which is known by its name alone.
echo 'void resolve(void); void resolve(void) { __asm__("in_resolve: nop"); }' >ld.c
gcc -shared -fno-omit-frame-pointer -Wl,--build-id -o ld-2.so ld.c && cp ld-2.so other.so || exit 2
{
	echo "event cpu-clock period=1000"
	echo "comm pid=9 name=reach exec time=1"
	readelf -lW reach | awk -v path="$PWD/reach" '/LOAD/ && /R E/ {
		print "mmap pid=9 len=0x1000 time=2 start=" $3, "pgoff=" $2, "path=" path }'
} >reach.txt
for file in ld-2.so=0x7e0000000000 other.so=0x7e0000100000
do
	readelf -lW "${file%=*}" | awk -v path="$PWD/${file%=*}" -v at="${file#*=}" '/LOAD/ && /R E/ {
		print "mmap pid=9 len=0x1000 time=2 start=" at, "pgoff=" $2, "path=" path }'
done >>reach.txt
nm reach >names
nm ld-2.so | awk '$3 == "in_resolve" {
	offset = substr($1, length($1) - 2)
	print "7e0000000" offset, "t in_loader"; print "7e0000100" offset, "t in_other" }' >>names
echo '7fff00001000 d heap' >>names
time=10
# stack TEST CLASS FRAME...: a sample with these, and what must be said of it
stack() {
	printf '%d %s %s\n' $time "$1" "$2" >>wanted
	printf 'sample pid=9 tid=9 cpu=0 time=%d u=' $time >>reach.txt
	shift 2
	for frame in "$@"
	do
		awk -v name="$frame" '$3 == name { printf "%s0x%s", sep, $1 }' \
			sep="$([ "$frame" = "$1" ] || echo ,)" names
	done >>reach.txt
	echo >>reach.txt
	time=$((time + 1))
}
open="not judged (uncertain)"

stack a_called_function_is_whole whole in_work after_work
for by in one_jump two_jumps cold_jump by_register by_memory by_stub
do
	stack a_function_that_is_jumped_to_is_whole_$by whole in_work after_$by
	stack it_may_be_further_in_$by whole in_work after_work_in_work after_$by
done
for by in stays no_frame no_frame_jumps
do
	stack another_function_did_not_lead_there_$by "$open" in_work after_$by
	stack nor_further_out_$by "$open" in_work after_work_in_work after_$by
done
stack what_is_injected_returns_anywhere whole in_preempt in_stays after_stays
stack so_it_does_further_out whole in_work after_work_in_preempt in_stays after_stays
stack no_other_does "fabricated (no frame pointers)" in_work in_stays after_stays
stack nor_further_in "fabricated (no frame pointers)" in_work in_stays after_work_in_preempt after_stays
stack a_thread_begins_where_the_code_ends_it whole in_work after_thread
stack nothing_is_behind_its_beginning "$open" in_work after_thread after_work_in_work after_work
stack a_frame_of_what_calls_the_leaf_shows_its_caller "caller missing" in_bare after_stays
stack a_leaf_without_a_frame_made_none "$open" in_bare after_bare
stack nor_did_what_calls_it "$open" in_bare after_no_frame
stack nor_what_that_jumps_to "$open" in_bare after_no_frame_jumps
stack what_may_be_jumped_to_may_have_made_one "caller missing" in_bare after_by_register
stack what_an_earlier_call_has_left_is_no_caller "$open" in_clears after_clears_in_clears after_clears
stack nor_is_what_this_one_will "$open" in_clears after_bare_in_clears after_clears
stack nor_what_it_has_left "$open" returned_to_clears after_bare_in_clears after_clears
stack before_it_there_is_one whole before_clears after_clears_in_clears after_clears
stack and_behind_it whole behind_clears after_clears_in_clears after_clears
stack a_function_of_another_file_is_not_known_to "$open" in_bare after_elsewhere
stack the_loader_resolves_a_name "ends early (function)" in_loader after_elsewhere
stack another_file_does_not "ends early (function)" in_other after_elsewhere
stack the_first_function_of_a_fiber_ends_it whole in_work context
stack nothing_is_behind_what_began_a_fiber "$open" in_work context after_work
stack what_is_called_on_another_stack_lacks_a_caller "caller missing (further out)" in_work after_switching after_work
# a process of which not all mappings are known
maps=$(sed -n '/^mmap/s/pid=9/pid=8/p' reach.txt)
echo "$maps" >>reach.txt
stack what_is_no_code_is_not_the_caller_of_a_caller "not judged (mappings)" in_bare heap
sed -i '$s/pid=9 tid=9/pid=8 tid=8/' reach.txt

"$MKCAP" reach.txt reach.data &&
	"$B" ingest -q -f --no-infer-callers -o reach.db reach.data 2>err || exit 2
while read -r time test want
do
	is "$test" "$want" "$(one reach.db "SELECT coalesce(w.name, 'whole') FROM event e
		JOIN raw_chain c ON c.id = e.uraw LEFT JOIN internal_judged j ON j.stack = c.stack
		LEFT JOIN word w ON w.kind = 'judged' AND w.id = j.class
		WHERE e.time_ns = $time" | tr -d '"')"
done <wanted
# missing TEST: the places at which a frame is missing in its stack
missing() {
	one reach.db "SELECT s.gaps FROM event e JOIN raw_chain c ON c.id = e.uraw
		JOIN internal_stack_check s ON s.stack = c.stack
		WHERE e.time_ns = $(awk -v test="$1" '$2 == test { print $1 }' wanted)"
}
is a_stub_may_have_entered_the_loader "0 1" "$(missing the_loader_resolves_a_name) $(missing another_file_does_not)"
# Go's runtime, which the program has, knows none of these functions: they are in C, on a stack
# of its own
is no_dump_leads_to_another_stack "" "$(one reach.db \
	"SELECT group_concat(class) FROM (SELECT class FROM trust WHERE fix NOT NULL ORDER BY 1)" | tr -d '"')"

# A file with .eh_frame and .debug_frame, as Go's and C's parts of a cgo program have them
cat >c.S <<'END'
	.globl _start
	.type _start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	xor %ebp, %ebp
	call framed
after_framed:
	hlt
	.cfi_endproc
	.size _start, . - _start
	.section .note.GNU-stack
END
cat >go.S <<'END'
	.cfi_sections .debug_frame
	.globl framed
framed:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	call bare
	pop %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.p2align 4
bare:
	.cfi_startproc
	nop
in_bare:
	ret
	.cfi_endproc
	.section .note.GNU-stack
END
gcc -nostdlib -static -Wl,--build-id -o cgo c.S go.S || exit 2
nm cgo >names
sed -n '1,2p; /^mmap/s/\/reach$/\/cgo/p' reach.txt >cgo.txt
mv cgo.txt reach.txt
time=10
stack of_both "" in_bare after_framed
"$MKCAP" reach.txt cgo.data && "$B" ingest -q -f --no-infer-callers -o cgo.db cgo.data 2>err || exit 2
is a_dump_has_the_table_of_either '"caller missing","perf record --call-graph dwarf,16384"' \
	"$(one cgo.db 'SELECT class, fix FROM trust')"

# What calls a leaf is inferred unless a part of its caller that is elsewhere calls it, too
cat >parts.S <<'END'
	.macro framed name, rest, calls
	.type \name, @function
\name:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	.rept 9
	test %edi, %edi
	.endr
	jne \rest
	call bare
	pop %rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size \name, . - \name
	.p2align 4
	.skip 512, 0xcc
	.type \rest, @function
\rest:
	.cfi_startproc
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
	nop
	call \calls
	ud2
	.cfi_endproc
	.size \rest, . - \rest
	.endm
	.globl _start
	.type _start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	.skip 16, 0x90
	call hot
after_hot:
	call warm
after_warm:
	hlt
	.cfi_endproc
	.size _start, . - _start
	framed hot, hot.cold, bare
	framed warm, warm.cold, other
	.type other, @function
other:
	.cfi_startproc
	ud2
	.cfi_endproc
	.size other, . - other
	.type bare, @function
bare:
	.cfi_startproc
	nop
in_bare:
	ret
	.cfi_endproc
	.size bare, . - bare
	.section .note.GNU-stack
END
gcc -nostdlib -static -Wl,--build-id -o parts parts.S || exit 2
nm parts >names
sed -n '1,2p; /^mmap/s/\/cgo$/\/parts/p' reach.txt >parts.txt
mv parts.txt reach.txt
stack hot "" in_bare after_hot
stack warm "" in_bare after_warm
"$MKCAP" reach.txt parts.data && "$B" ingest -q -f -o parts.db parts.data 2>err || exit 2
is a_caller_with_another_part_is_inferred_if_that_does_not_call '1 2' \
	"$(one parts.db "SELECT group_concat(c.caller, ' ') FROM event e JOIN raw_chain c ON c.id = e.uraw" | tr -d '"')"

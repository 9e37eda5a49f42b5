#!/bin/sh
# whole.sh - a stack is whole if it goes back to where its thread begins, and no shorter one is.
# usage: BACKSTITCH=build/backstitch tests/cli/whole.sh
# Programs walk their own stack by unwind tables (libgcc), which is the truth; those
# of musl, which has no tables, as the kernel does. As
# a recorded chain, it is cut behind each of its frames: whole are those of which
# nothing but the start functions is cut off. kinds.py makes other recordings of them.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2
src=$root/tests/cli/whole

command -v gcc >/dev/null || {
	echo "skip whole: no gcc"
	exit 0
}
# build NAME COMPILER OPTION... FILES: NAME is not there if it cannot be built
build() {
	out=$1
	shift
	"$@" -o "$out" >/dev/null 2>&1 || echo "skip $out: $1 cannot build it"
}
fp=-fno-omit-frame-pointer
gcc -O1 $fp -mno-omit-leaf-frame-pointer -c -o inner.o "$src-inner.c" || exit 2
build framed gcc -O1 $fp "$src-outer.c" inner.o -pthread
build mixed gcc -O2 "$src-outer.c" inner.o -pthread
build fixed gcc -O1 $fp -no-pie "$src-outer.c" inner.o -pthread
build joined gcc -O1 $fp -Wl,-z,noseparate-code,--build-id=none "$src-outer.c" inner.o -pthread
build static gcc -O1 $fp -static "$src-outer.c" inner.o -pthread
build static_pie gcc -O1 $fp -static-pie "$src-outer.c" inner.o -pthread
for kind in musl musl_static
do
	static=$([ $kind = musl ] || echo -static)
	# shellcheck disable=SC2086 # no option, or one
	build $kind musl-gcc -O1 $fp $static -DALONG_FRAME_POINTERS "$src-outer.c" "$src-inner.c"
done
build cxx g++ -O1 $fp "$src-thread.cc" inner.o -pthread
build clang clang -O1 $fp "$src-outer.c" inner.o -pthread
[ -x static ] && strip -o stripped static
[ -x static ] && cp static stripped.names
for name in framed mixed fixed joined static stripped static_pie musl musl_static cxx clang
do
	[ -x $name ] || continue
	python3 "$root/tests/cli/whole.py" "$B" "$MKCAP" $name >out 2>&1
	status=$?
	[ $status = 0 ] || cat out
	[ $status = 3 ] && echo "skip no_shorter_stack_is_whole_$name: $(tail -n 1 out)" && continue
	ok "no_shorter_stack_is_whole_$name" $status
	tail -n 1 out | sed 's/^/# /'
	case $name in framed | mixed | static | musl | cxx) ;; *) continue ;; esac
	python3 "$root/tests/cli/kinds.py" "$B" "$MKCAP" $name >out 2>&1
	status=$?
	sed 's/^/# /' out
	ok "other_recordings_say_the_same_$name" $status
done

# a stack dump of a program of musl, which has no tables where its thread begins
cat >dumped.c <<'END'
volatile unsigned long x;
__attribute__((noinline)) static void leaf(void) { for (int i = 0; i < 100000000; i++) x++; }
int main(void) { leaf(); return x == 1; }
END
build dumped musl-gcc -O1 -g -static dumped.c
if [ -x dumped ] && perf record -q -e cpu-clock:u --call-graph dwarf,4096 -o dumped.data ./dumped >/dev/null 2>&1
then
	# a sample before main() begins may be of a place without tables
	"$B" report --sort trust,sym --format csv dumped.data 2>err >out
	grep -q ',whole,leaf,' out && ! grep ',leaf,' out | grep -v ',whole,leaf,'
	ok a_dump_is_whole_where_the_thread_begins_without_tables $?
else
	echo "skip a_dump_is_whole_where_the_thread_begins_without_tables: no musl-gcc, or perf may not record"
fi

# as many frames as the kernel keeps: an inferred caller, which was not recorded, is
# none of them
cat >full.S <<'END'
	.globl _start
	.type _start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	xor %ebp, %ebp
	call other
after_start:
	hlt
	.cfi_endproc
	.size _start, . - _start
	.type rec, @function
rec:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	test %edi, %edi
	je 1f
	call rec
after_rec:
	pop %rbp
	.cfi_remember_state
	.cfi_def_cfa rsp, 8
	ret
	.cfi_restore_state
1:	call leaf
after_leaf:
	pop %rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size rec, . - rec
	.type leaf, @function
leaf:
	.cfi_startproc
	nop
in_leaf:
	nop
	ret
	.cfi_endproc
	.size leaf, . - leaf
other:
	.rept 20
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	call rec
	pop %rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.endr
	.section .note.GNU-stack
END
build full gcc -nostdlib -static -Wl,--build-id full.S
[ -x full ] || exit 0
# at NAME: its address
at() {
	echo "0x$(nm full | awk -v name="$1" '$3 == name { print $1 }')"
}
in_leaf=$(at in_leaf)
after_rec=$(at after_rec)
for recorded in 126 127 128
do
	readelf -lW full | awk -v path="$PWD/full" '/LOAD/ && /R E/ {
		print "mmap pid=9 len=0x1000 time=2 start=" $3, "pgoff=" $2, "path=" path }' >map
	{
		echo "event cpu-clock period=1000"
		echo "comm pid=9 name=full exec time=1"
		cat map
		printf 'sample pid=9 tid=9 cpu=0 time=9 u=%s' "$in_leaf"
		for _ in $(seq 2 $recorded)
		do
			printf ',%s' "$after_rec"
		done
		echo
	} >full.txt
	"$MKCAP" full.txt full.data && "$B" ingest -q -f -o full.db full.data 2>err
	printf '%s ' "$(one full.db 'SELECT class FROM trust')" \
		"$(one full.db 'SELECT max(depth) FROM stack')"
	# by the sums and by each sample
	"$B" report --comm full full.db 2>err | sed 's/\. .*//; q'
done >got
cat >want <<'END'
"ends early (unread)" 127 No user stack is whole: all end early at a frame that could not be read
"cut (full)" 128 No user stack is whole: all have as many frames as the kernel keeps
"ends early (unread)" 129 No user stack is whole: all end early at a frame that could not be read
END
diff want got
ok an_inferred_caller_is_no_recorded_frame $?

# nor is one that was asked for later, but taken at once
sed 's/^event.*/& defer/; $s/,0x[0-9a-f]*$//' full.txt >full2.txt
"$MKCAP" full2.txt full.data && "$B" ingest -q -f -o full.db full.data 2>err
is a_refused_request_is_cut_too "cut (full)" "$(one full.db 'SELECT class FROM trust' | tr -d '"')"

# perf was asked for fewer (max-stack=20), of which the kernel's half has five
{
	sed -e 's/^event.*/& frames=20/; $d' full.txt
	echo "sample pid=9 tid=9 cpu=0 time=9 k=$(seq -s , 5) u=$in_leaf$(printf ",$after_rec%.0s" $(seq 14))"
} >asked.txt
"$MKCAP" asked.txt full.data && "$B" ingest -q -f -o full.db full.data 2>err
is as_many_frames_as_were_asked_for_are_full "cut (full) \N" \
	"$(one full.db 'SELECT class, coalesce(fix, "\N") FROM trust' | tr -d '"' | tr '|,' '  ')"
sed 's/ frames=20//' asked.txt >other.txt
"$MKCAP" other.txt full.data && "$B" ingest -q -f -o full.db full.data 2>err
is and_otherwise_they_are_not "ends early (unread)" "$(one full.db 'SELECT class FROM trust' | tr -d '"')"

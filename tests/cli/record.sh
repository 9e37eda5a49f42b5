#!/bin/sh
# record.sh - which command line of perf is chosen, and how a recording ends.
# usage: BACKSTITCH=build/backstitch tests/cli/record.sh
#
# A stand-in for perf answers as several versions do on several kernels, and
# logs what it was given; at the end the real one records, where it may.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=$root/tests/captures
mkdir "$work/bin" "$work/tmp" || exit 2
cd "$work" || exit 2
real=$PATH
TMPDIR=$work/tmp
export TMPDIR

# What the stand-in knows: $LIKE is a version, with what the kernel does of it.
cat >bin/perf <<'EOF'
#!/bin/sh
# answers like perf; $LIKE says which, $FAIL what goes wrong
echo "$*" >>"$LOG"
case $1 in
--version) echo "perf version 6.1"; exit 0 ;;
evlist)
	case $LIKE in
	*cycles*) name=cycles ;;
	*task*) name=task-clock ;;
	*) name=cpu-clock ;;
	esac
	case $LIKE in
	*user*) name="$name:u" more=", exclude_kernel: 1" ;;
	esac
	case $LIKE:$(cat "$LOG.graph") in
	*defer*:fp,defer) more="$more, defer_callchain: 1, defer_output: 1" ;;
	esac
	echo "$name: type: 1, size: 128, freq: 1$more"
	exit 0 ;;
esac
[ "$1" = record ] || exit 129
shift
mmap= all= event=
while [ $# -gt 0 ]
do
	case $1 in
	--call-graph) echo "$2" >"$LOG.graph"; graph=$2; shift 2 ;;
	-m) mmap=$2; shift 2 ;;
	-o) out=$2; shift 2 ;;
	-e) event=$2; shift 2 ;;
	-F | -k | -p | -b) shift 2 ;;
	--buildid-mmap)
		case $LIKE in
		*noids*) echo "Error: unknown option \`buildid-mmap'" >&2; exit 129 ;;
		*oldids*) echo "Failed: no support to record build id in mmap events, update your kernel." >&2; exit 255 ;;
		esac
		shift ;;
	-a) all=1; shift ;;
	--no-bpf-event)
		case $LIKE in *nobpf*) echo "Error: unknown option \`no-bpf-event'" >&2; exit 129 ;; esac
		: >"$LOG.quick"
		shift ;;
	--) shift; break ;;
	*) echo "unknown option $1" >&2; exit 129 ;;
	esac
done
# perf before 6.18 with its own parser knows no more than these
case $LIKE:$graph in
*strict*:fp,defer) echo "callchain: No more arguments needed for --call-graph fp" >&2; exit 129 ;;
*nocycles*) [ "$event" != cycles ] || { echo "The cycles event is not supported." >&2; exit 255; } ;;
esac
case $FAIL in
paranoid)
	echo "Access to performance monitoring and observability operations is limited." >&2
	echo "perf_event_paranoid setting is 4:" >&2
	exit 255 ;;
mlock) [ -z "$mmap" ] || {
	echo "Permission error mapping pages." >&2
	echo "Consider increasing /proc/sys/kernel/perf_event_mlock_kb," >&2
	exit 255
} ;;
esac
case $out in
/proc/*)
	: >"$out"
	# what a trial along frame pointers sees
	case $TRIAL:$*:$graph in
	?*:sleep*:fp*)
		sed "s/OURS/$PPID/g; s/SHELL/$SHELL_PID/g" "$TRIAL" >"$LOG.txt" &&
			"$MKCAP" "$LOG.txt" "$out" ;;
	esac
	exit 0 ;;
esac
case $FAIL in
late) echo "failed to write perf data, error: No space left on device" >&2; exit 255 ;;
esac
cp "$CAPTURE" "$out"
echo "$$" >"$LOG.pid"
"$@"
status=$?
[ ! "$WAIT" ] || {
	trap 'trap - INT; kill $!; kill -INT $$' INT
	sleep 60 &
	wait $!
	exit 99
}
exit $status
EOF
chmod +x bin/perf
# the same of trace-cmd, which has no --version
sed 's/^--version) .*/--version) echo usage; exit 255 ;;/' bin/perf >bin/trace-cmd
chmod +x bin/trace-cmd
LOG=$work/log
CAPTURE=$cap/fp-1.data
SHELL_PID=$$
export LOG CAPTURE LIKE FAIL WAIT TRIAL SHELL_PID
PATH=$work/bin:$PATH

cat >prog.c <<'EOF'
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline)) void leaf(unsigned long n)
{
	for (unsigned long i = 0; i < 1000; i++)
		sink += i ^ n;
}
__attribute__((noinline)) void middle(unsigned long n)
{
	leaf(n);
	leaf(n + 1);
	sink++;
}
__attribute__((noinline)) void run(unsigned long n)
{
	volatile char deep[DEEP];

	for (unsigned long i = 0; i < n; i++) {
		deep[i % sizeof(deep)] = 1;
		middle(i);
	}
	sink++;
}
int main(int argc, char **argv)
{
	run(argc > 1 ? strtoul(argv[1], NULL, 0) : 1);
	return argc > 2 ? atoi(argv[2]) : 0;
}
EOF
# a program that is all of its code: no libc, frames or none
cat >alone.c <<'EOF'
static volatile unsigned long sink;
#define F(a, b) __attribute__((noinline)) void a(void) { b(); sink++; }
static __attribute__((noinline)) void last(void) { sink++; }
F(f1, last) F(f2, f1) F(f3, f2) F(f4, f3) F(f5, f4) F(f6, f5)
void _start(void)
{
	f6();
	__asm__ volatile("" ::: "memory");
	for (;;)
		sink++;
}
EOF
cc=${CC:-gcc}
fp="-fno-omit-frame-pointer"
$cc -O2 -DDEEP=3000 -o prog prog.c &&
	$cc -O2 -DDEEP=20000 -o deep prog.c &&
	$cc -O2 $fp -static -nostdlib -ffreestanding -o frames alone.c &&
	$cc -O2 -fomit-frame-pointer -static -nostdlib -ffreestanding \
		-o noframes alone.c || exit 2
printf '#!/usr/bin/env sh\n./prog\n' >script
printf '#!%s/script\n' "$work" >script2
chmod +x script script2

# dry NAME WANTED OPTION...: the command line that is chosen
dry() {
	name=$1 wanted=$2
	shift 2
	"$B" record --dry-run "$@" >out 2>err
	is "$name" "$wanted" "$(grep -m1 -E "^([A-Z_]+=('[^']*'|[a-z0-9-]+) )?perf record" err)"
}

# ---- what perf and the kernel have
LIKE=defer,cycles
dry deferred_where_the_kernel_takes_it \
	'perf record -e cycles -F 997 --call-graph fp,defer --buildid-mmap -o perf.data -- ./frames' ./frames
# Parts that gcc moves away begin with the frame set, and functions that it
# wraps tightly set it late: neither lacks it.
cat >parts.c <<'END'
volatile long sum;
__attribute__((noinline, cold, noreturn)) static void stop(long n)
{
	__asm__ volatile("syscall" : : "a"(231L), "D"(n) : "memory");
	__builtin_unreachable();
}
__attribute__((noinline)) static void add(long n) { sum += n; }
#define PART(n) __attribute__((noinline)) static void part##n(long k) \
	{ if (k == n) return; add(k); \
	  if (__builtin_expect_with_probability(sum < -n, 0, 1.0)) stop(n); add(n); }
PART(1) PART(2) PART(3) PART(4) PART(5) PART(6) PART(7) PART(8) PART(9)
__attribute__((force_align_arg_pointer)) void _start(void)
{
	part1(0), part2(0), part3(0), part4(0), part5(0), part6(0), part7(0), part8(0), part9(0);
	stop(0);
}
END
$cc -O2 $fp -static -nostdlib -ffreestanding -o parts parts.c || exit 2
dry parts_and_tightly_wrapped_functions_have_frame_pointers \
	'perf record -e cycles -F 997 --call-graph fp,defer --buildid-mmap -o perf.data -- ./parts' ./parts
# a program of one function, which the C library's _start calls
cat >small.c <<'END'
volatile long sum;
__attribute__((noinline)) static void add(long n) { sum += n; }
__attribute__((noreturn, used)) static void run(void) { for (;;) { add(1); add(sum); } }
__asm__(".globl _start\n.type _start, @function\n_start:\n.cfi_startproc\n.cfi_undefined rip\n"
	"xor %ebp, %ebp\nand $-16, %rsp\ncall run\nhlt\n.cfi_endproc\n.size _start, .-_start\n");
END
$cc -O2 $fp -static -nostdlib -ffreestanding -o small small.c || exit 2
dry where_a_stack_begins_no_frame_pointer_lacks \
	'perf record -e cycles -F 997 --call-graph fp,defer --buildid-mmap -o perf.data -- ./small' ./small
LIKE=cycles
dry ignored_deferral_is_seen_and_not_asked_for \
	'perf record -e cycles -F 997 --call-graph fp --buildid-mmap -o perf.data -- ./frames' ./frames
LIKE=noids,cycles
dry a_perf_that_takes_no_build_ids_of_mappings_is_not_asked_for_them \
	'perf record -e cycles -F 997 --call-graph fp -o perf.data -- ./frames' ./frames
LIKE=oldids,cycles
dry nor_is_one_on_a_kernel_that_gives_none \
	'perf record -e cycles -F 997 --call-graph fp -o perf.data -- ./frames' ./frames
rm -f "$LOG.quick"
LIKE=nobpf,cycles
dry a_perf_that_cannot_do_without_bpf_is_asked_again \
	'perf record -e cycles -F 997 --call-graph fp --buildid-mmap -o perf.data -- ./frames' ./frames
# a runtime that was started as the note would say
cp noframes python3.12
for how in 'PYTHONPERFSUPPORT=1 ./python3.12 x.py' './python3.12 -X perf x.py' './python3.12 -Xperf x.py'
do
	# shellcheck disable=SC2086 # words
	env $how &
	python=$!
	soon grep -q /python3.12 "/proc/$python/maps"
	"$B" record --dry-run -p $python >out 2>err
	# shellcheck disable=SC2086 # words
	case $how in *-X*) "$B" record --dry-run -- $how >>out 2>>err ;; esac
	kill $python
	wait $python 2>/dev/null
	is "no_note_for: $how" 0 "$(grep -c 'have no names' err)"
done
"$B" record --dry-run -- ./python3.12 perf.py >out 2>err
says without_it_there_is_one "functions will have no names; 'backstitch record --runtime'" err
# what its own command removes, perf does not find when the recording ends
cp frames go
"$B" record --dry-run -- ./go run x.go >out 2>err
says go_run_removes_the_program "'go build -o PROGRAM' first, then record PROGRAM" err
"$B" record --dry-run -- ./go test ./... >out 2>err
says so_does_go_test "'go test -c -o PROGRAM' first" err
"$B" record --dry-run -- ./go build x.go >out 2>err
is others_do_not 0 "$(grep -c 'removes the program' err)"
LIKE=cycles
dry what_records_takes_names_of_bpf_programs \
	'perf record -e cycles -F 997 --call-graph fp --buildid-mmap -o perf.data -- ./frames' ./frames
[ -e "$LOG.quick" ]
ok and_the_trial_does_not_wait_for_them $?
LIKE=strict,cycles
dry refused_deferral_too \
	'perf record -e cycles -F 997 --call-graph fp --buildid-mmap -o perf.data -- ./frames' ./frames
LIKE=defer,cycles
dry no_frame_pointers_means_dumps_on_any_kernel \
	'perf record -e cycles -F 997 --call-graph dwarf,16384 -m 4M --buildid-mmap -o perf.data -- ./noframes' ./noframes
LIKE=clock
dry the_event_that_perf_fell_back_to \
	'perf record -e cpu-clock -F 997 --call-graph fp --buildid-mmap -o perf.data -- ./frames' ./frames
LIKE=task
dry the_event_that_perf_7_2_falls_back_to \
	'perf record -e cpu-clock -F 997 --call-graph fp --buildid-mmap -o perf.data -- ./frames' ./frames
LIKE=nocycles
dry an_event_that_perf_refuses \
	'perf record -e cpu-clock -F 997 --call-graph fp --buildid-mmap -o perf.data -- ./frames' ./frames
LIKE=cycles,user
dry only_user_mode_where_only_that_is_allowed \
	'perf record -e cycles:u -F 997 --call-graph fp --buildid-mmap -o perf.data -- ./frames' ./frames
says and_says_that_the_kernel_is_missing "note: without the kernel's part" err
LIKE=cycles FAIL=mlock
dry buffers_that_may_not_be_locked_are_left_at_the_default \
	'perf record -e cycles -F 997 --call-graph dwarf,16384 --buildid-mmap -o perf.data -- ./noframes' ./noframes
FAIL=

# ---- what is to be recorded
dry a_libc_without_frame_pointers_is_enough \
	'perf record -e cycles -F 997 --call-graph dwarf,16384 -m 4M --buildid-mmap -o perf.data -- ./prog 5' ./prog 5
dry options_behind_the_program_are_its_own \
	'perf record -e cycles -F 997 --call-graph fp --buildid-mmap -o perf.data -- ./frames --dry-run -a -- x' \
	./frames --dry-run -a -- x
dry words_are_quoted_for_a_shell \
	"perf record -e cycles -F 997 --call-graph fp --buildid-mmap -o perf.data -- ./frames 'a b' 'it'\\''s'" \
	./frames 'a b' "it's"
dry a_url_with_a_password_is_left_alone \
	'perf record -e cycles -F 997 --call-graph fp --buildid-mmap -o perf.data -- ./frames http://u:secret@h/' \
	./frames http://u:secret@h/
dry all_cpus \
	'perf record -e cycles -F 997 --call-graph dwarf,16384 -m 4M --buildid-mmap -a -o all.data -- sleep 0.5' \
	-a --for 0.5s -o all.data
dry a_program_that_is_ended \
	'perf record -e cycles -F 997 --call-graph fp --buildid-mmap -o perf.data -- timeout --foreground 60 ./frames' \
	--for 1m ./frames
dry larger_dumps_of_another_event \
	'perf record -e instructions -F 99 --call-graph dwarf,32768 -m 8M --buildid-mmap -o perf.data -- ./prog' \
	-e instructions -F 99 --dump 32K -- ./prog
others="-e 'sched:sched_wakeup*/call-graph=no/' -e 'irq:*_e*/call-graph=no/' -e irq:softirq_raise/call-graph=no/ -e block:block_rq_complete/call-graph=no/"
switches="-e sched:sched_switch -e sched:sched_waking $others"
dry each_switch_and_wake_up \
	"perf record -e cpu-clock/freq=997,name=cpu-clock/ $switches --call-graph fp -m 16M --buildid-mmap -k CLOCK_MONOTONIC -a -o perf.data -- ./frames" \
	--waits --tracer perf -e cpu-clock ./frames
dry with_the_dumps_that_are_asked_for \
	"perf record -e cpu-clock/freq=997,call-graph=dwarf,stack-size=16384,name=cpu-clock/ -e sched:sched_switch/call-graph=fp/ -e sched:sched_waking/call-graph=fp/ $others -m 16M --buildid-mmap -k CLOCK_MONOTONIC -a -o perf.data -- ./frames" \
	--waits --tracer perf --dump 16K -e cpu-clock ./frames
dry of_a_process_on_all_cpus \
	"perf record -e cpu-clock/freq=997,name=cpu-clock/ $switches --call-graph fp -m 16M --buildid-mmap -k CLOCK_MONOTONIC -a -o perf.data -- sleep 1" \
	--waits --tracer perf -e cpu-clock --for 1s -p $$
dry in_rings_that_say_what_they_lost \
	'perf record -e cycles -F 997 --call-graph fp --buildid-mmap -k CLOCK_MONOTONIC -a -o perf.data -- ./frames' \
	--waits --tracer ftrace ./frames
grep -q 'an instance of ftrace, into the folder perf.data.ftrace$' err
ok and_the_rest_by_ftrace $?
./frames &
frames=$!
soon grep -q /frames "/proc/$frames/maps"
dry a_process "perf record -e cycles -F 997 --call-graph fp --buildid-mmap -p $frames -o perf.data" -p $frames
is of_one_whose_files_are_at_their_paths_nothing_is_said 0 \
	"$(grep -c 'was replaced' err)"
mv frames kept && cp noframes frames
"$B" record --dry-run -p $frames >out 2>err
is nor_if_the_old_one_has_another_name 0 "$(grep -c 'was replaced' err)"
cp kept frames && rm kept
"$B" record --dry-run -p $frames >out 2>err
is a_deleted_one_without_another_at_its_path_is_not_replaced 0 \
	"$(grep -c 'was replaced' err)"
kill $frames
wait $frames 2>/dev/null
./frames &
frames=$!
soon grep -q /frames "/proc/$frames/maps"
cp noframes other && cp frames same && mv other frames
"$B" record --dry-run -p $frames >out 2>err
says a_program_that_was_replaced_is_named \
	"note: $work/frames was replaced since process $frames mapped it: functions of the old file will have no names" err
says the_old_file_is_what_frame_pointers_are_asked_of \
	'call-graph fp ' err
how=$(sed -n "s/.*as long as it runs, '\([^']*\)' keeps that.*/\1/p" err)
sh -c "$how" && cmp -s same "old$work/frames"
ok and_following_the_advice_keeps_the_old_one $?
mv same frames
kill $frames
wait $frames 2>/dev/null
python3 -c 'import mmap, os, time
m = mmap.mmap(os.open("/dev/zero", os.O_RDWR), 4096, mmap.MAP_PRIVATE,
              mmap.PROT_READ | mmap.PROT_EXEC)
time.sleep(60)' &
zero=$!
soon grep -q /dev/zero "/proc/$zero/maps"
"$B" record --dry-run -p $zero >out 2>err
is a_device_is_no_file_that_was_replaced 0 "$(grep -c 'was replaced' err)"
kill $zero
wait $zero 2>/dev/null
# the program names its loader, which may be anybody's program
printf '#!/bin/sh\necho ran >>evil.log\n' >evil && chmod +x evil &&
	echo 'int main(void) { return 0; }' |
	gcc -x c -o hostile - -Wl,--dynamic-linker="$work/evil"
"$B" record --dry-run -- ./hostile >out 2>err
is the_loader_that_a_program_names_is_not_run '0' "$?$(cat evil.log 2>/dev/null)"
for s in script script2
do
	"$B" record --dry-run ./$s >out 2>err
	grep -qE "of (dash|bash|busybox|libc.so.6|libc-[0-9.]*so|ld-musl.*), [0-9]+ of [0-9]+ functions" err
	ok "of_a_${s}_the_interpreter" $?
done
# of a name, the code does not matter: Python 3.13's is there by its name alone
cp noframes java && cp noframes python3.12 && cp noframes python3.13 && cp frames node || exit 2
dry code_made_at_run_time_needs_its_clock \
	'perf record -e cycles -F 997 --call-graph dwarf,16384 -m 4M --buildid-mmap -k CLOCK_MONOTONIC -o perf.data -- ./python3.13' \
	./python3.13
says and_its_switch_is_told "note: CPython's functions will have no names; 'backstitch record --runtime' with these arguments sets PYTHON_PERF_JIT_SUPPORT=1" err
dry the_switch_is_set_when_asked_for \
	'NODE_OPTIONS=--perf-basic-prof perf record -e cycles -F 997 --call-graph fp --buildid-mmap -k CLOCK_MONOTONIC -o perf.data -- ./node' \
	--runtime ./node
dry java_writes_a_map_and_its_stacks_are_larger \
	"JAVA_TOOL_OPTIONS='-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit' perf record -e cycles -F 997 --call-graph dwarf,32768 -m 8M --buildid-mmap -k CLOCK_MONOTONIC -o perf.data -- ./java" \
	--runtime ./java
dry trampolines_are_known_and_need_no_jitdump \
	'PYTHONPERFSUPPORT=1 perf record -e cycles -F 997 --call-graph dwarf,16384 -m 4M --buildid-mmap -k CLOCK_MONOTONIC -o perf.data -- ./python3.12' \
	--runtime ./python3.12
ok dry_run_records_nothing "$(test ! -e perf.data; echo $?)"
is and_leaves_nothing '' "$(ls tmp)"

# ---- deferred stacks, where those of a trial are whole
# trial WHOLE OTHERS [PID]: a capture of so many samples, others of that process
after()
{
	objdump -d framed | awk -v f="<$1>:" '$2 == f { on = 1 }
		seen { sub(":", "", $1); print "0x" $1; exit }
		on && /\tcall/ { seen = 1 }'
}
$cc -O2 $fp -static -nostdlib -ffreestanding -Wl,--build-id -o framed alone.c || exit 2
id=$(readelf -n framed | awk '/Build ID/ { print $3 }')
u=$(after f5),$(after f6),$(after _start)
trial()
{
	awk -v whole="$1" -v others="$2" -v pid="${3:-100}" -v u="$u" -v id="$id" \
		-v path="$PWD/framed" 'BEGIN {
		print "event cpu-clock defer period=1000000\nevent dummy:u output"
		print "fork pid=SHELL tid=SHELL ppid=1 ptid=1 cpu=0 time=0"
		print "fork pid=OURS tid=OURS ppid=SHELL ptid=SHELL cpu=0 time=0"
		print "fork pid=102 tid=102 ppid=OURS ptid=OURS cpu=0 time=0"
		print "comm pid=100 name=framed"
		print "mmap pid=100 start=0x401000 len=0x1000 pgoff=0x1000 path=" path " id=" id
		for (i = 1; i <= whole; i++) {
			t = (1000 + i) "000000"
			print "sample pid=100 tid=100 cpu=0 time=" t " cookie=0:" i
			print "chain cookie=0:" i " pid=100 tid=100 cpu=0 time=" t " u=" u
		}
		for (; i <= whole + others; i++)
			print "sample pid=" pid " tid=" pid " cpu=0 time=" 1000 + i "000000 u=0x500000"
	}' >trial.txt
	rm -f perf.data
}
# chosen NAME WANTED OPTION...: of a recording with such a trial
chosen()
{
	name=$1 wanted=$2
	shift 2
	"$B" record "$@" >out 2>err
	is "$name" "$wanted" "$(sed -n 's/^perf record .*--call-graph \([^ ]*\) .*/\1/p' err)"
}
export MKCAP
TRIAL=$work/trial.txt LIKE=defer,cycles
trial 39 1
chosen all_cpus_whose_stacks_are_whole fp,defer -a --for 0.1s
says and_how_many_were_is_said \
	'deferred stacks, which this kernel and perf have: of a trial, 97.50 % of the deferred user stacks are whole' err
chosen of_a_process_too fp,defer -p $$ --for 0.1s
chosen and_while_a_program_runs fp,defer -a ./prog
trial 30 5
chosen where_they_are_not_there_are_dumps dwarf,16384 -a --for 0.1s
says and_why_is_said 'of a trial, 85.71 % of the deferred user stacks are whole' err
chosen of_a_process_they_are_not dwarf,16384 -p $$ --for 0.1s
for ours in OURS 102 SHELL
do
	trial 30 5 $ours
	chosen "what_records_does_not_count: $ours" fp,defer -a --for 0.1s
done
trial 9 0
chosen of_a_few_nothing_is_known dwarf,16384 -a --for 0.1s
chosen but_of_the_code_that_will_run fp,defer -a ./parts
: >log
LIKE=cycles
trial 39 1
chosen where_none_can_be_had_there_are_dumps dwarf,16384 -a --for 0.1s
is and_no_cpu_is_recorded_to_ask 0 "$(grep -c 'fp,defer.* -a .*-o /proc' log)"
TRIAL=
LIKE=defer,cycles
dry switches_are_deferred_too \
	"perf record -e cycles/freq=997,name=cycles/ $switches --call-graph fp,defer -m 16M --buildid-mmap -k CLOCK_MONOTONIC -a -o perf.data -- ./frames" \
	--waits --tracer perf ./frames
LIKE=cycles
rm -f perf.data

# ---- how it ends
: >log
"$B" record -- ./prog 1 7 >out 2>err
is the_status_is_that_of_the_program 7 $?
says then_comes_the_first_screen 'How to go on:' err
is but_not_in_the_output_of_the_program '' "$(cat out)"
is the_line_that_was_printed_is_what_ran "$(grep -m1 '^perf record' err)" \
	"perf $(grep -v /proc/ log | grep '^record')"
WAIT=1
rm -f log.pid
# a shell ignores SIGINT for what it starts in the background
env --default-signal=INT "$B" record --for 0.2s -a >out 2>err &
job=$!
soon test -s log.pid
kill -INT $job
wait $job
is ctrl_c_ends_a_recording_of_all_cpus_well 0 $?
says and_shows_it 'How to go on:' out
rm -f log.pid perf.data
"$B" record -a >out 2>err &
job=$!
soon test -s log.pid
kill -KILL $job
wait $job 2>/dev/null
soon sh -c "! kill -0 $(cat log.pid) 2>/dev/null"
ok perf_ends_with_a_command_that_is_killed $?
rm -f log.pid perf.data
WAIT=
"$B" record --for 0.2s sleep 60 >out 2>err
is time_that_is_over_is_no_error 0 $?
"$B" record --for 60s ./prog 1 5 >out 2>err
is and_before_that_the_status_is_that_of_the_program 5 $?
printf '#!/bin/sh\ntrap - PIPE\nkill -PIPE $$\n' >piped
chmod +x piped
"$B" record ./piped >out 2>err
is the_program_does_not_inherit_what_we_ignore 141 $?

# ---- what goes wrong
# wrong NAME STATUS TEXT OPTION...
wrong() {
	name=$1 status=$2 text=$3
	shift 3
	"$B" record "$@" >out 2>err
	is "$name" "$status" $?
	tr -s '\n ' '  ' <err >flat
	says "${name}_says_so" "$text" flat
}
rm -f perf.data
wrong no_program 127 'nothing-like-it: no such program' nothing-like-it
: >data
wrong no_right_to_it 126 './data: no such program, or no right to it' ./data
wrong no_program_of_path 127 'data: no such program' data
wrong neither 2 'which program? or -p PID, or -a'
wrong no_process 1 '2147483646: no such process' -p 2147483646
wrong both 2 '-p is of a process, not with a program' -p 1 ./prog
wrong a_time_without_sense 2 '--for needs a time, such as 10s' --for 10x ./prog
wrong a_size_for_a_time 2 '--for needs a time, such as 10s' --for 10M ./prog
wrong an_odd_dump 2 'a multiple of 8, at most 65528' --dump 100 ./prog
wrong a_tracer_of_what 2 '--tracer needs --waits' --tracer ftrace ./prog
wrong another_tracer 2 "ftrace" --waits --tracer dtrace ./prog
wrong waits_of_a_process_and_a_program 2 '-p is of a process, not with a program or -a' --waits -p 1 ./prog
wrong waits_and_a_mode 2 'the plain name of an event, as cpu-clock' --waits -e cycles:u ./prog
wrong a_pipe 2 "needs the name of a file" -o - ./prog
: >log
wrong a_folder 2 '-o needs the name of a file, and this is a folder' -o tmp ./prog
"$B" ingest -q -o kept.db "$cap/naps.data" 2>/dev/null
wrong a_database 1 'kept.db: exists and is a database' -o kept.db ./prog
is nothing_ran_before_that '' "$(cat log)"
FAIL=paranoid
if [ "$(id -u)" = 0 ]
then
	wrong root_in_a_container 1 'a container needs --cap-add PERFMON' ./prog
	chmod 755 "$work"
	chmod 777 tmp log log.*
	cp "$B" "$work/backstitch"
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$work/backstitch" record ./prog >out 2>err
	rc=$?
	tr -s '\n ' '  ' <err >flat
	# what tests make may be in a folder that is closed to others
	if ! setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$work/backstitch"
	then
		echo "skip a_user_is_told_the_level: the folder is closed to other users"
		"$work/backstitch" record ./prog >out 2>err
	else
		is not_root 1 "$rc"
		says a_user_is_told_the_level \
			"perf may not record this; as root, 'sysctl kernel.perf_event_paranoid=1' allows it" flat
	fi
else
	wrong not_root 1 "perf may not record this; as root, 'sysctl kernel.perf_event_paranoid=1' allows it" ./prog
fi
says what_perf_said_is_passed_on 'perf: perf_event_paranoid setting is 4:' err
FAIL=late
wrong no_capture 1 'perf.data: perf wrote no capture; its reason is above' ./prog
FAIL=
mkdir empty
for c in true sh
do
	ln -s "$(command -v $c)" empty/$c
done
PATH=$work/empty "$B" record ./prog >out 2>err
says no_perf 'perf is not installed' err

# ---- --again
rm -f perf.db
zstd -qdf "$cap/shop.data.zst" -o perf.data || exit 2
"$B" record --again --dry-run ./prog >out 2>err
is lost_records_give_larger_buffers 1 "$(grep -c ' -m 8M ' err)"
says and_are_counted 'records were lost: buffers of 8 MB' err
"$B" ingest -q -o cut.db "$cap/deep.data.zst" 2>err && sqlite3 cut.db "UPDATE internal_user_trust
	SET judged = 'cut (truncated_dump)', mark = NULL; UPDATE meta SET value = 16384 WHERE key = 'dump_bytes';
	UPDATE capture SET cmdline = '/usr/bin/perf record -m 4M'"
"$B" record --again --dry-run -o cut.db ./prog >out 2>err
"$B" record --dry-run --dump 65528 ./prog >out 2>want
is larger_dumps_have_the_buffers_for_these "$(grep -o 'dwarf,65528 -m [0-9]*M ' want)" \
	"$(grep -o 'dwarf,65528 -m [0-9]*M ' err)"

# ---- perf itself
PATH=$real
if ! perf record -q -e cpu-clock --call-graph dwarf -o try.data -- true >/dev/null 2>&1
then
	echo "skip what perf records: it is not installed, or may not record here"
	exit 0
fi
rm -f perf.data perf.db
"$B" record ./prog 100000 3 >out 2>err
is perf_passes_the_status_on 3 $?
grep -qE '^(All|>?9[5-9]\.[0-9]+ % of the)( [0-9,]+)? user stacks are whole' err
ok all_stacks_are_whole $?
"$B" record --dump 1K ./prog 100000 >out 2>err
says what_would_be_learned_is_said \
	"'backstitch record --again' with these arguments has larger stack dumps" err
"$B" record --again --dry-run ./prog >out 2>err
says dumps_that_are_mostly_too_small_become_the_largest 'dumps of 65528 bytes' err
is and_are_asked_for 1 "$(grep -c 'call-graph dwarf,65528 ' err)"
# as perf 7.2 does, which stores no word of its command line but the first
cp perf.db fewer.db
sqlite3 fewer.db "UPDATE capture SET cmdline = '/usr/bin/perf'; INSERT INTO internal_user_trust
	SELECT type, NULL, 'whole', NULL, 9 * sum(n), NULL FROM internal_user_trust"
"$B" record --again --dry-run -o fewer.db ./prog >out 2>err
says of_a_perf_that_does_not_say_its_options_too 'dumps of 2048 bytes' err
cp perf.db lossy.db
sqlite3 lossy.db "INSERT INTO loss(capture, what, counts, n) SELECT 1, 'lost', 1, count(*) FROM event"
"$B" record --again --dry-run -o lossy.db ./prog >out 2>err
is where_more_is_lost_than_cut_dumps_do_not_grow 1 "$(grep -c 'call-graph dwarf,1024 ' err)"
./deep 4000000000 &
deep=$!
soon grep -q /deep "/proc/$deep/maps"
"$B" record --for 0.2s -p $deep >out 2>err
kill $deep
wait $deep 2>/dev/null
says half_a_second_of_a_process_says_how_large_dumps_must_be \
	'user stacks end with their dump: dumps of 65528 bytes' err
grep -qE '^(All|>?9[5-9]\.[0-9]+ % of the)( [0-9,]+)? user stacks are whole' out
ok and_then_they_are_whole $?
is and_the_trial_is_gone '' "$(ls tmp)"
# it ends behind the first of perf's recordings of it, which is one of these
mkdir late
cat >late/perf <<'END'
#!/bin/sh
PATH=$REAL
perf "$@"
status=$?
case "$*" in
record*" -p $LATE "*) kill "$LATE" 2>/dev/null ;;
esac
exit $status
END
chmod +x late/perf
./deep 4000000000 &
deep=$!
soon grep -q /deep "/proc/$deep/maps"
REAL=$real LATE=$deep PATH=$work/late:$PATH "$B" record -o late.data -p $deep >out 2>err
is what_was_seen_of_a_process_that_ended_is_kept 0 $?
wait $deep 2>/dev/null
says and_that_is_said "process $deep has ended: late.data has what was seen of it" err
is that_is_each_sample_that_perf_has "$(PATH=$real perf script -F time -i late.data 2>/dev/null | grep -c '[0-9]:')" \
	"$("$B" query late.db 'SELECT count(*) FROM samples' | tail -n 1 | tr -d ' ')"
if [ "$(id -u)" = 0 ] && mkdir /sys/kernel/tracing/instances/try$$ 2>/dev/null
then
	rmdir /sys/kernel/tracing/instances/try$$
	# what a killed one leaves, what one that lives has, and a folder that
	# an earlier recording of more CPUs wrote, with a link in it
	instances=/sys/kernel/tracing/instances
	mkdir $instances/backstitch-dead$$ $instances/backstitch-alive$$
	flock $instances/backstitch-alive$$ sleep 600 &
	alive=$!
	mkdir -p both.data.ftrace/per_cpu/cpu4000
	echo stale >both.data.ftrace/per_cpu/cpu4000/trace_pipe_raw
	echo kept >victim
	ln -s ../victim both.data.ftrace/kallsyms
	"$B" record --waits -o both.data -- \
		sh -c 'sleep 0.02; ./prog 100000; sleep 0.02' >out 2>err &
	made=$!
	wait $made
	is the_status_is_the_programs_with_ftrace_too 0 $?
	says where_ftrace_may_it_records 'by an instance of ftrace, into the folder both' err
	tr '\n' ' ' <err | grep -q ' took .* [1-9][0-9.]* % proved'
	ok switches_are_ftraces_and_proved $?
	is samples_are_of_the_same_timeline '1:ftrace 1:perf' "$("$B" query \
		--format csv both.db "SELECT DISTINCT c.together, c.format
		FROM capture c JOIN event_type e ON e.capture = c.id AND
		(e.name LIKE '%sched_switch' OR e.name LIKE '%clock%' OR
		e.name LIKE '%cycles%') AND e.events > 0 ORDER BY 2" |
		awk -F, 'NR > 1 { printf "%s%s:%s", n++ ? " " : "", $1, $2 }')"
	is the_machine_of_its_rings_is_known "$(uname -n):$(uname -r)" "$("$B" query \
		--format csv both.db "SELECT host || ':' || release FROM capture
		WHERE format = 'ftrace'" | tail -1)"
	n=$("$B" query --format csv both.db "SELECT sum(e.kraw NOT NULL)
		FROM event e JOIN event_type t ON t.id = e.type
		WHERE t.name LIKE '%sched_switch'" | tail -1)
	[ "${n:-0}" -gt 10 ]
	ok "and_have_stacks: $n" $?
	is no_page_of_an_earlier_recording_is_left '' \
		"$(find both.data.ftrace -path '*cpu4000/*')"
	is a_link_in_the_folder_is_replaced_and_not_followed kept "$(cat victim)"
	[ -s both.data.ftrace/kallsyms ] && [ ! -L both.data.ftrace/kallsyms ]
	ok and_the_file_is_there $?
	is instances_are_gone_except_that_of_one_that_lives alive$$ "$(for i in $made dead$$ alive$$
		do
			[ ! -d $instances/backstitch-"$i" ] || echo "$i"
		done)"
	kill $alive
	wait $alive 2>/dev/null
	rmdir $instances/backstitch-alive$$
	mkdir elsewhere && ln -s elsewhere link.data.ftrace
	"$B" record --waits --tracer ftrace -o link.data -- true >out 2>err &
	made=$!
	wait $made
	says a_folder_that_is_a_link_is_refused 'link.data.ftrace: ' err
	is and_nothing_is_written_there '' "$(ls elsewhere)"
	[ ! -d $instances/backstitch-$made ]
	ok nor_is_an_instance_left $?

	"$B" record --waits --tracer ftrace -o own.data -- ./prog 100000 \
		>out 2>err
	tr '\n' ' ' <err |
		grep -qE 'prog \([0-9]+\) took [^;]*% computing in leaf[,; ]' ||
		{
			sed 's/^/# /' err
			false
		}
	ok where_a_program_computed_is_said $?
	mkdir -p asked
	printf '#!/bin/sh\necho "$*" >>%s/asked/said\nexec %s "$@"\n' "$PWD" "$(env sh -c "command -v perf")" >asked/perf
	chmod +x asked/perf
	PATH=$PWD/asked:$PATH "$B" record --dry-run --waits --tracer ftrace -- true 2>err2
	grep -q '^record ' asked/said && ! grep -q sched_ asked/said
	ok perf_is_not_asked_for_events_of_ftrace $?
	# on a busy machine, the answer comes before those that it is busy with; what is recorded is as it would be without
	mkdir -p hurries
	printf '#!/bin/sh\nnice >>%s/hurries/niceness\nexec %s "$@"\n' "$PWD" "$(env sh -c "command -v perf")" >hurries/perf
	chmod +x hurries/perf
	sleep 60 &
	asleep=$!
	PATH=$PWD/hurries:$PATH "$B" record --waits --for 2s -o hurries.data -p $asleep >out 2>hurries.err &
	made=$!
	i=0
	until grep -q '^recording' hurries.err || [ $i -gt 300 ]
	do
		sleep 0.05
		i=$((i + 1))
	done
	sleep 0.1
	is perf_and_recorder_hurry_until_they_record '-10 0 0' "$(sort -u hurries/niceness | tr '\n' ' ')$(for of in $made $(
		cat /proc/$made/task/$made/children)
	do
		awk '{ sub(/.*[)] /, ""); print $17 }' "/proc/$of/stat"
	done | tr '\n' ' ' | sed 's/ $//')"
	wait $made
	kill $asleep
	"$B" record --waits -o nice.data -- sh -c 'nice >program.nice' >out 2>err3
	is the_program_does_not_hurry 0 "$(cat program.nice)"
	rm hurries/niceness
	PATH=$PWD/hurries:$PATH nice -n 1 "$B" record --waits -o nice.data -- sh -c 'nice >program.nice' >out 2>err3
	is a_chosen_priority_is_kept '1 1' "$(sort -u hurries/niceness) $(cat program.nice)"
	"$B" record --waits --for 5s -o for.data -- sh -c 'sleep 1.5 | cat; :' \
		>out 2>for.err
	tr '\n' ' ' <for.err | grep -qE ' sh \([0-9]+\) took [^;]*waiting'
	ok a_program_with_an_end_is_not_timeout $?
	grep -q 'limits_call: .* call=read fd=0 path=pipe:' for.data.cgroups
	ok calls_of_what_a_program_started_are_looked_at $?
	"$B" record --waits -o accept.data -- python3 -c 'import socket
import os, threading, time
s = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=s.accept, daemon=True).start()
time.sleep(0.5)
os._exit(0)' >out 2>accept.err
	grep -q 'limits_call: .* call=accept4* fd=[0-9]* path=at-tcp:127' accept.data.cgroups &&
		! grep -q 'path=from-' accept.data.cgroups
	ok a_socket_that_listens_has_its_own_address $?
	if [ "$(cat /proc/2/comm)" = kthreadd ]
	then
		"$B" record --waits --for 0.3s -o kernel.data -p 2 >out 2>kernel.err
		grep -q 'limits_read: ' kernel.data.cgroups && ! grep -q 'limits_call: ' kernel.data.cgroups
		ok a_thread_of_the_kernel_is_in_no_call $?
	fi
	python3 -c 'import threading, time
threading.Thread(target=time.sleep, args=(60,)).start()' &
	pid=$!
	soon sh -c "ls /proc/$pid/task | sed -n 2p | grep ."
	tid=$(find /proc/$pid/task -mindepth 1 -maxdepth 1 ! -name $pid)
	tid=${tid##*/}
	"$B" record --waits --for 0.3s -o thread.data -p "$tid" >out 2>thread.err
	kill $pid
	grep -q "^$tid is a thread of process $pid, which is recorded" thread.err &&
		grep -q "limits_process: .*pid=$pid$" thread.data.cgroups
	ok a_thread_stands_for_its_process $?
	"$B" record --waits -o fast.data -- perf bench sched pipe -l 15000 >out 2>fast.err
	# of thousands; a CPU has 80 each 80 ms; an idle one leaves no
	# program, as often as not where nothing else runs
	"$B" query --format csv fast.db "SELECT count(*) > 2000 AND sum(kraw NOT NULL)
		BETWEEN 80 AND 1100 * $(getconf _NPROCESSORS_ONLN) *
			(1 + (max(time_ns) - min(time_ns)) / 1e9) AND
		sum(uraw NOT NULL) > 0.8 * sum(h.tid > 0) FROM event e
		JOIN event_type t ON t.id = e.type JOIN thread h ON h.id = e.thread WHERE t.name LIKE '%sched_switch'" | tail -1 | grep -qx 1
	ok few_switches_of_many_have_the_kernels_stack $?
	"$B" query --format csv fast.db "SELECT sum(cause = 'read') > 0.9 * count(*)
		FROM wait WHERE comm = 'sched-pipe' AND state = 'S'" | tail -1 | grep -qx 1
	ok and_the_others_know_what_they_wait_for $?
	# the pipe must not be recorded for longer than the timers, nor run while that is read
	"$B" record --waits -o timed.data -- sh -c 'perf bench sched pipe -l 1000000 >pipe.txt &
		python3 -c "import select; [select.poll().poll(3) for _ in range(60)]"; kill $!' >out 2>timed.err
	# few of which have a stack, as those of the pipe take what there is; a timer
	# that expires before the thread sleeps wakes none
	is what_waits_with_a_timeout_is_woken_by_a_timer '1,0' "$("$B" query --format csv timed.db "SELECT
		sum(what = 'timer') >= 50, sum(what IS NULL) FROM wake
		WHERE comm = 'python3' AND context = 'hardirq'" | tail -1)"
	is and_the_function_of_the_tick_is_no_interval 0 "$("$B" query --format csv timed.db \
		"SELECT count(*) FROM interval WHERE kind = 'timer'" | tail -1)"
	pid=$(tr '\n' ' ' <err | sed -n 's/.*prog (\([0-9]*\)) took .*/\1/p')
	says the_hot_functions_are_those_of_the_program \
		"'backstitch report --pid $pid own.db' has the hot functions" err
	when=$("$B" path --json --limit 1 own.db | python3 -c '
import json, sys
p = json.load(sys.stdin)["program"]
print("%d.%09d,%d.%09d" % (*divmod(p["from_ns"], 10 ** 9), *divmod(p["to_ns"], 10 ** 9)))')
	"$B" path --limit 100000 --tid "$pid" --time "$when" own.db | tr -s ' \n' ' ' |
		grep -q ' prog runs on CPU [0-9]* in leaf[ ;]'
	ok a_piece_says_in_which_function_it_ran $?
	[ -s own.data.ftrace/events/vmscan/mm_vmscan_memcg_reclaim_begin/format ] ||
		[ ! -d /sys/kernel/tracing/events/vmscan/mm_vmscan_memcg_reclaim_begin ]
	ok when_threads_free_memory_is_recorded $?
	# advice is what record is given, and helps
	for i in '' .cgroups .ftrace
	do
		cp -rp own.data$i advice.data$i
	done
	"$B" ingest -q -o advice.db advice.data
	sqlite3 advice.db "INSERT INTO loss(capture, what, counts, n)
			SELECT id, 'lost', 1, 100 FROM capture WHERE format = 'ftrace';
		INSERT INTO internal_user_trust SELECT t.id, NULL, 'in no mapping',
			NULL, 9 * (SELECT sum(n) FROM internal_user_trust), NULL
			FROM event_type t WHERE t.name LIKE '%sched_switch'"
	"$B" check advice.db >out
	tr -s ' \n' ' ' <out | grep -q "are in no mapping\|have a frame in no mapping" &&
		! grep -qE 'trace-cmd|buffer_size_kb|perf record' out
	ok advice_is_not_of_a_recorder_that_was_not_used $?
	tr -s ' \n' ' ' <out | grep -q 'larger buffers: backstitch record --waits --again, with the same arguments'
	ok but_of_the_one_that_was $?
	# how many switches a recording has for each sample differs
	sqlite3 advice.db "DELETE FROM internal_user_trust
		WHERE type IN (SELECT id FROM event_type WHERE name LIKE '%sched%');
		UPDATE internal_user_trust
		SET judged = 'fabricated (no frame pointers)', frames = NULL"
	"$B" check advice.db | tr -s ' \n' ' ' >out
	grep -q "'backstitch record --waits --dump 16K' may mend" out || { sed 's/^/# /' out; false; }
	ok dumps_are_asked_for_as_record_takes_them $?
	"$B" record --waits --again --tracer ftrace --for 20s -o advice.data -- sleep 15 \
		>out 2>err &
	made=$!
	soon test -d $instances/backstitch-$made-more
	[ "$(tr -dc 0-9 <$instances/backstitch-$made/buffer_size_kb)" -gt 16384 ] ||
		[ "$(getconf _NPROCESSORS_ONLN)" -gt 16 ]
	ok and_then_the_rings_are_larger $?
	kill -INT $made
	wait $made
	# it ends once perf has seen it, which a busy machine puts off
	sleep 120 &
	pid=$!
	timeout 60 "$B" record --waits -p $pid -o gone.data >out 2>err &
	made=$!
	soon grep -q '^recording' err
	kill $pid
	wait $made
	rc=$?
	is the_end_of_the_process_ends_a_recording_of_all_cpus 0 $rc
	[ $rc = 0 ] || sed 's/^/# /' err
	# what is beside the capture is read with it, unless an earlier one left it
	mkdir beside && cp -r own.data own.data.ftrace own.data.cgroups beside
	"$B" ingest -q -o one.db beside/own.data &&
		"$B" ingest -q -o all.db beside/own.data beside/own.data.cgroups beside/own.data.ftrace
	for d in one all
	do
		"$B" query --format csv $d.db "SELECT path, format, samples FROM capture ORDER BY 1" >$d.csv
	done
	cmp -s one.csv all.csv && [ "$(wc -l <one.csv)" = 4 ]
	ok what_record_wrote_beside_a_capture_is_read_too $?
	# each ring of a CPU has losses of its own
	stats=beside/own.data.ftrace/more/per_cpu/cpu0/stats
	n=$(sed -n 's/^read events: //p' $stats)
	sed -i "s/^read events: .*/read events: $((n + 5))/" $stats
	is each_ring_lacks_what_its_own_stats_say 5 "$("$B" ingest -q -o more.db beside/own.data.ftrace
		"$B" query --format csv more.db 'SELECT sum(n) FROM loss WHERE counts' | tail -1 | tr -d '\r')"
	touch -d '1 minute' beside/own.data && "$B" ingest -q -f -o one.db beside/own.data
	is unless_it_is_of_an_earlier_one 1 "$("$B" query --format csv one.db 'SELECT count(*) FROM capture' | tail -1 | tr -d '\r')"
	rm -rf beside
	# samples of another thread that had its tid before are not its own
	sqlite3 own.db "UPDATE event SET time_ns = 1 WHERE type IN (SELECT id
		FROM event_type WHERE name LIKE '%clock%' OR
		name LIKE '%cycles%')"
	"$B" path own.db | tr '\n' ' ' |
		grep -qE 'prog \([0-9]+\) took [^;]*% computing[,;]' ||
		"$B" path own.db | tr '\n' ' ' | grep -qE 'took [^;]*% computing [0-9b]'
	ok samples_of_another_time_do_not_count $?

	# a CPU on which threads switch faster than its ring is read
	cat >ring.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* The ring of the first CPU is never empty. */
ssize_t read(int fd, void *to, size_t n)
{
	ssize_t (*real)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
	char link[64], path[256] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) > 0 && strstr(path, "/backstitch-") &&
	    strstr(path, "/cpu0/trace_pipe_raw"))
		memset(to, 0, n);
	else
		n = real(fd, to, n);
	return n;
}
END
	cc -shared -fPIC -o ring.so ring.c -ldl
	LD_PRELOAD=$work/ring.so ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 \
		timeout 120 "$B" record --waits --tracer ftrace -o always.data -- true >out 2>err
	is a_ring_that_never_is_empty_does_not_keep_it 0 $?
	rm -rf always.data*

	mkdir -p little.data.ftrace
	if mount -t tmpfs -o size=256k none little.data.ftrace 2>/dev/null
	then
		"$B" record --waits --tracer ftrace -o little.data -- \
			sh -c 'seq 300 | while read -r _; do true | cat; done
				sleep 0.5; echo ended >ended' >out 2>err
		is a_folder_without_room_is_an_error 1 $?
		umount little.data.ftrace
		says and_is_told_when_it_is_full \
			'No space left on device: from here on no switch' err
		is while_the_program_goes_on ended "$(cat ended)"
	else
		echo "skip rings without room: no file system can be mounted here"
	fi
else
	echo "skip an instance of ftrace: none can be made here"
fi
mkdir full
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=64k none full 2>/dev/null
then
	"$B" record -o full/perf.data ./prog 100000 >out 2>err
	umount full
	says a_full_disk_says_so 'No space left on device' err
else
	echo "skip a full disk: no file system can be mounted here"
fi
# A trial ends with the command, whatever ended that: nobody else would wait for a
# perf that hangs.
mkdir hangs
cat >hangs/perf <<END2
#!/bin/sh
[ "\$1" = record ] || exec $(env sh -c "command -v perf") "\$@"
exec sleep 67
END2
chmod +x hangs/perf
PATH=$dir/hangs:$PATH setsid "$B" record --waits -o ended.data -- true >out 2>err &
ended=$!
hanging() {
	for p in $(pgrep -g $ended -x sleep)
	do
		grep -q '^State:.[ZX]' "/proc/$p/status" 2>/dev/null || echo "$p"
	done
}
# hangs WHETHER: up to ten seconds until it does, or does not
hangs() {
	for _ in $(seq 100)
	do
		sleep 0.1
		[ "$([ -n "$(hanging)" ]; echo $?)" != "$1" ] || return 0
	done
	return 1
}
hangs 0
ok a_trial_that_hangs_is_waited_for $?
kill -9 $ended
hangs 1
ok and_ends_with_the_command $?

#!/bin/sh
# follow_maker.sh - the process that makes the databases of follow: it may be killed, and what it keeps is never stale.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/follow_maker.sh; prints "ok NAME", "not ok NAME" or "skip NAME" lines.
# Waits: files to be old, and segments that end by time
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
M=$MKCAP
[ -x "$M" ] || {
	echo "skip follow_maker: mkcap is not built"
	exit 0
}
cd "$dir" || exit 2
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME

# A process that opens the first segment is killed as long as the file 'kills' has bytes; while there is 'nofork', no
# process can be started; 'listed', if it is there, gets a byte for each entry of a folder that is listed.
cat >shim.c <<'END'
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static int shim_open(const char *name, const char *path, int flags, int mode)
{
	int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
	struct stat st;
	if (strstr(path, ".segment-000001.") && !(flags & 3) && !stat("kills", &st) && st.st_size &&
	    !truncate("kills", st.st_size - 1))
		raise(SIGKILL);
	return real(path, flags, mode);
}
int open(const char *path, int flags, int mode) { return shim_open("open", path, flags, mode); }
int open64(const char *path, int flags, int mode) { return shim_open("open64", path, flags, mode); }
static void *shim_list(const char *name, DIR *d)
{
	struct stat st;
	if (!stat("listed", &st))
		truncate("listed", st.st_size + 1);
	return ((void *(*)(DIR *))dlsym(RTLD_NEXT, name))(d);
}
struct dirent *readdir(DIR *d) { return shim_list("readdir", d); }
struct dirent64 *readdir64(DIR *d) { return shim_list("readdir64", d); }
pid_t fork(void)
{
	pid_t (*real)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
	if (access("nofork", F_OK))
		return real();
	errno = EAGAIN;
	return -1;
}
END
cc -w -O1 -shared -fPIC -D_GNU_SOURCE -o shim.so shim.c -ldl 2>err || {
	echo "skip follow_maker: no shared library can be made"
	exit 0
}
follow_into() {	# segments of whole.pipe, with the shim
	# memory that the shim's C library allocates is none of ours
	ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$dir/shim.so "$B" follow -o seg --segment 5K - <whole.pipe >out 2>err
}
follow() {
	rm -rf seg
	follow_into
}
# ---- what is listed

python3 "$root/tests/cli/stream.py" 1 1 . && "$M" -p whole.txt whole.pipe && "$B" ingest -q -o whole.db whole.pipe || exit 2
rm -rf seg && mkdir seg && (cd seg && seq 5000 | xargs touch) && : >listed
follow_into
bad=$?
made=$(find seg -name '*.db' | wc -l)
rm -r seg
# two lists by the run, and one for what dead runs left
[ "$made" -ge 4 ] && [ -s listed ] && [ "$(wc -c <listed)" -lt $((4 * 5000 + made * 1000)) ] && rm listed || bad=1
say the_folder_is_not_listed_for_each_segment

# ---- the process is killed

printf 1 >kills
follow && [ ! -s kills ] && grep -q 'ended by signal 9; another one tries it again' err && is_whole seg &&
	[ -z "$(find seg -name '.segment*')" ]
bad=$?
say a_segment_whose_process_was_killed_is_made_by_the_next_one
printf 12 >kills
follow
[ $? = 1 ] && [ ! -s kills ] && grep -q 'ended by signal 9, again: its parts stay' err &&
	grep -q 'no database could be made of 1 segment;' err && [ -s seg/segment-000002.db ] &&
	[ "$(find seg -name '.segment*')" = seg/.segment-000001.data ]
bad=$?
say a_segment_that_ends_two_processes_stays_and_the_others_are_made
"$B" follow -q -o seg - </dev/null >out 2>err && is_whole seg && [ -z "$(find seg -name '.segment*')" ]
bad=$?
say the_next_run_makes_what_stayed

# it would work on the same files as the next run; the kernel tells even one that is stopped
ended() {	# ended PID
	[ ! -e "/proc/$1/status" ] || grep -q '^State:.[ZX]' "/proc/$1/status"
}
rm -rf seg
mkfifo stream
"$B" follow -q -o seg --segment 5K stream >out 2>err &
pid=$!
exec 3>stream
cat whole.pipe >&3
soon test -e seg/segment-000002.db && child=$(pgrep -P $pid) && kill -STOP "$child" && kill -KILL $pid &&
	soon ended "$child"
bad=$?
exec 3>&-
wait $pid 2>/dev/null
kill -KILL "$child" 2>/dev/null
say the_process_is_killed_with_follow

# ---- the process waits for what never comes: a perf map that nobody writes

rm -rf seg
mkfifo map
"$B" follow -q -o seg --segment 5K --perf-map 10=map stream >out 2>err &
pid=$!
exec 3>stream
cat whole.pipe >&3
soon test -e seg/.segment-000002.data && kill -TERM $pid && soon ended $pid
bad=$?
kill -KILL $pid 2>/dev/null
exec 3>&-
wait $pid
[ $? = 1 ] && grep -q 'segment 1: .* did nothing for 15 s, and was ended' err &&
	grep -q 'no database could be made of .* segments; their parts of the stream stay' err && [ -z "$(find seg -name '*.db')" ] || bad=1
say a_process_that_waits_for_ever_is_ended_after_sigterm
"$B" follow -q -o seg - </dev/null >out 2>err && is_whole seg
bad=$?
say the_next_run_makes_what_it_left

# ---- no process can be started

touch nofork
{
	soon grep -q 'cannot start a process.*tried again' err
	rm nofork
} &
follow
bad=$?
wait
grep -q 'cannot start a process' err && is_whole seg && [ -z "$(find seg -name '.segment*')" ] || bad=1
say follow_goes_on_when_a_process_can_be_started_again
touch nofork
follow
[ $? = 1 ] && grep -q 'no database could be made of .* segments; their parts of the stream stay' err &&
	[ -z "$(find seg -name '*.db')" ] && rm nofork && "$B" follow -q -o seg - </dev/null >out 2>&1 && is_whole seg
bad=$?
say without_processes_it_ends_and_all_parts_stay

# ---- what the process keeps: each segment is what a separate ingest of its parts gives, while files change in between

fp=-fno-omit-frame-pointer
# No loop, which gcc 14 aligns: the innermost frames of step() would be in one function only.
build() {	# build FUNCTION FILE: the program, with $fp, of a size that is always the same
	printf '%s\n' "volatile long x;" "__attribute__((noinline)) long $1(long n) { x += n; x ^= n; return x; }" \
		"__attribute__((noinline)) static long inner_$1(long n) { return $1(n) + x; }" \
		"int main(void) { x += 1; x += 2; x += 3; return (int)inner_$1(3); }" >p.c
	cc -g -O1 $fp -nostdlib -static -Wl,-e,main -Wl,--build-id=none -Wl,-Ttext-segment=0x400000 -o "$2" p.c && truncate -s 16384 "$2"
}
old() {	# old FILE...: changed long ago, as far as mtime tells
	touch -d '2020-01-01 00:00:00' "$@"
}
step() {	# step WHAT: one more file of the recorder, its segment, and the same ingested separately
	n=$((n + 1))
	{
		printf '%s\n' "event cpu-clock" "mmap pid=-1 start=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 path=[kernel.kallsyms]_text kernel" \
			"comm pid=40 tid=40 name=prog" \
			"mmap pid=40 tid=40 start=$(printf 0x%x "$code") len=0x1000 pgoff=0x1000 path=$dir/prog" \
			"mmap pid=40 tid=40 start=0x7f0000000000 len=0x10000 pgoff=0 path=//anon"
		i=0
		while [ $i -lt 60 ]; do
			i=$((i + 1))
			printf 'sample pid=40 tid=40 cpu=0 time=%d k=0xffffffff81%06x,0xffffffff81%06x u=0x%x,0x%x,0x%x\n' $((n * 100000 + i)) \
				$((256 + i * n)) $((512 + i)) \
				$((code + (n * 7 + i) % 64)) $((code + i)) $((0x7f0000000000 + 16 * i))
		done
	} >step.txt
	"$M" step.txt new.data && mv new.data "sw/perf.data.202611210600$(printf %04d $n)" &&
		soon test -s "seg/segment-$(printf %06d $n).db" || return 1
	# shellcheck disable=SC2086 # options
	"$B" ingest -q -f $OPTIONS -o alone.db "$dir/sw/perf.data.202611210600$(printf %04d $n)" 2>>err || return 1
	sqlite3 alone.db .dump >alone.sql && sqlite3 "seg/segment-$(printf %06d $n).db" .dump >out.sql && cmp alone.sql out.sql >out && return 0
	diff alone.sql out.sql >>out
	echo "step $n: $1" >>out
	return 1
}
again() {	# again: the same, first without what is kept, as a file that changed less than two seconds before is not, then with it
	# shellcheck disable=SC2016 # a command for until_true
	step again && soon sh -c '[ -z "$(find . -maxdepth 1 -newerct "3 seconds ago" \( -name prog -o -name kallsyms \))" ]' &&
		step settled && step kept && step 'kept again'
}
says() {	# says NAME: the last segment has the function
	sqlite3 alone.db .dump | grep -q "$1" && return 0
	echo "no $1 in step $n" >out
	return 1
}
lacking() {	# how many stacks of the last segment lack the caller of a function without a frame
	sqlite3 alone.db "SELECT count(*) FROM raw_chain WHERE caller = 1"
}
begin() {	# begin OPTION...: follows the folder sw from the first file on
	n=0 OPTIONS=$*
	rm -rf seg sw
	mkdir sw
	"$B" follow -q -o seg "$@" sw >/dev/null 2>err &
	pid=$!
}
if command -v sqlite3 >/dev/null && build alpha prog 2>err; then
	code=$((0x401000))
	printf '7f0000000000 100 jitted_one\n' >perf-40.map
	printf '%s\n' 'ffffffff81000000 T _text' 'ffffffff81000100 T kernel_one' 'ffffffff81000400 T kernel_two' >kallsyms
	old prog perf-40.map kallsyms
	begin --no-cache --jobs 1 --perf-map 40="$dir/perf-40.map" --kallsyms "$dir/kallsyms"
	step first && says alpha && says jitted_one && says kernel_one && again
	bad=$?
	say segments_of_one_process_are_what_ingest_makes
	build bravo new && old new && mv new prog && step replaced && says bravo && again
	bad=$?
	say a_program_that_is_replaced_is_read_again
	build delta new && cat new >prog && old prog && step 'written in place' && says delta && again
	bad=$?
	say a_program_that_is_written_in_place_is_read_again
	fp=-fomit-frame-pointer
	build delta new && cat new >prog && old prog && step 'without frame pointers' && [ "$(lacking)" = 60 ] && again &&
		fp=-fno-omit-frame-pointer && build delta new && cat new >prog && old prog && step 'with them' && [ "$(lacking)" -lt 60 ] && again
	bad=$?
	say stacks_are_judged_by_the_tables_of_the_program_that_is_there
	objcopy --only-keep-debug prog prog.debug && strip new && objcopy --add-gnu-debuglink=prog.debug new && mv new prog &&
		mv prog.debug away && old prog away && step stripped && ! says delta && again && mkdir .debug &&
		mv away .debug/prog.debug && step 'a debug file appears' && says delta && again &&
		rm -r .debug && step 'and vanishes' && ! says delta
	bad=$?
	say a_debug_file_that_appears_or_vanishes_counts
	again && mv prog away && step gone && step 'still gone' && mv away prog && step back && build alpha new && old new && mv new prog &&
		step 'as first' && says alpha
	bad=$?
	say a_program_that_vanishes_and_comes_back_counts
	printf '7f0000000100 100 jitted_two\n' >>perf-40.map && step 'the map grows' && says jitted_two && again
	bad=$?
	say a_perf_map_that_grows_is_read_again
	sed 's/kernel_one/kernel_new/' kallsyms >new && cat new >kallsyms && old kallsyms && step 'other kallsyms' && says kernel_new &&
		again
	bad=$?
	say kallsyms_that_change_are_read_again
	kill -TERM $pid && wait $pid
	bad=$?
	say the_process_ends_with_follow
else
	echo "skip what_is_kept: no compiler or no sqlite3"
fi

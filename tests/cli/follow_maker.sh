#!/bin/sh
# follow_maker.sh - the process that makes the databases of follow: it may be killed, and what it keeps is never stale.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/follow_maker.sh; prints "ok NAME", "not ok NAME" or "skip NAME" lines.
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${BACKSTITCH:-$root/backstitch}
case $B in /*) ;; *) B=$PWD/$B ;; esac
M=${MKCAP:-$root/build/mkcap}
[ -x "$M" ] || {
	echo "skip follow_maker: mkcap is not built"
	exit 0
}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
NO_COLOR=1 PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=$dir/cache
export NO_COLOR PYTHONDONTWRITEBYTECODE XDG_CACHE_HOME

say() {	# say NAME: by $bad
	if [ "$bad" = 0 ]
	then echo "ok $1"
	else
		echo "not ok $1"
		sed 's/^/# /' out err 2>/dev/null | head -20
	fi
}
until_true() {	# until_true COMMAND...: soon
	for _ in $(seq 100); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	return 1
}

# A process that opens the first segment is killed as long as the file 'kills' has bytes; while there is 'nofork', no
# process can be started.
cat >shim.c <<'END'
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
follow() {	# follow OPTION...: segments of whole.pipe, with the shim
	rm -rf seg
	# memory that the shim's C library allocates is none of ours
	ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$dir/shim.so "$B" follow -o seg --segment 5K "$@" - <whole.pipe >out 2>err
}
is_whole() {
	"$B" merge -q -f -o all.db seg >out 2>&1 && python3 "$root/tests/cli/merge.py" cut whole.db all.db >out 2>&1
}

# ---- the process is killed

python3 "$root/tests/cli/stream.py" 1 1 . && "$M" -p whole.txt whole.pipe && "$B" ingest -q -o whole.db whole.pipe || exit 2
printf 1 >kills
follow
[ $? = 0 ] && [ ! -s kills ] && grep -q 'ended by signal 9; another one tries it again' err && is_whole &&
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
"$B" follow -q -o seg - </dev/null >out 2>err && is_whole && [ -z "$(find seg -name '.segment*')" ]
bad=$?
say the_next_run_makes_what_stayed

# ---- no process can be started

touch nofork
{
	until_true grep -q 'cannot start a process.*tried again' err
	rm nofork
} &
follow
bad=$?
wait
grep -q 'cannot start a process' err && is_whole && [ -z "$(find seg -name '.segment*')" ] || bad=1
say follow_goes_on_when_a_process_can_be_started_again
touch nofork
follow
[ $? = 1 ] && grep -q 'no database could be made of .* segments; their parts of the stream stay' err &&
	[ -z "$(find seg -name '*.db')" ] && rm nofork && "$B" follow -q -o seg - </dev/null >out 2>&1 && is_whole
bad=$?
say without_processes_it_ends_and_all_parts_stay

#!/bin/bash
# follow.sh - follows live recordings of a small program: perf, a trace_pipe, an LTTng session that is rotated.
# usage: [BACKSTITCH=PROGRAM] tests/live/follow.sh [SECONDS]; for root, on a kernel of its own; prints "ok NAME",
# "not ok NAME" or "skip NAME" lines. SECONDS of each recording: 10; 120 shows whether memory stays flat. LIVE_ALL=1
# records all programs with perf, not only its own; only where nobody else works.
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${BACKSTITCH:-$root/backstitch}
case $B in /*) ;; *) B=$PWD/$B ;; esac
T=${1:-10}
[ "$(id -u)" = 0 ] || { echo "skip live: for root"; exit 0; }
dir=$(mktemp -d) || exit 2
tracefs=/sys/kernel/tracing
instance=$tracefs/instances/backstitch-live
sessiond=
clean() {
	[ ! -d "$instance" ] || { echo 0 >"$instance/tracing_on"; rmdir "$instance"; }
	[ -z "$sessiond" ] || kill "$sessiond"
	rm -rf "$dir"
}
trap clean EXIT
cd "$dir" || exit 2
export XDG_CACHE_HOME=$dir/cache HOME=$dir LTTNG_HOME=$dir

cat >load.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long x;
static void *volatile kept; /* so that the call is made */
__attribute__((noinline)) static void hot(void) { for (int i = 0; i < 200000; i++) x += i; }
__attribute__((noinline)) static void warm(void) { for (int i = 0; i < 50000; i++) x += i; }
int main(int argc, char **argv)
{
	time_t end = time(NULL) + atoi(argv[1]);
	int n = 0;
	while (time(NULL) < end) {
		for (int i = 0; i < 20; i++) { hot(); warm(); kept = malloc(100); free(kept); }
		if (argc > 2 && n++ < atoi(argv[2]) && !fork()) _exit(0);
		while (waitpid(-1, NULL, WNOHANG) > 0) ;
	}
	return 0;
}
END
gcc -O1 -g -fno-omit-frame-pointer -o load load.c || exit 2

say() {	# say NAME: by $bad
	if [ "$bad" = 0 ]
	then echo "ok $1"
	else
		echo "not ok $1"
		sed 's/^/# /' err | tail -5
	fi
}
rss() {	# rss PID: until it ends, its memory in KiB each second
	while grep -s VmRSS "/proc/$1/status"; do sleep 1; done | awk '{ print $2 }' >"rss.$2"
}
readers() {	# readers DIR: queries it until it is ended; says what fails
	while [ ! -e stop ]; do
		sleep 0.5
		ls "$1"/segment-*.db >/dev/null 2>&1 || continue
		"$B" report --no-children --limit 3 --since 1m "$1" >/dev/null 2>>read.err || echo report >>read.bad
		"$B" query --since 10s "$1" 'SELECT count(*) FROM samples' >/dev/null 2>>read.err || echo query >>read.bad
		for db in "$1"/segment-*.db; do
			sqlite3 -readonly "$db" 'PRAGMA quick_check' >out 2>>read.err && grep -q ok out && continue
			[ ! -e "$db" ] || echo "$db" >>read.bad
		done
	done
}
count() {	# count DB...: samples
	for db in "$@"; do sqlite3 -readonly "$db" "SELECT count(*) FROM samples"; done | awk '{ n += $1 } END { print n + 0 }'
}
lost() {	# lost DB...: records that were lost
	for db in "$@"; do sqlite3 -readonly "$db" "SELECT coalesce(sum(n), 0) FROM loss WHERE counts"; done |
		awk '{ n += $1 } END { print n + 0 }'
}
flat() {	# flat FILE: memory at the end is at most a quarter more than after a third of the time
	awk '{ v[NR] = $1 } END { a = v[int(NR / 3) + 1]; b = v[NR - 1]; print "# memory: " a " KiB, at the end " b " KiB"
		exit !(b <= 1.25 * a + 1024) }' "$1"
}
ends() {	# ends FOLDER: the longest time between two finished segments, in seconds
	find "$1" -name 'segment-*.db' -printf '%T@\n' | sort -n | awk 'NR > 1 && $1 - last > max { max = $1 - last } { last = $1 }
		END { printf "%.1f\n", max }'
}

# ---- perf

if perf record -o /dev/null true >/dev/null 2>&1; then
	mkfifo stream # rings of 64 KB: rounds are as often as segments need
	# shellcheck disable=SC2016 # $1 is of the command
	"$B" follow -o seg --segment 5s --keep 60s --exec 'cp "$1" all/' stream 2>err &
	pid=$!
	mkdir all
	rss $pid perf &
	readers seg &
	reader=$!
	perf record ${LIVE_ALL:+-a} -m 16 -F 4000 -g -o - ./load "$T" 10000 2>perf.err | tee whole.pipe >stream
	wait $pid
	status=$?
	touch stop
	wait $reader
	rm stop
	bad=0
	[ $status = 0 ] || bad=1
	"$B" ingest -q -o whole.db whole.pipe || bad=1
	echo "# $(count whole.db) samples, in segments $(count all/*.db); lost $(lost whole.db), in segments $(lost all/*.db)"
	[ "$(count whole.db)" = "$(count all/*.db)" ] && [ "$(lost whole.db)" = "$(lost all/*.db)" ] || bad=1
	say no_event_is_lost_that_perf_did_not_lose
	"$B" merge -q -o merged.db all/*.db 2>err && python3 "$root/tests/cli/merge.py" cut whole.db merged.db >differs
	# the name of a thread whose end was in an earlier segment is not known
	grep -v '^  ' differs | sed 's/^/# of the whole: /'
	! grep -q -E '^(chains|verdicts|losses|stacks|findings|gaps|cookies)' differs
	bad=$?
	say segments_hold_what_the_whole_holds
	[ ! -e read.bad ]
	bad=$?
	[ $bad = 0 ] || cp read.err err
	say the_folder_is_readable_at_all_times
	echo "# at most $(ends all) s between two segments of 5 s"
	awk -v a="$(ends all)" 'BEGIN { exit !(a < 10) }'
	bad=$?
	say segments_come_in_time
	flat rss.perf
	bad=$?
	say memory_stays_flat
	rm -rf read.bad all seg
else
	echo "skip perf: it cannot record here"
fi

# ---- a trace_pipe

if mkdir "$instance" 2>/dev/null; then
	echo 1 >"$instance/events/sched/sched_switch/enable"
	for event in waking wakeup_new process_fork process_exit; do
		echo 1 >"$instance/events/sched/sched_$event/enable"
	done
	echo mono >"$instance/trace_clock"
	"$B" follow -o tseg --segment 3s "$instance/trace_pipe" 2>err &
	pid=$!
	readers tseg &
	reader=$!
	./load "$T" 1000
	kill -TERM $pid
	wait $pid
	bad=$?
	touch stop
	wait $reader
	rm stop
	[ ! -e read.bad ] && [ "$(find tseg -name '*.db' | wc -l)" -ge $((T / 3 - 1)) ] || bad=1
	echo "# $(count tseg/*.db) events in $(find tseg -name '*.db' | wc -l) segments, lost $(lost tseg/*.db)"
	say a_trace_pipe_is_followed
	for db in tseg/*.db; do sqlite3 -readonly "$db" 'SELECT clock, cpus FROM capture'; done | sort -u >facts
	"$B" path --comm load tseg >waits 2>err || bad=1
	"$B" path --comm load tseg/segment-000002.db 2>>err | grep -o '[<>0-9.]* % of the time of those shown is proved' >proved
	echo "# of the second segment $(cat proved); CPUs and clock $(cat facts)"
	[ "$(cat facts)" = "monotonic|$(getconf _NPROCESSORS_ONLN)" ] && ! grep -q 'how many CPUs' waits && ! grep -q '^0.00' proved &&
		[ -s proved ] || bad=1
	say what_it_proves_is_as_in_a_file
else
	echo "skip trace_pipe: no tracefs"
fi

# ---- LTTng

wrapper=$(find /usr/lib -name liblttng-ust-libc-wrapper.so | head -1)
if command -v lttng-sessiond >/dev/null && [ -n "$wrapper" ] && ! pgrep lttng-sessiond >/dev/null; then
	lttng-sessiond --daemonize --pidfile "$dir/pid" >/dev/null 2>&1
	sleep 1
	sessiond=$(cat "$dir/pid")
	{
		lttng create live --output="$dir/lttng"
		lttng enable-event -u 'lttng_ust_libc:*'
		lttng add-context -u -t vpid -t vtid -t procname
		lttng start
		lttng enable-rotation --timer 3s
	} >/dev/null
	"$B" follow -o lseg lttng 2>err &
	pid=$!
	LD_PRELOAD=$wrapper ./load "$T"
	lttng destroy >/dev/null
	sleep 1
	kill -TERM $pid
	wait $pid
	bad=$?
	"$B" ingest -q --separate -o lall.db lttng/archives/* 2>>err || bad=1
	echo "# $(count lall.db) events in $(find lseg -name '*.db' | wc -l) chunks, in segments $(count lseg/*.db)"
	[ "$(count lall.db)" = "$(count lseg/*.db)" ] && [ "$(count lall.db)" -gt 1000 ] || bad=1
	say chunks_of_a_rotated_session_are_followed
else
	echo "skip lttng: not installed, or it runs already"
fi

# ---- a killed run: the folder is readable, and the next run goes on

if [ -s whole.pipe ]; then
	bad=0
	head -c 3000000 whole.pipe >part.pipe
	for i in $(seq 50); do
		"$B" follow -q -o kseg --segment 200K - <part.pipe >/dev/null 2>&1 &
		pid=$!
		sleep "0.0$((i * 7 % 100))"
		kill -KILL $pid 2>/dev/null
		wait $pid 2>/dev/null
		for db in kseg/segment-*.db; do
			[ ! -e "$db" ] || sqlite3 -readonly "$db" 'PRAGMA quick_check' >out 2>err && grep -q ok out || bad=1
		done
		[ $((i % 10)) != 0 ] || rm -rf kseg
	done
	"$B" follow -q -o kseg - </dev/null 2>err
	[ $? -le 3 ] && [ -z "$(find kseg -name '.segment*')" ] || bad=1
	say a_killed_run_leaves_a_readable_folder
fi

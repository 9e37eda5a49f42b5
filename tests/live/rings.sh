#!/bin/bash
# rings.sh - follows the rings of a buffer of ftrace of our own: every event of a small program is in a segment, or lost by count.
# usage: [BACKSTITCH=PROGRAM] tests/live/rings.sh [SECONDS]; for root, on a kernel of its own; prints "ok NAME", "not ok NAME" or
# "skip NAME" lines. SECONDS of the recording: 10; 120 shows whether memory stays flat.
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${BACKSTITCH:-$root/backstitch}
case $B in /*) ;; *) B=$PWD/$B ;; esac
T=${1:-10}
[ "$(id -u)" = 0 ] || { echo "skip rings: for root"; exit 0; }
dir=$(mktemp -d) || exit 2
instance=/sys/kernel/tracing/instances/backstitch-rings
mkdir "$instance" 2>/dev/null || { echo "skip rings: no tracefs, or this test runs already"; exit 0; }
clean() {
	echo 0 >"$instance/tracing_on"
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
	wait
	rmdir "$instance"
	rm -rf "$dir"
}
trap clean EXIT
cd "$dir" || exit 2
export XDG_CACHE_HOME=$dir/cache HOME=$dir

# writes N marks in all from 4 threads and from processes that end at once; prints their number
cat >marks.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int fd;
static time_t end;
static unsigned long pause_us;
/* EBADF: the ring was full, and does not overwrite */
static void mark(void) { if (write(fd, "a mark of a thread", 18) != 18 && errno != EBADF) exit(3); }
static void *run(void *n)
{
	unsigned long *count = n;
	while (time(NULL) < end)
		for (int i = 0; i < 100; i++, ++*count) { mark(); if (pause_us && i % 10 == 0) usleep(pause_us); }
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[4];
	unsigned long n[4] = { 0 }, sum = 0;
	fd = open(argv[1], O_WRONLY);
	end = time(NULL) + atoi(argv[2]);
	pause_us = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, run, &n[i]);
	for (int i = 0; i < 50; i++, sum++) { if (!fork()) { mark(); _exit(0); } wait(NULL); }
	for (int i = 0; i < 4; i++) { pthread_join(t[i], NULL); sum += n[i]; }
	printf("%lu\n", sum);
	return 0;
}
END
gcc -O1 -g -pthread -o marks marks.c || exit 2

say() {	# say NAME: by $bad
	if [ "$bad" = 0 ]
	then echo "ok $1"
	else
		echo "not ok $1"
		sed 's/^/# /' err | tail -5
	fi
}
follow() {	# follow DIR OPTION...: in the background, until end
	"$B" follow --no-symbols -o "$@" "$instance" 2>err &
	pid=$!
	for _ in $(seq 50); do
		[ ! -e "/proc/$pid/fd" ] || find "/proc/$pid/fd" -lname '*trace_pipe_raw' | grep -q . && break
		sleep 0.1
	done
}
end() {	# end: returns the status
	kill -TERM "$pid"
	wait "$pid"
	status=$?
	pid=
	return $status
}
sum() {	# sum QUERY DIR: over its databases
	for db in "$2"/segment-*.db; do sqlite3 -readonly "$db" "$1"; done | awk '{ n += $1 } END { print n + 0 }'
}
samples() { sum "SELECT count(*) FROM samples" "$1"; }
lost() { sum "SELECT coalesce(sum(n), 0) FROM loss WHERE counts" "$1"; }
kernel() {	# kernel COUNTER: of all CPUs
	cat "$instance"/per_cpu/cpu*/stats | awk -F': ' -v key="$1" '$1 == key { n += $2 } END { print n + 0 }'
}
flat() {	# flat FILE: memory at the end is at most a quarter more than after a third of the time
	awk '{ v[NR] = $1 } END { a = v[int(NR / 3) + 1]; b = v[NR - 1]; print "# memory: " a " KiB, at the end " b " KiB"
		exit !(b <= 1.25 * a + 1024) }' "$1"
}
empty() { echo >"$instance/trace"; }

# ---- all marks, at the rate that the kernel allows, without overwriting and with it

for over in 1 0; do
	empty
	echo $over >"$instance/options/overwrite"
	follow "all$over" --segment 2s
	while grep -s VmRSS "/proc/$pid/status"; do sleep 0.5; done | awk '{ print $2 }' >rss &
	made=$(./marks "$instance/trace_marker" "$T")
	end
	bad=$?
	n=$(find "all$over" -name '*.db' | wc -l)
	echo "# $made marks: $(samples "all$over") in $n segments, $(lost "all$over") lost; by the kernel: $(kernel 'read events') read," \
		"$(kernel overrun) overwritten, $(kernel 'dropped events') dropped"
	[ "$(samples "all$over")" = "$(kernel 'read events')" ] && [ "$n" -ge $((T / 4)) ] &&
		[ $(($(samples "all$over") + $(lost "all$over"))) = "$made" ] || bad=1
	say "each_mark_is_in_a_segment_or_lost_by_count_with_overwrite_$over"
	[ "$(lost "all$over")" = $(($(kernel overrun) + $(kernel 'dropped events') + $(kernel 'commit overrun'))) ]
	bad=$?
	say "losses_are_those_that_the_kernel_counts_with_overwrite_$over"
done
flat rss
bad=$?
say memory_stays_flat
sum "SELECT count(*) FROM samples WHERE comm = 'marks' AND pid > 0" all0 >named
[ "$(cat named)" -ge $(($(samples all0) - 50)) ]
bad=$?
say threads_have_names_and_processes_in_each_segment

# ---- marks that do not fit behind others leave pages nearly empty

empty
echo 1 >"$instance/options/overwrite"
small=$(printf '%1000s' a) large=$(printf '%3500s' b)
for _ in $(seq 400); do
	printf %s "$small" >"$instance/trace_marker"
	printf %s "$large" >"$instance/trace_marker"
done
there=$(kernel entries)
follow large --segment 100s
end
bad=$?
echo "# $there events were in the ring, $(samples large) are in segments, $(kernel entries) are left"
[ "$there" -gt 100 ] && [ "$(samples large)" = "$there" ] && [ "$(kernel entries)" = 0 ] || bad=1
say all_that_was_in_the_ring_at_the_end_is_in_a_segment

# ---- the same ring as text, and then as pages

empty
echo 1 >"$instance/options/overwrite"
echo 1 >"$instance/options/stacktrace"
echo 1 >"$instance/options/event-fork"
./marks "$instance/trace_marker" 1 2000 >/dev/null &
marks=$!
echo $marks >"$instance/set_event_pid"
for e in sched/sched_switch sched/sched_process_exit raw_syscalls/sys_enter; do echo 1 >"$instance/events/$e/enable"; done
wait $marks
echo 0 >"$instance/tracing_on"
cat "$instance/trace" >text
follow pages --segment 64K
sleep 3
end
bad=$?
"$B" ingest -q --no-symbols -o text.db text 2>>err || bad=1
"$B" merge -q -o pages.db pages 2>>err || bad=1
for db in text pages; do
	# the text has rounded microseconds
	sqlite3 $db.db "SELECT (time_ns + 500) / 1000, cpu, tid, substr(event, instr(event, ':') + 1), kernel_stack IS NOT NULL FROM samples" |
		sort >$db.rows
done
echo "# $(wc -l <pages.rows) events of the ring, $(grep -c '|1$' pages.rows) with stacks, in $(find pages -name '*.db' | wc -l) segments"
cut -d'|' -f2,3 text.rows | sort | uniq -c >a
cut -d'|' -f2,3 pages.rows | sort | uniq -c >b
cmp a b >>err && [ "$(wc -l <pages.rows)" -gt 100 ] || bad=1
diff text.rows pages.rows >diff.rows
[ ! -s diff.rows ] || { head -5 diff.rows >>err; bad=1; }
say pages_are_what_the_text_of_the_ring_says
for e in sched/sched_switch sched/sched_process_exit raw_syscalls/sys_enter; do echo 0 >"$instance/events/$e/enable"; done
echo 0 >"$instance/options/stacktrace"
echo >"$instance/set_event_pid"
echo 1 >"$instance/tracing_on"
empty

# ---- others, another clock, another event

follow two --segment 60s
"$B" follow -o other "$instance" 2>other.err
[ $? = 1 ] && grep -q 'another .backstitch follow. reads it' other.err
bad=$?
say a_second_run_is_refused
./marks "$instance/trace_marker" 1 1000 >/dev/null
echo mono >"$instance/trace_clock"
./marks "$instance/trace_marker" 1 1000 >/dev/null &
marks=$!
echo $marks >"$instance/set_event_pid"
echo 1 >"$instance/events/raw_syscalls/sys_enter/enable"
wait $marks
end
bad=$?
echo 0 >"$instance/events/raw_syscalls/sys_enter/enable"
echo >"$instance/set_event_pid"
for db in two/*.db; do sqlite3 "$db" "SELECT clock FROM capture"; done | sort -u | tr '\n' ' ' >clocks
[ "$(cat clocks)" = "local monotonic " ] && grep -q 'the clock is another one now' err || bad=1
say another_clock_is_another_segment
[ "$(sum "SELECT count(*) FROM samples WHERE event = 'raw_syscalls:sys_enter'" two)" -gt 100 ]
bad=$?
say an_event_that_is_enabled_later_has_its_format
# a ring that is soon half full is read before the next look at the clock was due
cp marks later
echo local >"$instance/trace_clock"
follow clock --segment 60s
./marks "$instance/trace_marker" 1 1000 >/dev/null
echo mono >"$instance/trace_clock"
./later "$instance/trace_marker" 1 >/dev/null
end
bad=$?
for db in clock/*.db; do
	sqlite3 "$db" "SELECT DISTINCT c.clock, s.comm FROM capture c, samples s WHERE s.comm IN ('marks', 'later')"
done | sort -u | tr '\n' ' ' >clocks
echo "# $(cat clocks)"
[ "$(cat clocks)" = "local|marks monotonic|later " ] || bad=1
say no_page_of_a_new_clock_is_in_the_old_segment
follow sizes
if echo 8 2>/dev/null >"$instance/buffer_subbuf_size_kb"
then
	wait "$pid"
	[ $? = 1 ] && grep -q 'the size of its pages was changed' err
	bad=$?
	pid=
	echo 4 >"$instance/buffer_subbuf_size_kb"
	say pages_of_another_size_are_not_taken_for_the_old_ones
else
	echo "skip sizes: the kernel has no buffer_subbuf_size_kb"
	end
fi
sleep 60 9<"$instance/per_cpu/cpu0/trace_pipe_raw" &
other=$!
sleep 0.3
"$B" follow -o other "$instance" 2>err
[ $? = 1 ] && grep -q "process $other reads its trace_pipe_raw" err
bad=$?
kill $other
wait $other 2>/dev/null
say another_reader_is_refused

# ---- killed runs: all that was stored is read, and the next run goes on

empty
./marks "$instance/trace_marker" $((T / 2 + 3)) 500 >made &
marks=$!
bad=0
kills=0
while kill -0 $marks 2>/dev/null; do
	follow killed --segment 300K
	sleep "0.$((RANDOM % 9))"
	[ ! -s err ] || bad=1
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	kills=$((kills + 1))
done
wait $marks
follow killed --segment 64M
sleep 1
end || bad=1
for db in killed/*.db; do sqlite3 -readonly "$db" 'PRAGMA quick_check' | grep -q ok || bad=1; done
[ -z "$(find killed -name '.segment*')" ] || bad=1
missing=$(($(kernel 'read events') - $(samples killed)))
echo "# $kills kills, $(cat made) marks, $(samples killed) in segments; $missing were read from the ring and not stored yet"
# at most 64 pages of one CPU, of 127 marks, when it is killed
[ "$missing" -ge 0 ] && [ "$missing" -le $((kills * 64 * 127)) ] || bad=1
say a_killed_run_keeps_what_it_stored

#!/bin/sh
# asleep.sh - a process of which no thread runs, by what 'record --waits -p' reads of it.
# usage: BACKSTITCH=build/backstitch tests/cli/asleep.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

# run.txt: another thread runs on CPU 0, and the threads 100 to 103 have names
{
	printf '# beside: clock=monotonic\n# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:1\n#\n'
	echo "              sh-50    [000] d....   0.400000: task_newtask: pid=100 comm=dead clone_flags=1200000 oom_score_adj=0"
	for tid in 101 102 103
	do
		echo "            dead-100   [000] d....   0.500000: task_newtask: pid=$tid comm=dead clone_flags=3d0f00 oom_score_adj=0"
	done
	at=1.0
	for to in 1.1 1.3 1.9
	do
		echo "          <idle>-0     [000] d....   ${at}00000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=other next_pid=300 next_prio=120"
		echo "           other-300   [000] d....   ${to}00000: sched_switch: prev_comm=other prev_pid=300 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120"
		at=${to%?}$((${to#*.} + 1))
	done
} >run.txt
# readings NAME [SED]: at 0.9 and 2.9 s, NAME.db with run.txt: 100 waits for the end of 101, that for 102, and 102 and 103 for one
# another; SED changes that
readings() {
	{
		printf '# beside: clock=monotonic\n# tracer: nop\n'
		echo 'backstitch-50 [000] ..... 0.900000: limits_process: pid=100'
		for at in 0.9 2.9
		do
			for of in 'tid=100 state=S switches=7 call=futex owner=101 by=end' 'tid=101 state=S switches=2 call=futex owner=102 by=mutex' \
				'tid=102 state=S switches=2 call=futex owner=103 by=mutex' 'tid=103 state=S switches=3 call=futex owner=102 by=mutex'
			do
				echo "backstitch-50 [000] ..... ${at}00000: limits_sleep: took_ns=20000 pid=100 $of"
			done
		done
	} | sed "${2:-}" >"$1"
	"$B" ingest -q -f -o "$1.db" run.txt "$1" 2>err
}
# says NAME WANT DB ARG...: the first sentences of path, in one line
says() {
	name=$1 want=$2
	shift 2
	"$B" path "$@" >out 2>err
	is "$name" "$want" "$(sed '/^$/,$d' out | tr '\n' ' ' | sed 's/ $//')"
}
where="'eu-stack -p 100' shows where they are, as long as they are there"
none="none of the 4 threads of dead (100) ran in 2.00 s, by the kernel's count of their switches"
ring="dead (102) waits for dead (103), which waits for dead (102): a deadlock"

readings ring
says threads_that_wait_for_one_another_are_a_deadlock "$ring, if these are mutexes of glibc $none $where" ring.db
is each_thread_has_a_row "$(printf '100 sleeping futex the end of dead (101)\n101 sleeping futex dead (102)\n102 sleeping futex dead (103)\n103 sleeping futex dead (102)')" \
	"$(tr -s ' ' <out | sed -n 's/^ *\(10[0-9]\) dead /\1 /p')"
says the_process_may_be_chosen "$ring, if these are mutexes of glibc $none $where" --pid 100 ring.db
"$B" path --json ring.db >out 2>err
is json_has_it '2000000000 4 [102, 103] end' "$(python3 -c 'import json
a = json.load(open("out"))["asleep"]
print((a["to_ns"] - a["from_ns"] + 20000) // 1000000 * 1000000, a["of"], a["deadlock"], a["threads"][0]["by"])')"
"$B" path --all ring.db >out 2>err && grep -q 'other' out
ok all_threads_can_be_asked_for $?
"$B" page -o ring.html ring.db >out 2>err && grep -qF "$ring, if these are mutexes of glibc" ring.html
ok a_page_says_so $?

readings kernel 's/by=mutex/by=kernel/'
says what_the_kernel_knows_has_no_premise "$ring $none $where" kernel.db
readings word '/tid=103/s/by=mutex/by=word/; /tid=102/s/by=mutex/by=kernel/'
says the_weakest_link_has_the_premise "$ring, if these are locks with their owner in them $none $where" word.db
readings end '/tid=103/s/by=mutex/by=end/; /tid=102/s/by=mutex/by=kernel/'
says an_end_is_one_too "$ring, if one waits for the end of another $none $where" end.db
readings three '/tid=103/s/owner=102/owner=101/'
says a_ring_may_be_longer "dead (101) waits for dead (102), which waits for dead (103), which waits for dead (101): a deadlock, if these are mutexes of glibc $none $where" three.db

readings self '/tid=102/s/owner=103/owner=102/'
says one_may_wait_for_itself "dead (102) waits for a lock that it has itself: a deadlock, if these are mutexes of glibc $none $where" self.db
readings chain '/tid=103/s/owner=102 by=mutex/owner=0 by=-/'
says a_chain_that_ends_is_no_deadlock "$none $where" chain.db
readings outside '/tid=103/s/owner=102/owner=300/'
says nor_is_one_that_ends_at_another_process "$none $where" outside.db
readings ran '/2\.900000.*tid=103/s/switches=3/switches=4/'
says a_thread_that_ran_is_in_no_deadlock "3 of the 4 threads of dead (100) never ran in 2.00 s, by the kernel's count of their switches $where" ran.db
! grep -q '^ *103 ' out
ok and_has_no_row $?
readings runs '/2\.900000.*tid=103/s/state=S/state=R/'
says nor_is_one_that_runs "3 of the 4 threads of dead (100) never ran in 2.00 s, by the kernel's count of their switches $where" runs.db
readings late '/0\.900000.*tid=103/d'
says nor_is_one_that_was_read_once "3 of the 4 threads of dead (100) never ran in 2.00 s, by the kernel's count of their switches $where" late.db
readings stopped 's/state=S/state=T/; s/owner=[0-9]* by=[a-z]*/owner=0 by=-/'
says a_stopped_process_is_said_to_be_stopped "$none: a signal has stopped it, and 'kill -CONT' lets it go on" stopped.db
readings once '/2\.900000/d'
"$B" path --pid 100 once.db >out 2>err
[ $? = 2 ] && grep -q 'no switch or wake-up of such a thread' err
ok one_reading_proves_nothing $?
# a program that was started is read each second: only the last readings count, and not a thread that ended before them
{
	sed -n 1,3p ring
	sed -n '/0\.900000: limits_sleep/{s/0\.9/0.2/; s/switches=./switches=1/; p; s/tid=100/tid=104/p}' ring | sort -k4,4 -s
	sed -n '/limits_sleep/p' ring
} >earlier
"$B" ingest -q -f -o earlier.db run.txt earlier 2>err
says the_last_readings_of_many_count "$ring, if these are mutexes of glibc $none $where" earlier.db
# nor does it count if it slept before it ended
{
	sed -n 1,3p ring
	sed -n '/0\.900000: limits_sleep/{s/0\.9/0.2/; s/switches=./switches=1/; p; s/tid=100/tid=104/p}' ring | sort -k4,4 -s
	sed -n '/0\.900000.*tid=100/{s/0\.9/0.3/; s/switches=./switches=1/; p; s/tid=100/tid=104/p}' ring
	sed -n '/limits_sleep/p' ring
} >slept
"$B" ingest -q -f -o slept.db run.txt slept 2>err
says a_thread_that_slept_and_ended_does_not_count "$ring, if these are mutexes of glibc $none $where" slept.db
readings other 's/limits_sleep: took_ns=20000 pid=100/limits_sleep: took_ns=20000 pid=200/'
"$B" path --pid 100 other.db >out 2>err
[ $? = 2 ]
ok nor_do_those_of_another_process $?

# another one runs, and waits: the deadlock comes first
sed 's/other-300/ dead-100/; s/comm=other \([a-z]*\)_pid=300/comm=dead \1_pid=100/' run.txt >busy.txt
readings part '/2\.900000.*tid=100/s/switches=7/switches=9/'
"$B" ingest -q -f -o part.db busy.txt part 2>err
"$B" path --pid 100 part.db >out 2>err
tr '\n' ' ' <out | grep -qF "$ring, if these are mutexes of glibc 3 of the 4 threads of dead (100) never ran in 2.00 s, by the kernel's count of \
their switches $where dead (100) waited 200 ms in all" && grep -q '^all: 2 waits' out
bad=$?
say it_comes_before_the_waits_of_those_that_run

# what is not as 'record' writes it tells nothing, and ends nothing
bad=0
for how in 's/took_ns=20000/took_ns=-5/' 's/took_ns=20000/took_ns=99999999999999999999/' 's/state=S/state=/' 's/state=S/state=SS/' \
	's/switches=[0-9]*/switches=-1/' 's/switches=[0-9]*//' 's/owner=[0-9]*/owner=-1/' 's/by=[a-z]*/by=me/' 's/owner=\([0-9]*\)/owner=4294967\1/' \
	's/tid=10\([0-9]\)/tid=-\1/' 's/call=futex/call=/' 's/call=futex/call=read/' 's/2\.9/0.90001/'
do
	readings odd "$how"
	"$B" path --pid 100 odd.db >out 2>err
	if [ $? -gt 2 ] || grep -q deadlock out
	then
		bad=1
		echo "# $how"
		break
	fi
done
say what_is_damaged_tells_nothing
# each thread waits for the next one, and the last for the first
awk 'BEGIN {
	print "# beside: clock=monotonic\n# tracer: nop"
	for (at = 0.9; at < 3; at += 2)
		for (i = 0; i < 50000; i++)
			printf "backstitch-50 [000] ..... %.6f: limits_sleep: took_ns=1000 pid=100 tid=%d state=S switches=1 call=futex owner=%d by=kernel\n",
				at + i / 1e6, 1000 + i, 1000 + (i + 1) % 50000
}' >many
"$B" ingest -q -f -o many.db run.txt many 2>err
timeout 20 "$B" path --pid 100 --limit 3 many.db >out 2>err && grep -q 'a deadlock$' out
ok a_ring_of_many_threads_is_found_in_time $?

# real ones: need root, ftrace, perf and a compiler
if [ "$(id -u)" != 0 ] || ! command -v perf >/dev/null || ! command -v cc >/dev/null ||
	[ ! -r /sys/kernel/tracing/events/sched/sched_switch/id ]
then
	echo "skip: a deadlock that is recorded (needs root, perf, tracefs and cc)"
	exit
fi
cat >dead.c <<'END'
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock[2];
static pthread_barrier_t both;

static void *take(void *arg)
{
	pthread_mutex_t *first = arg;

	pthread_mutex_lock(first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(first == lock ? lock + 1 : lock);
	return NULL;
}

/* normal: two threads wait for one another; robust, pi: with such locks; self: one for itself */
int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;
	pthread_t thread[2];

	pthread_mutexattr_init(&attr);
	if (argc > 1 && !strcmp(argv[1], "robust"))
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (argc > 1 && !strcmp(argv[1], "pi"))
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_barrier_init(&both, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_mutex_init(lock + i, &attr);
	if (argc > 1 && !strcmp(argv[1], "self"))
		return pthread_mutex_lock(lock) || pthread_mutex_lock(lock);
	for (int i = 0; i < 2; i++)
		pthread_create(thread + i, NULL, take, lock + i);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}
END
if ! cc -o dead dead.c -pthread 2>err
then
	echo "skip: a deadlock that is recorded (cc cannot make it)"
	exit
fi
# asleep PID N: all of its N threads are, and have been for a moment
asleep() {
	soon sh -c "[ \$(cat /proc/$1/task/*/status | grep -c '^State:.S') = $2 ]"
	sleep 0.5
}
for kind in normal robust pi self
do
	./dead $kind &
	pid=$!
	asleep $pid "$([ $kind = self ] && echo 1 || echo 3)"
	timeout 120 "$B" record --waits --for 0.3s -o "rec-$kind.data" -p "$pid" >out 2>err
	case $kind in
	robust) premise=', if these are locks with their owner in them' ;;
	*) premise=', if these are mutexes of glibc' ;;
	esac
	tids=$(printf '%s\n' /proc/$pid/task/* | sed 's/.*\///' | sort -n | tail -n 2 | paste -s -d ' ' -)
	a=${tids% *} b=${tids#* }
	# the kernel refuses the second lock with priority inheritance, and glibc waits for nothing then
	if [ $kind = pi ]
	then
		grep -q "^$a *dead *sleeping *futex *dead ($b)\|^$b *dead *sleeping *futex *dead ($a)" out && ! grep -q 'a deadlock' out
	elif [ $kind = self ]
	then
		tr '\n' ' ' <out | grep -q "^dead ($pid) waits for a lock that it has itself: a deadlock$premise the only thread of dead ($pid) never ran"
	else
		tr '\n' ' ' <out | grep -q "^dead ($a) waits for dead ($b), which waits for dead ($a): a deadlock$premise none of the 3 threads of dead ($pid) ran"
	fi
	bad=$?
	say "a_deadlock_of_${kind}_locks_is_found"
	if [ $kind = normal ] && command -v eu-stack >/dev/null
	then
		eu-stack -p "$pid" >stacks 2>err
		[ "$(grep -c pthread_mutex_lock stacks)" = 2 ]
		ok and_what_it_advises_shows_where $?
	fi
	kill "$pid"
done
# a program that hangs until somebody ends it
"$B" record --waits -o started.data -- ./dead normal >out 2>err &
made=$!
# perf, and then its child
i=0
until of=$(cat /proc/$made/task/$made/children) && [ "$of" ] && of=$(cat "/proc/${of%% *}/task/${of%% *}/children") && [ "$of" ] &&
	[ "$(cat "/proc/${of%% *}/comm")" = dead ] && [ "$(grep '^Threads' "/proc/${of%% *}/status" | tr -dc 0-9)" = 3 ] || [ $i -gt 600 ]
do
	sleep 0.1
	i=$((i + 1))
done 2>log
# it is read at its start, and each second
sleep 3
kill -TERM $made
wait $made
"$B" path started.db >out 2>err
tr '\n' ' ' <out | grep -qE '^dead \(([0-9]+)\) waits for dead \(([0-9]+)\), which waits for dead \(\1\): a deadlock, if these are mutexes of glibc none of the 3 threads of dead \([0-9]+\) ran in [1-9.]+.* dead \([0-9]+\) took '
bad=$?
say a_program_that_was_started_and_hangs_is_in_a_deadlock
is processes_are_not_those_of_threads_that_had_these_ids_before "$(sed -n 's/.*limits_sleep: .* pid=\([0-9]*\) tid=\([0-9]*\) .*/\2 \1/p' \
	started.data.cgroups | sort -u)" "$(sed -n 's/.*limits_sleep: .* tid=\([0-9]*\) .*/\1/p' started.data.cgroups | sort -u |
	while read -r tid
	do
		grep "^$tid " started.data.ftrace/saved_tgids
	done)"
"$B" page -o started.html started.db >out 2>err && grep -qE '^<p class="answer">dead [(].*: a deadlock, if these are mutexes of glibc' started.html
ok a_page_of_it_says_so_too $?
sleep 600 &
pid=$!
soon grep -q sleep /proc/$pid/comm
kill -STOP $pid
timeout 120 "$B" record --waits --for 0.3s -o stop.data -p $pid >out 2>err
tr '\n' ' ' <out | grep -q "^the only thread of sleep ($pid) never ran in .*: a signal has stopped it, and 'kill -CONT' lets it go on"
bad=$?
say a_process_that_was_stopped_is_told
is it_has_no_hot_functions "'backstitch stop.db' has the hot functions of the whole machine" \
	"$(grep 'hot functions' err)"
kill -CONT $pid && kill $pid
# one that has ended, and is still to be waited for, is in no record
python3 -c 'import os, time
pid = os.fork()
if not pid:
    os._exit(0)
open("ended", "w").write(str(pid))
time.sleep(600)' &
parent=$!
soon grep -q . ended
pid=$(cat ended)
soon grep -q zombie "/proc/$pid/status"
timeout 120 "$B" record --waits --for 0.3s -o ended.data -p "$pid" >out 2>err
grep -q "^process $pid: ended.db: no switch or wake-up of such a thread is recorded" err
ok a_process_that_has_ended_is_not_passed_over $?
kill $parent
# numbers of its own in a namespace
if unshare --fork --pid --mount-proc true 2>/dev/null
then
	unshare --fork --pid --mount-proc ./dead &
	children=/proc/$!/task/$!/children
	soon grep -q . $children
	pid=$(tr -d ' ' <$children)
	soon grep -qx dead "/proc/$pid/comm"
	asleep "$pid" 3
	timeout 120 "$B" record --waits --for 0.3s -o space.data -p "$pid" >out 2>err
	tr '\n' ' ' <out | grep -q "a deadlock, if these are mutexes of glibc none of the 3 threads of dead ($pid) ran"
	bad=$?
	say a_container_has_numbers_of_its_own
	kill -KILL "$pid" # the first process of a namespace ignores others
else
	echo "skip: a deadlock in a namespace (none may be made)"
fi

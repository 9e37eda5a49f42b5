#!/bin/sh
# follow_rings.sh - the rings of ftrace as a folder of databases, which together are the rings.
# usage: BACKSTITCH=PROGRAM tests/cli/follow_rings.sh; prints "ok NAME" or "not ok NAME" lines. The rings are FIFOs in a
# folder that looks like tracefs, with the pages of a trace.dat; tests/live/follow.sh has a kernel.
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${BACKSTITCH:-$root/backstitch}
case $B in /*) ;; *) B=$PWD/$B ;; esac
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
NO_COLOR=1 PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=$dir/cache
export NO_COLOR PYTHONDONTWRITEBYTECODE XDG_CACHE_HOME
rings=$root/tests/cli/rings.py

say() {	# say NAME: by $bad
	if [ "$bad" = 0 ]
	then echo "ok $1"
	else
		echo "not ok $1"
		sed 's/^/# /' out err 2>/dev/null | head -20
	fi
}
begin() {	# begin FOLDER OPTION...: follows it, until end
	in=$1
	shift
	rm -rf seg
	"$B" follow -o seg "$@" "$in" >out 2>err &
	pid=$!
}
end() {	# end: returns the status
	kill -TERM $pid 2>/dev/null
	wait $pid
}
is_whole() {	# is_whole: seg is whole.db
	"$B" merge -q -f -o all.db seg >out 2>>err && python3 "$root/tests/cli/merge.py" cut whole.db all.db >out 2>&1
}
count() {	# count: databases
	find seg -name 'segment-*.db' | wc -l
}
one() {	# one QUERY: of all databases
	for db in seg/*.db; do
		sqlite3 "$db" "$1"
	done
}

zstd -qdc "$root/tests/captures/ftrace-v6.dat.zst" >v6.dat && python3 "$rings" make v6.dat . &&
	"$B" ingest -q -o whole.db whole || exit 2

bad=0
for size in 4K 20K 64M; do
	begin live --segment $size
	python3 "$rings" feed . || bad=1
	end && is_whole || bad=1
	[ $bad = 0 ] || break
	eval "n$size=$(count)"
done
say segments_of_rings_are_the_rings
# shellcheck disable=SC2154 # set above
[ "$n4K" -gt 1 ] && [ "$n20K" -gt 1 ] && [ "$n64M" = 1 ]
bad=$?
say a_segment_ends_at_its_limit
find seg -name '.*' | grep . >out
[ ! -s out ]
bad=$?
say nothing_else_is_left

begin live/per_cpu --segment 20K
python3 "$rings" feed . 1000
end && is_whole
bad=$?
say pages_may_come_in_pieces

# the length of a page is wrong, and the event of an entry
cp -r whole hostile
printf '\377\377' | dd of=hostile/per_cpu/cpu1/trace_pipe_raw bs=1 seek=4104 conv=notrunc 2>/dev/null
printf '\377\377\377' | dd of=hostile/per_cpu/cpu1/trace_pipe_raw bs=1 seek=16404 conv=notrunc 2>/dev/null
mkdir bad && cp -r live hostile bad && mv bad/hostile bad/whole
begin bad/live --segment 20K
python3 "$rings" feed bad
cp live/per_cpu/cpu1/stats stats
echo 'read events: 100000' >>bad/live/per_cpu/cpu1/stats
end
[ $? = 3 ] && grep -q 'event 65535 has no format' err && one "SELECT detail FROM damage" >out && [ "$(wc -l <out)" = 1 ] &&
	grep -q 'a page says it has 65535 bytes' out
bad=$?
say a_hostile_page_is_damage_of_its_segment
cp stats bad/live/per_cpu/cpu1/stats
grep -q 'CPU 1: [0-9]* events are in damaged pages' err && ! grep -q 'another reader' err
bad=$?
say events_in_damaged_pages_were_not_taken_by_another_reader
cp whole.db good.db
"$B" ingest -q -f -o whole.db bad/whole >out 2>err
is_whole
bad=$?
say the_other_pages_are_read

# half a page at the end
head -c 6000 whole/per_cpu/cpu0/trace_pipe_raw >bad/whole/per_cpu/cpu0/trace_pipe_raw
cp whole/per_cpu/cpu1/trace_pipe_raw bad/whole/per_cpu/cpu1/trace_pipe_raw
begin bad/live
python3 "$rings" feed bad
end
[ $? = 3 ] && grep -q 'CPU 0 ends in a page: 1904 bytes' err
bad=$?
say half_a_page_at_the_end_is_said

# what a buffer without overwriting dropped, and what another reader took
begin live --segment 20K
python3 "$rings" feed .
cp live/per_cpu/cpu1/stats stats
printf 'entries: 0\noverrun: 5\ncommit overrun: 0\ndropped events: 70\nread events: 100000\n' >live/per_cpu/cpu1/stats
end
[ $? = 3 ] && grep -q 'CPU 1: .* events were taken by another reader' err
bad=$?
say events_that_another_reader_took_are_said
[ "$(one "SELECT coalesce(sum(n), 0) FROM loss WHERE counts" | awk '{ n += $1 } END { print n }')" = 75 ]
bad=$?
say what_the_kernel_counts_is_lost

# what the kernel does not give
begin live
python3 "$rings" feed .
sed -i 's/entries: 0/entries: 573/' live/per_cpu/cpu1/stats
end
[ $? = 3 ] && grep -q 'CPU 1: 573 events are left in the ring' err
bad=$?
cp stats live/per_cpu/cpu1/stats
say events_that_are_left_in_a_ring_are_said

"$B" follow -q -o seg whole >out 2>err
[ $? = 1 ] && grep -q "a copy of one is read by 'backstitch ingest'" err
bad=$?
say a_copy_of_rings_is_refused
begin live
until find /proc/$pid/fd -lname '*trace_pipe_raw' 2>/dev/null | grep -q .; do sleep 0.1; done
"$B" follow -q -o other live >out 2>err
[ $? = 1 ] && grep -q "another 'backstitch follow' reads it" err
bad=$?
end || bad=1
say two_runs_do_not_share_a_buffer

# ---- processes, which a text tells once

cat >text <<'END'
# tracer: nop
#
            bash-100     [000] .....   100.000115: task_newtask: pid=103 comm=bash clone_flags=1200000 oom_score_adj=0
            bash-100     [000] .....   100.000120: task_newtask: pid=101 comm=bash clone_flags=1200000 oom_score_adj=0
            true-101     [001] .....   100.000200: sched_process_exec: filename=/bin/true pid=101 old_pid=101
            true-101     [001] .....   100.000300: sys_enter: NR 1 (1, 2, 3, 4, 5, 6)
            bash-103     [001] .....   100.000450: sys_enter: NR 2 (1, 2, 3, 4, 5, 6)
            true-101     [001] .....   101.000300: sys_enter: NR 1 (1, 2, 3, 4, 5, 6)
            bash-103     [001] .....   101.000450: sys_enter: NR 2 (1, 2, 3, 4, 5, 6)
END
known() {	# known: the threads of a system call, with each process that they have anywhere
	one "SELECT tid, pid FROM samples WHERE event LIKE '%sys_enter'" | sort -u | tr '\n' ' '
}
rm -rf seg
"$B" follow -q -o seg --segment 64M - <text >out 2>err
bad=$?
[ "$(known)" = "101|101 103|103 " ] || bad=1
rm -rf seg
"$B" follow -q -o seg --segment 0.5K - <text >out 2>err || bad=1
[ "$(count)" = 2 ] && [ "$(known)" = "101|-1 101|101 103|-1 103|103 " ] || bad=1
say a_text_tells_processes_only_where_a_thread_was_forked
sed -i 's/^\( *[a-z]*-\(10[0-9]\)\)    /\1 (\2)/' text
rm -rf seg
"$B" follow -q -o seg --segment 0.5K - <text >out 2>err
bad=$?
[ "$(count)" = 2 ] && [ "$(known)" = "101|101 103|103 " ] || bad=1
say a_text_with_the_process_in_each_line_tells_all

# ---- what 'trace-cmd listen' receives

mkdir heard
cp v6.dat heard/trace.host:1234.dat
cp v6.dat heard/trace.host:99.dat
cp v6.dat heard/trace.dat
touch -d '1 minute ago' heard/trace.host:1234.dat heard/trace.host:99.dat heard/trace.dat
: >heard/trace.host:99.cpu0
begin heard
for _ in $(seq 300); do
	[ ! -s seg/segment-000001.db ] || break
	sleep 0.2
done
cp seg/.followed out
grep -q '/trace.host:1234.dat' out && [ "$(wc -l <out)" = 1 ]
bad=$?
say a_file_that_a_recorder_still_sends_is_no_segment
rm heard/trace.host:99.cpu0
end
bad=$?
[ "$(count)" = 2 ] && [ "$(one 'SELECT count(*) FROM samples' | sort -u | wc -l)" = 1 ] || bad=1
say each_file_that_was_received_is_a_segment

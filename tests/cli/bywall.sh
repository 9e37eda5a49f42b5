#!/bin/sh
# bywall.sh - report --by wall divides weights by how many threads ran, and gives
# a range where a switch may be lost.
# usage: BACKSTITCH=build/backstitch tests/cli/bywall.sh
#
# What is wanted of the captures without a loss is what perf report --latency of
# perf 7.2 prints for them: 60.00 and 40.00, 40.00 and 60.00, 100.00.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

# wall CAPTURE KEYS: self, least, most, how many ran, and where, of each row
wall() {
	"$B" report --by wall --sort "$2" --json "$work/$1" >"$work/json" || return
	of_json "$work/json" '" ".join("%.2f/%.2f/%.2f:%s%s" % (
		w["self_percent"], w["self_least_percent"], w["self_most_percent"],
		w.get("parallelism", ""), w.get("tid", "")) for w in r["rows"])'
}

# phases: 100 is alone 4 ms, with 101 4 ms, and alone again 2 ms
cat >"$work/phases.txt" <<'END'
# One thread alone, then two at once, then one again.
event cpu-clock period=1000000 switches
event dummy:u output switches
task 100
comm pid=100 name=app exec time=1000000000
mmap pid=100 start=0x400000 len=0x10000 pgoff=0 path=/bin/app time=1000000001
sample pid=100 tid=100 cpu=0 time=1001000000 u=0x401000 period=1000000
sample pid=100 tid=100 cpu=0 time=1002000000 u=0x401000 period=1000000
switch out pid=100 tid=100 cpu=0 time=1002100000
switch in pid=100 tid=100 cpu=0 time=1002200000
sample pid=100 tid=100 cpu=0 time=1003000000 u=0x401000 period=1000000
sample pid=100 tid=100 cpu=0 time=1004000000 u=0x401000 period=1000000
fork pid=100 tid=101 ppid=100 ptid=100 cpu=0 time=1004100000
switch in pid=100 tid=101 cpu=1 time=1004200000
sample pid=100 tid=100 cpu=0 time=1005000000 u=0x402000 period=1000000
sample pid=100 tid=101 cpu=1 time=1005100000 u=0x402000 period=1000000
sample pid=100 tid=100 cpu=0 time=1006000000 u=0x402000 period=1000000
sample pid=100 tid=101 cpu=1 time=1006100000 u=0x402000 period=1000000
sample pid=100 tid=100 cpu=0 time=1007000000 u=0x402000 period=1000000
sample pid=100 tid=101 cpu=1 time=1007100000 u=0x402000 period=1000000
sample pid=100 tid=100 cpu=0 time=1008000000 u=0x402000 period=1000000
sample pid=100 tid=101 cpu=1 time=1008100000 u=0x402000 period=1000000
exit pid=100 tid=101 ppid=100 ptid=100 cpu=1 time=1008500000
switch out pid=100 tid=100 cpu=0 time=1008600000
switch in pid=100 tid=100 cpu=2 time=1008700000
sample pid=100 tid=100 cpu=2 time=1009000000 u=0x403000 period=1000000
sample pid=100 tid=100 cpu=2 time=1010000000 u=0x403000 period=1000000
exit pid=100 tid=100 ppid=1 ptid=1 cpu=2 time=1010500000
END
"$MKCAP" "$work/phases.txt" "$work/phases"
is phases_of_one_and_two_threads '60.00/60.00/60.00:1 40.00/40.00/40.00:2' \
	"$(wall phases parallelism)"
is a_thread_weighs_what_it_ran_alone '80.00/80.00/80.00:100 20.00/20.00/20.00:101' \
	"$(wall phases tid)"
is the_weight_is_the_time_that_something_ran 10000000 \
	"$(of_json "$work/json" 'r["weight"]')"
is nothing_is_a_range_without_a_loss 0 "$(of_json "$work/json" 'r["ranged_weight"]')"
is latency_and_parallelism_imply_it \
	"$("$B" report --by wall --sort tid "$work/phases")" \
	"$("$B" report --sort latency,tid "$work/phases")"

# the second thread's exit is lost: from its last record on it may have run
sed -e '/^exit pid=100 tid=101/d' \
	-e 's/^switch out .*time=1008600000/lost n=1 cpu=1 time=1008500000\n&/' \
	"$work/phases.txt" >"$work/lost.txt"
"$MKCAP" "$work/lost.txt" "$work/lost"
is an_exit_that_is_lost_makes_a_range \
	'40.00/40.00/44.44:1 40.00/40.00/44.44:2 20.00/11.11/20.00:1-2' \
	"$(wall lost parallelism)"
"$B" report --by wall "$work/lost" >"$work/out"
says the_share_of_the_range_is_said 'of it that is a range' "$work/out"
says a_column_has_the_least 'Least %' "$work/out"

# its switch in is lost: it ran since it was born, or began later
grep -v '^switch in .*tid=101' "$work/phases.txt" | sed \
	's/^exit pid=100 tid=101/switch out pid=100 tid=101 cpu=1 time=1008400000\n&/' \
	>"$work/born.txt"
"$MKCAP" "$work/born.txt" "$work/born"
wall born parallelism >"$work/out"
says a_switch_in_that_is_lost_makes_a_range ':1-2' "$work/out"

# one that came back on another CPU is not on the first one any more
cat >"$work/moved.txt" <<'END'
event cpu-clock period=1000000 switches
event dummy:u output switches
task 100
comm pid=100 name=app exec time=1000000000
sample pid=100 tid=100 cpu=0 time=1001000000 u=0x401000 period=1000000
switch out pid=100 tid=100 cpu=0 time=1001100000
switch in pid=100 tid=100 cpu=2 time=1001200000
sample pid=100 tid=100 cpu=2 time=1002000000 u=0x401000 period=1000000
switch out pid=100 tid=100 cpu=2 time=1002100000
switch in pid=100 tid=100 cpu=0 time=1002200000
sample pid=100 tid=100 cpu=0 time=1003000000 u=0x401000 period=1000000
exit pid=100 tid=100 ppid=1 ptid=1 cpu=0 time=1003500000
END
"$MKCAP" "$work/moved.txt" "$work/moved"
is a_thread_that_moves_is_one '100.00/100.00/100.00:1' "$(wall moved parallelism)"

# perf tells its options until 7.1 only
"$B" ingest -q -o "$work/phases.db" "$work/phases"
"$B" report "$work/phases.db" >"$work/out"
python3 - "$work/phases.db" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE capture SET cmdline = 'perf record --latency ./app'")
db.commit()
END
"$B" report "$work/phases.db" >"$work/hint"
! grep -q 'recorded with --latency' "$work/out" &&
	grep -q 'recorded with --latency: --by wall' "$work/hint" &&
	! "$B" report --by wall "$work/phases.db" | grep -q 'recorded with'
ok a_capture_of_latency_says_how_to_count_it $?

"$B" report --by wall --wall "$work/phases" >"$work/out" 2>&1
is two_ways_to_count_are_refused 2 $?
sed 's/ period=1000000$/ period=1/' "$work/phases.txt" >"$work/ones.txt"
"$MKCAP" "$work/ones.txt" "$work/ones"
"$B" report --by wall "$work/ones" >"$work/out" 2>&1
is weights_too_small_to_divide_are_an_error 1 $?
grep -v '^switch' "$work/phases.txt" >"$work/none.txt"
"$MKCAP" "$work/none.txt" "$work/none"
"$B" report --by wall "$work/none" >"$work/out" 2>&1
is without_switches_nobody_knows_how_many_ran 1 $?

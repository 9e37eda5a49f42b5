#!/bin/sh
# bench.sh - makes the large captures once, then measures us and perf side by side.
# usage: tests/bench/bench.sh; run by make bench
#
# The captures are of our own load program (load.c) and stay in bench/: big
# (at least 1.5 million records and 230 MB: recorded until there are as many)
# and one of a tenth of its time. To record anew, remove bench/.
# $BENCH_RUNS (5), $BENCH_SECONDS (20). Run it on a quiet machine.
#
# -c for the tracepoint alone: perf's -F holds tracepoints back, too.
cd "$(dirname "$0")/../.." || exit 2
O=${O:-build}
secs=${BENCH_SECONDS:-20}
mkdir -p bench

record() {	# record FILE SECONDS
	[ -s "$1" ] && return
	echo "recording $1 ($2 s)"
	if perf record -q -o "$1.new" -m 2048 -g -c 8 \
		-e cpu-clock/freq=10000/ -e raw_syscalls:sys_enter \
		-- "$O/bench/load-fp" "$2" 2 >bench/record.log 2>&1
	then
		mv "$1.new" "$1"
		return
	fi
	cat bench/record.log >&2
	echo "cannot record: perf and the right to use tracepoints are needed" >&2
	return 1
}

if ! command -v perf >/dev/null
then
	echo "perf is not here: install linux-perf" >&2
	exit 1
fi
mkdir -p "$O/bench"
${CC:-gcc} -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	-fno-inline -o "$O/bench/load-fp" tests/bench/load.c -pthread || exit 1

big_enough() {
	[ "$(stat -c %s bench/big.data)" -ge 230000000 ] && [ "$(perf report \
		--stats -i bench/big.data 2>/dev/null |
		sed -n 's/.*TOTAL events: *//p')" -ge 1500000 ]
}

record bench/big.data "$secs" || exit 1
while ! big_enough
do
	[ "$secs" -lt 160 ] || break
	secs=$((secs * 2))
	rm -f bench/big.data bench/small.data
	record bench/big.data "$secs" || exit 1
done
record bench/small.data "$(((secs + 9) / 10))" || exit 1
exec python3 tests/bench/measure.py "$O" bench/big.data bench/small.data

#!/bin/sh
# bench.sh - makes the large captures once, then measures us and perf side by side.
# usage: tests/bench/bench.sh; run by make bench
#
# The captures are of our own load program (load.c) and stay in bench/: big
# (some 1.5 million records, more than 230 MB) and one of a tenth of it. To
# record anew, remove bench/. $BENCH_RUNS (3), $BENCH_SECONDS (45).
cd "$(dirname "$0")/../.." || exit 2
O=${O:-build}
secs=${BENCH_SECONDS:-45}
mkdir -p bench

record() {	# record FILE SECONDS
	[ -s "$1" ] && return
	echo "recording $1 ($2 s)"
	if perf record -q -o "$1.new" -m 2048 -g -F 10000 -e cpu-clock \
		-e raw_syscalls:sys_enter -- "$O/bench/load-fp" "$2" 2 \
		>bench/record.log 2>&1
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
record bench/big.data "$secs" || exit 1
record bench/small.data "$((secs / 10))" || exit 1
exec python3 tests/bench/measure.py "$O" bench/big.data bench/small.data

#!/bin/sh
# bench.sh - makes the large captures once, then measures us and perf side by side.
# usage: tests/bench/bench.sh; run by make bench
#
# The captures are of our own load program (load.c) and stay in bench/: big
# (at least 1.5 million records and 230 MB) and one of a tenth of its time. How
# long that takes is tried first: machines differ five times. To record anew,
# remove bench/. Before that, what 10 to 100,000 waiting tasks cost (waiting.c).
# $BENCH_RUNS (5). Run it on a quiet machine.
cd "$(dirname "$0")/../.." || exit 2
O=${O:-build}
mkdir -p bench

"$O/bench/waiting" || exit 1
echo

record() {	# record FILE SECONDS
	[ -s "$1" ] && return
	echo "recording $1 ($2 s)"
	if perf record -q -o "$1.new" -m 2048 -g \
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

# a / b with one decimal
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", a / b }'
}

records() {	# records FILE
	perf report --stats -i "$1" 2>/dev/null |
		sed -n 's/.*TOTAL events: *//p'
}

if [ ! -s bench/big.data ]
then
	rm -f bench/trial.data bench/small.data
	record bench/trial.data 1 || exit 1
	n=$(records bench/trial.data)
	size=$(stat -c %s bench/trial.data)
	rm -f bench/trial.data
	secs=$(ratio 1900000 "${n:-1}")
	[ $((size * ${secs%.*})) -ge 200000000 ] ||
		secs=$(ratio 300000000 "$size")
	record bench/big.data "$secs" || exit 1
	record bench/small.data "$(ratio "$secs" 10)" || exit 1
fi
exec python3 tests/bench/measure.py "$O" bench/big.data bench/small.data

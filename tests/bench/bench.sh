#!/bin/sh
# bench.sh - makes large captures once, then measures us and others side by side.
# usage: tests/bench/bench.sh [table] [waiting] [growth] [perf] [ftrace] [ctf]
#        [names] [unwind] [looks] [dwarf] [sql] [pictures] [page] [view] [waits] [kinds] [texts]
#        [calls] [why]
#        table: all kinds of captures, in a quarter of an hour; without a name
#        and by make bench; all: all of these, make bench BENCH=all
#        fleet: 100 runs, or $FLEET_RUNS, as Parquet and in ClickHouse
#        follow: a stream in segments beside a plain ingest, also by callgrind
#        pages: tables of 10,000,000 rows, built without SQLite and by it
#
# The captures are of our own load program (load.c) and stay in bench/: big
# (at least 1.5 million records and 230 MB; of ftrace at least a million events,
# each with its kernel stack) and one of a tenth of its time. How long that
# takes is tried first: machines differ five times. To record anew, remove
# bench/. waiting: what 10 to 100,000 waiting tasks cost (waiting.c).
# $BENCH_RUNS (5). newer.sh gets a second perf, trace-cmd and babeltrace2. Run it on a
# quiet machine.
cd "$(dirname "$0")/../.." || exit 2
O=${O:-build}
mkdir -p bench "$O/bench"
load=$O/bench/load-fp
${CC:-gcc} -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	-fno-inline -o "$load" tests/bench/load.c -pthread || exit 1

has() {	# has PROGRAM PACKAGE
	command -v "$1" >/dev/null && return
	echo "$1 is not here: install $2" >&2
	return 1
}

# a / b with one decimal
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", a / b }'
}

recorded() {	# recorded FILE SECONDS PROGRAM...: it writes FILE.new
	file=$1
	secs=$2
	shift 2
	[ ! -s "$file" ] || return 0
	echo "recording $file ($secs s)"
	if "$@" >bench/record.log 2>&1 && [ -s "$file.new" ]
	then
		mv "$file.new" "$file"
		return
	fi
	cat bench/record.log >&2
	echo "cannot record: $1 and the right to use tracepoints are needed" >&2
	return 1
}

record_perf() {	# record_perf FILE SECONDS
	recorded "$1" "$2" perf record -q -o "$1.new" -m 2048 -g \
		-e cpu-clock/freq=10000/ -e raw_syscalls:sys_enter \
		-- "$load" "$2" 2
}

records() {	# records FILE
	perf report --stats -i "$1" 2>/dev/null |
		sed -n 's/.*TOTAL events: *//p'
}

big_data() {	# records bench/big.data, and small.data, once
	[ ! -s bench/big.data ] || return 0
	has perf linux-perf || return
	rm -f bench/trial.data bench/small.data
	record_perf bench/trial.data 1 || return
	n=$(records bench/trial.data)
	size=$(stat -c %s bench/trial.data)
	rm -f bench/trial.data
	secs=$(ratio 1900000 "${n:-1}")
	[ $((size * ${secs%.*})) -ge 200000000 ] ||
		secs=$(ratio 300000000 "$size")
	record_perf bench/big.data "$secs" || return
	record_perf bench/small.data "$(ratio "$secs" 10)"
}

bench_perf() {
	has perf linux-perf && big_data || return
	python3 tests/bench/measure.py "$O" bench/big.data bench/small.data
}

mixed_data() {	# records bench/mixed.data once
	has perf linux-perf &&
		recorded bench/mixed.data 20 perf record -q \
			-o bench/mixed.data.new -m 2048 -F 10000 -g \
			-e cpu-clock -e sched:sched_switch \
			-e raw_syscalls:sys_enter \
			-- tests/bench/mixed.sh "$load" 20
}

# Threads that wake each other, of a whole system, are recorded once: the events
# of the scheduler without stacks, and fewer with them.
sched_data() {
	has perf linux-perf || return
	switches="perf bench sched pipe -l \$0 >/dev/null &
		perf bench sched messaging -l \$1 >/dev/null; wait"
	recorded bench/sched.data 5 perf sched record -m 8M \
		-o bench/sched.data.new -- sh -c "$switches" 180000 800 &&
		recorded bench/stacks.data 5 perf record -q -m 8M -a -g \
			-e 'sched:*' -o bench/stacks.data.new \
			-- sh -c "$switches" 60000 300
}

record_ftrace() {	# record_ftrace FILE SECONDS
	recorded "$1" "$2" tests/bench/record-ftrace.sh "$1.new" "$load" "$2"
}

big_dat() {	# records bench/big.dat, and small.dat, once
	[ ! -s bench/big.dat ] || return 0
	has trace-cmd trace-cmd || return
	rm -f bench/trial.dat bench/small.dat
	record_ftrace bench/trial.dat 1 || return
	size=$(stat -c %s bench/trial.dat)
	rm -f bench/trial.dat
	secs=$(ratio 200000000 "$size")
	record_ftrace bench/big.dat "$secs" || return
	record_ftrace bench/small.dat "$(ratio "$secs" 10)"
}

# Of all kinds of captures that can be made here.
bench_table() {
	mixed_data
	sched_data
	! has perf linux-perf || python3 tests/bench/unwind.py --record
	big_dat
	! has babeltrace2 babeltrace2 || big_ctf
	python3 tests/bench/table.py "$O"
	set --
	for data in bench/mixed.data bench/dwarf.data
	do
		[ ! -s $data ] || set -- "$@" $data
	done
	BENCH_DIR=bench python3 tests/bench/lasting.py "$O" pieces "$@"
}

# The captures of these: unwind records that of stack dumps.
bench_looks() {
	mixed_data && big_data || return
	set -- bench/big.data bench/mixed.data
	[ ! -s bench/dwarf.data ] || set -- "$@" bench/dwarf.data
	python3 tests/bench/looks.py "$O" "$@" &&
		python3 tests/bench/looks.py "$O" --calls
}

bench_pictures() {
	has perf linux-perf && big_data || return
	python3 tests/bench/pictures.py "$O" bench/big.data
}

bench_ftrace() {
	has trace-cmd trace-cmd || return
	rm -f "$O/bench/bare"
	# shellcheck disable=SC2046 # flags are words
	${CC:-gcc} -O2 -o "$O/bench/bare" tests/bench/bare.c \
		$(pkg-config --cflags --libs libtracecmd) ||
		echo "no bare iteration: install libtracecmd-dev" >&2
	big_dat && python3 tests/compare/ftrace.py bench/small.dat &&
		python3 tests/bench/measure_ftrace.py "$O" bench/big.dat \
			bench/small.dat
}

bench_names() {
	has perf linux-perf && has eu-addr2line elfutils &&
		python3 tests/bench/names.py "$O"
}

bench_unwind() {
	has perf linux-perf && python3 tests/bench/unwind.py "$O"
}

bench_dwarf() {
	has perf linux-perf && python3 tests/bench/dwarf.py "$O"
}

big_ctf() {	# makes bench/big.ctf once
	[ -s bench/big.ctf/metadata ] || {
		${CC:-gcc} -O2 -o "$O/bench/mkctf" tests/bench/mkctf.c &&
			"$O/bench/mkctf" bench/big.ctf 2000000
	}
}

kernel_ctf() {	# makes bench/kernel.ctf, a million events, once
	[ -s bench/kernel.ctf/metadata ] || {
		packed=$(ROOT=. O=$O python3 tests/compare/unpack.py) &&
			rm -rf bench/kernel.ctf &&
			python3 tests/bench/repeatctf.py \
				"$packed/lttng/k-callstack/trace/kernel" \
				bench/kernel.ctf 400
	}
}

bench_ctf() {
	has babeltrace2 babeltrace2 && big_ctf && kernel_ctf || return
	python3 tests/bench/measure_ctf.py "$O" bench/big.ctf bench/kernel.ctf
}

# Every query of backstitch-sql(7): at most 2 s on more than 1.5 million samples.
bench_sql() {
	big_data && big_ctf &&
		python3 tests/bench/measure_sql.py "$O" bench/big.data bench/big.ctf
}

# Ten minutes and 5 GB of disk.
bench_fleet() {
	has perf linux-perf && has clickhouse-server clickhouse-server &&
		big_data && python3 tests/bench/fleet.py "$O" \
			"${FLEET_RUNS:-100}" bench/small.data
}

bench_page() {
	has chromedriver chromium-driver && python3 tests/bench/page.py "$O"
}

bench_view() {	# with a capture of 143 MB or more
	has perf linux-perf || return
	if [ ! -s bench/view.data ]
	then
		rm -f bench/trial.data
		record_perf bench/trial.data 1 || return
		size=$(stat -c %s bench/trial.data)
		rm -f bench/trial.data
		record_perf bench/view.data "$(ratio 160000000 "$size")" || return
	fi
	python3 tests/bench/view.py "$O" bench/view.data
}

bench_follow() {
	has perf linux-perf && python3 tests/bench/follow.py "$O"
}

[ $# -gt 0 ] || set -- table
[ "$*" != all ] || set -- waiting growth perf ftrace ctf names unwind looks table dwarf \
	sql pictures page view waits kinds calls texts why
rc=0
for what
do
	case $what in
	waiting) "$O/bench/waiting" || rc=1 ;;
	growth) python3 tests/bench/growth.py "$O" || rc=1 ;;
	perf) bench_perf || rc=1 ;;
	ftrace) bench_ftrace || rc=1 ;;
	ctf) bench_ctf || rc=1 ;;
	names) bench_names || rc=1 ;;
	unwind) bench_unwind || rc=1 ;;
	looks) bench_looks || rc=1 ;;
	table) bench_table || rc=1 ;;
	dwarf) bench_dwarf || rc=1 ;;
	sql) bench_sql || rc=1 ;;
	pictures) bench_pictures || rc=1 ;;
	page) bench_page || rc=1 ;;
	view) bench_view || rc=1 ;;
	waits) python3 tests/bench/waits.py "$O" || rc=1 ;;
	kinds) python3 tests/bench/kinds.py "$O" || rc=1 ;;
	texts) has perf linux-perf && python3 tests/bench/texts.py "$O" || rc=1 ;;
	calls) python3 tests/bench/calls.py "$O" || rc=1 ;;
	why) has perf linux-perf && python3 tests/bench/why.py "$O" || rc=1 ;;
	fleet) bench_fleet || rc=1 ;;
	follow) bench_follow || rc=1 ;;
	pages) CK_RUN_CASE=large PAGES_ROWS=10000000 "$O/unit/pages" || rc=1 ;;
	*) echo "no bench '$what': 'sed -n 2,10p $0' lists them" >&2; exit 2 ;;
	esac
	echo
done
exit $rc

#!/bin/sh
# timeline.sh - several captures on one timeline: which go together, how exactly, and what is refused.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/timeline.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
cap=$PWD/tests/captures
. tests/lib.sh
cd "$dir" || exit 2

ask() {
	"$B" query --format csv "$1" "$2" | sed 1d | tr -d '\r' | tr '\n' ';'
}

aligned="SELECT align, offset_ns, error_ns, pairs, together
	FROM capture ORDER BY id"

# refuses NAME TEXT ARGUMENT...: with status 1, and no database is left
refuses() {
	name=$1 text=$2
	shift 2
	rm -f no.db
	"$B" ingest -q -o no.db "$@" 2>err
	got=$?
	[ -e no.db ] && got="$got, but a database"
	is "$name" 1 "$got"
	grep -qF -e "$text" err
	is "$name: says why" 0 $?
}

# switches OFFSET-US COUNT [ID]: two CPUs, threads that live for one turn; us
switches() {
	awk -v off="$1" -v n="$2" -v id="${3:-1000}" 'BEGIN {
		print "# tracer: nop\n#"
		print "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION"
		for (i = 0; i < n; i++) {
			cpu = i % 2
			t = 5000000000 + off + i * 130 + i * i % 61
			prev = i < 2 ? 0 : id + i - 2
			printf "  app-%-8d [%03d] d..2. %d.%06d: sched_switch: ",
				prev, cpu, t / 1000000, t % 1000000
			printf "prev_comm=app prev_pid=%d prev_prio=120 ", prev
			printf "prev_state=S ==> next_comm=app "
			printf "next_pid=%d next_prio=120\n", id + i
		}
	}'
}

switches 0 200 >a.txt
switches 30099 200 >b.txt
switches 0 200 9000 >other.txt
switches 9000000 200 9000 >later.txt

# --- equal events

"$B" ingest -q -o ab.db a.txt b.txt 2>err
is "a clock that nobody names is found by equal events" 0 $?
is "with offset, error and the number of events" \
	'reference,0,0,0,1;events,-30099000,1000,200,1;' "$(ask ab.db "$aligned")"
is "times are on the timeline, and raw beside" '0,30099000;' \
	"$(ask ab.db "SELECT min(time_ns) - (SELECT first_ns FROM capture WHERE id = 1), min(raw_ns) - min(time_ns)
		FROM event WHERE raw_ns IS NOT NULL")"
is "and only where they differ" '200;' \
	"$(ask ab.db "SELECT count(*) FROM event WHERE raw_ns IS NULL")"
is "info says how" 'by equal events, -30.099000 ms, 200 events agree, within 1.00 us; one kernel with capture 1' \
	"$("$B" info ab.db | sed -n 's/^  aligned *by/by/p')"
"$B" check ab.db >out 2>err
grep -q '200 of 398 neighbouring' out
is "check says which order is not sure" 0 $?

# --- what is refused

refuses "another run" "are too few or do not agree" a.txt other.txt
refuses "another time" "are too few or do not agree" a.txt later.txt
refuses "one clock by name, another by its events" "equal events are 30.099 ms apart" \
	--clock perf a.txt b.txt
refuses "one clock, but the switches of one are not in the other" \
	"switches of one are not in the other" --clock perf a.txt other.txt
refuses "one clock, but recorded at other times" "lie between them" \
	--clock perf a.txt later.txt
refuses "and the way out is named" "--clock-offset 2=NS" a.txt other.txt

"$B" ingest -q -o sep.db --separate a.txt other.txt 2>err
is "unless they are kept separate" 0 $?
is "on clocks of their own" ',,,,;,,,,;' "$(ask sep.db "$aligned")"
"$B" ingest -f --no-symbols -o far.db --separate "$cap/fp-1.data" "$cap/before.data" 2>err
is "what is between two recordings was not recorded" "far.db: 511 samples over 681 ms" "$(head -n 1 err)"
"$B" ingest -f --no-symbols -o far.db "$cap/fp-1.data" 2>err
is "of one it is from its first time to its last" "far.db: 133 samples over 301 ms" "$(head -n 1 err)"
rm far.db
for option in --clock-offset=1=7 --sched-clock-offset=7; do
	"$B" ingest -q -o off.db --separate $option a.txt other.txt 2>err
	is "no clock is moved that is kept: $option" 2 $?
	grep -q "keeps the clocks: leave out .*${option%%=*}" err
	is "and that is said: $option" 0 $?
done
"$B" ingest -q -o off.db --clock-offset other.txt=-5000 a.txt other.txt 2>err
is "or the user knows the offset" 0 $?
is "which is then that" 'reference,0,0,0,1;given,-5000,,0,2;' \
	"$(ask off.db "$aligned")"
"$B" ingest -q -f -o off.db --clock-offset 1=7000 a.txt other.txt 2>err
is "by the place of the capture too" 'given,7000,,0,1;reference,0,0,0,2;' \
	"$(ask off.db "$aligned")"
"$B" ingest -q -f -o off.db --clock-offset 3=7 a.txt other.txt 2>err
is "a capture that was not given is wrong usage" 2 $?
"$B" ingest -q -f -o off.db --clock-offset 1=7ms a.txt other.txt 2>err
is "and so is what is no number" 2 $?
"$B" ingest -q -f -o off.db a.txt - <b.txt 2>err
is "standard input cannot be read twice" 2 $?

# --- perf and ftrace: samples of a thread between its switches

cat >perf.txt <<'END'
event cpu-clock period=1000
comm pid=1050 name=app
mmap pid=1050 start=0x400000 len=0x10000 pgoff=0 path=/bin/app
sample pid=1050 tid=1050 cpu=0 time=5000006600000 k=0xffffffff81000010 u=0x400010
sample pid=1050 tid=1050 cpu=0 time=5000006700000 k=0xffffffff81000020 u=0x400010
END
"$MKCAP" perf.txt perf.data 2>err
"$B" ingest -q -f -o run.db --no-symbols --clock perf perf.data a.txt 2>err
is "perf's clock is ftrace's clock perf" 'reference;same_clock;' \
	"$(ask run.db "SELECT align FROM capture ORDER BY id")"
is "a thread's switches stand around its samples" \
	'in,sched:sched_switch;on,cpu-clock;on,cpu-clock;out,sched:sched_switch;' \
	"$(ask run.db "
		SELECT CASE WHEN s.next_pid = 1050 THEN 'in'
			WHEN s.prev_pid = 1050 THEN 'out' ELSE 'on' END, y.name
		FROM event e JOIN event_type y ON y.id = e.type
		JOIN thread t ON t.id = e.thread
		LEFT JOIN ev_sched_sched_switch s ON s.event_id = e.id
		WHERE t.tid = 1050 OR s.next_pid = 1050 ORDER BY e.id")"
is "one capture alone has no alignment" ',,,,;' "$("$B" ingest -q -f \
	-o one.db a.txt 2>err
	ask one.db "$aligned")"

# Times of 2^63 ns and more cannot be: such records are damage, and say nothing of when it ended.
awk 'BEGIN {
	print "event cpu-clock period=1000"
	for (i = 1; i < 14; i++)
		printf "sample pid=1 tid=1 cpu=0 time=%s u=0x401000\n",
			i < 4 ? i * 1000 : "92233720368547758" 10 + i
}' >far.txt
"$MKCAP" far.txt far.data
for input in far.data -
do
	"$B" ingest -q -f -o far.db "$input" <far.data 2>err
	is "times that cannot be, $input" 3 $?
	is "times that cannot be, $input: from when to when" "1000,3000;" \
		"$(ask far.db 'SELECT first_ns, last_ns FROM capture')"
done
# a database may say any
sqlite3 far.db 'UPDATE capture SET first_ns = -9223372036854775808, last_ns = 9223372036854775807'
"$B" info far.db >out 2>err
grep -q 'time  *-9223372036.854775 to 9223372036.854775 s,' out && ! grep -q 'runtime error' err
is "times of a database that lies" 0 $?
"$B" ingest -q -o lies.db "$cap/ftrace-v7.dat"
sqlite3 lies.db 'UPDATE capture SET first_ns = -9223372036854775808, last_ns = 9223372036854775807'
"$B" lies.db >out 2>err
grep -q ', 727 events$' out && ! grep -q 'runtime error' err
is "the first screen of a database that lies" 0 $?

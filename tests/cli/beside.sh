#!/bin/sh
# beside.sh - what tracefs has beside a text, a clock, CPUs and counts of what was dropped, is known of each piece of it.
# usage: BACKSTITCH=PROGRAM tests/cli/beside.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2

# thread 5 waits on CPU 0 for thread 7 of CPU 1, which works: without the CPUs that there are, nothing is proved
waits() {	# waits N: so often
	awk -v n="$1" 'function at(cpu, comm, pid, us, what) {
		printf " %s-%d [%03d] d..2. %d.%06d: %s\n", comm, pid, cpu, t / 1000000, t % 1000000 + us, what
	}
	function swap(cpu, us, a, pa, state, b, pb) {
		at(cpu, a, pa, us, "sched_switch: prev_comm=" a " prev_pid=" pa " prev_prio=120 prev_state=" state \
			" ==> next_comm=" b " next_pid=" pb " next_prio=120")
	}
	BEGIN {
		t = 1000000
		swap(1, 0, "other", 9, "S", "works", 7)
		swap(0, 1, "idle", 8, "S", "waits", 5)
		for (i = 0; i < n; i++) {
			swap(0, 10, "waits", 5, "S", "idle", 8)
			at(1, "works", 7, 500, "sched_waking: comm=waits pid=5 prio=120 target_cpu=000")
			swap(0, 510, "idle", 8, "S", "waits", 5)
			swap(1, 600, "works", 7, "R", "other", 9)
			swap(1, 610, "other", 9, "S", "works", 7)
			t += 1000
		}
	}'
}
beside() {	# beside DIR DROPPED: a copy of what tracefs has, with a text that is called trace_pipe
	mkdir -p "$1/per_cpu/cpu0" "$1/per_cpu/cpu1"
	echo 'local global counter uptime perf [mono] mono_raw boot tai x86-tsc' >"$1/trace_clock"
	for cpu in 0 1; do
		printf 'entries: 0\noverrun: 0\ncommit overrun: 0\nbytes: 0\ndropped events: %d\nread events: 9\n' \
			$((cpu * $2)) >"$1/per_cpu/cpu$cpu/stats"
	done
	cp text "$1/trace_pipe"
}
proved() {	# proved DB|DIR: how much of the waits of thread 5, of all that there is
	"$B" path --tid 5 "$1" 2>>err | grep -o '^[0-9.]* % proved'
}
each() {	# each DIR QUERY: what it prints of each database
	for db in "$1"/*.db; do
		sqlite3 "$db" "$2"
	done | tr '\n' ' '
}
follow() {	# follow DIR TEXT
	rm -rf "$1"
	"$B" follow -q --segment 3K -o "$1" "$2" 2>>err
}
: >err
waits 100 >text
beside whole 0
mkdir alone
cp text alone/trace_pipe
sed '1i # tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#' text >head.txt

facts='SELECT clock, cpus FROM capture'
"$B" path --tid 5 --premises text 2>>err | tr '\n' ' ' | grep -q 'proved, if '
ok "a text does not tell its CPUs, which is a premise" $?
"$B" ingest -q -o whole.db whole/trace_pipe 2>err
is "the folder beside it does" 'monotonic|2' "$(sqlite3 whole.db "$facts")"
is "as its first lines do" "$(proved head.txt)" "$(proved whole.db)"
is "and all is proved then" '100.00 % proved' "$(proved whole.db)"
"$B" ingest -q -f -o clock.db --clock boot whole/trace_pipe 2>err
is "a clock that is named there is not one that the user names" 'monotonic|2' "$(sqlite3 clock.db "$facts")"
echo 'local global [counter] uptime' >whole/trace_clock
"$B" ingest -q -f -o clock.db whole/trace_pipe 2>err
is "a counter is no clock" '|2' "$(sqlite3 clock.db "$facts")"
beside whole 0
(cd whole && "$B" ingest -q -f -o ../in.db - <trace_pipe) 2>err
is "nothing is beside standard input" '|' "$(sqlite3 in.db "$facts")"

follow seg alone/trace_pipe
is "nor in a piece of it" '| | | | ' "$(each seg "$facts" | cut -c 1-8)"
follow seg whole/trace_pipe
is "each piece knows clock and CPUs" 'monotonic|2 monotonic|2' "$(each seg "$facts" | cut -d ' ' -f 1-2)"
for db in seg/*.db; do proved "$db"; done | awk '$1 < 75' >out
is "and proves what it has, but where it was cut" '' "$(cat out)"
is "and together they prove what the whole does" "$(proved whole.db)" "$(proved seg)"
is "they read as one" "$(sqlite3 whole.db 'SELECT count(*) FROM samples')" "$("$B" query --format csv seg 'SELECT count(*) FROM samples' |
	tail -1 | tr -d '\r')"
rm -rf inside
cp -r whole inside
"$B" follow -q --segment 3K -o inside inside/trace_pipe 2>err
is "also in that folder" 'monotonic|2 monotonic|2' "$(each inside "$facts" | cut -d ' ' -f 1-2)"

# ---- what a buffer that does not overwrite dropped is in no line
losses="SELECT what, cpu, ifnull(n, 'some'), counts FROM loss"
beside drops 12
follow seg drops/trace_pipe
is "of what was dropped the first piece has the count" 'lost|1|12|1 lost|1|some|1' "$(each seg "$losses" | cut -d ' ' -f 1-2)"
is "which is of all pieces" 1 "$(each seg 'SELECT count(*) FROM loss' | tr ' ' '\n' | sort -u | grep -c .)"
is "and nothing is proved by what a piece lacks" '0.00 % proved' "$(proved seg/segment-000002.db)"
"$B" check seg/segment-000002.db >out 2>err
is "and check says so" 4 $?
rm -rf inside
cp -r drops inside
"$B" follow -q --segment 64M -o inside inside/trace_pipe 2>err
is "it is counted once in that folder too" 'lost|1|12|1 ' "$(each inside "$losses")"

# ---- a piece without its end may lack what was dropped
mkdir left
{ echo '# beside: clock=monotonic' && cat text; } >left/.segment-000001.data
"$B" follow -q -o left - </dev/null 2>err
is "a piece that was not ended does not know the CPUs" 'monotonic|' "$(sqlite3 left/segment-000001.db "$facts")"
{ cat text && printf '# beside: cpus=2\n# beside: cpu=1 dropped=7\n'; } >forged
"$B" ingest -q -o forged.db forged 2>err
is "nor does a text that is no piece" '|0' "$(sqlite3 forged.db "$facts" | sed "s/\$/$(sqlite3 forged.db 'SELECT count(*) FROM loss')/")"
for line in '# beside: clock=' '# beside:' "# beside: clock=$(printf %0999d 0)" '# beside: cpu=-1 dropped=1' \
	'# beside: cpus=99999999999' '# beside: cpu=99999999 dropped=3' '# beside: cpu=1 dropped='; do
	{ echo '# beside:' && echo "$line" && cat text && echo "$line"; } >odd
	"$B" ingest -q -f -o odd.db odd 2>>err || echo "$line"
	sqlite3 odd.db "SELECT 'loss' FROM loss UNION SELECT 'cpus' FROM capture WHERE cpus <> 2"
done >out
is "odd lines say nothing" '' "$(cat out)"

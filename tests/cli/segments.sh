#!/bin/sh
# segments.sh - calls and waits that go on from a segment of a stream to the next.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/segments.sh; prints "ok NAME" or "not ok NAME" lines.
# Without sanitizers: follow_maker.sh runs follow under them, and the fuzzer "cut" its reader.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
[ -x "$MKCAP" ] || {
	echo "skip segments: mkcap is not built"
	exit 0
}
cd "$dir" || exit 2
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME

cut_to() {	# cut_to SIZE <STREAM: the segments in seg, and all of them in all.db
	rm -rf seg
	"$B" follow -q --no-symbols --fields all -o seg --segment "$1" - >out 2>err &&
		"$B" merge -q -f -o all.db seg >out 2>err
}
whole() {	# whole STREAM: whole.db
	"$B" ingest -q -f --no-symbols --fields all -o whole.db "$1" >out 2>err
}
intervals() {	# intervals DB: all that is said of each, but for ids of rows
	"$B" query --format csv "$1" "SELECT i.tid, i.kind, i.name, i.cpu, i.t0, i.t1, i.ns, i.verdict, i.reason, l.t1
		FROM interval i LEFT JOIN loss l ON l.id = i.loss ORDER BY 1, 6, 5"
}
waits() {	# waits DB: the same
	"$B" query --format csv "$1" "SELECT tid, comm, t0, t1, ns, state, blocked_ns, ready_ns, off_ns, unknown_ns, proved_ns,
		by_tid, by_ns FROM wait ORDER BY tid, t0"
}

python3 "$root/tests/cli/calls.py" sleeps >sleeps.txt && "$MKCAP" -p sleeps.txt sleeps.pipe && whole sleeps.pipe &&
	cut_to 4K <sleeps.pipe
is three_sleeps_of_several_segments_are_measured 3,7500000000 \
	"$("$B" query --format csv all.db "SELECT count(*), sum(ns) FROM interval WHERE verdict = 'proved'" | tail -n 1)"
intervals whole.db >a && intervals all.db >b && cmp a b
ok they_are_those_of_the_whole_stream $?
"$B" latency seg/segment-000002.db >one 2>err
says a_segment_counts_what_goes_on_in_others "1 of them may have the other end in another segment" one
"$B" latency seg >folder 2>err && ! grep -q 'other end' folder
ok all_segments_have_nothing_open $?
# the second sleep goes on over it
last=$(find seg -name '*.db' | sort | sed -n 5p)
rm "$last" && "$B" merge -q -f -o all.db seg 2>err
is nothing_is_joined_over_a_segment_that_is_missing 2,1,1 "$("$B" query --format csv all.db "SELECT
	count(*) FILTER (WHERE verdict = 'proved'), count(*) FILTER (WHERE verdict = 'began before'),
	count(*) FILTER (WHERE verdict = 'unfinished') FROM interval" | tail -n 1)"

bad=0
for seed in 1 2 3 ${LONG:+4 5 6 7 8 9}
do
	python3 "$root/tests/cli/calls.py" "$seed" >calls.txt && "$MKCAP" -p calls.txt calls.pipe && whole calls.pipe || bad=1
	intervals whole.db >a
	for size in 2K 7K
	do
		cut_to $size <calls.pipe && intervals all.db >b && diff a b >out || bad=1
	done
	[ $bad = 0 ] || break
done
say losses_and_ids_used_again_are_judged_as_in_the_whole_stream
"$B" merge -q -f -o a.db seg/segment-000001.db seg/segment-000002.db && rm seg/segment-000001.db &&
	"$B" merge -q -f -o all.db seg a.db && intervals all.db >b
cmp a b
ok merged_segments_can_be_merged_again $?

# A text of ftrace, of which two halves become pieces of a stream of perf.
line() {	# line TID CPU TIME TEXT
	printf '%16s-%-7d [%03d] d..2. 1.%06d: %s\n' t "$1" "$2" "$3" "$4"
}
switch() {	# switch CPU TIME FROM STATE TO
	line "$3" "$1" "$2" "sched_switch: prev_comm=t prev_pid=$3 prev_prio=120 prev_state=$4 ==> next_comm=t next_pid=$5 next_prio=120"
}
wakes() {	# wakes CPU TIME BY WHOM
	line "$3" "$1" "$2" "sched_waking: comm=t pid=$4 prio=120 target_cpu=00$1"
}
text() {	# text FILE
	{
		printf '# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#\n'
		cat
	} >"$1"
}
as_perf() {	# as_perf DB [CUT_BEFORE] [CUT_BEHIND]: as perf's database would be; 0: the stream has no more
	"$B" ingest -q -f -o "$1.db" "$1.txt" && sqlite3 "$1.db" "UPDATE capture SET format = 'perf', system_wide = 1;
		INSERT INTO meta SELECT 1, 'cut_before', ${2:-0} WHERE ${2:-0} UNION SELECT 1, 'cut_behind', ${3:-0} WHERE ${3:-0}"
}
first() {
	switch 0 100 10 S 11
	switch 1 150 12 R 13
	wakes 1 200 13 10
	switch 0 300 11 R 10
	switch 0 400 10 D 11
}
second() {	# second TID: who leaves CPU 1 in it
	wakes 1 600 "$1" 10
	switch 1 700 "$1" S 12
	switch 0 800 11 S 10
	wakes 0 900 10 11
	switch 0 950 10 S 11
}
first | text a.txt && second 13 | text b.txt && { first; second 13; } | text both.txt &&
	as_perf a 0 7777 && as_perf b 7777 && as_perf both && "$B" merge -q -f -o all.db a.db b.db
waits both.db >a && waits all.db >b && grep -q '^10,t,1000400000,1000800000,400000,D,200000,' a && cmp a b
ok waits_go_on_in_the_next_segment $?
"$B" report --off-cpu --format csv both.db >a 2>err && "$B" report --off-cpu --format csv all.db >b 2>err && cmp a b
ok so_they_do_without_proofs $?
as_perf a 0 7777 && as_perf b 8888 && "$B" merge -q -f -o all.db a.db b.db && waits all.db >b && ! cmp -s a b
ok they_do_not_if_the_next_segment_is_missing $?
second 14 | text b.txt && as_perf a 0 7777 && as_perf b 7777 && "$B" merge -q -f -o all.db a.db b.db
is switches_that_are_missing_between_segments_are_a_loss 1,1000150000,1000700000 "$("$B" query --format csv all.db \
	"SELECT cpu, t0, t1 FROM loss WHERE what = 'silent'" | tail -n +2)"
"$B" merge -q -f -o c.db all.db b.db a.db
is they_are_one_loss_when_they_are_merged_again 1 "$(one c.db "SELECT count(*) FROM loss WHERE what = 'silent'")"

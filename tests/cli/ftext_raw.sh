#!/bin/sh
# ftext_raw.sh - the text of trace-cmd report -R has the events of its trace.dat.
# usage: BACKSTITCH=build/backstitch tests/cli/ftext_raw.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

# events DB: event, time, CPU, name of the task, pid; stacks are events of a
# text only
events() {
	"$B" query --format csv "$1" "SELECT y.name, e.time_ns, e.cpu, c.name,
		h.tid FROM event e JOIN event_type y ON y.id = e.type
		LEFT JOIN thread h ON h.id = e.thread
		LEFT JOIN comm c ON c.id = e.comm
		WHERE y.name NOT LIKE '%ftrace:kernel_stack'
		AND y.name NOT LIKE '%ftrace:user_stack'
		ORDER BY 2, 3, 1, 5, 4"
}

# one NAME DAT LEAST: both have the same events, more than LEAST
one() {
	"$B" ingest -q --no-symbols -o "$work/$1.t.db" \
		"tests/captures/$1.report-R.txt.gz" 2>"$work/err"
	status=$?
	"$B" ingest -q --no-symbols -o "$work/$1.d.db" \
		"tests/captures/$2" 2>>"$work/err"
	events "$work/$1.t.db" >"$work/t"
	events "$work/$1.d.db" >"$work/d"
	cmp -s "$work/t" "$work/d" && [ "$status" = 0 ] &&
		[ "$(wc -l <"$work/t")" -gt "$3" ]
	ok "the raw report of $2 has its events: $(wc -l <"$work/t")" $?
	diff "$work/t" "$work/d" | head -n 5 | sed 's/^/    /'
}

one ftrace-v6 ftrace-v6.dat.zst 700
one ftrace-v7 ftrace-v7.dat 700
one ftrace-buffers ftrace-buffers.dat 500
one ftrace-procmap ftrace-procmap.dat 300
one ftrace-ustack-both ftrace-ustack-both.dat 400
one ftrace-missed ftrace-missed.dat.zst 9000
# losses, and what the tasks of switches did next; what is lost by the counters of a
# trace.dat (of no page) is in no report
states="SELECT e.time_ns, s.prev_state FROM event e JOIN ev_sched_sched_switch s
	ON s.event_id = e.id ORDER BY 1"
lost="SELECT cpu, n FROM loss WHERE what = 'lost' AND off > 0 ORDER BY 1, 2"
for sql in "$states" "$lost"
do
	"$B" query --format csv "$work/ftrace-missed.t.db" "$sql" >"$work/t"
	"$B" query --format csv "$work/ftrace-missed.d.db" "$sql" >"$work/d"
	diff "$work/t" "$work/d" | head -n 5 | sed 's/^/    /'
	cmp -s "$work/t" "$work/d"
	ok "the raw report has the same: $(wc -l <"$work/t") rows" $?
done
"$B" info "$work/ftrace-v7.t.db" | tr -s ' \n' ' ' | grep -q 'without -R'
ok "info says what to do for stacks" $?

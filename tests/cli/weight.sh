#!/bin/sh
# weight.sh - widths by an SQL expression are the sums that SQL gives.
# usage: BACKSTITCH=build/backstitch tests/cli/weight.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=tests/captures

# sum DB EXPR OPTION...: of the folded stacks
sum() {
	db=$1 expr=$2
	shift 2
	folded --weight "$expr" "$@" "$db" 2>/dev/null |
		awk '{ sum += $NF } END { printf "%.0f\n", sum }'
}

a=$work/a.db
b=$work/b.db
"$B" ingest -q --no-symbols -o "$a" "$captures/defer-exitexec-s.data.zst"
"$B" ingest -q --no-symbols --fields all -o "$b" "$captures/ftrace-v7.dat"

want=$(one "$a" "SELECT sum(r.latency_ns) FROM request r
	JOIN samples s ON s.event_id = r.event
	WHERE s.event = 'sched:sched_switch' AND r.latency_ns >= 0")
[ "$want" -gt 0 ] &&
	[ "$(sum "$a" latency_ns --event sched:sched_switch)" = "$want" ]
ok the_latency_of_requests_can_be_the_width $?
"$B" flame --weight latency_ns --event sched:sched_switch "$a" >"$work/svg"
n=$(one "$a" "SELECT count(*) FROM samples s
	LEFT JOIN request r ON r.event = s.event_id
	WHERE s.event = 'sched:sched_switch' AND (r.latency_ns IS NULL
	OR r.latency_ns < 0)")
grep -q ">weighed by latency_ns; $n samples without, or with less than 0, are" \
	"$work/svg" && grep -q "$want ns, 100.00 % of all\|,.* ns, 100.00 %" \
	"$work/svg"
ok samples_without_a_value_are_counted_on_the_picture $?
want=$(one "$b" 'SELECT sum(runtime) FROM ev_sched_sched_stat_runtime')
[ "$(sum "$b" runtime)" = "$want" ]
ok a_field_chooses_its_event $?
want=$(one "$b" 'SELECT sum(prio) FROM ev_sched_sched_waking')
[ "$(sum "$b" prio --event sched:sched_waking)" = "$want" ]
ok the_event_says_whose_field_it_is $?
want=$(one "$b" "SELECT sum(count * 2) FROM ev_syscalls_sys_enter_write f
	JOIN samples s ON s.event_id = f.event_id WHERE s.comm = 'sysload'")
[ "$want" -gt 0 ] && [ "$(sum "$b" 'count * 2' --comm sysload \
	--event syscalls:sys_enter_write)" = "$want" ]
ok expressions_and_filters_go_together $?
want=$(one "$b" "SELECT sum(round(weight * 1.5)) FROM samples
	WHERE event = 'sched:sched_switch'")
[ "$(sum "$b" 'weight * 1.5' --event sched:sched_switch)" = "${want%.0}" ]
ok fractions_are_rounded $?
[ "$(sum "$b" "CASE comm WHEN 'a;)--' THEN 1 ELSE 2 END" \
	--event sched:sched_switch)" = "$(one "$b" "SELECT count(*) * 2
	FROM samples WHERE event = 'sched:sched_switch'")" ]
ok quoted_text_is_no_part_of_the_syntax $?

bad=0
for e in '1), (2' '1;2' 'sum(weight)' "'a" 'abs(' '' 'x -- y' '?1' 'comm' \
	'nofunc(1)' '1,2' '(DELETE FROM event)' 'prio'
do
	"$B" flame -o - --weight "$e" "$b" >"$work/out" 2>"$work/err"
	if [ $? != 2 ] || [ -s "$work/out" ] ||
		! grep -q -e '--weight' "$work/err"
	then
		bad=1
		echo "$e: $(cat "$work/err")"
	fi
done
ok what_is_no_expression_is_wrong_usage $bad
"$B" flame -o - --weight bytes "$b" 2>&1 | grep -q \
	"no column 'bytes'; there is event_id, time_ns, .*latency_ns, cgroup; of s"
ok a_wrong_name_is_answered_with_the_right_ones $?
"$B" flame -o - --weight prio "$b" 2>&1 |
	grep -q "is about fields of '.*', and of '.*' as well; choose with --event"
ok a_field_of_two_events_asks_which $?
"$B" flame -o - --weight 'weight / 0' "$b" >/dev/null 2>"$work/err"
[ $? = 1 ] && grep -q "no sample has a weight by 'weight / 0'" "$work/err"
ok no_weight_at_all_is_an_error $?
n=$(one "$b" 'SELECT count(*) FROM event')
[ "$n" -gt 0 ] && [ "$n" = "$(one "$b" 'SELECT max(id) FROM event')" ]
ok nothing_was_changed $?
# the second of two captures has a sample whose weight no sum may have
for k in 1 9000000000000000000
do
	printf '%s\n' 'event cpu-clock period=1' 'comm pid=10 name=a' \
		"sample pid=10 tid=10 cpu=0 time=1000 u=0x400010 period=$k" >"$work/$k.txt" &&
		"$MKCAP" "$work/$k.txt" "$work/$k.data"
done
"$B" ingest -q --no-symbols --separate -o "$work/two.db" "$work/1.data" "$work/9000000000000000000.data" 2>"$work/err"
"$B" info "$work/two.db" 2>&1 | grep -q 'periods too large to be added up'
ok a_weight_too_large_is_a_note $?

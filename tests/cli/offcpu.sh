#!/bin/sh
# offcpu.sh - pictures and tables of the time off the CPU say what they leave out.
# usage: BACKSTITCH=build/backstitch tests/cli/offcpu.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=tests/captures

folded_sum() {
	awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$1"
}

# as_each DB: as if perf had recorded each switch, not a sample of them
as_each() {
	python3 - "$1" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE event_type SET weight = events"
           " WHERE name = 'sched:sched_switch'")
db.commit()
END
}

for name in defer-exitexec-s.data.zst ftrace-v7.dat ftrace-missed.dat.zst \
	naps.data pipe-zstd.data
do
	db=$work/${name%%.*}.db
	"$B" ingest -q --no-symbols -o "$db" "$captures/$name" 2>/dev/null
	[ "$name" != pipe-zstd.data ] || { cp "$db" "$work/sampled.db"; as_each "$db"; }
	"$B" report --off-cpu --json --limit 0 "$db" >"$work/json"
	folded --off-cpu "$db" >"$work/folded"
	folded --off-cpu --wakeups "$db" >"$work/wakeups"
	want=$(of_json "$work/json" 'r["ns"]')
	[ "$want" -gt 0 ] && [ "$(folded_sum "$work/folded")" = "$want" ] &&
		[ "$(folded_sum "$work/wakeups")" = "$want" ]
	ok "no_time_is_lost_in_${name%%.*}" $?
	[ "$(of_json "$work/json" 'sum(w["ns"] for w in r["longest"]) == r["ns"]
and sum(t["open"] for t in r["threads"]) == r["open"]
and sum(t["uncertain_ns"] for t in r["threads"]) == r["uncertain_ns"]')" = True ]
	ok "the_table_of_${name%%.*}_adds_up" $?
done

# waits whose switch-out has no stack are told from those with one
db=$work/ftrace-missed.db
"$B" report --off-cpu --json --limit 0 "$db" >"$work/json"
python3 - "$work/json" "$db" >"$work/want" <<'END'
import json
import sqlite3
import sys

db = sqlite3.connect(sys.argv[2])
print(sum(w["ns"] for w in json.load(open(sys.argv[1]))["longest"]
          if db.execute("SELECT kraw IS NULL AND uraw IS NULL FROM event"
                        " WHERE id = ?", (w["event_id"],)).fetchone()[0]))
END
folded --off-cpu "$db" | grep -F '[no stack]' >"$work/bare"
[ -s "$work/bare" ] && [ "$(folded_sum "$work/bare")" = "$(cat "$work/want")" ] &&
	"$B" flame --off-cpu "$db" | grep -q 'of the time has no stack'
ok "a_wait_without_a_stack_says_so" $?

# the stack of a wait is that of the switch, with the user half that came later
db=$work/defer-exitexec-s.db
"$B" report --off-cpu --json --limit 0 "$db" >"$work/json"
python3 - "$work/json" "$db" >"$work/want" <<'END'
import json
import sqlite3
import sys

waits = json.load(open(sys.argv[1]))["longest"]
db = sqlite3.connect(sys.argv[2])
user = after = 0
for w in waits:
    row = db.execute("SELECT coalesce(r.uraw, e.uraw), r.flags & 2 "
                     "FROM event e LEFT JOIN request r ON r.event = e.id "
                     "WHERE e.id = ?", (w["event_id"],)).fetchone()
    user += w["ns"] if row[0] else 0
    after += w["ns"] if row[0] and row[1] else 0
print(user, after)
END
folded --off-cpu "$db" |
	awk '{ n = split($0, f, ";"); user = 0
		for (i = 2; i <= n; i++) {
			sub(/ [0-9]*$/, "", f[i])
			user += f[i] !~ /_\[k\]$|^\[kernel/
		}
		if (user) sum += $NF
		if (/after exec/) after += $NF }
	END { printf "%.0f %.0f\n", sum, after }' >"$work/got"
cmp -s "$work/want" "$work/got" && ! grep -q '^0 \| 0$' "$work/got"
ok a_wait_has_the_user_half_of_its_request $?
"$B" flame --off-cpu "$db" >"$work/svg"
grep -q '>292 waits: time from a switch out' "$work/svg" &&
	grep -q '>not drawn: 16 that did not end before the capture, 6.52 s' \
		"$work/svg" && grep -q '>not drawn: 3 uncertain' "$work/svg"
ok what_is_not_drawn_is_said $?
grep -q '^127 waits, ' "$work/svg"
ok tooltips_count_waits $?
python3 -c 'import sys, xml.etree.ElementTree as E; E.parse(sys.argv[1])' \
	"$work/svg"
ok the_picture_is_well_formed $?
"$B" flame --off-cpu "$db" | cmp -s - "$work/svg"
ok the_same_capture_gives_the_same_bytes $?

# losses
db=$work/ftrace-missed.db
"$B" report --off-cpu "$db" >"$work/text"
grep -q '^not counted: 1[0-9]* uncertain, .*: switches may be lost' "$work/text"
ok waits_with_a_loss_inside_are_uncertain $?
cp "$work/ftrace-v7.db" "$work/hurt.db"
python3 - "$work/hurt.db" <<'END'
import sqlite3
import sys
db = sqlite3.connect(sys.argv[1])
db.execute("INSERT INTO loss(id, capture, what, counts, n) VALUES("
           "(SELECT coalesce(max(id), 0) + 1 FROM loss), 1, 'lost', 1, 5)")
db.commit()
END
"$B" report --off-cpu "$work/hurt.db" >"$work/text" 2>"$work/err"
[ $? = 1 ] && grep -q 'left their CPU 99 times, but no return is certain' \
	"$work/err"
ok a_loss_of_unknown_time_makes_all_uncertain $?
# three losses; the one in the middle ends before it begins
cp "$work/ftrace-v7.db" "$work/lying.db"
python3 - "$work/lying.db" >"$work/begin" <<'END'
import sqlite3
import sys
db = sqlite3.connect(sys.argv[1])
begin, = db.execute("SELECT min(time_ns) FROM event").fetchone()
for t0, t1 in ((0, 1000000), (2000000, 0), (3500000, 3510000)):
    db.execute("INSERT INTO loss(capture, what, counts, t0, t1, n)"
               " VALUES(1, 'lost', 1, ?, ?, 5)", (begin + t0, begin + t1))
db.commit()
print(begin)
END
"$B" report --off-cpu --json --limit 0 "$work/lying.db" >"$work/json"
[ "$(of_json "$work/json" "r['waits'] > 0 and all(
1000000 <= w['from_ns'] - $(cat "$work/begin") and
w['to_ns'] - $(cat "$work/begin") <= 2000000 for w in r['longest'])")" = True ]
ok a_loss_that_ends_before_it_begins_has_no_end $?

# wakers
db=$work/ftrace-v7.db
folded --off-cpu --wakeups "$db" >"$work/folded"
"$B" report --off-cpu --json --limit 0 "$db" >"$work/json"
for who in sysload qemu-system-x86
do
	for proof in proved consistent
	do
		want=$(of_json "$work/json" "sum(w['ns'] for w in r['longest']
if w['waker'] == '$who' and w['proof'] == '$proof')")
		[ $proof = proved ] && mark= || mark=", likely"
		grep -F ";[woken by $who$mark];" "$work/folded" >"$work/part"
		[ "$want" -gt 0 ] && [ "$(folded_sum "$work/part")" = "$want" ]
		ok "time_until_${who}_woke_it_is_above_its_frame_$proof" $?
	done
done
want=$(of_json "$work/json" "sum(w['ns'] for w in r['longest']
if w['proof'] == 'unknown')")
grep -F ';[waker: unknown]' "$work/folded" >"$work/part"
[ "$want" -gt 0 ] && [ "$(folded_sum "$work/part")" = "$want" ]
ok time_until_nobody_knows_who_woke_it_has_a_frame $?
"$B" flame --off-cpu --wakeups "$work/naps.db" |
	grep -q 'no wake-ups were recorded'
ok wake_ups_that_were_not_recorded_are_said $?

# what a wait was for, and where: by causes in the kernel's functions
"$B" ingest -q -o "$work/named.db" "$captures/ftrace-v7.dat"
"$B" report --off-cpu --format csv "$work/named.db" >"$work/csv"
grep -q '^ns,percent,waits,longest_ns,cause,function,caller,image$' "$work/csv" &&
	[ "$(awk -F, 'NR > 1 { sum += $1 } END { printf "%.0f", sum }' "$work/csv")" = \
		"$(of_json "$work/json" 'r["ns"]')" ] &&
	grep -q ',futex,futex_do_wait,' "$work/csv" &&
	grep -q ',read,anon_pipe_read,' "$work/csv" &&
	grep -q ',poll,poll_schedule_timeout' "$work/csv" &&
	grep -q ',"a CPU",' "$work/csv"
ok the_time_of_each_cause_adds_up $?
"$B" ingest -q --symfs "$captures/symfs" --kallsyms "$captures/task-exitexec.kallsyms" \
	-o "$work/wl.db" "$captures/defer-exitexec-s.data.zst"
COLUMNS=80 "$B" report --off-cpu "$work/wl.db" >"$work/text"
grep -q ' s  .* timer  *leaf_sleep <- mid_sleep$' "$work/text" &&
	[ "$(wc -L <"$work/text")" -le 80 ]
ok a_wait_is_in_the_functions_outside_libc_and_the_kernel $?
want=$("$B" report --off-cpu --format csv --limit 0 "$work/wl.db" |
	awk -F, '$6 == "leaf_sleep" { sum += $1 } END { printf "%.0f", sum }')
[ "$want" -gt 0 ] && [ "$("$B" report --off-cpu --callers leaf_sleep --format csv \
	"$work/wl.db" | awk -F, '$5 == "mid_sleep" { print $4 }')" = "$want" ]
ok callers_are_of_the_waits $?
"$B" report --off-cpu -g --comm t-sleep "$work/wl.db" |
	sed '1,/^where threads waited, with its callers below it:$/d' >"$work/tree"
[ "$(sed -n 3,5p "$work/tree")" = " 100.00           leaf_sleep
 100.00            mid_sleep
 100.00             th_sleep" ] && ! grep -q 'futex\|nanosleep' "$work/tree"
ok the_tree_begins_where_it_waited_and_goes_outward $?
"$B" report --off-cpu -g "$work/wl.db" >"$work/text"
want=$("$B" report --off-cpu --json --limit 0 "$work/wl.db" | python3 -c '
import collections, json, sys
r = json.load(sys.stdin)
n = collections.Counter()
for c in r["causes"]:
    n[c["function"]] += c["ns"]
print("%.2f" % (100 * n["leaf_sleep"] / r["ns"]))')
grep -q "^ *$want           leaf_sleep$" "$work/text"
ok and_has_the_shares_of_the_table $?
# what the libraries of C and C++ do, linked in as well, is not where it waits
bad=0
for name in 'std::this_thread::sleep_for<long>' __clock_nanosleep nanosleep \
	pthread_cond_wait read_all
do
	cp "$work/wl.db" "$work/lib.db"
	python3 - "$work/lib.db" "$name" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE symbol SET name = ?, raw_name = NULL"
           " WHERE name = 'leaf_sleep'", (sys.argv[2],))
db.commit()
END
	want='mid_sleep,th_sleep'
	[ "$name" != read_all ] || want=read_all,mid_sleep
	"$B" report --off-cpu --format csv --comm t-sleep "$work/lib.db" |
		grep -q ",timer,$want," || bad=1
done
ok a_library_is_not_where_a_program_waits $bad
# of libc's function that waits the check found that the caller was skipped
cp "$work/wl.db" "$work/gap.db"
python3 - "$work/gap.db" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
db.execute("INSERT OR REPLACE INTO internal_judged (stack, class, callerless)"
           " SELECT DISTINCT stack, 0, 1 FROM raw_chain WHERE stack AND"
           " id IN (SELECT uraw FROM request UNION SELECT uraw FROM event)")
db.execute("UPDATE symbol SET name = '__clock_nanosleep', raw_name = NULL"
           " WHERE name = 'leaf_sleep'")
db.commit()
END
"$B" report --off-cpu --format csv --comm t-sleep "$work/gap.db" |
	grep -q ',timer,"\?\[caller missing\]"\?,mid_sleep,' &&
	"$B" report --off-cpu --comm t-sleep "$work/gap.db" >"$work/text" &&
	[ "$(grep -c ' timer  \[caller missing\] < mid_sleep$' "$work/text")" = 1 ] &&
	grep -q ' s .* \[caller missing\] < mid_sleep' "$work/text" &&
	! grep -q 'mid_sleep <-' "$work/text"
ok the_function_that_waits_is_the_one_that_is_missing $?
"$B" report --off-cpu -g --comm t-sleep "$work/gap.db" |
	sed '1,/^where threads waited/d' | sed -n 3,4p >"$work/tree"
[ "$(cat "$work/tree")" = " 100.00           [caller missing]
 100.00            mid_sleep" ]
ok the_tree_begins_with_it_too $?
"$B" path --waits --json --comm t-sleep "$work/gap.db" 2>/dev/null |
	grep -q '\[caller missing\] < mid_sleep'
ok path_says_it_too $?
# a stack that is not there is nobody's
"$B" report --off-cpu --json "$work/gap.db" >"$work/before"
sqlite3 "$work/gap.db" "INSERT INTO internal_judged (stack, class, callerless) VALUES(1 << 40, 0, 1)"
"$B" report --off-cpu --json "$work/gap.db" | cmp - "$work/before"
ok a_stack_that_is_not_there_changes_nothing $?
"$B" ingest -q -o "$work/chain.db" tests/causality/captures/chain.data.zst
"$B" report --off-cpu "$work/chain.db" >"$work/text"
if grep -q 'unchecked for want of the file' "$work/text"
then
	echo "skip no_dump_of_each_switch_is_advised: the libc of the recording is not here"
else
	grep -q 'lack the innermost caller' "$work/text" && {
		cat "$work/text"
		"$B" flame --off-cpu "$work/chain.db"
		"$B" report --event sched:sched_switch "$work/chain.db"
		"$B" annotate --event sched:sched_switch "$work/chain.db"
		"$B" check "$work/chain.db"
		"$B" info "$work/chain.db"
		"$B" "$work/chain.db"
		"$B" page "$work/chain.db"
	} >"$work/all" 2>&1 && ! grep -q 'call-graph dwarf' "$work/all" &&
		grep -q 'Building with -fno-omit-frame-pointer may mend' "$work/text"
	ok no_dump_of_each_switch_is_advised $?
fi

# a timer wakes a thread from within another one
cat >"$work/woken.txt" <<'END'
# tracer: nop
#
# entries-in-buffer/entries-written: 7/7   #P:1
#
           sleep-100     [000] d....     1.000000: sched_switch: prev_comm=sleep prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=work next_pid=200 next_prio=120
           sleep-100     [000] d....     1.000001: <stack trace>
 => __schedule
 => schedule
 => do_nanosleep
 => hrtimer_nanosleep
            work-200     [000] d.h..     1.010000: sched_waking: comm=sleep pid=100 prio=120 target_cpu=000
            work-200     [000] d.h..     1.010001: <stack trace>
 => try_to_wake_up
 => hrtimer_wakeup
 => __hrtimer_run_queues
 => hrtimer_interrupt
            work-200     [000] d....     1.010010: sched_switch: prev_comm=work prev_pid=200 prev_prio=120 prev_state=R ==> next_comm=sleep next_pid=100 next_prio=120
            work-200     [000] d....     1.010011: <stack trace>
 => __schedule
 => schedule
 => irqentry_exit_to_user_mode
           sleep-100     [000] d....     1.020000: sched_switch: prev_comm=sleep prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=work next_pid=200 next_prio=120
            work-200     [000] d....     1.030000: sched_waking: comm=sleep pid=100 prio=120 target_cpu=000
            work-200     [000] d....     1.030001: <stack trace>
 => try_to_wake_up
 => wake_up_q
 => futex_wake
            work-200     [000] d....     1.040000: sched_switch: prev_comm=work prev_pid=200 prev_prio=120 prev_state=R ==> next_comm=sleep next_pid=100 next_prio=120
           sleep-100     [000] d....     1.050000: sched_switch: prev_comm=sleep prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=work next_pid=200 next_prio=120
END
"$B" ingest -q -o "$work/woken.db" "$work/woken.txt"
"$B" report --off-cpu --json "$work/woken.db" >"$work/woken"
[ "$(of_json "$work/woken" '[w["waker"] for w in sorted(r["longest"], key=lambda w: w["from_ns"]) if w["tid"] == 100]')" = \
	"['[timer]', 'work']" ]
ok who_was_interrupted_by_a_timer_woke_nobody $?
folded --off-cpu --wakeups "$work/woken.db" | grep -qF ';[woken by timer];'
ok the_picture_of_wake_ups_names_the_timer_too $?

# states and filters
folded --off-cpu --by-state "$db" >"$work/folded"
bad=0
for s in S R R+
do
	want=$(of_json "$work/json" "sum(w['ns'] for w in r['longest']
if w['state'] == '$s')")
	grep -F "[$s];" "$work/folded" | grep "^\[$s\]" >"$work/part"
	[ "$(folded_sum "$work/part")" = "$want" ] || bad=1
done
"$B" report --off-cpu --json --state R "$db" >"$work/ready"
[ "$bad" = 0 ] && [ "$(of_json "$work/ready" 'r["ns"]')" = "$(of_json "$work/json" \
	'sum(w["ns"] for w in r["longest"] if w["state"][0] == "R")')" ]
ok states_choose_and_divide $?
"$B" report --off-cpu --json --limit 0 --comm sysload "$db" >"$work/comm"
[ "$(of_json "$work/comm" 'r["ns"]')" = "$(of_json "$work/json" \
	'sum(w["ns"] for w in r["longest"] if w["comm"] == "sysload")')" ]
ok filters_choose_waits_by_their_beginning $?
folded --off-cpu --exclude qemu "$db" >"$work/folded"
! grep -q qemu "$work/folded" && grep -q sysload "$work/folded"
ok exclude_drops_waits $?
"$B" report --off-cpu --sort comm --format csv "$db" | head -n 1 |
	grep -q '^ns,percent,waits,longest_ns,ready_ns,.*,pid,tid,comm$'
ok the_table_of_threads_is_csv_too $?

# on and off the CPU in one: the samples of the clock and the waits by state
db=$work/pipe-zstd.db
"$B" report --off-cpu --json --limit 0 "$db" >"$work/json"
folded --wall "$db" >"$work/folded"
on=$("$B" query --format csv "$db" "SELECT sum(weight) FROM samples
	WHERE event = 'cpu-clock'" | tail -n 1)
off=$(of_json "$work/json" 'r["ns"]')
[ "$on" -gt 0 ] && [ "$(folded_sum "$work/folded")" = $((on + off)) ]
ok wall_clock_time_is_that_of_samples_and_waits $?
"$B" report --comm addr2line "$db" 2>/dev/null | grep -q 'call-graph dwarf'
bad=$?
for c in report flame
do
	"$B" $c --wall --comm addr2line "$db" >"$work/wall" 2>/dev/null &&
		grep -q 'Building with -fno-omit-frame-pointer may mend' "$work/wall" &&
		! grep -q 'call-graph dwarf' "$work/wall" || bad=1
done
ok samples_beside_waits_have_the_remedy_of_both $bad
bad=0
for s in S R I
do
	want=$(of_json "$work/json" "sum(w['ns'] for w in r['longest']
if w['state'] == '$s')")
	grep -F ";[off-CPU: $s] " "$work/folded" >"$work/part"
	[ "$want" -gt 0 ] && [ "$(folded_sum "$work/part")" = "$want" ] ||
		bad=1
done
ok its_waits_end_with_their_state $bad
[ "$("$B" report --wall --format csv "$db" | sed 1d |
	awk -F, '{ sum += $4 } END { printf "%.0f\n", sum }')" = $((on + off)) ] &&
	"$B" report --wall "$db" |
	grep -q '^waits: 25 of them, 1.10 s; not counted: 5 without an end, 25'
ok and_so_does_the_table $?
"$B" flame --wall "$db" >"$work/svg"
grep -q '>25 waits of them, 1.10 s: time off the CPU' "$work/svg" &&
	grep -q '>not drawn: 25 uncertain' "$work/svg" &&
	grep -q 'class="w3"' "$work/svg"
ok the_picture_says_what_is_beside_the_samples $?
"$B" flame --wall "$work/ftrace-v7.db" >/dev/null 2>"$work/err"
[ $? = 1 ] && grep -q 'no samples of a clock.*-e cpu-clock' "$work/err"
ok wall_clock_time_needs_a_clock $?

"$B" report --off-cpu --limit 1 "$work/naps.db" >"$work/text"
grep -q '^1 more row not shown; ' "$work/text"
ok one_row_is_one_row $?

# what cannot be answered
"$B" flame --off-cpu "$captures/fp-1.data" >/dev/null 2>"$work/err"
[ $? = 1 ] && grep -q 'nothing says who left a CPU' "$work/err"
ok a_capture_without_switches_says_how_to_record_them $?
"$B" flame --off-cpu "$captures/ctf-discard/trace" >/dev/null 2>"$work/err"
grep -q 'record with lttng enable-event --kernel sched_switch$' "$work/err" &&
	"$B" path "$captures/ctf-discard/trace" 2>&1 | grep -q 'lttng enable-event --kernel sched_switch,sched_waking' &&
	echo '    x-1    [000] d..1     1.000000: irq_entry: irq=1' >"$work/bare.txt" &&
	"$B" report "$work/bare.txt" 2>&1 >/dev/null | grep -q "no sample has a stack; 'trace-cmd record -T -O userstacktrace' takes them"
ok and_how_with_the_recorder_that_made_it $?
# perf writes the formats behind all records
head -c 30000 "$captures/task-exitexec.data" >"$work/cut.data"
for c in 'report --off-cpu' path
do
	# shellcheck disable=SC2086 # a command and an option
	"$B" $c "$work/cut.data" >/dev/null 2>"$work/err"
	[ $? = 1 ] && grep -q 'nothing says who left a CPU and came back, but the names of [0-9] tracepoints are missing, as the capture is cut off or damaged: sched_switch may be' "$work/err"
	ok "${c%% *}_of_a_cut_one_does_not_say_to_record_them" $?
done
for c in path 'sched'
do
	# shellcheck disable=SC2086 # a command and an option
	"$B" $c "$captures/naps.data" >/dev/null 2>"$work/err"
	[ $? = 1 ] && grep -q "the records of switches are those of some threads only: they say how long.*'report --off-cpu'.*; record with" "$work/err"
	ok "records_of_switches_are_not_called_nothing_by_$(echo "$c" | tr ' -' '__')" $?
done
"$B" path "$captures/offcpu-616.data" >/dev/null 2>"$work/err"
[ $? = 1 ] && grep -q "perf's own sums say how long.*'report --off-cpu'.*; record with" "$work/err"
ok own_sums_of_perf_are_not_called_nothing $?
"$B" flame --off-cpu "$captures/task-exitexec.data" |
	grep -q '76 uncertain, 3.36 s: not all CPUs were recorded (perf record -a)'
ok in_a_capture_of_one_process_returns_are_missing $?
"$B" ingest -q --no-symbols --fields none -o "$work/none.db" \
	"$captures/ftrace-v7.dat"
"$B" flame --off-cpu "$work/none.db" >/dev/null 2>"$work/err"
[ $? = 1 ] && grep -q "ingest with --fields 'sched:\*'" "$work/err"
ok fields_that_were_left_out_are_asked_for $?
"$B" path "$work/none.db" >/dev/null 2>"$work/err"
[ $? = 1 ] && grep -q "ingest with --fields 'sched:\*'" "$work/err"
ok and_by_path $?
bad=0
for o in '--wakeups' '--state S' '--off-cpu --state Q' '--off-cpu --event x' \
	'--off-cpu --by samples' '--by-state' '--off-cpu --diff' \
	'--off-cpu --wall' '--wall --by samples' '--wall --event x'
do
	# shellcheck disable=SC2086 # options
	"$B" flame $o "$db" >/dev/null 2>&1
	[ $? = 2 ] || bad=1
done
"$B" report --wall --by samples "$db" >/dev/null 2>&1
[ $? = 2 ] || bad=1
ok wrong_options_are_wrong_usage $bad
for option in '--sort sym' '--order total' '--by samples' --no-children --html
do
	# shellcheck disable=SC2086 # an option and its value
	"$B" report --off-cpu $option "$db" >"$work/out" 2>&1
	ok "off-cpu_refuses_$(echo "$option" | tr -d ' -')" "$([ $? = 2 ]; echo $?)"
done
"$B" report --html --off-cpu "$db" >"$work/out" 2>&1
grep -q "leave out --off-cpu" "$work/out"
ok "report_--html_has_no_off-cpu" $?

# 100 and 200 leave and are not seen again, but 100 exits: it had come back.
# 400 has exited when it leaves for good
cat >"$work/exit.txt" <<'END'
# tracer: nop
#
# entries-in-buffer/entries-written: 8/8   #P:1
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
            work-100     [000] d....     1.000000: sched_switch: prev_comm=work prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=rest next_pid=200 next_prio=120
            rest-200     [000] d....     1.001000: sched_switch: prev_comm=rest prev_pid=200 prev_prio=120 prev_state=S ==> next_comm=more next_pid=300 next_prio=120
            more-300     [000] d....     1.002000: sched_switch: prev_comm=more prev_pid=300 prev_prio=120 prev_state=R ==> next_comm=swapper/0 next_pid=0 next_prio=120
          <idle>-0       [000] d....     1.003000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=more next_pid=300 next_prio=120
            work-100     [000] .....     1.004000: sched_process_exit: comm=work pid=100 prio=120
            more-300     [000] d....     1.005000: sched_switch: prev_comm=more prev_pid=300 prev_prio=120 prev_state=S ==> next_comm=gone next_pid=400 next_prio=120
            gone-400     [000] .....     1.006000: sched_process_exit: comm=gone pid=400 prio=120
            gone-400     [000] d....     1.007000: sched_switch: prev_comm=gone prev_pid=400 prev_prio=120 prev_state=R+ ==> next_comm=swapper/0 next_pid=0 next_prio=120
END
"$B" report --off-cpu "$work/exit.txt" >"$work/out" 2>"$work/err"
grep -q '^not counted: 2 that did not end before the capture' "$work/out" &&
	grep -q '^not counted: 1 uncertain, 4.00 ms: the thread was back in between, unseen' "$work/out"
ok a_thread_that_exited_does_not_wait_on $?

# perf record -F 300: of 1503 switches 64 were recorded
db=$work/sampled.db
said='switches were sampled, 64 of 1503, so that no wait is certain; .perf record -c 1. records all'
for c in 'report --off-cpu' 'report --wall' 'flame --off-cpu' 'flame --wall'
do
	# shellcheck disable=SC2086 # a command and an option
	"$B" $c "$db" >"$work/out" 2>"$work/err"
	[ $? = 1 ] && grep -q "$said" "$work/err"
	ok "sampled_switches_are_said_by_$(echo "$c" | tr ' -' '__')" $?
done
"$B" check "$db" >"$work/out"
grep -q '^  switches     64 of 1,503 recorded (sampled): no wait is certain$' \
	"$work/out" && grep -q 'record each switch: backstitch record --waits' "$work/out"
ok sampled_switches_are_said_by_check $?
cp "$db" "$work/both.db"
sqlite3 "$work/both.db" "INSERT INTO event_type(capture, name, kind, events)
	SELECT min(id), 'switch', 'record', 1 FROM capture"
"$B" check "$work/both.db" >"$work/out" 2>"$work/err"
! grep -q 'no wait is certain\|record each switch' "$work/out"
ok records_of_switches_make_up_for_them $?
grep -q '^  findings     none, but whether switches are missing is not judged' "$work/out"
ok and_are_not_said_to_have_their_causes $?
for c in 'path --worst 1' 'path --limit 1' 'sched'
do
	# shellcheck disable=SC2086 # a command and an option
	"$B" $c "$db" >"$work/out" 2>"$work/err"
	grep -q '^in this time: switches were sampled, 64 of 1503$' "$work/out" &&
		grep -q '^to know more: record each switch and wake-up.* backstitch record --waits' "$work/out"
	ok "sampled_switches_are_said_by_$(echo "$c" | tr ' -' '__')" $?
done
"$B" sched --json "$db" | python3 -c '
import json, sys
e = json.load(sys.stdin)["evidence"]
sys.exit(e["partial"] != "switches were sampled, 64 of 1503" or "-c 1" not in e["cure"])'
ok and_by_its_json $?
"$B" page --no-source -o "$work/sampled.html" "$db"
grep -q 'switches were sampled, 64 of 1,503, so no waits are drawn; <code>perf record -c 1</code>' \
	"$work/sampled.html" && tr -d '\n' <"$work/sampled.html" |
	grep -q '"waits":{"event":-1,"n":0,"runs":0,'
ok sampled_switches_are_said_by_the_page_and_not_drawn $?
"$B" export --format chrome -o "$work/sampled.json" "$db" 2>"$work/err"
said='context switches were sampled, 64 of 1,503, so no slices; .perf record -c 1. records all'
grep -q "$said" "$work/err" && grep -q "\"ph\":\"i\",\"s\":\"g\".*$said" "$work/sampled.json" &&
	! grep -q '"ph":"[BEX]"' "$work/sampled.json"
ok and_by_a_chrome_trace $?
[ "$("$B" export --format firefox "$db" 2>/dev/null | grep -c '"type":"OffCpu"')" = 0 ]
ok and_are_no_markers $?
"$B" export --format chrome -o "$work/both.json" "$work/both.db" 2>"$work/err"
! grep -q 'so no slices' "$work/err" "$work/both.json"
ok unless_records_tell_of_all $?
"$B" check --json "$db" | python3 -c '
import json, sys
(s,) = json.load(sys.stdin)["sampled"]
sys.exit(s != {"event": "sched:sched_switch", "recorded": 64, "happened": 1503})'
ok and_as_json $?
"$B" check "$work/defer-exitexec-s.db" | grep -q '^  switches '
ok whole_switches_are_not_said "$((! $?))"

# a record of a dying thread, which has no id any more, begins no wait
cp "$work/naps.db" "$work/dying.db"
python3 - "$work/dying.db" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE thread SET tid = -1 WHERE id = (SELECT e.thread FROM event e"
           " JOIN sample_extra x ON x.event = e.id WHERE x.name = 'out'"
           " ORDER BY e.id DESC LIMIT 1)")
db.commit()
END
is a_thread_without_an_id_has_no_waits 0 \
	"$("$B" report --off-cpu --json --limit 0 "$work/dying.db" |
		grep -c '"tid":-1[,}]')"

# where each moment of a wait is proved, its waker is that of path
db=$work/ftrace-missed.db
"$B" query --format csv "$db" "SELECT tid, t0, t1, wake FROM state_interval
WHERE proof LIKE 'proved%' AND state IN ('blocked', 'ready')" >"$work/proved"
"$B" report --off-cpu --json --limit 0 "$db" >"$work/json"
python3 - "$work/proved" "$work/json" <<'END'
import csv
import json
import sys

ends = {}
for row in list(csv.reader(open(sys.argv[1])))[1:]:
    ends[int(row[0]), int(row[1])] = int(row[2]), row[3]
proved = 0
for w in json.load(open(sys.argv[2]))["longest"]:
    at, wake = w["from_ns"], ""
    while (w["tid"], at) in ends:
        at, by = ends[w["tid"], at]
        wake = wake or by
    if at == w["to_ns"] and wake:
        proved += 1
        if w["proof"] == "unknown":
            sys.exit("%r" % w)
sys.exit(proved < 100)
END
ok the_table_names_each_waker_that_path_proves $?

# what is lost on one CPU says nothing of what ran on another one
cp "$work/ftrace-v7.db" "$work/one.db"
python3 - "$work/one.db" <<'END'
import sqlite3
import sys
db = sqlite3.connect(sys.argv[1])
db.execute("INSERT INTO loss(id, capture, what, counts, n, cpu) VALUES("
           "(SELECT coalesce(max(id), 0) + 1 FROM loss), 1, 'lost', 1, 5, 0)")
db.commit()
END
for what in one ftrace-v7
do
	"$B" export --format chrome -o "$work/$what.json" "$work/$what.db"
	"$B" export --format firefox -o "$work/$what.firefox" "$work/$what.db" 2>/dev/null
done
python3 - "$work" <<'END'
import json
import sys

def slices(name):
    n = [0, 0]
    for e in json.load(open("%s/%s.json" % (sys.argv[1], name)))["traceEvents"]:
        if e["ph"] == "B" and e["name"] == "running":
            n[e["args"]["cpu"]] += 1
    return n

whole, one = slices("ftrace-v7"), slices("one")
sys.exit(not all(whole) or one != [0, whole[1]])
END
ok slices_of_a_cpu_that_lost_nothing_are_drawn $?
[ "$("$B" export --format firefox "$work/one.db" | grep -o uncertain | wc -l)" -gt 0 ] &&
	! grep -q uncertain "$work/ftrace-v7.firefox"
ok a_marker_says_where_the_wait_is_uncertain $?
"$B" ingest -q --no-symbols -o "$work/report.db" "$captures/ftrace-v7.report.txt.gz" 2>/dev/null
"$B" export --format chrome "$work/report.db" 2>/dev/null | grep -q '"prev_state":1}'
ok states_of_a_text_are_those_of_the_binary_form $?
"$B" ingest -q --no-symbols -o "$work/kernel.db" "$captures/offcpu-616.data" 2>/dev/null
"$B" export --format firefox "$work/kernel.db" 2>/dev/null | grep -q '"type":"OffCpu"'
ok waits_that_the_kernel_measured_are_markers $?
cp "$work/ftrace-v7.db" "$work/names.db"
python3 - "$work/names.db" <<'END'
import sqlite3
import sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE event SET comm = 99999999")
db.commit()
END
"$B" report --off-cpu "$work/names.db" >"$work/text" && grep -q '^longest' "$work/text"
ok a_name_that_is_not_there_is_none $?

# perf of some tasks does not say what came after them; perf disables CPU after
# CPU at the end, and goes from those that are, unseen; that the ftrace of pair
# is of some tasks shows in switches that do not fit
for name in task-exitexec.data:0 defer-exitexec-s.data.zst:369 pair.dat.zst:4 \
	ftrace-v7.dat:102
do
	want=${name#*:} name=${name%:*}
	db=$work/ran-${name%%.*}.db
	"$B" ingest -q --no-symbols -o "$db" "$captures/$name" 2>/dev/null
	"$B" page --no-source -o "$work/ran.html" "$db" 2>/dev/null
	is "the_page_draws_what_was_recorded_of_${name%%.*}" "$want" \
		"$(sed -n 's/^"runs":\([0-9]*\),$/\1/p' "$work/ran.html")"
	is "and_its_chrome_trace_of_${name%%.*}" "$want" \
		"$("$B" export --format chrome "$db" 2>/dev/null |
			grep -c '"pid":4194305,.*"ph":"E"')"
done

# a thread that exits may still be preempted before it leaves for good: that wait
# has its end in the export, too
cat >"$work/exit.txt" <<'END'
# tracer: nop
#
# entries-in-buffer/entries-written: 6/6   #P:1
#
           other-6     [000] d....     1.000000: sched_switch: prev_comm=other prev_pid=6 prev_prio=120 prev_state=S ==> next_comm=dies next_pid=5 next_prio=120
            dies-5     [000] d....     1.000100: sched_process_exit: comm=dies pid=5 prio=120
            dies-5     [000] d....     1.000200: sched_switch: prev_comm=dies prev_pid=5 prev_prio=120 prev_state=R ==> next_comm=other next_pid=6 next_prio=120
           other-6     [000] d....     1.000300: sched_switch: prev_comm=other prev_pid=6 prev_prio=120 prev_state=S ==> next_comm=dies next_pid=5 next_prio=120
            dies-5     [000] d....     1.000400: sched_switch: prev_comm=dies prev_pid=5 prev_prio=120 prev_state=X ==> next_comm=other next_pid=6 next_prio=120
           other-6     [000] d....     1.000500: sched_waking: comm=last pid=7 prio=120 target_cpu=000
END
"$B" report --off-cpu --json "$work/exit.txt" >"$work/exit.json"
"$B" export --format firefox -o "$work/exit.firefox" "$work/exit.txt"
python3 - "$work/exit.json" "$work/exit.firefox" <<'END'
import json
import sys

waits, profile = (json.load(open(name)) for name in sys.argv[1:])
ends = []
for t in profile["threads"]:
    texts = profile.get("shared", t)["stringArray"]
    marks = t["markers"]
    ends += [round((marks["endTime"][i] - marks["startTime"][i]) * 1e6)
             if marks["endTime"][i] is not None else None
             for i in range(marks["length"])
             if texts[marks["name"][i]] == "off CPU"]
have = [n for n in ends if n is not None]
if (len(have), sum(have)) != (waits["waits"], waits["ns"]):
    sys.exit("%s in firefox, %s waits of %s ns" % (
        ends, waits["waits"], waits["ns"]))
END
ok a_wait_behind_the_exit_has_its_end $?

# ---- who woke on a premise, said alike by both
"$B" ingest -qf -o "$work/sock.db" tests/causality/captures/sock.data.zst
"$B" report --off-cpu --json --limit 0 "$work/sock.db" |
	grep -c '"proof":"proved with premise"' >"$work/said"
"$B" query --format csv "$work/sock.db" "SELECT count(*) FROM wait w
	JOIN wake k ON k.id = w.wake WHERE k.proof = 'proved with premise'" |
	tail -1 | tr -d '\r' >"$work/path"
[ "$(cat "$work/said")" -gt 0 ] && cmp -s "$work/said" "$work/path"
ok "what_is_proved_on_a_premise_is_said_to_be" $?

# ---- what a wait is for, by one function of the kernel each, in a call or fault of
# another cause
python3 - "$work" <<'END'
import sys

STACKS = {
    "io_uring": "io_cqring_wait __do_sys_io_uring_enter",
    "ipc": "do_msgrcv __x64_sys_msgrcv",
    "reclaim": "shrink_node do_try_to_free_pages handle_mm_fault exc_page_fault",
    "swap": "io_schedule do_swap_page handle_mm_fault exc_page_fault",
    "numa": "migrate_misplaced_folio do_numa_page handle_mm_fault exc_page_fault",
    "dirty pages": "io_schedule_timeout balance_dirty_pages vfs_write ksys_write",
    "guest": "kvm_vcpu_block kvm_vcpu_halt kvm_arch_vcpu_ioctl_run __x64_sys_ioctl",
    "kernel work": "io_wq_worker ret_from_fork",
    "signal": "ptrace_stop get_signal exit_to_user_mode_prepare",
    "page fault": "io_schedule filemap_fault handle_mm_fault exc_page_fault vfs_read",
    "read": "wait_for_something vfs_read ksys_read __x64_sys_read",
    # a thread of the kernel is stopped; its own stack would begin in kthread()
    "": "wait_for_completion kthread_stop kill_block_super __x64_sys_umount",
}
with open(sys.argv[1] + "/for.txt", "w") as f:
    f.write("# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:1\n#\n")
    for i, (cause, stack) in enumerate(STACKS.items()):
        line = "%16s-%-5d [000] d....     %d.00000%d: %s\n"
        switch = ("sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s"
                  " ==> next_comm=%s next_pid=%d next_prio=120")
        name = "t" + cause.replace(" ", "_")
        f.write(line % (name, 100 + i, i + 1, 0, switch % (name, 100 + i, "D", "idle", 0)))
        f.write(line % (name, 100 + i, i + 1, 1, "<stack trace>"))
        f.write("".join(" => %s\n" % s for s in ["__schedule", "schedule", *stack.split()]))
        f.write(line % ("idle", 0, i + 1, 5, switch % ("idle", 0, "R", name, 100 + i)))
END
"$B" ingest -q -o "$work/for.db" "$work/for.txt"
"$B" report --off-cpu --json --limit 0 "$work/for.db" >"$work/said"
[ "$(of_json "$work/said" 'sum(w["comm"] == "t" + (w["cause"] or "").replace(" ", "_") for w in r["longest"])')" = 12 ]
ok "waits_are_for_what_is_innermost_in_them" $?
is but_threads_of_the_kernel_without_work_come_last 'kernel work' \
	"$(of_json "$work/said" 'r["causes"][-1]["cause"]')"

# Of a wait without a kernel half the others at the same user stack tell, if
# they agree: that is so of the first, and not of the third. They may agree in
# what they did, as in a fault.
python3 - >"$work/halves.txt" <<'END'
FUTEX = ["__schedule", "futex_wait", "do_futex", "__x64_sys_futex", "do_syscall_64"]
READ = ["__schedule", "anon_pipe_read", "vfs_read", "ksys_read", "do_syscall_64"]
SWAP = ["__schedule", "do_swap_page", "handle_mm_fault", "exc_page_fault"]
RECLAIM = ["__schedule", "reclaim_throttle", "shrink_node", *SWAP[2:]]
print("# tracer: nop\n#")


def switch(time, tid, comm, other, state, kernel=(), user=""):
    head = "%17s-%-7d [000] d.... %.6f: " % (comm, tid, time)
    print(head + "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> "
          "next_comm=%s next_pid=%d next_prio=120" % (comm, tid, state, *other))
    if kernel:
        print(head + "<stack trace>", *kernel, sep="\n => ")
    if user:
        print(head + "<user stack trace>", user, "/bin/load[+0x90]", sep="\n => ")


for at, (tid, comm, kernel, user) in enumerate([
        (11, "prog", FUTEX, "/bin/load[+0x40]"), (12, "one", (), "/bin/load[+0x40]"),
        (13, "two", FUTEX, "/bin/load[+0x50]"), (14, "three", READ, "/bin/load[+0x50]"),
        (15, "four", (), "/bin/load[+0x50]"), (16, "five", (), "/bin/load[+0x60]"),
        (17, "kworker/0:1", ["__schedule", "worker_thread", "kthread", "ret_from_fork"], ""),
        (17, "kworker/0:1", (), ""), (18, "six", (), ""),
        (19, "in", SWAP, "/bin/load[+0x70]"), (20, "out", RECLAIM, "/bin/load[+0x70]"),
        (21, "either", (), "/bin/load[+0x70]")]):
    switch(100 + at, tid, comm, ("swapper/0", 0), "S", kernel, user)
    switch(100.5 + at, 0, "swapper/0", (comm, tid), "R")
END
is a_wait_without_its_kernel_half_is_as_those_of_its_user_stack \
	'prog:futex one:futex two:futex three:read four: five: kworker/0:1:kernel work kworker/0:1:kernel work six: in:swap out:reclaim either:page fault' \
	"$("$B" query --no-symbols --format csv "$work/halves.txt" \
		"SELECT comm || ':' || coalesce(cause, '') FROM wait ORDER BY t0" |
		sed 1d | tr -d '"' | tr '\n' ' ' | sed 's/ $//')"

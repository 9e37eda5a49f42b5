#!/bin/sh
# latency_kinds.sh - what the kernel does with each kind of pairs, as latency tells it.
# usage: BACKSTITCH=build/backstitch tests/cli/latency_kinds.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

# trace NAME: lines "TASK-PID TIME EVENT: ..." on stdin, as ftrace prints them
trace() {
	{
		printf '# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#\n'
		while read -r task time rest
		do
			case $task in
			LOST) echo "CPU:0 [LOST $time EVENTS]" ;;
			*) printf '%20s [000] ..... %s: %s\n' "$task" "$time" "$rest" ;;
			esac
		done
	} >"$1.txt"
}

# told NAME QUERY WANT: what a query of a trace prints
told() {
	"$B" query --format csv "$1.txt" "$2" 2>/dev/null | sed 1d | tr -d '\r' >said
	printf '%s\n' "$3" | tr ' ' '\n' >want
	cmp -s want said
	rc=$?
	[ $rc = 0 ] || sed 's/^/    /' said
	return $rc
}

all="SELECT kind, verdict, ns FROM interval ORDER BY coalesce(t0, t1), t1"

# __mutex_lock_common(): MUTEX|SPIN, MUTEX, and both again
trace mutex <<'END'
w2-12 100.000000 contention_begin: 0000000033333333 (flags=SPIN|MUTEX)
w2-12 100.000200 contention_begin: 0000000033333333 (flags=MUTEX)
w2-12 100.000500 contention_begin: 0000000033333333 (flags=SPIN|MUTEX)
w2-12 100.000600 contention_begin: 0000000033333333 (flags=MUTEX)
w2-12 100.000900 contention_end: 0000000033333333 (ret=0)
END
told mutex "$all" lock,proved,900000
ok "a_mutex_that_spins_again_waits_since_it_first_did" $?
"$B" latency lock mutex.txt 2>err | grep -q '1 proved if .*no thread waited for a mutex when the recording began' &&
	"$B" latency lock mutex.txt 2>err | grep -q '^lock  0000000033333333 * 1  900 us'
ok "its_premise_is_told" $?

# one that waits already when the recording begins
trace asleep <<'END'
w2-12 100.000600 contention_begin: 0000000033333333 (flags=MUTEX)
w2-12 100.000900 contention_end: 0000000033333333 (ret=0)
END
told asleep "SELECT verdict = 'began before', t0, least_ns FROM interval" 1,,300000
ok "a_wait_that_is_first_seen_asleep_began_before" $?

trace direction <<'END'
truck-5402 18.233161 block_rq_issue: 65,192 WS 8192 () 184067232 + 16 [truck]
truck-5404 108.333833 block_rq_complete: 65,192 R () 184067232 + 16 [0]
END
told direction "$all" "block,unfinished, block,unexplained,"
ok "a_read_ends_no_write" $?

trace same <<'END'
w1-11 100.000000 block_rq_issue: 8,0 R 4096 () 4000 + 8 [w1]
w2-12 100.001000 block_rq_issue: 8,0 R 4096 () 4000 + 8 [w2]
idle-0 100.002000 block_rq_complete: 8,0 R () 4000 + 8 [0]
idle-0 100.009000 block_rq_complete: 8,0 R () 4000 + 8 [0]
END
told same "SELECT verdict, ns, least_ns, most_ns FROM interval ORDER BY t0" \
	"ambiguous,2000000,2000000,9000000 ambiguous,8000000,1000000,8000000"
ok "two_at_one_sector_are_ambiguous_with_bounds" $?
"$B" latency --json same.txt 2>err | python3 -c '
import json, sys
(r,) = json.load(sys.stdin)["rows"]
want = {"count": 2, "total_ns": 10000000, "average_ns": 5000000, "ambiguous": 2,
        "max_ns": 8000000, "p50_ns": -1, "p50_least_ns": 1000000,
        "p50_most_ns": 8000000, "p99_least_ns": 2000000,
        "p99_most_ns": 9000000, "average_least_ns": 5000000,
        "average_most_ns": 5000000, "unknown": 0}
assert {k: r[k] for k in want} == want, r'
ok "their_number_and_sum_are_right" $?
# the loss may be of one of them
sed 's/^\(.*100.002000.*\)$/CPU:0 [LOST 3 EVENTS]\n\1/' same.txt >lossy.txt
told lossy "SELECT DISTINCT verdict FROM interval" consistent
ok "with_a_loss_between_they_are_not" $?

trace part <<'END'
w1-11 100.000000 block_rq_issue: 8,0 R 8192 () 2000 + 16 [w1]
idle-0 100.002000 block_rq_complete: 8,0 R () 2000 + 8 [0]
idle-0 100.005000 block_rq_complete: 8,0 R () 2008 + 8 [0]
END
told part "$all" block,proved,5000000
ok "a_request_ends_with_its_last_sector" $?

# as Linux 6.18 has them of an fdatasync, a read of sector 0 meanwhile
trace flush <<'END'
w1-11 100.004000 block_rq_issue: 8,0 FF 0 () 0 + 0 [w1]
w1-11 100.004100 block_rq_issue: 8,0 R 512 () 0 + 1 [w1]
idle-0 100.004500 block_rq_complete: 8,0 R () 0 + 1 [0]
idle-0 100.009000 block_rq_complete: 8,0 FF () 18446744073709551615 + 0 [0]
idle-0 100.009100 block_rq_complete: 8,0 WS () 0 + 0 [0]
END
told flush "$all" "block,proved,5000000 block,proved,400000"
ok "a_flush_ends_at_sector_minus_one" $?

# detach_timer() cancels what expires
trace timer <<'END'
a-1 1.000000 timer_start: timer=0000000000000007 function=f expires=100 [timeout=1] cpu=0 idx=0 flags=
a-1 1.004000 timer_cancel: timer=0000000000000007
a-1 1.004001 timer_expire_entry: timer=0000000000000007 function=f now=100 baseclk=100
a-1 1.004005 timer_expire_exit: timer=0000000000000007
a-1 1.005000 timer_start: timer=0000000000000007 function=f expires=100 [timeout=1] cpu=0 idx=0 flags=
a-1 1.006000 timer_cancel: timer=0000000000000007
END
told timer "SELECT verdict, ns FROM interval WHERE kind = 'timer-wait' ORDER BY t0" "proved,4001000 cancelled,"
ok "a_timer_that_expires_is_cancelled_first" $?

# process_one_work() clears PENDING before it traces the start
trace work <<'END'
a-1 1.000000 workqueue_queue_work: work struct=0000000000000007 function=f workqueue=events req_cpu=0 cpu=0
a-1 1.000100 workqueue_queue_work: work struct=0000000000000007 function=f workqueue=events req_cpu=0 cpu=0
k-2 1.000101 workqueue_execute_start: work struct 0000000000000007: function f
END
told work "SELECT verdict, least_ns, most_ns FROM interval WHERE t1 NOT NULL" consistent,1000,101000
ok "a_work_that_is_queued_twice_is_one_of_both" $?

# one whose queueing is not there says nothing of the next
trace doubted <<'END'
k-2 1.000001 workqueue_execute_start: work struct 00000000000000ab: function f
a-1 1.000100 workqueue_queue_work: work struct=00000000000000ab function=f workqueue=events req_cpu=0 cpu=0
k-2 1.000200 workqueue_execute_start: work struct 00000000000000ab: function f
END
told doubted "SELECT verdict, ns, least_ns, most_ns FROM interval WHERE t0 NOT NULL" proved,100000,100000,100000
ok "what_is_proved_has_its_length" $?
# what insert_wq_barrier() queues has no record of that
trace barrier <<'END'
a-1 1.000000 workqueue_queue_work: work struct=00000000000000cd function=f workqueue=events req_cpu=0 cpu=0
k-2 1.000001 workqueue_execute_start: work struct 00000000000000ab: function wq_barrier_func
k-2 1.000200 workqueue_execute_start: work struct 00000000000000ab: function wq_barrier_func
END
told barrier "SELECT verdict = 'unexplained' FROM interval WHERE kind = 'work-wait' AND t1 NOT NULL
	ORDER BY t1" "0 1"
ok "a_work_that_starts_again_did_not_wait_before_the_recording" $?
# keys that are texts are no numbers
told doubted "SELECT count(key) FROM interval" 0
ok "a_text_is_no_key" $?

told work "SELECT count(*) FROM interval WHERE most_ns < least_ns" 0
ok "no_bound_is_above_the_other" $?

# attempt_merge() traces what was merged, since 5.12; what is issued directly was not inserted
trace queue <<'END'
a-1 1.000000 block_rq_insert: 8,0 R 4096 () 4000 + 8 [a]
a-1 1.000050 block_rq_merge: 8,0 R 4096 () 4000 + 8 [a]
b-2 1.000900 block_rq_issue: 8,0 R 4096 () 4000 + 8 [b]
b-2 1.001000 block_rq_insert: 8,0 R 4096 () 4000 + 8 [b]
b-2 1.001100 block_rq_issue: 8,0 R 4096 () 4000 + 8 [b]
END
told queue "SELECT verdict, ns FROM interval WHERE kind = 'block-queue' AND t0 NOT NULL ORDER BY t0" \
	"cancelled, proved,100000"
ok "what_was_merged_is_not_issued" $?
grep -v merge queue.txt >queued.txt
"$B" latency block-queue queued.txt 2>err | grep -q 'if .*no request was merged into another while it waited' &&
	! "$B" latency block-queue queue.txt 2>err | grep -q 'no request was merged'
ok "that_none_was_merged_is_a_premise_unless_it_would_be_recorded" $?

# times of a text are in microseconds: two requests may have the same
trace twice <<'END'
w1-11 1.000000 block_rq_issue: 8,0 R 4096 () 4000 + 8 [w1]
w1-11 1.000000 block_rq_issue: 8,0 R 4096 () 4000 + 8 [w1]
idle-0 1.000500 block_rq_complete: 8,0 R () 4000 + 8 [0]
idle-0 1.000500 block_rq_complete: 8,0 R () 4000 + 8 [0]
END
told twice "SELECT verdict, ns FROM interval" "ambiguous,500000 ambiguous,500000"
ok "two_in_one_microsecond_are_two" $?

# a text has microseconds: a loss between two records of one is after the first of them
trace tied <<'END'
a-10 1.000010 other: x=1
a-10 1.000016 hrtimer_expire_entry: hrtimer=00000000c0ffee01 function=f now=1
LOST 1
a-10 1.000016 other: x=1
a-10 1.000030 other: x=1
LOST 1
a-10 1.000054 hrtimer_expire_exit: hrtimer=00000000c0ffee01
END
told tied "SELECT verdict, ns FROM interval" "consistent,38000"
ok "a_loss_between_records_of_one_time_may_hide_an_end" $?

# ---- advice
"$B" latency irq part.txt 2>err
grep -q "'backstitch info part.txt' lists what was" err
ok "it_names_a_command_that_there_is" $?
trace probe <<'END'
a-10 1.000001 f_begin: (ffffffff81000000)
a-10 1.000002 f_end: (ffffffff81000010)
a-10 1.000003 job_start: id=1
a-10 1.000004 job_done: id=1
END
cp probe.txt 'a probe.txt'
"$B" latency 'a probe.txt' 2>err
grep -qF "'backstitch latency --pair f_begin,f_end --pair job_start,job_done 'a probe.txt'' pairs them" err
ok "events_that_fit_pair_are_named" $?
trace returns <<'END'
a-10 1.000001 f: (401000)
a-10 1.000002 fr: (401000 <- 402000)
END
"$B" latency returns.txt 2>err
grep -qF "'backstitch latency --pair f,fr returns.txt' pairs them" err
ok "so_is_a_probe_and_its_return" $?
"$B" latency --pair job_start,job_done --pair f_begin,f_end 'a probe.txt' >said 2>err
how=$(sed -n "s/^'backstitch \(flame .*\)' draws their.*/\1/p" said)
eval "\"\$B\" $how" 2>err && grep -q '<svg' flame.svg
ok "own_pairs_are_drawn_as_it_is_said" $?
grep -q "^with '--worst 3'" said
ok "and_have_no_name_to_give" $?
"$B" latency --by name,cpu part.txt 2>err
[ $? = 2 ] && grep -q 'takes one key' err
ok "by_takes_one_key" $?
"$B" latency --by nosuch part.txt 2>err
grep -q 'they have .*nr_sector' err
ok "fields_that_there_are_are_named" $?
"$B" help verdicts | grep -q '^  ambiguous '
ok "the_word_is_in_the_help" $?

# ---- of several kinds each has its block, and what waits for work comes last
python3 - >each.txt <<'END'
print("# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1   #P:1\n#")
t = 1000000
def line(text):
    global t
    t += 1000
    print("%16s-%-7d [000] d..2. %d.%06d: %s" % ("app", 10, t // 1000000, t % 1000000, text))
for i in range(8):
    for k in range(i + 1):
        line("irq_handler_entry: irq=%d name=irq%d" % (i, i))
        line("irq_handler_exit: irq=%d ret=handled" % i)
for i in range(7):
    line("softirq_entry: vec=%d [action=S%d]" % (i, i))
    line("softirq_exit: vec=%d [action=S%d]" % (i, i))
END
"$B" latency each.txt >said 2>err
[ "$(awk '/^irq /' said | wc -l)" = 5 ] && [ "$(awk '/^softirq /' said | wc -l)" = 5 ] &&
	[ "$(awk '/^irq /{ print $2; exit }' said)" = irq7 ] &&
	grep -q "^the first 5 of each kind; 'backstitch latency KIND each.txt' has all of one, '--limit 0' all 15 rows" said
ok "each_kind_has_its_block" $?
[ "$("$B" latency --limit 0 each.txt | grep -c '^s*o*f*t*irq ')" = 15 ]
ok "and_all_rows_are_there_if_asked_for" $?

# ---- two at one sector, of which the losses have the first begin and the last end
trace unseen <<'END'
w1-11 100.000000 block_rq_issue: 8,0 R 4096 () 96 + 8 [w1]
w1-11 100.000100 block_rq_complete: 8,0 R () 96 + 8 [0]
LOST 1
w2-12 100.001000 block_rq_issue: 8,0 R 4096 () 4000 + 8 [w2]
idle-0 100.002000 block_rq_complete: 8,0 R () 4000 + 8 [0]
LOST 1
w1-11 100.003000 block_rq_issue: 8,0 R 4096 () 96 + 8 [w1]
w1-11 100.003100 block_rq_complete: 8,0 R () 96 + 8 [0]
END
told unseen "SELECT verdict, ifnull(premise, 'none') FROM interval ORDER BY t0" \
	"proved,none proved,alone proved,alone"
ok "what_a_loss_may_hide_is_a_premise_of_each" $?

# ---- what is moved for what is moved, and fences that are freed
trace moved <<'END'
a-10 1.000000 mm_migrate_pages_start: mode=MIGRATE_SYNC reason=compaction
a-10 1.000010 mm_migrate_pages_start: mode=MIGRATE_ASYNC reason=compaction
a-10 1.000015 mm_migrate_pages: nr_succeeded=1 nr_failed=0 mode=MIGRATE_ASYNC reason=compaction
a-10 1.000090 mm_migrate_pages: nr_succeeded=1 nr_failed=0 mode=MIGRATE_SYNC reason=compaction
END
told moved "SELECT kind, verdict, ns FROM interval ORDER BY t0" "migration,proved,90000 migration,proved,5000"
ok "a_migration_may_be_inside_of_another" $?
trace fence <<'END'
a-10 1.000000 dma_fence_init: driver=d timeline=t context=7 seqno=1
a-10 1.000001 dma_fence_init: driver=d timeline=t context=7 seqno=2
b-11 1.000050 dma_fence_signaled: driver=d timeline=t context=7 seqno=2
b-11 1.000060 dma_fence_destroy: driver=d timeline=t context=7 seqno=1
b-11 1.000061 dma_fence_destroy: driver=d timeline=t context=7 seqno=2
END
told fence "SELECT kind, verdict, ns FROM interval ORDER BY t0" "fence,cancelled, fence,proved,49000"
ok "a_fence_ends_when_it_is_signaled" $?

# ---- a text has the number of a call in its fields
trace call <<'END'
a-10 1.000001 sys_enter: NR 1 (3, 7f00, 80, 0, 0, 0)
a-10 1.000004 sys_exit: NR 1 = 128
END
"$B" latency call.txt >said 2>err && grep -q '^syscall  NR 1  *1 ' said
ok "calls_of_a_text_are_measured" $?

# ---- which rows and times are chosen
trace queue_twice <<'END'
a-1 1.000000 block_rq_insert: 8,0 R 4096 () 4000 + 8 [a]
b-2 1.000100 block_rq_insert: 8,0 R 4096 () 4000 + 8 [b]
b-2 1.000200 block_rq_issue: 8,0 R 4096 () 4000 + 8 [b]
b-2 1.000300 block_rq_merge: 8,0 R 4096 () 4000 + 8 [b]
END
told queue_twice "SELECT event, verdict FROM interval WHERE kind = 'block-queue' ORDER BY event" "1,unexplained 2,consistent"
ok "of_two_one_is_issued_and_one_merged" $?
trace results <<'END'
a-1 1.000500 irq_handler_entry: irq=7 name=eth
a-1 1.000600 irq_handler_exit: irq=7 ret=handled
END
told results "SELECT name, count(ret) FROM interval" eth,0 && "$B" latency --by ret results.txt 2>err | grep -q '^irq  *handled '
ok "a_result_that_is_a_text_is_no_number" $?
trace numbers <<'END'
a-10 1.000000 dma_fence_init: driver=d timeline=9223372036854775807 context=7 seqno=1
b-11 1.000050 dma_fence_signaled: driver=d timeline=9223372036854775807 context=7 seqno=1
END
"$B" latency numbers.txt 2>err | grep -q '^fence  9223372036854775807  *1 '
ok "a_name_may_be_a_large_number" $?
a=$(printf '%0310d' 0 | tr 0 a)
trace slices <<END
a-10 1.000000 tracing_mark_write: B|10|${a}x
a-10 1.000100 tracing_mark_write: E|10
a-10 1.000200 tracing_mark_write: B|10|${a}y
a-10 1.000300 tracing_mark_write: E|10
b-11 1.000400 tracing_mark_write: B|11|short
b-11 1.000450 tracing_mark_write: E|11
END
[ "$("$B" latency --format csv slices.txt 2>err | wc -l)" = 4 ]
ok "long_names_that_begin_alike_are_two" $?
[ "$("$B" latency --format csv --by comm --name b slices.txt 2>err | tr -d '\r' | sed 1d | cut -d, -f1-3)" = slice,b,1 ] &&
	[ "$("$B" latency --format csv --by tid --name a/10 slices.txt 2>err | tr -d '\r' | sed 1d | cut -d, -f1-3)" = slice,a/10,2 ] &&
	! "$B" latency --name '' slices.txt >said 2>err
ok "a_name_may_be_a_value_of_by" $?
"$B" latency --time 1.0004,1.0005 slices.txt 2>err | grep -q '^1 interval in 50.0 us: ' &&
	"$B" latency --time 1.0004,1.0005 --json slices.txt 2>err | tr -d '\n' | grep -q '"from_ns":1000400000,"to_ns":1000450000,.*"wall_percent":100.0'
ok "the_time_that_is_shown_is_told" $?
[ "$("$B" latency --worst 999999999999 --json slices.txt 2>err | grep -o '"begin_ns"' | wc -l)" = 3 ]
ok "more_than_there_are_is_all" $?
"$B" latency wake-up --pair a,b slices.txt 2>err
[ $? = 2 ] && grep -q '^backstitch: --pair a,b: times of the scheduler' err
ok "own_pairs_are_none_of_the_scheduler" $?
for t in 0.9 1.0 2.1 3.0 4.1
do
	[ $t = 0.9 ] || echo "w-11 ${t}00000 sched_switch: prev_comm=w prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120"
	echo "i-0 ${t}50000 sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=w next_pid=11 next_prio=120"
done | trace cpus
sed -i '/ \(1.05\|2.10\|3.05\|4.10\)0000:/s/\[000\]/[003]/' cpus.txt
"$B" latency off-cpu --by cpu --format csv cpus.txt 2>err | tr -d '\r' | sed 1d | cut -d, -f1-2 | sort >said
printf '%s\n' off-cpu,0 off-cpu,3 | cmp -s - said
ok "a_wait_is_of_the_CPU_that_the_thread_left" $?
# without the switch that brought it there: the run before the wait has no length
sed '/ 3.050000:/d; s/^\(.*\) 4.100000: /i-0 [003] ..... 4.099000: sched_waking: comm=x pid=12 prio=120 target_cpu=000\n&/' cpus.txt >brief.txt
"$B" latency off-cpu --by cpu --format csv brief.txt 2>err | tr -d '\r' | sed 1d | cut -d, -f1-2 | sort >said
printf '%s\n' off-cpu,0 off-cpu,3 | cmp -s - said
ok "and_so_is_one_after_a_run_that_is_too_short_to_see" $?
"$B" latency off-cpu --by cpu --cpu 0-1,3 --format csv cpus.txt 2>err | grep -q '^off-cpu,3,'
ok "a_number_behind_a_range_is_in_the_list" $?
trace worth <<'END'
w1-11 100.000000 block_rq_issue: 8,0 R 4096 () 4000 + 8 [w1]
w2-12 100.001000 block_rq_issue: 8,0 R 4096 () 4000 + 8 [w2]
idle-0 100.002000 block_rq_complete: 8,0 R () 4000 + 8 [0]
idle-0 100.009000 block_rq_complete: 8,0 R () 4000 + 8 [0]
w1-11 100.010000 block_rq_issue: 9,0 R 4096 () 4000 + 8 [w1]
idle-0 100.011000 block_rq_complete: 9,0 R () 4000 + 8 [0]
END
"$B" latency block worth.txt >said 2>err && grep -q "^with '--name 9,0 --worst 3'" said && ! grep -q 'may be waits for work' said
ok "requests_of_a_disk_are_no_waits_for_work" $?

# ---- a function that the payload has as an address: it is named by the copy of kallsyms, or is its address
python3 - <<'END'
import os
import struct
FIELDS = {"timer_expire_entry": ("timer", "now", "function", "baseclk"), "timer_expire_exit": ("timer",)}
PRINT = {"timer_expire_entry": '"timer=%p function=%ps", REC->timer, REC->function', "timer_expire_exit": '"timer=%p", REC->timer'}
for i, (event, fields) in enumerate(FIELDS.items()):
	folder = "pages/events/timer/" + event
	os.makedirs(folder)
	with open(folder + "/format", "w", encoding="ascii") as f:
		f.write("name: %s\nID: %d\nformat:\n" % (event, 100 + i))
		for what, at, size in (("unsigned short common_type", 0, 2), ("unsigned char common_flags", 2, 1),
				("unsigned char common_preempt_count", 3, 1), ("int common_pid", 4, 4)):
			f.write("\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:0;\n" % (what, at, size))
		f.write("\n")
		for k, name in enumerate(fields):
			f.write("\tfield:void * %s;\toffset:%d;\tsize:8;\tsigned:0;\n" % (name, 8 + 8 * k))
		f.write("\nprint fmt: %s\n" % PRINT[event])
data = b""
for function in (0xffffffff81001000, 0xffffffff90000000):
	data += struct.pack("<IHBBi4Q", 10 | 1000 << 5, 100, 9, 0, 7, 0xffff888100000000, 1, function, 1)
	data += struct.pack("<IHBBiQ", 4 | 1000 << 5, 101, 9, 0, 7, 0xffff888100000000)
os.makedirs("pages/per_cpu/cpu0")
with open("pages/per_cpu/cpu0/trace_pipe_raw", "wb") as f:
	f.write((struct.pack("<QQ", 10**9, len(data)) + data).ljust(4096, b"\0"))
with open("pages/kallsyms", "w", encoding="ascii") as f:
	f.write("ffffffff81000000 T _text\nffffffff81001000 t my_timer_fn\nffffffff81002000 T next\nffffffff81400000 T _etext\n")
END
"$B" latency timer --format csv pages 2>err | cut -d, -f2 | sed 1d | sort | tr '\n' ' ' >said
[ "$(cat said)" = '0xffffffff90000000 my_timer_fn ' ]
ok "a_function_in_a_payload_has_its_name" $?
rm pages/kallsyms
"$B" latency timer --format csv pages 2>err | cut -d, -f2 | sed 1d | sort | tr '\n' ' ' >said
[ "$(cat said)" = '0xffffffff81001000 0xffffffff90000000 ' ]
ok "or_is_its_address" $?

# ---- a text has no machine, so that calls are numbers: the end of a thread is that of exit, a call of which
# only the end is in a new thread is clone, and the number -1 is the end of sigreturn
trace exits <<'END'
w1-11 100.000000 sys_enter: NR 0 (3, 7f00, 80, 0, 0, 0)
w1-11 100.000100 sys_exit: NR 0 = 0
w1-11 100.000200 sys_enter: NR 231 (0, 0, 0, 0, 0, 0)
w1-11 100.000300 sched_process_exit: comm=w1 pid=11 prio=120
w2-12 100.000400 sys_enter: NR 0 (3, 7f00, 80, 0, 0, 0)
LOST 3 x
w2-12 100.000500 sched_process_exit: comm=w2 pid=12 prio=120
w3-13 100.000600 sys_enter: NR 0 (3, 7f00, 80, 0, 0, 0)
w4-14 100.000700 sched_process_exit: comm=w4 pid=14 prio=120
w5-15 100.000800 sys_enter: NR 56 (1200011, 0, 0, 7f00, 0, 0)
w5-15 100.000810 task_newtask: pid=16 comm=w5 clone_flags=1200000 oom_score_adj=0
w5-16 100.000820 sys_exit: NR 56 = 0
w5-15 100.000830 sys_exit: NR 56 = 16
w5-15 100.000840 sys_enter: NR 15 (0, 0, 0, 0, 0, 0)
w5-15 100.000850 sys_exit: NR -1 = -4
w6-17 100.000860 sys_exit: NR 56 = 0
END
told exits "SELECT tid || '=' || replace(verdict, ' ', '_') FROM interval WHERE kind = 'syscall' ORDER BY coalesce(t0, t1)" '11=proved 12=end_lost 13=unfinished 15=proved 15=proved 17=begin_lost'
ok "calls_without_names_are_what_their_threads_show" $?

# ---- growth: ten times as many of both take no hundred times as long
many() {
	awk -v n="$1" 'BEGIN {
		print "# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1   #P:4\n#"
		for (i = 0; i < n; i++)
			printf "%16s-%-7d [000] d..2. %d.%06d: ev: a=1\nCPU:0 [LOST 3 EVENTS]\n", "app", 10, 1 + int(2 * i / 1000000), 2 * i % 1000000
		for (i = 0; i < n; i++)
			printf "%16s-%-7d [000] d..2. %d.%06d: sys_exit: NR 1 = 0\n", "app", 1000 + i, 1 + int((3 * n + i) / 1000000), (3 * n + i) % 1000000
		printf "%16s-%-7d [000] d..2. 9.000001: sys_enter: NR 1 (7f00, 80, 0, 0, 0, 0)\n", "app", 10
		printf "%16s-%-7d [000] d..2. 9.000002: sys_exit: NR 1 = 0\n", "app", 10
	}' >many.txt
	"$B" ingest -q -f --fields all -o many.db many.txt 2>/dev/null
}
many 50000
prlimit --cpu=5 "$B" latency many.db >said 2>err && grep -q 'begin lost' said
ok "ends_without_a_begin_and_losses_do_not_multiply" $?

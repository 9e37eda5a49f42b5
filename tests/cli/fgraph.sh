#!/bin/sh
# fgraph.sh - calls of function_graph, compared with the text of the kernel that recorded them.
# usage: BACKSTITCH=build/backstitch tests/cli/fgraph.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2
cp -r "$root/tests/captures/fgraph" fgraph
"$B" ingest -q fgraph -o g.db || exit 2

# of_text: "TID DURATION DEPTH" of each call that the kernel's text ends, by thread
of_text() {
	sed -nE 's/^.*-([0-9]+) +\| *[$@*#!+]? *([0-9.]+) us +\|( *)[^ ].*$/\1 \2 \3|/p' |
		awk '{ at = $0; sub(/^[0-9]+ [0-9.]+ /, "", at); print $1, $2, (length(at) - 3) / 2 }' |
		sort -s -k1,1n
}
# of_calls: the same of the rows of calls, as trace_print_graph_duration() prints durations
of_calls() {
	awk -F, '{ us = sprintf("%d", $2 / 1000); n = 7 - length(us); if (n > 3) n = 3
		if (n > 0) us = us "." substr(sprintf("%03d", $2 % 1000), 1, n)
		print $1, us, $3 }' | sort -s -k1,1n
}
gzip -dc fgraph/trace.txt.gz | of_text >want.text
cp want.text want
"$B" query --format csv g.db "SELECT tid, ns, depth FROM call WHERE ns NOT NULL ORDER BY end_event" | sed 1d | of_calls >got
is "calls_have_the_durations_and_depths_of_the_kernels_text" "$(cat want)" "$(cat got)"
is "there_are_as_many" 445 "$(wc -l <got)"
is "a_call_is_proved_or_unfinished" "proved,445 unfinished,17" "$("$B" query --format csv g.db "SELECT verdict, count(*) FROM call GROUP BY 1" | sed 1d | tr -d '\r' | xargs)"
is "callers_are_those_of_the_indentation" "0" "$("$B" query --format csv g.db "SELECT count(*) FROM call c LEFT JOIN call p ON p.id = c.parent
	WHERE c.depth > 0 AND (p.id IS NULL OR p.depth <> c.depth - 1 OR p.t0 > c.t0 OR p.tid <> c.tid) AND c.tid <> 775" | sed 1d | tr -d '\r')"
is "what_is_in_no_inner_call_adds_up" "0" "$("$B" query --format csv g.db "SELECT count(*) FROM (SELECT p.ns - p.self_ns - sum(c.ns) AS more
	FROM call p JOIN call c ON c.parent = p.id WHERE p.ns NOT NULL GROUP BY p.id) WHERE more <> 0" | sed 1d | tr -d '\r')"
"$B" latency call g.db >said 2>&1
grep -q '^call  lru_add  *6  5.47 ms' said && grep -q '^462 intervals .* 445 proved .* 17 unfinished' said
ok "latency_has_them_as_a_kind" $?
"$B" latency --histogram call --name kmem_cache_alloc_noprof g.db 2>&1 | grep -q '^call  kmem_cache_alloc_noprof'
ok "and_how_many_took_how_long" $?
# only ends, as with tracing_thresh: their own times are those of the call
"$B" query --format csv g.db "SELECT name, ns, depth FROM call WHERE ns NOT NULL ORDER BY end_event" >want
rm -r fgraph/events/ftrace/funcgraph_entry
"$B" ingest -q fgraph -o e.db 2>/dev/null
"$B" query --format csv e.db "SELECT name, ns, depth FROM call ORDER BY end_event" >got
cmp -s want got
ok "ends_alone_are_calls" $?
# report: time in no other call, on the calls that a call is inside of
"$B" report g.db >said 2>&1
says "report_says_what_was_traced" "function_graph: 462 calls of " said
grep -q '^ *[0-9.]* *[0-9.]*  *6 .* 5.47 ms  911 us .* lru_add  ' said
ok "and_how_often_and_how_long" $?
"$B" report --callers kmem_cache_alloc_noprof --format csv g.db 2>/dev/null | cut -d, -f3,5 >got
"$B" query --format csv g.db "SELECT count(*), p.name FROM call c JOIN call p ON p.id = c.parent WHERE c.name = 'kmem_cache_alloc_noprof' GROUP BY 2 ORDER BY sum(c.ns) DESC" >want
is "callers_are_those_of_the_calls" "$(sed 1d want | tr -d '\r')" "$(sed 1d got | tr -d '\r')"
# down from one function: the shares of its tree are of it, and its self shares are all of its time
"$B" report -g --callees do_sys_openat2 --limit 0 g.db >tree 2>/dev/null
"$B" report -g --callees do_sys_openat2 --json g.db 2>/dev/null | python3 -c '
import json, sys
a = json.load(sys.stdin)
t = a["tree"]
print(t[0]["symbol"], t[0]["total_weight"] == a["function_weight"], {x["depth"] for x in t[1:]} > {1, 2},
      sum(x.get("self_weight", x["total_weight"]) for x in t) == a["function_weight"])' >said
is "the_tree_of_one_function_is_all_of_its_time" "do_sys_openat2 True True True" "$(cat said)"
grep -q '^ 100.00 .*  do_sys_openat2$' tree
ok "and_begins_with_it" $?
"$B" export --format folded g.db >stacks.txt 2>/dev/null
is "folded_stacks_add_up_to_the_time" "$("$B" query --format csv g.db "SELECT sum(self_ns) FROM call" | sed 1d | tr -d '\r')" \
	"$(awk '{ n += $NF } END { print n }' stacks.txt)"
"$B" flame g.db 2>/dev/null | grep -q 'do_sys_openat2'
ok "flame_draws_calls" $?
"$B" flame g.db 2>/dev/null | grep -q '[0-9] calls of function_graph'
ok "and_counts_them_as_calls" $?
"$B" g.db 2>&1 | grep -q '^ *backstitch latency g.db'
ok "the_first_screen_has_them" $?

# function: who called whom, and how often
cat >f.txt <<'END'
# tracer: function
#
# entries-in-buffer/entries-written: 4/4   #P:2
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
            bash-219     [000] ...1.   418.100000: vfs_read <-ksys_read
            bash-219     [000] ...1.   418.100100: vfs_open <-path_openat
            bash-219     [001] ...1.   418.100200: vfs_read <-ksys_read
            bash-219     [001] ...1.   418.100300: vfs_read <-kernel_read
END
"$B" report f.txt >said 2>&1
says "report_counts_functions" "function: 4 calls of 2 functions" said
grep -q '^ 75.00    75.00      3  vfs_read *$' said && grep -q '^  0.00    50.00      0  ksys_read *$' said
ok "by_function_and_by_caller" $?
# the kernel's text says the same as its pages, where a line has no time of an end
gzip -dc fgraph/trace.txt.gz >k.txt
"$B" ingest -q -o k.db k.txt
"$B" query --format csv k.db "SELECT tid, ns, depth FROM call WHERE ns NOT NULL ORDER BY tid, end_event" | sed 1d | of_calls | sort >got
sort want.text >want
is "a_text_has_the_same_calls" "$(cat want)" "$(cat got)"
is "and_the_same_callers" "$("$B" query --format csv g.db "SELECT count(*) FROM call WHERE parent NOT NULL AND ns NOT NULL")" \
	"$("$B" query --format csv k.db "SELECT count(*) FROM call WHERE parent NOT NULL AND ns NOT NULL")"
# script: line by line as the kernel prints it, with the name of the function behind each end
gzip -dc fgraph/trace.txt.gz | sed -nE 's/^.*-[0-9]+ +\| (.*[^ ]) *$/\1/p' >want
"$B" script -F trace g.db 2>/dev/null | sed -E 's, */\* [^*]* \*/,,; s/ *$//' | grep . >got
head -n "$(wc -l <want)" got >some
is "script_prints_what_the_kernel_prints" "$(cat want)" "$(cat some)"
"$B" script -F trace g.db | grep -qx '+ 93.838 us   |  } /\* finish_task_switch.isra.0 \*/ *'
ok "and_which_function_ends" $?
# with arguments, as many words as the record has: those of which the kernel knows the names are the first
"$B" script -F trace "$root/tests/captures/fnargs" 2>/dev/null | grep . |
	sed -E 's/^[^(]*\(([^)]*)\).*/\1/; s/,//g' | cut -d' ' -f1-4 >got
sed -E 's/^.* ([0-9.]+): [^(]*\(([^)]*)\).*/\2/; s/,//g; s/[a-z]+=//g' "$root/tests/captures/fnargs/trace.txt" >want
is "arguments_are_those_of_the_kernels_text" "$(cat want)" "$(cat got)"
"$B" script -F trace "$root/tests/captures/fnargs" 2>/dev/null | grep -q '(0x[0-9a-f]*, 0x[0-9a-f]*, 0x400, 0x[0-9a-f]*, 0x[0-9a-f]*, 0) <-- '
ok "all_words_are_there" $?
# slices for ui.perfetto.dev, each with what is proved of it
"$B" export --format chrome g.db >c.json 2>err
is "calls_are_slices_of_the_trace_viewer" "445 17" "$(grep -c '"ph":"X","cat":"call"' c.json) $(grep -c '"ph":"i".*"cat":"call".*"verdict":"unfinished"' c.json)"
grep -q '"ph":"X","cat":"call","ts":418808976.231,"dur":80.833,"name":"finish_task_switch.isra.0","args":{"event_id":1,"verdict":"proved"}' c.json && ! [ -s err ]
ok "with_their_times" $?
# without funcgraph-abstime and -proc, as 'cat trace' has it by default: durations, depths and callers, in order
sed -E 's/^ *[0-9.]+ \| *([0-9]+\)) +[^|]*\|/ \1/' k.txt | sed '2,4d' >u.txt
"$B" ingest -q -o u.db u.txt
"$B" query --format csv k.db "SELECT name, depth, ns FROM call ORDER BY id" | sed 1d >want
"$B" query --format csv u.db "SELECT name, depth, ns FROM call ORDER BY id" | sed 1d >got
is "a_text_without_times_has_the_same_calls" "$(sort want)" "$(sort got)"
is "none_of_which_has_a_place_in_time" "0,460" "$("$B" query --format csv u.db "SELECT count(t0) + count(t1), count(parent) FROM call" | sed 1d | tr -d '\r')"
"$B" latency call u.db 2>&1 | head -n 1 | grep -q '^462 intervals: 445 proved'
ok "nor_have_all_of_them" $?
"$B" flame --latency call g.db >a.svg 2>err && "$B" flame g.db >b.svg 2>>err && cmp -s a.svg b.svg
ok "flame_draws_calls_where_there_is_more_than_these" $?

# options that only change how the kernel prints the same buffer
cat >print.txt <<'TEXT'
# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
 0)               |  do_open() {
 0)   1.000 us    |    ext4_file_open [ext4]();
 0)               |    ext4_lookup [ext4]() {
 0)               |      /* sched_waking: comm=a|b pid=7 prio=120 target_cpu=001 */
 0) + 12.345 us   |      find_entry.isra.0();
 0) + 20.000 us   |    }
 0) + 30.500 us   |  }
TEXT
sed 's/^\(.*) + 20.*\)}/\1} \/* ext4_lookup [ext4] *\//; s/^\(.*30.5.*\)}/\1} \/* do_open *\//' print.txt >tail.txt
sed 's/^.*}$/&\n (Overruns: 0)/' print.txt >overrun.txt
sed -E '3,4d; s/\).{15}\| /)/' print.txt >short.txt
asked="SELECT name, depth, ns, self_ns, verdict FROM call ORDER BY name"
calls() {
	"$B" ingest -q -f --no-symbols -o print.db "$1" 2>err
	echo "status $?"
	"$B" query --format csv print.db "$2" | tr -d '\r'
}
calls print.txt "$asked" >want
grep -q '^"ext4_lookup \[ext4\]",1,20000,7655,proved$' want
ok "calls_of_modules_are_calls" $?
calls tail.txt "$asked" >got
is "ends_that_say_their_function_and_module" "$(cat want)" "$(cat got)"
calls overrun.txt "$asked" >got
is "overruns_are_no_damage" "$(cat want)" "$(cat got)"
calls short.txt "$asked" >got
is "without_durations_calls_are_there_and_no_time_is_proved" \
	"$(sed 's/,[0-9]*,[0-9]*,proved/,,,consistent/' want)" "$(cat got)"
"$B" report --by samples short.txt 2>/dev/null | grep -q '^ *25.00 *100.00 *1  *0 ns .*do_open$'
ok "which_are_counted" $?
sed -E '3,4d; s/^ 0\) //' print.txt >nocpu.txt
"$B" ingest -q -f -o print.db nocpu.txt 2>err
is "calls_without_a_cpu_are_refused_in_one_line" \
	"1 backstitch: nocpu.txt: its calls have no CPU; set the options context-info and funcgraph-cpu, which only change how the buffer is printed, and save the text again" \
	"$? $(cat err)"

# results of calls, also of those on one line, and stacks, which end in a later line: of each thread its own
cat >two.txt <<'TEXT'
# tracer: function_graph
#
#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS
#      |          |     |    |           |   |                     |   |   |   |
  100.000000 |   0)    a-11      |               |  /* sys_enter: NR 2 (7f, 0, 0, 0, 0, 0) */
               a-11      [000] d..1.   100.000000: <stack trace>
 => trace_event_raw_event_sys_enter
 => do_syscall_64
  100.000000 |   0)    a-11      |               |  /* <user stack trace>
 =>  <0000000000401136>
 =>  <0000000000401236> */
  100.000001 |   0)    a-11      |               |  do_sys_openat2() {
  100.000002 |   0)    a-11      |   0.500 us    |    getname(); /* = 0x10 */
  100.000003 |   1)    b-12      |               |  /* sys_enter: NR 0 (3, 0, 0, 0, 0, 0) */
  100.000003 |   1)    b-12      |               |  /* <user stack trace>
 =>  <0000000000401336> */
  100.000004 |   1)    b-12      |   0.700 us    |  vfs_read(); /* = -22 */
  100.000005 |   0)    a-11      |   4.500 us    |  } /* = 0x3 */
  100.000006 |   1)    b-12      |               |  /* sys_exit: NR 0 = -22 */
  100.000007 |   0)    a-11      |               |  /* sys_exit: NR 2 = 3 */
  100.000008 |   0)    a-11      |               |  /* tracing_mark_write: one
two */
  100.000009 |   0)    a-11      |               |  /* sys_enter: NR 2 (7f, 0, 0, 0, 0, 0) */
  100.000010 |   0)    a-11      |               |  do_sys_openat2() {
  100.000012 |   0)    a-11      |   1.500 us    |  } /* = 0x4 */
  100.000013 |   0)    a-11      |               |  /* sys_exit: NR 2 = 4 */
TEXT
calls two.txt "SELECT name, ret FROM call WHERE ns NOT NULL ORDER BY end_event" >got
is "stacks_in_a_text_of_calls_are_no_damage" "status 0
getname,16
vfs_read,-22
do_sys_openat2,3
do_sys_openat2,4" "$(grep -v '^name' got)"
is "a_marker_of_two_lines_ends_with_its_comment" "ftrace:print: one\x0atwo " "$("$B" script print.db 2>/dev/null | grep -o 'ftrace:print: one.*')"
is "the_stack_of_each_thread_is_below_its_calls" "a;[system call NR 2];do_sys_openat2 1500
a;[unknown];[unknown];[system call NR 2];do_sys_openat2 4000
a;[unknown];[unknown];[system call NR 2];do_sys_openat2;getname 500
b;[unknown];[system call NR 0];vfs_read 700" "$("$B" export --format folded print.db 2>/dev/null | sed 's/_\[k\]//g')"
is "a_text_is_printed_as_it_is" "$(grep -c 'getname();' two.txt)" "$("$B" script -F trace print.db | grep -c '0.500 us .*getname(); /\* = 0x10 \*/')"
# an end whose begin is not there does not say its function
sed '/ do_sys_openat2() {/d' two.txt >ends.txt
calls ends.txt "SELECT name, ret, verdict FROM call WHERE ns > 1000 ORDER BY id" >got
is "a_call_whose_function_is_not_known_says_so" "status 0
name,ret,verdict
[no name],3,proved
[no name],4,proved" "$(tr -d '"' <got)"

# Linux 6.12.117 has the times of a call twice in the record of its end, of which its format knows nothing
cp -r "$root/tests/captures/fgraph612" six
gzip -dc six/fgraph612.txt.gz >six.txt
said() { "$B" query --format csv "$1" "$2" | sed 1d | tr -d '\r"'; }
"$B" ingest -q -f --no-symbols -o six.db six 2>err
is "an_end_with_room_for_more_times_is_no_damage" "0 197 197" "$? $(said six.db "SELECT count(*) || ' ' || count(ns) FROM call")"
of_text <six.txt | sort >want
said six.db "SELECT tid, ns, depth FROM call" | of_calls | sort >got
is "and_its_calls_are_those_of_the_text" "$(cat want)" "$(cat got)"
# with stacks of two threads, which the records of both say of the same calls
"$B" ingest -q -f --no-symbols -o sixt.db six.txt
for db in six sixt; do
	"$B" export --format folded $db.db 2>/dev/null | sed 's/_\[k\]//g; s/^[^;]*;//; s/ [0-9]*$//' | sort -u >$db.stacks
done
is "a_text_has_the_same_stacks_below_the_same_calls" "$(cat six.stacks)" "$(cat sixt.stacks)"
is "which_all_threads_have" ":2329 :2330" "$("$B" export --format folded six.db 2>/dev/null | sed -n 's/;\[unknown\];.*;do_mkdirat_\[k\] .*//p' | sort -u | xargs)"
# a function without a name is its address
sed -i '/ext4/d' six/kallsyms
"$B" ingest -q -f --no-symbols -o bare.db six
is "a_function_without_a_name_is_its_address" "0xffffffffc054ccd4" "$(said bare.db "SELECT DISTINCT name FROM call WHERE name NOT GLOB '[a-z_]*'")"

# counts and times by function and CPU are those that the kernel's profile has of the same calls (trace_stat), which Linux
# 6.11 and 6.12 make of the same two times; since 6.13 each tracer reads the clock itself, and in 6.1 there is one at a time
cp -r "$root/tests/captures/fgprofile" profile
"$B" ingest -q -f --no-symbols -o p.db profile
for cpu in 0 1; do
	awk -v cpu=$cpu 'FNR > 2 { print cpu ":" $1, $3, $2 }' profile/function$cpu
done | sort >want
said p.db "SELECT cpu || ':' || name, sum(ns), count(*) FROM call GROUP BY 1" | of_calls | sort >got
is "the_kernels_profile_has_the_same_counts_and_times" "18 $(cat want)" "$(wc -l <got) $(cat got)"
gzip -dc profile/fgprofile.txt.gz >profile.txt
"$B" ingest -q -f --no-symbols -o pt.db profile.txt
asked="SELECT tid, name, depth, printf('%x', ret), verdict FROM call ORDER BY cpu, end_event"
is "results_of_a_text_are_those_of_the_pages" "$(said p.db "$asked" | sort)" "$(said pt.db "$asked" | sort)"

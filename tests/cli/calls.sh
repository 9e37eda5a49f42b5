#!/bin/sh
# calls.sh - calls of instrumented programs and of probes, compared with the log of the program itself.
# usage: BACKSTITCH=build/backstitch tests/cli/calls.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2
zstd -dqc "$root/tests/captures/instr.tar.zst" | tar -xf - || exit 2

# rows DB SQL: without the heading
rows() {
	"$B" query --format csv "$1" "$2" | sed 1d | tr -d '\r"'
}
# outside LOG CALLS: calls of the program's log, and how many of CALLS (NAME,TID,BEGIN,END) are the only one of
# their name and thread in the time that the program measured around them
outside() {
	awk -v by="$2" 'BEGIN { while ((getline line <by) > 0) { n++; split(line, c, ","); name[n] = c[1]; tid[n] = c[2]; from[n] = c[3]; to[n] = c[4] } }
	{
		hits = 0
		for (i = 1; i <= n; i++)
			hits += name[i] == $1 && tid[i] == $2 && from[i] >= $3 && to[i] <= $4
		logged++
		right += hits == 1
	}
	END { print logged, right }' "$1"
}
times="SELECT name, tid, t0, t1 FROM call WHERE verdict = 'proved'"

"$B" ingest -q --symfs symfs -o full.db full || exit 2
rows full.db "$times" >got
is "each_call_of_cyg_profile_is_in_the_time_that_the_program_measured" "19 19" "$(outside full.log got)"
is "functions_that_longjmp_left_have_no_end" "leave,unfinished,15
main,proved,1
step,proved,11
thread,proved,1
guard,proved,4
work,proved,4" "$(rows full.db "SELECT name, verdict, count(*) FROM call GROUP BY 1, 2 ORDER BY 2 DESC, name IN ('guard', 'work'), 1")"
is "callers_are_those_of_the_source" "guard,leave,4
leave,leave,11
main,work,3
thread,work,1
work,guard,4
work,step,11" "$(rows full.db "SELECT p.name, c.name, count(*) FROM call c JOIN call p ON p.id = c.parent GROUP BY 1, 2 ORDER BY 1, 2")"
is "what_longjmp_left_may_have_taken_time_of_its_caller" "guard,4" "$(rows full.db "SELECT name, count(*) FROM call WHERE verdict = 'proved' AND self_ns IS NULL GROUP BY 1")"
"$B" report full.db >said 2>/dev/null
says "report_has_their_times" "cyg_profile: 36 calls of 6 functions" said
grep -q '^ *9[0-9.]* *9[0-9.]* *11 .* step$' said
ok "and_those_of_each_function" $?
"$B" export --format folded full.db 2>/dev/null | grep -q '^instr;main;work;step [0-9]'
ok "and_what_called_it" $?
"$B" export --format chrome full.db 2>/dev/null | grep -q '"ph":"X","cat":"user-call",.*"name":"work"'
ok "chrome_draws_them_as_slices" $?

"$B" export --format firefox -o profile.json full.db 2>/dev/null
is "firefox_has_them_as_samples_of_their_threads" "28 2507306 8 453884" "$(python3 -c 'import json
for t in json.load(open("profile.json"))["threads"]:
    if t["samples"]["length"]:
        print(t["samples"]["length"], round(1e6 * sum(t["samples"]["weight"])))' | xargs)"
is "their_sum_is_that_of_the_outermost_calls" "2507306 453884" "$(rows full.db "SELECT ns FROM call WHERE depth = 0 ORDER BY id DESC" | sort -rn | xargs)"
"$B" export --format pprof -o p.gz full.db 2>/dev/null
gzip -dc p.gz | tr -c '[:print:]' '\n' >said
grep -q '^nanoseconds' said && grep -q '^step' said && grep -q '^cyg_profile' said
ok "so_does_pprof" $?
"$B" diff full.db full.db 2>/dev/null >said
grep -q '^A: full.db, .*cyg_profile, 36 samples' said && grep -q '^ *97.31 *97.31 .* step *$' said
ok "diff_compares_them" $?

# without addresses at the ends nothing shows what longjmp() left
"$B" ingest -q --symfs symfs -o fast.db fast || exit 2
"$B" report fast.db >said 2>/dev/null
says "the_fast_form_says_what_it_rests_on" "and no function was left by longjmp" said

# an ELF file without symbols has no names, and the same calls
mkdir none
"$B" ingest -q --no-symbols -o none.db full || exit 2
is "without_names_they_are_told_by_their_addresses" "$(rows full.db "SELECT t0, t1, depth, parent FROM call ORDER BY id")" \
	"$(rows none.db "SELECT t0, t1, depth, parent FROM call ORDER BY id")"
rows none.db "SELECT DISTINCT name FROM call" >names
is "which_are_their_names" 6 "$(grep -c '^0x[0-9a-f]*$' names)"

# ---- probes

"$B" ingest -q -o probes.db probes.data || exit 2
# its clock is not that of the program
is "each_logged_call_of_a_probed_function_is_proved" "$(cut -d' ' -f1,2 probes.log | sort | xargs -n2)" \
	"$(rows probes.db "SELECT name || ' ' || tid FROM call WHERE verdict = 'proved'" | sort)"
rows probes.db "SELECT name, tid, ns FROM call WHERE verdict = 'proved' ORDER BY name, tid, t0" >got
sort -k1,1 -k2,2n -k3,3n probes.log | awk '{ print $4 - $3 }' | paste -d, got - |
	awk -F, '$3 > $4 || $4 - $3 > 200000 { bad = 1; print } END { exit bad }'
ok "it_takes_as_long_as_the_program_says_but_for_the_probes" $?
is "what_longjmp_left_is_not_proved" "leave,unfinished,15" "$(rows probes.db "SELECT name, verdict, count(*) FROM call WHERE verdict <> 'proved' GROUP BY 1, 2")"
"$B" report probes.data >said 2>/dev/null
says "report_of_probes_says_what_it_rests_on" "probes: 34 calls of 4 functions, proved if the kernel missed no hit of a probe" said
"$B" probes.db >said 2>/dev/null
says "the_first_screen_has_them" "probes: 34 calls of 4 functions" said

# as ftrace prints them: names of tracefs, one by the user, and one without a return
cat >k.txt <<'TEXT'
# tracer: nop
#
# entries-in-buffer/entries-written: 9/9   #P:2
#
            load-31    (   20) [001] ...1.   100.000010: sys_enter: NR 0 (3, 7f0000, 1000, 0, 0, 0)
            load-31    (   20) [001] ...1.   100.000020: p_vfs_read_0: (vfs_read+0x0/0x300)
            load-31    (   20) [001] ...1.   100.000030: myread__entry: (ext4_read+0x0/0x30) n=3
            load-31    (   20) [001] ...1.   100.000035: p_ext4_read_8: (ext4_read+0x8/0x30)
            load-31    (   20) [001] ...1.   100.000040: myread__exit: (vfs_read+0x6b/0x300 <- ext4_read) ret=5
            load-31    (   20) [001] ...1.   100.000050: r_vfs_read_0: (ksys_read+0x6b/0xf0 <- vfs_read)
            load-31    (   20) [001] ...1.   100.000060: sys_exit: NR 0 = 5
TEXT
is "tracefs_names_them_too" "vfs_read,30000,20000,
myread,10000,10000,vfs_read" "$(rows k.txt "SELECT c.name, c.ns, c.self_ns, p.name FROM call c LEFT JOIN call p ON p.id = c.parent ORDER BY c.t0" 2>/dev/null)"
"$B" ingest -q --fields all -o k.db k.txt
"$B" export --format folded k.db 2>/dev/null >said
says "a_call_stands_on_its_system_call" "load;[system call NR 0]_[k];vfs_read;myread 10000" said
sed 's/^\(.*100.0000\)10: sys_enter.*/&\n\112: <user stack trace>\n =>  \/bin\/load[+0x40]/' k.txt >u.txt
"$B" ingest -q --fields all -o u.db u.txt
"$B" export --format folded u.db 2>/dev/null >said
says "and_this_on_the_user_stack_of_its_begin" "load;[load];[system call NR 0]_[k];vfs_read;myread 10000" said
sed -i 's/: myread__exit/: other/' k.txt
is "one_without_its_return_is_no_call" "vfs_read" "$(rows k.txt "SELECT name FROM call" 2>/dev/null)"

# ---- record --calls

if grep -qs function_graph /sys/kernel/tracing/available_tracers
then
	echo "skip record_says_where_there_is_no_function_graph: this kernel has it"
elif [ "$(id -u)" != 0 ] || [ ! -w /sys/kernel/tracing/instances ]
then
	echo "skip record_says_where_there_is_no_function_graph: needs root and tracefs"
else
	"$B" record --calls 'vfs_*' true >said 2>err
	says "record_says_where_there_is_no_function_graph" "this kernel has no function_graph" err
fi
"$B" record --calls vfs_read --waits true 2>err
is "calls_are_no_samples" "2" $?
# of Linux 7.2, by 'backstitch record --calls vfs_read,vfs_open,do_sys_openat2,common_nsleep,do_nanosleep ./calls log'
mkdir c72
zstd -dqc "$root/tests/captures/calls72.tar.zst" | tar -xf - -C c72 || exit 2
"$B" ingest -q -o c72.db c72/pages || exit 2
rows c72.db "SELECT CASE name WHEN 'do_sys_openat2' THEN 'open' WHEN 'vfs_read' THEN 'read' WHEN 'common_nsleep' THEN 'sleep' END, 0, t0, t1
	FROM call WHERE verdict = 'proved' AND depth = 0 AND comm = 'calls'" >got
awk '{ print $1, 0, $2, $3 }' c72/log >log
is "each_call_is_in_the_time_that_the_program_measured" "60 60" "$(outside log got)"
is "all_of_them_are_proved" 0 "$(rows c72.db "SELECT count(*) FROM call WHERE verdict <> 'proved'")"
"$B" export --format folded c72.db 2>/dev/null | grep -c '^calls;\[system call \(openat\|read\|clock_nanosleep\)]_\[k];' >said
is "each_is_in_its_system_call" 5 "$(cat said)"
is "a_sleep_waits" 1 "$("$B" report --format csv c72.db 2>/dev/null | tr -d '\r"' | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	$at["symbol"] == "do_nanosleep" { print ($at["waited_ns"] > 0.9 * $at["took_ns"]) }')"
"$B" path --of syscall:clock_nanosleep c72.db 2>/dev/null | tr '\n' ' ' >said
says "path_tells_what_the_system_calls_did" "clock_nanosleep: 20 of them took" said

# ---- what threads did in all calls of a name

cat >serve.txt <<'TEXT'
# tracer: nop
#
# entries-in-buffer/entries-written: 9/9   #P:2
#
          <idle>-0     [000] d..2.     1.000010: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=serve next_pid=10 next_prio=120
          <idle>-0     [001] d..2.     1.000012: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=owner next_pid=20 next_prio=120
           serve-10    [000] .....     1.000100: tracing_mark_write: B|10|request
           serve-10    [000] d..2.     1.000200: sched_switch: prev_comm=serve prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
           owner-20    [001] d..2.     1.000600: sched_waking: comm=serve pid=10 prio=120 target_cpu=000
          <idle>-0     [000] d..2.     1.000700: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=serve next_pid=10 next_prio=120
           serve-10    [000] .....     1.000900: tracing_mark_write: E|10
           serve-10    [000] .....     1.001000: tracing_mark_write: B|10|request
           serve-10    [000] .....     1.001100: tracing_mark_write: E|10
           owner-20    [001] d..2.     1.001200: sched_switch: prev_comm=owner prev_pid=20 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
           serve-10    [000] d..2.     1.001300: sched_switch: prev_comm=serve prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
TEXT
"$B" path --of request serve.txt >said 2>/dev/null
tr '\n' ' ' <said >line
says "path_tells_for_whom_all_of_a_name_waited" "request: 2 of them took 900 us, 450 us on average and 800 us at most: 44.44 % waiting for owner (20), 44.44 % computing, 11.11 % ready" line
says "and_has_the_chain_of_the_longest" "100.0      400.0    owner runs on CPU 1; wakes serve              proved" said
"$B" path --of slice:request --worst 2 serve.txt 2>/dev/null | grep -c ' took .*: .*serve' >said
is "or_of_as_many_as_are_asked_for" 2 "$(cat said)"
is "its_json_has_them" "2 900000 900000 blocked 20 400000 2" "$("$B" path --of request --worst 5 --json serve.txt 2>/dev/null | python3 -c 'import json, sys
a = json.load(sys.stdin)
o = [p for p in a["own"] if p["tid"]][0]
print(a["n"], a["ns"], a["proved_ns"], o["state"], o["tid"], o["ns"], len(a["chains"]))')"
"$B" report --format csv serve.txt 2>/dev/null | tr -d '\r' >said
is "report_has_how_long_they_waited" "900000 500000" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at["took_ns"], $at["waited_ns"] }' said)"
sed '/1.001200/i\           serve-10    [000] .....     1.001150: tracing_mark_write: B|10|request' serve.txt >open.txt
"$B" path --of request open.txt 2>/dev/null | tr '\n' ' ' >said
says "one_without_an_end_is_left_out" "left out, as begin, end or thread is not proved: 1" said
"$B" path --of request --time 1.0,1.00095 open.txt 2>/dev/null >said
grep -q '^request: 1 of them' said && ! grep -q 'left out' said
ok "but_not_from_a_time_in_which_it_was_not" $?
"$B" path --of none serve.txt >said 2>err
says "a_name_that_there_is_not_is_told" "'backstitch latency serve.txt' lists what there is" err

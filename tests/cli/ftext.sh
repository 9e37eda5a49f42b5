#!/bin/sh
# ftext.sh - a text of ftrace through the whole program: what its frames are
# made of, and that their names stay.
# usage: BACKSTITCH=PROGRAM tests/cli/ftext.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=$root/tests/captures
cd "$dir" || exit 2

ask() {
	"$B" query --format csv "$1" "$2" | sed 1d | tr -d '\r"' | tr '\n' ';'
}

kinds="SELECT w.name, i.path, max(f.flags), min(s.how)
	FROM frame f JOIN image i ON i.id = f.image
	JOIN word w ON w.kind = 'image' AND w.id = i.kind
	LEFT JOIN symbol s ON s.id = f.symbol GROUP BY 1, 2 ORDER BY 1, 2"

# without this machine's own files
mkdir empty
"$B" ingest -o mark.db --symfs empty "$cap/ftext-marker-kstack.txt" 2>err
is "a text is read" 0 $?
# the stacks that the program logged itself are addresses
is "its kernel frames are names" \
	'symbols,[kernel.kallsyms],8,text;unknown,[unknown],128,;' \
	"$(ask mark.db "$kinds")"
before=$(ask mark.db "SELECT name, size, how FROM symbol ORDER BY 1")
"$B" symbolize --symfs empty mark.db 2>err
is "and keep their names when others are looked for" "$before" \
	"$(ask mark.db "SELECT name, size, how FROM symbol ORDER BY 1")"
is "without names too" "$before" "$("$B" ingest --no-symbols -f -o mark.db \
	"$cap/ftext-marker-kstack.txt" 2>err
	ask mark.db "SELECT name, size, how FROM symbol ORDER BY 1")"

"$B" ingest -o verbose.db --symfs empty "$cap/ftext-verbose.txt.gz" 2>err
is "user frames are places in mappings" mapping \
	"$(ask verbose.db "SELECT DISTINCT w.name FROM frame f
		JOIN image i ON i.id = f.image JOIN word w
		ON w.kind = 'image' AND w.id = i.kind
		WHERE i.path LIKE '/%' AND f.flags = 8" | tr -d ';')"
"$B" ingest -o piped.db --symfs empty - <"$cap/ftext-verbose.txt.gz" 2>err
gzip -dc "$cap/ftext-verbose.txt.gz" |
	"$B" ingest -o live.db --symfs empty - 2>err
for db in piped live
do
	all="SELECT e.time_ns, e.cpu, hex(k.hash), hex(u.hash) FROM event e
		LEFT JOIN raw_chain a ON a.id = e.kraw
		LEFT JOIN stack k ON k.id = a.stack
		LEFT JOIN raw_chain b ON b.id = e.uraw
		LEFT JOIN stack u ON u.id = b.stack ORDER BY e.id"
	is "standard input gives the same: $db" \
		"$(ask verbose.db "$all" | cksum)" "$(ask $db.db "$all" | cksum)"
done

"$B" ingest -o lost.db "$cap/ftext-overrun-pipe.txt" 2>err
is "marks of loss are losses" '0,1770;1,24062;' \
	"$(ask lost.db "SELECT cpu, n FROM loss WHERE what = 'lost' ORDER BY id")"
printf '# tracer: nop\n#\nsys_exit: NR 1 = 0\n<stack trace>\n => f\n => g\nsys_exit: NR 2 = 0\n' >bare.txt
is "without CPUs a stack may be of another event, which is said" "1 0" \
	"$("$B" info bare.txt 2>err | tr -s ' \n' ' ' | grep -c 'that of another event where several CPUs') $(sed 2,5d bare.txt |
	"$B" info - 2>err | grep -c nocontext-info)"
printf 'version = 7\ncpus=2\nCPU:1 [SUBBUFFER START] [1000001000:0x2000]\n            prog-12 [001]     1.000001: sys_exit_write:       0x1 [0:0x10:24]\n            prog-12 [001]     1.000002: kernel_stack:         <stack trace >\n=> f (ffffffff814b2cd4)\n=> g (ffffffff81000130) [25228:0x2c:48]\n\nRT task timings:\n\n' >debug.txt
"$B" ingest -q -f --no-symbols -o debug.db debug.txt 2>err
is "what trace-cmd report --debug and -w add is no damage" "0 0x1 ffffffff814b2cd4 f ffffffff81000130 g" \
	"$? $("$B" script -F trace,ip,sym debug.db 2>err | tr -s '\t\n ' ' ' | sed 's/^ //;s/ $//')"
for mark in '5 EVENTS DROPPED' 'SUBBUFFER START'
do
	printf 'cpus=2\n sys: CPU:1 [%s]\n            prog-12 [001]     1.000001: sys_exit_write:       0x1\n sys:             prog-12 [001]     1.000002: sys_exit_write:       0x2\n                 prog-12 [001]     1.000003: sys_exit_write:       0x3\n' "$mark" >buffers.txt
	is "behind a mark of a buffer is an event of that buffer: $mark" "0 sys/syscalls:sys_exit_write 2;syscalls:sys_exit_write 1;" \
		"$("$B" ingest -q -f -o buffers.db buffers.txt 2>err; printf '%d ' $?)$(ask buffers.db "SELECT t.name || ' ' || count(*)
		FROM event e JOIN event_type t ON t.id = e.type GROUP BY t.name")"
done
is "script prints the text" "NR 202 = 0" \
	"$("$B" script lost.db | sed -n '/sys_exit:/{s/.*sys_exit: //;s/ *$//p;q}')"
printf '# tracer: nop\n#\n145 2 41563954298 type: 310\n' >raw.txt
"$B" ingest -o raw.db raw.txt 2>err
is "raw numbers are refused" 1 $?
is "and what to do is said" 1 "$(grep -c 'without the options raw' err)"

# with addresses a kallsyms of the same boot says where the kernel was
cat >addr.txt <<'TEXT'
# tracer: nop
            bash-7       [000] .....     1.000001: sys_exit: NR 1 = 2
            bash-7       [000] .....     1.000002: <stack trace>
 => do_it+0x10/0x40 <ffffffff81000110>
 => do_more <ffffffff81000204>
 => in_mod+0x1/0x2 [mod] <ffffffffc0000001>
TEXT
printf 'ffffffff81000%s\n' '000 T _text' '100 t do_it' '200 T do_more' \
	'200 T alias' '300 t do_it' '400 T _etext' >same.sym
sed 's/81000/82000/' same.sym >other.sym
offsets="SELECT printf('%s %x %d', w.name, CASE WHEN f.flags & 8 THEN 0 ELSE
	f.off END, f.flags) FROM stack_path p JOIN frame f ON f.id = p.frame
	JOIN image i ON i.id = f.image JOIN word w ON w.kind = 'image'
	AND w.id = i.kind ORDER BY p.pos"
"$B" ingest -q -o addr.db --kallsyms same.sym addr.txt 2>err
is "kernel frames count from _text" \
	'kernel 110 0;kernel 204 0;symbols 0 8;' "$(ask addr.db "$offsets")"
"$B" ingest -q -f -o addr.db --kallsyms other.sym addr.txt 2>err
is "but not by the kallsyms of another boot" \
	'symbols 0 8;symbols 0 8;symbols 0 8;' "$(ask addr.db "$offsets")"
is "and that is told" 1 "$("$B" info addr.db | grep -c 'note.*kallsyms')"
"$B" ingest -q -f -o addr.db addr.txt 2>err
is "nor without one" 'symbols 0 8;symbols 0 8;symbols 0 8;' \
	"$(ask addr.db "$offsets")"

# ---- what the buffers dropped
mkdir -p run/per_cpu/cpu0 run/per_cpu/cpu1 given/cpu0
# as if nothing had been overwritten
sed 's,^\(# entries-in-buffer/entries-written: \)\([0-9]*\)/[0-9]*,\1\2/\2,' \
	"$cap/ftext-marker-kstack.txt" >alone.txt
cp alone.txt run/trace.txt
printf 'entries: 5\noverrun: 0\ncommit overrun: 2\nbytes: 9\ndropped events: 10\nread events: 0\n' \
	>run/per_cpu/cpu0/stats
printf 'entries: 5\noverrun: 0\ncommit overrun: 0\ndropped events: 0\n' \
	>run/per_cpu/cpu1/stats
cp run/per_cpu/cpu0/stats given/cpu0
losses="SELECT what, cpu, n, counts FROM loss ORDER BY 1, 2"
"$B" ingest --no-symbols -o run.db run/trace.txt 2>err
is "stats beside the text are its losses" 'dropped,0,12,1;lost_total,0,12,0;' \
	"$(ask run.db "$losses")"
"$B" check run.db >out 2>err
is "and break the verdict" 4 $?
"$B" ingest --no-symbols -o alone.db alone.txt 2>err
is "without stats nothing is known" '' "$(ask alone.db "$losses")"
"$B" ingest --no-symbols --stats given -f -o alone.db alone.txt 2>err
is "stats in a folder count too" 'dropped,0,12,1;lost_total,0,12,0;' \
	"$(ask alone.db "$losses")"
"$B" ingest --no-symbols --stats run -f -o alone.db alone.txt 2>err
is "and so does its folder per_cpu" 'dropped,0,12,1;lost_total,0,12,0;' \
	"$(ask alone.db "$losses")"
mkdir -p wrapped/per_cpu/cpu0 wrapped/per_cpu/cpu1
sed 's,^\(# entries-in-buffer/entries-written: \)\([0-9]*\)/[0-9]*,\110/17,' alone.txt >wrapped/trace
printf 'overrun: 0\n' >wrapped/per_cpu/cpu0/stats
printf 'overrun: 7\n' >wrapped/per_cpu/cpu1/stats
"$B" ingest --no-symbols -o over.db wrapped/trace 2>err
is "stats tell which CPU overwrote what the head counts" \
	'overwritten,0,,0;overwritten,1,,0;overwritten,1,7,1;lost_total,1,7,0;' \
	"$(ask over.db "SELECT what, cpu, n, counts FROM loss ORDER BY 1 DESC, 2, 3")"
# per_cpu/cpuN/trace has the counts of all CPUs in its head
mkdir -p percpu/per_cpu/cpu0 percpu/per_cpu/cpu1
sed 's,^\(# entries-in-buffer/entries-written: \)\([0-9]*\)/[0-9]*,\110/17,' alone.txt >percpu/per_cpu/cpu1/trace
cp percpu/per_cpu/cpu1/trace percpu/per_cpu/cpu0
cp run/per_cpu/cpu0/stats percpu/per_cpu/cpu0
cp run/per_cpu/cpu1/stats percpu/per_cpu/cpu1
for c in 0 1
do
	"$B" ingest --no-symbols -o percpu$c.db percpu/per_cpu/cpu$c/trace 2>err
done
is "stats beside the text of one CPU are its losses" 'dropped,0,12,1;lost_total,0,12,0;' \
	"$(ask percpu0.db "$losses")"
is "and what its head counts is of others" '' "$(ask percpu1.db "$losses")"
mkdir -p marked/per_cpu/cpu0
cp run/per_cpu/cpu0/stats marked/per_cpu/cpu0
awk '/\[000\]/ && ++n == 20 { print "CPU:0 [LOST EVENTS]" } { print }' alone.txt >marked/trace.txt
"$B" ingest --no-symbols -o marked.db marked/trace.txt 2>err
is "stats number what a mark of loss does not" 'dropped,0,12,1;lost,0,,0;lost_total,0,12,0;' \
	"$(ask marked.db "$losses")"
is "and nothing more was lost" 0 "$("$B" check marked.db | grep -c 'unknown number')"
"$B" ingest --no-symbols -f -o marked.db - <marked/trace.txt 2>err
is "which is unknown without stats" 'lost,0,,1;' "$(ask marked.db "$losses")"
# what a full buffer overwrote has a number in the head of the text
sed 's,^\(# entries-in-buffer/entries-written: \)\([0-9]*\)/[0-9]*,\110/17,' alone.txt >wrapped.txt
"$B" ingest --no-symbols -o wrapped.db - <wrapped.txt 2>err
is "overwritten entries that the head counts are no unknown number" \
	'7 records lost' "$("$B" check wrapped.db | head -n 1 | sed 's/.*, //')"
mkdir -p waits/per_cpu/cpu0
cp alone.txt waits/trace.txt
mkfifo waits/per_cpu/cpu0/stats
timeout -k 1 20 "$B" ingest --no-symbols -f -o waits.db waits/trace.txt 2>err
is "what is no file of stats is not waited for" 0 $?
timeout -k 1 20 "$B" ingest --no-symbols --stats waits -f -o waits.db alone.txt 2>err
is "and is refused if it was named" '1 1' "$? $(grep -c 'cpu0/stats: not a regular file' err)"
"$B" ingest --no-symbols --stats empty -f -o alone.db alone.txt 2>err
is "a folder without any is refused" 2 $?
sed 's,^# entries-in-buffer/entries-written: \([0-9]*\)/[0-9]*,# entries-in-buffer/entries-written: \1/999999,' \
	alone.txt >more.txt
"$B" ingest --no-symbols --stats given -o more.db more.txt 2>err
is "stats of another text are not used" 'stats;' \
	"$(ask more.db "SELECT what FROM damage WHERE what = 'stats'")"

# the entries of the tracers have the names of events/ftrace; a function whose
# name begins with sys_ is no system call
cat >tracers.txt <<'TEXT'
# tracer: nop
#
#           TASK-PID     CPU#  |||||     TIMESTAMP  FUNCTION
#              | |         |   |||||        |         |
           <...>-17      [001] d....     1.000001: #1     inner/outer(us):   11/12    ts:1581527483.343962693 count:6
           <...>-85      [000] .....     1.000002: 1000000        190  99.98100       9     18      0   1007     18      1
          <idle>-0       [000] d.h1.     1.000003: #1     context    irq timer_latency       932 ns
           <...>-86      [000] .....     1.000004: #1     context thread timer_latency     11700 ns
            bash-19      [000] .....     1.000005: sys_close <-do_syscall_64
            bash-19      [000] .....     1.000006: sys_close(fd: 3)
            bash-19      [000] .....     1.000007: sys_close -> 0x0
            bash-19      [000] .....     1.000008: sys_read(fd=3, count=10) <-do_syscall_64
            bash-19      [000] d....     1.000009:      0:120:R   + [003]   312:100:R kworker/3:1H
            bash-19      [000] d....     1.000010:      0:120:R ==> [003]   312:100:R kworker/3:1H
            bash-19      [000] .....     1.000011: vfs_read <-ksys_read (repeats: 3, last_ts:     1.000010)
              dd-20      [001] .....     1.000012: 254,0    Q  WS 1843 + 8 [dd]
              dd-20      [001] .....     1.000013:   8,16   UT   N [dd] 1
TEXT
"$B" ingest -q -o tracers.db tracers.txt 2>err
is "tracers without names are told apart" "$(printf '%s ' hwlat osnoise \
	timerlat timerlat function sys_enter_close sys_exit_close function \
	wakeup context_switch func_repeats blk blk)" \
	"$("$B" script tracers.db | sed 's/.*[a-z]:\([a-z_]*\): .*/\1/' | tr '\n' ' ')"

cat >wakeup.txt <<'TEXT'
# tracer: wakeup
#
# wakeup latency trace v1.1.5 on 3.8.0-test+
# --------------------------------------------------------------------
# latency: 15 us, #4/4, CPU#3 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
#    -----------------
#    | task: kworker/3:1H-312 (uid:0 nice:-20 policy:0 rt_prio:0)
#    -----------------
#  cmd     pid   ||||| time  |   caller
#     \   /      |||||  \    |   /
  <idle>-0       3dNs7    0us :      0:120:R   + [003]   312:100:R kworker/3:1H
  <idle>-0       3dNs7    1us+: ttwu_do_activate.constprop.87 <-try_to_wake_up
  <idle>-0       3d..3   15us : __schedule <-schedule
  <idle>-0       3d..3   15us :      0:120:R ==> [003]   312:100:R kworker/3:1H
TEXT
"$B" ingest -q -o wakeup.db wakeup.txt 2>err
is "the wakeup tracer" "wakeup function function context_switch " \
	"$("$B" script wakeup.db | sed 's/.*ftrace:\([a-z_]*\): .*/\1/' | tr '\n' ' ')"

cat >graph.txt <<'TEXT'
# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
 0)               |  sys_open() {
 0)   1.382 us    |    __might_sleep();
 1)   ==========> |
 1)   <========== |
 ------------------------------------------
 0)  bash-1234    =>    cat-77
 ------------------------------------------

 0) + 54.321 us   |  } /* sys_open */
 0)               |  /* sched_waking: comm=sh pid=5 prio=120 target_cpu=001 */
TEXT
"$B" ingest -q -o graph.db graph.txt 2>err
is "all lines of function_graph are read" 0 $?
is "calls, ends, interrupts and events" "$(printf '%s ' -1:funcgraph_entry \
	-1:funcgraph_entry -1:funcgraph_irq_entry -1:funcgraph_irq_exit \
	77:funcgraph_exit 77:sched_waking)" \
	"$("$B" script graph.db | awk '{ n = split($5, a, ":"); print $2 ":" a[n - 1] }' | tr '\n' ' ')"

# 3 leaves the CPU to which 1 had come: a filter, of which the text has no note,
# or a loss
cat >gap.txt <<'TEXT'
# tracer: nop
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
              one-1       [000] d..2.     1.000001: sched_switch: prev_comm=one prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=two next_pid=2 next_prio=120
              two-2       [000] d..2.     1.000002: sched_switch: prev_comm=two prev_pid=2 prev_prio=120 prev_state=S ==> next_comm=one next_pid=1 next_prio=120
            three-3       [000] d..2.     1.000003: sched_switch: prev_comm=three prev_pid=3 prev_prio=120 prev_state=S ==> next_comm=one next_pid=1 next_prio=120
TEXT
"$B" check gap.txt >out 2>err
is "switches that do not join are not proved to be lost" \
	'0 gap.txt: unproved: nothing is proved to be lost, but not provable: 1 finding' \
	"$? $(head -1 out)"
is "and nobody says that each has its cause" 1 "$(grep -c ' 1 switch_gap: not proved' out)"
grep -v three-3 gap.txt >joined.txt
is "switches that join are clean" 'joined.txt: clean: nothing lost, nothing out of order' \
	"$("$B" check joined.txt 2>err | head -1)"

# trace-cmd report has no line "#P:2" and no flags: the times are the same, and
# who woke may have been an interrupt
cat >kernel.txt <<'TEXT'
# tracer: nop
#
# entries-in-buffer/entries-written: 11/11   #P:2
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
          <idle>-0       [000] d..2.     1.000000: sched_waking: comm=nine pid=9 prio=120 target_cpu=000
          <idle>-0       [001] d..2.     1.000001: sched_waking: comm=ten pid=10 prio=120 target_cpu=001
          <idle>-0       [000] d..2.     1.000100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=one next_pid=1 next_prio=120
          <idle>-0       [001] d..2.     1.000200: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=two next_pid=2 next_prio=120
             one-1       [000] d..2.     1.000300: sched_switch: prev_comm=one prev_pid=1 prev_prio=120 prev_state=I ==> next_comm=swapper/0 next_pid=0 next_prio=120
             two-2       [001] d..2.     1.000400: sched_waking: comm=one pid=1 prio=120 target_cpu=000
          <idle>-0       [000] d..2.     1.000700: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=one next_pid=1 next_prio=120
             two-2       [001] d..2.     1.000800: sched_switch: prev_comm=two prev_pid=2 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
             one-1       [000] d..2.     1.000900: sched_switch: prev_comm=one prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
          <idle>-0       [001] d..2.     1.001000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=two next_pid=2 next_prio=120
          <idle>-0       [000] d..2.     1.001100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=one next_pid=1 next_prio=120
TEXT
{
	echo cpus=2
	sed '/^#/d; s/ d\.\.2\.  / /; s/prev_comm=\([^ ]*\) prev_pid=\([0-9]*\) prev_prio=120 prev_state=\([RSI]\) ==> next_comm=\([^ ]*\) next_pid=\([0-9]*\) .*/\1:\2 [120] \3 ==> \4:\5 [120]/
		s/\] I ==>/] W ==>/' kernel.txt
} >report.txt
{ sed 1q report.txt; sed 1d report.txt | sed 's/^/inst: /'; } >inst.txt
{ echo cpus=2; sed '/^#/d' kernel.txt; } >flags.txt
for f in kernel report inst flags
do
	"$B" sched --json $f.txt 2>err | python3 -c '
import json, sys
for t in json.load(sys.stdin)["threads"]:
    print(t["comm"], t["run_ns"], t["ready_ns"], t["blocked_ns"], t["unknown_ns"])' >$f.sched
done
is "a thread is ready from its waking on" "one 400000 300000 100000 200000" \
	"$(grep '^one ' kernel.sched)"
for f in report inst flags
do
	is "trace-cmd report has the same times: $f" "$(cat kernel.sched)" "$(cat $f.sched)"
done
woken() {
	"$B" path --idle --worst 1 --comm one --json "$1.txt" | python3 -c '
import json, sys
(c,) = json.load(sys.stdin)["chains"]
for e in c["edges"]:
    print(e["at_ns"], e["waker"], e["context"], e["proof"])'
}
is "flags say in what a thread was woken" "1000400000 2 task proved" "$(woken kernel)"
is "without them it may have been an interrupt" "1000400000 2 unknown consistent" \
	"$(woken report)"

# trace_pipe has no header
sed '/^#/d' kernel.txt >pipe.txt
rests() {	# rests TEXT: on the premise about CPUs?
	"$B" path --idle --premises --comm one "$1" 2>err | tr '\n' ' ' | grep -c 'no CPUs ran but those in the text'
}
is "a text without a header does not tell how many CPUs there were: a premise" 1 "$(rests pipe.txt)"
is "which one with a header does not need" 0 "$(rests kernel.txt)"

# The kernel prints the process that it remembers of a thread id: of the last
# thread that had it.
cat >tgid.txt <<'TEXT'
# tracer: nop
#
# entries-in-buffer/entries-written: 7/7   #P:1
#
#           TASK-PID    TGID       CPU#  |||||  TIMESTAMP  FUNCTION
#              | |        |         |   |||||     |         |
             one-10      (     10) [000] .....     1.000100: task_newtask: pid=20 comm=one clone_flags=1200000 oom_score_adj=0
             one-20      (     30) [000] ...1.     1.000200: tracing_mark_write: a
             one-20      (     30) [000] .....     1.000300: sched_process_exit: comm=one pid=20 prio=120
             two-30      (     30) [000] .....     1.000400: task_newtask: pid=20 comm=two clone_flags=3d0f00 oom_score_adj=0
             one-20      (     30) [000] ...1.     1.000500: tracing_mark_write: b
TEXT
lives() {
	"$B" ingest -f -q --no-symbols -o lives.db "$1" &&
		"$B" query lives.db "SELECT p.pid, t.tid, c.name FROM event e
			JOIN event_type y ON y.id = e.type
			JOIN thread t ON t.id = e.thread
			JOIN process p ON p.id = t.process
			JOIN comm c ON c.id = e.comm
			WHERE y.name = 'ftrace:print'" --format csv | tr '\n' ' '
}
is "a fork tells the process of a thread, not the line" \
	"pid,tid,name 20,20,one 30,20,two " "$(lives tgid.txt)"
sed 's/^ *one-20 .*: a$/CPU:0 [LOST 3 EVENTS]\n&/' tgid.txt >tgid-lost.txt
is "a line does if records were lost since" \
	"pid,tid,name 30,20,:20 30,20,two " "$(lives tgid-lost.txt)"
sed 's/( *30) \(.*: task_newtask\)/(-------) \1/' tgid.txt >tgid-parent.txt
is "or if the fork does not tell" \
	"pid,tid,name 20,20,one 30,20,two " "$(lives tgid-parent.txt)"

# trace_clock counter: times are no nanoseconds
cat >ticks.txt <<'TEXT'
# tracer: nop
#
             one-20      [000] ...1. 3: tracing_mark_write: a
             one-20      [000] ...1. 1410: tracing_mark_write: b
TEXT
"$B" ingest --no-symbols -o ticks.db ticks.txt 2>err
is "times of a counter are ticks" "ticks.db: 2 samples over 1,407 ticks" \
	"$(sed -n 1p err)"
is "of which info says the range" \
	"time 3 to 1,410, 1,407 ticks on clock counter, uptime or a cycle counter" \
	"$("$B" info ticks.db | sed -n 's/^ *time  */time /p')"
# what prints how long something took says that it does not know
cat >turns.txt <<'TEXT'
# tracer: nop
#
# entries-in-buffer/entries-written: 2/2   #P:1
 prog-77    [000] d....          200: sched_switch: prev_comm=prog prev_pid=77 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
 <idle>-0   [000] d....         1200: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=prog next_pid=77 next_prio=120
TEXT
"$B" ingest -q --no-symbols -o turns.db turns.txt
for what in sched 'path --waits' 'latency off-cpu' 'report --off-cpu'
do
	# shellcheck disable=SC2086 # words
	"$B" $what turns.db >out 2>err
	is "times of a counter are no durations for $what" \
		"note: turns.db: times are ticks of the clock 'counter, uptime or a cycle counter', not ns: '1 us' is 1,000 of them" "$(grep 'ticks' err)"
	# shellcheck disable=SC2086 # words
	"$B" $what mark.db >out 2>err
	is "those of other clocks are for $what" '' "$(grep 'ticks' err)"
done

# the kernel and a host have values in brackets: "(null)" of %s, "(none)"
cat >brackets.txt <<'TEXT'
# tracer: nop
#
             one-20      [000] .....     1.000100: my_event: name=(null) host=(none) at=f(x[2]) list=[1] (last=3)
TEXT
is "brackets that a value opens are its own" "(null),(none),f(x[2]),[1],3;" \
	"$("$B" ingest -q -f --fields all -o brackets.db brackets.txt 2>err
	ask brackets.db "SELECT name, host, at, list, last FROM ev_my_event")"

# each of 300 events has a table of its own
awk 'BEGIN {
	print "# tracer: nop\n#"
	for (i = 0; i < 900; i++)
		printf "             one-20      [000] .....     1.%06d: my_%d: x=%d name=n%d\n", i, i % 300, i, i
}' >many.txt
is "each of 300 events has its fields" "1,0,n0;301,300,n300;601,600,n600;300,299,n299;600,599,n599;900,899,n899;" \
	"$("$B" ingest -q -f --fields all -o many.db many.txt 2>err
	ask many.db "SELECT event_id, x, name FROM ev_my_0 UNION ALL SELECT event_id, x, name FROM ev_my_299")"

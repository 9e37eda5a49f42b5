#!/bin/sh
# tracers.sh - each kind of line that the kernel's documentation of tracers has: event, time, CPU, task.
# usage: BACKSTITCH=build/backstitch tests/cli/tracers.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

# A section begins with "== NAME" and its text; behind a tab stands what a line
# is: event, ns, CPU, task, thread. Lines without a tab are no events: a stack
# belongs to the event before it. <idle> is swapper, :TID a task without a name,
# :-1 an unknown one.
sections=$(cat <<'TEXT'
== function_graph
# tracer: function_graph
#
#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS
#      |          |     |    |           |   |                     |   |   |   |
   10.000001 |   0)    sh-4802    |               |  do_sys_open() {	funcgraph_entry,10000001000,0,sh,4802
   10.000002 |   0)    sh-4802    |   1.382 us    |    getname();	funcgraph_entry,10000002000,0,sh,4802
   10.000003 |   0)    sh-4802    | + 54.321 us   |    __fput();	funcgraph_entry,10000003000,0,sh,4802
   10.000004 |   0)    sh-4802    | ! 478.000 us  |    dput();	funcgraph_entry,10000004000,0,sh,4802
   10.000005 |   0)    sh-4802    | # 1234.567 us |    iput();	funcgraph_entry,10000005000,0,sh,4802
   10.000006 |   0)    sh-4802    | * 12345.67 us |    mput();	funcgraph_entry,10000006000,0,sh,4802
   10.000007 |   0)    sh-4802    | @ 123456.7 us |    kput();	funcgraph_entry,10000007000,0,sh,4802
   10.000008 |   0)    sh-4802    | $ 3999884 us  |    wait_for();	funcgraph_entry,10000008000,0,sh,4802
   10.000009 |   0)    sh-4802    |               |    /* sched_waking: comm=a pid=5 prio=1 target_cpu=000 */	sched_waking,10000009000,0,sh,4802
   10.000010 |   0)    sh-4802    |   ==========> |	funcgraph_irq_entry,10000010000,0,sh,4802
   10.000011 |   0)    sh-4802    |   <========== |	funcgraph_irq_exit,10000011000,0,sh,4802
   10.000012 |   0)    sh-4802    |   9.999 us    |  } /* do_sys_open */	funcgraph_exit,10000012000,0,sh,4802
 ------------------------------------------
   10.000013 |   1)   bash-3 =>  cat-77
 ------------------------------------------
== irqsoff
# tracer: irqsoff
#
# irqsoff latency trace v1.1.5 on 3.8.0-test+
# --------------------------------------------------------------------
# latency: 16 us, #4/4, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
#    -----------------
#    | task: swapper/0-0 (uid:0 nice:0 policy:0 rt_prio:0)
#    -----------------
#  => started at: run_timer_softirq
#  => ended at:   run_timer_softirq
#
#                  _------=> CPU#
#  cmd     pid   ||||| time  |   caller
#     \   /      |||||  \    |   /
  <idle>-0       0d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq	function,0,0,swapper,0
  <idle>-0       0dNs3   17us : _raw_spin_unlock_irq <-run_timer_softirq	function,17000,0,swapper,0
  <idle>-0       0dNs3   17us!: trace_hardirqs_on <-run_timer_softirq	function,17000,0,swapper,0
  <idle>-0       0dNs3   25us : <stack trace>
 => _raw_spin_unlock_irq
== preemptoff
# tracer: preemptoff
#
# preemptoff latency trace v1.1.5 on 3.8.0-test+
# latency: 46 us, #4/4, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
#  cmd     pid   ||||| time  |   caller
    sshd-1991    1d.h.    0us+: irq_enter <-do_IRQ	function,0,1,sshd,1991
    sshd-1991    1d..1   46us#: irq_exit <-do_IRQ	function,46000,1,sshd,1991
== wakeup_rt
# tracer: wakeup_rt
#
# wakeup_rt latency trace v1.1.5 on 3.8.0-test+
# latency: 5 us, #4/4, CPU#3 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
#  cmd     pid   ||||| time  |   caller
  <idle>-0       3d.h4    0us :      0:120:R   + [003]  2389: 94:R sleep	wakeup,0,3,swapper,0
  <idle>-0       3d.h4    1us+: ttwu_do_activate <-try_to_wake_up	function,1000,3,swapper,0
  <idle>-0       3d..3    5us :      0:120:R ==> [003]  2389: 94:R sleep	context_switch,5000,3,swapper,0
== hwlat
# tracer: hwlat
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
           <...>-1729    [001] d....   678.473449: #1     inner/outer(us):   11/12    ts:1581527483.343962693 count:6	hwlat,678473449000,1,:1729,1729
           <...>-1729    [004] d....   689.556542: #2     inner/outer(us):   16/9     ts:1581527494.889008092 count:1 nmi-total:5 nmi-count:1	hwlat,689556542000,4,:1729,1729
== osnoise
# tracer: osnoise
#
#           TASK-PID      CPU# ||||   TIMESTAMP    IN US       IN US  AVAILABLE  IN US     HW    NMI    IRQ   SIRQ  THREAD
           <...>-859     [000] ....    81.637220: 1000000        190  99.98100       9     18      0   1007     18      1	osnoise,81637220000,0,:859,859
           <...>-860     [001] ....    81.638154: 1000000        656  99.93440      74     23      0   1006     16      3	osnoise,81638154000,1,:860,860
         osnoise/8-961   [008] d.h.  5789.857532: irq_noise: local_timer:236 start 5789.857529929 duration 1845 ns	irq_noise,5789857532000,8,osnoise/8,961
         osnoise/8-961   [008] ....  5789.858413: thread_noise: migration/8:54 start 5789.858404871 duration 8 ns	thread_noise,5789858413000,8,osnoise/8,961
== timerlat
# tracer: timerlat
#
#           TASK-PID      CPU# ||||   TIMESTAMP     ID            CONTEXT                LATENCY
          <idle>-0       [000] d.h1    54.029328: #1     context    irq timer_latency       932 ns	timerlat,54029328000,0,swapper,0
           <...>-867     [000] ....    54.029339: #1     context thread timer_latency     11700 ns	timerlat,54029339000,0,:867,867
           <...>-867     [000] ....    54.029350: #1     context user-ret timer_latency   16842 ns	timerlat,54029350000,0,:867,867
== blk
# tracer: blk
#
              dd-1999    [001] .....    12.000001: 254,0    A  WS 1843 + 8 <- (254,1) 1000	blk,12000001000,1,dd,1999
              dd-1999    [001] .....    12.000002: 254,0    Q  WS 1843 + 8 [dd]	blk,12000002000,1,dd,1999
              dd-1999    [001] .....    12.000003:   8,16   P   N [dd]	blk,12000003000,1,dd,1999
              dd-1999    [001] .....    12.000004:   8,16   UT   N [dd] 1	blk,12000004000,1,dd,1999
          <idle>-0       [001] d.h1.    12.000005: 254,0    C  WS 1843 + 8 [0]	blk,12000005000,1,swapper,0
== mmiotrace
VERSION 20070824
PCIDEV 0000 80862a40 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
MAP 12.000001 1 0xf0000000 0xffffc90000100000 0x1000 0x0 0	mmiotrace_map,12000001000,,:-1,-1
R 4 12.000002 1 0xf0000010 0x1f 0x0 0	mmiotrace_rw,12000002000,,:-1,-1
W 4 12.000003 1 0xf0000014 0x80000000 0x0 0	mmiotrace_rw,12000003000,,:-1,-1
UNKNOWN 12.000004 1 0xf0000018 0f,b6,00 0x0 0	mmiotrace_rw,12000004000,,:-1,-1
MARK 0.000000 Lost 17 events.
MARK 12.000005 X is up	print,12000005000,,:-1,-1
UNMAP 12.000006 1 0x0 0	mmiotrace_map,12000006000,,:-1,-1
TEXT
)

tab=$(printf '\t')
for name in $(echo "$sections" | sed -n 's/^== //p')
do
	echo "$sections" | sed -n "/^== $name\$/,/^== /{/^== /d;p}" >"$work/all"
	cut -f1 "$work/all" >"$work/$name.txt"
	sed -n "s/.*$tab//p" "$work/all" >"$work/want"
	"$B" ingest -q --no-symbols -o "$work/$name.db" "$work/$name.txt" \
		2>"$work/err"
	status=$?
	"$B" query --format csv "$work/$name.db" "SELECT
		substr(y.name, instr(y.name, ':') + 1), e.time_ns, e.cpu,
		c.name, h.tid FROM event e JOIN event_type y ON y.id = e.type
		LEFT JOIN thread h ON h.id = e.thread
		LEFT JOIN comm c ON c.id = e.comm ORDER BY e.id" |
		tr -d '\r' | sed 1d >"$work/got"
	diff "$work/want" "$work/got" | sed 's/^/    /'
	sed 's/^/    /' "$work/err"
	[ "$status" = 0 ] && [ -s "$work/want" ] &&
		cmp -s "$work/want" "$work/got"
	ok "every kind of line of $name: $(wc -l <"$work/want")" $?
done
lost=$("$B" query --format csv "$work/mmiotrace.db" \
	"SELECT n FROM loss WHERE what = 'lost'" | tail -n 1)
[ "$lost" = 17 ]
ok "what mmiotrace lost is a loss" $?

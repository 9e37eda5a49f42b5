#!/bin/sh
# diff_times.sh - comparing how long pairs of events and waits took: what was planted is named, equal sides are not.
# usage: BACKSTITCH=build/backstitch tests/cli/diff_times.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

# calls OUT SEED US WORD...: two threads' calls over 2 s; reads take US on average. WORD fsync: one behind each
# fifth read; LOST: every tenth record is lost; EVEN: twice as many writes
calls() {
	python3 - "$@" <<'END'
import random
import sys

out, seed, us, words = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
r = random.Random(seed)
events = []


def call(t, name, took, task):
    events.append((t, task, "sys_%s(fd: 3)" % name))
    events.append((t + took, task, "sys_%s -> 0x1" % name))
    return t + took


t = 100.0
while t < 102:
    t = call(t + r.expovariate(500), "read", us * 1e-6 * r.lognormvariate(0, .5), "w-11")
    if "fsync" in words and r.random() < .2:
        t = call(t + 1e-5, "fsync", 5e-4, "w-11")
t = 100.0
while t < 102:
    t = call(t + r.expovariate(600 if "EVEN" in words else 300), "write", 5e-5 * r.lognormvariate(0, .5), "v-12")
with open(out, "w", encoding="ascii") as f:
    f.write("# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#\n")
    for i, (t, task, text) in enumerate(sorted(events)):
        if "LOST" in words and i % 10 == 9:
            f.write("CPU:0 [LOST 1 EVENTS]\n")
        else:
            f.write("%20s [000] ..... %.6f: %s\n" % (task, t, text))
END
}

# stacked OUT SEED US [LOST]: a thread that waits 200 times each for a futex, US on average, and in nanosleep, with
# the stacks of its switches
stacked() {
	python3 - "$@" <<'END'
import random
import sys

out, seed, us = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
r = random.Random(seed)
scale = r.lognormvariate(0, .05)  # runs differ
w, idle = "comm=w %spid=11 %sprio=120", "comm=swapper/0 %spid=0 %sprio=120"


def switch(t, task, one, state, other, stack):
    p, n = "prev_", "next_"
    f.write("%20s [000] d..2. %.6f: sched_switch: %s%s prev_state=%s ==> %s%s\n" % (
        task, t, p, one % (p, p), state, n, other % (n, n)))
    if stack:
        f.write("%20s [000] d..2. %.6f: <stack trace>\n" % (task, t))
        for frame in ("schedule", *stack, "do_syscall_64", "entry_SYSCALL_64_after_hwframe"):
            f.write(" => %s\n" % frame)


with open(out, "w", encoding="ascii") as f:
    f.write("# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:1\n#\n")
    t = 100.0
    for i in range(400):
        stack, mean = (("futex_wait_queue", us), ("do_nanosleep", 800))[i % 2]
        switch(t, "w-11", w, "S", idle, (stack,))
        t += scale * mean * 1e-6 * r.lognormvariate(0, .2)
        if len(sys.argv) > 4 and i % 10 == 9:
            f.write("CPU:0 [LOST 2 EVENTS]\n")
        else:
            switch(t, "<idle>-0", idle, "R", w, ())
        t += 1e-4
END
}

# entered OUT SEED MS: a thread that reads, MS on average, and writes, 3 ms, 200 times each, with the stack of each begin
entered() {
	python3 - "$@" <<'END'
import random
import sys

out, seed, ms = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
r = random.Random(seed)
with open(out, "w", encoding="ascii") as f:
    f.write("# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:1\n#\n")
    t = 100.0
    for i in range(400):
        name, mean = (("read", ms), ("write", 3))[i % 2]
        f.write("%20s [000] ..... %.6f: sys_%s(fd: 3)\n" % ("w-11", t, name))
        f.write("%20s [000] ..... %.6f: <stack trace>\n => __x64_sys_%s\n => do_syscall_64\n" % ("w-11", t, name))
        t += mean * 1e-3 * r.lognormvariate(0, .2)
        f.write("%20s [000] ..... %.6f: sys_%s -> 0x1\n" % ("w-11", t, name))
        t += 1e-4
END
}

# waits OUT SEED US [RUN [PLACES]]: a thread that runs 100 us, or RUN, and then waits, woken by an idle CPU, US on
# average; with RUN it is a program that trace-cmd started, which does so 1000 times, in so many functions in turn
waits() {
	python3 - "$@" <<'END'
import random
import sys

out, seed, us = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
run = float(sys.argv[4]) if len(sys.argv) > 4 else 0
r = random.Random(seed)
w, idle = "comm=w %spid=11 %sprio=120", "comm=swapper/0 %spid=0 %sprio=120"


def switch(task, t, one, state, other):
    p, n = "prev_", "next_"
    f.write("%20s [000] d..2. %.6f: sched_switch: %s%s prev_state=%s ==> %s%s\n" % (
        task, t, p, one % (p, p), state, n, other % (n, n)))


t = 100.0
with open(out, "w", encoding="ascii") as f:
    f.write("# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:1\n#\n")
    if run:
        switch("<idle>-0", t - 2e-5, idle, "R", "comm=trace-cmd %spid=11 %sprio=120")
        f.write("%20s [000] ..... %.6f: sched_process_exec: filename=/bin/w pid=11 old_pid=11\n" % ("w-11", t - 1e-5))
    n = 0
    while n < 1000 if run else t < 102:
        n += 1
        t += (run or 100) * 1e-6 * r.uniform(.9, 1.1)
        switch("w-11", t, w, "S", idle)
        if len(sys.argv) > 5:
            f.write("%20s [000] d..2. %.6f: <stack trace>\n => __schedule\n => schedule\n => wait_%d\n"
                    % ("w-11", t, n % int(sys.argv[5])))
        t += us * 1e-6 * r.lognormvariate(0, .5)
        for event in ("waking", "wakeup")[len(sys.argv) < 6:]:
            f.write("%20s [000] dNh4. %.6f: sched_%s: comm=w pid=11 prio=120 target_cpu=000\n" % ("<idle>-0", t, event))
        t += 5e-6
        switch("<idle>-0", t, idle, "R", w)
    if run:
        f.write("%20s [000] ..... %.6f: sched_process_exit: comm=w pid=11 prio=120\n" % ("w-11", t + 1e-5))
END
}

# locked OUT SEED US [KEEPER]: a program that trace-cmd started asks thread h 300 times for something on another CPU, and
# waits for a lock that h has, US on average; h's name ends with the seed; with KEEPER, that runs on the program's CPU for
# US before it comes back; with R it could have gone on then; with EARLY h's CPU is idle meanwhile, with MORE the
# program computes longer, with CHILD it forked the keeper,
# with MANY it asks ten times as often, with GONE records are lost for a second when it has ended, with LATE trace-cmd
# computes and waits for 300 ms each before it becomes the program
locked() {
	python3 - "$@" <<'END'
import random
import sys

out, seed, us = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
keeper = sys.argv[4] if len(sys.argv) > 4 else ""
state = sys.argv[5] if len(sys.argv) > 5 else "S"
early = "EARLY" in sys.argv
own = 3000 if "MORE" in sys.argv else 50
r = random.Random(seed)
w, h = ("w", 11), ("h%d" % seed, 12)
idle = [("swapper/0", 0), ("swapper/1", 0)]
t = 100.0


def line(task, cpu, text):
    f.write("%20s [%03d] d..2. %.6f: %s\n" % ("%s-%d" % (task if task[1] else ("<idle>", 0)), cpu, t, text))


def switch(cpu, a, state, b):
    line(a, cpu, "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120"
         % (a + (state,) + b))


def wake(cpu, a, b, to):
    for event in "waking", "wakeup":
        line(a, cpu, "sched_%s: comm=%s pid=%d prio=120 target_cpu=%03d" % ((event,) + b + (to,)))


with open(out, "w", encoding="ascii") as f:
    f.write("# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#\n")
    switch(1, h, "S", idle[1])
    switch(0, idle[0], "R", ("trace-cmd", 11))
    if "LATE" in sys.argv:
        t += .3
        switch(0, ("trace-cmd", 11), "S", idle[0])
        t += .3
        wake(0, idle[0], ("trace-cmd", 11), 0)
        switch(0, idle[0], "R", ("trace-cmd", 11))
    t += 1e-5
    line(w, 0, "sched_process_exec: filename=/bin/w pid=11 old_pid=11")
    if "CHILD" in sys.argv:
        line(w, 0, "task_newtask: pid=13 comm=%s clone_flags=1200000 oom_score_adj=0" % keeper)
        line(w, 0, "sched_process_fork: comm=w pid=11 child_comm=%s child_pid=13" % keeper)
    for n in range(3000 if "MANY" in sys.argv else 300):
        t += own * 1e-6
        wake(0, w, h, 1)
        t += 2e-6
        switch(1, idle[1], "R", h)
        t += 5e-5
        if early:
            switch(1, h, "S", idle[1])
        switch(0, w, state, (keeper, 13) if keeper else idle[0])
        f.write("%20s [000] d..2. %.6f: <stack trace>\n => __schedule\n => schedule\n => mutex_lock\n => take_pipe\n"
                % ("w-11", t))
        t += (50 if keeper else us) * 1e-6 * r.lognormvariate(0, .2)
        if state == "S":
            wake(1, h, w, 0)
        t += us * 1e-6 if keeper else 2e-6
        switch(0, (keeper, 13) if keeper else idle[0], "R", w)
        t += 5e-6
        if not early:
            switch(1, h, "S", idle[1])
    t += 1e-5
    line(w, 0, "sched_process_exit: comm=w pid=11 prio=120")
    if "GONE" in sys.argv:
        switch(0, w, "X", idle[0])
        t += 1e-3
        switch(0, idle[0], "R", ("v", 14))
        t += 1e-3
        switch(0, ("v", 14), "S", idle[0])
        f.write("CPU:0 [LOST 9 EVENTS]\n")
        t += 1
        switch(0, idle[0], "R", ("v", 14))
    t += 1e-5
    switch(1, idle[1], "R", h)
END
}

# handled DB TEXT FRAMES: w's wake-ups of others become samples of a clock, in toil, which main calls, or, if FRAMES
# is 2, a handler that returns by __restore_rt
handled() {
	"$B" ingest -q -f -o "$1" "$2"
	sqlite3 "$1" "
CREATE TEMP TABLE m AS SELECT (SELECT max(id) FROM event_type) e, (SELECT max(id) FROM image) i, (SELECT count(*) FROM symbol) y,
	(SELECT max(id) FROM frame) f, (SELECT max(id) FROM stack) s, (SELECT max(id) FROM raw_chain) r;
INSERT INTO event_type SELECT e + 1, capture, 'cpu-clock', 'sample', 1, 0, sample_type, 1000000, 0, 1, 1, 1, 0, 0, 300,
	300000000, NULL, NULL, NULL, 'sample', 'ns' FROM event_type, m WHERE id = 1;
INSERT INTO image(id, kind, path) SELECT i + 1, 2, '/bin/w' FROM m;
INSERT INTO symbol(id, image, start, size, name) SELECT y + column1, i + 1, 64 * column1, 64, column2 FROM m,
	(VALUES (1, 'main'), (2, '__restore_rt'), (3, 'toil'));
INSERT INTO frame(id, image, off, flags, symbol, symoff) SELECT f + column1, i + 1, 64 * column1 + 16, 0, y + column1, 16
	FROM m, (VALUES (1), (2), (3));
INSERT INTO stack(id, parent, frame, depth) SELECT s + column1, s + column2, f + column1, column3 FROM m,
	(VALUES (1, NULL, 1), (2, 1, 2), (3, $3, $3 + 1));
INSERT INTO raw_chain(id, stack, addrs) SELECT r + 1, s + 3, zeroblob($3 + 1) FROM m;
UPDATE event SET type = e + 1, weight = 1000000, uraw = r + 1, payload = NULL FROM m WHERE thread =
	(SELECT id FROM thread WHERE tid = 11) AND type = (SELECT id FROM event_type WHERE name = 'sched:sched_waking');"
}

# first TEXT OPTION...: the first sentence of diff has it, wrapped or not
first() {
	want=$1
	shift
	"$B" diff "$@" 2>err | sed '/^A: /,$d' | tr '\n' ' ' >said
	grep -qF "$want" said || { cat said err; echo; false; }
}

for i in 1 2 3; do
	calls a$i.txt $i 100
	calls e$i.txt 1$i 100
	calls b$i.txt 2$i 150
	calls f$i.txt 3$i 100 fsync
	calls w$i.txt 4$i 100 EVEN
done
calls g.txt 81 800
first 'B spends more in syscall read, ' --latency a1.txt g.txt && grep -q 'average +[67][0-9][0-9]' said &&
	grep -q 'of one run a side, which tell little' said
ok "a_call_that_takes_longer_is_named" $?
first 'B spends more in syscall read, ' --latency syscall a?.txt -- b?.txt && grep -q 'intervals are by runs' said
ok "half_as_long_again_needs_several_runs" $?
first 'B spends more in syscall fsync, ' --latency a1.txt f1.txt && grep -q 'number none in A' said
ok "a_call_that_is_new_is_named" $?
first 'B spends more in syscall write, ' --latency a?.txt -- w?.txt && grep -q 'number +[89]\|number +1' said
ok "more_calls_are_named" $?
bad=0
for i in 1 2 3 4 5 6 7 8; do
	calls x.txt 5$i 100
	calls y.txt 6$i 100
	"$B" diff --latency --json x.txt y.txt >said 2>err
	grep -q 'nothing is proved' said && ! grep -q '"more"\|"less"' said || bad=$((bad + 1))
done
first 'nothing is proved to take longer in B' --latency a?.txt -- e?.txt || bad=$((bad + 1))
[ $bad = 0 ]
ok "equal_sides_are_not_said_to_differ" $?
calls l.txt 71 100 LOST
first 'B lost ' --latency a1.txt l.txt && grep -q 'nothing is proved' said && ! "$B" diff --latency --json a1.txt l.txt | grep -q '"less"'
ok "what_was_lost_is_no_change" $?

# ended STATUS WANT ARG...: diff ends so, with these words on standard error
ended() {
	status=$1
	want=$2
	shift 2
	"$B" diff "$@" >said 2>err
	[ "$?" = "$status" ] || return 1
	grep -q "$want" err || { cat err; false; }
}

ended 1 'read.txt' --latency read.txt a1.txt &&
	ended 2 'tables of their own' --latency syscall --off-cpu a1.txt b1.txt &&
	ended 2 'leave out --absolute' --latency --absolute a1.txt b1.txt &&
	ended 2 'leave out .*--match, ' --latency --match a=b a1.txt b1.txt &&
	ended 2 'leave out .*--inline, ' --latency --inline a1.txt b1.txt &&
	ended 2 'leave out .*--fold-library' --off-cpu --library x a1.txt b1.txt
ok "options_of_samples_are_refused" $?
ended 4 'grew by more than 5%: syscall read, +' --latency syscall --fail-above '5%' a?.txt -- b?.txt
ok "the_gate_fails" $?
"$B" diff --latency syscall --fail-above 5 a?.txt -- e?.txt >said 2>err && [ ! -s err ]
ok "the_gate_passes" $?
ended 4 'grew by more than 5 %: syscall fsync, none in A (p ' --latency syscall --fail-above 5 a?.txt -- f?.txt
ok "the_gate_names_what_is_new" $?
ended 4 'syscall read, +' --latency syscall --fail-above 5 --function '^syscall r' a?.txt -- b?.txt &&
	"$B" diff --latency syscall --fail-above 5 --function write a?.txt -- b?.txt >said 2>err && [ ! -s err ] &&
	ended 5 'function matches no row' --latency syscall --fail-above 5 --function fsync a?.txt -- b?.txt
ok "the_gate_is_of_the_rows_that_are_chosen" $?
ended 5 'cannot be judged: one run of a side' --latency syscall --fail-above 5 a1.txt e1.txt
ok "a_gate_of_one_run_cannot_be_judged" $?
ended 4 'syscall read, +' --latency syscall --fail-above 5 a1.txt g.txt
ok "but_what_is_proved_fails" $?

for i in 1 2 3; do
	waits s$i.txt $i 1000
	waits t$i.txt 1$i 1000
	waits u$i.txt 2$i 1500
done
first 'B spends more in ' --off-cpu s?.txt -- u?.txt && grep -q 'average +[45]' said
ok "a_wait_that_takes_longer_is_named" $?
first 'nothing is proved to take longer' --off-cpu s?.txt -- t?.txt
ok "equal_waits_are_not" $?
# as many waits, as long, but early in the recording or throughout
for n in 1 2 3 4 5 6
do
	awk -v n=$n 'function at(t, cpu, who, tid, state, next_who, next_tid) {
			printf "%.6f %20s [%03d] d..2. %.6f: sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120\n",
				t, (tid ? who : "<idle>") "-" tid, cpu, t, who, tid, state, next_who, next_tid
		}
		BEGIN {
			srand(n)
			for (i = 0; i < 200; i++) {
				at(t = 100 + n * .001 + i * (n % 2 ? .005 : .05), 0, "w", 11, "S", "swapper/0", 0)
				at(t + .001 + rand() * .0002, 0, "swapper/0", 0, "R", "w", 11)
				at(t = 100 + n * .001 + i * .05, 1, "v", 12, "S", "swapper/1", 0)
				at(t + .02, 1, "swapper/1", 0, "R", "v", 12)
			}
		}' | sort -n | {
		printf '# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#\n'
		cut -d' ' -f2-
	} >when$n.txt
done
first 'nothing is proved to take longer' --off-cpu --comm w when[246].txt -- when[135].txt &&
	"$B" diff --off-cpu --comm w --json when[246].txt -- when[135].txt 2>err | grep -q '"time_change":"",'
ok "waits_are_divided_by_the_time_of_the_recording" $?
# none of them is proved
first 'nothing is proved to take longer' --latency off-cpu s?.txt -- u?.txt
ok "what_may_be_several_is_no_change" $?
"$B" diff --off-cpu --woken-by --format csv s?.txt -- u?.txt >said 2>err && grep -q '"a cause that is not known","not known"' said
ok "who_ended_waits_has_rows" $?
ended 2 'did not begin with a program' --wall s1.txt u1.txt &&
	ended 2 'is of the program that a recording' --wall --all s1.txt u1.txt
ok "wall_needs_a_program" $?
for i in 1 2 3; do
	waits p$i.txt $i 50 500
	waits q$i.txt 1$i 50 500
	waits r$i.txt 2$i 50 900
done
first 'B has more of computing by itself, ' --wall p?.txt -- r?.txt && grep -q 'w took 9[.0-9]* ms in B, 5[.0-9]* ms in A on average, +[67][.0-9]* % (95 %: +[5-7]' said
ok "more_work_is_named_in_the_time_of_a_program" $?
first 'nothing is proved to take longer in B' --wall p?.txt -- q?.txt && grep -q 'nor B to be slower' said
ok "equal_programs_are_not" $?
# changed FILE...: the view of what the SQL of diff makes
changed() {
	"$B" diff --wall --format sql "$@" 2>err | sqlite3 sql.db && sqlite3 sql.db "SELECT kind, name, time_change FROM changed" >said
}
changed p?.txt -- r?.txt && [ "$(cat said)" = "computing|itself|more" ] && changed p?.txt -- q?.txt && [ ! -s said ]
ok "what_changed_is_a_view_in_SQL" $?
for i in 1 2 3; do
	waits v$i.txt 3$i 50 9000
done
first 'B has more of computing by itself, ' --wall p1.txt v1.txt && first 'nothing is proved to take longer in B' --wall p1.txt r1.txt
ok "of_one_run_a_side_only_a_large_change_is_one" $?
first 'B has more of computing by w, ' --wall --comm w p?.txt -- r?.txt && grep -q '^w took' said
ok "or_in_that_of_a_thread" $?

for i in 1 2 3; do
	locked i$i.txt $i 100
	locked ib$i.txt 1$i 100 '' S LATE
	locked j$i.txt 1$i 300
	locked k$i.txt 2$i 100 keep
	locked m$i.txt 3$i 600 keep
	locked z$i.txt 5$i 6000 keep
	locked zz$i.txt 6$i 6000 keep S MORE
	locked zy$i.txt 16$i 20000 keep S MORE
	locked zc$i.txt 7$i 6000 keep S CHILD
	locked mk$i.txt 10$i 100 keep S MORE
	locked ml$i.txt 11$i 100 keep S MANY
	locked mm$i.txt 12$i 100 '' S MORE
	handled mh$i.db mm$i.txt 2
	handled mm$i.db mm$i.txt 1
	waits wa$i.txt 13$i 50 500 4
	waits wb$i.txt 14$i 450 800 4
	waits wc$i.txt 15$i 450 500 4
	sed -i 's/wait_[0-3]/do_nanosleep/' wc$i.txt
	locked g$i.txt 8$i 100 "" S GONE
	locked gg$i.txt 9$i 300 "" S GONE
	locked n$i.txt 4$i 100 keep R
	locked o$i.txt 5$i 600 keep R
done
first 'B has more of computing by h<N>, while others waited for the lock of take_pipe, ' --wall i?.txt -- j?.txt
ok "who_held_a_lock_longer_is_named_with_it" $?
first 'B has more of computing by itself in a signal handler, ' --wall mm?.db -- mh?.db
ok "what_a_signal_handler_computes_is_named_though_it_has_no_frame" $?
"$B" diff --wall mk?.txt -- ml?.txt >said 2>err && grep -q ' more  ready behind other programs' said &&
	! sed '/^A: /,$d' said | grep -q 'of ready'
ok "a_program_that_asks_more_often_is_not_behind_others" $?
first 'B has more of waiting for an interrupt by itself in wait_' --wall wa?.txt -- wb?.txt
ok "what_was_waited_for_in_several_places_is_one_sum" $?
first 'B has more of in a timer by w in do_nanosleep, which may be idle, ' --wall --comm w wa?.txt -- wc?.txt
ok "timers_of_threads_may_be_idle" $?
first 'B has more of computing by h<N>, while' --wall --comm w g?.txt -- gg?.txt
ok "a_thread_that_ended_is_not_the_one_that_has_its_tid_then" $?
first 'w took 6' --wall --comm w i?.txt -- ib?.txt && grep -q 'in B, 6[.0-9]* ms in A' said && bad=0 || bad=1
for chosen in --comm=w --tid=11
do
	"$B" diff --off-cpu $chosen i?.txt -- ib?.txt >said 2>err && ! grep ' more \| less ' said || bad=1
done
[ $bad = 0 ]
ok "what_its_thread_did_before_the_program_is_not_the_program_s" $?
first 'B spends more in off-cpu w, ' --latency off-cpu i?.txt -- j?.txt && grep -q 'average +1[0-9][0-9]' said
ok "proved_waits_of_the_scheduler_have_a_length" $?
for i in 1 2 3; do
	sed 's/ => mutex_lock/ => futex_wait_queue\n => futex_wait\n => do_futex\n => __pthread_mutex_lock/; / => take_pipe/d' i$i.txt >fi$i.txt
	sed 's/ => mutex_lock/ => futex_wait_queue\n => futex_wait\n => do_futex\n => __pthread_mutex_lock/; / => take_pipe/d' j$i.txt >fj$i.txt
done
first 'B has more of computing by h<N>, while others waited for the lock of code that is not known, ' --wall fi?.txt -- fj?.txt
ok "a_lock_whose_taker_has_no_name_is_in_a_row_of_its_own" $?
first 'B has more of ready behind other programs by itself, most of it while the CPU ran keep, ' --wall k?.txt -- z?.txt
ok "who_had_the_CPU_is_named_and_that_it_is_another_program" $?
grep -q 'while other processes had 1.97 CPUs in B, 1.38 in A;' said
ok "and_how_much_others_had_in_all" $?
first 'B has more of ready by itself, most of it while the CPU ran keep, ' --wall k?.txt -- zc?.txt &&
	grep -q 'while other processes had 0.99 CPUs in B, 1.38 in A;' said
ok "what_the_program_itself_started_is_no_other_program" $?
first 'B has more of computing by itself, ' --wall k?.txt -- zz?.txt
ok "what_computes_more_is_behind_other_programs_too" $?
first 'B has more of computing by itself, ' --wall k?.txt -- zy?.txt && grep -q 'and of ready behind other programs by itself' said
ok "and_is_first_if_it_computes_more_rather_than_waits_longer_each_time" $?
"$B" diff --wall --format csv p?.txt -- i?.txt >said 2>err && grep -q '^0[.]0*,[0-9.]*,,' said
ok "what_one_side_has_none_of_is_shown_as_none" $?
n=0
for sides in "p1.txt i1.txt" "i1.txt p1.txt" "p?.txt -- i?.txt" "i?.txt -- p?.txt" "v1.txt k1.txt"; do
	for way in --wall --off-cpu --sched "--latency wake-up"; do
		n=$((n + 1))
		# shellcheck disable=SC2086 # words
		"$B" diff $way --json $sides >"json.$n" 2>err
	done
done
python3 -c 'import json, sys
for name in sys.argv[1:]:
    json.load(open(name), parse_constant=lambda c: sys.exit(name + " has " + c))' json.* >said 2>&1
is "and_its_json_has_no_infinite_number" "" "$(cat said)"
first 'B has more of computing by h<N>, while' i?.txt -- j?.txt
ok "plain_diff_says_first_what_the_time_went_to" $?
first 'B spends more in ready of w, ' --sched k?.txt -- m?.txt && grep -q 'average +' said
ok "a_thread_that_is_ready_longer_is_named" $?
"$B" diff --sched --format csv n?.txt -- o?.txt >said 2>err && grep -q ',preempted,w,keep,' said
ok "and_by_whom_it_was_preempted" $?
locked y1.txt 6 600 keep R EARLY
"$B" diff --sched --format csv n1.txt y1.txt >said 2>err && grep -q ',0,300,0,300,"","ready while another CPU was idle",w,' said
ok "a_CPU_that_was_idle_meanwhile_is_told" $?
"$B" diff --sched --format csv i?.txt -- j?.txt >said 2>err && ! grep -q '"more"' said
ok "equal_scheduling_is_not" $?
# twice as many writes: of each read there are more, of each write as many
first 'each syscall:read: ' --latency --per syscall:read a?.txt -- w?.txt && grep -q 'more in syscall write, ' said
ok "times_are_divided_by_what_is_asked_for" $?
first 'nothing is proved' --latency --per syscall:write a?.txt -- w?.txt
ok "so_that_more_requests_alone_are_no_change" $?
ended 2 "has none of 'syscall:none'" --latency --per syscall:none a?.txt -- w?.txt &&
	ended 2 'samples are of all threads' --per syscall a1.txt w1.txt
ok "nothing_is_divided_by_none" $?
# an event that is named as a kind and a name are
for n in 1 2
do
	awk -v n=$n 'BEGIN {
		print "# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:1\n#"
		for (i = 0; i < 20; i++) {
			printf "%20s [000] d.h1. 1.%06d: irq_handler_entry: irq=7 name=eth\n", "w-11", 100 * i + n
			printf "%20s [000] d.h1. 1.%06d: irq_handler_exit: irq=7 ret=handled\n", "w-11", 100 * i + 20 + n
		}
	}' >irqs$n.txt
done
"$B" diff --latency irq --per irq:irq_handler_entry --json irqs1.txt irqs2.txt >said 2>err && grep -q '"a_per_s":1.0*,' said &&
	"$B" diff --latency irq --per irq:eth --json irqs1.txt irqs2.txt 2>err | grep -q '"a_per_s":1.0*,'
ok "times_are_divided_by_an_event_that_is_called_as_a_kind" $?

# pictures of waits: futexes that take 40 % more, beside naps that do not
for i in 1 2 3 4 5 6
do
	stacked "k$i.txt" "$i" 1000
	stacked "l$i.txt" "1$i" 1400
	stacked "x$i.txt" "2$i" 1400 LOST
done
"$B" ingest -q --no-symbols -o clock.db "$root/tests/captures/pipe-zstd.data" 2>err &&
	sqlite3 clock.db "UPDATE event_type SET weight = events WHERE name = 'sched:sched_switch'" && cp clock.db again.db &&
	sqlite3 again.db 'UPDATE capture SET bytes = bytes + 1' && "$B" page --diff --wall clock.db again.db 2>err | grep -q '"times":true'
ok "a_page_compares_waits" $?
# one side alone has a disk: what its other side took is no number
for side in one other
do
	cat <<'END'
# tracer: nop
#
# entries-in-buffer/entries-written: 1/1   #P:1
prog-100   [000] d....  1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=prog next_pid=100 next_prio=120
prog-100   [000] .....  1.000010: sys_read(fd: 3, buf: 7ffe00, count: 100)
prog-100   [000] .....  1.000020: sys_read -> 0x10
END
	[ $side = one ] || printf '%s\n' \
		'prog-100   [000] d....  1.000030: irq_handler_entry: irq=11 name=virtio' \
		'prog-100   [000] d....  1.000040: irq_handler_exit: irq=11 ret=handled'
	echo 'prog-100   [000] d....  1.000050: sched_switch: prev_comm=prog prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120'
done | awk '/^# tracer/ { out = n++ ? "other.txt" : "one.txt" } { print >out }'
"$B" page --diff one.txt other.txt 2>err | python3 -c '
import json, re, sys
def never(word):
    raise ValueError(word)
at = re.search(r"<script type=\"application/json\" id=\"sides\">(.*?)</script>", sys.stdin.read(), re.S)
kinds = json.loads(at[1], parse_constant=never)["kinds"]
sys.exit(not [k for k in kinds if k[0] == "irq" and k[1][:3] == [0, 0, None] and k[2][0] == 1])'
ok "what_one_side_lacks_is_null_to_a_browser" $?
# pictured STATUS TEXT FILE...: of flame --diff --off-cpu; its titles are in said
pictured() {
	want=$1 text=$2
	shift 2
	"$B" flame --diff --off-cpu "$@" >picture.svg 2>err
	[ $? = "$want" ] && tr '\n' ' ' <picture.svg | sed 's/<title>/\n/g' | sed 's/<.*//' >said && { [ -z "$text" ] || grep -q -e "$text" err; }
}
pictured 4 '^grew by more than 5 %: futex_wait_queue, +' --fail-above 5 k?.txt -- l?.txt && ! grep -q nanosleep err
ok "a_picture_of_waits_names_the_longer_ones" $?
grep -q '^futex_wait_queue .* total: A [0-9,]* samples, B [0-9,]* samples; .* more (p ' said && grep -q '^do_nanosleep .* not significant' said
ok "and_tells_both_sides_of_each_wait" $?
pictured 0 '' --absolute k[12].txt -- l[12].txt && grep -q '^futex_wait_queue .*; of the runs [0-9.]* [mu]*s ± [0-9.]* [mun]*s and [0-9.]* [mu]*s ± [0-9.]* [mun]*s' said
ok "in_units_of_time_if_that_is_asked_for" $?
pictured 0 '' --fail-above 0 k[135].txt -- k[246].txt && pictured 0 '' --fail-above 0 k[246].txt -- k[135].txt
ok "equal_waits_have_no_color" $?
pictured 5 '^cannot be judged: .* +.* %: one run of a side' --fail-above 5 k1.txt l1.txt
ok "a_picture_of_one_run_a_side_proves_nothing" $?
# of calls, the kernel's function of each is what its width is of
for i in 1 2 3
do
	entered "c$i.txt" "$i" 3
	entered "d$i.txt" "1$i" 6
done
"$B" flame --diff --latency syscall --fail-above 5 c?.txt -- d?.txt >picture.svg 2>err
[ $? = 4 ] && grep -q '^grew by more than 5 %: .*sys_read, +' err && ! grep -q sys_write err
ok "a_picture_of_calls_names_the_longer_ones" $?
"$B" flame --diff --latency syscall --fail-above 0 c1.txt c3.txt -- c2.txt c1.txt >picture.svg 2>err
ok "and_not_equal_ones" $?
# every fifth wait for a futex has no end: it may be as long as it likes
pictured 0 '' --fail-above 0 k?.txt -- x?.txt
ok "waits_that_losses_hide_are_no_growth" $?
bad=0
for o in '--latency call' '--off-cpu --wakeups' '--off-cpu --by-state'
do
	# shellcheck disable=SC2086 # options
	"$B" flame --diff $o k1.txt l1.txt >/dev/null 2>err
	[ $? = 2 ] || bad=1
	grep -q 'leave out' err || bad=1
done
ok "what_has_no_comparison_is_refused" $bad

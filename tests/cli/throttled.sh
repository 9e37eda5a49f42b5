#!/bin/sh
# throttled.sh - a thread that its quota took off the CPU is not called ready.
# usage: BACKSTITCH=build/backstitch tests/cli/throttled.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

# Two CPUs. `victim` runs 10 ms of 200 ms on CPU 0, which is idle then but for a
# moment of `other`; `hog` and `neighbour` take turns of 50 ms on CPU 1. busy.txt:
# `other` has all the rest of CPU 0.
awk 'BEGIN {
	head = "# beside: clock=monotonic\n# tracer: nop\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n# entries-in-buffer/entries-written: 1/1   #P:2\n"
	for (busy = 0; busy < 2; busy++) {
		file = busy ? "busy.txt" : "run.txt"
		printf "%s", head >file
		switch_to(99.98, 0, "victim", "S", "other")
		switch_to(99.98, 1, "neighbour", "R", "hog")
		waking(99.99, 0, "other", "victim")
		waking(99.99, 1, "hog", "victim")
		if (!busy)
			switch_to(99.991, 0, "other", "S", "swapper/0")
		for (k = 0; k < 40; k++) {
			at = 100 + k * 0.05
			if (k % 4 == 0) {
				switch_to(at, 0, busy ? "other" : "swapper/0", "R", "victim")
				switch_to(at + 0.01, 0, "victim", "R", busy ? "other" : "swapper/0")
			}
			switch_to(at + 0.02, 1, k % 2 ? "neighbour" : "hog", "R", k % 2 ? "hog" : "neighbour")
			if (k % 4 == 2 && !busy) {
				waking(at + 0.021, 1, k % 2 ? "hog" : "neighbour", "other")
				switch_to(at + 0.022, 0, "swapper/0", "R", "other")
				switch_to(at + 0.023, 0, "other", "S", "swapper/0")
			}
		}
		close(file)
	}
}
function tid(name) {
	return name ~ /^swapper/ ? 0 : name == "victim" ? 100 : name == "hog" ? 200 : name == "neighbour" ? 201 : 300
}
function line(at, cpu, name) {
	printf "%16s [%03d] d....   %.6f: ", (tid(name) ? name : "<idle>") "-" tid(name), cpu, at >file
}
function switch_to(at, cpu, from, state, to) {
	line(at, cpu, from)
	printf "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120\n", from, tid(from), state, to, tid(to) >file
}
function waking(at, cpu, by, who) {
	line(at, cpu, by)
	printf "sched_waking: comm=%s pid=%d prio=120 target_cpu=000\n", who, tid(who) >file
}'
# readings NAME PERIODS THROTTLED NS FROZEN [TID]: by second, of cgroup /quota with
# the thread; PERIODS -: there is no such cgroup. hog and neighbour may use CPU 1.
readings() {
	awk -v per="$2" -v thr="$3" -v ns="$4" -v frozen="$5" -v tid="${6:-100}" 'BEGIN {
		print "# beside: clock=monotonic\n# tracer: nop"
		for (k = 0; k < 4; k++) {
			at = 99.9 + k
			if (per != "-") {
				printf "backstitch-50 [000] ..... %.6f: limits_cgroup: quota_us=10000 period_us=200000 periods=%d throttled=%d throttled_ns=%.0f frozen=%d path=/quota\n", at, per * k, thr * k, ns * k, frozen
				printf "backstitch-50 [000] ..... %.6f: limits_thread: tid=%d cpus=0-1 path=/quota\n", at, tid
			}
			for (pinned = 200; pinned < 202; pinned++)
				printf "backstitch-50 [000] ..... %.6f: limits_thread: tid=%d cpus=1 real_time=0 path=-\n", at, pinned
			printf "backstitch-50 [000] ..... %.6f: limits_read: took_ns=2000000 stolen_ns=%d cpus=0-1 real_time_us=950000 host=box\n", at + 0.001, k * 3000000
		}
	}' >"$1"
}
# tells NAME COMM SENTENCE CAPTURE...: of the longest wait, with its share
tells() {
	name=$1 comm=$2 want=$3
	shift 3
	"$B" ingest -q -f -o t.db "$@" >out 2>err &&
		"$B" path --comm "$comm" --worst 1 t.db >out 2>err
	tr -s ' \n' ' ' <out | sed 's/ proved / /g' | grep -qF "$want"
	bad=$?
	say "$name"
}
readings quota 5 5 950000000 0
readings unused 5 0 0 0
readings none - 0 0 0
readings frozen 0 0 0 1
readings brief 5 1 1000000 0
readings of_hog 5 5 950000000 0 200

tells a_throttled_thread_is_throttled victim \
	"100.00 % victim throttled 100.00 % on a premise ('--premises' has it), nothing lost in this time at us for us why proof 0.0 190000.0 victim is throttled by its cgroup /quota: 5 of 5 periods" run.txt quota
[ "$("$B" path --comm victim --worst 1 --json t.db | tr -d ' \n' |
	grep -c '"state":"throttled","proof":"proved".*"limits":{"known":false,"cgroup":"/quota","frozen":false,"periods":5,"throttled":5')" = 1 ]
ok the_same_in_json $?
"$B" sched t.db | tr -s ' ' | grep -q ' 100 victim .* 1.82 s$'
ok sched_has_it_apart $?
"$B" sched --format csv t.db | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i }
	/victim/ { exit !($col["ready_ns"] == 0 && $col["throttled_ns"] == 1822999000) }'
ok no_time_of_it_is_ready $?
"$B" report --off-cpu --comm victim t.db | grep -q ' 1.71 s .*throttled\|^1.71 s .*throttled'
ok off_cpu_says_what_it_waited_for $?
[ "$("$B" query --format csv t.db "SELECT DISTINCT state FROM state_interval
	WHERE comm = 'victim' AND ns > 100000000")" = "$(printf 'state\nthrottled')" ]
ok sql_has_the_same_word $?
"$B" page -o t.html t.db >out 2>err && grep -q '"throttled"' t.html
ok a_page_has_the_same_word $?
# of the host whose capture it is, which a redacted copy calls by another word
python3 -c 'import sqlite3; d = sqlite3.connect("t.db")
d.execute("UPDATE capture SET host = \"box\""); d.commit()'
"$B" bundle --redact -f -o copy.db t.db 2>/dev/null
"$B" sched copy.db | tr -s ' ' | grep -q ' 100 comm-[0-9]* .* 1.82 s$'
ok a_redacted_copy_has_it_too $?

tells without_readings_the_command_that_tells_is_said victim \
	"victim is not run, cause not recorded; 'backstitch record --waits' reads quotas" run.txt
tells without_a_quota_the_cause_is_not_recorded victim \
	"victim is not run, cause not recorded; the host took 3.00 ms of all CPUs" run.txt unused
tells a_frozen_cgroup_is_the_cause victim 'victim is not run: frozen with its cgroup /quota' run.txt frozen
tells a_quota_that_took_less_is_not_the_cause victim 'victim is not run, cause not recorded' run.txt brief
# nor is that of another machine: its readings are of one kernel with another capture
printf '# beside: clock=monotonic\n# tracer: nop\nx-7 [000] ..... 100.000000: mark: x=1\n' >there.txt
"$B" ingest -q -f --separate -o there.db run.txt quota there.txt 2>err
python3 -c 'import sqlite3
db = sqlite3.connect("there.db")
db.execute("UPDATE capture SET together = min(id, 2)")
db.commit()'
"$B" path --comm victim --worst 1 there.db 2>err | tr -s ' \n' ' ' >out
grep -qF 'victim is not run, cause not recorded' out
bad=$?
say a_quota_of_another_machine_is_not_the_cause
tells a_busy_cpu_may_have_been_the_cause victim '100.00 % likely' busy.txt quota

tells ready_behind_a_neighbour_has_a_premise neighbour \
	"100.00 % neighbour ready 100.00 % on a premise ('--premises' has it), nothing lost in this time at us for us why proof 0.0 50000.0 neighbour is ready if no quota held it and it may not use a CPU that was idle; CPU 1 is hog's" run.txt
"$B" sched t.db | grep -q '^longest ready if no quota held it and it may not use a CPU that was idle, and who'
ok sched_has_that_premise $?
# premises: what SQL and the JSON of sched say of what is ready
premises() {
	"$B" query --format csv t.db "SELECT DISTINCT proof, premise FROM state_interval
		WHERE comm = 'neighbour' AND state = 'ready' AND ns = 50000000" | tail -n +2
	"$B" sched --format json t.db | python3 -c "import json, sys
for t in json.load(sys.stdin)['threads']:
    if t['comm'] == 'neighbour':
        print(t['ready_premise_ns'] / t['ready_ns'])"
}
is sql_and_json_have_it '"proved with premise","quota, affinity" 1.0' "$(premises | paste -s -d " " -)"
tells with_readings_it_has_none neighbour "neighbour is ready, may only run on CPU 1; CPU 1 is hog's" run.txt none
"$B" sched t.db | grep -q '^longest ready, and who'
ok sched_has_none_then $?
is nor_have_sql_and_json '"proved with premise", 0.0' "$(premises | paste -s -d " " -)"
tells one_outside_of_the_cgroup_has_none neighbour "neighbour is ready, may only run on CPU 1; CPU 1 is hog's" run.txt quota
tells the_same_for_a_cpu_that_another_has victim "victim is ready if no quota held it; CPU 0 is other's" busy.txt
tells a_neighbour_of_a_throttled_one_is_ready neighbour "neighbour is ready, may only run on CPU 1; CPU 1 is hog's" run.txt of_hog


# sides NAME READINGS: two runs with these readings
sides() {
	for run in 1 2
	do
		for text in busy.txt "$2"
		do
			{ cat "$text" && printf "#%${run}s\n" x; } >"$1$text"
		done
		"$B" ingest -q -f -o "$1$run.db" "$1busy.txt" "$1$2" 2>err
	done
}
sides free none
sides held quota
sides also quota
sides else of_hog
sides short brief
# compared TEXT A B: what diff says first
compared() {
	"$B" diff --wall --comm victim "$2"?.db -- "$3"?.db 2>err | sed '/^A: /,$d' | tr '\n' ' ' >out
	grep -qF "$1" out
}
compared "B has more of throttled by its cgroup's quota, at most what the kernel counted for all its threads, 1.71 s instead of 0 ns each run" free held
ok a_quota_that_one_side_has_is_named $?
compared 'nothing is proved to take longer in B' held also
ok one_that_both_have_is_no_change $?
! compared quota free else && ! compared quota free short
ok nor_is_one_of_others_or_that_took_less $?

# which CPUs it may use, and what the kernel may hold back
sed '/tid=201 /d' none >free
tells one_that_may_use_an_idle_cpu_is_not_ready neighbour 'neighbour is not run, cause not recorded' run.txt free
sed 's/ cpus=0-1 real_time_us=950000//' free >older
tells readings_without_cpus_leave_a_premise neighbour \
	"neighbour is ready if it may not use a CPU that was idle; CPU 1 is hog's" run.txt older
is sql_has_that_premise '"proved with premise",affinity' "$(premises | sed -n 1p)"
sed 's/ cpus=0-1 real/ cpus=- real/' free >others
tells readings_that_do_not_see_all_threads_leave_it neighbour 'if it may not use a CPU that was idle' run.txt others
awk '/tid=201 / { if (n++ % 2) sub("cpus=1", "cpus=0") } 1' none >moved
tells cpus_that_changed_meanwhile_leave_it neighbour 'if it may not use a CPU that was idle' run.txt moved
sed '/tid=201 /s/real_time=0/real_time=1/' none >fifo
tells a_real_time_thread_has_a_premise_of_its_own neighbour \
	"neighbour is ready if real-time throttling did not hold it, may only run on CPU 1; CPU 1 is hog's" run.txt fifo
sed '/tid=201 /s/cpus=1 real_time=0/cpus=0-1 real_time=1/' none >anywhere
tells one_that_is_not_run_may_be_throttled_as_such neighbour \
	'neighbour is not run, cause not recorded; real-time throttling may hold it' run.txt anywhere
sed 's/950000/-1/' fifo >unlimited
tells it_has_none_if_nothing_holds_such_threads_back neighbour \
	"neighbour is ready, may only run on CPU 1; CPU 1 is hog's" run.txt unlimited
sed '/tid=201 /s/real_time=1/real_time=2/' unlimited >deadline
tells but_one_with_a_deadline_has_a_runtime_of_its_own neighbour \
	"neighbour is ready if real-time throttling did not hold it, may only run on CPU 1; CPU 1 is hog's" run.txt deadline
tells premises_of_others_are_not_changed_by_that neighbour \
	"neighbour is ready, may only run on CPU 1; CPU 1 is hog's" run.txt unlimited
"$B" path --comm neighbour --worst 1 --json t.db | tr -d ' \n' |
	grep -q '"limits":{"known":true,"cgroup":null,.*"cpus":"1","idle_cpu":null,"real_time":false}'
ok json_has_the_cpus $?

# what is not as 'record' writes it tells nothing, and ends nothing
bad=0
for how in 's/took_ns=2000000/took_ns=-5/' 's/took_ns=[0-9]*/took_ns=99999999999999999999/' \
	's/ host=box//' 's/took_ns=[0-9]*//' 's/limits_read/limits_raed/' \
	's/tid=100/tid=-1/' 's/tid=100/tid=4294967396/' 's/tid=100/tid=x/' \
	's/throttled_ns=[0-9]*/throttled_ns=-9223372036854775808/' \
	's/throttled=[0-9]*/throttled=/' 's/path=.*//' 's/cpus=0-1/cpus=9999999999999999999-,,-3/' \
	's/limits_thread/limits_cgroup/' 's/: limits.*/: limits_cgroup: x=1/'
do
	sed "$how" quota >odd
	rc=0
	"$B" ingest -q -f -o o.db run.txt odd >out 2>err || rc=$?
	[ "$rc" = 0 ] || [ "$rc" = 3 ] || { bad=1 && break; }
	"$B" path --comm victim --worst 1 o.db >out 2>err || { bad=1 && break; }
	"$B" sched o.db >out 2>err || { bad=1 && break; }
	case $how in
	*cpus*) ;;
	*) ! grep -q Throttled out || { bad=1 && break; } ;;
	esac
done
[ "$bad" = 0 ] || echo "# $how"
say damaged_readings_tell_nothing
awk 'NR > 2 { for (i = 0; i < 300; i++) { sub(/tid=[0-9]*/, "tid=" i); print } } NR < 3' quota >many
tells three_hundred_lists_of_a_thread_are_read victim 'victim is' run.txt many

# other tests have an sh at the same time: it has a name of its own here
# two that taskset binds to one CPU, as the kernel has it; needs root and perf
cp "$(command -v sh)" burner
cat >pinned.sh <<'END'
cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
echo "$cpu" >cpu
for i in 1 2
do
	taskset -c "$cpu" timeout 1 ./burner -c 'while :; do :; done' &
done
wait
END
if [ "$(id -u)" = 0 ] && command -v perf >/dev/null && [ "$(nproc)" -gt 1 ] &&
	[ -r /sys/kernel/tracing/events/sched/sched_switch/id ]
then
	timeout 120 "$B" record --waits -o pinned.data -- sh pinned.sh >out 2>err
	"$B" path --comm burner --worst 1 pinned.db 2>err >out
	tr -s ' \n' ' ' <out | sed 's/ proved / /g; s/ likely / /g' | grep -q "is ready, may only run on CPU $(cat cpu);" &&
		"$B" sched --format csv pinned.db | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i }
			$3 == "burner" { n++; not_run += $col["not_run_ns"]; ready += $col["ready_ns"] }
			END { exit !(n == 2 && !not_run && ready > 100000000) }' &&
		! "$B" path --comm burner --worst 3 pinned.db | grep -q 'not run'
	bad=$?
	say two_that_are_bound_to_one_cpu_are_ready_for_that_one

	# 4 ms of each 20, as the kernel takes it: SCHED_DEADLINE
	cp burner late
	set -- chrt --deadline --sched-runtime 4000000 --sched-deadline 20000000 --sched-period 20000000 0
	if "$@" true 2>/dev/null
	then
		timeout 120 "$B" record --waits -o late.data -- timeout 1 "$@" ./late -c 'while :; do :; done' >out 2>err
		"$B" path --comm late --worst 1 late.db 2>err >out
		tr -s ' \n' ' ' <out | sed 's/ proved / /g' | grep -q 'real-time throttling'
		bad=$?
		say one_that_used_up_its_runtime_is_not_said_to_be_ready
	else
		echo "skip: a thread with a deadline (the kernel allows none)"
	fi
else
	echo "skip: threads that are bound to a CPU (needs root, perf, tracefs and two CPUs)"
fi

# the real one: needs root, a cgroup of CPU time that may be made, and perf
real=/sys/fs/cgroup/cpu
[ -d $real ] || real=/sys/fs/cgroup
group=$real/backstitch-test-$$
if [ "$(id -u)" != 0 ] || ! command -v perf >/dev/null || ! mkdir $group 2>/dev/null
then
	echo "skip: a quota that is recorded (needs root, perf and cgroups)"
	exit
fi
trap 'rmdir $group 2>/dev/null; rm -rf "$work"' EXIT
if ! { echo 200000 >$group/cpu.cfs_period_us && echo 10000 >$group/cpu.cfs_quota_us; } 2>/dev/null &&
	! echo '10000 200000' >$group/cpu.max 2>/dev/null
then
	echo "skip: a quota that is recorded (no quota may be set)"
	exit
fi
cat >burn.sh <<END
echo \$\$ >$group/cgroup.procs
i=0
while [ \$i -lt 400000 ]
do i=\$((i + 1))
done
END
timeout 120 "$B" record --waits --for 4s -o real.data -- ./burner burn.sh >out 2>err
grep -q 'limits_cgroup: quota_us=10000 .*path=/backstitch-test' real.data.cgroups &&
	grep -q 'limits_thread: tid=.*path=/backstitch-test' real.data.cgroups
bad=$?
say record_reads_the_quota_and_its_threads
# on a busy machine the longest one may be for a CPU
"$B" path --comm burner --worst 10 real.db 2>err >out
tr -s ' \n' ' ' <out | sed 's/ proved / /g; s/ likely / /g' |
	grep -q '% burner.* throttled.*throttled by its cgroup /backstitch-test'
bad=$?
say path_says_throttled_of_a_recorded_quota

# version 2: a frozen cgroup of a real hierarchy, and, as the controller of CPU time
# may be bound to version 1, files of one in a folder made over it
cat >two.sh <<'END'
sleep 600 &
pid=$!
# record reads three hierarchies at most, so that none of the others may be left
mount --make-rprivate /
for _ in 1 2 3 4 5 6 7 8 9 10
do
	left=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2\{0,1\} .*/\1/p' /proc/self/mounts)
	[ "$left" ] || break
	umount -l $left
done
[ -z "$left" ] || exit 77
mkdir -p two && mount -t cgroup2 none two && mkdir "two/test-$$" || exit 77
echo $pid >"two/test-$$/cgroup.procs" && echo 1 >"two/test-$$/cgroup.freeze"
"$B" record --waits -o frozen.data -- sleep 0.1 >out 2>err
echo 0 >"two/test-$$/cgroup.freeze"
echo $pid >two/cgroup.procs
rmdir "two/test-$$"
mount -t tmpfs none two && mkdir -p two/a/b || exit 77
echo '10000 200000' >two/a/cpu.max
echo 'max 100000' >two/a/b/cpu.max
printf 'usage_usec 9\nnr_periods 7\nnr_throttled 5\nthrottled_usec 900000\n' >two/a/cpu.stat
echo $pid >two/a/b/cgroup.threads
"$B" record --waits -o made.data -- sleep 0.1 >out 2>err
kill $pid
END
rc=0
B=$B unshare -m sh two.sh 2>err || rc=$?
if [ $rc = 77 ] || ! command -v unshare >/dev/null
then
	echo "skip: version 2 (no hierarchy of it may be mounted: $(tail -n 1 err))"
	exit
fi
grep -q 'limits_cgroup: .* frozen=1 path=/test-' frozen.data.cgroups &&
	grep -q 'limits_thread: tid=[0-9]* cpus=0.* path=/test-' frozen.data.cgroups
bad=$?
say record_reads_a_frozen_cgroup_of_version_2
grep -q 'limits_cgroup: quota_us=10000 period_us=200000 periods=7 throttled=5 throttled_ns=900000000 frozen=0 path=/a$' made.data.cgroups &&
	grep -q 'limits_thread: tid=[0-9]* cpus=0.* path=/a$' made.data.cgroups &&
	! grep -q 'path=/a/b' made.data.cgroups
bad=$?
grep 'limits_.*path=/' made.data.cgroups >out
say record_reads_a_quota_of_version_2_for_those_below_it

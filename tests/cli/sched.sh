#!/bin/sh
# sched.sh - what each thread did: sums that can be added up again, and never more than was.
# usage: BACKSTITCH=build/backstitch tests/cli/sched.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

for name in chain lock sock
do
	"$B" ingest -q --no-symbols -o "$work/$name.db" \
		"tests/causality/captures/$name.data.zst"
done
"$B" ingest -q --no-symbols -o "$work/ftrace.db" tests/captures/ftrace-v7.dat

# the same by pairs of switches and wake-ups, which is right where nothing is lost
cat >"$work/pairs.py" <<'END'
import collections
import json
import sqlite3
import subprocess
import sys

program, *dbs = sys.argv[1:]
checked = collections.Counter()
for path in dbs:
    got = json.loads(subprocess.run(
        [program, "report", "--sched", "--json", "--limit", "0", path],
        capture_output=True, check=True, text=True).stdout)
    db = sqlite3.connect(path)
    records = db.execute("""
        SELECT e.id, e.time_ns, e.cpu, s.prev_pid, s.next_pid, s.prev_state
        FROM ev_sched_sched_switch s JOIN event e ON e.id = s.event_id
        UNION ALL SELECT e.id, e.time_ns, e.cpu, NULL, w.pid, 1
        FROM ev_sched_sched_waking w JOIN event e ON e.id = w.event_id
        UNION ALL SELECT e.id, e.time_ns, e.cpu, NULL, w.pid, 0
        FROM ev_sched_sched_wakeup_new w JOIN event e ON e.id = w.event_id
        ORDER BY 1""").fetchall()
    since, ready, last, raced = {}, {}, {}, set()
    sums = collections.defaultdict(collections.Counter)
    for _, time, cpu, prev, next_, state in records:
        if prev is None:
            sums[next_]["woken"] += state
            if next_ in since:
                raced.add(next_)
            else:
                ready.setdefault(next_, time)
            continue
        if prev in since:
            sums[prev]["run"] += time - since.pop(prev)
        if not state & 0xff or prev in raced:
            ready[prev] = time
        raced.discard(prev)
        sums[next_]["runs"] += 1
        sums[next_]["moves"] += last.get(next_, cpu) != cpu
        last[prev] = last[next_] = cpu
        if next_ in ready:
            ns = time - ready.pop(next_)
            sums[next_]["ready"] += ns
            sums[next_]["max"] = max(sums[next_]["max"], ns)
        since[next_] = time
    for t in got["threads"]:
        want = sums[t["tid"]]
        parts = sum(t[k] for k in ("run_ns", "ready_ns", "blocked_ns",
                                   "off_ns", "unknown_ns"))
        assert parts <= got["to_ns"] - got["from_ns"], t
        assert t["max_ns"] <= t["ready_ns"], t
        assert t["max_behind_ns"] <= t["max_ns"], t
        assert t["runs"] == want["runs"], (path, t, want)
        # one may be before the first switch, with which the time begins
        assert 0 <= want["woken"] - t["woken"] <= 1, (path, t, want)
        # where it was before the first switch, other records may tell
        assert 0 <= t["moves"] - want["moves"] <= 1, (path, t, want)
        checked["threads"] += 1
        # a thread that was on a CPU at either end ran a little more there
        if t["run_ns"] == want["run"]:
            checked["run"] += 1
        else:
            assert t["run_ns"] > want["run"], (path, t, want)
        # a thread that was on its way when the records began is not known; of
        # a recorder not all wake-ups are there
        assert t["comm"] in ("perf", "trace-cmd") or want["ready"] - t["unknown_ns"] <= t["ready_ns"] <= \
            want["ready"], (path, t, want)
        if t["ready_ns"] == want["ready"] and t["max_ns"] == want["max"]:
            checked["ready"] += 1
    assert got["ns"] == sum(
        t[k] for t in got["threads"]
        for k in ("run_ns", "ready_ns", "blocked_ns", "off_ns", "unknown_ns"))
    for t in got["threads"]:
        assert t["blocked_ns"] == sum(
            b["ns"] for b in got["blocked"] if b["tid"] == t["tid"]), t
assert checked["threads"] == 47 and checked["run"] >= 42, checked
assert checked["ready"] >= 34, checked
END
python3 "$work/pairs.py" "$B" "$work"/*.db >"$work/said" 2>&1
rc=$?
[ $rc = 0 ] || sed 's/^/    /' "$work/said"
ok "sums_are_those_of_pairs_where_nothing_is_lost" $rc

# what is taken away makes nothing more
cat >"$work/less.py" <<'END'
import json
import random
import subprocess
import sys

sys.path.insert(0, "tests/causality")
import lose
import perfdata

program, folder = sys.argv[1:]

def sums(path):
    r = subprocess.run([program, "report", "--sched", "--json", "--limit", "0",
                        "--no-symbols", path], capture_output=True, text=True)
    if r.returncode:
        return {}
    return {t["tid"]: t for t in json.loads(r.stdout)["threads"]}

less = 0
for name in ("chain", "lock", "sock"):
    made = perfdata.Capture("tests/causality/captures/" + name)
    path = folder + "/whole.data"
    made.write(path, lose.keep(made.records, set(), set()))
    whole = sums(path)
    assert len(whole) > 5
    for kind in ("single", "bursts", "masks", "tail", "one_cpu"):
        for seed in range(2):
            rng = random.Random("%s %s %d" % (name, kind, seed))
            lost, missing = lose.KINDS[kind](rng, made.records)
            path = folder + "/less.data"
            made.write(path, lose.keep(made.records, lost, missing))
            for tid, t in sums(path).items():
                for key in ("run_ns", "ready_ns", "blocked_ns", "runs", "woken",
                            "moves", "max_ns"):
                    assert t[key] <= whole[tid][key], (name, kind, seed, key,
                                                       t, whole[tid])
                less += t["run_ns"] < whole[tid]["run_ns"]
assert less > 20, less
END
python3 "$work/less.py" "$B" "$work" >"$work/said" 2>&1
rc=$?
[ $rc = 0 ] || sed 's/^/    /' "$work/said"
ok "losses_make_no_sum_larger" $rc

# ---- what is asked for
json() {	# json EXPRESSION: of the answer, r
	python3 -c 'import json, sys
r = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"
}

sched() {
	"$B" sched --json --limit 0 "$@"
}

db=$work/lock.db
[ "$(sched --comm 'own*,waiter' "$db" |
	json 'sorted(t["comm"] for t in r["threads"])')" = \
	"['owner', 'waiter']" ] &&
	[ "$(sched --pid 11691 "$db" | json 'len(r["threads"])')" = 2 ] &&
	[ "$(sched --tid 11693 "$db" | json 'len(r["threads"])')" = 1 ]
ok threads_are_chosen_by_comm_pid_and_tid $?
sched "$db" >"$work/all"
sched --time ,4533.54 "$db" >"$work/first"
sched --time 4533.540001 "$db" >"$work/second"
python3 - "$work/all" "$work/first" "$work/second" <<'END'
import json
import sys

whole, *parts = [json.load(open(f)) for f in sys.argv[1:]]
keys = ("run_ns", "ready_ns", "blocked_ns", "unknown_ns", "runs", "woken")
for t in whole["threads"]:
    for k in keys:
        both = sum(p[k] for r in parts for p in r["threads"]
                   if p["tid"] == t["tid"])
        assert both == t[k], (k, both, t)
assert parts[0]["to_ns"] == parts[1]["from_ns"] == 4533540001000
END
ok two_times_add_up_to_both $?
sched -C 0 "$db" >"$work/0"
sched -C 1 "$db" >"$work/1"
python3 - "$work/all" "$work/0" "$work/1" <<'END'
import json
import sys

whole, *parts = [json.load(open(f)) for f in sys.argv[1:]]
for k in ("run_ns", "runs", "moves"):
    assert sum(t[k] for t in whole["threads"]) == \
        sum(t[k] for r in parts for t in r["threads"]), k
END
ok runs_of_all_cpus_add_up $?
for order in max average ready run blocked runs woken moves unknown
do
	case $order in
	max | average | ready | run | blocked | unknown) key=${order}_ns ;;
	*) key=$order ;;
	esac
	[ "$(sched --order $order "$db" | json "(lambda v: v == sorted(v,
reverse=True) and v[0] > 0)([t['$key'] for t in r['threads']])")" = True ] ||
		echo "$order"
done >"$work/bad"
[ ! -s "$work/bad" ]
ok rows_are_in_the_order_asked_for $?
"$B" sched --limit 3 "$db" >"$work/text"
sed -n 1p "$work/text" | grep -q '^11 threads in .*% of their time proved' &&
	grep -q '8 more threads not shown' "$work/text" &&
	! awk 'length > 96' "$work/text" | grep -q .
ok the_first_line_says_how_far_it_is_proved $?

# what --time takes is printed, and is the time in question
when=$(awk '$3 ~ /^[0-9.]*,/ { print $3; exit }' "$work/text")
[ "$(sched --time "$when" --comm waiter "$db" |
	json 'r["threads"][0]["max_ns"]')" = "$(sched --comm waiter "$db" |
	json 'r["threads"][0]["max_ns"]')" ]
ok the_longest_time_can_be_pasted $?

# for view: the JSON of a row is in front of it
BACKSTITCH_ROWS=1 "$B" sched --limit 0 "$db" >"$work/told"
"$B" sched --limit 0 "$db" >"$work/text"
grep -c '^{.*"tid":' "$work/told" >"$work/n" && [ "$(cat "$work/n")" -gt 3 ] &&
	sed 's/^{[^	]*}	//' "$work/told" | cmp -s - "$work/text" &&
	sed -n 's/^{.*"tid":\([0-9]*\).*\t *\([0-9]*\) .*/\1 \2/p' "$work/told" |
	awk '$1 != $2 { bad = 1 } END { exit bad || NR < 3 }'
ok a_row_can_have_its_json_in_front $?

# refused NAME WORDS OPTION...
refused() {
	name=$1
	words=$2
	shift 2
	"$B" report "$@" "$db" >/dev/null 2>"$work/err"
	[ $? = 2 ] && grep -qF -- "$words" "$work/err"
	ok "$name" $?
}

refused other_tables_are_not_mixed_in 'leave out --off-cpu' --sched --off-cpu
refused options_of_another_table_name_it "for 'backstitch diff'" --absolute
refused functions_have_another_order 'max, average' --sched --order self
refused threads_have_another_order 'one of self, total' --order max
refused a_time_without_records_is_named 'no records of the scheduler' \
	--sched --time 1,2
refused an_unknown_thread_is_named 'no thread named' --sched --comm nobody
"$B" sched tests/captures/fp-1.data >/dev/null 2>"$work/err"
[ $? = 1 ] && grep -q 'sched:sched_waking' "$work/err"
ok a_capture_without_switches_says_what_to_record $?

# a capture of one process names others in its switches
task=$work/task.db
"$B" ingest -q --no-symbols -o "$task" tests/captures/task-exitexec.data
"$B" query --format csv "$task" "SELECT f.next_pid, max(f.next_comm) || '|' ||
	CAST(f.event_id AS TEXT) FROM ev_sched_sched_switch f WHERE f.next_pid > 0
	AND f.next_pid NOT IN (SELECT tid FROM thread) GROUP BY 1" | sed 1d >"$work/foreign"
"$B" sched --limit 0 "$task" >"$work/out"
"$B" sched --json --limit 0 "$task" >"$work/some"
[ "$(json 'r["others"]' <"$work/some")" = "$(wc -l <"$work/foreign")" ] &&
	grep -q "^not shown: $(wc -l <"$work/foreign") threads that only switches of these name\$" "$work/out" &&
	[ "$(json 'sum(not t["comm"] for t in r["threads"])' <"$work/some")" = 0 ]
ok threads_that_were_not_recorded_are_counted $?
[ "$(grep -c ' -  *[0-9]*  -  *-  *-  *-  *[0-9.]* ms$' "$work/out")" = \
	"$(json 'len(r["threads"])' <"$work/some")" ]
ok what_is_not_known_is_not_0 $?
tid=$(sed -n '1s/,.*//p' "$work/foreign")
comm=$(sed -n '1s/.*,"*\(.*\)|.*/\1/p' "$work/foreign")
"$B" path --tid "$tid" --time 0,999999999 "$task" >"$work/out" 2>"$work/err"
[ "$comm" ] && grep -q "^$comm ($tid) took " "$work/out"
ok a_thread_is_named_by_the_switch_to_it $?

# every key is in the manual
python3 - "$work/all" <<'END'
import json
import re
import sys

page = open("man/backstitch-json.5").read()
page = page[page.index(".Sh SCHED"):page.index(".Sh DATA OF THE PAGE")]
r = json.load(open(sys.argv[1]))
keys = set(r) | set(r["threads"][0]) | set(r["blocked"][0])
missing = [k for k in sorted(keys - {"version"})
           if not re.search(r"\b%s\b" % k, page)]
print("\n".join("backstitch-json(5) lacks " + k for k in missing))
sys.exit(bool(missing))
END
ok every_key_of_json_is_in_the_manual $?

#!/bin/sh
# path.sh - chains of waits: their options, and that they cover the time asked for.
# usage: BACKSTITCH=build/backstitch tests/cli/path.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

for name in ftrace-v7.dat ftrace-missed.dat.zst pipe-zstd.data ftext-verbose.txt.gz
do
	db=$work/${name%%.*}.db
	"$B" ingest -q --no-symbols -o "$db" "tests/captures/$name" 2>/dev/null
	"$B" path --idle --worst 30 --json "$db" >"$work/json" &&
		[ "$(of_json "$work/json" 'len(r["chains"]) > 2 and all(
[c["from_ns"]] + [s["to_ns"] for s in c["segments"]]
== [s["from_ns"] for s in c["segments"]] + [c["to_ns"]]
and all(s["from_ns"] < s["to_ns"] for s in c["segments"])
and sum(s["ns"] for s in c["sums"]) == c["to_ns"] - c["from_ns"]
and {e for s in c["segments"] for e in s["edges"]}
== {e["id"] for e in c["edges"]}
for c in r["chains"])')" = True ]
	ok "chains_of_${name%%.*}_cover_their_time" $?
	"$B" path --idle --limit 0 --waits --json "$db" >"$work/json"
	python3 - "$work/json" "$db" <<'END'
import json
import sqlite3
import sys

waits = json.load(open(sys.argv[1]))["waits"]
db = sqlite3.connect(sys.argv[2])
lost = db.execute("SELECT count(*) FROM loss").fetchone()[0]
bad = [w for w in waits if w["ns"] != w["to_ns"] - w["from_ns"]
       or not 0 <= w["proved_percent"] <= 100]
if bad or not waits:
    print(bad[:3], lost)
    sys.exit(1)
END
	ok "waits_of_${name%%.*}_have_a_length" $?
done

# a whole capture: what it proves agrees with what --proved leaves
db=$work/ftrace-v7.db
comm=$("$B" path --json --limit 1 "$db" | python3 -c '
import json, sys
print(json.load(sys.stdin)["waits"][0]["comm"])')
"$B" path --blame "$comm" --json "$db" >"$work/blame"
"$B" path --comm "$comm" --tree --json "$db" >"$work/tree"
[ "$(of_json "$work/blame" 'len(r["blame"]) > 1')" = True ] &&
	[ "$(of_json "$work/tree" 'len(r["tree"]) > 1')" = True ]
ok "blame_and_tree_have_rows" $?
"$B" path --worst 1 "$db" >"$work/text"
sed -n 1p "$work/text" | grep -q ' took .*%' && grep -q '^[0-9.]* % proved' "$work/text" && grep -q '^    at us' "$work/text" &&
	! awk 'length > 80' "$work/text" | grep -q .
ok "a_chain_begins_with_how_far_it_is_proved" $?
"$B" path --worst 6 --premises tests/causality/captures/sock.data.zst >"$work/text" &&
	tr '\n' ' ' <"$work/text" | grep -q ' softirqs that threads ran, and ready if no quota held it, nothing lost' &&
	! grep -q -- --premises "$work/text" &&
	! awk 'length > 80' "$work/text" | grep -q .
ok "a_long_first_line_is_broken" $?
"$B" path --tid 1 --time 5,4 "$db" 2>&1 | grep -q 'FROM below TO' &&
	"$B" path --depth -1 "$db" 2>&1 | grep -q 'needs a number from 0 on' &&
	"$B" path --tid -2 "$db" 2>&1 | grep -q 'needs a number from 0 on'
ok "a_wrong_time_or_number_is_told_why" $?
# a name whose letters have two bytes each
cat >"$work/utf8.txt" <<'END'
# tracer: nop
#
# entries-in-buffer/entries-written: 5/5   #P:1
#
 other-6 [000] d..2. 1.000090: sched_switch: prev_comm=other prev_pid=6 prev_prio=120 prev_state=R ==> next_comm=тест next_pid=5 next_prio=120
 тест-5 [000] d..2. 1.000100: sched_switch: prev_comm=тест prev_pid=5 prev_prio=120 prev_state=S ==> next_comm=other next_pid=6 next_prio=120
 other-6 [000] d..2. 1.000200: sched_waking: comm=тест pid=5 prio=120 target_cpu=000
 other-6 [000] d..2. 1.000290: sched_switch: prev_comm=other prev_pid=6 prev_prio=120 prev_state=R ==> next_comm=тест next_pid=5 next_prio=120
 тест-5 [000] d..2. 1.000400: sched_switch: prev_comm=тест prev_pid=5 prev_prio=120 prev_state=S ==> next_comm=other next_pid=6 next_prio=120
END
"$B" path --worst 1 --tid 5 "$work/utf8.txt" >"$work/text"
python3 - "$work/text" <<'END'
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
lines = re.findall(r"(?m)^ +(?:at us|[\d.]+) .* pro(?:of|ved)$", text)
places = {s.rindex(" pro") for s in lines}
sys.exit(not (len(lines) == 3 and len(places) == 1 and "тест" in lines[1]))
END
ok "the_proof_is_below_its_head_whatever_the_names" $?
# who has the CPU when a thread is woken, and may not have it until that runs
turns() {
	cat <<END | grep . >"$work/turns.txt"
# tracer: nop
#
# entries-in-buffer/entries-written: 5/5   #P:1
#
 waiter-5 [000] d..2. 1.000100: sched_switch: prev_comm=waiter prev_pid=5 prev_prio=120 prev_state=S ==> next_comm=other next_pid=6 next_prio=120
 other-6 [000] d..2. 1.000200: sched_waking: comm=waiter pid=5 prio=120 target_cpu=000
 other-6 [000] d..2. 1.000210: sched_switch: prev_comm=other prev_pid=6 prev_prio=120 prev_state=R ==> next_comm=$1 next_prio=120
$2
 waiter-5 [000] d..2. 1.000400: sched_switch: prev_comm=waiter prev_pid=5 prev_prio=120 prev_state=S ==> next_comm=other next_pid=6 next_prio=120
END
	"$B" path --worst 1 --tid 5 "$work/turns.txt" | tr -s ' \n' ' ' |
		sed 's/ proved / /g' |
		grep -o "waiter is ready if no quota held it; CPU 0 is other's\( at first\)*"
}
is the_cpu_is_of_one_thread "waiter is ready if no quota held it; CPU 0 is other's" \
	"$(turns 'waiter next_pid=5' '')"
is or_of_one_at_first "waiter is ready if no quota held it; CPU 0 is other's at first" \
	"$(turns 'third next_pid=7' ' third-7 [000] d..2. 1.000280: sched_switch: prev_comm=third prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=waiter next_pid=5 next_prio=120')"
# 2^32 + 1 wake-ups are all of them, not one
"$B" path --worst 3 --depth 4294967297 "$db" >"$work/deep" &&
	"$B" path --worst 3 "$db" | cmp - "$work/deep" &&
	! "$B" path --worst 3 --depth 1 "$db" | cmp -s - "$work/deep"
ok "a_depth_that_no_chain_has_follows_all" $?
"$B" path --worst 1 --min 100000 "$db" | grep -q 'short piece'
ok "short_pieces_are_summed" $?

# of a recording that began with a program, it is told first
"$B" path "$root/tests/causality/captures/lock.data.zst" >"$work/text" &&
	head -n 1 "$work/text" | grep -q '^waiter (11691) took 53.4 ms: ' &&
	! awk 'seen && $3 ~ /^[0-9.]*,/ { print $4, $5 } /^Took/ { seen = 1 }' \
		"$work/text" | grep -q ' perf$'
ok the_program_of_a_recording_comes_first $?
"$B" path --all "$root/tests/causality/captures/lock.data.zst" >"$work/all" &&
	! cmp -s "$work/text" "$work/all" && ! grep -q ' took ' "$work/all"
ok and_all_has_no_program $?

# why a thread waited is told in 80 columns too, and where it waited is not
COLUMNS=80 "$B" path --all "$root/tests/causality/captures/lock.data.zst" >"$work/narrow"
grep '^Took' "$work/narrow" | grep 'Because$' | grep -vq ' In '
ok the_cause_is_in_a_narrow_list $?

# what the list of waits shows can be pasted
"$B" path --limit 1 "$db" >"$work/text"
when=$(awk '$3 ~ /^[0-9.]*,/ { print $3, $4; exit }' "$work/text")
"$B" path --time "${when% *}" --tid "${when#* }" --json "$db" >"$work/json"
"$B" path --limit 1 --json "$db" >"$work/one"
python3 - "$work/json" "$work/one" <<'END'
import json
import sys

chain, wait = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
wait = wait["waits"][0]
assert chain["thread"]["tid"] == wait["tid"]
assert 0 <= wait["from_ns"] - chain["from_ns"] < 1000
assert 0 <= chain["to_ns"] - wait["to_ns"] < 1000
END
ok what_the_list_shows_can_be_pasted $?

# the tables for SQL are the same numbers
"$B" ingest -q --no-symbols -o "$work/lock.db" \
	tests/causality/captures/lock.data.zst
cat >"$work/sql.py" <<'END'
import json
import subprocess
import sys

def ours(*words):
    return json.loads(subprocess.run([program, *words, db], check=True,
                                     capture_output=True, text=True).stdout)

def rows(sql):
    return json.loads(subprocess.run(
        [program, "query", "--json", db, sql], check=True,
        capture_output=True, text=True).stdout)["rows"]

program = sys.argv[1]
found = 0
for db in sys.argv[2:]:
    waits = ours("path", "--waits", "--idle", "--limit", "0", "--json")["waits"]
    got = rows("SELECT *, 100.0 * proved_ns / ns AS percent FROM wait")
    assert len(got) == len(waits) > 0, db
    by = {(w["tid"], w["t0"]): w for w in got}
    for w in waits:
        o = by[w["tid"], w["from_ns"]]
        assert (w["to_ns"], w["ns"], w["comm"], w["state"], w["function"]) == \
            (o["t1"], o["ns"], o["comm"], o["state"], o["function"] or ""), w
        assert w["because"].startswith(tuple(
            "%s%s %s " % (o["by_comm"], tid, o["by_state"])
            for tid in ("", " (%s)" % o["by_tid"]))), (w, o)
        assert abs(w["proved_percent"] - o["percent"]) < 1e-5, (w, o)
        assert o["ns"] == sum(o[k] for k in (
            "blocked_ns", "ready_ns", "off_ns", "unknown_ns")), o
        assert 0 < o["by_ns"] <= o["ns"], o
    blame = rows("""SELECT comm, sum(ns) AS ns, sum(ns * (proof =
        'consistent')) AS consistent FROM blame GROUP BY 1""")
    waited = rows("SELECT comm, sum(ns) AS ns FROM wait GROUP BY 1")
    assert {b["comm"]: b["ns"] for b in blame} == \
        {w["comm"]: w["ns"] for w in waited}
    for b in blame:
        if not b["comm"]:
            continue
        said = ours("path", "--limit", "0", "--json", "--blame",
                    b["comm"])["blame"]
        assert sum(s["ns"] for s in said) == b["ns"], b
        assert sum(s["consistent_ns"] for s in said) == b["consistent"], b
    # intervals cover all times, and add up to sched
    last = {}
    for i in rows("SELECT * FROM state_interval"):
        assert i["t0"] == last.get(i["tid"]), i
        last[i["tid"]] = i["t1"]
        assert i["ns"] is None or i["ns"] == i["t1"] - i["t0"] > 0, i
    assert set(last.values()) == {None}
    runs = {r["tid"]: r["ns"] for r in rows("""
        SELECT tid, sum(ns) AS ns FROM state_interval
        WHERE state = 'run' AND proof LIKE 'proved%' GROUP BY 1""")}
    for t in ours("report", "--sched", "--limit", "0", "--json")["threads"]:
        assert runs.get(t["tid"], 0) == t["run_ns"], t
    # who ended a wait is found by its id, once
    joined = rows("""SELECT count(*) AS n, total(k.tid = w.tid) AS same,
        total(k.time_ns BETWEEN w.t0 AND w.t1 OR k.kind = 'deduced') AS within
        FROM wait w JOIN wake k ON k.id = w.wake""")[0]
    assert joined["n"] == joined["same"] == joined["within"], joined
    found += joined["n"]
    assert rows("SELECT count(*) AS n FROM wake WHERE id IN (0, -1, 1e9, 'x')") \
        == [{"n": 0}]
    assert rows("""SELECT count(*) AS n FROM stay
        WHERE t1 < t0 OR (tid AND comm IS NULL)""") == [{"n": 0}]
assert found > 60, found
END
python3 "$work/sql.py" "$B" "$work"/*.db >"$work/said" 2>&1
rc=$?
[ $rc = 0 ] || sed 's/^/    /' "$work/said"
ok tables_for_sql_have_the_same_numbers $rc
"$B" query "$db" 'DELETE FROM wait' >/dev/null 2>"$work/err"
[ $? = 1 ]
ok computed_tables_cannot_be_changed $?
"$B" query --tables "$db" | grep -q '^wait (computed): id, tid, comm, t0'
ok computed_tables_are_listed $?
"$B" query tests/captures/fp-1.data 'SELECT * FROM blame' 2>"$work/err" >&2
[ $? = 1 ] && grep -q 'record with perf record' "$work/err"
ok without_switches_there_is_nothing_to_compute $?
if command -v sqlite3 >/dev/null
then
	cp "$db" "$work/bad.db"
	sqlite3 "$work/bad.db" 'DROP TABLE loss; CREATE VIEW loss AS
		SELECT id, NULL AS cpu, t0, t1, 1 AS n, 0 AS capture,
		"lost" AS what FROM wait' 2>/dev/null
	"$B" query "$work/bad.db" 'SELECT count(*) FROM wait' 2>"$work/err" >&2
	[ $? = 1 ]
	ok a_view_of_a_database_cannot_read_computed_tables $?
fi

# why there are none
"$B" path --tid 18 "$work/lock.db" 2>"$work/err"
[ $? = 2 ] && grep -q 'never left a CPU and came back' "$work/err"
ok a_thread_that_never_came_back_has_no_waits $?
"$B" path --tid 11692 "$work/lock.db" 2>"$work/err"
[ $? = 2 ] && grep -q "it is the recorder's" "$work/err"
ok a_thread_of_the_recorder_is_named_so $?
"$B" path --tid 999999 "$work/lock.db" 2>"$work/err"
[ $? = 2 ] && grep -q 'no switch or wake-up of such a thread' "$work/err"
ok a_thread_without_records_is_named_so $?
printf '# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1   #P:1\n' >"$work/one.txt"
echo '    prog-77 [000] d.... 1.000100: sched_switch: prev_comm=prog prev_pid=77 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120' >>"$work/one.txt"
for what in path 'path --worst 1' sched
do
	# shellcheck disable=SC2086 # words
	"$B" $what "$work/one.txt" 2>"$work/err" >&2
	[ $? = 1 ] && ! grep -q "see 'backstitch" "$work/err"
	ok "a_recording_with_one_switch_is_no_wrong_usage_of $what" $?
	# shellcheck disable=SC2086 # words
	"$B" $what --time 0.5,0.6 "$work/one.txt" 2>"$work/err" >&2
	[ $? = 2 ]
	ok "but_a_time_without_any_is_of $what" $?
done

# unknown time fails, on request
"$B" path --worst 3 --fail-unknown 0 "$work/ftext-verbose.db" >/dev/null
[ $? = 4 ]
ok "what_is_not_known_can_fail" $?
"$B" path --worst 3 --fail-unknown 100 "$work/ftext-verbose.db" >/dev/null
ok "all_may_be_unknown_if_that_is_allowed" $?

# usage NAME WORDS OPTION...: is refused with these words
usage() {
	name=$1
	words=$2
	shift 2
	"$B" path "$@" "$db" >/dev/null 2>"$work/err"
	[ $? = 2 ] && grep -qF -- "$words" "$work/err"
	ok "$name" $?
}

usage a_time_needs_a_thread 'whose time?' --time 1,2
usage a_time_has_two_ends 'FROM,TO' --tid 1 --time 5
usage one_answer_at_a_time 'choose one' --tree --waits
usage an_unknown_thread_is_named 'no switch or wake-up' --tid 999999 --time 1,2
"$B" path tests/captures/fp-1.data >/dev/null 2>"$work/err"
[ $? = 1 ] && grep -q 'sched:sched_waking' "$work/err"
ok "a_capture_without_switches_says_what_to_record" $?

# every key is in the manual
"$B" path --worst 3 --json "$db" >"$work/json"
python3 - "$work/json" "$work/blame" "$work/tree" <<'END'
import json
import re
import sys

page = open("man/backstitch-json.5").read()
page = page[page.index(".Sh PATH"):page.index(".Sh PUSH")]
keys = set()

def take(v):
    if isinstance(v, dict):
        keys.update(v)
        v = list(v.values())
    if isinstance(v, list):
        for x in v:
            take(x)

for name in sys.argv[1:]:
    take(json.load(open(name)))
missing = [k for k in sorted(keys - {"version"})
           if not re.search(r"\b%s\b" % k, page)]
print("\n".join("backstitch-json(5) lacks " + k for k in missing), end="")
sys.exit(bool(missing))
END
ok "every_key_of_json_is_in_the_manual" $?

# chains of known truth
dir=${BACKSTITCH_SHARED:-../shared}/captures/causality
if [ -f "$dir/check.py" ]
then
	python3 "$dir/check.py" -p "$B path --json --no-symbols\
 --tid {tid} --time {from_s},{to_s} {capture}" "$dir" >"$work/out" 2>&1
	rc=$?
	[ $rc = 0 ] || sed 's/^/    /' "$work/out"
	ok "chains_of_known_truth_are_proved_as_far_as_they_can_be" $rc
else
	echo "skip chains_of_known_truth: no $dir"
fi

# the flame graph has the same time in the same states, and what is not proved
# is hatched
cat >"$work/flame.py" <<'END'
import collections
import json
import re
import sys

svg = open(sys.argv[1]).read()
json_sums = collections.Counter()
for s in json.load(open(sys.argv[2]))["sums"]:
    word = s["state"]
    if s["proof"] == "consistent":
        word += ", likely"
    elif s["proof"] == "unknown" and word != "unknown":
        word += ", waker not known"
    json_sums["[%s]" % word, s["proof"] != "proved"] += s["ns"]
drawn = collections.Counter()
woken = set()
for css, weight, name in re.findall(
        r'<g class="(\S+?)[^"]*" data-s="\d+" data-w="(\d+)"[^>]*>'
        r'<title>([^\n<]*)', svg):
    if (name, css[0] == "m") in json_sums:
        drawn[name, css[0] == "m"] += int(weight)
    woken.update(re.findall(r"^\[woken by (.*)\]", name))
assert drawn == json_sums, (drawn, json_sums)
assert set(sys.argv[3:]) <= woken, woken
END
# whatever files are here: libc's names tell that an interrupt was a timer
flame() {
	"$B" path --no-symbols --min 0 --comm client --time "$2" --flame "$work/x.svg" "$1" &&
		"$B" path --no-symbols --comm client --time "$2" --json "$1" \
			>"$work/json" || return 1
	shift 2
	sed 's/&lt;/</g; s/&gt;/>/g; s/&#[0-9]*;/\n/g' "$work/x.svg" >"$work/y.svg"
	python3 "$work/flame.py" "$work/y.svg" "$work/json" "$@"
}
flame tests/causality/captures/sock.data.zst 4535.711298282,4535.712775370 \
	'server (softirq-inline)' 'backend (softirq-inline)' hardirq
ok a_flame_graph_has_the_time_of_the_chain $?
python3 - "$work/lost.data" <<'END'
import random
import sys

sys.path.insert(0, "tests/causality")
import lose
import perfdata

c = perfdata.Capture("tests/causality/captures/sock")
lost = lose.bursts(random.Random(2), c.records)[0]
c.write(sys.argv[1], lose.keep(c.records, lost, set()))
END
flame "$work/lost.data" 4535.70,4535.73 && grep -q '<g class="m' "$work/x.svg"
ok what_is_not_proved_is_hatched_in_the_flame_graph $?
# a loss of none is one of which the number is known
"$B" ingest -q -f --no-symbols -o "$work/none.db" "$work/lost.data" &&
	sqlite3 "$work/none.db" "UPDATE loss SET n = 0" &&
	"$B" path --comm client --time 4535.70,4535.73 "$work/none.db" |
	grep -q 'loss 2 (CPU 0, 0 '
ok a_loss_of_none_has_its_number $?
"$B" path --comm sysload --worst 1 tests/captures/ftrace-v6.dat.zst |
	grep -q anon_pipe_write
ok a_wakeup_is_in_what_called_the_scheduler $?

# a disk has the name of the last request that was completed in the same interrupt
"$B" ingest -q -f --no-symbols --fields all -o "$work/disk.db" \
	tests/captures/disk-irqs.data.zst
wakes=$(sqlite3 "$work/disk.db" "WITH e AS (SELECT e.id, e.cpu, t.name FROM event e
	JOIN event_type t ON t.id = e.type), near AS (SELECT w.name, (SELECT b.id
	FROM e b WHERE b.cpu = w.cpu AND b.id < w.id AND (b.name LIKE 'irq:%'
	OR b.name LIKE 'block:%') ORDER BY b.id DESC LIMIT 1) AS at
	FROM e w WHERE w.name LIKE '%waking')
	SELECT count(*) || ' disk:' || (dev >> 20) || ',' || (dev & 1048575)
	FROM near JOIN ev_block_block_rq_complete b ON b.event_id = near.at
	GROUP BY dev")
is a_wait_for_a_disk_names_it "$wakes" "$("$B" query --format csv \
	"$work/disk.db" "SELECT count(*) || ' ' || what AS wakes FROM wake
	WHERE what LIKE 'disk%' GROUP BY what" | tail -n 1 | tr -d '"')"
"$B" path --comm writer --worst 9 "$work/disk.db" >"$work/said"
says and_so_does_the_chain 'writer waits for disk 254,0' "$work/said"

# each screen tells threads of one name apart, and a name of one thread has no tid
python3 - "$B" <<'END'
import collections
import json
import re
import subprocess
import sys

capture = "tests/captures/ftrace-v6.dat.zst"


def ask(*words):
    return subprocess.run([sys.argv[1], *words, capture], check=True,
                          capture_output=True, text=True).stdout


threads = json.loads(ask("report", "--sched", "--json", "--limit", "0"))["threads"]
tids = collections.defaultdict(set)
for t in threads:
    tids[t["comm"]].add(t["tid"])
assert any(len(s) > 1 for s in tids.values())
columns = "%s%s%s%s" % (
    re.sub(r"^.* took .*$| (proved|likely|unknown)$", "",
           ask("path", "--worst", "9"), flags=re.M),
    "".join(w["because"] + "\n" for w in json.loads(
        ask("path", "--waits", "--json"))["waits"]),
    "".join(re.findall(r"^\S+ \S+ +[\d.,]+ +\d  .* \d+\.\d\d ",
                       ask("report", "--sched"), re.M)),
    ask("report", "--off-cpu").split("longest waits")[1])
text = " ".join(columns.split())
seen = set()
for name, have in tids.items():
    said = re.findall(r"(?<![\w/-])" + re.escape(name) + r"(?![\w/-])( \(\d+\))?", text)
    if not name:
        continue
    seen.update(said)
    for tid in said:
        # beside its tid in a column of its own it is as it is
        assert not tid or len(have) > 1 and int(tid[2:-1]) in have, (name, tid)
assert len(seen) > 4, seen
for name in re.findall(r"(?:wakes|is ready; CPU \d+ is) ([\w/-]+)(?! \(|[\w/-])", text):
    assert len(tids[name]) < 2, name
END
ok threads_of_one_name_have_their_tid $?
usage a_flame_graph_is_an_answer_of_its_own 'leave out' --flame x.svg --tree
usage a_flame_graph_has_no_rows 'leave out' --flame x.svg --limit 3
usage minus_one_row_is_no_limit 'from 0 on' --limit=-1
usage minus_one_percent_is_no_share 'from 0 on' --fail-unknown=-1

# interrupts have the names of their events, unless a loss is in between
"$B" ingest -q -f --no-symbols --fields all -o "$work/irqs.db" \
	tests/causality/captures/sock.data.zst
"$B" path --comm client --time 4535.711298282,4535.712775370 \
	"$work/irqs.db" >"$work/said"
grep -q 'backend waits for a timer ' "$work/said" &&
	grep -q 'softirq NET_RX' "$work/said"
ok interrupts_have_the_names_of_their_events $?
# report --off-cpu has the same names
"$B" report --off-cpu --json --limit 0 "$work/irqs.db" >"$work/off"
"$B" path --idle --worst 1000 --json "$work/irqs.db" >"$work/json"
python3 - "$work/off" "$work/json" <<'END'
import json
import sys

off, path = (json.load(open(f)) for f in sys.argv[1:])
said = {}
for c in path["chains"]:
    edges = {e["id"]: e for e in c["edges"]}
    last = [s for s in c["segments"] if s["edges"] and
            s["tid"] == c["thread"]["tid"] and len(s["edges"]) == 1]
    if last:
        said[c["thread"]["tid"], c["from_ns"]] = \
            edges[last[-1]["edges"][0]]["what"]
named = [(w["waker"], said[w["tid"], w["from_ns"]]) for w in off["longest"]
         if w["waker"][:1] == "[" and said.get((w["tid"], w["from_ns"]))]
assert {"[timer]", "[softirq:RCU]"} <= {a for a, b in named}, named
assert all(a == "[%s]" % b for a, b in named), named
END
ok off_cpu_names_the_interrupts_as_path_does $?
python3 - "$B" "$work" <<'END'
import json
import sqlite3
import subprocess
import sys

sys.path.insert(0, "tests/causality")
import perfdata

program, work = sys.argv[1:]
db = sqlite3.connect(work + "/irqs.db")
rows = db.execute("""SELECT e.time_ns, e.cpu, t.name, x.vec FROM event e
    JOIN event_type t ON t.id = e.type
    LEFT JOIN ev_irq_softirq_entry x ON x.event_id = e.id
    WHERE e.time_ns ORDER BY e.id""").fetchall()
waker = set(db.execute("""SELECT time_ns, cpu FROM event e
    JOIN ev_sched_sched_waking w ON w.event_id = e.id
    WHERE (w.common_flags & 24) = 16"""))

def named(path):
    """What each wake-up in a softirq is said to be of."""
    subprocess.run([program, "ingest", "-q", "-f", "--no-symbols", "--fields",
                    "all", "-o", work + "/x.db", path], check=True)
    said = subprocess.run([program, "path", "--json", "--idle", "--worst", "1000",
                           work + "/x.db"], capture_output=True, check=True)
    return {(e["at_ns"], e["cpu"]): e["what"]
            for c in json.loads(said.stdout)["chains"] for e in c["edges"]}

capture = perfdata.Capture("tests/causality/captures/sock")
capture.write(work + "/x.data", [(s, 0) for s in capture.records])
whole = named(work + "/x.data")
tried = bad = 0
for cpu in (0, 1):
    ring = [r for r in rows if r[1] == cpu]
    entries = [i for i, r in enumerate(ring) if r[2] == "irq:softirq_entry"]
    for i, r in enumerate(ring):
        at = (r[0], cpu)
        if r[2] != "sched:sched_waking" or at not in waker or \
                not (whole.get(at) or "").startswith("softirq"):
            continue
        before = [k for k in entries if k < i][-2:]
        if len(before) < 2 or ring[before[0]][3] == ring[before[1]][3]:
            continue
        # between the softirq before it and the wake-up, all is lost
        gone = {x[0] for x in ring[before[0] + 1:i]}
        kept = [(s, len(gone) if (s.time, s.cpu) == at else 0)
                for s in capture.records
                if s.cpu != cpu or s.time not in gone]
        capture.write(work + "/x.data", kept)
        what = named(work + "/x.data").get(at)
        tried += 1
        bad += what is not None
print("%d losses, %d names" % (tried, bad))
sys.exit(bad > 0 or not tried)
END
ok no_name_of_an_interrupt_over_a_loss $?

# of some tasks: there is one capture, and no end of it is in between
"$B" path --worst 1 tests/captures/task-exitexec.data >"$work/out" &&
	grep -q '^in this time: not every switch was recorded$' "$work/out" &&
	! grep -q 'capture\|before the first' "$work/out"
ok a_capture_of_some_tasks_is_called_so $?

# the stories of the manual: each command prints what is there
python3 - "$B" <<'END'
import re
import subprocess
import sys

page = open("man/backstitch-tutorial.7").read()
page = page[page.index(".Sh WHOM A THREAD"):page.index(".Sh A DATABASE SERVER WHOSE")]
blocks = re.findall(r"\.Bd -literal\n(.*?)\.Ed\n", page, re.S)
bad = len(blocks) != 4
for block in blocks:
    command, said = re.match(
        r"\$ backstitch ((?:[^\n]*\\e\n)*[^\n]*\n)(.*)", block, re.S).groups()
    # whatever files are here
    words = command.replace("\\e\n", "").split()
    words += ["--no-symbols"] if "causality" in command else []
    done = subprocess.run([sys.argv[1]] + words, capture_output=True, text=True)
    if done.stdout != said:
        bad = True
        print(done.stdout, done.stderr, "is not\n" + said)
sys.exit(bad)
END
ok stories_of_the_manual_are_true $?

# the tick is a timer, but the work that it runs for others is none; and whose
# function a softirq interrupted has no part in the wake-up
cat >"$work/work.txt" <<'END'
# tracer: nop
#
# entries-in-buffer/entries-written: 7/7   #P:1
#
            perf-100     [000] d....     1.000000: sched_switch: prev_comm=perfy prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=work next_pid=200 next_prio=120
            work-200     [000] d.h..     1.010000: sched_waking: comm=perfy pid=100 prio=120 target_cpu=000
            work-200     [000] d.h..     1.010001: <stack trace>
 => try_to_wake_up
 => irq_work_single
 => irq_work_run_list
 => irq_work_tick
 => update_process_times
 => __hrtimer_run_queues
 => hrtimer_interrupt
            work-200     [000] d....     1.010010: sched_switch: prev_comm=work prev_pid=200 prev_prio=120 prev_state=R ==> next_comm=perfy next_pid=100 next_prio=120
            perf-100     [000] d....     1.020000: sched_switch: prev_comm=perfy prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=work next_pid=200 next_prio=120
            work-200     [000] d.s..     1.030000: sched_waking: comm=perfy pid=100 prio=120 target_cpu=000
            work-200     [000] d.s..     1.030001: <stack trace>
 => try_to_wake_up
 => somebodys_function
            work-200     [000] d....     1.040000: sched_switch: prev_comm=work prev_pid=200 prev_prio=120 prev_state=R ==> next_comm=perfy next_pid=100 next_prio=120
            perf-100     [000] d....     1.050000: sched_switch: prev_comm=perfy prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=work next_pid=200 next_prio=120
END
"$B" ingest -q -f -o "$work/work.db" "$work/work.txt"
wakes=$("$B" query --format csv "$work/work.db" "SELECT context, what IS NULL,
	by_tid IS NULL, function IS NULL, proof FROM wake WHERE tid = 100
	ORDER BY time_ns" | tail -n +2 | tr '\n' ' ')
is work_in_the_tick_is_no_timer_and_a_softirq_no_bystander \
	'hardirq,1,1,1,proved softirq,1,1,1,consistent ' "$wakes"
"$B" path --tid 100 --idle --worst 9 "$work/work.db" >"$work/said"
grep -q 'waits for an interrupt' "$work/said" &&
	grep -q 'waits for a softirq on CPU 0' "$work/said" &&
	! grep -q 'work runs' "$work/said"
ok a_softirq_is_on_a_cpu_and_not_who_it_interrupted $?

# a thread that raised NET_RX in its own call, with softirqs off, is the waker,
# without a stack: not where an interrupt raised it too, softirqs were on, or
# records are lost since NET_RX ran before
net_rx() {
	cat <<END
# tracer: nop
#
# entries-in-buffer/entries-written: 12/12   #P:1
#
          <idle>-0       [000] d....     1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=taker next_pid=200 next_prio=120
           taker-200     [000] d....     1.000500: sched_waking: comm=giver pid=100 prio=120 target_cpu=000
           taker-200     [000] d....     1.001000: sched_switch: prev_comm=taker prev_pid=200 prev_prio=120 prev_state=S ==> next_comm=giver next_pid=100 next_prio=120
           giver-100     [000] d.h..     1.002000: softirq_raise: vec=9 [action=RCU]
           giver-100     [000] ..s..     1.003000: softirq_entry: vec=3 [action=NET_RX]
           giver-100     [000] ..s..     1.004000: softirq_exit: vec=3 [action=NET_RX]
$1
           giver-100     [000] $2     1.005000: softirq_raise: vec=3 [action=NET_RX]
           giver-100     [000] ..s..     1.006000: softirq_entry: vec=3 [action=NET_RX]
           giver-100     [000] d.s..     1.007000: sched_waking: comm=taker pid=200 prio=120 target_cpu=000
           giver-100     [000] ..s..     1.008000: softirq_exit: vec=3 [action=NET_RX]
           giver-100     [000] d....     1.009000: sched_switch: prev_comm=giver prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=taker next_pid=200 next_prio=120
           taker-200     [000] d....     1.010000: sched_switch: prev_comm=taker prev_pid=200 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
END
}
some=$(net_rx '' D.... | grep 1.005 | sed 's/D..../d.h../; s/1.005/1.0045/')
said=
for way in "|D...." "$some|D...." "|d...." "CPU:0 [LOST 3 EVENTS]|D...."; do
	net_rx "${way%|*}" "${way#*|}" | grep . >"$work/rx.txt"
	"$B" ingest -q -f --fields all -o "$work/rx.db" "$work/rx.txt"
	said="$said $("$B" query --format csv "$work/rx.db" "SELECT
		context, replace(proof, ' ', '_'), coalesce(by_tid, 0)
		FROM wake WHERE tid = 200" | tail -1)"
done
is who_raised_a_softirq_in_its_own_call_is_who_woke " \
softirq-inline,proved_with_premise,100 \
softirq,consistent,0 softirq,consistent,0 softirq,consistent,0" "$said"

# nor where raises were sampled, or the flags of one are not known
said=
for change in "UPDATE event_type SET how = 'sample' WHERE name LIKE '%raise'|" \
	"UPDATE ev_irq_softirq_raise SET common_flags = NULL WHERE rowid IN
		(SELECT id FROM event WHERE time_ns = 1004500000)|$some"; do
	net_rx "${change#*|}" D.... | grep . >"$work/rx.txt"
	"$B" ingest -q -f --fields all -o "$work/rx.db" "$work/rx.txt"
	changed=$(python3 - "$work/rx.db" "${change%|*}" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
print(db.execute(sys.argv[2]).rowcount)
db.commit()
END
)
	said="$said $changed $("$B" query --format csv "$work/rx.db" "SELECT
		context, coalesce(by_tid, 0)
		FROM wake WHERE tid = 200" | tail -1)"
done
is raises_that_are_not_all_known_prove_nothing \
	' 1 softirq,0 1 softirq,0' "$said"

"$B" path --worst 1 --limit 2 tests/causality/captures/lock.data.zst >"$work/text"
lines=$(sed -n '/^    at us/,/folded/p' "$work/text" | grep -c '^ *[0-9]')
[ "$lines" -gt 0 ] && [ "$lines" -le 2 ] && grep -q \
	'^below .* folded: .*, [0-9.]* % of the time; --limit 0 shows all$' \
	"$work/text"
ok limit_limits_the_lines_of_a_chain $?
# what is longest says why: it is folded last
"$B" path --worst 1 --limit 0 tests/causality/captures/lock.data.zst >"$work/all"
sed -n '/^    at us/,$p' "$work/all" | awk '$2 > most { most = $2; why = $0 }
	END { print why }' >"$work/most"
"$B" path --worst 1 --limit 4 tests/causality/captures/lock.data.zst |
	grep -qxF "$(cat "$work/most")"
ok the_longest_piece_is_folded_last $?

# a function is for a lock by how its name begins
"$B" ingest -q -o "$work/own.db" tests/causality/captures/lock.data.zst
if "$B" query --format csv "$work/own.db" 'SELECT name FROM symbol' | grep -q lll_lock_wait
then
	"$B" path "$work/own.db" | tr '\n' ' ' |
		grep -q 'waiting for a lock that owner ([0-9]*) released'
	ok who_released_the_lock_is_said $?
else
	echo "skip who_released_the_lock_is_said: no debug file names the functions of the C library"
fi
sqlite3 "$work/own.db" "UPDATE symbol SET name = 'block_wait'
	WHERE name = '__GI___lll_lock_wait'"
"$B" path "$work/own.db" | tr '\n' ' ' >"$work/text"
grep -q 'waiting for owner' "$work/text" && ! grep -q 'a lock that' "$work/text"
ok a_block_wait_is_for_no_lock $?

# a program may have the name of a recorder, whose waits are left out else
for name in owner perf perf_5.10; do
	sqlite3 "$work/own.db" "UPDATE comm SET name = '$name' WHERE thread =
		(SELECT id FROM thread WHERE tid = 11693)"
	"$B" path --json --limit 0 "$work/own.db" |
		jq -c '[.waits[] | select(.tid == 11693)] | length > 0'
	"$B" path --all --json --limit 0 "$work/own.db" |
		jq -c '[.waits[] | select(.tid == 11693)] | length > 0'
done >"$work/text"
is a_program_is_shown_whatever_its_name \
	'true true true false true false' "$(tr '\n' ' ' <"$work/text" | sed 's/ $//')"

# threads without a record of their name, as behind a ring that keeps the newest
# records, have that of the switches, from the first one that tells it on: in
# each table, and for the filters
python3 - "$work/unnamed.data" <<'END'
import sys

sys.path.insert(0, "tests/causality")
import perfdata

c = perfdata.Capture("tests/causality/captures/lock")
c.put(sys.argv[1], b"".join(r for _, kind, r in c.walk()
                           if kind != perfdata.COMM))
END
"$B" ingest -q -f --no-symbols -o "$work/unnamed.db" "$work/unnamed.data"
unnamed=$("$B" query --format csv "$work/unnamed.db" "WITH named AS (
	SELECT e.thread, min(e.id) AS first FROM event e
	JOIN event_type y ON y.id = e.type AND y.name = 'sched:sched_switch'
	GROUP BY 1)
SELECT count(*), (SELECT count(*) FROM comm WHERE name = 'waiter')
FROM event e JOIN comm c ON c.id = e.comm JOIN thread t ON t.id = e.thread
JOIN named n ON n.thread = e.thread
WHERE t.tid > 0 AND e.id >= n.first AND c.name = ':' || t.tid" | tail -1)
is no_thread_is_without_a_name_behind_a_switch 0,1 "$unnamed"
"$B" report --event sched:sched_switch --comm waiter "$work/unnamed.db" \
	>/dev/null &&
	"$B" path --comm waiter --limit 1 "$work/unnamed.db" >"$work/text" &&
	grep -q waiter "$work/text"
ok switches_name_threads_that_no_record_named $?

# a thread that calls exec goes on with the tid of the first of its process: no
# record is missing there, and the first one, which has ended, waits for nothing
cat >"$work/exec.txt" <<'END'
# tracer: nop
#
# entries-in-buffer/entries-written: 8/8   #P:1
#
            main-200     [000] d....     1.000000: sched_waking: comm=other pid=300 prio=120 target_cpu=000
            main-200     [000] d....     1.000100: sched_switch: prev_comm=main prev_pid=200 prev_prio=120 prev_state=S ==> next_comm=work next_pid=201 next_prio=120
            work-201     [000] d....     1.000200: sched_waking: comm=main pid=200 prio=120 target_cpu=000
            work-201     [000] d....     1.000300: sched_switch: prev_comm=work prev_pid=201 prev_prio=120 prev_state=D ==> next_comm=main next_pid=200 next_prio=120
            main-200     [000] d....     1.000400: sched_waking: comm=work pid=201 prio=120 target_cpu=000
            main-200     [000] d....     1.000500: sched_switch: prev_comm=main prev_pid=200 prev_prio=120 prev_state=Z ==> next_comm=work next_pid=201 next_prio=120
             new-200     [000] d....     1.000600: sched_process_exec: filename=/bin/new pid=200 old_pid=201
             new-200     [000] d....     1.000700: sched_switch: prev_comm=new prev_pid=200 prev_prio=120 prev_state=S ==> next_comm=other next_pid=300 next_prio=120
END
"$B" path --tid 200 --worst 9 --idle "$work/exec.txt" >"$work/said"
! grep -q 'missing' "$work/said" &&
	[ "$(grep -c ' took ' "$work/said")" = 1 ] &&
	grep -q '^new (200) took 200 us' "$work/said"
ok an_exec_that_changes_tids_is_no_missing_record $?
states=$("$B" query --format csv "$work/exec.txt" "SELECT tid, state, ns / 1000
	FROM state_interval WHERE t0 >= 1000300000 AND t1 NOT NULL
	AND tid IN (200, 201) ORDER BY tid, t0" | tail -n +2 | tr -d '\r' |
	tr '\n' ' ')
is the_thread_runs_on_as_the_first \
	'200,run,200 200,dead,100 200,run,100 201,blocked,100 201,ready,100 201,run,100 201,dead,99 ' \
	"$states"

# a wait that the last switch of a CPU ends is one, as it is for --off-cpu
"$B" ingest -q -f --no-symbols -o "$work/last.db" tests/captures/ftext-verbose.txt.gz 2>/dev/null
zcat tests/captures/ftext-verbose.txt.gz | python3 -c '
import re
import sys
away, n = set(), 0
for out, came in re.findall(r"sched_switch:.* prev_pid=(\d+) .* next_pid=(\d+)", sys.stdin.read()):
    n += came in away
    away.discard(came)
    away |= {out} - {"0"}
print(n, n)' >"$work/want"
"$B" path --waits --idle --json "$work/last.db" >"$work/path.json"
"$B" report --off-cpu --json "$work/last.db" >"$work/offcpu.json"
is a_wait_ends_with_the_last_switch "$(cat "$work/want")" \
	"$(of_json "$work/path.json" 'r["n"]') $(of_json "$work/offcpu.json" 'r["waits"]')"

# a name with a blank is one word in the commands that are offered
cp "$work/last.db" "$work/it's last.db"
word="'$work/it'\\''s last.db'"
is names_with_blanks_are_quoted_in_commands "'backstitch path $word' lists" \
	"$("$B" path --tid 777777 "$work/it's last.db" 2>&1 | grep -o "'backstitch path .*' lists")"
is and_on_the_screen_of_info "'backstitch check $word' says" \
	"$(COLUMNS=500 "$B" info "$work/it's last.db" 2>&1 | grep -o "'backstitch check .*' says")"

# so many pieces that those of earlier threads are freed while others are read; each
# switch but the first two ends a wait
python3 -c '
print("# tracer: nop\n#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION")
switch = "sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=t%d next_pid=%d next_prio=120"
for i in range(60000):
    a, b = 100 + i % 3, 100 + (i + 1) % 3
    print("%16s-%-7d [000] d.... %d.%06d: %s" % ("t%d" % a, a, i // 1000, i % 1000 * 1000, switch % (a, a, b, b)))' \
	>"$work/many.txt"
"$B" ingest -q -f --no-symbols -o "$work/many.db" "$work/many.txt" 2>/dev/null
"$B" path "$work/many.db" >"$work/many.out" 2>&1
is many_pieces_are_freed_and_made_again '0 all: 59,998 waits,' "$? $(grep -o '^all: [0-9,]* waits,' "$work/many.out")"

# of no kernel, as a loss on each of them takes memory
"$B" ingest -q -f -o "$work/cpus.db" tests/causality/captures/fork.data.zst 2>/dev/null
for n in NULL 8193 2147483000
do
	sqlite3 "$work/cpus.db" "UPDATE capture SET cpus = $n"
	"$B" path --json "$work/cpus.db" >"$work/cpus.$n"
done
grep -q 'how many CPUs there were is not known' "$work/cpus.NULL" &&
	cmp -s "$work/cpus.NULL" "$work/cpus.8193" && cmp -s "$work/cpus.NULL" "$work/cpus.2147483000"
ok more_cpus_than_a_kernel_can_have_are_not_known $?

# Another perf recorded beside it, and its program began first.
"$B" ingest -q -f --no-symbols -o "$work/program.db" \
	"$root/tests/causality/captures/fork.data.zst"
sqlite3 "$work/program.db" "
	INSERT INTO process(id, capture, pid) SELECT max(id) + 1, 1, 4242 FROM process;
	INSERT INTO thread(id, process, tid)
		SELECT max(id) + 1, (SELECT max(id) FROM process), 4242 FROM thread;
	INSERT INTO comm(id, thread, time_ns, exec, name)
		SELECT max(id) + 1, (SELECT max(id) FROM thread),
			(SELECT min(time_ns) FROM event), 0, 'perf-exec' FROM comm;
	INSERT INTO comm(id, thread, time_ns, exec, name)
		SELECT max(id) + 1, (SELECT max(id) FROM thread),
			(SELECT min(time_ns) FROM event), 1, 'true' FROM comm"
"$B" path "$work/program.db" >"$work/text" 2>&1
says the_program_is_that_of_the_command 'parent (125) took 27.9 ms' "$work/text"
sqlite3 "$work/program.db" "UPDATE capture SET cmdline = replace(cmdline, 'workloads fork', 'true')"
"$B" path "$work/program.db" >"$work/text" 2>&1
says and_another_command_is_that_of_another '12 waits, 77.3 ms together' "$work/text"
# its name is an argument of this one
sqlite3 "$work/program.db" "UPDATE comm SET name = 'sleep' WHERE name = 'true';
	UPDATE capture SET cmdline = '/usr/bin/perf record -a -- ./workloads fork sleep 1'"
"$B" path "$work/program.db" >"$work/text" 2>&1
says the_program_is_behind_two_hyphens 'parent (125) took 27.9 ms' "$work/text"
# both have one name: that of this perf was there when it began
sqlite3 "$work/program.db" "UPDATE comm SET name = 'workloads' WHERE name = 'sleep';
	UPDATE process SET start_ns = (SELECT min(time_ns) FROM event) WHERE pid = 4242"
"$B" path "$work/program.db" >"$work/text" 2>&1
says of_two_with_one_name_it_is_the_older 'parent (125) took 27.9 ms' "$work/text"
sqlite3 "$work/program.db" "UPDATE comm SET name = 'true' WHERE id = (SELECT max(id) FROM comm);
	UPDATE process SET start_ns = NULL WHERE pid = 4242"
sqlite3 "$work/program.db" "UPDATE capture SET cmdline = '/usr/bin/perf record -a'"
"$B" path "$work/program.db" >"$work/text" 2>&1
! grep -q 'parent (125) took' "$work/text" && grep -q '12 waits, 77.3 ms together' "$work/text"
ok where_it_names_none_all_threads_are_told_of $?
sqlite3 "$work/program.db" "DELETE FROM comm WHERE id = (SELECT max(id) FROM comm)"
"$B" path "$work/program.db" >"$work/text" 2>&1
! grep -q 'parent (125) took' "$work/text" && grep -q '12 waits, 77.3 ms together' "$work/text"
ok nor_is_it_the_program_of_another_recorder $?
# perf 7.2 notes no more than this, whatever it records
sqlite3 "$work/program.db" "UPDATE capture SET cmdline = '/usr/bin/perf'"
"$B" path "$work/program.db" >"$work/text" 2>&1
says but_of_a_command_that_is_not_known_it_is 'parent (125) took 27.9 ms' "$work/text"

# ---- the premise in full is shown on demand, and a program's time before its exec is
# the recorder's
"$B" path --worst 1 tests/causality/captures/sock.data.zst >"$work/short"
"$B" path --worst 1 --premises tests/causality/captures/sock.data.zst >"$work/full"
python3 - "$work/short" "$work/full" <<'END'
import re
import sys

short, full = (" ".join(open(f).read().split("\n\n")[0].split()) for f in sys.argv[1:])
at = r"^(client|server|backend) \(\d+\) took [\d.]+ .s: [\d.]+ % .* [\d.]+ % proved"
assert re.search(at + r" on a premise \('--premises' has it\)", short), short
assert re.search(at + r", if no interrupt raised the softirqs", full), full
END
ok "the_answer_comes_before_what_it_rests_on" $?
python3 - "$B" "$work/one.db" tests/causality/captures/*.data.zst <<'END'
import json
import subprocess
import sys

B, db = sys.argv[1:3]
found = 0
for capture in sys.argv[3:]:
    def path(*more):
        return json.loads(subprocess.run(
            [B, "path", "--json", "--limit", "0", *more, db],
            capture_output=True, text=True, check=True).stdout)
    subprocess.run([B, "ingest", "-q", "-f", "-o", db, capture], check=True)
    whole = path()
    p = whole["program"]
    def before(r):
        return [w for w in r["waits"] if w["tid"] == p["thread"]["tid"] and w["to_ns"] <= p["from_ns"]]
    assert not before(whole) and not before(path("--all")), capture
    found += len(before(path("--idle", "--all")))
assert found
END
ok "waits_of_the_recorder_are_none_of_the_program" $?

# ---- times of the day, of captures that have it
"$B" ingest -q -f --no-symbols -o "$work/day.db" tests/captures/disk-irqs.data.zst
one=$("$B" query --format csv "$work/day.db" "SELECT printf('%d.%09d,%d.%09d', t0 / 1000000000,
	t0 % 1000000000, t1 / 1000000000, t1 % 1000000000) || ' ' || wall(t0) || ',' || wall(t1) || ' ' || tid
	FROM (SELECT t0, t1, tid FROM wait ORDER BY ns DESC LIMIT 1)" | tail -1 | tr -d '\r"')
tid=${one##* } day=${one#* } day=${day%% *}
"$B" path --json --tid "$tid" --time "${one%% *}" "$work/day.db" >"$work/seconds" &&
	"$B" path --json --tid "$tid" --time "$day" "$work/day.db" | cmp - "$work/seconds"
ok "a_time_of_the_day_is_that_in_seconds" $?
line="2026-01-01 [1] $(printf '%s' "${day#*,}" | tr T ' ' | tr -d Z) UTC LOG:  duration: 100000.000 ms"
"$B" path --waits --json --tid "$tid" --time "${line#2026-01-01 \[1\] }" "$work/day.db" | grep -q '"waits":'
ok "a_line_of_a_log_is_a_time" $?
"$B" script --time "$day" --tid "$tid" "$work/day.db" | cmp -s - /dev/null
[ $? = 1 ]
ok "filters_take_it_too" $?
"$B" report --time "2026-11-28 03:12:04Z" tests/captures/fp-1.data 2>"$work/err" >&2
[ $? = 2 ] && grep -q 'does not have the time of the day' "$work/err"
ok "without_it_the_recording_that_has_it_is_said" $?

# A shell waits for six of one name, none of which has half of that time, and
# for one other.
python3 - >"$work/many.txt" <<'END'
print("# tracer: nop\n#")
SWITCH = ("%17s-%-7d (%7d) [000] d.... %.6f: sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 "
          "prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120")
WAKING = "%17s-%-7d (%7d) [000] d.... %.6f: sched_waking: comm=sh pid=10 prio=120 target_cpu=000"
NEW = "%17s-%-7d (%7d) [000] ..... %.6f: sched_wakeup_new: comm=%s pid=%d prio=120 target_cpu=000"


def waits(at, name, tid, seconds):
    print(NEW % ("sh", 10, 10, at, name, tid))
    print(SWITCH % ("sh", 10, 10, at + .001, "sh", 10, "S", name, tid))
    print(WAKING % (name, tid, tid, at + seconds))
    print(SWITCH % (name, tid, tid, at + seconds + .001, name, tid, "X", "sh", 10))


for i in range(6):
    waits(100 + i, "dd", 21 + i, .5)
waits(106, "cp", 31, .5)
END
"$B" path --pid 10 --cpus 1 "$work/many.txt" >"$work/text" 2>&1
tr '\n' ' ' <"$work/text" | grep -q 'waiting for dd (6 processes), [0-9.]* % waiting for cp (31).*behind these waits: [0-9.]* % dd (6 processes) computing, [0-9.]* % cp computing' ||
	{
		sed 's/^/# /' "$work/text"
		false
	}
ok many_programs_of_one_name_are_added_up $?

# Of three times that two threads of a process freed memory one has no end.
python3 - >"$work/reclaim.txt" <<'END'
print("# tracer: nop\n#")
LINE = "%17s-%-7d (%7d) [000] d.... %.6f: %s"
SWITCH = "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120"
BEGUN = "mm_vmscan_memcg_reclaim_begin: order=0 gfp_flags=GFP_KERNEL memcg=0"
ENDED = "mm_vmscan_memcg_reclaim_end: nr_reclaimed=32 memcg=0"
for at, tid, what in [
        (1.0, 10, SWITCH % ("db", 10, "D", "other", 90)),
        (1.5, 90, "sched_waking: comm=db pid=10 prio=120 target_cpu=000"),
        (1.6, 90, SWITCH % ("other", 90, "R", "db", 10)),
        (2.0, 10, BEGUN), (2.25, 10, ENDED),
        (3.0, 10, SWITCH % ("db", 10, "S", "db", 11)),
        (3.1, 11, BEGUN), (3.2, 11, ENDED), (3.3, 11, BEGUN),
        (3.4, 11, SWITCH % ("db", 11, "R", "other", 90)),
        (3.5, 90, BEGUN), (3.9, 90, ENDED)]:
    print(LINE % ("other" if tid == 90 else "db", tid, 90 if tid == 90 else 10, at, what))
END
"$B" path --pid 10 --cpus 1 "$work/reclaim.txt" >"$work/text" 2>&1
tr '\n' ' ' <"$work/text" | grep -q '^db (10) waited [^;]*; its threads took 350 ms for reclaim of memory, 2 times ' ||
	{ sed 's/^/# /' "$work/text"; false; }
ok what_threads_took_to_free_memory_is_said $?
"$B" path --pid 10 --cpus 1 --time 2.5, --waits "$work/reclaim.txt" 2>&1 | grep -q 'for reclaim'
[ $? = 1 ]
ok but_of_no_other_time $?

# A timer's interrupt has no entry, and the wake-up no stack: that the thread
# slept is known by its own.
python3 - >"$work/slept.txt" <<'END'
print("# tracer: nop\n#")
LINE = "%17s-%-7d (%7d) [000] %s %.6f: %s"
SWITCH = "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120"
STACK = "<stack trace>\n => __schedule\n => schedule\n => do_nanosleep\n => hrtimer_nanosleep\n => common_nsleep"
for n in range(4):
    for at, tid, flags, what in [
            (0.0, 10, "d..2.", SWITCH % ("db", 10, "D", "other", 90)), (0.0, 10, "d..2.", STACK),
            (0.9, 90, "dNh2.", "sched_waking: comm=db pid=10 prio=120 target_cpu=000"),
            (0.901, 90, "d..2.", SWITCH % ("other", 90, "R", "db", 10))]:
        print(LINE % ("other" if tid == 90 else "db", tid, 90 if tid == 90 else 10, flags, 1 + n + at, what))
END
"$B" path --pid 10 --cpus 1 "$work/slept.txt" >"$work/text" 2>&1
grep -q '^db (10) waited [^;]*: 9[0-9.]* % sleeping' "$work/text" || { sed 's/^/# /' "$work/text"; false; }
ok who_slept_waited_for_no_interrupt $?
"$B" path --comm db --cpus 1 --waits "$work/slept.txt" 2>&1 | grep -q 'together: 9[0-9.]* % db sleeping'
ok nor_does_its_chain_say_so $?

# likewise a thread that others wait for
python3 - >"$work/sleeper.txt" <<'END'
print("# tracer: nop\n#")
SWITCH = "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120"
STACK = "<stack trace>\n => __schedule\n => schedule\n => do_nanosleep\n => hrtimer_nanosleep\n => common_nsleep"
WAKING = "sched_waking: comm=%s pid=%d prio=120 target_cpu=000"
for n in range(4):
    for at, comm, tid, flags, what in [
            (0.0, "main", 20, "d..2.", SWITCH % ("main", 20, "S", "db", 10)),
            (0.1, "db", 10, "d..2.", SWITCH % ("db", 10, "D", "other", 90)), (0.1, "db", 10, "d..2.", STACK),
            (0.9, "other", 90, "dNh2.", WAKING % ("db", 10)),
            (0.901, "other", 90, "d..2.", SWITCH % ("other", 90, "R", "db", 10)),
            (0.95, "db", 10, "d..2.", WAKING % ("main", 20)),
            (0.96, "db", 10, "d..2.", SWITCH % ("db", 10, "S", "main", 20))]:
        print("%17s-%-7d (%7d) [000] %s %.6f: %s" % (comm, tid, tid, flags, 1 + n + at, what))
END
"$B" path --pid 20 --cpus 1 "$work/sleeper.txt" >"$work/text" 2>&1
grep -q '^behind these waits: 8[0-9.]* % db sleeping' "$work/text" ||
	{ sed 's/^/# /' "$work/text"; false; }
ok nor_did_who_others_waited_for $?

sed 's/(     10)/(     20)/' "$work/sleeper.txt" >"$work/two.txt"
"$B" path --pid 20 --cpus 1 --time 1,2 "$work/two.txt" >"$work/text" 2>"$work/err"
[ $? = 2 ] && grep -q 'there are several such threads, [12]0 and [12]0 among them; choose one with --tid' "$work/err"
ok threads_of_a_process_are_several $?

# a call of a thread that no switch of the kernel with switches names, as of another machine
for f in here there
do
	{
		printf '# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:1\n#\n'
		[ $f = there ] || printf '%s\n' '               w-11      [000] d..2.   100.000200: sched_switch: prev_comm=w prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120' \
			'          <idle>-0       [000] d..2.   100.000300: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=w next_pid=11 next_prio=120'
		[ $f = here ] || printf '%s\n' '               y-77      [000] .....   100.000100: sys_write(fd: 3)' \
			'               y-77      [000] .....   100.000400: sys_write -> 0x1'
	} >"$work/$f.txt"
done
"$B" ingest -q --fields all --separate -o "$work/apart.db" "$work/here.txt" "$work/there.txt" &&
	"$B" path --of write "$work/apart.db" >"$work/text" 2>"$work/err"
[ $? = 1 ] && grep -q "no call, slice or request named 'write' is proved" "$work/err"
ok a_call_of_a_thread_without_switches_is_left_out $?

# nor has the thread of another machine done it that has the same tid: the switches say only what theirs did
sed -i 's/-11 /-77 /; s/_pid=11 /_pid=77 /' "$work/here.txt"
echo '               w-77      [000] d..2.   100.000900: sched_switch: prev_comm=w prev_pid=77 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120' >>"$work/here.txt"
"$B" ingest -qf --fields all --separate -o "$work/apart.db" "$work/here.txt" "$work/there.txt" &&
	"$B" path --of write "$work/apart.db" >"$work/text" 2>"$work/err"
[ $? = 1 ] && grep -q "no call, slice or request named 'write' is proved" "$work/err"
ok nor_is_one_of_another_machine_with_its_tid $?
"$B" latency --by behind "$work/apart.db" 2>&1 | grep -q '^syscall  not known  *1 '
ok behind_is_no_thread_of_another_machine $?
"$B" path "$work/apart.db" >"$work/text" 2>&1 && grep -q ' 77  w ' "$work/text"
ok a_thread_has_no_name_of_another_machine $?
# nor has its process freed the memory that the other machine's did
printf '%s\n' '               w-77      [000] d..2.   100.001000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=w next_pid=77 next_prio=120' >>"$work/here.txt"
{
	printf '# tracer: nop\n#\n'
	printf '               y-77      (     77) [000] .....   100.000%s\n' '910: mm_vmscan_direct_reclaim_begin: order=0 gfp_flags=GFP_KERNEL' \
		'950: mm_vmscan_direct_reclaim_end: nr_reclaimed=32'
} >"$work/there.txt"
sed -i 's/w-77      \[/w-77      (     77) [/; s/<idle>-0      /<idle>-0      (     -0)/' "$work/here.txt"
"$B" ingest -qf --fields all --separate -o "$work/apart.db" "$work/here.txt" "$work/there.txt" &&
	"$B" path --pid 77 "$work/apart.db" >"$work/text" 2>&1
grep -q '^w (77) waited' "$work/text" && ! grep -q 'reclaim' "$work/text"
ok memory_of_another_machine_is_not_its $?
# nor did it wait in a call of the other machine's thread
{
	printf '# tracer: nop\n#\n'
	printf '               y-77      (     77) [000] .....   100.000%s\n' '040: sys_read(fd: 5)' '950: sys_read -> 0x1'
} >"$work/there.txt"
"$B" ingest -qf --fields all --separate -o "$work/apart.db" "$work/here.txt" "$work/there.txt" &&
	"$B" path --pid 77 "$work/apart.db" >"$work/text" 2>&1
grep -q '^w (77) waited' "$work/text" && ! grep -q 'descriptor' "$work/text"
ok a_call_of_another_machine_is_not_its $?

# nor has one a name that a thread of its id had in another boot, whose kernel is elsewhere
"$B" ingest -qf -o "$work/sock.db" tests/causality/captures/sock.data.zst
python3 - "$work/sock.db" "$work" <<'END'
import shutil
import sqlite3
import sys

for k in (0, 1):
    name = "%s/boot%d.db" % (sys.argv[2], k)
    shutil.copy(sys.argv[1], name)
    db = sqlite3.connect(name)
    db.execute("DELETE FROM meta WHERE key = 'wall_offset_ns'")
    db.execute("UPDATE mapping SET start = start + (?1 << 21), \"end\" = \"end\" + (?1 << 21)"
               " WHERE process = 0", [k])
    db.execute("UPDATE event SET time_ns = time_ns + ?", [k * 10 ** 9])
    db.execute("UPDATE capture SET first_ns = first_ns + ?1, last_ns = last_ns + ?1", [k * 10 ** 9])
    if k:
        db.execute("UPDATE comm SET name = 'other'")
    db.commit()
END
"$B" merge -qf -o "$work/boots.db" "$work/boot0.db" "$work/boot1.db" &&
	"$B" path "$work/boots.db" >"$work/text" 2>&1
grep -q '^client (11697) took' "$work/text" && ! grep -q other "$work/text"
ok a_thread_has_no_name_of_another_boot $?

# whether switches were filtered is said by perf's options, which may be abbreviated, not by the program's
for f in "-e sched:sched_switch --fil pid>1 -- ./prog:1" "-e sched:sched_switch --filter=pid>1 ./prog:1" \
	"-e sched:sched_switch --tp-filter pid>1 ./prog:1" "-e sched:sched_switch -u 1000:1" \
	"-e sched:sched_switch --uid=1000 -g:1" "-e sched:sched_switch ./prog -u 1:0" "-e sched:sched_switch -- ./prog --filter x:0"
do
	python3 - "$work/sock.db" "$work/asked.db" "perf record -a ${f%:*}" <<'END'
import shutil
import sqlite3
import sys

shutil.copy(sys.argv[1], sys.argv[2])
db = sqlite3.connect(sys.argv[2])
db.execute("UPDATE capture SET cmdline = ?", sys.argv[3:])
# as ingest says of a user that is not the program's own option
if " -u" in sys.argv[3].split(" ./prog")[0] or "--uid" in sys.argv[3]:
    db.execute("INSERT INTO meta SELECT id, 'filtered', 1 FROM capture")
db.commit()
END
	"$B" path "$work/asked.db" >"$work/text" 2>&1
	is "path_knows_the_filter_of_${f%:*}" "${f##*:}" "$(grep -c 'switches were filtered' "$work/text")"
	"$B" check "$work/asked.db" >"$work/text" 2>&1
	is "so_does_check_of_${f%:*}" "${f##*:}" "$(grep -c 'whether switches are missing is not judged' "$work/text")"
done

# A signal ends a wait for something else: nobody waited for its sender, who had computed for all that time.
cd "$work" || exit 2
{
	printf '# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#\n'
	sed 's/^=>/ =>/; s/^[^ ]/          &/' <<'END'
killer-200   [001] d....     0.900000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=killer next_pid=200 next_prio=120
<idle>-0     [000] d....     0.950000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sleeper next_pid=100 next_prio=120
sleeper-100   [000] d....     1.000000: sched_switch: prev_comm=sleeper prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
sleeper-100   [000] d....     1.000001: <stack trace>
=> __schedule
=> schedule
=> futex_wait_queue
=> __futex_wait
=> futex_wait
=> do_futex
=> __x64_sys_futex
=> do_syscall_64
=> entry_SYSCALL_64_after_hwframe
killer-200   [001] d....     3.000000: sched_waking: comm=sleeper pid=100 prio=120 target_cpu=000
killer-200   [001] d....     3.000001: <stack trace>
=> try_to_wake_up
=> complete_signal
=> __send_signal_locked
=> do_send_sig_info
=> kill_something_info
=> __x64_sys_kill
=> do_syscall_64
=> entry_SYSCALL_64_after_hwframe
<idle>-0     [000] d.h..     3.000010: sched_wakeup: comm=sleeper pid=100 prio=120 target_cpu=000
<idle>-0     [000] d....     3.000020: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sleeper next_pid=100 next_prio=120
sleeper-100   [000] d....     3.100000: sched_switch: prev_comm=sleeper prev_pid=100 prev_prio=120 prev_state=X ==> next_comm=swapper/0 next_pid=0 next_prio=120
killer-200   [001] d....     3.200000: sched_switch: prev_comm=killer prev_pid=200 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
END
} >signal.txt
# ended NAME WANT [SED]: what the sleeper did until it was woken
ended() {
	sed "${3:-}" signal.txt >made.txt
	"$B" ingest -q -f -o made.db made.txt 2>/dev/null
	is "$1" "$2" "$("$B" path --tid 100 --time 1,3 made.db | sed 's/^[^:]*: //; q')"
}
ended a_signal_ends_a_wait_for_something_else '100.00 % sleeper waiting, ended by a signal'
is its_sender_is_named 'sleeper waits, ended by a signal of killer:' \
	"$("$B" path --tid 100 --time 1,3.1 made.db | sed -n 's/.* \(sleeper waits.*:\) .*/\1/p')"
is json_and_sql_have_it 'signal killer-signal' "$("$B" path --tid 100 --time 1,3.1 --json made.db |
	python3 -c 'import json, sys
print(json.load(sys.stdin)["segments"][0]["state"])') $("$B" query --format csv made.db \
	"SELECT by_comm || '-' || context FROM wake WHERE tid = 100" | tail -1)"
ended the_end_of_a_process_is_one '100.00 % sleeper waiting, ended by a signal' 's/complete_signal/zap_other_threads/'
ended any_other_wake_up_is_of_its_thread '100.00 % killer computing' 's/complete_signal/ep_poll_callback/'
ended a_signal_that_it_waited_for_is_of_its_sender '100.00 % killer computing' '/futex/d; s/=> schedule$/=> sigsuspend/'
ended a_child_that_it_waited_for_is_one_too '100.00 % killer computing' '/futex/d; s/=> schedule$/=> do_wait/'
ended the_end_of_a_child_is_no_signal '100.00 % killer computing' 's/do_send_sig_info/do_notify_parent/'
ended work_for_a_task_is_none '100.00 % killer computing' 's/complete_signal/signal_wake_up_state/; s/do_send_sig_info/task_work_add/'
ended nor_is_a_cgroup_that_is_frozen '100.00 % killer computing' 's/complete_signal/signal_wake_up_state/; s/do_send_sig_info/cgroup_freeze_task/'
ended nor_is_ptrace '100.00 % killer computing' 's/complete_signal/signal_wake_up_state/; s/do_send_sig_info/ptrace_signal_wake_up/'
ended what_it_waited_for_must_be_known '100.00 % killer computing' '/=> .*futex/d'

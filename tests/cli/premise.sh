#!/bin/sh
# premise.sh - what is proved by the absence of records says what that rests on.
# usage: BACKSTITCH=build/backstitch tests/cli/premise.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
when="--comm waiter --time 4533.539096,4533.541041"

# The capture `lock`, and the same without four records in a row of CPU 0, behind
# which another thread is there.
python3 - "$work/whole.data" "$work/gap.data" <<'END'
import sys

sys.path.insert(0, "tests/causality")
import lose
import perfdata

c = perfdata.Capture("tests/causality/captures/lock")
c.write(sys.argv[1], lose.keep(c.records, set(), set()))
ring = lose.rings(c.records)[0]
for at in range(20, len(ring)):
    kept = lose.keep(c.records, set(), set(ring[at:at + 4]))
    if lose.has_sign([k for k in kept if k[0].time > c.exec]):
        break
c.write(sys.argv[2], kept)
END

# made NAME CAPTURE PAUSES: a database; PAUSES is 0, 1, or 'none'
made() {
	"$B" ingest -q -f --no-symbols -o "$work/$1.db" "$work/$2.data" || return
	python3 - "$work/$1.db" "$3" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM meta WHERE key = 'pauses'")
if sys.argv[2] != "none":
    db.execute("INSERT INTO meta VALUES(1, 'pauses', ?)", [int(sys.argv[2])])
db.commit()
END
}

# head_has DB TEXT: is it in the first lines?
head_has() {
	# shellcheck disable=SC2086
	"$B" path --premises $when "$work/$1.db" | sed '/^$/q' | tr '\n' ' ' |
		grep -qF "$2"
}

# proofs DB: the different words for what is proved
proofs() {
	"$B" query --format csv "$work/$1.db" "SELECT DISTINCT proof
		FROM state_interval WHERE state IN ('run', 'blocked')
		AND proof LIKE 'proved%' ORDER BY 1" |
		tail -n +2 | tr -d '\r"' | tr '\n' ' '
}

# perf -c 2 records each hit of a tracepoint, too, as it asks for the periods: its
# switches are followed as others are
python3 - "$work/gap.data" "$work/gap2.data" <<'END'
import struct
import sys

data = bytearray(open(sys.argv[1], "rb").read())
_, size, at, length = struct.unpack_from("<4Q", data, 8)
for attr in range(at, at + length, size):
    if struct.unpack_from("<I", data, attr)[0] == 2:
        struct.pack_into("<Q", data, attr + 16, 2)
open(sys.argv[2], "wb").write(data)
END
for name in gap gap2; do
	"$B" ingest -q -f --no-symbols -o "$work/per.db" "$work/$name.data"
	"$B" check "$work/per.db" >"$work/$name.said"
done
grep -q 'switch_broken' "$work/gap2.said" &&
	cmp -s "$work/gap.said" "$work/gap2.said"
ok switches_of_a_tracepoint_with_a_period_are_followed $?

made sure whole 0
made may whole 1
made unsaid whole none
head_has sure '% proved, ready if no quota held it, nothing lost'
ok perf_without_such_options_needs_no_premise_of_pauses $?
head_has may 'proved, if tracing was not switched off in between, and ready if no quota held it, nothing' &&
	head_has unsaid 'proved, if tracing was not switched off in between'
ok a_recorder_that_may_pause_has_the_premise_in_the_sentence $?
[ "$(proofs sure)" = 'proved ' ] &&
	[ "$(proofs may)" = 'proved with premise ' ]
ok the_proof_of_sql_has_the_premise $?
# shellcheck disable=SC2086
"$B" path $when --json "$work/may.db" >"$work/json" &&
	grep -q '"premise": *"if tracing was' "$work/json" &&
	grep -q '"blind": *null' "$work/json"
ok and_the_evidence_of_json $?
"$B" sched "$work/may.db" | sed '/^$/q' | tr '\n' ' ' |
	grep -q 'proved, if tracing'
ok and_the_sums_of_threads $?
"$B" page -o "$work/page.html" "$work/may.db" &&
	grep -q '"premise":"if tracing was not' "$work/page.html"
ok and_the_page $?
silent=tests/captures/ftrace-missed.dat.zst
said=$("$B" path --all --worst 1 --json "$silent" | grep -o -m 1 '"premise": *"if only [^"]*"')
"$B" page -o "$work/page.html" "$silent" && [ "$said" ] &&
	[ "$(grep -o '"premise":"[^"]*"' "$work/page.html" | sort -u)" = "$said" ]
ok of_silent_tasks_too $?

made gap_sure gap 0
made gap_may gap 1
made gap_unsaid gap none
head_has gap_may 'recording paused, so the absence of a record proves nothing'
ok a_pause_that_shows_stops_proofs_by_absence $?
# shellcheck disable=SC2086
"$B" path $when "$work/gap_may.db" | tail -n 3 | tr '\n' ' ' |
	grep -q 'to know more: record without what may pause perf: -D, '
ok and_the_advice_is_about_the_pause $?
[ -z "$(proofs gap_may)" ]
ok none_of_them_is_in_sql $?
"$B" query --format csv "$work/gap_may.db" \
	"SELECT count(*) > 20 FROM wake WHERE proof = 'proved'" | grep -q '^1'
ok recorded_wakeups_stay_proved $?
cp "$work/gap_unsaid.db" "$work/gaps.db"
sqlite3 "$work/gaps.db" "WITH n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 120)
	INSERT INTO loss(capture, what, counts, cpu, t0, t1)
	SELECT l.capture, 'silent', 1, l.cpu, l.t0 + i, l.t1 + i
	FROM loss l, n WHERE l.what = 'silent' AND l.counts"
head_has gaps 'missing without a loss in too many places: the absence of one proves nothing' &&
	"$B" path --idle --worst 1 "$work/gaps.db" | tail -n 1 |
		grep -q 'backstitch record --waits --tracer ftrace$'
ok and_many_gaps_name_the_recorder_that_has_none $?
head_has gap_unsaid 'if records are missing only where it shows'
ok what_shows_some_may_hide_more $?

# as in some guests: of the idle task of CPU 0 only interrupts have records
python3 - "$work/idle.data" <<'END'
import sys

sys.path.insert(0, "tests/causality")
import lose
import perfdata

c = perfdata.Capture("tests/causality/captures/lock")
c.write(sys.argv[1], lose.keep(c.records, set(), {
    i for i, r in enumerate(c.records)
    if (r.cpu, r.current) == (0, 0) and not lose.in_interrupt(r)}))
END
made idle idle none
"$B" check "$work/idle.db" | tr -s ' \n' ' ' >"$work/said"
gaps=$(sed -n 's/.* guests: \([0-9]*\) of \([0-9]*\) gaps are of it .*/\1 \2/p' "$work/said")
grep -q 'silent swapper/0 records nothing, a known' "$work/said" &&
	[ "${gaps% *}" = "${gaps#* }" ]
ok "every_gap_is_of_the_silent_task: $gaps" $?
head_has idle 'proved, if only records of swapper/0 are missing' &&
	head_has idle 'no record of what swapper/0 did, so that how long that took, and whom it woke, is not known' &&
	! "$B" path --limit 0 "$work/idle.db" | grep 'silent task' &&
	! grep 'silent tasks' "$work/said"
ok and_what_is_missing_has_its_name $?

# rows by tid and time are those that a scan finds
bad=0
for ask in 'state_interval tid=11691' 'wait tid=11691' 'wake tid=11691' \
	'wait tid=11691.0' 'wait tid=99' 'wait id=3' 'wake id=0' \
	'state_interval tid=11691 AND t0<=4533530000000 AND t1>4533520000000' \
	'state_interval tid=11691 AND t0>4533530000000' \
	'state_interval tid=11691 AND t1=4533530000000' \
	'state_interval tid=11691 AND t1 IS NULL' 'wake id=12' 'wait id=9999999' \
	'state_interval t0>4533520000000 AND t1<=4533530000000' \
	'wait t1>4533520000000 AND t0<4533530000000' 'wait t0=4533530000000' \
	'wake t0>4533520000000 AND t1<4533530000000' \
	'stay tid=11691' 'stay tid=0 AND t0>4533530000000' 'stay tid=99' \
	'stay tid=11691 AND t1<4533530000000' 'blame tid=11691' 'blame tid=0' \
	'stay t0>4533520000000 AND t0<4533530000000'
do
	where=${ask#* }
	slow=$(echo "$where" | sed 's/tid/+tid/; s/t0/+t0/; s/t1/+t1/; s/^id/+id/')
	for w in "$where" "$slow"
	do
		"$B" query --format csv "$work/gap_unsaid.db" \
			"SELECT * FROM ${ask%% *} WHERE $w"
	done >"$work/said"
	"$B" query --format csv "$work/gap_unsaid.db" \
		"SELECT * FROM ${ask%% *} WHERE $where" >"$work/once"
	cat "$work/once" "$work/once" | cmp -s - "$work/said" || bad=1
done
ok rows_are_found_by_thread_and_time $bad

# what check says of it
"$B" check "$work/may.db" >"$work/said"
grep -q 'not judged' "$work/said" && ! grep -q 'its cause' "$work/said"
ok check_does_not_judge_a_recorder_that_may_pause $?
# the same of one that shows a place: -D in its command line
python3 - "$work/gap.data" "$work/paused.data" <<'END'
import sys

data = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(data.replace(b"-q\0", b"-D\0", 1))
END
"$B" ingest -q -f --no-symbols -o "$work/paused.db" "$work/paused.data"
sqlite3 "$work/paused.db" "INSERT INTO loss(capture, what, counts, cpu, t0, t1)
	SELECT 1, 'silent', 0, 0, max(time_ns) - 2000, max(time_ns) - 1000
	FROM event"
"$B" check "$work/paused.db" | tr -s ' \n' ' ' >"$work/paused"
grep -q 'that do not join in 1 place: recording paused, or' "$work/paused" &&
	grep -q 'not judged' "$work/paused" &&
	! grep -q 'its cause\|silent\|tracer ftrace' "$work/paused"
ok places_of_a_pause_are_told_without_the_advice_of_others $?
"$B" check --max-gaps 100 "$work/may.db" >"$work/said"
[ $? = 4 ]
ok nor_can_ci_pass_it $?
"$B" check "$work/gap_sure.db" >"$work/said"
[ $? = 4 ] && grep -q '^  gaps  *[0-9.]* % of the time' "$work/said"
ok check_says_how_much_gaps_touch $?
# verdict STATUS WORDS LIMIT: how check ends, and its first lines
verdict() {
	"$B" check --max-gaps "$3" "$work/gap_sure.db" >"$work/said"
	[ $? = "$1" ] && tr -s '\n ' ' ' <"$work/said" |
		grep -q "$2: [0-9.]* % of the time is touched"
}

verdict 0 'within what is tolerated' 50%
ok gaps_of_less_time_are_tolerated $?
verdict 4 broken 0.0001%
ok gaps_of_more_time_break_a_recording $?
"$B" check --max-gaps 1 --comm waiter "$work/gap_sure.db" 2>"$work/said"
[ $? = 2 ] && grep -q 'leave out the filters' "$work/said"
ok their_share_is_of_the_whole_capture $?

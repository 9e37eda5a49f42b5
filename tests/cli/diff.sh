#!/bin/sh
# diff.sh - comparing two recordings names what changed, and nothing else.
# usage: BACKSTITCH=build/backstitch MKCAP=build/mkcap tests/cli/diff.sh
# Without sanitizers: bundle.sh, json.sh and offcpu.sh compare runs under them.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=tests/captures

# split DB A B HOW: the samples of one recording in two databases, every other
# one of each event and CPU ('odd': both take turns, so that every other one of
# all would be one against the other), or the first half and the second
split() {
	python3 - "$@" <<'END'
import shutil
import sqlite3
import sys

source, a, b, how = sys.argv[1:5]
for path, odd in ((a, 0), (b, 1)):
    shutil.copy(source, path)
    db = sqlite3.connect(path)
    ids = [r[0] for r in db.execute(
        "SELECT e.id FROM event e JOIN event_type t ON t.id = e.type "
        "WHERE t.kind = 'sample' ORDER BY %s e.id"
        % ("e.type, e.cpu," if how == "odd" else ""))]
    drop = [i for n, i in enumerate(ids)
            if (n % 2 if how == "odd" else int(n >= len(ids) // 2)) != odd]
    db.executemany("DELETE FROM event WHERE id = ?", [(i,) for i in drop])
    db.execute("DELETE FROM sample_group")  # the sums of before
    db.commit()
END
}

# another DB N: makes it the database of another recording
another() {
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE capture SET bytes = bytes + ?", (sys.argv[2],))
db.commit()' "$@"
}

# judge QUESTION FILE...
judge() {
	python3 - "$@" <<'END'
import json
import sys
import xml.etree.ElementTree as ET
from fractions import Fraction
from math import comb

question, path = sys.argv[1:3]
N = "{http://www.w3.org/2000/svg}"

def frames():
    root = ET.parse(path).getroot()
    return list(root.find(".//*[@id='frames']"))

def fisher(a, whole_a, b, whole_b):
    """Twice the smaller tail, in whole numbers."""
    n, whole = a + b, comb(whole_a + whole_b, a + b)
    low = sum(comb(whole_b, k) * comb(whole_a, n - k)
              for k in range(max(0, n - whole_a), b + 1))
    high = sum(comb(whole_b, k) * comb(whole_a, n - k)
               for k in range(b, min(n, whole_b) + 1))
    return float(min(1, Fraction(2 * min(low, high), whole)))

if question == "colored":
    # names of the frames that have a color, with r(ed) or b(lue)
    print(*sorted({g.get("class")[1] + " "
                   + g.find(N + "title").text.split("\n")[0]
                   for g in frames() if g.get("class")[:2] in ("dr", "db")}),
          sep="\n")
elif question == "sum":
    print(frames()[0].get("data-w"))
elif question == "changed":
    rows = json.load(open(path))["rows"]
    kind = sys.argv[3]
    print(*sorted(r[kind + "_significant"] + " " + r["symbol"] for r in rows
                  if r[kind + "_significant"] in ("more", "less")), sep="\n")
elif question == "p":
    # the first step compares with all samples: runs differ by more than chance
    rows = json.load(open(path))["rows"]
    a = sum(r["self_a_samples"] for r in rows)
    b = sum(r["self_b_samples"] for r in rows)
    tested = [r for r in rows if r["self_p"] is not None]
    best = min(tested, key=lambda r: r["self_p"])
    want = fisher(best["self_a_samples"], a, best["self_b_samples"], b)
    sys.exit(not want * (1 - 1e-6) <= best["self_p"] < 1e-3)
elif question == "larger":
    # of the row that is tested first, before what is left differs
    rows = json.load(open(path))["rows"]
    exact = {(r["symbol"], r["image"]): r["self_p"] or 1
             for r in json.load(open(sys.argv[3]))["rows"]}
    best = min(rows, key=lambda r: r["self_p"] or 1)
    sys.exit(not best["self_p"] >= exact[best["symbol"], best["image"]])
END
}

S="--symfs $captures/symfs"
for name in before after
do
	# shellcheck disable=SC2086 # an option and its value
	# without the names of a kernel that runs here and may be the same one
	"$B" ingest -q $S --kallsyms "$captures/events.kallsyms" \
		-o "$work/$name.db" "$captures/$name.data"
done
cd "$work" || exit 2
case $B in /*) ;; *) B=$OLDPWD/$B ;; esac
captures=$OLDPWD/$captures
S="--symfs $captures/symfs"

# one function was made to take three times as long
"$B" flame --diff before.db after.db >d.svg
[ "$(judge colored d.svg)" = "r checksum" ]
ok the_function_that_became_slower_is_red_and_no_other $?
"$B" flame --diff after.db before.db >back.svg
[ "$(judge colored back.svg)" = "b checksum" ]
ok the_other_way_round_it_is_blue $?
"$B" diff --json before.db after.db >d.json
[ "$(judge changed d.json self)" = "more checksum" ]
ok the_table_names_the_same_function $?
judge changed d.json total >names
[ "$(grep -c '^more ' names)" = 5 ] && ! grep -q '^less ' names
ok its_callers_have_more_in_total $?
# without times nothing is known of noise
for name in before after
do
	cp $name.db flat-$name.db
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE event SET time_ns = 5")
db.commit()' flat-$name.db
done
"$B" diff --json flat-before.db flat-after.db >flat.json
judge p flat.json
ok the_p_is_not_below_that_of_exact_fractions $?
python3 - "$B" d.json <<'END'
import json
import subprocess
import sys

d = json.load(open(sys.argv[2]))
bad = d["a"]["name"] != "before.db" or d["b"]["name"] != "after.db"
for side in "ab":
    alone = json.loads(subprocess.run(
        [sys.argv[1], "report", "--json", d[side]["name"]],
        stdout=subprocess.PIPE, check=True).stdout)
    for key in "event", "samples", "weight", "lost", "user_stacks":
        bad |= alone[key] != d[side][key]
sys.exit(bad)
END
ok the_json_has_how_far_each_side_can_be_trusted $?
"$B" diff --format sql before.db after.db >d.sql
python3 - d.json d.sql <<'END'
import json
import sqlite3
import sys
want = json.load(open(sys.argv[1]))
db = sqlite3.connect(":memory:")
db.row_factory = sqlite3.Row
for _ in range(2):  # the second one replaces the first
    db.executescript(open(sys.argv[2]).read())
    got = json.loads(db.execute("SELECT json FROM result_head").fetchone()[0])
    got["rows"] = [dict(r) for r in db.execute("SELECT * FROM result")]
    assert len(got["rows"]) > 5 and want == got
END
ok the_sql_has_what_the_json_has $?
"$B" query --format sql before.db "SELECT 'it''s' AS \"a b\", x'00ff', NULL,
	max(id), 1.5 AS \"\"\"\" FROM event" >q.sql
[ "$(python3 -c 'import sqlite3, sys
db = sqlite3.connect(":memory:")
db.executescript(open("q.sql").read())
r = db.execute("SELECT * FROM result")
print([c[0] for c in r.description][::4], r.fetchone())' | sed 's/, [0-9]*, 1/, N, 1/')" = \
	"['a b', '\"'] (\"it's\", b'\\x00\\xff', None, N, 1.5)" ]
ok sql_of_any_query_makes_the_same_table $?
"$B" query --format sql before.db "SELECT 1 AS a, 3.0 AS A, 1e999, 1.0 / 3 AS a" >q.sql
[ "$(python3 -c 'import sqlite3
db = sqlite3.connect(":memory:")
db.executescript(open("q.sql").read())
r = db.execute("SELECT * FROM result")
print([c[0] for c in r.description], r.fetchone())')" = \
	"['a', 'A:1', '1e999', 'a:2'] (1, 3.0, inf, 0.3333333333333333)" ]
ok and_of_one_with_equal_names_and_numbers_that_are_not_finite $?
"$B" query --json before.db "SELECT -1e999 AS x" >q.json
[ "$(python3 -c 'import json
print(json.load(open("q.json"), parse_constant=len)["rows"])' 2>&1)" = "[{'x': -inf}]" ]
ok which_json_has_as_numbers_too $?
judge larger d.json flat.json
ok noise_within_a_recording_makes_p_larger $?
"$B" flame --diff --absolute before.db after.db >abs.svg
[ "$(judge colored abs.svg)" = "r checksum" ]
ok numbers_instead_of_shares_say_the_same $?
"$B" diff before.db after.db >out
head -n 1 out | grep -q '^the run of B used 27.[0-9]* % more processor time than that of A (+105 ms of cpu-clock), in 486 ms where A took 380 ms; checksum took 274.49 % more (of one run a side: no interval) and explains all of it; nothing else is proved to have changed$' &&
	"$B" diff before.db before.db | head -n 1 | grep -q '^the run of B used about as much processor time as that of A (+0 ns of cpu-clock), in 380 ms each; no function is proved to have changed$'
ok the_first_sentence_says_which_of_two_runs_used_more_time $?
# half of the samples of one function vanish
cp after.db luck.db
python3 - <<'END'
import sqlite3
db = sqlite3.connect("luck.db")
assert db.execute("DELETE FROM event WHERE id % 2 = 0 AND id IN (SELECT s.event_id FROM samples s JOIN stack_frames f "
                  "ON f.stack = s.user_stack WHERE f.pos = 0 AND f.symbol = 'checksum')").rowcount > 20
db.execute("DELETE FROM sample_group")
db.commit()
END
"$B" diff --json after.db luck.db | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["cause"] is None, d["cause"]
assert "; checksum, the same code, took less, as its input, its place in memory or the machine may make it: several runs of each side tell more" in d["says"], d["says"]'
ok what_other_programs_may_make_of_the_same_code_is_no_cause $?
"$B" ingest -q -o also.db "$captures/before.data"
"$B" ingest -q -o too.db "$captures/after.data"
"$B" diff before.db also.db -- after.db >/dev/null 2>err
[ $? = 2 ] && grep -q '^backstitch: also.db: an earlier run of this side has its capture, too, and a run counts once' err
ok a_recording_in_two_databases_counts_once $?
another also.db 1 && another too.db 1
"$B" diff before.db also.db -- after.db too.db | head -n 1 | grep -q '^a run of B uses 27.[0-9]* % more processor time than one of A (+105 ms of cpu-clock; 95 %: +3.37 to +57.94 %), in 486 ms where A took 380 ms; '
ok of_several_a_side_whether_a_run_uses_more $?
# the same means, of runs of which the shortest of B is shorter than the longest of A
for run in before after
do
	cp $run.db half-$run.db && python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM event WHERE id % 2 = 0")
db.execute("DELETE FROM sample_group")
db.commit()' half-$run.db && another half-$run.db 2
done
"$B" diff before.db half-before.db -- after.db half-after.db | head -n 1 | grep -q '^it is not proved that a run of B uses more processor time than one of A (+[0-9.]* ms of cpu-clock; 95 %: -[0-9.]* to +[0-9.]* %), in '
ok runs_that_lie_apart_unproved_are_not_called_about_the_same $?
for name in ctx2-defer.data.zst overwrite-defer.data.zst offcpu-60.data \
	offcpu-616.data builds/o2b.data.zst builds/o2fp-1.data.zst
do
	"$B" ingest -q --no-symbols -o "said-$(basename "$name").db" \
		"$captures/$name"
done
# sentence A B: the first one
sentence() {
	"$B" diff "said-$1.db" "said-$2.db" 2>/dev/null | head -n 1
}
sentence ctx2-defer.data.zst overwrite-defer.data.zst |
	grep -q '% less processor time than that of A (-855 ms of cpu-clock), in .*; .* took 74.94 % less (of one run a side: no interval), in .*+0x12406cf. -82.13 points and explains 57.20 % of it; nothing else is proved to have changed$'
ok it_says_what_explains_that_a_run_took_less $?
sentence offcpu-60.data offcpu-616.data |
	grep -q '^the run of B used 2000 times as much processor time as that of A (+2.00 ms'
ok many_times_as_long_is_no_percentage $?
sentence o2b.data.zst o2fp-1.data.zst |
	grep -q '(-229 ms of cpu-clock:u), in .*; \[in o2b\] was not seen in B and explains all of it; 1 other function changed$'
ok what_is_not_in_the_second_side_is_said_so $?
"$B" diff --absolute before.db after.db >out &&
	grep -q '^ *+[0-9.]* ms  more .* checksum ' out
ok changes_of_weights_have_their_unit $?
"$B" diff --absolute before.db after.db -- after.db before.db >out &&
	grep -q '^ *Change .*  Self A, all runs  Self B, all runs  ' out
ok weights_of_all_runs_are_said_to_be_that $?
"$B" flame --diff --diff-by total before.db after.db >total.svg
judge colored total.svg >names
grep -q '^r reply$' names && ! grep -q 'lookup\|parse\|format' names
ok by_total_the_caller_is_red_and_its_sisters_are_not $?
! grep -qx 'r all' names && grep -q '^total: .* 100.00 % to 100.00 %, 74.96 % if same, +25.04 points<' total.svg
ok the_share_of_all_is_not_judged $?
grep -q '^total: .* points, more (p .*by what did not' total.svg
ok but_the_share_of_others_is $?
grep -q '>A: before.db, 378 samples; B (the widths): after.db, 483 samples<' \
	d.svg && grep -q 'A: before.db, capture .*before.data of vm, cpu-clock, 378' d.svg
ok both_recordings_are_named_on_the_picture $?
want=$("$B" query --format csv after.db 'SELECT sum(weight) FROM samples' |
	tail -n 1)
[ "$(judge sum d.svg)" = "$want" ]
ok the_widths_are_those_of_the_second $?
"$B" flame --diff before.db after.db | cmp -s - d.svg
ok the_same_inputs_give_the_same_bytes $?

# what loss could explain is not called a change
cp after.db lost.db
python3 - <<'END'
import sqlite3
db = sqlite3.connect("lost.db")
db.execute("INSERT INTO loss(id, capture, what, counts, n) VALUES("
           "(SELECT coalesce(max(id), 0) + 1 FROM loss), 1, 'lost', 1, 5000)")
db.commit()
END
"$B" flame --diff before.db lost.db >lost.svg
[ -z "$(judge colored lost.svg)" ] && grep -q '5,000 records lost' lost.svg
ok what_loss_could_explain_is_no_change $?

# the same with user halves that are missing: of the samples that ended in one
# function, two thirds lost their chain, or four of five were never taken: two
# thirds fewer is no more than other programs may make of the same code in one run
"$B" ingest -q -f --no-symbols -o a.db "$captures/z-defer.data"
python3 - <<'END'
import shutil
import sqlite3
for name in ("unjoined.db", "fewer.db"):
    shutil.copy("a.db", name)
    db = sqlite3.connect(name)
    stack, n = db.execute(
        "SELECT r.uraw, count(*) FROM request r JOIN event e ON e.id = r.event "
        "WHERE e.kraw IS NULL AND r.uraw IS NOT NULL GROUP BY 1 "
        "ORDER BY 2 DESC, 1").fetchone()
    which = ("SELECT r.event FROM request r JOIN event e ON e.id = r.event "
             "WHERE e.kraw IS NULL AND r.uraw = %d AND r.event %% %d"
             % (stack, 3 if name[0] == "u" else 5))
    if name[0] == "u":
        db.execute("UPDATE request SET uraw = NULL, verdict = (SELECT id FROM "
                   "word WHERE kind = 'request' AND name = 'chain_lost') "
                   "WHERE event IN (%s)" % which)
    else:
        db.execute("DELETE FROM event WHERE id IN (%s)" % which)
    db.execute("DELETE FROM sample_group")  # the sums of before
    db.commit()
END
"$B" flame --diff a.db fewer.db >fewer.svg
# that one, and the only caller of several under which it has fewer
[ "$(judge colored fewer.svg | grep -c '^b')" = 2 ]
ok fewer_samples_of_a_function_are_less $?
"$B" flame --diff a.db unjoined.db >unjoined.svg
[ -z "$(judge colored unjoined.svg)" ] &&
	grep -q 'B: unjoined.db, .* without user half' unjoined.svg
ok what_missing_user_halves_could_explain_is_no_change $?
"$B" diff --json a.db unjoined.db >unjoined.json
judge changed unjoined.json self >names
! grep -q '^less ' names
ok and_the_table_says_the_same $?

# one recording in two halves
bad=
n=0
for f in fp-1 before after dlchurn group z-defer ctx2-defer overwrite-defer \
	defer-lost-clock two-f s390x-z
do
	for c in "$captures/$f".data*
	do
		# shellcheck disable=SC2086 # an option and its value
		"$B" ingest -q -f $S -o whole.db "$c" 2>/dev/null
	done
	hows=odd
	# those programs do the same from the beginning to the end
	case $f in fp-1 | before | after | dlchurn | group) hows="odd half" ;;
	esac
	for how in $hows
	do
		split whole.db a.db b.db "$how"
		"$B" flame --diff --event cpu-clock a.db b.db >s.svg 2>/dev/null &&
			[ -z "$(judge colored s.svg)" ] &&
			grep -q 'significant: 0 more in B, 0 less' s.svg &&
			"$B" diff --json --event cpu-clock a.db b.db \
				>s.json &&
			[ -z "$(judge changed s.json self)" ] &&
			[ -z "$(judge changed s.json total)" ] ||
			bad="$bad $f/$how"
		n=$((n + 1))
	done
done
[ -z "$bad" ] && [ $n = 16 ] || echo "split: $n,$bad"
[ -z "$bad" ] && [ $n = 16 ]
ok one_recording_split_in_two_shows_no_change $?

# folded stacks in
printf 'c;m;f 200\nc;m;g_[k] 200\nc;m;h 200\nc;m;old;x 30\nc;m;i 210\n' >a
printf 'c;m;f 210\nc;m;g_[k] 500\nc;m;h 190\nc;m;i 205\nc;m;j 3\n' >b
"$B" flame --diff --from-folded a b >t.svg
grep -q '>gone from A: x 3.57 %; 30 samples<' t.svg &&
	[ "$(judge colored t.svg)" = "r g" ]
ok what_vanished_is_a_row_below $?
grep -q '<text id="details"[^>]*>g took 150.82 % more (of one run a side: no interval); 1 other function changed<' t.svg &&
	[ "$(grep -c 'class="dr[0-9] most"' t.svg)" = 1 ] &&
	grep 'class="dr[0-9] most"' t.svg | grep -q '<title>g$'
ok the_cause_is_said_and_has_a_frame $?
# 2.4 deviations of chance: more than noise, less than is proved
printf 'm;f 1000\nm;g 100\nm;h 500\n' >doubt_a
printf 'm;f 1000\nm;g 140\nm;h 500\n' >doubt_b
"$B" flame --diff --from-folded doubt_a doubt_b >doubt.svg
grep -A3 'class="dm"' doubt.svg | head -1 | grep -q '<title>g$' &&
	[ "$(grep -c '<g class="d[ml]" data-s' doubt.svg)" = 1 ] &&
	grep -q 'not significant (p 0.0' doubt.svg &&
	grep -q '>larger than the noise, not proved<' doubt.svg &&
	[ -z "$(judge colored doubt.svg)" ]
ok what_is_more_than_noise_but_not_proved_has_a_pale_tint $?
# what grew is too little in each of twenty callees; a large function has a smaller
# share for that
for side in a:62 b:124
do
	{
		echo 'c;main;price 6000'
		for i in 1 2 3 4 5 6 7 8; do echo "c;main;other$i 350"; done
		for i in 1 2 3 4 5 6 7 8 9; do
			echo "c;main;index_words;small$i ${side#*:}"
			echo "c;main;index_words;deep;small$i ${side#*:}"
		done
	} >"spread-${side%:*}"
done
bad=0
"$B" flame --diff --from-folded --fail-above 0 spread-a spread-b >spread.svg 2>err
[ $? = 4 ] && grep -q '^grew by more than 0 %: index_words, +[0-9.]* % (p ' err || bad=1
grep -q '>index_words took 100.00 % more (of one run a side: no interval), in small[1-9] +[0-9.]*, .* points; nothing else is proved to have changed<' spread.svg || bad=1
judge colored spread.svg | grep -q '^r index_words$' || bad=1
"$B" flame --diff --from-folded --diff-by total spread-a spread-b >spread.svg
judge colored spread.svg >names
grep -q '^r index_words$' names && ! grep -q 'price\|other\|^b' names || bad=1
ok what_is_spread_over_callees_is_named_by_their_caller $bad
# a callee of two grew under one of them only; then under both
printf 'c;main;x;copy 500\nc;main;y;copy 500\nc;main;z 4000\nc;main;x 300\nc;main;w 3000\n' >called-a
printf 'c;main;x;copy 900\nc;main;y;copy 500\nc;main;z 4000\nc;main;x 300\nc;main;w 3000\n' >called-b
printf 'c;main;x;copy 900\nc;main;y;copy 900\nc;main;z 4000\nc;main;x 300\nc;main;w 3000\n' >called-c
"$B" flame --diff --from-folded called-a called-b | grep -q '>x took 50.00 % more (of one run a side: no interval), in copy ' &&
	"$B" flame --diff --from-folded called-a called-c | grep -q '>copy took 80.00 % more (of one run a side: no interval); nothing else'
ok who_calls_it_more_often_is_the_cause_unless_all_do $?
# the share of who called a leaf that has no frame in B is in stacks without it
{
	printf 'c;main;teller;matrix 300\nc;main;teller;matrix;scale 300\n'
	printf 'c;main;x 4000\nc;main;teller;price 500\nc;main;y 3000\n'
} >hidden-a
{
	printf 'c;main;[caller missing];matrix 600\nc;main;x 4000\n'
	printf 'c;main;teller;price 500\nc;main;y 3000\n'
} >hidden-b
"$B" flame --diff --from-folded hidden-a hidden-b >hidden.svg
grep -q '>scale was not seen in B, and matrix itself as much more: inlined?; nothing else' hidden.svg &&
	! judge colored hidden.svg | grep -q teller
ok who_vanishes_from_stacks_that_lack_a_caller_has_not_less $?
# samples without a caller are of no other caller
printf 'c;main;clerk;x 6000\nc;main;clerk;push 6\nc;push 8\nc;main;y 8000\n' >alone-a
printf 'c;main;clerk;x 6010\nc;main;clerk;push;lock 200\nc;main;clerk;push;unlock 200\nc;push 9\nc;main;y 8000\n' >alone-b
"$B" flame --diff --from-folded alone-a alone-b | grep -q '>push took .* times as much (of one run a side: no interval), in lock '
ok stacks_without_a_caller_do_not_tell_who_calls_more $?
# its code is in its caller now
printf 'c;main;f 1000\nc;main;f;g 900\nc;main;z 4000\n' >own-a
printf 'c;main;f 1900\nc;main;z 4000\n' >own-b
"$B" flame --diff --from-folded own-a own-b |
	grep -q '>g was not seen in B, and f itself as much more: inlined?; nothing else'
ok what_was_inlined_is_no_growth_of_its_caller $?
# old has no self: its row would show the total beside a test of self
! grep -q '>gone from A: old' t.svg &&
	"$B" flame --diff --diff-by total --from-folded a b |
	grep -q '>gone from A: old 3.57 %; 30 samples'
ok what_vanished_is_shown_by_the_measure_that_is_tested $?
printf 'c;</title><script>;a 200\nc;b 100\n' >hell
"$B" flame --diff --diff-by total --from-folded hell b >h.svg
grep -q 'gone from A: &lt;/title&gt;&lt;script&gt; 66.67 %' h.svg &&
	[ "$(judge sum h.svg)" = 1108 ]
ok hostile_names_that_vanished_stay_text $?

# what interrupts a thread is not its own work: one run of each side cannot tell
for side in a:4 b:160
do
	printf 'c;m;f 700\nc;m;do_syscall_64_[k] 300\nc;m;asm_sysvec_reschedule_ipi_[k];irqentry_exit_[k] %d\n' \
		"${side#*:}" >"irq-${side%:*}"
done
for by in self total
do
	"$B" flame --diff --from-folded --diff-by $by irq-a irq-b >irq.svg
	[ -z "$(judge colored irq.svg)" ] && grep -q 'irqentry_exit' irq.svg &&
		grep -q "^$by: A 4 samples, B 160 .*, not known: of interrupts, several runs of each side tell" irq.svg
	ok interrupts_of_one_run_a_side_are_not_judged_by_$by $?
done
for i in 1 2 3 4
do
	cp irq-a irq-a$i
	cp irq-b irq-b$i
done
"$B" flame --diff --from-folded 'irq-a[1-4]' -- 'irq-b[1-4]' >irq.svg
[ "$(judge colored irq.svg)" = "r irqentry_exit" ]
ok of_several_they_are $?
sed 's/asm_sysvec_reschedule_ipi/asm_exc_page_fault/' irq-a >fault-a
sed 's/asm_sysvec_reschedule_ipi/asm_exc_page_fault/' irq-b >fault-b
"$B" flame --diff --from-folded fault-a fault-b >irq.svg
[ "$(judge colored irq.svg)" = "r irqentry_exit" ]
ok page_faults_are_its_own $?

# several runs of each side: every fourth sample of a recording is one of them
parts() {	# parts NAME: NAME-1.db ... NAME-4.db of NAME.db
	python3 - "$1" <<'END'
import shutil
import sqlite3
import sys

name = sys.argv[1]
for i in range(4):
    path = "%s-%d.db" % (name, i + 1)
    shutil.copy(name + ".db", path)
    db = sqlite3.connect(path)
    ids = [r[0] for r in db.execute(
        "SELECT e.id FROM event e JOIN event_type t ON t.id = e.type "
        "WHERE t.kind = 'sample' ORDER BY e.type, e.cpu, e.id")]
    db.executemany("DELETE FROM event WHERE id = ?",
                   [(e,) for n, e in enumerate(ids) if n % 4 != i])
    db.execute("DELETE FROM sample_group")  # the sums of before
    db.execute("UPDATE capture SET bytes = bytes + ?", (i,))
    db.commit()
END
}
parts before
parts after
"$B" flame --diff 'before-*.db' -- 'after-*.db' >runs.svg
[ "$(judge colored runs.svg)" = "r checksum" ] && grep -q 'how they differ between runs' runs.svg &&
	grep -q '>A: before-\*.db (4 runs), 378 samples; B (the widths): after-\*.db (4 runs), 483 samples<' runs.svg
ok of_several_runs_the_slower_function_is_red $?
"$B" diff 'before-*.db' -- 'after-*.db' | head -n 1 >says
sed 's/.*; checksum takes 274.49 % more (95 %: +\([0-9.]*\) to +\([0-9.]*\) %) and .*/\1 \2/' says |
	awk '{ exit !($1 > 100 && $1 < 274.49 && $2 > 274.49 && $2 < 600) }' &&
	! grep -q 'no interval' says
ok its_number_has_an_interval $?
"$B" diff --json 'before-*.db' -- 'after-*.db' >runs.json &&
	"$B" diff --json before.db after.db >two.json && python3 - <<'END'
import json

two, runs = (json.load(open(f))["cause"] for f in ("two.json", "runs.json"))
low, high = open("says").read().split("more (95 %: +")[1].split(" %)")[0].split(" to +")
assert two["times_low"] is None and two["times_high"] is None
assert "%.2f %.2f" % (100 * runs["times_low"] - 100, 100 * runs["times_high"] - 100) == low + " " + high
END
ok so_it_has_in_json $?
"$B" diff before-1.db before-3.db -- before-2.db before-4.db | head -n 1 |
	grep -q '^it is not proved that a run of B uses [a-z]* processor time than one of A (.*95 %: -[1-9].* to +[1-9].* %), in .*; no function is proved to have changed$' &&
	"$B" diff --sort dso before-1.db before-3.db -- before-2.db before-4.db | head -n 1 |
	grep -q '; nothing is proved to have changed$'
ok that_nothing_changed_is_said_in_the_first_sentence $?
"$B" flame --diff before-1.db before-2.db before-3.db before-4.db -- after-[1234].db >list.svg
[ "$(judge colored list.svg)" = "r checksum" ] && grep -q 'A: before-1.db and 3 other runs, 378' list.svg
ok runs_may_be_listed $?
[ "$(judge sum runs.svg)" = "$want" ]
ok the_widths_are_the_sum_of_the_runs $?
grep -q 'checksum.*' runs.svg && grep -q 'of the runs [0-9.]* ± [0-9.]* % and [0-9.]* ± [0-9.]* %' runs.svg
ok the_tooltip_has_what_the_runs_differ_by $?
"$B" diff --json 'before-*.db' -- 'after-*.db' >runs.json
[ "$(judge changed runs.json self)" = "more checksum" ]
ok the_table_of_runs_names_the_same_function $?
# Moderated t, by hand, of the first step: the samples of all places
for i in 1 2 3 4
do
	"$B" report --json --sort sym before-$i.db >run-a$i.json && "$B" report --json --sort sym after-$i.db >run-b$i.json
done 2>/dev/null
python3 - <<'END'
import json
import math
rows = json.load(open("runs.json"))["rows"]
share = {}
for side in "ab":
    for i in range(1, 5):
        of = json.load(open("run-%s%d.json" % (side, i)))["rows"]
        whole = sum(r["self_samples"] for r in of)
        for r in of:
            share.setdefault((r["symbol"], r["kind"]), {"a": [0] * 4, "b": [0] * 4})[side][i - 1] += \
                r["self_samples"] / whole
# code without a name is "[libc.so.6]" in one recording
rows = [r for r in rows if r["kind"] != "unnamed"]
for r in rows:
    for side in "ab":
        v = share[r["symbol"], r["kind"]][side]
        mean = sum(v) / 4
        sd = math.sqrt(sum((x - mean) ** 2 for x in v) / 3)
        assert abs(100 * sd - r["self_%s_deviation" % side]) < 1e-4, (r, sd)
best = [r for r in rows if r["self_significant"]][0]
v = share[best["symbol"], best["kind"]]
ns = [sum(r["self_samples"] for r in json.load(open("run-%s%d.json" % (s, i)))["rows"])
      for s in "ab" for i in range(1, 5)]
mean = {s: sum(v[s]) / 4 for s in "ab"}
rate = (best["self_a_samples"] + best["self_b_samples"]) / sum(ns)
var = []
known = []
for k, s in enumerate("ab"):
    each = sum(1 / n for n in ns[4 * k:4 * k + 4]) / 16
    # what is usual for functions with ten samples a run: the fewest degrees of
    # freedom of its distribution that are likely; others are compared without
    # what changed
    vary = []
    for sh in share.values():
        size = [n * (1 if sh is v else 1 - x) for n, x in zip(ns, v["a"] + v["b"])]
        count = [x * n for x, n in zip(sh["a"] + sh["b"], ns)]
        if sum(count) < 79.5:
            continue
        rows = [c / n for c, n in zip(count, size)][4 * k:4 * k + 4]
        m = sum(rows) / 4
        part = sum(count) / sum(size)
        vary.append((sum((x - m) ** 2 for x in rows) / 12,
                     part * (1 - part) * sum(1 / n for n in size[4 * k:4 * k + 4]) / 16,
                     (m * (1 - m)) ** 2 / 4))
    likely = {}
    for d0 in (2 ** (i / 2) for i in range(13)):
        for b in [0] + [2 ** (i / 2) / 64 for i in range(13)]:
            u = [c + b * b * o for _, c, o in vary]
            likely[d0, b] = sum(
                math.lgamma((3 + d0) / 2) - math.lgamma(d0 / 2) - 1.5 * math.log(d0 * x)
                - (3 + d0) / 2 * math.log1p(3 * y[0] / d0 / x) for x, y in zip(u, vary))
    most = max(likely.values())
    d0 = min(d for (d, _), y in likely.items() if y > most - 2)
    b = max((y, b) for (d, b), y in likely.items() if d == d0)[1]
    if d0 < 1.2:
        d0 = 0
    m = max(mean.values())
    own = sum((x - mean[s]) ** 2 for x in v[s]) / 3 / 4
    usual = rate * (1 - rate) * each + b * b * (m * (1 - m)) ** 2 / 4
    var.append(max(rate * (1 - rate) * each, (3 * own + d0 * usual) / (3 + d0)))
    known.append(3 + d0)
t = (mean["b"] - mean["a"]) / math.sqrt(sum(var))
df = sum(var) ** 2 / sum(x * x / d for x, d in zip(var, known))
assert max(known) > 3, known
# the tail by Simpson's rule over the angle: t = sqrt(df) tan(u)
c = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
lo, hi, n = math.atan(t / math.sqrt(df)), math.pi / 2, 20000
h = (hi - lo) / n
f = lambda u: max(0.0, math.cos(u)) ** (df - 1)
s = sum(f(lo + i * h) * (1 if i in (0, n) else 4 if i % 2 else 2) for i in range(n + 1))
p = 2 * c * s * h / 3
# times the number of functions that are tested
times = best["self_p"] / p
assert round(times) > 1 and abs(times - round(times)) < 1e-4 * times, (p, best["self_p"], t, df)
END
ok the_p_of_runs_is_that_of_a_moderated_t $?
"$B" flame --diff before-1.db before-3.db -- before-2.db before-4.db >none.svg &&
	[ -z "$(judge colored none.svg)" ] &&
	"$B" flame --diff 'after-[12].db' -- 'after-[34].db' >none.svg && [ -z "$(judge colored none.svg)" ]
ok runs_of_one_recording_show_no_change $?
"$B" flame --diff before.db -- after.db | sed 's/\(before.db\) -- /\1 /' | cmp -s - d.svg
ok one_run_against_one_is_as_without_a_line $?
bad=0
"$B" page --diff before.db -- before.db after.db >page.html 2>err &&
	tr -d '\n' <page.html | grep -q '"sides":\[\["A: before.db, .*, cpu-clock, 378 samples","A: All user stacks [^"]*"\],\["B: before.db and 1 other run, cpu-clock, 861 samples","B, its first run: All user stacks [^"]*"\]\]' || bad=1
"$B" page --diff --absolute before.db -- before.db after.db >page.html 2>err &&
	tr -d '\n' <page.html | grep -q '"runs":\[1,2\]' || bad=1
ok a_page_compares_runs $bad

# status: what grew by more than is allowed
"$B" diff --fail-above 5 'before-*.db' -- 'after-*.db' >out 2>err
[ $? = 4 ] && grep -q '^grew by more than 5 %: checksum, slower, +[0-9.]* % (p [0-9.e-]*)$' err && [ "$(wc -l <err)" = 1 ]
ok growth_is_status_4 $?
bad=0
"$B" flame --diff --fail-above 5% 'before-*.db' -- 'after-*.db' >/dev/null 2>err
[ $? = 4 ] && grep -q '^grew by more than 5%: checksum' err || bad=1
"$B" flame --diff --fail-above 5 before.db after.db >/dev/null 2>err
[ $? = 4 ] || bad=1
"$B" flame --diff --absolute --fail-above 5 before.db after.db >/dev/null 2>err
[ $? = 4 ] && grep -q checksum err || bad=1
"$B" flame --diff --fail-above 80 before.db after.db >/dev/null 2>err && ! [ -s err ] || bad=1
"$B" flame --diff --fail-above 0 after.db before.db >/dev/null 2>err || bad=1
"$B" flame --diff --fail-above 0 before.db before.db >/dev/null 2>err || bad=1
ok less_and_small_changes_are_status_0 $bad
# status: one run of a side leaves open whether 0x127c grew by 4.62 % of all; what
# differs by less than chance is not open
bad=0
for c in before after
do
	"$B" ingest -q -o bare-$c.db "$captures/$c.data" || bad=1
done
for how in diff 'flame --diff'
do
	# shellcheck disable=SC2086 # a command and its option
	"$B" $how --fail-above 3 --function 0x127c bare-before.db bare-after.db >/dev/null 2>err
	[ $? = 5 ] && grep -q '^cannot be judged: \[slower+0x127c\].*, +4.62 %: one run of a side .*; give several' err &&
		[ "$(wc -l <err)" = 1 ] || bad=1
	for o in '5 --function 0x127c' '1 --function 0x1261'
	do
		# shellcheck disable=SC2086
		"$B" $how --fail-above $o bare-before.db bare-after.db >/dev/null 2>err && ! [ -s err ] || bad=1
	done
	# shellcheck disable=SC2086
	"$B" $how --fail-above 3 bare-before.db bare-after.db >/dev/null 2>err
	[ $? = 4 ] && ! grep -q 'cannot be judged' err || bad=1
done
ok what_one_run_cannot_tell_is_status_5 $bad
# more samples of so little weight that they are less of the whole
cp after.db light.db
python3 - <<'END'
import sqlite3
db = sqlite3.connect("light.db")
db.execute("UPDATE event SET weight = weight / 100 WHERE id IN (SELECT "
           "s.event_id FROM samples s JOIN stack_frames f "
           "ON f.stack = s.user_stack "
           "WHERE f.pos = 0 AND f.symbol = 'checksum')")
db.execute("DELETE FROM sample_group")  # the sums of before
db.commit()
END
"$B" diff --fail-above 0 before.db light.db >out 2>err &&
	grep -q '^ *12.17 .* -[0-9.]*  more .* checksum  *slower$' out && ! [ -s err ]
ok more_samples_of_less_weight_are_no_growth $?

# a row is named by all of its keys
cp after.db moved.db
python3 - <<'END'
import sqlite3
db = sqlite3.connect("moved.db")
db.execute("UPDATE event SET cpu = 3")
db.execute("UPDATE comm SET name = 'other'")
db.execute("DELETE FROM sample_group")  # the sums of before
db.commit()
END
pid=$("$B" query --format csv moved.db 'SELECT DISTINCT pid FROM samples' | tail -n 1)
bad=0
for k in "cpu=cpu 3" "comm=other" "pid=pid $pid" "tid,cpu=tid $pid, cpu 3" "comm,pid=other, pid $pid"
do
	"$B" diff --fail-above 5 --sort "${k%%=*}" before.db moved.db >out 2>err
	[ $? = 4 ] && grep -q "^grew by more than 5 %: ${k#*=}, +" err || bad=1
done
"$B" diff --fail-above 5 --sort sym,dso before.db moved.db >out 2>err
[ $? = 4 ] && grep -q '^grew by more than 5 %: checksum, [^ ]*slower[^ ]*, +' err || bad=1
ok a_message_has_the_keys_of_its_row $bad
bad=0
for k in parallelism latency sym,latency
do
	"$B" diff --sort $k before.db moved.db >out 2>err
	[ $? = 2 ] && grep -q "latency or parallelism is of one recording: ask 'report'" err || bad=1
done
ok how_many_threads_ran_is_of_one_recording $bad

bad=0
for o in '--fail-above x before.db after.db' '--fail-above -1 before.db after.db' '--fail-above 1%% before.db after.db' \
	'before-1.db before-1.db -- after.db' 'before.db -- ' '-- before.db' 'before.db after.db before-1.db'
do
	# shellcheck disable=SC2086 # options
	"$B" diff $o >/dev/null 2>&1
	[ $? = 2 ] || bad=1
done
"$B" report --fail-above 1 before.db >/dev/null 2>&1
[ $? = 2 ] || bad=1
"$B" diff 'none-*.db' -- after.db >/dev/null 2>err
[ $? = 1 ] && grep -q 'no file matches' err || bad=1
ok wrong_runs_are_wrong_usage $bad

# numbers of runs are compared by their mean, however many there are
for i in 1 2 3 4 5
do
	printf 'c;m;f %d\nc;m;g %d\n' $((500 + i)) $((700 - 2 * i)) >text-a$i
	printf 'c;m;f %d\nc;m;g %d\n' $((503 - i)) $((1400 - i)) >text-b$i
done
"$B" flame --diff --absolute --from-folded 'text-a[12345]' -- 'text-b[123]' >abs.svg
[ "$(judge colored abs.svg)" = "r g" ] && grep -q '^self: A 3,470 samples, B 4,194 samples; 694 to 1398, +704' abs.svg
ok numbers_of_runs_are_means $?

# names that a compiler made
printf 'c;m.constprop.0;f.isra.0 200\nc;m.constprop.0;f.cold 10\nc;m;g 300\n' >old
printf 'c;m;f 212\nc;m;g.part.1 290\n' >new
folded --from-folded --fold-suffixes old >one
printf '%s\n' 'c;m;f 210' 'c;m;g 300' | cmp -s - one
ok generated_suffixes_are_folded $?
"$B" flame --diff --from-folded old new >apart.svg
grep -q 'significant: 2 more in B, 2 less' apart.svg
ok and_only_then $?
"$B" report --json --fold-suffixes before.db >a.json && "$B" report --json before.db | cmp -s - a.json
ok names_without_suffixes_stay $?

# include and exclude
folded --from-folded --include '^h$' --include m b >one
printf 'c;m;h 190\n' | cmp -s - one
ok include_keeps_stacks_with_all_of_them $?
folded --from-folded --exclude 'g|h' b >rest
! grep -q 'g_\|;h ' rest && grep -q ';f 210$' rest
ok exclude_drops_stacks_with_any_of_them $?
"$B" flame --from-folded --exclude g b | grep -q \
	'>45.13 % of the weight is left out by --include and --exclude<'
ok what_is_left_out_is_said $?
"$B" flame --from-folded --include nothing b >/dev/null 2>err
[ $? = 1 ] && grep -q 'leave no stack' err
ok nothing_left_is_an_error $?

bad=0
for o in '--diff before.db' '--diff' '--diff a.db b.db before.db' \
	'--diff --diff-by x a b' '--include (' '--exclude *['
do
	# shellcheck disable=SC2086 # options
	"$B" flame $o >/dev/null 2>&1
	[ $? = 2 ] || bad=1
done
"$B" diff before.db >/dev/null 2>&1
[ $? = 2 ] || bad=1
"$B" diff --callers main before.db after.db >/dev/null 2>&1
[ $? = 2 ] || bad=1
ok wrong_options_are_wrong_usage $bad
"$B" diff --library '(' before.db after.db >/dev/null 2>err
[ $? = 2 ] && grep -q "'(' is no regular expression\|( is no regular expression" err
ok a_library_is_a_regular_expression $?
"$B" ingest -q --no-symbols -o sched.db "$captures/task-exitexec.data" \
	2>/dev/null
"$B" flame --diff before.db sched.db >/dev/null 2>err
[ $? = 1 ] && grep -q "sched.db: no samples of 'cpu-clock'" err
ok recordings_of_different_events_are_not_compared $?

# --- marks

"$B" ingest -q -f -o marked.db "$root/tests/captures/pipe-zstd.data" 2>/dev/null
marks() {
	"$B" flame "$@" 2>/dev/null | grep -o 'class="[bme]"' | sort | uniq -c
}
is fabricated_and_missing_callers_are_hatched_as_without_diff \
	"$(marks marked.db)" "$(marks --diff marked.db marked.db)"
[ -n "$(marks marked.db)" ]
ok and_there_are_some $?

# --- all CPUs of a machine, whose others are no change of the program

# shared OUT SECONDS WORK HELPER BURN: samples of a millisecond each of a program, of one that it started, and of another one
shared() {
	python3 - "$@" <<'END' >shared.txt
import sys

seconds, *samples = map(int, sys.argv[2:])
print("event cpu-clock period=1000000\ncmdline /usr/bin/perf record -a -- ./work")
print("comm pid=100 name=perf-exec time=1000 cpu=0\ncomm pid=100 name=work exec time=2000 cpu=0")
print("fork pid=101 tid=101 ppid=100 ptid=100 time=3000 cpu=0\ncomm pid=101 name=helper exec time=4000 cpu=0")
print("comm pid=200 name=burn time=5000 cpu=0")
for pid in 100, 101, 200:
    print("mmap pid=%d start=0x400000 len=0x10000 pgoff=0x1000 path=/bin/%d" % (pid, pid))
all_of = sorted((int((i + .5) * seconds * 1e9 / n), pid) for n, pid in zip(samples, (100, 101, 200)) for i in range(n))
for time, pid in all_of:
    print("sample pid=%d tid=%d cpu=0 time=%d period=1000000 ip=0x400010 u=0x400010" % (pid, pid, 10000 + time))
END
	"${MKCAP:-build/mkcap}" shared.txt "$1.data" && "$B" ingest -q -f --no-symbols -o "$1.db" "$1.data"
}
shared quiet 1 600 200 200 && shared loud 1 600 200 900 && shared grown 1 600 900 200 && shared long 3 1800 600 600
# busier A B: what diff says of the machine first
busier() { "$B" diff --json "$1.db" "$2.db" 2>err | python3 -c 'import json, sys
says = json.load(sys.stdin)["says"]
print(says[:says.index("; the run")] if "; the run" in says else "")'; }
is that_others_had_more_is_said_first "the machine was busier in B: other programs had 0.90 CPUs in B, 0.20 in A; work itself used 800 ms in B, \
800 ms in A ('--comm work' compares that alone)" "$(busier quiet loud)"
is or_that_they_had_less "the machine was busier in A: other programs had 0.20 CPUs in B, 0.90 in A; work itself used 800 ms in B, 800 ms in A \
('--comm work' compares that alone)" "$(busier loud quiet)"
is but_not_of_what_the_program_started "" "$(busier quiet grown)"
is nor_of_a_run_that_is_longer "" "$(busier quiet long)"
"$B" page --diff quiet.db loud.db 2>err | grep -q '"cause":"the machine was busier in B: other programs had 0.90 CPUs in B'
ok a_page_says_so $?

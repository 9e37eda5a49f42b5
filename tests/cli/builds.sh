#!/bin/sh
# builds.sh - two builds of one program are compared: what is new, gone, renamed
# and slower; rates of changes that are none.
# usage: BACKSTITCH=build/backstitch tests/cli/builds.sh
# Without sanitizers: diff.sh compares recordings under them.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=$PWD/tests/captures/builds
cd "$work" || exit 2

# names and callers are those of the programs here, whatever was read before
export HOME="$work" XDG_CACHE_HOME="$work/cache"
# the programs, where they were recorded
mkdir -p symfs/wl
cp "$captures"/o2fp "$captures"/o2b "$captures"/o2new "$captures"/o2ren symfs/wl
for name in o2fp-1 o2fp-2 o2b o2new o2ren
do
	"$B" ingest -q --symfs symfs -o $name.db "$captures/$name.data.zst" || exit 1
done
diff() {
	"$B" diff --symfs symfs "$@" 2>err
}
# rows WORD FILE: the functions with this word in a column of shares, then weights
rows() {
	python3 - "$@" <<'PY'
import json
import sys
word, path = sys.argv[1:]
rows = json.load(open(path))["rows"]
for key in "self_significant", "self_weight_significant":
    print(*sorted(r["symbol"] for r in rows if r[key] == word))
PY
}

# the file names differ: the functions do not
diff o2fp-1.db o2b.db >out && grep -q '^o2fp of A is taken for o2b of B: 100.00 % of it is functions of the same names (--match o2fp=o2fp keeps them apart)$' out &&
	! grep -q 'cannot be compared' out && grep -q ' Sqrt::price  *o2b$' out
ok builds_with_other_file_names_are_matched_and_it_is_said $?
diff --match o2fp=o2b o2fp-1.db o2b.db | sed 1d >told
sed 1,2d out | cmp -s - told
ok and_the_answer_is_that_of_match $?
diff --json o2fp-1.db o2b.db >out.json
python3 -c 'import json
d = json.load(open("out.json"))
assert d["matched"] == [{"from": "o2fp", "to": "o2b", "percent": 100, "taken": True}], d["matched"]
assert d["says"].startswith("the run of B used 12.98 % more processor time than that of A ("), d["says"]
assert d["unit"] == "ns" and not d["new"] and not d["gone"]'
ok and_the_json_says_so $?
# two images of B with the functions of the one of A
cp o2b.db two.db
python3 - <<'PY'
import sqlite3
db = sqlite3.connect("two.db")
db.execute("UPDATE image SET path = '/wl/o2c' WHERE path = '/wl/o2b'")
db.execute("UPDATE capture SET bytes = bytes + 1")  # another run
db.commit()
PY
diff o2fp-1.db -- o2b.db two.db | grep -q '^several images agree by the names of their functions, choose with --match o2fp=o2b, or --match o2fp=o2c$'
ok of_two_that_compete_none_is_taken $?

# a third slower: found by weight
python3 - >slower <<'PY'
import json
import re
d = json.load(open("out.json"))
row = {r["symbol"]: r for r in d["rows"]}["Poly::price"]
a, b = row["self_a_weight"], row["self_b_weight"]
whole = d["b"]["weight"] - d["a"]["weight"]
assert b - a == row["self_weight_change"]
assert row["self_weight_significant"] == "more"
# beside what did not change
same = d["reference"]["b_weight"] / d["reference"]["a_weight"]
assert row["self_a_weight"] == row["total_a_weight"]
want = "; Poly::price took %.2f %% more (of one run a side: no interval) and explains all of it; " % (100 * (b / a / same - 1))
assert want in d["says"], (want, d["says"])
assert b - a > whole
PY
ok a_function_that_is_a_third_slower_is_found_by_weight $?
grep -q '^   41.52 .* +231 ms  more       Poly::price  ' out
ok its_weight_has_a_unit $?
# the order of the table is that of the numbers in it
awk '/^Self A/ { on = 1; next } on { print ($4 < 0 ? -$4 : $4) }' out >points
sort -gr points | cmp -s - points && [ "$(wc -l <points)" -gt 5 ] && ! grep -q ' 0\.00  *0\.00 ' out
ok rows_are_in_the_order_of_what_is_shown_and_none_is_empty $?

# which functions have another code: where in memory they lie is no difference
python3 - <<'PY'
import json
rows = [r for r in json.load(open("out.json"))["rows"] if r["image"] == "o2b"]
assert {r["symbol"]: r["code"] for r in rows if r["self_a_samples"] > 9} == {
    "Poly::price": "other", "Sqrt::price": "same", "round_half_up": "same",
    "Book<Poly>::sum": "same", "Book<Sqrt>::sum": "same"}, rows
PY
ok of_each_function_it_is_known_whether_its_code_is_another_one $?
"$B" diff --json --symfs nowhere o2fp-1.db o2b.db 2>err | python3 -c 'import json, sys
assert {r["code"] for r in json.load(sys.stdin)["rows"] if r["image"] == "o2b"} == {""}'
ok without_the_programs_it_is_not $?
# a function that one build has
diff --json o2fp-1.db o2new.db >new.json
[ "$(rows new new.json)" = "$(printf 'Book<Cubic>::sum Cubic::price\nBook<Cubic>::sum Cubic::price')" ] &&
	[ "$(rows more new.json)" = "$(printf '\n')" ] && python3 -c 'import json
d = json.load(open("new.json"))
assert d["new"] == 2 and not d["gone"]
assert all(r["self_p"] is None for r in d["rows"] if r["self_significant"] == "new")'
ok what_only_one_build_has_is_new_without_a_test $?
diff --json o2new.db o2fp-1.db >gone.json
[ "$(rows gone gone.json)" = "$(rows new new.json)" ]
ok and_gone_the_other_way_round $?
# what the other build had inlined has no symbol there: how much of it is not known
diff o2fp-1.db o2new.db | head -n 1 >said && diff o2new.db o2fp-1.db | head -n 1 >>said
[ "$(grep -o 'Cubic::price is [a-z]*, or [a-z ]* inlined' said)" = "$(printf '%s\n' 'Cubic::price is new, or was inlined' 'Cubic::price is gone, or is inlined')" ] &&
	! grep -q explains said
ok the_first_sentence_does_not_tell_new_from_inlined_before $?
"$B" flame --diff --symfs symfs o2new.db o2fp-1.db | grep -q '>gone from A: Cubic::price '
ok the_picture_says_it_too $?
# two overloads that are new, one of which A has inlined: pictures, which draw that, say what the table says
cp o2fp-1.db inlined.db && cp o2new.db overloads.db
python3 - <<'PY'
import sqlite3
db = sqlite3.connect("overloads.db")
for was, now in ("Cubic::price%", "Cubic::price(int)"), ("Book<Cubic>::sum%", "Cubic::price(double)"):
    assert db.execute("UPDATE symbol SET name = ? WHERE name LIKE ?", (now, was)).rowcount == 1
db.commit()
db = sqlite3.connect("inlined.db")
db.execute("INSERT INTO inline_frame (frame, depth, name) SELECT f.id, 99, 'Cubic::price(int)' FROM frame f "
           "JOIN symbol s ON s.id = f.symbol WHERE s.name LIKE 'Poly::price%'")
db.commit()
PY
# said FILE: how many are new, in the words of the table, the picture and the page
said() {
	grep -o '[0-9]* new in B' "$1" | sort -u | tr '\n' ' '
}
for how in '' --inline
do
	# shellcheck disable=SC2086 # options
	diff $how inlined.db overloads.db >table && "$B" flame --diff $how --symfs symfs -o picture inlined.db overloads.db &&
		"$B" page --diff -o page $how --symfs symfs inlined.db overloads.db
	echo "$how: $(said table), $(said picture), $(said page)"
done >new
printf '%s\n' ': 1 new in B , 1 new in B , 1 new in B ' '--inline: , , ' | cmp - new
ok pictures_have_the_new_functions_of_the_table $?
# what the file does not tell is a question of chance
"$B" diff --json --symfs nowhere o2fp-1.db o2new.db >untold.json 2>err
[ "$(rows more untold.json | sed -n 1p)" = "Book<Cubic>::sum Cubic::price" ] && [ -z "$(rows new untold.json | tr -d '\n')" ]
ok without_the_program_it_is_tested $?
mkdir -p stripped/wl && for p in o2fp o2new; do strip --discard-all -o stripped/wl/$p symfs/wl/$p; done
"$B" diff --json --symfs stripped o2new.db o2fp-1.db >untold.json 2>err
[ -z "$(rows gone untold.json | tr -d '\n')" ]
ok a_table_without_local_symbols_proves_nothing $?
# in the file, but not sampled
cp o2fp-2.db quiet.db
python3 - <<'PY'
import sqlite3
db = sqlite3.connect("quiet.db")
db.execute("DELETE FROM event WHERE id IN (SELECT s.event_id FROM samples s JOIN stack_frames f "
           "ON f.stack = s.user_stack WHERE f.pos = 0 AND f.symbol LIKE 'round%')")
db.execute("DELETE FROM sample_group")
db.execute("UPDATE image SET build_id = NULL WHERE path = '/wl/o2fp'")
db.commit()
PY
diff --json o2fp-1.db quiet.db >quiet.json
rows less quiet.json >less.txt
[ -z "$(rows gone quiet.json | tr -d '\n')" ] && grep -q '^round_half_up' less.txt
ok what_the_program_has_but_did_not_run_is_not_gone $?

# a function that was renamed
diff o2fp-1.db o2ren.db >out && grep -q '^renamed? round_half_up (14.17 % of A) -> round_to_cent (16.27 % of B): of like weight, by the same callers$' out
ok a_pair_that_trades_its_weight_is_offered_as_renamed $?
diff --json o2fp-1.db o2ren.db | python3 -c 'import json, sys
assert json.load(sys.stdin)["renamed"] == [{"from": "round_half_up", "to": "round_to_cent"}]'
ok and_in_json $?
diff o2fp-1.db o2new.db | grep '^renamed'
[ $? = 1 ]
ok what_has_other_callers_is_not $?
cp o2ren.db apart.db
python3 - <<'PY'
import sqlite3
db = sqlite3.connect("apart.db")
assert db.execute("UPDATE frame SET image = (SELECT id FROM image WHERE path LIKE '%libc.so.6') "
                  "WHERE symbol = (SELECT id FROM symbol WHERE name LIKE 'round_to_cent%')").rowcount
db.execute("DELETE FROM sample_group")
db.commit()
PY
diff o2fp-1.db apart.db | grep '^renamed'
[ $? = 1 ]
ok what_is_of_another_image_is_not $?
diff --fail-above 5 o2fp-1.db o2ren.db >/dev/null
ok a_gate_does_not_take_it_for_growth $?

# the same binary twice
diff o2fp-1.db o2fp-2.db >out && head -n 1 out | grep -q '^the run of B used about as much processor time as that of A (-14.0 ms of cpu-clock:u), in .*$' &&
	grep -q '^significant: 0 more in B, 0 less, by shares of self; 0 more, 0 less, by weights; of one run a side, which does not tell what runs differ by: to gate, give several, A... -- B...$' out &&
	! grep -q 'false-positive' out
ok the_same_binary_twice_shows_no_change_and_promises_no_rate $?

# gates by function
diff --fail-above 5% --function '^Poly::' o2fp-1.db o2b.db >/dev/null
[ $? = 4 ] && grep -q '^grew by more than 5%: Poly::price, o2b, +' err
ok a_gate_is_for_some_functions $?
diff --fail-above 5% --function '^Sqrt::' o2fp-1.db o2b.db >/dev/null && ! [ -s err ]
ok and_not_for_others $?
diff --fail-above 5% --function NoSuch o2fp-1.db o2b.db >/dev/null &&
	grep -q "^note: no function is called 'NoSuch': 'backstitch diff --inline' has what was inlined; what jumped to what it called last (a tail call) counts for others$" err &&
	"$B" flame --diff --fail-above 5 --function NoSuch o2fp-1.db o2b.db 2>&1 >/dev/null | grep -q "^note: no function is called 'NoSuch'"
ok a_gate_for_a_function_that_is_not_there_says_so $?
diff --fail-above 5 --function '^Cubic::' o2fp-1.db o2new.db >/dev/null
[ $? = 4 ] && grep -q '^grew by more than 5 %: Cubic::price, o2new, +[0-9.]* % (new)$' err
ok a_new_function_is_growth $?
bad=0
for o in '--function x o2fp-1.db o2b.db' '--fail-above 5 --function ( o2fp-1.db o2b.db'
do
	# shellcheck disable=SC2086 # options
	diff $o >/dev/null
	[ $? = 2 ] || bad=1
done
ok wrong_gates_are_wrong_usage $bad

# what a bot posts: read back cell by cell
diff --format markdown o2fp-1.db o2new.db >out.md && diff --json o2fp-1.db o2new.db >out.json && python3 - <<'PY'
import json
text = open("out.md").read().split("\n")
fence = "`" * 20
assert text[0] == fence + "text" and text.count(fence) == 1
end = text.index(fence)
assert text[1].startswith("the run of B used ") and text[end + 1] == ""
cells = [[c.strip() for c in line.split("|")[1:-1]] for line in text[end + 2:] if line]
assert cells[1] == ["---:"] * 4 + ["---"] + ["---:"] * 2 + ["---"] * 3, cells[1]
rows = [r for r in json.load(open("out.json"))["rows"] if r["self_a_weight"] or r["self_b_weight"]]
assert [c[8].strip("`") for c in cells[2:]] == [r["symbol"] for r in rows]
assert [c[4] for c in cells[2:]] == [r["self_significant"] for r in rows]
PY
ok markdown_has_the_table_and_its_sentences $?
"$B" check --format markdown o2fp-1.db >out
rc=$?
"$B" check o2fp-1.db >want
[ $? = $rc ] && sed '1d;/^````````````````````$/,$d' out | cmp -s - want && [ "$(head -n 1 out)" = '````````````````````text' ]
ok markdown_of_check_is_its_screen $?
"$B" query --format markdown o2b.db "SELECT 'a|b' AS x, '\`\`' AS y, '<b>@x' AS z, 5 AS n, 'c\\|' AS w" >out
# shellcheck disable=SC2016 # backquotes of Markdown
is hostile_text_stays_in_its_cell '| `a\|b` | ``` `` ``` | `<b>@x` | 5 | `c\ \|` |' "$(sed -n 3p out)"
bad=0
for o in '--callers main' '--off-cpu' '--sched' -g
do
	# shellcheck disable=SC2086 # options
	"$B" report --format markdown $o o2b.db >/dev/null 2>&1
	[ $? = 2 ] || bad=1
done
"$B" check --format markdown --json o2b.db >/dev/null 2>&1
[ $? = 2 ] || bad=1
ok what_is_no_table_of_functions_is_refused $bad

#!/bin/sh
# annotate.sh - instructions have the samples that were taken at them.
# usage: BACKSTITCH=build/backstitch tests/cli/annotate.sh
# Needs: libcapstone
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
symfs=$PWD/tests/captures/symfs
db=$work/x.db

"$B" ingest -q -f -o "$db" --symfs "$symfs" tests/captures/fp-1.data \
	2>"$work/err" || cat "$work/err"

"$B" annotate "$db" >"$work/list" 2>"$work/err"
ok the_hottest_functions_are_listed $?
"$B" annotate --json --limit 0 "$db" >"$work/list.json"
python3 - "$work/list.json" "$db" <<'END'
import json
import sqlite3
import sys

rows = json.load(open(sys.argv[1]))["rows"]
own = [r["samples"] for r in rows]
weight = [r["weight"] for r in rows]
whole = sqlite3.connect(sys.argv[2]).execute(
    "SELECT sum(n) FROM event_type t JOIN (SELECT type, "
    "count(*) AS n FROM event GROUP BY type) e "
    "ON e.type = t.id WHERE t.kind = 'sample'").fetchone()[0]
sys.exit(not (weight == sorted(weight, reverse=True) and sum(own) == whole))
END
ok all_samples_are_in_the_list_most_weight_first $?

"$B" annotate --json --limit 0 --dso work-fp "$db" >"$work/dso.json"
is the_list_of_an_image_has_its_functions True "$(of_json "$work/dso.json" \
	'{x["image"].split("/")[-1] for x in r["rows"]} == {"work-fp"} and r["rows_left_out"] == 0')"
"$B" annotate --dso nolib "$db" >"$work/out" 2>"$work/err"
[ $? = 2 ] && grep -q "no sample was taken in 'nolib'" "$work/err"
ok an_image_without_samples_is_said $?
func=$(python3 -c 'import json, sys
print([r["symbol"] for r in json.load(open(sys.argv[1]))["rows"]
       if r["image"].endswith("work-fp") and r["symbol"] != "[no name]"][0])' \
	"$work/list.json" 2>/dev/null)
if [ -z "$func" ]
then
	echo "skip functions: the recorded program is not here"
	exit 0
fi

"$B" annotate --symfs "$symfs" --json "$db" "$func" >"$work/f.json"
ok a_function_as_json $?
python3 - "$work/f.json" "$work/list.json" "$func" "$symfs" <<'END'
import json
import re
import subprocess
import sys

f = json.load(open(sys.argv[1]))
row = [r for r in json.load(open(sys.argv[2]))["rows"]
       if r["symbol"] == sys.argv[3]]
insns = f["instructions"]
good = f["samples"] == sum(i["samples"] for i in insns) == row[0]["samples"]
print("ok" if good else "not ok", "instructions_have_all_samples")
good = all(int(a["offset"], 16) + len(a["bytes"]) // 2 == int(b["offset"], 16)
           for a, b in zip(insns, insns[1:]))
good = good and int(insns[0]["offset"], 16) == int(f["offset"], 16)
print("ok" if good else "not ok", "instructions_follow_without_gaps")
try:
    text = subprocess.run(
        ["objdump", "-d", "--start-address=" + insns[0]["address"],
         "--stop-address=0x%x" % (int(insns[-1]["address"], 16)
                                  + len(insns[-1]["bytes"]) // 2),
         f["code"]], check=True, stdout=subprocess.PIPE).stdout.decode()
    want = [int(m.group(1), 16) for m in
            re.finditer(r"^ *([0-9a-f]+):\t[0-9a-f ]+\t", text, re.M)]
    have = [int(i["address"], 16) for i in insns]
    calls = re.findall(r"call.*<([^>+@]+)", text)
    named = [i.get("target_symbol", "").split("@")[0] for i in insns
             if i["flow"] == "call" and "target" in i]
    good = want == have
    print("ok" if good else "not ok", "addresses_are_as_objdump_has_them")
    good = calls == named
    print("ok" if good else "not ok", "calls_are_named_as_objdump_names_them")
except FileNotFoundError:
    print("skip objdump: is not here")
END

"$B" annotate --symfs "$symfs" "$db" "$func" >"$work/text"
ok a_function_as_text $?
says the_head_names_the_function "$func in /usr/local/cap/bin/work-fp" \
	"$work/text"
says att_is_the_syntax '%r' "$work/text"
COLUMNS=60 "$B" annotate --symfs "$symfs" "$db" "$func" >"$work/narrow"
for i in text narrow; do
	sed -n '/Share %/,$p' "$work/$i" >"$work/$i.lines"
done
[ "$(head -1 "$work/narrow" | wc -L)" -le 60 ] &&
	[ -s "$work/narrow.lines" ] &&
	cmp -s "$work/text.lines" "$work/narrow.lines"
ok a_narrow_terminal_wraps_the_sentence_and_no_table $?

"$B" annotate --symfs "$symfs" -M intel "$db" "$func" >"$work/intel"
! grep -q '%r' "$work/intel"
ok intel_is_the_other_syntax $?
grep -q "$(printf '\033')" "$work/text"
ok a_file_has_no_colors $((!$?))
"$B" annotate --symfs "$symfs" --color always "$db" "$func" >"$work/color"
grep -q "$(printf '\033')" "$work/color"
ok color_can_be_asked_for $?
at=$(python3 -c 'import json, sys; f = json.load(open(sys.argv[1]))
print("work-fp+" + f["offset"], f["instructions"][1]["address"])' \
	"$work/f.json")
for a in $at
do
	"$B" annotate --symfs "$symfs" "$db" "$a" | cmp -s - "$work/text"
	ok "the_same_by_address_${a%%0x*}" $?
done
"$B" annotate --symfs "$symfs" --around 0 --no-source "$db" "$func" \
	>"$work/hot"
! sed '1,/^$/d' "$work/hot" | grep -v '%' | grep -vq 'without samples'
ok around_0_shows_only_what_has_samples $?
"$B" annotate --symfs "$symfs" --limit 3 "$db" "$func" >"$work/cut"
says what_is_cut_off_is_said 'more bytes are not shown' "$work/cut"

# ---- source lines

mkdir -p "$work/project/wl"
cp tests/captures/lines.[ch] "$work/project/wl"
for by in gcc clang
do
	"$B" ingest -q -f -o "$work/$by.db" --symfs "$symfs" \
		"tests/captures/lines-$by.data.zst" 2>"$work/err" || cat "$work/err"
done
# shows NAME TEXT DB ARG...: the text is in the answer about hot()
shows() {
	name=$1 text=$2 in=$3
	shift 3
	"$B" annotate --symfs "$symfs" "$@" "$work/$in.db" hot >"$work/out" 2>&1
	says "$name" "$text" "$work/out"
}

# ---- what is inlined
"$B" annotate "$work/gcc.db" mix >"$work/out" 2>&1
ok an_inlined_function_can_be_asked_for $?
says it_is_said_to_be_one 'mix, inlined' "$work/out"
grep -q '^ 100.00  *89  hot  *lines-gcc$' "$work/out"
ok the_functions_it_is_in_are_listed $?
grep -q '^ *[0-9.]* %  *[0-9]*  lines.h:[0-9]*$' "$work/out"
ok and_its_lines_by_share $?
"$B" annotate --json "$work/gcc.db" mix >"$work/mix.json"
"$B" report --inline --json --limit 0 "$work/gcc.db" >"$work/inline.json"
python3 - "$work/mix.json" "$work/inline.json" <<'END'
import json
import sys

mix = json.load(open(sys.argv[1]))
row, = [r for r in json.load(open(sys.argv[2]))["rows"] if r["symbol"] == "mix"]
for key in ("samples", "weight"):
    assert mix[key] == sum(i[key] for i in mix["inlined_into"])
    assert mix[key] == sum(i[key] for i in mix["lines"])
    assert mix[key] == row["self_" + key], (mix[key], row)
END
ok its_samples_are_those_of_report_inline $?
"$B" annotate --inlined "$work/gcc.db" hot >"$work/out" 2>&1
[ $? -eq 2 ] && says a_function_with_code_is_not_inlined "no sample was taken in 'hot' where it is inlined" "$work/out"
"$B" report "$work/gcc.db" >"$work/out" 2>&1
! grep -q '(inlined)' "$work/out" && grep -q ' 95.45 .* hot  *lines-gcc' "$work/out"
ok a_row_is_a_function_with_what_is_inlined_into_it $?
"$B" report --callers mix "$work/gcc.db" >"$work/out" 2>&1
grep -q '^ 100.00  *80.91  *89  hot  *lines-gcc$' "$work/out"
ok callers_know_inlined_functions $?
# the name of a library's function, of a program that has none
python3 - "$work/gcc.db" "$work/std.db" <<'END'
import shutil
import sqlite3
import sys

shutil.copy(sys.argv[1], sys.argv[2])
db = sqlite3.connect(sys.argv[2])
db.execute("UPDATE inline_frame SET name = 'int std::mix<int>(int)' WHERE name = 'mix'")
db.commit()
END
"$B" report --inline "$work/std.db" >"$work/out" 2>&1
says an_inlined_function_has_a_row_if_asked_for 'std::mix<int> (inlined)' "$work/out"
"$B" report --fold-library "$work/std.db" >"$work/out" 2>&1
! grep -q std:: "$work/out" && grep -q '^ 95.45 .* hot  *lines-gcc' "$work/out"
ok library_code_counts_for_what_it_is_inlined_into $?
"$B" flame --folded --fold-library "$work/std.db" >"$work/out" 2>&1
! grep -q std:: "$work/out"
ok and_is_no_frame_of_pictures $?
"$B" report --library '^mi.$' "$work/gcc.db" >"$work/out" 2>&1
! grep -q mix "$work/out"
ok a_library_can_be_named $?
"$B" report --library '(' "$work/gcc.db" >"$work/out" 2>&1
[ $? -eq 2 ] && says by_a_regular_expression 'is no regular expression' "$work/out"
"$B" report --inline --no-inline "$work/gcc.db" >"$work/out" 2>&1
[ $? -eq 2 ]
ok with_and_without_inlined_functions_is_refused $?

# ---- the tree of calls
"$B" report -g --limit 1 "$work/gcc.db" >"$work/out" 2>&1
grep -q '^  95.45    14.55   *hot$' "$work/out" &&
	grep -q '^  80.91    80.91   *mix (inlined)$' "$work/out"
ok a_tree_has_shares_and_inlined_functions $?
grep -q '^functions that contain them, unless --inline is given$' "$work/out"
ok it_says_why_its_numbers_are_not_those_of_the_table $?
! "$B" report -g --limit 1 --inline "$work/gcc.db" 2>&1 | grep -q 'unless --inline'
ok and_only_if_they_are_not $?
"$B" report -G --limit 1 "$work/gcc.db" >"$work/out" 2>&1
grep -q '^  80.91           mix (inlined)$' "$work/out" &&
	grep -q '^  80.91            hot$' "$work/out"
ok the_other_way_round_callers_come_below $?
"$B" report -G --depth 1 --limit 1 "$work/gcc.db" >"$work/out" 2>&1
[ "$(grep -c ' hot' "$work/out")" -eq 2 ] && ! grep -q '^  80.91            hot$' "$work/out"
ok it_has_as_many_levels_as_asked_for $?
"$B" report --json -g "$work/gcc.db" | python3 -c '
import json, sys
d = json.load(sys.stdin)
rows = [(r["depth"], r["symbol"]) for r in d["tree"]]
mix = [i for i, r in enumerate(rows) if r[1] == "mix"]
sys.exit(not mix or rows[mix[0] - 1] != (rows[mix[0]][0] - 1, "hot"))'
ok json_has_the_tree $?
"$B" report --depth 2 "$work/gcc.db" >"$work/out" 2>&1
[ $? -eq 2 ]
ok levels_without_a_tree_are_refused $?

touch -d '2000-01-01' "$work"/project/wl/*
shows without_a_file_there_is_its_place '| /wl/lines.c:17' gcc
says and_what_would_find_it 'source: /wl/lines.c not found; --source-dir DIR' "$work/out"
shows the_source_is_between_the_instructions \
	'|   17          for (unsigned long i = 0; i < n; i++)' gcc --source-dir "$work/project"
says that_of_inlined_functions_too '|    4          x ^= x << 13;' "$work/out"
says and_why_it_is_believed 'lines.c, not newer than the program, which has no MD5 of it: not proved' "$work/out"
says first_stands_how_far_stacks_can_be_trusted "$("$B" report "$work/gcc.db" | head -n 1)" "$work/out"
# a checkout sets times back
cp "$work/project/wl/lines.c" "$work/kept.c"
sed -i '1i // moved' "$work/project/wl/lines.c"
touch -d '2000-01-01' "$work/project/wl/lines.c"
shows an_older_file_with_functions_at_other_lines_is_another \
	'lines.c has its functions at other lines than the compiled file' gcc --source-dir "$work/project"
cp "$work/kept.c" "$work/project/wl/lines.c"
touch -d '2000-01-01' "$work/project/wl/lines.c"
# a page is sent to others: it says whose lines it has
"$B" page -o "$work/lines.html" --symfs "$symfs" --source-dir "$work/project" "$work/gcc.db" >"$work/said" 2>&1
says a_page_names_its_source_files "lines of these source files: $work/project/wl/lines.c" "$work/lines.html"
"$B" page -o "$work/none.html" --symfs "$symfs" "$work/gcc.db" >"$work/said" 2>&1
! grep -q 'lines of these source files' "$work/none.html"
ok one_without_them_names_none $?
touch -d '1 hour' "$work"/project/wl/*
shows a_newer_file_is_told "lines.c, newer than the program: lines may differ" gcc \
	--source-dir /nowhere --source-dir "$work/project/wl"
shows a_checksum_is_better_than_times 'lines.c, MD5 as recorded' clang --source-dir "$work/project"
says then_it_is_shown '|   19          sink = x;' "$work/out"
sed -i 's/n; i++/n ; i++/' "$work/project/wl/lines.c"
shows another_file_is_not_shown 'has another MD5 than the compiled file' clang \
	--source-dir "$work/project"
says then_there_are_places '| /wl/lines.c:17' "$work/out"
! grep -q 'for (unsigned' "$work/out"
ok and_no_line_of_it $?
cp tests/captures/lines.c "$work/project/wl"
shows no_source_is_asked_for '' clang --no-source --source-dir "$work/project"
! grep -q 'lines\.c' "$work/out"
ok then_there_is_none $?
"$B" annotate --symfs "$symfs" --source-dir "$work/project" --json "$work/clang.db" hot >"$work/s.json"
python3 - "$work" tests/captures <<'END'
import json
import sys

f = json.load(open(sys.argv[1] + "/s.json"))
text = {n: open("%s/lines.%s" % (sys.argv[2], n)).read().split("\n") for n in "ch"}
rows = [i for i in f["instructions"] if i.get("line")]
good = rows and all(i["source"] == text[i["file"][-1]][i["line"] - 1].expandtabs(8)
                    for i in rows)
print("ok" if good else "not ok", "each_line_of_json_is_that_of_the_file")
good = [s["how"] for s in f["sources"]] == ["MD5 as recorded"] * 2 and \
    "user stack" in f["user_stacks"]
print("ok" if good else "not ok", "json_says_why_it_is_believed")
END

# refuses NAME TEXT ARG...
refuses() {
	name=$1
	text=$2
	shift 2
	"$B" annotate --symfs "$symfs" "$@" >"$work/out" 2>"$work/err"
	[ $? = 2 ] && grep -qF -- "$text" "$work/err"
	ok "$name" $?
}
refuses a_function_without_samples_is_said 'no sample was taken in' "$db" nosuch
refuses it_may_be_inlined_or_only_call_others "nor where debug info that was read says that it is inlined; 'report --callees' shows what" "$db" nosuch
refuses an_unknown_image_is_said "no image is called 'nolib'" "$db" nolib+0x10
"$B" annotate --symfs /nonexistent "$db" "$func" >"$work/out" 2>"$work/err"
ok a_wrong_symfs_fails $(($? != 1))
mkdir "$work/empty"
HOME=$work/empty "$B" annotate --symfs "$work/empty" "$db" "$func" >"$work/out" 2>"$work/err"
says code_that_is_not_here_is_said 'no file; --symfs DIR' "$work/err"

# capstone is loaded by those who need it
! ldd "$B" | grep -q capstone
ok the_library_costs_no_other_command_its_start $?
lib=$(sed -n 's/^#define CS_API_MAJOR \([0-9]*\)$/libcapstone.so.\1/p' \
	"$(pkg-config --variable=includedir capstone)"/capstone.h \
	"$(pkg-config --variable=includedir capstone)"/capstone/capstone.h 2>/dev/null | head -n 1)
mkdir "$work/lib"
echo none >"$work/lib/$lib"
LD_LIBRARY_PATH=$work/lib "$B" annotate --symfs "$symfs" "$db" "$func" >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -qF "instructions are shown by $lib: $work/lib/$lib: file too short" "$work/err"
ok a_library_that_is_no_library_is_named $?
LD_LIBRARY_PATH=$work/lib "$B" report "$db" >"$work/out" 2>"$work/err"
ok other_commands_need_no_such_library $?

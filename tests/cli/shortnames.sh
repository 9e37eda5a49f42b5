#!/bin/sh
# shortnames.sh - people read short names, and find functions by a part of them; programs get full names.
# usage: BACKSTITCH=PROGRAM tests/cli/shortnames.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=$PWD/tests/captures
cd "$work" || exit 2
"$B" ingest -q --symfs "$captures/symfs" -o db "$captures/before.data"
python3 - db <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
string = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
for old, new in (
        ("lookup", "void app::find<%s>(%s const&) const" % (string, string)),
        ("parse", "app::parse(int)"), ("format", "app::parse(char)"),
        ("checksum", "app::" + "very_long_" * 12 + "name()"),
        ("request", "app::request(int) [clone .cold]")):
    assert db.execute("UPDATE symbol SET name = ? WHERE name = ?", (new, old)).rowcount
db.commit()
END

"$B" report db >text
grep -q '  app::find<std::string>  ' text
ok the_table_has_short_names $?
grep -q '  app::parse(int)  ' text && grep -q '  app::parse(char)  ' text
ok overloads_are_told_apart $?
grep -q '  app::very_long_.*\.\.\..*_name  ' text
ok both_ends_of_a_long_name_are_visible $?
! sed -n '/^Self %/,$p' text | grep -q '.\{81\}'
ok rows_have_80_columns $?
"$B" report --full-names db >text
grep -q 'void app::find<std::__cxx11::basic_string<char, ' text &&
	grep -q 'app::request(int) \[clone .cold\]' text
ok full_names_are_as_before $?
"$B" report --json db | python3 -c '
import json, sys
rows = {r["short"]: r["symbol"] for r in json.load(sys.stdin)["rows"]}
sys.exit(rows["app::find<std::string>"][:30] != "void app::find<std::__cxx11::b")'
ok json_has_both $?
"$B" report --callers app::find db >text
grep -q '^callers of app::find<std::string>, ' text
ok a_part_of_a_name_finds_callers $?
"$B" report --callees request db >text
grep -q '^called by app::request, ' text
ok and_callees $?
"$B" report --callers parse db >text
grep '^callers of' text | tr '\n' ' ' | grep -q 'parse(int), .*parse(char), '
ok several_functions_have_a_table_each $?
"$B" report --callers parse --format csv db 2>text
[ $? = 2 ] && grep -q "'app::parse(int)' 19.31 %, 'app::parse(char)' 16.67 %" text
ok several_functions_are_listed_with_shares $?
"$B" report --callers 'app::parse(char)' db >text
grep -q '^callers of app::parse(char), ' text
ok a_whole_name_is_one_of_them $?

"$B" annotate db >text
grep -q '  app::find<std::string>$' text
ok annotate_lists_short_names $?
"$B" annotate --json db | python3 -c '
import json, sys
sys.exit("void app" not in json.load(sys.stdin)["rows"][0]["symbol"])'
ok its_json_has_full_ones $?
"$B" annotate db app::parse 2>text
[ $? = 2 ] && grep -q "'app::parse' may be several functions: " text
ok it_lists_several_functions $?
"$B" annotate db find 2>text
! grep -q 'no sample was taken' text
ok it_finds_a_function_by_a_part $?

"$B" flame db >flame.svg
grep -q '<text[^>]*>app::find&lt;std::string&gt;<' flame.svg &&
	grep -q '<title>void app::find&lt;std::__cxx11::basic_string&lt;' flame.svg
ok a_flame_graph_shows_the_full_name_on_hover $?
"$B" ingest -q --kallsyms "$captures/task-exitexec.kallsyms" -o waits "$captures/task-exitexec.data"
python3 -c 'import sqlite3
with sqlite3.connect("waits") as db:
    db.execute("UPDATE symbol SET name = \"app::schedule(int)\" WHERE name = \"schedule\"")'
"$B" flame --off-cpu waits >flame.svg
grep -q '<text[^>]*>app::schedule<' flame.svg && grep -q '<title>app::schedule(int)$' flame.svg
ok and_one_of_waits_does $?
"$B" flame --full-names db >flame.svg
! grep -q 'data-n=' flame.svg
ok or_only_that $?
"$B" export --format folded -o text db
grep -q ';void app::find<std::__cxx11::basic_string<' text
ok folded_stacks_have_full_names $?
"$B" script db >text
grep -q ' void app::find<std::__cxx11::basic_string<' text
ok script_has_full_names $?
"$B" page -o page.html db
grep -q '"app::find.u003cstd::string' page.html &&
	grep -q '"void app::find.u003cstd::__cxx11::' page.html
ok the_page_has_both $?

"$B" ingest -q --symfs "$captures/symfs" -o lost.db "$captures/defer-lost-clock.data.zst"
python3 - lost.db <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
assert db.execute("UPDATE symbol SET name = 'int app::last<int>(int)' "
                  "WHERE name = '__do_global_dtors_aux'").rowcount
db.commit()
END
"$B" check -v lost.db >text
grep -q '^  app::last<int> in /wl/libplug0.so: no_call' text
ok the_evidence_has_short_names $?
"$B" check -v --full-names lost.db >text
grep -q '^  int app::last<int>(int) in /wl/' text
ok or_full_ones $?

# a part of a function that is inlined elsewhere, and a clone beside another one
"$B" ingest -q --symfs "$captures/symfs" -o parts.db "$captures/before.data"
python3 - parts.db <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
for old, new in (("checksum", "scan.part.0"), ("parse", "walk.isra.0"),
                 ("format", "walk.cold"), ("lookup", "alone.constprop.0")):
    assert db.execute("UPDATE symbol SET name = ? WHERE name = ?", (new, old)).rowcount
db.execute("DELETE FROM inline_frame")
db.execute("INSERT INTO inline_frame SELECT f.id, 0, 'scan', 'a.c', 1 FROM frame f "
           "JOIN symbol y ON y.id = f.symbol AND y.name = 'alone.constprop.0'")
db.commit()
END
names() {
	grep -o '\(scan\|walk\|alone\)\.[a-z]*\(\.0\)\?\|\balone\b' | sort -u | tr '\n' ' '
}
bad=0
for c in report 'report --inline' 'report --no-inline' 'report -g' annotate flame
do
	# shellcheck disable=SC2086 # a command and an option
	got=$("$B" $c parts.db 2>/dev/null | sed 's/<title>.*//; s/{"version".*//' | names)
	[ "$got" = 'alone scan.part.0 walk.cold walk.isra.0 ' ] || bad=1
	[ $bad = 0 ] || echo "# $c: $got"
done
ok each_output_has_the_same_names $bad
[ "$("$B" report --filter "event_id IN (SELECT e.id FROM event e JOIN raw_chain u ON u.id = e.uraw
	JOIN stack s ON s.id = u.stack JOIN frame f ON f.id = s.frame
	JOIN symbol y ON y.id = f.symbol WHERE y.name = 'scan.part.0')" parts.db 2>/dev/null | names)" = 'scan.part.0 ' ]
ok so_has_a_part_of_the_samples $?

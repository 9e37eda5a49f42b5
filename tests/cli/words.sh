#!/bin/sh
# words.sh - what was typed until 2.0: words of report that are commands now, and options that are gone.
# usage: BACKSTITCH=PROGRAM tests/cli/words.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
for n in before after
do
	"$B" ingest -q --no-cache --no-symbols -o $n.db "$root/tests/captures/$n.data"
done
cp before.db again.db
python3 -c 'import sqlite3
db = sqlite3.connect("again.db")
db.execute("UPDATE capture SET bytes = bytes + 1")  # another run
db.commit()'
"$B" ingest -q --no-cache -o switches.db "$root/tests/captures/ftrace-v7.dat" 2>/dev/null

# each NAME: a line is OLD = NEW, which print the same bytes, messages too
while IFS='=' read -r old new
do
	# shellcheck disable=SC2086 # words
	"$B" $old >was.out 2>&1 </dev/null
	was=$?
	# shellcheck disable=SC2086
	"$B" $new >is.out 2>&1 </dev/null
	[ $? = $was ] && [ -s was.out ] && cmp was.out is.out >/dev/null
	ok "$(echo "$old" | tr -cs 'a-z\n' _)_of_report_is_$(echo "$new" | cut -d ' ' -f 1)" $?
done <<'END'
report --diff before.db after.db=diff before.db after.db
report before.db after.db --diff=diff before.db after.db
report --event cpu-clock --diff --json before.db after.db=diff --event cpu-clock --json before.db after.db
report --dif before.db after.db=diff before.db after.db
report --diff before.db again.db -- after.db=diff before.db again.db -- after.db
report --sched switches.db=sched switches.db
report --order runs --sched --format csv switches.db=sched --order runs --format csv switches.db
report --latency switches.db=latency switches.db
report --worst 2 syscall --latency switches.db=latency --worst 2 syscall switches.db
report --latency syscall --histogram --json switches.db=latency syscall --histogram --json switches.db
report --html before.db=page before.db
report --no-source before.db --html=page --no-source before.db
report --html --diff before.db after.db=page --diff before.db after.db
report --diff --html before.db after.db=page --diff before.db after.db
report --absolute --diff before.db after.db --ht=page --absolute --diff before.db after.db
report -h --sched=sched -h
report --latency --help=latency --help
END
! "$B" report -- --diff before.db 2>err >out && grep -q -- '--diff' err
ok behind_two_dashes_it_is_a_file $?
"$B" --list-options | sed -n 's/^report //p' | grep -qE -- '--(diff|html|latency|sched)( |$)'
ok nothing_lists_them "$([ $? = 1 ]; echo $?)"
"$B" help report | tr -s '\n ' ' ' |
	grep -q -- '--diff, --sched, --latency and --html are the commands diff, sched, latency and page'
ok but_the_help_of_report_in_one_sentence $?
"$B" report --callers main --sched switches.db 2>err >out
[ $? = 2 ] && grep -q "'sched' has no such option: leave out --callers" err
ok options_of_report_are_not_theirs $?
"$B" report --worst 2 switches.db 2>err >out
[ $? = 2 ] && grep -q -- "--worst is for 'backstitch latency'" err
ok and_theirs_say_whose_they_are $?
"$B" report --latency --sched switches.db 2>err >out
[ $? = 2 ] && grep -q 'leave out --sched' err
ok two_of_them_are_refused $?

# gone NAME WORDS: the program says what to type instead
while IFS='=' read -r typed instead
do
	# shellcheck disable=SC2086 # words
	"$B" $typed before.db >out 2>err
	[ $? = 2 ] && [ ! -s out ] && grep -q -- "is gone since 2.0; .*$instead" err
	ok "$(echo "$typed" | tr -cs 'a-z\n' _)_is_gone_and_says_what_to_type" $?
done <<'END'
export --format speedscope=--format folded
flame --inverted=without it
latency --bins 50us=--histogram has powers of two
report --latency --bins 50us=--histogram has powers of two
query --compat perf=query --views DB
ingest --compat perfetto=query --views DB
END
# the table of NEWS.md has each of them, and what it names works
[ "$("$B" query --format csv switches.db 'SELECT ns / 50000, count(*) FROM interval GROUP BY 1' | wc -l)" -gt 2 ]
ok bins_of_equal_width_are_a_query $?

# the options of names are the page's, too
"$B" ingest -q -f -o names.db --symfs "$root/tests/captures/symfs" "$root/tests/captures/before.data" 2>err
sqlite3 names.db "UPDATE symbol SET name = 'lookup.isra.0' WHERE name = 'lookup'"
"$B" page -o plain.html names.db 2>err && "$B" page --fold-suffixes -o folded.html names.db 2>err
ok a_page_has_names_as_they_are_asked_for "$(cmp -s plain.html folded.html; [ $? = 1 ]; echo $?)"

#!/bin/sh
# wallclock.sh - tables that print times of the day, as --time takes them.
# usage: BACKSTITCH=build/backstitch tests/cli/wallclock.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
root=$PWD
cd "$work" || exit 2
"$B" ingest -q --no-symbols -o w.db "$root/tests/causality/captures/chain.data.zst" 2>err || cat err
offset=$("$B" query w.db "SELECT value FROM meta WHERE key = 'wall_offset_ns'" --format csv | tail -n 1)

# utc TIME: of "12.345678", as Python has it
utc() {
	python3 -c "
import datetime, sys
ns = int(sys.argv[1].replace('.', '')) * 1000 + int(sys.argv[2])
t = datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc)
print(t.strftime('%Y-%m-%dT%H:%M:%S.') + '%06dZ' % (ns % 10**9 // 1000))" "$1" "$offset"
}
"$B" path --waits --limit 1 w.db >plain 2>err
"$B" path --waits --limit 1 --wall-clock w.db >out 2>>err
from=$(sed -n 's/^[0-9].* \([0-9]*\.[0-9]*\),[0-9.]* .*/\1/p' plain)
to=$(sed -n 's/^[0-9].* [0-9]*\.[0-9]*,\([0-9.]*\) .*/\1/p' plain)
# of the offset some ns may be left, so that a microsecond more is in it
[ -n "$from" ] && grep -q "$(utc "$from" | cut -c 1-25)" out
bad=$?
say path_prints_when_a_wait_began
span=$(grep -o '2[0-9-]*T[0-9:.]*Z+[0-9.]*s' out)
tid=$(sed -n "s/.*$from,$to *\([0-9]*\) .*/\1/p" plain)
"$B" path --time "$from,$to" --tid "$tid" w.db 2>&1 | sed -n 's/^.* took \([0-9]*\).*/\1/p' >plain
"$B" path --time "$span" --tid "$tid" w.db 2>&1 | sed -n 's/^.* took \([0-9]*\).*/\1/p' >out
[ -s out ] && cmp plain out
bad=$?
say and_time_takes_what_it_printed
"$B" path --worst 1 --wall-clock w.db >out 2>err
grep -q "^from ${span%[0-9][0-9]Z*}" out
bad=$?
say a_chain_says_when_it_began
for command in 'latency off-cpu --worst 1' sched 'report --off-cpu' 'script'
do
	# shellcheck disable=SC2086 # words
	"$B" $command --wall-clock w.db >out 2>err && grep -q '20[0-9-]*T[0-9:.]*Z' out
	bad=$?
	say "$(echo "$command" | tr -d -- - | tr ' ' _)_has_them"
done
bad=0
for option in '' '--off-cpu --callers schedule' '--off-cpu --callees schedule'
do
	# shellcheck disable=SC2086 # words
	"$B" report --wall-clock $option w.db >out 2>err
	[ $? = 2 ] && grep -q 'add --off-cpu' err || bad=1
done
say a_table_without_times_refuses
# captures of two boots have no common time of day, those of one have one
for more in 500000000 5000000000
do
	cp w.db "w$more.db"
	sqlite3 "w$more.db" "UPDATE capture SET bytes = bytes + 1;
		UPDATE meta SET value = value + $more WHERE key = 'wall_offset_ns'"
done
"$B" script --wall-clock w.db w500000000.db >out 2>err && [ -s out ]
bad=$?
"$B" script --wall-clock w.db w5000000000.db >out 2>err
[ $? = 1 ] && grep -q 'of several boots' err && [ ! -s out ] || bad=1
"$B" script --time '2026-11-21 10:00:00' w.db w5000000000.db >out 2>err
[ $? = 2 ] && grep -q 'of several boots' err || bad=1
say captures_of_several_boots_have_no_time_of_day
for command in path 'latency off-cpu' sched
do
	# shellcheck disable=SC2086
	"$B" $command --wall-clock "$root/tests/captures/ftrace-v7.dat" >out 2>err
	[ $? = 1 ] && grep -q 'does not say the time on the wall; perf record -k mono notes it' err
	bad=$?
	say "$(echo "$command" | tr -d -- - | tr ' ' _)_says_that_a_capture_cannot_tell"
done

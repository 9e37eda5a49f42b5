#!/bin/sh
# foreign.sh - databases of others: pages of each size, and the functions of backstitch_sql.so on values and tables that are not ours.
# usage: BACKSTITCH=PROGRAM [SQL_EXTENSION=FILE] tests/cli/foreign.sh; prints "ok NAME", "not ok NAME" or "skip NAME" lines.
# With sanitizers: databases of others
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
so=${SQL_EXTENSION:-$(dirname "$B")/backstitch_sql.so}
cd "$dir" || exit 2
NO_COLOR=1 XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME
"$B" ingest -q --no-symbols -o sound.db "$root/tests/captures/fp-1.data"

# ---- sizes of pages

say_all() {	# what the commands that read say of a.db
	for command in info report 'check --json' script 'flame -o -' 'query --format csv' \
		'export --format json' 'sframe --readiness' annotate 'merge -q -f -o m.db'
	do
		echo "== $command"
		query=
		[ "${command%% *}" != query ] || query='SELECT * FROM samples'
		# shellcheck disable=SC2086 # words
		"$B" $command a.db ${query:+"$query"}
		echo "= $?"
	done 2>&1
}
cp sound.db a.db
say_all >want
for size in 512 1024 8192 32768 65536
do
	rm -f a.db
	sqlite3 sound.db "PRAGMA page_size = $size; VACUUM INTO 'a.db'"
	say_all >got
	if [ "$(sqlite3 a.db 'PRAGMA page_size')" = $size ] && cmp -s want got && "$B" symbolize a.db >out 2>&1
	then echo "ok pages_of_${size}_bytes_are_read_and_changed"
	else
		echo "not ok pages_of_${size}_bytes_are_read_and_changed"
		diff want got | head -n 5 | sed 's/^/# /'
	fi
done

# ---- functions for SQL

if ! echo 'SELECT 1;' | sqlite3 -cmd ".load $so" :memory: >out 2>&1
then
	echo "skip functions_of_sql: $(head -n 1 out)"
	exit 0
fi
# without LONG each call with one of five values, of pairs one of five, in turn
python3 - "${SHARE_OF:-0}" "$LONG" >calls.sql <<'END'
import sys

turn, every = int(sys.argv[1]), sys.argv[2]
values = ["NULL", "-1", "0", "1", "2", "9223372036854775807", "-9223372036854775808", "1e308",
          "-1e308", "9e999", "''", "'a'", "'_Z' || char(0) || 'y'", "zeroblob(3000000)",
          "printf('%.1000000c', 'a')", "'_ZN' || printf('%.100000c', 'N')",
          "'_Z' || replace(hex(zeroblob(20000)), '00', 'P') || 'i'", "x'ff80ff80ff'", "'%s%n'",
          "char(0x202e)", "(SELECT max(id) FROM stack)", "random()"]
for name in ("wall", "demangle", "stack_text", "frame_name"):
    for v in values if every else values[turn % 5::5]:
        print("SELECT length(%s(%s));" % (name, v))
    print("SELECT count(%s(id)) FROM stack;" % name)
    print("SELECT count(%s(name)) FROM symbol;" % name)
pairs = [(a, b) for a in values for b in values]
for a, b in pairs if every else pairs[turn % 5::5]:
    print("SELECT length(folded(%s, %s));" % (a, b))
print("SELECT length(folded(id, id)) FROM stack;")
print("SELECT folded(id, 1) OVER (ORDER BY id ROWS 3 PRECEDING) FROM stack;")
END
# calls NAME SQL: after this change of the tables
calls() {
	cp sound.db a.db
	change_schema a.db "$2" || exit 2
	(
		# shellcheck disable=SC3045 # dash and bash have it
		ulimit -t 20 && ulimit -d 1000000
		sqlite3 -cmd ".load $so" a.db <calls.sql >out 2>err
	)
	status=$?
	if [ $status -le 1 ]
	then echo "ok functions_end_with_$1"
	else echo "not ok functions_end_with_$1: status $status"
	fi
}
endless='WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)'
calls sound_tables ''
calls stacks_in_a_circle 'UPDATE stack SET parent = id'
calls stacks_in_a_large_circle 'UPDATE stack SET parent = (SELECT max(id) FROM stack)'
calls a_stack_of_a_million "$endless INSERT INTO stack(id, parent, frame, depth)
	SELECT 1000 + n, 999 + n, 1, n FROM r LIMIT 1000000"
calls frames_that_are_not_there 'DELETE FROM frame'
calls ids_that_cannot_be 'UPDATE stack SET frame = 9223372036854775807, parent = -5'
calls names_that_are_blobs 'UPDATE symbol SET name = zeroblob(100000)'
calls no_tables 'DELETE FROM sqlite_master'

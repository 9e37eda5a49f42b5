#!/bin/sh
# chunks.sh - folders of one LTTng session that are given together are one capture.
# usage: BACKSTITCH=PROGRAM tests/cli/chunks.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
tar -xJf tests/captures/packed/lttng-made.tar.xz -C "$dir" || exit 2
cd "$dir/lttng" || exit 2

rows() {	# rows CAPTURE...: its events in order, and how many captures and losses there are
	"$B" ingest -q -f --no-symbols -o one.db "$@" && sqlite3 one.db 'SELECT e.id, e.time_ns, e.cpu, t.name FROM event e
		JOIN event_type t ON t.id = e.type ORDER BY e.id; SELECT count(*) FROM capture; SELECT count(*) FROM loss'
}
for t in t213 t216
do
	r=$t-rotation/trace
	rows $r >whole && rows "$r"/archives/* >parts
	same=$?
	[ $same = 0 ] && [ "$(grep -c . whole)" -gt 100 ] && cmp -s whole parts
	ok chunks_of_${t}_are_one_trace $?
	# shellcheck disable=SC2046 # names without blanks
	rows $(printf '%s\n' "$r"/archives/* | tac) >parts && [ "$(sort whole)" = "$(sort parts)" ]
	ok in_any_order_of_${t} $?
	rows $t-snapshot/trace >whole && rows $t-snapshot/trace/snapshot-* >parts && cmp -s whole parts
	ok snapshots_of_${t}_are_read_once $?
done

set -- t213-rotation/trace/archives/*
"$B" ingest -q -f --no-symbols -o gap.db "$1" "$3" && [ "$(sqlite3 gap.db 'SELECT count(*) > 0 FROM loss')" = 1 ]
ok a_chunk_that_is_missing_is_a_loss $?
"$B" ingest -q -f --no-symbols --separate -o apart.db "$@" && [ "$(sqlite3 apart.db 'SELECT count(*) FROM capture')" = 3 ]
ok separate_keeps_them_apart $?
"$B" "$@" >out 2>err && "$B" "$@" >out 2>err && grep -q '^reading ' err
ok the_database_of_them_is_found_again $?
"$B" ingest -q -f --no-symbols -o two.db "$1" t213-uid/trace 2>err
[ $? = 1 ] && grep -q 'not of one time' err
ok those_of_two_sessions_are_refused $?

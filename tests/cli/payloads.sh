#!/bin/sh
# payloads.sh - raw payloads are stored once each, and belong to the same events after a merge.
# usage: BACKSTITCH=PROGRAM tests/cli/payloads.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
export NO_COLOR=1 LC_ALL=C XDG_CACHE_HOME="$work/cache"

(cd tests/captures && "$B" ingest -q --no-symbols -o "$work/new.db" \
	ftrace-buffers.dat) || exit 2
cd "$work" || exit 2

sql() {	# sql FILE STATEMENTS: by an SQLite that is not ours
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for s in sys.argv[2].split(";"):
    for row in db.execute(s):
        print(*row, sep="|")
db.commit()' "$@"
}

events=$(sql new.db 'SELECT count(*) FROM event JOIN payload ON payload.id = payload')
[ "$events" = 364 ] &&
	[ "$(sql new.db 'SELECT count(*) = count(DISTINCT data) AND count(*) < 364 FROM payload')" = 1 ]
ok "equal payloads are one row" $?
sql new.db 'SELECT max(id) - count(*), min(id) FROM payload' >a
[ "$(cat a)" = "0|1" ]
ok "ids of payloads are dense" $?

own() {	# own DB: prints it, then a copy in which no event shares a payload
	"$B" script "$1" >a
	cp "$1" own.db && sql own.db 'CREATE TABLE own AS SELECT e.id, data
		FROM event e JOIN payload p ON p.id = e.payload;
		DELETE FROM payload; INSERT INTO payload SELECT * FROM own;
		UPDATE event SET payload = id WHERE payload; DROP TABLE own'
	"$B" script own.db >b
}
own new.db
[ "$(sort -u a | wc -l)" -gt 300 ] && cmp -s a b
ok "a shared payload is printed as one of an event alone" $?
cp new.db edit.db && sql edit.db 'UPDATE event SET payload = 1 + id % 3 WHERE payload'
own edit.db
[ "$(sort -u a | wc -l)" -gt 300 ] && cmp -s a b
ok "also by events of several types" $?

raw='SELECT e.id, hex(p.data) FROM event e JOIN payload p ON p.id = e.payload ORDER BY 1'
"$B" merge -q -o merged.db new.db
[ "$(sql merged.db "$raw")" = "$(sql new.db "$raw")" ] &&
	[ "$(sql merged.db 'SELECT * FROM payload')" = "$(sql new.db 'SELECT * FROM payload')" ]
ok "merging keeps the payload of each event" $?
sql merged.db 'SELECT * FROM event' >a && sql new.db 'SELECT * FROM event' >b &&
	cmp -s a b
ok "with the same events" $?

"$B" ingest -q --no-symbols -o two.db "$root/tests/captures/two-e.data" &&
	"$B" merge -q -o both.db new.db two.db
[ "$(sql both.db 'SELECT count(payload) FROM event')" = 376 ] &&
	[ "$(sql both.db 'SELECT max(id) = count(*) FROM payload')" = 1 ]
ok "merging two databases keeps the payloads of both" $?

"$B" bundle --redact -o red.db new.db >/dev/null 2>&1
[ "$(sql red.db 'SELECT count(*) FROM payload;
	SELECT count(payload) > 0 FROM event; SELECT count(*) FROM event')" = "0
0
$(sql new.db 'SELECT count(*) FROM event')" ]
ok "a redacted copy has no payloads" $?

refused() {	# refused NAME WORD
	"$B" info edit.db >a 2>&1
	[ $? = 1 ] && grep -q "$2" a
	ok "$1" $?
}

cp new.db edit.db && sql edit.db 'PRAGMA user_version = 10'
refused "schema 10 is refused" "made by an older backstitch (schema 10, this program reads those since 12)"
cp new.db edit.db && sql edit.db 'DROP TABLE payload;
	CREATE VIEW payload AS SELECT 1 AS id, zeroblob(9) AS data'
refused "payload must be a table" "'payload' is no table"

# ids that no event should have: read, merged, or refused, but never a crash
bad=0
for id in 0 -1 9 4294967295 9223372036854775807 "'x'" "zeroblob(4)"
do
	cp new.db edit.db
	sql edit.db "UPDATE event SET payload = $id WHERE id % 7 = 0"
	"$B" script edit.db >a 2>&1
	[ $? -le 1 ] || bad=1
	"$B" merge -q -f -o x.db edit.db >a 2>&1
	[ $? -le 1 ] || bad=1
	cp new.db edit.db
	sql edit.db "UPDATE OR REPLACE payload SET id = abs($id) % 5000000000 WHERE id = 7"
	"$B" merge -q -f -o x.db edit.db >a 2>&1
	[ $? -le 1 ] || bad=1
done 2>/dev/null
ok "wrong ids of payloads are no crash" $bad

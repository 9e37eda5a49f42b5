#!/bin/sh
# payloads.sh - raw payloads are stored once each, read as before, and databases of schema 9 are still read.
# usage: BACKSTITCH=PROGRAM tests/cli/payloads.sh
#
# schema-9.db.zst is what the last program with schema 9 made:
#	cd tests/captures && backstitch ingest --no-symbols -o schema-9.db ftrace-buffers.dat
cd "$(dirname "$0")/../.." || exit 2
B=${BACKSTITCH:-./backstitch}
case $B in /*) ;; *) B=$PWD/$B ;; esac
root=$PWD
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export NO_COLOR=1 LC_ALL=C XDG_CACHE_HOME="$work/cache"

. tests/ok.sh

zstd -q -d -o "$work/old.db" tests/cli/schema-9.db.zst || exit 2
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

# equal NAME COMMAND...: with either as the.db it prints the same, which is something
equal() {
	name=$1
	shift
	cp old.db the.db && "$@" >a 2>&1 && cp new.db the.db && "$@" >b 2>&1 &&
		[ -s a ] && cmp -s a b
	ok "$name" $?
}

events=$(sql new.db 'SELECT count(*) FROM event_raw')
[ "$events" = 364 ] &&
	[ "$(sql new.db 'SELECT count(*) = count(DISTINCT data) AND count(*) < 364 FROM payload')" = 1 ]
ok "equal payloads are one row" $?
raw='SELECT event, hex(data) FROM event_raw ORDER BY event'
[ "$(sql new.db "$raw")" = "$(sql old.db "$raw")" ]
ok "any SQLite reads the payload of each event" $?
sql new.db 'SELECT sum(has_raw), count(*) FROM script_rows' >a
sql old.db 'SELECT sum(has_raw), count(*) FROM script_rows' >b
cmp -s a b && grep -q '^364|' a
ok "view script_rows says which events have one" $?
sql new.db 'SELECT max(id) - count(*), min(id) FROM payload' >a
[ "$(cat a)" = "0|1" ]
ok "ids of payloads are dense" $?

equal "schema 9 prints the same samples and fields" "$B" script the.db
equal "and the same report" "$B" report the.db
equal "and the same check" "$B" check the.db
equal "and the same views" "$B" query --format csv the.db \
	'SELECT * FROM script_rows'

for v in old new
do
	"$B" export --format perf.data -o $v.data $v.db >/dev/null 2>&1 || break
	"$B" merge -q -o merged-$v.db $v.db || break
done
cmp old.data new.data
ok "and the same perf.data file" $?
[ "$(sql merged-old.db "$raw")" = "$(sql old.db "$raw")" ] &&
	[ "$(sql merged-old.db 'PRAGMA user_version; SELECT * FROM payload')" = \
		"$(sql new.db 'PRAGMA user_version; SELECT * FROM payload')" ]
ok "merging makes the present schema of it" $?
sql merged-old.db 'SELECT * FROM event' >a && sql new.db 'SELECT * FROM event' >b &&
	cmp -s a b
ok "with the same events" $?

"$B" ingest -q --no-symbols -o two.db "$root/tests/captures/two-e.data" &&
	"$B" merge -q -o both.db old.db two.db
[ "$(sql both.db 'SELECT count(*) FROM event_raw')" = 376 ] &&
	[ "$(sql both.db 'SELECT max(id) = count(*) FROM payload')" = 1 ]
ok "and schemas can be mixed" $?

for v in old new
do
	cp $v.db named-$v.db
	"$B" symbolize -q named-$v.db >/dev/null 2>&1
	"$B" bundle --redact -o red-$v.db $v.db >/dev/null 2>&1 || break
done
[ "$(sql named-old.db "$raw")" = "$(sql new.db "$raw")" ]
ok "names can be added to schema 9" $?
[ "$(sql red-new.db 'SELECT count(*) FROM event_raw; SELECT count(*) FROM payload;
	SELECT count(payload) > 0 FROM event; SELECT count(*) FROM event')" = "0
0
0
$(sql new.db 'SELECT count(*) FROM event')" ] &&
	[ "$(sql red-old.db 'SELECT count(*) FROM event_raw')" = 0 ]
ok "a redacted copy has no payloads" $?

refused() {	# refused NAME WORD
	"$B" info edit.db >a 2>&1
	[ $? = 1 ] && grep -q "$2" a
	ok "$1" $?
}

cp old.db edit.db && sql edit.db 'PRAGMA user_version = 8'
refused "schema 8 is refused" "made by an older backstitch (schema 8, this program needs 9)"
cp old.db edit.db && sql edit.db 'ALTER TABLE event_raw RENAME TO other;
	CREATE VIEW event_raw AS SELECT event, data FROM other'
refused "event_raw of schema 9 must be a table" "'event_raw' is no table"
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

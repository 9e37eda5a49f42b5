#!/bin/sh
# refuse.sh - files that no reader takes are named, with what to do.
# usage: BACKSTITCH=PROGRAM tests/cli/refuse.sh; prints "ok NAME" or "not ok NAME" lines.
# With sanitizers: files that are none
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2

# refused NAME FILE WORDS: ingest and info fail, and ingest says the words
refused() {
	"$B" ingest -q -o out.db "$2" 2>err
	if [ $? = 1 ] && grep -q -- "$3" err && ! [ -e out.db ] &&
		! "$B" info "$2" >/dev/null 2>&1
	then
		echo "ok $1"
	else
		sed 's/^/    /' err
		echo "not ok $1"
	fi
	rm -f out.db
}

cat >script.txt <<'TEXT'
python3 12345/12345 [001]  1.500000:   1000000 cpu-clock:u:
	    7f0000001000 read+0x10 (/usr/lib/libc.so.6)
	    55550000abcd main+0x2d (/usr/bin/prog)

TEXT
"$B" ingest -q -f --no-symbols -o out.db script.txt 2>err
is "the text of perf script is read" "0 0" "$? $(wc -c <err)"
rm -f out.db
printf 'SIMPLEPERF\001\000and samples behind it' >samples.pb
refused "samples of simpleperf" samples.pb 'the perf.data that simpleperf'
printf '{"traceEvents":[{"name":"a","ph":"X","ts":1}]}' >trace.json
refused "JSON of systrace" trace.json 'give the capture it was made of'
printf '[{"name":"a","ph":"X","ts":1,"dur":2,"pid":3}]' >array.json
refused "JSON of Chrome" array.json 'give the capture it was made of'
printf '<!DOCTYPE html>\n<html><head></head><body>trace</body></html>' >a.html
refused "a page of systrace" a.html "from '# tracer:' on"
python3 -c 'import zipfile
zipfile.ZipFile("host.etl.zip", "w").writestr("host.etl", "packed data")'
refused "a packed .etl" host.etl.zip 'a recording of Windows'
{
	echo 'Lowering default frequency rate from 4000 to 1000.'
	cat "$root/tests/captures/pipe-zstd.data"
} >said.data
refused "a stream behind messages of perf" said.data 'messages of perf, which 2>&1 put in front'
{
	printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\004\000\076\000'
	printf 'and the rest of the core'
} >core
refused "a core dump" core 'a core dump of one process'
{
	printf 'SQLite format 3\000'
	head -c 200 /dev/zero
} >other.db
refused "a database of another program" other.db 'of another program'

head -c 20000 "$root/tests/captures/ftrace-v7.dat" >cut7.dat
refused "a trace.dat that ends in front of its events" cut7.dat \
	'cut7.dat+0x4e20: the file is cut off here, in front of its first event; copy or record it again'
zstd -dcq "$root/tests/captures/ftrace-v6.dat.zst" | head -c 20000 >cut6.dat
refused "and one of version 6" cut6.dat 'while reading what is in front of the first event: cut6.dat+0x'

# damaged NAME SQL WORDS: a database in which the schema says something else
damaged() {
	cp sound.db bad.db
	change_schema bad.db "$2"
	timeout -k 1 20 "$B" info bad.db >out 2>err
	if [ $? = 1 ] && grep -q -- "$3" err
	then
		echo "ok $1"
	else
		head -c 500 err
		echo "not ok $1"
	fi
}
"$B" ingest -q --no-symbols -o sound.db "$root/tests/captures/fp-1.data"
endless='WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)'
damaged "a view in place of a table" "UPDATE sqlite_master SET type = 'view',
	rootpage = 0, sql = 'CREATE VIEW event AS $endless SELECT n AS id,
	1 AS type FROM r' WHERE name = 'event'" "'event' is no table"
damaged "a virtual table in place of a table" "UPDATE sqlite_master SET
	rootpage = 0, sql = 'CREATE VIRTUAL TABLE event USING dbstat'
	WHERE name = 'event'" "'event' is no table"
damaged "a column that is computed" "UPDATE sqlite_master SET
	sql = replace(sql, 'cpu INTEGER', 'cpu INTEGER AS (id)')
	WHERE name = 'event'" "'event' is no table"
damaged "a view in place of a table of fields" "CREATE VIEW ev_x AS $endless
	SELECT n AS event_id FROM r; UPDATE event_type SET fields = 'EV_X'" \
	"'ev_x' is no table"
# gap NAME TABLE COMMAND...: an id that no array should be made for
gap() {
	cp sound.db bad.db
	sqlite3 bad.db "UPDATE $2 SET id = 100000000
		WHERE id = (SELECT max(id) FROM $2)"
	name=$1
	shift 2
	timeout -k 1 20 "$B" "$@" >out 2>err
	[ $? = 1 ] && grep -q "bad.db: the database is damaged: .*, row" err
	ok "$name" $?
}
gap "an event without those before it" event_type path bad.db
gap "a name without those before it" comm report bad.db
gap "a file without those before it" image bundle -o out.tar bad.db
gap "a frame without those before it" frame annotate bad.db main
# a change that was cut off: its writer was killed when pages had been changed
cp sound.db bad.db
python3 - <<'EOF2'
import os
import signal
import sqlite3
db = sqlite3.connect("bad.db", isolation_level=None)
db.execute("PRAGMA cache_size = 1")
db.execute("BEGIN")
db.execute("UPDATE event SET cpu = 1000")
db.execute("CREATE TABLE more AS SELECT randomblob(1000) FROM event a, event b")
os.kill(os.getpid(), signal.SIGKILL)
EOF2
! cmp -s sound.db bad.db && [ -s bad.db-journal ] &&
	! "$B" info bad.db >out 2>err && grep -q "symbolize.*'bad.db-journal'" err
ok "a change that was interrupted" $?
"$B" symbolize --no-cache bad.db 2>err && ! [ -e bad.db-journal ] &&
	[ "$(sqlite3 bad.db 'SELECT count(*) FROM event WHERE cpu = 1000;
		SELECT count(*) FROM sqlite_schema WHERE name = "more";
		PRAGMA integrity_check' | tr '\n' ' ')" = '0 0 ok ' ] &&
	"$B" info bad.db >out
ok "symbolize undoes it" $?
# a view that is not ours is hidden behind ours
"$B" info sound.db | sed '1,/^$/s/sound.db/bad.db/' >want
for view in 'verdicts(kind, verdict, confidence, n)' 'internal_kept_frames(type, kernel, both, n)'
do
	cp sound.db bad.db
	change_schema bad.db "UPDATE sqlite_master
		SET sql = 'CREATE VIEW $view AS
		$endless SELECT n, n, n, n FROM r' WHERE name = '${view%(*}'"
	timeout -k 1 20 "$B" info bad.db >out 2>err
	diff want out
	ok "a view with another text is not used: ${view%(*}" $?
done
# nor is it used by another of the database's views, which is as it should be
cp sound.db bad.db
change_schema bad.db "UPDATE sqlite_master
	SET sql = 'CREATE VIEW internal_trust_class AS $endless
	SELECT n AS type, n AS mark, n AS judged, n AS frames, n AS class, n,
	n AS fix FROM r' WHERE name = 'internal_trust_class'"
ask='SELECT * FROM trust'
"$B" query sound.db "$ask" >want && timeout -k 1 20 "$B" query bad.db "$ask" >out 2>err &&
	diff want out
ok "a view with another text is not used by others" $?
# what others added may be asked; a signal ends it
sqlite3 bad.db "CREATE VIEW longest AS $endless SELECT n FROM r WHERE n < 0"
timeout -k 10 1 "$B" query bad.db "SELECT * FROM longest" >out 2>err
if [ $? = 124 ]
then
	echo "ok a signal ends a view without end"
else
	echo "not ok a signal ends a view without end"
fi
# they cannot ask for the rows that the program computes of them
sqlite3 bad.db "CREATE VIEW asks AS SELECT * FROM wait; CREATE VIEW asked AS SELECT * FROM interval"
for view in asks asked
do
	timeout -k 1 20 "$B" query bad.db "SELECT * FROM $view" >out 2>err
	[ $? = 1 ] && grep -q 'unsafe use of virtual table' err
	ok "a view of a database reads no computed table: $view" $?
done

#!/bin/sh
# fleet.sh - options and messages of export --format parquet; what the files
# hold is compared by tests/compare/fleet.py.
# usage: O=build tests/cli/fleet.sh
# Needs: libcurl
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

db=$work/z.db
"$B" ingest -q -o "$db" --no-symbols tests/captures/z-defer.data
ok "a database to export" $?

"$B" export --format parquet -o "$work/a" "$db" 2>"$work/err" &&
	[ ! -s "$work/err" ] && [ "$(cd "$work/a" && echo *.parquet)" = \
	"event.parquet finding.parquet loss.parquet name.parquet run.parquet sample.parquet stack.parquet trust.parquet verdict.parquet" ]
ok "a folder has a file for each table" $?

mkdir "$work/b" && "$B" export --format parquet -o "$work/b/" \
	"$db" && diff -r "$work/a" "$work/b"
ok "the same database gives the same bytes, in an empty folder too" $?

"$B" export --format parquet -o "$work/c" --event-fields "$db" &&
	[ -s "$work/c/field.parquet" ] && rm "$work/c/field.parquet" &&
	diff -r "$work/a" "$work/c"
ok "the fields of events are one more table" $?

rows() {	# rows TABLE COLUMN: its values
	python3 - "$1" "$2" <<-'PY'
	import sys
	sys.path.insert(0, "tests/compare")
	import parquetread
	for v in parquetread.read(sys.argv[1]).data[sys.argv[2]]:
	    print(v.hex() if isinstance(v, bytes) else v)
	PY
}

# a capture that does not say when it was has not the time of day of another one
for boot in before after
do
	"$B" ingest -q --no-symbols -o "$work/$boot.db" "tests/captures/$boot.data"
done
sqlite3 "$work/after.db" "INSERT INTO meta VALUES(1, 'wall_offset_ns', 1700000000000000000)"
"$B" merge -q -o "$work/boots.db" "$work/before.db" "$work/after.db" &&
	"$B" export --format parquet -o "$work/boots" "$work/boots.db" 2>"$work/err"
is "times of two boots" '0 1' "$(rows "$work/boots/run.parquet" start | awk '{ print ($1 > 17e17) }' | sort | paste -sd ' ')"

"$B" export --format parquet -o "$work/cap" --no-symbols tests/captures/z-defer.data &&
	diff -r "$work/a" "$work/cap"
ok "a capture gives what its database gives" $?

"$B" export --format parquet -o "$work/d" --partition --label x=1 --label y= \
	"$db" 2>"$work/err"
rc=$?
part=$(cd "$work/d" && echo sample/host=*/day=*/*.parquet)
id=$(rows "$work/d/run.parquet" run)
[ $rc = 0 ] && [ -s "$work/d/$part" ] && [ ! -e "$work/d/sample.parquet" ] &&
	[ "$(basename "$part")" = "$id.parquet" ] &&
	cmp -s "$work/d/$part" "$work/a/sample.parquet" &&
	[ "$(rows "$work/d/run.parquet" made)" != \
		"$(rows "$work/a/run.parquet" made)" ] &&
	[ "$(rows "$work/d/run.parquet" label_name)" = "['x', 'y']" ] &&
	[ "$(rows "$work/d/run.parquet" label_value)" = "['1', '']" ]
ok "a partition is the file of a run, and labels are in table run" $?

"$B" export --format parquet -o "$work/e" --weighted 1s "$db" 2>"$work/err" &&
	grep -Eq '^[0-9,]+ samples in [0-9,]+ rows, [0-9.]+ each$' "$work/err" &&
	[ "$(rows "$work/e/run.parquet" period)" = 1000000000 ] &&
	[ "$(rows "$work/e/run.parquet" run)" = "$id" ] &&
	[ "$(rows "$work/e/run.parquet" made)" != \
		"$(rows "$work/a/run.parquet" made)" ]
ok "samples that are added up are the same run, made in another way" $?

"$B" export --format parquet -o "$work/f" --time 0%-50% "$db" &&
	[ "$(rows "$work/f/run.parquet" filtered)" = 1 ] &&
	[ "$(rows "$work/f/run.parquet" kept)" -lt \
		"$(rows "$work/f/run.parquet" samples)" ]
ok "a filter selects samples, and the run says so" $?

mkdir "$work/folder" && cp "$db" "$work/folder/1.db" &&
	"$B" ingest -q -o "$work/folder/2.db" --no-symbols \
		tests/captures/fp-1.data &&
	"$B" export --format parquet -o "$work/g" "$work/folder" &&
	[ "$(rows "$work/g/run.parquet" run | wc -l)" = 2 ]
ok "a folder of databases is read one by one" $?

"$B" export --format parquet -o "$work/h" --comm t-jit "$work/folder" &&
	[ "$(rows "$work/h/run.parquet" run | wc -l)" = 2 ] &&
	[ "$(rows "$work/h/run.parquet" kept | grep -c '^0$')" = 1 ] &&
	[ "$(rows "$work/h/sample.parquet" comm | sort -u)" = t-jit ]
ok "a thread that only one of the databases has is no mistake" $?

# fails NAME STATUS TEXT ARGUMENT...: nothing is left behind
fails() {
	name=$1 want=$2 text=$3
	shift 3
	ls -A "$work" >"$work/before"
	"$B" export --format parquet "$@" >"$work/said" 2>"$work/err"
	rc=$?
	ls -A "$work" >"$work/after"
	[ $rc = "$want" ] && grep -qF -- "$text" "$work/err" &&
		[ ! -s "$work/said" ] && diff "$work/before" "$work/after"
	good=$?
	[ $good = 0 ] || echo "status $rc: $(cat "$work/err")"
	ok "$name" $good
}
touch "$work/before" "$work/after" "$work/said" "$work/err"
fails "no folder is given" 2 "parquet is a folder; add '-o DIR'" "$db"
fails "a folder that has something" 2 "is there and not empty" -o "$work/a" "$db"
fails "a label without a value" 2 "--label needs NAME=VALUE, not 'x'" \
	-o "$work/n" --label x "$db"
fails "a label twice" 2 "--label x is given twice" \
	-o "$work/n" --label x=1 --label x=2 "$db"
fails "a period that is none" 2 "--weighted needs a time from 1ms to 3600s" \
	-o "$work/n" --weighted 5 "$db"
fails "databases are not read as one" 2 "these are read one by one: use --time" \
	-o "$work/n" --last 1 "$db"
fails "a thread that no database has" 2 "no thread named 'nobody' here" \
	-o "$work/n" --comm nobody "$work/folder"
fails "a thread that the only database does not have" 2 \
	"backstitch: no thread named 'nobody' here" \
	-o "$work/n" --comm nobody "$db"
fails "a database that is not there" 1 "$work/nix.db" \
	-o "$work/n" "$db" "$work/nix.db"
fails "a folder where none can be made" 1 "$work/no/such" \
	-o "$work/no/such/n" "$db"

# the time of the day of one capture says nothing of another that is not on its timeline
printf '# tracer: nop\n#\n%s\n' '               w-11      [000] d..2.   100.000200: sched_wakeup: comm=w pid=11 prio=120 target_cpu=000' >"$work/apart.txt"
"$B" ingest -q --no-symbols --separate -o "$work/apart.db" tests/captures/jitframes.data.zst "$work/apart.txt" &&
	"$B" export --format parquet -o "$work/apart" "$work/apart.db" 2>"$work/err" &&
	[ "$(rows "$work/apart/run.parquet" wall | tr '\n' ' ')" = "1 0 " ]
ok "another timeline has no time of the day" $?

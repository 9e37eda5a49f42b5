#!/bin/sh
# merge.sh - several databases as one: nothing is lost, doubled or renamed, whatever the order.
# usage: BACKSTITCH=PROGRAM tests/cli/merge.sh; prints "ok NAME" or "not ok NAME" lines.
# Without sanitizers: follow_maker.sh, latency.sh and payloads.sh run merge under them.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=$root/tests/captures
cd "$dir" || exit 2
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME

same() {
	python3 "$root/tests/cli/merge.py" sum "$@" >out 2>&1
}
merge() {	# merge OUT DB...
	to=$1
	shift
	"$B" merge -q -f -o "$to" "$@" >out 2>err
}

mkdir one
list="fp-1.data ctx2-defer.data.zst defer-lost-clock.data.zst ftrace-v6.dat.zst
	jit-reused.data.zst group.data ftext-verbose.txt.gz regs.data frames32.data.zst
	ctf-discard two-e.data s390x-z.data"
n=0
for c in $list; do
	n=$((n + 1))
	"$B" ingest -q -o "one/$n.db" "$cap/$c" 2>err || [ $? = 3 ] || {
		bad=1
		say "ingests_$c"
	}
done

bad=0
i=0
while [ $i -lt $n ] && [ $bad = 0 ]; do
	i=$((i + 1))
	merge x.db one/$i.db && same x.db one/$i.db || bad=1
done
say a_database_merged_alone_is_itself

# edit PYTHON: of edit.db; $b is what it prints of a copy that is merged alone, $a of itself
edit() {
	cp one/5.db edit.db
	python3 -c 'import sqlite3, sys
db = sqlite3.connect("edit.db")
db.executescript(sys.argv[1])' "$1" 2>err && merge x.db edit.db &&
		a=$("$B" query --format csv edit.db "$2") && b=$("$B" query --format csv x.db "$2") &&
		echo "$a, then $b" >out && [ "$a" = "$b" ]
}
edit 'UPDATE sample_group SET kernel_mark = 110 WHERE rowid = 1' \
	'SELECT kernel_mark, count(*) FROM sample_group GROUP BY 1'
bad=$?
say marks_of_kernel_halves_are_kept
edit 'INSERT INTO image SELECT (SELECT max(id) FROM image) + id, kind, path, build_id, maj, min, 999, ino_gen, start, len,
	t0, process, file, status, identity FROM image ORDER BY id' 'SELECT count(*) FROM jit_code'
bad=$?
case $a in *[1-9]*) ;; *) bad=1 ;; esac
say an_image_of_two_files_keeps_its_code
edit "UPDATE image SET status = CAST(printf('%.*c', 100000, 'n') AS BLOB)" \
	'SELECT count(*), min(hex(status)), max(hex(status)) FROM image'
bad=$?
say a_status_that_is_no_text_is_copied

# 6,000 stacks, each the caller of the next: 18 million rows of stack_path from a file of 400 KB
cp one/5.db deep.db
python3 -c 'import sqlite3
db = sqlite3.connect("deep.db")
n = db.execute("SELECT max(id) FROM stack").fetchone()[0]
db.executemany("INSERT INTO stack VALUES(?, ?, 1, ?, randomblob(16))",
	((n + i, n + i - 1 if i > 1 else None, i) for i in range(1, 6001)))
db.commit()'
merge x.db deep.db
[ $? = 1 ] && grep -q 'deep.db: .*damaged.*deeper' err
bad=$?
say stacks_without_their_frames_are_damage

# captures of the same time, each with another column in the table of one event
cp one/4.db a.db && cp one/4.db b.db && cp one/4.db c.db && python3 -c 'import sqlite3
for i, name in enumerate(("a", "b", "c")):
	db = sqlite3.connect(name + ".db")
	table = db.execute("SELECT name FROM sqlite_master WHERE name GLOB ? ORDER BY 1", ("ev_*",)).fetchone()[0]
	db.execute("UPDATE capture SET bytes = bytes + %d" % i)
	for column in ("", "more", "most")[1:i + 1]:
		db.execute("ALTER TABLE %s ADD COLUMN %s" % (table, column))
		db.execute("UPDATE %s SET %s = event_id + %d" % (table, column, i))
	db.commit()' && merge x.db a.db b.db c.db && same x.db a.db b.db c.db &&
	python3 "$root/tests/cli/merge.py" order x.db >>out 2>&1 && python3 -c 'import sqlite3
assert sqlite3.connect("x.db").execute("PRAGMA integrity_check").fetchone() == ("ok",)' >>out 2>&1 &&
	merge y.db c.db a.db b.db && cmp x.db y.db >>out 2>&1
bad=$?
say captures_of_one_time_have_the_columns_of_all

# pick SEED: four databases of the list, in an order that the seed gives
pick() {
	awk -v seed="$1" -v n="$n" 'BEGIN {
		srand(seed)
		for (i = 1; i <= n; i++) f[i] = i
		for (i = 1; i <= 4; i++) {
			j = i + int(rand() * (n - i + 1))
			t = f[i]; f[i] = f[j]; f[j] = t
			printf "one/%d.db ", f[i]
		}
	}'
}

# two of eight seeds, others for the next commit
seed=$((${SHARE_OF:-0} % 4 * 2 + 1)) last=$((seed + 1))
[ -z "$LONG" ] || seed=1 last=8
bad_sum=0 bad_order=0 bad_tree=0 bad_twice=0 bad_time=0
for seed in $(seq $seed $last); do
	# shellcheck disable=SC2046 # a list of names
	set -- $(pick "$seed")
	merge all.db "$@" && same all.db "$@" || bad_sum=1
	python3 "$root/tests/cli/merge.py" order all.db >>out 2>&1 || bad_time=1
	merge back.db "$4" "$2" "$3" "$1" && cmp all.db back.db >out 2>&1 || bad_order=1
	merge ab.db "$1" "$2" && merge cd.db "$4" "$3" &&
		merge tree.db cd.db ab.db && same tree.db all.db || bad_tree=1
	merge twice.db "$2" all.db "$1" ab.db && same twice.db all.db || bad_twice=1
done
bad=$bad_sum
say merging_adds_up
bad=$bad_time
say events_are_in_time_order_and_ids_dense
bad=$bad_order
say the_order_of_databases_does_not_matter
bad=$bad_tree
say merged_databases_merge_again
bad=$bad_twice
say the_same_capture_twice_counts_once

# ---- a recording that was cut into segments
M=${MKCAP:-$root/build/mkcap}
cut_into() {	# cut_into SEED N: whole.db, and segments in seg/
	rm -rf seg
	mkdir seg
	python3 "$root/tests/cli/stream.py" "$1" "$2" seg &&
		for f in seg/*.txt; do
			"$M" "$f" "${f%.txt}.data" &&
				"$B" ingest -q -o "${f%.txt}.db" "${f%.txt}.data" || return
		done >out 2>&1 && mv seg/whole.db .
}
if [ -x "$M" ]
then
	bad=0 bad_tree=0 bad_check=0
	for seed in 1 ${LONG:+2 3}; do
		for n in 1 2 7; do
			cut_into "$seed" $n && merge all.db seg &&
				python3 "$root/tests/cli/merge.py" cut whole.db all.db >out 2>&1 ||
				bad=1
			"$B" check -q whole.db >/dev/null 2>&1
			want=$?
			"$B" check -q seg >/dev/null 2>&1
			[ $? = $want ] || bad_check=1
			[ $bad = 0 ] || break 2
			rm -f whole.db
		done
		merge a.db seg/1.db seg/5.db seg/3.db && merge b.db seg/2.db seg/7.db seg/6.db seg/4.db &&
			merge tree.db b.db a.db && same tree.db all.db || bad_tree=1
	done
	say segments_of_a_recording_are_the_recording
	bad=$bad_check
	say check_judges_segments_as_the_recording
	bad=$bad_tree
	say segments_are_merged_in_any_order
	# boots SQL: pieces of two boots are not joined; the SQL changes the second one
	boots() {
		cp seg/2.db b.db
		python3 -c 'import sqlite3, sys
db = sqlite3.connect("b.db")
db.executescript(sys.argv[1])' "$1" && "$B" merge -f -o all.db seg/1.db b.db 2>err &&
			n=$(sed -n "s/.*; \([0-9]*\) user stacks.*/\1/p" err) && n=${n:-0} && missing=$("$B" query --format csv \
			all.db 'SELECT sum(missing) FROM cookies' | sed 1d | tr -d '\r') && echo "$1: $n, $missing" >>out
	}
	rm -f whole.db
	cut_into 5 2 && python3 -c 'import sqlite3
for i in (1, 2):
	db = sqlite3.connect("seg/%d.db" % i)
	db.execute("INSERT INTO meta VALUES(1, ?, 1600000000000000000)", ("wall_offset_ns",))
	db.commit()' && boots 'SELECT 1' && [ "$n" -gt 0 ]
	bad=$?
	same=$n same_missing=$missing
	# within a second the clock may have been set
	boots 'UPDATE meta SET value = value + 900000000 WHERE key = "wall_offset_ns"' && [ "$n" = "$same" ] &&
		[ "$missing" = "$same_missing" ] || bad=1
	boots 'UPDATE meta SET value = value + 5000000000 WHERE key = "wall_offset_ns"' && [ "$n" = 0 ] &&
		[ "$missing" -gt "$same_missing" ] || bad=1
	boots 'UPDATE mapping SET start = start + 2097152, "end" = "end" + 2097152 WHERE process = 0' && [ "$n" = 0 ] &&
		[ "$missing" -gt "$same_missing" ] || bad=1
	# a database that was merged still tells
	merge a.db b.db && merge all.db seg/1.db b.db && merge all2.db seg/1.db a.db && same all2.db all.db ||
		bad=1
	say captures_of_two_boots_are_not_joined
	cut_into 4 50 && merge all.db 'seg/*.db' &&
		python3 "$root/tests/cli/merge.py" cut whole.db all.db >out 2>&1
	bad=$?
	say fifty_segments_are_the_recording
	# both segments have the end of the first thread 101 and the begin of the second one
	head='event cpu-clock defer period=1000
event dummy:u output
comm pid=100 name=app'
	both='exit pid=100 tid=101 ppid=100 ptid=100 time=2000 cpu=1
fork pid=100 tid=101 ppid=100 ptid=100 time=2100 cpu=1'
	waits='sample pid=100 tid=101 cpu=1 time=2200 k=0xffffffff81000010 cookie=1:4'
	ends='exit pid=100 tid=101 ppid=100 ptid=100 time=3200 cpu=1
sample pid=100 tid=100 cpu=1 time=3300 k=0xffffffff81000010 cookie=1:5
chain cookie=1:5 pid=100 tid=100 cpu=1 time=3400 u=0x400010'
	printf '%s\n' "$head" "$both" "$waits" >seg/1.txt
	printf '%s\n' "$head" "$both" "$ends" >seg/2.txt
	printf '%s\n' "$head" "$both" "$waits" "$ends" >seg/whole.txt
	for f in 1 2 whole; do
		"$M" seg/$f.txt seg/$f.data && "$B" ingest -q -f -o seg/$f.db seg/$f.data
	done >out 2>&1
	python3 -c 'import sqlite3
for n, key in (1, "cut_behind"), (2, "cut_before"):
	db = sqlite3.connect("seg/%d.db" % n)
	db.execute("INSERT INTO meta VALUES(1, ?, 7777)", (key,))
	db.commit()'
	verdict() {
		"$B" query --format csv "$1" "SELECT w.name, r.until_ns FROM request r JOIN word w
			ON w.kind = 'request' AND w.id = r.verdict WHERE r.cookie = 17179869186" | sed 1d
	}
	merge all.db seg/1.db seg/2.db && [ "$(verdict seg/whole.db)" = pending_end,2003200 ] &&
		[ "$(verdict all.db)" = pending_end,2003200 ]
	bad=$?
	say a_thread_of_which_both_segments_have_the_begin_is_one
	# a thread 100 of another host calls exec in between
	app='comm pid=100 name=app'
	part() {	# part N HOST LINE...
		to=seg/$1
		printf '%s\n' "$head" "host $2 7.2.0" | grep -v "^comm" >"$to.txt"
		shift 2
		printf '%s\n' "$@" >>"$to.txt"
		"$M" "$to.txt" "$to.data" && "$B" ingest -q -f --no-symbols -o "$to.db" "$to.data"
	}
	execs='comm pid=100 name=other exec time=2000000000'
	rm -rf seg
	mkdir seg
	{
		part 1 one "$app" 'sample pid=100 tid=100 cpu=0 time=1000000000 cookie=0:11'
		part 2 one "$app" 'chain cookie=0:11 pid=100 tid=100 cpu=0 time=3000000000 u=0x400010'
		part 3 two "$app" "$execs"
		part 4 one "$app" "$execs"
	} >out 2>&1
	between() {	# between DB...: how many stacks of another capture are after an exec
		merge all.db "$@" && "$B" query --format csv all.db \
			"SELECT count(*), count(exec_ns) FROM request WHERE chain NOT NULL" | sed 1d | tr -d '\r'
	}
	[ "$(between seg/1.db seg/2.db seg/3.db)" = 1,0 ] && [ "$(between seg/1.db seg/2.db seg/4.db)" = 1,1 ]
	bad=$?
	say an_exec_on_another_host_is_none_of_this_thread
else
	echo "skip segments_of_a_recording_are_the_recording: mkcap is not built"
	cut_into() { :; }
fi

# ---- commands that read several
rows() {	# rows WANTED ARGUMENT...: count(*) of event
	want=$1
	shift
	got=$("$B" query --format csv "$@" "SELECT count(*) FROM event" 2>err | sed 1d | tr -d '\r')
	[ "$got" = "$want" ] || {
		echo "got $got, not $want: $*" >out
		return 1
	}
}
a=$("$B" query --format csv one/1.db "SELECT count(*) FROM event" | sed 1d | tr -d '\r')
b=$("$B" query --format csv one/2.db "SELECT count(*) FROM event" | sed 1d | tr -d '\r')
mkdir two
cp one/1.db one/2.db two
rows $((a + b)) one/1.db one/2.db && rows $((a + b)) two && rows $((a + b)) two/ one/1.db &&
	rows $((a + b)) 'two/*.db' && rows "$a" 'two/1*'
bad=$?
say commands_read_several_databases_a_folder_or_a_pattern

bad=0
for c in report check flame script info "export --format folded" "page -o out.html"; do
	# shellcheck disable=SC2086 # words
	"$B" $c two >out 2>err
	s=$?
	merge two.db two
	# shellcheck disable=SC2086
	"$B" $c two.db >want 2>&1
	[ $s = $? ] || bad=1
done
"$B" check --json two | sed 's/"two"/"two.db"/' >out 2>err
"$B" check --json two.db 2>err | cmp - out >>err || bad=1
say every_reading_command_takes_a_folder

# the second one is of an hour later
rows "$b" --last 1 two || rows "$a" --last 1 two
bad=$?
end=$("$B" query --format csv two "SELECT max(last_ns) / 1000000000 FROM capture" | sed 1d | tr -d '\r')
rows $((a + b)) --to "$((end + 1))" two || bad=1
"$B" info --from "$((end + 100))" two >out 2>err
[ $? = 2 ] && grep -q 'none of the 2 databases' err || bad=1
rows $((a + b)) --since 2d two || bad=1
rows $((a + b)) --since 100000d two || bad=1
say times_choose_databases

# of the first one alone nobody knows what time of day it was
cp -r two clocks
python3 -c 'import sqlite3
db = sqlite3.connect("clocks/2.db")
db.execute("INSERT INTO meta(capture, key, value) SELECT id, ?, ? FROM capture", ("wall_offset_ns", 17 * 10**17))
db.commit()' 2>err && rows "$a" --last 1 clocks
bad=$?
# by the time of day the first one is the last; of a third one no event has a time
cp one/2.db clocks/3.db
python3 -c 'import sqlite3
db = sqlite3.connect("clocks/1.db")
db.execute("INSERT INTO meta(capture, key, value) SELECT id, ?, ? FROM capture", ("wall_offset_ns", 18 * 10**17))
db.commit()
db = sqlite3.connect("clocks/3.db")
db.execute("UPDATE capture SET first_ns = NULL, last_ns = NULL, bytes = 7")
db.commit()' 2>err && rows "$a" --last 1 clocks && rows "$a" --from '2026-01-01 00:00' clocks || bad=1
say times_of_day_choose_where_all_have_them

# ---- a capture of which one database has names
bad=0
for names in "--no-symbols a" "--kallsyms=$cap/fp-1.kallsyms b"; do
	"$B" ingest -q -f "${names% *}" -o "named-${names#* }.db" "$cap/fp-1.data" || bad=1
done 2>err
symbols() {
	"$B" query --format csv "$1" "SELECT count(symbol) FROM frame" | sed 1d | tr -d '\r'
}
# a database of two captures has no more names than one of them
merge named-0.db named-a.db one/1.db && merge named.db named-a.db named-0.db named-b.db || bad=1
[ "$(symbols named-a.db)" = 0 ] && [ "$(symbols named-b.db)" -gt 5 ] && [ "$(symbols named.db)" -ge "$(symbols named-b.db)" ] || bad=1
say a_capture_is_taken_from_the_database_that_has_its_names

refuse() {	# refuse STATUS TEXT COMMAND...
	want=$1 text=$2
	shift 2
	"$B" "$@" >out 2>err
	s=$?
	if [ $s != "$want" ] || ! grep -q -- "$text" err
	then
		echo "# $*: status $s, $(head -n 1 err)"
		bad=1
	fi
}
bad=0
refuse 2 'which databases' merge -o x.db
refuse 2 '-o is the database to make' merge two
refuse 2 '-o is the database to make' merge -o '' two
refuse 2 '-o is the database to make' merge -o - two
refuse 2 'not a backstitch database' merge -f -o x.db "$cap/fp-1.data"
refuse 1 'no such file' merge -f -o x.db none.db
mkdir none
refuse 2 'none: no database in this folder' merge -f -o x.db none
: >empty.db
refuse 1 'the file is empty' merge -f -o x.db empty.db
refuse 1 'exists; use -f' merge -o two.db two
refuse 2 'is what is read' merge -f -o one/1.db one/1.db one/2.db
refuse 2 'not a database; several' report one/1.db "$cap/fp-1.data"
refuse 2 '--since needs a time' report --since soon two
refuse 2 '--since needs a time' report --since 200000d two
refuse 2 '--from needs seconds' report --from soon two
refuse 2 '--from needs seconds' report --from 9999-01-01 two
refuse 2 'not all of the databases know the time of day' report --from 2020-01-01 two
refuse 2 'not all of the databases know the time of day' report --to 2020-01-01 two
refuse 2 '--since needs a time' report --since 0x10s two
refuse 2 'one database at a time' symbolize one/1.db one/2.db
head -c 20000 one/1.db >two/cut.db
refuse 1 'two/cut.db' merge -f -o x.db two
[ -e x.db ] && cmp -s x.db one/1.db && bad=1
rm two/cut.db
say what_cannot_be_merged_is_refused

# a database that is made in the folder that it is made of
bad=0
cp -r two inside
merge inside/all.db inside && merge inside/all.db inside && rows $((a + b)) inside || bad=1
say the_result_may_be_in_the_folder
bad=0
mkdir lonely && cp inside/all.db lonely
refuse 2 "'lonely/all.db' is the only database here" merge -f -o lonely/all.db lonely
cmp inside/all.db lonely/all.db || bad=1
say a_result_alone_is_said_to_be_that
bad=0
for f in inside/*.db; do
	[ "$f" != inside/all.db ] || continue
	cp "$f" before.db
	refuse 2 "'$f' is one of the databases that are read" merge -f -o "$f" inside
	cmp before.db "$f" || bad=1
	break
done
say another_database_of_the_folder_is_not_replaced

# the same frame in two recordings: a file without a proof named it in the first
for i in 1 2; do
	cat >frame$i.txt <<END
event cpu-clock period=1000
comm pid=100 name=app
mmap pid=100 start=0x400000 len=0x10000 pgoff=0x1000 path=/bin/app
sample pid=100 tid=100 cpu=1 time=${i}000 u=0x400010
END
	"$MKCAP" frame$i.txt frame$i.data && "$B" ingest -q --no-symbols -o frame$i.db frame$i.data
	python3 -c 'import sqlite3, sys
i = int(sys.argv[1])
db = sqlite3.connect("frame%d.db" % i)
image, = db.execute("SELECT image FROM frame").fetchone()
db.execute("INSERT INTO symbol VALUES(1, ?, 0, 64, ?, NULL, 1, ?)", (image, "name%d" % i, True))
db.execute("UPDATE frame SET symbol = 1, symoff = 16")
db.execute("UPDATE image SET status = ? WHERE id = ?", ("unverified" if i == 1 else "named", image))
db.commit()' $i
done 2>err
bad=0
merge frames.db frame1.db frame2.db || bad=1
"$B" query --format csv frames.db 'SELECT name, status, count(*)
	FROM frame f JOIN symbol s ON s.id = symbol JOIN image i ON i.id = f.image' >out 2>err
[ "$(sed 1d out)" = name2,named,1 ] || bad=1
say a_name_that_is_proved_wins

#!/bin/sh
# export_prof.sh - pprof and firefox: names that mean something to their
# readers, filters, context switches, databases that lie.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/export_prof.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
forms="pprof firefox"

cat >"$work/read.py" <<'EOT'
"""python3 read.py FORM FILE [EXPRESSION]: fails when FILE is not of that form,
or the expression about it, p, is not true."""
import json, sys
sys.path.insert(0, "tests/compare")
form, path = sys.argv[1:3]
if form == "pprof":
    import pprofread
    p = pprofread.read(path)
    wrong = pprofread.check(p)
    assert not wrong, wrong
    names = {n for l in p.locations.values() for n in pprofread.names(p, l)}
else:
    import exportfirefox
    with open(path, encoding="utf-8") as f:
        p = json.load(f)
    exportfirefox.check_sound(p)
    strings = p["shared"]["stringArray"]
    names = {strings[i] for i in p["shared"]["funcTable"]["name"]}
    marks = [d for t in p["threads"] for d in t["markers"]["data"]]
    samples = sum(t["samples"]["length"] for t in p["threads"])
assert len(sys.argv) < 4 or eval(sys.argv[3]), sorted(names)[:20]
EOT
reads() {
	python3 "$work/read.py" "$@" 2>"$work/err" ||
		{ tail -n 3 "$work/err"; return 1; }
}

db=$work/x.db
ev=sched:sched_switch	# there are others
"$B" ingest -q -o "$db" tests/captures/defer-exitexec-s.data.zst
ok "a database with switches" $?

for form in $forms
do
	"$B" export --format "$form" -o "$work/a" --event "$ev" "$db" &&
		"$B" export --format "$form" --event "$ev" "$db" >"$work/b" &&
		cmp -s "$work/a" "$work/b" && reads "$form" "$work/a"
	ok "$form is one, and the same bytes each time" $?
	"$B" export --format "$form" --event "$ev" "$db" 2>"$work/err" |
		head -n 1 >/dev/null
	[ ! -s "$work/err" ]
	ok "$form says nothing when its reader has enough" $?
	"$B" export --format "$form" -o "$work/a" --comm 'perf' --tid 0 "$db" \
		2>"$work/err" && reads "$form" "$work/a"
	ok "$form of no sample at all" $?
	"$B" export --format "$form" -o /dev/full "$db" 2>"$work/err"
	[ $? = 1 ] && grep -q "/dev/full" "$work/err"
	ok "$form says that the disk is full" $?
done
TMPDIR=/nowhere/at/all "$B" export --format firefox -o "$work/c" "$db" \
	2>"$work/err"
[ $? = 1 ] && grep -q "temporary file" "$work/err" && [ ! -e "$work/c" ]
ok "firefox says that it has no room for its samples" $?

# of both halves of the database's own account
count() {
	sqlite3 "$db" "$1"
}
n=$(count "SELECT count(*) FROM request WHERE verdict =
	(SELECT id FROM word WHERE kind = 'request' AND name = 'matched')
	AND event IN (SELECT event_id FROM samples WHERE event = '$ev')")
"$B" export --format pprof -o "$work/a" --event "$ev" "$db" && reads pprof \
	"$work/a" "$n == sum(s.values[0] for s in p.samples if
	s.labels.get('verdict') == 'matched') > 0"
ok "pprof has the verdict of each sample" $?
"$B" export --format pprof -o "$work/a" -C 1 --event "$ev" "$db" && reads pprof "$work/a" \
	"p.samples and {s.labels['cpu'] for s in p.samples} == {1}"
ok "and of one CPU only its own" $?
n=$(count "SELECT count(*) FROM samples WHERE comm = 'wl' AND event = '$ev'")
"$B" export --format firefox -o "$work/a" --comm wl --event "$ev" "$db" &&
	reads firefox "$work/a" "samples == $n > 0"
ok "firefox has the samples of one name" $?

lost=$work/lost.db
"$B" ingest -q -o "$lost" tests/captures/defer-lost-clock.data.zst
for form in $forms
do
	"$B" export --format "$form" -o "$work/a" "$lost" &&
		reads "$form" "$work/a" "'[user: chain_lost]' in names"
	ok "$form says of a user half that it was lost" $?
done
n=$(sqlite3 "$lost" "SELECT coalesce(sum(n), 0) FROM loss WHERE counts")
reads firefox "$work/a" "$n == sum(d['records'] for d in marks
	if d['type'] == 'Loss' and d['counts'] == 'yes') > 0"
ok "firefox has all records lost as markers" $?

# two threads take turns
"$B" ingest -q -o "$work/sw.db" tests/captures/ftrace-v7.dat
n=$(sqlite3 "$work/sw.db" "SELECT count(*) FROM ev_sched_sched_switch
	WHERE prev_pid > 0 AND prev_state NOT IN (16, 32)")
"$B" export --format firefox -o "$work/a" "$work/sw.db" 2>/dev/null &&
	reads firefox "$work/a" \
	"($n == sum(d['type'] == 'OffCpu' for d in marks) > 0
	and {d['what'] for d in marks} >= {'preempted', 'sleeping'})"
ok "firefox has an interval for each time a thread left its CPU alive" $?

# perf listed a thread that it then says was forked: a life without samples
cat >"$work/lives.txt" <<'END'
event cpu-clock period=1000
comm pid=100 name=app
fork pid=100 tid=100 ppid=1 ptid=1 time=1000 cpu=1
sample pid=100 tid=100 cpu=1 time=2000 u=0x400010
exit pid=100 tid=100 ppid=1 ptid=1 time=3000 cpu=1
fork pid=100 tid=100 ppid=1 ptid=1 time=4000 cpu=1
sample pid=100 tid=100 cpu=1 time=5000 u=0x400010
END
"$MKCAP" "$work/lives.txt" "$work/lives.data" &&
	"$B" export --format firefox -o "$work/a" "$work/lives.data" &&
	[ "$(grep -o '"[pt]id":[^,]*' "$work/a" | tr '\n' ' ')" = \
	'"pid":"100" "tid":100 "pid":"100.2" "tid":"100.2" ' ]
ok "firefox counts the lives of a tid that it shows" $?

# names that are no text
cp "$db" "$work/odd.db"
sqlite3 "$work/odd.db" "UPDATE comm SET name = 'a\"b' || char(10) || ';<\\'
		|| char(27) || CAST(x'ff' AS TEXT) || char(8238);
	UPDATE symbol SET name = 'f\"' || char(9) || CAST(x'80' AS TEXT);
	UPDATE image SET path = '/x/' || char(10) || CAST(x'c3' AS TEXT);
	UPDATE event_type SET name = 'e' || CAST(x'fe' AS TEXT) || char(1)
		WHERE kind = 'sample'"
for form in $forms
do
	"$B" export --format "$form" -o "$work/a" "$work/odd.db" 2>/dev/null &&
		reads "$form" "$work/a"
	ok "$form of names that are no text" $?
done

# whatever a database says
cp "$db" "$work/bad.db"
sqlite3 "$work/bad.db" "
	UPDATE event SET comm = 99999999 WHERE id % 7 = 0;
	UPDATE event SET thread = 4000000000, cpu = -5 WHERE id % 7 = 1;
	UPDATE event SET kraw = -1, uraw = 4000000000 WHERE id % 7 = 2;
	UPDATE event SET weight = -1, cpu = 1 << 40 WHERE id % 7 = 3;
	UPDATE event SET time_ns = -9223372036854775807 WHERE id % 11 = 0;
	UPDATE request SET verdict = 77, flags = -1 WHERE event % 3 = 0;
	UPDATE frame SET off = -1, vaddr = 1 << 62 WHERE id % 5 = 0;
	UPDATE frame SET off = 0, symoff = 1 << 40 WHERE id % 5 = 1;
	UPDATE image SET start = -4096, len = -1 WHERE id % 2 = 0;
	UPDATE image SET kind = id % 20;
	UPDATE mapping SET pgoff = -1 WHERE id % 2 = 0;
	INSERT INTO internal_segment VALUES(1, -1, -1, -1, 5), (2, 0, 1 << 62, 1 << 62, 5),
		(99999999, 0, 0, 1, 5), (3, 7, 4096, 1 << 40, 5);
	INSERT INTO loss(capture, what, counts, cpu, t0, t1, n) VALUES
		(99, 'a' || char(10) || '\"', 1, 1 << 40, 9, 3, -4),
		(1, NULL, 1, NULL, NULL, NULL, 1 << 61),
		(1, 'b', 1, -3, NULL, -9223372036854775807, 1 << 61);
	UPDATE process SET pid = 1 << 40 WHERE id % 3 = 0;
	UPDATE thread SET tid = NULL WHERE id % 5 = 0"
for form in $forms
do
	"$B" export --format "$form" --event "$ev" "$work/bad.db" >"$work/a" \
		2>"$work/err"
	rc=$?
	# their addresses and times go where they like
	case $form in
	pprof) gzip -t "$work/a" ;;
	*) python3 -m json.tool "$work/a" /dev/null ;;
	esac && [ "$rc" = 0 ] && [ ! -s "$work/err" ]
	ok "$form of a database that lies" $?
done
sqlite3 "$work/bad.db" "UPDATE stack SET parent = id WHERE id = 3"
for form in $forms
do
	"$B" export --format "$form" -o "$work/c" "$work/bad.db" 2>"$work/err"
	[ $? = 1 ] && grep -q "damaged\|ingest" "$work/err" && [ ! -e "$work/c" ]
	ok "$form of a damaged one fails and leaves nothing" $?
done

# two boots of one host, whose clocks are not related: each took 1 s
for boot in 1 2
do
	cat >"$work/boot$boot.txt" <<END
event cpu-clock period=1000
comm pid=1 name=app
sample pid=1 tid=1 cpu=0 time=${boot}0000000000 ip=0x400010
sample pid=1 tid=1 cpu=0 time=${boot}1000000000 ip=0x400010
END
	"${MKCAP:-build/mkcap}" "$work/boot$boot.txt" "$work/boot$boot.data" &&
		"$B" ingest -q --no-symbols -o "$work/boot$boot.db" "$work/boot$boot.data"
done
"$B" merge -q -o "$work/boots.db" "$work/boot1.db" "$work/boot2.db" 2>"$work/err"
"$B" export --format pprof "$work/boots.db" | gzip -dc >"$work/a"
# field 10, a number: 2,000,000,000 ns
LC_ALL=C grep -qaF "$(printf '\120\200\250\326\271\007')" "$work/a"
ok "the duration of several recordings is that of their times together" $?

#!/bin/sh
# export_perf.sh - what export --format perf.data writes; perf itself is asked by
# tests/compare/exportperf.py.
# usage: BACKSTITCH=build/backstitch tests/cli/export_perf.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

db=$work/z.db
"$B" ingest -q -o "$db" --no-symbols tests/captures/z-defer.data
ok "a database to export" $?

"$B" export --format perf.data -o "$work/a.data" "$db" &&
	"$B" export --format perf.data -o "$work/b.data" "$db" &&
	cmp -s "$work/a.data" "$work/b.data"
ok "the same database gives the same bytes" $?

"$B" export --format perf.data "$db" | cmp -s - "$work/a.data"
ok "a pipe gets the bytes of a file" $?

"$B" ingest -q -o "$work/again.db" --no-symbols "$work/a.data" &&
	"$B" export --format perf.data -o "$work/c.data" "$work/again.db" &&
	cmp -s "$work/a.data" "$work/c.data"
ok "read and exported again it is the same file" $?

cp tests/captures/task-exitexec.data "$work/t.data"
"$B" export --no-symbols --format perf.data -o "$work/t.out" "$work/t.data"
grep -q -a "\[user: exit_per_task\]" "$work/t.out" &&
	grep -q -a "\[user: after exec\]" "$work/t.out"
ok "words stand for user halves that are missing" $?

sum=$(cksum <"$work/t.data")
"$B" export --format perf.data -o "$work/t.data" "$work/t.data" \
	2>"$work/err"
[ $? = 2 ] && grep -q "is what is read" "$work/err" &&
	[ "$(cksum <"$work/t.data")" = "$sum" ]
ok "the input is not overwritten" $?

n=$("$B" script --comm t-read -F comm "$db" | grep -c .)
"$B" export --format perf.data --comm t-read -o "$work/f.data" "$db" &&
	"$B" ingest -q -f -o "$work/f.db" --no-symbols "$work/f.data" &&
	[ "$("$B" script -F comm "$work/f.db" | grep -c .)" = "$n" ] &&
	[ "$n" -gt 0 ] &&
	[ "$(wc -c <"$work/f.data")" -lt "$(wc -c <"$work/a.data")" ]
ok "filters choose the samples ($n lines)" $?

"$B" export --format perf.data --comm t-read --tid 0 -o "$work/e.data" "$db" &&
	"$B" info "$work/e.data" >/dev/null
ok "a file without samples is one that can be read" $?

"$B" query "$work/again.db" "SELECT count(*) FROM damage" | grep -qw 0 &&
	"$B" query "$work/f.db" "SELECT count(*) FROM damage" | grep -qw 0
ok "nothing in it is damaged" $?

# A stack that a program without frame pointers made up: addresses where marks
# would stand.
cat >"$work/low.txt" <<'END'
event cpu-clock defer period=1000
event dummy:u output
comm pid=100 name=app
mmap pid=100 start=0x400000 len=0x10000 pgoff=0x1000 path=/bin/app
sample pid=100 tid=100 cpu=1 time=1000 u=0x400010,0x1008,0x3000
sample pid=100 tid=100 cpu=1 time=2000 k=0xffffffff81000010 cookie=1:3
sample pid=100 tid=100 cpu=1 time=4000 k=0xffffffff81000010 cookie=1:5
END
"${MKCAP:-build/mkcap}" "$work/low.txt" "$work/low.data" &&
	"$B" export --no-symbols --format perf.data -o "$work/low.out" \
		"$work/low.data" &&
	"$B" dump "$work/low.out" | grep -q "MMAP2 .* 2000+10 .*\[user: "
ok "words stand where no address was recorded" $?

# switches_of FILE: what its records of switches say; perf adds an id to them
switches_of() {
	"$B" dump "$1" | sed -n 's/.* SWITCH size=[0-9]* //p' | sort
}

"$B" export --no-symbols --format perf.data -o "$work/naps" tests/captures/naps.data
switches_of tests/captures/naps.data >"$work/want"
grep -q 'misc=0x6000.*out' "$work/want" && switches_of "$work/naps" | cmp -s - "$work/want"
ok "records of switches are those of the capture" $?

# one less than three rounds; the file ends with one, too
awk 'BEGIN {
	print "event cpu-clock period=1000"
	print "comm pid=1 name=app"
	for (i = 1; i < 3 * 8192; i++)
		printf "sample pid=1 tid=1 cpu=0 time=%d ip=0x400010\n", i * 1000
}' >"$work/round.txt"
"${MKCAP:-build/mkcap}" "$work/round.txt" "$work/round.data" &&
	"$B" export --no-symbols --format perf.data -o "$work/round.out" "$work/round.data" &&
	[ "$("$B" dump "$work/round.out" | grep -c FINISHED_ROUND)" = 3 ]
ok "a round has 8,192 samples" $?

# losses N OPTION...: are N losses, those that the JSON form has, in the file?
losses() {
	want=$1
	shift
	rm -f "$work/part.data"
	"$B" export --format perf.data "$@" -o "$work/part.data" "$work/lost.db" &&
		"$B" export --format json "$@" -o "$work/part.json" "$work/lost.db" &&
		[ "$(of_json "$work/part.json" 'sum(l["counts"] for l in r["losses"])')" = "$want" ] &&
		[ "$("$B" dump "$work/part.data" | grep -c ' LOST ')" = "$want" ]
}
"$B" ingest -q --no-symbols -o "$work/lost.db" tests/captures/shop.data.zst
losses 54
ok "all losses are in a file of all samples" $?
losses 2 --time 0%-10%
ok "and those of a time in one of that time" $?
losses 5 -C 0
ok "and those of a CPU, or of one that is not known, in one of that CPU" $?
lost=$(of_json "$work/part.json" 'sum(l["n"] for l in r["losses"] if l["counts"])')
"$B" check -C 0 "$work/lost.db" >"$work/said"
grep -q " $lost records lost" "$work/said"
ok "which are those that check counts" $?
sqlite3 "$work/lost.db" "UPDATE loss SET t0 = NULL, t1 = NULL WHERE id = (SELECT max(id) FROM loss WHERE counts)"
losses 3 --time 0%-10%
ok "and so is one of a time that is not known" $?

# a file of some threads or CPUs has a mark, or what it lacks would be silence
"$B" ingest -q -o "$work/sched.db" tests/captures/disk-irqs.data.zst
export_and_read() {
	rm -f "$work/part.data"
	"$B" export --format perf.data -o "$work/part.data" "$@" "$work/sched.db" 2>/dev/null
	"$B" ingest -q -f -o "$work/part.db" "$work/part.data"
}
for part in "--comm writer" "--cpu 0" "--pid 28875"
do
	# shellcheck disable=SC2086 # two words
	export_and_read $part
	"$B" check "$work/part.db" >"$work/said"
	"$B" sched "$work/part.db" 2>/dev/null | sed -n 2p >>"$work/said"
	grep -q 'whether switches are missing is not judged' "$work/said" &&
		grep -q 'switches were filtered' "$work/said" && ! grep -q silent "$work/said"
	ok "what $part leaves out is not called missing" $?
done
export_and_read --time 20%-60%
"$B" sched "$work/part.db" 2>/dev/null | sed -n 1p >"$work/said"
grep -q '^6 threads in 4.36 ms: 98.28 % of their time proved' "$work/said"
ok "a file of a time lacks nothing in it" $?

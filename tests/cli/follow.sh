#!/bin/sh
# follow.sh - a stream as a folder of databases, which together are the stream.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/follow.sh; prints "ok NAME" or "not ok NAME" lines.
# Waits: segments that end by time
# Without sanitizers: follow_maker.sh and top.sh run follow under them, and the fuzzer "cut" its reader.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
M=$MKCAP
[ -x "$M" ] || {
	echo "skip follow: mkcap is not built"
	exit 0
}
cd "$dir" || exit 2
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME

stream() {	# stream SEED [forks|lost]: whole.pipe and whole.db
	python3 "$root/tests/cli/stream.py" "$1" 1 . ${2:+"$2"} &&
		"$M" -p whole.txt whole.pipe &&
		"$B" ingest -q -f -o whole.db whole.pipe
}
follow() {	# follow DIR OPTION... -: without what an earlier one made
	to=$1
	shift
	rm -rf "$to"
	"$B" follow -q -o "$to" "$@" >out 2>err
}
watch() {	# watch DIR FOLDER...: until DIR has what is in the folders now; they never end
	to=$1 want=0
	shift
	rm -rf "$to"
	for f in "$@"; do
		n=$(find "$f" -name '*.data.????????????????' -o -path '*/archives/*' -prune | wc -l)
		want=$((want + n))
	done
	# shellcheck disable=SC2086 # options
	"$B" follow -q -o "$to" $WATCH "$@" >out 2>err &
	for _ in $(seq 300); do
		[ "$(grep -c . "$to/.followed" 2>/dev/null)" != "$want" ] || break
		sleep 0.2
	done
	kill -TERM $! && wait $!
}
all_of() {	# all_of DIR QUERY: of each database
	for db in "$1"/*.db; do
		sqlite3 "$db" "$2"
	done
}
count() {	# count DIR: databases in it
	find "$1" -name 'segment-*.db' | wc -l
}

# Each seed is another stream of the same kinds of records: with LONG more of them.
bad=0
for seed in 1 ${LONG:+2 3}; do
	stream "$seed" || bad=1
	for size in 1K 3K 64M; do
		follow seg --segment $size - <whole.pipe && is_whole seg || bad=1
		[ $bad = 0 ] || break 2
	done
done
say segments_of_a_stream_are_the_stream
[ "$(count seg)" = 1 ]
bad=$?
say a_large_segment_is_one_database

bad=0
for seed in 1 ${LONG:+2 3}; do
	stream "$seed" forks || bad=1
	for size in 1K 5K; do
		follow seg --segment $size - <whole.pipe && is_whole seg || bad=1
		[ $bad = 0 ] || break 2
	done
done
say each_segment_knows_the_threads_that_live
verdicts() {	# verdicts DB: of requests, with a column of those by merged captures
	"$B" query --format csv "$1" "SELECT w.name, count(*), sum(r.flags & 4096 <> 0) FROM request r
		JOIN word w ON w.kind = 'request' AND w.id = r.verdict GROUP BY 1 ORDER BY 1"
}
requests() {	# requests DB: what became of each
	"$B" query --format csv "$1" "SELECT e.time_ns, e.cpu, t.tid, r.cookie, w.name, c.name, r.flags & 255, r.latency_ns,
		d.name, CASE d.name WHEN 'capture' THEN 0 ELSE r.until_ns END, l.what, l.t1
		FROM request r JOIN event e ON e.id = r.event JOIN thread t ON t.id = e.thread
		JOIN word w ON w.kind = 'request' AND w.id = r.verdict
		LEFT JOIN word c ON c.kind = 'confidence' AND c.id = r.confidence
		LEFT JOIN word d ON d.kind = 'end' AND d.id = r.ended_by LEFT JOIN loss l ON l.id = r.loss
		ORDER BY 1, 2, 3, 4"
}
bad=0
for seed in ${LONG:+1 2 3 4} 5 6; do
	stream "$seed" lost || bad=1
	for size in 1K 5K; do
		follow seg --segment $size - <whole.pipe && "$B" merge -q -f -o all.db seg >out 2>err || bad=1
		requests whole.db >a && requests all.db >b && diff a b >out || bad=1
		[ $bad = 0 ] || break 2
	done
done
[ $bad = 1 ] || verdicts all.db >out
for v in chain_lost pending_end matched; do
	grep -q "^$v,.*,[1-9]" out || bad=1
done
say the_next_segments_tell_why_a_stack_never_came
follow seg --segment 1K - <whole.pipe
rm seg/segment-000002.db seg/segment-000004.db
"$B" merge -q -f -o all.db seg/segment-000001.db seg/segment-000003.db seg/segment-000005.db &&
	verdicts all.db >out && grep -q '^pending_end,[1-9]*,0$' out && ! grep -v '^matched' out | grep -q ',[1-9][0-9]*$'
bad=$?
say nothing_is_settled_over_a_segment_that_is_missing
# claims DB: what a merge settled otherwise than the whole stream, whose end the database does not have
claims() {
	python3 -c 'import sqlite3, sys
sql = """SELECT e.time_ns, t.tid, r.cookie, w.name FROM request r JOIN event e ON e.id = r.event
	JOIN thread t ON t.id = e.thread JOIN word w ON w.kind = \"request\" AND w.id = r.verdict"""
whole = set(sqlite3.connect("whole.db").execute(sql))
for row in sqlite3.connect(sys.argv[1]).execute(sql + " WHERE r.flags & 4096 AND w.name <> \"pending_end\""):
    if row not in whole:
        print(row)' "$1"
}
bad=0
for seed in 100 ${LONG:+101}; do
	stream "$seed" lost && follow seg --segment 2K - <whole.pipe || bad=1
	set --
	for f in seg/*.db; do
		set -- "$@" "$f"
		"$B" merge -q -f -o all.db "$@" 2>err && claims all.db >out && ! grep -q . out || bad=1
	done
done
say what_the_missing_end_of_a_stream_may_tell_is_not_settled
bad=0
follow seg --segment 3K - <whole.pipe
set -- seg/*.db
"$B" merge -q -f -o all.db seg 2>err && "$B" merge -q -f -o a.db "$1" "$2" "$3" 2>err || bad=1
shift 2
"$B" merge -q -f -o b.db "$@" 2>err && "$B" merge -q -f -o c.db b.db a.db 2>err &&
	python3 "$root/tests/cli/merge.py" sum c.db all.db >out || bad=1
"$B" merge -q -f -o d.db c.db a.db seg 2>err && python3 "$root/tests/cli/merge.py" sum d.db all.db >out || bad=1
say settled_segments_can_be_merged_again

stream 3 forks
follow seg --segment 5K - <whole.pipe
n=$(count seg)
bad=0
[ "$n" -gt 5 ] || bad=1
for db in seg/*.db; do
	"$B" report --no-children --limit 3 "$db" >out 2>err || bad=1
done
say each_segment_is_an_ordinary_database
find seg -name '.segment*' -o -name '*.tmp' >out
[ ! -s out ]
bad=$?
say nothing_else_is_left

mkfifo fifo
cat whole.pipe >fifo &
follow seg --segment 5K fifo && is_whole seg
bad=$?
wait
say a_fifo_is_followed

rm -f paths
# shellcheck disable=SC2016 # $1 is of the command
follow seg --segment 5K --exec 'echo "$1" >>paths' - <whole.pipe &&
	sort paths >a && find seg -name '*.db' | sort | cmp - a >out 2>&1
bad=$?
say a_command_is_run_for_each_segment

follow seg --segment 2K --keep 1K - <whole.pipe
bad=$?
[ "$(count seg)" = 1 ] || bad=1
say only_the_newest_is_kept
follow seg --segment 2K --keep 1h - <whole.pipe
bad=$?
[ "$(count seg)" -gt 5 ] || bad=1
say what_is_young_is_kept
follow seg --segment 2K --keep 100000d - <whole.pipe
bad=$?
[ "$(count seg)" -gt 5 ] || bad=1
"$B" follow -q -o seg --segment 2K --keep 200000d - <whole.pipe >out 2>err
[ $? = 2 ] && grep -q -e '--keep needs a time' err && [ "$(count seg)" -gt 5 ] || bad=1
say an_age_that_is_too_large_is_refused
touch -d 9999-01-01 seg/segment-000001.db
"$B" follow -q -o seg --segment 2K --keep 1h - <whole.pipe >out 2>err
bad=$?
[ -f seg/segment-000001.db ] && ! grep -q 'runtime error' err || bad=1
say a_segment_of_a_far_future_is_young

# what a killed run left: a part that was received, or s of it
rm -rf seg
mkdir seg
cp whole.pipe seg/.segment-000001.data
"$B" follow -q -o seg --segment 64M - </dev/null >out 2>err && is_whole seg
bad=$?
say a_part_that_was_left_behind_is_read
rm -rf seg
bad=0
for i in 1 2; do
	"$B" follow -q -o seg --segment 64M - <whole.pipe >out 2>err || bad=1
	[ -s seg/segment-00000$i.db ] || bad=1
done
is_whole seg || bad=1
say numbers_go_on_and_the_same_stream_counts_once

rm -rf seg
mkdir seg
cp whole.pipe seg/.segment-000002.data
head -c 10 whole.pipe >seg/.segment-000003.data
: >seg/.segment-000007.data
"$B" follow -q -o seg - </dev/null >out 2>err
[ $? = 3 ] && is_whole seg && [ "$(count seg)" = 1 ] && [ -z "$(find seg -name '.segment*')" ]
bad=$?
say an_empty_part_is_said_and_removed

size=$(wc -c <whole.pipe)
head -c $((size - 13)) whole.pipe >cut.pipe
follow seg --segment 2K - <cut.pipe
[ $? = 3 ] && grep -q 'ends in a record' err && [ "$(count seg)" -gt 5 ]
bad=$?
damage_of() {	# damage_of DIR: what it lacks
	all_of "$1" "SELECT what FROM damage" | tr '\n' ' '
}
[ "$(damage_of seg)" = "truncated " ] || bad=1
say a_stream_that_ends_in_a_record_is_said

# ---- damage

# edit FROM TO EDIT: an edit in Python of the records r of a stream, whose kinds kind() tells
edit() {
	python3 -c 'import struct, sys
data, r, at = open(sys.argv[1], "rb").read(), [], 16
while at < len(data):
    size = struct.unpack_from("<IHH", data, at)[2]
    r.append(bytearray(data[at : at + size]))
    at += size
def kind(x):
    return struct.unpack_from("<I", x)[0]
def nth(k, n):
    return [i for i, x in enumerate(r) if kind(x) == k][n]
exec(sys.argv[3])
open(sys.argv[2], "wb").write(data[:16] + b"".join(r))' "$@"
}
keeps_what_ingest_does() {	# of cut.pipe, both with status 3
	"$B" ingest -q -f -o whole.db cut.pipe 2>/dev/null
	[ $? = 3 ] || return 1
	follow seg --segment 5K - <cut.pipe
	[ $? = 3 ] && [ "$(count seg)" -gt 2 ] && "$B" merge -q -f -o all.db seg && samples whole.db >a && samples all.db >b &&
		cmp a b >out
}
samples() {	# samples DB
	sqlite3 "$1" 'SELECT time_ns, cpu, tid, comm, verdict FROM samples ORDER BY 1, 2, 3, 4, 5'
}
stream 2 forks
bad=0
# an EXIT that is too short, an EXIT of no thread, a FORK whose size is no multiple of 8
for how in 'i = nth(4, 3); r[i] = r[i][:16]; r[i][6] = 16' 'r[nth(4, 5)][16:20] = b"\xff\xff\xff\x7f"' \
	'i = nth(7, 2); r[i] += b"x"; r[i][6] += 1'
do
	edit whole.pipe cut.pipe "$how" && keeps_what_ingest_does && grep -q '^backstitch: -+0x.*; its segment has it' err &&
		[ "$(all_of seg 'SELECT 1 FROM damage' | wc -l)" = 1 ] || bad=1
done
say a_damaged_record_does_not_end_the_stream_and_is_in_one_segment
bad=0
for how in 'r[len(r) * 3 // 4][6:8] = b"\7\0"' 'r.insert(len(r) * 3 // 4, bytearray(struct.pack("<IHHQ", 66, 0, 16, 0x7fffffff)))'
do
	edit whole.pipe cut.pipe "$how" && keeps_what_ingest_does && grep -q '^backstitch: -+0x.*; the stream ends there' err &&
		[ "$(damage_of seg)" = "record " ] && all_of seg 'SELECT detail FROM damage' | grep -q 'at 0x[0-9a-f]* of the stream' || bad=1
done
say behind_a_size_that_is_damaged_nothing_is_read_and_what_was_before_is_kept
cp whole.db all.db && stream 3 && cp whole.pipe other.pipe
follow seg --separate --segment 64M cut.pipe other.pipe
[ $? = 3 ] && [ "$("$B" query --format csv seg/segment-000001.db "SELECT samples FROM capture WHERE path LIKE '%.1'" | tail -1)" = \
	"$(sqlite3 whole.db 'SELECT samples FROM capture')" ]
bad=$?
say the_other_streams_go_on

timeout -s KILL 20 env --ignore-signal=CHLD "$B" follow -q -o ign --segment 5K - <whole.pipe >out 2>err && is_whole ign
bad=$?
say whoever_starts_it_may_ignore_its_children

mkfifo silent
timeout -s KILL 20 "$B" follow -q -o seg silent >out 2>err &
sleep 1
pkill -TERM -P $! && wait $!
bad=$?
say a_fifo_that_nobody_writes_is_given_up

# only the part before has the limit: the rest of its round does not fit
{
	sed -n '/^event/p' whole.txt
	awk 'BEGIN { print "round"; for (i = 1; i < 1200; i++)
		print "sample pid=1 tid=1 cpu=0 time=" 1000 + i " u=0x400100,0x400200"
		print "round"
		for (i = 1; i < 400; i++) print "comm pid=" i " tid=" i " name=a time=" 1500 + i " cpu=0"
		print "sample pid=1 tid=1 cpu=0 time=99999 u=0x400100" }'
} >full.txt
awk '{ print } /^round/ && n++ { exit }' full.txt >part.txt
"$M" -p full.txt full.pipe && "$M" -p part.txt part.pipe
rm -rf full
(
	ulimit -f $(($(wc -c <part.pipe) / 512 + 8))
	"$B" follow -q -o full --segment 1K - <full.pipe
) >out 2>err
s=$?
[ $s -gt 0 ] && [ $s -lt 128 ] && grep -q 'File too large' err
bad=$?
say a_part_that_is_too_large_ends_the_stream

# ---- folders with finished files

switched() {	# switched SEED N: whole.db, and the folder sw with N files as of perf record --switch-output
	python3 "$root/tests/cli/stream.py" "$1" "$2" . && "$M" whole.txt whole.data &&
		"$B" ingest -q -f -o whole.db whole.data || return 1
	rm -rf sw
	mkdir sw
	i=0
	while [ $i -lt "$2" ]; do
		i=$((i + 1))
		"$M" $i.txt "sw/perf.data.20261121060$(printf %05d $i)" || return 1
	done
	cp 1.txt sw/perf.data # is being written
}
bad=0
for seed in 1 ${LONG:+2}; do
	for n in 1 12; do
		switched "$seed" $n && watch seg sw && is_whole seg && [ "$(count seg)" = "$n" ] || bad=1
		[ $bad = 0 ] || break 2
	done
done
say finished_files_of_a_folder_are_segments
"$M" 1.txt sw/perf.data.2026112106999999
"$B" follow -q -o seg sw >out 2>err &
for _ in $(seq 300); do
	[ ! -s seg/segment-000013.db ] || break
	sleep 0.2
done
kill -TERM $! && wait $! && [ "$(count seg)" = 13 ]
bad=$?
say a_later_run_reads_what_is_new_in_the_folder
switched 1 7 && mkdir other && mv sw/*[246] other && WATCH='--separate --segment 1h' watch seg sw other &&
	[ "$(count seg)" = 1 ] && [ "$(wc -l <seg/.followed)" = 7 ] &&
	[ "$("$B" query --format csv seg/segment-000001.db 'SELECT count(*) FROM capture' | tail -1)" = 7 ]
bad=$?
say files_of_several_folders_are_in_one_segment
switched 1 3 && rm -rf seg && mkdir seg && ln -s "$dir/sw/none" seg/.segment-000001.data &&
	"$B" follow -q -o seg - </dev/null >out 2>err
[ $? = 3 ] && grep -q 'sw/none: was removed before it was read' err && [ -z "$(find seg -name '.segment*')" ]
bad=$?
say a_file_that_was_removed_is_said
ln -s "$dir/sw/none" seg/.segment-000001.data && "$B" follow -o seg - </dev/null >out 2>err
grep -q '^seg: 0 segments, 0 removed; 1 removed before they were read$' err
bad=$?
say and_counted_as_that
# a stream from which nothing comes has no part that could end
mkfifo quiet
exec 8<>quiet
rm -rf seg
"$B" follow -q -o seg --separate --segment 1s quiet sw >out 2>err &
soon [ -s seg/segment-000001.db ]
bad=$?
kill -TERM $! && wait $!
exec 8>&-
say files_next_to_a_silent_stream_do_not_wait_for_it

rm -rf seg
switched 1 3 && {
	"$B" follow -q -o seg sw >out 2>err &
	soon test -s seg/segment-000003.db && mv sw away && soon grep -q 'sw: No such file.*again' err &&
		"$M" 1.txt away/perf.data.2026112106999999 && mv away sw && soon test -s seg/segment-000004.db
}
bad=$?
kill -TERM $! && wait $! && [ "$(count seg)" = 4 ] && [ "$(wc -l <seg/.followed)" = 4 ] || bad=1
say a_folder_that_is_away_for_a_while_is_not_read_twice

# ---- texts of ftrace

bad=0
for t in ftrace-ustack-both.report ftrace-buffers.report; do
	gzip -dc "$root/tests/captures/$t.txt.gz" >whole.txt
	"$B" ingest -q -f -o whole.db whole.txt
	for size in 10K 40K 64M; do
		follow seg --segment $size - <whole.txt && is_whole seg || bad=1
		[ $bad = 0 ] || break 2
	done
done
[ "$(count seg)" = 1 ] || bad=1
say a_text_of_ftrace_is_cut_between_events
head -c 30000 whole.txt >cut.txt
follow seg --segment 10K - <cut.txt
[ $? = 3 ] && grep -q 'ends in a record' err && [ "$(count seg)" -gt 2 ]
bad=$?
say a_text_that_ends_in_a_line_is_said

# ---- compressed streams

# Without files of this machine: what the addresses of a segment say of one may be less
# than those of the whole do.
mkdir nofiles
cp "$root/tests/captures/pipe-zstd.data" z.pipe && "$B" ingest -q -f --symfs nofiles -o whole.db z.pipe &&
	follow seg --segment 1K --symfs nofiles - <z.pipe && [ "$(count seg)" -gt 2 ] && is_whole seg
bad=$?
say a_compressed_stream_is_unpacked
{
	cat z.pipe
	echo '[ perf record: Woken up 1 times to write data ]'
} >said.pipe
follow seg --segment 1K --symfs nofiles - <said.pipe && [ ! -s err ] && is_whole seg
bad=$?
say messages_of_perf_at_the_end_are_no_record
python3 -c 'import struct, sys
d = bytearray(open("z.pipe", "rb").read())
at = 16
while True:
    kind, misc, size = struct.unpack_from("<IHH", d, at)
    if kind == 81:
        d[at + 30 : at + 40] = b"\xff" * 10
        break
    at += size + ((struct.unpack_from("<I", d, at + 8)[0] + 7) // 8 * 8 if kind == 66 else 0)
open("z.pipe", "wb").write(d)'
"$B" ingest -q -f -o whole.db z.pipe 2>out
follow seg --segment 1K - <z.pipe
[ $? = 3 ] && grep -q '^backstitch: -+0x.*compressed data is damaged.*; what is not compressed goes on' err && damage_of seg | grep -q compressed &&
	"$B" merge -q -f -o all.db seg && samples whole.db >a && samples all.db >b && cmp a b >out
bad=$?
say of_damaged_compressed_data_what_is_before_and_what_is_not_compressed_stays

# pack [AUXTRACE]: the stream with its records in one frame of zstd, which ends, and such a record among them
pack() {
	python3 -c 'import struct, subprocess, sys
d = open("whole.pipe", "rb").read()
at = 16
while struct.unpack_from("<I", d, at)[0] != 9: # SAMPLE
	at += struct.unpack_from("<H", d, at + 6)[0]
head, begin = d[:at], at
for i in range(20):
	at += struct.unpack_from("<H", d, at + 6)[0]
more = struct.pack("<IHHQQQQQ", 71, 0, 48, 4096, 0, 0, 0, 0) if sys.argv[1:] else b""
z = subprocess.run(["zstd", "-qc"], input=d[begin:at] + more + d[at:], capture_output=True, check=True).stdout
sys.stdout.buffer.write(head)
for i in range(0, len(z), 60000):
	sys.stdout.buffer.write(struct.pack("<IHH", 81, 0, 8 + len(z[i:i + 60000])) + z[i:i + 60000])' "$@"
}
stream 1
pack >z.pipe
follow seg --segment 4K - <z.pipe && is_whole seg && "$B" ingest -q -f -o z.db z.pipe 2>out
bad=$?
say compressed_data_may_end_with_a_frame
pack AUXTRACE >z.pipe
"$B" ingest -q -f -o whole.db z.pipe 2>out
follow seg --segment 4K - <z.pipe
[ $? = 3 ] && grep -q 'a record of type AUXTRACE is in a compressed one' err && is_whole seg
bad=$?
say no_data_follow_a_compressed_record

mkdir begun && : >begun/.lock
bad=0
for c in report 'report --since 10s' check ''
do
	# shellcheck disable=SC2086 # no command is none
	"$B" $c begun 2>err
	[ $? = 1 ] && grep -q "begun: 'backstitch follow' has not ended a segment so far" err || bad=1
done
say a_folder_without_a_segment_so_far_is_said_to_be_one

# ---- several inputs

stream 1
gzip -dc "$root/tests/captures/ftrace-buffers.report.txt.gz" >t.txt
follow seg --separate --segment 64M - t.txt <whole.pipe &&
	[ "$("$B" query --format csv seg/segment-000001.db 'SELECT group_concat(format) FROM capture' | tail -1)" = '"perf,ftext"' ]
bad=$?
say streams_at_once_are_in_one_segment
follow seg --separate --segment 2K - t.txt <whole.pipe && [ "$(count seg)" -gt 5 ] &&
	[ -z "$(find seg -name '.segment*')" ]
bad=$?
say streams_at_once_are_cut_together

# ---- processes, which a text tells once

cat >text <<'END'
# tracer: nop
#
            bash-100     [000] .....   100.000115: task_newtask: pid=103 comm=bash clone_flags=1200000 oom_score_adj=0
            bash-100     [000] .....   100.000120: task_newtask: pid=101 comm=bash clone_flags=1200000 oom_score_adj=0
            true-101     [001] .....   100.000200: sched_process_exec: filename=/bin/true pid=101 old_pid=101
            true-101     [001] .....   100.000300: sys_enter: NR 1 (1, 2, 3, 4, 5, 6)
            bash-103     [001] .....   100.000450: sys_enter: NR 2 (1, 2, 3, 4, 5, 6)
            true-101     [001] .....   101.000300: sys_enter: NR 1 (1, 2, 3, 4, 5, 6)
            bash-103     [001] .....   101.000450: sys_enter: NR 2 (1, 2, 3, 4, 5, 6)
END
known() {	# known: the threads of a system call, with each process that they have anywhere
	all_of seg "SELECT tid, pid FROM samples WHERE event LIKE '%sys_enter'" | sort -u | tr '\n' ' '
}
follow seg --segment 64M - <text
bad=$?
[ "$(known)" = "101|101 103|103 " ] || bad=1
follow seg --segment 0.5K - <text || bad=1
[ "$(count seg)" = 2 ] && [ "$(known)" = "101|-1 101|101 103|-1 103|103 " ] || bad=1
say a_text_tells_processes_only_where_a_thread_was_forked
sed -i 's/^\( *[a-z]*-\(10[0-9]\)\)    /\1 (\2)/' text
follow seg --segment 0.5K - <text
bad=$?
[ "$(count seg)" = 2 ] && [ "$(known)" = "101|101 103|103 " ] || bad=1
say a_text_with_the_process_in_each_line_tells_all

# ---- files of trace-cmd

zstd -qdc "$root/tests/captures/ftrace-v6.dat.zst" >v6.dat
mkdir heard
cp v6.dat heard/trace.host:1234.dat
cp v6.dat heard/trace.host:99.dat
cp v6.dat heard/trace.dat
touch -d '1 minute ago' heard/trace.host:1234.dat heard/trace.host:99.dat heard/trace.dat
: >heard/trace.host:99.cpu0
rm -rf seg
"$B" follow -o seg heard >out 2>err &
for _ in $(seq 300); do
	[ ! -s seg/segment-000001.db ] || break
	sleep 0.2
done
cp seg/.followed out
grep -q '/trace.host:1234.dat' out && [ "$(wc -l <out)" = 1 ]
bad=$?
say a_file_that_a_recorder_still_sends_is_no_segment
rm heard/trace.host:99.cpu0
mv heard/trace.dat heard/trace.2026112110203045
kill -TERM $! && wait $!
bad=$?
[ "$(count seg)" = 3 ] && [ "$(all_of seg 'SELECT count(*) FROM samples' | sort -u | wc -l)" = 1 ] || bad=1
say each_file_that_is_finished_is_a_segment
mkdir -p tracing/per_cpu/cpu0 && : >tracing/trace_pipe
"$B" follow -o new tracing >out 2>err
[ $? = 2 ] && grep -q 'tracing/trace_pipe' err && [ ! -e new ]
bad=$?
say a_buffer_of_ftrace_is_followed_by_its_trace_pipe_only

# ---- stacks that no sample asked for

alone() {	# alone VERDICT: of such stacks in whole.txt, whose segments are the whole
	"$M" -p whole.txt whole.pipe && "$B" ingest -q -f -o whole.db whole.pipe && follow seg --segment 1K - <whole.pipe &&
		[ "$(count seg)" -gt 1 ] && is_whole seg &&
		[ "$(one all.db "SELECT DISTINCT w.name || '-' || c.name FROM chain h, word w, word c WHERE h.n_events = 0
			AND w.kind = 'chain' AND w.id = h.verdict AND c.kind = 'confidence' AND c.id = h.confidence")" = "$1" ]
}
begins() {	# begins LINE...: a stream with these, and two segments
	printf '%s\n' 'event cpu-clock defer period=1000' 'event dummy:u output' "$@" 'comm pid=100 name=app' \
		'sample pid=100 tid=100 cpu=1 time=1000 k=0xffffffff81000010 cookie=1:3' \
		'chain cookie=1:3 pid=100 tid=100 cpu=1 time=2000 u=0x400010'
}
goes_on() {	# goes_on COUNTER LINE...: the cookies that follow these
	n=$1
	shift
	printf '%s\n' round round "$@" "sample pid=100 tid=100 cpu=1 time=60005000 k=0xffffffff81000020 cookie=1:$n" \
		"chain cookie=1:$n pid=100 tid=100 cpu=1 time=60006000 u=0x400020" round round \
		"sample pid=100 tid=100 cpu=1 time=60007000 k=0xffffffff81000020 cookie=1:$((n + 2))" \
		"chain cookie=1:$((n + 2)) pid=100 tid=100 cpu=1 time=60008000 u=0x400020"
}
{
	begins
	echo 'chain cookie=1:3 pid=100 tid=100 cpu=1 time=2500 u=0x400020'
	goes_on 5
} >whole.txt
alone duplicate-unexplained
bad=$?
say merged_segments_do_not_prove_a_stack_of_other_addresses
# perf record --filter x
{
	begins "raw type=80 misc=0 hex=0b000000000000000400000008000000706572660000000008000000$(
		printf 'record\0\0' | od -An -v -tx1 | tr -d ' ')10000000$(
		printf -- '--filter\0\0\0\0\0\0\0\0' | od -An -v -tx1 | tr -d ' ')08000000780000000000000000000000"
	echo 'chain cookie=1:5 pid=100 tid=100 cpu=1 time=3000 u=0x400010'
	goes_on 7
} >whole.txt
alone foreign-explained
bad=$?
say merged_segments_know_that_samples_were_filtered
# two threads of one id, one after the other, have such a stack each: that proves no other session
{
	begins
	echo 'fork pid=100 tid=101 ppid=100 ptid=100 time=2100 cpu=1'
	echo 'chain cookie=1:5 pid=100 tid=101 cpu=1 time=2500 u=0x400010'
	echo 'exit pid=100 tid=101 ppid=100 ptid=100 time=3000 cpu=1'
	goes_on 9 'fork pid=100 tid=101 ppid=100 ptid=100 time=60000000 cpu=1' \
		'chain cookie=1:7 pid=100 tid=101 cpu=1 time=60002500 u=0x400010' \
		'exit pid=100 tid=101 ppid=100 ptid=100 time=60003000 cpu=1'
} >whole.txt
alone unexplained-unexplained
bad=$?
# one that has two, and a sample with its user stack
{
	begins 'comm pid=200 name=other' 'sample pid=200 tid=200 cpu=1 time=900 k=0xffffffff81000010 u=0x400010'
	echo 'chain cookie=1:5 pid=200 tid=200 cpu=1 time=2500 u=0x400010'
	goes_on 9 'chain cookie=1:7 pid=200 tid=200 cpu=1 time=60002500 u=0x400010'
} >whole.txt
alone unexplained-unexplained || bad=1
say merged_segments_prove_another_session_as_the_whole_does
stream 1

# ---- commands

rm -f ran
# shellcheck disable=SC2016 # $1 is of the command
follow seg --segment 2K --keep 1K --exec 'sleep 0.3; test -s "$1" && echo ok >>ran; exit 7' - <whole.pipe
bad=$?
n=$(wc -l <ran)
[ "$n" -gt 5 ] && [ "$(grep -c 'its command failed with status 7' err)" = "$n" ] && [ "$(count seg)" = 1 ] || bad=1
say a_segment_stays_until_its_command_has_ended_and_failures_are_said
bad=0
# shellcheck disable=SC2016 # $$ is of the command
for signal in 13 25; do # SIGPIPE, SIGXFSZ
	follow seg --segment 64M --exec "ulimit -c 0; kill -$signal"' $$' - <whole.pipe || bad=1
	grep -q "its command was ended by signal $signal" err || bad=1
done
say a_command_ignores_no_signals

rm -rf seg
mkdir seg
cp "$root/tests/cli/follow.sh" seg/.segment-000002.data
"$B" follow -o seg - </dev/null >out 2>err
[ $? = 3 ] && cmp -s seg/segment-000002.bad "$root/tests/cli/follow.sh" && grep -q '1 not readable' err
bad=$?
say a_part_that_cannot_be_read_stays_and_is_said

"$B" follow -o new none >out 2>err
[ $? = 1 ] && grep -q 'none: No such file' err && [ ! -e new ] && [ "$(wc -l <err)" = 1 ] &&
	! "$B" follow -o new - <"$root/README.md" >out 2>err && [ ! -e new ]
bad=$?
say a_stream_that_cannot_be_followed_leaves_no_folder
"$B" follow -o new - </dev/null >out 2>err && grep -q '^backstitch: -: the stream ended, and nothing was in it' err
bad=$?
say an_empty_stream_is_said

fails() {	# fails STATUS TEXT ARGUMENT...
	want=$1 text=$2
	shift 2
	"$B" follow "$@" >out 2>err
	s=$?
	if [ $s != "$want" ] || ! grep -q -- "$text" err
	then bad=1
	fi
}
bad=0
fails 1 'no stream of' -o no - <"$root/tests/cli/follow.sh"
fails 1 'a file and no stream' -o no - <"$root/tests/captures/fp-1.data"
fails 2 'which stream' -o no
fails 2 '--segment needs a time' -o no --segment 10 - <whole.pipe
fails 2 '--keep needs a time' -o no --keep long - <whole.pipe
fails 2 'at most 16 inputs' -o no 1 2 3 4 5 6 7 8 9 a b c d e f g h
fails 1 'No such file' -o no nowhere/fifo
find no -type f >out 2>/dev/null
[ ! -s out ] || bad=1
say what_cannot_be_followed_is_refused

timeout -s TERM 1 "$B" follow -q -o chunks "$root/tests/captures/ctf-discard/trace" >out 2>err
grep -q "waiting for the first chunk of this LTTng session: 'lttng rotate'" err
bad=$?
say a_session_without_chunks_is_told_to_be_rotated

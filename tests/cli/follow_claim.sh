#!/bin/sh
# follow_claim.sh - others who write into the folder of segments: a second follow, links, folders that are replaced, names without a number left.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/follow_claim.sh; prints "ok NAME", "not ok NAME" or "skip NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
M=$MKCAP
[ -x "$M" ] || {
	echo "skip follow_claim: mkcap is not built"
	exit 0
}
cd "$dir" || exit 2
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME

begin() {	# begin OPTION...: follows half of the stream into seg; $pid
	"$B" follow -q -o seg --segment 1h "$@" fifo >out 2>err &
	pid=$!
	exec 3>fifo
	head -c $((size / 2)) whole.pipe >&3
	soon test -s "seg/.segment-000001.data"
}
cut() {	# cut: the segment ends, and the stream goes on
	kill -HUP $pid && sleep 0.5
	tail -c +$((size / 2 + 1)) whole.pipe >&3 2>/dev/null
}
end() {	# end: the status of what begin started
	exec 3>&-
	wait $pid
}
python3 "$root/tests/cli/stream.py" 1 1 . && "$M" -p whole.txt whole.pipe && "$B" ingest -q -f -o whole.db whole.pipe
size=$(wc -c <whole.pipe)
mkfifo fifo
echo precious >victim
mkdir other

# ---- one follow at a time

begin --segment 1K
"$B" follow -q -o seg - <whole.pipe >out2 2>err2
[ $? = 1 ] && grep -q "seg: process $pid follows into this folder" err2
bad=$?
tail -c +$((size / 2 + 1)) whole.pipe >&3
end && is_whole seg && [ ! -e seg/.lock ] || bad=1
say a_second_follow_is_refused_and_the_first_one_loses_nothing

rm -rf seg
begin --segment 1K
kill -KILL $pid
end
[ -e seg/.lock ]
bad=$?
"$B" follow -q -o seg - </dev/null >out 2>err
[ ! -e seg/.lock ] && [ -e seg/segment-000001.db ] || bad=1
say the_lock_of_a_killed_follow_is_taken_over

# ---- what a killed run left

rm -rf seg
begin
# what came is there within a second or so, however little it is
has_all() {
	[ "$(wc -c <seg/.segment-000001.data)" -ge $((size / 2 - 3000)) ]
}
soon has_all && kill -KILL $pid
bad=$?
end
"$B" follow -q -o seg - </dev/null >out 2>err
[ $? = 3 ] && [ "$(one seg/segment-000001.db 'SELECT what FROM damage')" = truncated ] &&
	[ "$(one seg/segment-000001.db 'SELECT complete FROM capture')" = 0 ] || bad=1
head -c $((size / 2)) whole.pipe >half.pipe
"$B" ingest -q -f -o half.db half.pipe 2>err
[ "$(one seg/segment-000001.db 'SELECT samples FROM capture')" = "$(one half.db 'SELECT samples FROM capture')" ] || bad=1
say what_a_killed_run_received_is_there_and_the_gap_behind_it_is_told

# the user wants an end, and the stream goes on: where it was read last is in a record
rm -rf seg
begin
soon has_all && kill -TERM $pid
wait $pid && [ -z "$(find seg -name '.segment*')" ] && [ ! -s err ] &&
	[ "$(one seg/segment-000001.db 'SELECT count(*) FROM damage')" = 0 ] &&
	[ "$(one seg/segment-000001.db 'SELECT samples FROM capture')" = "$(one half.db 'SELECT samples FROM capture')" ] &&
	[ "$(one half.db 'SELECT what FROM damage')" = truncated ]
bad=$?
exec 3>&-
say a_stream_that_the_user_ends_in_a_record_is_not_damaged

# the last piece of a stream that version 1.0 cut has no end; 16: of a later version
sed 2q whole.txt >head.txt
piece() {	# piece MISC: damage of a piece that begins with that, and where it begins
	{
		cat head.txt
		echo "raw type=40000 misc=$1 hex=0900000000000000"
		sed 1,2d whole.txt
	} >piece.txt
	"$M" -p piece.txt piece.pipe
	"$B" ingest -q -f -o piece.db piece.pipe 2>err
	one piece.db "SELECT coalesce(group_concat(what), 'whole') || (SELECT value FROM meta WHERE key = 'cut_before') FROM damage"
}
[ "$(piece 0)" = whole9 ] && [ "$(piece 16)" = truncated9 ]
bad=$?
say a_piece_of_version_1_0_is_whole

# the number of a process says nothing of another pid namespace: its lock does
rm -rf seg
mkdir seg
sh -c 'exit' &
gone=$!
wait $gone
: >seg/segment-000009.db.$gone-0.tmp
cp seg/segment-000009.db.$gone-0.tmp seg/segment-000008.db.$gone-0.tmp
python3 -c 'import fcntl, sys, time
f = open(sys.argv[1], "r+")
fcntl.lockf(f, fcntl.LOCK_EX)
print("locked", flush=True)
time.sleep(60)' seg/segment-000009.db.$gone-0.tmp >locked &
pid=$!
soon test -s locked && "$B" follow -q -o seg - <whole.pipe >out 2>err &&
	[ -e seg/segment-000009.db.$gone-0.tmp ] && [ ! -e seg/segment-000008.db.$gone-0.tmp ]
bad=$?
kill $pid
wait $pid 2>/dev/null
say files_of_a_run_that_is_in_another_namespace_stay

# it had made the database, and removed one of two parts
rm -rf seg
"$B" follow -q -o seg --separate --segment 1h whole.pipe half.pipe 2>err
cp seg/segment-000001.db made.db && cp whole.pipe seg/.segment-000001.data.1
# shellcheck disable=SC2016 # $1 is of the command
"$B" follow -q -o seg --exec 'echo "$1" >>ran' - </dev/null >out 2>err && cmp seg/segment-000001.db made.db >out &&
	[ ! -e seg/.segment-000001.data.1 ] && [ "$(cat ran)" = seg/segment-000001.db ]
bad=$?
say a_database_is_not_made_again_of_a_part_of_what_it_has

rm -rf seg
sleep 0 &
gone=$!
wait $gone
mkdir seg && : >"seg/segment-000007.db.$gone-0.tmp" && : >"seg/segment-000007.db.$$-0.tmp" && : >"seg/segment-7.db.$gone-0.tmp" &&
	"$B" follow -q -o seg - </dev/null >out 2>err && find seg -type f | sort >out && [ "$(tr '\n' ' ' <out)" = \
	"seg/segment-000007.db.$$-0.tmp seg/segment-7.db.$gone-0.tmp " ]
bad=$?
say what_a_killed_process_left_of_a_database_is_removed

# ---- links

rm -rf seg
begin --segment 1K
for i in $(seq 2 99)
do
	ln -s "$dir/victim" seg/.segment-0000"$(printf %02d "$i")".data 2>/dev/null
done
tail -c +$((size / 2 + 1)) whole.pipe >&3 2>/dev/null
end
[ $? = 1 ] && grep -q 'seg/.segment-0000.*: somebody else made it' err && [ "$(cat victim)" = precious ]
bad=$?
say a_part_is_never_written_through_a_link

has_ended() {	# has_ended: it said why, or took the file
	if [ "$name" = .followed.tmp ]
	then
		[ -e seg/segment-000001.db ]
	else
		grep -q "seg/$name: " err
	fi
}
bad=0
mkdir sw
cp whole.pipe sw/p.data.2026010101010101
for how in "ln -s" ln
do
	for name in .lock .followed .followed.tmp
	do
		rm -rf seg
		mkdir seg
		[ $name != .followed.tmp ] || echo "$dir/sw/none" >seg/.followed
		$how "$dir/victim" seg/$name
		"$B" follow -q -o seg sw >out 2>err &
		pid=$!
		soon has_ended
		kill -TERM $pid 2>/dev/null
		wait $pid
		[ "$(cat victim)" = precious ] || bad=1
		# what a killed run left aside is removed
		[ $name = .followed.tmp ] || grep -q "seg/$name: " err || bad=1
	done
done
say other_names_are_no_links_either

# ---- a folder that is replaced

bad=0
for to in other nowhere
do
	rm -rf seg was
	begin
	mv seg was && ln -s "$dir/$to" seg
	cut
	end
	[ $? = 1 ] && grep -q 'seg: was replaced or renamed' err && [ -z "$(ls -A other)" ] && [ ! -e nowhere ] && [ -e was/.segment-000001.data ] || bad=1
	"$B" follow -q -o was - </dev/null >out 2>err
	# what came behind it is not there
	[ $? = 3 ] && [ -e was/segment-000001.db ] && [ "$(one was/segment-000001.db 'SELECT what FROM damage')" = truncated ] || bad=1
done
say a_folder_that_is_replaced_is_not_followed

rm -rf seg
"$B" follow -o seg --segment 1h fifo >out 2>err &
pid=$!
exec 3>fifo
head -c $((size / 2)) whole.pipe >&3
soon test -e seg/.segment-000001.data
rm -f seg/.segment-000001.data
tail -c +$((size / 2 + 1)) whole.pipe >&3
end
[ $? = 3 ] && grep -q 'segment 1: its parts were removed before they were read' err && grep -q '0 segments, .*; 1 removed before they were read' err
bad=$?
say parts_that_are_gone_are_counted

# ---- numbers

rm -rf seg
mkdir seg
: >seg/segment-4294967294.db
timeout 20 "$B" follow -q -o seg - <whole.pipe >out 2>err
[ $? = 1 ] && grep -q 'no number is left after segment 4294967294' err && [ -z "$(find seg -name '.segment*')" ]
bad=$?
say a_folder_without_numbers_is_refused

rm -rf seg
mkdir seg
: >seg/segment-3999999998.db
cp whole.pipe seg/.segment-000001.data
cp whole.pipe seg/.segment-3999999997.data
timeout 60 "$B" follow -q -o seg - </dev/null >out 2>err && [ -e seg/segment-000001.db ] && [ -e seg/segment-3999999997.db ]
bad=$?
say parts_far_from_each_other_are_read_at_once

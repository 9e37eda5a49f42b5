#!/bin/sh
# oneboot.sh - recordings of one boot, one after another, are read as one: what the
# first one saw is not missing in the second one.
# usage: BACKSTITCH=build/backstitch MKCAP=build/mkcap tests/cli/oneboot.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

# capture NAME ADDRESS MILLISECOND COUNTER...: thread 100 makes a cookie on CPU 0 with
# each counter, and returns; 101 entered the kernel with counter 3, and stays there
capture()
{
	name=$1 addr=$2 t=$3
	shift 3
	{
		echo "event cpu-clock defer period=1000000"
		echo "event dummy:u output"
		echo "host guest 7.2.0"
		echo "comm pid=100 name=app"
		echo "comm pid=100 tid=101 name=sleeper"
		echo "mmap pid=100 start=$addr len=0x1000 pgoff=0x1000 path=/usr/bin/app id=00112233445566778899aabbccddeeff00112233"
		for n
		do
			t=$((t + 10))
			echo "sample pid=100 tid=100 cpu=0 time=${t}000000 cookie=0:$n"
			echo "chain cookie=0:$n pid=100 tid=100 cpu=0 time=${t}500000 u=$addr"
		done
		t=$((t + 10))
		[ "$name" = two ] || echo "sample pid=100 tid=101 cpu=0 time=${t}000000 cookie=0:$((n + 2))"
	} >in.txt
	"$MKCAP" in.txt "$name.data"
}
# missing DB: counters that no record has
missing()
{
	"$B" query --format csv "$1" 'SELECT sum(missing) FROM cookies' | tail -n 1 | tr -d '\r'
}
at=0x5630ae9b8000
capture one $at 1000 1 3 5 7 9
capture two $at 3000 13 15 17 19
# 101 wakes up in the second one: its cookie is the first one's
sed -i 's/^sample pid=100 tid=100 cpu=0 time=3020000000.*/&\nchain cookie=0:11 pid=100 tid=101 cpu=0 time=3025000000 u=0x5630ae9b8000/' in.txt
"$MKCAP" in.txt two.data
"$B" ingest -q -f --no-symbols -o both.db one.data two.data 2>err
is two_recordings_of_one_boot_are_one 0 $?
is it_is_known_by_a_process_at_a_random_address '1,1 2,1' "$("$B" query --format csv both.db \
	'SELECT id, together FROM capture ORDER BY id' | tail -n +2 | tr -d '\r' | tr '\n' ' ' | sed 's/ $//')"
is a_stay_that_began_in_the_first_is_answered_in_the_second '10' "$("$B" query --format csv both.db \
	"SELECT sum(n) FROM verdicts WHERE kind = 'request' AND verdict = 'matched'" | tail -n 1 | tr -d '\r')"
is no_counter_is_missing 0 "$(missing both.db)"
"$B" check both.db >out 2>&1
ok and_check_says_so $?

# a loss of the second one is one
capture two $at 3000 13 15 17 21 23
"$B" ingest -q -f --no-symbols -o two.db two.data
"$B" check two.db >out 2>&1
is what_vanished_in_the_second_is_a_loss 4 $?
"$B" ingest -q -f --no-symbols -o both.db one.data two.data
"$B" check both.db >out 2>&1
is and_is_one_beside_the_first 4 $?
is which_is_counted 1 "$(missing both.db)"

# what another recorder asked for between the two is none
capture two $at 3000 43 45 47
"$B" ingest -q -f --no-symbols -o both.db one.data two.data
"$B" check both.db >out 2>&1
is what_others_asked_for_between_them_is_no_loss 0 $?

# another boot, and one that does not choose addresses at random
for at in 0x5630ae9b9000 0x555555554000
do
	capture two $at 3000 13 15 17
	"$B" ingest -q -f --no-symbols -o both.db one.data two.data 2>err
	is "without_such_a_process_they_are_not_of_one_timeline: $at" 1 $?
done
says and_the_distance_is_said 'are not of one timeline: 1950.000 ms lie between them' err

# nor are two that run at the same time after their boots, of which each put the kernel at another address
end=2000000000
for at in 0xffffffff90000000 0xffffffffa0000000 0xffffffffa0000000
do
	mv late.data early.data 2>/dev/null
	printf '%s\n' 'event cpu-clock' 'host guest 7.2.0' 'comm pid=100 name=app' \
		"mmap pid=-1 start=$at len=0x1000000 pgoff=$at path=[kernel.kallsyms]_text kernel" \
		'sample pid=100 tid=100 cpu=0 time=1000000000 u=0x400100' \
		"sample pid=100 tid=100 cpu=0 time=$((end += 1)) u=0x400100" >in.txt
	"$MKCAP" in.txt late.data
	[ ! -f early.data ] || "$B" ingest -q -f --no-symbols -o boots.db early.data late.data 2>>err || echo "refused at $at" >>boots
done
is kernels_at_two_addresses_are_of_two_boots 'refused at 0xffffffffa0000000' "$(cat boots)"
says and_that_is_said 'are not of one timeline: two boots of the machine' err

cp "$root/tests/captures/fp-1.data" twice.data
"$B" ingest -q --no-symbols -o twice.db "$root/tests/captures/fp-1.data" twice.data 2>err
ok a_recording_is_not_counted_twice $(($? != 2))
says and_its_two_names_are_said 'fp-1.data and twice.data are the same recording' err

#!/bin/sh
# follow_faults.sh - a stream on a bad day: full disks, no processes, silence, clocks that are set, limits.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/follow_faults.sh; prints "ok NAME", "not ok NAME" or "skip NAME" lines.
# Waits: silence, and segments that end by time
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
M=$MKCAP
[ -x "$M" ] || {
	echo "skip follow_faults: mkcap is not built"
	exit 0
}
trap 'umount "$dir/disk" 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 2
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME

count() {	# count DIR: databases in it
	find "$1" -name 'segment-*.db' | wc -l
}
waiting() {	# waiting DIR: segments that wait, and the one that is read
	find "$1" -name ".segment-*.data" 2>/dev/null | wc -l
}
is_waiting() {	# is_waiting DIR N
	[ "$(waiting "$1")" = "$2" ]
}
has_segments() {	# has_segments DIR N
	[ "$(count "$1")" -ge "$2" ]
}
has_followed() {	# has_followed N
	[ -e seg/.followed ] && [ "$(wc -l <seg/.followed)" = "$1" ]
}
python3 "$root/tests/cli/stream.py" 1 1 . && "$M" -p whole.txt whole.pipe && "$B" ingest -q -f -o whole.db whole.pipe
size=$(wc -c <whole.pipe)

# what calls of the program meet; sanitizers want to be loaded first
cat >shim.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
pid_t fork(void)
{
	static int left = -1;
	pid_t (*real)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");

	if (left < 0)
		left = getenv("NO_FORK") ? atoi(getenv("NO_FORK")) : 0;
	if (left > 0) {
		left--;
		errno = EAGAIN;
		return -1;
	}
	pid_t pid = real();

	/* what makes databases waits while there is a file */
	while (!pid && getenv("HOLD") && !access(getenv("HOLD"), F_OK))
		usleep(10000);
	return pid;
}
/* the clock of the wall is set by so many seconds with each question */
time_t time(time_t *out)
{
	static time_t by;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	by += getenv("STEP") ? atol(getenv("STEP")) : 0;
	t.tv_sec += by;
	if (out)
		*out = t.tv_sec;
	return t.tv_sec;
}
END
shim=
case ${SAN:-}$B in
*build-san* | *address*) ;;
*) gcc -shared -fPIC -o shim.so shim.c -ldl && shim=$dir/shim.so ;;
esac

# ---- cut now; silence

mkfifo fifo
"$B" follow -q -o seg --segment 1h fifo >out 2>err &
exec 3>fifo
head -c $((size / 2)) whole.pipe >&3
soon test -e seg/.segment-000001.data && sleep 0.5 && kill -HUP $! && sleep 0.5
tail -c +$((size / 2 + 1)) whole.pipe >&3
exec 3>&-
wait $! && [ "$(count seg)" = 2 ] && is_whole seg
bad=$?
say sighup_ends_the_segment

rm -rf seg
"$B" follow -q -o seg --segment 1s fifo >out 2>err &
exec 3>fifo
head -c $((size / 2)) whole.pipe >&3
soon has_segments seg 1
bad=$?
tail -c +$((size / 2 + 1)) whole.pipe >&3
exec 3>&-
# the rest may take longer than a second where much else runs
wait $! && [ "$(count seg)" -ge 2 ] && is_whole seg || bad=1
say a_stream_that_stalls_in_a_record_has_its_segment_meanwhile

# A ring of CPU 1 is read a round later than that of CPU 0, which is silent then: it has an exec from before.
cat >a.txt <<'END'
event cpu-clock period=1000
comm pid=10 tid=10 name=one
comm pid=20 tid=20 name=two
mmap pid=10 tid=10 start=0x400000 len=0x10000 pgoff=0 path=/bin/one id=01aabb
mmap pid=20 tid=20 start=0x400000 len=0x10000 pgoff=0 path=/bin/two id=02aabb
sample pid=20 tid=20 cpu=1 time=1000 u=0x400100
round
sample pid=20 tid=20 cpu=0 time=1700 u=0x400200
END
seq -f 'sample pid=10 tid=10 cpu=0 time=%.0f u=0x400100' 2000 2060 >>a.txt
cat a.txt - >whole.txt <<'END'
comm pid=20 tid=20 name=three exec time=1500 cpu=1
mmap pid=20 tid=20 start=0x400000 len=0x10000 pgoff=0 path=/bin/three id=03aabb time=1501 cpu=1
sample pid=20 tid=20 cpu=1 time=1600 u=0x400300
round
sample pid=20 tid=20 cpu=1 time=3600 u=0x400300
round
END
"$M" -p a.txt a.pipe && "$M" -p whole.txt whole.pipe && "$B" ingest -q -f -o whole.db whole.pipe
part=$(wc -c <a.pipe)
for when in later now; do
	rm -rf seg
	"$B" follow -q -o seg --segment 1K fifo >out 2>err &
	exec 3>fifo
	cat a.pipe >&3
	soon test -e seg/.segment-000003.data
	bad=$?
	if [ $when = now ]
	then sleep 0.5 && kill -HUP $! && soon has_segments seg 2 || bad=1
	fi
	tail -c +$((part + 1)) whole.pipe >&3
	exec 3>&-
	wait $! && [ "$(count seg)" = 3 ] || bad=1
	[ $when = now ] || is_whole seg || bad=1
	if [ $when = now ]
	then say sighup_ends_a_silent_segment_at_once
	else say a_silent_segment_waits_for_rings_that_are_read_late
	fi
done

# ---- limits

switched() {	# switched N FOLDER: whole.db, and N finished files
	python3 "$root/tests/cli/stream.py" 3 "$1" . && "$M" whole.txt whole.data && "$B" ingest -q -f -o whole.db whole.data || return 1
	rm -rf "$2"
	mkdir "$2"
	for i in $(seq "$1"); do "$M" "$i.txt" "$2/perf.data.20261121060$(printf %05d "$i")" || return 1; done
}
if [ -z "$shim" ]
then echo "skip limits: under sanitizers"
else
	switched 40 sw
	rm -rf seg
	: >hold
	HOLD=hold LD_PRELOAD=$shim "$B" follow -q -o seg sw >out 2>err &
	soon is_waiting seg 32 && sleep 0.5 && [ "$(waiting seg)" = 32 ] && [ "$(wc -l <seg/.followed)" = 32 ]
	bad=$?
	rm hold
	soon has_segments seg 40
	kill -TERM $! && wait $! && is_whole seg || bad=1
	say at_most_32_files_of_a_folder_wait_outside_it

	python3 "$root/tests/cli/stream.py" 5 1 . forks && "$M" -p whole.txt whole.pipe && "$B" ingest -q -f -o whole.db whole.pipe
	rm -rf seg
	: >hold
	(
		soon grep -q 'behind: 33 segments wait' err
		waiting seg >held
		rm hold
	) &
	HOLD=hold LD_PRELOAD=$shim "$B" follow -o seg --segment 1K - <whole.pipe >out 2>err
	bad=$?
	wait
	[ "$(cat held)" -ge 33 ] && grep -q 'the stream waited [1-9]' err && is_whole seg || bad=1
	say a_stream_waits_for_33_segments_and_loses_nothing
fi

switched 40 sw1 && switched 40 sw2 && rm -rf seg
"$B" follow -q --separate --segment 1h -o seg sw1 sw2 >out 2>err &
soon has_followed 64 && sleep 0.5
kill -TERM $! && wait $! && [ "$(wc -l <seg/.followed)" = 64 ] && [ "$(count seg)" = 1 ] &&
	grep -q '16 files wait in the folder' err
bad=$?
"$B" follow -q --separate --segment 1h -o seg sw1 sw2 >out 2>err &
soon has_followed 80
kill -TERM $! && wait $! && [ "$(count seg)" = 2 ] || bad=1
say a_segment_has_at_most_64_parts_and_the_next_run_the_others

set --
for i in $(seq 16); do
	cp whole.pipe "in$i"
	set -- "$@" "in$i"
done
rm -rf seg
"$B" follow -q --separate --segment 1h -o seg "$@" >out 2>err &&
	[ "$("$B" query --format csv seg/segment-000001.db 'SELECT count(*) FROM capture' | tail -1)" = 16 ]
bad=$?
say sixteen_streams_are_in_one_segment

# ---- processes that come and go

# 10,000 processes with ids of a few hundred, each with a name and a file of its own
python3 - >many.txt <<'END'
print("event cpu-clock period=1000")
print("comm pid=1 tid=1 name=init")
t = 1000
for i in range(10000):
    pid = 100 + i % 300
    t += 10
    print(f"fork pid={pid} tid={pid} ppid=1 ptid=1 time={t} cpu=0")
    print(f"comm pid={pid} tid={pid} name=run{i} exec time={t + 1} cpu=0")
    print(f"mmap pid={pid} tid={pid} start=0x400000 len=0x1000 pgoff=0 path=/bin/run{i} time={t + 2} cpu=0")
    print(f"sample pid={pid} tid={pid} cpu=0 time={t + 3} u=0x400100")
    if i % 7 == 6:
        print("round")
    print(f"sample pid={pid} tid={pid} cpu=0 time={t + 4} u=0x400200")
    print(f"exit pid={pid} tid={pid} ppid=1 ptid=1 time={t + 5} cpu=0")
END
"$M" -p many.txt many.pipe
rm -rf seg hwm
# shellcheck disable=SC2016 # of the command
"$B" follow -q --no-symbols --segment 200K --exec 'grep VmHWM /proc/$PPID/status >>hwm' -o seg - <many.pipe >out 2>err
bad=$?
python3 - seg >out 2>&1 <<'END' || bad=1
import glob, sqlite3, sys
seen = set()
for path in sorted(glob.glob("seg/*.db")):
    db = sqlite3.connect(path)
    for at, comm, file in db.execute("""SELECT e.time_ns, c.name, (SELECT f.image FROM raw_chain u
            JOIN stack_frames f ON f.stack = u.stack WHERE u.id = e.uraw) FROM event e JOIN comm c ON c.id = e.comm
            JOIN event_type t ON t.id = e.type AND t.kind = 'sample'"""):
        i, step = divmod(at - 1013, 10)
        assert step < 2 and comm == "run%d" % i and file == "/bin/run%d" % i, (path, at, comm, file)
        seen.add(at)
    n = db.execute("SELECT count(*) FROM process WHERE end_ns IS NULL AND pid > 1").fetchone()[0]
    assert n <= 1, (path, n)
assert len(seen) == 20000, len(seen)
END
n=$(count seg)
[ "$n" -gt 5 ] || bad=1
say ten_thousand_processes_have_their_names_and_files
# these keep freed memory for a while, some MB of it
if grep -q __asan_init "$B"
then echo "skip memory_does_not_grow_with_processes_that_ended: under sanitizers"
else
	awk '{ v[NR] = $2 } END { print "# " v[1] " KiB, at the end " v[NR]; exit !(NR > 5 && v[NR] < v[1] + 1024) }' hwm >out
	bad=$?
	say memory_does_not_grow_with_processes_that_ended
fi

# ---- damage that does not end

# 5,000 records of a host's name, each of 60 KB with something behind it
flood() {
	python3 -c 'import struct, sys
out = sys.stdout.buffer
data = open("many.pipe", "rb").read()
at = 16
while struct.unpack_from("<I", data, at)[0] != 7: # FORK
	at += struct.unpack_from("<H", data, at + 6)[0]
out.write(data[:at])
text = b"x" * 60000 + bytes(8)
body = struct.pack("<QI", 3, len(text)) + text + b"1" * 16
for i in range(5000):
	out.write(struct.pack("<IHH", 80, 0, 8 + len(body)) + body)
out.write(data[at:])'
}
rm -rf seg anon
# shellcheck disable=SC2016 # of the command
flood | "$B" follow -q --no-symbols --segment 64M --keep 1K --exec 'grep RssAnon /proc/$PPID/status >>anon' -o seg - >out 2>err
[ $? = 3 ] && grep -q 'a record of type FEATURE is damaged' err
bad=$?
say damaged_records_without_end_are_said
if grep -q __asan_init "$B"
then echo "skip memory_does_not_grow_with_damaged_records: under sanitizers"
else
	awk '{ v[NR] = $2 } END { print "# " v[1] " KiB, at the end " v[NR]; exit !(NR > 3 && v[NR] < 200 * 1024) }' anon >out
	bad=$?
	say memory_does_not_grow_with_damaged_records
fi

# ---- no processes; clocks that are set

if [ -z "$shim" ]
then echo "skip processes_and_clocks: under sanitizers"
else
	python3 "$root/tests/cli/stream.py" 1 1 . && "$M" -p whole.txt whole.pipe &&
		"$B" ingest -q -f -o whole.db whole.pipe
	rm -rf seg
	LD_PRELOAD=$shim NO_FORK=3 "$B" follow -o seg --segment 2K - <whole.pipe >out 2>err
	bad=$?
	[ "$(grep -c 'cannot start a process: .*; it is tried again' err)" = 1 ] && ! grep -q 'waits for room' err &&
		is_whole seg || bad=1
	say a_process_that_cannot_be_started_is_tried_again

	rm -rf seg
	LD_PRELOAD=$shim NO_FORK=1000000 "$B" follow -q -o seg --segment 2K - <whole.pipe >out 2>err
	[ $? = 1 ] && grep -q 'no database could be made of' err && [ "$(count seg)" = 0 ] &&
		"$B" follow -q -o seg - </dev/null >out 2>err && is_whole seg
	bad=$?
	say without_processes_the_next_run_makes_the_databases

	bad=0
	for step in 86400 -86400; do
		rm -rf seg
		LD_PRELOAD=$shim STEP=$step "$B" follow -q -o seg --segment 2K --keep 1h - <whole.pipe >out 2>err &&
			is_whole seg || bad=1
	done
	say no_segment_is_removed_because_the_clock_was_set
fi

# ---- a full disk

mkdir disk
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=1M tmpfs disk 2>/dev/null
then
	waits() {	# waits PID: it says so, lives, and what is finished is intact
		soon grep -q 'No space left on device; the stream waits for room' err && sleep 0.5 && kill -0 "$1" || return 1
		[ "$(grep -c 'waits for room' err)" = 1 ] || return 1
		for db in disk/seg/segment-*.db; do
			[ ! -e "$db" ] || sqlite3 -readonly "$db" 'PRAGMA quick_check' 2>>err | grep -q ok || return 1
		done
	}
	empty() {	# empty SIZE: a disk of that size
		umount disk && mount -t tmpfs -o size="$1" tmpfs disk
	}
	python3 "$root/tests/cli/stream.py" 1 1 . && "$M" -p whole.txt whole.pipe &&
		"$B" ingest -q -f -o whole.db whole.pipe
	"$B" follow -o disk/seg --segment 4K - <whole.pipe >out 2>err &
	waits $! && [ "$(count disk/seg)" -gt 0 ]
	bad=$?
	say a_full_disk_keeps_what_is_finished
	mount -o remount,size=64M disk
	wait $! && is_whole disk/seg && grep -q '[0-9] s without room on the disk' err && [ -z "$(find disk/seg -name '.segment*')" ]
	bad=$?
	say and_with_room_the_stream_goes_on_without_a_gap

	empty 1M
	"$B" follow -q -o disk/seg --segment 4K fifo >out 2>err &
	exec 3>fifo
	cat whole.pipe >&3
	waits $!
	bad=$?
	kill -TERM $!
	exec 3>&-
	wait $!
	[ $? -le 1 ] || bad=1
	n=$(waiting disk/seg)
	mount -o remount,size=64M disk
	was=$(count disk/seg)
	"$B" follow -q -o disk/seg - </dev/null >out 2>err
	[ $? -le 3 ] && [ "$(count disk/seg)" = $((was + n)) ] && [ -z "$(find disk/seg -name '.segment*')" ] || bad=1
	say one_that_ends_meanwhile_leaves_its_parts_for_the_next_run

	# nobody has read the stream: that it is empty is not known
	empty 256K
	"$B" follow -q -o disk/seg - <whole.pipe >out 2>err &
	waits $!
	bad=$?
	kill -TERM $!
	wait $! || bad=1
	grep 'the stream ended' err && bad=1
	say a_stream_that_was_not_read_has_not_ended

	# no room is left for a part, as somebody else fills the disk
	empty 8M
	"$B" follow -q -o disk/seg --segment 1h fifo >out 2>err &
	exec 3>fifo
	half=$(($(wc -c <whole.pipe) / 2))
	head -c $half whole.pipe >&3
	soon test -e disk/seg/.segment-000001.data && sleep 0.5
	cat /dev/zero >disk/other 2>/dev/null
	tail -c +$((half + 1)) whole.pipe >&3
	waits $!
	bad=$?
	rm disk/other
	exec 3>&-
	wait $! && is_whole disk/seg || bad=1
	say a_disk_that_somebody_else_fills_is_waited_for

	empty 8M
	"$B" follow -q -o disk/seg --segment 1h fifo >out 2>err &
	exec 3>fifo
	head -c $half whole.pipe >&3
	soon test -e disk/seg/.segment-000001.data && sleep 0.5
	cat /dev/zero >disk/other 2>/dev/null
	tail -c +$((half + 1)) whole.pipe >&3
	waits $!
	bad=$?
	kill -TERM $!
	sleep 0.5
	rm disk/other
	exec 3>&-
	wait $!
	# of whichever segment it is in: the one before may have ended when room became short
	[ $? = 1 ] && grep -q '/.segment-00000[12].data: No space left on device; what is finished stays' err && ! grep 'unknown data' err || bad=1
	say who_ends_the_waiting_is_told_of_the_disk

	# a limit of the size of files is no full disk: the next run may have another one
	empty 64M
	(
		ulimit -f 200
		"$B" follow -q -o disk/seg --segment 4K - <whole.pipe >out 2>err
	)
	[ $? = 1 ] && grep -q 'no database could be made of' err && ! grep -q 'waits for room' err &&
		"$B" follow -q -o disk/seg - </dev/null >out 2>err && is_whole disk/seg
	bad=$?
	say a_limit_of_files_is_no_full_disk

	# what the limit removes makes room
	empty 1M
	"$B" follow -o disk/seg --segment 4K --keep 1s - <whole.pipe >out 2>err
	bad=$?
	grep -q ', [1-9][0-9]* removed' err && ! grep -q 'could be made' err || bad=1
	say segments_that_are_too_old_make_room

	# one segment that takes the whole disk left no room for its database
	{
		echo "event cpu-clock period=1000"
		seq 30000 | awk '{
			printf "sample pid=1 tid=1 cpu=0 time=%d k=0xffffffff81000010 u=0x%x,0x%x,0x%x,0x%x,0x%x,0x%x\n",
				$1 * 1000, $1, $1 * 3, $1 * 5, $1 * 7, $1 * 9, $1 * 11
			if ($1 % 1000 == 0) print "round" }'
	} >big.txt
	"$M" -p big.txt big.pipe
	empty 2M
	"$B" follow -q --no-symbols -o disk/seg - <big.pipe >out 2>err &
	waits $! && [ "$(count disk/seg)" -ge 1 ] && "$B" report disk/seg >out 2>>err
	bad=$?
	say what_is_received_leaves_room_for_its_database
	mount -o remount,size=64M disk
	wait $! && "$B" merge -q -o big.db disk/seg &&
		[ "$(sqlite3 big.db 'SELECT count(DISTINCT time_ns), count(DISTINCT user_raw) FROM samples')" = '30000|30000' ]
	bad=$?
	say and_it_is_whole_in_the_end
	umount disk
else
	echo "skip a_full_disk_keeps_what_is_finished: for root"
fi

#!/bin/sh
# memory.sh - captures that are larger than the memory there is, and what backstitch-memory(7) promises.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM MKFTRACE=PROGRAM tests/cli/memory.sh; prints "ok NAME" or "not ok NAME" lines.
#
# What is in use is bounded by the number of distinct stacks, never by the
# length: a trace.dat, and a text on a pipe, under a limit of the data segment
# that is smaller than they are. Mapped pages of a file do not count there.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
make=${MKFTRACE:-$root/build/mkftrace}
mkcap=${MKCAP:-$root/build/mkcap}
captures=$root/tests/captures
cd "$dir" || exit 2
limit=24576 # KiB
events=400000

limited() {
	(
		# shellcheck disable=SC3045 # dash and bash have it
		ulimit -d $limit
		"$B" "$@"
	)
}

if grep -q __asan_init "$B"
then
	echo "skip memory: under sanitizers no program starts with $limit KiB"
	exit 0
fi
awk -v n=$events 'BEGIN { for (i = 0; i < n; i++)
	printf "event pid=%d cpu=%d time=%d k=0x%x,0x%x\n", 100 + i % 7,
		i % 4, 1000 + i, 4096, 8192 + i % 50 * 16 }' >capture.txt
"$make" capture.txt big.dat && "$make" -t capture.txt big.txt || exit 2
rm capture.txt

# reads NAME FILE STATUS: all events are there, of a file above the limit
reads() {
	if [ "$(wc -c <"$2")" -le $((limit * 1024)) ]
	then echo "not ok $1: it is not larger"
	elif [ "$3" != 0 ]
	then
		echo "not ok $1"
		sed 's/^/# /' err | tail -n 3
	elif [ "$(sqlite3 big.db 'SELECT count(*) FROM event')" != $events ]
	then echo "not ok $1: not all events"
	else echo "ok $1"
	fi
}

limited ingest -q -f --no-symbols -o big.db big.dat 2>err
reads a_trace_dat_larger_than_memory big.dat $?
# shellcheck disable=SC2002 # a pipe is what is asked for
cat big.txt | limited ingest -q -f --no-symbols -o big.db - 2>err
reads a_text_on_a_pipe_larger_than_memory big.txt $?

# holds NAME LIMIT ARG... : an ingest of that many bytes of data, and all events
holds() {
	name=$1 limit=$(($2 / 1024)) want=$3
	shift 3
	if limited ingest -q -f --no-symbols -o holds.db "$@" 2>err &&
		[ "$(sqlite3 holds.db 'SELECT count(*) FROM event')" = "$want" ]
	then echo "ok $name"
	else
		echo "not ok $name"
		sed 's/^/# /' err | tail -n 3
	fi
}

MB=1000000
fixed=$((32 * MB))
events=$("$B" query --format csv "$captures/tiny-sframe.data" 'SELECT count(*) FROM event' | tail -n 1)
holds threads_that_unwind_need_what_is_documented \
	$((fixed + 64 * MB * 4 / 10)) "$events" --jobs 64 "$captures/tiny-sframe.data"

# Stacks of 20 frames, two of which are in no other stack.
stacks=70000
awk -v n=$stacks 'BEGIN {
	print "event cpu-clock period=1000"
	print "mmap pid=100 start=0x400000 len=0x7f000000 pgoff=0 path=/bin/app"
	for (k = 0; k < 18; k++)
		common = common sprintf(",0x%x", 4194304 + k * 16)
	for (i = 0; i < n; i++)
		printf "sample pid=100 tid=100 cpu=%d time=%d u=0x%x,0x%x%s\n",
			i % 4, 1000 + i, 8388608 + i * 16, 8388616 + i * 16,
			common
}' >stacks.txt
"$mkcap" stacks.txt stacks.data || exit 2
holds distinct_stacks_need_what_is_documented \
	$((fixed + 2 * MB * 3 / 10 + stacks * (200 + 20 * 8 + 2 * 500))) \
	$stacks --jobs 2 stacks.data

# What the table in backstitch-memory(7) says of inputs that somebody made to take memory.
MIB=1048576
make_bounds() {
	rm -f app perf-100.map jit-100.dump
	PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/cli/bounds.py" "$@"
	# what is newer than the capture is another file
	[ ! -f app ] || touch -r "$root/Makefile" -d '-1 year' app
}

# bounded NAME LIMIT ANSWER QUERY OPTION... : an ingest of c.data in so many
# bytes of data, and what the query says then
bounded() {
	name=$1 limit=$(($2 / 1024)) want=$3 ask=$4 got='it failed'
	shift 4
	if limited ingest -q -f --no-cache --jobs 1 -o c.db "$@" c.data 2>err &&
		got=$(sqlite3 c.db "$ask") && [ "$got" = "$want" ]
	then echo "ok $name"
	else
		echo "not ok $name: $got, needs $want"
		sed 's/^/# /' err | tail -n 3
	fi
}
# frames with a line, and notes that there are none
lines="SELECT count(line) FROM frame UNION ALL SELECT count(*) FROM damage
	WHERE detail LIKE '%source lines of 1 unit are not read%'"
make_bounds rows 10000000
bounded rows_of_a_line_table_are_bounded $fixed "0
1" "$lines"
make_bounds names 30000
bounded paths_of_a_line_table_are_bounded $fixed "0
1" "$lines"
make_bounds define 30000
bounded paths_that_its_program_adds_are_bounded $fixed "0
1" "$lines"
make_bounds rows 3000000 3
bounded line_tables_of_a_file_are_bounded $((fixed + 448 * MIB)) "4
0" "$lines"
make_bounds origins 100000
bounded inlined_functions_in_a_circle_end $fixed 1024 'SELECT count(*) FROM inline_frame'
make_bounds symbols 500000
bounded symbols_need_what_is_documented $((fixed + 500000 * 200)) 4 \
	'SELECT count(symbol) FROM frame'
make_bounds unwind 2000000
bounded rows_for_unwinding_need_what_is_documented \
	$((fixed + 2000000 * 30)) 4 'SELECT count(*) FROM frame'
make_bounds functions 200000
bounded functions_of_unwind_tables_need_what_is_documented \
	$((fixed + 200000 * 200)) 4 'SELECT count(*) FROM frame'
made="SELECT count(*) FROM damage WHERE detail LIKE '200000 pieces of code%'"
make_bounds map 200000
bounded entries_of_a_perf_map_need_what_is_documented \
	$((fixed + 200000 * 300)) 1 "$made" --perf-map .
make_bounds jitdump 200000
bounded functions_of_a_jitdump_need_what_is_documented \
	$((fixed + 200000 * 300)) 1 "$made" --jitdump jit-100.dump
make_bounds events 65536
bounded descriptions_of_events_need_what_is_documented \
	$((fixed + 65536 * 500)) 3 'SELECT count(*) FROM event'
make_bounds events 65537
bounded more_descriptions_are_refused $fixed 1 'SELECT 1' 2>/dev/null |
	grep -q 'it failed' && grep -q 'more than 65536 events' err &&
	echo "ok more_descriptions_are_refused" || echo "not ok more_descriptions_are_refused"

# Samples of one time wait for each other, and 9 KB that are packed have 97 MB
# of them.
cat >packed.py <<'END'
import struct
import subprocess

sample = struct.pack("<QIIQQ", 0x1000, 1, 1, 100, 500) + struct.pack("<Q", 0x1000) * 500
record = struct.pack("<IHH", 9, 2, 8 + len(sample)) + sample
packed = subprocess.run(["zstd", "-q"], input=record * 24000, stdout=subprocess.PIPE,
                        check=True).stdout
data = b""
for at in range(0, len(packed), 60000):
    part = packed[at:at + 60000]
    data += struct.pack("<IHH", 81, 0, 8 + len(part)) + part
attr = struct.pack("<IIQQQQQ", 1, 112, 0, 4000, 0x27, 0, 1 << 18) + bytes(64)
with open("packed.data", "wb") as out:
    out.write(struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, 128, 104, 128, 232, len(data), 0, 0))
    out.write(bytes(32) + attr + bytes(16) + data)
END
if command -v zstd >/dev/null
then
	python3 packed.py
	limit=$((48 * MB / 1024))
	# recorders do not end the frame, but it may end
	if limited ingest -q -f --no-symbols --memory 8M -o holds.db packed.data 2>err &&
		[ "$(sqlite3 holds.db 'SELECT count(*) FROM event')" = 24000 ]
	then echo "ok what_waits_unpacked_is_bounded_too"
	else
		echo "not ok what_waits_unpacked_is_bounded_too"
		sed 's/^/# /' err | tail -n 3
	fi
else
	echo "skip what_waits_unpacked_is_bounded_too: zstd is not installed"
fi

# 400 generations of a process with 8,000 mappings, each with one of its own, and
# losses between samples: 32 MB, 25 kB for each fork and 1.5 kB for each mapping.
# The rows of all together are limited, too.
awk 'BEGIN {
	print "event cpu-clock period=1000"
	for (i = 0; i < 8000; i++)
		printf "mmap pid=1 start=0x%x len=0x1000 pgoff=0 path=/a time=%d cpu=0\n",
			4194304 + i * 8192, i
	for (i = 1; i <= 400; i++) {
		printf "fork pid=%d tid=%d ppid=%d ptid=%d time=%d cpu=0\n",
			i + 1, i + 1, i, i, 10000 + 2 * i
		printf "mmap pid=%d start=0x%x len=0x1000 pgoff=0 path=/b time=%d cpu=0\n",
			i + 1, 4194304 + i * 797 % 8000 * 8192, 10001 + 2 * i
	}
	for (i = 0; i < 40000; i++) {
		printf "sample pid=401 tid=401 cpu=%d time=%d u=0x400010\n", i % 4, 20000 + 2 * i
		printf "lost n=1 cpu=%d time=%d\n", i % 4, 20001 + 2 * i
	} }' >forks.txt
"$mkcap" forks.txt forks.data || exit 2
limit=$((32 * MB / 1024 + 10 * 1024 + 12 * 1024 + 12 * 1024))
if (
	# shellcheck disable=SC3045 # 40,000 sorted at each question: 100 s
	ulimit -t 20
	limited ingest -q -f --no-symbols -o forks.db forks.data 2>err
) && [ "$(sqlite3 forks.db 'SELECT count(*) FROM mapping')" -le $((1048576 + 400 * 128 + 8400)) ] &&
	[ "$(sqlite3 forks.db 'SELECT count(*) FROM loss')" -ge 40000 ]
then echo "ok forks_of_many_mappings_and_losses_are_bounded"
else
	echo "not ok forks_of_many_mappings_and_losses_are_bounded"
	sed 's/^/# /' err | tail -n 3
fi

# Each two captures are compared.
printf 'event cpu-clock\nsample pid=1 tid=1 cpu=0 time=5 u=0x401000\n' >one.txt
"$mkcap" one.txt one.data || exit 2
mkdir many
python3 -c 'import os
for i in range(1025):
    os.link("one.data", "many/%d.data" % i)'
"$B" ingest -q -f --no-symbols -o many.db many/*.data 2>err
if [ $? = 1 ] && grep -q '1025 captures: each two of at most 1024' err
then echo "ok too_many_captures_on_one_timeline_are_refused"
else echo "not ok too_many_captures_on_one_timeline_are_refused"
fi

# Path keeps switches and wake-ups, and nothing of the events between them.
between() {	# between N: of two threads that wake each other, N others each time
	awk -v n="$1" 'function at() { t += 3
			return sprintf("%d.%06d", int(t / 1e6), t % 1e6) }
		BEGIN { t = 1e9
		print "# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1   #P:1\n#"
		for (i = 0; i < 2000; i++) {
			a = 101 + i % 2; b = 101 + (i + 1) % 2
			head = " t" a "-" a " [000] d..2. "
			for (k = 0; k < n; k++)
				printf "%s%s: sched_stat_runtime: comm=t%d pid=%d runtime=3000 [ns]\n",
					head, at(), a, a
			if (i % 100 == 50)
				print "CPU:0 [LOST 3 EVENTS]"
			printf "%s%s: sched_waking: comm=t%d pid=%d prio=120 target_cpu=000\n",
				head, at(), b, b
			printf "%s%s: sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=t%d next_pid=%d next_prio=120\n",
				head, at(), a, a, b, b
		} }' >"between$1.txt"
	"$B" ingest -q -f -o "between$1.db" "between$1.txt"
}
# asks DB LIMIT: path has an answer in so many KiB
asks() {
	(
		# shellcheck disable=SC3045 # dash and bash have it
		ulimit -d "$2"
		"$B" path "$1" >asked 2>err
	) && grep -q '^all: .* waits, ' asked && grep -q '% proved' asked
}
between 1
between 200
limit=1024
while [ $limit -lt 65536 ] && ! asks between1.db $limit
do limit=$((limit + 512))
done
asks between200.db $((limit + 1024))
rc=$?
if [ $rc = 0 ]
then echo "ok path_keeps_nothing_of_400000_events_between_switches"
else
	echo "not ok path_keeps_nothing_of_400000_events_between_switches: limit $limit"
	sed 's/^/# /' err | tail -n 3
fi

#!/bin/sh
# memory.sh - captures that are larger than the memory there is, and what ingest(1) promises in MEMORY.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM MKFTRACE=PROGRAM tests/cli/memory.sh; prints "ok NAME" or "not ok NAME" lines.
#
# What is in use is bounded by the number of distinct stacks, never by the
# length: a trace.dat, and a text on a pipe, under a limit of the data segment
# that is smaller than they are. Mapped pages of a file do not count there.
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${BACKSTITCH:-$root/backstitch}
make=${MKFTRACE:-$root/build/mkftrace}
mkcap=${MKCAP:-$root/build/mkcap}
captures=$root/tests/captures
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
limit=24576 # KiB
events=600000

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
	$((fixed + 64 * MB * 3 / 10)) "$events" --jobs 64 "$captures/tiny-sframe.data"

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

# Line tables: of one image no more than the page says is taken, and the next
# unit is read when the one before is forgotten. A row is a byte of the file; a
# path is its folder and itself.
cat >lines.txt <<END
event cpu-clock period=1000
mmap pid=100 start=0x401000 len=0x1000 pgoff=0x1000 path=$dir/app
sample pid=100 tid=100 cpu=0 time=1000 u=0x401001
sample pid=100 tid=100 cpu=0 time=1001 u=0x401011
sample pid=100 tid=100 cpu=0 time=1002 u=0x401021
END
"$mkcap" lines.txt lines.data || exit 2
MIB=1048576

# lines NAME LIMIT LINES WORD... : that many bytes of data, frames with a line,
# and what lines.py makes
lines() {
	name=$1 limit=$(($2 / 1024)) want=$3
	shift 3
	PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/cli/lines.py" app "$@" || exit 2
	if limited ingest -q -f --no-cache --jobs 1 -o lines.db lines.data 2>err &&
		got=$(sqlite3 lines.db 'SELECT count(line) FROM frame;
			SELECT count(*) FROM damage WHERE detail LIKE "%source lines of 1 unit %"' |
			tr '\n' ' ') && [ "$got" = "$want" ]
	then echo "ok $name"
	else
		echo "not ok $name: $got, needs $want"
		sed 's/^/# /' err | tail -n 3
	fi
}
lines rows_of_a_line_table_are_bounded $fixed "0 1 " rows 10000000
lines paths_of_a_line_table_are_bounded $fixed "0 1 " names 30000
lines paths_that_its_program_adds_are_bounded $fixed "0 1 " define 30000
lines line_tables_of_an_image_are_bounded $((fixed + 448 * MIB)) "3 0 " rows 3000000 3

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
	# recorders do not end the frame: that is said
	limited ingest -q -f --no-symbols --memory 8M -o holds.db packed.data 2>err
	if [ $? = 3 ] && [ "$(sqlite3 holds.db 'SELECT count(*) FROM event')" = 24000 ]
	then echo "ok what_waits_unpacked_is_bounded_too"
	else
		echo "not ok what_waits_unpacked_is_bounded_too"
		sed 's/^/# /' err | tail -n 3
	fi
else
	echo "skip what_waits_unpacked_is_bounded_too: zstd is not installed"
fi

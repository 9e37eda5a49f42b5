#!/bin/sh
# pages.sh - folders with raw pages of ftrace, under each name they usually have.
# usage: BACKSTITCH=PROGRAM tests/cli/pages.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2

# the two rings of a trace.dat of version 6
zstd -qdc "$root/tests/captures/ftrace-v6.dat.zst" >v6.dat || exit 2
tail -c +159745 v6.dat | head -c 20480 >ring0
tail -c +180225 v6.dat | head -c 77824 >ring1
printf 'name: print\nID: 5\nformat:\n\tfield:%s;\toffset:%s;\tsize:%s;\tsigned:%s;\n' \
	'unsigned short common_type' 0 2 0 >print.format

# pages NAME FILE0 FILE1: the same events whatever the files are called
pages() {
	mkdir -p one "one/$(dirname "$2")" "one/$(dirname "$3")"
	cp ring0 "one/$2"
	cp ring1 "one/$3"
	cp print.format one/print.format
	"$B" ingest -q -o one.db one 2>err
	got=$("$B" script one.db 2>>err | cksum)
	: "${want:=$got}"
	if [ -s one.db ] && [ "$got" = "$want" ] &&
		[ "$("$B" script one.db | wc -l)" -gt 500 ]
	then
		echo "ok $1"
	else
		sed 's/^/    /' err
		echo "not ok $1"
	fi
	rm -rf one one.db
}

pages "copies of tracefs" per_cpu/cpu0/trace_pipe_raw per_cpu/cpu1/trace_pipe_raw
pages "folders cpuN" cpu0/trace_pipe_raw cpu1/trace_pipe_raw
pages "cpuN.raw" cpu0.raw cpu1.raw
pages "NAME-cpuN.raw" boot-cpu0.raw boot-cpu1.raw
pages "cpuN" cpu0 cpu1
pages "per_cpu/cpuN" per_cpu/cpu0 per_cpu/cpu1
pages "what trace-cmd leaves" trace.dat.cpu0 trace.dat.cpu1

# a ring that was read for an hour: behind its pages are empty ones
mkdir one
cp ring0 one/cpu0
cp ring1 one/cpu1
cp print.format one/print.format
truncate -s 300M one/cpu1
[ "$("$B" script one 2>err | cksum)" = "$want" ]
ok pages_of_300_MB_are_read $?
# a part is not told for the whole
chmod 0 one/cpu1
set --
[ "$(id -u)" != 0 ] || set -- setpriv --bounding-set=-dac_override,-dac_read_search
"$@" "$B" script one >out 2>err
[ $? = 1 ] && [ ! -s out ] && grep -q "^backstitch: one/cpu1: not allowed to read it" err
ok pages_that_may_not_be_read_are_an_error $?
rm -rf one

# /proc/sys/kernel/arch, by which system calls have names
mkdir one
cp ring0 one/cpu0
cp print.format one/print.format
echo x86_64 >one/arch
"$B" ingest -q -o one.db one 2>err
[ "$("$B" query --format csv one.db "SELECT arch FROM capture" | tr -d '\r' | tail -n 1)" = x86_64 ]
ok the_machine_of_pages_is_read $?
rm -rf one one.db

# cpus NAME WANT FILE...: the number of CPUs that the capture has
cpus() {
	name=$1
	want_cpus=$2
	shift 2
	mkdir one
	for f in "$@"
	do
		cp ring0 "one/$f"
	done
	cp print.format one/print.format
	"$B" ingest -q -o one.db one 2>err
	[ "$("$B" query --format csv one.db "SELECT ifnull(cpus, 'unknown')
		FROM capture" | tail -n 1)" = "$want_cpus" ]
	ok "$name" $?
	rm -rf one one.db
}

cpus the_rings_are_the_cpus 2 cpu0 cpu1
cpus without_the_first_ring_the_cpus_are_not_known unknown cpu1 cpu2

# a folder of formats that has none is the one that is named
mkdir -p bare/cpu0 none
cp ring0 bare/cpu0/trace_pipe_raw
{
	"$B" ingest -q -o bare.db bare
	"$B" ingest -q --formats none -o bare.db bare
} 2>&1 | sed 's/, needs.*//' >out
if [ "$(cat out)" = "backstitch: bare: no formats of events in this folder
backstitch: none: no formats of events in this folder" ]
then
	echo "ok the folder without formats is named"
else
	sed 's/^/    /' out
	echo "not ok the folder without formats is named"
fi

# what a ring says that it lost, also below a folder whose name begins as its own
mkdir -p in/cpu-runs/one/per_cpu/cpu0
cp ring0 in/cpu-runs/one/per_cpu/cpu0/trace_pipe_raw
cp print.format in/cpu-runs/one
printf 'entries: 0\noverrun: 0\ncommit overrun: 0\nbytes: 0\ndropped events: 7\nread events: 9\n' \
	>in/cpu-runs/one/per_cpu/cpu0/stats
# another file is none of them, whatever it says
sed 's/: 7/: 9/' in/cpu-runs/one/per_cpu/cpu0/stats >in/cpu-runs/one/per_cpu/cpu0/stats.old
"$B" ingest -q -f -o one.db in/cpu-runs/one 2>err
is losses_of_a_ring_are_read_below_any_folder 7 "$("$B" query --format csv one.db \
	"SELECT max(n) FROM loss WHERE what = 'dropped'" | tail -n 1)"

# what was in the ring, and is in no page of the folder: read by somebody else before, or
# left there by a copy of a part
n=$("$B" query --format csv one.db "SELECT count(*) FROM event" | tail -n 1)
for stats in "entries: 0 read events: $((n + 5))" "entries: $((n + 5)) read events: 0" \
	"entries: 9 read events: $n"
do
	echo "$stats" | sed 's/ read/\nread/' >in/cpu-runs/one/per_cpu/cpu0/stats
	"$B" ingest -q -f -o one.db in/cpu-runs/one 2>err
	"$B" query --format csv one.db "SELECT coalesce(sum(n), 0) FROM loss WHERE what = 'not_here'" | tail -n 1
	"$B" check one.db | grep -c 'to its end, with tracing_on'
done >out
is entries_of_a_ring_without_a_page_are_missing "5 1 5 1 0 0" "$(tr '\n' ' ' <out | sed 's/ $//')"

# online OF LIST: the CPUs that were on; without a list of them, those with pages, if none is left out
online() {
	mkdir -p one
	cp ring0 one/cpu0
	cp ring1 "one/cpu$2"
	cp print.format one/print.format
	[ ! "$3" ] || echo "$3" >one/online
	"$B" ingest -q -f -o one.db one 2>err
	is "the list '$3' of CPUs $1" "$1" "$("$B" query --format csv one.db 'SELECT cpus FROM capture' | tail -n 1 | tr -d '\r"')"
	rm -rf one one.db
}
online 2 2 0,2
online 3 2 '0,2-3'
online 1 1 0
for list in '' x 1- 3-1 0-65536 0-65535,0-65535 0,99999999999999999999
do
	online 2 1 "$list"
done

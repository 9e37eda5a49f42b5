#!/bin/sh
# latency.sh - how long user stacks were deferred, in percentiles.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/latency.sh; prints "ok NAME" or "not ok NAME" lines.
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${BACKSTITCH:-$root/backstitch}
M=${MKCAP:-$root/build/mkcap}
[ -x "$M" ] || {
	echo "skip latency: mkcap is not built"
	exit 0
}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
case $B in /*) ;; *) B=$PWD/$B ;; esac
cd "$dir" || exit 2

# 200 requests of CPU 0 that waited 1, 2 ... 200 ns, in another order; one of CPU 2 that waited 7 ns
{
	printf '%s\n' 'event cpu-clock defer period=1000' 'event dummy:u output' 'comm pid=10 name=a' \
		'mmap pid=10 start=0x400000 len=0x10000 pgoff=0 path=/bin/a'
	awk 'BEGIN {
		for (i = 0; i < 201; i++) {
			cpu = i == 200 ? 2 : 0
			wait = i == 200 ? 7 : i * 77 % 200 + 1
			at = 1000 + 1000 * i
			who = sprintf("pid=10 tid=10 cpu=%d", cpu)
			printf "sample %s time=%d k=0xffffffff81000010 cookie=%d:%d\n", who, at, cpu, 2 * i + 1
			printf "chain cookie=%d:%d %s time=%d u=0x400010\n", cpu, 2 * i + 1, who, at + wait
		}
	}'
} >a.txt
"$M" a.txt a.data && "$B" query --format csv a.data "
	SELECT cpu, n, p50_ns, p90_ns, p99_ns, max_ns FROM deferral_percentiles" 2>err | sed 1d | tr -d '\r' >out
printf '%s\n' 0,200,100,180,198,200 2,1,7,7,7,7 >want
if cmp -s want out
then echo "ok percentiles_are_by_event_and_cpu"
else
	echo "not ok percentiles_are_by_event_and_cpu"
	sed 's/^/# /' out err
fi

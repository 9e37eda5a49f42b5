#!/bin/sh
# latency.sh - how long user stacks were deferred, in percentiles.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/latency.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
M=$MKCAP
[ -x "$M" ] || {
	echo "skip latency: mkcap is not built"
	exit 0
}
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
# the query of backstitch-sql(7), as it stands there
awk '/^The percentiles of these times/ { on = 1 }
	on == 2 && /^\.Ed/ { exit }
	on == 2 { print }
	on && /^\.Bd/ { on = 2 }' "$root/man/backstitch-sql.7" >a.sql
"$M" a.txt a.data && "$B" query --format csv -f a.sql a.data 2>err | sed 1d | tr -d '\r' >out
printf '%s\n' cpu-clock,0,200,100,180,198,200 cpu-clock,2,1,7,7,7,7 >want
if cmp -s want out
then echo "ok percentiles_are_by_event_and_cpu"
else
	echo "not ok percentiles_are_by_event_and_cpu"
	sed 's/^/# /' out err
fi

# check rounds up by less than a 32nd, but not the longest
"$B" ingest -q -o a.db a.data && "$B" query --format csv a.db 'SELECT cpu, sum(n), max(ns) FROM internal_deferral GROUP BY 1' |
	sed 1d | tr -d '\r' >out
printf '%s\n' 0,200,200 2,1,7 | cmp -s - out && "$B" check --json a.db >c.json
if python3 - >err 2>&1 <<'END'
import json
d = json.load(open("c.json"))
rows = d["deferral_by_cpu"]
assert [(r["cpu"], r["requests"], r["max_ns"], r["cpus"]) for r in rows] == [(0, 200, 200, 2), (2, 1, 7, 2)], rows
for r, want in zip(rows, ((100, 180, 198), (7, 7, 7))):
    for p, w in zip(("p50_ns", "p90_ns", "p99_ns"), want):
        assert w <= r[p] < w * 33 / 32 + 1, (p, w, r)
(r,) = d["deferral"]
assert r["requests"] == 201 and r["max_ns"] == 200 and 100 <= r["p50_ns"] < 104, r
END
then "$B" check --verbose a.db >check.txt; fi
if grep -q '^  cpu-clock: median 1[0-9]* ns, 90 % by 18[0-9] ns, .* all by 200 ns$' check.txt &&
	grep -q '^  cpu-clock CPU 2: median 7 ns, .* all by 7 ns$' check.txt &&
	grep -q '^  cpu-clock CPU 0: median .* all by 200 ns$' check.txt
then echo "ok check_has_percentiles"
else
	echo "not ok check_has_percentiles"
	sed 's/^/# /' out err
fi
# of two databases they are those of both
sed 's/ time=/ time=9/' a.txt >b.txt
"$M" b.txt b.data && "$B" ingest -q -o b.db b.data && "$B" merge -q -o ab.db a.db b.db && "$B" query --format csv ab.db \
	'SELECT cpu, sum(n), max(ns) FROM internal_deferral GROUP BY 1' | sed 1d | tr -d '\r' >out
if printf '%s\n' 0,400,200 2,2,7 | cmp -s - out
then echo "ok merged_databases_add_them_up"
else
	echo "not ok merged_databases_add_them_up"
	sed 's/^/# /' out err
fi

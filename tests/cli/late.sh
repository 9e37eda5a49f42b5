#!/bin/sh
# late.sh - a live pipe in which mappings come after the samples that need them.
# usage: tests/cli/late.sh
#
# The same capture is read as a file, which is put into order, and as a pipe,
# which gives out what two rounds have passed (2048 records and more): in the end
# both must say the same.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
rc=0

# is NAME CONDITION...
is() {
	name=$1
	shift
	if "$@" >said 2>&1
	then
		echo "ok $name"
	else
		cat said
		echo "not ok $name"
		rc=1
	fi
}

# round FROM: 3000 samples of another process, and the end of a round
round() {
	seq "$1" 1000 "$(($1 + 2999000))" |
		sed 's/.*/sample pid=300 tid=300 cpu=2 time=& u=0x400010/'
	echo round
}

# The code of 0x500000 is new.so's from 35 ms on; process 200 has its own there.
# Late are: a library over it all, one in the place of an older one, one of a
# program that exec has ended since.
{
	cat <<-'END'
	event cpu-clock defer period=1000
	event dummy:u output
	comm pid=100 name=app
	comm pid=200 name=other
	comm pid=300 name=busy
	comm pid=400 name=before
	mmap pid=100 start=0x400000 len=0x2000 pgoff=0 path=/bin/app
	mmap pid=200 start=0x500000 len=0x8000 pgoff=0 path=/lib/other.so
	mmap pid=300 start=0x400000 len=0x2000 pgoff=0 path=/bin/busy
	mmap pid=400 start=0x400000 len=0x2000 pgoff=0 path=/bin/before
	mmap pid=100 start=0x600000 len=0x1000 pgoff=0 path=/lib/old.so
	sample pid=100 tid=100 cpu=0 time=10000000 u=0x501010,0x600010,0x400010
	sample pid=100 tid=100 cpu=0 time=20000000 u=0x501010,0x600010,0x400010
	sample pid=100 tid=100 cpu=0 time=25000000 k=0xffffffff81000010 cookie=0:1
	chain cookie=0:1 pid=100 tid=100 cpu=0 time=26000000 u=0x504010,0x501020,0x400010
	sample pid=100 tid=100 cpu=0 time=26500000 k=0xffffffff81000010 cookie=0:2
	sample pid=200 tid=200 cpu=1 time=27000000 u=0x501010
	mmap pid=100 start=0x502000 len=0x1000 pgoff=0 path=/lib/new.so time=35000000 cpu=0
	sample pid=400 tid=400 cpu=1 time=36000000 u=0x501010,0x400020
	comm pid=400 name=after exec time=37000000 cpu=1
	mmap pid=400 start=0x400000 len=0x2000 pgoff=0 path=/bin/after time=38000000 cpu=1
	sample pid=400 tid=400 cpu=1 time=39000000 u=0x501010,0x400020
	sample pid=100 tid=100 cpu=0 time=40000000 u=0x502010,0x501030,0x400010
	round
	END
	for n in 100 200 300 400 500
	do
		round ${n}000000
	done
	cat <<-'END'
	mmap pid=100 start=0x500000 len=0x8000 pgoff=0x3000 path=/lib/late.so time=15000000 cpu=1
	mmap pid=100 start=0x600000 len=0x1000 pgoff=0 path=/lib/late2.so time=15500000 cpu=1
	sample pid=100 tid=100 cpu=0 time=600000000 u=0x501010,0x600010,0x400010
	round
	END
} >capture.txt
"$MKCAP" -p capture.txt cap.data || exit 2
"$BACKSTITCH" ingest -q --no-symbols -o file.db cap.data 2>err.file
# shellcheck disable=SC2002 # a pipe is what is tested
cat cap.data | "$BACKSTITCH" ingest -q --no-symbols -o live.db - 2>err.live

for db in file live
do
	sqlite3 $db.db "SELECT event, stack, weight FROM folded
		ORDER BY 1, 2" >$db.folded
	sqlite3 $db.db "SELECT e.time_ns, p.pos, i.path, f.off, f.flags
		FROM event e LEFT JOIN request r ON r.event = e.id
		JOIN raw_chain c ON c.id = coalesce(r.uraw, e.uraw)
		JOIN stack_path p ON p.stack = c.stack
		JOIN frame f ON f.id = p.frame
		JOIN image i ON i.id = f.image
		WHERE e.time_ns < 100000000 OR e.time_ns >= 600000000
		ORDER BY e.time_ns, p.pos" >$db.stacks
	sqlite3 $db.db "SELECT t.name, c.name, k.hash, u.hash, mark,
			sum(g.weight), sum(g.n)
		FROM sample_group g JOIN event_type t ON t.id = g.type
		LEFT JOIN comm c ON c.id = g.comm
		LEFT JOIN stack k ON k.id = g.kernel
		LEFT JOIN stack u ON u.id = g.user
		GROUP BY g.type, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5" >$db.groups
	sqlite3 $db.db "SELECT c.time_ns, hex(s.hash) FROM chain c
		JOIN raw_chain r ON r.id = c.uraw
		JOIN stack s ON s.id = r.stack" >$db.chains
done
late=$(sqlite3 live.db "SELECT sum(n) FROM ordering WHERE what = 'late'")
is "mappings come after samples that were given out" [ "$late" = 2 ]
is "late mappings name the stacks before them" diff file.stacks live.stacks
is "late mappings are in the folded stacks" diff file.folded live.folded
is "late mappings are in the sums of samples" diff file.groups live.groups
is "late mappings are in deferred stacks" diff file.chains live.chains
is "a stack that was unknown has its library" grep -q 'late.so' live.folded
exit $rc

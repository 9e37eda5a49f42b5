#!/bin/sh
# kernels.sh - files of other kernels and recorders: none of it is damage.
# usage: BACKSTITCH=build/backstitch tests/cli/kernels.sh
cd "$(dirname "$0")/../.." || exit 2
B=${BACKSTITCH:-./backstitch}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
captures=tests/captures

. tests/ok.sh

# intact CAPTURE: makes the database; status 3 would be damage
intact() {
	"$B" ingest -qfo "$work/db" "$captures/$1"
	ok "$1_is_not_damaged" $?
}

# gives NAME EXPECTED SQL: lines of values
gives() {
	"$B" query "$work/db" --format csv "$3" | sed 1d >"$work/got"
	printf '%s\n' "$2" | diff - "$work/got"
	ok "$1" $?
}

for name in abi-simd abi-simdintr
do
	intact $name.data
	gives ${name}_has_all_its_stacks 9,18 "SELECT count(*), sum(n) FROM (
		SELECT count(*) AS n FROM full_stack GROUP BY event_id)"
	gives ${name}_has_one_note 1,registers "SELECT count(*), min(what)
		FROM damage WHERE kind = 'note'"
done

# Direct samples have the ids of thread and process the other way round than the
# sums at the end, which have no time and no CPU.
intact offcpu-616.data
gives offcpu-616_has_threads_times_and_stacks "1200,1207,2,600000000,3
1200,1200,3,600000011,2
1200,1207,0,600000022,0
1200,1207,-1,3000000,3
1301,1301,-1,4000000,2" "SELECT pid, tid, coalesce(cpu, -1), weight,
	(SELECT count(*) FROM full_stack f WHERE f.event_id = s.event_id)
	FROM samples s WHERE event = 'offcpu-time' AND unit = 'ns'
	ORDER BY event_id"
intact offcpu-60.data
gives offcpu-60_has_threads_times_and_stacks "210,214,7000000,2
210,210,800000,3" "SELECT pid, tid, weight,
	(SELECT count(*) FROM full_stack f WHERE f.event_id = s.event_id)
	FROM samples s WHERE event = 'offcpu-time' AND unit = 'ns'
	ORDER BY event_id"

# waits FIELD: the sum of a column of report --off-cpu
waits() {
	"$B" report --off-cpu --format json "$work/db" 2>/dev/null |
		python3 -c 'import json, sys
r = json.load(sys.stdin)
print(sum(t[sys.argv[1]] for t in r["threads"]))' "$1"
}

intact offcpu-60.data
[ "$(waits ns)" = 7800000 ]
ok offcpu-60_is_a_source_of_off_cpu_time $?
intact offcpu-616.data
[ "$(waits ns)" = 1807000033 ]
ok offcpu-616_is_a_source_of_off_cpu_time $?

# Of one kernel and time, only the switches count: they tell of the same waits.
"$B" ingest -qfo "$work/db" "$captures/naps.data"
switches=$(waits ns)
"$B" ingest -qfo "$work/db" --separate "$captures/naps.data" \
	"$captures/offcpu-616.data"
[ "$(waits ns)" = $((switches + 1807000033)) ]
ok waits_of_two_kernels_add_up $?
python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE capture SET together = 1")
db.commit()' "$work/db"
[ "$(waits ns)" = "$switches" ]
ok no_wait_counts_twice $?

# A stack without addresses is there, but no word for it is "matched".
intact defer619.data
[ "$("$B" script "$work/db" 2>/dev/null | grep "\[user: ")" = \
	"$(printf '\t[user: empty]')" ]
ok a_stack_without_addresses_is_empty $?
[ "$("$B" script -F comm,ip,dso "$work/db" 2>/dev/null |
	sed -n '/^qemu/,/^$/s/^	 *//p')" = "\
ffffffff9abc0010 ([guest kernel])
400300 (/opt/qemu)
400410 (/opt/qemu)
400520 (/opt/qemu)
401000 ([guest user])
400300 (/opt/qemu)
400410 (/opt/qemu)
400520 (/opt/qemu)" ]
ok the_address_in_a_guest_stands_on_the_stack_of_who_runs_it $?

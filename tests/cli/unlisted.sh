#!/bin/sh
# unlisted.sh - stacks of processes whose mappings are not all known are not
# judged, and check says why they are not known.
# usage: BACKSTITCH=build/backstitch MKCAP=build/mkcap tests/cli/unlisted.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

# capture NAME <LINES
capture() {
	cat >"$1.txt"
	"$MKCAP" "$1.txt" "$1.data"
}

# check ARG...: into out, in one line
check() {
	"$B" check --no-symbols "$@" 2>err | tr -s ' \n' ' ' >out
}

# perf had time for the first mappings of 7, not for the others; a mapping that
# was lost is nothing else: there were losses
for lost in '' 'lost n=3 cpu=0 time=900'
do
	capture end <<-END
	event cpu-clock period=1000
	event dummy:u output
	host a 6.1
	comm pid=7 name=prog
	mmap pid=7 start=0x10000 len=0x1000 pgoff=0 path=/gone
	mmap pid=7 start=0x12000 len=0x1000 pgoff=0 path=/gone id=01020304 last
	$lost
	sample pid=7 tid=7 cpu=0 time=1000 ip=0x500000 u=0x500000,0x10010
	sample pid=7 tid=7 cpu=0 time=1100 ip=0x500010 u=0x500010,0x10010
	END
	check end.data
	says "stacks_are_not_judged${lost:+_with_a_loss}" \
		'All 2 user stacks are unchecked for want of mappings.' out
	says "the_process_is_named${lost:+_with_a_loss}" \
		'mappings perf gave up reading /proc/7/maps' out
	says "and_the_option${lost:+_with_a_loss}" 'perf record --proc-map-timeout' out
	! grep -q 'map_lost\|unmapped\|ran in no mapping' out
	ok "no_rule_finds_the_mapping_missing${lost:+_with_a_loss}" $?
done
check --max-loss 100% end.data
says 'it_can_be_tolerated' \
	'within what is tolerated: 3 records lost, 1 process not listed with all mappings' out
"$B" ingest -q --no-symbols -o end.db end.data
is 'it_is_a_loss' 'mappings|0|' \
	"$("$B" query --format csv end.db "SELECT what || '|' || counts || '|' || coalesce(n, '') FROM loss WHERE what = 'mappings'" | tail -n 1)"
is 'the_last_mapping_has_no_build-id_as_its_bytes_are_of_another' 0 \
	"$("$B" query --format csv end.db "SELECT count(*) FROM image WHERE build_id NOT NULL" | tail -n 1)"

# exec begins anew
capture exec <<END
event cpu-clock period=1000
event dummy:u output
host a 6.1
comm pid=7 name=prog
mmap pid=7 start=0x10000 len=0x1000 pgoff=0 path=/gone last
comm pid=7 name=other exec time=500 cpu=0
mmap pid=7 start=0x10000 len=0x1000 pgoff=0 path=/other time=600 cpu=0
sample pid=7 tid=7 cpu=0 time=1000 ip=0x500000 u=0x500000,0x10010
END
check exec.data
says 'a_program_that_began_later_is_judged' 'have a frame in no mapping' out

# a loss that may hide a mapping
"$MKCAP" "$root/tests/cases/code_without_mapping_after_a_loss/capture.txt" lost.data
check --pid 200 lost.data
says 'after_a_lost_mapping_stacks_are_not_judged' \
	'66.67 % are unchecked for want of mappings' out
says 'a_filtered_view_does_not_say_that_nothing_is_lost' \
	'lost.data: doubtful: losses not looked at, but no user stack' out
check --comm jit lost.data
says 'nor_one_of_a_name' 'losses not looked at' out
check --time 0%-40% lost.data
says 'one_of_a_time_does' 'nothing lost' out

#!/bin/sh
# cost.sh - record --cost runs a program in all ways and prints what each costs.
# usage: BACKSTITCH=build/backstitch tests/cli/cost.sh
#
# A stand-in for perf gives one capture for each way, so that shares are known.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2
mkdir bin tmp
TMPDIR=$work/tmp
LOG=$work/log
export TMPDIR LOG LIKE MKCAP

cat >bin/perf <<'END'
#!/bin/sh
# answers like perf: $LIKE has what the kernel does, $LOG gets what was asked for
echo "$*" >>"$LOG"
case $1 in
evlist)
	case $LIKE:$(cat "$LOG.graph") in
	defer:fp,defer) more=", defer_callchain: 1" ;;
	esac
	echo "cpu-clock: type: 1$more"
	exit 0 ;;
esac
[ "$1" = record ] || exit 129
while [ "$1" != -- ]
do
	case $1 in
	--call-graph) graph=$2 ;;
	-o) out=$2 ;;
	esac
	shift
done
shift
echo "$graph" >"$LOG.graph"
case $1 in
true | sleep) exit 0 ;;
esac
"$@" || exit $?
if [ -s began ]
then
	read -r at <began
	printf '%s\n' 'event cpu-clock period=1000000' 'task 100' 'comm pid=100 name=perf-exec' \
		"comm pid=100 name=prog exec time=$at" "sample pid=100 tid=100 cpu=0 time=$((
			at + 1)) u=0x401000" \
		"exit pid=100 tid=100 ppid=1 ptid=1 cpu=0 time=$((at + 20000000))" >now.txt
	"$MKCAP" now.txt now.data && cat now.data >"$out"
	exit
fi
case $graph in
dwarf*) cat dwarf.data >"$out" ;;
*) cat fp.data >"$out" ;;
esac
END
chmod +x bin/perf
PATH=$work/bin:$PATH

# one whole stack of two, or none: it ends in a function with a caller
cat >fp.txt <<'END'
event cpu-clock period=1000000
event dummy:u output
task 100
comm pid=100 name=perf-exec
comm pid=100 name=prog exec time=1000000000
sample pid=100 tid=100 cpu=0 time=1001000000 u=0x401000 period=1000000
sample pid=100 tid=100 cpu=0 time=1002000000 u=0x401000 period=1000000
lost n=2 cpu=0 time=1003000000
exit pid=100 tid=100 ppid=1 ptid=1 cpu=0 time=1500000000
END
grep -v '^lost' fp.txt >dwarf.txt
"$MKCAP" fp.txt fp.data && "$MKCAP" dwarf.txt dwarf.data
printf '#!/bin/sh\necho is printed\n' >prog
chmod +x prog

LIKE=none
"$B" record --cost --dry-run ./prog >out 2>err
[ "$(grep -c '5 times' err)" = 3 ] && ! grep -q 'perf.*-- ./prog$' log
ok dry_run_says_what_it_would_run_and_runs_nothing $?
says a_command_names_the_usual_file '-o perf.data -- ./prog' err

"$B" record --cost --json ./prog >json 2>err
ok it_runs $?
python3 - "$root" json <<'END'
import json
import sys

sys.path.append(sys.argv[1] + "/tests")
import schemas

schema = schemas.load(sys.argv[1]).get("record")
if schema:
    schema.validate(json.load(open(sys.argv[2])))
END
ok its_json_is_as_the_schema_says $?
is each_way_runs_five_times '10 5 5' "$(grep -c -- '--call-graph fp.*-- ./prog$' log) $(
	grep -c -- '-a .*-- ./prog$' log) $(grep -c 'dwarf.*-- ./prog$' log | sed 's/^6$/5/')"
is ways_without_deferred_stacks "frame pointers,stack dumps,--waits --tracer perf" \
	"$(of_json json '",".join(w["how"] for w in r["rows"])')"
is shares_of_lost_records_are_those_of_the_capture '50.0 0.0' \
	"$(of_json json '" ".join("%.1f" % w["lost_percent"] for w in r["rows"][:2])')"
is all_stacks_of_five_turns_count 10 "$(of_json json 'r["rows"][0]["stacks"]')"
is its_time_is_from_exec_to_end True "$(of_json json \
	'abs(r["rows"][0]["slower_percent"] / 100 * r["program_ns"] - (5e8 - r["program_ns"])) < 5e8')"
is bytes_are_of_a_second_of_the_program "$(($(stat -c %s fp.data) * 2))" \
	"$(of_json json 'r["rows"][0]["bytes_per_second"]')"
is a_short_program_is_said True "$(of_json json 'r["short"]')"
! grep -q 'is printed' json err
ok what_the_program_prints_is_not_shown $?

# what one leaves to write would slow down the next, and always the same one
echo '#!/bin/sh
echo run >>log' >prog
: >log
"$B" record --cost ./prog >out 2>err
is each_is_first_in_turn bfdwfdwbdwbfwbfdbfdw "$(awk '
	/^record .*-- .\/prog$/ { way = / -a / ? "w" : /dwarf/ ? "d" : "f" }
	/^run$/ { printf "%s", way ? way : "b"; way = "" }' log | tail -c 20)"

# what differs between runs would be taken for what recording costs
cat >prog <<'END'
#!/bin/sh
echo "$LC_ALL $(readlink /proc/$$/fd/1) $(readlink /proc/$$/fd/0)" >>seen
END
LC_ALL=C.UTF-8 "$B" record --cost ./prog >out 2>err  # 20 runs, and one for the size of dumps
is locale_and_files_are_the_same_in_all_runs '21 C.UTF-8 /dev/null /dev/null' \
	"$(sort seen | uniq -c | xargs)"

# as on Linux 6.18, much is left to do after the record of the end
cat >prog <<'END'
#!/usr/bin/env python3
import time
with open("began", "w") as f:
    print(time.monotonic_ns(), file=f)
time.sleep(0.1)
END
"$B" record --cost --json ./prog >json 2>err
is its_end_is_that_which_its_parent_sees True "$(of_json json \
	"all($(stat -c %s now.data) / w['bytes_per_second'] >= 0.1 for w in r['rows'])")"
rm began

echo '#!/bin/sh
grep ^SigIgn: /proc/self/status >ignored' >prog
"$B" record --cost ./prog >out 2>err
# signals 32 and 33 are glibc's own
is it_ignores_what_it_ignores_without_us "$(grep ^SigIgn: /proc/self/status | tail -c 8)" \
	"$(tail -qc 8 ignored)"

LIKE=defer
"$B" record --cost ./prog >out 2>err
says deferred_stacks_are_a_way_where_they_are_known 'deferred stacks ' out
[ "$(sed -n 's/ .*//p;q' out)" = take ]
ok the_first_line_says_which_to_take $?

printf '#!/bin/sh\nexit 3\n' >prog
"$B" record --cost ./prog >out 2>err
is a_program_that_fails_is_an_error 1 $?
says its_status_is_said 'status 3' err
"$B" record --cost -a ./prog >out 2>err
is other_ways_to_record_are_refused 2 $?
! [ -e perf.data ] && [ -z "$(ls tmp)" ]
ok nothing_is_left $?

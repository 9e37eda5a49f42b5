#!/bin/bash
# tasks.sh - ten tasks of a profile's reader: commands and seconds, here and with perf.
# usage: [PERFS='perf OTHER-PERF'] [BIG=CAPTURE] tests/bench/tasks.sh [BACKSTITCH]
#
# Prints a table. A cell is the number of commands and their seconds; "-": there is no command
# that answers; "fails": there is, and it ended with an error. Where perf answers less, a note
# says what is missing. The captures are those of tests/captures, and one of our own program
# with three events and switches, which is recorded first (without it, two tasks are left out).
# BIG is the capture of the last task, recorded here with at least 500 MB where it is not given; of
# a second question about it ours has the database. Each of $PERFS is a command that runs a perf.
cd "$(dirname "$0")/../.." || exit 2
B=$(realpath "${1:-${BACKSTITCH:-build/backstitch}}") || exit 2
PERFS=${PERFS:-perf}
root=$PWD
big=${BIG:+$(realpath "$BIG")}
work=${WORK:-$(mktemp -d)} || exit 2
mkdir -p "$work"
[ "$WORK" ] || trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export NO_COLOR=1 HOME="$work" PAGER=cat
cp -r "$root/tests/captures/symfs" .
symfs=$work/symfs
for c in before after lines-clang defer-lost-clock
do
	f=$root/tests/captures/$c.data
	if [ -f "$f" ]
	then
		cp "$f" .
	else
		zstd -qdf "$f.zst" -o "$c.data"
	fi
done
cp "$root"/tests/captures/lines.[ch] .
gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-inline -o load-fp \
	"$root/tests/bench/load.c" -pthread || exit 2
[ -s three.data ] || env -i PATH="$PATH" HOME="$work" perf record -q -o three.data -g -e cpu-clock \
	-e page-faults -e sched:sched_switch -- ./load-fp 3 2 >/dev/null 2>&1
# record_big FILE SECONDS
record_big() {
	env -i PATH="$PATH" HOME="$work" perf record -q -o "$1" -m 2048 -g -e cpu-clock/freq=10000/ \
		-e raw_syscalls:sys_enter -- ./load-fp "$2" 2 >/dev/null 2>&1
}
# how long that takes is tried first: machines differ
if [ -z "$big" ] && [ ! -s big.data ] && record_big trial.data 2
then
	record_big big.data "$(awk -v n="$(stat -c %s trial.data)" 'BEGIN { print int(1250e6 / n) + 1 }')"
	rm -f trial.data
fi
tid=
[ -s three.data ] &&
	tid=$(perf script -i three.data -F comm,tid 2>/dev/null |
		awk '$1 == "load-fp" { n[$2]++ } END { for (t in n) if (n[t] > n[m]) m = t; print m }')

# cell COMMAND...: runs the commands, one after the other, and prints the cell
cell() {
	[ $# -gt 0 ] || { printf ' | -'; return; }
	start=$(date +%s.%N)
	for c
	do
		bash -c "$c" >out 2>err </dev/null
		rc=$?
		# check tells of a broken capture by its status
		if [ $rc != 0 ] && [ "$rc${c##* check *}" != 4 ]
		then
			echo "$c: $rc" >>fails
			head -n 3 err >>fails
			printf ' | fails'
			return
		fi
	done
	printf ' | %d: %s s' $# "$(echo "$(date +%s.%N) $start" | awk '{ printf "%.1f", $1 - $2 }')"
}

# task NAME NOTE OURS [PERF...]: commands of one cell are separated by ' ;; '
task() {
	name=$1 note=$2 ours=$3 theirs=$4
	split() {
		mapfile -t list <<<"${1// ;; /$'\n'}"
	}
	printf '| %s' "$name"
	split "$ours"
	cell "${list[@]}"
	for p in $PERFS
	do
		if [ "$theirs" ]
		then
			split "${theirs//PERF/$p}"
			cell "${list[@]}"
		else
			cell
		fi
	done
	printf ' | %s |\n' "$note"
}

printf '| task | backstitch'
bar='|---|---'
for p in $PERFS
do
	printf ' | %s' "$($p --version | sed 's/ version / /; s/^\(perf [0-9]*\.[0-9]*\).*/\1/')"
	bar="$bar|---"
done
printf ' | what perf lacks |\n%s|---|\n' "$bar"
S="--symfs $symfs"
task 'hottest function' '' \
	"$B after.data $S" \
	"PERF report -i after.data --symfs $symfs --stdio --no-children -g none"
task 'its callers' '' \
	"$B report --callers checksum after.db" \
	"PERF report -i after.data --symfs $symfs --stdio --no-children -G -S checksum"
task 'its source' 'whether the file is the compiled one' \
	"$B annotate $S --source-dir . lines-clang.data hot" \
	"PERF annotate -i lines-clang.data --symfs $symfs --stdio -s hot"
[ "$tid" ] && task "one thread's second second" '' \
	"$B report --tid $tid --time 33%-67% three.data" \
	"PERF report -i three.data --tid $tid --time 33%-67% --stdio --no-children -g none"
task 'what changed between two runs' 'which changes are significant' \
	"$B report --diff before.data after.data $S" \
	"PERF diff before.data after.data --symfs $symfs"
task 'why a stack is missing' 'all' \
	"$B check defer-lost-clock.data"
[ "$tid" ] && task 'off-CPU time by cause' 'stacks that waited, states' \
	"$B report --off-cpu three.data" \
	"PERF sched -i three.data timehist --summary"
task 'share it with a colleague' 'one file that needs no program' \
	"$B report --html -o after.html after.db" \
	"PERF archive after.data"
[ "$tid" ] && task 'one event of three' 'the option: it prints all' \
	"$B report --event page-faults three.data" \
	"PERF report -i three.data --stdio --no-children -g none"
[ "$big" ] && ln -sf "$big" big.data
[ -e big.data ] && task "a capture of $(($(stat -Lc %s big.data) / 1000000)) MB" '' \
	"$B big.data" \
	"PERF report -i big.data --stdio --no-children -g none"
[ -e big.db ] && task "then the callers of a function in it" '' \
	"$B report --callers next_random big.db" \
	"PERF report -i big.data --stdio --no-children -G -S next_random"
exit 0

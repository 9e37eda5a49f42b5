#!/bin/sh
# sums.sh - report, flame and folded stacks from the sums of a database, and
# from its samples: the same bytes.
# usage: tests/cli/sums.sh
#
# --event with the name of the event that is shown anyway makes a command read
# each sample. A database without samples shows which of the two was read.
shared=${BACKSTITCH_SHARED:-../shared}/captures
bin=$PWD/${O:-build}/backstitch
captures=$PWD/tests/captures
# perf record -e cpu-clock/call-graph=fp,freq=199/u -e task-clock/call-graph=dwarf,stack-size=64,freq=199/u
# of one, whose _start counts down: it has no caller, by .cfi_undefined rip
two=$PWD/tests/cli/sums-two.data
case $shared in /*) ;; *) shared=$PWD/$shared ;; esac
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
rc=0

if grep -q __asan_init "$bin"
then
	echo "skip sums: under sanitizers the commands are tried by others"
	exit
fi

no() {	# no NAME: with what is in said
	cat said
	echo "not ok $1"
	rc=1
}

# event: prints the event that commands show of x.db
event() {
	sqlite3 x.db "SELECT t.name FROM event_type t JOIN sample_group g
		ON g.type = t.id GROUP BY 1
		ORDER BY max(coalesce(kernel, user, -(mark < 0))) IS NULL,
			sum(coalesce(g.weight, g.n)) DESC, min(t.id) LIMIT 1"
}

# differ EVENT: says which commands print other things of the samples than of
# the sums of x.db
differ() {
	while read -r command
	do
		# shellcheck disable=SC2086 # words are arguments
		"$bin" $command x.db >sums 2>/dev/null
		# shellcheck disable=SC2086
		"$bin" $command --event "$1" x.db >samples 2>/dev/null
		sed -i 's/, filtered//g' samples
		[ -s sums ] || echo "$command prints nothing"
		cmp sums samples 2>&1 | sed "s|^|$command: |"
	done <<-'END'
		report --limit 0
		report --limit 0 --json --no-inline
		report --limit 0 --sort comm,sym --by samples --format csv
		report --limit 0 --sort comm_nodigit,dso --order total
		flame -o -
		flame -o - --reverse --no-inline --interpreter collapse
		flame -o - --by samples --collapse-recursion --no-comm
		export --format folded -o -
		export --format folded -o - --no-inline --by samples
	END
}

for name in defer-lost-clock.data.zst defer-exitexec-s.data.zst \
	ctx2-defer.data.zst fp-1.data dlchurn.data group.data hits-fp.data.zst \
	hits-group2.data.zst arm64-fp-leaf.data frames32.data.zst \
	ftrace-procmap.dat ftrace-v6.dat.zst ctf-discard/trace \
	two-e.data perf/dwarf-1.data perf/offcpu-wake.data s390x/s390x-fp.data
do
	of=$captures/$name
	[ -e "$of" ] || of=$shared/$name
	[ -e "$of" ] || continue
	rm -f x.db
	"$bin" ingest -q -o x.db "$of" >said 2>&1
	is="sums_and_samples_of_$(basename "${of%/trace}" | tr -c 'a-z0-9\n' _)_give_the_same_bytes"
	differ "$(event)" >said 2>&1
	if [ -s said ]
	then
		no "$is"
	else
		echo "ok $is"
	fi
done

# frame pointers and dumps whose stacks have one frame, the same one
rm -f x.db
cp "$two" .
"$bin" ingest -q --symfs "$captures/symfs" -o x.db sums-two.data >said 2>&1
"$bin" report --limit 0 x.db >before 2>&1
if "$bin" report --symfs "$captures/symfs" --limit 0 sums-two.data >said 2>&1 &&
	sed -i -e '/^How to go on/,$d' -e 's/info [^ ]*/info/' said before &&
	cmp said before && grep -q ' _start ' said
then
	echo "ok a_stack_recorded_and_unwound_is_in_a_first_look"
else
	no a_stack_recorded_and_unwound_is_in_a_first_look
fi

rm -f x.db
"$bin" ingest -q -o x.db "$captures/defer-lost-clock.data.zst" >said 2>&1
"$bin" report --limit 0 x.db >before
"$bin" flame -o before.svg x.db
cp x.db none.db
sqlite3 none.db 'DELETE FROM event'
cp x.db y.db
mv none.db x.db
if "$bin" report --limit 0 x.db >said 2>&1 && cmp said before &&
	"$bin" flame -o - x.db >said 2>&1 && cmp said before.svg
then
	echo "ok without_filters_no_sample_is_read"
else
	no without_filters_no_sample_is_read
fi
if ! "$bin" report --comm 't-*' x.db >said 2>&1
then
	echo "ok with_filters_samples_are_read"
else
	no with_filters_samples_are_read
fi
mv y.db x.db
sqlite3 x.db 'DELETE FROM sample_group WHERE rowid = 1'
if "$bin" report --limit 0 x.db >said 2>&1 && cmp said before
then
	echo "ok sums_that_do_not_add_up_are_not_used"
else
	no sums_that_do_not_add_up_are_not_used
fi
exit $rc

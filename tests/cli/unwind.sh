#!/bin/sh
# unwind.sh - stacks of dumps and callers that chains lack, in every output.
# usage: BACKSTITCH=PROGRAM tests/cli/unwind.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=$(python3 tests/compare/unpack.py) || exit 2
shared=${BACKSTITCH_SHARED:-}/captures
w=$work

has() {	# has NAME TEXT COMMAND...: its output has the text
	name=$1 text=$2
	shift 2
	if "$@" 2>&1 | grep -qF "$text"
	then
		echo "ok $name"
	else
		echo "not ok $name"
	fi
}

is() {	# is NAME NUMBER DATABASE SQL: what it selects
	got=$("$B" query "$3" "$4" 2>&1 | tail -n 1 | tr -d ' ')
	if [ "$got" = "$2" ]
	then
		echo "ok $1"
	else
		echo "    '$got' in place of '$2'"
		echo "not ok $1"
	fi
}

# dumps SYMFS TRUNCATED WHOLE: how many stacks end with their dump, and how many
# do not end before the outermost frame
dumps() {
	"$B" ingest -q -f --no-symbols --symfs "$1" -o "$w/s.db" \
		"$cap/s390x/perf/dwarf/perf.data" || echo "not ok s390x is read"
	has script_says_why_a_stack_ends '[user: truncated_dump]' \
		"$B" script "$w/s.db"
	has report_says_that_they_are_cut_off_not_missing \
		'user half cut off: [user: ' "$B" report "$w/s.db"
	has graphs_have_a_root_for_it '[user: truncated_dump]' \
		"$B" flame -o - "$w/s.db"
	has folded_has_it ';[user: no_table];' \
		"$B" query "$w/s.db" 'SELECT stack FROM folded'
	has check_counts_ends "$2 truncated_dump" "$B" check "$w/s.db"
	is whole_stacks_have_no_mark "$3" "$w/s.db" \
		"SELECT count(*) FROM event e WHERE NOT EXISTS (SELECT 1 FROM full_stack f
		 WHERE f.event_id = e.id AND f.symbol LIKE '[user: %')"
}

# unwound SYMFS CAPTURE WHOLE: callers that unwinding found are inside their
# calls, not behind them
unwound() {
	"$B" ingest -q -f --symfs "$1" -o "$w/d.db" "$2" ||
		echo "not ok $2 is read"
	is unwound_stacks_are_whole "$3" "$w/d.db" \
		"SELECT count(*) FROM event e JOIN raw_chain u ON u.id = e.uraw
		 JOIN word w ON w.kind = 'unwind' AND w.id = u.ended
		 WHERE w.name = 'outermost'"
	is and_have_no_bogus_frame 0 "$w/d.db" \
		'SELECT count(*) FROM bogus_frames'
	is and_none_is_checked_for_it 0 "$w/d.db" \
		'SELECT count(*) FROM internal_callsite'
}

# missing SYMFS CAPTURE NUMBER: callers that are missing have a frame, but for
# stacks that are this one frame
missing() {
	"$B" ingest -q -f --no-symbols --no-infer-callers --symfs "$1" \
		-o "$w/f.db" "$2" || echo "not ok $2 is read"
	got=$("$B" export --format folded --by samples "$w/f.db" |
		awk '/\[caller missing\]/ { n += $NF } END { print n + 0 }')
	if [ "$got" = "$3" ]
	then
		echo "ok missing_callers_are_counted"
	else
		echo "    $got in place of $3"
		echo "not ok missing_callers_are_counted"
	fi
	is none_is_inferred_if_not_wanted 0 "$w/f.db" \
		'SELECT count(*) FROM frame WHERE flags & 1'
}

dumps "$cap/s390x/symfs" 17 1
unwound tests/captures/symfs tests/captures/frames32.data.zst 86
# Behind the system call that makes a thread there is no table: the parent goes
# on to its callers, and nobody has called the child.
"$B" ingest -q --symfs tests/captures/symfs -o "$w/clone.db" \
	tests/captures/clone.data.zst
is who_makes_a_thread_has_callers '_start;run;server;make10|make5' \
	"$w/clone.db" "SELECT group_concat(s, '|') FROM (SELECT
	substr(stack, instr(stack, ';') + 1) || sum(weight) AS s
	FROM folded GROUP BY stack ORDER BY stack)"
is and_the_first_frame_of_a_thread_is_a_whole_stack whole "$w/clone.db" \
	'SELECT DISTINCT class FROM trust'
missing "$cap/symfs-6.18" "$cap/fpcap/fp-200.data" 139
# The C library, through which these stacks go, is in the shared folder alone.
[ -d "$shared/fpcap" ] || exit 0
dumps "$shared/s390x/symfs" 35 147
unwound "$shared/symfs-6.18" "$shared/perf/dwarf/perf.data" 115
# of one more, that a frame is in no mapping is said instead
missing "$shared/symfs-6.18" "$shared/fpcap/fp.data.zst" 429
"$B" ingest -q -f --no-symbols --symfs "$shared/symfs-6.18" \
	-o "$w/f.db" "$shared/fpcap/fp.data.zst" || echo "not ok fp is read"
has inferred_callers_are_counted '"inferred":406' \
	"$B" check --json "$w/f.db"
has inferred_callers_are_marked '(inferred)' "$B" script --marks "$w/f.db"

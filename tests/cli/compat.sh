#!/bin/sh
# compat.sh - what a release promised is kept: backstitch(7), PROMISES.
# usage: BACKSTITCH=PROGRAM tests/cli/compat.sh; prints "ok NAME" or "not ok NAME" lines.
#
# tests/compat has what release 1.0 promised: options.txt and columns.txt, from which no line may go away, and a small
# database of each schema that was released. A release with a new schema adds one, and its lines:
#   backstitch --list-options; the SQL of `columns` below; HOME=/nonexistent backstitch ingest --no-cache --symfs
#   tests/captures/symfs
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/ok.sh"
B=${BACKSTITCH:-$root/backstitch}
kept=$root/tests/compat
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2

columns() {	# columns DB: TABLE.COLUMN of what the manual describes
	"$B" query --format csv "$1" "SELECT m.name || '.' || p.name AS c
		FROM sqlite_master m, pragma_table_info(m.name) p
		WHERE m.name NOT GLOB 'internal_*' AND m.name NOT GLOB 'ev_*'
		AND m.name NOT GLOB 'sqlite_*' ORDER BY 1" | tail -n +2
}
options() {	# COMMAND OPTION, one a line
	"$B" --list-options | awk '{ for (i = 2; i <= NF; i++) print $1, $i }'
}
# Keeps NAME OLD NEW: each line of OLD is in NEW
keeps() {
	sort "$2" >old
	sort "$3" | comm -23 old - >gone
	[ -s old ] && [ ! -s gone ]
	ok "$1" $?
	cat gone
}

options >now
keeps no_option_went_away "$kept/options.txt" now
"$B" ingest -q --no-cache --symfs "$root/tests/captures/symfs" -o now.db \
	"$root/tests/captures/pair.data" 2>/dev/null
columns now.db >now
keeps no_column_went_away "$kept/columns.txt" now

for packed in "$kept"/*.db.zst
do
	name=$(basename "$packed" .db.zst)
	zstd -q -d -c "$packed" >"$name.db"
	capture=$(ls "$root/tests/captures/${name#*-}".data*)
	"$B" ingest -f -q --no-cache --symfs "$root/tests/captures/symfs" \
		-o fresh.db "$capture" 2>/dev/null
	columns "$name.db" >now
	keeps "${name}_has_all_columns" "$kept/columns.txt" now
	for command in 'script' 'export --format folded' 'flame' 'info' 'check' \
		'report' 'report --json' 'report --off-cpu' 'check --json' \
		'path --waits'
	do
		# shellcheck disable=SC2086 # words
		"$B" $command fresh.db >new 2>new.err
		want=$?
		# shellcheck disable=SC2086
		"$B" $command "$name.db" >old 2>old.err
		[ $? = $want ]
		ok "${name}_$(echo "$command" | tr -cs 'a-z\n' _)_has_its_status" $?
		case $command in
		script | export*)
			cmp old new
			ok "${name}_${command%% *}_is_as_of_a_new_one" $?
			;;
		esac
	done
	cut -d. -f1 "$kept/columns.txt" | sort -u >tables
	while read -r table
	do
		"$B" query "$name.db" "SELECT $(sed -n "s/^$table\.\(.*\)/\"\1\"/p" \
			"$kept/columns.txt" | paste -s -d ,) FROM $table LIMIT 1" \
			>/dev/null 2>err || echo "$table: $(cat err)"
	done <tables >bad
	[ -s tables ] && [ ! -s bad ]
	ok "${name}_answers_for_each_table_and_view" $?
	cat bad
done

#!/bin/sh
# compat.sh - what a release promised is kept: backstitch-promises(7).
# usage: BACKSTITCH=PROGRAM tests/cli/compat.sh; prints "ok NAME" or "not ok NAME" lines.
#
# tests/compat has what release 2.0 promised: options.txt, columns.txt, json.txt and fleet.txt, from which no line may go
# away, and a small database of each schema that was released. A release adds the lines that the functions below print,
# and one with a new schema a database: HOME=/nonexistent backstitch ingest --no-cache --symfs tests/captures/symfs
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
kept=$root/tests/compat
cd "$dir" || exit 2

# columns DB: TABLE.COLUMN PLACE TYPE of what the manual describes, and each without its type: SQLite knew none of
# what a view computes, and 3.46 does
columns() {
	"$B" query --format csv "$1" "SELECT m.name || '.' || p.name AS c, p.cid + 1, p.type
		FROM sqlite_master m, pragma_table_info(m.name) p
		WHERE m.name NOT GLOB 'internal_*' AND m.name NOT GLOB 'ev_*'
		AND m.name NOT GLOB 'sqlite_*' ORDER BY 1" |
		sed '1d; s/,/ /g; s/""$//; s/ *$//; / [A-Z]*$/{ p; s/ [A-Z]*$//; }'
}
# COMMAND OPTION, and with what it takes: each word of a list, ARGUMENT, or alone
options() {
	"$B" --list-options | awk '{ for (i = 2; i <= NF; i++) print $1, $i }'
	"$B" completion fish | tr -d "'" | sed -n 's/ -d .*//
		s/^complete -c backstitch -n __fish_seen_subcommand_from \([a-z]*\) -l /\1 --/p' |
		awk '{ what = "alone"; must = 0
			for (i = 3; i <= NF; i++) {
				if ($i == "-x") must = 1
				if ($i == "-r") what = "ARGUMENT"
				if (what == "") print $1, $2, $i
				if ($i == "-a") what = ""
			}
			if (what || !must) print $1, $2, what ? what : "alone" }'
}
# json: COMMAND.KEY.KEY TYPE, and "optional" for a key that may be missing; one that never is may become so by no release
json() {
	python3 "$root/tests/schemas.py" "$root" |
		sed '/ optional$/!{ p; s/$/ optional/; }'
}
fleet() {	# TABLE PLACE COLUMN TYPE, as check-fleet-doc.sh finds them in Parquet files
	awk '/^\.Ss/ { name = $2; n = 0 }
		/^\.Sh/ { name = "" }
		/^\.It Va/ && name { print name, ++n, $3, $5 }' "$root/man/backstitch-fleet.7"
}
# keeps NAME OLD NEW: each line of OLD is in NEW
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
keeps no_column_went_away_or_moved "$kept/columns.txt" now
json >now
keeps no_key_of_json_went_away "$kept/json.txt" now
fleet >now
keeps no_column_of_a_server_went_away_or_moved "$kept/fleet.txt" now

# an exit status keeps its meaning
head -c 900 "$root/tests/captures/before.data" >cut.data
zstd -qdc "$root/tests/captures/shop.data.zst" | head -c 400000 >lost.data
while read -r want line
do
	# shellcheck disable=SC2086 # words
	(cd "$root/tests/captures" && "$B" $line) >/dev/null 2>&1 </dev/null
	[ $? = "$want" ]
	ok "status_${want}_$(echo "$line" | sed "s|$dir/||g" | tr -cs 'a-z\n' _)" $?
done <<END
0 report --no-symbols before.data
0 check --no-symbols naps.data
1 report no-such.data
1 query $dir/now.db nonsense
2 report --no-such-option before.data
2 no-such-command
3 ingest --no-symbols -o $dir/cut.db $dir/cut.data
3 ingest --no-symbols -o $dir/lost.db $dir/lost.data
4 check --no-symbols $dir/lost.data
4 check --no-symbols shop.data.zst
4 report --no-symbols --diff --fail-above 5 before.data after.data
END
{ "$B" script --no-symbols "$root/tests/captures/shop.data.zst" 2>/dev/null; echo $? >status; } |
	head -c 1 >/dev/null
[ "$(cat status)" = 0 ]
ok status_0_a_reader_that_ends_early $?

for packed in "$kept"/*.db.zst
do
	name=$(basename "$packed" .db.zst)
	zstd -q -d -c "$packed" >"$name.db"
	capture=$(ls "$root/tests/captures/${name#*-}".data*)
	"$B" ingest -f -q --no-cache --symfs "$root/tests/captures/symfs" \
		-o fresh.db "$capture" 2>/dev/null
	columns "$name.db" >now
	keeps "${name}_has_all_columns" "$kept/columns.txt" now
	# Names are those of the machine that made it: a kernel's, and of
	# files that are installed there.
	for command in 'script -F comm,pid,tid,cpu,time,event,ip' \
		'export --format folded' 'flame' 'info' 'check' 'report' \
		'report --json' 'report --off-cpu' 'check --json' 'path --waits'
	do
		# shellcheck disable=SC2086 # words
		"$B" $command fresh.db >new 2>new.err
		want=$?
		# shellcheck disable=SC2086
		"$B" $command "$name.db" >old 2>old.err
		[ $? = $want ]
		ok "${name}_$(echo "$command" | tr -cs 'a-z\n' _)_has_its_status" $?
		# until schema 13, what a child without a name was called was
		# the number of its parent
		sed -i 's/^ *:[0-9]* */: /; s/^:[0-9]*;/:;/' old new
		case $command in
		script*) ;;
		export*)
			for f in old new
			do
				sed 's/;.* / /' $f | awk '{ n[$1] += $2 }
					END { for (c in n) print c, n[c] }' |
					sort >$f.sums && mv $f.sums $f
			done
			;;
		*) continue ;;
		esac
		[ -s old ] && cmp old new
		ok "${name}_${command%% *}_is_as_of_a_new_one" $?
	done
	for command in symbolize 'merge -f -o merged.db'
	do
		cp "$name.db" again.db
		# shellcheck disable=SC2086
		"$B" $command again.db >out 2>err
		rc=$?
		[ $rc = 0 ] || { [ $rc = 1 ] &&
			grep -q 'again.db: made by an older backstitch .*; ingest the capture again' err &&
			cmp -s "$name.db" again.db; }
		ok "${name}_takes_${command%% *}_or_says_to_ingest_again" $?
	done
	cut -d. -f1 "$kept/columns.txt" | sort -u >tables
	while read -r table
	do
		"$B" query "$name.db" "SELECT $(sed -n "s/^$table\.\([^ ]*\) .*/\"\1\"/p" \
			"$kept/columns.txt" | paste -s -d ,) FROM $table LIMIT 1" \
			>/dev/null 2>err || echo "$table: $(cat err)"
	done <tables >bad
	[ -s tables ] && [ ! -s bad ]
	ok "${name}_answers_for_each_table_and_view" $?
	cat bad
done

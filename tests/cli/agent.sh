#!/bin/sh
# agent.sh - what 'help agent' says is run as it says it: JSON, and short enough.
# usage: BACKSTITCH=PROGRAM tests/cli/agent.sh; prints "ok NAME" or "not ok NAME" lines.
# Without sanitizers: only sizes of answers that cli/json and others read under them
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
COLUMNS=200 "$B" help agent >"$work/text"
lines=$(sed -n 's/^  \(backstitch .* DB.*\)/\1/p' "$work/text")
is help_names_five_commands 5 "$(echo "$lines" | wc -l)"
most=$(sed -n 's/.*below \([0-9,]*\) bytes.*/\1/p' "$work/text" | tr -d ,)
is help_says_how_long_an_answer_is 100000 "$most"
is every_screen_line_fits 0 "$("$B" help agent | grep -c '.\{81\}')"

# ask NAME COMMAND: an answer is whole JSON and not too long
ask() {
	# shellcheck disable=SC2016 # for the inner shell
	DB=$work/a.db sh -c "$(echo "$2" | sed 's/^backstitch/"$B"/; s/ DB/ "$DB"/')" \
		>"$work/out" 2>"$work/err"
	rc=$?
	case $rc in
	1)	# what was not recorded is said
		[ ! -s "$work/out" ] && grep -q '^backstitch: .*' "$work/err"
		;;
	*)	[ $rc != 2 ] && [ "$(wc -c <"$work/out")" -lt "$most" ] &&
			python3 -m json.tool "$work/out" >"$work/json" 2>>"$work/err"
		;;
	esac
	bad=$?
	[ $bad = 0 ] || return
	answers=$((answers + (rc != 1)))
}

export B
for f in tests/captures/shop.data.zst tests/captures/overwrite-defer.data.zst \
	tests/captures/ftrace-procmap.dat tests/captures/jitframes.data.zst \
	tests/causality/captures/lock.data.zst tests/captures/naps.data
do
	name=$(basename "${f%%.*}")
	"$B" ingest -q -f -o "$work/a.db" "$f" 2>"$work/log"
	answers=0
	wrong=
	while read -r line
	do
		for more in '' --off-cpu --latency '--worst 3'
		do
			case "$line $more" in
			*' report '*'--worst'* | *' path '*--off-cpu | *' path '*--latency) continue ;;
			*' report '* | *' path '*) ;;
			*' ') ;;
			*) continue ;;
			esac
			ask "$name" "$line $more"
			[ $bad = 0 ] || wrong="$wrong; $line $more"
		done
	done <<-E
	$lines
	E
	is "answers_about_${name}_are_short_json" "" "$wrong"
	[ $answers -ge 4 ]
	ok "most_of_them_are_answers_$name" $?
done

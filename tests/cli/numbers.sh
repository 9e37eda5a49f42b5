#!/bin/sh
# numbers.sh - counts and shares have one form in every text for people: 12,345 and 1.23 %.
# usage: BACKSTITCH=build/backstitch tests/cli/numbers.sh
# Without sanitizers: it compares the numbers of commands that other scripts run under them.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=tests/captures
export NO_COLOR=1 LC_ALL=C COLUMNS=300

cat >"$work/forms.py" <<'END'
"""usage: forms.py KIND FILE: prints counts and shares of another form."""
import html
import re
import sys

kind, path = sys.argv[1:]
text = open(path, errors="replace").read()
if kind != "text":
    text = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.S)
    text = re.sub(r"data:[^\"]*", "", text)
    text = html.unescape(re.sub(r"<[^>]*>", "\n", text))
# what is no count: options, files, addresses, ids, times, CPUs
plain = re.sub(r"'[^']*'|\S*[/=@]\S*|0x[0-9a-f]+|\S+\+0x\S+", " ", text)
nouns = (r"samples?|records?|stacks?|chains?|requests?|addresses|images|"
         r"processes|threads|events?|asked|recorded|findings?|gaps|user|times|"
         r"waits?|used|matched|frames?|functions|rows|ns")
for line in plain.split("\n"):
    for bad in re.findall(r"(?<![\d.,:#-])\d{4,} (?:%s)\b" % nouns, line):
        print("not in groups of three:", bad, "in:", line.strip()[:100])
    for bad in re.findall(r"(?<![\w.-])\d+(?:\.\d+)?%(?!-)", line):
        print("no blank before %:", bad, "in:", line.strip()[:100])
END

# one_form NAME KIND FILE
one_form() {
	python3 "$work/forms.py" "$2" "$3" >"$work/bad"
	cat "$work/bad"
	[ -s "$3" ] && [ ! -s "$work/bad" ]
	ok "$1" $?
}
for c in defer-lost-clock.data.zst z-defer.data overwrite-defer.data.zst naps.data \
	ftrace-v7.dat hits-group4.data.zst
do
	name=${c%%.*}
	db=$work/$name.db
	"$B" ingest -f -o "$db" --symfs $captures/symfs "$captures/$c" >"$work/out" 2>&1
	one_form "$name-ingest" text "$work/out"
	for command in info check 'check --verbose' report 'report --order total' annotate
	do
		# shellcheck disable=SC2086 # a command and an option
		"$B" $command "$db" >"$work/out" 2>"$work/err"
		one_form "$name-$(echo "$command" | tr -d ' ')" text "$work/out"
	done
	"$B" flame -o "$work/out" "$db" 2>"$work/err"
	one_form "$name-flame" svg "$work/out"
	"$B" page -o "$work/out" "$db" 2>"$work/err"
	one_form "$name-page" html "$work/out"
done
"$B" report --off-cpu "$work/naps.db" >"$work/out" 2>"$work/err"
one_form off-cpu text "$work/out"
"$B" flame --diff -o "$work/out" "$work/z-defer.db" "$work/defer-lost-clock.db" 2>"$work/err"
one_form flame-diff svg "$work/out"
"$B" diff "$work/z-defer.db" "$work/defer-lost-clock.db" >"$work/out" 2>"$work/err"
one_form report-diff text "$work/out"
"$B" report --json "$work/defer-lost-clock.db" >"$work/out"
! grep -qE '[0-9],[0-9]{3}[^0-9]' "$work/out"
ok json_has_numbers_as_they_are $?

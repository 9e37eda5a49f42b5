#!/bin/sh
# top_print.sh - answers that follow --top prints of the last ten seconds.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/top_print.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
stream=$PWD/tests/captures/pipe-zstd.data
cd "$work" || exit 2

for what in report path
do
	"$B" follow --top $what -q -o $what - <"$stream" >out 2>err
	rc=$?
	{
		"$B" $what --since 10s --limit 10 $what 2>&1
		echo
	} >want
	tail -n "$(wc -l <want)" out >last
	[ $rc = 0 ] && [ -s want ] && cmp want last >&2 && ! grep -q "$(printf '\033')" out
	bad=$?
	say the_last_screen_is_what_${what}_says
done
# a segment of which there is no database does not keep back the later ones
mkdir files
"$B" follow --top report -q -o gap files >out 2>err &
head -c 3000 /dev/zero >zero
cp "$root/tests/captures/before.data" good
mv zero files/perf.data.2026112110203001
soon [ -e gap/segment-000001.bad ] && mv good files/perf.data.2026112110203002 && soon grep -q 'user stacks' out
bad=$?
kill -TERM $!
wait $!
say a_screen_comes_after_a_gap
"$B" follow --top=path -q -o again - <"$stream" >out 2>err && [ -s out ]
bad=$?
say a_value_behind_an_equals_sign
"$B" follow --top=nothing -o no - <"$stream" >out 2>err
[ $? = 2 ] && grep -q -- '--top is one of view, path, latency, report' err && [ ! -e no ]
bad=$?
say another_word_is_refused
# without a word the stream is not taken for one
! setsid "$B" follow --top - <"$stream" >out 2>err && grep -q -- '--top needs a terminal' err
bad=$?
say alone_it_needs_a_terminal_as_before
# on a terminal of few rows each screen takes the place of the one before
if command -v script >/dev/null
then
	script -qc "stty rows 6 cols 80; '$B' follow --top report -q -o tty - <'$stream'" tty.out </dev/null >out 2>err
	grep -q "$(printf '\033')\\[H$(printf '\033')\\[2J" tty.out && [ "$(grep -c . tty.out)" -le 16 ]
	bad=$?
	say a_terminal_is_drawn_anew
else
	echo "skip a_terminal_is_drawn_anew: script is not installed"
fi

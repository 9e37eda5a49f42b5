#!/bin/sh
# check-readme.sh - picture, stacks and example in README.md are what the programs print, and its commands run.
# usage: BACKSTITCH=build/backstitch tests/check-readme.sh; silent and 0 if it is
# Needs: libcapstone libcurl libncursesw
cd "$(dirname "$0")/.." || exit 2
root=$PWD
B=$(realpath "${BACKSTITCH:-./backstitch}") || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
COLUMNS=300 tests/demo.sh "$B" "$tmp/demo" >"$tmp/out" 2>&1 || {
	cat "$tmp/out"
	echo "tests/demo.sh fails"
	exit 1
}
db=$tmp/demo/shop.db
sed -i "s|$tmp/||g; s/ *\$//" "$tmp/out"

# block COMMENT: the lines of the block behind a comment
block() {
	awk -v what="<!-- $1 -->" '$0 == what { on = 1 }
		on && /^```/ { if (++fence == 2) exit; next }
		on && fence == 1' README.md
}
{
	# Commands are shortened in README.md, and so are the tables.
	block 'what make demo prints' | grep -v '^\$\|^\.\.\.$' | grep . >"$tmp/example"
	[ -s "$tmp/example" ] || echo "README.md: has no example"
	grep -vxFf "$tmp/out" "$tmp/example" |
		sed 's/^/README.md: the demo does not print: /'
	# one sample, as perf prints it and as we do, with a blank behind the event
	block 'what perf script printed' >"$tmp/perf"
	zcat tests/captures/shop.script-ip.txt.gz | sed 's/ $//' |
		awk -v RS= 'NR == FNR { want = $0; next } $0 == want { n++ }
			END { exit !(n == 1) }' "$tmp/perf" - ||
		echo "README.md: perf 7.2 did not print the sample"
	time=$(sed -n '1s/.* \([0-9.]*\): cpu-clock:$/\1/p' "$tmp/perf")
	tid=$(sed -n '1s|.*/\([0-9]*\) .*|\1|p' "$tmp/perf")
	"$B" script --time "$time,$time" --tid "$tid" \
		-F comm,pid,tid,cpu,time,event,ip,sym "$db" | sed 's/ $//' | grep . >"$tmp/stack"
	block 'what backstitch script prints' | cmp -s - "$tmp/stack" ||
		echo "README.md: script prints another stack"
	# the picture; to draw it anew: cp, after looking at it
	COLUMNS=80 "$B" flame --width 1200 --minwidth 1% \
		--title 'Where three threads were, and which user stacks are missing' \
		--subtitle 'hatched: stacks of which perf prints the kernel half only; here with the reason' \
		-o "$tmp/readme.svg" "$db" 2>/dev/null
	cmp -s "$tmp/readme.svg" man/readme.svg || {
		echo "man/readme.svg: is not what flame draws; the new one is build/readme.svg"
		mkdir -p build && cp "$tmp/readme.svg" build/readme.svg
	}
	# the rate of fabricated frames is the one that 'make twins' measured
	# shellcheck disable=SC2046 # three numbers
	set -- $(sed -n 's/.* of \([0-9,]*\) fabricated frames in \([0-9]*\) programs this test finds \([0-9.]*\) %.*/\1 \2 \3/p' README.md)
	grep -q "^Of $1 frames that were fabricated $3 % were marked so,$" man/backstitch-trust.7 &&
		grep -q " samples of $2 builds, " man/backstitch-trust.7 ||
		echo "README.md: the rate of fabricated frames is not that of backstitch-trust(7)"
	# commands; my_function is hot(), whose program is not at its place
	mkdir "$tmp/try"
	cd "$tmp/try" || exit 2
	zstd -qdf "$root/tests/captures/lines-clang.data.zst" -o perf.data
	"$B" ingest -q -o perf.db --symfs "$root/tests/captures/symfs" perf.data
	for c in before after
	do
		"$B" ingest -q -o $c.db --symfs "$root/tests/captures/symfs" \
			"$root/tests/captures/$c.data" 2>/dev/null
	done
	mkdir bin
	# shellcheck disable=SC2016 # for the script that is written
	printf '#!/bin/sh\n[ "$1" != record ] || cp "%s" recorded.data\n' \
		"$root/tests/captures/fp-1.data" >bin/perf
	chmod +x bin/perf
	PATH=$PWD/bin:$PATH
	sed -n "s/ *#.*//; s/my_function/hot/
		s|record ./program|record -o recorded.data true|
		s|record --waits --for 3s -p 4711|record --dry-run --waits --for 3s -p $$|
		s/path --comm server perf.db/path perf.dat/; s/latency perf.db/latency perf.dat/
		s|perf.dat$|$root/tests/captures/ftrace-v7.dat|
		s/^    backstitch //p" "$root/README.md" >list
	[ "$(wc -l <list)" -ge 11 ] || echo "README.md: has few commands"
	while read -r line
	do
		case $line in
		*-o\ *) rm -f "$(echo "$line" | sed 's/.*-o \([^ ]*\).*/\1/')" ;;
		esac
		case $line in
		annotate*) line="$line --symfs $root/tests/captures/symfs" ;;
		esac
		# in a terminal, in which somebody leaves
		case $line in
		view*)
			(sleep 1; printf q) | HOME=$tmp TERM=xterm script -qec "'$B' $line" /dev/null >said 2>&1 || {
				echo "README.md: fails: backstitch $line"
				cat said
			}
			continue ;;
		esac
		# with a server of our own, or not at all
		with=
		case $line in
		*clickhouse://*)
			with="python3 $root/tests/fleet/servers.py 1"
			# shellcheck disable=SC2016 # for the inner shell
			line=$(echo "$line" | sed 's|clickhouse://host/fleet|$FLEET_URL0|; s/^push/push --create/')
			;;
		esac
		# shellcheck disable=SC2086 # a command
		HOME=$tmp $with sh -c "exec '$B' $line" >said 2>&1 </dev/null || {
			echo "README.md: fails: backstitch $line"
			cat said
		}
	done <list
} >"$tmp/bad" 2>&1
[ -s "$tmp/bad" ] || exit 0
cat "$tmp/bad"
exit 1

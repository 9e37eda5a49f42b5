#!/bin/sh
# fuzz.sh - runs one libFuzzer target for a bounded time.
# usage: tests/fuzz.sh NAME; $FUZZ_SECONDS (5), $FUZZ_SEED (1)
#
# Seeds are tests/fuzz/NAME.seeds/; for perf and ftrace also the small shipped
# captures; for ftrace also the captures of its cases; for pipeline also those of
# perf and ftext, a trace.dat, and those of the cases. Failing inputs are kept in build-fuzz/found/.
name=$1
prog=build-fuzz/fuzz/$name
secs=${FUZZ_SECONDS:-5}
new=$(mktemp -d) || exit 2
trap 'rm -rf "$new"' EXIT
mkdir -p build-fuzz/found "$new/corpus" "$new/seeds"
[ -d "tests/fuzz/$name.seeds" ] && cp tests/fuzz/"$name".seeds/* "$new/seeds"
max=65536
more=
case $name in
pipeline)
	max=16384
	more=-len_control=0
	cp tests/fuzz/perf.seeds/* tests/fuzz/ftext.seeds/* \
		tests/captures/ftrace-v7.dat "$new/seeds"
	find "${O:-build}/cases" -type f -size -8k \
		\( -name '*.data' -o -name '*.dat' \) \
		-exec cp {} "$new/seeds" \; 2>/dev/null
	;;
database)
	max=768
	more=-len_control=0
	seq 1000 | head -c 768 >"$new/seeds/any"
	;;
esac
if [ "$name" = perf ]
then
	find tests/captures -name '*.data' -type f -size -40k \
		-exec cp {} "$new/seeds" \;
fi
if [ "$name" = ftrace ]
then
	find tests/captures -name '*.dat' -type f -size -60k \
		-exec cp {} "$new/seeds" \;
	find "${O:-build}/cases" -name '*.dat' -type f \
		-exec cp {} "$new/seeds" \; 2>/dev/null
	printf '%s\n' '1000-2000 r-xp 00001000 fe:00 77   /bin/a\\012b' \
		'2000-3000 rw-s 00000000 00:00 0 ' >"$new/seeds/maps"
fi
if "$prog" -max_total_time="$secs" -seed="${FUZZ_SEED:-1}" -timeout=10 \
	-rss_limit_mb=1024 -max_len=$max $more -print_final_stats=1 \
	-artifact_prefix=build-fuzz/found/"$name"- "$new/corpus" "$new/seeds"
then
	echo "ok $name takes $secs s of fuzzing"
else
	echo "not ok $name takes $secs s of fuzzing"
	exit 1
fi

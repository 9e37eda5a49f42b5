#!/bin/sh
# fuzz.sh - runs one libFuzzer target for a bounded time.
# usage: tests/fuzz.sh NAME [CORPUS]; $FUZZ_SECONDS (5), $FUZZ_SEED (1)
#        tests/fuzz.sh --seeds NAME: prints the seeds
#
# Seeds are tests/fuzz/NAME.seeds/ and small captures of tests/captures and of
# the cases. What is found goes into the folder CORPUS, if it is given; failing
# inputs are kept in build-fuzz/found/.
list=
if [ "$1" = --seeds ]
then
	list=1
	shift
fi
name=$1
prog=build-fuzz/fuzz/$name
secs=${FUZZ_SECONDS:-5}

# There are some where the cases have been run.
cases() {
	[ ! -d "${O:-build}/cases" ] ||
		find "${O:-build}/cases" -type f -size -"$1" "$2" "$3"
}

seeds() {
	[ ! -d "tests/fuzz/$name.seeds" ] ||
		find "tests/fuzz/$name.seeds" -type f
	case $name in
	pipeline)
		find tests/fuzz/perf.seeds tests/fuzz/ftext.seeds \
			tests/fuzz/ftrace.seeds -type f -size -12k
		cases 8k -name '*.data'
		cases 8k -name '*.dat'
		;;
	code_bytes | elf)
		find tests/fuzz/elf.seeds tests/fuzz/unwind.seeds -type f
		;;
	cut)
		find tests/fuzz/perf.seeds -type f -name '*pipe*'
		;;
	perf)
		find tests/captures -name '*.data' -type f -size -40k
		;;
	ftrace)
		find tests/captures -name '*.dat' -type f -size -60k
		cases 60k -name '*.dat'
		;;
	esac
}

if [ "$list" ]
then
	seeds
	exit
fi
# In memory, if possible: targets make their files in $TMPDIR.
new=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) || exit 2
trap 'rm -rf "$new"' EXIT
corpus=${2:-$new/corpus}
mkdir -p build-fuzz/found "$corpus" "$new/seeds" "$new/tmp"
# Folders have files of the same name: each keeps its path.
seeds | sort -u >"$new/list"
xargs -r cp --parents -t "$new/seeds" <"$new/list" || exit 2
if [ "$(find "$new/seeds" -type f | wc -l)" != "$(wc -l <"$new/list")" ]
then
	echo "not ok $name starts with all its seeds"
	exit 1
fi
# Longer inputs are slower, and find no more.
max=65536
more=
case $name in
ftext | ptext)
	max=2048
	;;
path)
	max=1032
	more=-len_control=0
	;;
perf | cut)
	max=8192
	;;
ftrace)
	max=8448
	;;
unwind)
	# it keeps what unwinds: that is looked at when it ends
	more=-detect_leaks=0
	;;
pipeline)
	max=8192
	more=-len_control=0
	;;
database)
	max=769
	more=-len_control=0
	;;
esac
export TMPDIR="$new/tmp"
# What was freed is kept for a while, and who did it: less of it is faster.
ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=3:${ASAN_OPTIONS:-}
export ASAN_OPTIONS
if "$prog" -max_total_time="$secs" -seed="${FUZZ_SEED:-1}" -timeout=10 \
	-rss_limit_mb=1024 -max_len=$max $more -entropic=0 -print_final_stats=1 \
	-artifact_prefix=build-fuzz/found/"$name"- "$corpus" "$new/seeds"
then
	echo "ok $name takes $secs s of fuzzing"
else
	echo "not ok $name takes $secs s of fuzzing"
	exit 1
fi

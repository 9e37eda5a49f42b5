#!/bin/sh
# faults.sh - calls that fail: a message, a status, and no file is left.
# usage: BACKSTITCH=PROGRAM tests/cli/faults.sh; prints "ok NAME" or "not ok NAME" lines.
#
# Some tries of `make faults`: those in which glib and libbabeltrace2 abort(),
# in which a database cannot be read, and SQLite cannot start.
# Needs: libbabeltrace2
root=$(cd "$(dirname "$0")/../.." && pwd)
B=$(realpath "${BACKSTITCH:-$root/build/backstitch}")
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
cd "$root" || exit 2

# try NAME COMMAND KIND...: COMMAND while calls of these kinds fail
try() {
	name=$1 command=$2
	shift 2
	if FAULTS_KINDS="$*" FAULTS_MAX=${FAULTS_MAX:-12} \
		python3 tests/faults/faults.py "$(dirname "$B")" "$command" \
		>"$out" 2>&1
	then
		echo "ok $name"
	else
		cat "$out"
		echo "not ok $name"
	fi
}

if ! command -v cc >/dev/null || ! command -v python3 >/dev/null
then
	echo "skip faults: no compiler or no python3"
	exit
elif grep -q __asan_init "$B"
then
	echo "skip faults: under sanitizers no library can be loaded first"
	exit
fi
try a_database_that_cannot_be_read_is_no_other_file merge open read
FAULTS_MAX=40 try memory_that_is_short_is_said info malloc
try interrupted_calls_change_nothing ingest storm
try interrupted_streams_are_whole follow storm
# neither bytes that come one by one
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$out" "$dir"' EXIT
cc -O1 -w -shared -fPIC -D_GNU_SOURCE -o "$dir/shim.so" tests/faults/shim.c -ldl &&
	gzip -dc tests/captures/pipe-defer.data.gz >"$dir/stream" &&
	"$B" ingest -q --no-symbols -o "$dir/a.db" tests/captures/arm64-fp-leaf.data || exit 2
python3 tests/cli/storm.py "$B" "$dir/shim.so" "$dir/stream" "$dir/a.db" "$dir"
FAULTS_BIG=40000 FAULTS_MAX=4 \
	try what_takes_long_ends_within_a_second "query waits" signal
if "$B" help exports | grep -q '^ *ctf '
then
	try glib_that_aborts_leaves_a_message_and_no_file ctf open mmap malloc
else
	echo "skip glib_that_aborts: built without libbabeltrace2"
fi

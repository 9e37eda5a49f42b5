#!/bin/sh
# special.sh - outputs that are a device, a full one, a terminal, a FIFO or a folder: a message, a status, nothing hangs.
# usage: BACKSTITCH=PROGRAM tests/cli/special.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
capture=$root/tests/captures/two-e.data
cd "$dir" || exit 2
"$B" ingest -q --no-symbols -o d.db "$capture" || exit 2
exports='folded json chrome pprof firefox perf.data'
mkfifo fifo
mkdir folder
echo kept >folder/kept

# commands OUT DO: DO NAME COMMAND... for each command that writes OUT
commands() {
	for form in $exports
	do
		$2 "$form" export --format "$form" -o "$1" d.db
	done
	$2 page page -o "$1" d.db
	$2 flame flame -o "$1" d.db
}
databases() {
	$2 ingest ingest -q --no-symbols -f -o "$1" "$capture"
	$2 merge merge -q -f -o "$1" d.db
	$2 bundle bundle -f -o "$1" d.db
}
# refused NAME COMMAND...: status 1 and a message, and it is still there
refused() {
	name=$1
	shift
	timeout -k 1 20 setsid "$B" "$@" </dev/null >out 2>err
	rc=$?
	[ $rc = 1 ] && grep -q '^backstitch: ' err || bad="$bad $name:$rc"
}
# by KIND OUT DO...
by() {
	kind=$1 to=$2 bad=
	shift 2
	for list
	do
		$list "$to" refused
	done
	[ -e "$to" ] || bad="$bad gone"
	is "$kind" '' "$bad"
}
by a_full_device_is_an_error /dev/full commands databases
by no_terminal_is_an_error /dev/tty commands databases
by a_folder_is_no_file folder commands databases
by a_fifo_is_no_database fifo databases
is the_folder_is_as_it_was kept "$(cat folder/kept)"

# waits NAME COMMAND...: says so, until somebody reads or it is told to stop
waits() {
	name=$1
	shift
	"$B" "$@" >out 2>err &
	pid=$!
	soon grep -q '^backstitch: fifo: waits until somebody reads it$' err ||
		bad="$bad $name"
	kill "$pid"
	wait "$pid" 2>err2
	[ $? = 143 ] || bad="$bad $name:stop"
}
bad=
commands fifo waits
is a_fifo_without_a_reader_is_waited_for '' "$bad"
"$B" export --format folded -o fifo d.db 2>err &
soon grep -q waits err
cat fifo >got
wait $!
is and_gets_all_when_there_is_one "$("$B" export --format folded -o - d.db 2>err2)" "$(cat got)"

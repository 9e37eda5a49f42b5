#!/bin/sh
# growth.sh - what took the square of a number of things ends in seconds: tests/bench/growth.py measures how it grows.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/growth.sh; prints "ok NAME" or "not ok NAME" lines.
# Without sanitizers: they take ten times as long
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
[ -x "$MKCAP" ] || {
	echo "skip growth: mkcap is not built"
	exit 0
}
cd "$dir" || exit 2

python3 - "$root" "$B" "$MKCAP" <<'END'
import os
import sys

root, program, mkcap = sys.argv[1:]
sys.path.insert(0, os.path.join(root, "tests/bench"))
import growth_inputs  # noqa: E402

os.mkdir("build")
os.symlink(program, "build/backstitch")
os.symlink(mkcap, "build/mkcap")
for name, kind, n in (("cpus", "CPUs of path", 8000), ("captures", "captures that switch", 300),
                      ("execs", "ends of exec of latency", 60000)):
    args, _ = growth_inputs.KINDS[kind]("build", os.getcwd(), n)
    with open(name, "w", encoding="utf-8") as f:
        f.write(" ".join(args[1:]))
END
# in_time NAME FILE [COMMAND]: the command of FILE, or another one of the same database, within seconds of a processor
in_time() {
	# shellcheck disable=SC2046,SC3045 # words; dash and bash have ulimit -t
	(ulimit -t 3 && exec "$B" $(sed "${3:+s/^path/$3/}" "$2") >out 2>err)
	ok "$1" $?
}
in_time waits_of_8000_cpus cpus
in_time chains_of_8000_cpus cpus 'path --tree'
in_time states_of_8000_cpus cpus sched
in_time off_cpu_of_8000_cpus cpus 'report --off-cpu'
in_time 300_captures_of_one_kernel captures
in_time ends_of_exec_and_open_calls execs
awk 'BEGIN { print "# tracer: nop\n#"; for (i = 0; i < 5000; i++) printf "x-20 [000] ..... 1.%06d: kind%d: a=1\n", i, i }' >kinds.txt
"$B" ingest -q -o kinds.db kinds.txt
for command in report check 'page -o kinds.html' 'flame -o kinds.svg'
do
	echo "$command kinds.db" >kinds
	in_time "${command%% *}_of_5000_kinds_of_events" kinds
done

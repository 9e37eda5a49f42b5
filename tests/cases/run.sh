#!/bin/sh
# run.sh - makes a capture of every case's capture.txt and compares what comes out.
# usage: tests/cases/run.sh [CASE...]
#
# A case is a folder: capture.txt (see tests/mkcap.c, and tests/mkftrace.c for
# forms of ftrace), OUTPUT.expect for every output to compare, and cmd with lines 'OUTPUT: shell command' for outputs
# that are not among the usual ones below. Commands run where cap.data and
# cap.db are. Each case is tried as a little-endian file, a big-endian file
# and a pipe: the outputs must be the same, unless the case's first line says
# '# forms: file ...'. Forms of ftrace are v7, v7big, v6 and text. The capture
# of case x is left in $O/cases/x.data, of ftrace in x.dat.
cd "$(dirname "$0")/../.." || exit 2
ROOT=${ROOT:-$PWD}
here=$ROOT/tests/cases
keep=$ROOT/${O:-build}/cases
mkdir -p "$keep"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
rc=0

sql() {
	sqlite3 -batch -noheader -separator ' ' cap.db "$1"
}

# The usual outputs, all from tables and views that the man page promises.
usual() {
	case $1 in
	script)
		"$BACKSTITCH" script -F comm,pid,tid,cpu,time,event,ip cap.db
		;;
	verdicts)
		sql "SELECT kind, verdict, confidence, n FROM verdicts
			ORDER BY kind DESC, verdict"
		;;
	requests)
		sql "SELECT e.time_ns, t.tid, w.name, r.flags & ~8,
				coalesce(r.latency_ns, '-')
			FROM request r JOIN event e ON e.id = r.event
			JOIN thread t ON t.id = e.thread
			JOIN word w ON w.kind = 'request' AND w.id = r.verdict
			ORDER BY e.id"
		;;
	chains)
		sql "SELECT c.time_ns, t.tid, w.name, c.flags & ~8, c.n_events
			FROM chain c JOIN thread t ON t.id = c.thread
			JOIN word w ON w.kind = 'chain' AND w.id = c.verdict
			ORDER BY c.time_ns, c.id"
		;;
	stacks)
		sql "SELECT e.time_ns, p.pos, coalesce(i.path, '-'),
				printf('%x', f.off)
			FROM event e LEFT JOIN request r ON r.event = e.id
			JOIN raw_chain c ON c.id = coalesce(r.uraw, e.uraw)
			JOIN stack_path p ON p.stack = c.stack
			JOIN frame f ON f.id = p.frame
			JOIN image i ON i.id = f.image
			ORDER BY e.id, p.pos"
		;;
	frames) # by the names that the capture itself says
		sql "SELECT e.time_ns, p.pos, i.path, s.name
			FROM request r JOIN event e ON e.id = r.event
			JOIN raw_chain c ON c.id = r.uraw
			JOIN stack_path p ON p.stack = c.stack
			JOIN frame f ON f.id = p.frame
			JOIN image i ON i.id = f.image
			LEFT JOIN symbol s ON s.id = f.symbol
			ORDER BY e.id, p.pos"
		;;
	folded)
		sql "SELECT event, stack, weight FROM folded ORDER BY 1, 2"
		;;
	loss)
		sql "SELECT what, cpu, coalesce(t0, '-'), coalesce(t1, '-'), n
			FROM loss ORDER BY id"
		;;
	*)
		return 127
		;;
	esac
}

# one CASE FORM OPTIONS...: a capture of this form, and every output of it
one() {
	name=$1
	form=$2
	shift 2
	dir=$work/$name-$form
	mkdir "$dir"
	cd "$dir" || exit 2
	case $form in
	v* | text) make=$MKFTRACE ;;
	*) make=$MKCAP ;;
	esac
	if ! "$make" "$@" "$here/$name/capture.txt" cap.data 2>err
	then
		cat err
		echo "not ok $name as $form: capture.txt"
		return 1
	fi
	case $form in
	file) cp cap.data "$keep/$name.data" ;;
	v7) cp cap.data "$keep/$name.dat" ;;
	esac
	"$BACKSTITCH" ingest --no-symbols -o cap.db cap.data >out 2>err </dev/null
	status=$?
	want=$(sed -n 's/^status: //p' "$here/$name/cmd" 2>/dev/null)
	if [ "$status" != "${want:-0}" ]
	then
		cat err
		echo "not ok $name as $form: ingest ends with $status"
		return 1
	fi
	bad=0
	for expect in "$here/$name"/*.expect
	do
		output=$(basename "$expect" .expect)
		cmd=$(sed -n "s/^$output: //p" "$here/$name/cmd" 2>/dev/null)
		if [ -n "$cmd" ]
		then
			sh -c "$cmd" >"$output.out" 2>"$output.err"
		else
			usual "$output" >"$output.out" 2>"$output.err"
		fi
		if diff -u "$expect" "$output.out"
		then
			echo "ok $name as $form: $output"
		else
			cat "$output.err"
			echo "not ok $name as $form: $output"
			bad=1
		fi
	done
	return $bad
}

[ $# -gt 0 ] || set -- "$here"/*/
for case
do
	case=$(basename "$case")
	forms=$(sed -n '1s/^# forms: //p' "$here/$case/capture.txt")
	for form in ${forms:-file big pipe}
	do
		case $form in
		file) set -- ;;
		big) set -- -b ;;
		pipe) set -- -p ;;
		v7big) set -- -b ;;
		v6) set -- -6 ;;
		text) set -- -t ;;
		v7) set -- ;;
		esac
		one "$case" "$form" "$@" || rc=1
	done
done
exit $rc

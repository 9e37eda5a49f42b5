#!/bin/sh
# check-sql.sh - every query of backstitch-sql(7) runs, and returns a row for at least one capture.
# With LONG it runs for every capture, without until one has a row.
# usage: tests/check-sql.sh [root]; $BACKSTITCH is the program. Silent and 0 if all is well.
# If the capture lacks an event, its table ev_... is missing; that is not an error. Nor is it one if a
# capture has no switches, of which tables could be computed.
cd "${1:-.}" || exit 2
B=${BACKSTITCH:-./backstitch}
[ -x "$B" ] || { echo "$B: not built"; exit 2; }
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cap=tests/captures

make_db() {	# make_db NAME CAPTURE...
	db=$dir/$1.db
	shift
	"$B" ingest -o "$db" --no-cache --symfs $cap/symfs \
		--kallsyms $cap/defer-lost-clock.kallsyms "$@" \
		>"$dir/log" 2>&1 || [ $? = 3 ] || { cat "$dir/log"; exit 1; }
}
make_db task $cap/task-exitexec.data
make_db lost $cap/defer-lost-clock.data.zst
make_db names $cap/dlchurn.data
make_db pair $cap/pair.data $cap/pair.dat.zst
make_db ftrace $cap/ftrace-v7.dat
make_db two $cap/two-e.data $cap/two-f.data.zst
make_db jit --jitdump $cap/jit-13475.dump $cap/jit-reused.data.zst
make_db group $cap/group.data
make_db unwound $cap/tiny-sframe.data
make_db ctf $cap/ctf-discard/trace
make_db missed $cap/ftrace-missed.dat.zst
# with its own names of the kernel
"$B" ingest -q -o "$dir/waits.db" --no-cache $cap/ftrace-v7.dat || exit 1
make_db lock tests/causality/captures/lock.data.zst
make_db locks $cap/locks.data.zst
make_db calls $cap/calls.data.zst

tests/sql-queries.sh "$dir"
n=0
for q in "$dir"/*.sql
do
	n=$((n + 1))
	rows=0
	for db in "$dir"/*.db
	do
		"$B" query --format csv -f "$q" "$db" \
			>"$dir/out" 2>"$dir/err" || {
			grep -q -e 'no such table: ev_' -e \
				'nothing says who left a CPU' "$dir/err" &&
				continue
			echo "query $n, $(basename "$db"):"
			cat "$dir/err" "$q"
			continue
		}
		rows=$((rows + $(wc -l <"$dir/out") - 1))
		# lines for flamegraph.pl are frames and a number
		grep -q folded "$q" && grep -q "|| ' ' ||" "$q" &&
			sed 1d "$dir/out" | grep -qvE '^"?.*[^ ].* [0-9]+"?$' && {
			echo "query $n, $(basename "$db"), is no line of a stack and a number:"
			sed 1d "$dir/out" | grep -vE '^"?.*[^ ].* [0-9]+"?$' | head -1
			cat "$q"
		}
		[ "${LONG:-}" ] || [ $rows = 0 ] || break
	done
	[ "$rows" -gt 0 ] || {
		echo "query $n has no answer anywhere:"
		cat "$q"
	}
done >"$dir/bad"
cat "$dir/bad"
[ "$n" -ge 25 ] || echo "only $n queries found"
[ "$n" -ge 25 ] && [ ! -s "$dir/bad" ]

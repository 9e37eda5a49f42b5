#!/bin/sh
# sql.sh - how long each query of backstitch-sql(7) takes on large databases.
# usage: tests/bench/sql.sh BUILD CAPTURE...; prints the slowest, fails above 2 s
cd "$(dirname "$0")/../.." || exit 2
B=$1/backstitch
shift
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/q"
tests/sql-queries.sh "$dir/q"

# run DB QUERY: its milliseconds and how many rows
run() {
	begun=$(date +%s%N)
	timeout 60 "$B" query --format csv -f "$2" "$1" >"$dir/out" 2>"$dir/err" ||
		grep -q 'no such table: ev_' "$dir/err" || {
		cat "$dir/err" >&2
		echo 99999 0
		return
	}
	echo "$((($(date +%s%N) - begun) / 1000000)) $(($(wc -l <"$dir/out") - 1))"
}

rc=0
for capture
do
	"$B" ingest -f -o "$dir/x.db" --no-cache "$capture" >"$dir/log" 2>&1 || {
		cat "$dir/log"
		exit 1
	}
	for q in "$dir"/q/*.sql
	do
		echo "$(run "$dir/x.db" "$q") $q"
	done | sort -rn >"$dir/times"
	echo "sql: $(wc -l <"$dir/times") queries on $capture," \
		"$("$B" query --format csv "$dir/x.db" \
		'SELECT count(*) FROM event' | tail -n 1) events; the slowest:"
	head -n 5 "$dir/times" | while read -r ms rows q
	do
		printf '  %6d ms %8d rows  %s ...\n' "$ms" "$rows" \
			"$(head -n 1 "$q" | cut -c1-50)"
	done
	awk '$1 > 2000 { bad = 1 } END { exit bad }' "$dir/times" || {
		echo "  more than 2 s"
		rc=1
	}
done
exit $rc

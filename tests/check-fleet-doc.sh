#!/bin/sh
# check-fleet-doc.sh - every table, column and type of a fleet is in backstitch-fleet(7), in its order, and nothing else.
# usage: tests/check-fleet-doc.sh [root]; $BACKSTITCH is the program. Silent and 0 if all is well.
cd "${1:-.}" || exit 2
B=${BACKSTITCH:-./backstitch}
[ -x "$B" ] || { echo "$B: not built"; exit 2; }
page=man/backstitch-fleet.7
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT

"$B" export --format parquet --event-fields -o "$dir/p" --no-symbols \
	tests/captures/fp-1.data >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
for f in "$dir"/p/*.parquet
do
	python3 tests/compare/parquetread.py "$f" >"$dir/columns" || exit 1
	sed "s|^|$(basename "$f" .parquet) |" "$dir/columns"
done >"$dir/built"
[ "$(wc -l <"$dir/built")" -gt 80 ] || { echo "the tables cannot be listed"; exit 1; }

# ".Ss TABLE" and, below it, ".It Va COLUMN Pq TYPE"
awk '/^\.Ss/ { name = $2 }
	/^\.Sh/ { name = "" }
	/^\.It Va/ && name { print name, $3, $5 }' "$page" >"$dir/page"
# the page has the tables in another order
for f in "$dir"/p/*.parquet
do
	grep "^$(basename "$f" .parquet) " "$dir/page"
done >"$dir/said"
version=$(sed -n 's/^#define FLEET_VERSION //p' analyze/fleet/fleet_schema.h)
{
	diff "$dir/said" "$dir/built" |
		sed -n "s|^[<]|$page says:|p; s|^[>]|the files have:|p"
	grep -q "^This page describes version $version of the tables\.\$" "$page" ||
		echo "$page: does not describe version $version"
	[ "$(wc -l <"$dir/page")" = "$(wc -l <"$dir/said")" ] ||
		echo "$page: describes a table that is not there"
} >"$dir/bad"
cat "$dir/bad"
test ! -s "$dir/bad"

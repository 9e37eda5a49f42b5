#!/bin/sh
# check-schema-doc.sh - every table, view and column is in backstitch-schema(5), and nothing else; few enough to list.
# usage: tests/check-schema-doc.sh [root]; $BACKSTITCH is the program. Silent and 0 if all is well.
cd "${1:-.}" || exit 2
B=${BACKSTITCH:-./backstitch}
[ -x "$B" ] || { echo "$B: not built"; exit 2; }
page=man/backstitch-schema.5
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT

"$B" ingest -o "$dir/x.db" --no-symbols tests/captures/fp-1.data \
	>"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
"$B" query --format csv "$dir/x.db" "
	SELECT m.name || ' ' || c.name FROM (SELECT * FROM sqlite_master
		UNION ALL SELECT * FROM sqlite_temp_master) m,
		pragma_table_xinfo(m.name) c
	WHERE m.type IN ('table', 'view') AND m.name NOT GLOB 'ev_*_*'
	AND m.name NOT GLOB 'sqlite_*'
	UNION SELECT m.column1 || ' ' || c.name FROM (VALUES ('blame'), ('call'), ('counter'),
		('interval'), ('state_interval'), ('stay'), ('wait'), ('wake')) m,
		pragma_table_info(m.column1) c" | sed 1d | tr -d '\r"' |
sort -u >"$dir/built"
[ "$(wc -l <"$dir/built")" -gt 200 ] || {
	echo "the schema cannot be listed"
	exit 1
}

# ".Ss TABLE" and, below it, ".It Va COLUMN , Va COLUMN ..."
awk '/^\.Sh/ { name = "" }
	/^\.Ss/ { name = $2 ~ /SYSTEM/ ? "" : $2 }
	/^\.It Va/ && name {
		for (i = 2; i <= NF; i++)
			if ($i != "Va" && $i != ",")
				print name, $i
	}' "$page" | sort >"$dir/said"

# What the sqlite3 shell lists: tables of the capture's own events come on top.
"$B" query --format csv "$dir/x.db" "SELECT name, CASE WHEN type = 'table'
		THEN sql GLOB 'CREATE TABLE *(' || char(10) || '-- [A-Z]*'
		ELSE sql GLOB '* AS' || char(10) || '-- [A-Z]*'
		OR sql GLOB '*' || char(10) || 'AS' || char(10) || '-- [A-Z]*'
		END FROM sqlite_master
	WHERE type IN ('table', 'view') AND name NOT GLOB 'ev_*_*'" | sed 1d |
	tr -d '\r' >"$dir/named"

version=$("$B" query --format csv "$dir/x.db" 'PRAGMA user_version' |
	sed 1d | tr -d '\r')
{
	grep -q "this page describes version $version\.\$" "$page" ||
		echo "$page: does not describe version $version"
	comm -23 "$dir/built" "$dir/said" | sed "s|^|$page: does not have: |"
	comm -13 "$dir/built" "$dir/said" |
		sed "s|^|$page: is not in the schema: |"
	sed -n "s|\(.*\),0\$|schema/sql: \1 does not begin with a comment|p" "$dir/named"
	[ "$(wc -l <"$dir/named")" -le 64 ] ||
		echo "schema/sql: $(wc -l <"$dir/named") tables and views are too many to list"
} >"$dir/bad"
cat "$dir/bad"
test ! -s "$dir/bad"

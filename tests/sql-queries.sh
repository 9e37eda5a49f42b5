#!/bin/sh
# sql-queries.sh - the queries of backstitch-sql(7), each in a file of its own.
# usage: tests/sql-queries.sh DIR [PAGE]: writes DIR/01.sql and so on
page=${2:-$(dirname "$0")/../man/backstitch-sql.7}
awk -v dir="$1" '
	/^\.Bd -literal/ { inside = 1; first = 1; next }
	/^\.Ed/ { inside = 0; query = 0; next }
	inside {
		if (first)
			query = /^(SELECT|WITH)/
		if (first && query)
			file = sprintf("%s/%02d.sql", dir, ++n)
		first = 0
		if (!query)
			next
		sub(/^\\&/, "")
		gsub(/\\e/, "\\")
		print > file
	}' "$page"

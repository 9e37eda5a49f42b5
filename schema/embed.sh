#!/bin/sh
# embed.sh - prints C source that holds SQL files as strings.
# usage: schema/embed.sh FILE.sql...   ->  the tables sql_files and
# query_columns of schema/db/queries.h
# Lines that hold nothing but a comment stay: they are the documentation of
# the views, and named queries are found by theirs.
printf '#include "schema/db/queries.h"\n\nconst struct sql_file sql_files[] = {\n'
for f in "$@"
do
	printf '\t{ "%s",\n' "$(basename "$f" .sql)"
	# {remedies} are those of the table of classes
	awk '$0 != "{remedies}" { print; next }
		{ fflush(); system("awk -v out=sql -f schema/trust_classes.awk" \
			" schema/trust_classes.txt") }' "$f" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/	"/' -e 's/$/\\n"/'
	printf '\t},\n'
done
printf '\t{ 0, 0 }\n};\n'
awk -v out=table -f schema/columns.awk "$@"

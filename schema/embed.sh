#!/bin/sh
# embed.sh - prints C source that holds SQL files as strings.
# usage: schema/embed.sh FILE.sql...   ->  const char sql_FILE[] = "...";
for f in "$@"
do
	name=$(basename "$f" .sql)
	printf 'extern const char sql_%s[];\nconst char sql_%s[] =\n' "$name" "$name"
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/	"/' -e 's/$/\\n"/' "$f"
	printf ';\n'
done

#!/bin/sh
# embed.sh - prints C source that holds text files as strings.
# usage: cli/embed/embed.sh FILE...   ->  const char text_FILE_EXT[] = "...";
# Lines of // comments and the white space before a line are left out.
for f in "$@"
do
	name=$(basename "$f" | tr '.-' '__')
	printf 'extern const char text_%s[];\nconst char text_%s[] =\n' \
		"$name" "$name"
	sed -e 's/^[[:space:]]*//' -e '/^\/\/ /d' -e '/^\/\/$/d' \
		-e '/^$/d' -e 's/\\/\\\\/g' -e 's/"/\\"/g' \
		-e 's/^/	"/' -e 's/$/\\n"/' "$f"
	printf ';\n'
done

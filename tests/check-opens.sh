#!/bin/sh
# check-opens.sh - a database is opened in one place, which guards it: guard_open() of schema/guard/guard.c; so is
# what an input names: named_file_open() of stitch/files/named_file.c, which opens regular files only.
# usage: tests/check-opens.sh [root]; silent and 0 if all is well, one line per breach otherwise.
#
# There is one more for a program of the build, in memory; and one statement of SQL that opens a file,
# by a connection of guard_open(). Comments and what messages say are not looked at. Rooms that read what
# captures and programs name open what the user or this program names by themselves, if it is listed here.
cd "${1:-.}" || exit 2
calls='sqlite3_(open|open16|open_v2|deserialize|backup_init|vfs_register|load_extension) *\('
sql='ATTACH |VACUUM INTO'

# how often, file, text
rooms='analyze formats symbolize'
calls_of_files='(^|[^>._a-zA-Z])(open|open64|openat|creat|fopen|freopen|elf_open|dwfl_begin)\('
expected='1 schema/guard/guard.c sqlite3_open_v2(uri, &conn,
1 schema/guard/guard.c sqlite3_vfs_register(&g->vfs, 0)
1 schema/db/empty_sql.c sqlite3_open(":memory:", &conn)
1 schema/read/redact.c db_prepare(db, "VACUUM INTO ?1", err)
1 symbolize/files/name_cache.c open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
1 symbolize/names/live_modules.c fopen(list, "re")
1 symbolize/unwind/kernel_code.c fopen("/proc/iomem", "re")
1 formats/archive.c openat(dir, name,
1 formats/input.c open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)'
found=$(find analyze cli stitch formats symbolize schema -name '*.[ch]' -o -name '*.sql' | sort |
	xargs grep -nE "\b($calls|$sql)" /dev/null |
	grep -vE ':[0-9]+:[[:space:]]*(/\*|\*|--|"sqlite3_load_extension\(\)")'
# shellcheck disable=SC2086 # a list
find $rooms -name '*.[ch]' | sort | xargs grep -nE "$calls_of_files" /dev/null |
	grep -vE ':[0-9]+:[[:space:]]*(/\*|\*)|/\*.*open')
echo "$expected" | {
	rc=0
	while read -r n file text
	do
		got=$(echo "$found" | grep -F "$file:" | grep -cF "$text")
		[ "$got" = "$n" ] ||
			{ echo "$file: '$text' $got times, tests/check-opens.sh expects $n"; rc=1; }
		found=$(echo "$found" | awk -v file="$file:" -v text="$text" \
			'index($0, file) != 1 || !index($0, text)')
	done
	if [ -n "$found" ]
	then
		echo "$found" | sed 's/$/ # guard_open() opens databases, named_file_open() files/'
		rc=1
	fi
	exit $rc
}

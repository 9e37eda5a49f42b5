#!/bin/sh
# check-headers.sh - every header compiles alone, with gcc and with clang, and none is included twice.
# usage: tests/check-headers.sh [root]; one ok or not ok line per compiler, and one for includes
#
# A header that its own .c file includes before anything else compiles alone
# each time that this file does, which the builds of both compilers show. The
# others are compiled here.
cd "${1:-.}" || exit 2
flags="-std=gnu11 -D_GNU_SOURCE -I. -I${O:-build} -Wall -Wextra -Werror -fsyntax-only
	$(pkg-config --cflags sqlite3 libelf libdw libzstd zlib)"
# by name, so that a file of code comes before its header
# shellcheck disable=SC2016 # of awk
headers=$(find analyze cli formats schema stitch symbolize -name '*.[ch]' | sort | xargs awk '
	FNR == 1 && FILENAME ~ /\.h$/ && first[substr(FILENAME, 1, length(FILENAME) - 2)] != \
		"#include \"" FILENAME "\"" { print FILENAME }
	FILENAME ~ /\.h$/ { nextfile }
	/^#include/ {
		first[substr(FILENAME, 1, length(FILENAME) - 2)] = $0
		nextfile
	}')
rc=0
# A compiler warns of "#pragma once" in the file that it was given: each header is
# included by one.
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
for h in $headers
do
	echo "#include \"$h\"" >"$dir/$(echo "$h" | tr / _).c"
done

# alone COMPILER COMMAND...: with each header as a file of its own
alone() {
	cc=$1
	shift
	if "$@" "$dir"/*.c
	then
		echo "ok headers compile alone with $cc"
	else
		echo "not ok headers compile alone with $cc"
		rc=1
	fi
}
# shellcheck disable=SC2086 # words
alone gcc gcc $flags -x c
# Clang takes as long to start as to compile ten headers: its compiler, which the
# driver starts for each file, takes them all.
# shellcheck disable=SC2086
compiler=$(clang $flags -x c -'###' - 2>&1 </dev/null |
	sed -n '/"-cc1"/s/ "-"$//p')
eval "alone clang ${compiler:-false}"
# What a file includes although its own header does, or mem.h, which comes with
# what goes with memory.
# shellcheck disable=SC2016 # of awk
twice=$(find analyze cli formats schema stitch symbolize -name '*.[ch]' -exec awk -v mem=stitch/base/mem.h '
	/^#include/ {
		gsub(/"/, "", $2)
		has[FILENAME, $2] = 1
		list[FILENAME] = list[FILENAME] " " $2
	}
	END {
		for (f in list) {
			own = f
			sub(/\.c$/, ".h", own)
			memory = has[f, mem] || has[own, mem]
			n = split(list[f], of, " ")
			for (i = 1; i <= n; i++)
				if ((own != f && has[own, of[i]]) || (memory && has[mem, of[i]]))
					print f ": includes " of[i] " twice"
		}
	}' {} +)
if [ -z "$twice" ]
then
	echo "ok no header is included twice"
else
	echo "$twice"
	echo "not ok no header is included twice"
	rc=1
fi
exit $rc

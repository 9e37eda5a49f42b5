#!/bin/sh
# check-headers.sh - every header compiles alone, with gcc and with clang.
# usage: tests/check-headers.sh [root]; one ok or not ok line per compiler
#
# A header that its own .c file includes before anything else compiles alone
# each time that this file does, which the builds of both compilers show. The
# others are compiled here.
cd "${1:-.}" || exit 2
flags=$(pkg-config --cflags sqlite3 libelf libdw libzstd zlib)
headers=$(find cli formats schema stitch symbolize -name '*.h' | sort |
	while read -r h
	do
		first=$(grep -m 1 '^#include' "${h%.h}.c" 2>/dev/null)
		[ "$first" = "#include \"$h\"" ] || printf '%s\n' "$h"
	done)
rc=0
for cc in gcc clang
do
	# shellcheck disable=SC2016 # expanded by the inner shell
	if printf '%s\n' "$headers" | xargs -P "$(nproc)" -n 1 sh -c '
		echo "#include \"$1\"" | $0 -Wall -Wextra -Werror \
			-fsyntax-only -x c - || {
			echo "$1: does not compile alone with ${0%% *}"
			exit 1
		}' "$cc -std=gnu11 -D_GNU_SOURCE -I. -I${O:-build} $flags"
	then
		echo "ok headers compile alone with $cc"
	else
		echo "not ok headers compile alone with $cc"
		rc=1
	fi
done
exit $rc

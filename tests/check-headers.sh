#!/bin/sh
# check-headers.sh - every header compiles alone, with gcc and with clang.
# usage: tests/check-headers.sh [root]; one ok or not ok line per compiler
cd "${1:-.}" || exit 2
flags=$(pkg-config --cflags sqlite3 libelf libdw libzstd zlib json-c)
rc=0
for cc in gcc clang
do
	bad=0
	# shellcheck disable=SC2044 # no name of ours has a blank
	for h in $(find stitch formats symbolize schema cli -name '*.h')
	do
		[ -f "$h" ] || continue
		# shellcheck disable=SC2086 # a list of flags
		echo "#include \"$h\"" | $cc -std=gnu11 -D_GNU_SOURCE -I. \
			-I"${O:-build}" $flags \
			-Wall -Wextra -Werror -fsyntax-only -x c - || {
			echo "$h: does not compile alone with $cc"
			bad=1
		}
	done
	if [ $bad = 0 ]
	then
		echo "ok headers compile alone with $cc"
	else
		echo "not ok headers compile alone with $cc"
		rc=1
	fi
done
exit $rc

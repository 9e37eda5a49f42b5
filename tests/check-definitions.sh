#!/bin/sh
# check-definitions.sh - each name is defined once, and declared by the same words and for other files; no C++ keywords as names.
# usage: tests/check-definitions.sh [--list] [root]
#   silent and 0 when clean, one line per breach otherwise;
#   --list: prints names with several definitions, 'NAME FILE FILE...';
#   the status is 0
# tests/definitions.txt: 'FILE FILE... : reason' for files that define the same
# names because a build uses only one of them.
list=
if [ "$1" = --list ]
then
	list=--list
	shift
fi
cd "${1:-.}" || exit 2
exec python3 tests/definitions.py $list

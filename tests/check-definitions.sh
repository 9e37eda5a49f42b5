#!/bin/sh
# check-definitions.sh - each function name is defined once in the tree; no C++ keywords as names.
# usage: tests/check-definitions.sh [--list] [root]
#   silent and 0 when clean, one line per breach otherwise;
#   --list: a worklist of the second definitions, 'NAME FILE FILE...', and 0
# tests/definitions.txt: 'FILE FILE... : reason' for files of which a build
# takes one, so that they define the same names.
list=
if [ "$1" = --list ]
then
	list=--list
	shift
fi
cd "${1:-.}" || exit 2
exec python3 tests/definitions.py $list

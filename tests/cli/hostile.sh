#!/bin/sh
# hostile.sh - traces of CTF that want memory: at most their size and 68 MiB are taken.
# usage: BACKSTITCH=PROGRAM tests/cli/hostile.sh [NAME...]; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

# sanitizers take as much again for themselves
if nm "$B" 2>/dev/null | grep -q __asan_init
then
	echo "skip hostile: under sanitizers a program takes more memory"
	exit 0
fi
PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/cli/hostile.py" "$B" "$dir" "$@"

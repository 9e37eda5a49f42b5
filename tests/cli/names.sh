#!/bin/sh
# names.sh - a capture whose every name is hostile, through every output.
# usage: BACKSTITCH=PROGRAM tests/cli/names.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/cli/names.py" "$B"

#!/bin/sh
# names.sh - a capture whose every name is hostile, through every output.
# usage: BACKSTITCH=PROGRAM tests/cli/names.sh; prints "ok NAME" or "not ok NAME" lines.
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${BACKSTITCH:-$root/backstitch}
case $B in /*) ;; *) B=$PWD/$B ;; esac
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/cli/names.py" "$B"

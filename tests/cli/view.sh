#!/bin/sh
# view.sh - the screens of view in a terminal, their keys, and that their numbers are those of the other commands.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/view.sh; prints "ok NAME" or "not ok NAME" lines.
# Needs: libncursesw
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
M=$MKCAP
if "$B" view </dev/null 2>&1 | grep -q 'without ncurses'; then
	echo "skip view: this build is without ncurses"
	exit 0
fi
if [ ! -x "$M" ] || ! command -v tmux >/dev/null; then
	echo "skip view: mkcap is not built or tmux is not installed"
	exit 0
fi
PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/cli/view.py" "$B" "$M" "$root" "$dir"

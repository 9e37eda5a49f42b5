#!/bin/sh
# check-circles.sh - no files include or call each other in a circle without a reason.
# usage: tests/check-circles.sh [root]; silent and 0 when clean, one line per breach otherwise.
# tests/circles.txt: 'FILE FILE... : reason'; a file that is no longer in a
# circle must be removed from its line. tests/rooms.py --why A B shows the
# includes and calls behind an arrow.
cd "${1:-.}" || exit 2
exec python3 tests/rooms.py --check circles

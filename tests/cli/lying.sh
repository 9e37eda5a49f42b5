#!/bin/sh
# lying.sh - well-formed CTF, trace.dat and DWARF whose numbers are lies: every command ends, soon and small.
# usage: BACKSTITCH=PROGRAM tests/cli/lying.sh; prints "ok NAME" or "not ok NAME" lines.
# With sanitizers: what it shows is that no lie is a memory error
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
python3 "$root/tests/cli/lying.py" "$B" "$dir"
ok "all lies were told" $?
if command -v cc >/dev/null && [ -x "$MKCAP" ]
then
	python3 "$root/tests/cli/lying_dwarf.py" "$B" "$MKCAP" "$dir"
	ok "all lies of debug information were told" $?
else
	echo "skip lying_dwarf: no compiler or no mkcap"
fi

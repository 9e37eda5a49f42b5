#!/bin/sh
# redact.sh - words planted in every column of a database are not in its redacted copy.
# usage: BACKSTITCH=PROGRAM tests/cli/redact.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
python3 "$root/tests/cli/redact.py" "${BACKSTITCH:-$root/backstitch}" \
	"$root/tests/captures" "$dir"

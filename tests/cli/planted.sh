#!/bin/sh
# planted.sh - files and schemas that somebody planted for who opens a database.
# usage: BACKSTITCH=PROGRAM tests/cli/planted.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
"$B" ingest -q --no-symbols -o "$dir/sound.db" tests/captures/defer-exitexec-s.data.zst || exit 2
python3 tests/cli/planted.py "$B" "$dir/sound.db" "$dir/in"

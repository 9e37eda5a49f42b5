#!/bin/sh
# fleet_hostile.sh - export --format parquet of databases that no ingest makes.
# usage: O=build tests/cli/fleet_hostile.sh
# With sanitizers: rows that no ingest makes
# Needs: libcurl
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

"$B" ingest -q -o "$work/z.db" tests/captures/z-defer.data >/dev/null 2>&1
"$B" ingest -q --fields all -o "$work/f.db" tests/captures/ftrace-v7.dat
python3 tests/cli/fleet_hostile.py "$B" "$work/z.db" "$work/f.db" "$work"
ok "hostile values end in files that can be read, or in a message" $?

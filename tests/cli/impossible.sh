#!/bin/sh
# impossible.sh - every check that calls a value damaged: a capture that fails it, and one that passes.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM MKFTRACE=PROGRAM tests/cli/impossible.sh
# With sanitizers: each damage that a reader names
cd "$(dirname "$0")/../.." || exit 2
exec python3 tests/cli/impossible.py "$@"

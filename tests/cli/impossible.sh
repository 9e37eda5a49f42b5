#!/bin/sh
# impossible.sh - every check that calls a value damaged: a capture that fails it, and one that passes.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM MKFTRACE=PROGRAM tests/cli/impossible.sh
# In both builds: each damage that a reader names is tried under sanitizers, and that
# what is sound beside it has none is seen without
cd "$(dirname "$0")/../.." || exit 2
exec python3 tests/cli/impossible.py "$@"

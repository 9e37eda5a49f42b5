#!/bin/sh
# check-same.sh - each command and option of the program is in a run of same.py, or stands there with the reason why not.
# usage: BACKSTITCH=PROGRAM tests/check-same.sh; silent and 0 if all is well
cd "$(dirname "$0")/.." || exit 2
exec python3 -B tests/same.py --missing --new "${BACKSTITCH:-build/backstitch}"

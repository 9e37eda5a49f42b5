#!/bin/sh
# damage.sh - runs one damage program over the shipped captures.
# usage: tests/damage.sh PROGRAM; the program takes CAPTURE N SEED
#
# N cuts and N flips each; $DAMAGE_N says another number. The seed is fixed, so
# that a failure comes back.
prog=$1
n=${DAMAGE_N:-500}
seed=${DAMAGE_SEED:-7}
rc=0
for f in tests/captures/*.data tests/captures/*/*.data
do
	[ -f "$f" ] || continue
	name=${f#tests/captures/}
	if text=$("$prog" "$f" "$n" "$seed" 2>&1)
	then
		echo "ok $name survives $n cuts and $n flips"
	else
		printf '%s\n' "$text" | tail -n 60
		echo "not ok $name survives $n cuts and $n flips"
		rc=1
	fi
done
exit $rc

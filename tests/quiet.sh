#!/bin/sh
# quiet.sh - makes one test of a script that prints only errors.
# usage: tests/quiet.sh NAME COMMAND...; if the script prints ok lines, these are kept.
name=$1
shift
text=$("$@" 2>&1)
rc=$?
[ -z "$text" ] || printf '%s\n' "$text"
printf '%s\n' "$text" | grep -qE '^(ok|not ok|skip) ' && exit $rc
if [ $rc = 0 ] && printf '%s\n' "$text" | grep -q skipped
then
	echo "skip $name: $text"
elif [ $rc = 0 ]
then
	echo "ok $name"
else
	echo "not ok $name"
fi
exit $rc

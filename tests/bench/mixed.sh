#!/bin/sh
# mixed.sh - what a busy system does at once, to record: threads that compute, and a shell whose processes come and go.
# usage: tests/bench/mixed.sh LOAD SECONDS
end=$(($(date +%s) + $2))
"$1" "$2" 2 &
while [ "$(date +%s)" -lt "$end" ]
do
	find /usr/share/doc -name 'a*' >/dev/null
	ls -lR /usr/include >/dev/null
	for _ in 1 2 3 4 5 6 7 8 9 10
	do
		/bin/true
	done
done
wait

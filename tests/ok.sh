#!/bin/sh
# ok.sh - prints the result of a shell test as a line that run.sh counts.
# usage: . tests/ok.sh

# ok NAME STATUS
ok() {
	if [ "$2" = 0 ]
	then
		echo "ok $1"
	else
		echo "not ok $1"
	fi
}

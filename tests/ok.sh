#!/bin/sh
# ok.sh - how shell tests say what passed: a line for each, as run.sh counts them.
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

#!/bin/sh
# kinds.sh - the loads that kinds.py records: what people profile.
# usage: tests/bench/kinds.sh LOAD FOLDER AMOUNT
#   compile: AMOUNT files of this project, two at a time
#   server: Python's, with 4 clients that ask AMOUNT times each
#   short: AMOUNT processes that end at once, from two shells
#   node, java: AMOUNT rounds of a program that has been built in FOLDER
#   system: compile, server and short in turn for AMOUNT seconds, beside mixed.sh
#   threads: the same with threads that wake each other in place of those that compute
# $LOAD is the program load.c, $BUILD the folder with generated headers.
folder=$2
n=$3

compile() {
	# shellcheck disable=SC2046 # flags are words
	printf '%s\n' analyze/*/*.c cli/*/*.c formats/*/*.c symbolize/*/*.c | head -n "$1" |
		xargs -n 1 -P 2 gcc -std=gnu11 -D_GNU_SOURCE -I. -I"$BUILD" -O2 -S -o /dev/null \
			$(pkg-config --cflags json-c)
}

# CLIENT N: each answer is another thread of the server
CLIENT='import http.client, sys, threading
def ask(port, n):
    for i in range(n):
        c = http.client.HTTPConnection("127.0.0.1", port)
        c.request("GET", ("/", "/cli/", "/README.md")[i % 3])
        c.getresponse().read()
port = int(sys.argv[1])
for t in [threading.Thread(target=ask, args=(port, int(sys.argv[2])))
          for _ in range(4)]:
    t.start()'

server() {
	at=$(mktemp)
	python3 -u -m http.server 0 --bind 127.0.0.1 >"$at" 2>/dev/null &
	until port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$at") && [ -n "$port" ]
	do
		sleep 0.1
	done
	python3 -c "$CLIENT" "$port" "$1"
	kill $!
	rm "$at"
}

short() {
	for _ in 1 2
	do
		(
			i=0
			while [ $i -lt $(($1 / 2)) ]
			do
				/bin/true
				i=$((i + 1))
			done
		) &
	done
	wait
}

case $1 in
compile | server | short) "$1" "$n" ;;
node)
	# the dump is beside the program
	cd "$folder" && rm -f jit-*.dump &&
		exec node --perf-prof --interpreted-frames-native-stack \
			orders.js "$n"
	;;
java)
	echo $$ >"$folder/pid"
	exec java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions \
		-XX:+DumpPerfMapAtExit -cp "$folder" orders "$n"
	;;
turns)
	while :
	do
		compile 40
		server 500
		short 500
	done
	;;
system)
	timeout "$n" "$0" turns . 0 &
	tests/bench/mixed.sh "$LOAD" "$n"
	wait
	;;
threads)
	timeout "$n" perf bench sched pipe -l $((n * 20000)) >/dev/null &
	timeout "$n" perf bench sched messaging -l $((n * 50)) >/dev/null &
	timeout "$n" "$0" turns . 0
	wait
	;;
esac

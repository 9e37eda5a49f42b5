#!/bin/sh
# kinds.sh - the loads that kinds.py records: what people profile.
# usage: tests/bench/kinds.sh LOAD FOLDER AMOUNT
#   compile: AMOUNT files of this project, two at a time
#   build: this project by make, two at a time, for AMOUNT seconds at most
#   server: Python's, with 4 clients that ask AMOUNT times each
#   pool: the same with 200 threads that wait for work, and 16 clients
#   short: AMOUNT processes that end at once, from two shells
#   script: a shell script that starts AMOUNT processes: ls, sed, subshells, true
#   node, java: AMOUNT rounds of a program that has been built in FOLDER
#   system: compile, server and short in turn for AMOUNT seconds, beside mixed.sh
#   threads: the same with threads that wake each other in place of those that compute
# $LOAD is the program load.c, $BUILD the folder with generated headers.
folder=$2
n=$3

compile() {
	# shellcheck disable=SC2046 # flags are words
	printf '%s\n' analyze/*/*.c cli/*/*.c formats/*/*.c symbolize/*/*.c | head -n "$1" |
		xargs -n 1 -P 2 gcc -std=gnu11 -D_GNU_SOURCE -DCODE_RULES=0 -I. -I"$BUILD" -O2 -S \
			-o /dev/null $(pkg-config --cflags json-c)
}

build() {
	rm -rf "$folder"
	timeout "$1" make -s -j2 LTO= CCACHE= O="$folder" all >/dev/null 2>&1 || true
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

# POOL N: a server whose threads are there before, and its clients
POOL='import http.client, http.server, queue, sys, threading
class Pool(http.server.HTTPServer):
    request_queue_size = 128
    todo = queue.Queue()
    def process_request(self, *request):
        self.todo.put(request)
    def work(self):
        while True:
            request, at = self.todo.get()
            self.finish_request(request, at)
            self.shutdown_request(request)
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass
s = Pool(("127.0.0.1", 0), Quiet)
for work in [s.work] * 200 + [s.serve_forever]:
    threading.Thread(target=work, daemon=True).start()
def ask(n):
    for i in range(n):
        c = http.client.HTTPConnection("127.0.0.1", s.server_port)
        c.request("GET", ("/", "/cli/", "/README.md")[i % 3])
        c.getresponse().read()
        c.close()
clients = [threading.Thread(target=ask, args=(int(sys.argv[1]),)) for _ in range(16)]
for t in clients:
    t.start()
for t in clients:
    t.join()'

pool() {
	python3 -c "$POOL" "$1"
}

script() {
	i=0
	while [ $i -lt $(($1 / 5)) ]
	do
		x=$(echo "$i" | sed 's/1/2/')
		ls /usr/include >/dev/null
		/bin/true "$x"
		i=$((i + 1))
	done
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
compile | build | server | pool | short | script) "$1" "$n" ;;
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

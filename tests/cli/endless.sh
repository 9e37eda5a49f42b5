#!/bin/sh
# endless.sh - what has no end, or grows faster than it should: replies of servers, descriptions of events.
# usage: BACKSTITCH=PROGRAM tests/cli/endless.sh; prints "ok NAME", "not ok NAME" or "skip NAME" lines.
# In both builds: replies and expressions want harm under sanitizers, and what grows is
# timed without them, which is quicker and sees it sooner
# Needs: libcurl
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
NO_COLOR=1 XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME
"$B" ingest -q --no-symbols -o a.db "$root/tests/captures/fp-1.data"

cat >server.py <<'END'
"""Runs commands against a server that sends a byte now and then, for ever, or
as much as there is room for; in 100 MB of memory, if it is a limit."""
import gzip
import resource
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib

B, LIMITED = sys.argv[1], sys.argv[2] == "yes"
OK, NO = b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 500 No\r\n"
CHUNKS = b"Transfer-Encoding: chunked\r\n\r\n"
PACKED = b"Content-Encoding: gzip\r\n" + CHUNKS
GZIP = b"\x1f\x8b\x08\0\0\0\0\0\0\3"
MIB = 1 << 20
VERSION = gzip.compress(struct.pack("<QQ", 23, 8))

def packed(first, again):
    """What comes first, and again and again, in one stream of gzip."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return [packer.compress(x) + packer.flush(zlib.Z_FULL_FLUSH) for x in (first, again)]

# name: the head, what comes first, what comes again and again, seconds in
# between, the timeout, and what report says
SERVERS = {
    "a_refusal": (NO + CHUNKS, GZIP, b"\2", 0.2, 2, ""),
    "a_reply": (OK + PACKED, GZIP, b"\2", 0.2, 2, ""),
    "a_fast_refusal": (NO + CHUNKS, b"x", b"x" * MIB, 0, 2, ""),
    # a run, whose host has 64 MiB
    "a_row": (OK + PACKED, *packed(bytes(18) + b"\x80\x80\x80\x20", b"x" * MIB), 0, 30,
              "row 1 of the reply has more than 67108864 bytes"),
    "a_fast_reply": (OK + PACKED, *packed(bytes(MIB), bytes(MIB)), 0, 2, ""),
}

def send(conn, head, first, again, pause):
    try:
        # the fast ones say first what they are
        while b"version()" in conn.recv(65536) and not pause:
            conn.sendall(OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s"
                         % (len(VERSION), VERSION))
        conn.sendall(head + b"%x\r\n%s\r\n" % (len(first), first))
        again = b"%x\r\n%s\r\n" % (len(again), again)
        while True:
            conn.sendall(again)
            time.sleep(pause)
    except OSError:
        pass

def serve(sock, *what):
    while True:
        conn, _ = sock.accept()
        threading.Thread(target=send, args=(conn, *what), daemon=True).start()

def limit():
    if LIMITED:
        resource.setrlimit(resource.RLIMIT_DATA, (100 * MIB, 100 * MIB))

for name, (*what, seconds, says) in SERVERS.items():
    sock = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(sock, *what), daemon=True).start()
    url = "clickhouse://127.0.0.1:%d/f" % sock.getsockname()[1]
    for command in (["push", "--retry", "0", url, "a.db"], ["report", url]):
        try:
            r = subprocess.run([B, command[0], "--timeout", str(seconds), *command[1:]],
                               timeout=60, stderr=subprocess.PIPE, text=True,
                               preexec_fn=limit)
            good = r.returncode == 1 and "127.0.0.1" in r.stderr
            good = good and (command[0] == "push" or says in r.stderr)
            said = r.stderr
        except subprocess.TimeoutExpired:
            good, said = False, "it did not end"
        print("%s %s_without_end_holds_%s_for_its_timeout"
              % ("ok" if good else "not ok", name, command[0]))
        if not good:
            print("#", said)
END
# sanitizers reserve more than there is
limited=yes
! grep -q __asan_init "$B" || limited=no
[ "$limited$LONG" = yes ] || python3 server.py "$B" $limited

# events without end in the stream of a pipe: twice as many take twice as long
cat >attrs.py <<'END'
import struct
import sys

n = int(sys.argv[1])
with open(sys.argv[2], "wb") as out:
    out.write(struct.pack("<8sQ", b"PERFILE2", 16))
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 4000, 0x10007, 4, 1 << 18)
    for i in range(n):
        out.write(struct.pack("<IHH", 64, 0, 128) + attr + bytes(64) +
                  struct.pack("<Q", 1000 + i))
    for i in range(100):
        out.write(struct.pack("<IHHQQIIQ", 9, 0, 40, 1000 + i, 0x1000, 1, 1,
                              100 + i))
END
took() {	# took N: the processor time of an ingest, in ms
	python3 attrs.py "$1" attrs.data
	python3 - "$B" <<'END'
import resource
import subprocess
import sys

subprocess.run([sys.argv[1], "ingest", "-q", "-f", "--no-symbols", "-o",
                "attrs.db", "attrs.data"], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1000 * (used.ru_utime + used.ru_stime)))
END
}
if [ $limited = yes ]
then
	few=$(took 15000)
	many=$(took 60000)
	# 1.5 times as much for each of them
	if [ "$many" -le $((few * 6)) ]
	then echo "ok events_take_time_by_their_number"
	else echo "not ok events_take_time_by_their_number: 15,000: $few ms, 60,000: $many ms"
	fi
	[ "$LONG" ] || exit 0
fi

# expressions that the C library writes out to gigabytes, or tries all ways of;
# others that look like them are fine
seconds=5 kib=200000
[ $limited = yes ] || seconds=50 kib=unlimited
expression() {	# expression STATUS SAYS TEXT: in 5 s and 200 MB
	for option in --include --exclude --library
	do
		(
			# shellcheck disable=SC3045 # dash and bash have it
			ulimit -t "$seconds" && ulimit -d "$kib"
			"$B" flame -o out.svg $option "$3" a.db >out 2>err
		)
		# shellcheck disable=SC2254 # 1 or 0 is [01]
		case $? in
		$1) grep -q -- "$2" err || [ -z "$2" ] ;;
		*) false ;;
		esac && bad='' || bad='not '
		printf '%sok expression_%s_%.30s\n' "$bad" "${option#--}" "$3"
		[ -z "$bad" ] || sed 's/^/# /' err
	done
}
large='too large: with its repeats written out it has more than 10000 characters'
expression 2 "$large" '((a{1,100}){1,100}){1,100}'
expression 2 "$large" '((((a{0,9}){0,9}){0,9}){0,9}){0,9}'
expression 2 "$large" 'a{1,255}{1,255}'
expression 2 "$large" 'a{100}*{101}'
expression 2 "$large" '[]a{1}]{200}{200}'
expression 2 "$large" "$(printf '(%.0s' $(seq 200))a$(printf ')%.0s' $(seq 200))"
expression 2 'refers back to a group' '(a*)*\1*\1*\1b'
expression 2 'is no regular expression' '((a)'
# 1: no stack is left
expression '[01]' '' '(a+)+x$'
expression '[01]' '' '(a|a)*b'
expression '[01]' '' '(.*)(.*)(.*)(.*)(.*)[^a]$'
expression '[01]' '' '[{][0-9]{3,4}\\1{2}'

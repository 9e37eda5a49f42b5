#!/bin/sh
# tls.sh - servers whose certificates are not right: nothing is sent to them.
# usage: BACKSTITCH=PROGRAM tests/cli/tls.sh; prints "ok NAME", "not ok NAME" or "skip NAME" lines.
# Needs: libcurl
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
command -v openssl >log || {
	echo "skip tls: openssl is not installed"
	exit 0
}
NO_COLOR=1 XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME
unset CURL_CA_BUNDLE SSL_CERT_FILE SSL_CERT_DIR
"$B" ingest -q --no-symbols -o a.db "$root/tests/captures/fp-1.data"

issuer() {	# issuer NAME: NAME.pem and NAME.key
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.pem" -days 30 \
		-subj "/CN=$1" -addext basicConstraints=critical,CA:TRUE >>log 2>&1
}
certificate() {	# certificate NAME ISSUER DAYS SUBJECT-NAME
	echo "subjectAltName=$4" >ext
	openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" >>log 2>&1 &&
		openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial \
			-days "$3" -extfile ext -out "$1.pem" >>log 2>&1
}
make_all() {
	issuer known && issuer unknown && certificate right known 30 DNS:localhost &&
		certificate wrong_name known 30 DNS:example.org &&
		certificate number_only known 30 IP:127.0.0.9 &&
		certificate expired known -1 DNS:localhost &&
		certificate unknown_issuer unknown 30 DNS:localhost
}
make_all || {
	echo "skip tls: no certificates can be made: $(tail -n 1 log)"
	exit 0
}
openssl req -x509 -newkey rsa:2048 -nodes -keyout itself.key -out itself.pem -days 30 \
	-subj /CN=localhost -addext subjectAltName=DNS:localhost >>log 2>&1

cat >server.py <<'END'
"""Asks servers with each of these certificates, and tells what they received."""
import socket
import ssl
import subprocess
import sys
import threading

SECRET = "geheim"

def serve(sock, name, got):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(name + ".pem", name + ".key")
    while True:
        conn, _ = sock.accept()
        try:
            with context.wrap_socket(conn, server_side=True) as tls:
                got.append(tls.recv(65536))
                tls.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 7\r\n\r\nreached")
        except OSError:
            pass

with open("password", "w", encoding="ascii") as f:
    f.write(SECRET + "\n")
for name in ("right", "wrong_name", "number_only", "expired", "unknown_issuer", "itself"):
    sock = socket.create_server(("127.0.0.1", 0))
    got = []
    threading.Thread(target=serve, args=(sock, name, got), daemon=True).start()
    url = "clickhouses://user@localhost:%d/f" % sock.getsockname()[1]
    for command in (["push", "--retry", "0", url, "a.db"], ["report", url]):
        del got[:]
        r = subprocess.run([sys.argv[1], *command, "--ca-file", "known.pem",
                            "--password-file", "password", "--timeout", "10"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           timeout=60)
        data = b"".join(got)
        if name == "right":
            good = r.returncode == 1 and SECRET.encode() in data and "reached" in r.stderr
            what = "is_answered"
        else:
            good = r.returncode == 1 and not data and "no TLS" in r.stderr
            what = "gets_nothing"
        print("%s a_certificate_%s_%s_of_%s" % ("ok" if good else "not ok", name, what,
                                                command[0]))
        if not good:
            print("#", r.returncode, data[:200], r.stderr)
END
PYTHONDONTWRITEBYTECODE=1 python3 server.py "$B"

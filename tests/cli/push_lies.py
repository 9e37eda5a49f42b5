# push_lies.py - a server whose answers, heads and reasons command terminals; push shows them, and obeys none.
"""usage: push_lies.py PROGRAM DB; prints "ok NAME" or "not ok NAME" lines"""

import http.server
import re
import subprocess
import sys
import threading

EVIL = (b"\x1b[31mred", b"\x1b]52;c;RVZJTA==\x07", b"\x9b2J", b"\xc2\x9b2J",
        b"a\rb", b"\x08\x08\x7f", b"\xe2\x80\xae\xe2\x81\xa6", b"\x1bc\x1b[2J",
        b"line\nbackstitch: another", b"%s%n%p", b"\xff\xfe\x1b", b"x\x1b[6n" * 300)
# Control characters, of C1 too, and what turns the direction of text.
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Liar(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    evil, status, asked = b"", 200, 0

    def do_POST(self):
        Liar.asked += 1
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        head = Liar.evil.replace(b"\n", b" ")
        self.wfile.write(
            b"HTTP/1.0 %d %s\r\nX-ClickHouse-Server-Display-Name: %s\r\n"
            b"X-ClickHouse-Exception-Code: %s\r\nContent-Type: text/plain; %s\r\n"
            b"\r\nCode: 60. DB::Exception: %s (%s) (version %s)\n" % (
                Liar.status, head[:200], head[:200], head[:50], head[:200],
                Liar.evil, Liar.evil, Liar.evil))

    do_GET = do_POST

    def log_message(self, *args):
        pass


def main():
    program, db = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "clickhouse://127.0.0.1:%d/f" % server.server_port
    bad = []
    for Liar.status in (200, 404, 500, 516):
        for Liar.evil in EVIL:
            for args in (["push", "--retry", "0", url, db],
                         ["push", "--create", "--retry", "0", url, db],
                         ["report", url]):
                r = subprocess.run([program, *args], stdin=subprocess.DEVNULL,
                                   capture_output=True, timeout=60, check=False)
                said = (r.stdout + r.stderr).decode("utf-8", "surrogateescape")
                if r.returncode not in (1, 2) or not said.startswith("backstitch: "):
                    bad.append((args[0], Liar.status, r.returncode, said))
                if RAW.search(said) or "\nbackstitch: another" in said:
                    bad.append((args[0], Liar.status, Liar.evil, said))
    server.shutdown()
    print("%sok a server's words are shown and not obeyed" % (
        "not " if bad or Liar.asked < 100 else ""))
    for b in bad[:4]:
        print("# %s" % ascii(b)[:400])
    print("# %d answers" % Liar.asked)


main()

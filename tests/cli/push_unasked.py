# push_unasked.py - a server that answers with keys that push did not ask for, or with one more than once.
"""usage: push_unasked.py PROGRAM DB; prints "ok NAME" or "not ok NAME" lines"""

import gzip
import http.server
import re
import struct
import subprocess
import sys
import threading
import urllib.parse

TABLES = {}


def text(s):
    return bytes([len(s)]) + s.encode()


class Server(http.server.BaseHTTPRequestHandler):
    """Takes the tables that push makes, and answers what asks for `lie` with
    rows made by it of the keys of the request."""
    protocol_version = "HTTP/1.0"
    lie, make = "", None

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urllib.parse.parse_qs(self.path.partition("?")[2])
        sql = url["query"][0] if "query" in url else body.decode()
        made = re.match(r"CREATE TABLE IF NOT EXISTS `(\w+)` \((.*)\) ENGINE", sql)
        if made:
            TABLES[made[1]] = re.findall(r"`(\w+)` (\w+(?:\(\w+\))?)", made[2])
        out = b""
        if "version()" in sql:
            out = struct.pack("<QQ", 23, 8)
        elif "FROM system.columns" in sql:
            out = b"".join(text(t) + text(n) + text(y)
                           for t, columns in TABLES.items() for n, y in columns)
        elif Server.lie and Server.lie in sql:
            keys = body.partition(b"\r\n\r\n")[2].rpartition(b"\r\n--")[0]
            out = Server.make(keys)
        elif "count()" in sql or "max(version)" in sql:
            out = b"" if sql.startswith("SELECT toUInt8(") else bytes(8)
        self.send_response(200)
        if "SELECT" in sql:
            self.send_header("Content-Encoding", "gzip")
            out = gzip.compress(out, 1)
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        try:
            self.wfile.write(out)
        except OSError:
            pass  # it has heard enough

    def log_message(self, *args):
        pass


def main():
    program, db = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "clickhouse://127.0.0.1:%d/f" % server.server_port

    def push(*more):
        return subprocess.run([program, "push", *more, "--retry", "0", url, db],
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60, check=False, text=True)

    push("--create")  # its other replies are not a server's: for the tables alone
    stacks, names = "FROM `stack` WHERE", "FROM `name` WHERE"
    for name, lie, make, refused in (
            ("a_stack_that_was_asked_for_is_known", stacks, lambda k: k[:16], False),
            ("a_stack_that_was_not_asked_for", stacks, lambda k: bytes(range(16)), True),
            ("a_stack_twice", stacks, lambda k: k[:16] * (len(k) // 16 + 1), True),
            ("stacks_as_many_as_fit", stacks,
             lambda k: b"".join(struct.pack("<QQ", i, i) for i in range(1 << 20)), True),
            ("a_name_that_was_asked_for_is_known", names, lambda k: k[:8] + b"\3", False),
            ("a_name_that_was_not_asked_for", names, lambda k: b"unknown!\3", True),
            ("a_name_twice", names, lambda k: (k[:8] + b"\3") * (len(k) // 8 + 1), True)):
        Server.lie, Server.make = lie, make
        r = push("--dry-run")
        said = "rows that were not asked for" in r.stderr
        good = said and r.returncode == 1 if refused else not said and not r.returncode
        print("%sok %s%s" % ("" if good else "not ", name, "_is_refused" if refused else ""))
        if not good:
            print("# %d %s" % (r.returncode, ascii(r.stderr + r.stdout)[:400]))
    server.shutdown()


main()

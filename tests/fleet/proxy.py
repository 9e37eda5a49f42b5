"""proxy.py - what can stand between a client and a server: a network that is slow
and breaks, and replies that are not the server's."""
import gzip
import http.client
import http.server
import random
import socket
import ssl
import threading
import urllib.parse


def lend(data):
    """A length as RowBinary has it."""
    out = bytearray()
    while data > 127:
        out.append(data & 127 | 128)
        data >>= 7
    return bytes(out + bytes([data]))


class Broken:
    """Passes bytes to a server, slowly; breaks connections after random numbers
    of bytes, `cuts` times in all. Tells in `broken` how often it did."""

    def __init__(self, url, seed, cuts):
        at = urllib.parse.urlparse(url)
        self.to = (at.hostname, at.port)
        self.random = random.Random(seed)
        self.cuts = cuts
        self.broken = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = "clickhouse://127.0.0.1:%d" % self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *ignored):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(self.to)
            except OSError:
                return
            with self.lock:
                left = [None]
                if self.broken < self.cuts and self.random.random() < 0.6:
                    self.broken += 1
                    # the head of a request is about 700 bytes
                    left = [self.random.choice((300, 900, 5000, 60000, 900000))
                            + self.random.randrange(300)]
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self.carry, args=(a, b, left),
                                 daemon=True).start()

    def carry(self, a, b, left):
        """left: bytes of both directions until the connection breaks."""
        try:
            while True:
                data = a.recv(16384)
                if left[0] is not None:
                    data = data[:max(left[0], 0)]
                    left[0] -= len(data)
                if not data:
                    break
                # 40 MB/s
                threading.Event().wait(len(data) / 4e7)
                b.sendall(data)
                if left[0] is not None and left[0] <= 0:
                    break
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def hostile_replies(rnd):
    """What a server could say in place of a right reply: (status, headers, body,
    length that is told)."""
    packed = {"Content-Encoding": "gzip"}
    noise = rnd.randbytes(rnd.randrange(1, 400))

    def whole(body, head=packed, status=200):
        return status, head, body, len(body)

    def flipped(good):
        bad = bytes(b ^ (rnd.random() < 0.02) << rnd.randrange(8) for b in good)
        # of a short one all bits may have stayed
        return bad if len(good) > 60 and bad != good else noise

    return [
        lambda good: (200, packed, good[:len(good) // 2], len(good) // 2),
        lambda good: (200, packed, good[:len(good) // 2], len(good)),
        lambda good: whole(flipped(good)),
        lambda good: whole(good + b"more"),
        lambda good: whole(noise),
        lambda good: whole(noise, {}),
        lambda good: whole(gzip.compress(noise)),
        lambda good: whole(gzip.compress(lend(1 << 40))),
        lambda good: whole(gzip.compress(lend((1 << 62) + 5) + noise)),
        lambda good: whole(gzip.compress(b"\xff" * 30)),
        lambda good: whole(gzip.compress(b"\x05" + bytes(200 << 10))),
        lambda good: whole(b"", {}, 200),
        lambda good: whole(b"", {}, 500),
        lambda good: whole(b"Code: 99999999999999999999, e.displayText() = ",
                           {}, 500),
        lambda good: whole(b"\x00\xff%s%n\x1b[31m" + noise, {}, 404),
        lambda good: whole(b"A" * 100000, {}, 500),
        lambda good: whole(noise, packed, 500),
        lambda good: whole(b"", {"Location": "file:///etc/passwd"}, 302),
    ]


class Hostile:
    """Passes requests on, but gives reply number `at`, or all replies to
    statements that have the text `at`, as `change` makes it; certificate: with
    TLS; kept: replies by request, which are given again, and added to: for
    statements that change nothing."""

    def __init__(self, url, at=-1, change=None, certificate=None, kept=None):
        to = urllib.parse.urlparse(url)
        proxy = self
        self.count = 0
        self.changed = False
        self.asked = b""  # what the last reply that was changed answers
        lock = threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # the body of a reply does not wait until its head has arrived
            disable_nagle_algorithm = True

            def ask(self, body):
                # what separates the parts of a body is random
                between = self.headers.get_boundary("").encode()
                key = self.path, body.replace(between, b"") if between else body
                if kept is not None and key in kept:
                    return kept[key]
                c = http.client.HTTPConnection(to.hostname, to.port)
                c.request("POST", self.path, body, dict(self.headers))
                r = c.getresponse()
                packing = r.headers["Content-Encoding"]
                head = {"Content-Encoding": packing} if packing else {}
                reply = r.status, head, r.read()
                c.close()
                if kept is not None and r.status == 200:
                    kept[key] = reply
                return reply

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, head, good = self.ask(body)
                size = len(good)
                said = urllib.parse.unquote_plus(self.path) + body.decode(
                    "utf-8", "replace")
                with lock:
                    mine = (proxy.count == at if isinstance(at, int)
                            else at in said)
                    proxy.count += 1
                if mine:
                    proxy.changed = True
                    proxy.asked = body
                    status, head, good, size = change(good)
                    self.close_connection = True
                self.send_response(status)
                for k, v in head.items():
                    self.send_header(k, v)
                self.send_header("Content-Length", str(size))
                self.end_headers()
                self.wfile.write(good)

            def log_message(self, *ignored):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *ignored):
                pass  # a client that does not trust us

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(certificate)
            self.server.socket = tls.wrap_socket(self.server.socket,
                                                 server_side=True)
        self.url = "%s://127.0.0.1:%d" % (
            "clickhouses" if certificate else "clickhouse",
            self.server.server_port)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever,
                         kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *ignored):
        self.server.shutdown()
        self.server.server_close()

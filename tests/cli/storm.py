# storm.py - pipes and a server, from which bytes come one by one, and a signal with each that interrupts what waits.
"""usage: storm.py PROGRAM SHIM STREAM DB DIR; prints "ok NAME" or "not ok NAME" lines

SHIM is tests/faults/shim.c: its handler of SIGUSR1 does not restart calls. The same without signals is what is expected."""

import http.server
import os
import signal
import subprocess
import sys
import threading

PROGRAM, SHIM, STREAM, DB, DIR = sys.argv[1:]
FIFO = os.path.join(DIR, "fifo")
PIECE = 64


class Child(subprocess.Popen):
    def __init__(self, storm, *args, stdin=subprocess.DEVNULL):
        env = {**os.environ, "LD_PRELOAD": SHIM, "FAULT_KIND": "storm", "FAULT_AT": "1"}
        super().__init__([PROGRAM, *args], env=env if storm else None, stdin=stdin,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.ready, self.signals = False, 0
        while storm and not self.ready and self.poll() is None:
            with open("/proc/%d/status" % self.pid, encoding="utf-8") as f:
                self.ready = bool(int(f.read().split("SigCgt:")[1].split()[0], 16) >> signal.SIGUSR1 - 1 & 1)

    def interrupt(self):
        if self.ready and self.poll() is None:
            self.send_signal(signal.SIGUSR1)
            self.signals += 1


def streamed(storm, *args):
    """What a command makes of a pipe: status, what it says, and the stored samples."""
    into = os.path.join(DIR, "into")
    subprocess.run(["rm", "-rf", into], check=True)
    fifo = args[-1] == FIFO
    p = Child(storm, *args[:-1], "-q", "--no-symbols", "-o", into, args[-1],
              stdin=subprocess.DEVNULL if fifo else subprocess.PIPE)
    with open(STREAM, "rb") as f, open(FIFO if fifo else p.stdin.fileno(), "wb", buffering=0, closefd=fifo) as to:
        for piece in iter(lambda: f.read(PIECE), b""):
            try:
                to.write(piece)
            except BrokenPipeError:  # it has ended, and says why
                break
            p.interrupt()
    # closes standard input, too
    out, err = p.communicate(timeout=60)
    shown = subprocess.run([PROGRAM, "script", into], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return (p.returncode, out, err, shown.returncode, shown.stdout), p.signals


class Slow(http.server.BaseHTTPRequestHandler):
    child, asked = None, []

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        Slow.asked.append(len(body))
        answer = b"HTTP/1.0 404 Not Found\r\nContent-Type: text/plain\r\n\r\nCode: 81. DB::Exception: no such database\n"
        for i in range(len(answer)):
            self.wfile.write(answer[i:i + 1])
            if Slow.child:
                Slow.child.interrupt()

    do_GET = do_POST

    def log_message(self, *args):
        pass


def pushed(storm, url):
    Slow.asked = []
    Slow.child = Child(storm, "push", "--retry", "0", url, DB)
    out, err = Slow.child.communicate(timeout=60)
    return (Slow.child.returncode, out, err, Slow.asked), Slow.child.signals


def tell(name, run, *args):
    want, _ = run(False, *args)
    got, signals = run(True, *args)
    print("%sok %s" % ("not " if got != want or signals < 50 else "", name))
    if got != want:
        print("# %.300r\n# in place of\n# %.300r" % (got, want))
    print("# %d signals" % signals)


def main():
    os.mkfifo(FIFO)
    tell("a_pipe_is_read_whole_while_signals_interrupt", streamed, "ingest", "-f", "-")
    tell("a_fifo_is_followed_whole", streamed, "follow", "--segment", "1G", FIFO)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tell("a_server_that_answers_slowly_is_heard_to_the_end", pushed,
         "clickhouse://127.0.0.1:%d/f" % server.server_port)
    server.shutdown()


main()

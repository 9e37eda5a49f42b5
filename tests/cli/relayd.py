#!/usr/bin/env python3
"""A relay daemon of LTTng with one live session, made of a folder of CTF.
usage: relayd.py TRACE MODE; prints its port.

The packets are those of the index files. MODE is whole, cut (the connection ends
within the second packet, and the next one is whole), head (it ends before the
first byte of the third packet), or a hostile reply: sessions, streams, metadata,
packet."""
import glob
import os
import socket
import struct
import sys

trace, mode = sys.argv[1:3]
BIG = 0xfffffff0
# the number of the packet at which the connection ends, and its bytes that come
NEVER = (0, 0)
CUTS = {"cut": (2, 100), "head": (3, 0)}


def packets(path):
    index = f"{os.path.dirname(path)}/index/{os.path.basename(path)}.idx"
    data = open(index, "rb").read()
    size = struct.unpack(">I", data[12:16])[0]
    for at in range(16, len(data), size):
        yield struct.unpack(">6Q", data[at:at + 48])


channels = sorted(p for p in glob.glob(f"{trace}/*") if os.path.exists(
    f"{trace}/index/{os.path.basename(p)}.idx"))
streams = [(1, "metadata")] + [
    (0, os.path.basename(p)) for p in channels]


def serve(c, cut):
    left = {i + 1: list(packets(p)) for i, p in enumerate(channels)}
    told, sent = False, 0

    def need(n):
        data = b""
        while len(data) < n:
            more = c.recv(n - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    while True:
        size, cmd, _ = struct.unpack(">QII", need(16))
        body = need(size)
        if cmd == 1:
            c.sendall(struct.pack(">QIII", 1, 2, 4, 1))
        elif cmd == 2:
            n = BIG if mode == "sessions" else 1
            c.sendall(struct.pack(">IQIII64s255s", n, 7, 100000, 0,
                                  len(streams), b"node", b"made"))
        elif cmd == 8:
            c.sendall(struct.pack(">I", 1))
        elif cmd == 3:
            n = BIG if mode == "streams" else len(streams)
            c.sendall(struct.pack(">II", 1, n))
            for i, (meta, name) in enumerate(streams):
                c.sendall(struct.pack(">QQI4096s255s", i, 5, meta, b"ust",
                                      name.encode()))
        elif cmd == 6:
            if mode == "metadata":
                c.sendall(struct.pack(">QI", 1 << 62, 1))
            elif told:
                c.sendall(struct.pack(">QI", 0, 2))
            else:
                told = True
                text = open(f"{trace}/metadata", "rb").read()
                c.sendall(struct.pack(">QI", len(text), 1) + text)
        elif cmd == 4:
            ident = struct.unpack(">Q", body)[0]
            if not left[ident]:
                c.sendall(struct.pack(">7QII", *[0] * 7, 3, 0))
                continue
            off, size, content, begin, end, lost = left[ident].pop(0)
            if mode == "packet":
                size = 1 << 60
            c.sendall(struct.pack(">7QII", off, size, content, begin, end,
                                  lost, 0, 1, 0))
        elif cmd == 5:
            ident, off, n = struct.unpack(">QQI", body)
            with open(channels[ident - 1], "rb") as f:
                f.seek(off)
                data = f.read(n)
            sent += 1
            c.sendall(struct.pack(">III", 1, len(data), 0) +
                      (data[:cut[1]] if sent == cut[0] else data))
            if sent == cut[0]:
                return
        elif cmd == 7:
            c.sendall(struct.pack(">II", 4, 0))


s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
first = True
while True:
    conn, _ = s.accept()
    try:
        serve(conn, CUTS.get(mode, NEVER) if first else NEVER)
    except (EOFError, OSError):
        pass
    conn.close()
    first = False

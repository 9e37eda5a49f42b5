"""rings.py - a folder that looks like tracefs, whose rings are FIFOs, made of a trace.dat of version 6.
usage: rings.py make TRACE.DAT DIR | feed DIR [BYTES]

make: DIR/live has the files of tracefs, DIR/whole the same with the pages as files, to be ingested. feed: writes the pages
of DIR/whole into the FIFOs, a page of each by turns, BYTES at a time; the next page comes when one
was taken."""
import array
import fcntl
import os
import struct
import sys
import termios
import time


class Dat:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.at = self.data.index(b"6\0") + 2 + 1 + 1 + 4

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, fmt):
        return struct.unpack("<" + fmt, self.take(struct.calcsize(fmt)))[0]

    def text(self):
        end = self.data.index(b"\0", self.at)
        return self.take(end + 1 - self.at)[:-1].decode()


def store(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def formats(dat, to, system):
    for _ in range(dat.number("I")):
        text = dat.take(dat.number("Q"))
        name = text.split(b"\n")[0].split(b" ")[1].decode()
        store(f"{to}/events/{system}/{name}/format", text)
        if system != "ftrace":
            store(f"{to}/events/{system}/{name}/id", text.split(b"ID: ")[1].split(b"\n")[0] + b"\n")


def make(path, to):
    dat = Dat(path)
    for name in ("header_page", "header_event"):
        assert dat.text() == name
        store(f"{to}/live/events/{name}", dat.take(dat.number("Q")))
    formats(dat, to + "/live", "ftrace")
    for _ in range(dat.number("I")):
        system = dat.text()
        formats(dat, to + "/live", system)
    store(f"{to}/live/kallsyms", dat.take(dat.number("I")))
    store(f"{to}/live/printk_formats", dat.take(dat.number("I")))
    names = dat.take(dat.number("Q"))
    store(f"{to}/live/saved_cmdlines", names)
    tids = sorted(int(line.split(b" ")[0]) for line in names.splitlines())
    store(f"{to}/live/saved_tgids", "".join(f"{tid} {tid}\n" for tid in tids).encode())
    store(f"{to}/live/trace_clock", b"[local] global\n")
    cpus = dat.number("I")
    assert dat.take(10) == b"options  \0"
    while (option := dat.number("H")) != 0:
        dat.take(dat.number("I"))
    assert option == 0 and dat.take(10) == b"flyrecord\0"
    rings = [(dat.number("Q"), dat.number("Q")) for _ in range(cpus)]
    os.system(f"cp -r {to}/live {to}/whole")
    for cpu, (off, n) in enumerate(rings):
        store(f"{to}/live/per_cpu/cpu{cpu}/stats", b"entries: 0\noverrun: 0\ncommit overrun: 0\ndropped events: 0\n")
        os.mkfifo(f"{to}/live/per_cpu/cpu{cpu}/trace_pipe_raw")
        store(f"{to}/whole/per_cpu/cpu{cpu}/trace_pipe_raw", dat.data[off:off + n])


def wait(fd):
    left = array.array("i", [1])
    while left[0]:
        fcntl.ioctl(fd, termios.FIONREAD, left)
        time.sleep(0.001)


def feed(folder, step):
    rings = []
    for name in sorted(os.listdir(folder + "/live/per_cpu")):
        with open(f"{folder}/whole/per_cpu/{name}/trace_pipe_raw", "rb") as f:
            # open() waits for the reader
            rings.append([f.read(), os.open(f"{folder}/live/per_cpu/{name}/trace_pipe_raw", os.O_WRONLY)])
    while any(data for data, _ in rings):
        for ring in rings:
            if ring[0]:
                page, ring[0] = ring[0][:4096], ring[0][4096:]
                while page:
                    os.write(ring[1], page[:step])
                    page = page[step:]
                wait(ring[1])


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3])
else:
    feed(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 4096)

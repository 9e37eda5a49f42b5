"""rings.py - a folder that looks like tracefs, whose rings are FIFOs, made of a trace.dat of version 6.
usage: rings.py make TRACE.DAT DIR | feed DIR [BYTES [SEED]]

make: DIR/live has the files of tracefs, DIR/whole the same with the pages as files, to be ingested. feed: writes the pages
of DIR/whole into the FIFOs, in the order of their times, BYTES at a time; the next one comes when one
was taken. SEED: some rings are late."""
import array
import fcntl
import os
import random
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


def late(pages, rnd):
    """The pages, each ring in its order, but up to a tenth of the time later than another."""
    pages = sorted(pages)
    span = (pages[-1][0] - pages[0][0]) // 10
    when, out = {}, []
    for time_ns, fd, page in pages:
        when[fd] = max(when.get(fd, 0), time_ns + rnd.randint(0, span))
        out.append((when[fd], fd, page))
    return sorted(out, key=lambda p: p[:2])


def feed(folder, step, seed):
    pages = []
    for name in sorted(os.listdir(folder + "/live/per_cpu")):
        with open(f"{folder}/whole/per_cpu/{name}/trace_pipe_raw", "rb") as f:
            data = f.read()
        # open() waits for the reader
        fd = os.open(f"{folder}/live/per_cpu/{name}/trace_pipe_raw", os.O_WRONLY)
        pages += [(struct.unpack("<Q", data[at:at + 8])[0], fd, data[at:at + 4096]) for at in range(0, len(data), 4096)]
    for _, fd, page in late(pages, random.Random(seed)) if seed else sorted(pages):
        while page:
            os.write(fd, page[:step])
            page = page[step:]
        wait(fd)


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3])
else:
    feed(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 4096, sys.argv[4] if len(sys.argv) > 4 else None)

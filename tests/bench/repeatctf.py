# repeatctf.py - makes a trace of LTTng longer: its packets again and again.
"""usage: repeatctf.py TRACE OUT N

TRACE is a folder with metadata and stream files; OUT becomes one with N times
as many packets. Times and numbers of packets go on. Events are not changed but
the first of a packet, which has a time of 64 bits: those of the others have 32
bits, so each round begins 2^32 ns, or a multiple of that, behind the one
before."""

import os
import shutil
import struct
import sys

# In a packet of LTTng: times of begin and end, content, size, number.
HEAD = struct.Struct("<5Q")
HEAD_AT = 32
# An event with 64 bits of time: an id that says so, the id, the time.
LONG = struct.Struct("<HIQ")
LONG_AT = 84


def packets(data):
    at = 0
    while at < len(data):
        head = HEAD.unpack_from(data, at + HEAD_AT)
        size = head[3] // 8
        yield head, data[at:at + size]
        at += size


def later(data, ns):
    """A packet's data without the head's numbers, with a later first event."""
    mark, id_, time = LONG.unpack_from(data, LONG_AT)
    if mark != 0xffff:
        return data[HEAD_AT + HEAD.size:]
    return (data[HEAD_AT + HEAD.size:LONG_AT] + LONG.pack(mark, id_, time + ns)
            + data[LONG_AT + LONG.size:])


def main():
    trace, out, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.makedirs(out)
    shutil.copy(trace + "/metadata", out)
    streams = {}
    for name in sorted(os.listdir(trace)):
        if name != "metadata" and os.path.isfile(trace + "/" + name):
            with open(trace + "/" + name, "rb") as f:
                streams[name] = list(packets(f.read()))
    begin = min(p[0][0] for s in streams.values() for p in s)
    end = max(p[0][1] for s in streams.values() for p in s)
    step = ((end - begin) // 2**32 + 1) * 2**32
    for name, stream in streams.items():
        with open(out + "/" + name, "wb") as f:
            for k in range(n):
                for (t0, t1, content, size, seq), data in stream:
                    f.write(data[:HEAD_AT])
                    f.write(HEAD.pack(t0 + k * step, t1 + k * step, content,
                                      size, seq + k * len(stream)))
                    f.write(later(data, k * step))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# formats.py - mutates the formats of events in a capture, and counts who crashes on them.
"""usage: BACKSTITCH=PROGRAM formats.py CAPTURE [TIMES]

CAPTURE is a perf.data file with tracepoints, or a trace.dat of version 6: its
formats are in it as text. TIMES (6000) copies are made, each with one to four
changes of the print formats that keep their length. Each is printed by
backstitch, and by perf script or trace-cmd report. Prints how many of them
ended by a signal or took more than 20 seconds; fails if backstitch did."""

import os
import random
import re
import subprocess
import sys
import tempfile

B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
PARTS = [b"REC->", b"__print_flags(", b"__print_symbolic(", b"__get_str(", b"__get_dynamic_array(", b"%*pbl", b"%pISpc",
         b"((", b"))", b"{", b"}", b"\"", b"? :", b"[0]", b"sizeof(", b"%s", b"%99999d", b",,", b"->", b"<<", b"0x", b"-1"]


def mutated(data, spans, rnd):
    data = bytearray(data)
    for _ in range(rnd.randint(1, 4)):
        start, end = rnd.choice(spans)
        at = rnd.randrange(start, end)
        what = rnd.randrange(3)
        if what == 0:
            data[at] = rnd.randrange(32, 127)
        elif what == 1:
            part = rnd.choice(PARTS)[:end - at]
            data[at:at + len(part)] = part
        else:
            n = rnd.randint(1, min(30, end - at))
            source = rnd.randrange(start, end - n + 1)
            data[at:at + n] = data[source:source + n]
    return data


def crashes(command):
    try:
        r = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           timeout=20, check=False)
        return r.returncode < 0 or r.returncode >= 128
    except subprocess.TimeoutExpired:
        return True


def main():
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 6000
    spans = [m.span(1) for m in re.finditer(rb"\nprint fmt: ([^\n\0]+)", data)]
    if not spans:
        sys.exit("no print format is in this file as text")
    rnd = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "capture")
        other = ["perf", "script", "-f", "-i", path] if data[:8] == b"PERFILE2" else ["trace-cmd", "report", path]
        count = {"backstitch": 0, other[0]: 0}
        for done in range(1, times + 1):
            with open(path, "wb") as f:
                f.write(mutated(data, spans, rnd))
            count["backstitch"] += crashes([B, "script", path])
            count[other[0]] += crashes(other)
            if done % 100 == 0 or done == times:
                print(", ".join(f"{name}: {n}" for name, n in count.items()), f"of {done} crash or hang", flush=True)
    sys.exit(bool(count["backstitch"]))


main()

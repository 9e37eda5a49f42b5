# generated.py - stacks in code that node made at run time, against the bytes of that code.
"""usage: generated.py [--program PATH] [--folder DIR]

Records a JavaScript program with dumps and a jitdump file, hides that file from
the program under test, and disassembles it: whether a function has set its
frame pointer where it was sampled, on all ways through its code, says where its
return address is in the dump. Prints how often the program named another caller, by what it said of the
stack. Ends with status 1 if a stack with another caller is called whole.

Needs node, objdump, and perf with the right to record."""

import argparse
import collections
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

PROGRAM = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function sorted() {
  const a = [];
  for (let i = 0; i < 200000; i++) a.push((i * 7919) % 100003);
  return a.sort((x, y) => x - y)[5];
}
class Shape { area() { return this.width * this.depth; } }
class Square extends Shape {
  constructor(w) { super(); this.width = this.depth = w; }
}
function shapes() {
  let sum = 0;
  for (let i = 0; i < 3e6; i++) sum += new Square(i % 10).area();
  return sum;
}
for (let k = 0; k < 8; k++) { fib(30); sorted(); shapes(); }
"""
NODE = ["node", "--perf-prof", "--perf-basic-prof",
        "--interpreted-frames-native-stack"]


def codes_of(path):
    """[(address, time, bytes)] of a jitdump file of this machine."""
    with open(path, "rb") as f:
        data = f.read()
    at = struct.unpack_from("<I", data, 8)[0]
    found = []
    while at + 16 <= len(data):
        kind, size, time = struct.unpack_from("<IIQ", data, at)
        if size < 16:
            break
        if kind == 0:
            addr, n = struct.unpack_from("<QQ", data, at + 32)
            begin = data.index(b"\0", at + 56) + 1
            found.append((addr, time, data[begin:begin + n]))
        at += size
    return found


def code_at(codes, ip, time):
    there = [c for c in codes if c[0] <= ip < c[0] + len(c[2])
             and c[1] <= time]
    return max(there, key=lambda c: c[1], default=None)


def samples_of(capture):
    """{time: (ip, sp, fp, dump)}, of perf's text."""
    text = subprocess.run(["perf", "script", "--no-inline", "-D", "-i",
                           capture], capture_output=True).stdout
    found, raw, at, reg = {}, bytearray(), None, {}
    for line in text.decode(errors="replace").splitlines():
        if m := re.match(r"\.  ([0-9a-f]{4,8}):  ((?:[0-9a-f]{2} ){1,16})",
                         line):
            if int(m[1], 16) == 0:
                raw = bytearray()
            raw += bytes.fromhex(m[2])
        elif m := re.match(r"(?:\d+ )?(\d+) 0x\S+ \[\S+\]: "
                           "PERF_RECORD_SAMPLE", line):
            at, reg = int(m[1]), {}
        elif m := re.match(r"\.{4} (SP|BP|IP) +(0x\S+)", line):
            reg[m[1]] = int(m[2], 16)
        elif (m := re.match(r"\.{3} ustack: size (\d+), offset (0x\S+)",
                            line)) and at:
            begin = int(m[2], 16) + 8  # behind its size
            found[at] = (reg["IP"], reg["SP"], reg["BP"],
                         bytes(raw[begin:begin + int(m[1])]))
    return found


class Disassembler:
    def __init__(self, folder):
        self.path = os.path.join(folder, "code.bin")
        self.known = {}

    def frames(self, code):
        """What frames_of() says of the code."""
        if code[:2] not in self.known:
            with open(self.path, "wb") as f:
                f.write(code[2])
            out = subprocess.run(
                ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64",
                 "--no-show-raw-insn", "--adjust-vma=%d" % code[0], self.path],
                capture_output=True, text=True).stdout
            self.known[code[:2]] = frames_of([
                (int(m[1], 16), m[2].strip())
                for m in re.finditer(r"^ *([0-9a-f]+):\t(.*)$", out, re.M)])
        return self.known[code[:2]]


def after(state, what):
    """Where the return address is behind an instruction."""
    if re.match(r"push +%rbp", what) and state == "top":
        return "pushed"
    if re.match(r"mov +%rsp,%rbp", what) and state == "pushed":
        return "framed"
    if re.match(r"pop +%rbp|leave", what) and state in ("pushed", "framed"):
        return "top"
    moved = r".*,%rbp$" if state == "framed" else r"push|pop|leave|.*,%r[bs]p$"
    return None if re.match(moved, what) else state


def frames_of(lines):
    """{address: where the return address is}, along all ways through the code:
    'top', 'pushed', 'framed'; None: unknown, or not the same on each way."""
    place = {at: i for i, (at, _) in enumerate(lines)}
    states, todo = {}, [(lines[0][0], "top")] if lines else []
    while todo:
        at, state = todo.pop()
        if at not in place or states.get(at, "new") in (state, None):
            continue
        states[at] = state = None if at in states else state
        i = place[at]
        what = lines[i][1]
        target = re.match(r"j\w+ +(0x[0-9a-f]+)", what)
        if target:
            todo.append((int(target[1], 16), state))
        if not re.match(r"jmp|ret", what) and i + 1 < len(lines):
            todo.append((lines[i + 1][0], after(state, what)))
    return states


def return_address(frame, sample):
    _, sp, fp, dump = sample
    at = {"top": 0, "pushed": 8, "framed": fp + 8 - sp}[frame]
    if not 0 <= at <= len(dump) - 8:
        return None
    return struct.unpack_from("<Q", dump, at)[0]


def judge(program, folder, codes, samples):
    db = os.path.join(folder, "p.db")
    subprocess.run([program, "ingest", "-q", "-o", db,
                    os.path.join(folder, "perf.data")], check=True)
    unproved = {int(line) for line in subprocess.run(
        [program, "query", "--format", "csv", db,
         "SELECT e.time_ns FROM event e JOIN raw_chain c ON c.id = e.uraw"
         " JOIN internal_judged j ON j.stack = c.stack"],
        capture_output=True, text=True, check=True).stdout.split()[1:]}
    asm = Disassembler(folder)
    counts = collections.Counter()
    text = subprocess.run([program, "script", "--json", db],
                          capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        said = json.loads(line)
        frames, time = said["user"], said["time_ns"]
        if len(frames) < 2 or time not in samples:
            continue
        code = code_at(codes, samples[time][0], time)
        frame = code and asm.frames(code).get(samples[time][0])
        want = frame and return_address(frame, samples[time])
        if want:
            counts["unproved" if time in unproved else "whole",
                   int(frames[1]["ip"], 16) == want - 1] += 1
    return counts


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--program", default="build/backstitch")
    a.add_argument("--folder")
    a = a.parse_args()
    program = os.path.abspath(a.program)
    with tempfile.TemporaryDirectory(dir=a.folder) as folder:
        with open(os.path.join(folder, "p.js"), "w") as f:
            f.write(PROGRAM)
        subprocess.run(["perf", "record", "-q", "-k", "mono", "-F", "1999",
                        "--call-graph", "dwarf,8192", "-o", "perf.data"]
                       + NODE + ["p.js"], cwd=folder, check=True)
        hidden = os.path.join(folder, "hidden")
        os.mkdir(hidden)
        dump = glob.glob(os.path.join(folder, "jit-*.dump"))[0]
        shutil.move(dump, hidden)
        counts = judge(program, folder,
                       codes_of(os.path.join(hidden, os.path.basename(dump))),
                       samples_of(os.path.join(folder, "perf.data")))
    for said in "whole", "unproved":
        print("%-10s %6d with the right caller, %d with another"
              % (said, counts[said, True], counts[said, False]))
    sys.exit(not counts["whole", True] or counts["whole", False] > 0)


if __name__ == "__main__":
    main()

# lying.py - well-formed captures whose numbers are lies, through every command.
"""usage: lying.py PROGRAM DIR [WORD...]

Captures of LTTng, of trace-cmd and made ones get other times, CPUs, ids, sizes,
clocks and positions, all in their place: no byte is missing, no length is wrong
by accident. `ingest`, and each command that reads its database, must end with a
status of its own, with a message if it is 1, within SECONDS and MEMORY, and
without a word of a sanitizer. $LYING is the number of random mixes (12; 200 with
$LONG). With words, only lies whose names have one."""

import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import time

import hostile  # before the folder that has another one

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "compare"))
import unpack  # noqa: E402

SECONDS = 10
MEMORY = 1 << 30
SANITIZED = False
MIXES = int(os.environ.get("LYING", 200 if os.environ.get("LONG") else 8))
NUMBERS = (0, 1, 2, 127, 255, 4095, 65535, 65536, 4194304, 4194305,
           (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 53) + 1,
           (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
TIMES = (0, 1, 1000, (1 << 62), (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
READERS = (["info"], ["check"], ["report"], ["report", "--off-cpu"],
           ["report", "--sched"], ["path"], ["script"],
           ["export", "--format", "chrome", "-o", "out.json"])
# Without LONG a part of all, another one of each commit, and ALWAYS.
SHARE = 1 if os.environ.get("LONG") else 96
TURN = int(os.environ.get("SHARE_OF", "0"))
ALWAYS = "made: all, mix 0"
SEEN = []
READ = []
CHANGED = []  # of each lie about a real capture that was tried: is any byte another one?
BAD = re.compile(rb"Sanitizer|runtime error:|Assertion|\*\*\* ")


# ---- running

def run(args):
    """(status, seconds, bytes, what it said on standard error)"""
    with open("said", "wb") as said, open(os.devnull, "wb") as null:
        start = time.time()
        p = subprocess.Popen(
            args, stdin=subprocess.DEVNULL, stdout=null, stderr=said,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)))
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    with open("said", "rb") as said:
        text = said.read()
    return (p.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024,
            text, time.time() - start)


def wrong(args, allowed):
    """What is wrong with a run of the program, or None."""
    status, secs, mem, text, _ = run([PROGRAM, *args])
    slower = 8 if SANITIZED else 1
    said = "%s: status %d, %.1f s, %d MB: %s" % (
        " ".join(args[:3]), status, secs, mem >> 20, ascii(text[-300:]))
    if status not in allowed or BAD.search(text):
        return said
    if secs > SECONDS * slower or (mem > MEMORY and not SANITIZED):
        return said
    return said if status == 1 and not text.startswith(b"backstitch: ") else None


def tried(name):
    """Is it the turn of this lie? To make it takes as long as to read it."""
    if sys.argv[3:] and not any(w in name for w in sys.argv[3:]):
        return False
    SEEN.append(name)
    return bool(sys.argv[3:]) or len(SEEN) % SHARE == TURN % SHARE or name == ALWAYS


def readers(name):
    """All of them with LONG and of ALWAYS; else three, of the next lie the next
    three: each command has read the databases of ten lies in the end."""
    if SHARE == 1 or sys.argv[3:] or name == ALWAYS:
        return READERS
    READ.append(name)
    first = 3 * (len(READ) + TURN)
    return [READERS[(first + i) % len(READERS)] for i in range(3)]


def lie(name, *paths, options=()):
    """Reads captures with every command; prints a line."""
    bad = wrong(["ingest", "-q", "-f", "--no-symbols", "--fields", "all",
                 *options, "-o", "l.db", *paths], (0, 1, 3))
    if os.path.exists("l.db"):
        for args in readers(name):
            bad = bad or wrong([*args, "l.db"], (0, 1, 2, 3, 4))
        os.unlink("l.db")
    print("%sok %s%s" % ("not " if bad else "", name, "\n# " + bad if bad else ""),
          flush=True)


# ---- CTF of LTTng

# packet header and context of LTTng: place and format of each number
FIELDS = {"stream id": (20, "<I"), "instance": (24, "<Q"), "begin": (32, "<Q"),
          "end": (40, "<Q"), "content size": (48, "<Q"),
          "packet size": (56, "<Q"), "number": (64, "<Q"),
          "discarded": (72, "<Q"), "cpu": (80, "<I")}
MAGIC = struct.pack("<I", 0xC1FC1FC1)


def copy(trace):
    shutil.rmtree("t", ignore_errors=True)
    shutil.copytree(trace, "t")
    files = [os.path.join(at, f) for at, _, names in os.walk("t") for f in names
             if not at.endswith("index")]
    return ([f for f in files if os.path.basename(f) != "metadata"],
            [f for f in files if os.path.basename(f) == "metadata"])


def change(path, how):
    with open(path, "rb") as f:
        data = how(f.read())
    with open(path, "wb") as f:
        f.write(data)


def packets(data):
    """The places of the packets of a file, and their bytes."""
    at = 0
    while data[at:at + 4] == MAGIC:
        size = struct.unpack_from("<Q", data, at + 56)[0] // 8
        if not size:
            return
        yield at, data[at:at + size]
        at += size


def put(packet, field, v):
    at, form = FIELDS[field]
    bits = 8 * struct.calcsize(form)
    packet = bytearray(packet)
    struct.pack_into(form, packet, at, v & (1 << bits) - 1)
    return bytes(packet)


def each_packet(how):
    """how(packet, number) gives the one that takes its place."""
    return lambda data: b"".join(
        how(p, i) for i, (_, p) in enumerate(packets(data)))


def ctf(what, trace, on_data=None, on_meta=None):
    if not tried("ctf: " + what):
        return
    data, meta = copy(trace)
    for path in data:
        if on_data:
            change(path, on_data)
    for path in meta:
        if on_meta:
            change(path, on_meta)
    CHANGED.append(any(
        open(path, "rb").read() != open(path.replace("t", trace, 1), "rb").read()
        for path in data + meta))
    lie("ctf: " + what, "t")


def backwards(data):
    return b"".join(p for _, p in reversed(list(packets(data))))


def swapped_times(data):
    """Each packet has the times of its opposite."""
    whole = [p for _, p in packets(data)]
    return b"".join(p[:32] + q[32:48] + p[48:]
                    for p, q in zip(whole, reversed(whole)))


def words(r, share, first):
    """Some aligned words behind the head of each packet become others."""
    def how(p, _):
        p = bytearray(p)
        for at in range(first, len(p) - 8, 4):
            if r.random() < share:
                struct.pack_into("<I", p, at, r.choice(NUMBERS) & 0xffffffff)
        return bytes(p)
    return how


def numbers_of(r, share):
    """Some numbers of the metadata become others."""
    return lambda data: re.sub(
        rb"(?<![\w.])\d+(?![\w.])", lambda m: b"%d" % r.choice(NUMBERS)
        if r.random() < share else m[0], data)


def of_ctf(captures):
    kernel = captures + "/lttng/k-callstack/trace/kernel"
    both = captures + "/lttng/ku-cookie/trace"
    two = captures + "/lttng/t216-uid/trace/ust/uid/0/64-bit"  # CTF 2
    for field in FIELDS:
        for v in NUMBERS if field != "packet size" else NUMBERS[::3]:
            ctf("%s is %d" % (field, v), kernel,
                each_packet(lambda p, _, f=field, n=v: put(p, f, n)))
    for v in TIMES:
        ctf("one packet begins at %d" % v, both, each_packet(
            lambda p, i, n=v: put(p, "begin", n) if i == 1 else p))
        ctf("both times are %d" % v, two, each_packet(
            lambda p, _, n=v: put(put(p, "begin", n), "end", n)))
    for name, trace in (("kernel", kernel), ("both", both), ("2", two)):
        ctf("packets backwards, " + name, trace, backwards)
        ctf("times swapped, " + name, trace, swapped_times)
        ctf("each packet twice, " + name, trace,
            each_packet(lambda p, _: p + p))
        ctf("cpus by the packet, " + name, trace,
            each_packet(lambda p, i: put(p, "cpu", i * 997)))
        ctf("all streams are one, " + name, trace,
            each_packet(lambda p, _: put(p, "instance", 0)))
        ctf("a new stream each, " + name, trace,
            each_packet(lambda p, i: put(p, "instance", i << 32)))
    for v in NUMBERS:
        ctf("all events are %d" % v, both, None, lambda data, n=v: re.sub(
            rb"\bid = \d+;", b"id = %d;" % n, data))
        ctf("clocks of %d Hz" % v, both, None, lambda data, n=v: re.sub(
            rb"freq = \d+;", b"freq = %d;" % n, data))
        ctf("clocks from %d" % v, both, None, lambda data, n=v: re.sub(
            rb"offset(_s)? = \d+;", b"offset = %d;" % n, data))
        ctf("class ids %d" % v, two, None, lambda data, n=v: re.sub(
            rb'"id":\d+', b'"id":%d' % n, data))
    ctf("events one further", both, None, lambda data: re.sub(
        rb"\bid = (\d+);", lambda m: b"id = %d;" % (int(m[1]) + 1), data))
    for i in range(MIXES):
        r = random.Random(i)
        trace = r.choice((kernel, both, two))
        share = r.choice((0.002, 0.02, 0.2))
        ctf("words, mix %d" % i, trace, each_packet(words(r, share, 84)))
        ctf("heads, mix %d" % i, trace, each_packet(
            lambda p, _, r=r: put(p, r.choice(list(FIELDS)), r.choice(NUMBERS))))
        ctf("metadata, mix %d" % i, trace, None,
            numbers_of(r, r.choice((0.003, 0.03))))


# ---- made CTF: fields of the scheduler

EVENTS = {
    "sched_switch": ("prev_comm", "prev_tid", "prev_prio", "prev_state",
                     "next_comm", "next_tid", "next_prio"),
    "sched_waking": ("comm", "tid", "prio", "target_cpu"),
    "sched_wakeup": ("comm", "tid", "prio", "target_cpu"),
    "sched_wakeup_new": ("comm", "tid", "prio", "target_cpu"),
    "sched_migrate_task": ("comm", "tid", "prio", "orig_cpu", "dest_cpu"),
    "sched_process_fork": ("parent_comm", "parent_tid", "parent_pid",
                           "child_comm", "child_tid", "child_pid"),
    "sched_process_exit": ("comm", "tid", "prio"),
    "sched_process_exec": ("filename", "tid", "old_tid"),
    "irq_handler_entry": ("irq", "name"),
    "irq_handler_exit": ("irq", "ret"),
    "irq_softirq_raise": ("vec",),
    "irq_softirq_entry": ("vec",),
    "irq_softirq_exit": ("vec",),
    "stitch:request": ("cookie",),
    "stitch:ustack": ("cookie", "n"),
    "lttng_ust_statedump:bin_info": ("baddr", "memsz", "path"),
}
TEXTS = ("prev_comm", "next_comm", "comm", "parent_comm", "child_comm",
         "filename", "name", "path")


def made(i, values, times, cpus):
    """A trace of 3,000 events; values(r), times(r, n) and cpus(r) choose."""
    r = random.Random(i)
    shutil.rmtree("m", ignore_errors=True)
    t = hostile.Trace("m")
    meta = hostile.types(tracer="lttng-modules", domain="kernel")
    meta += hostile.stream(header="u8 id; t64 timestamp;", context="u32 vtid;")
    for n, (name, fields) in enumerate(EVENTS.items()):
        meta += hostile.event("".join(
            ("string %s;" if f in TEXTS else "u64 %s;") % f for f in fields) +
            ("u64 ips[n];" if name == "stitch:ustack" else ""), n, name)
    t.write("metadata", meta)
    shapes = list(EVENTS.items())
    for f in range(4):
        seq, body = [], b""
        for n in range(750):
            at = r.randrange(len(shapes))
            body += struct.pack("<BQI", at, times(r, n) & (1 << 64) - 1,
                                values(r) & 0xffffffff)
            for field in shapes[at][1]:
                body += b"x%d\0" % r.randrange(9) if field in TEXTS else (
                    struct.pack("<Q", 0 if field == "n" else
                                values(r) & (1 << 64) - 1))
            if n % 50 == 49:
                seq.append(body)
                body = b""
        t.write("s%d" % f, b"".join(hostile.packet(
            b, seq=k, instance=f, cpu=cpus(r) & 0xffffffff)
            for k, b in enumerate(seq)))
    return "m"


def of_made():
    few = (0, 1, 2, 3, 10, 11, 12)
    small = (lambda r: r.choice(few), lambda r, n: 1000 + 5000 * n,
             lambda r: r.randrange(4))
    lies = {
        "values": (lambda r: r.choice(NUMBERS), small[1], small[2]),
        "some values": (lambda r: r.choice(NUMBERS if r.random() < 0.1 else few),
                        small[1], small[2]),
        "times": (small[0], lambda r, n: r.choice(TIMES), small[2]),
        "some times": (small[0], lambda r, n: r.choice(TIMES)
                       if r.random() < 0.02 else 1000 + 5000 * n, small[2]),
        "times back": (small[0], lambda r, n: 10000000 - 5000 * n, small[2]),
        "times at 2^63": (small[0], lambda r, n: (1 << 63) - 100 + n, small[2]),
        "times at 2^64": (small[0], lambda r, n: (1 << 64) - 100 + n, small[2]),
        "cpus": (small[0], small[1], lambda r: r.choice(NUMBERS)),
        "all": (lambda r: r.choice(NUMBERS), lambda r, n: r.choice(TIMES),
                lambda r: r.choice(NUMBERS)),
    }
    for name, how in lies.items():
        for i in range(max(1, MIXES // 6)):
            what = "made: %s, mix %d" % (name, i)
            if tried(what):
                lie(what, made(i, *how))


# ---- trace.dat

PAGE = 4096


def pages(data):
    """Places of what look like pages of a ring."""
    for at in range(0, len(data) - 16, PAGE):
        when, commit = struct.unpack_from("<QQ", data, at)
        if when and 16 < commit <= PAGE - 16 and when < 1 << 60:
            yield at


def entries(data, page):
    """(place, word, place of its data) of the entries of a page."""
    end = page + 16 + struct.unpack_from("<Q", data, page + 8)[0]
    at = page + 16
    while at + 8 <= end:
        word, = struct.unpack_from("<I", data, at)
        kind = word & 31
        size, = struct.unpack_from("<I", data, at + 4)
        first = at + 4 if 0 < kind < 29 else at + 8
        yield at, word, first
        at += 8 if kind > 29 else 4 + (kind * 4 if kind else size)
        if kind == 29 or (not kind and not size):
            return


def ftrace(what, capture, how):
    name = "ftrace: %s, %s" % (what, os.path.basename(os.path.dirname(capture)))
    if not tried(name):
        return
    with open(capture, "rb") as f:
        data = bytearray(f.read())
    was = bytes(data)
    changed = how(data)
    with open("l.dat", "wb") as f:
        f.write(data if changed is None else changed)
    CHANGED.append(was != bytes(data if changed is None else changed))
    lie(name, "l.dat")


def set_times(times):
    def how(data):
        at = list(pages(data))
        was = [struct.unpack_from("<Q", data, p)[0] for p in at]
        for i, p in enumerate(at):
            struct.pack_into("<Q", data, p, times(i, was) & (1 << 64) - 1)
    return how


def set_entries(r, share, change_one):
    def how(data):
        for p in list(pages(data)):
            for at, word, first in list(entries(data, p)):
                if r.random() < share:
                    change_one(data, at, word, first)
    return how


def set_type(v):
    return lambda data, at, word, first: (
        struct.pack_into("<H", data, first, v & 0xffff) if 0 < word & 31 < 29 else 0)


def set_pid(v):
    return lambda data, at, word, first: (
        struct.pack_into("<I", data, first + 4, v & 0xffffffff)
        if 0 < word & 31 < 29 else 0)


def set_delta(v):
    return lambda data, at, word, first: struct.pack_into(
        "<I", data, at, word & 31 | v << 5 & 0xffffffff)


def set_kind(v):
    """Of an entry with a length in words, an extension or an absolute time."""
    return lambda data, at, word, first: (
        struct.pack_into("<II", data, at, v | word & ~31, 0xffffffff)
        if 0 < word & 31 < 29 else 0)


def set_payload(r):
    def how(data, at, word, first):
        for place in range(first + 8, first + (word & 31) * 4 - 3, 4):
            if 0 < word & 31 < 29 and r.random() < 0.3:
                struct.pack_into("<I", data, place,
                                 r.choice(NUMBERS) & 0xffffffff)
    return how


def rings(data):
    """Places of the offsets of rings: u32 cpu (version 7), u64 off, u64 len."""
    for page in pages(data):
        at = data.find(struct.pack("<Q", page))
        while 0 <= at < page:
            size, = struct.unpack_from("<Q", data, at + 8)
            if size and not size % PAGE and size < len(data):
                yield at
            at = data.find(struct.pack("<Q", page), at + 1)


def set_rings(values):
    def how(data):
        for i, at in enumerate(list(rings(data))):
            values(data, at, i)
    return how


def text(pattern, by):
    """Numbers in formats become others of as many digits."""
    def how(data):
        def same(m):
            new = b"%d" % (by(int(m[2])) % 10 ** len(m[2]))
            return m[1] + new.rjust(len(m[2]), b"0")
        return re.sub(pattern, same, bytes(data))
    return how


def of_ftrace(captures):
    # those that are not packed inside: pages and formats can be changed in place
    os.mkdir("v6")
    subprocess.run(["zstd", "-qdc", os.path.join(unpack.HERE, "ftrace-v6.dat.zst"),
                    "-o", "v6/trace.dat"], check=True)
    for c in ("v6/trace.dat", captures + "/arm64/ftrace/v7/trace.dat"):
        for v in TIMES:
            ftrace("pages at %d" % v, c, set_times(lambda i, was, n=v: n))
            ftrace("one page at %d" % v, c, set_times(
                lambda i, was, n=v: n if i == 1 else was[i]))
        ftrace("pages backwards", c, set_times(lambda i, was: was[-1 - i]))
        ftrace("pages one before", c, set_times(lambda i, was: was[0] - i))
        ftrace("times past 2^64", c, set_times(
            lambda i, was: was[i] - was[0] + (1 << 64) - 1000000))
        for v in NUMBERS:
            r = random.Random(v)
            ftrace("events %d" % v, c, set_entries(r, 1, set_type(v)))
            ftrace("some events %d" % v, c, set_entries(r, 0.1, set_type(v)))
            ftrace("threads %d" % v, c, set_entries(r, 0.3, set_pid(v)))
            ftrace("cpus %d" % v, c, set_rings(
                lambda data, at, i, n=v: struct.pack_into(
                    "<I", data, at - 4, n & 0xffffffff)))
            ftrace("rings of %d" % v, c, set_rings(
                lambda data, at, i, n=v: struct.pack_into("<Q", data, at + 8, n)))
            ftrace("rings at %d" % v, c, set_rings(
                lambda data, at, i, n=v: struct.pack_into("<Q", data, at, n)))
            ftrace("ids %d" % v, c, text(rb"(\nID: )(\d+)", lambda x, n=v: n))
            ftrace("places %d" % v, c, text(rb"(offset:)(\d+)", lambda x, n=v: n))
            ftrace("sizes %d" % v, c, text(rb"(size:)(\d+)", lambda x, n=v: n))
        ftrace("long steps", c, set_entries(random.Random(1), 1, set_delta(1 << 27)))
        for kind in (29, 30, 31):
            ftrace("kind %d" % kind, c,
                   set_entries(random.Random(kind), 0.05, set_kind(kind)))
        for i in range(MIXES // 2):
            r = random.Random(i)
            ftrace("payload, mix %d" % i, c, set_entries(r, 0.5, set_payload(r)))
            ftrace("formats, mix %d" % i, c, text(
                rb"((?:offset|size|signed|ID):\s?)(\d+)", lambda x, r=r:
                r.choice(NUMBERS) if r.random() < 0.05 else x))


def set_program(path):
    global PROGRAM, SANITIZED
    PROGRAM = os.path.abspath(path)
    with open(PROGRAM, "rb") as f:
        SANITIZED = b"__asan_init" in f.read()


def main():
    set_program(sys.argv[1])
    captures = os.path.abspath(unpack.unpack())
    os.chdir(sys.argv[2])
    of_made()
    of_ctf(captures)
    of_ftrace(captures)
    # a lie may be the truth of a capture, but most are not
    print("%sok lies change captures" % (
        "" if sum(CHANGED) > 0.8 * len(CHANGED) else "not "))
    print("# %d of %d" % (sum(CHANGED), len(CHANGED)))


if __name__ == "__main__":
    main()

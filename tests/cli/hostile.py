# hostile.py - CTF traces that want memory, and how much a program takes for each.
"""usage: hostile.py PROGRAM DIR [NAME...]

Writes one trace after the other, of SIZE bytes where that can be chosen, and
ingests it in a process of its own, whose peak of resident memory must be at
most the size of the trace and 68 MiB, as its database is 356 times as large. Pages of the mapped files count. What the
stitch keeps for each thread and request is bounded by their number: EACH has
the bytes, which backstitch-memory(7) states. A file is as large as its pages of 4 KiB, of which none can be mapped in
part."""

import json
import os
import random
import resource
import shutil
import struct
import sys
import time

MIB = 1 << 20
SIZE = 4 * MIB
ROOM = 68 * MIB
ENDS = 60  # seconds: far more than any of them takes
UUID = bytes(range(16))

TYPES = """/* CTF 1.8 */
typealias integer { size = 1; align = 1; } := u1;
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
typealias integer { size = 8; align = 8; map = clock.c.value; } := t8;
typealias integer { size = 64; align = 8; map = clock.c.value; } := t64;
trace { major = 1; minor = 8; byte_order = le; uuid = "%s";
packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };
env { tracer_name = "%s"; domain = "%s"; };
clock { name = c; freq = 1000000000; };
"""
PACKET = ("t64 timestamp_begin; t64 timestamp_end; u64 content_size;"
          " u64 packet_size; u32 cpu_id;")
HEAD = struct.Struct("<I16sIQQQQQI")


def uuid_text(uuid):
    t = uuid.hex()
    return "-".join((t[:8], t[8:12], t[12:16], t[16:20], t[20:]))


def types(uuid=UUID, tracer="any", domain="any"):
    return TYPES % (uuid_text(uuid), tracer, domain)


def stream(header="u8 id; t8 timestamp;", context="", packet=PACKET):
    s = "stream { id = 0; packet.context := struct { %s };" % packet
    if header:
        s += " event.header := struct { %s };" % header
    if context:
        s += " event.context := struct { %s };" % context
    return s + " };\n"


def event(fields, ident=0, name="e"):
    return ('event { id = %d; stream_id = 0; name = "%s"; fields := struct'
            " { %s }; };\n" % (ident, name, fields))


def packet(body, seq=0, instance=0, uuid=UUID, more=b"", cpu=0, stream_id=0):
    n = (HEAD.size + len(more) + len(body)) * 8
    begin = 1000 + seq * 1000000
    return HEAD.pack(0xC1FC1FC1, uuid, stream_id, instance, begin,
                     begin + 999999, n, n, cpu) + more + body


class Trace:
    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder)

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())

    def make(self, meta, bodies, **more):
        """One stream; bodies: the events of its packets."""
        self.write("metadata", meta)
        with open(os.path.join(self.folder, "s"), "wb") as f:
            for i, body in enumerate(bodies):
                f.write(packet(body, seq=i, **more))


def split(data, n):
    return (data[i:i + n] for i in range(0, len(data), n))


# ---- what the stitch keeps for each thread, stack, request and mapping

def threads(t):
    """A new thread with every event."""
    n = SIZE // 6
    body = b"".join(struct.pack("<BBI", 0, 1, i + 1) for i in range(n))
    t.make(types() + stream(context="u32 vtid;") + event("", name="e"),
           split(body, 6 * 1024))
    return n


def names(t):
    """A new thread with a name."""
    n = SIZE // 10
    body = b"".join(struct.pack("<BBI", 0, 1, i + 1) + b"%03x\0" % (i & 4095)
                    for i in range(n))
    t.make(types() + stream(context="u32 vtid; string procname;") + event(""),
           split(body, 10 * 1024))
    return n


def renames(t):
    """A new name of one thread with every event."""
    n = SIZE // 12
    body = b"".join(struct.pack("<BBI", 0, 1, 7) + b"%05x\0" % (i & 0xfffff)
                    for i in range(n))
    t.make(types() + stream(context="u32 vtid; string procname;") + event(""),
           split(body, 12 * 1024))
    return n


def requests(t):
    """Requests whose stacks never come."""
    n = SIZE // 10
    body = b"".join(struct.pack("<BBQ", 0, 1, i + 1) for i in range(n))
    t.make(types() + stream(context="") +
           event("u64 cookie;", name="stitch:request"),
           split(body, 10 * 1024))
    return n


def stacks(t):
    """Stacks that have nothing in common."""
    r = random.Random(1)
    depth = 64
    n = SIZE // (4 + depth * 8)
    body = b"".join(struct.pack("<BBH", 0, 1, depth) +
                    r.randbytes(depth * 8) for _ in range(n))
    t.make(types() + stream(context="u16 n; u64 callstack_user[n];") +
           event(""), split(body, (4 + depth * 8) * 100))
    return n * depth


def mappings(t):
    """Mappings that are never used."""
    n = SIZE // 20
    body = b"".join(struct.pack("<BBQQ", 0, 1, (i + 1) << 12, 4096) + b"a\0"
                    for i in range(n))
    t.make(types(tracer="lttng-ust", domain="ust") + stream() +
           event("u64 baddr; u64 memsz; string path;",
                 name="lttng_ust_statedump:bin_info"), split(body, 20 * 1024))
    return n


def forks(t):
    """Threads that begin and never end."""
    n = SIZE // 18
    body = b"".join(struct.pack("<BBIIII", 0, 1, 1, i + 2, 1, i + 2)
                    for i in range(n))
    t.make(types() + stream() +
           event("u32 parent_tid; u32 child_tid; u32 parent_pid;"
                 " u32 child_pid;", name="sched_process_fork"),
           split(body, 18 * 1024))
    return n


# ---- the reader

def context(t):
    """A large packet context, with events of one byte."""
    note = b"x" * 60000 + b"\0"
    t.make(types() + stream(header="t8 timestamp;",
                            packet=PACKET + " string note;") + event(""),
           (b"\1" * 20000 for _ in range(8)), more=note)


def streams(t):
    """Thousands of files that are read at the same time."""
    n = 3000
    fields = "".join("u8 n%d; u8 a%d[n%d];" % (i, i, i) for i in range(500))
    t.write("metadata", types() + stream() + event(fields))
    for i in range(n):
        t.write("s%d" % i, packet(b"\0\1" + bytes(500), instance=i))


def traces(t):
    """Many traces, each of a thread with the largest id."""
    for i in range(300):
        u = struct.pack("<QQ", 1, i + 1)
        one = Trace(os.path.join(t.folder, "t%d" % i))
        one.write("metadata", types(u) + stream(
            context="u32 vtid; string procname;") + event(""))
        one.write("s", packet(struct.pack("<BBI", 0, 1, 4194303 - i) + b"a\0",
                              uuid=u))


def cpus(t):
    """Many traces, each with a switch of the largest CPU."""
    fields = "u32 prev_tid; u32 next_tid; u32 prev_state;"
    for i in range(300):
        u = struct.pack("<QQ", 2, i + 1)
        one = Trace(os.path.join(t.folder, "t%d" % i))
        one.write("metadata", types(u) + stream() +
                  event(fields, name="sched_switch"))
        one.write("s", packet(struct.pack("<BBIII", 0, 1, 1, 2, 0), uuid=u,
                              cpu=65535))


def classes(t):
    """Classes of events, each with 100 fields, and one event of each."""
    n = 2000
    fields = "".join("u8 f%d;" % i for i in range(100))
    t.write("metadata", types() + stream(header="u16 id; t8 timestamp;") +
            "struct all { %s };\n" % fields +
            "".join("event { id = %d; stream_id = 0; name = e%d;"
                    " fields := struct all; };\n" % (i, i) for i in range(n)))
    t.write("s", packet(b"".join(struct.pack("<HB", i, 1) + bytes(100)
                                 for i in range(n))))


def tables(t):
    """The same, with a column for each field."""
    classes(t)


def stream_classes(t):
    """Classes of streams, each with a packet."""
    n = 4000
    meta = types()
    for i in range(n):
        meta += stream().replace("id = 0", "id = %d" % i)
        meta += event("u8 n; u8 a[n];").replace(
            "stream_id = 0", "stream_id = %d" % i)
    t.write("metadata", meta)
    for i in range(n):
        t.write("s%d" % i, packet(b"\0\1\1\1", stream_id=i))


def packets(t):
    """As many packets as there can be, without events, in two files."""
    n = SIZE // (2 * HEAD.size)
    t.write("metadata", types() + stream() + event(""))
    for name in "ab":
        t.write(name, b"".join(packet(b"", seq=i) for i in range(n)))


def same_time(t):
    """Events of one byte, all at one time."""
    t.make(types() + stream(header="u8 id;") + event(""), [bytes(SIZE)])


def no_time(t):
    """Events of one byte without a clock."""
    t.make(types() + stream(header="u8 id;", packet="u64 a; u64 b; u64 "
                            "content_size; u64 packet_size; u32 cpu_id;") +
           event(""), [bytes(SIZE)])


def bits(t):
    """Stacks of addresses of one bit."""
    r = random.Random(2)
    n = 65536 // 8
    body = b"".join(struct.pack("<BBI", 0, 1, n * 8) + r.randbytes(n)
                    for _ in range(SIZE // 4 // n))
    t.make(types() + stream(context="u32 n; u1 callstack_user[n];") +
           event(""), split(body, (n + 6) * 16))


def nothing(t):
    """Lists of 2^60 elements that have no size."""
    t.make(types() + stream() + event("u64 n; struct {} a[n];"),
           [struct.pack("<BBQ", 0, 1, 1 << 60)] * 50)


def almost_nothing(t):
    """Lists of 60,000 of them."""
    body = struct.pack("<BBQ", 0, 1, 60000) * 1000
    t.make(types() + stream() + event("u64 n; struct {} a[n];"),
           [body] * (SIZE // 4 // len(body)))


def strings(t):
    """Texts of 60,000 bytes, of which 64 KiB are kept for an event."""
    text = b"x" * 30000 + b"\0"
    t.make(types() + stream() + event("string a; string b; string c;"),
           [(b"\0\1" + text * 3) * 4] * 10)


def json_bits(t):
    """Bits that become a list as text."""
    n = 32768
    body = struct.pack("<BBI", 0, 1, n) + b"\xa5" * (n // 8)
    t.make(types() + stream() + event("u32 n; u1 a[n]; u8 z;"),
           [(body + b"\0") * 10] * (SIZE // 10 // len(body)))


def variants(t):
    """A variant with 2,000 options of 20 fields."""
    inner = "".join("u8 m%d;" % i for i in range(20))
    labels = ",".join("l%d = %d" % (i, i) for i in range(2000))
    options = "".join("struct in l%d;" % i for i in range(2000))
    t.make(types() + stream() + "struct in { %s };\n" % inner +
           event("enum : u16 { %s } e; variant <e> { %s } v;"
                 % (labels, options)),
           [b"".join(struct.pack("<BBH", 0, 1, i % 2000) + bytes(20)
                     for i in range(1000))] * (SIZE // 4 // 24000))


def deep_tsdl(t):
    """Structures in structures."""
    n = SIZE // 16
    t.make(types() + stream() + event("struct { " * n + "u8 x;" + " } a;" * n),
           [b"\0\1\0"])


def many_tsdl(t):
    """A million fields."""
    t.make(types() + stream() + event("u8 a;\n" * (SIZE // 6)), [b"\0\1\0"])


def labels(t):
    """Half a million labels."""
    t.make(types() + stream() + event("enum : u32 { %s } e;" % ",".join(
        "l%d" % i for i in range(SIZE // 8))), [b"\0\1\0\0\0\0"])


def clocks(t):
    """Clocks without number."""
    t.make(types() + "clock { name = a; };" * (SIZE // 20) + stream() +
           event(""), [b"\0\1"])


def json_meta(first, unit, last):
    """CTF 2 metadata with a fragment of a repeated value."""
    return ('\x1e{"type":"preamble","version":2}\x1e{"type":"trace-class",'
            '"attributes":{"a":' + first + unit * (SIZE // len(unit)) + last +
            '}}\x1e{"type":"data-stream-class"}\x1e{"type":'
            '"event-record-class","payload-field-class":{"type":'
            '"structure","member-classes":[{"name":"a","field-class":{"type":'
            '"fixed-length-unsigned-integer","length":8,"byte-order":'
            '"little-endian"}}]}}')


def deep_json(t):
    """Arrays in arrays."""
    t.write("metadata", json_meta("", "[", ""))
    t.write("s", b"\0")


def wide_json(t):
    """Empty arrays side by side."""
    t.write("metadata", json_meta("[", "[],", "[]]"))
    t.write("s", b"\0")


def objects_json(t):
    """Empty objects side by side."""
    t.write("metadata", json_meta("[", "{},", "{}]"))
    t.write("s", b"\0")


def fragments(t):
    """Small fragments without end."""
    one = json.dumps({"type": "field-class-alias", "name": "%d",
                      "field-class": {"type": "null-terminated-string"}})
    t.write("metadata", '\x1e{"type":"preamble","version":2}' + "".join(
        "\x1e" + one % i for i in range(SIZE // len(one))) +
        '\x1e{"type":"data-stream-class"}')
    t.write("s", b"\0")


def magic(t):
    """Nothing but the beginnings of packets."""
    t.write("metadata", types() + stream() + event(""))
    t.write("s", struct.pack("<I", 0xC1FC1FC1) * (SIZE // 4))


def damage(t):
    """A byte of damage behind every packet."""
    one = packet(b"") + b"?"
    t.write("metadata", types() + stream() + event(""))
    t.write("s", one * (SIZE // len(one)))


def back(t):
    """Times that go back with every event."""
    body = b"".join(struct.pack("<BQ", 0, (1 << 40) - 5000 * i)
                    for i in range(SIZE // 2 // 9))
    t.make(types() + stream(header="u8 id; t64 timestamp;") + event(""),
           split(body, 9 * 1000))


def discarded(t):
    """Lost events before every packet."""
    more = PACKET + " u64 events_discarded;"
    n = SIZE // (HEAD.size + 8)
    t.write("metadata", types() + stream(packet=more) + event(""))
    t.write("s", b"".join(packet(b"", seq=i, more=struct.pack("<Q", i))
                          for i in range(n)))


# ---- what unfolds

def doubled(t):
    """A structure of 2^28 fields, in 28 lines."""
    t.make(types() + stream() + "struct d0 { u8 a; u8 b; };\n" + "".join(
        "struct d%d { struct d%d a; struct d%d b; };\n" % (i, i - 1, i - 1) for i in range(1, 28)) +
        event("struct d27 a;"), [b"\0\1\0"])


def doubled_aliases(t):
    """The same without nesting deeper than is read: 2^18 fields, in 17 lines, of 100 events."""
    t.make(types() + stream() + "struct d0 { u8 a; u8 b; };\n" + "".join(
        "typealias struct d%d := y%d; struct d%d { y%d a; y%d b; };\n" % (i - 1, i, i, i, i)
        for i in range(1, 17)) +
        "".join(event("struct d16 a;", ident=i, name="e%d" % i) for i in range(100)), [b"\0\1\0"])


def itself(t):
    """Types of themselves."""
    t.make(types() + stream() + "typealias struct { self a; } := self; struct s { struct s a; };\n" +
           "variant v { variant v a; };" + event("self a;"), [b"\0\1\0"])


def lists_of_nothing(t):
    """Lists of lists, six deep, of 60,000 elements that have no size."""
    t.make(types() + stream() + event("u64 n; struct {} a%s;" % ("[n]" * 6)),
           [struct.pack("<BBQ", 0, 1, 60000) * 1000] * 20)


def fixed_nothing(t):
    """Arrays of 2^32 in 30 dimensions of what has no size."""
    t.make(types() + stream() + event("struct {} a%s;" % ("[4294967295]" * 30)),
           [b"\0\1" * 1000] * 20)


def environment(t):
    """An environment of strings of a megabyte."""
    t.make(types() + "env { %s };\n" % "".join('s%d = "%s";' % (i, "x" * 1000000) for i in range(SIZE // 1000000)) +
           stream() + event(""), [b"\0\1"])


def many_environment(t):
    """An environment of one name, again and again."""
    t.make(types() + "env { %s };\n" % "".join('hostname = "%d";' % i for i in range(SIZE // 16)) +
           stream() + event(""), [b"\0\1"])


def long_word(t):
    """A name of all the bytes."""
    t.make(types() + stream() + event("u8 %s;" % ("a" * SIZE)), [b"\0\1\0"])


def long_number(t):
    """A number of as many digits."""
    t.make(types() + stream() + event("u8 a[%s];" % ("1" * SIZE)), [b"\0\1\0"])


def comment(t):
    """Comments that have no end."""
    t.make(types() + stream() + event("") + "/*" * (SIZE // 2), [b"\0\1"])


def meta_packets(t):
    """Metadata in packets of a byte."""
    text = (types() + stream() + event("")).encode()
    text += b" " * (SIZE // 38 - len(text))
    t.write("metadata", b"".join(struct.pack("<I16sIIIBBBBB", 0x75D11D57, UUID, 0, 38 * 8, 38 * 8, 0, 0, 0, 1, 8) +
                                 text[i:i + 1] for i in range(len(text))))
    t.write("s", packet(b"\0\1"))


def chunks(t):
    """Chunks of one trace."""
    for i in range(3000):
        one = Trace(os.path.join(t.folder, "archives", "20200101T000000+0000-20200101T000000+0000-%d" % i, "kernel"))
        one.write("metadata", types() + stream() + event(""))
        one.write("s_0", packet(b"\0\1", seq=i))


def chunk_files(t):
    """Files of one stream, by number."""
    t.write("metadata", types() + stream() + event(""))
    for i in range(3000):
        t.write("s_0_%d" % i, packet(b"\0\1", seq=i))


def indexes(t):
    """Indices, each of whose rows names the same packet."""
    t.write("metadata", types() + stream() + event(""))
    os.makedirs(os.path.join(t.folder, "index"))
    p = packet(b"\0\1")
    for i in range(20):
        t.write("s_%d" % i, p)
        t.write("index/s_%d.idx" % i, struct.pack(">IIII", 0xC1F1DCC1, 1, 1, 72) +
                struct.pack(">9Q", 0, len(p) * 8, len(p) * 8, 1000, 1000, 0, 0, i, 0) * (SIZE // 72 // 20))


def overlapping(t):
    """Events whose label is one of 100,000 that overlap."""
    t.make(types() + stream() + event("enum : u32 { %s, last = 4294967295 } e;" % ",".join(
        "l%d = %d ... %d" % (i, i, 4294967294 - i) for i in range(100000))),
        [b"\0\1" + b"\xff" * 4] * 100 + [(b"\0\1" + struct.pack("<I", 2000000000)) * 2000] * 100)


def label_texts(t):
    """Events of two bytes with a label of 60,000."""
    t.make(types() + stream(header="u8 id;") + event("enum : u8 { %s = 0 } e;" % ("l" * 60000)),
           [bytes(2 * 20000)] * 10)


def long_fields(t):
    """Events of two bytes whose field has a name of 60,000."""
    t.make(types() + stream(header="u8 id;") + event("u8 %s;" % ("f" * 60000)),
           [bytes(2 * 20000)] * 10)


def long_names(t):
    """Each class of events has a name of 60,000 bytes, and each field."""
    t.write("metadata", types() + stream(header="u16 id; t8 timestamp;") + "".join(
        event("u8 f%d_%s;" % (i, "f" * 30000), ident=i, name="%d%s" % (i, "e" * 30000)) for i in range(60)))
    t.write("s", packet(b"".join(struct.pack("<HBB", i, 1, 0) for i in range(60)) * 100))


def fixed_arrays(t):
    """Arrays of 2^32 bits in each of 20 dimensions."""
    t.make(types() + stream() + event("u1 a%s;" % ("[4294967296]" * 20)), [b"\0\1\0"])


def padded(t):
    """Events that are aligned to 64 Kbit each."""
    t.make(types() + stream() + event("struct { u8 x; } align(65536) a;"), [b"\0\1" + bytes(20000)] * 100)


def clock_ends(t):
    """Clocks of one tick a second, at the ends of time."""
    m = types().replace("freq = 1000000000;", "freq = 1; offset_s = 9223372036854775807; offset = 9223372036854775807;")
    t.make(m + stream() + event(""), [b"\0\1" * 1000] * 20)


def clock_fast(t):
    """Clocks of 2^64 ticks a second."""
    m = types().replace("freq = 1000000000;", "freq = 18446744073709551615; offset_s = -9223372036854775808;")
    t.make(m + stream() + event(""), [b"\0\1" * 1000] * 20)


def many_lengths(t):
    """Sequences whose lengths are looked for through 30,000 names, each."""
    n = 30000
    t.make(types() + stream() + event("".join("u8 n%d;" % i for i in range(n)) + "".join(
        "u8 a%d[n%d];" % (i, n - 1 - i % 500) for i in range(n))), [b"\0\1" + bytes(n)] * 20)


def wide_events(t):
    """Events of 20,000 fields of a bit."""
    t.make(types() + stream() + event("".join("u1 b%d;" % i for i in range(20000))), [(b"\0\1" + bytes(2500)) * 100] * 10)


def json_numbers(t):
    """A number of all the bytes."""
    t.write("metadata", json_meta("", "9", "9"))
    t.write("s", b"\0")


def json_names(t):
    """An object of equal names."""
    t.write("metadata", json_meta("{", '"a":1,', '"a":1}'))
    t.write("s", b"\0")


def json_text(t):
    """A text of escapes."""
    t.write("metadata", json_meta('"', "\\u0000", '"'))
    t.write("s", b"\0")


def json_aliases(t):
    """Aliases that double, 2^32 fields."""
    def frag(o):
        return "\x1e" + json.dumps(o)
    u8 = {"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian"}
    m = frag({"type": "preamble", "version": 2})
    prev = u8
    for i in range(31):
        m += frag({"type": "field-class-alias", "name": "a%d" % i, "field-class": {
            "type": "structure", "member-classes": [{"name": "x", "field-class": prev}, {"name": "y", "field-class": prev}]}})
        prev = "a%d" % i
    m += frag({"type": "trace-class"}) + frag({"type": "data-stream-class"}) + frag(
        {"type": "event-record-class", "payload-field-class": {"type": "structure", "member-classes": [{"name": "x", "field-class": prev}]}})
    t.write("metadata", m)
    t.write("s", b"\0")


def json_self(t):
    """An alias of itself."""
    def frag(o):
        return "\x1e" + json.dumps(o)
    t.write("metadata", frag({"type": "preamble", "version": 2}) + frag({"type": "field-class-alias", "name": "a", "field-class": {"type": "structure", "member-classes": [{"name": "x", "field-class": "a"}]}}) +
            frag({"type": "data-stream-class"}) + frag({"type": "event-record-class", "payload-field-class": "a"}))
    t.write("s", b"\0")


# Their fields become columns.
COLUMNS = (tables, lists_of_nothing, overlapping, label_texts, long_fields, wide_events)
# Bytes for each beyond the 68 MiB.
EACH = {threads: 400, names: 400, forks: 800, requests: 250}
ALL = [threads, names, renames, requests, stacks, mappings, forks, context,
       streams, traces, cpus, classes, tables, stream_classes, packets,
       same_time, no_time, bits, nothing, almost_nothing, strings, json_bits,
       variants, deep_tsdl, many_tsdl, labels, clocks, deep_json, wide_json,
       objects_json, fragments, magic, damage, back, discarded,
       doubled, doubled_aliases, itself, lists_of_nothing, fixed_nothing,
       environment, many_environment, long_word, long_number, comment,
       meta_packets, chunks, chunk_files, indexes, overlapping,
       label_texts, long_fields, long_names, fixed_arrays, padded,
       clock_ends, clock_fast, many_lengths, wide_events, json_numbers,
       json_names, json_text, json_aliases, json_self]


def size_of(folder):
    n = 0
    for root, _, files in os.walk(folder):
        for f in files:
            n += -(-os.stat(os.path.join(root, f)).st_size // 4096) * 4096
    return n


def run(args):
    """Status, peak in bytes, seconds. The peak of a child begins with what its
    parent has, so a small process is in between."""
    with open("said", "wb") as said:
        pid = os.fork()
        if not pid:
            try:
                resource.setrlimit(resource.RLIMIT_CPU, (ENDS, ENDS))
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
                os.execv(args[0], args)
            finally:
                os._exit(127)
        _, status, used = os.wait4(pid, 0)
    return (os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024,
            used.ru_utime + used.ru_stime)


def build(make, folder):
    """In a process of its own, so that this one stays small."""
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        n = make(Trace(folder)) or 0
        os.write(w, b"%d" % n)
        os._exit(0)
    os.close(w)
    n = os.read(r, 20)
    os.close(r)
    if os.waitpid(pid, 0)[1] or not n:
        sys.exit("%s: not made" % make.__name__)
    return int(n)


def attempt(program, make):
    name = make.__name__
    folder = os.path.join(os.getcwd(), name)
    n = build(make, folder)
    size = size_of(folder)
    fields = "all" if make in COLUMNS else "none"
    args = [program, "ingest", "-q", "-f", "--no-symbols", "--fields", fields,
            "-o", "h.db", folder]
    start = time.time()
    if os.path.exists("h.db"):
        os.remove("h.db")
    status, peak, took = run(args)
    shutil.rmtree(folder)
    bound = size + ROOM + EACH.get(make, 0) * n
    said = open("said", encoding="utf-8", errors="replace").read()
    stored = os.path.getsize("h.db") if os.path.exists("h.db") else 0
    # what is in events, and 100 bytes for each, which may have one
    ok = peak <= bound and status in (0, 1, 3) and stored <= 356 * size
    print("%s %s stays within its bound" % ("ok" if ok else "not ok",
                                             name))
    print("# %s: %.1f MiB, peak %.1f of %.1f MiB, status %d, %.1f s (%.1f)%s"
          % (make.__doc__.rstrip("."), size / MIB, peak / MIB, bound / MIB,
             status, took, time.time() - start,
             ", %d bytes for each of %d" % ((peak - size) // n, n)
             if n else ""))
    if status not in (0, 3) or not ok:
        print("".join("# %s\n" % line for line in said.split("\n")[:3]
                      if line), end="")
    sys.stdout.flush()


def main():
    program = os.path.abspath(sys.argv[1])
    os.chdir(sys.argv[2])
    for make in ALL:
        if len(sys.argv) < 4 or make.__name__ in sys.argv[3:]:
            attempt(program, make)


if __name__ == "__main__":
    main()

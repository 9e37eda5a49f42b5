# ctfmade.py - CTF traces made here, for what no recorded one shows.
"""usage: ctfmade.py

A trace that kills the library in the middle, beside one that is whole; stacks
of functions by name; each kind of damage to a file; counters of losses;
clocks. What must come out follows from how the traces are made."""

import os
import re
import shutil
import struct
import tempfile

import common

UUID = bytes(range(1, 17))
PACKET = 4096
METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 16; align = 8; signed = false; } := u16;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
trace { major = 1; minor = 8; byte_order = le;
 uuid = "01020304-0506-0708-090a-0b0c0d0e0f10";
 packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; }; };
env { domain = "ust"; tracer_name = "lttng-ust"; };
clock { name = "monotonic"; freq = 1000000000; offset = 5; };
typealias integer { size = 64; align = 8; signed = false;
 map = clock.monotonic.value; } := t64;
stream { id = 0;
 packet.context := struct { t64 timestamp_begin; t64 timestamp_end;
  u64 content_size; u64 packet_size; u32 cpu_id; };
 event.header := struct { u16 id; t64 timestamp; };
 event.context := struct { u32 _vpid; u32 _vtid; }; };
event { id = 0; name = "app:tick"; stream_id = 0;
 fields := struct { u32 _n; }; };
event { id = 1; name = "app:list"; stream_id = 0;
 fields := struct { u32 __list_length; u32 _list[__list_length]; }; };
event { id = 2; name = "py:request"; stream_id = 0;
 fields := struct { u64 _cookie; }; };
event { id = 3; name = "py:stack"; stream_id = 0;
 fields := struct { u64 _cookie; u32 __names_length;
  string _names[__names_length]; }; };
"""


def event(kind, time, body, tid=7):
    return struct.pack("<HQII", kind, time, 7, tid) + body


HEAD = 24 + 36


def packet(events, cpu=0):
    """events: (time, bytes) in order."""
    body = b"".join(e for _, e in events)
    head = struct.pack("<I16sI", 0xC1FC1FC1, UUID, 0)
    size = len(head) + 36 + len(body)
    whole = (size + PACKET - 1) // PACKET * PACKET
    head += struct.pack("<QQQQI", events[0][0], events[-1][0], size * 8,
                        whole * 8, cpu)
    return (head + body).ljust(whole, b"\0")


def ticks(first, n, step=2):
    out = []
    for i in range(n):
        t = 1000 + (first + i) * step
        out.append((t, event(0, t, struct.pack("<I", first + i))))
    return out


def packets(first, n, each=100, step=2, cpu=0):
    return [packet(ticks(first + i, min(each, first + n - first - i), step),
                   cpu) for i in range(0, n, each)]


def write(folder, metadata, **streams):
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/metadata", "w", encoding="utf-8") as f:
        f.write(metadata)
    for name, data in streams.items():
        with open(folder + "/" + name, "wb") as f:
            f.write(data)


def ingest(folder, *options):
    return common.into(os.path.join(common.CACHE, "ctfmade.db"),
                       "--no-symbols", "--fields", "all", folder, *options)


def numbers(db):
    return [n for n, in common.query(
        db, "SELECT n FROM ev_app_tick ORDER BY event_id")]


def damage(db):
    return common.query(db, "SELECT what, detail FROM damage"
                            " WHERE kind = 'damage'")


def check(name, *facts):
    bad = ["%s: %r, needs %r" % (what, got, want)
           for what, got, want in facts if got != want]
    common.ok(not bad, name, bad)


def long_list(tmp):
    """A list of 4 billion numbers costs the packet that it is in."""
    n = 3000
    bad = packets(0, n, step=4)
    t = 1000 + n * 4
    bad.append(packet([(t, event(1, t, struct.pack("<I", 0xffffffff)))]))
    bad += packets(n + 1, 100, step=4)
    write(tmp + "/s/bad", METADATA, c_0=b"".join(bad))
    good = []
    for p in range(0, 2 * n, 100):
        events = []
        for i in range(p, p + 100):
            t = 1001 + i * 4
            events.append((t, event(0, t, struct.pack("<I", 1000000 + i))))
        good.append(packet(events, 1))
    write(tmp + "/s/good", METADATA, c_1=b"".join(good))
    db, status, said = ingest(tmp + "/s")
    got = numbers(db)
    rows = damage(db)
    check("a list of 4 billion numbers costs its packet",
          ("status", status, 3), ("rows", len(rows), 1),
          ("its path", "/s/bad" in (rows or [("", "")])[0][1], True),
          ("its trace", [v for v in got if v < 1000000],
           list(range(n)) + list(range(n + 1, n + 101))),
          ("the other", [v for v in got if v >= 1000000],
           list(range(1000000, 1000000 + 2 * n))),
          ("words", said.count("Traceback"), 0))


def names_for_addresses(tmp):
    events = []
    for i in range(20):
        t = 1000 + i * 10
        events.append((t, event(2, t, struct.pack("<Q", i + 1))))
        if i == 13:
            continue
        names = [b"leaf", b"step%d" % (i % 3), b"main"]
        events.append((t + 5, event(3, t + 5, struct.pack("<QI", i + 1, 3) +
                                    b"".join(s + b"\0" for s in names))))
    write(tmp + "/n", METADATA, c_0=packet(events))
    db, status, _ = ingest(tmp + "/n", "--request", "py:request(cookie)",
                           "--chain", "py:stack(cookie,names)")
    verdicts = common.query(
        db, "SELECT chain IS NOT NULL, count(*) FROM request GROUP BY 1"
            " ORDER BY 1")
    stacks = common.query(
        db, "SELECT group_concat(name, ';') FROM (SELECT p.stack AS stack,"
            " s.name AS name FROM stack_path p JOIN frame f ON f.id = p.frame"
            " JOIN symbol s ON s.id = f.symbol ORDER BY p.stack, p.pos)"
            " GROUP BY stack ORDER BY 1")
    want = sorted("main;step%d;leaf" % k for k in range(3))
    got = sorted(s for s, in stacks)
    check("a chain may be functions by name", ("status", status, 0),
          ("joined", verdicts, [(0, 1), (1, 19)]),
          ("stacks", got in (want, sorted(
              ";".join(reversed(w.split(";"))) for w in want)), True))


def broken(tmp, name, change, want, what=True, metadata=METADATA):
    """Ten packets of a hundred events, and as many of another CPU."""
    one = b"".join(packets(0, 1000))
    two = b"".join(packets(2000, 1000, cpu=1))
    folder = tmp + "/" + name.replace(" ", "-")
    write(folder, metadata, c_0=change(one), c_1=two)
    db, status, said = ingest(folder)
    got = numbers(db) if status != 1 else said
    check(name, ("status", status, 3 if what else 0),
          ("events", got, want + list(range(2000, 3000))),
          ("rows", len(damage(db)) if status != 1 else 0, int(what)))


def all_broken(tmp):
    def flip(data, at, n=4):
        return data[:at] + b"\xee" * n + data[at + n:]

    size = len(packets(0, 100)[0])
    front = list(range(900))
    gap = list(range(300)) + list(range(400, 1000))
    broken(tmp, "whole", lambda d: d, list(range(1000)), False)
    # of the last packet its head and whole events
    some = (size // 2 - HEAD) // len(event(0, 0, b"1234"))
    broken(tmp, "cut in the last packet", lambda d: d[:9 * size + size // 2],
           list(range(900 + some)))
    broken(tmp, "cut in a packet's head", lambda d: d[:-size + 10], front)
    broken(tmp, "bad magic", lambda d: flip(d, 3 * size), gap)
    broken(tmp, "bad size", lambda d: flip(d, 3 * size + 40, 16), gap)
    broken(tmp, "bad uuid", lambda d: flip(d, 3 * size + 8), gap)
    broken(tmp, "empty file", lambda d: b"", [], False)
    broken(tmp, "garbage for a file", lambda d: b"\xee" * len(d), [])
    broken(tmp, "cut metadata", lambda d: d, list(range(1000)), True,
           METADATA + "event { id = 9; name = \"app:no")


KINDS = """typealias integer { size = 32; align = 8; signed = true; } := s32;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := x64;
typealias integer { size = 32; align = 8; signed = true; base = 8; } := so32;
typealias integer { size = 8; align = 8; signed = true; base = 2; } := b8;
typealias integer { size = 16; align = 8; signed = true; base = 16; } := sx16;
event { id = 4; name = "app:kinds"; stream_id = 0; fields := struct {
 enum : s32 { IDLE = -1, RUN, ZERO = 0, STOP = 5 ... 9 } state;
 struct { u32 a; x64 addr; struct { s32 deep; string name; } in; } pos;
 enum : u8 { one, two } tag;
 variant <tag> { u32 one; struct { u16 p; x64 q; } two; } v;
 x64 list[2]; u16 _n_len; s32 seq[_n_len];
 struct { u8 x; u8 y; } pts[2]; enum : u8 { off, on } flags[2];
 u8 bytes[2]; string s; so32 mode; b8 bits; sx16 neg; string names[2]; }; };
"""


def kinds(tmp):
    """The text of each kind of field; babeltrace2, where it is, prints it."""
    body = struct.pack("<iIQi", -1, 1, 0x7f97b8fba000, -3) + b"deep\0"
    body += struct.pack("<BHQ", 1, 3, 255) + struct.pack("<2Q", 0xabc, 0)
    body += struct.pack("<Hii", 2, 5, -6) + bytes([1, 2, 3, 4, 0, 7, 1, 254])
    body += b'q"\n\0' + struct.pack("<ibh", -8, -3, -1) + b"n1\0n 2\0"
    two = struct.pack("<iIQi", 0, 1, 0, 0) + b"\0" + struct.pack("<BI", 0, 77)
    two += body[body.index(struct.pack("<2Q", 0xabc, 0)):]
    write(tmp + "/k", METADATA + KINDS, c_0=packet(
        [(1000, event(4, 1000, body)), (2000, event(4, 2000, two))]))
    rest = ("list = [ [0] = 0xABC, [1] = 0x0 ], n_len = 2, seq = [ [0] = 5, "
            "[1] = -6 ], pts = [ [0] = { x = 1, y = 2 }, [1] = { x = 3, y = 4 "
            '} ], flags = [ [0] = %s, [1] = %s ], bytes = [ [0] = 1, [1] = 254'
            ' ], s = "q\\"\\n", mode = 077777777770, bits = 0b11111101, '
            'neg = 0xFFFF, names = [ [0] = "n1", [1] = "n 2" ]')
    want = [
        'state = ( "IDLE" : container = -1 ), pos = { a = 1, addr = '
        '0x7F97B8FBA000, in = { deep = -3, name = "deep" } }, tag = ( "two" : '
        "container = 1 ), v = { { p = 3, q = 0xFF } }, " + rest,
        'state = ( "RUN", "ZERO" : container = 0 ), pos = { a = 1, addr = 0x0,'
        ' in = { deep = 0, name = "" } }, tag = ( "one" : container = 0 ), '
        "v = { 77 }, " + rest]
    db = ingest(tmp + "/k")[0]
    said = common.run("script", "-F", "event,trace", db).stdout.decode()
    got = [line.partition("kinds: ")[2].strip()
           for line in said.split("\n") if line.strip()]
    check("kinds of fields", ("text", got, [w % (0, 7) for w in want]))
    if shutil.which("babeltrace2"):
        said = common.output("babeltrace2", tmp + "/k").split("\n")
        labels = '( "off" : container = 0 )', "( <unknown> : container = 7 )"
        lines = [w % labels for w in want]
        if not common.output("babeltrace2", "--version").startswith(
                "Babeltrace 2.0"):
            # since 2.1, several labels of a number are in braces
            lines = [line.replace('"RUN", "ZERO"', '{ "RUN", "ZERO" }')
                     for line in lines]
        check("kinds of fields, by babeltrace2", (
            "text", [re.sub(r".* }, { (state .*) }$", r"\1", line)
                     for line in said if line], lines))


def back_in_time(tmp):
    """The clock of one CPU is set back by 500 ns."""
    two = [packet([(t, event(0, t, struct.pack("<I", t))) for t in times])
           for times in ((1000, 2000), (1500, 1600, 2500))]
    write(tmp + "/b", METADATA, c_0=b"".join(two))
    db, status, _ = ingest(tmp + "/b")
    said = common.run("info", db).stdout.decode()
    order = [line.split(None, 1)[1] for line in said.split("\n")
             if line.startswith("  order")]
    facts = common.answer("info", db)["captures"][0]
    check("steps of the clock are told", ("status", status, 0),
          ("events", numbers(db), [1000, 1500, 1600, 2000, 2500]),
          ("order", order, ["by time, which goes back 2 times, at most by "
                            "500 ns"]),
          ("JSON", (facts["steps_back"], facts["step_ns"]), (2, 500)))


COUNTED = METADATA.replace("u64 packet_size;", "u64 packet_size; "
                           "u64 packet_seq_num; u64 events_discarded;")


def counted(first, n, seq, discarded, cpu=0, end=0):
    """A packet of n ticks, with its number and counter; of none: its time."""
    events = ticks(first, n)
    body = b"".join(e for _, e in events)
    times = [t for t, _ in events] or [first]
    head = struct.pack("<I16sI", 0xC1FC1FC1, UUID, 0)
    size = len(head) + 52 + len(body)
    return (head + struct.pack(
        "<6QI", times[0], end or times[-1], size * 8, PACKET * 8, seq,
        discarded, cpu) + body).ljust(PACKET, b"\0")


def counters(tmp):
    """What numbers of packets and counters tell, and what they do not."""
    def look(name, **streams):
        folder = tmp + "/" + name
        write(folder, COUNTED, **{k: b"".join(v) for k, v in streams.items()})
        db = ingest(folder)[0]
        said = common.run("check", db).stdout.decode()
        verdict = said.partition(": ")[2].partition("  No stacks")[0]
        return (" ".join(verdict.split()),
                re.findall("^  (?:lost|by CPU) +(.*)", said, re.M),
                common.query(db, "SELECT n, t0, t1 FROM loss ORDER BY id"))

    unknown = "broken: an unknown number of records lost"
    gap = "an unknown number in 1 gap"
    clean = "clean: nothing lost, nothing out of order"
    check("packets that were overwritten are a loss of unknown size", (
        "said", look("gap", c_0=[counted(0, 10, 0, 0),
                                 counted(100, 10, 5, 0)]),
        (unknown, [gap, "0: unknown"], [(None, 1018, 1200)])))
    check("packet 0 counts its own losses", (
        "said", look("zero", c_0=[counted(0, 10, 0, 7)]),
        ("broken: 7 records lost", ["7 in 1 gap", "0: 7"],
         [(7, 1000, 1018)])))
    check("a later packet may count those of others", (
        "said", look("later", c_0=[counted(0, 10, 3, 7)]),
        (unknown, [gap, "0: unknown"], [(None, 1000, 1018)])))
    check("a chunk begins with the counts of those before", (
        "said", look("chunk",
                     c_0=[counted(990, 0, 3, 7), counted(0, 10, 4, 7)],
                     c_1=[counted(1001, 0, 9, 2, 1),
                          counted(50, 10, 10, 2, 1)]),
        (clean, ["no record"], [])))
    check("a ring that begins late has overwritten what was before", (
        "said", look("ring", c_0=[counted(0, 10, 0, 0)],
                     c_1=[counted(50, 10, 9, 0, 1)]),
        (unknown, ["an unknown number of records"], [(None, 1000, 1100)])))
    check("a stream may begin late", (
        "said", look("idle", c_0=[counted(0, 10, 0, 0)],
                     c_1=[counted(50, 10, 0, 0, 1)]),
        (clean, ["no record"], [])))


def index(*entries):
    """As LTTng 2.13 writes it, of packets: (offset, bytes)."""
    return struct.pack(">4I", 0xC1F1DCC1, 1, 1, 72) + b"".join(
        struct.pack(">9Q", off, n * 8, n * 8, 0, 0, 0, 0, 0, 0)
        for off, n in entries)


def cut_between(tmp):
    """A file that ends between two packets, and what its index says."""
    whole = packets(0, 300)
    places = [(i * len(whole[0]), len(p)) for i, p in enumerate(whole)]

    def look(name, n, idx):
        folder = tmp + "/" + name
        write(folder + "/index", "", **{"c_0.idx": idx})
        write(folder, METADATA, c_0=b"".join(whole[:n]))
        os.remove(folder + "/index/metadata")
        db, status, _ = ingest(folder)
        said = re.findall(r"\d+ packets? short", str(damage(db)))
        n = common.query(db, "SELECT count(*) FROM event")[0][0]
        return status, n, said

    check("the index tells of packets that a file lacks",
          ("cut", look("cut1", 2, index(*places)),
           (3, 200, ["1 packet short"])),
          ("empty", look("cut0", 0, index(*places)),
           (3, 0, ["3 packets short"])),
          ("whole", look("cut3", 3, index(*places)), (0, 300, [])),
          ("behind", look("cut2", 3, index(*places[:2])), (0, 300, [])),
          ("of another file", look("cut4", 2, index(
              *((off + 8, n) for off, n in places))), (0, 200, [])),
          ("damaged", look("cut5", 2, index(*places)[4:]), (0, 200, [])))


def one_clock(tmp):
    """Two traces, whose events alternate on the clock that both have."""
    def look(name, offset, uuid):
        for i, (own, at) in enumerate(((5, 1000), (offset, 1010))):
            head = METADATA.replace("offset = 5;", 'uuid = "%s"; offset = %d;'
                                    % (uuid[i], own))
            two = UUID[:-1] + bytes([UUID[-1] + i])
            events = [(t, event(0, t, struct.pack("<I", t)))
                      for t in range(at, at + 100, 20)]
            write("%s/%s/%d" % (tmp, name, i), head.replace(
                "0b0c0d0e0f10", "0b0c0d0e0f1%d" % i),
                  c_0=packet(events).replace(UUID, two))
        db, status, said = ingest(tmp + "/" + name)
        if status == 1:
            return re.findall(name + r"/\d\b|two .* boots", said)
        notes = [d for _, d in common.query(
            db, "SELECT what, detail FROM damage WHERE kind = 'note'")]
        first = common.query(db, "SELECT min(time_ns) FROM event")[0][0]
        return [n - 1000 for n in numbers(db)], len(notes), first

    boot = "11121314-1516-1718-191a-1b1c1d1e1f20"
    other = boot.replace("20", "30")
    mixed = list(range(0, 100, 10))
    apart = list(range(0, 100, 20)) + list(range(10, 100, 20))
    check("a clock is one, however its offset was measured",
          ("said", look("near", 505, (boot, boot)), (mixed, 0, 1000)),
          ("of two boots", look("boots", 505, (boot, other)),
           ["boots/0", "boots/1", "two hosts or boots"]),
          ("of two namespaces", look("far", 61 * 10**9, (boot, boot)),
           (apart, 1, 1000)))


def main():
    with tempfile.TemporaryDirectory(prefix="ctfmade-") as tmp:
        long_list(tmp)
        names_for_addresses(tmp)
        all_broken(tmp)
        kinds(tmp)
        back_in_time(tmp)
        counters(tmp)
        one_clock(tmp)
        cut_between(tmp)
    common.finish()


if __name__ == "__main__":
    main()

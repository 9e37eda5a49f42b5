# ctf.py - CTF traces, event for event as babeltrace2 prints them.
"""usage: ctf.py [NAME... | FOLDER]

Beside each LTTng capture lies the text of `babeltrace2 --names=all
--fields=all --clock-seconds` (bt2-all.txt.gz); of other traces it is made here
where babeltrace2 is installed. bt204-all.txt.gz is the text of 2.0.4 where
bt2-all.txt.gz is that of 2.1.2, and must differ by STALE alone. Compared: time, CPU, name, every field of the
event and of its contexts, thread and process ids, stacks; what the tracer
discarded, with the interval; and the text that script prints of each event,
letter for letter. Its members are those of the text that become fields, those
of contexts by the name of the field. Three classes differ:

digits  babeltrace2 prints six of a floating-point number, script those that
        make the same number; and signed hexadecimal numbers in lists, which
        are decimal in script
cut     script prints 4 KiB of a text
labels  of enumerations in lists and variants script prints the number alone

Times are compared by their distance from the
first event: a database has them on the trace's own clock. Traces of one boot
have one clock, while babeltrace2 adds the offset that each trace has."""

import collections
import functools
import glob
import os
import re
import shutil
import subprocess
import sys

import common

# damage: it is not whole, which must be said.
Case = collections.namedtuple("Case", "name path text damage")
# vpid: of the process with its own buffers. flat: what theirs has as columns.
Event = collections.namedtuple(
    "Event", "time name cpu fields contexts text vpid flat", defaults=[None, ()])

BT2 = shutil.which("babeltrace2")
SECONDS = "--clock-seconds", "--clock-gmt"
LOST = re.compile(r"Tracer discarded (?:at least )?(\d+) events? between "
                  r"\[([\d:.]+)\] and \[([\d:.]+)\]")
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([{}\[\](),:=])|([^\s{}\[\](),:="]+)')
# Most structures: numbers, texts, labels and lists of numbers, with names.
WORD = r'[^\s{}\[\](),:="]+'
MEMBER = r'%s = (?:%s|"[^"\\]*"|\[ (?:\[\d+\] = %s(?:, | ))*\]|\( "[^"\\]*" : container = %s \))' % ((WORD,) * 4)
MEMBERS = re.compile(MEMBER)
SIMPLE = re.compile(r"\{ (%s(?:, %s)*) \}(?:, )?" % (MEMBER, MEMBER))
ELEMENT = re.compile(r"\] = (%s)" % WORD)
STAMP = re.compile(r"timestamp = (\d+)\.(\d+)")
VPID = re.compile(r"trace:vpid = \((\d+)\)")
ROOT = re.compile(r"((?:stream|event)\.[\w.]+) = ")
USED = ("pid", "tid", "vpid", "vtid", "procname", "cpu_id",
        "callstack_kernel", "callstack_user", "_callstack_kernel_length",
        "_callstack_user_length")
# Of perf data convert: where the thread and the stack are.
PERF = ("perf_tid", "perf_pid", "perf_callchain")
CONTROL = re.compile(r"[\0-\x1f\x7f]")
# The event that brings a stack by cookie: "ips" is that, and no field.
CHAIN = "stitch:ustack"
# Callchains have marks between their halves.
MARK = 2**64 - 4095
# babeltrace2 prints nothing at all; we have what is there. 2.1 looks at no magic
# number: of a packet that has another it prints the events, which we leave out.
MORE = {"lt_trunc": 4514, "lt_tidx": 4514, "lt_garb": 7002,
        "peer-invalid-packet-size": 10}
OTHER_MAGIC = {"lt_garb": 319}
# Of a sequence of characters without any, 2.0.4 prints the text that the same
# field had before; 2.1.2 prints "".
STALE_TEXT = re.compile(r"field differs: \w+ \('', ['\"]")
STALE = {"t213-pid": 2, "t213-rotation": 9, "t213-snapshot": 25, "t213-uid": 3}


class Enum(int):
    """A number of an enumeration: label is what it is called."""

    label = ""


class Text:
    """The values that babeltrace2 prints: { a = 1, b = [ [0] = 2 ] }."""

    def __init__(self, text):
        self.tokens = list(TOKEN.finditer(text))
        self.at = 0

    def peek(self):
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def value(self):
        m = self.next()
        if m[1] is not None:
            return re.sub(r"\\(.)", r"\1", m[1])
        if m[2] == "{":
            return self.members("}")
        if m[2] == "[":
            return list(self.members("]").values())
        if m[2] == "(":
            return self.enum()
        return number(m[0])

    def members(self, end):
        """Of a variant the value alone: { "text" }."""
        out = {}
        first = self.at
        while self.peek() != end:
            m = self.next()
            if m[2] == ",":
                continue
            name = m[0]
            if m[2] == "[":
                name = self.next()[0]
                self.next()
            if self.peek() != "=" and not out:
                self.at = first
                value = self.value()
                assert self.next()[0] == end, name
                return value
            assert self.next()[0] == "=", name
            out[name] = self.value()
        self.next()
        return out

    def enum(self):
        """( "LATE" : container = 5 ): the number, with its label."""
        out = None
        labels = []
        while self.peek() != ")":
            m = self.next()
            if m[0] == "=":
                out = self.value()
            elif m[1] is not None:
                labels.append(m[1])
        self.next()
        if not isinstance(out, int):
            return out
        out = Enum(out)
        out.label = "|".join(labels)
        return out


def number(word):
    try:
        return int(word, 0)
    except ValueError:
        pass
    try:
        return float(word)
    except ValueError:
        return word


def members(words):
    """Of "{ a = 1, b = { c = 2 } }" the members, as they are."""
    out, depth, last = [], 0, 2
    for m in TOKEN.finditer(words):
        depth += (m[2] or "") in ("{", "[", "(") and 1
        depth -= (m[2] or "") in ("}", "]", ")") and 1
        if depth == 1 and m[2] == "," or depth == 0 and m.start() > last:
            out.append(words[last:m.start()].strip())
            last = m.end() + 1
    return [m for m in out if m]


# The same stacks and names are in many events.
@functools.lru_cache(1 << 14)
def simple(words):
    """The value of a simple member."""
    if words[0] == '"':
        return words[1:-1]
    if words[0] == "[":
        return [number(word) for word in ELEMENT.findall(words)]
    return Text(words).value() if words[0] == "(" else number(words)


def apart(words):
    """The value of a structure, and its members as they are."""
    found = SIMPLE.fullmatch(words)
    if not found:
        return Text(words).value(), members(words)
    texts = MEMBERS.findall(found[1])
    out = {}
    for text in texts:
        name, _, word = text.partition(" = ")
        out[name] = simple(word)
    return out, texts


def kept(event, root, texts):
    """Of the members of a root those that are compared, with their prefix."""
    out = []
    for m in texts:
        name = m.partition(" = ")[0]
        if root == "event.fields":
            if name not in PERF and (event, name) != (CHAIN, "ips"):
                out.append(m)
        elif name not in USED:
            out.append(("packet_" if "packet" in root else "ctx_") + m)
    return out


# Traces of one program have the same fields, and the events of a packet the same
# contexts.
@functools.lru_cache(1 << 17)
def payload(event, words):
    """The fields of an event: the value, as columns, their text."""
    value, texts = apart(words)
    return (value, tuple(flat({k: v for k, v in value.items() if k not in PERF}, "")),
            kept(event, "event.fields", texts))


@functools.lru_cache(4096)
def around(event, rest):
    """What stands in front of the fields: the contexts, as columns, their text."""
    roots, text = {}, []
    # roots have dots in their names; values have none outside of quotes
    parts = list(ROOT.finditer(rest))
    for part, after in zip(parts, parts[1:] + [None]):
        words = rest[part.end():after.start() - 2 if after else None]
        # a name in quotes is not the next root
        if words.count('"') % 2:
            words = rest[part.end():]
        roots[part[1]], texts = apart(words)
        if part[1] != "stream.event.header":
            text += kept(event, part[1], texts)
    contexts = {"packet": roots.get("stream.packet.context", {}),
                "ctx": {**roots.get("stream.event.context", {}),
                        **roots.get("event.context", {})}}
    columns = [pair for root, prefix in (("packet", "packet"), ("ctx", "ctx"))
               for k, v in contexts[root].items() if k not in USED
               for pair in flat(v, "%s_%s" % (prefix, k))]
    return contexts, columns, text


def theirs(text):
    for line in text.split("\n"):
        head, found, rest = (", " + line).partition(", name = ")
        if not found:
            continue
        m = STAMP.match(head, 2)
        time = int(m[1]) * 10**9 + int(m[2]) if m else None
        m = VPID.search(head) if "vpid" in head else None
        vpid = int(m[1]) if m else None
        name, _, rest = rest.partition(", ")
        before, found, words = rest.rpartition("event.fields = ")
        # not that of a text in quotes
        assert words.count('"') % 2 == 0 or re.sub(r'\\.', '', words).count('"') % 2 == 0, line
        contexts, columns, said = around(name, (before if found else rest).removesuffix(", "))
        fields, more, own = payload(name, words) if found else ({}, (), [])
        yield Event(time, name, contexts["packet"].get("cpu_id"), fields, contexts,
                    ", ".join(said + own), vpid, (more, columns))


def offsets(path):
    """Of the clocks of traces of one boot, by process and name of event."""
    out, boots = {}, set()
    for folder, _, files in sorted(os.walk(path)):
        if "metadata" not in files:
            continue
        with open(folder + "/metadata", "rb") as f:
            text = f.read().replace(b"\0", b"").decode("latin-1")
        boots.update(re.findall(r"^clock [^}]*\buuid = (\S+)", text, re.M))
        found = [re.search(k, text) for k in (
            r"\boffset = (\d+);", r'"seconds": *(\d+)', r'"cycles": *(\d+)',
            r'\bvpid"?(?: =|:) *(\d+)')]
        at, s, ns, vpid = (m and int(m[1]) for m in found)
        if at is None and s is None:
            continue
        for name in re.findall(r'\bname"?(?: =|:) *"([^"]*)"', text):
            out[vpid, name] = s * 10**9 + ns if at is None else at
    return out if len(boots) < 2 else {}


def on_one_clock(their, path):
    at = offsets(path)
    if len(set(at.values())) < 2:
        return their
    first = next(iter(at.values()))
    return [e._replace(time=e.time - at[e.vpid, e.name] + first)
            for e in their]


# ---- ours

def ours(db):
    fields, chain = common.fields(db), common.chains(db)
    later = {(time, tid): chain.get(uraw, []) for time, tid, uraw in
             common.query(db, "SELECT c.time_ns, t.tid, c.uraw FROM chain c"
                              " JOIN thread t ON t.id = c.thread")}
    rows = common.query(
        db, "SELECT e.id, e.time_ns, y.name, e.cpu, t.tid, p.pid, c.name,"
            " e.kraw, e.uraw FROM event e JOIN event_type y ON y.id = e.type"
            " JOIN thread t ON t.id = e.thread"
            " LEFT JOIN process p ON p.id = t.process"
            " LEFT JOIN comm c ON c.id = e.comm ORDER BY e.id")
    texts = common.run("script", "-F", "event,trace", db).stdout.decode(
        errors="surrogateescape").split("\n")
    texts = [t.strip() for t in texts if t.strip()]
    texts += [""] * (len(rows) - len(texts))
    for row, text in zip(rows, texts):
        i, time, name, cpu, tid, pid, comm, kraw, uraw = row
        yield Event(time, name, cpu, fields.get(i, {}),
                    {"tid": tid, "pid": pid, "comm": comm,
                     "kern": chain.get(kraw, []), "user": chain.get(uraw, []),
                     "later": later.get((time, tid))},
                    text[len(name) + 1:].strip())


# ---- comparing

@functools.lru_cache(None)
def folded(name):
    return re.sub(r"[^a-z0-9_]", "_", name.lower())


def flat(value, name):
    """Structures as a_b; everything else by its name."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield from flat(v, "%s_%s" % (name, k) if name else k)
    else:
        yield folded(name), value


def plain(value):
    """Of JSON and of babeltrace2's text: words and numbers in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        out = []
        for v in value:
            out += plain(v)
        return out
    return [value]


def same_number(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return abs(float(a) - float(b)) <= 1e-5 * max(1, abs(float(b)))
    return (a - b) % (1 << 64) == 0


def same(mine, their):
    if isinstance(mine, bytes):
        return list(mine) == [v % 256 for v in plain(their)]
    if isinstance(their, (dict, list)):
        words = re.findall(r'"(?:[^"\\]|\\.)*"(?!:)|-?[\w.+]+(?!\w*":)',
                           mine or "")
        got = [number(w.strip('"')) for w in words]
        want = plain(their)
        return len(got) == len(want) and all(
            same(g, w) for g, w in zip(got, want))
    if isinstance(mine, str) and not isinstance(their, str):
        mine = number(mine)
    if their != their and str(mine).lstrip("-") == "nan":
        return True
    if isinstance(mine, (int, float)) and isinstance(their, (int, float)):
        return same_number(mine, their)
    return str(mine) == str(their)


def is_called(mine, name, value):
    found = mine.fields.get(name + "_label")
    return (found or "") == value.label


def compare_fields(mine, their, found):
    want = dict(their.flat[0])
    if their.name == CHAIN:
        found["chains"] += 1
        if mine.contexts["later"] != want.pop("ips"):
            found["chain differs"] += 1
    want.update(their.flat[1])
    found["fields"] += len(want)
    for name, value in want.items():
        # an SQL column that is taken gets a suffix
        got = mine.fields.get(name)
        if type(value) in (int, str) and type(got) is type(value) and got == value:
            continue
        if name not in mine.fields:
            found["field missing: " + name] += 1
        elif isinstance(value, Enum) and not is_called(mine, name, value):
            found["label differs: %s (%r)" % (name, value.label)] += 1
        elif not same(got, value):
            found["field differs: %s (%r, %r)" % (name, got, value)] += 1


def is_float(word):
    return re.fullmatch(r"-?(\d+(\.\d+)?(e[+-]\d+)?|inf|nan)", word)


def text_class(mine, their):
    """How two texts differ; "": they do not."""
    their = CONTROL.sub(lambda m: "\\x%02x" % ord(m[0]), their)
    if mine == their:
        return ""
    if len(mine) > 4000 and their.startswith(mine):
        return "cut"
    # of a list's elements, then of all but the outermost members
    for before in "", r"\[\d+\] = ", r"(?:\[\d+\] =|\{(?: \w+ =)?) ":
        plain = re.sub(r'(%s)\( (?:"[^"]*"(?:, )?|<unknown>)+ : container = '
                       r'(-?\w+) \)' % before, r"\1\2",
                       their) if before else their
        if same_words(mine.split(), plain.split()):
            return "labels" if plain != their else "digits"
    return "other"


def same_words(mine, their):
    return len(mine) == len(their) and all(
        a == b or is_float(a.strip(",")) and
        ("%g" % float(a.strip(",")) == b.strip(",") or is_signed_hex(a, b))
        for a, b in zip(mine, their))


def is_signed_hex(mine, their):
    a, b = number(mine.strip(",")), number(their.strip(","))
    return their.startswith("0x") and isinstance(a, int) and a in (
        b, b - 2**8, b - 2**16, b - 2**32, b - 2**64)


def compare_text(mine, their, found):
    found["texts"] += 1
    text = their.text
    if mine.text == text and text.isprintable() and "" not in mine.fields.values():
        return
    for name, value in their.fields.items():
        # counted as a field that differs, see STALE
        if isinstance(value, str) and value and mine.fields.get(name) == "":
            value = value.replace("\\", "\\\\").replace('"', '\\"')
            text = text.replace('%s = "%s"' % (name, value), name + ' = ""')
    why = text_class(mine.text, text)
    if why == "other":
        found["text differs: %r, %r" % (mine.text, their.text)] += 1
    elif why:
        found[why] += 1


def compare_thread(mine, their, found):
    ctx = their.contexts["ctx"]
    c = mine.contexts
    for ours_, names in (("tid", ("tid", "vtid")), ("pid", ("pid", "vpid"))):
        for n in names:
            if n in ctx:
                found["ids"] += 1
                if c[ours_] != ctx[n]:
                    found["%s differs" % n] += 1
                break
    # until the next switch a process that was renamed has two names
    if ctx.get("procname") and ctx.get("tid", ctx.get("vtid", 0)):
        found["names"] += 1
        if c["comm"] != ctx["procname"][:16]:
            found["procname differs"] += 1
    for ours_, n in (("kern", "callstack_kernel"), ("user", "callstack_user")):
        if n in ctx:
            found["stacks"] += 1
            want = [v for v in ctx[n] if v != 2**64 - 1]
            if c[ours_] != want:
                found["%s differs" % n] += 1


def compare_perf(mine, their, found):
    f = their.fields
    if "perf_tid" not in f:
        return
    found["ids"] += 2
    found["stacks"] += 1
    c = mine.contexts
    if (c["tid"], c["pid"]) != (f["perf_tid"], f["perf_pid"]):
        found["perf_tid or perf_pid differs"] += 1
    stack = [v for v in f.get("perf_callchain", []) if v < MARK]
    if c["kern"] + c["user"] != stack and "perf_callchain" in f:
        found["perf_callchain differs"] += 1


def key(e):
    return (e.time or 0, e.name, -1 if e.cpu is None else e.cpu)


def compare(mine, their, found):
    if not their:
        return
    shift = 0
    if their[0].time is not None and mine and mine[0].time is not None:
        shift = their[0].time - mine[0].time
    mine = [e._replace(time=None if e.time is None else e.time + shift)
            for e in mine]
    if their[0].time is not None:
        mine.sort(key=key)
        their.sort(key=key)
    for m, t in zip(mine, their):
        if (m.time or 0) != (t.time or 0) or m.name != t.name or (
                t.cpu is not None and t.cpu != m.cpu):
            found["event differs: %r, %r" % (key(m), key(t))] += 1
            continue
        compare_fields(m, t, found)
        compare_text(m, t, found)
        compare_thread(m, t, found)
        compare_perf(m, t, found)


def of_day(text):
    """Of "02:25:30.987390235", or with --clock-seconds of seconds."""
    parts, frac = text.split(".")
    sec = 0
    for part in parts.split(":"):
        sec = sec * 60 + int(part)
    return sec * 10**9 + int(frac)


def compare_losses(db, err, found, packet_left):
    """Counts and lengths of the intervals: the times of day are local. Where a
    packet is left out, one ends behind the next packet, where theirs has two."""
    want = sorted((int(n), of_day(b) - of_day(a))
                  for n, a, b in LOST.findall(err))
    got = sorted((n, t1 - t0) for n, t0, t1 in common.query(
        db, "SELECT n, t0, t1 FROM loss WHERE what = 'lost'"
            " AND n IS NOT NULL AND t0 IS NOT NULL"))
    found["losses"] += len(want)
    if packet_left:
        parts, whole = sorted(set(want) - set(got)), sorted(set(got) - set(want))
        want = [k for k in want if k not in parts]
        got = [k for k in got if k not in whole]
        if len(parts) != 2 or whole != [tuple(map(sum, zip(*parts)))]:
            found["losses of a packet differ: %r, %r" % (whole, parts)] += 1
    # a counter below that of the packet before: 2^64 - N there, and N more behind it
    less = any(n >> 63 for n, _ in want) and sum(n for n, _ in want) % (1 << 64) == sum(n for n, _ in got)
    if want != got and not less:
        found["losses differ: %r, %r" % (got, want)] += 1


def compare_joins(name, db, their):
    """Requests that have a stack are joined, and no others."""
    asked, taken = collections.Counter(), set()
    threads = False
    for e in their:
        threads |= "vtid" in e.contexts["ctx"] or "tid" in e.contexts["ctx"]
        if e.name == "stitch:request":
            asked[e.fields["cookie"]] += 1
        elif e.name == "stitch:ustack":
            taken.add(e.fields["cookie"])
    if not asked:
        return
    want = (sum(asked.values()), sum(n for c, n in asked.items() if c in taken),
            sum(c in asked for c in taken), len(taken - set(asked)))
    got = common.query(
        db, "SELECT (SELECT count(*) FROM request),"
            " (SELECT count(*) FROM request r JOIN word w ON w.id = r.verdict"
            "  AND w.kind = 'request' WHERE w.name = 'matched'),"
            " (SELECT count(*) FROM chain c JOIN word w ON w.id = c.verdict"
            "  AND w.kind = 'chain' WHERE w.name = 'used'),"
            " (SELECT count(*) FROM chain WHERE n_events = 0)")[0]
    left = common.query(
        db, "SELECT w.name, count(*) FROM request r JOIN word w"
            " ON w.kind = 'request' AND w.id = r.verdict"
            " WHERE r.chain IS NULL GROUP BY 1")
    # that a thread still waits cannot be said of nobody
    sure = threads or "pending_end" not in dict(left)
    common.ok(want == got and sure, "%s: %d requests, %d with their stack; %s" % (
        name, want[0], want[1],
        ", ".join("%d %s" % (n, v) for v, n in left) or "none is left out"),
              ["asked, joined, used, without a request: %r, theirs %r" % (
                  got, want)])


def compare_older(case, mine):
    name = case.name
    path = common.place("lttng/%s/bt204-all.txt" % name)
    if not path:
        return
    found, n = look(mine, on_one_clock(list(theirs(common.read_gz(path))),
                                       case.path))
    bad = bad_of(found)
    stale = [k for k in bad if STALE_TEXT.match(k)]
    common.ok(len(mine) == n and stale == bad and
              sum(found[k] for k in stale) == STALE.get(name, 0),
              name + ", by 2.0.4", ["%s: %d" % (k, found[k]) for k in bad[:12]])


def bt2(path, *options):
    r = subprocess.run([BT2, *options, "--names=all", "--fields=all", path],
                       capture_output=True, errors="surrogateescape",
                       check=False)
    return r.stdout, r.stderr


def find():
    for place, d in common.find("lttng/*/trace"):
        folder = os.path.dirname(place)
        yield Case(os.path.basename(folder), d,
                   common.place(folder + "/bt2-all.txt"), False)
    yield Case("ctf-perf", common.place("lttng/ctf_perf"), None, False)
    for place, d in common.find("clocks/clk_lttng_*"):
        yield Case(os.path.basename(place), d, None, False)
    for place, d in common.find("lttng-damaged/*"):
        name = os.path.basename(place)
        # what is cut there is behind all that is needed, or is empty
        yield Case(name, d, None, name in MORE or name in ("lt_empty", "lt_meta"))
    yield from theirs_of_peer()


def theirs_of_peer():
    """The traces that babeltrace2 is tested with, where its source is."""
    traces = common.SHARED + "/peers/babeltrace/tests/data/ctf-traces/"
    for kind in ("succeed", "intersection", "packet-seq-num",
                 "deterministic-ordering", "live", "fail"):
        for d in sorted(glob.glob(traces + kind + "/*/")):
            name = os.path.basename(d[:-1])
            if kind == "live" and not os.path.exists(d + "metadata"):
                continue
            yield Case("peer-" + name, d[:-1], None,
                       kind == "fail" or "-corrupted" in name
                       and "not-" not in name)


def run(case):
    err = None
    if case.text:
        text = common.read_gz(case.text)
        log = os.path.join(os.path.dirname(case.text), "bt2.err")
        if os.path.exists(log):
            with open(log, encoding="utf-8") as f:
                err = f.read()
        elif BT2:
            err = bt2(case.path, *SECONDS)[1]
    elif BT2:
        text, err = bt2(case.path, *SECONDS)
    else:
        print("skip %s: babeltrace2 is not installed" % case.name)
        return
    db, status, said = common.into(
        os.path.join(common.CACHE, "ctf-%s.db" % case.name), "--no-symbols",
        "--fields", "all", case.path)
    if status == 1 and case.damage:
        common.ok(not text and len(said.split(": ", 3)) > 2, case.name,
                  ["refused: %s" % said])
        return
    if status != (3 if case.damage else 0):
        common.ok(False, case.name, ["status %d: %s" % (status, said)])
        return
    if case.name in MORE and not (text and case.name in OTHER_MAGIC):
        n = common.query(db, "SELECT count(*) FROM event")[0][0]
        common.ok(n == MORE[case.name] and not text, case.name,
                  ["%d events, babeltrace2 has %d lines" % (
                      n, len(text.splitlines()))])
        return
    mine = list(ours(db))
    their = on_one_clock(list(theirs(text)), case.path)
    if case.name in OTHER_MAGIC:
        left = without_packet(mine, their)
        common.ok(len(mine) == MORE[case.name] and
                  len(their) - len(left) == OTHER_MAGIC[case.name],
                  case.name + ", a packet with another magic number",
                  ["%d events, theirs %d, %d of them not of the packet" % (
                      len(mine), len(their), len(left))])
        their = left
    found, n = look(mine, their)
    if err is not None:
        compare_losses(db, err, found, case.name in OTHER_MAGIC)
    if not case.damage:
        compare_joins(case.name, db, their)
    print("   %s: %d events, %d fields, %d texts (%d other digits, %d no "
          "labels), %d ids, %d names, %d stacks, %d losses" % (
              case.name, n, found["fields"], found["texts"], found["digits"],
              found["labels"], found["ids"], found["names"], found["stacks"],
              found["losses"]))
    bad = [k for k in bad_of(found) if case.name != "live" or not STALE_TEXT.match(k)]
    common.ok(len(mine) == n and not bad, case.name,
              ["events: %d, theirs %d" % (len(mine), n)] +
              ["%s: %d" % (k, found[k]) for k in bad[:12]])
    compare_older(case, mine)


def without_packet(mine, their):
    """Theirs without those, one after the other in one stream, that are not ours."""
    shift = their[0].time - mine[0].time
    have = {(e.time + shift, e.name, e.cpu) for e in mine}
    more = [i for i, e in enumerate(their) if key(e) not in have]
    cpu = their[more[0]].cpu
    return [e for i, e in enumerate(their)
            if e.cpu != cpu or not more[0] <= i <= more[-1]]


def look(mine, their):
    found = collections.Counter()
    compare(mine, their, found)
    return found, len(their)


def bad_of(found):
    return sorted(k for k in found if "differ" in k or "missing" in k)


def main():
    only = set(sys.argv[1:])
    if len(sys.argv) == 2 and os.path.isdir(sys.argv[1]):
        run(Case("live", sys.argv[1], None, False))
        common.finish()
    for case in find() if only else common.share(find(), 2):
        if not only or case.name in only:
            run(case)
    common.finish()


if __name__ == "__main__":
    main()

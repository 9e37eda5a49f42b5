# sameread.py - what tests/same.py needs to read outputs and judge differences.
"""judge() takes two outputs that are not identical. They differ only in words
if replacing the listed words in the old output gives the new output. White
space may then differ, because longer words move columns and line breaks."""

import csv
import fcntl
import hashlib
import io
import json
import os
import pty
import re
import select
import shlex
import sqlite3
import struct
import subprocess
import tarfile
import termios
import zlib

MOST_DIFF = 2000
CODE = re.compile(rb"<(script|style)(>|\s[^>]*>).*?</\1>", re.S)
TAG = re.compile(rb"<[^>]*>")
shell_words = shlex.split


def taken(form, out):
    """The part of an output that is compared. Scripts and styles in pictures
    and pages are left out: tests/browser tests what they do. Of a page, the
    data blocks and the visible text are compared, but not the tags."""
    if form == "svg":
        return CODE.sub(b"", out)
    if form == "html":
        data = []

        def keep(m):
            if b"application/" in m.group(2):
                data.append(m.group(0))
            return b""
        rest = TAG.sub(b"\n", CODE.sub(keep, out))
        lines = [line.strip() for line in rest.split(b"\n")]
        return b"\n".join(data + [line for line in lines if line])
    if form == "pprof" and out[:2] == b"\x1f\x8b":
        return zlib.decompress(out, 31)
    return out


def csv_rows(out):
    return list(csv.DictReader(io.StringIO(out.decode("utf-8", "replace"))))


def annotated(text, symfs):
    """The first function of annotate's list whose image is below symfs; else
    the first one of a user's image; else the first: its name, or an address
    where it has none."""
    rows = []
    for line in text.decode("utf-8", "replace").split("\n")[1:]:
        f = re.split(r" {2,}", line.strip())
        if len(f) < 5:
            break
        where = f[3].rsplit("+", 1)[0]
        rows.append((where, f[3] if f[4].startswith("[") else f[4]))
    here = {n for s in symfs for _, _, names in os.walk(s) for n in names}
    for want in (lambda image: image in here,
                 lambda image: not image.startswith("["), lambda image: True):
        for image, symbol in rows:
            if want(image):
                return symbol
    return None


def plain_schema(sql):
    """The SQL without comments, with one blank for all white space."""
    sql = re.sub(r"('(?:[^']|'')*'|\"[^\"]*\")|--[^\n]*|/\*.*?\*/",
                 lambda m: m.group(1) or " ", sql, flags=re.S)
    return " ".join(sql.split())


def database(path):
    """Returns (schema, rows) as text."""
    con = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    con.text_factory = bytes
    schema = con.execute("SELECT type, name, sql FROM sqlite_master"
                         " ORDER BY rowid").fetchall()
    text, rows = [], []
    for pragma in ("application_id", "user_version"):
        text.append("%s %d" % (pragma,
                               con.execute("PRAGMA " + pragma).fetchone()[0]))
    for kind, name, sql in schema:
        text.append(plain_schema((sql or name).decode("utf-8", "replace")))
        if kind != b"table":
            continue
        table = name.decode("utf-8", "replace")
        cur = con.execute('SELECT * FROM "%s"' % table.replace('"', '""'))
        rows.append("%s: %s" % (table, " ".join(d[0]
                                                for d in cur.description)))
        rows += ["%s %s" % (table, "\t".join(map(cell, row))) for row in cur]
    con.close()
    return "\n".join(text).encode(), "\n".join(rows).encode(
        "utf-8", "surrogateescape")


def streamed(path):
    """The same of a stream, without the time at which it was read."""
    schema, rows = database(path)
    return schema, re.sub(rb"(written_(?:before|since|until)_ns)\t\d+", rb"\1", rows)


def cell(value):
    if not isinstance(value, bytes):
        return repr(value)
    text = value.decode("utf-8", "backslashreplace")
    if "\0" in text:
        return value.hex()
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def press(program, args, keys, work, env):
    """Runs a program in a terminal of 100 x 30 and presses keys, which end it."""
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    with subprocess.Popen(
            ["backstitch", *args], executable=program, cwd=work, stdin=inside,
            stdout=inside, stderr=subprocess.DEVNULL,
            env={**env, "TERM": "xterm"}) as p:
        os.close(inside)
        os.write(terminal, keys.encode())
        try:
            while select.select([terminal], [], [], 60)[0]:
                os.read(terminal, 65536)
        except OSError:  # it has ended
            pass
        p.kill()
    os.close(terminal)


def members(path):
    """The files in an archive. A database in it has its own comparison."""
    if not os.path.exists(path):
        return b""
    lines = []
    with tarfile.open(path) as tar:
        for m in tar.getmembers():
            data = tar.extractfile(m).read() if m.isfile() else b""
            what = "" if m.name.endswith(".db") else "%d %s" % (
                m.size, hashlib.sha256(data).hexdigest())
            lines.append("%s %o %s" % (m.name, m.mode, what))
    return "\n".join(lines).encode()


class Words:
    """The list of allowed differences in words, tests/same-words.txt."""

    def __init__(self, path):
        self.lines = []
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                line = line.rstrip("\n")
                if not line or line.startswith("#"):
                    continue
                fields = line.split("\t")
                if len(fields) not in (2, 3) or not fields[0]:
                    raise SystemExit("%s:%d: not OLD, tab, NEW" %
                                     (path, number))
                self.lines.append((line, *self.parsed(*fields)))

    @staticmethod
    def parsed(old, new, kinds=""):
        """Returns (old, new, kinds, whether old is a regular expression)."""
        kinds = {k for k in kinds.split(",") if k}
        if old.startswith("re:"):
            return re.compile(old[3:]), re.compile(new), kinds, True

        def plain(s):
            return re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n"}.get(
                m.group(1), m.group(1)), s)
        return plain(old), plain(new), kinds, False

    def unused(self, used):
        return [line[0] for line in self.lines if line[0] not in used]

    def apply(self, kind, old, new, squeeze):
        """Returns (old with the new words, new, lines of the list that were
        used)."""
        plain, hits = {}, set()
        for line, a, b, kinds, pattern in self.lines:
            if kinds and kind not in kinds:
                continue
            if pattern:
                if not a.search(old):
                    continue
                hits.add(line)
                old, new = a.sub(numbers, old), b.sub(numbers, new)
                continue
            if squeeze:
                a, b = " ".join(a.split()), " ".join(b.split())
            if a in old:
                plain.setdefault(a, b)
                hits.add(line)
        if plain:
            longest = sorted(plain, key=len, reverse=True)
            old = re.sub("|".join(map(re.escape, longest)),
                         lambda m: plain[m.group(0)], old)
        return old, new, hits


def numbers(m):
    """The replacement for a match: its numbers, rounded to three digits."""
    said = []
    for g in m.groups():
        n = re.match(r"([\d,]*\.?\d+) ?([kMG]?)", g or "")
        if not n:
            said.append(g or "")
            continue
        unit = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[n.group(2)]
        # C rounds 1535 / 1000.0, which is less than 1.535, down
        value = float(n.group(1).replace(",", "")) * unit * (1 - 1e-9)
        said.append("%.2e" % value)
    return "<%s>" % " ".join(said)


def shown(o, spread):
    """An output as text. If spread, JSON gets a line for each value."""
    if o is None:
        return "no such output"
    text = o.out
    if o.form == "json" and spread:
        text = pretty(text)
    elif o.form == "html" and spread:
        head, sep, tail = text.partition(b"</script>")
        start = head.find(b">") + 1
        text = head[:start] + b"\n" + pretty(head[start:]) + sep + tail
    elif o.form == "binary":
        text = hexdump(text)
    elif o.form == "pprof":
        text = protobuf(text)
    return "status %s\n%s\n%s" % (o.status, o.err.decode("utf-8", "replace"),
                                  text.decode("utf-8", "replace"))


class Number(float):
    """A number of JSON as it was written."""

    def __new__(cls, text):
        self = float.__new__(cls, text)
        self.text = text
        return self

    def __repr__(self):
        return self.text


def pretty(text):
    """A line for each value of JSON or JSON lines; other text unchanged."""
    try:
        try:
            values = [json.loads(text, parse_float=Number)]
        except ValueError:
            values = [json.loads(line, parse_float=Number)
                      for line in text.split(b"\n") if line.strip()]
        lines = []
        for v in values:
            flat(v, "", lines)
    except (ValueError, RecursionError):
        return text
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def flat(value, path, lines):
    """Appends a line for each value below path: its path and the value."""
    if isinstance(value, dict) and value:
        for k, v in value.items():
            flat(v, path + "." + k, lines)
    elif isinstance(value, list) and value:
        if all(isinstance(v, (int, float)) for v in value):
            lines.append("%s[] %s" % (path, " ".join(map(repr, value))))
            return
        for v in value:
            flat(v, path + "[]", lines)
    elif isinstance(value, str):
        lines.append("%s %s" % (path, value))
    else:
        lines.append("%s %r" % (path, value))


def hexdump(data):
    return b"\n".join(b"%08x  %s" % (i, data[i:i + 16].hex(" ").encode())
                      for i in range(0, len(data), 16))


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def protobuf(data):
    """A line for each field of a profile; its strings (field 6) as text."""
    lines, at = [], 0
    try:
        while at < len(data):
            tag, at = varint(data, at)
            value, at = varint(data, at)
            if tag & 7 == 2:
                part = data[at:at + value]
                at += value
                value = part.decode("utf-8", "replace") if tag >> 3 == 6 \
                    else part.hex(" ")
            elif tag & 7:
                return hexdump(data)
            lines.append("%d %s" % (tag >> 3, value))
    except IndexError:
        return hexdump(data)
    return "\n".join(lines).encode("utf-8", "replace")


def judge(a, b, words, work):
    """Returns ("words" or "different", lines of the diff, lines of the list
    that were used, suggested lines for the list as (old, new, kind))."""
    kind = (a or b).kind
    old, new = shown(a, False), shown(b, False)
    if a and b:
        for squeeze in (False, True):
            x, y = (" ".join(t.split()) if squeeze else t for t in (old, new))
            x, y, hits = words.apply(kind, x, y, squeeze)
            if hits and x == y:
                return "words", None, hits, []
    old, new = shown(a, True), shown(b, True)
    if old == new:
        return "different", ["the same values, written in another way:"] + \
            first_difference(a, b), set(), []
    x, y, _ = words.apply(kind, old, new, False)
    diff, pairs = differences(x, y, kind, work)
    return "different", diff, set(), pairs


def first_difference(a, b):
    n = next((i for i, (x, y) in enumerate(zip(a.out, b.out)) if x != y),
             min(len(a.out), len(b.out)))
    return ["byte %d" % n, "-" + repr(a.out[max(0, n - 40):n + 60]),
            "+" + repr(b.out[max(0, n - 40):n + 60])]


def differences(old, new, kind, work):
    """Returns (unified diff, pairs of words that differ)."""
    os.makedirs(work, exist_ok=True)
    names = [os.path.join(work, "same." + side) for side in ("old", "new")]
    for name, text in zip(names, (old, new)):
        with open(name, "w", encoding="utf-8", errors="replace") as f:
            f.write(text + "\n")
    said = []
    for context in ("-U3", "-U0"):
        p = subprocess.run(["diff", "-a", context, "--label", "old", "--label",
                            "new", *names], capture_output=True, check=False)
        said.append(p.stdout.decode("utf-8", "replace").split("\n")[:MOST_DIFF])
    pairs, minus, plus = set(), [], []
    for line in said[1][2:] + ["@@"]:
        if line.startswith("-"):
            minus += line[1:].split()
        elif line.startswith("+"):
            plus += line[1:].split()
        elif line.startswith("@@"):
            if minus and len(minus) < 60 and len(plus) < 60:
                pairs.add((*trimmed(minus, plus), kind))
            minus, plus = [], []
    return said[0], list(pairs)


def trimmed(minus, plus):
    """Both without their common first and last words, except two of each."""
    n = 0
    while n < min(len(minus), len(plus)) and minus[n] == plus[n]:
        n += 1
    m = 0
    while m < min(len(minus), len(plus)) - n and minus[-1 - m] == plus[-1 - m]:
        m += 1
    n, m = max(0, n - 2), max(0, m - 2)
    return " ".join(minus[n:len(minus) - m]), " ".join(plus[n:len(plus) - m])

# impossible.py - the table of what the readers call damaged, and two captures for each row of it.
"""usage: impossible.py [--show] [WORD...]

tests/cli/impossible.txt has a block for each message with which a reader calls
a part of a capture damaged. This makes the two captures of a block: the one
that fails must have damage with that message, the one that passes must have
none at all. A message of the source that no block has fails, and so does a
block that no source has. With words, only blocks that contain one of them.

Under sanitizers, which try what is damaged, the captures that fail are made, and
without them those that pass; with words, or with LONG, both."""

import concurrent.futures
import glob
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile

TABLE = "tests/cli/impossible.txt"
PROGRAM = os.environ.get("BACKSTITCH", "./backstitch")
MKCAP = os.environ.get("MKCAP", "build/mkcap")
MKFTRACE = os.environ.get("MKFTRACE", "build/mkftrace")
with open(PROGRAM, "rb") as program:
    SAN = b"__asan_init" in program.read()
# Where messages come from, and what makes them of text.
SOURCES = ("formats/perf", "formats/ftrace", "formats/ftext", "formats/ctf",
           "formats/code", "formats/reader", "formats/tracepoint",
           "stitch/base/bytes.c", "schema/write/ledger_rows.c")
# refuses a whole trace; tests/unit/ctf_tree.c has these
NOT_THESE = ("formats/ctf/meta/",)
SAYS = re.compile(
    r"\b(?:err_at|err_set|[a-z]+_damage_text|ctf_stream_damage|ctf_field_stop)"
    r"\(|\bwhy = |\.detail = |\breturn (?=\")|\? (?=\"a packet)|: (?=\"an event)")
MACHINE = "raw type=80 misc=0 hex=0600000000000000" "40000000" + \
    b"x86_64".ljust(64, b"\0").hex()
# What is in front of the lines of a block: the bounds of addresses are those
# of a machine, and times are near others.
ALWAYS = {
    "perf": ["event cpu-clock", 'comm pid=32 name="small"'] +
            ["sample pid=32 tid=32 cpu=0 time=%d u=0x11012" % t
             for t in range(1000, 1020)],
    "pipe": ["event cpu-clock", MACHINE, 'comm pid=32 name="small"',
             "sample pid=32 tid=32 cpu=0 time=1000 u=0x11012"],
    "ftrace": ["event pid=10 cpu=0 time=100 k=0xffffffff81000010 u=0x401000",
               "event pid=11 cpu=1 time=101 u=0x401000"],
}
WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(PRI[a-zA-Z0-9]+)')


def statement(text, at):
    """What stands from there up to the semicolon that ends it."""
    quoted = False
    for i in range(at, len(text)):
        if text[i] == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif text[i] == ";" and not quoted:
            return text[at:i]
    return text[at:]


def strings(text):
    """The strings of a statement; those in a row, and PRIu64, are one."""
    out = []
    last = None
    for m in WORD.finditer(text):
        word = m[1] if m[1] is not None else "d"
        if last is not None and not text[last:m.start()].strip():
            out[-1] += word
        else:
            out.append(word)
        last = m.end()
    return out


def messages():
    """{message: file:line} of the readers."""
    found = {}
    for top in SOURCES:
        for path in sorted(glob.glob(top + "/**/*.c", recursive=True)
                           if os.path.isdir(top) else [top]):
            if path.startswith(NOT_THESE):
                continue
            text = open(path).read()
            text = re.sub(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/',
                          lambda m: m[0] if m[0][0] == '"'
                          else re.sub(".", " ", m[0]), text, flags=re.S)
            for m in SAYS.finditer(text):
                said = strings(statement(text, m.start()))
                # the kind of damage is in front of what is said of it
                for s in said["damage_text" in m[0]:]:
                    s = re.sub(r"^%s(: |$)", "", s.replace('\\"', '"'))
                    if re.search(r"\w+\W+\w+", s):
                        line = text.count("\n", 0, m.start()) + 1
                        found.setdefault(s, "%s:%d" % (path, line))
    return found


class Block:
    """One of the table: its lines by their first word."""

    def __init__(self, text, line):
        self.line = line
        self.of = {}
        for s in text:
            word, _, rest = s.partition(" ")
            self.of.setdefault(word, []).append(rest)

    def one(self, word):
        return self.of.get(word, [None])[0]


def blocks():
    text = []
    with open(TABLE) as f:
        for n, s in enumerate([*f, "\n"], 1):
            s = s.rstrip("\n")
            if s.startswith("#"):
                continue
            if s:
                text.append(s)
            elif text:
                yield Block(text, n - len(text))
                text = []


def number(text, data, at, width):
    """+1, -1: beside what is there."""
    if text[0] in "+-":
        return int.from_bytes(data[at:at + width], "little") + int(text, 0)
    return int(text, 0)


def edited(data, edits):
    """An offset below 0 is from the end. OFFSET=HEX, OFFSET:WIDTH=NUMBER, cut=LENGTH, OFFSET~LENGTH (taken out),
    OFFSET^HEX (put in)"""
    for edit in edits.split():
        m = re.fullmatch(r"(-?\w+)(?::(\d))?([=~^])(.*)", edit)
        if not m:
            raise ValueError(edit)
        if m[1] == "cut":
            del data[int(m[4], 0):]
            continue
        at = int(m[1], 0)
        at += len(data) if at < 0 else 0
        if m[3] == "~":
            del data[at:at + int(m[4], 0)]
        elif m[3] == "^":
            data[at:at] = bytes.fromhex(m[4])
        elif m[2]:
            width = int(m[2])
            value = number(m[4], data, at, width) % (1 << 8 * width)
            data[at:at + width] = value.to_bytes(width, "little")
        else:
            new = bytes.fromhex(m[4])
            data[at:at + len(new)] = new
    return data


def run(command, **how):
    return subprocess.run(command, capture_output=True, text=True,
                          errors="replace", check=False, **how)


def made(block, value, folder):
    """The capture with that value in place of @, or with those edits."""
    out = os.path.join(folder, "capture")
    for form in ("perf", "pipe", "ftrace"):
        if form not in block.of:
            continue
        text = "\n".join(ALWAYS[form] + block.of[form]).replace("@", value)
        text += "\n"
        with open(out + ".txt", "w") as f:
            f.write(text)
        maker = [MKFTRACE] if form == "ftrace" else [MKCAP]
        r = run(maker + (["-p"] if form == "pipe" else []) +
                shlex.split(block.one("make") or "") + [out + ".txt", out])
        if r.returncode:
            raise ValueError(r.stderr)
        os.remove(out + ".txt")
        if "edit" in block.of:
            text = block.one("edit").replace("@", value)
            data = edited(bytearray(open(out, "rb").read()), text)
            with open(out, "wb") as f:
                f.write(data)
        return out
    if "file" in block.of:
        os.mkdir(out)
        for line in block.of["file"]:
            name, content = line.replace("@", value).split(" ", 1)
            form, content = content.split(":", 1)
            with open(os.path.join(out, name), "wb") as f:
                f.write(bytes.fromhex(content) if form == "hex"
                        else content.encode())
        return out
    if "text" in block.of:
        if value[:1] == "*":
            value = "x" * int(value[1:])
        elif value[:1] == "|":
            line, n = value[1:].split("|")
            value = "\n".join([" " + line] * int(n))
        lines = "\n".join(block.of["text"]).replace("@", value)
        with open(out, "w") as f:
            f.write(lines.encode().decode("unicode_escape") + "\n")
        return out
    base, _, inside = block.one("capture").partition(" ")
    base = os.path.join("tests/captures", base)
    if os.path.isdir(base):
        shutil.copytree(base, out)
        path = os.path.join(out, inside)
    else:
        path = out
        if base.endswith(".zst"):
            run(["zstd", "-qdf", base, "-o", out])
        else:
            shutil.copy(base, out)
    edits = block.one("edit").replace("@", value) if "edit" in block.of \
        else value
    data = edited(bytearray(open(path, "rb").read()), edits)
    with open(path, "wb") as f:
        f.write(data)
    return out


def damage(block, value):
    """[(kind, message)] of that capture; what refuses it."""
    with tempfile.TemporaryDirectory() as folder:
        path = made(block, value, folder)
        db = os.path.join(folder, "db")
        extra = []
        for s in block.of.get("beside", ()):
            name, option, content = s.split(" ", 2)
            beside = os.path.join(folder, name)
            if content.startswith("tests/"):
                source, _, edits = content.partition(" ")
                data = edited(bytearray(open(source, "rb").read()),
                              edits.replace("@", value))
            else:
                data = content.replace("@", value).encode().decode(
                    "unicode_escape").encode("latin-1")
            with open(beside, "wb") as f:
                f.write(data)
            extra += [option.replace("FILE", beside)]
        extra = [w for s in extra for w in s.split(",")]
        r = run([PROGRAM, "ingest", "-qo", db, "--no-symbols", *extra, path])
        if not os.path.exists(db):
            return [("refused", r.stderr.strip().replace(folder, ""))]
        with sqlite3.connect(db) as c:
            return c.execute("SELECT what, detail FROM damage"
                             " WHERE kind = 'damage'").fetchall()


def tried(block, value):
    try:
        return damage(block, value)
    except (ValueError, OSError) as e:
        return [("not made", str(e))]


def pattern(message):
    """What a format string prints."""
    parts = re.split(r"%[-.*\d]*(?:z|ll|l)?[a-zA-Z]", message)
    return ".*?".join(re.escape(p) for p in parts)


def judge(block, fails, passes):
    """Yields (what is wrong, with what)."""
    said = block.one("says")
    find = re.compile(pattern(said), re.S)
    for value in block.of.get("fails", ()) if fails else ():
        got = tried(block, value)
        if not any(what == block.one("kind") and find.search(why)
                   for what, why in got):
            yield "with '%s' it should fail, has %s" % (value, got)
    for value in block.of.get("passes", ()) if passes else ():
        got = tried(block, value)
        if got:
            yield "with '%s' it should pass, has %s" % (value, got)
    if "fails" not in block.of or "passes" not in block.of:
        yield "needs a capture that fails and one that passes"


def elsewhere(table):
    for b in table:
        for s in b.of.get("elsewhere", ()):
            yield s.split(" ", 1)


def main():
    words = [w for w in sys.argv[1:] if w != "--show"]
    table = list(blocks())
    failed = 0
    mine = [b for b in table if "says" in b.of and (
        not words or any(w in str(b.of) for w in words))]
    both = words or os.environ.get("LONG")
    fails, passes = both or SAN, both or not SAN
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for b, wrong in zip(mine, pool.map(
                lambda b: list(judge(b, fails, passes)), mine)):
            for w in wrong:
                print("%s:%d: %s: %s" % (TABLE, b.line, b.one("says"), w))
            if wrong or "--show" in sys.argv:
                print("not ok" if wrong else "ok", b.one("says"))
            failed += bool(wrong)
    print("not ok" if failed else "ok", "%d_checks_%s" % (
        len(mine) - failed,
        "fail_and_pass" if fails and passes else "fail" if fails else "pass"))
    if words:
        return
    known = {s for b in table for word in ("says", "never", "limit")
             for s in b.of.get(word, ())}
    for path, said in elsewhere(table):
        known.add(said)
        if said not in re.sub(r'"\s+"', "", open(path).read()):
            print("not ok", "%s does not have '%s'" % (path, said))
    source = messages()
    for s in sorted(set(source) - known):
        print("%s: no block has '%s'" % (source[s], s))
    for s in sorted(known - set(source)):
        print("%s: no source has '%s'" % (TABLE, s))
    print("ok" if known == set(source) else "not ok",
          "all_%d_messages_of_the_readers_are_in_the_table" % len(source))


if __name__ == "__main__":
    main()

# source.py - reads our C source for the checks: files, function definitions, words.
# Python's standard library and universal-ctags; all paths are relative to the
# root of the tree, which is the current folder.
import os
import re
import subprocess

FOLDERS = ("analyze", "cli", "formats", "symbolize", "schema", "stitch")
WORD = re.compile(r"[A-Za-z_]\w*")
# What is not code. One alternative per group of delimiters; the first that
# begins wins, so that a quote in a comment begins no string.
NOT_CODE = re.compile(
    r"/\*.*?\*/|//[^\n]*|"
    r'"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])*'", re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"][^>"\n]*)[>"]', re.M)


class Function:
    """A function and where it is defined.

    first and last are line numbers, from 1. names are its arguments and local
    variables: inside it, these hide functions of the same name."""

    def __init__(self, name, path, first, last, static):
        self.name = name
        self.path = path
        self.first = first
        self.last = last
        self.static = static
        self.names = set()


def c_files(folders=FOLDERS):
    """All .c and .h files under the folders, at any depth, sorted."""
    found = []
    for top in folders:
        for where, dirs, files in os.walk(top):
            dirs[:] = [d for d in dirs if d != "__pycache__"]
            found += [os.path.join(where, f) for f in files
                      if f.endswith((".c", ".h"))]
    return sorted(found)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def code(text):
    """The text without comments, and with "" for each string and character
    constant. Line numbers stay the same."""
    def blank(m):
        s = m.group()
        lines = "\n" * s.count("\n")
        return " " + lines if s[0] == "/" else '""' + lines
    return NOT_CODE.sub(blank, text)


def includes(text):
    """The names in #include lines with their line numbers, with the opening
    '<' or '"' in front of each name."""
    line = 1
    at = 0
    for m in INCLUDE.finditer(text):
        line += text.count("\n", at, m.start(1))
        at = m.start(1)
        yield line, m.group(1)


def ctags(paths, *options):
    """The rows of what ctags finds in the files: name, path, line, kind, more."""
    out = subprocess.run(
        ["ctags", "-f", "-", "-L", "-", "--sort=no", "--languages=C",
         "--langmap=C:.c.h", "--excmd=number", *options],
        input="\n".join(paths), capture_output=True, text=True,
        check=True).stdout
    return [row.split("\t") for row in out.splitlines()]


def functions(paths):
    """Every function definition of the files, as ctags sees them."""
    found = []
    hidden = {}
    for name, path, _, kind, *rest in ctags(paths, "--kinds-C=flz",
                                            "--fields=+nes"):
        field = dict(r.split(":", 1) for r in rest if ":" in r)
        if kind in "lz":
            scope = field.get("function", "")
            hidden.setdefault((path, scope), set()).add(name)
            continue
        first = int(field["line"])
        last = int(field.get("end", first))
        found.append(Function(name, path, first, last, "file" in field))
    for f in found:
        f.names = hidden.get((f.path, f.name), set())
    return found


def table(path):
    """The lines of a table of checks: (line number, text, reason)."""
    if not os.path.exists(path):
        return
    for n, line in enumerate(read(path).splitlines(), 1):
        line = line.split("#")[0].strip()
        if line:
            text, _, reason = line.partition(" : ")
            yield n, text.strip(), reason.strip()

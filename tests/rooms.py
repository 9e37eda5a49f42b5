#!/usr/bin/env python3
# rooms.py - prints the rooms of the source, which room uses which, and the circles.
# usage: tests/rooms.py [--rooms] [--arrows] [--circles]; without options: all.
#        tests/rooms.py --why FROM TO: the includes and calls between two rooms
#        or two modules
#        tests/rooms.py --check arrows|circles: one line per breach, status 1
# Runs in the root of the tree. A room is a folder with files in it, below
# analyze, cli, formats, symbolize, schema or stitch or one of these, or a module or header
# that tests/arrows.txt names. A module is x.c and x.h of one folder. An arrow
# goes from the file that includes or calls to the file that is included or
# called. A call is the name of a function in the body of another, with or
# without an argument list. A function that a header defines does not count as
# called, because the include already makes the arrow.
import os
import re
import signal
import sys
from collections import Counter, defaultdict

import source

ARROWS = "tests/arrows.txt"
CIRCLES = "tests/circles.txt"
# Headers that the build writes, and that every room may include.
GENERATED = {"schema/columns.h", "schema/trust_classes.h"}


def module(path):
    return os.path.splitext(path)[0]


def named():
    """The modules and headers that the table of arrows names."""
    words = {w for _, text, _ in source.table(ARROWS) for w in text.split()}
    return {w for w in words if "/" in w and not os.path.isdir(w)}


def room(path, own=named()):
    for name in (path, module(path)):
        if name in own:
            return name
    return os.path.dirname(path)


class Tree:
    """The files and the arrows between them.

    included and called map (from file, to file) to places: a list of
    (line, name)."""

    def __init__(self):
        self.text = {f: source.read(f) for f in source.c_files()}
        self.included = defaultdict(list)
        self.called = defaultdict(list)
        self.stray = []
        for path, text in self.text.items():
            self.read_includes(path, text)
        self.read_calls()

    def read_includes(self, path, text):
        for line, name in source.includes(text):
            if name[0] == "<" or name[1:] in GENERATED:
                continue
            if name[1:] in self.text:
                self.included[path, name[1:]].append((line, name[1:]))
            else:
                self.stray.append((path, line, name[1:]))

    def read_calls(self):
        functions = source.functions(list(self.text))
        shared = defaultdict(list)
        own = defaultdict(dict)
        bodies = defaultdict(list)
        for f in functions:
            bodies[f.path].append(f)
            own[f.path][f.name] = f
            if not f.static and f.path.endswith(".c"):
                shared[f.name].append(f)
        for path, inside in bodies.items():
            lines = source.code(self.text[path]).split("\n")
            for f in inside:
                self.read_body(f, lines, own[path], shared)

    def read_body(self, f, lines, own, shared):
        body = "\n".join(lines[f.first - 1:f.last])
        for m in source.WORD.finditer(body):
            name = m.group()
            if name in own or name not in shared or name in f.names:
                continue
            called = body[m.end():m.end() + 2].lstrip().startswith("(")
            before = body[max(0, m.start() - 12):m.start()].rstrip()
            if before.endswith((".", "->")) and not before.endswith("..."):
                continue
            if not called and re.search(r"\b(struct|union|enum|goto)$",
                                        before):
                continue
            line = f.first + body.count("\n", 0, m.start())
            for to in shared[name]:
                self.called[f.path, to.path].append((line, name))

    def arrows(self, key):
        """Counter of (from, to) over key(file), without loops: the number of
        includes and of calls."""
        inc = Counter()
        call = Counter()
        for count, places in ((inc, self.included), (call, self.called)):
            for (a, b), where in places.items():
                if key(a) != key(b):
                    count[key(a), key(b)] += len(where)
        return inc, call


def circles(arrows):
    """The strongly connected components of two nodes and more (Tarjan's
    algorithm without recursion), each sorted, larger ones first."""
    after = defaultdict(set)
    for a, b in arrows:
        after[a].add(b)
    number = {}
    low = {}
    stack = []
    held = set()
    found = []
    for root in sorted(after):
        if root in number:
            continue
        work = [(root, None)]
        while work:
            node, rest = work.pop()
            if rest is None:
                number[node] = low[node] = len(number)
                stack.append(node)
                held.add(node)
                rest = iter(sorted(after.get(node, ())))
            for n in rest:
                if n not in number:
                    work += [(node, rest), (n, None)]
                    break
                if n in held:
                    low[node] = min(low[node], number[n])
            else:
                if low[node] == number[node]:
                    at = stack.index(node)
                    if len(stack) - at > 1:
                        found.append(sorted(stack[at:]))
                    held -= set(stack[at:])
                    del stack[at:]
                if work:
                    up = work[-1][0]
                    low[up] = min(low[up], low[node])
    return sorted(found, key=lambda c: (-len(c), c))


def print_rooms(tree):
    inc, call = tree.arrows(room)
    rooms = sorted({room(f) for f in tree.text})
    print("rooms: files, lines; -> room: includes + calls")
    for r in rooms:
        files = [f for f in tree.text if room(f) == r]
        lines = sum(tree.text[f].count("\n") for f in files)
        print(f"{r}: {len(files)} files, {lines} lines")
        for to in rooms:
            i, c = inc[r, to], call[r, to]
            if i or c:
                print(f"    -> {to}: {i} + {c}")


def print_arrows(tree):
    """Prints the arrows in the form of tests/arrows.txt."""
    inc, call = tree.arrows(room)
    both = set(inc) | set(call)
    for r in sorted({a for a, _ in both}):
        print(r, "->", *sorted(b for a, b in both if a == r))


def top(name):
    return name.split("/")[0]


def print_circles(tree):
    inc, call = tree.arrows(module)
    for what, arrows in (("includes", inc), ("calls", call),
                         ("both", inc + call)):
        found = circles(arrows)
        print(f"circles of files by {what}: {len(found)} over "
              f"{sum(map(len, found))} modules")
        for folder in source.FOLDERS:
            here = [c for c in found if top(c[0]) == folder]
            print(f"  {folder}: {len(here)} over {sum(map(len, here))}")
            for c in here:
                print(f"    {len(c)}:", *c)
    inc, call = tree.arrows(room)
    for what, arrows in (("includes", inc), ("calls", call),
                         ("both", inc + call)):
        found = circles(arrows)
        print(f"circles of rooms by {what}: {len(found)}")
        for c in found:
            print(f"    {len(c)}:", *c)


def print_why(tree, a, b):
    for what, places in (("includes", tree.included),
                         ("calls", tree.called)):
        for (x, y), where in sorted(places.items()):
            if a in (room(x), module(x)) and b in (room(y), module(y)):
                for line, name in where:
                    print(f"{x}:{line}: {what} {name}" +
                          (f" of {y}" if what == "calls" else ""))


def fits(name, pattern):
    """Does the room match the pattern? 'x/*' is x and all rooms below it."""
    if pattern.endswith("/*"):
        return name == pattern[:-2] or name.startswith(pattern[:-1])
    return name == pattern


def check_arrows(tree):
    rows = []
    for n, text, reason in source.table(ARROWS):
        a, arrow, b = text.partition("->")
        if not arrow or not a.split() or not b.split():
            yield f"{ARROWS}:{n}: not 'ROOM... -> ROOM...': {text}"
            continue
        for name in a.split() + b.split():
            if not any(fits(room(f), name) for f in tree.text):
                yield f"{ARROWS}:{n}: no such room: {name}"
        rows += [(n, x, y, reason) for x in a.split() for y in b.split()]
    for path, line, name in tree.stray:
        yield f"{path}:{line}: \"{name}\" is no file of a room"
    needed = set()
    plain = set()
    for what, places in (("includes", tree.included),
                         ("calls", tree.called)):
        for (x, y), where in sorted(places.items()):
            a, b = room(x), room(y)
            if a == b:
                continue
            row = [r for r in rows if fits(a, r[1]) and fits(b, r[2])]
            if any(not r[3] for r in row):
                plain.add((a, b))
            elif row:
                needed.update(row)
            else:
                line, name = where[0]
                yield (f"{x}:{line}: {a} -> {b} is not allowed by {ARROWS}: "
                       f"{what} {name} of {y}")
    for row in rows:
        if row[3] and row not in needed:
            n, a, b, _ = row
            yield f"{ARROWS}:{n}: not needed any more: {a} -> {b}"
    for c in circles(plain):
        yield (f"{ARROWS}: these rooms use each other, so an arrow needs "
               f"a reason: {' '.join(c)}")


def check_readmes():
    """Checks that the README.md of each folder names its rooms: room/ or `room`."""
    for folder in source.FOLDERS + ("tests", "man"):
        readme = f"{folder}/README.md"
        if not os.path.isfile(readme):
            yield f"{readme}: missing"
            continue
        text = source.read(readme)
        for where, dirs, files in os.walk(folder):
            dirs[:] = sorted(d for d in dirs if d != "__pycache__")
            if folder == "tests" and where != folder:
                dirs[:] = []
            if where == folder or not files and folder != "tests":
                continue
            name = re.escape(os.path.basename(where))
            if not re.search(rf"(?<![\w.-])({name}/|`{name}`)", text):
                yield f"{readme}: does not name {where}/"


def check_circles(tree):
    rows = []
    for n, text, reason in source.table(CIRCLES):
        if not reason:
            yield f"{CIRCLES}:{n}: no reason: {text}"
        rows.append((n, {re.sub(r"\.[ch]$", "", f) for f in text.split()}))
    met = defaultdict(set)
    for c in circles(sum(tree.arrows(module), Counter())):
        row = [n for n, files in rows if files.issuperset(c)]
        for n in row:
            met[n].update(c)
        if not row:
            yield (f"{c[0]}: these {len(c)} include or call each other, and "
                   f"{CIRCLES} has no reason: {' '.join(c)}")
    for n, files in rows:
        for f in sorted(files - met[n]):
            yield f"{CIRCLES}:{n}: {f} is in no circle any more"


def main(args):
    if len(args) == 2 and args[0] == "--check":
        if args[1] == "arrows":
            bad = list(check_arrows(Tree())) + list(check_readmes())
        elif args[1] == "circles":
            bad = list(check_circles(Tree()))
        else:
            sys.exit(f"rooms.py: no check '{args[1]}'")
        for line in bad:
            print(line)
        return 1 if bad else 0
    if len(args) == 3 and args[0] == "--why":
        print_why(Tree(), args[1], args[2])
        return 0
    parts = {"--rooms": print_rooms, "--arrows": print_arrows,
             "--circles": print_circles}
    for a in args:
        if a not in parts:
            sys.exit(f"rooms.py: unknown option '{a}'")
    tree = Tree()
    for name, part in parts.items():
        if not args or name in args:
            part(tree)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))

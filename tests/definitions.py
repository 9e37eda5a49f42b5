#!/usr/bin/env python3
# definitions.py - finds second definitions and declarations of names, declarations for one file, and C++ keywords as names.
# usage: tests/definitions.py [--list]; see check-definitions.sh. Static
# functions count too, in all C files of the tree including the tests, so that
# a search for a name in a stack trace finds one place.
import re
import sys
from collections import Counter, defaultdict

import source

TABLE = "tests/definitions.txt"
# Entry points whose names are fixed by libraries, and libcheck's macro, which
# ctags reports as a function.
SHARED = {"main", "sqlite3_backstitchsql_init", "LLVMFuzzerTestOneInput",
          "LLVMFuzzerInitialize", "START_TEST"}
# Recorded programs: the names of their functions are in the captures.
RECORDED = "tests/captures/"
CXX = re.compile(
    r"\b(export|class|new|delete|this|template|private|public|namespace|"
    r"operator|typename|try|catch|throw|using|virtual|friend|mutable|"
    r"explicit)\b")
# What cli/embed/embed.sh makes of a file.
EMBEDDED = ("x", "typename:const char[]", None)


def twice(files):
    """Functions that are defined more than once: {name: [Function]}."""
    named = defaultdict(list)
    for f in source.functions(files):
        if f.name not in SHARED:
            named[f.name].append(f)
    return {n: named[n] for n in sorted(named) if len(named[n]) > 1}


def check(found):
    rows = []
    used = set()
    for n, text, reason in source.table(TABLE):
        if not reason:
            yield f"{TABLE}:{n}: no reason: {text}"
        rows.append((n, set(text.split())))
    for name, fs in found.items():
        have = {f.path for f in fs}
        row = [n for n, files in rows
               if have <= files and len(have) == len(fs)]
        used.update(row)
        if not row:
            yield (f"{fs[1].path}:{fs[1].first}: {name} is also defined in " +
                   ", ".join(f"{f.path}:{f.first}"
                             for f in fs if f is not fs[1]))
    for n, files in rows:
        if n not in used:
            yield f"{TABLE}:{n}: not needed any more: {' '.join(sorted(files))}"


def keywords(files):
    for path in files:
        text = source.read(path)
        if not CXX.search(text):
            continue
        for n, line in enumerate(source.code(text).split("\n"), 1):
            if source.INCLUDE.match(line):
                continue
            for word in sorted(set(CXX.findall(line))):
                yield f"{path}:{n}: '{word}' is a keyword of C++"


def declared(files):
    """What the linker does not compare: a function or an object of another file
    that is declared twice, of two types. Its header is the one place; objects
    that a list collects may be declared beside it, by the same words."""
    first = {}
    for name, path, _, kind, *rest in source.ctags(
            files, "--kinds-C=px", "--fields=+nSt", "--fields-C=+{properties}"):
        field = dict(r.split(":", 1) for r in rest if ":" in r)
        # without a type it is a macro
        if "static" in field.get("properties", "") or name in SHARED or \
                "typeref" not in field or name == "__typeof__":
            continue
        where = f"{path}:{field['line']}"
        if kind == "p" and path.endswith(".c"):
            yield f"{where}: {name} is declared outside a header"
        said = (kind, field.get("typeref"), field.get("signature"))
        was, of = first.setdefault(
            name, ("cli/embed/embed.sh", EMBEDDED) if name.startswith("text_") and
            kind == "x" else (where, said))
        if where != was and (kind == "p" or of != said):
            yield f"{where}: {name} is also declared in {was}"


def lonely(files):
    """Functions that a header declares though no other file names them: they
    are static. A header may use them itself, and a test is another file."""
    headers = [f for f in files
               if f.endswith(".h") and not f.startswith("tests/")]
    at = {name: (path, line.rstrip(';"'))
          for name, path, line, *_ in source.ctags(headers, "--kinds-C=p")}
    named = defaultdict(Counter)
    for path in files:
        words = Counter(source.WORD.findall(source.code(source.read(path))))
        for name in at.keys() & words.keys():
            named[name][path] = words[name]
    defined = {f.name: f.path for f in source.functions(files)}
    for name, (path, line) in sorted(at.items()):
        if named[name][path] == 1 and \
                named[name].keys() <= {path, defined.get(name)}:
            yield f"{path}:{line}: {name} is for one file: make it static"


def main(args):
    files = [f for f in source.c_files(source.FOLDERS + ("tests",))
             if not f.startswith(RECORDED)]
    found = twice(files)
    if args == ["--list"]:
        for name, fs in found.items():
            print(name, *(f.path for f in fs))
        return 0
    bad = list(check(found)) + list(keywords(files)) + list(
        declared([f for f in files if not f.startswith("tests/")])) + list(
            lonely(files))
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

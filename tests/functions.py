#!/usr/bin/env python3
# functions.py - how large the functions of each folder are, and which have one caller.
# usage: tests/functions.py [--list FOLDER...]
#
# The table has functions, their median and 90th percentile in lines, those that
# are static, and those of them that are called in one place only. --list prints
# the latter, with the lines of the function and of its caller: a helper that was
# cut out for length alone is among them (CONTRIBUTING.md, style 9).
import re
import sys
from collections import defaultdict

import source


def called_once(path, functions):
    """(function, caller) of each static function that has one caller."""
    text = source.code(source.read(path))
    lines = text.splitlines()
    words = defaultdict(list)
    for n, line in enumerate(lines, 1):
        for m in source.WORD.finditer(line):
            words[m.group()].append((n, line[m.end():m.end() + 1]))
    for f in functions:
        uses = []
        for n, after in words[f.name]:
            # What stands at the margin is a definition or a declaration.
            if lines[n - 1][:1].isspace():
                inside = [g for g in functions if g.first <= n <= g.last]
                uses.append((inside[0] if inside else None, after))
        if f.static and len(uses) == 1:
            caller, after = uses[0]
            if caller and caller is not f and after == "(":
                yield f, caller


def size(f):
    return f.last - f.first + 1


def main():
    folders = sys.argv[2:] if sys.argv[1:2] == ["--list"] else source.FOLDERS
    rows = []
    once = []
    for folder in folders:
        paths = defaultdict(list)
        for f in source.functions(source.c_files([folder])):
            paths[f.path].append(f)
        single = [p for path in sorted(paths) for p in called_once(path, paths[path])]
        every = [f for fs in paths.values() for f in fs]
        rows.append((folder, every, len(single)))
        once += single
    if folders is not source.FOLDERS:
        for f, caller in once:
            print("%s:%d: %s, %d lines, called by %s, %d lines" %
                  (f.path, f.first, f.name, size(f), caller.name, size(caller)))
        return
    rows.append(("all", [f for r in rows for f in r[1]], len(once)))
    print("%-12s %9s %7s %4s %7s %11s" %
          ("folder", "functions", "median", "p90", "static", "one caller"))
    for folder, every, single in rows:
        lines = sorted(size(f) for f in every)
        print("%-12s %9d %7d %4d %7d %11d" %
              (folder, len(every), lines[len(lines) // 2], lines[len(lines) * 9 // 10],
               sum(f.static for f in every), single))


if __name__ == "__main__":
    main()

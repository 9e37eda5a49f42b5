#!/bin/sh
# check-english.sh - no comment, message or manual has a word or phrase that tests/english.txt lists, and no function or member a name that ends like one.
# usage: tests/check-english.sh [root]; silent when all is well
#
# These are words of one room's dialect: each is English, but not for what was meant, and a reader stops at it.
cd "${1:-.}" || exit 2
exec python3 - <<'END'
import glob
import re
import sys

with open("tests/english.txt", encoding="utf-8") as f:
    rules = [line.rstrip("\n").split(" | ") for line in f
             if line.strip() and not line.startswith("#")]
text = [(re.compile(r[1]), r[2]) for r in rules if r[0] == "text"]
names = [(re.compile(r[1]), r[2]) for r in rules if r[0] == "name"]
# comments and strings of sources, and all of a manual
PROSE = {"c": r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', "sql": r"--[^\n]*", "man": r".+"}
files = [("c", glob.glob("*/**/*.[ch]", recursive=True) + glob.glob("cli/**/*.js", recursive=True)),
         ("sql", glob.glob("schema/**/*.sql", recursive=True)),
         ("man", glob.glob("man/*.[1-7]") + ["README.md", "CONTRIBUTING.md", "SECURITY.md"])]
bad = 0
for kind, paths in files:
    for path in sorted(paths):
        if path.startswith(("tests/", "build")):
            continue
        with open(path, encoding="utf-8") as f:
            s = f.read()
        found = [(m.start() + x.start(), x.group(), better)
                 for m in re.finditer(PROSE[kind], s, re.S if kind == "c" else 0)
                 for r, better in text for x in r.finditer(m.group())]
        if kind == "c":
            found += [(x.start(), x.group(), better) for r, better in names
                      for x in r.finditer(s)]
        for at, word, better in sorted(found):
            print("%s:%d: '%s': %s" % (path, s.count("\n", 0, at) + 1,
                                       " ".join(word.split()), better))
            bad = 1
sys.exit(bad)
END

#!/bin/sh
# check-bounds.sh - the bounds in the manuals are the constants of the source; silent when all is well.
# usage: tests/check-bounds.sh; tests/bounds.txt is the table
#
# The table of backstitch-memory(7) is the one that tests/bench/growth.py wrote: a
# row for each kind, with the bound of the text above it, and none above it.
cd "$(dirname "$0")/.." || exit 2
python3 - <<'END'
import re
import sys

bad = 0
for line in open("tests/bounds.txt", encoding="utf-8"):
    if line.startswith("#"):
        continue
    path, words, page, text = line.rstrip("\n").split("\t")
    name = words.split()[0]
    with open(path, encoding="utf-8") as f:
        said = re.search(r"(?m)^#define %s (.*?)(?:\s*/\*.*)?$" % name, f.read())
    if not said:
        print("%s: no constant %s" % (path, name))
        bad += 1
        continue
    # a number of C without its type and suffix
    value = re.sub(r"\((?:size_t|unsigned long)\)|(?<=\d)[uUlL]+", "", said[1])
    is_now = "{:,}".format(eval(words.replace(name, "(%s)" % value).replace(
        "/", "//"), {"__builtins__": {}}))
    with open(page, encoding="utf-8") as f:
        have = " ".join(re.sub(r"(?m)^\.\w+ ?", "", f.read()).split())
    if text.replace("@", is_now) not in have:
        print("%s: '%s' is not there, with %s of %s" % (page, text, is_now, path))
        bad += 1
sys.exit(bad > 0)
END
bad=$?
python3 tests/bench/growth.py --check && exit $bad

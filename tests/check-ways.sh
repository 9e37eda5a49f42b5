#!/bin/sh
# check-ways.sh - the ways in cli/README.md are those of the calls.
# usage: tests/check-ways.sh [root]; silent and 0 when clean, one line per breach otherwise.
#
# A line "NAME()  FILE: remark" says that FILE defines NAME, and the nearest line
# above it that is less indented that its function names NAME.
cd "${1:-.}" || exit 2
python3 - <<'E'
import re
import sys

bad, lines, way = 0, 0, []


def body(path, name):
    """The text of a function, from its name to the brace that ends it; "" if there is none."""
    try:
        text = open(path).read()
    except OSError:
        return ""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    m = re.search(r"^[a-z][^;{}()]*\b%s\([^;{}]*\)\n\{.*?^\}" % name, text, re.S | re.M)
    return m.group() if m else ""


for line in open("cli/README.md"):
    m = re.match(r"    ( *)(\w+)\(\) +([\w/.]+\.c)(: |$)", line)
    if not m:
        way = way if line.startswith("    ") else []
        continue
    lines += 1
    indent, name, path = len(m.group(1)), m.group(2), m.group(3)
    while way and way[-1][0] >= indent:
        way.pop()
    here = body(path, name)
    if not here:
        bad += 1
        print("cli/README.md: %s() is not in %s" % (name, path))
    if way and not re.search(r"\b%s\b" % name, way[-1][2]):
        bad += 1
        print("cli/README.md: %s() does not name %s()" % (way[-1][1], name))
    way.append((indent, name, here))
if lines < 30:
    bad += 1
    print("cli/README.md: %d lines of ways" % lines)
sys.exit(bad != 0)
E

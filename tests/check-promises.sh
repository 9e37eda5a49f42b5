#!/bin/sh
# check-promises.sh - each sentence of what is promised has its test in promises.txt, and each of these tests is there.
# usage: tests/check-promises.sh; silent and 0 if all is well
cd "$(dirname "$0")/.." || exit 2
command -v mandoc >/dev/null || { echo "skipped: mandoc is not installed"; exit 0; }
python3 - <<'END'
import glob
import re
import subprocess
import sys

bad = []


def section(page, name):
    """The words of a section, or of a page, as a reader sees them."""
    if page.endswith(".md"):
        text = open(page, encoding="utf-8").read()
        return re.search(r"(?ms)^## %s\n(.*?)(?=^## |\Z)" % name, text)[1] if name else text
    text = subprocess.run(["mandoc", "-Tascii", page], stdout=subprocess.PIPE, check=True).stdout.decode()
    text = re.sub(".\x08", "", text)
    return re.search(r"(?ms)^%s\n(.*?)(?=^[A-Z]|\Z)" % name, text)[1] if name else text


def words(text):
    """Without what makes lists and lines."""
    return " ".join(re.sub(r"(?m)^ *[-o] +", " ", text).split())


def holds(how):
    test, _, part = how.partition(": ")
    if how.startswith("- ") and len(how) > 10:
        return True
    if test.startswith("make "):
        return re.search(r"(?m)^%s:" % test[5:], open("Makefile", encoding="utf-8").read())
    group, _, name = test.partition("/")
    if test == "damage/hostile":
        group = "faults"
    files = glob.glob("tests/check-%s.sh" % name if group == "docs" else "tests/%s/%s.*" % (group, name))
    return any(part in open(f, encoding="utf-8", errors="replace").read() for f in files if not f.endswith("seeds"))


left, held = {}, {}
for line in open("tests/promises.txt", encoding="utf-8"):
    if line.startswith("== "):
        page, _, name = line[3:].strip().partition(": ")
        left[page, name] = words(section(page, name))
    elif line.startswith("\t"):
        if not holds(line.strip()):
            bad.append("promises.txt: no such test: " + line.strip())
        held[last] += 1
    elif line.strip() and line[0] != "#":
        last = line.strip()
        held[last] = 0
        if last not in left[page, name]:
            bad.append("%s: does not say: %s" % (page, last))
        left[page, name] = left[page, name].replace(last, "", 1)
for (page, name), text in left.items():
    if name and text.strip():
        bad.append("%s, %s: is not in promises.txt: %s" % (page, name, text.strip()[:300]))
bad += ["promises.txt: nothing holds: " + text for text, tests in held.items() if not tests]
if not left:
    bad.append("promises.txt: has no section")
print("\n".join(bad), end="\n" if bad else "")
sys.exit(bool(bad))
END

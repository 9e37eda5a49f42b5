#!/bin/sh
# check-kinds.sh - the manual of latency has the kinds of analyze/latency/pair_kinds.c, and what each is.
# usage: tests/check-kinds.sh [root]; silent when all is well
cd "${1:-.}" || exit 2
python3 - <<'END'
import re

source = re.sub(r"/\*.*?\*/", "",
                open("analyze/latency/pair_kinds.c").read(), flags=re.S)
again = {"ONE": "of another one", "PART": "a part of it",
         "RESTART": "in its place", "EITHER": "one of both",
         "SET": "another one at the same time",
         "NEST": "inside of it", "STACK": "inside of it"}
scope = {"THREAD": ["thread"], "CPU": ["CPU"], "ANY": []}
rows = {}
for row in source[:source.index("pair_kinds_n")].split("{ .word = ")[1:]:
    row = " .word = " + row

    def field(name, default=""):
        m = re.search(r"\.%s = (\{[^}]*\}|[^,}]*)" % name, row)
        return m[1].strip() if m else default
    word = field("word").strip('"')
    begin, end = (re.sub(r"^\w+:", "", field(n).strip('"').rstrip("_*"))
                  for n in ("begin", "end"))
    same = scope[field("scope", "PAIR_THREAD").replace("PAIR_", "")] + \
        re.findall(r'"(\w+)"', field("key"))
    if field("calls"):
        same.append("call")
    if field("direction"):
        same.append("operation")
    # of several rows of a kind the manual has the first
    rows.setdefault(word, (begin, end, ", ".join(same), again[
        field("again", "PAIR_ONE").replace("PAIR_", "")]))
asked = re.search(r"kind_words\[\] = \{(.*?)NULL", open(
    "cli/commands/latency.c").read(), flags=re.S)[1]
asked = re.findall(r'"([\w-]+)"', asked)
if asked != [*rows, "wake-up", "off-cpu"]:
    print("latency --kind takes other kinds: %s" % asked)
events, means = {}, {}
table = None
for line in open("man/backstitch-latency.1"):
    if ".It Sy KIND" in line:
        table = events if "from, to" in line else means
    elif line.startswith(".El"):
        table = None
    elif table is not None:
        word, *cells = re.sub(r"^\.It ", "", line.strip()).split(" Ta ")
        table[word] = cells
for word, (begin, end, same, second) in rows.items():
    said = events.get(word, [""])[0]
    if not re.match(r"%s, (.*, )?%s(,|$)" % (begin, end), said):
        print("%s is from %s to %s, the manual says: %s" %
              (word, begin, end, said))
    if means.get(word) != [same, second]:
        print("%s is known by %s, a second begin is %s; the manual says: %s" %
              (word, same, second, means.get(word)))
for word in (set(events) | set(means)) - set(rows) - {"wake-up", "off-cpu"}:
    print("%s is in the manual only" % word)
assert len(rows) > 10, rows
END

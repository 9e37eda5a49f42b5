#!/bin/sh
# check-words.sh - each word that screens print has one entry in 'help verdicts' and in section 7 of the manual, and none of its synonyms is printed anywhere; a message that says what to do names the command.
# usage: tests/check-words.sh [root]; $BACKSTITCH is the program. Silent and 0 if all is well.
# The words are those of the tables in the source that print them. A synonym is
# looked for in the texts of the program and its page, in help and in man pages;
# identifiers (columns, keys, views, options) are not texts.
cd "${1:-.}" || exit 2
BACKSTITCH=${BACKSTITCH:-./backstitch} COLUMNS=1000 exec python3 - <<'END'
import collections
import glob
import os
import re
import subprocess
import sys

B = os.environ["BACKSTITCH"]
STRING = r'"((?:[^"\\]|\\.)*)"'
bad = []
SOURCES = (glob.glob("analyze/**/*.[ch]", recursive=True) +
           glob.glob("cli/**/*.[ch]", recursive=True))


def text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def part(path, begin, end=r"\n\}|\);\n"):
    """The source from a text to the end of that table, function or WORDS_FUNCTION()."""
    s = text(path)
    at = s.index(begin)
    return s[at:re.compile(end).search(s, at).start()]


def values(path, begin):
    """The strings of a table of names by number."""
    return re.findall(r"\] = " + STRING, part(path, begin))


def marks():
    """Names in brackets that stand in place of a function."""
    out = set()
    for path in [f for room in ("samples", "names", "stacks", "causes", "latency",
                          "waits", "diffs")
                 for f in glob.glob("analyze/%s/*.[ch]" % room)] + glob.glob("cli/tables/a*.c") + [
            "cli/tables/report_table.c", "cli/pictures/flame_draw.c"]:
        if path.endswith(("chains.c", "word_meanings.c", "short_name.c")):
            continue        # perf's words; the entries; parts of symbols
        code = re.sub(r"/\*.*?\*/", "", text(path), flags=re.S)
        for s in re.findall(r'"(\[[a-zA-Z%][^"]*\])(?:\\n)?"', code):
            s = re.sub(r"%[-.*\d]*z?[a-z]", "WORD", s)
            out.add(re.sub(r"(interpreter: )\w+", r"\1WORD", s))
    # a verdict by --by-verdict, an image
    return out - {"[WORD]", "[jit]", "[kernel]", "[vdso]"}


# class, kind, phrase, meaning
TRUST = [row.split(" | ") for row in re.findall(r"^class (.*)", text(
    "schema/trust_classes.txt"), re.M)]

TABLES = (  # the beginning of the help's paragraph, the man page's section
    ("A request is", "VERDICTS OF REQUESTS",
     values("stitch/verdict.c", "request_verdict_name")),
    ("A chain is", "VERDICTS OF CHAINS",
     values("stitch/verdict.c", "chain_verdict_name")),
    ("Each verdict has", "CONFIDENCE",
     values("stitch/verdict.c", "confidence_name")),
    ("How far user", "TRUST", [c[0] for c in TRUST]),
    ("Marks in", "MARKS", sorted(marks()) + ["inferred", "inlined too"]),
    ("Kinds of", "KINDS OF FRAMES",
     values("analyze/stacks/label.c", "label_kind_name")),
    ("What check", "VERDICTS OF CHECK", re.findall(
        STRING, part("analyze/check/check.c", "*check_verdict("))),
    ("States of", "STATES", re.findall(
        r"\{ \w+, " + STRING, part("stitch/task_state.c", "states[] = {"))),
    ("What a thread", "CAUSES OF WAITS", [
        w for w in values("analyze/causes/wait_cause.c", "wait_cause_word") if w]),
    ("On the page", "TIMELINE", re.findall(
        r"\] = \{ " + STRING, text("analyze/samples/loss_marks.c"))),
)
assert text("cli/tables/annotate_text.c").count('"inlined too: "') == 1
assert "(inferred)" in text("analyze/samples/chains.c")


def run(*args):
    r = subprocess.run([B, *args], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    return r.stdout


def help_entries():
    out, at = collections.defaultdict(list), None
    for line in run("help", "verdicts").splitlines():
        word = re.match(r"  (\S.*?)(?:  |$)", line)
        if word:
            out[at].append(word.group(1))
        elif line and line[0] != " ":
            at = line
    return out


def man_entries():
    out, at = collections.defaultdict(list), None
    for page in sorted(glob.glob("man/*.[17]")):
        for line in text(page).splitlines():
            if line.startswith(".Sh "):
                at = line[4:]
            elif line.startswith(".It Sy "):
                out[at].append(line[7:].replace('"', ""))
    return out


helped, told = help_entries(), man_entries()
for begin, section, words in TABLES:
    if not words:
        bad.append("%s: no word was found in the source" % section)
    lists = [("help verdicts", [h for k, v in helped.items() if k and
                                k.startswith(begin) for h in v]),
             ("the manual, " + section, told[section])]
    for name, entries in lists:
        n = collections.Counter(entries)
        for w in words:
            if n[w] != 1:
                bad.append("%s: '%s' has %d entries" % (name, w, n[w]))
        for w in n.keys() - set(words):
            bad.append("%s: '%s' is no word of the program" % (name, w))

# ---- the classes of view trust, of which schema/trust_classes.txt is the table

CLASSES = {c[0]: c[2] for c in TRUST}
CLASS = re.compile(r"'((?:whole|caller missing|ends early|one frame|cut|"
                   r"fabricated|in no mapping|missing|not recorded|not judged)"
                   r"(?: \([^']*)?)'")
ended = values("stitch/verdict.c", "unwind_end_name")
judged = values("stitch/audit/callsite.c", "judged_name")
view = part("schema/sql/views.sql", "CREATE VIEW internal_trust_class", ";\n")
view = re.sub(r"--.*", "", view)
# what the view can say: as it is written there, or put together from a word
made = set(judged) | set(re.findall(r"THEN '([^']*)'", view)) | {
    "missing (%s)" % w for w in values("stitch/verdict.c",
                                       "request_verdict_name")} | {
    "cut (%s)" % w for w in ended}
for c in CLASSES:
    if c not in made:
        bad.append("schema/trust_classes.txt: no stack is '%s'" % c)
for where, classes in (
        ("stitch/audit/callsite.c", judged),
        ("stitch/verdict.c", ["cut (%s)" % w for w in ended
                              if w not in ("outermost", "hit_only")]),
        *((path, CLASS.findall(re.sub(r'"\s*"', "", text(path)))) for path in
          glob.glob("schema/**/*.sql", recursive=True) +
          glob.glob("man/*.[1-7]") +
          SOURCES)):
    for c in classes:
        # 'cut (', 'ends early (*' and 'cut (WHY)' stand for several
        several = re.sub(r"\((\*|[A-Z]+\))?$", "(", c)
        if c not in CLASSES and not (several.endswith("(") and any(
                k.startswith(several) for k in CLASSES)):
            bad.append("%s: '%s' is no class" % (where, c))


def plain(lines):
    """What a man page shows of lines, without blanks at punctuation."""
    s = " ".join(re.sub(r"^\.\w+ ", "", line) for line in lines)
    return re.sub(r" (?=[,.;:)])", "", s)


# help and the man page say the same of each
for m in re.finditer(r"^\.It Sy (.*)\n\.Dq (.*) :\n((?:(?!\.It|\.El).*\n)*)",
                     text("man/backstitch-trust.7"), re.M):
    if m.group(1) in CLASSES:
        meaning = [c[3] for c in TRUST if c[0] == m.group(1)][0]
        if (m.group(2) != CLASSES[m.group(1)] or not
                plain(m.group(3).splitlines()).startswith(meaning)):
            bad.append("backstitch-trust(7):  '%s' is explained otherwise "
                       "than by help" % m.group(1))

# ---- the words of a status or class are for people: code has their enums

STATUSES = [w for w in values("stitch/image_status.c", "image_status_word") if w]
for path in glob.glob("**/*.[ch]", recursive=True):
    if path.startswith(("tests/", "build")):
        continue
    for w in re.findall(r"\bstrn?cmp\([^;]*?" + STRING, text(path)):
        if w in STATUSES or w in CLASSES:
            bad.append("%s: compares with '%s', which has an enum" % (path, w))

# ---- synonyms

KEYS = r"--dso\b|\bdso(?=, ?(?:sym|dsoff))|(?:sym|comm|symoff|cpu), ?dso\b"
SYNONYMS = (
    (r"\b[Bb]ogus\b", "fabricated"), (r"\bdsos?\b|\bDSOs?\b", "image"),
    (r"^Symbol$|\bSYMBOL\b", "function"), (r"^File$", "image"),
)


def look(where, s):
    """Finds synonyms in a text that people read."""
    for pattern, word in SYNONYMS:
        if re.search(pattern, re.sub(KEYS, "", s.strip())):
            bad.append("%s: '%s' is said, the word is %s" %
                       (where, s.strip()[:60], word))


def is_identifier(s):
    """A column, a key of JSON, a query, a class, a format without words."""
    return re.fullmatch(r"[a-z0-9_.%#-]*", s) or re.search(r"\b(SELECT|FROM|AS) ",
                                                           s)


# ---- messages: an option is of a command that they name, but for --event, which
# is of the one that says so

for path in [p for p in SOURCES if p.endswith(".c")]:
    for call in re.findall(r'\bsay(?:_note)?\(((?:[^;"]|%s)*)\);' % STRING, text(path)):
        said = "".join(re.findall(STRING, call[0]))
        if re.search(r"(?<![\w-])--[a-z]", re.sub(
                r"'(?:backstitch|perf|lttng) [^']*'|--event\b", "", said)):
            bad.append("%s: '%s' names no command to follow" % (path, said[:60]))

for path in SOURCES:
    code = re.sub(r"/\*.*?\*/|^#include.*$", "", text(path),
                  flags=re.S | re.M)
    for s in re.findall(STRING, code):
        if not is_identifier(s):
            look(path, s)
for path in glob.glob("cli/p*/*.js"):
    code = re.sub(r"(?<![:\"'])//.*", "", text(path))
    for s in re.findall(STRING, code):
        if not is_identifier(s):
            look(path, s)
for path in glob.glob("schema/sql/queries_page.sql"):
    for s in re.findall(r'AS "([^"]*)"', text(path)):
        look(path, s)
look("cli/page/page.html", text("cli/page/page.html"))
for w in values("analyze/stacks/label.c", "label_kind_name"):
    look("analyze/stacks/label.c", w)

for path in glob.glob("man/*.[157]"):
    shown = False
    for line in text(path).splitlines():
        shown = line.startswith(".Bd") or (shown and line != ".Ed")
        # a name in a macro is one of a column, a key or an option
        words = re.sub(r"^\.(Va|Ss|It|Ql|Li|Cm|Fl|Pq|Sy|Fn|Sx)\b.*", "", line)
        if "Ar SYMBOL" in line or (not shown and words):
            look(path, words or line)
for topic in ("", "verdicts", "rules", "exports", "formats", "options"):
    for line in run("help", *topic.split()).splitlines():
        look("help " + topic, line)
for command in re.findall(r"^  ([a-z]+) ", run("help"), re.M):
    for line in run("help", command).splitlines():
        look("help " + command, line)
print("".join(sorted(b + "\n" for b in bad)), end="")
sys.exit(1 if bad else 0)
END

#!/bin/sh
# check-advice.sh - every command and option of ours that a message names exists, and
# has an argument if it takes one.
# usage: BACKSTITCH=PROGRAM tests/check-advice.sh [root]; silent when all is well
#
# Strings of the source say 'backstitch COMMAND --option' where they tell what
# to do next. The program's own table of options says what there is.
cd "${1:-.}" || exit 2
B=${BACKSTITCH:-${O:-build}/backstitch}
[ -x "$B" ] || {
	echo "check-advice.sh: $B is not built" >&2
	exit 2
}
"$B" --list-options | B=$B python3 -c '
import os, re, subprocess, sys

options = {}
takes = {}
for line in sys.stdin:
    command, *words = line.split()
    options[command] = set(words)
    told = subprocess.run([os.environ["B"], command, "--help"], text=True,
                          capture_output=True).stdout
    for m in re.finditer(r"^ +((?:-\w, )?)(--[a-z-]+|(?<= )-\w)([ =\[]\S+)?"
                         r"(?:  |$)", told, flags=re.M):
        # what may be left out is in brackets
        must = bool(m[3]) and not m[3].strip().startswith("[")
        for word in (m[1].strip(", "), m[2]):
            takes[command, word] = takes["", word] = must, bool(m[3])
topics = {"exit-status", "environment", "keys", "agent", "formats", "exports",
          "verdicts", "rules", "options"}
files = subprocess.run(["git", "ls-files", "*.c"], capture_output=True,
                       check=True, text=True).stdout.split()
literal = r"\"(?:[^\"\\\n]|\\.)*\""
ours = r"(?<![\w./-])backstitch ((?:[a-z]+(?![\w.]))?)([^\x27;|\\]*)"
option = r"(?:^| )(--[a-z][a-z-]*|-[A-Za-z])(?=$|[ =,)])"
seen = 0
for f in files:
    if f.startswith("tests/"):
        continue
    text = re.sub(r"/\*.*?\*/", "", open(f).read(), flags=re.S)
    for m in re.finditer(literal + r"(?:\s*" + literal + ")*", text):
        said = "".join(re.findall(r"\"((?:[^\"\\\n]|\\.)*)\"", m[0]))
        for m in re.finditer(ours, said.replace("\\\"", "\"")):
            command, rest = m[1], m[2].strip()
            if command == "help":
                word = rest.split(" ")[0].rstrip(".,)")
                if re.fullmatch(r"[a-z-]+", word) and \
                        word not in topics | set(options):
                    print("%s: no topic: %s" % (f, m[0]))
            elif command in options:
                seen += 1
                # options of another program follow its name
                rest = re.split(r" -- |, or | perf | trace-cmd | lttng ",
                                rest)[0]
                for word in re.findall(option, rest):
                    if word not in options[command]:
                        print("%s: no %s: %s" % (f, word, m[0]))
                for word, rest in re.findall(option[:-len("(?=$|[ =,)])")] +
                                             r"(?=$|[ =,)])((?:[ =][^ ]+)?)",
                                             rest):
                    must, may = takes.get((command, word)) or \
                        takes.get(("", word), (False, True))
                    # what ends with a blank goes on elsewhere
                    if must and not re.match(r"[ =][^-]", rest) and \
                            not (m[2].endswith(" ") and not rest):
                        print("%s: %s has no argument: %s" % (f, word, m[0]))
                    if not may and rest.startswith("="):
                        print("%s: %s takes none: %s" % (f, word, m[0]))
            elif command and said[m.start() - 1:m.start()] == "\x27":
                print("%s: no command: %s" % (f, m[0]))
assert seen > 100, seen
'

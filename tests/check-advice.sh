#!/bin/sh
# check-advice.sh - every command and option of ours that a message names exists, and
# has an argument if it takes one.
# usage: BACKSTITCH=PROGRAM tests/check-advice.sh [root]; silent when all is well
#
# Strings of the source say 'backstitch COMMAND --option' where they tell what
# to do next. The program's own table of options says what there is; and each
# command in quotes is run, with names of files that do not exist in place of
# what is printed at run time: the program's own parser must take every word.
cd "${1:-.}" || exit 2
B=${BACKSTITCH:-${O:-build}/backstitch}
[ -x "$B" ] || {
	echo "check-advice.sh: $B is not built" >&2
	exit 2
}
"$B" --list-options | B=$B python3 -c '
import os, re, shlex, shutil, subprocess, sys, tempfile

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
quoted = {}
for f in files:
    if f.startswith("tests/"):
        continue
    text = re.sub(r"/\*.*?\*/", "", open(f).read(), flags=re.S)
    for m in re.finditer(literal + r"(?:\s*(?:" + literal + "|PRI\w+))*", text):
        said = "".join(re.findall(r"\"((?:[^\"\\\n]|\\.)*)\"", m[0]))
        for q in re.findall("\x27(backstitch [^\x27]+)\x27", said.replace("\\\"", "\"")):
            # a name that is made of two of them is no word yet
            if not re.search(r"backstitch %|\w%", q):
                quoted[q] = f
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

# what a message has in capitals, and what a format prints
stands = {"%s": "none.db", "%zu": "1", "%lld": "1", "%d": "1", "FOLDER": "none.db",
          "PID=FILE": "1=none", "KIND": "syscall", "URL": "clickhouse://u@127.0.0.1:9/x",
          "COMMAND": "report", "PROGRAM": "./none", "\\n": " "}
# what a command needs that a message leaves out
needs = {"diff": ["none.db", "none.db"], "merge": ["-o", "m.db", "none.db", "none.db"],
         "push": ["clickhouse://u@127.0.0.1:9/x", "none.db"], "record": ["./none"]}
work = tempfile.mkdtemp()
ran = 0
for said, f in sorted(quoted.items()):
    for what, text in stands.items():
        said = said.replace(what, text)
    command, *words = shlex.split(said)[1:]
    if command not in options:
        continue
    rest = iter(words)
    operands = [w for w in rest if not (w.startswith("-") and (
        not (takes.get((command, w)) or takes.get(("", w), (False,)))[0] or
        next(rest)))]
    if not operands or operands == ["none.db"] and len(needs.get(command, "")) > 1:
        words += needs.get(command, ["none.db"])
    done = subprocess.run([os.path.abspath(os.environ["B"]), command, *words], cwd=work,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60)
    ran += 1
    if done.returncode not in (0, 1, 127):
        print("%s: %s: status %d: %s" % (f, said, done.returncode, done.stderr))
shutil.rmtree(work)
assert ran > 40, ran
'

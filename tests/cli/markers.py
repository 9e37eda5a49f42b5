"""markers.py - texts of trace_marker as their writers print them, and what each slice is by the definition of its form.

usage: markers.py SEED FILE: writes the text of a recording to FILE, and prints the slices, asynchronous slices and
counters that it holds, one a line, sorted.

The forms: backstitch-latency(1), and the functions that write them: atrace (B|PID|NAME, E, S/F, C, I, G/H, N), Chromium
(arguments and a category behind the name), OpenHarmony (names H:NAME; a cookie behind a blank, or levels behind it).
"""
import random
import sys


def main(seed, path):
    rnd = random.Random(seed)
    us = 100_000_000
    lines, told = [], []
    tids = {30: 20, 31: 20, 40: 41, 50: 50}  # thread: process
    names = ["draw", "frame of|two parts", "H:render", "a b", "Build|20", "x:y=z", "%s", "E"]
    stack = {t: [] for t in tids}
    pending = {}  # (pid, name or track, cookie): (begin, name)
    prefix = rnd.choice(["tracing_mark_write: ", "tracing_mark_write: ", "0: ", "print: tracing_mark_write: "])

    def write(tid, text):
        lines.append("%16s-%-5d (%5d) [%03d] ...1. %5d.%06d: %s%s" % (
            "t%d" % tid, tid, tids[tid], rnd.randrange(2), us // 10 ** 6, us % 10 ** 6, prefix, text))

    def finish(key, pid):
        begin, name = pending.pop(key)
        told.append("async %s %d %d proved" % (name, pid, (us - begin) * 1000))

    for _ in range(400):
        us += rnd.randrange(1, 50)
        tid = rnd.choice(list(tids))
        pid = rnd.choice([tids[tid], tids[tid], 999])  # a service writes for others
        kind = rnd.choice("BBBBEEEESFGHCINX")
        name = rnd.choice(names)
        if kind == "B":
            form = rnd.randrange(4)
            if form == 3:  # Chromium
                name = name.replace("|", "!")
                write(tid, "B|%d|%s|%s|%s" % (pid, name, rnd.choice(["", "src=a.cc;line=%d" % us]), rnd.choice(["cc", "toplevel,ipc"])))
            elif form == 2:  # OpenHarmony 5
                name = "H:" + name.replace("|", "!").replace("H:", "")
                write(tid, "B|%d|%s|%s" % (pid, name, rnd.choice(["M62", "I30", "D07"])))
            else:
                write(tid, "B|%d|%s" % (pid, name))
            stack[tid].append((us, name))
        elif kind == "E":
            write(tid, rnd.choice(["E", "E|%d" % pid, "E|%d|" % pid, "E|%d|name|a=1|cc" % pid]))
            if stack[tid]:
                begin, name = stack[tid].pop()
                told.append("slice %s %d %d proved" % (name, tid, (us - begin) * 1000))
            else:
                told.append("slice  %d  began before" % tid)
        elif kind in "SG":
            cookie = rnd.randrange(8)
            plain = name.replace("|", "!") if rnd.randrange(2) else name
            if kind == "S":
                form = rnd.randrange(3)
                key = ("S", pid, plain, cookie)
                if key in pending:
                    continue
                if form == 0 and "|" not in plain and " " not in plain:  # OpenHarmony
                    plain = "H:" + plain.replace("H:", "")
                    key = ("S", pid, plain, cookie)
                    if key in pending:
                        continue
                    write(tid, "S|%d|%s %d" % (pid, plain, cookie))
                else:
                    write(tid, "S|%d|%s|%d" % (pid, plain, cookie))
            else:
                key = ("G", pid, "track %d" % rnd.randrange(2), cookie)
                if key in pending:
                    continue
                write(tid, "G|%d|%s|%s|%d" % (pid, key[2], plain, cookie))
            pending[key] = (us, plain)
        elif kind in "FH" and pending:
            key = rnd.choice(list(pending))
            if key[0] == "S" and key[2].startswith("H:") and " " not in key[2] and "|" not in key[2]:
                write(tid, "F|%d|%s %d" % (key[1], key[2], key[3]))
            elif key[0] == "S":
                write(tid, "F|%d|%s|%d" % (key[1], key[2], key[3]))
            else:
                write(tid, "H|%d|%s|%d" % (key[1], key[2], key[3]))
            finish(key, key[1])
        elif kind == "C":
            value = rnd.randrange(-5, 100)
            form = rnd.randrange(3)
            if form == 0:  # Chromium
                name = name.replace("|", "!")
                write(tid, "C|%d|%s|%d|%s" % (pid, name, value, "cc,ipc"))
            elif form == 1 and "|" not in name and " " not in name:
                name = "H:" + name.replace("H:", "")
                write(tid, "C|%d|%s %d" % (pid, name, value))
            else:
                write(tid, "C|%d|%s|%d" % (pid, name, value))
            told.append("counter %s %d %d" % (name, pid, value))
        elif kind == "I":
            write(tid, "I|%d|%s" % (pid, name))
        elif kind == "N":
            write(tid, "N|%d|track|%s" % (pid, name))
        elif kind == "X":
            write(tid, rnd.choice(["Build|20", "E is none", "hello|1|x", "B", "B|", "C|1|x", "S|1|x", "Bx|1|y", "B|x|y"]))
    for tid, open_ in stack.items():
        told += ["slice %s %d  unfinished" % (name, tid) for _, name in open_]
    told += ["async %s %d  unfinished" % (name, key[1]) for key, (_, name) in pending.items()]
    with open(path, "w") as out:
        print("# tracer: nop\n#\n# entries-in-buffer/entries-written: %d/%d   #P:2\n#" % (len(lines), len(lines)), file=out)
        print("\n".join(lines), file=out)
    print("\n".join(sorted(told)))


main(int(sys.argv[1]), sys.argv[2])

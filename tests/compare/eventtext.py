# eventtext.py - the text of each event is what trace-cmd and perf print of it.
"""usage: eventtext.py [--print] [NAME...]

Beside the trace.dat files lies what 'trace-cmd report' printed, beside some
perf.data files what 'perf script' did, with the fields of tracepoints. Events
are the same by time, CPU, thread and name; their text must be equal but for
blanks. Each difference has a class, and expect-eventtext.txt says how many
there are of it in a capture, by event (0 when it says nothing); 'text' is of no
class, and never expected.

plugin    they have a function of their own for this event in place of the
          print format. Ours has the same values in the kernel's words; the
          plugin leaves out the + of a state, and the caller of a function
state     so is this, with the letter that a state had before Linux 4.14: W of
          I, X of Z and Z of X (libtraceevent 1.7.1)
stripped  the kallsyms of the shipped capture are a part of those that it was
          printed with: ours names the function before
theirs, ours   an event that only one of the two prints
"""

import collections
import json
import os
import re

import common
import ftrace

EXPECTED = "expect-eventtext.txt"
PERF = re.compile(r"^ *(?P<comm>\S.*?) +(?:-?\d+/)?(?P<tid>-?\d+) +\[(?P<cpu>\d+)\] +(?P<time>\d+\.\d+): +"
                  r"(?:\d+ +)?(?P<event>\w+:\w+): (?P<text>.*)$", re.M)


# A dying thread has tid -1 in perf's samples, and ours are of that thread: the
# text of its last switch says which one, as perf's plugin prints it.
LEAVES = re.compile(r".*?:(\d+) \[\d+\] \S+ ==> ")

# Paths of the recording machine, which some of their texts do not have.
OWN, SHOWN = "/tmp/h/cap/own/", "/usr/local/cap/"


def find():
    """(name, capture, text, is it perf's)"""
    for name, path, _, report in ftrace.find():
        if report:
            yield name, path, report, False
    for place, path in common.find("perf/*/perf.data", "s390x/perf/*/perf.data", "perf-deferred/*.data"):
        d, file = os.path.split(place)
        texts = [d + "/script-trace.txt", d + "/script.txt"] if file == "perf.data" else [place[:-5] + ".script.txt"]
        text = common.first(*map(common.place, texts))
        if text and re.search(PERF, common.read_gz(text)):
            name = os.path.basename(d) if file == "perf.data" else file[:-5]
            yield ("s390x-" if "s390x" in place else "") + name, path, text, True


def micros(time):
    sec, _, frac = time.partition(".")
    return int(sec) * 10**6 + int(frac.ljust(6, "0")[:6]) if frac else int(sec)


def theirs(text, of_perf):
    """(time, CPU, thread, event) and text of each event, with the lines of a
    field that is a stack. Stacks that are events are joined to others here."""
    out = []
    for line in common.read_gz(text).split("\n"):
        m = (PERF if of_perf else ftrace.LINE).match(line)
        if m:
            tid = int(m["tid"] if of_perf else m["pid"])
            leaves = LEAVES.match(m["text"]) if tid < 0 else None
            if leaves:
                tid = int(leaves[1])
            out.append([(micros(m["time"]), int(m["cpu"]), tid, m["event"].split(":")[-1]), m["text"]])
        elif line[:3] == "=> " and out:
            out[-1][1] += " " + line
    return [(key, said) for key, said in out if not key[3].endswith("_stack")]


def ours(db, of_perf, counter):
    """The same. perf cuts times, trace-cmd rounds them, and has no seconds of a
    clock that counts."""
    for line in common.must("script", "--json", db).splitlines():
        e = json.loads(line)
        if ":" in e["event"] and not e["event"].endswith("_stack"):
            time = e["time_ns"] if counter else (e["time_ns"] + (0 if of_perf else 500)) // 1000
            yield (time, e["cpu"], e["tid"], e["event"].split(":")[-1]), e.get("trace", "")


BEFORE = {"I": "W", "Z": "X", "X": "Z"}
# The kernel's words in those of libtraceevent's plugins.
PLUGINS = (
    (r"prev_comm=(.*) prev_pid=(\d+) prev_prio=(\d+) prev_state=([^+ ]*)\+? ==> "
     r"next_comm=(.*) next_pid=(\d+) next_prio=(\d+)", r"\1:\2 [\3] \4 ==> \5:\6 [\7]"),
    (r"comm=(.*) pid=(\d+) prio=(\d+) target_cpu=(\d+)", r"\1:\2 [\3] CPU:\4"),
    (r"(\S+) <-- \S+", r"\1"),
)


def futex(text):
    """Names of an operation, by linux/futex.h, and only what it uses."""
    v = dict(re.findall(r"(\w+): (\w+)", text))
    op = int(v.get("op", "0"), 16)
    name = {0: "FUTEX_WAIT", 1: "FUTEX_WAKE", 9: "FUTEX_WAIT_BITSET"}.get(op & 127)
    flags = "|FUTEX_PRIVATE_FLAG" * (op >> 7 & 1) + "|FUTEX_CLOCK_REALTIME" * (op >> 8 & 1)
    rest = {0: "val=%(val)s utime=%(utime)s", 1: "val=%(val)s",
            9: "val=%(val)s utime=%(utime)s val3=%(val3)s"}.get(op & 127, "")
    if op & 127 == 1 and "val" in v:
        v["val"] = str(int(v["val"], 16))
    return "op=%s%s uaddr=%s %s" % (name, flags, v.get("uaddr"), rest % v)


def differs(mine, their):
    """The class of a difference; None: there is none."""
    mine, their = (" ".join(t.replace(OWN, SHOWN).split()) for t in (mine, their))
    if mine == their:
        return None
    if any(re.fullmatch(p, mine) and re.sub(p, put, mine) == their for p, put in PLUGINS):
        return "plugin"
    old = re.sub(r"(prev_state=)([IZX])\b", lambda m: m[1] + BEFORE[m[2]], mine)
    if re.sub(*PLUGINS[0], old) == their:
        return "state"
    if mine.startswith("uaddr: ") and futex(mine) == their:
        return "plugin"
    if re.sub(r"\bip=_stext", "", mine) == re.sub(r"\bip=\w+", "", their):
        return "stripped"
    return "text"


def compare(name, path, text, of_perf, expected, printing):
    db = common.sound(name, common.into(os.path.join(common.CACHE, "eventtext.db"), "--fields", "all", path), (0, 3))
    if not db:
        return
    count = collections.Counter()
    want = list(theirs(text, of_perf))
    have = collections.defaultdict(list)
    for key, said in ours(db, of_perf, not re.search(r"\d\.\d{6}: ", common.read_gz(text)[:99999])):
        have[key].append(said)
    for key, said in want:
        if not have[key]:
            count["theirs:" + key[3]] += 1
            continue
        mine = have[key].pop(0)
        kind = differs(mine, said)
        if kind:
            count[kind + ":" + key[3]] += 1
            if kind == "text" and printing:
                print("#  %s | %s" % (mine, said))
    for key, left in have.items():
        if left:
            count["ours:" + key[3]] += len(left)
    if printing:
        print("# %s: %d events" % (name, len(want)))
        common.print_classes(name, count)
        return
    same = len(want) - sum(count.values())
    common.ok(dict(count) == expected and bool(want), "%s: %d events of %d have equal text" % (name, same, len(want)),
              common.unlike(expected, count, 0))


def main():
    printing, only = common.asked()
    expected = common.expectations(EXPECTED)
    for name, path, text, of_perf in find():
        if not only or name in only:
            compare(name, path, text, of_perf, expected[name], printing)
    common.finish()


if __name__ == "__main__":
    main()
